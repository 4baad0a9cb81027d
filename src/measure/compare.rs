//! One run against another: for each phase how many times faster the second was, and whether that is
//! more than chance. METHODOLOGY.md states the criteria.

mod latency;

use super::between::{Between, groups};
use super::book::{Book, Level, Measurement};
use super::conclusions::ratio::{Rate, Ratio};
use super::differences::job_lines;
use super::matching::{Key, Matching, Run};
use super::order::each_once;
use super::rates::{Timed, job_time, phase_rate, phases, synced};
use super::summary::PhaseSummary;
use super::tails::{LatencySummary, Quantile};
use super::uncertainty::Estimate;
use crate::base::units::Unit;
pub use latency::LatencyPair;
use latency::latencies;

/// The chance with which an interval misses the truth.
pub(super) const MISS: f64 = 0.05;

/// Work that differs by less is the same.
const WORK_SAME: f64 = 0.01;

/// A run against another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// What both measured: for each variant and level the whole job, if both did the same, and then
    /// its phases.
    pub rows: Vec<ComparedRow>,
    /// Phases of which only one of them has a valid figure.
    pub alone: Vec<Alone>,
    /// How many other runs of what they did were there to tell of the spread between runs.
    pub others: usize,
}

/// What is compared in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The variant; none if each run has only one.
    pub variant: Option<String>,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// The phase; none for the whole job.
    pub phase: Option<String>,
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Operations per second.
    Operations,
    /// Bytes per second.
    Bytes,
    /// Seconds of a whole job.
    Seconds,
}

/// A phase or the whole job in both runs, A and B.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRow {
    /// What it is.
    pub subject: Subject,
    /// What `sides` are.
    pub figure: Figure,
    /// Whether the time of the sync at the end is in it.
    pub with_sync: bool,
    /// The figures of A and B.
    pub sides: [Estimate; 2],
    /// How many times as fast B was.
    pub ratio: f64,
    /// Its 95% interval; none if the error of a side is unknown.
    pub interval: Option<[f64; 2]>,
    /// Whether the spread between other runs made it wider than their own repeats do.
    pub between: bool,
    /// What that comes to.
    pub verdict: Verdict,
    /// The least difference, as a share, that would have been seen; none without an interval.
    pub seen_from: Option<f64>,
    /// What was done in A and B, if it was not the same.
    pub work: Option<[Work; 2]>,
    /// What was found of the caches of A and B, if it was not the same; of the whole job that of
    /// the first such phase.
    pub caches: Option<[String; 2]>,
    /// Whether something disturbed measurements of A and B; of the whole job any of its phases.
    pub disturbed: [bool; 2],
    /// Latencies of A and B; none for the whole job.
    pub tails: [Option<LatencySummary>; 2],
    /// Quantiles of them, against each other; empty for the whole job.
    pub latencies: Vec<LatencyPair>,
}

/// What a difference comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B was faster.
    Faster,
    /// B was slower.
    Slower,
    /// The interval holds both.
    NoDifference,
    /// There is no interval.
    CannotTell,
}

/// How much a phase did, in the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Operations.
    pub operations: f64,
    /// Bytes of content that each moved.
    pub bytes_each: f64,
}

/// A phase of which only one run has a valid figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    /// What it is.
    pub subject: Subject,
    /// Which run has it, from 0; none if none has.
    pub side: Option<usize>,
    /// Whether the other measured it and all of that is invalid.
    pub invalid: bool,
}

impl Figure {
    /// Of a rate in this unit.
    pub(super) fn of(unit: Unit) -> Self {
        if unit == Unit::Bytes { Self::Bytes } else { Self::Operations }
    }
}

impl Verdict {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference seen",
            Self::CannotTell => "cannot tell",
        }
    }

    /// The same of times, of which less is faster.
    fn of_times(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            other => other,
        }
    }

    pub(super) fn of(ratio: &Ratio) -> Self {
        match (ratio.half, ratio.tie()) {
            (None, _) => Self::CannotTell,
            (_, true) => Self::NoDifference,
            _ if ratio.log > 0.0 => Self::Faster,
            _ => Self::Slower,
        }
    }
}

impl Comparison {
    /// How many rows have an interval.
    pub fn told(&self) -> usize {
        self.rows.iter().filter(|row| row.interval.is_some()).count()
    }

