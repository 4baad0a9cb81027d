//! Decides about the rows of a comparison: how B's time compares with A's, and whether it is beyond a limit.

use serde::Serialize;

use crate::analysis::effects::contrast::Contrast;
use crate::analysis::effects::decide::{ALPHA, Control, Decision, decide, interval_alpha};
use crate::analysis::effects::runs::{
    BaselineRow, CheckDecision, RunRow, against_history, between_runs, check,
};
use crate::analysis::statistics::Interval;

/// An interval whose ends are this many times apart says nothing.
const SPAN_MAX: f64 = 30.0;

/// The side that alone was measured under background load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadedSide {
    /// A alone.
    A,
    /// B alone.
    B,
}

impl LoadedSide {
    /// Of what was measured under load; none if both were, or neither.
    pub(super) fn of(loaded: [bool; 2]) -> Option<Self> {
        match loaded {
            [true, false] => Some(Self::A),
            [false, true] => Some(Self::B),
            _ => None,
        }
    }
}

/// A ratio of B to A, and what is decided about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RowEffect {
    /// How many times as fast B was; of latencies, how many times as long it took. None without a
    /// value of each.
    pub ratio: Option<f64>,
    /// Its interval, which agrees with the decision; none with one repeat, or if its ends are more than 30 times apart.
    pub interval: Option<Interval>,
    /// Whether B takes longer than A. Of all in a table at most 5% are expected to be false.
    pub decision: Decision,
    /// Whether the decision also holds where any false one has a chance of 5%.
    pub in_headline: bool,
}

impl Default for RowEffect {
    fn default() -> Self {
        Self { ratio: None, interval: None, decision: Decision::Open, in_headline: false }
    }
}

impl RowEffect {
    /// The same of rates, which are higher where times are shorter.
    fn inverted(self) -> Self {
        Self {
            ratio: self.ratio.map(|ratio| 1.0 / ratio),
            interval: self.interval.map(inverted),
            ..self
        }
    }

    /// Of a ratio of rates, how many times as long B took.
    pub fn slowdown(&self) -> Option<f64> {
        self.inverted().ratio
    }

    /// The interval of the slowdown.
    pub fn slowdown_interval(&self) -> Option<Interval> {
        self.inverted().interval
    }
}

fn inverted(interval: Interval) -> Interval {
    Interval { low: 1.0 / interval.high, high: 1.0 / interval.low }
}

/// The interval at this alpha, unless its ends are too far apart.
fn stated_interval(contrast: &Contrast, alpha: f64) -> Option<Interval> {
    Some(contrast.interval(alpha)).filter(|found| found.high <= SPAN_MAX * found.low)
}

/// What the ratio of a row is made of: logarithms of times.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RowValues {
    /// Of two runs.
    Pair(RunRow),
    /// Of a run and the runs before it.
    History(BaselineRow),
}

/// The contrasts of rows, B's time over A's, in their order. `None` for one that has none.
pub(super) fn contrasts(rows: &[Option<RowValues>]) -> Vec<Option<Contrast>> {
    let (mut pairs, mut histories) = (Vec::new(), Vec::new());
    for row in rows.iter().flatten() {
        match row {
            RowValues::Pair(row) => pairs.push(row.clone()),
            RowValues::History(row) => histories.push(row.clone()),
        }
    }
    let [mut pairs, mut histories] =
        [between_runs(&pairs), against_history(&histories)].map(Vec::into_iter);
    let of_row = |row: &Option<RowValues>| match row.as_ref()? {
        RowValues::Pair(_) => pairs.next(),
        RowValues::History(_) => histories.next(),
    };
    rows.iter().map(of_row).collect()
}

/// A row of a family that is decided together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct UndecidedRow {
    /// How many times as long B took; none without a value of each.
    pub(in crate::analysis) slowdown: Option<f64>,
    pub(in crate::analysis) contrast: Option<Contrast>,
    /// The side that background load may have made the slower one, since it disturbed no other.
    pub(in crate::analysis) loaded_side: Option<LoadedSide>,
}

