//! `smallfiles` on real file systems made for the purpose: what is claimed of the caches, what the
//! device moved, and that the system calls are those that were counted.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::common;

use crate::command;
use crate::device::traced;
use crate::mounts;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use boatload::host::space::Space;
use command::{Bench, Ran, SMALL, names_in};
use common::{LoopMount, skip};
use mounts::Mounted;

/// Few files, none of them large, for places of some megabytes.
const COLD: [&str; 10] = [
    "run", "--repeats", "1", "--set", "files=1000", "--set", "selected=300", "--set",
    "typical_max=16KiB", "--json",
];

/// One run with cold caches in a directory.
fn cold_run(bench: &Bench, directory: &Path) -> Value {
    let ran = Ran::of(bench.command(COLD).args(["-", "--dir"]).arg(directory));
    assert!(matches!(ran.code, Some(0)), "{}", ran.stderr);
    ran.json()
}

fn measurements(document: &Value) -> Vec<(&str, &Value)> {
    let all = document["measurements"].as_array().unwrap().iter();
    all.map(|m| (m["phase"].as_str().unwrap(), m)).collect()
}

fn available(directory: &Path) -> u64 {
    rustix::fs::syncfs(std::fs::File::open(directory).unwrap()).unwrap();
    Space::of(std::os::fd::AsFd::as_fd(&std::fs::File::open(directory).unwrap()))
        .unwrap()
        .available_bytes
}

/// Runs on a file system of its own and holds against what is true of any of them.
fn on_loop(fs: &str, megabytes: u64, verdict: impl Fn(&str, &Value)) {
    let Some(mounted) = LoopMount::new(fs, megabytes) else { return };
    let bench = Bench::default();
    let before = available(mounted.path());
    let document = cold_run(&bench, mounted.path());
    let after = available(mounted.path());
    assert!(before.abs_diff(after) < 2 << 20, "{fs}: {before} bytes were free, now {after}");
    let left = names_in(mounted.path());
    assert!(left.is_empty() || left == ["lost+found"], "{fs}: {left:?}");
    assert_eq!(document["host"]["filesystem"]["type"], fs);
    for (phase, m) in measurements(&document) {
        assert_eq!((&m["cache"]["asked"], &m["valid"]), (&"cold".into(), &true.into()), "{m}");
        assert!(m["device_read_bytes"].is_u64() && m["device_write_bytes"].is_u64(), "{m}");
        let bytes = m["bytes"].as_u64().unwrap();
        // A host that takes free memory back has given as much as the contents take.
        let takes_back = document["host"]["settings"]["free_page_reporting"] == true;
        let touched = if takes_back && bytes > 0 { bytes.into() } else { Value::Null };
        assert_eq!(m["memory_touched_bytes"], touched, "{fs} {phase}: {m}");
        if matches!(phase, "create" | "rewrite") {
            let written = m["device_write_bytes"].as_u64().unwrap();
            assert!(
                written >= bytes,
                "{fs} {phase}: {bytes} bytes, and the device wrote {written}"
            );
        }
        verdict(phase, m);
    }
}

/// Cold, and that is proved.
fn verified(phase: &str, m: &Value) {
    assert_eq!(m["cache"]["found"], "cold-verified", "{phase}: {m}");
    if phase.starts_with("read") {
        let (bytes, read) =
            (m["bytes"].as_u64().unwrap(), m["device_read_bytes"].as_u64().unwrap());
        assert!(read >= bytes, "{phase}: the device read {read} of {bytes} bytes");
        assert_eq!(m["cache"]["resident_fraction"], 0.0, "{phase}: {m}");
    }
}

/// In one of three runs: whoever looks for signatures on all block devices meanwhile, as other tests do, brings metadata
/// into memory, and boatload then rightly proves nothing.
fn proved_cold(fs: &str, megabytes: u64) {
    let run = || std::panic::catch_unwind(|| on_loop(fs, megabytes, verified));
    let proved = (0..3).any(|_| run().is_ok());
    assert!(proved, "{fs}: no run of three was proved cold in each phase");
}

#[test]
fn on_ext4_every_cold_phase_is_proved_cold() {
    proved_cold("ext4", 64);
}

#[test]
fn on_xfs_every_cold_phase_is_proved_cold() {
    proved_cold("xfs", 320);
}

/// btrfs keeps small files within its metadata, in a cache that no probe sees into: what is cold
/// there may be found unverified, but nothing of it may be called warm, and a claim needs proof.
#[test]
fn on_btrfs_nothing_cold_is_called_warm() {
    on_loop("btrfs", 128, |phase, m| {
        let found = m["cache"]["found"].as_str().unwrap();
        match found {
            "cold-verified" => verified(phase, m),
            "unverified" => assert!(m["cache"]["reason"].is_string(), "{m}"),
            _ => panic!("{phase}: {m}"),
        }
    });
}

#[test]
fn in_memory_nothing_is_cold_and_the_reason_is_given_once() {
    let bench = Bench::default();
    let mounted = match Mounted::tmpfs(&bench.work(), "size=64M") {
        Ok(mounted) => mounted,
        Err(why) => return skip("a run in memory", &why),
    };
    let document = cold_run(&bench, mounted.path());
    for (phase, m) in measurements(&document) {
        assert_eq!(m["cache"]["found"], "warm", "{phase}: {m}");
        assert_eq!(m["cache"]["reason"], "memory-file-system", "{phase}");
        assert_eq!(m["device_read_bytes"], Value::Null);
    }
    let table = bench.run(["show", "last", "--details"]).stdout;
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.matches("lives in memory").count(), 1, "{table}");
}

