//! How much more the device moved than was asked for.

use std::collections::BTreeSet;

use super::notes::{about_disturbed, about_last_level, notes};
use super::rates::estimated;
use super::runs::{ChartKeys, ChartRuns};
use super::{AxisQuantity, AxisScale, Chart, ChartAxis, ChartSeries, SeriesLook};
use crate::analysis::amplification::PhaseAmplification;
use crate::analysis::uncertainty::Estimate;
use crate::base::failure::shown;
use crate::results::book::Level;

/// A direction, and what is told of it.
struct DeviceTraffic {
    key: &'static str,
    title: &'static str,
    question: &'static str,
    label: &'static str,
    note: &'static str,
    of: fn(&PhaseAmplification) -> Option<Estimate>,
}

const TRAFFIC: [DeviceTraffic; 2] = [
    DeviceTraffic {
        key: "written",
        title: "Write amplification",
        question: "How many bytes did the device write for each byte of content?",
        label: "bytes written per byte asked",
        note: "Of phases that give files content and end in a sync, or came to the device all the \
               same. What else was written meanwhile is in it.",
        of: |one| one.written,
    },
    DeviceTraffic {
        key: "read",
        title: "Read amplification",
        question: "How many bytes did the device read for each byte of content?",
        label: "bytes read per byte asked",
        note: "Of phases that read content from cold caches.",
        of: |one| one.read,
    },
];

/// One chart for what was written and one for what was read, as far as that is known.
pub(super) fn amplifications(runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Vec<Chart> {
    TRAFFIC.iter().filter_map(|traffic| traffic.chart(runs, keys)).collect()
}

impl DeviceTraffic {
    fn chart(&self, runs: &ChartRuns<'_>, keys: &mut ChartKeys) -> Option<Chart> {
        let all = runs.analyses.iter().flat_map(|analysis| analysis.phase_amplifications());
        let known: Vec<_> = all.filter(|one| (self.of)(one).is_some()).collect();
        let known_phases: BTreeSet<&str> = known.iter().map(|one| one.phase.as_str()).collect();
        let mut phases = runs.phases();
        phases.retain(|phase| known_phases.contains(phase));
        let of_several = known.iter().filter(|one| one.other_levels);
        let levels: Vec<&Level> = of_several.filter_map(|one| one.level.as_ref()).collect();
        let series = runs.variants.iter().map(|variant| {
            let all = variant.analysis.phase_amplifications().iter();
            let points = all.filter(|one| one.variant == variant.variant).filter_map(|one| {
                let place = phases.iter().position(|phase| *phase == one.phase)?;
                Some(estimated(place as f64, (self.of)(one)?, one.disturbed))
            });
            variant.series(SeriesLook::Bars, "mean", points.collect())
        });
        let series: Vec<ChartSeries> = series.collect();
        let x = ChartAxis::named("phase", phases.iter().map(shown).collect());
        let y = ChartAxis::new(self.label, AxisQuantity::Times, AxisScale::Linear);
        let others = [about_last_level(&levels), about_disturbed(&series)];
        Chart {
            question: self.question.into(),
            notes: notes(self.note, others),
            series,
            ..Chart::new(keys.unused("amplification", self.key), self.title.into(), x, y)
        }
        .checked()
    }
}
