//! Writes the report for a terminal.

use std::io::{self, Write};

use super::ReportFormat;
use super::answer_table::{whole_notes, whole_table, with_places_cut};
use super::filesystems::{amplification_tables, conditions_table, made_table};
use super::first_screen::{write_answer, write_findings, write_first_screen};
use super::head::{about_stopping, write_head};
use super::host::write_host;
use super::phases::{single_latency_table, write_phases};
use super::ranks::rank_table;
use super::table::TitledTable;
use super::text::{WIDTH, write_wrapped};
use boatload_analysis::Analysis;
use boatload_analysis::finding::Finding;
use boatload_analysis::latencies::is_latencies_only;
use boatload_analysis::readings::table::about_levels;
use boatload_analysis::readings::{trace_directories, trace_remarks};
use boatload_analysis::statement::begun;

/// What a user sees first; of published figures everything.
pub(super) const TERMINAL: ReportFormat = ReportFormat { name: "terminal", render: write_terminal };

/// Everything: all findings, all tables, and what was measured on what.
pub(super) const DETAILS: ReportFormat = ReportFormat { name: "details", render: write_details };

fn write_terminal(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_screen(analysis, WIDTH, out)
}

/// The first screen of a run, or everything about published figures, in this many columns. Fails only if `out` does.
pub fn write_screen(
    analysis: &Analysis<'_>,
    columns: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    if analysis.book.run.reference.is_none() {
        return write_first_screen(analysis, columns, out);
    }
    let mut tables = Vec::new();
    write_tables(analysis, &mut tables)?;
    write_around(analysis, &tables, out)
}

fn write_details(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut tables = Vec::new();
    write_tables(analysis, &mut tables)?;
    write_around(analysis, &tables, out)?;
    writeln!(out)?;
    write_host(analysis, out)
}

/// Writes what stands before and behind the figures, and them.
fn write_around(analysis: &Analysis<'_>, figures: &[u8], out: &mut dyn Write) -> io::Result<()> {
    write_head(analysis, out)?;
    if let Some(answer) = analysis.answer() {
        write_answer(answer, out)?;
    }
    let warnings: Vec<&Finding> =
        analysis.findings().iter().filter(|finding| finding.is_warning()).collect();
    let statements = analysis.statements();
    if !statements.is_empty() {
        writeln!(out)?;
    }
    statements.iter().try_for_each(|sentence| write_wrapped("* ", sentence, out))?;
    let effects = analysis.findings().iter().filter_map(|finding| match finding {
        Finding::Effect(effect) => Some(effect.stated()),
        _ => None,
    });
    let levels = about_levels(effects).map(|levels| begun(&levels) + " of these ratios.");
    write_wrapped("", &levels.unwrap_or_default(), out)?;
    writeln!(out)?;
    out.write_all(figures)?;
    write_findings("warning: ", &warnings, out)?;
    if let Some(reference) = &analysis.book.run.reference {
        writeln!(out)?;
        reference.notes.iter().try_for_each(|note| write_wrapped("note: ", note, out))?;
        writeln!(out)?;
        let [scenario, id] = [&analysis.book.run.scenario, &analysis.book.run.id];
        let next = format!(
            "`boatload run {scenario} --scale original`, then `boatload show last {id}`, compares a run of your \
             own with it"
        );
        write_wrapped("- ", &next, out)?;
    }
    Ok(())
}

fn write_tables(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (book, summary) = (analysis.book, analysis.summary());
    if is_latencies_only(book, summary) {
        return single_latency_table(book).write(out);
    }
    if let Some(directories) = trace_directories(book) {
        for table in [analysis.answer_table(), directories] {
            let table = with_places_cut(table, WIDTH);
            whole_table(&table).write(out)?;
            write_wrapped("", &whole_notes(&table), out)?;
            writeln!(out)?;
        }
        return trace_remarks(book).iter().try_for_each(|remark| write_wrapped("", remark, out));
    }
    if !summary.levels().is_empty() && book.run.reference.is_none() {
        let table = analysis.answer_table();
        whole_table(&table).write(out)?;
        write_wrapped("", &whole_notes(&table), out)?;
        writeln!(out)?;
    }
    write_phases(summary, out)?;
    write_wrapped("", &about_stopping(analysis).unwrap_or_default(), out)?;
    for table in other_tables(analysis) {
        writeln!(out)?;
        table.write(out)?;
    }
    let all = analysis.findings().iter();
    let found: Vec<_> = all.filter(|one| matches!(one, Finding::Disk(_))).collect();
    write_findings("* ", &found, out)
}

/// All tables but the answer's and the table of phases: ranks, conditions and file systems.
pub(super) fn other_tables(analysis: &Analysis<'_>) -> Vec<TitledTable> {
    let book = analysis.book;
    let mut tables: Vec<TitledTable> = rank_table(analysis).into_iter().collect();
    tables.extend(conditions_table(analysis.conditions()));
    if !book.filesystems.is_empty() {
        tables.extend(amplification_tables(analysis));
        tables.push(made_table(book));
    }
    tables
}
