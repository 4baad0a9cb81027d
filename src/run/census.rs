//! Counting the tree on disk, to hold it against what the phases should have left there.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::Dir;

use super::ground::open_directory;
use crate::base::names::{Name, NameKind};

/// Counts the entries of a tree: files, and directories that are entries. Directories of the
/// layout are gone through and not counted; a name that is not boatload's is counted, so that it
/// shows as one too many.
///
/// # Errors
/// What the system says of a directory that cannot be read.
pub fn count_entries(root: BorrowedFd<'_>) -> rustix::io::Result<u64> {
    let mut entries = 0;
    for entry in Dir::read_from(root)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        match Name::parse(name).map(|name| name.kind) {
            Some(NameKind::Holder | NameKind::Worker) => {
                let below = open_directory(root, OsStr::from_bytes(name))?;
                entries += count_entries(below.as_fd())?;
            }
            _ => entries += 1,
        }
    }
    Ok(entries)
}
