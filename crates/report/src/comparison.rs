//! Writes texts and documents of several runs: `boatload compare`, `check`, and `show` of more than one. All show the rows of
//! comparisons in one table.

mod sentences;

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::first_screen::LINES_MAX;
use super::head::{NOT_PUBLISHED, about_machine, about_place, about_system, short_place};
use super::lists::minute;
use super::names::{cell_name, level_value};
use super::phases::mark;
use super::table::{Align, Table};
use super::text::{WIDTH, byte_rate, known, number, short_seconds, short_time, time, wrap};
use boatload_analysis::compare::differences::{differences, letter};
use boatload_analysis::compare::{
    BaselineRuns, Check, CheckOutcome, ComparedRow, Comparison, Metric, PhaseKey,
};
use boatload_analysis::effects::decide::Decision;
use boatload_analysis::findings::say::{listed, near, span};
use boatload_analysis::statement::begun;
use boatload_base::distinct::each_once;
use boatload_base::failure::shown;
use boatload_base::units::counted;
use boatload_results::book::{Book, Provenance};
use sentences::{check_reading, check_sentences};
pub(super) use sentences::{comparison_reading, comparison_sentences, phase_name};

/// More runs than these have no letter.
pub const RUNS_MAX: usize = 6;

/// Rises when a field of a document changes its meaning or goes.
const VERSION: u32 = 4;

/// Rows that stand in a table whatever else there is.
const ROWS_MIN: usize = 3;

/// Facts that differ between any runs.
const NO_CAUSE: [&str; 3] = ["date", "seed", "repeats (no cause)"];

/// How the facts in which runs differ are to be read.
pub(super) const ABOUT_DIFFERENCES: &str =
    "Each of these may be why figures differ. Only what was done alike can be compared.";

/// The document of `boatload compare`, `check` and `crash` with `--json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct SentencedDocument<'a, T> {
    /// `boatload-compare`, `boatload-check` or `boatload-crash`.
    format: &'static str,
    /// Rises when a key is removed or changes its meaning.
    version: u32,
    /// What the terminal says first.
    sentences: Vec<String>,
    #[serde(flatten)]
    content: &'a T,
}

/// Writes such a document on one line. Fails only if `out` does.
pub(super) fn write_document(
    format: &'static str,
    version: u32,
    sentences: Vec<String>,
    content: &impl Serialize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = SentencedDocument { format, version, sentences, content };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

/// Writes the comparison document on one line; docs/COMPARE.md has its fields. Fails only if `out`
/// does.
pub fn write_comparison_json(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    write_document("boatload-compare", VERSION, comparison_sentences(comparison), comparison, out)
}

/// Writes the check document in the same way. Without any run to check against it has no rows.
pub fn write_check_json(check: &Check, out: &mut dyn Write) -> io::Result<()> {
    write_document("boatload-check", VERSION, check_sentences(check), check, out)
}

/// Writes comparisons with one first run, `books[0]`: of a single one what it proves, then which runs they are, a table, and how
/// to read it. It fits a terminal; with `details` it is everything. Fails only if `out` does.
pub fn write_comparison(
    books: &[&Book],
    comparisons: &[Comparison],
    details: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let said = if let [one] = comparisons { comparison_sentences(one) } else { Vec::new() };
    let text = ComparisonText {
        books,
        comparisons,
        said: wrapped(&said),
        about_runs: Vec::new(),
        verdict: PROVEN,
        reading: &|rows| {
            comparisons.first().map_or(Vec::new(), |one| comparison_reading(one, rows))
        },
    };
    text.write(details, out)
}

/// Writes the result of the check: sentences, a line for each phase, and how to read them. It fits a terminal; with `details` it
/// is everything. Fails only if `out` does.
pub fn write_check(
    run: &Book,
    baseline: BaselineRuns<'_>,
    check: &Check,
    details: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut said = wrapped(&check_sentences(check));
    if !run.run.complete {
        said.push(format!(
            "Next: {}   # measures what is missing",
            shown(run.run.resume_command())
        ));
    }
    let runs = baseline.analyses();
    let Some(newest) = runs.last().map(|run| run.book) else {
        return said.iter().try_for_each(|line| writeln!(out, "{line}"));
    };
    let mut about_runs = Vec::new();
    if runs.len() > 1 {
        about_runs
            .push(format!("A is the newest of {}", counted(runs.len() as u64, "earlier run")));
    }
    let again = check.comparison.b_again.iter().map(|run| run.id.as_str()).collect::<Vec<_>>();
    if !again.is_empty() {
        about_runs.push(format!("B was run again as {}", again.join(", ")));
    }
    let text = ComparisonText {
        books: &[newest, run],
        comparisons: std::slice::from_ref(&check.comparison),
        said,
        about_runs,
        verdict: CHECKED,
        reading: &|rows| check_reading(check, rows),
    };
    text.write(details, out)
}

/// What stands in the last column of each run: its heading, and the word for a row.
struct VerdictColumn {
    head: &'static str,
    word: fn(&ComparedRow) -> &'static str,
}

const PROVEN: VerdictColumn = VerdictColumn { head: "result", word: proven_text };
const CHECKED: VerdictColumn =
    VerdictColumn { head: "check", word: |row| row.outcome.map_or("", outcome_text) };

/// The text about compared runs.
struct ComparisonText<'a> {
    books: &'a [&'a Book],
    comparisons: &'a [Comparison],
    /// The lines that stand first.
    said: Vec<String>,
    about_runs: Vec<String>,
    verdict: VerdictColumn,
    /// How rows are to be read.
    reading: &'a dyn Fn(&[&ComparedRow]) -> Vec<String>,
}

