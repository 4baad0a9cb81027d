//! Computes tests and the interval of one ratio.

use crate::statistics::Interval;
use crate::statistics::describe::{mean, squares};
use crate::statistics::distributions::{quantile, two_sided};

/// Ratios between 1 / 1.1 and 1.1 are "within 10%".
pub const MARGIN_RATIO: f64 = 1.1;

/// No half width of the logarithm of a ratio is smaller, and no distance below it is claimed: 1%.
const HALF_WIDTH_MIN: f64 = 0.01;

/// Variances of log ratios are at least this: standard deviations below 0.01% are rounding.
pub(super) const S2_MIN: f64 = 1e-8;

/// Beyond it the exponential function leaves the numbers.
const LOG_MAX: f64 = 700.0;

/// The logarithm of a ratio of two times, or of a time or a rate, with its standard error and degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// Natural logarithm; without a unit for a ratio.
    pub estimate: f64,
    /// The standard error of the estimate, above zero.
    pub error: f64,
    /// Degrees of freedom of Student's t, above zero.
    pub df: f64,
}

impl Contrast {
    /// Of the log ratios of repeats by plain t, with n - 1 degrees of freedom. `None` for fewer than two.
    #[must_use]
    pub fn plain(ratios: &[f64]) -> Option<Self> {
        let d = ratios.len().checked_sub(1).filter(|d| *d > 0)? as f64;
        Some(Self::with_variance(ratios, (squares(ratios) / d).max(S2_MIN), d))
    }

    /// Of the log ratios of repeats whose variance and degrees of freedom are known.
    pub(super) fn with_variance(ratios: &[f64], s2: f64, df: f64) -> Self {
        Self { estimate: mean(ratios), error: (s2 / ratios.len() as f64).sqrt(), df }
    }

    /// p of the hypothesis "the ratio is 1", two-sided.
    #[must_use]
    pub fn p_differ(&self) -> f64 {
        self.p_two_sided(self.estimate.abs())
    }

    /// p of the hypothesis "one takes 1.1 times as long as the other, or longer" (two one-sided tests; Schuirmann,
    /// J. Pharmacokinet. Biopharm. 15, 1987), doubled.
    #[must_use]
    pub fn p_within(&self) -> f64 {
        self.p_two_sided(MARGIN_RATIO.ln() - self.estimate.abs())
    }

    /// p of the hypothesis "the ratio is `factor` or less", one-sided.
    #[must_use]
    pub fn p_above(&self, factor: f64) -> f64 {
        self.p_one_sided(self.estimate - factor.ln())
    }

    /// p of the hypothesis "the ratio is `factor` or more", one-sided.
    #[must_use]
    pub fn p_below(&self, factor: f64) -> f64 {
        self.p_one_sided(factor.ln() - self.estimate)
    }

    /// The interval of the ratio at the level `1 - alpha`. Its half width is 1% or more.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> Interval {
        let half = (quantile(alpha, self.df) * self.error).max(HALF_WIDTH_MIN);
        let bound = |log: f64| log.clamp(-LOG_MAX, LOG_MAX).exp();
        Interval { low: bound(self.estimate - half), high: bound(self.estimate + half) }
    }

    fn p_two_sided(&self, distance: f64) -> f64 {
        if distance >= HALF_WIDTH_MIN { two_sided(distance / self.error, self.df) } else { 1.0 }
    }

    fn p_one_sided(&self, distance: f64) -> f64 {
        if distance >= HALF_WIDTH_MIN {
            two_sided(distance / self.error, self.df) / 2.0
        } else {
            1.0
        }
    }
}
