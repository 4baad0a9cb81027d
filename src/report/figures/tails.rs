//! The latencies that half, 99 in 100 and 999 in 1,000 operations stayed below, and the longest.

use super::cast::{Cast, CastRun, Member};
use super::keys::Keys;
use super::whole::{
    Lost, about_disturbed, about_last_level, about_lost, latency_axis, seconds, whole,
};
use super::{Axis, Figure, Look, Point, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::measure::book::Level;
use crate::measure::order::each_once;
use crate::measure::summary::PhaseSummary;
use crate::measure::tails::{LatencySummary, Quantile};

/// A row with a tail, and its place from left to right.
struct Column<'a> {
    place: f64,
    member: &'a Member<'a>,
    row: &'a PhaseSummary,
    tail: LatencySummary,
}

/// A latency and its interval, in nanoseconds.
type Latency = (u64, Option<[u64; 2]>);

/// A picture for each phase with its variants beside each other; of a single variant one with its
/// phases.
pub(super) fn tails(cast: &Cast<'_>, keys: &mut Keys) -> Vec<Figure> {
    let all: Vec<(&CastRun<'_>, &Member<'_>)> = cast.members().collect();
    let phases = cast.phases();
    if let [only] = all.as_slice() {
        let columns: Vec<Column<'_>> =
            phases.iter().filter_map(|phase| column(*only, phase)).collect();
        let names = columns.iter().map(|column| shown(&column.row.phase)).collect();
        return figure(cast, &placed(columns), names, (None, keys)).into_iter().collect();
    }
    let of_phase = |phase: &&str| {
        let columns: Vec<Column<'_>> = all.iter().filter_map(|one| column(*one, phase)).collect();
        let names = columns.iter().map(|column| column.member.name.clone()).collect();
        figure(cast, &placed(columns), names, (Some(phase), keys))
    };
    phases.iter().filter_map(of_phase).collect()
}

fn column<'a>((run, member): (&'a CastRun<'a>, &'a Member<'a>), phase: &str) -> Option<Column<'a>> {
    let row = run.last_row(member.variant, phase)?;
    Some(Column { place: 0.0, member, row, tail: row.tail? })
}

fn placed(columns: Vec<Column<'_>>) -> Vec<Column<'_>> {
    let place = |(at, column)| Column { place: at as f64, ..column };
    columns.into_iter().enumerate().map(place).collect()
}

fn figure(
    cast: &Cast<'_>,
    columns: &[Column<'_>],
    names: Vec<String>,
    (phase, keys): (Option<&str>, &mut Keys),
) -> Option<Figure> {
    // Of a phase of few operations only the longest is known, which its rate tells as well.
    columns.iter().find(|column| column.tail.p50_ns.is_some())?;
    let members = each_once(columns.iter().map(|column| column.member.colour));
    let series = members.iter().flat_map(|colour| {
        let own = columns.iter().filter(|column| column.member.colour == *colour);
        of_member(&own.collect::<Vec<_>>())
    });
    let series: Vec<Series> = series.collect();
    let about = "Less is faster. From below: p50, p99, p99.9 and the longest of all.".to_string();
    let levels: Vec<&Level> = cast.runs.iter().filter_map(|run| run.last_level()).collect();
    let lost = match phase {
        Some(phase) => about_lost(cast.lost(phase)),
        None => about_lost(cast.phases().into_iter().flat_map(|phase| {
            cast.lost(phase).map(move |lost| Lost { what: shown(phase), ..lost })
        })),
    };
    let notes = [about_last_level(&levels), lost, about_disturbed(&series)];
    let name = phase.map(shown);
    let each = name.as_deref().unwrap_or("each phase");
    whole(Figure {
        key: keys.of("latency", phase.unwrap_or_default()),
        title: match &name {
            Some(name) => format!("{name}: latency percentiles"),
            None => "Latency percentiles".into(),
        },
        question: format!("How long do operations of {each} take, and how long the slowest?"),
        x: Axis {
            label: if phase.is_some() { "variant" } else { "phase" }.into(),
            quantity: Quantity::Count,
            scale: Scale::Named(names),
        },
        y: latency_axis(Scale::Logarithmic),
        shade: None,
        series,
        marks: Vec::new(),
        notes: [about].into_iter().chain(notes.into_iter().flatten()).collect(),
    })
}

/// A series for each percentile.
fn of_member(columns: &[&Column<'_>]) -> Vec<Series> {
    let Some(member) = columns.first().map(|column| column.member) else { return Vec::new() };
    let series = |what: &str, of: &dyn Fn(&LatencySummary) -> Option<Latency>| {
        let point = |column: &&Column<'_>| {
            let (ns, interval) = of(&column.tail)?;
            Some(Point {
                interval: interval.map(|ends| ends.map(|end| seconds(end as f64))),
                n: column.row.rate.map_or(1, |rate| u64::from(rate.n)),
                disturbed: column.row.disturbed > 0,
                ..Point::at(column.place, seconds(ns as f64))
            })
        };
        Series {
            name: member.name.clone(),
            colour: member.colour,
            look: Look::Markers,
            what: what.into(),
            points: columns.iter().filter_map(point).collect(),
        }
    };
    let quantile = |quantile: Quantile| {
        series(quantile.word(), &|tail| {
            let (ns, interval) = quantile.in_tail(tail);
            Some((ns?, interval))
        })
    };
    let mut all: Vec<Series> = Quantile::ALL.into_iter().map(quantile).collect();
    all.push(series("max", &|tail| Some((tail.max_ns, None))));
    all
}
