//! The pictures of a run, made once as plain data: every rendering draws the same points, with the
//! same colours, marks and units. One file here for each kind of picture.

mod cast;
mod cells;
mod model;
mod palette;
mod range;
mod rates;
mod slots;
mod ticks;

use crate::measure::book::ResultBook;

pub(crate) use cells::{Rectangle, steps};
pub(crate) use model::{Axis, Figure, FigureTable, Look, Mark, Point, Quantity, Scale, Series};
pub(crate) use palette::{Colour, colour};
pub(crate) use slots::{Slot, aside};
pub(crate) use ticks::Tick;

/// All pictures that these runs give, in the order in which a reader wants them. With several runs
/// they stand beside each other.
pub(crate) fn figures(books: &[&ResultBook]) -> Vec<Figure> {
    rates::rates(books)
}
