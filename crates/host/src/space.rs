//! Measures free space on a file system, and whether a plan fits into it.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use boatload_base::errno::Errno;
use boatload_base::failure::{Failure, shown};
use boatload_base::files::place_of;
use boatload_base::units::{bytes, grouped};
use boatload_plan::space::Need;

/// The most that is kept free, in bytes.
const RESERVE_MOST_BYTES: u64 = 1 << 30;

/// At most this part of the space is left where it is called full, or so many blocks: file systems keep a few for their
/// own metadata.
const LACK_SHARE: u64 = 200;
const LACK_BLOCKS: u64 = 16;

/// `EXT4_SUPER_MAGIC` of linux/magic.h, which ext2 and ext3 share.
const EXT: u64 = 0xef53;

/// Describes a size that a file system does not state.
pub const UNSTATED: &str = "a size that the file system does not state";

/// Room on a file system, in bytes and inodes, as df shows it. All is 0 where the file system states no size: ramfs, tmpfs
/// without a limit, and many on FUSE answer statfs(2) with 0 of 0 blocks.
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
    /// Inodes an ordinary user may still make; `None` where they are made as needed (btrfs).
    pub available_inodes: Option<u64>,
    /// Inodes in use; `None` where they are not counted (btrfs).
    pub used_inodes: Option<u64>,
    /// Whether it is an ext2, ext3 or ext4, whose directories have an index that may be full.
    pub has_indexes: bool,
}

impl Space {
    /// The room on the file system a descriptor lies on (fstatfs(2)).
    pub fn of(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        let stat = rustix::fs::fstatfs(fd)?;
        let block_bytes = if stat.f_frsize > 0 { stat.f_frsize } else { stat.f_bsize } as u64;
        Ok(Self {
            block_bytes,
            total_bytes: stat.f_blocks.saturating_mul(block_bytes),
            free_bytes: stat.f_bfree.saturating_mul(block_bytes),
            available_bytes: stat.f_bavail.saturating_mul(block_bytes),
            available_inodes: (stat.f_files > 0).then_some(stat.f_ffree),
            used_inodes: (stat.f_files > 0).then(|| stat.f_files.saturating_sub(stat.f_ffree)),
            has_indexes: stat.f_type as u64 == EXT,
        })
    }

    /// The same for users: the failure names the call and the directory.
    pub fn read(fd: BorrowedFd<'_>) -> Result<Self, Failure> {
        let doing = || format!("ask how much space is left at {} (fstatfs)", place_of(fd));
        Self::of(fd).map_err(|error| Failure::from_system(doing(), error.about()))
    }

    /// Whether the file system states how large it is.
    pub fn is_stated(&self) -> bool {
        self.total_bytes > 0
    }

    /// How much is free, in words.
    pub fn words(&self) -> String {
        let Self { available_bytes, total_bytes, .. } = self;
        match self.is_stated() {
            true => format!("{} of {} free", bytes(*available_bytes), bytes(*total_bytes)),
            false => UNSTATED.into(),
        }
    }

    /// What `ENOSPC` says on a file system with this room: bytes and inodes run out, and so does the index of a
    /// directory.
    pub fn lack(&self) -> SpaceLack {
        let left_bytes = self.available_bytes;
        let nearly_none = (self.total_bytes / LACK_SHARE).max(LACK_BLOCKS * self.block_bytes);
        match self.available_inodes {
            _ if !self.is_stated() => SpaceLack::Unstated,
            Some(0) => SpaceLack::Inodes { left_bytes },
            _ if left_bytes <= nearly_none => SpaceLack::Space { left_bytes },
            _ if self.has_indexes => SpaceLack::Index { left_bytes },
            _ => SpaceLack::Metadata { left_bytes },
        }
    }

    /// What boatload leaves free on a file system that is not its own, in bytes: 5% or 1 GiB,
    /// the smaller.
    pub fn reserve_bytes(&self) -> u64 {
        (self.total_bytes / 20).min(RESERVE_MOST_BYTES)
    }

