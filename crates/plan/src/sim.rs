//! Describes the simulated file system, as a job file's `[sim]` table states it. The `sim` engine in
//! `run/` obeys it; findings are tested against it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use boatload_base::errno::Errno;
use boatload_op::RequestKind;

/// How the time to find or add a name grows with the entries of its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryLaw {
    /// Not at all.
    #[default]
    Constant,
    /// `directory_cost` for each doubling.
    Logarithmic,
    /// `directory_cost` for each 1,000 entries.
    Linear,
}

/// Random deviation of each request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SimNoise {
    /// None.
    #[default]
    None,
    /// Uniform over half to one and a half times the law.
    Uniform,
    /// One request in ten takes five times as long.
    Bimodal,
    /// Exponential: most requests take less than the law, a few many times as long.
    Skewed,
    /// Wanders over half to one and a half times the law, so slowly that a hundred requests are
    /// alike.
    Drifting,
}

/// From a share of the capacity on, everything takes longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SimKnee {
    /// Used bytes over capacity, in percent.
    pub at: f64,
    /// How many times longer.
    pub factor: f64,
}

/// Background load that comes and goes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SimNeighbour {
    /// Of how many phases, in percent.
    pub share_percent: f64,
    /// How many times as long everything takes then.
    pub factor: f64,
}

/// By how much whole passes, repeats and runs are slower or faster than others, each way alike.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct SimSpread {
    /// Standard deviation of passes, in percent.
    pub passes_percent: f64,
    /// Standard deviation of repeats, which all passes of one have in common, in percent.
    pub repeats_percent: f64,
    /// Standard deviation of runs with other seeds, in percent.
    pub runs_percent: f64,
}

/// A fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SimFault {
    /// Which operation of the run it meets, counted from 1 over all workers.
    pub operation: u64,
    /// Which request of it, the first of this kind; `None` for its first.
    pub request: Option<RequestKind>,
    /// What becomes of the request.
    pub outcome: SimFaultOutcome,
}

/// What becomes of a request that meets a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SimFaultOutcome {
    /// It fails.
    Fails(Errno),
    /// It moves half of its bytes.
    IsShort,
    /// It takes a day.
    Hangs,
}

/// How long a request takes that hangs.
pub const HANG_NS: u64 = 86_400_000_000_000;

/// All times in nanoseconds; a model with no time at all measures boatload itself.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct SimModel {
    /// Each request on names or attributes (open, stat, unlink, ...).
    pub metadata_ns: u64,
    /// Each write, and each read of cached data.
    pub transfer_ns: u64,
    /// Added to it for each KiB that it moves.
    pub transfer_per_kib_ns: u64,
    /// Added to the first open or stat of an entry after the caches were dropped.
    pub cold_ns: u64,
    /// Each fsync, and the sync at the end of a phase.
    pub sync_ns: u64,
    /// How directories grow slower.
    pub directory: DirectoryLaw,
    /// The law's step.
    pub directory_cost_ns: u64,
    /// Noise on every request.
    pub noise: SimNoise,
    /// What passes, repeats and runs differ by as a whole.
    pub spread: SimSpread,
    /// Background load, which is seen as such.
    pub neighbour: Option<SimNeighbour>,
    /// Percent that everything is slower after a million operations of the run, over all workers,
    /// than at its start.
    pub drift_percent: f64,
    /// One stall of `stall_ns` every so many requests of a worker; 0 for none.
    pub stall_every: u64,
    /// How long a stall takes.
    pub stall_ns: u64,
    /// Bytes the file system holds before ENOSPC; `None` for no limit.
    pub capacity: Option<u64>,
    /// Percent of every rate that each million files beside the tree takes away.
    pub clutter_percent: f64,
    /// Slower from some fullness on; needs a capacity.
    pub knee: Option<SimKnee>,
    /// The fault of one request.
    pub fault: Option<SimFault>,
}

impl SimModel {
    /// Bytes of the simulated block device: the capacity, or 16 GiB.
    pub fn device_bytes(&self) -> u64 {
        self.capacity.unwrap_or(16 << 30)
    }

    /// Whether no request takes any time, so that the real clock runs and measures boatload.
    pub fn takes_no_time(&self) -> bool {
        let Self {
            metadata_ns, transfer_ns, cold_ns, sync_ns, directory_cost_ns, stall_ns, ..
        } = *self;
        let transfer_ns = transfer_ns + self.transfer_per_kib_ns;
        let hangs = self.fault.is_some_and(|fault| fault.outcome == SimFaultOutcome::Hangs);
        metadata_ns + transfer_ns + cold_ns + sync_ns + directory_cost_ns + stall_ns == 0 && !hangs
    }

    /// Whether anything in it depends on how many operations of the run were before.
    pub fn counts_operations(&self) -> bool {
        self.fault.is_some() || self.drift_percent > 0.0
    }
}
