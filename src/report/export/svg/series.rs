//! Draws the series of a chart. Each is a group with the number of its first row in the chart's table,
//! so that a page finds the values of what it shows.

use super::layout::{ChartLayout, PlacedPoint, PlacedSeries};
use super::legend::is_dense;
use super::style::{DARK, DASHES, GROUND, LAW_DASHES, SHADES, VALUE, dashes};
use super::text_width::width;
use super::writer::{MarkerShape, Pixel, PixelBox, SvgWriter, TextAnchor, px};
use crate::base::units::grouped;
use crate::report::charts::{ChartPoint, ChartSeries, SeriesLook, aside, colour, heat};
use crate::report::markup::escaped;

/// A bar is no wider, in pixels.
const BAR_MAX: f64 = 56.0;

/// More markers than this on a line are drawn small.
const MARKERS_MAX: usize = 40;

pub(super) fn draw_all(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let has_values = values_fit(layout);
    let rows = layout.chart.series.iter().map(|series| series.points.len());
    let rows: Vec<usize> = rows.collect();
    for (number, series, slot) in layout.chart.back_to_front() {
        let row: usize = rows[..number].iter().sum();
        out.line(format_args!(
            "<g class=\"series\" data-series=\"{number}\" data-row=\"{row}\"{}>",
            paint(layout, series)
        ));
        draw(layout, PlacedSeries { series, slot }, has_values, out);
        out.line(format_args!("</g>"));
    }
}

fn draw(layout: &ChartLayout<'_>, one: PlacedSeries<'_>, has_values: bool, out: &mut SvgWriter) {
    let pattern = one.slot.pattern;
    match one.series.look {
        SeriesLook::Cells => draw_cells(layout, one.series, out),
        SeriesLook::Band => draw_band(layout, one, out),
        SeriesLook::Bars => draw_bars(layout, one, has_values, out),
        SeriesLook::Law => draw_line(layout, one, "1.6", &dashes(LAW_DASHES, pattern), out),
        SeriesLook::Curve => draw_line(layout, one, "1.8", &dashes(DASHES, pattern), out),
        SeriesLook::Line => {
            draw_line(layout, one, "1.8", &dashes(DASHES, pattern), out);
            draw_markers(layout, one, out);
        }
        SeriesLook::Markers => draw_markers(layout, one, out),
        SeriesLook::Raw => draw_raw(layout, one, out),
    }
}

/// What all markers of a series share, as attributes of its group.
fn paint(layout: &ChartLayout<'_>, series: &ChartSeries) -> String {
    let own = colour(series.colour).light;
    let (fill, edge) = match series.look {
        SeriesLook::Raw if layout.chart.has(SeriesLook::Bars) => (DARK, GROUND),
        SeriesLook::Markers | SeriesLook::Line | SeriesLook::Raw => (own, own),
        _ => return String::new(),
    };
    let opacity = if series.look == SeriesLook::Raw {
        " fill-opacity=\"0.6\" stroke-opacity=\"0.6\""
    } else {
        ""
    };
    format!(" fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"1.2\"{opacity}")
}

/// What a point is, for who points at it in a viewer of pictures; empty where a page says it.
fn title(layout: &ChartLayout<'_>, series: &ChartSeries, point: &ChartPoint) -> String {
    if !layout.has_titles {
        return String::new();
    }
    let chart = layout.chart;
    let (x, y) = (chart.x.text(point.x), chart.y.height(point));
    let interval = match chart.y.interval(point) {
        interval if interval.is_empty() => interval,
        interval => format!(", {interval}"),
    };
    let disturbed = if point.disturbed { ", disturbed" } else { "" };
    let (name, what, n) = (&series.name, &series.what, grouped(point.n));
    format!("{name}, {x}: {what} {y}{interval}, n = {n}{disturbed}")
}

