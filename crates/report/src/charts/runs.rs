//! Gives the variants of a report the name and the colour that each has in all charts, keys to the
//! charts, and the sentences below them.

use std::collections::BTreeSet;

use super::{AxisScale, ChartPoint, ChartSeries, Picture, SeriesLook};
use crate::names::{self, level_value};
use boatload_analysis::Analysis;
use boatload_analysis::summary::PhaseSummary;
use boatload_base::distinct::each_once;
use boatload_base::failure::shown;
use boatload_base::units::counted;
use boatload_plan::DEFAULT_VARIANT;
use boatload_results::book::{Book, Level, SETTLE};
use boatload_results::order::variants;

/// The runs of a report and all their variants.
pub(super) struct ChartRuns<'a> {
    pub(super) analyses: Vec<&'a Analysis<'a>>,
    /// Run by run, in the order of the job file.
    pub(super) variants: Vec<ChartVariant<'a>>,
}

pub(super) struct ChartVariant<'a> {
    /// The index of its run.
    run: usize,
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) variant: &'a str,
    /// What a legend calls it.
    pub(super) name: String,
    /// The number of its colour.
    pub(super) colour: usize,
    /// All phases but `settle`, whose figure is a time.
    pub(super) rows: Vec<ChartRow<'a>>,
    /// The level that its run measured last; none without an axis.
    pub(super) last_level: Option<&'a Level>,
}

#[derive(Clone, Copy)]
pub(super) struct ChartRow<'a> {
    pub(super) level: Option<&'a Level>,
    pub(super) row: &'a PhaseSummary,
}

impl<'a> ChartRuns<'a> {
    pub(super) fn new(analyses: &[&'a Analysis<'a>]) -> Self {
        let (mut all, mut taken) = (Vec::new(), BTreeSet::new());
        for (run, analysis) in analyses.iter().enumerate() {
            let (book, summary) = (analysis.book, analysis.summary());
            for variant in variants(book) {
                let own = own_name(book, variant);
                let prefix = if analyses.len() > 1 { run_name(book) + " " } else { String::new() };
                let name = format!("{prefix}{own}");
                // A run may be named twice.
                let numbered = |number| format!("{name} ({number})");
                let groups = summary.groups.iter().filter(|group| group.variant == variant);
                let rows = groups.flat_map(|group| {
                    let level = group.level.as_ref();
                    group.rows.iter().map(move |row| ChartRow { level, row })
                });
                all.push(ChartVariant {
                    run,
                    analysis,
                    variant,
                    name: names::unused(name.clone(), numbered, &mut taken),
                    colour: all.len(),
                    rows: rows.filter(|one| !one.row.is_settle()).collect(),
                    last_level: summary.levels().last().copied(),
                });
            }
        }
        Self { analyses: analyses.to_vec(), variants: all }
    }

    /// Phases of all runs that have a rate, in the order they were measured.
    pub(super) fn phases(&self) -> Vec<&'a str> {
        let all = self.analyses.iter().flat_map(|analysis| analysis.summary().phases());
        each_once(all.filter(|phase| *phase != SETTLE))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &ChartRow<'a>> {
        self.variants.iter().flat_map(|variant| &variant.rows)
    }

    /// The last level of each run that has an axis.
    pub(super) fn last_levels(&self) -> Vec<&'a Level> {
        each_once(self.variants.iter().filter_map(|variant| variant.last_level))
    }

    /// The variant of this name of the run with this index.
    pub(super) fn variant(&self, run: usize, name: &str) -> Option<&ChartVariant<'a>> {
        self.variants.iter().find(|one| one.run == run && one.variant == name)
    }

    /// What a legend calls a variant.
    pub(super) fn name(&self, run: usize, name: &str) -> String {
        self.variant(run, name).map_or_else(|| shown(name), |variant| variant.name.clone())
    }
}

impl<'a> ChartVariant<'a> {
    /// The row of a phase at the last level.
    pub(super) fn last_row(&self, phase: &str) -> Option<&'a PhaseSummary> {
        let here = |one: &&ChartRow<'_>| one.level == self.last_level && one.row.phase == phase;
        self.rows.iter().find(here).map(|one| one.row)
    }

    /// A series in its name and colour.
    pub(super) fn series(
        &self,
        look: SeriesLook,
        what: impl Into<String>,
        points: Vec<ChartPoint>,
    ) -> ChartSeries {
        let (name, what) = (self.name.clone(), what.into());
        ChartSeries { name, colour: self.colour, look, what, points }
    }
}

