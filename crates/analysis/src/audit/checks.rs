//! The checks, each a function of one measurement. docs/AUDIT.md lists them from this table.

use super::case::AuditGrade::{Certain, Imprecise, Likely, Possible};
use super::case::{AuditCase, AuditCheck, AuditGrade};
use boatload_base::units::{bytes, counted, duration, figures, grouped};
use boatload_results::tools::{ToolMeasurement, ToolName, ToolWork};

/// Declares the checks: name, function, and what it finds.
macro_rules! checks {
    ($($name:literal $find:ident $about:literal)+) => {
        /// Every check, in the order in which they are listed.
        pub const CHECKS: &[AuditCheck] = &[$(AuditCheck { name: $name, about: $about, find: $find },)+];
    };
}

checks! {
    "no-device" no_device "nothing was stored: an I/O engine that moves no content, a copy from /dev/zero to /dev/null, a file in memory"
    "device-rate" device_rate "more bytes a second than `--device-rate`"
    "class-rate" class_rate "more than 32 GB/s on one machine, if `--dir` names no device"
    "device-idle" device_idle "fio's `disk_util` counts too few requests for the bytes: even with 4 MiB in each, or one for each two random reads"
    "latency" latency "half of the random reads took less than 3 us: no block device answers through the kernel in that time"
    "client-cache" client_cache "each task reads over 100,000 attributes a second, 5 times as fast as files are made, on the machine that made them"
    "not-synced" not_synced "the time of writes ends before the data is on the device: no fsync, no direct I/O"
    "not-invalidated" not_invalidated "nothing shows that the caches were emptied before a read"
    "fits-in-memory" fits_in_memory "the same, and the files are smaller than the memory (`--memory` or `--dir`)"
    "read-again" read_again "more bytes were read through the page cache than the files have: all but the first time from memory"
    "zeros" zeros "only zeros were written, which compressing file systems and devices do not store"
    "not-stated" not_stated "the file does not say what was read, written or synced"
    "error" error "the job ended with an error"
    "too-short" too_short "less than a second, or too short for the benchmark to give a figure"
    "no-spread" no_spread "a mean without percentile, deviation or repetition"
    "one-run" one_run "one run, with fewer than 10 values over time"
}

/// What a rate may be above a bound before it counts: rates and bounds are rounded.
const TOLERANCE: f64 = 1.1;

/// Bytes in a second of PCIe 6.0 with 4 lanes, the fastest link of a single device.
pub(super) const DEVICE_RATE_MAX: f64 = 32e9;

/// The largest request that a device gets.
const REQUEST_BYTES_MAX: u64 = 4 << 20;

/// How late fio reads the counters of devices (`DISK_UTIL_MSEC` of its source).
const COUNTERS_LATE_SECONDS: f64 = 0.25;

/// The page of the page cache.
const PAGE_BYTES: u64 = 4096;

/// The fastest block devices (3D XPoint) take 5 us with the way through the kernel.
const DEVICE_LATENCY_MIN_NS: f64 = 3_000.0;

/// Attributes read so many times as fast as files are made come from a cache.
const STAT_RATIO_MAX: f64 = 5.0;

/// A cache gives attributes in 1 us to 5 us: what takes longer may be a round trip.
const CACHED_STAT_NS_MAX: f64 = 10_000.0;

/// What takes longer for a call, and for each of its bytes, is not from memory alone: 100 MB/s.
const MEMORY_CALL_NS_MAX: f64 = 100_000.0;
const MEMORY_BYTE_NS_MAX: f64 = 10.0;

/// Files this many times as large as the memory are hardly in it: bonnie++ asks for twice.
const MEMORY_TIMES: u64 = 2;

/// The kernel holds back a fifth of the memory (`vm.dirty_ratio`); of ten times the memory that is 2%.
const UNSYNCED_MEMORY_TIMES: u64 = 10;

const SHORT_SECONDS: f64 = 1.0;
const SAMPLES_MIN: u64 = 10;
const RUNS_MIN: u64 = 3;

type Found = Option<(AuditGrade, String)>;

