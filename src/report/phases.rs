//! Makes tables of phases: a row for each phase of each variant, levels of an axis against variants or
//! phases, and quantiles of latencies.

use std::io::{self, Write};

use super::names::{cell_name, level_value};
use super::table::{Align, Table, TableColumn, TitledTable};
use super::text::{
    about_ranges, byte_rate, in_units, number, short_seconds, short_time, spread, write_wrapped,
};
use crate::analysis::summary::{InvalidMeasurement, PhaseSummary, Summary};
use crate::analysis::tails::Quantile;
use crate::analysis::uncertainty::{Estimate, IntervalBasis};
use crate::base::units::{Unit, byte_step, counted};
use crate::plan::DEFAULT_VARIANT;
use crate::results::book::SETTLE;

/// Writes every phase of a run at every level. Fails only if `out` does.
pub(super) fn write_every_phase(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    write_phases_table(summary, true, out)
}

/// Writes quantiles of latencies, where any is known. Fails only if `out` does.
pub(super) fn write_latencies(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let latencies = latencies_table(summary);
    if latencies.has_rows() {
        writeln!(out)?;
        latencies.write(out)?;
        write_wrapped("", ABOUT_LATENCIES, out)?;
    }
    Ok(())
}

/// What was found of the caches is a note where its column has no room.
fn write_phases_table(summary: &Summary, spread: bool, out: &mut dyn Write) -> io::Result<()> {
    let (table, mut notes) = (phases_table(summary, spread, &[]), phase_notes(summary, spread));
    if table.fits_line() {
        table.write(out)?;
    } else {
        phases_table(summary, spread, &[CACHE.head]).write(out)?;
        notes.push(format!("caches: {}", found_caches(summary, &summary.phases())));
    }
    write_notes(&notes, out)
}

/// Writes the phases of a run: by level where there is an axis. Fails only if `out` does.
pub(super) fn write_phases(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.groups.is_empty() {
        return writeln!(out, "Nothing was measured.");
    }
    if !summary.levels().is_empty() {
        return write_levels(summary, out);
    }
    write_phases_table(summary, false, out)
}

fn write_notes(notes: &[String], out: &mut dyn Write) -> io::Result<()> {
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

/// The columns of which anything is known, without those that `left_out` has.
pub(super) fn phase_columns(summary: &Summary, left_out: &[&str]) -> Vec<&'static PhaseColumn> {
    let rows = || summary.rows().filter(|row| row.rate.is_some());
    let is_shown = |column: &&PhaseColumn| {
        !left_out.contains(&column.head) && (rows().next().is_none() || column.is_known(rows()))
    };
    COLUMNS.iter().filter(is_shown).collect()
}

/// A row for each phase of each group; variants that have no levels stand below each other. `spread` says
/// whether the deviation of the seconds is among the columns; columns with the heads of `without` are not.
pub(super) fn phases_table(summary: &Summary, spread: bool, without: &[&str]) -> Table {
    let has_bytes = summary.rows().any(|row| row.rate_unit == Unit::Bytes);
    let mut left_out = without.to_vec();
    left_out.push(if has_bytes { OPERATIONS.head } else { RATE.head });
    left_out.extend((!spread).then_some(DEVIATION.head));
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

/// How the tables of phases are to be read.
pub(super) fn phase_notes(summary: &Summary, spread: bool) -> Vec<String> {
    let marked = summary.rows().any(|row| row.disturbed > 0 && row.rate.is_some());
    let unwritten = summary.rows().any(|row| row.unwritten > 0 && row.rate.is_some());
    let notes = [
        marked.then_some("* measured under background load: see the warnings"),
        unwritten.then_some(
            "^ the device wrote less than the phase did: the rest was compressed or, without a sync, still in memory",
        ),
        about_sync(summary),
        (spread && has_spread(summary)).then_some(
            "CV is the coefficient of variation: the standard deviation of the seconds over their mean",
        ),
    ];
    let notes = interval_notes(summary).into_iter().chain(notes.into_iter().flatten());
    notes.map(String::from).collect()
}

/// Which figures include syncs; none if nothing was synced.
fn about_sync(summary: &Summary) -> Option<&'static str> {
    summary.rows().find(|row| row.sync_seconds.is_some())?;
    Some(match summary.levels().is_empty() {
        true => "rates include the sync at the end of a phase; seconds and latencies do not",
        false => {
            "rates include the sync at the end of a phase; unsynced rates, seconds and latencies do not"
        }
    })
}

