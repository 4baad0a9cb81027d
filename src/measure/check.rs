//! Whether a run is slower than a baseline by more than may be: an answer that a script can act on.
//! METHODOLOGY.md states the criteria.

mod baseline;

use super::between::{Between, groups};
use super::book::{Book, Measurement};
use super::compare::{Figure, Subject, common_unit, subject};
use super::conclusions::ratio::Ratio;
use super::matching::{Key, Matching, Run};
use super::order::each_once;
use super::rates::{Timed, job_time, phase_rate, phases, synced};
use super::uncertainty::Estimate;
use baseline::Baseline;

/// The chance with which any of all intervals misses the truth.
const MISS: f64 = 0.05;

/// A run held against a baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    /// What may be slower: 0.05 for 5%.
    pub fail_on: f64,
    /// For each variant and level the whole job, if all did the same, and then its phases.
    pub rows: Vec<CheckedRow>,
    /// What only the baseline or only the run has.
    pub not_in_both: Vec<Subject>,
    /// How many other runs of what they did tell how far two runs lie apart; of a history none does,
    /// for it tells so itself.
    pub others: usize,
}

/// A phase or the whole job.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedRow {
    /// What it is.
    pub subject: Subject,
    /// What the figures are.
    pub figure: Figure,
    /// Whether the time of the sync at the end is in it.
    pub with_sync: bool,
    /// What comes of it.
    pub outcome: Outcome,
    /// The figure of the run; none if it has no valid one.
    pub run: Option<Estimate>,
    /// The figure of the baseline: the geometric mean of its runs.
    pub baseline: f64,
    /// How many times as long the run took; none if it has no valid figure.
    pub slowdown: Option<f64>,
    /// Its interval, which holds together with those of all rows at 95%; none if an error is
    /// unknown.
    pub interval: Option<[f64; 2]>,
    /// Whether the spread between other runs made it wider.
    pub between: bool,
    /// The first of the runs that make the baseline, as a place in `points`.
    pub since: usize,
    /// How many runs make the baseline.
    pub runs: usize,
    /// The runs of the history that have it, oldest first.
    pub points: Vec<Point>,
}

/// What comes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not slower by more than may be.
    Ok,
    /// Slower by more, in the whole interval.
    Regression,
    /// Slower by more, but the interval reaches below it, or there is none.
    Unsure,
    /// All that the run measured of it is invalid.
    Invalid,
    /// The run ended before it.
    Missing,
}

/// A run of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its place in the baseline's books.
    pub book: usize,
    /// Its figure.
    pub value: f64,
    /// What it is to the baseline.
    pub mark: Mark,
}

/// What a run of the history is to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It lies before the last step.
    Earlier,
    /// The first after a step.
    Step,
    /// It is one of those that make the baseline.
    Baseline,
    /// It lies too far from the others.
    Odd,
}

impl Outcome {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Regression => "REGRESSION",
            Self::Unsure => "unsure",
            Self::Invalid => "invalid",
            Self::Missing => "missing",
        }
    }
}

impl Mark {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Earlier => "earlier",
            Self::Step => "step",
            Self::Baseline => "baseline",
            Self::Odd => "odd",
        }
    }
}

impl Check {
    /// Rows of which this comes.
    pub fn with(&self, outcome: Outcome) -> impl Iterator<Item = &CheckedRow> {
        self.rows.iter().filter(move |row| row.outcome == outcome)
    }

    /// Rows that are good, and might be even if the run were slower by more than may be.
    pub fn blind(&self) -> impl Iterator<Item = &CheckedRow> {
        let most = 1.0 + self.fail_on;
        self.with(Outcome::Ok).filter(move |row| row.interval.is_some_and(|[_, high]| high > most))
    }
}

/// A figure in all runs; the first is the one that is checked.
struct Metric {
    row: CheckedRow,
    run: Option<Timed>,
    /// With their places among the baseline's books.
    earlier: Vec<(usize, Timed)>,
    /// Of each other run, as far as it has one.
    others: Vec<Option<Timed>>,
}

/// A run against the runs of a baseline, oldest first; `fail_on` is the slowdown that may be.
pub fn check(run: &Book, baseline: &[&Book], fail_on: f64) -> Check {
    check_among(run, baseline, &[], fail_on)
}

/// The same. Among `others`, in the order of time, are more runs of what the run or a single baseline
/// did; a history has the spread between runs in itself.
pub fn check_among(run: &Book, baseline: &[&Book], others: &[&Book], fail_on: f64) -> Check {
    let held: Vec<&Book> = [run].into_iter().chain(baseline.iter().copied()).collect();
    let keys = Matching::of(&held).keys;
    let groups = match baseline {
        [only] => groups([only, run], others),
        _ => Vec::new(),
    };
    let books: Vec<&Book> = held.iter().copied().chain(others.iter().copied()).collect();
    let runs = Matching::of(&books).runs;
    let others = groups.iter().map(Vec::len).sum();
    let mut check = Check { fail_on, others, ..Check::default() };
    let mut metrics = Vec::new();
    for (variant, level) in each_once(keys.iter().map(|key| (&key.variant, &key.level))) {
        let here: Vec<&Key> =
            keys.iter().filter(|key| (&key.variant, &key.level) == (variant, level)).collect();
        metrics.extend(here.first().and_then(|key| whole(key, &runs, held.len())));
        for key in here {
            match phase(key, &runs, held.len()) {
                Some(metric) => metrics.push(metric),
                None => check.not_in_both.push(subject(key, Some(key.phase.clone()))),
            }
        }
    }
    let judged = metrics.iter().filter(|metric| metric.run.is_some()).count();
    let miss = MISS / judged.max(1) as f64;
    let judged = metrics.into_iter().map(|metric| metric.judged(&groups, miss, fail_on));
    check.rows = judged.collect();
    check
}

