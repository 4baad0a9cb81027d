//! A view of the mounts for this process alone.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::base::errno::Errno;

/// From here on nothing this process and its children mount is seen outside, and all of it goes
/// with the last of them, however that ends. What is unmounted outside still goes here too, so that
/// no disk of the user is held.
///
/// To be called before any thread is started: of a process with threads only the calling one would
/// get the view, and those it starts.
///
/// # Errors
/// `EPERM` without the right to mount (`CAP_SYS_ADMIN`), which containers seldom give.
/// `EINVAL` in a chroot whose root is no mount point.
pub fn enter_private_mounts() -> Result<(), Errno> {
    // SAFETY: a new mount namespace changes what paths mean, not which descriptors are open.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
    let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change(c"/", flags)?;
    Ok(())
}
