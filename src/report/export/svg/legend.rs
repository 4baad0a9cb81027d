//! The legend: what colours and shapes mean, in rows below the plot.

use std::collections::BTreeMap;

use super::axis_pixels::AxisPixels;
use super::style::{
    BASE, DASHES, EDGE, GROUND, LABEL, LAW_DASHES, LEGEND, NEUTRAL, SHADES, TICK, dashes,
};
use super::text_width::{clipped, names, width};
use super::writer::{MarkerShape, Pixel, PixelBox, SvgWriter, TextAnchor, px};
use crate::report::charts::{
    AxisScale, COLOURS, Chart, ChartPoint, ChartSeries, SeriesLook, SeriesSlot, colour, heat,
};

const ROW: f64 = 21.0;
const SWATCH: f64 = 24.0;
const NAME_ROOM: f64 = 260.0;
const WHAT_ROOM: f64 = 420.0;
const BETWEEN: f64 = 22.0;
const SCALE_LENGTH: f64 = 300.0;
const SCALE_HEIGHT: f64 = 46.0;

/// More single values than this are dots.
const DOTS_MIN: usize = 150;

/// Whether a series has so many points that what each of them is cannot be seen.
pub(super) fn is_dense(series: &ChartSeries) -> bool {
    series.points.len() > DOTS_MIN
}

/// Rows of entries with their places, below the scale of colours.
pub(super) struct SvgLegend<'a> {
    entries: Vec<PlacedEntry>,
    scale: Option<ColourScale<'a>>,
    pub(super) bottom: f64,
}

/// One sample with what it stands for.
pub(super) struct LegendEntry {
    pub(super) swatch: LegendSwatch,
    pub(super) text: String,
}

struct PlacedEntry {
    entry: LegendEntry,
    at: Pixel,
}

/// Which colour stands for how much.
struct ColourScale<'a> {
    label: String,
    shades: AxisPixels<'a>,
    y: f64,
}

/// How something is drawn.
#[derive(Clone, Copy)]
pub(super) struct DrawnLook {
    look: SeriesLook,
    pattern: usize,
}

#[derive(Clone, Copy)]
pub(super) enum LegendSwatch {
    Colour(usize),
    /// A name whose colour another had before, as it is drawn.
    RepeatedColour(DrawnLook, usize),
    Thing(DrawnLook),
    Interval,
    Disturbed,
}

impl<'a> SvgLegend<'a> {
    pub(super) fn new(chart: &'a Chart, slots: &[SeriesSlot], top: f64, room: f64) -> Self {
        let scale = chart.shade_span().map(|span| {
            let label = clipped(&span.axis.label, LABEL.size, WHAT_ROOM.min(room / 2.0) * 0.8);
            let left = EDGE + width(&label, LABEL.size * 1.05) + 18.0;
            let pixels = [left, (left + SCALE_LENGTH).min(room - EDGE)];
            ColourScale { label, shades: AxisPixels { span, pixels }, y: top + 4.0 }
        });
        let mut y = top + if scale.is_some() { SCALE_HEIGHT } else { 0.0 };
        let mut entries = Vec::new();
        for row in [clipped_names(named(chart, slots)), clipped_things(things(chart))] {
            y = put(row, y, room, &mut entries);
        }
        Self { entries, scale, bottom: y }
    }

    pub(super) fn draw(&self, out: &mut SvgWriter) {
        for PlacedEntry { entry, at } in &self.entries {
            entry.swatch.draw(Pixel { y: at.y - 4.5, ..*at }, out);
            let place = Pixel { x: at.x + SWATCH + 6.0, ..*at };
            out.text(place, LEGEND, TextAnchor::Start, &entry.text);
        }
    }

    /// The pixel below the scale of colours; none without one.
    pub(super) fn scale_bottom(&self) -> Option<f64> {
        self.scale.as_ref().map(|scale| scale.y + SCALE_HEIGHT)
    }

    /// The scale of colours, if there is one.
    pub(super) fn draw_scale(&self, out: &mut SvgWriter) {
        if let Some(scale) = &self.scale {
            scale.draw(out);
        }
    }
}

