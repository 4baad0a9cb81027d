//! Computes quantiles of Student's t distribution, for any number of degrees of freedom.

/// Beyond this many degrees the normal distribution is the same to six figures.
pub(crate) const DEGREES_MANY: f64 = 1e7;

/// Where a quantile is cut off: one degree of freedom and a chance below 1e-12.
const QUANTILE_MOST: f64 = 1e12;

/// The value that a two-sided interval holds with the chance `1 - alpha`: half its width in
/// standard errors. None for fewer than one degree of freedom.
///
/// Newton's method on the logarithm of the chance: on the chance itself, steps are short where it is small. A step out
/// of the bracket gives way to halving it.
pub(crate) fn student_t(alpha: f64, degrees: f64) -> Option<f64> {
    /// After a relative step as small as this one the error is about its square.
    const LAST_STEP: f64 = 1e-7;
    if !(degrees >= 1.0 && alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    let degrees = degrees.min(DEGREES_MANY);
    let a = degrees / 2.0;
    let ln_beta = ln_beta(a, 0.5);
    let (mut low, mut high, mut t) = (0.0, QUANTILE_MOST, 1.0f64);
    for _ in 0..100 {
        let square = t * t;
        let chance = incomplete_beta_from(degrees / (degrees + square), a, 0.5, ln_beta);
        if chance > alpha {
            low = t;
        } else {
            high = t;
        }
        // Both tails: twice the density.
        let density =
            2.0 * (-(a + 0.5) * (square / degrees).ln_1p() - ln_beta).exp() / degrees.sqrt();
        let stepped = t + (chance / alpha).ln() * chance / density;
        if (stepped - t).abs() <= LAST_STEP * t {
            return Some(stepped);
        }
        t = if low < stepped && stepped < high { stepped } else { f64::midpoint(low, high) };
    }
    Some(t)
}

/// How many standard errors an effect must measure for nine of ten of these intervals to exclude zero: the noncentral t
/// distribution (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.10). None for fewer than one degree of freedom.
pub(crate) fn errors_found(alpha: f64, degrees: f64) -> Option<f64> {
    /// Nine in ten values of the normal distribution lie below it.
    const NINE_IN_TEN: f64 = 1.281_552;
    let t = student_t(alpha, degrees)?;
    Some(t * (1.0 - 0.25 / degrees) + NINE_IN_TEN * (1.0 + t * t / (2.0 * degrees)).sqrt())
}

/// The chance of a value as far from zero as `t`, or further.
pub(crate) fn two_sided(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// The chance of a ratio of two variances as large as `ratio`, or larger, if both are estimates of the same one:
/// Fisher's F distribution.
pub(crate) fn as_large_a_ratio(ratio: f64, [above, below]: [f64; 2]) -> f64 {
    incomplete_beta(below / (below + above * ratio), below / 2.0, above / 2.0)
}

/// The regularized incomplete beta function by its continued fraction, evaluated as Lentz does
/// (Press et al., "Numerical Recipes", section 6.4; NIST DLMF 8.17.22).
pub(super) fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    incomplete_beta_from(x, a, b, ln_beta(a, b))
}

/// The same, from the logarithm of the beta function of `a` and `b`.
fn incomplete_beta_from(x: f64, a: f64, b: f64, ln_beta: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let log_front = a * x.ln() + b * (-x).ln_1p() - ln_beta;
    if x < (a + 1.0) / (a + b + 2.0) {
        log_front.exp() * beta_fraction(x, a, b) / a
    } else {
        1.0 - log_front.exp() * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let whole = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / whole(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for term in [even, odd] {
            d = 1.0 / whole(1.0 + term * d);
            c = whole(1.0 + term / c);
            step = c * d;
            fraction *= step;
        }
        if (step - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

/// The logarithm of the beta function for positive numbers.
fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// The logarithm of the gamma function for positive numbers: Stirling's series (NIST DLMF 5.11.1)
/// after going up to where it is exact to double precision.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 12.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with scipy 1.x: `scipy.stats.t.ppf([.975, .995, .9995], df)`.
    #[test]
    fn quantiles_are_those_of_scipy() {
        for (degrees, expected) in [
            (1.0, [12.706205, 63.656741, 636.619249]),
            (2.0, [4.302653, 9.924843, 31.599055]),
            (3.0, [3.182446, 5.840909, 12.923979]),
            (4.0, [2.776445, 4.604095, 8.610302]),
            (10.0, [2.228139, 3.169273, 4.586894]),
            (36.5, [2.027130, 2.717417, 3.577850]),
            (1000.0, [1.962339, 2.580755, 3.300283]),
        ] {
            for (alpha, expected) in [0.05, 0.01, 0.001].into_iter().zip(expected) {
                let found = student_t(alpha, degrees).unwrap();
                assert!(
                    (found / expected - 1.0).abs() < 1e-5,
                    "{degrees} {alpha}: {found}, {expected}"
                );
            }
        }
        assert_eq!(student_t(0.05, 0.5), None);
        assert_eq!(student_t(0.05, f64::NAN), None);
    }

    #[test]
    fn the_chance_of_a_quantile_is_what_it_was_asked_for() {
        for degrees in [1.0, 1.3, 2.5, 7.0, 100.0, 1e6, DEGREES_MANY] {
            for alpha in [0.99, 0.9, 0.5, 0.05, 1e-4, 1e-6, 1e-9, 1e-11] {
                let t = student_t(alpha, degrees).unwrap();
                let chance = two_sided(t, degrees);
                assert!((chance / alpha - 1.0).abs() < 2e-8, "{degrees} {alpha}: {t}, {chance}");
            }
        }
        assert!((student_t(0.05, f64::INFINITY).unwrap() - 1.959_963_985).abs() < 1e-6);
    }
}
