//! Writes texts and documents of several runs: `boatload compare`, `check`, and `show` of more than one. All show the rows of
//! comparisons in one table.

mod sentences;

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::head::{NOT_PUBLISHED, about_machine, about_place, about_system};
use super::names::{cell_name, level_value};
use super::phases::mark;
use super::table::{Align, Table};
use super::text::{byte_rate, number, short_seconds, short_time, time, write_wrapped};
use crate::analysis::compare::differences::{differences, letter};
use crate::analysis::compare::{
    BaselineMark, BaselineRuns, Check, CheckOutcome, ComparedRow, Comparison, HISTORY_FIGURES,
    Metric, PhaseKey,
};
use crate::analysis::effects::decide::Decision;
use crate::analysis::findings::say::{span, times};
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::counted;
use crate::results::book::{Book, Provenance};
use sentences::{check_reading, check_sentences};
pub(super) use sentences::{comparison_reading, comparison_sentences, phase_name, share};

/// More runs than these have no letter.
pub const RUNS_MAX: usize = 6;

/// Rises when a field of a document changes its meaning or goes.
const VERSION: u32 = 4;

/// How the facts in which runs differ are to be read.
pub(super) const ABOUT_DIFFERENCES: &str =
    "Each of these may be why figures differ. Only what was done alike can be compared.";

/// The document of `boatload compare --json` and `boatload check --json`.
#[derive(Serialize, JsonSchema)]
struct SentencedDocument<'a, T> {
    /// `boatload-compare` or `boatload-check`.
    format: &'static str,
    /// Rises when a key is removed or changes its meaning.
    version: u32,
    /// What the terminal says first.
    sentences: Vec<String>,
    #[serde(flatten)]
    content: &'a T,
}

fn write_document(
    format: &'static str,
    sentences: Vec<String>,
    content: &impl Serialize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = SentencedDocument { format, version: VERSION, sentences, content };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

/// Writes the comparison document on one line; docs/COMPARE.md has its fields. Fails only if `out`
/// does.
pub fn write_comparison_json(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    write_document("boatload-compare", comparison_sentences(comparison), comparison, out)
}

/// Writes the check document in the same way. Without any run to check against it has no rows.
pub fn write_check_json(check: &Check, out: &mut dyn Write) -> io::Result<()> {
    write_document("boatload-check", check_sentences(check), check, out)
}

/// Writes comparisons with one first run, `books[0]`: of a single one what it proves, then which runs they are, a table, and how
/// to read it. `details` adds latencies. Fails only if `out` does.
pub fn write_comparison(
    books: &[&Book],
    comparisons: &[Comparison],
    details: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let [one] = comparisons {
        write_lines(&comparison_sentences(one), out)?;
        writeln!(out)?;
    }
    write_runs(books, out)?;
    write_table(&comparison_table(comparisons), &comparison_reading(comparisons), out)?;
    for comparison in comparisons.iter().filter(|_| details) {
        writeln!(out)?;
        latencies_table(comparison).write(out)?;
        let text =
            "Latencies of single operations, without a sync: geometric means over the repeats.";
        write_wrapped("", text, out)?;
    }
    write_differences(books, out)
}

/// Writes the result of the check: sentences, a line for each phase, and how to read them. `show`
/// adds the history of each. Fails only if `out` does.
pub fn write_check(
    run: &Book,
    baseline: BaselineRuns<'_>,
    check: &Check,
    show: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_lines(&check_sentences(check), out)?;
    if !run.run.complete {
        writeln!(out, "Next: {}   # measures what is missing", shown(run.run.resume_command()))?;
    }
    let runs = baseline.analyses();
    let Some(newest) = runs.last().map(|run| run.book) else { return Ok(()) };
    writeln!(out)?;
    write_runs(&[newest, run], out)?;
    if runs.len() > 1 {
        let text = format!("A is the newest of {}", counted(runs.len() as u64, "earlier run"));
        write_wrapped("", &text, out)?;
    }
    let again = check.comparison.b_again.iter().map(|run| run.id.as_str()).collect::<Vec<_>>();
    if !again.is_empty() {
        write_wrapped("", &format!("B was run again as {}", again.join(", ")), out)?;
    }
    write_table(&check_table(check), &check_reading(check), out)?;
    if show {
        check.rows().try_for_each(|row| write_history(row, out))?;
    }
    write_differences(&[newest, run], out)
}

fn write_lines(texts: &[String], out: &mut dyn Write) -> io::Result<()> {
    texts.iter().try_for_each(|text| write_wrapped("", text, out))
}

/// Writes a table with how it is to be read, if it has rows.
fn write_table(table: &Table, reading: &[String], out: &mut dyn Write) -> io::Result<()> {
    if !table.has_rows() {
        return Ok(());
    }
    writeln!(out)?;
    table.write(out)?;
    write_lines(reading, out)
}

/// Rows of the same phases in comparisons with one first run: its value, then for each other run the value, how many times as
/// long it took, and the interval.
pub(super) fn comparison_table(comparisons: &[Comparison]) -> Table {
    let proven = |row: &ComparedRow| match row.effect.decision {
        Decision::Longer => "slower",
        Decision::Shorter => "faster",
        Decision::Within => "within 10%",
        Decision::Open => "",
    };
    rows_table(comparisons, "proven", proven)
}

fn check_table(check: &Check) -> Table {
    let outcome = |row: &ComparedRow| row.outcome.map_or("", outcome_text);
    rows_table(std::slice::from_ref(&check.comparison), "check", outcome)
}

fn outcome_text(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Ok => "ok",
        CheckOutcome::Regression => "REGRESSION",
        CheckOutcome::Unsure => "unsure",
        CheckOutcome::Invalid => "invalid",
        CheckOutcome::Missing => "missing",
        CheckOutcome::NoBaseline => "no baseline",
        CheckOutcome::NotInBoth => "not in both",
    }
}

