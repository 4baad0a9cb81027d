//! Where a run takes place: a directory of a real file system, the device beneath one, or the
//! simulated file system. The session
//! does the same with both.

mod device;
mod disk;
mod sim;

use std::sync::atomic::AtomicBool;

pub use device::DeviceSite;
pub use disk::DiskSite;
pub use sim::SimSite;

use super::cache::CacheFound;
use super::drive::{DoneCount, Recorder};
use super::remove::Removal;
use super::workers::{PhaseRun, Shift};
use crate::base::failure::Result;
use crate::host::counters::DeviceCounters;
use crate::plan::{CellPlan, Phase, Tree};

/// A place to run cells in, one at a time.
pub enum Site {
    /// A directory of a file system.
    Disk(Box<DiskSite>),
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
            Site::Device(device) => {
                device.begin_cell(cell);
                Ok(())
            }
            Site::Sim(sim) => sim.begin_cell(cell),
        }
    }

    /// Removes what is left of the cell's tree.
    pub fn end_cell(&mut self) -> Removal {
        match self {
            Site::Disk(disk) => disk.end_cell(),
            Site::Device(_) => Removal::default(),
            Site::Sim(sim) => sim.end_cell(),
        }
    }

    /// Brings the caches to where the phase wants them and says what was found.
    pub fn treat_caches(&self, phase: &Phase, stop: &AtomicBool) -> CacheFound {
        match self {
            Site::Disk(disk) => disk.treat_caches(phase, stop),
            Site::Device(device) => device.treat_caches(phase, stop),
            Site::Sim(sim) => sim.treat_caches(phase),
        }
    }

    /// The second look at the caches, after the phase.
    pub fn confirm(
        &self,
        found: CacheFound,
        phase: &Phase,
        bytes: u64,
        read: Option<u64>,
    ) -> CacheFound {
        match self {
            Site::Disk(_) | Site::Device(_) => found.confirmed(phase, bytes, read),
            Site::Sim(_) => found,
        }
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
            // Nothing was written.
            Site::Device(_) => Ok(0.0),
            Site::Sim(sim) => Ok(sim.sync()),
        }
    }

    /// Counters of the device beneath; none without one.
    pub fn counters(&self) -> Option<DeviceCounters> {
        match self {
            Site::Disk(disk) => disk.counters(),
            Site::Device(device) => device.counters(),
            Site::Sim(_) => None,
        }
    }

    /// Counts the tree's entries.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn count_entries(&self) -> std::result::Result<u64, crate::base::errno::Errno> {
        match self {
            Site::Disk(disk) => disk.count_entries(),
            Site::Device(_) => Ok(0),
            Site::Sim(sim) => Ok(sim.count_entries()),
        }
    }
}

fn shift<'a>(
    phase: &'a Phase,
    tree: &'a Tree,
    stop: &'a AtomicBool,
    done: &'a [DoneCount],
) -> Shift<'a> {
    Shift { phase, tree, stop, done }
}
