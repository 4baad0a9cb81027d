//! Writes the table of an answer: the cells of its figures, and what of it has room.

use super::table::{Align, CELL_MAX, GROUP_GAP, Table};
use super::text::{known, number, shorten_names, time, width};
use boatload_analysis::effects::decide::Decision;
use boatload_analysis::findings::say;
use boatload_analysis::readings::table::{AnswerCell, AnswerTable};
use boatload_analysis::statement::{Part, Statement};
use boatload_analysis::statistics::Interval;
use boatload_analysis::uncertainty::Estimate;
use boatload_base::units::{Unit, byte_step};

/// All of it as text.
pub(super) fn whole_table(table: &AnswerTable) -> Table {
    table_of(table, &all_rows(table), table.columns.len())
}

/// How all of it is to be read.
pub(super) fn whole_notes(table: &AnswerTable) -> String {
    table.notes_of(&all_rows(table), table.columns.len())
}

fn all_rows(table: &AnswerTable) -> Vec<usize> {
    (0..table.rows.len()).collect()
}

/// These rows of it, and its first columns.
pub(super) fn table_of(table: &AnswerTable, rows: &[usize], columns: usize) -> Table {
    let names = rows.iter().map(|at| table.rows[*at].name.clone());
    let mut text = Table::of_names(&table.corner, Align::Left, names);
    for column in table.columns.iter().take(columns) {
        text.column_apart(&column.head, rows.iter().map(|at| cell(&column.cells[*at])));
        if column.cells.iter().any(|cell| matches!(cell, AnswerCell::Place { .. })) {
            text.align_last(Align::Left);
        }
    }
    text
}

/// The same with the directories of its last column cut to the width that the other columns leave; without this column where
/// the width is too small.
pub(super) fn with_places_cut(mut table: AnswerTable, columns: usize) -> AnswerTable {
    let Some(mut last) = table.columns.pop() else { return table };
    let others = table_of(&table, &all_rows(&table), table.columns.len()).line_width(columns);
    let room = columns.saturating_sub(others + GROUP_GAP).min(CELL_MAX);
    let path = |cell: &'_ AnswerCell| match cell {
        AnswerCell::Place { path, about } => {
            let behind = if about.is_empty() { 0 } else { width(about) + BRACKETS };
            Some((path.clone(), room.saturating_sub(behind)))
        }
        _ => None,
    };
    let paths: Vec<(String, usize)> = last.cells.iter().filter_map(path).collect();
    if !paths.is_empty() && room < PLACE_COLUMNS_MIN {
        return table;
    }
    let paths: Vec<(&str, usize)> = paths.iter().map(|(path, room)| (&**path, *room)).collect();
    let mut cut = shorten_names(&paths).into_iter();
    for cell in &mut last.cells {
        if let AnswerCell::Place { path, .. } = cell {
            *path = cut.next().unwrap_or_default();
        }
    }
    table.columns.push(last);
    table
}

/// What stands around the share behind a directory: a blank and two brackets.
const BRACKETS: usize = 3;
/// A column of directories that is narrower says nothing.
const PLACE_COLUMNS_MIN: usize = 14;

/// The rows that are shown where there is `room`: all that the answer names, then the first ones, steps of chains last.
pub(super) fn shown_rows(table: &AnswerTable, answer: &Statement, room: usize) -> Vec<usize> {
    let named: Vec<&Part> = answer.parts().collect();
    let is_named = |at: &usize| {
        let about = &table.rows[*at].about;
        !about.is_empty() && about.iter().all(|part| named.contains(&part))
    };
    let is_step = |at: &usize| {
        let about = &table.rows[*at].about;
        about.iter().any(|part| matches!(part, Part::Phase(name) if name.matches('/').count() > 1))
    };
    let (first, mut others): (Vec<usize>, Vec<usize>) = (0..table.rows.len()).partition(is_named);
    others.sort_by_key(is_step);
    let spare = room.saturating_sub(first.len());
    let mut shown: Vec<usize> = first.into_iter().chain(others.into_iter().take(spare)).collect();
    shown.sort_unstable();
    shown
}

fn mark(decision: Decision) -> &'static str {
    match decision {
        Decision::Longer | Decision::Shorter => " *",
        Decision::Within => " =",
        Decision::Open => "",
    }
}

fn cell(cell: &AnswerCell) -> String {
    match cell {
        AnswerCell::Missing => "-".into(),
        AnswerCell::Time(ns) => time(Some(*ns)),
        AnswerCell::Rate(rate, unit) => {
            let (size, word) = step(rate, *unit);
            number(rate.mean / size, rate.shown_figures()) + &word
        }
        AnswerCell::RateInterval(rate, unit) => {
            let (size, _) = step(rate, *unit);
            known(rate.interval, |ends| range(ends, size, rate.shown_figures()))
        }
        AnswerCell::Times(ratio, decision) => say::near(*ratio) + mark(*decision),
        AnswerCell::Interval(interval, decision) => say::span(*interval) + mark(*decision),
        AnswerCell::Name(name) => name.clone(),
        AnswerCell::Place { path, about } if about.is_empty() => path.clone(),
        AnswerCell::Place { path, about } => format!("{path} ({about})"),
    }
}

/// What a rate is divided by, and what stands behind it.
fn step(rate: &Estimate, unit: Unit) -> (f64, String) {
    match unit {
        Unit::Bytes => {
            let (size, word) = byte_step(rate.mean);
            (size, format!(" {word}"))
        }
        _ => (1.0, String::new()),
    }
}

/// Both ends with so many figures, as sentences have them. A rate is not negative.
fn range(Interval { low, high }: Interval, size: f64, figures: u32) -> String {
    let [low, high] = [low.max(0.0), high].map(|end| number(end / size, figures));
    format!("{low} to {high}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_analysis::readings::table::AnswerRow;
    use boatload_analysis::uncertainty::IntervalBasis;

    #[test]
    fn where_there_is_little_room_steps_of_chains_are_left_out_before_works() {
        let names = ["serve", "serve/submit", "serve/submit/create", "serve/process"];
        let row =
            |name: &str| AnswerRow { name: name.into(), about: vec![Part::Phase(name.into())] };
        let table = AnswerTable { rows: names.map(row).to_vec(), ..AnswerTable::default() };
        assert_eq!(shown_rows(&table, &Statement::default(), 3), [0, 1, 3]);
        assert_eq!(shown_rows(&table, &Statement::default(), 4), [0, 1, 2, 3]);
    }

    #[test]
    fn a_rate_without_any_error_has_no_more_figures_than_others() {
        let interval = Some([26_400.0, 26_400.0].into());
        let rate = Estimate {
            mean: 26_400.0,
            interval,
            n: 3,
            basis: IntervalBasis::Repeats,
            figures: 17,
            extremes: [26_400.0; 2],
        };
        let of = |own: AnswerCell| cell(&own);
        assert_eq!(of(AnswerCell::Rate(rate, Unit::Count)), "26,400");
        assert_eq!(of(AnswerCell::RateInterval(rate, Unit::Count)), "26,400 to 26,400");
    }

    #[test]
    fn ends_of_a_range_stand_in_order_with_as_many_figures() {
        let ends = |low, high, figures| range(Interval { low, high }, 1.0, figures);
        assert_eq!(ends(13_012.0, 33_499.0, 3), "13,000 to 33,500");
        assert_eq!(ends(7_712.0, 12_040.0, 2), "7,700 to 12,000");
        assert_eq!(ends(9.951, 10.04, 3), "9.95 to 10.0");
        assert_eq!(ends(-5.0, 12.0, 2), "0 to 12");
    }
}
