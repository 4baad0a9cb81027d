//! What colours and shapes mean, in rows below the picture.

use std::collections::BTreeMap;

use super::pen::{Anchor, Pen, px};
use super::ruler::Ruler;
use super::series::is_dense;
use super::shapes::{Ink, marker, stripes};
use super::style::{
    BASE, DASHES, EDGE, GROUND, LABEL, LAW_DASHES, LEGEND, NEUTRAL, TICK, WIDTH, dashes,
};
use super::words::{clipped, names, width};
use crate::report::figures::{Figure, Look, Scale, Series, Slot, colour, has_been, heat};

const ROW: f64 = 21.0;
const SWATCH: f64 = 24.0;
const NAME_ROOM: f64 = 260.0;
const WHAT_ROOM: f64 = 420.0;
const BETWEEN: f64 = 22.0;
const SCALE_LENGTH: f64 = 300.0;
const SCALE_HEIGHT: f64 = 46.0;

/// Steps of the scale of colours.
pub(super) const SHADES: usize = 32;

/// Rows of entries with their places.
pub(super) struct Legend<'a> {
    entries: Vec<Entry>,
    scale: Option<(Ruler<'a>, f64)>,
    pub(super) bottom: f64,
}

struct Entry {
    swatch: Swatch,
    text: String,
    x: f64,
    y: f64,
}

#[derive(Clone, Copy)]
enum Swatch {
    Colour(usize),
    /// A name whose colour another had before, as it is drawn, with its pattern.
    Again(Look, usize, usize),
    Thing(Look, usize),
    Interval,
    Disturbed,
}

impl<'a> Legend<'a> {
    pub(super) fn of(figure: &'a Figure, slots: &[Slot], top: f64) -> Self {
        let mut entries = Vec::new();
        let mut y = top;
        for row in [named(figure, slots), things(figure)] {
            y = put(row, y, &mut entries);
        }
        let scale = figure.shades().map(|(axis, range)| {
            let left = EDGE + clipped_width(&axis.label) + 18.0;
            (Ruler { axis, range, pixels: [left, left + SCALE_LENGTH] }, y + 4.0)
        });
        let bottom = y + if scale.is_some() { SCALE_HEIGHT } else { 0.0 };
        Self { entries, scale, bottom }
    }

    pub(super) fn draw(&self, pen: &mut Pen) {
        for entry in &self.entries {
            entry.swatch.draw([entry.x, entry.y - 4.5], pen);
            let at = [entry.x + SWATCH + 6.0, entry.y];
            pen.text(at, LEGEND, Anchor::Start, &entry.text);
        }
        if let Some((ruler, y)) = &self.scale {
            draw_scale(ruler, *y, pen);
        }
    }
}

/// Names with colours; none where a scale of colours tells all and one name would tell nothing.
fn named(figure: &Figure, slots: &[Slot]) -> Vec<(Swatch, String)> {
    let mut drawn: BTreeMap<&str, (Look, usize)> = BTreeMap::new();
    for (one, slot) in figure.series.iter().zip(slots).filter(|(one, _)| one.look != Look::Cells) {
        let own = (one.look, slot.pattern);
        let so_far = drawn.entry(&one.name).or_insert(own);
        // A band or a single value tells less than what stands in it.
        if matches!(so_far.0, Look::Band | Look::Raw | Look::Law) {
            *so_far = own;
        }
    }
    let all = figure.names();
    let all: Vec<_> = all.into_iter().filter(|(name, _)| drawn.contains_key(name)).collect();
    let swatch = |name: &str, colour: usize| match drawn.get(name) {
        Some((look, pattern)) if has_been(colour) => Swatch::Again(*look, *pattern, colour),
        _ => Swatch::Colour(colour),
    };
    let texts: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let texts = names(&texts, LEGEND.size, NAME_ROOM);
    all.iter().zip(texts).map(|((name, colour), text)| (swatch(name, *colour), text)).collect()
}

fn things(figure: &Figure) -> Vec<(Swatch, String)> {
    let whats = figure.whats();
    let turn = |at: usize| whats[..at].iter().filter(|(look, _)| *look == whats[at].0).count();
    let mut entries: Vec<_> = (0..whats.len())
        .map(|at| {
            let (look, what) = whats[at];
            (Swatch::Thing(look, turn(at)), clipped(what, LEGEND.size, WHAT_ROOM))
        })
        .collect();
    let has_whisker = |look| matches!(look, Look::Bars | Look::Markers | Look::Line);
    let points = || figure.series.iter().flat_map(|one| one.points.iter().map(move |p| (one, p)));
    if points().any(|(one, point)| has_whisker(one.look) && point.interval.is_some()) {
        entries.push((Swatch::Interval, "95% interval".into()));
    }
    let is_hollow =
        |one: &Series| has_whisker(one.look) || (one.look == Look::Raw && !is_dense(one));
    if points().any(|(one, point)| is_hollow(one) && point.disturbed) {
        entries.push((Swatch::Disturbed, "disturbed".into()));
    }
    entries
}

