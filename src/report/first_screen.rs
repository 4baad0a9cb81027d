//! Writes the first screen of a run: the question, the answer and how reliable it is, the table that shows it, what
//! limited it, what disturbed it, and what to do next. It fits a terminal.

use std::io::{self, Write};

use super::answer_table::answer_table;
use super::head::about_lack;
use super::phases::limits;
use super::table::Table;
use super::text::{WIDTH, shorten, width, wrap, write_wrapped};
use crate::analysis::Analysis;
use crate::analysis::answer::AnswerFinding;
use crate::analysis::finding::{Finding, WarningCode, WarningFinding};
use crate::base::distinct::each_once;
use crate::base::failure::shown;

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
    let mut screen = FirstScreen::new(analysis)?;
    while screen.lines().len() > LINES_MAX && screen.shorten() {}
    screen.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Its paragraphs, each in lines of at most [`WIDTH`] columns.
struct FirstScreen {
    question: Vec<String>,
    /// None where nothing was measured.
    answer: Option<AnswerLines>,
    /// The lines of each, the most telling first.
    tables: Vec<Vec<String>>,
    /// How the tables are to be read, and what limited the run.
    captions: Vec<String>,
    /// The same where only the first table is left.
    captions_of_first: Vec<String>,
    warnings: Vec<String>,
    /// All warnings in one line.
    merged_warnings: String,
    next: Vec<String>,
    /// Whether the answer follows the question without a blank line.
    is_tight: bool,
}

impl FirstScreen {
    fn new(analysis: &Analysis<'_>) -> io::Result<Self> {
        let run = &analysis.book.run;
        let question = if run.question.is_empty() { &run.scenario } else { &run.question };
        let mut question = wrap("", question);
        question.extend(wrap("INCOMPLETE: ", &about_lack(run).unwrap_or_default()));
        let answer = analysis.answer();
        let table = answer_table(analysis);
        let limit = limits(analysis.summary()).map(|limit| format!("Limit: {limit}."));
        let with_limit = |captions: &[String]| -> Vec<String> {
            captions.iter().chain(&limit).flat_map(|text| wrap("", text)).collect()
        };
        let more =
            format!("More: boatload show {0} --details, boatload report {0} -o run.html", run.id);
        let next = answer.and_then(|answer| answer.next.clone()).unwrap_or_default();
        Ok(Self {
            question,
            answer: answer.map(AnswerLines::new),
            captions: with_limit(&table.captions),
            captions_of_first: with_limit(&table.captions_of_first),
            tables: table.tables.iter().map(lines_of).collect::<io::Result<_>>()?,
            warnings: warning_lines(analysis.findings()),
            merged_warnings: merged_warnings(analysis.findings()),
            next: [wrap("Next: ", &next), wrap("", &more)].concat(),
            is_tight: false,
        })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let answer = self.answer.as_ref().map_or(Vec::new(), AnswerLines::all);
        let figures = [self.tables.concat(), self.captions.clone(), self.warnings.clone()];
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
            self.warnings = vec![self.merged_warnings.clone()];
        } else if let Some(answer) = answer {
            answer.evidence.pop();
        } else if !self.is_tight {
            self.is_tight = true;
        } else if self.tables.len() > 1 {
            self.tables.truncate(1);
            self.captions = self.captions_of_first.clone();
        } else {
            let Some(table) = self.tables.first_mut() else { return false };
            if table.len() <= TABLE_LINES_MIN {
                return false;
            }
            table.truncate(table.len() - 2);
            table.push("... more rows: see --details".into());
        }
        true
    }
}

fn lines_of(table: &Table) -> io::Result<Vec<String>> {
    let mut out = Vec::new();
    table.write(&mut out)?;
    Ok(String::from_utf8_lossy(&out).lines().map(String::from).collect())
}

fn warnings(findings: &[Finding]) -> impl Iterator<Item = &WarningFinding> {
    findings.iter().filter_map(|finding| match finding {
        Finding::Warning(warning) => Some(warning),
        _ => None,
    })
}

fn codes(findings: &[Finding]) -> Vec<WarningCode> {
    each_once(warnings(findings).map(|warning| warning.code))
}

/// A line for each kind of warning, with what was affected.
fn warning_lines(findings: &[Finding]) -> Vec<String> {
    let line = |code: WarningCode| {
        let alike: Vec<_> = warnings(findings).filter(|warning| warning.code == code).collect();
        if let ([only], WarningCode::InvalidMeasurements) = (alike.as_slice(), code) {
            return shorten(&shown(format!("Warning: {}", only.sentence)), WIDTH);
        }
        let phases = alike.iter().flat_map(|warning| &warning.phases);
        warning_line(code, &each_once(phases.map(shown)))
    };
    codes(findings).into_iter().map(line).collect()
}

const IN_DETAILS: &str = "; see --details";

fn merged_warnings(findings: &[Finding]) -> String {
    let all: Vec<&str> = codes(findings).into_iter().map(what_happened).collect();
    let text = format!("Warnings: {}", all.join(", "));
    shorten(&text, WIDTH - IN_DETAILS.len()) + IN_DETAILS
}

fn warning_line(code: WarningCode, phases: &[String]) -> String {
    let lead = format!("Warning: {}", what_happened(code));
    let choices = [format!(" ({})", phases.join(", ")), format!(" ({} phases)", phases.len())];
    let fits = |affected: &&String| width(&lead) + width(affected) + width(IN_DETAILS) <= WIDTH;
    let affected = choices.iter().find(fits).filter(|_| !phases.is_empty());
    format!("{lead}{}{IN_DETAILS}", affected.map_or("", String::as_str))
}

/// What a warning is about, in a few words.
fn what_happened(code: WarningCode) -> &'static str {
    match code {
        WarningCode::Interrupted => "the run was interrupted",
        WarningCode::InvalidMeasurements => "invalid measurements, left out",
        WarningCode::CacheNotAsAsked => "caches not as requested",
        WarningCode::FewOperations => "too few operations for percentiles",
        WarningCode::MeasurementOverhead => "large measurement overhead",
        WarningCode::DeviceBusy => "device busy before the phase",
        WarningCode::OthersIo => "background load on the disk",
        WarningCode::OthersCpu => "background load on the processors",
        WarningCode::MemoryPressure => "memory was short",
        WarningCode::Steal => "CPU steal",
        WarningCode::Throttled => "processors throttled",
        WarningCode::ClockJumped => "clocks disagreed",
        WarningCode::Straggler => "one worker ended late",
        WarningCode::Trend => "latency drifted",
        WarningCode::TwoModes => "latencies in two clusters",
        WarningCode::Compressed => "content was compressed",
        WarningCode::Jump => "latency changed suddenly",
        WarningCode::Frequency => "processors below full speed",
        WarningCode::HostCache => "page cache below the loop device",
        WarningCode::DiskLate => "modelled disk answered late",
        WarningCode::AccessTimesDiffer => "access times updated on some variants",
        WarningCode::ReadsWrite => "device wrote during reads",
        WarningCode::SmallVolume => "small volume",
        WarningCode::LevelsInOrder => "levels measured in order, so drift is in them",
        WarningCode::NoJournal => "ext4 without a journal, slowed by earlier deletions",
        WarningCode::MemoryTakenBack => "host takes back free memory",
        WarningCode::SlowClock => "slow clock",
        WarningCode::PrecisionNotReached => "requested precision not reached",
    }
}
