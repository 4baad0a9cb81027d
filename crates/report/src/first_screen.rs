//! Writes the first screen of a run: the question, where and how often it was asked, the answer, the table that shows it, and
//! what to do next. It fits a terminal.

use std::io::{self, Write};

use super::answer_table::{shown_rows, table_of, with_places_cut};
use super::head::about_measured;
use super::table::Table;
use super::text::{wrap_to, write_wrapped};
use boatload_analysis::Analysis;
use boatload_analysis::answer::{AnswerFinding, Reliability};
use boatload_analysis::finding::Finding;
use boatload_analysis::readings::table::AnswerTable;
use boatload_analysis::readings::trace_remarks;
use boatload_analysis::statement::Statement;
use boatload_base::units::counted;
use boatload_results::book::RunFacts;

/// Lines of a terminal.
pub(super) const LINES_MAX: usize = 24;

/// Rows that stay in a table whatever else there is.
const ROWS_MIN: usize = 3;

/// Columns of a table that stay beside long names.
const COLUMNS_MIN: usize = 4;

/// Terminals that it is fitted to, in columns.
pub(super) const COLUMNS: std::ops::RangeInclusive<usize> = 40..=120;

/// Writes the answer of a run with all that it says, behind a blank line. Fails only if `out` does.
pub(super) fn write_answer(answer: &AnswerFinding, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    write_wrapped("  ", &answer.statement.to_string(), out)?;
    write_wrapped("  ", &about_reliability(answer), out)
}

/// `Reliability: low (4 of 40 measurements disturbed)`
pub(super) fn about_reliability(answer: &AnswerFinding) -> String {
    format!("Reliability: {} ({})", answer.reliability, answer.reason)
}

/// Writes findings, each with what to do, behind a blank line. Fails only if `out` does.
pub(super) fn write_findings(
    lead: &str,
    findings: &[&Finding],
    out: &mut dyn Write,
) -> io::Result<()> {
    if !findings.is_empty() {
        writeln!(out)?;
    }
    for finding in findings {
        write_wrapped(lead, &finding.sentence(), out)?;
        write_wrapped(&" ".repeat(lead.len()), finding.hint(), out)?;
    }
    Ok(())
}

