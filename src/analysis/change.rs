//! Finds change points in a series of values. One detector serves the windows of a phase and the history
//! of runs.
//!
//! The search follows E-divisive means (Matteson and James, "A nonparametric approach for
//! multiple change point analysis of multivariate data", JASA 109, 2014), with Student's t for its
//! permutations and points taken back from the weakest on, as in Fleming et al., "Hunter: using
//! change point detection to hunt for performance regressions", ICPE 2023. It needs no random
//! numbers: the same series gives the same points.
//!
//! [`change_points`] finds what is no chance, [`level_changes`] of these what is large enough to
//! matter, [`latency_steps`] of these what is no steady rise.

use super::statistics::describe::{finite, mean, median, squares};
use super::statistics::distributions::two_sided;
use super::statistics::{slices, slope};
use super::thresholds::{CHANGE_POINT_ALPHA, LATENCY_STEP_RATIO_MIN};

/// Points are looked for with a chance this many times as large: they are judged once all are known.
const SEARCH_FACTOR: f64 = 10.0;

/// Fewer values than this are no new level.
const LEVEL_VALUES_MIN: usize = 3;

/// A short rise within a long series is only seen near by: where the whole has no point, parts of
/// this many values are looked at, each half over the one before. That is as many more chances to
/// be wrong as the series has such parts, so a point's chance has to be as many times smaller.
const PART_VALUES: usize = 50;

/// A change of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value of the new level, from 0.
    pub index: usize,
    /// The mean, or the median, since the point before, or the start.
    pub before: f64,
    /// The same up to the next point, or the end.
    pub after: f64,
    /// The chance of two such levels without a change, if the place had been known before: of the
    /// many places it is the best one, so only small chances count.
    pub p_value: f64,
}

/// Changes of the mean of a series, in order. `alpha` is the largest p-value of a point in a
/// series of up to 50 values, and `50 / n` times as much in a longer one. With [`CHANGE_POINT_ALPHA`] one to
/// three of 100 series of independent values have a false point, whatever their length. Values that
/// depend on those before them look like changes: give the means of slices
/// ([`slices`](super::statistics::slices)), long enough that these do not.
///
/// Time grows with the square of the length: some 5,000 values at most. Empty for fewer than 6
/// values and for what is not finite.
#[must_use]
pub fn change_points(values: &[f64], alpha: f64) -> Vec<ChangePoint> {
    if !finite(values) {
        return Vec::new();
    }
    let alpha = alpha * (PART_VALUES as f64 / values.len() as f64).min(1.0);
    let mut found = Vec::new();
    let mut open = vec![(0, values.len())];
    while let Some((start, end)) = open.pop() {
        if let Some(at) = point_in(values, start, end, alpha * SEARCH_FACTOR) {
            found.push(at);
            open.extend([(start, at), (at, end)]);
        }
    }
    found.sort_unstable();
    without_weak(values, found, mean, |point| -point.p_value, -alpha)
}

/// The best point of a segment, or of a part of it, if its chance is small enough.
fn point_in(values: &[f64], start: usize, end: usize, alpha: f64) -> Option<usize> {
    let counts = |from: usize, to: usize| {
        let at = from + split(&values[from..to])?;
        (chance(&values[from..at], &values[at..to]) <= alpha).then_some(at)
    };
    counts(start, end).or_else(|| {
        let far = end.saturating_sub(PART_VALUES);
        let mut parts = (start..far).step_by(PART_VALUES / 2).chain((far > start).then_some(far));
        parts.find_map(|from| counts(from, from + PART_VALUES))
    })
}

