//! Opens directories one below the other: never through a link, never across a mount.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno as OsErrno;

use boatload_base::files::read_text;

/// Opens a directory by its name in an open one.
///
/// # Errors
/// What openat2(2) says; `EXDEV` for a mount point, `ELOOP` or `ENOTDIR` for a link.
pub fn open_directory(parent: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    open_below(parent, name, OFlags::DIRECTORY)
}

/// Opens something by its name in an open directory only to look at it: without waiting for the
/// other end of a pipe, and without a trace in its access time if this process may do that.
pub fn open_to_look(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    match open_below(parent, name, flags | OFlags::NOATIME) {
        // Only its owner and root may leave its access time alone (open(2)).
        Err(OsErrno::PERM) => open_below(parent, name, flags),
        other => other,
    }
}

fn open_below(parent: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(parent, name, flags, Mode::empty(), resolve) {
        // Before Linux 5.6, and under some container filters.
        Err(OsErrno::NOSYS | OsErrno::PERM) => {
            let opened = rustix::fs::openat(parent, name, flags, Mode::empty())?;
            let same = mount_id(opened.as_fd())? == mount_id(parent)?;
            if same { Ok(opened) } else { Err(OsErrno::XDEV) }
        }
        other => other,
    }
}

/// Which mount an open file is of: a bind mount has the device of what it shows, but a number of
/// its own. A kernel that does not tell it gives an error, not a guess.
pub(super) fn mount_id(file: BorrowedFd<'_>) -> rustix::io::Result<u64> {
    let (flags, mask) = (AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
    match rustix::fs::statx(file, c"", flags, mask) {
        Ok(stat) if stat.stx_mask & mask.bits() != 0 => Ok(stat.stx_mnt_id),
        Ok(_) => mount_id_of_descriptor(file).ok_or(OsErrno::OPNOTSUPP),
        Err(error) => mount_id_of_descriptor(file).ok_or(error),
    }
}

/// The same by what the kernel says of a descriptor (proc_pid_fdinfo(5)): it knows since Linux 3.15, and also where a
/// filter that does not know statx refuses it.
fn mount_id_of_descriptor(file: BorrowedFd<'_>) -> Option<u64> {
    let text = read_text(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
}
