//! Fits straight lines and growth curves to weighted points by robust regression, which outliers do not
//! bend.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::statistics::describe::{mean, median};
use crate::analysis::statistics::student::student_t;
use crate::analysis::statistics::{Interval, dependence};
use crate::analysis::thresholds::{CHANGE_MIN, EXPLAINED_MIN, INTERVAL_ALPHA, WINDOW_RESOLUTION};

/// A straight line with the error that its points give it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StraightLine {
    /// Its height at zero.
    pub(super) height: f64,
    /// Its rise for each unit.
    pub(super) rise: f64,
    /// Variance of the height, covariance of both, variance of the rise, for a variance of one
    /// at points of weight one.
    pub(super) spread: [f64; 3],
}

impl StraightLine {
    /// Through points (x, y, weight) by least squares; none if they do not make a line.
    pub(super) fn through(points: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<Self> {
        let (mut weight, mut sum_x, mut sum_y) = (0.0, 0.0, 0.0);
        for (x, y, w) in points.clone() {
            weight += w;
            sum_x += w * x;
            sum_y += w * y;
        }
        let (mean_x, mean_y) = (sum_x / weight, sum_y / weight);
        let (mut squares, mut products) = (0.0, 0.0);
        for (x, y, w) in points {
            squares += w * (x - mean_x).powi(2);
            products += w * (x - mean_x) * (y - mean_y);
        }
        let rise = products / squares;
        let height = mean_y - rise * mean_x;
        let spread = [1.0 / weight + mean_x * mean_x / squares, -mean_x / squares, 1.0 / squares];
        let whole = rise.is_finite() && height.is_finite() && spread.iter().all(|s| s.is_finite());
        (squares > 0.0 && whole).then_some(Self { height, rise, spread })
    }

    /// Its height at `x`.
    pub(super) fn at(&self, x: f64) -> f64 {
        self.height + self.rise * x
    }
}

/// What the standard deviation of residuals would be without outliers: 1.4826 times the
/// median of their sizes, which is it for the normal distribution.
pub(super) fn scale(residuals: &[f64]) -> f64 {
    let sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    1.4826 * median(&sizes)
}

/// The weight that Tukey's biweight gives a residual: nothing beyond 4.685 deviations, where it
/// loses 5% of its efficiency on normal data (Huber and Ronchetti, "Robust Statistics", 2009).
pub(super) fn biweight(residual: f64, deviation: f64) -> f64 {
    let u = residual / (4.685 * deviation);
    if u.abs() < 1.0 { (1.0 - u * u).powi(2) } else { 0.0 }
}

/// What a curve does not follow makes neighbours depend on each other too, so no fewer degrees of
/// freedom than these are left to it.
const DEGREES_MIN: f64 = 3.0;

/// A part of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block {
    /// Operations done at its middle.
    pub(super) x: f64,
    /// Logarithm of its latency; only differences count.
    pub(super) log: f64,
}

/// The median of their logarithms.
pub(super) fn median_log(blocks: &[Block]) -> f64 {
    median(&blocks.iter().map(|block| block.log).collect::<Vec<_>>())
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

/// How something changes at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeShape {
    /// All at once.
    Step,
    /// From there on, more with every bit.
    Hinge,
}

/// A curve that a latency may follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LatencyCurve {
    /// A law over the whole phase.
    Law(Law),
    /// The same up to so many operations; from there on the same too, or a line.
    Change(ChangeShape, f64),
    /// a + b x^c: a bend that no law of the four has.
    Gradual(f64),
}

/// A curve as it fits blocks best.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurveFit {
    pub(super) curve: LatencyCurve,
    line: StraightLine,
    /// Standard deviation of a block, without outliers, as a share.
    pub(super) deviation: f64,
    /// The same where outliers count as three deviations: the median of sizes varies too much between
    /// few blocks for an error to be made of it.
    clamped_deviation: f64,
    /// How many times fewer independent blocks there are because neighbours are alike.
    pub(super) dependence: f64,
    /// Degrees of freedom that are left.
    pub(super) degrees: f64,
}