/// Names with colours; none where a scale of colours shows all and one name would add nothing.
pub(super) fn named(chart: &Chart, slots: &[SeriesSlot]) -> Vec<LegendEntry> {
    let mut drawn: BTreeMap<&str, DrawnLook> = BTreeMap::new();
    for (one, slot) in
        chart.series.iter().zip(slots).filter(|(one, _)| one.look != SeriesLook::Cells)
    {
        let own = DrawnLook { look: one.look, pattern: slot.pattern };
        let so_far = drawn.entry(&one.name).or_insert(own);
        // A band or a single value shows less than what stands in it.
        if matches!(so_far.look, SeriesLook::Band | SeriesLook::Raw | SeriesLook::Law) {
            *so_far = own;
        }
    }
    let entry = |(name, colour): (&str, usize)| {
        let look = *drawn.get(name)?;
        let swatch = match colour >= COLOURS.len() {
            true => LegendSwatch::RepeatedColour(look, colour),
            false => LegendSwatch::Colour(colour),
        };
        Some(LegendEntry { swatch, text: name.to_string() })
    };
    chart.names().into_iter().filter_map(entry).collect()
}

/// What points are and how they are drawn.
pub(super) fn things(chart: &Chart) -> Vec<LegendEntry> {
    let whats = chart.whats();
    let entry = |(at, (look, what)): (usize, &(SeriesLook, &str))| {
        let pattern = whats[..at].iter().filter(|(before, _)| before == look).count();
        let swatch = LegendSwatch::Thing(DrawnLook { look: *look, pattern });
        LegendEntry { swatch, text: (*what).to_string() }
    };
    let mut entries: Vec<_> = whats.iter().enumerate().map(entry).collect();
    let has = |is: fn(&ChartSeries, &ChartPoint) -> bool| {
        chart.series.iter().any(|one| one.points.iter().any(|point| is(one, point)))
    };
    if has(|one, point| one.has_whiskers() && point.interval.is_some()) {
        entries.push(LegendEntry { swatch: LegendSwatch::Interval, text: "95% interval".into() });
    }
    if has(|one, point| is_hollow(one) && point.disturbed) {
        entries.push(LegendEntry { swatch: LegendSwatch::Disturbed, text: "disturbed".into() });
    }
    entries
}

/// Whether points of it that something disturbed are drawn hollow.
fn is_hollow(series: &ChartSeries) -> bool {
    series.has_whiskers() || (series.look == SeriesLook::Raw && !is_dense(series))
}

fn clipped_names(mut entries: Vec<LegendEntry>) -> Vec<LegendEntry> {
    let texts: Vec<&str> = entries.iter().map(|entry| &*entry.text).collect();
    let texts = names(&texts, LEGEND.size, NAME_ROOM);
    entries.iter_mut().zip(texts).for_each(|(entry, text)| entry.text = text);
    entries
}

fn clipped_things(mut entries: Vec<LegendEntry>) -> Vec<LegendEntry> {
    for entry in &mut entries {
        entry.text = clipped(&entry.text, LEGEND.size, WHAT_ROOM);
    }
    entries
}

/// Places entries in rows from `y` down, and returns where the rows end.
fn put(row: Vec<LegendEntry>, y: f64, room: f64, entries: &mut Vec<PlacedEntry>) -> f64 {
    if row.is_empty() {
        return y;
    }
    let mut at = Pixel { x: EDGE, y: y + ROW - 6.0 };
    for entry in row {
        let across = SWATCH + 6.0 + width(&entry.text, LEGEND.size);
        if at.x > EDGE && at.x + across > room - EDGE {
            at = Pixel { x: EDGE, y: at.y + ROW };
        }
        entries.push(PlacedEntry { entry, at });
        at.x += across + BETWEEN;
    }
    at.y + 6.0
}

impl LegendSwatch {
    /// `at` is the middle of its left side.
    fn draw(self, at: Pixel, out: &mut SvgWriter) {
        let middle = Pixel { x: at.x + SWATCH / 2.0, ..at };
        match self {
            Self::Colour(number) => square(out, middle, colour(number).light, "1"),
            Self::RepeatedColour(look, number) => look.draw(middle, colour(number).light, out),
            Self::Thing(look) => look.draw(middle, NEUTRAL, out),
            Self::Interval => out.line(format_args!(
                "<path d=\"M{0} {1}v12m-4 0h8m-8 -12h8\" fill=\"none\" stroke=\"{NEUTRAL}\" \
                 stroke-width=\"1.4\"/>",
                px(middle.x),
                px(middle.y - 6.0)
            )),
            Self::Disturbed => {
                let paint = &paint(GROUND, NEUTRAL);
                out.sample(MarkerShape { at: middle, radius: 3.5, shape: 0, paint });
            }
        }
    }

