//! Where everything of a picture stands, before anything is drawn.

use super::legend::Legend;
use super::marks::{MarkLabel, lanes};
use super::ruler::Ruler;
use super::style::{EDGE, GAP, LABEL, NOTE, PLOT_HEIGHT, QUESTION, TICK, TITLE, WIDTH};
use super::words::{clipped, names, widest, width, wrapped};
use crate::report::figures::{Figure, Point, Scale, Series, Slot, Tick};

/// Ticks of an axis of numbers that are tried for.
const Y_TICKS: usize = 8;
const X_TICKS: usize = 9;

/// Between the texts of two ticks.
const TICK_GAP: f64 = 14.0;

/// How steep names are that do not fit beside each other.
pub(super) const SLANT_DEGREES: f64 = 35.0;
const SLANTED_ROOM: f64 = 160.0;

/// A row of a name, and how high rows are together.
const ROW: f64 = 22.0;
const ROWS_MIN: f64 = 66.0;
const ROWS_MAX: f64 = 1_200.0;

const LINE: f64 = 1.35;
const LANE: f64 = 17.0;

/// Places of all parts, in pixels.
pub(super) struct Sheet<'a> {
    pub(super) figure: &'a Figure,
    /// Of each series, in their order.
    pub(super) slots: Vec<Slot>,
    pub(super) title: Vec<String>,
    pub(super) question: Vec<String>,
    pub(super) y_label: String,
    pub(super) y_label_y: f64,
    pub(super) x: Ruler<'a>,
    pub(super) y: Ruler<'a>,
    pub(super) x_ticks: XTicks,
    pub(super) y_ticks: Vec<Tick>,
    pub(super) x_label: String,
    pub(super) x_label_y: f64,
    pub(super) marks: Vec<MarkLabel<'a>>,
    pub(super) legend: Legend<'a>,
    pub(super) notes: Vec<String>,
    pub(super) notes_y: f64,
    pub(super) height: f64,
}

/// Ticks from left to right, with texts that have room.
pub(super) struct XTicks {
    pub(super) ticks: Vec<Tick>,
    pub(super) is_slanted: bool,
    /// From the axis to below the texts.
    pub(super) height: f64,
}

impl<'a> Sheet<'a> {
    pub(super) fn of(figure: &'a Figure) -> Self {
        let inner = WIDTH - 2.0 * EDGE;
        let title = wrapped(&figure.title, TITLE.size * 1.05, inner, 2);
        let question = wrapped(&figure.question, QUESTION.size, inner, 3);
        let head = EDGE + lines(&title, TITLE.size) + lines(&question, QUESTION.size);
        let y_label_y = head + 24.0;
        let y_range = figure.range_y();
        let y_ticks = figure.y.ticks(y_range[0], y_range[1], Y_TICKS);
        let (y_ticks, left) = y_room(&y_ticks);
        let mut x =
            Ruler { axis: &figure.x, range: figure.range_x(), pixels: [left, WIDTH - EDGE] };
        x.pixels = x_room(&x);
        let (marks, count) = lanes(&figure.marks, &x);
        let top = y_label_y + 12.0 + count as f64 * LANE;
        let bottom = top + plot_height(figure);
        let y = Ruler { axis: &figure.y, range: y_range, pixels: [bottom, top] };
        let x_ticks = XTicks::of(&x);
        let x_label_y = bottom + x_ticks.height + LABEL.size + 6.0;
        let slots = figure.slots();
        let legend = Legend::of(figure, &slots, x_label_y + 16.0);
        let notes_y = legend.bottom + 8.0;
        let is_cut = figure.y.scale == Scale::Linear && y_range[0] > 0.0;
        let cut = is_cut.then_some("The vertical axis does not begin at 0.");
        let notes = figure.notes.iter().map(|note| &**note).chain(cut);
        let notes: Vec<String> =
            notes.flat_map(|note| wrapped(note, NOTE.size, inner, 3)).collect();
        let height = (notes_y + lines(&notes, NOTE.size) + EDGE / 2.0).ceil();
        let label = |text: &str| clipped(text, LABEL.size * 1.05, inner);
        let (x_label, y_label) = (label(&figure.x.label), label(&figure.y.label));
        Self {
            figure,
            slots,
            title,
            question,
            y_label,
            y_label_y,
            x,
            y,
            x_ticks,
            y_ticks,
            x_label,
            x_label_y,
            marks,
            legend,
            notes,
            notes_y,
            height,
        }
    }

    /// The pixel below the ground of the picture.
    pub(super) fn bottom(&self) -> f64 {
        self.y.pixels[0]
    }

