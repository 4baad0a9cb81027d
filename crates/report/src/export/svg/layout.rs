//! Computes the places of all parts of a chart, in pixels, before anything is drawn.

use super::fit_text::{clipped, names, widest, width, wrapped};
use super::legend::SvgLegend;
use super::style::{EDGE, GAP, LABEL, LINE_HEIGHT, NOTE, PLOT_HEIGHT, TICK, TITLE};
use super::writer::AxisPixels;
use crate::charts::{Chart, ChartPoint, ChartSeries, SeriesSlot, Tick};

/// Ticks of an axis of numbers that are tried for.
const Y_TICKS: usize = 8;
const X_TICKS: usize = 9;

/// Between the texts of two ticks.
const TICK_GAP: f64 = 14.0;

/// The slope of names that do not fit side by side.
pub(super) const SLANT_DEGREES: f64 = 35.0;
const LABEL_WIDTH_MAX: f64 = 160.0;

#[derive(Clone, Copy)]
pub(super) struct PlacedPoint<'a> {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) point: &'a ChartPoint,
}

/// Ticks from left to right, with texts that have room.
pub(super) struct XTicks {
    pub(super) ticks: Vec<Tick>,
    pub(super) is_slanted: bool,
    /// From the axis to below the texts.
    height: f64,
}

/// Places of all parts, in pixels.
pub(super) struct ChartLayout<'a> {
    pub(super) chart: &'a Chart,
    pub(super) width: f64,
    pub(super) title: Vec<String>,
    /// y of the lower edge of the title.
    pub(super) head_bottom: f64,
    pub(super) y_label: String,
    pub(super) y_label_y: f64,
    pub(super) x: AxisPixels<'a>,
    pub(super) y: AxisPixels<'a>,
    pub(super) x_ticks: XTicks,
    pub(super) y_ticks: Vec<Tick>,
    pub(super) x_label: String,
    pub(super) x_label_y: f64,
    pub(super) legend: SvgLegend,
    pub(super) notes: Vec<String>,
    pub(super) notes_y: f64,
    pub(super) height: f64,
}

impl<'a> ChartLayout<'a> {
    pub(super) fn new(chart: &'a Chart, width: f64) -> Self {
        let inner = width - 2.0 * EDGE;
        let title = wrapped(&chart.title, TITLE.size * 1.05, inner, 2);
        let head_bottom = EDGE + lines_height(&title, TITLE.size);
        let y_label_y = head_bottom + 24.0;
        let y_span = chart.y_span();
        let (y_ticks, left) = fit_y_ticks(y_span.ticks(Y_TICKS));
        let mut x = AxisPixels { span: chart.x_span(), pixels: [left, width - EDGE] };
        x.pixels = x_axis_ends(&x, width);
        let top = y_label_y + 12.0;
        let bottom = top + PLOT_HEIGHT;
        let y = AxisPixels { span: y_span, pixels: [bottom, top] };
        let x_ticks = XTicks::new(&x);
        let x_label_y = bottom + x_ticks.height + LABEL.size + 6.0;
        let legend = SvgLegend::new(chart, x_label_y + 16.0, width);
        let notes_y = legend.bottom + 8.0;
        let notes = chart.all_notes();
        let notes: Vec<String> =
            notes.iter().flat_map(|note| wrapped(note, NOTE.size, inner, 3)).collect();
        let height = (notes_y + lines_height(&notes, NOTE.size) + EDGE / 2.0).ceil();
        let [x_label, y_label] =
            [&chart.x, &chart.y].map(|axis| clipped(&axis.label, LABEL.size * 1.05, inner));
        Self {
            chart,
            width,
            title,
            head_bottom,
            y_label,
            y_label_y,
            x,
            y,
            x_ticks,
            y_ticks,
            x_label,
            x_label_y,
            legend,
            notes,
            notes_y,
            height,
        }
    }

    /// The pixel below the plot.
    pub(super) fn bottom(&self) -> f64 {
        self.y.pixels[0]
    }

