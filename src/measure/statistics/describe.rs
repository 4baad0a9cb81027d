//! What a sample is summed up to: mean, deviation, quantiles, and the error of each.

use super::student::incomplete_beta;

/// A figure of a sample and its standard error, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// Whether all values are finite numbers. What has others gives no figure: leaving them out would
/// hide that something went wrong.
pub(super) fn finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// The mean; not a number if there are no values.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The squares of the distances from the mean, summed up.
pub(in crate::measure) fn squares(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|value| (value - middle).powi(2)).sum()
}

/// The standard deviation of what the values are a sample of (divided by n - 1); not a number for
/// fewer than two.
#[must_use]
pub fn deviation(values: &[f64]) -> f64 {
    match values.len() {
        0 | 1 => f64::NAN,
        n => (squares(values) / (n - 1) as f64).sqrt(),
    }
}

/// The mean and its error, `s / sqrt(n)`.
#[must_use]
pub fn mean_estimate(values: &[f64]) -> Estimate {
    Estimate { value: mean(values), error: deviation(values) / (values.len() as f64).sqrt() }
}

/// The logarithm of the mean, and its error by the delta method: `s / (sqrt(n) mean)`. For values
/// above zero.
#[must_use]
pub fn log_mean_estimate(values: &[f64]) -> Estimate {
    let plain = mean_estimate(values);
    Estimate { value: plain.value.ln(), error: plain.error / plain.value }
}

/// The values in order, smallest first.
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The quantile `q` of values in order, between two of them on a line (type 7 of Hyndman and Fan,
/// "Sample quantiles in statistical packages", The American Statistician 50, 1996). Not a number if
/// there are none; `q` outside of 0..=1 is the nearest of the two ends.
#[must_use]
pub fn sorted_quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let (low, high) = (sorted[below.min(last)], sorted[(below + 1).min(last)]);
    low + (place - place.floor()) * (high - low)
}

/// The quantile `q` of values in any order; see [`sorted_quantile`].
#[must_use]
pub fn quantile(values: &[f64], q: f64) -> f64 {
    sorted_quantile(&sorted(values), q)
}

/// The median.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// How the quantile `q` of `n` values is estimated with its error (Maritz and Jarrett, "A note on
/// estimating the variance of the sample median", JASA 73, 1978, with the weights of Harrell and
/// Davis, Biometrika 69, 1982): value *i* in order counts as much as a beta distribution with
/// `a = q (n + 1)`, `b = (1 - q) (n + 1)` has between (i - 1)/n and i/n, which is where the quantile
/// lies; the error is the deviation under these weights. The figure is the quantile of type 7.
pub struct QuantileError {
    q: f64,
    weights: Vec<f64>,
}

impl QuantileError {
    /// For samples of `n` values.
    #[must_use]
    pub fn new(n: usize, q: f64) -> Self {
        let q = q.clamp(0.0, 1.0);
        let (a, b) = (q * (n as f64 + 1.0), (1.0 - q) * (n as f64 + 1.0));
        let below = |i: usize| incomplete_beta(i as f64 / n as f64, a, b);
        Self { q, weights: (0..n).map(|i| below(i + 1) - below(i)).collect() }
    }

    /// The quantile of a sample and its error.
    #[must_use]
    pub fn estimate(&self, values: &[f64]) -> Estimate {
        let sorted = sorted(values);
        let value = sorted_quantile(&sorted, self.q);
        let moment = |power: i32| -> f64 {
            let weighed = self.weights.iter().zip(&sorted);
            weighed.map(|(weight, other)| weight * (other - value).powi(power)).sum()
        };
        let error = (moment(2) - moment(1).powi(2)).max(0.0).sqrt();
        Estimate { value, error }
    }
}
