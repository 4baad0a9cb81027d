//! Writes comma-separated values: a row for each measurement, or for each window of it. Each column is a
//! value of the run document, empty where that is null; the columns follow from the document's schema.
//!
//! Texts are quoted as RFC 4180 has it. One that begins with `=` stays as it is: a mark before it,
//! which keeps a spreadsheet from taking it for a formula, would make it another name for every
//! program that reads the table.

use serde_json::Value;

use super::format::{ExportFormat, ExportText, only};
use crate::json::{measurement_schema, measurement_value};
use boatload_analysis::Analysis;
use boatload_results::book::{Book, Measurement};

/// Places in a measurement of the run document that identify its row.
const KEYS: [&str; 11] = [
    "/variant", "/level/axis", "/level/value", "/level/unit", "/repeat", "/phase", "/pass",
    "/operation", "/engine", "/threads", "/valid",
];

/// Values of a measurement that are no single figures.
const LISTS: [&str; 4] = ["histogram", "ranks", "slices_ns", "windows"];

/// Places in a window of a measurement.
const WINDOW: [&str; 6] = ["/first", "/operations", "/mean_ns", "/p50_ns", "/p99_ns", "/max_ns"];

const RUN: [&str; 3] = ["run", "scenario", "filesystem"];

pub(super) const CSV: ExportFormat = ExportFormat {
    name: "csv",
    about: "a table with a row for each measurement",
    texts: measurement_rows,
};

pub(super) const CSV_WINDOWS: ExportFormat = ExportFormat {
    name: "csv-windows",
    about: "a table with a row for each window of each measurement",
    texts: window_rows,
};

/// The places of all values of a measurement, its keys first.
pub(super) fn places() -> Vec<String> {
    let schema = measurement_schema();
    let mut all = KEYS.map(String::from).to_vec();
    let figures = places_below("", &schema, &schema);
    all.extend(figures.into_iter().filter(|place| !KEYS.contains(&place.as_str())));
    all
}

/// The places of all values in a value of this type, which stands at `place`.
fn places_below(place: &str, own: &Value, schema: &Value) -> Vec<String> {
    let reference = own.get("$ref").or_else(|| own.pointer("/anyOf/0/$ref"));
    let reference = reference.and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    let own = reference.and_then(|path| schema.pointer(path)).unwrap_or(own);
    let Some(values) = own.get("properties").and_then(Value::as_object) else {
        return vec![place.into()];
    };
    let values = values.iter().filter(|(key, _)| !LISTS.contains(&key.as_str()));
    values.flat_map(|(key, one)| places_below(&format!("{place}/{key}"), one, schema)).collect()
}

fn measurement_rows(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let book = analysis.book;
    let places = places();
    let mut table = head(places.iter().map(String::as_str).chain(["/disturbed"]));
    for m in &book.measurements {
        let value = measurement_value(m, &book.host);
        let mut row = run_cells(book, m);
        row.extend(places.iter().map(|place| cell(&value, place)));
        // Nobody looked whether published figures were disturbed.
        let known = m.disturbance.is_some();
        row.push(if known { analysis.disturbed(m).to_string() } else { String::new() });
        add(&mut table, &row);
    }
    Ok(only(book, "csv", table))
}

fn window_rows(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let book = analysis.book;
    let mut table = head(KEYS.into_iter().chain(WINDOW));
    for m in &book.measurements {
        let value = measurement_value(m, &book.host);
        let mut keys = run_cells(book, m);
        keys.extend(KEYS.map(|place| cell(&value, place)));
        for window in value.pointer("/windows").and_then(Value::as_array).into_iter().flatten() {
            let row = [keys.clone(), WINDOW.map(|place| cell(window, place)).to_vec()].concat();
            add(&mut table, &row);
        }
    }
    Ok(only(book, "windows.csv", table))
}

/// The names of columns: `latency_ns_p50` of the place `/latency_ns/p50`.
fn head<'a>(places: impl Iterator<Item = &'a str>) -> String {
    let names = places.map(|place| place.trim_start_matches('/').replace('/', "_"));
    let mut table = String::new();
    add(&mut table, &RUN.into_iter().map(String::from).chain(names).collect::<Vec<_>>());
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
