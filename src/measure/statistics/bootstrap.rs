//! Intervals from samples drawn again out of a sample, with a seed, so that the same values give the
//! same interval.
//!
//! A bootstrap knows no values but those it has. With 3 values there are 10 different samples, so
//! its intervals are far too narrow: [`percentile_t`](Resampling::percentile_t) of the mean of 3
//! normal values holds the truth in 84% of cases instead of 95%, BCa in 72%. For few values use
//! Student's t; [`means`](super::means) chooses.

use crate::base::random::{Stream, below, draw};

use super::describe::{Estimate, finite, log_mean_estimate, mean, sorted, sorted_quantile};
use super::interval::Interval;
use super::normal;

/// How often, from which seed, and for which chance samples are drawn again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// The chance that an interval is to hold the truth, above 0 and below 1.
    pub level: f64,
    /// How many samples are drawn again; some 1,000 for an interval at 95%.
    pub resamples: u32,
    /// What the draws follow from.
    pub seed: u64,
}

/// Draws of one resampling, one after the other.
struct Draws {
    seed: u64,
    next: u64,
}

impl Draws {
    fn index(&mut self, bound: usize) -> usize {
        self.next += 1;
        below(draw(self.seed, Stream::Resample, self.next - 1), bound as u64) as usize
    }

    /// As many values as there are, each any of them.
    fn fill(&mut self, from: &[f64], into: &mut Vec<f64>) {
        into.clear();
        for _ in from {
            into.push(from[self.index(from.len())]);
        }
    }
}

