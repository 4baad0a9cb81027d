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
use crate::analysis::readings::Picture;
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
    let families: [ChartFamily; 13] = [
        ranking::rankings,
        rates::rates,
        ranks::ranks,
        ranks::heats,
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

/// Which chart shows the answer of a run.
fn telling_chart(analysis: &Analysis<'_>, all: &[Chart]) -> Option<usize> {
    let Picture { family, phase } = analysis.picture()?;
    match phase {
        Some(phase) => {
            let key = ChartKeys::default().unused(family, &phase);
            all.iter().position(|chart| chart.key == key)
        }
        None => all.iter().position(|chart| chart.key.starts_with(family)),
    }
}

#[cfg(test)]
mod tests;
