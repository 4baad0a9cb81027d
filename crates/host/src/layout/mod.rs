//! Computes the layout score: the share of a file system's blocks that lie right after the block before
//! them in their file; 1 if every file is in one piece. After K. A. Smith and M. I. Seltzer, "File System
//! Aging: Increasing the Relevance of File System Benchmarks", SIGMETRICS 1997.

mod fiemap;

use self::fiemap::{
    DATA_INLINE, DATA_TAIL, DELALLOC, ENCODED, Extent, LAST, MERGED, NOT_ALIGNED, UNKNOWN,
};

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, OFlags};
use rustix::io::Errno as OsErrno;

use crate::open::open_to_look;
use crate::space::Space;
use boatload_base::errno::Errno;

/// The layout of many files. Pairs are summed over them, so that a large file weighs more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutScore {
    /// Pairs of neighbouring blocks that are neighbours on the device too.
    pub followed: u64,
    /// Pairs of neighbouring blocks.
    pub pairs: u64,
    /// Files that have such pairs.
    pub files: u64,
    /// Those among them that are compressed, wholly or in part.
    pub encoded: u64,
    /// Files left out: those of one block or none, among metadata, or not placed yet, and what could not be read.
    pub left_out: u64,
    /// Whether it ended before all was seen: there may be more files than these.
    pub cut: bool,
}

impl LayoutScore {
    /// From 0 to 1; none without a pair of blocks.
    pub fn score(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.followed as f64 / self.pairs as f64)
    }

    /// Files looked at, those left out included.
    pub fn seen(&self) -> u64 {
        self.files + self.left_out
    }

    /// Takes in one more file.
    pub fn add(&mut self, file: &FileLayout) {
        if !file.counts() {
            self.left_out += 1;
            return;
        }
        self.followed = self.followed.saturating_add(file.followed);
        self.pairs = self.pairs.saturating_add(file.pairs);
        self.files += 1;
        self.encoded += u64::from(file.encoded);
    }
}

/// How an open regular file lies on its device, in blocks of its file system. Nothing is written out
/// for it: sync first, or what has no place yet makes it `delayed`.
///
/// # Errors
/// `EOPNOTSUPP` where the file system does not report it, as tmpfs; what ioctl(2) says.
pub fn layout_of(file: BorrowedFd<'_>, block_bytes: u64) -> Result<FileLayout, Errno> {
    let mut counter = ExtentCounter::new(block_bytes);
    match fiemap::each_extent(file, |extent| counter.take(extent)) {
        // What a file system says that has no such call at all.
        Err(error) if error == OsErrno::NOTTY.into() => Err(Errno::EOPNOTSUPP),
        result => result.map(|()| counter.layout),
    }
}

/// A run of a file's bytes in whole blocks of its own, as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Where the file system reports it to be, in bytes.
    pub physical: u64,
    /// Its length, in bytes.
    pub length: u64,
}

/// Gives each run of an open file's bytes to `take` that lies in blocks of its own. What has no place yet, is
/// compressed, shared with other files or among metadata, or was never written, is left out.
///
/// # Errors
/// As [`layout_of`].
pub fn file_extents(file: BorrowedFd<'_>, mut take: impl FnMut(FileExtent)) -> Result<(), Errno> {
    fiemap::each_extent(file, |extent| {
        if extent.flags & !(LAST | MERGED) == 0 && extent.physical > 0 {
            let Extent { logical: offset, physical, length, .. } = extent;
            take(FileExtent { offset, physical, length });
        }
    })
}

/// The layout of one file on its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileLayout {
    /// Pairs of neighbouring blocks that are neighbours on the device too.
    pub followed: u64,
    /// Pairs of neighbouring blocks of the file.
    pub pairs: u64,
    /// Runs of blocks on the device that the kernel named, inline ones left out.
    pub extents: u64,
    /// Some of it has no place on the device yet.
    pub delayed: bool,
    /// Some of it is compressed; there only the steps from extent to extent count as pairs.
    pub encoded: bool,
}

impl FileLayout {
    /// Whether it counts in a score. A file that is not placed whole is left out whole: the end of its last block is still to
    /// come.
    pub fn counts(&self) -> bool {
        self.pairs > 0 && !self.delayed
    }
}

