//! Finds change points in a series of values: the repeats of a run, and the history of runs.
//!
//! The search follows E-divisive means (Matteson and James, "A nonparametric approach for
//! multiple change point analysis of multivariate data", JASA 109, 2014), with Student's t for its
//! permutations and points taken back from the weakest on, as in Fleming et al., "Hunter: using
//! change point detection to hunt for performance regressions", ICPE 2023. It needs no random
//! numbers: the same series gives the same points.
//!
//! [`change_points`] finds what is no chance, [`level_changes`] of these what is large enough to matter.

use super::statistics::describe::{finite, mean, squares};
use super::statistics::distributions::two_sided;

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
    /// The mean since the point before, or the start.
    pub before: f64,
    /// The same up to the next point, or the end.
    pub after: f64,
    /// The chance of two such levels without a change, if the place had been known before: of the
    /// many places it is the best one, so only small chances count.
    pub p_value: f64,
}

/// Changes of the mean of a series, in order. `alpha` is the largest p-value of a point in a
/// series of up to 50 values, and `50 / n` times as much in a longer one. With 0.001 one to
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
    without_weak(values, found, |point| -point.p_value, -alpha)
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
    strength: impl Fn(&ChangePoint) -> f64,
    least: f64,
) -> Vec<ChangePoint> {
    loop {
        let point = |bounds: &[usize]| {
            let (left, right) = (&values[bounds[0]..bounds[1]], &values[bounds[1]..bounds[2]]);
            let (before, after) = (mean(left), mean(right));
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

/// The [`change_points`] of a series without those by which the level changes too little. These are
/// taken back from the smallest on, for a value in the midst of a change makes one of its own.
pub(super) fn level_changes(values: &[f64], alpha: f64, smallest: f64) -> Vec<ChangePoint> {
    let places = change_points(values, alpha).iter().map(|point| point.index).collect();
    let size = |point: &ChangePoint| (point.after - point.before).abs();
    without_weak(values, places, size, smallest)
}
