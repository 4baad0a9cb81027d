//! Whether values come from two modes, such as a drive that is sometimes fast and sometimes slow.

use std::f64::consts::SQRT_2;

use super::describe::{finite, mean, sorted, squares};
use super::dip::{dip, dip_chance};
use crate::analysis::thresholds::MODES_ALPHA;

/// Fewer values show no modes.
const VALUES_MIN: usize = 8;

/// Ashman's D above which two groups are apart.
const APART_MIN: f64 = 2.0;

/// One of two groups of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeGroup {
    /// How many of all values are in it, 0 to 1.
    pub share: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (divided by n).
    pub deviation: f64,
}

/// Values split into two groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// How far the distribution is from one with a single mode ([`dip`]).
    pub dip: f64,
    /// The chance of a dip as large in uniform values, which have the largest of all with one mode.
    pub p_value: f64,
    /// The smaller values.
    pub low: ModeGroup,
    /// The larger values.
    pub high: ModeGroup,
    /// How many standard deviations the groups are apart ([`separation`]).
    pub separation: f64,
}

impl Modes {
    /// Whether there are two modes: the dip is not chance (p below 0.05), and the groups are apart
    /// (D above 2). Either alone would not do: two halves of any values are apart, and a dip may be
    /// small and sure.
    #[must_use]
    pub fn two(&self) -> bool {
        self.p_value < MODES_ALPHA && self.separation > APART_MIN
    }
}

/// Splits values where the squares within the two groups are smallest (Fisher, "On grouping for
/// maximum homogeneity", JASA 53, 1958), and tests whether there are two modes. The dip sees a mode
/// of some tenth of the values and more. None for fewer than 8 values, for what is not finite, and
/// where all are equal.
#[must_use]
pub fn modes(values: &[f64], seed: u64) -> Option<Modes> {
    if values.len() < VALUES_MIN || !finite(values) {
        return None;
    }
    let sorted = sorted(values);
    let at = split(&sorted)?;
    let (low, high) = (group(&sorted[..at], values.len()), group(&sorted[at..], values.len()));
    let dip = dip(&sorted)?;
    let (p_value, separation) = (dip_chance(dip, values.len(), seed), separation(&low, &high));
    Some(Modes { dip, p_value, low, high, separation })
}

fn group(values: &[f64], of: usize) -> ModeGroup {
    let n = values.len() as f64;
    ModeGroup { share: n / of as f64, mean: mean(values), deviation: (squares(values) / n).sqrt() }
}

/// D of Ashman, Bird and Zepf ("Detecting bimodality in astronomical datasets", The Astronomical
/// Journal 108, 1994): `sqrt(2) |m1 - m2| / sqrt(s1^2 + s2^2)`. Infinite if neither group has a
/// spread.
fn separation(low: &ModeGroup, high: &ModeGroup) -> f64 {
    SQRT_2 * (high.mean - low.mean).abs() / low.deviation.hypot(high.deviation)
}

/// Where the second group begins in values in order; none if all are equal.
fn split(sorted: &[f64]) -> Option<usize> {
    let (whole, middle) = (sorted.len() as f64, mean(sorted));
    let (mut sum, mut best) = (0.0, (0.0, None));
    for (at, pair) in sorted.windows(2).enumerate() {
        sum += pair[0] - middle;
        let n = (at + 1) as f64;
        // The squares between the groups, whose sum with those within is always the same.
        let between = sum * sum / n + sum * sum / (whole - n);
        if pair[0] < pair[1] && between > best.0 {
            best = (between, Some(at + 1));
        }
    }
    best.1
}