/// Writes what a user sees first of a run on a terminal of so many columns. Fails only if `out` does.
pub(super) fn write_first_screen(
    analysis: &Analysis<'_>,
    columns: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let screen = FirstScreen::new(analysis, columns.clamp(*COLUMNS.start(), *COLUMNS.end()));
    screen.fitted().iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Its paragraphs, in lines of so many columns; commands stand in one line, however long.
struct FirstScreen {
    columns: usize,
    head: Vec<String>,
    answer: Vec<String>,
    statement: Statement,
    table: AnswerTable,
    remarks: Vec<String>,
    commands: Vec<String>,
}

/// What of the table stands, and whether blank lines do.
struct ShownParts {
    rows: usize,
    columns: usize,
    is_tight: bool,
}

impl FirstScreen {
    fn new(analysis: &Analysis<'_>, columns: usize) -> Self {
        let run = &analysis.book.run;
        let wrapped = |lead: &str, text: &str| wrap_to(columns, lead, text);
        let remarks = trace_remarks(analysis.book);
        let measured = about_measured(analysis).unwrap_or_default();
        let answer = analysis.answer();
        let statement = answer.map(AnswerFinding::fitted).unwrap_or_default();
        // What was measured of one program is so of this one: the screen claims no more.
        let is_traced = run.traced.is_some();
        let low = answer.filter(|one| one.reliability == Reliability::Low && !is_traced);
        let lines = match answer {
            Some(_) => wrapped(if is_traced { "" } else { "  " }, &statement.to_string()),
            None => vec!["Nothing was measured.".into()],
        };
        let low = low.map(|answer| wrapped("  ", &about_reliability(answer))).unwrap_or_default();
        let next = match answer {
            Some(answer) => answer.next.clone(),
            None => resuming(run),
        };
        Self {
            columns,
            head: match is_traced {
                true => Vec::new(),
                false => [wrapped("", analysis.question()), wrapped("", &measured)].concat(),
            },
            answer: [lines, low].concat(),
            statement,
            table: with_places_cut(analysis.answer_table(), columns),
            remarks: remarks.iter().flat_map(|remark| wrapped("", remark)).collect(),
            commands: next
                .map(|next| format!("Next: {next}"))
                .into_iter()
                .chain([more(analysis)])
                .collect(),
        }
    }

    /// In as few lines as a terminal has, as far as that is possible.
    fn fitted(&self) -> Vec<String> {
        let mut shown = ShownParts {
            rows: self.table.rows.len(),
            columns: self.table.columns.len(),
            is_tight: false,
        };
        let rows: Vec<usize> = (0..shown.rows).collect();
        let lacks_room = |shown: &ShownParts| {
            table_of(&self.table, &rows, shown.columns).lacks_room_for_names(self.columns)
        };
        while shown.columns > COLUMNS_MIN && lacks_room(&shown) {
            shown.columns -= 1;
        }
        while self.lines(&shown).len() > LINES_MAX && self.shorten(&mut shown) {}
        self.lines(&shown)
    }

    /// Leaves out what is missed least; gives whether there was such a thing.
    fn shorten(&self, shown: &mut ShownParts) -> bool {
        let rows = shown_rows(&self.table, &self.statement, shown.rows);
        let is_broken = self.table_of(&rows, shown).parts(self.columns) > 1;
        let named = shown_rows(&self.table, &self.statement, 0).len();
        if !shown.is_tight {
            shown.is_tight = true;
        } else if is_broken && shown.columns > 1 {
            shown.columns -= 1;
        } else if shown.rows > named.max(ROWS_MIN) {
            shown.rows -= 1;
        } else {
            return false;
        }
        true
    }

    fn lines(&self, shown: &ShownParts) -> Vec<String> {
        let mut lines = Vec::new();
        let figures = [self.table_lines(shown), self.remarks.clone()].concat();
        let parts = [&self.head, &self.answer, &figures, &self.commands];
        for (at, part) in parts.into_iter().enumerate() {
            let is_joined = part.is_empty() || lines.is_empty() || shown.is_tight && at == 1;
            if !is_joined {
                lines.push(String::new());
            }
            lines.extend(part.iter().cloned());
        }
        lines
    }

    fn table_of(&self, rows: &[usize], shown: &ShownParts) -> Table {
        table_of(&self.table, rows, shown.columns).fitted(self.columns)
    }

    fn table_lines(&self, shown: &ShownParts) -> Vec<String> {
        if self.table.rows.is_empty() || self.table.columns.is_empty() {
            return Vec::new();
        }
        let rows = shown_rows(&self.table, &self.statement, shown.rows);
        let mut lines = self.table_of(&rows, shown).text_lines(self.columns);
        let left_out = self.table.rows.len() - rows.len();
        let more = match left_out {
            0 => String::new(),
            some => format!("; {}: see --details", counted(some as u64, "more row")),
        };
        let notes = self.table.notes_of(&rows, shown.columns) + &more;
        lines.extend(wrap_to(self.columns, "", notes.trim_start_matches("; ")));
        lines
    }
}

/// How to measure what a run without any measurement lacks; none of several hosts and of what boatload did not measure.
fn resuming(run: &RunFacts) -> Option<String> {
    let can_resume =
        !run.complete && run.hosts.is_empty() && run.traced.is_none() && run.reference.is_none();
    can_resume.then(|| format!("{}   # measures it", run.resume_command()))
}

/// How to see the rest: with the warnings that change little.
fn more(analysis: &Analysis<'_>) -> String {
    let warnings = analysis.findings().iter().filter(|finding| finding.is_warning()).count();
    let counted = (warnings > 0).then(|| format!("   # {}", counted(warnings as u64, "warning")));
    format!("More: boatload show {} --details{}", analysis.book.run.id, counted.unwrap_or_default())
}
