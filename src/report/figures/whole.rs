//! What every picture must be before it is drawn: numbers that are numbers, and something to see.

use super::{Axis, Figure, Look, Point, Scale, Series};
use crate::base::failure::shown;
use crate::base::units::{counted, grouped};
use crate::measure::book::Level;
use crate::measure::order::each_once;
use crate::report::names::level_value;

/// The picture without what cannot be drawn; none if nothing is left of what was measured.
pub(super) fn whole(mut figure: Figure) -> Option<Figure> {
    let Figure { x, y, shade, series, marks, .. } = &mut figure;
    for one in series.iter_mut() {
        let cells = one.look == Look::Cells;
        one.points.retain(|point| is_drawn(point, x, y, if cells { shade.as_ref() } else { None }));
        one.points.iter_mut().for_each(|point| point.interval = interval(point, y));
        if one.look != Look::Raw && !cells {
            one.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
    }
    series.retain(|one| !one.points.is_empty());
    marks.retain(|mark| fits(mark.x, x));
    for mark in marks.iter_mut() {
        mark.interval = mark.interval.filter(|ends| ends.iter().all(|end| fits(*end, x)));
    }
    let measured = |one: &Series| one.look != Look::Law;
    figure.series.iter().any(measured).then_some(figure)
}

fn is_drawn(point: &Point, x: &Axis, y: &Axis, shade: Option<&Axis>) -> bool {
    let shaded = |axis: &Axis| point.shade.is_some_and(|value| fits(value, axis));
    fits(point.x, x) && fits(point.y, y) && shade.is_none_or(shaded)
}

fn interval(point: &Point, y: &Axis) -> Option<[f64; 2]> {
    point.interval.filter(|[low, high]| fits(*low, y) && fits(*high, y) && low <= high)
}

fn fits(value: f64, axis: &Axis) -> bool {
    match &axis.scale {
        Scale::Linear => value.is_finite(),
        Scale::Logarithmic => value.is_finite() && value > 0.0,
        Scale::Named(names) => value >= 0.0 && value < names.len() as f64,
    }
}

/// How many times larger the largest must be than the least for a logarithmic scale.
const WIDE: f64 = 30.0;

/// The scale on which values that lie far apart can all be seen.
pub(super) fn scale_for(values: impl Iterator<Item = f64> + Clone) -> Scale {
    let values = values.filter(|value| value.is_finite());
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    if least > 0.0 && most / least > WIDE { Scale::Logarithmic } else { Scale::Linear }
}

/// All points of all series.
pub(super) fn points(series: &[Series]) -> impl Iterator<Item = &Point> + Clone {
    series.iter().flat_map(|one| &one.points)
}

/// That intervals which reach zero cannot be drawn on a logarithmic scale, where there are any.
pub(super) fn about_intervals(scale: &Scale, series: &[Series]) -> Option<String> {
    let reaches = |point: &Point| point.interval.is_some_and(|[low, _]| low <= 0.0);
    (*scale == Scale::Logarithmic && points(series).any(reaches))
        .then(|| "Intervals that reach zero are not drawn.".into())
}

/// That all figures come from disturbed measurements, if so.
pub(super) fn about_disturbed(series: &[Series]) -> Option<String> {
    let mut measured =
        series.iter().filter(|one| one.look != Look::Law).flat_map(|one| &one.points).peekable();
    (measured.peek().is_some() && measured.all(|point| point.disturbed)).then(|| {
        "Something disturbed measurements behind every figure here; the warnings tell what.".into()
    })
}

/// That some measurements are not in it, if so.
pub(super) fn about_invalid(number: u64) -> Option<String> {
    (number > 0).then(|| format!("{} left out.", counted(number, "invalid measurement")))
}

/// What every measurement of is invalid.
pub(super) struct Lost {
    /// A variant with its phase or its level.
    pub(super) what: String,
    /// How many measurements they are.
    pub(super) measurements: u64,
}

/// As many of what is missing as are named.
const LOST_MAX: usize = 6;

/// What is missing because nothing of it is valid, by name; none if nothing is.
pub(super) fn about_lost(lost: impl Iterator<Item = Lost>) -> Option<String> {
    let lost: Vec<Lost> = lost.filter(|one| one.measurements > 0).collect();
    let name = |one: &Lost| match one.measurements {
        1 => format!("{} (invalid)", one.what),
        all => format!("{} (all {} invalid)", one.what, grouped(all)),
    };
    let mut names: Vec<String> = lost.iter().take(LOST_MAX).map(name).collect();
    if lost.len() > LOST_MAX {
        names.push(format!("{} more", grouped((lost.len() - LOST_MAX) as u64)));
    }
    let last = names.pop()?;
    let names = if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) };
    Some(format!("Missing: {names}."))
}

/// Which level of several it is of; none without levels.
pub(super) fn about_last_level(levels: &[&Level]) -> Option<String> {
    let named = |level: &&Level| format!("{} {}", shown(&level.axis), level_value(level));
    let named = each_once(levels.iter().map(named));
    (!named.is_empty()).then(|| format!("Only the last level is shown: {}.", named.join(", ")))
}

/// What stands on an axis for a latency.
pub(super) fn latency_axis(scale: Scale) -> Axis {
    Axis { label: "latency".into(), quantity: super::Quantity::Seconds, scale }
}

/// Nanoseconds as seconds.
pub(super) fn seconds(ns: f64) -> f64 {
    ns / 1e9
}
