//! Runs `boatload compare`: compares one run with another.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::common::StorePlace;
use super::completion;
use super::out::{print_and_keep, written};
use super::runs::{RUN_HELP, check_each_once, compare_stored, find_run, nothing_in_common};
use boatload_analysis::compare::Comparison;
use boatload_base::failure::{Exit, Result};
use boatload_report::{write_comparison, write_comparison_json};
use boatload_results::book::Book;

const EXAMPLES: &str = "\
Examples:
  boatload compare k7m last                  is the newest run faster or slower than k7m?
  boatload compare k7m last --details        all rows, latencies, and in what the runs differ
  boatload compare last reference:smallfiles-debian8-ext4
  boatload compare k7m last --json -";

const LONG: &str = "\
There is a row for each phase, and for the whole job if both did the same work: the rates of A and B with the sync at the end of \
a phase, how many times as long B took, its interval, and whether B is proven to be `slower`, `faster` or `within 10%` of A. Of \
what is proven at most 5% is expected to be wrong. Where one side alone was measured under background load, only what load \
cannot cause is proven. One repeat proves nothing.

How much equal runs differ, which no interval falls below, is known from the other runs of the job of A or B on the same machine \
and place; without them it is taken from other machines.

Runs may differ in anything; --details lists the facts in which they differ. The exit code is 0 whatever is proven, and 1 if the runs \
have no row in common. `boatload check` acts on a slowdown.";

/// Tell whether one run is faster or slower than another
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Compare {
    #[arg(value_name = "A", help = RUN_HELP, add = completion::runs())]
    a: String,
    /// The run that is held against A, named in the same way
    #[arg(value_name = "B", add = completion::runs())]
    b: String,
    /// Show all rows, the latencies of single operations, and in what the runs differ
    #[arg(long)]
    details: bool,
    /// Also write the comparison (JSON) to FILE; - writes it instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What a comparison of runs with the first says.
pub(super) fn comparison_text(
    books: &[Book],
    comparisons: &[Comparison],
    details: bool,
) -> Result<String> {
    let books: Vec<&Book> = books.iter().collect();
    written("write the comparison", |out| write_comparison(&books, comparisons, details, out))
}

impl Compare {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let words = [self.a.clone(), self.b.clone()];
        let books = [find_run(&self.a, store)?, find_run(&self.b, store)?];
        check_each_once(&words, &books)?;
        let comparisons = compare_stored(&books, store)?;
        if comparisons.iter().all(|all| all.in_both().next().is_none()) {
            return Err(nothing_in_common(&books[0], &books[1]));
        }
        let text = comparison_text(&books, &comparisons, self.details)?;
        print_and_keep(&text, self.json.as_deref(), || {
            let write = |out: &mut dyn Write| {
                comparisons.iter().try_for_each(|one| write_comparison_json(one, out))
            };
            written("write the comparison", write)
        })?;
        Ok(Exit::Good)
    }
}
