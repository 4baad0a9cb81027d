//! What it costs to bring 10,000 ranks together, and to say which of them is slow: each rank's part of a phase is simulated
//! and encoded as it would be sent, and merged two by two as in the tree, all in this process.
//!
//! `cargo bench --bench ranks`

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench that cannot go on says so"
)]

use std::time::Instant;

use boatload::analysis::Analysis;
use boatload::results::book::{Book, Measurement};
use boatload::results::histogram::encoded;
use boatload::results::merging::{RankReport, RankTimes};
use boatload::results::recorder::{PhaseRecorder, merge};
use boatload::run::drive::Recorder;

const RANKS: u32 = 10_000;
const OPERATIONS: u64 = 100;

/// What a rank sends: latencies around 100 us, and every fifth rank a few of milliseconds.
fn sent(rank: u32, recorder: PhaseRecorder) -> (Vec<u8>, u64) {
    let mut recorder = recorder;
    let mut sum = 0;
    for turn in 0..OPERATIONS {
        let stall = if rank.is_multiple_of(5) && turn % 25 == 0 { 5_000_000 } else { 0 };
        let ns = 90_000 + (u64::from(rank) * 7_919 + turn * 104_729) % 20_000 + stall;
        recorder.record(turn, ns);
        sum += ns;
    }
    let recorded = merge(vec![recorder], None);
    let measurement = Measurement {
        phase: "create".into(),
        operation: "create".into(),
        operations: OPERATIONS,
        operations_asked: OPERATIONS,
        latency: recorded.latency,
        slices_ns: recorded.slices_ns,
        rate_error: recorded.rate_error,
        histogram: encoded(&recorded.histogram),
        ..Measurement::default()
    };
    let ended_ns = i64::try_from(sum).unwrap_or(i64::MAX);
    let times = RankTimes { rank, started_ns: 0, ended_ns, operations: OPERATIONS, failed: 0 };
    let report = RankReport::new(measurement, times);
    (report.encoded().expect("a report can be written"), OPERATIONS)
}

/// Two parts as the rank above them makes one.
fn merged(one: &[u8], other: &[u8]) -> Vec<u8> {
    let read = |bytes| RankReport::decoded(bytes).expect("a report can be read");
    let both = read(one).merged(read(other)).expect("histograms have the same bounds");
    both.encoded().expect("a report can be written")
}

/// The most memory that this process ever had, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}

fn main() {
    let begun = Instant::now();
    // Parts of 1, 2, 4 ... ranks that wait for one as large: those of a tree, from left to right.
    let mut parts: Vec<(u32, Vec<u8>)> = Vec::new();
    let (mut asked, mut bytes) = (0, 0);
    for rank in 0..RANKS {
        let (mut part, operations) = sent(rank, PhaseRecorder::new(Some(OPERATIONS), None));
        let mut size = 1;
        asked += operations;
        bytes += part.len() as u64;
        while let Some((_, before)) = parts.pop_if(|(of, _)| *of == size) {
            part = merged(&before, &part);
            size *= 2;
        }
        parts.push((size, part));
    }
    let all = parts.into_iter().map(|(_, part)| part).reduce(|one, other| merged(&one, &other));
    let all = RankReport::decoded(&all.expect("there are ranks")).expect("a report can be read");
    let merged_seconds = begun.elapsed().as_secs_f64();
    let measurement = all.measurement(|_, ns| ns, 1e-6);
    assert_eq!(measurement.operations, asked, "nothing is lost");
    let mut book = Book { measurements: vec![measurement.clone(); 3], ..Book::default() };
    book.run.hosts = (0..RANKS).map(|rank| format!("node{}", rank / 64)).collect();
    let document = serde_json::to_vec(&book.measurements[0]).expect("it can be written").len();
    let found = Analysis::of(&book).findings().len();
    println!(
        "{RANKS} ranks: merged in {merged_seconds:.2} s, {:.2} s with its analysis ({found} findings)",
        begun.elapsed().as_secs_f64()
    );
    println!(
        "peak memory {} MiB; a rank sends {} bytes; the measurement has {document}",
        peak_mib(),
        bytes / u64::from(RANKS)
    );
    assert!(merged_seconds < 10.0 && peak_mib() < 1024, "the bounds that docs/MPI.md states");
}