/// Takes in a file's extents one by one.
struct ExtentCounter {
    block_bytes: u64,
    before: Option<Extent>,
    layout: FileLayout,
}

impl ExtentCounter {
    fn new(block_bytes: u64) -> Self {
        Self { block_bytes: block_bytes.max(1), before: None, layout: FileLayout::default() }
    }

    fn take(&mut self, extent: Extent) {
        if extent.has(UNKNOWN | DELALLOC) {
            self.layout.delayed = true;
        } else if extent.has(NOT_ALIGNED | DATA_INLINE | DATA_TAIL) {
            // It lies in no block of its own.
        } else if extent.physical == 0 {
            // The first block of a device holds no file: the file system says nothing of the place.
            self.layout.delayed = true;
        } else if extent.length > 0 {
            self.count(extent);
        }
    }

    fn count(&mut self, extent: Extent) {
        let layout = &mut self.layout;
        layout.extents += 1;
        if extent.has(ENCODED) {
            layout.encoded = true;
        } else {
            let inside = extent.length.div_ceil(self.block_bytes) - 1;
            layout.pairs = layout.pairs.saturating_add(inside);
            layout.followed = layout.followed.saturating_add(inside);
        }
        if let Some(before) = self.before.replace(extent) {
            layout.pairs = layout.pairs.saturating_add(1);
            layout.followed = layout.followed.saturating_add(before.leads_to(extent).into());
        }
    }
}

/// Directories below directories that are gone into: as many stay open at once.
const DEPTH_MOST: usize = 64;

