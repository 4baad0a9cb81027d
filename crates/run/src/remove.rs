//! Removes run directories, and trees in them: nothing else in boatload removes recursively. It goes down
//! by open directories, never through a link and never across a mount, and removes only names that
//! boatload gives; anything else stays and is reported.

use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno as OsErrno;

use super::kept_ballast::NOTE;
use super::run_directory::{
    CANARY, DISK, IMAGE, MARKER, MEMORY, MOUNT_POINT, Marker, RunDirectory, entries_of,
    open_directory, open_parent, write_new,
};
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files;
use boatload_base::names::{Name, NameKind, is_silly_name};
use boatload_base::patience::pause;
use boatload_base::units::counted;
use boatload_plan::tree::RankPart;

/// The result of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Files removed.
    pub files: u64,
    /// Directories removed.
    pub directories: u64,
    /// Paths that were left alone because boatload did not make them, shortened to the first few.
    pub left: Vec<String>,
    /// How often something was left alone; what a second reading meets again counts again.
    leavings: u64,
    /// Pauses made for files that are deleted and still open.
    pauses: u32,
}

/// The most pauses in one removal, and how long each is: who has a deleted file open gets two seconds to close it. FUSE tells
/// its server only after close(2) that a file is closed.
const PAUSES_MAX: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// How many paths left alone are named.
const LEFT_MAX: usize = 10;

/// Empties an open directory that this marker proves to be boatload's, and removes its entry, which was `name` in `parent`.
/// Where somebody has renamed it since, it is found, and what has its name now stays.
///
/// # Errors
/// If it had been renamed.
pub fn remove_proved(
    parent: BorrowedFd<'_>,
    directory: BorrowedFd<'_>,
    name: &OsStr,
    marker: &Marker,
) -> Result<Removal> {
    let mut removal = Removal::default();
    let place = RemovalScope { depth: 0, is_top: true };
    remove_entries(directory, &shown(name), place, &mut removal);
    let mut path = (!is_entry(parent, name, directory)).then(|| path_of(directory)).flatten();
    if removal.left.is_empty() {
        path = removal.remove_marked(parent, directory, name, marker).or(path);
    }
    let Some(path) = path else { return Ok(removal) };
    let end = match removal.left.is_empty() {
        true => "It was emptied and removed there".into(),
        false => format!("Not all of it could be removed: {}", removal.left.join(", ")),
    };
    let (name, path) = (shown(name), shown(path));
    Err(Failure::failed(format!(
        "the run's directory {name} was renamed to {path} while boatload used it. {end}. Whatever is called {name} now \
         is not this run's and stays"
    )))
}

/// Removes the directory of a run, or of a rank in it.
///
/// # Errors
/// If a run's marker proves nothing, so that nothing was touched; or if its directory had been renamed.
pub fn remove_own(directory: &RunDirectory) -> Result<Removal> {
    let name = OsStr::new(directory.name());
    if directory.is_of_rank() {
        return Ok(remove_tree(directory.parent(), name));
    }
    let refuse = |why: String| Failure::failed(format!("{} is left alone: {why}", shown(name)));
    let marker = directory.prove().map_err(refuse)?;
    remove_proved(directory.parent(), directory.directory(), name, &marker)
}

/// Where an open directory is by now; none once it is removed.
pub(super) fn path_of(directory: BorrowedFd<'_>) -> Option<PathBuf> {
    let path = files::path_of(directory)?;
    // The kernel says it so, and so can somebody call a directory.
    let is_removed = path.as_os_str().as_bytes().ends_with(b" (deleted)");
    (!is_removed || path.symlink_metadata().is_ok()).then_some(path)
}

/// Whether a name stands for an open directory.
fn is_entry(parent: BorrowedFd<'_>, name: &OsStr, directory: BorrowedFd<'_>) -> bool {
    let entry = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
    let held = rustix::fs::fstat(directory);
    let numbers = entry.ok().zip(held.ok());
    numbers.is_some_and(|(entry, held)| (entry.st_dev, entry.st_ino) == (held.st_dev, held.st_ino))
}

/// The entry of a directory that was renamed.
struct RenamedEntry {
    parent: OwnedFd,
    name: OsString,
    path: PathBuf,
}

