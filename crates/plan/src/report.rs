//! Collects the problems of a job file with their lines, while it is read and checked.

use std::collections::{BTreeMap, BTreeSet};

use boatload_base::problem::{Problem, Problems, nearest};

/// Problems, the lines of keys, and which places are already known to be wrong. A place is a path of
/// keys; elements of a list are counted from 1, as lines are: `phase[2].order`.
#[derive(Clone, Debug, Default)]
pub(super) struct ProblemList {
    problems: Problems,
    lines: BTreeMap<String, usize>,
    broken: BTreeSet<String>,
    count: usize,
}

impl ProblemList {
    /// Notes the line of a key or an element.
    pub(super) fn set_line(&mut self, place: &str, line: usize) {
        self.lines.insert(place.to_string(), line);
    }

    /// The line of a place, or of the nearest one around it; `None` for an option, and at the top.
    fn line(&self, place: &str) -> Option<usize> {
        if place.starts_with("--") {
            return None;
        }
        let mut around = place;
        loop {
            if let Some(line) = self.lines.get(around) {
                return Some(*line);
            }
            around = &around[..around.rfind(['.', '['])?];
        }
    }

    /// Adds a problem; `expected` continues a sentence after the word "expected".
    pub(super) fn add(
        &mut self,
        place: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.add_problem(place, found.into(), expected.into(), None);
    }

    /// Adds a problem with a hint how to fix it.
    pub(super) fn add_with_hint(
        &mut self,
        place: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.add_problem(place, found.into(), expected.into(), Some(hint.into()));
    }

    fn add_problem(&mut self, place: &str, found: String, expected: String, hint: Option<String>) {
        let line = self.line(place).or((!place.starts_with("--")).then_some(1));
        let place = place.to_string();
        self.broken.insert(place.clone());
        self.problems.add(Problem { line, place, found, expected, hint });
        self.count += 1;
    }

    /// Adds the problem that a word is none of the valid ones, with the nearest as a hint. `what` says
    /// what the word is ("the key"), or is empty.
    pub(super) fn add_unknown_word<'a>(
        &mut self,
        place: &str,
        what: &str,
        word: &str,
        valid: impl IntoIterator<Item = &'a str>,
    ) {
        let mut valid: Vec<&str> = valid.into_iter().collect();
        valid.sort_unstable();
        valid.dedup();
        let hint = nearest(word, valid.iter().copied());
        let hint = hint.map(|near| format!("did you mean `{near}`?"));
        let space = if what.is_empty() { "" } else { " " };
        let found = format!("{what}{space}`{}`", short(word));
        self.add_problem(place, found, one_of(&valid), hint);
    }

    /// Adds problems that were found elsewhere and are not in it, each with where that was: ` at scale original`.
    pub(super) fn add_found(&mut self, others: &[Problem], place: &str) {
        for other in others {
            if !self.problems.all().contains(other) {
                let found = format!("{}{place}", other.found);
                self.problems.add(Problem { found, ..other.clone() });
                self.count += 1;
            }
        }
    }

    /// All of them, in the order in which they were added.
    pub(super) fn problems(&self) -> &[Problem] {
        self.problems.all()
    }

    /// The keys that the file has directly below a place, known or unknown.
    pub(super) fn keys_below(&self, place: &str) -> Vec<String> {
        let start = format!("{place}.");
        let below = self.lines.range(start.clone()..).take_while(|(p, _)| p.starts_with(&start));
        let keys = below.map(|(p, _)| &p[start.len()..]);
        keys.filter(|key| !key.contains(['.', '['])).map(str::to_string).collect()
    }

    /// Whether this place itself is known to be wrong, so that nothing more should be said of it.
    pub(super) fn is_broken(&self, place: &str) -> bool {
        self.broken.contains(place)
    }

    /// Whether this place or any inside it is known to be wrong.
    pub(super) fn is_broken_inside(&self, place: &str) -> bool {
        let inside = |found: &String| {
            let rest = found.strip_prefix(place);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.broken.range(place.to_string()..).take_while(|p| p.starts_with(place)).any(inside)
    }

    /// How many problems were added until now; one that was met twice counts twice.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The problems, if there are any.
    pub(super) fn finish(self) -> Result<(), Problems> {
        if self.problems.is_empty() { Ok(()) } else { Err(self.problems) }
    }
}

/// The path of a key below a place.
pub(super) fn below(place: &str, key: &str) -> String {
    if place.is_empty() { key.to_string() } else { format!("{place}.{key}") }
}

/// The path of an element, given its index from 0.
pub(super) fn element(place: &str, index: usize) -> String {
    format!("{place}[{}]", index + 1)
}

/// The words as part of a sentence: "`a`", "`a` or `b`", "one of `a`, `b`, `c`".
pub(super) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [] => "nothing there".into(),
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        all => format!("one of {}", all.join(", ")),
    }
}

/// The first line of a user's text, cut to what fits a message.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default().trim_end();
    if line.chars().count() <= MOST && line.len() == text.len() {
        return line.to_string();
    }
    line.chars().take(MOST - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_in_a_part_without_a_line_has_the_line_around_it() {
        let mut report = ProblemList::default();
        report.set_line("phase[2]", 12);
        report.add("phase[2].count", "9", "at most 5");
        report.add("--set x", "9", "at most 5");
        let text = report.finish().expect_err("two problems were added").report("job.toml");
        assert!(
            text.contains("\n  line 12: phase[2].count: found 9, expected at most 5"),
            "{text}"
        );
        assert!(text.contains("\n  --set x: found 9"), "{text}");
    }

    #[test]
    fn what_is_wrong_inside_a_part_is_known_and_a_longer_name_beside_it_is_not() {
        let mut report = ProblemList::default();
        report.add("phase[1].order", "x", "y");
        assert!(report.is_broken_inside("phase[1]") && report.is_broken_inside("phase"));
        assert!(!report.is_broken_inside("phase[1].ord") && !report.is_broken("phase[1]"));
    }
}
