//! Defines the results of a run, as the store keeps them and reports read them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

pub use super::time_shares::TimeShares;
use boatload_base::dates::seconds_of;
use boatload_base::distinct::each_once;
use boatload_base::errno::Errno;
use boatload_base::known;
use boatload_base::named_enum;
use boatload_base::shell;
use boatload_base::units::Unit;
pub use boatload_host::disk_activity::DiskActivity;
pub use boatload_host::disturbance::Disturbance;
use boatload_host::facts::{DeviceFacts, HostFacts};
use boatload_host::tracing::TracedOperation;
use boatload_op::{Durability, Operation};
use boatload_plan::Plan;
use boatload_plan::mix::mix_of;
pub use boatload_plan::phase::SETTLE;
use boatload_plan::repetition::{LOOKS, Look, Repetition};
pub use boatload_plan::{CacheAsked, Conclusion, EngineName, Scale};
pub use boatload_run::backing::MadeOn;
pub use boatload_run::cache::{CacheState, Doubt};
pub use boatload_run::clock::ClockSource;
pub use boatload_run::site::ConditionName;

pub use super::invalid::{InvalidReason, REACHED_LIMIT};
use super::invalid::{StatedReason, stated};
use super::operation::MeasuredOperation;
use super::ranks::PhaseRanks;

/// A run with everything it gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Book {
    /// What was run.
    pub run: RunFacts,
    /// Where.
    pub host: HostFacts,
    /// Names of the variants, in the job's order.
    pub variants: Vec<String>,
    /// Names of the phases, in the job's order.
    pub phases: Vec<String>,
    /// Levels of the axis, in the job's order; empty without an axis.
    pub levels: Vec<Level>,
    /// One for each phase of each cell, in the order they were measured.
    pub measurements: Vec<Measurement>,
    /// What the place was like when cells began, in the order it was looked at.
    pub conditions: Vec<Condition>,
    /// File systems that were made for it, in the order they were asked for.
    #[serde(default)]
    pub filesystems: Vec<MadeFileSystem>,
}

/// What the file system of a simulated run is called.
pub const SIMULATED: &str = "simulated";

impl Book {
    /// All of it but its measurements.
    #[must_use]
    pub fn without_measurements(&self) -> Self {
        Self {
            run: self.run.clone(),
            host: self.host.clone(),
            variants: self.variants.clone(),
            phases: self.phases.clone(),
            levels: self.levels.clone(),
            measurements: Vec::new(),
            conditions: self.conditions.clone(),
            filesystems: self.filesystems.clone(),
        }
    }

    /// With its variants, phases and levels in the order in which its measurements have them, for results that no job was run for.
    #[must_use]
    pub fn ordered_as_measured(mut self) -> Self {
        let all = &self.measurements;
        self.variants = each_once(all.iter().map(|m| m.cell.variant.clone()));
        self.phases = each_once(all.iter().map(|m| m.phase.clone()));
        self.levels = each_once(all.iter().filter_map(|m| m.cell.level.clone()));
        self
    }

    /// Whether file systems were made on a device that the user named.
    pub fn is_on_device(&self) -> bool {
        self.filesystems.iter().any(|made| made.place == MadeOn::Device)
    }

    /// Whether it was ended before every cell was done. Of a run that is still running, or was killed, this is not known.
    pub fn is_cut_short(&self) -> bool {
        self.run.finished.is_some() && !self.run.complete
    }

    /// The file system that was made for the variant of a measurement; null if it ran on what was there.
    pub fn made_for(&self, m: &Measurement) -> Option<&MadeFileSystem> {
        self.filesystems.iter().find(|made| made.variant == m.cell.variant)
    }

    /// Whether a measurement was made on a modelled disk.
    pub fn is_on_model(&self, m: &Measurement) -> bool {
        self.made_for(m).is_some_and(|made| made.disk.is_some())
    }

    /// Type of the file system that a variant was measured on: the one made for it, else the one
    /// that the run's directory lies on; [`SIMULATED`] for a simulated one; null if unknown.
    pub fn filesystem_of(&self, variant: &str) -> Option<&str> {
        if let Some(made) = self.filesystems.iter().find(|made| made.variant == variant) {
            return Some(&made.kind);
        }
        let mut own = self.measurements.iter().filter(|m| m.cell.variant == variant).peekable();
        if own.peek().is_some() && own.all(Measurement::is_simulated) {
            return Some(SIMULATED);
        }
        Some(self.host.filesystem.kind.as_str()).filter(|kind| !kind.is_empty())
    }
}

