//! Writes elements of SVG. Text of users gets in as text only, never as an attribute.

use std::fmt::{Arguments, Write};

use super::style::{GROUND, PATTERNS, TextStyle};
use crate::report::markup::escaped;

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextAnchor {
    Start,
    Middle,
    End,
}

/// A place on the picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pixel {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A marker: a circle, a square, a triangle or a diamond.
#[derive(Clone, Copy)]
pub(super) struct MarkerShape<'a> {
    /// Its middle.
    pub(super) at: Pixel,
    /// In pixels.
    pub(super) radius: f64,
    /// Which of the shapes, from 0.
    pub(super) shape: usize,
    /// Attributes of its colours; empty for those of the group in which it stands.
    pub(super) paint: &'a str,
}

/// An upright rectangle, in pixels.
#[derive(Clone, Copy)]
pub(super) struct PixelBox {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A growing document.
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

    /// A text on one line.
    pub(super) fn text(&mut self, at: Pixel, style: TextStyle, anchor: TextAnchor, text: &str) {
        let place = format!("x=\"{}\" y=\"{}\"", px(at.x), px(at.y));
        self.placed_text(&place, style, anchor, text);
    }

    /// A text that rises to its end.
    pub(super) fn slanted(&mut self, at: Pixel, style: TextStyle, degrees: f64, text: &str) {
        let place =
            format!("transform=\"translate({} {}) rotate({})\"", px(at.x), px(at.y), px(-degrees));
        self.placed_text(&place, style, TextAnchor::End, text);
    }

    fn placed_text(&mut self, place: &str, style: TextStyle, anchor: TextAnchor, text: &str) {
        let anchor = match anchor {
            TextAnchor::Start => "",
            TextAnchor::Middle => " text-anchor=\"middle\"",
            TextAnchor::End => " text-anchor=\"end\"",
        };
        let weight = if style.is_bold { " font-weight=\"600\"" } else { "" };
        let (size, colour, text) = (px(style.size), style.colour, escaped(text));
        self.line(format_args!(
            "<text {place} font-size=\"{size}\"{weight} fill=\"{colour}\"{anchor}>{text}</text>"
        ));
    }

    /// A marker that is no point of a series.
    pub(super) fn sample(&mut self, marker: MarkerShape<'_>) {
        let head = marker.head("");
        self.line(format_args!("<{head}/>"));
    }

    /// The marker of a point, with a title for viewers of pictures unless it is empty.
    pub(super) fn point(&mut self, marker: MarkerShape<'_>, title: &str) {
        let head = marker.head(" class=\"point\"");
        if title.is_empty() {
            return self.line(format_args!("<{head}/>"));
        }
        let element = head.split(' ').next().unwrap_or_default();
        self.line(format_args!("<{head}><title>{}</title></{element}>", escaped(title)));
    }

    /// Light stripes down a bar, two for each step of the pattern, so that none lies under the whisker
    /// in the middle.
    pub(super) fn stripes(&mut self, bar: PixelBox, pattern: usize) {
        let number = 2 * (pattern % PATTERNS);
        if number == 0 {
            return;
        }
        let stripe = |at: usize| {
            let x = bar.left + bar.width * at as f64 / (number + 1) as f64;
            format!("M{} {}v{}", px(x), px(bar.top), px(bar.height))
        };
        let path: String = (1..=number).map(stripe).collect();
        self.line(format_args!("<path d=\"{path}\" stroke=\"{GROUND}\" stroke-width=\"1.4\"/>"));
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

impl MarkerShape<'_> {
    /// The start of its element. Paths begin in the middle, so that a script can move them.
    fn head(&self, class: &str) -> String {
        let (r, paint) = (self.radius, self.paint);
        let [x, y] = [self.at.x, self.at.y].map(px);
        let path = match self.shape % 4 {
            0 => return format!("circle{class} cx=\"{x}\" cy=\"{y}\" r=\"{}\"{paint}", px(r)),
            1 => format!("m-{0} -{0}h{1}v{1}h-{1}z", px(r * 0.9), px(r * 1.8)),
            2 => format!("m0 -{0}l{0} {1}h-{2}z", px(r * 1.2), px(r * 2.1), px(r * 2.4)),
            _ => format!("m0 -{0}l{0} {0}l-{0} {0}l-{0} -{0}z", px(r * 1.3)),
        };
        format!("path{class} d=\"M{x} {y}{path}\"{paint}")
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
