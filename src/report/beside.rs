//! Runs beside each other, for `boatload show RUN RUN`.

use std::io::{self, Write};

use super::matrix::mark;
use super::names::{cell_name, level_value};
use super::provenance::about_system;
use super::references_table::NOT_TOLD;
use super::table::{Align, Table};
use super::terminal::{about_machine, about_place};
use super::text::{byte_rate, number, time, uncertainty, write_wrapped};
use crate::base::units::{counted, grouped};
use crate::measure::beside::{BesideRow, Side, What, beside};
use crate::measure::book::{Book, Level, Provenance};
use crate::measure::differences::{Difference, differences, letter};

/// More runs than these have no letter.
pub const RUNS_MAX: usize = 6;

/// Runs for which a table of 80 columns has room; more are put beside the first in further ones.
const RUNS_IN_A_TABLE: usize = 3;

/// Figures of a ratio: more would claim what the rates do not.
const RATIO_FIGURES: u32 = 2;

/// Writes the runs beside each other, the first of which the others are held against; at most
/// [`RUNS_MAX`] of them. Fails only if `out` does.
pub fn write_beside(books: &[&Book], out: &mut dyn Write) -> io::Result<()> {
    for (at, book) in books.iter().enumerate() {
        write_run(&letter(at).to_string(), book, out)?;
    }
    let rows = beside(books);
    let others: Vec<usize> = (1..books.len().min(RUNS_MAX)).collect();
    for part in others.chunks(RUNS_IN_A_TABLE - 1) {
        writeln!(out)?;
        figures(&rows, part).write(out)?;
    }
    write_reading(&rows, out)?;
    write_differences(books, out)
}

pub(super) fn write_run(letter: &str, book: &Book, out: &mut dyn Write) -> io::Result<()> {
    let lead = format!("{letter}: ");
    let (title, place) = about_run(book);
    write_wrapped(&lead, &title, out)?;
    write_wrapped(&" ".repeat(lead.len()), &place, out)
}

/// Which run it is, and where it was measured.
pub(super) fn about_run(book: &Book) -> (String, String) {
    match &book.run.reference {
        Some(reference) => {
            let Provenance { title, publisher, published, .. } = reference;
            let title = format!("{}; {title}; {publisher}; {published}", book.run.id);
            (title, about_system(reference, &book.host))
        }
        None => {
            let run = &book.run;
            let title =
                format!("run {} of {}: {}, {} scale", run.id, run.started, run.scenario, run.scale);
            (title, format!("{}; {}", about_place(book), about_machine(&book.host)))
        }
    }
}

/// What of a run does not count.
pub(super) fn write_state(book: &Book, out: &mut dyn Write) -> io::Result<()> {
    if !book.run.complete {
        write_wrapped("   ", "INCOMPLETE: not every cell was done", out)?;
    }
    let invalid = book.measurements.iter().filter(|m| !m.valid()).count();
    if invalid == 0 {
        return Ok(());
    }
    let text = format!("{} invalid and left out", counted(invalid as u64, "measurement"));
    write_wrapped("   ", &text, out)
}

/// A run of a table, and whether any of its figures has an interval.
struct Shown {
    at: usize,
    interval: bool,
}

impl Shown {
    fn of(rows: &[BesideRow], at: usize) -> Self {
        let sides = rows.iter().filter_map(|row| row.sides.get(at).copied().flatten());
        let interval = sides.into_iter().any(|side| side.value.relative().is_some());
        Self { at, interval }
    }
}

/// The first run and these others.
pub(super) fn figures(rows: &[BesideRow], others: &[usize]) -> Table {
    let shown: Vec<Shown> = [0].iter().chain(others).map(|at| Shown::of(rows, *at)).collect();
    let mut heads = vec![("phase".to_string(), Align::Left)];
    for Shown { at, interval } in &shown {
        heads.push((letter(*at).to_string(), Align::Right));
        heads.extend(interval.then(|| ("±".into(), Align::Right)));
        if *at > 0 {
            heads.push((format!("{}/{}", letter(*at), letter(0)), Align::Right));
        }
    }
    let mut table = Table::new(&heads);
    let mut group = (None, None);
    for row in rows.iter().filter(|row| belongs(row, others)) {
        let name = (row.variant.clone(), row.level.clone());
        if group != name {
            table.heading(&format!("{}:", group_name(row)));
            group = name;
        }
        table.row(cells(row, &shown));
    }
    table
}

