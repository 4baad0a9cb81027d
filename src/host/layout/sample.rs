//! Examines a random sample of the files of a tree: their sizes, the space they take, and where they lie.
//!
//! All directories are listed, in random order, which takes no request for each file; a reservoir keeps a uniform
//! sample of the names (Vitter, "Random sampling with a reservoir", 1985, algorithm R). Then the sampled files are
//! looked at, in random order, so that those seen until time is over are a uniform sample too.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, Stat};
use rustix::io::Errno as OsErrno;

use super::{FileLayout, layout_of};
use crate::base::errno::Errno;
use crate::base::random::{Stream, below, draw, shuffle};
use crate::host::open::open_to_look;
use crate::host::space::Space;

/// A path below the tree that is longer is left out.
const PATH_BYTES_MAX: usize = 1 << 16;

/// Directories that wait to be listed, at most.
const PENDING_MAX: usize = 1 << 20;

/// Bytes of a block of `st_blocks`.
const STAT_BLOCK_BYTES: u64 = 512;

/// Limits of a sample.
#[derive(Clone, Copy)]
pub struct SampleLimits<'a> {
    /// Files to look at, at most.
    pub files_most: usize,
    /// The same seed takes the same sample of the same tree.
    pub seed: u64,
    /// Asked before each entry of a directory; with the first no, listing ends.
    pub go_on_listing: &'a dyn Fn() -> bool,
    /// Asked before each file; with the first no, it ends.
    pub go_on: &'a dyn Fn() -> bool,
}

/// A regular file of the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledFile {
    /// Its size.
    pub size_bytes: u64,
    /// What it takes on the device.
    pub allocated_bytes: u64,
    /// Where it lies; `None` if it cannot be opened or asked.
    pub layout: Option<FileLayout>,
}

/// What was seen of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutSample {
    /// Regular files in the directories that were listed.
    pub files: u64,
    /// Entries of each directory that was listed to its end.
    pub directory_entries: Vec<u64>,
    /// The sample.
    pub sampled: Vec<SampledFile>,
    /// Directories that could not be listed.
    pub unreadable_directories: u64,
    /// Other file systems below, left out.
    pub mounts: u64,
    /// Listing ended before all directories were seen.
    pub is_listing_cut: bool,
    /// Fewer files were looked at than were drawn.
    pub is_look_cut: bool,
    /// Whether the file system tells where files lie.
    pub tells_places: bool,
}

/// Samples the tree below an open directory. It follows no link, crosses no mount, reads no content, and changes no
/// access time of what belongs to this user.
///
/// # Errors
/// What the system says of `directory` itself.
pub fn sample_below(
    directory: BorrowedFd<'_>,
    limits: SampleLimits<'_>,
) -> Result<LayoutSample, Errno> {
    let block_bytes = Space::of(directory)?.block_bytes;
    let root = open_to_look(directory, OsStr::new("."), OFlags::DIRECTORY)?;
    let found = LayoutSample { tells_places: true, ..LayoutSample::default() };
    let mut sampler = Sampler { root, limits, drawn: Vec::new(), pending: Vec::new(), found };
    sampler.list_all();
    sampler.look_at_drawn(block_bytes);
    Ok(sampler.found)
}

/// A name in a directory, whose path is from the root of the tree.
struct DrawnFile {
    directory: Vec<u8>,
    name: Vec<u8>,
}

struct Sampler<'a> {
    root: OwnedFd,
    limits: SampleLimits<'a>,
    drawn: Vec<DrawnFile>,
    /// Directories to be listed, as paths from the root.
    pending: Vec<Vec<u8>>,
    found: LayoutSample,
}

