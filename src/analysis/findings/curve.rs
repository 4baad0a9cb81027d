//! Curves through the blocks of a phase, fitted so that a few wild blocks do not carry them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fit::{StraightLine, biweight, dependence, mean, median, scale};
use crate::analysis::statistics::student::student_t;

/// A curve that changes the latency by less than this share over the phase is none.
pub(super) const CHANGE_MIN: f64 = 0.10;
/// A curve must explain this share of what the blocks differ by.
const EXPLAINED_MIN: f64 = 0.5;
/// What a curve does not bend like makes neighbours alike too, so no fewer degrees of freedom than
/// these are left to it.
const DEGREES_MIN: f64 = 3.0;
/// Percentiles of windows have two digits, so residuals below this mean nothing.
const RESOLUTION: f64 = 0.003;

/// A part of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block {
    /// Operations done at its middle.
    pub(super) x: f64,
    /// Logarithm of its latency; only differences count.
    pub(super) log: f64,
}

/// How latency follows the operations done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Not at all.
    Constant,
    /// a + b ln x.
    Logarithmic,
    /// a + b x.
    Linear,
    /// a x^b.
    Power,
}

/// What a latency may follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Curve {
    /// A law over the whole phase.
    Law(Law),
    /// The same up to so many operations, and the same from there on.
    Step(f64),
    /// The same up to so many operations, and a line from there on.
    Hinge(f64),
    /// a + b x^c: what bends evenly, as no law of the four does.
    Bent(f64),
}

/// A curve as it fits blocks best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) curve: Curve,
    line: StraightLine,
    /// Standard deviation of a block, without the wild ones, as a share.
    pub(super) deviation: f64,
    /// How many times fewer independent blocks there are because neighbours are alike.
    pub(super) dependence: f64,
    /// Degrees of freedom that are left.
    pub(super) degrees: f64,
}

impl Law {
    /// Its word in results.
    pub(super) fn word(self) -> &'static str {
        match self {
            Law::Constant => "constant",
            Law::Logarithmic => "logarithmic",
            Law::Linear => "linear",
            Law::Power => "power",
        }
    }
}

impl Curve {
    const POWER: Self = Self::Law(Law::Power);

    /// What the latency, or for a power its logarithm, is a straight line in.
    fn basis(self, x: f64) -> f64 {
        match self {
            Self::Law(Law::Logarithmic | Law::Power) => x.ln(),
            Self::Law(Law::Linear | Law::Constant) => x,
            Self::Step(from) => f64::from(u8::from(x > from)),
            Self::Hinge(from) => (x - from).max(0.0),
            Self::Bent(power) => x.powf(power),
        }
    }

    /// Numbers that are fitted.
    fn parameters(self) -> f64 {
        match self {
            Self::Law(_) => 2.0,
            _ => 3.0,
        }
    }
}

impl Fit {
    /// By least squares of relative deviations, weighed anew until wild blocks have no weight.
    pub(super) fn of(curve: Curve, blocks: &[Block]) -> Option<Self> {
        const ROUNDS: usize = 30;
        let middle = median(&blocks.iter().map(|block| block.log).collect::<Vec<_>>());
        let mut fit = Self {
            curve,
            line: StraightLine { height: 0.0, rise: 0.0, spread: [0.0; 3] },
            deviation: f64::INFINITY,
            dependence: 1.0,
            degrees: 0.0,
        };
        let mut heights = vec![middle; blocks.len()];
        let mut weights = vec![1.0; blocks.len()];
        for _ in 0..ROUNDS {
            let points = blocks.iter().zip(heights.iter().zip(&weights)).map(|(block, (h, w))| {
                let x = curve.basis(block.x);
                match curve {
                    Curve::POWER => (x, block.log, *w),
                    _ => (x, block.log.exp(), w / (2.0 * h).exp()),
                }
            });
            let before = std::mem::replace(&mut fit.line, StraightLine::through(points)?);
            heights = blocks.iter().map(|block| fit.height(block.x)).collect();
            let residuals: Vec<f64> = blocks.iter().map(|block| fit.residual(block)).collect();
            fit.deviation = scale(&residuals).max(RESOLUTION);
            weights = residuals.iter().map(|r| biweight(*r, fit.deviation)).collect();
            // One wild block among few may leave most without weight; a plain fit is better then.
            if weights.iter().filter(|w| **w > 0.0).count() * 4 < blocks.len() * 3 {
                weights = vec![1.0; blocks.len()];
            }
            let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
            if same(fit.line.height, before.height) && same(fit.line.rise, before.rise) {
                break;
            }
        }
        let residuals: Vec<f64> = blocks
            .iter()
            .map(|block| fit.residual(block).clamp(-3.0 * fit.deviation, 3.0 * fit.deviation))
            .collect();
        fit.dependence = dependence(&residuals);
        let independent = blocks.len() as f64 / fit.dependence;
        fit.degrees = (independent - curve.parameters()).max(DEGREES_MIN);
        Some(fit)
    }

