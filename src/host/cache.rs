//! Emptying the kernel's caches. [`super::residency`] proves that it worked.
//!
//! A cold phase is prepared thus: open a sample of its files, [`drop_all`], ask for the residency
//! of the files still open, which touches no disk and warms nothing, close them, [`drop_names`].

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::BorrowedFd;

use rustix::fs::Advice;

use crate::base::errno::Errno;

use super::errno;

/// Where the kernel takes orders to drop clean caches (proc_sys_vm(5)).
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Whether this process may drop the kernel's caches: the file is opened, and nothing written.
pub fn can_drop() -> bool {
    open_drop().is_ok()
}

/// Writes everything out, then drops cached contents, names and inodes. Only clean pages can be
/// dropped, hence the sync(2) first. It concerns every file system of the machine.
///
/// # Errors
/// `EACCES`, `EPERM` or `EROFS` without the right to it.
pub fn drop_all() -> Result<(), Errno> {
    let mut orders = open_drop()?;
    rustix::fs::sync();
    give(&mut orders, b"3\n")
}

/// Drops cached names and inodes (dentries), and what only they kept in memory.
///
/// # Errors
/// Those of [`drop_all`].
pub fn drop_names() -> Result<(), Errno> {
    give(&mut open_drop()?, b"2\n")
}

/// Puts one file's pages out of the cache, as far as an ordinary user can: writes them out, then
/// advises that they are not needed (posix_fadvise(2)). Pages that are mapped or locked by
/// others stay, and so do names and inodes: this is no proof of a cold file.
///
/// # Errors
/// Those of fdatasync(2) and posix_fadvise(2).
pub fn evict(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::fs::fdatasync(fd)?;
    rustix::fs::fadvise(fd, 0, None, Advice::DontNeed)?;
    Ok(())
}

fn open_drop() -> Result<File, Errno> {
    OpenOptions::new().write(true).open(DROP_CACHES).map_err(|error| errno(&error))
}

fn give(file: &mut File, order: &[u8]) -> Result<(), Errno> {
    file.write_all(order).map_err(|error| errno(&error))
}
