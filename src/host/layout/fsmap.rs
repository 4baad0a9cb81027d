//! Finds the free extents of a mounted file system, by `FS_IOC_GETFSMAP` (ioctl_getfsmap(2)). ext4 and
//! xfs answer. For it they read the maps by which they allocate.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use crate::base::errno::{Errno, ErrnoResult};

/// Records that one call brings.
const RECORDS: usize = 256;

/// The owner of a record is a code, not an inode.
const SPECIAL_OWNER: u32 = 0x10;
/// The last record of the file system.
const LAST: u32 = 0x20;
/// The code of free space.
const OWN_FREE: u64 = 1;

/// `struct fsmap` of linux/fsmap.h.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MapRecord {
    device: u32,
    flags: u32,
    physical: u64,
    owner: u64,
    offset: u64,
    length: u64,
    reserved: [u64; 3],
}

impl MapRecord {
    /// Beyond all records.
    const HIGHEST: Self = Self {
        device: u32::MAX,
        flags: u32::MAX,
        physical: u64::MAX,
        owner: u64::MAX,
        offset: u64::MAX,
        length: 0,
        reserved: [0; 3],
    };

    fn is_free(&self) -> bool {
        self.flags & SPECIAL_OWNER != 0 && self.owner == OWN_FREE
    }
}

/// `struct fsmap_head` of linux/fsmap.h without its array.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct MapHead {
    flags_in: u32,
    flags_out: u32,
    count: u32,
    entries: u32,
    reserved: [u64; 6],
    keys: [MapRecord; 2],
}

/// `struct fsmap_head` with its array.
#[repr(C)]
struct SpaceMap {
    head: MapHead,
    records: [MapRecord; RECORDS],
}

/// `_IOWR('X', 59, struct fsmap_head)`; the array does not count in the size.
const FS_IOC_GETFSMAP: Opcode = opcode::read_write::<MapHead>(b'X', 59);

/// The free extents of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeExtents {
    /// How many there are.
    pub extents: u64,
    /// Bytes in all of them.
    pub bytes: u64,
    /// Bytes in the largest one.
    pub largest_bytes: u64,
    /// Bytes in free extents of at least 1 MiB.
    pub large_bytes: u64,
}

/// A free extent of this size or more is large, in bytes.
const LARGE_EXTENT_BYTES: u64 = 1 << 20;

impl FreeExtents {
    /// The free extents of the file system that `fd` is on. Sync before asking.
    ///
    /// # Errors
    /// `EOPNOTSUPP` or `ENOTTY` where the file system does not tell, as btrfs and tmpfs; `ENODATA` where it
    /// answers with nothing, neither free nor in use.
    pub fn of(fd: BorrowedFd<'_>) -> ErrnoResult<Self> {
        let mut map = Box::new(SpaceMap {
            head: MapHead::default(),
            records: [MapRecord::default(); RECORDS],
        });
        map.head.count = RECORDS as u32;
        map.head.keys[1] = MapRecord::HIGHEST;
        let (mut counter, mut seen) = (FreeExtentCounter::default(), 0);
        loop {
            // SAFETY: the call takes a `struct fsmap_head` followed by `count` records, which is
            // `SpaceMap`, and writes nowhere else.
            let asked = unsafe { Updater::<FS_IOC_GETFSMAP, SpaceMap>::new(&mut map) };
            // SAFETY: as above; the file is open for as long as it is borrowed.
            unsafe { ioctl(fd, asked) }?;
            let records = &map.records[..(map.head.entries as usize).min(RECORDS)];
            records.iter().for_each(|record| counter.take(record));
            seen += records.len();
            // What comes next is asked for by the last record that came.
            let next = records.last().filter(|last| last.flags & LAST == 0).copied();
            match next.filter(|next| *next != map.head.keys[0]) {
                Some(next) => map.head.keys[0] = next,
                None if seen == 0 => return Err(Errno(libc::ENODATA)),
                None => return Ok(counter.finish()),
            }
        }
    }

