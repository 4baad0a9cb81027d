//! The figures of a run as gauges, for the textfile collector of node_exporter and whatever else
//! reads OpenMetrics. That collector reads the older Prometheus text format, so only what both have
//! is used: no type but `gauge`, no timestamps. What is not known has no sample.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use super::labels::plain_level;
use super::{Export, ExportText, only};
use crate::base::units::Unit;
use crate::measure::analysis::Analysis;
use crate::measure::book::Book;
use crate::measure::summary::{PhaseSummary, VariantSummary};
use crate::measure::uncertainty::Estimate;
use crate::run::cache::CacheState;

pub(super) struct OpenMetrics;

impl Export for OpenMetrics {
    fn name(&self) -> &'static str {
        "openmetrics"
    }

    fn about(&self) -> &'static str {
        "gauges for a textfile collector of Prometheus"
    }

    fn texts(&self, analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String> {
        let mut text = String::new();
        for family in of_run(analysis.book).iter().chain(&of_rows(analysis)) {
            family.write(&mut text);
        }
        text.push_str("# EOF\n");
        Ok(only(analysis.book, "prom", text))
    }
}

/// All samples of one name.
struct Family {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    samples: Vec<(Labels, f64)>,
}

type Labels = Vec<(&'static str, String)>;

impl Family {
    fn new((name, unit, help): About) -> Self {
        Self { name, unit, help, samples: Vec::new() }
    }

    /// A family without a sample is left out, and so is a second sample of the same series.
    fn write(&self, text: &mut String) {
        let known: Vec<_> = self.samples.iter().filter(|(_, value)| value.is_finite()).collect();
        if known.is_empty() {
            return;
        }
        let (name, unit, help) = (self.name, self.unit, self.help);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let mut seen = BTreeSet::new();
        for (labels, value) in known {
            let labels = written(labels);
            if seen.insert(labels.clone()) {
                let _ = writeln!(text, "{name}{labels} {}", number(*value));
            }
        }
    }
}

fn written(labels: &Labels) -> String {
    let pairs = labels.iter().filter(|(_, value)| !value.is_empty());
    let pairs = pairs.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The shortest that reads back as the same number.
fn number(value: f64) -> String {
    serde_json::Number::from_f64(value).map_or_else(|| "NaN".into(), |number| number.to_string())
}

fn of_run(book: &Book) -> Vec<Family> {
    let run = &book.run;
    let of = |family: About, more: Labels, value: f64| {
        let labels = [vec![("scenario", run.scenario.clone())], more].concat();
        Family { samples: vec![(labels, value)], ..Family::new(family) }
    };
    let facts = vec![
        ("run", run.id.clone()),
        ("scale", run.scale.to_string()),
        ("version", run.boatload.clone()),
        ("kernel", book.host.kernel.clone()),
    ];
    vec![
        of(("boatload_run_info", "", "The run that the figures are of; always 1."), facts, 1.0),
        of(
            ("boatload_run_start_time_seconds", "seconds", "When the run began, since 1970."),
            vec![],
            seconds_since_1970(&run.started).unwrap_or(f64::NAN),
        ),
        of(
            ("boatload_run_complete", "", "1 if every cell of the run was done, 0 if not."),
            vec![],
            f64::from(u8::from(run.complete)),
        ),
    ]
}

fn seconds_since_1970(time: &str) -> Option<f64> {
    let at = |text| humantime::parse_rfc3339(text).ok();
    let since = at(time)?.duration_since(at("1970-01-01T00:00:00Z")?).ok();
    since.as_ref().map(Duration::as_secs_f64)
}

/// Families of figures that each row has, in the order they are written in.
fn of_rows(analysis: &Analysis<'_>) -> Vec<Family> {
    let (book, summary) = (analysis.book, analysis.summary());
    let rows: Vec<_> = summary
        .groups
        .iter()
        .flat_map(|group| group.rows.iter().map(move |r| (group, r)))
        .collect();
    let labelled = |(group, row): &(&VariantSummary, &PhaseSummary)| labels(book, group, row);
    let family = |of: About, value: &dyn Fn(&PhaseSummary) -> Option<f64>| {
        let known = rows.iter().filter_map(|one| Some((labelled(one), value(one.1)?)));
        Family { samples: known.collect(), ..Family::new(of) }
    };
    let mut all = Vec::new();
    for (at, unit) in [Unit::Count, Unit::Bytes].into_iter().enumerate() {
        let rate = |row: &PhaseSummary| row.rate.filter(|_| row.rate_unit == unit);
        let [mean, lower, upper] = RATES[at];
        all.push(family(mean, &|row| Some(rate(row)?.mean)));
        all.push(family(lower, &|row| bound(&rate(row)?, -1.0)));
        all.push(family(upper, &|row| bound(&rate(row)?, 1.0)));
    }
    let nanoseconds = |ns: Option<u64>| Some(ns? as f64 / 1e9);
    all.push(family(PHASE, &|row| row.seconds));
    all.push(family(SYNC, &|row| row.sync_seconds));
    all.push(family(MEDIAN, &|row| nanoseconds(row.tail?.p50_ns)));
    all.push(family(P99, &|row| nanoseconds(row.tail?.p99_ns)));
    all.push(family(MAX, &|row| nanoseconds(Some(row.tail?.max_ns))));
    all.push(family(VALUES, &|row| Some(f64::from(row.rate?.n))));
    // Nobody looked at these of published figures.
    let own = book.run.reference.is_none();
    all.push(family(INVALID, &|row| Some(row.invalid.len() as f64).filter(|_| own)));
    let watched = book.measurements.iter().any(|m| m.disturbance.is_some());
    all.push(family(DISTURBED, &|row| Some(row.disturbed as f64).filter(|_| watched)));
    let mut caches = Family::new(CACHE);
    for one in &rows {
        caches.samples.extend(cache_states(&labelled(one), one.1));
    }
    all.push(caches);
    all
}

/// A figure's name, unit and help.
type About = (&'static str, &'static str, &'static str);

const RATES: [[About; 3]; 2] = [
    [
        (
            "boatload_rate_operations_per_second",
            "operations_per_second",
            "Operations each second without the sync, mean over the repeats.",
        ),
        (
            "boatload_rate_lower_operations_per_second",
            "operations_per_second",
            "Lower end of the 95% interval of the rate.",
        ),
        (
            "boatload_rate_upper_operations_per_second",
            "operations_per_second",
            "Upper end of the 95% interval of the rate.",
        ),
    ],
    [
        (
            "boatload_rate_bytes_per_second",
            "bytes_per_second",
            "Bytes each second without the sync, mean over the repeats.",
        ),
        (
            "boatload_rate_lower_bytes_per_second",
            "bytes_per_second",
            "Lower end of the 95% interval of the rate.",
        ),
        (
            "boatload_rate_upper_bytes_per_second",
            "bytes_per_second",
            "Upper end of the 95% interval of the rate.",
        ),
    ],
];
const PHASE: About =
    ("boatload_phase_seconds", "seconds", "Duration of a phase without its sync, mean.");
const SYNC: About = ("boatload_sync_seconds", "seconds", "Duration of the sync after it, mean.");
const MEDIAN: About =
    ("boatload_latency_median_seconds", "seconds", "Half of the operations are shorter.");
const P99: About = ("boatload_latency_p99_seconds", "seconds", "99 in 100 operations are shorter.");
const MAX: About = ("boatload_latency_max_seconds", "seconds", "The longest operation.");
const VALUES: About = (
    "boatload_rate_values",
    "",
    "Repeats, or passes of a single one, that the rate is the mean of.",
);
const INVALID: About =
    ("boatload_invalid_measurements", "", "Measurements that did not do all they were asked.");
const DISTURBED: About =
    ("boatload_disturbed_measurements", "", "Valid measurements under background load.");
const CACHE: About =
    ("boatload_cache", "", "1 for the state in which the caches were found before the phase.");

/// The states that caches can be found in; `mixed` where measurements do not agree.
fn states() -> [&'static str; 4] {
    [
        CacheState::ColdVerified.word(),
        CacheState::Unverified.word(),
        CacheState::Warm.word(),
        "mixed",
    ]
}

fn labels(book: &Book, group: &VariantSummary, row: &PhaseSummary) -> Labels {
    let level = group.level.as_ref();
    vec![
        ("scenario", book.run.scenario.clone()),
        ("filesystem", book.filesystem_of(&group.variant).unwrap_or_default().into()),
        ("variant", group.variant.clone()),
        ("axis", level.map(|level| level.axis.clone()).unwrap_or_default()),
        ("level", level.map(plain_level).unwrap_or_default()),
        ("phase", row.phase.clone()),
    ]
}

fn bound(rate: &Estimate, side: f64) -> Option<f64> {
    // A rate is not below zero, however wide its interval is.
    rate.half_width.map(|half| (rate.mean + side * half).max(0.0))
}

/// One of all states is 1; none where nothing valid was measured.
fn cache_states(labels: &Labels, row: &PhaseSummary) -> Vec<(Labels, f64)> {
    if !states().contains(&row.cache.as_str()) {
        return Vec::new();
    }
    let state = |state: &str| {
        let labels = [labels.clone(), vec![("state", state.to_string())]].concat();
        (labels, f64::from(u8::from(row.cache == state)))
    };
    states().into_iter().map(state).collect()
}