/// Where two parts of a series differ most: the place with the largest
/// `m n / (m + n) (2 E|X - Y| - E|X - X'| - E|Y - Y'|)`, each the mean over pairs, of m values before
/// and n after. None for fewer than 6 values, and where nothing differs.
fn split(values: &[f64]) -> Option<usize> {
    let whole = values.len();
    let apart = |at: usize, others: &[f64]| -> f64 {
        others.iter().map(|other| (values[at] - other).abs()).sum()
    };
    let (mut before, mut between) = (0.0, 0.0);
    let mut after: f64 = (0..whole).map(|at| apart(at, &values[at + 1..])).sum();
    let mut best = (0.0, None);
    for at in 1..whole.saturating_sub(LEVEL_VALUES_MIN - 1) {
        // The value before the place leaves the right part for the left one.
        let (left, right) = (apart(at - 1, &values[..at - 1]), apart(at - 1, &values[at..]));
        before += left;
        after -= right;
        between += right - left;
        if at < LEVEL_VALUES_MIN {
            continue;
        }
        let (m, n) = (at as f64, (whole - at) as f64);
        let pairs = |k: f64| k * (k - 1.0) / 2.0;
        let energy = 2.0 * between / (m * n) - before / pairs(m) - after / pairs(n);
        let weighed = m * n / (m + n) * energy;
        if weighed > best.0 {
            best = (weighed, Some(at));
        }
    }
    best.1
}

/// The points at these places without the weakest, taken back one by one until none is weaker than
/// `least`. A point's levels reach from the point before it to the next one.
fn without_weak(
    values: &[f64],
    mut places: Vec<usize>,
    level: fn(&[f64]) -> f64,
    strength: impl Fn(&ChangePoint) -> f64,
    least: f64,
) -> Vec<ChangePoint> {
    loop {
        let point = |bounds: &[usize]| {
            let (left, right) = (&values[bounds[0]..bounds[1]], &values[bounds[1]..bounds[2]]);
            let (before, after) = (level(left), level(right));
            ChangePoint { index: bounds[1], before, after, p_value: chance(left, right) }
        };
        let found: Vec<ChangePoint> = bounds(&places, values.len()).windows(3).map(point).collect();
        let strengths = found.iter().map(&strength).enumerate();
        match strengths.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((weakest, strength)) if strength < least => places.remove(weakest),
            _ => return found,
        };
    }
}

/// Where the parts between these places begin and end.
fn bounds(places: &[usize], length: usize) -> Vec<usize> {
    [0].into_iter().chain(places.iter().copied()).chain([length]).collect()
}

/// The p-value of Student's t-test for two means, the variance in common.
fn chance(a: &[f64], b: &[f64]) -> f64 {
    let (m, n) = (a.len() as f64, b.len() as f64);
    let degrees = m + n - 2.0;
    let change = (mean(a) - mean(b)).abs();
    let error = ((squares(a) + squares(b)) / degrees * (1.0 / m + 1.0 / n)).sqrt();
    if change == 0.0 || degrees < 1.0 {
        return 1.0;
    }
    if error == 0.0 {
        return 0.0;
    }
    two_sided(change / error, degrees)
}

/// The smallest change that counts, the alpha of its test, and the level of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sensitivity {
    /// The largest chance of a change where there is none, as [`change_points`] takes it.
    pub(super) alpha: f64,
    /// A smaller change is none.
    pub(super) smallest: f64,
    /// The level of some values: their mean, or their median.
    pub(super) level: fn(&[f64]) -> f64,
}

/// The [`change_points`] of a series without those by which the level changes too little. These are
/// taken back from the smallest on, for a value in the midst of a change makes one of its own.
pub(super) fn level_changes(values: &[f64], sensitivity: &Sensitivity) -> Vec<ChangePoint> {
    let points = change_points(values, sensitivity.alpha);
    let places = points.iter().map(|point| point.index).collect();
    let size = |point: &ChangePoint| (point.after - point.before).abs();
    without_weak(values, places, sensitivity.level, size, sensitivity.smallest)
}

/// Fewer values than this have no step.
const STEP_VALUES_MIN: usize = 16;

/// Steps are looked for among the means of this number of slices: windows depend on the ones before them,
/// which looks like a change, and less so in means.
const STEP_SLICES_MAX: usize = 32;

/// So many slices lie on both sides of a step, up to the next one.
const STEP_SIDE_MIN: usize = 5;

