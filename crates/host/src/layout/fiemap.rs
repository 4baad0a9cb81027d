//! Finds where a file lies on its device, by `FS_IOC_FIEMAP` (Linux's
//! Documentation/filesystems/fiemap.rst). Asking writes nothing out and reads no content.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use boatload_base::errno::Errno;

/// The last extent of its file.
pub(super) const LAST: u32 = 0x0001;
/// The place is not known, or not yet.
pub(super) const UNKNOWN: u32 = 0x0002;
/// Written and not yet placed; sets `UNKNOWN`.
pub(super) const DELALLOC: u32 = 0x0004;
/// What lies on the device is not what the file holds: compressed.
pub(super) const ENCODED: u32 = 0x0008;
/// Not in whole blocks. Also set for data among metadata and for tails of several files in a block.
pub(super) const NOT_ALIGNED: u32 = 0x0100;
/// Among metadata; sets `NOT_ALIGNED`.
pub(super) const DATA_INLINE: u32 = 0x0200;
/// In a block with the tails of other files; sets `NOT_ALIGNED`.
pub(super) const DATA_TAIL: u32 = 0x0400;
/// Put together for the answer by a file system that keeps no extents.
pub(super) const MERGED: u32 = 0x1000;

/// One run of a file's bytes on the device, in bytes, with the flags of linux/fiemap.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) logical: u64,
    pub(super) physical: u64,
    pub(super) length: u64,
    pub(super) flags: u32,
}

impl Extent {
    pub(super) fn has(self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// Whether `next` begins where this one ends. A hole between them in the file is no break: it
    /// has no block, and a reader finds the next one under its head all the same. How long
    /// compressed data is on the device is not told, only that it is no longer than in the file:
    /// what begins within that length follows.
    pub(super) fn leads_to(self, next: Extent) -> bool {
        let end = self.physical.saturating_add(self.length);
        match self.has(ENCODED) {
            true => (self.physical..=end).contains(&next.physical),
            false => end == next.physical,
        }
    }
}

/// Extents that one call brings.
const EXTENTS: usize = 128;

/// `struct fiemap` of linux/fiemap.h without its array.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent` of linux/fiemap.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct WireExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with its array.
#[repr(C)]
struct Map {
    header: Header,
    extents: [WireExtent; EXTENTS],
}

/// `_IOWR('f', 11, struct fiemap)`; the array does not count in the size.
const FS_IOC_FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);

/// Gives every extent of an open file to `take`, in the order of the file.
///
/// # Errors
/// `EOPNOTSUPP` or `ENOTTY` where the file system does not tell, and what ioctl(2) says otherwise.
pub(super) fn each_extent(file: BorrowedFd<'_>, mut take: impl FnMut(Extent)) -> Result<(), Errno> {
    let mut start = 0;
    loop {
        let map = ask(file, start)?;
        let mapped = (map.header.mapped_extents as usize).min(EXTENTS);
        let extents = &map.extents[..mapped];
        for wire in extents {
            let WireExtent { logical, physical, length, flags, .. } = *wire;
            take(Extent { logical, physical, length, flags });
        }
        // Without a next place to ask from, a file that changes meanwhile could keep this loop running for ever.
        let next = extents.last().map(|last| last.logical.saturating_add(last.length));
        match next.filter(|next| *next > start && !extents.iter().any(|e| e.flags & LAST != 0)) {
            Some(next) => start = next,
            None => return Ok(()),
        }
    }
}

fn ask(file: BorrowedFd<'_>, start: u64) -> Result<Map, Errno> {
    let header = Header {
        start,
        length: u64::MAX - start,
        extent_count: EXTENTS as u32,
        ..Header::default()
    };
    let mut map = Map { header, extents: [WireExtent::default(); EXTENTS] };
    // SAFETY: the call takes a `struct fiemap` followed by `extent_count` extents, which is `Map`,
    // and writes nowhere else.
    let asked = unsafe { Updater::<FS_IOC_FIEMAP, Map>::new(&mut map) };
    // SAFETY: as above; the file is open for as long as it is borrowed.
    unsafe { ioctl(file, asked) }?;
    Ok(map)
}
