//! Draws the series of a chart. Each is a group with the number of its first row in the chart's table,
//! so that a page finds the values of what it shows.

use super::layout::{ChartLayout, PlacedPoint};
use super::style::{DARK, GROUND, LAW_DASHES};
use super::writer::{Pixel, PixelBox, SvgWriter, circle, px};
use crate::charts::{ChartSeries, SeriesLook, SeriesSlot, aside, colour};

/// A bar is no wider, in pixels.
const BAR_MAX: f64 = 56.0;

struct PlacedSeries<'a> {
    layout: &'a ChartLayout<'a>,
    series: &'a ChartSeries,
    slot: SeriesSlot,
    points: Vec<PlacedPoint<'a>>,
}

pub(super) fn draw_all(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
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
        PlacedSeries { layout, series, slot, points }.draw(out);
        out.end();
    }
}

impl PlacedSeries<'_> {
    fn draw(&self, out: &mut SvgWriter) {
        match self.series.look {
            SeriesLook::Bars => self.draw_bars(out),
            SeriesLook::Law => self.draw_line("1.6", LAW_DASHES, out),
            SeriesLook::Curve => self.draw_line("1.8", "", out),
            SeriesLook::Line => {
                self.draw_line("1.8", "", out);
                self.draw_markers(out);
            }
            SeriesLook::Markers => self.draw_markers(out),
            SeriesLook::Raw => self.draw_dots(out),
        }
    }

    fn draw_line(&self, wide: &str, dashes: &str, out: &mut SvgWriter) {
        let corner = |point: &PlacedPoint<'_>| format!("{} {}", px(point.x), px(point.y));
        let path = self.points.iter().map(corner).collect::<Vec<_>>().join("L");
        out.line(format_args!(
            "<path class=\"line\" d=\"M{path}\" fill=\"none\" stroke-width=\"{wide}\" \
             stroke-linejoin=\"round\"{dashes}/>"
        ));
    }

    /// Lines from end to end of the intervals, with feet.
    fn draw_whiskers(&self, foot: f64, attributes: &str, out: &mut SvgWriter) {
        let flat = format!("m-{0} 0h{1}m-{0} 0", px(foot), px(2.0 * foot));
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

    fn draw_bars(&self, out: &mut SvgWriter) {
        let layout = self.layout;
        let wide = layout.x.part(self.slot.width).clamp(1.0, BAR_MAX);
        let base = layout.y.at(0.0);
        for PlacedPoint { x, y, point } in &self.points {
            let (top, height) = (y.min(base), (y - base).abs());
            let bar = PixelBox { left: x - wide / 2.0, top, width: wide, height };
            let opacity = if point.disturbed { "0.35" } else { "0.85" };
            let attributes = format!(" class=\"point\" fill-opacity=\"{opacity}\"");
            out.element(&bar.element(&attributes));
        }
        self.draw_whiskers((wide / 4.0).min(4.0), &format!(" stroke=\"{DARK}\""), out);
    }

    fn draw_markers(&self, out: &mut SvgWriter) {
        self.draw_whiskers(3.0, "", out);
        for PlacedPoint { x, y, point } in &self.points {
            let hollow =
                if point.disturbed { format!(" fill=\"{GROUND}\"") } else { String::new() };
            let attributes = format!(" class=\"point\"{hollow}");
            out.element(&circle(Pixel { x: *x, y: *y }, 3.5, &attributes));
        }
    }

    /// Single values as one path, which keeps files of many small: side by side where they share a
    /// bar, else at their place; hollow where they were measured under background load and can be seen.
    fn draw_dots(&self, out: &mut SvgWriter) {
        let room = self.layout.x.part(self.slot.width).min(BAR_MAX);
        let dot = |(at, placed): (usize, &PlacedPoint<'_>)| {
            format!("M{} {}h0", px(placed.x + aside(at) * room), px(placed.y))
        };
        let points = self.points.iter().enumerate();
        let all: String = points.clone().map(dot).collect();
        let hollow = points.filter(|(_, one)| one.point.disturbed);
        let hollow: String = hollow.map(dot).collect();
        out.line(format_args!("<g stroke-linecap=\"round\">"));
        out.line(format_args!(
            "<path class=\"points\" d=\"{all}\" stroke-width=\"5.6\" stroke-opacity=\"0.6\"/>"
        ));
        if !hollow.is_empty() {
            out.line(format_args!("<path d=\"{hollow}\" stroke=\"{GROUND}\" stroke-width=\"3\"/>"));
        }
        out.end();
    }
}
