//! Writes texts and documents of several runs: `boatload compare`, `check`, and `show` of more than one.

mod sentences;
mod side_by_side;

use std::io::{self, Write};

use serde::Serialize;

use super::phases::mark;
use super::table::{Align, Table, TableColumn};
use super::text::{short_time, write_wrapped};
use crate::analysis::compare::{
    BaselineKind, BaselineMark, BaselineRuns, Check, CheckOutcome, ComparedRow, Comparison,
    HISTORY_FIGURES, Metric, RowEffect,
};
use crate::analysis::effects::decide::Decision;
use crate::analysis::findings::say::{span, times};
use crate::analysis::uncertainty::{Estimate, IntervalBasis};
use crate::base::distinct::each_once;
use crate::base::units::counted;
use crate::results::book::Book;
pub(super) use sentences::{
    ABOUT_DIFFERENCES, about_run, comparison_sentences, differences_table, few, phase_name, share,
};
use sentences::{
    MarkMeaning, about_marks, add_phases, check_sentences, decision_text, estimate_text, known,
    marks, one_sided_load, short_phase_name, value_text, write_differences, write_run, write_state,
};
pub use side_by_side::{RUNS_MAX, write_side_by_side};
pub(super) use side_by_side::{side_by_side_reading, side_by_side_table};

/// Rises when a field of a document changes its meaning or goes.
const VERSION: u32 = 3;

#[derive(Serialize)]
struct SentencedDocument<'a, T> {
    format: &'static str,
    version: u32,
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

/// Writes what B is to A: sentences, a table, and how to read it. `details` adds latencies. Fails
/// only if `out` does.
pub fn write_comparison(
    books: [&Book; 2],
    comparison: &Comparison,
    details: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (letter, book) in ["A", "B"].iter().zip(books) {
        write_run(letter, book, out)?;
        write_state(book, out)?;
    }
    let table = comparison_table(comparison);
    let reading = comparison_reading(comparison);
    write_findings(&comparison_sentences(comparison), &table, &reading, out)?;
    if details {
        write_latencies(comparison, out)?;
    }
    write_differences(&books, out)
}

/// Writes sentences, and a table with how it is to be read if it has rows.
fn write_findings(
    sentences: &[String],
    table: &Table,
    reading: &[MarkMeaning],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    sentences.iter().try_for_each(|sentence| write_wrapped("* ", sentence, out))?;
    if !table.has_rows() {
        return Ok(());
    }
    writeln!(out)?;
    table.write(out)?;
    reading.iter().try_for_each(|(lead, text)| write_wrapped(lead, text, out))
}

type ComparedColumn = TableColumn<ComparedRow>;

const PHASE: ComparedColumn =
    ComparedColumn::words("phase", |row| short_phase_name(&row.key) + marks(row));

const COMPARED: [ComparedColumn; 6] = [
    PHASE,
    ComparedColumn::numbers("A", value_of_a),
    ComparedColumn::numbers("B", value_of_b),
    ComparedColumn::numbers("B/A", |row| known(row.effect.ratio.map(times))),
    ComparedColumn::words("interval", |row| interval(&row.effect)),
    ComparedColumn::words("B is", |row| decision_text(row.effect.decision).into()),
];

fn interval(effect: &RowEffect) -> String {
    known(effect.interval.map(span))
}

fn value_of_a(row: &ComparedRow) -> String {
    value(row, row.a, row.disturbed[0])
}

fn value_of_b(row: &ComparedRow) -> String {
    value(row, row.b, row.disturbed[1])
}

fn value(row: &ComparedRow, value: Option<Estimate>, is_disturbed: bool) -> String {
    let text = known(value.map(|value| estimate_text(row.metric, &value)));
    format!("{}{text}", mark(is_disturbed))
}

fn compared<'a>(columns: &[ComparedColumn], rows: impl Iterator<Item = &'a ComparedRow>) -> Table {
    let mut table = Table::of_columns(columns);
    let cells = |row: &&ComparedRow| columns.iter().map(|column| (column.cell)(row)).collect();
    add_phases(&mut table, rows, |row| &row.key, cells);
    table
}

