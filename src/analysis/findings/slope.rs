//! Slopes: how much a rate changes with each step of the axis.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::units::Unit;
use crate::results::book::{Level, Measurement};

use super::fit::{StraightLine, mean};
use super::sample::{Sample, Values, lead, log_rate};
use super::say;
use crate::analysis::statistics::Interval;
use crate::analysis::statistics::student::student_t;

/// A change over the whole range below this share is no effect worth telling.
const CHANGE_MIN: f64 = 0.02;
/// An effect is told when the interval that misses the truth this rarely excludes none: a run
/// asks this of several phases and variants.
const MISS: f64 = 0.01;
/// From this on a phase's rate is told in bytes.
const BYTES_OF_OPERATION: u64 = 64 * 1024;

/// How much a rate changes with each step of the axis, of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopeFinding {
    /// The variant's name.
    pub variant: String,
    /// The phase's name.
    pub phase: String,
    /// The axis's name.
    pub axis: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The step that the change is stated for, in the unit's base.
    pub per: f64,
    /// Change of the rate for each step, as a share of the rate at the lowest level.
    pub change: f64,
    /// Its 95% interval.
    pub interval: Interval,
    /// Whether the change is significant and large enough to matter.
    pub effect: bool,
    /// What the rate counts.
    pub rate: RateBasis,
    /// Points that the line goes through.
    pub n: usize,
}

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateBasis {
    /// Operations.
    Operations,
    /// Bytes.
    Bytes,
}

/// A mean rate at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRate {
    /// The level's value.
    pub level: f64,
    /// The mean.
    pub mean: f64,
    /// Of how many.
    pub n: u32,
}

/// Places at which the line of a slope is drawn: it is curved where an axis is not linear.
const LINE_PLACES: usize = 32;

impl SlopeFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let Self { phase, axis, change, interval, .. } = self;
        let step = format!("{} of {axis}", say::quantity(self.per, self.unit));
        let mut ends = [interval.low, interval.high].map(f64::abs);
        ends.sort_by(f64::total_cmp);
        let [low, high] = ends.map(say::percent);
        let told = match self.effect {
            true => {
                let way = if *change < 0.0 { "slower" } else { "faster" };
                let by = say::percent(change.abs());
                format!("{phase} is {by} {way} ({low} to {high}) for each {step}")
            }
            false => format!(
                "{axis} has no significant effect on {phase}: less than {high} for each {step}"
            ),
        };
        format!("{}{told}.", lead(&self.variant))
    }

    /// The line through the mean of the rates at these levels, lowest to highest, as levels and
    /// heights in the rates' unit. Empty where there is no effect.
    pub fn line(&self, rates: &[LevelRate]) -> Vec<(f64, f64)> {
        let levels = || rates.iter().map(|rate| rate.level);
        let (lowest, highest) =
            (levels().fold(f64::INFINITY, f64::min), levels().fold(f64::NEG_INFINITY, f64::max));
        if !self.effect || self.per <= 0.0 || lowest > highest {
            return Vec::new();
        }
        let beyond = |level: f64| 1.0 + self.change / self.per * (level - lowest);
        let sum: f64 = rates.iter().map(|rate| rate.mean * f64::from(rate.n)).sum();
        let weights = rates.iter().map(|rate| beyond(rate.level) * f64::from(rate.n));
        let height = sum / weights.sum::<f64>();
        let place = |n: usize| lowest + (highest - lowest) * n as f64 / LINE_PLACES as f64;
        let line = (0..=LINE_PLACES).map(|n| (place(n), height * beyond(place(n))));
        line.filter(|(_, rate)| rate.is_finite() && *rate > 0.0).collect()
    }
}

/// One for each phase and variant that were measured at two levels or more.
pub(super) fn slope(sample: &Sample<'_>) -> Vec<SlopeFinding> {
    let mut findings = Vec::new();
    for phase in sample.phases() {
        for variant in sample.variants() {
            let series = SlopeSeries::of(sample, phase, variant);
            findings.extend(series.and_then(|series| series.finding(phase, variant)));
        }
    }
    findings
}

/// Rates over the axis.
struct SlopeSeries<'a> {
    lowest: &'a Level,
    highest: &'a Level,
    /// (level over the lowest, rate over the mean of its repeat)
    points: Vec<(f64, f64)>,
    /// Means that were taken out of the points, one for each repeat.
    means: usize,
    bytes: bool,
}

/// A change of the rate for each step, as a share of the rate at the lowest level.
struct RateChange {
    per: f64,
    change: f64,
    error: f64,
    degrees: f64,
}