/// Studentized draws: the quantiles between which `(figure again - figure) / error again` lies with
/// the chance of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Studentized {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Resampling {
    fn possible(&self) -> bool {
        self.level > 0.0 && self.level < 1.0 && self.resamples > 0
    }

    /// Whether each sample has two values and more, all finite.
    fn usable(&self, samples: &[&[f64]]) -> bool {
        self.possible() && samples.iter().all(|values| values.len() > 1 && finite(values))
    }

    /// The chances below the two bounds.
    fn tails(&self) -> [f64; 2] {
        [f64::midpoint(0.0, 1.0 - self.level), f64::midpoint(1.0, self.level)]
    }

    fn draws(&self) -> Draws {
        Draws { seed: self.seed, next: 0 }
    }

    /// What a statistic gives for each sample drawn again, smallest first.
    fn again(&self, values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let (mut draws, mut sample) = (self.draws(), Vec::with_capacity(values.len()));
        let one = |_| {
            draws.fill(values, &mut sample);
            statistic(&sample)
        };
        sorted(&(0..self.resamples).map(one).collect::<Vec<f64>>())
    }

    /// The bias-corrected and accelerated interval of Efron ("Better bootstrap confidence
    /// intervals", JASA 82, 1987): the quantiles of the figures drawn again, not at `p` but at
    /// `N(z0 + (z0 + z(p)) / (1 - a (z0 + z(p))))`, where `z0` is the normal quantile of the share
    /// of them below the sample's own, and `a = sum d^3 / (6 (sum d^2)^1.5)` with `d` the mean of
    /// the figures that lack one value minus each of them. None for fewer than two values, for what
    /// is not finite, and where all figures drawn again lie on one side.
    #[must_use]
    pub fn bca(&self, values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> Option<Interval> {
        if !self.usable(&[values]) {
            return None;
        }
        let (own, again) = (statistic(values), self.again(values, &statistic));
        if !finite(&again) || !own.is_finite() {
            return None;
        }
        if again.iter().all(|figure| *figure == own) {
            return Interval::new(own, own);
        }
        let less = again.partition_point(|figure| *figure < own);
        let most = again.partition_point(|figure| *figure <= own);
        let bias = normal::quantile((less + most) as f64 / (2.0 * again.len() as f64))?;
        let pace = acceleration(values, &statistic);
        let bound = |p: f64| {
            let z = bias + normal::quantile(p)?;
            let moved = normal::chance_below(bias + z / (1.0 - pace * z));
            Some(sorted_quantile(&again, moved))
        };
        let [low, high] = self.tails();
        Interval::new(bound(low)?, bound(high)?)
    }

    /// The percentile-t interval (Efron 1982; Hall, "Theoretical comparison of bootstrap confidence
    /// intervals", Annals of Statistics 16, 1988): `figure - error q`, with `q` the quantiles of
    /// `(figure again - figure) / error again`. `estimate` gives the figure of a sample with its
    /// error: [`mean_estimate`](super::describe::mean_estimate), or
    /// [`QuantileError`](super::describe::QuantileError) for medians and quantiles, which it holds in
    /// some 90 of 100 cases instead of 95: [`quantile_interval`](super::order::quantile_interval)
    /// does better. None for fewer than two values, for what is not finite, and where most samples
    /// drawn again have no error.
    #[must_use]
    pub fn percentile_t(
        &self,
        values: &[f64],
        estimate: impl Fn(&[f64]) -> Estimate,
    ) -> Option<Interval> {
        let own = self.usable(&[values]).then(|| estimate(values))?;
        if own.error == 0.0 {
            return Interval::new(own.value, own.value);
        }
        let q = self.studentized(&[values], |samples| estimate(&samples[0]))?;
        Interval::new(own.value - q.high * own.error, own.value - q.low * own.error)
    }

    /// The quantiles that [`percentile_t`](Self::percentile_t) goes by, of one or several samples.
    pub(super) fn studentized(
        &self,
        samples: &[&[f64]],
        estimate: impl Fn(&[Vec<f64>]) -> Estimate,
    ) -> Option<Studentized> {
        if !self.usable(samples) {
            return None;
        }
        let mut again: Vec<Vec<f64>> = samples.iter().map(|values| values.to_vec()).collect();
        let (own, mut draws) = (estimate(&again), self.draws());
        let one = |_| {
            for (values, again) in samples.iter().zip(&mut again) {
                draws.fill(values, again);
            }
            let other = estimate(&again);
            (other.error > 0.0).then(|| (other.value - own.value) / other.error)
        };
        let found: Vec<f64> = (0..self.resamples).filter_map(one).collect();
        if found.len() * 2 <= self.resamples as usize || !finite(&found) {
            return None;
        }
        let (found, [low, high]) = (sorted(&found), self.tails());
        let q = |p| sorted_quantile(&found, p);
        Some(Studentized { low: q(low), high: q(high) })
    }

    /// How many times as large the mean of `a` is as that of `b`, by percentile-t on logarithms:
    /// `ln(mean a / mean b)` with the error `sqrt(s_a^2 / (n_a mean_a^2) + s_b^2 / (n_b mean_b^2))`.
    /// Both are drawn again apart. None for fewer than two values of either, and for values of
    /// zero, below zero or not finite.
    #[must_use]
    pub fn ratio(&self, a: &[f64], b: &[f64]) -> Option<Interval> {
        if !self.usable(&[a, b]) || a.iter().chain(b).any(|value| *value <= 0.0) {
            return None;
        }
        let own = log_ratio(a, b);
        if own.error == 0.0 {
            return Interval::new(own.value, own.value)?.map(f64::exp);
        }
        let q = self.studentized(&[a, b], |samples| log_ratio(&samples[0], &samples[1]))?;
        let plain = Interval::new(own.value - q.high * own.error, own.value - q.low * own.error);
        plain?.map(f64::exp)
    }

    /// The mean of groups of values, such as repeats of windows: groups are drawn again, and out of
    /// each its values (Davison and Hinkley, "Bootstrap Methods and their Application", 1997,
    /// section 3.8); percentiles of the mean of the groups' means. Values within a group may depend
    /// on each other as they like, as long as the groups differ more than that explains. With few
    /// groups it is too narrow, by `sqrt((g - 1) / g)` and for want of a t: below ten groups use
    /// [`mean_interval`](super::means::mean_interval) of the groups' means. None for fewer than two
    /// groups, for empty ones, and for what is not finite.
    #[must_use]
    pub fn hierarchical(&self, groups: &[&[f64]]) -> Option<Interval> {
        let whole = |group: &&[f64]| !group.is_empty() && finite(group);
        if groups.len() < 2 || !groups.iter().all(whole) || !self.possible() {
            return None;
        }
        let (mut draws, mut sample) = (self.draws(), Vec::new());
        let one = |_| {
            let mut sum = 0.0;
            for _ in groups {
                let group = groups[draws.index(groups.len())];
                draws.fill(group, &mut sample);
                sum += mean(&sample);
            }
            sum / groups.len() as f64
        };
        let again = sorted(&(0..self.resamples).map(one).collect::<Vec<f64>>());
        let [low, high] = self.tails();
        Interval::new(sorted_quantile(&again, low), sorted_quantile(&again, high))
    }
}

/// The logarithm of the ratio of two means, and its error.
pub(super) fn log_ratio(a: &[f64], b: &[f64]) -> Estimate {
    let (a, b) = (log_mean_estimate(a), log_mean_estimate(b));
    Estimate { value: a.value - b.value, error: a.error.hypot(b.error) }
}

/// How fast the error of a figure changes with it, by leaving out one value after the other; 0 if
/// that changes nothing.
fn acceleration(values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> f64 {
    let mut lacking = values[1..].to_vec();
    let mut figures = Vec::with_capacity(values.len());
    for (at, value) in values.iter().enumerate() {
        figures.push(statistic(&lacking));
        if let Some(place) = lacking.get_mut(at) {
            *place = *value;
        }
    }
    let middle = mean(&figures);
    let sum = |power: i32| -> f64 { figures.iter().map(|f| (middle - f).powi(power)).sum() };
    let pace = sum(3) / (6.0 * sum(2).powf(1.5));
    if pace.is_finite() { pace } else { 0.0 }
}
