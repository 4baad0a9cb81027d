//! A ground of rectangles, shaded by what they tell.

use super::canvas::Canvas;
use super::frame::{Frame, MARGIN, Span};
use super::row::{Ink, Row};
use super::{Style, axis_label, figure_text, legend, lines};
use crate::report::figures::{Axis, Figure, Look, Rectangle, Scale, Series};
use crate::report::text::shorten;

/// From nothing to most.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
const ASCII_SHADES: [char; 6] = [' ', '.', ':', '+', '#', '@'];

/// The picture, and the scale of the shades. Series lie beside each other on one ground.
pub(super) fn rows(figure: &Figure, style: &Style) -> Vec<Row> {
    let height = match &figure.y.scale {
        Scale::Named(names) => names.len().max(1),
        _ => lines::height(style),
    };
    let frame = Frame::new(figure, height, style);
    let mut canvas = Canvas::new(frame.columns + MARGIN, frame.height, true);
    let grounds = figure.series.iter().filter(|series| series.look == Look::Cells);
    grounds.for_each(|series| shade(figure, series, &frame, &mut canvas, style));
    let mut rows = frame.around(canvas.lines(), style);
    rows.extend(scale(figure, style));
    rows.extend(legend::marks(figure, style));
    rows
}

fn shades(style: &Style) -> &'static [char] {
    if style.ascii { &ASCII_SHADES } else { &SHADES }
}

fn shade(figure: &Figure, series: &Series, frame: &Frame<'_>, canvas: &mut Canvas, style: &Style) {
    let range = range(figure);
    for (at, value) in values(&figure.rectangles(series), frame).iter().enumerate() {
        let Some(share) = value.and_then(|value| shade_share(value, figure, range)) else {
            continue;
        };
        let shades = shades(style);
        let number = (share * (shades.len() - 1) as f64).ceil() as usize;
        let shade = shades[number.clamp(1, shades.len() - 1)];
        let cell = [at % frame.columns, at / frame.columns];
        canvas.symbol(cell, shade, Ink::Series(series.colour));
    }
}

/// The largest value in each cell of the canvas, row by row from the top.
fn values(rectangles: &[Rectangle], frame: &Frame<'_>) -> Vec<Option<f64>> {
    let mut values: Vec<Option<f64>> = vec![None; frame.columns * frame.height];
    for Rectangle { x, y, shade, .. } in rectangles {
        let across = covered(*x, &frame.x, frame.columns);
        let up = covered(*y, &frame.y, frame.height);
        let (Some([left, right]), Some([low, high])) = (across, up) else { continue };
        for row in frame.height.saturating_sub(high)..frame.height.saturating_sub(low) {
            for value in &mut values[row * frame.columns..][left..right] {
                *value = Some(value.map_or(*shade, |value| value.max(*shade)));
            }
        }
    }
    values
}

/// The cells between two ends, at least one, the last not included.
fn covered(ends: [f64; 2], span: &Span<'_>, cells: usize) -> Option<[usize; 2]> {
    let [from, to] = ends.map(|end| span.share(end));
    let at = |share: f64| (share * cells as f64).round() as usize;
    let from = at(from?).min(cells.saturating_sub(1));
    Some([from, at(to?).clamp(from + 1, cells.max(from + 1))])
}

/// The least and the largest value of all grounds.
fn range(figure: &Figure) -> [f64; 2] {
    let points = figure.series.iter().flat_map(|series| &series.points);
    let values = points.filter_map(|point| point.shade).filter(|shade| shade.is_finite());
    let values = values.filter(|value| *value > 0.0);
    let ends =
        values.fold([f64::INFINITY, 0.0], |[low, high], value| [value.min(low), value.max(high)]);
    if ends[0] <= ends[1] { ends } else { [0.0, 1.0] }
}

/// How dark a value is, from the least to the largest; none if it is nothing.
fn shade_share(value: f64, figure: &Figure, [low, high]: [f64; 2]) -> Option<f64> {
    if value <= 0.0 {
        return None;
    }
    let share = match is_logarithmic(figure.shade.as_ref()) {
        true => (value / low).ln() / (high / low).ln(),
        false => (value - low) / (high - low),
    };
    Some(if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 })
}

fn is_logarithmic(shade: Option<&Axis>) -> bool {
    shade.is_some_and(|axis| axis.scale == Scale::Logarithmic)
}

/// Which shade is how much.
fn scale(figure: &Figure, style: &Style) -> Vec<Row> {
    let Some(axis) = &figure.shade else { return Vec::new() };
    let [low, high] = range(figure).map(|end| figure_text(&without_zeros(axis.text(end)), style));
    let shades: String = shades(style)[1..].iter().collect();
    let text = format!("{}: {low} {shades} {high}", axis_label(axis));
    vec![Row::of(&shorten(&text, style.columns), Ink::Plain)]
}

/// `10` for `10.00`, if it is a number alone.
fn without_zeros(text: String) -> String {
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',');
    match text.split_once('.').filter(|_| is_plain) {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        None => text,
    }
}
