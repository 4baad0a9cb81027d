//! How the latency of a phase went on from window to window, the variants side by side.

use std::collections::BTreeMap;

use super::book::{Level, Measurement, ResultBook};
use super::order::{each_once, variants};

/// A phase that has windows, thinned to what a person reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progression {
    /// The phase's name.
    pub phase: String,
    /// The level it was measured at, the last one of the axis; none without an axis.
    pub level: Option<Level>,
    /// Variants that have windows, in the job file's order.
    pub variants: Vec<String>,
    /// Operations of a window.
    pub window_operations: u64,
    /// Some of the windows, the first and the last among them.
    pub stages: Vec<Stage>,
}

/// One window of every variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stage {
    /// Operations done when the window ends.
    pub operations: u64,
    /// Mean latency of the window over all valid repeats and passes, in nanoseconds, for each
    /// variant; none where a variant has no such window.
    pub mean_ns: Vec<Option<f64>>,
}

/// More rows than this are thinned.
const STAGES: usize = 16;

/// One variant's windows, by their first operation.
type Course = BTreeMap<u64, Sum>;

/// Windows of several measurements that begin at the same operation.
#[derive(Default)]
struct Sum {
    operations: u64,
    weight: f64,
    total_ns: f64,
}

/// One for each phase that has several windows in a valid measurement; with an axis at its last
/// level.
pub fn progressions(book: &ResultBook) -> Vec<Progression> {
    let with_windows = book.measurements.iter().filter(|m| m.valid() && !m.windows.is_empty());
    let with_windows: Vec<_> = with_windows.collect();
    let phases = each_once(with_windows.iter().map(|m| m.phase.as_str()));
    let names = variants(book);
    let of = |phase: &&str| -> Vec<&Measurement> {
        with_windows.iter().filter(|m| m.phase == *phase).copied().collect()
    };
    let all = phases.iter().map(|phase| progression(&of(phase), &names));
    // Of one window there is no course.
    all.filter(|progression| progression.stages.len() > 1).collect()
}

fn progression(measurements: &[&Measurement], names: &[&str]) -> Progression {
    let levels = each_once(measurements.iter().map(|m| &m.cell.level));
    let level = levels.last().copied().cloned().flatten();
    let mut courses: Vec<(&str, Course)> = Vec::new();
    for name in names {
        let here = |m: &&&Measurement| m.cell.variant == *name && m.cell.level == level;
        let course = course(measurements.iter().filter(here).copied());
        if !course.is_empty() {
            courses.push((name, course));
        }
    }
    let longest = courses.iter().map(|(_, course)| course).max_by_key(|course| course.len());
    Progression {
        phase: measurements.first().map(|m| m.phase.clone()).unwrap_or_default(),
        level,
        variants: courses.iter().map(|(name, _)| name.to_string()).collect(),
        window_operations: longest
            .and_then(|course| course.values().map(|sum| sum.operations).max())
            .unwrap_or_default(),
        stages: longest.map(|longest| stages(longest, &courses)).unwrap_or_default(),
    }
}

/// Every operation of every repeat counts alike.
fn course<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Course {
    let mut course = Course::new();
    for window in measurements.flat_map(|m| &m.windows) {
        if window.operations == 0 || !window.mean_ns.is_finite() {
            continue;
        }
        let sum = course.entry(window.first).or_default();
        sum.operations = sum.operations.max(window.operations);
        sum.weight += window.operations as f64;
        sum.total_ns += window.mean_ns * window.operations as f64;
    }
    course
}

fn stages(longest: &Course, courses: &[(&str, Course)]) -> Vec<Stage> {
    let ends: Vec<u64> =
        longest.iter().map(|(first, sum)| first.saturating_add(sum.operations)).collect();
    let stage = |at: usize| {
        let operations = ends[at];
        let mean_ns = courses.iter().map(|(_, course)| mean_before(course, operations)).collect();
        Stage { operations, mean_ns }
    };
    positions(ends.len()).into_iter().map(stage).collect()
}

/// Mean latency of the window that has the last of so many operations.
fn mean_before(course: &Course, operations: u64) -> Option<f64> {
    let (first, sum) = course.range(..operations).next_back()?;
    let has_it = first.saturating_add(sum.operations) >= operations;
    has_it.then_some(sum.total_ns / sum.weight).filter(|mean| mean.is_finite())
}

