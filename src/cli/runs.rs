//! `boatload runs`: what is stored, and what was published; and which run a RUN on the command line is.

use clap::Args;

use super::out::written;
use super::{StorePlace, out};
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::report::{write_references, write_runs};
use crate::results::book::Book;
use crate::results::reference::{PREFIX, find_reference, nearest_reference, references};
use crate::results::store::Store;

const EXAMPLES: &str = "\
Examples:
  boatload runs
  boatload runs --store results.db
  boatload runs --references       published figures that stand in for a run";

/// List the stored runs, newest first
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Runs {
    /// List the published figures instead, by the name that takes the place of a run
    #[arg(long)]
    references: bool,
}

impl Runs {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let text = if self.references {
            written("list the published figures", |out| write_references(&references(), out))?
        } else {
            let store = store.open_to_read()?;
            let runs = store.map_or_else(|| Ok(Vec::new()), |store| store.runs())?;
            written("list the runs", |out| write_runs(&runs, out))?
        };
        out::print(&text)?;
        Ok(Exit::Good)
    }
}

/// The help of every RUN argument.
pub(super) const RUN_HELP: &str =
    "An id, a unique prefix of one, `last`, or reference:NAME for published figures";

/// The run that a word stands for.
///
/// # Errors
/// Those of [`find_runs`].
pub(super) fn find_run(word: &str, place: &StorePlace) -> Result<Book> {
    let found = find_runs(&[word.to_string()], place)?.pop();
    found.ok_or_else(|| Failure::usage(format!("no run is named {}", shown(word))))
}

/// The runs that the words stand for, in their order. The store is opened only for runs in it.
///
/// # Errors
/// If a word stands for no run or for more than one, or the store cannot be read.
pub(super) fn find_runs(words: &[String], place: &StorePlace) -> Result<Vec<Book>> {
    let mut store: Option<Store> = None;
    let mut books = Vec::new();
    for word in words {
        if let Some(name) = word.strip_prefix(PREFIX) {
            books.push(find_reference(name).ok_or_else(|| unknown(name))?);
            continue;
        }
        if let Some(hint) = meant_reference(word) {
            let word = shown(word);
            return Err(Failure::usage(format!("no run is named \"{word}\"; {hint}")));
        }
        let opened = match store.take() {
            Some(opened) => opened,
            None => place.open_to_read()?.ok_or_else(nothing_stored)?,
        };
        let id = opened.find_run(word)?;
        books.push(opened.load(&id)?);
        store = Some(opened);
    }
    Ok(books)
}

/// Refuses a run beside itself, which would look like two that agree.
pub(super) fn check_each_once(words: &[String], books: &[Book]) -> Result<()> {
    for (at, book) in books.iter().enumerate() {
        if let Some(first) = books[..at].iter().position(|one| one.run.id == book.run.id) {
            let (first, again) = (&words[first], &words[at]);
            return Err(Failure::usage(format!(
                "{first} and {again} are the same run; `boatload runs` lists the others"
            )));
        }
    }
    Ok(())
}

fn nothing_stored() -> Failure {
    Failure::failed("no run is stored there yet: `boatload run` makes the first")
}

/// What to type instead, for a word that was to name published figures but lacks the prefix.
fn meant_reference(word: &str) -> Option<String> {
    // No id holds a colon or a hyphen.
    let name = word.split_once(':').map(|(_, name)| name);
    name.or_else(|| word.contains('-').then_some(word)).map(hint)
}

fn unknown(name: &str) -> Failure {
    let (hint, name) = (hint(name), shown(name));
    Failure::usage(format!("there are no published figures named \"{name}\"; {hint}"))
}

fn hint(name: &str) -> String {
    match nearest_reference(name) {
        Some(near) => format!("did you mean {PREFIX}{near}?"),
        None => "`boatload runs` lists the runs, with --references the published figures".into(),
    }
}
