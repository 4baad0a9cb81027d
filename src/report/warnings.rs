//! Writes warnings in a line each: what happened, in how many measurements, in which phases.

use super::text::{WIDTH, width};
use crate::analysis::Analysis;
use crate::analysis::finding::Finding;
use crate::analysis::warnings::table::{WarningCode, WarningFinding};
use crate::base::distinct::each_once;
use crate::base::failure::shown;
use crate::base::units::counted;

const LEAD: &str = "Warning: ";

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

/// A line for each kind of warning that fits a terminal.
pub(super) fn warning_lines(analysis: &Analysis<'_>) -> Vec<String> {
    let room = WIDTH - LEAD.len();
    kinds(analysis).iter().map(|kind| format!("{LEAD}{}", kind.text(room))).collect()
}

/// What [`warning_lines`] says, with all phases and without the first word.
pub(super) fn warning_texts(analysis: &Analysis<'_>) -> Vec<String> {
    kinds(analysis).iter().map(|kind| kind.text(usize::MAX)).collect()
}

/// All warnings in one line; none without any.
pub(super) fn warnings_in_a_line(analysis: &Analysis<'_>) -> Option<String> {
    let kinds = kinds(analysis);
    let names: Vec<&str> = kinds.iter().map(|kind| kind.code.short_name()).collect();
    let text = first_names(&names, |named| width(&format!("{LEAD}{named}")) <= WIDTH);
    text.map(|named| format!("{LEAD}{named}"))
}

impl WarningGroup<'_> {
    /// `background load on the disk in 9 of 50 measurements (create, delete)`
    fn text(&self, room: usize) -> String {
        if let ([only], WarningCode::InvalidMeasurements) = (self.all.as_slice(), self.code) {
            let sentence = shown(only.sentence.trim_end_matches('.'));
            if width(&sentence) <= room {
                return sentence;
            }
        }
        let verb = if self.code == WarningCode::InvalidMeasurements { ":" } else { " in" };
        let number: Option<u64> = self.all.iter().map(|warning| warning.measurements).sum();
        let of = counted(self.of as u64, "measurement");
        let in_how_many = number.map(|number| format!("{verb} {number} of {of}"));
        let text = format!("{}{}", self.code.short_name(), in_how_many.unwrap_or_default());
        let phases = self.all.iter().flat_map(|warning| &warning.phases);
        let phases = each_once(phases.map(shown));
        let names: Vec<&str> = phases.iter().map(String::as_str).collect();
        let fits = |named: &str| width(&text) + width(named) + " ()".len() <= room;
        let number = counted(names.len() as u64, "phase");
        let number = Some(number).filter(|number| !names.is_empty() && fits(number));
        let named = first_names(&names, fits).or(number);
        text + &named.map(|named| format!(" ({named})")).unwrap_or_default()
    }
}

/// As many of the names as fit, and how many more there are; none where no name fits.
fn first_names(names: &[&str], fits: impl Fn(&str) -> bool) -> Option<String> {
    let with = |number: usize| match names.len() - number {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..number].join(", ")),
    };
    (1..=names.len()).rev().map(with).find(|named| fits(named))
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
            kind(&all).text(usize::MAX),
            "background load on the disk in 9 of 50 measurements (create, delete)"
        );
        assert_eq!(kind(&[warning(&[], None)]).text(71), "background load on the disk");
    }

    #[test]
    fn phases_that_do_not_fit_are_counted_and_nothing_is_cut() {
        let all = [warning(&["make-directories", "find-and-remove", "scan", "read"], Some(5))];
        let texts = [60, 71, 81, 120].map(|room| kind(&all).text(room));
        let lead = "background load on the disk in 5 of 50 measurements";
        assert_eq!(
            texts,
            [
                lead.to_string(),
                format!("{lead} (4 phases)"),
                format!("{lead} (make-directories and 3 more)"),
                format!("{lead} (make-directories, find-and-remove, scan, read)")
            ]
        );
    }
}
