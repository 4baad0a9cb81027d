//! Draws the rate of each phase from run to run of a scenario.

use std::collections::BTreeMap;

use super::rates::{estimated, rate_axis};
use super::runs::{
    ChartKeys, ChartRuns, ChartVariant, about_disturbed, about_last_level, notes, points, scale_for,
};
use super::{AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesLook};
use crate::analysis::history::{DatedRate, PhaseHistory, phase_histories};
use crate::base::failure::shown;

/// One chart for each phase of a scenario's latest run that three or more runs measured at that run's
/// last level and in its unit. Published results are left out.
pub(super) fn histories(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let figures: Vec<_> = runs.analyses.iter().map(|one| one.figures()).collect();
    let all = phase_histories(&figures);
    let colours = colours(runs, &all);
    all.iter().filter_map(|history| chart(runs, history, &colours, keys)).collect()
}

fn variant<'a, 'b>(runs: &'b ChartRuns<'a>, dated: &DatedRate<'_>) -> Option<&'b ChartVariant<'a>> {
    runs.variant(dated.run, dated.variant)
}

/// The colour of each variant name, taken from the latest run that has it.
fn colours<'a>(runs: &'a ChartRuns<'_>, all: &[PhaseHistory<'_>]) -> BTreeMap<&'a str, usize> {
    let mut rates: Vec<&DatedRate<'_>> = all.iter().flat_map(|history| &history.rates).collect();
    rates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(a.run.cmp(&b.run)));
    let variants = rates.into_iter().filter_map(|dated| variant(runs, dated));
    variants.map(|variant| (variant.own.as_str(), variant.colour)).collect()
}

fn chart(
    runs: &ChartRuns<'_>,
    history: &PhaseHistory<'_>,
    colours: &BTreeMap<&str, usize>,
    keys: &mut ChartKeys,
) -> Option<Chart> {
    let latest = history.rates.last()?;
    let mut points_of: BTreeMap<&str, Vec<ChartPoint>> = BTreeMap::new();
    for dated in &history.rates {
        let Some((variant, rate)) = variant(runs, dated).zip(dated.row.rate) else { continue };
        let point = estimated(dated.seconds, rate, dated.row.disturbed > 0);
        points_of.entry(&variant.own).or_default().push(point);
    }
    let latest_run = runs.analyses.get(latest.run)?;
    let position_in_latest_run = |name: &str| {
        let mut variants = runs.variants.iter();
        let own =
            |one: &ChartVariant<'_>| std::ptr::eq(one.analysis, *latest_run) && one.own == name;
        variants.position(own).unwrap_or(usize::MAX)
    };
    let series = points_of.into_iter().map(|(name, points)| ChartSeries {
        name: name.to_string(),
        colour: colours.get(name).copied().unwrap_or_default(),
        look: SeriesLook::Line,
        what: "mean of a run".into(),
        points,
    });
    let mut series: Vec<ChartSeries> = series.collect();
    series.sort_by_key(|one| position_in_latest_run(&one.name));
    let y = rate_axis(latest.row.rate_unit, scale_for(points(&series).map(|point| point.y)));
    let differ =
        "The runs are not all of the same job on the same machine, file system and device.";
    let others = [
        about_last_level(&history.level.into_iter().collect::<Vec<_>>()),
        (!history.same_target).then(|| differ.into()),
        about_disturbed(&series),
    ];
    let (phase, scenario) = (shown(history.phase), shown(history.scenario));
    let x = ChartAxis::new("start of the run", AxisQuantity::Date, AxisScale::Linear);
    let key = keys.unused("history", history.phase);
    let about = "Each point is the mean of one variant in one run, with the sync at the end of a phase. \
                 Higher is faster.";
    Chart {
        question: format!("Did {phase} of {scenario} become faster or slower with time?"),
        notes: notes(about, others),
        series,
        ..Chart::new(key, format!("{phase} from run to run"), x, y)
    }
    .checked()
}
