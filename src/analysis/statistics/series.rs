//! Measures the dependence of neighbours and the slope of a series.

use super::describe::{mean, median};

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

/// How much a series rises from one value to the next: the median over pairs of `(x[j] - x[i]) / (j - i)` (Theil, 1950;
/// Sen, JASA 63, 1968). Time and memory grow with the square.
pub(crate) fn slope(values: &[f64]) -> f64 {
    let of = |(i, a): (usize, &f64)| {
        let later = values[i + 1..].iter().enumerate();
        later.map(|(k, b)| (b - a) / (k + 1) as f64).collect::<Vec<f64>>()
    };
    median(&values.iter().enumerate().flat_map(of).collect::<Vec<f64>>())
}
