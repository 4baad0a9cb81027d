//! Names what a run lacks: phases without a valid measurement, or with fewer repeats, and the first error that they met.

use crate::findings::say;
use crate::observations::{Observations, uncounted_cells};
use crate::statement::{Part, Sentence, parts};
use boatload_base::distinct::each_once;
use boatload_base::units::grouped;
use boatload_plan::DEFAULT_VARIANT;
use boatload_results::book::{Book, InvalidReason, Level, Measurement, REACHED_LIMIT};

/// What a run lacks of its phases.
pub(super) struct MissingParts<'a> {
    book: &'a Book,
    /// The phases that lack all measurements at a level, and those that lack some.
    missing: Vec<&'a str>,
    partly: Vec<&'a str>,
    first: &'a Measurement,
}

impl<'a> MissingParts<'a> {
    /// None where nothing is missing. What was written until the unmount is no phase of its own.
    pub(super) fn of(book: &'a Book) -> Option<Self> {
        let invalid = || book.measurements.iter().filter(|m| !m.valid() && !m.is_settle());
        let first = invalid().next()?;
        let uncounted = uncounted_cells(book);
        let missing = each_once(uncounted.iter().map(|one| one.phase));
        let mut partly = each_once(invalid().map(|m| m.phase.as_str()));
        partly.retain(|phase| !missing.contains(phase));
        Some(Self { book, missing, partly, first })
    }

    /// Whether a phase lacks all measurements of a variant at a level: of these nothing is known, so not that nothing is slower.
    pub(super) fn is_whole(&self) -> bool {
        !self.missing.is_empty()
    }

    /// `5 of 8 phases are missing: EDQUOT (disk quota exceeded) in create from the 3rd repeat on`
    pub(super) fn sentence(&self) -> Sentence {
        let measured = self.book.measurements.iter().filter(|m| !m.is_settle());
        let all = each_once(measured.map(|m| m.phase.as_str())).len();
        let what = match (self.missing.as_slice(), self.partly.as_slice()) {
            ([], some) => subject(some, all, "lacks repeats", "lack repeats"),
            (some, []) => subject(some, all, self.verb(false), self.verb(true)),
            (some, others) => {
                let number = Part::Count(grouped(others.len() as u64));
                let lack = if others.len() == 1 { " lacks repeats" } else { " lack repeats" };
                parts![subject(some, all, self.verb(false), self.verb(true)), ", ", number, lack]
            }
        };
        Sentence::new(parts![what, ": ", self.reason(), self.place()])
    }

    /// Missing everywhere, or at some levels or on some variants.
    fn verb(&self, are_many: bool) -> &'static str {
        let all = Observations::new(self.book, &[]).phases();
        let is_somewhere = self.missing.iter().any(|phase| all.contains(phase));
        match (is_somewhere, are_many) {
            (true, false) => "is missing in part",
            (true, true) => "are missing in part",
            (false, false) => "is missing",
            (false, true) => "are missing",
        }
    }

    fn reason(&self) -> String {
        let Some(reason) = self.first.invalid.first() else { return "no valid measurement".into() };
        match reason {
            InvalidReason::Failed { error, .. } | InvalidReason::Sync { error } => {
                let about = error.about();
                let about = about.split(':').next().unwrap_or_default();
                format!("{error} ({})", about.to_lowercase())
            }
            reason if reason.is_limit() => REACHED_LIMIT.into(),
            reason => reason.sentence(),
        }
    }

    /// ` in create (xfs) at 98% full from the 3rd repeat on`
    fn place(&self) -> Vec<Part> {
        let Measurement { cell, phase, .. } = self.first;
        let variant = Some(&cell.variant).filter(|name| *name != DEFAULT_VARIANT);
        let variant = variant.map(|name| parts![" (", Part::Variant(name.clone()), ")"]);
        let level = cell.level.as_ref().filter(|level: &&Level| level.value.is_finite());
        let phase = Part::Phase(phase.clone());
        parts![" in ", phase, variant, say::behind_at(level), self.repeats()]
    }

    /// From which repeat on the first of these cells has nothing valid; nothing where it never had.
    fn repeats(&self) -> String {
        let own = self.book.measurements.iter().filter(|m| {
            m.phase == self.first.phase
                && m.cell.variant == self.first.cell.variant
                && m.cell.level == self.first.cell.level
        });
        let own: Vec<&Measurement> = own.collect();
        let last_valid = own.iter().filter(|m| m.valid()).map(|m| m.cell.repeat).max();
        let first = self.first.cell.repeat;
        match last_valid {
            None => String::new(),
            Some(last) if last < first => format!(" from the {} repeat on", ordinal(first)),
            Some(_) => format!(" in the {} repeat", ordinal(first)),
        }
    }
}

/// `create is missing`, `5 of 8 phases are missing`
fn subject(some: &[&str], all: usize, is: &str, are: &str) -> Vec<Part> {
    match some {
        [one] => parts![Part::Phase((*one).into()), " ", is],
        many if many.len() == all => {
            parts!["all ", Part::Count(grouped(all as u64)), " phases ", are]
        }
        many => {
            let [number, all] = [many.len(), all].map(|n| Part::Count(grouped(n as u64)));
            parts![number, " of ", all, " phases ", are]
        }
    }
}

fn ordinal(number: u32) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}
