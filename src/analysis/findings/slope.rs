//! Finds slopes: how much a rate changes with each step of the axis.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::curve::StraightLine;
use super::device_load::differs_by_device_itself;
use super::sample::{LevelSeries, Sample, level_means, log_rate, whole_repeats};
use super::say::{self, lead};
use crate::analysis::statistics::Interval;
use crate::analysis::statistics::describe::{mean, squares};
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
    /// Whether there is an effect, and the device took longer, or shorter, for the same requests: it may be an effect of the
    /// device itself, and not of the axis.
    pub device_itself: bool,
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

/// What stands behind an effect that may be the device's own.
pub(in crate::analysis) const DEVICE_ITSELF: &str =
    ", but the device had the same requests: it may be the device itself";

const TIMES_AS_LONG_FROM: f64 = 0.9;

/// Places at which the line of a slope is drawn: it is curved where an axis is not linear.
const LINE_PLACES: usize = 32;

impl SlopeFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let Self { phase, axis, change, .. } = self;
        let range = say::AxisRange { axis, unit: self.unit, range: self.range };
        let bounds = self.bounds();
        let most = bounds.low.abs().max(bounds.high.abs());
        let sentence = if let Some(level) = self.off_line().filter(|_| self.effect) {
            let lowest = say::quantity(self.range.low, self.unit);
            let but = if self.device_itself { DEVICE_ITSELF } else { "" };
            let highest = format!("at {}", say::value_in_words(axis, self.range.high, self.unit));
            let differs = match self.times_as_long() {
                Some((times, ends)) => {
                    let (times, ends) = (say::times(times), say::span(ends));
                    format!("takes {times} times as long ({ends}) {highest} as")
                }
                None => {
                    let [low, high] = self.ends(level.interval).map(say::percent);
                    let (way, by) = (self.way(), say::percent(level.change.abs()));
                    format!("is {by} {way} ({low} to {high}) {highest} than")
                }
            };
            format!("{phase} {differs} at {lowest}, and changes unevenly between{but}")
        } else if self.effect {
            let ([low, high], way) = (self.ends(self.interval).map(say::percent), self.way());
            let by = say::percent(change.abs());
            let step = say::value_in_words(axis, self.per, self.unit);
            let but = if self.device_itself { DEVICE_ITSELF } else { "" };
            format!("{phase} is {by} {way} ({low} to {high}) for each {step}{but}")
        } else if say::is_within_margin(most) {
            format!("{phase} changes by at most {} {}", say::percent(most), range.between())
        } else {
            let [low, high] = [bounds.low.max(-1.0), bounds.high].map(|end| {
                let way = if end < 0.0 { "slower" } else { "faster" };
                format!("{} {way}", say::percent(end.abs()))
            });
            format!("{} gets anything from {low} to {high}", range.cannot_tell(phase))
        };
        format!("{}{sentence}.", lead(&self.variant))
    }

    fn way(&self) -> &'static str {
        if self.change < 0.0 { "slower" } else { "faster" }
    }

    /// The ends of an interval as shares of a change in the direction of this one, the smaller first.
    fn ends(&self, interval: Interval) -> [f64; 2] {
        let mut ends = [interval.low, interval.high].map(f64::abs);
        ends.sort_by(f64::total_cmp);
        ends
    }

    /// The highest level, if the rates of any say that the line does not reach it.
    fn off_line(&self) -> Option<&LevelChange> {
        let is_straight = is_straight(&self.levels, self.range.low, self.change / self.per);
        self.levels.last().filter(|_| !is_straight)
    }

    /// Change over the whole range by the line.
    fn by_line(&self) -> f64 {
        self.change * self.range.width() / self.per
    }

    /// Change of the rate over the whole range, as a share of the rate at the lowest level: by the line, and where it is not
    /// straight by the rates at the highest level.
    pub(in crate::analysis) fn whole(&self) -> f64 {
        self.off_line().map_or_else(|| self.by_line(), |level| level.change)
    }

    /// The interval of that.
    pub(in crate::analysis) fn whole_interval(&self) -> Interval {
        self.off_line().map_or_else(|| self.interval_by_line(), |level| level.interval)
    }

    /// How many times as long the highest level takes as the lowest, where that says more than percents: of a rate that has
    /// fallen by [`TIMES_AS_LONG_FROM`] or more. By the rates at the highest level: where hardly anything is left, a line that
    /// misses them by little is off by as much as is left.
    pub(in crate::analysis) fn times_as_long(&self) -> Option<(f64, Interval)> {
        let (change, ends) = self.levels.last().map(|level| (level.change, level.interval))?;
        let times = |change: f64| 1.0 / (1.0 + change);
        let is_known = change <= -TIMES_AS_LONG_FROM && ends.low > -1.0;
        is_known.then(|| (times(change), Interval { low: times(ends.high), high: times(ends.low) }))
    }

    fn interval_by_line(&self) -> Interval {
        let steps = self.range.width() / self.per;
        Interval { low: self.interval.low * steps, high: self.interval.high * steps }
    }

    /// The least and the most that the rate may change at any level, by the line and by the level's own rates.
    pub(in crate::analysis) fn bounds(&self) -> Interval {
        self.levels.iter().fold(self.interval_by_line(), |bounds, level| Interval {
            low: bounds.low.min(level.interval.low),
            high: bounds.high.max(level.interval.high),
        })
    }

    /// The line through the mean of the rates at these levels, lowest to highest, as levels and
    /// heights in the rates' unit. Empty where there is no effect, or no straight one.
    pub fn line(&self, rates: &[LevelRate]) -> Vec<(f64, f64)> {
        let levels = || rates.iter().map(|rate| rate.level);
        let (lowest, highest) =
            (levels().fold(f64::INFINITY, f64::min), levels().fold(f64::NEG_INFINITY, f64::max));
        if !self.effect || self.off_line().is_some() || self.per <= 0.0 || lowest > highest {
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

/// Whether a line that rises by so much for each unit from the lowest level on misses the interval of no level's own
/// change by more than what is no effect.
fn is_straight(levels: &[LevelChange], lowest: f64, rise: f64) -> bool {
    levels.iter().all(|level| {
        let (by_line, own) = (rise * (level.value - lowest), level.interval);
        (own.low - EFFECT_MIN..=own.high + EFFECT_MIN).contains(&by_line)
    })
}

/// One for each phase and variant that were measured at two levels or more.
pub(super) fn slope(sample: &Sample<'_>) -> Vec<SlopeFinding> {
    let series = sample.series();
    series.iter().filter_map(|one| finding(one, series.len())).collect()
}

/// All of so many series hold together with 95% (Bonferroni): of the 5% one half is for the lines, the other for the levels.
fn finding(series: &LevelSeries<'_>, all_series: usize) -> Option<SlopeFinding> {
    let (lowest, highest) = (*series.levels.first()?, *series.levels.last()?);
    let range = highest.value - lowest.value;
    let rates = LevelRates::of(series)?;
    let per = per(lowest.unit, range)?;
    let alpha = INTERVAL_ALPHA / 2.0 / all_series as f64;
    let (rise, interval) = rates.rise_of_line(alpha)?;
    let is_significant = !interval.contains(0.0);
    let levels = rates.changes(alpha)?;
    // A line says nothing if what falls over the levels has risen again at the highest.
    let is_so_at_highest = levels.last().is_some_and(|last| {
        let is_same_way = (last.change < 0.0) == (rise < 0.0);
        is_straight(&levels, lowest.value, rise) || (is_same_way && !last.interval.contains(0.0))
    });
    let is_large = (rise * range).abs() >= EFFECT_MIN;
    let effect = is_significant && is_large && is_so_at_highest;
    Some(SlopeFinding {
        variant: series.variant.into(),
        phase: series.phase.into(),
        axis: lowest.axis.clone(),
        unit: lowest.unit,
        range: Interval { low: lowest.value, high: highest.value },
        per,
        change: rise * per,
        interval: Interval { low: interval.low * per, high: interval.high * per },
        effect,
        device_itself: effect && differs_by_device_itself(series),
        levels,
        rate: if series.in_bytes { RateBasis::Bytes } else { RateBasis::Operations },
        n: rates.repeats.len() * series.levels.len(),
    })
}

/// The rates of a series: for each repeat that has all levels, those of its levels as shares of their mean, so that a slow
/// repeat does not count as noise.
struct LevelRates<'a> {
    levels: &'a [&'a Level],
    repeats: Vec<Vec<f64>>,
}

