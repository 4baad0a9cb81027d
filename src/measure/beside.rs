//! Runs beside each other: the same phase of each in one row. A ratio here is a ratio and no
//! verdict; whether a difference is more than chance is for a comparison to say.

use super::book::{Book, Level, Measurement};
use super::matching::{Key, Matching, Run};
use super::summary::PhaseSummary;
use super::uncertainty::{Estimate, IntervalBasis};
use crate::base::units::Unit;

/// What is compared in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Operations per second: more is faster.
    Operations,
    /// Bytes per second: more is faster.
    Bytes,
    /// How long the operation with this number, from 1, took, in nanoseconds: less is faster. Of
    /// a run with windows, the mean of the window that it lies in.
    Latency(u64),
}

/// One phase of all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct BesideRow {
    /// The variant; none if each run has only one.
    pub variant: Option<String>,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// The phase's name.
    pub phase: String,
    /// What its figures are.
    pub what: What,
    /// One for each run; none where a run has no such figure.
    pub sides: Vec<Option<Side>>,
}

/// A run's figure in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// The figure.
    pub value: Estimate,
    /// How many times that of the first run it is; none for the first run, or without its figure.
    pub ratio: Option<f64>,
    /// Whether something disturbed measurements of it.
    pub disturbed: bool,
}

/// The runs beside each other, in the order of the first run that has a row.
pub fn beside(books: &[&Book]) -> Vec<BesideRow> {
    let Matching { runs, keys } = Matching::of(books);
    keys.iter().flat_map(|key| rows(key, &runs)).collect()
}

impl<'a> Run<'a> {
    /// Only latencies of single operations are known, no rate.
    fn single_operations(&self, key: &Key) -> Vec<u64> {
        if self.row(key).is_none_or(|row| row.rate.is_some()) {
            return Vec::new();
        }
        let windows = self.measurements(key).flat_map(|m| &m.windows);
        windows.filter(|window| window.operations == 1).map(|window| window.first + 1).collect()
    }

    fn latency(&self, key: &Key, number: u64) -> Option<Estimate> {
        let holds = |first: u64, operations: u64| first < number && number - first <= operations;
        let of = |m: &'a Measurement| m.windows.iter().find(|w| holds(w.first, w.operations));
        let means: Vec<f64> = self.measurements(key).filter_map(of).map(|w| w.mean_ns).collect();
        Estimate::of(&means, None, IntervalBasis::Repeats)
    }
}

fn rows(key: &Key, runs: &[Run]) -> Vec<BesideRow> {
    let disturbed = |run: &Run| run.row(key).is_some_and(|row| row.disturbed > 0);
    let disturbed: Vec<bool> = runs.iter().map(disturbed).collect();
    let mut numbers: Vec<u64> = runs.iter().flat_map(|run| run.single_operations(key)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if !numbers.is_empty() {
        let latency = |number: u64| {
            let values = runs.iter().map(|run| run.latency(key, number)).collect();
            row(key, What::Latency(number), values, &disturbed)
        };
        return numbers.into_iter().map(latency).collect();
    }
    let found: Vec<Option<&PhaseSummary>> = runs.iter().map(|run| run.row(key)).collect();
    let with_rate = || found.iter().flatten().filter(|row| row.rate.is_some());
    let in_bytes = with_rate().count() > 0 && with_rate().all(|row| row.rate_unit == Unit::Bytes);
    // Where the runs do not agree on a unit, only those in the common one have a figure.
    let (what, unit) =
        if in_bytes { (What::Bytes, Unit::Bytes) } else { (What::Operations, Unit::Count) };
    let rate = |row: Option<&PhaseSummary>| row.filter(|row| row.rate_unit == unit)?.rate;
    let values = found.into_iter().map(rate).collect();
    vec![row(key, what, values, &disturbed)]
}

fn row(key: &Key, what: What, values: Vec<Option<Estimate>>, disturbed: &[bool]) -> BesideRow {
    let first = values.first().copied().flatten().map(|value| value.mean);
    let side = |(at, value): (usize, Option<Estimate>)| {
        let value = value?;
        let ratio = first.filter(|_| at > 0).map(|first| value.mean / first);
        let disturbed = disturbed.get(at).copied().unwrap_or_default();
        Some(Side { value, ratio: ratio.filter(|ratio| ratio.is_finite()), disturbed })
    };
    let sides = values.into_iter().enumerate().map(side).collect();
    let Key { variant, level, phase } = key.clone();
    BesideRow { variant, level, phase, what, sides }
}

#[cfg(test)]
mod tests;