/// Rectangles coloured by how much; one path for each colour, which keeps files of many small.
fn draw_cells(layout: &ChartLayout<'_>, series: &ChartSeries, out: &mut SvgWriter) {
    let Some(span) = layout.chart.shade_span() else { return };
    let mut paths = vec![(String::new(), Vec::new()); SHADES];
    for (at, point) in series.points.iter().enumerate() {
        let Some(cell) = point.cell else { continue };
        let shade = (span.share(cell.shade) * (SHADES - 1) as f64).round() as usize;
        let [left, right] = [point.x, cell.end].map(|x| layout.x.at(x));
        let [low, high] = [point.y - 0.5, point.y + 0.5].map(|y| layout.y.at(y));
        let (across, down) = (px(right - left), px(low - high));
        let (path, points) = &mut paths[shade];
        path.push_str(&format!("M{} {}h{across}v{down}h-{across}z", px(left), px(high)));
        points.push(at.to_string());
    }
    out.line(format_args!("<g class=\"cells\" shape-rendering=\"crispEdges\">"));
    for (at, (path, points)) in paths.iter().enumerate().filter(|(_, (path, _))| !path.is_empty()) {
        let colour = heat(at as f64 / (SHADES - 1) as f64);
        let points = match layout.has_titles {
            true => String::new(),
            false => format!(" data-points=\"{}\"", points.join(" ")),
        };
        out.line(format_args!("<path class=\"points\" d=\"{path}\" fill=\"{colour}\"{points}/>"));
    }
    out.line(format_args!("</g>"));
}

/// The ground between the ends of the intervals, from left to right and back.
fn draw_band(layout: &ChartLayout<'_>, one: PlacedSeries<'_>, out: &mut SvgWriter) {
    let edge = |placed: &PlacedPoint<'_>, end: usize| {
        let y = layout.y.at(placed.point.interval?[end]);
        Some(format!("{} {}", px(placed.x), px(y)))
    };
    let points = layout.points(one);
    let above = points.iter().filter_map(|point| edge(point, 1));
    let below = points.iter().rev().filter_map(|point| edge(point, 0));
    let path = above.chain(below).collect::<Vec<_>>().join("L");
    if !path.is_empty() {
        out.line(format_args!(
            "<path class=\"band\" d=\"M{path}z\" fill=\"{}\" fill-opacity=\"0.18\"/>",
            colour(one.series.colour).light
        ));
    }
}

fn draw_line(
    layout: &ChartLayout<'_>,
    one: PlacedSeries<'_>,
    wide: &str,
    pattern: &str,
    out: &mut SvgWriter,
) {
    let points = layout.points(one);
    let path: Vec<String> =
        points.iter().map(|point| format!("{} {}", px(point.x), px(point.y))).collect();
    if !path.is_empty() {
        out.line(format_args!(
            "<path class=\"line\" d=\"M{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{wide}\" \
             stroke-linejoin=\"round\"{pattern}/>",
            path.join("L"),
            colour(one.series.colour).light
        ));
    }
}

/// A line from end to end of an interval, with feet where there is room for them; in the colour of its
/// series, unless `paint` has another.
fn draw_whisker(
    layout: &ChartLayout<'_>,
    placed: PlacedPoint<'_>,
    paint: &str,
    foot: f64,
    out: &mut SvgWriter,
) {
    let Some([low, high]) = placed.point.interval else { return };
    let [low, high] = [layout.y.at(low), layout.y.at(high)].map(px);
    let x = px(placed.x);
    let feet = if foot > 0.0 {
        format!("m-{0} 0h{1}M{x} {low}m-{0} 0h{1}", px(foot), px(2.0 * foot))
    } else {
        String::new()
    };
    out.line(format_args!("<path class=\"whisker\" d=\"M{x} {low}V{high}{feet}\"{paint}/>"));
}

