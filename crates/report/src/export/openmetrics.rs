//! Writes the figures of a run as gauges, for the textfile collector of node_exporter and other readers
//! of OpenMetrics. That collector reads the older Prometheus text format, so only what both have is used:
//! no type but `gauge`, no timestamps. Unknown figures have no sample.

use std::collections::BTreeSet;

use super::format::{ExportFormat, ExportText, only};
use crate::names::plain_level;
use boatload_analysis::Analysis;
use boatload_analysis::summary::{PhaseSummary, VariantSummary};
use boatload_analysis::uncertainty::Estimate;
use boatload_base::dates::seconds_of;
use boatload_base::units::Unit;
use boatload_results::book::Book;

pub(super) const OPENMETRICS: ExportFormat = ExportFormat {
    name: "openmetrics",
    about: "gauges for a textfile collector of Prometheus",
    texts: gauges,
};

fn gauges(analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
    let mut text = run_gauges(analysis.book);
    let rows = phase_rows(analysis);
    for unit in [Unit::Count, Unit::Bytes] {
        text += &rate_gauges(&rows, unit);
    }
    for PhaseGauge { name, help, value } in &PHASE_GAUGES {
        let sample = |one: &PhaseGaugeRow<'_>| MetricSample::new(&one.labels(), value(one)?);
        text += &gauge(name, help, rows.iter().filter_map(sample));
    }
    text += "# EOF\n";
    Ok(only(analysis.book, "prom", text))
}

/// All samples of one name. Without a sample it is left out, and so is a second sample with the same
/// labels.
fn gauge(name: &str, help: &str, samples: impl IntoIterator<Item = MetricSample>) -> String {
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    for MetricSample { labels, value } in samples {
        if seen.is_empty() {
            text += &format!("# HELP {name} {help}\n# TYPE {name} gauge\n");
        }
        if seen.insert(labels.clone()) {
            // The shortest that reads back as the same number.
            text += &format!("{name}{labels} {}\n", serde_json::Value::from(value));
        }
    }
    text
}

type Labels = Vec<(&'static str, String)>;

struct MetricSample {
    labels: String,
    value: f64,
}

impl MetricSample {
    /// None for what is no number.
    fn new(labels: &[(&str, String)], value: f64) -> Option<Self> {
        let escaped =
            |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let pairs = labels.iter().filter(|(_, value)| !value.is_empty());
        let pairs = pairs.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
        let labels = format!("{{{}}}", pairs.collect::<Vec<_>>().join(","));
        value.is_finite().then_some(Self { labels, value })
    }
}

fn run_gauges(book: &Book) -> String {
    let run = &book.run;
    let scenario = || ("scenario", run.scenario.clone());
    let facts = vec![
        scenario(),
        ("run", run.id.clone()),
        ("scale", run.scale.to_string()),
        ("version", run.boatload.clone()),
        ("kernel", book.host.kernel.clone()),
    ];
    let began = seconds_of(&run.started);
    let began = began.and_then(|began| MetricSample::new(&[scenario()], began));
    let complete = MetricSample::new(&[scenario()], f64::from(u8::from(run.complete)));
    [
        gauge(
            "boatload_run_info",
            "The run that the figures are of; always 1.",
            MetricSample::new(&facts, 1.0),
        ),
        gauge("boatload_run_start_time_seconds", "When the run began, since 1970.", began),
        gauge("boatload_run_complete", "1 if every cell of the run was done, 0 if not.", complete),
    ]
    .concat()
}

struct PhaseGaugeRow<'a> {
    book: &'a Book,
    group: &'a VariantSummary,
    row: &'a PhaseSummary,
}

fn phase_rows<'a>(analysis: &'a Analysis<'_>) -> Vec<PhaseGaugeRow<'a>> {
    let book = analysis.book;
    let groups = analysis.summary().groups.iter();
    let row = |group| move |row| PhaseGaugeRow { book, group, row };
    groups.flat_map(|group| group.rows.iter().map(row(group))).collect()
}

impl PhaseGaugeRow<'_> {
    fn labels(&self) -> Labels {
        let (group, level) = (self.group, self.group.level.as_ref());
        vec![
            ("scenario", self.book.run.scenario.clone()),
            ("filesystem", self.book.filesystem_of(&group.variant).unwrap_or_default().into()),
            ("variant", group.variant.clone()),
            ("axis", level.map(|level| level.axis.clone()).unwrap_or_default()),
            ("level", level.map(plain_level).unwrap_or_default()),
            ("phase", self.row.phase.clone()),
        ]
    }
}

/// The rate of the phases that have it in this unit, and the ends of its interval.
fn rate_gauges(rows: &[PhaseGaugeRow<'_>], unit: Unit) -> String {
    let (noun, unit_name) = match unit {
        Unit::Bytes => ("Bytes", "bytes_per_second"),
        _ => ("Operations", "operations_per_second"),
    };
    let samples = |value: fn(&Estimate) -> Option<f64>| {
        let has_rate = |row: &PhaseSummary| row.rate_unit == unit && !row.is_settle();
        let of_unit = rows.iter().filter(|one| has_rate(one.row));
        let sample = |one: &PhaseGaugeRow<'_>| {
            MetricSample::new(&one.labels(), value(one.row.rate.as_ref()?)?)
        };
        of_unit.filter_map(sample).collect::<Vec<_>>()
    };
    let help = format!("{noun} each second, the sync included, mean over the repeats.");
    // A rate is not below zero, however wide its interval is.
    let lower = samples(|rate| Some(rate.interval?.low.max(0.0)));
    let upper = samples(|rate| Some(rate.interval?.high.max(0.0)));
    let name = |part| format!("boatload_rate_{part}{unit_name}");
    gauge(&name(""), &help, samples(|rate| Some(rate.mean)))
        + &gauge(&name("lower_"), "Lower end of the 95% interval of the rate.", lower)
        + &gauge(&name("upper_"), "Upper end of the 95% interval of the rate.", upper)
}

struct PhaseGauge {
    name: &'static str,
    help: &'static str,
    value: fn(&PhaseGaugeRow<'_>) -> Option<f64>,
}

/// In the order they are written in.
const PHASE_GAUGES: [PhaseGauge; 6] = [
    PhaseGauge {
        name: "boatload_phase_seconds",
        help: "Duration of a phase without its sync, mean.",
        value: |one| one.row.seconds,
    },
    PhaseGauge {
        name: "boatload_sync_seconds",
        help: "Duration of the sync after it, mean.",
        value: |one| one.row.sync_seconds,
    },
    PhaseGauge {
        name: "boatload_latency_median_seconds",
        help: "Half of the operations are shorter.",
        value: |one| seconds(one.row.tail?.p50_ns),
    },
    PhaseGauge {
        name: "boatload_latency_p99_seconds",
        help: "99 in 100 operations are shorter.",
        value: |one| seconds(one.row.tail?.p99_ns),
    },
    PhaseGauge {
        name: "boatload_latency_max_seconds",
        help: "The longest operation.",
        value: |one| seconds(Some(one.row.tail?.max_ns)),
    },
    PhaseGauge {
        name: "boatload_invalid_measurements",
        help: "Measurements that did not do all they were asked.",
        value: |one| one.book.run.reference.is_none().then_some(one.row.invalid.len() as f64),
    },
];

fn seconds(ns: Option<u64>) -> Option<f64> {
    Some(ns? as f64 / 1e9)
}
