//! `boatload show`: a stored run again.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{StorePlace, exit_of, out};
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::measure::book::ResultBook;
use crate::report::find_report;

const EXAMPLES: &str = "\
Examples:
  boatload show last
  boatload show k7m --windows      a unique prefix of an id is enough
  boatload show last --details
  boatload show last --json -";

/// Show a stored run
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Show {
    /// An id, a unique prefix of one, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// Show each phase at each level with all its figures
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
        let none = || Failure::failed("no run is stored there yet: `boatload run` makes the first");
        let store = store.open_to_read()?.ok_or_else(none)?;
        let id = store.find_run(&self.run)?;
        let book = store.load(&id)?;
        // Without levels the table itself has all figures.
        let details = self.details && book.measurements.iter().any(|m| m.cell.level.is_some());
        let more = [("details", details), ("windows", self.windows)];
        let more: Vec<&str> =
            more.iter().filter(|(_, asked)| *asked).map(|(name, _)| *name).collect();
        deliver(&book, self.json.as_deref(), &more)?;
        Ok(exit_of(&book))
    }
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
        std::fs::write(path, rendered("json", book)?)
            .map_err(|error| Failure::from_system(format!("write {}", shown(path)), error))?;
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
