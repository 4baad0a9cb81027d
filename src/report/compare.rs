//! One run against another, for `boatload compare`.

use std::io::{self, Write};

use super::beside::{ABOUT_MARK, row_group, write_differences, write_run, write_state};
use super::matrix::mark;
use super::names::level_value;
use super::table::{Align, Table};
use super::text::{byte_rate, number, short_seconds, short_time, write_wrapped};
use crate::base::units::{counted, figures, grouped};
use crate::measure::between::OTHER_RUNS_MIN;
use crate::measure::book::Book;
use crate::measure::compare::{
    Alone, ComparedRow, Comparison, Figure, LatencyPair, Subject, Verdict,
};
use crate::measure::conclusions::say::{percent, span, times};
use crate::measure::order::each_once;
use crate::measure::uncertainty::{Estimate, IntervalBasis};

const LETTERS: [&str; 2] = ["A", "B"];

/// More are told in the table alone.
const NAMED_MAX: usize = 4;

/// Writes what B is to A: sentences, a table, and how to read it. `details` adds latencies. Fails
/// only if `out` does.
pub fn write_comparison(
    books: [&Book; 2],
    comparison: &Comparison,
    details: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (letter, book) in LETTERS.iter().zip(books) {
        write_run(letter, book, out)?;
        write_state(book, out)?;
    }
    writeln!(out)?;
    for sentence in sentences(comparison) {
        write_wrapped("* ", &sentence, out)?;
    }
    if !comparison.rows.is_empty() {
        writeln!(out)?;
        table(comparison).write(out)?;
        write_reading(comparison, out)?;
    }
    if details {
        write_latencies(comparison, out)?;
    }
    write_differences(&books, out)
}

/// What the comparison comes to, the whole job first.
pub(super) fn sentences(comparison: &Comparison) -> Vec<String> {
    let (jobs, phases): (Vec<_>, Vec<_>) =
        comparison.rows.iter().partition(|row| row.subject.phase.is_none());
    let mut all = Vec::new();
    for rows in [jobs, phases] {
        let of = |verdict| rows.iter().copied().filter(move |row| row.verdict == verdict).collect();
        all.extend(told_apart("slower", of(Verdict::Slower), rows.len()));
        all.extend(told_apart("faster", of(Verdict::Faster), rows.len()));
        all.extend(not_seen(&of(Verdict::NoDifference)));
        all.extend(not_told(&of(Verdict::CannotTell)));
    }
    if comparison.rows.is_empty() {
        all.push("Nothing has a valid rate in both runs.".into());
    }
    all.extend(alone(&comparison.alone));
    all
}

