//! Makes and marks the directory that a run works in, and proves that it is boatload's before anything in
//! it is removed.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{
    AtFlags, Dir, DirEntry, FileType, FlockOperation, Mode, OFlags, Timespec, Timestamps, Uid,
};
use rustix::io::Errno as OsErrno;
use rustix::path::Arg;
use serde::{Deserialize, Serialize};

use crate::clock::{boot_seconds_of_day, seconds_of_day};
use boatload_base::failed_calls::note;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::{place_of, read_start_of, read_text, uninterrupted, write_all};
use boatload_base::names::rank_name;
use boatload_base::random::{WORD_ALPHABET, random_word};
use boatload_base::shell::{as_root, quoted};
use boatload_base::units::span;
use boatload_host::mounts::Mount;
use boatload_host::process::{ProcessMark, boot_id, host_name, is_root};

pub use boatload_host::open::open_directory;

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

/// Asks this many times, with this pause, for a lock that another process holds: `clean` has one for a moment.
const LOCK_TRIES: u32 = 250;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A marker, like a note, is a few hundred bytes; more is not one.
const NOTE_BYTES_MAX: usize = 4096;

/// What the marker says; device and inode are the numbers of the directory it stands in.
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
    /// The name of the host that it runs on.
    pub host: String,
}

/// A run's own directory, open.
#[derive(Debug)]
pub struct RunDirectory {
    parent: OwnedFd,
    directory: OwnedFd,
    name: String,
    /// The token of the marker, where this process wrote it.
    token: Option<String>,
    /// Whether it is what a rank works in, in the directory of the run.
    is_of_rank: bool,
}

impl RunDirectory {
    /// Makes and marks the directory of run `id` below the open directory `parent`, which users
    /// know as `place`, unless it is to `stop`.
    ///
    /// # Errors
    /// If it cannot be made, exists already, or is locked by another process.
    pub fn make(parent: OwnedFd, place: &Path, id: &str, stop: &AtomicBool) -> Result<Self> {
        let name = format!("{PREFIX}{id}");
        let fail = |doing: &str, error: std::io::Error| {
            let what = format!("{doing} the run's directory {}", shown(place.join(&name)));
            let Failure { exit, sentence } = Failure::from_system(what, error);
            Failure { exit, sentence: sentence + ". Name another place with --dir" }
        };
        let directory = loop {
            rustix::fs::mkdirat(&parent, name.as_str(), Mode::RWXU)
                .map_err(|error| fail("make", error.into()))?;
            let opened = open_locked(parent.as_fd(), OsStr::new(&name), stop);
            let opened = opened.map_err(|error| match error {
                // `clean` holds a lock until it has removed the directory. Anybody else has put another one in its place.
                OsErrno::INTR => Failure::interrupted("interrupted"),
                OsErrno::WOULDBLOCK => Failure::failed(format!(
                    "another process keeps the run's directory {} locked. Name a place with --dir in which \
                     others cannot write",
                    shown(place.join(&name))
                )),
                error => {
                    // It is empty and without a marker.
                    let _ = rustix::fs::unlinkat(&parent, name.as_str(), AtFlags::REMOVEDIR);
                    fail("open and lock (openat2, flock)", error.into())
                }
            })?;
            // `clean` may have removed it, for it was empty and nobody's.
            if let Some(directory) = opened {
                break directory;
            }
        };
        make_own(directory.as_fd()).map_err(|error| fail("own", error.into()))?;
        let token = mark(directory.as_fd(), id).map_err(|error| {
            // Without its marker nothing could prove later whose it is.
            let _ = remove_unmarked(parent.as_fd(), directory.as_fd(), OsStr::new(&name));
            fail("mark", error)
        })?;
        Ok(Self { parent, directory, name, token: Some(token), is_of_rank: false })
    }

    /// Opens one that this process made, after its file system was mounted again.
    pub fn reopen(parent: OwnedFd, name: &str) -> rustix::io::Result<Self> {
        let directory = open_directory(parent.as_fd(), OsStr::new(name))?;
        Ok(Self { parent, directory, name: name.to_string(), token: None, is_of_rank: false })
    }

    /// The token of its marker, which tells it from every other; `None` where another process wrote it.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Proves that the directory which is held is the one that was marked.
    ///
    /// # Errors
    /// A phrase that says what is wrong.
    pub(super) fn prove(&self) -> std::result::Result<Marker, String> {
        let marker = prove(self.directory(), OsStr::new(&self.name))?;
        match &self.token {
            Some(token) if *token != marker.token => {
                Err("its marker is not the one that this run wrote".into())
            }
            _ => Ok(marker),
        }
    }

