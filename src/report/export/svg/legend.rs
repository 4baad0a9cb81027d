//! Draws the legend of colours and shapes, in rows below the plot.

use super::style::{
    BASE, DASHES, EDGE, GROUND, LABEL, LAW_DASHES, LEGEND, NEUTRAL, SHADES, TICK, dashes, shade,
};
use super::text_width::{clipped, names, width};
use super::writer::{AxisPixels, MarkerShape, Pixel, PixelBox, SvgWriter, px};
use crate::report::charts::{
    AxisScale, COLOURS, Chart, ChartPoint, ChartSeries, SeriesLook, colour,
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

/// Rows of entries, below the scale of colours.
pub(super) struct SvgLegend<'a> {
    entries: Vec<LegendEntry>,
    scale: Option<ColourScale<'a>>,
    pub(super) bottom: f64,
}

/// One sample with what it stands for.
pub(super) struct LegendEntry {
    pub(super) swatch: LegendSwatch,
    pub(super) text: String,
    /// The left end of its line of text.
    at: Pixel,
}

struct ColourScale<'a> {
    label: String,
    shades: AxisPixels<'a>,
    y: f64,
}

#[derive(Clone, Copy)]
pub(super) enum LegendSwatch {
    Series { look: SeriesLook, pattern: usize, colour: &'static str },
    Interval,
    Disturbed,
}

impl LegendEntry {
    fn new(swatch: LegendSwatch, text: &str) -> Self {
        Self { swatch, text: text.into(), at: Pixel { x: EDGE, y: 0.0 } }
    }
}

impl<'a> SvgLegend<'a> {
    pub(super) fn new(chart: &'a Chart, top: f64, room: f64) -> Self {
        let scale = chart.shade_span().map(|span| {
            let label = clipped(&span.axis.label, LABEL.size, WHAT_ROOM.min(room / 2.0) * 0.8);
            let left = EDGE + width(&label, LABEL.size * 1.05) + 18.0;
            let pixels = [left, (left + SCALE_LENGTH).min(room - EDGE)];
            ColourScale { label, shades: AxisPixels { span, pixels }, y: top + 4.0 }
        });
        let top = top + if scale.is_some() { SCALE_HEIGHT } else { 0.0 };
        let (mut named, mut things) = (named(chart), things(chart));
        let texts: Vec<&str> = named.iter().map(|entry| &*entry.text).collect();
        let texts = names(&texts, LEGEND.size, NAME_ROOM);
        named.iter_mut().zip(texts).for_each(|(entry, text)| entry.text = text);
        for entry in &mut things {
            entry.text = clipped(&entry.text, LEGEND.size, WHAT_ROOM);
        }
        let middle = place(&mut named, top, room);
        let bottom = place(&mut things, middle, room);
        named.extend(things);
        Self { entries: named, scale, bottom }
    }

    pub(super) fn draw(&self, out: &mut SvgWriter) {
        for LegendEntry { swatch, at, .. } in &self.entries {
            swatch.draw(Pixel { y: at.y - 4.5, ..*at }, out);
        }
        out.begin_texts("legend", LEGEND, "start");
        for LegendEntry { text, at, .. } in &self.entries {
            out.text(Pixel { x: at.x + SWATCH + 6.0, ..*at }, text);
        }
        out.end();
    }

    /// The pixel below the scale of colours; none without one.
    pub(super) fn scale_bottom(&self) -> Option<f64> {
        self.scale.as_ref().map(|scale| scale.y + SCALE_HEIGHT)
    }

