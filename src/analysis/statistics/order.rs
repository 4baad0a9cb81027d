//! The confidence interval of a median or quantile from the order of the values alone, whatever
//! their distribution.

use super::student::incomplete_beta;

/// The ranks `i` and `j`, from 1, of the two of `n` values in order between which the quantile `q`
/// lies with the chance `level` (David and Nagaraja, "Order Statistics", 2003, section 7.1): the
/// chance is `P(i <= K < j)`, where K, the number of values below the quantile, is binomial with n
/// and `q`. Of the pairs with at most half of `1 - level` beyond each side the nearest one is taken,
/// so the chance is never less than `level`. None where the values are too few for any: a median at
/// 95% takes 6, a quantile 0.99 takes 368.
#[must_use]
pub(crate) fn quantile_ranks(n: u64, q: f64, level: f64) -> Option<(u64, u64)> {
    let within = |share: f64| share > 0.0 && share < 1.0;
    if n == 0 || !within(q) || !within(level) {
        return None;
    }
    let tail = (1.0 - level) / 2.0;
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
    let low = count(&|i| 1.0 - at_least(i) <= tail);
    let high = count(&|i| at_least(i) > tail) + 1;
    (low >= 1 && high <= n).then_some((low, high))
}
