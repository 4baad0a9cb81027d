//! A ballast that stays when its command ends, for later runs to find: a marked directory with a
//! note beside the marker that says what was made.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::ground::{in_use, may_be_ground, open_directory, prove};
use crate::base::names::{Kind, Name, NameBuffer};
use crate::op::Place;
use crate::plan::Ballast;
use crate::plan::prepare::tree_of;

/// The note's name.
pub const NOTE: &str = ".ballast";

/// A note is a few dozen bytes; more is not one.
const NOTE_BYTES_MAX: u64 = 4096;

/// Files looked at to tell whether a ballast follows a law.
const SAMPLE: u64 = 64;

/// The number of the ballast in a directory of its own.
pub const NUMBER: u64 = 1;

/// What was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Files that are there.
    pub files: u64,
    /// Whether some were deleted on the way, so that numbers are missing.
    pub aged: bool,
}

/// A ballast that was found, open and locked against removal.
pub struct Kept {
    /// Its marked directory.
    pub ground: OwnedFd,
    /// The directory of its files.
    pub root: OwnedFd,
    /// What was made.
    pub note: Note,
    /// The marked directory's name.
    pub name: OsString,
}

/// Leaves the note: the ballast is whole.
///
/// # Errors
/// If it cannot be written.
pub fn leave_note(ground: BorrowedFd<'_>, note: &Note) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(ground, NOTE, flags, Mode::RUSR | Mode::WUSR)?;
    let text = serde_json::to_string(note).map_err(std::io::Error::other)?;
    std::io::Write::write_all(&mut std::fs::File::from(file), text.as_bytes())
}

/// The note of a marked directory; none if there is none that boatload could have left.
pub fn read_note(ground: BorrowedFd<'_>) -> Option<Note> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(ground, NOTE, flags, Mode::empty()).ok()?;
    let mut text = String::new();
    let mut limited = std::io::Read::take(std::fs::File::from(file), NOTE_BYTES_MAX);
    std::io::Read::read_to_string(&mut limited, &mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// The ballast below `parent` that follows this law; the first by name.
pub fn find(parent: BorrowedFd<'_>, ballast: &Ballast) -> Option<Kept> {
    let mut names: Vec<OsString> = rustix::fs::Dir::read_from(parent)
        .ok()?
        .filter_map(|entry| Some(OsStr::from_bytes(entry.ok()?.file_name().to_bytes()).to_owned()))
        .filter(|name| may_be_ground(name))
        .collect();
    names.sort();
    names.into_iter().find_map(|name| open(parent, name).filter(|kept| follows(kept, ballast)))
}

fn open(parent: BorrowedFd<'_>, name: OsString) -> Option<Kept> {
    let ground = open_directory(parent, &name).ok()?;
    let marker = prove(ground.as_fd(), &name).ok()?;
    let note = read_note(ground.as_fd())?;
    if in_use(ground.as_fd(), &marker) {
        return None;
    }
    // From here on another run, and `clean`, see that it is in use.
    rustix::fs::flock(&ground, FlockOperation::NonBlockingLockShared).ok()?;
    let mut path = NameBuffer::default();
    path.push(Name { kind: Kind::Ballast, number: NUMBER, generation: 0 });
    let root = open_directory(ground.as_fd(), OsStr::from_bytes(path.as_bytes())).ok()?;
    Some(Kept { ground, root, note, name })
}

/// Whether some of its files are where the law says, and as large.
fn follows(kept: &Kept, ballast: &Ballast) -> bool {
    let Note { files, aged } = kept.note;
    let tree = tree_of(ballast, files);
    let mut path = NameBuffer::default();
    let mut is_there = |number: u64| {
        path.clear();
        tree.push_layout(tree.layout_of_holder(tree.holder_of(number)), &mut path);
        tree.push_name(Place::File { number, generation: 0 }, &mut path);
        let stat = rustix::fs::statat(&kept.root, path.as_c_str(), AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| u64::try_from(stat.st_size) == Ok(tree.size(number, 0)))
    };
    let sample = SAMPLE.min(files);
    !aged
        && (0..sample).all(|at| is_there(at * files / sample))
        && (files == 0 || is_there(files - 1))
}
