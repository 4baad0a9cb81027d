//! One row for each phase and variant with all its figures: the table of a run without an axis,
//! and the `details` of any run.

use std::io::{self, Write};

use super::Report;
use super::matrix::deviation;
use super::names::cell_name;
use super::table::{Align, Table};
use super::text::{byte_rate, number, short_seconds, short_time, uncertainty, write_wrapped};
use crate::base::units::Unit;
use crate::measure::analysis::Analysis;
use crate::measure::summary::{InvalidMeasurement, PhaseSummary, Summary, VariantSummary};
use crate::measure::tails::Quantile;
use crate::measure::uncertainty::{Estimate, IntervalBasis};

/// The long table alone.
pub(super) struct Details;

impl Report for Details {
    fn name(&self) -> &'static str {
        "details"
    }

    fn render(&self, analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
        let summary = analysis.summary();
        let spread = summary.rows().any(|row| row.deviation.is_some());
        phases_table(summary, spread).write(out)?;
        write_wrapped("", about_interval(summary), out)?;
        write_wrapped("", about_mark(summary), out)?;
        if spread {
            write_wrapped("", ABOUT_DEVIATION, out)?;
        }
        write_latencies(summary, out)
    }
}

/// What `CV` is.
pub(super) const ABOUT_DEVIATION: &str =
    "CV is the coefficient of variation: the standard deviation of the seconds over their mean";

/// Writes the table of a run without an axis. Fails only if `out` does.
pub(super) fn write_phases(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    phases_table(summary, false).write(out)?;
    write_wrapped("", about_interval(summary), out)?;
    write_wrapped("", about_mark(summary), out)
}

/// A row for each phase of each group, with the deviation of its seconds if that is wanted.
pub(super) fn phases_table(summary: &Summary, spread: bool) -> Table {
    Columns::of(summary, spread).table(summary)
}

/// What `*` is; empty if nothing bears it.
pub(super) fn about_mark(summary: &Summary) -> &'static str {
    let marked = summary.rows().any(|row| row.disturbed > 0 && row.rate.is_some());
    if marked { "* measured under background load: see the warnings" } else { "" }
}

fn estimates(summary: &Summary) -> impl Iterator<Item = Estimate> {
    summary.rows().filter_map(|row| row.rate)
}

/// How many values stand behind each rate; none if no rate is known.
pub(super) fn about_n(summary: &Summary) -> Option<String> {
    let least = estimates(summary).min_by_key(|rate| rate.n)?;
    let most = estimates(summary).max_by_key(|rate| rate.n)?;
    let noun = if most.basis == IntervalBasis::Passes { "pass" } else { "repeat" };
    let plural = match (most.n, most.basis) {
        (1, _) => "",
        (_, IntervalBasis::Passes) => "es",
        _ => "s",
    };
    let range = if least.n == most.n { String::new() } else { format!("{} to ", least.n) };
    Some(format!("n = {range}{} {noun}{plural}", most.n))
}

/// What `±` is; empty if no interval is known.
pub(super) fn about_interval(summary: &Summary) -> &'static str {
    let known = |rate: &Estimate| rate.relative().is_some();
    let has = |basis| estimates(summary).any(|rate| rate.basis == basis && known(&rate));
    match (has(IntervalBasis::Repeats), has(IntervalBasis::Passes), has(IntervalBasis::Slices)) {
        (false, false, false) => "",
        (true, false, false) => "± is a 95% interval over the repeats",
        (false, true, false) => "± is a 95% interval over the passes of one repeat",
        (false, false, true) => "± is a 95% interval from slices of the phase",
        _ => "± is a 95% interval over repeats, or passes or slices of a single one",
    }
}

/// Columns that not every run has.
struct Columns {
    /// Rates have units of their own.
    units: bool,
    interval: bool,
    n: bool,
    deviation: bool,
    tail: bool,
}

impl Columns {
    fn of(summary: &Summary, deviation: bool) -> Self {
        let mut all = estimates(summary).map(|rate| rate.n);
        let first = all.next();
        // Without any rate all columns stay, as heads of nothing.
        let bare = first.is_none();
        Self {
            units: summary.rows().any(|row| row.rate_unit == Unit::Bytes),
            interval: bare || estimates(summary).any(|rate| rate.relative().is_some()),
            n: all.any(|n| Some(n) != first),
            deviation,
            tail: bare || summary.rows().any(|row| row.tail.is_some()),
        }
    }

    fn table(&self, summary: &Summary) -> Table {
        let variants = summary.variants().len() > 1 && summary.levels().is_empty();
        let mut table = Table::new(&self.heads(if variants { "variant" } else { "phase" }));
        if variants {
            self.by_phase(&mut table, summary);
        } else {
            self.by_group(&mut table, summary);
        }
        table
    }