impl AuditCase<'_> {
    fn is_buffered_read(&self) -> bool {
        let is_read = self.one.work == ToolWork::Read && self.one.direct != Some(true);
        is_read && self.one.interface.is_none()
    }

    /// How long a call, or a file, took each task, if that is known.
    fn ns_each(&self) -> Option<f64> {
        let each = || Some(1e9 * self.one.tasks? as f64 / self.one.operations_per_second?);
        self.one.latency_p50_ns.or_else(each)
    }

    /// Whether more than memory took part, as its time says.
    fn is_slower_than_memory(&self) -> bool {
        let block = self.one.block_bytes.unwrap_or(0) as f64;
        let longest = MEMORY_CALL_NS_MAX + block * MEMORY_BYTE_NS_MAX;
        let byte_ns = self.one.bytes_per_second.map(|rate| 1e9 / rate);
        match self.ns_each() {
            Some(ns) => ns > longest,
            None => byte_ns.is_some_and(|ns| ns > MEMORY_BYTE_NS_MAX),
        }
    }

    fn changes(&self) -> bool {
        matches!(self.one.work, ToolWork::Write | ToolWork::Create | ToolWork::Remove)
    }

    /// Whether its files are so large that memory holds little of them.
    fn is_beyond_memory(&self, times: u64) -> bool {
        let bounds = self.one.file_bytes.zip(self.bounds.memory_bytes);
        bounds.is_some_and(|(file, memory)| file >= memory.saturating_mul(times))
    }

    /// Requests that the devices completed for work of its kind, and those merged into them.
    fn requests(&self) -> Option<(u64, u64)> {
        let requests = self.result.requests?;
        match self.one.work {
            ToolWork::Read => Some((requests.reads, requests.reads_merged)),
            ToolWork::Write => Some((requests.writes, requests.writes_merged)),
            _ => None,
        }
    }

    /// All measurements of its kind of work: the counters do not tell jobs apart.
    fn alike(&self) -> impl Iterator<Item = &ToolMeasurement> {
        self.result.measurements.iter().filter(|other| other.work == self.one.work)
    }

    fn sum_of_alike(&self, of: impl Fn(&ToolMeasurement) -> Option<u64>) -> u64 {
        self.alike().filter_map(of).fold(0, u64::saturating_add)
    }

    fn bytes_of_alike(&self) -> u64 {
        self.sum_of_alike(|one| one.bytes)
    }

    /// Whether the device served it, as fio's counters say: all random calls of the result.
    fn is_served(&self) -> bool {
        let Some((served, merged)) = self.requests().filter(|_| self.one.random) else {
            return false;
        };
        let asked = self.sum_of_alike(|one| one.operations);
        asked > 0 && served.saturating_add(merged) as f64 >= 0.9 * asked as f64
    }

    /// Whether the requests that were counted can have moved its bytes.
    fn is_counted(&self) -> bool {
        let most = self.requests().map(|(served, _)| served.saturating_mul(REQUEST_BYTES_MAX));
        self.is_served() || most.is_some_and(|most| most >= self.bytes_of_alike())
    }
}

/// The part of bytes or calls that the counters must have: fio reads them every quarter of a second, and not at the end.
fn surely_counted(one: &ToolMeasurement, whole: u64) -> u64 {
    let seconds = one.seconds.filter(|seconds| *seconds >= SHORT_SECONDS);
    let share = seconds.map_or(0.0, |seconds| 1.0 - COUNTERS_LATE_SECONDS / seconds);
    (whole as f64 * share) as u64
}

/// The surer of two grades.
fn likely_if(is_likely: bool) -> AuditGrade {
    if is_likely { Likely } else { Possible }
}

fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate >= 1e9 => format!("{} GB/s", figures(rate / 1e9, 3)),
        rate => format!("{} MB/s", figures(rate / 1e6, 3)),
    }
}

fn no_device(case: &AuditCase<'_>) -> Found {
    Some((Certain, case.one.no_device.clone()?))
}

