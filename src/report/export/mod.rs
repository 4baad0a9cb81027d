//! Texts of a run for other programs: one file here for each format. docs/EXPORTS.md tells what
//! stands in them.

mod csv;
mod document;
mod gnuplot;
mod hgrm;
mod labels;
mod markdown;
mod openmetrics;
pub(in crate::report) mod svg;

use crate::measure::analysis::Analysis;
use crate::measure::book::Book;

/// A text with the name of the file it may be kept in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportText {
    /// Letters, digits, `-`, `_` and `.`, and no dot at the front: safe in any directory.
    pub name: String,
    /// The text.
    pub text: String,
}

/// One format that a run can be written in.
pub trait Export: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it is, in a few words.
    fn about(&self) -> &'static str;

    /// Whether it tells of each phase apart, so that one of them can be asked for.
    fn has_phases(&self) -> bool {
        false
    }

    /// The run in this format, in as many texts as that takes.
    ///
    /// # Errors
    /// A sentence, if the run has nothing that the format could tell.
    fn texts(&self, analysis: &Analysis<'_>) -> Result<Vec<ExportText>, String>;
}

/// Every format that a command can ask for.
pub const EXPORTS: &[&dyn Export] = &[
    &csv::Csv,
    &csv::CsvWindows,
    &gnuplot::Gnuplot,
    &hgrm::Hgrm,
    &document::Document,
    &markdown::Markdown,
    &openmetrics::OpenMetrics,
    &svg::Svg,
];

/// The format with this name.
pub fn find_export(name: &str) -> Option<&'static dyn Export> {
    EXPORTS.iter().find(|export| export.name() == name).copied()
}

/// The only text of a run in a format, in a file named after the run.
fn only(book: &Book, ending: &str, text: String) -> Vec<ExportText> {
    vec![ExportText { name: format!("{}.{ending}", safe(&book.run.id)), text }]
}

/// Why there are no pictures.
fn no_figures() -> String {
    "it has no figures that a picture could show".into()
}

/// Longest part of a name, in bytes.
const PART_MAX: usize = 60;

/// A text as part of a file's name.
pub(super) fn safe(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let safe: String = text.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let cut = &safe[..safe.len().min(PART_MAX)];
    let rest = cut.trim_start_matches(['.', '-']);
    if rest.is_empty() { "_".into() } else { rest.into() }
}

#[cfg(test)]
mod made;
#[cfg(test)]
mod tests;
