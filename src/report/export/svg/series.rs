//! Draws the series of a chart. Each is a group with the number of its first row in the chart's table,
//! so that a page finds the values of what it shows.

use super::layout::{ChartLayout, PlacedPoint};
use super::legend::is_dense;
use super::style::{DARK, DASHES, GROUND, LAW_DASHES, VALUE, dashes};
use super::text_width::width;
use super::writer::{MarkerShape, Pixel, PixelBox, SvgWriter, px};
use crate::report::charts::{ChartPoint, ChartSeries, SeriesLook, SeriesSlot, aside, colour};

/// A bar is no wider, in pixels.
const BAR_MAX: f64 = 56.0;

/// More markers than this on a line are drawn small.
const MARKERS_MAX: usize = 40;

struct PlacedSeries<'a> {
    layout: &'a ChartLayout<'a>,
    series: &'a ChartSeries,
    slot: SeriesSlot,
    points: Vec<PlacedPoint<'a>>,
}

pub(super) fn draw_all(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let has_values = values_fit(layout);
    let rows: Vec<usize> = layout.chart.series.iter().map(|one| one.points.len()).collect();
    for (number, series, slot) in layout.chart.back_to_front() {
        let row: usize = rows[..number].iter().sum();
        let is_on_bars = series.look == SeriesLook::Raw && layout.chart.has(SeriesLook::Bars);
        let own = if is_on_bars { DARK } else { colour(series.colour).light };
        out.line(format_args!(
            "<g class=\"series\" data-series=\"{number}\" data-row=\"{row}\" fill=\"{own}\" \
             stroke=\"{own}\" stroke-width=\"1.2\">"
        ));
        let points = layout.points(series, slot);
        PlacedSeries { layout, series, slot, points }.draw(has_values, out);
        out.end();
    }
}

/// Whether every bar has room for its number above it; some without would look like zeros.
fn values_fit(layout: &ChartLayout<'_>) -> bool {
    layout.chart.back_to_front().iter().all(|(_, series, slot)| {
        let room = layout.x.part(slot.width);
        let fits = |p: &ChartPoint| width(&layout.y.span.axis.text(p.y), VALUE.size) <= room;
        series.look != SeriesLook::Bars || series.points.iter().all(fits)
    })
}

