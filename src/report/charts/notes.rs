//! Sentences below charts, and the scale on which their values can all be seen.

use super::{AxisScale, ChartPoint, ChartSeries, SeriesLook};
use crate::analysis::summary::PhaseSummary;
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::{counted, grouped};
use crate::report::names::level_value;
use crate::results::book::Level;

/// How many times larger the largest must be than the least for a logarithmic scale.
const WIDE: f64 = 30.0;

/// As many missing values as are named.
const MISSING_MAX: usize = 6;

/// Values that are missing because every measurement of them is invalid.
pub(super) struct MissingValues {
    /// A variant with its phase or its level.
    pub(super) what: String,
    pub(super) measurements: u64,
}

impl MissingValues {
    pub(super) fn new(what: String, row: &PhaseSummary) -> Self {
        Self { what, measurements: row.invalid.len() as u64 }
    }
}

pub(super) fn notes<const N: usize>(about: &str, others: [Option<String>; N]) -> Vec<String> {
    [about.to_string()].into_iter().chain(others.into_iter().flatten()).collect()
}

pub(super) fn points(series: &[ChartSeries]) -> impl Iterator<Item = &ChartPoint> + Clone {
    series.iter().flat_map(|one| &one.points)
}

/// The scale on which values that lie far apart can all be seen.
pub(super) fn scale_for(values: impl Iterator<Item = f64> + Clone) -> AxisScale {
    let values = values.filter(|value| value.is_finite());
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    if least > 0.0 && most / least > WIDE { AxisScale::Logarithmic } else { AxisScale::Linear }
}

/// That intervals which reach zero cannot be drawn on a logarithmic scale, where there are any.
pub(super) fn about_intervals(scale: &AxisScale, series: &[ChartSeries]) -> Option<String> {
    let reaches = |point: &ChartPoint| point.interval.is_some_and(|[low, _]| low <= 0.0);
    (*scale == AxisScale::Logarithmic && points(series).any(reaches))
        .then(|| "Intervals that reach zero are not drawn.".into())
}

/// That all values come from disturbed measurements, if so.
pub(super) fn about_disturbed(series: &[ChartSeries]) -> Option<String> {
    let measured = series.iter().filter(|one| one.look != SeriesLook::Law);
    let mut measured = measured.flat_map(|one| &one.points).peekable();
    (measured.peek().is_some() && measured.all(|point| point.disturbed))
        .then(|| "Every value here was measured under background load; see the warnings.".into())
}

/// That some measurements are not in it, if so.
pub(super) fn about_invalid<'a>(rows: impl Iterator<Item = &'a PhaseSummary>) -> Option<String> {
    let number = rows.map(|row| row.invalid.len() as u64).sum();
    (number > 0).then(|| format!("{} left out.", counted(number, "invalid measurement")))
}

/// Which values are missing, by name; none if none are.
pub(super) fn about_missing(missing: impl Iterator<Item = MissingValues>) -> Option<String> {
    let missing: Vec<MissingValues> = missing.filter(|one| one.measurements > 0).collect();
    let name = |one: &MissingValues| match one.measurements {
        1 => format!("{} (invalid)", one.what),
        all => format!("{} (all {} invalid)", one.what, grouped(all)),
    };
    let mut names: Vec<String> = missing.iter().take(MISSING_MAX).map(name).collect();
    if missing.len() > MISSING_MAX {
        names.push(format!("{} more", grouped((missing.len() - MISSING_MAX) as u64)));
    }
    let last = names.pop()?;
    let names = if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) };
    Some(format!("Missing: {names}."))
}

/// Which level of several it is of; none without levels.
pub(super) fn about_last_level(levels: &[&Level]) -> Option<String> {
    let named = |level: &&Level| format!("{} {}", shown(&level.axis), level_value(level));
    let named = each_once(levels.iter().map(named));
    (!named.is_empty()).then(|| format!("Only the last level is shown: {}.", named.join(", ")))
}

pub(super) fn seconds(ns: f64) -> f64 {
    ns / 1e9
}
