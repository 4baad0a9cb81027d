//! How much each phase did in a second, by variant; of runs without an axis.

use std::collections::BTreeSet;

use super::cast::{Cast, CastRun, Member};
use super::whole::{Lost, about_disturbed, about_invalid, about_lost, whole};
use super::{Axis, Figure, Look, Point, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::base::units::Unit;
use crate::measure::course::{RateValue, rate_values};
use crate::measure::summary::{PhaseSummary, VariantSummary};
use crate::measure::uncertainty::{Estimate, IntervalBasis};

/// One picture for operations and one for bytes, as far as there are such phases.
pub(super) fn rates(cast: &Cast<'_>) -> Vec<Figure> {
    [Unit::Count, Unit::Bytes].into_iter().filter_map(|unit| figure(cast, unit)).collect()
}

fn figure(cast: &Cast<'_>, unit: Unit) -> Option<Figure> {
    let has = |(group, row): &(&VariantSummary, &PhaseSummary)| {
        group.level.is_none() && row.rate_unit == unit
    };
    let rows = || cast.runs.iter().flat_map(|run| run.rows().filter(has));
    let measured = rows().filter(|(_, row)| row.rate.is_some()).map(|(_, row)| row.phase.as_str());
    let measured: BTreeSet<&str> = measured.collect();
    let phases = cast.phases().into_iter().filter(|phase| measured.contains(phase));
    let phases: Vec<&str> = phases.collect();
    let place = |row: &PhaseSummary| phases.iter().position(|phase| *phase == row.phase);
    let series = |(run, member): (&CastRun<'_>, &Member<'_>)| {
        let rows = run.rows_of(member.variant).filter(has);
        let placed = rows.filter_map(|(_, row)| Some((None, row, place(row)? as f64)));
        rate_series((run, member), Look::Bars, &placed.collect::<Vec<_>>())
    };
    let series: Vec<Series> = cast.members().flat_map(series).collect();
    let left_out = rows().map(|(_, row)| row.invalid.len() as u64).sum();
    let lost = cast.members().flat_map(|(run, member)| {
        let rows = run.rows_of(member.variant).filter(has).filter(|(_, row)| row.rate.is_none());
        rows.map(move |(_, row)| Lost {
            what: format!("{} {}", member.name, shown(&row.phase)),
            measurements: row.invalid.len() as u64,
        })
    });
    let notes = [about_disturbed(&series), about_invalid(left_out), about_lost(lost)];
    let about = "Without the sync at the end of a phase. More is faster.".to_string();
    let (key, what) =
        if unit == Unit::Bytes { ("bytes", "bytes") } else { ("rates", "operations") };
    whole(Figure {
        key: key.into(),
        title: format!("{} per second", if unit == Unit::Bytes { "Bytes" } else { "Operations" }),
        question: format!("How many {what} did each phase do in a second?"),
        x: Axis {
            label: "phase".into(),
            quantity: Quantity::Count,
            scale: Scale::Named(phases.iter().map(shown).collect()),
        },
        y: rate_axis(unit, Scale::Linear),
        shade: None,
        series,
        marks: Vec::new(),
        notes: [about].into_iter().chain(notes.into_iter().flatten()).collect(),
    })
}

/// What stands on an axis for rates in this unit.
pub(super) fn rate_axis(unit: Unit, scale: Scale) -> Axis {
    let (what, quantity) = match unit {
        Unit::Bytes => ("bytes", Quantity::ByteRate),
        _ => ("operations", Quantity::Operations),
    };
    Axis { label: format!("{what} per second"), quantity, scale }
}

/// A row of a group and its place from left to right.
pub(super) type Placed<'a> = (Option<&'a VariantSummary>, &'a PhaseSummary, f64);

/// The means of a member's rows, and the single values behind them where there are several.
pub(super) fn rate_series(
    (run, member): (&CastRun<'_>, &Member<'_>),
    look: Look,
    rows: &[Placed<'_>],
) -> [Series; 2] {
    let mean = |(_, row, x): &Placed<'_>| Some(estimated(*x, row.rate?, row.disturbed > 0));
    let single = |x: f64, one: RateValue| Point {
        n: one.n,
        disturbed: one.disturbed,
        ..Point::at(x, one.rate)
    };
    let raw = |(group, row, x): &Placed<'_>| {
        let level = group.and_then(|group| group.level.as_ref());
        let x = *x;
        let all = rate_values(run.analysis, run.measurements_of(member.variant), level, row);
        all.into_iter().map(move |one| single(x, one)).collect::<Vec<_>>()
    };
    let of_passes = |(_, row, _): &Placed<'_>| {
        row.rate
            .is_none_or(|rate| matches!(rate.basis, IntervalBasis::Passes | IntervalBasis::Slices))
    };
    let what = if rows.iter().all(of_passes) { "pass" } else { "repeat" };
    let series = |look: Look, what: &str, points: Vec<Point>| Series {
        name: member.name.clone(),
        colour: member.colour,
        look,
        what: what.into(),
        points,
    };
    [
        series(look, "mean", rows.iter().filter_map(mean).collect()),
        series(Look::Raw, what, rows.iter().flat_map(raw).collect()),
    ]
}

/// An estimate as a point.
pub(super) fn estimated(x: f64, estimate: Estimate, disturbed: bool) -> Point {
    let half = estimate.half_width;
    Point {
        interval: half.map(|half| [(estimate.mean - half).max(0.0), estimate.mean + half]),
        figures: Some(estimate.figures),
        n: u64::from(estimate.n),
        disturbed,
        ..Point::at(x, estimate.mean)
    }
}
