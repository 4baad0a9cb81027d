//! The law by which a latency follows the operations done, from blocks of a phase.

use super::fit::{Line, biweight, dependence, mean, median, scale};
use crate::measure::statistics::student::student_t;

/// A law that changes the latency by less than this share over the phase is called constant.
const CHANGE_MIN: f64 = 0.10;
/// A law must explain this share of what the blocks differ by.
const EXPLAINED_MIN: f64 = 0.5;
/// The chance of a change as sure without any law, at most: of three laws the best is taken.
const CHANCE_MAX: f64 = 0.01;
/// What a law does not bend like makes neighbours alike too, so no fewer degrees of freedom than
/// these are left to it.
const DEGREES_MIN: f64 = 3.0;
/// A power needs this much more evidence than a simpler law: twice the logarithm of the
/// likelihood ratio, "strong" in Kass and Raftery, "Bayes factors", JASA 90, 1995.
const EVIDENCE_MIN: f64 = 6.0;
/// A simpler law that misses by less than this is good enough.
const MISS_MIN: f64 = 0.01;
/// Percentiles of windows have two digits, so residuals below this mean nothing.
const RESOLUTION: f64 = 0.003;
/// Blocks at the start that are slower than this over what the rest leads to are a warm-up.
const WARM_UP_MIN: f64 = 0.05;

/// A part of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block {
    /// Operations done at its middle.
    pub(super) x: f64,
    /// Logarithm of its latency; only differences count.
    pub(super) log: f64,
}

/// How latency follows the operations done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// Not at all.
    Constant,
    /// a + b ln x.
    Logarithmic,
    /// a + b x.
    Linear,
    /// a x^b.
    Power,
}

/// A law as it fits blocks best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) law: Law,
    line: Line,
    /// Standard deviation of a block, without the wild ones, as a share.
    pub(super) deviation: f64,
    /// How many times fewer independent blocks there are because neighbours are alike.
    pub(super) dependence: f64,
    /// Degrees of freedom that are left.
    pub(super) degrees: f64,
}

/// What was found of a phase's blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict {
    /// The law.
    pub(super) law: Law,
    /// The law that fits best of those that are not constant, whether it holds or not.
    pub(super) fit: Fit,
    /// Blocks at the start that were left out as a warm-up.
    pub(super) warm_up: usize,
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

    /// What the latency, or for a power its logarithm, is a straight line in.
    fn basis(self, x: f64) -> f64 {
        match self {
            Law::Logarithmic | Law::Power => x.ln(),
            Law::Linear | Law::Constant => x,
        }
    }
}

/// The law of the blocks; none if no law can be fitted to so few.
pub(super) fn judge(blocks: &[Block]) -> Option<Verdict> {
    let warm_up = warm_up(blocks);
    let blocks = &blocks[warm_up..];
    let laws = [Law::Linear, Law::Logarithmic, Law::Power];
    let fits: Vec<Fit> = laws.into_iter().filter_map(|law| Fit::of(law, blocks)).collect();
    let deviation = fits.iter().map(|fit| fit.deviation).fold(f64::INFINITY, f64::min);
    let misfit = |fit: &Fit| fit.misfit(blocks, deviation);
    let best_of = |power: bool| {
        let fits = fits.iter().filter(|fit| (fit.law == Law::Power) == power);
        fits.min_by(|a, b| misfit(a).total_cmp(&misfit(b)))
    };
    let fit = match (best_of(false), best_of(true)) {
        (Some(simple), Some(power)) => {
            let independent = blocks.len() as f64 / power.dependence.min(2.0);
            let evidence = independent * (misfit(simple) / misfit(power)).ln();
            if evidence > EVIDENCE_MIN && simple.deviation > MISS_MIN { power } else { simple }
        }
        (simple, power) => simple.or(power)?,
    };
    let law = if fit.holds(blocks) { fit.law } else { Law::Constant };
    Some(Verdict { law, fit: *fit, warm_up })
}