/// `B is slower in 2 of 5 phases: create takes 1.12 times as long (1.05 to 1.20), ...`
fn told_apart(word: &str, mut rows: Vec<&ComparedRow>, of: usize) -> Option<String> {
    rows.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    let is_job = rows.first()?.subject.phase.is_none();
    let one = |row: &&ComparedRow| {
        let interval = row.interval.unwrap_or([f64::NAN; 2]);
        match word {
            "slower" => format!("{} times as long ({})", times(1.0 / row.ratio), inverse(interval)),
            _ => format!("{} times as fast ({})", times(row.ratio), span(interval)),
        }
    };
    let verb = if word == "slower" { "takes" } else { "is" };
    if is_job && of == 1 {
        return Some(format!("B is {word}: the whole job {verb} {}.", one(rows.first()?)));
    }
    let named = rows.iter().take(NAMED_MAX).enumerate().map(|(at, row)| {
        let verb = if at == 0 { format!("{verb} ") } else { String::new() };
        format!("{} {verb}{}", name(&row.subject), one(row))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = rows.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let (n, what) = (rows.len(), if is_job { "whole jobs" } else { "phases" });
    let place = match n {
        _ if of == 1 => String::new(),
        n if n == of => format!(" in all {n} {what}"),
        n => format!(" in {n} of {of} {what}"),
    };
    Some(format!("B is {word}{place}: {named}{more}."))
}

/// The interval of how many times as long.
fn inverse([low, high]: [f64; 2]) -> String {
    span([1.0 / high, 1.0 / low])
}

/// `No difference seen in create (one of 4% would have been), delete (3%).`
fn not_seen(rows: &[&ComparedRow]) -> Option<String> {
    let from = |row: &ComparedRow| share(row.seen_from.unwrap_or(f64::NAN));
    if rows.len() <= NAMED_MAX {
        let one = |(at, row): (usize, &&ComparedRow)| match at {
            0 => format!("{} (one of {} would have been)", name(&row.subject), from(row)),
            _ => format!("{} ({})", name(&row.subject), from(row)),
        };
        let named: Vec<_> = rows.iter().enumerate().map(one).collect();
        return (!rows.is_empty()).then(|| format!("No difference seen in {}.", named.join(", ")));
    }
    let by_size = |a: &&&ComparedRow, b: &&&ComparedRow| {
        a.seen_from.unwrap_or(f64::NAN).total_cmp(&b.seen_from.unwrap_or(f64::NAN))
    };
    let (least, most) = (rows.iter().min_by(by_size)?, rows.iter().max_by(by_size)?);
    Some(format!(
        "No difference seen in {}, where the least that would have been seen is {} to {}.",
        what_and_how_many(rows),
        from(least),
        from(most)
    ))
}

/// How much more: `4.0%`, or from twice on `3.2 times`.
pub(super) fn share(more: f64) -> String {
    if more < 1.0 { percent(more) } else { format!("{} times", times(1.0 + more)) }
}

/// Rows without an interval.
fn not_told(rows: &[&ComparedRow]) -> Option<String> {
    let lacks = |at: usize| rows.iter().any(|row| row.sides[at].half_width.is_none());
    let why = match [lacks(0), lacks(1)] {
        [true, true] => "one figure is known of each, and not how far it may be off",
        [true, false] => "one figure is known of A, and not how far it may be off",
        [false, true] => "one figure is known of B, and not how far it may be off",
        [false, false] => "what is known of their errors tells nothing",
    };
    (!rows.is_empty()).then(|| format!("Cannot tell in {}: {why}.", what_and_how_many(rows)))
}

/// Names of a few, the number of many.
fn what_and_how_many(rows: &[&ComparedRow]) -> String {
    if rows.len() <= NAMED_MAX {
        return rows.iter().map(|row| name(&row.subject)).collect::<Vec<_>>().join(", ");
    }
    let is_job = rows.iter().all(|row| row.subject.phase.is_none());
    counted(rows.len() as u64, if is_job { "whole job" } else { "phase" })
}

fn alone(all: &[Alone]) -> Vec<String> {
    let mut told = Vec::new();
    for (side, letter) in LETTERS.iter().enumerate() {
        for (invalid, other) in [(true, LETTERS[1 - side]), (false, letter)] {
            let these = all.iter().filter(|a| a.side == Some(side) && a.invalid == invalid);
            let names: Vec<_> = these.map(|a| name(&a.subject)).collect();
            if names.is_empty() {
                continue;
            }
            let names = few(&names);
            told.push(match invalid {
                true => format!("Not compared, invalid in {other}: {names}."),
                false => format!("Not compared, measured in {letter} alone: {names}."),
            });
        }
    }
    let neither: Vec<_> =
        all.iter().filter(|a| a.side.is_none()).map(|a| name(&a.subject)).collect();
    if !neither.is_empty() {
        told.push(format!("Not compared, without a valid rate in both: {}.", few(&neither)));
    }
    told
}

fn few(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(NAMED_MAX)].join(", "))
}

/// `create of ext4 at space-used 80%`
pub(super) fn name(subject: &Subject) -> String {
    let Subject { variant, level, phase } = subject;
    let mut name = phase.clone().unwrap_or_else(|| "the whole job".into());
    if let Some(variant) = variant {
        name += &format!(" of {variant}");
    }
    if let Some(level) = level {
        name += &format!(" at {} {}", level.axis, level_value(level));
    }
    name
}

