//! Lists the rates of single repeats (of single passes, where there is one repeat) whose geometric mean is the rate of a row.

use std::collections::BTreeMap;

use super::figures::RunFigures;
use super::statistics::describe::mean;
use super::summary::PhaseSummary;
use super::uncertainty::{IntervalBasis, per_second};
use boatload_results::book::{Level, Measurement};

/// One of the values that a rate is the mean of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateValue {
    /// Operations or bytes per second, as the row's rate.
    pub rate: f64,
    /// How many measurements it is the mean of.
    pub n: u64,
    /// Whether one of them was disturbed.
    pub disturbed: bool,
}

/// What the rate of a row is averaged from: a value for each repeat, the geometric mean of its passes, or of
/// a single repeat one for each pass. Empty where there is only one measurement.
pub fn rate_values(
    analysis: &RunFigures<'_>,
    variant: &str,
    level: Option<&Level>,
    row: &PhaseSummary,
) -> Vec<RateValue> {
    let number = |m: &Measurement| match row.rate.map(|rate| rate.basis) {
        Some(IntervalBasis::Repeats) => Some(m.cell.repeat),
        Some(IntervalBasis::Passes) => Some(m.pass),
        _ => None,
    };
    let mut by_number: BTreeMap<u32, Vec<&Measurement>> = BTreeMap::new();
    let own = analysis.book.measurements.iter().filter(|m| m.cell.variant == variant);
    for m in own.filter(|m| m.phase == row.phase && m.cell.level.as_ref() == level) {
        if let Some(number) = number(m).filter(|_| m.valid() && m.seconds.is_some()) {
            by_number.entry(number).or_default().push(m);
        }
    }
    let value = |own: Vec<&Measurement>| {
        let log = |m: &&Measurement| per_second(m, row.rate_unit, m.durable_seconds()).ln();
        let rate = mean(&own.iter().map(log).collect::<Vec<f64>>()).exp();
        let disturbed = own.iter().any(|m| analysis.disturbed(m));
        rate.is_finite().then_some(RateValue { rate, n: own.len() as u64, disturbed })
    };
    by_number.into_values().filter_map(value).collect()
}

#[cfg(test)]
mod tests;
