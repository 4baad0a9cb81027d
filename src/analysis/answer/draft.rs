//! Defines what findings say together, before it is known how far to trust it.

use super::Verdict;
use super::uncounted::UncountedParts;
use crate::analysis::effect::EffectFinding;
use crate::plan::Conclusion;

/// An effect with its place among what is concluded.
#[derive(Clone, Copy)]
pub(super) struct PlacedEffect<'a> {
    pub(super) place: usize,
    pub(super) effect: &'a EffectFinding,
}

/// An answer without its reliability.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::analysis) struct AnswerDraft {
    pub(super) verdict: Verdict,
    /// The answer without the word for its verdict, and without its full stop.
    pub(super) text: String,
    /// Sentences that support it, the most important first.
    pub(super) evidence: Vec<String>,
    /// Whether it says how fast something is, and nothing that could be or not be.
    pub(super) is_measured: bool,
    /// What would make it surer or complete it.
    pub(super) lacks: Lack,
    /// The places among what is concluded of the effects that it is made of.
    pub(super) effects: Vec<usize>,
    /// The kind of the findings that it is made of; none for a profile.
    pub(in crate::analysis) kind: Option<Conclusion>,
}

/// What an answer lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::analysis) enum Lack {
    /// Nothing: it is proven.
    Nothing,
    /// More repeats: there are too few for an interval.
    Repeats,
    /// Narrower intervals.
    Precision,
    /// Measurements that count at all levels, which repeats alone do not give.
    CountedLevels,
    /// Something else that this job does not give, however often it is repeated.
    Design,
    /// A device whose own speed does not change.
    SteadyDevice,
    /// Something to compare with.
    Variants,
}

impl AnswerDraft {
    /// Proven one way or the other.
    pub(super) fn proven(verdict: Verdict, text: String, evidence: Vec<String>) -> Self {
        Self::new(verdict, text, evidence, Lack::Nothing)
    }

    /// A statement of how fast something is.
    pub(super) fn measured(text: String, evidence: Vec<String>, lacks: Lack) -> Self {
        let verdict = if lacks == Lack::Variants { Verdict::CannotTell } else { Verdict::Yes };
        Self { is_measured: true, ..Self::new(verdict, text, evidence, lacks) }
    }

    /// Not to be told, because it lacks something.
    pub(super) fn cannot_tell(lacks: Lack, text: String, evidence: Vec<String>) -> Self {
        Self::new(Verdict::CannotTell, text, evidence, lacks)
    }

    fn new(verdict: Verdict, text: String, evidence: Vec<String>, lacks: Lack) -> Self {
        let (is_measured, effects, kind) = (false, Vec::new(), None);
        Self { verdict, text, evidence, is_measured, lacks, effects, kind }
    }

    /// The same where these parts of a run do not count: of those nothing is known, so not that there is nothing, nor would
    /// more repeats show it.
    pub(super) fn apart_from(mut self, uncounted: Option<&UncountedParts<'_>>) -> Self {
        let Some(uncounted) = uncounted else { return self };
        self.evidence.insert(0, uncounted.sentence());
        let would_be_no = self.verdict == Verdict::No || self.lacks == Lack::Precision;
        if let Some(levels) = uncounted.levels().filter(|_| would_be_no) {
            (self.verdict, self.lacks) = (Verdict::CannotTell, Lack::CountedLevels);
            self.text = format!("{levels}; {}", self.text);
        }
        self
    }

    /// With the places among what is concluded of the effects that it is made of.
    pub(super) fn made_of(self, effects: Vec<usize>) -> Self {
        Self { effects, ..self }
    }
}
