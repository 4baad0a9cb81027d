//! Joins the windows of a phase's repeats into its course, and collects the slices of each measurement
//! and the values behind each rate.

use std::ops::Range;

use super::findings::growth::{TENTHS, WINDOWS_MIN, has_whole_windows, mean_ns};
use super::statistics::describe::{mean, median};
use super::summary::PhaseSummary;
use super::uncertainty::{IntervalBasis, per_second};
use crate::analysis::figures::RunFigures;
use crate::base::distinct::each_once;
use crate::op::{Effect, Subject};
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
    /// The same windows in the order of their times; empty where these are not known.
    moments: Vec<LatencyMoment>,
}

/// The mean latency of a window, at its middle in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatencyMoment {
    /// Since the phase began.
    pub(crate) seconds: f64,
    /// The latency, in nanoseconds.
    pub(crate) ns: f64,
    /// How many operations it is of.
    pub(crate) n: u64,
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
    /// The median of the windows' medians, of two windows their geometric mean; 0 if it is not known.
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
    pub(crate) fn new(analysis: &RunFigures<'a>, variant: &'a str, phase: &str) -> Option<Self> {
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
            moments: joined_moments(&all),
        })
    }

    /// Mean latencies of the windows of each measurement by time, at most so many of them.
    pub(crate) fn moments(&self, most: usize) -> Vec<LatencyMoment> {
        let heights: Vec<f64> = self.moments.iter().map(|moment| moment.ns).collect();
        extremes(&heights, most).into_iter().map(|at| self.moments[at]).collect()
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
}

impl CoursePoint {
    fn middle(&self) -> f64 {
        let half = if self.operations == 1 { 1.0 } else { self.operations as f64 / 2.0 };
        self.first as f64 + half
    }
}

/// What there are more of after each operation.
fn counted(m: &Measurement) -> &'static str {
    match m.job_operation().map(|o| (o.effect, o.subject)) {
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

/// Of no measurement, where the times of one are not known.
fn joined_moments(all: &[&Measurement]) -> Vec<LatencyMoment> {
    let known: Option<Vec<Vec<LatencyMoment>>> = all.iter().map(|m| moments(m)).collect();
    let mut moments = known.unwrap_or_default().concat();
    moments.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    moments
}

/// The times of windows may add up to so much more or less than the time of their phase, as a share of it.
const TIME_ERROR_MAX: f64 = 0.1;

/// The windows of a measurement by time. The end of an operation is the start of its worker's next one, so the
/// latencies of a worker add up to the time that has gone by. None where they do not, as between paced operations.
fn moments(m: &Measurement) -> Option<Vec<LatencyMoment>> {
    let mut moments = Vec::new();
    let (mut operations, mut seconds) = (0, 0.0);
    for window in &m.windows {
        if window.first != operations || !is_known(window.mean_ns) {
            return None;
        }
        let took =
            window.mean_ns * window.operations as f64 / 1e9 / f64::from(m.threads.unwrap_or(1));
        let middle = seconds + took / 2.0;
        moments.push(LatencyMoment { seconds: middle, ns: window.mean_ns, n: window.operations });
        (operations, seconds) = (operations + window.operations, seconds + took);
    }
    let is_whole = operations == m.operations && moments.len() > 1;
    let is_all_time = m.seconds.is_some_and(|all| (seconds - all).abs() <= TIME_ERROR_MAX * all);
    (is_whole && is_all_time).then_some(moments)
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

/// The courses of a phase in ten parts, side by side the variants whose parts are of the same operations. Growth is concluded
/// of the second part and the last; the first is the start-up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CourseTable<'a> {
    pub(crate) phase: &'a str,
    /// The level it was measured at, the last one of the axis; none without an axis.
    pub(crate) level: Option<&'a Level>,
    /// Variants that have windows, in the job file's order.
    pub(crate) variants: Vec<&'a str>,
    pub(crate) rows: Vec<CourseTableRow>,
}

/// A row with one part of every variant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CourseTableRow {
    /// Operations done when the part ends.
    pub(crate) operations: u64,
    /// Whether it is the start-up.
    pub(crate) start_up: bool,
    /// Mean latency of the part over all repeats, in nanoseconds, for each variant.
    pub(crate) mean_ns: Vec<f64>,
}

/// One or more for each phase that has several windows in a valid measurement; with an axis at its last
/// level.
pub(crate) fn course_tables<'a>(analysis: &RunFigures<'a>) -> Vec<CourseTable<'a>> {
    let phases = windowed_phases(analysis.book).into_iter();
    phases.flat_map(|phase| tables(analysis, phase)).filter(|table| table.rows.len() > 1).collect()
}

