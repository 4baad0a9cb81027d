//! Defines the requests that operations are made of, and the progress of one operation. A request is
//! plain data: names, contents and buffers belong to the engine, so nothing is
//! borrowed.

use std::fmt;

use boatload_base::errno::Errno;
use boatload_base::named_enum;

/// Something in the tree that a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemId {
    /// A file.
    File {
        /// Its number in the tree.
        number: u64,
        /// How often it was renamed.
        generation: u32,
        /// The directory that it was made in or moved to, by its number among those that hold files; `None` for
        /// the one where the tree has it.
        directory: Option<u8>,
    },
    /// A directory that is itself an entry of the tree, by its number.
    Directory(u64),
    /// A directory of the layout, counted from the root (0), parents first.
    Layout(u64),
    /// A block of the device; it begins at this number times its length.
    Block(u64),
}

impl ItemId {
    /// A file under its first name, where the tree has it.
    #[inline]
    pub fn file(number: u64) -> Self {
        ItemId::File { number, generation: 0, directory: None }
    }

    /// The same file under its next name. Only files are renamed.
    pub fn renamed(self) -> Self {
        match self {
            ItemId::File { number, generation, directory } => {
                ItemId::File { number, generation: generation + 1, directory }
            }
            other => other,
        }
    }

    /// The same file in another directory. Only files are moved.
    pub fn moved(self, to: u8) -> Self {
        match self {
            ItemId::File { number, generation, .. } => {
                ItemId::File { number, generation, directory: Some(to) }
            }
            other => other,
        }
    }

    /// Its number among its like.
    pub fn number(self) -> u64 {
        match self {
            ItemId::File { number, .. }
            | ItemId::Directory(number)
            | ItemId::Layout(number)
            | ItemId::Block(number) => number,
        }
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ItemId::File { number, generation, directory } => {
                write!(f, "file {number}")?;
                if generation > 0 {
                    write!(f, ".{generation}")?;
                }
                directory.map_or(Ok(()), |directory| write!(f, " in directory {directory}"))
            }
            ItemId::Directory(number) => write!(f, "directory {number}"),
            ItemId::Layout(number) => write!(f, "layout {number}"),
            ItemId::Block(number) => write!(f, "block {number}"),
        }
    }
}

/// The mode in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// For writing; it must not exist yet.
    CreateNew,
    /// For writing; what it held is dropped.
    Truncate,
    /// For writing in place.
    Write,
    /// For writing at the end.
    Append,
    /// For reading.
    Read,
    /// A directory, for listing.
    List,
}

/// One thing asked of the file system: one system call of the blocking engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Opens a file or directory; the following requests of the operation mean it.
    Open {
        /// What to open.
        place: ItemId,
        /// How.
        access: Access,
        /// With `O_DSYNC`.
        dsync: bool,
        /// With `O_NOATIME`.
        keep_atime: bool,
        /// With `O_DIRECT`.
        direct: bool,
    },
    /// Writes a part of the file's content to the open file.
    Write {
        /// Whose content.
        number: u64,
        /// Which version of it.
        version: u32,
        /// Where in the content the part begins, in bytes.
        offset: u64,
        /// How long it is.
        bytes: u32,
    },
    /// Writes a part of a content at a place in the open file (pwrite(2)).
    WriteAt {
        /// Whose content.
        number: u64,
        /// Which version of it.
        version: u32,
        /// Where in the content the part begins, in bytes.
        offset: u64,
        /// How long it is.
        bytes: u32,
        /// Where in the file it goes, in bytes.
        position: u64,
    },
    /// Sets the size of the open file.
    Truncate {
        /// Its new size.
        bytes: u64,
    },
    /// Reads on from the open file.
    Read {
        /// At most this much.
        bytes: u32,
    },
    /// pread(2) of a block of the device.
    ReadBlock {
        /// Which.
        place: ItemId,
        /// How long each block is.
        bytes: u32,
    },
    /// fsync(2) or fdatasync(2) of the open file.
    Sync {
        /// fdatasync.
        data_only: bool,
    },
    /// Closes the open file.
    Close,
    /// stat(2) by name.
    Stat(ItemId),
    /// fstat(2) of the open file.
    StatOpen,
    /// One buffer of entries of the open directory; the outcome is its bytes, 0 at the end.
    ReadDirectory,
    /// stat(2) of the next entry of the last buffer but `.` and `..`, by its name in the open directory, and of
    /// the one behind it if there is no file of that name any more; the outcome is 1, 0 if there are no more.
    StatEntry,
    /// chmod(2), to `rw-r-----`.
    SetMode(ItemId),
    /// rename(2).
    Rename {
        /// The file under its present name.
        from: ItemId,
        /// The same file under its new one.
        to: ItemId,
    },
    /// link(2).
    Link {
        /// The file under its present name.
        from: ItemId,
        /// Its second name.
        to: ItemId,
    },
    /// unlink(2).
    Unlink(ItemId),
    /// mkdir(2).
    MakeDirectory(ItemId),
    /// rmdir(2).
    RemoveDirectory(ItemId),
    /// fsync(2) of the directory that holds an entry.
    SyncHolder(ItemId),
}

