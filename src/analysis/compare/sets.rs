//! Compares two sets of runs phase by phase: set A, one run or a history, and run B. Checks whether B is
//! slower by more than a limit.

use serde::Serialize;

use super::baseline::{Baseline, BaselineMark, longest_segment};
use super::decisions::{
    CheckOutcome, CheckedRow, LoadedSide, RowEffect, RowValues, UndecidedRow, check_rows,
    contrasts, decide_rates, decide_times,
};
use super::differences::{differences, job_lines};
use super::matching::{CountedMeasurements, MatchedRun, Matching, PhaseKey};
use super::rates::{Metric, RowTimes, job_phases, job_times, phase_times, quantile_logs};
use super::result::{
    Absence, BaselineHistory, ComparedRow, Comparison, HistoryPoint, LatencyRatio, PhaseWork,
    RunLabel,
};
use crate::analysis::effects::runs::{BaselineRow, RunRow};
use crate::analysis::figures::RunFigures;
use crate::analysis::history::same_target;
use crate::analysis::statistics::describe::mean;
use crate::analysis::summary::PhaseSummary;
use crate::analysis::tails::{Quantile, tail};
use crate::analysis::thresholds::WORK_SAME;
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
    Run(&'a RunFigures<'a>),
    /// Earlier runs of the same job on the same machine and place, oldest first.
    History(&'a [RunFigures<'a>]),
}

