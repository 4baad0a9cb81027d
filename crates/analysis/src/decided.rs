//! Decides whether a run that repeats until its answer is decided can end, and counts what is open.

use super::effects::decide::Decision;
use super::figures::{RunFigures, alpha, conclude};
use super::finding::Finding;
use super::readings::reading_of;
use boatload_base::units::counted;
use boatload_plan::Conclusion;
use boatload_results::book::Book;

/// A rate that is known to within this share is precise enough where nothing is compared.
const RATE_WITHIN: f64 = 0.10;

/// Whether what was measured decides the first question of a job that can be answered, if each family of claims may have a
/// false one with a chance of `alpha`, from 0 to 1.
pub fn is_decided(book: &Book, alpha: f64) -> bool {
    let asked = asked(book, alpha);
    !asked.is_empty() && asked.iter().all(|is_open| !is_open)
}

impl RunFigures<'_> {
    /// How much is open of that question in a run that repeated until it was decided: `2 of 6 parts`; `None` where nothing is,
    /// or nothing can be asked.
    pub fn open_parts(&self) -> Option<String> {
        let stopping = &self.book.run.stopping;
        stopping.last_alpha().filter(|_| !stopping.is_decided())?;
        let asked = asked(self.book, alpha(self.book));
        let open = asked.iter().filter(|is_open| **is_open).count();
        (open > 0).then(|| format!("{open} of {}", counted(asked.len() as u64, "part")))
    }
}

/// Whether each part is open of the first conclusion of the job that has effects; the rates where there is none.
fn asked(book: &Book, alpha: f64) -> Vec<bool> {
    let compared = book.run.conclude.iter().take_while(|kind| **kind != Conclusion::Source);
    let asked = compared.map(|kind| asked_of(book, *kind, alpha)).find(|asked| !asked.is_empty());
    asked.unwrap_or_else(|| rates(book))
}

/// The parts of a conclusion. Ranking: all pairs of the whole job; where there is none, since there is one phase or some end
/// after a time, those of each phase. Levels: all phases together, and the one that the answer names. Growth: each course.
/// Crossing: all pairs at both end levels.
fn asked_of(book: &Book, kind: Conclusion, alpha: f64) -> Vec<bool> {
    let findings = conclude(book, &[kind], alpha);
    let effects = findings.iter().filter_map(|finding| match finding {
        Finding::Effect(effect) => Some(&**effect),
        _ => None,
    });
    let asked = reading_of(kind).asked(effects.collect()).into_iter();
    asked.map(|effect| effect.headline.decision == Decision::Open).collect()
}

/// Each rate, which is open until its interval reaches no further than by a share of it.
fn rates(book: &Book) -> Vec<bool> {
    let figures = RunFigures::of(book);
    let rates =
        figures.summary().rows().filter(|row| row.has_own_rate()).filter_map(|row| row.rate);
    rates.map(|rate| rate.known_within().is_none_or(|share| share > RATE_WITHIN)).collect()
}
