//! Compares two sets of runs phase by phase: set A, one run or a history, and run B. Checks whether B is
//! slower by more than a limit.

use serde::Serialize;

use super::between_runs::{Baseline, BetweenRunVariance};
use super::differences::{differences, job_lines};
use super::matching::{MatchedRun, Matching, PhaseKey};
use super::rates::{
    Metric, RatioTest, RunRate, has_unknown_sync, job_phases, job_rate, latency_ratios, phase_rate,
    quantile_rate, settle_rate,
};
use super::result::{
    Absence, BaselineHistory, CheckOutcome, CheckedRow, ComparedRow, Comparison, HistoryPoint,
    PhaseWork, RunLabel,
};
use crate::analysis::Analysis;
use crate::analysis::findings::ratio::Rate;
use crate::analysis::history::same_target;
use crate::analysis::summary::PhaseSummary;
use crate::analysis::thresholds::INTERVAL_ALPHA;
use crate::analysis::uncertainty::{Estimate, IntervalBasis};
use crate::base::distinct::each_once;
use crate::base::units::Unit;
use crate::results::book::{Book, Measurement, SETTLE};

/// Work that differs by less is the same.
const WORK_SAME: f64 = 0.01;

/// Significant figures of the mean of a history.
const HISTORY_FIGURES: u32 = 4;

/// Set A.
#[derive(Clone, Copy, Debug)]
pub enum BaselineRuns<'a> {
    /// One run.
    Run(&'a Analysis<'a>),
    /// Earlier runs of the same job on the same machine and place, oldest first.
    History(&'a [Analysis<'a>]),
}

impl<'a> BaselineRuns<'a> {
    /// The runs, oldest first.
    pub fn analyses(&self) -> Vec<&'a Analysis<'a>> {
        match self {
            Self::Run(run) => vec![run],
            Self::History(runs) => runs.iter().collect(),
        }
    }
}

/// The intervals that hold together with the stated confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfidenceScope {
    /// Each interval holds for itself.
    EachRow,
    /// All intervals hold together (Bonferroni).
    AllRows,
}

/// The runs of a comparison, with others of the same jobs.
struct RunSets<'a> {
    a: Vec<MatchedRun<'a>>,
    b: MatchedRun<'a>,
    /// Groups of equal runs that make the between-run variance.
    groups: Vec<Vec<MatchedRun<'a>>>,
}

/// A row, and the rates that its ratio is to be made of.
struct PendingRow {
    row: ComparedRow,
    a: Vec<Option<RunRate>>,
    b: Option<RunRate>,
    between: Option<BetweenRunVariance>,
}

