//! What the kernel does not tell, and what a filter of system calls refuses: it is unknown, or boatload gets it in another
//! way, and the result says so.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::command::{Bench, Ran, SMALL, names_in};
use crate::common::{LoopMount, output, skip};
use crate::mounts::Mounted;

/// The document of a run that went well: all of its measurements are valid.
#[track_caller]
fn valid(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = ran.json();
    let measurements = document["measurements"].as_array().unwrap();
    assert!(!measurements.is_empty());
    for one in measurements {
        assert_eq!(one["valid"], true, "{one}");
    }
    document
}

/// The sentences of the warnings with this code.
fn warnings(document: &Value, code: &str) -> Vec<String> {
    let all = document["findings"].as_array().unwrap().iter();
    let own = all.filter(|one| one["kind"] == "warning" && one["code"] == code);
    own.map(|one| one["sentence"].as_str().unwrap().to_string()).collect()
}

/// A small run in a directory whose system calls strace has fail in this way; none, with the reason spoken, where it cannot.
fn with_fault(bench: &Bench, directory: &Path, fault: &[&str], options: &[&str]) -> Option<Ran> {
    let probe = ["-f", "-qq", "-o", "/dev/null", "-e", "inject=getpid:error=EPERM", "true"];
    if output("strace", &probe).is_none() {
        skip(&format!("a run with {fault:?}"), "strace cannot make calls fail");
        return None;
    }
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null"]).args(fault).arg(env!("CARGO_BIN_EXE_boatload"));
    command.args(SMALL).args(options).arg("--dir").arg(directory);
    Some(Ran::of(command.args(["--json", "-", "--store"]).arg(bench.store())))
}

#[test]
fn a_file_system_that_states_no_size_is_measured_and_its_space_is_unknown() {
    let bench = Bench::default();
    let mounted = match Mounted::ramfs(&bench.work()) {
        Ok(mounted) => mounted,
        Err(why) => return skip("a file system that states no size", &why),
    };
    let document =
        valid(&Ran::of(bench.command(SMALL).args(["--json", "-", "--dir"]).arg(mounted.path())));
    let there = &document["host"]["filesystem"];
    assert_eq!((&there["type"], &there["total_bytes"]), (&"ramfs".into(), &Value::Null));
    for one in document["measurements"].as_array().unwrap() {
        assert_eq!((&one["space_bytes"], &one["inodes"]), (&Value::Null, &Value::Null), "{one}");
    }
    let mut filling = bench.command(["run", "fullness", "--fill-real", "--dir"]);
    let refused = Ran::of(filling.arg(mounted.path()));
    assert!(refused.refuses(1).contains("0 of 0 blocks"), "{}", refused.stderr);
    assert_eq!(names_in(mounted.path()), Vec::<String>::new());
}

/// An ext4 of a gibibyte with an inode for each 4 MiB.
fn few_inodes() -> Option<LoopMount> {
    LoopMount::with("ext4", 1024, &["-T", "largefile4"], "loop")
}

#[test]
fn what_lacks_inodes_where_bytes_abound_is_refused_by_its_inodes() {
    let Some(mount) = few_inodes() else { return };
    let bench = Bench::default();
    let mut command = bench.command(["run", "fullness", "--fill-real", "--set", "levels=30"]);
    let ran = Ran::of(command.arg("--dir").arg(mount.path()));
    let said = ran.refuses(1);
    assert!(said.contains("inodes (one for each file and directory) and"), "{said}");
    assert!(!said.contains("short)"), "bytes are there: {said}");
}

#[test]
fn a_ballast_that_runs_out_of_inodes_says_so_and_not_that_space_is_full() {
    let Some(mount) = few_inodes() else { return };
    let bench = Bench::default();
    let ran = bench.run(["age", mount.path().to_str().unwrap(), "--to", "80%", "--fill-real"]);
    let said = ran.refuses(1);
    assert!(said.contains("no inodes, although"), "{said}");
    assert!(said.contains(&mount.path().display().to_string()), "{said}");
}

#[test]
fn a_filter_that_does_not_know_statx_is_gone_around() {
    let bench = Bench::default();
    let fault = ["-e", "inject=statx:error=EPERM"];
    let Some(ran) = with_fault(&bench, &bench.work(), &fault, &[]) else { return };
    let document = valid(&ran);
    assert_ne!(document["host"]["filesystem"]["type"], "", "{}", document["host"]);
}

#[test]
fn a_run_without_a_lock_or_without_the_space_that_it_took_says_so() {
    for (call, fault) in [("flock", "error=EPERM"), ("fstatfs", "error=EIO:when=16")] {
        let bench = Bench::default();
        let fault = ["-e", &format!("inject={call}:{fault}")];
        let Some(ran) = with_fault(&bench, &bench.work(), &fault, &[]) else { return };
        let document = valid(&ran);
        let [said] = &warnings(&document, "unanswered-calls")[..] else { panic!("{document}") };
        let place = format!("{call} of {}", bench.work().display());
        assert!(said.contains(&place), "{said}");
    }
}

#[test]
fn a_full_index_of_a_directory_is_not_called_a_lack_of_space() {
    let Some(mount) = LoopMount::new("ext4", 64) else { return };
    let bench = Bench::default();
    let fault = ["-P", "f0000000011", "-e", "inject=openat:error=ENOSPC:when=1"];
    let Some(ran) = with_fault(&bench, mount.path(), &fault, &[]) else { return };
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let document = ran.json();
    let reason = document["measurements"][0]["invalid"][0]["sentence"].as_str().unwrap();
    let first =
        "ENOSPC x 1 (first in open of file 11): the index of a directory is full, although ";
    assert!(reason.starts_with(first), "{reason}");
}

#[test]
fn a_program_whose_output_cannot_be_read_ends_in_a_sentence_and_not_in_a_panic() {
    if !rustix::process::geteuid().is_root() {
        return skip("a program whose output cannot be read", "only root makes file systems");
    }
    let bench = Bench::default();
    let fault = ["-e", "inject=ioctl:error=EPERM"];
    let made = ["--filesystem", "ext4", "--size", "64MiB"];
    let Some(ran) = with_fault(&bench, &bench.work(), &fault, &made) else { return };
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(matches!(ran.code, Some(0 | 1 | 4)), "{:?} {}", ran.code, ran.stderr);
    let cleaned = Ran::of(bench.bare().args(["clean", "--yes"]).arg(bench.work()));
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
}
