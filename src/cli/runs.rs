//! `boatload runs`: what is stored, and what was published.

use clap::Args;

use super::{StorePlace, out};
use crate::base::failure::{Exit, Failure, Result};
use crate::measure::reference::references;
use crate::report::{write_references, write_runs};

const EXAMPLES: &str = "\
Examples:
  boatload runs
  boatload runs --store results.db
  boatload runs --references       published figures that stand in for a run";

/// List the stored runs, newest first
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Runs {
    /// List the published figures instead, by the name that takes the place of a run
    #[arg(long)]
    references: bool,
}

impl Runs {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        if self.references {
            let mut text = Vec::new();
            write_references(&references(), &mut text)
                .map_err(|e| Failure::from_system("list the published figures", e))?;
            out::print(&String::from_utf8_lossy(&text))?;
            return Ok(Exit::Good);
        }
        let runs = store.open_to_read()?.map_or_else(|| Ok(Vec::new()), |store| store.runs())?;
        let mut text = Vec::new();
        write_runs(&runs, &mut text).map_err(|e| Failure::from_system("list the runs", e))?;
        out::print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Good)
    }
}