/// Compares `b` with `a`. Among `others`, in the order of time, are more runs of what they did: where
/// runs differ by more than the repeats of one do, the intervals of single runs know it from these. A
/// history has the between-run variance in itself.
pub(super) fn compare_sets(
    a: BaselineRuns<'_>,
    b: &Analysis<'_>,
    others: &[Analysis<'_>],
    scope: ConfidenceScope,
) -> Comparison {
    let held: Vec<&Analysis<'_>> = a.analyses().into_iter().chain([b]).collect();
    let [.., newest, _] = held.as_slice() else {
        return Comparison { b: RunLabel::of_run(b.book), ..Comparison::default() };
    };
    let groups = match a {
        BaselineRuns::Run(a) => equal_runs(a.book, b.book, others),
        BaselineRuns::History(_) => Vec::new(),
    };
    let other_runs = groups.iter().map(Vec::len).sum();
    let sets = RunSets::new(&held, &groups);
    let mut pending = Vec::new();
    let keys = Matching::of_runs(&held).keys;
    for (variant, level) in each_once(keys.iter().map(|key| (&key.variant, &key.level))) {
        let here = keys.iter().filter(|key| (&key.variant, &key.level) == (variant, level));
        pending.extend(sets.cell_rows(&here.collect::<Vec<_>>(), scope));
    }
    let tested = pending.iter().filter(|pending| pending.row.is_in_both()).count();
    let alpha = match scope {
        ConfidenceScope::EachRow => INTERVAL_ALPHA,
        ConfidenceScope::AllRows => INTERVAL_ALPHA / tested.max(1) as f64,
    };
    let is_history = matches!(a, BaselineRuns::History(_));
    let rows = pending.into_iter().map(|pending| pending.tested(&sets, alpha, is_history));
    let rows: Vec<ComparedRow> = rows.collect();
    let intervals = rows.iter().filter(|row| row.test.interval.is_some()).count();
    Comparison {
        a: a.analyses().iter().map(|run| RunLabel::of_run(run.book)).collect(),
        b: RunLabel::of_run(b.book),
        other_runs,
        expected_by_chance: alpha * intervals as f64,
        rows,
        differences: differences(&[newest.book, b.book]),
    }
}

/// Other complete runs of what two runs did: one group if both did the same, else one for each.
fn equal_runs<'a>(a: &Book, b: &Book, others: &'a [Analysis<'a>]) -> Vec<Vec<&'a Analysis<'a>>> {
    let targets = if same_target(a, b) { vec![a] } else { vec![a, b] };
    let is_equal = |target: &Book, other: &Book| {
        let itself = [&a.run.id, &b.run.id].contains(&&other.run.id);
        !itself && other.run.complete && same_target(target, other)
    };
    let of_target =
        |target: &Book| others.iter().filter(|other| is_equal(target, other.book)).collect();
    targets.into_iter().map(of_target).collect()
}

impl<'a> RunSets<'a> {
    /// `held` are the runs of A and then B.
    fn new(held: &[&'a Analysis<'a>], groups: &[Vec<&'a Analysis<'a>>]) -> Self {
        let books: Vec<_> = held.iter().chain(groups.iter().flatten()).copied().collect();
        let mut runs = Matching::of_runs(&books).runs.into_iter();
        let a = runs.by_ref().take(held.len() - 1).collect();
        let b = runs.by_ref().take(1).collect::<Vec<_>>().remove(0);
        let groups = groups.iter().map(|group| runs.by_ref().take(group.len()).collect());
        Self { a, b, groups: groups.collect() }
    }

    /// The rows of one variant at one level, the whole job first. It stands only where no phase did
    /// other work.
    fn cell_rows(&self, keys: &[&PhaseKey], scope: ConfidenceScope) -> Vec<PendingRow> {
        let phases: Vec<_> = keys.iter().map(|key| self.phase_row(key, scope)).collect();
        let same_work = phases.iter().all(|pending| pending.row.work.is_none());
        let first = keys.first().filter(|_| same_work);
        let mut job = first.and_then(|key| self.job_row(key));
        if let Some(PendingRow { row, .. }) = &mut job {
            row.caches = phases.iter().find_map(|pending| pending.row.caches.clone());
            row.disturbed =
                [0, 1].map(|side| phases.iter().any(|pending| pending.row.disturbed[side]));
        }
        job.into_iter().chain(phases).collect()
    }

    /// The between-run variance of a figure of the other runs.
    fn between(
        &self,
        figure: impl Fn(&MatchedRun<'a>) -> Option<Rate>,
    ) -> Option<BetweenRunVariance> {
        let logs = |group: &Vec<MatchedRun<'a>>| {
            group.iter().filter_map(&figure).map(|rate| rate.log).collect::<Vec<f64>>()
        };
        BetweenRunVariance::of_groups(&self.groups.iter().map(logs).collect::<Vec<_>>())
    }

    fn held(&self) -> impl Iterator<Item = &MatchedRun<'a>> {
        self.a.iter().chain([&self.b])
    }

    /// The newest run of A, and B.
    fn newest(&self) -> [&MatchedRun<'a>; 2] {
        [self.a.last().unwrap_or(&self.b), &self.b]
    }

    fn phase_row(&self, key: &PhaseKey, scope: ConfidenceScope) -> PendingRow {
        let measured: Vec<_> = self.held().flat_map(|run| run.valid_measurements(key)).collect();
        let seconds: fn(&Measurement) -> f64 = match has_unknown_sync(&measured) {
            true => |m| m.seconds,
            false => Measurement::durable_seconds,
        };
        let unit = common_unit(self.held().filter_map(|run| run.summary(key)));
        let is_settle = key.phase.as_deref() == Some(SETTLE);
        let rate = |run: &MatchedRun<'a>| match is_settle {
            true => settle_rate(&run.valid_measurements(key)),
            false => phase_rate(&run.valid_measurements(key), unit, seconds),
        };
        let pair = self.newest();
        let members = pair.map(|run| run.valid_measurements(key));
        let found = pair.map(|run| run.summary(key));
        let caches =
            found.map(|phase| phase.map(|phase| phase.cache.to_string()).unwrap_or_default());
        let row = ComparedRow {
            key: key.clone(),
            metric: if is_settle { Metric::Seconds } else { Metric::of_rate(unit) },
            disturbed: found.map(|phase| phase.is_some_and(|phase| phase.disturbed > 0)),
            latency_ns: found.map(|phase| phase.and_then(|phase| phase.tail)),
            ..ComparedRow::default()
        };
        let mut pending = self.pending(row, rate);
        let row = &mut pending.row;
        if !row.is_in_both() {
            let lacking = if row.b.is_none() { found[1] } else { found[0] };
            row.absence = Some(absence(lacking));
            return pending;
        }
        row.work = if same_job(pair[0].book, pair[1].book) { None } else { other_work(&members) };
        row.caches = (caches[0] != caches[1]).then_some(caches);
        if scope == ConfidenceScope::EachRow {
            let between = |quantile| {
                self.between(|run| quantile_rate(quantile, &run.valid_measurements(key)))
            };
            row.latency_ratios = latency_ratios(&row.latency_ns, &members, between, INTERVAL_ALPHA);
        }
        pending
    }

    /// The whole job. Only runs that did the same work count, and none if B did unlike work.
    fn job_row(&self, key: &PhaseKey) -> Option<PendingRow> {
        let cells: Vec<_> = self.held().map(|run| run.measurements_of_all_phases(key)).collect();
        let phases = job_phases(&cells)?;
        let job = job_rate(&self.b.measurements_of_all_phases(key), &phases)
            .filter(|job| job.work.len() == 1)?;
        let rate = |run: &MatchedRun<'a>| {
            let other = job_rate(&run.measurements_of_all_phases(key), &phases)?;
            (other.work == job.work).then_some(other.rate)
        };
        let key = PhaseKey { phase: None, ..key.clone() };
        let row = ComparedRow { key, metric: Metric::Seconds, ..Default::default() };
        let pending = self.pending(row, rate);
        pending.row.is_in_both().then_some(pending)
    }

    /// A row with the values that `rate` gives the runs.
    fn pending(
        &self,
        row: ComparedRow,
        rate: impl Fn(&MatchedRun<'a>) -> Option<RunRate>,
    ) -> PendingRow {
        let a: Vec<Option<RunRate>> = self.a.iter().map(&rate).collect();
        let (newest, b) = (a.iter().flatten().next_back(), rate(&self.b));
        let row =
            ComparedRow { a: newest.map(|rate| rate.shown), b: b.map(|rate| rate.shown), ..row };
        let in_both = row.is_in_both();
        let between = if in_both { self.between(|run| Some(rate(run)?.rate)) } else { None };
        PendingRow { row, a, b, between }
    }
}

