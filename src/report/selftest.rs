//! Writes the results of `boatload selftest`.

use std::io::{self, Write};

use super::comparison::{phase_name, share};
use super::table::{Align, Table};
use super::text::write_wrapped;
use crate::analysis::findings::say::times;
use crate::analysis::statistics::Interval;
use crate::analysis::trials::{SimulatedLaw, SimulatedNoise, Tally, Trials};
use crate::base::units::{counted, figures, grouped};

/// Writes how often a difference was claimed between equal runs.
///
/// # Errors
/// If `out` does.
pub fn write_same(trials: &Trials, out: &mut dyn Write) -> io::Result<()> {
    let pairs = counted(trials.pairs, "pair");
    writeln!(out, "A against A: {pairs} of runs that do the same")?;
    let claims = trials.phases().significant;
    let sentence = format!(
        "A difference was claimed in {} of phases: {}; intervals at 95% allow 5%.",
        times_of(claims, "comparison"),
        share_of(claims)
    );
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
    for (what, tallies) in [(" over the whole job", trials.jobs()), ("", trials.phases())] {
        let of = if what.is_empty() { " of phases" } else { "" };
        let sentence = format!(
            "B was found slower{what} in {}{of}: {}. The interval held the truth in {}.",
            times_of(tallies.significant, "comparison"),
            share_of(tallies.significant),
            share_of(tallies.held)
        );
        if what.is_empty() || tallies.significant.of > 0 {
            write_wrapped("* ", &sentence, out)?;
        }
    }
    table(trials, "found", "held").write(out)?;
    writeln!(out)
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
    writeln!(out, "The simulated file system, {runs} of each kind, 3 repeats")?;
    let heads = [("noise", Align::Left), ("rate held", Align::Right), ("ratio held", Align::Right)];
    let mut table = Table::new(&heads);
    for SimulatedNoise { noise, rate_held, ratio_held } in noises {
        table.row(vec![(*noise).into(), percent(*rate_held), percent(*ratio_held)]);
    }
    table.write(out)?;
    writeln!(out)?;
    let mut table = Table::new(&[("truth", Align::Left), ("found", Align::Right)]);
    for SimulatedLaw { truth, right } in laws {
        table.row(vec![(*truth).into(), percent(*right)]);
    }
    table.write(out)?;
    writeln!(out)
}

fn table(trials: &Trials, significant: &str, held: &str) -> Table {
    let mut table = Table::new(&[
        ("", Align::Left),
        (significant, Align::Right),
        (held, Align::Right),
        ("detectable", Align::Right),
        ("ratio", Align::Right),
    ]);
    for row in &trials.rows {
        let detectable = row.smallest_detectable().map_or_else(String::new, share);
        table.row(vec![
            phase_name(&row.key),
            percent(row.significant),
            percent(row.held),
            detectable,
            times(row.ratio()),
        ]);
    }
    table
}

/// `3 of 100 comparisons`.
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
