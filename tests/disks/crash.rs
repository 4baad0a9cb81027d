//! Power cuts on modelled disks: that file systems keep what they promised, that a disk which ignores flushes
//! is found, and that nothing is left. Needs root and FUSE.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::command::{Bench, Ran, Running};
use crate::filesystems_real::{assert_no_device, assert_no_trace};
use crate::modelled_disk::modelled_bench;

/// All that can be done to a file.
const JOB: &str = "name = \"changes\"\n[tree]\nfiles = 300\nsize = { uniform = { min = 1, max = 20_000 } }\n\
    [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"overwrite\"\norder = \"random\"\n\
    [[phase]]\noperation = \"append\"\n[[phase]]\noperation = \"rewrite\"\ncount = 100\norder = \"random\"\n\
    [[phase]]\noperation = \"rename\"\n[[phase]]\noperation = \"delete\"\ncount = 200\norder = \"random\"\n\
    [[phase]]\nname = \"create-again\"\noperation = \"create\"\n";

/// A disk that says it has flushed and has not.
const LIAR: &str =
    "name = \"liar\"\nabout = \"ignores flushes\"\nhonours_flush = false\n[memory]\n";

fn crash(bench: &Bench, more: &[&str]) -> Ran {
    let job = bench.write("changes.toml", JOB);
    let fixed = ["crash", job.to_str().unwrap(), "--quiet", "--json", "-", "--filesystem"];
    bench.run(fixed.iter().chain(more))
}

fn sum(document: &Value, key: &str) -> u64 {
    document["rows"].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
}

#[test]
fn ext4_keeps_all_that_it_promised_through_power_cuts_and_nothing_is_left() {
    let Some(bench) = modelled_bench("power cuts on ext4") else { return };
    let ran = crash(&bench, &["ext4", "--cuts", "12", "--threads", "2"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = ran.json();
    assert_eq!(
        (&document["format"], &document["complete"]),
        (&"boatload-crash".into(), &true.into())
    );
    assert_eq!((sum(&document, "cuts"), sum(&document, "checked")), (12, 12), "{document}");
    assert!(sum(&document, "promised") > 500, "{document}");
    assert!(sum(&document, "blocks_lost") > 0, "no cut lost anything: {document}");
    let sentence = document["sentences"][0].as_str().unwrap();
    assert!(sentence.contains("kept all") && sentence.contains("in 12 power cuts"), "{sentence}");
    assert_no_trace(&bench);
}

#[test]
fn a_disk_that_ignores_flushes_is_found() {
    let Some(bench) = modelled_bench("power cuts on a disk that ignores flushes") else { return };
    let liar = bench.write("liar.toml", LIAR);
    let ran = crash(&bench, &["ext4", "--cuts", "6", "--disk", liar.to_str().unwrap()]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let document = ran.json();
    let rows = document["rows"].as_array().unwrap();
    let is_found = |row: &&Value| {
        let count = |key: &str| row[key].as_u64().unwrap();
        count("kept") < count("promised") || count("not_mounted") + count("damaged") > 0
    };
    assert!(rows.iter().filter(is_found).count() >= 3, "{document}");
    assert!(!document["broken"].as_array().unwrap().is_empty(), "{document}");
    assert_no_trace(&bench);
}

#[test]
fn an_interrupted_series_reports_the_cuts_before_and_leaves_nothing() {
    let Some(bench) = modelled_bench("an interrupted series of power cuts") else { return };
    let command = bench.command(["crash", "--filesystem", "ext4", "--cuts", "1000", "--json", "-"]);
    let running = Running::start_on_made(command, &bench.work());
    running.signal(Signal::INT);
    let ran = running.ended();
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert_eq!(ran.json()["complete"], false, "{}", ran.stdout);
    assert_no_trace(&bench);
}

#[test]
fn after_kill_9_of_a_series_only_a_marked_directory_is_left() {
    let Some(bench) = modelled_bench("kill -9 of a series of power cuts") else { return };
    for milliseconds in [700, 1_200, 1_900] {
        let mut command = bench.command(["crash", "--filesystem", "ext4", "--cuts", "1000"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_no_device(&bench);
        assert_eq!(bench.run(["clean", "--yes"]).code, Some(0));
        assert_no_trace(&bench);
    }
}
