//! Runs cells on the simulated file system. Of the ballast only the number of files and bytes is kept.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::ballast::{BallastFileSystem, BallastState, HeadwayListener};
use crate::cache::{CacheDropper, CacheVerdict, Doubt, has_files_before};
use crate::clock::{RealClock, VirtualClock};
use crate::drive::{DoneCount, Recorder};
use crate::engine::sim::{SimDisk, SimEngine, SimKept, SimShared};
use crate::remove::Removal;
use crate::site::{ConditionName, EngineSource, Site, SiteCondition};
use crate::workers::{PhaseRun, PhaseTask, run_workers};
use boatload_base::errno::{Errno, ErrnoResult};
use boatload_base::failure::{Failure, Result};
use boatload_base::live_set::LiveSet;
use boatload_base::units::counted;
use boatload_host::disturbance::Disturbance;
use boatload_host::space::Space;
use boatload_op::{Change, Effect, Operation, Subject};
use boatload_plan::phase::OnBallast;
use boatload_plan::prepare::{Ballast, tree_of};
use boatload_plan::sim::SimModel;
use boatload_plan::tree::Sizes;
use boatload_plan::{CacheAsked, CellPlan, Phase, Prepare, Tree};

/// Files looked at to tell what is cached.
const SAMPLE: u64 = 1000;

/// A simulated file system, and the cell in it.
pub struct SimSite {
    /// What the cell lives by.
    model: SimModel,
    clock: RealClock,
    shared: Arc<SimShared>,
    /// Phases until now.
    phases_begun: AtomicU64,
    /// Cells until now.
    cells: u64,
    cell: Option<(Arc<SimDisk>, Tree)>,
    /// Bytes in use when the cell began.
    bytes_before: u64,
    ballast_state: Option<BallastState>,
    ballast: Option<(Arc<SimDisk>, Tree)>,
    /// States that are kept, by number: the ballast, and the bytes in use.
    kept: BTreeMap<u64, (BallastState, u64)>,
}

impl SimSite {
    /// A place where each cell lives by its own truth; `clock` is read when no request takes any
    /// time.
    pub fn new(clock: RealClock) -> Self {
        Self {
            model: SimModel::default(),
            clock,
            shared: Arc::default(),
            phases_begun: AtomicU64::new(0),
            cells: 0,
            cell: None,
            bytes_before: 0,
            ballast_state: None,
            ballast: None,
            kept: BTreeMap::new(),
        }
    }

    fn disk(&self, tree: Tree, kept: SimKept) -> Result<(Arc<SimDisk>, Tree)> {
        let shared = Arc::clone(&self.shared);
        let disk = SimDisk::new(self.model, tree.clone(), kept, shared);
        let disk = disk.map_err(|_| {
            let files = counted(tree.files, "file");
            Failure::failed(format!("there is no memory to simulate {files}: take fewer"))
        })?;
        Ok((Arc::new(disk.in_cell(self.cells)), tree))
    }

    /// Makes the files of the ballast there for phases.
    fn open_ballast(&mut self) -> Result<()> {
        let Some(state) = &self.ballast_state else { return Ok(()) };
        let live = state.live();
        let (disk, tree) =
            self.disk(tree_of(state.ballast(), live.length()), SimKept::default())?;
        disk.stock(live);
        self.ballast = Some((disk, tree));
        Ok(())
    }

    /// The disk and tree that a phase works on.
    fn disk_for(&self, phase: &Phase) -> Option<&(Arc<SimDisk>, Tree)> {
        if phase.on_ballast.is_some() { self.ballast.as_ref() } else { self.cell.as_ref() }
    }

    /// What a neighbour did in the last phase, which took so many seconds: it used half of two processors.
    fn background_load(&self, seconds: f64) -> Option<Disturbance> {
        let (disk, _) = self.cell.as_ref()?;
        disk.neighbour_factor(self.phases_begun.load(Relaxed).checked_sub(1)?)?;
        Some(Disturbance {
            seconds: Some(seconds),
            cpu_seconds: Some(2.0 * seconds),
            others_cpu_seconds: Some(seconds),
            others_user_seconds: Some(seconds),
            ..Disturbance::default()
        })
    }

