//! Measures free space on a file system, and whether a plan fits into it.

use std::os::fd::BorrowedFd;
use std::path::Path;

use crate::base::errno::Errno;
use crate::base::failure::{Failure, shown};
use crate::base::units::{bytes, grouped};
use crate::plan::space::Need;

/// The most that is kept free, in bytes.
const RESERVE_MOST_BYTES: u64 = 1 << 30;

/// Room on a file system, in bytes and inodes, as df shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Size of an allocation block, in bytes.
    pub block_bytes: u64,
    /// Its size, in bytes.
    pub total_bytes: u64,
    /// Bytes not in use, those kept for root included.
    pub free_bytes: u64,
    /// Bytes an ordinary user may still use.
    pub available_bytes: u64,
    /// Inodes an ordinary user may still make; none where they are made as needed (btrfs).
    pub available_inodes: Option<u64>,
}

/// Space and inodes that a file system has in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes; none where its size is not told.
    pub bytes: Option<u64>,
    /// Inodes; none where they are not counted (btrfs).
    pub inodes: Option<u64>,
}

impl Usage {
    /// The usage of the file system a descriptor lies on (statvfs(3)).
    pub fn of(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        let stat = rustix::fs::fstatvfs(fd)?;
        let space = Space::of(fd)?;
        let inodes = (stat.f_files > 0).then(|| stat.f_files.saturating_sub(stat.f_ffree));
        Ok(Self { bytes: (space.total_bytes > 0).then(|| space.used_bytes()), inodes })
    }
}

impl Space {
    /// The room on the file system a descriptor lies on (statvfs(3)).
    pub fn of(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        let stat = rustix::fs::fstatvfs(fd)?;
        let block_bytes = if stat.f_frsize > 0 { stat.f_frsize } else { stat.f_bsize };
        Ok(Self {
            block_bytes,
            total_bytes: stat.f_blocks.saturating_mul(block_bytes),
            free_bytes: stat.f_bfree.saturating_mul(block_bytes),
            available_bytes: stat.f_bavail.saturating_mul(block_bytes),
            available_inodes: (stat.f_files > 0).then_some(stat.f_favail),
        })
    }

    /// The same for users, who hear what was asked where it cannot be told.
    pub fn left(fd: BorrowedFd<'_>) -> Result<Self, Failure> {
        let told = |error: Errno| Failure::from_system("ask how much space is left", error.about());
        Self::of(fd).map_err(told)
    }

    /// What boatload leaves free on a file system that is not its own, in bytes: 5% or 1 GiB,
    /// the smaller.
    pub fn reserve_bytes(&self) -> u64 {
        (self.total_bytes / 20).min(RESERVE_MOST_BYTES)
    }

