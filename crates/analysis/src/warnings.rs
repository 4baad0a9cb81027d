//! Derives the warnings that a reader must know before trusting a figure, each with its sentence and hint.

mod few_histories;
mod slow_rank;
pub mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::disturbances::{DISTURBANCES, DisturbanceKind, LATE_SHARE_MAX, late_share};
use super::findings::say;
use super::repeat_step::{RepeatStep, step_over_repeats};
use boatload_base::distinct::each_once;
use boatload_base::units::{Unit, bytes, counted, duration, span};
use boatload_op::Effect;
use boatload_plan::CacheAsked;
use boatload_plan::filesystem::FAIR_BYTES;
use boatload_results::book::{Book, DiskActivity, LevelOrder, MadeFileSystem, Measurement};
use boatload_results::content::is_bulk;
use boatload_results::order::made;
use boatload_run::cache::{CacheState, Doubt};
use few_histories::few_histories;
use table::{WarningCode, WarningFinding};

/// Of this number of operations one may take this long, and this share of its phase.
const OPERATIONS_MIN: u64 = 100;
const LONG_OPERATION_SECONDS: f64 = 1.0;
const LONG_OPERATION_SHARE: f64 = 0.5;

/// Measurement overhead may be this share of an operation before there is a warning.
const OVERHEAD_SHARE_MAX: f64 = 0.05;

/// A mix that did less than this share of the turns that were due has not kept its rate.
pub(crate) const RATE_SHARE_MIN: f64 = 0.95;

/// Governors that let a busy processor run slowly. Drivers that leave the choice to the processor have
/// one of the same name, which does not: see METHODOLOGY.md.
const SLOW_GOVERNORS: [&str; 3] = ["powersave", "ondemand", "conservative"];
const OWN_CHOICE_DRIVERS: [&str; 3] = ["intel_pstate", "amd-pstate", "amd-pstate-epp"];

/// At the end of a phase some processor was busy: one below this share of its highest frequency is
/// slow. Sharing the heat among all of them takes some of it, but less.
const FREQUENCY_SHARE_MIN: f64 = 0.6;

/// All warnings that a run needs, each once.
pub(super) fn warnings(book: &Book) -> Vec<WarningFinding> {
    let mut all: Vec<WarningFinding> = unfinished(book).into_iter().chain(resumed(book)).collect();
    // What was cut short is invalid for a reason that has just been given.
    let whole: Vec<&Measurement> = book.measurements.iter().filter(|m| !m.is_part()).collect();
    let judged = match whole.split_last() {
        Some((last, before)) if book.is_cut_short() && !last.valid() => before,
        _ => &whole,
    };
    all.extend(invalid(judged));
    all.extend(caches(&book.measurements));
    all.extend(long_operation(&book.measurements));
    all.extend(overhead(book));
    all.extend(rate_not_kept(&book.measurements));
    all.extend(busy(&book.measurements));
    all.extend(DISTURBANCES.iter().filter_map(|kind| disturbed_by(kind, book)));
    all.extend(slow_rank::slow(book));
    all.extend(stepped(book));
    all.extend(frequency(book));
    all.extend(late(book));
    all.extend(host_cache(book));
    all.extend(small_volume(book));
    all.extend(levels_in_order(book));
    all.extend(few_histories(book));
    all.extend(without_journal(book));
    all.extend(unanswered(book));
    all
}

/// A run that has not ended, or not yet.
fn unfinished(book: &Book) -> Option<WarningFinding> {
    let sentence = match book.is_cut_short() {
        true => "the run was interrupted; what was measured until then is kept.",
        false => "the run was killed, or is still running; what was measured until now is kept.",
    };
    let hint = match book.run.hosts.is_empty() {
        true => format!("`{}` continues where it ended.", book.run.resume_command()),
        false => "A run of many ranks is begun anew.".into(),
    };
    let is_own = book.run.reference.is_none();
    (is_own && !book.run.complete)
        .then(|| WarningFinding::of_run(WarningCode::Interrupted, sentence, &hint))
}

/// A run whose parts were measured under conditions that are not the same.
fn resumed(book: &Book) -> Option<WarningFinding> {
    let texts =
        each_once(book.run.resumed.iter().flat_map(|resumed| resumed.differences.iter().cloned()));
    let sentence = format!("the run continued in a changed environment: {}.", texts.join("; "));
    let hint =
        "Measurements before and after that may differ because of it: run it again to be sure.";
    (!texts.is_empty()).then(|| WarningFinding::of_run(WarningCode::ResumedAnyway, &sentence, hint))
}

