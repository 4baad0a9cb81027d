//! Writes the sentences of comparisons and checks, and what all texts of several runs share: first lines,
//! names of phases, values, marks, and the facts in which the runs differ.

use std::io::{self, Write};

use crate::analysis::compare::differences::{Difference, differences, letter};
use crate::analysis::compare::{
    Absence, Check, CheckOutcome, ComparedRow, Comparison, LoadedSide, Metric, PhaseKey, RowEffect,
};
use crate::analysis::effects::decide::{Decision, MARGIN_RATIO};
use crate::analysis::findings::say::{percent, span, times};
use crate::analysis::statistics::Interval;
use crate::analysis::uncertainty::{Estimate, IntervalBasis};
use crate::base::distinct::each_once;
use crate::base::units::{self, Quantity, Unit, counted, grouped};
use crate::report::head::{NOT_PUBLISHED, about_machine, about_place, about_system};
use crate::report::names::{cell_name, level_value};
use crate::report::table::{Align, Table};
use crate::report::text::{
    byte_rate, in_units, number, short_seconds, short_time, spread, time, write_wrapped,
};
use crate::results::book::{Book, Level, Provenance};

/// What the comparison comes to, the whole job first.
pub(in crate::report) fn comparison_sentences(comparison: &Comparison) -> Vec<String> {
    let (jobs, phases): (Vec<_>, Vec<_>) =
        comparison.in_both().partition(|row| row.key.phase.is_none());
    let of = |rows| row_sentences(rows, comparison.is_published());
    let mut all = [of(&jobs), of(&phases)].concat();
    if jobs.is_empty() && phases.is_empty() {
        all.push("Nothing has a valid rate in both runs.".into());
    }
    all.extend(not_compared(comparison));
    all
}

/// What rows of a kind come to.
fn row_sentences(rows: &[&ComparedRow], is_published: [bool; 2]) -> Vec<String> {
    let with = |is_wanted: &dyn Fn(&ComparedRow) -> bool| {
        rows.iter().copied().filter(|row| is_wanted(row)).collect::<Vec<&ComparedRow>>()
    };
    let mut all = Vec::new();
    for in_headline in [true, false] {
        for decision in [Decision::Longer, Decision::Shorter] {
            let found = with(&|row| {
                (row.effect.decision, row.effect.in_headline) == (decision, in_headline)
            });
            all.extend(faster_or_slower(decision, in_headline, found, rows));
        }
    }
    all.extend(within(&with(&|row| row.effect.decision == Decision::Within), rows));
    let is_open = |row: &ComparedRow, side: Option<LoadedSide>| {
        let RowEffect { decision, interval, .. } = row.effect;
        decision == Decision::Open && interval.is_some() && row.loaded_side == side
    };
    all.extend(open(&with(&|row| is_open(row, None)), rows));
    for side in [LoadedSide::A, LoadedSide::B] {
        all.extend(open_by_load(&with(&|row| is_open(row, Some(side))), side, rows));
    }
    all.extend(cannot_tell(&with(&|row| row.effect.interval.is_none()), rows, is_published));
    all
}

/// `B is slower in 2 of 5 phases: create takes 1.52 times as long (1.25 to 1.80), ...`
fn faster_or_slower(
    decision: Decision,
    in_headline: bool,
    mut rows: Vec<&ComparedRow>,
    of: &[&ComparedRow],
) -> Option<String> {
    let size = |row: &ComparedRow| row.effect.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
    rows.first()?;
    let is_slower = decision == Decision::Longer;
    let verb = if is_slower { " takes" } else { " is" };
    let named = rows.iter().enumerate().map(|(at, row)| {
        let change = match is_slower {
            true => slowdown(row),
            false => times_as("fast", row.effect.ratio, row.effect.interval),
        };
        format!("{}{} {change}", phase_name(&row.key), if at == 0 { verb } else { "" })
    });
    let lead = if in_headline { "" } else { "Less sure: " };
    let (word, place) = (decision_text(decision), place(&rows, of));
    Some(format!("{lead}B is {word}{place}: {}.", few(&named.collect::<Vec<_>>())))
}

