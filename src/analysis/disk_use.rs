//! Computes what the disk did for each operation of a phase, where its requests were watched.

use super::disturbances::others_io;
use super::limit::Limit;
use crate::base::distinct::each_once;
use crate::results::book::{Book, DiskActivity, Level};
use crate::results::order::{PhaseCell, levels_of, phase_cells, variants};

/// What the disk did in one phase of one variant, over its repeats and passes at the phase's last level.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskUse {
    /// The variant's name.
    pub variant: String,
    /// The phase's name.
    pub phase: String,
    /// The level, the last one that the phase was measured at; none without an axis.
    pub level: Option<Level>,
    /// Measurements that it is the sum of.
    pub n: u32,
    /// Operations of all of them.
    pub operations: u64,
    /// All that the disk did.
    pub activity: DiskActivity,
    /// What limited them; `None` if that is not known.
    pub limit: Option<Limit>,
    /// Whether other processes moved so much that their requests are a part of all.
    pub is_shared: bool,
}

impl DiskUse {
    /// Requests for each operation; none of what has no operations of its own.
    pub fn requests_per_operation(&self) -> Option<f64> {
        let is_counted = self.operations > u64::from(self.n);
        is_counted.then(|| self.activity.requests() as f64 / self.operations as f64)
    }

    /// The share of reads and writes that do not begin where the one before ended; none without any.
    pub fn seek_share(&self) -> Option<f64> {
        let all = moves(&self.activity);
        (all > 0).then(|| all.saturating_sub(self.activity.sequential) as f64 / all as f64)
    }

    /// Mean distance of these from the end of the one before, in bytes; none without any.
    pub fn seek_distance_bytes(&self) -> Option<f64> {
        let seeks = moves(&self.activity).saturating_sub(self.activity.sequential);
        (seeks > 0).then(|| self.activity.distance_bytes as f64 / seeks as f64)
    }

    /// Mean number of requests at the disk when one arrives, itself counted; none without any.
    pub fn queue_depth(&self) -> Option<f64> {
        let all = self.activity.requests();
        (all > 0).then(|| self.activity.queue_sum as f64 / all as f64)
    }

    /// Mean seconds of a measurement, of a time that modelled disks have; `None` where it took no time.
    pub fn seconds_each(&self, time: fn(&DiskActivity) -> Option<f64>) -> Option<f64> {
        time(&self.activity).filter(|all| *all > 0.0).map(|all| all / f64::from(self.n.max(1)))
    }

    /// Whether it lies on a disk whose head moves.
    pub fn has_seeks(&self) -> bool {
        self.activity.seek_seconds.is_some_and(|seconds| seconds > 0.0)
    }
}

/// Reads and writes.
fn moves(activity: &DiskActivity) -> u64 {
    activity.reads.saturating_add(activity.writes)
}

/// Valid measurements of each phase of each variant, at the last level that the phase was measured at.
pub(super) fn last_cells(book: &Book) -> Vec<PhaseCell<'_>> {
    let phases = each_once(book.measurements.iter().map(|m| m.phase.as_str()));
    let variants = variants(book);
    let mut cells = phase_cells(book.measurements.iter().filter(|m| m.valid()));
    cells.retain(|cell| levels_of(book, cell.phase).last() == Some(&cell.level));
    let place = |all: &[&str], name: &str| all.iter().position(|one| *one == name);
    cells.sort_by_key(|cell| (place(&phases, cell.phase), place(&variants, cell.variant)));
    cells
}

/// One for each phase of each variant whose disk was watched, and none of whose requests were missed.
pub(super) fn disk_uses(book: &Book) -> Vec<DiskUse> {
    last_cells(book).iter().filter_map(|cell| of_cell(book, cell)).collect()
}

fn of_cell(book: &Book, cell: &PhaseCell<'_>) -> Option<DiskUse> {
    let followed =
        cell.measurements.iter().map(|m| m.disk.as_ref().filter(|disk| disk.missed == 0));
    let followed: Option<Vec<&DiskActivity>> = followed.collect();
    Some(DiskUse {
        variant: cell.variant.into(),
        phase: cell.phase.into(),
        level: cell.level.cloned(),
        n: u32::try_from(cell.measurements.len()).unwrap_or(u32::MAX),
        operations: cell.measurements.iter().fold(0, |sum, m| m.operations.saturating_add(sum)),
        activity: followed?.into_iter().fold(DiskActivity::default(), |sum, one| sum.plus(one)),
        limit: Limit::of_measurements(&cell.measurements, book.host.cpus),
        is_shared: cell.measurements.iter().any(|m| others_io(book, m).is_some()),
    })
}
