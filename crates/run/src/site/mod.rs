//! Defines the sites that cells run in: a directory of a file system, file systems made for the cells, a
//! block device that is only read, and the simulated file system.

mod ballast_files;
mod device;
mod directory;
mod made;
mod sim;

use std::sync::atomic::AtomicBool;

pub use ballast_files::{BallastFiles, LAYOUT_FILES_MAX};
pub use device::DeviceSite;
pub use directory::DirectorySite;
pub use made::{MadeFacts, MadeSite, MkfsTools};
pub use sim::SimSite;

use super::ballast::{BallastState, HeadwayListener};
use super::cache::{CacheDropper, CacheVerdict, LeastRead, ReadEvidence, Readings};
use super::drive::{DoneCount, Recorder};
use super::remove::Removal;
use super::workers::PhaseRun;
use boatload_base::errno::ErrnoResult;
use boatload_base::failure::{Failure, Result};
use boatload_base::named_enum;
use boatload_base::units::Unit;
use boatload_host::block_device::{BlockDevice, DeviceCounters};
use boatload_host::disk_activity::DiskActivity;
use boatload_host::disturbance::Disturbance;
use boatload_host::idle::wait_until_idle;
use boatload_host::space::Space;
use boatload_plan::phase::OnBallast;
use boatload_plan::prepare::tree_of;
use boatload_plan::{CellPlan, Phase, Prepare, Tree};

named_enum! {
    /// Which property of a site a condition is.
    #[derive(Default)]
    pub enum ConditionName {
        /// Files that lie beside the tree.
        #[default]
        FilesPresent = "files-present",
        /// Share of the space that is used, in percent, as df counts.
        SpaceUsed = "space-used",
        /// Share of all blocks that are in use, in percent.
        BlocksUsed = "blocks-used",
        /// Share of a file's blocks that follow the one before.
        LayoutScore = "layout-score",
        /// Share of the free space that is in free extents of at least 1 MiB, in percent.
        FreeInLarge = "free-in-1mib",
        /// Mean size of the free extents.
        FreeExtentMean = "free-extent-mean",
        /// Size of the largest free extent.
        FreeExtentLargest = "free-extent-largest",
        /// Which history of the ballast it is, from 1.
        History = "history",
    }
}

/// One property of a site, with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteCondition {
    /// Which property.
    pub name: ConditionName,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

impl SiteCondition {
    /// Which history of the ballast it is, from 0.
    pub fn history(history: u32) -> Self {
        let value = f64::from(history) + 1.0;
        Self { name: ConditionName::History, value, unit: Unit::Count }
    }

    /// A number of files.
    fn files(name: ConditionName, files: u64) -> Self {
        Self { name, value: files as f64, unit: Unit::Count }
    }

    /// A share, in percent.
    fn share(name: ConditionName, share: f64) -> Self {
        Self { name, value: share * 100.0, unit: Unit::Percent }
    }

    /// How full the space is, as df counts and of all blocks; nothing if the file system states no size.
    fn space_used(space: &Space) -> impl Iterator<Item = Self> {
        let shares = [
            (ConditionName::SpaceUsed, space.used_fraction()),
            (ConditionName::BlocksUsed, space.blocks_used_fraction()),
        ];
        shares.into_iter().filter_map(|(name, share)| Some(Self::share(name, share?)))
    }
}

/// What a file system did while it was unmounted.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// How long that took, in seconds.
    pub seconds: f64,
    /// What its device did; none without one, and where it is not known.
    pub device: Option<DeviceCounters>,
    /// What the disk did, request by request; `None` where nobody looked.
    pub disk: Option<DiskActivity>,
}

impl Settled {
    /// With what another unmount of the same cell did.
    fn plus(self, other: Self) -> Self {
        let device = self.device.zip(other.device).map(|(one, other)| one.plus(other));
        let disk = self.disk.zip(other.disk).map(|(one, other)| one.plus(&other));
        Self { seconds: self.seconds + other.seconds, device, disk }
    }
}

/// A cell as another rank has it.
pub struct RankCell<'a> {
    /// Which rank.
    pub rank: u32,
    /// Its cell.
    pub cell: &'a CellPlan,
}

impl RankCell<'_> {
    /// The rank that makes the directories of its tree: of one that ranks share, rank 0.
    fn maker(&self) -> u32 {
        if self.cell.tree.part.is_some() { 0 } else { self.rank }
    }
}

