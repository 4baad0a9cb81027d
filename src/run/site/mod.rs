//! Where a run takes place: a directory of a real file system, the device beneath one, or the
//! simulated file system. The session
//! does the same with both.

mod device;
mod disk;
mod disk_ballast;
mod made;
mod sim;
mod sim_ballast;

use std::sync::atomic::AtomicBool;

pub use device::DeviceSite;
pub use disk::DiskSite;
pub use disk_ballast::DiskBallast;
pub use made::{Made, MadeSite, Workshop};
pub use sim::SimSite;

use disk_ballast::resolved;

use super::ballast::{Stock, Told};
use super::cache::CacheFound;
use super::drive::{DoneCount, Recorder};
use super::evidence::{Evidence, Least, Readings};
use super::idle::wait_until_idle;
use super::remove::Removal;
use super::workers::{PhaseRun, Shift};
use crate::base::failure::Result;
use crate::base::units::Unit;
use crate::base::words::words;
use crate::host::device::BlockDevice;
use crate::host::space::Usage;
use crate::plan::prepare::tree_of;
use crate::plan::{CellPlan, Phase, Prepare, Tree};

words! {
    /// What a figure of a place says.
    #[derive(Default)]
    pub enum ConditionName {
        /// Files that lie beside the tree.
        #[default]
        FilesPresent = "files-present",
        /// Files that a count of them found.
        FilesFound = "files-found",
        /// Share of the space that is used, in percent.
        SpaceUsed = "space-used",
        /// Share of a file's blocks that follow the one before.
        LayoutScore = "layout-score",
    }
}

/// One figure of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaceCondition {
    /// What it says.
    pub name: ConditionName,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// A place to run cells in, one at a time.
pub enum Site {
    /// A directory of a file system.
    Disk(Box<DiskSite>),
    /// File systems made for the cells.
    Made(Box<MadeSite>),
    /// A block device, which is only read.
    Device(Box<DeviceSite>),
    /// The simulated file system.
    Sim(Box<SimSite>),
}

impl Site {
    /// Makes the directories of a cell's tree.
    ///
    /// # Errors
    /// If they cannot be made, or there is no memory to simulate it.
    pub fn begin_cell(&mut self, cell: &CellPlan) -> Result<()> {
        match self {
            Site::Disk(disk) => disk.begin_cell(cell),
            Site::Made(made) => made.begin_cell(cell),
            Site::Device(device) => {
                device.begin_cell(cell);
                Ok(())
            }
            Site::Sim(sim) => sim.begin_cell(cell),
        }
    }

    /// Brings the files beside the cells' trees to a level, from where they are; `told`
    /// hears how far it is.
    ///
    /// # Errors
    /// If the level cannot be reached.
    pub fn prepare(
        &mut self,
        (cell, prepare): (&CellPlan, &Prepare),
        stop: &AtomicBool,
        told: Told<'_>,
    ) -> Result<()> {
        match self {
            Site::Disk(disk) => disk.prepare(prepare, stop, told),
            Site::Made(made) => made.prepare((cell, prepare), stop, told),
            Site::Device(_) => Ok(()),
            Site::Sim(sim) => sim.prepare((cell, prepare), stop),
        }
    }

    /// What the place is like: how full it is, how its files lie.
    pub fn conditions(&self) -> Vec<PlaceCondition> {
        match self {
            Site::Disk(disk) => disk.conditions(),
            Site::Made(made) => made.disk().map_or_else(Vec::new, DiskSite::conditions),
            Site::Device(_) => Vec::new(),
            Site::Sim(sim) => sim.conditions(),
        }
    }

    /// Removes the files beside the cells' trees.
    pub fn clear(&mut self) -> Removal {
        match self {
            Site::Disk(disk) => disk.clear(),
            Site::Made(made) => made.clear(),
            Site::Device(_) => Removal::default(),
            Site::Sim(sim) => sim.clear(),
        }
    }

    /// The files beside the cells' trees.
    fn stock(&self) -> Option<&Stock> {
        match self {
            Site::Disk(disk) => disk.stock(),
            Site::Made(made) => made.disk().and_then(DiskSite::stock),
            Site::Device(_) => None,
            Site::Sim(sim) => sim.stock(),
        }
    }

    /// The phase with the files it works on, where they are known only now.
    pub fn resolved(&self, phase: &Phase) -> Phase {
        let Some(on) = phase.on_ballast else { return phase.clone() };
        self.stock().map_or_else(|| phase.clone(), |stock| resolved(stock, phase, on))
    }

    /// The tree that a phase works on.
    pub fn tree_of(&self, phase: &Phase, cell: &CellPlan) -> Tree {
        let stock = phase.on_ballast.and_then(|_| self.stock());
        let of_stock = |stock: &Stock| tree_of(stock.ballast(), stock.live().length());
        stock.map_or_else(|| cell.tree.clone(), of_stock)
    }

    /// Removes what is left of the cell's tree.
    pub fn end_cell(&mut self) -> Removal {
        match self {
            Site::Disk(disk) => disk.end_cell(),
            Site::Made(made) => made.end_cell(),
            Site::Device(_) => Removal::default(),
            Site::Sim(sim) => sim.end_cell(),
        }
    }

