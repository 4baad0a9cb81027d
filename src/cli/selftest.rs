//! Runs `boatload selftest`: measures how often boatload is right, where the truth is known.

use clap::Args;

use super::job::{Job, percent_within};
use super::out;
use super::progress::Progress;
use crate::base::failure::{Exit, Failure, Result};
use crate::plan::CellPlan;
use crate::report::{write_same, write_simulated, write_slower};
use crate::run::ballast::Headway;
use crate::run::interrupt::Interrupt;
use crate::session::RunOrder;
use crate::session::trials::{same, simulated, slower};

const EXAMPLES: &str = "\
Examples:
  boatload selftest                              some 20 minutes, in the current directory
  boatload selftest --same 200 --slower 0 --simulated 0
  boatload selftest directory --delay 20% --filesystem xfs
  boatload selftest --set files=2k --set selected=500 --repeats 5";

const LONG: &str = "\
Three trials, each of which can be left out with 0:

A against A: pairs of runs that do the same. A difference between them is claimed by chance alone, \
in at most 5% of the comparisons.

A against B: runs in which each variant takes turns with a copy of it of which every request and \
sync takes --delay longer. It should be found, and the intervals should hold the truth.

Simulated: runs of a simulated file system with noise that is skewed, has two modes, or drifts, and \
with known laws and knees. Intervals should hold the truth in 95%.

`detectable` is the median of the smallest detectable differences, `ratio` how many times as fast the \
second was. Nothing is stored. \
The exit code is 1 if it is beyond chance that boatload is wrong more often than it should be: a \
difference claimed in more than 5% between runs that do the same, or the truth held in less than \
90%.";

/// Try boatload on itself, where the truth is known
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct SelfTest {
    #[command(flatten)]
    job: Job,
    /// Pairs of runs that do the same
    #[arg(long, value_name = "PAIRS", default_value_t = 10)]
    same: u32,
    /// Runs of two in turns, of which one is slower
    #[arg(long, value_name = "RUNS", default_value_t = 10)]
    slower: u32,
    /// How much longer it takes
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = percent_within(0.1..=1000.0))]
    delay: f64,
    /// Runs of each kind of noise and law of the simulated file system
    #[arg(long, value_name = "RUNS", default_value_t = 200)]
    simulated: u32,
}

/// More than so many of the claims of a difference where there is none are too many.
const CLAIMS_MAX: f64 = 0.05;

/// Intervals that hold less than this share of the truths are too narrow.
const HELD_MIN: f64 = 0.90;

impl SelfTest {
    pub(super) fn run(&self) -> Result<Exit> {
        let plan = self.job.plan()?;
        let fixed = |cell: &CellPlan| cell.reads_device() || cell.engine.is_simulated();
        if self.slower > 0 && plan.cells.iter().any(fixed) {
            let sentence = "nothing can be slowed down on a block device or the simulated file \
                            system; pass --slower 0";
            return Err(Failure::usage(sentence));
        }
        let order = self.job.order(&plan, false)?;
        let interrupt = Interrupt::listen()?;
        let progress = Progress::plain(None);
        let wrong = self.trials(&order, &progress, &interrupt);
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
        progress: &Progress,
        interrupt: &Interrupt,
    ) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        let says = |text: &str, share: f64| progress.prepares_files(text, &Headway::Share(share));
        let comes = |what: &str, at: u32, all: u32| {
            says(&format!("{what} {at} of {all}"), f64::from(at - 1) / f64::from(all));
        };
        if self.same > 0 {
            let begins = |at| comes("A against A: pair", at, self.same);
            let same = same(order, self.same, &begins, interrupt)?;
            print_result(progress, |out| write_same(&same, out))?;
            if same.claims_more_than(CLAIMS_MAX) {
                let what = "differences are claimed too often between runs that do the same";
                wrong.push(what.to_string());
            }
        }
        if self.slower > 0 && !interrupt.is_set() {
            let begins = |at| comes("A against B: run", at, self.slower);
            let slower = slower(order, self.slower, self.delay, &begins, interrupt)?;
            print_result(progress, |out| write_slower(&slower, self.delay, out))?;
            if slower.holds_less_than(HELD_MIN) {
                wrong.push(too_seldom("the planted slowdown"));
            }
        }
        if self.simulated > 0 && !interrupt.is_set() {
            let begins = |what: &str| says(&format!("simulated: {what}"), 0.0);
            let found = simulated(order, self.simulated, &begins, interrupt)?;
            print_result(progress, |out| {
                write_simulated(&found.noises, &found.laws, self.simulated, out)
            })?;
            for noise in &found.noises {
                let what = format!("rates with {} noise", noise.noise);
                if noise.rate_held.interval().is_some_and(|share| share.high < HELD_MIN) {
                    wrong.push(too_seldom(&what));
                }
            }
        }
        Ok(wrong)
    }
}

/// Prints a result in the place of the progress.
fn print_result(
    progress: &Progress,
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<()> {
    let text = out::written("write the result", write)?;
    progress.clear_line();
    out::print(&text)
}

fn too_seldom(what: &str) -> String {
    format!("intervals of {what} do not hold the truth often enough")
}
