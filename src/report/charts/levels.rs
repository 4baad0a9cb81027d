//! Draws the rate of each phase at each level of an axis, with knees and crossovers.

use super::rates::{ABOUT_RATES, PlacedRate, rate_axis, rate_series};
use super::runs::{
    ChartKeys, ChartRow, ChartRuns, ChartVariant, MissingValues, about_disturbed, about_invalid,
    about_missing, notes, scale_for,
};
use super::{
    AxisQuantity, AxisScale, Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, SeriesLook,
};
use crate::analysis::finding::Finding;
use crate::analysis::findings::crossover::CrossoverFinding;
use crate::analysis::findings::knee::KneeFinding;
use crate::analysis::findings::slope::{LevelRate, RateBasis, SlopeFinding};
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::Unit;
use crate::report::names::level_value;
use crate::results::book::Level;

#[derive(PartialEq)]
struct LevelSubject<'a> {
    phase: &'a str,
    axis: &'a str,
    level_unit: Unit,
    rate_unit: Unit,
}

/// One chart for each phase that was measured over an axis.
pub(super) fn levels(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let subjects = each_once(runs.rows().filter_map(LevelSubject::new));
    subjects.iter().filter_map(|subject| subject.chart(runs, keys)).collect()
}

impl<'a> LevelSubject<'a> {
    fn new(one: &ChartRow<'a>) -> Option<Self> {
        let Level { axis, unit, .. } = one.level?;
        Some(Self { phase: &one.row.phase, axis, level_unit: *unit, rate_unit: one.row.rate_unit })
    }

    fn has(&self, one: &ChartRow<'_>) -> bool {
        LevelSubject::new(one).is_some_and(|subject| subject == *self)
    }

    fn chart(&self, runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Option<Chart> {
        runs.rows().find(|one| self.has(one) && one.row.rate.is_some())?;
        let series: Vec<ChartSeries> =
            runs.variants.iter().flat_map(|variant| self.series(variant)).collect();
        let measured = series.iter().filter(|one| one.look != SeriesLook::Law);
        let measured = measured.flat_map(|one| &one.points);
        let x = level_axis(self.axis, self.level_unit, measured.clone().map(|point| point.x));
        let y = rate_axis(self.rate_unit, scale_for(measured.map(|point| point.y)));
        let rows = runs.rows().filter(|one| self.has(one));
        let others = [
            about_disturbed(&series),
            about_invalid(rows.map(|one| one.row)),
            about_missing(runs.variants.iter().flat_map(|variant| self.missing(variant))),
        ];
        let phase = shown(self.phase);
        let (key, title) = (keys.unused("levels", self.phase), format!("{phase} by {}", x.label));
        Chart {
            question: format!("How fast is {phase} as {} grows?", x.label),
            series,
            marks: self.marks(runs),
            notes: notes(ABOUT_RATES, others),
            ..Chart::new(key, title, x, y)
        }
        .checked()
    }

    /// What nothing is valid of: a variant at a level, or at all levels.
    fn missing(&self, variant: &ChartVariant<'_>) -> Vec<MissingValues> {
        let rows = variant.rows.iter().filter(|one| self.has(one));
        let (rated, unrated): (Vec<_>, Vec<_>) = rows.partition(|one| one.row.rate.is_some());
        let at_level = |one: &&ChartRow<'_>| {
            let what = format!("{} at {}", variant.name, level_value(one.level?));
            Some(MissingValues::new(what, one.row))
        };
        let missing: Vec<MissingValues> = unrated.iter().filter_map(at_level).collect();
        if !rated.is_empty() {
            return missing;
        }
        let measurements = missing.iter().map(|one| one.measurements).sum();
        vec![MissingValues { what: variant.name.clone(), measurements }]
    }

    /// Means from the lowest level on, single values, and the line of a slope.
    fn series(&self, variant: &ChartVariant<'_>) -> Vec<ChartSeries> {
        let own = variant.rows.iter().filter(|one| self.has(one));
        let placed =
            own.filter_map(|one| Some(PlacedRate { one: *one, x: self.place(one.level?.value) }));
        let mut placed: Vec<PlacedRate<'_>> = placed.collect();
        placed.sort_by(|a, b| a.x.total_cmp(&b.x));
        let rates = placed.iter().filter_map(|PlacedRate { one, .. }| {
            let (level, rate) = (one.level?.value, one.row.rate?);
            Some(LevelRate { level, mean: rate.mean, n: rate.n })
        });
        let rates: Vec<LevelRate> = rates.collect();
        let line = self.slope(variant).map_or(Vec::new(), |slope| slope.line(&rates));
        let line = line.into_iter().map(|(level, rate)| ChartPoint::at(self.place(level), rate));
        let law = variant.series(SeriesLook::Law, "slope", line.collect());
        rate_series(variant, SeriesLook::Line, &placed).into_iter().chain([law]).collect()
    }

