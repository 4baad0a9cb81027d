//! Rates whose interval is wider than the requested precision, and what would reach it.

use super::about_phases;
use crate::analysis::effort::{ImprecisePhase, imprecise_phases, percent};
use crate::analysis::finding::{WarningCode, WarningFinding};
use crate::base::units::{counted, span};
use crate::results::book::Book;
use crate::results::book::RepetitionNeed;

/// The warning, if a precision was requested and the whole run did not reach it.
pub(super) fn imprecise(book: &Book) -> Option<WarningFinding> {
    let precision = book.run.precision.filter(|_| book.run.complete)?;
    let imprecise = imprecise_phases(book)?;
    if imprecise.is_empty() {
        return None;
    }
    let widths: Vec<String> = imprecise.iter().map(width).collect();
    let takes =
        book.run.precision_needs.map_or_else(String::new, |RepetitionNeed { repeats, seconds }| {
            let repeats = counted(u64::from(repeats), "repeat");
            format!(" It would take about {repeats}, {} more.", span(seconds))
        });
    let sentence = format!(
        "the requested precision of {} was not reached: {}.{takes}",
        percent(precision),
        widths.join(", ")
    );
    let phases = imprecise.into_iter().map(|one| one.phase).collect();
    let hint = "Give it more time with --time-limit, or ask for less with --precision.";
    Some(about_phases(WarningCode::PrecisionNotReached, phases, sentence, hint))
}

fn width(ImprecisePhase { phase, half_width }: &ImprecisePhase) -> String {
    match half_width {
        Some(half) => format!("{phase} (±{:.1}%)", half * 100.0),
        None => format!("{phase} (no interval)"),
    }
}
