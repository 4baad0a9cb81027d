//! The comparison document: a run against another, for programs. docs/COMPARE.md tells its fields.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::compare::sentences;
use crate::measure::book::{Book, Level};
use crate::measure::compare::{Alone, ComparedRow, Comparison, Figure, LatencyPair, Subject};
use crate::measure::differences::{Difference, differences};
use crate::measure::tails::LatencySummary;
use crate::measure::uncertainty::Estimate;

/// Rises when a field changes its meaning or goes.
const VERSION: u32 = 1;

/// Writes the document on one line. Fails only if `out` does.
pub fn write_comparison_json(
    books: [&Book; 2],
    comparison: &Comparison,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [a, b] = books.map(run);
    let document = WireComparison {
        format: "boatload-compare",
        version: VERSION,
        a,
        b,
        sentences: sentences(comparison),
        expected_by_chance: comparison.by_chance(),
        other_runs: comparison.others,
        rows: comparison.rows.iter().map(row).collect(),
        alone: comparison.alone.iter().map(alone).collect(),
        differences: differences(&books).iter().map(difference).collect(),
    };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

#[derive(Serialize)]
struct WireComparison {
    format: &'static str,
    version: u32,
    a: Value,
    b: Value,
    sentences: Vec<String>,
    expected_by_chance: f64,
    other_runs: usize,
    rows: Vec<Value>,
    alone: Vec<Value>,
    differences: Vec<Value>,
}

pub(super) fn run(book: &Book) -> Value {
    let run = &book.run;
    let own = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    json!({
        "id": run.id, "scenario": run.scenario, "scale": run.scale, "complete": run.complete,
        "started": own(&run.started), "boatload": own(&run.boatload),
        "published": run.reference.is_some(),
    })
}

fn row(row: &ComparedRow) -> Value {
    let [a, b] = row.sides.each_ref().map(estimate);
    let work = row.work.map(|[a, b]| {
        [a, b].map(|w| json!({ "operations": w.operations, "bytes_each": w.bytes_each }))
    });
    let mut value = json!({
        "figure": figure(row.figure),
        "with_sync": row.with_sync, "a": a, "b": b,
        "ratio": row.ratio, "interval": row.interval, "verdict": row.verdict.word(),
        "between_runs": row.between, "seen_from": row.seen_from, "work": work, "caches": row.caches,
        "latency_ns": row.tails.map(|tail| tail.map(latency)),
        "latency_ratios": row.latencies.iter().map(latency_ratio).collect::<Vec<_>>(),
        "disturbed": row.disturbed,
    });
    about(&mut value, &row.subject);
    value
}

/// The word of a figure.
pub(super) fn figure(figure: Figure) -> &'static str {
    match figure {
        Figure::Operations => "operations_per_second",
        Figure::Bytes => "bytes_per_second",
        Figure::Seconds => "seconds",
    }
}

pub(super) fn estimate(value: &Estimate) -> Value {
    json!({ "mean": value.mean, "half_width": value.half_width, "n": value.n })
}

fn latency(tail: LatencySummary) -> Value {
    json!({
        "p50": tail.p50_ns, "p50_interval": tail.p50_interval_ns,
        "p99": tail.p99_ns, "p99_interval": tail.p99_interval_ns,
        "p99_9": tail.p99_9_ns, "p99_9_interval": tail.p99_9_interval_ns,
        "max": tail.max_ns,
    })
}

fn latency_ratio(pair: &LatencyPair) -> Value {
    json!({
        "quantile": pair.quantile.key(), "ratio": pair.ratio, "interval": pair.interval,
        "verdict": pair.verdict.word(),
    })
}

fn alone(alone: &Alone) -> Value {
    let run = alone.side.map(|side| if side == 0 { "a" } else { "b" });
    let mut value = json!({ "run": run, "invalid": alone.invalid });
    about(&mut value, &alone.subject);
    value
}

/// Adds what a row is of.
pub(super) fn about(value: &mut Value, subject: &Subject) {
    let level = |level: &Level| json!({ "axis": level.axis, "value": level.value, "unit": level.unit.word() });
    value["variant"] = json!(subject.variant);
    value["level"] = json!(subject.level.as_ref().map(level));
    value["phase"] = json!(subject.phase);
}

fn difference(difference: &Difference) -> Value {
    let at = |at: usize| difference.values.get(at).cloned().flatten();
    json!({ "name": difference.name, "a": at(0), "b": at(1) })
}
