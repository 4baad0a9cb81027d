//! Compares runs: one with another, one with a limit against a baseline, or several side by side.
//! METHODOLOGY.md states the criteria.

mod between_runs;
pub(crate) mod differences;
mod matching;
mod rates;
mod result;
mod sets;
mod side_by_side;

use crate::analysis::Analysis;
pub(crate) use between_runs::{BaselineMark, OTHER_RUNS_MIN, VarianceBasis};
pub(crate) use matching::PhaseKey;
pub(crate) use rates::{LoadedSide, Metric};
pub use rates::{RatioTest, SpeedVerdict};
pub(crate) use result::{Absence, CheckOutcome};
pub use result::{ComparedRow, Comparison};
use sets::compare_sets;
pub(crate) use sets::{BaselineKind, BaselineRuns, Check, HISTORY_FIGURES};
pub(crate) use side_by_side::{RowSide, SideBySideRow, side_by_side};

/// The second run against the first, without other runs: equal ones differ as much as runs do in general.
pub fn compare(a: &Analysis<'_>, b: &Analysis<'_>) -> Comparison {
    compare_among(a, b, &[])
}

/// The second run against the first. Among `others`, in the order of time, are more runs of what they
/// did, which make the between-run variance.
pub(crate) fn compare_among(
    a: &Analysis<'_>,
    b: &Analysis<'_>,
    others: &[Analysis<'_>],
) -> Comparison {
    compare_sets(BaselineRuns::Run(a), &[b], others, true)
}

#[cfg(test)]
mod tests;