/// ` in 2 of 5 phases`; nothing of a single one.
fn place(rows: &[&ComparedRow], of: &[&ComparedRow]) -> String {
    let all = counted(of.len() as u64, row_noun(of));
    match rows.len() {
        _ if of.len() == 1 => String::new(),
        n if n == of.len() => format!(" in all {all}"),
        n => format!(" in {n} of {all}"),
    }
}

/// `; only B was under background load in create, stat`, if there is a row of which that is so.
fn about_load(rows: &[&ComparedRow], side: LoadedSide) -> String {
    let is_loaded = |row: &&ComparedRow| row.loaded_side == Some(side);
    let loaded: Vec<&ComparedRow> = rows.iter().copied().filter(is_loaded).collect();
    let place = match loaded.len() {
        0 => return String::new(),
        n if n == rows.len() => String::new(),
        _ => format!(" in {}", names(&loaded)),
    };
    format!("; {}{place}", loaded_text(&loaded, side))
}

/// What was under background load in rows in which it was this side.
fn loaded_text(rows: &[&ComparedRow], side: LoadedSide) -> &'static str {
    match side {
        LoadedSide::A => "only A was under background load",
        LoadedSide::B if rows.iter().any(|row| row.disturbed[0]) => {
            "B was under background load, but few runs of A"
        }
        LoadedSide::B => "only B was under background load",
    }
}

fn slowdown(row: &ComparedRow) -> String {
    let (ratio, interval) = match row.checked {
        Some(checked) => (checked.slowdown, checked.slowdown_interval),
        None => (row.effect.slowdown(), row.effect.slowdown_interval()),
    };
    times_as("long", ratio, interval)
}

/// `1.12 times as long (1.08 to 1.16)`
fn times_as(word: &str, ratio: Option<f64>, interval: Option<Interval>) -> String {
    let interval = interval.map(|interval| format!(" ({})", span(interval)));
    format!("{} times as {word}{}", known(ratio.map(times)), interval.unwrap_or_default())
}

/// `B takes as long as A within 10% in 2 of 5 phases: create, stat.`
fn within(rows: &[&ComparedRow], of: &[&ComparedRow]) -> Option<String> {
    rows.first()?;
    let (margin, place) = (percent(MARGIN_RATIO - 1.0), place(rows, of));
    Some(format!("B takes as long as A within {margin}{place}: {}.", names(rows)))
}

/// `Not decided in 2 of 5 phases: create may take 0.89 to 1.21 times as long, delete 0.92 to 1.15.` With more phases the
/// widest ends.
fn open(rows: &[&ComparedRow], of: &[&ComparedRow]) -> Option<String> {
    rows.first()?;
    let interval = |row: &&ComparedRow| row.effect.slowdown_interval();
    let named = match rows.len() {
        n if n <= NAMED_MAX => {
            let mut named = Vec::new();
            for (at, row) in rows.iter().enumerate() {
                let (name, ends) = (phase_name(&row.key), known(interval(row).map(span)));
                named.push(match at {
                    0 => format!("{name} may take {ends} times as long"),
                    _ => format!("{name} {ends}"),
                });
            }
            named.join(", ")
        }
        _ => {
            let all = || rows.iter().filter_map(interval);
            let low = all().map(|one| one.low).fold(f64::INFINITY, f64::min);
            let high = all().map(|one| one.high).fold(0.0, f64::max);
            format!("B may take {} times as long", span(Interval { low, high }))
        }
    };
    Some(format!("Not decided{}: {named}.", place(rows, of)))
}

/// `Not decided in 2 of 5 phases, because only B was under background load: create takes 9.03 times as long (3.10 to
/// 26.0), ...`
fn open_by_load(rows: &[&ComparedRow], side: LoadedSide, of: &[&ComparedRow]) -> Option<String> {
    rows.first()?;
    let (named, load) = (slowdowns(rows), loaded_text(rows, side));
    Some(format!("Not decided{}, because {load}: {named}.", place(rows, of)))
}

