//! Keeps a run in the store while it grows. What the store does not take stays in memory and is offered to it
//! again, so that nothing measured is lost because of it.

use super::Watcher;
use super::resume::KnownCells;
use crate::base::failure::{Failure, Result};
use crate::results::book::Book;
use crate::results::store::{FinishedCell, Patience, RunGrowth, RunOrigin, Store};

/// A run and what the store has of it.
pub(super) struct Record<'a> {
    store: &'a mut Store,
    /// How the run was begun, if that can be kept.
    origin: Option<RunOrigin>,
    /// Measurements that the store has.
    saved: usize,
    /// Cells that are done, and how many of them the store has.
    cells: Vec<FinishedCell>,
    saved_cells: usize,
    /// Whether the store has all else as it is now.
    is_head_saved: bool,
    /// Whether it did not take what it was offered last.
    is_refused: bool,
}

impl<'a> Record<'a> {
    /// A record of a run that begins or, after cells that are known, goes on. A store that does not take a run that
    /// begins gets a stand-in, which is said, until the end.
    ///
    /// # Errors
    /// If the store does not take what goes on.
    pub(super) fn open(
        store: &'a mut Store,
        book: &Book,
        origin: Option<RunOrigin>,
        known: &KnownCells,
        watcher: &dyn Watcher,
    ) -> Result<Self> {
        let cells: Vec<FinishedCell> = known.cells.iter().cloned().collect();
        match &origin {
            Some(origin) if !book.run.resumed.is_empty() => {
                store.resume_run(book, origin, known.measurements.len())?;
            }
            origin => {
                if let Err(failure) = store.begin_run(book, origin.as_ref()) {
                    *store = Store::stand_in(store.path())?;
                    store.begin_run(book, origin.as_ref())?;
                    watcher.notice(&goes_on(&failure));
                }
            }
        }
        Ok(Self {
            store,
            origin,
            saved: known.measurements.len(),
            saved_cells: cells.len(),
            cells,
            is_head_saved: true,
            is_refused: false,
        })
    }

    /// Gives the run a tag, and says where it was before.
    ///
    /// # Errors
    /// If the store does not take it.
    pub(super) fn tag(&mut self, id: &str, tag: &str, watcher: &dyn Watcher) -> Result<()> {
        if let Some(before) = self.store.tag(id, tag)? {
            watcher.notice(&format!("the tag {tag} was of run {before}, and is of {id} now"));
        }
        Ok(())
    }

    /// Saves that a cell is done.
    pub(super) fn finish(&mut self, cell: FinishedCell, book: &Book, watcher: &dyn Watcher) {
        self.cells.push(cell);
        self.add(book, watcher);
    }

    /// Saves all of a run but its measurements, which changed, and the measurements that are new.
    pub(super) fn update(&mut self, book: &Book, watcher: &dyn Watcher) {
        self.is_head_saved = false;
        self.add(book, watcher);
    }

    /// Saves the measurements that are new, and what was refused before. The first time that something is refused
    /// it is said.
    pub(super) fn add(&mut self, book: &Book, watcher: &dyn Watcher) {
        if watcher.has_given_up() {
            return;
        }
        watcher.grows(book);
        // Nobody waits long before each phase for a store that was waited for once.
        let patience = if self.is_refused { Patience::Short } else { Patience::Long };
        match self.save(book, patience) {
            Ok(()) if self.is_refused => {
                self.is_refused = false;
                watcher.notice("the store takes results again, and has all of them");
            }
            Ok(()) => {}
            Err(failure) if !self.is_refused => {
                self.is_refused = true;
                watcher.notice(&goes_on(&failure));
            }
            Err(_) => {}
        }
    }

    /// Saves what is still to be saved of a run that has ended.
    ///
    /// # Errors
    /// If the store does not take it now either.
    pub(super) fn close(mut self, book: &Book) -> Result<()> {
        self.is_head_saved = false;
        let kept = match self.store.reopened() {
            // Another file is in its place, or none was: all is new to it.
            Ok(Some(other)) => {
                *self.store = other;
                (self.saved, self.saved_cells) = (0, 0);
                let begun = self.store.begin_run(book, self.origin.as_ref());
                begun.and_then(|()| self.save(book, Patience::Long))
            }
            Ok(None) => self.save(book, Patience::Long),
            Err(failure) => {
                self.saved = 0;
                Err(failure)
            }
        };
        kept.map_err(|failure| {
            let (saved, all) = (self.saved, book.measurements.len());
            let left = format!("The store has {saved} of the {all} measurements of this run");
            Failure { sentence: format!("{} {left}", failure.sentence), ..failure }
        })
    }

    fn save(&mut self, book: &Book, patience: Patience) -> Result<()> {
        self.store.wait_for_others(patience)?;
        let growth = RunGrowth {
            // Of what is known from before a resumption, not all may have come by yet.
            measurements: book.measurements.get(self.saved..).unwrap_or_default(),
            cells: &self.cells[self.saved_cells..],
            // It may say that the run is complete.
            head: (!self.is_head_saved).then_some(book),
        };
        self.store.extend_run(&book.run.id, growth)?;
        self.saved = self.saved.max(book.measurements.len());
        (self.saved_cells, self.is_head_saved) = (self.cells.len(), true);
        Ok(())
    }
}

/// That a run goes on without its store.
pub(crate) fn goes_on(failure: &Failure) -> String {
    let unkept = "Measuring goes on, with results in memory until it takes them or the run ends";
    format!("{} {unkept}", failure.sentence)
}
