//! Draws lines, curves, bands, growth laws, markers, raw points and shaded cells between two axes.

use super::canvas::{Canvas, Ink, Pen, Row};
use super::frame;
use super::frame::{Frame, MARGIN};
use super::style::Style;
use super::words::axis_label;
use crate::report::charts::{AxisSpan, Chart, ChartPoint, ChartSeries, SeriesLook, SeriesSlot};
use crate::report::text::shorten;

/// Rows of a canvas on a narrow and on a wide terminal.
const HEIGHTS: [usize; 2] = [10, 14];

/// Columns from which a terminal is wide.
const WIDE_COLUMNS: usize = 100;

/// The letters at the ends of lines look for a free cell so many rows up and down.
const LETTER_ROWS: usize = 3;

pub(super) fn rows(chart: &Chart, style: &Style) -> Vec<Row> {
    let height = HEIGHTS[usize::from(style.columns >= WIDE_COLUMNS)];
    let frame = Frame::new(chart, height, style);
    let mut canvas = Canvas::new(frame.columns + MARGIN, frame.height, style.ascii);
    let mut drawing = Drawing { frame: &frame, canvas: &mut canvas, style };
    let names = chart.names();
    let letter = |series: &ChartSeries| {
        let at = names.iter().position(|(name, _)| *name == series.name);
        frame::letter(at.unwrap_or_default())
    };
    let order = chart.back_to_front();
    for (_, series, slot) in &order {
        let aside = drawing.aside(*slot);
        drawing.series(series, aside, letter(series));
    }
    drawing.marks(chart);
    let mut lettered = Vec::new();
    for (_, series, _) in order.iter().rev() {
        // Markers are letters themselves, and in ASCII so are lines.
        let has_letters =
            style.ascii || matches!(series.look, SeriesLook::Raw | SeriesLook::Markers);
        if !has_letters && !lettered.contains(&&series.name) {
            drawing.letter(series, letter(series));
            lettered.push(&series.name);
        }
    }
    let mut rows = frame.around(canvas.lines(), style);
    rows.extend(frame::legend(chart, style));
    rows.extend(frame::mark_rows(chart, style));
    rows
}

struct Drawing<'a> {
    frame: &'a Frame<'a>,
    canvas: &'a mut Canvas,
    style: &'a Style,
}