impl PendingRow {
    /// The row with its ratio, whose interval does not hold the truth with the chance `alpha`.
    fn tested(self, sets: &RunSets<'_>, alpha: f64, is_history: bool) -> ComparedRow {
        let Self { mut row, a, b, between } = self;
        let rates: Vec<Rate> = a.iter().flatten().map(|rate| rate.rate).collect();
        if rates.is_empty() {
            return row;
        }
        let baseline = Baseline::of_runs(&rates);
        if is_history {
            let points = history_points(row.metric, &a, sets, &baseline);
            row.history =
                Some(BaselineHistory { runs: baseline.runs, since: baseline.since, points });
            let mean = shown(row.metric, baseline.log);
            row.a = Some(Estimate {
                mean,
                half_width: None,
                n: u32::try_from(baseline.runs).unwrap_or(u32::MAX),
                basis: IntervalBasis::Repeats,
                figures: HISTORY_FIGURES,
                extremes: [mean; 2],
                clusters: None,
            });
        }
        if let Some(run) = b {
            let (before, now) = (baseline.beside(&run.rate), baseline.of_run_beside(&run.rate));
            row.test = RatioTest::welch(&now, &before, between, alpha);
        }
        row
    }
}

fn history_points(
    metric: Metric,
    rates: &[Option<RunRate>],
    sets: &RunSets<'_>,
    baseline: &Baseline,
) -> Vec<HistoryPoint> {
    let known = rates.iter().zip(&sets.a).filter_map(|(rate, run)| Some((rate.as_ref()?, run)));
    let mut points = Vec::new();
    for ((rate, run), mark) in known.zip(&baseline.marks) {
        points.push(HistoryPoint {
            run: run.book.run.id.clone(),
            started: run.book.run.started.clone(),
            value: shown(metric, rate.rate.log),
            mark: *mark,
        });
    }
    points
}

/// A figure from the logarithm of its rate.
fn shown(metric: Metric, log: f64) -> f64 {
    if metric == Metric::Seconds { (-log).exp() } else { log.exp() }
}

fn absence(lacking: Option<&PhaseSummary>) -> Absence {
    match lacking {
        None => Absence::NotMeasured,
        Some(phase) if phase.invalid.is_empty() => Absence::NoRate,
        Some(_) => Absence::Invalid,
    }
}