fn tables<'a>(analysis: &RunFigures<'a>, phase: &'a str) -> Vec<CourseTable<'a>> {
    let book = analysis.book;
    let Some(level) = levels_of(book, phase).last().copied() else { return Vec::new() };
    let names = variants(book);
    let cell = |name: &&str| -> Vec<&Measurement> {
        let own = |m: &&Measurement| {
            m.phase == phase && m.cell.variant == **name && m.cell.level.as_ref() == level
        };
        book.measurements.iter().filter(own).filter(|m| m.valid()).collect()
    };
    let all = names.iter().filter_map(|name| Some((*name, PartedCourse::new(&cell(name))?)));
    let all: Vec<(&str, PartedCourse)> = all.collect();
    let table = |ends: &Vec<u64>| {
        let beside: Vec<&(&str, PartedCourse)> =
            all.iter().filter(|(_, parted)| parted.ends == *ends).collect();
        let row = |(at, operations): (usize, &u64)| CourseTableRow {
            operations: *operations,
            start_up: at == 0 && beside.iter().all(|(_, parted)| parted.has_start_up),
            mean_ns: beside.iter().map(|(_, parted)| parted.means_ns[at]).collect(),
        };
        CourseTable {
            phase,
            level,
            variants: beside.iter().map(|(name, _)| *name).collect(),
            rows: ends.iter().enumerate().map(row).collect(),
        }
    };
    each_once(all.iter().map(|(_, parted)| &parted.ends)).into_iter().map(table).collect()
}

/// A phase of a variant in ten parts, or in its windows where they are fewer.
struct PartedCourse {
    /// Operations done when each part ends.
    ends: Vec<u64>,
    /// The mean over all measurements of each part, in nanoseconds.
    means_ns: Vec<f64>,
    /// Whether it has enough windows for a growth, which leaves the first part out.
    has_start_up: bool,
}

impl PartedCourse {
    /// None without a measurement whose windows all have figures.
    fn new(cell: &[&Measurement]) -> Option<Self> {
        let whole: Vec<&Measurement> =
            cell.iter().copied().filter(|m| has_whole_windows(m)).collect();
        let longest = whole.iter().map(|m| &m.windows).max_by_key(|windows| windows.len())?;
        let fewest = whole.iter().map(|m| m.windows.len()).min()?;
        let number = fewest.min(TENTHS);
        let part = |windows: usize, at: usize| tenths(windows, number).swap_remove(at);
        let end = |at| {
            let last = longest[part(longest.len(), at).end - 1];
            last.first.saturating_add(last.operations)
        };
        let mean_of = |at| {
            let own = whole.iter().map(|m| mean_ns(&m.windows[part(m.windows.len(), at)]));
            mean(&own.collect::<Vec<_>>())
        };
        Some(Self {
            ends: (0..number).map(end).collect(),
            means_ns: (0..number).map(mean_of).collect(),
            has_start_up: fewest >= WINDOWS_MIN,
        })
    }
}

/// Splits windows into parts; the first two parts and the last are the tenths that growth compares.
fn tenths(windows: usize, number: usize) -> Vec<Range<usize>> {
    let size = (windows / TENTHS).max(1);
    let middle = windows.saturating_sub(3 * size);
    let border = |at: usize| match at {
        0..=2 => at * size,
        _ if at == number => windows,
        _ => 2 * size + (at - 2) * middle / (number - 3),
    };
    (0..number).map(|at| border(at)..border(at + 1)).collect()
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
pub(crate) fn sliced<'a>(analysis: &RunFigures<'a>, phase: &str, most: usize) -> SlicedPhase<'a> {
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

/// What the rate of a row is averaged from: a value for each repeat, the geometric mean of its passes, or of
/// a single repeat one for each pass. Empty where there is only one measurement.
pub(crate) fn rate_values(
    analysis: &RunFigures<'_>,
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
        own && m.valid() && m.seconds.is_some()
    };
    let all: Vec<&Measurement> = of_variant.iter().filter(here).copied().collect();
    let mut numbers: Vec<u32> = all.iter().filter_map(|m| number(m)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let value = |wanted: u32| {
        let own = || all.iter().filter(|m| number(m) == Some(wanted));
        let n = own().count() as u64;
        let log = |m: &&&Measurement| per_second(m, row.rate_unit, m.durable_seconds()).ln();
        let rate = (own().map(|m| log(&m)).sum::<f64>() / n as f64).exp();
        let disturbed = own().any(|m| analysis.disturbed(m));
        rate.is_finite().then_some(RateValue { number: wanted, rate, n, disturbed })
    };
    numbers.into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests;
