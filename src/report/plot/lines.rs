//! Lines, curves, bands, laws, markers and raw points on a canvas between two axes.

use super::canvas::{Canvas, Pen};
use super::frame::{Frame, MARGIN, Span};
use super::row::{Ink, Row};
use super::{Style, legend};
use crate::report::figures::{Figure, Look, Point, Series};

/// Rows of a canvas on a narrow and on a wide terminal.
const HEIGHTS: [usize; 2] = [10, 14];

/// Columns from which a terminal is wide.
const WIDE_COLUMNS: usize = 100;

/// The letters at the ends of lines look for a free cell so many rows up and down.
const LETTER_ROWS: usize = 3;

/// Rows of a canvas.
pub(super) fn height(style: &Style) -> usize {
    HEIGHTS[usize::from(style.columns >= WIDE_COLUMNS)]
}

/// The picture with its axes and its legend.
pub(super) fn rows(figure: &Figure, style: &Style) -> Vec<Row> {
    let frame = Frame::new(figure, height(style), style);
    let mut canvas = Canvas::new(frame.columns + MARGIN, frame.height, style.ascii);
    let mut drawing = Drawing { frame: &frame, canvas: &mut canvas, style };
    let mut order: Vec<&Series> = figure.series.iter().collect();
    order.sort_by_key(|series| rank(series.look));
    let names = figure.names();
    let number = |series: &Series| {
        names.iter().position(|(name, _)| *name == series.name).unwrap_or_default()
    };
    for series in &order {
        let aside = drawing.aside(figure, series);
        drawing.series(series, aside, legend::letter(number(series)));
    }
    drawing.marks(figure);
    let mut lettered = Vec::new();
    for series in order.iter().rev() {
        // Markers are letters themselves, and in ASCII so are lines.
        let has_letters = style.ascii || matches!(series.look, Look::Raw | Look::Markers);
        if !has_letters && !lettered.contains(&&series.name) {
            drawing.letter(series, legend::letter(number(series)));
            lettered.push(&series.name);
        }
    }
    let mut rows = frame.around(canvas.lines(), style);
    rows.extend(legend::series(figure, style));
    rows.extend(legend::marks(figure, style));
    rows
}

/// What lies on top of what.
fn rank(look: Look) -> u8 {
    match look {
        Look::Cells | Look::Bars | Look::Band => 1,
        Look::Raw => 2,
        Look::Law => 3,
        Look::Curve | Look::Line | Look::Markers => 4,
    }
}

struct Drawing<'a> {
    frame: &'a Frame<'a>,
    canvas: &'a mut Canvas,
    style: &'a Style,
}

