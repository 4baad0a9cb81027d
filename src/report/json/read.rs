//! Reads a run document back. It comes from outside: what is read is written again and held against
//! what was given, so that nothing is taken for something else or lost unseen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{FORMAT, VERSION, WireDocument};
use crate::base::failure::shown;
use crate::base::units::Unit;
use crate::host::facts::HostFacts;
use crate::measure::book::*;
use crate::measure::histogram::from_text;

/// A larger document is not read.
pub const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

/// A run from a document.
#[derive(Debug)]
pub struct ReadDocument {
    /// The run.
    pub book: Book,
    /// Keys that this boatload does not know, and so leaves out.
    pub unknown: Vec<String>,
}

/// Most values of a document; one that is as large as may be and all windows has about as many.
const VALUES_MAX: usize = 16 << 20;

/// Most bytes that the histograms of a document may have together.
const HISTOGRAM_BYTES_MAX: usize = 256 << 20;

/// Reads a run document.
///
/// # Errors
/// A sentence on what is wrong with it, for which "it" is the document.
pub fn read_document(bytes: &[u8]) -> Result<ReadDocument, String> {
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err("it is larger than 256 MiB, the most that a run document may have".into());
    }
    // A value of a few bytes takes hundreds in memory.
    if bytes.iter().filter(|byte| matches!(byte, b'{' | b'[' | b',')).count() > VALUES_MAX {
        return Err("it has more values than a run document may have".into());
    }
    let mut given: Value = serde_json::from_slice(bytes).map_err(|error| about_json(&error))?;
    check_head(&given)?;
    let wire: ReadRoot = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is no whole run document: {}", shown(error.to_string())))?;
    let book = wire.into_book()?;
    check_run(&book.run)?;
    let measurements = given.get_mut("measurements").map(Value::take);
    let mut held = Held::default();
    held.hold_document(&given, measurements, &book);
    match held.different.first() {
        Some(path) => Err(format!(
            "its {path} is not what boatload writes for the rest of it; was it changed by hand?"
        )),
        None => Ok(ReadDocument { book, unknown: held.unknown.into_iter().collect() }),
    }
}

fn about_json(error: &serde_json::Error) -> String {
    let what = shown(error.to_string());
    if what.starts_with("trailing characters") {
        return "it goes on behind the first document; import documents one by one".into();
    }
    format!("it is no JSON document: {what}")
}

fn check_head(given: &Value) -> Result<(), String> {
    let format = given.get("format").and_then(Value::as_str);
    if format != Some(FORMAT) {
        let found = format.map_or("it has no \"format\"".into(), |format| {
            format!("its \"format\" is \"{}\", not \"{FORMAT}\"", shown(format))
        });
        return Err(format!(
            "{found}; what `boatload export RUN --format json` writes can be imported"
        ));
    }
    match given.get("version").and_then(Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => {
            return Err(format!(
                "it has version {version} of the run document; this boatload reads version {VERSION}"
            ));
        }
        None => return Err("it has no \"version\"".into()),
    }
    if given.pointer("/run/reference").is_some_and(|reference| !reference.is_null()) {
        return Err("it holds published figures, which every boatload has: see `boatload runs \
                    --references`"
            .into());
    }
    // Of the run itself only the seed may be larger; the store keeps it as text.
    let mut kept = ["host", "measurements", "filesystems"].iter().filter_map(|key| given.get(key));
    kept.try_for_each(check_numbers)
}

/// The store keeps whole numbers in 63 bits.
fn check_numbers(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(all) => all.iter().try_for_each(check_numbers),
        Value::Object(all) => all.values().try_for_each(check_numbers),
        Value::Number(number) if number.as_u64().is_some_and(|n| n > i64::MAX as u64) => {
            Err(format!("its number {number} does not fit the store's 63 bits"))
        }
        _ => Ok(()),
    }
}

fn check_run(run: &RunFacts) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if run.id.len() != 8 || !run.id.chars().all(plain) {
        return Err(format!(
            "its run.id \"{}\" is not eight small letters and digits",
            shown(&run.id)
        ));
    }
    for (key, time) in [("started", Some(&run.started)), ("finished", run.finished.as_ref())] {
        if let Some(time) = time.filter(|time| humantime::parse_rfc3339(time).is_err()) {
            return Err(format!("its run.{key} \"{}\" is no time of day in UTC", shown(time)));
        }
    }
    Ok(())
}

/// What follows from the rest by rules that another boatload may have had others for.
const DERIVED: [&str; 1] = ["measurements[].latency_intervals_ns"];

/// What of a document came back.
#[derive(Default)]
struct Held {
    unknown: BTreeSet<String>,
    different: Vec<String>,
}

