//! Selects what counts of a run, and takes from it the values that effects are made of: natural logarithms of times.
//!
//! A time is the seconds of one operation, sync included; of one byte where operations are large; of one byte of entries
//! in a listing. The time of a work in a mix is its mean latency. Passes of a repeat are averaged.

use std::collections::{BTreeMap, BTreeSet};

use super::statistics::describe::mean;
use super::summary::leads;
use super::thresholds::WORK_SAME;
use boatload_base::distinct::each_once;
use boatload_op::OWN_ENTRIES_BYTES;
use boatload_results::book::{Book, Level, Measurement, REACHED_LIMIT};
use boatload_results::content::{bulk_phases, is_listing, leaves_unwritten};
use boatload_results::order::PhaseCell;

/// No phase is shorter or longer.
const SECONDS: std::ops::RangeInclusive<f64> = 1e-9..=1e12;

/// Logarithms of times, by repeat.
pub(super) type LogTimes = BTreeMap<u32, f64>;

/// The times of all variants in one phase, or in the whole job, at one level.
#[derive(Clone, Debug)]
pub(super) struct TimeTable<'a> {
    /// The phase; none for the whole job.
    pub(super) phase: Option<&'a str>,
    /// The level; none without an axis.
    pub(super) level: Option<&'a Level>,
    /// Variants with a measurement that counts.
    pub(super) rows: Vec<TimeRow<'a>>,
    /// Variants that were measured without any measurement that counts.
    pub(super) left_out: Vec<LeftOutVariant>,
    /// Whether content was left that the device had not when a phase ended.
    pub(super) unwritten: bool,
}

/// The times of one variant.
#[derive(Clone, Debug)]
pub(super) struct TimeRow<'a> {
    /// Its name.
    pub(super) variant: &'a str,
    /// Of each repeat.
    pub(super) times: LogTimes,
    /// What was found of the caches, each once.
    pub(super) caches: Vec<&'a str>,
}

impl TimeRow<'_> {
    /// The mean of the logarithms.
    pub(super) fn mean(&self) -> f64 {
        mean(&self.times.values().copied().collect::<Vec<_>>())
    }
}

/// A variant that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutVariant {
    pub(super) variant: String,
    pub(super) reason: String,
}

/// The times of a phase of a variant over an axis, of the repeats that have all levels.
#[derive(Clone, Debug)]
pub(super) struct TimeSeries<'a> {
    pub(super) phase: &'a str,
    pub(super) variant: &'a str,
    /// Two or more, lowest first.
    pub(super) levels: Vec<&'a Level>,
    /// By repeat: the logarithm of the time at each level.
    pub(super) repeats: BTreeMap<u32, Vec<f64>>,
}

/// The measurements that count, and the variants in the job file's order.
pub struct Observations<'a> {
    book: &'a Book,
    measurements: Vec<&'a Measurement>,
    /// Those that do not count.
    others: Vec<&'a Measurement>,
    variants: Vec<&'a str>,
    /// The phases whose operations move so much that times are given for a byte.
    bulk: BTreeSet<&'a str>,
}

/// A phase of a variant at a level none of whose measurements counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UncountedCell<'a> {
    pub phase: &'a str,
    pub variant: &'a str,
    pub level: Option<&'a Level>,
    /// Why, in a few words.
    pub why: &'static str,
}

/// All such cells of a run, in the order they were first measured.
pub(crate) fn uncounted_cells(book: &Book) -> Vec<UncountedCell<'_>> {
    let all = Observations::new(book, &[]);
    let keys = all.others.iter().map(|m| (&*m.phase, &*m.cell.variant, m.cell.level.as_ref()));
    let uncounted = each_once(keys).into_iter().filter_map(|(phase, variant, level)| {
        let why = all.why_uncounted(phase, variant, level);
        let is_empty = all.cell(phase, variant, level).is_empty();
        is_empty.then_some(UncountedCell { phase, variant, level, why })
    });
    uncounted.collect()
}

