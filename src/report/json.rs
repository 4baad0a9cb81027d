//! The run document: the same keys in the same order for every run, versioned. Keys that a
//! reader may rely on come first in each object; a number that is none is written as null.

mod read;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Report;
use crate::base::units::Unit;
use crate::host::facts::{DeviceFacts, HostFacts, Rights};
use crate::host::settings::Settings;
use crate::measure::analysis::Analysis;
use crate::measure::book::*;
use crate::measure::histogram::to_text;
use crate::measure::tails::{Quantile, own_interval};

pub use read::{DOCUMENT_BYTES_MAX, ReadDocument, read_document};

/// What its `format` is.
const FORMAT: &str = "boatload-run";

/// The version of the document: it changes when a key is removed or means something else.
const VERSION: u32 = 1;

/// A measurement as it stands in the document, where null is what is not known.
pub(super) fn measurement_value(m: &Measurement, measured: bool) -> serde_json::Value {
    // What stands in the document is plain data.
    serde_json::to_value(WireMeasurement::of(m, measured)).unwrap_or_default()
}

/// One JSON object on one line.
pub(super) struct Json;

impl Report for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn render(&self, analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &WireDocument::of(analysis.book))?;
        writeln!(out)
    }
}

#[derive(Serialize)]
struct WireDocument<'a> {
    format: &'static str,
    version: u32,
    run: WireRun<'a>,
    host: WireHost<'a>,
    measurements: Vec<WireMeasurement<'a>>,
    findings: Vec<WireFinding<'a>>,
    conditions: Vec<WireCondition<'a>>,
    filesystems: &'a [MadeFileSystem],
}

#[derive(Serialize)]
struct WireRun<'a> {
    id: &'a str,
    scenario: &'a str,
    scale: Scale,
    seed: Option<u64>,
    started: Option<&'a str>,
    finished: Option<&'a str>,
    command: Option<&'a str>,
    boatload: Option<&'a str>,
    complete: bool,
    question: &'a str,
    #[serde(serialize_with = "in_order")]
    parameters: &'a [(String, String)],
    job: Option<&'a str>,
    harness_ns: f64,
    clock: Option<ClockSource>,
    repeats: u32,
    precision: Option<f64>,
    time_limit_seconds: Option<f64>,
    reference: Option<&'a Provenance>,
}

/// The facts of [`HostFacts`] under their own keys, null where they were not published.
#[derive(Serialize)]
struct WireHost<'a> {
    kernel: Option<&'a str>,
    cpu: Option<&'a str>,
    cpus: Option<u32>,
    memory_bytes: Option<u64>,
    filesystem: WireFilesystem<'a>,
    device: Option<&'a DeviceFacts>,
    rights: Option<&'a Rights>,
    settings: Option<&'a Settings>,
}

#[derive(Serialize)]
struct WireFilesystem<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    source: Option<&'a str>,
    options: Option<&'a str>,
    block_bytes: Option<u64>,
    total_bytes: Option<u64>,
    available_bytes: Option<u64>,
    available_inodes: Option<u64>,
    journal: Option<bool>,
}

#[derive(Serialize)]
struct WireLevel<'a> {
    axis: &'a str,
    value: f64,
    unit: Unit,
}

#[derive(Serialize)]
struct WireMeasurement<'a> {
    variant: &'a str,
    level: Option<WireLevel<'a>>,
    repeat: u32,
    phase: &'a str,
    pass: u32,
    operation: &'a str,
    engine: Option<EngineName>,
    threads: Option<u32>,
    valid: bool,
    operations: Option<u64>,
    errors: &'a BTreeMap<String, u64>,
    bytes: Option<u64>,
    seconds: f64,
    sync_seconds: f64,
    operations_per_second: Option<f64>,
    cpu_user_seconds: f64,
    cpu_system_seconds: f64,
    latency_ns: Option<&'a Latency>,
    latency_intervals_ns: BTreeMap<&'static str, [u64; 2]>,
    cache: &'a CacheReport,
    device_read_bytes: Option<u64>,
    device_write_bytes: Option<u64>,
    windows: &'a [Window],
    operations_asked: Option<u64>,
    invalid: &'a [String],
    rate_error: Option<f64>,
    entries_expected: Option<u64>,
    entries_found: Option<u64>,
    space_bytes: Option<i64>,
    inodes: Option<i64>,
    idle: Option<bool>,
    device_reads: Option<u64>,
    device_writes: Option<u64>,
    device_flushes: Option<u64>,
    device_discard_bytes: Option<u64>,
    worker_spread: Option<f64>,
    slices_ns: &'a [f64],
    disturbance: Option<&'a Disturbance>,
    histogram: Option<String>,
}

#[derive(Serialize)]
struct WireCondition<'a> {
    variant: &'a str,
    level: Option<WireLevel<'a>>,
    repeat: u32,
    name: ConditionName,
    value: f64,
    unit: Unit,
}

struct WireFinding<'a>(&'a Finding);