    /// Makes what rank `rank` works in, in the directory of run `id` below `parent`, which rank 0 made and whose marker
    /// has this token.
    ///
    /// # Errors
    /// If that directory is not to be seen here, or this one cannot be made.
    pub fn make_for_rank(
        parent: BorrowedFd<'_>,
        id: &str,
        token: &str,
        rank: u32,
        stop: &AtomicBool,
    ) -> Result<Self> {
        let of_run = format!("{PREFIX}{id}");
        let run = open_soon(parent, OsStr::new(&of_run), stop);
        let run = run.ok().filter(|run| read_marker(run.as_fd()).is_ok_and(|m| m.token == token));
        let Some(run) = run else {
            return Err(Failure::failed(format!(
                "the directory {of_run} of rank 0 is not there: all ranks need the same --dir, on a file system that \
                 all hosts share"
            )));
        };
        let fail = |error: OsErrno| {
            Failure::from_system(format!("make the directory of rank {rank} in {of_run}"), error)
        };
        let name = rank_name(rank);
        rustix::fs::mkdirat(&run, name.as_str(), Mode::RWXU).map_err(fail)?;
        let directory = open_directory(run.as_fd(), OsStr::new(&name)).map_err(fail)?;
        Ok(Self { parent: run, directory, name, token: None, is_of_rank: true })
    }

    /// Shows hosts that cannot see this process that the run is still running.
    pub fn beat(&self) {
        let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        // Without it the marker is only older.
        let _ = rustix::fs::utimensat(&self.directory, MARKER, &times, AtFlags::SYMLINK_NOFOLLOW);
    }

