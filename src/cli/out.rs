//! Writes results to standard output or to files, and everything else to standard error.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use crate::base::failure::{Failure, Result, shown};

/// Writes a result. A reader that has gone away (`| head`) has seen enough: not an error.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::from_system("write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes a line about what is going on.
pub(super) fn note(text: &str) {
    // There is nowhere to report that standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes to standard error as it is.
pub(super) fn write_error(text: &str) {
    let mut errors = io::stderr().lock();
    let _ = errors.write_all(text.as_bytes()).and_then(|()| errors.flush());
}

/// Writes why the command ends.
pub(super) fn complain(text: &str) {
    note(&format!("boatload: {text}"));
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

/// Names that stand for what a process has open, whatever that is.
const OPEN_FILES: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];

/// Permissions of a file, without what makes programs run as its owner.
const PERMISSIONS: u32 = 0o777;

/// Writes a text to a file. Whoever reads it meanwhile finds the old text or the new one, never a
/// part, unless nothing can be put beside it. It keeps its owner and its permissions. A link in its
/// place is replaced, not followed. A pipe or a device stays what it is, also behind a link.
///
/// # Errors
/// If it cannot be written there.
pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    let written = if is_stream(path) { std::fs::write(path, text) } else { keep(path, text) };
    written.map_err(|error| Failure::from_system(format!("write {}", shown(path)), error))
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
        return print(&document()?);
    }
    print(text)?;
    json.map_or(Ok(()), |path| write_file(path, &document()?))
}

fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
        || OPEN_FILES.iter().any(|name| path.starts_with(name))
}

fn keep(path: &Path, text: &str) -> io::Result<()> {
    let before = std::fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    if before.is_some() {
        // A file that may not be written is not replaced either.
        OpenOptions::new().write(true).open(path)?;
    }
    match replace(path, before.as_ref(), text) {
        // A directory of someone else's, or a file that is a mount point.
        Err(error) if before.is_some() && is_refused(&error) => std::fs::write(path, text),
        written => written,
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ResourceBusy)
}

/// Puts a new file beside the old one, and then in its place.
fn replace(path: &Path, before: Option<&Metadata>, text: &str) -> io::Result<()> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    let written = before.map_or(Ok(()), |before| resemble(&file, before));
    let written = written.and_then(|()| file.write_all(text.as_bytes()));
    let written = written.and_then(|()| file.sync_all());
    written.and_then(|()| std::fs::rename(&beside, path)).inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}

/// Gives a new file the owner and the permissions of the one that it replaces. Where that is somebody
/// else's, only root can, and the old one is to be written to instead.
fn resemble(file: &File, before: &Metadata) -> io::Result<()> {
    let owner = |of: &Metadata| (of.uid(), of.gid());
    if owner(&file.metadata()?) != owner(before) {
        fchown(file, Some(before.uid()), Some(before.gid()))
            .map_err(|_| ErrorKind::PermissionDenied)?;
    }
    file.set_permissions(Permissions::from_mode(before.mode() & PERMISSIONS))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
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
