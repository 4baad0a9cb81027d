//! Draws the course of each phase by operations, with the law that it follows, and by time.

use super::runs::{
    ChartKeys, ChartRuns, ChartVariant, about_disturbed, about_last_level, about_missing, notes,
    points, scale_for, seconds,
};
use super::{AxisQuantity, AxisScale, Chart, ChartAxis, ChartPoint, ChartSeries, SeriesLook};
use crate::analysis::course::{LatencyBand, LatencyPoint, PhaseCourse, windowed_phases};
use crate::analysis::findings::growth::{GrowthBlock, GrowthCourse};
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::{counted, grouped};
use crate::results::book::Level;

/// Points of a series that a screen can show.
const POINTS_MAX: usize = 1_000;
/// Points wanted in one chart, and in all charts together, without fitted curves.
const POINTS_PER_CHART_TARGET: usize = 8_000;
const POINTS_IN_ALL_TARGET: usize = 60_000;
/// Least of the largest number of points of a series, whatever the targets: fewer would hide its shape.
const POINTS_MIN: usize = 24;

/// Most points of a series. A variant has two full series, p50 and mean, and a band of half as many.
fn points_max(variants: usize, phases: usize) -> usize {
    let of = |points: usize, courses: usize| points * 2 / (5 * courses.max(1));
    let in_all = of(POINTS_IN_ALL_TARGET, variants * phases);
    of(POINTS_PER_CHART_TARGET, variants).min(in_all).clamp(POINTS_MIN, POINTS_MAX)
}

/// Charts for each phase that has windows: by operations, and by time where that is known.
pub(super) fn courses(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    let phases = runs.analyses.iter().flat_map(|analysis| windowed_phases(analysis.book));
    let phases = each_once(phases);
    let points_max = points_max(runs.variants.len(), phases.len());
    let charts = |phase| {
        let [by_operations, by_time] =
            [chart, time_chart].map(|chart| chart(runs, phase, points_max, keys));
        by_operations.into_iter().chain(by_time)
    };
    phases.into_iter().flat_map(charts).collect()
}

/// The course of a variant's phase, with the growth that was found in it.
struct VariantCourse<'a> {
    variant: &'a ChartVariant<'a>,
    course: PhaseCourse<'a>,
    points_max: usize,
    growth: Option<&'a GrowthCourse>,
}

fn chart(runs: &ChartRuns<'_>, phase: &str, limit: usize, keys: &mut ChartKeys) -> Option<Chart> {
    let parts = runs.variants.iter().filter_map(|one| VariantCourse::new(one, phase, limit));
    let parts: Vec<VariantCourse<'_>> = parts.collect();
    let series: Vec<ChartSeries> = parts.iter().flat_map(VariantCourse::series).collect();
    let heights = points(&series).flat_map(|point| point.interval.unwrap_or([point.y; 2]));
    let growing = each_once(parts.iter().map(|part| part.course.counted));
    let growing = if let [only] = growing.as_slice() { only } else { "operations done" };
    let name = shown(phase);
    let y = ChartAxis::latency(scale_for(heights));
    let x = ChartAxis::new(growing, AxisQuantity::Count, AxisScale::Linear);
    let missing = about_missing(runs.missing(phase));
    Chart {
        question: format!("Does {name} take longer the more it has done?"),
        notes: about_courses(&parts, &series).into_iter().chain(missing).collect(),
        series,
        ..Chart::new(keys.unused("course", phase), format!("{name}: latency by {growing}"), x, y)
    }
    .checked()
}

fn time_chart(
    runs: &ChartRuns<'_>,
    phase: &str,
    limit: usize,
    keys: &mut ChartKeys,
) -> Option<Chart> {
    let parts = runs.variants.iter().filter_map(|one| VariantCourse::new(one, phase, limit));
    let parts: Vec<VariantCourse<'_>> = parts.collect();
    let series: Vec<ChartSeries> = parts.iter().map(VariantCourse::series_by_time).collect();
    let name = shown(phase);
    let y = ChartAxis::latency(scale_for(points(&series).map(|point| point.y)));
    let x = ChartAxis::new("time since its beginning", AxisQuantity::Seconds, AxisScale::Linear);
    let about = "Each value is the mean of a window of one repeat. Lower is faster.";
    let drawn = about_drawn(&parts, |part| part.course.windows);
    let missing = about_missing(runs.missing(phase));
    let others = [drawn, about_levels(&parts), about_disturbed(&series), missing];
    Chart {
        question: format!("Are operations of {name} slow at certain times?"),
        notes: notes(about, others),
        series,
        ..Chart::new(keys.unused("time", phase), format!("{name}: latency by time"), x, y)
    }
    .checked()
}

