//! Checks whether a run is slower than a baseline by more than a limit: an answer that a script can
//! act on. METHODOLOGY.md states the criteria.

use serde::Serialize;

use super::result::{Absence, CheckOutcome, CheckedRow, ComparedRow, Comparison};
use super::sets::{BaselineRuns, ConfidenceScope, compare_sets};
use crate::analysis::Analysis;

/// A run held against a baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What the run is held against.
    pub against: BaselineKind,
    /// By how much it may be slower: 0.05 for 5%.
    pub fail_on: f64,
    /// The run, B, against the baseline, A.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// What a run is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineKind {
    /// One run.
    Run,
    /// Earlier runs of the same.
    History,
}

impl Check {
    /// A run against a baseline; `fail_on` is the slowdown that may be, as a share. `others` are
    /// more runs of what the run or a single baseline did, in the order of time.
    pub fn of_run(
        run: &Analysis<'_>,
        baseline: BaselineRuns<'_>,
        others: &[Analysis<'_>],
        fail_on: f64,
    ) -> Self {
        let mut comparison = compare_sets(baseline, run, others, ConfidenceScope::AllRows);
        for row in &mut comparison.rows {
            row.checked = Some(CheckedRow {
                outcome: outcome(row, fail_on, run.book.run.complete),
                slowdown: row.test.slowdown(),
                slowdown_interval: row.test.slowdown_interval(),
            });
        }
        let against = match baseline {
            BaselineRuns::Run(_) => BaselineKind::Run,
            BaselineRuns::History(_) => BaselineKind::History,
        };
        Self { against, fail_on, comparison }
    }

    /// Rows of which this comes.
    pub fn with(&self, outcome: CheckOutcome) -> Vec<&ComparedRow> {
        self.comparison.rows.iter().filter(|row| row.outcome() == Some(outcome)).collect()
    }

    /// Rows that both the baseline and the run have to have: all but those of one alone.
    pub fn rows(&self) -> impl Iterator<Item = &ComparedRow> {
        let is_checked = |row: &&ComparedRow| row.outcome() != Some(CheckOutcome::NotInBoth);
        self.comparison.rows.iter().filter(is_checked)
    }

    /// Rows that are good, and might be even if the run were slower by more than the limit.
    pub fn underpowered(&self) -> Vec<&ComparedRow> {
        let most = 1.0 + self.fail_on;
        let reaches_beyond =
            |row: &&ComparedRow| row.test.slowdown_interval().is_some_and(|one| one.high > most);
        self.with(CheckOutcome::Ok).into_iter().filter(reaches_beyond).collect()
    }
}

fn outcome(row: &ComparedRow, fail_on: f64, complete: bool) -> CheckOutcome {
    let most = 1.0 + fail_on;
    match (row.a, row.absence, row.test.slowdown(), row.test.slowdown_interval()) {
        (None, ..) => CheckOutcome::NotInBoth,
        // Its job may have no such phase.
        (_, Some(Absence::NotMeasured), ..) if complete => CheckOutcome::NotInBoth,
        (_, Some(Absence::NotMeasured), ..) => CheckOutcome::Missing,
        (_, Some(Absence::Invalid | Absence::NoRate), ..) => CheckOutcome::Invalid,
        (.., Some(interval)) if interval.low > most => CheckOutcome::Regression,
        (.., Some(slowdown), Some(_)) if slowdown <= most => CheckOutcome::Ok,
        _ => CheckOutcome::Unsure,
    }
}

#[cfg(test)]
mod tests;
