//! Runs `boatload show`: reports a stored run or published figures, or several side by side.

use std::path::{Path, PathBuf};

use clap::Args;

use super::common::{StorePlace, exit_of};
use super::out::{print_and_keep, written};
use super::runs::{RUN_HELP, find_runs};
use super::terminal_style;
use crate::analysis::Analysis;
use crate::base::failure::{Exit, Failure, Result};
use crate::report::{
    RUNS_MAX, Style, find_report, plain, write_plots, write_plotted, write_screen,
    write_side_by_side,
};
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
Several runs are shown side by side: a row for each phase, the rate of each run with its 95% \
interval, and the ratio to the first run's. Phases of one name at one level belong together, also \
where a run has a single variant without a name; of variants that are file systems it meets the \
one it was measured on. A ratio says nothing of chance; below the table stands in which facts the \
runs differ. With --plot charts follow. With --json there is a document for each run, one a line.

--plot draws as wide as the terminal, from 40 to 160 columns, or as wide as COLUMNS says, and 80 \
where the output is no terminal. Without colours a letter at the end of a line tells which it is. \
There are none in a pipe, with NO_COLOR, CLICOLOR=0 or TERM=dumb.

reference:NAME stands for published figures that boatload did not measure; `boatload runs \
--references` lists them. What was not published is missing or null.";

/// Show a stored run or published figures, or several beside each other
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Show {
    #[arg(value_name = "RUN", required = true, num_args = 1..=RUNS_MAX, help = RUN_HELP)]
    runs: Vec<String>,
    /// Show everything: all findings, each phase at each level, warnings with what to do, what the disk saw,
    /// and how the machine was set
    #[arg(long)]
    details: bool,
    /// Show the windows of each phase that has them
    #[arg(long)]
    windows: bool,
    /// Draw the chart that shows the answer; all charts with --details, and of several runs
    #[arg(long)]
    plot: bool,
    /// Write charts, and all with them, in ASCII; the same where the locale is not UTF-8
    #[arg(long, requires = "plot")]
    ascii: bool,
    /// Also write the run document (JSON) to FILE; - writes it instead of the table
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
            books => side_by_side(books, style.as_ref())?,
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
            None => report_text(&analysis, self.details)?,
        };
        if self.windows {
            text.push('\n');
            text.push_str(&rendered("windows", &analysis)?);
        }
        Ok(text)
    }
}

/// All of a run, or its first screen, fitted to the terminal.
fn report_text(analysis: &Analysis<'_>, details: bool) -> Result<String> {
    if details {
        return rendered("details", analysis);
    }
    let columns = terminal_style::output_style(false).columns;
    written("make the first screen", |out| write_screen(analysis, columns, out))
}

/// The text for several runs.
fn side_by_side(books: &[Book], style: Option<&Style>) -> Result<String> {
    let analyses: Vec<Analysis<'_>> = books.iter().map(Analysis::of).collect();
    let all: Vec<&Analysis<'_>> = analyses.iter().collect();
    let mut text = written("put the runs side by side", |out| write_side_by_side(&all, out))?;
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
