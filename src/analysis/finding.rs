//! Defines findings and warnings: each kind with its figures and its sentence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::named_enum::named_enum;
use crate::run::cache::Doubt;

use super::answer::AnswerFinding;
use super::effect::EffectFinding;
use super::findings::disk::DiskFinding;
use super::findings::slow_class::SlowClassFinding;
use super::findings::source::{DestinationFinding, LowerCacheFinding, SourceFinding};

/// What boatload concludes from a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// What the whole run answers to its question.
    Answer(AnswerFinding),
    /// How many times as long something takes as something else.
    Effect(Box<EffectFinding>),
    /// Where what was read came from.
    Source(SourceFinding),
    /// How much of what was written reached the device.
    Destination(DestinationFinding),
    /// Whether something below the kernel caches.
    LowerCache(LowerCacheFinding),
    /// What the disk did for each operation.
    Disk(DiskFinding),
    /// In which class of a trace an operation takes longest.
    SlowClass(SlowClassFinding),
    /// What a reader must know before trusting a figure.
    Warning(WarningFinding),
}

impl Finding {
    /// The finding in one sentence, for people.
    pub fn sentence(&self) -> String {
        match self {
            Self::Answer(found) => found.sentence(),
            Self::Effect(found) => found.sentence(),
            Self::Source(found) => found.sentence(),
            Self::Destination(found) => found.sentence(),
            Self::LowerCache(found) => found.sentence(),
            Self::Disk(found) => found.sentence(),
            Self::SlowClass(found) => found.sentence(),
            Self::Warning(found) => found.sentence.clone(),
        }
    }

    /// What to do about it; empty where nothing is to be done.
    pub fn hint(&self) -> &str {
        match self {
            Self::Warning(found) => &found.hint,
            _ => "",
        }
    }

    /// Whether it is a warning.
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::Warning(_))
    }
}

/// A finding as documents have it: with its sentence. That is ignored when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FindingDocument<'a> {
    /// The finding in one sentence. A warning and an answer have it among their figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
    #[serde(flatten)]
    finding: &'a Finding,
}

impl<'a> From<&'a Finding> for FindingDocument<'a> {
    fn from(finding: &'a Finding) -> Self {
        let has_own = finding.is_warning() || matches!(finding, Finding::Answer(_));
        let sentence = (!has_own).then(|| finding.sentence());
        Self { sentence, finding }
    }
}

named_enum! {
    /// The kinds of warning. METHODOLOGY.md has the condition of each.
    pub enum WarningCode {
        /// The run was stopped or killed before its end.
        Interrupted = "interrupted",
        /// The run went on though something was not as it was when it began.
        ResumedAnyway = "resumed-anyway",
        /// Measurements did not do all their work.
        InvalidMeasurements = "invalid-measurements",
        /// Caches were not found as cold or warm as requested.
        CacheNotAsAsked = "cache-not-as-asked",
        /// Too few operations for percentiles.
        FewOperations = "few-operations",
        /// One operation took most of the time of its phase.
        LongOperation = "long-operation",
        /// Measurement overhead is a notable part of what was measured.
        MeasurementOverhead = "measurement-overhead",
        /// The device was at work when phases began.
        DeviceBusy = "device-busy",
        /// The kernel did not count what the device did.
        DeviceNotCounted = "device-not-counted",
        /// Other processes used the disk.
        OthersIo = "others-io",
        /// Other processes used the processors.
        OthersCpu = "others-cpu",
        /// Memory was short.
        MemoryPressure = "memory-pressure",
        /// The hypervisor gave processors to others.
        Steal = "steal",
        /// Processors were slowed down, or kept from boatload.
        Throttled = "throttled",
        /// The clock of the latencies and the kernel's disagreed.
        ClockJumped = "clock-jumped",
        /// One worker ended much later than the others.
        Straggler = "straggler",
        /// A rank or a host was slower than the others.
        SlowRank = "slow-rank",
        /// Latency rose or fell over the phase.
        Trend = "trend",
        /// The file system compressed what was written.
        Compressed = "compressed",
        /// From one operation on, a phase took longer or shorter.
        Jump = "jump",
        /// From one repeat on, all phases took longer or shorter.
        Step = "step",
        /// Processors do not run as fast as they can.
        Frequency = "frequency",
        /// A loop device uses the page cache of the file system below.
        HostCache = "host-cache",
        /// A modelled disk answered late: the machine was too slow for it.
        DiskLate = "disk-late",
        /// Variants update access times in different ways, and files were read.
        AccessTimesDiffer = "access-times-differ",
        /// The device wrote while a phase only read.
        ReadsWrite = "reads-write",
        /// File systems are on a place so small that it decides.
        SmallVolume = "small-volume",
        /// Levels came in the order in which a place was prepared for them.
        LevelsInOrder = "levels-in-order",
        /// Several repeats were measured beside the same files.
        FewHistories = "few-histories",
        /// The layout score of the files that fill a place differs between levels.
        LayoutDiffers = "layout-differs",
        /// Entries were made on an ext4 without a journal, where earlier deletions slow that.
        NoJournal = "no-journal",
        /// The host of a virtual machine takes back memory that is free, and much was read into it.
        MemoryTakenBack = "memory-taken-back",
        /// The file system states no size, so nobody knows whether the run fits.
        SpaceUnstated = "space-unstated",
        /// System calls failed whose answer the run did without.
        UnansweredCalls = "unanswered-calls",
        /// No cycle counter of constant rate: latencies are read from the system's clock.
        SlowClock = "slow-clock",
    }
}

