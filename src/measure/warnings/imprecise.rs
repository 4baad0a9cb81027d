//! Rates whose interval is wider than the requested precision, and what would reach it.

use super::Warning;
use crate::base::units::{counted, span};
use crate::measure::book::Book;
use crate::measure::effort::{ImprecisePhase, RepetitionNeed, imprecise_phases, percent};

/// Phases whose rates are less sure than was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Imprecise {
    /// What was asked, as a share of the rate.
    pub precision: f64,
    /// The phases.
    pub phases: Vec<ImprecisePhase>,
    /// What it would take; none if that cannot be told.
    pub takes: Option<RepetitionNeed>,
}

/// The warning, if a precision was asked for and not reached.
pub fn imprecise(book: &Book, takes: Option<RepetitionNeed>) -> Option<Warning> {
    let (precision, phases) = (book.run.precision?, imprecise_phases(book)?);
    let found = Imprecise { precision, phases, takes };
    (!found.phases.is_empty()).then_some(Warning::Imprecise(found))
}

impl Imprecise {
    pub(super) fn phases(&self) -> Vec<String> {
        self.phases.iter().map(|unsure| unsure.phase.clone()).collect()
    }

    pub(super) fn sentence(&self) -> String {
        let of_phase = |ImprecisePhase { phase, half_width }: &ImprecisePhase| match half_width {
            Some(half) => format!("{phase} (±{:.1}%)", half * 100.0),
            None => format!("{phase} (no interval)"),
        };
        let phases: Vec<String> = self.phases.iter().map(of_phase).collect();
        let takes = self.takes.map_or_else(String::new, |RepetitionNeed { repeats, seconds }| {
            let repeats = counted(u64::from(repeats), "repeat");
            format!(" It would take about {repeats}, {} more.", span(seconds))
        });
        let share = percent(self.precision);
        format!("the requested precision of {share} was not reached: {}.{takes}", phases.join(", "))
    }
}
