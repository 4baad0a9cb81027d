//! Statements as data: sentences of clauses of parts with roles. They become text when they are written, and not before.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a statement. A reader, a table or a page finds what a statement is about by the role of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words between the others.
    Text(String),
    /// The name of a phase.
    Phase(String),
    /// The name of a variant, a file system or a kind of disk.
    Variant(String),
    /// A level of the axis, in words.
    Level(String),
    /// A ratio, a rate or a time.
    Figure(String),
    /// The ends of an interval, in words.
    Interval(String),
    /// How many there are of something.
    Count(String),
}

impl Part {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text)
            | Self::Phase(text)
            | Self::Variant(text)
            | Self::Level(text)
            | Self::Figure(text)
            | Self::Interval(text)
            | Self::Count(text) => text,
        }
    }
}

/// What can stand among the arguments of [`parts`].
pub(crate) trait AddParts {
    /// Adds it.
    fn add_to(self, all: &mut Vec<Part>);
}

impl AddParts for Part {
    fn add_to(self, all: &mut Vec<Part>) {
        all.push(self);
    }
}

impl AddParts for &str {
    fn add_to(self, all: &mut Vec<Part>) {
        all.push(Part::Text(self.into()));
    }
}

impl AddParts for String {
    fn add_to(self, all: &mut Vec<Part>) {
        all.push(Part::Text(self));
    }
}

impl<T: AddParts> AddParts for Vec<T> {
    fn add_to(self, all: &mut Vec<Part>) {
        self.into_iter().for_each(|one| one.add_to(all));
    }
}

impl<T: AddParts> AddParts for Option<T> {
    fn add_to(self, all: &mut Vec<Part>) {
        self.into_iter().for_each(|one| one.add_to(all));
    }
}

/// Parts in their order; plain text may stand between them.
macro_rules! parts {
    ($($part:expr),* $(,)?) => {{
        let mut all: Vec<$crate::statement::Part> = Vec::new();
        $($crate::statement::AddParts::add_to($part, &mut all);)*
        all
    }};
}

pub(crate) use parts;

/// Parts as text.
pub(crate) fn text_of(parts: &[Part]) -> String {
    parts.iter().map(Part::as_str).collect()
}

/// `a, b and c`
pub(crate) fn listed_parts(all: Vec<Vec<Part>>) -> Vec<Part> {
    joined(all, " and ")
}

/// `a, b or c`
pub fn alternatives(all: Vec<Vec<Part>>) -> Vec<Part> {
    joined(all, " or ")
}

fn joined(all: Vec<Vec<Part>>, before_last: &str) -> Vec<Part> {
    let last = all.len().saturating_sub(1);
    let mut joined = Vec::new();
    for (at, one) in all.into_iter().enumerate() {
        match at {
            0 => {}
            _ if at == last => before_last.add_to(&mut joined),
            _ => ", ".add_to(&mut joined),
        }
        one.add_to(&mut joined);
    }
    joined
}

/// A part of a sentence that is left out as a whole, with what stands between it and the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clause {
    /// 0 is never left out; of the others the highest goes first.
    rank: u8,
    parts: Vec<Part>,
}

/// Clauses that end with a full stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(Vec<Clause>);

impl Sentence {
    /// A sentence that always stands.
    pub fn new(parts: Vec<Part>) -> Self {
        Self::ranked(0, parts)
    }

    /// A sentence that is left out by its rank.
    pub fn ranked(rank: u8, parts: Vec<Part>) -> Self {
        Self(vec![Clause { rank, parts }])
    }

    /// With a clause at its end; nothing where there are no parts.
    pub fn with(mut self, rank: u8, parts: Vec<Part>) -> Self {
        if !parts.is_empty() {
            self.0.push(Clause { rank, parts });
        }
        self
    }

    /// With words at its beginning.
    pub fn led_by(mut self, mut lead: Vec<Part>) -> Self {
        if let Some(first) = self.0.first_mut() {
            lead.append(&mut first.parts);
            first.parts = lead;
        }
        self
    }

    /// A sentence that is left out as a whole by this rank.
    pub(crate) fn demoted(self, rank: u8) -> Self {
        Self::ranked(rank, self.0.into_iter().flat_map(|clause| clause.parts).collect())
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.0.iter().flat_map(|clause| &clause.parts)
    }