impl Law {
    /// Its word in results.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Law::Constant => "constant",
            Law::Logarithmic => "logarithmic",
            Law::Linear => "linear",
            Law::Power => "power",
        }
    }
}

impl LatencyCurve {
    pub(super) const POWER: Self = Self::Law(Law::Power);

    /// What the latency, or for a power its logarithm, is a straight line in.
    fn basis(self, x: f64) -> f64 {
        match self {
            Self::Law(Law::Logarithmic | Law::Power) => x.ln(),
            Self::Law(Law::Linear | Law::Constant) => x,
            Self::Change(ChangeShape::Step, from) => f64::from(u8::from(x > from)),
            Self::Change(ChangeShape::Hinge, from) => (x - from).max(0.0),
            Self::Gradual(power) => x.powf(power),
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

impl CurveFit {
    /// By least squares of relative deviations, weighed anew until outliers have no weight.
    pub(super) fn new(curve: LatencyCurve, blocks: &[Block]) -> Option<Self> {
        const ROUNDS: usize = 30;
        let middle = median_log(blocks);
        let mut fit = Self {
            curve,
            line: StraightLine { height: 0.0, rise: 0.0, spread: [0.0; 3] },
            deviation: f64::INFINITY,
            clamped_deviation: f64::INFINITY,
            dependence: 1.0,
            degrees: 0.0,
        };
        let mut heights = vec![middle; blocks.len()];
        let mut weights = vec![1.0; blocks.len()];
        let is_power = curve == LatencyCurve::POWER;
        let point = |block: &Block| {
            (curve.basis(block.x), if is_power { block.log } else { block.log.exp() })
        };
        let points: Vec<(f64, f64)> = blocks.iter().map(point).collect();
        for _ in 0..ROUNDS {
            let weighted =
                points.iter().zip(heights.iter().zip(&weights)).map(|((x, y), (h, w))| {
                    let weight = if is_power { *w } else { w / (2.0 * h).exp() };
                    (*x, *y, weight)
                });
            let weighted: Vec<(f64, f64, f64)> = weighted.collect();
            let line = StraightLine::through(weighted.iter().copied())?;
            let before = std::mem::replace(&mut fit.line, line);
            heights = points.iter().map(|(basis, _)| fit.height_on(*basis)).collect();
            let residuals: Vec<f64> =
                blocks.iter().zip(&heights).map(|(block, height)| block.log - height).collect();
            fit.deviation = scale(&residuals).max(WINDOW_RESOLUTION);
            weights = residuals.iter().map(|r| biweight(*r, fit.deviation)).collect();
            // One outlier among few blocks may leave most without weight; a plain fit is better then.
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
        let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let left = (blocks.len() as f64 - curve.parameters()).max(1.0);
        fit.clamped_deviation = (squares / left).sqrt().max(fit.deviation);
        fit.dependence = dependence(&residuals);
        let independent = blocks.len() as f64 / fit.dependence;
        fit.degrees = (independent - curve.parameters()).max(DEGREES_MIN);
        Some(fit)
    }

    /// Logarithm of the latency at `x`. A line may fall below nothing, a latency cannot.
    pub(super) fn height(&self, x: f64) -> f64 {
        self.height_on(self.curve.basis(x))
    }

    /// The same where the curve is a straight line.
    fn height_on(&self, basis: f64) -> f64 {
        let value = self.line.at(basis);
        if self.curve == LatencyCurve::POWER { value } else { value.max(1e-6).ln() }
    }

    /// Whether its line is still above zero at `x`.
    pub(super) fn is_positive_at(&self, x: f64) -> bool {
        self.curve == LatencyCurve::POWER || self.line.at(self.curve.basis(x)) > 0.0
    }

    pub(super) fn residual(&self, block: &Block) -> f64 {
        block.log - self.height(block.x)
    }

    /// Squares of residuals and of what the resolution leaves, in units of the deviation; outliers
    /// count no more than 25.
    pub(super) fn misfit(&self, blocks: &[Block], deviation: f64) -> f64 {
        let of = |block: &Block| (self.residual(block) / deviation).powi(2).min(25.0);
        let least = (WINDOW_RESOLUTION / deviation).powi(2);
        blocks.iter().map(|block| of(block) + least).sum()
    }

    /// Whether the curve changes the latency enough to matter, explains most of what the blocks
    /// differ by, and is more than what blocks that depend on each other do by such a chance.
    pub(super) fn is_significant(&self, blocks: &[Block], alpha: f64) -> bool {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return false };
        let change = self.height(last.x) - self.height(first.x);
        let kept: Vec<f64> = blocks
            .iter()
            .filter(|block| biweight(self.residual(block), self.deviation) > 0.0)
            .map(|block| block.log)
            .collect();
        let middle = mean(&kept);
        let total: f64 = kept.iter().map(|log| (log - middle).powi(2)).sum();
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
            && student_t(alpha, self.degrees).is_some_and(|needed| t > needed)
    }

    /// d ln latency / d ln x at `x`, with its 95% interval. Only of laws.
    pub(super) fn exponent(&self, x: f64) -> (f64, Interval) {
        let StraightLine { height: a, rise: b, spread: [aa, ab, bb] } = self.line;
        let steepness = if self.curve == LatencyCurve::Law(Law::Linear) { x } else { 1.0 };
        let (exponent, variance) = match self.curve {
            LatencyCurve::POWER => (b, bb),
            _ => {
                let value = a + b * self.curve.basis(x);
                let by = [-b * steepness / value.powi(2), a * steepness / value.powi(2)];
                let variance = by[0] * by[0] * aa + 2.0 * by[0] * by[1] * ab + by[1] * by[1] * bb;
                (b * steepness / value, variance)
            }
        };
        let error = self.clamped_deviation * (variance.max(0.0) * self.dependence).sqrt();
        let half = student_t(INTERVAL_ALPHA, self.degrees).map_or(f64::NAN, |t| t * error);
        (exponent, Interval { low: exponent - half, high: exponent + half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with numpy: `C = inv(X.T @ W @ X); C @ X.T @ W @ y` for the rows below.
    #[test]
    fn a_line_and_its_spread_are_those_of_numpy() {
        let points = [
            (0.0, 1.1, 1.0),
            (1.0, 2.9, 2.0),
            (2.0, 5.2, 1.0),
            (3.0, 7.1, 1.0),
            (4.0, 8.8, 3.0),
            (5.0, 11.3, 1.0),
        ];
        let line = StraightLine::through(points.into_iter()).unwrap();
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6;
        assert!(near(line.height, 1.003_703_7) && near(line.rise, 1.994_444_4), "{line:?}");
        let squares = 0.072_037_037;
        let expected = [0.029_348_42, -0.008_004_12, 0.003_001_54];
        for (found, expected) in line.spread.into_iter().zip(expected) {
            assert!((found * squares - expected).abs() < 1e-7, "{line:?}");
        }
    }

    #[test]
    fn points_above_each_other_make_no_line() {
        assert_eq!(StraightLine::through([(1.0, 1.0, 1.0), (1.0, 2.0, 1.0)].into_iter()), None);
        assert_eq!(StraightLine::through([].into_iter()), None);
        assert_eq!(
            StraightLine::through([(1.0, f64::NAN, 1.0), (2.0, 2.0, 1.0)].into_iter()),
            None
        );
    }

    #[test]
    fn an_outlier_moves_neither_median_nor_scale() {
        assert!((median(&[3.0, 1.0, 1e9, 2.0, 2.5]) - 2.5).abs() < 1e-12);
        assert!((scale(&[-1.0, 1.0, -1.0, 1.0, 1e9]) - 1.4826).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }
}
