//! Counts claimed differences between separate runs of the simulated file system, under planted noise.
#![expect(clippy::print_stdout, reason = "a test prints what it found")]

use crate::analysis::compare::{BaselineRuns, Check, CheckOutcome, compare_beside};
use crate::analysis::effects::decide::Decision;
use crate::analysis::figures::RunFigures;
use crate::analysis::history::HISTORY_RUNS;
use crate::analysis::trials::Tally;
use crate::base::failure::{Failure, Result};
use crate::plan::filesystem::Volume;
use crate::plan::{Settings, read_job};
use crate::results::book::Book;
use crate::run::interrupt::Interrupt;
use crate::session::RunOrder;
use crate::session::trials::alone;

/// Three phases, so long that background load is seen in them.
const JOB: &str = "\
name = 'pairs'
engine = 'sim'
[tree]
files = 100
[[phase]]
operation = 'create'
[[phase]]
operation = 'read'
[[phase]]
operation = 'delete'
[sim]
metadata = '3ms'
transfer = '3ms'
sync = '50ms'
";

/// A noise that is planted, and the keys of the simulation that plant it.
struct PlantedNoise {
    name: &'static str,
    sim: &'static str,
}

const PLANTED: [PlantedNoise; 5] = [
    PlantedNoise {
        name: "quiet",
        sim: "noise = 'skewed'\nspread = { passes = 3, repeats = 3, runs = 3 }\n",
    },
    PlantedNoise {
        name: "runs differ, two modes",
        sim: "noise = 'bimodal'\nspread = { passes = 5, repeats = 5, runs = 8 }\n",
    },
    PlantedNoise {
        name: "drift",
        sim: "noise = 'drifting'\ndrift = '2000%'\nspread = { passes = 5, repeats = 5, runs = 5 }\n",
    },
    PlantedNoise {
        name: "neighbour comes and goes",
        sim: "noise = 'skewed'\nspread = { passes = 5, repeats = 5, runs = 5 }\n\
              neighbour = { share = 40, factor = 2 }\n",
    },
    PlantedNoise {
        name: "neighbour stays",
        sim: "noise = 'skewed'\nspread = { passes = 10, repeats = 10, runs = 20 }\n\
              neighbour = { share = 100, factor = 2 }\n",
    },
];

/// The slowdown that a check accepts, as a share: the default of `--fail-on`.
const FAIL_ON: f64 = 0.05;

/// Runs that are in the store before the first pair.
const EARLIER_RUNS: usize = 6;

/// Pairs of runs that are to be done.
#[derive(Clone, Copy)]
struct PairsAsked {
    /// Pairs of equal runs for each noise, and as many pairs whose second run takes longer.
    number: u32,
    /// By this share.
    delay: f64,
    /// Repeats of each run.
    repeats: u32,
    /// How often a check runs a job again.
    confirm: u32,
}

/// Does them for each planted noise.  Ends early when it is interrupted.
fn pairs(
    order: &RunOrder<'_>,
    asked: PairsAsked,
    interrupt: &Interrupt,
) -> Result<Vec<PairTrials>> {
    let mut all = Vec::new();
    for noise in PLANTED {
        let job = format!("{JOB}{}", noise.sim);
        let mut trials = PairTrials { noise: noise.name, ..PairTrials::default() };
        let jobs = SimulatedJob { order, job, asked, seed: 0, interrupt };
        let mut runs = StoredRuns { jobs, earlier: Vec::new() };
        for _ in 0..EARLIER_RUNS {
            runs.earlier.extend(runs.jobs.run(false)?);
        }
        for _ in 0..asked.number {
            if !runs.add_pair(false, &mut trials.equal)?
                || !runs.add_pair(true, &mut trials.slower)?
            {
                return Ok(all);
            }
        }
        all.push(trials);
    }
    Ok(all)
}

/// A simulated job; each run has a seed of its own.
struct SimulatedJob<'a> {
    order: &'a RunOrder<'a>,
    job: String,
    asked: PairsAsked,
    seed: u64,
    interrupt: &'a Interrupt,
}

/// Runs of the job, and those that are taken to be in the store.
struct StoredRuns<'a> {
    jobs: SimulatedJob<'a>,
    earlier: Vec<Book>,
}

impl SimulatedJob<'_> {
    /// Runs it, with the slowdown or without it; `None` when it was interrupted.
    fn run(&mut self, is_slow: bool) -> Result<Option<Book>> {
        self.seed += 1;
        let times = if is_slow { 1.0 + self.asked.delay } else { 1.0 };
        let longer = |ns: &mut u64| *ns = (*ns as f64 * times).round() as u64;
        let repeats = Some(self.asked.repeats);
        let settings = Settings { seed: Some(self.seed), repeats, ..Settings::default() };
        let mut plan = read_job(&self.job, &settings)
            .map_err(|problems| Failure::failed(problems.report("a simulated job")))?;
        for cell in &mut plan.cells {
            let sim = &mut cell.sim;
            [&mut sim.metadata_ns, &mut sim.transfer_ns, &mut sim.sync_ns]
                .into_iter()
                .for_each(longer);
        }
        let order = RunOrder { plan: &plan, place: Volume::default(), ..self.order.clone() };
        Ok(alone(&order, self.interrupt)?.map(|mut book| {
            book.run.id = self.seed.to_string();
            // No latency is compared.
            book.measurements.iter_mut().for_each(|m| m.histogram.clear());
            book
        }))
    }
}

