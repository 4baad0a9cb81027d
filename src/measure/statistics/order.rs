//! Intervals of medians and quantiles from the order of the values alone, whatever their
//! distribution.

use super::describe::{finite, sorted};
use super::interval::Interval;
use super::student::incomplete_beta;

/// The interval of the quantile `q` between two values in order, the `i`th and the `j`th (David and
/// Nagaraja, "Order Statistics", 2003, section 7.1): it holds the quantile with the chance
/// `P(i <= K < j)`, where K, the number of values below it, is binomial with n and `q`. Of the pairs
/// with at most half of `1 - level` missed on each side the nearest one is taken, so the chance is
/// never less than `level`. None where the values are too few for any: a median at 95% takes 6, a
/// quantile 0.99 takes 368. None for what is not finite.
#[must_use]
pub fn quantile_interval(values: &[f64], q: f64, level: f64) -> Option<Interval> {
    if !finite(values) {
        return None;
    }
    let (low, high) = quantile_ranks(values.len() as u64, q, level)?;
    let sorted = sorted(values);
    Interval::new(sorted[low as usize - 1], sorted[high as usize - 1])
}

/// The ranks, from 1, of the two of `n` values in order between which
/// [`quantile_interval`] lies; none where they are too few.
#[must_use]
pub fn quantile_ranks(n: u64, q: f64, level: f64) -> Option<(u64, u64)> {
    let within = |share: f64| share > 0.0 && share < 1.0;
    if n == 0 || !within(q) || !within(level) {
        return None;
    }
    let miss = (1.0 - level) / 2.0;
    // P(K >= i) = I(q; i, n - i + 1), which falls as i rises.
    let at_least = |i: u64| incomplete_beta(q, i as f64, (n - i + 1) as f64);
    // How many ranks from 1 on are of a kind that ends somewhere.
    let count = |is: &dyn Fn(u64) -> bool| {
        let (mut low, mut high) = (0, n);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if is(middle) { low = middle } else { high = middle - 1 }
        }
        low
    };
    let low = count(&|i| 1.0 - at_least(i) <= miss);
    let high = count(&|i| at_least(i) > miss) + 1;
    (low >= 1 && high <= n).then_some((low, high))
}