fn estimates(summary: &Summary) -> impl Iterator<Item = Estimate> {
    summary.rows().filter_map(|row| row.rate)
}

/// How many values stand behind each rate; none if no rate is known.
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

/// How the intervals of rates are to be read.
pub(super) fn interval_notes(summary: &Summary) -> Vec<&'static str> {
    let about = Some(about_interval(summary)).filter(|text| !text.is_empty());
    about.into_iter().chain(about_ranges(estimates(summary))).collect()
}

/// What `±` is; empty if no interval is known.
fn about_interval(summary: &Summary) -> &'static str {
    let known: Vec<IntervalBasis> = estimates(summary)
        .filter(|rate| rate.relative().is_some())
        .map(|rate| rate.basis)
        .collect();
    match known.first() {
        None => "",
        Some(first) if known.iter().any(|basis| basis != first) => {
            "± is a 95% interval over repeats, or passes or slices of a single one"
        }
        Some(IntervalBasis::Repeats) => "± is a 95% interval over the repeats",
        Some(IntervalBasis::Passes) => "± is a 95% interval over the passes of one repeat",
        Some(IntervalBasis::Slices) => "± is a 95% interval from slices of the phase",
    }
}

fn has_spread(summary: &Summary) -> bool {
    DEVIATION.is_known(summary.rows())
}

/// One variant: all phases beside each other. Several: a table for each phase with the variants beside
/// each other, without the seconds where they have no room.
fn write_levels(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let (phases, variants) = (summary.phases(), summary.variants());
    let mut notes = phase_notes(summary, true);
    if let [variant] = variants.as_slice() {
        if *variant != DEFAULT_VARIANT {
            write_wrapped("", &format!("{variant}:"), out)?;
        }
        let groups = phases.iter().map(|phase| LevelGroup { title: phase, variant, phase });
        let table = |figures| levels_table(summary, groups.clone(), figures);
        if table(LevelFigures::All).fits() || !has_spread(summary) {
            table(LevelFigures::All).write(out)?;
        } else {
            table(LevelFigures::Rates).write(out)?;
            writeln!(out)?;
            table(LevelFigures::Seconds).write(out)?;
        }
        writeln!(out)?;
        write_wrapped("", &format!("caches: {}", found_caches(summary, &phases)), out)?;
    } else {
        let mut all_fit = true;
        for phase in phases {
            write_wrapped("", &levels_title(summary, phase), out)?;
            let table = |figures| levels_table(summary, variant_groups(&variants, phase), figures);
            let all = table(LevelFigures::All);
            all_fit &= all.fits();
            if all.fits() { all } else { table(LevelFigures::Rates) }.write(out)?;
            writeln!(out)?;
        }
        if !all_fit && has_spread(summary) {
            notes = phase_notes(summary, false);
            notes.push("seconds and their spread: see --details".into());
        }
    }
    notes.extend(match summary.invalid() {
        0 => None,
        1 => Some("1 measurement is invalid and left out; see --details".into()),
        many => Some(format!(
            "{} are invalid and left out; see --details",
            counted(many, "measurement")
        )),
    });
    write_notes(&notes, out)
}

/// A table of levels for each phase, with the variants beside each other.
pub(super) fn phase_levels(summary: &Summary) -> Vec<TitledTable> {
    let variants = summary.variants();
    let of_phase = |phase| TitledTable {
        title: levels_title(summary, phase),
        table: levels_table(summary, variant_groups(&variants, phase), LevelFigures::All),
    };
    summary.phases().into_iter().map(of_phase).collect()
}

fn levels_title(summary: &Summary, phase: &str) -> String {
    let axis = summary.levels().first().map_or("", |level| level.axis.as_str());
    match phase {
        SETTLE => format!("{phase}, by {axis}"),
        _ => format!("{phase}, by {axis}; caches: {}", found_caches(summary, &[phase])),
    }
}

/// Which figures of a phase are in a table of levels.
#[derive(Clone, Copy, PartialEq)]
enum LevelFigures {
    Rates,
    Seconds,
    All,
}

