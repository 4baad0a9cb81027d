//! Compares two sets of runs phase by phase: set A, one run or a history, and run B. Checks whether B is
//! slower by more than a limit.

use serde::Serialize;

use super::between_runs::{Baseline, BetweenRunVariance, OTHER_RUNS_MIN, PooledRate};
use super::differences::{differences, job_lines};
use super::matching::{CountedMeasurements, MatchedRun, Matching, PhaseKey};
use super::rates::{
    LoadedSide, Metric, RatioTest, RunRate, has_unknown_sync, job_phases, job_rate, latency_ratios,
    phase_rate, quantile_rate, settle_rate,
};
use super::result::{
    Absence, BaselineHistory, CheckOutcome, CheckedRow, ComparedRow, Comparison, HistoryPoint,
    PhaseWork, RunLabel,
};
use crate::analysis::Analysis;
use crate::analysis::findings::ratio::Rate;
use crate::analysis::history::same_target;
use crate::analysis::summary::PhaseSummary;
use crate::analysis::tails::tail;
use crate::analysis::thresholds::{INTERVAL_ALPHA, WORK_SAME};
use crate::analysis::uncertainty::{Estimate, IntervalBasis};
use crate::base::distinct::each_once;
use crate::base::units::Unit;
use crate::results::book::{Book, Measurement, SETTLE};

/// Significant figures of the mean of a history.
pub(crate) const HISTORY_FIGURES: u32 = 4;

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

/// The runs of a comparison, with others of the same jobs.
struct RunSets<'a> {
    a: Vec<MatchedRun<'a>>,
    /// The run that is compared, and those that did the same again.
    b: Vec<MatchedRun<'a>>,
    /// Groups of equal runs that make the between-run variance.
    groups: Vec<Vec<MatchedRun<'a>>>,
}

/// A row, and the rates that its ratio is to be made of.
struct PendingRow {
    row: ComparedRow,
    a: Vec<Option<RunFigure>>,
    b: Vec<RunFigure>,
    between: BetweenRunVariance,
}

/// The rate of a run, and what became of its disturbed measurements.
#[derive(Clone, Copy)]
struct RunFigure {
    rate: RunRate,
    disturbed: bool,
    left_out: usize,
}

impl RunFigure {
    fn new(rate: RunRate, counted: &CountedMeasurements<'_>) -> Self {
        Self { rate, disturbed: counted.disturbed, left_out: counted.left_out }
    }
}

