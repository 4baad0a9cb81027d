//! The same work by fio, whose own median latencies are compared, for it spends most of its time on choosing files; and by
//! fs_mark, whose rate is.

use std::path::Path;
use std::process::{Command, Output};

use boatload::run::clock::RealClock;
use serde_json::Value;

use crate::loops::{FILE_BYTES, FILES, our_phases};
use crate::{in_turns, is_there, print_ratios};

const WANTED: f64 = 1.05;

/// Creates empty files, asks for their attributes, deletes them.
pub fn fio(place: &Path, rounds: usize, clock: &RealClock) {
    if !is_there("fio", "fio") {
        return;
    }
    let ours = |at: &Path| {
        let phases = our_phases(at, 1, 0, clock);
        [0, 2, 3].map(|at: usize| phases[at].median_ns).to_vec()
    };
    let engines = ["filecreate", "filestat", "filedelete"];
    let theirs = |at: &Path| engines.map(|engine| fio_median_ns(at, engine)).to_vec();
    let ratios = in_turns(place, rounds, ours, theirs);
    for ((engine, operation), ratios) in
        engines.iter().zip(["create", "stat", "delete"]).zip(ratios)
    {
        let what = format!("{operation}, tmpfs, median latency");
        print_ratios(&format!("fio, {engine}"), &what, ratios, WANTED);
    }
}

fn fio_median_ns(directory: &Path, engine: &str) -> f64 {
    let mut command = Command::new("fio");
    command
        .args(["--name=x", "--thread", "--output-format=json", "--fallocate=none", "--openfiles=1"])
        .args(["--filesize=4k", "--create_on_open=1", "--file_service_type=sequential"])
        .args([format!("--ioengine={engine}"), format!("--nrfiles={FILES}")])
        .arg(format!("--directory={}", directory.display()));
    let output = succeeded(command.current_dir(directory).output().unwrap());
    // It may say something before the document.
    let document = &output[output.find('{').expect("a document")..];
    let document: Value = serde_json::from_str(document).unwrap();
    let job = &document["jobs"][0];
    assert_eq!(job["read"]["total_ios"], FILES, "{engine}");
    job["read"]["clat_ns"]["percentile"]["50.000000"].as_f64().unwrap()
}

/// Creates files of the same size.
pub fn fs_mark(place: &Path, rounds: usize, clock: &RealClock) {
    if !is_there("fs_mark", "fsmark") {
        return;
    }
    let ours = |at: &Path| vec![our_phases(at, 1, FILE_BYTES, clock)[0].seconds];
    let ratios = in_turns(place, rounds, ours, |at| vec![fs_mark_seconds(at)]);
    for ratios in ratios {
        print_ratios("fs_mark", "create, tmpfs", ratios, WANTED);
    }
}

fn fs_mark_seconds(directory: &Path) -> f64 {
    let size = FILE_BYTES.to_string();
    let output = Command::new("fs_mark")
        .args(["-S", "0", "-L", "1", "-t", "1", "-l", "/dev/null", "-s", &size, "-w", &size])
        .args(["-n", &FILES.to_string(), "-d"])
        .arg(directory)
        .output();
    let output = succeeded(output.unwrap());
    // FSUse%, Count, Size, Files/sec, App Overhead.
    let last = output.lines().last().expect("a line of figures");
    let rate = last.split_whitespace().nth(3).and_then(|rate| rate.parse::<f64>().ok());
    FILES as f64 / rate.unwrap_or_else(|| panic!("no rate in {last:?}"))
}

fn succeeded(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
