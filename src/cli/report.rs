//! `boatload report`: runs as a page for a browser.

use std::path::{Path, PathBuf};

use clap::Args;

use super::StorePlace;
use super::export::deliver;
use super::history::others;
use super::runs_named::{RUN_HELP, find_runs};
use crate::base::failure::{Exit, Failure, Result};
use crate::measure::book::ResultBook;
use crate::measure::compare::compare_among;
use crate::report::{ExportText, PAGE_RUNS_MAX, page_text};

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

Several runs are shown in the same figures and beside each other, with what they differ in; of two \
it tells what the second is to the first, as `boatload compare` does.";

/// Write runs as a page for a browser
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Report {
    #[arg(value_name = "RUN", required = true, num_args = 1..=PAGE_RUNS_MAX, help = RUN_HELP)]
    runs: Vec<String>,
    /// Where to write it; - is standard output
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
}

impl Report {
    pub(super) fn run(self, store: &StorePlace) -> Result<Exit> {
        let books = find_runs(&self.runs, store)?;
        let comparison = match books.as_slice() {
            [a, b] if a.run.id != b.run.id => {
                let others = others([a, b], store, None)?;
                Some(compare_among(a, b, &others.iter().collect::<Vec<_>>()))
            }
            _ => None,
        };
        let books: Vec<&ResultBook> = books.iter().collect();
        keep(page_text(&books, comparison.as_ref()), &self.output)?;
        Ok(Exit::Good)
    }
}

/// Writes the page of one run to a file or a directory.
///
/// # Errors
/// If it cannot be written there.
pub(super) fn keep_run(book: &ResultBook, output: &Path) -> Result<()> {
    keep(page_text(&[book], None), output)
}

fn keep(page: std::io::Result<ExportText>, output: &Path) -> Result<()> {
    let text = page.map_err(|error| Failure::from_system("make the report", error))?;
    deliver(&[text], output)
}

/// Whether a run can keep its page there.
///
/// # Errors
/// If it is standard output, which has the results.
pub(super) fn check_place(output: Option<&Path>) -> Result<()> {
    if output == Some(Path::new("-")) {
        return Err(Failure::usage(
            "--report takes a file, for the results go to standard output; `boatload report last \
             -o -` writes the page there",
        ));
    }
    Ok(())
}
