//! The list of runs, for `boatload runs`.

use std::io::{self, Write};

use super::table::{Align, Table};
use super::text::width;
use crate::base::units::grouped;
use crate::store::RunSummary;

/// More columns are not given to file systems that were made.
const PLACE_MAX: usize = 20;

/// Writes one line for each run, in the order given. Fails only if `out` does.
pub fn write_runs(runs: &[RunSummary], out: &mut dyn Write) -> io::Result<()> {
    if runs.is_empty() {
        return writeln!(out, "No runs yet; `boatload run` makes one.");
    }
    let mut table = Table::new(&[
        ("run", Align::Left),
        ("started", Align::Left),
        ("scenario", Align::Left),
        ("scale", Align::Left),
        ("place", Align::Left),
        ("n", Align::Right),
        ("state", Align::Left),
    ]);
    for run in runs {
        table.row(vec![
            run.id.clone(),
            minute(&run.started),
            run.scenario.clone(),
            run.scale.to_string(),
            place(run),
            grouped(run.measurements),
            state(run),
        ]);
    }
    table.write(out)
}

/// `2026-10-05 08:00` of an RFC 3339 time; seconds tell nobody which run it was.
fn minute(started: &str) -> String {
    let parts = started.split_once('T').and_then(|(day, time)| Some((day, time.get(..5)?)));
    parts.map_or_else(|| started.into(), |(day, minute)| format!("{day} {minute}"))
}

/// What was measured: types of file systems made for the run, or the one that was there.
fn place(run: &RunSummary) -> String {
    if !run.made.is_empty() {
        return joined(&run.made);
    }
    match &run.device {
        Some(device) => format!("{} {device}", run.filesystem),
        None => run.filesystem.clone(),
    }
}

/// As many names as fit, and an ellipsis for the rest.
fn joined(names: &[String]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        if at > 0 && width(&text) + width(name) >= PLACE_MAX {
            return text + ",…";
        }
        text += &format!("{comma}{name}");
    }
    text
}

fn state(run: &RunSummary) -> String {
    match (run.complete, &run.finished, run.invalid) {
        (true, _, 0) => "complete".into(),
        (true, _, invalid) => format!("{} invalid", grouped(invalid)),
        (false, None, _) => "unfinished".into(),
        (false, Some(_), _) => "interrupted".into(),
    }
}
