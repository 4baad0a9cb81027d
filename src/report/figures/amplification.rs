//! How much more the device moved than was asked for.

use std::collections::{BTreeMap, BTreeSet};

use super::cast::{Cast, CastRun, Member};
use super::rates::estimated;
use super::whole::{about_disturbed, about_last_level, whole};
use super::{Axis, Figure, Look, Point, Quantity, Scale, Series};
use crate::base::failure::shown;
use crate::measure::amplification::PhaseAmplification;
use crate::measure::book::Level;
use crate::measure::uncertainty::Estimate;

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
    let all: Vec<&[PhaseAmplification]> =
        cast.runs.iter().map(|run| run.analysis.phase_amplifications()).collect();
    DIRECTIONS.iter().filter_map(|direction| direction.figure(cast, &all)).collect()
}

impl Direction {
    fn figure(&self, cast: &Cast<'_>, all: &[&[PhaseAmplification]]) -> Option<Figure> {
        let known = || all.iter().copied().flatten().filter(|one| (self.of)(one).is_some());
        let told: BTreeSet<&str> = known().map(|one| one.phase.as_str()).collect();
        let phases: Vec<&str> =
            cast.phases().into_iter().filter(|phase| told.contains(phase)).collect();
        let of_several = known().filter(|one| one.other_levels);
        let levels: Vec<&Level> = of_several.filter_map(|one| one.level.as_ref()).collect();
        let series =
            cast.runs.iter().zip(all).flat_map(|(run, all)| self.series(run, all, &phases));
        let series: Vec<Series> = series.collect();
        let notes =
            [Some(self.note.to_string()), about_last_level(&levels), about_disturbed(&series)];
        whole(Figure {
            key: format!("amplification-{}", self.key),
            title: self.title.into(),
            question: self.question.into(),
            x: Axis {
                label: "phase".into(),
                quantity: Quantity::Count,
                scale: Scale::Named(phases.into_iter().map(shown).collect()),
            },
            y: Axis { label: self.label.into(), quantity: Quantity::Times, scale: Scale::Linear },
            shade: None,
            series,
            marks: Vec::new(),
            notes: notes.into_iter().flatten().collect(),
        })
    }

    /// A series for each variant of a run.
    fn series(
        &self,
        run: &CastRun<'_>,
        all: &[PhaseAmplification],
        phases: &[&str],
    ) -> Vec<Series> {
        let mut points: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        for one in all {
            let place = phases.iter().position(|phase| *phase == one.phase);
            let Some((place, value)) = place.zip((self.of)(one)) else { continue };
            let point = estimated(place as f64, value, one.disturbed);
            points.entry(&one.variant).or_default().push(point);
        }
        let of = |member: &Member<'_>| Series {
            name: member.name.clone(),
            colour: member.colour,
            look: Look::Bars,
            what: "mean".into(),
            points: points.get(member.variant).cloned().unwrap_or_default(),
        };
        run.members.iter().map(of).collect()
    }
}
