//! Finds ballast that an earlier command left for later runs: a marked directory with a note of its
//! contents.

use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FlockOperation};
use rustix::io::Errno as OsErrno;
use serde::{Deserialize, Serialize};

use super::run_directory::{
    in_use, may_be_run_directory, open_directory, open_note, prove, read_start, write_new,
};
use crate::base::failure::shown;
use crate::base::names::{Name, NameBuffer, NameKind};
use crate::base::units::counted;
use crate::op::ItemId;
use crate::plan::Ballast;
use crate::plan::prepare::tree_of;
use crate::plan::tree::Tree;

/// The note's name.
pub const NOTE: &str = ".ballast";

/// Files looked at to tell whether a ballast follows a law.
const SAMPLE: u64 = 64;

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

/// A ballast that was found, open and locked against removal.
pub struct KeptBallast {
    /// Its marked directory.
    pub run_directory: OwnedFd,
    /// The directory of its files.
    pub root: OwnedFd,
    /// What was made.
    pub note: BallastNote,
    /// The marked directory's name.
    pub name: OsString,
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

/// The ballast below `parent` that follows this law, the first by name; and of the others before it
/// a phrase that says why each is left as it is.
pub fn find(parent: BorrowedFd<'_>, ballast: &Ballast) -> (Option<KeptBallast>, Vec<String>) {
    let mut passed_over = Vec::new();
    let Ok(entries) = rustix::fs::Dir::read_from(parent) else { return (None, passed_over) };
    let mut names: Vec<OsString> = entries
        .filter_map(|entry| Some(OsStr::from_bytes(entry.ok()?.file_name().to_bytes()).to_owned()))
        .filter(|name| may_be_run_directory(name))
        .collect();
    names.sort();
    for name in names {
        let Some(kept) = open(parent, name) else { continue };
        match difference(&kept, ballast) {
            None => return (Some(kept), passed_over),
            Some(why) => {
                passed_over.push(format!("{} is left unchanged: {why}", shown(&kept.name)))
            }
        }
    }
    (None, passed_over)
}

fn open(parent: BorrowedFd<'_>, name: OsString) -> Option<KeptBallast> {
    let run_directory = open_directory(parent, &name).ok()?;
    let marker = prove(run_directory.as_fd(), &name).ok()?;
    // Whoever owns it may change it at any time; root writes into nobody else's.
    if rustix::fs::fstat(&run_directory).ok()?.st_uid != rustix::process::geteuid().as_raw() {
        return None;
    }
    let note = read_note(run_directory.as_fd()).ok()??;
    if in_use(run_directory.as_fd(), &marker) {
        return None;
    }
    // From here on another run, and `clean`, see that it is in use.
    rustix::fs::flock(&run_directory, FlockOperation::NonBlockingLockShared).ok()?;
    let mut path = NameBuffer::default();
    path.push(Name { kind: NameKind::Ballast, number: NUMBER, generation: 0 });
    let root = open_directory(run_directory.as_fd(), OsStr::from_bytes(path.as_bytes())).ok()?;
    Some(KeptBallast { run_directory, root, note, name })
}

/// What tells it from what the law makes; `None` if nothing does. Sizes are looked at of some files,
/// names of all.
fn difference(kept: &KeptBallast, ballast: &Ballast) -> Option<String> {
    let BallastNote { files, aged } = kept.note;
    if aged {
        return Some("files were deleted from it".into());
    }
    let tree = tree_of(ballast, files);
    let sample = SAMPLE.min(files);
    let mut sample = (0..sample).map(|at| at * files / sample).chain(files.checked_sub(1));
    // What is there with another size is of another law; what is not may just be missing.
    if sample.any(|number| size_of(kept, &tree, number).is_some_and(|s| s != tree.size(number, 0)))
    {
        return Some("it holds the files of another seed or another job".into());
    }
    holders_differ(kept, &tree).unwrap_or_else(|error| Some(format!("it cannot be read: {error}")))
}

fn size_of(kept: &KeptBallast, tree: &Tree, number: u64) -> Option<u64> {
    let mut path = NameBuffer::default();
    tree.push_layout(tree.layout_of_holder(tree.holder_of(number)), &mut path);
    tree.push_name(ItemId::File { number, generation: 0 }, &mut path);
    let stat = rustix::fs::statat(&kept.root, path.as_c_str(), AtFlags::SYMLINK_NOFOLLOW);
    stat.ok().and_then(|stat| u64::try_from(stat.st_size).ok())
}

fn holders_differ(kept: &KeptBallast, tree: &Tree) -> rustix::io::Result<Option<String>> {
    let holders = if tree.files == 0 { 0 } else { tree.holders() };
    let (mut directories, mut files) = (0, 0);
    for entry in rustix::fs::Dir::read_from(&kept.root)? {
        let entry = entry?;
        let holder = match Name::parse(entry.file_name().to_bytes()) {
            _ if is_dots(entry.file_name()) => continue,
            Some(Name { kind: NameKind::Holder, number, generation: 0 }) if number < holders => {
                number
            }
            _ => return Ok(Some(foreign(entry.file_name()))),
        };
        directories += 1;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let directory = open_directory(kept.root.as_fd(), name)?;
        for entry in rustix::fs::Dir::read_from(&directory)? {
            let entry = entry?;
            match Name::parse(entry.file_name().to_bytes()) {
                _ if is_dots(entry.file_name()) => {}
                Some(Name { kind: NameKind::File, number, generation: 0 })
                    if number < tree.files && tree.holder_of(number) == holder =>
                {
                    files += 1;
                }
                _ => return Ok(Some(foreign(entry.file_name()))),
            }
        }
    }
    let lacking = tree.files - files;
    Ok(match (lacking, directories == holders) {
        (0, true) => None,
        (0, false) => Some("it lacks a directory".into()),
        _ => Some(format!("it lacks {}", counted(lacking, "file"))),
    })
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

fn foreign(name: &CStr) -> String {
    format!(
        "there is a {} in it that was not made with it",
        shown(OsStr::from_bytes(name.to_bytes()))
    )
}