impl<'a> SlopeSeries<'a> {
    fn of(sample: &Sample<'a>, phase: &str, variant: &str) -> Option<Self> {
        let levels: Vec<&Level> = sample.levels(phase).into_iter().flatten().collect();
        let cell = |level: &&'a Level| {
            let cell = sample.cell(phase, variant, Some(level));
            (!cell.is_empty()).then_some((*level, cell))
        };
        let cells: Vec<(&Level, Vec<&Measurement>)> = levels.iter().filter_map(cell).collect();
        let (lowest, highest) = (cells.first()?.0, cells.last()?.0);
        let large = |m: &&Measurement| m.bytes / m.operations.max(1) >= BYTES_OF_OPERATION;
        let bytes = cells.iter().all(|(_, cell)| cell.iter().all(large));
        let rate = |m: &Measurement| {
            let amount = if bytes { m.bytes as f64 / m.operations as f64 } else { 1.0 };
            Some(log_rate(m, false)?.exp() * amount)
        };
        let values: Vec<(f64, Values)> = cells
            .iter()
            .map(|(level, cell)| (level.value - lowest.value, Values::of(cell, rate)))
            .collect();
        let (points, means) = without_repeats(&values);
        let rises = highest.value > lowest.value;
        rises.then_some(Self { lowest, highest, points, means, bytes })
    }

    /// Regression over all points; the share's error by the delta method.
    fn change(&self) -> Option<RateChange> {
        let line = StraightLine::through(self.points.iter().map(|(x, y)| (*x, *y, 1.0)))?;
        let degrees = self.points.len() as f64 - 1.0 - self.means as f64;
        let squares: f64 = self.points.iter().map(|(x, y)| (y - line.at(*x)).powi(2)).sum();
        let per = per(self.lowest.unit, self.highest.value - self.lowest.value)?;
        let share = line.rise / line.height;
        let [hh, hr, rr] = line.spread;
        let variance = (rr - 2.0 * share * hr + share * share * hh) / line.height.powi(2);
        let error = (squares / degrees * variance.max(0.0)).sqrt() * per;
        let whole = degrees >= 1.0 && error.is_finite() && line.height > 0.0;
        whole.then_some(RateChange { per, change: share * per, error, degrees })
    }

    fn finding(&self, phase: &str, variant: &str) -> Option<SlopeFinding> {
        let RateChange { per, change, error, degrees } = self.change()?;
        let half = student_t(0.05, degrees)? * error;
        let sure = change.abs() > student_t(MISS, degrees)? * error;
        let range = (self.highest.value - self.lowest.value) / per;
        Some(SlopeFinding {
            variant: variant.into(),
            phase: phase.into(),
            axis: self.lowest.axis.clone(),
            unit: self.lowest.unit,
            per,
            change,
            interval: Interval { low: change - half, high: change + half },
            effect: sure && (change * range).abs() >= CHANGE_MIN,
            rate: if self.bytes { RateBasis::Bytes } else { RateBasis::Operations },
            n: self.points.len(),
        })
    }
}

/// All points; where each repeat has all levels, as shares of their repeat's mean, so that a slow
/// repeat does not count as noise. And how many means were taken out.
fn without_repeats(values: &[(f64, Values)]) -> (Vec<(f64, f64)>, usize) {
    let keys = |values: &Values| values.all.iter().map(|(key, _)| *key).collect::<Vec<_>>();
    let first = values.first().map_or(Vec::new(), |(_, values)| keys(values));
    let whole = values.iter().all(|(_, values)| values.repeated && keys(values) == first);
    let mean_of = |repeat: u32| {
        let of = values.iter().flat_map(|(_, values)| &values.all);
        mean(&of.filter(|(key, _)| *key == repeat).map(|(_, rate)| *rate).collect::<Vec<_>>())
    };
    let mut points = Vec::new();
    for (x, values) in values {
        for (key, rate) in &values.all {
            points.push((*x, if whole { rate / mean_of(*key) } else { *rate }));
        }
    }
    (points, if whole { first.len() } else { 1 })
}

/// The step that a change is told for: the largest power of ten within the range, ten percent, or
/// the largest power of 1024 bytes.
fn per(unit: Unit, range: f64) -> Option<f64> {
    let power = |base: f64| base.powf((range.ln() / base.ln() + 1e-9).floor());
    let per = match unit {
        Unit::Percent => power(10.0).min(10.0),
        Unit::Bytes => power(1024.0).round(),
        Unit::Count | Unit::Nanoseconds => power(10.0),
    };
    let whole = if per >= 1.0 { per.round() } else { per };
    (range > 0.0 && whole.is_finite()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_a_round_one_within_the_range() {
        for (unit, range, expected) in [
            (Unit::Count, 2_000_000.0, 1_000_000.0),
            (Unit::Count, 1_000_000.0, 1_000_000.0),
            (Unit::Count, 40_000.0, 10_000.0),
            (Unit::Count, 0.5, 0.1),
            (Unit::Percent, 68.0, 10.0),
            (Unit::Percent, 5.0, 1.0),
            (Unit::Bytes, 4_000_000.0, 1_048_576.0),
        ] {
            let found = per(unit, range).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{range}: {found}, {expected}");
        }
        assert_eq!(per(Unit::Count, 0.0), None);
    }
}