/// A place to run cells in, one at a time. A method that is not overridden asks the place inside it; or,
/// without one, of a place without files beside the cells' trees, without a device and without
/// anything to write out.
pub trait Site {
    /// The place that does the work for this one; `None` if it does its own.
    fn inside(&self) -> Option<&dyn Site> {
        None
    }

    /// Makes the directories of a cell's tree; of one that ranks share, rank 0 makes them, and then the others open them.
    fn begin_cell(&mut self, cell: &CellPlan) -> Result<()>;

    /// Brings the files beside the tree of `cell` to a level, from where they are; `listener`
    /// hears how far it is.
    fn prepare(
        &mut self,
        _cell: &CellPlan,
        _prepare: &Prepare,
        _stop: &AtomicBool,
        _listener: HeadwayListener<'_>,
    ) -> Result<()> {
        Ok(())
    }

    /// Keeps the place, just prepared, as state `number`. Where it is known which files beside the tree
    /// will be read, what the others hold may be left out.
    ///
    /// # Errors
    /// If it cannot be kept, or was interrupted.
    fn keep_state(
        &mut self,
        _number: u64,
        _read: Option<&[OnBallast]>,
        _stop: &AtomicBool,
    ) -> Result<()> {
        Err(not_kept())
    }

    /// Brings the place of `cell` back to state `number`; the cell removes it when it ends.
    ///
    /// # Errors
    /// If it cannot be restored, or was interrupted.
    fn restore_state(&mut self, _cell: &CellPlan, _number: u64, _stop: &AtomicBool) -> Result<()> {
        Err(not_kept())
    }

    /// Lets go of state `number`.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn forget_state(&mut self, _number: u64) -> Result<()> {
        Err(not_kept())
    }

    /// The conditions of the site: how full it is, how contiguous its files are.
    fn conditions(&self) -> Vec<SiteCondition> {
        self.inside().map_or_else(Vec::new, Site::conditions)
    }

    /// Removes the ballast files that this run made.
    fn remove_ballast(&mut self) -> Removal {
        Removal::default()
    }

    /// The files beside the cells' trees; none without any.
    fn ballast_state(&self) -> Option<&BallastState> {
        self.inside()?.ballast_state()
    }

    /// Unmounts the cell's file system after its last phase; what that and the unmounts between
    /// phases did. `None` where the file system stays mounted.
    ///
    /// # Errors
    /// If it cannot be mounted again for the cells that share it.
    fn settle(&mut self) -> Result<Option<Settled>> {
        Ok(None)
    }

    /// Removes this rank's remaining files in a tree that ranks share, as far as it can be: rank 0 removes the rest.
    fn remove_own_entries(&self) {}

    /// Removes the rest of the cell's tree; one that ranks share, rank 0 does.
    fn end_cell(&mut self) -> Removal {
        Removal::default()
    }

    /// A cell was done before with these numbers of phases and operations, as far as later ones depend on that.
    fn skip_cell(&mut self, _cell: &CellPlan, _phases: u64, _operations: u64) {}

    /// Brings the caches into the state that the phase asks for, and checks it.
    ///
    /// # Errors
    /// If a file system that was unmounted for it cannot be mounted again, or what `dropper` says.
    fn prepare_caches(
        &mut self,
        phase: &Phase,
        stop: &AtomicBool,
        dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict>;

    /// The last look at the caches, just before the phase: what was cold may have been read since
    /// by somebody else. It warms nothing. What was kept open for it is closed.
    ///
    /// # Errors
    /// What `dropper` says.
    fn recheck_caches(
        &mut self,
        found: CacheVerdict,
        _phase: &Phase,
        _dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        Ok(found)
    }

    /// The fewest bytes that this phase must read from the device if its caches were cold; `None` where
    /// nothing is read from a device.
    fn least_read(&self, phase: &Phase) -> Option<LeastRead> {
        self.inside()?.least_read(phase)
    }

    /// The block device beneath; none without one.
    fn device(&self) -> Option<&BlockDevice> {
        self.inside()?.device()
    }

    /// Whether there is, or may be, a disk of this machine beneath, known or not.
    fn has_disk(&self) -> bool {
        self.inside().is_none_or(Site::has_disk)
    }

    /// From now on, or no longer, a modelled disk beneath takes its time.
    ///
    /// # Errors
    /// If it does not answer.
    fn time_disk(&self, _is_timed: bool) -> Result<()> {
        Ok(())
    }

    /// What the disk beneath was asked for and did until now; `None` where nobody looks.
    ///
    /// # Errors
    /// If a modelled disk does not answer.
    fn disk_activity(&self) -> Result<Option<DiskActivity>> {
        Ok(None)
    }

    /// Whether it is of this machine, whose disturbances are its own, and not simulated.
    fn is_real(&self) -> bool {
        true
    }

    /// The background load that was simulated in the last phase, which took `_seconds`; `None` on a real
    /// machine, whose load is measured.
    fn simulated_load(&self, _seconds: f64) -> Option<Disturbance> {
        None
    }

    /// The room on the file system; `None` where there is none, or it does not say.
    fn space(&self) -> Option<Space> {
        self.inside()?.space()
    }

    /// What makes the engines that carry its phases out.
    fn engines(&self) -> EngineSource<'_>;

    /// One sync of the whole file system; how long it took, in seconds.
    ///
    /// # Errors
    /// What syncfs(2) says: data that could not be written.
    fn sync(&self) -> ErrnoResult<f64> {
        self.inside().map_or(Ok(0.0), Site::sync)
    }

    /// What was read and written until now, by counters; nothing without a device.
    fn readings(&self) -> Readings {
        self.inside().map_or_else(Readings::default, Site::readings)
    }

    /// Counts the tree's entries.
    fn count_entries(&self) -> ErrnoResult<u64> {
        self.inside().map_or(Ok(0), Site::count_entries)
    }

    /// The phase with the files it works on, where they are known only now.
    fn resolved(&self, phase: &Phase) -> Phase {
        let Some(on) = phase.on_ballast else { return phase.clone() };
        self.ballast_state().map_or_else(|| phase.clone(), |state| state.resolved(phase, on))
    }

    /// The next phases work on what another rank wrote, or again on what this one did.
    ///
    /// # Errors
    /// If that cannot be opened.
    fn work_on(&mut self, _other: Option<RankCell<'_>>) -> Result<()> {
        Ok(())
    }

    /// The tree that a phase works on.
    fn tree_of(&self, phase: &Phase, cell: &CellPlan) -> Tree {
        self.own_tree_of(phase, cell)
    }

    /// The tree that it works on where that is not of another rank.
    fn own_tree_of(&self, phase: &Phase, cell: &CellPlan) -> Tree {
        match phase.on_ballast.and_then(|_| self.ballast_state()) {
            Some(state) => tree_of(state.ballast(), state.live().length()),
            None => cell.tree.clone(),
        }
    }

    /// Waits until the device has nothing to do, but not for ever; whether it has. None without
    /// one, or if it is not known.
    fn wait_until_idle(&self, stop: &AtomicBool) -> Option<bool> {
        self.device().and_then(|device| wait_until_idle(device, stop))
    }

    /// The verdict on the caches after the phase.
    fn confirm(&self, found: CacheVerdict, phase: &Phase, evidence: &ReadEvidence) -> CacheVerdict {
        match self.least_read(phase) {
            Some(least) => found.confirmed(phase, evidence, least),
            None => found,
        }
    }
}

