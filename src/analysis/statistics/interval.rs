//! An interval between two bounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

    /// Both bounds through a function that rises; none if it leads out of the numbers.
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
    fn what_is_no_interval_is_none() {
        for (low, high) in [(2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert_eq!(Interval::new(low, high), None);
        }
        let wide = Interval::new(1.0, 1e4).unwrap();
        assert_eq!(wide.map(f64::exp), None);
    }
}
