//! Writes the results of `boatload selftest`.

use std::io::{self, Write};

use super::comparison::{phase_name, share};
use super::table::{Align, Table};
use super::text::write_wrapped;
use crate::analysis::findings::say::times;
use crate::analysis::statistics::Interval;
use crate::analysis::trials::{
    PairShares, PairTrials, SimulatedLaw, SimulatedNoise, Tally, Trials,
};
use crate::analysis::twins::{FoundDifference, FoundRuns, KindClaims, ToldApart, TwinTrials};
use crate::base::units::{counted, figures, grouped};

/// Writes how often a difference was claimed between equal runs.
///
/// # Errors
/// If `out` does.
pub fn write_same(trials: &Trials, out: &mut dyn Write) -> io::Result<()> {
    let pairs = counted(trials.pairs, "pair");
    writeln!(out, "A against A: {pairs} of runs that do the same")?;
    let claimed = times_of(trials.claimed, "pair");
    let sentence =
        format!("A difference was claimed in {claimed}: {}; 5% may.", share_of(trials.claimed));
    write_wrapped("* ", &sentence, out)?;
    table(trials, "claimed", "held 1").write(out)?;
    writeln!(out)
}

/// Writes how often a slowdown by `delay`, a share, was found.
///
/// # Errors
/// If `out` does.
pub fn write_slower(trials: &Trials, delay: f64, out: &mut dyn Write) -> io::Result<()> {
    let (runs, times) = (counted(trials.pairs, "run"), figures(1.0 + delay, 3));
    writeln!(out, "A against B: {runs}, A and B in turns, of which B takes {times} times as long")?;
    for (what, tallies) in
        [(" over the whole job", trials.together(true)), ("", trials.together(false))]
    {
        let of = if what.is_empty() { " of phases" } else { "" };
        let sentence = format!(
            "B was found slower{what} in {}{of}: {}. The interval held the truth in {}.",
            times_of(tallies.claimed, "comparison"),
            share_of(tallies.claimed),
            share_of(tallies.held)
        );
        if what.is_empty() || tallies.claimed.of > 0 {
            write_wrapped("* ", &sentence, out)?;
        }
    }
    table(trials, "found", "held").write(out)?;
    writeln!(out)
}

