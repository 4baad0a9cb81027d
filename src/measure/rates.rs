//! How fast a run did a phase, or its whole job: what comparisons between runs are made of.

use super::book::Measurement;
use super::conclusions::ranking::whole::{SYNC_SHARE_MAX, Whole, values, wholes};
use super::conclusions::ratio::Rate;
use super::conclusions::sample::{SECONDS, Values};
use super::order::each_once;
use super::uncertainty::{Estimate, IntervalBasis, rate_estimate};
use crate::base::units::Unit;

/// A rate, as figures are made of it and as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    /// Logarithms of the rates of repeats.
    pub(super) rate: Rate,
    /// The geometric mean of the rates, so that ratios are those of what is shown; of a whole job
    /// that of its seconds.
    pub(super) shown: Estimate,
}

fn counts(m: &&&Measurement) -> bool {
    m.valid() && m.operations > 0 && SECONDS.contains(&m.seconds)
}

/// Whether a sync followed any of these, and how long it took is known of all.
pub(super) fn synced<'a>(mut all: impl Iterator<Item = &'a Measurement> + Clone) -> bool {
    all.clone().any(|m| m.sync_seconds > 0.0) && all.all(|m| m.sync_seconds.is_finite())
}

/// The rate of a phase in operations or bytes per second, with its sync or without; none if nothing
/// of it is valid.
pub(super) fn phase_rate(all: &[&Measurement], unit: Unit, with_sync: bool) -> Option<Timed> {
    let valid: Vec<&Measurement> = all.iter().filter(counts).copied().collect();
    let sync = |m: &Measurement| if with_sync { m.sync_seconds } else { 0.0 };
    let done = |m: &Measurement| if unit == Unit::Bytes { m.bytes } else { m.operations } as f64;
    let mut logs = Values::of(&valid, |m| Some((done(m) / (m.seconds + sync(m))).ln()));
    logs.own_error = valid.first().zip(logs.own_error).and_then(|(m, error)| {
        let share = sync(m) / (m.seconds + sync(m));
        (share <= SYNC_SHARE_MAX).then_some(error * (1.0 - share))
    });
    let (rate, shown) = (Rate::of(&logs)?, rate_estimate(&valid, unit, sync, logs.own_error)?);
    Some(Timed { rate, shown: Estimate { mean: rate.log.exp(), ..shown } })
}

/// The phases that any of these cells has, if they are two or more.
pub(super) fn phases<'a>(cells: &[Vec<&'a Measurement>]) -> Option<Vec<&'a str>> {
    let phases = each_once(cells.iter().flatten().map(|m| m.phase.as_str()));
    (phases.len() > 1).then_some(phases)
}

/// The time of all phases with their syncs, and the work that was done in each; none without a
/// repeat of which all is valid.
pub(super) fn job_time(cell: &[&Measurement], phases: &[&str]) -> Option<(Timed, Vec<Vec<u64>>)> {
    let all: Vec<Whole> = wholes(cell, phases);
    let logs = values(&all);
    let seconds: Vec<f64> = all.iter().map(|whole| whole.seconds).collect();
    let basis = if all.len() > 1 { IntervalBasis::Repeats } else { IntervalBasis::Slices };
    let (rate, shown) = (Rate::of(&logs)?, Estimate::of(&seconds, logs.own_error, basis)?);
    let shown = Estimate { mean: (-rate.log).exp(), ..shown };
    let work = each_once(all.into_iter().map(|whole| whole.operations));
    Some((Timed { rate, shown }, work))
}