fn device_rate(case: &AuditCase<'_>) -> Found {
    let (found, most) = case.one.bytes_per_second.zip(case.bounds.device_bytes_per_second)?;
    (found > most * TOLERANCE).then(|| {
        let times = figures(found / most, 2);
        (Certain, format!("{} is {times} times what the device does ({})", rate(found), rate(most)))
    })
}

fn class_rate(case: &AuditCase<'_>) -> Found {
    let one = case.one;
    let is_remote = one.nodes.is_some_and(|nodes| nodes > 1) || one.interface.is_some();
    if is_remote || case.is_counted() {
        return None;
    }
    // A directory that is named may lie on an array.
    let found = one.bytes_per_second.filter(|_| case.bounds.directory.is_none());
    let found = found.filter(|found| *found > DEVICE_RATE_MAX * TOLERANCE)?;
    let (found, most) = (rate(found), rate(DEVICE_RATE_MAX));
    Some((Possible, format!("no single device does {found} (at most {most})")))
}

fn device_idle(case: &AuditCase<'_>) -> Found {
    let (served, merged) = case.requests()?;
    // What a sync at the end writes comes when the counters are read no more.
    let is_late = |one: &ToolMeasurement| one.synced == Some(true) && one.direct != Some(true);
    if case.alike().any(is_late) {
        return None;
    }
    // Direct I/O is around the page cache, so something else must explain what was not counted.
    let (grade, unless) = match case.alike().any(|one| one.direct != Some(false)) {
        true => (Likely, ", unless the files have holes or lie on a device that is not counted"),
        false => (Certain, ""),
    };
    let moved = case.bytes_of_alike();
    let verb = if case.one.work == ToolWork::Read { "read" } else { "written" };
    let bytes_counted = case.sum_of_alike(|one| Some(surely_counted(one, one.bytes?)));
    if bytes_counted > served.saturating_mul(REQUEST_BYTES_MAX) {
        let (requests, all) = (counted(served, "request"), bytes(moved));
        let reason = format!("{all} were {verb}, while the device served {requests}{unless}");
        return Some((grade, reason));
    }
    // Only reads: writes of the same place are joined in memory before they are written.
    if case.one.work != ToolWork::Read || !case.alike().all(|one| one.random) {
        return None;
    }
    let asked = case.sum_of_alike(|one| one.operations);
    let calls_counted = case.sum_of_alike(|one| {
        let pages = one.bytes.unwrap_or(0) / PAGE_BYTES;
        Some(surely_counted(one, one.operations?.min(pages)))
    });
    let served = served.saturating_add(merged);
    (served < calls_counted / 2).then(|| {
        let share = figures(100.0 * served as f64 / asked as f64, 2);
        let requests = counted(served, "request");
        let asked = grouped(asked);
        let reason =
            format!("the device served {requests} for {asked} random reads: {share}%{unless}");
        (grade, reason)
    })
}

fn latency(case: &AuditCase<'_>) -> Found {
    let median = case.one.latency_p50_ns?;
    let is_read = case.one.work == ToolWork::Read && case.one.random;
    (is_read && case.one.interface.is_none() && median < DEVICE_LATENCY_MIN_NS).then(|| {
        let reason = format!(
            "half of the reads took less than {}; no block device answers in less than {}",
            duration(median),
            duration(DEVICE_LATENCY_MIN_NS)
        );
        (Likely, reason)
    })
}

fn client_cache(case: &AuditCase<'_>) -> Found {
    let one = case.one;
    // elbencho makes directories and writes files: it has no rate of files that are only made.
    let can_tell = match case.result.tool {
        ToolName::Elbencho => false,
        ToolName::Mdtest => one.cold == Some(false),
        _ => one.cold != Some(true),
    };
    if one.work != ToolWork::Stat || !one.just_written || !can_tell {
        return None;
    }
    let kind = one.name.split(' ').next();
    let makes = |other: &&ToolMeasurement| {
        let same_kind =
            case.result.tool != ToolName::Mdtest || other.name.split(' ').next() == kind;
        other.work == ToolWork::Create && same_kind && other.setup == one.setup
    };
    let maker = case.result.measurements.iter().filter(makes);
    let made = maker.filter_map(|other| other.operations_per_second).fold(0.0, f64::max);
    let (stat, ns) = (one.operations_per_second?, case.ns_each()?);
    (made > 0.0 && stat > made * STAT_RATIO_MAX && ns < CACHED_STAT_NS_MAX).then(|| {
        let who = match (case.result.tool, one.nodes) {
            (ToolName::Mdtest, Some(1)) => "by the one machine that made them, from its own cache",
            (ToolName::Mdtest, _) => "by the machine that made them (no -N), from its own cache",
            _ => "by the machine that made them, from its own cache",
        };
        let (stat, made, times) = (figures(stat, 3), figures(made, 3), figures(stat / made, 2));
        let reason = format!(
            "{stat} attributes a second, {} each, are {times} times the {made} creates a second: read {who}",
            duration(ns)
        );
        (Likely, reason)
    })
}

