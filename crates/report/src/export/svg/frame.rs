//! Draws all that surrounds the series: words, grid and ticks.

use super::fit_text::width;
use super::layout::{ChartLayout, SLANT_DEGREES};
use super::style::{BASE, EDGE, GAP, GRID, LABEL, LINE_HEIGHT, NOTE, TICK, TITLE, TextStyle};
use super::writer::{Pixel, SvgWriter, px};
use crate::charts::AxisScale;

/// Lines of text from a place down.
fn paragraph(out: &mut SvgWriter, class: &str, lines: &[String], style: TextStyle, top: f64) {
    let step = style.size * LINE_HEIGHT;
    out.begin_texts(class, style, "start");
    for (at, line) in lines.iter().enumerate() {
        out.text(Pixel { x: EDGE, y: top + style.size + at as f64 * step }, line);
    }
    out.end();
}

/// Title, notes and legend: what a page has as text around the picture.
pub(super) fn draw_words(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    paragraph(out, "title", &layout.title, TITLE, EDGE);
    layout.legend.draw(out);
    paragraph(out, "notes", &layout.notes, NOTE, layout.notes_y);
}

pub(super) fn draw_labels(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    out.begin_texts("label", LABEL, "start");
    out.text(Pixel { x: EDGE, y: layout.y_label_y }, &layout.y_label);
    out.end();
    let [left, right] = layout.x.pixels;
    let half = width(&layout.x_label, LABEL.size * 1.05) / 2.0;
    // Below the middle of the axis, but never over the border.
    let x = ((left + right) / 2.0).max(EDGE + half).min(layout.width - EDGE - half);
    out.begin_texts("label", LABEL, "middle");
    out.text(Pixel { x, y: layout.x_label_y }, &layout.x_label);
    out.end();
}

pub(super) fn draw_grid(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let [left, right] = layout.x.pixels.map(px);
    let [bottom, top] = layout.y.pixels.map(px);
    let across = |tick: f64| format!("M{left} {}H{right}", px(layout.y.at(tick)));
    let down = |tick: f64| format!("M{} {bottom}V{top}", px(layout.x.at(tick)));
    let all_across = layout.y_ticks.iter();
    let all_down = layout.x_ticks.ticks.iter().filter(|_| !layout.x.span.axis.is_named());
    for (class, path) in [
        ("grid-y", all_across.map(|tick| across(tick.at)).collect::<String>()),
        ("grid-x", all_down.map(|tick| down(tick.at)).collect()),
    ] {
        out.line(format_args!("<path class=\"{class}\" stroke=\"{GRID}\" d=\"{path}\"/>"));
    }
}

/// The base line, ticks and their texts, above everything.
pub(super) fn draw_ticks(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let [left, right] = layout.x.pixels;
    let bottom = layout.bottom();
    let base = match layout.y.span.axis.scale {
        AxisScale::Linear => layout.y.at(0.0),
        _ => bottom,
    };
    let line = format!("M{} {}H{}", px(left), px(base), px(right));
    out.line(format_args!(
        "<path class=\"base\" d=\"{line}\" stroke=\"{BASE}\" stroke-width=\"1.2\"/>"
    ));
    out.begin_texts("ticks", TICK, "end");
    for tick in &layout.y_ticks {
        let y = layout.y.at(tick.at) + TICK.size * 0.35;
        out.text(Pixel { x: left - GAP, y }, &tick.text);
    }
    out.end();
    let is_slanted = layout.x_ticks.is_slanted;
    out.begin_texts("ticks-x", TICK, if is_slanted { "end" } else { "middle" });
    for tick in &layout.x_ticks.ticks {
        let x = layout.x.at(tick.at);
        if is_slanted {
            let at = Pixel { x: x + 4.0, y: bottom + GAP + TICK.size * 0.6 };
            out.slanted(at, SLANT_DEGREES, &tick.text);
        } else {
            out.text(Pixel { x, y: bottom + GAP + TICK.size * 0.9 }, &tick.text);
        }
    }
    out.end();
}
