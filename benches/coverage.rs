//! How often intervals at 95% hold the truth: each method, for each noise and number of repeats. And
//! how often changes, trends and modes are found where there are none.
//! METHODOLOGY.md has the table.
//!
//! `cargo bench --bench coverage`

#![allow(missing_docs, clippy::print_stdout)]

#[allow(dead_code, reason = "shared with a test")]
#[path = "../tests/statistics/noise.rs"]
mod noise;
#[path = "../tests/statistics/pilot.rs"]
mod pilot;

use boatload::measure::history::steps;
use boatload::measure::statistics::autocorrelation::{batch_means, slices};
use boatload::measure::statistics::bootstrap::Resampling;
use boatload::measure::statistics::change_points::{CHANCE_MAX, change_points};
use boatload::measure::statistics::describe::{
    Estimate, QuantileError, mean, mean_estimate, median,
};
use boatload::measure::statistics::modes::modes;
use boatload::measure::statistics::order::quantile_interval;
use boatload::measure::statistics::student::student_t;
use boatload::measure::statistics::trend::trend;
use boatload::measure::statistics::{Interval, mean_interval, ratio_interval, series_interval};

use pilot::{Outcome, Truth};

use noise::{Noise, Source, WINDOWS, coverage, share};

const LEVEL: f64 = 0.95;
const DRAWS: u64 = 2_000;

/// Repeats of windows are many values; fewer draws do.
const DRAWS_HIERARCHICAL: u64 = 300;

const REPEATS: [usize; 4] = [3, 5, 10, 30];

fn resampling(resamples: u32) -> Resampling {
    Resampling { level: LEVEL, resamples, seed: 1 }
}

