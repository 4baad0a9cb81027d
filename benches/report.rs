//! Measures how long the page for a browser takes to write, and how large it is, for a run with as many
//! measurements as ten scenarios give and a million windows.
//!
//! `cargo bench --bench report [-- FILE.html]` keeps the page in that file

#![allow(missing_docs, clippy::print_stdout, clippy::expect_used)]

use boatload::analysis::Analysis;
use boatload::plan::CacheAsked;
use boatload::plan::EngineName;
use boatload::report::page_text;
use boatload::results::book::{
    Book, CacheReport, CellKey, Latency, Level, Measurement, RunFacts, Window,
};
use boatload::results::histogram::{encoded, new_histogram};
use boatload::results::operation::MeasuredOperation;
use boatload::run::cache::CacheState;
use boatload::run::clock::RealClock;

const VARIANTS: [&str; 4] = ["ext4", "ext3", "xfs", "btrfs"];
const PHASES: [&str; 5] = ["create", "rewrite", "read", "read-random", "delete"];
const LEVELS: u64 = 10;
const REPEATS: u32 = 5;
const WINDOWS: usize = 1_000_000;

const SECONDS_MAX: f64 = 3.0;
const BYTES_MAX: usize = 8_000_000;

fn main() {
    let book = book();
    let windows: usize = book.measurements.iter().map(|m| m.windows.len()).sum();
    println!("{} measurements, {windows} windows", book.measurements.len());
    let clock = RealClock::new();
    let (page, seconds) =
        clock.time(|| page_text(&[&Analysis::of(&book)], &[]).expect("memory can be written"));
    let bytes = page.text.len();
    println!(
        "written in {seconds:.2} s (at most {SECONDS_MAX} s), {bytes} bytes (at most {BYTES_MAX})"
    );
    let place = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    if let Some(path) = place {
        std::fs::write(path, &page.text).expect("the page can be kept there");
    }
    if seconds > SECONDS_MAX || bytes > BYTES_MAX {
        println!("TOO MUCH");
        std::process::exit(1);
    }
}

fn book() -> Book {
    let cells = VARIANTS.len() * PHASES.len() * LEVELS as usize * REPEATS as usize;
    let mut measurements = Vec::with_capacity(cells);
    for repeat in 1..=REPEATS {
        for (variant, name) in VARIANTS.iter().enumerate() {
            for level in 1..=LEVELS {
                for (phase, word) in PHASES.iter().enumerate() {
                    let ns = 20_000 + 7_000 * variant as u64 + 3_000 * phase as u64 + 900 * level;
                    let level = Level {
                        axis: "files".into(),
                        value: (level * 10_000) as f64,
                        ..Level::default()
                    };
                    let cell = CellKey { variant: (*name).into(), level: Some(level), repeat };
                    measurements.push(measurement(cell, word, ns, WINDOWS / cells));
                }
            }
        }
    }
    Book {
        run: RunFacts {
            id: "k3j9x2ab".into(),
            scenario: "everything".into(),
            question: "How long does a large report take?".into(),
            started: "2026-10-05T08:00:00Z".into(),
            complete: true,
            repeats: REPEATS,
            ..RunFacts::default()
        },
        measurements,
        ..Book::default()
    }
}

fn measurement(cell: CellKey, phase: &str, ns: u64, windows: usize) -> Measurement {
    const IN_WINDOW: u64 = 100;
    let mut histogram = new_histogram();
    let mut slices = Vec::with_capacity(windows);
    for at in 0..windows as u64 {
        // Anything but even, and the same each time.
        let odd = (at * 2_654_435_761 + u64::from(cell.repeat) * 97) % 10_007;
        let (mean, p99) = (ns + odd, ns * 4 + odd * 11);
        histogram.record_n(mean, IN_WINDOW).expect("within the bounds");
        slices.push(Window {
            first: at * IN_WINDOW,
            operations: IN_WINDOW,
            mean_ns: mean as f64,
            p50_ns: mean - 500,
            p99_ns: p99,
            max_ns: p99 * 3,
        });
    }
    let operations = windows as u64 * IN_WINDOW;
    let at = |quantile: f64| histogram.value_at_quantile(quantile);
    Measurement {
        cell,
        phase: phase.into(),
        pass: 1,
        operation: MeasuredOperation::find(phase),
        engine: Some(EngineName::Sync),
        threads: Some(1),
        operations,
        operations_asked: Some(operations),
        seconds: Some(operations as f64 * histogram.mean() / 1e9),
        latency: Some(Latency {
            mean: histogram.mean(),
            min: histogram.min(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            max: histogram.max(),
        }),
        cache: CacheReport {
            asked: CacheAsked::Cold,
            found: CacheState::ColdVerified,
            ..CacheReport::default()
        },
        windows: slices,
        histogram: encoded(&histogram),
        ..Measurement::default()
    }
}
