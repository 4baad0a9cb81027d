//! Checks what a power cut left: what was promised of each file, and what is there.

mod audit;
mod promise;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

pub use audit::CrashAudit;
pub use promise::{
    CutPhase, FileFate, FilePromise, TreePromises, WorkEnds, can_be_cut, promises_anything,
};

use super::clock::monotonic_ns;
use super::drive::Recorder;

/// Notes when each operation of a worker ended, and says when it is time for the power cut.
pub struct CrashRecorder<'a> {
    /// Operations of all workers that have ended.
    ended: &'a AtomicU64,
    /// After how many of them the cut is due.
    due_after: u64,
    due: Sender<()>,
    ends: WorkEnds,
}

impl<'a> CrashRecorder<'a> {
    /// The recorder of one of the workers that count their operations in `ended`.
    pub fn new(ended: &'a AtomicU64, due_after: u64, due: Sender<()>) -> Self {
        Self { ended, due_after, due, ends: WorkEnds::default() }
    }

    /// When its operations ended.
    pub fn into_ends(self) -> WorkEnds {
        self.ends
    }
}

impl Recorder for CrashRecorder<'_> {
    fn record(&mut self, turn: u64, _: u64) {
        self.ends.add(turn, monotonic_ns());
        if self.ended.fetch_add(1, Ordering::Relaxed) + 1 == self.due_after {
            // Whoever listens no longer has cut the power already.
            let _ = self.due.send(());
        }
    }
}
