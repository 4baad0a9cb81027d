//! Finds programs where the system keeps them, and prepares their start: with a short environment of their own,
//! without a shell, and with an end when boatload ends.
#![expect(unsafe_code, reason = "a call between fork and exec that no safe wrapper has")]

use std::fs::File;
use std::io::Seek;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::MemfdFlags;

use boatload_base::files::read_start_of;
use boatload_base::patience::pause;

use super::capabilities::{keep, needed_by};

/// Where programs are looked for, whatever `PATH` says: what root runs is not the choice of an environment.
const PLACES: [&str; 7] = [
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    // NixOS keeps them here.
    "/run/current-system/sw/bin",
];

/// A program by its name.
pub(super) fn find_program(name: &str) -> Option<PathBuf> {
    find_in(PLACES.iter().map(Path::new), name)
}

/// The sentence for one that is missing, with the command that installs its package.
pub(super) fn missing_program(name: &str, debian: &str, fedora: &str) -> String {
    format!(
        "{name} is not where the system keeps programs (PATH is not searched). Install it: `apt install {debian}`, on \
         Fedora `dnf install {fedora}`"
    )
}

fn find_in<'a>(mut places: impl Iterator<Item = &'a Path>, name: &str) -> Option<PathBuf> {
    let runs = |file: &PathBuf| {
        let data = std::fs::metadata(file);
        data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    places.find_map(|place| Some(place.join(name)).filter(runs))
}

/// The start of a program, without input, and with no more rights of root than it needs. It is killed when the thread that starts it ends: one that writes to a
/// device must not keep running when nobody watches it any more.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", PLACES.join(":")).env("LC_ALL", "C").stdin(Stdio::null());
    let (parent, needed) = (rustix::process::getpid(), needed_by(program));
    let prepare = move || {
        keep(needed);
        let signal = Some(rustix::process::Signal::KILL);
        rustix::process::set_parent_process_death_signal(signal)?;
        // It may have ended before that.
        match rustix::process::getppid() == Some(parent) {
            true => Ok(()),
            false => Err(rustix::io::Errno::SRCH.into()),
        }
    };
    // SAFETY: between fork and exec this makes a few system calls, such as capset(2) and prctl(2), and allocates nothing.
    unsafe { command.pre_exec(prepare) };
    command
}

/// What a program says at most is read of each of its streams.
const SAID_BYTES_MAX: usize = 1 << 20;

/// The pause between two checks of a program that runs.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs a program to its end. What it says goes to memory: where a pipe cannot be read, `Command::output` panics.
pub(crate) fn output(command: &mut Command) -> std::io::Result<Output> {
    let said = Said::of(command)?;
    said.ended(command.spawn()?.wait()?)
}

/// The same in a process group of its own, or kills it with its children when `stop` is set; then there is none.
pub(super) fn output_until(
    command: &mut Command,
    stop: &AtomicBool,
) -> std::io::Result<Option<Output>> {
    let said = Said::of(command)?;
    // A Ctrl-C in the terminal is meant for boatload, which ends it in its own way.
    let mut child = command.process_group(0).spawn()?;
    loop {
        match child.try_wait()? {
            Some(status) => return said.ended(status).map(Some),
            None if stop.load(Ordering::Relaxed) => {
                kill_with_children(&mut child)?;
                return Ok(None);
            }
            None => pause(PAUSE),
        }
    }
}

fn kill_with_children(child: &mut Child) -> std::io::Result<()> {
    let group = rustix::process::Pid::from_child(child);
    // If it has ended meanwhile, so has its group.
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    child.wait().map(drop)
}

/// Files in memory that take what a program says.
struct Said {
    stdout: File,
    stderr: File,
}

impl Said {
    fn of(command: &mut Command) -> std::io::Result<Self> {
        let memory = || rustix::fs::memfd_create(c"said", MemfdFlags::CLOEXEC).map(File::from);
        let said = Self { stdout: memory()?, stderr: memory()? };
        command.stdout(said.stdout.try_clone()?).stderr(said.stderr.try_clone()?);
        Ok(said)
    }

    fn ended(mut self, status: ExitStatus) -> std::io::Result<Output> {
        let read = |file: &mut File| {
            file.rewind()?;
            read_start_of(file, SAID_BYTES_MAX)
        };
        Ok(Output { status, stdout: read(&mut self.stdout)?, stderr: read(&mut self.stderr)? })
    }
}

#[cfg(test)]
mod tests {
    use rustix::thread::CapabilitySet;

    use super::*;
    use boatload_base::fixture::skip::skip;

    #[test]
    fn a_program_is_an_executable_file() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("mkfs.x");
        let find = || find_in([place.path()].into_iter(), "mkfs.x");
        assert_eq!(find(), None);
        std::fs::write(&file, "").unwrap();
        assert_eq!(find(), None, "not executable");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(), Some(file));
        assert_eq!(find_program("no such program"), None);
    }

    #[test]
    fn a_program_has_a_short_environment_and_nothing_of_the_caller() {
        let shown = output(&mut command(Path::new("/usr/bin/env"))).unwrap();
        let text = String::from_utf8(shown.stdout).unwrap();
        let mut names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
        names.sort_unstable();
        assert_eq!(names, ["LC_ALL", "PATH"], "{text}");
    }

    #[test]
    fn a_program_has_no_more_rights_of_root_than_it_needs() {
        if !rustix::process::geteuid().is_root() {
            return skip("rights of programs that root starts", "not root");
        }
        let place = tempfile::tempdir().unwrap();
        let opening = CapabilitySet::DAC_OVERRIDE;
        let more = opening.union(CapabilitySet::SYS_ADMIN);
        for (name, needed) in
            [("mkfs.ext4", opening), ("mkfs.xfs", more), ("bpftrace", more), ("wipefs", opening)]
        {
            let program = place.path().join(name);
            std::os::unix::fs::symlink("/bin/grep", &program).unwrap();
            let done = command(&program).args(["Cap", "/proc/self/status"]).output().unwrap();
            let shown = String::from_utf8(done.stdout).unwrap();
            let sets = ["CapInh", "CapPrm", "CapEff", "CapAmb"].map(|set| {
                let line = shown.lines().find_map(|line| line.strip_prefix(&format!("{set}:\t")));
                CapabilitySet::from_bits_retain(u64::from_str_radix(line.unwrap(), 16).unwrap())
            });
            let none = CapabilitySet::empty();
            assert_eq!(sets, [none, needed, needed, none], "{name}");
        }
    }

    #[test]
    fn a_program_ends_with_the_thread_that_started_it() {
        let start = || command(Path::new("/bin/sleep")).arg("1000").spawn().unwrap();
        let mut child = std::thread::spawn(start).join().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    }
}
