//! How long the rest of a run may take, from what its phases took so far.

use std::collections::BTreeMap;

use super::cells::{CellGrid, CellMark, LevelCells};
use crate::plan::phase::PhaseEnd;
use crate::plan::{CellPlan, Phase, Plan};
use crate::results::book::Measurement;

/// What one phase takes: known beforehand where its time ends it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PhaseSize {
    Operations(u64),
    Seconds(f64),
    /// What the same takes elsewhere: a virtual clock ends it.
    Same,
}

#[derive(Clone, Debug)]
struct ForecastPhase {
    variant: String,
    phase: String,
    size: PhaseSize,
}

/// Seconds, and the phases and operations that took them.
#[derive(Clone, Copy, Debug, Default)]
struct TimeTaken {
    seconds: f64,
    phases: u32,
    operations: u64,
}

impl TimeTaken {
    fn add(&mut self, other: TimeTaken) {
        self.seconds += other.seconds;
        self.phases += other.phases;
        self.operations += other.operations;
    }

    /// Seconds of a phase of this size by what these took; none if they do not tell.
    fn estimate(&self, size: PhaseSize) -> Option<f64> {
        match size {
            PhaseSize::Seconds(seconds) => Some(seconds),
            PhaseSize::Operations(operations) => (self.operations > 0)
                .then(|| self.seconds / self.operations as f64 * operations as f64),
            PhaseSize::Same => (self.phases > 0).then(|| self.seconds / f64::from(self.phases)),
        }
    }
}

/// What is known of the time that phases take.
#[derive(Clone, Debug, Default)]
pub(super) struct Forecast {
    /// The steps of each of the plan's cells.
    cells: Vec<Vec<ForecastPhase>>,
    /// By variant and phase.
    known: BTreeMap<(String, String), TimeTaken>,
    all: TimeTaken,
    /// Steps of the running cell that are over.
    steps: usize,
}

/// The phase that runs: its cell, the share of it that is done if that is known, and the seconds it
/// has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningPhase {
    pub(super) cell: usize,
    pub(super) share: Option<f64>,
    pub(super) seconds: f64,
}

impl Forecast {
    /// Nothing is known yet of these cells.
    pub(super) fn new(plan: &Plan) -> Self {
        let step = |cell: &CellPlan, phase: &Phase| ForecastPhase {
            variant: cell.variant.clone(),
            phase: phase.name.clone(),
            size: match phase.end {
                PhaseEnd::After(_) if cell.engine.is_simulated() => PhaseSize::Same,
                PhaseEnd::After(ns) => PhaseSize::Seconds(ns as f64 / 1e9),
                PhaseEnd::Targets | PhaseEnd::Operations(_) => {
                    PhaseSize::Operations(phase.operations().unwrap_or_default())
                }
            },
        };
        let steps = |cell: &CellPlan| cell.phases.iter().map(|phase| step(cell, phase)).collect();
        Self { cells: plan.cells.iter().map(steps).collect(), ..Self::default() }
    }

    /// Another cell begins.
    pub(super) fn cell_begins(&mut self) {
        self.steps = 0;
    }

    /// A phase is over that took so many seconds, with what lay before it.
    pub(super) fn phase_ends(&mut self, m: &Measurement, seconds: f64) {
        let cost = TimeTaken { seconds, phases: 1, operations: m.operations };
        self.known.entry((m.cell.variant.clone(), m.phase.clone())).or_default().add(cost);
        self.all.add(cost);
        self.steps += 1;
    }

    /// Whether every phase of the running cell, by its index in the plan, is over.
    pub(super) fn is_over(&self, cell: usize) -> bool {
        self.cells.get(cell).is_some_and(|steps| self.steps >= steps.len())
    }

    /// Seconds that are left, about; none if nothing is known yet.
    pub(super) fn left(&self, cells: &CellGrid, running: Option<RunningPhase>) -> Option<f64> {
        let mut all = self.all;
        let mut left = 0.0;
        if let Some(running) = running {
            let steps = self.cells.get(running.cell)?;
            let step = steps.get(self.steps);
            // A phase that was never done before tells by itself how fast it is.
            if let (Some(PhaseSize::Operations(operations)), Some(share)) =
                (step.map(|step| step.size), running.share)
            {
                let operations = (operations as f64 * share) as u64;
                all.add(TimeTaken { seconds: running.seconds, phases: 0, operations });
            }
            if let Some(step) = step {
                let whole = self.seconds(step, all)?;
                let rest = |share| whole * (1.0 - share);
                left += running.share.map_or((whole - running.seconds).max(0.0), rest);
            }
            for step in steps.iter().skip(self.steps + 1) {
                left += self.seconds(step, all)?;
            }
        }
        for group in cells.groups() {
            let waiting = group.marks.iter().filter(|mark| **mark == CellMark::Waiting).count();
            if waiting > 0 {
                left += waiting as f64 * self.cell(group, all)?;
            }
        }
        Some(left)
    }

    fn cell(&self, group: &LevelCells, all: TimeTaken) -> Option<f64> {
        self.cells.get(group.cell)?.iter().map(|step| self.seconds(step, all)).sum()
    }

    /// What a step takes: as the same one before, else as its phase in other variants, else as all.
    fn seconds(&self, step: &ForecastPhase, all: TimeTaken) -> Option<f64> {
        let key = (step.variant.clone(), step.phase.clone());
        let same = self.known.get(&key).and_then(|cost| cost.estimate(step.size));
        let elsewhere = || {
            let mut sum = TimeTaken::default();
            let others = self.known.iter().filter(|((_, phase), _)| *phase == step.phase);
            others.for_each(|(_, cost)| sum.add(*cost));
            sum.estimate(step.size)
        };
        // Other phases are no measure of one that a clock ends.
        let all = || all.estimate(step.size).filter(|_| step.size != PhaseSize::Same);
        same.or_else(elsewhere).or_else(all)
    }
}
