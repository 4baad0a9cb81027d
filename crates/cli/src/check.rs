//! Runs `boatload check`: exits with a code of its own if a run is slower than the limit allows.

use std::path::PathBuf;

use clap::Args;

use super::common::StorePlace;
use super::completion;
use super::job::percent_within;
use super::out::{print_and_keep, written};
use super::progress::Quiet;
use super::run::Run;
use super::runs::{check_each_once, earlier_runs, find_run, nothing_in_common, other_runs};
use boatload_analysis::compare::{BaselineRuns, Check, CheckVerdict, UnlikeRun};
use boatload_analysis::figures::RunFigures;
use boatload_analysis::history::HISTORY_RUNS;
use boatload_base::failure::{Exit, Failure, Result};
use boatload_report::{write_check, write_check_json};
use boatload_results::book::Book;
use boatload_run::interrupt::Interrupt;

/// Stands for all earlier runs of the same on the same. No id or tag is like it.
const HISTORY: &str = "history";

const EXAMPLES: &str = "\
Examples:
  boatload check last --baseline k7m           fails if more than 5% slower
  boatload check last --baseline history       than the runs before it
  boatload check last --baseline history --details     with all rows
  boatload check last --baseline history --confirm 3   run again before it fails
  boatload run && boatload check last --baseline history --fail-on 10%";

const LONG: &str = "\
There is a row for each phase, and for the whole job if all did the same work: `REGRESSION` if it is proven to take \
more than --fail-on longer, `ok` if it is proven to take less, otherwise `unsure`; `other work` where both did not do the same. Both need Holm's test (5% for any wrong row) \
and the interval of the row. What only this run measured under background load is no regression.

With --confirm N a run that is or looks too slow is done again first, up to N times, with its own options and in the current \
directory, unless it had --dir. It fails only if all of these runs together are too slow. Runs that were imported, measured \
elsewhere, or had --erase or --fill-real are not done again.

The history is the earlier complete runs of the same job on the same machine, file system and device; kernels and versions of \
boatload may differ. The baseline of a phase is the runs since its last step: a change that stays for three runs is the new one.

Exit codes: 3 if a row is a regression; else 4 if the run is unfinished, or all that it measured of a row is invalid; \
with --fail-on-unsure 4 also if nothing is proven or there is nothing to compare with; else 0.";

