//! A phase in parts: its start-up, and ten equal parts of what follows. The means of the first and the
//! last part say how its latency changed, in sentences, tables, charts and documents alike.

use std::ops::Range;

use super::sample::Values;
use crate::analysis::statistics::describe::mean;
use crate::results::book::{Measurement, Window};

/// Fewer windows than this show no law.
pub(in crate::analysis) const WINDOWS_MIN: usize = 8;
/// Parts of a phase, where it has as many windows.
const PARTS_MAX: usize = 10;

/// One phase of one variant at one level, all measurements together.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::analysis) struct PhaseParts {
    /// What its beginning took longer by is no growth; none if there is no start-up.
    pub(in crate::analysis) start_up: Option<PhasePart>,
    /// What follows, in order; at least one.
    pub(in crate::analysis) parts: Vec<PhasePart>,
}

/// Operations of a phase that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::analysis) struct PhasePart {
    /// Operations done when it begins, and when it ends.
    pub(in crate::analysis) operations: Range<u64>,
    /// Mean latency over the repeats, in nanoseconds.
    pub(in crate::analysis) mean_ns: f64,
    /// That of each repeat; of a single one, of each pass.
    pub(super) means_ns: Vec<f64>,
}

impl PhaseParts {
    /// Of a phase that begins with a start-up of this share. None without a measurement in windows.
    pub(in crate::analysis) fn new(cell: &[&Measurement], start_up: f64) -> Option<Self> {
        let measurements = in_windows(cell);
        let windows = measurements.iter().map(|m| m.windows.len()).min()?;
        let number = divided(windows, windows_of(start_up, windows)).len();
        let part = |range_of: &dyn Fn(usize) -> Range<usize>| {
            let own = |m: &Measurement| Some(mean_ns(&m.windows[range_of(m.windows.len())]));
            let means_ns = Values::new(&measurements, own).figures();
            let longest = measurements.iter().map(|m| &m.windows).max_by_key(|w| w.len())?;
            let windows = longest.get(range_of(longest.len()))?;
            let (first, last) = (windows.first()?, windows.last()?);
            let operations = first.first..last.first.saturating_add(last.operations);
            Some(PhasePart { operations, mean_ns: mean(&means_ns), means_ns })
        };
        let of_start_up = |windows: usize| 0..windows_of(start_up, windows);
        let of_part = |at: usize| {
            part(&|windows: usize| divided(windows, windows_of(start_up, windows)).swap_remove(at))
        };
        Some(Self {
            start_up: part(&of_start_up),
            parts: (0..number)
                .map(of_part)
                .collect::<Option<_>>()
                .filter(|all: &Vec<_>| !all.is_empty())?,
        })
    }
}

/// The measurements whose windows all have figures; where some have enough windows for a law, these.
pub(super) fn in_windows<'a>(cell: &[&'a Measurement]) -> Vec<&'a Measurement> {
    let mut all: Vec<_> = cell.iter().filter(|m| has_whole_windows(m)).copied().collect();
    if all.iter().any(|m| m.windows.len() >= WINDOWS_MIN) {
        all.retain(|m| m.windows.len() >= WINDOWS_MIN);
    }
    all
}

/// Whether it has windows, and all of them have figures.
fn has_whole_windows(m: &Measurement) -> bool {
    let is_whole = |w: &Window| w.mean_ns.is_finite() && w.mean_ns > 0.0 && w.operations > 0;
    !m.windows.is_empty() && m.windows.iter().all(is_whole)
}

/// Whether it has enough windows for a law.
pub(super) fn has_enough_windows(m: &Measurement) -> bool {
    m.windows.len() >= WINDOWS_MIN && has_whole_windows(m)
}

/// Windows of a start-up of this share.
pub(super) fn windows_of(start_up: f64, windows: usize) -> usize {
    ((start_up * windows as f64).round() as usize).min(windows.saturating_sub(1))
}

/// What follows the start-up in parts: the first and the last have the same number of windows, and what
/// lies between is divided equally.
fn divided(windows: usize, start_up: usize) -> Vec<Range<usize>> {
    let rest = windows - start_up;
    let number = rest.min(PARTS_MAX);
    if number < 3 {
        return (start_up..windows).map(|at| at..at + 1).collect();
    }
    let end = rest / number;
    let border = |at: usize| start_up + end + (at - 1) * (rest - 2 * end) / (number - 2);
    let middle = (1..number - 1).map(|at| border(at)..border(at + 1));
    let last = windows - end..windows;
    std::iter::once(start_up..start_up + end).chain(middle).chain([last]).collect()
}

/// Mean latency of the operations of some windows.
pub(super) fn mean_ns(windows: &[Window]) -> f64 {
    let operations: f64 = windows.iter().map(|w| w.operations as f64).sum();
    windows.iter().map(|w| w.mean_ns * w.operations as f64).sum::<f64>() / operations
}
