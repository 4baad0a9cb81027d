//! Finds slopes: how much a rate changes with each step of the axis.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::curve::StraightLine;
use super::sample::{LevelSeries, Sample, Values, log_rate};
use super::say::{self, lead};
use crate::analysis::statistics::Interval;
use crate::analysis::statistics::describe::mean;
use crate::analysis::statistics::student::student_t;
use crate::analysis::thresholds::{EFFECT_MIN, INTERVAL_ALPHA};
use crate::base::units::Unit;
use crate::results::book::Level;

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
    /// The lowest and the highest level that were measured.
    pub range: Interval,
    /// The step that the change is stated for, in the unit's base.
    pub per: f64,
    /// Change of the rate for each step, as a share of the rate at the lowest level.
    pub change: f64,
    /// Its interval, such that those of all phases and variants hold together with 95%.
    pub interval: Interval,
    /// Whether the change is significant and large enough to matter.
    pub effect: bool,
    /// The change at each level above the lowest, which need not lie on a line.
    pub levels: Vec<LevelChange>,
    /// What the rate counts.
    pub rate: RateBasis,
    /// Points that the line goes through.
    pub n: usize,
}

/// A change of the rate at one level, as a share of the rate at the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelChange {
    /// The level's value, in the unit's base.
    pub value: f64,
    /// The change.
    pub change: f64,
    /// Its interval, such that those of all levels, phases and variants hold together with 95%.
    pub interval: Interval,
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
        let Self { phase, axis, change, .. } = self;
        let range = say::AxisRange { axis, unit: self.unit, range: self.range };
        let bounds = self.bounds();
        let most = bounds.low.abs().max(bounds.high.abs());
        let sentence = if self.effect {
            let way = if *change < 0.0 { "slower" } else { "faster" };
            let mut ends = [self.interval.low, self.interval.high].map(f64::abs);
            ends.sort_by(f64::total_cmp);
            let ([low, high], by) = (ends.map(say::percent), say::percent(change.abs()));
            let noun = say::behind_value(axis, self.unit);
            let step = format!("{} {noun}", say::quantity(self.per, self.unit));
            format!("{phase} is {by} {way} ({low} to {high}) for each {step}")
        } else if say::is_within_margin(most) {
            format!("{phase} changes by no more than {} {}", say::percent(most), range.between())
        } else {
            let [low, high] = [bounds.low.max(-1.0), bounds.high].map(|end| {
                let way = if end < 0.0 { "slower" } else { "faster" };
                format!("{} {way}", say::percent(end.abs()))
            });
            format!("{} gets anything from {low} to {high}", range.cannot_tell(phase))
        };
        format!("{}{sentence}.", lead(&self.variant))
    }

    /// Change of the rate over the whole range, as a share of the rate at the lowest level.
    pub(in crate::analysis) fn whole(&self) -> f64 {
        self.change * self.range.width() / self.per
    }

    /// The interval of that.
    pub(in crate::analysis) fn whole_interval(&self) -> Interval {
        let steps = self.range.width() / self.per;
        Interval { low: self.interval.low * steps, high: self.interval.high * steps }
    }

    /// The least and the most that the rate may change at any level, by the line and by the level's own rates.
    pub(in crate::analysis) fn bounds(&self) -> Interval {
        self.levels.iter().fold(self.whole_interval(), |bounds, level| Interval {
            low: bounds.low.min(level.interval.low),
            high: bounds.high.max(level.interval.high),
        })
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
    let series = sample.series();
    series.iter().filter_map(|one| finding(one, series.len())).collect()
}

/// The interval and the test are of one level, at which all of so many series hold together with 95%
/// (Bonferroni).
fn finding(series: &LevelSeries<'_>, all_series: usize) -> Option<SlopeFinding> {
    let (lowest, highest) = (*series.levels.first()?, *series.levels.last()?);
    let range = highest.value - lowest.value;
    let rates = LevelRates::of(series)?;
    let RateChange { per, change, error, degrees, n } = rates.change(lowest, range)?;
    let alpha = INTERVAL_ALPHA / all_series as f64;
    let half = student_t(alpha, degrees)? * error;
    let is_significant = change.abs() > half;
    Some(SlopeFinding {
        variant: series.variant.into(),
        phase: series.phase.into(),
        axis: lowest.axis.clone(),
        unit: lowest.unit,
        range: Interval { low: lowest.value, high: highest.value },
        per,
        change,
        interval: Interval { low: change - half, high: change + half },
        effect: is_significant && (change * (range / per)).abs() >= EFFECT_MIN,
        levels: rates.changes(alpha)?,
        rate: if series.in_bytes { RateBasis::Bytes } else { RateBasis::Operations },
        n,
    })
}

