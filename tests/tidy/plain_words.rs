//! Plain English, counted: phrases of `words.txt` in texts and comments, and words of `names.txt` in the names of the
//! product. Both lists say what to write instead.

use regex::{Regex, RegexBuilder};

use crate::source::{Source, words};
use crate::{committed, live_sources, ratchet, root};

/// Ratchets. They go down, never up. The aims are 20 phrases for users, 150 in all, and no name.
const PHRASES_FOR_USERS_MAX: usize = 5;
const PHRASES_MAX: usize = 145;
const NAMES_MAX: usize = 14;

/// A phrase or a word to avoid, and what to write instead.
struct Advice<'a> {
    avoid: &'a str,
    instead: &'a str,
}

fn advice(list: &str) -> Vec<Advice<'_>> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let advice = lines.map(|line| line.split_once('\t').unwrap());
    advice.map(|(avoid, instead)| Advice { avoid, instead }).collect()
}

/// The phrases of `words.txt`, as one expression.
fn phrases() -> Regex {
    let list = advice(include_str!("words.txt"));
    let each: Vec<String> = list.iter().map(|one| format!("(?:{})", one.avoid)).collect();
    RegexBuilder::new(&each.join("|")).case_insensitive(true).build().unwrap()
}

/// A file of which users read some, or nothing.
struct Text {
    path: String,
    text: String,
}

impl Text {
    /// Sources, documents and job files, without runs that are kept.
    fn all() -> Vec<Text> {
        let counts = |path: &String| {
            let is_kept = path.starts_with("docs/results") || path.starts_with("docs/validation");
            !is_kept && [".rs", ".md", ".toml"].iter().any(|ending| path.ends_with(ending))
        };
        let name = |path: &std::path::PathBuf| {
            path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
        };
        let paths: Vec<String> = committed().iter().map(name).filter(counts).collect();
        let read = |path: String| {
            let text = std::fs::read_to_string(root().join(&path)).ok()?;
            Some(Text { path, text })
        };
        paths.into_iter().filter_map(read).collect()
    }

    /// The places of all phrases.
    fn found(&self, phrases: &Regex) -> Vec<String> {
        complaints(self, phrases, &self.text, 0)
    }

    /// The places of phrases that users read: in documents, and in strings of the product.
    fn found_for_users(&self, phrases: &Regex, literals: &Regex) -> Vec<String> {
        let folders = ["test", "tests", "fixtures", "golden", "benches"];
        let is_test = self.path.split(['/', '.']).any(|part| folders.contains(&part));
        match self.path.ends_with(".md") {
            true => self.found(phrases),
            false if is_test => Vec::new(),
            false => {
                let without_comments = without_comments(&self.text);
                let pieces = literals.captures_iter(&without_comments).filter_map(|one| one.get(1));
                pieces
                    .flat_map(|piece| complaints(self, phrases, piece.as_str(), piece.start()))
                    .collect()
            }
        }
    }
}

/// The phrases of a piece that begins at byte `start` of a file.
fn complaints(file: &Text, phrases: &Regex, piece: &str, start: usize) -> Vec<String> {
    let complain = |found: regex::Match<'_>| {
        let before = &file.text.as_bytes()[..start + found.start()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("{}:{line}: {}", file.path, found.as_str())
    };
    phrases.find_iter(piece).map(complain).collect()
}

/// The text with lines that are comments blanked, so that their quotation marks open no string.
fn without_comments(text: &str) -> String {
    let line = |line: &str| match line.trim_start().starts_with(['#', '/']) {
        true => line.chars().flat_map(|c| std::iter::repeat_n(blank(c), c.len_utf8())).collect(),
        false => line.replace("'\"'", "   "),
    };
    text.split_inclusive('\n').map(line).collect()
}

fn blank(c: char) -> char {
    if c == '\n' { c } else { ' ' }
}

/// Strings, also over several lines.
fn literals() -> Regex {
    Regex::new(r#"(?s)"((?:[^"\\]|\\.)*)""#).unwrap()
}

#[test]
fn texts_use_plain_english() {
    let (phrases, literals, all) = (phrases(), literals(), Text::all());
    assert!(all.len() > 80, "found only {} files", all.len());
    let for_users: Vec<String> =
        all.iter().flat_map(|text| text.found_for_users(&phrases, &literals)).collect();
    ratchet("phrases that users read", &for_users, PHRASES_FOR_USERS_MAX);
    let everywhere: Vec<String> = all.iter().flat_map(|text| text.found(&phrases)).collect();
    ratchet("phrases in all", &everywhere, PHRASES_MAX);
}

#[test]
fn names_have_one_meaning_each() {
    let names = advice(include_str!("names.txt"));
    let complaints: Vec<String> =
        live_sources().iter().flat_map(|source| named(source, &names)).collect();
    ratchet("words of names with a plainer one", &complaints, NAMES_MAX);
}

/// Functions, types, fields and values of a file that are named with a word of the list.
fn named(source: &Source, names: &[Advice<'_>]) -> Vec<String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let identifiers = source.live.split(|c: char| !c.is_ascii() || !is_part(c as u8));
    let mut seen = std::collections::BTreeSet::new();
    let new = identifiers.filter(|one| !one.is_empty() && seen.insert(*one));
    new.filter_map(|identifier| {
        let parts = format!("_{}_", identifier.to_lowercase());
        let bad = names.iter().find(|one| parts.contains(&format!("_{}_", one.avoid)))?;
        let at = words(&source.live, identifier).next()?;
        Some(source.complain(at, &format!("`{identifier}`: {}", bad.instead)))
    })
    .collect()
}

#[test]
fn a_phrase_is_found_in_strings_over_several_lines_and_in_documents() {
    let (phrases, literals) = (phrases(), literals());
    let file = |path: &str, text: &str| Text { path: path.into(), text: text.into() };
    let comment = concat!("// It's \" not", "\nlet text = \"one \\\n two, of ", "which one\";\n");
    let source = file("src/cli/one.rs", comment);
    assert_eq!(source.found_for_users(&phrases, &literals).len(), 1);
    assert_eq!(source.found_for_users(&phrases, &literals)[0].split(':').nth(1), Some("3"));
    let test = file("src/cli/tests.rs", comment);
    assert_eq!(test.found_for_users(&phrases, &literals), Vec::<String>::new());
    assert_eq!(test.found(&phrases).len(), 1, "in all it counts");
    let document = file("docs/ONE.md", concat!("All files, most of ", "which are small."));
    assert_eq!(document.found_for_users(&phrases, &literals).len(), 1);
}

#[test]
fn a_name_with_an_overloaded_word_is_found() {
    let source = Source::new("src/base/one.rs", "fn is_told_early() {} fn is_toldest() {}");
    let names = advice(include_str!("names.txt"));
    let complaints = named(&source, &names);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("`is_told_early`: \"stated\""), "{complaints:?}");
}
