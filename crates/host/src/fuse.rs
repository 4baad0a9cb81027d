//! Opens the kernel's FUSE device and mounts a file system that a process serves through it (fuse(4)).

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

use boatload_base::errno::Errno;
use boatload_base::failure::{Failure, Result};

use super::mounts;

/// Where the kernel's FUSE device is.
const DEVICE: &str = "/dev/fuse";

/// The type of file systems that are mounted here, as `/proc` shows it.
pub const KIND: &str = "fuse.boatload";

/// Opens a new connection, which can be mounted once.
///
/// # Errors
/// If this machine has no FUSE, or this process may not use it.
pub fn open() -> Result<OwnedFd> {
    rustix::fs::open(DEVICE, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| unusable(error.into()))
}

/// Mounts what the process serves that has `connection` open.
///
/// # Errors
/// If the kernel refuses.
pub fn mount(connection: BorrowedFd<'_>, source: &Path, target: &Path) -> Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let options = format!(
        "fd={},rootmode={:o},user_id={},group_id={}",
        connection.as_raw_fd(),
        FileType::Directory.as_raw_mode(),
        user.as_raw(),
        group.as_raw(),
    );
    mounts::mount(source, KIND, target, &options)
}

fn unusable(error: Errno) -> Failure {
    let hint = match error {
        Errno::ENOENT | Errno::ENODEV | Errno(libc::ENXIO) => {
            "the kernel's FUSE is not there: `modprobe fuse`; in a container, run outside of it, or let \
             it have /dev/fuse"
        }
        Errno::EACCES | Errno::EPERM => {
            "that takes root, and in a container a rule that allows /dev/fuse"
        }
        _ => return Failure::from_system(format!("open {DEVICE}"), error.about()),
    };
    Failure::failed(format!(
        "a modelled disk is served through {DEVICE}, which cannot be opened ({}): {hint}",
        error.about()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_fuse_one_sentence_says_what_is_missing() {
        let said = |errno| unusable(errno).sentence;
        assert_eq!(
            said(Errno::ENOENT),
            "a modelled disk is served through /dev/fuse, which cannot be opened (No such file or \
             directory): the kernel's FUSE is not there: `modprobe fuse`; in a container, run outside \
             of it, or let it have /dev/fuse"
        );
        assert!(said(Errno::EACCES).contains("that takes root"));
        assert!(said(Errno::EIO).starts_with("cannot open /dev/fuse: Input/output error: "));
    }
}
