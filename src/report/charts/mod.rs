//! Makes the charts of a run once as plain data: every renderer draws the same points, with the same
//! colours, marks and units. One file here for each family of charts.

mod colours;
mod course;
mod heat;
mod history;
mod latencies;
mod layout;
mod levels;
mod model;
mod rates;
mod runs;
mod scale;
mod settle;

use crate::analysis::Analysis;
use runs::{ChartKeys, ChartRuns};

pub(crate) use colours::{COLOURS, Colour, HEAT, colour, heat};
pub(crate) use layout::{SeriesSlot, aside};
pub(crate) use model::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, HeatCell,
    SeriesLook,
};
pub(crate) use scale::{AxisSpan, Tick, shorten_ticks};

/// All charts of these runs, in the order in which a reader wants them. With several runs they stand
/// beside each other.
pub(crate) fn charts(analyses: &[&Analysis<'_>]) -> Vec<Chart> {
    let runs = ChartRuns::new(analyses);
    let mut keys = ChartKeys::default();
    type ChartFamily = fn(&ChartRuns<'_>, &mut ChartKeys) -> Vec<Chart>;
    let families: [ChartFamily; 9] = [
        rates::rates,
        levels::levels,
        settle::settles,
        history::histories,
        course::courses,
        latencies::tails,
        latencies::percentiles,
        heat::heats,
        rates::amplifications,
    ];
    families.into_iter().flat_map(|family| family(&runs, &mut keys)).collect()
}

#[cfg(test)]
mod tests;