fn student(of: Estimate, degrees: f64) -> Option<Interval> {
    let half = student_t(1.0 - LEVEL, degrees)? * of.error;
    Interval::new(of.value - half, of.value + half)
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

/// Student's t on the values.
fn plain(values: &[f64]) -> Option<Interval> {
    student(mean_estimate(values), values.len() as f64 - 1.0)
}

/// Student's t on logarithms, which is for the geometric mean.
fn geometric(values: &[f64]) -> Option<Interval> {
    student(mean_estimate(&logs(values)), values.len() as f64 - 1.0)?.map(f64::exp)
}

/// Student's t on the difference of logarithms.
fn geometric_ratio(a: &[f64], b: &[f64]) -> Option<Interval> {
    let degrees = (a.len() + b.len() - 2) as f64;
    let (a, b) = (mean_estimate(&logs(a)), mean_estimate(&logs(b)));
    let apart = Estimate { value: a.value - b.value, error: a.error.hypot(b.error) };
    student(apart, degrees)?.map(f64::exp)
}

type OfOne = fn(&[f64]) -> Option<Interval>;
type OfTwo = fn(&[f64], &[f64]) -> Option<Interval>;

const MEAN: [(&str, OfOne); 5] = [
    ("Student's t", plain),
    ("t on logarithms", geometric),
    ("BCa", |values| resampling(999).bca(values, mean)),
    ("percentile-t", |values| resampling(999).percentile_t(values, mean_estimate)),
    ("`mean_interval`", |values| mean_interval(values, LEVEL)),
];

const MEDIAN: [(&str, OfOne); 3] = [
    ("BCa", |values| resampling(999).bca(values, median)),
    ("percentile-t", |values| {
        let error = QuantileError::new(values.len(), 0.5);
        resampling(999).percentile_t(values, |values| error.estimate(values))
    }),
    ("`quantile_interval`", |values| quantile_interval(values, 0.5, LEVEL)),
];

const RATIO: [(&str, OfTwo); 3] = [
    ("t on logarithms", geometric_ratio),
    ("percentile-t", |a, b| resampling(999).ratio(a, b)),
    ("`ratio_interval`", |a, b| ratio_interval(a, b, LEVEL)),
];

const SERIES: [(&str, OfOne); 3] = [
    ("Student's t", plain),
    ("20 batch means", |values| student(batch_means(values, 20)?, 19.0)),
    ("`series_interval`", |values| series_interval(values, LEVEL)),
];

fn main() {
    precision();
    for noise in Noise::ALL {
        println!("\n{noise:?}\n\n| of | method | n = 3 | 5 | 10 | 30 |\n|---|---|---|---|---|---|");
        let [of_mean, of_median] = noise.truth();
        for (name, of) in MEAN {
            row("mean", name, |n| coverage(DRAWS, of_mean, |source| of(&noise.sample(n, source))));
        }
        for (name, of) in MEDIAN {
            let share = |n| coverage(DRAWS, of_median, |source| of(&noise.sample(n, source)));
            row("median", name, share);
        }
        for (name, of) in RATIO {
            let of =
                |n, source: &mut Source| of(&noise.sample(n, source), &noise.sample(n, source));
            row("ratio", name, |n| coverage(DRAWS, 1.0, |source| of(n, source)));
        }
        if matches!(noise, Noise::Dependent | Noise::Drifting) {
            windows(noise);
        }
    }
    false_alarms();
    histories();
}

/// How often a step of a history is found at its place, or another, or one where none is. Figures of
/// runs are 2% wide.
fn histories() {
    println!("\n| runs | step | at its place | elsewhere |\n|---|---|---|---|");
    for n in [6, 10, 15, 30, 60] {
        let steps_at = [(n, 0.0), (n - 3, 0.10), (n - 3, 0.05), (n * 2 / 3, 0.10)];
        for (at, size) in steps_at {
            let history = |source: &mut Source| -> Vec<usize> {
                let step = |i: usize| if i < at { 0.0 } else { size };
                let logs = (0..n).map(|i| 0.02 * source.normal() - step(i));
                steps(&logs.collect::<Vec<f64>>()).iter().map(|step| step.at).collect()
            };
            let found = share(DRAWS, |source| history(source).contains(&at));
            let other = share(DRAWS, |source| history(source).iter().any(|found| *found != at));
            println!("| {n} | {size:.2} from {at} on | {found:.3} | {other:.3} |");
        }
    }
}

/// How often something is found where nothing is.
fn false_alarms() {
    println!("\n| nothing there, but found | share of 500 series |\n|---|---|");
    let changes = |values: &[f64]| !change_points(values, CHANCE_MAX).is_empty();
    for n in [20, 100, 300] {
        let share = share(500, |source| changes(&source.white(n)));
        println!("| a change among {n} independent values | {share:.3} |");
    }
    for size in [1, 5, 10] {
        let share = share(500, |source| changes(&slices(&source.windows(WINDOWS), size)));
        println!("| a change among {WINDOWS} dependent windows, {size} in a slice | {share:.3} |");
    }
    let rises = |values: &[f64]| trend(values).is_some_and(|found| found.p_value < 0.05);
    for n in [20, 60, WINDOWS] {
        let (white, dependent) = (
            share(500, |source| rises(&source.white(n))),
            share(500, |source| rises(&source.windows(n))),
        );
        println!("| a trend at 5% among {n} independent values | {white:.3} |");
        println!("| a trend at 5% among {n} dependent windows | {dependent:.3} |");
    }
    let two = |values: &[f64]| modes(values, 1).is_some_and(|found| found.two());
    let white = share(500, |source| two(&source.white(WINDOWS)));
    println!("| two modes among {WINDOWS} independent values | {white:.3} |");
}

/// Intervals of repeats from their windows, and of one repeat.
fn windows(noise: Noise) {
    row("mean", "hierarchical", |n| {
        coverage(DRAWS_HIERARCHICAL, 1.0, |source| {
            let repeats: Vec<Vec<f64>> = (0..n).map(|_| noise.series(source)).collect();
            resampling(199).hierarchical(&repeats.iter().map(Vec::as_slice).collect::<Vec<_>>())
        })
    });
    println!("\n| of one repeat of {WINDOWS} windows | held |\n|---|---|");
    for (name, of) in SERIES {
        let share = coverage(DRAWS, 1.0, |source| of(&noise.series(source)));
        println!("| {name} | {share:.3} |");
    }
}

fn row(of: &str, name: &str, share: impl Fn(usize) -> f64) {
    let shares = REPEATS.map(|n| format!("{:.3}", share(n)));
    println!("| {of} | {name} | {} |", shares.join(" | "));
}

/// What runs that are asked for 3% reach, and what it takes.
fn precision() {
    println!("\n| repeats, passes, variants | reached | held | repeats | passes | looks | time |");
    println!("|---|---|---|---|---|---|---|");
    for (repeats, passes, variants, limit) in [
        (0.02, 0.0, 1, f64::INFINITY),
        (0.05, 0.0, 1, f64::INFINITY),
        (0.05, 0.02, 3, f64::INFINITY),
        (0.01, 0.05, 1, f64::INFINITY),
        (0.01, 0.05, 3, f64::INFINITY),
        (0.05, 0.0, 1, 60.0),
    ] {
        let truth = Truth { repeats, passes, variants, repeat_seconds: 8.0, pass_seconds: 2.0 };
        let all: Vec<Outcome> =
            (0..DRAWS).map(|seed| truth.run(0.03, limit, &mut Source::new(seed))).collect();
        let mean = |of: fn(&Outcome) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        println!(
            "| {:.0}%, {:.0}%, {variants}{} | {:.3} | {:.3} | {:.1} | {:.1} | {:.1} | {:.0} s |",
            repeats * 100.0,
            passes * 100.0,
            if limit.is_finite() { format!(", {limit} s") } else { String::new() },
            mean(|run| f64::from(u8::from(run.reached))),
            mean(|run| f64::from(u8::from(run.held))),
            mean(|run| f64::from(run.repeats)),
            mean(|run| f64::from(run.passes)),
            mean(|run| f64::from(run.looks)),
            mean(|run| run.seconds)
        );
    }
}