impl<'a> Observations<'a> {
    /// Leaves out what is not valid, what no rate or level can be made of, cells with a measurement that took as long
    /// as a phase may, for their others are the quick ones, and what was written until the unmount, which belongs to
    /// the whole job.
    pub(super) fn new(book: &'a Book, variants: &[&'a str]) -> Self {
        // A mix whose works have workers of their own is no measure: it is made of more of the quicker ones.
        let is_blend = |m: &Measurement| !m.is_part() && m.is_mix() && !leads(book, m);
        let all = book.measurements.iter().filter(|m| !m.is_settle());
        let all = all.filter(|m| !m.is_step() && !is_blend(m));
        let limited: Vec<&Measurement> = all.clone().filter(|m| m.reached_limit()).collect();
        let is_limited = |m: &Measurement| {
            let of = |other: &&Measurement| {
                is_of(m, &other.phase, &other.cell.variant, other.cell.level.as_ref())
            };
            limited.iter().any(of)
        };
        let (measurements, others): (Vec<_>, Vec<_>) =
            all.partition(|m| is_counted(m) && !is_limited(m));
        let has = |name: &&str| measurements.iter().any(|m| m.cell.variant == **name);
        let variants = variants.iter().copied().filter(has).collect();
        let bulk = bulk_phases(book.measurements.iter());
        Self { book, measurements, others, variants, bulk }
    }

    /// The phases in the order they were first measured.
    pub(super) fn phases(&self) -> Vec<&'a str> {
        each_once(self.measurements.iter().map(|m| m.phase.as_str()))
    }

    /// The variants whose measurements of a phase at a level do not count, by name.
    pub(super) fn uncounted(&self, phase: &str, level: Option<&Level>) -> Vec<&'a str> {
        let here = |m: &&&Measurement| m.phase == phase && m.cell.level.as_ref() == level;
        let mut names = each_once(self.others.iter().filter(here).map(|m| &*m.cell.variant));
        names.retain(|name| self.cell(phase, name, level).is_empty());
        names.sort_unstable();
        names
    }

    /// Why none of a variant's measurements of a phase at a level counts.
    pub(super) fn why_uncounted(
        &self,
        phase: &str,
        variant: &str,
        level: Option<&Level>,
    ) -> &'static str {
        match self.others.iter().any(|m| is_of(m, phase, variant, level) && m.reached_limit()) {
            true => REACHED_LIMIT,
            false => "no valid measurement",
        }
    }

    /// The levels of a phase, lowest first; none for measurements without an axis.
    pub(super) fn levels(&self, phase: &str) -> Vec<Option<&'a Level>> {
        let own = self.measurements.iter().filter(|m| m.phase == phase);
        lowest_first(own.map(|m| m.cell.level.as_ref()))
    }

    /// The measurements of one phase of one variant at one level.
    pub(super) fn cell(
        &self,
        phase: &str,
        variant: &str,
        level: Option<&Level>,
    ) -> Vec<&'a Measurement> {
        let all = self.measurements.iter().copied();
        all.filter(|m| is_of(m, phase, variant, level)).collect()
    }

    /// All that have measurements, by phase, then by variant.
    pub(super) fn cells(&self) -> Vec<PhaseCell<'a>> {
        let mut cells = Vec::new();
        for phase in self.phases() {
            let levels = self.levels(phase);
            for variant in self.variants.iter().copied() {
                for level in levels.iter().copied() {
                    let measurements = self.cell(phase, variant, level);
                    cells.push(PhaseCell { phase, variant, level, measurements });
                }
            }
        }
        cells.retain(|cell| !cell.measurements.is_empty());
        cells
    }

    /// The times of each phase at each level, whatever the number of variants.
    pub(super) fn tables(&self) -> Vec<TimeTable<'a>> {
        let of_phase = |phase: &'a str| {
            let levels = self.levels(phase).into_iter();
            levels.map(move |level| self.table(phase, level))
        };
        self.phases().into_iter().flat_map(of_phase).collect()
    }

    fn table(&self, phase: &'a str, level: Option<&'a Level>) -> TimeTable<'a> {
        let cells = self.variants.iter().map(|name| (*name, self.cell(phase, name, level)));
        let cells: Vec<_> = cells.filter(|(_, cell)| !cell.is_empty()).collect();
        let row = |(variant, cell): &(&'a str, Vec<&'a Measurement>)| TimeRow {
            variant,
            times: self.log_times(cell),
            caches: caches_found(cell),
        };
        let left_out = self.uncounted(phase, level).into_iter().map(|variant| LeftOutVariant {
            variant: variant.into(),
            reason: self.why_uncounted(phase, variant, level).into(),
        });
        let measurements = cells.iter().flat_map(|(_, cell)| cell);
        TimeTable {
            phase: Some(phase),
            level,
            rows: cells.iter().map(row).collect(),
            left_out: left_out.collect(),
            unwritten: measurements.into_iter().any(|m| leaves_unwritten(m)),
        }
    }

    fn log_times(&self, cell: &[&Measurement]) -> LogTimes {
        let log = |m: &Measurement| {
            let in_bytes = self.bulk.contains(m.phase.as_str());
            let seconds = seconds_of_work(m, Measurement::durable_seconds);
            Some((seconds / units_of_work(m, in_bytes)).ln())
        };
        log_by_repeat(cell, log)
    }

    /// The times of all phases together at each level at which there are two phases or more, and variants did the same
    /// work in them. A work is part of its mix; a mix at a rate takes the time that was asked, so there is none with one.
    pub(super) fn jobs(&self) -> Vec<TimeTable<'a>> {
        let all = self.book.measurements.iter();
        let known = all.filter(|m| m.cell.level.as_ref().is_none_or(|l| l.value.is_finite()));
        let known = known.filter(|m| !m.is_part());
        let known: Vec<&Measurement> = known.collect();
        if known.iter().any(|m| m.turns_per_second_asked.is_some()) {
            return Vec::new();
        }
        let levels = lowest_first(known.iter().map(|m| m.cell.level.as_ref()));
        levels.into_iter().filter_map(|level| self.job(&known, level)).collect()
    }

    fn job(&self, all: &[&'a Measurement], level: Option<&'a Level>) -> Option<TimeTable<'a>> {
        let here = all.iter().copied().filter(|m| m.cell.level.as_ref() == level);
        let here: Vec<&Measurement> = here.collect();
        // What ends after a time takes as long everywhere, so that a sum with it says little.
        if here.iter().any(|m| m.duration_seconds.is_some()) {
            return None;
        }
        let phases = each_once(here.iter().map(|m| m.phase.as_str()));
        let (mut rows, mut left_out, mut work) = (Vec::new(), Vec::new(), Vec::new());
        let mut counted: Vec<&Measurement> = Vec::new();
        for variant in each_once(self.variants.iter().copied()) {
            let cell = here.iter().copied().filter(|m| m.cell.variant == variant);
            let cell: Vec<&Measurement> = cell.collect();
            let jobs = whole_jobs(&cell, &phases);
            if jobs.is_empty() {
                left_out
                    .push(LeftOutVariant { variant: variant.into(), reason: why_left_out(&cell) });
            } else {
                let times = jobs.iter().map(|job| (job.repeat, job.seconds.ln())).collect();
                rows.push(TimeRow { variant, times, caches: caches_found(&cell) });
                counted.extend(cell.iter().filter(|m| is_counted(m)));
            }
            work.extend(jobs.into_iter().map(|job| job.operations));
        }
        // In phases that end after a time, or on what a history left, a slow one has less to do.
        let is_same_work = each_once(work.into_iter()).len() == 1 && self.move_alike(&counted);
        // What is written until the unmount is part of the job then.
        let has_settle = here.iter().any(|m| m.is_settle());
        let unwritten = !has_settle && here.iter().any(|m| leaves_unwritten(m));
        let is_known = phases.len() > 1 && is_same_work;
        is_known.then_some(TimeTable { phase: None, level, rows, left_out, unwritten })
    }

    /// Whether an operation moves as many bytes in each of these measurements, phase by phase where they move many.
    fn move_alike(&self, all: &[&Measurement]) -> bool {
        self.bulk.iter().all(|phase| {
            let own = all.iter().filter(|m| m.phase == *phase && !is_listing(m));
            let bytes = own.map(|m| m.bytes.unwrap_or(0) as f64 / m.operations as f64);
            let bytes: Vec<f64> = bytes.collect();
            let end = |of: fn(f64, f64) -> f64| bytes.iter().copied().reduce(of);
            end(f64::max) <= end(f64::min).map(|least| least * (1.0 + WORK_SAME))
        })
    }

    /// The times of each phase of each variant over the axis, of repeats that have all levels. Phases with windows are left
    /// out: their growth is told.
    pub(super) fn series(&self) -> Vec<TimeSeries<'a>> {
        let has_windows = |phase: &str| {
            self.measurements.iter().any(|m| m.phase == phase && !m.windows.is_empty())
        };
        let tables = self.tables();
        let mut all = Vec::new();
        for phase in self.phases().into_iter().filter(|phase| !has_windows(phase)) {
            for variant in self.variants.iter().copied() {
                let own = tables.iter().filter(|table| table.phase == Some(phase));
                let cells = own.filter_map(|table| {
                    let row = table.rows.iter().find(|row| row.variant == variant)?;
                    Some((table.level?, &row.times))
                });
                all.extend(TimeSeries::new(phase, variant, &cells.collect::<Vec<_>>()));
            }
        }
        all
    }
}

