//! Makes tables of phases: a row for each phase of each variant at each level.

use std::io::{self, Write};

use super::names::cell_name;
use super::table::{Align, Table, TableColumn};
use super::text::{
    about_ranges, byte_rate, in_units, known, number, short_seconds, short_time, spread, time,
    write_wrapped,
};
use boatload_analysis::Analysis;
use boatload_analysis::latencies::{is_latencies_only, single_latency_ns, single_operations};
use boatload_analysis::summary::{InvalidMeasurement, PhaseSummary, Summary};
use boatload_analysis::uncertainty::{Estimate, IntervalBasis};
use boatload_base::units::{Unit, byte_step, grouped};
use boatload_results::book::Book;

/// Writes every phase of a run. Where its columns have no room, what was found of the caches is a note, and the deviation
/// of the seconds is left out. Fails only if `out` does.
pub(super) fn write_phases(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.groups.is_empty() {
        return writeln!(out, "Nothing was measured.");
    }
    let mut notes = phase_notes(summary);
    let mut table = phases_table(summary, &[]);
    if !table.fits_line() {
        notes.push(format!("caches: {}", found_caches(summary, &summary.phases())));
        table = phases_table(summary, &[CACHE.head]);
    }
    if !table.fits_line() {
        table = phases_table(summary, &[CACHE.head, DEVIATION.head]);
        notes.retain(|note| note != ABOUT_DEVIATION);
    }
    table.write(out)?;
    notes.iter().try_for_each(|note| write_wrapped("", note, out))
}

type PhaseColumn = TableColumn<PhaseSummary>;

/// The rate of a phase; none of `settle`, which is a time.
fn rate(row: &PhaseSummary) -> Option<Estimate> {
    row.rate.filter(|_| !row.is_settle())
}

/// Rates with their unit, for phases that do not have the same.
const RATE: PhaseColumn = PhaseColumn::numbers("rate", |row| match (rate(row), row.rate_unit) {
    (Some(rate), Unit::Bytes) => byte_rate(rate.mean, rate.figures),
    (Some(rate), _) => format!("{} ops/s", number(rate.mean, rate.figures)),
    (None, _) => "-".into(),
});
const OPERATIONS: PhaseColumn =
    PhaseColumn::numbers("ops/s", |row| known(rate(row), |rate| number(rate.mean, rate.figures)));
const INTERVAL: PhaseColumn = PhaseColumn::numbers("±", |row| match (row.rate, row.rate_unit) {
    (Some(rate), _) if row.is_settle() => spread(&rate, |value, _| short_seconds(Some(value))),
    (Some(rate), Unit::Bytes) => spread(&rate, in_units(byte_step(rate.mean).0)),
    (Some(rate), _) => spread(&rate, number),
    (None, _) => String::new(),
});
const VALUES: PhaseColumn =
    PhaseColumn::numbers("n", |row| known(row.rate, |rate| rate.n.to_string()));
const SECONDS: PhaseColumn = PhaseColumn::numbers("seconds", |row| short_seconds(row.seconds));
const DEVIATION: PhaseColumn = PhaseColumn::numbers("CV", |row| known(row.deviation, deviation));

/// What limited the phase.
const LIMIT: PhaseColumn =
    PhaseColumn::words("limited by", |row| known(row.limit, |limit| limit.as_str().into()));
const CACHE: PhaseColumn = PhaseColumn::words("cache", |row| row.cache.clone());

/// All columns of a phase, in their order.
const COLUMNS: [PhaseColumn; 12] = [
    RATE,
    OPERATIONS,
    INTERVAL,
    VALUES,
    SECONDS,
    DEVIATION,
    PhaseColumn::numbers("sync", |row| short_seconds(row.sync_seconds)),
    PhaseColumn::numbers("p50", |row| nanoseconds(row.tail.and_then(|tail| tail.p50_ns))),
    PhaseColumn::numbers("p99", |row| nanoseconds(row.tail.and_then(|tail| tail.p99_ns))),
    PhaseColumn::numbers("max", |row| nanoseconds(row.tail.map(|tail| tail.max_ns))),
    CACHE,
    LIMIT,
];

/// The columns with a known value, without the heads in `left_out`.
fn phase_columns(summary: &Summary, left_out: &[&str]) -> Vec<&'static PhaseColumn> {
    let rows = || summary.rows().filter(|row| row.rate.is_some());
    let is_shown = |column: &&PhaseColumn| {
        !left_out.contains(&column.head) && (rows().next().is_none() || column.is_known(rows()))
    };
    COLUMNS.iter().filter(is_shown).collect()
}

/// A row for each phase of each group, without the columns that have these heads; variants that have no levels stand below
/// each other.
fn phases_table(summary: &Summary, without: &[&str]) -> Table {
    let has_bytes = summary.rows().any(|row| row.rate_unit == Unit::Bytes);
    let mut left_out = without.to_vec();
    left_out.push(if has_bytes { OPERATIONS.head } else { RATE.head });
    let mut counts = estimates(summary).map(|rate| rate.n);
    let first = counts.next();
    left_out.extend(counts.all(|n| Some(n) == first).then_some(VALUES.head));
    let columns = phase_columns(summary, &left_out);
    let by_phase = summary.variants().len() > 1 && summary.levels().is_empty();
    let name = (if by_phase { "variant" } else { "phase" }, Align::Left);
    let heads = columns.iter().map(|column| (column.head, column.align));
    let mut table = Table::new(&[name].into_iter().chain(heads).collect::<Vec<_>>());
    if by_phase {
        for phase in summary.phases() {
            table.heading(&format!("{phase}:"));
            for group in &summary.groups {
                let of_phase = group.rows.iter().filter(|row| row.phase == phase);
                of_phase.for_each(|row| add_phase(&mut table, &columns, &group.variant, row));
            }
        }
        return table;
    }
    for group in &summary.groups {
        if summary.groups.len() > 1 {
            table.heading(&format!("{}:", cell_name(&group.variant, group.level.as_ref())));
        }
        group.rows.iter().for_each(|row| add_phase(&mut table, &columns, &row.phase, row));
    }
    table
}

