//! Keeps a run in the store while it grows. What the store does not take stays in memory and is offered to it
//! again, so that nothing measured is lost because of it.

use super::Watcher;
use crate::base::failure::{Failure, Result};
use crate::results::book::Book;
use crate::results::store::{Patience, Store};

/// A run and what the store has of it.
pub(super) struct Record<'a> {
    store: &'a mut Store,
    /// Measurements that the store has.
    saved: usize,
    /// Whether the store has all else as it is now.
    is_head_saved: bool,
    /// Whether it did not take what it was offered last.
    is_refused: bool,
}

impl<'a> Record<'a> {
    /// A record of a run that begins.
    ///
    /// # Errors
    /// If the store does not take it.
    pub(super) fn begin(store: &'a mut Store, book: &Book) -> Result<Self> {
        store.begin_run(book)?;
        Ok(Self { store, saved: 0, is_head_saved: true, is_refused: false })
    }

    /// Saves all of a run but its measurements, which changed, and the measurements that are new.
    pub(super) fn update(&mut self, book: &Book, watcher: &dyn Watcher) {
        self.is_head_saved = false;
        self.add(book, watcher);
    }

    /// Saves the measurements that are new, and what was refused before. The first time that something is refused
    /// it is said.
    pub(super) fn add(&mut self, book: &Book, watcher: &dyn Watcher) {
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
                let goes_on = "Measuring goes on; it will be tried again";
                watcher.notice(&format!("{} {goes_on}", failure.sentence));
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
        let kept = match self.store.reopened()? {
            // Another file is in its place, or none was: all is new to it.
            Some(mut other) => other.import(book),
            None => self.save(book, Patience::Long),
        };
        kept.map_err(|failure| {
            let (saved, all) = (self.saved, book.measurements.len());
            let left = format!("The store has {saved} of the {all} measurements of this run");
            Failure { sentence: format!("{} {left}", failure.sentence), ..failure }
        })
    }

    fn save(&mut self, book: &Book, patience: Patience) -> Result<()> {
        self.store.wait_for_others(patience)?;
        for measurement in &book.measurements[self.saved..] {
            self.store.add_measurement(&book.run.id, measurement)?;
            self.saved += 1;
        }
        // It may say that the run is complete.
        if !self.is_head_saved {
            self.store.update_run(book)?;
            self.is_head_saved = true;
        }
        Ok(())
    }
}