    /// Mean size, in bytes; none without free space.
    pub fn mean_bytes(&self) -> Option<f64> {
        (self.extents > 0).then(|| self.bytes as f64 / self.extents as f64)
    }

    /// Share of the free space that is in large extents, from 0 to 1; none without free space.
    pub fn large_share(&self) -> Option<f64> {
        (self.bytes > 0).then(|| self.large_bytes as f64 / self.bytes as f64)
    }
}

/// Counts free extents; what a file system reports in two parts that touch is one.
#[derive(Default)]
struct FreeExtentCounter {
    all: FreeExtents,
    device: u32,
    end: u64,
    /// Length of the extent that the next record may continue.
    length: u64,
}

impl FreeExtentCounter {
    fn take(&mut self, record: &MapRecord) {
        if !record.is_free() {
            return;
        }
        if self.length == 0 || (self.device, self.end) != (record.device, record.physical) {
            self.end_extent();
        }
        self.length = self.length.saturating_add(record.length);
        (self.device, self.end) = (record.device, record.physical.saturating_add(record.length));
    }

    fn end_extent(&mut self) {
        let length = std::mem::take(&mut self.length);
        self.all.extents += u64::from(length > 0);
        self.all.bytes = self.all.bytes.saturating_add(length);
        self.all.largest_bytes = self.all.largest_bytes.max(length);
        if length >= LARGE_EXTENT_BYTES {
            self.all.large_bytes = self.all.large_bytes.saturating_add(length);
        }
    }

    fn finish(mut self) -> FreeExtents {
        self.end_extent();
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    /// Free extents of records given as (device, first byte, length, owner).
    fn counted(records: &[(u32, u64, u64, u64)]) -> FreeExtents {
        let mut counter = FreeExtentCounter::default();
        for (device, physical, length, owner) in records.iter().copied() {
            let flags = if owner < 100 { SPECIAL_OWNER } else { 0 };
            let record =
                MapRecord { device, flags, physical, owner, length, ..MapRecord::default() };
            counter.take(&record);
        }
        counter.finish()
    }

    #[test]
    fn only_free_space_counts_and_parts_that_touch_are_one_extent() {
        let found = counted(&[
            (1, 0, 4 * KIB, 2),
            (1, 4 * KIB, 600 * KIB, OWN_FREE),
            (1, 604 * KIB, 500 * KIB, OWN_FREE),
            (1, 1104 * KIB, 96 * KIB, 131),
            (1, 1200 * KIB, 100 * KIB, OWN_FREE),
        ]);
        let (largest_bytes, large_bytes) = (1100 * KIB, 1100 * KIB);
        let bytes = 1200 * KIB;
        assert_eq!(found, FreeExtents { extents: 2, bytes, largest_bytes, large_bytes });
        assert_eq!(found.mean_bytes(), Some((600 * KIB) as f64));
        assert!((found.large_share().unwrap() - 11.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn extents_of_two_devices_never_touch() {
        let found = counted(&[(1, 0, KIB, OWN_FREE), (2, KIB, KIB, OWN_FREE)]);
        assert_eq!((found.extents, found.largest_bytes), (2, KIB));
    }

    #[test]
    fn an_inode_of_the_number_of_free_space_is_no_free_space_and_a_full_place_has_no_mean() {
        let mut counter = FreeExtentCounter::default();
        counter.take(&MapRecord { owner: OWN_FREE, length: KIB, ..MapRecord::default() });
        let full = counter.finish();
        assert_eq!((full.extents, full.mean_bytes(), full.large_share()), (0, None, None));
    }

    #[test]
    fn sizes_beyond_all_measure_do_not_overflow() {
        let huge = [(1, 0, u64::MAX, OWN_FREE), (1, u64::MAX, u64::MAX, OWN_FREE)];
        assert_eq!(counted(&huge).bytes, u64::MAX);
    }
}
