//! Reads the JSON of fio(1).

use std::path::Path;

use serde_json::{Map, Value};

use super::{
    DeviceRequests, MEMORY_PLACES, ToolMeasurement, ToolName, ToolResult, ToolWork, above_zero,
    amount, binary_bytes,
};

/// I/O engines that touch no storage.
const ENGINES_WITHOUT_DEVICE: [&str; 3] = ["null", "cpuio", "exit"];

/// None if it is no JSON object. With `--status-interval` fio writes several documents, of which the last counts;
/// what it prints before them is passed over.
pub(super) fn read(text: &str) -> Option<Result<ToolResult, String>> {
    let begin = match text.trim_start().starts_with('{') {
        true => text.find('{')?,
        false => text.find("\n{")?,
    };
    let mut last = None;
    for value in serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>() {
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
    let version = document.get("fio version")?.as_str().unwrap_or_default();
    let version = version.trim_start_matches("fio-");
    if version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|v| v < 3)
    {
        let why = format!("it is of fio {version}, which counts in other units: expected fio 3");
        return Some(Err(why));
    }
    let version = Some(version.to_string());
    let none = Map::new();
    let global = document.get("global options").and_then(Value::as_object).unwrap_or(&none);
    let jobs = document.get("jobs").or(document.get("client_stats")).and_then(Value::as_array);
    let mut measurements: Vec<ToolMeasurement> = Vec::new();
    let mut written: Vec<(String, bool)> = Vec::new();
    let mut folders = std::collections::BTreeSet::new();
    for job in jobs.into_iter().flatten().take(super::MEASUREMENTS_MAX + 1) {
        let own = job.get("job options").and_then(Value::as_object).unwrap_or(&none);
        let job = FioJob { values: job, options: FioOptions { own, global } };
        folders.extend(job.options.folders());
        measurements.extend(job.measurements(&mut written));
    }
    let devices = document.get("disk_util").and_then(Value::as_array);
    // With several directories, one may be on a file system without a device, such as NFS or btrfs.
    let is_local = document.get("client_stats").is_none();
    let requests = devices.filter(|_| is_local && folders.len() == 1).and_then(|all| requests(all));
    let hosts = jobs.into_iter().flatten().filter_map(|job| job.get("hostname")?.as_str());
    let hosts: std::collections::BTreeSet<_> = hosts.filter(|host| !host.is_empty()).collect();
    let nodes = (!hosts.is_empty()).then_some(hosts.len() as u64);
    Some(Ok(ToolResult {
        tool: ToolName::Fio,
        version,
        nodes,
        requests,
        measurements,
        is_cut: false,
    }))
}

/// The sum over all devices; also over those that stand on others, so it is at least what was served.
fn requests(devices: &[Value]) -> Option<DeviceRequests> {
    let sum = |key: &str| {
        let counts = devices.iter().filter_map(|device| device.get(key)?.as_u64());
        counts.fold(0u64, u64::saturating_add)
    };
    let all = DeviceRequests {
        reads: sum("read_ios"),
        reads_merged: sum("read_merges"),
        writes: sum("write_ios"),
        writes_merged: sum("write_merges"),
    };
    // A device that does not count (`queue/iostats` of 0) has zeros everywhere.
    (all != DeviceRequests::default()).then_some(all)
}

/// The options of a job, and those of all jobs.
#[derive(Clone, Copy)]
struct FioOptions<'a> {
    own: &'a Map<String, Value>,
    global: &'a Map<String, Value>,
}

impl<'a> FioOptions<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.own.get(key).or_else(|| self.global.get(key))?.as_str()
    }

    fn is_on(&self, key: &str) -> bool {
        self.text(key).is_some_and(|value| !matches!(value, "0" | "none" | "false"))
    }

    fn any_on(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.is_on(key))
    }

    fn place(&self) -> Option<&'a str> {
        self.text("filename").or_else(|| self.text("directory"))
    }

    /// The directories of its files; that in which fio ran is empty.
    fn folders(&self) -> impl Iterator<Item = String> {
        let directory = self.text("directory").unwrap_or_default();
        self.text("filename").unwrap_or("x").split(':').flat_map(move |name| {
            directory.split(':').map(move |directory| {
                let path = Path::new(directory).join(name);
                path.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned()
            })
        })
    }

    /// Bytes of all files of the job: never too few.
    fn file_bytes(&self) -> Option<u64> {
        let file = self.text("filename");
        if self.is_on("offset_increment") || file.is_some_and(|names| names.contains(':')) {
            return None;
        }
        let count = |key| self.text(key).and_then(|count| count.parse().ok()).unwrap_or(1_u64);
        let jobs = if file.is_some() { 1 } else { count("numjobs") };
        // Files of their own size; otherwise they share that of the job. A range of sizes ends with the largest.
        let (size, files) = match self.text("filesize") {
            Some(each) => (each, count("nrfiles")),
            None => (self.text("size")?, 1),
        };
        binary_bytes(size.rsplit('-').next()?)?.checked_mul(files)?.checked_mul(jobs)
    }

    fn no_device(&self) -> Option<String> {
        let engine = self.text("ioengine").filter(|name| ENGINES_WITHOUT_DEVICE.contains(name));
        let memory = || {
            let place = self.place()?;
            let found = MEMORY_PLACES.iter().any(|memory| place.starts_with(memory));
            found.then(|| format!("{place} is in memory"))
        };
        engine.map(|engine| format!("the I/O engine {engine} does no I/O")).or_else(memory)
    }
}