impl<'a> BaselineRuns<'a> {
    /// The runs, oldest first.
    pub fn analyses(&self) -> Vec<&'a RunFigures<'a>> {
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
    /// Groups of equal runs, which show how much these differ.
    groups: Vec<Vec<MatchedRun<'a>>>,
    /// Whether A is a history.
    is_history: bool,
}

/// The value of a run, and what became of its disturbed measurements.
#[derive(Clone)]
struct RunFigure {
    times: RowTimes,
    disturbed: bool,
    left_out: usize,
}

impl RunFigure {
    fn new(times: RowTimes, counted: &CountedMeasurements<'_>) -> Self {
        Self { times, disturbed: counted.disturbed, left_out: counted.left_out }
    }
}

/// A row before it is decided, with the values that its ratios are made of.
struct PendingRow {
    row: ComparedRow,
    values: Option<RowValues>,
    /// Those of `row.latency_ratios`.
    latencies: Vec<Option<RowValues>>,
}

/// Compares `b`, a run and those that did the same again, with `a`. Among `others`, in the order of time, are more runs of
/// what they did, which show how much equal runs differ; a history shows it itself. Whole jobs, phases and latencies are
/// decided as a family each.
pub(super) fn compare_sets(
    a: BaselineRuns<'_>,
    b: &[&RunFigures<'_>],
    others: &[RunFigures<'_>],
    has_latencies: bool,
) -> Comparison {
    let [first, again @ ..] = b else { return Comparison::default() };
    let held_a = a.analyses();
    let Some(newest) = held_a.last() else {
        return Comparison { b: RunLabel::of_run(first.book), ..Comparison::default() };
    };
    let is_history = matches!(a, BaselineRuns::History(_));
    let groups = if is_history { Vec::new() } else { equal_runs(newest.book, first.book, others) };
    let other_runs = groups.iter().map(Vec::len).sum();
    let sets = RunSets::new([&held_a, b], &groups, is_history);
    let mut pending = Vec::new();
    let held: Vec<&RunFigures<'_>> = held_a.iter().chain(b).copied().collect();
    let mut keys = Matching::of_runs(&held).keys;
    // What was written until the unmount belongs to the whole job.
    keys.retain(|key| key.phase.as_deref() != Some(SETTLE));
    for (variant, level) in each_once(keys.iter().map(|key| (&key.variant, &key.level))) {
        let here = keys.iter().filter(|key| (&key.variant, &key.level) == (variant, level));
        pending.extend(sets.cell_rows(&here.collect::<Vec<_>>(), has_latencies));
    }
    Comparison {
        a: held_a.iter().map(|run| RunLabel::of_run(run.book)).collect(),
        b: RunLabel::of_run(first.book),
        b_again: again.iter().map(|run| RunLabel::of_run(run.book)).collect(),
        other_runs,
        rows: decided(pending),
        differences: differences(&[newest.book, first.book]),
    }
}

fn decided(pending: Vec<PendingRow>) -> Vec<ComparedRow> {
    let values: Vec<_> = pending.iter().map(|pending| pending.values.clone()).collect();
    let latencies: Vec<_> = pending.iter().flat_map(|one| one.latencies.clone()).collect();
    let mut rows: Vec<ComparedRow> = pending.into_iter().map(|pending| pending.row).collect();
    for (row, contrast) in rows.iter_mut().zip(contrasts(&values)) {
        row.contrast = contrast;
    }
    for is_job in [true, false] {
        let mut family: Vec<&mut ComparedRow> =
            rows.iter_mut().filter(|row| row.key.phase.is_none() == is_job).collect();
        let undecided: Vec<_> = family.iter().map(|row| row.undecided()).collect();
        for (row, effect) in family.iter_mut().zip(decide_rates(&undecided)) {
            row.effect = effect;
        }
    }
    let mut contrasts = contrasts(&latencies).into_iter();
    let mut undecided = Vec::new();
    for row in &rows {
        undecided.extend(row.latency_ratios.iter().map(|latency| UndecidedRow {
            slowdown: latency.effect.ratio,
            contrast: contrasts.next().flatten(),
            loaded_side: row.loaded_side,
        }));
    }
    let latencies = rows.iter_mut().flat_map(|row| &mut row.latency_ratios);
    for (latency, effect) in latencies.zip(decide_times(&undecided)) {
        latency.effect = effect;
    }
    rows
}

/// Other complete runs of what two runs did: one group if both did the same, else one for each.
fn equal_runs<'a>(
    a: &Book,
    b: &Book,
    others: &'a [RunFigures<'a>],
) -> Vec<Vec<&'a RunFigures<'a>>> {
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
    fn new(
        held: [&[&'a RunFigures<'a>]; 2],
        groups: &[Vec<&'a RunFigures<'a>>],
        is_history: bool,
    ) -> Self {
        let books = held.into_iter().flatten().chain(groups.iter().flatten());
        let mut runs = Matching::of_runs(&books.copied().collect::<Vec<_>>()).runs.into_iter();
        let [a, b] = held.map(|held| runs.by_ref().take(held.len()).collect());
        let groups = groups.iter().map(|group| runs.by_ref().take(group.len()).collect());
        Self { a, b, groups: groups.collect(), is_history }
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

    /// The means of other runs that show how much equal ones differ: of disturbed ones alone if both sides were
    /// disturbed, and of none if one side was, for disturbed runs that are alike do not show how far a quiet one lies from them.
    fn stored(
        &self,
        disturbed: [bool; 2],
        log: impl Fn(&MatchedRun<'a>) -> Option<OtherRun>,
    ) -> Vec<f64> {
        if disturbed[0] != disturbed[1] {
            return Vec::new();
        }
        let logs = |group: &Vec<MatchedRun<'a>>| {
            let alike = group.iter().filter_map(&log);
            let alike = alike.filter(|other| other.disturbed || !disturbed[0]);
            alike.map(|other| other.log).collect::<Vec<f64>>()
        };
        longest_segment(&self.groups.iter().map(logs).collect::<Vec<_>>())
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
        let unit = common_unit(self.held().filter_map(|run| run.summary(key)));
        let figure = |run: &MatchedRun<'a>| {
            let counted = run.counted(key);
            Some(RunFigure::new(phase_times(&counted.all, unit, &measured)?, &counted))
        };
        let pair = self.newest();
        let members = pair.map(|run| run.counted(key).all);
        let found = pair.map(|run| run.summary(key));
        let caches =
            found.map(|phase| phase.map(|phase| phase.cache.to_string()).unwrap_or_default());
        let row = ComparedRow {
            key: key.clone(),
            metric: Metric::of_rate(unit),
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
            for quantile in Quantile::ALL {
                self.add_latency(&mut pending, &members, quantile);
            }
        }
        pending
    }

    /// Adds a quantile that A or B has.
    fn add_latency(
        &self,
        pending: &mut PendingRow,
        members: &[Vec<&Measurement>; 2],
        quantile: Quantile,
    ) {
        let (key, disturbed) = (&pending.row.key, pending.row.disturbed);
        let [a, b] = members.each_ref().map(|members| quantile_logs(members, quantile));
        let logs = [&a, &b].map(|logs| (!logs.is_empty()).then(|| mean(logs)));
        if logs == [None, None] {
            return;
        }
        let stored = self.stored(disturbed, |run| {
            let counted = run.counted(key);
            let logs = quantile_logs(&counted.all, quantile);
            let log = (!logs.is_empty()).then(|| mean(&logs))?;
            Some(OtherRun { log, disturbed: counted.disturbed })
        });
        let ratio = logs[0].zip(logs[1]).map(|(a, b)| (b - a).exp());
        let effect = RowEffect { ratio, ..RowEffect::default() };
        let ns = logs.map(|log| log.map(f64::exp));
        pending.row.latency_ratios.push(LatencyRatio { quantile, ns, effect });
        let is_loaded = disturbed.contains(&true);
        pending.latencies.push(pair_values(RunRow { a, b, stored, is_loaded, runs: 1 }));
    }

    /// The whole job. Only runs that did the same work count, and none if B did unlike work.
    fn job_row(&self, key: &PhaseKey) -> Option<PendingRow> {
        let cells: Vec<_> = self.held().map(|run| run.counted_of_all_phases(key).all).collect();
        let phases = job_phases(&cells)?;
        let [_, newest] = self.newest();
        let job = job_times(&newest.counted_of_all_phases(key).all, &phases)
            .filter(|job| job.work.len() == 1)?;
        let figure = |run: &MatchedRun<'a>| {
            let counted = run.counted_of_all_phases(key);
            let other = job_times(&counted.all, &phases)?;
            (other.work == job.work).then(|| RunFigure::new(other.times, &counted))
        };
        let key = PhaseKey { phase: None, ..key.clone() };
        let row = ComparedRow { key, metric: Metric::Seconds, ..Default::default() };
        let pending = self.pending(row, figure);
        pending.row.is_in_both().then_some(pending)
    }