/// A phase of a variant, as columns of a table of levels.
#[derive(Clone, Copy)]
struct LevelGroup<'a> {
    title: &'a str,
    variant: &'a str,
    phase: &'a str,
}

fn variant_groups<'a>(
    variants: &'a [&'a str],
    phase: &'a str,
) -> impl Iterator<Item = LevelGroup<'a>> {
    let alone = variants == [DEFAULT_VARIANT];
    variants.iter().map(move |variant| LevelGroup {
        title: if alone { "" } else { variant },
        variant,
        phase,
    })
}

/// A line for each level. Seconds are among the columns if they have a spread.
fn levels_table<'a>(
    summary: &Summary,
    groups: impl Iterator<Item = LevelGroup<'a>>,
    figures: LevelFigures,
) -> Table {
    let levels = summary.levels();
    let axis = levels.first().map_or("", |level| level.axis.as_str());
    let names = levels.iter().map(|level| level_value(level));
    let mut table = Table::of_names(axis, Align::Right, names);
    for LevelGroup { title, variant, phase } in groups {
        let of_phase = || summary.rows().filter(|row| row.phase == phase);
        let rows: Vec<_> =
            levels.iter().map(|level| summary.row(variant, Some(level), phase)).collect();
        let cells = |cell: &dyn Fn(&PhaseSummary) -> String| -> Vec<String> {
            rows.iter().map(|row| known(*row, cell)).collect()
        };
        // All rates of a phase have the same unit.
        let (size, word) = match of_phase().all(|row| row.rate_unit == Unit::Count) {
            true => (1.0, "ops"),
            false => {
                let rates = of_phase().filter_map(|row| row.rate).map(|rate| rate.mean);
                byte_step(rates.fold(f64::INFINITY, f64::min))
            }
        };
        table.group(title);
        let with_seconds = figures != LevelFigures::Rates && has_spread(summary);
        if figures != LevelFigures::Seconds {
            if phase != SETTLE {
                table.column(&format!("{word}/s"), cells(&|row| scaled_rate(row, size)));
            } else if !with_seconds {
                table.column(SECONDS.head, cells(&SECONDS.cell));
            }
            let half = |row: &PhaseSummary| match row.is_settle() {
                true => (INTERVAL.cell)(row),
                false => row.rate.map_or_else(String::new, |rate| spread(&rate, in_units(size))),
            };
            table.column(INTERVAL.head, cells(&half));
            if of_phase().any(|row| row.rate_before_sync.is_some()) {
                let unsynced = |rate: Estimate| number(rate.mean / size, rate.figures);
                table.column("unsynced", cells(&|row| known(row.rate_before_sync, unsynced)));
            }
        }
        if with_seconds {
            table.column(SECONDS.head, cells(&SECONDS.cell));
            table.column(DEVIATION.head, cells(&DEVIATION.cell));
        }
    }
    table
}

fn scaled_rate(row: &PhaseSummary, size: f64) -> String {
    match row.rate {
        // In front, so that digits stay below each other.
        Some(rate) => {
            format!("{}{}", marks(row), number(rate.mean / size, rate.figures))
        }
        None => "-".into(),
    }
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

/// Quantiles of latencies with their intervals; without rows if none has one.
pub(super) fn latencies_table(summary: &Summary) -> Table {
    let heads = [("latency", Align::Left), ("of all", Align::Right), ("95% interval", Align::Left)];
    let mut table = Table::new(&heads);
    for group in &summary.groups {
        if summary.groups.len() > 1 {
            table.heading(&format!("{}:", cell_name(&group.variant, group.level.as_ref())));
        }
        for row in &group.rows {
            for quantile in Quantile::ALL {
                let of_tail = row.tail.map(|tail| quantile.in_tail(&tail));
                if let Some((Some(ns), Some([low, high]))) = of_tail {
                    let [ns, low, high] = [ns, low, high].map(|ns| nanoseconds(Some(ns)));
                    let name = format!("{} {}", row.phase, quantile.as_str());
                    table.row(vec![name, ns, format!("{low} to {high}")]);
                }
            }
        }
    }
    table
}

/// What their intervals are.
pub(super) const ABOUT_LATENCIES: &str = "Intervals are over the repeats' own quantiles, or the passes' of one repeat; of one \
     measurement between two of its own latencies";

fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".into(), text)
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
