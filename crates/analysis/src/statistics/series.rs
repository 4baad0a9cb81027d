//! Measures the dependence of neighbours in a series.

use super::describe::mean;

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
