//! Counts the false claims and the repeats of simulated runs that repeat until their answer is decided, as Markdown:
//! `cargo run --release --example looks -- 500`. Each run is one of the product's own, with another seed.

use std::error::Error;
use std::io::{Write, stdout};

use boatload::analysis::Analysis;
use boatload::analysis::effect_finding::EffectFinding;
use boatload::base::random::{Stream, draw, unit};
use boatload::plan::filesystem::Volume;
use boatload::plan::repetition::{LOOKS, REPEATS_MAX};
use boatload::plan::{Plan, Settings, read_job};
use boatload::results::book::{Book, Stopping};
use boatload::results::store::Store;
use boatload::run::interrupt::Interrupt;
use boatload::session::{Nobody, RunOrder, run};

type Failed = Box<dyn Error>;

/// Four variants and eight phases.
const JOB: &str = "name = 'looks'\nengine = 'sim'\n[tree]\nfiles = 20\n[sim]\nmetadata = '20us'\n\
    [[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n[[variant]]\nname = 'c'\n[[variant]]\nname = 'slow'\n\
    [[phase]]\noperation = 'create'\n";

/// Operations of one repeat.
const OPERATIONS: f64 = 4.0 * 8.0 * 20.0;

/// How measurements differ without an effect.
struct Noise {
    name: &'static str,
    /// Whether each variant has a spread of its own: the variance of the logarithm of the variance is 1.5.
    is_spread: bool,
    /// How much slower each repeat is than the one before, in percent of the first.
    drift_percent: f64,
}

const NOISES: [Noise; 3] = [
    Noise { name: "even, 5%", is_spread: false, drift_percent: 0.0 },
    Noise { name: "spread", is_spread: true, drift_percent: 0.0 },
    Noise { name: "spread, and a drift of 10% a repeat", is_spread: true, drift_percent: 10.0 },
];

/// What became of many runs.
#[derive(Default)]
struct Counts {
    /// Runs with a false claim in a table, or in a headline, at a look that they made.
    false_in_table: u32,
    false_in_headline: u32,
    /// The same at any of seven looks, had they made all.
    false_at_any: u32,
    found: u32,
    decided: u32,
    repeats: u32,
}

fn plan(noise: &Noise, slower: f64, seed: u64, repeats: Option<u32>) -> Result<Plan, Failed> {
    let stats: String =
        (1..8).map(|n| format!("[[phase]]\nname = 'stat-{n}'\noperation = 'stat'\n")).collect();
    let settings = Settings { seed: Some(seed), repeats, ..Settings::default() };
    let mut plan =
        read_job(&format!("{JOB}{stats}"), &settings).map_err(|p| p.report("the job"))?;
    for (at, cell) in plan.cells.iter_mut().enumerate() {
        let sim = &mut cell.sim;
        // The sum of twelve even numbers is nearly normal.
        let sum: f64 =
            (0..12).map(|n| unit(draw(seed, Stream::Noise, 1_000 + 12 * at as u64 + n))).sum();
        let deviation =
            if noise.is_spread { ((sum - 6.0) * 1.5f64.sqrt() / 2.0).exp() } else { 1.0 };
        sim.spread.passes_percent = (5.0 * deviation).min(40.0);
        sim.drift_percent = noise.drift_percent * 1e6 / OPERATIONS;
        if cell.variant == "slow" {
            sim.metadata_ns = (sim.metadata_ns as f64 * (1.0 + slower)) as u64;
        }
    }
    Ok(plan)
}

fn ran(plan: &Plan) -> Result<Book, Failed> {
    let order = RunOrder {
        plan,
        directory: std::env::temp_dir(),
        command: "an example".into(),
        fill_real: false,
        place: Volume::default(),
        tag: None,
        group: None,
    };
    let outcome = run(&order, &mut Store::in_memory()?, &Nobody, &Interrupt::default());
    Ok(outcome.and_then(|outcome| outcome.whole()).map_err(|failure| failure.sentence)?)
}

