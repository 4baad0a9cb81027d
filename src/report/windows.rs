//! Tables of latencies in the course of a phase: windows of each measurement, for `show RUN --windows`; the
//! mean of all repeats; and single operations of published figures.

use std::io::{self, Write};

use super::ReportFormat;
use super::names::{cell_and_repeat, level_value};
use super::table::{Align, Table, TableColumn, TitledTable};
use super::text::{number, time, write_wrapped};
use crate::analysis::Analysis;
use crate::analysis::course::CourseTable;
use crate::analysis::summary::Summary;
use crate::base::units::{grouped, time_step};
use crate::plan::DEFAULT_VARIANT;
use crate::results::book::{Book, Measurement, Window};

/// One table for each measurement that has windows.
pub(super) const WINDOWS: ReportFormat = ReportFormat { name: "windows", render: write_windows };

type WindowColumn = TableColumn<Window>;

const COLUMNS: [WindowColumn; 6] = [
    WindowColumn::numbers("first", |window| grouped(window.first)),
    WindowColumn::numbers("ops", |window| grouped(window.operations)),
    WindowColumn::numbers("mean", |window| time(Some(window.mean_ns))),
    WindowColumn::numbers("p50", |window| time(Some(window.p50_ns as f64))),
    WindowColumn::numbers("p99", |window| time(Some(window.p99_ns as f64))),
    WindowColumn::numbers("max", |window| time(Some(window.max_ns as f64))),
];

/// Mean, percentiles and maximum of a single operation are all the same.
const SINGLE: [WindowColumn; 2] = [
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
        write_wrapped("invalid: ", &m.invalid.join("; "), out)?;
        let single = m.windows.iter().all(|window| window.operations == 1);
        let columns = if single { SINGLE.as_slice() } else { &COLUMNS };
        Table::from_rows(columns, &m.windows).write(out)?;
    }
    if !any {
        writeln!(out, "No phase of this run was measured in windows.")?;
    }
    Ok(())
}

/// The latency of a phase by the number of operations done.
pub(super) fn course_table(all: &CourseTable<'_>) -> TitledTable {
    let means = all.rows.iter().flat_map(|row| &row.mean_ns).flatten();
    let least = means.copied().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
    let (unit, size) = if least.is_finite() { time_step(least) } else { ("ns", 1.0) };
    let at = all.level.map(|level| format!(", at {} {}", level.axis, level_value(level)));
    let title = format!(
        "{}{}: latency in {unit}, the mean of each {} operations",
        all.phase,
        at.unwrap_or_default(),
        grouped(all.window_operations),
    );
    let names = all.rows.iter().map(|row| grouped(row.operations));
    let mut table = Table::of_names("operations", Align::Right, names);
    for (at, variant) in all.variants.iter().enumerate() {
        let cell = |ns: Option<f64>| ns.map_or_else(|| "-".into(), |ns| number(ns / size, 3));
        let alone = all.variants.len() == 1 && *variant == DEFAULT_VARIANT;
        table.group("");
        table.column(
            if alone { "mean" } else { variant },
            all.rows.iter().map(|row| cell(row.mean_ns.get(at).copied().flatten())),
        );
    }
    TitledTable { title, table }
}

/// Whether nothing but the latencies of single operations was published.
pub(super) fn is_latencies_only(book: &Book, summary: &Summary) -> bool {
    let mut windows = book.measurements.iter().flat_map(|m| &m.windows).peekable();
    windows.peek().is_some()
        && windows.all(|window| window.operations == 1)
        && summary.rows().all(|row| row.rate.is_none() && row.invalid.is_empty())
}

/// A row for each operation whose latency was published, a column for each measurement.
pub(super) fn single_latencies(book: &Book) -> Table {
    let windows = book.measurements.iter().flat_map(|m| &m.windows);
    let mut firsts: Vec<u64> = windows.map(|window| window.first).collect();
    firsts.sort_unstable();
    firsts.dedup();
    let phase = book.measurements.first().map_or("", |m| &m.phase);
    let names = firsts.iter().map(|first| grouped(first.saturating_add(1)));
    let mut table = Table::of_names(phase, Align::Right, names);
    for m in &book.measurements {
        let latency = |m: &Measurement, first: u64| {
            time(m.windows.iter().find(|window| window.first == first).map(|w| w.mean_ns))
        };
        table.column(&m.cell.variant, firsts.iter().map(|first| latency(m, *first)));
    }
    table
}