impl<'a> LevelRates<'a> {
    /// None without repeats.
    fn of(series: &'a LevelSeries<'_>) -> Option<Self> {
        let values = series.values(|m, amount| Some(log_rate(m)?.exp() * amount));
        let repeats = whole_repeats(&values);
        let shares = |rates: Vec<f64>| {
            let middle = mean(&rates);
            rates.into_iter().map(|rate| rate / middle).collect()
        };
        let repeats: Vec<Vec<f64>> = repeats.into_iter().map(shares).collect();
        (repeats.len() > 1).then_some(Self { levels: &series.levels, repeats })
    }

    /// Regression of these rates: how high it is at the lowest level, and how much it rises for each unit of the axis.
    fn line(&self, rates: &[f64]) -> Option<StraightLine> {
        let lowest = self.levels.first()?.value;
        let points = self.levels.iter().zip(rates);
        StraightLine::through(points.map(|(level, rate)| (level.value - lowest, *rate, 1.0)))
    }

    /// How much the line rises for each unit of the axis, as a share of its height at the lowest level.
    fn rise_of_line(&self, alpha: f64) -> Option<(f64, Interval)> {
        let line = self.line(&level_means(&self.repeats))?;
        let own = |rates: &Vec<f64>| self.line(rates).map(|own| [own.rise, own.height]);
        let own: Vec<[f64; 2]> = self.repeats.iter().map(own).collect::<Option<_>>()?;
        share_of(&own, [line.rise, line.height], alpha)
    }

    /// The change at each level above the lowest, such that the intervals of all hold together with this chance of error.
    fn changes(&self, alpha: f64) -> Option<Vec<LevelChange>> {
        let (means, others) =
            (level_means(&self.repeats), self.levels.len().saturating_sub(1).max(1));
        let change = |at: usize| {
            let own: Vec<[f64; 2]> =
                self.repeats.iter().map(|rates| [rates[at], rates[0]]).collect();
            let (share, ends) = share_of(&own, [means[at], means[0]], alpha / others as f64)?;
            let interval = Interval { low: ends.low - 1.0, high: ends.high - 1.0 };
            Some(LevelChange { value: self.levels[at].value, change: share - 1.0, interval })
        };
        (1..self.levels.len()).map(change).collect()
    }
}

/// A part as a share of a whole, with an interval by what both are in each repeat (the delta method, and Student's t): levels
/// may spread unlike each other, and repeats have slopes of their own. None unless the whole is positive.
fn share_of(own: &[[f64; 2]], [part, whole]: [f64; 2], alpha: f64) -> Option<(f64, Interval)> {
    let (share, n) = (part / whole, own.len() as f64);
    let off: Vec<f64> = own.iter().map(|[part, whole]| part - share * whole).collect();
    let error = (squares(&off) / (n - 1.0) / n).sqrt() / whole;
    let half = student_t(alpha, n - 1.0)? * error;
    let is_known = whole > 0.0 && half.is_finite();
    is_known.then_some((share, Interval { low: share - half, high: share + half }))
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