fn cannot_tell(
    rows: &[&ComparedRow],
    of: &[&ComparedRow],
    is_published: [bool; 2],
) -> Option<String> {
    let without_error = |side: fn(&ComparedRow) -> Option<Estimate>| {
        let is_single =
            |value: Estimate| value.interval.is_none() || value.basis != IntervalBasis::Repeats;
        rows.iter().any(|row| side(row).is_some_and(is_single))
    };
    let of_side = |letter: &str, is_published: bool| match is_published {
        true => format!("{letter} was published without an error"),
        false => format!("{letter} has one repeat"),
    };
    let [a, b] = [of_side("A", is_published[0]), of_side("B", is_published[1])];
    let why = match [without_error(|row| row.a), without_error(|row| row.b)] {
        [true, true] if is_published == [false; 2] => "each run has one repeat".into(),
        [true, true] => format!("{a} and {b}"),
        [true, false] => a,
        [false, true] => b,
        [false, false] => "the values vary too much".into(),
    };
    (!rows.is_empty()).then(|| format!("Cannot tell in {}: {why}.", names_or_number(rows, of)))
}

/// `create, stat`, or `5 phases` if they are more; `of` are those that they are among.
fn names_or_number(rows: &[&ComparedRow], of: &[&ComparedRow]) -> String {
    if rows.len() <= NAMED_MAX {
        return names(rows);
    }
    counted(rows.len() as u64, row_noun(of))
}

/// What rows are that are all of phases, or all of whole jobs. A phase may have one for each variant and level.
fn row_noun(rows: &[&ComparedRow]) -> &'static str {
    let phases = each_once(rows.iter().filter_map(|row| row.key.phase.as_ref()));
    match phases.len() {
        0 => "whole job",
        n if n == rows.len() => "phase",
        _ => "row",
    }
}

fn names(rows: &[&ComparedRow]) -> String {
    few(&rows.iter().map(|row| phase_name(&row.key)).collect::<Vec<_>>())
}

fn not_compared(comparison: &Comparison) -> Vec<String> {
    let about = |row: &ComparedRow| match (row.a.is_some(), row.b.is_some(), row.absence) {
        (true, true, _) => None,
        (true, false, Some(Absence::ReachedLimit)) => Some("a repeat of B reached its limit"),
        (true, false, Some(Absence::Invalid)) => Some("invalid in B"),
        (true, false, _) => Some("measured in A alone"),
        (false, true, Some(Absence::ReachedLimit)) => Some("a repeat of A reached its limit"),
        (false, true, Some(Absence::Invalid)) => Some("invalid in A"),
        (false, true, _) => Some("measured in B alone"),
        (false, false, _) => Some("without a valid rate in both"),
    };
    let whats = each_once(comparison.rows.iter().filter_map(about));
    let sentence = |what: &str| {
        let rows = comparison.rows.iter().filter(|row| about(row) == Some(what));
        format!("Not compared, {what}: {}.", names(&rows.collect::<Vec<_>>()))
    };
    whats.into_iter().map(sentence).collect()
}

/// What the check comes to, the worst first.
pub(super) fn check_sentences(check: &Check) -> Vec<String> {
    let limit = Quantity { value: check.fail_on * 100.0, unit: Unit::Percent }.to_string();
    let mut all = Vec::new();
    let regressions = check.with(CheckOutcome::Regression);
    let again = check.comparison.b_again.len() as u64;
    if !regressions.is_empty() {
        let confirmed = match again {
            0 => String::new(),
            runs => format!(", confirmed by {}", counted(runs, "more run")),
        };
        let named = slowdowns(&regressions);
        all.push(format!("REGRESSION of more than {limit}{confirmed}: {named}."));
    } else if again > 0 {
        let runs = counted(again + 1, "run");
        all.push(format!(
            "NOT CONFIRMED: no slowdown of more than {limit} is proven in all {runs}."
        ));
    }
    if !check.comparison.b.complete {
        let id = &check.comparison.b.id;
        all.push(format!(
            "NOT COMPLETE: run {id} ended before all of its cells were done, or still goes on, so this check cannot pass. \
             `boatload resume {id}` goes on with it."
        ));
    }
    let is_limited = |row: &&ComparedRow| row.absence == Some(Absence::ReachedLimit);
    let (limited, invalid): (Vec<_>, Vec<_>) =
        check.with(CheckOutcome::Invalid).into_iter().partition(is_limited);
    for (lead, rows) in [
        ("Cannot tell, all measurements are invalid", invalid),
        ("Cannot tell, a repeat reached its limit", limited),
        (
            "Cannot tell, a repeat of the baseline reached its limit",
            check.with(CheckOutcome::NoBaseline),
        ),
        ("Cannot tell, the run ended before", check.with(CheckOutcome::Missing)),
    ] {
        if !rows.is_empty() {
            all.push(format!("{lead}: {}.", names(&rows)));
        }
    }
    all.extend(unsure(check, &limit));
    all.extend(good(check, &limit));
    let not_in_both = check.with(CheckOutcome::NotInBoth);
    if !not_in_both.is_empty() {
        all.push(format!("Not in both: {}.", names(&not_in_both)));
    }
    all
}

