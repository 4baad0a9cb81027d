//! The run's directory in a directory of another user, who may rename it and put something in its place.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal, kill_process};

use crate::command::{Bench, Ran, Running, names_in, run_directories};
use crate::common::{LoopMount, output, skip};

/// The other user.
const OTHER: u32 = 65_534;

/// A bench whose directory is the other user's; none, with the reason spoken, without root.
fn bench(what: &str) -> Option<Bench> {
    if !rustix::process::geteuid().is_root() {
        skip(what, "it takes root to be attacked by another user");
        return None;
    }
    let bench = Bench::default();
    let above = bench.work().parent().unwrap().to_path_buf();
    std::fs::set_permissions(above, PermissionsExt::from_mode(0o755)).unwrap();
    chown(bench.work(), Some(OTHER), Some(OTHER)).unwrap();
    Some(bench)
}

/// A command of the other user's, which must go well.
#[track_caller]
fn other(script: &str, paths: &[&Path]) {
    let mut shell = Command::new("sh");
    shell.args(["-euc", script, "sh"]).args(paths).current_dir("/").uid(OTHER).gid(OTHER);
    let done = shell.output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

/// The marker that proves this directory to be a run's.
fn forged(directory: &Path) -> String {
    let stat = std::fs::metadata(directory).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let name = directory.file_name().unwrap().to_str().unwrap();
    format!(
        "{{\"run\":\"{}\",\"token\":\"aaaaaaaaaaaaaaaa\",\"device\":{},\"inode\":{},\"boot\":\"{}\",\
         \"process\":4194304,\"host\":\"{}\"}}",
        name.strip_prefix("boatload-").unwrap(),
        stat.dev(),
        stat.ino(),
        boot.trim(),
        std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim()
    )
}

/// Makes a directory of the other user's that looks like a run's, with a file in it.
fn forge(directory: &Path) -> PathBuf {
    other("mkdir -p \"$1/c0000000001\"; echo own >\"$1/c0000000001/f0000000001\"", &[directory]);
    std::fs::write(directory.join(".boatload"), forged(directory)).unwrap();
    chown(directory.join(".boatload"), Some(OTHER), Some(OTHER)).unwrap();
    directory.join("c0000000001/f0000000001")
}

/// Renames a run's directory to `away` and puts a forged one in its place; gives a file in that.
fn swap(run_directory: &Path) -> PathBuf {
    other("mv \"$1\" \"$2\"", &[run_directory, &run_directory.with_file_name("away")]);
    forge(run_directory)
}

#[test]
fn a_run_whose_directory_is_swapped_empties_and_removes_its_own_and_leaves_the_forged_one() {
    let Some(bench) = bench("a swapped run directory") else { return };
    let running = bench.long_run(&bench.work());
    let name = running.run_directory().file_name().unwrap().to_str().unwrap().to_string();
    let file = swap(running.run_directory());
    running.signal(Signal::INT);
    let ran = running.ended();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "own\n", "{}", ran.stderr);
    assert_eq!(names_in(&bench.work()), [name.as_str()], "{}", ran.stderr);
    for part in [&format!("{name} was renamed to"), "/away", "emptied and removed there"] {
        assert!(ran.stderr.contains(part), "no {part} in {}", ran.stderr);
    }
    assert_eq!(ran.code, Some(1));
}

#[test]
fn a_file_system_made_in_a_directory_that_is_swapped_goes_with_its_image() {
    let what = "a swapped directory with an image";
    let Some(bench) = bench(what) else { return };
    if output("mkfs.ext4", &["-V"]).is_none() || !Path::new("/dev/loop-control").exists() {
        return skip(what, "no mkfs.ext4, or no loop devices");
    }
    let job = "name = 'made'\n[tree]\nfiles = 3_000_000\n[[phase]]\noperation = 'create'\n";
    let job = bench.write("long.toml", job);
    let mut command = bench.command(["run", "--filesystem", "ext4"]);
    command.arg(job);
    let running = Running::start_on_made(command, &bench.work());
    let run_directory = running.run_directory().to_path_buf();
    let file = swap(&run_directory);
    running.signal(Signal::INT);
    let ran = running.ended();
    assert!(file.exists(), "{}", ran.stderr);
    let name = run_directory.file_name().unwrap().to_str().unwrap();
    assert_eq!(names_in(&bench.work()), [name], "{}", ran.stderr);
    let loops = output("losetup", &["--list", "-O", "BACK-FILE"]).unwrap_or_default();
    assert!(!loops.contains(bench.work().to_str().unwrap()), "{loops}");
}

