//! The run document: the same keys in the same order for every run, versioned. Keys that a
//! reader may rely on come first in each object; a number that is none is written as null.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Report;
use crate::host::facts::HostFacts;
use crate::measure::book::*;

/// The version of the document: it changes when a key is removed or means something else.
const VERSION: u32 = 1;

/// One JSON object on one line.
pub(super) struct Json;

impl Report for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn render(&self, book: &ResultBook, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &WireDocument::of(book))?;
        writeln!(out)
    }
}

#[derive(Serialize)]
struct WireDocument<'a> {
    format: &'static str,
    version: u32,
    run: WireRun<'a>,
    host: &'a HostFacts,
    measurements: Vec<WireMeasurement<'a>>,
    findings: Vec<WireFinding<'a>>,
    conditions: Vec<WireCondition<'a>>,
}

#[derive(Serialize)]
struct WireRun<'a> {
    id: &'a str,
    scenario: &'a str,
    scale: &'a str,
    seed: u64,
    started: &'a str,
    finished: Option<&'a str>,
    command: &'a str,
    boatload: &'a str,
    complete: bool,
    question: &'a str,
    #[serde(serialize_with = "in_order")]
    parameters: &'a [(String, String)],
    job: &'a str,
    harness_ns: f64,
    clock: &'a str,
    repeats: u32,
}

#[derive(Serialize)]
struct WireLevel<'a> {
    axis: &'a str,
    value: f64,
    unit: &'static str,
}

#[derive(Serialize)]
struct WireMeasurement<'a> {
    variant: &'a str,
    level: Option<WireLevel<'a>>,
    repeat: u32,
    phase: &'a str,
    pass: u32,
    operation: &'a str,
    engine: &'a str,
    threads: u32,
    valid: bool,
    operations: u64,
    errors: &'a BTreeMap<String, u64>,
    bytes: u64,
    seconds: f64,
    sync_seconds: f64,
    operations_per_second: f64,
    cpu_user_seconds: f64,
    cpu_system_seconds: f64,
    latency_ns: &'a Latency,
    cache: &'a CacheReport,
    device_read_bytes: Option<u64>,
    device_write_bytes: Option<u64>,
    windows: &'a [Window],
    operations_asked: u64,
    invalid: &'a [String],
    rate_error: Option<f64>,
    entries_expected: u64,
    entries_found: u64,
}

#[derive(Serialize)]
struct WireCondition<'a> {
    variant: &'a str,
    level: Option<WireLevel<'a>>,
    repeat: u32,
    name: &'a str,
    value: f64,
    unit: &'static str,
}

struct WireFinding<'a>(&'a Finding);

impl<'a> WireDocument<'a> {
    fn of(book: &'a ResultBook) -> Self {
        Self {
            format: "boatload-run",
            version: VERSION,
            run: WireRun::of(&book.run),
            host: &book.host,
            measurements: book.measurements.iter().map(WireMeasurement::of).collect(),
            findings: book.findings.iter().map(WireFinding).collect(),
            conditions: book.conditions.iter().map(WireCondition::of).collect(),
        }
    }
}

impl<'a> WireRun<'a> {
    fn of(run: &'a RunFacts) -> Self {
        Self {
            id: &run.id,
            scenario: &run.scenario,
            scale: &run.scale,
            seed: run.seed,
            started: &run.started,
            finished: run.finished.as_deref(),
            command: &run.command,
            boatload: &run.boatload,
            complete: run.complete,
            question: &run.question,
            parameters: &run.parameters,
            job: &run.job,
            harness_ns: run.harness_ns,
            clock: &run.clock,
            repeats: run.repeats,
        }
    }
}

impl<'a> WireLevel<'a> {
    fn of(level: &'a Level) -> Self {
        Self { axis: &level.axis, value: level.value, unit: level.unit.word() }
    }
}

impl<'a> WireCondition<'a> {
    fn of(condition: &'a Condition) -> Self {
        Self {
            variant: &condition.cell.variant,
            level: condition.cell.level.as_ref().map(WireLevel::of),
            repeat: condition.cell.repeat,
            name: &condition.name,
            value: condition.value,
            unit: condition.unit.word(),
        }
    }
}

impl<'a> WireMeasurement<'a> {
    fn of(m: &'a Measurement) -> Self {
        Self {
            variant: &m.cell.variant,
            level: m.cell.level.as_ref().map(WireLevel::of),
            repeat: m.cell.repeat,
            phase: &m.phase,
            pass: m.pass,
            operation: &m.operation,
            engine: &m.engine,
            threads: m.threads,
            valid: m.valid(),
            operations: m.operations,
            errors: &m.errors,
            bytes: m.bytes,
            seconds: m.seconds,
            sync_seconds: m.sync_seconds,
            operations_per_second: m.operations_per_second(),
            cpu_user_seconds: m.cpu_user_seconds,
            cpu_system_seconds: m.cpu_system_seconds,
            latency_ns: &m.latency,
            cache: &m.cache,
            device_read_bytes: m.device_read_bytes,
            device_write_bytes: m.device_write_bytes,
            windows: &m.windows,
            operations_asked: m.operations_asked,
            invalid: &m.invalid,
            rate_error: m.rate_error,
            entries_expected: m.entries_expected,
            entries_found: m.entries_found,
        }
    }
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
