//! Lists all warnings: code, short name, condition, and what each means for the answer. `docs/warnings.md` is made of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Reliability;
use boatload_base::named_enum;
use boatload_run::cache::Doubt;

/// A kind of warning.
#[derive(Debug)]
pub struct WarningKind {
    /// Its code.
    pub code: WarningCode,
    /// What happened, in a few words: reports and the reliability of an answer name it so.
    pub short_name: &'static str,
    /// Where it is given, with its thresholds.
    pub condition: &'static str,
    /// What it means for the answer.
    pub meaning: &'static str,
    /// How far it lowers the reliability of an answer.
    pub lowers: LoweredReliability,
}

/// How far a warning lowers the reliability of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoweredReliability {
    /// To this, whatever measurements it is about.
    To(Reliability),
    /// By the measurements that it is about, in these words: `answer/reliability.rs` counts them.
    Counted(&'static str),
}

use LoweredReliability::{Counted, To};
use Reliability::{Low, Medium};

const DISTURBED: LoweredReliability =
    Counted("medium; low where over a quarter of the measurements are disturbed");

/// Declares the warnings: code, short name, how far it lowers the reliability, where it is given, and what it means.
macro_rules! warning_table {
    ($($(#[$about:meta])* $code:ident = $name:tt, $short_name:literal, $lowers:expr,
        given $condition:literal, means $meaning:literal;)+) => {
        named_enum! {
            /// The kinds of warning. docs/warnings.md has the condition of each.
            pub enum WarningCode { $($(#[$about])* $code = $name,)+ }
        }

        /// All of them, in the order of the codes.
        pub const WARNINGS: [WarningKind; WarningCode::ALL.len()] = [$(WarningKind {
            code: WarningCode::$code,
            short_name: $short_name,
            condition: $condition,
            meaning: $meaning,
            lowers: $lowers,
        },)+];
    };
}

warning_table! {
    /// The run was stopped or killed before its end.
    Interrupted = "interrupted", "the run is not complete", Counted("low"),
        given "the run was stopped or killed before its end, or has not ended",
        means "The answer is of what was measured until then.";
    /// The run continued in a changed environment.
    ResumedAnyway = "resumed-anyway", "resumed after a change", To(Low),
        given "the run was resumed with `--anyway` though the version, the machine or the place had changed",
        means "A rate may be the mean over two systems.";
    /// Measurements did not do all their work.
    InvalidMeasurements = "invalid-measurements", "left out as invalid", Counted("medium; low where the limit of the phase was reached"),
        given "a measurement did not do its work: errors, too few operations or bytes, other entries in the tree \
                 than expected, an interruption, or the limit of its phase",
        means "The answer is made of the other measurements.";
    /// Caches were not found as cold or warm as requested.
    CacheNotAsAsked = "cache-not-as-asked", "caches not as requested", To(Low),
        given "caches were not in the state that the phase requests, or it could not be proven",
        means "Reads may show memory in place of the disk.";
    /// One operation took most of the time of its phase.
    LongOperation = "long-operation", "one operation took most of the time", Counted("no"),
        given "of 100 operations or more, one took over half of the time of its phase, and 1 s",
        means "The rate of the phase shows one stalled call.";
    /// Measurement overhead is a notable part of what was measured.
    MeasurementOverhead = "measurement-overhead", "measurement overhead", To(Medium),
        given "measurement overhead is above 5% of the mean latency, in a run that is no trace",
        means "Differences of that size may come from the measurement.";
    /// A mix did not keep the rate that was asked of it.
    RateNotKept = "rate-not-kept", "requested rate not reached", To(Low),
        given "a mix with a `rate` did less than 95% of the turns that were due in its time",
        means "Turns waited for those before, so response times grow with the length of the phase.";
    /// The device was at work when phases began.
    DeviceBusy = "device-busy", "device busy at the start", DISTURBED,
        given "the device was not idle when the measurement began",
        means "The device did other work too, so rates may be too low.";
    /// Other processes used the disk.
    OthersIo = "others-io", "background load on the disk", DISTURBED,
        given "other processes moved 5% of what the device did, and 1 MiB; or the disk below a loop device moved \
                 half as much again, and 16 MiB",
        means "The device did other work too, so rates may be too low.";
    /// Other processes used the processors.
    OthersCpu = "others-cpu", "background load on the processors", DISTURBED,
        given "others (processes, interrupts, kernel threads that do not work for the device) used 10% of all \
                 processors' time and 0.2 s; or, with fewer workers than processors, the workers waited for one in \
                 10% of the time while others used 5% of one",
        means "Phases that need a processor may be too slow.";
    /// Memory was short.
    MemoryPressure = "memory-pressure", "memory pressure", DISTURBED,
        given "a process waited for memory in 5% of the time, and 50 ms",
        means "The caches had less room than they have otherwise.";
    /// The hypervisor gave processors to others.
    Steal = "steal", "CPU steal", DISTURBED,
        given "the hypervisor gave 2% of all processors' time to others, and 50 ms",
        means "Phases that need a processor may be too slow.";
    /// Processors were slowed down, or kept from boatload.
    Throttled = "throttled", "processors throttled", DISTURBED,
        given "a processor was throttled for its heat, or the control group for its quota",
        means "Phases that need a processor may be too slow.";
    /// The clock of the latencies and the kernel's disagreed.
    ClockJumped = "clock-jumped", "clock not steady", To(Low),
        given "the clock source changed, or the clocks differ by 0.1%",
        means "No latency of these measurements can be trusted.";
    /// A rank or a host was slower than the others.
    SlowRank = "slow-rank", "one rank slower than the others", To(Medium),
        given "of many ranks, one (or all of one host) is below 0.9 times the rate of the others by its 95% \
                 interval, from three measurements on",
        means "All ranks wait for it at the end of each phase.";
    /// From one repeat on, all phases took longer or shorter.
    Step = "step", "speed changed between repeats", To(Medium),
        given "from one repeat on all phases together take 10% longer, or shorter, with three repeats on each side",
        means "Means and intervals mix both speeds.";
    /// Processors do not run as fast as they can.
    Frequency = "frequency", "processors below full speed", To(Medium),
        given "the governor is powersave, ondemand or conservative, unless the hardware chooses the frequency; or half \
                 of the phases ended with the fastest processor below 60% of its highest frequency",
        means "Phases that need a processor may be too slow, and differ from run to run.";
    /// A modelled disk answered late: the machine was too slow for it.
    DiskLate = "disk-late", "modelled disk answered late", To(Low),
        given "a modelled disk answered more than 1% of the run's requests after their deadline by more than a tenth \
                 of their service time and 0.1 ms",
        means "This machine was too busy to play the disk in time, so figures can be slower than such a disk's.";
    /// A loop device uses the page cache of the file system below.
    HostCache = "host-cache", "page cache below the loop device", To(Low),
        given "a loop device uses the page cache of the file system below",
        means "Rates may show memory in place of the disk.";
    /// File systems are on a place so small that it decides.
    SmallVolume = "small-volume", "small file system", To(Medium),
        given "file systems were compared on less than 10 GiB, or one was measured there that is not filled on \
                 purpose",
        means "Some file systems are slower there than on larger places.";
    /// Levels came in the order in which a place was prepared for them.
    LevelsInOrder = "levels-in-order", "levels in a fixed order", To(Low),
        given "levels came in the order in which the place was prepared for them",
        means "What changed on the machine meanwhile looks like an effect of the level.";
    /// Several repeats were measured beside the same files.
    FewHistories = "few-histories", "repeats beside the same files", To(Medium),
        given "several repeats were measured beside the same prepared files",
        means "Intervals do not show what other files would change.";
    /// Entries were made on an ext4 without a journal, where earlier deletions slow that.
    NoJournal = "no-journal", "no journal", To(Medium),
        given "entries were made on an existing ext4 without a journal",
        means "Files that were deleted in the last minutes make creating slower.";
    /// System calls failed whose answer the run did without.
    UnansweredCalls = "unanswered-calls", "system calls failed", Counted("no"),
        given "a system call failed with EPERM, ENOSYS, EIO, ENOMEM, EMFILE or ENFILE, and the run continued \
                 without its answer",
        means "What rests on these calls is unknown.";
}

impl WarningCode {
    fn kind(self) -> &'static WarningKind {
        &WARNINGS[self as usize]
    }

    /// What happened, in a few words: reports and the reliability of an answer name it so.
    pub fn short_name(self) -> &'static str {
        self.kind().short_name
    }

    /// What it means for the answer, as a clause.
    pub fn meaning(self) -> String {
        let sentence = self.kind().meaning.trim_end_matches('.');
        let (first, rest) = sentence.split_at(sentence.chars().next().map_or(0, char::len_utf8));
        first.to_lowercase() + rest
    }

    /// The reliability that it leaves alone; `None` if this depends on the measurements it is about.
    pub fn reliability(self) -> Option<Reliability> {
        match self.kind().lowers {
            To(reliability) => Some(reliability),
            Counted(_) => None,
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
    /// What it means for the answer.
    pub meaning: String,
    /// What to do about it.
    pub hint: String,
    /// The phases that it is about; null if it is about the run.
    pub phases: Vec<String>,
    /// How many measurements of the run it is about; null where they are not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measurements: Option<u64>,
    /// Why a cache was not found as requested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Doubt>,
}

impl WarningFinding {
    /// A warning about the run.
    pub fn of_run(code: WarningCode, sentence: &str, hint: &str) -> Self {
        Self::about_phases(code, Vec::new(), sentence.into(), hint)
    }

    /// A warning about phases.
    pub(crate) fn about_phases(
        code: WarningCode,
        phases: Vec<String>,
        sentence: String,
        hint: &str,
    ) -> Self {
        let (meaning, hint) = (code.kind().meaning.into(), hint.into());
        Self { code, phases, measurements: None, sentence, meaning, hint, reason: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_base::fixture::golden::assert_golden;

    #[test]
    fn the_page_of_warnings_is_made_of_the_table() {
        let mut lines = vec![HEAD.to_string()];
        for kind in &WARNINGS {
            let lowers = match kind.lowers {
                To(reliability) => reliability.as_str(),
                Counted(words) => words,
            };
            let WarningKind { code, short_name, condition, meaning, .. } = kind;
            lines.push(format!("| `{code}` | {short_name} | {condition} | {meaning} | {lowers} |"));
        }
        assert_golden("../../docs/warnings.md", &(lines.join("\n") + "\n"));
    }

    const HEAD: &str = "\
# Warnings

A warning says what a reader must know before trusting a figure. It makes no measurement invalid. The first screen counts the
warnings, and names those that make the reliability of the answer low. `boatload show RUN --details` prints each with what to do;
the run document has `code`, `meaning` and `hint`. The last column says how far a warning lowers the reliability. An idle machine
should cause no warning.

A row of a table has a `*` where a measurement in it was made under background load (`others-io`, `others-cpu`,
`memory-pressure`, `steal`, `throttled`, `clock-jumped`). On a modelled disk nobody else moves bytes, so it has no `others-io` and
no `host-cache`. A phase that it limits and in which it is not late has no `others-cpu`, `steal` and `throttled` either: the disk
answers at its time, whatever else the machine does.

| code | short name | given where | what it means for the answer | lowers the reliability to |
|---|---|---|---|---|";
}
