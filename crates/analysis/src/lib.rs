//! Computes everything that follows from the results of a run, each part once, when it is first needed.
//! Reports write an analysis and compute nothing.

pub mod amplification;
pub mod answer;
pub mod audit;
pub mod change;
pub mod compare;
pub mod conditions;
pub mod decided;
mod disturbances;
pub mod effect_finding;
pub mod effects;
pub mod figures;
pub mod finding;
pub mod findings;
pub mod forecast;
pub mod history;
pub mod latencies;
pub mod limit;
mod observations;
pub mod ranks;
pub mod rate_values;
pub mod readings;
mod repeat_step;
mod run_effects;
pub mod statement;
pub mod statistics;
pub mod summary;
pub mod tails;
pub mod thresholds;
pub mod trials;
pub mod twins;
pub mod uncertainty;
pub mod variant_order;
pub mod warnings;

use std::cell::OnceCell;
use std::ops::Deref;

use answer::AnswerFinding;
use answer::compose::answer;
use boatload_plan::names_about;
use boatload_results::book::Book;
use figures::RunFigures;
use finding::Finding;
use readings::table::{AnswerNote, AnswerTable};
use readings::{AnsweredBy, Picture, answering, table_of_rates};
use warnings::warnings;

/// A book and what follows from it: its figures and conclusions, its warnings, and the answer.
#[derive(Debug)]
pub struct Analysis<'a> {
    figures: RunFigures<'a>,
    answered: OnceCell<Option<AnsweredBy>>,
    findings: OnceCell<Vec<Finding>>,
}

impl<'a> Deref for Analysis<'a> {
    type Target = RunFigures<'a>;

    fn deref(&self) -> &Self::Target {
        &self.figures
    }
}

impl<'a> Analysis<'a> {
    /// Of this book. Nothing is computed yet.
    pub fn of(book: &'a Book) -> Self {
        Self { figures: RunFigures::of(book), answered: OnceCell::new(), findings: OnceCell::new() }
    }

    /// What is concluded: the answer, the findings that the job wants, what the disk did in the phases that
    /// it limits, then the warnings. Of published figures nothing is concluded.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| {
            if self.book.run.reference.is_some() {
                return Vec::new();
            }
            let mut all = self.concluded().to_vec();
            let warned = warnings(self.book);
            all.extend(warned.into_iter().map(Finding::Warning));
            let answer = answer(&self.figures, self.answered().map(|one| &one.draft), &all)
                .map(Finding::Answer);
            answer.into_iter().chain(all).collect()
        })
    }

    /// The reading that answers, and what it says before it is known how far to trust it.
    fn answered(&self) -> Option<&AnsweredBy> {
        self.answered.get_or_init(|| answering(&self.figures.view())).as_ref()
    }

    /// The table that shows the answer.
    pub fn answer_table(&self) -> AnswerTable {
        let view = self.figures.view();
        let own = self.answered().and_then(|answered| answered.reading.table(&view));
        let mut table = own.unwrap_or_else(|| table_of_rates(&view));
        let names = names_about(&self.book.run.job, &self.book.run.scenario);
        let notes = names
            .iter()
            .map(|one| AnswerNote::of_names(one.names.iter().map(String::as_str), &one.about));
        table.notes.extend(notes);
        table
    }

    /// The picture that shows the answer; `None` where no one does.
    pub fn picture(&self) -> Option<Picture> {
        self.answered()?.reading.picture(&self.figures.view())
    }

    /// The question that the run answers: of a scenario that compares several, another one where it has one.
    pub fn question(&self) -> &str {
        let run = &self.book.run;
        let stated = if run.question.is_empty() { &run.scenario } else { &run.question };
        readings::own_question(self.book).unwrap_or(stated)
    }

    /// What the run answers to its question; `None` where nothing was measured, and of published figures.
    pub fn answer(&self) -> Option<&AnswerFinding> {
        match self.findings().first() {
            Some(Finding::Answer(answer)) => Some(answer),
            _ => None,
        }
    }
}
