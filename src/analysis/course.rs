//! Joins the windows of a phase's repeats into its course, and collects the slices of each measurement
//! and the values behind each rate.

use std::ops::Range;

use super::statistics::describe::median;
use super::summary::PhaseSummary;
use super::uncertainty::{IntervalBasis, per_second};
use crate::analysis::Analysis;
use crate::base::distinct::each_once;
use crate::op::{Effect, Subject, find_operation};
use crate::results::book::{Book, Level, Measurement, Window};
use crate::results::order::{levels_of, variants};

/// The latency of one phase of a variant by the operations done: the windows of all its valid
/// measurements at the phase's last level together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseCourse<'a> {
    pub(crate) variant: &'a str,
    /// The last level that any variant was measured at; none without an axis.
    pub(crate) level: Option<&'a Level>,
    /// Whether the phase was measured at other levels too.
    pub(crate) has_other_levels: bool,
    /// What there are more of after each operation: `files created`.
    pub(crate) counted: &'static str,
    /// How many measurements it is made of.
    pub(crate) measurements: usize,
    /// Whether one of them was disturbed.
    pub(crate) disturbed: bool,
    /// How many windows these have.
    pub(crate) windows: usize,
    /// In the order of operations.
    pub(crate) points: Vec<CoursePoint>,
}

/// The windows of all measurements that begin at the same operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CoursePoint {
    /// Operations done when it begins.
    first: u64,
    /// Operations of each window.
    operations: u64,
    /// How many operations it is made of.
    n: u64,
    /// Over all operations; not above zero, or not a number, if it is not known.
    mean_ns: f64,
    /// The median of the windows' medians, of two windows their geometric mean, as findings of growth
    /// have it; 0 if it is not known.
    p50_ns: f64,
    /// The same of their 99th percentiles.
    p99_ns: f64,
}

/// A latency at a place of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatencyPoint {
    /// Operations done in the middle of the window; of a single operation its number, from 1.
    pub(crate) operations: f64,
    /// The latency, in nanoseconds.
    pub(crate) ns: f64,
    /// How many operations it is of.
    pub(crate) n: u64,
}

/// From the median to the latency that 99 in 100 operations stay below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatencyBand {
    /// Operations done in the middle.
    pub(crate) operations: f64,
    /// The least median, in nanoseconds.
    pub(crate) low_ns: f64,
    /// The largest 99th percentile.
    pub(crate) high_ns: f64,
    /// How many operations it is of.
    pub(crate) n: u64,
}

/// The phases that have several windows in a valid measurement.
pub(crate) fn windowed_phases(book: &Book) -> Vec<&str> {
    let several = book.measurements.iter().filter(|m| m.valid() && m.windows.len() > 1);
    each_once(several.map(|m| m.phase.as_str()))
}

impl<'a> PhaseCourse<'a> {
    /// None without windows at the phase's last level: those of another level would pass for them.
    pub(crate) fn new(analysis: &Analysis<'a>, variant: &'a str, phase: &str) -> Option<Self> {
        let book = analysis.book;
        let levels = levels_of(book, phase);
        let level = levels.last().copied()?;
        let here = |m: &&Measurement| {
            let own = m.phase == phase && m.cell.variant == variant;
            own && m.cell.level.as_ref() == level && m.valid() && !m.windows.is_empty()
        };
        let all: Vec<&Measurement> = book.measurements.iter().filter(here).collect();
        Some(Self {
            variant,
            level,
            has_other_levels: levels.len() > 1,
            counted: all.first().map(|m| counted(m))?,
            measurements: all.len(),
            disturbed: all.iter().any(|m| analysis.disturbed(m)),
            windows: all.iter().map(|m| m.windows.len()).sum(),
            points: joined(&all),
        })
    }

    /// Whether each window is a single operation.
    pub(crate) fn has_single_operations(&self) -> bool {
        self.points.iter().all(|point| point.operations == 1)
    }

    /// Median latencies, at most so many of them; empty if none are known.
    pub(crate) fn p50(&self, most: usize) -> Vec<LatencyPoint> {
        self.downsampled(|point| point.p50_ns, most)
    }

    /// Mean latencies, at most so many of them.
    pub(crate) fn mean(&self, most: usize) -> Vec<LatencyPoint> {
        self.downsampled(|point| point.mean_ns, most)
    }

