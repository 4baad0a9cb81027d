//! What a sentence of growth says is what the table below it shows, whatever the windows are.

use super::*;
use crate::analysis::Analysis;
use crate::analysis::course::{CourseTable, course_tables};
use crate::analysis::findings::curve::Law;
use crate::analysis::findings::growth::{GrowthFigures, GrowthFinding, GrowthShape};
use crate::analysis::thresholds::SLOWER_MARGIN;

/// Tables, and threads that draw them.
const TABLES: u64 = 10_000;
const THREADS: u64 = 4;

/// A phase of 1 to 5 repeats of 8 to 40 windows: even, drifting, in steps, by a logarithm, with a
/// start-up and stalls or without, repeats alike or not.
fn drawn(seed: u64) -> Book {
    let mut noise = Noise::new(seed);
    let windows = [8, 8, 10, 13, 16, 20, 24, 40][(noise.uniform() * 8.0) as usize];
    let repeats = 1 + (noise.uniform() * 5.0) as u32;
    let kind = (noise.uniform() * 5.0) as u32;
    let size = (1.5 * noise.normal()).exp();
    let (at, falls) = (noise.uniform(), noise.uniform() < 0.3);
    let spread = [0.0, 0.003, 0.03, 0.2, 0.6][(noise.uniform() * 5.0) as usize];
    let apart = [0.0, 0.1, 0.5][(noise.uniform() * 3.0) as usize];
    let stalls = [0.0, 0.02, 0.1][(noise.uniform() * 3.0) as usize];
    let start_up = if noise.uniform() < 0.3 { 1.0 + 4.0 * noise.uniform() } else { 1.0 };
    let mut measurements = Vec::new();
    for repeat in 1..=repeats {
        let mut m = measured("a", None, repeat, 1.0);
        let own_size = size * (apart * noise.normal()).exp();
        let window = |n: u64| {
            let share = (n as f64 + 0.5) / windows as f64;
            let law = match kind {
                0 => 1.0,
                1 => 1.0 + own_size * share,
                2 if share > at => 1.0 + own_size,
                2 => 1.0,
                3 => 1.0 + own_size * (1.0 + 1_000.0 * share).ln(),
                _ => 1.0 + own_size * (20.0 * at * share).sin().abs(),
            };
            let law = if falls { 1.0 / law } else { law };
            let first = if n < 2 { start_up } else { 1.0 };
            // A heavy tail: few windows take up to a hundred times as long.
            let stall =
                if noise.uniform() < stalls { noise.uniform().powi(-2).min(100.0) } else { 1.0 };
            let mean_ns = 20_000.0 * law * first * stall * (spread * noise.normal()).exp();
            Window { first: n * 500, operations: 500, mean_ns, p50_ns: 9_000, ..Window::default() }
        };
        m.windows = (0..windows).map(window).collect();
        m.operations = windows * 500;
        measurements.push(m);
    }
    book(measurements)
}

/// What of a sentence its table contradicts.
fn contradicted(
    found: &GrowthFinding,
    figures: &GrowthFigures,
    table: &CourseTable<'_>,
) -> Vec<&'static str> {
    let sentence = found.sentence();
    let (start_ups, rows): (Vec<_>, Vec<_>) = table.rows.iter().partition(|row| row.start_up);
    let means: Vec<f64> = rows.iter().map(|row| row.mean_ns[0]).collect();
    let [first, .., last] = means[..] else { return vec!["a table of one row"] };
    let fitted: Vec<f64> = figures.blocks.iter().filter_map(|block| block.fitted_ns).collect();
    let seen: Vec<f64> = figures.blocks.iter().map(|block| block.seen_ns).collect();
    let start_up = start_ups.first().map(|row| row.mean_ns[0]);
    let cannot_tell = sentence.contains("cannot tell whether");
    let says = |words: &str| sentence.contains(words) && !cannot_tell;
    let same = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
    let interval = figures.interval;
    let checks = [
        ("first and last", (figures.first_ns, figures.last_ns) == (first, last)),
        ("the ratio", same(figures.ratio, last / first)),
        (
            "the ratio in the sentence",
            [say::times, say::near]
                .iter()
                .any(|ratio| sentence.contains(&format!("take {} times ", ratio(last / first)))),
        ),
        ("the interval", interval.contains(figures.ratio)),
        ("what is drawn", seen == means),
        ("the start-up", figures.start_up.map(|one| one.mean_ns) == start_up),
        ("not slower", !says("does not get slower") || interval.high < 1.0 + SLOWER_MARGIN),
        ("slower", !says("gets slower") || last > first && interval.low > 1.0),
        ("faster", !says("gets faster") || last < first && interval.high < 1.0),
        ("unknown", !cannot_tell || interval.contains(1.0) && interval.high >= 1.0 + SLOWER_MARGIN),
        ("one repeat", sentence.contains("in this run") == (found.repeats == 1)),
        (
            "the curve",
            match (fitted.first(), fitted.last()) {
                (Some(first), Some(last)) => interval.contains(last / first),
                _ => matches!(found.shape, GrowthShape::NoLaw | GrowthShape::Unclear),
            },
        ),
    ];
    checks.into_iter().filter(|(_, holds)| !holds).map(|(what, _)| what).collect()
}

#[test]
fn no_sentence_is_contradicted_by_its_table() {
    let all = |thread: u64| {
        let mut kinds = std::collections::BTreeMap::new();
        for seed in (thread..TABLES).step_by(THREADS as usize) {
            let book = drawn(seed);
            let Finding::Growth(found) = only(&book, Conclusion::Growth, &["a"]) else {
                panic!("of seed {seed} something else was found");
            };
            let tables = course_tables(&Analysis::of(&book));
            let figures = found.figures.as_ref().unwrap();
            let wrong = contradicted(&found, figures, &tables[0]);
            assert_eq!(wrong, [""; 0], "seed {seed}: {found:?}\n{}\n{tables:?}", found.sentence());
            let is_constant = found.shape == GrowthShape::Law && figures.law == Law::Constant;
            let kind = format!("{:?}{}", found.shape, if is_constant { " constant" } else { "" });
            *kinds.entry(kind).or_insert(0) += 1;
            *kinds.entry("StartUp".into()).or_insert(0) += u32::from(figures.start_up.is_some());
        }
        kinds
    };
    let threads = std::thread::scope(|scope| {
        let started: Vec<_> = (0..THREADS).map(|at| scope.spawn(move || all(at))).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    for kind in ["Law", "Law constant", "Threshold", "NoLaw", "Unclear", "StartUp"] {
        let number: u32 = threads.iter().filter_map(|kinds| kinds.get(kind)).sum();
        assert!(number > 100, "{kind}: {threads:?}");
    }
}