    /// Points of a series in order.
    pub(super) fn points<'b>(
        &self,
        series: &'b ChartSeries,
        slot: SeriesSlot,
    ) -> Vec<PlacedPoint<'b>> {
        let shift = if slot.shift == 0.0 { 0.0 } else { self.x.part(slot.shift) };
        let placed = series.points.iter().map(|point| PlacedPoint {
            x: self.x.at(point.x) + shift,
            y: self.y.at(point.y),
            point,
        });
        placed.collect()
    }
}

/// Height of lines of text, in pixels.
fn lines_height(lines: &[String], size: f64) -> f64 {
    lines.len() as f64 * size * LINE_HEIGHT
}

/// Ticks with where the plot begins beside their texts.
fn fit_y_ticks(ticks: Vec<Tick>) -> (Vec<Tick>, f64) {
    let widths = ticks.iter().map(|tick| width(&tick.text, TICK.size));
    let left = EDGE + widths.fold(0.0, f64::max) + GAP;
    (ticks, left.max(EDGE + 34.0))
}

/// The ends of the x axis, so that half of the outer texts fits next to them.
fn x_axis_ends(x: &AxisPixels<'_>, chart_width: f64) -> [f64; 2] {
    let [left, right] = x.pixels;
    let ticks = x.span.ticks(X_TICKS);
    let texts: Vec<String> = ticks.into_iter().map(|tick| tick.text).collect();
    let text = widest(&texts, TICK.size);
    if x.span.axis.is_named() {
        let pitch = x.length() / texts.len().max(1) as f64;
        let is_horizontal = text <= pitch - GAP;
        // A name that rises ends at its place, and begins to the left of it.
        let before = text.min(LABEL_WIDTH_MAX).min(chart_width / 3.0)
            * SLANT_DEGREES.to_radians().cos()
            + GAP
            - pitch / 2.0;
        return [if is_horizontal { left } else { left.max(before) }, right];
    }
    let half = text / 2.0;
    [left.max(half + GAP), right.min(chart_width - GAP - half)]
}

impl XTicks {
    fn new(x: &AxisPixels<'_>) -> Self {
        if x.span.axis.is_named() { Self::named(x) } else { Self::numbers(x) }
    }

    fn horizontal(ticks: Vec<Tick>) -> Self {
        Self { ticks, is_slanted: false, height: GAP + TICK.size }
    }

    /// As many as have room.
    fn numbers(x: &AxisPixels<'_>) -> Self {
        let of = |wanted: usize| x.span.ticks(wanted);
        let found = (2..=X_TICKS).rev().map(of).find(|ticks| has_room(ticks, x));
        Self::horizontal(found.unwrap_or_else(|| of(2).into_iter().take(1).collect()))
    }

    /// Every name, horizontal, if all fit; else slanted and shortened, and only every n-th where they
    /// would still touch.
    fn named(x: &AxisPixels<'_>) -> Self {
        let ticks = x.span.ticks(X_TICKS);
        let pitch = x.length() / ticks.len().max(1) as f64;
        let texts: Vec<String> = ticks.iter().map(|tick| tick.text.clone()).collect();
        if widest(&texts, TICK.size) <= pitch - GAP {
            return Self::horizontal(ticks);
        }
        let slant = SLANT_DEGREES.to_radians();
        let room = (x.at(0.0) - GAP) / slant.cos();
        let texts = names(&texts, TICK.size, room.min(LABEL_WIDTH_MAX));
        let height = GAP + TICK.size + widest(&texts, TICK.size) * slant.sin();
        // Lines of text that rise need as much from one to the next as lines that do not.
        let every = (TICK.size / slant.sin() / pitch).ceil().max(1.0) as usize;
        let ticks = ticks.iter().zip(texts).step_by(every);
        let ticks = ticks.map(|(tick, text)| Tick { at: tick.at, text }).collect();
        Self { ticks, is_slanted: true, height }
    }
}

/// Whether no text of a tick touches the next text.
fn has_room(ticks: &[Tick], x: &AxisPixels<'_>) -> bool {
    let half = |tick: &Tick| width(&tick.text, TICK.size) / 2.0;
    ticks
        .windows(2)
        .all(|two| x.at(two[1].at) - x.at(two[0].at) >= half(&two[0]) + half(&two[1]) + TICK_GAP)
}