/// A figure with as many digits as its interval allows.
pub(super) fn figure(what: Figure, value: &Estimate) -> String {
    match what {
        Figure::Operations => format!("{}/s", number(value.mean, value.figures)),
        Figure::Bytes => byte_rate(value.mean, value.figures).replace(' ', ""),
        Figure::Seconds => short_seconds(Some(value.mean)),
    }
}

/// Rows below the headings of their groups; what `cells` gives of each.
pub(super) fn grouped_rows<'a>(
    table: &mut Table,
    rows: impl Iterator<Item = (&'a Subject, Vec<String>)>,
) {
    let mut group = (None, None);
    for (subject, cells) in rows {
        let own = (subject.variant.clone(), subject.level.clone());
        if group != own {
            table.heading(&format!(
                "{}:",
                row_group(subject.variant.as_ref(), subject.level.as_ref())
            ));
            group = own;
        }
        table.row(cells);
    }
}

/// A row for each thing that both runs measured.
pub(super) fn table(comparison: &Comparison) -> Table {
    let mut table = Table::new(&[
        ("phase", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("B/A", Align::Right),
        ("95% interval", Align::Left),
        ("difference", Align::Left),
    ]);
    let cells = |row: &ComparedRow| {
        vec![
            phase_name(&row.subject) + marks(row),
            mark(row.disturbed[0]).to_string() + &figure(row.figure, &row.sides[0]),
            mark(row.disturbed[1]).to_string() + &figure(row.figure, &row.sides[1]),
            times(row.ratio),
            row.interval.map_or_else(|| "-".into(), span),
            difference(row.verdict).into(),
        ]
    };
    grouped_rows(&mut table, comparison.rows.iter().map(|row| (&row.subject, cells(row))));
    table
}

fn difference(verdict: Verdict) -> &'static str {
    if verdict == Verdict::NoDifference { "none seen" } else { verdict.word() }
}

/// The first cell of a row.
pub(super) fn phase_name(subject: &Subject) -> String {
    subject.phase.clone().unwrap_or_else(|| "whole job".into())
}

/// What stands behind it where not the same was done or found.
pub(super) fn marks(row: &ComparedRow) -> &'static str {
    match (&row.caches, row.work) {
        (Some(_), Some(_)) => "~+",
        (Some(_), None) => "~",
        (None, Some(_)) => "+",
        (None, None) => "",
    }
}

fn write_reading(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let texts = reading(comparison);
    texts.iter().try_for_each(|(lead, text)| write_wrapped(lead, text, out))?;
    write_marks(&comparison.rows, out)
}

/// How the table is to be read but for its marks: sentences, each with what stands before it.
pub(super) fn reading(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let rows = &comparison.rows;
    let mut text = String::from(
        "A and B are geometric means over the repeats; B/A is how many times as fast B was.",
    );
    if rows.iter().any(|row| row.subject.phase.is_none()) {
        text += " The whole job is the time of all phases with the syncs at their ends.";
    }
    let phases = |is: fn(&&ComparedRow) -> bool| {
        let names = rows.iter().filter(is).filter_map(|row| row.subject.phase.clone());
        each_once(names)
    };
    let synced = phases(|row| row.with_sync);
    if !synced.is_empty() {
        let all = phases(|_| true).len() == synced.len();
        let of = if all { "all phases".into() } else { synced.join(", ") };
        text += &format!(" Rates with the sync at the end: {of}.");
    }
    let told = comparison.told();
    if told > 0 {
        text += &format!(
            " Each interval holds for itself: of {told} that are the same, {} would differ by \
             chance. {}",
            figures(comparison.by_chance(), 2),
            between_runs(comparison.others)
        );
    }
    let mut texts = vec![("", text)];
    let single = |row: &&ComparedRow| {
        row.interval.is_some() && row.sides.iter().any(|side| side.basis != IntervalBasis::Repeats)
    };
    let once = phases(single);
    if !once.is_empty() {
        let text = format!(
            "measured in one repeat of a run, so that its interval is usually too narrow: {}. \
             --repeats 3 or more tells better",
            few(&once)
        );
        texts.push(("- ", text));
    }
    texts
}