impl Drawing<'_> {
    /// Where a point lies on the canvas, whose right margin is no part of the picture.
    fn place(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        Some([self.across(x)?, self.frame.y.share(y)?])
    }

    fn across(&self, x: f64) -> Option<f64> {
        let last = self.canvas.dots_across().saturating_sub(1).max(1);
        let share = self.frame.x.share(x)?;
        Some(share * self.dots().saturating_sub(1) as f64 / last as f64)
    }

    /// Dots of the picture from left to right.
    fn dots(&self) -> usize {
        self.canvas.dots_across() * self.frame.columns / (self.frame.columns + MARGIN)
    }

    /// How far right of their numbers the points of a series stand, so that intervals of several do
    /// not lie on each other: in cells of their own where those have room, else as far as there is;
    /// 0 if that is less than a dot.
    fn aside(&self, figure: &Figure, series: &Series) -> f64 {
        let Some(lane) = figure.lane(series) else { return 0.0 };
        let dot = self.frame.x.part(self.dots().saturating_sub(1));
        let cell = dot * (self.dots() / self.frame.columns.max(1)) as f64;
        let step = cell.min(lane.gap / (lane.number + 1) as f64);
        if step < dot { 0.0 } else { lane.place() * step }
    }

    fn series(&mut self, series: &Series, aside: f64, letter: char) {
        let points: Vec<Point> =
            series.points.iter().map(|point| Point { x: point.x + aside, ..*point }).collect();
        let (rank, ink) = (rank(series.look), Ink::Series(series.colour));
        let pen = Pen { ink, symbol: letter, rank, every: 1 };
        match series.look {
            Look::Band => self.band(&points, &Pen { symbol: ':', ..pen }),
            Look::Law => self.course(&points, &Pen { symbol: '.', every: 4, ..pen }),
            Look::Curve => self.course(&points, &pen),
            Look::Line => {
                self.whiskers(&points, &Pen { symbol: '|', rank: rank - 1, ..pen });
                self.course(&points, &pen);
            }
            Look::Markers => {
                self.whiskers(&points, &Pen { symbol: '|', rank: rank - 1, ..pen });
                self.markers(&points, letter, ink);
            }
            Look::Raw | Look::Bars | Look::Cells => {
                let places: Vec<_> = points.iter().filter_map(|p| self.place(p.x, p.y)).collect();
                let pen = Pen { symbol: ',', ..pen };
                places.into_iter().for_each(|place| self.canvas.line(place, place, &pen));
            }
        }
    }

    /// A line through points; a gap where one has no place.
    fn course(&mut self, points: &[Point], pen: &Pen) {
        let places: Vec<_> = points.iter().map(|p| self.place(p.x, p.y)).collect();
        for (at, place) in places.iter().enumerate() {
            let Some(place) = place else { continue };
            let before = at.checked_sub(1).and_then(|before| places[before]);
            self.canvas.line(before.unwrap_or(*place), *place, pen);
        }
    }

    fn whiskers(&mut self, points: &[Point], pen: &Pen) {
        for point in points {
            let Some([low, high]) = point.interval else { continue };
            let Some(x) = self.across(point.x) else { continue };
            let y = |value| self.frame.y.share_or_low(value);
            self.canvas.line([x, y(low)], [x, y(high)], pen);
        }
    }

    fn markers(&mut self, points: &[Point], letter: char, ink: Ink) {
        for point in points {
            if let Some(place) = self.place(point.x, point.y) {
                let cell = self.canvas.cell_at(place);
                self.canvas.symbol(cell, letter, ink);
            }
        }
    }

    /// The ground between the ends: one dot in eight, so that lines stand out from it.
    fn band(&mut self, points: &[Point], pen: &Pen) {
        let ends = |point: &Point| {
            let [low, high] = point.interval?;
            let y = |value| self.frame.y.share_or_low(value);
            Some([self.across(point.x)?, y(low), y(high)])
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
                let y = |at: usize| from[at] + (to[at] - from[at]) * share;
                self.stipple(x, [y(1), y(2)], pen);
            }
        }
    }

    fn stipple(&mut self, x: usize, [low, high]: [f64; 2], pen: &Pen) {
        let ([_, top], [_, bottom]) =
            (self.canvas.dot_at([0.0, high]), self.canvas.dot_at([0.0, low]));
        for y in top.min(bottom)..=bottom.max(top) {
            let is_dotted = x.is_multiple_of(2) && (y + x).is_multiple_of(4);
            if is_dotted || self.style.ascii {
                self.canvas.dot([x, y], pen);
            }
        }
    }

    /// Places that a finding tells of, each with its digit on top.
    fn marks(&mut self, figure: &Figure) {
        for (at, mark) in figure.marks.iter().enumerate() {
            let Some(x) = self.across(mark.x) else { continue };
            let ink = mark.colour.map_or(Ink::Bold, Ink::Series);
            let [column, _] = self.canvas.cell_at([x, 0.0]);
            for row in 1..self.frame.height {
                let line = if self.style.ascii { '|' } else { '┊' };
                self.canvas.letter([column, row], line, ink);
            }
            self.canvas.symbol([column, 0], legend::digit(at), ink);
        }
    }

    /// The letter of a series, near the end of its line.
    fn letter(&mut self, series: &Series, letter: char) {
        let end = |point: &&Point| self.place(point.x, middle(point, &self.frame.y)).is_some();
        let Some(last) = series.points.iter().rev().find(end) else { return };
        let Some(place) = self.place(last.x, middle(last, &self.frame.y)) else { return };
        let [column, row] = self.canvas.cell_at(place);
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

/// The height of a point; of a band, between its ends.
fn middle(point: &Point, y: &Span<'_>) -> f64 {
    match point.interval {
        Some([low, high]) if y.share(point.y).is_none() => low.midpoint(high),
        _ => point.y,
    }
}