impl Held {
    /// Measurements stand apart from the rest, and are held one by one: each of their windows takes
    /// hundreds of bytes here.
    fn hold_document(&mut self, rest: &Value, measurements: Option<Value>, book: &Book) {
        let mut wire = WireDocument::of(book);
        let own = std::mem::take(&mut wire.measurements);
        let mut own_rest = serde_json::to_value(wire).unwrap_or_default();
        own_rest.as_object_mut().map(|all| all.insert("measurements".into(), Value::Null));
        self.hold(rest, &own_rest, "");
        let Some(Value::Array(given)) = measurements else { return };
        for (given, own) in given.into_iter().zip(own) {
            let own = serde_json::to_value(own).unwrap_or_default();
            self.hold(&given, &own, "measurements[]");
        }
    }

    fn hold(&mut self, given: &Value, own: &Value, path: &str) {
        if !self.different.is_empty() || DERIVED.contains(&path) {
            return;
        }
        match (given, own) {
            // The same counts may be compressed in several ways.
            (Value::String(a), Value::String(b))
                if path == "measurements[].histogram" && from_text(a) == from_text(b) => {}
            (Value::Object(given), Value::Object(own)) => {
                for (key, value) in given {
                    let below =
                        if path.is_empty() { shown(key) } else { format!("{path}.{}", shown(key)) };
                    match own.get(key) {
                        Some(own) => self.hold(value, own, &below),
                        None => {
                            self.unknown.insert(below);
                        }
                    }
                }
            }
            (Value::Array(given), Value::Array(own)) if given.len() == own.len() => {
                let below = format!("{path}[]");
                given.iter().zip(own).for_each(|(given, own)| self.hold(given, own, &below));
            }
            (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {
                // Beyond 2^53 two whole numbers may be the same in floating point.
                let whole = a.as_u64().zip(b.as_u64()).is_some_and(|(a, b)| a != b);
                self.different.extend(whole.then(|| path.to_string()));
            }
            (given, own) if given == own => {}
            _ => self.different.push(path.into()),
        }
    }
}

#[derive(Deserialize)]
struct ReadRoot {
    run: ReadRun,
    host: HostFacts,
    measurements: Vec<ReadMeasurement>,
    findings: Vec<Map<String, Value>>,
    conditions: Vec<ReadCondition>,
    #[serde(default)]
    filesystems: Vec<MadeFileSystem>,
}

#[derive(Deserialize)]
struct ReadRun {
    id: String,
    scenario: String,
    scale: Scale,
    seed: u64,
    started: String,
    finished: Option<String>,
    command: String,
    boatload: String,
    complete: bool,
    question: String,
    #[serde(deserialize_with = "in_order")]
    parameters: Vec<(String, String)>,
    job: String,
    #[serde(deserialize_with = "number")]
    harness_ns: f64,
    clock: Option<ClockSource>,
    repeats: u32,
    precision: Option<f64>,
    time_limit_seconds: Option<f64>,
}

#[derive(Deserialize)]
struct ReadLevel {
    axis: String,
    #[serde(deserialize_with = "number")]
    value: f64,
    unit: Unit,
}

/// Keys that came later are none in documents of before.
#[derive(Deserialize)]
struct ReadMeasurement {
    variant: String,
    level: Option<ReadLevel>,
    repeat: u32,
    phase: String,
    pass: u32,
    operation: String,
    engine: Option<EngineName>,
    threads: u32,
    operations: u64,
    errors: BTreeMap<String, u64>,
    bytes: u64,
    #[serde(deserialize_with = "number")]
    seconds: f64,
    #[serde(deserialize_with = "number")]
    sync_seconds: f64,
    #[serde(deserialize_with = "number")]
    cpu_user_seconds: f64,
    #[serde(deserialize_with = "number")]
    cpu_system_seconds: f64,
    latency_ns: ReadLatency,
    cache: CacheReport,
    device_read_bytes: Option<u64>,
    device_write_bytes: Option<u64>,
    windows: Vec<Window>,
    operations_asked: u64,
    invalid: Vec<String>,
    rate_error: Option<f64>,
    entries_expected: u64,
    entries_found: u64,
    space_bytes: Option<i64>,
    inodes: Option<i64>,
    idle: Option<bool>,
    device_reads: Option<u64>,
    device_writes: Option<u64>,
    device_flushes: Option<u64>,
    device_discard_bytes: Option<u64>,
    worker_spread: Option<f64>,
    #[serde(default)]
    slices_ns: Vec<f64>,
    disturbance: Option<Disturbance>,
    histogram: Option<String>,
}

#[derive(Deserialize)]
struct ReadLatency {
    #[serde(deserialize_with = "number")]
    mean: f64,
    min: u64,
    p50: u64,
    p90: u64,
    p99: u64,
    p99_9: u64,
    max: u64,
}

#[derive(Deserialize)]
struct ReadCondition {
    variant: String,
    level: Option<ReadLevel>,
    repeat: u32,
    name: ConditionName,
    #[serde(deserialize_with = "number")]
    value: f64,
    unit: Unit,
}

impl ReadRoot {
    fn into_book(self) -> Result<Book, String> {
        let measurements = self.measurements.into_iter().enumerate();
        let mut room = HISTOGRAM_BYTES_MAX;
        let measurements = measurements.map(|(at, m)| {
            let unread = || format!("the histogram of its measurements[{at}] cannot be read");
            let m = m.into_measurement().ok_or_else(unread)?;
            let left = room.checked_sub(m.histogram.len());
            room = left.ok_or("its histograms are larger than 256 MiB together")?;
            Ok::<_, String>(m)
        });
        let finding = |map| read_finding(map).ok_or("one of its findings has no sentence or kind");
        Ok(Book {
            run: self.run.into_run(),
            host: self.host,
            filesystems: self.filesystems,
            measurements: measurements.collect::<Result<_, _>>()?,
            conditions: self.conditions.into_iter().map(ReadCondition::into_condition).collect(),
            findings: self.findings.into_iter().map(finding).collect::<Result<_, _>>()?,
        })
    }
}

impl ReadRun {
    fn into_run(self) -> RunFacts {
        RunFacts {
            id: self.id,
            scenario: self.scenario,
            question: self.question,
            scale: self.scale,
            seed: self.seed,
            started: self.started,
            finished: self.finished,
            command: self.command,
            boatload: self.boatload,
            complete: self.complete,
            parameters: self.parameters,
            job: self.job,
            harness_ns: self.harness_ns,
            clock: self.clock,
            repeats: self.repeats,
            reference: None,
            precision: self.precision,
            time_limit_seconds: self.time_limit_seconds,
        }
    }
}

fn cell(variant: String, level: Option<ReadLevel>, repeat: u32) -> CellKey {
    let level = level.map(|ReadLevel { axis, value, unit }| Level { axis, value, unit });
    CellKey { variant, level, repeat }
}

impl ReadMeasurement {
    /// None if its histogram is none.
    fn into_measurement(self) -> Option<Measurement> {
        let ReadLatency { mean, min, p50, p90, p99, p99_9, max } = self.latency_ns;
        let histogram = self.histogram.as_deref().map(from_text);
        Some(Measurement {
            cell: cell(self.variant, self.level, self.repeat),
            phase: self.phase,
            pass: self.pass,
            operation: self.operation,
            engine: self.engine,
            threads: self.threads,
            invalid: self.invalid,
            operations: self.operations,
            operations_asked: self.operations_asked,
            errors: self.errors,
            bytes: self.bytes,
            seconds: self.seconds,
            sync_seconds: self.sync_seconds,
            rate_error: self.rate_error,
            cpu_user_seconds: self.cpu_user_seconds,
            cpu_system_seconds: self.cpu_system_seconds,
            latency: Latency { mean, min, p50, p90, p99, p99_9, max },
            cache: self.cache,
            device_read_bytes: self.device_read_bytes,
            device_write_bytes: self.device_write_bytes,
            device_reads: self.device_reads,
            device_writes: self.device_writes,
            device_flushes: self.device_flushes,
            device_discard_bytes: self.device_discard_bytes,
            space_bytes: self.space_bytes,
            inodes: self.inodes,
            idle: self.idle,
            worker_spread: self.worker_spread,
            slices_ns: self.slices_ns,
            disturbance: self.disturbance,
            entries_expected: self.entries_expected,
            entries_found: self.entries_found,
            windows: self.windows,
            histogram: histogram.map_or(Some(Vec::new()), |read| read)?,
        })
    }
}

impl ReadCondition {
    fn into_condition(self) -> Condition {
        Condition {
            cell: cell(self.variant, self.level, self.repeat),
            name: self.name,
            value: self.value,
            unit: self.unit,
        }
    }
}

fn read_finding(mut figures: Map<String, Value>) -> Option<Finding> {
    let mut text = |key| figures.remove(key).and_then(|value| value.as_str().map(String::from));
    let (kind, sentence) = (text("kind")?, text("sentence")?);
    Some(Finding { kind, sentence, figures })
}

/// A number that is none was written as null.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// An object's pairs in the order they stand in.
fn in_order<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
    struct Pairs;

    impl<'de> Visitor<'de> for Pairs {
        type Value = Vec<(String, String)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object of texts")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }

    from.deserialize_map(Pairs)
}

#[cfg(test)]
mod tests;
