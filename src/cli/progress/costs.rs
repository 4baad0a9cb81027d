//! Estimates the time of the remaining phases of a run from the phases that are over.

use std::collections::BTreeMap;

use crate::plan::phase::PhaseEnd;
use crate::plan::{CellPlan, Phase};

/// Which cells have a time in common, the most alike first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CellsAlike {
    /// The same variant at the same level, by its index.
    Cell(usize),
    /// All variants at one level.
    Level(String),
    /// All levels of one variant.
    Variant(String),
    All,
}

impl CellsAlike {
    /// Those that a cell belongs to.
    fn of(cell: PlannedCell<'_>) -> [Self; 4] {
        let PlannedCell { index, plan } = cell;
        let level = plan.level.map_or_else(String::new, |level| level.to_string());
        [Self::Cell(index), Self::Level(level), Self::Variant(plan.variant.clone()), Self::All]
    }
}

/// What a time belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CostKey {
    cells: CellsAlike,
    /// None for all that comes before the first phase of a cell: removing the cell before it, making its file
    /// system, preparing its place.
    phase: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TimeTaken {
    seconds: f64,
    operations: u64,
    times: u32,
}

impl TimeTaken {
    fn add(&mut self, seconds: f64, operations: u64) {
        self.seconds += seconds;
        self.operations += operations;
        self.times += 1;
    }

    fn mean(&self) -> f64 {
        self.seconds / f64::from(self.times.max(1))
    }

    /// Seconds of this number of operations; the mean where the number is not known.
    fn of_operations(&self, operations: Option<u64>) -> f64 {
        match operations {
            Some(operations) if self.operations > 0 => {
                self.seconds / self.operations as f64 * operations as f64
            }
            _ => self.mean(),
        }
    }
}

/// A cell of the plan.
#[derive(Clone, Copy)]
pub(super) struct PlannedCell<'a> {
    /// Its index in the plan.
    pub(super) index: usize,
    pub(super) plan: &'a CellPlan,
}

/// The real time that each phase took, from the end of the one before it, and each cell before its first phase.
#[derive(Clone, Debug, Default)]
pub(super) struct CostsSoFar {
    taken: BTreeMap<CostKey, TimeTaken>,
}

impl CostsSoFar {
    /// Adds a phase of a cell; none is what came before its first phase.
    pub(super) fn add(
        &mut self,
        cell: PlannedCell<'_>,
        phase: Option<&str>,
        seconds: f64,
        operations: u64,
    ) {
        for cells in CellsAlike::of(cell) {
            let key = CostKey { cells, phase: phase.map(str::to_string) };
            self.taken.entry(key).or_default().add(seconds, operations);
        }
    }

    /// What a phase takes, in seconds: as it did in this cell, else for as many operations as it did in those most
    /// like it; `None` when no phase of its name was over yet.
    pub(super) fn of_phase(&self, cell: PlannedCell<'_>, phase: &Phase) -> Option<f64> {
        let cells = CellsAlike::Cell(cell.index);
        let own = self.taken.get(&CostKey { cells, phase: Some(phase.name.clone()) });
        let taken = own.or_else(|| self.alike(cell, Some(&phase.name)).next());
        match phase.end {
            // A virtual clock says nothing of the time that passes here.
            PhaseEnd::After(ns) if !cell.plan.engine.is_simulated() => {
                Some(taken.map_or(ns as f64 / 1e9, TimeTaken::mean))
            }
            PhaseEnd::After(_) => taken.map(TimeTaken::mean),
            _ if own.is_some() => own.map(TimeTaken::mean),
            _ => taken.map(|taken| taken.of_operations(phase.operations())),
        }
    }

    /// What comes before the first phase of a cell, in seconds; nothing as long as nothing is known of it.
    pub(super) fn of_beginning(&self, cell: PlannedCell<'_>) -> f64 {
        self.alike(cell, None).next().map_or(0.0, TimeTaken::mean)
    }

    /// What was taken in the cell, and in cells like it, the most alike first.
    fn alike(
        &self,
        cell: PlannedCell<'_>,
        phase: Option<&str>,
    ) -> impl Iterator<Item = &TimeTaken> {
        let phase = phase.map(str::to_string);
        let keys = CellsAlike::of(cell).into_iter();
        keys.filter_map(move |cells| self.taken.get(&CostKey { cells, phase: phase.clone() }))
    }
}
