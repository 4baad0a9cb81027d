//! `boatload show`: a stored run or published figures, or several beside each other.

use std::path::{Path, PathBuf};

use clap::Args;

use super::runs_named::{RUN_HELP, find_runs};
use super::{StorePlace, exit_of, out};
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::measure::book::ResultBook;
use crate::report::{RUNS_MAX, find_report, write_beside};

const EXAMPLES: &str = "\
Examples:
  boatload show last
  boatload show k7m --windows      a unique prefix of an id is enough
  boatload show last --details
  boatload show last --json -
  boatload show last reference:smallfiles-debian8-ext4      beside each other";

const LONG: &str = "\
Several runs are shown beside each other: a row for each phase, the rate of each run with its 95% \
interval, and the ratio to the first run's. Phases of one name at one level belong together, also \
where a run has a single variant without a name; of variants that are file systems it meets the \
one it was measured on. A ratio says nothing of chance; below the table stands in which facts the \
runs differ. With --json there is a document for each run, one a line.

reference:NAME stands for published figures that boatload did not measure; `boatload runs \
--references` lists them. What was not published is missing or null.";

/// Show a stored run or published figures, or several beside each other
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Show {
    #[arg(value_name = "RUN", required = true, num_args = 1..=RUNS_MAX, help = RUN_HELP)]
    runs: Vec<String>,
    /// Show each phase at each level with all its figures, where the variance is, and how the machine was set
    #[arg(long)]
    details: bool,
    /// Show the windows of each phase that has them
    #[arg(long)]
    windows: bool,
    /// Also write the run document (JSON) to FILE; - writes it instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Show {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let books = find_runs(&self.runs, store)?;
        match books.as_slice() {
            [book] => deliver(book, self.json.as_deref(), &self.more(book))?,
            _ if self.windows || self.details => {
                return Err(Failure::usage(
                    "--windows and --details show one run: name only that one",
                ));
            }
            books => deliver_beside(books, self.json.as_deref())?,
        }
        let invalid = books.iter().any(|book| exit_of(book) == Exit::Invalid);
        Ok(if invalid { Exit::Invalid } else { Exit::Good })
    }

    /// The reports that follow the terminal's.
    fn more(&self, book: &ResultBook) -> Vec<&'static str> {
        // Without levels the table itself has all figures.
        let details = self.details && book.measurements.iter().any(|m| m.cell.level.is_some());
        let variance = self.details && book.run.reference.is_none();
        let more = [
            ("details", details),
            ("variance", variance),
            ("host", self.details),
            ("windows", self.windows),
        ];
        more.iter().filter(|(_, asked)| *asked).map(|(name, _)| *name).collect()
    }
}

/// Gives several runs to the user: the table, a document for each on a line of its own, or both.
fn deliver_beside(books: &[ResultBook], json: Option<&Path>) -> Result<()> {
    let documents = || books.iter().map(|book| rendered("json", book)).collect::<Result<String>>();
    if json == Some(Path::new("-")) {
        return out::print(&documents()?);
    }
    let mut text = Vec::new();
    write_beside(&books.iter().collect::<Vec<_>>(), &mut text)
        .map_err(|error| Failure::from_system("put the runs beside each other", error))?;
    out::print(&String::from_utf8_lossy(&text))?;
    json.map_or(Ok(()), |path| keep(path, &documents()?))
}

pub(super) fn keep(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text)
        .map_err(|error| Failure::from_system(format!("write {}", shown(path)), error))
}

/// Gives a run to the user: the terminal report and more reports after it, the document, or both.
pub(super) fn deliver(book: &ResultBook, json: Option<&Path>, more: &[&str]) -> Result<()> {
    if json == Some(Path::new("-")) {
        return out::print(&rendered("json", book)?);
    }
    out::print(&rendered("terminal", book)?)?;
    for name in more {
        out::print("\n")?;
        out::print(&rendered(name, book)?)?;
    }
    if let Some(path) = json {
        keep(path, &rendered("json", book)?)?;
    }
    Ok(())
}

fn rendered(name: &str, book: &ResultBook) -> Result<String> {
    let mut bytes = Vec::new();
    let report = find_report(name)
        .ok_or_else(|| Failure::usage(format!("there is no report named {name}")))?;
    report
        .render(book, &mut bytes)
        .map_err(|error| Failure::from_system(format!("make the {name} report"), error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