/// Limits of the search for files.
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
                walk.score.left_out += 1;
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
        self.open.last().map_or(Err(OsErrno::BADF), Dir::fd)
    }

    /// What an entry is; some file systems do not say it in their directories.
    fn kind(&self, entry: &DirEntry, name: &OsStr) -> FileType {
        let asked = || {
            let stat = rustix::fs::statat(self.parent()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok::<_, OsErrno>(FileType::from_raw_mode(stat.st_mode))
        };
        match entry.file_type() {
            FileType::Unknown => asked().unwrap_or(FileType::Unknown),
            result => result,
        }
    }

    fn enter(&mut self, name: &OsStr) {
        let opened = self.parent().and_then(|p| open_to_look(p, name, OFlags::DIRECTORY));
        match opened.and_then(Dir::new) {
            Ok(directory) if self.open.len() < DEPTH_MOST => self.open.push(directory),
            // Another file system is no part of this score.
            Err(OsErrno::XDEV) => {}
            _ => self.score.left_out += 1,
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
            Some(Err(_)) | None => self.score.left_out += 1,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_over_all_blocks_and_says_what_it_left_out() {
        let mut all = LayoutScore::default();
        assert_eq!(all.score(), None);
        all.add(&FileLayout { followed: 95, pairs: 96, ..FileLayout::default() });
        all.add(&FileLayout { followed: 0, pairs: 4, encoded: true, ..FileLayout::default() });
        all.add(&FileLayout::default());
        all.add(&FileLayout { followed: 9, pairs: 9, delayed: true, ..FileLayout::default() });
        assert_eq!(all.score(), Some(0.95));
        assert_eq!((all.files, all.encoded, all.seen()), (2, 1, 4));
        assert_eq!(all.left_out, 2, "a file of no block, and one that is not placed yet");
    }
}

#[cfg(test)]
mod extent_tests {
    use super::*;

    const BLOCK: u64 = 4096;

    /// Unwritten, shared, merged, encrypted: allocated like any other.
    const HARMLESS: [u32; 4] = [0x0800, 0x2000, 0x1000, 0x0080];

    /// Extents given as (first block in the file, first block on the device, blocks, flags).
    fn layout(extents: &[(u64, u64, u64, u32)]) -> FileLayout {
        let mut counter = ExtentCounter::new(BLOCK);
        for (logical, physical, blocks, flags) in extents {
            counter.take(Extent {
                logical: logical * BLOCK,
                physical: physical * BLOCK,
                length: blocks * BLOCK,
                flags: *flags,
            });
        }
        counter.layout
    }

    fn pairs(extents: &[(u64, u64, u64, u32)]) -> (u64, u64) {
        let layout = layout(extents);
        assert!(layout.counts(), "{extents:?}");
        (layout.followed, layout.pairs)
    }

    #[test]
    fn the_first_block_has_none_before_it_and_all_others_count() {
        assert_eq!(pairs(&[(0, 100, 8, LAST)]), (7, 7));
        assert_eq!(pairs(&[(0, 100, 4, 0), (4, 200, 4, LAST)]), (6, 7));
        assert_eq!(pairs(&[(0, 9, 1, 0), (1, 5, 1, 0), (2, 7, 1, LAST)]), (0, 2));
    }

    #[test]
    fn two_extents_that_touch_on_the_device_are_as_good_as_one() {
        assert_eq!(pairs(&[(0, 100, 4, 0), (4, 104, 4, LAST)]), (7, 7));
        assert_eq!(pairs(&[(0, 104, 4, 0), (4, 100, 4, LAST)]), (6, 7), "backwards is a jump");
    }

    #[test]
    fn a_file_of_one_block_or_none_says_nothing() {
        for short in [&[(0, 100, 1, LAST)][..], &[]] {
            assert!(!layout(short).counts());
        }
    }

    #[test]
    fn a_hole_is_no_break_unless_blocks_lie_between() {
        assert_eq!(pairs(&[(0, 100, 4, 0), (50, 104, 4, LAST)]), (7, 7));
        assert_eq!(pairs(&[(0, 100, 4, 0), (50, 150, 4, LAST)]), (6, 7));
    }

    #[test]
    fn space_that_is_unwritten_shared_merged_or_encrypted_counts_as_any_other() {
        for flags in HARMLESS {
            assert_eq!(pairs(&[(0, 10, 3, flags), (3, 20, 2, flags | LAST)]), (3, 4), "{flags:#x}");
        }
    }

    #[test]
    fn a_file_that_is_not_placed_whole_is_delayed() {
        for flags in [DELALLOC | UNKNOWN, UNKNOWN] {
            let half = layout(&[(0, 100, 8, 0), (8, 0, 8, flags | LAST)]);
            assert!(half.delayed && !half.counts(), "{flags:#x}");
        }
        let nowhere = layout(&[(0, 0, 8, 0), (8, 8, 8, LAST)]);
        assert!(!nowhere.counts(), "offsets in the file, as of SMB");
    }

    #[test]
    fn data_without_a_block_of_its_own_is_inline_and_blocks_beside_it_count() {
        for flags in [NOT_ALIGNED, DATA_INLINE | NOT_ALIGNED, DATA_TAIL | NOT_ALIGNED] {
            let inline = layout(&[(0, 0, 1, flags | LAST)]);
            assert_eq!((inline.counts(), inline.extents), (false, 0));
            let tail = layout(&[(0, 100, 4, 0), (4, 7, 1, flags | LAST)]);
            assert_eq!((tail.counts(), tail.followed, tail.pairs), (true, 3, 3));
        }
    }

    #[test]
    fn of_compressed_data_only_the_steps_between_extents_count() {
        let at = |physical: [u64; 3]| {
            let [a, b, c] = physical;
            layout(&[(0, a, 32, ENCODED), (32, b, 32, ENCODED), (64, c, 32, ENCODED | LAST)])
        };
        let packed = at([100, 103, 135]);
        assert_eq!((packed.followed, packed.pairs, packed.encoded), (2, 2, true));
        assert_eq!(at([100, 103, 136]).followed, 1, "further than its length in the file");
        assert_eq!(at([100, 103, 50]).followed, 1, "backwards");
        let one = layout(&[(0, 100, 32, ENCODED | LAST)]);
        assert!(!one.counts());
        let mixed = layout(&[(0, 100, 32, ENCODED), (32, 110, 8, LAST)]);
        assert_eq!((mixed.followed, mixed.pairs), (8, 8));
    }

    #[test]
    fn extents_beyond_all_measure_do_not_overflow() {
        let mut counter = ExtentCounter::new(0);
        for flags in [0, ENCODED, 0, 0] {
            counter.take(Extent { logical: 0, physical: u64::MAX, length: u64::MAX, flags });
        }
        assert_eq!(counter.layout.pairs, u64::MAX);
    }
}
