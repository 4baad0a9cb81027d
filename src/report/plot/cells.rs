//! A ground of rectangles, shaded by what they tell.

use super::canvas::Canvas;
use super::frame::{Frame, MARGIN, Span};
use super::row::{Ink, Row};
use super::{Style, axis_label, figure_text, legend, lines};
use crate::report::figures::{Axis, Figure, Look, Scale, Series, steps};
use crate::report::text::shorten;

/// From nothing to most.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
const ASCII_SHADES: [char; 6] = [' ', '.', ':', '+', '#', '@'];

/// The picture: a ground for each series with its name above it, and the scale of the shades.
pub(super) fn rows(figure: &Figure, style: &Style) -> Vec<Row> {
    let grounds: Vec<&Series> =
        figure.series.iter().filter(|series| series.look == Look::Cells).collect();
    let mut rows = Vec::new();
    for series in &grounds {
        if grounds.len() > 1 {
            rows.push(Row::of(&shorten(&series.name, style.columns), Ink::Plain));
        }
        rows.extend(ground(figure, series, style));
    }
    rows.extend(scale(figure, style));
    rows.extend(legend::marks(figure, style));
    rows
}

fn shades(style: &Style) -> &'static [char] {
    if style.ascii { &ASCII_SHADES } else { &SHADES }
}

fn ground(figure: &Figure, series: &Series, style: &Style) -> Vec<Row> {
    let named = match &figure.y.scale {
        Scale::Named(names) => names.len(),
        _ => usize::MAX,
    };
    let frame = Frame::new(figure, lines::height(style).min(named), style);
    let mut canvas = Canvas::new(frame.columns + MARGIN, frame.height, true);
    let values = values(series, figure, &frame);
    let range = range(figure);
    for (at, value) in values.iter().enumerate() {
        let Some(share) = value.and_then(|value| shade_share(value, figure, range)) else {
            continue;
        };
        let shades = shades(style);
        let number = (share * (shades.len() - 1) as f64).ceil() as usize;
        let shade = shades[number.clamp(1, shades.len() - 1)];
        let cell = [at % frame.columns, at / frame.columns];
        canvas.symbol(cell, shade, Ink::Series(series.colour));
    }
    frame.around(canvas.lines(), style)
}

/// The largest value in each cell of the canvas, row by row from the top.
fn values(series: &Series, figure: &Figure, frame: &Frame<'_>) -> Vec<Option<f64>> {
    let mut values: Vec<Option<f64>> = vec![None; frame.columns * frame.height];
    let across = steps(series, &figure.x, |point| point.x);
    let up = steps(series, &figure.y, |point| point.y);
    for point in &series.points {
        let Some(shade) = point.shade.filter(|shade| shade.is_finite()) else { continue };
        let Some([left, right]) = covered(point.x, &across, &frame.x, frame.columns) else {
            continue;
        };
        let Some([low, high]) = covered(point.y, &up, &frame.y, frame.height) else { continue };
        for row in frame.height.saturating_sub(high)..frame.height - low {
            for value in &mut values[row * frame.columns..][left..right] {
                *value = Some(value.map_or(shade, |value| value.max(shade)));
            }
        }
    }
    values
}

/// The cells from the place of a rectangle to the next one's: at least one, the last not included.
fn covered(value: f64, ends: &[f64], span: &Span<'_>, cells: usize) -> Option<[usize; 2]> {
    let next = ends.partition_point(|end| *end <= value);
    let [from, to] = [value, *ends.get(next)?].map(|end| span.share(end));
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

/// How dark a value is; none if it is nothing.
fn shade_share(value: f64, figure: &Figure, [low, high]: [f64; 2]) -> Option<f64> {
    if value <= 0.0 {
        return None;
    }
    let is_logarithmic = is_logarithmic(figure.shade.as_ref());
    let share = match is_logarithmic {
        true => (value / low).ln() / (high / low).ln(),
        false => value / high,
    };
    Some(if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 })
}

fn is_logarithmic(shade: Option<&Axis>) -> bool {
    shade.is_some_and(|axis| axis.scale == Scale::Logarithmic)
}

/// Which shade is how much.
fn scale(figure: &Figure, style: &Style) -> Vec<Row> {
    let Some(axis) = &figure.shade else { return Vec::new() };
    let [low, high] = range(figure);
    let low = if is_logarithmic(Some(axis)) { low } else { 0.0 };
    let [low, high] = [low, high].map(|end| figure_text(&without_zeros(axis.text(end)), style));
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