/// Compares `b`, a run and those that did the same again, with `a`. Among `others`, in the order of time, are
/// more runs of what they did: where runs differ by more than the repeats of one do, the intervals of single
/// runs know it from these. A history has the between-run variance in itself. All intervals hold together:
/// those of whole jobs have half of alpha, and those of phases the other half.
pub(super) fn compare_sets(
    a: BaselineRuns<'_>,
    b: &[&Analysis<'_>],
    others: &[Analysis<'_>],
    has_latencies: bool,
) -> Comparison {
    let [first, again @ ..] = b else { return Comparison::default() };
    let held_a = a.analyses();
    let Some(newest) = held_a.last() else {
        return Comparison { b: RunLabel::of_run(first.book), ..Comparison::default() };
    };
    let groups = match a {
        BaselineRuns::Run(a) => equal_runs(a.book, first.book, others),
        BaselineRuns::History(_) => Vec::new(),
    };
    let other_runs = groups.iter().map(Vec::len).sum();
    let sets = RunSets::new([&held_a, b], &groups);
    let mut pending = Vec::new();
    let held: Vec<&Analysis<'_>> = held_a.iter().chain(b).copied().collect();
    let keys = Matching::of_runs(&held).keys;
    for (variant, level) in each_once(keys.iter().map(|key| (&key.variant, &key.level))) {
        let here = keys.iter().filter(|key| (&key.variant, &key.level) == (variant, level));
        pending.extend(sets.cell_rows(&here.collect::<Vec<_>>(), has_latencies));
    }
    let alphas = RowAlphas::of(&pending);
    let is_history = matches!(a, BaselineRuns::History(_));
    let rows = pending.into_iter().map(|pending| pending.tested(&sets, &alphas, is_history));
    Comparison {
        a: held_a.iter().map(|run| RunLabel::of_run(run.book)).collect(),
        b: RunLabel::of_run(first.book),
        b_again: again.iter().map(|run| RunLabel::of_run(run.book)).collect(),
        other_runs,
        rows: rows.collect(),
        differences: differences(&[newest.book, first.book]),
    }
}

/// The chance of each interval not to hold the truth, so that all hold together (Bonferroni).
struct RowAlphas {
    job: f64,
    phase: f64,
}

impl RowAlphas {
    fn of(pending: &[PendingRow]) -> Self {
        let rows = || pending.iter().map(|pending| &pending.row).filter(|row| row.is_in_both());
        let jobs = rows().filter(|row| row.key.phase.is_none()).count();
        let phases = rows().count() - jobs;
        let share = if jobs > 0 && phases > 0 { INTERVAL_ALPHA / 2.0 } else { INTERVAL_ALPHA };
        Self { job: share / jobs.max(1) as f64, phase: share / phases.max(1) as f64 }
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
    /// Of the runs of A and of B.
    fn new(held: [&[&'a Analysis<'a>]; 2], groups: &[Vec<&'a Analysis<'a>>]) -> Self {
        let books = held.into_iter().flatten().chain(groups.iter().flatten());
        let mut runs = Matching::of_runs(&books.copied().collect::<Vec<_>>()).runs.into_iter();
        let [a, b] = held.map(|held| runs.by_ref().take(held.len()).collect());
        let groups = groups.iter().map(|group| runs.by_ref().take(group.len()).collect());
        Self { a, b, groups: groups.collect() }
    }

    /// The rows of one variant at one level, the whole job first. It stands only where no phase did
    /// other work.
    fn cell_rows(&self, keys: &[&PhaseKey], has_latencies: bool) -> Vec<PendingRow> {
        let phases: Vec<_> = keys.iter().map(|key| self.phase_row(key, has_latencies)).collect();
        let same_work = phases.iter().all(|pending| pending.row.work.is_none());
        let first = keys.first().filter(|_| same_work);
        let mut job = first.and_then(|key| self.job_row(key));
        if let Some(PendingRow { row, .. }) = &mut job {
            row.caches = phases.iter().find_map(|pending| pending.row.caches.clone());
        }
        job.into_iter().chain(phases).collect()
    }

    /// The between-run variance of a figure of the other runs; of disturbed ones alone, if one that is
    /// compared was disturbed. Of runs in general where they are too few.
    fn between(
        &self,
        is_disturbed: bool,
        figure: impl Fn(&MatchedRun<'a>) -> Option<OtherFigure>,
    ) -> BetweenRunVariance {
        let logs = |group: &Vec<MatchedRun<'a>>| {
            let figures = group.iter().filter_map(&figure);
            let alike = figures.filter(|other| other.disturbed || !is_disturbed);
            alike.map(|other| other.log).collect::<Vec<f64>>()
        };
        let measured =
            BetweenRunVariance::of_groups(&self.groups.iter().map(logs).collect::<Vec<_>>());
        measured.unwrap_or_else(|| BetweenRunVariance::assumed(is_disturbed))
    }

    fn held(&self) -> impl Iterator<Item = &MatchedRun<'a>> {
        self.a.iter().chain(&self.b)
    }

    /// The newest run of A, and B.
    fn newest(&self) -> [&MatchedRun<'a>; 2] {
        [&self.a[self.a.len() - 1], &self.b[0]]
    }

    fn phase_row(&self, key: &PhaseKey, has_latencies: bool) -> PendingRow {
        let measured: Vec<_> = self.held().flat_map(|run| run.valid_measurements(key)).collect();
        let seconds: fn(&Measurement) -> f64 = match has_unknown_sync(&measured) {
            true => |m| m.seconds,
            false => Measurement::durable_seconds,
        };
        let unit = common_unit(self.held().filter_map(|run| run.summary(key)));
        let is_settle = key.phase.as_deref() == Some(SETTLE);
        let figure = |run: &MatchedRun<'a>| {
            let counted = run.counted(key);
            let rate = match is_settle {
                true => settle_rate(&counted.all),
                false => phase_rate(&counted.all, unit, seconds),
            };
            Some(RunFigure::new(rate?, &counted))
        };
        let pair = self.newest();
        let members = pair.map(|run| run.counted(key).all);
        let found = pair.map(|run| run.summary(key));
        let caches =
            found.map(|phase| phase.map(|phase| phase.cache.to_string()).unwrap_or_default());
        let row = ComparedRow {
            key: key.clone(),
            metric: if is_settle { Metric::Seconds } else { Metric::of_rate(unit) },
            latency_ns: members.each_ref().map(|members| tail(members)),
            ..ComparedRow::default()
        };
        let mut pending = self.pending(row, figure);
        let row = &mut pending.row;
        if !row.is_in_both() {
            let (side, lacking) =
                if row.b.is_none() { (&self.b, found[1]) } else { (&self.a, found[0]) };
            let is_limited = side.iter().any(|run| run.reached_limit(key));
            row.absence = Some(if is_limited { Absence::ReachedLimit } else { absence(lacking) });
            return pending;
        }
        let books = pair.map(|run| run.book);
        row.work = if same_job(books) { None } else { other_work(&members, has_published(books)) };
        row.caches = (caches[0] != caches[1]).then_some(caches);
        if has_latencies {
            let is_disturbed = row.disturbed.contains(&true);
            let loaded_side = LoadedSide::of(row.disturbed);
            let between = |quantile| {
                self.between(is_disturbed, |run| {
                    let counted = run.counted(key);
                    let log = quantile_rate(quantile, &counted.all)?.log;
                    Some(OtherFigure { log, disturbed: counted.disturbed })
                })
            };
            row.latency_ratios = latency_ratios(&members, between, loaded_side, INTERVAL_ALPHA);
        }
        pending
    }

    /// The whole job. Only runs that did the same work count, and none if B did unlike work.
    fn job_row(&self, key: &PhaseKey) -> Option<PendingRow> {
        let cells: Vec<_> = self.held().map(|run| run.counted_of_all_phases(key).all).collect();
        let phases = job_phases(&cells)?;
        let [_, newest] = self.newest();
        let job = job_rate(&newest.counted_of_all_phases(key).all, &phases)
            .filter(|job| job.work.len() == 1)?;
        let figure = |run: &MatchedRun<'a>| {
            let counted = run.counted_of_all_phases(key);
            let other = job_rate(&counted.all, &phases)?;
            (other.work == job.work).then(|| RunFigure::new(other.rate, &counted))
        };
        let key = PhaseKey { phase: None, ..key.clone() };
        let row = ComparedRow { key, metric: Metric::Seconds, ..Default::default() };
        let pending = self.pending(row, figure);
        pending.row.is_in_both().then_some(pending)
    }

    /// A row with the values that `figure` gives the runs.
    fn pending(
        &self,
        row: ComparedRow,
        figure: impl Fn(&MatchedRun<'a>) -> Option<RunFigure>,
    ) -> PendingRow {
        let a: Vec<Option<RunFigure>> = self.a.iter().map(&figure).collect();
        let mut b: Vec<RunFigure> = self.b.iter().filter_map(&figure).collect();
        // Runs that did the same again stand in neither for the run itself nor for one that took too long.
        let is_limited = self.b.iter().any(|run| run.reached_limit(&row.key));
        if figure(&self.b[0]).is_none() || is_limited {
            b.clear();
        }
        let known_a: Vec<RunFigure> = a.iter().flatten().copied().collect();
        let pair = [known_a.last().copied(), b.first().copied()];
        let shown = |figure: &RunFigure| figure.rate.shown;
        let is_disturbed = b.iter().chain(&pair[0]).any(|figure| figure.disturbed);
        let is_quiet = b.iter().chain(&pair[0]).any(|figure| !figure.disturbed);
        let between = self.between(is_disturbed, |run| {
            let figure = figure(run)?;
            Some(OtherFigure { log: figure.rate.rate.log, disturbed: figure.disturbed })
        });
        // Disturbed runs that are alike are no measure of how far a quiet one lies from them.
        let between = match is_disturbed && is_quiet {
            true => between.at_least(BetweenRunVariance::assumed(true)),
            false => between,
        };
        let row = ComparedRow {
            a: pair[0].as_ref().map(shown),
            b: pair[1].as_ref().map(shown),
            disturbed: [&known_a, &b].map(|side| side.iter().any(|figure| figure.disturbed)),
            left_out: [&known_a, &b].map(|side| side.iter().map(|figure| figure.left_out).sum()),
            ..row
        };
        PendingRow { row, a, b, between }
    }
}

/// A figure of another run.
struct OtherFigure {
    log: f64,
    disturbed: bool,
}

impl PendingRow {
    /// The row with its ratio.
    fn tested(self, sets: &RunSets<'_>, alphas: &RowAlphas, is_history: bool) -> ComparedRow {
        let Self { mut row, a, b, between } = self;
        let rates: Vec<Rate> = a.iter().flatten().map(|figure| figure.rate.rate).collect();
        if rates.is_empty() {
            return row;
        }
        let baseline = Baseline::of_runs(&rates);
        let members = baseline.members(a.iter().flatten().copied());
        let disturbed = members.iter().filter(|figure| figure.disturbed).count();
        if is_history {
            row.disturbed[0] = disturbed > 0;
            row.left_out[0] = members.iter().map(|figure| figure.left_out).sum();
            let points = history_points(row.metric, &a, sets, &baseline);
            row.history =
                Some(BaselineHistory { runs: baseline.runs, since: baseline.since, points });
            row.a = Some(estimate_of_runs(row.metric, baseline.log, baseline.runs));
        }
        let pooled: Vec<Rate> = b.iter().map(|figure| figure.rate.rate).collect();
        let Some(run) = PooledRate::of_runs(&pooled) else { return row };
        if run.runs > 1 {
            row.b = Some(estimate_of_runs(row.metric, run.rate.log, run.runs));
        }
        let is_beyond_history =
            b.iter().any(|figure| figure.disturbed) && disturbed < OTHER_RUNS_MIN;
        let between = baseline.variance(between, is_beyond_history);
        let alpha = if row.key.phase.is_none() { alphas.job } else { alphas.phase };
        let [before, now] = baseline.beside(&run, between);
        row.loaded_side = loaded_side(disturbed, members.len(), &b);
        row.test = RatioTest::of_runs([&before, &now], between, [baseline.runs, run.runs], alpha)
            .without_effect_of_load(row.loaded_side);
        row
    }
}

/// The side that was measured under background load alone, if so many runs of the baseline were disturbed. A baseline
/// with enough of them shows what load does to it.
fn loaded_side(disturbed: usize, of: usize, b: &[RunFigure]) -> Option<LoadedSide> {
    let is_a = disturbed == of;
    let is_b = b.iter().all(|figure| figure.disturbed);
    let knows_load = is_a || disturbed >= OTHER_RUNS_MIN;
    let is_b_quiet = !b.iter().any(|figure| figure.disturbed);
    LoadedSide::of([is_a && is_b_quiet, is_b && !knows_load])
}

/// The mean of runs, from the logarithm of its rate.
fn estimate_of_runs(metric: Metric, log: f64, runs: usize) -> Estimate {
    let mean = shown(metric, log);
    Estimate {
        mean,
        interval: None,
        n: u32::try_from(runs).unwrap_or(u32::MAX),
        basis: IntervalBasis::Repeats,
        figures: HISTORY_FIGURES,
        extremes: [mean; 2],
        clusters: None,
    }
}

fn history_points(
    metric: Metric,
    figures: &[Option<RunFigure>],
    sets: &RunSets<'_>,
    baseline: &Baseline,
) -> Vec<HistoryPoint> {
    let known = figures.iter().zip(&sets.a).filter_map(|(one, run)| Some((one.as_ref()?, run)));
    let mut points = Vec::new();
    for ((figure, run), mark) in known.zip(&baseline.marks) {
        points.push(HistoryPoint {
            run: run.book.run.id.clone(),
            started: run.book.run.started.clone(),
            value: shown(metric, figure.rate.rate.log),
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
fn same_job([a, b]: [&Book; 2]) -> bool {
    let same_ranks = a.run.hosts.len() == b.run.hosts.len();
    let same_lines = || a.run.parameters == b.run.parameters && job_lines(a) == job_lines(b);
    !has_published([a, b]) && same_ranks && same_lines()
}

fn has_published(books: [&Book; 2]) -> bool {
    books.iter().any(|book| book.run.reference.is_some())
}

/// The work of A and B, if it was not the same.
fn other_work(members: &[Vec<&Measurement>; 2], has_published: bool) -> Option<[PhaseWork; 2]> {
    let [a, b] = members.each_ref().map(|members| phase_work(members));
    // Nobody publishes the bytes of a stat.
    let is_unknown = has_published && a.bytes_each * b.bytes_each == 0.0;
    let bytes_same = is_unknown || near(a.bytes_each, b.bytes_each);
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
    /// Runs against a baseline: one, and those that did the same again. `fail_on` is the slowdown that may
    /// be, as a share. `others` are more runs of what the run or a single baseline did, in the order of time.
    pub fn of_runs(
        runs: &[&Analysis<'_>],
        baseline: BaselineRuns<'_>,
        others: &[Analysis<'_>],
        fail_on: f64,
    ) -> Self {
        let mut comparison = compare_sets(baseline, runs, others, false);
        let is_complete = comparison.b.complete;
        for row in &mut comparison.rows {
            row.checked = Some(CheckedRow {
                outcome: outcome(row, fail_on, is_complete),
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

    /// Whether more runs of the same could settle it: a row is slower than the limit allows, or is not shown
    /// to be and looks so.
    pub fn wants_more_runs(&self) -> bool {
        let looks_slower = |row: &&ComparedRow| {
            row.test.slowdown().is_some_and(|slowdown| slowdown > 1.0 + self.fail_on)
        };
        !self.with(CheckOutcome::Regression).is_empty()
            || self.with(CheckOutcome::Unsure).iter().any(looks_slower)
    }

    /// Rows that both the baseline and the run have to have: all but those of one alone.
    pub fn rows(&self) -> impl Iterator<Item = &ComparedRow> {
        let is_checked = |row: &&ComparedRow| row.outcome() != Some(CheckOutcome::NotInBoth);
        self.comparison.rows.iter().filter(is_checked)
    }
}

fn outcome(row: &ComparedRow, fail_on: f64, complete: bool) -> CheckOutcome {
    let most = 1.0 + fail_on;
    match (row.a, row.absence, row.test.slowdown_interval()) {
        // Also where the baseline's is invalid: what stays broken does not become good.
        (_, Some(Absence::Invalid | Absence::ReachedLimit), _) if row.b.is_none() => {
            CheckOutcome::Invalid
        }
        (None, Some(Absence::ReachedLimit), _) => CheckOutcome::NoBaseline,
        (None, ..) => CheckOutcome::NotInBoth,
        // Its job may have no such phase.
        (_, Some(Absence::NotMeasured), _) if complete => CheckOutcome::NotInBoth,
        (_, Some(Absence::NotMeasured), _) => CheckOutcome::Missing,
        (_, Some(_), _) => CheckOutcome::Invalid,
        (.., Some(interval)) if interval.low > most && row.loaded_side != Some(LoadedSide::B) => {
            CheckOutcome::Regression
        }
        (.., Some(interval)) if interval.high <= most && row.loaded_side != Some(LoadedSide::A) => {
            CheckOutcome::Ok
        }
        _ => CheckOutcome::Unsure,
    }
}

#[cfg(test)]
mod tests;
