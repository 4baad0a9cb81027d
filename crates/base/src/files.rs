//! Reads and writes small files, and lists directories. Unlike the functions of the standard library, these
//! end when each call is interrupted, and do not panic when a directory cannot be closed.

use std::ffi::{OsStr, OsString};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno as OsErrno;

use super::failed_calls::note;
use super::failure::shown;

/// Interruptions in a row after which a call is given up.
const INTERRUPTIONS_MAX: u32 = 100;

/// Bytes that are read at a time.
const PART_BYTES: usize = 8 << 10;

/// Does a call again that was interrupted (`EINTR`), but not for ever.
///
/// # Errors
/// What the call says.
pub fn uninterrupted<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    for _ in 1..INTERRUPTIONS_MAX {
        match call() {
            Err(OsErrno::INTR) => {}
            other => return other,
        }
    }
    call()
}

/// The path of an open file, which the kernel keeps up to date when it is renamed; none without /proc.
pub fn path_of(fd: impl AsFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd())).ok()
}

/// The same in words.
pub fn place_of(fd: impl AsFd) -> String {
    path_of(fd).map_or_else(|| "an open directory".into(), shown)
}

/// Opens a file to read it.
///
/// # Errors
/// If it cannot be opened.
pub fn open_to_read(path: &Path) -> Result<OwnedFd> {
    open(path, OFlags::empty())
}

fn open(path: &Path, flags: OFlags) -> Result<OwnedFd> {
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
    let opened = uninterrupted(|| rustix::fs::open(path, flags, Mode::empty()));
    Ok(opened.inspect_err(|error| note("open", || shown(path), *error))?)
}

/// All that a file holds.
///
/// # Errors
/// If it cannot be read.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    read_all(open_to_read(path.as_ref())?)
}

/// All that is left to read of an open file.
///
/// # Errors
/// If it cannot be read.
pub fn read_all(file: impl AsFd) -> Result<Vec<u8>> {
    read_start_of(file, usize::MAX)
}

/// The same, but at most this many bytes.
///
/// # Errors
/// If it cannot be read.
pub fn read_start_of(file: impl AsFd, bytes_max: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut part = [0; PART_BYTES];
    loop {
        let wanted = PART_BYTES.min(bytes_max - bytes.len());
        let read = uninterrupted(|| rustix::io::read(&file, &mut part[..wanted]));
        match read.inspect_err(|error| note("read", || place_of(&file), *error))? {
            0 => return Ok(bytes),
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}

/// The text that a file holds.
///
/// # Errors
/// If it cannot be read, or is not UTF-8.
pub fn read_text(path: impl AsRef<Path>) -> Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|error| Error::new(ErrorKind::InvalidData, error))
}

/// Writes all of some bytes to an open file.
///
/// # Errors
/// If it cannot be written.
pub fn write_all(file: impl AsFd, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match uninterrupted(|| rustix::io::write(&file, bytes))? {
            0 => return Err(ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// The entries of a directory, `.` and `..` among them.
///
/// # Errors
/// If it cannot be opened.
pub fn list(path: &Path) -> Result<Dir> {
    Ok(Dir::new(open(path, OFlags::DIRECTORY)?)?)
}

/// The names in a directory, without `.` and `..`.
///
/// # Errors
/// If it cannot be read.
pub fn names_in(path: impl AsRef<Path>) -> Result<Vec<OsString>> {
    let mut names = Vec::new();
    let unread = |error: &OsErrno| note("getdents64", || shown(path.as_ref()), *error);
    for entry in list(path.as_ref())? {
        let entry = entry.inspect_err(unread);
        names.push(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned());
    }
    names.retain(|name| name != "." && name != "..");
    Ok(names)
}

/// The paths of what is in a directory; `None` if it cannot be read.
pub fn paths_in(path: impl AsRef<Path>) -> Vec<PathBuf> {
    let names = names_in(path.as_ref()).unwrap_or_default();
    names.into_iter().map(|name| path.as_ref().join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_its_name_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let text = "a text of many lines\n".repeat(1_000);
        write_all(std::fs::File::create(&path).unwrap(), text.as_bytes()).unwrap();
        assert_eq!(read_text(&path).unwrap(), text);
        assert_eq!(names_in(folder.path()).unwrap(), ["text"]);
        assert!(read_text(folder.path().join("none")).is_err());
        assert!(names_in(&path).is_err());
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(read_text(&path).unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn a_call_that_is_interrupted_is_done_again_and_at_last_given_up() {
        let mut calls = 0;
        let third = uninterrupted(|| {
            calls += 1;
            if calls < 3 { Err(OsErrno::INTR) } else { Ok(calls) }
        });
        assert_eq!(third, Ok(3));
        let mut calls = 0;
        let never = uninterrupted(|| {
            calls += 1;
            Err::<(), _>(OsErrno::INTR)
        });
        assert_eq!((never, calls), (Err(OsErrno::INTR), INTERRUPTIONS_MAX));
    }
}
