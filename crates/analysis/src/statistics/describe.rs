//! Computes mean, standard deviation, quantile and median of a sample.

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
