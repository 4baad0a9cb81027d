//! The windows of a phase gathered in blocks over all its repeats.

use super::curve::Block;
use super::fit::{mean, median};
use crate::results::book::{Measurement, Window};

/// Fewer windows than this show no law.
pub(super) const WINDOWS_MIN: usize = 8;
/// A phase is judged by at most so many blocks of windows.
const BLOCKS_MAX: usize = 20;
/// Places are looked for among at most so many.
const FINE_MAX: usize = 200;
/// Windows in a block, so that a wild one does not carry it, where there are enough.
const WINDOWS_OF_BLOCK: usize = 3;

/// The windows of all repeats and passes of a phase.
pub(super) struct Course<'a> {
    pub(super) measurements: Vec<&'a Measurement>,
    pub(super) operations: u64,
    /// All repeats together, each over its own middle.
    pub(super) blocks: Vec<Block>,
    /// What a block's logarithm is over: the mean of the middles.
    pub(super) middle: f64,
}

/// Which windows of a block count.
type Chosen = fn(usize) -> bool;

/// Whether it has windows enough, and whole ones.
pub(super) fn tellable(m: &Measurement) -> bool {
    m.windows.len() >= WINDOWS_MIN && whole(m)
}

/// Whether all of its windows have figures.
pub(super) fn whole(m: &Measurement) -> bool {
    m.windows.iter().all(|w| w.p50_ns > 0 && w.operations > 0)
}

impl<'a> Course<'a> {
    pub(super) fn of(cell: &[&'a Measurement]) -> Option<Self> {
        let measurements: Vec<_> = cell.iter().filter(|m| tellable(m)).copied().collect();
        let last = measurements.first()?.windows.last()?;
        let operations = last.first + last.operations;
        let mut course = Self { measurements, operations, blocks: Vec::new(), middle: 0.0 };
        let all = course.repeats(course.number(), |_| true);
        course.middle = mean(&all.iter().map(|blocks| middle(blocks)).collect::<Vec<_>>());
        course.blocks = together(&all);
        Some(course)
    }

    fn windows(&self) -> usize {
        self.measurements.iter().map(|m| m.windows.len()).min().unwrap_or(0)
    }

    fn number(&self) -> usize {
        (self.windows() / WINDOWS_OF_BLOCK).clamp(WINDOWS_MIN, BLOCKS_MAX)
    }

    fn repeats(&self, number: usize, chosen: Chosen) -> Vec<Vec<Block>> {
        self.measurements.iter().map(|m| blocks(&m.windows, number, chosen)).collect()
    }

    /// The blocks of each repeat for itself.
    pub(super) fn of_each(&self) -> Vec<Vec<Block>> {
        self.repeats(self.number(), |_| true)
    }

    /// Smaller blocks.
    pub(super) fn fine(&self) -> Vec<Block> {
        together(&self.repeats(self.windows().min(FINE_MAX), |_| true))
    }

    /// The blocks of every second window, and of the others; none where there are too few.
    pub(super) fn halves(&self) -> Option<[Vec<Block>; 2]> {
        let number = (self.windows() / (2 * WINDOWS_OF_BLOCK)).min(BLOCKS_MAX);
        let of = |chosen: Chosen| together(&self.repeats(number, chosen));
        (number >= WINDOWS_MIN).then(|| [of(|n| n % 2 == 0), of(|n| n % 2 == 1)])
    }
}

fn middle(blocks: &[Block]) -> f64 {
    median(&blocks.iter().map(|block| block.log).collect::<Vec<_>>())
}

/// Repeats as a whole may be faster or slower; that is no growth.
fn together(all: &[Vec<Block>]) -> Vec<Block> {
    let middles: Vec<f64> = all.iter().map(|blocks| middle(blocks)).collect();
    let at = |n: usize| {
        let logs: Vec<f64> =
            all.iter().zip(&middles).map(|(b, middle)| b[n].log - middle).collect();
        Block { x: all[0][n].x, log: if logs.len() > 2 { median(&logs) } else { mean(&logs) } }
    };
    (0..all.first().map_or(0, Vec::len)).map(at).collect()
}

/// Medians of equal numbers of windows.
fn blocks(windows: &[Window], number: usize, chosen: Chosen) -> Vec<Block> {
    let block = |n: usize| {
        let part = &windows[n * windows.len() / number..(n + 1) * windows.len() / number];
        let part = || part.iter().enumerate().filter(|(at, _)| chosen(*at)).map(|(_, w)| w);
        let logs: Vec<f64> = part().map(|w| (w.p50_ns as f64).ln()).collect();
        let middles: Vec<f64> =
            part().map(|w| w.first as f64 + w.operations as f64 / 2.0).collect();
        Block { x: mean(&middles), log: median(&logs) }
    };
    (0..number).map(block).collect()
}
