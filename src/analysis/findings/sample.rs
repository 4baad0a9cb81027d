//! What findings are drawn from: the valid measurements of a book, by phase, variant and level.

use crate::plan::DEFAULT_VARIANT;
use crate::results::book::{Book, Level, Measurement};

use super::fit::mean;

/// No phase is shorter or longer.
pub(in crate::analysis) const SECONDS: std::ops::RangeInclusive<f64> = 1e-9..=1e12;

/// The measurements that count, and the variants in the job file's order.
pub(super) struct Sample<'a> {
    measurements: Vec<&'a Measurement>,
    variants: Vec<&'a str>,
    in_turns: bool,
}

/// Figures of one phase of one variant at one level: one for each repeat, the mean of its passes;
/// where there is one repeat, one for each pass.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::analysis) struct Values {
    /// (repeat, or pass of the only repeat; figure)
    pub(in crate::analysis) all: Vec<(u32, f64)>,
    /// Whether they are of several repeats.
    pub(in crate::analysis) repeated: bool,
    /// The relative standard error of a single measurement; none if it is unknown.
    pub(in crate::analysis) own_error: Option<f64>,
}

impl<'a> Sample<'a> {
    /// Leaves out what is not valid, and what no rate or level can be made of.
    pub(super) fn of(book: &'a Book, variants: &[&'a str]) -> Self {
        let measurements: Vec<_> = book.measurements.iter().filter(|m| counts(m)).collect();
        let has = |name: &&str| measurements.iter().any(|m| m.cell.variant == **name);
        let variants = variants.iter().copied().filter(has).collect();
        Self { measurements, variants, in_turns: in_turns(book) }
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
        let mut phases: Vec<&str> = Vec::new();
        for m in &self.measurements {
            if !phases.contains(&m.phase.as_str()) {
                phases.push(&m.phase);
            }
        }
        phases
    }

    /// The levels of a phase, lowest first; none for measurements without an axis.
    pub(super) fn levels(&self, phase: &str) -> Vec<Option<&'a Level>> {
        let mut levels: Vec<Option<&Level>> = Vec::new();
        for m in self.measurements.iter().filter(|m| m.phase == phase) {
            if !levels.contains(&m.cell.level.as_ref()) {
                levels.push(m.cell.level.as_ref());
            }
        }
        let height = |level: &Option<&Level>| level.map_or(f64::NEG_INFINITY, |l| l.value);
        levels.sort_by(|a, b| height(a).total_cmp(&height(b)));
        levels
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

    /// Whether anything was synced at the end of a phase.
    pub(super) fn synced(&self) -> bool {
        self.measurements.iter().any(|m| m.sync_seconds > 0.0)
    }
}

/// Whether variants took turns: where a place is prepared for its levels all repeats of a variant
/// follow each other.
pub(super) fn in_turns(book: &Book) -> bool {
    book.conditions.is_empty()
}

/// Whether it is valid, and a rate and a level can be made of it.
pub(super) fn counts(m: &Measurement) -> bool {
    let level = m.cell.level.as_ref().is_none_or(|level| level.value.is_finite());
    let seconds = SECONDS.contains(&m.seconds) && (0.0..*SECONDS.end()).contains(&m.sync_seconds);
    m.valid() && m.operations > 0 && seconds && level
}

impl Values {
    /// The figures that `figure` makes of measurements, without those it makes none of.
    pub(in crate::analysis) fn of(
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
        let own = |m: &Measurement| m.rate_error.filter(|e| e.is_finite() && *e >= 0.0);
        Self {
            repeated: repeats.len() > 1,
            own_error: cell.first().and_then(|m| own(m)).filter(|_| all.len() == 1),
            all: match repeats.as_slice() {
                [_] => all.into_iter().map(|(_, pass, value)| (pass, value)).collect(),
                repeats => repeats.iter().copied().map(of_repeat).collect(),
            },
        }
    }
}

/// The logarithm of operations per second, with or without the sync at the end.
pub(in crate::analysis) fn log_rate(m: &Measurement, synced: bool) -> Option<f64> {
    let seconds = m.seconds + if synced { m.sync_seconds } else { 0.0 };
    Some((m.operations as f64 / seconds).ln())
}

/// What stands before a sentence about a variant: its name, unless nothing is compared.
pub(super) fn lead(variant: &str) -> String {
    if variant == DEFAULT_VARIANT { String::new() } else { format!("{variant}: ") }
}
