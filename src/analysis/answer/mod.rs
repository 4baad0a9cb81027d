//! Composes the answer of a run: one sentence to the question of its job, from all findings together, with
//! how far to trust it and the command that would make it surer. METHODOLOGY.md states the rules.

pub(super) mod compose;
mod crossing;
pub(super) mod draft;
mod growth;
mod left_out;
mod levels;
mod needed;
mod next;
mod profile;
mod ranking;
mod rates;
mod reliability;
mod slow_class;
mod source;
#[cfg(test)]
mod tests;
mod uncounted;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::named_enum::named_enum;
pub(crate) use words::task;

named_enum! {
    /// Whether what a run asks about is so.
    pub enum Verdict {
        /// It is, with all that the answer states together at 95%; where variants are compared, one is faster, whichever.
        Yes = "yes",
        /// It was seen, but is not proven, or in disturbed measurements only.
        Likely = "likely",
        /// It is not, by more than a margin that is stated.
        No = "no",
        /// The same, but in disturbed measurements or a single run only.
        LikelyNo = "likely-no",
        /// The measurements show it neither way, or not enough was measured.
        CannotTell = "cannot-tell",
    }
}

named_enum! {
    /// How far an answer can be trusted.
    pub enum Reliability {
        /// Repeated, undisturbed, with caches as requested.
        High = "high",
        /// With a reservation that could change a figure, hardly the verdict.
        Medium = "medium",
        /// With a reservation that could change the verdict.
        Low = "low",
    }
}

/// What the whole run answers to its question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerFinding {
    /// Whether what was asked about is so.
    pub verdict: Verdict,
    /// The answer, in at most 30 words.
    #[serde(rename = "sentence")]
    pub text: String,
    /// At most three more sentences: exceptions, and what would have been seen.
    pub evidence: Vec<String>,
    /// The places among the findings of the effects that decide it, 0 for the answer itself.
    #[serde(default)]
    pub effects: Vec<usize>,
    /// How far it can be trusted.
    pub reliability: Reliability,
    /// Why no further, or why so far.
    pub reason: String,
    /// The one command that would make it surer or complete it; none where none would.
    pub next: Option<String>,
}

impl AnswerFinding {
    /// The finding in one sentence, or two.
    pub fn sentence(&self) -> String {
        self.text.clone()
    }
}
