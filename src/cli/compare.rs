//! `boatload compare`: one run against another.

use std::path::{Path, PathBuf};

use clap::Args;

use super::files::write_file;
use super::history::others;
use super::runs_named::{RUN_HELP, find_runs};
use super::{StorePlace, out};
use crate::base::failure::{Exit, Failure, Result};
use crate::measure::compare::compare_among;
use crate::measure::history::HISTORY_RUNS;
use crate::report::{write_comparison, write_comparison_json};

const EXAMPLES: &str = "\
Examples:
  boatload compare k7m last                  is the newest run faster or slower than k7m?
  boatload compare k7m last --details        with the latencies of single operations
  boatload compare last reference:smallfiles-debian8-ext4
  boatload compare k7m last --json -";

const LONG: &str = "\
For each phase that both runs measured, and for the whole job if both did the same work: the rate \
of each, how many times as fast B was, a 95% interval of that, and a verdict. The interval is from the \
repeats of both; if the store has other runs of the same job on the same machine and place, it is at \
least as wide as two such runs lie apart. `faster` and `slower` are told when the interval excludes 1. `no difference seen` comes \
with the least difference that would have been seen. `cannot tell` stands where one figure is \
known and not how far it may be off.

Rates are without the sync at the end of a phase only if neither run has one. The exit code is 0 \
whatever the verdicts; `boatload check` is for deciding by one.

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
        let books = find_runs(&[self.a.clone(), self.b.clone()], store)?;
        let [a, b] = books.as_slice() else {
            return Err(Failure::usage("a comparison needs two runs"));
        };
        if a.run.id == b.run.id {
            return Err(Failure::usage(format!(
                "{} and {} are the same run; `boatload runs` lists the others",
                self.a, self.b
            )));
        }
        let others = others([a, b], store, HISTORY_RUNS, None)?;
        let comparison = compare_among(a, b, &others.iter().collect::<Vec<_>>());
        let cannot = |error| Failure::from_system("write the comparison", error);
        let (mut text, mut document) = (Vec::new(), Vec::new());
        write_comparison([a, b], &comparison, self.details, &mut text).map_err(cannot)?;
        write_comparison_json([a, b], &comparison, &mut document).map_err(cannot)?;
        let document = String::from_utf8_lossy(&document);
        if self.json.as_deref() == Some(Path::new("-")) {
            out::print(&document)?;
            return Ok(Exit::Good);
        }
        out::print(&String::from_utf8_lossy(&text))?;
        self.json.as_deref().map_or(Ok(()), |path| write_file(path, &document))?;
        Ok(Exit::Good)
    }
}