/// One figure of the place a cell began in: how full it was, how its files lay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// Which cell.
    #[serde(flatten)]
    pub cell: CellKey,
    /// What it says.
    pub name: ConditionName,
    /// The figure, in the unit's base.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// A file system that was made for a variant, the same for each of its cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MadeFileSystem {
    /// The variant's name.
    pub variant: String,
    /// Its type as the kernel names it: `ext4`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The command that made it, with `DEVICE` for the device; null if mounting is all it took.
    pub mkfs: Option<String>,
    /// What the program says of its own version; null if it says nothing.
    pub mkfs_version: Option<String>,
    /// The mount options that were asked for; empty for the defaults.
    pub mount_asked: String,
    /// Mount and superblock options, as the kernel shows them.
    pub options: String,
    /// What it was made on.
    pub place: MadeOn,
    /// The modelled disk that it lay on; none on a real one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disk: Option<DiskFacts>,
    /// The block device under it; none without one.
    pub device: Option<DeviceFacts>,
    /// What `mkfs` was given to fill, in bytes.
    pub device_bytes: u64,
    /// Size of an allocation block, in bytes; null where the file system does not report it.
    pub block_bytes: Option<u64>,
    /// Its size when it was empty, in bytes; null where the file system does not report it.
    pub total_bytes: Option<u64>,
    /// What an ordinary user could use of it when it was empty, in bytes; null where its size is not reported.
    pub available_bytes: Option<u64>,
    /// Its inodes when it was empty; null where they are made as needed.
    pub inodes: Option<u64>,
    /// Whether the whole device was discarded before each.
    pub trimmed: bool,
}

/// A modelled disk, as a run had it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskFacts {
    /// Its name.
    pub name: String,
    /// All its figures: the text of its TOML file.
    pub model: String,
}

impl MadeFileSystem {
    /// Whether it has no device: what takes no mkfs is in memory, wherever others are made.
    pub fn is_in_memory(&self) -> bool {
        self.mkfs.is_none()
    }
}

/// One execution of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    /// Its id: eight letters and digits.
    pub id: String,
    /// The scenario's name.
    pub scenario: String,
    /// How much of it was run.
    pub scale: Scale,
    /// The seed of everything drawn; null if unknown.
    pub seed: Option<u64>,
    /// When it began, RFC 3339 in UTC; empty if it is not known.
    #[serde(with = "known")]
    #[schemars(with = "Option<String>")]
    pub started: String,
    /// When it ended; none while it runs or if it was killed.
    pub finished: Option<String>,
    /// The command line that made it; empty if it is not known.
    #[serde(with = "known")]
    #[schemars(with = "Option<String>")]
    pub command: String,
    /// The version of boatload; empty if boatload did not measure it.
    #[serde(with = "known")]
    #[schemars(with = "Option<String>")]
    pub boatload: String,
    /// Whether every cell was done.
    pub complete: bool,
    /// The question it asks.
    pub question: String,
    /// Its parameters as resolved, by name.
    pub parameters: BTreeMap<String, String>,
    /// The job file's text; empty without one.
    #[serde(with = "known")]
    #[schemars(with = "Option<String>")]
    pub job: String,
    /// Measurement overhead of each operation on this machine, in nanoseconds; null if it was not measured.
    pub overhead_ns: Option<f64>,
    /// The clock latencies are read from; null if boatload did not measure them.
    pub clock: Option<ClockSource>,
    /// Which kinds of findings the job wants, in this order.
    pub conclude: Vec<Conclusion>,
    /// Repeats that were asked for; in a run that repeated until its answer was decided, those that were made.
    pub repeats: u32,
    /// What ended its repeats.
    pub stopping: Stopping,
    /// The order in which the levels of the axis came; none without several, or if it is not known.
    pub level_order: Option<LevelOrder>,
    /// When and where it went on after it had ended early, in the order of time.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub resumed: Vec<Resumption>,
    /// Where the figures come from if boatload did not measure them.
    pub reference: Option<Provenance>,
    /// What was traced, if the operations are another program's and not boatload's own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub traced: Option<TraceFacts>,
    /// The host of each rank, in their order; empty in a run of one process.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub hosts: Vec<String>,
    /// System calls that failed where the run went on without their answer: what, on which place, with which error.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unanswered: Vec<String>,
}