    /// Whether it has no clause.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names keep their letters, words begin with a capital one.
    fn text(&self) -> String {
        let text: String = self.parts().map(Part::as_str).collect();
        let is_name = matches!(self.parts().next(), Some(Part::Phase(_) | Part::Variant(_)));
        let text = if is_name { text } else { begun(&text) };
        if text.ends_with(['.', '?', '!']) { text } else { text + "." }
    }
}

/// The text with its first letter large.
pub fn begun(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Sentences, the most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Statement(Vec<Sentence>);

impl Statement {
    /// One sentence.
    pub fn new(first: Sentence) -> Self {
        Self(vec![first])
    }

    /// With more sentences behind it.
    pub fn and(mut self, more: impl IntoIterator<Item = Sentence>) -> Self {
        self.0.extend(more.into_iter().filter(|sentence| !sentence.0.is_empty()));
        self
    }

    /// With a sentence before it.
    pub fn behind(mut self, first: Sentence) -> Self {
        self.0.insert(0, first);
        self
    }

    /// With words at its beginning, such as `Likely: `.
    pub fn led_by(mut self, lead: &str) -> Self {
        if let Some(first) = self.0.first_mut() {
            *first = std::mem::take(first).led_by(parts![lead]);
        }
        self
    }

    /// All parts in their order.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.0.iter().flat_map(Sentence::parts)
    }

    /// The same in at most this many words, without the clauses that matter least. What always stands may have more.
    pub fn fitted(&self, words: usize) -> Self {
        let mut fitted = self.clone();
        while fitted.words() > words && fitted.drop_last() {}
        fitted
    }

    /// How many words it has.
    pub fn words(&self) -> usize {
        self.to_string().split_whitespace().count()
    }

    fn drop_last(&mut self) -> bool {
        let ranks = self.0.iter().flat_map(|sentence| sentence.0.iter().map(|clause| clause.rank));
        let Some(highest) = ranks.max().filter(|rank| *rank > 0) else { return false };
        for sentence in self.0.iter_mut().rev() {
            if let Some(at) = sentence.0.iter().rposition(|clause| clause.rank == highest) {
                // What follows the first clause of a sentence means nothing without it.
                let end = if at == 0 { sentence.0.len() } else { at + 1 };
                sentence.0.drain(at..end);
                break;
            }
        }
        self.0.retain(|sentence| !sentence.0.is_empty());
        true
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(Sentence::text).collect();
        f.write_str(&all.join(" "))
    }
}

impl From<Statement> for String {
    fn from(statement: Statement) -> Self {
        statement.to_string()
    }
}

impl From<String> for Statement {
    fn from(text: String) -> Self {
        Self::new(Sentence::new(vec![Part::Text(text)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement() -> Statement {
        let first = Sentence::new(parts![Part::Phase("read".into()), " takes ", "twice as long"])
            .with(1, parts![" at ", Part::Level("98% full".into())])
            .with(3, parts![" (", Part::Interval("1.9 to 2.1".into()), ")"]);
        let second = Sentence::ranked(2, parts!["nothing else does"]).with(4, parts![", of 12"]);
        Statement::new(first).and([second])
    }

    #[test]
    fn clauses_go_as_a_whole_and_those_that_matter_least_go_first() {
        let whole = "read takes twice as long at 98% full (1.9 to 2.1). Nothing else does, of 12.";
        assert_eq!(statement().to_string(), whole);
        for (words, text) in [
            (16, whole),
            (15, "read takes twice as long at 98% full (1.9 to 2.1). Nothing else does."),
            (11, "read takes twice as long at 98% full. Nothing else does."),
            (8, "read takes twice as long at 98% full."),
            (7, "read takes twice as long."),
            (1, "read takes twice as long."),
        ] {
            assert_eq!(statement().fitted(words).to_string(), text, "{words}");
        }
    }

    #[test]
    fn words_before_a_statement_begin_it() {
        let text = "Likely: read takes twice as long.";
        assert_eq!(statement().led_by("likely: ").fitted(1).to_string(), text);
    }
}
