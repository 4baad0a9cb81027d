//! States what the disk did for each operation of the phases that it limits, which explains their rates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::say::{self, percent};
use crate::amplification::last_cells;
use crate::disturbances::others_io;
use crate::limit::Limit;
use boatload_base::distinct::each_once;
use boatload_base::units::figures;
use boatload_plan::DEFAULT_VARIANT;
use boatload_results::book::{Book, DiskActivity, Level};
use boatload_results::order::PhaseCell;

/// What the disk did for each operation of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskFinding {
    /// The phase's name.
    pub phase: String,
    /// The level; none without an axis.
    pub level: Option<Level>,
    /// Each variant, in the job's order.
    pub variants: Vec<VariantDiskUse>,
}

/// What the disk did for each operation of one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VariantDiskUse {
    /// The variant's name.
    pub variant: String,
    /// Requests for each operation.
    pub requests_per_operation: f64,
    /// The share of reads and writes that do not begin where the one before ended.
    pub seek_share: f64,
    /// Whether the disk's head moves for these.
    pub has_seeks: bool,
}

impl DiskFinding {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let level = self.level.as_ref();
        let level = level.map(|level| format!("{} {}: ", level.axis, say::level(level)));
        let variants = self.variants.iter().enumerate();
        let variants: Vec<String> = variants.map(|(at, one)| one.words(at == 0)).collect();
        format!("{}{}: {}.", level.unwrap_or_default(), self.phase, variants.join("; "))
    }

    /// Seeks for each operation, on the variant with the most.
    pub(crate) fn seeks_per_operation(&self) -> f64 {
        let seeks = |one: &VariantDiskUse| one.requests_per_operation * one.seek_share;
        self.variants.iter().map(seeks).fold(0.0, f64::max)
    }
}

impl VariantDiskUse {
    fn words(&self, is_first: bool) -> String {
        let (requests, share) = (figures(self.requests_per_operation, 2), percent(self.seek_share));
        let how = if self.has_seeks { "of them with a seek" } else { "of them not in sequence" };
        match self.variant.as_str() {
            DEFAULT_VARIANT => {
                format!("each operation takes {requests} requests to the disk, {share} {how}")
            }
            variant if is_first => format!(
                "{variant} takes {requests} requests to the disk for each operation, {share} {how}"
            ),
            variant => format!("{variant} takes {requests}, {share}"),
        }
    }
}

/// One for each phase that the disk limits on some variant, at the last level of the phase: of the variants whose requests were
/// all watched, and beside which no other process moved many bytes.
pub fn disk(book: &Book) -> Vec<DiskFinding> {
    let cells = last_cells(book);
    let of_phase = |phase: &str| {
        let own = cells.iter().filter(|cell| cell.phase == phase);
        let used: Vec<_> = own.filter_map(|cell| Some((cell, use_of(book, cell)?))).collect();
        let limit =
            |cell: &PhaseCell<'_>| Limit::of_measurements(&cell.measurements, book.host.cpus);
        used.iter().find(|(cell, _)| limit(cell) == Some(Limit::Device))?;
        let level = used.first()?.0.level.cloned();
        let variants = used.into_iter().map(|(_, own)| own).collect();
        Some(DiskFinding { phase: phase.into(), level, variants })
    };
    each_once(cells.iter().map(|cell| cell.phase)).into_iter().filter_map(of_phase).collect()
}

/// What has no operations of its own has no requests for each.
fn use_of(book: &Book, cell: &PhaseCell<'_>) -> Option<VariantDiskUse> {
    let all = &cell.measurements;
    let watched = all.iter().map(|m| m.disk.as_ref()).collect::<Option<Vec<&DiskActivity>>>()?;
    let sum = watched.into_iter().fold(DiskActivity::default(), |sum, one| sum.plus(one));
    let operations = all.iter().fold(0u64, |sum, m| sum.saturating_add(m.operations));
    let moves = sum.reads.saturating_add(sum.writes);
    let is_shared = all.iter().any(|m| others_io(book, m).is_some());
    let is_known = operations > all.len() as u64 && moves > 0 && !is_shared;
    is_known.then(|| VariantDiskUse {
        variant: cell.variant.into(),
        requests_per_operation: sum.requests() as f64 / operations as f64,
        seek_share: moves.saturating_sub(sum.sequential) as f64 / moves as f64,
        has_seeks: sum.seek_seconds.is_some_and(|seconds| seconds > 0.0),
    })
}
