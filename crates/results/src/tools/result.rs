//! Defines what is known of a figure of another benchmark, and reads the formats that several of them share.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use boatload_base::named_enum;
use boatload_base::shell::words;

/// Places whose files are memory, whatever is mounted where: not `/run/`, below which disks are mounted, too.
pub(super) const MEMORY_PLACES: [&str; 3] = ["/dev/shm/", "/dev/ram", "/run/shm/"];

/// Bytes of one argument on Linux, at most (`MAX_ARG_STRLEN`): more are no line of a command.
pub(super) const COMMAND_BYTES_MAX: usize = 128 << 10;

/// Measurements of one file that are looked at.
pub(super) const MEASUREMENTS_MAX: usize = 1_000;

/// Notes on one file that are kept.
pub(super) const NOTES_MAX: usize = 20;

named_enum! {
    /// A benchmark whose results are read.
    pub enum ToolName {
        /// fio(1), `--output-format=json`.
        Fio = "fio",
        /// mdtest of IOR.
        Mdtest = "mdtest",
        /// elbencho, `--csvfile`.
        Elbencho = "elbencho",
        /// bonnie++(8), its CSV lines.
        Bonnie = "bonnie++",
        /// dd(1), its standard error.
        Dd = "dd",
    }
}

named_enum! {
    /// What a measurement of another benchmark does.
    #[derive(Default)]
    pub enum ToolWork {
        /// Reads content.
        Read = "read",
        /// Writes content.
        Write = "write",
        /// Makes files or directories.
        Create = "create",
        /// Reads attributes.
        Stat = "stat",
        /// Removes files or directories.
        Remove = "remove",
        /// The file does not say.
        #[default]
        Unknown = "unknown",
    }
}

/// One result file of another benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ToolResult {
    /// What wrote it.
    pub tool: ToolName,
    /// Its version.
    pub version: Option<String>,
    /// Requests of all its devices, if it counted them.
    pub requests: Option<DeviceRequests>,
    /// Its figures.
    pub measurements: Vec<ToolMeasurement>,
    /// What of it is not known or was not read, each in a sentence.
    pub notes: Vec<String>,
    /// The file has more figures than are read.
    pub is_cut: bool,
}

impl ToolResult {
    /// All that was read, without notes.
    pub(super) fn new(
        tool: ToolName,
        version: Option<String>,
        measurements: Vec<ToolMeasurement>,
    ) -> Self {
        Self { tool, version, requests: None, measurements, notes: Vec::new(), is_cut: false }
    }
}

/// Requests that the devices below completed while all of a result was measured. Requests that were merged into
/// others count apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DeviceRequests {
    /// Reads.
    pub reads: u64,
    /// Reads merged into others.
    pub reads_merged: u64,
    /// Writes.
    pub writes: u64,
    /// Writes merged into others.
    pub writes_merged: u64,
}

/// One figure of another benchmark, and what it rests on. What the file does not tell is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ToolMeasurement {
    /// As its file names it.
    pub name: String,
    /// What was done.
    pub work: ToolWork,
    /// In random order.
    pub random: bool,
    /// Bytes that were read or written.
    pub bytes: Option<u64>,
    /// Bytes of the files that it worked on.
    pub file_bytes: Option<u64>,
    /// Bytes of one call.
    pub block_bytes: Option<u64>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// Bytes in a second.
    pub bytes_per_second: Option<f64>,
    /// Calls, files or directories.
    pub operations: Option<u64>,
    /// The same in a second.
    pub operations_per_second: Option<f64>,
    /// The median latency of a call.
    pub latency_p50_ns: Option<f64>,
    /// Processes or threads that did it at once.
    pub tasks: Option<u64>,
    /// Machines that took part.
    pub nodes: Option<u64>,
    /// What it used instead of the calls of the kernel: `DFS` of mdtest, `rbd` of fio. Of its caches and syncs nothing is
    /// known.
    pub interface: Option<String>,
    /// Equal for measurements that were set up alike, as far as the other fields do not tell.
    #[serde(skip)]
    pub setup: u64,
    /// Around the page cache.
    pub direct: Option<bool>,
    /// Whether the time includes what makes the change durable.
    pub synced: Option<bool>,
    /// Whether caches were emptied of it before.
    pub cold: Option<bool>,
    /// The same result wrote it before.
    pub just_written: bool,
    /// Only zeros were written.
    pub zeros: bool,
    /// No device can have taken part: the file says why.
    pub no_device: Option<String>,
    /// How often it was done.
    pub runs: u64,
    /// Values over time or over runs that the figure is the mean of.
    pub samples: u64,
    /// Whether a percentile, a deviation or several values show the spread.
    pub has_spread: bool,
    /// Too short for the benchmark itself to give a figure.
    pub was_too_short: bool,
    /// The error that it ended with, and how many.
    pub error: Option<String>,
}

impl ToolMeasurement {
    pub(super) fn new(name: impl Into<String>, work: ToolWork) -> Self {
        Self { name: name.into(), work, runs: 1, samples: 1, ..Self::default() }
    }
}

/// The words of a command line that a benchmark or a shell shows; of a longer one than the kernel takes, none.
pub(super) fn command_words(line: &str) -> Vec<String> {
    if line.len() > COMMAND_BYTES_MAX {
        return Vec::new();
    }
    words(line).unwrap_or_else(|| line.split(' ').map(String::from).collect())
}

/// Measurements with the same key are repetitions: each counts the runs of all.
pub(super) fn count_runs<K: std::hash::Hash + Eq>(all: &mut [ToolMeasurement], keys: &[K]) {
    let mut runs: HashMap<&K, u64> = HashMap::new();
    for (one, key) in all.iter().zip(keys) {
        let of_key = runs.entry(key).or_default();
        *of_key = of_key.saturating_add(one.runs);
    }
    for (one, key) in all.iter_mut().zip(keys) {
        one.runs = runs[key];
    }
}

/// A number that stands for what a measurement was set up with.
pub(super) fn setup(of: impl std::hash::Hash) -> u64 {
    std::hash::BuildHasher::hash_one(
        &std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default(),
        of,
    )
}

/// A number that is finite and not negative.
pub(super) fn amount(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// The same above zero.
pub(super) fn above_zero(value: f64) -> Option<f64> {
    amount(value).filter(|value| *value > 0.0)
}

/// Bytes as fio, dd and bonnie++ take them: `4k`, `512M`, `3G`, each step 1024.
pub(super) fn binary_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let power = match unit.to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << (10 * power))
}
