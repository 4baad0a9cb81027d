//! Runs `boatload check`: exits with a code of its own if a run is slower than the limit allows.

use std::path::PathBuf;

use clap::Args;

use super::common::StorePlace;
use super::job::percent_within;
use super::out::{print_and_keep, written};
use super::progress::Quiet;
use super::run::Run;
use super::runs::{check_each_once, earlier_runs, find_run, other_runs};
use crate::analysis::compare::{BaselineRuns, Check, CheckOutcome};
use crate::analysis::figures::RunFigures;
use crate::analysis::history::HISTORY_RUNS;
use crate::base::failure::{Exit, Failure, Result, shown};
use crate::base::units::counted;
use crate::report::{write_check, write_check_json};
use crate::results::book::Book;
use crate::run::interrupt::Interrupt;

/// Stands for all earlier runs of the same on the same. No id or tag is like it.
const HISTORY: &str = "history";

const EXAMPLES: &str = "\
Examples:
  boatload check last --baseline k7m2n8p4         fails if more than 5% slower
  boatload check last --baseline history          than the runs before it
  boatload check last --baseline history --show   with a table of those runs
  boatload check last --baseline history --confirm 3    run again before it fails
  boatload run smallfiles --dir /mnt/x && boatload check last --baseline history --fail-on 10%";

const LONG: &str = "\
There is a row for each phase, and for the whole job if all did the same work: `REGRESSION` if it is proven to take \
more than --fail-on longer; `ok` if it is proven to take less; otherwise `unsure`. With 95% no row is a false REGRESSION, \
however many rows there are, and the same holds for `ok` (Holm). Against one run the other earlier runs of its job or of the \
baseline's show how much equal runs differ; without them it is taken to be as much as on other machines. Repeats under \
background load do not count if 3 or more are without it. What was measured under it, unlike its baseline, is no \
regression but `unsure`.

With --confirm N a run that would fail, or is unsure and looks slower than --fail-on allows, is done again \
first, up to N times, with the options that it had: in \
the current directory, unless it had --dir. The new runs are kept. It fails only if the regression holds over \
all of them. Nothing is run if the run was imported, if the machine, the file system, the device or the directory \
is another one than the run's, or if the run had --erase or --fill-real.

The history is the earlier complete runs of the same scenario, scale, parameters and job on a \
machine, file system (with or without a journal) and device like this run's; kernels and versions \
of boatload may differ. Of each phase the baseline is the runs since its last step, so a change that \
stays for three runs is the new baseline. `history` is never the id or tag of a run.

Exit code 3 if a row is a regression; else 4 if the run is not complete, or all that it measured of a row is \
invalid; else 0.";

/// Tell by the exit code whether a run is slower than a baseline
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct CheckCommand {
    /// The run that is checked: an id, a unique prefix of one, a tag, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// What it is held against: a run, or `history` for the earlier ones of the same on the same
    #[arg(long, value_name = "RUN|history")]
    baseline: String,
    /// How much longer it may take
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent_within(0.01..=1000.0))]
    fail_on: f64,
    /// Use at most so many of the newest runs of the history
    ///
    /// With a single baseline, so many other runs of the same job, which show how much equal runs differ.
    #[arg(long, value_name = "N", default_value_t = HISTORY_RUNS, value_parser = clap::value_parser!(u32).range(1..))]
    last: u32,
    /// Run the job again up to N times where it is or looks too slow
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    confirm: Option<u32>,
    #[command(flatten)]
    quiet: Quiet,
    /// Show the history of each row, with its steps; with --baseline history
    #[arg(long)]
    show: bool,
    /// Also write the check (JSON) to FILE; - writes it instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl CheckCommand {
    pub(super) fn run(&self, store: &StorePlace) -> Result<Exit> {
        if self.show && self.baseline != HISTORY {
            return Err(Failure::usage("--show shows a history: it takes --baseline history"));
        }
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
            self.deliver(&nothing, &nothing_earlier(run, earlier.unlike))?;
            return Ok(if run.run.complete { Exit::Good } else { Exit::Invalid });
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
        let mut check = Check::of_runs(&[&RunFigures::of(run)], baseline, others, self.fail_on);
        if let Some(most) = self.confirm.filter(|_| check.wants_more_runs()) {
            check = self.confirmed(
                most,
                run,
                |runs| Check::of_runs(runs, baseline, others, self.fail_on),
                store,
            )?;
        }
        if check.rows().next().is_none() {
            return Err(Failure::usage(format!(
                "{} and {} have no phase in common, so there is nothing to check",
                self.run, self.baseline
            )));
        }
        let text =
            written("write the check", |out| write_check(run, baseline, &check, self.show, out))?;
        self.deliver(&check, &text)?;
        Ok(exit(&check))
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

    fn deliver(&self, check: &Check, text: &str) -> Result<()> {
        print_and_keep(text, self.json.as_deref(), || {
            written("write the check", |out| write_check_json(check, out))
        })
    }
}

fn nothing_earlier(run: &Book, unlike: u64) -> String {
    let (scenario, id) = (shown(&run.run.scenario), &run.run.id);
    let next = match run.run.complete {
        true => "The next run will be compared with this one.\n".to_string(),
        false => format!(
            "The next run will not be compared with this one either, which is not complete: `{}`\n\
             goes on with it.\n",
            shown(run.run.resume_command())
        ),
    };
    let unlike = match unlike {
        0 => String::new(),
        n => format!(
            "Left out: {}, with another job, parameters, ranks, machine or place;\n\
             `boatload compare` says which.\n",
            counted(n, "earlier run")
        ),
    };
    format!(
        "Nothing was checked: no earlier complete run of {scenario} is like {id}.\n{unlike}{next}"
    )
}

fn exit(check: &Check) -> Exit {
    let any = |outcome| !check.with(outcome).is_empty();
    if any(CheckOutcome::Regression) {
        Exit::Regression
    } else if !check.comparison.b.complete || any(CheckOutcome::Invalid) {
        Exit::Invalid
    } else {
        Exit::Good
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
    use crate::analysis::thresholds::FAIL_ON_DEFAULT;
    use crate::cli::{Arguments, Command};

    fn parsed(words: &[&str]) -> CheckCommand {
        let words = ["boatload", "check", "last"].iter().chain(words);
        let Command::Check(stored) = Arguments::try_parse_from(words).unwrap().command else {
            panic!("another command");
        };
        stored.command
    }

    #[test]
    fn the_default_limit_is_the_one_that_pairs_of_runs_are_tried_with() {
        let command = parsed(&["--baseline", "history"]);
        assert!((command.fail_on - FAIL_ON_DEFAULT).abs() < 1e-12);
    }

    #[test]
    fn one_run_as_a_baseline_has_no_history_to_show() {
        let nowhere = StorePlace { store: Some("/nonexistent/boatload.db".into()) };
        let failure = parsed(&["--baseline", "k7m", "--show"]).run(&nowhere).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage, "{failure:?}");
        assert!(failure.sentence.contains("--baseline history"), "{failure:?}");
    }
}