/// What was traced, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceFacts {
    /// Whose calls: `processes named touch`.
    pub target: String,
    /// The directory below which files counted; null if all did.
    pub path: Option<String>,
    /// The program that traced, with its version.
    pub tracer: String,
    /// The operations that were traced; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub operations: Vec<TracedOperation>,
    /// The directory in which the program was started, or in which boatload was.
    pub directory: String,
    /// Whether `seconds` is the time of a program from its start to the end of all its processes; else what was watched.
    pub is_whole: bool,
    /// How long it was traced, in seconds.
    pub seconds: f64,
    /// Time in which at least one thread was in a counted call, in seconds.
    pub in_calls_seconds: f64,
    /// For each operation first the place of most of its time: the lowest directory that has, with those below it, at least
    /// half of it. Then the directories in which its calls took most time.
    pub directories: Vec<TracedDirectory>,
    /// The disk below the directory; null if there is none, or it counts nothing.
    pub disk: Option<TracedDisk>,
    /// Operations of a window that were asked for; very many operations have wider ones.
    pub every: u64,
    /// What a call takes longer while others are traced, in nanoseconds.
    pub bystander_ns: f64,
    /// Calls that were counted, but whose latency was lost.
    pub lost: u64,
    /// Calls of `io_uring_enter`: what they let the kernel do is no system call, and was not seen.
    pub io_uring_calls: u64,
    /// Why it ended.
    pub ended: TraceEnd,
    /// How the traced program ended, in words; null if it was not started for this, or did not end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub program_end: Option<String>,
}

/// Calls of an operation on files of one directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracedDirectory {
    /// The operation.
    pub operation: TracedOperation,
    /// The directory's path.
    pub path: String,
    /// Whether the directories below it are counted too.
    pub with_below: bool,
    /// How many calls, failed ones too.
    pub calls: u64,
    /// Their time together, in nanoseconds.
    pub total_ns: u64,
}

/// What a disk did while a program was traced, whoever used it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracedDisk {
    /// The kernel's name of it.
    pub name: String,
    /// Time in which it had at least one request, in seconds.
    pub busy_seconds: f64,
}

named_enum! {
    /// Why a trace ended.
    #[derive(Default)]
    pub enum TraceEnd {
        /// The user interrupted it.
        #[default]
        Interrupted = "interrupted",
        /// The program ended.
        ProgramEnded = "program-ended",
        /// The time was over.
        Duration = "duration",
    }
}

impl RunFacts {
    /// Seconds from its start to its end, as the time of day has them; `None` for a run that has not ended, or was resumed: it
    /// stood still in between.
    pub fn seconds(&self) -> Option<f64> {
        let ended = self.finished.as_deref().filter(|_| self.resumed.is_empty())?;
        Some(seconds_of(ended)? - seconds_of(&self.started)?).filter(|seconds| *seconds >= 0.0)
    }

    /// The command that continues it: what it destroys is named again, and the store that it lies in.
    pub fn resume_command(&self) -> String {
        format!(
            "boatload resume {}{}",
            self.id,
            self.options(&["--erase", "--store"], &["--fill-real"])
        )
    }

    /// Of the options of its command those with a value and those without that are listed, each behind a blank.
    fn options(&self, with_value: &[&str], alone: &[&str]) -> String {
        let mut words = shell::words(&self.command).unwrap_or_default().into_iter();
        let mut kept = String::new();
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or_default();
            if alone.contains(&word.as_str()) {
                kept += &format!(" {word}");
            } else if with_value.contains(&name) {
                kept += &format!(" {}", shell::quoted(&word));
                let value = if name == word { words.next() } else { None };
                kept += &value.map_or(String::new(), |value| format!(" {}", shell::quoted(&value)));
            }
        }
        kept
    }
}

/// A run went on after it had ended early.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resumption {
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// The first cell that was measured then; null if there was none.
    pub cell: Option<CellKey>,
    /// What had changed since the run began, a text for each change.
    pub differences: Vec<String>,
}

named_enum! {
    /// The order in which the levels of an axis come.
    #[derive(Default)]
    pub enum LevelOrder {
        /// At random, anew in each repeat.
        #[default]
        Random = "random",
        /// In the order in which a place is prepared for them, with all repeats of a level on one
        /// history together.
        AsPrepared = "as-prepared",
    }
}

/// What ends the repeats of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Stopping {
    /// A number of repeats.
    Fixed {
        /// That number.
        fixed: u32,
    },
    /// The answer, as soon as it is decided.
    Looks {
        /// Repeats after which the run looked whether its answer was decided.
        looks: Vec<u32>,
        /// The level of the tests at each look, 0 to 1.
        alpha: Vec<f64>,
        /// Whether it was decided at the last look.
        decided: bool,
        /// Most that the run was to take, in seconds.
        time_limit_seconds: f64,
    },
}

