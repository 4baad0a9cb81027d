//! Opens what a user named for output. Somebody else may have put a link, a pipe or a file there, or the name may belong to a
//! device: all is checked on a descriptor that has no effect (`O_PATH`), and that very file is then opened, so that nothing can
//! be exchanged between check and use.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, Permissions};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, PROC_SUPER_MAGIC, fstatfs, major, minor};
use rustix::io::Errno as OsErrno;

use super::files::{uninterrupted, write_all};
use super::random::random_word;

/// Links at the last step of a path that are followed, as in path_resolution(7).
const LINKS_MAX: usize = 40;

/// Letters of a name that nobody can guess.
const RANDOM_LETTERS: usize = 16;

/// The open files of this process, by number.
const OPEN_FILES: &str = "/proc/self/fd";

/// Permissions of a file, without what makes programs run as its owner.
const PERMISSIONS: u32 = 0o777;

/// Permissions of everybody but the owner to write.
const OTHERS_WRITE: u32 = 0o022;

/// What a user named for output, and what is there.
#[derive(Debug)]
pub struct Output {
    named: OutputName,
    /// Where links at its last step lead; none without links.
    led: Option<OutputName>,
    /// The owner of such a link, if it is not this user.
    led_by: Option<u32>,
    /// `None` if there is nothing yet.
    found: Option<FoundOutput>,
}

impl Output {
    /// Looks at what is there. The directories above may be links of anybody.
    ///
    /// # Errors
    /// If it is a block device, or anything else but a file, a pipe, a terminal, `/dev/null`, `/dev/zero` or `/dev/full`; if it,
    /// or a link at the last step, belongs neither to this user nor to root nor to who called sudo; and if it cannot be seen.
    pub fn find(path: &Path) -> Result<Self> {
        let named = OutputName::of(CWD, path)?;
        let mut output = Self { named, led: None, led_by: None, found: None };
        for _ in 0..LINKS_MAX {
            let end = output.end();
            let Some(found) = end.find()? else { return Ok(output) };
            end.check(&found)?;
            if !found.metadata.is_symlink() {
                output.found = Some(found);
                return Ok(output);
            }
            let target = rustix::fs::readlinkat(&found.file, c"", Vec::new())?;
            let led = OutputName::of(&end.directory, OsStr::from_bytes(target.to_bytes()).as_ref());
            output.led = Some(led?);
            let owner = found.metadata.uid();
            output.led_by = (owner != this_user()).then_some(owner).or(output.led_by);
        }
        Err(OsErrno::LOOP.into())
    }

    fn end(&self) -> &OutputName {
        self.led.as_ref().unwrap_or(&self.named)
    }

    /// The same with this ending of its name.
    ///
    /// # Errors
    /// As [`Output::find`].
    pub fn beside(&self, ending: &str) -> Result<Self> {
        let mut name = self.path()?.into_os_string();
        name.push(ending);
        Self::find(name.as_ref())
    }

