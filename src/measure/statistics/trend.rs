//! Whether a series rises or falls throughout, and by how much.

use super::autocorrelation::autocorrelation;
use super::describe::{finite, median, sorted};
use super::normal;

/// Fewer values show no trend.
const VALUES_MIN: usize = 4;

/// Autocorrelations beyond this many standard errors count: 95%.
const CORRELATED: f64 = 1.959_963_984_540_054;

/// A trend in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// How much it rises from one value to the next, in the unit of the values.
    pub slope: f64,
    /// Kendall's tau with time, -1 to 1: pairs that rise minus pairs that fall, over all pairs.
    pub tau: f64,
    /// The chance of a tau as far from zero where there is no trend.
    pub p_value: f64,
    /// How many times larger the variance of tau is than that of independent values.
    pub correction: f64,
}

/// The test of Mann (Econometrica 13, 1945) and Kendall, with the variance corrected for
/// autocorrelation (Hamed and Rao, "A modified Mann-Kendall trend test for autocorrelated data",
/// Journal of Hydrology 204, 1998), and the slope of Theil (1950) and Sen (JASA 63, 1968).
///
/// `S` is the number of pairs that rise minus those that fall; its variance
/// `(n (n - 1) (2n + 5) - sum t (t - 1) (2t + 5)) / 18` with `t` the sizes of ties, times
/// `1 + 2 / (n (n - 1) (n - 2)) sum (n - k) (n - k - 1) (n - k - 2) r(k)`, `r` the autocorrelation
/// of the ranks without the slope, where it differs from 0 at 95%. `(S - sign S) / sqrt(variance)`
/// is normal. The slope is the median over pairs of `(x[j] - x[i]) / (j - i)`.
///
/// Time and memory grow with the square: some 2,000 values take 2 million pairs. With fewer than
/// some 50 values the autocorrelation is hardly known, and the test finds trends too often in
/// series that depend on themselves. None for fewer than 4 values and for what is not finite.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < VALUES_MIN || !finite(values) {
        return None;
    }
    let n = values.len() as f64;
    let pairs = n * (n - 1.0) / 2.0;
    let (rises, slope) = (rises(values), slope(values));
    let correction = correction(values, slope);
    let variance = correction * (n * (n - 1.0) * (2.0 * n + 5.0) - ties(values)) / 18.0;
    let z = match rises {
        0.0 => 0.0,
        s => (s - s.signum()) / variance.sqrt(),
    };
    let p_value = (2.0 * normal::chance_below(-z.abs())).min(1.0);
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

/// Hamed and Rao's factor; 1 where it comes out at zero or below.
fn correction(values: &[f64], slope: f64) -> f64 {
    let level: Vec<f64> =
        values.iter().enumerate().map(|(i, value)| value - slope * i as f64).collect();
    let Some(ranked) = autocorrelation(&ranks(&level), values.len() - 1) else { return 1.0 };
    let n = values.len() as f64;
    let of = |(k, r): (usize, &f64)| {
        let left = n - k as f64;
        if r.abs() > CORRELATED / n.sqrt() { left * (left - 1.0) * (left - 2.0) * r } else { 0.0 }
    };
    let sum: f64 = ranked.iter().enumerate().skip(1).map(of).sum();
    let factor = 1.0 + 2.0 / (n * (n - 1.0) * (n - 2.0)) * sum;
    if factor > 0.0 { factor } else { 1.0 }
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
