//! Tests whether values come from two modes, such as a drive that is sometimes fast and sometimes slow.

use std::f64::consts::SQRT_2;

use super::describe::{finite, mean, sorted, squares};
use crate::analysis::thresholds::MODES_ALPHA;
use crate::base::random::{Stream, draw, unit};

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
    /// The smaller values.
    pub low: ModeGroup,
    /// The larger values.
    pub high: ModeGroup,
    /// How many standard deviations the groups are apart ([`separation`]).
    pub separation: f64,
    /// How many values there are.
    n: usize,
    /// Of the samples that show what dips chance makes.
    seed: u64,
}

impl Modes {
    /// Whether there are two modes: the dip is not chance (p below 0.05), and the groups are apart
    /// (D above 2). Either alone would not do: two halves of any values are apart, and a dip may be
    /// small and sure.
    #[must_use]
    pub fn two(&self) -> bool {
        self.separation > APART_MIN && self.p_value() < MODES_ALPHA
    }

    /// The chance of a dip as large in uniform values, which have the largest of all with one mode.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        dip_chance(self.dip, self.n, self.seed)
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
    let (dip, separation) = (dip(&sorted)?, separation(&low, &high));
    Some(Modes { dip, low, high, separation, n: values.len(), seed })
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

/// So many uniform samples show what dips chance makes.
const SAMPLES: u32 = 500;

/// Larger samples are compared with ones of this size: `sqrt(n) dip` has a limit.
const SAMPLE_VALUES_MAX: usize = 500;

/// The chance that `n` uniform values have a dip as large or larger, from 500 such samples.
#[must_use]
pub(crate) fn dip_chance(found: f64, n: usize, seed: u64) -> f64 {
    let size = n.min(SAMPLE_VALUES_MAX);
    let scaled = found * (n as f64 / size as f64).sqrt();
    let as_large = |sample: &u32| {
        let first = u64::from(*sample) * size as u64;
        let value = |i: u64| unit(draw(seed, Stream::Resample, first + i));
        let uniform: Vec<f64> = (0..size as u64).map(value).collect();
        dip(&sorted(&uniform)).is_some_and(|dip| dip >= scaled)
    };
    let larger = (0..SAMPLES).filter(as_large).count();
    (larger + 1) as f64 / f64::from(SAMPLES + 1)
}

/// A value, with the shares of all values, in numbers of them, below it and up to it.
#[derive(Clone, Copy)]
struct CumulativeStep {
    x: f64,
    below: f64,
    within: f64,
}

/// The dip of values in order: the largest distance between their distribution and the nearest one
/// with a single mode (Hartigan and Hartigan, "The dip test of unimodality", Annals of Statistics
/// 13, 1985, with the steps of section 4). From 1/(2n) to 1/4. None if there are none, or what is
/// not finite.
///
/// Between two bounds, at first the smallest and the largest value, lie the greatest convex function
/// below the distribution and the least concave one above. Where they are furthest apart at a point
/// in which one touches the distribution, the next bounds are. The dip is half of the largest
/// distance of the distribution from the first function left of the bounds and from the second one
/// right of them, until the two are nowhere further apart.
#[must_use]
pub(crate) fn dip(sorted: &[f64]) -> Option<f64> {
    if sorted.is_empty() || !finite(sorted) {
        return None;
    }
    let steps = steps(sorted);
    let (mut first, mut last, mut largest) = (0, steps.len() - 1, 1.0f64);
    while first < last {
        let part = &steps[first..=last];
        let under = hull(part, |step| step.below, 1.0);
        let over = hull(part, |step| step.within, -1.0);
        let (distance, left, right) = furthest(part, &under, &over);
        if distance <= largest {
            break;
        }
        let before = part[..=left].iter().zip(&under.line).map(|(s, line)| s.within - line);
        let after = part.iter().zip(&over.line).skip(right).map(|(s, line)| line - s.below);
        largest = before.chain(after).fold(largest, f64::max);
        if left == 0 && right == part.len() - 1 {
            break;
        }
        (first, last) = (first + left, first + right);
    }
    Some(largest / (2.0 * sorted.len() as f64))
}

fn steps(sorted: &[f64]) -> Vec<CumulativeStep> {
    let mut within = 0.0;
    let step = |equal: &[f64]| {
        let below = within;
        within += equal.len() as f64;
        CumulativeStep { x: equal[0], below, within }
    };
    sorted.chunk_by(|a, b| a == b).map(step).collect()
}

/// A hull of steps: where it touches them, and its height at each.
struct Hull {
    touches: Vec<usize>,
    line: Vec<f64>,
}

/// The convex function below (`side` 1) or the concave one above (`side` -1).
fn hull(steps: &[CumulativeStep], height: impl Fn(&CumulativeStep) -> f64, side: f64) -> Hull {
    let point = |i: usize| (steps[i].x, height(&steps[i]));
    let slope = |i: usize, j: usize| {
        let (from, to) = (point(i), point(j));
        (to.1 - from.1) / (to.0 - from.0)
    };
    let mut touches: Vec<usize> = Vec::new();
    for next in 0..steps.len() {
        while let [.., before, top] = touches[..] {
            if side * slope(before, top) < side * slope(top, next) {
                break;
            }
            touches.pop();
        }
        touches.push(next);
    }
    let mut line = Vec::with_capacity(steps.len());
    for pair in touches.windows(2) {
        let (from, rise) = (point(pair[0]), slope(pair[0], pair[1]));
        line.extend((pair[0]..pair[1]).map(|i| from.1 + rise * (steps[i].x - from.0)));
    }
    line.extend(steps.last().map(&height));
    Hull { touches, line }
}

/// How far the hulls are apart where one touches, and the bounds around that: a touch of the lower
/// hull and one of the upper hull after it.
fn furthest(steps: &[CumulativeStep], under: &Hull, over: &Hull) -> (f64, usize, usize) {
    let end = steps.len() - 1;
    let apart = |i: usize| over.line[i] - under.line[i];
    let mut best = (f64::NEG_INFINITY, 0, end);
    for &left in &under.touches {
        let right = over.touches.iter().copied().find(|right| *right >= left).unwrap_or(end);
        if apart(left) > best.0 {
            best = (apart(left), left, right);
        }
    }
    for &right in &over.touches {
        let left = under.touches.iter().copied().rev().find(|left| *left <= right).unwrap_or(0);
        if apart(right) > best.0 {
            best = (apart(right), left, right);
        }
    }
    best
}