/// A row for each thing that both runs measured.
pub(super) fn comparison_table(comparison: &Comparison) -> Table {
    compared(&COMPARED, comparison.in_both())
}

/// How the table is to be read.
pub(super) fn comparison_reading(comparison: &Comparison) -> Vec<MarkMeaning> {
    let rows: Vec<&ComparedRow> = comparison.in_both().collect();
    let mut text = String::from(
        "A and B are geometric means over the repeats; B/A is how many times as fast B was.",
    );
    if rows.iter().any(|row| row.key.phase.is_none()) {
        text += " The whole job is the time of all phases with the syncs at their ends.";
    }
    if rows.iter().any(|row| row.effect.interval.is_some()) {
        text += " Of the rows called slower, faster or within 10%, at most 5% are expected to be wrong; in open rows \
                 nothing is proven. An interval agrees with its decision.";
        if rows.iter().any(|row| is_less_sure(&row.effect)) {
            text += " Less sure is what is not proven if the chance of any wrong row has to be 5%.";
        }
        text += &format!(" {}", about_between_runs(comparison, "other run"));
    }
    let mut texts = vec![("", text)];
    texts.extend(about_missing_errors(comparison).map(|text| ("- ", text)));
    texts.extend(about_marks(comparison));
    texts
}

/// Whether it is claimed in the table and not in the headline.
fn is_less_sure(effect: &RowEffect) -> bool {
    let is_different = matches!(effect.decision, Decision::Longer | Decision::Shorter);
    is_different && !effect.in_headline
}

/// Why no difference is claimed: of runs what would show one, of published figures only what they lack.
fn about_missing_errors(comparison: &Comparison) -> impl Iterator<Item = String> {
    let [mut once, mut without_error] = [Vec::new(), Vec::new()];
    for row in comparison.in_both().filter(|row| row.effect.interval.is_none()) {
        for (side, is_published) in [row.a, row.b].into_iter().zip(comparison.is_published()) {
            let lacks_error = side.is_some_and(|side| side.basis != IntervalBasis::Repeats);
            let phases = if is_published { &mut without_error } else { &mut once };
            phases.extend(row.key.phase.clone().filter(|_| lacks_error));
        }
    }
    let texts = [
        (once, "measured in one repeat of a run", "; use --repeats 3 or more"),
        (without_error, "published without an error", ""),
    ];
    texts.into_iter().filter(|(phases, ..)| !phases.is_empty()).map(|(phases, why, advice)| {
        let phases = few(&each_once(phases.into_iter()));
        format!("{why}, from which no difference is claimed: {phases}{advice}")
    })
}

/// How much equal runs are taken to differ. `other` is what the other runs are called.
fn about_between_runs(comparison: &Comparison, other: &str) -> String {
    let runs = counted(comparison.other_runs as u64, other);
    match comparison.other_runs {
        0 => {
            format!("No {other} of the job of A or B shows how much equal runs differ: {ASSUMED}.")
        }
        1 => format!("Only {runs} of the job of A or B counts: {ASSUMED}."),
        _ => format!("How much equal runs differ is known from {runs} of the job of A or B."),
    }
}

/// The same of a history.
fn about_history(check: &Check) -> String {
    let runs = check.rows().filter_map(|row| Some(row.history.as_ref()?.runs)).max();
    let differ = match runs {
        None | Some(0 | 1) => {
            format!(". One run does not show how much equal runs differ: {ASSUMED}.")
        }
        _ => ", which also show how much equal runs differ.".into(),
    };
    format!(" The baseline is the runs since the last step{differ}")
}

/// What is taken where other runs do not show it.
const ASSUMED: &str = "it is taken to be as much as on other machines";