    fn heads(&self, first: &'static str) -> Vec<(&'static str, Align)> {
        use Align::{Left, Right};
        let rate = if self.units { "rate" } else { "ops/s" };
        let mut heads = vec![(first, Left), (rate, Right)];
        heads.extend(self.interval.then_some(("±", Right)));
        heads.extend(self.n.then_some(("n", Right)));
        heads.push(("seconds", Right));
        heads.extend(self.deviation.then_some(("CV", Right)));
        heads.push(("sync", Right));
        if self.tail {
            heads.extend(["p50", "p99", "max"].map(|head| (head, Right)));
        }
        heads.push(("cache", Left));
        heads
    }

    /// Phase after phase, so that the variants stand below each other.
    fn by_phase(&self, table: &mut Table, summary: &Summary) {
        for phase in summary.phases() {
            table.heading(&format!("{phase}:"));
            for group in &summary.groups {
                let of_phase = group.rows.iter().filter(|row| row.phase == phase);
                of_phase.for_each(|row| self.add(table, &group.variant, row));
            }
        }
    }

    fn by_group(&self, table: &mut Table, summary: &Summary) {
        for group in &summary.groups {
            if summary.groups.len() > 1 {
                table.heading(&format!("{}:", group_name(group)));
            }
            group.rows.iter().for_each(|row| self.add(table, &row.phase, row));
        }
    }

    fn add(&self, table: &mut Table, name: &str, row: &PhaseSummary) {
        if let Some(rate) = row.rate {
            let mark = if row.disturbed > 0 { "*" } else { "" };
            let mut cells = vec![format!("{name}{mark}"), self.rate(rate, row.rate_unit)];
            cells.extend(self.interval.then(|| uncertainty(rate.relative())));
            cells.extend(self.n.then(|| rate.n.to_string()));
            cells.push(short_seconds(row.seconds));
            let spread = row.deviation.map_or_else(|| "-".into(), deviation);
            cells.extend(self.deviation.then_some(spread));
            cells.push(short_seconds(row.sync_seconds));
            let tail = row.tail;
            let whole = |ns: Option<u64>| short_time(ns.map(|ns| ns as f64));
            if self.tail {
                cells.push(whole(tail.and_then(|tail| tail.p50_ns)));
                cells.push(whole(tail.and_then(|tail| tail.p99_ns)));
                cells.push(whole(tail.map(|tail| tail.max_ns)));
            }
            cells.push(row.cache.clone());
            table.row(cells);
        }
        for invalid in &row.invalid {
            let InvalidMeasurement { repeat, pass, reasons } = invalid;
            let pass = if *pass > 1 { format!(", pass {pass}") } else { String::new() };
            let text = format!("invalid (repeat {repeat}{pass}): {}", reasons.join("; "));
            table.note(name, &text);
        }
    }

    fn rate(&self, rate: Estimate, unit: Unit) -> String {
        match unit {
            Unit::Bytes => byte_rate(rate.mean, rate.figures),
            _ if self.units => format!("{} ops/s", number(rate.mean, rate.figures)),
            _ => number(rate.mean, rate.figures),
        }
    }
}

/// Quantiles of latencies with their intervals; without rows if none has one.
pub(super) fn latencies_table(summary: &Summary) -> Table {
    let heads = [("latency", Align::Left), ("of all", Align::Right), ("95% interval", Align::Left)];
    let mut table = Table::new(&heads);
    for group in &summary.groups {
        if summary.groups.len() > 1 {
            table.heading(&format!("{}:", group_name(group)));
        }
        for row in &group.rows {
            let told = |quantile: Quantile| {
                let (ns, interval) = quantile.in_tail(&row.tail?);
                Some((quantile, ns?, interval?))
            };
            for (quantile, ns, [low, high]) in Quantile::ALL.into_iter().filter_map(told) {
                let [ns, low, high] = [ns, low, high].map(|ns| short_time(Some(ns as f64)));
                let name = format!("{} {}", row.phase, quantile.word());
                table.row(vec![name, ns, format!("{low} to {high}")]);
            }
        }
    }
    table
}

/// Fails only if `out` does.
fn write_latencies(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let table = latencies_table(summary);
    if !table.has_rows() {
        return Ok(());
    }
    writeln!(out)?;
    table.write(out)?;
    write_wrapped("", ABOUT_LATENCIES, out)
}

/// What their intervals are.
pub(super) const ABOUT_LATENCIES: &str = "Intervals are over the repeats' own quantiles, or the passes' of one repeat; of one \
     measurement between two of its own latencies";

/// A variant and its level, for a heading or a sentence.
pub(super) fn group_name(group: &VariantSummary) -> String {
    cell_name(&group.variant, group.level.as_ref())
}
