//! Defines the table of an answer as data: absolute figures, and beside them what is said of them. Reports write the cells.

use crate::effect_finding::ComparedRatio;
use crate::effects::contrast::MARGIN_RATIO;
use crate::effects::decide::Decision;
use crate::statement::{Part, text_of};
use crate::statistics::Interval;
use crate::uncertainty::Estimate;
use boatload_base::units::Unit;

/// The table that shows an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerTable {
    /// What the rows are: `operation`, `file system`.
    pub corner: String,
    /// The columns behind the name of a row, the most important first.
    pub columns: Vec<AnswerColumn>,
    /// The rows.
    pub rows: Vec<AnswerRow>,
    /// How it is to be read.
    pub notes: Vec<AnswerNote>,
}

/// How a part of a table is to be read: a sentence or less, which stands only where that part does.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerNote {
    about: NotedPart,
    text: String,
}

#[derive(Clone, Debug, PartialEq)]
enum NotedPart {
    Table,
    /// Phases, variants or heads of columns, which stand before the text.
    Names(Vec<String>),
    /// The mark of a decision.
    Mark(Decision),
}

impl AnswerNote {
    /// About the whole table.
    pub fn new(text: impl Into<String>) -> Self {
        Self { about: NotedPart::Table, text: text.into() }
    }

    /// About phases, variants or columns.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>, text: &str) -> Self {
        let names = names.into_iter().map(String::from).collect();
        Self { about: NotedPart::Names(names), text: text.into() }
    }
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

impl AnswerRow {
    /// A row that is written as these parts, and is about those that name something.
    pub(crate) fn of(parts: Vec<Part>) -> Self {
        let name = text_of(&parts);
        let about = parts.into_iter().filter(|part| !matches!(part, Part::Text(_))).collect();
        Self { name, about }
    }
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
    /// How many times as long, with the mark of what is decided.
    Times(f64, Decision),
    /// The interval of a ratio, with that mark.
    Interval(Interval, Decision),
    /// A level, or what limits an operation.
    Name(String),
    /// A directory, which is cut where there is little room, with a remark in brackets.
    Place {
        /// Its path.
        path: String,
        /// Such as a share; nothing if empty.
        about: String,
    },
}

impl AnswerTable {
    /// Adds a column where one of its cells says anything.
    pub fn add(&mut self, head: &str, cells: impl IntoIterator<Item = AnswerCell>) {
        let cells: Vec<AnswerCell> = cells.into_iter().collect();
        if cells.iter().any(|cell| *cell != AnswerCell::Missing) {
            self.columns.push(AnswerColumn { head: head.into(), cells });
        }
    }

    /// How these rows and its first columns are to be read.
    pub fn notes_of(&self, rows: &[usize], columns: usize) -> String {
        let columns = || self.columns.iter().take(columns);
        let cells = || columns().flat_map(|column| rows.iter().map(|at| &column.cells[*at]));
        let parts = rows.iter().flat_map(|at| &self.rows[*at].about).map(Part::as_str);
        let shown: Vec<&str> = parts.chain(columns().map(|column| &*column.head)).collect();
        // A layout on a file system is named behind it: `ext4/striped`.
        let is_shown = |name: &&String| {
            shown.iter().any(|one| one == name || one.rsplit('/').next() == Some(&***name))
        };
        let note = |note: &AnswerNote| match &note.about {
            NotedPart::Table => Some(note.text.clone()),
            NotedPart::Mark(mark) => cells().any(|cell| cell.has(*mark)).then(|| note.text.clone()),
            NotedPart::Names(names) => {
                let own: Vec<&str> = names.iter().filter(is_shown).map(String::as_str).collect();
                (!own.is_empty()).then(|| format!("{}: {}", own.join(", "), note.text))
            }
        };
        self.notes.iter().filter_map(note).collect::<Vec<_>>().join("; ")
    }

