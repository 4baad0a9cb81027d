//! Latency by the operations done, for a picture: the windows of all repeats of a phase together,
//! thinned to what a screen can show.

use super::book::{Level, Measurement, ResultBook, Window};
use super::order::{each_once, levels_of};
use super::statistics::describe::median;
use super::thin::{extremes, parts};
use super::warnings::is_disturbed;
use crate::op::{Effect, Subject, find_operation};

/// The latency of one phase of a variant over its operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windowed {
    /// The level it was measured at, the last one that the phase was measured at by any variant;
    /// none without an axis.
    pub level: Option<Level>,
    /// Whether the phase was measured at other levels too.
    pub other_levels: bool,
    /// What there are more of after each operation: `files created`.
    pub counted: &'static str,
    /// How many measurements it is made of.
    pub measurements: usize,
    /// Whether something disturbed one of them.
    pub disturbed: bool,
    /// How many windows there are, before they were thinned.
    pub windows: usize,
    /// Whether they are not all told.
    pub thinned: bool,
    /// Whether each window is a single operation.
    pub single: bool,
    /// Median latencies of windows; empty if none are known.
    pub p50: Vec<Spot>,
    /// Mean latencies of windows.
    pub mean: Vec<Spot>,
    /// From the median to the latency that 99 in 100 operations stay below.
    pub band: Vec<Stretch>,
}

/// A latency at a place of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spot {
    /// Operations done in the middle of the window; of a single operation its number, from 1.
    pub operations: f64,
    /// The latency, in nanoseconds.
    pub ns: f64,
    /// How many operations it tells of.
    pub n: u64,
}

/// The latencies between two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    /// Operations done in the middle.
    pub operations: f64,
    /// The shorter latency, in nanoseconds.
    pub low_ns: f64,
    /// The longer one.
    pub high_ns: f64,
    /// How many operations it tells of.
    pub n: u64,
}

/// Windows of all repeats that begin at the same operation.
#[derive(Clone, Copy)]
struct Together {
    operations: f64,
    n: u64,
    p50_ns: f64,
    p99_ns: f64,
    mean_ns: f64,
}

/// The phases that have several windows in a valid measurement.
pub fn windowed_phases(book: &ResultBook) -> Vec<&str> {
    let several = |m: &&Measurement| m.valid() && m.windows.len() > 1;
    each_once(book.measurements.iter().filter(several).map(|m| m.phase.as_str()))
}

/// The course of a phase of a variant at the phase's last level, in at most `most` spots of each
/// kind; none without windows there, for another level's would pass for them. Of several repeats a percentile is the median of those of their windows, of two the geometric
/// mean, as findings of growth have it.
pub fn windowed(book: &ResultBook, variant: &str, phase: &str, most: usize) -> Option<Windowed> {
    let levels = levels_of(book, phase);
    let level = levels.last().copied()?;
    let here = |m: &&Measurement| {
        let own = m.phase == phase && m.cell.variant == variant && m.cell.level.as_ref() == level;
        own && m.valid() && !m.windows.is_empty()
    };
    let all: Vec<&Measurement> = book.measurements.iter().filter(here).collect();
    let together = together(&all);
    let spots = |of: fn(&Together) -> f64| spots(&together, of, most);
    Some(Windowed {
        level: level.cloned(),
        other_levels: levels.len() > 1,
        counted: all.first().map(|m| counted(m))?,
        measurements: all.len(),
        disturbed: all.iter().any(|m| is_disturbed(book, m)),
        windows: all.iter().map(|m| m.windows.len()).sum(),
        thinned: together.len() > most,
        single: all.iter().flat_map(|m| &m.windows).all(|window| window.operations == 1),
        p50: spots(|one| one.p50_ns),
        mean: spots(|one| one.mean_ns),
        band: band(&together, if together.len() > most { most / 2 } else { most }),
    })
}

/// What there are more of after each operation.
fn counted(m: &Measurement) -> &'static str {
    match find_operation(&m.operation).map(|o| (o.effect(), o.subject())) {
        Some((Effect::AddsEntry, Subject::File)) => "files created",
        Some((Effect::AddsEntry, Subject::Directory)) => "directories created",
        Some((Effect::RemovesEntry, Subject::File)) => "files removed",
        Some((Effect::RemovesEntry, Subject::Directory)) => "directories removed",
        _ => "operations done",
    }
}

