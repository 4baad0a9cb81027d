//! Measures how latency changes while a phase runs: the last tenth of its operations against the second, and the law that
//! the parts follow. The first tenth is the start-up: it is shown, and is in no claim.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::growth_law::{Law, PhasePart, best_law};
use crate::effects::decide::Decision;
use crate::observations::{LogTimes, Observations};
use crate::statistics::describe::mean;
use boatload_base::distinct::each_once;
use boatload_base::named_enum;
use boatload_op::{Effect, Subject};
use boatload_results::book::{Level, Measurement, Window};
use boatload_results::order::PhaseCell;

/// Fewer windows than this show no growth.
const WINDOWS_MIN: usize = 8;
/// Parts of a phase.
const TENTHS: usize = 10;
/// Parts that a law is fitted to at most, without the start-up.
const BLOCKS_MAX: usize = 45;

/// How the time of an operation went on while a phase ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthCourse {
    /// The law that it follows; none where none fits, and where it is not decided whether it grows.
    pub law: Option<Law>,
    /// The exponent of a power; none of another law.
    pub exponent: Option<f64>,
    /// What each operation adds one of.
    pub counted: CountedThing,
    /// Windows of a measurement, at most.
    pub windows: u64,
    /// Operations of the phase.
    pub operations: u64,
    /// Operations of each of the tenths that are compared.
    pub operations_of_tenth: u64,
    /// Mean latency of the first tenth, the start-up, in nanoseconds.
    pub first_ns: f64,
    /// Mean latency of the second tenth, in nanoseconds.
    pub second_ns: f64,
    /// Mean latency of the last tenth, in nanoseconds.
    pub last_ns: f64,
    /// What to draw: the parts of the phase behind its start-up.
    pub blocks: Vec<GrowthBlock>,
}

/// A part of a phase as it was measured and as the law has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthBlock {
    /// Operations done at its middle.
    pub operations: f64,
    /// Its mean latency, in nanoseconds.
    pub seen_ns: f64,
    /// The latency that the law gives it, in nanoseconds; none without a law.
    pub fitted_ns: Option<f64>,
}

named_enum! {
    /// What an operation adds one of, by the word for many.
    pub enum CountedThing {
        /// Files.
        Files = "files",
        /// Directories.
        Directories = "directories",
        /// Operations, where no entry is added.
        Operations = "operations",
    }
}

impl CountedThing {
    /// What there are more of after each operation of a measurement.
    fn by(m: &Measurement) -> Self {
        match m.job_operation().map(|o| (o.effect, o.subject)) {
            Some((Effect::AddsEntry, Subject::File)) => Self::Files,
            Some((Effect::AddsEntry, Subject::Directory)) => Self::Directories,
            _ => Self::Operations,
        }
    }
}

impl GrowthCourse {
    /// What is known of the law once it is decided whether the time grows: within the margin it is constant, of what is open
    /// nothing is said, and a law that goes the other way than the decision is not that of the phase.
    pub fn decided(mut self, decision: Decision) -> Self {
        let ends = [self.blocks.first(), self.blocks.last()];
        let [first, last] = ends.map(|end| end.and_then(|block| block.fitted_ns));
        let is_along = match decision {
            Decision::Longer => first < last,
            Decision::Shorter => first > last,
            Decision::Within | Decision::Open => false,
        };
        if !is_along {
            (self.law, self.exponent) = (None, None);
            self.blocks.iter_mut().for_each(|block| block.fitted_ns = None);
        }
        if decision == Decision::Within {
            self.law = Some(Law::Constant);
        }
        self
    }

    /// `linearly with the number of files`; none where no law grows.
    pub(crate) fn by_law(&self) -> Option<String> {
        let noun = self.counted;
        match self.law? {
            Law::Constant => None,
            Law::Linear => Some(format!("linearly with the number of {noun}")),
            Law::Logarithmic => Some(format!("with the logarithm of the number of {noun}")),
            Law::Power => {
                let exponent = self.exponent?;
                Some(format!("as the number of {noun} to the power of {exponent:.2}"))
            }
        }
    }

    /// How many times as long the start-up takes as what follows it, where that is much longer.
    pub(crate) fn slow_start_up(&self) -> Option<f64> {
        Some(self.first_ns / self.second_ns).filter(|times| *times >= SLOW_START_UP_MIN)
    }
}

/// A start-up that takes so many times as long as what follows is worth a word.
const SLOW_START_UP_MIN: f64 = 1.1;

/// The growth of a phase of a variant, and what it is made of.
pub(crate) struct MeasuredGrowth<'a> {
    pub phase: &'a str,
    pub variant: &'a str,
    pub level: Option<&'a Level>,
    /// The logarithm of the mean time in the last tenth over that in the second, by repeat.
    pub(crate) by_repeat: LogTimes,
    pub course: GrowthCourse,
}

