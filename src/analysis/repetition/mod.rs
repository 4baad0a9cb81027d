//! Chooses how many repeats, and how many passes in each, reach the requested precision at least cost,
//! from the variance and the time of each.
//!
//! Kalibera and Jones, "Rigorous benchmarking in reasonable time" (ISMM 2013), with three sources of
//! variance, each nested in the next: operations in a pass, passes in a repeat, repeats. A mean over n repeats of m passes has
//! the variance (R + P / m) / n, with R the variance that repeats have of their own, and P that of a
//! pass within its repeat, its operations included. So what is bought with the same time depends on
//! both variances and both costs: for a single phase their equation 3, m = sqrt(c_R / c_P * P / R),
//! rounded up. Phases of one job share their repeats, and each has passes of its own; then the
//! cheapest counts are searched for, which for one phase are those of the equation.
//!
//! The measurements of the pilot stay in the result, as in Stein's two-stage sampling (Annals of
//! Mathematical Statistics 16, 1945): the number of further repeats follows from the pilot's variance,
//! not from its mean, and of normal values these two are independent. Stein takes the
//! deviation of the first stage alone for the interval, with its few degrees of freedom, which is
//! exact and takes several times as many repeats. Here the interval is that of all repeats, as in
//! every other run. Measuring stops when the observed variance happens to be small, so the interval is
//! slightly too narrow:
//! METHODOLOGY.md has by how much, and `benches/coverage.rs` measures it.

mod choice;
mod forecast;
mod goal;
mod precision;
#[cfg(test)]
mod tests;

pub use choice::{
    PrecisionGoal, RepetitionChoice, RepetitionCosts, RepetitionDecision, choose_repetition,
    decision_text, repeat_seconds,
};
pub use forecast::{PassCost, PrecisionForecast, is_precise};
pub(super) use goal::precision_is_of_answer;
pub use goal::{ImpreciseNumber, imprecise_numbers, precision_goals, rate_forecasts};
pub use precision::{RatePrecision, VarianceComponents, rate_precisions, variance_components};
