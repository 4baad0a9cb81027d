//! Writes the run document: the book as versioned JSON, with what follows from each measurement. What is not
//! known is null.

mod read;

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ReportFormat;
use boatload_analysis::Analysis;
use boatload_analysis::finding::FindingDocument;
use boatload_analysis::limit::Limit;
use boatload_host::facts::HostFacts;
use boatload_results::book::{Condition, Level, MadeFileSystem, Measurement, RunFacts};

pub use read::{DOCUMENT_BYTES_MAX, read_document};

/// What its `format` is.
const FORMAT: &str = "boatload-run";

/// The version of the document: it changes when a key is removed or means something else.
const VERSION: u32 = 1;

/// A measurement as it stands in the document, where null is what is not known.
pub(super) fn measurement_value(m: &Measurement, host: &HostFacts) -> Value {
    // What stands in the document is plain data.
    serde_json::to_value(DocumentMeasurement::new(m, host.cpus)).unwrap_or_default()
}

/// The schema of [`measurement_value`].
pub(super) fn measurement_schema() -> Value {
    schemars::schema_for!(DocumentMeasurement<'_>).to_value()
}

/// One JSON object on one line.
pub(super) const JSON: ReportFormat = ReportFormat { name: "json", render: write_document };

fn write_document(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &RunDocument::of(analysis))?;
    writeln!(out)
}

/// A run document: `boatload run --json`, `boatload export --format json`.
#[derive(Serialize, JsonSchema)]
struct RunDocument<'a> {
    /// `boatload-run`.
    format: &'static str,
    /// 1.
    version: u32,
    /// What was run.
    run: &'a RunFacts,
    /// Where.
    host: &'a HostFacts,
    /// Names of the variants, in the job's order.
    variants: &'a [String],
    /// Names of the phases, in the job's order.
    phases: &'a [String],
    /// Levels of the axis, in the job's order; empty without an axis.
    levels: &'a [Level],
    /// One for each phase of each cell, in the order they were measured.
    measurements: Vec<DocumentMeasurement<'a>>,
    /// What boatload concludes. It follows from the rest, and is ignored when a document is read.
    findings: Vec<FindingDocument<'a>>,
    /// What the place was like when cells began.
    conditions: &'a [Condition],
    /// File systems that were made for it.
    filesystems: &'a [MadeFileSystem],
}

/// A measurement with what follows from it.
#[derive(Serialize, JsonSchema)]
struct DocumentMeasurement<'a> {
    #[serde(flatten)]
    measurement: &'a Measurement,
    /// Whether it did all that was requested, and may be averaged in.
    valid: bool,
    /// Successful operations per second, with the sync; null where its time is not known.
    operations_per_second: Option<f64>,
    /// The same without the sync.
    operations_per_second_before_sync: Option<f64>,
    /// What limited it; null where that is not known.
    limit: Option<Limit>,
}

impl<'a> RunDocument<'a> {
    fn of(analysis: &'a Analysis<'_>) -> Self {
        let book = analysis.book;
        let measurements = book.measurements.iter();
        Self {
            format: FORMAT,
            version: VERSION,
            run: &book.run,
            host: &book.host,
            variants: &book.variants,
            phases: &book.phases,
            levels: &book.levels,
            measurements: measurements
                .map(|m| DocumentMeasurement::new(m, book.host.cpus))
                .collect(),
            findings: analysis.findings().iter().map(FindingDocument::from).collect(),
            conditions: &book.conditions,
            filesystems: &book.filesystems,
        }
    }
}

impl<'a> DocumentMeasurement<'a> {
    fn new(measurement: &'a Measurement, cpus: u32) -> Self {
        let known = |rate| measurement.seconds.map(|_| rate);
        Self {
            measurement,
            valid: measurement.valid(),
            limit: Limit::of_measurements(&[measurement], cpus),
            operations_per_second: known(measurement.operations_per_second()),
            operations_per_second_before_sync: known(
                measurement.operations_per_second_before_sync(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::RunDocument;

    #[test]
    fn the_schema_of_the_run_document_is_the_one_that_is_published() {
        let path =
            Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/run.schema.json");
        let schema =
            serde_json::to_string_pretty(&schemars::schema_for!(RunDocument)).unwrap() + "\n";
        if std::env::var_os("BOATLOAD_BLESS").is_some() {
            std::fs::write(&path, &schema).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(schema == kept, "docs/run.schema.json differs; BOATLOAD_BLESS=1 writes it anew");
    }
}
