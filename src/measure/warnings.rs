//! Warnings: a closed set, each with a sentence and a hint that depends on what was done.

mod caches;
mod disturbed;
mod imprecise;
mod journal;
mod jumped;

use std::collections::BTreeMap;

use super::book::{Book, MadeFileSystem, Measurement};
use super::content::is_bulk;
use super::disturbances::DisturbedMeasurements;
use super::finding::{Finding, WarningFinding};
use super::order::made;
use crate::measure::book::ClockSource;
use caches::{about, caches, remedy};
pub use disturbed::FoundDisturbance;
pub use imprecise::{Imprecise, imprecise};
pub use jumped::Jumped;

use disturbed::disturbed;
use journal::without_journal;
use jumped::jumped;

use crate::op::find_operation;
use crate::run::cache::Doubt;

/// Fewer operations than this give no percentiles worth the name.
const OPERATIONS_MIN: u64 = 100;

/// Measurement overhead may be this share of an operation before there is a warning.
const OVERHEAD_SHARE_MAX: f64 = 0.05;

/// Governors that let a busy processor run slowly. Drivers that leave the choice to the processor have
/// one of the same name, which does not: see METHODOLOGY.md.
const SLOW_GOVERNORS: [&str; 3] = ["powersave", "ondemand", "conservative"];
const OWN_CHOICE_DRIVERS: [&str; 3] = ["intel_pstate", "amd-pstate", "amd-pstate-epp"];

/// At the end of a phase some processor was busy: one below this share of its highest frequency is
/// slow. Sharing the heat among all of them takes some of it, but less.
const FREQUENCY_SHARE_MIN: f64 = 0.6;

/// Something a reader must know before trusting a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Phases were not found as cold or warm as they were asked to be.
    Cache {
        /// Why.
        doubt: Doubt,
        /// Which phases.
        phases: Vec<String>,
        /// Of which variants; none if of all.
        variants: Vec<String>,
    },
    /// Measurements that did not do all they were asked.
    Invalid {
        /// The phase.
        phase: String,
        /// Why, for each measurement.
        reasons: Vec<String>,
    },
    /// Too few operations for percentiles.
    FewOperations {
        /// The phases.
        phases: Vec<String>,
    },
    /// Measurement overhead is a notable part of what was measured.
    Overhead {
        /// The phases.
        phases: Vec<String>,
        /// The largest share, 0 to 1.
        share: f64,
    },
    /// The device was at work when phases began.
    DeviceBusy {
        /// The phases.
        phases: Vec<String>,
        /// In how many measurements.
        busy: usize,
        /// Of how many of which it is known.
        known: usize,
    },
    /// File systems were made on a loop device that goes through the cache of what lies below.
    HostCache {
        /// Their variants.
        variants: Vec<String>,
    },
    /// Variants that are compared update access times in different ways, and files were read.
    AccessTimes {
        /// Those that do not update them.
        off: Vec<String>,
        /// Those that do, as the kernel does by default.
        on: Vec<String>,
    },
    /// Entries were made on an ext4 without a journal, where deletions of before slow that.
    NoJournal {
        /// The phases that made them.
        phases: Vec<String>,
    },
    /// Something disturbed measurements, or makes them less than they seem.
    Disturbed(FoundDisturbance),
    /// From one operation on a phase took longer, or shorter.
    Jumped(Jumped),
    /// Processors do not run as fast as they can.
    Frequency {
        /// The governor, where it is what keeps them slow.
        governor: Option<String>,
        /// The middle of what was found at the ends of phases over the highest frequency.
        share: Option<f64>,
    },
    /// Rates are less sure than was asked.
    Imprecise(Imprecise),
    /// No cycle counter of constant rate: latencies are read from the system's clock.
    SlowClock,
    /// The run was interrupted.
    Interrupted,
}

