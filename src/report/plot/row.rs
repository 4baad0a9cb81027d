//! A line of a chart: characters, each with what it is drawn with, written with or without colours.

use std::io::{self, Write};

use anstyle::{Ansi256Color, AnsiColor};

use super::{Colours, Style};
use crate::base::failure::garbles;
use crate::report::text::{char_width, width};

/// What a character is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// As the terminal writes.
    Plain,
    /// A title.
    Bold,
    /// Axes, and what is read last.
    Faint,
    /// The colour with this number.
    Series(usize),
}

/// Where a terminal has only these, in the order of `charts::COLOURS`.
const SIXTEEN: [AnsiColor; 8] = [
    AnsiColor::Blue,
    AnsiColor::Red,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Yellow,
    AnsiColor::BrightBlue,
    AnsiColor::BrightBlack,
    AnsiColor::Cyan,
];

/// The nearest of a terminal's 256 to what lies between the colour on white and on black: nobody knows a
/// terminal's ground.
const MANY: [u8; 8] = [32, 172, 36, 169, 142, 104, 102, 74];

impl Ink {
    fn style(self, colours: Colours) -> anstyle::Style {
        let plain = anstyle::Style::new();
        match (self, colours) {
            (_, Colours::None) | (Self::Plain, _) => plain,
            (Self::Bold, _) => plain.bold(),
            (Self::Faint, _) => plain.dimmed(),
            (Self::Series(number), Colours::Sixteen) => {
                plain.fg_color(Some(SIXTEEN[number % SIXTEEN.len()].into()))
            }
            (Self::Series(number), Colours::Many) => {
                plain.fg_color(Some(Ansi256Color(MANY[number % MANY.len()]).into()))
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    cells: Vec<(char, Ink)>,
}

impl Row {
    pub(super) fn of(text: &str, ink: Ink) -> Self {
        let mut row = Self::default();
        row.text(text, ink);
        row
    }

    /// Adds a text, in which nothing is left that a terminal would obey.
    pub(super) fn text(&mut self, text: &str, ink: Ink) {
        self.cells.extend(text.chars().map(|c| (if garbles(c) { '?' } else { c }, ink)));
    }

    pub(super) fn push(&mut self, symbol: char, ink: Ink) {
        self.cells.push((symbol, ink));
    }

    pub(super) fn append(&mut self, other: Self) {
        self.cells.extend(other.cells);
    }

    pub(super) fn columns(&self) -> usize {
        self.cells.iter().map(|(c, _)| char_width(*c)).sum()
    }

    /// Blanks until it takes so many columns.
    pub(super) fn pad(&mut self, columns: usize) {
        let missing = columns.saturating_sub(self.columns());
        self.text(&" ".repeat(missing), Ink::Plain);
    }

    /// Blanks, then the text, so that it ends at so many columns.
    pub(super) fn right(&mut self, text: &str, columns: usize, ink: Ink) {
        self.pad(columns.saturating_sub(width(text)));
        self.text(text, ink);
    }

    /// Writes it, cut at the terminal's width. Fails only if `out` does.
    pub(super) fn write(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        let mut used = 0;
        let fits = |(c, _): &&(char, Ink)| {
            used += char_width(*c);
            used <= style.columns
        };
        let mut cells: Vec<(char, Ink)> = self.cells.iter().take_while(fits).copied().collect();
        while cells.last().is_some_and(|(c, _)| *c == ' ') {
            cells.pop();
        }
        for run in cells.chunk_by(|a, b| a.1 == b.1) {
            let text: String = run.iter().map(|(c, _)| *c).collect();
            let text = if style.ascii { plain(&text) } else { text };
            match run.first().map(|(_, ink)| ink.style(style.colours)) {
                Some(ink) if !ink.is_plain() => {
                    write!(out, "{}{text}{}", ink.render(), ink.render_reset())?;
                }
                _ => write!(out, "{text}")?,
            }
        }
        writeln!(out)
    }
}

/// The text in ASCII, as wide as before: what has no letter there becomes `?`. Only `±` may make it
/// a column wider, where no blank before it gives way.
pub fn plain(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => written.push(c),
            '±' => {
                if written.ends_with(' ') {
                    written.pop();
                }
                written.push_str("+-");
            }
            '…' => written.push('~'),
            'µ' | 'μ' => written.push('u'),
            '×' => written.push('x'),
            '–' | '—' | '−' | '─' => written.push('-'),
            '│' | '┊' => written.push('|'),
            '┤' | '┬' | '└' => written.push('+'),
            '●' => written.push('o'),
            '·' => written.push('.'),
            c => written.extend(std::iter::repeat_n('?', char_width(c))),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::width;

    #[test]
    fn a_text_in_ascii_is_as_wide_as_before() {
        for (text, expected) in [
            ("17,810/s ±3%", "17,810/s+-3%"),
            ("read-…", "read-~"),
            ("目录 é", "???? ?"),
            ("2.31 µs × 3 – 4", "2.31 us x 3 - 4"),
            ("a\nb", "a\nb"),
        ] {
            assert_eq!(plain(text), expected);
            assert_eq!(width(&plain(text)), width(text));
        }
        assert_eq!(plain("±3%"), "+-3%");
    }
}