/// A run that nobody gave variants is named after its file system.
fn own_name(book: &Book, variant: &str) -> String {
    let name = match variant {
        DEFAULT_VARIANT => book.filesystem_of(variant).unwrap_or(variant),
        variant => variant,
    };
    shown(name)
}

fn run_name(book: &Book) -> String {
    shown(book.run.reference.as_ref().map_or(&book.run.id, |reference| &reference.name))
}

/// Longest part of a key that comes from a name, in bytes.
const PART_MAX: usize = 40;

/// The keys of charts that are taken.
#[derive(Default)]
pub(super) struct ChartKeys(BTreeSet<String>);

impl ChartKeys {
    /// The family with the phase, and with a number if that is taken: `levels-create`, `levels-create-2`.
    pub(super) fn unused(&mut self, shows: &Picture) -> String {
        let (family, name) = (shows.family.as_str(), shows.phase.as_deref().unwrap_or_default());
        let mut stem = family.to_string();
        for part in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty())
        {
            stem.push('-');
            stem.push_str(&part.to_ascii_lowercase());
        }
        stem.truncate(family.len() + 1 + PART_MAX);
        let stem = stem.trim_end_matches('-');
        names::unused(stem.into(), |number| format!("{stem}-{number}"), &mut self.0)
    }
}

// --- sentences below charts, and the scale on which their values can all be seen ------------------

/// How many times larger the largest must be than the least for a logarithmic scale.
const WIDE: f64 = 30.0;

pub(super) fn notes<const N: usize>(about: &str, others: [Option<String>; N]) -> Vec<String> {
    [about.to_string()].into_iter().chain(others.into_iter().flatten()).collect()
}

/// The scale on which values that lie far apart can all be seen.
pub(super) fn scale_for(values: impl Iterator<Item = f64> + Clone) -> AxisScale {
    let values = values.filter(|value| value.is_finite());
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    if least > 0.0 && most / least > WIDE { AxisScale::Logarithmic } else { AxisScale::Linear }
}

/// That all values come from disturbed measurements, if so.
pub(super) fn about_disturbed(series: &[ChartSeries]) -> Option<String> {
    let measured = series.iter().filter(|one| one.look != SeriesLook::Law);
    let mut measured = measured.flat_map(|one| &one.points).peekable();
    (measured.peek().is_some() && measured.all(|point| point.disturbed))
        .then(|| "Every value here was measured under background load; see the warnings.".into())
}

/// That some measurements are not in it, if so.
pub(super) fn about_invalid<'a>(rows: impl Iterator<Item = &'a PhaseSummary>) -> Option<String> {
    let number = rows.map(|row| row.invalid.len() as u64).sum();
    (number > 0).then(|| format!("{} left out.", counted(number, "invalid measurement")))
}

/// Which level of several it is of; none without levels.
pub(super) fn about_last_level(levels: &[&Level]) -> Option<String> {
    let named = |level: &&Level| format!("{} {}", shown(&level.axis), level_value(level));
    let named = each_once(levels.iter().map(named));
    (!named.is_empty()).then(|| format!("Only the last level is shown: {}.", named.join(", ")))
}

pub(super) fn seconds(ns: f64) -> f64 {
    ns / 1e9
}

#[cfg(test)]
mod tests {
    use super::super::ChartFamily;
    use super::*;

    #[test]
    fn names_of_any_kind_make_keys_that_differ() {
        let mut keys = ChartKeys::default();
        let mut unused = |name: &str| keys.unused(&Picture::of_phase(ChartFamily::Levels, name));
        let names = ["Create", "create", "create-2", "a b\n\u{1b}[31m", "目录", "", "../../etc"];
        let made: Vec<String> = names.into_iter().map(&mut unused).collect();
        assert_eq!(
            made,
            [
                "levels-create", "levels-create-2", "levels-create-2-2", "levels-a-b-31m",
                "levels", "levels-2", "levels-etc"
            ]
        );
        assert_eq!(unused(&"x".repeat(900)).len(), "levels-".len() + PART_MAX);
    }
}
