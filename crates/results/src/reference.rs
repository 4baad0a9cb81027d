//! Reads published figures, compiled in, as runs. The data are in `reference/`; what was not published
//! stays absent.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::book::*;
use super::operation::MeasuredOperation;
use boatload_base::problem::nearest;
use boatload_base::units::Unit;
use boatload_host::facts::HostFacts;
use boatload_plan::{CacheAsked, Scale};
use boatload_run::cache::CacheState;

/// What stands before the name of a reference where a run is named.
pub const PREFIX: &str = "reference:";

const SOURCES: &str = include_str!("../reference/provenance.toml");

/// The figures, by the name of their file.
const TABLES: [(&str, &str); 5] = [
    ("chunks.csv", include_str!("../reference/chunks.csv")),
    ("clutter.csv", include_str!("../reference/clutter.csv")),
    ("directory.csv", include_str!("../reference/directory.csv")),
    ("sequential.csv", include_str!("../reference/sequential.csv")),
    ("smallfiles.csv", include_str!("../reference/smallfiles.csv")),
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSources {
    scenario: BTreeMap<String, WireScenario>,
    write_up: BTreeMap<String, WireWriteUp>,
    reference: Vec<WireReference>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireScenario {
    question: String,
    data: String,
    axis: Option<String>,
    #[serde(default)]
    unit: Unit,
    cache: CacheAsked,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireWriteUp {
    title: String,
    publisher: String,
    published: String,
    url: Option<String>,
    /// The file of its figures, where that is not its scenario's.
    data: Option<String>,
    notes: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WireReference {
    name: String,
    scenario: String,
    write_up: String,
    system: Option<String>,
    kernel: String,
    cpu: String,
    cpus: u32,
    memory_bytes: u64,
    disk: Option<String>,
    filesystem: String,
    threads: u32,
    repeated: String,
    notes: Vec<String>,
}

/// All published figures, by name.
pub fn references() -> Vec<Book> {
    let sources = sources();
    sources.reference.iter().filter_map(|reference| book(&sources, reference)).collect()
}

/// The published figures with this name, which stands without [`PREFIX`].
pub fn find_reference(name: &str) -> Option<Book> {
    let sources = sources();
    let reference = sources.reference.iter().find(|reference| reference.name == name)?;
    book(&sources, reference)
}

/// The name nearest to `name`, if one is near enough to be what was meant.
pub fn nearest_reference(name: &str) -> Option<String> {
    let sources = sources();
    let names = sources.reference.iter().map(|reference| reference.name.as_str());
    nearest(name, names).map(str::to_string)
}

/// A test reads what is compiled in, so that it is never empty.
fn sources() -> WireSources {
    toml::from_str(SOURCES).unwrap_or_default()
}

fn book(sources: &WireSources, wire: &WireReference) -> Option<Book> {
    let scenario = sources.scenario.get(&wire.scenario)?;
    let write_up = sources.write_up.get(&wire.write_up)?;
    let data = write_up.data.as_ref().unwrap_or(&scenario.data);
    let (_, table) = TABLES.iter().find(|(file, _)| file == data)?;
    let measurements = measurements(table, scenario, wire);
    let repeats = measurements.iter().map(|m| m.cell.repeat).max()?;
    let run = RunFacts {
        id: format!("{PREFIX}{}", wire.name),
        scenario: wire.scenario.clone(),
        question: scenario.question.clone(),
        scale: Scale::Original,
        complete: true,
        repeats,
        stopping: Stopping::Fixed { fixed: repeats },
        reference: Some(provenance(write_up, wire)),
        ..RunFacts::default()
    };
    Some(Book { run, host: host(wire), measurements, ..Book::default() }.ordered_as_measured())
}

fn provenance(write_up: &WireWriteUp, wire: &WireReference) -> Provenance {
    Provenance {
        name: wire.name.clone(),
        title: write_up.title.clone(),
        publisher: write_up.publisher.clone(),
        published: write_up.published.clone(),
        url: write_up.url.clone(),
        system: wire.system.clone(),
        disk: wire.disk.clone(),
        repeated: wire.repeated.clone(),
        notes: wire.notes.iter().chain(&write_up.notes).cloned().collect(),
    }
}

fn host(wire: &WireReference) -> HostFacts {
    let mut host = HostFacts {
        kernel: wire.kernel.clone(),
        cpu: wire.cpu.clone(),
        cpus: wire.cpus,
        memory_bytes: wire.memory_bytes,
        ..HostFacts::default()
    };
    host.filesystem.kind = wire.filesystem.clone();
    host
}

/// One line of a table, by the names of its columns.
struct PublishedRow<'a>(Vec<(&'a str, &'a str)>);

impl<'a> PublishedRow<'a> {
    fn text(&self, column: &str) -> Option<&'a str> {
        let cell = self.0.iter().find(|(name, _)| *name == column).map(|(_, cell)| *cell);
        cell.filter(|cell| !cell.is_empty())
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.parse().ok()
    }

    fn whole(&self, column: &str) -> Option<u64> {
        self.number(column).map(|number| number as u64)
    }
}

/// A table's lines: plain CSV without a comma in any cell.
fn lines(table: &str) -> impl Iterator<Item = PublishedRow<'_>> {
    let mut all = table.lines();
    let heads: Vec<&str> = all.next().unwrap_or_default().split(',').collect();
    all.map(move |line| PublishedRow(heads.iter().copied().zip(line.split(',')).collect()))
}

/// One for each phase of each cell; lines that differ only in their operation are the
/// windows of one.
fn measurements(
    table: &str,
    scenario: &WireScenario,
    reference: &WireReference,
) -> Vec<Measurement> {
    let mut all: Vec<Measurement> = Vec::new();
    let of_this = |line: &PublishedRow| line.text("reference") == Some(&reference.name);
    for line in lines(table).filter(of_this) {
        let mut measurement = measurement(&line, scenario, reference.threads);
        let key = (&measurement.cell, &measurement.phase, measurement.pass);
        match all.last_mut().filter(|last| (&last.cell, &last.phase, last.pass) == key) {
            Some(last) => last.windows.append(&mut measurement.windows),
            None => all.push(measurement),
        }
    }
    all
}

fn measurement(line: &PublishedRow, scenario: &WireScenario, threads: u32) -> Measurement {
    let text = |column: &str, absent: &str| line.text(column).unwrap_or(absent).to_string();
    let level = scenario.axis.as_ref().map(|axis| Level {
        axis: axis.clone(),
        value: line.number("level").unwrap_or_default(),
        unit: scenario.unit,
    });
    let operations = line.whole("operations").unwrap_or_default();
    Measurement {
        cell: CellKey {
            variant: text("variant", "default"),
            level,
            repeat: line.whole("repeat").unwrap_or(1) as u32,
        },
        phase: text("phase", ""),
        pass: line.whole("pass").unwrap_or(1) as u32,
        operation: line.text("operation").and_then(MeasuredOperation::find),
        threads: Some(threads).filter(|threads| *threads > 0),
        operations,
        operations_asked: Some(operations),
        bytes: line.whole("bytes"),
        seconds: seconds(line),
        sync_seconds: line.number("sync_seconds"),
        cpu_user_seconds: line.number("cpu_user_seconds"),
        cpu_system_seconds: line.number("cpu_system_seconds"),
        cache: CacheReport {
            asked: scenario.cache,
            found: CacheState::Unverified,
            resident_fraction: None,
            reason: None,
        },
        windows: window(line).into_iter().collect(),
        ..Measurement::default()
    }
}

/// As published, or as they follow from the rate.
fn seconds(line: &PublishedRow) -> Option<f64> {
    let from_rate = || Some(line.number("operations")? / line.number("operations_per_second")?);
    line.number("seconds").or_else(from_rate)
}

/// The one operation of a line: all its figures are the same.
fn window(line: &PublishedRow) -> Option<Window> {
    let first = line.whole("operation_number")?.saturating_sub(1);
    let ns = line.number("latency_us")? * 1e3;
    let whole = ns as u64;
    Some(Window { first, operations: 1, mean_ns: ns, p50_ns: whole, p99_ns: whole, max_ns: whole })
}

#[cfg(test)]
mod tests;
