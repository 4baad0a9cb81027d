//! What texts of several runs share: their first lines, names of phases, values, marks, and the facts
//! in which the runs differ.

use std::io::{self, Write};

use crate::analysis::compare::differences::{Difference, differences, letter};
use crate::analysis::compare::{ComparedRow, Comparison, Metric, PhaseKey, SpeedVerdict};
use crate::analysis::findings::say::{percent, times};
use crate::analysis::uncertainty::Estimate;
use crate::base::distinct::each_once;
use crate::base::units::{self, counted, grouped};
use crate::report::head::{NOT_PUBLISHED, about_machine, about_place, about_system};
use crate::report::names::{cell_name, level_value};
use crate::report::table::{Align, Table};
use crate::report::text::{byte_rate, number, short_seconds, time, write_wrapped};
use crate::results::book::{Book, Level, Provenance};

/// More phases are named in the table alone.
pub(super) const NAMED_MAX: usize = 4;

/// Significant figures of runs of a history.
pub(super) const HISTORY_FIGURES: u32 = 4;

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
            let title =
                format!("run {} of {}: {}, {} scale", run.id, run.started, run.scenario, run.scale);
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

/// A table of phases below the headings of their variants and levels.
pub(super) struct PhaseTable {
    pub(super) table: Table,
    /// The variant and level of the last row.
    heading: Option<PhaseKey>,
}

impl PhaseTable {
    pub(super) fn new<H: AsRef<str>>(heads: &[(H, Align)]) -> Self {
        Self { table: Table::new(heads), heading: None }
    }

    pub(super) fn row(&mut self, key: &PhaseKey, cells: Vec<String>) {
        let own = PhaseKey { phase: None, ..key.clone() };
        if self.heading.as_ref().unwrap_or(&PhaseKey::default()) != &own {
            self.table.heading(&format!("{}:", group_name(&own)));
            self.heading = Some(own);
        }
        self.table.row(cells);
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

/// The name below a heading.
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

pub(super) fn verdict_text(verdict: SpeedVerdict) -> &'static str {
    match verdict {
        SpeedVerdict::Faster => "faster",
        SpeedVerdict::Slower => "slower",
        SpeedVerdict::NoDifference => "not significant",
        SpeedVerdict::CannotTell => "cannot tell",
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

/// Writes what the marks mean. Fails only if `out` does.
pub(super) fn write_marks(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    about_marks(comparison).iter().try_for_each(|(lead, text)| write_wrapped(lead, text, out))
}

/// What the marks mean, each behind its mark.
pub(in crate::report) fn about_marks(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let rows: Vec<&ComparedRow> = comparison.in_both().collect();
    let mut texts = Vec::new();
    if rows.iter().any(|row| row.disturbed.contains(&true)) {
        texts.push(("", ABOUT_DISTURBED.to_string()));
    }
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
