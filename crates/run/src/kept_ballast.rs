//! Notes in a marked directory that its files are to stay: they are those of `fill` or `age`.

use std::os::fd::BorrowedFd;

use rustix::io::Errno as OsErrno;
use serde::{Deserialize, Serialize};

use super::run_directory::{open_note, read_start, write_new};

/// The note's name.
pub const NOTE: &str = ".ballast";

/// The number of the ballast in a directory of its own.
pub const NUMBER: u64 = 1;

/// What was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BallastNote {
    /// Files that are there.
    pub files: u64,
    /// Whether some were deleted on the way, so that numbers are missing.
    pub aged: bool,
}

/// Leaves the note: the ballast is whole.
///
/// # Errors
/// If it cannot be written.
pub fn leave_note(run_directory: BorrowedFd<'_>, note: &BallastNote) -> std::io::Result<()> {
    write_new(run_directory, NOTE, note)
}

/// The note of a marked directory; `None` if there is none that boatload could have left.
///
/// # Errors
/// If there is one that cannot be read.
pub fn read_note(run_directory: BorrowedFd<'_>) -> std::io::Result<Option<BallastNote>> {
    match open_note(run_directory, NOTE) {
        Ok(note) => Ok(serde_json::from_str(&read_start(note)?).ok()),
        Err(OsErrno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
