//! A run held against a baseline, for `boatload check`.

use std::io::{self, Write};

use super::beside::{write_differences, write_run, write_state};
use super::compare::{between_runs, figure, grouped_rows, marks, name, phase_name, write_marks};
use super::table::{Align, Table};
use super::text::{byte_rate, number, short_seconds, write_wrapped};
use crate::base::units::{Quantity, Unit, counted};
use crate::measure::book::Book;
use crate::measure::check::{Check, CheckedRow, Mark, Outcome};
use crate::measure::compare::{ComparedRow, Figure, compare};
use crate::measure::conclusions::say::{span, times};
use crate::measure::order::each_once;

/// More are told in the table alone.
const NAMED_MAX: usize = 4;

/// Figures of a baseline and of runs before it.
const FIGURES: u32 = 4;

/// What a run is held against.
#[derive(Clone, Copy, Debug)]
pub enum Against<'a> {
    /// One run.
    Run(&'a Book),
    /// Earlier runs of the same on the same, oldest first.
    History(&'a [&'a Book]),
}

impl<'a> Against<'a> {
    /// The runs, oldest first.
    pub fn books(&self) -> Vec<&'a Book> {
        match self {
            Self::Run(book) => vec![book],
            Self::History(books) => books.to_vec(),
        }
    }
}

/// Writes what comes of the check: sentences, a line for each phase, and how to read them. `show`
/// adds the history of each. Fails only if `out` does.
pub fn write_check(
    run: &Book,
    against: Against<'_>,
    check: &Check,
    show: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let books = against.books();
    let Some(newest) = books.last() else { return Ok(()) };
    write_run("A", newest, out)?;
    if books.len() > 1 {
        let text = format!("and {} before it", counted(books.len() as u64 - 1, "run"));
        write_wrapped("   ", &text, out)?;
    }
    write_run("B", run, out)?;
    write_state(run, out)?;
    writeln!(out)?;
    for sentence in sentences(check) {
        write_wrapped("* ", &sentence, out)?;
    }
    let is_history = matches!(against, Against::History(_));
    let compared = compare(newest, run).rows;
    if !check.rows.is_empty() {
        writeln!(out)?;
        table(check, is_history, &books, &compared).write(out)?;
        write_reading(check, is_history, out)?;
        write_marks(&compared, out)?;
    }
    if show {
        for row in &check.rows {
            writeln!(out)?;
            write_history(row, &books, out)?;
        }
    }
    write_differences(&[newest, run], out)
}

fn limit(check: &Check) -> String {
    Quantity { value: check.fail_on * 100.0, unit: Unit::Percent }.to_string()
}

pub(super) fn sentences(check: &Check) -> Vec<String> {
    let names = |rows: Vec<&CheckedRow>| {
        let more = rows.len().saturating_sub(NAMED_MAX);
        let named = rows.iter().take(NAMED_MAX).map(|row| name(&row.subject));
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        format!("{}{more}", named.collect::<Vec<_>>().join(", "))
    };
    let of = |outcome| check.with(outcome).collect::<Vec<_>>();
    let (limit, mut told) = (limit(check), Vec::new());
    let regressions = of(Outcome::Regression);
    if !regressions.is_empty() {
        let worst = regressions
            .iter()
            .take(NAMED_MAX)
            .map(|row| format!("{} takes {}", name(&row.subject), slowdown(row)));
        let more = regressions.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let worst = worst.collect::<Vec<_>>().join(", ");
        told.push(format!("REGRESSION of more than {limit}: {worst}{more}."));
    }
    for (outcome, lead) in [
        (Outcome::Invalid, "Nothing can be said, all that was measured is invalid"),
        (Outcome::Missing, "Nothing can be said, the run ended before it"),
    ] {
        let rows = of(outcome);
        if !rows.is_empty() {
            told.push(format!("{lead}: {}.", names(rows)));
        }
    }
    let unsure = of(Outcome::Unsure);
    if !unsure.is_empty() {
        told.push(format!("It may be slower by more than {limit}, unsure: {}.", names(unsure)));
    }
    let (good, blind) = (of(Outcome::Ok), check.blind().collect::<Vec<_>>());
    if !good.is_empty() {
        let all = if good.len() == check.rows.len() { "all " } else { "" };
        told.push(format!(
            "No regression of more than {limit} seen in {all}{}.",
            lines(good.len())
        ));
    }
    if !blind.is_empty() {
        told.push(format!(
            "Too unsteady to exclude one of {limit}: {}; more repeats tell more.",
            names(blind)
        ));
    }
    let others: Vec<_> = check.not_in_both.iter().map(name).take(NAMED_MAX).collect();
    if !others.is_empty() {
        told.push(format!("Not in both: {}.", others.join(", ")));
    }
    told
}