impl<'a> WireDocument<'a> {
    fn of(book: &'a Book) -> Self {
        let measured = book.run.reference.is_none();
        let measurements = book.measurements.iter().map(|m| WireMeasurement::of(m, measured));
        Self {
            format: FORMAT,
            version: VERSION,
            run: WireRun::of(&book.run),
            host: WireHost::of(&book.host, measured),
            measurements: measurements.collect(),
            findings: book.findings.iter().map(WireFinding).collect(),
            conditions: book.conditions.iter().map(WireCondition::of).collect(),
            filesystems: &book.filesystems,
        }
    }
}

impl<'a> WireRun<'a> {
    fn of(run: &'a RunFacts) -> Self {
        let measured = run.reference.is_none();
        Self {
            id: &run.id,
            scenario: &run.scenario,
            scale: run.scale,
            seed: told(run.seed, measured),
            started: told(run.started.as_str(), measured),
            finished: run.finished.as_deref(),
            command: told(run.command.as_str(), measured),
            boatload: told(run.boatload.as_str(), measured),
            complete: run.complete,
            question: &run.question,
            parameters: &run.parameters,
            job: told(run.job.as_str(), measured),
            harness_ns: run.harness_ns,
            clock: run.clock,
            repeats: run.repeats,
            precision: run.precision,
            time_limit_seconds: run.time_limit_seconds,
            reference: run.reference.as_ref(),
        }
    }
}

impl<'a> WireLevel<'a> {
    fn of(level: &'a Level) -> Self {
        Self { axis: &level.axis, value: level.value, unit: level.unit }
    }
}

impl<'a> WireCondition<'a> {
    fn of(condition: &'a Condition) -> Self {
        Self {
            variant: &condition.cell.variant,
            level: condition.cell.level.as_ref().map(WireLevel::of),
            repeat: condition.cell.repeat,
            name: condition.name,
            value: condition.value,
            unit: condition.unit,
        }
    }
}

impl<'a> WireHost<'a> {
    fn of(host: &'a HostFacts, measured: bool) -> Self {
        let on = &host.filesystem;
        Self {
            kernel: told(host.kernel.as_str(), measured),
            cpu: told(host.cpu.as_str(), measured),
            cpus: told(host.cpus, measured),
            memory_bytes: told(host.memory_bytes, measured),
            filesystem: WireFilesystem {
                kind: told(on.kind.as_str(), measured),
                source: told(on.source.as_str(), measured),
                options: told(on.options.as_str(), measured),
                block_bytes: told(on.block_bytes, measured),
                total_bytes: told(on.total_bytes, measured),
                available_bytes: told(on.available_bytes, measured),
                available_inodes: on.available_inodes,
                journal: on.journal,
            },
            device: host.device.as_ref(),
            rights: Some(&host.rights).filter(|_| measured),
            settings: host.settings.as_ref(),
        }
    }
}

/// What boatload measured is told as it is. In published figures nothing, zero and an empty text
/// mean that it was not published.
fn told<T: Default + PartialEq>(value: T, measured: bool) -> Option<T> {
    Some(value).filter(|value| measured || *value != T::default())
}

impl<'a> WireMeasurement<'a> {
    fn of(m: &'a Measurement, measured: bool) -> Self {
        Self {
            variant: &m.cell.variant,
            level: m.cell.level.as_ref().map(WireLevel::of),
            repeat: m.cell.repeat,
            phase: &m.phase,
            pass: m.pass,
            operation: &m.operation,
            engine: m.engine,
            threads: told(m.threads, measured),
            valid: m.valid(),
            operations: told(m.operations, measured),
            errors: &m.errors,
            bytes: told(m.bytes, measured),
            seconds: m.seconds,
            sync_seconds: m.sync_seconds,
            operations_per_second: told(m.operations_per_second(), measured),
            cpu_user_seconds: m.cpu_user_seconds,
            cpu_system_seconds: m.cpu_system_seconds,
            latency_ns: Some(&m.latency).filter(|l| measured || l.max > 0),
            latency_intervals_ns: latency_intervals(m),
            cache: &m.cache,
            device_read_bytes: m.device_read_bytes,
            device_write_bytes: m.device_write_bytes,
            windows: &m.windows,
            operations_asked: told(m.operations_asked, measured),
            invalid: &m.invalid,
            rate_error: m.rate_error,
            entries_expected: told(m.entries_expected, measured),
            entries_found: told(m.entries_found, measured),
            space_bytes: m.space_bytes,
            inodes: m.inodes,
            idle: m.idle,
            device_reads: m.device_reads,
            device_writes: m.device_writes,
            device_flushes: m.device_flushes,
            device_discard_bytes: m.device_discard_bytes,
            worker_spread: m.worker_spread,
            slices_ns: &m.slices_ns,
            disturbance: m.disturbance.as_ref(),
            histogram: to_text(&m.histogram),
        }
    }
}

/// 95% intervals of the quantiles of one measurement, as far as they are known.
fn latency_intervals(m: &Measurement) -> BTreeMap<&'static str, [u64; 2]> {
    let known = |quantile: Quantile| Some((quantile.key(), own_interval(quantile, m)?));
    Quantile::ALL.into_iter().filter_map(known).collect()
}

impl Serialize for WireFinding<'_> {
    /// The figures stand beside the sentence; none of them can take its place.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Finding { kind, sentence, figures } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("sentence", sentence)?;
        for (name, value) in figures.iter().filter(|(n, _)| *n != "kind" && *n != "sentence") {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn in_order<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}