/// Which of so many windows to tell: all of a few; of many the first, then those at round
/// distances, and the last.
fn positions(windows: usize) -> Vec<usize> {
    let step = round_step(windows.div_ceil(STAGES));
    let mut all: Vec<usize> = (1..=windows / step).map(|n| n * step - 1).collect();
    all.extend([0, windows.saturating_sub(1)]);
    all.sort_unstable();
    all.dedup();
    all
}

/// The least of 1, 2, 5, 10, 20, 25, 50, 100, 200, 250, ... that is not less.
fn round_step(least: usize) -> usize {
    let mut power = 1usize;
    loop {
        for digits in [10, 20, 25, 50] {
            let step = power.saturating_mul(digits) / 10;
            // A quarter of ten is no whole number.
            let whole = !power.saturating_mul(digits).is_multiple_of(10);
            if step >= least && !whole {
                return step;
            }
        }
        match power.checked_mul(10) {
            Some(next) => power = next,
            None => return least.max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::book::Window;
    use crate::measure::fixture::measurement;

    fn windows(number: u64, each: u64, ns: impl Fn(u64) -> f64) -> Vec<Window> {
        let window =
            |n| Window { first: n * each, operations: each, mean_ns: ns(n), ..Window::default() };
        (0..number).map(window).collect()
    }

    fn measured(variant: &str, repeat: u32, windows: Vec<Window>) -> Measurement {
        let mut m = Measurement { windows, ..measurement("create", repeat, 100, 1_000) };
        m.cell.variant = variant.into();
        m
    }

    fn of(measurements: Vec<Measurement>) -> Vec<Progression> {
        progressions(&ResultBook { measurements, ..ResultBook::default() })
    }

    #[test]
    fn four_hundred_windows_are_told_at_round_numbers_with_the_first_and_the_last() {
        let all = of(vec![measured("one", 1, windows(400, 1_000, |n| n as f64))]);
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(one.window_operations, 1_000);
        let told: Vec<u64> = one.stages.iter().map(|stage| stage.operations).collect();
        assert_eq!(told[..4], [1_000, 25_000, 50_000, 75_000]);
        assert_eq!((told.len(), told.last()), (17, Some(&400_000)));
        assert_eq!(one.stages[1].mean_ns, [Some(24.0)], "the window that ends there");
    }

    #[test]
    fn few_windows_are_all_told_and_many_never_make_a_long_table() {
        assert_eq!(positions(3), [0, 1, 2]);
        assert_eq!(positions(16).len(), 16);
        for number in 1..2_000 {
            let told = positions(number);
            assert!(told.len() <= STAGES + 2, "{number}: {told:?}");
            assert_eq!((told.first(), told.last()), (Some(&0), Some(&(number - 1))));
        }
    }

    #[test]
    fn repeats_are_averaged_and_invalid_ones_left_out() {
        let mut failed = measured("one", 3, windows(2, 10, |_| 9e9));
        failed.invalid = vec!["EIO x 1".into()];
        let all = of(vec![
            measured("one", 1, windows(2, 10, |_| 100.0)),
            measured("one", 2, windows(2, 10, |n| 200.0 + n as f64)),
            failed,
        ]);
        let means: Vec<_> = all[0].stages.iter().map(|stage| stage.mean_ns[0]).collect();
        assert_eq!(means, [Some(150.0), Some(150.5)]);
    }

    #[test]
    fn a_variant_with_other_windows_stands_at_the_operation_that_it_has_there() {
        let all = of(vec![
            measured("fine", 1, windows(4, 10, |n| n as f64)),
            measured("rough", 1, windows(1, 20, |_| 7.0)),
        ]);
        let rough: Vec<_> = all[0].stages.iter().map(|stage| stage.mean_ns[1]).collect();
        assert_eq!(rough, [Some(7.0), Some(7.0), None, None]);
    }

    #[test]
    fn with_an_axis_the_last_level_is_told() {
        let at = |value| Some(Level { axis: "files".into(), value, ..Level::default() });
        let mut measurements = Vec::new();
        for (level, ns) in [(at(1.0), 1.0), (at(2.0), 2.0)] {
            let mut m = measured("one", 1, windows(2, 10, |_| ns));
            m.cell.level = level;
            measurements.push(m);
        }
        let all = of(measurements);
        assert_eq!((all.len(), &all[0].level), (1, &at(2.0)));
        assert_eq!(of(vec![measured("one", 1, windows(1, 10, |_| 1.0))]), []);
        assert_eq!(all[0].stages[0].mean_ns, [Some(2.0)]);
    }
}
