//! Detects background load and other disturbances of measurements: each kind with its threshold. None of
//! them makes a measurement invalid: its work was done.

use super::limit::Limit;
use super::thresholds::OTHERS_CPU_SHARE;
use super::warnings::table::WarningCode;
use boatload_base::units::bytes;
use boatload_results::book::{Book, Measurement};

/// Others' share of what the device moved, and the least of it: less changes a rate by less than what
/// repeats differ by, and a log or two are written on every machine.
const OTHERS_IO_SHARE: f64 = 0.05;
const OTHERS_IO_BYTES: u64 = 1 << 20;

/// The same for the disk below a loop device: what the file system there writes for itself, its
/// journal and where the image's blocks are, is no disturbance.
const BENEATH_SHARE: f64 = 0.5;
const BENEATH_BYTES: u64 = 16 << 20;

/// Where processors are left over, workers waited for one in this share of the time, while others used at least that
/// share of one. Where the workers' own wait was not counted, any process counts.
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

/// A modelled disk may answer this share of its requests late before its rates are not the disk's.
pub(super) const LATE_SHARE_MAX: f64 = 0.01;

/// A kind of disturbance from outside, with its condition, its sentence and its hint.
pub(super) struct DisturbanceKind {
    pub(super) code: WarningCode,
    /// How much of it there was in a measurement: `None` below the threshold, and where it is not known.
    pub(super) amount: fn(&Book, &Measurement) -> Option<f64>,
    /// What happened in this number of measurements, to stand behind the names of their phases; with
    /// the largest of their amounts.
    pub(super) sentence: fn(&str, f64) -> String,
    /// What to do about it.
    pub(super) hint: &'static str,
}

/// All of them, in the order of their warnings.
pub(super) const DISTURBANCES: [DisturbanceKind; 6] = [
    DisturbanceKind {
        code: WarningCode::OthersIo,
        amount: others_io,
        sentence: |many, most| {
            let moved = bytes(most as u64);
            format!("other processes moved up to {moved} on the disk during {many}")
        },
        hint: "Stop what else uses the disk (backups, indexing, builds), and run again. It is in the \
               device's bytes too; nothing was subtracted.",
    },
    DisturbanceKind {
        code: WarningCode::OthersCpu,
        amount: |book, m| others_cpu(m).filter(|_| !is_awaited(book, m)),
        sentence: |many, most| {
            format!("other processes used up to {} of the CPU time during {many}", percent(most))
        },
        hint: "Stop what else is running, and run again.",
    },
    DisturbanceKind {
        code: WarningCode::MemoryPressure,
        amount: |_, m| {
            let seen = m.disturbance.as_ref()?;
            let (waited, all) = (seen.memory_pressure_seconds?, seen.seconds?);
            above(waited, all, MEMORY_SHARE, MEMORY_SECONDS_MIN)
        },
        sentence: |many, most| {
            format!("memory was short for up to {} of the time in {many}", percent(most))
        },
        hint: "Stop what else takes memory, or take fewer or smaller files.",
    },
    DisturbanceKind {
        code: WarningCode::Steal,
        amount: |book, m| {
            let seen = m.disturbance.as_ref()?;
            let (stolen, all) = (seen.steal_seconds?, seen.cpu_seconds?);
            above(stolen, all, STEAL_SHARE, STEAL_SECONDS_MIN).filter(|_| !is_awaited(book, m))
        },
        sentence: |many, most| format!("CPU steal up to {} in {many}", percent(most)),
        hint: "The host of this virtual machine is busy: run again when it is not.",
    },
    DisturbanceKind {
        code: WarningCode::Throttled,
        amount: |book, m| {
            let seen = m.disturbance.as_ref()?;
            let counts = [seen.core_throttles, seen.group_throttles].into_iter().flatten();
            let all = counts.fold(0, u64::saturating_add);
            (all > 0 && !is_awaited(book, m)).then_some(all as f64)
        },
        sentence: |many, _| format!("CPUs were throttled in {many}"),
        hint: "Cool the machine, or give its control group more of the processors.",
    },
    DisturbanceKind {
        code: WarningCode::ClockJumped,
        amount: |_, m| {
            let seen = m.disturbance.as_ref()?;
            let error = seen.clock_error.map_or(0.0, f64::abs);
            (seen.clock_changed == Some(true) || error > CLOCK_ERROR).then_some(error)
        },
        sentence: |many, _| format!("the clock was not steady in {many}"),
        hint: "Look at the kernel's log for its clock source; trust no latency of these.",
    },
];

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// Whether a measurement of the book was disturbed from outside.
pub(super) fn is_disturbed(book: &Book, m: &Measurement) -> bool {
    DISTURBANCES.iter().any(|kind| (kind.amount)(book, m).is_some())
}

