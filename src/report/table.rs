//! A table that fits the terminal whatever is in it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::text::{WIDTH, shorten, shorten_names, width, wrap};
use crate::base::failure::shown;

/// How the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A line of a table, without control characters but in the text of a note.
pub(super) enum Line {
    /// A cell for each column.
    Cells(Vec<String>),
    /// Across all columns.
    Heading(String),
    /// The first cell, and a text across the others.
    Note(String, String),
}

/// Lines under the heads of columns.
pub(super) struct Table {
    heads: Vec<(String, Align)>,
    lines: Vec<Line>,
}

/// Words give way before numbers do, but keep this many columns.
const WORD_MIN: usize = 8;

impl Table {
    pub(super) fn new<H: AsRef<str>>(heads: &[(H, Align)]) -> Self {
        let heads = heads.iter().map(|(head, align)| (shown(head.as_ref()), *align));
        Self { heads: heads.collect(), lines: Vec::new() }
    }

    /// Adds a row with one cell for each column.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.lines.push(Line::Cells(cells.into_iter().map(shown).collect()));
    }

    /// Adds a line across all columns, shortened to fit.
    pub(super) fn heading(&mut self, text: &str) {
        self.lines.push(Line::Heading(shown(text)));
    }

    /// Adds a text across all columns but the first, which holds `cell`; the text is wrapped.
    pub(super) fn note(&mut self, cell: &str, text: &str) {
        self.lines.push(Line::Note(shown(cell), text.into()));
    }

    /// The heads of its columns.
    pub(super) fn heads(&self) -> &[(String, Align)] {
        &self.heads
    }

    /// What stands below them.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Whether there is any row.
    pub(super) fn has_rows(&self) -> bool {
        self.lines.iter().any(|line| matches!(line, Line::Cells(_)))
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths();
        let heads: Vec<_> = self.heads.iter().map(|(head, _)| head.clone()).collect();
        self.write_cells(&heads, &widths, out)?;
        let names = self.names_in(widths.first().copied().unwrap_or_default());
        // Names must stay different from each other; of anything else the beginning says most.
        let cut = |at: usize, cell: &String| match names.get(cell.as_str()).filter(|_| at == 0) {
            Some(name) => name.clone(),
            None => cell.clone(),
        };
        for line in &self.lines {
            match line {
                Line::Cells(cells) => {
                    let cells = cells.iter().enumerate();
                    let cells = cells.map(|(at, cell)| cut(at, cell));
                    self.write_cells(&cells.collect::<Vec<_>>(), &widths, out)?;
                }
                Line::Heading(text) => writeln!(out, "{}", shorten(text, WIDTH))?,
                Line::Note(cell, text) => {
                    let first = widths.first().copied().unwrap_or_default();
                    let cell = cut(0, cell);
                    let lead = format!("{}  ", padded(&cell, first, Align::Left));
                    wrap(&lead, text).iter().try_for_each(|line| writeln!(out, "{line}"))?;
                }
            }
        }
        Ok(())
    }

    /// Names of the rows, cut to so many columns and still different from each other.
    fn names_in(&self, columns: usize) -> BTreeMap<&str, String> {
        let cells = self.lines.iter().filter_map(|line| match line {
            Line::Cells(cells) => cells.first(),
            Line::Note(cell, _) => Some(cell),
            Line::Heading(_) => None,
        });
        let mut once: Vec<(&str, usize)> = Vec::new();
        for cell in cells {
            if !once.iter().any(|(known, _)| known == cell) {
                once.push((cell, columns));
            }
        }
        let short = shorten_names(&once);
        once.into_iter().map(|(cell, _)| cell).zip(short).collect()
    }

    fn write_cells(
        &self,
        cells: &[String],
        widths: &[usize],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let gaps = (widths.len().saturating_sub(1)).max(1);
        let spare = WIDTH.saturating_sub(widths.iter().sum::<usize>() + gaps);
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            line.push_str(&padded(cell, widths[at], self.heads[at].1));
            // Two blanks between columns, one where they would not fit.
            line.push_str(if at < spare { "  " } else { " " });
        }
        writeln!(out, "{}", line.trim_end())
    }

    /// Columns' widths, with a blank after each but the last at most [`WIDTH`].
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.heads.iter().map(|(head, _)| width(head)).collect();
        for line in &self.lines {
            match line {
                Line::Cells(cells) => {
                    for (columns, cell) in widths.iter_mut().zip(cells) {
                        *columns = width(cell).max(*columns);
                    }
                }
                Line::Note(cell, _) => widths[0] = width(cell).max(widths[0]),
                Line::Heading(_) => {}
            }
        }
        let gaps = widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > WIDTH {
            let Some(widest) = self.widest(&widths) else { break };
            widths[widest] -= 1;
        }
        widths
    }

    /// The column that gives way next: the widest of words, and then the widest of all.
    fn widest(&self, widths: &[usize]) -> Option<usize> {
        let is_word = |at: &usize| self.heads[*at].1 == Align::Left && widths[*at] > WORD_MIN;
        let by_width = |at: &usize| widths[*at];
        let all = 0..widths.len();
        all.clone().filter(is_word).max_by_key(by_width).or_else(|| all.max_by_key(by_width))
    }
}

/// A cell brought to exactly so many columns.
pub(super) fn padded(cell: &str, columns: usize, align: Align) -> String {
    let cell = shorten(cell, columns);
    let blanks = " ".repeat(columns.saturating_sub(width(&cell)));
    match align {
        Align::Left => cell + &blanks,
        Align::Right => blanks + &cell,
    }
}