impl Default for Stopping {
    fn default() -> Self {
        Self::Fixed { fixed: 0 }
    }
}

impl Stopping {
    /// Of a run of a plan that has not begun.
    pub fn of(plan: &Plan) -> Self {
        let (looks, alpha) = (Vec::new(), Vec::new());
        match plan.repetition() {
            Repetition::Fixed(fixed) => Self::Fixed { fixed },
            Repetition::UntilDecided(limit) => {
                Self::Looks { looks, alpha, decided: false, time_limit_seconds: limit.seconds }
            }
        }
    }

    /// The run looked whether its answer is decided, and it is or is not.
    pub fn add_look(&mut self, look: &Look, is_decided: bool) {
        if let Self::Looks { looks, alpha, decided, .. } = self {
            looks.push(look.repeats);
            alpha.push(look.alpha);
            *decided = is_decided;
        }
    }

    /// The alpha of the last look; of the first while there was none; `None` of a fixed number of repeats.
    pub fn last_alpha(&self) -> Option<f64> {
        match self {
            Self::Fixed { .. } => None,
            Self::Looks { alpha, .. } => Some(alpha.last().copied().unwrap_or(LOOKS[0].alpha)),
        }
    }

    /// Whether the run looked at its answer and found it decided.
    pub fn is_decided(&self) -> bool {
        matches!(self, Self::Looks { decided: true, .. })
    }

    /// The number of repeats, where it was fixed before the run.
    pub fn fixed(&self) -> Option<u32> {
        match self {
            Self::Fixed { fixed } => Some(*fixed),
            Self::Looks { .. } => None,
        }
    }
}

/// Where published figures come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Its name, after `reference:`.
    pub name: String,
    /// The title of the text they stand in.
    pub title: String,
    /// Who published it.
    pub publisher: String,
    /// When: a date, a year, or what is known of it.
    pub published: String,
    /// Where it was published; null if that was not kept.
    pub url: Option<String>,
    /// The system it was measured on, in words; null if it was not published.
    pub system: Option<String>,
    /// The disk; null if it was not published.
    pub disk: Option<String>,
    /// How often it was done, in words.
    pub repeated: String,
    /// What a reader must know of the figures: what is unknown, what is wrong.
    pub notes: Vec<String>,
}

/// Who published what boatload measured itself.
const OWN_PUBLISHER: &str = "boatload";

impl Provenance {
    /// Who measured the figures, in words.
    pub fn origin(&self) -> &'static str {
        match self.publisher == OWN_PUBLISHER {
            true => "measured by boatload on a modelled disk",
            false => "published, not measured by boatload",
        }
    }
}

/// Which cell a measurement belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellKey {
    /// The variant's name.
    pub variant: String,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// From 1.
    pub repeat: u32,
}

