//! Runs `boatload selftest`: counts correct and false claims where the truth is known.

use std::path::PathBuf;

use clap::Args;

use super::job::{Job, percent_within};
use super::out;
use super::progress::{Progress, Quiet};
use boatload_analysis::twins::ClaimKind;
use boatload_base::failure::{Exit, Failure, Result};
use boatload_plan::CellPlan;
use boatload_report::{write_same, write_slower, write_twins};
use boatload_run::ballast::Headway;
use boatload_run::interrupt::Interrupt;
use boatload_session::RunOrder;
use boatload_session::trials::{same, slower, twins};

const EXAMPLES: &str = "\
Examples:
  boatload selftest                              here, some 20 minutes
  boatload selftest directory --delay 20% --filesystem xfs
  boatload selftest --scenario fullness --filesystem ext4,xfs --runs 40";

const LONG: &str = "\
There are two trials. --same 0 or --slower 0 leaves one out.
- --same compares equal runs. A claim of a difference between them is false.
- --slower compares each variant with a copy whose requests take --delay longer. boatload should find it, and its intervals \
should contain the truth.

--scenario runs a scenario with an equal twin of each variant instead: findings that differ between twins are false.

Nothing is stored. The exit code is 1 if, beyond chance, more than 5% of the claims between equal runs are false, or less \
than 90% of the truths are found.";

/// Try boatload on itself, where the truth is known
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct SelfTest {
    #[command(flatten)]
    job: Job,
    /// Pairs of equal runs
    #[arg(long, value_name = "PAIRS", default_value_t = 10)]
    same: u32,
    /// Runs with a slower copy of each variant
    #[arg(long, value_name = "RUNS", default_value_t = 10)]
    slower: u32,
    /// How much longer the slower one takes [default: 10%]
    #[arg(long, value_name = "PERCENT", value_parser = percent_within(0.1..=1000.0))]
    delay: Option<f64>,
    /// Run a scenario or job file with twins instead
    #[arg(long = "scenario", value_name = "NAME")]
    #[arg(conflicts_with_all = ["scenario", "same", "slower", "delay"])]
    twins: Option<PathBuf>,
    /// Runs of --scenario
    #[arg(long, value_name = "RUNS", default_value_t = 10, requires = "twins")]
    runs: u32,
    #[command(flatten)]
    quiet: Quiet,
}

/// How much longer the slower one of two takes unless it is given, as a share.
const DELAY: f64 = 0.1;

/// The highest acceptable share of claims of a difference where there is none.
const CLAIMS_MAX: f64 = 0.05;

/// Intervals that hold less than this share of the truths are too narrow.
const HELD_MIN: f64 = 0.90;

impl SelfTest {
    pub(super) fn run(mut self) -> Result<Exit> {
        let has_twins = self.twins.is_some();
        self.job.scenario = self.twins.take().or(self.job.scenario.take());
        let plan = self.job.plan()?;
        let is_slowed = !has_twins && self.slower > 0;
        let fixed = |cell: &CellPlan| cell.reads_device() || cell.engine.is_simulated();
        if is_slowed && plan.cells.iter().any(fixed) {
            return Err(Failure::usage(
                "nothing can be slowed down on a block device or the simulated file system; pass --slower 0",
            ));
        }
        let order = self.job.order(&plan, false)?;
        let interrupt = Interrupt::listen()?;
        let progress = Progress::new(None, self.quiet);
        let wrong = match has_twins {
            true => self.twins(&order, &progress, &interrupt),
            false => self.trials(&order, &progress, &interrupt),
        };
        drop(progress);
        let wrong = wrong?;
        if interrupt.is_set() {
            out::note("interrupted");
            return Ok(Exit::Interrupted);
        }
        match wrong.as_slice() {
            [] => Ok(Exit::Good),
            wrong => Err(Failure::failed(wrong.join("; "))),
        }
    }

    /// Does the trials and prints each; what is wrong beyond chance.
    fn trials(
        &self,
        order: &RunOrder<'_>,
        progress: &Progress<'_>,
        interrupt: &Interrupt,
    ) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        if self.same > 0 {
            let begins = |at| show_progress(progress, "A against A: pair", at, self.same);
            let same = same(order, self.same, &begins, interrupt)?;
            print_result(progress, |out| write_same(&same, out))?;
            if same.claims_more_than(CLAIMS_MAX) {
                let what = "differences are claimed too often between runs that do the same";
                wrong.push(what.to_string());
            }
        }
        if self.slower > 0 && !interrupt.is_set() {
            let begins = |at| show_progress(progress, "A against B: run", at, self.slower);
            let delay = self.delay.unwrap_or(DELAY);
            let slower = slower(order, self.slower, delay, &begins, interrupt)?;
            print_result(progress, |out| write_slower(&slower, delay, out))?;
            if slower.holds_less_than(HELD_MIN) {
                wrong.push(
                    "intervals of the planted slowdown do not hold the truth often enough".into(),
                );
            }
        }
        Ok(wrong)
    }

    /// Does the trial of a scenario with twins and prints it; what is wrong beyond chance.
    fn twins(
        &self,
        order: &RunOrder<'_>,
        progress: &Progress<'_>,
        interrupt: &Interrupt,
    ) -> Result<Vec<String>> {
        let begins = |at| show_progress(progress, "twins: run", at, self.runs);
        let found = twins(order, self.runs, &begins, interrupt)?;
        let scenario = &order.plan.name;
        print_result(progress, |out| write_twins(&found, scenario, out))?;
        Ok(found.kinds_above(CLAIMS_MAX).into_iter().map(too_often).collect())
    }
}

/// Shows that run `at` of `all` begins, counted from 1.
fn show_progress(progress: &Progress<'_>, what: &str, at: u32, all: u32) {
    let share = f64::from(at - 1) / f64::from(all);
    progress.prepares_files(&format!("{what} {at} of {all}"), &Headway::Share(share));
}

fn too_often(kind: ClaimKind) -> String {
    format!("findings of the kind {kind} tell twins apart too often")
}

/// Prints a result in the place of the progress.
fn print_result(
    progress: &Progress<'_>,
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<()> {
    let text = out::written("write the result", write)?;
    progress.clear_line();
    out::print(&text)
}
