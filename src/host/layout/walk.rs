//! The score of all files below a directory, up to a bound.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, OFlags};

use super::{LayoutScore, LeftOut, layout_of};
use crate::base::errno::Errno;
use crate::host::open::open_to_look;
use crate::host::space::Space;

/// Directories below directories that are gone into: as many stay open at once.
const DEPTH_MOST: usize = 64;

/// How far to look.
#[derive(Clone, Copy)]
pub struct ScoreLimits<'a> {
    /// Files to look at, at most.
    pub files_most: u64,
    /// Asked before each entry of a directory; it ends with the first no.
    pub go_on: &'a dyn Fn() -> bool,
}

/// The score of the regular files below an open directory, in the order in which directories name
/// them, the first ones if there are more than the bound allows. It follows no link, crosses no
/// mount, and changes no access time of what belongs to this user.
///
/// # Errors
/// `EOPNOTSUPP` where the file system does not tell where files lie, as tmpfs; what the system
/// says of `directory` itself. What cannot be read below it is counted as unreadable.
pub fn score_below(
    directory: BorrowedFd<'_>,
    bound: ScoreLimits<'_>,
) -> Result<LayoutScore, Errno> {
    let block_bytes = Space::of(directory)?.block_bytes;
    let mut walk = LayoutWalk { block_bytes, score: LayoutScore::default(), open: Vec::new() };
    let root = open_to_look(directory, OsStr::new("."), OFlags::DIRECTORY)?;
    walk.open.push(Dir::new(root)?);
    while let Some(deepest) = walk.open.last_mut() {
        match deepest.read() {
            Some(Ok(entry)) => walk.visit(&entry, bound)?,
            // The rest of this directory cannot be read.
            Some(Err(_)) => {
                walk.score.skip(LeftOut::Unreadable);
                walk.open.pop();
            }
            None => drop(walk.open.pop()),
        }
    }
    Ok(walk.score)
}

struct LayoutWalk {
    block_bytes: u64,
    score: LayoutScore,
    open: Vec<Dir>,
}

impl LayoutWalk {
    fn visit(&mut self, entry: &DirEntry, bound: ScoreLimits<'_>) -> Result<(), Errno> {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            return Ok(());
        }
        let kind = self.kind(entry, name);
        let full = kind == FileType::RegularFile && self.score.seen() >= bound.files_most;
        if full || !(bound.go_on)() {
            self.score.cut = true;
            self.open.clear();
            return Ok(());
        }
        match kind {
            FileType::Directory => self.enter(name),
            FileType::RegularFile => return self.look(name),
            _ => {}
        }
        Ok(())
    }

    fn parent(&self) -> rustix::io::Result<BorrowedFd<'_>> {
        self.open.last().map_or(Err(rustix::io::Errno::BADF), Dir::fd)
    }

    /// What an entry is; some file systems do not say it in their directories.
    fn kind(&self, entry: &DirEntry, name: &OsStr) -> FileType {
        let asked = || {
            let stat = rustix::fs::statat(self.parent()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok::<_, rustix::io::Errno>(FileType::from_raw_mode(stat.st_mode))
        };
        match entry.file_type() {
            FileType::Unknown => asked().unwrap_or(FileType::Unknown),
            told => told,
        }
    }

    fn enter(&mut self, name: &OsStr) {
        let opened = self.parent().and_then(|p| open_to_look(p, name, OFlags::DIRECTORY));
        match opened.and_then(Dir::new) {
            Ok(directory) if self.open.len() < DEPTH_MOST => self.open.push(directory),
            // Another file system is no part of this score.
            Err(rustix::io::Errno::XDEV) => {}
            _ => self.score.skip(LeftOut::Unreadable),
        }
    }

    fn look(&mut self, name: &OsStr) -> Result<(), Errno> {
        let opened = self.parent().and_then(|p| open_to_look(p, name, OFlags::empty()));
        let regular = |file: &OwnedFd| {
            let stat = rustix::fs::fstat(file);
            stat.is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::RegularFile)
        };
        match opened.ok().filter(regular).map(|file| layout_of(file.as_fd(), self.block_bytes)) {
            Some(Ok(layout)) => self.score.add(&layout),
            Some(Err(Errno::EOPNOTSUPP)) => return Err(Errno::EOPNOTSUPP),
            Some(Err(_)) | None => self.score.skip(LeftOut::Unreadable),
        }
        Ok(())
    }
}