/// The run with the repeats that it had at this look.
fn at_look(book: &Book, number: usize) -> Book {
    let made = &LOOKS[..=number];
    let repeats = LOOKS[number].repeats;
    let mut then = book.clone();
    then.measurements.retain(|m| m.cell.repeat <= repeats);
    then.run.stopping = Stopping::Looks {
        looks: made.iter().map(|look| look.repeats).collect(),
        alpha: made.iter().map(|look| look.alpha).collect(),
        decided: false,
        time_limit_seconds: 1_800.0,
    };
    then
}

/// Whether a table and a headline claim what is false at a look.
fn false_claims(book: &Book, number: usize, slower: f64) -> [bool; 2] {
    let then = at_look(book, number);
    let analysis = Analysis::of(&then);
    let is_equal = |effect: &EffectFinding| {
        let has = |variant: &Option<String>| variant.as_deref() == Some("slow");
        slower == 0.0 || !(has(&effect.from.variant) || has(&effect.to.variant))
    };
    let equal: Vec<&EffectFinding> = analysis.effects().filter(|one| is_equal(one)).collect();
    [
        equal.iter().any(|one| one.stated.decision.is_difference()),
        equal.iter().any(|one| one.headline.decision.is_difference()),
    ]
}

/// Whether the slow variant is significantly slower than every other variant in the whole job.
fn is_found(book: &Book) -> bool {
    let analysis = Analysis::of(book);
    let of_job = analysis.effects().filter(|one| one.phase.is_none());
    let with_slow = of_job.filter(|one| {
        [&one.from.variant, &one.to.variant].iter().any(|name| name.as_deref() == Some("slow"))
    });
    let found: Vec<bool> = with_slow.map(|one| one.headline.decision.is_difference()).collect();
    found.len() == 3 && found.iter().all(|found| *found)
}

fn counts(noise: &Noise, slower: f64, runs: u32) -> Result<Counts, Failed> {
    let mut counts = Counts::default();
    for seed in 1..=u64::from(runs) {
        let book = ran(&plan(noise, slower, seed, None)?)?;
        let looks = LOOKS.iter().filter(|look| look.repeats <= book.run.repeats).count();
        let claims: Vec<[bool; 2]> =
            (0..looks).map(|number| false_claims(&book, number, slower)).collect();
        counts.false_in_table += u32::from(claims.iter().any(|claim| claim[0]));
        counts.false_in_headline += u32::from(claims.iter().any(|claim| claim[1]));
        counts.repeats += book.run.repeats;
        counts.decided += u32::from(book.run.stopping.is_decided());
        counts.found += u32::from(is_found(&book));
        if slower == 0.0 {
            let whole = ran(&plan(noise, slower, seed, Some(REPEATS_MAX))?)?;
            let any = (0..LOOKS.len()).any(|number| false_claims(&whole, number, slower)[0]);
            counts.false_at_any += u32::from(any);
        }
    }
    Ok(counts)
}

fn main() -> Result<(), Failed> {
    let runs = std::env::args().nth(1).map_or(Ok(500), |word| word.parse())?;
    let mut out = stdout();
    writeln!(
        out,
        "| noise | one variant takes | false claim: table | headline | table, all seven looks | found | decided | mean repeats |\n\
         |---|---|---|---|---|---|---|---|"
    )?;
    for noise in &NOISES {
        for slower in [0.0, 0.2, 0.5] {
            let all = counts(noise, slower, runs)?;
            let longer = match slower {
                0.0 => "as long".into(),
                _ => format!("{:.0}% longer", 100.0 * slower),
            };
            let only = |is: bool, n: u32| if is { n.to_string() } else { "-".into() };
            writeln!(
                out,
                "| {} | {longer} | {} | {} | {} | {} | {} | {:.1} |",
                noise.name,
                all.false_in_table,
                all.false_in_headline,
                only(slower == 0.0, all.false_at_any),
                only(slower > 0.0, all.found),
                all.decided,
                f64::from(all.repeats) / f64::from(runs)
            )?;
            out.flush()?;
        }
    }
    Ok(())
}