fn rows_table(
    comparisons: &[Comparison],
    verdict_head: &str,
    verdict: impl Fn(&ComparedRow) -> &'static str,
) -> Table {
    let mut heads = vec![("phase".to_string(), Align::Left), ("A".into(), Align::Right)];
    for at in 1..=comparisons.len() {
        let letter = letter(at);
        heads.push((letter.to_string(), Align::Right));
        heads.push((format!("{letter}/A"), Align::Right));
        heads.push(("interval".into(), Align::Left));
        heads.push((verdict_head.into(), Align::Left));
    }
    let mut table = Table::new(&heads);
    if comparisons.len() > 1 {
        let of_run = |at: usize| 2 + at * 4..2 + (at + 1) * 4;
        let groups = std::iter::once(1..2).chain((0..comparisons.len()).map(of_run));
        table.groups = groups.collect();
    }
    add_phases(
        &mut table,
        keys(comparisons).into_iter(),
        |key| key,
        |key| {
            let mut rows: Vec<Option<&ComparedRow>> = Vec::new();
            rows.extend(comparisons.iter().map(|all| all.rows.iter().find(|row| row.key == **key)));
            let known = || rows.iter().flatten();
            let marks = known().map(|row| marks(row)).max_by_key(|marks| marks.len());
            let name = key.phase.clone().unwrap_or_else(|| "whole job".into());
            let first = known().find(|row| row.a.is_some()).or(known().next());
            let mut line = vec![name + marks.unwrap_or_default()];
            line.push(first.map_or_else(|| "-".into(), |row| value_cell(row, 0)));
            for row in rows {
                line.push(row.map_or_else(|| "-".into(), |row| value_cell(row, 1)));
                line.push(known_text(row.and_then(|row| row.effect.ratio).map(times)));
                line.push(known_text(row.and_then(|row| row.effect.interval).map(span)));
                line.push(row.map_or("", &verdict).into());
            }
            line
        },
    );
    table
}

/// The rows of all comparisons once, grouped by variant and level, each group with its whole job first.
fn keys(comparisons: &[Comparison]) -> Vec<&PhaseKey> {
    let all = || comparisons.iter().flat_map(|all| all.rows.iter().map(|row| &row.key));
    let groups = each_once(all().map(|key| (&key.variant, &key.level)));
    let mut keys = each_once(all());
    let group = |key: &PhaseKey| groups.iter().position(|one| *one == (&key.variant, &key.level));
    keys.sort_by_key(|key| (group(key), key.phase.is_some()));
    keys
}

fn value_cell(row: &ComparedRow, side: usize) -> String {
    let value = [row.a, row.b][side];
    let text = value.map(|value| value_text(row.metric, value.mean, value.figures));
    format!("{}{}", mark(row.disturbed[side]), known_text(text))
}

/// What stands behind a phase where not the same was done or found.
fn marks(row: &ComparedRow) -> &'static str {
    match (&row.caches, row.work) {
        (Some(_), Some(_)) => "~+",
        (Some(_), None) => "~",
        (None, Some(_)) => "+",
        (None, None) => "",
    }
}

fn latencies_table(comparison: &Comparison) -> Table {
    let numbers = ["A", "B", "B/A"].map(|head| (head, Align::Right));
    let words = ["latency", "interval"].map(|head| (head, Align::Left));
    let mut table = Table::new(&[&words[..1], &numbers, &words[1..]].concat());
    let rows = comparison.in_both();
    let rows = rows.flat_map(|row| row.latency_ratios.iter().map(move |latency| (row, latency)));
    add_phases(
        &mut table,
        rows,
        |(row, _)| &row.key,
        |(row, latency)| {
            let [a, b] = latency.ns.map(short_time);
            let phase = row.key.phase.as_deref().unwrap_or_default();
            let name = format!("{phase} {}", latency.quantile.as_str());
            let ratio = known_text(latency.effect.ratio.map(times));
            vec![name, a, b, ratio, known_text(latency.effect.interval.map(span))]
        },
    );
    table
}