impl Warning {
    /// Its word in results.
    pub fn code(&self) -> &'static str {
        match self {
            Warning::Cache { .. } => "cache-not-as-asked",
            Warning::Invalid { .. } => "invalid-measurements",
            Warning::FewOperations { .. } => "few-operations",
            Warning::Overhead { .. } => "harness-cost",
            Warning::DeviceBusy { .. } => "device-busy",
            Warning::HostCache { .. } => "host-cache",
            Warning::AccessTimes { .. } => "access-times-differ",
            Warning::NoJournal { .. } => "no-journal",
            Warning::Disturbed(found) => found.kind.code(),
            Warning::Jumped(_) => "jump",
            Warning::Frequency { .. } => "frequency",
            Warning::Imprecise(_) => "precision-not-reached",
            Warning::SlowClock => "slow-clock",
            Warning::Interrupted => "interrupted",
        }
    }

    fn sentence(&self) -> String {
        match self {
            Warning::Cache { doubt, phases, variants } => {
                let of = match variants.as_slice() {
                    [] => String::new(),
                    some => format!(" of {}", some.join(", ")),
                };
                format!("{}{of}: {}.", phases.join(", "), about(*doubt))
            }
            Warning::Invalid { phase, reasons } => {
                format!("{phase} is invalid and left out of every mean: {}.", reasons.join("; "))
            }
            Warning::FewOperations { phases } => format!(
                "{} did fewer than {OPERATIONS_MIN} operations: percentiles are not reliable.",
                phases.join(", ")
            ),
            Warning::Overhead { phases, share } => format!(
                "measurement overhead is up to {:.0}% of an operation in {}.",
                share * 100.0,
                phases.join(", ")
            ),
            Warning::DeviceBusy { phases, busy, known } => format!(
                "{}: the device was already busy when {busy} of {known} measurements began.",
                phases.join(", ")
            ),
            Warning::AccessTimes { off, on } => format!(
                "reads update access times on {}, and not on {}: the first read of a file pays for it.",
                on.join(", "),
                off.join(", ")
            ),
            Warning::HostCache { variants } => format!(
                "{}: the loop device uses the page cache of the file system below, so results may \
                 show memory instead of the disk.",
                variants.join(", ")
            ),
            Warning::NoJournal { phases } => journal::sentence(phases),
            Warning::Disturbed(found) => found.sentence(),
            Warning::Jumped(found) => found.sentence(),
            Warning::Imprecise(found) => found.sentence(),
            Warning::Frequency { governor: Some(governor), .. } => {
                format!("the CPU frequency governor is {governor}.")
            }
            Warning::Frequency { share, .. } => format!(
                "CPUs ran at {:.0}% of their highest frequency.",
                share.unwrap_or_default() * 100.0
            ),
            Warning::SlowClock => {
                "latencies were read from the system's clock, not the cycle counter.".into()
            }
            Warning::Interrupted => {
                "the run was interrupted; what was measured until then is kept.".into()
            }
        }
    }

    /// What to do about it.
    fn hint(&self) -> &'static str {
        match self {
            Warning::Cache { doubt, .. } => remedy(*doubt),
            Warning::Invalid { .. } => "Fix the cause and run again.",
            Warning::FewOperations { .. } => "Use a larger scale, or more files with --set.",
            Warning::Overhead { .. } => {
                "Differences of that size between runs may come from the measurement."
            }
            Warning::DeviceBusy { .. } => {
                "Look for what else reads or writes there, and run again when it is idle."
            }
            Warning::AccessTimes { .. } => "Mount all with noatime, or none.",
            Warning::HostCache { .. } => {
                "Put the image on a file system that takes direct I/O, such as ext4 or xfs."
            }
            Warning::NoJournal { .. } => journal::HINT,
            Warning::Disturbed(found) => found.kind.hint(),
            Warning::Jumped(_) => {
                "The mean lies between both. Look for what fills up there: a journal, a cache, memory."
            }
            Warning::Frequency { .. } => {
                "Set it before measuring: cpupower frequency-set --governor performance."
            }
            Warning::Imprecise(_) => {
                "Give it more time with --time-limit, or ask for less with --precision."
            }
            Warning::SlowClock => "Latencies below a microsecond are less accurate.",
            Warning::Interrupted => "A run cannot be resumed: run it again.",
        }
    }

    fn phases(&self) -> Vec<String> {
        match self {
            Warning::Cache { phases, .. }
            | Warning::FewOperations { phases }
            | Warning::Overhead { phases, .. }
            | Warning::NoJournal { phases }
            | Warning::DeviceBusy { phases, .. } => phases.clone(),
            Warning::Disturbed(found) => found.phases.clone(),
            Warning::Jumped(found) => vec![found.phase.clone()],
            Warning::Imprecise(found) => found.phases(),
            Warning::Invalid { phase, .. } => vec![phase.clone()],
            Warning::HostCache { .. }
            | Warning::AccessTimes { .. }
            | Warning::Frequency { .. }
            | Warning::SlowClock
            | Warning::Interrupted => Vec::new(),
        }
    }

    /// As a finding.
    pub fn finding(&self) -> Finding {
        Finding::Warning(WarningFinding {
            code: self.code().into(),
            sentence: self.sentence(),
            hint: self.hint().into(),
            phases: self.phases(),
            reason: match self {
                Warning::Cache { doubt, .. } => Some(doubt.word().into()),
                _ => None,
            },
            jump: match self {
                Warning::Jumped(found) => Some(found.figures()),
                _ => None,
            },
        })
    }
}

