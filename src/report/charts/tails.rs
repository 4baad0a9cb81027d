//! The latencies that half, 99 in 100 and 999 in 1,000 operations stayed below, and the longest.

use super::notes::{
    MissingValues, about_disturbed, about_last_level, about_missing, notes, seconds,
};
use super::runs::{ChartKeys, ChartRuns, ChartVariant};
use super::{AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesLook};
use crate::analysis::summary::PhaseSummary;
use crate::analysis::tails::{LatencySummary, Quantile};
use crate::base::failure::shown;

/// A row with a tail.
struct TailColumn<'a> {
    variant: &'a ChartVariant<'a>,
    row: &'a PhaseSummary,
    tail: LatencySummary,
}

/// A chart for each phase with its variants beside each other; of a single variant one with its
/// phases.
pub(super) fn tails(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let phases = runs.phases();
    if let [only] = runs.variants.as_slice() {
        let columns: Vec<_> = phases.iter().filter_map(|phase| column(only, phase)).collect();
        let names = columns.iter().map(|column| shown(&column.row.phase)).collect();
        let missing = phases.iter().flat_map(|phase| {
            runs.missing(phase).map(move |missing| MissingValues { what: shown(phase), ..missing })
        });
        let chart = Chart {
            question: "How long do operations of each phase take, and how long the slowest?".into(),
            ..Chart::new(
                keys.unused("latency", ""),
                "Latency percentiles".into(),
                ChartAxis::named("phase", names),
                ChartAxis::latency(AxisScale::Logarithmic),
            )
        };
        return filled(chart, runs, &columns, about_missing(missing)).into_iter().collect();
    }
    let of_phase = |phase: &&str| {
        let columns = runs.variants.iter().filter_map(|variant| column(variant, phase));
        let columns: Vec<_> = columns.collect();
        let names = columns.iter().map(|column| column.variant.name.clone()).collect();
        let name = shown(phase);
        let chart = Chart {
            question: format!("How long do operations of {name} take, and how long the slowest?"),
            ..Chart::new(
                keys.unused("latency", phase),
                format!("{name}: latency percentiles"),
                ChartAxis::named("variant", names),
                ChartAxis::latency(AxisScale::Logarithmic),
            )
        };
        filled(chart, runs, &columns, about_missing(runs.missing(phase)))
    };
    phases.iter().filter_map(of_phase).collect()
}

fn column<'a>(variant: &'a ChartVariant<'a>, phase: &str) -> Option<TailColumn<'a>> {
    let row = variant.last_row(phase)?;
    Some(TailColumn { variant, row, tail: row.tail? })
}

/// The chart with a series for each percentile of each variant.
fn filled(
    chart: Chart,
    runs: &ChartRuns<'_>,
    columns: &[TailColumn<'_>],
    missing: Option<String>,
) -> Option<Chart> {
    // Of a phase of few operations only the longest is known, which its rate shows as well.
    columns.iter().find(|column| column.tail.p50_ns.is_some())?;
    let mut series: Vec<ChartSeries> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let row = column.row;
        let quantiles = Quantile::ALL.into_iter().map(|quantile| {
            let (ns, interval) = quantile.in_tail(&column.tail);
            (quantile.as_str(), ns, interval)
        });
        for (what, ns, interval) in quantiles.chain([("max", Some(column.tail.max_ns), None)]) {
            let Some(ns) = ns else { continue };
            let point = ChartPoint {
                interval: interval.map(|ends| ends.map(|end| seconds(end as f64))),
                n: row.rate.map_or(1, |rate| u64::from(rate.n)),
                disturbed: row.disturbed > 0,
                ..ChartPoint::at(at as f64, seconds(ns as f64))
            };
            let own =
                |one: &&mut ChartSeries| one.colour == column.variant.colour && one.what == what;
            match series.iter_mut().find(own) {
                Some(one) => one.points.push(point),
                None => series.push(column.variant.series(SeriesLook::Markers, what, vec![point])),
            }
        }
    }
    let about = "Less is faster. From below: p50, p99, p99.9 and the longest of all.";
    let others = [about_last_level(&runs.last_levels()), missing, about_disturbed(&series)];
    Chart { notes: notes(about, others), series, ..chart }.checked()
}
