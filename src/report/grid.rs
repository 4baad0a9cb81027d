//! A table by two names: one line for each row name, groups of columns side by side. Groups that do
//! not fit beside each other stand below each other.

use std::io::{self, Write};
use std::ops::Range;

use super::table::{Align, padded};
use super::text::{WIDTH, shorten_names, width};
use crate::base::failure::shown;

/// Rows against groups of columns.
pub(super) struct Grid {
    /// What the names of the rows are.
    pub(super) corner: String,
    pub(super) names: Vec<String>,
    pub(super) align: Align,
    pub(super) groups: Vec<Group>,
}

/// Columns that belong together.
pub(super) struct Group {
    pub(super) title: String,
    pub(super) columns: Vec<Column>,
}

/// The cells of a column, one for each row.
pub(super) struct Column {
    pub(super) head: String,
    pub(super) cells: Vec<String>,
}

/// Longer names of rows are shortened.
const NAME_MAX: usize = 17;
/// Longer cells are shortened, so that a group of five columns always fits.
const CELL_MAX: usize = 10;
/// A group gives so much room to a title that is wider than its columns.
const TITLE_MAX: usize = 14;
/// Blanks before a group.
const GAP: usize = 2;

impl Group {
    /// A group without columns.
    pub(super) fn new(title: &str) -> Self {
        Self { title: shown(title), columns: Vec::new() }
    }

    /// With one more column. In a group of one, the title stands for an empty head.
    pub(super) fn column(mut self, head: &str, cells: Vec<String>) -> Self {
        let cells = cells.into_iter().map(shown).collect();
        self.columns.push(Column { head: shown(head), cells });
        self
    }

    /// Whether its title stands for the head of its only column.
    pub(super) fn is_plain(&self) -> bool {
        self.columns.len() == 1 && self.columns.iter().all(|column| column.head.is_empty())
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(Column::width).collect();
        let title = width(&self.title).min(TITLE_MAX);
        let lack = title.saturating_sub(span(&widths));
        if let Some(first) = widths.first_mut() {
            *first += lack;
        }
        widths
    }

    /// Its title, cut to fit, over the columns, drawn out over all of them.
    fn title_over(&self, title: &str) -> String {
        let columns = span(&self.widths());
        let spare = columns.saturating_sub(width(title));
        if self.columns.len() == 1 {
            return padded(title, columns, Align::Right);
        }
        if spare < 4 {
            return format!("{}{title}{}", " ".repeat(spare / 2), " ".repeat(spare - spare / 2));
        }
        let left = (spare - 2) / 2;
        format!("{} {title} {}", "-".repeat(left), "-".repeat(spare - 2 - left))
    }
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(cell)).max().unwrap_or_default();
        cells.max(width(&self.head)).min(CELL_MAX)
    }
}

/// Columns with a blank between them.
fn span(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + widths.len().saturating_sub(1)
}

impl Grid {
    /// A grid of these rows, without columns. `align` is how their names stand.
    pub(super) fn new(corner: &str, names: Vec<String>, align: Align) -> Self {
        let names = names.into_iter().map(shown).collect();
        Self { corner: shown(corner), names, align, groups: Vec::new() }
    }

    /// Adds a group of columns, each with a cell for every row.
    pub(super) fn add(&mut self, group: Group) {
        self.groups.push(group);
    }

    /// How many times the rows are written, for groups that do not fit beside each other.
    pub(super) fn height(&self) -> usize {
        self.blocks().len()
    }

