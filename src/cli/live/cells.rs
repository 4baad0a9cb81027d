//! Draws the matrix of cells: a row for each variant, a mark for each cell.

use ratatui_core::text::{Line, Span};

use super::look::{Look, Tone};
use super::matrix::{Mark, Matrix, Row};
use super::text::{padded, shorten, width};

/// Most columns of a variant's name.
const NAME_COLUMNS_MAX: usize = 20;

/// The matrix in a terminal of some width.
pub(super) struct Cells<'a> {
    matrix: &'a Matrix,
    look: Look,
    columns: usize,
    /// Columns of the variants' names, above which the axis has its name.
    names: usize,
    fold: Fold,
}

/// How marks share the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    /// Levels side by side, each so wide that its value stands above.
    Levels(usize),
    /// Marks of a level follow each other, with a blank between levels.
    Marks,
    /// So many cells share a mark.
    Shared(usize),
}

impl<'a> Cells<'a> {
    pub(super) fn new(matrix: &'a Matrix, look: Look, columns: usize) -> Self {
        let longest = matrix.rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
        let names = longest.max(width(&matrix.axis)).min(NAME_COLUMNS_MAX).min(columns / 4);
        let room = columns.saturating_sub(names + usize::from(names > 0)).max(1);
        let fold = fold(matrix, room);
        Self { matrix, look, columns, names, fold }
    }

    fn has_heading(&self) -> bool {
        matches!(self.fold, Fold::Levels(_)) && !self.matrix.axis.is_empty()
    }

    /// Rows that it would take.
    pub(super) fn rows(&self) -> usize {
        self.matrix.rows.len() + usize::from(self.has_heading())
    }

    /// What the marks mean.
    pub(super) fn legend(&self) -> String {
        let shared = match self.fold {
            Fold::Shared(cells) => format!("a mark is {cells} cells  "),
            _ => String::new(),
        };
        let marks = [(Mark::Done, "done"), (Mark::Running, "running"), (Mark::Waiting, "waiting")];
        let text = |(mark, word): (Mark, &str)| format!("{} {word}", symbol(mark).0);
        let mut words: Vec<String> = marks.map(text).to_vec();
        if self.matrix.count(Mark::Invalid) > 0 {
            words.push(text((Mark::Invalid, "invalid")));
        }
        shared + &words.join(" ")
    }

    /// The rows that fit; of more, those around the cell that runs.
    pub(super) fn lines(&self, rows: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let all = self.matrix.rows.len();
        if self.has_heading() && rows > 1 {
            lines.push(self.heading());
        }
        let mut room = rows - lines.len();
        let is_cut = all > room;
        // The last row tells of those that are not seen.
        room -= usize::from(is_cut && room > 1);
        let runs = |row: &Row| row.groups.iter().any(|group| group.marks.contains(&Mark::Running));
        let running = self.matrix.rows.iter().position(runs).unwrap_or(0);
        let first = running.saturating_sub(room / 2).min(all.saturating_sub(room));
        let shown = self.matrix.rows.iter().skip(first).take(room);
        lines.extend(shown.map(|row| self.row(row)));
        if is_cut && lines.len() < rows {
            let text = format!("{} to {} of {all} variants", first + 1, first + room);
            lines.push(Line::from(Span::styled(text, self.look.style(Tone::Faint))));
        }
        lines
    }

    fn heading(&self) -> Line<'static> {
        let mut text = padded(&self.matrix.axis, self.names) + " ";
        let groups = self.matrix.rows.iter().max_by_key(|row| row.groups.len());
        for group in groups.iter().flat_map(|row| &row.groups) {
            if let Fold::Levels(each) = self.fold {
                text.push_str(&padded(&group.level, each));
                text.push(' ');
            }
        }
        Line::from(Span::styled(shorten(&text, self.columns), self.look.style(Tone::Faint)))
    }

    fn row(&self, row: &Row) -> Line<'static> {
        let mut spans = Vec::new();
        if self.names > 0 {
            spans.push(Span::raw(padded(&row.name, self.names) + " "));
        }
        let marks = |marks: &[Mark]| -> Vec<Span<'static>> {
            marks.iter().map(|mark| self.mark(*mark)).collect()
        };
        match self.fold {
            Fold::Levels(each) => {
                for group in &row.groups {
                    spans.extend(marks(&group.marks));
                    let blanks = each.saturating_sub(group.marks.len()) + 1;
                    spans.push(Span::raw(" ".repeat(blanks)));
                }
            }
            Fold::Marks => {
                for group in &row.groups {
                    spans.extend(marks(&group.marks));
                    spans.push(Span::raw(" "));
                }
            }
            Fold::Shared(cells) => {
                let all: Vec<Mark> = row.groups.iter().flat_map(|g| g.marks.clone()).collect();
                let shared: Vec<Mark> = all.chunks(cells).map(Mark::of).collect();
                spans.extend(marks(&shared));
            }
        }
        Line::from(spans)
    }

    fn mark(&self, mark: Mark) -> Span<'static> {
        let (symbol, tone) = symbol(mark);
        Span::styled(symbol, self.look.style(tone))
    }
}

fn symbol(mark: Mark) -> (&'static str, Tone) {
    match mark {
        Mark::Waiting => ("·", Tone::Faint),
        Mark::Running => ("▶", Tone::Active),
        Mark::Done => ("■", Tone::Good),
        Mark::Invalid => ("✗", Tone::Bad),
        Mark::Partly => ("▪", Tone::Good),
    }
}

/// The roomiest way in which every row fits.
fn fold(matrix: &Matrix, room: usize) -> Fold {
    let level = |row: &Row| row.groups.iter().map(|group| width(&group.level)).max().unwrap_or(0);
    let repeats = |row: &Row| row.groups.iter().map(|group| group.marks.len()).max().unwrap_or(0);
    let each = matrix.rows.iter().map(|row| level(row).max(repeats(row))).max().unwrap_or(0);
    let groups = matrix.rows.iter().map(|row| row.groups.len()).max().unwrap_or(0);
    if (each + 1) * groups <= room + 1 {
        return Fold::Levels(each);
    }
    let marks = |row: &Row| row.groups.iter().map(|group| group.marks.len()).sum::<usize>();
    let most = matrix.rows.iter().map(marks).max().unwrap_or(0);
    if most + groups.saturating_sub(1) <= room {
        return Fold::Marks;
    }
    Fold::Shared(most.div_ceil(room))
}
