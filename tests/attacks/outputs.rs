//! Links, pipes, files and devices in the place of what boatload is to write.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Bench, Ran, names_in};
use crate::common::{output, skip};

/// A user who is not root.
const OTHER: u32 = 65_534;

const JOB: &str = "name = \"x\"\nengine = \"sim\"\n[tree]\nfiles = 100\n[sim]\nmetadata = \"20us\"\n[[phase]]\noperation = \"create\"\n";

/// Bytes of a device: what stands for a superblock, all over it.
const DEVICE_BYTES: usize = 1 << 20;
const SUPERBLOCK: u8 = 0xa5;

/// Seconds after which a command hangs.
const HANGS_S: &str = "60";

/// A loop device with something on it.
struct Device {
    path: String,
    _image: tempfile::NamedTempFile,
}

impl Device {
    fn new() -> Option<Self> {
        let image = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(image.path(), [SUPERBLOCK; DEVICE_BYTES]).unwrap();
        let path = output("losetup", &["--find", "--show", image.path().to_str().unwrap()]);
        if path.is_none() {
            skip("what is written to a block device", "no loop device");
        }
        Some(Self { path: path?, _image: image })
    }

    #[track_caller]
    fn is_whole(&self, after: &str) {
        let bytes = std::fs::read(&self.path).unwrap();
        assert!(bytes == [SUPERBLOCK; DEVICE_BYTES], "{after} wrote to the device");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = output("losetup", &["--detach", &self.path]);
    }
}

/// A bench with a run in its store, a job and the run's document; none, with the reason spoken, without root.
fn measured(what: &str) -> Option<(Bench, PathBuf)> {
    if !rustix::process::geteuid().is_root() {
        skip(what, "needs root to plant what another user owns");
        return None;
    }
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    std::fs::write(bench.work().join("job.toml"), JOB).unwrap();
    bench.document([Path::new("run"), &job]);
    let run = bench.document([Path::new("run"), &job]);
    let document = bench.write("run.json", run.to_string());
    Some((bench, document))
}

/// Gives something to another user.
fn give(path: &Path) -> &Path {
    lchown(path, Some(OTHER), Some(OTHER)).unwrap();
    path
}

fn link(bench: &Bench, name: &str, target: impl AsRef<Path>) -> PathBuf {
    let path = bench.beside(name);
    symlink(target, &path).unwrap();
    path
}

fn pipe(bench: &Bench, name: &str) -> PathBuf {
    let path = bench.beside(name);
    output("mkfifo", &[path.to_str().unwrap()]).expect("mkfifo of coreutils");
    path
}

/// What a command came to that must not hang.
fn in_time(command: &Command) -> Ran {
    let mut limited = Command::new("timeout");
    limited.arg(HANGS_S).arg(command.get_program()).args(command.get_args()).env_clear();
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
    Ran::of(&mut limited)
}

/// The commands that write a file, by the words before its name.
const WRITERS: [&[&str]; 9] = [
    &["export", "last", "--format", "json", "-o"],
    &["report", "last", "-o"],
    &["show", "last", "--json"],
    &["compare", "last", "last~1", "--json"],
    &["check", "last", "--baseline", "history", "--json"],
    &["run", "job.toml", "--json"],
    &["run", "job.toml", "--report"],
    &["crash", "job.toml", "--filesystem", "ext4", "--json"],
    &["trace", "--json"],
];

/// No command writes there; each says why.
#[track_caller]
fn nobody_writes(bench: &Bench, place: &Path, why: &str) {
    for words in WRITERS {
        let mut command = bench.command(words);
        command.arg(place);
        if words[0] == "trace" {
            command.args(["--", "true"]);
        }
        let ran = in_time(&command);
        assert!(
            ran.code == Some(1),
            "{words:?} {}: {:?} {}",
            place.display(),
            ran.code,
            ran.stderr
        );
        assert!(ran.stderr.contains(why), "{words:?}: no \"{why}\" in {}", ran.stderr);
    }
    no_store_is_there(bench, place, why);
}

/// No command takes it for a store; each says why.
#[track_caller]
fn no_store_is_there(bench: &Bench, place: &Path, why: &str) {
    let document = bench.beside("run.json");
    for words in [&["run", "job.toml"][..], &["import", document.to_str().unwrap()]] {
        let ran = in_time(bench.bare().args(words).arg("--store").arg(place));
        assert!(ran.refuses(1).contains(why), "{words:?}: no \"{why}\" in {}", ran.stderr);
    }
}

