//! Draws the order of the variants: how many times as long each takes as the fastest.

use super::runs::{ChartRuns, notes};
use super::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartFamily, ChartPoint, ChartSeries, Picture,
    SeriesLook,
};
use boatload_analysis::readings::table::about_levels;
use boatload_analysis::statement::begun;
use boatload_analysis::variant_order::RankedVariants;
use boatload_base::failure::shown;

/// Of a single run without an axis: the first of its orders.
pub(super) fn rankings(runs: &ChartRuns<'_>) -> Vec<Chart> {
    let [analysis] = runs.analyses.as_slice() else { return Vec::new() };
    let order = analysis.ranked().iter().find(|order| order.level.is_none());
    order.and_then(|order| chart(runs, order)).into_iter().collect()
}

fn chart(runs: &ChartRuns<'_>, order: &RankedVariants) -> Option<Chart> {
    let first = ChartPoint { figures: Some(1), ..ChartPoint::at(0.0, 1.0) };
    let others = order.others.iter().enumerate().map(|(at, other)| ChartPoint {
        interval: other.headline.interval.map(|one| [one.low, one.high]),
        figures: Some(3),
        ..ChartPoint::at(at as f64 + 1.0, other.headline.ratio)
    });
    let points = [first].into_iter().chain(others).collect();
    let what = order.phase.as_deref().map_or("the whole job".into(), shown);
    let (name, what_is) = ("time against the fastest".to_string(), "ratio".to_string());
    let series = ChartSeries { name, colour: 0, look: SeriesLook::Bars, what: what_is, points };
    let names = std::iter::once(&order.first).chain(order.others.iter().map(|other| &other.name));
    let names = names.map(|variant| runs.name(0, variant)).collect();
    let how = about_levels(order.others.iter().map(|other| other.headline));
    let how = how.map(|level| format!("{}.", begun(&level)));
    let about = "1 is the fastest. Lower is faster.";
    Chart {
        notes: notes(about, [how]),
        series: vec![series],
        ..Chart::new(
            Picture { family: ChartFamily::Ranking, phase: order.phase.clone() },
            format!("Times as long as the fastest: {what}"),
            ChartAxis::named("variant", names),
            ChartAxis::new("times as long", AxisQuantity::Times, AxisScale::Linear),
        )
    }
    .checked()
}
