//! Removes run directories, and trees in them: nothing else in boatload removes recursively. It goes down
//! by open directories, never through a link and never across a mount, and removes only names that
//! boatload gives; anything else stays and is reported.

use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno as OsErrno;

use super::kept_ballast::NOTE;
use super::run_directory::{
    CANARY, DISK, IMAGE, MARKER, MEMORY, MOUNT_POINT, RunDirectory, may_be_run_directory,
    open_directory, prove,
};
use crate::base::failure::{Failure, Result, shown};
use crate::base::names::{Name, NameKind};
use crate::plan::tree::RankPart;

/// The result of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Files removed.
    pub files: u64,
    /// Directories removed.
    pub directories: u64,
    /// Paths that were left alone because boatload did not make them, shortened to the first few.
    pub left: Vec<String>,
    /// How often something was left alone; what is met again in a second reading counts again.
    leavings: u64,
}

/// How many paths left alone are named.
const LEFT_MAX: usize = 10;

/// Removes a run directory that its marker proves to be boatload's.
///
/// # Errors
/// If the marker proves nothing; then nothing was touched.
pub fn remove_run_directory(parent: BorrowedFd<'_>, name: &OsStr) -> Result<Removal> {
    let refuse = |why: String| Failure::failed(format!("{} is left alone: {why}", shown(name)));
    if !may_be_run_directory(name) {
        return Err(refuse("it is not named as boatload names its directories".into()));
    }
    let directory = open_directory(parent, name).map_err(|error| refuse(error.to_string()))?;
    prove(directory.as_fd(), name).map_err(refuse)?;
    let mut removal = Removal::default();
    let place = RemovedPlace { depth: 0, is_top: true };
    remove_entries(directory.as_fd(), &shown(name), place, &mut removal);
    if removal.left.is_empty() {
        // The marker goes last: a removal that was cut short can be done again.
        let marker = rustix::fs::unlinkat(&directory, MARKER, AtFlags::empty());
        let all = marker.and_then(|()| rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR));
        match all {
            Ok(()) => removal.directories += 1,
            Err(error) => removal.leave(&shown(name), &error.to_string()),
        }
    }
    Ok(removal)
}

/// Removes the directory of a run, or of a rank in it.
///
/// # Errors
/// If a run's marker proves nothing; then nothing was touched.
pub fn remove_own(directory: &RunDirectory) -> Result<Removal> {
    let name = OsStr::new(directory.name());
    match directory.is_of_rank() {
        true => Ok(remove_tree(directory.parent(), name)),
        false => remove_run_directory(directory.parent(), name),
    }
}

/// Removes what one rank made in a directory that ranks share, at a path below an open one. What stays is met again by rank 0,
/// which removes the tree.
pub fn remove_of_rank(root: BorrowedFd<'_>, path: &[u8], part: RankPart) {
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    let mut below = None;
    for name in names {
        let parent = below.as_ref().map_or(root, AsFd::as_fd);
        let Ok(opened) = open_directory(parent, OsStr::from_bytes(name)) else { return };
        below = Some(opened);
    }
    let directory = below.as_ref().map_or(root, AsFd::as_fd);
    let Ok(entries) = Dir::read_from(directory) else { return };
    for entry in entries.map_while(|entry| entry.ok()) {
        let name = entry.file_name();
        let is_own = |known: Name| {
            matches!(known.kind, NameKind::File | NameKind::Directory) && part.has(known.number)
        };
        if !Name::parse(name.to_bytes()).is_some_and(is_own) {
            continue;
        }
        let flags = match verdict(directory, name, entry.file_type(), false) {
            Ok(OwnershipVerdict::File) => AtFlags::empty(),
            Ok(OwnershipVerdict::Directory) => AtFlags::REMOVEDIR,
            _ => continue,
        };
        let _ = rustix::fs::unlinkat(directory, name, flags);
    }
}

/// Removes the tree of a rank, a cell or a ballast, whose directory boatload made below its own.
pub fn remove_tree(run_directory: BorrowedFd<'_>, name: &OsStr) -> Removal {
    let mut removal = Removal::default();
    remove_directory(run_directory, name, 1, "", &mut removal);
    removal
}

impl Removal {
    /// That of an empty directory.
    pub fn of_empty() -> Self {
        Self { directories: 1, ..Self::default() }
    }

    /// One that could not be done.
    pub fn failed(failure: Failure) -> Self {
        Self { left: vec![failure.sentence], leavings: 1, ..Self::default() }
    }

    /// Removes one name below an open directory that only boatload writes to; one that is not there
    /// any more was removed by someone else.
    pub fn unlink(&mut self, directory: BorrowedFd<'_>, path: &CStr, flags: AtFlags) {
        match rustix::fs::unlinkat(directory, path, flags) {
            Ok(()) if flags.contains(AtFlags::REMOVEDIR) => self.directories += 1,
            Ok(()) => self.files += 1,
            Err(OsErrno::NOENT) => {}
            Err(error) => self.leave(&path.to_string_lossy(), &error.to_string()),
        }
    }

    pub(super) fn leave(&mut self, path: &str, why: &str) {
        self.leavings += 1;
        let one = format!("{path} ({why})");
        if self.left.len() < LEFT_MAX && !self.left.contains(&one) {
            self.left.push(one);
        }
    }
}

/// The most directories below each other that boatload makes in its own: a path in a tree has at most 255 bytes,
/// and a name 11. Deeper ones are somebody else's, and would take descriptors and stack without end.
const DEPTH_MAX: usize = 32;