fn not_synced(case: &AuditCase<'_>) -> Found {
    if !case.changes()
        || case.one.no_device.is_some()
        || case.one.synced != Some(false)
        || case.is_beyond_memory(UNSYNCED_MEMORY_TIMES)
    {
        return None;
    }
    let option = match case.result.tool {
        ToolName::Fio if case.one.work != ToolWork::Write => "sync: the I/O engine has none",
        ToolName::Fio => "end_fsync=1, fsync, fdatasync, sync or direct=1",
        ToolName::Dd => "conv=fdatasync, conv=fsync or oflag=direct",
        ToolName::Mdtest => "-Y or -y",
        ToolName::Elbencho => "--direct, and --sync is timed apart",
        ToolName::Bonnie => "fsync",
    };
    let fits =
        case.one.bytes.zip(case.bounds.memory_bytes).filter(|(moved, memory)| moved < memory);
    let reason = match fits.map(|(moved, memory)| (bytes(moved), bytes(memory))) {
        Some((moved, memory)) => {
            format!("{moved} fit into {memory} of memory, and nothing was synced (no {option})")
        }
        None => format!("the time ends before the data is on the device (no {option})"),
    };
    Some((likely_if(fits.is_some()), reason))
}

fn not_invalidated(case: &AuditCase<'_>) -> Found {
    let one = case.one;
    let is_stat = one.work == ToolWork::Stat && one.interface.is_none();
    let through_cache = is_stat || case.is_buffered_read();
    let told = matches!(case.result.tool, ToolName::Fio | ToolName::Dd);
    // A file that says nothing of its caches and is not asked to.
    let unknown = one.cold.is_none() && told;
    if !through_cache || one.cold == Some(true) || unknown || case.is_served() {
        return None;
    }
    let is_told_better = client_cache(case).is_some() || fits_in_memory(case).is_some();
    if is_told_better || case.is_beyond_memory(MEMORY_TIMES) {
        return None;
    }
    let reason = match (one.cold, one.just_written, case.result.tool) {
        (Some(false), true, ToolName::Mdtest) => {
            "reads what the same machine just made (no -N, or one machine)"
        }
        (Some(false), true, _) => {
            "reads what was just written, and nothing shows that the caches were emptied between"
        }
        (_, _, ToolName::Fio) if one.work == ToolWork::Stat => {
            "fio does not empty the caches of attributes"
        }
        (Some(false), _, ToolName::Fio) => "invalidate=0 left what was in the page cache",
        (Some(false), _, ToolName::Dd) => {
            "dd leaves the page cache as it is (no iflag=direct), and nothing shows that it was emptied"
        }
        _ => "the file does not say whether the caches were emptied before",
    };
    // Whether files with content fit into memory is not known here.
    let is_likely = one.just_written && one.cold.is_some() && one.file_bytes.is_none();
    let is_likely = is_likely && !case.is_slower_than_memory();
    Some((likely_if(is_likely), reason.into()))
}

