//! Compares runs: one with another, one with a limit against a baseline, or several side by side.
//! METHODOLOGY.md states the criteria.

mod baseline;
mod check;
mod decisions;
pub mod differences;
mod matching;
mod result;
mod rows;

use crate::figures::RunFigures;
pub use check::{Check, CheckVerdict, UnlikeRun};
pub use decisions::{LoadedSide, RowEffect};
pub use matching::PhaseKey;
pub use result::{Absence, CheckOutcome, ComparedRow, Comparison, Metric};
pub use rows::BaselineRuns;
use rows::compare_sets;

/// The second run against the first, without other runs: equal ones are taken to differ as much as runs do in general.
pub fn compare(a: &RunFigures<'_>, b: &RunFigures<'_>) -> Comparison {
    compare_beside(a, b, &[], &[])
}

/// The second run against the first. Among `others`, in the order of time, are more runs of what they
/// did, which show how much equal runs differ. Rows and units match all runs that are `shown` in the same table.
pub fn compare_beside(
    a: &RunFigures<'_>,
    b: &RunFigures<'_>,
    others: &[RunFigures<'_>],
    shown: &[&RunFigures<'_>],
) -> Comparison {
    compare_sets(BaselineRuns::Run(a), &[b], others, shown)
}

#[cfg(test)]
mod tests;
