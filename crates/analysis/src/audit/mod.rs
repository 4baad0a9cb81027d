//! Weighs results of other benchmarks: what of them cannot be the speed of a device, and which measurement shows it.

mod case;
mod checks;
mod remedy;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use boatload_results::tools::{ToolMeasurement, ToolName, ToolResult, ToolWork};

pub use case::{AuditBounds, AuditCheck, AuditGrade};
pub use checks::CHECKS;

use case::AuditCase;

/// What speaks against one figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AuditFinding {
    /// Which check found it: a word of the list.
    pub check: &'static str,
    /// The name of the measurement.
    pub measurement: String,
    /// Which of the measurements it is, from 0: several may have one name.
    pub figure: usize,
    /// How surely the figure is not the device's.
    pub grade: AuditGrade,
    /// The reason, with its figures.
    pub reason: String,
    /// The command that measures it.
    pub measure_with: String,
}

/// A result with what speaks against it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Audit {
    /// Its file.
    pub file: String,
    /// What it says.
    pub result: ToolResult,
    /// What speaks against it, the surest first.
    pub findings: Vec<AuditFinding>,
}

impl Audit {
    /// The surest grade, if there is a finding.
    pub fn grade(&self) -> Option<AuditGrade> {
        self.findings.iter().map(|finding| finding.grade).min()
    }

    /// The verdict in a sentence.
    pub fn sentence(&self) -> String {
        let Some(grade) = self.grade() else {
            return "Nothing speaks against it.".into();
        };
        let has_error = self.findings.iter().any(|one| one.check == "error");
        let failed = grade == AuditGrade::Imprecise && has_error;
        let of_grade = self.findings.iter().filter(|finding| finding.grade == grade);
        let of_grade = of_grade.filter(|finding| !failed || finding.check == "error");
        let figures: BTreeSet<_> = of_grade.map(|finding| finding.figure).collect();
        let (found, all) = (figures.len(), self.result.measurements.len());
        let which = match (found, all) {
            (1, 1) => "The figure".to_string(),
            _ if found == all => format!("All {all} figures"),
            _ => format!("{found} of {all} figures"),
        };
        let [is, they, their] =
            if found == 1 { ["is", "it", "its"] } else { ["are", "they", "their"] };
        let what = match grade {
            AuditGrade::Certain => "cannot be the speed of the device".into(),
            AuditGrade::Likely => format!("{is} probably the speed of memory, not of the device"),
            AuditGrade::Possible => {
                format!("may be the speed of memory: nothing shows that {they} {is} the device's")
            }
            AuditGrade::Imprecise if failed => {
                format!("{is} not of all {their} work: it ended with an error")
            }
            AuditGrade::Imprecise => {
                format!("may be right, but nothing tells how uncertain {they} {is}")
            }
        };
        format!("{which} {what}.")
    }
}

/// Weighs results, each with the name of its file. The same measurement in several files is a repetition.
pub fn audit(results: Vec<(String, ToolResult)>, bounds: &AuditBounds) -> Vec<Audit> {
    // The same file twice is no repetition.
    let mut distinct: Vec<ToolResult> = Vec::new();
    for (_, result) in &results {
        if !distinct.contains(result) {
            distinct.push(result.clone());
        }
    }
    let runs = |tool: ToolName, one: &ToolMeasurement| {
        let same_tool = distinct.iter().filter(|result| result.tool == tool);
        // Measurements of one file count each other already.
        let first = same_tool.filter_map(|result| {
            result.measurements.iter().find(|other| is_repetition(one, other))
        });
        first.map(|other| other.runs).fold(0, u64::saturating_add)
    };
    let weighed = |(file, result): (String, ToolResult)| {
        let mut findings = Vec::new();
        for (figure, one) in result.measurements.iter().enumerate() {
            let runs = runs(result.tool, one);
            findings.extend(weigh(&AuditCase { result: &result, one, figure, bounds, runs }));
        }
        findings.sort_by_key(|finding| finding.grade);
        Audit { file, result, findings }
    };
    results.into_iter().map(weighed).collect()
}

fn is_repetition(one: &ToolMeasurement, other: &ToolMeasurement) -> bool {
    let how = |one: &ToolMeasurement| (one.block_bytes, one.direct, one.synced);
    let amount = |one: &ToolMeasurement| match one.file_bytes {
        None => (None, one.operations),
        bytes => (bytes, None),
    };
    (&one.name, &one.setup, &one.interface) == (&other.name, &other.setup, &other.interface)
        && (how(one), amount(one)) == (how(other), amount(other))
}

/// What speaks against a measurement.
fn weigh(case: &AuditCase<'_>) -> Vec<AuditFinding> {
    let found = CHECKS.iter().filter_map(|check| {
        let (grade, reason) = (check.find)(case)?;
        Some(AuditFinding {
            check: check.name,
            measurement: case.one.name.clone(),
            figure: case.figure,
            grade,
            reason,
            measure_with: remedy::command(case),
        })
    });
    found.collect()
}

/// What is done, in words: `random read`.
pub fn work_words(one: &ToolMeasurement) -> String {
    match one.work {
        ToolWork::Unknown => "copy".into(),
        work if one.random => format!("random {work}"),
        work => work.to_string(),
    }
}

#[cfg(test)]
mod tests;
