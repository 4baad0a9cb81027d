//! Composes the answer of a run: one sentence to the question of its job, from all findings together, with
//! how far to trust it and the command that would make it surer. METHODOLOGY.md states the rules.

pub(super) mod compose;
mod missing;
mod needed;
mod next;
mod reliability;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statement::Statement;
use boatload_base::named_enum;

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
    /// The answer, as a list of all that is concluded has it.
    #[serde(rename = "sentence")]
    pub statement: Statement,
    /// The places among the findings of the effects that decide it, 0 for the answer itself.
    #[serde(default)]
    pub effects: Vec<usize>,
    /// How far it can be trusted.
    pub reliability: Reliability,
    /// Why no further, or why so far.
    pub reason: String,
    /// The one command that would make it surer or complete it, with what it is for behind `#`; none where none would.
    pub next: Option<String>,
}

/// Words of an answer where there is little room.
const WORDS_MAX: usize = 60;

impl AnswerFinding {
    /// The answer in a few sentences.
    pub fn sentence(&self) -> String {
        self.fitted().to_string()
    }

    /// What of it stands where there is little room.
    pub fn fitted(&self) -> Statement {
        self.statement.fitted(WORDS_MAX)
    }
}
