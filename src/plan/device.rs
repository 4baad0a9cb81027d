//! A plan fitted to the block device it reads: how many blocks there are is known only where it
//! runs.

use super::phase::Phase;
use super::{CellPlan, Plan};
use crate::base::failure::{Failure, Result};
use crate::base::units::{bytes, counted};
use crate::op::Subject;

impl CellPlan {
    /// Whether its phases read the block device and no files.
    pub fn reads_device(&self) -> bool {
        self.phases.iter().any(|phase| phase.operation.subject == Subject::Block)
    }

    /// Whether it makes files below the directory, and not on a file system of its own.
    pub fn makes_files(&self) -> bool {
        !self.engine.is_simulated() && !self.reads_device() && self.filesystem.is_none()
    }
}

impl Plan {
    /// Whether any of its cells makes files below the directory.
    pub fn makes_files(&self) -> bool {
        self.cells.iter().any(CellPlan::makes_files)
    }

    /// Whether file systems are made for any of its cells.
    pub fn makes_filesystems(&self) -> bool {
        self.cells.iter().any(|cell| cell.filesystem.is_some())
    }

    /// Whether any of its cells reads a real block device.
    pub fn reads_device(&self) -> bool {
        self.cells.iter().any(|cell| !cell.engine.is_simulated() && cell.reads_device())
    }

    /// The plan with the blocks of a device of `total_bytes`; simulated cells have a simulated one.
    ///
    /// # Errors
    /// If the device has fewer blocks than a phase asks for.
    pub fn on_device(&self, total_bytes: u64) -> Result<Self> {
        let mut fitted = self.clone();
        for cell in fitted.cells.iter_mut().filter(|cell| cell.reads_device()) {
            let simulated = cell.engine.is_simulated();
            let size = if simulated { cell.sim.device_bytes() } else { total_bytes };
            cell.phases.iter_mut().try_for_each(|phase| fit(phase, size))?;
        }
        Ok(fitted)
    }
}

fn fit(phase: &mut Phase, total_bytes: u64) -> Result<()> {
    let blocks = total_bytes / u64::from(phase.block.max(1));
    let asked = phase.selection.count.max(1);
    if blocks < asked {
        return Err(Failure::failed(format!(
            "phase {} is to read {} of {}, and the device has {}. Set a smaller `count` or `block`",
            phase.name,
            counted(asked, "block"),
            bytes(u64::from(phase.block)),
            bytes(total_bytes),
        )));
    }
    let count = if phase.selection.count == 0 { blocks } else { asked };
    phase.selection = phase.selection.over(blocks, count);
    Ok(())
}
