//! Runs `boatload report`: writes runs as a page for a browser.

use std::path::{Path, PathBuf};

use clap::Args;

use super::common::StorePlace;
use super::export::{deliver, is_directory};
use super::runs::{RUN_HELP, check_each_once, compare_stored, find_runs};
use super::{completion, out};
use boatload_analysis::Analysis;
use boatload_base::failure::{Exit, Failure, Result};
use boatload_report::{ExportText, PAGE_RUNS_MAX, page_text};
use boatload_results::book::Book;

const EXAMPLES: &str = "\
Examples:
  boatload report last -o report.html
  boatload report k7m last -o change.html               what the second is to the first
  boatload report last reference:smallfiles-debian8-ext4 -o beside.html";

const LONG: &str = "\
The page has what is concluded, the figures, the tables behind them, how it was measured, and what it \
takes to do it again. It is one file that needs no network and asks it for nothing: it can be \
mailed, archived, or put on a server. Charts can be zoomed and saved as PNG; below each stand its \
values as a table.

Several runs are shown in the same charts and side by side, with what they differ in; two are also \
compared, as by `boatload compare`.";

/// Write runs as a page for a browser
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct ReportCommand {
    #[arg(value_name = "RUN", required = true, num_args = 1..=PAGE_RUNS_MAX, help = RUN_HELP)]
    #[arg(add = completion::runs())]
    runs: Vec<String>,
    /// Where to write it; - is standard output
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
}

impl ReportCommand {
    pub(super) fn run(self, store: &StorePlace) -> Result<Exit> {
        let books = find_runs(&self.runs, store)?;
        check_each_once(&self.runs, &books)?;
        let comparisons = compare_stored(&books, store)?;
        let analyses: Vec<Analysis<'_>> = books.iter().map(Analysis::of).collect();
        let analyses: Vec<&Analysis<'_>> = analyses.iter().collect();
        keep(page_text(&analyses, &comparisons), &self.output)?;
        Ok(Exit::Good)
    }
}

/// Writes the page of a run that has just ended to a file or a directory.
///
/// # Errors
/// If it cannot be written there, with what still gives it.
pub(super) fn keep_run(book: &Book, output: &Path) -> Result<()> {
    keep(page_text(&[&Analysis::of(book)], &[]), output).map_err(|failure| {
        let again = format!("`boatload report {} -o FILE.html` writes the report", book.run.id);
        Failure { sentence: format!("{}; {again}", failure.sentence), ..failure }
    })
}

fn keep(page: std::io::Result<ExportText>, output: &Path) -> Result<()> {
    let text = page.map_err(|error| Failure::from_system("make the report", error))?;
    deliver(&[text], output)
}

/// Whether a run can keep its page there, as far as that is known before it.
///
/// # Errors
/// If it is standard output, which has the results, or no file can be written there.
pub(super) fn check_place(output: Option<&Path>) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    if output == Path::new("-") {
        return Err(Failure::usage(
            "--report takes a file, for the results go to standard output; `boatload report last \
             -o -` writes the page there",
        ));
    }
    if !is_directory(output) {
        return out::check_file(output);
    }
    let mut directory = output;
    while let Some(parent) = directory.parent().filter(|_| !directory.exists()) {
        directory = parent;
    }
    let here = directory == Path::new("");
    out::check_directory(if here { Path::new(".") } else { directory })
}
