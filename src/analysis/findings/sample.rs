//! Selects the valid measurements of a run by phase, variant and level, for the findings.

use std::collections::BTreeSet;

use crate::analysis::statistics::describe::mean;
use crate::base::distinct::each_once;
use crate::op::{Durability, OWN_ENTRIES_BYTES};
use crate::results::book::{Book, Level, Measurement, REACHED_LIMIT};
use crate::results::content::{bulk_phases, is_listing};
use crate::results::order::PhaseCell;

/// No phase is shorter or longer.
pub(in crate::analysis) const SECONDS: std::ops::RangeInclusive<f64> = 1e-9..=1e12;

/// The measurements that count, and the variants in the job file's order.
pub(super) struct Sample<'a> {
    measurements: Vec<&'a Measurement>,
    /// Those that do not count.
    others: Vec<&'a Measurement>,
    variants: Vec<&'a str>,
    /// The phases whose rates count bytes.
    bulk: BTreeSet<&'a str>,
    in_turns: bool,
}

/// The measurements of one phase of one variant over an axis.
pub(super) struct LevelSeries<'a> {
    pub(super) phase: &'a str,
    pub(super) variant: &'a str,
    /// The levels that have measurements, lowest first.
    pub(super) levels: Vec<&'a Level>,
    cells: Vec<Vec<&'a Measurement>>,
    /// Whether its rate counts bytes: the files of one level may be larger than those of another.
    pub(super) in_bytes: bool,
}

/// A phase of a variant at a level none of whose measurements counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::analysis) struct UncountedCell<'a> {
    pub(in crate::analysis) phase: &'a str,
    pub(in crate::analysis) variant: &'a str,
    pub(in crate::analysis) level: Option<&'a Level>,
    /// Why, in a few words.
    pub(in crate::analysis) why: &'static str,
}

/// Those of a run, in the order they were first measured.
pub(in crate::analysis) fn uncounted_cells(book: &Book) -> Vec<UncountedCell<'_>> {
    let sample = Sample::new(book, &[]);
    let keys = sample.others.iter().map(|m| (&*m.phase, &*m.cell.variant, m.cell.level.as_ref()));
    let uncounted = each_once(keys).into_iter().filter_map(|(phase, variant, level)| {
        let why = sample.why_uncounted(phase, variant, level);
        let is_empty = sample.cell(phase, variant, level).is_empty();
        is_empty.then_some(UncountedCell { phase, variant, level, why })
    });
    uncounted.collect()
}

/// The levels of a run that have measurements that count.
pub(in crate::analysis) fn counted_levels(book: &Book) -> usize {
    let sample = Sample::new(book, &[]);
    each_once(sample.measurements.iter().filter_map(|m| m.cell.level.as_ref())).len()
}

/// Figures of one phase of one variant at one level: one for each repeat, the mean of its passes;
/// where there is one repeat, one for each pass.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::analysis) struct Values {
    /// (repeat, or pass of the only repeat; figure)
    pub(in crate::analysis) all: Vec<(u32, f64)>,
    /// Whether they are of several repeats.
    pub(in crate::analysis) repeated: bool,
}

