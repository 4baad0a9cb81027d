//! The readings: ways to look at the measurements of a run. Each file has one: its effects, those that must be decided for
//! a run to end, its sentences, its table and its picture. METHODOLOGY.md states their rules.

pub(crate) mod answer_draft;
mod crossing;
pub(crate) mod disk_kinds;
mod growth;
mod levels;
mod profile;
mod ranking;
pub(crate) mod rates;
pub(crate) mod reading;
mod source;
pub mod table;
mod tails;
mod trace;

use super::effect_finding::EffectFinding;
use super::observations::Observations;
use answer_draft::AnswerDraft;
use boatload_plan::Conclusion;
use reading::{Reading, RunView};

pub(crate) use profile::own_question;
pub use reading::{ChartFamily, Picture};
pub use trace::{trace_directories, trace_remarks};

/// The readings that a job names by the word in its `conclude`.
const READINGS: [(Conclusion, &dyn Reading); 6] = [
    (Conclusion::Growth, &growth::Growth),
    (Conclusion::Levels, &levels::Levels),
    (Conclusion::Crossing, &crossing::Crossing),
    (Conclusion::Ranking, &ranking::Ranking),
    (Conclusion::Source, &source::Source),
    (Conclusion::Tails, &tails::Tails),
];

/// The reading that a job names so.
pub(crate) fn reading_of(kind: Conclusion) -> &'static dyn Reading {
    let own = READINGS.iter().find(|(own, _)| *own == kind);
    own.map_or(&profile::Profile, |(_, reading)| *reading)
}

/// The effects that a job asks for, each reading's once; every family is decided at this alpha.
pub fn effects_of(wanted: &[Conclusion], all: &Observations<'_>, alpha: f64) -> Vec<EffectFinding> {
    let mut effects: Vec<EffectFinding> = Vec::new();
    for kind in wanted {
        let own = reading_of(*kind).effects(all, alpha);
        let is_there =
            |one: &EffectFinding| effects.iter().any(|other| other.reading == one.reading);
        if !own.first().is_some_and(is_there) {
            effects.extend(own);
        }
    }
    effects
}

/// The first reading that the job names and that has something to say; without a name how fast everything was. Of a trace
/// where its time went.
pub(crate) fn answering(run: &RunView<'_>) -> Option<AnsweredBy> {
    let answered =
        |reading: &'static dyn Reading| Some(AnsweredBy { reading, draft: reading.answer(run)? });
    let named = || run.book.run.conclude.iter().find_map(|kind| answered(reading_of(*kind)));
    let unnamed =
        || run.book.run.conclude.is_empty().then(|| answered(&profile::Profile)).flatten();
    answered(&trace::FileTime).or_else(named).or_else(unnamed)
}

/// The reading that answers a run, and what it says.
#[derive(Debug)]
pub(crate) struct AnsweredBy {
    pub reading: &'static dyn Reading,
    pub draft: AnswerDraft,
}

/// The rates of a run, where its reading has no table of its own.
pub(crate) fn table_of_rates(run: &RunView<'_>) -> table::AnswerTable {
    profile::Profile.table(run).unwrap_or_default()
}
