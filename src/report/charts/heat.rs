//! Draws the latency of each measurement from its beginning to its end, as a row of a heat map.

use super::runs::{
    ChartKeys, ChartRuns, ChartVariant, about_disturbed, about_last_level, notes, points,
    scale_for, seconds,
};
use super::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, HeatCell, SeriesLook,
};
use crate::analysis::course::{SlicedMeasurement, SlicedPhase, sliced, sliced_phases};
use crate::analysis::statistics::describe::median;
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::counted;
use crate::results::book::Level;

/// Rows that can be told apart.
const ROWS_MAX: usize = 40;

/// How many times the median the largest must be for a logarithmic scale.
const FAR: f64 = 5.0;

/// One chart for each phase that has slices.
pub(super) fn heats(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let phases = runs.analyses.iter().flat_map(|analysis| sliced_phases(analysis.book));
    each_once(phases).into_iter().filter_map(|phase| chart(runs, phase, keys)).collect()
}

struct HeatRow<'a> {
    variant: &'a ChartVariant<'a>,
    measurement: &'a SlicedMeasurement<'a>,
}

fn chart(runs: &ChartRuns<'_>, phase: &str, keys: &mut ChartKeys) -> Option<Chart> {
    let most = (ROWS_MAX / runs.analyses.len().max(1)).max(1);
    let all: Vec<SlicedPhase<'_>> =
        runs.analyses.iter().map(|analysis| sliced(analysis, phase, most)).collect();
    let mut rows = Vec::new();
    for (run, sliced) in all.iter().enumerate() {
        rows.extend(sliced.measurements.iter().filter_map(|measurement| {
            Some(HeatRow { variant: runs.variant(run, measurement.variant)?, measurement })
        }));
    }
    // From bottom to top: the first stands at the top.
    rows.reverse();
    let series = series(&rows);
    let cells = points(&series).filter_map(|point| point.cell);
    let shades: Vec<f64> = cells.map(|cell| cell.shade).collect();
    let others = all.iter().filter(|sliced| sliced.has_other_levels);
    let levels: Vec<&Level> = others.filter_map(|sliced| sliced.level).collect();
    let left_out: usize = all.iter().map(|sliced| sliced.left_out).sum();
    let left_out = (left_out > 0).then(|| {
        format!("{} more left out, of each variant the last ones.", counted(left_out as u64, "row"))
    });
    let others = [about_last_level(&levels), left_out, about_disturbed(&series)];
    let name = shown(phase);
    let x =
        ChartAxis::new("operations done of the phase", AxisQuantity::Percent, AxisScale::Linear);
    let y = ChartAxis::named("variant and repeat", rows.iter().map(HeatRow::name).collect());
    let (scale, label) = (shade_scale(&shades), "mean latency");
    let about = "Each cell is the mean latency of as many operations as the next one.";
    let title = format!("{name}: latency over its course");
    Chart {
        question: format!("When during {name} were operations slow?"),
        shade: Some(ChartAxis::new(label, AxisQuantity::Seconds, scale)),
        series,
        notes: notes(about, others),
        ..Chart::new(keys.unused("heat", phase), title, x, y)
    }
    .checked()
}

/// The scale on which a slow slice does not make all others look alike.
fn shade_scale(shades: &[f64]) -> AxisScale {
    let most = shades.iter().fold(0.0, |most: f64, shade| most.max(*shade));
    let is_positive = shades.iter().all(|shade| *shade > 0.0);
    if is_positive && most > FAR * median(shades) {
        return AxisScale::Logarithmic;
    }
    scale_for(shades.iter().copied())
}

/// A series for each variant, the first first.
fn series(rows: &[HeatRow<'_>]) -> Vec<ChartSeries> {
    let mut all: Vec<ChartSeries> = Vec::new();
    for (place, row) in rows.iter().enumerate().rev() {
        let cells = row.cells(place as f64);
        match all.iter_mut().find(|one| one.colour == row.variant.colour) {
            Some(one) => one.points.extend(cells),
            None => all.push(row.variant.series(SeriesLook::Cells, "slice", cells)),
        }
    }
    all
}

impl HeatRow<'_> {
    fn name(&self) -> String {
        let pass = self.measurement.pass.map_or(String::new(), |pass| format!(" pass {pass}"));
        format!("{} repeat {}{pass}", self.variant.name, self.measurement.repeat)
    }

    fn cells(&self, place: f64) -> Vec<ChartPoint> {
        let slices = self.measurement.slices_ns;
        let percent = |at: usize| 100.0 * at as f64 / slices.len() as f64;
        let cell = |(at, ns): (usize, &f64)| ChartPoint {
            cell: Some(HeatCell { end: percent(at + 1), shade: seconds(*ns) }),
            disturbed: self.measurement.disturbed,
            ..ChartPoint::at(percent(at), place)
        };
        slices.iter().enumerate().map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_slice_does_not_hide_how_the_others_differ() {
        let mut shades = vec![1e-5, 1.2e-5, 1.1e-5, 4.9e-5];
        assert_eq!(shade_scale(&shades), AxisScale::Linear);
        shades[3] = 6e-5;
        assert_eq!(shade_scale(&shades), AxisScale::Logarithmic);
        shades[0] = 0.0;
        assert_eq!(shade_scale(&shades), AxisScale::Linear, "0 has no logarithm");
        assert_eq!(shade_scale(&[]), AxisScale::Linear);
    }
}
