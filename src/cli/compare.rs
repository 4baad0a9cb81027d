//! Runs `boatload compare`: compares one run with another.

use std::path::PathBuf;

use clap::Args;

use super::common::StorePlace;
use super::out::{print_and_keep, written};
use super::runs::{RUN_HELP, check_each_once, compare_stored, find_run};
use crate::base::failure::{Exit, Result};
use crate::report::{write_comparison, write_comparison_json};

const EXAMPLES: &str = "\
Examples:
  boatload compare k7m last                  is the newest run faster or slower than k7m?
  boatload compare k7m last --details        with the latencies of single operations
  boatload compare last reference:smallfiles-debian8-ext4
  boatload compare k7m last --json -";

const LONG: &str = "\
For each phase that both runs measured, and for the whole job if both did the same work: the rate \
of each, how many times as fast B was with its interval, and a decision. B is `slower`, `faster`, `within 10%` of A, \
or the row is `open`: neither is proven. Of the decisions in the table at most 5% are expected to be wrong. The \
sentences above it state as sure what stays proven if no row at all may be wrong, with 95%. A row that only one side \
measured under background load is open wherever load may be why. With one repeat, or a published value, a row \
has no interval and is open.

The interval is at least as wide as equal runs differ. How much that is, the other runs of the job of A or B in the store \
show, of the same machine and place; without them it is taken to be as much as on other machines.

Rates include the sync at the end of a phase, where its time is known. The exit code is 0 \
whatever is decided; use `boatload check` to act on one.

Runs may differ in anything; what they differ in is listed. Phases of one name at one level belong \
together, as in `boatload show RUN RUN`.";

/// Tell whether one run is faster or slower than another
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Compare {
    #[arg(value_name = "A", help = RUN_HELP)]
    a: String,
    /// The run that is held against A, named in the same way
    #[arg(value_name = "B")]
    b: String,
    /// Also show the latencies of single operations
    #[arg(long)]
    details: bool,
    /// Also write the comparison (JSON) to FILE; - writes it instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Compare {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let words = [self.a.clone(), self.b.clone()];
        let books = [find_run(&self.a, store)?, find_run(&self.b, store)?];
        check_each_once(&words, &books)?;
        let [a, b] = &books;
        let comparison = compare_stored(a, b, store)?;
        let doing = "write the comparison";
        let text = written(doing, |out| write_comparison([a, b], &comparison, self.details, out))?;
        print_and_keep(&text, self.json.as_deref(), || {
            written(doing, |out| write_comparison_json(&comparison, out))
        })?;
        Ok(Exit::Good)
    }
}
