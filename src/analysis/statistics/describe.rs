//! Computes mean, standard deviation, quantile and median of a sample.

/// A figure of a sample and its standard error, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanWithError {
    /// The figure.
    pub(crate) value: f64,
    /// Its standard error.
    pub(crate) error: f64,
}

/// Whether all values are finite numbers. What has others gives no figure: leaving them out would
/// hide that something went wrong.
pub(crate) fn finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// The mean; not a number if there are no values.
#[must_use]
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The squares of the distances from the mean, summed up.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|value| (value - middle).powi(2)).sum()
}

/// The standard deviation of what the values are a sample of (divided by n - 1); not a number for
/// fewer than two.
#[must_use]
pub(crate) fn deviation(values: &[f64]) -> f64 {
    match values.len() {
        0 | 1 => f64::NAN,
        n => (squares(values) / (n - 1) as f64).sqrt(),
    }
}

/// The mean and its error, `s / sqrt(n)`.
#[must_use]
pub(crate) fn mean_estimate(values: &[f64]) -> MeanWithError {
    MeanWithError { value: mean(values), error: deviation(values) / (values.len() as f64).sqrt() }
}

/// The logarithm of the mean, and its error by the delta method: `s / (sqrt(n) mean)`. For values
/// above zero.
#[must_use]
pub(crate) fn log_mean_estimate(values: &[f64]) -> MeanWithError {
    let plain = mean_estimate(values);
    MeanWithError { value: plain.value.ln(), error: plain.error / plain.value }
}

/// The values in order, smallest first.
#[must_use]
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The quantile `q` of values in order, between two of them on a line (type 7 of Hyndman and Fan,
/// "Sample quantiles in statistical packages", The American Statistician 50, 1996). Not a number if
/// there are none; `q` outside of 0..=1 is the nearest of the two ends.
#[must_use]
pub(crate) fn sorted_quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let (low, high) = (sorted[below.min(last)], sorted[(below + 1).min(last)]);
    low + (place - place.floor()) * (high - low)
}

/// The median; not a number if there are no values.
#[must_use]
pub(crate) fn median(values: &[f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let mut parted = values.to_vec();
    let (below, middle, _) = parted.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    let before = below.iter().max_by(|a, b| a.total_cmp(b));
    match before.filter(|_| values.len().is_multiple_of(2)) {
        Some(before) => f64::midpoint(*before, *middle),
        None => *middle,
    }
}