    /// Writes it. Fails only if `out` does.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (at, block) in self.blocks().into_iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            self.write_block(block, out)?;
        }
        Ok(())
    }

    fn name_width(&self) -> usize {
        let names = self.names.iter().chain([&self.corner]).map(|name| width(name)).max();
        names.unwrap_or_default().min(NAME_MAX)
    }

    /// Ranges of groups that fit beside each other, at least one in each, and as many in each as
    /// in the others where that takes no more of them.
    fn blocks(&self) -> Vec<Range<usize>> {
        let greedy = self.greedy();
        let each = self.groups.len().div_ceil(greedy.len().max(1)).max(1);
        let starts = (0..self.groups.len()).step_by(each);
        let even: Vec<_> = starts.map(|at| at..(at + each).min(self.groups.len())).collect();
        let fit = even.iter().all(|block| self.needs(block) <= WIDTH);
        if fit { even } else { greedy }
    }

    fn greedy(&self) -> Vec<Range<usize>> {
        let mut blocks: Vec<Range<usize>> = Vec::new();
        for at in 0..self.groups.len() {
            match blocks.last_mut() {
                Some(block) if self.needs(&(block.start..at + 1)) <= WIDTH => block.end = at + 1,
                _ => blocks.push(at..at + 1),
            }
        }
        blocks
    }

    /// Columns that these groups take beside each other.
    fn needs(&self, block: &Range<usize>) -> usize {
        let groups = &self.groups[block.clone()];
        let spans = groups.iter().map(|group| GAP + span(&group.widths()));
        self.name_width() + spans.sum::<usize>()
    }

    /// The titles of these groups, cut so that those of all groups differ.
    fn titles(&self, block: &Range<usize>) -> Vec<String> {
        let title = |group: &Group| (group.title.clone(), span(&group.widths()));
        let titles: Vec<(String, usize)> = self.groups.iter().map(title).collect();
        let titles: Vec<_> = titles.iter().map(|(title, of)| (title.as_str(), *of)).collect();
        shorten_names(&titles)[block.clone()].to_vec()
    }

    fn write_block(&self, block: Range<usize>, out: &mut dyn Write) -> io::Result<()> {
        let groups = &self.groups[block.clone()];
        let gap = " ".repeat(GAP);
        let name = |text: &str| padded(text, self.name_width(), self.align);
        let all_plain = groups.iter().all(Group::is_plain);
        let mut titles = name(if all_plain { &self.corner } else { "" });
        for (group, title) in groups.iter().zip(self.titles(&block)) {
            titles += &gap;
            titles += &group.title_over(&title);
        }
        writeln!(out, "{}", titles.trim_end())?;
        if !all_plain {
            let heads = line(groups, |column| &column.head);
            writeln!(out, "{}", format!("{}{heads}", name(&self.corner)).trim_end())?;
        }
        let names: Vec<_> =
            self.names.iter().map(|name| (name.as_str(), self.name_width())).collect();
        for (row, row_name) in shorten_names(&names).iter().enumerate() {
            let cells = line(groups, |column| column.cells.get(row).map_or("", String::as_str));
            writeln!(out, "{}", format!("{}{cells}", name(row_name)).trim_end())?;
        }
        Ok(())
    }
}

fn line<'a>(groups: &'a [Group], text: impl Fn(&'a Column) -> &'a str) -> String {
    let mut line = String::new();
    for group in groups {
        line += " ";
        for (column, width) in group.columns.iter().zip(group.widths()) {
            line += " ";
            line += &padded(text(column), width, Align::Right);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(grid: &Grid) -> String {
        let mut out = Vec::new();
        grid.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn grid(groups: usize, columns: usize, cell: &str) -> Grid {
        let mut grid = Grid::new("level", vec!["1".into(), "2".into()], Align::Left);
        for at in 0..groups {
            let mut group = Group::new(&format!("variant-{at}"));
            for column in 0..columns {
                group = group.column(&format!("c{column}"), vec![cell.into(), "9".into()]);
            }
            grid.add(group);
        }
        grid
    }

    #[test]
    fn groups_that_do_not_fit_stand_below_with_the_names_of_the_rows_again() {
        let wide = grid(4, 5, "1234567890123");
        assert_eq!((wide.height(), grid(2, 2, "12").height()), (4, 1));
        let text = text(&wide);
        assert_eq!(text.lines().filter(|line| line.starts_with("level")).count(), 4);
        assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
    }

    #[test]
    fn six_groups_of_which_four_fit_stand_three_by_three() {
        assert_eq!(grid(6, 2, "1234567").greedy(), [0..4, 4..6]);
        assert_eq!(grid(6, 2, "1234567").blocks(), [0..3, 3..6]);
    }

    #[test]
    fn a_group_without_columns_or_rows_is_no_reason_to_fail() {
        assert_eq!(text(&grid(0, 0, "")), "");
        assert_eq!(text(&grid(1, 0, "")), "\nlevel\n1\n2\n");
    }
}
