//! How much of the start of a series is not yet like the rest.

use super::autocorrelation::slices;
use super::describe::finite;

/// How many values make a slice.
const SLICE: usize = 5;

/// Fewer slices than this say nothing.
const SLICES_MIN: usize = 4;

/// What the start of a series looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// How many values to leave out at the start; a multiple of 5.
    pub values: usize,
    /// Whether the rest is then steady: the best cut lies in the first half. If not, the series
    /// went on changing, and no cut helps.
    pub settled: bool,
}

/// The MSER-5 rule (White, "An effective truncation heuristic for bias reduction in simulation
/// output", Simulation 69, 1997; White, Cobb and Spratt, "A comparison of five steady-state
/// truncation heuristics for simulation", WSC 2000): of the means `y` of slices of 5 values, leave
/// out the first `d` that make `sum (y - mean)^2 / (n - d)^2` smallest, both over what is left. At
/// least 4 slices are always left. Of a steady series it often leaves out a few values without
/// need. None for fewer than 20 values and for what is not finite.
#[must_use]
pub fn warm_up(values: &[f64]) -> Option<WarmUp> {
    let slices = slices(values, SLICE);
    if slices.len() < SLICES_MIN || !finite(values) {
        return None;
    }
    // From the end on: the mean and the squares of what is left (Welford 1962).
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, slice) in slices.iter().enumerate().rev() {
        let n = (slices.len() - cut) as f64;
        let off = slice - mean;
        mean += off / n;
        squares += off * (slice - mean);
        let score = squares / (n * n);
        // The shortest cut wins among equals.
        if slices.len() - cut >= SLICES_MIN && score <= best.0 {
            best = (score, cut);
        }
    }
    Some(WarmUp { values: best.1 * SLICE, settled: best.1 * 2 <= slices.len() })
}