    /// Brings the caches to where the phase wants them and says what was found.
    ///
    /// # Errors
    /// If a file system that was unmounted for it cannot be mounted again.
    pub fn treat_caches(&mut self, phase: &Phase, stop: &AtomicBool) -> Result<CacheFound> {
        Ok(match self {
            Site::Disk(disk) => disk.treat_caches(phase, stop),
            Site::Made(made) => return made.treat_caches(phase, stop),
            Site::Device(device) => device.treat_caches(phase, stop),
            Site::Sim(sim) => sim.treat_caches(phase),
        })
    }

    /// The block device beneath; none without one.
    pub fn device(&self) -> Option<&BlockDevice> {
        match self {
            Site::Disk(disk) => disk.device(),
            Site::Made(made) => made.disk().and_then(DiskSite::device),
            Site::Device(device) => Some(device.device()),
            Site::Sim(_) => None,
        }
    }

    /// Whether the device beneath counts the flushes that it completes.
    pub fn counts_flushes(&self) -> bool {
        self.device().is_some_and(BlockDevice::counts_flushes)
    }

    /// Whether it is of this machine, whose disturbances are its own, and not simulated.
    pub fn is_real(&self) -> bool {
        !matches!(self, Site::Sim(_))
    }

    /// Waits until the device has nothing to do, but not for ever; whether it has. None without
    /// one, or if it cannot be told.
    pub fn wait_until_idle(&self, stop: &AtomicBool) -> Option<bool> {
        self.device().and_then(|device| wait_until_idle(device, stop))
    }

    /// What the file system has in use; none if nothing tells.
    pub fn usage(&self) -> Option<Usage> {
        match self {
            Site::Disk(disk) => disk.usage(),
            Site::Made(made) => made.disk().and_then(DiskSite::usage),
            Site::Device(_) | Site::Sim(_) => None,
        }
    }

    /// The last look at the caches, just before the phase: what was cold may have been read since
    /// by somebody else. It warms nothing. What was kept open for it is closed.
    #[must_use]
    pub fn look_again(&mut self, found: CacheFound, phase: &Phase) -> CacheFound {
        match self {
            Site::Disk(disk) => disk.look_again(found, phase),
            Site::Made(made) => made.look_again(found, phase),
            Site::Device(device) => device.look_again(found, phase),
            Site::Sim(_) => found,
        }
    }

    /// The verdict on the caches after the phase.
    pub fn confirm(&self, found: CacheFound, phase: &Phase, evidence: &Evidence) -> CacheFound {
        let least = match self {
            Site::Disk(disk) => disk.least(phase),
            Site::Made(made) => match made.disk() {
                Some(disk) => disk.least(phase),
                None => return found,
            },
            Site::Device(_) => Least::of_device(),
            Site::Sim(_) => return found,
        };
        found.confirmed(phase, evidence, least)
    }

    /// Runs the phase.
    pub fn work<R: Recorder>(
        &self,
        phase: &Phase,
        stop: &AtomicBool,
        done: &[DoneCount],
        recorders: &mut [R],
    ) -> PhaseRun {
        match self {
            Site::Disk(disk) => disk.work(phase, stop, done, recorders),
            Site::Made(made) => made
                .disk()
                .map_or_else(PhaseRun::default, |disk| disk.work(phase, stop, done, recorders)),
            Site::Device(device) => device.work(phase, stop, done, recorders),
            Site::Sim(sim) => sim.work(phase, stop, done, recorders),
        }
    }

    /// One sync of the whole file system; how long it took, in seconds.
    ///
    /// # Errors
    /// What syncfs(2) says: data that could not be written.
    pub fn sync(&self) -> std::result::Result<f64, crate::base::errno::Errno> {
        match self {
            Site::Disk(disk) => disk.sync(),
            Site::Made(made) => made.disk().map_or(Ok(0.0), DiskSite::sync),
            // Nothing was written.
            Site::Device(_) => Ok(0.0),
            Site::Sim(sim) => Ok(sim.sync()),
        }
    }

    /// What was read and written so far, by counters; nothing without a device.
    pub fn readings(&self) -> Readings {
        match self {
            Site::Disk(disk) => disk.readings(),
            Site::Made(made) => made.disk().map_or_else(Readings::default, DiskSite::readings),
            Site::Device(device) => device.readings(),
            Site::Sim(_) => Readings::default(),
        }
    }

    /// Counts the tree's entries.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn count_entries(&self) -> std::result::Result<u64, crate::base::errno::Errno> {
        match self {
            Site::Disk(disk) => disk.count_entries(),
            Site::Made(made) => made.disk().map_or(Ok(0), DiskSite::count_entries),
            Site::Device(_) => Ok(0),
            Site::Sim(sim) => Ok(sim.count_entries()),
        }
    }
}

/// Takes in nothing: for work that is not measured.
struct Unrecorded;

impl Recorder for Unrecorded {
    fn record(&mut self, _: u64, _: u64) {}
}

fn shift<'a>(
    phase: &'a Phase,
    tree: &'a Tree,
    stop: &'a AtomicBool,
    done: &'a [DoneCount],
) -> Shift<'a> {
    Shift { phase, tree, stop, done }
}