fn together(all: &[&Measurement]) -> Vec<Together> {
    let windows = all.iter().flat_map(|m| &m.windows).filter(|window| window.operations > 0);
    let mut windows: Vec<&Window> = windows.collect();
    windows.sort_by_key(|window| window.first);
    windows.chunk_by(|a, b| a.first == b.first).filter_map(joined).collect()
}

fn joined(windows: &[&Window]) -> Option<Together> {
    let first = windows.first()?;
    let operations = first.operations as f64;
    let middle = if first.operations == 1 { 1.0 } else { operations / 2.0 };
    let n = windows.iter().fold(0u64, |sum, window| sum.saturating_add(window.operations));
    let means = windows.iter().filter(|window| known(window.mean_ns));
    let total: f64 = means.clone().map(|w| w.mean_ns * w.operations as f64).sum();
    Some(Together {
        operations: first.first as f64 + middle,
        n,
        p50_ns: typical(windows, |window| window.p50_ns),
        p99_ns: typical(windows, |window| window.p99_ns),
        mean_ns: total / means.map(|window| window.operations as f64).sum::<f64>(),
    })
}

/// Of those windows of which it is known; not above zero if it is known of none.
fn typical(windows: &[&Window], of: fn(&Window) -> u64) -> f64 {
    let all = windows.iter().map(|window| of(window) as f64).filter(|ns| known(*ns));
    match all.collect::<Vec<_>>().as_slice() {
        [] => 0.0,
        [one] => *one,
        [one, other] => (one * other).sqrt(),
        all => median(all),
    }
}

/// No operation takes no time: what is not above zero is not known.
fn known(ns: f64) -> bool {
    ns.is_finite() && ns > 0.0
}

fn spots(all: &[Together], of: fn(&Together) -> f64, most: usize) -> Vec<Spot> {
    let with = all.iter().filter(|one| known(of(one)));
    let spots: Vec<Spot> =
        with.map(|one| Spot { operations: one.operations, ns: of(one), n: one.n }).collect();
    let heights: Vec<f64> = spots.iter().map(|spot| spot.ns).collect();
    extremes(&heights, most).into_iter().map(|at| spots[at]).collect()
}