    /// Runs a phase with a recorder for each worker.
    pub(super) fn work<R: Recorder>(
        &self,
        phase: &Phase,
        stop: &AtomicBool,
        done: &[DoneCount],
        recorders: &mut [R],
    ) -> PhaseRun {
        let Some((disk, tree)) = self.disk_for(phase) else { return PhaseRun::default() };
        let number = self.phases_begun.fetch_add(1, Relaxed);
        let engine = |worker, clock: &VirtualClock| {
            SimEngine::new(Arc::clone(disk), phase, clock.clone(), worker, number)
        };
        let task = PhaseTask { phase, tree, stop, done };
        if self.model.takes_no_time() {
            run_workers(task, recorders, |worker| {
                (engine(worker, &VirtualClock::default()), self.clock.clone())
            })
        } else {
            run_workers(task, recorders, |worker| {
                let clock = VirtualClock::default();
                (engine(worker, &clock), clock)
            })
        }
    }
}

/// Whether each file has the same size whenever it is looked at.
fn has_one_size(cell: &CellPlan) -> bool {
    let is_never_short = cell.sim.capacity.is_none() && cell.sim.fault.is_none();
    let is_resized = |change| matches!(change, Change::Grows | Change::Halves);
    let keeps_size = |phase: &Phase| {
        let works = phase.mix.as_ref().map_or(&[][..], |mix| &mix.works);
        phase.sizes.is_none()
            && works.iter().all(|work| work.sizes.is_none())
            && !phase.operations_done().iter().any(|operation| is_resized(operation.change))
    };
    let is_fixed = matches!(cell.tree.sizes, Sizes::Fixed(_));
    is_never_short && is_fixed && cell.phases.iter().all(keeps_size)
}

impl Site for SimSite {
    fn begin_cell(&mut self, cell: &CellPlan) -> Result<()> {
        let directories = cell.phases.iter().any(|p| p.operation.subject == Subject::Directory);
        let links = |o: &Operation| o.effect == Effect::AddsEntry && o.change == Change::Renames;
        let renames = |o: &&Operation| o.makes_temporary || links(o);
        let second_names = cell.phases.iter().any(|p| p.operations_done().iter().any(renames));
        let blocks = cell.phases.iter().filter(|p| p.operation.subject == Subject::Block);
        let blocks = blocks.map(|p| p.selection.population).max().unwrap_or_default();
        self.model = cell.sim;
        self.bytes_before = self.shared.used_bytes.load(Relaxed);
        self.cells += 1;
        let sized = if has_one_size(cell) { 0 } else { cell.tree.files_max.unwrap_or(0) };
        let kept = SimKept { directories, second_names, blocks, sized };
        self.cell = Some(self.disk(cell.tree.clone(), kept)?);
        Ok(())
    }

    fn prepare(
        &mut self,
        cell: &CellPlan,
        prepare: &Prepare,
        stop: &AtomicBool,
        _: HeadwayListener<'_>,
    ) -> Result<()> {
        self.model = cell.sim;
        let state =
            self.ballast_state.get_or_insert_with(|| BallastState::new(prepare.ballast.clone()));
        let mut place = SimBallast { shared: &self.shared, capacity: self.model.capacity };
        state.reach(prepare.goal, &mut place, stop)?;
        self.open_ballast()
    }

    fn keep_state(&mut self, number: u64, _: Option<&[OnBallast]>, _: &AtomicBool) -> Result<()> {
        let used_bytes = self.shared.used_bytes.load(Relaxed);
        self.kept.extend(self.ballast_state.clone().map(|state| (number, (state, used_bytes))));
        Ok(())
    }

    fn restore_state(&mut self, cell: &CellPlan, number: u64, _: &AtomicBool) -> Result<()> {
        let Some((state, used_bytes)) = self.kept.get(&number).cloned() else {
            return Err(Failure::failed("the state of the place was not kept"));
        };
        self.model = cell.sim;
        self.shared.files_beside.store(state.live().count(), Relaxed);
        self.shared.used_bytes.store(used_bytes, Relaxed);
        self.ballast_state = Some(state);
        self.open_ballast()
    }

    fn forget_state(&mut self, number: u64) -> Result<()> {
        self.kept.remove(&number);
        Ok(())
    }

    fn conditions(&self) -> Vec<SiteCondition> {
        let Some(state) = &self.ballast_state else { return Vec::new() };
        let files = state.live().count();
        let mut all = vec![SiteCondition::files(ConditionName::FilesPresent, files)];
        let place = SimBallast { shared: &self.shared, capacity: self.model.capacity };
        if let (Some(_), Ok(space)) = (self.model.capacity, place.space()) {
            all.extend(SiteCondition::space_used(&space));
        }
        all
    }

