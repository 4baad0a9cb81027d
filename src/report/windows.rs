//! Makes tables of latency over a phase: by window, by operations done, and of single operations.

use std::io::{self, Write};

use super::ReportFormat;
use super::names::{cell_and_repeat, level_value};
use super::table::{Align, Table, TableColumn, TitledTable};
use super::text::{number, time, write_wrapped};
use crate::analysis::Analysis;
use crate::analysis::course::CourseTable;
use crate::analysis::latencies::{single_latency_ns, single_operations};
use crate::base::units::{grouped, time_step};
use crate::plan::DEFAULT_VARIANT;
use crate::results::book::{Book, Window};

/// One table for each measurement that has windows.
pub(super) const WINDOWS: ReportFormat = ReportFormat { name: "windows", render: write_windows };

type WindowColumn = TableColumn<Window>;

const COLUMNS: [WindowColumn; 6] = [
    WindowColumn::numbers("done before", |window| grouped(window.first)),
    WindowColumn::numbers("ops", |window| grouped(window.operations)),
    WindowColumn::numbers("mean", |window| time(Some(window.mean_ns))),
    WindowColumn::numbers("p50", |window| time(Some(window.p50_ns as f64))),
    WindowColumn::numbers("p99", |window| time(Some(window.p99_ns as f64))),
    WindowColumn::numbers("max", |window| time(Some(window.max_ns as f64))),
];

/// Columns for windows of one operation, whose mean, percentiles and maximum are equal.
const SINGLE_OPERATION_COLUMNS: [WindowColumn; 2] = [
    WindowColumn::numbers("operation", |window| grouped(window.first.saturating_add(1))),
    WindowColumn::numbers("latency", |window| time(Some(window.mean_ns))),
];

fn write_windows(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut any = false;
    for m in analysis.book.measurements.iter().filter(|m| !m.windows.is_empty()) {
        if any {
            writeln!(out)?;
        }
        any = true;
        let title = format!("{}, pass {}, {}", m.phase, m.pass, cell_and_repeat(&m.cell));
        write_wrapped("", &title, out)?;
        write_wrapped("invalid: ", &m.invalid_sentences().join("; "), out)?;
        let single = m.windows.iter().all(|window| window.operations == 1);
        let columns = if single { SINGLE_OPERATION_COLUMNS.as_slice() } else { &COLUMNS };
        Table::from_rows(columns, &m.windows).write(out)?;
    }
    if !any {
        writeln!(out, "No phase of this run was measured in windows.")?;
    }
    Ok(())
}

/// The latency of a phase by the number of operations done.
pub(super) fn course_table(all: &CourseTable<'_>) -> TitledTable {
    let means = all.rows.iter().flat_map(|row| &row.mean_ns);
    let least = means.copied().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
    let (unit, size) = if least.is_finite() { time_step(least) } else { ("ns", 1.0) };
    let at = all.level.map(|level| format!(", at {} {}", level.axis, level_value(level)));
    let title = format!(
        "{}{}: mean latency in {unit} of the operations from the row above to each row",
        all.phase,
        at.unwrap_or_default(),
    );
    let names = all.rows.iter().map(|row| {
        let operations = grouped(row.operations);
        if row.start_up { format!("start-up: {operations}") } else { operations }
    });
    let mut table = Table::of_names("operations", Align::Right, names);
    for (at, variant) in all.variants.iter().enumerate() {
        let cell = |ns: Option<&f64>| ns.map_or_else(|| "-".into(), |ns| number(ns / size, 3));
        let alone = all.variants.len() == 1 && *variant == DEFAULT_VARIANT;
        table.group("");
        table.column(
            if alone { "mean" } else { variant },
            all.rows.iter().map(|row| cell(row.mean_ns.get(at))),
        );
    }
    TitledTable { title, table }
}

/// A row for each operation number, a column for each measurement, named by its variant.
pub(super) fn single_latency_table(book: &Book) -> Table {
    let operations = single_operations(book);
    let phase = book.measurements.first().map_or("", |m| &m.phase);
    let mut table = Table::of_names(phase, Align::Right, operations.iter().map(|at| grouped(*at)));
    for m in &book.measurements {
        table.column(&m.cell.variant, operations.iter().map(|at| time(single_latency_ns(m, *at))));
    }
    table
}
