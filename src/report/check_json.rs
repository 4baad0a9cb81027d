//! The check document: a run against a baseline, for programs. docs/COMPARE.md tells its fields.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::check::{Against, sentences};
use super::compare_json::{about, estimate, figure, run};
use crate::measure::book::Book;
use crate::measure::check::{Check, CheckedRow};

/// Rises when a field changes its meaning or goes.
const VERSION: u32 = 1;

/// Writes the document on one line. Fails only if `out` does. Without any run to check against
/// `check` has no rows.
pub fn write_check_json(
    checked: &Book,
    against: Against<'_>,
    check: &Check,
    out: &mut dyn Write,
) -> io::Result<()> {
    let books = against.books();
    let document = json!({
        "format": "boatload-check", "version": VERSION, "run": run(checked),
        "against": match against {
            Against::Run(_) => "run",
            Against::History(_) => "history",
        },
        "baseline": books.iter().map(|book| run(book)).collect::<Vec<_>>(),
        "fail_on": check.fail_on, "other_runs": check.others,
        "sentences": if check.rows.is_empty() { Vec::new() } else { sentences(check) },
        "rows": check.rows.iter().map(|one| row(one, &books)).collect::<Vec<_>>(),
        "not_in_both": check.not_in_both.iter().map(|one| {
            let mut value = json!({});
            about(&mut value, one);
            value
        }).collect::<Vec<_>>(),
    });
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

fn row(row: &CheckedRow, books: &[&Book]) -> Value {
    let points = row.points.iter().map(|point| {
        let id = books.get(point.book).map(|book| book.run.id.as_str());
        json!({ "run": id, "value": point.value, "mark": point.mark.word() })
    });
    let mut value = json!({
        "figure": figure(row.figure), "with_sync": row.with_sync, "outcome": row.outcome.word().to_lowercase(),
        "value": row.run.as_ref().map(estimate), "baseline": row.baseline,
        "slowdown": row.slowdown, "interval": row.interval, "between_runs": row.between,
        "runs": row.runs,
        "points": points.collect::<Vec<_>>(),
    });
    about(&mut value, &row.subject);
    value
}
