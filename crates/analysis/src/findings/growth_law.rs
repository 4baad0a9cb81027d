//! Fits latency against the operations done until then in a phase, as a logarithmic, a linear or a power law, and picks the best
//! (a power only if much better), if it explains enough and is significant. Outliers count little.

use crate::statistics::dependence;
use crate::statistics::describe::{mean, median};
use crate::statistics::distributions::student_t;
use crate::thresholds::{
    CHANGE_MIN, EXPLAINED_MIN, FINDING_ALPHA, POWER_EVIDENCE_MIN, WINDOW_RESOLUTION,
};
use boatload_base::named_enum;

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StraightLine {
    /// Its height at zero.
    height: f64,
    /// Its rise for each unit.
    rise: f64,
}

impl StraightLine {
    /// Through points (x, y, weight) by least squares; none if they do not make a line.
    fn through(points: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<Self> {
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
        let is_line = squares > 0.0 && rise.is_finite() && height.is_finite();
        is_line.then_some(Self { height, rise })
    }

    /// Its height at `x`.
    fn at(&self, x: f64) -> f64 {
        self.height + self.rise * x
    }
}

/// What the standard deviation of residuals would be without outliers: 1.4826 times the
/// median of their sizes, which is it for the normal distribution.
fn scale(residuals: &[f64]) -> f64 {
    let sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    1.4826 * median(&sizes)
}

/// The weight that Tukey's biweight gives a residual: nothing beyond 4.685 deviations, where it
/// loses 5% of its efficiency on normal data (Huber and Ronchetti, "Robust Statistics", 2009).
fn biweight(residual: f64, deviation: f64) -> f64 {
    let u = residual / (4.685 * deviation);
    if u.abs() < 1.0 { (1.0 - u * u).powi(2) } else { 0.0 }
}

/// What a curve does not follow makes neighbours depend on each other too, so no fewer degrees of
/// freedom than these are left to it.
const DEGREES_MIN: f64 = 3.0;

/// Numbers of a law that are fitted.
const PARAMETERS: f64 = 2.0;

/// A part of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PhasePart {
    /// Operations done at its middle.
    pub(super) x: f64,
    /// Logarithm of its latency; only differences count.
    pub(super) log: f64,
}

/// The median of their logarithms.
fn median_log(parts: &[PhasePart]) -> f64 {
    median(&parts.iter().map(|part| part.log).collect::<Vec<_>>())
}

named_enum! {
    /// How latency follows the operations done.
    pub enum Law {
        /// Not at all.
        Constant = "constant",
        /// a + b ln x.
        Logarithmic = "logarithmic",
        /// a + b x.
        Linear = "linear",
        /// a x^b.
        Power = "power",
    }
}

/// A law as it fits parts best.
#[derive(Clone, Copy, Debug)]
pub(super) struct LawFit {
    pub(super) law: Law,
    line: StraightLine,
    /// Standard deviation of a part, without outliers, as a share.
    deviation: f64,
    /// Degrees of freedom that are left.
    degrees: f64,
}

impl Law {
    /// What the latency, or for a power its logarithm, is a straight line in.
    fn basis(self, x: f64) -> f64 {
        match self {
            Self::Logarithmic | Self::Power => x.ln(),
            Self::Linear | Self::Constant => x,
        }
    }
}

/// The law of those that grow which fits the parts best: a power only where it fits much better than the simpler ones. None
/// where none explains most of what the parts differ by.
pub(super) fn best_law(parts: &[PhasePart]) -> Option<LawFit> {
    let end = parts.last()?.x;
    let fit = |law| LawFit::new(law, parts).filter(|fit| fit.is_positive_at(end));
    let fits: Vec<LawFit> =
        [Law::Logarithmic, Law::Linear, Law::Power].into_iter().filter_map(fit).collect();
    let deviation = fits.iter().map(|fit| fit.deviation).fold(f64::INFINITY, f64::min);
    let cost = |fit: &LawFit| {
        let needs = if fit.law == Law::Power { POWER_EVIDENCE_MIN } else { 0.0 };
        fit.misfit(parts, deviation) + needs
    };
    let best = fits.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    best.is_significant(parts).then_some(*best)
}

