//! The cells of a run, and which of them are done.

use crate::base::failure::shown;
use crate::plan::{DEFAULT_VARIANT, Plan};
use crate::results::book::CellKey;
use crate::session::cell_key;

/// The state of a cell, or of several that are shown as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellMark {
    Waiting,
    Running,
    Done,
    /// A measurement of it is invalid.
    Invalid,
    /// Of several cells some are done and others wait.
    Partly,
}

impl CellMark {
    /// What stands for several cells.
    pub(super) fn combined(marks: &[CellMark]) -> CellMark {
        let all = |mark| marks.iter().all(|m| *m == mark);
        match marks {
            _ if marks.contains(&CellMark::Running) => CellMark::Running,
            _ if marks.contains(&CellMark::Invalid) => CellMark::Invalid,
            _ if all(CellMark::Waiting) => CellMark::Waiting,
            _ if all(CellMark::Done) => CellMark::Done,
            _ => CellMark::Partly,
        }
    }
}

/// One variant.
#[derive(Clone, Debug)]
pub(super) struct VariantRow {
    /// Its name as it may be shown; empty where nothing is compared.
    pub(super) name: String,
    /// One for each level.
    pub(super) groups: Vec<LevelCells>,
}

/// One variant at one level.
#[derive(Clone, Debug)]
pub(super) struct LevelCells {
    /// The level's value; empty without an axis.
    pub(super) level: String,
    /// One for each repeat.
    pub(super) marks: Vec<CellMark>,
    /// Its index in the plan's cells.
    pub(super) cell: usize,
    key: CellKey,
    /// Which series it is repeated with.
    series: usize,
}

/// All cells: variants by levels by repeats.
#[derive(Clone, Debug, Default)]
pub(super) struct CellGrid {
    /// What grows from level to level; empty without an axis.
    pub(super) axis: String,
    /// The variants.
    pub(super) rows: Vec<VariantRow>,
    /// Whether repeats are decided while the run goes on.
    grows: bool,
    /// Whether a measurement of the running cell is invalid.
    failed: bool,
}

impl CellGrid {
    /// The cells of a plan, which all wait.
    pub(super) fn new(plan: &Plan) -> Self {
        let series = plan.series();
        let mut rows: Vec<(&str, VariantRow)> = Vec::new();
        for (at, cell) in plan.cells.iter().enumerate() {
            if rows.last().is_none_or(|(variant, _)| *variant != cell.variant) {
                let name = Some(&cell.variant).filter(|name| *name != DEFAULT_VARIANT);
                let name = name.map_or_else(String::new, shown);
                rows.push((&cell.variant, VariantRow { name, groups: Vec::new() }));
            }
            let group = LevelCells {
                level: cell.level.map_or_else(String::new, |level| level.to_string()),
                marks: vec![CellMark::Waiting; plan.repeats as usize],
                cell: at,
                key: cell_key(plan, cell, 1),
                series: series.iter().position(|s| s.cells.contains(&at)).unwrap_or(0),
            };
            if let Some((_, row)) = rows.last_mut() {
                row.groups.push(group);
            }
        }
        let axis = plan.axis.as_ref().map_or_else(String::new, |axis| shown(&axis.name));
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        Self { axis, rows, grows: plan.effort.is_some(), failed: false }
    }

    /// A phase of this cell begins, in a run of so many repeats. The cell's index in the plan, if it
    /// has it.
    pub(super) fn begins(&mut self, key: &CellKey, repeats: u32) -> Option<usize> {
        let repeat = key.repeat.max(1) as usize - 1;
        let same = |group: &LevelCells| {
            (&group.key.variant, &group.key.level) == (&key.variant, &key.level)
        };
        let found = self.groups().find(|group| same(group))?;
        let (cell, series) = (found.cell, found.series);
        if found.marks.get(repeat) == Some(&CellMark::Running) {
            return Some(cell);
        }
        self.cell_ends();
        let grows = self.grows;
        for group in self.rows.iter_mut().flat_map(|row| &mut row.groups) {
            if grows && group.series == series && group.marks.len() < repeats as usize {
                group.marks.resize(repeats as usize, CellMark::Waiting);
            }
            // A series that is over has the repeats that it got.
            let is_over = |mark: &CellMark| matches!(mark, CellMark::Done | CellMark::Invalid);
            if grows && group.series != series && group.marks.iter().any(is_over) {
                group.marks.retain(|mark| *mark != CellMark::Waiting);
            }
            if group.cell == cell
                && let Some(mark) = group.marks.get_mut(repeat)
            {
                *mark = CellMark::Running;
            }
        }
        Some(cell)
    }

    /// A phase of the running cell is over.
    pub(super) fn phase_ends(&mut self, valid: bool) {
        self.failed |= !valid;
    }

    /// All phases of the running cell are over that the plan has for it. Where precision is asked for,
    /// the run may have more.
    pub(super) fn phases_are_over(&mut self) {
        if !self.grows {
            self.cell_ends();
        }
    }

    fn cell_ends(&mut self) {
        let ended = if self.failed { CellMark::Invalid } else { CellMark::Done };
        let groups = self.rows.iter_mut().flat_map(|row| &mut row.groups);
        for mark in groups.flat_map(|group| &mut group.marks) {
            if *mark == CellMark::Running {
                *mark = ended;
            }
        }
        self.failed = false;
    }

    /// The running cell, by its index in the plan and its repeat from 0.
    pub(super) fn running(&self) -> Option<(usize, usize)> {
        let of_group = |group: &LevelCells| {
            let repeat = group.marks.iter().position(|mark| *mark == CellMark::Running)?;
            Some((group.cell, repeat))
        };
        self.groups().find_map(of_group)
    }

    /// Variants by levels, in the plan's order.
    pub(super) fn groups(&self) -> impl Iterator<Item = &LevelCells> {
        self.rows.iter().flat_map(|row| &row.groups)
    }

    /// How many cells have this mark.
    pub(super) fn count(&self, mark: CellMark) -> usize {
        self.groups().flat_map(|group| &group.marks).filter(|m| **m == mark).count()
    }

    /// How many cells there are.
    pub(super) fn total(&self) -> usize {
        self.groups().map(|group| group.marks.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_cells_are_shown_by_what_matters_most() {
        use CellMark::{Done, Invalid, Partly, Running, Waiting};
        assert_eq!(CellMark::combined(&[Done, Running, Invalid]), Running);
        assert_eq!(CellMark::combined(&[Done, Invalid]), Invalid);
        assert_eq!(CellMark::combined(&[Done, Waiting]), Partly);
        assert_eq!(CellMark::combined(&[Done, Done]), Done);
        assert_eq!(CellMark::combined(&[Waiting]), Waiting);
    }
}