#[test]
fn clean_names_a_run_directory_that_was_renamed_and_removes_it_under_its_own_name() {
    let Some(bench) = bench("a renamed run directory") else { return };
    let running = bench.long_run(&bench.work());
    let run_directory = running.run_directory().to_path_buf();
    let file = swap(&run_directory);
    running.signal(Signal::KILL);
    running.ended();
    let away = bench.work().join("away");
    other("mv \"$1\" \"$2\"", &[&run_directory, &bench.work().join("forged")]);
    let ran = bench.run(["clean", "--yes"]);
    let name = run_directory.file_name().unwrap().to_str().unwrap();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("away is left alone: it was {name}")), "{}", ran.stderr);
    assert!(!ran.stderr.contains("forged"), "it is another user's: {}", ran.stderr);
    assert!(away.join("c0000000001").exists());
    std::fs::rename(&away, &run_directory).unwrap();
    let ran = bench.run(["clean", "--yes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(names_in(&bench.work()), ["forged"]);
    assert!(bench.work().join("forged/c0000000001/f0000000001").exists(), "{}", file.display());
}

#[test]
fn clean_unmounts_nothing_under_a_marker_that_another_user_forged() {
    let Some(bench) = bench("a mount under a forged marker") else { return };
    let Some(mounted) = LoopMount::new("ext4", 16) else { return };
    std::fs::write(mounted.path().join("precious"), "precious").unwrap();
    let directory = bench.work().join("boatload-aaaaaaaa");
    forge(&directory);
    let point = directory.join("mounted");
    other("mkdir \"$1\"", &[&point]);
    let words = ["--bind", mounted.path().to_str().unwrap(), point.to_str().unwrap()];
    assert!(Command::new("mount").args(words).status().unwrap().success());
    let ran = bench.run(["clean", "--yes"]);
    let is_there = point.join("precious").exists();
    let _ = Command::new("umount").arg(&point).stderr(Stdio::null()).status();
    assert!(is_there, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("not known to be the run's own"), "{}", ran.stderr);
}

#[test]
fn clean_unmounts_nothing_but_the_runs_own_image_in_a_directory_of_its_own() {
    let Some(bench) = bench("a foreign mount in a run's directory") else { return };
    let Some(mounted) = LoopMount::new("ext4", 16) else { return };
    let running = bench.long_run(&bench.work());
    let point = running.run_directory().join("mounted");
    running.signal(Signal::KILL);
    running.ended();
    std::fs::create_dir(&point).unwrap();
    // It has the name of the image, and is another one.
    std::fs::write(point.with_file_name("image"), "").unwrap();
    let words = ["--bind", mounted.path().to_str().unwrap(), point.to_str().unwrap()];
    assert!(Command::new("mount").args(words).status().unwrap().success());
    let ran = bench.run(["clean", "--yes"]);
    let is_mounted = Command::new("umount").arg(&point).stderr(Stdio::null()).status().unwrap();
    assert!(is_mounted.success(), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("not known to be the run's own"), "{}", ran.stderr);
    assert_eq!(bench.run(["clean", "--yes"]).code, Some(0));
}

/// Waits until something is so, for a minute.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a minute has gone: {what}");
}

#[test]
fn one_ctrl_c_ends_a_run_that_waits_for_the_lock_of_a_swapped_directory() {
    let what = "the lock of another user";
    let Some(bench) = bench(what) else { return };
    if output("strace", &["--version"]).is_none() {
        return skip(what, "strace is missing");
    }
    // Between the making of the directory and its opening there is time for anything.
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=mkdirat", "-e", "inject=mkdirat:delay_exit=3000000"]);
    command.arg("-o").arg(bench.beside("trace")).arg(env!("CARGO_BIN_EXE_boatload"));
    command.args(["run", "--set", "files=20", "--set", "selected=5", "--repeats", "1", "--quiet"]);
    command.arg("--store").arg(bench.store()).current_dir(bench.work());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    wait_until("no directory was made", || !run_directories(&bench.work()).is_empty());
    let directory = run_directories(&bench.work()).remove(0);
    other("mv \"$1\" \"$2\"; mkdir \"$1\"", &[&directory, &bench.work().join("away")]);
    let lock = File::open(&directory).unwrap();
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).unwrap();
    let task = format!("/proc/{0}/task/{0}/children", child.id());
    let tracee = std::fs::read_to_string(task).unwrap();
    let tracee = Pid::from_raw(tracee.trim().parse().unwrap()).unwrap();
    // It has asked for the lock once the delay is over.
    std::thread::sleep(Duration::from_millis(3_500));
    kill_process(tracee, Signal::INT).unwrap();
    let ends = std::thread::spawn(move || child.wait_with_output().unwrap());
    for _ in 0..1_000 {
        if ends.is_finished() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let is_ended = ends.is_finished();
    drop(lock);
    let ran = Ran::from(ends.join().unwrap());
    assert!(is_ended, "it waited until the lock was free");
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert_eq!(names_in(&directory), Vec::<String>::new(), "nothing is made in it");
}

#[test]
fn a_link_in_the_place_of_a_renamed_directory_is_not_followed() {
    let Some(bench) = bench("a link in the place of a run's directory") else { return };
    let outside = bench.beside("outside");
    std::fs::create_dir_all(outside.join("c0000000001")).unwrap();
    std::fs::write(outside.join("c0000000001/f0000000001"), "precious").unwrap();
    let running = bench.long_run(&bench.work());
    let run_directory = running.run_directory().to_path_buf();
    other("mv \"$1\" \"$2\"", &[&run_directory, &bench.work().join("away")]);
    symlink(&outside, &run_directory).unwrap();
    running.signal(Signal::INT);
    let ran = running.ended();
    assert!(outside.join("c0000000001/f0000000001").exists(), "{}", ran.stderr);
    assert!(run_directory.is_symlink() && !bench.work().join("away").exists(), "{}", ran.stderr);
}