    /// A row with the values that `figure` gives the runs.
    fn pending(
        &self,
        mut row: ComparedRow,
        figure: impl Fn(&MatchedRun<'a>) -> Option<RunFigure>,
    ) -> PendingRow {
        let of_a: Vec<Option<RunFigure>> = self.a.iter().map(&figure).collect();
        let mut b: Vec<RunFigure> = self.b.iter().filter_map(&figure).collect();
        // Runs that did the same again stand in neither for the run itself nor for one that took too long.
        let is_limited = self.b.iter().any(|run| run.reached_limit(&row.key));
        if figure(&self.b[0]).is_none() || is_limited {
            b.clear();
        }
        let known: Vec<&RunFigure> = of_a.iter().flatten().collect();
        let baseline =
            Baseline::of_runs(&known.iter().map(|one| one.times.log()).collect::<Vec<_>>());
        let a = baseline.members(known.into_iter());
        let b: Vec<&RunFigure> = b.iter().collect();
        let sides = [&a, &b];
        let [before, now] = sides.map(|side| estimate_of_runs(side));
        (row.a, row.b) = (before, now);
        row.disturbed = sides.map(|side| side.iter().any(|one| one.disturbed));
        row.left_out = sides.map(|side| side.iter().map(|one| one.left_out).sum());
        if self.is_history && !a.is_empty() {
            let points = self.history_points(&of_a, &baseline);
            row.history = Some(BaselineHistory { runs: a.len(), since: baseline.since, points });
        }
        let mut pending = PendingRow { row, values: None, latencies: Vec::new() };
        if a.is_empty() || b.is_empty() {
            return pending;
        }
        let [before, now] = sides
            .map(|side| mean(&side.iter().map(|figure| figure.times.log()).collect::<Vec<_>>()));
        pending.row.effect.ratio = Some((before - now).exp());
        let is_loaded = |side: &Vec<&RunFigure>| {
            2 * side.iter().filter(|figure| figure.disturbed).count() > side.len()
        };
        pending.row.loaded_side = LoadedSide::of(sides.map(is_loaded));
        let is_loaded = pending.row.disturbed.contains(&true);
        let values = b.iter().flat_map(|figure| figure.times.values()).collect();
        let runs = b.len();
        pending.values = match a.as_slice() {
            [one] => pair_values(RunRow {
                a: one.times.values(),
                b: values,
                stored: self.stored(pending.row.disturbed, |run| {
                    let figure = figure(run)?;
                    Some(OtherRun { log: figure.times.log(), disturbed: figure.disturbed })
                }),
                is_loaded,
                runs,
            }),
            many => {
                let history = many.iter().map(|figure| figure.times.log()).collect();
                Some(RowValues::History(BaselineRow { values, history, is_loaded, runs }))
            }
        };
        pending
    }

    fn history_points(
        &self,
        figures: &[Option<RunFigure>],
        baseline: &Baseline,
    ) -> Vec<HistoryPoint> {
        let known = figures.iter().zip(&self.a).filter_map(|(one, run)| Some((one.as_ref()?, run)));
        let point =
            |((figure, run), mark): ((&RunFigure, &MatchedRun<'_>), &BaselineMark)| HistoryPoint {
                run: run.book.run.id.clone(),
                started: run.book.run.started.clone(),
                value: figure.times.shown.mean,
                mark: *mark,
            };
        known.zip(&baseline.marks).map(point).collect()
    }
}

/// A figure of another run.
struct OtherRun {
    log: f64,
    disturbed: bool,
}

/// None with a run of one repeat, which does not show how repeats differ.
fn pair_values(row: RunRow) -> Option<RowValues> {
    (row.a.len().min(row.b.len()) > 1).then_some(RowValues::Pair(row))
}

/// What is shown of runs: of several their geometric mean; none of none.
fn estimate_of_runs(runs: &[&RunFigure]) -> Option<Estimate> {
    let logs: Vec<f64> = runs.iter().map(|figure| figure.times.shown.mean.ln()).collect();
    let mean = mean(&logs).exp();
    match runs {
        [] => None,
        [one] => Some(one.times.shown),
        _ => Some(Estimate {
            mean,
            interval: None,
            n: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            basis: IntervalBasis::Repeats,
            figures: HISTORY_FIGURES,
            extremes: [mean; 2],
        }),
    }
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
    let bytes = members.iter().map(|m| m.bytes.unwrap_or_default() as f64).sum::<f64>();
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
        runs: &[&RunFigures<'_>],
        baseline: BaselineRuns<'_>,
        others: &[RunFigures<'_>],
        fail_on: f64,
    ) -> Self {
        let mut comparison = compare_sets(baseline, runs, others, false);
        let is_complete = comparison.b.complete;
        let undecided: Vec<UndecidedRow> =
            comparison.rows.iter().map(ComparedRow::undecided).collect();
        for (row, checked) in comparison.rows.iter_mut().zip(check_rows(&undecided, fail_on)) {
            let outcome = untested(row, is_complete).unwrap_or(checked.outcome);
            row.checked = Some(CheckedRow { outcome, ..checked });
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
            row.effect.slowdown().is_some_and(|slowdown| slowdown > 1.0 + self.fail_on)
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

/// What comes of a row that a side lacks; none if both have it.
fn untested(row: &ComparedRow, complete: bool) -> Option<CheckOutcome> {
    Some(match (row.a, row.absence?) {
        // Also where the baseline's is invalid: what stays broken does not become good.
        (_, Absence::Invalid | Absence::ReachedLimit) if row.b.is_none() => CheckOutcome::Invalid,
        (None, Absence::ReachedLimit) => CheckOutcome::NoBaseline,
        (None, _) => CheckOutcome::NotInBoth,
        // Its job may have no such phase.
        (_, Absence::NotMeasured) if complete => CheckOutcome::NotInBoth,
        (_, Absence::NotMeasured) => CheckOutcome::Missing,
        _ => CheckOutcome::Invalid,
    })
}

#[cfg(test)]
mod tests;
