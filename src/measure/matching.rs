//! Which figures of several runs belong together: the same phase of the same variant at the same
//! level, also where a run has a single variant without a name.

use super::analysis::Analysis;
use super::book::{Book, CellKey, Level, Measurement};
use super::summary::{PhaseSummary, Summary, VariantSummary};
use crate::plan::filesystem::find_kind;

/// The name of a variant that nobody named.
const DEFAULT: &str = "default";

/// The rows that runs have together.
pub(super) struct Matching<'a> {
    /// The runs, as they were given.
    pub(super) runs: Vec<Run<'a>>,
    /// Their rows, in the order of the first run that has each.
    pub(super) keys: Vec<Key>,
}

impl<'a> Matching<'a> {
    pub(super) fn of(books: &[&'a Book]) -> Self {
        let mut runs: Vec<Run> = books.iter().map(|book| Run::of(book)).collect();
        let filesystems: Vec<(String, String)> = runs.iter().flat_map(Run::filesystems).collect();
        runs.iter_mut().for_each(|run| run.meets = run.met(&filesystems));
        let mut keys: Vec<Key> = Vec::new();
        for run in &runs {
            for key in run.keys(&runs) {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        // The levels of one variant stand together, whichever run they come from.
        let mut variants: Vec<Option<String>> = Vec::new();
        for key in &keys {
            if !variants.contains(&key.variant) {
                variants.push(key.variant.clone());
            }
        }
        keys.sort_by_key(|key| variants.iter().position(|variant| *variant == key.variant));
        Self { runs, keys }
    }
}

/// A row: one phase of one variant at one level.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    /// None if each run has only one.
    pub(super) variant: Option<String>,
    pub(super) level: Option<Level>,
    pub(super) phase: String,
}

/// A run with its rows.
pub(super) struct Run<'a> {
    pub(super) book: &'a Book,
    summary: Summary,
    variants: Vec<String>,
    /// Variants of the other runs that are file systems of this one's type, where this one has no
    /// variant with a name; none if it stands beside each of theirs.
    meets: Option<Vec<String>>,
}

impl<'a> Run<'a> {
    fn of(book: &'a Book) -> Self {
        let summary = Analysis::of(book).summary().clone();
        let mut variants: Vec<String> = summary.groups.iter().map(|g| g.variant.clone()).collect();
        variants.dedup();
        Self { book, summary, variants, meets: None }
    }

    /// Variants that are file systems, and their types: those that were made, and those that are
    /// named like one.
    fn filesystems(&self) -> Vec<(String, String)> {
        let kind = |variant: &String| {
            let made = self.book.filesystems.iter().find(|made| made.variant == *variant);
            let kind = made.map(|made| made.kind.clone());
            kind.or_else(|| find_kind(variant).map(|kind| kind.name.to_string()))
        };
        self.variants.iter().filter_map(|v| Some((v.clone(), kind(v)?))).collect()
    }

    /// The variants among these that a run without names stands beside: the one with the name of
    /// its file system, else all of its type, else one of its own.
    fn met(&self, filesystems: &[(String, String)]) -> Option<Vec<String>> {
        let kind = &self.book.host.filesystem.kind;
        let is_file_system =
            !kind.is_empty() && !self.book.measurements.iter().all(Measurement::is_simulated);
        if !self.is_unnamed() || !is_file_system || filesystems.is_empty() {
            return None;
        }
        let of_kind = filesystems.iter().filter(|(_, other)| other == kind);
        let names: Vec<String> = of_kind.map(|(name, _)| name.clone()).collect();
        let own = names.is_empty() || names.contains(kind);
        Some(if own { vec![kind.clone()] } else { names })
    }

    /// The rows this run asks for: none where it stands beside each variant of another.
    fn keys(&self, all: &[Run]) -> Vec<Key> {
        let single = all.iter().all(|run| run.variants.len() <= 1);
        if !single && self.is_unnamed() && self.meets.is_none() {
            return Vec::new();
        }
        let of_group = |group: &VariantSummary| {
            let variants = match &self.meets {
                _ if single => vec![None],
                Some(names) => names.iter().cloned().map(Some).collect(),
                None => vec![Some(group.variant.clone())],
            };
            let keys = |variant: Option<String>| {
                let (level, rows) = (group.level.clone(), group.rows.clone());
                rows.into_iter().map(move |row| Key {
                    variant: variant.clone(),
                    level: level.clone(),
                    phase: row.phase,
                })
            };
            variants.into_iter().flat_map(keys).collect::<Vec<_>>()
        };
        self.summary.groups.iter().flat_map(of_group).collect()
    }

    /// Whether its only variant has no name of its own.
    fn is_unnamed(&self) -> bool {
        self.variants.iter().all(|variant| variant == DEFAULT)
    }

    fn has_variant(&self, key: &Key, variant: &str) -> bool {
        let Some(wanted) = &key.variant else { return true };
        match &self.meets {
            Some(names) => names.contains(wanted),
            None => wanted == variant || self.is_unnamed(),
        }
    }

    /// What a report has of the row.
    pub(super) fn row(&self, key: &Key) -> Option<&PhaseSummary> {
        let groups = self.summary.groups.iter();
        let mut groups =
            groups.filter(|g| self.has_variant(key, &g.variant) && g.level == key.level);
        groups.find_map(|group| group.rows.iter().find(|row| row.phase == key.phase))
    }

    /// The valid measurements of the row.
    pub(super) fn measurements(&self, key: &Key) -> impl Iterator<Item = &'a Measurement> {
        let phase = key.phase.clone();
        self.cell(key).filter(move |m| m.valid() && m.phase == phase)
    }

    /// All measurements of the row's variant at its level, of whatever phase.
    pub(super) fn cell(&self, key: &Key) -> impl Iterator<Item = &'a Measurement> {
        let is_cell =
            |cell: &CellKey| self.has_variant(key, &cell.variant) && cell.level == key.level;
        self.book.measurements.iter().filter(move |m| is_cell(&m.cell))
    }
}
