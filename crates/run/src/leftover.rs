//! Removes what a run left when it was killed, as far as it is proved that boatload made it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};

use super::backing::unmount_left;
use super::remove::{Removal, remove_proved};
use super::run_directory::{
    in_use, is_locked, is_unmarked, may_be_run_directory, open_directory, prove, remove_unmarked,
};
use boatload_base::failure::{Failure, Result, shown};

/// Removes the run directory `name` in the open directory `parent`, with what was mounted in it.
///
/// # Errors
/// If its marker proves nothing, a boatload uses it, or something cannot be unmounted; then nothing was removed.
pub fn remove_leftover(parent: BorrowedFd<'_>, name: &OsStr) -> Result<Removal> {
    let refuse = |why: &str| Failure::failed(format!("{} is left alone: {why}", shown(name)));
    if !may_be_run_directory(name) {
        return Err(refuse("it is not named as boatload names its directories"));
    }
    // Held until it is gone, so that no run resumes from it meanwhile.
    let held = open_directory(parent, name).map_err(|error| refuse(&error.to_string()))?;
    let marker = match prove(held.as_fd(), name) {
        Ok(marker) => marker,
        // Looked at under the lock, which a run takes before it marks.
        Err(_) if !is_locked(held.as_fd()) && is_unmarked(held.as_fd(), name).unwrap_or(false) => {
            remove_unmarked(parent, held.as_fd(), name)
                .map_err(|error| refuse(&error.to_string()))?;
            return Ok(Removal::of_empty());
        }
        Err(why) => return Err(refuse(&why)),
    };
    if in_use(held.as_fd(), &marker) {
        return Err(refuse("it is in use now"));
    }
    unmount_left(held.as_fd()).map_err(|failure| refuse(&failure.sentence))?;
    remove_proved(parent, held.as_fd(), name, &marker)
}
