//! Wraps the ioctl(2) requests for block and loop devices in safe functions.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::ffi::{c_int, c_ulong};
use std::os::fd::{AsRawFd, BorrowedFd};

use linux_raw_sys::ioctl::{BLKDISCARD, BLKFLSBUF, BLKGETSIZE64, BLKROGET, FITRIM};
use linux_raw_sys::loop_device::{
    LOOP_CLR_FD, LOOP_CONFIGURE, LOOP_CTL_GET_FREE, LOOP_GET_STATUS64, LOOP_SET_BLOCK_SIZE,
    LOOP_SET_DIRECT_IO, LOOP_SET_FD, LOOP_SET_STATUS64, loop_config, loop_info64,
};

use boatload_base::errno::{Errno, ErrnoResult};

use super::errno;

fn outcome(code: c_int) -> ErrnoResult<c_int> {
    if code < 0 { Err(errno(&std::io::Error::last_os_error())) } else { Ok(code) }
}

/// Makes a request whose argument is a plain number, or is ignored.
fn with_number(fd: BorrowedFd<'_>, request: u32, value: c_ulong) -> ErrnoResult<c_int> {
    // SAFETY: callers here name only requests that take no address, so no memory is touched.
    outcome(unsafe { libc::ioctl(fd.as_raw_fd(), request as _, value) })
}

/// The number of a loop device without a file, made if there is none. Another process may take it.
pub(super) fn find_free_loop(control: BorrowedFd<'_>) -> ErrnoResult<u32> {
    with_number(control, LOOP_CTL_GET_FREE, 0).map(i32::unsigned_abs)
}

/// Gives a loop device its backing file and all settings at once (since Linux 5.8).
pub(super) fn configure_loop(device: BorrowedFd<'_>, config: &loop_config) -> ErrnoResult<()> {
    let config = std::ptr::from_ref(config);
    // SAFETY: the request reads a `loop_config`, which the reference keeps alive.
    let code = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as _, config) };
    outcome(code).map(drop)
}

/// Gives a loop device its backing file.
pub(super) fn set_loop_file(device: BorrowedFd<'_>, file: BorrowedFd<'_>) -> ErrnoResult<()> {
    with_number(device, LOOP_SET_FD, c_ulong::from(file.as_raw_fd().unsigned_abs())).map(drop)
}

/// Gives a loop device that has a backing file its settings.
pub(super) fn set_loop_status(device: BorrowedFd<'_>, info: &loop_info64) -> ErrnoResult<()> {
    let info = std::ptr::from_ref(info);
    // SAFETY: the request reads a `loop_info64`, which the reference keeps alive.
    let code = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_SET_STATUS64 as _, info) };
    outcome(code).map(drop)
}

/// What a loop device has been set to.
pub(super) fn loop_status(device: BorrowedFd<'_>) -> ErrnoResult<loop_info64> {
    // SAFETY: all fields are plain numbers, for which zero is valid.
    let mut info: loop_info64 = unsafe { std::mem::zeroed() };
    let place = std::ptr::from_mut(&mut info);
    // SAFETY: the request writes a `loop_info64`, for which `info` has room.
    outcome(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, place) })?;
    Ok(info)
}

/// Sets the logical block size of a loop device, in bytes.
pub(super) fn set_loop_block_size(device: BorrowedFd<'_>, bytes: u32) -> ErrnoResult<()> {
    with_number(device, LOOP_SET_BLOCK_SIZE, c_ulong::from(bytes)).map(drop)
}

/// Has a loop device use direct I/O on its backing file, around the page cache.
pub(super) fn set_loop_direct(device: BorrowedFd<'_>) -> ErrnoResult<()> {
    with_number(device, LOOP_SET_DIRECT_IO, 1).map(drop)
}

/// Detaches a loop device from its backing file: at once, or when its last user closes it.
pub(super) fn clear_loop(device: BorrowedFd<'_>) -> ErrnoResult<()> {
    with_number(device, LOOP_CLR_FD, 0).map(drop)
}

/// Discards (trims) the first `bytes` bytes of a block device. `false` if it does not support that.
///
/// # Errors
/// `EBADF` if it is not open for writing, `EIO` from the device.
pub fn discard(device: BorrowedFd<'_>, bytes: u64) -> ErrnoResult<bool> {
    let range = [0_u64, bytes];
    // SAFETY: the request reads two 64-bit numbers, which `range` has.
    let code = unsafe { libc::ioctl(device.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
    match outcome(code) {
        Err(Errno::EOPNOTSUPP) => Ok(false),
        other => other.map(|_| true),
    }
}

/// Discards (trims) all blocks that the mounted file system of an open directory does not use.
///
/// # Errors
/// `EOPNOTSUPP` if the file system or its device does not support that.
pub fn discard_free(directory: BorrowedFd<'_>) -> ErrnoResult<()> {
    // `struct fstrim_range` of linux/fs.h: start, length and the shortest extent, in bytes.
    let mut range = [0_u64, u64::MAX, 0];
    // SAFETY: the request reads and writes three 64-bit numbers, which `range` has.
    let code = unsafe { libc::ioctl(directory.as_raw_fd(), FITRIM as _, range.as_mut_ptr()) };
    outcome(code).map(drop)
}

/// Writes out the dirty pages that the page cache has of a block device, and drops all its pages.
pub(super) fn flush_buffers(device: BorrowedFd<'_>) -> ErrnoResult<()> {
    with_number(device, BLKFLSBUF, 0).map(drop)
}

/// The size of a block device, in bytes.
pub(super) fn size_bytes(device: BorrowedFd<'_>) -> ErrnoResult<u64> {
    let mut bytes = 0_u64;
    let place = std::ptr::from_mut(&mut bytes);
    // SAFETY: the request writes one 64-bit number, for which `bytes` has room.
    let code = unsafe { libc::ioctl(device.as_raw_fd(), BLKGETSIZE64 as _, place) };
    outcome(code).map(|_| bytes)
}

/// Whether a block device refuses to be written.
pub(super) fn is_read_only(device: BorrowedFd<'_>) -> ErrnoResult<bool> {
    let mut answer: c_int = 0;
    let place = std::ptr::from_mut(&mut answer);
    // SAFETY: the request writes one `int`, for which `answer` has room.
    let code = unsafe { libc::ioctl(device.as_raw_fd(), BLKROGET as _, place) };
    outcome(code).map(|_| answer != 0)
}