named_enum! {
    /// A request without its particulars: the state of a step machine.
    pub enum RequestKind {
        /// openat(2).
        Open = "open",
        /// write(2).
        Write = "write",
        /// pwrite(2).
        WriteAt = "write-at",
        /// ftruncate(2).
        Truncate = "truncate",
        /// read(2).
        Read = "read",
        /// pread(2) of a block of the device.
        ReadBlock = "read-block",
        /// fsync(2) or fdatasync(2) of a file.
        Sync = "sync",
        /// close(2).
        Close = "close",
        /// stat(2).
        Stat = "stat",
        /// fstat(2).
        StatOpen = "stat-open",
        /// getdents(2).
        ReadDirectory = "read-directory",
        /// stat(2) of an entry of a listing.
        StatEntry = "stat-entry",
        /// chmod(2).
        SetMode = "chmod",
        /// rename(2).
        Rename = "rename",
        /// link(2).
        Link = "link",
        /// unlink(2).
        Unlink = "unlink",
        /// mkdir(2).
        MakeDirectory = "mkdir",
        /// rmdir(2).
        RemoveDirectory = "rmdir",
        /// fsync(2) of a directory.
        SyncHolder = "sync-directory",
    }
}

impl Request {
    /// Which request it is.
    #[inline]
    pub fn kind(&self) -> RequestKind {
        match self {
            Request::Open { .. } => RequestKind::Open,
            Request::Write { .. } => RequestKind::Write,
            Request::WriteAt { .. } => RequestKind::WriteAt,
            Request::Truncate { .. } => RequestKind::Truncate,
            Request::Read { .. } => RequestKind::Read,
            Request::ReadBlock { .. } => RequestKind::ReadBlock,
            Request::Sync { .. } => RequestKind::Sync,
            Request::Close => RequestKind::Close,
            Request::Stat(_) => RequestKind::Stat,
            Request::StatOpen => RequestKind::StatOpen,
            Request::ReadDirectory => RequestKind::ReadDirectory,
            Request::StatEntry => RequestKind::StatEntry,
            Request::SetMode(_) => RequestKind::SetMode,
            Request::Rename { .. } => RequestKind::Rename,
            Request::Link { .. } => RequestKind::Link,
            Request::Unlink(_) => RequestKind::Unlink,
            Request::MakeDirectory(_) => RequestKind::MakeDirectory,
            Request::RemoveDirectory(_) => RequestKind::RemoveDirectory,
            Request::SyncHolder(_) => RequestKind::SyncHolder,
        }
    }