/// A run that is slower or faster from one repeat on.
fn stepped(book: &Book) -> Option<WarningFinding> {
    let RepeatStep { from_repeat, ratio } = step_over_repeats(book)?;
    let sentence = format!(
        "from repeat {from_repeat} on everything takes {} times as long: the machine changed while it measured.",
        say::times(ratio)
    );
    let hint = "Means and intervals mix both. Look for what began then, such as throttling or another load, and run it \
                again.";
    Some(WarningFinding::of_run(WarningCode::Step, &sentence, hint))
}

/// The measurements that a warning is about.
struct AffectedMeasurements {
    number: u64,
    phases: Vec<String>,
}

impl AffectedMeasurements {
    /// `None` if there are none.
    fn new<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Option<Self> {
        let all: Vec<&Measurement> = measurements.collect();
        let phases = each_once(all.iter().map(|m| m.phase.clone()));
        (!all.is_empty()).then_some(Self { number: all.len() as u64, phases })
    }

    fn names(&self) -> String {
        self.phases.join(", ")
    }

    fn warning(self, code: WarningCode, sentence: String, hint: &str) -> WarningFinding {
        let measurements = Some(self.number);
        WarningFinding {
            measurements,
            ..WarningFinding::about_phases(code, self.phases, sentence, hint)
        }
    }

    /// With the names of the phases before what happened in them.
    fn named_warning(self, code: WarningCode, what: &str, hint: &str) -> WarningFinding {
        let sentence = format!("{}: {what}.", self.names());
        self.warning(code, sentence, hint)
    }
}

fn invalid(measurements: &[&Measurement]) -> Vec<WarningFinding> {
    let of_phase = |phase: &str| {
        let all = || measurements.iter().copied();
        let invalid = || all().filter(|m| !m.valid() && m.phase == phase);
        let reasons = each_once(invalid().flat_map(Measurement::invalid_sentences)).join("; ");
        let sentence =
            format!("invalid measurements of {phase} are left out of every mean: {reasons}.");
        let affected = AffectedMeasurements::new(invalid())?;
        let hint = "Fix the cause and run again.";
        Some(affected.warning(WarningCode::InvalidMeasurements, sentence, hint))
    };
    let phases: BTreeSet<&str> = measurements.iter().map(|m| &*m.phase).collect();
    phases.into_iter().filter_map(of_phase).collect()
}

/// A kind of disturbance that was found, once for all its phases.
fn disturbed_by(kind: &DisturbanceKind, book: &Book) -> Option<WarningFinding> {
    let amount = |m: &Measurement| (kind.amount)(book, m);
    let most = book.measurements.iter().filter_map(amount).reduce(f64::max)?;
    let disturbed = book.measurements.iter().filter(|m| amount(m).is_some());
    let affected = AffectedMeasurements::new(disturbed)?;
    let many = match (affected.number, book.measurements.len() as u64) {
        (1, 1) => "its measurement".to_string(),
        (disturbed, all) => format!("{disturbed} of {}", counted(all, "measurement")),
    };
    Some(affected.named_warning(kind.code, &(kind.sentence)(&many, most), kind.hint))
}

/// Something kept one call waiting; the phase says little of the others.
fn long_operation(measurements: &[Measurement]) -> Option<WarningFinding> {
    let longest_seconds = |m: &Measurement| m.latency.map_or(0.0, |all| all.max as f64 / 1e9);
    let is_long = |m: &&Measurement| {
        let seconds = longest_seconds(m);
        seconds >= LONG_OPERATION_SECONDS
            && m.seconds.is_some_and(|all| seconds > LONG_OPERATION_SHARE * all)
    };
    let judged = measurements.iter().filter(|m| m.valid() && m.operations >= OPERATIONS_MIN);
    let long: Vec<&Measurement> = judged.filter(is_long).collect();
    let most = long.iter().map(|m| longest_seconds(m)).fold(0.0, f64::max);
    let affected = AffectedMeasurements::new(long.into_iter())?;
    let up_to = if affected.number == 1 { "" } else { "up to " };
    let most = span(most);
    let what = format!("one operation took {up_to}{most}, more than half of the time of its phase");
    let hint = "Something kept a call waiting, such as a frozen file system or a disk that was reset: \
                the kernel's log may say what.";
    Some(affected.named_warning(WarningCode::LongOperation, &what, hint))
}