impl ComparisonText<'_> {
    fn write(&self, details: bool, out: &mut dyn Write) -> io::Result<()> {
        let all = keys(self.comparisons);
        let screen = |rows: usize| self.lines(&self.most_telling(&all, rows), false);
        let fitting = || (ROWS_MIN..=all.len().min(LINES_MAX)).rev().map(screen);
        let lines = match details {
            true => self.lines(&all, true),
            false => {
                fitting().find(|lines| lines.len() <= LINES_MAX).unwrap_or_else(|| screen(ROWS_MIN))
            }
        };
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// So many rows in their order: regressions, then what is proven and whole jobs, then what both sides have.
    fn most_telling<'k>(&self, all: &[&'k PhaseKey], rows: usize) -> Vec<&'k PhaseKey> {
        let weight = |row: &ComparedRow| -> (u8, f64) {
            let class = match row.effect.decision {
                _ if row.outcome == Some(CheckOutcome::Regression) => 3,
                decision if decision.is_difference() => 2,
                _ if row.is_in_both() && row.key.phase.is_none() => 2,
                _ => u8::from(row.is_in_both()),
            };
            (class, row.effect.size())
        };
        let most = |key: &PhaseKey| {
            let own =
                self.comparisons.iter().flat_map(|one| &one.rows).filter(|row| row.key == *key);
            own.map(weight).fold((0, 0.0), |a, b| if b > a { b } else { a })
        };
        let mut by_weight: Vec<(usize, (u8, f64))> =
            all.iter().map(|key| most(key)).enumerate().collect();
        by_weight.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap_or(std::cmp::Ordering::Equal));
        let mut places: Vec<usize> = by_weight.iter().take(rows).map(|one| one.0).collect();
        places.sort_unstable();
        places.into_iter().map(|at| all[at]).collect()
    }

    /// Its paragraphs, with these rows.
    fn lines(&self, keys: &[&PhaseKey], details: bool) -> Vec<String> {
        let table = rows_table(self.comparisons, keys, &self.verdict);
        let rows = self.comparisons.iter().flat_map(|one| &one.rows);
        let rows: Vec<&ComparedRow> = rows.filter(|row| keys.contains(&&row.key)).collect();
        let figures = match table.has_rows() {
            true => [table.text_lines(WIDTH), wrapped(&(self.reading)(&rows))].concat(),
            false => Vec::new(),
        };
        let mut parts = vec![self.said.clone(), self.run_lines(details), figures];
        if details {
            parts.extend(self.latencies());
            parts.push(differences_lines(self.books));
        } else {
            parts.push(wrapped(&self.more(keys.len())));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(&String::new())
    }

    /// What of it is to be seen only in the details.
    fn more(&self, shown: usize) -> Vec<String> {
        let left_out = keys(self.comparisons).len() - shown;
        let rows = (left_out > 0).then(|| counted(left_out as u64, "more row"));
        let all = differences(self.books).into_iter().map(|one| one.name.to_string());
        let names: Vec<String> = all.filter(|name| !NO_CAUSE.contains(&&**name)).collect();
        let differ =
            (!names.is_empty()).then(|| format!("the runs also differ in {}", listed(&names)));
        let parts: Vec<String> = rows.into_iter().chain(differ).collect();
        let text = format!("{}: see --details", parts.join("; "));
        if parts.is_empty() { parts } else { vec![begun(&text)] }
    }

    /// Which runs they are, and what of them does not count.
    fn run_lines(&self, details: bool) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, book) in self.books.iter().enumerate() {
            let lead = format!("{}: ", letter(at));
            let [title, place] = about_run(book);
            if details {
                lines.extend(wrap(&lead, &title));
                lines.extend(wrap("   ", &place));
            } else {
                lines.extend(wrap(&lead, &short_title(book)));
            }
            if !book.run.complete {
                lines.extend(wrap("   ", "INCOMPLETE: not every cell was done"));
            }
            let invalid = book.measurements.iter().filter(|m| !m.valid()).count() as u64;
            if invalid > 0 {
                let text = format!("{} invalid and left out", counted(invalid, "measurement"));
                lines.extend(wrap("   ", &text));
            }
        }
        lines.extend(wrapped(&self.about_runs));
        lines
    }

    fn latencies(&self) -> Vec<Vec<String>> {
        let tables = self.comparisons.iter().map(latencies_table).filter(Table::has_rows);
        let text =
            "Latencies of single operations, without a sync: geometric means over the repeats.";
        tables.map(|table| [table.text_lines(WIDTH), wrap("", text)].concat()).collect()
    }
}

