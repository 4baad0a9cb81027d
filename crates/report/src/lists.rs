//! Writes the lists of `boatload runs`: the runs of a store, and published figures.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::head::NOT_PUBLISHED;
use super::table::{Align, Table, TableColumn};
use super::text::write_wrapped;
use boatload_base::distinct::each_once;
use boatload_base::failure::shown;
use boatload_base::units::grouped;
use boatload_results::book::{Book, RunFacts, SIMULATED};
use boatload_results::store::{RunList, RunSummary, UnreadableRun};

type RunColumn = TableColumn<RunSummary>;

const RUN_COLUMNS: [RunColumn; 7] = [
    RunColumn::words("run", |run| run.book.run.id.clone()),
    RunColumn::words("started", |run| minute(&run.book.run.started)),
    RunColumn::words("scenario", |run| run.book.run.scenario.clone()),
    RunColumn::words("scale", |run| run.book.run.scale.to_string()),
    RunColumn::words("place", place),
    RunColumn::numbers("n", |run| grouped(run.measurements)),
    RunColumn::words("state", state),
];

/// Writes one line for each run, in the order given, and below them why others cannot be read. Fails only if `out` does.
pub fn write_runs(all: &RunList, out: &mut dyn Write) -> io::Result<()> {
    let RunList { runs, unreadable } = all;
    if runs.is_empty() && unreadable.is_empty() {
        return writeln!(out, "No runs yet; `boatload run` makes one.");
    }
    if !runs.is_empty() {
        Table::from_rows(&RUN_COLUMNS, runs).write(out)?;
    }
    let named: Vec<&RunSummary> =
        runs.iter().filter(|run| run.tag.is_some() || run.note.is_some()).collect();
    if !named.is_empty() {
        writeln!(out)?;
    }
    named.into_iter().try_for_each(|run| write_named(run, out))?;
    if !unreadable.is_empty() {
        let apart = if runs.is_empty() { "" } else { "\n" };
        writeln!(out, "{apart}This boatload cannot read:")?;
    }
    unreadable
        .iter()
        .try_for_each(|run| write_wrapped(&format!("{}: ", shown(&run.id)), &run.why, out))
}

/// The document of `boatload runs --json`.
#[derive(Serialize, JsonSchema)]
struct RunListDocument<'a> {
    /// `boatload-runs`.
    format: &'static str,
    /// Rises when a key is removed or changes its meaning.
    version: u32,
    /// Runs that can be read, the one that was stored last first.
    runs: Vec<ListedRun<'a>>,
    /// The others.
    unreadable: &'a [UnreadableRun],
}

/// A stored run.
#[derive(Serialize, JsonSchema)]
struct ListedRun<'a> {
    /// Its facts, as the run document has them.
    run: &'a RunFacts,
    /// The types of the file systems that were made for it, else of the one that was there.
    place: String,
    /// How many measurements it has.
    measurements: u64,
    /// How many of them are invalid.
    invalid: u64,
    /// The name that commands take for it; null without one.
    tag: Option<&'a str>,
    /// What somebody noted of it; null if nobody did.
    note: Option<&'a str>,
}

impl<'a> From<&'a RunSummary> for ListedRun<'a> {
    fn from(summary: &'a RunSummary) -> Self {
        Self {
            run: &summary.book.run,
            place: place(summary),
            measurements: summary.measurements,
            invalid: summary.invalid,
            tag: summary.tag.as_deref(),
            note: summary.note.as_deref(),
        }
    }
}

/// Writes the list as one JSON object on one line. Fails only if `out` does.
pub fn write_runs_json(all: &RunList, out: &mut dyn Write) -> io::Result<()> {
    let document = RunListDocument {
        format: "boatload-runs",
        version: 1,
        runs: all.runs.iter().map(ListedRun::from).collect(),
        unreadable: &all.unreadable,
    };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

/// The tag of a run and what is noted of it.
fn write_named(run: &RunSummary, out: &mut dyn Write) -> io::Result<()> {
    let tag = run.tag.as_ref().map(|tag| format!(" {tag}")).unwrap_or_default();
    let name = format!("{}{tag}", shown(&run.book.run.id));
    match &run.note {
        Some(note) => write_wrapped(&format!("{name}: "), &shown(note), out),
        None => writeln!(out, "{name}"),
    }
}

/// `2026-10-05 08:00` of an RFC 3339 time.
pub(super) fn minute(started: &str) -> String {
    let parts = started.split_once('T').and_then(|(day, time)| Some((day, time.get(..5)?)));
    parts.map_or_else(|| started.into(), |(day, minute)| format!("{day} {minute}"))
}

/// Types of file systems made for the run, and their modelled disk, or the one that was there and its
/// device; of a run that only simulates, that it does.
fn place(run: &RunSummary) -> String {
    let (book, host) = (&run.book, &run.book.host);
    if run.simulated > 0 && run.simulated == run.measurements {
        return SIMULATED.into();
    }
    let made = each_once(book.filesystems.iter().map(|made| made.kind.as_str()));
    if made.is_empty() {
        let device = host.device.as_ref().map(|device| format!(" {}", device.name));
        return format!("{}{}", host.filesystem.kind, device.unwrap_or_default());
    }
    let disks = book.filesystems.iter().filter_map(|made| made.disk.as_ref());
    let on = match each_once(disks.map(|disk| disk.name.as_str())).as_slice() {
        [] => String::new(),
        [disk] => format!(" on {disk}"),
        _ => " on modelled disks".into(),
    };
    made.join(",") + &on
}

fn state(run: &RunSummary) -> String {
    match (run.book.run.complete, &run.book.run.finished, run.invalid) {
        (true, _, 0) => "complete".into(),
        (true, _, invalid) => format!("{} invalid", grouped(invalid)),
        (false, None, _) => "unfinished".into(),
        (false, Some(_), _) => "interrupted".into(),
    }
}

/// Writes one line for each document of published figures, below the question that it answers. Fails
/// only if `out` does.
pub fn write_references(references: &[Book], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "`boatload show reference:NAME` shows one; the names:")?;
    let heads = ["name", "file system", "system", "published"];
    let mut table = Table::new(&heads.map(|head| (head, Align::Left)));
    let mut question = "";
    for book in references {
        if book.run.question != question {
            question = &book.run.question;
            table.heading(question);
        }
        let Some(reference) = &book.run.reference else { continue };
        let published = &reference.published;
        let kind = Some(&book.host.filesystem.kind).filter(|kind| !kind.is_empty());
        let or_unknown = |text: Option<&String>| text.map_or(NOT_PUBLISHED, String::as_str).into();
        table.row(vec![
            reference.name.clone(),
            or_unknown(kind),
            or_unknown(reference.system.as_ref()),
            // The year of a date; whatever else is known of it as it stands.
            published.split_once('-').map_or(published.as_str(), |(year, _)| year).into(),
        ]);
    }
    table.write(out)
}

#[cfg(test)]
mod tests {
    use super::RunListDocument;
    use boatload_base::fixture::published::assert_published;

    #[test]
    fn the_schema_of_the_list_of_runs_is_the_one_that_is_published() {
        assert_published::<RunListDocument<'_>>("runs.schema.json");
    }
}