fn read_again(case: &AuditCase<'_>) -> Found {
    let (read, file) = case.one.bytes.zip(case.one.file_bytes.filter(|file| *file > 0))?;
    let again = read > file.saturating_add(file / 10);
    if !case.is_buffered_read() || !again || case.is_served() || case.is_beyond_memory(MEMORY_TIMES)
    {
        return None;
    }
    let (times, read, size) = (figures(read as f64 / file as f64, 2), bytes(read), bytes(file));
    let fits = case.bounds.memory_bytes.is_some_and(|memory| file < memory);
    let reason =
        format!("{read} were read of files of {size}: {times} times, through the page cache");
    let is_likely = fits && !case.is_slower_than_memory();
    Some((likely_if(is_likely), reason))
}

fn fits_in_memory(case: &AuditCase<'_>) -> Found {
    let (file, memory) = case.one.file_bytes.zip(case.bounds.memory_bytes)?;
    let may_be_cached = case.is_buffered_read() && case.one.cold != Some(true);
    if !may_be_cached || file >= memory || case.is_served() {
        return None;
    }
    let written = if case.one.just_written { "were just written and " } else { "" };
    let (file, memory) = (bytes(file), bytes(memory));
    let reason = format!(
        "files of {file} {written}fit into {memory} of memory, and nothing in this file shows that caches were emptied"
    );
    let is_kept = case.one.just_written && case.one.cold == Some(false);
    let is_likely = is_kept && !case.is_slower_than_memory();
    Some((likely_if(is_likely), reason))
}

fn zeros(case: &AuditCase<'_>) -> Found {
    let reason =
        "only zeros were written: a file system or a device that compresses stores nothing";
    case.one.zeros.then(|| (Possible, reason.into()))
}

fn not_stated(case: &AuditCase<'_>) -> Found {
    let (one, tool) = (case.one, case.result.tool);
    // elbencho has no option that syncs what makes and removes files.
    let can_sync = tool != ToolName::Elbencho || one.work == ToolWork::Write;
    let reason = match (one.work, tool) {
        (ToolWork::Unknown, ToolName::Elbencho) => {
            "reads and writes at once: nothing says how fast either was"
        }
        (ToolWork::Unknown, ToolName::Dd) if one.tasks.is_some_and(|tasks| tasks > 1) => {
            "several dd ran here: nothing says which of them this is"
        }
        (ToolWork::Unknown, _) if one.name == "dd" => {
            "without the command, nothing says what was copied, or whether it was synced"
        }
        (ToolWork::Unknown, _) => "nothing says where it was written, or whether it was synced",
        _ if !case.changes() || one.synced.is_some() || !can_sync => return None,
        _ if one.interface.is_some() => "what its interface syncs is not known",
        _ => "the file does not say whether it was synced",
    };
    Some((Possible, reason.into()))
}

fn error(case: &AuditCase<'_>) -> Found {
    let error = case.one.error.as_ref()?;
    let reason = format!("it ended with an error ({error}): the figure is not of all its work");
    Some((Imprecise, reason))
}

fn too_short(case: &AuditCase<'_>) -> Found {
    if case.one.was_too_short {
        let reason = format!("it was too short for {} to give a figure", case.result.tool);
        return Some((Imprecise, reason));
    }
    let seconds = case.one.seconds.filter(|seconds| *seconds < SHORT_SECONDS)?;
    Some((Imprecise, format!("it took {}: start and end weigh too much", duration(seconds * 1e9))))
}

fn no_spread(case: &AuditCase<'_>) -> Found {
    if case.one.has_spread || case.one.was_too_short || case.runs >= RUNS_MIN {
        return None;
    }
    let mean = match case.result.tool {
        ToolName::Mdtest => "a mean of one iteration (-i 1)",
        _ if case.runs == 1 => "a mean of one run",
        _ => "a mean of two runs",
    };
    Some((Imprecise, format!("{mean}, without percentile or deviation")))
}

fn one_run(case: &AuditCase<'_>) -> Found {
    let one = case.one;
    let few = case.runs < RUNS_MIN && one.samples < SAMPLES_MIN;
    if !few || !one.has_spread || one.was_too_short {
        return None;
    }
    let (runs, samples) = (counted(case.runs, "run"), counted(one.samples, "value"));
    let over = if one.samples == 0 { "without values".into() } else { format!("with {samples}") };
    Some((Imprecise, format!("{runs} {over} over time: how far runs differ is unknown")))
}