    fn downsampled(&self, ns: fn(&CoursePoint) -> f64, most: usize) -> Vec<LatencyPoint> {
        let known = self.points.iter().filter(|point| is_known(ns(point)));
        let all: Vec<LatencyPoint> = known
            .map(|point| LatencyPoint { operations: point.middle(), ns: ns(point), n: point.n })
            .collect();
        let heights: Vec<f64> = all.iter().map(|point| point.ns).collect();
        extremes(&heights, most).into_iter().map(|at| all[at]).collect()
    }

    /// The band from medians to 99th percentiles, in at most so many parts: of each part the least
    /// median and the largest percentile.
    pub(crate) fn band(&self, most: usize) -> Vec<LatencyBand> {
        let known = self.points.iter().filter(|p| is_known(p.p50_ns) && is_known(p.p99_ns));
        let all: Vec<&CoursePoint> = known.collect();
        let joined = |part: Range<usize>| {
            let part = &all[part];
            LatencyBand {
                operations: f64::midpoint(part[0].middle(), part[part.len() - 1].middle()),
                low_ns: part.iter().map(|one| one.p50_ns).fold(f64::INFINITY, f64::min),
                high_ns: part.iter().map(|one| one.p99_ns).fold(0.0, f64::max),
                n: part.iter().fold(0u64, |sum, one| sum.saturating_add(one.n)),
            }
        };
        parts(all.len(), most).map(joined).collect()
    }

    /// Mean latency of the window that has the last of so many operations.
    fn mean_before(&self, operations: u64) -> Option<f64> {
        let before = self.points.partition_point(|point| point.first < operations);
        let point = self.points[..before].last()?;
        (point.end() >= operations && is_known(point.mean_ns)).then_some(point.mean_ns)
    }
}

impl CoursePoint {
    /// Operations done when it ends.
    fn end(&self) -> u64 {
        self.first.saturating_add(self.operations)
    }

    fn middle(&self) -> f64 {
        let half = if self.operations == 1 { 1.0 } else { self.operations as f64 / 2.0 };
        self.first as f64 + half
    }
}

/// What there are more of after each operation.
fn counted(m: &Measurement) -> &'static str {
    match find_operation(&m.operation).map(|o| (o.effect, o.subject)) {
        Some((Effect::AddsEntry, Subject::File)) => "files created",
        Some((Effect::AddsEntry, Subject::Directory)) => "directories created",
        Some((Effect::RemovesEntry, Subject::File)) => "files removed",
        Some((Effect::RemovesEntry, Subject::Directory)) => "directories removed",
        _ => "operations done",
    }
}

fn joined(all: &[&Measurement]) -> Vec<CoursePoint> {
    let windows = all.iter().flat_map(|m| &m.windows).filter(|window| window.operations > 0);
    let mut windows: Vec<&Window> = windows.collect();
    windows.sort_by_key(|window| window.first);
    windows.chunk_by(|a, b| a.first == b.first).map(point_of).collect()
}

fn point_of(windows: &[&Window]) -> CoursePoint {
    let means = || windows.iter().filter(|window| is_known(window.mean_ns));
    let total: f64 = means().map(|window| window.mean_ns * window.operations as f64).sum();
    CoursePoint {
        first: windows.first().map_or(0, |window| window.first),
        operations: windows.iter().map(|window| window.operations).max().unwrap_or_default(),
        n: windows.iter().fold(0u64, |sum, window| sum.saturating_add(window.operations)),
        p50_ns: typical(windows, |window| window.p50_ns),
        p99_ns: typical(windows, |window| window.p99_ns),
        mean_ns: total / means().map(|window| window.operations as f64).sum::<f64>(),
    }
}

/// No operation takes no time: what is not above zero is not known.
fn is_known(ns: f64) -> bool {
    ns.is_finite() && ns > 0.0
}

/// Of those windows of which it is known; 0 if it is known of none.
fn typical(windows: &[&Window], percentile: fn(&Window) -> u64) -> f64 {
    let all = windows.iter().map(|window| percentile(window) as f64).filter(|ns| is_known(*ns));
    match all.collect::<Vec<_>>().as_slice() {
        [] => 0.0,
        [one] => *one,
        [one, other] => (one * other).sqrt(),
        all => median(all),
    }
}

