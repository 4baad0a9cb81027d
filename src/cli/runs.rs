//! `boatload runs`: what is stored.

use clap::Args;

use super::{StorePlace, out};
use crate::base::failure::{Exit, Result};
use crate::report::runs_table::runs_table;

const EXAMPLES: &str = "\
Examples:
  boatload runs
  boatload runs --store results.db";

/// List the stored runs, newest first
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(super) struct Runs {}

impl Runs {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let runs = store.open()?.runs()?;
        out::print(&runs_table(&runs))?;
        Ok(Exit::Good)
    }
}
