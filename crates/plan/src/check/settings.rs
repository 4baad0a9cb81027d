//! Defines the settings of a plan that the command line gives.

use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::DiskModel;
use crate::filesystem::FileSystem;
use crate::phase::CacheAsked;
use crate::{EngineName, Scale};

/// The command line's part of a plan; where it says something, the job file does not count.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How much of the scenario is run.
    pub scale: Scale,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--repeats`: 1 to 1,000.
    pub repeats: Option<u32>,
    /// `--time-limit`, in seconds: the run repeats until its answer is decided, whatever the job file says.
    pub time_limit_seconds: Option<f64>,
    /// `--phase-limit`, in nanoseconds.
    pub phase_limit_ns: Option<u64>,
    /// `--threads`: 1 to 1,024.
    pub threads: Option<u32>,
    /// `--cache`.
    pub cache: Option<CacheAsked>,
    /// `--engine`.
    pub engine: Option<EngineName>,
    /// `--filesystem`: each variant of the job is done on each of them.
    pub filesystems: Vec<FileSystem>,
    /// `--disk`: the modelled disk of all file systems that have none of their own.
    pub disk: Option<Arc<DiskModel>>,
    /// The directory of the job file, where paths in it begin; empty for the working directory.
    pub directory: PathBuf,
    /// Each `--set name=value`; a list is written `30,50,70`.
    pub set: Vec<(String, String)>,
    /// Memory of the machine, in bytes: what `"2x memory"` in a job file is twice of. 0 if unknown.
    pub memory_bytes: u64,
}
