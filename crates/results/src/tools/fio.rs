//! Reads the JSON of fio(1).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::result::{
    DeviceRequests, MEMORY_PLACES, NOTES_MAX, ToolMeasurement, ToolName, ToolResult, ToolWork,
    above_zero, amount, binary_bytes,
};

/// I/O engines that read and write no content.
const ENGINES_WITHOUT_CONTENT: [&str; 5] = ["cpuio", "exit", "falloc", "ftruncate", "null"];

/// I/O engines that make, look at and remove files or directories: the bytes that fio tells of them are none.
const ENGINES_OF_FILES: [(&str, ToolWork); 6] = [
    ("dircreate", ToolWork::Create),
    ("dirdelete", ToolWork::Remove),
    ("dirstat", ToolWork::Stat),
    ("filecreate", ToolWork::Create),
    ("filedelete", ToolWork::Remove),
    ("filestat", ToolWork::Stat),
];

/// The I/O engine that reads and writes through the page cache whatever `direct` says; with it, each write is followed
/// by an msync(2).
const MAPPING_ENGINE: &str = "mmap";

/// I/O engines that use files through the kernel's page cache, or around it with `direct`. Of others, such as rbd and
/// nfs, it is not known what they cache or sync.
const ENGINES_OF_THE_KERNEL: [&str; 10] = [
    "io_uring", "libaio", MAPPING_ENGINE, "posixaio", "psync", "pvsync", "pvsync2", "splice",
    "sync", "vsync",
];

/// Options with `sync` in their names that make nothing durable within the time of a job.
const NO_SYNC_OPTIONS: [&str; 3] = ["create_fsync", "sync_file_range", "verify_async"];

/// Options of a job that are read.
const OPTIONS: [&str; 23] = [
    "blocksize", "bs", "buffered", "direct", "directory", "end_fsync", "end_syncfs", "fdatasync",
    "filename", "filesize", "fsync", "fsync_on_close", "invalidate", "ioengine", "nrfiles",
    "numjobs", "offset_increment", "readwrite", "rw", "size", "sync", "zero_buffers", "loops",
];

/// The parts of a document that are read. The rest, such as the bins of `json+`, is skipped without being kept: a result of
/// 16 MiB would take a gigabyte.
#[derive(Default, Deserialize)]
struct FioDocument {
    #[serde(default, rename = "fio version")]
    version: FioScalar,
    #[serde(default, rename = "global options")]
    global: FioOptionValues,
    jobs: Option<FioJobs>,
    client_stats: Option<FioJobs>,
    disk_util: Option<FioDevices>,
}

/// The jobs that are looked at: one more than those that become figures.
#[derive(Default)]
struct FioJobs(Vec<FioJobValues>);

impl<'de> Deserialize<'de> for FioJobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Vec::new();
        let keep = |job| {
            if all.len() <= super::result::MEASUREMENTS_MAX {
                all.push(job);
            }
        };
        deserializer.deserialize_seq(FioElements { take: keep, of: PhantomData })?;
        Ok(Self(all))
    }
}

/// The sum over all devices; also over those that stand on others, so it is at least what was served.
#[derive(Default)]
struct FioDevices(DeviceRequests);

impl<'de> Deserialize<'de> for FioDevices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = DeviceRequests::default();
        let add = |device: FioDevice| {
            let added = |sum: u64, one: &FioScalar| sum.saturating_add(one.count().unwrap_or(0));
            all.reads = added(all.reads, &device.read_ios);
            all.reads_merged = added(all.reads_merged, &device.read_merges);
            all.writes = added(all.writes, &device.write_ios);
            all.writes_merged = added(all.writes_merged, &device.write_merges);
        };
        deserializer.deserialize_seq(FioElements { take: add, of: PhantomData })?;
        Ok(Self(all))
    }
}

