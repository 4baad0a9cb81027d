//! Writes results to standard output or to files, and everything else to standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno as OsErrno;
use serde::Serialize;

use boatload_base::failure::{Failure, Result, garbles, shown};
use boatload_base::files::{uninterrupted, write_all};
use boatload_base::output::{Output, try_directory, write_private};
use boatload_base::shell::quoted;

/// Writes a result for people, in which what came from elsewhere cannot talk to the terminal.
pub(super) fn print(text: &str) -> Result<()> {
    write_out(&harmless(text))
}

/// Writes a document as it is, unless a terminal would read it.
pub(super) fn give(text: &str) -> Result<()> {
    if io::stdout().is_terminal() { write_out(&harmless(text)) } else { write_out(text) }
}

/// A text in which a character that a terminal acts on, or that is not seen itself, is escaped by its number; lines
/// stay lines.
fn harmless(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => escaped.push(c),
            c if garbles(c) => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A reader that has gone away (`| head`) has seen enough: not an error.
fn write_out(text: &str) -> Result<()> {
    match write_all(io::stdout(), text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::from_system("write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error.
pub(super) fn note(text: &str) {
    write_error(&format!("{}\n", harmless(text)));
}

/// Bytes for standard error that are kept while nobody reads them.
const UNREAD_BYTES_MAX: usize = 64 << 10;

/// What a pipe with room takes without waiting (pipe(7), `PIPE_BUF`).
const PART_BYTES: usize = 4096;

/// How long the end of a command waits for whoever reads standard error, in milliseconds.
const END_MS_MAX: u32 = 2_000;

/// What standard error has not taken yet.
static UNREAD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Writes to standard error as it is. It waits for nobody, for what is measured must not stop because nobody
/// reads: what is not taken now is written with the next text, or at the end.
pub(super) fn write_error(text: &str) {
    let mut unread = UNREAD.lock().unwrap_or_else(PoisonError::into_inner);
    unread.extend_from_slice(text.as_bytes());
    if let Some(over) = unread.len().checked_sub(UNREAD_BYTES_MAX) {
        // The oldest lines go.
        let end = unread[over..].iter().position(|byte| *byte == b'\n');
        unread.drain(..end.map_or(over, |end| over + end + 1));
    }
    while takes_within(0) && write_part(&mut unread) {}
}

/// Writes what standard error has not taken, if somebody reads it soon.
pub(super) fn end() {
    let mut unread = UNREAD.lock().unwrap_or_else(PoisonError::into_inner);
    while !unread.is_empty() && takes_within(END_MS_MAX) && write_part(&mut unread) {}
}

/// Whether standard error takes something within so many milliseconds.
fn takes_within(ms: u32) -> bool {
    let time = Timespec { tv_sec: (ms / 1_000).into(), tv_nsec: (ms % 1_000 * 1_000_000).into() };
    let errors = io::stderr();
    let mut ready = [PollFd::new(&errors, PollFlags::OUT)];
    uninterrupted(|| poll(&mut ready, Some(&time))).is_ok_and(|ready| ready > 0)
}

/// Whether there is more to write.
fn write_part(unread: &mut Vec<u8>) -> bool {
    let part = &unread[..unread.len().min(PART_BYTES)];
    match rustix::io::write(io::stderr(), part) {
        Ok(written) => drop(unread.drain(..written)),
        Err(OsErrno::INTR | OsErrno::AGAIN) => return false,
        // There is nowhere to report that standard error is gone.
        Err(_) => unread.clear(),
    }
    !unread.is_empty()
}

/// Writes why the command ends.
pub(super) fn complain(text: &str) {
    note(&format!("boatload: {text}"));
}

/// A document as JSON on a line.
///
/// # Errors
/// If it cannot be written, with what was to be done.
pub(super) fn json_line(doing: &str, document: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(document);
    text.map(|text| text + "\n").map_err(|error| Failure::from_system(doing, error))
}

/// The text that a report writes.
///
/// # Errors
/// If it cannot be written, with what was to be done.
pub(super) fn written(
    doing: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<String> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|error| Failure::from_system(doing, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes a text to a file, as [`Output::write`] does.
///
/// # Errors
/// If it cannot be written there.
pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    let written = Output::find(path).and_then(|output| output.write(text));
    written.map_err(|error| unwritten(path, &error, ""))
}

/// Writes a text to a new file that only its owner reads, whatever the umask is, or in place of another one at once.
///
/// # Errors
/// If it cannot be written there.
pub(super) fn write_private_file(path: &Path, text: &str) -> Result<()> {
    write_private(path, text).map_err(|error| unwritten(path, &error, ""))
}

/// Gives the user a text, and its JSON document in a file; with `-` for the file the document alone.
///
/// # Errors
/// If one of them cannot be written.
pub(super) fn print_and_keep(
    text: &str,
    json: Option<&Path>,
    document: impl FnOnce() -> Result<String>,
) -> Result<()> {
    if json == Some(Path::new("-")) {
        return give(&document()?);
    }
    print(text)?;
    json.map_or(Ok(()), |path| write_file(path, &document()?))
}

/// Whether a file can be written there, as far as that is known before anything is measured.
///
/// # Errors
/// If it cannot.
pub(super) fn check_file(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let tried = Output::find(path).and_then(|output| output.try_to_write());
    tried.map_err(|error| unwritten(path, &error, NOTHING_MEASURED))
}

/// Whether files can be made in a directory: one is, and removed, for rights alone do not tell.
///
/// # Errors
/// If none can.
pub(super) fn check_directory(directory: &Path) -> Result<()> {
    try_directory(directory).map_err(|error| unwritten(directory, &error, NOTHING_MEASURED))
}

const NOTHING_MEASURED: &str = "; nothing was measured";

/// What cannot be written, and what makes the directory that is missing.
fn unwritten(path: &Path, error: &io::Error, consequence: &str) -> Failure {
    let is_missing = error.kind() == ErrorKind::NotFound;
    let missing = path.parent().filter(|parent| is_missing && !parent.exists());
    let fix = missing.map_or_else(String::new, |parent| {
        format!(". Make the directory first: `mkdir -p {}`", quoted(&shown(parent)))
    });
    let Failure { exit, sentence } = Failure::from_system(format!("write {}", shown(path)), error);
    Failure { exit, sentence: sentence + consequence + &fix }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_that_came_from_elsewhere_talks_to_the_terminal() {
        let text = "a\u{1b}[31mred\tb\n\u{1b}]0;title\u{7}\u{202e}é";
        let escaped = "a\\u{1b}[31mred\tb\n\\u{1b}]0;title\\u{7}\\u{202e}é";
        assert_eq!(harmless(text), escaped);
    }

    #[test]
    fn a_file_keeps_its_permissions_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, "a longer text than the new one").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let old = File::open(&path).unwrap();
        write_file(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert_eq!(names(folder.path()), ["run.json"]);
        assert_eq!(io::read_to_string(old).unwrap(), "a longer text than the new one");
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let [other, link] = ["other", "link"].map(|name| folder.path().join(name));
        std::fs::write(&other, "other").unwrap();
        symlink(&other, &link).unwrap();
        write_file(&link, "new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "other");
    }

    #[test]
    fn a_device_behind_a_link_stays_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/null", &link).unwrap();
        write_file(&link, "new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(folder.path()), ["link"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_the_old_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["no/such/place", "new/", "."] {
            assert!(write_file(&folder.path().join(name), "new").is_err(), "{name}");
        }
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
