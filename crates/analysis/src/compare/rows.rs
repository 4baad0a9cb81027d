//! Compares two sets of runs row by row: set A, one run or a history, and run B.

use super::baseline::{Baseline, BaselineMark, longest_segment};
use super::decisions::{LoadedSide, RowEffect, decide_family, find_contrasts};
use super::differences::{differences, job_lines};
use super::matching::{CountedMeasurements, MatchedRun, PhaseKey, matched_runs, phase_keys};
use super::result::{
    Absence, BaselineHistory, ComparedRow, Comparison, HistoryPoint, LatencyRatio, Metric,
    PhaseWork, RunLabel,
};
use crate::effects::runs::RunRow;
use crate::figures::RunFigures;
use crate::history::same_target;
use crate::latencies::single_operations;
use crate::observations::{
    is_counted, is_timed_by_latency, log_by_repeat, seconds_of_work, units_of_work, whole_jobs,
};
use crate::statistics::describe::mean;
use crate::summary::PhaseSummary;
use crate::tails::Quantile;
use crate::thresholds::WORK_SAME;
use crate::uncertainty::{Estimate, IntervalBasis, rate_estimate};
use boatload_base::distinct::each_once;
use boatload_base::units::{Unit, grouped};
use boatload_results::book::{Book, Measurement, SETTLE};

/// Significant figures of the mean of a history.
const HISTORY_FIGURES: u32 = 4;

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
struct RunSets<'s, 'a> {
    a: &'s [MatchedRun<'a>],
    /// The run that is compared, and those that did the same again.
    b: &'s [MatchedRun<'a>],
    /// A, B, and the runs that are shown in the same table.
    shown: &'s [MatchedRun<'a>],
    /// Groups of equal runs, which show how much these differ.
    groups: Vec<&'s [MatchedRun<'a>]>,
    is_history: bool,
}

/// What a run has in a row.
struct RunValue {
    /// The natural logarithm of the seconds for one unit of work, or of a latency, for each repeat. Passes are averaged.
    logs: Vec<f64>,
    /// The geometric mean of the rates; of a whole job the seconds.
    shown: Estimate,
    disturbed: bool,
    left_out: usize,
}

impl RunValue {
    fn new(
        logs: Vec<f64>,
        shown: Option<Estimate>,
        counted: &CountedMeasurements<'_>,
    ) -> Option<Self> {
        let shown = shown.filter(|_| !logs.is_empty())?;
        Some(Self { logs, shown, disturbed: counted.disturbed, left_out: counted.left_out })
    }

    fn log(&self) -> f64 {
        mean(&self.logs)
    }
}

