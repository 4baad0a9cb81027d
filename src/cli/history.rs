//! Finds stored runs of the same job as another, on the same machine and place.

use super::StorePlace;
use crate::analysis::Analysis;
use crate::analysis::compare::{Comparison, compare_among};
use crate::analysis::history::{HISTORY_RUNS, same_target};
use crate::base::failure::Result;
use crate::results::book::Book;

/// Runs of the same job.
#[derive(Default)]
pub(super) struct EqualRuns {
    /// Oldest first.
    pub(super) runs: Vec<Book>,
    /// How many complete runs of the scenario are of another job, machine or place.
    pub(super) unlike: u64,
}

/// The newest `most` complete runs of what `run` did, among those that are wanted: `wanted` is asked
/// about each stored run, the newest first.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn equal_runs(
    run: &Book,
    place: &StorePlace,
    most: u32,
    mut wanted: impl FnMut(&Book) -> bool,
) -> Result<EqualRuns> {
    let mut found = EqualRuns::default();
    if run.run.reference.is_some() {
        return Ok(found);
    }
    let Some(store) = place.open_to_read()? else { return Ok(found) };
    for other in store.runs()?.into_iter().map(|other| other.book) {
        let facts = &other.run;
        let same = (&facts.scenario, &facts.scale) == (&run.run.scenario, &run.run.scale);
        if !wanted(&other) || !same || !facts.complete {
            continue;
        }
        let book = store.load(&facts.id)?;
        if same_target(run, &book) {
            found.runs.push(book);
        } else {
            found.unlike += 1;
        }
        if found.runs.len() == most as usize {
            break;
        }
    }
    found.runs.reverse();
    Ok(found)
}

/// Compares two runs, with the between-run variance of other stored runs of what they did.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn compare_stored(a: &Book, b: &Book, place: &StorePlace) -> Result<Comparison> {
    let others = other_runs([a, b], place, HISTORY_RUNS, None)?;
    let others: Vec<Analysis<'_>> = others.iter().map(Analysis::of).collect();
    Ok(compare_among(&Analysis::of(a), &Analysis::of(b), &others))
}

/// Other stored runs of what these two did, the newest `most` of each, in the order of time; only
/// those that began before a time, if there is one.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn other_runs(
    pair: [&Book; 2],
    place: &StorePlace,
    most: u32,
    before: Option<&str>,
) -> Result<Vec<Book>> {
    let itself = |other: &Book| pair.iter().any(|book| book.run.id == other.run.id);
    let wanted = |other: &Book| {
        let in_time = before.is_none_or(|before| other.run.started.as_str() < before);
        in_time && !itself(other)
    };
    let [a, b] = pair;
    let mut all = equal_runs(a, place, most, wanted)?.runs;
    if !same_target(a, b) {
        all.extend(equal_runs(b, place, most, wanted)?.runs);
    }
    all.sort_by(|a, b| (&a.run.started, &a.run.id).cmp(&(&b.run.started, &b.run.id)));
    // What is not known of an older run may make it the same as either.
    all.dedup_by(|a, b| a.run.id == b.run.id);
    Ok(all)
}