    /// The sample alone, as an element of a page.
    pub(super) fn element(self) -> String {
        let mut out = SvgWriter::default();
        self.draw(Pixel { x: 0.0, y: 8.0 }, &mut out);
        let drawn = out.finish();
        format!(
            "<svg class=\"swatch\" viewBox=\"0 0 {SWATCH} 16\" aria-hidden=\"true\">{}</svg>",
            drawn.trim_end()
        )
    }
}

impl DrawnLook {
    /// A sample of what is drawn so, with its pattern.
    fn draw(self, middle: Pixel, shade: &str, out: &mut SvgWriter) {
        let Self { look, pattern } = self;
        let paint = &paint(shade, shade);
        let marker = MarkerShape { at: middle, radius: 3.5, shape: pattern, paint };
        match look {
            SeriesLook::Bars | SeriesLook::Cells => {
                square(out, middle, shade, "0.85");
                let (left, top) = (middle.x - 7.0, middle.y - 6.0);
                out.stripes(PixelBox { left, top, width: 14.0, height: 12.0 }, pattern);
            }
            SeriesLook::Band => square(out, middle, shade, "0.25"),
            SeriesLook::Law => stroke(out, middle, shade, &dashes(LAW_DASHES, pattern)),
            SeriesLook::Curve => stroke(out, middle, shade, &dashes(DASHES, pattern)),
            SeriesLook::Line => {
                stroke(out, middle, shade, &dashes(DASHES, pattern));
                out.sample(marker);
            }
            SeriesLook::Markers => out.sample(marker),
            SeriesLook::Raw => out.sample(MarkerShape { radius: 2.2, ..marker }),
        }
    }
}

/// The colours of a marker, as attributes.
fn paint(fill: &str, edge: &str) -> String {
    format!(" fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"1.2\"")
}

fn stroke(out: &mut SvgWriter, middle: Pixel, shade: &str, pattern: &str) {
    out.line(format_args!(
        "<path d=\"M{} {}h{SWATCH}\" fill=\"none\" stroke=\"{shade}\" stroke-width=\"1.8\"{pattern}/>",
        px(middle.x - SWATCH / 2.0),
        px(middle.y)
    ));
}

fn square(out: &mut SvgWriter, middle: Pixel, colour: &str, opacity: &str) {
    out.line(format_args!(
        "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"12\" rx=\"2\" fill=\"{colour}\" \
         fill-opacity=\"{opacity}\"/>",
        px(middle.x - 7.0),
        px(middle.y - 6.0)
    ));
}

impl ColourScale<'_> {
    /// Its label, its steps, its ticks.
    fn draw(&self, out: &mut SvgWriter) {
        let (shades, y) = (&self.shades, self.y);
        out.text(Pixel { x: EDGE, y: y + 12.0 }, LABEL, TextAnchor::Start, &self.label);
        let step = shades.length() / SHADES as f64;
        out.line(format_args!("<g class=\"scale\" shape-rendering=\"crispEdges\">"));
        for at in 0..SHADES {
            let colour = heat(at as f64 / (SHADES - 1) as f64);
            out.line(format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" fill=\"{colour}\"/>",
                px(shades.pixels[0] + at as f64 * step),
                px(y),
                px(step + 0.5)
            ));
        }
        out.line(format_args!("</g>"));
        let wanted = if shades.span.axis.scale == AxisScale::Logarithmic { 5 } else { 4 };
        let mut free = f64::NEG_INFINITY;
        for tick in shades.span.ticks(wanted) {
            let (x, half) = (shades.at(tick.at), width(&tick.text, TICK.size) / 2.0);
            if x - half < free {
                continue;
            }
            free = x + half + 8.0;
            out.line(format_args!(
                "<path d=\"M{} {}v4\" stroke=\"{BASE}\" stroke-width=\"1\"/>",
                px(x),
                px(y + 14.0)
            ));
            let place = Pixel { x, y: y + 18.0 + TICK.size };
            out.text(place, TICK, TextAnchor::Middle, &tick.text);
        }
    }
}
