//! Decides whether the caches were cold or warm when a phase began. Cold is claimed only when three
//! things agree: a canary that was in memory before the drop and not after it, no page and no name of a
//! sample of the phase's files in memory when it began, and a device that had to deliver to this process
//! what was read.

use boatload_base::errno::ErrnoResult;
use boatload_base::failure::Result;
use boatload_base::named_enum;
use boatload_host::block_device::{BlockDevice, DeviceCounters};
use boatload_host::page_cache;
use boatload_host::reads::{Beneath, own_read_bytes};
use boatload_op::{Effect, Subject};
use boatload_plan::Phase;
use boatload_plan::tree::Content;

named_enum! {
    /// What was found.
    #[derive(Default)]
    pub enum CacheState {
        /// Nothing of it was in memory, and that is proved.
        ColdVerified = "cold-verified",
        /// It was in memory.
        Warm = "warm",
        /// Nobody knows.
        #[default]
        Unverified = "unverified",
    }
}

named_enum! {
    /// Why the caches were not found as asked.
    pub enum Doubt {
        /// Only root may drop caches; file data was evicted file by file, names and inodes stay.
        NoRights = "no-rights",
        /// Root may drop caches, but the drop failed.
        DropFailed = "drop-failed",
        /// Pages or names were in memory after the drop.
        StillCached = "still-cached",
        /// The file system lives in memory and cannot be cold.
        MemoryFileSystem = "memory-file-system",
        /// No block device is known whose reads are counted.
        NoDevice = "no-device",
        /// The device delivered less than was read.
        DeviceReadTooLittle = "device-read-too-little",
        /// The device delivered it, but part of it to somebody else, who brought it into memory.
        ReadByOthers = "read-by-others",
        /// The kernel does not count what this process has read.
        OwnReadsUnknown = "own-reads-unknown",
        /// The kernel gives no way to look into the cache.
        NoProbe = "no-cache-probe",
        /// Pages were not in memory although they had just been read.
        NotResident = "not-resident",
        /// The simulated file system has no cache.
        NoSimulatedCache = "no-simulated-cache",
        /// A loop device below reads its file through the page cache, which only root may drop.
        CachedLoop = "cached-loop",
        /// A loop device below reads its file through the page cache, and that had part of it.
        LowerCache = "lower-cache",
        /// It was unmounted to be cold, but another mount keeps it in memory.
        StillMounted = "still-mounted",
    }
}

/// Which caches of the kernel are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheDrop {
    /// Contents, names and inodes, when all is written out.
    All,
    /// Names and inodes.
    Names,
}

impl CacheDrop {
    /// Drops the caches of this kernel, for all of its file systems.
    ///
    /// # Errors
    /// `EACCES`, `EPERM` or `EROFS` without the right to it.
    pub fn in_kernel(self) -> ErrnoResult<()> {
        match self {
            Self::All => page_cache::drop_all(),
            Self::Names => page_cache::drop_names(),
        }
    }
}

/// Who drops the caches of a kernel, on which others may measure at the same time.
pub trait CacheDropper {
    /// Drops them, if this process wants it; whether they are dropped. In a directory each cold phase calls it once with each
    /// kind, also where nothing is to be dropped: others may wait for all.
    ///
    /// # Errors
    /// If others depend on it and it fails, or another has failed.
    fn drop_caches(&self, what: CacheDrop, is_wanted: bool) -> Result<bool>;
}

/// Drops for this process alone.
pub struct OwnDropper;

impl CacheDropper for OwnDropper {
    fn drop_caches(&self, what: CacheDrop, is_wanted: bool) -> Result<bool> {
        Ok(is_wanted && what.in_kernel().is_ok())
    }
}

/// The state of the caches when a phase began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheVerdict {
    /// The verdict.
    pub found: CacheState,
    /// Share of the sampled pages that were in memory.
    pub resident: Option<f64>,
    /// Why it is not what was asked.
    pub doubt: Option<Doubt>,
}

/// Of the sampled pages this much may be in memory and still count as nothing: a page that
/// something else touched between the drop and the look.
const COLD_SHARE_MAX: f64 = 0.01;

/// At least this much must be in memory to be called warm.
const WARM_SHARE_MIN: f64 = 0.99;

impl CacheVerdict {
    /// Cold, proved until now by what is resident.
    pub fn after_drop(resident: Option<f64>) -> Self {
        let (found, doubt) = match resident {
            None => (CacheState::Unverified, Some(Doubt::NoProbe)),
            Some(share) if share <= COLD_SHARE_MAX => (CacheState::ColdVerified, None),
            Some(share) if share >= WARM_SHARE_MIN => (CacheState::Warm, Some(Doubt::StillCached)),
            Some(_) => (CacheState::Unverified, Some(Doubt::StillCached)),
        };
        Self { found, resident, doubt }
    }