fn lines(n: usize) -> String {
    counted(n as u64, "line")
}

/// `1.12 times as long (1.08 to 1.16)`
fn slowdown(row: &CheckedRow) -> String {
    let long = row.slowdown.map_or_else(|| "-".into(), times);
    let interval = row.interval.map(|interval| format!(" ({})", span(interval)));
    format!("{long} times as long{}", interval.unwrap_or_default())
}

fn table(check: &Check, is_history: bool, books: &[&Book], compared: &[ComparedRow]) -> Table {
    let mut heads = vec![
        ("", Align::Left),
        ("phase", Align::Left),
        ("baseline", Align::Right),
        ("this run", Align::Right),
        ("time", Align::Right),
        ("interval", Align::Left),
    ];
    if is_history {
        heads.extend([("since", Align::Left), ("runs", Align::Right)]);
    }
    let mut table = Table::new(&heads);
    let cells = |row: &CheckedRow| {
        let marks = compared.iter().find(|other| other.subject == row.subject).map(marks);
        let mut cells = vec![
            row.outcome.word().into(),
            phase_name(&row.subject) + marks.unwrap_or_default(),
            value(row.figure, row.baseline),
            row.run.map_or_else(|| "-".into(), |run| figure(row.figure, &run)),
            row.slowdown.map_or_else(|| "-".into(), times),
            row.interval.map_or_else(|| "-".into(), span),
        ];
        if is_history {
            let first = row.points.get(row.since).and_then(|point| books.get(point.book));
            cells.push(first.map(|book| day(book)).unwrap_or_default());
            cells.push(row.runs.to_string());
        }
        cells
    };
    grouped_rows(&mut table, check.rows.iter().map(|row| (&row.subject, cells(row))));
    table
}

fn day(book: &Book) -> String {
    book.run.started.get(..10).unwrap_or_default().into()
}

fn value(what: Figure, value: f64) -> String {
    match what {
        Figure::Operations => format!("{}/s", number(value, FIGURES)),
        Figure::Bytes => byte_rate(value, 3).replace(' ', ""),
        Figure::Seconds => short_seconds(Some(value)),
    }
}

fn write_reading(check: &Check, is_history: bool, out: &mut dyn Write) -> io::Result<()> {
    let most = times(1.0 + check.fail_on);
    let mut text = format!(
        "time is how many times as long this run took; a regression is one whose whole interval \
         lies above {most}. The intervals hold together at 95%, so that many lines do not make a \
         false alarm likelier."
    );
    let synced = check.rows.iter().filter(|row| row.with_sync);
    let synced = each_once(synced.filter_map(|row| row.subject.phase.clone()));
    if !synced.is_empty() {
        text += &format!(" Rates with the sync at the end: {}.", synced.join(", "));
    }
    if is_history {
        text += " The baseline is the runs since the last step of their figures; their spread \
                 from run to run is in the interval.";
    } else {
        text += &format!(" {}", between_runs(check.others));
    }
    write_wrapped("", &text, out)?;
    let few = check.rows.iter().filter(|row| is_history && row.points.len() < RUNS_ENOUGH);
    if few.count() > 0 {
        let text = format!(
            "a history of fewer than {RUNS_ENOUGH} runs hardly knows how far runs lie apart: its \
             intervals are wide, or of one run alone too narrow"
        );
        write_wrapped("- ", &text, out)?;
    }
    Ok(())
}

/// With fewer runs Student's t is so wide that only large regressions are told.
const RUNS_ENOUGH: usize = 6;

fn write_history(row: &CheckedRow, books: &[&Book], out: &mut dyn Write) -> io::Result<()> {
    let title = name(&row.subject);
    let mut table = Table::new(&[
        (title.as_str(), Align::Left),
        ("run", Align::Left),
        (if row.figure == Figure::Seconds { "took" } else { "rate" }, Align::Right),
        ("", Align::Left),
    ]);
    for point in &row.points {
        let Some(book) = books.get(point.book) else { continue };
        let started = book.run.started.get(..16).unwrap_or_default().replace('T', " ");
        let mark = match point.mark {
            Mark::Earlier => "earlier",
            Mark::Step => "STEP",
            Mark::Baseline => "baseline",
            Mark::Odd => "odd, does not count",
        };
        let value = value(row.figure, point.value);
        table.row(vec![started, book.run.id.clone(), value, mark.into()]);
    }
    table.write(out)
}
