//! Runs `boatload import`: stores a run document.

use std::path::PathBuf;

use clap::Args;

use super::common::{StorePlace, read_input};
use super::out;
use boatload_analysis::Analysis;
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::units::counted;
use boatload_report::{DOCUMENT_BYTES_MAX, find_export, read_document};
use boatload_results::book::{Book, Measurement};
use boatload_results::store::{RunGrowth, Store};

const EXAMPLES: &str = "\
Examples:
  boatload import run.json
  ssh host boatload export last --format json | boatload import -
  boatload compare last k7m      the imported run k7m against the newest";

const LONG: &str = "\
The run keeps its id, and everything that takes a RUN takes it. A run that is there already is \
left as it is, or gets the measurements that the store could not take; another run with the same id is \
refused. `last` is the run that was stored last, wherever and whenever \
it was measured.

What a document of an older boatload lacks stays unknown. Without histograms percentiles over \
several repeats are unknown.";

/// Take a run from a run document (JSON) into the store
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Import {
    /// A document that `boatload export --format json` or --json wrote; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Import {
    pub(super) fn run(&self, place: &StorePlace) -> Result<Exit> {
        let name = shown(&self.file);
        let bytes = read_input(&self.file, DOCUMENT_BYTES_MAX)?;
        let book = read_document(&bytes)
            .map_err(|why| Failure::failed(format!("cannot import {name}: {why}")))?;
        let done = store(&mut place.open()?, &book)?;
        let measured = counted(book.measurements.len() as u64, "measurement");
        let run = &book.run;
        out::print(&format!("{done} {}: {}, {measured}\n", run.id, shown(&run.scenario)))?;
        if book.measurements.iter().any(|m| m.operations > 0 && m.histogram.is_empty()) {
            out::note("Latencies of several repeats cannot be added up: it has no histograms.");
        }
        Ok(Exit::Good)
    }
}

/// What was done, in a word or two.
fn store(store: &mut Store, book: &Book) -> Result<&'static str> {
    if !store.has_run(&book.run.id)? {
        store.import(book)?;
        return Ok("imported");
    }
    let there = store.load(&book.run.id)?;
    if document(&there) == document(book) {
        return Ok("already there:");
    }
    if let Some(missing) = missing(&there, book) {
        let growth = RunGrowth { measurements: missing, head: Some(book), ..RunGrowth::default() };
        store.extend_run(&book.run.id, growth)?;
        return Ok("completed");
    }
    Err(Failure::failed(format!(
        "the store has another run with the id {}, which stays as it is; import it into another \
         store with --store FILE",
        book.run.id
    )))
}

/// Measurements that the store lacks of a run because it could not take them; `None` when it has another run.
fn missing<'a>(there: &Book, book: &'a Book) -> Option<&'a [Measurement]> {
    let (first, missing) = book.measurements.split_at_checked(there.measurements.len())?;
    let facts = |book: &Book| {
        let run = &book.run;
        (run.started.clone(), run.command.clone(), run.job.clone())
    };
    let is_same = facts(there) == facts(book) && there.measurements == first;
    (is_same && !there.run.complete).then_some(missing)
}

fn document(book: &Book) -> Option<String> {
    (find_export("json")?.texts)(&Analysis::of(book)).ok()?.pop().map(|document| document.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::{earlier_runs, other_runs};
    use boatload_results::fixture;

    #[test]
    fn the_history_is_the_runs_that_began_before_whenever_they_were_stored() {
        let directory = tempfile::tempdir().unwrap();
        let place = StorePlace { store: Some(directory.path().join("runs.db")) };
        let [first, checked, later] = [1, 2, 3].map(|day| {
            let mut book = fixture::book();
            book.run.id = format!("run0000{day}");
            book.run.started = format!("2026-10-0{day}T08:00:00Z");
            book
        });
        for book in [&later, &checked, &first] {
            store(&mut place.open().unwrap(), book).unwrap();
        }
        let ids = |books: Vec<Book>| -> Vec<String> {
            books.into_iter().map(|book| book.run.id).collect()
        };
        assert_eq!(ids(earlier_runs(&checked, &place, 30).unwrap().runs), ["run00001"]);
        assert_eq!(ids(earlier_runs(&later, &place, 30).unwrap().runs), ["run00001", "run00002"]);
        assert_eq!(ids(earlier_runs(&later, &place, 1).unwrap().runs), ["run00002"], "the newest");
        let others = |before| other_runs([&checked; 2], &place, 30, before).unwrap();
        assert_eq!(ids(others(None)), ["run00001", "run00003"]);
        assert_eq!(ids(others(Some(&checked))), ["run00001"]);
    }
}