/// The share of `all` if it is above a share and above so many seconds.
fn above(part: f64, all: f64, share: f64, seconds: f64) -> Option<f64> {
    let found = part / all;
    (found.is_finite() && found > share && part >= seconds).then_some(found)
}

/// The share of the requests of a modelled disk that came late; none of a measurement on another one.
pub(super) fn late_share(m: &Measurement) -> Option<f64> {
    let disk = m.disk.as_ref()?;
    let late = disk.late? as f64;
    Some(if late > 0.0 { late / disk.requests().max(1) as f64 } else { 0.0 })
}

/// Whether a phase waits for a modelled disk that is not late: it answers at its time, whatever the processors do.
fn is_awaited(book: &Book, m: &Measurement) -> bool {
    let is_in_time = || late_share(m).is_some_and(|share| share <= LATE_SHARE_MAX);
    let limit = || Limit::of_measurements(&[m], book.host.cpus);
    book.is_on_model(m) && is_in_time() && limit() == Some(Limit::Device)
}

/// Bytes that others moved on the disk, if they are a part that counts. Nobody else moves any on a modelled one.
pub(super) fn others_io(book: &Book, m: &Measurement) -> Option<f64> {
    let seen = m.disturbance.as_ref().filter(|_| !book.is_on_model(m))?;
    let (read, written) = (m.device_read_bytes?, m.device_write_bytes?);
    let device = read.saturating_add(written) as f64;
    let has_beneath = seen.beneath_read_bytes.is_some();
    let beneath =
        [seen.beneath_read_bytes, seen.beneath_write_bytes].map(Option::unwrap_or_default);
    // What others left in memory, or moved on other disks, is at most what this one moved. On a loop
    // device of boatload's own nobody else moves anything: only the disk below counts.
    let is_own = book.made_for(m).is_some() && has_beneath;
    let upon = if is_own { [0, 0] } else { [read, written] };
    let most = |at: usize| upon[at].saturating_add(beneath[at]);
    let others = seen.others_read_bytes.zip(seen.others_write_bytes);
    let others = others.map(|(r, w)| r.min(most(0)).saturating_add(w.min(most(1))));
    let is_direct = has_beneath && !through_cache(book, m);
    let beneath = is_direct.then(|| beneath[0].saturating_add(beneath[1]));
    let more = |bytes: Option<u64>, share: f64, least: u64| {
        bytes.filter(|bytes| *bytes >= least && *bytes as f64 > device * share)
    };
    let of_processes = more(others, OTHERS_IO_SHARE, OTHERS_IO_BYTES);
    of_processes.max(more(beneath, BENEATH_SHARE, BENEATH_BYTES)).map(|bytes| bytes as f64)
}

/// Whether it was on a loop device through the cache of what lies below: that writes when it likes.
fn through_cache(book: &Book, m: &Measurement) -> bool {
    let device = match book.made_for(m) {
        Some(made) => made.device.as_ref(),
        None => book.host.device.as_ref(),
    };
    device.is_some_and(|device| device.loop_direct_io == Some(false))
}

/// Others' share of the processors.
fn others_cpu(m: &Measurement) -> Option<f64> {
    let seen = m.disturbance.as_ref()?;
    let (others, all, seconds) = (seen.others_load_seconds()?, seen.cpu_seconds?, seen.seconds?);
    let processors = (all / seconds).round();
    let own = m.time_shares.and_then(|shares| shares.run_queue).map(|share| share * seconds);
    // Where workers are as many as processors they wait for each other.
    let is_room = f64::from(m.threads.unwrap_or(1)) < processors;
    let waited = own.or(seen.cpu_pressure_seconds).filter(|_| is_room);
    let has_waited = waited
        .is_some_and(|s| above(s, seconds, CPU_PRESSURE_SHARE, CPU_SECONDS_MIN).is_some())
        && others > seconds * CPU_PRESSURE_OTHERS_SHARE;
    above(others, all, OTHERS_CPU_SHARE, CPU_SECONDS_MIN).or(has_waited.then_some(others / all))
}
