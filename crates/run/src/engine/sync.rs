//! The I/O engine `sync`: one blocking system call for each request. It keeps directories open, so that names are relative to
//! them.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::ffi::CStr;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::Arc;

use super::Engine;
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::content::{AlignedBuffer, ContentPool};
use boatload_base::errno::Errno;
use boatload_base::names::NameBuffer;
use boatload_host::page_cache::name_is_cached;
use boatload_host::process::limit;
use boatload_op::request::RequestOutcome;
use boatload_op::{Access, ItemId, Request};
use boatload_plan::{Phase, Tree};

/// Most directories kept open as bases for names.
const DIRECTORIES_OPEN_MAX: u64 = 4096;

/// The mode that `chmod` sets; files are made with another.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP);

/// A tree and its open directories.
pub struct OpenTree {
    /// The tree's law.
    pub tree: Tree,
    /// Its own directory.
    pub root: OwnedFd,
    /// What names are relative to, one for each worker: an open directory that two of them used
    /// would make them wait for its reference count.
    pub bases: Vec<WorkerDirectories>,
}

/// One worker's open directories of a tree.
pub struct WorkerDirectories {
    /// The tree's own directory.
    pub root: OwnedFd,
    /// The directories that hold entries, by number; empty if there are too many to keep open,
    /// then names are paths from the root.
    pub holders: Vec<OwnedFd>,
    /// The number of the first of them.
    pub first_holder: u64,
}

impl OpenTree {
    /// Opens what `workers` need of a tree whose own directory is `root`; directories that hold entries only if
    /// `with_holders`, as far as this process may have them open.
    pub fn open(
        tree: Tree,
        root: OwnedFd,
        workers: u64,
        with_holders: bool,
    ) -> Result<Self, Errno> {
        let most = directories_open_max();
        let with_holders =
            with_holders && tree.holders().saturating_add(1).saturating_mul(workers) <= most;
        let holders = if with_holders { 0..tree.holders() } else { 0..0 };
        let open = |_| WorkerDirectories::open(&tree, root.as_fd(), holders.clone());
        let bases = (0..workers.min(most).max(1)).map(open).collect::<Result<_, _>>()?;
        Ok(Self { tree, root, bases })
    }
}

impl WorkerDirectories {
    /// Opens the directories of `tree` anew below its open root; of those that hold entries these, others are reached by
    /// paths.
    pub(crate) fn open(
        tree: &Tree,
        root: BorrowedFd<'_>,
        holders: Range<u64>,
    ) -> Result<Self, Errno> {
        let first_holder = holders.start;
        let open = |holder| open_layout(tree, root, tree.layout_of_holder(holder));
        let holders = holders.map(open).collect::<Result<_, _>>()?;
        Ok(Self { root: open_layout(tree, root, 0)?, holders, first_holder })
    }

    #[inline]
    fn holder(&self, number: u64) -> Option<&OwnedFd> {
        self.holders.get(number.wrapping_sub(self.first_holder) as usize)
    }
}

/// Half of the files this process may have open, within reason.
pub(crate) fn directories_open_max() -> u64 {
    limit("Max open files")
        .map_or(DIRECTORIES_OPEN_MAX, |limit| DIRECTORIES_OPEN_MAX.min(limit / 2))
}

/// One worker's blocking engine.
pub struct SyncEngine {
    shared: Arc<OpenTree>,
    base: usize,
    open: Option<OwnedFd>,
    name: NameBuffer,
    new_name: NameBuffer,
    content: ContentPool,
    buffer: AlignedBuffer,
    /// Entries of a directory in the buffer that were not looked at yet, in bytes.
    entries: Range<usize>,
}

impl SyncEngine {
    /// The engine of a worker that has a base in `shared`, for what `phase` reads and writes.
    pub fn new(shared: Arc<OpenTree>, worker: u32, phase: &Phase) -> Self {
        // Where there are fewer bases than workers they are shared.
        let base = worker as usize % shared.bases.len().max(1);
        let content = ContentPool::new(&shared.tree, phase.write_bytes_max(&shared.tree));
        let content = content.for_direct(phase.direct);
        let buffer = AlignedBuffer::new(buffer_bytes(phase));
        let (name, new_name) = (NameBuffer::default(), NameBuffer::default());
        Self { shared, base, open: None, name, new_name, content, buffer, entries: 0..0 }
    }