/// Takes the elements of an array one by one.
struct FioElements<T, F> {
    take: F,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for FioElements<T, F> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut all: A) -> Result<(), A::Error> {
        while let Some(element) = all.next_element()? {
            (self.take)(element);
        }
        Ok(())
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FioDevice {
    read_ios: FioScalar,
    read_merges: FioScalar,
    write_ios: FioScalar,
    write_merges: FioScalar,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FioJobValues {
    jobname: FioScalar,
    hostname: FioScalar,
    error: FioScalar,
    #[serde(rename = "job options")]
    options: FioOptionValues,
    read: FioPart,
    write: FioPart,
    /// Reads and writes as one (`unified_rw_reporting`).
    mixed: FioPart,
    trim: FioPart,
}

/// What a job read, or wrote.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FioPart {
    io_bytes: FioScalar,
    bw_bytes: FioScalar,
    iops: FioScalar,
    runtime: FioScalar,
    total_ios: FioScalar,
    bw_samples: FioScalar,
    clat_ns: Option<FioLatency>,
    lat_ns: Option<FioLatency>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FioLatency {
    stddev: FioScalar,
    percentile: Option<FioPercentiles>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FioPercentiles {
    #[serde(rename = "50.000000")]
    median: FioScalar,
}

impl FioPart {
    fn bytes(&self) -> Option<u64> {
        self.io_bytes.count().filter(|bytes| *bytes > 0)
    }
}

/// A text or a number; whatever else stands in its place is nothing.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum FioScalar {
    Text(String),
    Count(u64),
    Number(f64),
    Nothing(IgnoredAny),
}

impl Default for FioScalar {
    fn default() -> Self {
        Self::Nothing(IgnoredAny)
    }
}

impl FioScalar {
    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn count(&self) -> Option<u64> {
        if let Self::Count(count) = self { Some(*count) } else { None }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Count(count) => Some(*count as f64),
            Self::Number(number) => Some(*number),
            Self::Nothing(_) | Self::Text(_) => None,
        }
    }
}

/// The options that are read. One that is given twice has its last value, as in fio.
#[derive(Debug, Default)]
struct FioOptionValues {
    values: BTreeMap<&'static str, FioScalar>,
    /// Whether there are any, also of those that are not read.
    is_given: bool,
    /// One that is not known, but by its name may sync.
    unknown_sync: Option<String>,
}

impl<'de> Deserialize<'de> for FioOptionValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FioOptionVisitor)
    }
}

struct FioOptionVisitor;

impl<'de> Visitor<'de> for FioOptionVisitor {
    type Value = FioOptionValues;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("options")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<FioOptionValues, A::Error> {
        let mut found = FioOptionValues::default();
        while let Some(name) = all.next_key::<FioScalar>()? {
            found.is_given = true;
            match OPTIONS.iter().find(|known| name.text() == Some(known)) {
                Some(known) => drop(found.values.insert(known, all.next_value()?)),
                None => {
                    let value = all.next_value::<FioScalar>()?;
                    let may_sync = |name: &&str| {
                        let is_on = value.text().is_some_and(is_on);
                        is_on && name.contains("sync") && !NO_SYNC_OPTIONS.contains(name)
                    };
                    let unknown = name.text().filter(may_sync).map(String::from);
                    found.unknown_sync = unknown.or(found.unknown_sync);
                }
            }
        }
        Ok(found)
    }
}

/// Whether an option has a value that switches it on.
fn is_on(value: &str) -> bool {
    !matches!(value, "0" | "none" | "false")
}

