//! Draws the legend of colours and shapes, in rows below the plot.

use super::style::{DASHES, EDGE, GROUND, LAW_DASHES, LEGEND, NEUTRAL, dashes};
use super::text_width::{clipped, names, width};
use super::writer::{MarkerShape, Pixel, PixelBox, SvgWriter, px};
use crate::report::charts::{COLOURS, Chart, ChartPoint, ChartSeries, SeriesLook, colour};

const ROW: f64 = 21.0;
const SWATCH: f64 = 24.0;
const NAME_ROOM: f64 = 260.0;
const WHAT_ROOM: f64 = 420.0;
const BETWEEN: f64 = 22.0;

/// More single values than this are dots.
const DOTS_MIN: usize = 150;

/// Whether a series has so many points that what each of them is cannot be seen.
pub(super) fn is_dense(series: &ChartSeries) -> bool {
    series.points.len() > DOTS_MIN
}

/// Rows of entries.
pub(super) struct SvgLegend {
    entries: Vec<LegendEntry>,
    pub(super) bottom: f64,
}

/// One sample with what it stands for.
pub(super) struct LegendEntry {
    pub(super) swatch: LegendSwatch,
    pub(super) text: String,
    /// The left end of its line of text.
    at: Pixel,
}

#[derive(Clone, Copy)]
pub(super) enum LegendSwatch {
    Series {
        look: SeriesLook,
        pattern: usize,
        colour: &'static str,
    },
    /// The interval of a point.
    Interval,
    Disturbed,
}

impl LegendEntry {
    fn new(swatch: LegendSwatch, text: &str) -> Self {
        Self { swatch, text: text.into(), at: Pixel { x: EDGE, y: 0.0 } }
    }
}

impl SvgLegend {
    pub(super) fn new(chart: &Chart, top: f64, room: f64) -> Self {
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
        Self { entries: named, bottom }
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
}

/// Names with colours. A name whose colour another had before is shown as it is drawn.
pub(super) fn named(chart: &Chart) -> Vec<LegendEntry> {
    let slots = chart.slots();
    let entry = |(name, number): (&str, usize)| {
        let own = chart.series.iter().zip(&slots);
        let own = own.filter(|(one, _)| one.name == name);
        // A single value or a law shows less than what it belongs to.
        let (series, slot) =
            own.min_by_key(|(one, _)| matches!(one.look, SeriesLook::Raw | SeriesLook::Law))?;
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
        entries.push(LegendEntry::new(LegendSwatch::Interval, chart.interval_name()));
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
            _ => NEUTRAL,
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
                SeriesLook::Bars => square("0.85"),
                SeriesLook::Law => line(LAW_DASHES, pattern),
                SeriesLook::Curve | SeriesLook::Line => line(DASHES, pattern),
                SeriesLook::Markers => sample(3.5, pattern),
                SeriesLook::Raw => sample(2.2, 0),
            },
        };
        out.element(&element);
        match self {
            Self::Series { look: SeriesLook::Line, pattern, .. } => {
                out.element(&sample(3.5, pattern));
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