    /// How many of them would differ by chance if nothing did.
    pub fn by_chance(&self) -> f64 {
        MISS * self.told() as f64
    }

    /// Rows with this verdict.
    pub fn with(&self, verdict: Verdict) -> Vec<&ComparedRow> {
        self.rows.iter().filter(|row| row.verdict == verdict).collect()
    }
}

/// The second run against the first, by their own repeats alone.
pub fn compare(a: &Book, b: &Book) -> Comparison {
    compare_among(a, b, &[])
}

/// The second run against the first. Among `others`, in the order of time, are more runs of what they
/// did: where runs lie further apart than the repeats of one do, the intervals know it from these.
pub fn compare_among(a: &Book, b: &Book, others: &[&Book]) -> Comparison {
    let keys = Matching::of(&[a, b]).keys;
    let books: Vec<&Book> = [a, b].into_iter().chain(others.iter().copied()).collect();
    let runs = Matching::of(&books).runs;
    let [of_a, of_b, rest @ ..] = runs.as_slice() else { return Comparison::default() };
    let groups = groups([a, b], others);
    let pick = |at: &usize| rest.get(*at);
    let groups: Vec<Vec<&Run>> =
        groups.iter().map(|group| group.iter().filter_map(pick).collect()).collect();
    let others = groups.iter().map(Vec::len).sum();
    Pair { a: of_a, b: of_b, groups }.compared(&keys, others)
}

/// Two runs, with others of what they did.
struct Pair<'a, 'b> {
    a: &'a Run<'b>,
    b: &'a Run<'b>,
    groups: Vec<Vec<&'a Run<'b>>>,
}

impl Pair<'_, '_> {
    fn compared(&self, keys: &[Key], others: usize) -> Comparison {
        let mut comparison = Comparison { others, ..Comparison::default() };
        for (variant, level) in each_once(keys.iter().map(|key| (&key.variant, &key.level))) {
            let here = keys.iter().filter(|key| (&key.variant, &key.level) == (variant, level));
            let mut rows = Vec::new();
            let mut same = true;
            for key in here.clone() {
                match self.row(key) {
                    Ok(row) => {
                        same &= row.work.is_none();
                        rows.push(row);
                    }
                    Err(alone) => comparison.alone.push(alone),
                }
            }
            let whole = here.into_iter().next().filter(|_| same).and_then(|key| self.whole(key));
            let caches = rows.iter().find_map(|row| row.caches.clone());
            let disturbed = [0, 1].map(|side| rows.iter().any(|row| row.disturbed[side]));
            comparison.rows.extend(whole.map(|whole| ComparedRow { caches, disturbed, ..whole }));
            comparison.rows.extend(rows);
        }
        comparison
    }

    /// The spread of a figure between the other runs.
    fn between(&self, of: impl Fn(&Run<'_>) -> Option<Rate>) -> Option<Between> {
        let logs = |group: &Vec<&Run<'_>>| {
            group.iter().filter_map(|run| of(run)).map(|rate| rate.log).collect::<Vec<f64>>()
        };
        Between::of(&self.groups.iter().map(logs).collect::<Vec<_>>())
    }

    fn row(&self, key: &Key) -> Result<ComparedRow, Alone> {
        let (a, b) = (self.a, self.b);
        let members = [a, b].map(|run| run.measurements(key).collect::<Vec<_>>());
        let with_sync = synced(members.iter().flatten().copied());
        let found = [a, b].map(|run| run.row(key));
        let unit = common_unit(&found);
        let timed = members.each_ref().map(|members| phase_rate(members, unit, with_sync));
        let subject = subject(key, Some(key.phase.clone()));
        let [Some(of_a), Some(of_b)] = timed else {
            let side = timed.iter().position(Option::is_some);
            let without = |(at, row): (usize, &Option<&PhaseSummary>)| {
                timed[at].is_none() && row.is_some_and(|row| !row.invalid.is_empty())
            };
            let invalid = found.iter().enumerate().any(without);
            return Err(Alone { subject, side, invalid });
        };
        let caches = found.map(|row| row.map(|row| row.cache.clone()).unwrap_or_default());
        let between = self.between(|run| {
            let members: Vec<&Measurement> = run.measurements(key).collect();
            Some(phase_rate(&members, unit, with_sync)?.rate)
        });
        let latency = |quantile: Quantile| {
            self.between(|run| latency::logs(quantile, &run.measurements(key).collect::<Vec<_>>()))
        };
        Ok(ComparedRow {
            with_sync,
            work: if same_job(a.book, b.book) { None } else { work(&members) },
            caches: (caches[0] != caches[1]).then_some(caches),
            disturbed: found.map(|row| row.is_some_and(|row| row.disturbed > 0)),
            latencies: latencies(&found.map(|row| row.and_then(|row| row.tail)), &members, latency),
            tails: found.map(|row| row.and_then(|row| row.tail)),
            ..judged(subject, Figure::of(unit), [&of_a, &of_b], between)
        })
    }

