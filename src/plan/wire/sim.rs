//! The keys of the simulated file system.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ErrnoName, WireQuantity};
use crate::plan::sim::{DirectoryLaw, SimNoise};

/// The simulated file system. All times are 0 by default, which measures boatload itself.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct WireSim {
    /// Time of each request on names or attributes: `"20us"`.
    pub(in crate::plan) metadata: Option<WireQuantity>,
    /// Time of each read, write, and buffer of directory entries.
    pub(in crate::plan) transfer: Option<WireQuantity>,
    /// Added to it for each KiB that a write or a read moves.
    pub(in crate::plan) transfer_per_kib: Option<WireQuantity>,
    /// Added to the first request that names a file, or reads a block of the device, after the
    /// caches were dropped; with direct I/O to each block.
    pub(in crate::plan) cold: Option<WireQuantity>,
    /// Time of each fsync, and of the sync at the end of a phase.
    pub(in crate::plan) sync: Option<WireQuantity>,
    /// How directories grow slower; constant by default.
    pub(in crate::plan) directory: Option<DirectoryLaw>,
    /// Time that `directory` adds: for each doubling (logarithmic) or each 1,000 entries (linear).
    pub(in crate::plan) directory_cost: Option<WireQuantity>,
    /// Random deviation of each request's time; none by default.
    pub(in crate::plan) noise: Option<SimNoise>,
    /// By how much passes and repeats differ as a whole; not at all by default.
    pub(in crate::plan) spread: Option<WireSpread>,
    /// Percent that everything is slower after a million operations of the run; 0 by default.
    pub(in crate::plan) drift: Option<WireQuantity>,
    /// A request now and then that takes long.
    pub(in crate::plan) stall: Option<WireStall>,
    /// Bytes the file system holds before ENOSPC; no limit by default.
    pub(in crate::plan) capacity: Option<WireQuantity>,
    /// Percent of every rate that each million files made by `prepare` takes away; 0 by default.
    pub(in crate::plan) clutter: Option<WireQuantity>,
    /// From a fullness on, everything takes longer; needs `capacity`.
    pub(in crate::plan) knee: Option<WireKnee>,
    /// One operation that fails.
    pub(in crate::plan) error: Option<WireError>,
    /// Requests under way at once, up to 4,096; 0, the default, answers each before the next.
    pub(in crate::plan) queue: Option<WireQuantity>,
}

/// By how much passes and repeats differ as a whole.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct WireSpread {
    /// Standard deviation of passes, up to 30%; 0 by default.
    pub(in crate::plan) passes: Option<WireQuantity>,
    /// Standard deviation of repeats, up to 30%; 0 by default.
    pub(in crate::plan) repeats: Option<WireQuantity>,
}

/// A request now and then that takes long.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct WireStall {
    /// Requests of a worker from one stall to the next, a count.
    #[schemars(required)]
    pub(in crate::plan) every: Option<WireQuantity>,
    /// How long it takes: `"50ms"`.
    #[schemars(required)]
    pub(in crate::plan) time: Option<WireQuantity>,
}

/// A fullness from which everything takes longer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct WireKnee {
    /// Used bytes over capacity, in percent.
    #[schemars(required)]
    pub(in crate::plan) at: Option<WireQuantity>,
    /// How many times longer, a number from 1 to 1,000.
    #[schemars(required)]
    pub(in crate::plan) factor: Option<WireQuantity>,
}

/// One operation that fails.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct WireError {
    /// Which one, counted from 1 over all workers.
    #[schemars(required)]
    pub(in crate::plan) operation: Option<WireQuantity>,
    /// With what, by its name in errno(3).
    #[schemars(required)]
    pub(in crate::plan) errno: Option<ErrnoName>,
}
