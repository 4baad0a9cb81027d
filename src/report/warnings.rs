//! Writes warnings in a line each: what happened, in how many measurements, in which phases.

use crate::analysis::Analysis;
use crate::analysis::finding::Finding;
use crate::analysis::warnings::table::{WarningCode, WarningFinding};
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::counted;

/// A line for each kind of warning, with all phases.
pub(super) fn warning_texts(analysis: &Analysis<'_>) -> Vec<String> {
    let all = analysis.findings().iter().filter_map(|finding| match finding {
        Finding::Warning(warning) => Some(warning),
        _ => None,
    });
    let all: Vec<&WarningFinding> = all.collect();
    let text = |code| {
        let alike: Vec<_> = all.iter().filter(|warning| warning.code == code).copied().collect();
        warning_text(&alike, analysis.book.measurements.len())
    };
    each_once(all.iter().map(|warning| warning.code)).into_iter().map(text).collect()
}

/// `background load on the disk in 9 of 50 measurements (create, delete)`, of warnings of one kind in a run of this many
/// measurements.
fn warning_text(alike: &[&WarningFinding], measurements: usize) -> String {
    let [first, others @ ..] = alike else { return String::new() };
    let is_invalid = first.code == WarningCode::InvalidMeasurements;
    if is_invalid && others.is_empty() {
        return shown(first.sentence.trim_end_matches('.'));
    }
    let mut text = first.code.short_name().to_string();
    let number: Option<u64> = alike.iter().map(|warning| warning.measurements).sum();
    if let Some(number) = number {
        let verb = if is_invalid { ":" } else { " in" };
        text += &format!("{verb} {number} of {}", counted(measurements as u64, "measurement"));
    }
    let phases = each_once(alike.iter().flat_map(|warning| &warning.phases).map(shown));
    if !phases.is_empty() {
        text += &format!(" ({})", phases.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(phases: &[&str], measurements: Option<u64>) -> WarningFinding {
        let phases = phases.iter().map(ToString::to_string).collect();
        let one = WarningFinding::about_phases(WarningCode::OthersIo, phases, "s".into(), "h");
        WarningFinding { measurements, ..one }
    }

    #[test]
    fn a_warning_says_how_many_measurements_and_which_phases_it_is_about() {
        let all = [warning(&["create"], Some(5)), warning(&["delete"], Some(4))];
        assert_eq!(
            warning_text(&[&all[0], &all[1]], 50),
            "background load on the disk in 9 of 50 measurements (create, delete)"
        );
        assert_eq!(warning_text(&[&warning(&[], None)], 50), "background load on the disk");
    }
}
