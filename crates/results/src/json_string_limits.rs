//! Checks the JSON of a stored or imported run: no key or string in it is longer than boatload itself writes.

use boatload_base::text_limits::{NAME_BYTES_MAX, TEXT_BYTES_MAX};
use boatload_base::units::grouped;

/// Keys of names that a job file gives.
const NAMES: [&str; 7] =
    ["scenario", "variants", "variant", "phases", "phase", "axis", "operation"];

/// Keys of texts that are kept whole, with limits of their own where they are read: the job file, the command line, the
/// model of a disk, all latencies.
const KEPT_WHOLE: [&str; 4] = ["job", "command", "model", "histogram"];

/// Whether no text of a JSON document is too long. What is no JSON is left to its reader.
///
/// # Errors
/// A sentence on the first that is, for which "its" is the document's.
pub fn check_string_lengths(json: &str) -> Result<(), String> {
    let (mut key, mut rest) = ("", json);
    while let Some((_, text)) = rest.split_once('"') {
        let Some(end) = end_of(text) else { break };
        let after = &text[end + 1..];
        let text = &text[..end];
        if after.trim_start().starts_with(':') {
            key = text;
            check_length("key", text, NAME_BYTES_MAX)?;
        } else if !KEPT_WHOLE.contains(&key) {
            // Variants of a trace may be directories.
            let is_name = NAMES.contains(&key) && !text.starts_with('/');
            check_length(key, text, if is_name { NAME_BYTES_MAX } else { TEXT_BYTES_MAX })?;
        }
        rest = after;
    }
    Ok(())
}

/// Where the text of JSON ends that begins here: at the quote before which no backslash stands.
fn end_of(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(at),
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    None
}

fn check_length(key: &str, text: &str, most: usize) -> Result<(), String> {
    // Escaped, a text is longer than it is.
    let bytes =
        || serde_json::from_str(&format!("\"{text}\"")).map_or(text.len(), |t: String| t.len());
    if text.len() <= most || bytes() <= most {
        return Ok(());
    }
    let (bytes, most) = (grouped(bytes() as u64), grouped(most as u64));
    let what = if key == "key" { "one of its keys".into() } else { format!("its \"{key}\"") };
    Err(format!("{what} has {bytes} bytes; boatload writes and reads at most {most} there"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_be_as_long_as_in_a_job_file_and_escapes_do_not_count() {
        let quotes = "\\\"".repeat(NAME_BYTES_MAX);
        assert_eq!(check_string_lengths(&format!("{{\"phase\": \"{quotes}\", \"n\": 1}}")), Ok(()));
        let longer = format!("{{\"n\": [\"a\"], \"phases\" : [\"x\", \"{quotes}y\"]}}");
        let refused = check_string_lengths(&longer).unwrap_err();
        assert_eq!(
            refused,
            "its \"phases\" has 61 bytes; boatload writes and reads at most 60 there"
        );
        let path = format!("{{\"variant\": \"/{}\"}}", "d/".repeat(500));
        assert_eq!(check_string_lengths(&path), Ok(()), "a trace names directories");
    }

    #[test]
    fn what_is_kept_whole_may_be_long_and_other_texts_and_keys_may_not() {
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        assert_eq!(check_string_lengths(&format!("{{\"job\":\"{long}\"}}")), Ok(()));
        assert!(
            check_string_lengths(&format!("{{\"cpu\":\"{long}\"}}"))
                .unwrap_err()
                .contains("\"cpu\"")
        );
        assert!(
            check_string_lengths(&format!("{{\"{long}\":1}}"))
                .unwrap_err()
                .contains("one of its keys")
        );
        assert_eq!(check_string_lengths("{\"cpu\": \"it does not end"), Ok(()));
    }
}