    /// Logarithm of the latency at `x`. A line may fall below nothing, a latency cannot.
    pub(super) fn height(&self, x: f64) -> f64 {
        let value = self.line.at(self.curve.basis(x));
        if self.curve == Curve::POWER { value } else { value.max(1e-6).ln() }
    }

    pub(super) fn residual(&self, block: &Block) -> f64 {
        block.log - self.height(block.x)
    }

    /// Squares of residuals and of what the resolution leaves, in units of the deviation; wild
    /// ones count no more than 25.
    pub(super) fn misfit(&self, blocks: &[Block], deviation: f64) -> f64 {
        let of = |block: &Block| (self.residual(block) / deviation).powi(2).min(25.0);
        let least = (RESOLUTION / deviation).powi(2);
        blocks.iter().map(|block| of(block) + least).sum()
    }

    /// Whether the curve changes the latency enough to matter, explains most of what the blocks
    /// differ by, and is more than what blocks that depend on each other do by such a chance.
    pub(super) fn holds(&self, blocks: &[Block], chance: f64) -> bool {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return false };
        let change = self.height(last.x) - self.height(first.x);
        let tame: Vec<f64> = blocks
            .iter()
            .filter(|block| biweight(self.residual(block), self.deviation) > 0.0)
            .map(|block| block.log)
            .collect();
        let middle = mean(&tame);
        let total: f64 = tame.iter().map(|log| (log - middle).powi(2)).sum();
        let left: f64 = blocks
            .iter()
            .map(|block| self.residual(block))
            .filter(|r| biweight(*r, self.deviation) > 0.0)
            .map(|r| r * r)
            .sum();
        let explained = 1.0 - left / total;
        // The t test of a correlation, with as many degrees of freedom as are independent.
        let t = (explained / (1.0 - explained).max(1e-12) * self.degrees).max(0.0).sqrt();
        change.abs() >= CHANGE_MIN.ln_1p()
            && explained >= EXPLAINED_MIN
            && student_t(chance, self.degrees).is_some_and(|needed| t > needed)
    }

    /// By how much the logarithm is higher at its end than at its start, with the half of its 95%
    /// interval. Not for powers.
    pub(super) fn rise(&self, end: f64) -> (f64, f64) {
        let StraightLine { height: a, rise: b, spread: [aa, ab, bb] } = self.line;
        let z = self.curve.basis(end);
        // d ln((a + b z) / a)
        let by = [1.0 / (a + b * z) - 1.0 / a, z / (a + b * z)];
        let variance = by[0] * by[0] * aa + 2.0 * by[0] * by[1] * ab + by[1] * by[1] * bb;
        let error = self.deviation * (variance.max(0.0) * self.dependence).sqrt();
        let half = student_t(0.05, self.degrees).map_or(f64::NAN, |t| t * error);
        (((a + b * z) / a).ln(), half)
    }

    /// d ln latency / d ln x at `x`, with its 95% interval. Only of laws.
    pub(super) fn exponent(&self, x: f64) -> (f64, [f64; 2]) {
        let StraightLine { height: a, rise: b, spread: [aa, ab, bb] } = self.line;
        let steepness = if self.curve == Curve::Law(Law::Linear) { x } else { 1.0 };
        let (exponent, variance) = match self.curve {
            Curve::POWER => (b, bb),
            _ => {
                let value = a + b * self.curve.basis(x);
                let by = [-b * steepness / value.powi(2), a * steepness / value.powi(2)];
                let variance = by[0] * by[0] * aa + 2.0 * by[0] * by[1] * ab + by[1] * by[1] * bb;
                (b * steepness / value, variance)
            }
        };
        let error = self.deviation * (variance.max(0.0) * self.dependence).sqrt();
        let half = student_t(0.05, self.degrees).map_or(f64::NAN, |t| t * error);
        (exponent, [exponent - half, exponent + half])
    }
}
