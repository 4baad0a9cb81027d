//! Reads a run document back. It comes from outside: what is read is written again and held against
//! what was given, so that nothing is taken for something else or lost unseen.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::{DocumentMeasurement, FORMAT, RunDocument, VERSION};
use crate::base::failure::shown;
use crate::results::book::{Book, RunFacts};
use crate::results::document_texts::check_texts;
use crate::results::histogram::from_text;

/// A larger document is not read.
pub const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

/// A run from a document.
#[derive(Debug)]
pub struct ReadDocument {
    /// The run.
    pub book: Book,
    /// Keys that this boatload does not know, and so leaves out.
    pub unknown: Vec<String>,
}

/// Most values of a document; one that is as large as may be and all windows has about as many.
const VALUES_MAX: usize = 16 << 20;

/// Most bytes that the histograms of a document may have together.
const HISTOGRAM_BYTES_MAX: usize = 256 << 20;

/// With what a file begins that gzip compressed (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads a run document, which may be compressed with gzip.
///
/// # Errors
/// A sentence on what is wrong with it, for which "it" is the document.
pub fn read_document(bytes: &[u8]) -> Result<ReadDocument, String> {
    if !bytes.starts_with(&GZIP_MAGIC) {
        return read_text(bytes);
    }
    let mut text = Vec::new();
    GzDecoder::new(bytes)
        .take(DOCUMENT_BYTES_MAX + 1)
        .read_to_end(&mut text)
        .map_err(|error| format!("it is compressed, and cannot be unpacked: {error}"))?;
    read_text(&text)
}

fn read_text(bytes: &[u8]) -> Result<ReadDocument, String> {
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err("it is larger than 256 MiB, the most that a run document may have".into());
    }
    // A value of a few bytes takes hundreds in memory.
    if bytes.iter().filter(|byte| matches!(byte, b'{' | b'[' | b',')).count() > VALUES_MAX {
        return Err("it has more values than a run document may have".into());
    }
    let mut given: Value = serde_json::from_slice(bytes).map_err(|error| about_json(&error))?;
    check_head(&given)?;
    std::str::from_utf8(bytes).map_or(Ok(()), check_texts)?;
    check_histograms(&given)?;
    let book: Book = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is no whole run document: {}", shown(error.to_string())))?;
    check_run(&book.run)?;
    let measurements = given.get_mut("measurements").map(Value::take);
    let mut held = Held::default();
    held.hold_document(&given, measurements, &book);
    match held.different.first() {
        Some(path) => Err(format!(
            "its {path} is not what boatload writes for the rest of it; was it changed by hand?"
        )),
        None => Ok(ReadDocument { book, unknown: held.unknown.into_iter().collect() }),
    }
}

fn about_json(error: &serde_json::Error) -> String {
    let what = shown(error.to_string());
    if what.starts_with("trailing characters") {
        return "text follows the first document; import documents one by one".into();
    }
    format!("it is no JSON document: {what}")
}

fn check_head(given: &Value) -> Result<(), String> {
    let format = given.get("format").and_then(Value::as_str);
    if format != Some(FORMAT) {
        let found = format.map_or("it has no \"format\"".into(), |format| {
            format!("its \"format\" is \"{}\", not \"{FORMAT}\"", shown(format))
        });
        return Err(format!(
            "{found}; what `boatload export RUN --format json` writes can be imported"
        ));
    }
    match given.get("version").and_then(Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => {
            return Err(format!(
                "it has version {version} of the run document; this boatload reads version {VERSION}"
            ));
        }
        None => return Err("it has no \"version\"".into()),
    }
    if given.pointer("/run/reference").is_some_and(|reference| !reference.is_null()) {
        return Err("it holds published figures, which every boatload has: see `boatload runs \
                    --references`"
            .into());
    }
    // Of the run itself only the seed may be larger; the store keeps it as text.
    let mut kept = ["host", "measurements", "filesystems"].iter().filter_map(|key| given.get(key));
    kept.try_for_each(check_numbers)
}

