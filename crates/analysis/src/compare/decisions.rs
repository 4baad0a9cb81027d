//! Decides about the rows of a comparison: whether B takes longer than A.

use schemars::JsonSchema;
use serde::Serialize;

use crate::effects::contrast::Contrast;
use crate::effects::decide::{ALPHA, Control, Decision, decide};
use crate::effects::runs::{RunRow, between_runs};
use crate::statistics::Interval;

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
    /// `None` if both were measured under load, or neither.
    pub(super) fn of(loaded: [bool; 2]) -> Option<Self> {
        match loaded {
            [true, false] => Some(Self::A),
            [false, true] => Some(Self::B),
            _ => None,
        }
    }
}

/// B's time over A's, and what is decided about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct RowEffect {
    /// How many times as long B took. `None` without a value of each.
    pub ratio: Option<f64>,
    /// Its interval, which agrees with the decision. `None` with one repeat, or if its ends are more than 30 times apart.
    pub interval: Option<Interval>,
    /// Whether B takes longer than A. Of all in a table at most 5% are expected to be false.
    pub decision: Decision,
    /// Whether the decision also holds where any false one has a chance of 5%.
    pub in_headline: bool,
    /// The side that background load may have made the slower one, since it disturbed no other.
    #[serde(skip)]
    pub loaded_side: Option<LoadedSide>,
    /// What the contrast is made from.
    #[serde(skip)]
    pub row: Option<RunRow>,
    /// What the decision was made from.
    #[serde(skip)]
    pub contrast: Option<Contrast>,
}

impl RowEffect {
    /// By how much equal runs may differ: half the width of the interval, as a share.
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|interval| (interval.high / interval.low).sqrt() - 1.0)
    }

    /// The distance of the ratio from 1, as a logarithm.
    pub fn size(&self) -> f64 {
        self.ratio.map_or(0.0, |ratio| ratio.ln().abs())
    }

    /// Background load slows what is measured at the same time: this alone does not prove that a side is slower, nor that it is not.
    pub(super) fn may_be_due_to_load(&self, is_longer: bool) -> bool {
        let hides = if is_longer { LoadedSide::B } else { LoadedSide::A };
        self.loaded_side == Some(hides)
    }

    fn decided(&self, decision: Decision) -> Decision {
        let is_doubtful = match decision {
            Decision::Longer => self.may_be_due_to_load(true),
            Decision::Shorter => self.may_be_due_to_load(false),
            _ => self.loaded_side.is_some(),
        };
        if is_doubtful || self.interval.is_none() { Decision::Open } else { decision }
    }
}

/// Finds the contrasts of effects. Their variances are moderated together: of those with a history, and of the others.
pub(super) fn find_contrasts<'a>(effects: impl Iterator<Item = &'a mut RowEffect>) {
    let known = effects.filter_map(|effect| Some((effect.row.take()?, &mut effect.contrast)));
    let (histories, pairs): (Vec<_>, Vec<_>) = known.partition(|(row, _)| row.is_history);
    for family in [histories, pairs] {
        let (rows, places): (Vec<RunRow>, Vec<_>) = family.into_iter().unzip();
        for (place, contrast) in places.into_iter().zip(between_runs(&rows)) {
            *place = Some(contrast);
        }
    }
}

/// Decides about the effects of a family.
pub(super) fn decide_family<'a>(effects: impl Iterator<Item = &'a mut RowEffect>) {
    let mut family: Vec<(Contrast, &mut RowEffect)> =
        effects.filter_map(|effect| Some((effect.contrast?, effect))).collect();
    let tested: Vec<Contrast> = family.iter().map(|(contrast, _)| *contrast).collect();
    let table = decide(&tested, ALPHA, Control::FalseDiscovery);
    let headline = decide(&tested, ALPHA, Control::Holm);
    for (((contrast, effect), table), headline) in family.iter_mut().zip(table).zip(headline) {
        let interval = contrast.interval(table.alpha);
        effect.interval = Some(interval).filter(|found| found.high <= SPAN_MAX * found.low);
        effect.decision = effect.decided(table.decision);
        effect.in_headline =
            effect.decision != Decision::Open && effect.decision == headline.decision;
    }
}
