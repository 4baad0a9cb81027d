//! Draws the rate of each phase at each level of an axis.

use super::rates::{ABOUT_RATES, PlacedRate, rate_axis, rate_series};
use super::runs::{
    ChartRow, ChartRuns, ChartVariant, about_disturbed, about_invalid, notes, scale_for,
};
use super::{AxisQuantity, Chart, ChartAxis, ChartFamily, ChartSeries, Picture, SeriesLook};
use boatload_base::distinct::each_once;
use boatload_base::failure::shown;
use boatload_base::units::Unit;
use boatload_results::book::Level;

#[derive(PartialEq)]
struct LevelSubject<'a> {
    phase: &'a str,
    axis: &'a str,
    level_unit: Unit,
    rate_unit: Unit,
}

/// One chart for each phase that was measured over an axis.
pub(super) fn levels(runs: &ChartRuns<'_>) -> Vec<Chart> {
    let subjects = each_once(runs.rows().filter_map(LevelSubject::new));
    subjects.iter().filter_map(|subject| subject.chart(runs)).collect()
}

impl<'a> LevelSubject<'a> {
    fn new(one: &ChartRow<'a>) -> Option<Self> {
        let Level { axis, unit, .. } = one.level?;
        Some(Self { phase: &one.row.phase, axis, level_unit: *unit, rate_unit: one.row.rate_unit })
    }

    fn has(&self, one: &ChartRow<'_>) -> bool {
        LevelSubject::new(one).is_some_and(|subject| subject == *self)
    }

    fn chart(&self, runs: &ChartRuns<'_>) -> Option<Chart> {
        runs.rows().find(|one| self.has(one) && one.row.rate.is_some())?;
        let series: Vec<ChartSeries> =
            runs.variants.iter().flat_map(|variant| self.series(variant)).collect();
        let measured = series.iter().flat_map(|one| &one.points);
        let x = level_axis(self.axis, self.level_unit, measured.clone().map(|point| point.x));
        let y = rate_axis(self.rate_unit, scale_for(measured.map(|point| point.y)));
        let rows = runs.rows().filter(|one| self.has(one));
        let others = [about_disturbed(&series), about_invalid(rows.map(|one| one.row))];
        let phase = shown(self.phase);
        let shows = Picture::of_phase(ChartFamily::Levels, self.phase);
        let title = format!("{phase} by {}", x.label);
        Chart { series, notes: notes(ABOUT_RATES, others), ..Chart::new(shows, title, x, y) }
            .checked()
    }

    /// Means from the lowest level on, and single values.
    fn series(&self, variant: &ChartVariant<'_>) -> Vec<ChartSeries> {
        let own = variant.rows.iter().filter(|one| self.has(one));
        let placed =
            own.filter_map(|one| Some(PlacedRate { one: *one, x: self.place(one.level?.value) }));
        let mut placed: Vec<PlacedRate<'_>> = placed.collect();
        placed.sort_by(|a, b| a.x.total_cmp(&b.x));
        rate_series(variant, SeriesLook::Line, &placed).into_iter().collect()
    }

    /// A value of the axis as it is drawn.
    fn place(&self, value: f64) -> f64 {
        if self.level_unit == Unit::Nanoseconds { value / 1e9 } else { value }
    }
}

/// The axis of levels with these values, times in seconds.
fn level_axis(name: &str, unit: Unit, values: impl Iterator<Item = f64> + Clone) -> ChartAxis {
    let quantity = match unit {
        Unit::Count => AxisQuantity::Count,
        Unit::Bytes => AxisQuantity::Bytes,
        Unit::Percent => AxisQuantity::Percent,
        Unit::Nanoseconds => AxisQuantity::Seconds,
    };
    let label = shown(if name.trim().is_empty() { "level" } else { name });
    ChartAxis::new(label, quantity, scale_for(values))
}
