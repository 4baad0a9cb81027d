//! Defines the table of an answer as data: absolute figures, and beside them what is said of them. Reports write the cells.

use crate::analysis::statement::Part;
use crate::analysis::statistics::Interval;
use crate::analysis::uncertainty::Estimate;
use crate::base::units::Unit;

/// The table that shows an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerTable {
    /// What the rows are: `operation`, `file system`.
    pub corner: String,
    /// The columns behind the name of a row, the most important first.
    pub columns: Vec<AnswerColumn>,
    /// The rows.
    pub rows: Vec<AnswerRow>,
    /// How it is to be read, a sentence or less each.
    pub notes: Vec<String>,
}

/// The cells of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerColumn {
    /// What stands above it.
    pub head: String,
    /// From the first row on.
    pub cells: Vec<AnswerCell>,
}

/// The name of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// As it is written.
    pub name: String,
    /// What it is about: a row stays as long as the answer names one of them all.
    pub about: Vec<Part>,
}

/// A figure, or none.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerCell {
    /// Nothing was measured.
    Missing,
    /// A time in nanoseconds.
    Time(f64),
    /// Operations or bytes a second.
    Rate(Estimate, Unit),
    /// The interval of a rate.
    RateInterval(Estimate, Unit),
    /// How many times as long; whether that is proven, and marked.
    Times(f64, bool),
    /// The interval of a ratio, and whether it is proven, and marked.
    Interval(Interval, bool),
    /// A level, or what limits an operation.
    Name(String),
}

impl AnswerTable {
    /// Adds a column where one of its cells says anything.
    pub(crate) fn add(&mut self, head: &str, cells: impl IntoIterator<Item = AnswerCell>) {
        let cells: Vec<AnswerCell> = cells.into_iter().collect();
        if cells.iter().any(|cell| *cell != AnswerCell::Missing) {
            self.columns.push(AnswerColumn { head: head.into(), cells });
        }
    }
}
