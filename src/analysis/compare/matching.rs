//! Finds the phases that several runs have in common: the same phase of the same variant at the same
//! level, also where a run has a single variant without a name.

use serde::Serialize;

use crate::analysis::Analysis;
use crate::analysis::summary::{PhaseSummary, VariantSummary};
use crate::base::distinct::each_once;
use crate::plan::DEFAULT_VARIANT;
use crate::plan::filesystem::find_kind;
use crate::results::book::{Book, CellKey, Level, Measurement};

/// A phase, or the whole job, of one variant at one level.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseKey {
    /// The variant; none if each run has only one.
    pub variant: Option<String>,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// The phase; none for the whole job.
    pub phase: Option<String>,
}

/// Runs with the phases that they have together.
pub(super) struct Matching<'a> {
    /// The runs, as they were given.
    pub(super) runs: Vec<MatchedRun<'a>>,
    /// Their phases, in the order of the first run that has each.
    pub(super) keys: Vec<PhaseKey>,
}

impl<'a> Matching<'a> {
    pub(super) fn of_runs(analyses: &[&'a Analysis<'a>]) -> Self {
        let mut runs: Vec<MatchedRun> =
            analyses.iter().map(|analysis| MatchedRun::of_analysis(analysis)).collect();
        let filesystems: Vec<VariantType> = runs.iter().flat_map(MatchedRun::filesystems).collect();
        runs.iter_mut().for_each(|run| run.counterparts = run.counterparts_among(&filesystems));
        let mut keys = each_once(runs.iter().flat_map(|run| run.keys(&runs)));
        // The levels of one variant stand together, whichever run they come from.
        let variants = each_once(keys.iter().map(|key| key.variant.clone()));
        keys.sort_by_key(|key| variants.iter().position(|variant| *variant == key.variant));
        Self { runs, keys }
    }
}

/// A variant that is a file system, and the type of that.
struct VariantType {
    variant: String,
    kind: String,
}

/// A run with its summary.
pub(super) struct MatchedRun<'a> {
    pub(super) book: &'a Book,
    analysis: &'a Analysis<'a>,
    variants: Vec<String>,
    /// Variants of the other runs that are file systems of this one's type, where this one has no
    /// variant with a name; none if it is compared with each of theirs.
    counterparts: Option<Vec<String>>,
}

impl<'a> MatchedRun<'a> {
    fn of_analysis(analysis: &'a Analysis<'a>) -> Self {
        let summary = analysis.summary();
        let mut variants: Vec<String> = summary.groups.iter().map(|g| g.variant.clone()).collect();
        variants.dedup();
        Self { book: analysis.book, analysis, variants, counterparts: None }
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

    /// The variants that a run without names is compared with: the one with the name of its file
    /// system, else all of its type, else one of its own.
    fn counterparts_among(&self, filesystems: &[VariantType]) -> Option<Vec<String>> {
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

    /// The phases of this run: none where it is compared with each variant of another.
    fn keys(&self, all: &[MatchedRun]) -> Vec<PhaseKey> {
        let single = all.iter().all(|run| run.variants.len() <= 1);
        if !single && self.is_unnamed() && self.counterparts.is_none() {
            return Vec::new();
        }
        let mut keys = Vec::new();
        for group in &self.analysis.summary().groups {
            for variant in self.variants_of(group, single) {
                keys.extend(group.rows.iter().map(|row| PhaseKey {
                    variant: variant.clone(),
                    level: group.level.clone(),
                    phase: Some(row.phase.clone()),
                }));
            }
        }
        keys
    }

    fn variants_of(&self, group: &VariantSummary, single: bool) -> Vec<Option<String>> {
        match &self.counterparts {
            _ if single => vec![None],
            Some(names) => names.iter().cloned().map(Some).collect(),
            None => vec![Some(group.variant.clone())],
        }
    }

    /// Whether its only variant has no name of its own.
    fn is_unnamed(&self) -> bool {
        self.variants.iter().all(|variant| variant == DEFAULT_VARIANT)
    }

    fn has_variant(&self, key: &PhaseKey, variant: &str) -> bool {
        let Some(wanted) = &key.variant else { return true };
        match &self.counterparts {
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

    /// The valid measurements of the phase.
    pub(super) fn measurements(&self, key: &PhaseKey) -> Vec<&'a Measurement> {
        let mut all = self.whole_cell(key);
        all.retain(|m| m.valid() && Some(&m.phase) == key.phase.as_ref());
        all
    }

    /// All measurements of the variant at the level, of whatever phase.
    pub(super) fn whole_cell(&self, key: &PhaseKey) -> Vec<&'a Measurement> {
        let is_cell =
            |cell: &CellKey| self.has_variant(key, &cell.variant) && cell.level == key.level;
        self.book.measurements.iter().filter(|m| is_cell(&m.cell)).collect()
    }
}
