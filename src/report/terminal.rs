//! Writes the report for a terminal.

use std::io::{self, Write};

use super::ReportFormat;
use super::filesystems::{amplification_tables, conditions_table, made_table};
use super::head::write_head;
use super::names::cell_name;
use super::phases::write_phases;
use super::plot::{Style, write_plots};
use super::text::{number, time, write_wrapped};
use super::windows::{course_table, single_latency_table};
use crate::analysis::Analysis;
use crate::analysis::course::course_tables;
use crate::analysis::finding::Finding;
use crate::analysis::latencies::is_latencies_only;
use crate::analysis::next::NextStep;
use crate::analysis::summary::Summary;
use crate::base::units::percent_text;

/// What boatload concludes, the figures it concludes it from, warnings, and what to look at next.
pub(super) const TERMINAL: ReportFormat = ReportFormat { name: "terminal", render: write_terminal };

fn write_terminal(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut tables = Vec::new();
    write_tables(analysis, &mut tables)?;
    write_around(analysis, &tables, out)
}

/// The terminal's report with charts in place of the tables, where there is something to draw.
/// Fails only if `out` does.
pub fn write_plotted(
    analysis: &Analysis<'_>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut charts = Vec::new();
    if !write_plots(&[analysis], style, &mut charts)? {
        return write_terminal(analysis, out);
    }
    write_around(analysis, &charts, out)
}

/// Writes what stands before and behind the figures, and them.
fn write_around(analysis: &Analysis<'_>, figures: &[u8], out: &mut dyn Write) -> io::Result<()> {
    write_head(analysis, out)?;
    write_answer(analysis, out)?;
    // One sentence tells what decides on such a disk; the others follow with the table of what it saw.
    let of_disk = analysis.most_seeks();
    let is_shown = |one: &&Finding| !matches!(one, Finding::Disk(_)) || Some(*one) == of_disk;
    let shown = analysis.findings().iter().skip(usize::from(analysis.answer().is_some()));
    let shown = shown.filter(is_shown);
    let (warnings, answers): (Vec<_>, Vec<_>) = shown.partition(|finding| finding.is_warning());
    write_findings("* ", &answers, out)?;
    writeln!(out)?;
    out.write_all(figures)?;
    write_findings("warning: ", &warnings, out)?;
    if let Some(reference) = &analysis.book.run.reference {
        writeln!(out)?;
        reference.notes.iter().try_for_each(|note| write_wrapped("note: ", note, out))?;
    }
    writeln!(out)?;
    for next in analysis.next_steps() {
        write_wrapped("- ", &next_sentence(&next, analysis.summary()), out)?;
    }
    Ok(())
}

/// The answer with how far to trust it, what supports it, and the next command; nothing without one.
fn write_answer(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(answer) = analysis.answer() else { return Ok(()) };
    writeln!(out)?;
    write_wrapped("  ", &answer.sentence(), out)?;
    write_wrapped("  ", &format!("Reliability: {} ({}).", answer.reliability, answer.reason), out)?;
    answer.evidence.iter().try_for_each(|one| write_wrapped("  ", one, out))?;
    answer.next.iter().try_for_each(|next| write_wrapped("  Next: ", next, out))
}

fn write_tables(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (book, summary) = (analysis.book, analysis.summary());
    let mut tables = Vec::new();
    if is_latencies_only(book, summary) {
        single_latency_table(book).write(out)?;
    } else {
        write_phases(summary, out)?;
        let reached = analysis.precision_reached().map(|share| {
            format!("every rate is as precise as requested: ±{} or less", percent_text(share))
        });
        write_wrapped("", &reached.unwrap_or_default(), out)?;
        tables.extend(course_tables(analysis).iter().map(course_table));
        tables.extend(conditions_table(analysis.conditions()));
    }
    if !book.filesystems.is_empty() {
        tables.extend(amplification_tables(analysis));
        tables.push(made_table(book));
    }
    for table in tables {
        writeln!(out)?;
        table.write(out)?;
    }
    Ok(())
}

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

fn next_sentence(next: &NextStep, summary: &Summary) -> String {
    match next {
        NextStep::SlowestPhase { phase, group, p50_ns, p99_ns, ratio } => {
            let group = group.and_then(|at| summary.groups.get(at));
            let cell = group.map(|of| format!(" ({})", cell_name(&of.variant, of.level.as_ref())));
            format!(
                "{phase}{} is the slowest: its p99 of {} is {} times its p50 of {}",
                cell.unwrap_or_default(),
                time(Some(*p99_ns as f64)),
                number(*ratio, 2),
                time(Some(*p50_ns as f64))
            )
        }
        NextStep::LargerScale { scale } => {
            format!("the same command with --scale {scale} shows more of the tails and of growth")
        }
        NextStep::Beside { scenario, run } => format!(
            "boatload run {scenario} --scale original, then boatload show last {run}, puts a run \
             of your own beside it"
        ),
        NextStep::Show { run, levels, windows } => {
            let details = if *levels { "; with --details, every phase at every level" } else { "" };
            let slices = if *windows { "; with --windows, slice by slice" } else { "" };
            format!("boatload show {run} prints this again{details}{slices}")
        }
    }
}