/// Bytes if all can be in bytes.
fn common_unit<'a>(all: impl Iterator<Item = &'a PhaseSummary>) -> Unit {
    let mut units = all.filter(|phase| phase.rate.is_some()).map(|phase| phase.rate_unit);
    if units.all(|unit| unit == Unit::Bytes) { Unit::Bytes } else { Unit::Count }
}

/// Whether both were asked for the same; then a phase that ends after a time may still do more.
fn same_job(a: &Book, b: &Book) -> bool {
    let published = a.run.reference.is_some() || b.run.reference.is_some();
    !published && a.run.parameters == b.run.parameters && job_lines(a) == job_lines(b)
}

/// The work of A and B, if it was not the same.
fn other_work(members: &[Vec<&Measurement>; 2]) -> Option<[PhaseWork; 2]> {
    let [a, b] = members.each_ref().map(|members| phase_work(members));
    // Nobody publishes the bytes of a stat.
    let bytes_same = a.bytes_each * b.bytes_each == 0.0 || near(a.bytes_each, b.bytes_each);
    (!near(a.operations, b.operations) || !bytes_same).then_some([a, b])
}

fn phase_work(members: &[&Measurement]) -> PhaseWork {
    let operations = members.iter().map(|m| m.operations as f64).sum::<f64>();
    let bytes = members.iter().map(|m| m.bytes as f64).sum::<f64>();
    PhaseWork {
        operations: operations / members.len().max(1) as f64,
        bytes_each: bytes / operations.max(1.0),
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= WORK_SAME * a.max(b)
}

/// A run held against a baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What the run is held against.
    pub against: BaselineKind,
    /// By how much it may be slower: 0.05 for 5%.
    pub fail_on: f64,
    /// The run, B, against the baseline, A.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// What a run is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineKind {
    /// One run.
    Run,
    /// Earlier runs of the same.
    History,
}

impl Check {
    /// A run against a baseline; `fail_on` is the slowdown that may be, as a share. `others` are
    /// more runs of what the run or a single baseline did, in the order of time.
    pub fn of_run(
        run: &Analysis<'_>,
        baseline: BaselineRuns<'_>,
        others: &[Analysis<'_>],
        fail_on: f64,
    ) -> Self {
        let mut comparison = compare_sets(baseline, run, others, ConfidenceScope::AllRows);
        for row in &mut comparison.rows {
            row.checked = Some(CheckedRow {
                outcome: outcome(row, fail_on, run.book.run.complete),
                slowdown: row.test.slowdown(),
                slowdown_interval: row.test.slowdown_interval(),
            });
        }
        let against = match baseline {
            BaselineRuns::Run(_) => BaselineKind::Run,
            BaselineRuns::History(_) => BaselineKind::History,
        };
        Self { against, fail_on, comparison }
    }

    /// Rows of which this comes.
    pub fn with(&self, outcome: CheckOutcome) -> Vec<&ComparedRow> {
        self.comparison.rows.iter().filter(|row| row.outcome() == Some(outcome)).collect()
    }

    /// Rows that both the baseline and the run have to have: all but those of one alone.
    pub fn rows(&self) -> impl Iterator<Item = &ComparedRow> {
        let is_checked = |row: &&ComparedRow| row.outcome() != Some(CheckOutcome::NotInBoth);
        self.comparison.rows.iter().filter(is_checked)
    }

    /// Rows that are good, and might be even if the run were slower by more than the limit.
    pub fn underpowered(&self) -> Vec<&ComparedRow> {
        let most = 1.0 + self.fail_on;
        let reaches_beyond =
            |row: &&ComparedRow| row.test.slowdown_interval().is_some_and(|one| one.high > most);
        self.with(CheckOutcome::Ok).into_iter().filter(reaches_beyond).collect()
    }
}

fn outcome(row: &ComparedRow, fail_on: f64, complete: bool) -> CheckOutcome {
    let most = 1.0 + fail_on;
    match (row.a, row.absence, row.test.slowdown(), row.test.slowdown_interval()) {
        (None, ..) => CheckOutcome::NotInBoth,
        // Its job may have no such phase.
        (_, Some(Absence::NotMeasured), ..) if complete => CheckOutcome::NotInBoth,
        (_, Some(Absence::NotMeasured), ..) => CheckOutcome::Missing,
        (_, Some(Absence::Invalid | Absence::NoRate), ..) => CheckOutcome::Invalid,
        (.., Some(interval)) if interval.low > most => CheckOutcome::Regression,
        (.., Some(slowdown), Some(_)) if slowdown <= most => CheckOutcome::Ok,
        _ => CheckOutcome::Unsure,
    }
}

#[cfg(test)]
mod tests;