/// The command as an ordinary user, and a directory of that user's.
fn for_nobody(bench: &Bench) -> Option<(PathBuf, Command)> {
    bench.as_nobody().map_err(|why| skip("a run by an ordinary user", why)).ok()
}

#[test]
fn an_ordinary_user_is_told_once_why_nothing_is_proved_cold() {
    let bench = Bench::default();
    let Some((theirs, mut command)) = for_nobody(&bench) else { return };
    let ran = Ran::of(command.args(&COLD[..7]).arg("--details"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // A column of its own where eighty columns have room for it, and else one line below the table.
    let of_each_phase = if ran.stdout.contains("caches: unverified") { 1 } else { 8 };
    assert_eq!(
        ran.stdout.matches(" unverified").count(),
        of_each_phase + 1,
        "each phase, and why: {}",
        ran.stdout
    );
    assert_eq!(ran.stdout.matches("drop_caches").count(), 1, "the reason once: {}", ran.stdout);
    assert!(ran.stdout.contains("Run as root, or pass --cache warm."), "{}", ran.stdout);
    assert!(!ran.stdout.contains("cold-verified"));
    assert_eq!(names_in(&theirs), ["boatload"], "the store and nothing else");
}

/// Other tests drop the caches of the whole machine now and then: then it must be said, and warm
/// again the next time.
#[test]
fn an_ordinary_user_has_proof_of_warm_caches_too() {
    let bench = Bench::default();
    let Some((_, mut command)) = for_nobody(&bench) else { return };
    command.args(COLD).args(["-", "--cache", "warm"]);
    let all_warm = |_| {
        let ran = Ran::of(&mut command);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let document = ran.json();
        measurements(&document).iter().all(|(phase, m)| {
            let warm = m["cache"]["found"] == "warm";
            assert!(warm || m["cache"]["reason"] == "not-resident", "{phase}: {m}");
            warm
        })
    };
    assert!((0..20).any(all_warm), "not once in twenty runs was all found warm");
}

#[test]
fn an_ordinary_user_cannot_clean_up_what_is_anothers() {
    let bench = Bench::default();
    let Some((theirs, mut command)) = for_nobody(&bench) else { return };
    let running = bench.long_run(&bench.work());
    let run_directory = running.run_directory().to_path_buf();
    running.signal(rustix::process::Signal::KILL);
    running.ended();
    let ran = Ran::of(command.args(["clean", "--yes"]).arg(bench.work()));
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(
        run_directory.join("c0000000001").exists() && ran.stderr.contains("left alone"),
        "{}",
        ran.stderr
    );
    assert_eq!(names_in(&theirs), Vec::<String>::new());
    assert_eq!(bench.run(["clean", "--yes"]).code, Some(0));
}

/// The store of an earlier run that only its owner may write.
#[test]
fn a_store_that_may_only_be_read_is_refused_with_what_to_do() {
    let bench = Bench::default();
    let Some((theirs, mut command)) = for_nobody(&bench) else { return };
    let store = theirs.join("store.db");
    let made = Ran::of(bench.bare().args(SMALL).arg("--store").arg(&store));
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o444)).unwrap();
    let ran = Ran::of(command.args(SMALL).arg("--store").arg(&store));
    assert!(ran.refuses(1).contains("--store FILE"), "{}", ran.stderr);
}

/// Calls by name, as `strace -c` counts them over all threads.
fn counted_calls(bench: &Bench, extra: &[&str]) -> Option<BTreeMap<String, u64>> {
    let flags = ["-y", "-e", "trace=openat,write,read,unlinkat,close"];
    let lines = traced(bench, &flags, &[&SMALL[..], extra].concat())?;
    let mut calls = BTreeMap::new();
    for line in lines {
        // The number of checks of the device's state before a phase is the device's affair.
        let of_kernel =
            ["</sys/", "</proc/", "\"/sys/", "\"/proc/"].iter().any(|p| line.contains(p));
        let call = line.split_whitespace().nth(1).and_then(|word| word.split_once('('));
        if let (Some((call, _)), false) = (call, of_kernel) {
            *calls.entry(call.to_string()).or_default() += 1;
        }
    }
    Some(calls)
}

#[test]
fn strace_counts_the_calls_of_the_operations_and_few_others() {
    for threads in ["1", "3"] {
        let bench = Bench::default();
        let smaller = ["--threads", threads];
        let larger = ["--threads", threads, "--set", "files=1200", "--set", "selected=250"];
        let Some(small) = counted_calls(&bench, &smaller) else { return };
        let Some(large) = counted_calls(&bench, &larger) else { return };
        // A thousand more files and 200 more selected: create, rewrite, two reads, delete; then
        // create, read and delete.
        let more = |call: &str| large[call] - small.get(call).copied().unwrap_or(0);
        for (call, expected) in [
            ("openat", 1000 + 5 * 200),
            ("write", 1000 + 2 * 200),
            ("read", 3 * 200),
            ("unlinkat", 1000 + 200),
            ("close", 1000 + 5 * 200),
        ] {
            let counted = more(call);
            // The look at a sample of the files before each phase opens some of them; the store
            // and the progress write a little.
            let most = expected + expected / 10 + 100;
            assert!(
                (expected..=most).contains(&counted),
                "{call} with {threads} threads: {counted}, not {expected}"
            );
        }
        assert!(large["openat"] >= 1200 + 5 * 250 && large["unlinkat"] >= 1200);
    }
}