/// How many blocks at the start, of the first eighth, are slower than a line through the others
/// leads to. A law that grows never looks like this.
fn warm_up(blocks: &[Block]) -> usize {
    let most = blocks.len() / 8;
    let Some(fit) = Fit::of(Law::Linear, &blocks[most..]) else { return 0 };
    let slower = |block: &Block| fit.residual(block) > (5.0 * fit.deviation).max(WARM_UP_MIN);
    (0..most).rev().find(|at| slower(&blocks[*at])).map_or(0, |last| last + 1)
}

impl Fit {
    /// By least squares of relative deviations, weighed anew until wild blocks have no weight.
    fn of(law: Law, blocks: &[Block]) -> Option<Self> {
        const ROUNDS: usize = 30;
        let middle = median(&blocks.iter().map(|block| block.log).collect::<Vec<_>>());
        let mut fit = Self {
            law,
            line: Line { height: 0.0, rise: 0.0, spread: [0.0; 3] },
            deviation: f64::INFINITY,
            dependence: 1.0,
            degrees: 0.0,
        };
        let mut heights = vec![middle; blocks.len()];
        let mut weights = vec![1.0; blocks.len()];
        for _ in 0..ROUNDS {
            let points = blocks.iter().zip(heights.iter().zip(&weights)).map(|(block, (h, w))| {
                let x = law.basis(block.x);
                match law {
                    Law::Power => (x, block.log, *w),
                    _ => (x, block.log.exp(), w / (2.0 * h).exp()),
                }
            });
            fit.line = Line::through(points)?;
            heights = blocks.iter().map(|block| fit.height(block.x)).collect();
            let residuals: Vec<f64> = blocks.iter().map(|block| fit.residual(block)).collect();
            fit.deviation = scale(&residuals).max(RESOLUTION);
            weights = residuals.iter().map(|r| biweight(*r, fit.deviation)).collect();
            // One wild block among few may leave most without weight; a plain fit is better then.
            if weights.iter().filter(|w| **w > 0.0).count() * 4 < blocks.len() * 3 {
                weights = vec![1.0; blocks.len()];
            }
        }
        let residuals: Vec<f64> = blocks
            .iter()
            .map(|block| fit.residual(block).clamp(-3.0 * fit.deviation, 3.0 * fit.deviation))
            .collect();
        fit.dependence = dependence(&residuals);
        fit.degrees = (blocks.len() as f64 / fit.dependence - 2.0).max(DEGREES_MIN);
        Some(fit)
    }

    /// Logarithm of the latency at `x`. A line may fall below nothing, a latency cannot.
    pub(super) fn height(&self, x: f64) -> f64 {
        let value = self.line.at(self.law.basis(x));
        if self.law == Law::Power { value } else { value.max(1e-6).ln() }
    }

    fn residual(&self, block: &Block) -> f64 {
        block.log - self.height(block.x)
    }

    /// Squares of residuals and of what the resolution leaves, in units of the deviation; wild
    /// ones count no more than 25.
    fn misfit(&self, blocks: &[Block], deviation: f64) -> f64 {
        let of = |block: &Block| (self.residual(block) / deviation).powi(2).min(25.0);
        let least = (RESOLUTION / deviation).powi(2);
        blocks.iter().map(|block| of(block) + least).sum()
    }

    /// Whether the law changes the latency enough to matter, explains most of what the blocks
    /// differ by, and is more than what blocks that depend on each other do by chance.
    fn holds(&self, blocks: &[Block]) -> bool {
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
            && student_t(CHANCE_MAX, self.degrees).is_some_and(|needed| t > needed)
    }

    /// d ln latency / d ln x at `x`, with its 95% interval.
    pub(super) fn exponent(&self, x: f64) -> (f64, [f64; 2]) {
        let Line { height: a, rise: b, spread: [aa, ab, bb] } = self.line;
        let steepness = if self.law == Law::Linear { x } else { 1.0 };
        let (exponent, variance) = match self.law {
            Law::Power => (b, bb),
            _ => {
                let value = a + b * self.law.basis(x);
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
