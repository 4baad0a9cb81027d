//! Defines intervals, and computes the interval of a share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distributions::{DEGREES_MANY, student_t};

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
