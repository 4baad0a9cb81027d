//! The file system with one file that a modelled disk is served through: data is read from and written to
//! the image at once, replies wait for the disk.

use std::ffi::OsStr;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, ReplyWrite, Request, WriteFlags,
};
use rustix::fs::FallocateFlags;

use super::power::DiskPower;
use super::replies::{DeferredReply, ReplyQueue};
use super::simulator::DiskRequestKind;
use crate::run_directory::IMAGE;

const FILE_NUMBER: INodeNo = INodeNo(2);

/// The file never changes but in its contents, which the kernel does not keep.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

/// The largest request; the loop driver sends larger ones in parts.
const REQUEST_BYTES_MAX: u32 = 1 << 20;

/// Requests that the kernel hands over before it waits for replies: more than a loop device has under
/// way, be each of them in parts.
const REQUESTS_MAX: u16 = 256;

/// What a discard frees, and blocks are counted in.
const BLOCK_BYTES: u32 = 4096;

/// Zeros are written in parts of this size.
const ZEROS_AT_ONCE: u64 = 1 << 20;

/// A reply to a request of the kernel whose data was read or written already.
pub(super) enum HeldReply {
    /// The first bytes of a buffer.
    Data {
        /// To whom.
        reply: ReplyData,
        /// What was read.
        buffer: Vec<u8>,
        /// How much of it.
        bytes: usize,
    },
    /// So many bytes are written.
    Written(ReplyWrite, u32),
    /// It is done.
    Done(ReplyEmpty),
}

impl HeldReply {
    /// Sends an error in its place.
    fn refuse(self, error: std::io::Error) {
        match self {
            HeldReply::Data { reply, .. } => reply.error(error.into()),
            HeldReply::Written(reply, _) => reply.error(error.into()),
            HeldReply::Done(reply) => reply.error(error.into()),
        }
    }
}

impl DeferredReply for HeldReply {
    fn send(self) -> Option<Vec<u8>> {
        match self {
            HeldReply::Data { reply, buffer, bytes } => {
                reply.data(&buffer[..bytes]);
                return Some(buffer);
            }
            HeldReply::Written(reply, bytes) => reply.written(bytes),
            HeldReply::Done(reply) => reply.ok(),
        }
        None
    }
}

/// A disk that requests of the kernel reach.
pub(super) struct ServedDisk {
    queue: Arc<ReplyQueue<HeldReply>>,
    image: File,
    bytes: u64,
    is_full: Arc<AtomicBool>,
    power: Arc<DiskPower>,
}

impl ServedDisk {
    /// A disk whose contents are `image`. Once there is no room for them, `is_full` says so.
    pub(super) fn new(
        queue: Arc<ReplyQueue<HeldReply>>,
        image: File,
        bytes: u64,
        is_full: Arc<AtomicBool>,
        power: Arc<DiskPower>,
    ) -> Self {
        Self { queue, image, bytes, is_full, power }
    }

    /// The data of a request was read or written, or why not.
    fn answer(&self, ticket: u64, done: std::io::Result<()>, reply: HeldReply) {
        match done {
            Ok(()) => self.queue.complete(ticket, reply),
            Err(error) => {
                self.queue.forget(ticket);
                reply.refuse(error);
            }
        }
    }

    fn attributes(&self, number: INodeNo) -> std::io::Result<FileAttr> {
        let metadata = self.image.metadata()?;
        let time = metadata.modified()?;
        let is_file = number == FILE_NUMBER;
        let user = rustix::process::geteuid().as_raw();
        Ok(FileAttr {
            ino: number,
            size: if is_file { self.bytes } else { 0 },
            blocks: if is_file { self.bytes / 512 } else { 0 },
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o600 } else { 0o500 },
            nlink: 1,
            uid: user,
            gid: rustix::process::getegid().as_raw(),
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        })
    }

    /// Empties a range, which then reads as zeros. What is to read as zeros is written so while the cache is
    /// followed: a power cut may lose it.
    fn empty(&self, kind: DiskRequestKind, offset: u64, bytes: u64) -> std::io::Result<()> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let punch = || Ok(rustix::fs::fallocate(&self.image, hole, offset, bytes)?);
        if kind == DiskRequestKind::Discard || !self.power.is_followed() {
            return self.power.discard(offset, bytes, punch);
        }
        let zeros = vec![0; ZEROS_AT_ONCE.min(bytes) as usize];
        (0..bytes).step_by(ZEROS_AT_ONCE as usize).try_for_each(|done| {
            let part = &zeros[..ZEROS_AT_ONCE.min(bytes - done) as usize];
            self.power.write(&self.image, part, offset + done)
        })
    }
}

