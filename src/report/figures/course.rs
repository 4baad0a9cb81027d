//! Latency by the operations done, with the law that was found of it.

use super::cast::{Cast, Member};
use super::keys::Keys;
use super::whole::{
    about_disturbed, about_last_level, about_lost, latency_axis, scale_for, seconds, whole,
};
use super::{Axis, Figure, Look, Mark, Point, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::base::units::{counted, grouped};
use crate::measure::book::Level;
use crate::measure::conclusions::growth::GrowthFinding;
use crate::measure::conclusions::interval::ChangeShape;
use crate::measure::course::{LatencyBand, LatencyPoint, PhaseCourse, windowed_phases};
use crate::measure::finding::Finding;
use crate::measure::order::each_once;

/// Points of a series that a screen can show.
const POINTS_MAX: usize = 1_000;
/// Points of the courses of a picture, and of all pictures.
const POINTS_OF_FIGURE_MAX: usize = 8_000;
const POINTS_OF_ALL_MAX: usize = 60_000;
/// Fewer points of a series would hide its shape.
const POINTS_MIN: usize = 24;

/// How many points a series may have. A course has a median, a mean, and half as many of its band.
fn points_each(members: usize, phases: usize) -> usize {
    let of = |points: usize, courses: usize| points * 2 / (5 * courses.max(1));
    let each = of(POINTS_OF_FIGURE_MAX, members).min(of(POINTS_OF_ALL_MAX, members * phases));
    each.clamp(POINTS_MIN, POINTS_MAX)
}

/// One picture for each phase that has windows.
pub(super) fn courses(cast: &Cast<'_>, keys: &mut Keys) -> Vec<Figure> {
    let phases = each_once(cast.runs.iter().flat_map(|run| windowed_phases(run.analysis.book)));
    let most = points_each(cast.members().count(), phases.len());
    phases.into_iter().filter_map(|phase| figure(cast, (phase, most), keys)).collect()
}

/// A variant's course and what was found of it.
struct Part<'a> {
    member: &'a Member<'a>,
    course: PhaseCourse<'a>,
    most: usize,
    growth: Option<&'a GrowthFinding>,
}

fn figure(cast: &Cast<'_>, (phase, most): (&str, usize), keys: &mut Keys) -> Option<Figure> {
    let parts: Vec<Part<'_>> = cast
        .runs
        .iter()
        .flat_map(|run| run.members.iter().map(move |member| (run, member)))
        .filter_map(|(run, member)| {
            let course = PhaseCourse::new(run.analysis, member.variant, phase)?;
            let growth = run.analysis.book.findings.iter().find_map(|finding| match finding {
                Finding::Growth(growth)
                    if growth.variant == member.variant
                        && growth.phase == phase
                        && growth.level.as_ref() == course.level =>
                {
                    Some(growth)
                }
                _ => None,
            });
            Some(Part { member, course, most, growth })
        })
        .collect();
    let series: Vec<Series> = parts.iter().flat_map(Part::series).collect();
    let heights = series.iter().flat_map(|one| &one.points);
    let heights = heights.flat_map(|point| point.interval.unwrap_or([point.y, point.y]));
    let growing = each_once(parts.iter().map(|part| part.course.counted));
    let growing = if let [only] = growing.as_slice() { only } else { "operations done" };
    let name = shown(phase);
    whole(Figure {
        key: keys.of("course", phase),
        title: format!("{name}: latency by {growing}"),
        question: format!("Does {name} take longer the more it has done?"),
        x: Axis { label: growing.to_string(), quantity: Quantity::Count, scale: Scale::Linear },
        y: latency_axis(scale_for(heights)),
        shade: None,
        marks: parts.iter().filter_map(Part::mark).collect(),
        notes: notes(&parts, &series).into_iter().chain(about_lost(cast.lost(phase))).collect(),
        series,
    })
}

impl Part<'_> {
    fn series(&self) -> Vec<Series> {
        let (p50, mean) = (self.course.p50(self.most), self.course.mean(self.most));
        let points = |all: &[LatencyPoint]| all.iter().map(|one| self.point(one)).collect();
        let mut series = Vec::new();
        if self.course.has_single_operations() {
            series.push(self.of(Look::Markers, "operation", points(&mean)));
        } else if p50.is_empty() {
            series.push(self.of(Look::Curve, "mean", points(&mean)));
        } else {
            let most = if self.is_downsampled() { self.most / 2 } else { self.most };
            let band = self.course.band(most).iter().map(|part| self.band(part)).collect();
            series.push(self.of(Look::Band, "p50 to p99", band));
            series.push(self.of(Look::Raw, "mean", points(&mean)));
            series.push(self.of(Look::Curve, "p50", points(&p50)));
        }
        let drawn = self.growth.and_then(|growth| growth.figures.as_ref().zip(growth.curve_name()));
        if let Some((figures, name)) = drawn {
            let blocks = figures.blocks.iter();
            let curve = blocks.map(|block| Point::at(block.operations, seconds(block.fitted_ns)));
            series.push(self.of(Look::Law, &name, curve.collect()));
        }
        series
    }

    fn of(&self, look: Look, what: &str, points: Vec<Point>) -> Series {
        let Member { name, colour, .. } = self.member;
        Series { name: name.clone(), colour: *colour, look, what: what.into(), points }
    }

    fn is_downsampled(&self) -> bool {
        self.course.points.len() > self.most
    }

    fn point(&self, one: &LatencyPoint) -> Point {
        let point = Point::at(one.operations, seconds(one.ns));
        Point { n: one.n, disturbed: self.course.disturbed, ..point }
    }

    fn band(&self, part: &LatencyBand) -> Point {
        let (low, high) = (seconds(part.low_ns), seconds(part.high_ns));
        Point {
            interval: Some([low, high.max(low)]),
            n: part.n,
            disturbed: self.course.disturbed,
            ..Point::at(part.operations, low)
        }
    }

    fn mark(&self) -> Option<Mark> {
        let threshold = self.growth?.figures.as_ref()?.threshold.as_ref()?;
        let what = match threshold.shape {
            ChangeShape::Step => "step",
            ChangeShape::Hinge => "bend",
        };
        Some(Mark {
            x: threshold.at,
            interval: Some(threshold.interval.into()),
            label: format!("{what} of {}", self.member.name),
            colour: Some(self.member.colour),
        })
    }
}

fn notes(parts: &[Part<'_>], series: &[Series]) -> Vec<String> {
    let courses = || parts.iter().map(|part| &part.course);
    let mut notes = vec!["Less is faster.".to_string()];
    if courses().any(|course| course.measurements > 1) {
        notes.push(
            "Percentiles of several repeats are the median of those of their windows.".into(),
        );
    }
    let (windows, measurements) = courses()
        .fold((0, 0), |(windows, all), one| (windows + one.windows, all + one.measurements));
    if parts.iter().any(Part::is_downsampled) {
        notes.push(format!(
            "Of {} windows in {} not all are drawn: of each segment the least and the largest.",
            grouped(windows as u64),
            counted(measurements as u64, "measurement"),
        ));
    }
    let others = parts.iter().filter(|part| part.course.has_other_levels);
    let levels: Vec<&Level> = others.filter_map(|part| part.course.level).collect();
    notes.extend(about_last_level(&levels));
    notes.extend(about_disturbed(series));
    notes
}
