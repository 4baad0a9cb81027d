//! Stored runs that did the same as another, on the same machine and place.

use super::StorePlace;
use crate::base::failure::Result;
use crate::measure::book::ResultBook;
use crate::measure::history::{HISTORY_RUNS, same_target};
use crate::store::RunSummary;

/// Runs of the same.
#[derive(Default)]
pub(super) struct Alike {
    /// Oldest first.
    pub(super) runs: Vec<ResultBook>,
    /// How many complete runs of the scenario were looked at and are not of the same.
    pub(super) unlike: u64,
}

/// The newest `most` complete runs of what `run` did, among those that are wanted: `wanted` is told
/// each stored run, the newest first.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn alike(
    run: &ResultBook,
    place: &StorePlace,
    most: u32,
    mut wanted: impl FnMut(&RunSummary) -> bool,
) -> Result<Alike> {
    let mut found = Alike::default();
    if run.run.reference.is_some() {
        return Ok(found);
    }
    let Some(store) = place.open_to_read()? else { return Ok(found) };
    for summary in store.runs()? {
        let same = (&summary.scenario, &summary.scale) == (&run.run.scenario, &run.run.scale);
        if !wanted(&summary) || !same || !summary.complete {
            continue;
        }
        let book = store.load(&summary.id)?;
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

/// Other stored runs of what these two did, each once, in the order of time; only those that began
/// before a time, if there is one.
///
/// # Errors
/// If the store cannot be read.
pub(super) fn others(
    pair: [&ResultBook; 2],
    place: &StorePlace,
    before: Option<&str>,
) -> Result<Vec<ResultBook>> {
    let mut taken: Vec<String> = pair.iter().map(|book| book.run.id.clone()).collect();
    let mut all = Vec::new();
    for book in pair {
        let wanted = |other: &RunSummary| {
            let in_time = before.is_none_or(|before| other.started.as_str() < before);
            in_time && !taken.contains(&other.id)
        };
        let found = alike(book, place, HISTORY_RUNS, wanted)?.runs;
        taken.extend(found.iter().map(|book| book.run.id.clone()));
        all.extend(found);
    }
    all.sort_by(|a, b| a.run.started.cmp(&b.run.started));
    Ok(all)
}