    /// Warm, as far as the sample says. With nothing to sample (the phase makes what it works on)
    /// there is nothing that could be missing.
    pub fn after_warming(resident: Option<f64>) -> Self {
        let (found, doubt) = match resident {
            Some(share) if share < WARM_SHARE_MIN => {
                (CacheState::Unverified, Some(Doubt::NotResident))
            }
            _ => (CacheState::Warm, None),
        };
        Self { found, resident, doubt }
    }

    /// Nothing was asked: what the sample says. Direct I/O does not take what is in memory.
    pub fn as_is(phase: &Phase, resident: Option<f64>) -> Self {
        let warm = !phase.direct && resident.is_some_and(|share| share >= WARM_SHARE_MIN);
        let found = if warm { CacheState::Warm } else { CacheState::Unverified };
        Self { found, resident, doubt: None }
    }

    /// Nobody knows, for a known reason.
    pub fn unverified(resident: Option<f64>, doubt: Doubt) -> Self {
        Self { found: CacheState::Unverified, resident, doubt: Some(doubt) }
    }

    /// With the share of names that were in memory, as far as they could be looked for: of what was
    /// dropped none may be back.
    #[must_use]
    pub fn with_names(self, cached: Option<f64>) -> Self {
        match cached {
            Some(share) if self.found == CacheState::ColdVerified && share > COLD_SHARE_MAX => {
                Self::unverified(self.resident, Doubt::StillCached)
            }
            _ => self,
        }
    }

    /// The verdict when the phase is over: what was cold must have come from the device, through
    /// this process, and from the disk beneath where another cache lies between.
    #[must_use]
    pub fn confirmed(self, phase: &Phase, evidence: &ReadEvidence, least: LeastRead) -> Self {
        if self.found != CacheState::ColdVerified {
            return self;
        }
        let bytes = least.bytes(phase, evidence);
        let read = &evidence.read;
        let doubt = match (read.device, read.own_read, read.beneath_read) {
            (None, ..) => Some(Doubt::NoDevice),
            (Some(device), ..) if device.read_bytes < bytes => Some(Doubt::DeviceReadTooLittle),
            (_, ReadCount::Bytes(own), _) if own < bytes => Some(Doubt::ReadByOthers),
            (_, ReadCount::Unknown, _) if bytes > 0 => Some(Doubt::OwnReadsUnknown),
            (.., ReadCount::Unknown) => Some(Doubt::LowerCache),
            (.., ReadCount::Bytes(disk)) => {
                let least = least.bytes_beneath(phase, evidence);
                let is_less = evidence.of_device(disk).is_none_or(|bytes| bytes < least);
                (least > 0 && is_less).then_some(Doubt::LowerCache)
            }
            _ => None,
        };
        match doubt {
            Some(doubt) => Self::unverified(self.resident, doubt),
            None => self,
        }
    }
}

/// Whether a phase works on files that are there before it, so that a sample of them can be looked
/// at.
pub fn has_files_before(phase: &Phase) -> bool {
    phase.operation.subject == Subject::File && phase.operation.effect != Effect::AddsEntry
}

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
        let beneath_read = match &self.beneath {
            Beneath::NoCache => ReadCount::NotApplicable,
            disk => ReadCount::known(disk.read_bytes()),
        };
        Readings {
            device: self.device.counters(),
            own_read: ReadCount::known(own_read_bytes()),
            beneath_read,
        }
    }
}

/// Bytes read by somebody, as far as a counter knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadCount {
    /// Nobody reads there.
    #[default]
    NotApplicable,
    /// The kernel does not count them.
    Unknown,
    /// So many bytes.
    Bytes(u64),
}

impl ReadCount {
    fn known(bytes: Option<u64>) -> Self {
        bytes.map_or(Self::Unknown, Self::Bytes)
    }

    fn since(self, earlier: Self) -> Self {
        match (self, earlier) {
            (Self::NotApplicable, _) | (_, Self::NotApplicable) => Self::NotApplicable,
            (Self::Bytes(now), Self::Bytes(then)) => Self::known(now.checked_sub(then)),
            _ => Self::Unknown,
        }
    }
}

/// Counters before a phase, or after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// The counters of the device; `None` without one, and where they are unknown.
    pub device: Option<DeviceCounters>,
    /// What this process had disks read; not applicable where another process reads for it.
    pub own_read: ReadCount,
    /// Where a page cache lies beneath the device: what the disk beneath that has read.
    pub beneath_read: ReadCount,
}

impl Readings {
    /// What came between an earlier reading and this one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            device: self.device.zip(earlier.device).and_then(|(now, then)| now.since(then)),
            own_read: self.own_read.since(earlier.own_read),
            beneath_read: self.beneath_read.since(earlier.beneath_read),
        }
    }
}

