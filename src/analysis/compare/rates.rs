//! Collects the times that runs are compared by: for each repeat the natural logarithm of the seconds for one unit of
//! work. Passes of a repeat are averaged.

use serde::Serialize;

use crate::analysis::observations::{
    LogTimes, is_counted, log_by_repeat, units_of_work, whole_jobs,
};
use crate::analysis::statistics::describe::mean;
use crate::analysis::tails::Quantile;
use crate::analysis::uncertainty::{Estimate, IntervalBasis, independent, rate_estimate};
use crate::base::distinct::each_once;
use crate::base::units::Unit;
use crate::results::book::Measurement;

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// More is faster.
    #[default]
    OperationsPerSecond,
    /// More is faster.
    BytesPerSecond,
    /// Seconds of a whole job, or of `settle`.
    Seconds,
    /// How long the operation with this number, from 1, took, in nanoseconds. Of a run with
    /// windows, the mean of the window that it lies in.
    LatencyOfOperation(u64),
}

impl Metric {
    /// Of a rate in this unit.
    pub(super) fn of_rate(unit: Unit) -> Self {
        if unit == Unit::Bytes { Self::BytesPerSecond } else { Self::OperationsPerSecond }
    }
}

/// The values of a run in a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowTimes {
    /// One for each repeat; never empty.
    pub(super) logs: LogTimes,
    /// The geometric mean of the rates; of a whole job the seconds.
    pub(super) shown: Estimate,
}

impl RowTimes {
    fn new(logs: LogTimes, shown: Option<Estimate>) -> Option<Self> {
        Some(Self { shown: shown.filter(|_| !logs.is_empty())?, logs })
    }

    /// The logarithms, in the order of repeats.
    pub(super) fn values(&self) -> Vec<f64> {
        self.logs.values().copied().collect()
    }

    /// Their mean.
    pub(super) fn log(&self) -> f64 {
        mean(&self.values())
    }
}

/// The whole jobs of a run.
pub(super) struct JobTimes {
    pub(super) times: RowTimes,
    /// The operations of each phase; more than one list where repeats did unlike work.
    pub(super) work: Vec<Vec<u64>>,
}

/// Of a phase in one unit. `held` are the measurements of all runs that are compared: where the time of a sync was not
/// published of one of them, all are without it.
pub(super) fn phase_times(
    cell: &[&Measurement],
    unit: Unit,
    held: &[&Measurement],
) -> Option<RowTimes> {
    let seconds: fn(&Measurement) -> f64 = match held.iter().any(|m| m.sync_seconds.is_none()) {
        true => |m| m.seconds.unwrap_or(f64::NAN),
        false => Measurement::durable_seconds,
    };
    let valid: Vec<&Measurement> = cell.iter().copied().filter(|m| is_counted(m)).collect();
    let log = |m: &Measurement| Some((seconds(m) / units_of_work(m, unit == Unit::Bytes)).ln());
    let logs = log_by_repeat(&valid, log);
    RowTimes::new(logs, rate_estimate(&valid, unit, seconds, None))
}

/// The geometric mean of the seconds of `settle`. `None` if nothing of it is valid.
pub(super) fn settle_seconds(cell: &[&Measurement]) -> Option<Estimate> {
    let valid: Vec<&Measurement> = cell.iter().copied().filter(|m| is_counted(m)).collect();
    let (seconds, basis) = independent(&valid, |m| m.seconds.unwrap_or(f64::NAN));
    let logs: Vec<f64> = seconds.iter().map(|seconds| seconds.ln()).collect();
    Some(Estimate { mean: mean(&logs).exp(), ..Estimate::of(&seconds, None, basis)? })
}

/// The logarithms of a quantile of latency, in nanoseconds, of each repeat that has it.
pub(super) fn quantile_logs(cell: &[&Measurement], quantile: Quantile) -> Vec<f64> {
    log_by_repeat(cell, |m| quantile.of(m).map(|ns| (ns as f64).ln())).into_values().collect()
}

/// The phases that any of these cells has, if they are two or more.
pub(super) fn job_phases<'a>(cells: &[Vec<&'a Measurement>]) -> Option<Vec<&'a str>> {
    let phases = each_once(cells.iter().flatten().map(|m| m.phase.as_str()));
    (phases.len() > 1).then_some(phases)
}

/// All phases together, with their syncs. `None` without a repeat in which every phase is valid.
pub(super) fn job_times(cell: &[&Measurement], phases: &[&str]) -> Option<JobTimes> {
    let all = whole_jobs(cell, phases);
    let logs = all.iter().map(|job| (job.repeat, job.seconds.ln())).collect();
    let seconds: Vec<f64> = all.iter().map(|job| job.seconds).collect();
    let basis = if all.len() > 1 { IntervalBasis::Repeats } else { IntervalBasis::Slices };
    let mut times = RowTimes::new(logs, Estimate::of(&seconds, None, basis))?;
    times.shown.mean = times.log().exp();
    Some(JobTimes { times, work: each_once(all.into_iter().map(|job| job.operations)) })
}
