//! Checks whether a run is slower than its baseline by more than a limit.

use schemars::JsonSchema;
use serde::Serialize;

use super::decisions::RowEffect;
use super::differences::{Difference, differences};
use super::result::{Absence, CheckOutcome, ComparedRow, Comparison};
use super::rows::{BaselineRuns, compare_sets};
use crate::effects::contrast::Contrast;
use crate::effects::decide::ALPHA;
use crate::effects::runs::{CheckDecision, check};
use crate::figures::RunFigures;
use boatload_results::book::Book;

/// A run held against a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// What the run is held against.
    pub against: BaselineKind,
    /// By how much it may be slower: 0.05 for 5%.
    pub fail_on: f64,
    /// Whether a check that proves nothing fails.
    pub fail_on_unsure: bool,
    /// What is new since the run before, where there is no baseline because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlike: Option<UnlikeRun>,
    /// The run, B, against the baseline, A.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// What a run is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineKind {
    /// One run.
    Run,
    /// Earlier runs of the same.
    History,
}

/// An earlier run of the scenario that is no baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UnlikeRun {
    /// Its id.
    pub id: String,
    /// In what the run differs from it.
    pub differences: Vec<Difference>,
}

impl UnlikeRun {
    /// The earlier run, which `run` differs from.
    pub fn new(earlier: &Book, run: &Book) -> Self {
        Self { id: earlier.run.id.clone(), differences: differences(&[earlier, run]) }
    }
}

/// Outcomes of rows of which nothing is proven.
const UNDECIDED: [CheckOutcome; 3] =
    [CheckOutcome::Unsure, CheckOutcome::OtherWork, CheckOutcome::NoBaseline];

/// What a check says of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// A row is a regression.
    Regression,
    /// The run is unfinished, or all that it measured of a row is invalid.
    Incomplete,
    /// There is no baseline yet.
    Nothing,
    /// Of some row nothing is proven.
    Unsure,
    /// No row is slower than the limit allows.
    Ok,
}

impl Check {
    /// Runs against a baseline: one, and those that did the same again. `fail_on` is the slowdown that may
    /// be, as a share. `others` are more runs of what the run or a single baseline did, in the order of time.
    pub fn of_runs(
        runs: &[&RunFigures<'_>],
        baseline: BaselineRuns<'_>,
        others: &[RunFigures<'_>],
        fail_on: f64,
    ) -> Self {
        let mut comparison = compare_sets(baseline, runs, others, &[]);
        check_rows(&mut comparison.rows, fail_on, comparison.b.complete);
        let against = match baseline {
            BaselineRuns::Run(_) => BaselineKind::Run,
            BaselineRuns::History(_) => BaselineKind::History,
        };
        Self { against, fail_on, fail_on_unsure: false, unlike: None, comparison }
    }

    /// Rows with this outcome.
    pub fn with(&self, outcome: CheckOutcome) -> Vec<&ComparedRow> {
        self.comparison.rows.iter().filter(|row| row.outcome == Some(outcome)).collect()
    }

    /// The worst that it says of any row.
    pub fn verdict(&self) -> CheckVerdict {
        let any = |outcome| !self.with(outcome).is_empty();
        if any(CheckOutcome::Regression) {
            CheckVerdict::Regression
        } else if !self.comparison.b.complete || any(CheckOutcome::Invalid) {
            CheckVerdict::Incomplete
        } else if self.rows().next().is_none() {
            CheckVerdict::Nothing
        } else if UNDECIDED.into_iter().any(any) {
            CheckVerdict::Unsure
        } else {
            CheckVerdict::Ok
        }
    }

    /// Whether more runs of the same could settle it: a row is slower than the limit allows, or is not shown
    /// to be and looks so.
    pub fn wants_more_runs(&self) -> bool {
        let looks_slower =
            |row: &&ComparedRow| row.effect.ratio.is_some_and(|ratio| ratio > 1.0 + self.fail_on);
        !self.with(CheckOutcome::Regression).is_empty()
            || self.with(CheckOutcome::Unsure).iter().any(looks_slower)
    }

    /// Rows that both the baseline and the run have to have: all but rows of one alone.
    pub fn rows(&self) -> impl Iterator<Item = &ComparedRow> {
        let is_checked = |row: &&ComparedRow| row.outcome != Some(CheckOutcome::NotInBoth);
        self.comparison.rows.iter().filter(is_checked)
    }
}

/// Holds each row against the limit. All rows are one family of Holm's test. A row passes or fails only where both the test and the
/// interval of the row say so.
fn check_rows(rows: &mut [ComparedRow], fail_on: f64, is_complete: bool) {
    let factor = 1.0 + fail_on;
    let tested: Vec<Contrast> = rows.iter().filter_map(|row| row.effect.contrast).collect();
    let mut decisions = check(&tested, factor, ALPHA).into_iter();
    for row in rows {
        let decision = row.effect.contrast.and_then(|_| decisions.next());
        let RowEffect { interval, .. } = row.effect;
        let is_loaded = |is_longer| row.effect.may_be_due_to_load(is_longer);
        let outcome = match decision {
            Some(CheckDecision::Regression)
                if row.work.is_none()
                    && interval.is_some_and(|one| one.low > factor)
                    && !is_loaded(true) =>
            {
                CheckOutcome::Regression
            }
            Some(CheckDecision::Ok)
                if row.work.is_none()
                    && interval.is_some_and(|one| one.high < factor)
                    && !is_loaded(false) =>
            {
                CheckOutcome::Ok
            }
            _ if row.work.is_some() => CheckOutcome::OtherWork,
            _ => CheckOutcome::Unsure,
        };
        row.outcome = Some(untested(row, is_complete).unwrap_or(outcome));
    }
}

/// The outcome of a row that a side lacks. `None` if both have it.
fn untested(row: &ComparedRow, complete: bool) -> Option<CheckOutcome> {
    Some(match (row.a, row.absence?) {
        // Also where the baseline's is invalid: what stays broken does not become good.
        (_, Absence::Invalid | Absence::ReachedLimit) if row.b.is_none() => CheckOutcome::Invalid,
        (_, Absence::OtherPace) => CheckOutcome::OtherWork,
        (None, Absence::ReachedLimit) => CheckOutcome::NoBaseline,
        (None, _) => CheckOutcome::NotInBoth,
        // Its job may have no such phase.
        (_, Absence::NotMeasured) if complete => CheckOutcome::NotInBoth,
        (_, Absence::NotMeasured) => CheckOutcome::Missing,
        _ => CheckOutcome::Invalid,
    })
}

#[cfg(test)]
mod tests;
