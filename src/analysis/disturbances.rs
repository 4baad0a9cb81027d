//! Detects background load and other disturbances of measurements: each kind with its threshold. None of
//! them makes a measurement invalid: its work was done.

use std::collections::BTreeMap;

use super::disk_use::{LATE_SHARE_MAX, late_share};
use super::limit::Limit;
use super::thresholds::OTHERS_CPU_SHARE;
use super::warnings::table::WarningCode;
use crate::base::units::bytes;
use crate::results::book::{Book, Disturbance, Measurement};

/// Others' share of what the device moved, and the least of it: less changes a rate by less than what
/// repeats differ by, and a log or two are written on every machine.
const OTHERS_IO_SHARE: f64 = 0.05;
const OTHERS_IO_BYTES: u64 = 1 << 20;

/// The same for the disk below a loop device: what the file system there writes for itself, its
/// journal and where the image's blocks are, is no disturbance.
const BENEATH_SHARE: f64 = 0.5;
const BENEATH_BYTES: u64 = 16 << 20;

/// Where processors are left over, somebody waited for one in this share of the time, while others
/// used at least that share of one.
const CPU_PRESSURE_SHARE: f64 = 0.1;
const CPU_PRESSURE_OTHERS_SHARE: f64 = 0.05;

/// Times are counted in ticks of 10 ms: so many seconds are more than their error.
const CPU_SECONDS_MIN: f64 = 0.2;

/// Somebody waited for memory in this share of the time; 0 is usual.
const MEMORY_SHARE: f64 = 0.05;
const MEMORY_SECONDS_MIN: f64 = 0.05;

/// The hypervisor's share of all processors' time.
const STEAL_SHARE: f64 = 0.02;
const STEAL_SECONDS_MIN: f64 = 0.05;

/// The clocks may go apart by this much: calibration is better than a tenth of it.
const CLOCK_ERROR: f64 = 0.001;

/// A kind of disturbance from outside, with its condition, its sentence and its hint.
pub(super) struct DisturbanceKind {
    pub(super) code: WarningCode,
    /// How much of it there was in a measurement: none where that is not known, `Some(None)` where it
    /// was below the threshold.
    judge: fn(&Book, &Measurement) -> Option<Option<f64>>,
    /// What happened in so many measurements, to stand behind the names of their phases; with
    /// the largest of their amounts.
    pub(super) sentence: fn(&str, f64) -> String,
    /// What to do about it.
    pub(super) hint: &'static str,
}

/// All of them, in the order of their warnings.
pub(super) const DISTURBANCES: [DisturbanceKind; 6] = [
    DisturbanceKind {
        code: WarningCode::OthersIo,
        judge: |book, m| others_io(book, m, m.disturbance.as_ref()?),
        sentence: |many, most| {
            let moved = bytes(most as u64);
            format!("other processes moved up to {moved} on the disk during {many}")
        },
        hint: "Stop what else uses the disk (backups, indexing, builds), and run again. It is in the \
               device's bytes too; nothing was subtracted.",
    },
    DisturbanceKind {
        code: WarningCode::OthersCpu,
        judge: |book, m| {
            let others = others_cpu(m, m.disturbance.as_ref()?);
            unless_awaited(book, m, others)
        },
        sentence: |many, most| {
            format!("other processes used up to {} of the CPU time during {many}", percent(most))
        },
        hint: "Stop what else is running, and run again.",
    },
    DisturbanceKind {
        code: WarningCode::MemoryPressure,
        judge: |_, m| {
            let seen = m.disturbance.as_ref()?;
            let (waited, all) = (seen.memory_pressure_seconds?, seen.seconds?);
            Some(above(waited, all, MEMORY_SHARE, MEMORY_SECONDS_MIN))
        },
        sentence: |many, most| {
            format!("memory was short for up to {} of the time in {many}", percent(most))
        },
        hint: "Stop what else takes memory, or take fewer or smaller files.",
    },
    DisturbanceKind {
        code: WarningCode::Steal,
        judge: |book, m| {
            let seen = m.disturbance.as_ref()?;
            let (stolen, all) = (seen.steal_seconds?, seen.cpu_seconds?);
            unless_awaited(book, m, Some(above(stolen, all, STEAL_SHARE, STEAL_SECONDS_MIN)))
        },
        sentence: |many, most| format!("CPU steal up to {} in {many}", percent(most)),
        hint: "The host of this virtual machine is busy: run again when it is not.",
    },
    DisturbanceKind {
        code: WarningCode::Throttled,
        judge: |book, m| {
            let seen = m.disturbance.as_ref()?;
            let counts = [seen.core_throttles, seen.group_throttles];
            let all = counts.into_iter().flatten().reduce(u64::saturating_add)?;
            unless_awaited(book, m, Some((all > 0).then_some(all as f64)))
        },
        sentence: |many, _| format!("CPUs were throttled in {many}"),
        hint: "Cool the machine, or give its control group more of the processors.",
    },
    DisturbanceKind {
        code: WarningCode::ClockJumped,
        judge: |_, m| {
            let seen = m.disturbance.as_ref()?;
            let error = seen.clock_error.map_or(0.0, f64::abs);
            let changed = seen.clock_changed == Some(true);
            Some((changed || error > CLOCK_ERROR).then_some(error))
        },
        sentence: |many, _| format!("the clock was not steady in {many}"),
        hint: "Look at the kernel's log for its clock source; trust no latency of these.",
    },
];

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// The amount of each kind of disturbance in each measurement of a book.
#[derive(Debug)]
pub(super) struct DisturbanceAmounts {
    /// By the address of the measurement, in the order of [`DISTURBANCES`].
    amounts: BTreeMap<*const Measurement, [Option<Option<f64>>; DISTURBANCES.len()]>,
}