impl Metric {
    /// Of all runs, of which `held` are the checked one and its baseline. None if the baseline has
    /// nothing of it.
    fn of(
        subject: Subject,
        (figure, with_sync): (Figure, bool),
        mut timed: Vec<Option<Timed>>,
        held: usize,
    ) -> Option<Self> {
        let others = timed.split_off(held.min(timed.len()));
        let mut timed = timed.into_iter();
        let run = timed.next()?;
        let known = timed.enumerate().filter_map(|(at, timed)| Some((at, timed?)));
        let earlier: Vec<_> = known.collect();
        let row = CheckedRow {
            subject,
            figure,
            with_sync,
            outcome: Outcome::Missing,
            run: run.map(|run| run.shown),
            baseline: f64::NAN,
            slowdown: None,
            interval: None,
            between: false,
            since: 0,
            runs: 0,
            points: Vec::new(),
        };
        (!earlier.is_empty()).then_some(Self { row, run, earlier, others })
    }

    /// `groups` are places among the other runs.
    fn judged(self, groups: &[Vec<usize>], miss: f64, fail_on: f64) -> CheckedRow {
        let between = self.between(groups);
        let Self { mut row, run, earlier, .. } = self;
        let value = |log: f64| if row.figure == Figure::Seconds { (-log).exp() } else { log.exp() };
        let baseline =
            Baseline::of(&earlier.iter().map(|(_, timed)| timed.rate).collect::<Vec<_>>());
        let point = |((book, timed), mark): (&(usize, Timed), &Mark)| Point {
            book: *book,
            value: value(timed.rate.log),
            mark: *mark,
        };
        row.points = earlier.iter().zip(&baseline.marks).map(point).collect();
        (row.baseline, row.since, row.runs) = (value(baseline.log), baseline.since, baseline.runs);
        let Some(run) = run else { return row };
        let (before, now) = baseline.against(&run.rate);
        let (ratio, wider) = Ratio::welch(&before, &now, miss).no_surer_than(between, miss);
        let most = 1.0 + fail_on;
        row.between = wider;
        row.slowdown = Some(ratio.times());
        row.interval = ratio.interval();
        row.outcome = match row.interval {
            Some([low, _]) if low > most => Outcome::Regression,
            Some(_) if ratio.times() <= most => Outcome::Ok,
            _ => Outcome::Unsure,
        };
        row
    }

    /// The spread between other runs.
    fn between(&self, groups: &[Vec<usize>]) -> Option<Between> {
        let log = |at: &usize| Some(self.others.get(*at)?.as_ref()?.rate.log);
        let logs = groups.iter().map(|group| group.iter().filter_map(log).collect());
        Between::of(&logs.collect::<Vec<Vec<f64>>>())
    }
}

fn phase(key: &Key, runs: &[Run<'_>], held: usize) -> Option<Metric> {
    let members: Vec<Vec<&Measurement>> =
        runs.iter().map(|run| run.measurements(key).collect()).collect();
    // Other runs are measured with the measure of those that are checked.
    let with_sync = synced(members.iter().take(held).flatten().copied());
    let unit = common_unit(&runs.iter().take(held).map(|run| run.row(key)).collect::<Vec<_>>());
    let timed = members.iter().map(|members| phase_rate(members, unit, with_sync)).collect();
    let subject = subject(key, Some(key.phase.clone()));
    let mut metric = Metric::of(subject, (Figure::of(unit), with_sync), timed, held)?;
    let checked = runs.first()?;
    match (metric.run, checked.row(key)) {
        (None, Some(_)) => metric.row.outcome = Outcome::Invalid,
        // Its job may have no such phase.
        (None, None) if checked.book.run.complete => return None,
        _ => {}
    }
    Some(metric)
}

/// Only runs that did the same work count, and none if the checked one did not do it all.
fn whole(key: &Key, runs: &[Run<'_>], held: usize) -> Option<Metric> {
    let cells: Vec<Vec<&Measurement>> = runs.iter().map(|run| run.cell(key).collect()).collect();
    let phases = phases(cells.get(..held)?)?;
    let mut jobs = cells.iter().map(|cell| job_time(cell, &phases));
    let (run, work) = jobs.next()??;
    let same = |job: Option<(Timed, Vec<Vec<u64>>)>| {
        job.filter(|(_, other)| *other == work && work.len() == 1).map(|(timed, _)| timed)
    };
    let timed = [Some(run)].into_iter().chain(jobs.map(same)).collect();
    Metric::of(subject(key, None), (Figure::Seconds, true), timed, held)
}

#[cfg(test)]
mod tests;
