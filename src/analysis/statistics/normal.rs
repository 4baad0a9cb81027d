//! The normal distribution.

use std::f64::consts::TAU;

/// The chance that a standard normal value is at most `x`.
///
/// Near the middle by the series of Marsaglia ("Evaluating the normal distribution", Journal of
/// Statistical Software 11(4), 2004): `1/2 + f(x) (x + x^3/3 + x^5/(3 5) + ...)`, further out by the
/// continued fraction of Mills' ratio (NIST DLMF 7.9.1), so that small chances keep their digits.
#[must_use]
pub(super) fn chance_below(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / TAU.sqrt();
    if x.is_nan() {
        return x;
    }
    if x.abs() < 3.0 {
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term.abs() > 1e-17 * sum.abs() {
            n += 2.0;
            term *= x * x / n;
            sum += term;
        }
        return 0.5 + density * sum;
    }
    let distance = x.abs().min(40.0);
    let mut fraction = distance;
    for n in (1..=100).rev() {
        fraction = distance + f64::from(n) / fraction;
    }
    let tail = density / fraction;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// The value that a standard normal one stays below with the chance `p`; none outside of 0..1.
///
/// The rational start of Abramowitz and Stegun 26.2.23 (off by 4.5e-4 at most), made exact by
/// Halley's steps on [`chance_below`].
#[must_use]
pub(crate) fn quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let t = (-2.0 * p.min(1.0 - p).ln()).sqrt();
    let below = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let above = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = (t - below / above).copysign(p - 0.5);
    for _ in 0..3 {
        let off = (chance_below(x) - p) * (0.5 * x * x).exp() * TAU.sqrt();
        x -= off / (1.0 + 0.5 * x * off);
    }
    Some(x)
}