impl Drawing<'_> {
    /// Where a point lies on the canvas, whose right margin is no part of the plot.
    fn place(&self, point: &ChartPoint) -> [f64; 2] {
        [self.across(point.x), self.frame.y.share(point.y)]
    }

    fn across(&self, x: f64) -> f64 {
        let last = self.canvas.dots_across().saturating_sub(1).max(1);
        self.frame.x.share(x) * self.dots().saturating_sub(1) as f64 / last as f64
    }

    /// Dots of the picture from left to right.
    fn dots(&self) -> usize {
        self.canvas.dots_across() * self.frame.columns / (self.frame.columns + MARGIN)
    }

    /// How far right of their numbers the points of a series stand, so that intervals of several do
    /// not lie on each other: in cells of their own where those have room, else as far as there is;
    /// 0 if that is less than a dot.
    fn aside(&self, slot: SeriesSlot) -> f64 {
        let Some(lane) = slot.lane else { return 0.0 };
        let dot = (self.frame.x.high - self.frame.x.low) / (self.dots() - 1).max(1) as f64;
        let cell = dot * (self.dots() / self.frame.columns.max(1)) as f64;
        let step = cell.min(lane.gap / (lane.number + 1) as f64);
        if step < dot { 0.0 } else { lane.place * step }
    }

    fn series(&mut self, series: &ChartSeries, aside: f64, letter: char) {
        let points: Vec<ChartPoint> =
            series.points.iter().map(|point| ChartPoint { x: point.x + aside, ..*point }).collect();
        let (rank, ink) =
            (series.look.min(SeriesLook::Curve) as u8 + 1, Ink::Series(series.colour));
        let pen = Pen { ink, symbol: letter, rank, every: 1 };
        match series.look {
            SeriesLook::Band => self.band(&points, &Pen { symbol: ':', ..pen }),
            SeriesLook::Law => self.course(&points, &Pen { symbol: '.', every: 4, ..pen }),
            SeriesLook::Curve => self.course(&points, &pen),
            SeriesLook::Line => {
                self.whiskers(&points, &Pen { symbol: '|', rank: rank - 1, ..pen });
                self.course(&points, &pen);
            }
            SeriesLook::Markers => {
                self.whiskers(&points, &Pen { symbol: '|', rank: rank - 1, ..pen });
                self.markers(&points, letter, ink);
            }
            SeriesLook::Raw | SeriesLook::Bars | SeriesLook::Cells => {
                let pen = Pen { symbol: ',', ..pen };
                for point in &points {
                    let place = self.place(point);
                    self.canvas.line(place, place, &pen);
                }
            }
        }
    }

    fn course(&mut self, points: &[ChartPoint], pen: &Pen) {
        for (at, point) in points.iter().enumerate() {
            let from = self.place(&points[at.saturating_sub(1)]);
            self.canvas.line(from, self.place(point), pen);
        }
    }

    fn whiskers(&mut self, points: &[ChartPoint], pen: &Pen) {
        for point in points {
            let Some(ends) = point.interval else { continue };
            let [low, high] = ends.map(|end| [self.across(point.x), self.frame.y.share(end)]);
            self.canvas.line(low, high, pen);
        }
    }

    fn markers(&mut self, points: &[ChartPoint], letter: char, ink: Ink) {
        for point in points {
            let cell = self.canvas.cell_at(self.place(point));
            self.canvas.symbol(cell, letter, ink);
        }
    }

    /// The ground between the ends: one dot in eight, so that lines stand out from it.
    fn band(&mut self, points: &[ChartPoint], pen: &Pen) {
        let ends = |point: &ChartPoint| {
            let [low, high] = point.interval?.map(|end| self.frame.y.share(end));
            Some([self.across(point.x), low, high])
        };
        let ends: Vec<[f64; 3]> = points.iter().filter_map(ends).collect();
        let alone = ends.first().filter(|_| ends.len() == 1).map(|one| [*one, *one]);
        let parts: Vec<[[f64; 3]; 2]> =
            ends.windows(2).map(|two| [two[0], two[1]]).chain(alone).collect();
        for [from, to] in parts {
            let [first, _] = self.canvas.dot_at([from[0], 0.0]);
            let [last, _] = self.canvas.dot_at([to[0], 0.0]);
            for x in first..=last.max(first) {
                let share = (x - first) as f64 / (last.saturating_sub(first)).max(1) as f64;
                let ends = [1, 2].map(|at| from[at] + (to[at] - from[at]) * share);
                self.stipple(x, ends, pen);
            }
        }
    }

    fn stipple(&mut self, x: usize, ends: [f64; 2], pen: &Pen) {
        let [[_, bottom], [_, top]] = ends.map(|end| self.canvas.dot_at([0.0, end]));
        for y in top.min(bottom)..=bottom.max(top) {
            let is_dotted = x.is_multiple_of(2) && (y + x).is_multiple_of(4);
            if is_dotted || self.style.ascii {
                self.canvas.dot([x, y], pen);
            }
        }
    }

    /// Values that a finding names, each with its digit on top.
    fn marks(&mut self, chart: &Chart) {
        for (at, mark) in chart.marks.iter().enumerate() {
            let ink = mark.colour.map_or(Ink::Bold, Ink::Series);
            let [column, _] = self.canvas.cell_at([self.across(mark.x), 0.0]);
            for row in 1..self.frame.height {
                self.canvas.letter([column, row], '┊', ink);
            }
            self.canvas.symbol([column, 0], frame::digit(at), ink);
        }
    }

    /// The letter of a series, near the end of its line.
    fn letter(&mut self, series: &ChartSeries, letter: char) {
        let Some(last) = series.points.last() else { return };
        let [column, row] = self.canvas.cell_at(self.place(last));
        let ink = Ink::Series(series.colour);
        for by in 0..=LETTER_ROWS {
            for row in [row.checked_sub(by), Some(row + by)].into_iter().flatten() {
                for right in 1..=MARGIN {
                    if self.canvas.letter([column + right, row], letter, ink) {
                        return;
                    }
                }
            }
        }
    }
}

// --- heat maps ---------------------------------------------------------------------------------

const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
const ASCII_SHADES: [char; 5] = ['.', ':', '+', '#', '@'];

/// The chart, and the scale of the shades.
pub(super) fn heat_map(chart: &Chart, style: &Style) -> Vec<Row> {
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
    rows.extend(frame::mark_rows(chart, style));
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

fn scale(span: &AxisSpan<'_>, style: &Style) -> Row {
    let [low, high] = [span.low, span.high].map(|end| span.axis.text(end));
    let shades: String = shades(style).iter().collect();
    let text = format!("{}: {low} {shades} {high}", axis_label(span.axis));
    Row::of(&shorten(&text, style.columns), Ink::Plain)
}
