//! Measures how often change points and steps are found where there are none, and where they are.
//! METHODOLOGY.md has the table.
//!
//! `cargo bench --bench coverage`

#![allow(missing_docs, clippy::print_stdout)]

#[allow(dead_code, reason = "shared with a test")]
#[path = "../tests/statistics/noise.rs"]
mod noise;

use boatload::analysis::change::change_points;
use boatload::analysis::history::steps;
use boatload::analysis::statistics::slices;

use noise::{Source, WINDOWS, share};

const DRAWS: u64 = 2_000;

fn main() {
    false_alarms();
    histories();
}

/// Share of histories whose step is found at its place, or another, or found where there is none. Figures of
/// runs are 2% wide.
fn histories() {
    println!("\n| runs | step | at its place | elsewhere |\n|---|---|---|---|");
    for n in [6, 10, 15, 30, 60] {
        let steps_at = [(n, 0.0), (n - 3, 0.10), (n - 3, 0.05), (n * 2 / 3, 0.10)];
        for (at, size) in steps_at {
            let history = |source: &mut Source| -> Vec<usize> {
                let step = |i: usize| if i < at { 0.0 } else { size };
                let logs = (0..n).map(|i| 0.02 * source.normal() - step(i));
                steps(&logs.collect::<Vec<f64>>()).iter().map(|step| step.index).collect()
            };
            let found = share(DRAWS, |source| history(source).contains(&at));
            let other = share(DRAWS, |source| history(source).iter().any(|found| *found != at));
            println!("| {n} | {size:.2} from {at} on | {found:.3} | {other:.3} |");
        }
    }
}

/// Share of quiet histories in which a step is found.
fn false_alarms() {
    println!("\n| nothing there, but found | share of 500 series |\n|---|---|");
    let changes = |values: &[f64]| !change_points(values, 0.001).is_empty();
    for n in [20, 100, 300] {
        let share = share(500, |source| changes(&source.white(n)));
        println!("| a change among {n} independent values | {share:.3} |");
    }
    for size in [1, 5, 10] {
        let share = share(500, |source| changes(&slices(&source.windows(WINDOWS), size)));
        println!("| a change among {WINDOWS} dependent windows, {size} in a slice | {share:.3} |");
    }
}
