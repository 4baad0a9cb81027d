//! How much each phase did in a second, by variant; of runs without an axis.

use super::cast::{Cast, CastRun, Member};
use super::{Axis, Figure, Look, Point, Quantity, Scale, Series};
use crate::base::units::Unit;
use crate::measure::book::ResultBook;
use crate::measure::order::each_once;
use crate::measure::summary::{Estimate, Row};

/// One picture for operations and one for bytes, as far as there are such phases.
pub(super) fn rates(books: &[&ResultBook]) -> Vec<Figure> {
    let cast = Cast::of(books);
    [Unit::Count, Unit::Bytes].into_iter().filter_map(|unit| figure(&cast, unit)).collect()
}

fn figure(cast: &Cast<'_>, unit: Unit) -> Option<Figure> {
    let all = cast.runs.iter().flat_map(|run| rows(run, None)).filter(|row| has(row, unit));
    let phases = each_once(all.map(|row| row.phase.clone()));
    let in_bytes = unit == Unit::Bytes;
    let series = |(run, member): (&CastRun<'_>, &Member<'_>)| {
        let rows = rows(run, Some(member.variant)).filter(|row| has(row, unit));
        let point = |row: &Row| {
            let x = phases.iter().position(|phase| *phase == row.phase)? as f64;
            Some(estimated(x, row.rate?, row.disturbed > 0))
        };
        Series {
            name: member.name.clone(),
            colour: member.colour,
            look: Look::Bars,
            what: "mean".into(),
            points: rows.filter_map(point).collect(),
        }
    };
    let series: Vec<Series> =
        cast.members().map(series).filter(|series| !series.points.is_empty()).collect();
    let (key, what) = if in_bytes { ("bytes", "bytes") } else { ("rates", "operations") };
    (!phases.is_empty()).then(|| Figure {
        key: key.into(),
        title: format!("{} per second", if in_bytes { "Bytes" } else { "Operations" }),
        question: format!("How many {what} did each phase do in a second?"),
        x: Axis { label: "phase".into(), quantity: Quantity::Count, scale: Scale::Named(phases) },
        y: Axis {
            label: format!("{what} per second"),
            quantity: if in_bytes { Quantity::ByteRate } else { Quantity::Operations },
            scale: Scale::Linear,
        },
        shade: None,
        series,
        marks: Vec::new(),
        notes: vec!["Without the sync at the end of a phase. More is faster.".into()],
    })
}

fn has(row: &Row, unit: Unit) -> bool {
    row.rate.is_some() && row.rate_unit == unit
}

/// Rows without a level, of one variant or of all.
fn rows<'a>(run: &'a CastRun<'_>, variant: Option<&'a str>) -> impl Iterator<Item = &'a Row> {
    let groups = run.summary.groups.iter().filter(|group| group.level.is_none());
    let own = move |name: &str| variant.is_none_or(|variant| variant == name);
    groups.filter(move |group| own(&group.variant)).flat_map(|group| &group.rows)
}

/// An estimate as a point.
pub(super) fn estimated(x: f64, estimate: Estimate, disturbed: bool) -> Point {
    let half = estimate.half_width;
    Point {
        interval: half.map(|half| [(estimate.mean - half).max(0.0), estimate.mean + half]),
        n: u64::from(estimate.n),
        disturbed,
        ..Point::at(x, estimate.mean)
    }
}
