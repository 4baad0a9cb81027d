//! The layout score: the share of a file system's blocks that lie right after the block before
//! them in their file. 1 is a tree whose every file lies in one piece. After K. A. Smith and
//! M. I. Seltzer, "File System Aging: Increasing the Relevance of File System Benchmarks",
//! SIGMETRICS 1997.

mod extent;
mod fiemap;
mod walk;

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

use rustix::io::Errno as OsErrno;

use crate::base::errno::Errno;

pub use extent::{FileLayout, LeftOut};
pub use walk::{ScoreLimits, score_below};

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
    /// Files left out, by reason.
    pub skipped: BTreeMap<LeftOut, u64>,
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
        self.files + self.skipped.values().sum::<u64>()
    }

    /// Takes in one more file.
    pub fn add(&mut self, file: &FileLayout) {
        if let Some(reason) = file.left_out() {
            return self.skip(reason);
        }
        self.followed = self.followed.saturating_add(file.followed);
        self.pairs = self.pairs.saturating_add(file.pairs);
        self.files += 1;
        self.encoded += u64::from(file.encoded);
    }

    fn skip(&mut self, reason: LeftOut) {
        *self.skipped.entry(reason).or_default() += 1;
    }
}

/// How an open regular file lies on its device, in blocks of its file system. Nothing is written out
/// for it: sync first, or what has no place yet makes it `delayed`.
///
/// # Errors
/// `EOPNOTSUPP` where the file system does not report it, as tmpfs; what ioctl(2) says.
pub fn layout_of(file: BorrowedFd<'_>, block_bytes: u64) -> Result<FileLayout, Errno> {
    let mut counter = extent::Counter::new(block_bytes);
    match fiemap::each_extent(file, |extent| counter.take(extent)) {
        // What a file system says that has no such call at all.
        Err(error) if error == OsErrno::NOTTY.into() => Err(Errno::EOPNOTSUPP),
        told => told.map(|()| counter.finish()),
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
        let left_out: Vec<_> = all.skipped.into_iter().collect();
        assert_eq!(left_out, [(LeftOut::Short, 1), (LeftOut::Delayed, 1)]);
    }
}