/// Of each part the least median and the largest of the others.
fn band(all: &[Together], most: usize) -> Vec<Stretch> {
    let with = |one: &&Together| known(one.p50_ns) && known(one.p99_ns);
    let all: Vec<&Together> = all.iter().filter(with).collect();
    let stretch = |part: std::ops::Range<usize>| {
        let (first, last) = (all[part.start], all[part.end - 1]);
        let part = &all[part];
        Stretch {
            operations: f64::midpoint(first.operations, last.operations),
            low_ns: part.iter().map(|one| one.p50_ns).fold(f64::INFINITY, f64::min),
            high_ns: part.iter().map(|one| one.p99_ns).fold(0.0, f64::max),
            n: part.iter().fold(0u64, |sum, one| sum.saturating_add(one.n)),
        }
    };
    parts(all.len(), most).map(stretch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::fixture::measurement;

    fn window(n: u64, ns: u64) -> Window {
        let (p50_ns, p99_ns, max_ns) = (ns, ns * 2, ns * 3);
        Window { first: n * 10, operations: 10, mean_ns: ns as f64 * 1.5, p50_ns, p99_ns, max_ns }
    }

    fn measured(repeat: u32, ns: impl Fn(u64) -> u64, windows: u64) -> Measurement {
        let windows = (0..windows).map(|n| window(n, ns(n))).collect();
        Measurement { windows, ..measurement("create", repeat, 10, 1_000) }
    }

    fn of(measurements: Vec<Measurement>, most: usize) -> Option<Windowed> {
        let book = ResultBook { measurements, ..ResultBook::default() };
        windowed(&book, "default", "create", most)
    }

    #[test]
    fn repeats_stand_at_their_median_and_invalid_ones_are_left_out() {
        let mut failed = measured(4, |_| 1_000_000, 2);
        failed.invalid = vec!["EIO x 1".into()];
        let all = vec![measured(1, |_| 100, 2), measured(2, |_| 900, 2), measured(3, |_| 300, 2)];
        let one = of(all.into_iter().chain([failed]).collect(), 100).unwrap();
        let told: Vec<_> = one.p50.iter().map(|spot| (spot.operations, spot.ns, spot.n)).collect();
        assert_eq!(told, [(5.0, 300.0, 30), (15.0, 300.0, 30)]);
        assert_eq!(one.band[0], Stretch { operations: 5.0, low_ns: 300.0, high_ns: 600.0, n: 30 });
        let known = (one.measurements, one.windows, one.counted, one.thinned);
        assert_eq!(known, (3, 6, "files created", false));
    }

    #[test]
    fn many_windows_are_thinned_and_the_slowest_and_fastest_stay() {
        let ns = |n| if n == 4_321 { 77_777 } else { 1_000 + n % 7 };
        let one = of(vec![measured(1, ns, 50_000)], 1_000).unwrap();
        assert!(one.thinned && one.p50.len() <= 1_000 && one.band.len() <= 500);
        for spots in [&one.p50, &one.mean] {
            assert!(spots.windows(2).all(|pair| pair[0].operations < pair[1].operations));
        }
        assert!(one.p50.iter().any(|spot| (spot.operations, spot.ns) == (43_215.0, 77_777.0)));
        assert!(one.band.iter().any(|part| part.high_ns == 77_777.0 * 2.0));
        assert_eq!(one.band.iter().map(|part| part.n).sum::<u64>(), 500_000);
    }

    #[test]
    fn windows_of_which_only_the_mean_is_known_have_no_median() {
        let mut m = measured(1, |_| 100, 3);
        m.windows.iter_mut().for_each(|window| (window.p50_ns, window.p99_ns) = (0, 0));
        m.windows[1].mean_ns = f64::NAN;
        let one = of(vec![m], 100).unwrap();
        assert_eq!((one.p50.len(), one.band.len(), one.mean.len()), (0, 0, 2));
        assert_eq!(of(vec![measurement("create", 1, 10, 1_000)], 100), None);
    }

    #[test]
    fn a_repeat_whose_percentiles_are_unknown_does_not_pull_those_of_others_down() {
        let unknown = |repeat| {
            let mut m = measured(repeat, |_| 100, 1);
            (m.windows[0].p50_ns, m.windows[0].p99_ns, m.windows[0].mean_ns) = (0, 0, f64::NAN);
            m
        };
        for others in 1..=4 {
            let all = (0..others).map(|at| unknown(at + 2)).chain([measured(1, |_| 400, 1)]);
            let one = of(all.collect(), 100).unwrap();
            assert_eq!((one.p50[0].ns, one.band[0].high_ns, one.mean[0].ns), (400.0, 800.0, 600.0));
        }
    }

    #[test]
    fn all_variants_are_told_at_the_same_level_and_one_without_windows_there_is_not() {
        let at = |variant: &str, value: f64| {
            let mut m = measured(1, |_| 100, 2);
            (m.cell.variant, m.cell.level) =
                (variant.into(), Some(Level { value, ..Level::default() }));
            m
        };
        let mut failed = at("xfs", 2.0);
        failed.invalid = vec!["EIO x 1".into()];
        let measurements = vec![at("ext4", 1.0), at("xfs", 1.0), at("ext4", 2.0), failed];
        let book = ResultBook { measurements, ..ResultBook::default() };
        let ext4 = windowed(&book, "ext4", "create", 100).unwrap();
        assert_eq!((ext4.level.map(|level| level.value), ext4.other_levels), (Some(2.0), true));
        assert_eq!(windowed(&book, "xfs", "create", 100), None);
    }

    #[test]
    fn single_operations_stand_at_their_number_and_levels_at_the_last() {
        let mut m = measured(1, |_| 100, 2);
        m.windows.iter_mut().for_each(|window| window.operations = 1);
        let mut last = m.clone();
        last.cell.level = Some(Level { value: 2.0, ..Level::default() });
        let one = of(vec![m, last.clone()], 100).unwrap();
        assert!(one.single && one.other_levels && one.level == last.cell.level);
        assert_eq!(one.mean.iter().map(|spot| spot.operations).collect::<Vec<_>>(), [1.0, 11.0]);
    }
}