fn draw_bars(
    layout: &ChartLayout<'_>,
    one: PlacedSeries<'_>,
    has_values: bool,
    out: &mut SvgWriter,
) {
    let PlacedSeries { series, slot } = one;
    let wide = layout.x.part(slot.width).clamp(1.0, BAR_MAX);
    let base = layout.y.at(0.0);
    let whisker = format!(" stroke=\"{DARK}\" stroke-width=\"1.3\"");
    let colour = colour(series.colour).light;
    for placed in layout.points(one) {
        let PlacedPoint { x, y, point } = placed;
        let (left, top, height) = (x - wide / 2.0, y.min(base), (y - base).abs());
        let fill = if point.disturbed { "0.35" } else { "0.85" };
        let start = format!(
            "rect class=\"point\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\" \
             fill-opacity=\"{fill}\" stroke=\"{colour}\"",
            px(left),
            px(top),
            px(wide),
            px(height)
        );
        match title(layout, series, point) {
            title if title.is_empty() => out.line(format_args!("<{start}/>")),
            title => {
                out.line(format_args!("<{start}><title>{}</title></rect>", escaped(&title)));
            }
        }
        out.stripes(PixelBox { left, top, width: wide, height }, slot.pattern);
        draw_whisker(layout, placed, &whisker, (wide / 4.0).min(4.0), out);
        if has_values {
            let above = point.interval.map_or(y, |[_, high]| layout.y.at(high).min(y));
            let text = layout.y.span.axis.text(point.y);
            out.text(Pixel { x, y: above - 4.0 }, VALUE, TextAnchor::Middle, &text);
        }
    }
}

/// Whether every bar has room for its number above it; some without would look like zeros.
fn values_fit(layout: &ChartLayout<'_>) -> bool {
    layout.series().filter(|one| one.series.look == SeriesLook::Bars).all(|one| {
        let room = layout.x.part(one.slot.width);
        let mut points = one.series.points.iter();
        points.all(|p| width(&layout.y.span.axis.text(p.y), VALUE.size) <= room)
    })
}

fn draw_markers(layout: &ChartLayout<'_>, one: PlacedSeries<'_>, out: &mut SvgWriter) {
    let series = one.series;
    let is_crowded = series.points.len() > MARKERS_MAX;
    let (radius, foot) = if is_crowded { (1.8, 0.0) } else { (3.5, 3.0) };
    let hollow = format!(" fill=\"{GROUND}\"");
    for placed in layout.points(one) {
        let PlacedPoint { x, y, point } = placed;
        draw_whisker(layout, placed, "", foot, out);
        let paint = if point.disturbed { &hollow } else { "" };
        let marker = MarkerShape { at: Pixel { x, y }, radius, shape: one.slot.pattern, paint };
        out.point(marker, &title(layout, series, point));
    }
}

/// Single values: beside each other where they share a bar, else at their place.
fn draw_raw(layout: &ChartLayout<'_>, one: PlacedSeries<'_>, out: &mut SvgWriter) {
    let PlacedSeries { series, slot } = one;
    let room = layout.x.part(slot.width).min(BAR_MAX);
    let points = layout.points(one).into_iter().enumerate();
    let points =
        points.map(|(at, placed)| PlacedPoint { x: placed.x + aside(at) * room, ..placed });
    if is_dense(series) {
        let own = colour(series.colour).light;
        return draw_dots(&points.collect::<Vec<_>>(), own, out);
    }
    let hollow = format!(" fill=\"{GROUND}\" stroke=\"{DARK}\"");
    for PlacedPoint { x, y, point } in points {
        let paint = if point.disturbed { &hollow } else { "" };
        let marker = MarkerShape { at: Pixel { x, y }, radius: 2.2, shape: slot.pattern, paint };
        out.point(marker, "");
    }
}

/// Many points as one path, which keeps the file small.
fn draw_dots(points: &[PlacedPoint<'_>], colour: &str, out: &mut SvgWriter) {
    let dots: String =
        points.iter().map(|point| format!("M{} {}h0", px(point.x), px(point.y))).collect();
    out.line(format_args!(
        "<path class=\"points\" d=\"{dots}\" stroke=\"{colour}\" stroke-width=\"2.4\" \
         stroke-linecap=\"round\" stroke-opacity=\"0.4\"/>"
    ));
}