/// A change of the rate for each step, as a share of the rate at the lowest level.
struct RateChange {
    per: f64,
    change: f64,
    error: f64,
    degrees: f64,
    /// Points that it was found from.
    n: usize,
}

/// The rates of a series.
struct LevelRates<'a> {
    levels: &'a [&'a Level],
    /// Those of each level. Where each repeat has all levels they are shares of their repeat's mean, so that a slow repeat
    /// does not count as noise.
    rates: Vec<Vec<f64>>,
    /// Means that were taken out.
    means: usize,
}

impl<'a> LevelRates<'a> {
    /// None without repeats.
    fn of(series: &'a LevelSeries<'_>) -> Option<Self> {
        let values = series.values(|m, amount| Some(log_rate(m)?.exp() * amount));
        if !values.iter().all(|values| values.repeated) {
            return None;
        }
        let first = values.first().map_or(Vec::new(), Values::repeats);
        let is_whole = values.iter().all(|values| values.repeats() == first);
        let mean_of = |repeat: u32| {
            let all = values.iter().flat_map(|values| &values.all);
            let of_repeat = all.filter(|(other, _)| *other == repeat);
            mean(&of_repeat.map(|(_, rate)| *rate).collect::<Vec<_>>())
        };
        let means: BTreeMap<u32, f64> = match is_whole {
            true => first.iter().map(|repeat| (*repeat, mean_of(*repeat))).collect(),
            false => BTreeMap::new(),
        };
        let share = |(repeat, rate): &(u32, f64)| rate / means.get(repeat).unwrap_or(&1.0);
        let rates = values.iter().map(|values| values.all.iter().map(share).collect());
        Some(Self { levels: &series.levels, rates: rates.collect(), means: means.len().max(1) })
    }

    /// How many there are.
    fn number(&self) -> usize {
        self.rates.iter().map(Vec::len).sum()
    }

    /// Regression over all points; the share's error by the delta method.
    fn change(&self, lowest: &Level, range: f64) -> Option<RateChange> {
        let at_levels = self.levels.iter().zip(&self.rates);
        let points = at_levels.flat_map(|(level, rates)| {
            rates.iter().map(|rate| (level.value - lowest.value, *rate))
        });
        let points: Vec<(f64, f64)> = points.collect();
        let line = StraightLine::through(points.iter().map(|(x, y)| (*x, *y, 1.0)))?;
        let n = points.len();
        let degrees = n as f64 - 1.0 - self.means as f64;
        let squares: f64 = points.iter().map(|(x, y)| (y - line.at(*x)).powi(2)).sum();
        let per = per(lowest.unit, range)?;
        let share = line.rise / line.height;
        let [hh, hr, rr] = line.spread;
        let variance = (rr - 2.0 * share * hr + share * share * hh) / line.height.powi(2);
        let error = (squares / degrees * variance.max(0.0)).sqrt() * per;
        let whole = degrees >= 1.0 && error.is_finite() && line.height > 0.0;
        whole.then_some(RateChange { per, change: share * per, error, degrees, n })
    }

    /// The change at each level above the lowest; the error of one is that of all, and the interval of each such that all hold
    /// together with this chance of error.
    fn changes(&self, alpha: f64) -> Option<Vec<LevelChange>> {
        let means: Vec<f64> = self.rates.iter().map(|rates| mean(rates)).collect();
        let around = self.rates.iter().zip(&means);
        let squares: f64 = around
            .flat_map(|(rates, mean)| rates.iter().map(move |rate| (rate - mean).powi(2)))
            .sum();
        let degrees = self.number() as f64 - (self.rates.len() + self.means - 1) as f64;
        let lowest = *means.first().filter(|mean| **mean > 0.0)?;
        let n = |at: usize| self.rates[at].len() as f64;
        let others = (self.rates.len() - 1).max(1) as f64;
        let reach = student_t(alpha / others, degrees)? * (squares / degrees).sqrt() / lowest;
        let change = |at: usize| {
            let share = means[at] / lowest;
            let half = reach * (1.0 / n(at) + share * share / n(0)).sqrt();
            let change = share - 1.0;
            let interval = Interval { low: change - half, high: change + half };
            LevelChange { value: self.levels[at].value, change, interval }
        };
        Some((1..self.rates.len()).map(change).collect())
    }
}

/// The step that a change is stated for: the largest power of ten within the range, ten percent, or
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