fn write_latencies(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let heads = ["latency", "A", "B", "B/A", "interval", "B is"];
    let aligns = COMPARED.iter().map(|column| column.align);
    let mut table = Table::new(&heads.into_iter().zip(aligns).collect::<Vec<_>>());
    let rows = comparison.in_both();
    let rows = rows.flat_map(|row| row.latency_ratios.iter().map(move |latency| (row, latency)));
    add_phases(
        &mut table,
        rows,
        |(row, _)| &row.key,
        |(row, latency)| {
            let [a, b] = latency.ns.map(short_time);
            vec![
                format!("{} {}", short_phase_name(&row.key), latency.quantile.as_str()),
                a,
                b,
                known(latency.effect.ratio.map(times)),
                interval(&latency.effect),
                decision_text(latency.effect.decision).into(),
            ]
        },
    );
    writeln!(out)?;
    table.write(out)?;
    let text = "Latency of single operations, without a sync: A and B are geometric means of the repeats' \
                own; B/A is how many times as long B's is.";
    write_wrapped("", text, out)
}

/// Writes what comes of the check: sentences, a line for each phase, and how to read them. `show`
/// adds the history of each. Fails only if `out` does.
pub fn write_check(
    run: &Book,
    baseline: BaselineRuns<'_>,
    check: &Check,
    show: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let runs = baseline.analyses();
    let Some(newest) = runs.last().map(|run| run.book) else { return Ok(()) };
    write_run("A", newest, out)?;
    if runs.len() > 1 {
        let text = format!("and {} before it", counted(runs.len() as u64 - 1, "run"));
        write_wrapped("   ", &text, out)?;
    }
    write_run("B", run, out)?;
    write_state(run, out)?;
    let again = check.comparison.b_again.iter().map(|run| run.id.as_str()).collect::<Vec<_>>();
    if !again.is_empty() {
        write_wrapped("   ", &format!("run again as {}", again.join(", ")), out)?;
    }
    write_findings(&check_sentences(check), &check_table(check), &check_reading(check), out)?;
    if show {
        check.rows().try_for_each(|row| write_history(row, out))?;
    }
    write_differences(&[newest, run], out)
}

const CHECKED: [ComparedColumn; 8] = [
    ComparedColumn::words("", |row| row.outcome().map(outcome_text).unwrap_or_default().into()),
    PHASE,
    ComparedColumn::numbers("baseline", value_of_a),
    ComparedColumn::numbers("this run", value_of_b),
    ComparedColumn::numbers("time", |row| known(row.effect.slowdown().map(times))),
    ComparedColumn::words("interval", |row| {
        known(row.checked.and_then(|checked| checked.slowdown_interval).map(span))
    }),
    ComparedColumn::words("since", |row| {
        let history = row.history.as_ref();
        let first = history.and_then(|history| history.points.get(history.since));
        first.and_then(|point| point.started.get(..10)).unwrap_or_default().into()
    }),
    ComparedColumn::numbers("runs", |row| {
        row.history.as_ref().map_or_else(String::new, |history| history.runs.to_string())
    }),
];

fn check_table(check: &Check) -> Table {
    let columns = match check.against {
        BaselineKind::History => CHECKED.len(),
        BaselineKind::Run => CHECKED.len() - 2,
    };
    compared(&CHECKED[..columns], check.rows())
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

fn check_reading(check: &Check) -> Vec<MarkMeaning> {
    let most = times(1.0 + check.fail_on);
    let load = one_sided_load(&check.comparison);
    let load = load.map(|load| format!(" Where {load}, it is neither if load may be why."));
    let mut text = format!(
        "time is how many times as long this run took: a regression is proven to be above {most}, what is ok \
         below.{} The chance of any false regression is 5%, however many rows there are, and so is that of any false ok.",
        load.unwrap_or_default()
    );
    match check.against {
        BaselineKind::Run => {
            text += &format!(" {}", about_between_runs(&check.comparison, "other earlier run"));
        }
        BaselineKind::History => text += &about_history(check),
    }
    let mut texts = vec![("", text)];
    texts.extend(about_marks(&check.comparison));
    texts
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
