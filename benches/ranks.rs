//! What it costs to bring 10,000 ranks together, and to say which of them is slow: each rank's part of a phase is simulated
//! and encoded as it would be sent, and merged two by two as in the tree, all in this process.
//!
//! `cargo bench --bench ranks`

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench panics when it cannot continue"
)]

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use boatload::analysis::Analysis;
use boatload::plan::{Settings, read_job};
use boatload::results::book::{Book, Measurement};
use boatload::results::histogram::{decoded, encoded};
use boatload::results::merging::{RankReport, RankTimes};
use boatload::results::operation::MeasuredOperation;
use boatload::results::recorder::{PhaseRecorder, merge};
use boatload::run::clock::RealClock;
use boatload::run::drive::DoneCount;
use boatload::run::site::{SimSite, Site};

const RANKS: u32 = 10_000;
const OPERATIONS: u64 = 100;

/// Each rank creates files on a simulated file system of its own; the noise is another at each.
const JOB: &str = "name = \"ranks\"\nquestion = \"?\"\nengine = \"sim\"\n[tree]\nfiles = 100\nsize = 0\n\
                   [sim]\nmetadata = \"100us\"\nnoise = \"skewed\"\n[[phase]]\noperation = \"create\"\n";

/// What a rank sends.
fn sent(rank: u32, clock: &RealClock) -> Vec<u8> {
    let seed = Some(u64::from(rank) + 1);
    let plan = read_job(JOB, &Settings { seed, ..Settings::default() });
    let plan = plan.unwrap_or_else(|problems| panic!("{}", problems.report("the job")));
    let (cell, phase) = (&plan.cells[0], &plan.cells[0].phases[0]);
    let mut site = SimSite::new(clock.clone());
    site.begin_cell(cell).expect("there is memory for a hundred files");
    let done: Vec<DoneCount> = DoneCount::of_workers(1);
    let mut recorders = vec![PhaseRecorder::new(phase.turns(0), None)];
    let run = site.engines().work(phase, &AtomicBool::new(false), &done, &mut recorders);
    let recorded = merge(recorders, None);
    let measurement = Measurement {
        phase: phase.name.clone(),
        operation: Some(MeasuredOperation::Job(phase.operation)),
        operations: run.operations,
        operations_asked: Some(OPERATIONS),
        seconds: Some(run.seconds),
        latency: Some(recorded.latency),
        slices_ns: recorded.slices_ns,
        rate_error: recorded.rate_error,
        histogram: encoded(&recorded.histogram),
        ..Measurement::default()
    };
    let span = run.span.expect("it has worked");
    let operations = run.operations;
    let times = RankTimes { rank, span: Some(span), operations, failed: 0 };
    RankReport::new(measurement, times).encoded().expect("a report can be written")
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
    // Parts of 1, 2, 4 ... ranks that wait for one as large: the parts of a tree, from left to right.
    let mut parts: Vec<(u32, Vec<u8>)> = Vec::new();
    let (clock, mut bytes) = (RealClock::new(), 0);
    for rank in 0..RANKS {
        let mut part = sent(rank, &clock);
        let mut size = 1;
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
    let asked = OPERATIONS * u64::from(RANKS);
    let kept = decoded(&measurement.histogram).expect("it is one").len();
    assert_eq!((measurement.operations, kept), (asked, asked), "nothing is lost");
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