impl Sampler<'_> {
    fn list_all(&mut self) {
        self.pending.push(Vec::new());
        let mut turn = 0;
        while !self.pending.is_empty() && !self.found.is_listing_cut {
            let random = draw(self.limits.seed, Stream::TreeSample, turn);
            turn += 1;
            let next = self.pending.swap_remove(below(random, self.pending.len() as u64) as usize);
            match self.open_directory(&next).and_then(Dir::new) {
                Ok(opened) => self.list(&next, opened),
                Err(OsErrno::XDEV) => self.found.mounts += 1,
                // It was removed meanwhile.
                Err(OsErrno::NOENT) => {}
                Err(_) => self.found.unreadable_directories += 1,
            }
        }
    }

    /// One component after the other, so that no link is followed and no path is too long.
    fn open_directory(&self, path: &[u8]) -> rustix::io::Result<OwnedFd> {
        let mut names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        let root = open_to_look(self.root.as_fd(), OsStr::new("."), OFlags::DIRECTORY)?;
        names.try_fold(root, |parent, name| {
            open_to_look(parent.as_fd(), OsStr::from_bytes(name), OFlags::DIRECTORY)
        })
    }

    fn list(&mut self, path: &[u8], mut opened: Dir) {
        let mut entries = 0;
        loop {
            let entry = match opened.read() {
                None => break,
                Some(Ok(entry)) => entry,
                Some(Err(_)) => {
                    self.found.unreadable_directories += 1;
                    return;
                }
            };
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if !(self.limits.go_on_listing)() {
                self.found.is_listing_cut = true;
                return;
            }
            entries += 1;
            match kind(&opened, entry.file_type(), name) {
                FileType::Directory => self.put_off(path, name),
                FileType::RegularFile => self.draw(path, name),
                _ => {}
            }
        }
        self.found.directory_entries.push(entries);
    }

    fn put_off(&mut self, path: &[u8], name: &[u8]) {
        if path.len() + name.len() >= PATH_BYTES_MAX || self.pending.len() >= PENDING_MAX {
            self.found.is_listing_cut |= self.pending.len() >= PENDING_MAX;
            self.found.unreadable_directories += 1;
            return;
        }
        self.pending.push([path, b"/", name].concat());
    }

    fn draw(&mut self, path: &[u8], name: &[u8]) {
        let number = self.found.files;
        self.found.files += 1;
        let file = || DrawnFile { directory: path.to_vec(), name: name.to_vec() };
        if self.drawn.len() < self.limits.files_most {
            return self.drawn.push(file());
        }
        // Draws of files and of directories do not share their numbers.
        let random = draw(self.limits.seed ^ u64::MAX, Stream::TreeSample, number);
        let place = below(random, number + 1) as usize;
        if let Some(one) = self.drawn.get_mut(place) {
            *one = file();
        }
    }

    fn look_at_drawn(&mut self, block_bytes: u64) {
        let mut drawn = std::mem::take(&mut self.drawn);
        shuffle(&mut drawn, self.limits.seed, Stream::TreeSample, 1);
        for file in drawn {
            if !(self.limits.go_on)() {
                self.found.is_look_cut = true;
                return;
            }
            if let Ok(seen) = self.look(&file, block_bytes) {
                self.found.sampled.push(seen);
            }
        }
    }

    /// A file that is gone, is none now, or lies on another file system is an error.
    fn look(&mut self, file: &DrawnFile, block_bytes: u64) -> rustix::io::Result<SampledFile> {
        let parent = self.open_directory(&file.directory)?;
        let name = OsStr::from_bytes(&file.name);
        let opened = match open_to_look(parent.as_fd(), name, OFlags::empty()) {
            Ok(opened) => Some(opened),
            Err(error @ (OsErrno::NOENT | OsErrno::XDEV | OsErrno::LOOP)) => return Err(error),
            // Its attributes can be read all the same.
            Err(_) => None,
        };
        let stat = match &opened {
            Some(opened) => rustix::fs::fstat(opened)?,
            None => rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?,
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(OsErrno::INVAL);
        }
        let layout = match opened.map(|opened| layout_of(opened.as_fd(), block_bytes)) {
            Some(Ok(layout)) => Some(layout),
            Some(Err(Errno::EOPNOTSUPP)) => {
                self.found.tells_places = false;
                None
            }
            Some(Err(_)) | None => None,
        };
        Ok(sampled(&stat, layout))
    }
}

fn sampled(stat: &Stat, layout: Option<FileLayout>) -> SampledFile {
    let not_negative = |number: i64| u64::try_from(number).unwrap_or(0);
    SampledFile {
        size_bytes: not_negative(stat.st_size),
        allocated_bytes: not_negative(stat.st_blocks).saturating_mul(STAT_BLOCK_BYTES),
        layout,
    }
}

/// What an entry is; some file systems do not say it in their directories.
fn kind(directory: &Dir, stated: FileType, name: &[u8]) -> FileType {
    if stated != FileType::Unknown {
        return stated;
    }
    let asked = directory.fd().and_then(|parent| {
        rustix::fs::statat(parent, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)
    });
    asked.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}
