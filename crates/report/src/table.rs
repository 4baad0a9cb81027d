//! Writes all tables of text, each fitted to the width of the terminal.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use super::text::{WIDTH, shorten, shorten_names, width, wrap_to, write_wrapped};
use boatload_base::distinct::each_once;
use boatload_base::failure::shown;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column of a table whose rows are of one type.
pub(super) struct TableColumn<R> {
    pub(super) head: &'static str,
    pub(super) align: Align,
    pub(super) cell: fn(&R) -> String,
}

impl<R> TableColumn<R> {
    pub(super) const fn words(head: &'static str, cell: fn(&R) -> String) -> Self {
        Self { head, align: Align::Left, cell }
    }

    pub(super) const fn numbers(head: &'static str, cell: fn(&R) -> String) -> Self {
        Self { head, align: Align::Right, cell }
    }

    /// Whether one of the rows has a value in it.
    pub(super) fn is_known<'a>(&self, rows: impl IntoIterator<Item = &'a R>) -> bool
    where
        R: 'a,
    {
        rows.into_iter().any(|row| !matches!((self.cell)(row).as_str(), "" | "-"))
    }
}

pub(super) struct TableHead {
    pub(super) text: String,
    pub(super) align: Align,
}

/// A line of a table, without control characters except in the text of a note.
pub(super) enum TableLine {
    Cells(Vec<String>),
    /// Across all columns.
    Heading(String),
    /// The first cell, and a text across the others.
    Note(String, String),
}

/// Lines under the heads of columns. The first column has the names of the lines. Groups of columns that
/// do not fit beside each other stand below each other.
pub(super) struct Table {
    pub(super) heads: Vec<TableHead>,
    /// Columns that stay beside each other.
    pub(super) groups: Vec<Range<usize>>,
    pub(super) lines: Vec<TableLine>,
    /// Columns of text that names may take; half a line without.
    name_max: Option<usize>,
}

/// Longer names are not cut: they stand above their figures where there is no room before them.
const NAME_LONG: usize = 20;
/// Words are cut before numbers are, but keep this many columns.
const WORD_MIN: usize = 8;
/// Longer names are cut beside a note.
pub(super) const NOTE_NAME_MAX: usize = 24;
/// Longer cells of a group are cut.
pub(super) const CELL_MAX: usize = 40;
/// Longer heads in a group are cut.
const HEAD_MAX: usize = 15;
/// Blanks before a group.
pub(super) const GROUP_GAP: usize = 2;

/// Where a column stands in a line.
struct PlacedColumn {
    column: usize,
    gap: usize,
    width: usize,
}

impl Table {
    pub(super) fn new<H: AsRef<str>>(heads: &[(H, Align)]) -> Self {
        let heads = heads.iter();
        let heads = heads.map(|head| TableHead { text: shown(head.0.as_ref()), align: head.1 });
        Self { heads: heads.collect(), groups: Vec::new(), lines: Vec::new(), name_max: None }
    }

    pub(super) fn of_columns<R>(columns: &[TableColumn<R>]) -> Self {
        let heads: Vec<_> = columns.iter().map(|column| (column.head, column.align)).collect();
        Self::new(&heads)
    }

    pub(super) fn from_rows<'a, R: 'a>(
        columns: &[TableColumn<R>],
        rows: impl IntoIterator<Item = &'a R>,
    ) -> Self {
        let mut table = Self::of_columns(columns);
        for row in rows {
            table.row(columns.iter().map(|column| (column.cell)(row)).collect());
        }
        table
    }

    /// A table whose lines have these names, to which columns are then added.
    pub(super) fn of_names(
        corner: &str,
        align: Align,
        names: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut table = Self::new(&[(corner, align)]);
        names.into_iter().for_each(|name| table.row(vec![name]));
        table
    }

    pub(super) fn group(&mut self) {
        self.groups.push(self.heads.len()..self.heads.len());
    }

    /// Adds a column of numbers apart from all others; nothing where no cell says anything.
    pub(super) fn column_apart(&mut self, head: &str, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        if cells.iter().any(|cell| !matches!(cell.as_str(), "" | "-")) {
            self.group();
            self.column(head, cells);
        }
    }

    /// Aligns its last column otherwise.
    pub(super) fn align_last(&mut self, align: Align) {
        if let Some(head) = self.heads.last_mut() {
            head.align = align;
        }
    }

    /// The width of a line with all groups in it.
    pub(super) fn line_width(&self, columns: usize) -> usize {
        self.needs(&(0..self.groups.len()), &self.widths(columns))
    }