/// `None` if it is no JSON object. With `--status-interval` fio writes several documents; the last one counts;
/// what it prints before them is passed over.
pub(super) fn read(text: &str) -> Option<Result<ToolResult, String>> {
    let begin = match text.trim_start().starts_with('{') {
        true => text.find('{')?,
        false => text.find("\n{")?,
    };
    let mut last = None;
    for value in serde_json::Deserializer::from_str(&text[begin..]).into_iter::<FioDocument>() {
        match value {
            Ok(value) => last = Some(value),
            Err(error) if last.is_none() => {
                let fio = text.contains("\"fio version\"");
                return fio
                    .then(|| Err(format!("it is a result of fio that cannot be read: {error}")));
            }
            Err(_) => break,
        }
    }
    let document = last?;
    let version = match &document.version {
        FioScalar::Nothing(_) => return None,
        version => version.text().unwrap_or_default().trim_start_matches("fio-"),
    };
    if version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|v| v < 3)
    {
        let why = format!("it is of fio {version}, which counts in other units: expected fio 3");
        return Some(Err(why));
    }
    Some(Ok(result(&document, version)))
}

fn result(document: &FioDocument, version: &str) -> ToolResult {
    let jobs = document.jobs.as_ref().or(document.client_stats.as_ref());
    let jobs = jobs.map_or(&[][..], |jobs| &jobs.0);
    let mut measurements: Vec<ToolMeasurement> = Vec::new();
    let mut written: Vec<(String, Option<bool>)> = Vec::new();
    let (mut folders, mut notes) = (BTreeSet::new(), BTreeSet::new());
    let hosts = jobs.iter().filter_map(|job| job.hostname.text());
    let hosts: BTreeSet<_> = hosts.filter(|host| !host.is_empty()).collect();
    let nodes = (!hosts.is_empty()).then_some(hosts.len() as u64);
    for values in jobs {
        let options = FioOptions { own: &values.options, global: &document.global };
        let job = FioJob { values, options };
        folders.extend(options.folders());
        notes.extend(job.notes());
        let found = job.measurements(&mut written).into_iter();
        measurements.extend(found.map(|one| ToolMeasurement { nodes, ..one }));
    }
    // With several directories, one may be on a file system without a device, such as NFS or btrfs. A device that does
    // not count (`queue/iostats` of 0) has zeros everywhere.
    let is_local = document.client_stats.is_none()
        && folders.len() == 1
        && measurements.iter().all(|one| one.interface.is_none());
    let requests = document.disk_util.as_ref().map(|devices| devices.0);
    let requests = requests.filter(|all| is_local && *all != DeviceRequests::default());
    let notes = notes.into_iter().take(NOTES_MAX).collect();
    let result = ToolResult::new(ToolName::Fio, Some(version.to_string()), measurements);
    ToolResult { requests, notes, ..result }
}

/// The options of a job, and the global options.
#[derive(Clone, Copy)]
struct FioOptions<'a> {
    own: &'a FioOptionValues,
    global: &'a FioOptionValues,
}