/// Decides about the times of a family.
pub(super) fn decide_times(family: &[UndecidedRow]) -> Vec<RowEffect> {
    let tested: Vec<Contrast> = family.iter().filter_map(|row| row.contrast).collect();
    let table = decide(&tested, ALPHA, Control::FalseDiscovery);
    let headline = decide(&tested, ALPHA, Control::Holm);
    let mut decided = tested.iter().zip(table).zip(headline);
    let effect = |row: &UndecidedRow| {
        let open = RowEffect { ratio: row.slowdown, ..RowEffect::default() };
        let Some(((contrast, table), headline)) = row.contrast.and_then(|_| decided.next()) else {
            return open;
        };
        let interval = stated_interval(contrast, table.alpha);
        let decision = match interval {
            Some(_) => without_effect_of_load(table.decision, row.loaded_side),
            None => Decision::Open,
        };
        let in_headline = decision != Decision::Open && decision == headline.decision;
        RowEffect { interval, decision, in_headline, ..open }
    };
    family.iter().map(effect).collect()
}

/// Decides about the rates of a family.
pub(in crate::analysis) fn decide_rates(family: &[UndecidedRow]) -> Vec<RowEffect> {
    decide_times(family).into_iter().map(RowEffect::inverted).collect()
}

/// Background load slows what is measured beside it: that alone does not prove that a side is slower, nor that it is not.
fn without_effect_of_load(decision: Decision, loaded_side: Option<LoadedSide>) -> Decision {
    match (loaded_side, decision) {
        (None, _)
        | (Some(LoadedSide::A), Decision::Longer)
        | (Some(LoadedSide::B), Decision::Shorter) => decision,
        _ => Decision::Open,
    }
}

/// A row held against a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CheckedRow {
    /// What comes of it.
    pub outcome: CheckOutcome,
    /// How many times as long the run took; none if it has no valid value.
    pub slowdown: Option<f64>,
    /// Its interval, which agrees with the outcome unless background load changed that; none with one repeat, or if its
    /// ends are more than 30 times apart.
    pub slowdown_interval: Option<Interval>,
}

/// What a check says of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// Proven to be slower by less than the limit.
    Ok,
    /// Proven to be slower by more.
    Regression,
    /// Neither is proven.
    Unsure,
    /// All that the run measured of it is invalid, or some of it reached its limit.
    Invalid,
    /// The run ended before it.
    Missing,
    /// A measurement of the baseline reached its limit.
    NoBaseline,
    /// Only the run or only the baseline has it.
    NotInBoth,
}

/// Checks rows against a limit: none may be slower by more than this share.
pub(super) fn check_rows(rows: &[UndecidedRow], fail_on: f64) -> Vec<CheckedRow> {
    let factor = 1.0 + fail_on;
    let tested: Vec<Contrast> = rows.iter().filter_map(|row| row.contrast).collect();
    let decisions = check(&tested, factor, ALPHA);
    let alpha_after = |decision: CheckDecision| {
        let claims = decisions.iter().filter(|one| **one == decision).count();
        interval_alpha(claims, tested.len(), ALPHA, Control::Holm)
    };
    let [above, below] = [CheckDecision::Regression, CheckDecision::Ok].map(alpha_after);
    let mut decided = tested.iter().zip(&decisions);
    let checked = |row: &UndecidedRow| {
        let unsure = CheckedRow {
            outcome: CheckOutcome::Unsure,
            slowdown: row.slowdown,
            slowdown_interval: None,
        };
        let Some((contrast, decision)) = row.contrast.and_then(|_| decided.next()) else {
            return unsure;
        };
        let p = contrast.p_above(factor).min(contrast.p_below(factor));
        let alpha = match decision {
            CheckDecision::Regression => above,
            CheckDecision::Ok => below,
            CheckDecision::Unsure if above.max(below) < p => above.max(below),
            CheckDecision::Unsure => above.min(below),
        };
        let outcome = match (decision, row.loaded_side) {
            (CheckDecision::Regression, Some(LoadedSide::B))
            | (CheckDecision::Ok, Some(LoadedSide::A))
            | (CheckDecision::Unsure, _) => CheckOutcome::Unsure,
            (CheckDecision::Regression, _) => CheckOutcome::Regression,
            (CheckDecision::Ok, _) => CheckOutcome::Ok,
        };
        // Each end is one-sided.
        let slowdown_interval = stated_interval(contrast, 2.0 * alpha);
        CheckedRow { outcome, slowdown_interval, ..unsure }
    };
    rows.iter().map(checked).collect()
}
