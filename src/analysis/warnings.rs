//! Warnings: what a reader must know before trusting a figure. A closed set of codes, each with the
//! condition, the sentence and the hint in one place.

mod caches;
mod disturbed;
mod imprecise;
mod journal;
mod jumped;

use std::collections::BTreeMap;

use super::finding::{Finding, WarningCode, WarningFinding};
use crate::analysis::Analysis;
use crate::op::find_operation;
use crate::results::book::{Book, ClockSource, MadeFileSystem, Measurement};
use crate::results::content::is_bulk;
use crate::results::order::made;
use caches::caches;
use disturbed::disturbed;
use imprecise::imprecise;
use journal::without_journal;
use jumped::jumped;

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

/// All warnings that a run needs, each once. A step that one of its other findings states as a
/// threshold is none.
pub(super) fn warnings(analysis: &Analysis<'_>, findings: &[Finding]) -> Vec<WarningFinding> {
    let (book, interrupted) = (analysis.book, analysis.book.is_cut_short());
    let mut all = Vec::new();
    if interrupted {
        all.push(of_run(
            WarningCode::Interrupted,
            "the run was interrupted; what was measured until then is kept.",
            "A run cannot be resumed: run it again.",
        ));
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
    all.extend(disturbed(book));
    all.extend(jumped(analysis, findings));
    all.extend(frequency(book));
    all.extend(host_cache(book));
    all.extend(access_times(book));
    all.extend(without_journal(book));
    if book.run.clock == Some(ClockSource::Monotonic) {
        all.push(of_run(
            WarningCode::SlowClock,
            "latencies were read from the system's clock, not the cycle counter.",
            "Latencies below a microsecond are less accurate.",
        ));
    }
    all.extend(imprecise(book));
    all
}

/// A warning about the run as a whole.
fn of_run(code: WarningCode, sentence: &str, hint: &str) -> WarningFinding {
    about_phases(code, Vec::new(), sentence.into(), hint)
}

/// A warning about phases.
fn about_phases(
    code: WarningCode,
    phases: Vec<String>,
    sentence: String,
    hint: &str,
) -> WarningFinding {
    WarningFinding { code, phases, sentence, hint: hint.into(), reason: None, jump: None }
}

fn invalid(measurements: &[Measurement]) -> Vec<WarningFinding> {
    let mut by_phase: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for m in measurements.iter().filter(|m| !m.valid()) {
        let reasons = by_phase.entry(&m.phase).or_default();
        for reason in &m.invalid {
            if !reasons.contains(&reason.as_str()) {
                reasons.push(reason);
            }
        }
    }
    let mut all = Vec::new();
    for (phase, reasons) in by_phase {
        let reasons = reasons.join("; ");
        all.push(about_phases(
            WarningCode::InvalidMeasurements,
            vec![phase.into()],
            format!("{phase} is invalid and left out of every mean: {reasons}."),
            "Fix the cause and run again.",
        ));
    }
    all
}

/// The phases of measurements, each once; none if there are no measurements.
fn phases_of<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Option<Vec<String>> {
    let mut phases = Vec::new();
    for m in measurements {
        add_once(&mut phases, &m.phase);
    }
    (!phases.is_empty()).then_some(phases)
}

/// Nobody asks for percentiles of a few large transfers, or of a single file.
fn few(measurements: &[Measurement]) -> Option<WarningFinding> {
    let few = |m: &&Measurement| m.operations < OPERATIONS_MIN && m.operations != 1;
    let judged = measurements.iter().filter(|m| m.valid() && !is_bulk(m));
    let phases = phases_of(judged.filter(few))?;
    let sentence = format!(
        "{} did fewer than {OPERATIONS_MIN} operations: percentiles are not reliable.",
        phases.join(", ")
    );
    let hint = "Use a larger scale, or more files with --set.";
    Some(about_phases(WarningCode::FewOperations, phases, sentence, hint))
}

fn overhead(book: &Book) -> Option<WarningFinding> {
    let judged = || book.measurements.iter().filter(|m| m.valid() && !m.is_simulated());
    let share = |m: &Measurement| book.run.overhead_ns / m.latency.mean;
    let large = |m: &&Measurement| share(m).is_finite() && share(m) > OVERHEAD_SHARE_MAX;
    let phases = phases_of(judged().filter(large))?;
    let largest = judged().filter(large).map(share).fold(0.0, f64::max);
    let sentence = format!(
        "measurement overhead is up to {:.0}% of an operation in {}.",
        largest * 100.0,
        phases.join(", ")
    );
    let hint = "Differences of that size between runs may come from the measurement.";
    Some(about_phases(WarningCode::MeasurementOverhead, phases, sentence, hint))
}

fn busy(measurements: &[Measurement]) -> Option<WarningFinding> {
    let known = measurements.iter().filter(|m| m.idle.is_some()).count();
    let busy = || measurements.iter().filter(|m| m.idle == Some(false));
    let phases = phases_of(busy())?;
    let sentence = format!(
        "{}: the device was already busy when {} of {known} measurements began.",
        phases.join(", "),
        busy().count()
    );
    let hint = "Look for what else reads or writes there, and run again when it is idle.";
    Some(about_phases(WarningCode::DeviceBusy, phases, sentence, hint))
}

fn frequency(book: &Book) -> Option<WarningFinding> {
    let settings = book.host.settings.as_ref()?;
    let driver = settings.frequency_driver.as_deref().unwrap_or_default();
    let slow = |governor: &&String| {
        SLOW_GOVERNORS.contains(&governor.as_str()) && !OWN_CHOICE_DRIVERS.contains(&driver)
    };
    let mut shares: Vec<f64> =
        book.measurements.iter().filter_map(|m| m.disturbance.as_ref()?.frequency_share).collect();
    shares.sort_by(f64::total_cmp);
    let share = shares.get(shares.len() / 2).filter(|share| **share < FREQUENCY_SHARE_MIN);
    let sentence = match (settings.governor.as_ref().filter(slow), share) {
        (Some(governor), _) => format!("the CPU frequency governor is {governor}."),
        (None, Some(share)) => {
            format!("CPUs ran at {:.0}% of their highest frequency.", share * 100.0)
        }
        (None, None) => return None,
    };
    let hint = "Set it before measuring: cpupower frequency-set --governor performance.";
    Some(of_run(WarningCode::Frequency, &sentence, hint))
}

fn host_cache(book: &Book) -> Option<WarningFinding> {
    let cached = made(book).into_iter().filter(|made| {
        made.device.as_ref().is_some_and(|device| device.loop_direct_io == Some(false))
    });
    let variants: Vec<&str> = cached.map(|made| made.variant.as_str()).collect();
    let sentence = format!(
        "{}: the loop device uses the page cache of the file system below, so results may show \
         memory instead of the disk.",
        variants.join(", ")
    );
    let hint = "Put the image on a file system that takes direct I/O, such as ext4 or xfs.";
    (!variants.is_empty()).then(|| of_run(WarningCode::HostCache, &sentence, hint))
}

/// Only of file systems that were made: of others it is not known what each is mounted with.
fn access_times(book: &Book) -> Option<WarningFinding> {
    let reads = |m: &Measurement| find_operation(&m.operation).is_some_and(|o| o.reads_content);
    let is_off = |made: &MadeFileSystem| made.options.split(',').any(|option| option == "noatime");
    let (off, on): (Vec<_>, Vec<_>) = made(book).into_iter().partition(|made| is_off(made));
    if off.is_empty() || on.is_empty() || !book.measurements.iter().any(reads) {
        return None;
    }
    let names = |made: Vec<&MadeFileSystem>| {
        made.iter().map(|made| made.variant.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (on, off) = (names(on), names(off));
    let sentence = format!(
        "reads update access times on {on}, and not on {off}: the first read of a file pays for it."
    );
    let hint = "Mount all with noatime, or none.";
    Some(of_run(WarningCode::AccessTimesDiffer, &sentence, hint))
}

fn add_once(phases: &mut Vec<String>, phase: &str) {
    if !phases.iter().any(|known| known == phase) {
        phases.push(phase.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::CacheAsked;
    use crate::results::book::CacheReport;
    use crate::run::cache::{CacheState, Doubt};

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

    fn of_book(book: &Book) -> Vec<WarningFinding> {
        warnings(&Analysis::of(book), &[])
    }

    fn of(measurements: Vec<Measurement>) -> Vec<WarningFinding> {
        of_book(&Book { measurements, ..Book::default() })
    }

    fn codes(all: &[WarningFinding]) -> Vec<WarningCode> {
        all.iter().map(|one| one.code).collect()
    }

    #[test]
    fn a_reason_is_given_once_for_all_its_phases() {
        let all = of(vec![
            doubtful("create", Doubt::NoRights),
            doubtful("read", Doubt::NoRights),
            doubtful("read", Doubt::NoRights),
        ]);
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(one.code, WarningCode::CacheNotAsAsked);
        assert_eq!(one.phases, ["create", "read"]);
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
        assert!(all[0].sentence.contains("ENOSPC x 3"));
    }

    #[test]
    fn few_operations_are_said() {
        let m = Measurement { operations: 5, ..measurement("create") };
        let all = of(vec![m]);
        assert_eq!(codes(&all), [WarningCode::FewOperations]);
        assert_eq!(all[0].phases, ["create"]);
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
        assert_eq!(codes(&all), [WarningCode::DeviceBusy]);
        assert!(all[0].sentence.starts_with("read: "), "{}", all[0].sentence);
        assert!(all[0].sentence.contains("2 of 3 measurements"), "{}", all[0].sentence);
        assert_eq!(of(vec![with("create", Some(true)), with("read", None)]), []);
    }

    #[test]
    fn a_loop_device_through_the_cache_is_said_and_one_around_it_is_not() {
        let mut book = crate::results::fixture::made::book();
        book.run.precision = None;
        assert_eq!(of_book(&book), []);
        for made in &mut book.filesystems[1..3] {
            made.device.as_mut().unwrap().loop_direct_io = Some(false);
        }
        let all = of_book(&book);
        assert_eq!(codes(&all), [WarningCode::HostCache]);
        assert!(all[0].sentence.starts_with("ext3, xfs: "), "{}", all[0].sentence);
    }

    #[test]
    fn slow_processors_are_stated_once() {
        let mut book = crate::results::fixture::book();
        let stated = |book: &Book| {
            let all = of_book(book).into_iter();
            all.filter(|one| one.code == WarningCode::Frequency).collect::<Vec<_>>()
        };
        assert_eq!(stated(&book), []);
        let settings = book.host.settings.as_mut().unwrap();
        settings.governor = Some("powersave".into());
        assert_eq!(stated(&book).len(), 1);
        book.host.settings.as_mut().unwrap().frequency_driver = Some("intel_pstate".into());
        assert_eq!(stated(&book), [], "there it is the name of the usual one");
        for m in &mut book.measurements {
            m.disturbance.as_mut().unwrap().frequency_share = Some(0.4);
        }
        assert!(stated(&book)[0].sentence.contains("40% of their highest frequency"));
    }

    #[test]
    fn one_large_transfer_is_not_too_few() {
        let m = Measurement { operations: 1, bytes: 1 << 30, ..measurement("read") };
        assert_eq!(of(vec![m]), []);
    }
}