    pub(super) fn draw_scale(&self, out: &mut SvgWriter) {
        self.scale.iter().for_each(|scale| scale.draw(out));
    }
}

/// Names with colours; none where a scale of colours shows all and one name would add nothing. A name whose
/// colour another had before is shown as it is drawn.
pub(super) fn named(chart: &Chart) -> Vec<LegendEntry> {
    let slots = chart.slots();
    let entry = |(name, number): (&str, usize)| {
        let own = chart.series.iter().zip(&slots);
        let own = own.filter(|(one, _)| one.name == name && one.look != SeriesLook::Cells);
        // A band or a single value shows less than what stands in it.
        let (series, slot) = own.min_by_key(|(one, _)| {
            matches!(one.look, SeriesLook::Band | SeriesLook::Raw | SeriesLook::Law)
        })?;
        let (look, pattern) = match number >= COLOURS.len() {
            true => (series.look, slot.pattern),
            false => (SeriesLook::Bars, 0),
        };
        let colour = colour(number).light;
        Some(LegendEntry::new(LegendSwatch::Series { look, pattern, colour }, name))
    };
    chart.names().into_iter().filter_map(entry).collect()
}

/// What points are and how they are drawn.
pub(super) fn things(chart: &Chart) -> Vec<LegendEntry> {
    let whats = chart.whats();
    let entry = |(at, (look, what)): (usize, &(SeriesLook, &str))| {
        let pattern = whats[..at].iter().filter(|(before, _)| before == look).count();
        let swatch = LegendSwatch::Series { look: *look, pattern, colour: NEUTRAL };
        LegendEntry::new(swatch, what)
    };
    let is_alone = matches!((whats.as_slice(), chart.names().as_slice()), ([_], [_]));
    let mut entries: Vec<_> = whats.iter().enumerate().map(entry).collect();
    if is_alone && chart.has(SeriesLook::Bars) {
        entries.clear();
    }
    let has = |is: fn(&ChartSeries, &ChartPoint) -> bool| {
        chart.series.iter().any(|one| one.points.iter().any(|point| is(one, point)))
    };
    if has(|one, point| one.has_whiskers() && point.interval.is_some()) {
        // Those of a line are the band behind it.
        let is_band = chart.has(SeriesLook::Line);
        let band = LegendSwatch::Series { look: SeriesLook::Band, pattern: 0, colour: NEUTRAL };
        let swatch = if is_band { band } else { LegendSwatch::Interval };
        entries.push(LegendEntry::new(swatch, "95% interval"));
    }
    if has(|one, point| is_hollow(one) && point.disturbed) {
        entries.push(LegendEntry::new(LegendSwatch::Disturbed, "disturbed"));
    }
    entries
}

/// Whether points of it that were measured under background load are drawn hollow.
fn is_hollow(series: &ChartSeries) -> bool {
    series.has_whiskers() || (series.look == SeriesLook::Raw && !is_dense(series))
}

/// Places entries in rows from `top` down, and returns where the rows end.
fn place(entries: &mut [LegendEntry], top: f64, room: f64) -> f64 {
    let mut at = Pixel { x: EDGE, y: top + ROW - 6.0 };
    for entry in entries.iter_mut() {
        let across = SWATCH + 6.0 + width(&entry.text, LEGEND.size);
        if at.x > EDGE && at.x + across > room - EDGE {
            at = Pixel { x: EDGE, y: at.y + ROW };
        }
        entry.at = at;
        at.x += across + BETWEEN;
    }
    if entries.is_empty() { top } else { at.y + 6.0 }
}

impl LegendSwatch {
    /// `at` is the middle of its left side.
    fn draw(self, at: Pixel, out: &mut SvgWriter) {
        let middle = Pixel { x: at.x + SWATCH / 2.0, ..at };
        let shade = match self {
            Self::Series { colour, .. } => colour,
            Self::Interval | Self::Disturbed => NEUTRAL,
        };
        let fill = if matches!(self, Self::Disturbed) { GROUND } else { shade };
        let paint = format!(" fill=\"{fill}\" stroke=\"{shade}\" stroke-width=\"1.2\"");
        let sample =
            |radius: f64, shape: usize| MarkerShape { at: middle, radius, shape }.element(&paint);
        let line = |patterns, pattern| {
            let (x, y, dashes) = (px(at.x), px(at.y), dashes(patterns, pattern));
            format!("path d=\"M{x} {y}h{SWATCH}\" stroke=\"{shade}\" stroke-width=\"1.8\"{dashes}")
        };
        let (left, top) = (middle.x - 7.0, middle.y - 6.0);
        let bar = PixelBox { left, top, width: 14.0, height: 12.0 };
        let square = |opacity| {
            bar.element(&format!(" rx=\"2\" fill=\"{shade}\" fill-opacity=\"{opacity}\""))
        };
        let element = match self {
            Self::Disturbed => sample(3.5, 0),
            Self::Interval => {
                let (x, y) = (px(middle.x), px(top));
                format!("path d=\"M{x} {y}v12m-4 0h8m-8 -12h8\"{paint}")
            }
            Self::Series { look, pattern, .. } => match look {
                SeriesLook::Bars | SeriesLook::Cells => square("0.85"),
                SeriesLook::Band => square("0.25"),
                SeriesLook::Law => line(LAW_DASHES, pattern),
                SeriesLook::Curve | SeriesLook::Line => line(DASHES, pattern),
                SeriesLook::Markers => sample(3.5, pattern),
                SeriesLook::Raw => sample(2.2, 0),
            },
        };
        out.titled(&element, "");
        match self {
            Self::Series { look: SeriesLook::Line, pattern, .. } => {
                out.titled(&sample(3.5, pattern), "");
            }
            Self::Series { look: SeriesLook::Bars, pattern, .. } => out.stripes(bar, pattern),
            _ => {}
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

impl ColourScale<'_> {
    fn draw(&self, out: &mut SvgWriter) {
        let (shades, y) = (&self.shades, self.y);
        out.begin_texts("scale-label", LABEL, "start");
        out.text(Pixel { x: EDGE, y: y + 12.0 }, &self.label);
        out.end();
        let step = shades.length() / SHADES as f64;
        out.line(format_args!(
            "<g class=\"scale\" stroke-width=\"14\" shape-rendering=\"crispEdges\">"
        ));
        for at in 0..SHADES {
            let line = format!(
                "M{} {}h{}",
                px(shades.pixels[0] + at as f64 * step),
                px(y + 7.0),
                px(step + 0.5)
            );
            out.line(format_args!("<path d=\"{line}\" stroke=\"{}\"/>", shade(at)));
        }
        out.end();
        let wanted = if shades.span.axis.scale == AxisScale::Logarithmic { 5 } else { 4 };
        let mut free = f64::NEG_INFINITY;
        let mut lines = String::new();
        out.begin_texts("scale-ticks", TICK, "middle");
        for tick in shades.span.ticks(wanted) {
            let (x, half) = (shades.at(tick.at), width(&tick.text, TICK.size) / 2.0);
            if x - half >= free {
                free = x + half + 8.0;
                lines += &format!("M{} {}v4", px(x), px(y + 14.0));
                out.text(Pixel { x, y: y + 18.0 + TICK.size }, &tick.text);
            }
        }
        out.end();
        out.line(format_args!("<path d=\"{lines}\" stroke=\"{BASE}\"/>"));
    }
}