/// `the whole job takes 1.52 times as long (1.25 to 1.80), ...`, then the largest first.
fn slowdowns(rows: &[&ComparedRow]) -> String {
    let mut rows = rows.to_vec();
    let size = |row: &ComparedRow| row.effect.slowdown().unwrap_or_default();
    rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
    rows.sort_by_key(|row| row.key.phase.is_some());
    let named = rows.iter().enumerate().map(|(at, row)| {
        format!("{}{} {}", phase_name(&row.key), if at == 0 { " takes" } else { "" }, slowdown(row))
    });
    few(&named.collect::<Vec<_>>())
}

/// `UNSURE whether 2 of 6 rows are more than 5% slower: most of all create, 1.06 times as long (0.86 to 1.31);
/// only B was under background load.`
fn unsure(check: &Check, limit: &str) -> Option<String> {
    let (rows, all) = (check.with(CheckOutcome::Unsure), check.rows().count());
    let which = match rows.len() {
        0 => return None,
        n if n == all => "anything is".to_string(),
        1 => format!("1 of {all} rows is"),
        n => format!("{n} of {all} rows are"),
    };
    let size = |row: &&&ComparedRow| row.effect.slowdown().unwrap_or_default();
    let most = rows.iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let load = [LoadedSide::A, LoadedSide::B].map(|side| about_load(&rows, side)).concat();
    let named = phase_name(&most.key);
    let lead = if rows.len() > 1 { "most of all " } else { "" };
    let most = slowdown(most);
    Some(format!("UNSURE whether {which} more than {limit} slower: {lead}{named}, {most}{load}."))
}

/// `OK: no phase is more than 5% slower: at most 1.04 times as long.`
fn good(check: &Check, limit: &str) -> Option<String> {
    let (good, all) = (check.with(CheckOutcome::Ok), check.rows().count());
    let highest = good.iter().filter_map(|row| Some(row.checked?.slowdown_interval?.high));
    let most = times(highest.max_by(f64::total_cmp)?);
    let what = match good.len() {
        n if n == all => format!("no phase is more than {limit} slower"),
        1 => format!("{} is not more than {limit} slower", names(&good)),
        n => format!("{n} of {all} rows are not more than {limit} slower"),
    };
    Some(format!("OK: {what}: at most {most} times as long."))
}

/// What stands for a value that is not known.
pub(super) fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}

/// More phases are named in the table alone.
const NAMED_MAX: usize = 4;

/// How the facts in which runs differ are to be read.
pub(in crate::report) const ABOUT_DIFFERENCES: &str =
    "Each of these may be why figures differ. Only what was done alike can be compared.";

/// What `*` is where the warnings of a run are not shown.
pub(super) const ABOUT_DISTURBED: &str =
    "* measured under background load; see the warnings of that run";

pub(super) fn write_run(letter: &str, book: &Book, out: &mut dyn Write) -> io::Result<()> {
    let lead = format!("{letter}: ");
    let [title, place] = about_run(book);
    write_wrapped(&lead, &title, out)?;
    write_wrapped(&" ".repeat(lead.len()), &place, out)
}

/// Which run it is, and where it was measured.
pub(in crate::report) fn about_run(book: &Book) -> [String; 2] {
    let run = &book.run;
    match &run.reference {
        Some(reference) => {
            let Provenance { title, publisher, published, .. } = reference;
            let title = format!("{}; {title}; {publisher}; {published}", run.id);
            [title, about_system(reference, &book.host)]
        }
        None => {
            let what = match &run.traced {
                Some(traced) => format!("trace of {}", traced.target),
                None => format!("{}, {} scale", run.scenario, run.scale),
            };
            let title = format!("run {} of {}: {what}", run.id, run.started);
            [title, format!("{}; {}", about_place(book), about_machine(&book.host))]
        }
    }
}

