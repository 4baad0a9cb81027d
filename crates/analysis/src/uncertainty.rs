//! Computes means with their 95% confidence intervals, from repeats, or from the passes or slices of a
//! single one.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::effects::contrast::Contrast;
use super::statistics::distributions::{DEGREES_MANY, student_t};
use super::statistics::{Interval, describe};
use super::thresholds::INTERVAL_ALPHA;
use boatload_base::units::Unit;
use boatload_results::book::Measurement;

/// A mean with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The 95% confidence interval; `None` if the error is unknown.
    pub interval: Option<Interval>,
    /// How many values were averaged.
    pub n: u32,
    /// Where those values and the interval come from.
    #[serde(skip)]
    pub basis: IntervalBasis,
    /// Significant figures that the interval allows.
    #[serde(skip)]
    pub figures: u32,
    /// The smallest and the largest value.
    #[serde(skip)]
    pub extremes: [f64; 2],
}

/// What an interval is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalBasis {
    /// The spread between repeats, each the mean of its passes.
    Repeats,
    /// The spread between the passes of the only valid repeat.
    Passes,
    /// The spread between slices of the only valid measurement.
    Slices,
}

/// Fewer figures hide what a table shows of others, and more say nothing.
const FIGURES_SHOWN: std::ops::RangeInclusive<u32> = 2..=3;

impl Estimate {
    /// Significant figures with which answers and their tables state it.
    pub fn shown_figures(&self) -> u32 {
        self.figures.clamp(*FIGURES_SHOWN.start(), *FIGURES_SHOWN.end())
    }

    /// The mean of `values` with the interval of Student's t; of a single value with the interval
    /// that its own relative standard error gives. None for no values or values that are no
    /// numbers.
    pub fn of(values: &[f64], relative_error: Option<f64>, basis: IntervalBasis) -> Option<Self> {
        let mean = describe::mean(values);
        let error = relative_error.map(|error| error * mean);
        let half = half_width(values, error);
        let interval = half.map(|half| Interval { low: mean - half, high: mean + half });
        Self::new(mean, interval, values, basis)
    }

    /// The geometric mean of `first` times the exponentials of `logs`, with the interval of Student's t of these logarithms.
    fn geometric(
        first: f64,
        logs: &[f64],
        relative_error: Option<f64>,
        basis: IntervalBasis,
    ) -> Option<Self> {
        let values: Vec<f64> = logs.iter().map(|log| first * log.exp()).collect();
        let mean = first * describe::mean(logs).exp();
        let times = half_width(&logs[..logs.len().min(1)], relative_error).map(f64::exp);
        let interval = times.and_then(|times| Interval::new(mean / times, mean * times));
        let own = Self::new(mean, interval.filter(|_| logs.len() == 1), &values, basis);
        let own = own.filter(|estimate| estimate.mean > 0.0);
        match Contrast::plain(logs) {
            Some(contrast) => own.map(|own| own.with_interval_of(&contrast)),
            None => own,
        }
    }

    fn new(
        mean: f64,
        interval: Option<Interval>,
        values: &[f64],
        basis: IntervalBasis,
    ) -> Option<Self> {
        let end = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of).unwrap_or(mean);
        let estimate = Self {
            mean,
            interval,
            n: values.len() as u32,
            basis,
            figures: figures_allowed(mean, interval.map(half_of)),
            extremes: [end(f64::min), end(f64::max)],
        };
        mean.is_finite().then_some(estimate)
    }

    /// Half the width of the interval as a share of the mean; `None` if unknown.
    pub fn relative(&self) -> Option<f64> {
        self.interval.filter(|_| self.mean > 0.0).map(|interval| half_of(interval) / self.mean)
    }

    /// Within which share of the mean it is known: as far as the farther end of the interval.
    pub fn known_within(&self) -> Option<f64> {
        let Interval { low, high } = self.interval.filter(|_| self.mean > 0.0)?;
        Some((high - self.mean).max(self.mean - low) / self.mean)
    }

    /// Whether the values say more than their interval: they lie far apart.
    pub fn is_scattered(&self) -> bool {
        self.relative().is_some_and(is_wide)
    }

    /// The smallest and the largest value, where these say more than the interval, and there are several.
    pub fn range_of_values(&self) -> Option<[f64; 2]> {
        let [least, most] = self.extremes;
        (self.is_scattered() && least < most).then_some([least, most])
    }

    /// The same with the interval that a contrast of its logarithms has.
    pub(super) fn with_interval_of(self, contrast: &Contrast) -> Self {
        let Interval { low, high } = contrast.interval(INTERVAL_ALPHA);
        let centre = contrast.estimate.exp();
        let interval = Interval::new(self.mean * low / centre, self.mean * high / centre);
        let figures = figures_allowed(self.mean, interval.map(half_of));
        Self { interval, figures, ..self }
    }
}

