//! Tables of comma-separated values: a row for each measurement, or for each window of it. Each
//! column is a place in the run document, so that both tell the same, and what is null there is
//! empty here.
//!
//! Texts are quoted as RFC 4180 has it. One that begins with `=` stays as it is: a mark before it,
//! which keeps a spreadsheet from taking it for a formula, would make it another name for every
//! program that reads the table.

use std::fmt::Write;

use serde_json::Value;

use super::{Export, ExportText, only};
use crate::measure::analysis::Analysis;
use crate::measure::book::{Book, Measurement};
use crate::report::json::measurement_value;

/// A column's name and its place in a measurement of the run document.
type Column = (&'static str, &'static str);

/// What tells a row from all others.
const KEYS: &[Column] = &[
    ("variant", "/variant"),
    ("axis", "/level/axis"),
    ("level", "/level/value"),
    ("unit", "/level/unit"),
    ("repeat", "/repeat"),
    ("phase", "/phase"),
    ("pass", "/pass"),
    ("operation", "/operation"),
    ("engine", "/engine"),
    ("threads", "/threads"),
    ("valid", "/valid"),
];

const FIGURES: &[Column] = &[
    ("invalid", "/invalid"),
    ("errors", "/errors"),
    ("operations", "/operations"),
    ("operations_asked", "/operations_asked"),
    ("bytes", "/bytes"),
    ("seconds", "/seconds"),
    ("sync_seconds", "/sync_seconds"),
    ("operations_per_second", "/operations_per_second"),
    ("rate_error", "/rate_error"),
    ("cpu_user_seconds", "/cpu_user_seconds"),
    ("cpu_system_seconds", "/cpu_system_seconds"),
    ("latency_mean_ns", "/latency_ns/mean"),
    ("latency_min_ns", "/latency_ns/min"),
    ("latency_p50_ns", "/latency_ns/p50"),
    ("latency_p90_ns", "/latency_ns/p90"),
    ("latency_p99_ns", "/latency_ns/p99"),
    ("latency_p99_9_ns", "/latency_ns/p99_9"),
    ("latency_max_ns", "/latency_ns/max"),
    ("cache_asked", "/cache/asked"),
    ("cache_found", "/cache/found"),
    ("cache_resident_fraction", "/cache/resident_fraction"),
    ("cache_reason", "/cache/reason"),
    ("device_read_bytes", "/device_read_bytes"),
    ("device_write_bytes", "/device_write_bytes"),
    ("device_reads", "/device_reads"),
    ("device_writes", "/device_writes"),
    ("device_flushes", "/device_flushes"),
    ("device_discard_bytes", "/device_discard_bytes"),
    ("space_bytes", "/space_bytes"),
    ("inodes", "/inodes"),
    ("idle", "/idle"),
    ("entries_expected", "/entries_expected"),
    ("entries_found", "/entries_found"),
    ("worker_spread", "/worker_spread"),
    ("watched_seconds", "/disturbance/seconds"),
    ("cpu_pressure_seconds", "/disturbance/cpu_pressure_seconds"),
    ("io_pressure_seconds", "/disturbance/io_pressure_seconds"),
    ("memory_pressure_seconds", "/disturbance/memory_pressure_seconds"),
    ("steal_seconds", "/disturbance/steal_seconds"),
    ("others_cpu_seconds", "/disturbance/others_cpu_seconds"),
    ("others_read_bytes", "/disturbance/others_read_bytes"),
    ("others_write_bytes", "/disturbance/others_write_bytes"),
    ("beneath_read_bytes", "/disturbance/beneath_read_bytes"),
    ("beneath_write_bytes", "/disturbance/beneath_write_bytes"),
    ("core_throttles", "/disturbance/core_throttles"),
    ("group_throttles", "/disturbance/group_throttles"),
    ("frequency_share", "/disturbance/frequency_share"),
];

