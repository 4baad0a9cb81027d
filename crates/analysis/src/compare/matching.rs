//! Lists every phase of several runs once and finds it in each run: same phase, variant and level. A run
//! whose only variant is unnamed is matched by its file system.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::RunFigures;
use crate::summary::PhaseSummary;
use crate::thresholds::QUIET_REPEATS_MIN;
use boatload_base::distinct::each_once;
use boatload_plan::DEFAULT_VARIANT;
use boatload_plan::filesystem::find_kind;
use boatload_results::book::{Book, CellKey, Level, Measurement};

/// A phase, or the whole job, of one variant at one level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PhaseKey {
    /// The variant; `None` if each run has only one.
    pub variant: Option<String>,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// The phase; none for the whole job.
    pub phase: Option<String>,
}

/// Runs, as they were given, with the names that stand for unnamed variants.
pub(super) fn matched_runs<'a>(analyses: &[&'a RunFigures<'a>]) -> Vec<MatchedRun<'a>> {
    let mut runs: Vec<_> =
        analyses.iter().map(|analysis| MatchedRun::of_analysis(analysis)).collect();
    let filesystems: Vec<VariantType> = runs.iter().flat_map(MatchedRun::filesystems).collect();
    runs.iter_mut().for_each(|run| run.standin_variants = run.standin_variants_among(&filesystems));
    runs
}

/// Every phase that at least one of the runs measured, once, grouped by variant, in the order of first appearance.
pub(super) fn phase_keys(runs: &[MatchedRun<'_>]) -> Vec<PhaseKey> {
    let mut keys = each_once(runs.iter().flat_map(|run| run.keys(runs)));
    // The levels of one variant stand together, whichever run they come from.
    let variants = each_once(keys.iter().map(|key| key.variant.clone()));
    keys.sort_by_key(|key| variants.iter().position(|variant| *variant == key.variant));
    keys
}

/// A variant that is a file system, and the type of that.
struct VariantType {
    variant: String,
    kind: String,
}

/// The measurements of a run that count in a comparison.
pub(super) struct CountedMeasurements<'a> {
    pub(super) all: Vec<&'a Measurement>,
    /// Whether background load disturbed some of them.
    pub(super) disturbed: bool,
    /// How many do not count, because background load disturbed their repeats.
    pub(super) left_out: usize,
}

/// A run with its summary.
pub(super) struct MatchedRun<'a> {
    pub(super) book: &'a Book,
    analysis: &'a RunFigures<'a>,
    variants: Vec<String>,
    /// Names that stand for this run's unnamed variant, chosen by the type of its file system. None
    /// if its variants are named, if it is no real file system, or if no run has a variant that is a
    /// file system.
    standin_variants: Option<Vec<String>>,
}

impl<'a> MatchedRun<'a> {
    fn of_analysis(analysis: &'a RunFigures<'a>) -> Self {
        let summary = analysis.summary();
        let mut variants: Vec<String> = summary.groups.iter().map(|g| g.variant.clone()).collect();
        variants.dedup();
        Self { book: analysis.book, analysis, variants, standin_variants: None }
    }

    /// Variants that are file systems: those that were made, and those that are named like one.
    fn filesystems(&self) -> Vec<VariantType> {
        let mut found = Vec::new();
        for variant in &self.variants {
            let made = self.book.filesystems.iter().find(|made| made.variant == *variant);
            let kind = made.map(|made| made.kind.clone());
            let kind = kind.or_else(|| find_kind(variant).map(|kind| kind.name.to_string()));
            found.extend(kind.map(|kind| VariantType { variant: variant.clone(), kind }));
        }
        found
    }

    /// The variant with the name of the run's file system, else all variants of its type, else a new
    /// variant of that name.
    fn standin_variants_among(&self, filesystems: &[VariantType]) -> Option<Vec<String>> {
        let kind = &self.book.host.filesystem.kind;
        let is_file_system =
            !kind.is_empty() && !self.book.measurements.iter().all(Measurement::is_simulated);
        if !self.is_unnamed() || !is_file_system || filesystems.is_empty() {
            return None;
        }
        let of_kind = filesystems.iter().filter(|other| other.kind == *kind);
        let names: Vec<String> = of_kind.map(|other| other.variant.clone()).collect();
        let own = names.is_empty() || names.contains(kind);
        Some(if own { vec![kind.clone()] } else { names })
    }