/// The work of a phase, and the reads counted meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadEvidence {
    /// Operations that succeeded.
    pub operations: u64,
    /// Bytes of content that they moved.
    pub bytes: u64,
    /// What was read, by counters.
    pub read: Readings,
    /// What other processes had disks read, in bytes; `None` where nothing tells.
    pub others_read_bytes: Option<u64>,
}

impl ReadEvidence {
    /// Of the bytes that the disk beneath read, those that nobody but the device can have asked for:
    /// not others, nor this process for something else, such as its own program. `None` where that is not known.
    pub fn of_device(&self, beneath_read_bytes: u64) -> Option<u64> {
        let device = self.read.device?.read_bytes;
        let own_beside = match self.read.own_read {
            ReadCount::Bytes(own) => own.saturating_sub(device),
            ReadCount::NotApplicable => 0,
            ReadCount::Unknown => return None,
        };
        Some(beneath_read_bytes.saturating_sub(self.others_read_bytes?).saturating_sub(own_beside))
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

/// What a file system beneath may read for itself when its image is written to, in bytes: the inode,
/// with the blocks around it (132 KiB were seen on ext4), and maps of blocks.
const METADATA_BENEATH: u64 = 256 << 10;

impl LeastRead {
    /// Of files with such content, each with `file_bytes` in addition to it.
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
        if phase.direct && phase.operation.subject == Subject::Block {
            // Nothing but the page cache could have answered instead, and it was not asked.
            return bytes;
        }
        if phase.operation.effect == Effect::AddsEntry || phase.selection.count == 0 {
            return 0;
        }
        if phase.mix.is_some() {
            // How many different files its turns take is not counted.
            return 1;
        }
        let reads = phase.operation.reads_content;
        let content = if reads { (bytes as f64 * self.content_share) as u64 } else { 0 };
        let files = if has_files_before(phase) { evidence.operations } else { 0 };
        let files = files.min(phase.selection.count).saturating_sub(FILES_BESIDE);
        content.max(files.saturating_mul(self.file_bytes)).max(1)
    }

    /// The same on the disk beneath a page cache.
    pub fn bytes_beneath(&self, phase: &Phase, evidence: &ReadEvidence) -> u64 {
        let least = (self.bytes(phase, evidence) as f64 * SHARE_BENEATH).ceil() as u64;
        let is_written = evidence.read.device.is_some_and(|device| device.write_bytes > 0);
        least + if least > 0 && is_written { METADATA_BENEATH } else { 0 }
    }
}

/// The smallest inode of a type of file system, in bytes, with what always lies next to it; where none
/// is known the smallest entry of a directory (FAT): no file that is not in memory is found for less.
pub fn inode_bytes_min(kind: &str) -> u64 {
    match kind {
        "ext2" | "ext3" | "ext4" => 128,
        "xfs" => 256,
        "btrfs" => 256,
        _ => 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_host::block_device::DeviceCounters;
    use boatload_plan::selection::{EntryRange, Order, Selection};

    #[test]
    fn cold_needs_pages_that_are_gone() {
        assert_eq!(CacheVerdict::after_drop(Some(0.0)).found, CacheState::ColdVerified);
        assert_eq!(CacheVerdict::after_drop(Some(0.2)).found, CacheState::Unverified);
        assert_eq!(CacheVerdict::after_drop(Some(1.0)).found, CacheState::Warm);
        assert_eq!(CacheVerdict::after_drop(None).doubt, Some(Doubt::NoProbe));
    }

    /// A phase over 1,000 files of 4 KiB.
    fn phase(operation: &str) -> Phase {
        let operation = boatload_op::find_operation(operation).unwrap();
        let range = EntryRange::whole(0, 1000);
        let selection = Selection::new(range, Order::Sequential, 1, 0, 0);
        Phase::bare(operation, selection, 1)
    }

    fn evidence(device: u64, own: u64, beneath_read: ReadCount) -> ReadEvidence {
        let device = DeviceCounters { read_bytes: device, ..DeviceCounters::default() };
        ReadEvidence {
            operations: 1000,
            bytes: 4096 * 1000,
            read: Readings { device: Some(device), own_read: ReadCount::Bytes(own), beneath_read },
            others_read_bytes: Some(0),
        }
    }

    fn doubt(operation: &str, evidence: &ReadEvidence) -> Option<Doubt> {
        let least = LeastRead { content_share: 0.9, file_bytes: 128 };
        CacheVerdict::after_drop(Some(0.0)).confirmed(&phase(operation), evidence, least).doubt
    }

    #[test]
    fn what_was_read_must_have_come_from_the_device_and_to_this_process() {
        let all = 4096 * 1000;
        assert_eq!(doubt("read", &evidence(all, all, ReadCount::NotApplicable)), None);
        let half = Some(Doubt::DeviceReadTooLittle);
        assert_eq!(doubt("read", &evidence(all / 2, all, ReadCount::NotApplicable)), half);
        assert_eq!(
            doubt("read", &evidence(all, all / 2, ReadCount::NotApplicable)),
            Some(Doubt::ReadByOthers)
        );
        assert_eq!(
            doubt("create", &evidence(0, 0, ReadCount::NotApplicable)),
            None,
            "it reads nothing"
        );
        let with_own = |own_read| {
            let all = evidence(all, all, ReadCount::NotApplicable);
            ReadEvidence { read: Readings { own_read, ..all.read }, ..all }
        };
        assert_eq!(doubt("read", &with_own(ReadCount::Unknown)), Some(Doubt::OwnReadsUnknown));
        assert_eq!(doubt("create", &with_own(ReadCount::Unknown)), None, "it reads nothing");
        assert_eq!(doubt("read", &with_own(ReadCount::NotApplicable)), None, "a daemon reads");
        let none = ReadEvidence {
            read: Readings::default(),
            ..evidence(all, all, ReadCount::NotApplicable)
        };
        for operation in ["read", "create"] {
            assert_eq!(doubt(operation, &none), Some(Doubt::NoDevice), "{operation}");
        }
    }

    #[test]
    fn counters_that_are_missing_at_one_end_or_went_back_prove_nothing() {
        let at = |read_bytes| {
            let device = DeviceCounters { read_bytes, ..DeviceCounters::default() };
            Readings { device: Some(device), own_read: ReadCount::Bytes(read_bytes), ..none() }
        };
        fn none() -> Readings {
            Readings { own_read: ReadCount::Unknown, ..Readings::default() }
        }
        assert_eq!(at(9).since(at(4)), at(5));
        for unknown in [at(4).since(at(9)), at(9).since(none()), none().since(at(9))] {
            assert_eq!(unknown, none());
        }
    }

    #[test]
    fn each_file_takes_its_inode_from_the_device_whatever_is_done_to_it() {
        for operation in ["stat", "open", "delete", "rename", "rewrite"] {
            assert_eq!(
                doubt(operation, &evidence(128_000, 128_000, ReadCount::NotApplicable)),
                None
            );
            let few = evidence(20_000, 128_000, ReadCount::NotApplicable);
            assert_eq!(doubt(operation, &few), Some(Doubt::DeviceReadTooLittle), "{operation}");
        }
    }

    #[test]
    fn beneath_a_cache_the_disk_must_have_delivered_and_not_to_others() {
        let all = 4096 * 1000;
        let with = |beneath| evidence(all, all, beneath);
        assert_eq!(doubt("read", &with(ReadCount::Bytes(all))), None);
        assert_eq!(doubt("read", &with(ReadCount::Bytes(all / 4))), Some(Doubt::LowerCache));
        assert_eq!(
            doubt("read", &with(ReadCount::Unknown)),
            Some(Doubt::LowerCache),
            "a file in memory"
        );
        for others_read_bytes in [Some(all), None] {
            let others = ReadEvidence { others_read_bytes, ..with(ReadCount::Bytes(all)) };
            assert_eq!(doubt("read", &others), Some(Doubt::LowerCache), "{others_read_bytes:?}");
            assert_eq!(doubt("create", &others), None, "it reads nothing");
        }
        let own_program = evidence(all, 2 * all, ReadCount::Bytes(all));
        assert_eq!(doubt("read", &own_program), Some(Doubt::LowerCache));
    }

    #[test]
    fn what_a_file_system_beneath_reads_to_write_its_image_proves_nothing() {
        let looked = evidence(128_000, 128_000, ReadCount::Bytes(132 << 10));
        assert_eq!(doubt("rewrite", &looked), None);
        let with_writes = |looked: ReadEvidence| {
            let device = looked.read.device.map(|read| DeviceCounters { write_bytes: 1, ..read });
            ReadEvidence { read: Readings { device, ..looked.read }, ..looked }
        };
        assert_eq!(doubt("rewrite", &with_writes(looked)), Some(Doubt::LowerCache));
        let more = evidence(128_000, 128_000, ReadCount::Bytes((132 << 10) + 256_000));
        assert_eq!(doubt("rewrite", &with_writes(more)), None);
        let made = evidence(0, 0, ReadCount::Bytes(0));
        assert_eq!(doubt("create", &with_writes(made)), None, "it reads nothing");
    }

    #[test]
    fn a_name_in_memory_is_enough_to_doubt() {
        let cold = CacheVerdict::after_drop(Some(0.0));
        assert_eq!(cold.with_names(Some(0.0)), cold);
        assert_eq!(cold.with_names(None), cold, "it cannot be told");
        assert_eq!(cold.with_names(Some(0.1)).doubt, Some(Doubt::StillCached));
    }
}