impl PlacedSeries<'_> {
    fn draw(&self, has_values: bool, out: &mut SvgWriter) {
        let pattern = self.slot.pattern;
        match self.series.look {
            SeriesLook::Bars => self.draw_bars(has_values, out),
            SeriesLook::Law => self.draw_line("1.6", &dashes(LAW_DASHES, pattern), out),
            SeriesLook::Curve => self.draw_line("1.8", &dashes(DASHES, pattern), out),
            SeriesLook::Line => {
                self.draw_band(out);
                self.draw_line("1.8", &dashes(DASHES, pattern), out);
                self.draw_markers(out);
            }
            SeriesLook::Markers => self.draw_markers(out),
            SeriesLook::Raw => self.draw_dots(out),
        }
    }

    /// The ground between the ends of the intervals, from left to right and back.
    fn draw_band(&self, out: &mut SvgWriter) {
        let edge = |placed: &PlacedPoint<'_>, end: usize| {
            let y = self.layout.y.at(placed.point.interval?[end]);
            Some(format!("{} {}", px(placed.x), px(y)))
        };
        let above = self.points.iter().filter_map(|point| edge(point, 1));
        let below = self.points.iter().rev().filter_map(|point| edge(point, 0));
        let path = above.chain(below).collect::<Vec<_>>().join("L");
        if path.is_empty() {
            return;
        }
        out.line(format_args!(
            "<path class=\"band\" d=\"M{path}z\" fill-opacity=\"0.18\" stroke=\"none\"/>"
        ));
    }

    fn draw_line(&self, wide: &str, pattern: &str, out: &mut SvgWriter) {
        let corner = |point: &PlacedPoint<'_>| format!("{} {}", px(point.x), px(point.y));
        let path = self.points.iter().map(corner).collect::<Vec<_>>().join("L");
        out.line(format_args!(
            "<path class=\"line\" d=\"M{path}\" fill=\"none\" stroke-width=\"{wide}\" \
             stroke-linejoin=\"round\"{pattern}/>"
        ));
    }

    /// Lines from end to end of the intervals, with feet where there is room for them.
    fn draw_whiskers(&self, foot: f64, attributes: &str, out: &mut SvgWriter) {
        let flat = match foot > 0.0 {
            true => format!("m-{0} 0h{1}m-{0} 0", px(foot), px(2.0 * foot)),
            false => String::new(),
        };
        let whisker = |placed: &PlacedPoint<'_>| {
            let [from, to] = placed.point.interval?.map(|end| px(self.layout.y.at(end)));
            Some(format!("M{} {from}{flat}V{to}{flat}", px(placed.x)))
        };
        let path: String = self.points.iter().filter_map(whisker).collect();
        if !path.is_empty() {
            out.line(format_args!(
                "<path class=\"whiskers\" d=\"{path}\" fill=\"none\"{attributes}/>"
            ));
        }
    }

    fn draw_bars(&self, has_values: bool, out: &mut SvgWriter) {
        let layout = self.layout;
        let wide = layout.x.part(self.slot.width).clamp(1.0, BAR_MAX);
        let base = layout.y.at(0.0);
        for PlacedPoint { x, y, point } in &self.points {
            let (top, height) = (y.min(base), (y - base).abs());
            let bar = PixelBox { left: x - wide / 2.0, top, width: wide, height };
            let opacity = if point.disturbed { "0.35" } else { "0.85" };
            let attributes = format!(" class=\"point\" fill-opacity=\"{opacity}\"");
            out.element(&bar.element(&attributes));
            out.stripes(bar, self.slot.pattern);
        }
        self.draw_whiskers((wide / 4.0).min(4.0), &format!(" stroke=\"{DARK}\""), out);
        if !has_values {
            return;
        }
        out.begin_texts("values", VALUE, "middle");
        for PlacedPoint { x, y, point } in &self.points {
            let above = point.interval.map_or(*y, |[_, high]| layout.y.at(high).min(*y));
            out.text(Pixel { x: *x, y: above - 4.0 }, &layout.y.span.axis.height(point));
        }
        out.end();
    }

    fn draw_markers(&self, out: &mut SvgWriter) {
        let is_crowded = self.series.points.len() > MARKERS_MAX;
        let (radius, foot) = if is_crowded { (1.8, 0.0) } else { (3.5, 3.0) };
        // The intervals of a line are the band behind it.
        if self.series.look == SeriesLook::Markers {
            self.draw_whiskers(foot, "", out);
        }
        for PlacedPoint { x, y, point } in &self.points {
            let hollow =
                if point.disturbed { format!(" fill=\"{GROUND}\"") } else { String::new() };
            let at = Pixel { x: *x, y: *y };
            let marker = MarkerShape { at, radius, shape: self.slot.pattern };
            out.element(&marker.element(&format!(" class=\"point\"{hollow}")));
        }
    }

    /// Single values as one path, which keeps files of many small: side by side where they share a
    /// bar, else at their place; hollow where they were measured under background load and can be seen.
    fn draw_dots(&self, out: &mut SvgWriter) {
        let is_dense = is_dense(self.series);
        let room = self.layout.x.part(self.slot.width).min(BAR_MAX);
        let dot = |(at, placed): (usize, &PlacedPoint<'_>)| {
            format!("M{} {}h0", px(placed.x + aside(at) * room), px(placed.y))
        };
        let points = self.points.iter().enumerate();
        let all: String = points.clone().map(dot).collect();
        let hollow = points.filter(|(_, one)| one.point.disturbed && !is_dense);
        let hollow: String = hollow.map(dot).collect();
        let (wide, opacity) = if is_dense { ("2.4", "0.4") } else { ("5.6", "0.6") };
        out.line(format_args!("<g stroke-linecap=\"round\">"));
        out.line(format_args!(
            "<path class=\"points\" d=\"{all}\" stroke-width=\"{wide}\" stroke-opacity=\"{opacity}\"/>"
        ));
        if !hollow.is_empty() {
            out.line(format_args!("<path d=\"{hollow}\" stroke=\"{GROUND}\" stroke-width=\"3\"/>"));
        }
        out.end();
    }
}
