//! Writes runs side by side, for `boatload show RUN RUN`.

use std::io::{self, Write};

use super::sentences::{
    ABOUT_DISTURBED, add_phases, estimate_text, known, short_phase_name, spread_text,
    write_differences, write_run,
};
use crate::analysis::Analysis;
use crate::analysis::compare::differences::letter;
use crate::analysis::compare::{Metric, RowSide, SideBySideRow, side_by_side};
use crate::base::units::grouped;
use crate::report::phases::mark;
use crate::report::table::{Align, Table};
use crate::report::text::{about_ranges, number, write_wrapped};
use crate::results::book::Book;

/// More runs than these have no letter.
pub const RUNS_MAX: usize = 6;

/// Runs for which a table may have room; more are put beside the first in further ones.
const RUNS_IN_A_TABLE: usize = 3;

/// Figures of a ratio: more would claim what the rates do not.
const RATIO_FIGURES: u32 = 2;

/// Writes the runs side by side, the first of which the others are held against; at most
/// [`RUNS_MAX`] of them. Fails only if `out` does.
pub fn write_side_by_side(analyses: &[&Analysis<'_>], out: &mut dyn Write) -> io::Result<()> {
    let books: Vec<&Book> = analyses.iter().map(|one| one.book).collect();
    for (at, book) in books.iter().enumerate() {
        write_run(&letter(at).to_string(), book, out)?;
    }
    let figures: Vec<_> = analyses.iter().map(|one| one.figures()).collect();
    let rows = side_by_side(&figures);
    let others: Vec<usize> = (1..books.len().min(RUNS_MAX)).collect();
    let fits =
        |each: &usize| others.chunks(*each).all(|part| side_by_side_table(&rows, part).fits_line());
    let each = (1..RUNS_IN_A_TABLE).rev().find(fits).unwrap_or(1);
    for part in others.chunks(each) {
        writeln!(out)?;
        side_by_side_table(&rows, part).write(out)?;
    }
    for text in side_by_side_reading(&rows) {
        write_wrapped("", &text, out)?;
    }
    write_differences(&books, out)
}

struct RunColumns {
    at: usize,
    /// Whether any of its values has an interval.
    has_interval: bool,
}

fn side(row: &SideBySideRow, at: usize) -> Option<&RowSide> {
    row.sides.get(at)?.as_ref()
}

pub(in crate::report) fn side_by_side_table(rows: &[SideBySideRow], others: &[usize]) -> Table {
    let columns = |at: &usize| {
        let mut sides = rows.iter().filter_map(|row| side(row, *at));
        RunColumns { at: *at, has_interval: sides.any(|side| side.value.relative().is_some()) }
    };
    let runs: Vec<RunColumns> = [0].iter().chain(others).map(columns).collect();
    let mut heads = vec![("phase".to_string(), Align::Left)];
    for RunColumns { at, has_interval } in &runs {
        heads.push((letter(*at).to_string(), Align::Right));
        heads.extend(has_interval.then(|| ("±".into(), Align::Right)));
        if *at > 0 {
            heads.push((format!("{}/{}", letter(*at), letter(0)), Align::Right));
        }
    }
    let mut table = Table::new(&heads);
    let rows = rows.iter().filter(|row| belongs(row, others));
    add_phases(&mut table, rows, |row| &row.key, |row| cells(row, &runs));
    table
}

/// Whether one of these runs has a value. What no other run has stands in the first table alone.
fn belongs(row: &SideBySideRow, others: &[usize]) -> bool {
    let alone = row.sides.iter().skip(1).all(Option::is_none);
    others.iter().any(|at| side(row, *at).is_some()) || (alone && others.contains(&1))
}

fn cells(row: &SideBySideRow, runs: &[RunColumns]) -> Vec<String> {
    let mut phase = short_phase_name(&row.key);
    if let Metric::LatencyOfOperation(number) = row.metric {
        phase += &format!(" {}", grouped(number));
    }
    let mut cells = vec![phase];
    for RunColumns { at, has_interval } in runs {
        let side = side(row, *at);
        cells.push(known(side.map(|side| {
            format!("{}{}", mark(side.disturbed), estimate_text(row.metric, &side.value))
        })));
        let spread = side.map_or_else(String::new, |side| spread_text(row.metric, &side.value));
        cells.extend(has_interval.then_some(spread));
        if *at > 0 {
            let ratio = side.and_then(|side| side.ratio);
            cells.push(known(ratio.map(|ratio| number(ratio, RATIO_FIGURES))));
        }
    }
    cells
}

pub(in crate::report) fn side_by_side_reading(rows: &[SideBySideRow]) -> Vec<String> {
    let sides = || rows.iter().flat_map(|row| row.sides.iter().flatten());
    let limited = rows.iter().any(|row| row.limited).then(|| {
        "A run of which a repeat of a phase reached its limit has no value there: the others are the \
         quick ones."
            .to_string()
    });
    if !sides().any(|side| side.ratio.is_some()) {
        let alone = "Nothing here has a value in more than one of the runs.".to_string();
        return [alone].into_iter().chain(limited).collect();
    }
    let mut text = String::from(
        "± is a 95% interval; where there is none, the error is unknown. B/A is a plain ratio: \
         `boatload compare` says whether a difference is more than chance.",
    );
    if rows.iter().any(|row| matches!(row.metric, Metric::LatencyOfOperation(_))) {
        text.push_str(
            " A row with the number of an operation has the time of that one, or where a run has \
             windows the mean of the window that it lies in: less is faster.",
        );
    }
    let mut texts = vec![text];
    texts.extend(limited);
    texts.extend(about_ranges(sides().map(|side| side.value)).into_iter().map(String::from));
    if sides().any(|side| side.disturbed) {
        texts.push(ABOUT_DISTURBED.into());
    }
    texts
}
