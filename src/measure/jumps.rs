//! Jumps in the course of a phase: from one operation on it takes longer, or shorter, and stays so.

use super::statistics::describe::median;
use super::statistics::slices;
use super::statistics::trend;
use super::statistics::{CHANCE_MAX, change_points};

/// Fewer values say nothing.
const VALUES_MIN: usize = 16;

/// Values are looked at as the means of so many slices: what depends on the value before it looks like
/// a change, and less so in means.
const SLICES_MAX: usize = 32;

/// So many slices lie on both sides of a jump, up to the next one.
const SIDE_MIN: usize = 5;

/// A smaller jump than this is not told, as no smaller trend is.
pub(super) const RATIO_MIN: f64 = 1.3;

/// A place from which on a series lies elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jump {
    /// Where, as a share of the series, 0 to 1.
    pub(super) at: f64,
    /// How many times as long it takes from there on.
    pub(super) ratio: f64,
}

/// The jumps of a series of times: changes of the mean of their logarithms by 1.3 times or more. What
/// rises or falls steadily has such changes too, so lines along both sides must lie as far apart
/// where they meet.
pub(super) fn jumps(values: &[f64]) -> Vec<Jump> {
    if values.len() < VALUES_MIN || values.iter().any(|value| *value <= 0.0) {
        return Vec::new();
    }
    let size = values.len().div_ceil(SLICES_MAX);
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let logs = slices(&logs, size);
    let ends = large(&logs);
    let jump = |ends: &[usize]| {
        let (left, right) = (&logs[ends[0]..ends[1]], &logs[ends[1]..ends[2]]);
        let levels = median(right) - median(left);
        let lines = at_end(right.iter().rev())? - at_end(left.iter())?;
        let least = RATIO_MIN.ln();
        let jumps = levels.abs() >= least && lines * levels.signum() >= least;
        let at = (ends[1] * size) as f64 / values.len() as f64;
        jumps.then_some(Jump { at, ratio: levels.exp() })
    };
    ends.windows(3).filter_map(jump).collect()
}

/// The ends of the stretches between changes of the level by 1.3 times or more: smaller ones are
/// taken back from the smallest on, for a slice in the midst of a jump makes a change of its own.
fn large(logs: &[f64]) -> Vec<usize> {
    let places = change_points(logs, CHANCE_MAX).into_iter().map(|point| point.index);
    let mut ends: Vec<usize> = [0].into_iter().chain(places).chain([logs.len()]).collect();
    loop {
        let size = |ends: &[usize]| {
            (median(&logs[ends[1]..ends[2]]) - median(&logs[ends[0]..ends[1]])).abs()
        };
        let sizes = ends.windows(3).map(size).enumerate();
        match sizes.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((at, size)) if size < RATIO_MIN.ln() => ends.remove(at + 1),
            _ => return ends,
        };
    }
}

/// Where the line along a stretch ends, half a step after the last value. None for short stretches.
fn at_end<'a>(values: impl Iterator<Item = &'a f64>) -> Option<f64> {
    let values: Vec<f64> = values.copied().collect();
    let slope = trend(&values).filter(|_| values.len() >= SIDE_MIN)?.slope;
    let end = values.len() as f64 - 0.5;
    let level = values.iter().enumerate().map(|(at, value)| value + slope * (end - at as f64));
    Some(median(&level.collect::<Vec<f64>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Stream, draw, unit};

    /// A series with noise of so many percent to both sides, the same for the same seed.
    fn noisy(n: u64, percent: f64, seed: u64, of: impl Fn(f64) -> f64) -> Vec<f64> {
        let noise = |at| 2.0 * unit(draw(seed, Stream::Noise, at)) - 1.0;
        let value = |at: u64| of(at as f64 / n as f64) * (1.0 + percent / 100.0 * noise(at));
        (0..n).map(value).collect()
    }

    #[test]
    fn a_jump_is_told_once_with_its_place_and_size() {
        for (n, at, factor) in [(32, 0.5, 1.8), (64, 0.25, 0.5), (400, 0.7, 1.5), (1000, 0.3, 3.0)]
        {
            for seed in 0..20 {
                let found =
                    jumps(&noisy(n, 10.0, seed, |x| if x < at { 1e4 } else { 1e4 * factor }));
                assert_eq!(found.len(), 1, "{n} {at} {factor}: {found:?}");
                assert!((found[0].at - at).abs() < 0.05, "{found:?}");
                assert!((found[0].ratio / factor - 1.0).abs() < 0.1, "{found:?}");
            }
        }
    }

    type Course = fn(f64) -> f64;

    #[test]
    fn noise_small_jumps_and_what_grows_steadily_are_no_jumps() {
        let laws: [(&str, Course); 7] = [
            ("constant", |_| 1e4),
            ("a small jump", |x| if x < 0.5 { 1e4 } else { 1.2e4 }),
            ("doubles", |x| 1e4 * (1.0 + x)),
            ("tenfold", |x| 1e4 * (1.0 + 9.0 * x)),
            ("hundredfold", |x| 1e4 * (1.0 + 99.0 * x)),
            ("logarithm", |x| 1e4 + 2e3 * (x * 1e5 + 50.0).log2()),
            ("falls", |x| 1e4 * (1.0 - 0.7 * x)),
        ];
        for (name, law) in laws {
            let wrong = (0..200).filter(|seed| {
                let n = [20, 32, 64, 400][*seed as usize % 4];
                !jumps(&noisy(n, 10.0, *seed, law)).is_empty()
            });
            let wrong = wrong.count();
            assert!(wrong <= 2, "{name}: {wrong} of 200");
        }
    }

    #[test]
    fn odd_and_few_values_say_nothing() {
        for values in [vec![], vec![1.0; 15], vec![0.0; 32], vec![f64::NAN; 32]] {
            assert_eq!(jumps(&values), []);
        }
    }
}
