//! States what the disk did for each operation of the phases that it limits, which explains their rates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::say::{self, percent};
use crate::analysis::disk_use::DiskUse;
use crate::analysis::limit::Limit;
use crate::base::distinct::each_once;
use crate::base::units::figures;
use crate::plan::DEFAULT_VARIANT;
use crate::results::book::Level;

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
    pub(in crate::analysis) fn seeks_per_operation(&self) -> f64 {
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

/// One for each phase that the disk limits on some variant.
pub(in crate::analysis) fn disk(uses: &[DiskUse]) -> Vec<DiskFinding> {
    let phases = each_once(uses.iter().map(|one| one.phase.as_str()));
    let of_phase = |phase: &str| {
        let is_own = |one: &&DiskUse| one.phase == phase && !one.is_shared;
        let own: Vec<&DiskUse> = uses.iter().filter(is_own).collect();
        own.iter().find(|one| one.limit == Some(Limit::Device))?;
        let variants: Vec<VariantDiskUse> = own.iter().filter_map(|one| variant(one)).collect();
        let level = own.first()?.level.clone();
        (!variants.is_empty()).then(|| DiskFinding { phase: phase.into(), level, variants })
    };
    phases.into_iter().filter_map(of_phase).collect()
}

fn variant(one: &DiskUse) -> Option<VariantDiskUse> {
    Some(VariantDiskUse {
        variant: one.variant.clone(),
        requests_per_operation: one.requests_per_operation()?,
        seek_share: one.seek_share()?,
        has_seeks: one.has_seeks(),
    })
}