impl<'a> TimeSeries<'a> {
    /// None without two levels that a repeat has.
    fn new(phase: &'a str, variant: &'a str, cells: &[(&'a Level, &LogTimes)]) -> Option<Self> {
        let [(_, first), _, ..] = cells else { return None };
        let of_repeat = |repeat: &u32| {
            let times = cells.iter().map(|(_, times)| times.get(repeat).copied());
            Some((*repeat, times.collect::<Option<Vec<f64>>>()?))
        };
        let repeats: BTreeMap<u32, Vec<f64>> = first.keys().filter_map(of_repeat).collect();
        let levels = cells.iter().map(|(level, _)| *level).collect();
        (!repeats.is_empty()).then_some(Self { phase, variant, levels, repeats })
    }

    /// The log ratios of the level at this place to the lowest, repeat by repeat.
    pub(super) fn ratios(&self, at: usize) -> Vec<f64> {
        self.repeats.values().map(|times| times[at] - times[0]).collect()
    }
}

/// The time that the operations of a measurement took. Operations of a work lie between operations of other works, and
/// at a rate all turns have pauses between them: then it is the sum of latencies.
pub(super) fn seconds_of_work(m: &Measurement, of_phase: impl Fn(&Measurement) -> f64) -> f64 {
    match m.latency.filter(|_| is_timed_by_latency(m)) {
        Some(latency) => latency.mean / 1e9 * m.operations as f64,
        None => of_phase(m),
    }
}

/// Whether the time of its operations is the sum of their latencies, and its rate says nothing of it.
pub(super) fn is_timed_by_latency(m: &Measurement) -> bool {
    m.is_part() || m.turns_per_second_asked.is_some()
}

/// What the time of a measurement is divided by: its operations, its bytes, or the bytes of entries that it listed.
pub(super) fn units_of_work(m: &Measurement, in_bytes: bool) -> f64 {
    let bytes = m.bytes.unwrap_or(0);
    let units = match m.operations {
        many if is_listing(m) => bytes.saturating_sub(OWN_ENTRIES_BYTES * many).max(1),
        _ if in_bytes => bytes,
        many => many,
    };
    units as f64
}

/// A logarithm for each repeat, the mean of its passes; of measurements that have one.
pub(super) fn log_by_repeat(
    cell: &[&Measurement],
    log: impl Fn(&Measurement) -> Option<f64>,
) -> LogTimes {
    let mut passes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for m in cell {
        let log = log(m).filter(|log| log.is_finite());
        log.into_iter().for_each(|log| passes.entry(m.cell.repeat).or_default().push(log));
    }
    passes.into_iter().map(|(repeat, logs)| (repeat, mean(&logs))).collect()
}

/// One repeat of a variant with all its phases valid: the time of all of them with their syncs, which
/// is what a user waits for.
pub(super) struct WholeJob {
    pub(super) repeat: u32,
    pub(super) seconds: f64,
    /// Operations of each phase, in the mean of its passes.
    pub(super) operations: Vec<u64>,
}

/// The repeats of a cell whose phases are all valid; empty if one took as long as a phase may, for the others are
/// the quick ones.
pub(super) fn whole_jobs(cell: &[&Measurement], phases: &[&str]) -> Vec<WholeJob> {
    if cell.iter().any(|m| m.reached_limit()) {
        return Vec::new();
    }
    let repeats = each_once(cell.iter().map(|m| m.cell.repeat));
    repeats.into_iter().filter_map(|repeat| whole_job(cell, phases, repeat)).collect()
}

/// Each phase by the mean of its passes; repeats may have unlike numbers of them; none unless all
/// are valid.
fn whole_job(cell: &[&Measurement], phases: &[&str], repeat: u32) -> Option<WholeJob> {
    let (mut seconds, mut operations) = (0.0, Vec::new());
    for phase in phases {
        let is = |m: &&&Measurement| m.cell.repeat == repeat && m.phase == *phase;
        let passes: Vec<&Measurement> = cell.iter().filter(is).copied().collect();
        if passes.is_empty() || !passes.iter().all(|m| is_counted(m)) {
            return None;
        }
        let n = passes.len() as f64;
        seconds += passes.iter().map(|m| m.durable_seconds()).sum::<f64>() / n;
        operations.push(passes.iter().map(|m| m.operations).sum::<u64>() / passes.len() as u64);
    }
    Some(WholeJob { repeat, seconds, operations })
}

/// Why a variant has no whole repeat.
fn why_left_out(cell: &[&Measurement]) -> String {
    if let Some(limited) = cell.iter().find(|m| m.reached_limit()) {
        return format!("{} {REACHED_LIMIT}", limited.phase);
    }
    let invalid = each_once(cell.iter().filter(|m| !m.valid()).map(|m| m.phase.as_str()));
    match invalid.as_slice() {
        [] => "not all phases were measured".into(),
        [one] => format!("{one} is invalid"),
        many => format!("{} are invalid", many.join(", ")),
    }
}

fn caches_found<'a>(cell: &[&'a Measurement]) -> Vec<&'a str> {
    let mut caches = each_once(cell.iter().map(|m| m.cache.found.as_str()));
    caches.sort_unstable();
    caches
}

/// Levels each once, lowest first; none, of measurements without an axis, before all.
pub(super) fn lowest_first<'a>(
    levels: impl Iterator<Item = Option<&'a Level>>,
) -> Vec<Option<&'a Level>> {
    let mut levels = each_once(levels);
    let height = |level: &Option<&Level>| level.map_or(f64::NEG_INFINITY, |level| level.value);
    levels.sort_by(|a, b| height(a).total_cmp(&height(b)));
    levels
}

fn is_of(m: &Measurement, phase: &str, variant: &str, level: Option<&Level>) -> bool {
    (&*m.phase, &*m.cell.variant, m.cell.level.as_ref()) == (phase, variant, level)
}

/// Whether it is valid, and a rate and a level can be made of it.
pub(super) fn is_counted(m: &Measurement) -> bool {
    let has_level = m.cell.level.as_ref().is_none_or(|level| level.value.is_finite());
    let has_seconds = m.seconds.is_some_and(|seconds| SECONDS.contains(&seconds));
    let has_sync = m.sync_seconds.is_none_or(|sync| (0.0..*SECONDS.end()).contains(&sync));
    m.valid() && m.operations > 0 && has_seconds && has_sync && has_level
}