/// Removes a directory that is so deep in a run's.
fn remove_directory(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    depth: usize,
    above: &str,
    removal: &mut Removal,
) {
    let path = format!("{above}/{}", shown(name));
    let before = removal.leavings;
    if depth > DEPTH_MAX {
        return removal.leave(&path, "it is deeper than boatload makes directories");
    }
    // What a rank works in is as a run's directory without a marker.
    let is_top =
        depth == 1 && Name::parse(name.as_bytes()).is_some_and(|name| name.kind == NameKind::Rank);
    match open_directory(parent, name) {
        Ok(directory) => {
            let place = RemovedPlace { depth, is_top };
            remove_entries(directory.as_fd(), &path, place, removal);
        }
        Err(OsErrno::NOENT) => return,
        Err(error) => return removal.leave(&path, &error.to_string()),
    }
    if removal.leavings > before {
        return;
    }
    match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) => removal.directories += 1,
        // Another rank was quicker.
        Err(OsErrno::NOENT) => {}
        Err(error) => removal.leave(&path, &error.to_string()),
    }
}

/// A directory in which is removed.
#[derive(Clone, Copy)]
struct RemovedPlace {
    /// How deep it is below a run's own, which is at 0.
    depth: usize,
    /// Whether trees of cells are in it.
    is_top: bool,
}

/// Removes what boatload made in an open directory. Some file systems skip entries while others
/// are removed, so it reads again until a reading removes nothing more.
fn remove_entries(
    directory: BorrowedFd<'_>,
    path: &str,
    place: RemovedPlace,
    removal: &mut Removal,
) {
    loop {
        let before = (removal.files, removal.directories);
        let mut left = Vec::new();
        if let Err(error) = remove_pass(directory, path, place, removal, &mut left) {
            return removal.leave(path, &error.to_string());
        }
        if (removal.files, removal.directories) == before {
            for (name, why) in left {
                removal.leave(&format!("{path}/{}", shown(&name)), &why);
            }
            return;
        }
    }
}

fn remove_pass(
    directory: BorrowedFd<'_>,
    path: &str,
    place: RemovedPlace,
    removal: &mut Removal,
    left: &mut Vec<(OsString, String)>,
) -> rustix::io::Result<()> {
    let RemovedPlace { depth, is_top } = place;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..")
            || (depth == 0 && name.to_bytes() == MARKER.as_bytes())
        {
            continue;
        }
        let text = OsStr::from_bytes(name.to_bytes());
        match verdict(directory, name, entry.file_type(), is_top) {
            Ok(OwnershipVerdict::File) => {
                match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
                    Ok(()) => removal.files += 1,
                    Err(OsErrno::NOENT) => {}
                    Err(error) => left.push((text.to_owned(), error.to_string())),
                }
            }
            Ok(OwnershipVerdict::Directory) => {
                remove_directory(directory, text, depth + 1, path, removal);
            }
            Ok(OwnershipVerdict::Foreign) => {
                left.push((text.to_owned(), "boatload did not make it".into()));
            }
            Err(error) => left.push((text.to_owned(), error.to_string())),
        }
    }
    Ok(())
}

enum OwnershipVerdict {
    File,
    Directory,
    Foreign,
}

/// Whether an entry has a name that boatload gives and is what that name stands for.
fn verdict(
    directory: BorrowedFd<'_>,
    name: &CStr,
    listed: FileType,
    is_top: bool,
) -> rustix::io::Result<OwnershipVerdict> {
    let is_one_of =
        |names: &[&str]| is_top && names.iter().any(|own| own.as_bytes() == name.to_bytes());
    let kind = match Name::parse(name.to_bytes()) {
        _ if is_one_of(&[CANARY, NOTE, IMAGE]) => NameKind::File,
        _ if is_one_of(&[MOUNT_POINT, MEMORY, DISK]) => NameKind::Cell,
        Some(known) if is_top == known.kind.is_at_top() => known.kind,
        _ => return Ok(OwnershipVerdict::Foreign),
    };
    let found = match listed {
        // Not every file system says what an entry is when it lists it.
        FileType::Unknown => {
            let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(stat.st_mode)
        }
        known => known,
    };
    Ok(match (kind.is_directory(), found) {
        (true, FileType::Directory) => OwnershipVerdict::Directory,
        (false, FileType::RegularFile) => OwnershipVerdict::File,
        _ => OwnershipVerdict::Foreign,
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn of_a_directory_that_ranks_share_one_removes_its_own_files_and_follows_no_link() {
        let place = tempfile::tempdir().unwrap();
        let (tree, outside) = (place.path().join("tree"), place.path().join("outside"));
        let named = |kind: NameKind, number: u64| format!("{}{number:010}", char::from(kind as u8));
        let file = |number| named(NameKind::File, number);
        fs::create_dir(&tree).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(tree.join(file(0)), "own").unwrap();
        fs::create_dir(tree.join(named(NameKind::Directory, 2))).unwrap();
        fs::write(tree.join(file(1)), "of the other rank").unwrap();
        fs::write(tree.join("notes"), "of somebody").unwrap();
        fs::write(outside.join(file(0)), "of somebody").unwrap();
        symlink(outside.join(file(0)), tree.join(file(2))).unwrap();
        fs::create_dir(tree.join(file(4))).unwrap();
        symlink(&outside, tree.join(named(NameKind::Holder, 0))).unwrap();

        let (root, part) = (File::open(&tree).unwrap(), RankPart { rank: 0, ranks: 2 });
        for path in ["", &named(NameKind::Holder, 0)] {
            remove_of_rank(root.as_fd(), path.as_bytes(), part);
        }
        let names = fs::read_dir(&tree).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        left.sort();
        let holder = named(NameKind::Holder, 0);
        assert_eq!(left, [file(1), file(2), file(4), holder, "notes".into()]);
        assert!(outside.join(file(0)).exists());
    }
}
