//! The data of a picture: a block for each series, two empty lines apart, as gnuplot's `index` counts
//! them.

use std::fmt::Write;

use super::words::number;
use crate::base::failure::shown;
use crate::report::figures::{Figure, Look, Point, Series, Slot, aside};

const POINTS: &str = "place x value low high n disturbed";
const CELLS: &str = "left right low high shade n";

/// The rows of a series.
pub(super) struct Block<'a> {
    pub(super) series: &'a Series,
    pub(super) slot: Slot,
    pub(super) rows: Vec<String>,
    pub(super) has_intervals: bool,
    pub(super) has_disturbed: bool,
}

/// Series that have rows, in order.
pub(super) fn blocks(figure: &Figure) -> Vec<Block<'_>> {
    let all = figure.series.iter().zip(figure.slots());
    let all = all.map(|(series, slot)| block(figure, series, slot));
    all.filter(|block| !block.rows.is_empty()).collect()
}

fn block<'a>(figure: &'a Figure, series: &'a Series, slot: Slot) -> Block<'a> {
    let drawn: Vec<&Point> = series
        .points
        .iter()
        .filter(|point| figure.x.has(point.x) && figure.y.has(point.y))
        .filter(|point| series.look != Look::Band || point.interval.is_some())
        .collect();
    let rows = match series.look {
        Look::Cells => cells(figure, series),
        _ => points(series, slot, &drawn),
    };
    Block {
        series,
        slot,
        rows,
        has_intervals: drawn.iter().any(|point| point.interval.is_some()),
        has_disturbed: drawn.iter().any(|point| point.disturbed),
    }
}

fn points(series: &Series, slot: Slot, drawn: &[&Point]) -> Vec<String> {
    let row = |(at, point): (usize, &&Point)| {
        let aside = if series.look == Look::Raw { aside(at) * slot.width } else { 0.0 };
        let [low, high] = point.interval.unwrap_or([f64::NAN; 2]);
        let numbers = [point.x + slot.shift + aside, point.x, point.y, low, high].map(number);
        format!("{} {} {}", numbers.join(" "), point.n, u8::from(point.disturbed))
    };
    drawn.iter().enumerate().map(row).collect()
}

fn cells(figure: &Figure, series: &Series) -> Vec<String> {
    let all = figure.rectangles(series).into_iter();
    let row = |one: crate::report::figures::Rectangle| {
        let numbers = [one.x[0], one.x[1], one.y[0], one.y[1], one.shade].map(number);
        format!("{} {}", numbers.join(" "), one.n)
    };
    all.map(row).collect()
}

/// The file. What is not known is NaN.
pub(super) fn text(figure: &Figure, blocks: &[Block<'_>]) -> String {
    let mut text = format!(
        "# {}: {} by {}, in bytes, seconds, percent or counts\n",
        shown(&figure.title),
        shown(&figure.y.label),
        shown(&figure.x.label)
    );
    for block in blocks {
        let Series { name, what, look, .. } = block.series;
        let columns = if *look == Look::Cells { CELLS } else { POINTS };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {}, {}\n# {columns}", shown(name), shown(what));
        block.rows.iter().for_each(|row| text.extend([row, "\n"]));
        text.push_str("\n\n");
    }
    text
}
