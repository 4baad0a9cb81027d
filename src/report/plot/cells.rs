//! A heat map: rows of cells, shaded by what they state.

use super::canvas::Canvas;
use super::frame::{Frame, MARGIN};
use super::row::{Ink, Row};
use super::{Style, axis_label, figure_text, legend};
use crate::report::charts::{AxisSpan, Chart, ChartPoint, SeriesLook};
use crate::report::text::shorten;

/// From little to much.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
const ASCII_SHADES: [char; 5] = ['.', ':', '+', '#', '@'];

/// The chart, and the scale of the shades.
pub(super) fn rows(chart: &Chart, style: &Style) -> Vec<Row> {
    let frame = Frame::new(chart, chart.y.names().len(), style);
    let mut canvas = Canvas::new(frame.columns + MARGIN, frame.height, true);
    let shade_span = chart.shade_span();
    for series in chart.series.iter().filter(|series| series.look == SeriesLook::Cells) {
        let Some(span) = &shade_span else { continue };
        for (at, value) in largest(&series.points, &frame).into_iter().enumerate() {
            let cell = [at % frame.columns, at / frame.columns];
            let symbol = value.map(|value| shade(span.share(value), style));
            symbol.into_iter().for_each(|s| canvas.symbol(cell, s, Ink::Series(series.colour)));
        }
    }
    let mut rows = frame.around(canvas.lines(), style);
    rows.extend(shade_span.map(|span| scale(&span, style)));
    rows.extend(legend::marks(chart, style));
    rows
}

fn shades(style: &Style) -> &'static [char] {
    if style.ascii { &ASCII_SHADES } else { &SHADES }
}

fn shade(share: f64, style: &Style) -> char {
    let shades = shades(style);
    shades[((share * shades.len() as f64).ceil() as usize).clamp(1, shades.len()) - 1]
}

/// The largest value in each cell of the canvas, row by row from the top.
fn largest(points: &[ChartPoint], frame: &Frame<'_>) -> Vec<Option<f64>> {
    let mut values: Vec<Option<f64>> = vec![None; frame.columns * frame.height];
    let column = |x: f64| (frame.x.share(x) * frame.columns as f64).round() as usize;
    for point in points {
        let Some(cell) = point.cell else { continue };
        let row = frame.height.saturating_sub(1 + point.y as usize);
        let left = column(point.x).min(frame.columns - 1);
        let right = column(cell.end).max(left + 1);
        for value in &mut values[row * frame.columns..][left..right] {
            *value = Some(value.map_or(cell.shade, |value| value.max(cell.shade)));
        }
    }
    values
}

/// Which shade is how much.
fn scale(span: &AxisSpan<'_>, style: &Style) -> Row {
    let [low, high] = [span.low, span.high].map(|end| figure_text(&span.axis.text(end), style));
    let shades: String = shades(style).iter().collect();
    let text = format!("{}: {low} {shades} {high}", axis_label(span.axis));
    Row::of(&shorten(&text, style.columns), Ink::Plain)
}
