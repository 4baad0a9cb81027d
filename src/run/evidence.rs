//! What was read during a phase, and by whom: what a cold phase is held against when it is over.

use crate::host::counters::DeviceCounters;
use crate::host::device::BlockDevice;
use crate::host::reads::{Beneath, own_read_bytes};
use crate::op::{Effect, Subject};
use crate::plan::Phase;
use crate::plan::tree::Content;
use crate::run::cache::has_files_before;

/// A device, and what lies beneath it.
#[derive(Clone, Debug)]
pub struct CounterSource {
    /// The device.
    pub device: BlockDevice,
    beneath: Beneath,
}

impl CounterSource {
    /// Looks what lies beneath a device.
    pub fn of(device: BlockDevice) -> Self {
        Self { beneath: Beneath::of(&device), device }
    }

    /// The counters now.
    pub fn readings(&self) -> Readings {
        let beneath = match &self.beneath {
            Beneath::NoCache => None,
            disk => Some(disk.read_bytes()),
        };
        Readings {
            device: self.device.counters().ok(),
            own_read_bytes: Some(own_read_bytes()),
            beneath_read_bytes: beneath,
        }
    }
}

/// Counters before a phase, or after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// Those of the device; none without one.
    pub device: Option<DeviceCounters>,
    /// What this process had disks read, in bytes, or none if nothing tells; none at all where
    /// another process reads for it.
    pub own_read_bytes: Option<Option<u64>>,
    /// Where a page cache lies beneath the device: what the disk beneath that has read, in bytes, or
    /// none if no such disk is known.
    pub beneath_read_bytes: Option<Option<u64>>,
}

impl Readings {
    /// What came between an earlier reading and this one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        // A counter that went back is that of another device, and proves nothing.
        let more = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        let went_on = |(now, then): &(DeviceCounters, DeviceCounters)| {
            now.read_bytes >= then.read_bytes && now.write_bytes >= then.write_bytes
        };
        let device = self.device.zip(earlier.device).filter(went_on);
        let own = self.own_read_bytes.zip(earlier.own_read_bytes);
        let beneath = self.beneath_read_bytes.zip(earlier.beneath_read_bytes);
        Self {
            device: device.map(|(now, then)| now.since(then)),
            own_read_bytes: own.map(|(now, then)| more(now, then)),
            beneath_read_bytes: beneath.map(|(now, then)| more(now, then)),
        }
    }
}

/// What a phase did, and what was read meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadEvidence {
    /// Operations that succeeded.
    pub operations: u64,
    /// Bytes of content that they moved.
    pub bytes: u64,
    /// What was read, by counters.
    pub read: Readings,
    /// What other processes had disks read, in bytes; 0 where nothing tells.
    pub others_read_bytes: u64,
}

impl ReadEvidence {
    /// Of the bytes that the disk beneath read, those that nobody but the device can have asked for:
    /// not others, nor this process for something else, such as its own program.
    pub fn of_device(&self, beneath_read_bytes: u64) -> u64 {
        let device = self.read.device.map_or(0, |device| device.read_bytes);
        let own_beside =
            self.read.own_read_bytes.flatten().unwrap_or_default().saturating_sub(device);
        beneath_read_bytes.saturating_sub(self.others_read_bytes).saturating_sub(own_beside)
    }
}

/// The least that must be read of what was not in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastRead {
    /// Of content, this share: what a file system may not compress or leave out.
    pub content_share: f64,
    /// Of each file for its inode, in bytes.
    pub file_bytes: u64,
}

/// Some pages may be in memory from the look, and what directories brought with them.
const CONTENT_SHARE: f64 = 0.9;

/// Content that can be compressed may be read in half as many bytes, or so.
const CONTENT_SHARE_COMPRESSED: f64 = 0.5;

/// So many files may have had their inodes in a block that something else needs.
const FILES_BESIDE: u64 = 64;

/// On the disk beneath a page cache at least this share of it.
const SHARE_BENEATH: f64 = 0.5;

impl LeastRead {
    /// Of files with such content, each with so many bytes beside it.
    pub fn of(content: Content, file_bytes: u64) -> Self {
        let content_share = match content {
            Content::Random => CONTENT_SHARE,
            Content::Zeros | Content::Compressible(_) => CONTENT_SHARE_COMPRESSED,
        };
        Self { content_share, file_bytes }
    }

    /// Of a device.
    pub fn of_device() -> Self {
        Self { content_share: CONTENT_SHARE, file_bytes: 0 }
    }

    /// What a phase that began cold must have had the device read, in bytes: of the content that it
    /// read, of each file that was there before; something if it worked on what was there before,
    /// nothing if it made all of it.
    pub fn bytes(&self, phase: &Phase, evidence: &ReadEvidence) -> u64 {
        let bytes = evidence.bytes;
        if phase.direct && phase.operation.subject() == Subject::Block {
            // Nothing but the page cache could have answered instead, and it was not asked.
            return bytes;
        }
        if phase.operation.effect() == Effect::AddsEntry || phase.selection.count == 0 {
            return 0;
        }
        let reads = phase.operation.reads_content();
        let content = if reads { (bytes as f64 * self.content_share) as u64 } else { 0 };
        let files = if has_files_before(phase) { evidence.operations } else { 0 };
        let files = files.min(phase.selection.count).saturating_sub(FILES_BESIDE);
        content.max(files.saturating_mul(self.file_bytes)).max(1)
    }

    /// The same on the disk beneath a page cache.
    pub fn bytes_beneath(&self, phase: &Phase, evidence: &ReadEvidence) -> u64 {
        (self.bytes(phase, evidence) as f64 * SHARE_BENEATH).ceil() as u64
    }
}

/// The smallest inode of a type of file system, in bytes, with what always lies beside it; where none
/// is known the smallest entry of a directory (FAT): no file that is not in memory is found for less.
pub fn file_bytes_min(kind: &str) -> u64 {
    match kind {
        "ext2" | "ext3" | "ext4" => 128,
        "xfs" => 256,
        "btrfs" => 256,
        _ => 32,
    }
}
