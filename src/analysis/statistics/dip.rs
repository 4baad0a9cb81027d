//! How far a distribution is from one with a single mode.

use crate::base::random::{Stream, draw, unit};

use super::describe::{finite, sorted};

/// How many uniform samples tell what dips chance makes.
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
