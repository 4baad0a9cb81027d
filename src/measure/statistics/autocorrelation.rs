//! How far values of a series depend on those before them, and what that does to the error of their
//! mean.

use super::describe::{Estimate, finite, mean, mean_estimate};

/// The autocorrelation of a series at the lags 0 to `lags`: `c(k) / c(0)` with
/// `c(k) = sum (x[i] - mean) (x[i + k] - mean) / n` (Box and Jenkins, "Time Series Analysis", 1976,
/// section 2.1.5). The first is 1. None for fewer than two values, for what is not finite, and where
/// all are equal; lags beyond the series are left out.
#[must_use]
pub fn autocorrelation(values: &[f64], lags: usize) -> Option<Vec<f64>> {
    if values.len() < 2 || !finite(values) {
        return None;
    }
    let middle = mean(values);
    let off: Vec<f64> = values.iter().map(|value| value - middle).collect();
    let whole = lagged(&off, 0);
    // Equal values may differ from their mean by rounding.
    if !whole.is_finite() || whole.sqrt() <= 1e-14 * middle.abs() * (values.len() as f64).sqrt() {
        return None;
    }
    let lags = lags.min(values.len() - 1);
    Some((0..=lags).map(|lag| lagged(&off, lag) / whole).collect())
}

/// The sum of products of values so far apart.
fn lagged(off: &[f64], lag: usize) -> f64 {
    off.iter().zip(&off[lag.min(off.len())..]).map(|(a, b)| a * b).sum()
}

/// How many independent values would tell as much about the mean: `n / (2 sum g(m) - 1)`, where
/// `g(m)` is the sum of the autocorrelations at the lags 2m and 2m + 1, as long as it is positive,
/// and no larger than those before it (the initial monotone sequence of Geyer, "Practical Markov
/// chain Monte Carlo", Statistical Science 7, 1992). Never more than there are. Equal values count
/// as independent. A drift leaves few. None for fewer than four values and for what is not finite.
#[must_use]
pub fn effective_size(values: &[f64]) -> Option<f64> {
    if values.len() < 4 || !finite(values) {
        return None;
    }
    let n = values.len() as f64;
    let middle = mean(values);
    let off: Vec<f64> = values.iter().map(|value| value - middle).collect();
    if autocorrelation(values, 0).is_none() {
        return Some(n);
    }
    let whole = lagged(&off, 0);
    let (mut sum, mut last) = (0.0, f64::INFINITY);
    for lag in (0..values.len() - 1).step_by(2) {
        let pair = (lagged(&off, lag) + lagged(&off, lag + 1)) / whole;
        if pair <= 0.0 {
            break;
        }
        last = pair.min(last);
        sum += last;
    }
    Some((n / (2.0 * sum - 1.0).max(1.0)).clamp(1.0, n))
}

/// The mean of a series and its error, by its effective size `m`: `s / sqrt(m)`. None where
/// [`effective_size`] is.
#[must_use]
pub fn series_mean(values: &[f64]) -> Option<Estimate> {
    let size = effective_size(values)?;
    let plain = mean_estimate(values);
    Some(Estimate { error: plain.error * (values.len() as f64 / size).sqrt(), ..plain })
}

/// The means of slices of `size` values that follow each other; what is left over at the end is left
/// out. Empty for a size of 0.
#[must_use]
pub fn slices(values: &[f64], size: usize) -> Vec<f64> {
    if size == 0 { Vec::new() } else { values.chunks_exact(size).map(mean).collect() }
}

/// The mean of a series and its error from the means of `batches` slices of equal length, which
/// depend on each other less than single values do (Conway, "Some tactical problems in digital
/// simulation", Management Science 10, 1963). Student's t for it has `batches - 1` degrees of
/// freedom. None for fewer than two batches, for fewer values than batches, and for what is not
/// finite.
#[must_use]
pub fn batch_means(values: &[f64], batches: usize) -> Option<Estimate> {
    if batches < 2 || values.len() < batches || !finite(values) {
        return None;
    }
    Some(mean_estimate(&slices(values, values.len() / batches)[..batches]))
}