    /// Where it is: behind links at the last step, and without links above.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn path(&self) -> Result<PathBuf> {
        let end = self.end();
        let link = format!("{OPEN_FILES}/{}", end.directory.as_raw_fd());
        let directory = rustix::fs::readlink(link, Vec::new())?.into_bytes();
        Ok(PathBuf::from(OsString::from_vec(directory)).join(&end.name))
    }

    /// What is known of the file that is there, if one is.
    ///
    /// # Errors
    /// If it is no regular file.
    pub fn file(&self) -> Result<Option<&Metadata>> {
        match &self.found {
            Some(found) if !found.metadata.is_file() => Err(Error::other("it is no regular file")),
            found => Ok(found.as_ref().map(|found| &found.metadata)),
        }
    }

    /// Makes it an empty file for its owner alone, whatever the umask is. Another process may have made it meanwhile.
    ///
    /// # Errors
    /// If none can be made there, or only through a link of somebody else.
    pub fn make_private(&self) -> Result<()> {
        if let Some(owner) = self.led_by {
            return Err(Error::other(format!(
                "it is a link of user {owner} to a file that does not exist: make that file first, or remove the link"
            )));
        }
        match self.end().make(&self.end().name, 0o600) {
            Ok(made) => made.set_permissions(Permissions::from_mode(0o600)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether it can be written, as far as that is seen without writing.
    ///
    /// # Errors
    /// If it cannot.
    pub fn try_to_write(&self) -> Result<()> {
        match &self.found {
            Some(found) if found.is_stream() => Ok(()),
            Some(found) if self.led.is_none() => found.open(OFlags::WRONLY).map(drop),
            _ => self.named.try_beside(),
        }
    }

    /// Writes a text. Whoever reads a file meanwhile finds the old text or the new one, never a part, unless nothing can be put
    /// next to it. It keeps its owner and its permissions. A link to a file or to nothing is replaced, not followed. What is no
    /// file stays what it is, also behind a link.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, text: &str) -> Result<()> {
        match &self.found {
            Some(found) if found.is_stream() => found.overwrite(text),
            Some(found) if self.led.is_none() => {
                // A file that may not be written is not replaced either.
                found.open(OFlags::WRONLY)?;
                match self.named.replace(NewFile::Like(&found.metadata), text) {
                    // A directory of someone else's, or a file that is a mount point. Another name of the file may be one
                    // that nobody meant.
                    Err(error) if is_refused(&error) && found.metadata.nlink() == 1 => {
                        found.overwrite(text)
                    }
                    written => written,
                }
            }
            _ => self.named.replace(NewFile::Ordinary, text),
        }
    }
}

/// Writes a text to a new file that only its owner reads, whatever the umask is, or in place of another one at once.
///
/// # Errors
/// If it cannot be written there.
pub fn write_private(path: &Path, text: &str) -> Result<()> {
    OutputName::of(CWD, path)?.replace(NewFile::Private, text)
}

/// Whether files can be made in a directory: one is, and removed, for rights alone do not tell.
///
/// # Errors
/// If none can.
pub fn try_directory(directory: &Path) -> Result<()> {
    OutputName::of(CWD, &directory.join("any"))?.try_beside()
}

/// Opens a file by its path as open(2) does, but follows no link at the last step, waits for nobody, and refuses what
/// [`Output::find`] refuses and all but regular files. Only to read, it opens whatever is no pipe, socket or block device.
///
/// # Errors
/// If it is refused, or cannot be opened.
pub fn open_file(path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let plain = || Ok(uninterrupted(|| rustix::fs::open(path, flags, mode))?);
    if flags & OFlags::ACCMODE == OFlags::RDONLY {
        let file = File::from(plain()?);
        let kind = file.metadata()?.file_type();
        let is_plain = kind.is_file() || kind.is_dir() || kind.is_char_device();
        return if is_plain { Ok(file.into()) } else { Err(OsErrno::ISDIR.into()) };
    }
    if flags.contains(OFlags::EXCL) {
        return plain();
    }
    let name = OutputName::of(CWD, path)?;
    for _ in 0..LINKS_MAX {
        if let Some(found) = name.find()? {
            name.check(&found)?;
            // A file with a second name may be one that nobody meant.
            return match found.metadata.is_file() && found.metadata.nlink() == 1 {
                true => found.open(flags & !(OFlags::CREATE | OFlags::NOFOLLOW)),
                false => Err(OsErrno::ISDIR.into()),
            };
        }
        let new = flags | OFlags::EXCL | OFlags::NOFOLLOW;
        match uninterrupted(|| rustix::fs::openat(&name.directory, &name.name, new, mode)) {
            // It was made meanwhile.
            Err(OsErrno::EXIST) => {}
            opened => return Ok(opened?),
        }
    }
    Err(OsErrno::LOOP.into())
}

/// Who may read and write a new file.
#[derive(Clone, Copy)]
enum NewFile<'a> {
    /// As the umask says.
    Ordinary,
    /// Its owner alone.
    Private,
    /// Like the file that it replaces, with its owner.
    Like(&'a Metadata),
}

/// A name in an open directory.
#[derive(Debug)]
struct OutputName {
    directory: OwnedFd,
    name: OsString,
}

impl OutputName {
    fn of(from: impl AsFd, path: &Path) -> Result<Self> {
        let bytes = path.as_os_str().as_bytes();
        let (directory, name) = match bytes.iter().rposition(|byte| *byte == b'/') {
            Some(at) => bytes.split_at(at + 1),
            None => (&b"."[..], bytes),
        };
        match name {
            b"" if bytes.is_empty() => return Err(OsErrno::NOENT.into()),
            b"" | b"." | b".." => return Err(OsErrno::ISDIR.into()),
            _ => {}
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(&from, directory, flags, Mode::empty());
        Ok(Self { directory: uninterrupted(open)?, name: OsStr::from_bytes(name).into() })
    }

    fn find(&self) -> Result<Option<FoundOutput>> {
        // Links that the kernel makes there point to open files, and have no text to follow.
        let is_of_kernel = fstatfs(&self.directory)?.f_type == PROC_SUPER_MAGIC;
        let follow = if is_of_kernel { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = OFlags::PATH | OFlags::CLOEXEC | follow;
        let open = || rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty());
        let file = match uninterrupted(open) {
            Err(OsErrno::NOENT) => return Ok(None),
            opened => File::from(opened?),
        };
        let is_inherited = is_of_kernel && {
            let (own, here) = (rustix::fs::stat(OPEN_FILES)?, rustix::fs::fstat(&self.directory)?);
            (own.st_dev, own.st_ino) == (here.st_dev, here.st_ino)
        };
        Ok(Some(FoundOutput { metadata: file.metadata()?, file, is_inherited }))
    }

    fn check(&self, found: &FoundOutput) -> Result<()> {
        let (kind, owner) = (found.metadata.file_type(), found.metadata.uid());
        let is_other = kind.is_char_device() && !is_terminal_or_void(found.metadata.rdev());
        let why = match () {
            () if kind.is_block_device() => {
                "it is a block device, and what is on it would be lost: name a file".into()
            }
            () if found.is_inherited => return Ok(()),
            () if kind.is_dir() => return Err(OsErrno::ISDIR.into()),
            () if kind.is_socket() || is_other => {
                "it is neither a file, a pipe nor a terminal: name a file".into()
            }
            () if kind.is_char_device() || is_trusted(owner) || self.gives_files_to(owner) => {
                return Ok(());
            }
            () if kind.is_symlink() => format!(
                "it is a link of user {owner}, who can point it anywhere: remove it, or name another file"
            ),
            () => format!(
                "it belongs to user {owner}, who could read or change what is written there: remove it, or name another file"
            ),
        };
        Err(Error::other(why))
    }

    /// Whether the file system gives this user what this process makes there (vfat, FUSE, NFS without root), and nobody else
    /// can make anything there.
    fn gives_files_to(&self, user: u32) -> bool {
        let is_private = rustix::fs::fstat(&self.directory).is_ok_and(|directory| {
            let owner = directory.st_uid;
            (owner == user || is_trusted(owner)) && directory.st_mode & OTHERS_WRITE == 0
        });
        let made = || {
            let beside = self.make_beside(0o600)?;
            let owner = beside.file.metadata().map(|made| made.uid());
            self.remove(&beside.name)?;
            owner
        };
        is_private && made().is_ok_and(|owner| owner == user)
    }

    fn make(&self, name: &OsStr, mode: u32) -> Result<File> {
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::EXCL
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        let open = || rustix::fs::openat(&self.directory, name, flags, mode);
        Ok(uninterrupted(open)?.into())
    }

    /// Makes a file with a name that nobody can guess.
    fn make_beside(&self, mode: u32) -> Result<NewOutput> {
        let name = OsString::from(format!(".boatload-{}", random_word(RANDOM_LETTERS)?));
        Ok(NewOutput { file: self.make(&name, mode)?, name })
    }

    fn remove(&self, name: &OsStr) -> Result<()> {
        Ok(rustix::fs::unlinkat(&self.directory, name, AtFlags::empty())?)
    }

    fn try_beside(&self) -> Result<()> {
        self.remove(&self.make_beside(0o600)?.name)
    }

    /// Puts a new file beside the old one, and then in its place.
    fn replace(&self, new: NewFile<'_>, text: &str) -> Result<()> {
        let mode = if matches!(new, NewFile::Ordinary) { 0o666 } else { 0o600 };
        let NewOutput { name, file } = self.make_beside(mode)?;
        let written = match new {
            NewFile::Ordinary => Ok(()),
            NewFile::Private => file.set_permissions(Permissions::from_mode(mode)),
            NewFile::Like(before) => resemble(&file, before),
        };
        let rename = || {
            let directory = &self.directory;
            Ok(rustix::fs::renameat(directory, &name, directory, &self.name)?)
        };
        let written = written.and_then(|()| write_all(&file, text.as_bytes()));
        let written = written.and_then(|()| file.sync_all());
        written.and_then(|()| rename()).inspect_err(|_| {
            let _ = self.remove(&name);
        })
    }
}

/// A file that was just made, with its name.
struct NewOutput {
    name: OsString,
    file: File,
}

/// What has a name, opened without any effect.
#[derive(Debug)]
struct FoundOutput {
    file: File,
    metadata: Metadata,
    /// Whether this process was started with it.
    is_inherited: bool,
}

impl FoundOutput {
    /// Whether it stays what it is when it is written.
    fn is_stream(&self) -> bool {
        self.is_inherited || !self.metadata.is_file()
    }

    /// Opens this very file, whatever has its name by now.
    fn open(&self, flags: OFlags) -> Result<OwnedFd> {
        let path = format!("{OPEN_FILES}/{}", self.file.as_raw_fd());
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
        Ok(uninterrupted(|| rustix::fs::open(&path, flags, Mode::empty()))?)
    }

    fn overwrite(&self, text: &str) -> Result<()> {
        let file = self.open(OFlags::WRONLY)?;
        if self.metadata.is_file() {
            rustix::fs::ftruncate(&file, 0)?;
        }
        write_all(file, text.as_bytes())
    }
}

fn is_refused(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ResourceBusy)
}

/// Gives a new file the owner and the permissions of the one that it replaces. Where that is somebody
/// else's, only root can, and the old one is to be written to instead.
fn resemble(file: &File, before: &Metadata) -> Result<()> {
    let owner = |of: &Metadata| (of.uid(), of.gid());
    if owner(&file.metadata()?) != owner(before) {
        fchown(file, Some(before.uid()), Some(before.gid()))
            .map_err(|_| ErrorKind::PermissionDenied)?;
    }
    file.set_permissions(Permissions::from_mode(before.mode() & PERMISSIONS))
}

fn this_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether this process trusts files of this user: itself, root, and for root also the user who called sudo.
fn is_trusted(user: u32) -> bool {
    let called_sudo = || std::env::var("SUDO_UID").is_ok_and(|id| id.parse() == Ok(user));
    user == 0 || user == this_user() || this_user() == 0 && called_sudo()
}

/// Whether a character device is `/dev/null`, `/dev/zero`, `/dev/full` or a terminal (`Documentation/admin-guide/devices.txt`
/// of Linux). Others do something as soon as they are opened.
fn is_terminal_or_void(device: u64) -> bool {
    matches!((major(device), minor(device)), (1, 3 | 5 | 7) | (4 | 5 | 136..=143, _))
}