impl WarningCode {
    /// What happened, in a few words: reports and the reliability of an answer name it so.
    pub fn short_name(self) -> &'static str {
        match self {
            Self::Interrupted => "the run is not complete",
            Self::ResumedAnyway => "resumed after a change",
            Self::InvalidMeasurements => "left out as invalid",
            Self::CacheNotAsAsked => "caches not as requested",
            Self::FewOperations => "too few operations for percentiles",
            Self::LongOperation => "one operation took most of the time",
            Self::MeasurementOverhead => "measurement overhead",
            Self::DeviceBusy => "device busy at the start",
            Self::DeviceNotCounted => "device not counted",
            Self::OthersIo => "background load on the disk",
            Self::OthersCpu => "background load on the processors",
            Self::MemoryPressure => "memory pressure",
            Self::Steal => "CPU steal",
            Self::Throttled => "processors throttled",
            Self::ClockJumped => "clock not steady",
            Self::Straggler => "stragglers",
            Self::SlowRank => "one rank slower than the others",
            Self::Trend => "latency drifted",
            Self::Compressed => "content compressed",
            Self::Jump => "latency changed suddenly",
            Self::Step => "speed changed between repeats",
            Self::Frequency => "processors below full speed",
            Self::HostCache => "page cache below the loop device",
            Self::DiskLate => "modelled disk answered late",
            Self::AccessTimesDiffer => "access times updated on some variants",
            Self::ReadsWrite => "device writes during reads",
            Self::SmallVolume => "small file system",
            Self::LevelsInOrder => "levels in a fixed order",
            Self::FewHistories => "repeats beside the same files",
            Self::LayoutDiffers => "layout differs between levels",
            Self::NoJournal => "no journal",
            Self::MemoryTakenBack => "host takes memory back",
            Self::SpaceUnstated => "size of the file system not stated",
            Self::UnansweredCalls => "system calls failed",
            Self::SlowClock => "slow clock",
        }
    }
}

/// What a reader must know before trusting a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarningFinding {
    /// What is wrong.
    pub sentence: String,
    /// Which warning.
    pub code: WarningCode,
    /// What to do about it.
    pub hint: String,
    /// The phases that it is about; none if it is about the run.
    pub phases: Vec<String>,
    /// How many measurements of the run it is about; none where they are not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measurements: Option<u64>,
    /// Why a cache was not found as requested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Doubt>,
    /// Where a latency changes all at once.
    #[serde(flatten)]
    pub jump: Option<JumpFigures>,
}

impl WarningFinding {
    /// A warning about the run.
    pub(in crate::analysis) fn of_run(code: WarningCode, sentence: &str, hint: &str) -> Self {
        Self::about_phases(code, Vec::new(), sentence.into(), hint)
    }

    /// A warning about phases.
    pub(in crate::analysis) fn about_phases(
        code: WarningCode,
        phases: Vec<String>,
        sentence: String,
        hint: &str,
    ) -> Self {
        let (hint, measurements) = (hint.into(), None);
        Self { code, phases, measurements, sentence, hint, reason: None, jump: None }
    }
}

/// Where in a phase the latency changes all at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JumpFigures {
    /// The variant's name.
    pub variant: String,
    /// After so many operations.
    pub at: u64,
    /// Of so many.
    pub operations: u64,
    /// Latency after that over latency before.
    pub ratio: f64,
    /// Measurements that show it.
    pub jumped: usize,
    /// Measurements of which it is known.
    pub n: usize,
}
