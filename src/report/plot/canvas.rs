//! Dots on a terminal: eight in each cell as braille, or one symbol in each as ASCII.

use super::row::{Ink, Row};

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

    /// Dots from top to bottom.
    pub(super) fn dots_down(&self) -> usize {
        self.rows * if self.ascii { 1 } else { DOTS[0].len() }
    }

    /// The dot at a place, from the left and from the top.
    pub(super) fn dot_at(&self, [x, y]: [f64; 2]) -> [usize; 2] {
        let at = |share: f64, dots: usize| (share.clamp(0.0, 1.0) * (dots - 1) as f64).round();
        let down = at(1.0 - y, self.dots_down());
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
