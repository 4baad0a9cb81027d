//! Collects the values behind each rate.

use super::figures::RunFigures;
use super::summary::PhaseSummary;
use super::uncertainty::{IntervalBasis, per_second};
use crate::results::book::{Level, Measurement};

/// One of the values that a rate is the mean of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateValue {
    /// Its repeat, or its pass where there is one repeat, from 1.
    pub(crate) number: u32,
    /// Operations or bytes per second, as the row's rate.
    pub(crate) rate: f64,
    /// How many measurements it is the mean of.
    pub(crate) n: u64,
    /// Whether one of them was disturbed.
    pub(crate) disturbed: bool,
}

/// What the rate of a row is averaged from: a value for each repeat, the geometric mean of its passes, or of
/// a single repeat one for each pass. Empty where there is only one measurement.
pub(crate) fn rate_values(
    analysis: &RunFigures<'_>,
    of_variant: &[&Measurement],
    level: Option<&Level>,
    row: &PhaseSummary,
) -> Vec<RateValue> {
    let number = |m: &Measurement| match row.rate.map(|rate| rate.basis) {
        Some(IntervalBasis::Repeats) => Some(m.cell.repeat),
        Some(IntervalBasis::Passes) => Some(m.pass),
        _ => None,
    };
    let here = |m: &&&Measurement| {
        let own = m.phase == row.phase && m.cell.level.as_ref() == level;
        own && m.valid() && m.seconds.is_some()
    };
    let all: Vec<&Measurement> = of_variant.iter().filter(here).copied().collect();
    let mut numbers: Vec<u32> = all.iter().filter_map(|m| number(m)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let value = |wanted: u32| {
        let own = || all.iter().filter(|m| number(m) == Some(wanted));
        let n = own().count() as u64;
        let log = |m: &&&Measurement| per_second(m, row.rate_unit, m.durable_seconds()).ln();
        let rate = (own().map(|m| log(&m)).sum::<f64>() / n as f64).exp();
        let disturbed = own().any(|m| analysis.disturbed(m));
        rate.is_finite().then_some(RateValue { number: wanted, rate, n, disturbed })
    };
    numbers.into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests;
