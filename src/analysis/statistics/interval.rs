//! Defines intervals, and computes intervals of a quantile from the order of values, and of a share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distributions::{DEGREES_MANY, incomplete_beta, student_t};

/// From `low` to `high`, both included, in the unit of the figure. Documents write it as a list of both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// None unless both are finite and in order.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite() && low <= high).then_some(Self { low, high })
    }

    /// Whether a value lies within, or on a bound.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// From bound to bound.
    #[must_use]
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Both bounds through a function that rises; `None` if it leads out of the numbers.
    #[must_use]
    pub fn map(self, rising: impl Fn(f64) -> f64) -> Option<Self> {
        Self::new(rising(self.low), rising(self.high))
    }
}

impl From<[f64; 2]> for Interval {
    fn from([low, high]: [f64; 2]) -> Self {
        Self { low, high }
    }
}

impl From<Interval> for [f64; 2] {
    fn from(interval: Interval) -> Self {
        [interval.low, interval.high]
    }
}

/// From this variance on, a binomial distribution is the normal one to a hundredth of its deviation. The continued fraction of
/// the incomplete beta function is exact below it, and not far above.
const NORMAL_FROM: f64 = 10_000.0;

/// The ranks `i` and `j`, from 1, of the two of `n` values in order between which the quantile `q`
/// lies with the chance `level` (David and Nagaraja, "Order Statistics", 2003, section 7.1): the
/// chance is `P(i <= K < j)`, where K, the number of values below the quantile, is binomial with n
/// and `q`. Of the pairs with at most half of `1 - level` beyond each side the nearest one is taken,
/// so the chance is never less than `level`. `None` where the values are too few for any: a median at
/// 95% takes 6, a quantile 0.99 takes 368.
#[must_use]
pub(crate) fn quantile_ranks(n: u64, q: f64, level: f64) -> Option<(u64, u64)> {
    let within = |share: f64| share > 0.0 && share < 1.0;
    if n == 0 || !within(q) || !within(level) {
        return None;
    }
    let variance = n as f64 * q * (1.0 - q);
    if variance >= NORMAL_FROM {
        let (middle, half) =
            (n as f64 * q, student_t(1.0 - level, DEGREES_MANY)? * variance.sqrt());
        return Some(((middle - half).floor() as u64, (middle + half).ceil() as u64 + 1));
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

/// The interval that holds a share, seen among so many, but with the chance `alpha` (Wilson, JASA 22, 1927).
pub(crate) fn share_interval(share: f64, n: f64, alpha: f64) -> Option<Interval> {
    let z = student_t(alpha, DEGREES_MANY)?;
    let centre = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let all = 1.0 + z * z / n;
    // Both ends are exact there, which rounding would miss.
    let low = if share <= 0.0 { 0.0 } else { (centre - half) / all };
    let high = if share >= 1.0 { 1.0 } else { (centre + half) / all };
    Interval::new(low.max(0.0), high.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_an_interval() {
        let interval = Interval::new(0.9, 1.1).unwrap();
        assert!(interval.contains(0.9) && interval.contains(1.1) && !interval.contains(1.2));
        assert!(!interval.contains(0.89) && !interval.contains(f64::NAN));
        assert!((interval.width() - 0.2).abs() < 1e-12);
    }

    #[test]
    fn a_share_of_none_or_of_all_has_a_whole_number_at_its_end() {
        for n in (1..=200).map(f64::from) {
            assert_eq!(share_interval(0.0, n, 0.05).unwrap().low, 0.0, "{n}");
            assert_eq!(share_interval(1.0, n, 0.05).unwrap().high, 1.0, "{n}");
        }
    }

    #[test]
    fn what_is_no_interval_is_none() {
        for (low, high) in [(2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert_eq!(Interval::new(low, high), None);
        }
        let wide = Interval::new(1.0, 1e4).unwrap();
        assert_eq!(wide.map(f64::exp), None);
    }
}
