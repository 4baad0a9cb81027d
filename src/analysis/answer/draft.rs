//! Defines what findings say together, before it is known how far to trust it.

use super::Verdict;

/// An answer without its reliability.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AnswerDraft {
    pub(super) verdict: Verdict,
    /// The answer without the word for its verdict, and without its full stop.
    pub(super) text: String,
    /// Sentences that support it, the most important first.
    pub(super) evidence: Vec<String>,
    /// Whether it says how fast something is, and nothing that could be or not be.
    pub(super) is_measured: bool,
    /// What would make it surer or complete it.
    pub(super) lacks: Lack,
}

/// What an answer lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// Nothing: it is proven.
    Nothing,
    /// More repeats: there are too few for an interval.
    Repeats,
    /// Narrower intervals.
    Precision,
    /// Something to compare with.
    Variants,
}

impl AnswerDraft {
    /// Proven one way or the other.
    pub(super) fn proven(verdict: Verdict, text: String, evidence: Vec<String>) -> Self {
        Self { verdict, text, evidence, is_measured: false, lacks: Lack::Nothing }
    }

    /// A statement of how fast something is.
    pub(super) fn measured(text: String, evidence: Vec<String>, lacks: Lack) -> Self {
        let verdict = if lacks == Lack::Variants { Verdict::CannotTell } else { Verdict::Yes };
        Self { verdict, text, evidence, is_measured: true, lacks }
    }

    /// Not to be told, because it lacks something.
    pub(super) fn cannot_tell(lacks: Lack, text: String, evidence: Vec<String>) -> Self {
        Self { verdict: Verdict::CannotTell, text, evidence, is_measured: false, lacks }
    }
}
