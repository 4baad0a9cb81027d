//! Latency that rises, or falls, throughout a phase while no law says how.

use super::curve::{Block, CHANGE_MIN, Curve, Fit};
use super::fit::scale;
use crate::analysis::statistics::describe::squares;
use crate::analysis::statistics::isotonic::rising;
use crate::analysis::statistics::trend;

/// The share of what blocks differ by that a course of one way must explain.
const EXPLAINED_MIN: f64 = 0.9;
/// A curve that misses the other half of the windows by less than this share is good enough.
const MISS_MIN: f64 = 0.05;
/// The course itself must foretell that half so many times better.
const BETTER_MIN: f64 = 2.0;

/// A course that goes one way throughout.
#[derive(Clone, Debug)]
pub(super) struct Monotone {
    /// The logarithms that it gives the blocks.
    pub(super) course: Vec<f64>,
    /// Standard deviation of a block, as a share.
    pub(super) deviation: f64,
}

/// The course of blocks that go one way throughout and by enough, if the course of one half of the
/// windows foretells the other half much better than the best curve so taken. For that no parameters
/// are counted: what fits chance foretells nothing.
pub(super) fn monotone(
    blocks: &[Block],
    halves: &[Vec<Block>; 2],
    best: Curve,
) -> Option<Monotone> {
    let tau = trend(&logs(blocks))?.tau;
    let course = one_way(blocks, tau);
    let change = course.last()? - course.first()?;
    let off: Vec<f64> = blocks.iter().zip(&course).map(|(block, log)| block.log - log).collect();
    let explained = 1.0 - squares(&off) / squares(&logs(blocks));
    if explained < EXPLAINED_MIN || change.abs() < CHANGE_MIN.ln_1p() {
        return None;
    }
    let (mut of_curve, mut of_course) = (Vec::new(), Vec::new());
    for [from, to] in [[&halves[0], &halves[1]], [&halves[1], &halves[0]]] {
        let fit = Fit::of(best, from)?;
        of_curve.extend(to.iter().map(|block| fit.residual(block)));
        of_course.extend(to.iter().zip(one_way(from, tau)).map(|(block, log)| block.log - log));
    }
    let (curve, own) = (scale(&of_curve), scale(&of_course));
    let better = curve >= MISS_MIN && curve >= BETTER_MIN * own;
    // A half lies from the other by the error of both.
    better.then_some(Monotone { course, deviation: own / 2.0 })
}

fn logs(blocks: &[Block]) -> Vec<f64> {
    blocks.iter().map(|block| block.log).collect()
}

/// The nearest that only rises, or with a `tau` below zero only falls.
fn one_way(blocks: &[Block], tau: f64) -> Vec<f64> {
    let turned: Vec<f64> = logs(blocks).into_iter().map(|log| tau.signum() * log).collect();
    rising(&turned).into_iter().map(|log| tau.signum() * log).collect()
}
