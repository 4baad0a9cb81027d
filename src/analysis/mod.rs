//! Computes everything that follows from the results of a run, each part once, when it is first needed.
//! Reports write an analysis and compute nothing.

pub mod amplification;
pub mod answer;
pub mod audit;
pub mod change;
pub mod compare;
pub mod conditions;
pub mod decided;
pub mod disk_use;
mod disturbances;
pub mod effect;
pub mod effects;
pub(crate) mod figures;
pub mod finding;
pub mod findings;
pub mod forecast;
pub mod history;
pub mod latencies;
pub mod layout;
pub mod limit;
mod observations;
pub mod ranked;
pub mod ranks;
pub(crate) mod rate_values;
mod repeat_step;
mod run_effects;
pub mod statistics;
pub mod summary;
pub mod tails;
pub mod thresholds;
pub(crate) mod trials;
pub(crate) mod twins;
pub mod uncertainty;
pub mod warnings;

use std::cell::OnceCell;
use std::ops::Deref;

use crate::plan::Conclusion;
use crate::results::book::Book;
use answer::AnswerFinding;
use answer::compose::{answer, draft};
use answer::draft::AnswerDraft;
use figures::RunFigures;
use finding::Finding;
use warnings::warnings;

/// A book and what follows from it: its figures and conclusions, its warnings, and the answer.
#[derive(Debug)]
pub struct Analysis<'a> {
    figures: RunFigures<'a>,
    draft: OnceCell<AnswerDraft>,
    findings: OnceCell<Vec<Finding>>,
}

impl<'a> Deref for Analysis<'a> {
    type Target = RunFigures<'a>;

    fn deref(&self) -> &Self::Target {
        &self.figures
    }
}

impl<'a> Analysis<'a> {
    /// What follows from the book without its answer and its warnings.
    pub(crate) fn figures(&self) -> &RunFigures<'a> {
        &self.figures
    }

    /// Of this book. Nothing is computed yet.
    pub fn of(book: &'a Book) -> Self {
        Self { figures: RunFigures::of(book), draft: OnceCell::new(), findings: OnceCell::new() }
    }

    /// What is concluded: the answer, the findings that the job wants, what the disk did in the phases that
    /// it limits, then the warnings. Of published figures nothing is concluded.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| {
            if self.book.run.reference.is_some() {
                return Vec::new();
            }
            let mut all = self.concluded().to_vec();
            let warned = warnings(&self.figures);
            all.extend(warned.into_iter().map(Finding::Warning));
            let answer = answer(&self.figures, self.draft(), &all).map(Finding::Answer);
            answer.into_iter().chain(all).collect()
        })
    }

    /// What the measurements so far say together, before it is known how far to trust it.
    fn draft(&self) -> &AnswerDraft {
        self.draft.get_or_init(|| draft(&self.figures, self.concluded()))
    }

    /// The kind of the findings that the answer is made of; none where it is made of rates.
    pub(crate) fn answered_by(&self) -> Option<Conclusion> {
        self.draft().kind
    }

    /// What the run answers to its question; none where nothing was measured, and of published figures.
    pub fn answer(&self) -> Option<&AnswerFinding> {
        match self.findings().first() {
            Some(Finding::Answer(answer)) => Some(answer),
            _ => None,
        }
    }
}
