//! Makes and marks the directory that a run works in, and proves that it is boatload's before anything in
//! it is removed.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno as OsErrno;
use serde::{Deserialize, Serialize};

use crate::base::failure::{Failure, Result, shown};

pub use crate::host::open::open_directory;

/// Every run directory's name begins so; the run's id follows.
pub const PREFIX: &str = "boatload-";

/// The file that marks a run directory as boatload's.
pub const MARKER: &str = ".boatload";

/// The file whose residency proves that the caches were dropped.
pub const CANARY: &str = "canary";

/// The file that stands for a disk, where file systems are made.
pub const IMAGE: &str = "image";

/// The directory that they are mounted on.
pub const MOUNT_POINT: &str = "mounted";

/// The directory with the memory that the image lies in, if it is to lie there.
pub const MEMORY: &str = "memory";

/// The directory that a modelled disk is mounted on, whose one file is the disk.
pub const DISK: &str = "disk";

/// A marker, like a note, is a few hundred bytes; more is not one.
const NOTE_BYTES_MAX: u64 = 4096;

/// What the marker says; device and inode are those of the directory it stands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// The run's id.
    pub run: String,
    /// Random, so that no marker is like another.
    pub token: String,
    /// Device number of the directory.
    pub device: u64,
    /// Inode number of the directory.
    pub inode: u64,
    /// The kernel's boot, since device numbers may change with the next.
    pub boot: String,
    /// The process that made it.
    pub process: u32,
}

/// A run's own directory, open.
#[derive(Debug)]
pub struct RunDirectory {
    parent: OwnedFd,
    directory: OwnedFd,
    name: String,
}

impl RunDirectory {
    /// Makes and marks the directory of run `id` below the open directory `parent`, which users
    /// know as `place`.
    ///
    /// # Errors
    /// If it cannot be made or exists already.
    pub fn make(parent: OwnedFd, place: &Path, id: &str) -> Result<Self> {
        let name = format!("{PREFIX}{id}");
        let fail = |doing: &str, error: std::io::Error| {
            let what = format!("{doing} the run's directory {}", shown(place.join(&name)));
            let Failure { exit, sentence } = Failure::from_system(what, error);
            Failure { exit, sentence: sentence + ". Name another place with --dir" }
        };
        rustix::fs::mkdirat(&parent, name.as_str(), Mode::RWXU)
            .map_err(|error| fail("make", error.into()))?;
        let directory = open_directory(parent.as_fd(), OsStr::new(&name)).map_err(|error| {
            // It is empty and without a marker.
            let _ = rustix::fs::unlinkat(&parent, name.as_str(), AtFlags::REMOVEDIR);
            fail("open", error.into())
        })?;
        // Held until the process ends, however it ends. Without locks the marker's process speaks.
        let _ = rustix::fs::flock(&directory, FlockOperation::NonBlockingLockShared);
        let run_directory = Self { parent, directory, name: name.clone() };
        run_directory.mark(id).map_err(|error| {
            // Without its marker nothing could prove later whose it is.
            let _ = rustix::fs::unlinkat(&run_directory.directory, MARKER, AtFlags::empty());
            let _ = rustix::fs::unlinkat(&run_directory.parent, name.as_str(), AtFlags::REMOVEDIR);
            fail("mark", error)
        })?;
        Ok(run_directory)
    }

    /// Opens one that this process made, after its file system was mounted again.
    pub fn reopen(parent: OwnedFd, name: &str) -> rustix::io::Result<Self> {
        let directory = open_directory(parent.as_fd(), OsStr::new(name))?;
        Ok(Self { parent, directory, name: name.to_string() })
    }

    fn mark(&self, id: &str) -> std::io::Result<()> {
        let stat = rustix::fs::fstat(&self.directory)?;
        let marker = Marker {
            run: id.to_string(),
            token: random_word(16)?,
            device: stat.st_dev,
            inode: stat.st_ino,
            boot: boot_id(),
            process: std::process::id(),
        };
        write_new(self.directory(), MARKER, &marker)
    }

    /// The open run directory.
    pub fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// The directory it was made in.
    pub fn parent(&self) -> BorrowedFd<'_> {
        self.parent.as_fd()
    }

    /// Its name in its parent.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Whether a name is one that a run directory may have.
pub fn may_be_run_directory(name: &OsStr) -> bool {
    name.as_bytes().strip_prefix(PREFIX.as_bytes()).is_some_and(|id| {
        !id.is_empty() && id.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    })
}