/// What of a run does not count.
pub(super) fn write_state(book: &Book, out: &mut dyn Write) -> io::Result<()> {
    if !book.run.complete {
        write_wrapped("   ", "INCOMPLETE: not every cell was done", out)?;
    }
    let invalid = book.measurements.iter().filter(|m| !m.valid()).count();
    if invalid == 0 {
        return Ok(());
    }
    let text = format!("{} invalid and left out", counted(invalid as u64, "measurement"));
    write_wrapped("   ", &text, out)
}

/// Adds rows of phases to a table, below the headings of their variants and levels.
pub(super) fn add_phases<R>(
    table: &mut Table,
    rows: impl Iterator<Item = R>,
    key: impl Fn(&R) -> &PhaseKey,
    cells: impl Fn(&R) -> Vec<String>,
) {
    let mut heading = PhaseKey::default();
    for row in rows {
        let own = PhaseKey { phase: None, ..key(&row).clone() };
        if own != heading {
            table.heading(&format!("{}:", group_name(&own)));
            heading = own;
        }
        table.row(cells(&row));
    }
}

fn group_name(key: &PhaseKey) -> String {
    match (&key.variant, key.level.as_ref()) {
        (Some(variant), level) => cell_name(variant, level),
        (None, Some(level)) => axis_level(level),
        (None, None) => "without a level".into(),
    }
}

fn axis_level(level: &Level) -> String {
    format!("{} {}", level.axis, level_value(level))
}

/// `create of ext4 at space-used 80%`
pub(in crate::report) fn phase_name(key: &PhaseKey) -> String {
    let mut name = key.phase.clone().unwrap_or_else(|| "the whole job".into());
    if let Some(variant) = &key.variant {
        name += &format!(" of {variant}");
    }
    if let Some(level) = &key.level {
        name += &format!(" at {}", axis_level(level));
    }
    name
}

pub(super) fn short_phase_name(key: &PhaseKey) -> String {
    key.phase.clone().unwrap_or_else(|| "whole job".into())
}

/// `create, stat, and 3 more`
pub(in crate::report) fn few(names: &[String]) -> String {
    let named = names[..names.len().min(NAMED_MAX)].join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named}, and {more} more"),
    }
}

/// A value with as many digits as its interval allows.
pub(super) fn estimate_text(metric: Metric, value: &Estimate) -> String {
    value_text(metric, value.mean, value.figures)
}

/// Half the interval of a value as a share, or its ends: see [`spread`].
pub(super) fn spread_text(metric: Metric, value: &Estimate) -> String {
    match metric {
        Metric::OperationsPerSecond => spread(value, number),
        Metric::BytesPerSecond => spread(value, in_units(units::byte_step(value.mean).0)),
        Metric::Seconds => spread(value, |seconds, _| short_seconds(Some(seconds))),
        Metric::LatencyOfOperation(_) => spread(value, |ns, _| short_time(Some(ns))),
    }
}

pub(super) fn value_text(metric: Metric, value: f64, figures: u32) -> String {
    match metric {
        Metric::OperationsPerSecond => format!("{}/s", number(value, figures)),
        Metric::BytesPerSecond => byte_rate(value, figures).replace(' ', ""),
        Metric::Seconds => short_seconds(Some(value)),
        Metric::LatencyOfOperation(_) => time(Some(value)),
    }
}

/// How much more: `4.0%`, or from twice on `3.2 times`.
pub(in crate::report) fn share(more: f64) -> String {
    if more < 1.0 { percent(more) } else { format!("{} times", times(1.0 + more)) }
}

/// What B is against A.
pub(super) fn decision_text(decision: Decision) -> &'static str {
    match decision {
        Decision::Longer => "slower",
        Decision::Shorter => "faster",
        Decision::Within => "within 10%",
        Decision::Open => "open",
    }
}

/// What stands behind a phase where not the same was done or found.
pub(super) fn marks(row: &ComparedRow) -> &'static str {
    match (&row.caches, row.work) {
        (Some(_), Some(_)) => "~+",
        (Some(_), None) => "~",
        (None, Some(_)) => "+",
        (None, None) => "",
    }
}

