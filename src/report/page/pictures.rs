//! The figures: their places in the page, and what the script draws them from.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::figures::{
    Axis, Figure, FigureTable, HEAT, Look, Mark, Point, Quantity, Scale, Series, Slot, colour,
    has_been,
};
use super::escape::{data, escape};
use super::tables::box_start;
use crate::base::units::grouped;

/// Each figure's place, in order.
pub(super) fn places(figures: &[Figure]) -> String {
    figures.iter().enumerate().map(|(at, figure)| place(at, figure)).collect()
}

fn place(at: usize, figure: &Figure) -> String {
    let [key, title, question] =
        [&figure.key, &figure.title, &figure.question].map(|text| escape(text));
    let notes: String =
        figure.notes.iter().map(|note| format!("<p class=\"note\">{}</p>", escape(note))).collect();
    let table = figure.table();
    let rows = grouped(table.rows.len() as u64);
    let plural = if table.rows.len() == 1 { "" } else { "s" };
    format!(
        "<figure id=\"{key}\" data-figure=\"{at}\">\n<figcaption><h3>{title}</h3>\
         <p class=\"question\">{question}</p></figcaption>\n\
         <div class=\"chart\" role=\"img\" aria-label=\"{title}. {question} Its figures are in the \
         table below it.\"></div>\n<div class=\"legend\"></div>\n{notes}\
         <details class=\"figures\"><summary>The {rows} value{plural} of this chart</summary>\n\
         {}{}</table></div></details>\n</figure>\n",
        box_start(&title),
        rows_of(&table),
    )
}

/// The table's content. The script reads from it what labels say.
fn rows_of(table: &FigureTable) -> String {
    let cells = |start: &str, cells: &[String], end: &str| -> String {
        cells.iter().map(|cell| format!("{start}{}{end}", escape(cell))).collect()
    };
    let heads = cells("<th scope=\"col\">", &table.head, "</th>");
    let rows = table.rows.iter();
    let rows = rows.map(|row| format!("<tr>{}</tr>\n", cells("<td>", row, "</td>")));
    format!("<thead><tr>{heads}</tr></thead><tbody>{}</tbody>", rows.collect::<String>())
}

/// All figures as the script reads them.
pub(super) fn drawn(figures: &[Figure]) -> String {
    data(&figures.iter().map(figure).collect::<Vec<_>>())
}

fn figure(figure: &Figure) -> Value {
    let series =
        figure.series.iter().zip(figure.slots()).map(|(one, slot)| series(figure, one, slot));
    json!({
        "key": figure.key,
        "title": figure.title,
        "question": figure.question,
        "x": axis(&figure.x, figure.range_x()),
        "y": axis(&figure.y, figure.range_y()),
        "shade": figure.shades().map(|(shade, range)| axis(shade, range)),
        "shades": figure.shade.as_ref().map(|_| HEAT.map(hex)),
        "series": series.collect::<Vec<_>>(),
        "marks": figure.marks.iter().map(|one| mark(one, &figure.x)).collect::<Vec<_>>(),
    })
}

/// `whole` tells whether ticks between whole numbers would make no sense.
fn axis(axis: &Axis, range: [f64; 2]) -> Value {
    let is_counted = matches!(axis.quantity, Quantity::Count | Quantity::Bytes);
    let whole = is_counted && range[1] - range[0] > 2.0;
    let (scale, names) = match &axis.scale {
        Scale::Linear => ("linear", None),
        Scale::Logarithmic => ("log", None),
        Scale::Named(names) => ("named", Some(names)),
    };
    json!({
        "label": axis.label, "quantity": quantity(axis.quantity), "scale": scale, "names": names,
        "range": range, "whole": whole,
    })
}

fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Count => "count",
        Quantity::Bytes => "bytes",
        Quantity::Percent => "percent",
        Quantity::Seconds => "seconds",
        Quantity::Operations => "operations",
        Quantity::ByteRate => "byte-rate",
        Quantity::Times => "times",
        Quantity::OneIn => "one-in",
        Quantity::Date => "date",
    }
}