fn overhead(book: &Book) -> Option<WarningFinding> {
    if book.run.traced.is_some() {
        // The first screen of a trace says what tracing took.
        return None;
    }
    let judged = || book.measurements.iter().filter(|m| m.valid() && !m.is_simulated());
    let share = |m: &Measurement| {
        let known = book.run.overhead_ns.zip(m.latency);
        known.map_or(f64::NAN, |(overhead, latency)| overhead / latency.mean)
    };
    let large = |m: &&Measurement| share(m).is_finite() && share(m) > OVERHEAD_SHARE_MAX;
    let affected = AffectedMeasurements::new(judged().filter(large))?;
    let largest = judged().filter(large).map(share).fold(0.0, f64::max);
    let sentence = format!(
        "measurement overhead is up to {:.0}% of an operation in {}.",
        largest * 100.0,
        affected.names()
    );
    let hint = "Differences of that size between runs may come from the measurement.";
    Some(affected.warning(WarningCode::MeasurementOverhead, sentence, hint))
}

/// A rate that workers could not keep.
/// The share of the turns asked in each second that a mix began and ended; `None` without a rate.
pub(crate) fn rate_share(m: &Measurement) -> Option<f64> {
    let done = (m.operations + m.gone.unwrap_or(0)) as f64 / m.seconds?;
    m.turns_per_second_asked.map(|asked| done / asked).filter(|share| share.is_finite())
}

fn rate_not_kept(measurements: &[Measurement]) -> Option<WarningFinding> {
    let is_short = |m: &&Measurement| rate_share(m).is_some_and(|share| share < RATE_SHARE_MIN);
    let wholes = || measurements.iter().filter(|m| m.valid() && !m.is_part());
    let short = || wholes().filter(is_short);
    let least = short().filter_map(rate_share).reduce(f64::min)?;
    let affected = AffectedMeasurements::new(short())?;
    let what = format!(
        "only {} of the requested turns in each second were done, so that each waited for those before",
        say::percent(least)
    );
    let hint = "Ask for a lower rate, or take more threads.";
    Some(affected.named_warning(WarningCode::RateNotKept, &what, hint))
}

fn busy(measurements: &[Measurement]) -> Option<WarningFinding> {
    let busy = measurements.iter().filter(|m| m.idle == Some(false));
    let affected = AffectedMeasurements::new(busy)?;
    let (busy, all) = (affected.number, counted(measurements.len() as u64, "measurement"));
    let what = format!("the device was already busy when {busy} of {all} began");
    let hint = "Look for what else reads or writes there, and run again when it is idle.";
    Some(affected.named_warning(WarningCode::DeviceBusy, &what, hint))
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
    Some(WarningFinding::of_run(WarningCode::Frequency, &sentence, hint))
}

/// Modelled disks that this machine was too slow for.
/// One measurement of few requests says little of a machine, so the run as a whole is judged.
fn late(book: &Book) -> Option<WarningFinding> {
    let valid = || book.measurements.iter().filter(|m| m.valid());
    let disks = valid().filter_map(|m| m.disk.as_ref());
    let modelled = disks.filter(|disk| disk.late.is_some());
    let all = modelled.fold(DiskActivity::default(), |a, b| a.plus(b));
    let share = all.late? as f64 / all.requests().max(1) as f64;
    if share <= LATE_SHARE_MAX {
        return None;
    }
    let is_late = |m: &&Measurement| late_share(m).is_some_and(|share| share > LATE_SHARE_MAX);
    let affected = AffectedMeasurements::new(valid().filter(is_late))?;
    let what = format!(
        "the modelled disk answered {} of the run's requests too late, by more than a tenth of their \
         service time and 0.1 ms, and by {} in all. This machine was too slow for it",
        say::percent(share),
        duration(all.late_seconds.unwrap_or_default() * 1e9)
    );
    let hint = "Rates are lower than the disk's. Take a slower disk, an image in memory (a smaller --size or \
                scale), or a machine with more processors to spare.";
    Some(affected.named_warning(WarningCode::DiskLate, &what, hint))
}