/// One value of an axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// The axis's name.
    pub axis: String,
    /// The value, in the unit's base.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// What one phase of one cell gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Which cell.
    #[serde(flatten)]
    pub cell: CellKey,
    /// The phase's name.
    pub phase: String,
    /// Which of its passes, from 1.
    pub pass: u32,
    /// What it is a part of: the mix that it is one work of, or the work, such as `serve/deliver`, that it is one step
    /// of; none of a whole phase.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part_of: Option<String>,
    /// The operation; null if unknown.
    pub operation: Option<MeasuredOperation>,
    /// The I/O engine; null if boatload did not measure it.
    pub engine: Option<EngineName>,
    /// Workers; null if unknown.
    pub threads: Option<u32>,
    /// When written data had to be on the device; null if unknown.
    pub durability: Option<Durability>,
    /// Operations that succeeded.
    pub operations: u64,
    /// Failed operations by their error.
    pub errors: BTreeMap<Errno, u64>,
    /// Turns whose file another worker had moved or removed, which is no error; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gone: Option<u64>,
    /// Bytes of content moved; null if unknown.
    pub bytes: Option<u64>,
    /// Time from the first worker's start to the last one's end, in seconds, without the sync; null if it is not known.
    pub seconds: Option<f64>,
    /// The time after which the phase ended, in seconds; absent where its operations ended it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_seconds: Option<f64>,
    /// Turns in each second that the mix was to keep, of all its works together, also in the measurement of each; absent where each began when the one
    /// before had ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turns_per_second_asked: Option<f64>,
    /// Time of the one sync at the end of the phase, in seconds; 0 if none was asked, null if unknown.
    pub sync_seconds: Option<f64>,
    /// CPU time of the workers in user mode, in seconds; null if unknown.
    pub cpu_user_seconds: Option<f64>,
    /// CPU time of the workers in the kernel, in seconds; null if unknown.
    pub cpu_system_seconds: Option<f64>,
    /// Latencies of single operations; where turns kept a pace, response times: from when each was due. Null if unknown.
    #[serde(rename = "latency_ns")]
    pub latency: Option<Latency>,
    /// Latencies from when operations began, where turns kept a pace; absent elsewhere.
    #[serde(rename = "service_ns", skip_serializing_if = "Option::is_none", default)]
    pub service: Option<Latency>,
    /// Files that the mix removed to make room for others, beside its works; none of other phases.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evictions: Option<u64>,
    /// What was asked of the caches and what was found.
    pub cache: CacheReport,
    /// Bytes the device read during the phase and its sync; none without a device, or if it counts nothing.
    pub device_read_bytes: Option<u64>,
    /// Bytes the device wrote during the phase and its sync; none without a device, or if it counts nothing.
    pub device_write_bytes: Option<u64>,
    /// Slices of the phase; empty if none were asked for.
    pub windows: Vec<Window>,
    /// Operations that were asked for; null if unknown.
    pub operations_asked: Option<u64>,
    /// Why it must not be averaged in; empty if it is valid.
    #[serde(serialize_with = "stated")]
    #[schemars(with = "Vec<StatedReason<'static>>")]
    pub invalid: Vec<InvalidReason>,
    /// Relative standard error of the rate, from slices of the phase; null for too few operations.
    pub rate_error: Option<f64>,
    /// Entries the tree should hold after the phase; null if nobody counted.
    pub entries_expected: Option<u64>,
    /// Entries that were counted; null if nobody did.
    pub entries_found: Option<u64>,
    /// Bytes of the file system's space that the phase and its sync took, others' included;
    /// negative where it gave some back; null if unknown.
    pub space_bytes: Option<i64>,
    /// Inodes that it took; null where the file system does not count them.
    pub inodes: Option<i64>,
    /// Whether the device had nothing to do when the phase began; none without a device.
    pub idle: Option<bool>,
    /// Requests to read that the device completed, after merging; none without a device.
    pub device_reads: Option<u64>,
    /// Requests to write that it completed, after merging; none without a device.
    pub device_writes: Option<u64>,
    /// Time in which the device had at least one request, in seconds; none without a device.
    pub device_busy_seconds: Option<f64>,
    /// Time that its requests took together, in seconds: over the seconds of the phase and its sync,
    /// the mean number of requests at one moment; none without a device.
    pub device_queue_seconds: Option<f64>,
    /// Time between the end of the worker in the middle and the end of the last one, among workers that had
    /// as much to do, over the seconds of the phase; null for fewer than two.
    pub worker_spread: Option<f64>,
    /// Context switches of the workers, voluntary and involuntary; null where nothing counted them.
    pub context_switches: Option<u64>,
    /// Free memory that the host of a virtual machine gave just before, so as not to give it meanwhile, in bytes; none
    /// where no host takes any back, or nothing was asked for.
    #[serde(default)]
    pub memory_touched_bytes: Option<u64>,
    /// Mean latency of up to 64 equal slices of the phase, in nanoseconds, the mean of all workers;
    /// empty for too few operations.
    #[serde(default)]
    pub slices_ns: Vec<f64>,
    /// What the mean worker did with the time of the phase and its sync; null where it was not looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_shares: Option<TimeShares>,
    /// What the disk did during the phase and its sync, request by request; null where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub disk: Option<DiskActivity>,
    /// What else happened meanwhile; null if it was not looked at.
    pub disturbance: Option<Disturbance>,
    /// What each rank did; none in a run of one process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ranks: Option<PhaseRanks>,
    /// All latencies, as an HdrHistogram in V2 encoding.
    #[serde(default, with = "histogram_text")]
    #[schemars(with = "Option<String>")]
    pub histogram: Vec<u8>,
}

impl Measurement {
    /// Whether it is of what was still written until the file system was unmounted.
    pub fn is_settle(&self) -> bool {
        self.operation == Some(MeasuredOperation::Settle)
    }

    /// Whether it is of a mix as a whole.
    pub fn is_mix(&self) -> bool {
        self.operation == Some(MeasuredOperation::Mix)
    }

