//! Describes a mistake in a job file or a setting: its place, the value found, the value expected, the
//! fix.

use std::fmt;

use super::failure::shown;

/// One mistake the user can mend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// Line of the job file, counted from 1; `None` for the command line.
    pub line: Option<usize>,
    /// The key it concerns, as a path: `phase[2].order`.
    pub place: String,
    /// What was found there.
    pub found: String,
    /// What may stand there.
    pub expected: String,
    /// The nearest valid key or value, or another concrete fix.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}: {}", shown(&self.place), self.sentence())
    }
}

impl Problem {
    /// It without its place: what was found, what was expected, and the fix.
    pub fn sentence(&self) -> String {
        // Parts of the job file stand in it, which may hold anything.
        let sentence = shown(format!("found {}, expected {}", self.found, self.expected));
        match &self.hint {
            Some(hint) => format!("{sentence}; {}", shown(hint)),
            None => sentence,
        }
    }
}

/// The problems gathered until now, so that all of them can be reported at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds one.
    pub fn add(&mut self, problem: Problem) {
        if !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All problems, in the order in which they were added.
    pub fn all(&self) -> &[Problem] {
        &self.0
    }

    /// All problems, ordered by line.
    pub fn sorted(mut self) -> Vec<Problem> {
        self.0.sort_by_key(|p| p.line.unwrap_or(usize::MAX));
        self.0
    }

    /// The text for the user: a heading with the count, then a line a problem.
    pub fn report(self, source: &str) -> String {
        let all = self.sorted();
        let noun = if all.len() == 1 { "problem" } else { "problems" };
        let mut text = format!("{source} has {} {noun}:", all.len());
        for problem in &all {
            text.push_str(&format!("\n  {problem}"));
        }
        text
    }
}

/// Shorter words that begin with another letter are another word: zfs is not xfs.
const SLIP_LETTERS_MIN: usize = 5;

/// The candidate nearest to `word`, if one is near enough to be what was meant: one that begins with it, or is spelt nearly alike.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| match candidate.starts_with(word) && word.len() > 2 {
        true => 0,
        false => strsim::damerau_levenshtein(word, candidate),
    };
    let same_start =
        |c: &str| word.len() >= SLIP_LETTERS_MIN || word.bytes().next() == c.bytes().next();
    candidates
        .into_iter()
        .filter(|c| same_start(c))
        .map(|c| (distance(c), c))
        // A third of the letters wrong is a slip; more is another word.
        .filter(|(distance, c)| *distance <= c.len().max(word.len()).div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_file_cannot_send_a_terminal_anything() {
        let problem = Problem { found: "\u{1b}[31m\n".into(), ..Problem::default() };
        assert_eq!(problem.to_string(), ": found \\u{1b}[31m\\n, expected ");
    }

    #[test]
    fn a_slip_finds_its_word_and_nonsense_finds_none() {
        assert_eq!(nearest("ordr", ["order", "operation"]), Some("order"));
        assert_eq!(nearest("creat", ["create", "read"]), Some("create"));
        assert_eq!(nearest("zzzzzz", ["order", "operation"]), None);
        assert_eq!(nearest("small", ["sequential", "smallfiles"]), Some("smallfiles"));
        assert_eq!(nearest("zfs", ["xfs", "ext4"]), None, "it is another file system");
        assert_eq!(nearest("xsf", ["xfs", "ext4"]), Some("xfs"));
    }
}
