//! Makes the charts of a run once as plain data: every renderer draws the same points, with the same
//! colours, marks and units. One file here for each family of charts.

mod colours;
mod growth;
mod latencies;
mod layout;
mod levels;
mod model;
mod ranking;
mod rates;
mod runs;
mod scale;

use boatload_analysis::Analysis;
pub(crate) use boatload_analysis::readings::{ChartFamily, Picture};
use runs::{ChartKeys, ChartRuns};

pub(crate) use colours::{COLOURS, Colour, colour};
pub(crate) use layout::{SeriesSlot, aside};
pub(crate) use model::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesLook,
};
pub(crate) use scale::{AxisSpan, Tick};

/// All charts of these runs, in the order in which a reader wants them, with the one that shows the answer before all
/// others. With several runs they stand side by side.
pub(crate) fn charts(analyses: &[&Analysis<'_>]) -> Vec<Chart> {
    let runs = ChartRuns::new(analyses);
    let families: [fn(&ChartRuns<'_>) -> Vec<Chart>; 5] =
        [ranking::rankings, rates::rates, levels::levels, growth::growths, latencies::percentiles];
    let mut all: Vec<Chart> = families.into_iter().flat_map(|family| family(&runs)).collect();
    let mut keys = ChartKeys::default();
    for chart in &mut all {
        chart.key = keys.unused(&chart.shows);
    }
    let wanted = analyses.first().and_then(|analysis| analysis.picture());
    if let Some(at) = wanted.and_then(|wanted| all.iter().position(|one| wanted.is_in(&one.shows)))
    {
        all[..=at].rotate_right(1);
    }
    all
}

#[cfg(test)]
mod tests;
