//! Reads a run document back. It comes from outside, so it is checked before it is kept.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::{FORMAT, VERSION};
use boatload_base::failure::shown;
use boatload_results::book::{Book, RunFacts};
use boatload_results::histogram::from_text;
use boatload_results::json_string_limits::check_string_lengths;

/// A larger document is not read.
pub const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

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
pub fn read_document(bytes: &[u8]) -> Result<Book, String> {
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

fn read_text(bytes: &[u8]) -> Result<Book, String> {
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err("it is larger than 256 MiB, the most that a run document may have".into());
    }
    // A value of a few bytes takes hundreds in memory.
    if bytes.iter().filter(|byte| matches!(byte, b'{' | b'[' | b',')).count() > VALUES_MAX {
        return Err("it has more values than a run document may have".into());
    }
    let given: Value = serde_json::from_slice(bytes).map_err(|error| about_json(&error))?;
    check_head(&given)?;
    std::str::from_utf8(bytes).map_or(Ok(()), check_string_lengths)?;
    check_histograms(&given)?;
    let book: Book = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is no whole run document: {}", shown(error.to_string())))?;
    check_run(&book.run)?;
    Ok(book)
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

#[cfg(test)]
mod tests;