    /// This run's phases under the variant names they are matched by. Empty for an unnamed run
    /// without stand-in names: it is matched with every variant of the others.
    fn keys(&self, all: &[MatchedRun]) -> Vec<PhaseKey> {
        let single = all.iter().all(|run| run.variants.len() <= 1);
        if !single && self.is_unnamed() && self.standin_variants.is_none() {
            return Vec::new();
        }
        let mut keys = Vec::new();
        for group in &self.analysis.summary().groups {
            let variants: Vec<Option<String>> = match &self.standin_variants {
                _ if single => vec![None],
                Some(names) => names.iter().cloned().map(Some).collect(),
                None => vec![Some(group.variant.clone())],
            };
            keys.extend(variants.into_iter().flat_map(|variant| {
                group.rows.iter().map(move |row| PhaseKey {
                    variant: variant.clone(),
                    level: group.level.clone(),
                    phase: Some(row.phase.clone()),
                })
            }));
        }
        keys
    }

    /// Whether its only variant has no name of its own.
    fn is_unnamed(&self) -> bool {
        self.variants.iter().all(|variant| variant == DEFAULT_VARIANT)
    }

    fn has_variant(&self, key: &PhaseKey, variant: &str) -> bool {
        let Some(wanted) = &key.variant else { return true };
        match &self.standin_variants {
            Some(names) => names.contains(wanted),
            None => wanted == variant || self.is_unnamed(),
        }
    }

    /// The summary of the phase.
    pub(super) fn summary(&self, key: &PhaseKey) -> Option<&PhaseSummary> {
        let groups = self.analysis.summary().groups.iter();
        let mut groups =
            groups.filter(|g| self.has_variant(key, &g.variant) && g.level == key.level);
        let is_phase = |row: &&PhaseSummary| Some(&row.phase) == key.phase.as_ref();
        groups.find_map(|group| group.rows.iter().find(is_phase))
    }

    /// Whether a measurement of the phase, or of any if it is the whole job, took as long as a phase may.
    pub(super) fn reached_limit(&self, key: &PhaseKey) -> bool {
        let is_here = |m: &Measurement| key.phase.as_ref().is_none_or(|phase| *phase == m.phase);
        self.measurements_of_all_phases(key).iter().any(|m| is_here(m) && m.reached_limit())
    }

    /// The valid measurements of the phase; empty if one reached its limit, for the others are the quick ones.
    pub(super) fn valid_measurements(&self, key: &PhaseKey) -> Vec<&'a Measurement> {
        if self.reached_limit(key) {
            return Vec::new();
        }
        let mut all = self.measurements_of_all_phases(key);
        all.retain(|m| m.valid() && Some(&m.phase) == key.phase.as_ref());
        all
    }

    /// The valid measurements that count.
    pub(super) fn counted(&self, key: &PhaseKey) -> CountedMeasurements<'a> {
        self.without_disturbed_repeats(self.valid_measurements(key))
    }

    /// The measurements of all phases that count.
    pub(super) fn counted_of_all_phases(&self, key: &PhaseKey) -> CountedMeasurements<'a> {
        self.without_disturbed_repeats(self.measurements_of_all_phases(key))
    }

    /// Repeats without background load alone, if they are enough; else all of them.
    fn without_disturbed_repeats(&self, all: Vec<&'a Measurement>) -> CountedMeasurements<'a> {
        let disturbed = all.iter().filter(|m| m.valid() && self.analysis.disturbed(m));
        let disturbed: BTreeSet<u32> = disturbed.map(|m| m.cell.repeat).collect();
        let is_quiet = |m: &&Measurement| !disturbed.contains(&m.cell.repeat);
        let quiet: Vec<&Measurement> = all.iter().copied().filter(is_quiet).collect();
        let repeats: BTreeSet<u32> = quiet.iter().map(|m| m.cell.repeat).collect();
        if disturbed.is_empty() || repeats.len() < QUIET_REPEATS_MIN {
            return CountedMeasurements { all, disturbed: !disturbed.is_empty(), left_out: 0 };
        }
        let left_out = all.len() - quiet.len();
        CountedMeasurements { all: quiet, disturbed: false, left_out }
    }

    /// The measurements of all phases of the variant at the level, in all repeats, including invalid
    /// ones.
    fn measurements_of_all_phases(&self, key: &PhaseKey) -> Vec<&'a Measurement> {
        let is_cell =
            |cell: &CellKey| self.has_variant(key, &cell.variant) && cell.level == key.level;
        self.book.measurements.iter().filter(|m| is_cell(&m.cell)).collect()
    }
}
