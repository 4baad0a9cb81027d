//! Draws how long the unmounts of file systems took (`settle`), which is a time and no rate.

use super::levels::{level_axis, level_position};
use super::runs::{ChartKeys, ChartRow, ChartRuns, ChartVariant, about_disturbed, notes};
use super::{AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesLook};
use crate::base::distinct::each_once;
use crate::base::units::Unit;
use crate::results::book::{Level, Measurement, SETTLE};

/// An axis of levels.
#[derive(Clone, Copy, PartialEq)]
struct SettleAxis<'a> {
    name: &'a str,
    unit: Unit,
}

/// One chart without levels and one for each axis, as far as file systems were unmounted there.
pub(super) fn settles(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let all = runs.variants.iter().flat_map(|variant| &variant.settled);
    let axes = each_once(all.map(|one| SettleAxis::of(one.level)));
    axes.into_iter().filter_map(|axis| chart(runs, axis, keys)).collect()
}

impl<'a> SettleAxis<'a> {
    fn of(level: Option<&'a Level>) -> Option<Self> {
        level.map(|level| Self { name: &level.axis, unit: level.unit })
    }
}

fn chart(
    runs: &ChartRuns<'_>,
    axis: Option<SettleAxis<'_>>,
    keys: &mut ChartKeys,
) -> Option<Chart> {
    let series: Vec<ChartSeries> =
        runs.variants.iter().flat_map(|variant| settle_series(variant, axis)).collect();
    let levels = series.iter().flat_map(|one| &one.points).map(|point| point.x);
    let x = match axis {
        Some(axis) => level_axis(axis.name, axis.unit, levels),
        None => ChartAxis::named("phase", vec![SETTLE.into()]),
    };
    let about = "The time of all unmounts of a cell. Lower is faster.";
    Chart {
        question:
            "How long did it take to unmount the file systems, with all that they still wrote?"
                .into(),
        notes: notes(about, [about_disturbed(&series)]),
        series,
        ..Chart::new(
            keys.unused(SETTLE, ""),
            "Seconds to unmount".into(),
            x,
            ChartAxis::new("seconds", AxisQuantity::Seconds, AxisScale::Linear),
        )
    }
    .checked()
}

/// The means of a variant, and the single values behind them where there are several.
fn settle_series(variant: &ChartVariant<'_>, axis: Option<SettleAxis<'_>>) -> [ChartSeries; 2] {
    let place =
        |level: Option<&Level>| level.map_or(0.0, |level| level_position(level.unit, level.value));
    let (mut means, mut raw) = (Vec::new(), Vec::new());
    for ChartRow { level, row } in
        variant.settled.iter().filter(|one| SettleAxis::of(one.level) == axis)
    {
        let Some(seconds) = row.seconds else { continue };
        let here =
            |m: &&&Measurement| m.is_settle() && m.valid() && m.cell.level.as_ref() == *level;
        let values: Vec<f64> =
            variant.measurements.iter().filter(here).filter_map(|m| m.seconds).collect();
        let (n, disturbed) = (values.len() as u64, row.disturbed > 0);
        means.push(ChartPoint { n, disturbed, ..ChartPoint::at(place(*level), seconds) });
        if values.len() > 1 {
            raw.extend(values.into_iter().map(|value| ChartPoint::at(place(*level), value)));
        }
    }
    means.sort_by(|a, b| a.x.total_cmp(&b.x));
    let look = if axis.is_some() { SeriesLook::Line } else { SeriesLook::Bars };
    [variant.series(look, "mean", means), variant.series(SeriesLook::Raw, "repeat", raw)]
}