impl StoredRuns<'_> {
    /// Counts the claims about one pair, and stores its runs for later pairs if both are equal; false if it was
    /// interrupted.
    fn add_pair(&mut self, is_slow: bool, shares: &mut PairShares) -> Result<bool> {
        let (a, b) = (self.jobs.run(false)?, self.jobs.run(is_slow)?);
        let (Some(a), Some(b)) = (a, b) else { return Ok(false) };
        let known = self.earlier.len().saturating_sub(HISTORY_RUNS as usize);
        let earlier: Vec<RunFigures<'_>> =
            self.earlier[known..].iter().map(RunFigures::of).collect();
        let [of_a, of_b] = [&a, &b].map(RunFigures::of);
        for (others, tally) in
            [(&[][..], &mut shares.compare), (&earlier, &mut shares.compare_stored)]
        {
            let found = compare_beside(&of_a, &of_b, others, &[]);
            let has = |decision| !found.with(decision).is_empty();
            let is_slower = has(Decision::Longer);
            tally.count(if is_slow { is_slower } else { is_slower || has(Decision::Shorter) });
        }
        let check =
            |runs: &[&RunFigures<'_>], baseline| Check::of_runs(runs, baseline, &[], FAIL_ON);
        let is_alarm = |check: &Check| !check.with(CheckOutcome::Regression).is_empty();
        shares.check.count(is_alarm(&check(&[&of_b], BaselineRuns::Run(&of_a))));
        let history = BaselineRuns::History(&earlier);
        let mut found = check(&[&of_b], history);
        shares.check_history.count(is_alarm(&found));
        let (mut again, mut alarms) = (Vec::new(), Vec::new());
        while found.wants_more_runs() && again.len() < self.jobs.asked.confirm as usize {
            let Some(book) = self.jobs.run(is_slow)? else { return Ok(false) };
            again.push(book);
            let more: Vec<RunFigures<'_>> = again.iter().map(RunFigures::of).collect();
            found = check(&[&of_b].into_iter().chain(&more).collect::<Vec<_>>(), history);
            alarms.push(is_alarm(&found));
        }
        shares.count_confirmed(&alarms, self.jobs.asked.confirm as usize);
        if !is_slow {
            self.earlier.extend([a, b]);
        }
        Ok(true)
    }
}

/// How often something was found in pairs of separate runs.
#[derive(Clone, Debug, Default, PartialEq)]
struct PairShares {
    /// By a comparison of the two alone.
    compare: Tally,
    /// By a comparison that knows earlier runs of the same.
    compare_stored: Tally,
    /// By a check of the second against the first.
    check: Tally,
    /// By a check of the second against the history.
    check_history: Tally,
    /// By a check against the history that runs the job again up to once, up to twice, and so on.
    confirmed: Vec<Tally>,
}

impl PairShares {
    /// Counts a check that alarmed, or not, after each of the runs that it took; after fewer than it could, because
    /// it looked well, it stays without an alarm.
    fn count_confirmed(&mut self, alarms: &[bool], most: usize) {
        self.confirmed.resize(most.max(self.confirmed.len()), Tally::default());
        let last = alarms.last().copied().unwrap_or(false);
        for (at, tally) in self.confirmed.iter_mut().enumerate() {
            tally.count(alarms.get(at).copied().unwrap_or(last));
        }
    }
}

/// Pairs of separate runs under one kind of planted noise.
#[derive(Clone, Debug, Default, PartialEq)]
struct PairTrials {
    /// The noise, for people.
    noise: &'static str,
    /// How often any difference, or regression, was claimed between equal runs.
    equal: PairShares,
    /// How often any row was found slower where the second took longer.
    slower: PairShares,
}

#[test]
fn equal_runs_are_told_apart_in_few_pairs_and_a_slowdown_by_half_is_found() {
    let plan = read_job(JOB, &Settings::default()).unwrap();
    let order = RunOrder {
        plan: &plan,
        directory: std::env::temp_dir(),
        command: "a test".into(),
        fill_real: false,
        place: Volume::default(),
        tag: None,
        group: None,
    };
    let asked_for = std::env::var("BOATLOAD_PAIRS").ok().and_then(|text| text.parse().ok());
    let number = asked_for.unwrap_or(4);
    let asked = PairsAsked { number, delay: 0.5, repeats: 10, confirm: 5 };
    let found = pairs(&order, asked, &Interrupt::default()).unwrap();
    assert_eq!(found.len(), PLANTED.len());
    println!("{found:#?}");
    for PairTrials { noise, equal, slower } in &found {
        let of_equal = [equal.compare, equal.compare_stored, equal.check];
        for tally in of_equal.iter().chain(&equal.confirmed) {
            assert!(
                tally.of == u64::from(number) && 2 * tally.times <= tally.of,
                "{noise}: {equal:?}"
            );
        }
        assert_eq!(slower.confirmed.len(), 5);
        assert!(2 * slower.confirmed[4].times >= u64::from(number), "{noise}: {slower:?}");
        if *noise != "neighbour stays" {
            for tally in [slower.compare, slower.check] {
                assert!(2 * tally.times >= tally.of, "{noise}: {slower:?}");
            }
        }
    }
}