    /// Adds a column of numbers to the last group, with a cell for each line.
    pub(super) fn column(&mut self, head: &str, cells: impl IntoIterator<Item = String>) {
        self.heads.push(TableHead { text: shown(head), align: Align::Right });
        if let Some(group) = self.groups.last_mut() {
            group.end = self.heads.len();
        }
        let mut cells = cells.into_iter();
        for line in &mut self.lines {
            if let TableLine::Cells(line) = line {
                line.push(shown(cells.next().unwrap_or_default()));
            }
        }
    }

    /// A row for each variant in each phase, under the phases' names; with a single variant, for each phase.
    /// Columns without a value in any row are left out.
    pub(super) fn by_phase<R>(
        all: &[R],
        phase: fn(&R) -> &str,
        variant: fn(&R) -> &str,
        columns: &[TableColumn<R>],
    ) -> Self {
        let is_single = each_once(all.iter().map(variant)).len() == 1;
        let mut rows: Vec<&R> = Vec::new();
        let mut table = Self::new(&[(if is_single { "phase" } else { "variant" }, Align::Left)]);
        for name in each_once(all.iter().map(phase)) {
            if !is_single {
                table.heading(&format!("{name}:"));
            }
            for one in all.iter().filter(|one| phase(one) == name) {
                table.row(vec![if is_single { name } else { variant(one) }.into()]);
                rows.push(one);
            }
        }
        for column in columns.iter().filter(|column| column.is_known(all)) {
            table.column(column.head, rows.iter().map(|one| (column.cell)(one)));
        }
        table
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.lines.push(TableLine::Cells(cells.into_iter().map(shown).collect()));
    }

    /// Adds a line across all columns, shortened to fit.
    pub(super) fn heading(&mut self, text: &str) {
        self.lines.push(TableLine::Heading(shown(text)));
    }

    /// Adds a text across all columns but the first, which holds `cell`; the text is wrapped.
    pub(super) fn note(&mut self, cell: &str, text: &str) {
        self.lines.push(TableLine::Note(shown(cell), text.into()));
    }

    /// Number of its rows.
    pub(super) fn rows(&self) -> usize {
        self.lines.iter().filter(|line| matches!(line, TableLine::Cells(_))).count()
    }

    pub(super) fn has_rows(&self) -> bool {
        self.rows() > 0
    }

    /// Whether its columns fit a line as they are, where they are in no groups.
    pub(super) fn fits_line(&self) -> bool {
        let widths = self.widths(WIDTH);
        widths.iter().sum::<usize>() + widths.len().saturating_sub(1) <= WIDTH
    }

    /// Writes it. Fails only if `out` does.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.text_lines(WIDTH).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// Its lines, in at most so many columns of text.
    pub(super) fn text_lines(&self, columns: usize) -> Vec<String> {
        let widths = self.widths(columns);
        let text = |groups: Range<usize>| {
            self.block_lines(&self.placed(&groups, &widths, columns), columns)
        };
        let blocks: Vec<_> = self.blocks(&widths, columns).into_iter().map(text).collect();
        blocks.join(&String::new())
    }

    /// The parts of it that stand below each other, because groups of columns do not fit beside each other.
    pub(super) fn parts(&self, columns: usize) -> usize {
        self.blocks(&self.widths(columns), columns).len()
    }

    /// Whether names are long, and do not fit before all groups beside each other in so many columns of text.
    pub(super) fn lacks_room_for_names(&self, columns: usize) -> bool {
        let names = self.names().map(width).max().unwrap_or_default();
        names > NAME_LONG && self.figures(columns) + names > columns
    }

    /// With whole names, as far as all groups stand beside each other in so many columns of text: before the figures, or long
    /// ones above them.
    pub(super) fn fitted(mut self, columns: usize) -> Self {
        let figures = self.figures(columns);
        if self.lacks_room_for_names(columns) && figures + width(&self.heads[0].text) <= columns {
            for line in std::mem::take(&mut self.lines) {
                if let TableLine::Cells(mut cells) = line {
                    self.lines.push(TableLine::Heading(std::mem::take(&mut cells[0])));
                    self.lines.push(TableLine::Cells(cells));
                }
            }
        }
        self.name_max =
            columns.checked_sub(figures).filter(|room| *room >= self.widths(columns)[0]);
        self
    }

