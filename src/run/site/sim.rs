//! The simulated file system as a place to run in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::shift;
use crate::base::failure::{Failure, Result};
use crate::base::units::counted;
use crate::op::Subject;
use crate::plan::sim::SimModel;
use crate::plan::{CacheAsked, CellPlan, Phase};
use crate::run::cache::{CacheFound, Doubt, Found, has_files_before};
use crate::run::clock::{RealClock, VirtualClock};
use crate::run::drive::{DoneCount, Recorder};
use crate::run::engine::sim::{SimDisk, SimEngine};
use crate::run::remove::Removal;
use crate::run::workers::{PhaseRun, run_shift};

/// Files looked at to tell what is cached.
const SAMPLE: u64 = 1000;

/// A simulated file system, and the cell in it.
pub struct SimSite {
    model: SimModel,
    clock: RealClock,
    /// Operations of all cells so far.
    operations: Arc<AtomicU64>,
    /// Phases so far.
    shifts: AtomicU64,
    cell: Option<(Arc<SimDisk>, crate::plan::Tree)>,
}

impl SimSite {
    /// A place that lives by `model`; `clock` is read when no request takes any time.
    pub fn new(model: SimModel, clock: RealClock) -> Self {
        Self { model, clock, operations: Arc::default(), shifts: AtomicU64::new(0), cell: None }
    }

    pub(super) fn begin_cell(&mut self, cell: &CellPlan) -> Result<()> {
        let makes_directories =
            cell.phases.iter().any(|p| p.operation.subject() == Subject::Directory);
        let operations = Arc::clone(&self.operations);
        let blocks = cell.phases.iter().filter(|p| p.operation.subject() == Subject::Block);
        let blocks = blocks.map(|p| p.selection.population).max().unwrap_or_default();
        let kinds = (makes_directories, blocks);
        let disk =
            SimDisk::new(self.model, cell.tree.clone(), kinds, operations).map_err(|_| {
                let files = counted(cell.tree.files, "file");
                Failure::failed(format!("there is no memory to simulate {files}: take fewer"))
            })?;
        self.cell = Some((Arc::new(disk), cell.tree.clone()));
        Ok(())
    }

    pub(super) fn end_cell(&mut self) -> Removal {
        self.cell = None;
        Removal::default()
    }

    pub(super) fn treat_caches(&self, phase: &Phase) -> CacheFound {
        let Some((disk, _)) = &self.cell else { return CacheFound::as_is(phase, None) };
        match phase.cache {
            CacheAsked::Cold => disk.drop_caches(),
            CacheAsked::Warm if has_files_before(phase) => disk.warm(phase.selection.numbers()),
            CacheAsked::Warm if phase.operation.subject() == Subject::Block => {
                disk.warm_blocks(phase.selection.numbers());
            }
            CacheAsked::Warm | CacheAsked::AsIs => {}
        }
        let sample = if has_files_before(phase) { phase.selection.sample(SAMPLE) } else { vec![] };
        let cached = disk.cached_fraction(sample.into_iter());
        match (phase.cache, cached) {
            (CacheAsked::AsIs, _) => CacheFound::as_is(phase, cached),
            (CacheAsked::Warm, _) => CacheFound::after_warming(cached),
            (CacheAsked::Cold, None) if self.model.cold_ns == 0 => {
                CacheFound::doubted(Found::Unverified, None, Doubt::NoSimulatedCache)
            }
            (CacheAsked::Cold, None) => CacheFound::after_drop(Some(0.0)),
            (CacheAsked::Cold, Some(_)) => CacheFound::after_drop(cached),
        }
    }

    pub(super) fn work<R: Recorder>(
        &self,
        phase: &Phase,
        stop: &AtomicBool,
        done: &[DoneCount],
        recorders: &mut [R],
    ) -> PhaseRun {
        let Some((disk, tree)) = &self.cell else { return PhaseRun::default() };
        let number = self.shifts.fetch_add(1, Relaxed);
        let engine = |worker, clock: &VirtualClock| {
            SimEngine::new(Arc::clone(disk), phase, clock.clone(), (worker, number))
        };
        let shift = shift(phase, tree, stop, done);
        if self.model.takes_no_time() {
            let clock = self.clock.clone();
            run_shift(shift, recorders, |worker| {
                (engine(worker, &VirtualClock::default()), clock.clone())
            })
        } else {
            run_shift(shift, recorders, |worker| {
                let clock = VirtualClock::default();
                (engine(worker, &clock), clock)
            })
        }
    }

    pub(super) fn sync(&self) -> f64 {
        self.cell.as_ref().map_or(0.0, |(disk, _)| disk.sync_seconds())
    }

    pub(super) fn count_entries(&self) -> u64 {
        self.cell.as_ref().map_or(0, |(disk, _)| disk.entries())
    }
}
