//! Writes elements of SVG. Text of users gets in as text only, never as an attribute.

use std::fmt::{Arguments, Write};

use crate::base::failure::shown;

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Type {
    /// In pixels.
    pub(super) size: f64,
    pub(super) colour: &'static str,
    pub(super) is_bold: bool,
}

/// A growing document.
#[derive(Default)]
pub(super) struct Pen {
    text: String,
}

impl Pen {
    /// Adds a line; what stands in it must be escaped.
    pub(super) fn line(&mut self, line: Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }

    /// A text on one line.
    pub(super) fn text(&mut self, [x, y]: [f64; 2], look: Type, anchor: Anchor, text: &str) {
        let place = format!("x=\"{}\" y=\"{}\"", px(x), px(y));
        self.placed(&place, look, anchor, text);
    }

    /// A text that rises to its end.
    pub(super) fn slanted(&mut self, [x, y]: [f64; 2], look: Type, degrees: f64, text: &str) {
        let place =
            format!("transform=\"translate({} {}) rotate({})\"", px(x), px(y), px(-degrees));
        self.placed(&place, look, Anchor::End, text);
    }

    fn placed(&mut self, place: &str, look: Type, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if look.is_bold { " font-weight=\"600\"" } else { "" };
        let (size, colour, text) = (px(look.size), look.colour, escaped(text));
        self.line(format_args!(
            "<text {place} font-size=\"{size}\"{weight} fill=\"{colour}\"{anchor}>{text}</text>"
        ));
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// A text as XML takes it: without a meaning, and without characters that XML 1.0 has no way to write.
pub(super) fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in shown(text).chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '"' => plain.push_str("&quot;"),
            '\'' => plain.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => plain.extend(c.escape_default()),
            c => plain.push(c),
        }
    }
    plain
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
    fn a_name_that_is_markup_is_shown_as_it_is() {
        assert_eq!(
            escaped("<b a='1'>&\"x\"</b>"),
            "&lt;b a=&#39;1&#39;&gt;&amp;&quot;x&quot;&lt;/b&gt;"
        );
        assert_eq!(escaped("a\nb\0c\u{ffff}"), "a\\nb\\u{0}c\\u{ffff}");
    }

    #[test]
    fn lengths_are_short() {
        let short = [0.0, -0.04, 1.0, 12.34, -3.25, 100.0].map(px);
        assert_eq!(short, ["0", "0", "1", "12.3", "-3.3", "100"]);
    }
}