/// Tell by the exit code whether a run is slower than a baseline
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct CheckCommand {
    /// The run that is checked: an id, a prefix of one, a tag, or `last`
    #[arg(value_name = "RUN", add = completion::runs())]
    run: String,
    /// A run, or `history` for the earlier runs of the same job
    #[arg(long, value_name = "RUN|history", add = completion::baselines())]
    baseline: String,
    /// How much longer it may take
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent_within(0.01..=1000.0))]
    fail_on: f64,
    /// Exit 4 if nothing is proven, or there is nothing to compare with
    #[arg(long)]
    fail_on_unsure: bool,
    /// Use this many of the newest equal runs at most
    #[arg(long, value_name = "N", default_value_t = HISTORY_RUNS, value_parser = clap::value_parser!(u32).range(1..))]
    last: u32,
    /// Run the job again up to N times where it is or looks too slow
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    confirm: Option<u32>,
    #[command(flatten)]
    quiet: Quiet,
    /// Show all rows, and in what the runs differ
    #[arg(long)]
    details: bool,
    /// Also write the check (JSON) to FILE; - writes it instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl CheckCommand {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        let run = measured(&self.run, store)?;
        if self.baseline == HISTORY {
            return self.against_history(&run, store);
        }
        let baseline = measured(&self.baseline, store)?;
        let (words, books) = ([self.run.clone(), self.baseline.clone()], [run, baseline]);
        check_each_once(&words, &books)?;
        let [run, baseline] = &books;
        // Later ones may be the same regression once more.
        let others = other_runs([baseline, run], store, self.last, Some(run))?;
        let others: Vec<RunFigures<'_>> = others.iter().map(RunFigures::of).collect();
        self.judge(run, BaselineRuns::Run(&RunFigures::of(baseline)), &others, store)
    }

    fn against_history(&self, run: &Book, store: &StorePlace) -> Result<Exit> {
        let earlier = earlier_runs(run, store, self.last)?;
        earlier.note_unreadable();
        let runs: Vec<RunFigures<'_>> = earlier.runs.iter().map(RunFigures::of).collect();
        let baseline = BaselineRuns::History(&runs);
        if runs.is_empty() {
            let nothing = Check::of_runs(&[&RunFigures::of(run)], baseline, &[], self.fail_on);
            let unlike = earlier.unlike.map(|other| UnlikeRun::new(&other, run));
            return self.deliver(Check { unlike, ..nothing }, run, baseline);
        }
        self.judge(run, baseline, &[], store)
    }

    fn judge(
        &self,
        run: &Book,
        baseline: BaselineRuns<'_>,
        others: &[RunFigures<'_>],
        store: &StorePlace,
    ) -> Result<Exit> {
        let check_of =
            |runs: &[&RunFigures<'_>]| Check::of_runs(runs, baseline, others, self.fail_on);
        let mut check = check_of(&[&RunFigures::of(run)]);
        if let Some(most) = self.confirm.filter(|_| check.wants_more_runs()) {
            check = self.confirmed(most, run, check_of, store)?;
        }
        if check.rows().next().is_none() {
            let baseline = baseline.analyses().last().map_or(run, |newest| newest.book);
            return Err(nothing_in_common(baseline, run));
        }
        self.deliver(check, run, baseline)
    }

    /// What `check` says of a run that is or looks too slow together with more runs of the same, up to `most`: until
    /// they do not look so.
    fn confirmed(
        &self,
        most: u32,
        run: &Book,
        check: impl Fn(&[&RunFigures<'_>]) -> Check,
        store: &StorePlace,
    ) -> Result<Check> {
        let interrupt = Interrupt::listen()?;
        let mut again: Vec<Book> = Vec::new();
        loop {
            let (id, number) = (&run.run.id, again.len() + 1);
            let why = format!("{id} looks too slow: running it again ({number} of at most {most})");
            again.push(Run::again(run, &why, store, self.quiet, &interrupt)?);
            let all: Vec<RunFigures<'_>> =
                [run].into_iter().chain(&again).map(RunFigures::of).collect();
            let all: Vec<&RunFigures<'_>> = all.iter().collect();
            let check = check(&all);
            let is_over = again.len() == most as usize;
            if is_over || !check.wants_more_runs() {
                return Ok(check);
            }
        }
    }

    fn deliver(&self, check: Check, run: &Book, baseline: BaselineRuns<'_>) -> Result<Exit> {
        let check = Check { fail_on_unsure: self.fail_on_unsure, ..check };
        let doing = "write the check";
        let text = written(doing, |out| write_check(run, baseline, &check, self.details, out))?;
        print_and_keep(&text, self.json.as_deref(), || {
            written(doing, |out| write_check_json(&check, out))
        })?;
        Ok(match check.verdict() {
            CheckVerdict::Regression => Exit::Regression,
            CheckVerdict::Incomplete => Exit::Invalid,
            CheckVerdict::Unsure | CheckVerdict::Nothing if self.fail_on_unsure => Exit::Invalid,
            CheckVerdict::Unsure | CheckVerdict::Nothing | CheckVerdict::Ok => Exit::Good,
        })
    }
}

/// A run that boatload measured.
fn measured(word: &str, store: &StorePlace) -> Result<Book> {
    let book = find_run(word, store)?;
    if book.run.reference.is_none() {
        return Ok(book);
    }
    Err(Failure::usage(format!(
        "{word} was published, not measured here: another machine's figures are no bound for this \
         one. `boatload compare` puts them against a run"
    )))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::{Arguments, Command};

    fn parsed(words: &[&str]) -> CheckCommand {
        let words = ["boatload", "check", "last"].iter().chain(words);
        let Some(Command::Check(stored)) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("another command");
        };
        stored.command
    }

    #[test]
    fn the_default_limit_is_the_one_that_pairs_of_runs_are_tried_with() {
        let command = parsed(&["--baseline", "history"]);
        assert!((command.fail_on - 0.05).abs() < 1e-12);
    }
}
