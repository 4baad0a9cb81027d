//! Runs `boatload show`: reports a stored run or published figures, or several side by side.

use std::path::{Path, PathBuf};

use clap::Args;

use super::common::{StorePlace, exit_of};
use super::compare::comparison_text;
use super::out::{print_and_keep, written};
use super::runs::{RUN_HELP, compare_stored, find_runs};
use super::terminal_style;
use crate::analysis::Analysis;
use crate::base::failure::{Exit, Failure, Result};
use crate::report::{RUNS_MAX, Style, find_report, plain, write_plots, write_plotted};
use crate::results::book::Book;

const EXAMPLES: &str = "\
Examples:
  boatload show last
  boatload show k7m --windows      a unique prefix of an id is enough
  boatload show last --details
  boatload show last --plot        with the chart that shows the answer
  boatload show last --json -
  boatload show last reference:smallfiles-debian8-ext4      beside each other";

const LONG: &str = "\
Several runs are each compared with the first, as `boatload compare` does. Phases of one name at one level belong together, also \
where a run has a single variant without a name; of variants that are file systems it meets the one it was measured on. With \
--json there is a document for each run, one a line.

--plot draws as wide as the terminal or COLUMNS says, from 40 to 160 columns, and 80 in a pipe. Without colours a letter at the \
end of a line tells which it is. There are none in a pipe, with NO_COLOR, CLICOLOR=0 or TERM=dumb.

reference:NAME stands for published figures that boatload did not measure; `boatload runs \
--references` lists them. What was not published is missing or null.";

/// Show a stored run or published figures, or several beside each other
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Show {
    #[arg(value_name = "RUN", required = true, num_args = 1..=RUNS_MAX, help = RUN_HELP)]
    runs: Vec<String>,
    /// Show everything, not only the answer
    #[arg(long)]
    details: bool,
    /// Show the windows of each phase that has them
    #[arg(long)]
    windows: bool,
    /// Draw the chart that shows the answer; with --details all
    #[arg(long)]
    plot: bool,
    /// Write charts and all with them in ASCII
    #[arg(long, requires = "plot")]
    ascii: bool,
    /// Write the run document too; - writes it alone
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Show {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let books = find_runs(&self.runs, store)?;
        let style = self.plot.then(|| terminal_style::output_style(self.ascii));
        let text = match books.as_slice() {
            [book] => self.one(book, style.as_ref())?,
            _ if self.windows || self.details => {
                return Err(Failure::usage(
                    "--windows and --details show one run: name only that one",
                ));
            }
            books => side_by_side(books, style.as_ref(), store)?,
        };
        // A terminal or a locale that knows only ASCII knows it for the words too.
        let text = if style.is_some_and(|style| style.ascii) { plain(&text) } else { text };
        give(&books, &text, self.json.as_deref())?;
        let invalid = books.iter().any(|book| exit_of(book) == Exit::Invalid);
        Ok(if invalid { Exit::Invalid } else { Exit::Good })
    }

    /// The text for one run: its first screen or all of it, and its windows.
    fn one(&self, book: &Book, style: Option<&Style>) -> Result<String> {
        let analysis = Analysis::of(book);
        let mut text = match style {
            Some(style) => written("draw the charts", |out| {
                write_plotted(&analysis, style, self.details, out)
            })?,
            None => rendered(report_name(self.details), &analysis)?,
        };
        if self.windows {
            text.push('\n');
            text.push_str(&rendered("windows", &analysis)?);
        }
        Ok(text)
    }
}

fn report_name(details: bool) -> &'static str {
    if details { "details" } else { "terminal" }
}

/// The text for several runs.
fn side_by_side(books: &[Book], style: Option<&Style>, store: &StorePlace) -> Result<String> {
    let mut text = comparison_text(books, &compare_stored(books, store)?, false)?;
    let analyses: Vec<Analysis<'_>> = books.iter().map(Analysis::of).collect();
    let all: Vec<&Analysis<'_>> = analyses.iter().collect();
    if let Some(style) = style {
        text.push('\n');
        text +=
            &written("draw the charts", |out| write_plots(&all, style, usize::MAX, out).map(drop))?;
    }
    Ok(text)
}

/// Gives the user a text, the documents of runs, each on a line of its own, or both.
fn give(books: &[Book], text: &str, json: Option<&Path>) -> Result<()> {
    print_and_keep(text, json, || books.iter().map(document).collect())
}

/// Gives a run to the user: its first screen or all of it, the document, or both.
pub(super) fn deliver(book: &Book, details: bool, json: Option<&Path>) -> Result<()> {
    give(std::slice::from_ref(book), &rendered(report_name(details), &Analysis::of(book))?, json)
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