/// Compares `b`, a run and those that did the same again, with `a`. A history shows itself how much equal runs differ; else
/// `others`, in the order of time, do. Rows match the runs that are `shown` in the same table, in the same units.
/// Whole jobs, phases and latencies are decided as a family each.
pub(super) fn compare_sets(
    a: BaselineRuns<'_>,
    b: &[&RunFigures<'_>],
    others: &[RunFigures<'_>],
    shown: &[&RunFigures<'_>],
) -> Comparison {
    let [first, again @ ..] = b else { return Comparison::default() };
    let of_a = a.analyses();
    let label = |run: &&RunFigures<'_>| RunLabel::of_run(run.book);
    let Some(newest) = of_a.last() else {
        return Comparison { b: label(first), ..Comparison::default() };
    };
    let is_history = matches!(a, BaselineRuns::History(_));
    let groups = match is_history {
        true => Vec::new(),
        false => equal_runs(newest.book, first.book, others),
    };
    let all = of_a.iter().chain(b).chain(shown).chain(groups.iter().flatten());
    let runs = matched_runs(&all.copied().collect::<Vec<&RunFigures<'_>>>());
    let (shown, mut equal) = runs.split_at(of_a.len() + b.len() + shown.len());
    let group = |group: &Vec<&RunFigures<'_>>| equal.split_off(..group.len()).unwrap_or_default();
    let groups: Vec<_> = groups.iter().map(group).collect();
    let other_runs = groups.iter().map(|group| group.len()).sum();
    let (a, b) = (&shown[..of_a.len()], &shown[of_a.len()..of_a.len() + b.len()]);
    let mut rows = RunSets { a, b, shown, groups, is_history }.rows();
    decide(&mut rows);
    Comparison {
        a: of_a.iter().map(label).collect(),
        b: label(first),
        b_again: again.iter().map(label).collect(),
        other_runs,
        rows,
        differences: differences(&[newest.book, first.book]),
    }
}

fn decide(rows: &mut [ComparedRow]) {
    find_contrasts(rows.iter_mut().map(|row| &mut row.effect));
    for is_job in [true, false] {
        let family = rows.iter_mut().filter(|row| row.key.phase.is_none() == is_job);
        decide_family(family.map(|row| &mut row.effect));
    }
    let mut latencies: Vec<_> = rows.iter_mut().flat_map(|row| &mut row.latency_ratios).collect();
    find_contrasts(latencies.iter_mut().map(|one| &mut one.effect));
    decide_family(latencies.into_iter().map(|one| &mut one.effect));
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

impl<'a> RunSets<'_, 'a> {
    /// For each variant and level the whole job, where no phase did other work, and then its phases. What was written until
    /// the unmount belongs to the whole job.
    fn rows(&self) -> Vec<ComparedRow> {
        let keys = phase_keys(self.shown);
        let phases = || keys.iter().filter(|key| key.phase.as_deref() != Some(SETTLE));
        let mut all = Vec::new();
        for (variant, level) in each_once(phases().map(|key| (&key.variant, &key.level))) {
            let here = phases().filter(|key| (&key.variant, &key.level) == (variant, level));
            let rows: Vec<_> = here.flat_map(|key| self.phase_rows(key)).collect();
            let same_work = rows.iter().all(|row| row.work.is_none());
            let job = rows.first().filter(|_| same_work).and_then(|row| self.job_row(&row.key));
            all.extend(job.map(|job| ComparedRow {
                caches: rows.iter().find_map(|row| row.caches.clone()),
                ..job
            }));
            all.extend(rows);
        }
        all
    }

    fn held(&self) -> impl Iterator<Item = &MatchedRun<'a>> {
        self.a.iter().chain(self.b)
    }

    /// The newest run of A, and B.
    fn newest(&self) -> [&MatchedRun<'a>; 2] {
        [&self.a[self.a.len() - 1], &self.b[0]]
    }

    /// A row for the phase; of a phase with latencies of single operations alone, one for each of these.
    fn phase_rows(&self, key: &PhaseKey) -> Vec<ComparedRow> {
        let has_no_rate =
            |run: &&MatchedRun<'_>| run.summary(key).is_some_and(|phase| phase.rate.is_none());
        let measurements =
            self.held().filter(has_no_rate).flat_map(|run| run.valid_measurements(key));
        let numbers = single_operations(measurements);
        if numbers.is_empty() {
            return vec![self.phase_row(key)];
        }
        let row = |number: u64| {
            let [a, b] = self.newest().map(|run| latency_of_operation(run, key, number));
            let phase = key.phase.as_ref().map(|phase| format!("{phase} {}", grouped(number)));
            let ratio = a.zip(b).map(|(a, b)| b.mean / a.mean).filter(|ratio| ratio.is_finite());
            ComparedRow {
                key: PhaseKey { phase, ..key.clone() },
                metric: Metric::Nanoseconds,
                absence: (a.is_none() || b.is_none()).then_some(Absence::NotMeasured),
                a,
                b,
                effect: RowEffect { ratio, ..RowEffect::default() },
                ..ComparedRow::default()
            }
        };
        numbers.into_iter().map(row).collect()
    }

    fn phase_row(&self, key: &PhaseKey) -> ComparedRow {
        let unit = common_unit(self.shown.iter().filter_map(|run| run.summary(key)));
        // Where the time of a sync was not published of one run, all are without it.
        let mut measured = self.shown.iter().flat_map(|run| run.valid_measurements(key));
        let metric = match measured.clone().any(is_timed_by_latency) {
            true => Metric::Nanoseconds,
            false => Metric::of_rate(unit),
        };
        let seconds: fn(&Measurement) -> f64 = match measured.any(|m| m.sync_seconds.is_none()) {
            true => |m| m.seconds.unwrap_or(f64::NAN),
            false => Measurement::durable_seconds,
        };
        let value = |run: &MatchedRun<'a>| {
            let counted = run.counted(key);
            let valid = counted.all.iter().copied().filter(|m| is_counted(m)).collect::<Vec<_>>();
            let log = |m: &Measurement| {
                let seconds = seconds_of_work(m, seconds);
                Some((seconds / units_of_work(m, unit == Unit::Bytes)).ln())
            };
            let logs: Vec<f64> = log_by_repeat(&valid, log).into_values().collect();
            let shown = match metric {
                Metric::Nanoseconds => {
                    Estimate::of(&[mean(&logs).exp() * 1e9], None, IntervalBasis::Repeats)
                }
                _ => rate_estimate(&valid, unit, seconds, None),
            };
            RunValue::new(logs, shown, &counted)
        };
        let row = ComparedRow { key: key.clone(), metric, ..Default::default() };
        let pair = self.newest();
        let paces = pair.map(|run| run.valid_measurements(key).first()?.turns_per_second_asked);
        if paces[0] != paces[1] {
            return ComparedRow { absence: Some(Absence::OtherPace), ..row };
        }
        let mut row = self.with_values(row, value);
        let found = pair.map(|run| run.summary(key));
        if !row.is_in_both() {
            let (side, lacking) =
                if row.b.is_none() { (self.b, found[1]) } else { (self.a, found[0]) };
            let is_limited = side.iter().any(|run| run.reached_limit(key));
            row.absence = Some(if is_limited { Absence::ReachedLimit } else { absence(lacking) });
            return row;
        }
        row.work = other_work(&pair.map(|run| run.counted(key).all), pair.map(|run| run.book));
        let caches =
            found.map(|phase| phase.map(|phase| phase.cache.to_string()).unwrap_or_default());
        row.caches = (caches[0] != caches[1]).then_some(caches);
        row.latency_ratios =
            Quantile::ALL.map(|quantile| self.latency_ratio(key, quantile)).to_vec();
        row.latency_ratios.retain(|latency| latency.ns != [None, None]);
        row
    }

    fn latency_ratio(&self, key: &PhaseKey, quantile: Quantile) -> LatencyRatio {
        let row = ComparedRow { key: key.clone(), ..Default::default() };
        let row = self.with_values(row, |run| {
            let counted = run.counted(key);
            let log = |m: &Measurement| quantile.of(m).map(|ns| (ns as f64).ln());
            let logs: Vec<f64> = log_by_repeat(&counted.all, log).into_values().collect();
            let shown = Estimate::of(&[mean(&logs).exp()], None, IntervalBasis::Repeats);
            RunValue::new(logs, shown, &counted)
        });
        let ns = [row.a, row.b].map(|value| value.map(|value| value.mean));
        LatencyRatio { quantile, ns, effect: row.effect }
    }

    /// All phases together, with their syncs. Only runs that did the same work count; `None` if B did unlike work.
    fn job_row(&self, key: &PhaseKey) -> Option<ComparedRow> {
        let cells: Vec<_> = self.held().map(|run| run.counted_of_all_phases(key).all).collect();
        let phases = each_once(cells.iter().flatten().map(|m| m.phase.as_str()));
        if phases.len() < 2 {
            return None;
        }
        let newest = self.newest()[1].counted_of_all_phases(key).all;
        let work = each_once(whole_jobs(&newest, &phases).into_iter().map(|job| job.operations));
        let [work] = work.as_slice() else { return None };
        let value = |run: &MatchedRun<'a>| {
            let counted = run.counted_of_all_phases(key);
            let jobs = whole_jobs(&counted.all, &phases);
            let seconds: Vec<f64> = jobs.iter().map(|job| job.seconds).collect();
            let is_same = jobs.iter().all(|job| job.operations == *work);
            let basis = if jobs.len() > 1 { IntervalBasis::Repeats } else { IntervalBasis::Slices };
            let logs: Vec<f64> = seconds.iter().map(|seconds| seconds.ln()).collect();
            let shown = Estimate::of(&seconds, None, basis).filter(|_| is_same);
            let shown = shown.map(|shown| Estimate { mean: mean(&logs).exp(), ..shown });
            RunValue::new(logs, shown, &counted)
        };
        let key = PhaseKey { phase: None, ..key.clone() };
        let row = ComparedRow { key, metric: Metric::Seconds, ..Default::default() };
        Some(self.with_values(row, value)).filter(ComparedRow::is_in_both)
    }

    /// A row with the values that the runs have.
    fn with_values(
        &self,
        mut row: ComparedRow,
        value: impl Fn(&MatchedRun<'a>) -> Option<RunValue>,
    ) -> ComparedRow {
        let of_a: Vec<Option<RunValue>> = self.a.iter().map(&value).collect();
        let mut b: Vec<RunValue> = self.b.iter().filter_map(&value).collect();
        // Runs that did the same again stand in neither for the run itself nor for one that took too long.
        let is_limited = self.b.iter().any(|run| run.reached_limit(&row.key));
        if value(&self.b[0]).is_none() || is_limited {
            b.clear();
        }
        let known: Vec<&RunValue> = of_a.iter().flatten().collect();
        let baseline = Baseline::of_runs(&known.iter().map(|one| one.log()).collect::<Vec<_>>());
        let a = baseline.members(known.into_iter());
        let b: Vec<&RunValue> = b.iter().collect();
        let sides = [&a, &b];
        [row.a, row.b] = sides.map(|side| estimate_of_runs(side));
        row.disturbed = sides.map(|side| side.iter().any(|one| one.disturbed));
        row.left_out = sides.map(|side| side.iter().map(|one| one.left_out).sum());
        if self.is_history && !a.is_empty() {
            let points = self.history_points(&of_a, &baseline);
            row.history = Some(BaselineHistory { runs: a.len(), since: baseline.since, points });
        }
        if a.is_empty() || b.is_empty() {
            return row;
        }
        let logs_of = |side: &[&RunValue]| side.iter().map(|one| one.log()).collect::<Vec<f64>>();
        row.effect.ratio = Some((mean(&logs_of(&b)) - mean(&logs_of(&a))).exp());
        row.effect.loaded_side = LoadedSide::of(
            sides.map(|side| 2 * side.iter().filter(|value| value.disturbed).count() > side.len()),
        );
        let (is_loaded, runs) = (row.disturbed.contains(&true), b.len());
        let values: Vec<f64> = b.iter().flat_map(|value| value.logs.clone()).collect();
        row.effect.row = match a.as_slice() {
            // A run of one repeat does not show how repeats differ.
            [one] if one.logs.len().min(values.len()) < 2 => None,
            [one] => {
                let stored = self.stored(row.disturbed, value);
                Some(RunRow::of_runs(&one.logs, &values, stored, is_loaded, runs))
            }
            many => Some(RunRow::of_history(&values, logs_of(many), is_loaded, runs)),
        };
        row
    }

    /// The means of other runs that show how much equal ones differ: of disturbed ones alone if both sides were
    /// disturbed, and of no run if one side was, for disturbed runs that are alike do not show how far a quiet one lies from them.
    fn stored(
        &self,
        disturbed: [bool; 2],
        value: impl Fn(&MatchedRun<'a>) -> Option<RunValue>,
    ) -> Vec<f64> {
        if disturbed[0] != disturbed[1] {
            return Vec::new();
        }
        let logs = |group: &&[MatchedRun<'a>]| {
            let alike = group.iter().filter_map(&value);
            let alike = alike.filter(|other| other.disturbed || !disturbed[0]);
            alike.map(|other| other.log()).collect::<Vec<f64>>()
        };
        longest_segment(&self.groups.iter().map(logs).collect::<Vec<_>>())
    }

    fn history_points(
        &self,
        values: &[Option<RunValue>],
        baseline: &Baseline,
    ) -> Vec<HistoryPoint> {
        let known = values.iter().zip(self.a).filter_map(|(one, run)| Some((one.as_ref()?, run)));
        let point = |((value, run), mark): ((&RunValue, &MatchedRun<'_>), &BaselineMark)| {
            let run = &run.book.run;
            let (id, started) = (run.id.clone(), run.started.clone());
            HistoryPoint { run: id, started, value: value.shown.mean, mark: *mark }
        };
        known.zip(&baseline.marks).map(point).collect()
    }
}

fn latency_of_operation(run: &MatchedRun<'_>, key: &PhaseKey, number: u64) -> Option<Estimate> {
    let holds = |first: u64, operations: u64| first < number && number - first <= operations;
    let mut means = Vec::new();
    for m in run.valid_measurements(key) {
        let window = m.windows.iter().find(|window| holds(window.first, window.operations));
        means.extend(window.map(|window| window.mean_ns));
    }
    Estimate::of(&means, None, IntervalBasis::Repeats)
}

/// What is shown of runs: of several their geometric mean. `None` without a run.
fn estimate_of_runs(runs: &[&RunValue]) -> Option<Estimate> {
    let logs: Vec<f64> = runs.iter().map(|value| value.shown.mean.ln()).collect();
    let mean = mean(&logs).exp();
    match runs {
        [] => None,
        [one] => Some(one.shown),
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

/// The work of A and B, if it was not the same. Where both were asked for the same, a phase that ends after a time may do more.
fn other_work(members: &[Vec<&Measurement>; 2], [a, b]: [&Book; 2]) -> Option<[PhaseWork; 2]> {
    let has_published = [a, b].iter().any(|book| book.run.reference.is_some());
    let same_ranks = a.run.hosts.len() == b.run.hosts.len();
    let same_lines = || a.run.parameters == b.run.parameters && job_lines(a) == job_lines(b);
    if !has_published && same_ranks && same_lines() {
        return None;
    }
    let near = |a: f64, b: f64| (a - b).abs() <= WORK_SAME * a.max(b);
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

#[cfg(test)]
mod tests;