impl<'a> FioOptions<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        debug_assert!(OPTIONS.contains(&key), "{key} is not read");
        self.own.values.get(key).or_else(|| self.global.values.get(key))?.text()
    }

    fn is_on(&self, key: &str) -> bool {
        self.text(key).is_some_and(is_on)
    }

    fn any_on(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.is_on(key))
    }

    fn asks_direct(&self) -> bool {
        self.is_on("direct") || self.text("buffered") == Some("0")
    }

    fn is_direct(&self) -> bool {
        self.asks_direct() && self.text("ioengine") != Some(MAPPING_ENGINE)
    }

    /// Whether so many writes include what makes them durable.
    fn syncs(&self, writes: Option<u64>) -> bool {
        let every = |key| self.text(key).and_then(|every| every.parse::<u64>().ok());
        let is_reached = |every: u64| every > 0 && writes.is_none_or(|writes| writes >= every);
        self.asks_direct()
            || self.any_on(&["end_fsync", "end_syncfs", "fsync_on_close", "sync"])
            || ["fsync", "fdatasync"].into_iter().filter_map(every).any(is_reached)
    }

    /// An option that is on and, by its name, may sync.
    fn unknown_sync(&self) -> Option<&'a String> {
        self.own.unknown_sync.as_ref().or(self.global.unknown_sync.as_ref())
    }

    /// The I/O engine, if it is one that does not go through the kernel, or is not known.
    fn interface(&self) -> Option<&'a str> {
        self.text("ioengine").filter(|name| {
            let is_of_files = || ENGINES_OF_FILES.iter().any(|(of_files, _)| of_files == name);
            let is_known =
                ENGINES_OF_THE_KERNEL.contains(name) || ENGINES_WITHOUT_CONTENT.contains(name);
            !is_known && !is_of_files()
        })
    }

    fn place(&self) -> Option<&'a str> {
        self.text("filename").or_else(|| self.text("directory"))
    }

    /// Directories of its files, at most two that differ; that in which fio ran is empty.
    fn folders(&self) -> BTreeSet<PathBuf> {
        let directories = self.text("directory").unwrap_or_default().split(':');
        let directories: BTreeSet<&Path> = directories.map(Path::new).collect();
        let names = self.text("filename").unwrap_or("x").split(':');
        let parents: BTreeSet<&Path> =
            names.map(|name| Path::new(name).parent().unwrap_or(Path::new(""))).collect();
        let mut found = BTreeSet::new();
        for parent in parents {
            for directory in &directories {
                found.insert(directory.join(parent));
                if found.len() > 1 {
                    return found;
                }
            }
        }
        found
    }

    /// Bytes of all files of the job: never too few.
    fn file_bytes(&self) -> Option<u64> {
        let file = self.text("filename");
        if self.is_on("offset_increment") || file.is_some_and(|names| names.contains(':')) {
            return None;
        }
        let count = |key| self.text(key).and_then(|count| count.parse().ok()).unwrap_or(1_u64);
        let jobs = if file.is_some() { 1 } else { count("numjobs") };
        // Files of their own size; otherwise they share the size of the job. A range of sizes ends with the largest.
        let (size, files) = match self.text("filesize") {
            Some(each) => (each, count("nrfiles")),
            None => (self.text("size")?, 1),
        };
        binary_bytes(size.rsplit('-').next()?)?.checked_mul(files)?.checked_mul(jobs)
    }

    fn no_device(&self) -> Option<String> {
        let engine = self.text("ioengine").filter(|name| ENGINES_WITHOUT_CONTENT.contains(name));
        let memory = || {
            let place = self.place()?;
            let folders = self.folders();
            let is_memory = |path: &str| MEMORY_PLACES.iter().any(|one| path.starts_with(one));
            let all = folders.iter().all(|folder| is_memory(&format!("{}/", folder.display())));
            (all || is_memory(place)).then(|| format!("{place} is in memory"))
        };
        engine.map(|engine| format!("the I/O engine {engine} moves no content")).or_else(memory)
    }
}

struct FioJob<'a> {
    values: &'a FioJobValues,
    options: FioOptions<'a>,
}