/// Which of many values to draw so that a picture of them looks the same: of each of equal parts the
/// least and the largest, and both ends of all. At most `most`, in order; all of them where they are
/// not more. `most` is at least 4.
fn extremes(values: &[f64], most: usize) -> Vec<usize> {
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let mut kept = vec![0, values.len() - 1];
    for part in parts(values.len(), most.saturating_sub(2) / 2) {
        let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        kept.extend(part.clone().min_by(by_value));
        kept.extend(part.max_by(by_value));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Equal parts of so many places, at most `most` of them, none of them empty.
fn parts(length: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let number = most.min(length);
    (0..number).map(move |part| part * length / number..(part + 1) * length / number)
}

/// The courses of a phase, the variants side by side, at some of the windows: what a person reads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CourseTable<'a> {
    pub(crate) phase: &'a str,
    /// The level it was measured at, the last one of the axis; none without an axis.
    pub(crate) level: Option<&'a Level>,
    /// Variants that have windows, in the job file's order.
    pub(crate) variants: Vec<&'a str>,
    /// Operations of a window.
    pub(crate) window_operations: u64,
    /// Some of the windows, the first and the last among them.
    pub(crate) rows: Vec<CourseTableRow>,
}

/// A row with one window of every variant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CourseTableRow {
    /// Operations done when the window ends.
    pub(crate) operations: u64,
    /// Mean latency of the window, in nanoseconds, for each variant; none where a variant has no such
    /// window.
    pub(crate) mean_ns: Vec<Option<f64>>,
}

/// Of more windows than this only some get a row.
const TABLE_ROWS: usize = 16;

/// One for each phase that has several windows in a valid measurement; with an axis at its last
/// level.
pub(crate) fn course_tables<'a>(analysis: &Analysis<'a>) -> Vec<CourseTable<'a>> {
    let book = analysis.book;
    let names = variants(book);
    let tables =
        windowed_phases(book).into_iter().filter_map(|phase| table(analysis, phase, &names));
    tables.filter(|table| table.rows.len() > 1).collect()
}

fn table<'a>(
    analysis: &Analysis<'a>,
    phase: &'a str,
    names: &[&'a str],
) -> Option<CourseTable<'a>> {
    let courses = names.iter().filter_map(|name| PhaseCourse::new(analysis, name, phase));
    let has_means = |course: &PhaseCourse<'_>| course.points.iter().any(|p| is_known(p.mean_ns));
    let courses: Vec<PhaseCourse<'_>> = courses.filter(has_means).collect();
    let longest = courses.iter().max_by_key(|course| course.points.len())?;
    let ends: Vec<u64> = longest.points.iter().map(CoursePoint::end).collect();
    let row = |at: usize| CourseTableRow {
        operations: ends[at],
        mean_ns: courses.iter().map(|course| course.mean_before(ends[at])).collect(),
    };
    Some(CourseTable {
        phase,
        level: longest.level,
        variants: courses.iter().map(|course| course.variant).collect(),
        window_operations: longest.points.iter().map(|point| point.operations).max()?,
        rows: round_places(ends.len()).into_iter().map(row).collect(),
    })
}

/// Which of so many windows get a row: all of a few; of many the first, then those at round
/// distances, and the last.
fn round_places(windows: usize) -> Vec<usize> {
    let distance = round_distance(windows.div_ceil(TABLE_ROWS));
    let mut all: Vec<usize> = (1..=windows / distance).map(|n| n * distance - 1).collect();
    all.extend([0, windows.saturating_sub(1)]);
    all.sort_unstable();
    all.dedup();
    all
}

/// The least of 1, 2, 5, 10, 20, 25, 50, 100, 200, 250, ... that is not less.
fn round_distance(least: usize) -> usize {
    let mut power = 1usize;
    loop {
        for tenths in [10, 20, 25, 50] {
            let tenfold = power.saturating_mul(tenths);
            // A quarter of ten is no whole number.
            if tenfold.is_multiple_of(10) && tenfold / 10 >= least {
                return tenfold / 10;
            }
        }
        match power.checked_mul(10) {
            Some(next) => power = next,
            None => return least.max(1),
        }
    }
}

/// The measurements of a phase at its last level, each from its beginning to its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlicedPhase<'a> {
    /// The last level that the phase was measured at by any variant; none without an axis.
    pub(crate) level: Option<&'a Level>,
    /// Whether the phase was measured at other levels too.
    pub(crate) has_other_levels: bool,
    /// In the job file's order of variants, then by repeat and pass.
    pub(crate) measurements: Vec<SlicedMeasurement<'a>>,
    /// How many there are beyond these.
    pub(crate) left_out: usize,
}

