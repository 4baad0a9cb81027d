//! Brings places to their levels: from the level before, or by restoring a state that was kept.

use super::{Session, cell_key, none_left};
use boatload_base::failure::Result;
use boatload_results::book::CellKey;
use boatload_run::ballast::Headway;

/// A place that was brought to the level of a cell, by one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PreparedPlace {
    /// The index of the cell.
    cell: usize,
    /// The history, from 0.
    history: u32,
}

impl Session<'_> {
    /// Brings the place to the cell's level, from the level before of the same variant and history. A
    /// place that is restored is not touched, but its state is there afterwards.
    pub(super) fn prepare(&mut self, index: usize, key: &CellKey) -> Result<()> {
        let plan = self.plan;
        let cell = &plan.cells[index];
        let wanted = PreparedPlace { cell: index, history: plan.history(cell, key.repeat) };
        let (is_restored, history) = (plan.restores(cell), wanted.history);
        let is_same_place = |before: &PreparedPlace| {
            !is_restored
                && plan.cells[before.cell].variant == cell.variant
                && before.history == history
        };
        if let Some(before) = self.prepared.filter(|before| !is_same_place(before)) {
            self.remove_ballast(before)?;
            self.prepared = None;
        }
        if is_restored {
            return if self.kept.contains(&wanted) {
                Ok(())
            } else {
                self.keep_levels(wanted, key)
            };
        }
        if cell.prepare.is_none() || self.prepared == Some(wanted) {
            return Ok(());
        }
        // A level is reached through those before it, also where these were measured before the run was resumed.
        let levels = plan.levels_of(&cell.variant);
        let place_of = |index: usize| levels.iter().position(|at| *at == index);
        let from = self.prepared.and_then(|before| place_of(before.cell)).map_or(0, |at| at + 1);
        let until = place_of(index).map_or(0, |at| at + 1);
        for at in levels.get(from..until).unwrap_or_default() {
            let place = PreparedPlace { cell: *at, ..wanted };
            self.bring(
                place,
                &CellKey { repeat: key.repeat, ..cell_key(plan, &plan.cells[*at], 1) },
            )?;
            self.prepared = Some(place);
            if self.interrupt.is_set() {
                break;
            }
        }
        Ok(())
    }

    /// Restores the place of a cell, if that is how it is prepared.
    pub(super) fn restore(&mut self, index: usize, key: &CellKey) -> Result<()> {
        let plan = self.plan;
        let cell = &plan.cells[index];
        if !plan.restores(cell) {
            return Ok(());
        }
        self.watcher.status("restoring the prepared file system");
        let place = PreparedPlace { cell: index, history: plan.history(cell, key.repeat) };
        let (number, stop) = (self.number_of(place), self.interrupt.flag());
        self.sites.for_cell(cell)?.restore_state(cell, number, stop)
    }

    /// Removes what a place was brought to.
    fn remove_ballast(&mut self, place: PreparedPlace) -> Result<()> {
        let removal = self.sites.for_cell(&self.plan.cells[place.cell])?.remove_ballast();
        none_left(&removal, "the files beside a tree")
    }

    /// Prepares the place for the next level.
    fn bring(&mut self, place: PreparedPlace, key: &CellKey) -> Result<()> {
        let cell = &self.plan.cells[place.cell];
        let Some(prepare) = &cell.prepare else { return Ok(()) };
        let listener = |headway: &Headway| self.watcher.prepares(key, headway);
        listener(&Headway::Share(0.0));
        let (prepare, stop) = (prepare.of_history(place.history), self.interrupt.flag());
        self.sites.for_cell(cell)?.prepare(cell, &prepare, stop, &listener)
    }

    /// Brings the place of a variant to all of its levels and keeps each.
    fn keep_levels(&mut self, first: PreparedPlace, key: &CellKey) -> Result<()> {
        let plan = self.plan;
        let cell = &plan.cells[first.cell];
        self.forget_done(cell.variant.as_str(), key.repeat)?;
        for at in plan.levels_of(&cell.variant) {
            let place = PreparedPlace { cell: at, ..first };
            self.bring(place, &cell_key(plan, &plan.cells[at], key.repeat))?;
            if self.interrupt.is_set() {
                return Ok(());
            }
            self.watcher.status("keeping the prepared file system as an image");
            let (number, stop) = (self.number_of(place), self.interrupt.flag());
            let read = plan.ballast_reads(&plan.cells[at]);
            self.sites.for_cell(cell)?.keep_state(number, read.as_deref(), stop)?;
            self.kept.insert(place);
        }
        self.remove_ballast(first)
    }

    /// Lets go of states of a variant that no repeat from this one on needs.
    fn forget_done(&mut self, variant: &str, repeat: u32) -> Result<()> {
        let plan = self.plan;
        let is_done = |place: &PreparedPlace| {
            let cell = &plan.cells[place.cell];
            cell.variant == variant && plan.last_repeat(cell, place.history) < repeat
        };
        let done: Vec<PreparedPlace> = self.kept.iter().copied().filter(is_done).collect();
        for place in done {
            let number = self.number_of(place);
            self.sites.for_cell(&plan.cells[place.cell])?.forget_state(number)?;
            self.kept.remove(&place);
        }
        Ok(())
    }

    fn number_of(&self, place: PreparedPlace) -> u64 {
        u64::from(place.history) * self.plan.cells.len() as u64 + place.cell as u64
    }
}