impl Filesystem for ServedDisk {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let failed = |_| std::io::Error::from(std::io::ErrorKind::Unsupported);
        // Without it the loop driver would wait for each request before it sends the next.
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(failed)?;
        config.set_max_write(REQUEST_BYTES_MAX).map_err(|_| failed(InitFlags::empty()))?;
        for set in [KernelConfig::set_max_background, KernelConfig::set_congestion_threshold] {
            set(config, REQUESTS_MAX).map_err(|_| failed(InitFlags::empty()))?;
        }
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent != INodeNo::ROOT || name != IMAGE {
            return reply.error(Errno::ENOENT);
        }
        match self.attributes(FILE_NUMBER) {
            Ok(attributes) => reply.entry(&FOR_EVER, &attributes, Generation(0)),
            Err(error) => reply.error(error.into()),
        }
    }

    fn getattr(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        match self.attributes(number) {
            Ok(attributes) => reply.attr(&FOR_EVER, &attributes),
            Err(error) => reply.error(error.into()),
        }
    }

    fn open(&self, _request: &Request, _number: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        // Nothing of the disk lies in the page cache a second time.
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let bytes = u64::from(size).min(self.bytes.saturating_sub(offset));
        let ticket = self.queue.arrive(DiskRequestKind::Read, offset, bytes);
        let bytes = bytes as usize;
        let mut buffer = self.queue.buffer(bytes);
        let read = self.power.read(&self.image, &mut buffer[..bytes], offset);
        self.answer(ticket, read, HeldReply::Data { reply, buffer, bytes });
    }

    fn write(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let bytes = data.len() as u64;
        if offset.saturating_add(bytes) > self.bytes {
            return reply.error(Errno::ENOSPC);
        }
        let ticket = self.queue.arrive(DiskRequestKind::Write, offset, bytes);
        let written = self.power.write(&self.image, data, offset).inspect_err(|error| {
            self.is_full.fetch_or(error.kind() == std::io::ErrorKind::StorageFull, Relaxed);
        });
        self.answer(ticket, written, HeldReply::Written(reply, bytes as u32));
    }

    fn fsync(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        _only_data: bool,
        reply: ReplyEmpty,
    ) {
        let ticket = self.queue.arrive(DiskRequestKind::Flush, 0, 0);
        self.answer(ticket, self.power.flush(&self.image), HeldReply::Done(reply));
    }

    fn fallocate(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        // The loop driver discards by punching holes, and writes zeros where the blocks are to stay.
        let kind = match mode - FallocateFlags::KEEP_SIZE {
            FallocateFlags::PUNCH_HOLE => DiskRequestKind::Discard,
            FallocateFlags::ZERO_RANGE => DiskRequestKind::Write,
            _ => return reply.error(Errno::EOPNOTSUPP),
        };
        let ticket = self.queue.arrive(kind, offset, length);
        self.answer(ticket, self.empty(kind, offset, length), HeldReply::Done(reply));
    }

    fn statfs(&self, _request: &Request, _number: INodeNo, reply: ReplyStatfs) {
        let blocks = self.bytes / u64::from(BLOCK_BYTES);
        reply.statfs(blocks, 0, 0, 1, 0, BLOCK_BYTES, 255, BLOCK_BYTES);
    }
}
