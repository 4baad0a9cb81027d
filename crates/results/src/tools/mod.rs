//! Reads what other benchmarks wrote: fio, mdtest, elbencho, bonnie++ and dd. What each of their figures rests on
//! becomes the same few facts, as far as the file tells them.

mod bonnie;
mod csv;
mod dd;
mod elbencho;
mod fio;
mod mdtest;
mod result;

use self::result::{MEASUREMENTS_MAX, NOTES_MAX};
use boatload_base::distinct::each_once;

pub use self::result::{DeviceRequests, ToolMeasurement, ToolName, ToolResult, ToolWork};

/// More bytes are no result.
pub const TOOL_RESULT_BYTES_MAX: u64 = 16 << 20;

/// Reads a result; its content says which benchmark wrote it.
///
/// # Errors
/// In one sentence, what was expected and what was found.
pub fn read_tool_result(bytes: &[u8]) -> Result<ToolResult, String> {
    const EXPECTED: &str = "expected a result of fio (--output-format=json), mdtest (its text), elbencho (--csvfile), \
        bonnie++ 1.96 or later (its CSV lines) or dd (its standard error)";
    if bytes.len() as u64 > TOOL_RESULT_BYTES_MAX {
        return Err(format!("it is larger than 16 MiB; {EXPECTED}"));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(format!("it is empty; {EXPECTED}"));
    }
    let mut text = String::from_utf8_lossy(bytes);
    if text.contains("\r\n") {
        text = text.replace("\r\n", "\n").into();
    }
    let text = text.trim_start_matches('\u{feff}');
    let readers = [fio::read, mdtest::read, elbencho::read, bonnie::read, dd::read];
    let mut all = readers.iter().filter_map(|read| read(text));
    let mut found = all.next().ok_or(EXPECTED)??;
    if let Some(Ok(other)) = all.next() {
        return Err(format!(
            "it has results of {} and of {}: expected one",
            found.tool, other.tool
        ));
    }
    if found.measurements.is_empty() {
        return Err(format!("it is of {}, but has no figures", found.tool));
    }
    let interfaces = each_once(found.measurements.iter().filter_map(|one| one.interface.clone()));
    let tool = found.tool;
    found.notes.extend(interfaces.iter().take(NOTES_MAX).map(|interface| {
        format!("{tool} used {interface}: what it caches and what it syncs is not known.")
    }));
    found.notes.extend(version_note(&found));
    found.is_cut |= found.measurements.len() > MEASUREMENTS_MAX;
    found.measurements.truncate(MEASUREMENTS_MAX);
    Ok(found)
}

/// The newest version whose format is known. bonnie++ counts formats, and [`bonnie`] reads three of them; dd has none.
const fn newest_known(tool: ToolName) -> Option<[u32; 2]> {
    match tool {
        ToolName::Fio => Some([3, 42]),
        ToolName::Mdtest => Some([4, 1]),
        ToolName::Elbencho => Some([3, 0]),
        ToolName::Bonnie | ToolName::Dd => None,
    }
}

/// What a version that is newer, or no version at all, leaves open.
fn version_note(result: &ToolResult) -> Option<String> {
    let newest = newest_known(result.tool)?;
    let known = format!("{}.{}", newest[0], newest[1]);
    let tool = result.tool;
    let Some(version) = &result.version else {
        return Some(format!(
            "The file does not say which version of {tool} wrote it: it was read like {known}."
        ));
    };
    let is_newer = |version: &str| {
        let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let mut next = || numbers.next().and_then(Result::ok);
        next().is_some_and(|major| [major, next().unwrap_or(0)] > newest)
    };
    let note = format!(
        "{tool} {version} is newer than {known}, the newest that boatload knows: options and columns that are new in it \
         were not read."
    );
    version.split(", ").any(is_newer).then_some(note)
}

#[cfg(test)]
mod tests;