struct FioJob<'a> {
    values: &'a Value,
    options: FioOptions<'a>,
}

impl FioJob<'_> {
    /// `written`: places that jobs before it wrote to, and whether they synced.
    fn measurements(&self, written: &mut Vec<(String, bool)>) -> Vec<ToolMeasurement> {
        let mut found = Vec::new();
        let kinds = [("read", ToolWork::Read), ("write", ToolWork::Write)];
        let both = kinds.iter().all(|(key, _)| self.bytes(key).is_some());
        for (key, work) in kinds {
            let Some(bytes) = self.bytes(key) else { continue };
            let mut one = self.measurement(key, work, bytes);
            if work == ToolWork::Read && one.direct == Some(false) {
                let place = self.options.place();
                let before = written.iter().rev().find(|(name, _)| Some(name.as_str()) == place);
                one.just_written = both || before.is_some();
                let stays_dirty = both || before.is_some_and(|(_, synced)| !synced);
                let emptied = self.options.text("invalidate") != Some("0");
                one.cold = Some(emptied && !stays_dirty);
            }
            found.push(one);
        }
        if let Some(one) = found.iter().find(|one| one.work == ToolWork::Write) {
            let place = self.options.place().map(String::from);
            written.extend(place.map(|place| (place, one.synced == Some(true))));
        }
        found
    }

    fn bytes(&self, key: &str) -> Option<u64> {
        self.values.get(key)?.get("io_bytes")?.as_u64().filter(|bytes| *bytes > 0)
    }

    fn measurement(&self, key: &str, work: ToolWork, bytes: u64) -> ToolMeasurement {
        let (options, part) = (self.options, self.values.get(key).unwrap_or(&Value::Null));
        let number = |key: &str| part.get(key).and_then(Value::as_f64);
        let name = self.values.get("jobname").and_then(Value::as_str).unwrap_or("job");
        let mut one = ToolMeasurement::new(format!("{name} ({key})"), work);
        let pattern = options.text("rw").or_else(|| options.text("readwrite")).unwrap_or("read");
        one.random = pattern.contains("rand");
        one.bytes = Some(bytes);
        one.file_bytes = options.file_bytes();
        let block = options.text("bs").or_else(|| options.text("blocksize")).unwrap_or("4k");
        let nth = usize::from(work == ToolWork::Write);
        let block = block.split(',').nth(nth).filter(|b| !b.is_empty()).or(block.split(',').next());
        one.block_bytes = block.and_then(binary_bytes);
        one.seconds = number("runtime").and_then(above_zero).map(|ms| ms / 1e3);
        one.bytes_per_second = number("bw_bytes").and_then(above_zero);
        one.operations = part.get("total_ios").and_then(Value::as_u64);
        one.operations_per_second = number("iops").and_then(above_zero);
        // The sum of several clients has no options.
        let has_options = !options.own.is_empty() || !options.global.is_empty();
        let direct = options.is_on("direct") || options.text("buffered") == Some("0");
        one.direct = has_options.then_some(direct);
        if work == ToolWork::Write && has_options {
            let keys = ["end_fsync", "fsync_on_close", "fsync", "fdatasync", "sync"];
            one.synced = Some(one.direct == Some(true) || options.any_on(&keys));
            one.zeros = options.is_on("zero_buffers");
        }
        one.no_device = options.no_device();
        one.samples = part.get("bw_samples").and_then(Value::as_u64).unwrap_or(0);
        let latency = part.get("clat_ns").or(part.get("lat_ns")).unwrap_or(&Value::Null);
        let percentiles = latency.get("percentile").and_then(Value::as_object);
        let median = percentiles.and_then(|all| all.get("50.000000")).and_then(Value::as_f64);
        one.latency_p50_ns = median.and_then(above_zero);
        let deviation = latency.get("stddev").and_then(Value::as_f64).and_then(amount);
        one.has_spread = percentiles.is_some() || deviation.is_some_and(|ns| ns > 0.0);
        let error = self.values.get("error").and_then(Value::as_i64).filter(|error| *error != 0);
        one.error = error.map(|error| error.to_string());
        one
    }
}
