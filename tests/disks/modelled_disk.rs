//! Modelled disks: that the process behind one ends with its run, and that a run ends with the process.
//! Needs root and FUSE.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::command::{Bench, Ran, Running};
use crate::common::{output, skip};
use crate::filesystems_real::{assert_no_device, assert_no_trace};

/// A job that runs for long.
const LONG_JOB: &str = "name = \"made\"\n[tree]\nfiles = 100_000\n[[phase]]\noperation = \"create\"\n\
    durability = \"fsync\"\n";

/// An empty bench; none, with the reason spoken, where no modelled disk can be served.
pub(crate) fn modelled_bench(what: &str) -> Option<Bench> {
    let why = match () {
        () if !rustix::process::geteuid().is_root() => "not root",
        () if output("mkfs.ext4", &["-V"]).is_none() => "mkfs.ext4 is missing",
        () if !Path::new("/dev/loop-control").exists() => "no loop devices",
        () if std::fs::File::open("/dev/fuse").is_err() => "no FUSE",
        () => return Some(Bench::default()),
    };
    skip(what, why);
    None
}

/// A bench with the job.
fn bench(what: &str) -> Option<Bench> {
    let bench = modelled_bench(what)?;
    bench.write("long.toml", LONG_JOB);
    Some(bench)
}

fn long_run(bench: &Bench) -> std::process::Command {
    let mut command = bench.command(["run", "--filesystem", "ext4", "--disk", "hdd-7200"]);
    command.arg(bench.beside("long.toml"));
    command
}

/// The process that serves the disk of a run.
fn server_of(run: Pid) -> Option<Pid> {
    let run = run.as_raw_nonzero();
    let children = std::fs::read_to_string(format!("/proc/{run}/task/{run}/children")).ok()?;
    let mut children = children.split_whitespace().filter_map(|word| word.parse::<i32>().ok());
    let is_server = |child: &i32| {
        let name = std::fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
        ["boatload-disk", "exe"].contains(&name.trim())
    };
    children.find(is_server).and_then(Pid::from_raw)
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..3_000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("half a minute has gone without {what}");
}

/// Nothing of it is left but, until its parent has looked, its exit code.
fn assert_gone(process: Pid) {
    let stat = PathBuf::from(format!("/proc/{}/stat", process.as_raw_nonzero()));
    wait_for("an end of the server", || {
        let stat = std::fs::read_to_string(&stat).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    });
}

#[test]
fn after_kill_9_at_any_moment_no_server_no_mount_and_no_loop_device_is_left() {
    let Some(bench) = bench("kill -9 of a run on a modelled disk") else { return };
    for milliseconds in [0, 50, 200, 500, 1500] {
        let mut command = long_run(&bench);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = wait_for("a server", || server_of(Pid::from_child(&child)));
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_gone(server);
        assert_no_device(&bench);
        assert_eq!(bench.run(["clean", "--yes"]).code, Some(0));
        assert_no_trace(&bench);
    }
}

/// A run whose server gets a signal while files are made on its disk.
fn run_after(bench: &Bench, signal: Signal) -> Ran {
    let running = Running::start_on_made(long_run(bench), &bench.work());
    let server = server_of(running.id()).expect("a run on a modelled disk has a server");
    kill_process(server, signal).unwrap();
    let ran = running.ended();
    assert_gone(server);
    ran
}

#[test]
fn a_server_that_is_stopped_or_killed_ends_the_run_with_one_sentence_and_nothing_is_left() {
    let Some(bench) = bench("a server that does not answer") else { return };
    let signals =
        [(Signal::STOP, "did not answer for 5 s"), (Signal::KILL, "was killed by signal 9")];
    for (signal, how) in signals {
        let ran = run_after(&bench, signal);
        let said = ran.refuses(1);
        assert!(said.contains(how), "no {how:?} in {said}");
        assert_no_trace(&bench);
    }
}

#[test]
fn the_command_that_serves_a_disk_does_nothing_for_a_user_and_is_not_shown() {
    let bench = Bench::default();
    let mut command = bench.bare();
    assert!(Ran::of(command.arg("serve-disk")).refuses(2).contains("on its own it does nothing"));
    let help = Ran::of(bench.bare().arg("--help"));
    assert!(!help.stdout.contains("serve-disk"), "{}", help.stdout);
}