    /// Whether it is of one step of a chain.
    pub fn is_step(&self) -> bool {
        self.part_of.as_deref().is_some_and(|of| mix_of(of).is_some())
    }

    /// Whether it is of one work of a mix, or of a step, which is measured as a whole beside.
    pub fn is_part(&self) -> bool {
        self.part_of.is_some()
    }

    /// The operation of jobs that it is of.
    pub fn job_operation(&self) -> Option<&'static Operation> {
        match self.operation? {
            MeasuredOperation::Job(operation) => Some(operation),
            _ => None,
        }
    }

    /// Whether it was measured on the simulated file system.
    pub fn is_simulated(&self) -> bool {
        self.engine == Some(EngineName::Sim)
    }

    /// Whether it did all it was asked, and may be averaged in.
    pub fn valid(&self) -> bool {
        self.invalid.is_empty()
    }

    /// Why it must not be averaged in, in words.
    pub fn invalid_sentences(&self) -> Vec<String> {
        self.invalid.iter().map(InvalidReason::sentence).collect()
    }

    /// Whether it is invalid because it took as long as a phase may: those that remain are the quick ones.
    pub fn reached_limit(&self) -> bool {
        self.invalid.iter().any(InvalidReason::is_limit)
    }

    /// Time until what it changed was on the device, in seconds: with its sync, as far as that is
    /// known; not a number if its time is not known.
    pub fn durable_seconds(&self) -> f64 {
        self.seconds.unwrap_or(f64::NAN) + self.sync_seconds.unwrap_or_default()
    }

    /// Successful operations per second, with the sync; 0 for an empty phase, or if its time is not known.
    pub fn operations_per_second(&self) -> f64 {
        self.per_second(self.durable_seconds())
    }

    /// The same without the sync.
    pub fn operations_per_second_before_sync(&self) -> f64 {
        self.per_second(self.seconds.unwrap_or_default())
    }

    fn per_second(&self, seconds: f64) -> f64 {
        if self.seconds > Some(0.0) { self.operations as f64 / seconds } else { 0.0 }
    }
}

/// Latencies of single operations, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// The mean.
    pub mean: f64,
    /// The shortest.
    pub min: u64,
    /// Half are shorter.
    pub p50: u64,
    /// Nine in ten are shorter.
    pub p90: u64,
    /// 99 in 100 are shorter.
    pub p99: u64,
    /// 999 in 1,000 are shorter.
    pub p99_9: u64,
    /// The longest.
    pub max: u64,
}

/// What was asked of the caches and what was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheReport {
    /// What was requested.
    pub asked: CacheAsked,
    /// What was found.
    pub found: CacheState,
    /// Share of the sampled files' pages that were in memory when the phase began; null if nothing could be sampled.
    pub resident_fraction: Option<f64>,
    /// Why it was not found as requested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Doubt>,
}

/// A slice of a phase's operations with its own figures, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// The first operation in it, from 0.
    pub first: u64,
    /// How many it has.
    pub operations: u64,
    /// Mean latency.
    pub mean_ns: f64,
    /// Median latency.
    pub p50_ns: u64,
    /// 99 in 100 are shorter.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// A histogram as text; null for none.
mod histogram_text {
    use super::*;
    use crate::histogram::{from_text, to_text};

    pub(crate) fn serialize<S: Serializer>(
        encoded: &[u8],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        to_text(encoded).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else { return Ok(Vec::new()) };
        from_text(&text).ok_or_else(|| D::Error::custom("its histogram cannot be read"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_goes_on_with_a_run_names_again_what_it_destroys() {
        let again = |command: &str| {
            RunFacts { id: "k7m".into(), command: command.into(), ..RunFacts::default() }
                .resume_command()
        };
        assert_eq!(again("boatload run smallfiles --dir x"), "boatload resume k7m");
        assert_eq!(again("boatload run fullness --fill-real"), "boatload resume k7m --fill-real");
        let erasing = "boatload run device --device '/dev/a b' --erase '/dev/a b' --seed 1";
        assert_eq!(again(erasing), "boatload resume k7m --erase '/dev/a b'");
        assert_eq!(
            again("boatload run device --erase=/dev/b"),
            "boatload resume k7m --erase=/dev/b"
        );
        assert_eq!(again("it's odd"), "boatload resume k7m");
        let elsewhere = "boatload run clutter --store 'my runs' --dir x";
        assert_eq!(again(elsewhere), "boatload resume k7m --store 'my runs'");
    }
}
