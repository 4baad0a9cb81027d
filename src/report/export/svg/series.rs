//! What was measured, as it looks.

use super::cells::draw_cells;
use super::pen::{Anchor, Pen, escaped, px};
use super::shapes::{Ink, marker, stripes};
use super::sheet::Sheet;
use super::style::{DARK, DASHES, LAW_DASHES, VALUE, dashes};
use super::words::width;
use crate::base::units::grouped;
use crate::report::figures::{Figure, Look, Point, Series, Slot, aside, colour};

/// From behind to before.
const ORDER: [Look; 8] = [
    Look::Cells,
    Look::Band,
    Look::Bars,
    Look::Law,
    Look::Curve,
    Look::Line,
    Look::Raw,
    Look::Markers,
];

/// A bar is no wider, in pixels.
const BAR_MAX: f64 = 56.0;
/// A bar whose width nothing tells.
const BAR: f64 = 8.0;

/// More markers than this on a line are drawn small.
const MARKERS_MAX: usize = 40;

/// More single values than this are dots.
const DOTS_MIN: usize = 150;

/// A series and where it stands.
type Placed<'a> = (&'a Series, Slot);

pub(super) fn draw_all(sheet: &Sheet<'_>, pen: &mut Pen) {
    let has_values = values_fit(sheet);
    for look in ORDER {
        for one in placed(sheet).filter(|(series, _)| series.look == look) {
            draw(sheet, one, has_values, pen);
        }
    }
}

fn placed<'a>(sheet: &'a Sheet<'_>) -> impl Iterator<Item = Placed<'a>> {
    sheet.figure.series.iter().zip(sheet.slots.iter().copied())
}

fn draw(sheet: &Sheet<'_>, one: Placed<'_>, has_values: bool, pen: &mut Pen) {
    let (series, Slot { pattern, .. }) = one;
    match series.look {
        Look::Cells => draw_cells(sheet, series, pen),
        Look::Band => draw_band(sheet, one, pen),
        Look::Bars => draw_bars(sheet, one, has_values, pen),
        Look::Law => draw_line(sheet, one, 1.6, &dashes(LAW_DASHES, pattern), pen),
        Look::Curve => draw_line(sheet, one, 1.8, &dashes(DASHES, pattern), pen),
        Look::Line => {
            draw_line(sheet, one, 1.8, &dashes(DASHES, pattern), pen);
            draw_markers(sheet, one, pen);
        }
        Look::Markers => draw_markers(sheet, one, pen),
        Look::Raw => draw_raw(sheet, one, pen),
    }
}

/// What a point is, for who points at it.
fn told(figure: &Figure, series: &Series, point: &Point) -> String {
    let (x, y) = (figure.x.text(point.x), figure.y.height(point));
    let interval = match figure.y.interval(point) {
        interval if interval.is_empty() => interval,
        interval => format!(", {interval}"),
    };
    let disturbed = if point.disturbed { ", disturbed" } else { "" };
    let (name, what, n) = (&series.name, &series.what, grouped(point.n));
    format!("{name}, {x}: {what} {y}{interval}, n = {n}{disturbed}")
}

/// The ground between the ends of the intervals, from left to right and back.
fn draw_band(sheet: &Sheet<'_>, one: Placed<'_>, pen: &mut Pen) {
    let edge = |(place, point): &([f64; 2], &Point), end: usize| {
        let y = sheet.y.at(point.interval?[end]);
        Some(format!("{} {}", px(place[0]), px(y)))
    };
    let places = sheet.places(one);
    let above = places.iter().filter_map(|place| edge(place, 1));
    let below = places.iter().rev().filter_map(|place| edge(place, 0));
    let path = above.chain(below).collect::<Vec<_>>().join("L");
    if !path.is_empty() {
        pen.line(format_args!(
            "<path class=\"band\" d=\"M{path}z\" fill=\"{}\" fill-opacity=\"0.18\"/>",
            colour(one.0.colour).light
        ));
    }
}

fn draw_line(sheet: &Sheet<'_>, one: Placed<'_>, wide: f64, pattern: &str, pen: &mut Pen) {
    let places = sheet.places(one);
    let path: Vec<String> =
        places.iter().map(|([x, y], _)| format!("{} {}", px(*x), px(*y))).collect();
    if !path.is_empty() {
        pen.line(format_args!(
            "<path class=\"line\" d=\"M{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{wide}\" \
             stroke-linejoin=\"round\"{pattern}/>",
            path.join("L"),
            colour(one.0.colour).light
        ));
    }
}