/// Half the width of the interval of Student's t of the mean of these values; of a single one from its standard error.
fn half_width(values: &[f64], error: Option<f64>) -> Option<f64> {
    let (n, quantile) = (values.len() as f64, |degrees| student_t(INTERVAL_ALPHA, degrees));
    let half = match values {
        [_] => quantile(DEGREES_MANY).zip(error).map(|(z, error)| z * error),
        _ => quantile(n - 1.0).map(|t| t * describe::deviation(values) / n.sqrt()),
    };
    half.filter(|half| half.is_finite() && *half >= 0.0)
}

fn half_of(interval: Interval) -> f64 {
    interval.width() / 2.0
}

/// Beyond this share of a mean, half its interval says little.
const HALF_MAX: f64 = 0.5;

/// Whether half an interval, as a share of its mean, is so wide that its ends, or the values, say more.
pub fn is_wide(relative: f64) -> bool {
    relative > HALF_MAX
}

/// No interval is so narrow that more figures of a rate would mean anything.
const MOST_FIGURES: i32 = 5;
/// Figures for a mean whose error is unknown.
pub(super) const FIGURES_WITHOUT_ERROR: u32 = 2;

/// Figures down to the second one of the uncertainty, as the GUM rounds (JCGM 100:2008, 7.2.6).
pub(super) fn figures_allowed(mean: f64, half_width: Option<f64>) -> u32 {
    let order = |value: f64| value.abs().log10().floor() as i32;
    match half_width {
        None => FIGURES_WITHOUT_ERROR,
        Some(_) if mean == 0.0 => 1,
        Some(0.0) => MOST_FIGURES as u32,
        Some(half) => (order(mean) - order(half) + 2).clamp(1, MOST_FIGURES) as u32,
    }
}

/// Operations or bytes per second; 0 for an empty phase.
pub(super) fn per_second(m: &Measurement, unit: Unit, seconds: f64) -> f64 {
    let done = if unit == Unit::Bytes { m.bytes.unwrap_or_default() } else { m.operations };
    if m.seconds > Some(0.0) { done as f64 / seconds } else { 0.0 }
}

/// Passes of one repeat share its tree and its drift, so repeats are what is independent; passes
/// and slices stand in for them where there is only one.
/// A measurement whose time was not published has none.
pub(super) fn independent(
    valid: &[&Measurement],
    of: impl Fn(&Measurement) -> f64,
) -> (Vec<f64>, IntervalBasis) {
    let valid: Vec<_> = valid.iter().filter(|m| m.seconds.is_some()).collect();
    let repeats: BTreeSet<u32> = valid.iter().map(|m| m.cell.repeat).collect();
    match (repeats.len(), valid.as_slice()) {
        (_, [only]) => (vec![of(only)], IntervalBasis::Slices),
        (1, passes) => (passes.iter().map(|m| of(m)).collect(), IntervalBasis::Passes),
        _ => {
            let passes = |repeat| valid.iter().filter(move |m| m.cell.repeat == repeat);
            let means = repeats.into_iter().filter_map(|r| mean_if_any(passes(r).map(|m| of(m))));
            (means.collect(), IntervalBasis::Repeats)
        }
    }
}

/// What valid measurements do each second of these seconds of each: the geometric mean, so that the ratio of two
/// rates is the mean ratio. A single one has this relative standard error.
pub(super) fn rate_estimate(
    valid: &[&Measurement],
    unit: Unit,
    seconds: impl Fn(&Measurement) -> f64,
    relative_error: Option<f64>,
) -> Option<Estimate> {
    let rate = |m: &Measurement| per_second(m, unit, seconds(m));
    // Against the first, so that equal rates have exactly their own as the mean.
    let first = rate(valid.first()?);
    let (logs, basis) = independent(valid, |m| (rate(m) / first).ln());
    // A rate of nothing has no logarithm.
    Estimate::geometric(first, &logs, relative_error, basis).or_else(|| {
        let (values, basis) = independent(valid, rate);
        Estimate::of(&values, relative_error, basis)
    })
}

/// The logarithms of what valid measurements do each second, one of each repeat; none unless there are several.
pub(super) fn log_rates(
    valid: &[&Measurement],
    unit: Unit,
    seconds: impl Fn(&Measurement) -> f64,
) -> Option<Vec<f64>> {
    let (logs, basis) = independent(valid, |m| per_second(m, unit, seconds(m)).ln());
    let are_known = basis == IntervalBasis::Repeats && logs.iter().all(|log| log.is_finite());
    (are_known && logs.len() > 1).then_some(logs)
}

/// The population's standard deviation over the mean; none for fewer than two values.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let mean = describe::mean(values);
    let share = (describe::squares(values) / values.len() as f64).sqrt() / mean;
    (values.len() > 1 && mean > 0.0 && share.is_finite()).then_some(share)
}

pub(super) fn mean_if_any(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), value| (sum + value, n + 1));
    Some(sum / f64::from(n)).filter(|mean| mean.is_finite())
}