impl<'a> Sample<'a> {
    /// Leaves out what is not valid, what no rate or level can be made of, cells of which a measurement took as long
    /// as a phase may, for their others are the quick ones, and what was written until the unmount, which belongs to
    /// the whole job.
    pub(super) fn new(book: &'a Book, variants: &[&'a str]) -> Self {
        let all = book.measurements.iter().filter(|m| !m.is_settle());
        let limited: Vec<&Measurement> = all.clone().filter(|m| m.reached_limit()).collect();
        let is_limited = |m: &Measurement| limited.iter().any(|other| are_of_one_cell(m, other));
        let (measurements, others): (Vec<_>, Vec<_>) =
            all.partition(|m| is_counted(m) && !is_limited(m));
        let has = |name: &&str| measurements.iter().any(|m| m.cell.variant == **name);
        let variants = variants.iter().copied().filter(has).collect();
        let bulk = bulk_phases(book.measurements.iter());
        Self { measurements, others, variants, bulk, in_turns: in_turns(book) }
    }

    /// The variants that have measurements.
    pub(super) fn variants(&self) -> &[&'a str] {
        &self.variants
    }

    /// Whether variants took turns, repeat by repeat.
    pub(super) fn in_turns(&self) -> bool {
        self.in_turns
    }

    /// The phases in the order they were first measured.
    pub(super) fn phases(&self) -> Vec<&'a str> {
        each_once(self.measurements.iter().map(|m| m.phase.as_str()))
    }

    /// The phases of a variant, also those without a measurement that counts.
    pub(super) fn phases_of(&self, variant: &str) -> Vec<&'a str> {
        let all = self.measurements.iter().chain(&self.others);
        each_once(all.filter(|m| m.cell.variant == variant).map(|m| m.phase.as_str()))
    }

    /// The variants with measurements of a phase at a level none of which counts, by name.
    pub(super) fn uncounted(&self, phase: &str, level: Option<&Level>) -> Vec<&'a str> {
        let here = |m: &&&Measurement| m.phase == phase && m.cell.level.as_ref() == level;
        let mut names = each_once(self.others.iter().filter(here).map(|m| &*m.cell.variant));
        names.retain(|name| self.cell(phase, name, level).is_empty());
        names.sort_unstable();
        names
    }

    /// Why none of a variant's measurements of a phase at a level counts.
    pub(super) fn why_uncounted(
        &self,
        phase: &str,
        variant: &str,
        level: Option<&Level>,
    ) -> &'static str {
        let here = |m: &&&Measurement| {
            (&*m.phase, &*m.cell.variant, m.cell.level.as_ref()) == (phase, variant, level)
        };
        match self.others.iter().filter(here).any(|m| m.reached_limit()) {
            true => REACHED_LIMIT,
            false => "no valid measurement",
        }
    }

    /// The levels at which a phase was measured, whether that counts or not, lowest first.
    pub(super) fn measured_levels(&self, phase: &str) -> Vec<&'a Level> {
        let own = self.measurements.iter().chain(&self.others).filter(|m| m.phase == phase);
        let levels = lowest_first(own.map(|m| m.cell.level.as_ref())).into_iter().flatten();
        levels.filter(|level| level.value.is_finite()).collect()
    }

    /// The levels of a phase, lowest first; none for measurements without an axis.
    pub(super) fn levels(&self, phase: &str) -> Vec<Option<&'a Level>> {
        let own = self.measurements.iter().filter(|m| m.phase == phase);
        lowest_first(own.map(|m| m.cell.level.as_ref()))
    }

    /// The measurements of one phase of one variant at one level.
    pub(super) fn cell(
        &self,
        phase: &str,
        variant: &str,
        level: Option<&Level>,
    ) -> Vec<&'a Measurement> {
        let here = |m: &&&Measurement| {
            m.phase == phase && m.cell.variant == variant && m.cell.level.as_ref() == level
        };
        self.measurements.iter().filter(here).copied().collect()
    }

    /// The logarithms of a cell's rates, to hold variants against each other. Where rates count bytes, an operation
    /// counts for as many as one of the first measurement at this level moved: variants may move unlike amounts in one.
    pub(super) fn log_rates(&self, cell: &[&Measurement]) -> Values {
        let size = |m: &Measurement| m.bytes as f64 / m.operations as f64;
        let in_bytes = |m: &&Measurement| self.bulk.contains(m.phase.as_str()) && !is_listing(m);
        let same = |m: &Measurement, other: &&&Measurement| {
            (&m.phase, &m.cell.level) == (&other.phase, &other.cell.level)
        };
        let first = cell.first().copied().filter(in_bytes);
        let first = first.and_then(|m| self.measurements.iter().find(|other| same(m, other)));
        Values::new(cell, |m| {
            let counts_for = first.map_or(1.0, |first| size(m) / size(first));
            Some(log_rate(m)? + counts_for.ln())
        })
    }

    /// When what a variant writes in a phase must be on the device; none if that is not known.
    pub(super) fn durability(&self, phase: &str, variant: &str) -> Option<Durability> {
        let own = |m: &&&Measurement| m.phase == phase && m.cell.variant == variant;
        self.measurements.iter().find(own).and_then(|m| m.durability)
    }

    /// All that have measurements, by phase, then by variant.
    pub(super) fn cells(&self) -> Vec<PhaseCell<'a>> {
        let mut cells = Vec::new();
        for phase in self.phases() {
            let levels = self.levels(phase);
            for variant in self.variants.iter().copied() {
                for level in levels.iter().copied() {
                    let measurements = self.cell(phase, variant, level);
                    cells.push(PhaseCell { phase, variant, level, measurements });
                }
            }
        }
        cells.retain(|cell| !cell.measurements.is_empty());
        cells
    }

    /// One for each phase and variant that were measured at two levels or more.
    pub(super) fn series(&self) -> Vec<LevelSeries<'a>> {
        let cells: Vec<PhaseCell<'a>> =
            self.cells().into_iter().filter(|cell| cell.level.is_some()).collect();
        let of_one = cells.chunk_by(|a, b| (a.phase, a.variant) == (b.phase, b.variant));
        let series = |cells: &[PhaseCell<'a>]| {
            let lists = cells.iter().flat_map(|cell| &cell.measurements).any(|m| is_listing(m));
            LevelSeries {
                phase: cells[0].phase,
                variant: cells[0].variant,
                levels: cells.iter().filter_map(|cell| cell.level).collect(),
                cells: cells.iter().map(|cell| cell.measurements.clone()).collect(),
                in_bytes: self.bulk.contains(cells[0].phase) && !lists,
            }
        };
        of_one.filter(|cells| cells.len() > 1).map(series).collect()
    }
}

impl<'a> LevelSeries<'a> {
    /// The measurements at each level.
    pub(super) fn cells(&self) -> &[Vec<&'a Measurement>] {
        &self.cells
    }

