//! The pictures of a run, made once as plain data: every rendering draws the same points, with the
//! same colours, marks and units. One file here for each kind of picture.

mod amplification;
mod cast;
mod cells;
mod course;
mod heat;
mod history;
mod keys;
mod levels;
mod model;
mod palette;
mod percentiles;
mod range;
mod rates;
mod shades;
mod slots;
mod tails;
mod ticks;
mod whole;

use crate::measure::analysis::Analysis;

pub(crate) use cells::Rectangle;
pub(crate) use model::{Axis, Figure, FigureTable, Look, Mark, Point, Quantity, Scale, Series};
pub(crate) use palette::{COLOURS, Colour, colour, has_been};
pub(crate) use shades::{HEAT, heat};
pub(crate) use slots::{Slot, aside};
pub(crate) use ticks::Tick;

/// All pictures that these runs give, in the order in which a reader wants them. With several runs
/// they stand beside each other.
pub(crate) fn figures(analyses: &[&Analysis<'_>]) -> Vec<Figure> {
    let cast = cast::Cast::of(analyses);
    let mut keys = keys::Keys::default();
    let mut all = rates::rates(&cast);
    all.extend(levels::levels(&cast, &mut keys));
    all.extend(history::histories(&cast, &mut keys));
    all.extend(course::courses(&cast, &mut keys));
    all.extend(tails::tails(&cast, &mut keys));
    all.extend(percentiles::percentiles(&cast, &mut keys));
    all.extend(heat::heats(&cast, &mut keys));
    all.extend(amplification::amplifications(&cast));
    all
}

#[cfg(test)]
mod tests;
