//! Keeps a run and its tag in the store while it grows. What the store refuses stays in memory, is offered again with each
//! addition and at the end, and is reported if it is refused then too.

use super::resume::KnownCells;
use super::{Watcher, tag_moved};
use boatload_base::failure::{Failure, Result};
use boatload_results::book::Book;
use boatload_results::store::{FinishedCell, Patience, RunGrowth, RunOrigin, Store};

/// A run and what the store has of it.
pub(super) struct Record<'a> {
    store: &'a mut Store,
    /// How the run was begun, if that can be kept.
    origin: Option<RunOrigin>,
    /// The tag that the run is to have, and whether the store has given it.
    tag: Option<&'a str>,
    is_tagged: bool,
    /// Measurements that the store has.
    saved: usize,
    /// Cells that are done, and how many of them the store has.
    cells: Vec<FinishedCell>,
    saved_cells: usize,
    /// Whether the store has the current state of the rest of the run.
    is_head_saved: bool,
    /// Whether it did not take what it was offered last.
    is_refused: bool,
}

/// How a run that has ended was stored.
pub(super) struct RecordEnd {
    /// Whether the store has all of it.
    pub(super) kept: Result<()>,
    /// Whether a run that it has has its tag too.
    pub(super) tagged: Result<()>,
}

impl<'a> Record<'a> {
    /// A record of a run that begins or, after cells that are known, continues. A store that does not take a run that
    /// begins gets a stand-in, which is said, until the end. A tag that it does not take is tried again then.
    ///
    /// # Errors
    /// If the store does not take a run that continues.
    pub(super) fn open(
        store: &'a mut Store,
        book: &Book,
        origin: Option<RunOrigin>,
        tag: Option<&'a str>,
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
                    let Some(path) = store.path() else { return Err(failure) };
                    *store = Store::stand_in(path)?;
                    store.begin_run(book, origin.as_ref())?;
                    watcher.notice(&continues_without_store(&failure));
                }
            }
        }
        let mut record = Self {
            store,
            origin,
            tag,
            is_tagged: false,
            saved: known.measurements.len(),
            saved_cells: cells.len(),
            cells,
            is_head_saved: true,
            is_refused: false,
        };
        if let Err(failure) = record.give_tag(&book.run.id, watcher) {
            let again = "Measuring continues, and the tag is tried again at the end";
            watcher.notice(&format!("{} {again}", failure.sentence));
        }
        Ok(record)
    }

    /// Gives the run its tag if it has none yet, and says where that was before.
    ///
    /// # Errors
    /// If the store does not take it.
    fn give_tag(&mut self, id: &str, watcher: &dyn Watcher) -> Result<()> {
        let Some(tag) = self.tag.filter(|_| !self.is_tagged) else { return Ok(()) };
        let before = self.store.tag(id, tag).map_err(|failure| {
            let sentence = format!("run {id} did not get the tag {tag}: {}", failure.sentence);
            Failure { sentence, ..failure }
        })?;
        self.is_tagged = true;
        before.iter().for_each(|before| watcher.notice(&tag_moved(tag, before, id)));
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
                watcher.notice(&continues_without_store(&failure));
            }
            Err(_) => {}
        }
    }

    /// Saves what is still to be saved of a run that has ended, if the store takes it now.
    pub(super) fn close(mut self, book: &Book, watcher: &dyn Watcher) -> RecordEnd {
        let kept = self.save_all(book);
        let tagged = match kept {
            Ok(()) => self.give_tag(&book.run.id, watcher),
            Err(_) => Ok(()),
        };
        RecordEnd { kept: kept.map_err(|failure| self.lacks(book, &failure)), tagged }
    }

    fn save_all(&mut self, book: &Book) -> Result<()> {
        self.is_head_saved = false;
        let reopened = self.store.reopened();
        if !matches!(reopened, Ok(None)) {
            // Another file is in its place, or none is: all is new to it.
            (self.saved, self.saved_cells, self.is_tagged) = (0, 0, false);
        }
        if let Some(other) = reopened? {
            *self.store = other;
            self.store.begin_run(book, self.origin.as_ref())?;
        }
        self.save(book, Patience::Long)
    }

    /// Why the store lacks some of a run, with what it has of it.
    fn lacks(&self, book: &Book, failure: &Failure) -> Failure {
        let (saved, all) = (self.saved, book.measurements.len());
        let mut left = format!("The store has {saved} of the {all} measurements of this run");
        if let Some(tag) = self.tag.filter(|_| !self.is_tagged) {
            left += &format!(", which did not get the tag {tag}");
        }
        Failure { sentence: format!("{} {left}", failure.sentence), ..failure.clone() }
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

/// Says that a run continues without its store.
pub fn continues_without_store(failure: &Failure) -> String {
    let unkept = "Measuring continues, with results in memory until it takes them or the run ends";
    format!("{} {unkept}", failure.sentence)
}