impl DisturbanceAmounts {
    /// Judges each measurement of the book.
    pub(super) fn new(book: &Book) -> Self {
        let judged = |m| DISTURBANCES.each_ref().map(|kind| (kind.judge)(book, m));
        let amounts = book.measurements.iter().map(|m| (std::ptr::from_ref(m), judged(m)));
        Self { amounts: amounts.collect() }
    }

    /// How much there was of the kind with this number; as [`DisturbanceKind`] judges it.
    pub(super) fn amount(&self, m: &Measurement, kind: usize) -> Option<Option<f64>> {
        self.amounts.get(&std::ptr::from_ref(m))?[kind]
    }
}

/// Whether a measurement of the book was disturbed from outside.
pub(super) fn is_disturbed(book: &Book, m: &Measurement) -> bool {
    DISTURBANCES.iter().any(|kind| (kind.judge)(book, m).flatten().is_some())
}

/// The share of `all` if it is above a share and above so many seconds.
fn above(part: f64, all: f64, share: f64, seconds: f64) -> Option<f64> {
    let found = part / all;
    (found.is_finite() && found > share && part >= seconds).then_some(found)
}

/// What was found of the processors; but nothing where a phase waits for a modelled disk that is not late: it
/// answers at its time, whatever else the machine does.
fn unless_awaited(book: &Book, m: &Measurement, found: Option<Option<f64>>) -> Option<Option<f64>> {
    let is_late = late_share(m).is_none_or(|share| share > LATE_SHARE_MAX);
    let is_awaited = book.is_on_model(m)
        && !is_late
        && Limit::of_measurements(&[m], book.host.cpus) == Some(Limit::Device);
    found.map(|amount| amount.filter(|_| !is_awaited))
}

/// Bytes that others moved on the disk. Nobody else moves any on a modelled one.
fn others_io(book: &Book, m: &Measurement, seen: &Disturbance) -> Option<Option<f64>> {
    if book.is_on_model(m) {
        return None;
    }
    let (read, written) = (m.device_read_bytes?, m.device_write_bytes?);
    let device = read.saturating_add(written);
    let beneath = (seen.beneath_read_bytes.unwrap_or(0), seen.beneath_write_bytes.unwrap_or(0));
    // What others left in memory, or moved on other disks, is at most what this one moved. On a loop
    // device of boatload's own nobody else moves anything: only the disk below counts.
    let own = book.made_for(m).is_some() && seen.beneath_read_bytes.is_some();
    let upon = if own { (0, 0) } else { (read, written) };
    let others = seen.others_read_bytes.zip(seen.others_write_bytes).map(|(r, w)| {
        let read = r.min(upon.0.saturating_add(beneath.0));
        read.saturating_add(w.min(upon.1.saturating_add(beneath.1)))
    });
    let beneath = beneath.0.saturating_add(beneath.1);
    let direct = !through_cache(book, m) && seen.beneath_read_bytes.is_some();
    let beneath = Some(beneath).filter(|_| direct);
    let more = |bytes: u64, share: f64, least: u64| {
        (bytes >= least && bytes as f64 > device as f64 * share).then_some(bytes as f64)
    };
    if others.is_none() && beneath.is_none() {
        return None;
    }
    let of_processes = others.and_then(|bytes| more(bytes, OTHERS_IO_SHARE, OTHERS_IO_BYTES));
    let of_disk = beneath.and_then(|bytes| more(bytes, BENEATH_SHARE, BENEATH_BYTES));
    Some(of_processes.into_iter().chain(of_disk).reduce(f64::max))
}

/// Whether it was on a loop device through the cache of what lies below: that writes when it likes.
fn through_cache(book: &Book, m: &Measurement) -> bool {
    let device = match book.made_for(m) {
        Some(made) => made.device.as_ref(),
        None => book.host.device.as_ref(),
    };
    device.is_some_and(|device| device.loop_direct_io == Some(false))
}

/// Whether others moved a part of what the device did that counts.
pub(super) fn is_io_of_others(book: &Book, m: &Measurement) -> bool {
    m.disturbance.as_ref().and_then(|seen| others_io(book, m, seen)).flatten().is_some()
}

/// Others' share of the processors.
fn others_cpu(m: &Measurement, seen: &Disturbance) -> Option<Option<f64>> {
    let (others, all, seconds) = (seen.others_load_seconds()?, seen.cpu_seconds?, seen.seconds?);
    let share = above(others, all, OTHERS_CPU_SHARE, CPU_SECONDS_MIN);
    let processors = (all / seconds).round();
    // Where workers are as many as processors they wait for each other.
    let waited =
        seen.cpu_pressure_seconds.filter(|_| f64::from(m.threads.unwrap_or(1)) < processors);
    let waited = waited.and_then(|s| above(s, seconds, CPU_PRESSURE_SHARE, CPU_SECONDS_MIN));
    let waited = waited.filter(|_| others > seconds * CPU_PRESSURE_OTHERS_SHARE);
    Some(share.or_else(|| waited.map(|_| others / all)))
}
