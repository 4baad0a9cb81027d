//! Makes the charts of a run once as plain data: every renderer draws the same points, with the same
//! colours, marks and units. One file here for each family of charts.

mod colours;
mod course;
mod growth;
mod heat;
mod history;
mod latencies;
mod layout;
mod levels;
mod model;
mod ranking;
mod ranks;
mod rates;
mod runs;
mod scale;
mod settle;

use crate::analysis::Analysis;
use crate::analysis::effect::{EffectFinding, Reading};
use crate::base::failure::shown;
use crate::plan::Conclusion;
use runs::{ChartKeys, ChartRuns};

pub(crate) use colours::{COLOURS, Colour, HEAT, colour, heat};
pub(crate) use layout::{SeriesSlot, aside};
pub(crate) use model::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, HeatCell,
    SeriesLook,
};
pub(crate) use scale::{AxisSpan, Tick, shorten_ticks};

/// All charts of these runs, in the order in which a reader wants them, with the one that shows the answer before all
/// others. With several runs they stand beside each other.
pub(crate) fn charts(analyses: &[&Analysis<'_>]) -> Vec<Chart> {
    let runs = ChartRuns::new(analyses);
    let mut keys = ChartKeys::default();
    type ChartFamily = fn(&ChartRuns<'_>, &mut ChartKeys) -> Vec<Chart>;
    let families: [ChartFamily; 12] = [
        ranking::rankings,
        rates::rates,
        ranks::ranks,
        levels::levels,
        settle::settles,
        history::histories,
        growth::growths,
        course::courses,
        latencies::tails,
        latencies::percentiles,
        heat::heats,
        rates::amplifications,
    ];
    let mut all: Vec<Chart> =
        families.into_iter().flat_map(|family| family(&runs, &mut keys)).collect();
    let telling = analyses.first().and_then(|analysis| telling_chart(analysis, &all));
    if let Some(at) = telling {
        all[..=at].rotate_right(1);
    }
    all
}

/// Which chart shows what the answer of a run is made of.
fn telling_chart(analysis: &Analysis<'_>, all: &[Chart]) -> Option<usize> {
    let kind = analysis.book.run.conclude.first()?;
    let family = match kind {
        Conclusion::Growth => Some("growth"),
        Conclusion::Source => Some("bytes"),
        _ => None,
    };
    if let Some(family) = family {
        return all.iter().position(|chart| chart.key.starts_with(family));
    }
    let over_levels = analysis.effects().filter(|one| one.reading == Reading::Levels);
    let size = |one: &&EffectFinding| one.ratio.ln().abs();
    let most = over_levels
        .filter(|one| one.phase.is_some() && one.stated.decision.is_difference())
        .max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let title = format!("{} by ", shown(most.phase.as_deref()?));
    all.iter().position(|chart| chart.key.starts_with("levels") && chart.title.starts_with(&title))
}

#[cfg(test)]
mod tests;
