//! Writes the first screen of a run: the question, the answer and how reliable it is, the table that shows it, what
//! limited it, what disturbed it, and what to do next. It fits a terminal.

use std::io::{self, Write};

use super::answer_table::{AnswerTable, answer_table};
use super::head::{about_lack, about_measured, about_trace};
use super::phases::limits;
use super::table::Table;
use super::text::{wrap, write_wrapped};
use super::warnings::{warning_lines, warnings_in_a_line};
use crate::analysis::Analysis;
use crate::analysis::answer::AnswerFinding;
use crate::analysis::finding::Finding;
use crate::base::failure::shown;

/// Lines of a terminal.
pub(super) const LINES_MAX: usize = 24;

/// A table is not cut to fewer lines.
const TABLE_LINES_MIN: usize = 4;

/// What stands below the rows if some are left out.
const MORE_ROWS: &str = "... more rows: see --details";

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
    let screen = FirstScreen::new(analysis).fitted();
    screen.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Its paragraphs, each in lines of at most [`WIDTH`] columns.
struct FirstScreen {
    question: Vec<String>,
    /// None where nothing was measured.
    answer: Option<AnswerLines>,
    /// The most telling first.
    tables: Vec<Table>,
    /// The sentence of the answer; of the tables what it names is left out last.
    sentence: String,
    /// The columns that were left out.
    hidden: Vec<String>,
    /// How the tables are to be read.
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
        let in_words = |limit: String| format!("Limit: {limit}.");
        let limit = limits(analysis.summary()).map(in_words);
        let more =
            format!("More: boatload show {0} --details, boatload report {0} -o run.html", run.id);
        let next = answer.and_then(|answer| answer.next.clone()).unwrap_or_default();
        Self {
            question,
            answer: answer.map(AnswerLines::new),
            sentence: answer.map(|answer| shown(answer.sentence())).unwrap_or_default(),
            captions: table.captions,
            tables: table.tables,
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

    /// As short as a terminal is high, as far as that is possible.
    fn fitted(mut self) -> Self {
        while self.lines().len() > LINES_MAX && self.shorten() {}
        self
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let answer = self.answer.as_ref().map_or(Vec::new(), AnswerLines::all);
        let figures =
            [self.table_lines(), self.caption_lines(), self.traced.clone(), self.warnings.clone()];
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
            self.tables = short.tables;
            self.captions = short.captions;
        } else if let Some(spare) = self.spare_table() {
            self.tables.remove(spare);
        } else {
            return self.shorten_table();
        }
        true
    }

    /// The last table behind the first that shows nothing of what the answer names, or what the first shows too.
    fn spare_table(&self) -> Option<usize> {
        let first = self.tables.first()?.names();
        let is_spare = |name: String| !is_named(&self.sentence, &name) || first.contains(&name);
        (1..self.tables.len()).rev().find(|at| self.tables[*at].names().into_iter().all(is_spare))
    }

    /// Leaves out the last columns of a table, then its last rows, but for what the answer names.
    fn shorten_table(&mut self) -> bool {
        let is_kept = |name: &str| is_named(&self.sentence, name);
        for table in self.tables.iter_mut().rev() {
            let parts = table.parts();
            while parts > 1 && table.parts() == parts {
                self.hidden.splice(0..0, table.cut_group(is_kept));
            }
            let is_long = table.text_lines().len() > TABLE_LINES_MIN;
            if parts > 1 || is_long && table.cut_row(MORE_ROWS, is_kept) {
                return true;
            }
        }
        false
    }

    fn caption_lines(&self) -> Vec<String> {
        self.captions.iter().chain(&self.limit).flat_map(|text| wrap("", text)).collect()
    }

    fn table_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (at, table) in self.tables.iter().enumerate() {
            if at > 0 && !self.is_tight {
                lines.push(String::new());
            }
            lines.extend(table.text_lines());
        }
        if !self.hidden.is_empty() {
            let hidden = format!("{}: see --details", self.hidden.join(", "));
            lines.extend(wrap("... ", &hidden));
        }
        lines
    }
}

/// Whether a sentence names a row or a column: the name stands in it, and is no part of a longer one.
fn is_named(sentence: &str, name: &str) -> bool {
    // A sentence begins with a capital letter.
    let (sentence, name) = (sentence.to_lowercase(), name.to_lowercase());
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let is_number = name.chars().all(is_of_number);
    let stands_alone = |at: usize| {
        let (before, after) = (&sentence[..at], &sentence[at + name.len()..]);
        // `22` is no part of `1.22`, nor `400` of `400,000`; a sentence may end with it.
        let goes_on = before.ends_with(is_of_number)
            || after.trim_start_matches(['.', ',']).starts_with(|c: char| c.is_ascii_digit());
        let is_part = before.ends_with(is_of_name) || after.starts_with(is_of_name);
        !(is_part || is_number && goes_on)
    };
    !name.is_empty() && sentence.match_indices(&name).any(|(at, _)| stands_alone(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::kept_runs::kept_runs;

    #[test]
    fn a_name_is_no_part_of_a_longer_one() {
        let sentence = "Read-file (ext4/fragmented) takes 1.11 times as long at 128 KiB.";
        for name in ["read-file", "ext4/fragmented", "128 KiB"] {
            assert!(is_named(sentence, name), "{name}");
        }
        for name in ["read", "file", "ext4", "fragmented", "8 KiB", "1", "11", ""] {
            assert!(!is_named(sentence, name), "{name}");
        }
    }

    #[test]
    fn what_the_answer_of_a_kept_run_names_stands_in_the_table_of_its_first_screen() {
        for (kept, book) in kept_runs() {
            let analysis = Analysis::of(book);
            let screen = FirstScreen::new(&analysis).fitted();
            let text = screen.lines().join("\n");
            assert!(screen.lines().len() <= LINES_MAX, "{kept}:\n{text}");
            let table = answer_table(&analysis);
            let captions = table.captions.join("; ");
            let mut names: Vec<String> = table.tables.iter().flat_map(Table::names).collect();
            names.extend(book.phases.iter().chain(&book.variants).cloned());
            let shown: Vec<String> = screen.tables.iter().flat_map(Table::names).collect();
            for name in names.iter().filter(|name| is_named(&screen.sentence, name)) {
                let is_shown = shown.contains(name) || is_named(&captions, name);
                assert!(is_shown, "{kept}: no {name} in\n{text}");
            }
        }
    }
}
