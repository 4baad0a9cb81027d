//! Computes chances and quantiles of Student's t distribution and the derivatives of the logarithm of the gamma
//! function, for positive numbers.

use std::f64::consts::SQRT_2;

use statrs::function::beta::{checked_beta_reg, checked_ln_beta};
use statrs::function::erf::erfc_inv;

/// The chance that |t| is at least `t`, a number from 0 on. 1 where the distribution is not defined.
pub(crate) fn two_sided(t: f64, df: f64) -> f64 {
    checked_beta_reg(df / 2.0, 0.5, df / (df + t * t)).unwrap_or(1.0)
}

/// The |t| that is exceeded with the chance `alpha`. Infinite where no number is.
///
/// The library's own quantile is off by up to 1e-5 with 1e5 degrees, and by a factor of two for a chance of 1e-8 with
/// one degree. Newton's method on the logarithms of the chance and of t, from the quantile of the normal distribution,
/// which is never larger: the chance falls ever faster there, so a step leads too far at most once.
pub(crate) fn quantile(alpha: f64, df: f64) -> f64 {
    const STEPS_MAX: u32 = 50;
    const LAST_STEP: f64 = 1e-9;
    if !(alpha > 0.0 && df > 0.0) {
        return f64::INFINITY;
    }
    let ln_beta = checked_ln_beta(df / 2.0, 0.5).unwrap_or(f64::NAN);
    let mut t = erfc_inv(alpha.min(1.0)) * SQRT_2;
    for _ in 0..STEPS_MAX {
        let chance = two_sided(t, df);
        let log_density = -(df + 1.0) / 2.0 * (t * t / df).ln_1p() - ln_beta;
        let slope = 2.0 * log_density.exp() / df.sqrt() * t / chance;
        let step = (chance / alpha).ln() / slope;
        if !step.is_finite() {
            break;
        }
        t *= step.exp();
        if step.abs() <= LAST_STEP {
            break;
        }
    }
    t
}

/// Beyond this many degrees the normal distribution is the same to six figures.
pub(crate) const DEGREES_MANY: f64 = 1e7;

/// The value that a two-sided interval holds with the chance `1 - alpha`: half its width in standard errors. None for fewer
/// than one degree of freedom, and for a chance that is not between 0 and 1.
pub(crate) fn student_t(alpha: f64, degrees: f64) -> Option<f64> {
    let is_known = degrees >= 1.0 && alpha > 0.0 && alpha < 1.0;
    is_known.then(|| quantile(alpha, degrees.min(DEGREES_MANY)))
}

/// The second and the third derivative of the logarithm of the gamma function.
pub(crate) struct Polygamma {
    /// Trigamma.
    pub second: f64,
    /// Tetragamma, the slope of trigamma.
    pub third: f64,
}

/// From this number on the series below are exact to double precision.
const SERIES_FROM: f64 = 12.0;

/// Bernoulli's numbers B2, B4, ...
const BERNOULLI: [f64; 7] =
    [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];

/// At a positive number: recurrence to where the asymptotic series holds (NIST DLMF 5.15.5 and 5.15.8).
pub(crate) fn polygamma(x: f64) -> Polygamma {
    let (mut x, mut second, mut third) = (x, 0.0, 0.0);
    while x < SERIES_FROM {
        second += x.powi(-2);
        third -= 2.0 * x.powi(-3);
        x += 1.0;
    }
    second += 1.0 / x + 0.5 * x.powi(-2);
    third -= x.powi(-2) + x.powi(-3);
    let mut power = x.powi(-3);
    for (bernoulli, exponent) in BERNOULLI.into_iter().zip((3..).step_by(2)) {
        second += bernoulli * power;
        third -= f64::from(exponent) * bernoulli * power / x;
        power /= x * x;
    }
    Polygamma { second, third }
}

/// The variance of the logarithm of a variance that is estimated with `2 x` degrees of freedom.
pub(crate) fn trigamma(x: f64) -> f64 {
    polygamma(x).second
}