/// The same of a window.
const WINDOW: &[Column] = &[
    ("first", "/first"),
    ("operations", "/operations"),
    ("mean_ns", "/mean_ns"),
    ("p50_ns", "/p50_ns"),
    ("p99_ns", "/p99_ns"),
    ("max_ns", "/max_ns"),
];

/// What comes from the run rather than the measurement.
const RUN: [&str; 3] = ["run", "scenario", "filesystem"];

/// A row for each measurement.
pub(super) struct Csv;

impl Export for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "a table with a row for each measurement"
    }

    fn has_phases(&self) -> bool {
        true
    }

    fn texts(&self, analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
        let book = analysis.book;
        let columns = [KEYS, FIGURES].concat();
        let mut table = head(columns.iter().map(|(name, _)| *name).chain(["disturbed"]));
        for m in &book.measurements {
            let value = measurement_value(m, book.run.reference.is_none());
            let mut row = run_cells(book, m);
            row.extend(columns.iter().map(|column| cell(&value, column)));
            // Nobody looked whether published figures were disturbed.
            let known = m.disturbance.is_some();
            row.push(if known { analysis.disturbed(m).to_string() } else { String::new() });
            add(&mut table, &row);
        }
        Ok(only(book, "csv", table))
    }
}

/// A row for each window.
pub(super) struct CsvWindows;

impl Export for CsvWindows {
    fn name(&self) -> &'static str {
        "csv-windows"
    }

    fn about(&self) -> &'static str {
        "a table with a row for each window of each measurement"
    }

    fn has_phases(&self) -> bool {
        true
    }

    fn texts(&self, analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
        let book = analysis.book;
        let names = KEYS.iter().chain(WINDOW).map(|(name, _)| *name);
        let mut table = head(names);
        for m in &book.measurements {
            let value = measurement_value(m, book.run.reference.is_none());
            let mut keys = run_cells(book, m);
            keys.extend(KEYS.iter().map(|column| cell(&value, column)));
            let windows = value.pointer("/windows").and_then(Value::as_array);
            for window in windows.into_iter().flatten() {
                let figures = WINDOW.iter().map(|column| cell(window, column));
                add(&mut table, &keys.iter().cloned().chain(figures).collect::<Vec<_>>());
            }
        }
        Ok(only(book, "windows.csv", table))
    }
}

fn head(names: impl Iterator<Item = &'static str>) -> String {
    let mut table = String::new();
    add(&mut table, &RUN.into_iter().chain(names).map(String::from).collect::<Vec<_>>());
    table
}

fn run_cells(book: &Book, m: &Measurement) -> Vec<String> {
    let filesystem = book.filesystem_of(&m.cell.variant).map(quoted).unwrap_or_default();
    vec![quoted(&book.run.id), quoted(&book.run.scenario), filesystem]
}

fn add(table: &mut String, cells: &[String]) {
    table.push_str(&cells.join(","));
    // RFC 4180 ends lines with CRLF; other programs than spreadsheets would find the CR in the cell.
    table.push('\n');
}

fn cell(measurement: &Value, (_, place): &Column) -> String {
    match measurement.pointer(place) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => quoted(text),
        Some(Value::Array(texts)) => list(texts.iter().map(plain)),
        Some(Value::Object(of)) => list(of.iter().map(|(key, value)| format!("{key} x {value}"))),
        Some(value) => value.to_string(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// Empty for none of them.
fn list(texts: impl Iterator<Item = String>) -> String {
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() { String::new() } else { quoted(&texts.join("; ")) }
}

/// Always quoted, so that a text which reads as a number stays one.
fn quoted(text: &str) -> String {
    let mut cell = String::with_capacity(text.len() + 2);
    // Writing to a string cannot fail.
    let _ = write!(cell, "\"{}\"", text.replace('"', "\"\""));
    cell
}

#[cfg(test)]
pub(super) fn places() -> impl Iterator<Item = &'static str> {
    KEYS.iter().chain(FIGURES).map(|(_, place)| *place)
}