impl RenamedEntry {
    /// `None` if it is not found, or was renamed again just now.
    fn of(directory: BorrowedFd<'_>) -> Option<Self> {
        let path = path_of(directory)?;
        let (parent, name) = (open_parent(path.parent()?).ok()?, path.file_name()?.to_owned());
        is_entry(parent.as_fd(), &name, directory).then_some(Self { parent, name, path })
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
    /// The removal of an empty directory.
    pub fn of_empty() -> Self {
        Self { directories: 1, ..Self::default() }
    }

    /// One that could not be done.
    pub fn failed(failure: Failure) -> Self {
        Self { left: vec![failure.sentence], leavings: 1, ..Self::default() }
    }

    /// Removes a directory that is empty but for its marker; gives where it was if somebody had renamed it. The marker goes last,
    /// and comes back if the directory stays: a removal that was cut short can be done again.
    fn remove_marked(
        &mut self,
        parent: BorrowedFd<'_>,
        directory: BorrowedFd<'_>,
        name: &OsStr,
        marker: &Marker,
    ) -> Option<PathBuf> {
        let mut path = None;
        let error = loop {
            let is_here = is_entry(parent, name, directory);
            let renamed = if is_here { None } else { RenamedEntry::of(directory) };
            let entry = match &renamed {
                Some(RenamedEntry { parent, name, .. }) => Some((parent.as_fd(), name.as_os_str())),
                None => is_here.then_some((parent, name)),
            };
            path = renamed.as_ref().map(|renamed| renamed.path.clone()).or(path);
            let removed = entry.map_or(Err(OsErrno::NOENT), |(parent, name)| {
                match rustix::fs::unlinkat(directory, MARKER, AtFlags::empty()) {
                    Ok(()) | Err(OsErrno::NOENT) => {}
                    other => return other,
                }
                rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
            });
            match removed {
                // What was removed can have been another empty one that had just taken its name.
                Ok(()) if path_of(directory).is_none() => {
                    self.directories += 1;
                    return path;
                }
                // Its marker may have the name of a deleted file, or it was just renamed.
                Ok(()) | Err(OsErrno::NOTEMPTY | OsErrno::NOENT | OsErrno::NOTDIR)
                    if self.pauses() => {}
                Ok(()) => break OsErrno::NOENT,
                Err(error) => break error,
            }
        };
        let _ = write_new(directory, MARKER, marker);
        let why = match error {
            OsErrno::NOENT => "its place is not known".into(),
            OsErrno::NOTEMPTY => "another process has its marker open".into(),
            error => error.to_string(),
        };
        self.leave(&shown(name), &why);
        path
    }

    /// Waits a little; false once it has waited long enough.
    fn pauses(&mut self) -> bool {
        let continues = self.pauses < PAUSES_MAX;
        if continues {
            self.pauses += 1;
            pause(PAUSE);
        }
        continues
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
            let place = RemovalScope { depth, is_top };
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
struct RemovalScope {
    /// How deep it is below a run's own, which is at 0.
    depth: usize,
    /// Whether trees of cells are in it.
    is_top: bool,
}

/// Removes what boatload made in an open directory. Some file systems skip entries while others
/// are removed, so it reads again until a reading removes nothing more, and files that are deleted and still
/// open are closed.
fn remove_entries(
    directory: BorrowedFd<'_>,
    path: &str,
    place: RemovalScope,
    removal: &mut Removal,
) {
    loop {
        let before = (removal.files, removal.directories);
        let mut left = LeftEntries::default();
        if let Err(error) = remove_pass(directory, path, place, removal, &mut left) {
            return removal.leave(path, &error.to_string());
        }
        for name in &left.deleted {
            // It goes if nobody has it open any more; else it stays, or comes back by another name.
            let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
        }
        let is_done = (removal.files, removal.directories) == before;
        if is_done && (left.deleted.is_empty() || !removal.pauses()) {
            return left.tell(path, removal);
        }
    }
}

/// What one reading of a directory could not remove.
#[derive(Default)]
struct LeftEntries {
    /// Names, each with the reason.
    others: Vec<(OsString, String)>,
    /// Files that were deleted while they were open.
    deleted: Vec<OsString>,
}

impl LeftEntries {
    fn tell(self, path: &str, removal: &mut Removal) {
        for (name, why) in self.others {
            removal.leave(&format!("{path}/{}", shown(&name)), &why);
        }
        if let Some(first) = self.deleted.first() {
            let why = format!(
                "{} that another process still has open",
                counted(self.deleted.len() as u64, "deleted file")
            );
            removal.leave(&format!("{path}/{}", shown(first)), &why);
        }
    }
}

fn remove_pass(
    directory: BorrowedFd<'_>,
    path: &str,
    place: RemovalScope,
    removal: &mut Removal,
    left: &mut LeftEntries,
) -> rustix::io::Result<()> {
    let RemovalScope { depth, is_top } = place;
    for entry in entries_of(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if depth == 0 && name.to_bytes() == MARKER.as_bytes() {
            continue;
        }
        let text = OsStr::from_bytes(name.to_bytes());
        let removed = verdict(directory, name, entry.file_type(), is_top).and_then(|verdict| {
            match verdict {
                OwnershipVerdict::File => {
                    rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
                    removal.files += 1;
                }
                OwnershipVerdict::Directory => {
                    remove_directory(directory, text, depth + 1, path, removal);
                }
                OwnershipVerdict::DeletedFile => left.deleted.push(text.to_owned()),
                OwnershipVerdict::Foreign => {
                    left.others.push((text.to_owned(), "boatload did not make it".into()));
                }
            }
            Ok(())
        });
        // One that is not there any more was closed, or another rank was quicker.
        match removed {
            Ok(()) | Err(OsErrno::NOENT) => {}
            Err(error) => left.others.push((text.to_owned(), error.to_string())),
        }
    }
    Ok(())
}

enum OwnershipVerdict {
    File,
    Directory,
    /// It was deleted while it was open, and has another name until it is closed.
    DeletedFile,
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
        _ if is_silly_name(name.to_bytes()) => NameKind::File,
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
        (false, FileType::RegularFile) if is_silly_name(name.to_bytes()) => {
            OwnershipVerdict::DeletedFile
        }
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