#[test]
fn nothing_is_written_to_a_block_device_that_takes_the_place_of_a_file() {
    let Some((bench, _)) = measured("results on a block device") else { return };
    let Some(device) = Device::new() else { return };
    nobody_writes(&bench, device.path.as_ref(), "it is a block device");
    device.is_whole("a command that named it");
    let own = link(&bench, "own", &device.path);
    nobody_writes(&bench, &own, "it is a block device");
    device.is_whole("a command that named a link to it");
    let planted = link(&bench, "planted", &device.path);
    nobody_writes(&bench, give(&planted), "it is a link of user 65534");
    device.is_whole("a command that met a link to it");
    for words in [&["runs"][..], &["show", "last"]] {
        let ran = in_time(bench.bare().args(words).arg("--store").arg(&device.path));
        assert!(ran.refuses(1).contains("it is no regular file"), "{words:?}: {}", ran.stderr);
    }
    let open = File::options().write(true).open(&device.path).unwrap();
    let mut command = bench.command(["export", "last", "--format", "json", "-o", "/dev/stdout"]);
    let ran = command.stdout(open).output().unwrap();
    assert!(!ran.status.success(), "the standard output that it names is a block device");
    device.is_whole("a command whose standard output it was");
}

#[test]
fn a_link_of_somebody_else_to_nothing_makes_nothing() {
    let Some((bench, document)) = measured("a link to nothing") else { return };
    let target = bench.beside("nologin");
    let planted = link(&bench, "planted", &target);
    nobody_writes(&bench, give(&planted), "it is a link of user 65534");
    assert!(!target.exists(), "a command made the target of the link");
    let own = link(&bench, "own.db", &target);
    let imported = Ran::of(bench.bare().arg("import").arg(&document).arg("--store").arg(&own));
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    assert!(target.is_file(), "root may lead its own store elsewhere");
}

#[test]
fn a_store_goes_into_no_empty_file_that_boatload_did_not_make() {
    let Some((bench, document)) = measured("an empty file as a store") else { return };
    let empty = bench.write("empty", "");
    no_store_is_there(&bench, &empty, "it is an empty file that boatload did not make");
    no_store_is_there(&bench, give(&empty), "it belongs to user 65534");
    assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0);
    // What a kill leaves before SQLite has filled it.
    let killed = bench.write("killed", "");
    std::fs::set_permissions(&killed, Permissions::from_mode(0o600)).unwrap();
    let second = bench.beside("second");
    std::fs::hard_link(&killed, &second).unwrap();
    no_store_is_there(&bench, &killed, "it is an empty file that boatload did not make");
    std::fs::remove_file(second).unwrap();
    let imported = Ran::of(bench.bare().arg("import").arg(document).arg("--store").arg(&killed));
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
}

