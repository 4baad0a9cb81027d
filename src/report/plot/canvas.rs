//! Draws on a grid of characters: a canvas of dots, eight in each character as braille, or one symbol in
//! each as ASCII.

use std::io::{self, Write};

use anstyle::{Ansi256Color, AnsiColor};

use super::style::{Colours, Style};
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

// --- the canvas --------------------------------------------------------------------------------

/// Dots of a cell in Unicode's order: its columns from left to right, each from top to bottom.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// The braille pattern without dots; those with dots follow by their bits.
const BLANK: u32 = 0x2800;

/// What a line is drawn with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    pub(super) ink: Ink,
    /// What stands for a dot in ASCII.
    pub(super) symbol: char,
    /// A cell has the ink, and in ASCII the symbol, of the highest that was drawn there.
    pub(super) rank: u8,
    /// Every how many dots there is one: 1 for a whole line.
    pub(super) every: usize,
}

#[derive(Clone, Copy)]
struct Cell {
    dots: u8,
    symbol: Option<char>,
    ink: Ink,
    rank: u8,
}

/// A rectangle of cells; places in it are from 0 to 1, from left to right and from bottom to top.
pub(super) struct Canvas {
    columns: usize,
    rows: usize,
    ascii: bool,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize, ascii: bool) -> Self {
        let (columns, rows) = (columns.max(1), rows.max(1));
        let empty = Cell { dots: 0, symbol: None, ink: Ink::Plain, rank: 0 };
        Self { columns, rows, ascii, cells: vec![empty; columns * rows] }
    }

    /// Dots from left to right.
    pub(super) fn dots_across(&self) -> usize {
        self.columns * if self.ascii { 1 } else { DOTS.len() }
    }

    /// The dot at a place, from the left and from the top.
    pub(super) fn dot_at(&self, [x, y]: [f64; 2]) -> [usize; 2] {
        let at = |share: f64, dots: usize| (share.clamp(0.0, 1.0) * (dots - 1) as f64).round();
        let dots_down = self.rows * if self.ascii { 1 } else { DOTS[0].len() };
        let down = at(1.0 - y, dots_down);
        [at(x, self.dots_across()) as usize, down as usize]
    }

    /// The cell at a place, from the left and from the top.
    pub(super) fn cell_at(&self, place: [f64; 2]) -> [usize; 2] {
        let [x, y] = self.dot_at(place);
        if self.ascii { [x, y] } else { [x / DOTS.len(), y / DOTS[0].len()] }
    }

    /// Sets a dot; outside nothing happens.
    pub(super) fn dot(&mut self, [x, y]: [usize; 2], pen: &Pen) {
        let (column, row) = if self.ascii { (x, y) } else { (x / DOTS.len(), y / DOTS[0].len()) };
        if column >= self.columns || row >= self.rows {
            return;
        }
        let cell = &mut self.cells[row * self.columns + column];
        if !self.ascii {
            cell.dots |= DOTS[x % DOTS.len()][y % DOTS[0].len()];
        }
        if pen.rank >= cell.rank {
            (cell.ink, cell.rank) = (pen.ink, pen.rank);
            if self.ascii {
                cell.symbol = Some(pen.symbol);
            }
        }
    }

    /// A line between two places.
    pub(super) fn line(&mut self, from: [f64; 2], to: [f64; 2], pen: &Pen) {
        if from.iter().chain(&to).any(|share| !share.is_finite()) {
            return;
        }
        let ([x0, y0], [x1, y1]) = (self.dot_at(from), self.dot_at(to));
        let steps = x0.abs_diff(x1).max(y0.abs_diff(y1));
        let between = |a: usize, b: usize, step: usize| {
            let share = if steps == 0 { 0.0 } else { step as f64 / steps as f64 };
            (a as f64 + (b as f64 - a as f64) * share).round() as usize
        };
        for step in 0..=steps {
            let [x, y] = [between(x0, x1, step), between(y0, y1, step)];
            // By its place, so that a dashed line of many short parts has gaps too.
            let along = if x0.abs_diff(x1) >= y0.abs_diff(y1) { x } else { y };
            if (along / pen.every.div_ceil(2)).is_multiple_of(2) || pen.every < 2 {
                self.dot([x, y], pen);
            }
        }
    }

    /// Puts a letter into a cell that has none yet; whether it could.
    pub(super) fn letter(&mut self, [column, row]: [usize; 2], letter: char, ink: Ink) -> bool {
        if column >= self.columns || row >= self.rows {
            return false;
        }
        let cell = &mut self.cells[row * self.columns + column];
        if cell.symbol.is_some() || cell.dots != 0 {
            return false;
        }
        *cell = Cell { dots: 0, symbol: Some(letter), ink, rank: u8::MAX };
        true
    }

    /// Puts a symbol into a cell, whatever is there.
    pub(super) fn symbol(&mut self, [column, row]: [usize; 2], symbol: char, ink: Ink) {
        if column < self.columns && row < self.rows {
            let cell = Cell { dots: 0, symbol: Some(symbol), ink, rank: u8::MAX };
            self.cells[row * self.columns + column] = cell;
        }
    }

    /// Its rows from top to bottom.
    pub(super) fn lines(&self) -> impl Iterator<Item = Row> {
        self.cells.chunks(self.columns).map(|cells| {
            let mut row = Row::default();
            for cell in cells {
                let dots = char::from_u32(BLANK + u32::from(cell.dots)).filter(|_| cell.dots > 0);
                row.push(cell.symbol.or(dots).unwrap_or(' '), cell.ink);
            }
            row
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::{Colours, Style};
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

    const PEN: Pen = Pen { ink: Ink::Plain, symbol: 'a', rank: 1, every: 1 };

    fn drawn(canvas: &Canvas) -> String {
        let style = Style { columns: 40, ascii: false, colours: Colours::None };
        let mut out = Vec::new();
        canvas.lines().for_each(|row| row.write(&style, &mut out).unwrap());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let mut canvas = Canvas::new(4, 2, false);
        canvas.line([0.0, 0.0], [1.0, 1.0], &PEN);
        assert_eq!(drawn(&canvas), "  ⡠⠊\n⡠⠊\n");
        let mut canvas = Canvas::new(4, 2, true);
        canvas.line([0.0, 0.0], [1.0, 1.0], &PEN);
        assert_eq!(drawn(&canvas), "  aa\naa\n");
    }

    #[test]
    fn a_dashed_line_has_gaps_also_where_its_parts_are_short() {
        let dashed = Pen { every: 4, ..PEN };
        let mut canvas = Canvas::new(8, 1, true);
        for at in 0..7 {
            let place = |at: u8| [f64::from(at) / 7.0, 0.0];
            canvas.line(place(at), place(at + 1), &dashed);
        }
        assert_eq!(drawn(&canvas), "aa  aa\n");
    }

    #[test]
    fn what_lies_outside_or_is_no_number_draws_nothing_wrong() {
        let mut canvas = Canvas::new(0, 0, false);
        canvas.line([f64::NAN, 0.0], [1.0, 1.0], &PEN);
        canvas.line([0.0, 0.0], [f64::INFINITY, 1.0], &PEN);
        canvas.dot([100, 100], &PEN);
        canvas.symbol([7, 7], 'x', Ink::Plain);
        assert!(!canvas.letter([1, 0], 'x', Ink::Plain));
        assert_eq!(drawn(&canvas), "\n");
        canvas.line([-5.0, 0.0], [5.0, 9.0], &PEN);
        assert_eq!(drawn(&canvas), "⡜\n");
    }

    #[test]
    fn the_highest_rank_gives_the_symbol() {
        let mut canvas = Canvas::new(1, 1, true);
        let high = Pen { symbol: 'b', rank: 3, ..PEN };
        canvas.dot([0, 0], &high);
        canvas.dot([0, 0], &PEN);
        assert_eq!(drawn(&canvas), "b\n");
        assert!(!canvas.letter([0, 0], 'c', Ink::Plain), "it is taken");
    }
}
