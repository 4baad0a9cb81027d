//! Defines what an operation is: a step machine, what it does to the tree, and what it is done to.

use std::fmt;

use serde::{Serialize, Serializer};

use super::request::{ItemId, NextRequest, OperationProgress};
use boatload_base::named_enum;

/// One kind of work on one target.
pub struct Operation {
    /// Its name in job files, results and on the command line.
    pub name: &'static str,
    /// What it does, in half a sentence, for help and documentation.
    pub about: &'static str,
    /// What it does to the number of entries; counted on disk after every phase.
    pub effect: Effect,
    /// What it works on.
    pub subject: Subject,
    /// What it leaves different about its target for the phases after it.
    pub change: Change,
    /// Whether it reads all of a file's content, so that the bytes it must bring are known.
    pub reads_content: bool,
    /// Whether it writes to a new file, which then takes the place of its target.
    pub makes_temporary: bool,
    /// The next request for a target, given what the earlier ones came to.
    pub step: fn(&Target, &OperationProgress) -> NextRequest,
}

impl Operation {
    /// What holds where an operation states nothing else: it works on a file and changes nothing.
    pub(super) const DEFAULT: Self = Self {
        name: "",
        about: "",
        effect: Effect::KeepsTree,
        subject: Subject::File,
        change: Change::Nothing,
        reads_content: false,
        makes_temporary: false,
        step: |_, _| NextRequest::Done,
    };

    /// Whether it reads or writes content, so that a law says how many bytes it moves.
    pub fn moves_content(&self) -> bool {
        self.reads_content || self.change.writes_content()
    }

    /// Whether it leaves the tree and each target as they were, so that it can be done again.
    pub fn only_looks(&self) -> bool {
        self.effect == Effect::KeepsTree && self.change == Change::Nothing
    }
}

impl PartialEq for Operation {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name)
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The effect of an operation on the number of entries in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// One more entry for each target; of chunks, for each file that they begin.
    AddsEntry,
    /// One entry less for each target.
    RemovesEntry,
    /// As many entries as before.
    KeepsTree,
}

/// The kind of thing that an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A file of the tree.
    File,
    /// A part of a file, in a tree whose files are made of such parts.
    Chunk,
    /// A directory that is itself an entry of the tree (what `mkdir` makes).
    Directory,
    /// A directory of the layout, which holds entries.
    Holder,
    /// Every directory from the root down: layout and entries.
    AnyDirectory,
    /// A block of the device under the directory; no tree is needed.
    Block,
}

/// The change that an operation makes to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Change {
    /// Nothing that a later phase would meet.
    Nothing,
    /// Attributes that no later phase depends on.
    Attributes,
    /// New content of a newly drawn size.
    NewSize,
    /// New content of the same size.
    SameSize,
    /// More content, of a newly drawn size, at the end.
    Grows,
    /// Half of the size: the first half of the content stays.
    Halves,
    /// Another name, instead of its own or beside it.
    Renames,
    /// A new file with all of its chunks.
    Chunks,
}

impl Change {
    /// Whether content is written: then the size of a target says how many bytes.
    pub const fn writes_content(self) -> bool {
        match self {
            Change::NewSize | Change::SameSize | Change::Grows | Change::Chunks => true,
            Change::Nothing | Change::Attributes | Change::Halves | Change::Renames => false,
        }
    }

    /// Whether a later phase meets the target changed: its content, its size or its name.
    pub const fn modifies_target(self) -> bool {
        match self {
            Change::NewSize
            | Change::SameSize
            | Change::Grows
            | Change::Chunks
            | Change::Halves
            | Change::Renames => true,
            Change::Nothing | Change::Attributes => false,
        }
    }

    /// Whether an operation ends with an fsync of its file: a name is the directory's, and attributes are changed
    /// without opening the file.
    pub const fn is_synced_with_file(self) -> bool {
        match self {
            Change::NewSize
            | Change::SameSize
            | Change::Grows
            | Change::Chunks
            | Change::Halves => true,
            Change::Nothing | Change::Attributes | Change::Renames => false,
        }
    }
}

named_enum! {
    /// When written data must be on the device.
    #[derive(Default)]
    pub enum Durability {
        /// Whenever the kernel likes.
        #[default]
        None = "none",
        /// fsync(2) of the file at the end of each operation.
        Fsync = "fsync",
        /// fdatasync(2) of the file at the end of each operation.
        Fdatasync = "fdatasync",
        /// fsync(2) of the file, then of the directory that holds it.
        FsyncDirectory = "fsync-directory",
        /// Each file opened with `O_DSYNC`.
        Dsync = "dsync",
        /// One syncfs(2) at the end of the phase, its time kept apart.
        Syncfs = "syncfs",
    }
}

/// One thing an operation is to be done to, with all that follows from its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// What is worked on.
    pub place: ItemId,
    /// Bytes to write in all, or the new size of a file that is cut (0 for an operation that does neither).
    pub size: u64,
    /// Which content the file gets: counts the phases that wrote it before.
    pub version: u32,
    /// Most bytes one read or write asks for.
    pub block: u32,
    /// When written data must be on the device.
    pub durability: Durability,
    /// Whether reads leave the access time alone (`O_NOATIME`).
    pub keep_atime: bool,
    /// Whether content goes around the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Whether the file is to be opened; otherwise the operation before left it open.
    pub opens: bool,
    /// Whether the file is to be closed; otherwise it is left open for the operation after.
    pub closes: bool,
    /// The directory that a file is moved to, or gets another name in; `None` for its own.
    pub new_directory: Option<u8>,
    /// Which part of the file is meant, for an operation on chunks.
    pub chunk: Chunk,
}

impl Target {
    /// The place that a rename gives it: under the same name in another directory, or under the next one.
    pub fn new_place(&self) -> ItemId {
        self.new_directory.map_or_else(|| self.place.renamed(), |to| self.place.moved(to))
    }
}

impl OperationProgress {
    /// Of an operation that has not begun.
    #[inline]
    pub fn before(target: &Target) -> Self {
        Self { open: !target.opens, ..Self::default() }
    }
}

/// A chunk of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Its number in the tree, which its content follows from.
    pub number: u64,
    /// Where it begins in its file, in bytes.
    pub position: u64,
    /// Whether the file must not exist yet.
    pub creates: bool,
}