    fn remove_ballast(&mut self) -> Removal {
        (self.ballast_state, self.ballast) = (None, None);
        self.shared.files_beside.store(0, Relaxed);
        self.shared.used_bytes.store(0, Relaxed);
        Removal::default()
    }

    fn ballast_state(&self) -> Option<&BallastState> {
        self.ballast_state.as_ref()
    }

    fn end_cell(&mut self) -> Removal {
        self.cell = None;
        self.shared.used_bytes.store(self.bytes_before, Relaxed);
        Removal::default()
    }

    fn skip_cell(&mut self, cell: &CellPlan, phases: u64, operations: u64) {
        self.cells += 1;
        self.phases_begun.fetch_add(phases, Relaxed);
        if cell.sim.counts_operations() {
            self.shared.operations.fetch_add(operations, Relaxed);
        }
    }

    fn prepare_caches(
        &mut self,
        phase: &Phase,
        _: &AtomicBool,
        _: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        let Some((disk, _)) = self.disk_for(phase) else {
            return Ok(CacheVerdict::as_is(phase, None));
        };
        match phase.cache {
            CacheAsked::Cold => disk.drop_caches(),
            CacheAsked::Warm if has_files_before(phase) => disk.warm(phase.selection.numbers()),
            CacheAsked::Warm if phase.operation.subject == Subject::Block => {
                disk.warm_blocks(phase.selection.numbers());
            }
            CacheAsked::Warm | CacheAsked::AsIs => {}
        }
        let sample = if has_files_before(phase) { phase.selection.sample(SAMPLE) } else { vec![] };
        let cached = disk.cached_fraction(sample.into_iter());
        Ok(match (phase.cache, cached) {
            (CacheAsked::AsIs, _) => CacheVerdict::as_is(phase, cached),
            (CacheAsked::Warm, _) => CacheVerdict::after_warming(cached),
            (CacheAsked::Cold, None) if self.model.cold_ns == 0 => {
                CacheVerdict::unverified(None, Doubt::NoSimulatedCache)
            }
            (CacheAsked::Cold, None) => CacheVerdict::after_drop(Some(0.0)),
            (CacheAsked::Cold, Some(_)) => CacheVerdict::after_drop(cached),
        })
    }

    fn engines(&self) -> EngineSource<'_> {
        EngineSource::Sim(self)
    }

    fn sync(&self) -> ErrnoResult<f64> {
        Ok(self.cell.as_ref().map_or(0.0, |(disk, _)| disk.sync_seconds()))
    }

    fn count_entries(&self) -> ErrnoResult<u64> {
        Ok(self.cell.as_ref().map_or(0, |(disk, _)| disk.entries()))
    }

    fn is_real(&self) -> bool {
        false
    }

    fn simulated_load(&self, seconds: f64) -> Option<Disturbance> {
        self.background_load(seconds)
    }
}

/// Blocks of the simulated file system, in bytes: content takes what it is long.
const BLOCK_BYTES: u64 = 1;

/// What a ballast makes and deletes its files through.
pub(super) struct SimBallast<'a> {
    pub(super) shared: &'a SimShared,
    pub(super) capacity: Option<u64>,
}

impl BallastFileSystem for SimBallast<'_> {
    fn create(&mut self, ballast: &Ballast, files: Range<u64>) -> Result<()> {
        let count = files.end - files.start;
        let bytes: u64 = files.map(|number| ballast.tree.size(number, 0)).sum();
        let used = self.shared.used_bytes.fetch_add(bytes, Relaxed) + bytes;
        self.shared.files_beside.fetch_add(count, Relaxed);
        match self.capacity {
            Some(capacity) if used > capacity => Err(Failure::failed(Errno::ENOSPC.about())),
            _ => Ok(()),
        }
    }

    fn delete(&mut self, ballast: &Ballast, files: LiveSet) -> Result<()> {
        let files = files.ranked();
        let count = files.set().count();
        let bytes: u64 = (0..count).map(|n| ballast.tree.size(files.nth(n), 0)).sum();
        self.shared.used_bytes.fetch_sub(bytes, Relaxed);
        self.shared.files_beside.fetch_sub(count, Relaxed);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn space(&self) -> Result<Space> {
        let total_bytes = self.capacity.unwrap_or(u64::MAX / 2);
        let free_bytes = total_bytes.saturating_sub(self.shared.used_bytes.load(Relaxed));
        Ok(Space {
            block_bytes: BLOCK_BYTES,
            total_bytes,
            free_bytes,
            available_bytes: free_bytes,
            ..Space::default()
        })
    }
}
