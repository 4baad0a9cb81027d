//! Decides whether a run that repeats until its answer is decided can end.

use super::effects::decide::Decision;
use super::figures::{RunFigures, conclude};
use super::finding::Finding;
use super::readings::reading_of;
use crate::plan::Conclusion;
use crate::results::book::Book;

/// A rate that is known to within this share is precise enough where nothing is compared.
const RATE_WITHIN: f64 = 0.10;

/// Whether what was measured decides the first of the questions that a job asks, if each family of claims may have a false one
/// with a chance of `alpha`, from 0 to 1.
pub fn is_decided(book: &Book, alpha: f64) -> bool {
    let Some(first) = book.run.conclude.first().filter(|kind| **kind != Conclusion::Source) else {
        return are_rates_known(book);
    };
    let findings = conclude(book, &[*first], alpha);
    let effects = findings.iter().filter_map(|finding| match finding {
        Finding::Effect(effect) => Some(&**effect),
        _ => None,
    });
    let asked = reading_of(*first).asked(effects.collect());
    !asked.is_empty() && asked.iter().all(|one| one.headline.decision != Decision::Open)
}

fn are_rates_known(book: &Book) -> bool {
    let analysis = RunFigures::of(book);
    let mut rates = analysis.summary().rows().filter_map(|row| row.rate).peekable();
    let is_known = rates.peek().is_some();
    is_known && rates.all(|rate| rate.relative().is_some_and(|share| share <= RATE_WITHIN))
}