    /// Where a point stands; none if it has no place.
    fn place(&self, slot: Slot, point: &Point) -> Option<[f64; 2]> {
        let has = self.x.axis.has(point.x) && self.y.axis.has(point.y);
        has.then(|| [self.x.at(point.x) + self.x.span(slot.shift), self.y.at(point.y)])
    }

    /// Points with their places, in order.
    pub(super) fn places<'b>(
        &self,
        (series, slot): (&'b Series, Slot),
    ) -> Vec<([f64; 2], &'b Point)> {
        let points = series.points.iter();
        points.filter_map(|point| Some((self.place(slot, point)?, point))).collect()
    }
}

/// Names beside the picture have a line each.
fn plot_height(figure: &Figure) -> f64 {
    match &figure.y.scale {
        Scale::Named(names) => (names.len() as f64 * ROW).clamp(ROWS_MIN, ROWS_MAX),
        _ => PLOT_HEIGHT,
    }
}

/// Pixels that lines take.
pub(super) fn lines(lines: &[String], size: f64) -> f64 {
    lines.len() as f64 * size * LINE
}

/// Ticks with texts that leave room for the picture, and where that begins.
fn y_room(ticks: &[Tick]) -> (Vec<Tick>, f64) {
    let texts: Vec<&str> = ticks.iter().map(|tick| &*tick.text).collect();
    let texts = names(&texts, TICK.size, SLANTED_ROOM);
    let left = EDGE + widest(&texts, TICK.size) + GAP;
    let ticks = ticks.iter().zip(texts).map(|(tick, text)| Tick { at: tick.at, text });
    (ticks.collect(), left.max(EDGE + 34.0))
}

/// The ends of the x axis, so that half of the outer texts has room beside them.
fn x_room(x: &Ruler<'_>) -> [f64; 2] {
    let [left, right] = x.pixels;
    let ticks = x.axis.ticks(x.range[0], x.range[1], X_TICKS);
    let texts: Vec<String> = ticks.into_iter().map(|tick| tick.text).collect();
    let room = widest(&texts, TICK.size);
    if x.axis.is_named() {
        let pitch = x.length() / texts.len().max(1) as f64;
        let is_level = room <= pitch - GAP;
        // A name that rises ends at its place, and begins to the left of it.
        let before = room.min(SLANTED_ROOM) * SLANT_DEGREES.to_radians().cos() + GAP - pitch / 2.0;
        return [if is_level { left } else { left.max(before) }, right];
    }
    let half = room / 2.0;
    [left.max(half + GAP), right.min(WIDTH - GAP - half)]
}

impl XTicks {
    fn of(x: &Ruler<'_>) -> Self {
        if x.axis.is_named() { Self::named(x) } else { Self::numbers(x) }
    }

    fn level(ticks: Vec<Tick>) -> Self {
        Self { ticks, is_slanted: false, height: GAP + TICK.size }
    }

    /// As many as have room.
    fn numbers(x: &Ruler<'_>) -> Self {
        let of = |wanted: usize| x.axis.ticks(x.range[0], x.range[1], wanted);
        let has_room = |ticks: &Vec<Tick>| {
            ticks.windows(2).all(|two| {
                let half = |tick: &Tick| width(&tick.text, TICK.size) / 2.0;
                x.at(two[1].at) - x.at(two[0].at) >= half(&two[0]) + half(&two[1]) + TICK_GAP
            })
        };
        let found = (2..=X_TICKS).rev().map(of).find(has_room);
        Self::level(found.unwrap_or_else(|| of(2).into_iter().take(1).collect()))
    }

    /// All names; beside each other if they fit, else rising.
    fn named(x: &Ruler<'_>) -> Self {
        let ticks = x.axis.ticks(x.range[0], x.range[1], X_TICKS);
        let pitch = x.length() / ticks.len().max(1) as f64;
        let texts: Vec<String> = ticks.iter().map(|tick| tick.text.clone()).collect();
        if widest(&texts, TICK.size) <= pitch - GAP {
            return Self::level(ticks);
        }
        let slant = SLANT_DEGREES.to_radians();
        let room = (x.at(0.0) - GAP) / slant.cos();
        let texts = names(&texts, TICK.size, room.min(SLANTED_ROOM));
        let height = GAP + TICK.size + widest(&texts, TICK.size) * slant.sin();
        // Lines of text that rise need as much from one to the next as lines that do not.
        let every = (TICK.size / slant.sin() / pitch).ceil().max(1.0) as usize;
        let ticks = ticks.iter().zip(texts).step_by(every);
        let ticks = ticks.map(|(tick, text)| Tick { at: tick.at, text }).collect();
        Self { ticks, is_slanted: true, height }
    }
}
