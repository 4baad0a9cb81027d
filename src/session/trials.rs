//! Tests boatload by runs whose truth is known, on a real file system and on the simulated one.

use super::{Nobody, RunOrder};
use crate::analysis::Analysis;
use crate::analysis::compare::{compare, compare_beside};
use crate::analysis::effects::decide::Decision;
use crate::analysis::figures::RunFigures;
use crate::analysis::finding::Finding;
use crate::analysis::findings::law::Law;
use crate::analysis::history::HISTORY_RUNS;
use crate::analysis::statistics::Interval;
use crate::analysis::trials::{SimulatedLaw, SimulatedNoise, Tally, Trials};
use crate::analysis::twins::TwinTrials;
use crate::analysis::uncertainty::Estimate;
use crate::base::failure::{Failure, Result};
use crate::plan::filesystem::Volume;
use crate::plan::{CellPlan, Conclusion, Plan, Settings, read_job};
use crate::results::book::Book;
use crate::results::store::Store;
use crate::run::interrupt::Interrupt;

/// Does the order in pairs of runs that do the same, each compared as if the pairs before it were in
/// the store. `begins` is called with the number of each pair from 1.
/// Ends early when it is interrupted, with the pairs that are whole.
pub(crate) fn same(
    order: &RunOrder<'_>,
    number: u32,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<Trials> {
    let mut trials = Trials::new(1.0);
    let mut before: Vec<Book> = Vec::new();
    for at in 1..=number {
        begins(at);
        let Some(a) = alone(order, interrupt)? else { break };
        let Some(b) = alone(order, interrupt)? else { break };
        let known = before.len().saturating_sub(HISTORY_RUNS as usize);
        let known: Vec<RunFigures<'_>> = before[known..].iter().map(RunFigures::of).collect();
        trials.add(&compare_beside(&RunFigures::of(&a), &RunFigures::of(&b), &known, &[]));
        before.extend([a, b]);
    }
    Ok(trials)
}

/// Does the order in runs in which each variant takes turns with one that has this slowdown planted,
/// as a share. `begins` is called with the number of each run from 1. Ends early when it is interrupted.
pub(crate) fn slower(
    order: &RunOrder<'_>,
    number: u32,
    delay: f64,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<Trials> {
    let mut trials = Trials::new(1.0 + delay);
    let (plan, pairs) = with_twins(order.plan, &order.plan.variants(), ", slowed", delay);
    each_run(order, &plan, number, begins, interrupt, &mut |book| {
        for [a, b] in &pairs {
            trials.add_turns(book, [a, b]);
        }
    })?;
    Ok(trials)
}

/// Does the order in runs in which each variant has a twin under another name, which does the same. Variants are ranked,
/// whatever else the job concludes, for a job with one variant has two. `begins` is called with the number of each run
/// from 1. Ends early when it is interrupted.
pub(crate) fn twins(
    order: &RunOrder<'_>,
    number: u32,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
) -> Result<TwinTrials> {
    let mut trials = TwinTrials::default();
    let (mut plan, pairs) = with_twins(order.plan, &order.plan.variants(), "-again", 0.0);
    if !plan.conclude.contains(&Conclusion::Ranking) {
        plan.conclude.push(Conclusion::Ranking);
    }
    each_run(order, &plan, number, begins, interrupt, &mut |book| {
        trials.add(Analysis::of(book).findings(), &pairs);
    })?;
    Ok(trials)
}

/// Runs the plan instead of the order's own so often, each time with another seed, which is another
/// order of turns.
fn each_run(
    order: &RunOrder<'_>,
    plan: &Plan,
    number: u32,
    begins: &dyn Fn(u32),
    interrupt: &Interrupt,
    add: &mut dyn FnMut(&Book),
) -> Result<()> {
    for at in 1..=number {
        begins(at);
        let plan = Plan { seed: plan.seed.wrapping_add(u64::from(at)), ..plan.clone() };
        let order = RunOrder { plan: &plan, ..order.clone() };
        let Some(book) = alone(&order, interrupt)? else { break };
        add(&book);
    }
    Ok(())
}

/// A run whose results nobody keeps; `None` when it was interrupted, or is not to begin.
fn alone(order: &RunOrder<'_>, interrupt: &Interrupt) -> Result<Option<Book>> {
    if interrupt.is_set() {
        return Ok(None);
    }
    let book = super::run(order, &mut Store::in_memory()?, &Nobody, interrupt)?.whole()?;
    Ok(Some(book).filter(|_| !interrupt.is_set()))
}

/// The plan with a copy of each of these variants, whose name has this ending and which is slowed down
/// by this share on top of what slows it down already; and the names of both.
fn with_twins(plan: &Plan, doubled: &[&str], ending: &str, delay: f64) -> (Plan, Vec<[String; 2]>) {
    let names = plan.variants();
    let mut ending = ending.to_string();
    while names.iter().any(|name| names.contains(&format!("{name}{ending}").as_str())) {
        ending += &ending.clone();
    }
    let twin = |name: &str| format!("{name}{ending}");
    let mut both = Plan { cells: Vec::new(), ..plan.clone() };
    for name in &names {
        let cells = plan.cells.iter().filter(|cell| cell.variant == *name);
        both.cells.extend(cells.clone().cloned());
        let copied = cells.filter(|_| doubled.contains(name));
        both.cells.extend(copied.map(|cell| CellPlan {
            variant: twin(name),
            delay: (1.0 + cell.delay) * (1.0 + delay) - 1.0,
            ..cell.clone()
        }));
    }
    let pairs = doubled.iter().map(|name| [name.to_string(), twin(name)]).collect();
    (both, pairs)
}

/// What was found of the simulated file system.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Simulated {
    /// Each kind of noise.
    pub(crate) noises: Vec<SimulatedNoise>,
    /// Each law, and change over levels.
    pub(crate) laws: Vec<SimulatedLaw>,
}

/// Kinds of noise that intervals must stand.
const NOISES: [&str; 3] = ["skewed", "bimodal", "drifting"];

/// A phase whose rate differs from repeat to repeat by noise alone.
const NOISY: &str = "\
name = 'noise'
engine = 'sim'
repeats = 3
[tree]
files = 500
[[phase]]
operation = 'create'
[sim]
metadata = '20us'
";

/// A phase long enough to tell a law.
const GROWING: &str = "\
name = 'growth'
engine = 'sim'
conclude = ['growth']
repeats = 5
[tree]
files = 20_000
[[phase]]
operation = 'create'
windows = 200
[sim]
noise = 'skewed'
";

/// Levels over which it may get slower.
const FILLING: &str = "\
name = 'filling'
engine = 'sim'
conclude = ['levels']
repeats = 5
[axis]
name = 'space-used'
values = ['30%', '40%', '50%', '60%', '70%', '80%', '90%']
prepare = { fill = { sizes = '1MiB' } }
[tree]
files = 5_000
[[phase]]
operation = 'create'
[sim]
metadata = '20us'
noise = 'skewed'
capacity = '1GiB'
";

/// What is true of a job, and whether its finding says so.
struct Truth {
    truth: &'static str,
    job: &'static str,
    sim: &'static str,
    is_found: fn(&Finding) -> bool,
}

const TRUTHS: [Truth; 5] = [
    Truth {
        truth: "latency stays as it is",
        job: GROWING,
        sim: "metadata = '20us'",
        is_found: |finding| has_law(finding, Law::Constant),
    },
    Truth {
        truth: "latency grows linearly, to 3 times",
        job: GROWING,
        sim: "metadata = '20us'\ndirectory = 'linear'\ndirectory_cost = '2us'",
        is_found: |finding| has_law(finding, Law::Linear),
    },
    Truth {
        truth: "latency grows with the logarithm",
        job: GROWING,
        sim: "metadata = '2us'\ndirectory = 'logarithmic'\ndirectory_cost = '10us'",
        is_found: |finding| has_law(finding, Law::Logarithmic),
    },
    Truth {
        truth: "1.5 times as slow from 75% of the space on",
        job: FILLING,
        sim: "knee = { at = '75%', factor = 1.5 }",
        is_found: |finding| {
            let Finding::Effect(effect) = finding else { return false };
            effect.headline.decision == Decision::Longer && effect.headline.since == Some(80.0)
        },
    },
    Truth {
        truth: "no slower up to 90% of the space",
        job: FILLING,
        sim: "",
        is_found: |finding| {
            let Finding::Effect(effect) = finding else { return false };
            effect.headline.decision == Decision::Within
        },
    },
];

fn has_law(finding: &Finding, law: Law) -> bool {
    let Finding::Effect(effect) = finding else { return false };
    effect.course.as_ref().is_some_and(|course| course.law == Some(law))
}

/// Does each of the simulated jobs this often, with another seed each time. `listener` hears what is
/// being done. Ends early when it is interrupted.
pub(crate) fn simulated(
    order: &RunOrder<'_>,
    draws: u32,
    listener: &dyn Fn(&str),
    interrupt: &Interrupt,
) -> Result<Simulated> {
    let mut all = Simulated::default();
    for noise in NOISES {
        listener(&format!("{noise} noise"));
        let job = format!("{NOISY}noise = '{noise}'\n");
        let books = draw_books(order, &job, draws, interrupt)?;
        all.noises.push(of_noise(noise, &books));
    }
    for Truth { truth, job, sim, is_found } in TRUTHS {
        listener(truth);
        let books = draw_books(order, &format!("{job}{sim}\n"), draws, interrupt)?;
        let mut right = Tally::default();
        for book in &books {
            right.count(Analysis::of(book).findings().iter().any(is_found));
        }
        all.laws.push(SimulatedLaw { truth, right });
    }
    Ok(all)
}

/// Runs of the job with the seeds from 1 on.
fn draw_books(
    order: &RunOrder<'_>,
    job: &str,
    draws: u32,
    interrupt: &Interrupt,
) -> Result<Vec<Book>> {
    let mut books = Vec::new();
    for seed in 1..=u64::from(draws) {
        let settings = Settings { seed: Some(seed), ..Settings::default() };
        let plan = read_job(job, &settings)
            .map_err(|problems| Failure::failed(problems.report("a simulated job")))?;
        let order = RunOrder { plan: &plan, place: Volume::default(), ..order.clone() };
        let Some(book) = alone(&order, interrupt)? else { break };
        books.push(book);
    }
    Ok(books)
}

/// The true rate is the mean of all draws. Each draw is compared with the one before it.
fn of_noise(noise: &'static str, books: &[Book]) -> SimulatedNoise {
    let rate = |book| Analysis::of(book).summary().rows().next().and_then(|row| row.rate);
    let rates: Vec<Estimate> = books.iter().filter_map(rate).collect();
    let truth = rates.iter().map(|rate| rate.mean).sum::<f64>() / rates.len() as f64;
    let (mut rate_held, mut ratio_held) = (Tally::default(), Tally::default());
    for rate in &rates {
        rate_held.count(rate.interval.is_some_and(|interval| interval.contains(truth)));
    }
    for pair in books.windows(2) {
        for row in compare(&Analysis::of(&pair[0]), &Analysis::of(&pair[1])).rows {
            let holds = |interval: Interval| interval.contains(1.0);
            ratio_held.count(row.effect.interval.is_some_and(holds));
        }
    }
    SimulatedNoise { noise, rate_held, ratio_held }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two variants with these times of an operation and with noise, on the simulated file system.
    fn job(one: &str, other: &str) -> String {
        let variant = |name: &str, time: &str| {
            format!(
                "[[variant]]\nname = '{name}'\nsim = {{ metadata = '{time}', noise = 'skewed' }}\n"
            )
        };
        let (one, other) = (variant("one", one), variant("other", other));
        format!(
            "name = 'two'\nengine = 'sim'\nrepeats = 3\nconclude = ['ranking']\n{one}{other}[tree]\nfiles = 500\n\
             [[phase]]\noperation = 'create'\n"
        )
    }

    fn order(plan: &Plan) -> RunOrder<'_> {
        RunOrder {
            plan,
            directory: std::env::temp_dir(),
            command: "a test".into(),
            fill_real: false,
            place: Volume::default(),
            tag: None,
            group: None,
        }
    }

    #[test]
    fn simulated_twins_are_told_apart_in_few_runs_though_none_is_like_the_other() {
        let plan = read_job(&job("20us", "30us"), &Settings::default()).unwrap();
        let begun = std::cell::Cell::new(0);
        let begins = |at| begun.set(at);
        let found = twins(&order(&plan), 200, &begins, &Interrupt::default()).unwrap();
        assert_eq!((found.runs, begun.get(), found.kinds.len()), (200, 200, 1));
        let ranking = &found.kinds[0];
        assert_eq!(ranking.runs.of, 200);
        // One in twenty, and chance.
        assert!(ranking.runs.times <= 18, "{ranking:?}");
        // That one and other differ is found.
        assert!(ranking.claims >= 175, "{ranking:?}");
        assert_eq!(found.kinds_above(0.05), [""; 0]);
    }

    #[test]
    fn a_difference_planted_between_simulated_twins_is_found_the_right_way_round() {
        let plan = read_job(&job("20us", "25us"), &Settings::default()).unwrap();
        let pairs = [["one".to_string(), "other".to_string()]];
        let mut trials = TwinTrials::default();
        let mut found = Vec::new();
        let mut add = |book: &Book| {
            let analysis = Analysis::of(book);
            trials.add(analysis.findings(), &pairs);
            found.extend(analysis.effects().map(|effect| {
                let is_other = effect.to.variant.as_deref() == Some("other");
                let seen = effect.headline();
                if is_other { seen.decision } else { seen.reversed().decision }
            }));
        };
        let interrupt = Interrupt::default();
        each_run(&order(&plan), &plan, 20, &|_| (), &interrupt, &mut add).unwrap();
        let longer = found.iter().filter(|decision| **decision == Decision::Longer).count();
        assert!(found.len() == 20 && longer >= 18, "{found:?}");
        assert!(!found.contains(&Decision::Shorter), "{found:?}");
        assert!(!trials.kinds_above(0.05).is_empty());
    }

    #[test]
    fn twins_stand_beside_each_other_under_names_that_no_variant_has() {
        let text = job("20us", "25us").replace("'other'", "'one-again'");
        let plan = read_job(&text, &Settings::default()).unwrap();
        let (both, pairs) = with_twins(&plan, &plan.variants(), "-again", 0.0);
        let names = ["one", "one-again-again", "one-again", "one-again-again-again"];
        assert_eq!(both.variants(), names);
        assert_eq!(pairs, [[names[0], names[1]], [names[2], names[3]]]);
        let (one, pairs) = with_twins(&plan, &["one"], "-slowed", 0.2);
        assert_eq!((one.variants(), pairs.len()), (vec!["one", "one-slowed", "one-again"], 1));
        assert!(both.cells.iter().all(|cell| cell.delay == 0.0));
    }
}
