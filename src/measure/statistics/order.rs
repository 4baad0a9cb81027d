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
    let within = |share: f64| share > 0.0 && share < 1.0;
    if !finite(values) || !within(q) || !within(level) {
        return None;
    }
    let (n, miss) = (values.len(), (1.0 - level) / 2.0);
    // P(K >= i) = I(q; i, n - i + 1).
    let at_least = |i: usize| incomplete_beta(q, i as f64, (n - i + 1) as f64);
    let low = (1..=n).take_while(|i| 1.0 - at_least(*i) <= miss).last()?;
    let high = (1..=n).rev().take_while(|j| at_least(*j) <= miss).last()?;
    let sorted = sorted(values);
    Interval::new(sorted[low - 1], sorted[high - 1])
}
