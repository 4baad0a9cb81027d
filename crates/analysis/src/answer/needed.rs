//! Forecasts the repeats that would decide an answer which is open, from its effects and their errors.

use super::Verdict;
use crate::effect_finding::EffectFinding;
use crate::effects::contrast::Contrast;
use crate::effects::decide::{ALPHA, Decision};
use crate::readings::answer_draft::{AnswerDraft, Lack};

/// Repeats beyond which none are advised.
pub(super) const REPEATS_MOST: u32 = 40;

/// What is forecast of the repeats that would decide an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepeatsNeeded {
    /// Nothing: the answer is decided, or of its effects no error is known.
    Unknown,
    /// This many in all.
    Few(u32),
    /// More than are advised.
    TooMany,
}

impl RepeatsNeeded {
    /// For an answer made of these effects, whose tests had this alpha together; a run of a fixed number of repeats tests at
    /// [`ALPHA`]. The forecast assumes that ratios and spread stay the same.
    pub(super) fn of(draft: &AnswerDraft, effects: &[&EffectFinding], alpha: f64) -> Self {
        let is_open = draft.verdict == Verdict::CannotTell && draft.lacks == Lack::Precision;
        let open = effects.iter().filter(|one| one.headline.decision == Decision::Open);
        let known: Option<Vec<OpenEffect>> =
            open.map(|one| OpenEffect::new(one, ALPHA / alpha)).collect();
        let Some(open) = known.filter(|open| is_open && !open.is_empty()) else {
            return Self::Unknown;
        };
        let done = effects.iter().map(|one| one.repeats as u32).max().unwrap_or(0);
        let would = |repeats: &u32| open.iter().all(|one| one.is_decided_by(*repeats));
        (done + 1..=REPEATS_MOST).find(would).map_or(Self::TooMany, Self::Few)
    }
}

/// An open effect, as it would be with more repeats.
struct OpenEffect {
    estimate: f64,
    /// Standard deviation of the log ratios of repeats.
    deviation: f64,
    /// Degrees of freedom that are not of its own repeats.
    prior_df: f64,
    alpha: f64,
}

impl OpenEffect {
    /// With so many times the alpha of its test.
    fn new(one: &EffectFinding, times: f64) -> Option<Self> {
        let Contrast { estimate, error, df } = one.contrast?;
        let n = one.repeats as f64;
        let alpha = times * (1.0 - one.headline.level?);
        Some(Self { estimate, deviation: error * n.sqrt(), prior_df: df - (n - 1.0), alpha })
    }

    fn is_decided_by(&self, repeats: u32) -> bool {
        let n = f64::from(repeats);
        let error = self.deviation / n.sqrt();
        let then = Contrast { estimate: self.estimate, error, df: self.prior_df + n - 1.0 };
        then.p_differ().min(then.p_within()) <= self.alpha
    }
}
