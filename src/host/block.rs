//! Flushes an open block device, and wipes the marks of file systems off it.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::fs::Advice;

use crate::base::errno::{Errno, ErrnoResult};
use crate::base::failure::{Failure, Result};

use super::ioctl;
pub use super::ioctl::discard;
use super::signatures::{described, signatures};

const MIB: u64 = 1 << 20;

/// At the start most file systems and all partition tables have their mark, at the end some have
/// another one.
const START_BYTES: u64 = MIB;
const END_BYTES: u64 = MIB;

/// Where btrfs keeps copies of its superblock beyond the start (`btrfs_sb_offset` of Linux).
const COPIES_AT: [u64; 2] = [64 * MIB, 256 << 30];
const COPY_BYTES: u64 = 4096;

/// Writes and drops what the page cache has of the device itself: of what mkfs wrote, say. What is
/// cached of files on it stays. A page that the kernel handles just then may stay too: a proof takes
/// a look into the cache.
///
/// # Errors
/// `EACCES` without `CAP_SYS_ADMIN`.
pub fn flush_buffers(device: BorrowedFd<'_>) -> ErrnoResult<()> {
    ioctl::flush_buffers(device)?;
    // The second way looks again at what the first could not drop.
    rustix::fs::fadvise(device, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Takes every mark of a file system off a device of this size that is open for writing, and makes
/// sure that none is left.
///
/// # Errors
/// If it cannot be written, or a mark is still found.
pub fn wipe(device: BorrowedFd<'_>, bytes: u64) -> Result<()> {
    let failed = |error: Errno| Failure::from_system("wipe the device", error.about());
    // Where that is not supported the marks are overwritten all the same.
    let _ = discard(device, bytes);
    for (from, length) in marked_places(bytes) {
        zero(device, from, length).map_err(failed)?;
    }
    rustix::fs::fsync(device).map_err(|error| failed(error.into()))?;
    flush_buffers(device).map_err(failed)?;
    let own = std::process::id();
    let path = PathBuf::from(format!("/proc/{own}/fd/{}", device.as_raw_fd()));
    match signatures(&path)?.as_slice() {
        [] => Ok(()),
        left => Err(Failure::failed(format!(
            "the device still has {} after it was wiped",
            described(left)
        ))),
    }
}

/// Where marks may be: from where, and how many bytes. They may overlap on a small device.
fn marked_places(bytes: u64) -> Vec<(u64, u64)> {
    let ends = [(0, START_BYTES), (bytes.saturating_sub(END_BYTES), END_BYTES)];
    let copies = COPIES_AT.map(|at| (at, COPY_BYTES));
    let clipped = |(from, length): (u64, u64)| (from, length.min(bytes.saturating_sub(from)));
    ends.into_iter().chain(copies).map(clipped).filter(|(_, length)| *length > 0).collect()
}

/// Reads all places where marks may be: what cannot be read cannot be told to be empty.
///
/// # Errors
/// Of the device, or if it ends early.
pub fn read_marked_places(device: &File, bytes: u64) -> std::io::Result<()> {
    let mut places = marked_places(bytes).into_iter();
    places.try_for_each(|(from, length)| device.read_exact_at(&mut vec![0; length as usize], from))
}

fn zero(device: BorrowedFd<'_>, from: u64, length: u64) -> ErrnoResult<()> {
    let zeroes = vec![0; length as usize];
    let mut done = 0;
    while done < zeroes.len() {
        match rustix::io::pwrite(device, &zeroes[done..], from + done as u64) {
            Ok(0) => return Err(Errno::EIO),
            Ok(written) => done += written,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_before_a_mark_could_stand_is_not_read_as_empty() {
        let device = tempfile::tempfile().unwrap();
        device.set_len(2 * MIB).unwrap();
        assert!(read_marked_places(&device, 2 * MIB).is_ok());
        assert!(read_marked_places(&device, 2 * MIB + 512).is_err());
    }

    #[test]
    fn marks_are_looked_for_at_both_ends_and_at_the_copies_that_fit() {
        let end = |bytes| (bytes - MIB, MIB);
        assert_eq!(marked_places(10 * MIB), [(0, MIB), end(10 * MIB)]);
        let copy = (64 * MIB, COPY_BYTES);
        assert_eq!(marked_places(65 * MIB), [(0, MIB), end(65 * MIB), copy]);
        assert_eq!(marked_places(64 * MIB + 512)[2], (64 * MIB, 512));
        assert_eq!(marked_places(1 << 40).len(), 4);
        assert_eq!(marked_places(512), [(0, 512), (0, 512)]);
        assert_eq!(marked_places(0), []);
    }
}