/// A sentence on how a table is to be read, with what stands before it.
pub(in crate::report) type MarkMeaning = (&'static str, String);

/// What background load did in rows in which one side may be slower because of it alone, if there are any.
pub(super) fn one_sided_load(comparison: &Comparison) -> Option<&'static str> {
    let rows = || comparison.in_both().filter(|row| row.loaded_side.is_some());
    rows().next()?;
    Some(match rows().any(|row| row.disturbed == [true; 2]) {
        true => "background load disturbed one side alone, or few runs of the other",
        false => "background load disturbed one side alone",
    })
}

/// What the marks mean, each behind its mark.
pub(super) fn about_marks(comparison: &Comparison) -> Vec<MarkMeaning> {
    let rows: Vec<&ComparedRow> = comparison.in_both().collect();
    let mut texts = Vec::new();
    if rows.iter().any(|row| row.disturbed.contains(&true)) {
        texts.push(("", ABOUT_DISTURBED.to_string()));
    }
    let load = one_sided_load(comparison);
    texts.extend(
        load.map(|load| ("", format!("where {load}, only what load cannot cause is decided"))),
    );
    texts.extend(about_left_out(comparison).map(|text| ("", text)));
    for [a, b] in each_once(rows.iter().filter_map(|row| row.caches.as_ref())) {
        let text = format!(
            "caches were found {} in A and {} in B, which may be all of the difference",
            or_unknown(a),
            or_unknown(b)
        );
        texts.push(("~ ", text));
    }
    let works = each_once(rows.iter().filter_map(|row| about_work(row)));
    if !works.is_empty() {
        texts.push(("+ ", format!("rates of different work are compared: {}", few(&works))));
    }
    texts
}

/// `of phases 3 measurements of A and 0 of B, of whole jobs 8 of A and 0 of B: ...`
fn about_left_out(comparison: &Comparison) -> Option<String> {
    let mut parts = Vec::new();
    for (rows, is_job) in [("of phases", false), ("of whole jobs", true)] {
        let [of_a, of_b] = comparison.left_out(is_job);
        let what = if parts.is_empty() { " measurements" } else { "" };
        if of_a + of_b > 0 {
            parts.push(format!("{rows} {of_a}{what} of A and {of_b} of B"));
        }
    }
    let why = "background load disturbed these repeats, and enough others are without it";
    (!parts.is_empty()).then(|| format!("left out: {}; {why}", parts.join(", ")))
}

fn about_work(row: &ComparedRow) -> Option<String> {
    let (phase, work) = (row.key.phase.as_ref()?, row.work?);
    let [of_a, of_b] = work.map(|work| grouped(work.operations.round() as u64));
    if of_a != of_b {
        return Some(format!("{phase} {of_a} operations in A and {of_b} in B"));
    }
    let [of_a, of_b] = work.map(|work| units::bytes(work.bytes_each.round() as u64));
    Some(format!("{phase} moved {of_a} for each operation in A and {of_b} in B"))
}

fn or_unknown(word: &str) -> &str {
    if word.is_empty() { "in an unknown state" } else { word }
}

/// The facts in which the runs differ: each may be the cause of a difference.
pub(super) fn write_differences(books: &[&Book], out: &mut dyn Write) -> io::Result<()> {
    let table = differences_table(books);
    if !table.has_rows() {
        return Ok(());
    }
    writeln!(out)?;
    table.write(out)?;
    write_wrapped("", ABOUT_DIFFERENCES, out)?;
    if books.iter().any(|book| book.run.reference.is_some()) {
        let text = "boatload show reference:NAME says what is known, and what is wrong, about \
                    published figures";
        write_wrapped("- ", text, out)?;
    }
    Ok(())
}

/// A row for each fact in which the runs differ.
pub(in crate::report) fn differences_table(books: &[&Book]) -> Table {
    let letters = (0..books.len()).map(|at| (letter(at).to_string(), Align::Left));
    let heads: Vec<_> = [("differs".into(), Align::Left)].into_iter().chain(letters).collect();
    let mut table = Table::new(&heads);
    for Difference { name, values } in differences(books) {
        let values = values.into_iter().map(|value| value.unwrap_or_else(|| NOT_PUBLISHED.into()));
        table.row([name.to_string()].into_iter().chain(values).collect());
    }
    table
}
