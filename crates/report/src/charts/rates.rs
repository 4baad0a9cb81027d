//! Draws the rate of each phase by variant, for runs without an axis.

use std::collections::BTreeSet;

use super::runs::{ChartRow, ChartRuns, ChartVariant, about_disturbed, about_invalid, notes};
use super::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartFamily, ChartPoint, ChartSeries, Picture,
    SeriesLook,
};
use boatload_analysis::rate_values::rate_values;
use boatload_analysis::uncertainty::{Estimate, IntervalBasis};
use boatload_base::failure::shown;
use boatload_base::units::Unit;

pub(super) const ABOUT_RATES: &str = "With the sync at the end of a phase. Higher is faster.";

/// One chart for operations and one for bytes, as far as there are such phases.
pub(super) fn rates(runs: &ChartRuns<'_>) -> Vec<Chart> {
    [Unit::Count, Unit::Bytes].into_iter().filter_map(|unit| chart(runs, unit)).collect()
}

fn chart(runs: &ChartRuns<'_>, unit: Unit) -> Option<Chart> {
    let has = |one: &&ChartRow<'_>| one.level.is_none() && one.row.rate_unit == unit;
    let rated = runs.rows().filter(has).filter(|one| one.row.rate.is_some());
    let rated: BTreeSet<&str> = rated.map(|one| one.row.phase.as_str()).collect();
    let mut phases = runs.phases();
    phases.retain(|phase| rated.contains(phase));
    let place = |one: &ChartRow<'_>| phases.iter().position(|phase| *phase == one.row.phase);
    let series = runs.variants.iter().flat_map(|variant| {
        let rows = variant.rows.iter().filter(has);
        let placed = rows.filter_map(|one| Some(PlacedRate { one: *one, x: place(one)? as f64 }));
        rate_series(variant, SeriesLook::Bars, &placed.collect::<Vec<_>>())
    });
    let series: Vec<ChartSeries> = series.collect();
    let (family, title) = match unit {
        Unit::Bytes => (ChartFamily::Bytes, "Bytes per second"),
        _ => (ChartFamily::Rates, "Operations per second"),
    };
    let names = phases.iter().map(shown).collect();
    let (x, y) = (ChartAxis::named("phase", names), rate_axis(unit, AxisScale::Linear));
    let others =
        [about_disturbed(&series), about_invalid(runs.rows().filter(has).map(|one| one.row))];
    Chart {
        notes: notes(ABOUT_RATES, others),
        series,
        ..Chart::new(Picture::new(family), title.into(), x, y)
    }
    .checked()
}

pub(super) fn rate_axis(unit: Unit, scale: AxisScale) -> ChartAxis {
    match unit {
        Unit::Bytes => ChartAxis::new("bytes per second", AxisQuantity::ByteRate, scale),
        _ => ChartAxis::new("operations per second", AxisQuantity::Operations, scale),
    }
}

pub(super) struct PlacedRate<'a> {
    pub(super) one: ChartRow<'a>,
    pub(super) x: f64,
}

/// The means of a variant's rows, and the single values behind them where there are several.
pub(super) fn rate_series(
    variant: &ChartVariant<'_>,
    look: SeriesLook,
    rows: &[PlacedRate<'_>],
) -> [ChartSeries; 2] {
    let (mut means, mut raw, mut of_passes) = (Vec::new(), Vec::new(), true);
    for PlacedRate { one: ChartRow { level, row }, x } in rows {
        if let Some(rate) = row.rate {
            means.push(estimated(*x, rate, row.disturbed > 0));
            of_passes &= matches!(rate.basis, IntervalBasis::Passes | IntervalBasis::Slices);
        }
        let values = rate_values(variant.analysis, variant.variant, *level, row);
        raw.extend(values.into_iter().map(|value| ChartPoint {
            n: value.n,
            disturbed: value.disturbed,
            ..ChartPoint::at(*x, value.rate)
        }));
    }
    let what = if of_passes { "pass" } else { "repeat" };
    [variant.series(look, "mean", means), variant.series(SeriesLook::Raw, what, raw)]
}

fn estimated(x: f64, estimate: Estimate, disturbed: bool) -> ChartPoint {
    let extremes = estimate.range_of_values();
    let interval = estimate.interval.filter(|_| extremes.is_none());
    ChartPoint {
        interval: interval.map(|interval| [interval.low.max(0.0), interval.high]),
        extremes,
        figures: Some(estimate.figures),
        n: u64::from(estimate.n),
        disturbed,
        ..ChartPoint::at(x, estimate.mean)
    }
}
