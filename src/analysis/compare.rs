//! Compares runs: one with another, one with a limit against a baseline, or several side by side.
//! METHODOLOGY.md states the criteria.

mod baseline;
mod decisions;
pub(crate) mod differences;
mod matching;
pub(super) mod rates;
mod result;
mod sets;
mod side_by_side;

use crate::analysis::figures::RunFigures;
pub(crate) use baseline::BaselineMark;
pub use decisions::RowEffect;
pub(crate) use decisions::{CheckOutcome, LoadedSide};
pub(crate) use matching::PhaseKey;
pub(crate) use rates::Metric;
pub(crate) use result::Absence;
pub use result::{ComparedRow, Comparison};
use sets::compare_sets;
pub(crate) use sets::{BaselineKind, BaselineRuns, Check, HISTORY_FIGURES};
pub(crate) use side_by_side::{RowSide, SideBySideRow, side_by_side};

/// The second run against the first, without other runs: equal ones are taken to differ as much as runs do in general.
pub fn compare(a: &RunFigures<'_>, b: &RunFigures<'_>) -> Comparison {
    compare_among(a, b, &[])
}

/// The second run against the first. Among `others`, in the order of time, are more runs of what they
/// did, which show how much equal runs differ.
pub(crate) fn compare_among(
    a: &RunFigures<'_>,
    b: &RunFigures<'_>,
    others: &[RunFigures<'_>],
) -> Comparison {
    compare_sets(BaselineRuns::Run(a), &[b], others, true)
}

#[cfg(test)]
mod tests;
