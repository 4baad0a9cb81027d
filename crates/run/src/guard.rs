//! Starts a process that outlives a killed rank 0, and removes the run's directory in its place: a launcher that kills
//! all ranks because one was killed leaves rank 0 little or no time to clean up.

#![expect(unsafe_code, reason = "descriptors that an MPI library left open are closed by number")]

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::leftover::remove_leftover;
use super::remove::Removal;
use super::run_directory::{PREFIX, open_parent};
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::uninterrupted;

/// The command of boatload that is such a process.
const GUARD: &str = "guard-directory";

/// How often it tries to remove the directory while other ranks still work in it, and the pause before each new try: twenty
/// minutes, for a rank that was killed in a sync holds it until the sync is over.
const TRIES: u32 = 24_000;
const PAUSE: Duration = Duration::from_millis(50);

/// The guard of a directory, as rank 0 has it. It ends when it is dismissed, and removes the directory if this process ends
/// without that.
#[derive(Debug)]
pub struct DirectoryGuard {
    child: Child,
}

impl DirectoryGuard {
    /// Starts one for the directory of run `id` at `place`, which is made when this returns: from then on no signal to the
    /// processes of the launcher reaches the guard.
    ///
    /// # Errors
    /// If no process can be started.
    pub fn start(place: &Path, id: &str) -> Result<Self> {
        let cannot = |error| Failure::from_system("start the guard of the run's directory", error);
        let place = std::path::absolute(place).map_err(cannot)?;
        let mut command = Command::new("/proc/self/exe");
        // With the environment, in which the place of the MPI library may be.
        command.arg0("boatload").arg(GUARD).arg(place).arg(format!("{PREFIX}{id}"));
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut guard = Self { child: command.spawn().map_err(cannot)? };
        let ready = guard.child.stdout.take().map(|mut output| output.read_exact(&mut [0]));
        ready.unwrap_or(Ok(())).map_err(cannot)?;
        Ok(guard)
    }

    /// Ends it: the directory is gone, or was never made.
    pub fn dismiss(mut self) {
        if let Some(mut input) = self.child.stdin.take() {
            let _ = input.write_all(b".");
        }
        let _ = self.child.wait();
    }
}

/// Is the guard of the run directory `name` at `place`, until `control` says that the directory is gone, or is closed: then
/// it waits until neither rank 0 nor another rank uses the directory, and removes it; `None` if there is nothing to do.
/// `ready` tells rank 0 that it may make the directory.
///
/// # Errors
/// Why the directory is still there.
pub fn guard(
    control: BorrowedFd<'_>,
    place: &Path,
    name: &OsStr,
    ready: impl FnOnce() -> Result<()>,
) -> Result<Option<Removal>> {
    // SAFETY: this process has opened nothing yet but its standard streams, so no value owns these.
    let _ = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0u32) };
    // No signal to the ranks, nor one of the terminal, is meant for it.
    let _ = rustix::process::setsid();
    ready()?;
    watch(control, place, name)
}

fn watch(control: BorrowedFd<'_>, place: &Path, name: &OsStr) -> Result<Option<Removal>> {
    let parent = open_parent(place)?;
    if uninterrupted(|| rustix::io::read(control, &mut [0u8; 1])).is_ok_and(|bytes| bytes > 0) {
        return Ok(None);
    }
    // What the server of a network file system does not answer now, it may answer later.
    let is_gone = || {
        let found = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW);
        found.err() == Some(Errno::NOENT)
    };
    let mut last = Ok(None);
    for _ in 0..TRIES {
        if is_gone() {
            return Ok(None);
        }
        last = match remove_leftover(parent.as_fd(), name) {
            Ok(removal) if removal.left.is_empty() => return Ok(Some(removal)),
            // A rank that the launcher has not ended yet may have added it.
            Ok(Removal { left, .. }) => {
                let place = shown(place.join(name));
                Err(Failure::failed(format!("{place} stays: {}", left.join(", "))))
            }
            Err(failure) => Err(failure),
        };
        boatload_base::patience::pause(PAUSE);
    }
    last
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::run_directory::RunDirectory;

    #[test]
    fn it_removes_the_directory_only_when_nobody_said_that_all_is_well() {
        let place = tempfile::tempdir().unwrap();
        let make = || open_parent(place.path()).unwrap();
        drop(
            RunDirectory::make(make(), place.path(), "abcdefgh", &AtomicBool::new(false)).unwrap(),
        );
        let name = OsStr::new("boatload-abcdefgh");
        let ends = |word: &[u8]| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(word).unwrap();
            drop(writer);
            watch(reader.as_fd(), place.path(), name)
        };
        assert_eq!(ends(b".").unwrap(), None);
        assert!(place.path().join(name).exists());
        assert_eq!(ends(b"").unwrap().map(|removal| removal.directories), Some(1));
        assert!(!place.path().join(name).exists());
        assert_eq!(ends(b"").unwrap(), None, "rank 0 may have removed it before it was killed");
    }

    #[test]
    fn it_says_nothing_of_its_tries_where_another_removes_the_directory() {
        let place = tempfile::tempdir().unwrap();
        let name = OsStr::new("boatload-abcdefgh");
        let path = place.path().join(name);
        std::fs::create_dir_all(path.join("foreign")).unwrap();
        std::thread::scope(|scope| {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(writer);
            let place = place.path();
            let guard = scope.spawn(move || watch(reader.as_fd(), place, name));
            std::thread::sleep(4 * PAUSE);
            assert!(!guard.is_finished(), "it is not proved to be boatload's");
            std::fs::remove_dir_all(&path).unwrap();
            assert_eq!(guard.join().unwrap(), Ok(None));
        });
    }

    #[test]
    fn it_waits_until_no_rank_uses_the_directory() {
        let place = tempfile::tempdir().unwrap();
        let parent = open_parent(place.path()).unwrap();
        let go_on = AtomicBool::new(false);
        let rank = RunDirectory::make(parent, place.path(), "abcdefgh", &go_on).unwrap();
        let name = OsStr::new("boatload-abcdefgh");
        std::thread::scope(|scope| {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(writer);
            let place = place.path();
            let guard = scope.spawn(move || watch(reader.as_fd(), place, name));
            std::thread::sleep(4 * PAUSE);
            assert!(!guard.is_finished() && place.join(name).exists());
            drop(rank);
            assert!(guard.join().unwrap().unwrap().is_some());
        });
        assert!(!place.path().join(name).exists());
    }
}
