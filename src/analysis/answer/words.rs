//! Words that several answers share: levels, tasks, shares and spans.

use crate::analysis::findings::say;
use crate::analysis::statistics::Interval;
use crate::base::units::{Quantity, Unit};
use crate::plan::DEFAULT_VARIANT;

/// An answer has at most so many words.
pub(super) const WORDS_MAX: usize = 30;

/// Words that are left for what stands before an answer: `Likely: `.
const WORDS_BEFORE: usize = 1;

/// Whether an answer has room for a text.
pub(super) fn fits(text: &str) -> bool {
    number_of_words(text) + WORDS_BEFORE <= WORDS_MAX
}

/// The words of a text.
pub(super) fn number_of_words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// An axis with the unit of its levels.
#[derive(Clone, Copy)]
pub(super) struct AxisWords<'a> {
    pub(super) name: &'a str,
    pub(super) unit: Unit,
}

impl AxisWords<'_> {
    /// `30%`, `2,000,000`, `4 MiB`
    pub(super) fn value(self, value: f64) -> String {
        Quantity { value: say::rounded(value), unit: self.unit }.to_string()
    }

    /// What stands behind a value: `full`, `files`, `of chunk-size`.
    fn noun(self) -> String {
        say::behind_value(self.name, self.unit)
    }

    /// `98% full`, `2,000,000 files`
    pub(super) fn level(self, value: f64) -> String {
        say::value_in_words(self.name, say::rounded(value), self.unit)
    }

    /// `between 30% and 98% full`
    pub(super) fn between(self, range: Interval) -> String {
        format!("between {} and {} {}", self.value(range.low), self.value(range.high), self.noun())
    }

    /// What the whole range changes: `with 2,000,000 more files`, `from 30% to 98% full`.
    pub(super) fn over(self, range: Interval) -> String {
        self.changed_by(range, "")
    }

    /// What any of its levels changes: `with up to 2,000,000 more files`.
    pub(super) fn within(self, range: Interval) -> String {
        self.changed_by(range, "up to ")
    }

    fn changed_by(self, range: Interval, up_to: &str) -> String {
        match self.unit {
            Unit::Count if self.noun() == "files" => {
                format!("with {up_to}{} more files", self.value(range.width()))
            }
            _ => {
                let [low, high] = [range.low, range.high].map(|value| self.value(value));
                format!("from {low} to {high} {}", self.noun())
            }
        }
    }
}

/// A phase of a variant: `write`, `create-file (fresh)`.
pub(crate) fn task(variant: &str, phase: &str) -> String {
    match variant {
        DEFAULT_VARIANT => phase.to_string(),
        variant => format!("{phase} ({variant})"),
    }
}

/// A share without more digits than it needs: `0.4%`, `5%`, `32%`.
pub(super) fn share(share: f64) -> String {
    say::percent(share).replace(".0%", "%")
}

/// An upper bound of a share in whole percent, rounded up: `1%`, `7%`.
pub(super) fn at_most(share: f64) -> String {
    format!("{:.0}%", (share * 100.0).ceil().max(1.0))
}

/// `10% to 50%`
pub(super) fn shares(low: f64, high: f64) -> String {
    format!("{} to {}", share(low), share(high))
}

/// `1.19 times as long (1.05 to 1.36)`, without the interval where there is none.
pub(super) fn as_long(ratio: f64, interval: Option<Interval>) -> String {
    format!("{} times as long{}", say::times(ratio), in_brackets(interval))
}

/// ` (1.05 to 1.36)`, with enough figures to see whether it leaves 1 out; nothing without an interval.
pub(super) fn in_brackets(interval: Option<Interval>) -> String {
    interval.map_or(String::new(), |interval| format!(" ({})", say::span(interval)))
}

/// `the task`, `all 18 tasks`, `3 of 18 tasks`
pub(super) fn of_tasks(number: usize, all: usize) -> String {
    match (number, all) {
        (1, 1) => "the task".into(),
        _ if number == all => format!("all {all} tasks"),
        _ => format!("{number} of {all} tasks"),
    }
}

/// The text with its first letter large.
pub(super) fn begun(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
