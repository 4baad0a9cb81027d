//! Puts runs side by side: one row for each phase, with the ratio to the first run. The ratios are not
//! tested for significance.

use super::matching::{MatchedRun, Matching, PhaseKey};
use super::rates::{Metric, settle_seconds};
use crate::analysis::figures::RunFigures;
use crate::analysis::summary::PhaseSummary;
use crate::analysis::uncertainty::{Estimate, IntervalBasis};
use crate::base::units::Unit;
use crate::results::book::SETTLE;

/// A row with one phase of all runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SideBySideRow {
    /// Which phase.
    pub key: PhaseKey,
    /// What its values are.
    pub metric: Metric,
    /// One for each run; none where a run has no such value.
    pub sides: Vec<Option<RowSide>>,
    /// Whether a run has none because a measurement of it reached its limit.
    pub limited: bool,
}

/// A run's value in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowSide {
    /// The value.
    pub value: Estimate,
    /// How many times that of the first run it is; none for the first run, or without its value.
    pub ratio: Option<f64>,
    /// Whether background load disturbed measurements of it.
    pub disturbed: bool,
}

/// The runs side by side, in the order of the first run that has a row.
pub(crate) fn side_by_side(analyses: &[&RunFigures<'_>]) -> Vec<SideBySideRow> {
    let Matching { runs, keys } = Matching::of_runs(analyses);
    keys.iter().flat_map(|key| rows(key, &runs)).collect()
}

fn rows(key: &PhaseKey, runs: &[MatchedRun]) -> Vec<SideBySideRow> {
    let mut numbers: Vec<u64> = runs.iter().flat_map(|run| single_operations(run, key)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() {
        return vec![rate_row(key, runs)];
    }
    let mut rows = Vec::new();
    for number in numbers {
        let values = runs.iter().map(|run| latency(run, key, number)).collect();
        rows.push(row(key, Metric::LatencyOfOperation(number), values, runs));
    }
    rows
}

/// Of a run that has latencies of single operations and no rate, the numbers of these.
fn single_operations(run: &MatchedRun, key: &PhaseKey) -> Vec<u64> {
    if run.summary(key).is_none_or(|phase| phase.rate.is_some()) {
        return Vec::new();
    }
    let measurements = run.valid_measurements(key);
    let windows = measurements.iter().flat_map(|m| &m.windows);
    windows.filter(|window| window.operations == 1).map(|window| window.first + 1).collect()
}

fn latency(run: &MatchedRun, key: &PhaseKey, number: u64) -> Option<Estimate> {
    let holds = |first: u64, operations: u64| first < number && number - first <= operations;
    let mut means = Vec::new();
    for m in run.valid_measurements(key) {
        let window = m.windows.iter().find(|window| holds(window.first, window.operations));
        means.extend(window.map(|window| window.mean_ns));
    }
    Estimate::of(&means, None, IntervalBasis::Repeats)
}

fn rate_row<'a>(key: &PhaseKey, runs: &'a [MatchedRun]) -> SideBySideRow {
    if key.phase.as_deref() == Some(SETTLE) {
        let seconds = |run: &MatchedRun| settle_seconds(&run.valid_measurements(key));
        return row(key, Metric::Seconds, runs.iter().map(seconds).collect(), runs);
    }
    let counted = |run: &'a MatchedRun| run.summary(key).filter(|_| !run.reached_limit(key));
    let found: Vec<Option<&PhaseSummary>> = runs.iter().map(counted).collect();
    let with_rate = || found.iter().flatten().filter(|phase| phase.rate.is_some());
    let in_bytes =
        with_rate().count() > 0 && with_rate().all(|phase| phase.rate_unit == Unit::Bytes);
    // Where the runs do not agree on a unit, only those in the common one have a value.
    let unit = if in_bytes { Unit::Bytes } else { Unit::Count };
    let rate = |phase: Option<&PhaseSummary>| phase.filter(|phase| phase.rate_unit == unit)?.rate;
    row(key, Metric::of_rate(unit), found.into_iter().map(rate).collect(), runs)
}

fn row(
    key: &PhaseKey,
    metric: Metric,
    values: Vec<Option<Estimate>>,
    runs: &[MatchedRun],
) -> SideBySideRow {
    let first = values.first().copied().flatten().map(|value| value.mean);
    let mut sides = Vec::new();
    for (at, (value, run)) in values.into_iter().zip(runs).enumerate() {
        sides.push(value.map(|value| {
            let ratio = first.filter(|_| at > 0).map(|first| value.mean / first);
            let disturbed = run.summary(key).is_some_and(|phase| phase.disturbed > 0);
            RowSide { value, ratio: ratio.filter(|ratio| ratio.is_finite()), disturbed }
        }));
    }
    let limited = runs.iter().any(|run| run.reached_limit(key));
    SideBySideRow { key: key.clone(), metric, sides, limited }
}

#[cfg(test)]
mod tests;
