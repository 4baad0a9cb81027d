//! Flushes the page cache of a block device, and wipes the signatures of what was on it.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::fs::Advice;

use boatload_base::errno::{Errno, ErrnoResult};
use boatload_base::failure::{Failure, Result};

use super::ioctl;
pub use super::ioctl::{discard, discard_free};
use super::signatures::{described, signatures};

const MIB: u64 = 1 << 20;

/// At the start most file systems and all partition tables have their signature, at the end some
/// have another one.
const START_BYTES: u64 = MIB;
const END_BYTES: u64 = MIB;

/// Where btrfs keeps copies of its superblock beyond the start (`btrfs_sb_offset` of Linux).
const BTRFS_COPIES_AT: [u64; 2] = [64 * MIB, 256 << 30];
const BTRFS_COPY_BYTES: u64 = 4096;

/// Writes out and drops the page cache of the device itself, such as what mkfs wrote; cached files on
/// it stays. A page that the kernel is using may stay too: only a look into the cache proves that
/// none does.
///
/// # Errors
/// `EACCES` without `CAP_SYS_ADMIN`.
pub fn flush_buffers(device: BorrowedFd<'_>) -> ErrnoResult<()> {
    ioctl::flush_buffers(device)?;
    // The second way looks again at what the first could not drop.
    rustix::fs::fadvise(device, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Overwrites every place of a signature on a device of this size that is open for writing, discards all that is on it, and
/// makes sure that no signature is left.
///
/// # Errors
/// If it cannot be written, or a signature is still found.
pub fn wipe(device: BorrowedFd<'_>, bytes: u64) -> Result<()> {
    let failed = |error: Errno| Failure::from_system("wipe the device", error.about());
    let zero_places = || {
        let mut places = signature_places(bytes).into_iter();
        places.try_for_each(|(from, length)| zero(device, from, length)).map_err(failed)?;
        rustix::fs::fsync(device).map_err(|error| failed(error.into()))
    };
    zero_places()?;
    // It may take long, be ended, or not be supported; what it leaves to be read is not said.
    let _ = discard(device, bytes);
    zero_places()?;
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

/// Where signatures may be, as offsets and lengths in bytes. They may overlap on a small device.
fn signature_places(bytes: u64) -> Vec<(u64, u64)> {
    let ends = [(0, START_BYTES), (bytes.saturating_sub(END_BYTES), END_BYTES)];
    let copies = BTRFS_COPIES_AT.map(|at| (at, BTRFS_COPY_BYTES));
    let clipped = |(from, length): (u64, u64)| (from, length.min(bytes.saturating_sub(from)));
    ends.into_iter().chain(copies).map(clipped).filter(|(_, length)| *length > 0).collect()
}

/// Reads all places where signatures may be: one that cannot be read is not known to be empty.
///
/// # Errors
/// Of the device, or if it ends early.
pub fn read_signature_places(device: &File, bytes: u64) -> std::io::Result<()> {
    let mut places = signature_places(bytes).into_iter();
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
    fn what_ends_before_a_signature_could_stand_is_not_read_as_empty() {
        let device = tempfile::tempfile().unwrap();
        device.set_len(2 * MIB).unwrap();
        assert!(read_signature_places(&device, 2 * MIB).is_ok());
        assert!(read_signature_places(&device, 2 * MIB + 512).is_err());
    }

    #[test]
    fn signatures_are_looked_for_at_both_ends_and_at_the_copies_that_fit() {
        let end = |bytes| (bytes - MIB, MIB);
        assert_eq!(signature_places(10 * MIB), [(0, MIB), end(10 * MIB)]);
        let copy = (64 * MIB, BTRFS_COPY_BYTES);
        assert_eq!(signature_places(65 * MIB), [(0, MIB), end(65 * MIB), copy]);
        assert_eq!(signature_places(64 * MIB + 512)[2], (64 * MIB, 512));
        assert_eq!(signature_places(1 << 40).len(), 4);
        assert_eq!(signature_places(512), [(0, 512), (0, 512)]);
        assert_eq!(signature_places(0), []);
    }
}
