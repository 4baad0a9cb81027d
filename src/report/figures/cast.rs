//! Who is in a picture: the variants of a run, or those of several runs, each with its name and its
//! colour. They are the same in all pictures of a report.

use crate::base::failure::shown;
use crate::measure::book::ResultBook;
use crate::measure::order::variants;
use crate::measure::summary::{Summary, summarize};

/// The name of a variant that nobody named.
const UNNAMED: &str = "default";

/// The runs of a report.
pub(super) struct Cast<'a> {
    pub(super) runs: Vec<CastRun<'a>>,
}

/// A run with its figures.
pub(super) struct CastRun<'a> {
    pub(super) book: &'a ResultBook,
    pub(super) summary: Summary,
    /// In the job file's order.
    pub(super) members: Vec<Member<'a>>,
}

/// A variant of a run.
pub(super) struct Member<'a> {
    pub(super) variant: &'a str,
    /// What a legend calls it.
    pub(super) name: String,
    /// The number of its colour.
    pub(super) colour: usize,
}

impl<'a> Cast<'a> {
    pub(super) fn of(books: &[&'a ResultBook]) -> Self {
        let mut colour = 0;
        let several = books.len() > 1;
        let member = |book: &'a ResultBook, variant: &'a str, colour: usize| {
            Member { variant, name: member_name(book, variant, several), colour }
        };
        let run = |book: &&'a ResultBook| {
            let names = variants(book);
            let from = colour;
            colour += names.len();
            let members = names.iter().enumerate();
            let members = members.map(|(at, variant)| member(book, variant, from + at)).collect();
            CastRun { book, summary: summarize(book), members }
        };
        Self { runs: books.iter().map(run).collect() }
    }

    /// All variants of all runs.
    pub(super) fn members(&self) -> impl Iterator<Item = (&CastRun<'a>, &Member<'a>)> {
        self.runs.iter().flat_map(|run| run.members.iter().map(move |member| (run, member)))
    }
}

/// A run that nobody gave variants is named after its file system.
fn member_name(book: &ResultBook, variant: &str, several: bool) -> String {
    let own = if variant == UNNAMED {
        book.filesystem_of(variant).unwrap_or(variant)
    } else {
        variant
    };
    let run = book.run.reference.as_ref().map_or(&book.run.id, |reference| &reference.name);
    shown(if several { format!("{run} {own}") } else { own.to_string() }).to_string()
}
