//! What is claimed of the caches, and why it is believed or doubted. Cold is claimed only when
//! three things agree: a canary that was in memory before the drop and not after it, no page and no
//! name of a sample of the phase's files in memory when it began, and a device that had to deliver
//! to this process what was read.

use super::evidence::{LeastRead, ReadEvidence};
use crate::base::words::words;
use crate::op::{Effect, Subject};
use crate::plan::Phase;

words! {
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

words! {
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
        /// No block device is known whose reads could be counted.
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

/// What was found of the caches when a phase began.
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
    /// Cold, proved so far by what is resident.
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

    /// Not as asked, for a known reason.
    pub fn doubted(found: CacheState, resident: Option<f64>, doubt: Doubt) -> Self {
        Self { found, resident, doubt: Some(doubt) }
    }

    /// With the share of names that were in memory, as far as they could be looked for: of what was
    /// dropped none may be back.
    #[must_use]
    pub fn with_names(self, cached: Option<f64>) -> Self {
        match cached {
            Some(share) if self.found == CacheState::ColdVerified && share > COLD_SHARE_MAX => {
                Self::doubted(CacheState::Unverified, self.resident, Doubt::StillCached)
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
        let doubt = match (read.device, read.own_read_bytes, read.beneath_read_bytes) {
            (None, ..) => Some(Doubt::NoDevice),
            (Some(device), ..) if device.read_bytes < bytes => Some(Doubt::DeviceReadTooLittle),
            (_, Some(Some(own)), _) if own < bytes => Some(Doubt::ReadByOthers),
            (_, Some(None), _) if bytes > 0 => Some(Doubt::OwnReadsUnknown),
            (.., Some(None)) => Some(Doubt::LowerCache),
            (.., Some(Some(disk)))
                if evidence.of_device(disk) < least.bytes_beneath(phase, evidence) =>
            {
                Some(Doubt::LowerCache)
            }
            _ => None,
        };
        match doubt {
            Some(doubt) => Self::doubted(CacheState::Unverified, self.resident, doubt),
            None => self,
        }
    }
}

/// Whether a phase works on files that are there before it, so that a sample of them can be looked
/// at.
pub fn has_files_before(phase: &Phase) -> bool {
    phase.operation.subject() == Subject::File && phase.operation.effect() != Effect::AddsEntry
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::counters::DeviceCounters;
    use crate::run::evidence::Readings;

    #[test]
    fn cold_needs_pages_that_are_gone() {
        assert_eq!(CacheVerdict::after_drop(Some(0.0)).found, CacheState::ColdVerified);
        assert_eq!(CacheVerdict::after_drop(Some(0.2)).found, CacheState::Unverified);
        assert_eq!(CacheVerdict::after_drop(Some(1.0)).found, CacheState::Warm);
        assert_eq!(CacheVerdict::after_drop(None).doubt, Some(Doubt::NoProbe));
    }

    /// A phase over 1,000 files of 4 KiB.
    fn phase(operation: &str) -> Phase {
        let operation = crate::op::find_operation(operation).unwrap();
        let order = crate::plan::selection::Order::Sequential;
        let selection = crate::plan::selection::Selection::new((0, 1000, 1000), order, 1, 0, 0);
        Phase::bare(operation, selection, 1)
    }

    fn evidence(device: u64, own: u64, beneath: Option<Option<u64>>) -> ReadEvidence {
        let device = DeviceCounters { read_bytes: device, ..DeviceCounters::default() };
        ReadEvidence {
            operations: 1000,
            bytes: 4096 * 1000,
            read: Readings {
                device: Some(device),
                own_read_bytes: Some(Some(own)),
                beneath_read_bytes: beneath,
            },
            others_read_bytes: 0,
        }
    }

    fn doubt(operation: &str, evidence: &ReadEvidence) -> Option<Doubt> {
        let least = LeastRead { content_share: 0.9, file_bytes: 128 };
        CacheVerdict::after_drop(Some(0.0)).confirmed(&phase(operation), evidence, least).doubt
    }

    #[test]
    fn what_was_read_must_have_come_from_the_device_and_to_this_process() {
        let all = 4096 * 1000;
        assert_eq!(doubt("read", &evidence(all, all, None)), None);
        let half = Some(Doubt::DeviceReadTooLittle);
        assert_eq!(doubt("read", &evidence(all / 2, all, None)), half);
        assert_eq!(doubt("read", &evidence(all, all / 2, None)), Some(Doubt::ReadByOthers));
        assert_eq!(doubt("create", &evidence(0, 0, None)), None, "it reads nothing");
        let with_own = |own_read_bytes| {
            let all = evidence(all, all, None);
            ReadEvidence { read: Readings { own_read_bytes, ..all.read }, ..all }
        };
        assert_eq!(doubt("read", &with_own(Some(None))), Some(Doubt::OwnReadsUnknown));
        assert_eq!(doubt("create", &with_own(Some(None))), None, "it reads nothing");
        assert_eq!(doubt("read", &with_own(None)), None, "a daemon reads");
        let none = ReadEvidence { read: Readings::default(), ..evidence(all, all, None) };
        assert_eq!(doubt("read", &none), Some(Doubt::NoDevice));
    }

    #[test]
    fn each_file_takes_its_inode_from_the_device_whatever_is_done_to_it() {
        for operation in ["stat", "open", "delete", "rename", "rewrite"] {
            assert_eq!(doubt(operation, &evidence(128_000, 128_000, None)), None);
            let few = evidence(20_000, 128_000, None);
            assert_eq!(doubt(operation, &few), Some(Doubt::DeviceReadTooLittle), "{operation}");
        }
    }

    #[test]
    fn beneath_a_cache_the_disk_must_have_delivered_and_not_to_others() {
        let all = 4096 * 1000;
        let with = |beneath| evidence(all, all, Some(beneath));
        assert_eq!(doubt("read", &with(Some(all))), None);
        assert_eq!(doubt("read", &with(Some(all / 4))), Some(Doubt::LowerCache));
        assert_eq!(doubt("read", &with(None)), Some(Doubt::LowerCache), "a file in memory");
        let others = ReadEvidence { others_read_bytes: all, ..with(Some(all)) };
        assert_eq!(doubt("read", &others), Some(Doubt::LowerCache));
        let own_program = evidence(all, 2 * all, Some(Some(all)));
        assert_eq!(doubt("read", &own_program), Some(Doubt::LowerCache));
    }

    #[test]
    fn a_name_in_memory_is_enough_to_doubt() {
        let cold = CacheVerdict::after_drop(Some(0.0));
        assert_eq!(cold.with_names(Some(0.0)), cold);
        assert_eq!(cold.with_names(None), cold, "it cannot be told");
        assert_eq!(cold.with_names(Some(0.1)).doubt, Some(Doubt::StillCached));
    }
}
