//! Runs cells on the block device under a directory: it is only read, and nothing is made anywhere.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{EngineSource, Site};
use rustix::fs::Advice;

use crate::cache::{
    CacheDrop, CacheDropper, CacheState, CacheVerdict, CounterSource, Doubt, LeastRead, Readings,
};
use crate::clock::RealClock;
use crate::content::AlignedBuffer;
use crate::drive::{DoneCount, Recorder};
use crate::engine::device::DeviceEngine;
use crate::workers::{PhaseRun, PhaseTask, run_workers};
use boatload_base::errno::Errno;
use boatload_base::failure::Result;
use boatload_host::block_device::BlockDevice;
use boatload_host::page_cache::CacheProbe;
use boatload_plan::phase::PhaseEnd;
use boatload_plan::{CacheAsked, CellPlan, Phase, Tree};

/// The beginning of the device, which stands for the canary: read, and then looked at.
const CANARY_BYTES: u64 = 64 << 10;

/// Most bytes from the device's beginning whose pages are looked at.
const LOOK_BYTES_MAX: u64 = 1 << 30;

/// A block device, open for reading.
pub struct DeviceSite {
    source: CounterSource,
    /// Open through the page cache.
    cached: Arc<OwnedFd>,
    can_drop: bool,
    probe: CacheProbe,
    clock: RealClock,
    tree: Option<Tree>,
}

impl DeviceSite {
    /// A place on `device`.
    pub fn new(mut device: BlockDevice, can_drop: bool, clock: RealClock) -> Result<Self> {
        let cached = Arc::new(device.open(false)?);
        if let Ok(direct) = device.open(true) {
            let mut buffer = AlignedBuffer::new(CANARY_BYTES as usize);
            // The phases tell what cannot be read.
            let _ = device.try_counters(|| rustix::io::pread(&direct, &mut buffer[..], 0));
        }
        let probe = detect_cache_probe(&cached);
        let source = CounterSource::of(device);
        Ok(Self { source, cached, can_drop, probe, clock, tree: None })
    }

    /// How the device's pages in the cache can be looked at.
    pub fn cache_probe(&self) -> &'static str {
        self.probe.as_str()
    }

    /// Direct reads never look into the page cache, so there is nothing to drop or to prove of it;
    /// unless a loop device below reads its file through the page cache.
    fn cold_around(&self, dropper: &dyn CacheDropper) -> Result<CacheVerdict> {
        if self.source.device.reads_through_cache() {
            let doubt = match self.can_drop {
                true if dropper.drop_caches(CacheDrop::All, true)? => None,
                true => Some(Doubt::DropFailed),
                false => Some(Doubt::CachedLoop),
            };
            if let Some(doubt) = doubt {
                return Ok(CacheVerdict::unverified(None, doubt));
            }
        }
        Ok(CacheVerdict { found: CacheState::ColdVerified, resident: None, doubt: None })
    }

    fn make_cold(&self, phase: &Phase, dropper: &dyn CacheDropper) -> Result<CacheVerdict> {
        let seen = detect_cache_probe(&self.cached) != CacheProbe::None;
        if !dropper.drop_caches(CacheDrop::All, true)? {
            return Ok(CacheVerdict::unverified(None, Doubt::DropFailed));
        }
        let resident = self.resident(phase);
        Ok(match seen {
            true => CacheVerdict::after_drop(resident),
            false => CacheVerdict::unverified(resident, Doubt::NoProbe),
        })
    }

    /// The share in memory of what the phase reads, or of the device's first part if that is less.
    fn resident(&self, phase: &Phase) -> Option<f64> {
        let bytes = phase.selection.count.saturating_mul(u64::from(phase.block));
        self.probe.resident_fraction(&[(self.cached.as_fd(), bytes.min(LOOK_BYTES_MAX))])
    }

    /// Runs a phase with a recorder for each worker.
    pub(super) fn work<R: Recorder>(
        &self,
        phase: &Phase,
        stop: &AtomicBool,
        done: &[DoneCount],
        recorders: &mut [R],
    ) -> PhaseRun {
        let Some(tree) = &self.tree else { return PhaseRun::default() };
        let open = match phase.direct {
            // It was opened before, so what can be wrong now is that it does no direct I/O.
            true => self.source.device.open(true).map(Arc::new).map_err(|_| Errno::EINVAL),
            false => Ok(Arc::clone(&self.cached)),
        };
        run_workers(PhaseTask { phase, tree, stop, done }, recorders, |_| {
            (DeviceEngine::new(open.clone(), phase.block), self.clock.clone())
        })
    }
}

impl Site for DeviceSite {
    fn begin_cell(&mut self, cell: &CellPlan) -> Result<()> {
        self.tree = Some(cell.tree.clone());
        Ok(())
    }

    fn prepare_caches(
        &mut self,
        phase: &Phase,
        stop: &AtomicBool,
        dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        Ok(match phase.cache {
            CacheAsked::Cold if phase.direct => self.cold_around(dropper)?,
            CacheAsked::Cold if self.can_drop => self.make_cold(phase, dropper)?,
            CacheAsked::Cold => {
                // The data alone, as far as an ordinary user can.
                let _ = rustix::fs::fadvise(&self.cached, 0, None, Advice::DontNeed);
                CacheVerdict::unverified(self.resident(phase), Doubt::NoRights)
            }
            CacheAsked::Warm => {
                let reading = Phase { end: PhaseEnd::Targets, ..phase.clone() };
                self.engines().work_unrecorded(&reading, stop);
                CacheVerdict::after_warming(self.resident(phase))
            }
            CacheAsked::AsIs => CacheVerdict::as_is(phase, self.resident(phase)),
        })
    }

    fn recheck_caches(
        &mut self,
        found: CacheVerdict,
        phase: &Phase,
        _: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        Ok(match found.found {
            CacheState::ColdVerified if !phase.direct => {
                CacheVerdict::after_drop(self.resident(phase))
            }
            _ => found,
        })
    }

    fn device(&self) -> Option<&BlockDevice> {
        Some(&self.source.device)
    }

    fn engines(&self) -> EngineSource<'_> {
        EngineSource::Device(self)
    }

    fn readings(&self) -> Readings {
        self.source.readings()
    }

    fn least_read(&self, _: &Phase) -> Option<LeastRead> {
        Some(LeastRead::of_device())
    }
}

/// The best probe that sees the device's beginning when it has just been read.
fn detect_cache_probe(device: &OwnedFd) -> CacheProbe {
    let mut buffer = vec![0; CANARY_BYTES as usize];
    match rustix::io::pread(device, &mut buffer, 0) {
        Ok(read) => CacheProbe::seeing(device.as_fd(), read as u64),
        Err(_) => CacheProbe::None,
    }
}