fn not_kept() -> Failure {
    Failure::failed("the states of this place cannot be kept")
}

/// The sites that make engines. Phases are run through it, so that the hot loop is compiled for each pair
/// of an engine and a recorder.
pub enum EngineSource<'a> {
    /// No site is ready: nothing is done.
    Nothing,
    /// A directory.
    Directory(&'a DirectorySite),
    /// A block device.
    Device(&'a DeviceSite),
    /// The simulated file system.
    Sim(&'a SimSite),
}

impl EngineSource<'_> {
    /// Runs a phase with a recorder for each worker.
    pub fn work<R: Recorder>(
        &self,
        phase: &Phase,
        stop: &AtomicBool,
        done: &[DoneCount],
        recorders: &mut [R],
    ) -> PhaseRun {
        match self {
            Self::Nothing => PhaseRun::default(),
            Self::Directory(site) => site.work(phase, stop, done, recorders),
            Self::Device(site) => site.work(phase, stop, done, recorders),
            Self::Sim(site) => site.work(phase, stop, done, recorders),
        }
    }

    /// Runs a phase outside of any measurement.
    fn work_unrecorded(&self, phase: &Phase, stop: &AtomicBool) {
        let done: Vec<DoneCount> = DoneCount::of_workers(phase.threads);
        self.work(phase, stop, &done, &mut vec![Unrecorded; phase.threads as usize]);
    }
}

/// Takes in nothing: for work that is not measured.
#[derive(Clone)]
struct Unrecorded;

impl Recorder for Unrecorded {
    fn record(&mut self, _: u64, _: u64) {}
}
