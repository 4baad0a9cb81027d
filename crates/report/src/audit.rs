//! Writes what speaks against results of other benchmarks.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::table::{Table, TableColumn};
use super::text::{known, number, short_seconds, write_wrapped};
use boatload_analysis::audit::{Audit, AuditBounds, AuditFinding, AuditGrade, work_words};
use boatload_base::distinct::each_once;
use boatload_base::failure::shown;
use boatload_base::units::{bytes, counted};
use boatload_results::tools::ToolMeasurement;

/// The format of the document.
const FORMAT: &str = "boatload-audit";
const VERSION: u32 = 1;

/// Measurements and names that the terminal shows of one file.
const ROWS_SHOWN: usize = 12;
const NAMES_SHOWN: usize = 4;

/// The document: what the terminal says, and all that was read.
#[derive(Serialize, JsonSchema)]
struct AuditDocument<'a> {
    /// `boatload-audit`.
    format: &'static str,
    /// Rises when a key is removed or changes its meaning.
    version: u32,
    /// What was known beside the files.
    bounds: &'a AuditBounds,
    /// One for each file.
    audits: Vec<AuditEntry<'a>>,
}

/// One file.
#[derive(Serialize, JsonSchema)]
struct AuditEntry<'a> {
    /// The verdict.
    sentence: String,
    /// The surest grade among the findings; null without any.
    grade: Option<AuditGrade>,
    #[serde(flatten)]
    audit: &'a Audit,
}

/// Writes the verdict on each file, its figures, and what speaks against them.
///
/// # Errors
/// If `out` does.
pub fn write_audits(audits: &[Audit], out: &mut dyn Write) -> io::Result<()> {
    for (at, audit) in audits.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        write_audit(audit, out)?;
    }
    Ok(())
}

/// Writes the document.
///
/// # Errors
/// If `out` does.
pub fn write_audits_json(
    audits: &[Audit],
    bounds: &AuditBounds,
    out: &mut dyn Write,
) -> io::Result<()> {
    let entry =
        |audit| AuditEntry { sentence: Audit::sentence(audit), grade: audit.grade(), audit };
    let audits = audits.iter().map(entry).collect();
    let document = AuditDocument { format: FORMAT, version: VERSION, bounds, audits };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

fn write_audit(audit: &Audit, out: &mut dyn Write) -> io::Result<()> {
    let version = audit.result.version.as_deref().map(|version| format!(" {}", shown(version)));
    let tool = audit.result.tool;
    writeln!(out, "{} ({tool}{})", shown(&audit.file), version.unwrap_or_default())?;
    write_wrapped("  ", &audit.sentence(), out)?;
    writeln!(out)?;
    let all = &audit.result.measurements;
    let figures: Vec<_> = all.iter().take(ROWS_SHOWN).collect();
    let is_known = |column: &TableColumn<_>| column.is_known(figures.iter().copied());
    let columns: Vec<_> = COLUMNS.into_iter().filter(is_known).collect();
    Table::from_rows(&columns, figures.iter().copied()).write(out)?;
    if let Some(more) = all.len().checked_sub(ROWS_SHOWN).filter(|more| *more > 0) {
        writeln!(out, "and {} more", counted(more as u64, "figure"))?;
    }
    if audit.result.is_cut {
        writeln!(out, "The file has more figures, which were not read.")?;
    }
    for note in &audit.result.notes {
        writeln!(out)?;
        write_wrapped("", &shown(note), out)?;
    }
    if audit.findings.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for alike in grouped_findings(&audit.findings) {
        write_wrapped("* ", &sentence(&alike, all.len()), out)?;
    }
    writeln!(out)?;
    let commands = each_once(audit.findings.iter().map(|finding| finding.measure_with.as_str()));
    for (at, command) in commands.iter().enumerate() {
        writeln!(out, "{}{command}", if at == 0 { "Measure it: " } else { "            " })?;
    }
    Ok(())
}

const COLUMNS: [TableColumn<ToolMeasurement>; 6] = [
    TableColumn::words("figure", |one| shown(&one.name)),
    TableColumn::words("work", work_words),
    TableColumn::numbers("MB/s", |one| rate(one.bytes_per_second.map(|rate| rate / 1e6))),
    TableColumn::numbers("per second", |one| rate(one.operations_per_second)),
    TableColumn::numbers("bytes", |one| known(one.bytes, bytes)),
    TableColumn::numbers("time", |one| short_seconds(one.seconds)),
];

fn rate(value: Option<f64>) -> String {
    known(value, |value| number(value, 3))
}

/// Findings of one check with one grade stand together, in the order of the first of each.
fn grouped_findings(all: &[AuditFinding]) -> Vec<Vec<&AuditFinding>> {
    let kinds = each_once(all.iter().map(|finding| (finding.check, finding.grade)));
    let of_kind = |kind| {
        let own = all.iter().filter(|finding| (finding.check, finding.grade) == kind);
        own.collect()
    };
    kinds.into_iter().map(of_kind).collect()
}

/// What speaks against some of `all` figures: their names and the reason; where they have several, the first one.
fn sentence(alike: &[&AuditFinding], all: usize) -> String {
    let first = alike[0];
    let mut names = each_once(alike.iter().map(|finding| shown(&finding.measurement)));
    if let Some(more) = names.len().checked_sub(NAMES_SHOWN).filter(|more| *more > 0) {
        names.truncate(NAMES_SHOWN);
        names.push(format!("{more} more"));
    }
    let figures = match alike.len() {
        _ if all == 1 => String::new(),
        many if many == all => "all: ".into(),
        _ => format!("{}: ", names.join(", ")),
    };
    let is_same = alike.iter().all(|finding| finding.reason == first.reason);
    let others = if is_same { "" } else { "; the others likewise" };
    format!("{figures}{}{others} [{}, {}]", shown(&first.reason), first.grade, first.check)
}

#[cfg(test)]
mod tests;