/// Writes how often separate runs of the simulated file system were told apart: equal ones, and those of which
/// the second takes longer by `delay`, a share.
///
/// # Errors
/// If `out` does.
pub fn write_pairs(all: &[PairTrials], delay: f64, out: &mut dyn Write) -> io::Result<()> {
    let times = figures(1.0 + delay, 3);
    let of_equal: fn(&PairTrials) -> &PairShares = |trials| &trials.equal;
    for (title, shares) in [
        ("Claimed between equal runs".to_string(), of_equal),
        (format!("Found where the second takes {times} times as long"), |trials| &trials.slower),
    ] {
        let pairs = all.first().map_or(0, |trials| shares(trials).compare.of);
        writeln!(out, "{title}, {} for each noise", counted(pairs, "pair"))?;
        let mut table = table_of("planted noise", ["compare", "+ stored", "check", "history"]);
        for trials in all {
            let PairShares { compare, compare_stored, check, check_history, .. } = shares(trials);
            let tallies = [compare, compare_stored, check, check_history];
            let cells =
                [trials.noise.to_string()].into_iter().chain(tallies.map(|one| percent(*one)));
            table.row(cells.collect());
        }
        table.write(out)?;
        writeln!(out, "\nThe same by a check against the history with --confirm")?;
        let most = all.first().map_or(0, |trials| shares(trials).confirmed.len());
        let mut table = table_of("planted noise", (1..=most).map(|number| number.to_string()));
        for trials in all {
            let tallies = shares(trials).confirmed.iter().map(|one| percent(*one));
            table.row([trials.noise.to_string()].into_iter().chain(tallies).collect());
        }
        table.write(out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Writes what was found of the simulated file system in this many runs of each kind.
///
/// # Errors
/// If `out` does.
pub fn write_simulated(
    noises: &[SimulatedNoise],
    laws: &[SimulatedLaw],
    draws: u32,
    out: &mut dyn Write,
) -> io::Result<()> {
    let runs = counted(u64::from(draws), "run");
    writeln!(
        out,
        "The simulated file system, {runs} of each kind: 3 repeats of noise, 5 of truths"
    )?;
    let mut table = table_of("noise", ["rate held", "ratio held"]);
    for SimulatedNoise { noise, rate_held, ratio_held } in noises {
        table.row(vec![(*noise).into(), percent(*rate_held), percent(*ratio_held)]);
    }
    table.write(out)?;
    writeln!(out)?;
    let mut table = table_of("truth", ["found"]);
    for SimulatedLaw { truth, right } in laws {
        table.row(vec![(*truth).into(), percent(*right)]);
    }
    table.write(out)?;
    writeln!(out)
}

/// Writes how often findings told a variant from its twin, which does the same.
///
/// # Errors
/// If `out` does.
pub fn write_twins(trials: &TwinTrials, scenario: &str, out: &mut dyn Write) -> io::Result<()> {
    let runs = counted(trials.runs, "run");
    writeln!(out, "Twins: {runs} of {scenario}, with each variant twice under two names")?;
    let heads = ["claims", "false", "runs with a false one", "share of runs"];
    let mut table = table_of("finding", heads);
    for KindClaims { kind, claims, false_claims, runs } in &trials.kinds {
        table.row(vec![
            (*kind).into(),
            grouped(*claims),
            grouped(*false_claims),
            format!("{} of {}", grouped(runs.times), grouped(runs.of)),
            share_of(*runs),
        ]);
    }
    table.write(out)?;
    for ToldApart { run, kind, sentences } in &trials.told_apart {
        let sentence = format!("run {run}, {kind}: {}", sentences.join(" But "));
        write_wrapped("* ", &sentence, out)?;
    }
    writeln!(out)
}

/// Writes how often rankings told a variant from its twin, which was slowed down by `delay`, a share.
///
/// # Errors
/// If `out` does.
pub fn write_slowed_twins(
    trials: &TwinTrials,
    scenario: &str,
    delay: f64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (runs, times) = (counted(trials.runs, "run"), figures(1.0 + delay, 3));
    writeln!(
        out,
        "Twins: {runs} of {scenario}; a twin of its first variant takes {times} times as long"
    )?;
    let mut table = table_of("", ["found slower", "share of runs", "found faster"]);
    let mut row = |name: &str, runs: &FoundRuns| {
        let times = |tally: Tally| format!("{} of {}", grouped(tally.times), grouped(tally.of));
        let FoundRuns { slower, faster } = *runs;
        table.row(vec![name.into(), times(slower), share_of(slower), times(faster)]);
    };
    for FoundDifference { phase, runs } in &trials.differences {
        row(phase.as_deref().unwrap_or("the whole job"), runs);
    }
    row("at least one of these", &trials.any_difference);
    table.write(out)?;
    writeln!(out)
}

fn table(trials: &Trials, claimed: &str, held: &str) -> Table {
    let mut table = table_of("", [claimed, held, "detectable", "ratio"]);
    for row in &trials.rows {
        let detectable = row.smallest_detectable().map_or_else(String::new, share);
        table.row(vec![
            phase_name(&row.key),
            percent(row.claimed),
            percent(row.held),
            detectable,
            times(row.ratio()),
        ]);
    }
    table
}

/// `3 of 100 comparisons`.
/// A table of names, under this head, and of numbers.
fn table_of<H: Into<String>>(names: &str, numbers: impl IntoIterator<Item = H>) -> Table {
    let numbers = numbers.into_iter().map(|head| (head.into(), Align::Right));
    Table::new(&[(names.to_string(), Align::Left)].into_iter().chain(numbers).collect::<Vec<_>>())
}

fn times_of(tally: Tally, what: &str) -> String {
    format!("{} of {}", grouped(tally.times), counted(tally.of, what))
}

/// `3.0% (1.0% to 8.5%)`.
fn share_of(tally: Tally) -> String {
    match tally.share().zip(tally.interval()) {
        Some((share, Interval { low, high })) => {
            format!("{} ({} to {})", percents(share), percents(low), percents(high))
        }
        None => "none".into(),
    }
}

fn percent(tally: Tally) -> String {
    tally.share().map_or_else(String::new, percents)
}

fn percents(share: f64) -> String {
    format!("{}%", figures(share * 100.0, 3))
}
