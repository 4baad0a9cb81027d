//! Words that several answers share: levels, tasks, shares and spans.

use crate::analysis::findings::say;
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

    /// `98% full`, `2,000,000 files`
    pub(super) fn level(self, value: f64) -> String {
        say::value_in_words(self.name, say::rounded(value), self.unit)
    }
}

/// A phase of a variant: `write`, `create-file (fresh)`.
pub(crate) fn task(variant: &str, phase: &str) -> String {
    match variant {
        DEFAULT_VARIANT => phase.to_string(),
        variant => format!("{phase} ({variant})"),
    }
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