    /// Whether it names what the operation works on: every operation has one such request, its
    /// first, but for one on a file that the operation before left open.
    #[inline]
    pub fn names_target(&self) -> bool {
        match self {
            Request::Open { .. }
            | Request::ReadBlock { .. }
            | Request::Stat(_)
            | Request::SetMode(_)
            | Request::Rename { .. }
            | Request::Link { .. }
            | Request::Unlink(_)
            | Request::MakeDirectory(_)
            | Request::RemoveDirectory(_)
            // Others end with a sync of the directory that holds what they named.
            | Request::SyncHolder(ItemId::Layout(_)) => true,
            Request::Write { .. }
            | Request::WriteAt { .. }
            | Request::Truncate { .. }
            | Request::Read { .. }
            | Request::Sync { .. }
            | Request::Close
            | Request::StatOpen
            | Request::ReadDirectory
            | Request::StatEntry
            | Request::SyncHolder(_) => false,
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Open { place, access, dsync, keep_atime, direct } => {
                write!(f, "open {place} {access:?}")?;
                f.write_str(if *dsync { " dsync" } else { "" })?;
                f.write_str(if *keep_atime { " noatime" } else { "" })?;
                f.write_str(if *direct { " direct" } else { "" })
            }
            Request::Write { number, version, offset, bytes } => {
                write!(f, "write {bytes} bytes at {offset} of content {number}.{version}")
            }
            Request::WriteAt { number, version, offset, bytes, position } => {
                let what = format_args!("{bytes} bytes at {offset} of content {number}.{version}");
                write!(f, "write at {position}: {what}")
            }
            Request::Truncate { bytes } => write!(f, "truncate to {bytes} bytes"),
            Request::Read { bytes } => write!(f, "read at most {bytes} bytes"),
            Request::ReadBlock { place, bytes } => write!(f, "read {bytes} bytes of {place}"),
            Request::Sync { data_only: false } => f.write_str("fsync"),
            Request::Sync { data_only: true } => f.write_str("fdatasync"),
            Request::Close => f.write_str("close"),
            Request::Stat(place) => write!(f, "stat {place}"),
            Request::StatOpen => f.write_str("fstat"),
            Request::ReadDirectory => f.write_str("getdents"),
            Request::StatEntry => f.write_str("stat the next entry"),
            Request::SetMode(place) => write!(f, "chmod {place}"),
            Request::Rename { from, to } => write!(f, "rename {from} to {to}"),
            Request::Link { from, to } => write!(f, "link {from} to {to}"),
            Request::Unlink(place) => write!(f, "unlink {place}"),
            Request::MakeDirectory(place) => write!(f, "mkdir {place}"),
            Request::RemoveDirectory(place) => write!(f, "rmdir {place}"),
            Request::SyncHolder(place) => write!(f, "fsync the directory of {place}"),
        }
    }
}

/// The result of a request: bytes moved (0 where none are), or the error.
pub type RequestOutcome = Result<u64, Errno>;

/// The progress of one operation on one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationProgress {
    /// The request that ended last; none at the start.
    pub last: Option<RequestKind>,
    /// What it moved, in bytes; what it counted, of [`Request::StatEntry`].
    pub last_bytes: u64,
    /// Bytes moved by all requests together.
    pub bytes: u64,
    /// Whether a file or directory is open.
    pub open: bool,
    /// The first error; the operation then only closes what it opened.
    pub failed: Option<RequestError>,
}

/// The error of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestError {
    /// Which request.
    pub kind: RequestKind,
    /// Its error.
    pub errno: Errno,
}

impl OperationProgress {
    /// Takes in what `request` came to.
    #[inline]
    pub fn complete(&mut self, request: &Request, outcome: RequestOutcome) {
        let kind = request.kind();
        self.last = Some(kind);
        match kind {
            RequestKind::Open => self.open = outcome.is_ok(),
            RequestKind::Close => self.open = false,
            _ => {}
        }
        match outcome {
            // A write of nothing would be asked for again for ever.
            Ok(0) if matches!(kind, RequestKind::Write | RequestKind::WriteAt) => {
                self.fail(kind, Errno::EIO)
            }
            Ok(entries) if kind == RequestKind::StatEntry => self.last_bytes = entries,
            Ok(bytes) => {
                self.last_bytes = bytes;
                self.bytes += bytes;
            }
            Err(errno) => self.fail(kind, errno),
        }
    }

    #[cold]
    fn fail(&mut self, kind: RequestKind, errno: Errno) {
        self.last_bytes = 0;
        self.failed.get_or_insert(RequestError { kind, errno });
    }
}

/// What an operation wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRequest {
    /// This request.
    Submit(Request),
    /// This request, after which the operation has ended whatever its result. A machine may
    /// leave it at [`NextRequest::Submit`] and [`NextRequest::Done`]; this spares the loop one question.
    Last(Request),
    /// Nothing: the operation on this target has ended.
    Done,
}
