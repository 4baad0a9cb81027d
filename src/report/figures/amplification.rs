//! How much more the device moved than was asked for.

use super::cast::{Cast, CastRun, Member};
use super::rates::estimated;
use super::whole::{about_disturbed, whole};
use super::{Axis, Figure, Look, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::measure::amplification::{PhaseAmplification, phase_amplifications};
use crate::measure::order::each_once;
use crate::measure::summary::Estimate;

/// A direction, and what is told of it.
struct Direction {
    key: &'static str,
    title: &'static str,
    question: &'static str,
    label: &'static str,
    note: &'static str,
    of: fn(&PhaseAmplification) -> Option<Estimate>,
}

const DIRECTIONS: [Direction; 2] = [
    Direction {
        key: "written",
        title: "Write amplification",
        question: "How many bytes did the device write for each byte of content?",
        label: "bytes written per byte asked",
        note: "Of phases that give files content and end in a sync, or came to the device all the \
               same. What else was written meanwhile is in it.",
        of: |one| one.written,
    },
    Direction {
        key: "read",
        title: "Read amplification",
        question: "How many bytes did the device read for each byte of content?",
        label: "bytes read per byte asked",
        note: "Of phases that read content from cold caches.",
        of: |one| one.read,
    },
];

/// One picture for what was written and one for what was read, as far as that is known.
pub(super) fn amplifications(cast: &Cast<'_>) -> Vec<Figure> {
    let all: Vec<(&CastRun<'_>, Vec<PhaseAmplification>)> =
        cast.runs.iter().map(|run| (run, phase_amplifications(run.book))).collect();
    DIRECTIONS.iter().filter_map(|direction| figure(&all, direction)).collect()
}

fn figure(
    all: &[(&CastRun<'_>, Vec<PhaseAmplification>)],
    direction: &Direction,
) -> Option<Figure> {
    let known = |one: &&PhaseAmplification| (direction.of)(one).is_some();
    let every = all.iter().flat_map(|(_, all)| all.iter().filter(known));
    let phases = each_once(every.map(|one| one.phase.as_str()));
    let series = |member: &Member<'_>, all: &[PhaseAmplification]| {
        let own = all.iter().filter(|one| one.variant == member.variant);
        let point = |one: &PhaseAmplification| {
            let place = phases.iter().position(|phase| *phase == one.phase)?;
            Some(estimated(place as f64, (direction.of)(one)?, one.disturbed))
        };
        Series {
            name: member.name.clone(),
            colour: member.colour,
            look: Look::Bars,
            what: "mean".into(),
            points: own.filter_map(point).collect(),
        }
    };
    let of_run = |(run, all): &(&CastRun<'_>, Vec<PhaseAmplification>)| -> Vec<Series> {
        run.members.iter().map(|member| series(member, all)).collect()
    };
    let series: Vec<Series> = all.iter().flat_map(of_run).collect();
    let notes = [Some(direction.note.to_string()), about_disturbed(&series)];
    whole(Figure {
        key: format!("amplification-{}", direction.key),
        title: direction.title.into(),
        question: direction.question.into(),
        x: Axis {
            label: "phase".into(),
            quantity: Quantity::Count,
            scale: Scale::Named(phases.into_iter().map(shown).collect()),
        },
        y: Axis { label: direction.label.into(), quantity: Quantity::Times, scale: Scale::Linear },
        shade: None,
        series,
        marks: Vec::new(),
        notes: notes.into_iter().flatten().collect(),
    })
}
