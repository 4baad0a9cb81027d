//! Draws the rate of each rank: a strip for each phase.

use super::rates::rate_axis;
use super::runs::{ChartKeys, ChartRuns, ChartVariant, about_last_level, notes};
use super::{AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesLook};
use crate::analysis::ranks::RankRates;
use crate::base::failure::shown;
use crate::base::units::Unit;

/// One chart for each phase that ranks did together.
pub(super) fn ranks(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    runs.phases().into_iter().filter_map(|phase| chart(runs, phase, keys)).collect()
}

fn chart(runs: &ChartRuns<'_>, phase: &str, keys: &mut ChartKeys) -> Option<Chart> {
    let series: Vec<ChartSeries> =
        runs.variants.iter().flat_map(|variant| strip(variant, phase)).collect();
    if series.iter().all(|one| one.points.is_empty()) {
        return None;
    }
    let about = "Each rank over its own time, without the sync. A rank that stands apart from the others is slow.";
    let x = ChartAxis::new("rank", AxisQuantity::Count, AxisScale::Linear);
    Chart {
        question: "Did all ranks work at the same rate?".into(),
        notes: notes(about, [about_last_level(&runs.last_levels())]),
        series,
        from_zero: true,
        ..Chart::new(
            keys.unused("ranks", phase),
            format!("{} by rank", shown(phase)),
            x,
            rate_axis(Unit::Count, AxisScale::Linear),
        )
    }
    .checked()
}

/// Each measurement of a rank, and their mean.
fn strip(variant: &ChartVariant<'_>, phase: &str) -> [ChartSeries; 2] {
    let own = |one: &&RankRates| {
        one.variant == variant.variant
            && one.phase == phase
            && one.level.as_ref() == variant.last_level
    };
    let mut means = Vec::new();
    for rates in variant.analysis.rank_rates().iter().filter(own) {
        let known =
            rates.rates.iter().enumerate().filter_map(|(rank, rate)| Some((rank, (*rate)?)));
        means.extend(known.map(|(rank, rate)| ChartPoint {
            n: rates.measurements(),
            ..ChartPoint::at(rank as f64, rate)
        }));
    }
    let shares = variant
        .last_measurements(phase)
        .filter_map(|m| m.ranks.as_ref())
        .flat_map(|all| &all.ranks);
    let raw = shares.filter_map(|one| Some(ChartPoint::at(f64::from(one.rank), one.rate()?)));
    let raw = raw.collect();
    [
        variant.series(SeriesLook::Markers, "mean", means),
        variant.series(SeriesLook::Raw, "repeat", raw),
    ]
}