    fn slope<'b>(&self, variant: &ChartVariant<'b>) -> Option<&'b SlopeFinding> {
        let basis = match self.rate_unit {
            Unit::Bytes => RateBasis::Bytes,
            _ => RateBasis::Operations,
        };
        variant.analysis.findings().iter().find_map(|finding| match finding {
            Finding::Slope(slope)
                if slope.variant == variant.variant
                    && slope.phase == self.phase
                    && slope.axis == self.axis
                    && slope.rate == basis =>
            {
                Some(slope)
            }
            _ => None,
        })
    }

    /// A value of the axis as it is drawn.
    fn place(&self, value: f64) -> f64 {
        level_place(self.level_unit, value)
    }

    fn marks(&self, runs: &ChartRuns<'_>) -> Vec<ChartMark> {
        let mut marks = Vec::new();
        for (run, analysis) in runs.analyses.iter().enumerate() {
            marks.extend(analysis.findings().iter().filter_map(|finding| match finding {
                Finding::Knee(knee) => self.knee(runs, run, knee),
                Finding::Crossover(crossover) => self.crossover(runs, run, crossover),
                _ => None,
            }));
        }
        marks
    }

    fn knee(&self, runs: &ChartRuns<'_>, run: usize, knee: &KneeFinding) -> Option<ChartMark> {
        let (name, at) = (knee.variant.as_ref()?, knee.at?);
        (knee.phase.as_deref() == Some(self.phase) && knee.axis == self.axis).then(|| ChartMark {
            x: self.place(at),
            interval: knee.interval.map(|ends| [self.place(ends.low), self.place(ends.high)]),
            label: format!("knee of {}", runs.name(run, name)),
            colour: runs.variant(run, name).map(|one| one.colour),
        })
    }

    /// Where two variants are equally fast.
    fn crossover(
        &self,
        runs: &ChartRuns<'_>,
        run: usize,
        found: &CrossoverFinding,
    ) -> Option<ChartMark> {
        let at = found.at?;
        let [one, other] = found.variants.each_ref().map(|name| runs.name(run, name));
        (found.phase == self.phase && found.axis == self.axis).then(|| ChartMark {
            x: self.place(at),
            interval: found.interval.map(|ends| [self.place(ends.low), self.place(ends.high)]),
            label: format!("{one} and {other} meet"),
            colour: None,
        })
    }
}

/// The axis of levels with these values, as [`level_place`] gives them.
pub(super) fn level_axis(name: &str, unit: Unit, values: impl Iterator<Item = f64>) -> ChartAxis {
    let quantity = match unit {
        Unit::Count => AxisQuantity::Count,
        Unit::Bytes => AxisQuantity::Bytes,
        Unit::Percent => AxisQuantity::Percent,
        Unit::Nanoseconds => AxisQuantity::Seconds,
    };
    let label = shown(if name.trim().is_empty() { "level" } else { name });
    ChartAxis::new(label, quantity, level_scale(values))
}

/// A value of an axis as it is drawn.
pub(super) fn level_place(unit: Unit, value: f64) -> f64 {
    if unit == Unit::Nanoseconds { value / 1e9 } else { value }
}

/// From this span on the lowest levels would lie on each other.
const SPAN_MAX: f64 = 100.0;
/// Fewer levels show no rule.
const MULTIPLES_MIN: usize = 4;
/// Levels that are each at least so many times the one before,
const MULTIPLE_MIN: f64 = 1.5;
/// and about as many times each, go up by multiples.
const MULTIPLES_APART_MAX: f64 = 2.0;

/// By logarithms, if levels go up by multiples.
fn level_scale(values: impl Iterator<Item = f64>) -> AxisScale {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (Some(least), Some(most)) = (values.first(), values.last()) else {
        return AxisScale::Linear;
    };
    if *least <= 0.0 {
        return AxisScale::Linear;
    }
    let steps = values.windows(2).map(|pair| pair[1] / pair[0]);
    let (low, high) = (steps.clone().fold(f64::INFINITY, f64::min), steps.fold(0.0, f64::max));
    let multiples =
        values.len() >= MULTIPLES_MIN && low >= MULTIPLE_MIN && high / low <= MULTIPLES_APART_MAX;
    if multiples || most / least > SPAN_MAX { AxisScale::Logarithmic } else { AxisScale::Linear }
}
