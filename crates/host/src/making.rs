//! Makes, checks and mounts one file system with mkfs, fsck and mount; tries which of them this machine has.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::AtomicBool;

use super::programs::{command, find_program, missing_program, output, output_until};
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::read_text;
use boatload_base::shell::quoted;
use boatload_plan::filesystem::{FileSystemKind, Maker};

/// What a failing program said is told up to this many lines.
const SAID_LINES_MAX: usize = 3;

/// A program that makes file systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Where it is.
    pub program: PathBuf,
    /// What it says of its version; `None` if it does not say.
    pub version: Option<String>,
}

/// Whether this kernel can mount these kinds, each with the program that makes it: `None` if it needs
/// none.
///
/// # Errors
/// All that is missing for any of them, one line each.
pub fn probe_all(
    kinds: &[&'static FileSystemKind],
) -> Result<Vec<(&'static FileSystemKind, Option<Tool>)>> {
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    let kernel = Kernel::running();
    for kind in kinds {
        problems.extend(kernel.lack(kind));
        match kind.maker.as_ref().map(|maker| (maker, find_program(maker.program))) {
            None => tools.push((*kind, None)),
            Some((_, Some(program))) => tools.push((*kind, Some(Tool::at(program)))),
            Some((maker, None)) => problems.push(not_found(maker)),
        }
    }
    if problems.is_empty() { Ok(tools) } else { Err(Failure::failed(problems.join("\n"))) }
}

fn not_found(maker: &Maker) -> String {
    missing_program(maker.program, maker.debian, maker.fedora)
}

/// What the running kernel knows, in the kernel's own texts.
struct Kernel {
    release: String,
    /// `/proc/filesystems`.
    filesystems: String,
    /// `modules.alias` and `modules.builtin` of its modules.
    modules: String,
}

impl Kernel {
    fn running() -> Self {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let text = |path: String| read_text(path).unwrap_or_default();
        let of_modules = ["modules.alias", "modules.dep", "modules.builtin"]
            .map(|name| text(format!("/lib/modules/{release}/{name}")));
        let filesystems = text("/proc/filesystems".into());
        Self { release, filesystems, modules: of_modules.join("\n") }
    }

    /// Why it cannot mount this kind; `None` if it can, as far as can be told without trying.
    fn lack(&self, kind: &FileSystemKind) -> Option<String> {
        let name = kind.name;
        if self.mounts(name) || self.has_module(name) {
            return None;
        }
        let (release, advice) = (self.version(), "boot a kernel that has it");
        Some(match kind.gone_since {
            Some(gone) if numbers(release) >= numbers(gone) => format!(
                "this kernel ({release}) cannot mount {name}: Linux has not had it since {gone}. To \
                 test it, boot an older kernel"
            ),
            _ => format!(
                "this kernel ({release}) cannot mount {name}: it was built without it, or the module \
                 is not installed. Install its module, or {advice}"
            ),
        })
    }

    /// A line is the name, after `nodev` where it takes no device.
    fn mounts(&self, name: &str) -> bool {
        self.filesystems.lines().any(|line| line.split_whitespace().next_back() == Some(name))
    }

    /// mount(2) loads the module with the alias `fs-NAME`, or with this name.
    fn has_module(&self, name: &str) -> bool {
        let alias = format!("alias fs-{name} ");
        let is_file = |line: &str| {
            let path = line.split(':').next().unwrap_or_default();
            let file = path.rsplit('/').next().unwrap_or_default();
            file.split_once(".ko").is_some_and(|(stem, _)| stem.replace('-', "_") == name)
        };
        self.modules.lines().any(|line| line.starts_with(&alias) || is_file(line))
    }

    /// Its release without what a distribution adds.
    fn version(&self) -> &str {
        self.release.split(['-', '+', '_', ' ']).next().unwrap_or_default()
    }
}

/// The numbers of a release, to be compared: `6.9` comes before `6.13.2`.
pub(super) fn numbers(release: &str) -> Vec<u32> {
    release.split('.').map_while(|part| part.parse().ok()).collect()
}

impl Tool {
    fn at(program: PathBuf) -> Self {
        let said = output(command(&program).arg("-V")).ok();
        let version = said.filter(|done| done.status.success()).and_then(|done| version(&done));
        Self { program, version }
    }

    fn name(&self) -> &OsStr {
        self.program.file_name().unwrap_or_default()
    }
}

/// Some say it on stdout, others on stderr; the first line with a number has it.
fn version(done: &Output) -> Option<String> {
    let texts = [&done.stdout, &done.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let mut lines = texts.iter().flat_map(|text| text.lines()).map(str::trim);
    lines.find(|line| line.contains(|c: char| c.is_ascii_digit())).map(shown)
}

/// Makes or checks a file system; the arguments are all words after the program's name, the device among
/// them. It works in `directory`, which should be empty, and is killed when `stop` is set.
///
/// # Errors
/// If it fails, with what it said and the command, or was stopped.
pub fn make(
    tool: &Tool,
    arguments: &[OsString],
    directory: &Path,
    stop: &AtomicBool,
) -> Result<()> {
    let done = ran(tool, arguments, directory, stop)?;
    match done.status.success() {
        true => Ok(()),
        false => Err(Failure::failed(how_it_failed(tool, arguments, &done))),
    }
}

/// What a program said and how it ended.
///
/// # Errors
/// If it cannot be started, or was stopped.
fn ran(tool: &Tool, arguments: &[OsString], directory: &Path, stop: &AtomicBool) -> Result<Output> {
    let mut command = command(&tool.program);
    // No word of a user's must name a file that happens to lie where boatload was started.
    command.args(arguments).current_dir(directory);
    let done = output_until(&mut command, stop)
        .map_err(|error| Failure::from_system(format!("run {}", shown(&tool.program)), error))?;
    let interrupted = || Failure::interrupted(format!("interrupted during {}", shown(tool.name())));
    done.ok_or_else(interrupted)
}

fn how_it_failed(tool: &Tool, arguments: &[OsString], done: &Output) -> String {
    let how = match (done.status.code(), done.status.signal()) {
        (Some(code), _) => format!("failed with exit code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "failed".into(),
    };
    let (name, said) = (shown(tool.name()), said(done));
    let said = if said.is_empty() { "it said nothing".into() } else { said };
    format!("{name} {how}: {said}. The command was `{}`", typed(tool, arguments))
}

/// The state that a check found a file system in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckedState {
    /// Nothing is wrong with it.
    Clean,
    /// What the program says.
    Damaged(String),
    /// There is no such program here, or none is known.
    Unknown,
}

/// Has the file system on a device checked, which is not mounted; nothing on it is changed.
///
/// # Errors
/// If it was stopped, or could not check.
pub fn check(
    kind: &FileSystemKind,
    device: &Path,
    directory: &Path,
    stop: &AtomicBool,
) -> Result<CheckedState> {
    let words = kind.maker.as_ref().map_or(&[][..], |maker| maker.check);
    let Some((name, words)) = words.split_first() else { return Ok(CheckedState::Unknown) };
    let Some(program) = find_program(name) else { return Ok(CheckedState::Unknown) };
    let words: Vec<OsString> = words.iter().map(OsString::from).chain([device.into()]).collect();
    let tool = Tool { program, version: None };
    let done = ran(&tool, &words, directory, stop)?;
    match done.status.code() {
        Some(0) => Ok(CheckedState::Clean),
        // e2fsck sets 4 where it left errors. The others end with 1, btrfs check also where it cannot read. Any other end
        // says nothing of the file system.
        Some(code) if code == 1 || code & 4 != 0 => {
            Ok(CheckedState::Damaged(how_it_failed(&tool, &words, &done)))
        }
        _ => Err(Failure::failed(how_it_failed(&tool, &words, &done))),
    }
}

/// The last lines a program said, on stderr if anything, else on stdout, without the reminder of
/// its options that some end with.
fn said(done: &Output) -> String {
    let lines = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let words = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let words = words.take_while(|line| !line.to_lowercase().starts_with("usage"));
        words.map(|line| shown(line.trim_end_matches(['.', '!']))).collect()
    };
    let mut all = lines(&done.stderr);
    if all.is_empty() {
        all = lines(&done.stdout);
    }
    all[all.len().saturating_sub(SAID_LINES_MAX)..].join("; ")
}

/// The command as it could be typed into a shell.
fn typed(tool: &Tool, arguments: &[OsString]) -> String {
    let words = std::iter::once(tool.name()).chain(arguments.iter().map(OsString::as_os_str));
    words.map(|word| quoted(&shown(word))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_base::failure::Exit;
    use boatload_plan::filesystem::find_kind;

    fn kernel(release: &str) -> Kernel {
        Kernel {
            release: release.into(),
            filesystems: "nodev\ttmpfs\n\text4\n".into(),
            modules: "alias fs-ext3 ext4\nkernel/fs/xfs/xfs.ko.zst: kernel/lib/libcrc32c.ko\n\
                      kernel/fs/jfs/jfs.ko\n"
                .into(),
        }
    }

    fn lack(release: &str, name: &str) -> Option<String> {
        kernel(release).lack(find_kind(name).unwrap())
    }

    #[test]
    fn a_kernel_mounts_what_it_has_and_what_its_modules_bring() {
        for name in ["ext4", "tmpfs", "ext3", "xfs", "jfs"] {
            assert_eq!(lack("6.18.44-x", name), None, "{name}");
        }
        assert!(lack("6.18.44-x", "ext2").is_some(), "no line and no module");
        assert!(lack("6.18.44-x", "btrfs").unwrap().contains("built without it"));
    }

    #[test]
    fn what_linux_no_longer_has_is_told_with_the_release_that_dropped_it() {
        let gone = lack("6.18.44-fc", "reiserfs").unwrap();
        let expected =
            "this kernel (6.18.44) cannot mount reiserfs: Linux has not had it since 6.13";
        assert!(gone.starts_with(expected), "{gone}");
        assert!(lack("6.13.0", "reiserfs").unwrap().contains("since 6.13"));
        assert!(lack("6.9.12", "reiserfs").unwrap().contains("built without it"), "9 < 13");
        assert!(lack("5.19.0", "reiserfs").unwrap().contains("built without it"));
    }

    #[test]
    fn a_missing_program_is_told_with_the_command_that_installs_it() {
        let told = |name| not_found(find_kind(name).unwrap().maker.as_ref().unwrap());
        assert_eq!(
            told("xfs"),
            "mkfs.xfs is not where the system keeps programs (PATH is not searched). Install it: \
             `apt install xfsprogs`, on Fedora `dnf install xfsprogs`"
        );
        let nilfs2 = "`apt install nilfs-tools`, on Fedora `dnf install nilfs-utils`";
        assert!(told("nilfs2").ends_with(nilfs2));
    }

    fn shell(script: &str) -> Result<()> {
        let tool = Tool { program: "/bin/sh".into(), version: None };
        make(&tool, &["-c".into(), script.into()], Path::new("/"), &AtomicBool::new(false))
    }

    #[test]
    fn a_program_that_runs_is_killed_when_the_user_wants_to_stop() {
        let tool = Tool { program: "/bin/sh".into(), version: None };
        let words = ["-c".into(), "sleep 1000".into()];
        let stopped = make(&tool, &words, Path::new("/"), &AtomicBool::new(true));
        let failure = stopped.expect_err("it was stopped");
        assert_eq!(failure.exit, Exit::Interrupted);
        assert_eq!(failure.sentence, "interrupted during sh");
    }

    #[test]
    fn a_failing_program_is_told_with_its_last_words_and_the_command() {
        let script = "echo much; echo 'a b' >&2; echo c. >&2; echo; echo Usage: x >&2; exit 3";
        let told = shell(script).expect_err("it fails").sentence;
        assert!(told.starts_with("sh failed with exit code 3: a b; c. The command was `sh -c '"));
        assert!(told.contains("echo '\\''a b'\\''"), "{told}");
        let told = shell("echo only stdout; exit 1").expect_err("it fails").sentence;
        assert!(told.contains("code 1: only stdout."), "{told}");
        let told = shell("kill -9 $$").expect_err("it dies").sentence;
        assert!(told.contains("was killed by signal 9: it said nothing."), "{told}");
        assert_eq!(shell("echo warning >&2"), Ok(()));
    }
}
