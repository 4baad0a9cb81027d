//! The report a person reads in a terminal.

use std::io::{self, Write};

use super::amplification::write_amplifications;
use super::course::write_course;
use super::filesystems::{about_made, device_name, write_filesystems};
use super::matrix::write_matrices;
use super::phases::{about_n, group_name, write_phases};
use super::place::write_conditions;
use super::plot::{Style, write_plots};
use super::text::{number, time, write_wrapped};
use super::variance::write_precision;
use super::{Report, provenance};
use crate::base::units;
use crate::host::facts::{FilesystemFacts, HostFacts};
use crate::measure::analysis::Analysis;
use crate::measure::book::{Book, Measurement, RunFacts};
use crate::measure::course::course_tables;
use crate::measure::finding::Finding;
use crate::measure::next::NextStep;
use crate::measure::summary::Summary;

/// What boatload concludes, the figures it concludes it from, warnings, and what to look at next.
pub(super) struct Terminal;

impl Report for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn render(&self, analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
        write_around(analysis, &write_figures, out)
    }
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
        return Terminal.render(analysis, out);
    }
    write_around(analysis, &|_, out| out.write_all(&charts), out)
}

/// What shows the figures of a run.
type Evidence<'a> = &'a dyn Fn(&Analysis<'_>, &mut dyn Write) -> io::Result<()>;

fn write_around(
    analysis: &Analysis<'_>,
    evidence: Evidence<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (book, summary) = (analysis.book, analysis.summary());
    write_head(book, summary, out)?;
    let (warnings, answers): (Vec<_>, Vec<_>) =
        book.findings.iter().partition(|finding| finding.is_warning());
    write_findings("* ", &answers, out)?;
    writeln!(out)?;
    evidence(analysis, out)?;
    write_findings("warning: ", &warnings, out)?;
    if let Some(reference) = &book.run.reference {
        provenance::write_notes(reference, out)?;
    }
    writeln!(out)?;
    for one in analysis.next_steps() {
        write_wrapped("- ", &next_sentence(&one, summary), out)?;
    }
    Ok(())
}

fn write_figures(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (book, summary) = (analysis.book, analysis.summary());
    if provenance::is_latencies_only(book, summary) {
        provenance::latencies(book).write(out)?;
    } else {
        write_tables(analysis, out)?;
        write_precision(analysis, out)?;
    }
    if !book.filesystems.is_empty() {
        write_made(analysis, out)?;
    }
    Ok(())
}

fn write_tables(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let summary = analysis.summary();
    match (summary.groups.is_empty(), summary.levels().is_empty()) {
        (true, _) => writeln!(out, "Nothing was measured.")?,
        (_, true) => write_phases(summary, out)?,
        (_, false) => write_matrices(summary, out)?,
    }
    for course in course_tables(analysis) {
        writeln!(out)?;
        write_course(&course, out)?;
    }
    let conditions = analysis.conditions();
    if !conditions.names.is_empty() {
        writeln!(out)?;
        write_conditions(conditions, out)?;
    }
    Ok(())
}

fn write_made(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (book, levels) = (analysis.book, !analysis.summary().levels().is_empty());
    let amplifications = analysis.amplifications();
    if !amplifications.is_empty() {
        writeln!(out)?;
        write_amplifications(amplifications, (&counters_of(book), levels), out)?;
    }
    writeln!(out)?;
    write_filesystems(book, out)
}

/// The devices whose counters are told, each with those beneath it.
pub(super) fn counters_of(book: &Book) -> String {
    let mut chains: Vec<String> = Vec::new();
    for device in book.filesystems.iter().filter_map(|made| made.device.as_ref()) {
        let chain = device.beneath.join(" on ");
        if !chain.is_empty() && !chains.contains(&chain) {
            chains.push(chain);
        }
    }
    chains.join(", ")
}

fn write_head(book: &Book, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let run = &book.run;
    write_wrapped("", &format!("{}: {}", run.scenario, run.question), out)?;
    if let Some(reference) = &run.reference {
        return provenance::write_head(reference, &book.host, out);
    }
    write_wrapped("", &about_run(run), out)?;
    write_wrapped("", &about_place(book), out)?;
    write_wrapped("", &about_machine(&book.host), out)?;
    let figures = [about_n(summary), Some(about_cost(run))].into_iter().flatten();
    write_wrapped("", &figures.collect::<Vec<_>>().join("; "), out)?;
    if let Some(why) = about_lack(run) {
        write_wrapped("INCOMPLETE: ", &why, out)?;
    }
    Ok(())
}

/// Measurement overhead of an operation.
pub(super) fn about_cost(run: &RunFacts) -> String {
    let cost = time(Some(run.harness_ns).filter(|ns| ns.is_finite()));
    format!("measurement overhead: {cost} per operation")
}

/// Why a run is not complete; none if it is.
pub(super) fn about_lack(run: &RunFacts) -> Option<String> {
    let why = match run.finished {
        Some(_) => "it was interrupted",
        None => "it was killed, or is still running",
    };
    (!run.complete).then(|| format!("not every cell was done; {why}"))
}

/// Which run it is.
pub(super) fn about_run(run: &RunFacts) -> String {
    format!(
        "run {} of {}, {} scale, seed {}, boatload {}",
        run.id, run.started, run.scale, run.seed, run.boatload
    )
}

/// What it was measured on.
pub(super) fn about_place(book: &Book) -> String {
    let measurements = &book.measurements;
    if !measurements.is_empty() && measurements.iter().all(Measurement::is_simulated) {
        return "the simulated file system".into();
    }
    if !book.filesystems.is_empty() {
        return about_made(book);
    }
    let host = &book.host;
    let FilesystemFacts { source, available_bytes, total_bytes, .. } = &host.filesystem;
    let place = match &host.device {
        Some(device) => device_name(device),
        None => source.clone(),
    };
    let (free, total) = (units::bytes(*available_bytes), units::bytes(*total_bytes));
    format!("{} on {place}, {free} of {total} free", host.filesystem.about())
}

/// On which machine.
pub(super) fn about_machine(host: &HostFacts) -> String {
    let processors = units::counted(u64::from(host.cpus), "processor");
    let memory = units::bytes(host.memory_bytes);
    format!("{}, {processors}, {memory} of memory, {}", host.cpu, host.kernel)
}

fn write_findings(lead: &str, findings: &[&Finding], out: &mut dyn Write) -> io::Result<()> {
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
            let of = group.and_then(|at| summary.groups.get(at)).map(group_name);
            let of = of.map(|name| format!(" ({name})")).unwrap_or_default();
            format!(
                "{phase}{of} is the slowest: its p99 of {} is {} times its p50 of {}",
                time(Some(*p99_ns as f64)),
                number(*ratio, 2),
                time(Some(*p50_ns as f64))
            )
        }
        NextStep::LargerScale { scale } => {
            format!("the same command with --scale {scale} tells more about tails and growth")
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
