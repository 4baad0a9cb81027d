//! Words around a picture, and the light grid behind it.

use super::pen::{Anchor, Pen, px};
use super::sheet::{SLANT_DEGREES, Sheet};
use super::style::{BASE, EDGE, GAP, GRID, LABEL, NOTE, QUESTION, TICK, TITLE};
use crate::report::figures::Scale;

const LINE: f64 = 1.35;

/// Lines of text from a place down; gives where the next one would stand.
fn paragraph(pen: &mut Pen, lines: &[String], look: super::pen::Type, top: f64) -> f64 {
    let step = look.size * LINE;
    for (at, line) in lines.iter().enumerate() {
        pen.text([EDGE, top + look.size + at as f64 * step], look, Anchor::Start, line);
    }
    top + lines.len() as f64 * step
}

/// Title, question, labels, notes.
pub(super) fn draw_words(sheet: &Sheet<'_>, pen: &mut Pen) {
    let top = paragraph(pen, &sheet.title, TITLE, EDGE);
    paragraph(pen, &sheet.question, QUESTION, top);
    pen.line(format_args!("<g class=\"label\">"));
    pen.text([EDGE, sheet.y_label_y], LABEL, Anchor::Start, &sheet.y_label);
    let [left, right] = sheet.x.pixels;
    let room = super::words::width(&sheet.x_label, LABEL.size * 1.05);
    // Below the middle of the axis, but never over the border.
    let middle = ((left + right) / 2.0).max(EDGE + room / 2.0);
    let middle = middle.min(super::style::WIDTH - EDGE - room / 2.0);
    pen.text([middle, sheet.x_label_y], LABEL, Anchor::Middle, &sheet.x_label);
    pen.line(format_args!("</g>"));
    paragraph(pen, &sheet.notes, NOTE, sheet.notes_y);
}

/// Lines of the grid, below everything.
pub(super) fn draw_grid(sheet: &Sheet<'_>, pen: &mut Pen) {
    let [left, right] = sheet.x.pixels;
    let [bottom, top] = sheet.y.pixels;
    pen.line(format_args!("<g class=\"grid\" stroke=\"{GRID}\" stroke-width=\"1\">"));
    if !sheet.y.axis.is_named() {
        for tick in &sheet.y_ticks {
            let y = px(sheet.y.at(tick.at));
            pen.line(format_args!("<path d=\"M{} {y}H{}\"/>", px(left), px(right)));
        }
    }
    if !sheet.x.axis.is_named() {
        for tick in &sheet.x_ticks.ticks {
            let x = px(sheet.x.at(tick.at));
            pen.line(format_args!("<path d=\"M{x} {}V{}\"/>", px(bottom), px(top)));
        }
    }
    pen.line(format_args!("</g>"));
}

/// The base line, ticks and their texts, above everything.
pub(super) fn draw_ticks(sheet: &Sheet<'_>, pen: &mut Pen) {
    let [left, right] = sheet.x.pixels;
    let bottom = sheet.bottom();
    let base = match sheet.y.axis.scale {
        Scale::Linear => sheet.y.at(0.0),
        _ => bottom,
    };
    pen.line(format_args!(
        "<path class=\"base\" d=\"M{} {y}H{}\" stroke=\"{BASE}\" stroke-width=\"1.2\"/>",
        px(left),
        px(right),
        y = px(base)
    ));
    pen.line(format_args!("<g class=\"ticks\">"));
    for tick in &sheet.y_ticks {
        let y = sheet.y.at(tick.at) + TICK.size * 0.35;
        pen.text([left - GAP, y], TICK, Anchor::End, &tick.text);
    }
    for tick in &sheet.x_ticks.ticks {
        let x = sheet.x.at(tick.at);
        if sheet.x_ticks.is_slanted {
            let place = [x + 4.0, bottom + GAP + TICK.size * 0.6];
            pen.slanted(place, TICK, SLANT_DEGREES, &tick.text);
        } else {
            let place = [x, bottom + GAP + TICK.size * 0.9];
            pen.text(place, TICK, Anchor::Middle, &tick.text);
        }
    }
    pen.line(format_args!("</g>"));
}
