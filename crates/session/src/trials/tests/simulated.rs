//! Draws runs of the simulated file system with noise, laws and knees, and counts how often boatload finds what is true.
#![expect(clippy::print_stdout, reason = "a test prints what it found")]

use super::order;
use crate::trials::alone;
use boatload_analysis::Analysis;
use boatload_analysis::compare::compare;
use boatload_analysis::effects::decide::Decision;
use boatload_analysis::finding::Finding;
use boatload_analysis::findings::growth_law::Law;
use boatload_analysis::statistics::Interval;
use boatload_analysis::trials::Tally;
use boatload_analysis::uncertainty::Estimate;
use boatload_plan::{Settings, read_job};
use boatload_results::book::Book;
use boatload_run::interrupt::Interrupt;

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

/// Runs of the job with the seeds from 1 on.
fn draw_books(job: &str, draws: u32) -> Vec<Book> {
    let draw = |seed| {
        let settings = Settings { seed: Some(seed), ..Settings::default() };
        let plan = read_job(job, &settings).unwrap_or_else(|p| panic!("{}", p.report("a job")));
        alone(&order(&plan), &Interrupt::default()).unwrap().unwrap()
    };
    (1..=u64::from(draws)).map(draw).collect()
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

/// What was found of one kind of noise of the simulated file system.
#[derive(Clone, Debug, PartialEq)]
struct SimulatedNoise {
    /// Its word in job files.
    noise: &'static str,
    /// How often the interval of a rate held the true one.
    rate_held: Tally,
    /// How often the interval of a ratio of two that are the same held 1.
    ratio_held: Tally,
}

/// Draws of each kind: a dozen, or as many as are asked for.
fn draws() -> u32 {
    let asked = std::env::var("BOATLOAD_DRAWS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(12)
}

#[test]
fn intervals_hold_the_truth_whatever_the_noise() {
    for noise in NOISES {
        let found = of_noise(noise, &draw_books(&format!("{NOISY}noise = '{noise}'\n"), draws()));
        println!("{found:?}");
        for held in [found.rate_held, found.ratio_held] {
            assert!(held.share() >= Some(0.6), "{found:?}");
        }
    }
}

#[test]
fn laws_and_knees_are_found() {
    for Truth { truth, job, sim, is_found } in TRUTHS {
        let mut right = Tally::default();
        for book in draw_books(&format!("{job}{sim}\n"), draws()) {
            right.count(Analysis::of(&book).findings().iter().any(is_found));
        }
        println!("{truth}: {right:?}");
        let least = if truth.contains("logarithm") { 0.0 } else { 0.8 };
        assert!(right.share() >= Some(least), "{truth}: {right:?}");
    }
}
