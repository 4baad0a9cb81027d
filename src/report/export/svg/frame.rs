//! Draws what stands around the series: words, grid, ticks, and the places that findings name.

use super::layout::{ChartLayout, MarkLabel, SLANT_DEGREES};
use super::style::{
    BASE, DARK, EDGE, GAP, GRID, GROUND, LABEL, LANE_HEIGHT, LINE_HEIGHT, MARK_SIZE, NOTE,
    QUESTION, TICK, TITLE, TextStyle,
};
use super::text_width::width;
use super::writer::{Pixel, SvgWriter, TextAnchor, px};
use crate::report::charts::{AxisScale, colour};

/// Lines of text from a place down; returns where the next one would stand.
fn paragraph(out: &mut SvgWriter, lines: &[String], style: TextStyle, top: f64) -> f64 {
    let step = style.size * LINE_HEIGHT;
    for (at, line) in lines.iter().enumerate() {
        let y = top + style.size + at as f64 * step;
        out.text(Pixel { x: EDGE, y }, style, TextAnchor::Start, line);
    }
    top + lines.len() as f64 * step
}

/// Title, question, notes and legend: what a page has as text around the picture.
pub(super) fn draw_words(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let top = paragraph(out, &layout.title, TITLE, EDGE);
    paragraph(out, &layout.question, QUESTION, top);
    layout.legend.draw(out);
    paragraph(out, &layout.notes, NOTE, layout.notes_y);
}

/// Names of the axes.
pub(super) fn draw_labels(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    out.line(format_args!("<g class=\"label\">"));
    let place = Pixel { x: EDGE, y: layout.y_label_y };
    out.text(place, LABEL, TextAnchor::Start, &layout.y_label);
    let [left, right] = layout.x.pixels;
    let half = width(&layout.x_label, LABEL.size * 1.05) / 2.0;
    // Below the middle of the axis, but never over the border.
    let x = ((left + right) / 2.0).max(EDGE + half).min(layout.width - EDGE - half);
    out.text(Pixel { x, y: layout.x_label_y }, LABEL, TextAnchor::Middle, &layout.x_label);
    out.line(format_args!("</g>"));
}

/// Lines of the grid, below everything.
pub(super) fn draw_grid(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let [left, right] = layout.x.pixels.map(px);
    let [bottom, top] = layout.y.pixels.map(px);
    out.line(format_args!("<g stroke=\"{GRID}\" stroke-width=\"1\">"));
    if !layout.y.span.axis.is_named() {
        for tick in &layout.y_ticks {
            let y = px(layout.y.at(tick.at));
            out.line(format_args!("<path d=\"M{left} {y}H{right}\"/>"));
        }
    }
    out.line(format_args!("</g>\n<g class=\"grid-x\" stroke=\"{GRID}\" stroke-width=\"1\">"));
    if !layout.x.span.axis.is_named() {
        for tick in &layout.x_ticks.ticks {
            let x = px(layout.x.at(tick.at));
            out.line(format_args!("<path d=\"M{x} {bottom}V{top}\"/>"));
        }
    }
    out.line(format_args!("</g>"));
}

/// The base line, ticks and their texts, above everything.
pub(super) fn draw_ticks(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let [left, right] = layout.x.pixels;
    let bottom = layout.bottom();
    let base = match layout.y.span.axis.scale {
        AxisScale::Linear => layout.y.at(0.0),
        _ => bottom,
    };
    out.line(format_args!(
        "<path class=\"base\" d=\"M{} {y}H{}\" stroke=\"{BASE}\" stroke-width=\"1.2\"/>",
        px(left),
        px(right),
        y = px(base)
    ));
    out.line(format_args!("<g class=\"ticks\">"));
    for tick in &layout.y_ticks {
        let place = Pixel { x: left - GAP, y: layout.y.at(tick.at) + TICK.size * 0.35 };
        out.text(place, TICK, TextAnchor::End, &tick.text);
    }
    out.line(format_args!("</g>\n<g class=\"ticks-x\">"));
    for tick in &layout.x_ticks.ticks {
        let x = layout.x.at(tick.at);
        if layout.x_ticks.is_slanted {
            let place = Pixel { x: x + 4.0, y: bottom + GAP + TICK.size * 0.6 };
            out.slanted(place, TICK, SLANT_DEGREES, &tick.text);
        } else {
            let place = Pixel { x, y: bottom + GAP + TICK.size * 0.9 };
            out.text(place, TICK, TextAnchor::Middle, &tick.text);
        }
    }
    out.line(format_args!("</g>"));
}

fn shade(label: &MarkLabel<'_>) -> &'static str {
    label.mark.colour.map_or(DARK, |number| colour(number).light)
}

/// Intervals of marks, which lie behind everything.
pub(super) fn draw_intervals(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let [bottom, top] = layout.y.pixels;
    for label in &layout.marks {
        let Some([low, high]) = label.mark.interval else { continue };
        let [left, right] = [layout.x.at(low), layout.x.at(high)];
        out.line(format_args!(
            "<rect class=\"interval\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" \
             fill-opacity=\"0.1\"/>",
            px(left),
            px(top),
            px(right - left),
            px(bottom - top),
            shade(label)
        ));
    }
}

/// Lines and words of marks, which lie before everything.
pub(super) fn draw_marks(layout: &ChartLayout<'_>, out: &mut SvgWriter) {
    let [bottom, top] = layout.y.pixels;
    let words_y = |label: &MarkLabel<'_>| top - 6.0 - label.lane as f64 * LANE_HEIGHT;
    for label in &layout.marks {
        out.line(format_args!(
            "<path class=\"mark\" d=\"M{} {}V{}\" stroke=\"{}\" stroke-width=\"1.5\" \
             stroke-dasharray=\"5 3\"/>",
            px(layout.x.at(label.mark.x)),
            px(words_y(label)),
            px(bottom),
            shade(label)
        ));
    }
    for label in &layout.marks {
        let room = width(&label.text, MARK_SIZE) + 6.0;
        let y = words_y(label);
        out.line(format_args!(
            "<g class=\"mark-label\" data-x=\"{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"15\" \
             fill=\"{GROUND}\"/>",
            px(layout.x.at(label.mark.x)),
            px(label.x - room / 2.0),
            px(y - 12.0),
            px(room)
        ));
        let style = TextStyle { size: MARK_SIZE, colour: shade(label), is_bold: true };
        out.text(Pixel { x: label.x, y }, style, TextAnchor::Middle, &label.text);
        out.line(format_args!("</g>"));
    }
}
