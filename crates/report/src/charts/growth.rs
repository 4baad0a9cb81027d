//! Draws how latency grows while a phase runs: what was measured, and the fitted law, on axes from zero.

use super::runs::{ChartRuns, about_disturbed, about_last_level, notes, seconds};
use super::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartFamily, ChartPoint, ChartSeries, Picture,
    SeriesLook,
};
use boatload_analysis::Analysis;
use boatload_analysis::effect_finding::EffectFinding;
use boatload_analysis::findings::growth::{GrowthBlock, GrowthCourse};
use boatload_base::distinct::each_once;
use boatload_base::failure::shown;
use boatload_results::book::Level;

/// One chart for each phase with a known growth, at its last level.
pub(super) fn growths(runs: &ChartRuns<'_>) -> Vec<Chart> {
    let grown = runs.analyses.iter().flat_map(|analysis| growths_of(analysis));
    let phases = each_once(grown.filter_map(|one| one.0.phase.as_deref()));
    phases.into_iter().filter_map(|phase| chart(runs, phase)).collect()
}

fn growths_of<'a>(
    analysis: &'a Analysis<'_>,
) -> impl Iterator<Item = (&'a EffectFinding, &'a GrowthCourse)> {
    analysis.effects().filter_map(|effect| Some((effect, effect.course.as_ref()?)))
}

fn chart(runs: &ChartRuns<'_>, phase: &str) -> Option<Chart> {
    let (mut series, mut levels): (Vec<ChartSeries>, Vec<&Level>) = (Vec::new(), Vec::new());
    let mut counted = Vec::new();
    for variant in &runs.variants {
        let own = growths_of(variant.analysis).filter(|(effect, _)| {
            let of = (effect.phase.as_deref(), effect.to.variant.as_deref());
            of == (Some(phase), Some(variant.variant))
        });
        let height = |effect: &EffectFinding| effect.to.level.as_ref().map_or(0.0, |one| one.value);
        let Some((effect, course)) = own.max_by(|a, b| height(a.0).total_cmp(&height(b.0))) else {
            continue;
        };
        let disturbed = variant.last_row(phase).is_some_and(|row| row.disturbed > 0);
        let point = |operations: f64, ns: f64| ChartPoint {
            n: effect.repeats as u64,
            disturbed,
            ..ChartPoint::at(operations, seconds(ns))
        };
        let seen = |block: &GrowthBlock| point(block.operations, block.seen_ns);
        let fitted = |block: &GrowthBlock| Some(point(block.operations, block.fitted_ns?));
        let name = course.law.map(|law| format!("{} law", law.as_str())).unwrap_or_default();
        series.push(variant.series(
            SeriesLook::Markers,
            "mean",
            course.blocks.iter().map(seen).collect(),
        ));
        series.push(variant.series(
            SeriesLook::Law,
            name,
            course.blocks.iter().filter_map(fitted).collect(),
        ));
        levels.extend(&effect.to.level);
        counted.push(course.counted.as_str());
    }
    let name = shown(phase);
    let x = ChartAxis::new(*counted.first()?, AxisQuantity::Count, AxisScale::Linear);
    let title = format!("{name}: mean latency by number of {}", x.label);
    let about = "Each marker is the mean of a part of the phase; its start-up is left out. Lower is faster.";
    let others = [about_last_level(&each_once(levels.into_iter())), about_disturbed(&series)];
    Chart {
        notes: notes(about, others),
        series,
        from_zero: true,
        ..Chart::new(
            Picture::of_phase(ChartFamily::Growth, phase),
            title,
            x,
            ChartAxis::latency(AxisScale::Linear),
        )
    }
    .checked()
}
