//! Writes the elements of SVG. Text of users gets in as text only, never as an attribute.

use std::fmt::{Arguments, Write};

use super::style::TextStyle;
use crate::charts::AxisSpan;
use crate::markup::escaped;

/// Where the numbers of an axis lie, in pixels.
#[derive(Clone, Copy)]
pub(super) struct AxisPixels<'a> {
    pub(super) span: AxisSpan<'a>,
    /// Its low and its high end.
    pub(super) pixels: [f64; 2],
}

impl AxisPixels<'_> {
    /// The pixel of a number; the nearest end if it lies outside.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.pixels[0] + self.span.share(value) * (self.pixels[1] - self.pixels[0])
    }

    /// Pixels from end to end.
    pub(super) fn length(&self) -> f64 {
        (self.pixels[1] - self.pixels[0]).abs()
    }

    /// Pixels of a distance between numbers, on an axis that is not logarithmic.
    pub(super) fn part(&self, distance: f64) -> f64 {
        self.span.part(distance) * (self.pixels[1] - self.pixels[0])
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pixel {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// An upright rectangle, in pixels.
#[derive(Clone, Copy)]
pub(super) struct PixelBox {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

#[derive(Default)]
pub(super) struct SvgWriter {
    text: String,
}

impl SvgWriter {
    /// Adds a line; what stands in it must be escaped.
    pub(super) fn line(&mut self, line: Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }

    /// Begins a group of texts that look the same and are held at the same end, `start`, `middle` or `end`.
    pub(super) fn begin_texts(&mut self, class: &str, style: TextStyle, anchor: &str) {
        let weight = if style.is_bold { " font-weight=\"600\"" } else { "" };
        let (size, colour) = (px(style.size), style.colour);
        self.line(format_args!(
            "<g class=\"{class}\" font-size=\"{size}\"{weight} fill=\"{colour}\" stroke=\"none\" \
             text-anchor=\"{anchor}\">"
        ));
    }

    /// A text of the group, on one line.
    pub(super) fn text(&mut self, at: Pixel, text: &str) {
        let (x, y, text) = (px(at.x), px(at.y), escaped(text));
        self.line(format_args!("<text x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    /// A text of the group that rises to its end.
    pub(super) fn slanted(&mut self, at: Pixel, degrees: f64, text: &str) {
        let (x, y, turn, text) = (px(at.x), px(at.y), px(-degrees), escaped(text));
        self.line(format_args!(
            "<text transform=\"translate({x} {y}) rotate({turn})\">{text}</text>"
        ));
    }

    pub(super) fn end(&mut self) {
        self.line(format_args!("</g>"));
    }

    /// An element without its brackets.
    pub(super) fn element(&mut self, element: &str) {
        self.line(format_args!("<{element}/>"));
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// A marker as an element without the brackets.
pub(super) fn circle(at: Pixel, radius: f64, attributes: &str) -> String {
    let [x, y, r] = [at.x, at.y, radius].map(px);
    format!("circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{attributes}")
}

impl PixelBox {
    /// Its element without the brackets.
    pub(super) fn element(&self, attributes: &str) -> String {
        let [x, y, width, height] = [self.left, self.top, self.width, self.height].map(px);
        format!("rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{attributes}")
    }
}

/// A length with at most one decimal, which no eye misses.
pub(super) fn px(length: f64) -> String {
    let tenths = (length * 10.0).round() + 0.0;
    if tenths % 10.0 == 0.0 {
        format!("{}", tenths / 10.0)
    } else {
        format!("{:.1}", tenths / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        let short = [0.0, -0.04, 1.0, 12.34, -3.25, 100.0].map(px);
        assert_eq!(short, ["0", "0", "1", "12.3", "-3.3", "100"]);
    }
}
