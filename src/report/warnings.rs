//! Writes warnings in a line each: what happened, in how many measurements, in which phases.

use crate::analysis::Analysis;
use crate::analysis::finding::Finding;
use crate::analysis::warnings::table::{WarningCode, WarningFinding};
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::counted;

/// All warnings of a kind.
struct WarningGroup<'a> {
    code: WarningCode,
    all: Vec<&'a WarningFinding>,
    /// Measurements of the run.
    of: usize,
}

fn kinds<'a>(analysis: &'a Analysis<'_>) -> Vec<WarningGroup<'a>> {
    let all = analysis.findings().iter().filter_map(|finding| match finding {
        Finding::Warning(warning) => Some(warning),
        _ => None,
    });
    let all: Vec<&WarningFinding> = all.collect();
    let kind = |code| {
        let all = all.iter().filter(|warning| warning.code == code).copied().collect();
        WarningGroup { code, all, of: analysis.book.measurements.len() }
    };
    each_once(all.iter().map(|warning| warning.code)).into_iter().map(kind).collect()
}

/// A line for each kind of warning, with all phases.
pub(super) fn warning_texts(analysis: &Analysis<'_>) -> Vec<String> {
    kinds(analysis).iter().map(|kind| kind.text()).collect()
}

impl WarningGroup<'_> {
    /// `background load on the disk in 9 of 50 measurements (create, delete)`
    fn text(&self) -> String {
        let is_invalid = self.code == WarningCode::InvalidMeasurements;
        if let ([only], true) = (self.all.as_slice(), is_invalid) {
            return shown(only.sentence.trim_end_matches('.'));
        }
        let mut text = self.code.short_name().to_string();
        let number: Option<u64> = self.all.iter().map(|warning| warning.measurements).sum();
        if let Some(number) = number {
            let verb = if is_invalid { ":" } else { " in" };
            text += &format!("{verb} {number} of {}", counted(self.of as u64, "measurement"));
        }
        let phases = each_once(self.all.iter().flat_map(|warning| &warning.phases).map(shown));
        if !phases.is_empty() {
            text += &format!(" ({})", phases.join(", "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(all: &[WarningFinding]) -> WarningGroup<'_> {
        WarningGroup { code: WarningCode::OthersIo, all: all.iter().collect(), of: 50 }
    }

    fn warning(phases: &[&str], measurements: Option<u64>) -> WarningFinding {
        let phases = phases.iter().map(ToString::to_string).collect();
        let one = WarningFinding::about_phases(WarningCode::OthersIo, phases, "s".into(), "h");
        WarningFinding { measurements, ..one }
    }

    #[test]
    fn a_warning_says_how_many_measurements_and_which_phases_it_is_about() {
        let all = [warning(&["create"], Some(5)), warning(&["delete"], Some(4))];
        assert_eq!(
            kind(&all).text(),
            "background load on the disk in 9 of 50 measurements (create, delete)"
        );
        assert_eq!(kind(&[warning(&[], None)]).text(), "background load on the disk");
    }
}
