//! The simulated file system as a place to run in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::sim_ballast::SimPlace;
use super::{ConditionName, PlaceCondition, Site, shift};
use crate::base::errno::Errno;
use crate::base::failure::{Failure, Result};
use crate::base::units::{Unit, counted};
use crate::op::Subject;
use crate::plan::prepare::tree_of;
use crate::plan::sim::SimModel;
use crate::plan::{CacheAsked, CellPlan, Phase, Prepare, Tree};
use crate::run::ballast::{BallastPlace, BallastState, HeadwayListener};
use crate::run::cache::{CacheState, CacheVerdict, Doubt, has_files_before};
use crate::run::clock::{RealClock, VirtualClock};
use crate::run::drive::{DoneCount, Recorder};
use crate::run::engine::sim::{SimDisk, SimEngine, SimShared};
use crate::run::remove::Removal;
use crate::run::workers::{PhaseRun, run_shift};

/// Files looked at to tell what is cached.
const SAMPLE: u64 = 1000;

/// A simulated file system, and the cell in it.
pub struct SimSite {
    /// What the cell lives by.
    model: SimModel,
    clock: RealClock,
    shared: Arc<SimShared>,
    /// Phases so far.
    shifts: AtomicU64,
    /// Cells so far.
    cells: u64,
    cell: Option<(Arc<SimDisk>, Tree)>,
    /// Bytes in use when the cell began.
    bytes_before: u64,
    stock: Option<BallastState>,
    ballast: Option<(Arc<SimDisk>, Tree)>,
}

impl SimSite {
    /// A place where each cell lives by its own truth; `clock` is read when no request takes any
    /// time.
    pub fn new(clock: RealClock) -> Self {
        Self {
            model: SimModel::default(),
            clock,
            shared: Arc::default(),
            shifts: AtomicU64::new(0),
            cells: 0,
            cell: None,
            bytes_before: 0,
            stock: None,
            ballast: None,
        }
    }

    fn disk(&self, tree: Tree, kinds: (bool, u64)) -> Result<(Arc<SimDisk>, Tree)> {
        let shared = Arc::clone(&self.shared);
        let disk = SimDisk::new(self.model, tree.clone(), kinds, shared).map_err(|_| {
            let files = counted(tree.files, "file");
            Failure::failed(format!("there is no memory to simulate {files}: take fewer"))
        })?;
        Ok((Arc::new(disk.in_cell(self.cells)), tree))
    }

    /// The disk and tree that a phase works on.
    fn disk_for(&self, phase: &Phase) -> Option<&(Arc<SimDisk>, Tree)> {
        if phase.on_ballast.is_some() { self.ballast.as_ref() } else { self.cell.as_ref() }
    }
}

impl Site for SimSite {
    fn begin_cell(&mut self, cell: &CellPlan) -> Result<()> {
        let makes_directories =
            cell.phases.iter().any(|p| p.operation.subject() == Subject::Directory);
        let blocks = cell.phases.iter().filter(|p| p.operation.subject() == Subject::Block);
        let blocks = blocks.map(|p| p.selection.population).max().unwrap_or_default();
        self.model = cell.sim;
        self.bytes_before = self.shared.used_bytes.load(Relaxed);
        self.cells += 1;
        self.cell = Some(self.disk(cell.tree.clone(), (makes_directories, blocks))?);
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
        let stock = self.stock.get_or_insert_with(|| BallastState::new(prepare.ballast.clone()));
        let mut place = SimPlace { shared: &self.shared, capacity: self.model.capacity };
        stock.reach(prepare.goal, &mut place, stop)?;
        let live = stock.live().clone().ranked();
        let (disk, tree) = self.disk(tree_of(&prepare.ballast, live.set().length()), (false, 0))?;
        disk.stock((0..live.set().count()).map(|n| live.nth(n)));
        self.ballast = Some((disk, tree));
        Ok(())
    }

    fn conditions(&self) -> Vec<PlaceCondition> {
        let Some(stock) = &self.stock else { return Vec::new() };
        let value = stock.live().count() as f64;
        let mut all =
            vec![PlaceCondition { name: ConditionName::FilesPresent, value, unit: Unit::Count }];
        let place = SimPlace { shared: &self.shared, capacity: self.model.capacity };
        if let (Some(_), Ok(space)) = (self.model.capacity, place.space()) {
            let value = space.used_fraction() * 100.0;
            all.push(PlaceCondition { name: ConditionName::SpaceUsed, value, unit: Unit::Percent });
        }
        all
    }

    fn clear(&mut self) -> Removal {
        (self.stock, self.ballast) = (None, None);
        self.shared.files_beside.store(0, Relaxed);
        self.shared.used_bytes.store(0, Relaxed);
        Removal::default()
    }

    fn stock(&self) -> Option<&BallastState> {
        self.stock.as_ref()
    }

    fn end_cell(&mut self) -> Removal {
        self.cell = None;
        self.shared.used_bytes.store(self.bytes_before, Relaxed);
        Removal::default()
    }

    fn treat_caches(&mut self, phase: &Phase, _: &AtomicBool) -> Result<CacheVerdict> {
        let Some((disk, _)) = self.disk_for(phase) else {
            return Ok(CacheVerdict::as_is(phase, None));
        };
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
        Ok(match (phase.cache, cached) {
            (CacheAsked::AsIs, _) => CacheVerdict::as_is(phase, cached),
            (CacheAsked::Warm, _) => CacheVerdict::after_warming(cached),
            (CacheAsked::Cold, None) if self.model.cold_ns == 0 => {
                CacheVerdict::doubted(CacheState::Unverified, None, Doubt::NoSimulatedCache)
            }
            (CacheAsked::Cold, None) => CacheVerdict::after_drop(Some(0.0)),
            (CacheAsked::Cold, Some(_)) => CacheVerdict::after_drop(cached),
        })
    }

    fn work(
        &self,
        phase: &Phase,
        stop: &AtomicBool,
        done: &[DoneCount],
        recorders: &mut [&mut dyn Recorder],
    ) -> PhaseRun {
        let Some((disk, tree)) = self.disk_for(phase) else { return PhaseRun::default() };
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

    fn sync(&self) -> std::result::Result<f64, Errno> {
        Ok(self.cell.as_ref().map_or(0.0, |(disk, _)| disk.sync_seconds()))
    }

    fn count_entries(&self) -> std::result::Result<u64, Errno> {
        Ok(self.cell.as_ref().map_or(0, |(disk, _)| disk.entries()))
    }

    fn is_real(&self) -> bool {
        false
    }
}