/// What the intervals know of the spread between runs.
pub(super) fn between_runs(others: usize) -> String {
    if others >= OTHER_RUNS_MIN {
        return format!(
            "No interval is narrower than two runs lie apart, by {} of the same.",
            counted(others as u64, "other run")
        );
    }
    let stored = match others {
        0 => "no other run".to_string(),
        n => format!("only {}", counted(n as u64, "other run")),
    };
    format!(
        "Intervals have the spread between the repeats of each run, not what changes on a machine from one \
         run to another: the store has {stored} of the same, and {OTHER_RUNS_MIN} would tell."
    )
}

/// Writes what the marks mean. Fails only if `out` does.
pub(super) fn write_marks(rows: &[ComparedRow], out: &mut dyn Write) -> io::Result<()> {
    about_marks(rows).iter().try_for_each(|(lead, text)| write_wrapped(lead, text, out))
}

/// What the marks mean, each behind its mark.
pub(super) fn about_marks(rows: &[ComparedRow]) -> Vec<(&'static str, String)> {
    let mut texts = Vec::new();
    if rows.iter().any(|row| row.disturbed.contains(&true)) {
        texts.push(("", ABOUT_MARK.to_string()));
    }
    for [a, b] in each_once(rows.iter().filter_map(|row| row.caches.as_ref())) {
        let text = format!(
            "caches were found {} in A and {} in B, which may be all of the difference",
            or_unknown(a),
            or_unknown(b)
        );
        texts.push(("~ ", text));
    }
    let works = rows.iter().filter_map(|row| Some((row.subject.phase.clone()?, row.work?)));
    let told = works.map(|(phase, [a, b])| {
        let operations = [a, b].map(|work| grouped(work.operations.round() as u64));
        let bytes = [a, b].map(|work| crate::base::units::bytes(work.bytes_each.round() as u64));
        match operations[0] == operations[1] {
            true => {
                format!("{phase} moved {} for each operation in A and {} in B", bytes[0], bytes[1])
            }
            false => {
                format!("{phase} {} operations in A and {} in B", operations[0], operations[1])
            }
        }
    });
    let told = each_once(told);
    if !told.is_empty() {
        texts.push(("+ ", format!("rates of different work are compared: {}", few(&told))));
    }
    texts
}

fn or_unknown(word: &str) -> &str {
    if word.is_empty() { "as nobody told" } else { word }
}

/// Latencies of single operations.
fn write_latencies(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[
        ("latency", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("B/A", Align::Right),
        ("95% interval", Align::Left),
        ("difference", Align::Left),
    ]);
    let cells = |row: &ComparedRow, latency: &LatencyPair| {
        let [a, b] = latency.ns.map(|ns| short_time(ns.map(|ns| ns as f64)));
        vec![
            format!("{} {}", phase_name(&row.subject), latency.quantile.word()),
            a,
            b,
            latency.ratio.map_or_else(|| "-".into(), times),
            latency.interval.map_or_else(|| "-".into(), span),
            difference(latency.verdict).into(),
        ]
    };
    let of_row = |row: &'_ ComparedRow| -> Vec<Vec<String>> {
        row.latencies.iter().map(|latency| cells(row, latency)).collect()
    };
    writeln!(out)?;
    let rows = comparison.rows.iter();
    let rows = rows.flat_map(|row| of_row(row).into_iter().map(move |cells| (&row.subject, cells)));
    grouped_rows(&mut table, rows);
    table.write(out)?;
    let text = "Latency of single operations, without a sync: B/A is how many times as long, of the \
                geometric means of the repeats' own. Of a single repeat the intervals are usually too \
                narrow.";
    write_wrapped("", text, out)
}
