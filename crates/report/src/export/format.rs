//! Defines what an export is, and how its texts are named.

use boatload_analysis::Analysis;
use boatload_results::book::Book;

/// A text with the name of the file it may be kept in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportText {
    /// Letters, digits, `-`, `_` and `.`, and no dot at the front: safe in any directory.
    pub name: String,
    /// The text.
    pub text: String,
}

/// One format that a run can be written in.
pub struct ExportFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The run in this format, in as many texts as that takes; a sentence if the run has nothing that
    /// the format could show.
    pub texts: fn(&Analysis<'_>) -> Result<Vec<ExportText>, String>,
}

/// The only text of a run in a format, in a file named after the run.
pub(super) fn only(book: &Book, ending: &str, text: String) -> Vec<ExportText> {
    vec![ExportText { name: format!("{}.{ending}", safe(&book.run.id)), text }]
}

/// Why there are no charts.
pub(super) fn no_figures() -> String {
    "it has no figures that a chart could show".into()
}

/// Longest part of a name, in bytes.
const PART_MAX: usize = 60;

/// A text as part of a file's name.
pub(crate) fn safe(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let safe: String = text.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let cut = &safe[..safe.len().min(PART_MAX)];
    let rest = cut.trim_start_matches(['.', '-']);
    if rest.is_empty() { "_".into() } else { rest.into() }
}
