//! Defines the table of an answer as data: absolute figures, and beside them what is said of them. Reports write the cells.

use crate::analysis::effect::ComparedRatio;
use crate::analysis::effects::decide::Decision;
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
    /// How many times as long, with the mark of what is decided.
    Times(f64, Decision),
    /// The interval of a ratio, with that mark.
    Interval(Interval, Decision),
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

    /// Adds a column of ratios and one of their intervals, with their level.
    pub(crate) fn add_ratios(&mut self, all: &[Option<ComparedRatio>]) {
        let cells = |cell: fn(ComparedRatio) -> Option<AnswerCell>| {
            let cells = all.iter().map(|one| one.and_then(cell).unwrap_or(AnswerCell::Missing));
            cells.collect::<Vec<_>>()
        };
        self.add("times", cells(|one| Some(AnswerCell::Times(one.ratio, Decision::Open))));
        self.add("interval", cells(|one| Some(AnswerCell::Interval(one.interval?, one.decision))));
        self.notes.extend(about_ratios(all.iter().flatten()));
    }
}

/// How ratios are to be read: `* proven`, `intervals at 99.1% or more`.
pub(crate) fn about_ratios<'a>(all: impl Iterator<Item = &'a ComparedRatio>) -> Vec<String> {
    let all: Vec<&ComparedRatio> = all.collect();
    let has = |is: fn(Decision) -> bool| all.iter().any(|one| is(one.decision));
    let longer = has(Decision::is_difference).then(|| "* proven".to_string());
    let alike = has(|one| one == Decision::Within).then(|| "= proven within 10%".to_string());
    let mut levels: Vec<f64> = all.iter().filter_map(|one| one.level).collect();
    levels.sort_by(f64::total_cmp);
    // Rounded down, so that no level is said to be higher than it is.
    let percent = |level: f64| (level * 1000.0 + 1e-6).floor() / 10.0;
    let levels = levels.first().zip(levels.last()).map(|(low, high)| {
        let more = if percent(*low) == percent(*high) { "" } else { " or more" };
        format!("intervals at {}%{more}", percent(*low))
    });
    longer.into_iter().chain(alike).chain(levels).collect()
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
        let about = |all: &[ComparedRatio]| about_ratios(all.iter());
        let open = |level| ratio(level, Decision::Open);
        assert_eq!(about(&[open(0.95), open(0.95)]), ["intervals at 95%"]);
        assert_eq!(about(&[open(1.0 - 0.05 / 6.0), open(0.9999)]), ["intervals at 99.1% or more"]);
        let [longer, alike] = [Decision::Longer, Decision::Within].map(|one| ratio(0.99, one));
        let notes = ["* proven", "= proven within 10%", "intervals at 99%"];
        assert_eq!(about(&[alike, longer]), notes);
        assert_eq!(about(&[]), [""; 0]);
    }
}
