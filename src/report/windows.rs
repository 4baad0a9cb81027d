//! Slices of each phase, for `show RUN --windows`.

use std::io::{self, Write};

use super::Report;
use super::names::cell_and_repeat;
use super::table::{Align, Table};
use super::text::{time, wrap};
use crate::base::units::grouped;
use crate::measure::analysis::Analysis;
use crate::measure::book::Measurement;

/// One table for each measurement that has windows.
pub(super) struct Windows;

impl Report for Windows {
    fn name(&self) -> &'static str {
        "windows"
    }

    fn render(&self, analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
        let with_windows = analysis.book.measurements.iter().filter(|m| !m.windows.is_empty());
        let mut any = false;
        for measurement in with_windows {
            if any {
                writeln!(out)?;
            }
            any = true;
            write_title(measurement, out)?;
            table(measurement).write(out)?;
        }
        if !any {
            writeln!(out, "No phase of this run was measured in windows.")?;
        }
        Ok(())
    }
}

fn write_title(measurement: &Measurement, out: &mut dyn Write) -> io::Result<()> {
    let Measurement { phase, pass, cell, invalid, .. } = measurement;
    let mut lines = wrap("", &format!("{phase}, pass {pass}, {}", cell_and_repeat(cell)));
    if !measurement.valid() {
        lines.extend(wrap("invalid: ", &invalid.join("; ")));
    }
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn table(measurement: &Measurement) -> Table {
    if measurement.windows.iter().all(|window| window.operations == 1) {
        return single_operations(measurement);
    }
    let columns = ["first", "ops", "mean", "p50", "p99", "max"];
    let mut table = Table::new(&columns.map(|head| (head, Align::Right)));
    for window in &measurement.windows {
        let whole = |ns: u64| time(Some(ns as f64));
        table.row(vec![
            grouped(window.first),
            grouped(window.operations),
            time(Some(window.mean_ns)),
            whole(window.p50_ns),
            whole(window.p99_ns),
            whole(window.max_ns),
        ]);
    }
    table
}

/// Mean, percentiles and maximum of a single operation are all the same.
fn single_operations(measurement: &Measurement) -> Table {
    let mut table = Table::new(&["operation", "latency"].map(|head| (head, Align::Right)));
    for window in &measurement.windows {
        table.row(vec![grouped(window.first.saturating_add(1)), time(Some(window.mean_ns))]);
    }
    table
}
