//! All percentiles of a phase's latencies as a curve.

use super::cast::{Cast, CastRun};
use super::keys::Keys;
use super::whole::{about_disturbed, about_last_level, about_lost, latency_axis, seconds, whole};
use super::{Axis, Figure, Look, Point, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::measure::book::Level;
use crate::measure::latencies::{Distribution, distributions_where};
use crate::measure::summary::{PhaseSummary, VariantSummary};

/// Of fewer operations there are no percentiles to speak of.
const OPERATIONS_MIN: u64 = 100;

/// One picture for each phase whose latencies were kept.
pub(super) fn percentiles(cast: &Cast<'_>, keys: &mut Keys) -> Vec<Figure> {
    let of_run = |run: &CastRun<'_>| {
        let last = run.last_level();
        let wanted = |group: &VariantSummary, _: &PhaseSummary| group.level.as_ref() == last;
        distributions_where(run.analysis.book, run.summary, wanted)
    };
    let all: Vec<Vec<Distribution>> = cast.runs.iter().map(of_run).collect();
    let phases = cast.phases();
    phases.iter().filter_map(|phase| figure(cast, phase, &all, keys)).collect()
}

fn figure(
    cast: &Cast<'_>,
    phase: &str,
    all: &[Vec<Distribution>],
    keys: &mut Keys,
) -> Option<Figure> {
    let own = |one: &&Distribution| one.phase == phase && one.operations >= OPERATIONS_MIN;
    let runs = cast.runs.iter().zip(all);
    let pairs = runs.flat_map(|(run, all)| all.iter().filter(own).map(move |one| (run, one)));
    let series: Vec<Series> = pairs.filter_map(|(run, one)| curve(run, one)).collect();
    let levels: Vec<&Level> = cast.runs.iter().filter_map(|run| run.last_level()).collect();
    let about = "Less is faster. A curve ends at the longest latency of all.".to_string();
    let lost = about_lost(cast.lost(phase));
    let notes = [about_last_level(&levels), lost, about_disturbed(&series)];
    let name = shown(phase);
    whole(Figure {
        key: keys.of("percentiles", phase),
        title: format!("{name}: all percentiles"),
        question: format!("How much longer than most do the slowest operations of {name} take?"),
        x: Axis {
            label: "percentile".into(),
            quantity: Quantity::OneIn,
            scale: Scale::Logarithmic,
        },
        y: latency_axis(Scale::Logarithmic),
        shade: None,
        series,
        marks: Vec::new(),
        notes: [about].into_iter().chain(notes.into_iter().flatten()).collect(),
    })
}

fn curve(run: &CastRun<'_>, one: &Distribution) -> Option<Series> {
    let member = run.member(&one.variant)?;
    let disturbed = run.last_row(&one.variant, &one.phase).is_some_and(|row| row.disturbed > 0);
    let point = |(one_in, ns): (f64, u64)| Point {
        n: one.operations,
        disturbed,
        ..Point::at(one_in, seconds(ns as f64))
    };
    Some(Series {
        name: member.name.clone(),
        colour: member.colour,
        look: Look::Curve,
        what: "percentile".into(),
        points: one.curve().into_iter().map(point).collect(),
    })
}
