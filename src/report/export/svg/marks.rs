//! Marks: a line where a finding tells of something, its words above it, its interval behind it.

use super::pen::{Anchor, Pen, Type, px};
use super::ruler::Ruler;
use super::sheet::Sheet;
use super::style::{DARK, EDGE, GROUND, WIDTH};
use super::words::{clipped, width};
use crate::report::figures::{Mark, colour};

const SIZE: f64 = 12.0;
const LANE: f64 = 17.0;
const GAP: f64 = 10.0;

/// A mark with the place of its words.
pub(super) struct MarkLabel<'a> {
    mark: &'a Mark,
    text: String,
    /// The middle of the words.
    x: f64,
    /// Lines above the ground of the picture, from 0.
    lane: usize,
}

/// Marks with places at which their words do not cover each other, and how many lines that takes.
pub(super) fn lanes<'a>(marks: &'a [Mark], x: &Ruler<'_>) -> (Vec<MarkLabel<'a>>, usize) {
    let mut sorted: Vec<&Mark> = marks.iter().filter(|mark| x.axis.has(mark.x)).collect();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut ends: Vec<f64> = Vec::new();
    let mut labels = Vec::new();
    for mark in sorted {
        let text = clipped(&mark.label, SIZE, WIDTH / 2.0);
        let half = width(&text, SIZE) / 2.0;
        let middle = x.at(mark.x).clamp(EDGE + half, WIDTH - EDGE - half);
        let lane = ends.iter().position(|end| middle - half >= end + GAP).unwrap_or(ends.len());
        ends.resize(ends.len().max(lane + 1), 0.0);
        ends[lane] = middle + half;
        labels.push(MarkLabel { mark, text, x: middle, lane });
    }
    (labels, ends.len())
}

fn shade(mark: &Mark) -> &'static str {
    mark.colour.map_or(DARK, |number| colour(number).light)
}

/// Intervals, which lie behind everything.
pub(super) fn draw_intervals(sheet: &Sheet<'_>, pen: &mut Pen) {
    let [bottom, top] = sheet.y.pixels;
    for label in &sheet.marks {
        let Some([low, high]) = label.mark.interval else { continue };
        let [left, right] = [sheet.x.at(low), sheet.x.at(high)];
        pen.line(format_args!(
            "<rect class=\"interval\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" \
             fill-opacity=\"0.1\"/>",
            px(left),
            px(top),
            px(right - left),
            px(bottom - top),
            shade(label.mark)
        ));
    }
}

/// Lines and words, which lie before everything.
pub(super) fn draw_marks(sheet: &Sheet<'_>, pen: &mut Pen) {
    let [bottom, top] = sheet.y.pixels;
    let words = |lane: usize| top - 6.0 - lane as f64 * LANE;
    for label in &sheet.marks {
        let x = sheet.x.at(label.mark.x);
        pen.line(format_args!(
            "<path class=\"mark\" d=\"M{} {}V{}\" stroke=\"{}\" stroke-width=\"1.5\" \
             stroke-dasharray=\"5 3\"/>",
            px(x),
            px(words(label.lane)),
            px(bottom),
            shade(label.mark)
        ));
    }
    for label in &sheet.marks {
        let room = width(&label.text, SIZE) + 6.0;
        let y = words(label.lane);
        pen.line(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"15\" fill=\"{GROUND}\"/>",
            px(label.x - room / 2.0),
            px(y - 12.0),
            px(room)
        ));
        let look = Type { size: SIZE, colour: shade(label.mark), is_bold: true };
        pen.text([label.x, y], look, Anchor::Middle, &label.text);
    }
}