    /// Whether it is what a rank works in, in the directory of the run.
    pub fn is_of_rank(&self) -> bool {
        self.is_of_rank
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

/// Marks an open directory as the directory of run `id`; gives the marker's token.
fn mark(directory: BorrowedFd<'_>, id: &str) -> std::io::Result<String> {
    let stat = rustix::fs::fstat(directory)?;
    let marker = Marker {
        run: id.to_string(),
        token: random_word(16)?,
        device: stat.st_dev,
        inode: stat.st_ino,
        boot: boot_id(),
        process: std::process::id(),
        host: host_name(),
    };
    write_new(directory, MARKER, &marker)?;
    // Nothing is made in it that could outlive its marker when the power goes.
    rustix::fs::fsync(open_note(directory, MARKER)?)?;
    rustix::fs::fsync(directory)?;
    Ok(marker.token)
}

/// Opens a directory and takes the lock that says that it is in use, after `clean` is done with it; `None` if it is
/// not there any more. The lock is held until the process ends, however it ends.
///
/// # Errors
/// `EAGAIN` if another process keeps it locked, `EINTR` if it is to stop.
fn open_locked(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    stop: &AtomicBool,
) -> rustix::io::Result<Option<OwnedFd>> {
    let directory = match open_directory(parent, name) {
        Err(OsErrno::NOENT) => return Ok(None),
        other => other?,
    };
    let lock = || rustix::fs::flock(&directory, FlockOperation::NonBlockingLockShared);
    let mut locked = uninterrupted(lock);
    for _ in 0..LOCK_TRIES {
        if locked != Err(OsErrno::WOULDBLOCK) {
            break;
        }
        if stop.load(Ordering::Relaxed) {
            return Err(OsErrno::INTR);
        }
        boatload_base::patience::pause(LOCK_PAUSE);
        locked = uninterrupted(lock);
    }
    match locked {
        // Without locks the marker's process speaks.
        Ok(()) | Err(OsErrno::NOSYS | OsErrno::OPNOTSUPP | OsErrno::NOLCK) => {}
        // Or a filter forbids them.
        Err(error @ OsErrno::PERM) => note("flock", || place_of(&directory), error),
        Err(error) => return Err(error),
    }
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(Some(directory)),
        Err(OsErrno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes an open directory this user's and closed to others, if it is empty: who may rename in its parent can have put
/// another in its place before it was opened. One in which there is anything stays as it is.
fn make_own(directory: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let refuse_unless_empty = || match entries_of(directory)?.next().transpose()? {
        Some(_) => Err(OsErrno::NOTEMPTY),
        None => Ok(()),
    };
    refuse_unless_empty()?;
    let before = rustix::fs::fstat(directory)?;
    let user = rustix::process::geteuid();
    if before.st_uid != user.as_raw() {
        where_there_are_owners(rustix::fs::fchown(directory, Some(user), None))?;
    }
    if before.st_mode & 0o077 != 0 {
        where_there_are_owners(rustix::fs::fchmod(directory, Mode::RWXU))?;
    }
    // From here on nobody else puts anything in it.
    refuse_unless_empty().inspect_err(|_| {
        let _ = rustix::fs::fchmod(directory, Mode::from_raw_mode(before.st_mode));
        let _ = rustix::fs::fchown(directory, Some(Uid::from_raw(before.st_uid)), None);
    })
}

/// FAT has no owners, and a server may have its own.
fn where_there_are_owners(changed: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match changed {
        Err(OsErrno::PERM | OsErrno::OPNOTSUPP | OsErrno::NOSYS | OsErrno::INVAL) => Ok(()),
        other => other,
    }
}

/// The entries of an open directory but for itself and the one above.
pub(super) fn entries_of(
    directory: BorrowedFd<'_>,
) -> rustix::io::Result<impl Iterator<Item = rustix::io::Result<DirEntry>>> {
    let is_inside = |entry: &DirEntry| !matches!(entry.file_name().to_bytes(), b"." | b"..");
    let entries = Dir::read_from(directory)?;
    Ok(entries.filter(move |entry| entry.as_ref().map_or(true, is_inside)))
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
    let file = create_new(directory, name)?;
    let text = serde_json::to_string(what).map_err(std::io::Error::other)?;
    write_all(file, text.as_bytes())
}

/// Makes a file in an open directory, where there must be none of that name.
pub(super) fn create_new(directory: BorrowedFd<'_>, name: impl Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)
}

/// Opens such a file to read it, through no link and without waiting for the other end of a pipe.
pub(super) fn open_note(directory: BorrowedFd<'_>, name: impl Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat(directory, name, flags, Mode::empty())
}

/// The text of such a file, cut where no such file is that long.
pub(super) fn read_start(file: OwnedFd) -> std::io::Result<String> {
    let bytes = read_start_of(file, NOTE_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
}

/// Opens and locks a directory that another host has just made: a network file system may show it a little later.
fn open_soon(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    stop: &AtomicBool,
) -> rustix::io::Result<OwnedFd> {
    const TRIES: u32 = 30;
    for _ in 0..TRIES {
        if let Some(directory) = open_locked(parent, name, stop)? {
            return Ok(directory);
        }
        boatload_base::patience::pause(Duration::from_millis(100));
    }
    Err(OsErrno::NOENT)
}

/// The marker in an open directory.
///
/// # Errors
/// A phrase that says what is wrong: no marker, not readable.
fn read_marker(directory: BorrowedFd<'_>) -> std::result::Result<Marker, String> {
    let unreadable = |error| format!("its marker cannot be read: {error}");
    let file = open_note(directory, MARKER).map_err(|error| match error {
        OsErrno::NOENT => "it has no marker of boatload".to_string(),
        error => unreadable(error.into()),
    })?;
    let text = read_start(file).map_err(unreadable)?;
    serde_json::from_str(&text)
        .map_err(|_| "its marker is not one that boatload writes".to_string())
}

/// Reads the marker of an open directory and proves it is this directory's own.
///
/// # Errors
/// A phrase that says what is wrong: no marker, not readable, a copy, someone else's.
pub fn prove(directory: BorrowedFd<'_>, name: &OsStr) -> std::result::Result<Marker, String> {
    let marker = prove_renamed(directory)?;
    if name != OsStr::new(&format!("{PREFIX}{}", marker.run)) {
        return Err(OTHER_DIRECTORY.into());
    }
    Ok(marker)
}

/// What is wrong with a marker that was made elsewhere.
const OTHER_DIRECTORY: &str =
    "its marker was made for another directory (was it copied or renamed?)";

/// The same, whatever the directory is called by now.
///
/// # Errors
/// The same, but for its name.
pub fn prove_renamed(directory: BorrowedFd<'_>) -> std::result::Result<Marker, String> {
    let marker = read_marker(directory)?;
    let stat = rustix::fs::fstat(directory).map_err(|error| error.to_string())?;
    let user = rustix::process::geteuid();
    let other = stat.st_ino != marker.inode
        && !makes_inode_numbers_up(directory)
            .map_err(|error| format!("its file system cannot be identified: {error}"))?;
    if other {
        return Err(OTHER_DIRECTORY.into());
    }
    // Device numbers are handed out anew at every boot, so they prove something only in this one.
    if marker.boot == boot_id() && stat.st_dev != marker.device {
        return Err("its marker was made on another device".into());
    }
    if !is_root() && stat.st_uid != user.as_raw() {
        return Err("it belongs to another user".into());
    }
    Ok(marker)
}

/// Whether an open directory is as a run leaves it that is killed before it has marked it, or after it has removed
/// the marker: named by a run's id, this user's, closed to others, and empty but for a marker in which nothing is.
///
/// # Errors
/// If it cannot be read.
pub fn is_unmarked(directory: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<bool> {
    if !name.as_bytes().strip_prefix(PREFIX.as_bytes()).is_some_and(is_id) {
        return Ok(false);
    }
    let stat = rustix::fs::fstat(directory)?;
    if stat.st_uid != rustix::process::geteuid().as_raw() || stat.st_mode & 0o777 != 0o700 {
        return Ok(false);
    }
    for entry in entries_of(directory)? {
        if entry?.file_name().to_bytes() != MARKER.as_bytes() {
            return Ok(false);
        }
        let marker = rustix::fs::statat(directory, MARKER, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_file = FileType::from_raw_mode(marker.st_mode) == FileType::RegularFile;
        if !is_file || marker.st_size > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes an open directory with an empty marker, or without one, in which there is nothing else.
///
/// # Errors
/// If something is in it, or it cannot be removed.
pub fn remove_unmarked(
    parent: BorrowedFd<'_>,
    directory: BorrowedFd<'_>,
    name: &OsStr,
) -> rustix::io::Result<()> {
    match rustix::fs::unlinkat(directory, MARKER, AtFlags::empty()) {
        Ok(()) | Err(OsErrno::NOENT) => rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR),
        other => other,
    }
}

/// FAT has no inodes: the kernel gives a directory another number each time it comes into memory. So does libfuse by default.
pub(super) fn makes_inode_numbers_up(directory: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    const MADE_UP: [u32; 3] = [0x4d44, 0x2011_bab0, 0x6573_5546];
    rustix::fs::fstatfs(directory).map(|found| MADE_UP.contains(&(found.f_type as u32)))
}

/// What processes that run a plan are called.
const COMMANDS: [&str; 2] = ["boatload", "boatload-mpi"];

/// Whether the process that made a marked and open directory is still running boatload: it holds
/// a lock, which is seen from other containers too, where its number means nothing.
pub fn in_use(directory: BorrowedFd<'_>, marker: &Marker) -> bool {
    if is_locked(directory) {
        return true;
    }
    let same_boot = marker.boot == boot_id();
    let name = read_text(format!("/proc/{}/comm", marker.process));
    let own = marker.process == std::process::id();
    // One that has ended keeps its name until its parent, such as a launcher, has heard of it.
    let runs = || ProcessMark::of_process(marker.process).is_some();
    same_boot && !own && runs() && name.is_ok_and(|name| COMMANDS.contains(&name.trim_end()))
}

/// A run of another host that gave no sign for so long is taken to be over, in seconds: a sign comes before each phase.
const SIGN_SECONDS: i64 = 24 * 3600;

/// The same for a host of this one's name on a file system of a type that only one host mounts: another may use it through an
/// export, but mostly it was this one before it was started anew, whose clock may have stood while it was off.
const SIGN_SECONDS_LOCAL: i64 = 3600;

/// A host that may be at work in a directory, which cannot be seen from here: locks and processes are its own.
#[derive(Debug, PartialEq, Eq)]
pub struct OtherHost {
    /// What it is called, in words.
    pub name: String,
    /// How long ago it gave a sign, in seconds.
    pub seconds_ago: i64,
}

impl OtherHost {
    /// One that gave a sign at this time of day; `None` if that is too long ago.
    fn since(sign: i64, name: String) -> Option<Self> {
        // Clocks of a server and of this host may differ a little.
        let seconds_ago = (seconds_of_day() - sign).max(0);
        (seconds_ago < SIGN_SECONDS).then_some(Self { name, seconds_ago })
    }

    /// Whether a sign on a file system of a type that one host mounts is too far from now for a run at work.
    fn is_stale(sign: i64, directory: BorrowedFd<'_>) -> bool {
        let is_near = (seconds_of_day() - sign).abs() < SIGN_SECONDS_LOCAL;
        !is_near && Mount::of(directory).is_ok_and(|mount| mount.is_of_one_host())
    }

    /// That it may, in words, with what shows it.
    #[must_use]
    pub fn may_be_at_work(&self, sign: &str) -> String {
        let Self { name, seconds_ago } = self;
        let ago = span(*seconds_ago as f64);
        format!(
            "{name} {sign} {ago} ago and may still be at work there, which cannot be seen from here"
        )
    }

    /// The one that may still be at work in a marked and open directory; `None` if that is of this host.
    pub fn at_work(directory: BorrowedFd<'_>, marker: &Marker) -> Option<Self> {
        if marker.boot == boot_id() {
            return None;
        }
        let sign = rustix::fs::statat(directory, MARKER, AtFlags::SYMLINK_NOFOLLOW).ok()?.st_mtime;
        let may_be_own = sign <= boot_seconds_of_day() || Self::is_stale(sign, directory);
        Self::since(sign, Self::named(marker, may_be_own)?)
    }

    /// The one that may have made an open directory and not yet marked it, where several hosts see the same directories.
    pub fn beginning(directory: BorrowedFd<'_>) -> Option<Self> {
        let sign = rustix::fs::fstat(directory).ok().filter(|_| !is_local(directory))?.st_ctime;
        Self::since(sign, "another host".into())
    }

    /// What the host of a marker of another boot is called; `None` if it is this one before it was started anew, where it may
    /// be. Hosts may have the same name; one of another name may use a local file system that this one exports.
    fn named(marker: &Marker, may_be_own: bool) -> Option<String> {
        let name = shown(&marker.host);
        match marker.host.as_str() {
            host if host != host_name() => Some(format!("host {name}")),
            _ if may_be_own => None,
            _ => Some(format!("another host called {name}")),
        }
    }
}

/// Whether no other host mounts the file system of an open directory.
fn is_local(directory: BorrowedFd<'_>) -> bool {
    Mount::of(directory).is_ok_and(|mount| !mount.is_shared())
}

/// Whether another process holds the lock of an open directory; else this one does from now on.
pub fn is_locked(directory: BorrowedFd<'_>) -> bool {
    let lock = rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive);
    lock == Err(OsErrno::WOULDBLOCK)
}

/// Opens a directory the user named, which may be reached through links.
///
/// # Errors
/// If it is missing, not a directory, or may not be entered.
pub fn open_parent(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|error| {
        let shown_path = shown(path);
        let fix = match error {
            OsErrno::NOENT => {
                format!(". Name another, or make it first: `mkdir -p {}`", quoted(&shown_path))
            }
            OsErrno::NOTDIR => ". Name a directory".into(),
            OsErrno::ACCESS => format!(". Name another, or: {}", as_root()),
            _ => String::new(),
        };
        Failure::failed(format!("cannot open the directory {shown_path}: {error}{fix}"))
    })
}

/// Letters of a run's id.
pub const ID_LETTERS: usize = 8;

/// Whether a word could be a run's id.
pub fn is_id(word: &[u8]) -> bool {
    word.len() == ID_LETTERS && word.iter().all(|letter| WORD_ALPHABET.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn a_directory_is_in_use_as_long_as_its_maker_has_it_open_whatever_its_process() {
        let place = tempfile::tempdir().unwrap();
        let run_directory =
            RunDirectory::make(open_parent(place.path()).unwrap(), place.path(), "abc", &GO_ON)
                .unwrap();
        let name = OsStr::new("boatload-abc");
        let again = open_directory(run_directory.parent(), name).unwrap();
        let marker = prove(again.as_fd(), name).unwrap();
        let elsewhere = Marker { process: u32::MAX, ..marker };
        assert!(in_use(again.as_fd(), &elsewhere));
        drop(run_directory);
        assert!(!in_use(again.as_fd(), &elsewhere));
    }

    #[test]
    fn a_directory_of_another_host_is_busy_for_a_day_after_its_last_sign() {
        let place = tempfile::tempdir().unwrap();
        let parent = open_parent(place.path()).unwrap();
        let run_directory = RunDirectory::make(parent, place.path(), "abc", &GO_ON).unwrap();
        let marker = prove(run_directory.directory(), OsStr::new("boatload-abc")).unwrap();
        let busy = |marker: &Marker| OtherHost::at_work(run_directory.directory(), marker);
        assert_eq!(busy(&marker), None, "of this host, locks and processes tell");
        let other = Marker { host: "node7".into(), boot: "another".into(), ..marker };
        let long_ago = Timespec { tv_sec: 1_000_000_000, tv_nsec: 0 };
        let times = Timestamps { last_access: long_ago, last_modification: long_ago };
        let directory = run_directory.directory();
        rustix::fs::utimensat(directory, MARKER, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        assert_eq!(busy(&other), None);
        run_directory.beat();
        let at_work = busy(&other).unwrap();
        assert!(at_work.name == "host node7" && at_work.seconds_ago < 60, "{at_work:?}");
        assert_eq!(OtherHost::beginning(directory), None, "no other host sees this place");
    }

    #[test]
    fn a_host_of_this_name_is_another_one_unless_it_may_be_this_one_before_its_start() {
        let place = tempfile::tempdir().unwrap();
        let parent = open_parent(place.path()).unwrap();
        let run_directory = RunDirectory::make(parent, place.path(), "abc", &GO_ON).unwrap();
        let marker = prove(run_directory.directory(), OsStr::new("boatload-abc")).unwrap();
        let named = |host: &str, may_be_own| {
            OtherHost::named(&Marker { host: host.into(), ..marker.clone() }, may_be_own)
        };
        let own = host_name();
        assert_eq!(named(&own, true), None);
        assert_eq!(named(&own, false), Some(format!("another host called {own}")));
        assert_eq!(named("node7", true).as_deref(), Some("host node7"));
        let restarted = Marker { boot: "another".into(), ..marker };
        let directory = run_directory.directory();
        let at_work = || OtherHost::at_work(directory, &restarted);
        assert!(at_work().is_some(), "it may be a host that this one exports the place to");
        let before = seconds_of_day() - 2 * SIGN_SECONDS_LOCAL;
        let before = Timespec { tv_sec: before, tv_nsec: 0 };
        let times = Timestamps { last_access: before, last_modification: before };
        rustix::fs::utimensat(directory, MARKER, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        assert_eq!(at_work(), None, "what this one left there is no other host's");
    }

    #[test]
    fn an_empty_directory_that_another_user_put_in_place_is_taken_and_one_with_files_is_left_alone()
    {
        let place = tempfile::tempdir().unwrap();
        let (directory, path) = (open_parent(place.path()).unwrap(), place.path());
        let give_away = || {
            rustix::fs::fchmod(&directory, Mode::from_raw_mode(0o775)).unwrap();
            rustix::fs::fchown(&directory, Some(Uid::from_raw(65_534)), None)
        };
        let now = || {
            let stat = rustix::fs::fstat(&directory).unwrap();
            (stat.st_uid, stat.st_mode & 0o777)
        };
        if give_away().is_err() {
            let why = "only root can give one away";
            return boatload_base::fixture::skip::skip("a directory of another user", why);
        }
        make_own(directory.as_fd()).unwrap();
        assert_eq!(now(), (0, 0o700));
        std::os::unix::fs::symlink("/", path.join(MOUNT_POINT)).unwrap();
        give_away().unwrap();
        assert_eq!(make_own(directory.as_fd()), Err(OsErrno::NOTEMPTY));
        assert_eq!(now(), (65_534, 0o775), "nothing of it changes");
    }

    #[test]
    fn a_run_waits_for_who_removes_its_directory_and_then_sees_that_it_is_gone() {
        let place = tempfile::tempdir().unwrap();
        let parent = open_parent(place.path()).unwrap();
        let name = OsStr::new("boatload-aaaaaaaa");
        rustix::fs::mkdirat(&parent, name, Mode::RWXU).unwrap();
        let held = open_directory(parent.as_fd(), name).unwrap();
        assert!(!is_locked(held.as_fd()), "from now on it is");
        let open = |stop: bool| open_locked(parent.as_fd(), name, &AtomicBool::new(stop));
        assert_eq!(open(true).unwrap_err(), OsErrno::INTR, "it does not wait when it is to stop");
        let opened = std::thread::scope(|scope| {
            let opening = scope.spawn(|| open(false));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!opening.is_finished(), "it waits");
            assert_eq!(is_unmarked(held.as_fd(), name), Ok(true));
            remove_unmarked(parent.as_fd(), held.as_fd(), name).unwrap();
            drop(held);
            opening.join().unwrap()
        });
        assert!(opened.unwrap().is_none());
    }
}
