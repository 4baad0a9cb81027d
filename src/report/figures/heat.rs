//! Latency over the course of each phase, a row for each measurement.

use super::cast::{Cast, CastRun, Member};
use super::keys::Keys;
use super::whole::{about_disturbed, about_last_level, points, scale_for, seconds, whole};
use super::{Axis, Figure, Look, Point, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::base::units::counted;
use crate::measure::book::Level;
use crate::measure::course::{SlicedMeasurement, SlicedPhase, sliced, sliced_phases};
use crate::measure::order::each_once;
use crate::measure::statistics::describe::median;

/// Rows that can be told apart.
const ROWS_MAX: usize = 40;

/// How many times the median the largest must be for a logarithmic scale.
const FAR: f64 = 5.0;

/// One picture for each phase that has slices.
pub(super) fn heats(cast: &Cast<'_>, keys: &mut Keys) -> Vec<Figure> {
    let phases = each_once(cast.runs.iter().flat_map(|run| sliced_phases(run.analysis.book)));
    phases.into_iter().filter_map(|phase| figure(cast, phase, keys)).collect()
}

/// A row with whom it is of.
type Owned<'a> = (&'a Member<'a>, SlicedMeasurement<'a>);

fn figure(cast: &Cast<'_>, phase: &str, keys: &mut Keys) -> Option<Figure> {
    let most = (ROWS_MAX / cast.runs.len().max(1)).max(1);
    let all: Vec<(&CastRun<'_>, SlicedPhase<'_>)> =
        cast.runs.iter().map(|run| (run, sliced(run.analysis, phase, most))).collect();
    let rows = all.iter().flat_map(|(run, sliced)| {
        sliced
            .measurements
            .iter()
            .filter_map(move |row| Some((run.member(row.variant)?, row.clone())))
    });
    // The first stands at the top.
    let rows: Vec<Owned<'_>> = rows.collect::<Vec<_>>().into_iter().rev().collect();
    let series = series(&rows);
    let shades: Vec<f64> = points(&series).filter_map(|point| point.shade).collect();
    let shade = Axis {
        label: "mean latency".into(),
        quantity: Quantity::Seconds,
        scale: shade_scale(&shades),
    };
    let others = all.iter().filter(|(_, sliced)| sliced.has_other_levels);
    let levels: Vec<&Level> = others.filter_map(|(_, sliced)| sliced.level).collect();
    let left_out: usize = all.iter().map(|(_, sliced)| sliced.left_out).sum();
    let left_out = (left_out > 0).then(|| {
        format!("{} more left out, of each variant the last ones.", counted(left_out as u64, "row"))
    });
    let about = "Each cell is the mean latency of as many operations as the next one.".to_string();
    let notes = [about_last_level(&levels), left_out, about_disturbed(&series)];
    let name = shown(phase);
    whole(Figure {
        key: keys.of("heat", phase),
        title: format!("{name}: latency over its course"),
        question: format!("When during {name} were operations slow?"),
        x: Axis {
            label: "operations done of the phase".into(),
            quantity: Quantity::Percent,
            scale: Scale::Linear,
        },
        y: Axis {
            label: "variant and repeat".into(),
            quantity: Quantity::Count,
            scale: Scale::Named(rows.iter().map(row_name).collect()),
        },
        shade: Some(shade),
        series,
        marks: Vec::new(),
        notes: [about].into_iter().chain(notes.into_iter().flatten()).collect(),
    })
}

/// The scale on which a slow slice does not make all others look alike.
fn shade_scale(shades: &[f64]) -> Scale {
    let most = shades.iter().fold(0.0, |most: f64, shade| most.max(*shade));
    let is_positive = shades.iter().all(|shade| *shade > 0.0);
    if is_positive && most > FAR * median(shades) {
        return Scale::Logarithmic;
    }
    scale_for(shades.iter().copied())
}

fn row_name((member, row): &Owned<'_>) -> String {
    let pass = row.pass.map_or(String::new(), |pass| format!(" pass {pass}"));
    format!("{} repeat {}{pass}", member.name, row.repeat)
}

fn series(rows: &[Owned<'_>]) -> Vec<Series> {
    let colours = each_once(rows.iter().rev().map(|(member, _)| member.colour));
    let of = |colour: usize| {
        let own = rows.iter().enumerate().filter(move |(_, (member, _))| member.colour == colour);
        let name = own.clone().next().map_or(String::new(), |(_, (member, _))| member.name.clone());
        let points = own.flat_map(|(place, (_, row))| cells(place, row)).collect();
        Series { name, colour, look: Look::Cells, what: "slice".into(), points }
    };
    colours.into_iter().map(of).collect()
}

fn cells(place: usize, row: &SlicedMeasurement<'_>) -> Vec<Point> {
    let number = row.slices_ns.len() as f64;
    let cell = |(at, ns): (usize, &f64)| Point {
        shade: Some(seconds(*ns)),
        disturbed: row.disturbed,
        ..Point::at(100.0 * at as f64 / number, place as f64)
    };
    row.slices_ns.iter().enumerate().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_slice_does_not_hide_how_the_others_differ() {
        let mut shades = vec![1e-5, 1.2e-5, 1.1e-5, 4.9e-5];
        assert_eq!(shade_scale(&shades), Scale::Linear);
        shades[3] = 6e-5;
        assert_eq!(shade_scale(&shades), Scale::Logarithmic);
        shades[0] = 0.0;
        assert_eq!(shade_scale(&shades), Scale::Linear, "0 has no logarithm");
        assert_eq!(shade_scale(&[]), Scale::Linear);
    }
}