impl FioJob<'_> {
    /// What of it is not known or not read.
    fn notes(&self) -> Vec<String> {
        let name = self.values.jobname.text().unwrap_or("job");
        let mut notes = Vec::new();
        for (part, what) in [
            (&self.values.mixed, "reads and writes that fio counts as one"),
            (&self.values.trim, "trims"),
        ] {
            notes.extend(part.bytes().map(|_| format!("The {what} of job {name} were not read.")));
        }
        notes.extend(self.options.unknown_sync().map(|option| {
            format!("The option {option} of fio is not known: it may sync what job {name} writes.")
        }));
        notes
    }

    /// `written`: places that jobs before it wrote to, and whether they synced.
    fn measurements(&self, written: &mut Vec<(String, Option<bool>)>) -> Vec<ToolMeasurement> {
        let mut found = Vec::new();
        let parts = [(&self.values.read, ToolWork::Read), (&self.values.write, ToolWork::Write)];
        let both = parts.iter().all(|(part, _)| part.bytes().is_some());
        for (part, work) in parts {
            let Some(bytes) = part.bytes() else { continue };
            let engine = self.options.text("ioengine");
            let of_files = ENGINES_OF_FILES.iter().find(|(name, _)| engine == Some(name));
            if let Some((_, work)) = of_files {
                found.push(self.work_on_files(part, *work));
                continue;
            }
            let mut one = self.measurement(part, work, bytes);
            if work == ToolWork::Read && one.direct == Some(false) {
                let place = self.options.place();
                let before = written.iter().rev().find(|(name, _)| Some(name.as_str()) == place);
                one.just_written = both || before.is_some();
                // What is not on the device stays in the page cache.
                let synced = before.map_or(Some(true), |(_, synced)| *synced);
                let keeps = both || self.options.text("invalidate") == Some("0");
                one.cold = if keeps { Some(false) } else { synced };
            }
            found.push(one);
        }
        if let Some(one) = found.iter().find(|one| one.work == ToolWork::Write) {
            let place = self.options.place().map(String::from);
            written.extend(place.map(|place| (place, one.synced)));
        }
        found
    }

    /// Files that are made, looked at or removed.
    fn work_on_files(&self, part: &FioPart, work: ToolWork) -> ToolMeasurement {
        let measured = self.measurement(part, work, 0);
        let is_change = work != ToolWork::Stat;
        ToolMeasurement {
            bytes: None,
            file_bytes: None,
            block_bytes: None,
            bytes_per_second: None,
            direct: None,
            random: false,
            synced: is_change.then_some(false),
            cold: (!is_change).then_some(false),
            ..measured
        }
    }

    fn measurement(&self, part: &FioPart, work: ToolWork, bytes: u64) -> ToolMeasurement {
        let options = self.options;
        let name = self.values.jobname.text().unwrap_or("job");
        let mut one = ToolMeasurement::new(format!("{name} ({work})"), work);
        let pattern = options.text("rw").or_else(|| options.text("readwrite")).unwrap_or("read");
        one.random = pattern.contains("rand");
        one.bytes = Some(bytes);
        one.file_bytes = options.file_bytes();
        let block = options.text("bs").or_else(|| options.text("blocksize")).unwrap_or("4k");
        let nth = usize::from(work == ToolWork::Write);
        let block = block.split(',').nth(nth).filter(|b| !b.is_empty()).or(block.split(',').next());
        one.block_bytes = block.and_then(binary_bytes);
        one.seconds = part.runtime.number().and_then(above_zero).map(|ms| ms / 1e3);
        // fio 3.0 and 3.1 give the rate in KiB alone, rounded.
        let rate = part.bw_bytes.number().and_then(above_zero);
        one.bytes_per_second = rate.or(one.seconds.map(|seconds| bytes as f64 / seconds));
        one.operations = part.total_ios.count();
        one.operations_per_second = part.iops.number().and_then(above_zero);
        // The sum of several clients has no options.
        let has_options = options.own.is_given || options.global.is_given;
        one.interface = options.interface().map(String::from);
        let is_known = has_options && one.interface.is_none();
        one.direct = is_known.then(|| options.is_direct());
        if work == ToolWork::Write && has_options {
            let synced = options.syncs(one.operations);
            let is_stated = synced || options.unknown_sync().is_none();
            one.synced = Some(synced).filter(|_| is_known && is_stated);
            one.zeros = options.is_on("zero_buffers");
        }
        one.no_device = options.no_device();
        one.samples = part.bw_samples.count().unwrap_or(0);
        let latencies = || part.clat_ns.iter().chain(&part.lat_ns);
        let latency = latencies().find(|one| one.percentile.is_some()).or(latencies().next());
        let percentiles = latency.and_then(|latency| latency.percentile.as_ref());
        one.latency_p50_ns = percentiles.and_then(|all| all.median.number()).and_then(above_zero);
        let deviation = latency.and_then(|latency| latency.stddev.number()).and_then(amount);
        one.has_spread = percentiles.is_some() || deviation.is_some_and(|ns| ns > 0.0);
        let error = self.values.error.number().filter(|error| *error != 0.0);
        one.error = error.map(|error| error.to_string());
        one
    }
}