/// Writes a new small file in an open directory.
pub(super) fn write_new(
    directory: BorrowedFd<'_>,
    name: &str,
    what: &impl Serialize,
) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?;
    let text = serde_json::to_string(what).map_err(std::io::Error::other)?;
    std::io::Write::write_all(&mut std::fs::File::from(file), text.as_bytes())
}

/// Opens such a file, through no link and without waiting for the other end of a pipe.
pub(super) fn open_note(directory: BorrowedFd<'_>, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat(directory, name, flags, Mode::empty())
}

/// The text of such a file, cut where no such file is that long.
pub(super) fn read_start(file: OwnedFd) -> std::io::Result<String> {
    let mut limited = std::io::Read::take(std::fs::File::from(file), NOTE_BYTES_MAX);
    std::io::read_to_string(&mut limited)
}

/// Reads the marker of an open directory and proves it is this directory's own.
///
/// # Errors
/// A phrase that says what is wrong: no marker, not readable, a copy, someone else's.
pub fn prove(directory: BorrowedFd<'_>, name: &OsStr) -> std::result::Result<Marker, String> {
    let file = open_note(directory, MARKER).map_err(|_| "it has no marker of boatload")?;
    let text = read_start(file).map_err(|error| format!("its marker cannot be read: {error}"))?;
    let marker: Marker = serde_json::from_str(&text)
        .map_err(|_| "its marker is not one that boatload writes".to_string())?;
    let stat = rustix::fs::fstat(directory).map_err(|error| error.to_string())?;
    let user = rustix::process::geteuid();
    let other = stat.st_ino != marker.inode && !makes_inode_numbers_up(directory);
    if other || name != OsStr::new(&format!("{PREFIX}{}", marker.run)) {
        return Err("its marker was made for another directory (was it copied or renamed?)".into());
    }
    // Device numbers are handed out anew at every boot, so they prove something only in this one.
    if marker.boot == boot_id() && stat.st_dev != marker.device {
        return Err("its marker was made on another device".into());
    }
    if !user.is_root() && stat.st_uid != user.as_raw() {
        return Err("it belongs to another user".into());
    }
    Ok(marker)
}

/// FAT has no inodes: the kernel gives a directory another number each time it comes into memory.
fn makes_inode_numbers_up(directory: BorrowedFd<'_>) -> bool {
    const MADE_UP: [u32; 2] = [0x4d44, 0x2011_bab0];
    rustix::fs::fstatfs(directory).is_ok_and(|found| MADE_UP.contains(&(found.f_type as u32)))
}

/// Whether the process that made a marked and open directory is still running boatload: it holds
/// a lock, which is seen from other containers too, where its number means nothing.
pub fn in_use(directory: BorrowedFd<'_>, marker: &Marker) -> bool {
    let lock = rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive);
    if lock == Err(OsErrno::WOULDBLOCK) {
        return true;
    }
    let same_boot = marker.boot == boot_id();
    let name = std::fs::read_to_string(format!("/proc/{}/comm", marker.process));
    let own = marker.process == std::process::id();
    same_boot && !own && name.is_ok_and(|name| name.trim_end() == "boatload")
}

/// Opens a directory the user named, which may be reached through links.
///
/// # Errors
/// If it is missing, not a directory, or may not be entered.
pub fn open_parent(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|error| {
        let fix = match error {
            OsErrno::NOENT => ". Make it first, or name another with --dir",
            OsErrno::NOTDIR => ". Name a directory with --dir",
            _ => "",
        };
        Failure::failed(format!("cannot open the directory {}: {error}{fix}", shown(path)))
    })
}

/// A random word of lower-case letters and digits that are hard to mistake for each other.
pub fn random_word(letters: usize) -> std::io::Result<String> {
    const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = vec![0u8; letters];
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect())
}

fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_in_use_as_long_as_its_maker_has_it_open_whatever_its_process() {
        let place = tempfile::tempdir().unwrap();
        let run_directory =
            RunDirectory::make(open_parent(place.path()).unwrap(), place.path(), "abc").unwrap();
        let name = OsStr::new("boatload-abc");
        let again = open_directory(run_directory.parent(), name).unwrap();
        let marker = prove(again.as_fd(), name).unwrap();
        let elsewhere = Marker { process: u32::MAX, ..marker };
        assert!(in_use(again.as_fd(), &elsewhere));
        drop(run_directory);
        assert!(!in_use(again.as_fd(), &elsewhere));
    }
}
