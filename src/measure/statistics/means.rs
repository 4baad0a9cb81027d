//! The intervals to use: for the mean of a few independent values, such as rates of repeats, for the
//! ratio of two such means, and for the mean of a series whose values depend on each other.
//!
//! Which method stands behind them follows from how often each held the truth, measured by
//! `cargo bench --bench coverage`; METHODOLOGY.md has the table. What no method can mend: where one
//! value in six is of a second mode, 58 of 100 samples of 3 have none of it and know nothing of it;
//! intervals of the mean then hold it in 55% of cases for 3 values, 62% for 5, 85% for 10 and 96%
//! for 30. Nor are the first two for values that depend on each other.

use super::autocorrelation::effective_size;
use super::bootstrap::{Resampling, Studentized, log_ratio};
use super::describe::{Estimate, finite, log_mean_estimate, mean_estimate};
use super::interval::Interval;
use super::student::student_t;

/// From as many values on the shape of a sample says something about what it is from.
const SHAPE_MIN: usize = 5;

/// Beyond as many Student's t alone is close enough.
const SHAPE_MAX: usize = 100;

/// What a bootstrap says is taken between Student's t and this many times as far: it is never
/// surer than t, and a single odd value of few does not lead beyond all measure.
const STRETCH_MAX: f64 = 1.5;

/// The interval of the mean of independent values, above or below zero, in any order.
///
/// On logarithms if all are above zero: `ln(mean)` with the error `s / (sqrt(n) mean)`, for speeds
/// and times are skewed to the right. Half its width is `q` errors. For 2 to 4 values, and for
/// more than 100, `q` is that of Student's t with n - 1 degrees of freedom; between them that of
/// percentile-t ([`Resampling::percentile_t`]) for each side, but at least Student's and at most 1.5
/// times as much. With a `level` of 0.95 it holds the mean of values with one mode, however skewed
/// between normal and exponential, in 94 to 97% of cases from 3 values on. All equal, it has no width. None for fewer than two values, for what is not
/// finite, and for a level outside of 0..1.
#[must_use]
pub fn mean_interval(values: &[f64], level: f64) -> Option<Interval> {
    if values.len() < 2 || !finite(values) {
        return None;
    }
    let positive = values.iter().all(|value| *value > 0.0);
    let of = if positive { log_mean_estimate } else { mean_estimate };
    let own = of(values);
    let t = student_t(1.0 - level, (values.len() - 1) as f64)?;
    let shape = (SHAPE_MIN..=SHAPE_MAX).contains(&values.len());
    let drawn = if shape {
        resampling(level).studentized(&[values], |samples| of(&samples[0]))
    } else {
        None
    };
    around(own, t, drawn, positive)
}

/// The interval of the mean of `a` over that of `b`, each of independent values above zero.
///
/// `ln(mean a / mean b)` with the errors of [`mean_interval`], added as squares, and Student's t
/// with the degrees of freedom of Welch ("The generalization of Student's problem", Biometrika 34,
/// 1947). Skewness that both share cancels, so no bootstrap is needed: at 95% it holds in 92 to 98% of
/// cases from 3 values on; of two modes with 3 values in 99%. None for fewer than two values of
/// either, and for values of zero, below zero or not finite.
#[must_use]
pub fn ratio_interval(a: &[f64], b: &[f64], level: f64) -> Option<Interval> {
    let usable = |values: &[f64]| {
        values.len() > 1 && finite(values) && values.iter().all(|value| *value > 0.0)
    };
    if !usable(a) || !usable(b) {
        return None;
    }
    let own = log_ratio(a, b);
    let share = |values: &[f64]| {
        (log_mean_estimate(values).error / own.error).powi(4) / (values.len() - 1) as f64
    };
    // Without any error each degree does.
    let degrees = if own.error > 0.0 { 1.0 / (share(a) + share(b)) } else { 1.0 };
    around(own, student_t(1.0 - level, degrees.max(1.0))?, None, true)
}

/// The interval of the mean of a series in its order, such as windows of one run, whose values may
/// depend on those before: `s / sqrt(m)` and Student's t with m - 1 degrees of freedom, where `m` is
/// the number of independent values that would tell as much
/// ([`effective_size`]). It says how well the run's own mean is known, not what another run would
/// give. None for fewer than four values, where no more than two would do as well, and for what is
/// not finite.
#[must_use]
pub fn series_interval(values: &[f64], level: f64) -> Option<Interval> {
    let size = effective_size(values)?;
    let plain = mean_estimate(values);
    let error = plain.error * (values.len() as f64 / size).sqrt();
    around(Estimate { error, ..plain }, student_t(1.0 - level, size - 1.0)?, None, false)
}

/// Draws for the intervals chosen here: the same values give the same interval.
fn resampling(level: f64) -> Resampling {
    Resampling { level, resamples: 999, seed: 0 }
}

/// A figure and its error as an interval, each side as far as the draws say within the limits.
fn around(own: Estimate, t: f64, drawn: Option<Studentized>, log: bool) -> Option<Interval> {
    let within = |q: f64| q.clamp(t, STRETCH_MAX * t);
    let (down, up) = drawn.map_or((t, t), |q| (within(q.high), within(-q.low)));
    let plain = Interval::new(own.value - down * own.error, own.value + up * own.error)?;
    if log { plain.map(f64::exp) } else { Some(plain) }
}