    /// The columns of text that all groups take beside each other.
    fn figures(&self, columns: usize) -> usize {
        self.line_width(columns) - self.widths(columns)[0]
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            TableLine::Cells(cells) => cells.first().map(String::as_str),
            TableLine::Note(cell, _) => Some(cell),
            TableLine::Heading(_) => None,
        })
    }

    /// The rows as GitHub's Markdown has a table, with each cell as `escape` writes it.
    pub(super) fn markdown(&self, escape: fn(&str) -> String) -> String {
        let way = |head: &TableHead| if head.align == Align::Left { "---" } else { "--:" };
        let ways: Vec<_> = self.heads.iter().map(way).collect();
        let heads: Vec<_> = self.heads.iter().map(|head| escape(&head.text)).collect();
        let mut text = format!("| {} |\n| {} |", heads.join(" | "), ways.join(" | "));
        for line in &self.lines {
            let mut cells = match line {
                TableLine::Cells(cells) => cells.iter().map(|cell| escape(cell)).collect(),
                TableLine::Heading(text) => vec![format!("**{}**", escape(text))],
                TableLine::Note(cell, text) => vec![escape(cell), escape(text)],
            };
            cells.resize(self.heads.len(), String::new());
            text += &format!("\n| {} |", cells.join(" | "));
        }
        text
    }

    /// The width that each column would like to have in so many columns of text.
    fn widths(&self, columns: usize) -> Vec<usize> {
        // Half of a line for long names, without the blanks behind them.
        let name_max = self.name_max.unwrap_or((columns / 2).saturating_sub(4).max(NAME_LONG));
        let mut widths = vec![0; self.heads.len()];
        for line in &self.lines {
            match line {
                TableLine::Cells(cells) => {
                    for (own, cell) in widths.iter_mut().zip(cells) {
                        *own = width(cell).max(*own);
                    }
                }
                TableLine::Note(cell, _) => {
                    widths[0] = width(cell).min(NOTE_NAME_MAX).max(widths[0]);
                }
                TableLine::Heading(_) => {}
            }
        }
        let grouped = !self.groups.is_empty();
        for (at, (own, head)) in widths.iter_mut().zip(&self.heads).enumerate() {
            *own = match (grouped, at) {
                (false, _) => width(&head.text).max(*own),
                (true, 0) => width(&head.text).max(*own).min(name_max),
                (true, _) => (*own).min(CELL_MAX).max(width(&head.text).min(HEAD_MAX)),
            };
        }
        widths
    }

    /// Ranges of groups that fit beside each other, at least one in each: as few ranges as possible, with as
    /// many groups in each as in the others.
    fn blocks(&self, widths: &[usize], columns: usize) -> Vec<Range<usize>> {
        let all = self.groups.len();
        let blocks = |number: usize| -> Vec<Range<usize>> {
            let each = all.div_ceil(number).max(1);
            (0..all).step_by(each).map(|at| at..(at + each).min(all)).collect()
        };
        let fits = |block: &Range<usize>| block.len() == 1 || self.needs(block, widths) <= columns;
        let mut fitting = (1..=all).map(blocks).filter(|blocks| blocks.iter().all(fits));
        fitting.next().unwrap_or_else(|| vec![Range::default()])
    }

    /// Columns that these groups take beside each other.
    fn needs(&self, block: &Range<usize>, widths: &[usize]) -> usize {
        let groups = self.groups[block.clone()].iter();
        let spans = groups.map(|group| GROUP_GAP + span(&widths[(*group).clone()]));
        widths[0] + spans.sum::<usize>()
    }

    /// The columns of a block, in at most so many columns of text: words are cut first, and then what is widest.
    fn placed(&self, block: &Range<usize>, widths: &[usize], columns: usize) -> Vec<PlacedColumn> {
        let groups = &self.groups[block.clone()];
        let gaps = widths.len().saturating_sub(1);
        let wide = widths.iter().sum::<usize>() + 2 * gaps > columns;
        let gap = if self.groups.is_empty() && !wide { 2 } else { 1 };
        let mut placed = Vec::new();
        for (column, width) in widths.iter().copied().enumerate() {
            let group = groups.iter().find(|group| group.contains(&column));
            let gap = match group {
                _ if column == 0 => 0,
                Some(group) if group.start == column => GROUP_GAP,
                _ => gap,
            };
            if column == 0 || group.is_some() || self.groups.is_empty() {
                placed.push(PlacedColumn { column, gap, width });
            }
        }
        while placed.iter().map(|one| one.gap + one.width).sum::<usize>() > columns {
            let by_width = |one: &&mut PlacedColumn| {
                let is_word = self.heads[one.column].align == Align::Left;
                (is_word && one.width > WORD_MIN, one.width)
            };
            match placed.iter_mut().max_by_key(by_width) {
                Some(one) if one.width > 0 => one.width -= 1,
                _ => break,
            }
        }
        placed
    }

    fn block_lines(&self, placed: &[PlacedColumn], columns: usize) -> Vec<String> {
        let heads: Vec<_> =
            placed.iter().map(|one| (self.heads[one.column].text.as_str(), one.width)).collect();
        let mut lines = vec![self.line(placed, &shorten_names(&heads))];
        let name_width = placed.first().map_or(0, |name| name.width);
        let names = self.names_in(name_width);
        for line in &self.lines {
            match line {
                TableLine::Cells(cells) => {
                    // Names must stay different from each other; of anything else the beginning says most.
                    let cell = |one: &PlacedColumn| {
                        let cell = cells.get(one.column).map_or("", String::as_str);
                        let name = names.get(cell).filter(|_| one.column == 0);
                        name.cloned().unwrap_or_else(|| cell.into())
                    };
                    let cells: Vec<_> = placed.iter().map(cell).collect();
                    lines.push(self.line(placed, &cells));
                }
                TableLine::Heading(text) => lines.push(shorten(text, columns)),
                TableLine::Note(cell, text) => {
                    let name = names.get(cell.as_str()).unwrap_or(cell);
                    let lead = format!("{}  ", padded(name, name_width, Align::Left));
                    lines.extend(wrap_to(columns, &lead, text));
                }
            }
        }
        lines
    }

    fn line(&self, placed: &[PlacedColumn], cells: &[String]) -> String {
        let mut line = String::new();
        for (one, cell) in placed.iter().zip(cells) {
            line += &" ".repeat(one.gap);
            line += &padded(cell, one.width, self.heads[one.column].align);
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// Names of the lines, cut to so many columns and still different from each other.
    fn names_in(&self, columns: usize) -> BTreeMap<&str, String> {
        let once: Vec<(&str, usize)> =
            each_once(self.names()).into_iter().map(|name| (name, columns)).collect();
        let short = shorten_names(&once);
        once.into_iter().map(|(name, _)| name).zip(short).collect()
    }
}

pub(super) struct TitledTable {
    pub(super) title: String,
    pub(super) table: Table,
}

impl TitledTable {
    /// Fails only if `out` does.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write_wrapped("", &format!("{}:", self.title), out)?;
        self.table.write(out)
    }
}