/// All warnings a book gives cause for, each once. A jump that its findings tell as a threshold is
/// none.
pub fn warnings(book: &Book, interrupted: bool) -> Vec<Warning> {
    let mut all = Vec::new();
    if interrupted {
        all.push(Warning::Interrupted);
    }
    // What was cut short is invalid for a reason that has just been given.
    let judged = match book.measurements.split_last() {
        Some((last, before)) if interrupted && !last.valid() => before,
        _ => &book.measurements,
    };
    all.extend(invalid(judged));
    all.extend(caches(&book.measurements));
    all.extend(few(&book.measurements));
    all.extend(overhead(book));
    all.extend(busy(&book.measurements));
    all.extend(disturbed(book).into_iter().map(Warning::Disturbed));
    all.extend(jumped(book, &DisturbedMeasurements::of(book)).into_iter().map(Warning::Jumped));
    all.extend(frequency(book));
    all.extend(host_cache(book));
    all.extend(access_times(book));
    all.extend(without_journal(book));
    if book.run.clock == Some(ClockSource::Monotonic) {
        all.push(Warning::SlowClock);
    }
    all
}

fn invalid(measurements: &[Measurement]) -> Vec<Warning> {
    let mut by_phase: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for m in measurements.iter().filter(|m| !m.valid()) {
        let reasons = by_phase.entry(&m.phase).or_default();
        for reason in &m.invalid {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
    }
    let warning =
        |(phase, reasons): (&str, Vec<String>)| Warning::Invalid { phase: phase.into(), reasons };
    by_phase.into_iter().map(warning).collect()
}

fn few(measurements: &[Measurement]) -> Option<Warning> {
    let mut phases = Vec::new();
    // Nobody asks for percentiles of a few large transfers, or of a single file.
    let few = |m: &&Measurement| m.operations < OPERATIONS_MIN && m.operations != 1;
    for m in measurements.iter().filter(|m| m.valid() && !is_bulk(m) && few(m)) {
        add_once(&mut phases, &m.phase);
    }
    (!phases.is_empty()).then_some(Warning::FewOperations { phases })
}

fn overhead(book: &Book) -> Option<Warning> {
    let (mut phases, mut largest) = (Vec::new(), 0.0f64);
    for m in book.measurements.iter().filter(|m| m.valid() && !m.is_simulated()) {
        let share = book.run.harness_ns / m.latency.mean;
        if share.is_finite() && share > OVERHEAD_SHARE_MAX {
            add_once(&mut phases, &m.phase);
            largest = largest.max(share);
        }
    }
    (!phases.is_empty()).then_some(Warning::Overhead { phases, share: largest })
}

fn busy(measurements: &[Measurement]) -> Option<Warning> {
    let known = measurements.iter().filter(|m| m.idle.is_some()).count();
    let (mut phases, mut busy) = (Vec::new(), 0);
    for m in measurements.iter().filter(|m| m.idle == Some(false)) {
        add_once(&mut phases, &m.phase);
        busy += 1;
    }
    (busy > 0).then_some(Warning::DeviceBusy { phases, busy, known })
}

fn frequency(book: &Book) -> Option<Warning> {
    let settings = book.host.settings.as_ref()?;
    let own_choice = settings
        .frequency_driver
        .as_deref()
        .is_some_and(|driver| OWN_CHOICE_DRIVERS.contains(&driver));
    let slow = |governor: &&String| SLOW_GOVERNORS.contains(&governor.as_str()) && !own_choice;
    let governor = settings.governor.as_ref().filter(slow).cloned();
    let mut shares: Vec<f64> =
        book.measurements.iter().filter_map(|m| m.disturbance.as_ref()?.frequency_share).collect();
    shares.sort_by(f64::total_cmp);
    let share = shares.get(shares.len() / 2).copied().filter(|s| *s < FREQUENCY_SHARE_MIN);
    (governor.is_some() || share.is_some()).then_some(Warning::Frequency { governor, share })
}

fn host_cache(book: &Book) -> Option<Warning> {
    let cached = made(book).into_iter().filter(|made| {
        made.device.as_ref().is_some_and(|device| device.loop_direct_io == Some(false))
    });
    let variants: Vec<String> = cached.map(|made| made.variant.clone()).collect();
    (!variants.is_empty()).then_some(Warning::HostCache { variants })
}

/// Only of file systems that were made: of others it is not known what each is mounted with.
fn access_times(book: &Book) -> Option<Warning> {
    let reads = |m: &Measurement| find_operation(&m.operation).is_some_and(|o| o.reads_content());
    let is_off = |made: &MadeFileSystem| made.options.split(',').any(|option| option == "noatime");
    let names = |off: bool| -> Vec<String> {
        let of_kind = made(book).into_iter().filter(|made| is_off(made) == off);
        of_kind.map(|made| made.variant.clone()).collect()
    };
    let (off, on) = (names(true), names(false));
    let differ = !off.is_empty() && !on.is_empty() && book.measurements.iter().any(reads);
    differ.then_some(Warning::AccessTimes { off, on })
}

fn add_once(phases: &mut Vec<String>, phase: &str) {
    if !phases.iter().any(|known| known == phase) {
        phases.push(phase.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::book::CacheReport;
    use crate::plan::CacheAsked;
    use crate::run::cache::CacheState;

    fn measurement(phase: &str) -> Measurement {
        Measurement { phase: phase.into(), operations: 1000, ..Measurement::default() }
    }

    fn doubtful(phase: &str, doubt: Doubt) -> Measurement {
        let cache = CacheReport {
            asked: CacheAsked::Cold,
            found: CacheState::Unverified,
            resident_fraction: None,
            reason: Some(doubt),
        };
        Measurement { cache, ..measurement(phase) }
    }

    fn of(measurements: Vec<Measurement>) -> Vec<Warning> {
        warnings(&Book { measurements, ..Book::default() }, false)
    }

    #[test]
    fn a_reason_is_given_once_for_all_its_phases() {
        let all = of(vec![
            doubtful("create", Doubt::NoRights),
            doubtful("read", Doubt::NoRights),
            doubtful("read", Doubt::NoRights),
        ]);
        let [Warning::Cache { phases, .. }] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(phases, &["create", "read"]);
    }

    #[test]
    fn nothing_is_said_of_a_clean_run() {
        assert_eq!(of(vec![measurement("create")]), []);
    }

    #[test]
    fn an_invalid_measurement_is_named_with_its_reasons() {
        let mut m = measurement("create");
        m.invalid = vec!["ENOSPC x 3".into()];
        let all = of(vec![m.clone(), m]);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].finding().sentence().contains("ENOSPC x 3"));
    }

    #[test]
    fn few_operations_are_said() {
        let m = Measurement { operations: 5, ..measurement("create") };
        assert_eq!(of(vec![m]), [Warning::FewOperations { phases: vec!["create".into()] }]);
        let one = Measurement { operations: 1, ..measurement("create") };
        assert_eq!(of(vec![one]), [], "one large file has no percentiles, and nobody expects any");
    }

    #[test]
    fn a_device_that_was_busy_is_said_with_the_phases_and_how_often() {
        let with = |phase, idle| Measurement { idle, ..measurement(phase) };
        let all = of(vec![
            with("create", Some(true)),
            with("read", Some(false)),
            with("read", Some(false)),
            with("delete", None),
        ]);
        let phases = vec!["read".to_string()];
        assert_eq!(all, [Warning::DeviceBusy { phases, busy: 2, known: 3 }]);
        assert_eq!(of(vec![with("create", Some(true)), with("read", None)]), []);
    }

    #[test]
    fn a_loop_device_through_the_cache_is_said_and_one_around_it_is_not() {
        let mut book = crate::measure::fixture::made::book();
        assert_eq!(warnings(&book, false), []);
        for made in &mut book.filesystems[1..3] {
            made.device.as_mut().unwrap().loop_direct_io = Some(false);
        }
        let variants = vec!["ext3".to_string(), "xfs".to_string()];
        assert_eq!(warnings(&book, false), [Warning::HostCache { variants }]);
    }

    #[test]
    fn slow_processors_are_told_once() {
        let mut book = crate::measure::fixture::book();
        let told = |book: &Book| {
            let is = |w: &Warning| matches!(w, Warning::Frequency { .. });
            warnings(book, false).into_iter().filter(is).collect::<Vec<_>>()
        };
        assert_eq!(told(&book), []);
        let settings = book.host.settings.as_mut().unwrap();
        settings.governor = Some("powersave".into());
        assert_eq!(told(&book).len(), 1);
        book.host.settings.as_mut().unwrap().frequency_driver = Some("intel_pstate".into());
        assert_eq!(told(&book), [], "there it is the name of the usual one");
        for m in &mut book.measurements {
            m.disturbance.as_mut().unwrap().frequency_share = Some(0.4);
        }
        assert_eq!(told(&book), [Warning::Frequency { governor: None, share: Some(0.4) }]);
    }

    #[test]
    fn one_large_transfer_is_not_too_few() {
        let m = Measurement { operations: 1, bytes: 1 << 30, ..measurement("read") };
        assert_eq!(of(vec![m]), []);
    }
}