    /// The memory of one, in bytes.
    pub fn bytes(phase: &Phase, tree: &Tree) -> u64 {
        ContentPool::bytes(phase.write_bytes_max(tree)) + buffer_bytes(phase) as u64
    }

    /// Makes one call on a named place.
    #[inline]
    fn at<T>(
        &mut self,
        place: ItemId,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> rustix::io::Result<T>,
    ) -> RequestOutcome {
        let base = base(&self.shared, self.base)?;
        let directory = locate(&self.shared.tree, base, place, &mut self.name);
        done(call(directory, self.name.as_c_str()))
    }

    #[inline]
    fn open(&mut self, place: ItemId, flags: OFlags) -> RequestOutcome {
        let base = base(&self.shared, self.base)?;
        let directory = locate(&self.shared.tree, base, place, &mut self.name);
        let mode = Mode::RUSR | Mode::WUSR;
        let opened = rustix::fs::openat(directory, self.name.as_c_str(), flags, mode)?;
        self.open = Some(opened);
        Ok(0)
    }

    /// Makes one call on the present and the new name of a file.
    fn at_both(
        &mut self,
        from: ItemId,
        to: ItemId,
        call: impl FnOnce(BorrowedFd<'_>, &CStr, BorrowedFd<'_>, &CStr) -> rustix::io::Result<()>,
    ) -> RequestOutcome {
        let base = base(&self.shared, self.base)?;
        let directory = locate(&self.shared.tree, base, from, &mut self.name);
        let to = locate(&self.shared.tree, base, to, &mut self.new_name);
        done(call(directory, self.name.as_c_str(), to, self.new_name.as_c_str()))
    }