/// The latency of one measurement from its beginning to its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlicedMeasurement<'a> {
    pub(crate) variant: &'a str,
    /// Its repeat, from 1.
    pub(crate) repeat: u32,
    /// Its pass, from 1; none if the phase has only one.
    pub(crate) pass: Option<u32>,
    /// Mean latency of equal numbers of operations, one after the other, in nanoseconds.
    pub(crate) slices_ns: &'a [f64],
    /// Whether it was disturbed.
    pub(crate) disturbed: bool,
}

/// Fewer slices are no course.
const SLICES_MIN: usize = 2;

/// The phases that have slices in a valid measurement.
pub(crate) fn sliced_phases(book: &Book) -> Vec<&str> {
    each_once(book.measurements.iter().filter(|m| has_slices(m)).map(|m| m.phase.as_str()))
}

fn has_slices(m: &Measurement) -> bool {
    m.valid() && m.slices_ns.len() >= SLICES_MIN && m.slices_ns.iter().all(|ns| is_known(*ns))
}

/// At most `most` measurements of a phase at its last level, as many of each variant as of the
/// others, and of each at least one.
pub(crate) fn sliced<'a>(analysis: &Analysis<'a>, phase: &str, most: usize) -> SlicedPhase<'a> {
    let book = analysis.book;
    let levels = levels_of(book, phase);
    let level = levels.last().copied().flatten();
    let own = |m: &&Measurement| m.phase == phase && m.cell.level.as_ref() == level;
    let here: Vec<&Measurement> =
        book.measurements.iter().filter(own).filter(|m| has_slices(m)).collect();
    let has_passes = here.iter().any(|m| m.pass > 1);
    let measured = each_once(here.iter().map(|m| m.cell.variant.as_str()));
    let each = (most / measured.len().max(1)).max(1);
    let mut measurements = Vec::new();
    for name in variants(book) {
        let mut own: Vec<_> = here.iter().filter(|m| m.cell.variant == name).collect();
        own.sort_by_key(|m| (m.cell.repeat, m.pass));
        measurements.extend(own.into_iter().take(each).map(|m| SlicedMeasurement {
            variant: &m.cell.variant,
            repeat: m.cell.repeat,
            pass: has_passes.then_some(m.pass),
            slices_ns: &m.slices_ns,
            disturbed: analysis.disturbed(m),
        }));
    }
    let left_out = here.len() - measurements.len();
    SlicedPhase { level, has_other_levels: levels.len() > 1, measurements, left_out }
}

/// One of the values that a rate is the mean of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateValue {
    /// Its repeat, or its pass where there is one repeat, from 1.
    pub(crate) number: u32,
    /// Operations or bytes per second, as the row's rate.
    pub(crate) rate: f64,
    /// How many measurements it is the mean of.
    pub(crate) n: u64,
    /// Whether one of them was disturbed.
    pub(crate) disturbed: bool,
}

/// What the rate of a row is averaged from: a value for each repeat, the mean of its passes, or of a
/// single repeat one for each pass. Empty where there is only one measurement.
pub(crate) fn rate_values(
    analysis: &Analysis<'_>,
    of_variant: &[&Measurement],
    level: Option<&Level>,
    row: &PhaseSummary,
) -> Vec<RateValue> {
    let number = |m: &Measurement| match row.rate.map(|rate| rate.basis) {
        Some(IntervalBasis::Repeats) => Some(m.cell.repeat),
        Some(IntervalBasis::Passes) => Some(m.pass),
        _ => None,
    };
    let here = |m: &&&Measurement| {
        let own = m.phase == row.phase && m.cell.level.as_ref() == level;
        own && m.valid() && !m.seconds.is_nan()
    };
    let all: Vec<&Measurement> = of_variant.iter().filter(here).copied().collect();
    let mut numbers: Vec<u32> = all.iter().filter_map(|m| number(m)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let value = |wanted: u32| {
        let own = || all.iter().filter(|m| number(m) == Some(wanted));
        let n = own().count() as u64;
        let rate = own().map(|m| per_second(m, row.rate_unit, 0.0)).sum::<f64>() / n as f64;
        let disturbed = own().any(|m| analysis.disturbed(m));
        rate.is_finite().then_some(RateValue { number: wanted, rate, n, disturbed })
    };
    numbers.into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests;