    fn whole(&self, key: &Key) -> Option<ComparedRow> {
        let cells = [self.a, self.b].map(|run| run.cell(key).collect::<Vec<_>>());
        let phases = phases(&cells)?;
        let (of_a, mut work) = job_time(&cells[0], &phases)?;
        let (of_b, more) = job_time(&cells[1], &phases)?;
        work.extend(more);
        if each_once(work.iter()).len() != 1 {
            return None;
        }
        let between = self.between(|run| {
            let cell: Vec<&Measurement> = run.cell(key).collect();
            let (timed, of_run) = job_time(&cell, &phases)?;
            (each_once(of_run.into_iter().chain(work.iter().cloned())).len() == 1)
                .then_some(timed.rate)
        });
        Some(judged(subject(key, None), Figure::Seconds, [&of_a, &of_b], between))
    }
}

/// Both in bytes if both can be.
pub(super) fn common_unit(rows: &[Option<&PhaseSummary>]) -> Unit {
    let mut units = rows.iter().flatten().filter(|row| row.rate.is_some()).map(|row| row.rate_unit);
    if units.all(|unit| unit == Unit::Bytes) { Unit::Bytes } else { Unit::Count }
}

fn judged(
    subject: Subject,
    figure: Figure,
    [a, b]: [&Timed; 2],
    between: Option<Between>,
) -> ComparedRow {
    let (ratio, between) = ratio([&b.rate, &a.rate], between);
    ComparedRow {
        subject,
        figure,
        with_sync: true,
        sides: [a.shown, b.shown],
        ratio: ratio.times(),
        interval: ratio.interval(),
        between,
        verdict: Verdict::of(&ratio),
        seen_from: ratio.half.map(f64::exp_m1),
        work: None,
        caches: None,
        disturbed: [false; 2],
        tails: [None, None],
        latencies: Vec::new(),
    }
}

/// How many times as large the first is, and whether the spread between runs makes that less sure
/// than their repeats do.
fn ratio([a, b]: [&Rate; 2], between: Option<Between>) -> (Ratio, bool) {
    Ratio::welch(&a.centre(b), &b.centre(a), MISS).no_surer_than(between, MISS)
}

pub(super) fn subject(key: &Key, phase: Option<String>) -> Subject {
    Subject { variant: key.variant.clone(), level: key.level.clone(), phase }
}

/// Whether both were asked for the same; then a phase that ends after a time may still do more.
fn same_job(a: &Book, b: &Book) -> bool {
    let published = a.run.reference.is_some() || b.run.reference.is_some();
    !published && a.run.parameters == b.run.parameters && job_lines(a) == job_lines(b)
}

fn work(members: &[Vec<&Measurement>; 2]) -> Option<[Work; 2]> {
    let of = |members: &Vec<&Measurement>| {
        let sum = |of: fn(&Measurement) -> u64| members.iter().map(|m| of(m) as f64).sum::<f64>();
        let operations = sum(|m| m.operations);
        let bytes_each = sum(|m| m.bytes) / operations.max(1.0);
        Work { operations: operations / members.len().max(1) as f64, bytes_each }
    };
    let [a, b] = members.each_ref().map(of);
    // Nobody publishes the bytes of a stat.
    let bytes_same = a.bytes_each * b.bytes_each == 0.0 || near(a.bytes_each, b.bytes_each);
    (!near(a.operations, b.operations) || !bytes_same).then_some([a, b])
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= WORK_SAME * a.max(b)
}

#[cfg(test)]
mod tests;
