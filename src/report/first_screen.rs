//! Writes the first screen of a run: the question, the answer and how reliable it is, the table that shows it, what
//! limited it, what disturbed it, and what to do next. It fits a terminal.

use std::io::{self, Write};

use super::answer_table::{AnswerTable, answer_table};
use super::head::{about_lack, about_measured, about_trace};
use super::phases::limits;
use super::table::{Table, TableBlock};
use super::text::{wrap, write_wrapped};
use super::warnings::{warning_lines, warnings_in_a_line};
use crate::analysis::Analysis;
use crate::analysis::answer::AnswerFinding;
use crate::analysis::finding::Finding;

/// Lines of a terminal.
pub(super) const LINES_MAX: usize = 24;

/// A table is not cut to fewer lines.
const TABLE_LINES_MIN: usize = 4;

/// The answer of a run, indented.
struct AnswerLines {
    text: Vec<String>,
    /// The lines of each sentence.
    evidence: Vec<Vec<String>>,
    reliability: Vec<String>,
}

impl AnswerLines {
    fn new(answer: &AnswerFinding) -> Self {
        let reliability = format!("Reliability: {} ({})", answer.reliability, answer.reason);
        Self {
            text: wrap("  ", &answer.sentence()),
            evidence: answer.evidence.iter().map(|sentence| wrap("  ", sentence)).collect(),
            reliability: wrap("  ", &reliability),
        }
    }

    fn all(&self) -> Vec<String> {
        [self.text.clone(), self.evidence.concat(), self.reliability.clone()].concat()
    }
}

/// Writes the answer of a run with all of its evidence, behind a blank line. Fails only if `out` does.
pub(super) fn write_answer(answer: &AnswerFinding, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    AnswerLines::new(answer).all().iter().try_for_each(|line| writeln!(out, "{line}"))
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

/// Writes what a user sees first of a run. Fails only if `out` does.
pub(super) fn write_first_screen(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut screen = FirstScreen::new(analysis);
    while screen.lines().len() > LINES_MAX && screen.shorten() {}
    screen.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Its paragraphs, each in lines of at most [`WIDTH`] columns.
struct FirstScreen {
    question: Vec<String>,
    /// None where nothing was measured.
    answer: Option<AnswerLines>,
    /// The parts of each, the most telling first.
    tables: Vec<Vec<TableBlock>>,
    /// The columns that were left out.
    hidden: Vec<String>,
    /// How the tables are to be read, then what limited the run.
    captions: Vec<String>,
    /// Tables and captions in fewer lines.
    short: Option<Box<AnswerTable>>,
    /// What limited the run.
    limit: Option<String>,
    /// What was traced; empty where nothing was.
    traced: Vec<String>,
    warnings: Vec<String>,
    /// All warnings in one line.
    merged_warnings: Option<String>,
    next: Vec<String>,
    /// Whether the answer follows the question without a blank line.
    is_tight: bool,
}

impl FirstScreen {
    fn new(analysis: &Analysis<'_>) -> Self {
        let run = &analysis.book.run;
        let question = if run.question.is_empty() { &run.scenario } else { &run.question };
        let mut question = wrap("", question);
        question.extend(wrap("Measured: ", &about_measured(analysis).unwrap_or_default()));
        question.extend(wrap("INCOMPLETE: ", &about_lack(run).unwrap_or_default()));
        let answer = analysis.answer();
        let table = answer_table(analysis);
        let limit = limits(analysis.summary()).map(|limit| format!("Limit: {limit}."));
        let more =
            format!("More: boatload show {0} --details, boatload report {0} -o run.html", run.id);
        let next = answer.and_then(|answer| answer.next.clone()).unwrap_or_default();
        Self {
            question,
            answer: answer.map(AnswerLines::new),
            captions: caption_lines(&table.captions, limit.as_ref()),
            tables: table.tables.iter().map(Table::text_blocks).collect(),
            hidden: Vec::new(),
            short: table.short.filter(|short| short.tables.iter().all(Table::fits)),
            limit,
            traced: wrap("Traced: ", &about_trace(run).unwrap_or_default()),
            warnings: warning_lines(analysis),
            merged_warnings: warnings_in_a_line(analysis),
            next: [wrap("Next: ", &next), wrap("", &more)].concat(),
            is_tight: false,
        }
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let answer = self.answer.as_ref().map_or(Vec::new(), AnswerLines::all);
        let figures =
            [self.table_lines(), self.captions.clone(), self.traced.clone(), self.warnings.clone()];
        let parts = [self.question.clone(), answer, figures.concat(), self.next.clone()];
        for (at, part) in parts.into_iter().enumerate() {
            if at > usize::from(self.is_tight) && !part.is_empty() {
                lines.push(String::new());
            }
            lines.extend(part);
        }
        lines
    }

    /// Leaves out what is missed least; gives whether there was such a thing.
    fn shorten(&mut self) -> bool {
        let answer = self.answer.as_mut().filter(|answer| !answer.evidence.is_empty());
        if self.warnings.len() > 1 {
            self.warnings = self.merged_warnings.iter().cloned().collect();
        } else if let Some(answer) = answer {
            answer.evidence.pop();
        } else if !self.is_tight {
            self.is_tight = true;
        } else if let Some(short) = self.short.take() {
            self.tables = short.tables.iter().map(Table::text_blocks).collect();
            self.captions = caption_lines(&short.captions, self.limit.as_ref());
        } else if self.tables.len() > 1 {
            self.tables.truncate(1);
        } else {
            return self.shorten_table();
        }
        true
    }

    /// Leaves out the last columns of the table, then its last rows.
    fn shorten_table(&mut self) -> bool {
        let Some(blocks) = self.tables.first_mut() else { return false };
        if blocks.len() > 1 {
            self.hidden.splice(0..0, blocks.pop().into_iter().flat_map(|block| block.names));
            return true;
        }
        let Some(TableBlock { lines, .. }) = blocks.first_mut() else { return false };
        if lines.len() <= TABLE_LINES_MIN {
            return false;
        }
        lines.truncate(lines.len() - 2);
        lines.push("... more rows: see --details".into());
        true
    }

    fn table_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (at, blocks) in self.tables.iter().enumerate() {
            if at > 0 && !self.is_tight {
                lines.push(String::new());
            }
            let blocks: Vec<_> = blocks.iter().map(|block| block.lines.as_slice()).collect();
            lines.extend(blocks.join(&String::new()));
        }
        if !self.hidden.is_empty() {
            let hidden = format!("{}: see --details", self.hidden.join(", "));
            lines.extend(wrap("... ", &hidden));
        }
        lines
    }
}

fn caption_lines(captions: &[String], limit: Option<&String>) -> Vec<String> {
    captions.iter().chain(limit).flat_map(|text| wrap("", text)).collect()
}