/// Columns with a blank between them.
fn span(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + widths.len().saturating_sub(1)
}

/// A cell brought to exactly so many columns.
fn padded(cell: &str, columns: usize, align: Align) -> String {
    let cell = shorten(cell, columns);
    let blanks = " ".repeat(columns.saturating_sub(width(&cell)));
    match align {
        Align::Left => cell + &blanks,
        Align::Right => blanks + &cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(table: &Table) -> String {
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn grouped(groups: usize, columns: usize, cell: &str) -> Table {
        let mut table = Table::of_names("level", Align::Left, ["1".into(), "2".into()]);
        for _ in 0..groups {
            table.group();
            for column in 0..columns {
                table.column(&format!("c{column}"), [cell.into(), "9".into()]);
            }
        }
        table
    }

    #[test]
    fn groups_that_do_not_fit_stand_below_with_the_names_of_the_rows_again() {
        let wide = grouped(4, 5, "1234567890123");
        assert!(wide.parts(WIDTH) > 1 && grouped(2, 2, "12").parts(WIDTH) == 1);
        let text = text(&wide);
        assert_eq!(text.lines().filter(|line| line.starts_with("level")).count(), 4);
        assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
    }

    #[test]
    fn six_groups_of_which_four_fit_stand_three_by_three() {
        let table = grouped(6, 2, "1234567");
        assert_eq!(table.blocks(&table.widths(WIDTH), WIDTH), [0..3, 3..6]);
    }

    #[test]
    fn a_group_without_columns_or_rows_is_no_reason_to_fail() {
        assert_eq!(text(&grouped(0, 0, "")), "level\n1\n2\n");
        assert_eq!(text(&Table::new::<&str>(&[])), "\n");
        assert!(text(&grouped(1, 0, "")).ends_with("level\n1\n2\n"));
        assert!(text(&grouped(1, 60, "12345")).lines().all(|line| width(line) <= WIDTH));
    }
}