impl LawFit {
    /// By least squares of relative deviations, weighed anew until outliers have no weight.
    fn new(law: Law, parts: &[PhasePart]) -> Option<Self> {
        const ROUNDS: usize = 30;
        let middle = median_log(parts);
        let mut fit = Self {
            law,
            line: StraightLine { height: 0.0, rise: 0.0 },
            deviation: f64::INFINITY,
            degrees: 0.0,
        };
        let mut heights = vec![middle; parts.len()];
        let mut weights = vec![1.0; parts.len()];
        let is_power = law == Law::Power;
        let point = |part: &PhasePart| {
            (law.basis(part.x), if is_power { part.log } else { part.log.exp() })
        };
        let points: Vec<(f64, f64)> = parts.iter().map(point).collect();
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
                parts.iter().zip(&heights).map(|(part, height)| part.log - height).collect();
            fit.deviation = scale(&residuals).max(WINDOW_RESOLUTION);
            weights = residuals.iter().map(|r| biweight(*r, fit.deviation)).collect();
            // One outlier among few parts may leave most without weight; a plain fit is better then.
            if weights.iter().filter(|w| **w > 0.0).count() * 4 < parts.len() * 3 {
                weights = vec![1.0; parts.len()];
            }
            let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
            if same(fit.line.height, before.height) && same(fit.line.rise, before.rise) {
                break;
            }
        }
        let clamped = |part| fit.residual(part).clamp(-3.0 * fit.deviation, 3.0 * fit.deviation);
        let residuals: Vec<f64> = parts.iter().map(clamped).collect();
        let independent = parts.len() as f64 / dependence(&residuals);
        fit.degrees = (independent - PARAMETERS).max(DEGREES_MIN);
        Some(fit)
    }

    /// Logarithm of the latency at `x`. A line may fall below nothing, a latency cannot.
    pub(super) fn height(&self, x: f64) -> f64 {
        self.height_on(self.law.basis(x))
    }

    /// The same where the curve is a straight line.
    fn height_on(&self, basis: f64) -> f64 {
        let value = self.line.at(basis);
        if self.law == Law::Power { value } else { value.max(1e-6).ln() }
    }

    /// Whether its line is still above zero at `x`.
    fn is_positive_at(&self, x: f64) -> bool {
        self.law == Law::Power || self.line.at(self.law.basis(x)) > 0.0
    }

    fn residual(&self, part: &PhasePart) -> f64 {
        part.log - self.height(part.x)
    }

    /// Squares of residuals and of what the resolution leaves, in units of the deviation; outliers
    /// count no more than 25.
    fn misfit(&self, parts: &[PhasePart], deviation: f64) -> f64 {
        let of = |part: &PhasePart| (self.residual(part) / deviation).powi(2).min(25.0);
        let least = (WINDOW_RESOLUTION / deviation).powi(2);
        parts.iter().map(|part| of(part) + least).sum()
    }

    /// Whether the curve changes the latency enough to matter, explains most of what the parts
    /// differ by, and is more than what parts that depend on each other do by chance.
    fn is_significant(&self, parts: &[PhasePart]) -> bool {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
        let change = self.height(last.x) - self.height(first.x);
        let kept: Vec<f64> = parts
            .iter()
            .filter(|part| biweight(self.residual(part), self.deviation) > 0.0)
            .map(|part| part.log)
            .collect();
        let middle = mean(&kept);
        let total: f64 = kept.iter().map(|log| (log - middle).powi(2)).sum();
        let left: f64 = parts
            .iter()
            .map(|part| self.residual(part))
            .filter(|r| biweight(*r, self.deviation) > 0.0)
            .map(|r| r * r)
            .sum();
        let explained = 1.0 - left / total;
        // The t test of a correlation, with as many degrees of freedom as are independent.
        let t = (explained / (1.0 - explained).max(1e-12) * self.degrees).max(0.0).sqrt();
        change.abs() >= CHANGE_MIN.ln_1p()
            && explained >= EXPLAINED_MIN
            && student_t(FINDING_ALPHA, self.degrees).is_some_and(|needed| t > needed)
    }

    /// The exponent of a power; none of another law.
    pub(super) fn exponent(&self) -> Option<f64> {
        (self.law == Law::Power).then_some(self.line.rise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with numpy: `inv(X.T @ W @ X) @ X.T @ W @ y` for the rows below.
    #[test]
    fn a_line_is_that_of_numpy() {
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
