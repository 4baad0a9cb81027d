//! Draws p50, p99, p99.9 and the longest latency of each phase, and all percentiles as a curve.

use super::runs::{
    ChartKeys, ChartRuns, ChartVariant, MissingValues, about_disturbed, about_last_level,
    about_missing, notes, seconds,
};
use super::{AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesLook};
use crate::analysis::latencies::{Distribution, distributions_where};
use crate::analysis::summary::PhaseSummary;
use crate::analysis::tails::{LatencySummary, Quantile};
use crate::base::failure::shown;

/// Of fewer operations there are no percentiles to speak of.
const OPERATIONS_MIN: u64 = 100;

struct TailColumn<'a> {
    name: String,
    variant: &'a ChartVariant<'a>,
    row: &'a PhaseSummary,
    tail: LatencySummary,
}

/// A chart for each phase with its variants beside each other; of a single variant one with its
/// phases.
pub(super) fn tails(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let phases = runs.phases();
    if let [only] = runs.variants.as_slice() {
        let columns = phases.iter().filter_map(|phase| column(only, phase, shown(phase)));
        let missing = phases.iter().flat_map(|phase| {
            runs.missing(phase).map(move |missing| MissingValues { what: shown(phase), ..missing })
        });
        let missing = about_missing(missing);
        return tail_chart(runs, keys, None, &columns.collect::<Vec<_>>(), missing)
            .into_iter()
            .collect();
    }
    let of_phase = |phase: &&str| {
        let variants = runs.variants.iter();
        let columns = variants.filter_map(|one| column(one, phase, one.name.clone()));
        let missing = about_missing(runs.missing(phase));
        tail_chart(runs, keys, Some(phase), &columns.collect::<Vec<_>>(), missing)
    };
    phases.iter().filter_map(of_phase).collect()
}

fn column<'a>(variant: &'a ChartVariant<'a>, phase: &str, name: String) -> Option<TailColumn<'a>> {
    let row = variant.last_row(phase)?;
    Some(TailColumn { name, variant, row, tail: row.tail? })
}

/// The chart of a phase, or of all phases, with a series for each percentile of each variant.
fn tail_chart(
    runs: &ChartRuns<'_>,
    keys: &mut ChartKeys,
    phase: Option<&str>,
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
            let colour = column.variant.colour;
            match series.iter_mut().find(|one| one.colour == colour && one.what == what) {
                Some(one) => one.points.push(point),
                None => series.push(column.variant.series(SeriesLook::Markers, what, vec![point])),
            }
        }
    }
    let name = phase.map(shown);
    let of = name.as_deref().unwrap_or("each phase");
    let title = name.as_ref().map(|name| format!("{name}: latency percentiles"));
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let x = ChartAxis::named(if phase.is_some() { "variant" } else { "phase" }, names);
    let key = keys.unused("latency", phase.unwrap_or_default());
    let title = title.unwrap_or_else(|| "Latency percentiles".into());
    let about = "Lower is faster. From below: p50, p99, p99.9 and the longest of all.";
    let others = [about_last_level(&runs.last_levels()), missing, about_disturbed(&series)];
    Chart {
        question: format!("How long do operations of {of} take, and how long the slowest?"),
        notes: notes(about, others),
        series,
        ..Chart::new(key, title, x, ChartAxis::latency(AxisScale::Logarithmic))
    }
    .checked()
}

/// One chart for each phase whose latencies were kept.
pub(super) fn percentiles(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let of_run = runs.analyses.iter().map(|analysis| {
        let summary = analysis.summary();
        let last = summary.levels().last().copied();
        distributions_where(analysis.book, summary, |group, _| group.level.as_ref() == last)
    });
    let all: Vec<Vec<Distribution>> = of_run.collect();
    runs.phases().iter().filter_map(|phase| percentile_chart(runs, phase, &all, keys)).collect()
}

fn percentile_chart(
    runs: &ChartRuns<'_>,
    phase: &str,
    all: &[Vec<Distribution>],
    keys: &mut ChartKeys,
) -> Option<Chart> {
    let mut series = Vec::new();
    for (run, distributions) in all.iter().enumerate() {
        let own = |one: &&Distribution| one.phase == phase && one.operations >= OPERATIONS_MIN;
        series.extend(distributions.iter().filter(own).filter_map(|one| curve(runs, run, one)));
    }
    let others = [
        about_last_level(&runs.last_levels()),
        about_missing(runs.missing(phase)),
        about_disturbed(&series),
    ];
    let name = shown(phase);
    let x = ChartAxis::new("percentile", AxisQuantity::OneIn, AxisScale::Logarithmic);
    let y = ChartAxis::latency(AxisScale::Logarithmic);
    Chart {
        question: format!("How much longer than most do the slowest operations of {name} take?"),
        notes: notes("Lower is faster. A curve ends at the longest latency of all.", others),
        series,
        ..Chart::new(keys.unused("percentiles", phase), format!("{name}: all percentiles"), x, y)
    }
    .checked()
}

fn curve(runs: &ChartRuns<'_>, run: usize, one: &Distribution) -> Option<ChartSeries> {
    let variant = runs.variant(run, &one.variant)?;
    let disturbed = variant.last_row(&one.phase).is_some_and(|row| row.disturbed > 0);
    let points = one.curve().into_iter().map(|(one_in, ns)| ChartPoint {
        n: one.operations,
        disturbed,
        ..ChartPoint::at(one_in, seconds(ns as f64))
    });
    Some(variant.series(SeriesLook::Curve, "percentile", points.collect()))
}