/// A line from end to end of an interval, with feet where there is room for them.
fn draw_whisker(sheet: &Sheet<'_>, x: f64, point: &Point, look: (&str, f64), pen: &mut Pen) {
    let has_place = |ends: &[f64; 2]| ends.iter().all(|end| sheet.y.axis.has(*end));
    let Some([low, high]) = point.interval.filter(has_place) else { return };
    let (colour, foot) = look;
    let [low, high] = [sheet.y.at(low), sheet.y.at(high)];
    let feet = if foot > 0.0 {
        format!("m-{0} 0h{1}M{2} {3}h{1}", px(foot), px(2.0 * foot), px(x - foot), px(low))
    } else {
        String::new()
    };
    pen.line(format_args!(
        "<path class=\"whisker\" d=\"M{} {}V{}{feet}\" fill=\"none\" stroke=\"{colour}\" \
         stroke-width=\"1.3\"/>",
        px(x),
        px(low),
        px(high)
    ));
}

fn draw_bars(sheet: &Sheet<'_>, one: Placed<'_>, has_values: bool, pen: &mut Pen) {
    let (series, slot) = one;
    let wide = sheet.x.span(slot.width);
    let wide = if wide > 0.0 { wide.clamp(1.0, BAR_MAX) } else { BAR };
    let base = sheet.y.at(0.0);
    let colour = colour(series.colour).light;
    for ([x, y], point) in sheet.places(one) {
        let (top, bottom) = (y.min(base), y.max(base));
        let fill = if point.disturbed { "0.35" } else { "0.85" };
        pen.line(format_args!(
            "<rect class=\"point\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\" \
             fill-opacity=\"{fill}\" stroke=\"{colour}\"><title>{}</title></rect>",
            px(x - wide / 2.0),
            px(top),
            px(wide),
            px(bottom - top),
            escaped(&told(sheet.figure, series, point))
        ));
        stripes(pen, [x - wide / 2.0, top], [wide, bottom - top], slot.pattern);
        draw_whisker(sheet, x, point, (DARK, (wide / 4.0).min(4.0)), pen);
        if has_values {
            let above = point.interval.map_or(y, |[_, high]| sheet.y.at(high).min(y));
            let text = sheet.y.axis.text(point.y);
            pen.text([x, above - 4.0], VALUE, Anchor::Middle, &text);
        }
    }
}

/// Whether every bar has room for its number above it; some without would look like zeros.
fn values_fit(sheet: &Sheet<'_>) -> bool {
    let mut bars = placed(sheet).filter(|(series, _)| series.look == Look::Bars);
    bars.all(|(series, slot)| {
        let room = sheet.x.span(slot.width);
        series.points.iter().all(|p| width(&sheet.y.axis.text(p.y), VALUE.size) <= room)
    })
}

fn draw_markers(sheet: &Sheet<'_>, one: Placed<'_>, pen: &mut Pen) {
    let (series, Slot { pattern, .. }) = one;
    let colour = colour(series.colour).light;
    let is_dense = series.points.len() > MARKERS_MAX;
    let (radius, foot) = if is_dense { (1.8, 0.0) } else { (3.5, 3.0) };
    for (place, point) in sheet.places(one) {
        draw_whisker(sheet, place[0], point, (colour, foot), pen);
        let fill = if point.disturbed { "#ffffff" } else { colour };
        let ink = Ink { fill, edge: colour, opacity: 1.0, radius, turn: pattern };
        marker(pen, place, ink, Some(&told(sheet.figure, series, point)));
    }
}

/// Single values: beside each other where they share a bar, else at their place.
fn draw_raw(sheet: &Sheet<'_>, one: Placed<'_>, pen: &mut Pen) {
    let (series, slot) = one;
    let has_bars = sheet.figure.series.iter().any(|one| one.look == Look::Bars);
    let room = sheet.x.span(slot.width).min(BAR_MAX);
    let own = colour(series.colour).light;
    let (fill, edge) = if has_bars { (DARK, "#ffffff") } else { (own, own) };
    let places = sheet.places(one).into_iter().enumerate();
    let places = places.map(|(at, ([x, y], point))| ([x + aside(at) * room, y], point));
    if is_dense(series) {
        return draw_dots(&places.map(|(place, _)| place).collect::<Vec<_>>(), own, pen);
    }
    for (place, point) in places {
        let (fill, edge) = if point.disturbed { ("#ffffff", DARK) } else { (fill, edge) };
        let ink = Ink { fill, edge, opacity: 0.6, radius: 2.2, turn: slot.pattern };
        marker(pen, place, ink, Some(""));
    }
}

/// Whether a series has so many points that what each of them is cannot be seen.
pub(super) fn is_dense(series: &Series) -> bool {
    series.points.len() > DOTS_MIN
}

/// Many points as one path, which keeps the file small.
fn draw_dots(places: &[[f64; 2]], colour: &str, pen: &mut Pen) {
    let dots: String = places.iter().map(|[x, y]| format!("M{} {}h0", px(*x), px(*y))).collect();
    pen.line(format_args!(
        "<path class=\"points\" d=\"{dots}\" stroke=\"{colour}\" stroke-width=\"2.4\" \
         stroke-linecap=\"round\" stroke-opacity=\"0.4\"/>"
    ));
}
