//! The files beside the cells' trees on the simulated file system: only their number and their
//! bytes are kept.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use crate::base::errno::Errno;
use crate::base::failure::{Failure, Result};
use crate::base::live_set::LiveSet;
use crate::host::space::Space;
use crate::plan::prepare::Ballast;
use crate::run::ballast::BallastPlace;
use crate::run::engine::sim::SimShared;

/// Blocks of the simulated file system, in bytes: content takes what it is long.
const BLOCK_BYTES: u64 = 1;

/// What a stock makes and deletes its files through.
pub(super) struct SimPlace<'a> {
    pub(super) shared: &'a SimShared,
    pub(super) capacity: Option<u64>,
}

impl BallastPlace for SimPlace<'_> {
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
            available_inodes: None,
        })
    }
}
