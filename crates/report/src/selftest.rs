//! Writes the results of `boatload selftest`.

use std::io::{self, Write};

use super::comparison::phase_name;
use super::table::{Align, Table, TableColumn};
use super::text::write_wrapped;
use boatload_analysis::findings::say::times;
use boatload_analysis::statistics::Interval;
use boatload_analysis::trials::{Tally, Trials};
use boatload_analysis::twins::{KindClaims, ToldApart, TwinTrials};
use boatload_base::units::{counted, figures, grouped};

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
    writeln!(out, "A against B: {runs}, A and B in turns; B takes {times} times as long")?;
    table(trials, "found", "held").write(out)?;
    writeln!(out)
}

const CLAIMS: [TableColumn<KindClaims>; 5] = [
    TableColumn::words("finding", |one| one.kind.into()),
    TableColumn::numbers("claims", |one| grouped(one.claims)),
    TableColumn::numbers("false", |one| grouped(one.false_claims)),
    TableColumn::numbers("runs with a false one", |one| count_of(one.runs)),
    TableColumn::numbers("share of runs", |one| share_of(one.runs)),
];

/// Writes how often findings distinguished a variant from its twin, which does the same.
///
/// # Errors
/// If `out` does.
pub fn write_twins(trials: &TwinTrials, scenario: &str, out: &mut dyn Write) -> io::Result<()> {
    let runs = counted(trials.runs, "run");
    writeln!(out, "Twins: {runs} of {scenario}, with each variant twice under two names")?;
    Table::from_rows(&CLAIMS, &trials.kinds).write(out)?;
    for ToldApart { run, kind, sentences } in &trials.told_apart {
        let sentence = format!("run {run}, {kind}: {}", sentences.join(" But "));
        write_wrapped("* ", &sentence, out)?;
    }
    writeln!(out)
}

fn table(trials: &Trials, claimed: &str, held: &str) -> Table {
    let numbers = [claimed, held, "ratio"].map(|head| (head, Align::Right));
    let mut table = Table::new(&[("", Align::Left)].into_iter().chain(numbers).collect::<Vec<_>>());
    for row in &trials.rows {
        table.row(vec![
            phase_name(&row.key),
            percent(row.claimed),
            percent(row.held),
            times(row.ratio()),
        ]);
    }
    table
}

fn count_of(tally: Tally) -> String {
    format!("{} of {}", grouped(tally.times), grouped(tally.of))
}

/// `3 of 100 pairs`.
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
