//! The effective sample size of a series whose values depend on those before them: of any series, and
//! of the residuals of a curve. And the means of slices, which depend less.

use super::describe::{finite, mean};

/// The sum of products of values so far apart.
fn lagged(off: &[f64], lag: usize) -> f64 {
    off.iter().zip(&off[lag.min(off.len())..]).map(|(a, b)| a * b).sum()
}

/// The effective sample size: how many independent values know the mean as well as these, `n / (2 sum g(m) - 1)`, where
/// `g(m)` is the sum of the autocorrelations at the lags 2m and 2m + 1, as long as it is positive,
/// and no larger than those before it (the initial monotone sequence of Geyer, "Practical Markov
/// chain Monte Carlo", Statistical Science 7, 1992). Never more than there are. Equal values count
/// as independent. A drift leaves few. None for fewer than four values and for what is not finite.
#[must_use]
pub(crate) fn effective_size(values: &[f64]) -> Option<f64> {
    if values.len() < 4 || !finite(values) {
        return None;
    }
    let n = values.len() as f64;
    let middle = mean(values);
    let off: Vec<f64> = values.iter().map(|value| value - middle).collect();
    let whole = lagged(&off, 0);
    // Equal values may differ from their mean by rounding.
    if !whole.is_finite() || whole.sqrt() <= 1e-14 * middle.abs() * n.sqrt() {
        return Some(n);
    }
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

/// The means of slices of `size` values that follow each other; what is left over at the end is left
/// out. Empty for a size of 0.
#[must_use]
pub fn slices(values: &[f64], size: usize) -> Vec<f64> {
    if size == 0 { Vec::new() } else { values.chunks_exact(size).map(mean).collect() }
}

/// How many times smaller the effective size of residuals is than their number, by their first
/// autocorrelation alone, which is known of short series too:
/// (1 + r) / (1 - r) for a first-order autoregression (Zwiers and von Storch, J. Climate 8,
/// 1995), with r raised by its bias in short series (Kendall, Biometrika 41, 1954).
pub(crate) fn dependence(residuals: &[f64]) -> f64 {
    const CORRELATION_MAX: f64 = 0.95;
    let n = residuals.len() as f64;
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let raw = if squares > 0.0 { products / squares } else { 0.0 };
    let r = (raw + (1.0 + 3.0 * raw) / n).clamp(0.0, CORRELATION_MAX);
    (1.0 + r) / (1.0 - r)
}
