//! Defines the draft of an answer: its verdict, its sentence, and what is missing for a proof. Its reliability is added later.

use crate::answer::Verdict;
use crate::statement::Statement;

/// An answer without its reliability.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnswerDraft {
    pub verdict: Verdict,
    /// The answer without the word for its verdict.
    pub statement: Statement,
    /// Whether it says how fast something is, and nothing that could be or not be.
    pub(crate) is_measured: bool,
    /// What would make it surer or complete it.
    pub lacks: Lack,
    /// The places among what is concluded of the effects that it is made of.
    pub effects: Vec<usize>,
}

/// What an answer lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Nothing: it is proven.
    Nothing,
    /// More repeats: there are too few for an interval.
    Repeats,
    /// Narrower intervals.
    Precision,
    /// Measurements that count, which repeats alone do not give.
    Measurements,
    /// Something else that this job does not give, however often it is repeated.
    Design,
    /// A device whose own speed does not change.
    SteadyDevice,
    /// Something to compare with.
    Variants,
}

impl AnswerDraft {
    /// Proven one way or the other.
    pub(crate) fn proven(verdict: Verdict, statement: Statement) -> Self {
        Self { verdict, statement, is_measured: false, lacks: Lack::Nothing, effects: Vec::new() }
    }

    /// A statement of how fast something is.
    pub(crate) fn measured(statement: Statement, lacks: Lack) -> Self {
        let verdict = if lacks == Lack::Variants { Verdict::CannotTell } else { Verdict::Yes };
        Self { is_measured: true, lacks, ..Self::proven(verdict, statement) }
    }

    /// Not proven, because it lacks something.
    pub(crate) fn open(lacks: Lack, statement: Statement) -> Self {
        Self { lacks, ..Self::proven(Verdict::CannotTell, statement) }
    }

    /// With the places among what is concluded of the effects that it is made of.
    pub(crate) fn made_of(self, effects: Vec<usize>) -> Self {
        Self { effects, ..self }
    }
}