fn host_cache(book: &Book) -> Option<WarningFinding> {
    // What lies below a modelled disk adds no time to it.
    let cached = made(book).into_iter().filter(|made| made.disk.is_none()).filter(|made| {
        made.device.as_ref().is_some_and(|device| device.loop_direct_io == Some(false))
    });
    let variants: Vec<&str> = cached.map(|made| made.variant.as_str()).collect();
    let sentence = format!(
        "{}: the loop device uses the page cache of the file system below, so results may show \
         memory instead of the disk.",
        variants.join(", ")
    );
    let hint = "Put the image on a file system that takes direct I/O, such as ext4 or xfs.";
    (!variants.is_empty()).then(|| WarningFinding::of_run(WarningCode::HostCache, &sentence, hint))
}

/// File systems on a place so small that its size decides. One that is filled on purpose is compared with itself.
fn small_volume(book: &Book) -> Option<WarningFinding> {
    let on_device = |made: &&MadeFileSystem| made.mkfs.is_some();
    let made: Vec<&MadeFileSystem> = made(book).into_iter().filter(on_device).collect();
    let kinds = each_once(made.iter().map(|made| made.kind.as_str()));
    let size = made.iter().map(|made| made.device_bytes).min().filter(|size| *size < FAIR_BYTES)?;
    let mut levels = book.measurements.iter().filter_map(|m| m.cell.level.as_ref());
    let is_filled = levels.any(|level| level.unit == Unit::Percent);
    let place = match kinds.as_slice() {
        [_] if is_filled => return None,
        [kind] => format!("{kind} was measured on {}", bytes(size)),
        _ => format!("file systems are compared on {}", bytes(size)),
    };
    let sentence = format!("{place}: some are slower there than on larger places.");
    let hint = match book.is_on_device() {
        true => format!("Take a device of {} GiB or more.", FAIR_BYTES >> 30),
        false => format!("Take --size {}GiB or more.", FAIR_BYTES >> 30),
    };
    Some(WarningFinding::of_run(WarningCode::SmallVolume, &sentence, &hint))
}

/// Where a prepared place cannot be restored, the machine's drift goes with its levels.
fn levels_in_order(book: &Book) -> Option<WarningFinding> {
    let is_so = book.run.level_order == Some(LevelOrder::AsPrepared);
    is_so.then(|| {
        WarningFinding::of_run(
            WarningCode::LevelsInOrder,
            "levels came in the order in which the place was prepared for them: what changed on the \
             machine meanwhile looks like an effect of the level.",
            "With --filesystem, on an image with enough free space, they come in random order: \
             see `boatload plan`.",
        )
    })
}

/// An ext4 without a journal: it passes over inodes while their deletion is fresh, if it has others
/// (`recently_deleted` in the kernel's fs/ext4/ialloc.c), and looks at all of those for each new file.
/// Only of the file system that was there: one that is made for each cell had nothing deleted.
fn without_journal(book: &Book) -> Option<WarningFinding> {
    // Repeats of a trace are another program's, which made its own files.
    let is_made_here = !book.filesystems.is_empty() || book.run.traced.is_some();
    if book.host.filesystem.journal != Some(false) || is_made_here {
        return None;
    }
    let adds = |m: &&Measurement| {
        let operation = m.job_operation();
        operation.is_some_and(|operation| operation.effect == Effect::AddsEntry)
    };
    let real = book.measurements.iter().filter(|m| !m.is_simulated() && !is_bulk(m));
    let affected = AffectedMeasurements::new(real.filter(adds))?;
    let what = "without a journal, ext4 skips inodes that were deleted in the last minutes; files \
                removed before, by boatload too, make this slower";
    let hint = "Compare variants of one run, or have an ext4 with a journal made for each repeat: as \
                root, --filesystem ext4.";
    Some(affected.named_warning(WarningCode::NoJournal, what, hint))
}

/// What the run did without.
fn unanswered(book: &Book) -> Option<WarningFinding> {
    let calls = &book.run.unanswered;
    let sentence =
        format!("system calls failed, and what rests on them is not known: {}.", calls.join("; "));
    let hint = "Allow these calls, or look in the kernel's log for what failed, and run again.";
    (!calls.is_empty())
        .then(|| WarningFinding::of_run(WarningCode::UnansweredCalls, &sentence, hint))
}

