//! `boatload runs`: what is stored.

use clap::Args;

use super::{StorePlace, out};
use crate::base::failure::{Exit, Failure, Result};
use crate::report::write_runs;

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
        let runs = store.open_to_read()?.map_or_else(|| Ok(Vec::new()), |store| store.runs())?;
        let mut text = Vec::new();
        write_runs(&runs, &mut text).map_err(|e| Failure::from_system("list the runs", e))?;
        out::print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Good)
    }
}