#[test]
fn what_somebody_put_beside_a_store_is_neither_followed_nor_filled() {
    let Some((bench, _)) = measured("files beside a store") else { return };
    let store = bench.store();
    let before = std::fs::read(&store).unwrap();
    let target = bench.write("target", "precious");
    for ending in ["-journal", "-wal", "-shm"] {
        let beside = PathBuf::from(format!("{}{ending}", store.display()));
        symlink(&target, &beside).unwrap();
        no_store_is_there(
            &bench,
            give(&beside).with_file_name("store.db").as_ref(),
            "it is a link",
        );
        std::fs::remove_file(&beside).unwrap();
        std::fs::hard_link(&target, &beside).unwrap();
        no_store_is_there(&bench, &store, "a file with 2 names");
        std::fs::remove_file(&beside).unwrap();
        std::fs::write(&beside, "").unwrap();
        give(&beside);
        no_store_is_there(&bench, &store, "it belongs to user 65534");
        std::fs::remove_file(&beside).unwrap();
        output("mkfifo", &[beside.to_str().unwrap()]).unwrap();
        give(&beside);
        no_store_is_there(&bench, &store, "it belongs to user 65534");
        std::fs::remove_file(&beside).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    assert!(std::fs::read(&store).unwrap() == before, "the store was written");
}

#[test]
fn a_pipe_of_somebody_else_keeps_nobody_waiting() {
    let Some((bench, _)) = measured("a pipe of somebody else") else { return };
    let planted = pipe(&bench, "planted");
    nobody_writes(&bench, give(&planted), "it belongs to user 65534");
    for words in [&["runs"][..], &["show", "last"]] {
        let ran = in_time(bench.bare().args(words).arg("--store").arg(&planted));
        assert!(ran.refuses(1).contains("it is no regular file"), "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn a_file_of_somebody_else_gets_no_results() {
    let Some((bench, _)) = measured("a file of somebody else") else { return };
    let theirs = bench.write("r.json", "theirs");
    std::fs::set_permissions(&theirs, Permissions::from_mode(0o666)).unwrap();
    nobody_writes(&bench, give(&theirs), "it belongs to user 65534");
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
    assert_eq!(std::fs::metadata(&theirs).unwrap().uid(), OTHER);
    // Who called sudo may have root write to their own files.
    for words in &WRITERS[..5] {
        let ran = Ran::of(bench.command(*words).arg(&theirs).env("SUDO_UID", OTHER.to_string()));
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
        assert_ne!(std::fs::read_to_string(&theirs).unwrap(), "theirs", "{words:?}");
        let now = std::fs::metadata(&theirs).unwrap();
        assert_eq!((now.uid(), now.mode() & 0o777), (OTHER, 0o666), "{words:?}");
        std::fs::write(&theirs, "theirs").unwrap();
    }
}

#[test]
fn a_terminal_a_device_that_does_more_and_a_socket_are_told_apart() {
    let Some((bench, _)) = measured("character devices") else { return };
    let socket = bench.beside("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for place in [&socket, Path::new("/dev/kmsg")] {
        nobody_writes(&bench, place, "it is neither a file, a pipe nor a terminal");
    }
    for place in ["/dev/null", "/dev/zero"] {
        let ran = bench.run(["export", "last", "--format", "json", "-o", place]);
        assert_eq!(ran.code, Some(0), "{place}: {}", ran.stderr);
    }
}

#[test]
fn nobody_knows_the_name_of_a_file_before_it_is_in_its_place() {
    let Some((bench, _)) = measured("names of files that are not done") else { return };
    for words in &WRITERS[..6] {
        // The shell becomes boatload, with its number.
        let script = "mkdir .r.json.$$ .boatload-$$ && exec \"$@\"";
        let command = bench.command(*words);
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]).arg(command.get_program()).args(command.get_args());
        let ran = Ran::of(shell.arg("r.json").current_dir(bench.work()).stdin(Stdio::null()));
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
    }
    let left = |name: &&String| name.starts_with('.') && bench.work().join(name).is_file();
    assert_eq!(names_in(&bench.work()).iter().find(left), None);
}

#[test]
fn where_all_files_have_one_owner_results_go_only_into_a_directory_that_is_nobody_elses() {
    let Some((bench, document)) = measured("a file system that maps owners") else { return };
    let [below, above] = ["below", "above"].map(|name| bench.beside(name));
    [&below, &above].iter().for_each(|directory| std::fs::create_dir(directory).unwrap());
    let [from, to] = [&below, &above].map(|directory| directory.to_str().unwrap());
    let owner = format!("--force-user={OTHER}");
    if output("bindfs", &[&owner, from, to]).is_none() {
        return skip("results where all files have one owner", "no bindfs");
    }
    let (store, text) = (above.join("store.db"), above.join("r.json"));
    let write = |into: &Path| {
        let arguments = ["export", "last", "--format", "json", "-o"];
        Ran::of(bench.command(arguments).arg(into))
    };
    let import = || Ran::of(bench.bare().arg("import").arg(&document).arg("--store").arg(&store));
    let private = [write(&text), write(&text), import(), import()];
    // Through the mount: the kernel remembers the rights of the directory below.
    std::fs::set_permissions(&above, Permissions::from_mode(0o777)).unwrap();
    let shared = [write(&text), import()];
    let new = write(&above.join("new.json"));
    assert!(output("umount", &[to]).is_some());
    for ran in private.iter().chain([&new]) {
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    for ran in shared {
        assert!(ran.refuses(1).contains("it belongs to user 65534"), "{}", ran.stderr);
    }
}