fn look(look: Look) -> &'static str {
    match look {
        Look::Bars => "bars",
        Look::Markers => "markers",
        Look::Line => "line",
        Look::Curve => "curve",
        Look::Band => "band",
        Look::Law => "law",
        Look::Raw => "raw",
        Look::Cells => "cells",
    }
}

/// A series by columns, which takes least room.
#[derive(Serialize)]
struct Drawn<'a> {
    name: &'a str,
    what: &'a str,
    colour: [&'static str; 2],
    look: &'static str,
    /// How far to the right of their x the points stand.
    shift: f64,
    /// How wide a bar is.
    width: f64,
    /// Which of the dashes, markers or hatchings it has.
    pattern: usize,
    /// Whether another name had its colour before.
    again: bool,
    x: Vec<f64>,
    y: Vec<f64>,
    low: Option<Vec<Option<f64>>>,
    high: Option<Vec<Option<f64>>>,
    /// Places of points that something disturbed.
    disturbed: Vec<usize>,
    rectangles: Option<Rectangles>,
}

/// Rectangles by columns.
#[derive(Default, Serialize)]
struct Rectangles {
    left: Vec<f64>,
    right: Vec<f64>,
    bottom: Vec<f64>,
    top: Vec<f64>,
    shade: Vec<f64>,
    /// The place of the point that each stands for.
    point: Vec<usize>,
}

fn rectangles(figure: &Figure, series: &Series) -> Rectangles {
    let mut all = Rectangles::default();
    for one in figure.rectangles(series) {
        let ends = [&mut all.left, &mut all.right, &mut all.bottom, &mut all.top];
        for (column, end) in ends.into_iter().zip(one.x.into_iter().chain(one.y)) {
            column.push(rounded(end));
        }
        all.shade.push(rounded(one.shade));
        all.point.push(one.point);
    }
    all
}

fn series(figure: &Figure, series: &Series, slot: Slot) -> Value {
    let points = &series.points;
    let column = |of: fn(&Point) -> f64| points.iter().map(|point| rounded(of(point))).collect();
    let maybe = |of: fn(&Point) -> Option<f64>| -> Option<Vec<Option<f64>>> {
        let any = points.iter().any(|point| of(point).is_some());
        any.then(|| points.iter().map(|point| of(point).map(rounded)).collect())
    };
    let disturbed = points.iter().enumerate().filter(|(_, point)| point.disturbed);
    json!(Drawn {
        name: &series.name,
        what: &series.what,
        colour: both(series.colour),
        look: look(series.look),
        shift: slot.shift,
        width: slot.width,
        pattern: slot.pattern,
        again: has_been(series.colour),
        x: column(|point| point.x),
        y: column(|point| point.y),
        low: maybe(|point| point.interval.map(|[low, _]| low)),
        high: maybe(|point| point.interval.map(|[_, high]| high)),
        disturbed: disturbed.map(|(at, _)| at).collect(),
        rectangles: (series.look == Look::Cells).then(|| rectangles(figure, series)),
    })
}

fn mark(mark: &Mark, x: &Axis) -> Value {
    json!({
        "x": rounded(mark.x),
        "interval": mark.interval.map(|ends| ends.map(rounded)),
        "label": mark.label,
        "colour": mark.colour.map(both),
        "text": x.text(mark.x),
        "span": mark.interval.map(|ends| ends.map(|end| x.text(end))),
    })
}

/// On a light and on a dark ground.
fn both(number: usize) -> [&'static str; 2] {
    let colour = colour(number);
    [colour.light, colour.dark]
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// To ten figures, which is more than a screen shows and half of what all digits take.
fn rounded(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_rounded_finer_than_a_screen_shows() {
        assert_eq!(rounded(0.1 + 0.2), 0.3);
        assert_eq!(rounded(1_790_000_123.0), 1_790_000_123.0);
        assert!(rounded(f64::NAN).is_nan() && rounded(f64::INFINITY).is_infinite());
    }
}