    /// Bytes in use, also those of the file system itself.
    pub fn used_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.free_bytes)
    }

    /// Bytes that are in use or may be, without what is kept for root: the whole of which df counts the share.
    pub fn reachable_bytes(&self) -> u64 {
        self.used_bytes().saturating_add(self.available_bytes)
    }

    /// How full it is, as df counts: used / (used + available), from 0 to 1; 0 if it has no size.
    ///
    /// Sync before asking. Only ext4 tells the same before a sync and after it. xfs counts space it
    /// has set aside beside files that grow, twice what was written at worst, and frees what was
    /// deleted in the background; btrfs counts what was written and frees what was deleted only
    /// with its next commit, which syncfs(2) waits for. What is available on btrfs is an estimate:
    /// free space in chunks of data, and unallocated space divided by the copies the profile keeps;
    /// it falls to 0 when metadata can no longer grow, whatever is free for data.
    pub fn used_fraction(&self) -> f64 {
        let used = self.used_bytes() as f64;
        let reachable = used + self.available_bytes as f64;
        if reachable > 0.0 { used / reachable } else { 0.0 }
    }

    /// The share of all blocks that are in use, from 0 to 1; 0 if it has no size. Blocks kept for root
    /// are free until root uses them.
    pub fn blocks_used_fraction(&self) -> f64 {
        if self.total_bytes > 0 { self.used_bytes() as f64 / self.total_bytes as f64 } else { 0.0 }
    }

    /// Why `need` does not fit below `dir` with `reserve_bytes` left over; none if it fits. The
    /// reserve is [`Space::reserve_bytes`], or 0 where filling the file system is the point.
    pub fn shortfall(&self, need: Need, reserve_bytes: u64, dir: &Path) -> Option<Failure> {
        let mut lacking = Vec::new();
        let wanted_bytes = need.bytes.saturating_add(reserve_bytes);
        if wanted_bytes > self.available_bytes {
            lacking.push(self.lacking_bytes(need.bytes, reserve_bytes));
        }
        if let Some(inodes) = self.available_inodes.filter(|inodes| need.inodes > *inodes) {
            lacking.push(format!(
                "it needs {} inodes (one for each file and directory) and {} are left",
                grouped(need.inodes),
                grouped(inodes)
            ));
        }
        (!lacking.is_empty()).then(|| {
            Failure::failed(format!(
                "the run does not fit on the file system of {}: {}. Nothing was written. Choose a \
                 smaller --scale or fewer files with --set, make room, or name another directory \
                 with --dir.",
                shown(dir),
                lacking.join("; ")
            ))
        })
    }

    fn lacking_bytes(&self, need: u64, reserve: u64) -> String {
        let available = bytes(self.available_bytes);
        let short = bytes(need.saturating_add(reserve) - self.available_bytes);
        match reserve {
            0 => format!("it needs {} and {available} are available ({short} short)", bytes(need)),
            _ => format!(
                "it needs {}, {} more stay free as a reserve, and {available} are available \
                 ({short} short)",
                bytes(need),
                bytes(reserve)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// An ext4 image of 4 GiB, which has 262,144 inodes.
    const IMAGE: Space = Space {
        block_bytes: 4096,
        total_bytes: 4 * GIB,
        free_bytes: 4 * GIB,
        available_bytes: 4 * GIB - 200 * (1 << 20),
        available_inodes: Some(262_133),
    };

    fn sentence(space: Space, bytes: u64, inodes: u64) -> Option<String> {
        let need = Need { bytes, inodes };
        space.shortfall(need, space.reserve_bytes(), Path::new("/mnt/x")).map(|f| f.sentence)
    }

    #[test]
    fn the_reserve_is_five_percent_and_never_more_than_a_gibibyte() {
        assert_eq!(IMAGE.reserve_bytes(), 4 * GIB / 20);
        assert_eq!(Space { total_bytes: 100 * GIB, ..IMAGE }.reserve_bytes(), GIB);
    }

    #[test]
    fn a_share_is_of_what_a_user_can_reach() {
        let used = |used_bytes, available_bytes| {
            let free_bytes = 100 * GIB - used_bytes;
            Space { total_bytes: 100 * GIB, free_bytes, available_bytes, ..IMAGE }.used_fraction()
        };
        assert_eq!(used(0, 100 * GIB), 0.0);
        assert_eq!(used(50 * GIB, 50 * GIB), 0.5);
        assert_eq!(used(95 * GIB, 0), 1.0, "what is kept for root counts as used");
        let kept = Space { total_bytes: 100 * GIB, free_bytes: 5 * GIB, ..IMAGE };
        assert_eq!(kept.blocks_used_fraction(), 0.95, "what is kept for root is free");
        assert_eq!(Space::default().blocks_used_fraction(), 0.0);
        assert_eq!(Space::default().used_fraction(), 0.0);
        let all = Space { total_bytes: u64::MAX, available_bytes: u64::MAX, ..Space::default() };
        assert_eq!(all.used_fraction(), 0.5, "no overflow");
    }

    #[test]
    fn what_fits_fits_and_one_byte_more_does_not() {
        let room = IMAGE.available_bytes - IMAGE.reserve_bytes();
        assert_eq!(sentence(IMAGE, room, 262_133), None);
        assert!(sentence(IMAGE, room + 1, 0).is_some());
        let filling = IMAGE.shortfall(Need { bytes: room + 1, inodes: 0 }, 0, Path::new("/"));
        assert_eq!(filling, None, "without a reserve it fits");
    }

    #[test]
    fn three_hundred_thousand_files_lack_inodes_where_bytes_abound() {
        let text = sentence(IMAGE, GIB, 300_009).unwrap();
        assert!(text.contains("/mnt/x: it needs 300,009 inodes"), "{text}");
        assert!(text.contains("262,133 are left") && !text.contains("reserve"), "{text}");
    }

    #[test]
    fn bytes_and_inodes_are_told_together() {
        let text = sentence(IMAGE, 5 * GIB, 300_009).unwrap();
        assert!(text.contains("it needs 5.00 GiB, 205 MiB more stay free as a reserve"), "{text}");
        assert!(text.contains("3.80 GiB are available (1.40 GiB short); it needs"), "{text}");
    }

    #[test]
    fn no_inode_limit_means_no_inode_trouble() {
        assert_eq!(sentence(Space { available_inodes: None, ..IMAGE }, 1, u64::MAX), None);
    }

    #[test]
    fn needs_beyond_all_measure_do_not_overflow() {
        assert!(sentence(IMAGE, u64::MAX, u64::MAX).is_some());
    }
}