fn wrapped(texts: &[String]) -> Vec<String> {
    texts.iter().flat_map(|text| wrap("", text)).collect()
}

/// The facts in which the runs differ: each may be the cause of a difference.
fn differences_lines(books: &[&Book]) -> Vec<String> {
    let table = differences_table(books);
    let published = match books.iter().any(|book| book.run.reference.is_some()) {
        true => " `boatload show reference:NAME` has what is wrong about a published figure.",
        false => "",
    };
    match table.has_rows() {
        true => {
            [table.text_lines(WIDTH), wrap("", &format!("{ABOUT_DIFFERENCES}{published}"))].concat()
        }
        false => Vec::new(),
    }
}

fn proven_text(row: &ComparedRow) -> &'static str {
    match (row.effect.decision, row.effect.in_headline) {
        (Decision::Longer, true) => "slower",
        (Decision::Longer, false) => "likely slower",
        (Decision::Shorter, true) => "faster",
        (Decision::Shorter, false) => "likely faster",
        (Decision::Within, true) => "within 10%",
        (Decision::Within, false) => "likely within 10%",
        (Decision::Open, _) => "",
    }
}

/// Rows of the same phases in comparisons with one first run: its value, then for each other run the value, how many times as
/// long it took, and the interval.
pub(super) fn comparison_table(comparisons: &[Comparison]) -> Table {
    rows_table(comparisons, &keys(comparisons), &PROVEN)
}

fn outcome_text(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Ok => "ok",
        CheckOutcome::Regression => "REGRESSION",
        CheckOutcome::Unsure => "unsure",
        CheckOutcome::OtherWork => "other work",
        CheckOutcome::Invalid => "invalid",
        CheckOutcome::Missing => "missing",
        CheckOutcome::NoBaseline => "no baseline",
        CheckOutcome::NotInBoth => "not in both",
    }
}

fn rows_table(comparisons: &[Comparison], keys: &[&PhaseKey], verdict: &VerdictColumn) -> Table {
    let mut heads = vec![("phase".to_string(), Align::Left), ("A".into(), Align::Right)];
    for at in 1..=comparisons.len() {
        let letter = letter(at);
        heads.push((letter.to_string(), Align::Right));
        heads.push((format!("{letter}/A"), Align::Right));
        heads.push(("interval".into(), Align::Left));
        heads.push((verdict.head.into(), Align::Left));
    }
    let mut table = Table::new(&heads);
    if comparisons.len() > 1 {
        let of_run = |at: usize| 2 + at * 4..2 + (at + 1) * 4;
        let groups = std::iter::once(1..2).chain((0..comparisons.len()).map(of_run));
        table.groups = groups.collect();
    }
    add_phases(
        &mut table,
        keys.iter(),
        |key| key,
        |key| {
            let mut rows: Vec<Option<&ComparedRow>> = Vec::new();
            rows.extend(
                comparisons.iter().map(|all| all.rows.iter().find(|row| row.key == ***key)),
            );
            let there = || rows.iter().flatten();
            let marks = there().map(|row| marks(row)).max_by_key(|marks| marks.len());
            let name = key.phase.clone().unwrap_or_else(|| "whole job".into());
            let first = there().find(|row| row.a.is_some()).or(there().next());
            let mut line = vec![name + marks.unwrap_or_default()];
            line.push(known(first, |row| value_cell(row, 0)));
            for row in rows {
                line.push(known(row, |row| value_cell(row, 1)));
                line.push(known(row.and_then(|row| row.effect.ratio), near));
                line.push(known(row.and_then(|row| row.effect.interval), span));
                line.push(row.map_or("", verdict.word).into());
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
    let text = known(value, |value| value_text(row.metric, value.mean, value.figures));
    format!("{}{text}", mark(row.disturbed[side]))
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
            let ratio = known(latency.effect.ratio, near);
            vec![name, a, b, ratio, known(latency.effect.interval, span)]
        },
    );
    table
}

/// Which run it is, and on what, in a line.
fn short_title(book: &Book) -> String {
    let [title, place] = about_run(book);
    match book.run.reference {
        Some(_) => format!("{}; {place}", book.run.id),
        None => format!("{title}; {}", short_place(book)),
    }
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
            let title = format!("run {} of {}: {what}", run.id, minute(&run.started));
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
    use boatload_base::fixture::published::assert_published;

    #[test]
    fn the_schemas_of_comparisons_and_checks_are_the_ones_that_are_published() {
        assert_published::<SentencedDocument<'_, Comparison>>("compare.schema.json");
        assert_published::<SentencedDocument<'_, Check>>("check.schema.json");
    }
}