/// A place from which on operations take longer, or shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LatencyStep {
    /// Where, as a share of the series, 0 to 1.
    pub(super) at: f64,
    /// How many times as long they take from there on.
    pub(super) ratio: f64,
}

/// The steps in a series of latencies: changes of the median of their logarithms by 1.3 times or
/// more. What rises or falls steadily has such changes too, so lines along both sides must lie as far
/// apart where they meet.
pub(super) fn latency_steps(values: &[f64]) -> Vec<LatencyStep> {
    if values.len() < STEP_VALUES_MIN || values.iter().any(|value| *value <= 0.0) {
        return Vec::new();
    }
    let size = values.len().div_ceil(STEP_SLICES_MAX);
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let logs = slices(&logs, size);
    let smallest = LATENCY_STEP_RATIO_MIN.ln();
    let sensitivity = Sensitivity { alpha: CHANGE_POINT_ALPHA, smallest, level: median };
    let changes = level_changes(&logs, &sensitivity);
    let places: Vec<usize> = changes.iter().map(|change| change.index).collect();
    let step = |(change, ends): (&ChangePoint, &[usize])| {
        let (left, right) = (&logs[ends[0]..ends[1]], &logs[ends[1]..ends[2]]);
        let rise = change.after - change.before;
        let reversed: Vec<f64> = right.iter().rev().copied().collect();
        let between_lines = line_end(&reversed)? - line_end(left)?;
        let at = (change.index * size) as f64 / values.len() as f64;
        let is_step = between_lines * rise.signum() >= smallest;
        is_step.then_some(LatencyStep { at, ratio: rise.exp() })
    };
    changes.iter().zip(bounds(&places, logs.len()).windows(3)).filter_map(step).collect()
}

/// Where the line along some values ends, half a value after the last. None for few values.
fn line_end(values: &[f64]) -> Option<f64> {
    let slope = (values.len() >= STEP_SIDE_MIN).then(|| slope(values))?;
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
    fn a_step_is_found_once_with_its_place_and_size() {
        for (n, at, factor) in [(32, 0.5, 1.8), (64, 0.25, 0.5), (400, 0.7, 1.5), (1000, 0.3, 3.0)]
        {
            for seed in 0..20 {
                let found =
                    latency_steps(&noisy(
                        n,
                        10.0,
                        seed,
                        |x| if x < at { 1e4 } else { 1e4 * factor },
                    ));
                assert_eq!(found.len(), 1, "{n} {at} {factor}: {found:?}");
                assert!((found[0].at - at).abs() < 0.05, "{found:?}");
                assert!((found[0].ratio / factor - 1.0).abs() < 0.1, "{found:?}");
            }
        }
    }

    type CourseLaw = fn(f64) -> f64;

    #[test]
    fn noise_small_steps_and_what_grows_steadily_are_no_steps() {
        let laws: [(&str, CourseLaw); 7] = [
            ("constant", |_| 1e4),
            ("a small step", |x| if x < 0.5 { 1e4 } else { 1.2e4 }),
            ("doubles", |x| 1e4 * (1.0 + x)),
            ("tenfold", |x| 1e4 * (1.0 + 9.0 * x)),
            ("hundredfold", |x| 1e4 * (1.0 + 99.0 * x)),
            ("logarithm", |x| 1e4 + 2e3 * (x * 1e5 + 50.0).log2()),
            ("falls", |x| 1e4 * (1.0 - 0.7 * x)),
        ];
        for (name, law) in laws {
            let wrong = (0..200).filter(|seed| {
                let n = [20, 32, 64, 400][*seed as usize % 4];
                !latency_steps(&noisy(n, 10.0, *seed, law)).is_empty()
            });
            let wrong = wrong.count();
            assert!(wrong <= 2, "{name}: {wrong} of 200");
        }
    }

    #[test]
    fn unusable_and_few_values_have_no_step() {
        for values in [vec![], vec![1.0; 15], vec![0.0; 32], vec![f64::NAN; 32]] {
            assert_eq!(latency_steps(&values), []);
        }
    }
}