    fn stat_entry(&mut self) -> RequestOutcome {
        let directory = opened(&self.open)?;
        while let Some(entry) = DirectoryEntry::of(self.buffer.get(self.entries.clone())) {
            self.entries.start += entry.length;
            if matches!(entry.name.to_bytes(), b"." | b"..") {
                continue;
            }
            match rustix::fs::statat(directory, entry.name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => return Ok(1),
                Err(rustix::io::Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(0)
    }

    fn sync_holder(&mut self, place: ItemId) -> RequestOutcome {
        let tree = &self.shared.tree;
        let base = base(&self.shared, self.base)?;
        let holder = tree.holder_of_place(place);
        if let Some(directory) = base.holder(holder) {
            return done(rustix::fs::fsync(directory));
        }
        let directory = open_layout(tree, base.root.as_fd(), tree.layout_of_holder(holder))?;
        done(rustix::fs::fsync(directory))
    }
}

impl Engine for SyncEngine {
    #[inline]
    fn carry_out(&mut self, request: &Request) -> RequestOutcome {
        match *request {
            Request::Open { place, access, dsync, keep_atime, direct } => {
                let around = if direct { OFlags::DIRECT } else { OFlags::empty() };
                self.open(place, open_flags(access, dsync, keep_atime) | around)
            }
            Request::Write { number, version, offset, bytes } => {
                let key = self.shared.tree.content_key(number, version);
                let part = self.content.part(key, offset, bytes);
                Ok(rustix::io::write(opened(&self.open)?, part)? as u64)
            }
            Request::WriteAt { number, version, offset, bytes, position } => {
                let key = self.shared.tree.content_key(number, version);
                let part = self.content.part(key, offset, bytes);
                Ok(rustix::io::pwrite(opened(&self.open)?, part, position)? as u64)
            }
            Request::Truncate { bytes } => done(rustix::fs::ftruncate(opened(&self.open)?, bytes)),
            Request::Read { bytes } => {
                let buffer = &mut self.buffer[..bytes as usize];
                Ok(rustix::io::read(opened(&self.open)?, buffer)? as u64)
            }
            // Only the device's own engine has a device open.
            Request::ReadBlock { .. } => Err(Errno::EBADF),
            Request::Sync { data_only: false } => done(rustix::fs::fsync(opened(&self.open)?)),
            Request::Sync { data_only: true } => done(rustix::fs::fdatasync(opened(&self.open)?)),
            Request::Close => close(self.open.take().ok_or(Errno::EBADF)?),
            Request::StatOpen => done(rustix::fs::fstat(opened(&self.open)?)),
            Request::ReadDirectory => {
                let bytes = read_directory(opened(&self.open)?, &mut self.buffer)?;
                self.entries = 0..bytes as usize;
                Ok(bytes)
            }
            Request::StatEntry => self.stat_entry(),
            Request::SyncHolder(place) => self.sync_holder(place),
            Request::Rename { from, to } => self.at_both(from, to, |old, name, new, new_name| {
                rustix::fs::renameat(old, name, new, new_name)
            }),
            Request::Link { from, to } => self.at_both(from, to, |old, name, new, new_name| {
                rustix::fs::linkat(old, name, new, new_name, AtFlags::empty())
            }),
            Request::Stat(place) => {
                self.at(place, |dir, name| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
            }
            Request::SetMode(place) => {
                self.at(place, |dir, name| rustix::fs::chmodat(dir, name, MODE, AtFlags::empty()))
            }
            Request::Unlink(place) => {
                self.at(place, |dir, name| rustix::fs::unlinkat(dir, name, AtFlags::empty()))
            }
            Request::MakeDirectory(place) => {
                self.at(place, |dir, name| rustix::fs::mkdirat(dir, name, Mode::RWXU))
            }
            Request::RemoveDirectory(place) => {
                self.at(place, |dir, name| rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR))
            }
        }
    }
}

/// What is read at a time: content, or the entries of a directory.
fn buffer_bytes(phase: &Phase) -> usize {
    let content = if phase.reads_content() { phase.block as usize } else { 0 };
    content.max(super::DIRENT_BYTES)
}

#[inline]
fn base(shared: &OpenTree, at: usize) -> Result<&WorkerDirectories, Errno> {
    shared.bases.get(at).ok_or(Errno::EBADF)
}

/// Opens a directory of the layout, for listing, syncing, and as a base for names.
fn open_layout(tree: &Tree, root: BorrowedFd<'_>, number: u64) -> Result<OwnedFd, Errno> {
    let mut path = NameBuffer::default();
    push_layout(tree, number, &mut path);
    let flags = open_flags(Access::List, false, false);
    Ok(rustix::fs::openat(root, path.as_c_str(), flags, Mode::empty())?)
}

fn push_layout(tree: &Tree, number: u64, path: &mut NameBuffer) {
    tree.push_layout(number, path);
    if path.as_bytes().is_empty() {
        path.push_here();
    }
}

/// Writes the name of a place and says which open directory it is relative to.
#[inline]
fn locate<'a>(
    tree: &Tree,
    base: &'a WorkerDirectories,
    place: ItemId,
    name: &mut NameBuffer,
) -> BorrowedFd<'a> {
    name.clear();
    if let ItemId::Layout(number) = place {
        push_layout(tree, number, name);
        return base.root.as_fd();
    }
    let holder = tree.holder_of_place(place);
    let directory = match base.holder(holder) {
        Some(directory) => directory.as_fd(),
        None => {
            tree.push_layout(tree.layout_of_holder(holder), name);
            base.root.as_fd()
        }
    };
    tree.push_name(place, name);
    directory
}

#[inline]
fn open_flags(access: Access, dsync: bool, keep_atime: bool) -> OFlags {
    let mut flags = OFlags::CLOEXEC
        | OFlags::NOFOLLOW
        | match access {
            Access::CreateNew => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            Access::Truncate => OFlags::WRONLY | OFlags::TRUNC,
            Access::Write => OFlags::WRONLY,
            Access::Append => OFlags::WRONLY | OFlags::APPEND,
            Access::Read => OFlags::RDONLY,
            Access::List => OFlags::RDONLY | OFlags::DIRECTORY,
        };
    if dsync {
        // Not OFlags::DSYNC, which rustix defines as the kernel's O_SYNC: that one waits for more.
        flags |= OFlags::from_bits_retain(libc::O_DSYNC as u32);
    }
    if keep_atime {
        flags |= OFlags::NOATIME;
    }
    flags
}

#[inline]
fn opened(open: &Option<OwnedFd>) -> Result<BorrowedFd<'_>, Errno> {
    open.as_ref().map(AsFd::as_fd).ok_or(Errno::EBADF)
}