/// Whether one of these runs has a figure. What no other run has stands in the first table alone.
fn belongs(row: &BesideRow, others: &[usize]) -> bool {
    let has = |at: &usize| row.sides.get(*at).is_some_and(Option::is_some);
    let alone = row.sides.iter().skip(1).all(Option::is_none);
    others.iter().any(has) || (alone && others.contains(&1))
}

fn group_name(row: &BesideRow) -> String {
    row_group(row.variant.as_ref(), row.level.as_ref())
}

/// The heading of rows of one variant at one level.
pub(super) fn row_group(variant: Option<&String>, level: Option<&Level>) -> String {
    match (variant, level) {
        (Some(variant), level) => cell_name(variant, level),
        (None, Some(level)) => format!("{} {}", level.axis, level_value(level)),
        (None, None) => "without a level".into(),
    }
}

fn cells(row: &BesideRow, shown: &[Shown]) -> Vec<String> {
    let phase = match row.what {
        What::Latency(operation) => format!("{} {}", row.phase, grouped(operation)),
        _ => row.phase.clone(),
    };
    let mut cells = vec![phase];
    for Shown { at, interval } in shown {
        let side = row.sides.get(*at).copied().flatten();
        cells.push(side.map_or_else(|| "-".into(), |side| figure(row.what, &side)));
        let relative = side.and_then(|side| side.value.relative());
        cells.extend(interval.then(|| uncertainty(relative)));
        if *at > 0 {
            let ratio = side.and_then(|side| side.ratio);
            cells.push(ratio.map_or_else(|| "-".into(), |ratio| number(ratio, RATIO_FIGURES)));
        }
    }
    cells
}

fn figure(what: What, side: &Side) -> String {
    let value = side.value;
    let figure = match what {
        What::Operations => format!("{}/s", number(value.mean, value.figures)),
        What::Bytes => byte_rate(value.mean, value.figures).replace(' ', ""),
        What::Latency(_) => time(Some(value.mean)),
    };
    format!("{}{figure}", mark(side.disturbed))
}

fn write_reading(rows: &[BesideRow], out: &mut dyn Write) -> io::Result<()> {
    reading(rows).iter().try_for_each(|text| write_wrapped("", text, out))
}

/// How the table is to be read.
pub(super) fn reading(rows: &[BesideRow]) -> Vec<String> {
    let any = |is: fn(&BesideRow) -> bool| rows.iter().any(is);
    if !any(|row| row.sides.iter().flatten().any(|side| side.ratio.is_some())) {
        return vec!["Nothing here was measured in more than one of the runs.".into()];
    }
    let mut text = String::from(
        "± is a 95% interval; where there is none, one figure is known and not how far it may be \
         off. B/A is a ratio of figures: whether a difference is more than chance is for \
         `boatload compare` to say.",
    );
    if any(|row| matches!(row.what, What::Latency(_))) {
        text.push_str(
            " A figure with the number of an operation is the time of that one, or where a run \
             has windows the mean of the window that it lies in: less is faster.",
        );
    }
    let disturbed = any(|row| row.sides.iter().flatten().any(|side| side.disturbed));
    [Some(text), disturbed.then(|| ABOUT_MARK.into())].into_iter().flatten().collect()
}

/// What `*` is where the warnings of a run are not shown.
pub(super) const ABOUT_MARK: &str =
    "* something disturbed measurements of it: the warnings of that run tell what";

/// The facts in which the runs differ: each may be the cause of a difference.
pub(super) fn write_differences(books: &[&Book], out: &mut dyn Write) -> io::Result<()> {
    let table = differences_table(books);
    if !table.has_rows() {
        return Ok(());
    }
    writeln!(out)?;
    table.write(out)?;
    write_wrapped("", ABOUT_DIFFERENCES, out)?;
    if books.iter().any(|book| book.run.reference.is_some()) {
        let text = "published figures shown alone, by boatload show reference:NAME, come with \
                    what is known and wrong of them";
        write_wrapped("- ", text, out)?;
    }
    Ok(())
}

/// How the facts in which runs differ are to be read.
pub(super) const ABOUT_DIFFERENCES: &str =
    "Each of these may be why figures differ. Only what was done alike can be compared.";

/// A row for each fact in which the runs differ.
pub(super) fn differences_table(books: &[&Book]) -> Table {
    let letters = (0..books.len()).map(|at| (letter(at).to_string(), Align::Left));
    let heads: Vec<_> = [("differs".into(), Align::Left)].into_iter().chain(letters).collect();
    let mut table = Table::new(&heads);
    for Difference { name, values } in differences(books) {
        let values = values.into_iter().map(|value| value.unwrap_or_else(|| NOT_TOLD.into()));
        table.row([name.to_string()].into_iter().chain(values).collect());
    }
    table
}