impl<'a> VariantCourse<'a> {
    fn new(variant: &'a ChartVariant<'a>, phase: &'a str, points_max: usize) -> Option<Self> {
        let course = PhaseCourse::new(variant.analysis, variant.variant, phase)?;
        let growth = variant.analysis.effects().find_map(|effect| {
            let of = (effect.to.variant.as_deref(), effect.phase.as_deref());
            let is_own = of == (Some(variant.variant), Some(phase));
            let is_here = is_own && effect.to.level.as_ref() == course.level;
            effect.course.as_ref().filter(|_| is_here)
        });
        Some(Self { variant, course, points_max, growth })
    }

    fn series(&self) -> Vec<ChartSeries> {
        let (p50, mean) = (self.course.p50(self.points_max), self.course.mean(self.points_max));
        let points = |all: &[LatencyPoint]| all.iter().map(|one| self.point(one)).collect();
        let mut series = Vec::new();
        if self.course.has_single_operations() {
            series.push(self.variant.series(SeriesLook::Markers, "operation", points(&mean)));
        } else if p50.is_empty() {
            series.push(self.variant.series(SeriesLook::Curve, "mean", points(&mean)));
        } else {
            let parts = if self.is_downsampled() { self.points_max / 2 } else { self.points_max };
            let band = self.course.band(parts).iter().map(|part| self.band(part)).collect();
            series.push(self.variant.series(SeriesLook::Band, "p50 to p99", band));
            series.push(self.variant.series(SeriesLook::Raw, "mean", points(&mean)));
            series.push(self.variant.series(SeriesLook::Curve, "p50", points(&p50)));
        }
        if let Some((growth, law)) = self.growth.and_then(|growth| Some((growth, growth.law?))) {
            let name = format!("{} law", law.as_str());
            let blocks = growth.blocks.iter();
            let point = |block: &GrowthBlock| {
                Some(ChartPoint::at(block.operations, seconds(block.fitted_ns?)))
            };
            let curve = blocks.filter_map(point);
            series.push(self.variant.series(SeriesLook::Law, name, curve.collect()));
        }
        series
    }

    /// A line where there is one measurement, else a point for each window.
    fn series_by_time(&self) -> ChartSeries {
        let look =
            if self.course.measurements == 1 { SeriesLook::Curve } else { SeriesLook::Markers };
        let moments = self.course.moments(self.points_max);
        let points = moments.iter().map(|moment| ChartPoint {
            n: moment.n,
            disturbed: self.course.disturbed,
            ..ChartPoint::at(moment.seconds, seconds(moment.ns))
        });
        self.variant.series(look, "mean", points.collect())
    }

    /// Places of its windows, of which repeats share those of their operations.
    fn places(&self) -> usize {
        self.course.points.len()
    }

    fn is_downsampled(&self) -> bool {
        self.places() > self.points_max
    }

    fn point(&self, one: &LatencyPoint) -> ChartPoint {
        let point = ChartPoint::at(one.operations, seconds(one.ns));
        ChartPoint { n: one.n, disturbed: self.course.disturbed, ..point }
    }

    fn band(&self, part: &LatencyBand) -> ChartPoint {
        let (low, high) = (seconds(part.low_ns), seconds(part.high_ns));
        ChartPoint {
            interval: Some([low, high.max(low)]),
            n: part.n,
            disturbed: self.course.disturbed,
            ..ChartPoint::at(part.operations, low)
        }
    }
}

fn about_courses(parts: &[VariantCourse<'_>], series: &[ChartSeries]) -> Vec<String> {
    let courses = || parts.iter().map(|part| &part.course);
    let mut notes = vec!["Lower is faster.".to_string()];
    if courses().any(|course| course.measurements > 1) {
        notes.push(
            "Percentiles of several repeats are the median of those of their windows.".into(),
        );
    }
    notes.extend(about_drawn(parts, |part| part.places()));
    notes.extend(about_levels(parts));
    notes.extend(about_disturbed(series));
    notes
}

/// That not all windows are drawn, where a course has more of these than points.
fn about_drawn(
    parts: &[VariantCourse<'_>],
    number: impl Fn(&VariantCourse<'_>) -> usize,
) -> Option<String> {
    let windows: usize = parts.iter().map(|part| part.course.windows).sum();
    let measurements: usize = parts.iter().map(|part| part.course.measurements).sum();
    parts.iter().any(|part| number(part) > part.points_max).then(|| {
        format!(
            "Not all of the {} windows in {} are drawn: of each group of neighbouring windows only the \
             smallest and the largest latency.",
            grouped(windows as u64),
            counted(measurements as u64, "measurement"),
        )
    })
}

fn about_levels(parts: &[VariantCourse<'_>]) -> Option<String> {
    let others = parts.iter().filter(|part| part.course.has_other_levels);
    let levels: Vec<&Level> = others.filter_map(|part| part.course.level).collect();
    about_last_level(&levels)
}