/// Caches that were not found as asked: with phases, variants, reason, and what to do. One for
/// each doubt.
fn caches(measurements: &[Measurement]) -> Vec<WarningFinding> {
    let doubt = |m: &Measurement| {
        let as_asked = match m.cache.asked {
            CacheAsked::Cold => CacheState::ColdVerified,
            CacheAsked::Warm => CacheState::Warm,
            _ => return None,
        };
        m.cache.reason.filter(|_| m.cache.found != as_asked)
    };
    let names = |all: &[&Measurement]| each_once(all.iter().map(|m| m.cell.variant.clone()));
    let all = names(&measurements.iter().collect::<Vec<_>>());
    let warning = |one: Doubt| {
        let doubted: Vec<_> = measurements.iter().filter(|m| doubt(m) == Some(one)).collect();
        let own = names(&doubted);
        let is_part = own.len() < all.len();
        let of = if is_part { format!(" of {}", own.join(", ")) } else { String::new() };
        let (what, remedy) = about_doubt(one);
        let affected = AffectedMeasurements::new(doubted.into_iter())?;
        let sentence = format!("{}{of}: {what}.", affected.names());
        let warning = affected.warning(WarningCode::CacheNotAsAsked, sentence, remedy);
        Some(WarningFinding { reason: Some(one), ..warning })
    };
    each_once(measurements.iter().filter_map(doubt)).into_iter().filter_map(warning).collect()
}

/// What a doubt means, to stand behind the names of phases, and what to do about it.
fn about_doubt(doubt: Doubt) -> (&'static str, &'static str) {
    match doubt {
        Doubt::NoRights => (
            "cold caches are unverified, because /proc/sys/vm/drop_caches needs root. File data \
             was evicted file by file; names and inodes stayed in memory",
            "Run as root, or pass --cache warm.",
        ),
        Doubt::DropFailed => (
            "cold caches are unverified: dropping the caches failed",
            "Raise the limit of open files, or pass --cache as-is.",
        ),
        Doubt::StillCached => (
            "not cold: pages or names were in memory when it began, although the caches had been \
             dropped",
            "Stop what else uses these files, or pass --cache as-is.",
        ),
        Doubt::MemoryFileSystem => (
            "not cold: the file system lives in memory",
            "Only a file system on a disk can be cold: pass --cache warm, or leave it out.",
        ),
        Doubt::NoDevice => (
            "cold caches are unverified: no block device is known here whose reads are counted",
            "Run on a file system with a block device of its own, whose queue/iostats is 1.",
        ),
        Doubt::DeviceReadTooLittle => (
            "not called cold: the device delivered less than was read, so something had it cached",
            "Look for a cache below: a loop device without direct I/O, a hypervisor, inline data, \
             a journal that is not yet written to its place.",
        ),
        Doubt::ReadByOthers => (
            "not called cold: other processes had part of it read, so it was in memory by then",
            "Stop what else uses these files, or pass --cache as-is.",
        ),
        Doubt::OwnReadsUnknown => (
            "cold caches are unverified: this kernel does not count what a process has disks read, so \
             others may have read it before",
            "A kernel with task I/O accounting has /proc/self/io.",
        ),
        Doubt::NoProbe => (
            "cold caches are unverified: this kernel does not let them be looked into",
            "A kernel of 6.5 or later has cachestat(2).",
        ),
        Doubt::NotResident => (
            "not called warm: pages were gone although they had just been read",
            "Take fewer files than memory holds.",
        ),
        Doubt::NoSimulatedCache => (
            "nothing is cold or warm: the simulated file system has no cache",
            "Give [sim] a `cold` time.",
        ),
        Doubt::CachedLoop => (
            "cold caches are unverified: a loop device below reads its file through the page cache, \
             which takes root to drop",
            "Run as root, or switch it: losetup --direct-io=on DEVICE.",
        ),
        Doubt::LowerCache => (
            "not called cold: a loop device below reads its file through the page cache, and no disk \
             below is known to have delivered what was read",
            "Switch it: losetup --direct-io=on DEVICE. A file in memory or with holes is never cold.",
        ),
        Doubt::StillMounted => (
            "not called cold: it was unmounted, but another mount namespace keeps it in memory",
            "Find who has it mounted (findmnt in other namespaces), and run again.",
        ),
    }
}
