//! Finds where a file lies on its device, by `FS_IOC_FIEMAP` (Linux's
//! Documentation/filesystems/fiemap.rst). Asking writes nothing out and reads no content.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use super::{Extent, LAST};
use crate::base::errno::Errno;

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
        // Without a next place to ask from, a file that changes meanwhile could go on for ever.
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
