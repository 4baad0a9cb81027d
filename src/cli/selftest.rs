//! Runs `boatload selftest`: measures how often boatload is right, where the truth is known.

use std::path::PathBuf;

use clap::Args;

use super::job::{Job, percent_within};
use super::out;
use super::progress::{Progress, Quiet};
use crate::analysis::trials::{SimulatedNoise, Tally};
use crate::analysis::twins::ClaimKind;
use crate::base::failure::{Exit, Failure, Result};
use crate::plan::CellPlan;
use crate::report::{
    write_pairs, write_same, write_simulated, write_slowed_twins, write_slower, write_twins,
};
use crate::run::ballast::Headway;
use crate::run::interrupt::Interrupt;
use crate::run::noisy_neighbour::{NoisyNeighbour, make_noise};
use crate::session::RunOrder;
use crate::session::trials::{PairsAsked, pairs, same, simulated, slower, twins};

const EXAMPLES: &str = "\
Examples:
  boatload selftest                              some 20 minutes, in the current directory
  boatload selftest directory --delay 20% --filesystem xfs
  boatload selftest --scenario fullness --filesystem ext4,xfs --runs 40 --noise
  boatload selftest --scenario chunks --delay 20%";

const LONG: &str = "\
Three trials, each of which can be left out with 0:

A against A: pairs of runs that do the same. A difference between them is claimed by chance alone, \
in at most 5% of the comparisons.

A against B: runs in which each variant takes turns with a copy of it of which every request and \
sync takes --delay longer. It should be found, and the intervals should hold the truth.

Simulated: runs of a simulated file system with noise that is skewed, has two modes, or drifts, and \
with known laws and knees. Intervals should hold the truth in 95%.

With --scenario there is one other trial instead: runs of the scenario in which each variant has a \
twin, under another name, that does the same. Counted are findings of each kind that tell twins \
apart: a ranking or a crossover by claiming a difference between them, a knee, a scaling, a slope or \
a growth by stating of one what it excludes for the other. `claims` are all differences and changes \
that these findings state. With --delay only the first variant has a twin, which takes longer, and \
counted is in how many runs the ranking finds it slower, or faster, in each phase, at all levels or at some.

With --pairs there is one other trial instead, on the simulated file system: pairs of separate runs, \
as `compare` and `check` see them, while noise is planted. Counted is how often they claim a difference \
between equal runs, and how often they find that the second takes --delay longer: by `compare` of the two, \
with earlier runs in the store, by `check` against \
the first, against the history, and by one that runs the second again up to --confirm times. --repeats is that \
of each run.

With --noise another process reads and writes 64 KiB at random places of an unnamed file in --dir, \
in two threads and past the page cache, and computes in a third. It works and rests in turns at \
random, as long as the trials take.

`detectable` is the median of the smallest detectable differences, `ratio` how many times as fast the \
second was. Nothing is stored. \
The exit code is 1 if it is beyond chance that boatload is wrong more often than it should be: a \
difference claimed in more than 5% between runs that do the same, the truth held in less than 90%, \
a law or a knee found in less than 90%, or in more than 5% of the runs twins told apart by findings \
of a kind, or the slowed one faster.";

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
    /// How much longer it takes [default: 10%, with --pairs 50%, with --scenario 0%]
    #[arg(long, value_name = "PERCENT", value_parser = percent_within(0.1..=1000.0))]
    delay: Option<f64>,
    /// Runs of each simulated noise and law
    #[arg(long, value_name = "RUNS", default_value_t = 200)]
    simulated: u32,
    /// Run each variant of a scenario or job file twice instead; with --delay the first one
    #[arg(long = "scenario", value_name = "NAME")]
    #[arg(conflicts_with_all = ["scenario", "same", "slower", "simulated"])]
    twins: Option<PathBuf>,
    /// Runs of --scenario
    #[arg(long, value_name = "RUNS", default_value_t = 10, requires = "twins")]
    runs: u32,
    /// Instead compare so many pairs of simulated runs under each planted noise
    #[arg(long, value_name = "PAIRS", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(hide_short_help = true)]
    #[arg(conflicts_with_all = ["scenario", "same", "slower", "simulated", "twins", "noise"])]
    pairs: Option<u32>,
    /// How often a check of --pairs runs a job again
    #[arg(long, value_name = "N", default_value_t = 6, requires = "pairs")]
    #[arg(hide_short_help = true)]
    confirm: u32,
    /// Plant a noisy neighbour that uses the disk and a processor
    #[arg(long)]
    noise: bool,
    #[command(flatten)]
    quiet: Quiet,
    /// Be that neighbour, in this directory
    #[arg(long, value_name = "DIR", hide = true)]
    noise_in: Option<PathBuf>,
}

/// How much longer the slower one of two takes unless it is given, as a share.
const DELAY: f64 = 0.1;

/// The same of pairs of separate runs.
const PAIRS_DELAY: f64 = 0.5;

/// Repeats of each of them unless they are given.
const PAIRS_REPEATS: u32 = 10;

/// More than so many of the claims of a difference where there is none are too many.
const CLAIMS_MAX: f64 = 0.05;

/// Intervals that hold less than this share of the truths are too narrow.
const HELD_MIN: f64 = 0.90;

