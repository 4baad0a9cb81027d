//! Draws all percentiles of the latencies of each phase as a curve.

use super::runs::{ChartRuns, about_disturbed, about_invalid, about_last_level, notes, seconds};
use super::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartFamily, ChartPoint, ChartSeries, Picture,
    SeriesLook,
};
use boatload_analysis::latencies::Distribution;
use boatload_base::failure::shown;

/// Of fewer operations there are no percentiles to speak of.
const OPERATIONS_MIN: u64 = 100;

/// One chart for each phase whose latencies were kept.
pub(super) fn percentiles(runs: &ChartRuns<'_>) -> Vec<Chart> {
    runs.phases().iter().filter_map(|phase| percentile_chart(runs, phase)).collect()
}

fn percentile_chart(runs: &ChartRuns<'_>, phase: &str) -> Option<Chart> {
    let mut series = Vec::new();
    for (run, analysis) in runs.analyses.iter().enumerate() {
        let last = analysis.summary().levels().last().copied();
        let own = analysis.distributions().iter().filter(|one| {
            one.phase == phase && one.level.as_ref() == last && one.operations >= OPERATIONS_MIN
        });
        series.extend(own.filter_map(|one| curve(runs, run, one)));
    }
    let own = runs.rows().filter(|one| one.row.phase == phase);
    let invalid = about_invalid(own.map(|one| one.row));
    let others = [about_last_level(&runs.last_levels()), about_disturbed(&series), invalid];
    let name = shown(phase);
    let x = ChartAxis::new("percentile", AxisQuantity::OneIn, AxisScale::Logarithmic);
    let y = ChartAxis::latency(AxisScale::Logarithmic);
    Chart {
        notes: notes("Lower is faster. A curve ends at the longest latency of all.", others),
        series,
        ..Chart::new(
            Picture::of_phase(ChartFamily::Percentiles, phase),
            format!("{name}: all percentiles"),
            x,
            y,
        )
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
