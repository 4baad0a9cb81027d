//! Measures the dependence of neighbours and the trend of a series, and fits the nearest series that only
//! rises.

use super::describe::{finite, mean, median, sorted};
use super::distributions::two_sided;

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

/// Fewer values show no trend.
const VALUES_MIN: usize = 4;

/// A trend in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// How much it rises from one value to the next, in the unit of the values.
    pub slope: f64,
    /// Kendall's tau with time, -1 to 1: pairs that rise minus pairs that fall, over all pairs.
    pub tau: f64,
    /// The chance of a tau as far from zero where there is no trend.
    pub p_value: f64,
    /// How many times larger the variance of tau is taken to be than that of independent values.
    pub correction: f64,
}

/// The test of Mann (Econometrica 13, 1945) and Kendall, corrected for values that depend on those
/// before them, and the slope of Theil (1950) and Sen (JASA 63, 1968).
///
/// `S` is the number of pairs that rise minus those that fall; its variance
/// `(n (n - 1) (2n + 5) - sum t (t - 1) (2t + 5)) / 18` with `t` the sizes of ties, times `n / m`,
/// where `m` is the effective size ([`effective_size`]) of the ranks without the slope.
/// `(S - sign S) / sqrt(variance)` is taken for Student's t with m - 2 degrees of freedom. The slope
/// is the median over pairs of `(x[j] - x[i]) / (j - i)`.
///
/// The idea is that of Hamed and Rao ("A modified Mann-Kendall trend test for autocorrelated data",
/// Journal of Hydrology 204, 1998), who sum the autocorrelations that differ from zero. At 5% that
/// found a trend in 11% of series of 200 independent values, and in 14% of autoregressive ones with
/// 0.6; this does in 5% and 6% (600 series each). With 60 values it is 9% of the latter, with 20 it
/// is 10%.
///
/// Time and memory grow with the square: 2,000 values make 2 million pairs. None for fewer than 4
/// values and for what is not finite.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < VALUES_MIN || !finite(values) {
        return None;
    }
    let n = values.len() as f64;
    let pairs = n * (n - 1.0) / 2.0;
    let (rises, slope) = (rises(values), slope(values));
    let level: Vec<f64> =
        values.iter().enumerate().map(|(i, value)| value - slope * i as f64).collect();
    let size = effective_size(&ranks(&level))?;
    let correction = n / size;
    let variance = correction * (n * (n - 1.0) * (2.0 * n + 5.0) - ties(values)) / 18.0;
    let z = match rises {
        0.0 => 0.0,
        s => (s - s.signum()) / variance.sqrt(),
    };
    let p_value = two_sided(z, (size - 2.0).max(1.0));
    Some(Trend { slope, tau: rises / pairs, p_value, correction })
}

/// Pairs that rise minus pairs that fall.
fn rises(values: &[f64]) -> f64 {
    let sign = |a: f64, b: f64| f64::from(i8::from(b > a) - i8::from(b < a));
    let of = |(i, a): (usize, &f64)| values[i + 1..].iter().map(|b| sign(*a, *b)).sum::<f64>();
    values.iter().enumerate().map(of).sum()
}

fn slope(values: &[f64]) -> f64 {
    let of = |(i, a): (usize, &f64)| {
        let later = values[i + 1..].iter().enumerate();
        later.map(|(k, b)| (b - a) / (k + 1) as f64).collect::<Vec<f64>>()
    };
    median(&values.iter().enumerate().flat_map(of).collect::<Vec<f64>>())
}

/// What ties take from the variance, times 18.
fn ties(values: &[f64]) -> f64 {
    let of = |tie: &[f64]| {
        let t = tie.len() as f64;
        t * (t - 1.0) * (2.0 * t + 5.0)
    };
    sorted(values).chunk_by(|a, b| a == b).map(of).sum()
}

/// The place of each value among all, from 1; ties share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let sorted = sorted(values);
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let within = sorted.partition_point(|other| other <= value);
        (below + 1 + within) as f64 / 2.0
    };
    values.iter().map(rank).collect()
}
