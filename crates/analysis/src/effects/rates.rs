//! Computes the error of rates: the figures of tables, each with its own interval.

use super::contrast::Contrast;
use super::moderation::moderated;

/// The mean of the log times of each rate, with its error. `values` has the natural logarithms of the times of two or
/// more repeats. Variances are moderated over all rates of the run; `group_of` is the phase of each, numbered from 0,
/// and all rates are independent.
#[must_use]
pub fn rates(values: &[Vec<f64>], group_of: &[usize]) -> Vec<Contrast> {
    let mut independent = vec![0; group_of.iter().max().map_or(0, |last| last + 1)];
    for group in group_of {
        independent[*group] += 1;
    }
    moderated(values, group_of, &independent)
}