/// Of each phase with enough windows, variant and level. Where a level is the number of operations of the phase, of the
/// highest level alone: it contains the others.
pub(crate) fn measured_growths<'a>(all: &Observations<'a>) -> Vec<MeasuredGrowth<'a>> {
    let cells = all.cells().into_iter().filter_map(|mut cell| {
        cell.measurements.retain(|m| has_windows(m));
        (!cell.measurements.is_empty()).then_some(cell)
    });
    let cells: Vec<PhaseCell<'a>> = cells.collect();
    let contained = |cell: &PhaseCell<'_>| {
        let level = cell.level?.value;
        cell.measurements.iter().any(|m| m.operations as f64 == level).then_some(level)
    };
    let is_highest = |cell: &&PhaseCell<'a>| {
        let own =
            |other: &&PhaseCell<'_>| (other.phase, other.variant) == (cell.phase, cell.variant);
        let highest = cells.iter().filter(own).filter_map(contained).fold(f64::MIN, f64::max);
        contained(cell).is_none_or(|level| level == highest)
    };
    cells.iter().filter(is_highest).map(growth_of).collect()
}

/// Whether it has windows, and all of them have figures.
fn has_whole_windows(m: &Measurement) -> bool {
    let is_whole = |w: &Window| w.mean_ns.is_finite() && w.mean_ns > 0.0 && w.operations > 0;
    !m.windows.is_empty() && m.windows.iter().all(is_whole)
}

/// Whether it has enough of them.
fn has_windows(m: &Measurement) -> bool {
    m.windows.len() >= WINDOWS_MIN && has_whole_windows(m)
}

fn growth_of<'a>(cell: &PhaseCell<'a>) -> MeasuredGrowth<'a> {
    let growth = |m: &Measurement| {
        let [_, second, last] = tenths(&m.windows);
        (mean_ns(last) / mean_ns(second)).ln()
    };
    let of_repeat = |repeat: u32| {
        let passes = cell.measurements.iter().filter(|m| m.cell.repeat == repeat);
        mean(&passes.map(|m| growth(m)).collect::<Vec<_>>())
    };
    let repeats = each_once(cell.measurements.iter().map(|m| m.cell.repeat));
    let PhaseCell { phase, variant, level, measurements } = cell;
    MeasuredGrowth {
        phase,
        variant,
        level: *level,
        by_repeat: repeats.into_iter().map(|repeat| (repeat, of_repeat(repeat))).collect(),
        course: course_of(measurements),
    }
}

/// The first, the second and the last tenth of windows, by their number: the division is made before the times are known.
fn tenths(windows: &[Window]) -> [&[Window]; 3] {
    let size = (windows.len() / TENTHS).max(1);
    [&windows[..size], &windows[size..2 * size], &windows[windows.len() - size..]]
}

/// Mean latency of the operations of some windows.
fn mean_ns(windows: &[Window]) -> f64 {
    let operations: f64 = windows.iter().map(|w| w.operations as f64).sum();
    windows.iter().map(|w| w.mean_ns * w.operations as f64).sum::<f64>() / operations
}

fn course_of(measurements: &[&Measurement]) -> GrowthCourse {
    let mean_of = |of: &dyn Fn(&Measurement) -> f64| {
        mean(&measurements.iter().map(|m| of(m)).collect::<Vec<_>>())
    };
    let [first_ns, second_ns, last_ns] =
        [0, 1, 2].map(|at| mean_of(&|m: &Measurement| mean_ns(tenths(&m.windows)[at])));
    let first = measurements[0];
    let blocks = blocks(measurements);
    let for_law = blocks.iter().map(|one| PhasePart { x: one.operations, log: one.seen_ns.ln() });
    let fit = best_law(&for_law.collect::<Vec<_>>());
    let fitted = |block: &GrowthBlock| GrowthBlock {
        fitted_ns: fit.map(|fit| fit.height(block.operations).exp()),
        ..*block
    };
    GrowthCourse {
        law: fit.map(|fit| fit.law),
        exponent: fit.and_then(|fit| fit.exponent()),
        counted: CountedThing::by(first),
        windows: measurements.iter().map(|m| m.windows.len() as u64).max().unwrap_or(0),
        operations: first.windows.iter().map(|w| w.operations).sum(),
        operations_of_tenth: tenths(&first.windows)[2].iter().map(|w| w.operations).sum(),
        first_ns,
        second_ns,
        last_ns,
        blocks: blocks.iter().map(fitted).collect(),
    }
}

/// The parts behind the start-up, each by the mean over all measurements.
fn blocks(measurements: &[&Measurement]) -> Vec<GrowthBlock> {
    let behind = |m: &'_ &'_ Measurement| m.windows.len() - (m.windows.len() / TENTHS).max(1);
    let number = measurements.iter().map(behind).min().unwrap_or(0).min(BLOCKS_MAX);
    let block = |at: usize| {
        let of = |m: &Measurement| {
            let rest = &m.windows[(m.windows.len() / TENTHS).max(1)..];
            let windows = &rest[at * rest.len() / number..(at + 1) * rest.len() / number];
            let (first, last) = (windows[0].first, windows[windows.len() - 1]);
            let end = last.first.saturating_add(last.operations);
            (first as f64 / 2.0 + end as f64 / 2.0, mean_ns(windows).ln())
        };
        let (places, logs): (Vec<f64>, Vec<f64>) = measurements.iter().map(|m| of(m)).unzip();
        GrowthBlock { operations: mean(&places), seen_ns: mean(&logs).exp(), fitted_ns: None }
    };
    (0..number).map(block).collect()
}
