//! The blocking engine under the conditions users put it in: every durability, access times left
//! alone, more directories than may be open, few file descriptors.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::common;

use crate::command;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use command::{Bench, Ran, names_in};
use common::{output, skip};

fn job(keys: &str, tree: &str) -> String {
    format!(
        "name = \"x\"\nquestion = \"?\"\nrepeats = 1\n{keys}\n[tree]\n{tree}\n\
         [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"overwrite\"\n\
         [[phase]]\noperation = \"rename\"\n[[phase]]\noperation = \"read\"\norder = \"random\"\n\
         [[phase]]\noperation = \"find\"\n[[phase]]\noperation = \"delete\"\n"
    )
}

/// Runs a job through another command (a shell that sets limits, strace); all must go well.
fn all_valid(bench: &Bench, through: &[&str], job: &Path) {
    let mut command = Command::new(through[0]);
    command.args(&through[1..]).arg(env!("CARGO_BIN_EXE_boatload")).args(["run", "--json", "-"]);
    command.arg(job).arg("--store").arg(bench.store()).current_dir(bench.work());
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for m in ran.json()["measurements"].as_array().unwrap() {
        assert_eq!(m["valid"], true, "{m}");
    }
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

/// Calls by name, and of those that open a file how many carried each flag.
fn traced(bench: &Bench, job: &Path) -> Option<BTreeMap<String, u64>> {
    if output("strace", &["--version"]).is_none() {
        skip("system calls against strace", "it is not installed");
        return None;
    }
    let log = bench.beside("calls");
    let calls = "trace=openat,fsync,fdatasync,syncfs";
    let strace = ["strace", "-f", "-e", calls, "-o", log.to_str().unwrap()];
    all_valid(bench, &strace, job);
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(&log).unwrap().lines() {
        // Only what concerns the tree: a descriptor or a name of one of its files.
        let name = line.split_whitespace().nth(1).and_then(|call| call.split_once('('));
        let Some((name, _)) = name else { continue };
        *counts.entry(name.to_string()).or_default() += 1;
        for flag in ["O_DSYNC", "O_SYNC", "O_NOATIME"].into_iter().filter(|_| line.contains("\"f0"))
        {
            *counts.entry(flag.to_string()).or_default() += u64::from(line.contains(flag));
        }
    }
    Some(counts)
}

#[test]
fn every_durability_makes_the_calls_it_is_named_after() {
    let tree = "files = 25\nsize = 5000\ndirectories = 3";
    let count = |durability: &str| {
        let bench = Bench::default();
        let text = job(&format!("durability = \"{durability}\""), tree);
        traced(&bench, &bench.write("job.toml", text))
    };
    let Some(none) = count("none") else { return };
    let base = |call: &str| none.get(call).copied().unwrap_or(0);
    // Creates and overwrites write files; creates, renames and deletes change directories.
    let (written, changed) = (2 * 25, 3 * 25);
    for (durability, call, expected) in [
        ("fsync", "fsync", written),
        ("fdatasync", "fdatasync", written),
        // A file that is overwritten is there already, but it may be asked all the same.
        ("fsync-directory", "fsync", written + changed),
        ("dsync", "O_DSYNC", written),
        ("syncfs", "syncfs", 6),
    ] {
        let found = count(durability).unwrap()[call] - base(call);
        // The store syncs as well, not always as often. A directory is synced after an overwrite too.
        let most = match call {
            "fsync" => expected + 25 + 20,
            "fdatasync" => expected + 20,
            _ => expected,
        };
        assert!(
            (expected..=most).contains(&found),
            "{durability}: {found} times {call}, not {expected}"
        );
    }
    // O_SYNC would wait for more than was asked, and has the bit of O_DSYNC too.
    assert_eq!(count("dsync").unwrap()["O_SYNC"], 0);
    assert_eq!(base("O_DSYNC"), 0);
}

#[test]
fn access_times_stay_when_that_is_asked() {
    let bench = Bench::default();
    let tree = "files = 60\nsize = 5000";
    let of = |atime: &str| {
        let text = job(&format!("atime = \"{atime}\""), tree);
        traced(&bench, &bench.write("job.toml", text)).map(|calls| calls["O_NOATIME"])
    };
    let (Some(off), Some(mounted)) = (of("off"), of("as-mounted")) else { return };
    assert_eq!(off - mounted, 60, "each read and nothing else");
}

#[test]
fn more_directories_than_may_be_open_are_reached_by_path() {
    let bench = Bench::default();
    let tree = "files = 6000\ndirectories = 5000\nplacement = \"stripe\"";
    all_valid(&bench, &["env"], &bench.write("job.toml", job("threads = 2", tree)));
}

#[test]
fn few_file_descriptors_are_enough() {
    let bench = Bench::default();
    let limited = ["sh", "-c", "ulimit -n 40; exec \"$@\"", "sh"];
    for tree in [
        "files = 300\ndirectories = 200",
        "files = 300\ndirectories = { fan_out = 3, depth = 4 }\nsize = 10",
        "files = 300\ndirectories = 19\ntrees = \"own\"",
    ] {
        all_valid(&bench, &limited, &bench.write("job.toml", job("threads = 4", tree)));
    }
}

#[test]
fn the_deepest_nesting_that_is_allowed_works() {
    let bench = Bench::default();
    let tree = "files = 50\nsize = 10\ndirectories = { fan_out = 1, depth = 16 }";
    all_valid(&bench, &["env"], &bench.write("job.toml", job("", tree)));
}