/// Places entries in rows from `y` down, and gives where the rows end.
fn put(row: Vec<(Swatch, String)>, y: f64, entries: &mut Vec<Entry>) -> f64 {
    if row.is_empty() {
        return y;
    }
    let (mut x, mut y) = (EDGE, y + ROW - 6.0);
    for (swatch, text) in row {
        let room = SWATCH + 6.0 + width(&text, LEGEND.size);
        if x > EDGE && x + room > WIDTH - EDGE {
            (x, y) = (EDGE, y + ROW);
        }
        entries.push(Entry { swatch, text, x, y });
        x += room + BETWEEN;
    }
    y + 6.0
}

impl Swatch {
    /// `[x, y]` is the middle of its left side.
    fn draw(self, [x, y]: [f64; 2], pen: &mut Pen) {
        let middle = [x + SWATCH / 2.0, y];
        match self {
            Self::Colour(number) => square(pen, middle, colour(number).light, "1"),
            Self::Again(look, pattern, number) => {
                draw_thing((look, pattern), middle, colour(number).light, pen);
            }
            Self::Thing(look, turn) => draw_thing((look, turn), middle, NEUTRAL, pen),
            Self::Interval => pen.line(format_args!(
                "<path d=\"M{0} {1}v12m-4 0h8m-8 -12h8\" fill=\"none\" stroke=\"{NEUTRAL}\" \
                 stroke-width=\"1.4\"/>",
                px(middle[0]),
                px(y - 6.0)
            )),
            Self::Disturbed => {
                let ink = Ink { fill: GROUND, edge: NEUTRAL, opacity: 1.0, radius: 3.5, turn: 0 };
                marker(pen, middle, ink, None);
            }
        }
    }
}

/// A sample of what is drawn so, with its pattern.
fn draw_thing((look, pattern): (Look, usize), middle: [f64; 2], shade: &str, pen: &mut Pen) {
    let line = |pen: &mut Pen, pattern: &str, width: &str| {
        pen.line(format_args!(
            "<path d=\"M{} {}h{SWATCH}\" fill=\"none\" stroke=\"{shade}\" \
             stroke-width=\"{width}\"{pattern}/>",
            px(middle[0] - SWATCH / 2.0),
            px(middle[1])
        ));
    };
    let ink = Ink { fill: shade, edge: shade, opacity: 1.0, radius: 3.5, turn: pattern };
    match look {
        Look::Bars | Look::Cells => {
            square(pen, middle, shade, "0.85");
            stripes(pen, [middle[0] - 7.0, middle[1] - 6.0], [14.0, 12.0], pattern);
        }
        Look::Band => square(pen, middle, shade, "0.25"),
        Look::Law => line(pen, &dashes(LAW_DASHES, pattern), "1.6"),
        Look::Curve => line(pen, &dashes(DASHES, pattern), "1.8"),
        Look::Line => {
            line(pen, &dashes(DASHES, pattern), "1.8");
            marker(pen, middle, ink, None);
        }
        Look::Markers => marker(pen, middle, ink, None),
        Look::Raw => marker(pen, middle, Ink { radius: 2.2, opacity: 0.6, ..ink }, None),
    }
}

fn square(pen: &mut Pen, [x, y]: [f64; 2], colour: &str, opacity: &str) {
    pen.line(format_args!(
        "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"12\" rx=\"2\" fill=\"{colour}\" \
         fill-opacity=\"{opacity}\"/>",
        px(x - 7.0),
        px(y - 6.0)
    ));
}

fn clipped_width(label: &str) -> f64 {
    width(&clipped(label, LABEL.size, WHAT_ROOM * 0.8), LABEL.size * 1.05)
}

/// The scale of colours: its label, its steps, its ticks.
fn draw_scale(ruler: &Ruler<'_>, y: f64, pen: &mut Pen) {
    let label = clipped(&ruler.axis.label, LABEL.size, WHAT_ROOM * 0.8);
    pen.text([EDGE, y + 12.0], LABEL, Anchor::Start, &label);
    let [left, right] = ruler.pixels;
    let step = (right - left) / SHADES as f64;
    pen.line(format_args!("<g class=\"scale\" shape-rendering=\"crispEdges\">"));
    for at in 0..SHADES {
        let colour = heat(at as f64 / (SHADES - 1) as f64);
        pen.line(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" fill=\"{colour}\"/>",
            px(left + at as f64 * step),
            px(y),
            px(step + 0.5)
        ));
    }
    pen.line(format_args!("</g>"));
    let [low, high] = ruler.range;
    let wanted = if ruler.axis.scale == Scale::Logarithmic { 5 } else { 4 };
    let mut free = f64::NEG_INFINITY;
    for tick in ruler.axis.ticks(low, high, wanted) {
        let (x, half) = (ruler.at(tick.at), width(&tick.text, TICK.size) / 2.0);
        if x - half < free {
            continue;
        }
        free = x + half + 8.0;
        pen.line(format_args!(
            "<path d=\"M{} {}v4\" stroke=\"{BASE}\" stroke-width=\"1\"/>",
            px(x),
            px(y + 14.0)
        ));
        pen.text([x, y + 18.0 + TICK.size], TICK, Anchor::Middle, &tick.text);
    }
}