/// The store keeps whole numbers in 63 bits.
fn check_numbers(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(all) => all.iter().try_for_each(check_numbers),
        Value::Object(all) => all.values().try_for_each(check_numbers),
        Value::Number(number) if number.as_u64().is_some_and(|n| n > i64::MAX as u64) => {
            Err(format!("its number {number} does not fit the store's 63 bits"))
        }
        _ => Ok(()),
    }
}

fn check_run(run: &RunFacts) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if run.id.len() != 8 || !run.id.chars().all(plain) {
        return Err(format!(
            "its run.id \"{}\" is not eight small letters and digits",
            shown(&run.id)
        ));
    }
    for (key, time) in [("started", Some(&run.started)), ("finished", run.finished.as_ref())] {
        if let Some(time) = time.filter(|time| humantime::parse_rfc3339(time).is_err()) {
            return Err(format!("its run.{key} \"{}\" is no time of day in UTC", shown(time)));
        }
    }
    Ok(())
}

/// A short text may stand for a large histogram, so they are looked at one by one before any is kept.
fn check_histograms(given: &Value) -> Result<(), String> {
    let mut room = HISTOGRAM_BYTES_MAX;
    let measurements = given.get("measurements").and_then(Value::as_array);
    for (at, m) in measurements.into_iter().flatten().enumerate() {
        let Some(text) = m.get("histogram").and_then(Value::as_str) else { continue };
        let histogram = from_text(text)
            .ok_or_else(|| format!("the histogram of its measurements[{at}] cannot be read"))?;
        let left = room.checked_sub(histogram.len());
        room = left.ok_or("its histograms are larger than 256 MiB together")?;
    }
    Ok(())
}

/// What follows from the rest by rules that another boatload may have had others for.
const DERIVED: [&str; 4] = [
    "findings",
    "measurements[].latency_intervals_ns",
    "measurements[].limit",
    "measurements[].invalid[].sentence",
];

#[derive(Default)]
struct Held {
    unknown: BTreeSet<String>,
    different: Vec<String>,
}

impl Held {
    /// Measurements stand apart from the rest, and are held one by one: each of their windows takes
    /// hundreds of bytes here.
    fn hold_document(&mut self, rest: &Value, measurements: Option<Value>, book: &Book) {
        let own_rest = RunDocument::around_measurements(book);
        let mut own_rest = serde_json::to_value(own_rest).unwrap_or_default();
        own_rest.as_object_mut().map(|all| all.insert("measurements".into(), Value::Null));
        self.hold(rest, &own_rest, "");
        let Some(Value::Array(given)) = measurements else { return };
        for (given, own) in given.into_iter().zip(&book.measurements) {
            let own = serde_json::to_value(DocumentMeasurement::new(own, book.host.cpus))
                .unwrap_or_default();
            self.hold(&given, &own, "measurements[]");
        }
    }

    fn hold(&mut self, given: &Value, own: &Value, path: &str) {
        if !self.different.is_empty() || DERIVED.contains(&path) {
            return;
        }
        match (given, own) {
            // The same counts may be compressed in several ways.
            (Value::String(a), Value::String(b))
                if path == "measurements[].histogram" && from_text(a) == from_text(b) => {}
            (Value::Object(given), Value::Object(own)) => {
                for (key, value) in given {
                    let below =
                        if path.is_empty() { shown(key) } else { format!("{path}.{}", shown(key)) };
                    match own.get(key) {
                        Some(own) => self.hold(value, own, &below),
                        None => {
                            self.unknown.insert(below);
                        }
                    }
                }
            }
            (Value::Array(given), Value::Array(own)) if given.len() == own.len() => {
                let below = format!("{path}[]");
                given.iter().zip(own).for_each(|(given, own)| self.hold(given, own, &below));
            }
            (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {
                // Beyond 2^53 two whole numbers may be the same in floating point.
                let whole = a.as_u64().zip(b.as_u64()).is_some_and(|(a, b)| a != b);
                self.different.extend(whole.then(|| path.to_string()));
            }
            (given, own) if given == own => {}
            _ => self.different.push(path.into()),
        }
    }
}

#[cfg(test)]
mod tests;