    /// Bytes in use, also by the file system itself.
    pub fn used_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.free_bytes)
    }

    /// Bytes that are in use or may be, without what is kept for root: the total of the share that df shows.
    pub fn reachable_bytes(&self) -> u64 {
        self.used_bytes().saturating_add(self.available_bytes)
    }

    /// How full it is, as df counts: used / (used + available), from 0 to 1; `None` if it states no size.
    ///
    /// Sync before asking. Only ext4 tells the same before a sync and after it. xfs counts space it
    /// has set aside beside files that grow, twice what was written at worst, and frees what was
    /// deleted in the background; btrfs counts what was written and frees what was deleted only
    /// with its next commit, which syncfs(2) waits for. What is available on btrfs is an estimate:
    /// free space in chunks of data, and unallocated space divided by the copies the profile keeps;
    /// it falls to 0 when metadata can no longer grow, whatever is free for data.
    pub fn used_fraction(&self) -> Option<f64> {
        let used = self.used_bytes() as f64;
        let reachable = used + self.available_bytes as f64;
        (reachable > 0.0).then(|| used / reachable)
    }

    /// The same in percent, where it is to be filled.
    ///
    /// # Errors
    /// If it states no size.
    pub fn used_percent(&self, directory: &Path) -> Result<f64, Failure> {
        let used = self.used_fraction().map(|share| share * 100.0);
        used.ok_or_else(|| {
            Failure::failed(format!(
                "cannot fill the file system of {} up to a share: it states no size (statfs gives 0 of 0 blocks). \
                 Nothing was written. Name a directory on another one with --dir",
                shown(directory)
            ))
        })
    }

    /// The share of all blocks that are in use, from 0 to 1; `None` if it states no size. Blocks kept for root
    /// are free until root uses them.
    pub fn blocks_used_fraction(&self) -> Option<f64> {
        self.is_stated().then(|| self.used_bytes() as f64 / self.total_bytes as f64)
    }

    /// Why `need` does not fit below `dir` with `reserve_bytes` left over; `None` if it fits. The
    /// reserve is [`Space::reserve_bytes`], or 0 where filling the file system is the point.
    pub fn shortfall(&self, need: Need, reserve_bytes: u64, dir: &Path) -> Option<Failure> {
        let lacking = self.lacking(need, reserve_bytes)?;
        Some(Failure::failed(format!(
            "the run does not fit on the file system of {}: {lacking}. Nothing was written. Choose a \
             smaller --scale or fewer files with --set, make room, or name another directory \
             with --dir.",
            shown(dir)
        )))
    }

    /// What of `need` is not there, in words; `None` if all is.
    pub fn lacking(&self, need: Need, reserve_bytes: u64) -> Option<String> {
        let wanted_bytes = need.bytes.saturating_add(reserve_bytes);
        let lacks_bytes = self.is_stated() && wanted_bytes > self.available_bytes;
        let lacking_bytes = lacks_bytes.then(|| self.lacking_bytes(need.bytes, reserve_bytes));
        let lacking_inodes =
            self.available_inodes.filter(|inodes| need.inodes > *inodes).map(|inodes| {
                let [needed, left] = [need.inodes, inodes].map(grouped);
                format!(
                    "it needs {needed} inodes (one for each file and directory) and {left} are left"
                )
            });
        let all: Vec<String> = lacking_bytes.into_iter().chain(lacking_inodes).collect();
        (!all.is_empty()).then(|| all.join("; "))
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

/// What a file system lacks that answers with `ENOSPC`, and the bytes that are left on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum SpaceLack {
    /// It does not state how large it is.
    Unstated,
    /// Inodes.
    Inodes {
        /// Bytes that are left.
        left_bytes: u64,
    },
    /// Space.
    Space {
        /// Bytes that are left.
        left_bytes: u64,
    },
    /// Room in the index of a directory.
    Index {
        /// Bytes that are left.
        left_bytes: u64,
    },
    /// A quota is used up, or the space for its own metadata.
    Metadata {
        /// Bytes that are left.
        left_bytes: u64,
    },
}

impl fmt::Display for SpaceLack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, left_bytes) = match *self {
            Self::Unstated => return f.write_str("no space, or no inodes"),
            Self::Inodes { left_bytes } => ("no inodes, although", left_bytes),
            Self::Space { left_bytes } => ("no space:", left_bytes),
            Self::Index { left_bytes } => {
                ("the index of a directory is full, although", left_bytes)
            }
            Self::Metadata { left_bytes } => {
                ("a quota or the file system's own metadata is full, although", left_bytes)
            }
        };
        let is_index = matches!(self, Self::Index { .. });
        let why = if is_index { ": it has two levels without the feature large_dir" } else { "" };
        write!(f, "{what} {} are left{why}", bytes(left_bytes))
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
        used_inodes: Some(11),
        has_indexes: true,
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
        assert_eq!(used(0, 100 * GIB), Some(0.0));
        assert_eq!(used(50 * GIB, 50 * GIB), Some(0.5));
        assert_eq!(used(95 * GIB, 0), Some(1.0), "what is kept for root counts as used");
        let kept = Space { total_bytes: 100 * GIB, free_bytes: 5 * GIB, ..IMAGE };
        assert_eq!(kept.blocks_used_fraction(), Some(0.95), "what is kept for root is free");
        let all = Space { total_bytes: u64::MAX, available_bytes: u64::MAX, ..Space::default() };
        assert_eq!(all.used_fraction(), Some(0.5), "no overflow");
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
    fn a_file_system_that_states_no_size_is_neither_full_nor_too_small() {
        let unstated = Space { block_bytes: 4096, ..Space::default() };
        assert_eq!(sentence(unstated, u64::MAX, u64::MAX), None);
        assert_eq!((unstated.used_fraction(), unstated.blocks_used_fraction()), (None, None));
        let refused = unstated.used_percent(Path::new("/mnt/x")).unwrap_err().sentence;
        assert!(refused.contains("/mnt/x") && refused.contains("0 of 0 blocks"), "{refused}");
        assert_eq!(unstated.words(), UNSTATED);
    }

    #[test]
    fn an_enospc_is_of_bytes_of_inodes_or_of_the_index_of_a_directory() {
        let of = |available_bytes, available_inodes| {
            Space { available_bytes, available_inodes, ..IMAGE }.lack().to_string()
        };
        assert_eq!(of(GIB, Some(0)), "no inodes, although 1.00 GiB are left");
        assert_eq!(of(4096, Some(9)), "no space: 4.00 KiB are left");
        assert!(of(GIB, Some(9)).starts_with("the index of a directory is full"));
        let other = Space { has_indexes: false, ..IMAGE };
        assert!(matches!(other.lack(), SpaceLack::Metadata { .. }), "{}", other.lack());
        assert_eq!(Space::default().lack(), SpaceLack::Unstated);
    }

    #[test]
    fn needs_beyond_all_measure_do_not_overflow() {
        assert!(sentence(IMAGE, u64::MAX, u64::MAX).is_some());
    }
}