#[inline]
#[expect(clippy::needless_pass_by_value, reason = "a result is consumed where it is made")]
fn done<T>(result: rustix::io::Result<T>) -> RequestOutcome {
    match result {
        Ok(_) => Ok(0),
        Err(errno) => Err(errno.into()),
    }
}

/// Closes and says what close(2) said: on a network file system that is where a write fails.
#[inline]
fn close(file: OwnedFd) -> RequestOutcome {
    // SAFETY: the descriptor was owned by `file`, which gives it up here, so it is closed once.
    done(unsafe { rustix::io::try_close(file.into_raw_fd()) })
}

/// One getdents64(2); its result is bytes, 0 at the end of the directory.
fn read_directory(directory: BorrowedFd<'_>, buffer: &mut [u8]) -> RequestOutcome {
    let length = buffer.len().min(super::DIRENT_BYTES);
    // SAFETY: the kernel writes at most `length` bytes to `buffer`, which is at least that long
    // and not read as anything but bytes.
    let result = unsafe {
        libc::syscall(libc::SYS_getdents64, directory.as_raw_fd(), buffer.as_mut_ptr(), length)
    };
    match u64::try_from(result) {
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))),
    }
}

/// An entry of a listing, as getdents64(2) packs it.
struct DirectoryEntry<'a> {
    name: &'a CStr,
    length: usize,
}

impl<'a> DirectoryEntry<'a> {
    /// The first one in a buffer; `None` if nothing is left, or what is there is none.
    fn of(buffer: Option<&'a [u8]>) -> Option<Self> {
        const LENGTH: Range<usize> = 16..18;
        const NAME: usize = 19;
        let buffer = buffer?;
        let length = u16::from_ne_bytes(buffer.get(LENGTH)?.try_into().ok()?);
        let length = usize::from(length);
        let name = CStr::from_bytes_until_nul(buffer.get(NAME..length)?).ok()?;
        Some(Self { name, length })
    }
}

/// Opens a file only to look at it: nothing of it is read, its access time stays.
pub fn open_for_looking(shared: &OpenTree, place: ItemId) -> Result<OwnedFd, Errno> {
    let mut name = NameBuffer::default();
    let directory = locate(&shared.tree, base(shared, 0)?, place, &mut name);
    let flags = open_flags(Access::Read, false, true);
    Ok(rustix::fs::openat(directory, name.as_c_str(), flags, Mode::empty())?)
}

/// Whether the name of a place is in memory, and so its inode; asking reads nothing.
pub fn is_cached(shared: &OpenTree, place: ItemId) -> Result<bool, Errno> {
    let mut name = NameBuffer::default();
    let directory = locate(&shared.tree, base(shared, 0)?, place, &mut name);
    name_is_cached(directory, name.as_c_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of this name that says it has this length.
    fn packed(name: &[u8], length: u16) -> Vec<u8> {
        let mut entry = vec![0; 19];
        entry[16..18].copy_from_slice(&length.to_ne_bytes());
        entry.extend(name);
        entry
    }

    #[test]
    fn an_entry_that_does_not_fit_its_buffer_is_none() {
        let whole = packed(b"f1\0\0\0", 24);
        let found = DirectoryEntry::of(Some(&whole)).map(|e| (e.name.to_bytes(), e.length));
        assert_eq!(found, Some((&b"f1"[..], 24)));
        assert!(DirectoryEntry::of(None).is_none());
        for cut in 0..whole.len() {
            assert!(DirectoryEntry::of(Some(&whole[..cut])).is_none(), "{cut}");
        }
        for length in [0, 16, 19, 20, 21, 25, u16::MAX] {
            assert!(DirectoryEntry::of(Some(&packed(b"f1\0\0\0", length))).is_none(), "{length}");
        }
    }
}