    /// Adds a column of ratios and one of their intervals, with their level.
    pub(crate) fn add_ratios(&mut self, all: &[Option<ComparedRatio>]) {
        let cells = |cell: fn(ComparedRatio) -> Option<AnswerCell>| {
            let cells = all.iter().map(|one| one.and_then(cell).unwrap_or(AnswerCell::Missing));
            cells.collect::<Vec<_>>()
        };
        self.add("times", cells(|one| Some(AnswerCell::Times(one.ratio, Decision::Open))));
        self.add("interval", cells(|one| Some(AnswerCell::Interval(one.interval?, one.mark()))));
        self.notes.extend(about_ratios(all.iter().flatten()));
    }
}

impl AnswerCell {
    fn has(&self, mark: Decision) -> bool {
        let (Self::Times(_, own) | Self::Interval(_, own)) = self else { return false };
        *own == mark || own.is_difference() && mark.is_difference()
    }
}

impl ComparedRatio {
    /// The decision that marks it: what lies within 10% with its whole interval does so however small its error is.
    pub fn mark(&self) -> Decision {
        let is_near = |one: Interval| one.low * MARGIN_RATIO > 1.0 && one.high < MARGIN_RATIO;
        match self.interval {
            Some(interval) if self.decision.is_difference() && is_near(interval) => {
                Decision::Within
            }
            _ => self.decision,
        }
    }
}

/// How ratios are to be read: `* beyond chance`, `intervals at 99.1% or more`.
pub(crate) fn about_ratios<'a>(all: impl Iterator<Item = &'a ComparedRatio>) -> Vec<AnswerNote> {
    let all: Vec<&ComparedRatio> = all.collect();
    let mark = |mark, text: &str| AnswerNote { about: NotedPart::Mark(mark), text: text.into() };
    let marks = [
        mark(Decision::Longer, "* beyond chance"),
        mark(Decision::Within, "= proven to be within 10%"),
    ];
    marks.into_iter().chain(about_levels(all.into_iter().copied()).map(AnswerNote::new)).collect()
}

/// The levels of the intervals of these: `intervals at 99.1% or more`.
pub fn about_levels(all: impl Iterator<Item = ComparedRatio>) -> Option<String> {
    let mut levels: Vec<f64> = all.filter_map(|one| one.level).collect();
    levels.sort_by(f64::total_cmp);
    // Rounded down, so that no level is said to be higher than it is.
    let percent = |level: &f64| (level * 1000.0 + 1e-6).floor() / 10.0;
    let [low, high] = [levels.first().map(percent)?, levels.last().map(percent)?];
    let more = if low == high { "" } else { " or more" };
    Some(format!("intervals at {low}%{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_of_intervals_is_the_lowest_one_and_never_too_high() {
        let ratio = |level, decision| ComparedRatio {
            ratio: 2.0,
            interval: Some([1.5, 2.5].into()),
            level: Some(level),
            decision,
        };
        let about = |all: &[ComparedRatio]| {
            let mut table = AnswerTable::default();
            table.add_ratios(&all.iter().copied().map(Some).collect::<Vec<_>>());
            table.rows =
                all.iter().map(|_| AnswerRow { name: String::new(), about: Vec::new() }).collect();
            table.notes_of(&(0..all.len()).collect::<Vec<_>>(), 2)
        };
        let open = |level| ratio(level, Decision::Open);
        assert_eq!(about(&[open(0.95), open(0.95)]), "intervals at 95%");
        assert_eq!(about(&[open(1.0 - 0.05 / 6.0), open(0.9999)]), "intervals at 99.1% or more");
        let [longer, alike] = [Decision::Longer, Decision::Within].map(|one| ratio(0.99, one));
        let notes = "* beyond chance; = proven to be within 10%; intervals at 99%";
        assert_eq!(about(&[alike, longer]), notes);
        assert_eq!(about(&[]), "");
        let interval = Some([0.93, 0.98].into());
        let slightly = ComparedRatio { interval, decision: Decision::Shorter, ..longer };
        assert_eq!(about(&[slightly]), "= proven to be within 10%; intervals at 99%");
        let mut narrow = AnswerTable::default();
        narrow.add_ratios(&[Some(alike)]);
        narrow.rows = vec![AnswerRow { name: String::new(), about: Vec::new() }];
        assert_eq!(narrow.notes_of(&[0], 1), "intervals at 99%", "no mark stands in one column");
    }
}
