//! The rate of a phase, or of a whole job, as comparisons between runs use it.

use serde::Serialize;

use crate::analysis::findings::ranking::{WholeJob, job_values, whole_jobs};
use crate::analysis::findings::ratio::Rate;
use crate::analysis::findings::sample::{SECONDS, Values};
use crate::analysis::thresholds::SYNC_SHARE_MAX;
use crate::analysis::uncertainty::{Estimate, IntervalBasis, rate_estimate};
use crate::base::distinct::each_once;
use crate::base::units::Unit;
use crate::results::book::Measurement;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// More is faster.
    OperationsPerSecond,
    /// More is faster.
    BytesPerSecond,
    /// Seconds of a whole job.
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

/// The rate of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunRate {
    /// Logarithms of the rates of repeats.
    pub(super) rate: Rate,
    /// The geometric mean of the rates, so that ratios are those of what is shown; of a whole job
    /// that of its seconds.
    pub(super) shown: Estimate,
}

/// How fast a run did its whole job.
pub(super) struct JobRate {
    pub(super) rate: RunRate,
    /// The operations of each phase; more than one where repeats did unlike work.
    pub(super) work: Vec<Vec<u64>>,
}

fn counts(m: &&&Measurement) -> bool {
    m.valid() && m.operations > 0 && SECONDS.contains(&m.seconds)
}

/// Whether a sync followed any of these, and how long it took is known of all.
pub(super) fn has_known_sync(all: &[&Measurement]) -> bool {
    all.iter().any(|m| m.sync_seconds > 0.0) && all.iter().all(|m| m.sync_seconds.is_finite())
}

/// The rate of a phase in operations or bytes per second, with its sync or without; none if nothing
/// of it is valid.
pub(super) fn phase_rate(all: &[&Measurement], unit: Unit, with_sync: bool) -> Option<RunRate> {
    let valid: Vec<&Measurement> = all.iter().filter(counts).copied().collect();
    let sync = |m: &Measurement| if with_sync { m.sync_seconds } else { 0.0 };
    let done = |m: &Measurement| if unit == Unit::Bytes { m.bytes } else { m.operations } as f64;
    let mut logs = Values::new(&valid, |m| Some((done(m) / (m.seconds + sync(m))).ln()));
    logs.own_error = valid.first().zip(logs.own_error).and_then(|(m, error)| {
        let share = sync(m) / (m.seconds + sync(m));
        (share <= SYNC_SHARE_MAX).then_some(error * (1.0 - share))
    });
    let (rate, shown) = (Rate::new(&logs)?, rate_estimate(&valid, unit, sync, logs.own_error)?);
    Some(RunRate { rate, shown: Estimate { mean: rate.log.exp(), ..shown } })
}

/// The phases that any of these cells has, if they are two or more.
pub(super) fn job_phases<'a>(cells: &[Vec<&'a Measurement>]) -> Option<Vec<&'a str>> {
    let phases = each_once(cells.iter().flatten().map(|m| m.phase.as_str()));
    (phases.len() > 1).then_some(phases)
}

/// The rate of all phases with their syncs; none without a repeat of which all is valid.
pub(super) fn job_rate(cell: &[&Measurement], phases: &[&str]) -> Option<JobRate> {
    let all: Vec<WholeJob> = whole_jobs(cell, phases);
    let logs = job_values(&all);
    let seconds: Vec<f64> = all.iter().map(|whole| whole.seconds).collect();
    let basis = if all.len() > 1 { IntervalBasis::Repeats } else { IntervalBasis::Slices };
    let (rate, shown) = (Rate::new(&logs)?, Estimate::of(&seconds, logs.own_error, basis)?);
    let shown = Estimate { mean: (-rate.log).exp(), ..shown };
    let work = each_once(all.into_iter().map(|whole| whole.operations));
    Some(JobRate { rate: RunRate { rate, shown }, work })
}