    /// Whether it has windows, which show its course.
    pub(super) fn has_windows(&self) -> bool {
        self.cells.iter().flatten().any(|m| !m.windows.is_empty())
    }

    /// The values at each level that `figure` makes of a measurement and of what one of its operations
    /// counts for: 1, or its bytes.
    pub(super) fn values(&self, figure: impl Fn(&Measurement, f64) -> Option<f64>) -> Vec<Values> {
        let of_one = |m: &Measurement| {
            let bytes = || m.bytes as f64 / m.operations as f64;
            figure(m, if self.in_bytes { bytes() } else { 1.0 })
        };
        self.cells.iter().map(|cell| Values::new(cell, of_one)).collect()
    }
}

/// Levels each once, lowest first; none, of measurements without an axis, before all.
pub(super) fn lowest_first<'a>(
    levels: impl Iterator<Item = Option<&'a Level>>,
) -> Vec<Option<&'a Level>> {
    let mut levels = each_once(levels);
    let height = |level: &Option<&Level>| level.map_or(f64::NEG_INFINITY, |level| level.value);
    levels.sort_by(|a, b| height(a).total_cmp(&height(b)));
    levels
}

/// Whether variants took turns: where a place is prepared for its levels all repeats of a variant
/// follow each other.
pub(super) fn in_turns(book: &Book) -> bool {
    book.conditions.is_empty()
}

/// Whether two are of one phase of a variant at a level.
fn are_of_one_cell(a: &Measurement, b: &Measurement) -> bool {
    let [a, b] = [a, b].map(|m| (&m.phase, &m.cell.variant, &m.cell.level));
    a == b
}

/// Whether it is valid, and a rate and a level can be made of it.
pub(super) fn is_counted(m: &Measurement) -> bool {
    let level = m.cell.level.as_ref().is_none_or(|level| level.value.is_finite());
    let seconds = SECONDS.contains(&m.seconds) && (0.0..*SECONDS.end()).contains(&m.sync_seconds);
    m.valid() && m.operations > 0 && seconds && level
}

impl Values {
    /// The figures that `figure` makes of measurements, without those it makes none of.
    pub(in crate::analysis) fn new(
        cell: &[&Measurement],
        figure: impl Fn(&Measurement) -> Option<f64>,
    ) -> Self {
        let all: Vec<(u32, u32, f64)> = cell
            .iter()
            .filter_map(|m| Some((m.cell.repeat, m.pass, figure(m).filter(|f| f.is_finite())?)))
            .collect();
        let mut repeats: Vec<u32> = all.iter().map(|(repeat, ..)| *repeat).collect();
        repeats.sort_unstable();
        repeats.dedup();
        let of_repeat = |repeat: u32| {
            let passes = all.iter().filter(|(r, ..)| *r == repeat);
            (repeat, mean(&passes.map(|(.., value)| *value).collect::<Vec<_>>()))
        };
        Self {
            repeated: repeats.len() > 1,
            all: match repeats.as_slice() {
                [_] => all.into_iter().map(|(_, pass, value)| (pass, value)).collect(),
                repeats => repeats.iter().copied().map(of_repeat).collect(),
            },
        }
    }

    /// The figures alone.
    pub(in crate::analysis) fn figures(&self) -> Vec<f64> {
        self.all.iter().map(|(_, figure)| *figure).collect()
    }

    /// Their repeats, or passes.
    pub(super) fn repeats(&self) -> Vec<u32> {
        self.all.iter().map(|(repeat, _)| *repeat).collect()
    }
}

/// The figures of each repeat that has all of these levels; none of what was not repeated, for passes of one repeat share what
/// it was like.
pub(super) fn whole_repeats(levels: &[Values]) -> Vec<Vec<f64>> {
    let first = levels.first().filter(|_| levels.iter().all(|values| values.repeated));
    let of_repeat = |repeat: &u32| -> Option<Vec<f64>> {
        let figure = |values: &Values| {
            values.all.iter().find(|(key, _)| key == repeat).map(|(_, figure)| *figure)
        };
        levels.iter().map(figure).collect()
    };
    first.map_or(Vec::new(), Values::repeats).iter().filter_map(of_repeat).collect()
}

/// The mean of each level over repeats that have all of them.
pub(super) fn level_means(repeats: &[Vec<f64>]) -> Vec<f64> {
    let levels = repeats.first().map_or(0, Vec::len);
    let level = |at| mean(&repeats.iter().map(|figures| figures[at]).collect::<Vec<f64>>());
    (0..levels).map(level).collect()
}

/// The logarithm of operations per second, with the sync at the end. Directories differ in how many
/// entries they have, so a listing counts by what it reads of them: equally many bytes for each.
pub(in crate::analysis) fn log_rate(m: &Measurement) -> Option<f64> {
    let of_entries = || m.bytes.saturating_sub(OWN_ENTRIES_BYTES * m.operations).max(1);
    let done = if is_listing(m) { of_entries() } else { m.operations };
    Some((done as f64 / m.durable_seconds()).ln())
}
