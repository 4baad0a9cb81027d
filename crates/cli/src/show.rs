//! Runs `boatload show`: reports a stored run or published figures, or several side by side.

use std::path::{Path, PathBuf};

use clap::Args;

use super::common::{StorePlace, exit_of};
use super::compare::comparison_text;
use super::completion;
use super::out::{print_and_keep, written};
use super::runs::{RUN_HELP, compare_stored, find_runs};
use super::terminal_width::columns;
use boatload_analysis::Analysis;
use boatload_base::failure::{Exit, Failure, Result};
use boatload_report::{RUNS_MAX, find_report, write_screen};
use boatload_results::book::Book;

const EXAMPLES: &str = "\
Examples:
  boatload show last
  boatload show k7m --details      a unique prefix of an id is enough
  boatload show last --json -
  boatload show last reference:smallfiles-debian8-ext4      side by side";

const LONG: &str = "\
Several runs are each compared with the first, as `boatload compare` does. Phases of one name at one level belong together, also \
where a run has a single variant without a name; of variants that are file systems it meets the one it was measured on. With \
--json there is a document for each run, one a line.

reference:NAME stands for published figures that boatload did not measure; `boatload runs \
--references` lists them. What was not published is missing or null.";

/// Show a stored run or published figures, or several side by side
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Show {
    #[arg(value_name = "RUN", required = true, num_args = 1..=RUNS_MAX, help = RUN_HELP)]
    #[arg(add = completion::runs())]
    runs: Vec<String>,
    /// Show everything, not only the answer
    #[arg(long)]
    details: bool,
    /// Write the run document too; - writes it alone
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Show {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let books = find_runs(&self.runs, store)?;
        let text = match books.as_slice() {
            [book] => report_text(&Analysis::of(book), self.details)?,
            books => comparison_text(books, &compare_stored(books, store)?, self.details)?,
        };
        give(&books, &text, self.json.as_deref())?;
        let invalid = books.iter().any(|book| exit_of(book) == Exit::Invalid);
        Ok(if invalid { Exit::Invalid } else { Exit::Good })
    }
}

/// All of a run, or its first screen, fitted to the terminal.
fn report_text(analysis: &Analysis<'_>, details: bool) -> Result<String> {
    if details {
        return rendered("details", analysis);
    }
    let columns = columns(&std::io::stdout());
    written("make the first screen", |out| write_screen(analysis, columns, out))
}

/// Gives the user a text, the documents of runs, each on a line of its own, or both.
fn give(books: &[Book], text: &str, json: Option<&Path>) -> Result<()> {
    print_and_keep(text, json, || books.iter().map(document).collect())
}

/// Gives a run to the user: its first screen or all of it, the document, or both.
pub(super) fn deliver(book: &Book, details: bool, json: Option<&Path>) -> Result<()> {
    give(std::slice::from_ref(book), &report_text(&Analysis::of(book), details)?, json)
}

/// The document of a run, as JSON.
pub(super) fn document(book: &Book) -> Result<String> {
    rendered("json", &Analysis::of(book))
}

fn rendered(name: &str, analysis: &Analysis<'_>) -> Result<String> {
    let report = find_report(name)
        .ok_or_else(|| Failure::usage(format!("there is no report named {name}")))?;
    written(&format!("make the {name} report"), |out| (report.render)(analysis, out))
}
