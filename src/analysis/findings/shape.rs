//! The shape of a phase's course: a law, a threshold, one way throughout without a law, or none of
//! these.

use super::course::Course;
use super::curve::{Block, Fit, Law};
use super::laws::Verdict;
use super::monotone::{Monotone, monotone};
use super::threshold::Threshold;

/// The shape of a course.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// That of the law.
    Law,
    /// From some number of operations on they take longer, or shorter.
    Threshold(Threshold),
    /// One way throughout, as no law goes.
    Monotone(Monotone),
}

/// How far blocks lie from a curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) deviation: f64,
    pub(super) dependence: f64,
    pub(super) degrees: f64,
}

impl Spread {
    fn of(fit: &Fit) -> Self {
        Self { deviation: fit.deviation, dependence: fit.dependence, degrees: fit.degrees }
    }
}

impl Shape {
    /// Of a course whose law has been judged. Whether one without a law goes up and down its ends
    /// tell, which are not looked at here.
    pub(super) fn of(course: &Course<'_>, verdict: &Verdict) -> Self {
        let threshold = Threshold::of(&course.blocks, &course.fine(), &course.of_each());
        let curve = threshold.as_ref().map_or(verdict.fit.curve, |found| found.fit.curve);
        // Blocks of halves may be fewer and larger.
        let kept = |blocks: Vec<Block>| {
            let left_out = (verdict.warm_up * blocks.len()).div_ceil(course.blocks.len());
            blocks[left_out..].to_vec()
        };
        let halves = course.halves().map(|halves| halves.map(kept));
        let throughout =
            halves.and_then(|halves| monotone(&course.blocks[verdict.warm_up..], &halves, curve));
        match (throughout, threshold) {
            (Some(found), _) => Self::Monotone(found),
            (None, Some(found)) => Self::Threshold(found),
            _ => Self::Law,
        }
    }

    pub(super) fn threshold(&self) -> Option<&Threshold> {
        match self {
            Self::Threshold(found) => Some(found),
            Self::Law | Self::Monotone(_) => None,
        }
    }

    pub(super) fn spread(&self, verdict: &Verdict) -> Spread {
        match self {
            Self::Threshold(found) => Spread::of(&found.fit),
            Self::Monotone(found) => {
                let degrees = (found.course.len() as f64 - 2.0).max(1.0);
                Spread { deviation: found.deviation, dependence: 1.0, degrees }
            }
            _ => Spread::of(&verdict.fit),
        }
    }

    /// The logarithms that it gives the blocks; where nothing is told to change, their middle.
    pub(super) fn fitted(&self, blocks: &[Block], verdict: &Verdict) -> Vec<f64> {
        match self {
            Self::Monotone(found) => {
                let before = std::iter::repeat_n(found.course[0], verdict.warm_up);
                before.chain(found.course.iter().copied()).collect()
            }
            Self::Threshold(found) => blocks.iter().map(|b| found.fit.height(b.x)).collect(),
            _ if verdict.law == Law::Constant => {
                vec![middle(&blocks[verdict.warm_up..]); blocks.len()]
            }
            _ => blocks.iter().map(|b| verdict.fit.height(b.x)).collect(),
        }
    }
}

fn middle(blocks: &[Block]) -> f64 {
    super::fit::median(&blocks.iter().map(|block| block.log).collect::<Vec<_>>())
}
