//! Writes comma-separated values: a row for each measurement, or for each window of it. Each column is a
//! value of the run document, empty where that is null.
//!
//! Texts are quoted as RFC 4180 has it. One that begins with `=` stays as it is: a mark before it,
//! which keeps a spreadsheet from taking it for a formula, would make it another name for every
//! program that reads the table.

use serde_json::Value;

use super::format::{ExportFormat, ExportText, only};
use crate::analysis::Analysis;
use crate::report::json::measurement_value;
use crate::results::book::{Book, Measurement};

/// A column's name and its place in a measurement of the run document.
type CsvColumn = (&'static str, &'static str);

/// What tells a row from all others.
const KEYS: &[CsvColumn] = &[
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

const FIGURES: &[CsvColumn] = &[
    ("invalid", "/invalid"),
    ("errors", "/errors"),
    ("operations", "/operations"),
    ("operations_asked", "/operations_asked"),
    ("bytes", "/bytes"),
    ("seconds", "/seconds"),
    ("sync_seconds", "/sync_seconds"),
    ("operations_per_second", "/operations_per_second"),
    ("operations_per_second_before_sync", "/operations_per_second_before_sync"),
    ("limit", "/limit"),
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
    ("device_busy_seconds", "/device_busy_seconds"),
    ("device_queue_seconds", "/device_queue_seconds"),
    ("disk_reads", "/disk/reads"),
    ("disk_writes", "/disk/writes"),
    ("disk_flushes", "/disk/flushes"),
    ("disk_read_bytes", "/disk/read_bytes"),
    ("disk_write_bytes", "/disk/write_bytes"),
    ("disk_sequential", "/disk/sequential"),
    ("disk_distance_bytes", "/disk/distance_bytes"),
    ("disk_queue_sum", "/disk/queue_sum"),
    ("disk_missed", "/disk/missed"),
    ("disk_seek_seconds", "/disk/seek_seconds"),
    ("disk_rotation_seconds", "/disk/rotation_seconds"),
    ("disk_transfer_seconds", "/disk/transfer_seconds"),
    ("disk_late", "/disk/late"),
    ("disk_late_seconds", "/disk/late_seconds"),
    ("space_bytes", "/space_bytes"),
    ("inodes", "/inodes"),
    ("idle", "/idle"),
    ("entries_expected", "/entries_expected"),
    ("entries_found", "/entries_found"),
    ("worker_spread", "/worker_spread"),
    ("context_switches", "/context_switches"),
    ("memory_touched_bytes", "/memory_touched_bytes"),
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
const WINDOW: &[CsvColumn] = &[
    ("first", "/first"),
    ("operations", "/operations"),
    ("mean_ns", "/mean_ns"),
    ("p50_ns", "/p50_ns"),
    ("p99_ns", "/p99_ns"),
    ("max_ns", "/max_ns"),
];

const RUN: [&str; 3] = ["run", "scenario", "filesystem"];

pub(super) const CSV: ExportFormat = ExportFormat {
    name: "csv",
    about: "a table with a row for each measurement",
    has_phases: true,
    texts: measurement_rows,
};

pub(super) const CSV_WINDOWS: ExportFormat = ExportFormat {
    name: "csv-windows",
    about: "a table with a row for each window of each measurement",
    has_phases: true,
    texts: window_rows,
};

fn measurement_rows(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let book = analysis.book;
    let columns = || KEYS.iter().chain(FIGURES);
    let mut table = head(columns().map(|(name, _)| *name).chain(["disturbed"]));
    for m in &book.measurements {
        let value = measurement_value(m, &book.host);
        let mut row = run_cells(book, m);
        row.extend(columns().map(|(_, place)| cell(&value, place)));
        // Nobody looked whether published figures were disturbed.
        let known = m.disturbance.is_some();
        row.push(if known { analysis.disturbed(m).to_string() } else { String::new() });
        add(&mut table, &row);
    }
    Ok(only(book, "csv", table))
}

fn window_rows(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let book = analysis.book;
    let mut table = head(KEYS.iter().chain(WINDOW).map(|(name, _)| *name));
    for m in &book.measurements {
        let value = measurement_value(m, &book.host);
        let mut keys = run_cells(book, m);
        keys.extend(KEYS.iter().map(|(_, place)| cell(&value, place)));
        for window in value.pointer("/windows").and_then(Value::as_array).into_iter().flatten() {
            let mut row = keys.clone();
            row.extend(WINDOW.iter().map(|(_, place)| cell(window, place)));
            add(&mut table, &row);
        }
    }
    Ok(only(book, "windows.csv", table))
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

fn cell(measurement: &Value, place: &str) -> String {
    // A reason is told by its sentence.
    let plain = |value: &Value| match value.get("sentence").unwrap_or(value) {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let texts: Vec<String> = match measurement.pointer(place) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => return quoted(text),
        Some(Value::Array(texts)) => texts.iter().map(plain).collect(),
        Some(Value::Object(of)) => {
            of.iter().map(|(key, value)| format!("{key} x {value}")).collect()
        }
        Some(value) => return value.to_string(),
    };
    if texts.is_empty() { String::new() } else { quoted(&texts.join("; ")) }
}

/// Always quoted, so that a text which reads as a number stays one.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
pub(super) fn places() -> impl Iterator<Item = &'static str> {
    KEYS.iter().chain(FIGURES).map(|(_, place)| *place)
}
