//! Whether a series rises or falls throughout, and by how much.

use super::autocorrelation::effective_size;
use super::describe::{finite, median, sorted};
use super::student::two_sided;

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
