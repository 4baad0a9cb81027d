//! How often the 95% interval of a mean holds the truth, for each noise and number of repeats, and how
//! often change points, trends and modes are found where there are none.
//! METHODOLOGY.md has the table.
//!
//! `cargo bench --bench coverage`; with `-- answers` only the runs that are repeated until their answer is precise

#![allow(missing_docs, clippy::print_stdout)]

#[path = "../tests/statistics/answered.rs"]
mod answered;
#[allow(dead_code, reason = "shared with a test")]
#[path = "../tests/statistics/noise.rs"]
mod noise;
#[path = "../tests/statistics/pilot.rs"]
mod pilot;

use boatload::analysis::change::change_points;
use boatload::analysis::history::steps;
use boatload::analysis::statistics::{mean_interval, modes, slices, trend};
use boatload::analysis::thresholds::CHANGE_POINT_ALPHA;

use answered::{AnsweredOutcome, AnsweredTruth};
use boatload::plan::Conclusion;
use pilot::{Outcome, Truth};

use noise::{Noise, Source, WINDOWS, coverage, share};

const LEVEL: f64 = 0.95;
const DRAWS: u64 = 2_000;
/// Runs whose answers are repeated until they are precise.
const ANSWER_DRAWS: u64 = 1_000;

const REPEATS: [usize; 4] = [3, 5, 10, 30];

fn main() {
    if std::env::args().any(|argument| argument == "answers") {
        return answers();
    }
    precision();
    answers();
    println!("\n| mean of | n = 3 | 5 | 10 | 30 |\n|---|---|---|---|---|");
    for noise in Noise::ALL {
        let held = |n| {
            let of = |source: &mut Source| mean_interval(&noise.sample(n, source), LEVEL);
            format!("{:.3}", coverage(DRAWS, noise.mean(), of))
        };
        println!("| {noise:?} | {} |", REPEATS.map(held).join(" | "));
    }
    false_alarms();
    histories();
}

/// What runs reach whose answer is to be within 5%, and what it takes.
fn answers() {
    println!("\n| answer, variants, levels; repeats, passes | reached | held | repeats | looks |");
    println!("|---|---|---|---|---|");
    for (kind, variants, levels, repeats, passes) in [
        (Conclusion::Ranking, 2, 0, 0.02, 0.0),
        (Conclusion::Ranking, 2, 0, 0.05, 0.0),
        (Conclusion::Ranking, 2, 0, 0.10, 0.0),
        (Conclusion::Ranking, 4, 0, 0.05, 0.0),
        (Conclusion::Ranking, 4, 0, 0.05, 0.10),
        (Conclusion::Crossover, 2, 4, 0.05, 0.0),
        (Conclusion::Slope, 1, 4, 0.05, 0.0),
        (Conclusion::Slope, 2, 4, 0.05, 0.0),
        (Conclusion::Scaling, 1, 4, 0.05, 0.0),
        (Conclusion::Knee, 1, 6, 0.05, 0.0),
    ] {
        let times = 1.1;
        let truth = AnsweredTruth { kind, variants, times, levels, repeats, passes };
        let run = |seed| truth.run(0.05, &mut Source::new(seed));
        let all: Vec<AnsweredOutcome> = (0..ANSWER_DRAWS).map(run).collect();
        let mean =
            |of: fn(&AnsweredOutcome) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        println!(
            "| {}, {variants}, {levels}; {:.0}%, {:.0}% | {:.3} | {:.3} | {:.1} | {:.1} |",
            conclusion_word(kind),
            repeats * 100.0,
            passes * 100.0,
            mean(|run| f64::from(u8::from(run.reached))),
            mean(|run| f64::from(u8::from(run.held))),
            mean(|run| f64::from(run.repeats)),
            mean(|run| f64::from(run.looks)),
        );
    }
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
                steps(&logs.collect::<Vec<f64>>()).iter().map(|step| step.index).collect()
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
    let changes = |values: &[f64]| !change_points(values, CHANGE_POINT_ALPHA).is_empty();
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

fn conclusion_word(kind: Conclusion) -> String {
    format!("{kind:?}").to_lowercase()
}