fn add_phase(table: &mut Table, columns: &[&PhaseColumn], name: &str, row: &PhaseSummary) {
    if row.rate.is_some() {
        let name = format!("{name}{}", marks(row));
        let cells = columns.iter().map(|column| (column.cell)(row));
        table.row([name].into_iter().chain(cells).collect());
    }
    for InvalidMeasurement { repeat, pass, reasons } in &row.invalid {
        let pass = if *pass > 1 { format!(", pass {pass}") } else { String::new() };
        let text = format!("invalid (repeat {repeat}{pass}): {}", reasons.join("; "));
        table.note(name, &text);
    }
}

/// All phases of a run, or latencies of single operations where only those were published; `None` where nothing was measured.
pub(super) fn figures_table(analysis: &Analysis<'_>) -> Option<Table> {
    let (book, summary) = (analysis.book, analysis.summary());
    match is_latencies_only(book, summary) {
        true => Some(single_latency_table(book)),
        false => (!summary.groups.is_empty()).then(|| phases_table(summary, &[])),
    }
}

/// A row for each operation number, a column for each measurement, named by its variant.
pub(super) fn single_latency_table(book: &Book) -> Table {
    let operations = single_operations(book.measurements.iter());
    let phase = book.measurements.first().map_or("", |m| &m.phase);
    let mut table = Table::of_names(phase, Align::Right, operations.iter().map(|at| grouped(*at)));
    for m in &book.measurements {
        table.column(&m.cell.variant, operations.iter().map(|at| time(single_latency_ns(m, *at))));
    }
    table
}

const ABOUT_DEVIATION: &str =
    "CV is the coefficient of variation: the standard deviation of the seconds over their mean";

const ABOUT_INTERVALS: &str =
    "± is a 95% interval over repeats, or passes or slices of a single one";

/// How the tables of phases are to be read.
pub(super) fn phase_notes(summary: &Summary) -> Vec<String> {
    let marked = summary.rows().any(|row| row.disturbed > 0 && row.rate.is_some());
    let has_syncs = summary.rows().any(|row| row.sync_seconds.is_some());
    let unwritten = summary.rows().any(|row| row.unwritten > 0 && row.rate.is_some());
    let has_intervals = estimates(summary).any(|rate| rate.relative().is_some());
    let notes = [
        has_intervals.then_some(ABOUT_INTERVALS),
        about_ranges(estimates(summary)),
        marked.then_some("* measured under background load: see the warnings"),
        unwritten.then_some(
            "^ the device wrote less than the phase did: the rest was compressed or, without a sync, still in memory",
        ),
        has_syncs.then_some(
            "rates include the sync at the end of a phase; seconds and latencies do not",
        ),
        DEVIATION.is_known(summary.rows()).then_some(ABOUT_DEVIATION),
    ];
    notes.into_iter().flatten().map(String::from).collect()
}

fn estimates(summary: &Summary) -> impl Iterator<Item = Estimate> {
    summary.rows().filter_map(|row| row.rate)
}

/// How many values stand behind each rate; `None` where no rate is known.
pub(super) fn about_n(summary: &Summary) -> Option<String> {
    let least = estimates(summary).min_by_key(|rate| rate.n)?;
    let most = estimates(summary).max_by_key(|rate| rate.n)?;
    let range = if least.n == most.n { String::new() } else { format!("{} to ", least.n) };
    let noun = match (most.basis, most.n) {
        (IntervalBasis::Passes, 1) => "pass",
        (IntervalBasis::Passes, _) => "passes",
        (_, 1) => "repeat",
        _ => "repeats",
    };
    Some(format!("n = {range}{} {noun}", most.n))
}

/// What was found of the caches: once, if it was the same in all phases.
fn found_caches(summary: &Summary, phases: &[&str]) -> String {
    let found: Vec<String> = phases.iter().map(|phase| summary.cache(phase)).collect();
    let word = |cache: &String| if cache.is_empty() { "-".into() } else { cache.clone() };
    match found.first() {
        Some(first) if found.iter().any(|cache| cache != first) => {
            let named = phases.iter().zip(&found);
            let named = named.map(|(phase, cache)| format!("{phase} {}", word(cache)));
            named.collect::<Vec<_>>().join(", ")
        }
        first => first.map(word).unwrap_or_default(),
    }
}

fn nanoseconds(ns: Option<u64>) -> String {
    short_time(ns.map(|ns| ns as f64))
}

/// The marks of a row, which [`phase_notes`] explains.
fn marks(row: &PhaseSummary) -> String {
    format!("{}{}", mark(row.disturbed > 0), if row.unwritten > 0 { "^" } else { "" })
}

/// The mark of a rate that was measured under background load.
pub(super) fn mark(disturbed: bool) -> &'static str {
    if disturbed { "*" } else { "" }
}

/// A share of the mean, to hundredths: `0.15`.
fn deviation(share: f64) -> String {
    if share < 1000.0 { format!("{share:.2}") } else { number(share, 2) }
}
