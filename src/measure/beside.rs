//! Runs beside each other: the same phase of each in one row. A ratio here is a ratio and no
//! verdict; whether a difference is more than chance is for a comparison to say.

use super::book::{CellKey, Level, Measurement, ResultBook};
use super::summary::{Basis, Estimate, Group, Row, Summary, summarize};
use crate::base::units::Unit;
use crate::plan::EngineName;
use crate::plan::filesystem::find_kind;

/// The name of a variant that nobody named.
const DEFAULT: &str = "default";

/// What is compared in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Operations per second: more is faster.
    Operations,
    /// Bytes per second: more is faster.
    Bytes,
    /// How long the operation with this number, from 1, took, in nanoseconds: less is faster. Of
    /// a run with windows, the mean of the window that it lies in.
    Latency(u64),
}

/// One phase of all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct BesideRow {
    /// The variant; none if each run has only one.
    pub variant: Option<String>,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// The phase's name.
    pub phase: String,
    /// What its figures are.
    pub what: What,
    /// One for each run; none where a run has no such figure.
    pub sides: Vec<Option<Side>>,
}

/// A run's figure in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// The figure.
    pub value: Estimate,
    /// How many times that of the first run it is; none for the first run, or without its figure.
    pub ratio: Option<f64>,
}

/// The runs beside each other, in the order of the first run that has a row.
pub fn beside(books: &[&ResultBook]) -> Vec<BesideRow> {
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
    keys.iter().flat_map(|key| rows(key, &runs)).collect()
}

#[derive(Clone, Debug, PartialEq)]
struct Key {
    variant: Option<String>,
    level: Option<Level>,
    phase: String,
}

struct Run<'a> {
    book: &'a ResultBook,
    summary: Summary,
    variants: Vec<String>,
    /// Variants of the other runs that are file systems of this one's type, where this one has no
    /// variant with a name; none if it stands beside each of theirs.
    meets: Option<Vec<String>>,
}

impl<'a> Run<'a> {
    fn of(book: &'a ResultBook) -> Self {
        let summary = summarize(book);
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
        let is_sim = |m: &Measurement| m.engine == EngineName::Sim.word();
        let is_file_system = !kind.is_empty() && !self.book.measurements.iter().all(is_sim);
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
        let of_group = |group: &Group| {
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

    fn row(&self, key: &Key) -> Option<&Row> {
        let groups = self.summary.groups.iter();
        let mut groups =
            groups.filter(|g| self.has_variant(key, &g.variant) && g.level == key.level);
        groups.find_map(|group| group.rows.iter().find(|row| row.phase == key.phase))
    }

    fn measurements(&self, key: &Key) -> impl Iterator<Item = &'a Measurement> {
        let is_cell =
            |cell: &CellKey| self.has_variant(key, &cell.variant) && cell.level == key.level;
        let all = self.book.measurements.iter();
        all.filter(move |m| m.valid() && m.phase == key.phase && is_cell(&m.cell))
    }

    /// Only latencies of single operations are known, no rate.
    fn single_operations(&self, key: &Key) -> Vec<u64> {
        if self.row(key).is_none_or(|row| row.rate.is_some()) {
            return Vec::new();
        }
        let windows = self.measurements(key).flat_map(|m| &m.windows);
        windows.filter(|window| window.operations == 1).map(|window| window.first + 1).collect()
    }

    fn latency(&self, key: &Key, number: u64) -> Option<Estimate> {
        let holds = |first: u64, operations: u64| first < number && number - first <= operations;
        let of = |m: &'a Measurement| m.windows.iter().find(|w| holds(w.first, w.operations));
        let means: Vec<f64> = self.measurements(key).filter_map(of).map(|w| w.mean_ns).collect();
        Estimate::of(&means, None, Basis::Repeats)
    }
}

fn rows(key: &Key, runs: &[Run]) -> Vec<BesideRow> {
    let mut numbers: Vec<u64> = runs.iter().flat_map(|run| run.single_operations(key)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if !numbers.is_empty() {
        let latency = |number: u64| {
            let values = runs.iter().map(|run| run.latency(key, number)).collect();
            row(key, What::Latency(number), values)
        };
        return numbers.into_iter().map(latency).collect();
    }
    let found: Vec<Option<&Row>> = runs.iter().map(|run| run.row(key)).collect();
    let with_rate = || found.iter().flatten().filter(|row| row.rate.is_some());
    let in_bytes = with_rate().count() > 0 && with_rate().all(|row| row.rate_unit == Unit::Bytes);
    // Where the runs do not agree on a unit, only those in the common one have a figure.
    let (what, unit) =
        if in_bytes { (What::Bytes, Unit::Bytes) } else { (What::Operations, Unit::Count) };
    let rate = |row: Option<&Row>| row.filter(|row| row.rate_unit == unit)?.rate;
    let values = found.into_iter().map(rate).collect();
    vec![row(key, what, values)]
}

fn row(key: &Key, what: What, values: Vec<Option<Estimate>>) -> BesideRow {
    let first = values.first().copied().flatten().map(|value| value.mean);
    let side = |(at, value): (usize, Option<Estimate>)| {
        let value = value?;
        let ratio = first.filter(|_| at > 0).map(|first| value.mean / first);
        Some(Side { value, ratio: ratio.filter(|ratio| ratio.is_finite()) })
    };
    let sides = values.into_iter().enumerate().map(side).collect();
    let Key { variant, level, phase } = key.clone();
    BesideRow { variant, level, phase, what, sides }
}

#[cfg(test)]
mod tests;
