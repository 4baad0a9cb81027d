//! Writes what speaks against results of other benchmarks.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::table::{Table, TableColumn};
use super::text::{number, short_seconds, write_wrapped};
use crate::analysis::audit::{Audit, AuditBounds, AuditFinding, AuditGrade, work_words};
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::{bytes, counted};
use crate::results::tools::{ToolMeasurement, ToolName};

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
    Table::from_rows(&columns(tool), all.iter().take(ROWS_SHOWN)).write(out)?;
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

fn columns(tool: ToolName) -> Vec<TableColumn<ToolMeasurement>> {
    let all = [
        TableColumn::words("figure", |one: &ToolMeasurement| shown(&one.name)),
        TableColumn::words("work", work_words),
        TableColumn::numbers("MB/s", |one| rate(one.bytes_per_second.map(|rate| rate / 1e6))),
        TableColumn::numbers("per second", |one| rate(one.operations_per_second)),
        TableColumn::numbers("bytes", |one| one.bytes.map_or("-".into(), bytes)),
        TableColumn::numbers("time", |one| short_seconds(one.seconds)),
    ];
    let keep = |column: &TableColumn<ToolMeasurement>| match tool {
        ToolName::Dd => column.head != "per second",
        ToolName::Mdtest => !["MB/s", "bytes"].contains(&column.head),
        _ => true,
    };
    all.into_iter().filter(keep).collect()
}

fn rate(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| number(value, 3))
}

/// Findings of one check and for one reason go together, in the order in which they stand.
fn grouped_findings(all: &[AuditFinding]) -> Vec<Vec<&AuditFinding>> {
    let mut groups: Vec<Vec<&AuditFinding>> = Vec::new();
    for finding in all {
        let alike = |group: &&mut Vec<&AuditFinding>| {
            let first = group[0];
            first.check == finding.check && first.grade == finding.grade
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

/// What speaks against some figures: the reason of the first, and the names of the others.
fn sentence(alike: &[&AuditFinding], all: usize) -> String {
    let first = alike[0];
    let name = match alike.len() {
        _ if all == 1 => String::new(),
        many if many == all => "all: ".into(),
        _ => format!("{}: ", shown(&first.measurement)),
    };
    let same = alike.iter().all(|finding| finding.reason == first.reason);
    let mut text = format!("{name}{}", shown(&first.reason));
    if alike.len() > 1 && alike.len() < all {
        let mut names = each_once(alike.iter().map(|finding| shown(&finding.measurement)));
        names.remove(0);
        if let Some(more) = names.len().checked_sub(NAMES_SHOWN).filter(|more| *more > 0) {
            names.truncate(NAMES_SHOWN);
            names.push(format!("{more} more"));
        }
        if names.is_empty() {
            names.push(format!("{} more of that name", alike.len() - 1));
        }
        let like = if same { "also" } else { "likewise" };
        text += &format!("; {like} {}", names.join(", "));
    } else if alike.len() == all && !same {
        text = text.replacen("all: ", &format!("all, such as {}: ", shown(&first.measurement)), 1);
    }
    format!("{text} [{}, {}]", first.grade, first.check)
}

#[cfg(test)]
mod tests;
