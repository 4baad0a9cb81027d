//! What a sentence of growth says is what the table below it shows, whatever the windows are.

use super::*;
use crate::analysis::Analysis;
use crate::analysis::course::{CourseTable, course_tables};
use crate::analysis::findings::growth::GrowthCourse;
use crate::analysis::findings::law::Law;
use crate::base::units::grouped;

const TABLES: u64 = 2_000;

/// A phase of 1 to 5 repeats of 10 to 40 windows: even, drifting, in steps, by a logarithm, with a
/// start-up and stalls or without, repeats alike or not.
fn drawn(seed: u64) -> Book {
    let mut noise = Noise::new(seed);
    let windows = [10, 20, 40][(noise.uniform() * 3.0) as usize];
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
    found: &EffectFinding,
    course: &GrowthCourse,
    table: &CourseTable<'_>,
) -> Vec<&'static str> {
    let sentence = found.sentence();
    let means: Vec<f64> = table.rows.iter().map(|row| row.mean_ns[0]).collect();
    let [first, second, .., last] = means[..] else { return vec!["a table of few rows"] };
    let same = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
    let stated = found.stated();
    let fitted: Vec<f64> = course.blocks.iter().filter_map(|block| block.fitted_ns).collect();
    let is_start_up: Vec<bool> = table.rows.iter().map(|row| row.start_up).collect();
    let takes = |words: &str| sentence.contains(words);
    let checks = [
        ("the start-up", is_start_up == [vec![true], vec![false; means.len() - 1]].concat()),
        ("the time of the start-up", same(course.first_ns, first)),
        ("the second tenth", same(course.second_ns, second)),
        ("the last tenth", same(course.last_ns, last)),
        ("the number of operations", takes(&grouped(course.operations_of_tenth))),
        ("the interval", stated.interval.is_none_or(|one| one.contains(found.ratio))),
        ("the ratio of one repeat", found.repeats > 1 || same(found.ratio, last / second)),
        ("open", (stated.decision == Decision::Open) == (takes(" may take ") || takes(" took "))),
        ("within", (stated.decision == Decision::Within) == takes("within 10%")),
        ("a slow start-up", (first >= 1.1 * second) == takes("its start-up")),
        ("longer", stated.decision != Decision::Longer || stated.interval.unwrap().low > 1.0),
        ("shorter", stated.decision != Decision::Shorter || stated.interval.unwrap().high < 1.0),
        (
            "the curve",
            match fitted[..] {
                [first, .., last] => (last > first) == (stated.decision == Decision::Longer),
                _ => course.law.is_none_or(|law| law == Law::Constant),
            },
        ),
    ];
    checks.into_iter().filter(|(_, holds)| !holds).map(|(what, _)| what).collect()
}

#[test]
fn no_sentence_is_contradicted_by_its_table() {
    let mut kinds = std::collections::BTreeMap::new();
    for seed in 0..TABLES {
        let book = drawn(seed);
        let found = only(&book, Conclusion::Growth);
        let course = found.course.as_ref().unwrap();
        let tables = course_tables(&Analysis::of(&book));
        let wrong = contradicted(&found, course, &tables[0]);
        assert_eq!(wrong, [""; 0], "seed {seed}: {found:?}\n{}\n{tables:?}", found.sentence());
        *kinds.entry(format!("{:?}", found.stated.decision)).or_insert(0) += 1;
        let law = course.law.map_or("none", Law::as_str);
        *kinds.entry(law.to_string()).or_insert(0) += 1;
        *kinds.entry("start-up".into()).or_insert(0) += u32::from(course.slow_start_up().is_some());
    }
    for kind in ["Longer", "Shorter", "Within", "Open", "none", "constant", "linear", "start-up"] {
        assert!(kinds.get(kind).is_some_and(|number| *number > 20), "{kind}: {kinds:?}");
    }
}