fn write_history(row: &ComparedRow, out: &mut dyn Write) -> io::Result<()> {
    let Some(history) = &row.history else { return Ok(()) };
    let title = phase_name(&row.key);
    let mut table = Table::new(&[
        (title.as_str(), Align::Left),
        ("run", Align::Left),
        (if row.metric == Metric::Seconds { "took" } else { "rate" }, Align::Right),
        ("", Align::Left),
    ]);
    for point in &history.points {
        let started = point.started.get(..16).unwrap_or_default().replace('T', " ");
        let mark = match point.mark {
            BaselineMark::Earlier => "earlier",
            BaselineMark::Step => "STEP",
            BaselineMark::Baseline => "baseline",
            BaselineMark::Outlier => "outlier, not counted",
        };
        let value = value_text(row.metric, point.value, HISTORY_FIGURES);
        table.row(vec![started, point.run.clone(), value, mark.into()]);
    }
    writeln!(out)?;
    table.write(out)
}

/// What stands for a value that is not known.
fn known_text(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}

/// Writes which runs they are, and what of them does not count.
fn write_runs(books: &[&Book], out: &mut dyn Write) -> io::Result<()> {
    for (at, book) in books.iter().enumerate() {
        let [title, place] = about_run(book);
        write_wrapped(&format!("{}: ", letter(at)), &title, out)?;
        write_wrapped("   ", &place, out)?;
        if !book.run.complete {
            write_wrapped("   ", "INCOMPLETE: not every cell was done", out)?;
        }
        let invalid = book.measurements.iter().filter(|m| !m.valid()).count() as u64;
        if invalid > 0 {
            let text = format!("{} invalid and left out", counted(invalid, "measurement"));
            write_wrapped("   ", &text, out)?;
        }
    }
    Ok(())
}

/// Which run it is, and where it was measured.
pub(super) fn about_run(book: &Book) -> [String; 2] {
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

/// Adds rows of phases to a table, below the headings of their variants and levels.
fn add_phases<R>(
    table: &mut Table,
    rows: impl Iterator<Item = R>,
    key: impl Fn(&R) -> &PhaseKey,
    cells: impl Fn(&R) -> Vec<String>,
) {
    let mut heading = PhaseKey::default();
    for row in rows {
        let own = PhaseKey { phase: None, ..key(&row).clone() };
        if own != heading {
            let level =
                own.level.as_ref().map(|level| format!("{} {}", level.axis, level_value(level)));
            table.heading(&match &own.variant {
                Some(variant) => format!("{}:", cell_name(variant, own.level.as_ref())),
                None => format!("{}:", level.unwrap_or_else(|| "without a level".into())),
            });
            heading = own;
        }
        table.row(cells(&row));
    }
}

fn value_text(metric: Metric, value: f64, figures: u32) -> String {
    match metric {
        Metric::OperationsPerSecond => format!("{}/s", number(value, figures)),
        Metric::BytesPerSecond => byte_rate(value, figures).replace(' ', ""),
        Metric::Seconds => short_seconds(Some(value)),
        Metric::Nanoseconds => time(Some(value)),
    }
}

/// The facts in which the runs differ: each may be the cause of a difference.
fn write_differences(books: &[&Book], out: &mut dyn Write) -> io::Result<()> {
    let about = match books.iter().any(|book| book.run.reference.is_some()) {
        true => format!(
            "{ABOUT_DIFFERENCES} `boatload show reference:NAME` has what is wrong about a published figure."
        ),
        false => ABOUT_DIFFERENCES.into(),
    };
    write_table(&differences_table(books), &[about], out)
}

/// A row for each fact in which the runs differ.
pub(super) fn differences_table(books: &[&Book]) -> Table {
    let letters = (0..books.len()).map(|at| (letter(at).to_string(), Align::Left));
    let heads: Vec<_> = [("differs".into(), Align::Left)].into_iter().chain(letters).collect();
    let mut table = Table::new(&heads);
    for one in differences(books) {
        let values =
            one.values.into_iter().map(|text| text.unwrap_or_else(|| NOT_PUBLISHED.into()));
        table.row([one.name.to_string()].into_iter().chain(values).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{Check, Comparison, SentencedDocument};
    use crate::base::fixture::published::assert_published;

    #[test]
    fn the_schemas_of_comparisons_and_checks_are_the_ones_that_are_published() {
        assert_published::<SentencedDocument<'_, Comparison>>("compare.schema.json");
        assert_published::<SentencedDocument<'_, Check>>("check.schema.json");
    }
}