impl SelfTest {
    pub(super) fn run(mut self) -> Result<Exit> {
        if let Some(directory) = &self.noise_in {
            make_noise(directory, std::io::stdin(), || out::print("\n"))?;
            return Ok(Exit::Good);
        }
        let has_twins = self.twins.is_some();
        self.job.scenario = self.twins.take().or(self.job.scenario.take());
        let plan = self.job.plan()?;
        let (is_slowed, way_out) = match has_twins {
            true => (self.delay.is_some(), "leave out --delay"),
            false => (self.slower > 0 && self.pairs.is_none(), "pass --slower 0"),
        };
        let fixed = |cell: &CellPlan| cell.reads_device() || cell.engine.is_simulated();
        if is_slowed && plan.cells.iter().any(fixed) {
            return Err(Failure::usage(format!(
                "nothing can be slowed down on a block device or the simulated file system; {way_out}"
            )));
        }
        let order = self.job.order(&plan, false)?;
        let interrupt = Interrupt::listen()?;
        let arguments = ["selftest", "--noise-in"];
        let neighbour = || NoisyNeighbour::start(&order.directory, &arguments);
        let neighbour = self.noise.then(neighbour).transpose()?;
        let progress = Progress::plain(None, self.quiet);
        let wrong = match self.pairs {
            Some(number) => self.pairs(number, &order, &progress, &interrupt),
            None if has_twins => self.twins(&order, &progress, &interrupt),
            None => self.trials(&order, &progress, &interrupt),
        };
        drop(progress);
        let stopped = neighbour.map_or(Ok(()), NoisyNeighbour::stop);
        let wrong = wrong?;
        stopped?;
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
        let comes = |what: &str, at: u32, all: u32| show_progress(progress, what, at, all);
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
            let delay = self.delay.unwrap_or(DELAY);
            let slower = slower(order, self.slower, delay, &begins, interrupt)?;
            print_result(progress, |out| write_slower(&slower, delay, out))?;
            if slower.holds_less_than(HELD_MIN) {
                wrong.push(too_seldom("the planted slowdown"));
            }
        }
        if self.simulated > 0 && !interrupt.is_set() {
            let begins = |what: &str| {
                progress.prepares_files(&format!("simulated: {what}"), &Headway::Share(0.0));
            };
            let found = simulated(order, self.simulated, &begins, interrupt)?;
            print_result(progress, |out| {
                write_simulated(&found.noises, &found.laws, self.simulated, out)
            })?;
            let is_seldom =
                |tally: Tally| tally.interval().is_some_and(|share| share.high < HELD_MIN);
            for SimulatedNoise { noise, rate_held, ratio_held } in &found.noises {
                for (what, held) in [("rates", rate_held), ("ratios", ratio_held)] {
                    if is_seldom(*held) {
                        wrong.push(too_seldom(&format!("{what} with {noise} noise")));
                    }
                }
            }
            let missed = found.laws.iter().filter(|law| is_seldom(law.right));
            wrong.extend(
                missed.map(|law| format!("the truth `{}` is not found often enough", law.truth)),
            );
        }
        Ok(wrong)
    }

    /// Does the trial of pairs of simulated runs and prints it; what is wrong beyond chance.
    fn pairs(
        &self,
        number: u32,
        order: &RunOrder<'_>,
        progress: &Progress<'_>,
        interrupt: &Interrupt,
    ) -> Result<Vec<String>> {
        let delay = self.delay.unwrap_or(PAIRS_DELAY);
        let repeats = self.job.repeats().unwrap_or(PAIRS_REPEATS);
        let asked = PairsAsked { number, delay, repeats, confirm: self.confirm };
        let begins = |noise: &str, at: u32| {
            let share = f64::from(at - 1) / f64::from(number);
            progress.prepares_files(&format!("pairs: {noise}"), &Headway::Share(share));
        };
        let found = pairs(order, asked, &begins, interrupt)?;
        print_result(progress, |out| write_pairs(&found, delay, out))?;
        let wrong = found.iter().filter(|trials| trials.claims_more_than(CLAIMS_MAX));
        let wrong =
            wrong.map(|trials| format!("too many claims between equal runs: {}", trials.noise));
        Ok(wrong.collect())
    }

    /// Does the trial of a scenario with twins and prints it; what is wrong beyond chance.
    fn twins(
        &self,
        order: &RunOrder<'_>,
        progress: &Progress<'_>,
        interrupt: &Interrupt,
    ) -> Result<Vec<String>> {
        let begins = |at| show_progress(progress, "twins: run", at, self.runs);
        let found = twins(order, self.runs, self.delay, &begins, interrupt)?;
        let scenario = &order.plan.name;
        print_result(progress, |out| match self.delay {
            Some(delay) => write_slowed_twins(&found, scenario, delay, out),
            None => write_twins(&found, scenario, out),
        })?;
        let wrong = match self.delay {
            Some(_) if found.is_wrong_way_above(CLAIMS_MAX) => {
                vec!["slowed twins are found faster too often".into()]
            }
            Some(_) => Vec::new(),
            None => found.kinds_above(CLAIMS_MAX).into_iter().map(too_often).collect(),
        };
        Ok(wrong)
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

fn too_seldom(what: &str) -> String {
    format!("intervals of {what} do not hold the truth often enough")
}
