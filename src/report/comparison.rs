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
    HISTORY_FIGURES, Metric, OTHER_RUNS_MIN, VarianceBasis,
};
use crate::analysis::findings::say::{span, times};
use crate::analysis::uncertainty::{Estimate, IntervalBasis};
use crate::base::distinct::each_once;
use crate::base::units::counted;
use crate::results::book::Book;
pub(super) use sentences::{
    ABOUT_DIFFERENCES, about_run, comparison_sentences, differences_table, few, phase_name, share,
};
use sentences::{
    Reading, about_marks, add_phases, check_sentences, estimate_text, known, marks, one_sided_load,
    short_phase_name, value_text, verdict_text, write_differences, write_run, write_state,
};
pub use side_by_side::{RUNS_MAX, write_side_by_side};
pub(super) use side_by_side::{side_by_side_reading, side_by_side_table};

/// Rises when a field of a document changes its meaning or goes.
const VERSION: u32 = 2;

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
    reading: &[Reading],
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
    ComparedColumn::numbers("B/A", |row| known(row.test.ratio.map(times))),
    ComparedColumn::words("95% interval", |row| known(row.test.interval.map(span))),
    ComparedColumn::words("B is", |row| verdict_text(row.test.verdict).into()),
];

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
pub(super) fn comparison_reading(comparison: &Comparison) -> Vec<Reading> {
    let rows: Vec<&ComparedRow> = comparison.in_both().collect();
    let mut text = String::from(
        "A and B are geometric means over the repeats; B/A is how many times as fast B was.",
    );
    if rows.iter().any(|row| row.key.phase.is_none()) {
        text += " The whole job is the time of all phases with the syncs at their ends.";
    }
    if rows.iter().any(|row| row.test.interval.is_some()) {
        let between = about_between_runs(comparison, "other run");
        let or_load = one_sided_load(comparison).map(|load| format!(", or at 95% where {load}"));
        let or_load = or_load.unwrap_or_default();
        text += &format!(
            " The intervals hold together at 95%; likely is what they show at 80%{or_load}. {between}"
        );
    }
    let mut texts = vec![("", text)];
    texts.extend(about_missing_errors(comparison).map(|text| ("- ", text)));
    texts.extend(about_marks(comparison));
    texts
}

/// Why no difference is claimed: of runs what would show one, of published figures only what they lack.
fn about_missing_errors(comparison: &Comparison) -> impl Iterator<Item = String> {
    let [mut once, mut without_error] = [Vec::new(), Vec::new()];
    for row in comparison.in_both().filter(|row| row.test.interval.is_none()) {
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

/// Rows that have an interval.
struct TestedRows {
    all: usize,
    /// Those whose between-run variance was measured.
    measured: usize,
}

impl TestedRows {
    fn of(comparison: &Comparison) -> Self {
        let tested: Vec<&ComparedRow> =
            comparison.in_both().filter(|row| row.test.interval.is_some()).collect();
        let is_measured =
            |row: &&&ComparedRow| row.test.variance_basis == Some(VarianceBasis::Measured);
        Self { all: tested.len(), measured: tested.iter().filter(is_measured).count() }
    }
}

/// How wide an interval without a measured between-run variance is.
const ASSUMED_WIDTH: &str = "as wide as equal runs differ in general";

/// What the intervals contain of the between-run variance. `other` is what the other runs are called.
fn about_between_runs(comparison: &Comparison, other: &str) -> String {
    let TestedRows { all, measured } = TestedRows::of(comparison);
    let runs = counted(comparison.other_runs as u64, other);
    match comparison.other_runs {
        n if n < OTHER_RUNS_MIN => {
            let counts = match n {
                0 => format!("no {other} of the job of A or B counts"),
                1 => format!("only {runs} of the job of A or B counts"),
                _ => format!("only {runs} of the job of A or B count"),
            };
            format!(
                "The between-run variance is unknown, for {counts} and {OTHER_RUNS_MIN} are needed: \
                 intervals are {ASSUMED_WIDTH}."
            )
        }
        _ if measured == 0 => format!(
            "The between-run variance is unknown, for too few of {runs} of the job of A or B have \
             these rows under the same background load: intervals are {ASSUMED_WIDTH}."
        ),
        _ if measured == all => {
            format!("Intervals include the between-run variance of {runs} of the job of A or B.")
        }
        _ => format!(
            "{measured} of {all} intervals include the between-run variance of {runs} of the job of A \
             or B; the others are {ASSUMED_WIDTH}."
        ),
    }
}

/// The same of a history.
fn about_history(comparison: &Comparison) -> String {
    let TestedRows { all, measured } = TestedRows::of(comparison);
    let between = match measured {
        0 if all == 0 => String::new(),
        0 => format!("; intervals are {ASSUMED_WIDTH}"),
        n if n == all => "; their between-run variance is in the interval".into(),
        n => format!(
            "; their between-run variance is in {n} of {all} intervals, and the others are \
             {ASSUMED_WIDTH}"
        ),
    };
    format!("The baseline is the runs since the last step{between}.")
}

fn write_latencies(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let heads = ["latency", "A", "B", "B/A", "95% interval", "B is"];
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
                known(latency.test.ratio.map(times)),
                known(latency.test.interval.map(span)),
                verdict_text(latency.test.verdict).into(),
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
    ComparedColumn::numbers("time", |row| known(row.test.slowdown().map(times))),
    ComparedColumn::words("interval", |row| known(row.test.slowdown_interval().map(span))),
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

fn check_reading(check: &Check) -> Vec<Reading> {
    let most = times(1.0 + check.fail_on);
    let unless = one_sided_load(&check.comparison).map(|load| format!(", unless {load}"));
    let unless = unless.unwrap_or_default();
    let mut text = format!(
        "time is how many times as long this run took; a regression has its whole interval above \
         {most}, what is ok below{unless}. The intervals hold together at 95%: many rows raise no more false alarms \
         than one."
    );
    match check.against {
        BaselineKind::Run => {
            text += &format!(" {}", about_between_runs(&check.comparison, "other earlier run"));
        }
        BaselineKind::History => text += &format!(" {}", about_history(&check.comparison)),
    }
    let mut texts = vec![("", text)];
    let mut histories = check.rows().filter_map(|row| row.history.as_ref());
    if histories.any(|history| history.points.len() < OTHER_RUNS_MIN) {
        let text = format!("the history has fewer than {OTHER_RUNS_MIN} runs: intervals are wide");
        texts.push(("- ", text));
    }
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
