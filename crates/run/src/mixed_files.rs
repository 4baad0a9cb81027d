//! Keeps which files of a mix exist, and in which directory each is. Each worker makes files of its own: those whose
//! numbers leave its own number when they are divided by the number of workers. They are counted as its slots. A file
//! that a turn makes, moves or removes is in that turn's hand until it ends: no other turn takes it meanwhile.

use std::sync::{Mutex, PoisonError};

use boatload_base::live_set::LiveSet;
use boatload_base::random::{below, mix};
use boatload_op::ItemId;
use boatload_plan::mix::{Mix, Work, WorkOrder};
use boatload_plan::{Phase, Tree};

/// Draws for one file before the next one in turn is taken: of files that are a tenth of what there could be, one
/// in thirty turns has none by then.
const TRIES: u64 = 32;

/// The files of all workers.
pub struct MixedFiles {
    /// One for each worker; where a worker has its own to itself, it takes it out.
    pub(crate) of_workers: Vec<Mutex<WorkerFiles>>,
    pub(crate) is_shared: bool,
}

/// What a new file can have.
pub(crate) enum Room {
    /// A number that no file has.
    Free(ItemId),
    /// The oldest file, which must go first.
    Taken(ItemId),
}

/// The files of one worker.
#[derive(Default)]
pub(crate) struct WorkerFiles {
    /// Those that are in nobody's hand, by their directory; in one set where none is moved to another.
    live: Vec<LiveSet>,
    /// Those that exist or are in some hand; `None` where a worker without a file in hand takes the next.
    used: Option<LiveSet>,
    slots: u64,
    /// The slot from which on the next new file is made.
    cursor: u64,
    /// The worker, and how many there are.
    worker: u64,
    workers: u64,
    /// The directory of files that were not moved.
    home: u8,
}

impl MixedFiles {
    /// The files that are there before a phase.
    pub fn new(phase: &Phase, mix: &Mix, tree: &Tree) -> Self {
        let workers = u64::from(phase.threads.max(1));
        let (home, is_shared) = (tree.home(), mix.is_shared());
        let sets = if mix.moves_between_directories(home) { tree.holders() } else { 1 };
        // A chain that fails may leave a file under a name that nobody remembers: its number is not free again.
        let keeps_used = is_shared || sets > 1 || mix.works.iter().any(Work::is_chain);
        let of_worker = |worker: u64| {
            let slots = (tree.capacity() + workers - 1 - worker) / workers;
            let mut there = LiveSet::empty(slots);
            let is_there = |slot: &u64| phase.selection.contains(slot * workers + worker);
            (0..slots).filter(is_there).for_each(|slot| _ = there.insert(slot));
            let cursor = last_of(&there).map_or(0, |last| (last + 1) % slots.max(1));
            let used = keeps_used.then(|| there.clone());
            let mut live: Vec<_> = (1..sets).map(|_| LiveSet::empty(slots)).collect();
            live.insert(if sets > 1 { usize::from(home) } else { 0 }, there);
            Mutex::new(WorkerFiles { live, used, slots, cursor, worker, workers, home })
        };
        Self { of_workers: (0..workers).map(of_worker).collect(), is_shared }
    }

    /// Does something with the files of a worker.
    pub(crate) fn with<T>(&self, worker: u64, act: impl FnOnce(&mut WorkerFiles) -> T) -> T {
        let files = &self.of_workers[(worker % self.of_workers.len() as u64) as usize];
        act(&mut files.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl WorkerFiles {
    /// One of its files, in a directory or in any.
    #[inline]
    pub(crate) fn file(
        &self,
        order: WorkOrder,
        directory: Option<u8>,
        bits: u64,
    ) -> Option<ItemId> {
        let sets = self.sets(directory);
        let is_there = |slot: &u64| sets.iter().any(|set| set.contains(*slot));
        let next_from = |from| {
            let after = |slot: &u64| (slot + self.slots - from) % self.slots;
            sets.iter().filter_map(|set| set.next_from(from, true)).min_by_key(after)
        };
        if sets.iter().all(|set| set.count() == 0) {
            return None;
        }
        let slot = match order {
            WorkOrder::Oldest => next_from(self.cursor)?,
            WorkOrder::Random => {
                let places = (0..TRIES).map(|try_number| below(mix(bits ^ try_number), self.slots));
                let mut last = 0;
                let found = places.inspect(|place| last = *place).find(is_there);
                found.or_else(|| next_from(last))?
            }
        };
        Some(self.place(slot))
    }

    /// The sets of a directory, or of all.
    fn sets(&self, directory: Option<u8>) -> &[LiveSet] {
        match directory.map(usize::from) {
            Some(at) if self.live.len() > 1 => &self.live[at..=at],
            _ => &self.live,
        }
    }

    /// How many it has that are in nobody's hand.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.live.iter().map(LiveSet::count).sum()
    }

    /// Where a file is that is in nobody's hand.
    #[cfg(test)]
    pub(crate) fn known(&self, file: ItemId) -> Option<ItemId> {
        let slot = self.slot(file);
        self.live.iter().any(|set| set.contains(slot)).then(|| self.place(slot))
    }

    /// Whether the number of a file is free for a new one.
    #[cfg(test)]
    pub(crate) fn is_free(&self, file: ItemId) -> bool {
        self.used.as_ref().is_some_and(|used| !used.contains(self.slot(file)))
    }

    /// Room for a new file, which then is in hand; `None` if all files are in the hands of others. Both are looked for at
    /// once, or others might take all files between.
    #[inline]
    pub(crate) fn room(&mut self) -> Option<Room> {
        if let Some(file) = self.new_file() {
            return Some(Room::Free(file));
        }
        let oldest = self.file(WorkOrder::Oldest, None, 0)?;
        self.take(oldest);
        Some(Room::Taken(oldest))
    }

    /// A number for a new file, which then is in hand; `None` if there is no room.
    #[inline]
    fn new_file(&mut self) -> Option<ItemId> {
        let slot = match &mut self.used {
            None => self.live[0].next_from(self.cursor, false)?,
            Some(used) => {
                let slot = used.next_from(self.cursor, false)?;
                used.insert(slot);
                slot
            }
        };
        self.cursor = (slot + 1) % self.slots;
        Some(ItemId::file(slot * self.workers + self.worker))
    }

    /// Takes a file in hand.
    #[inline]
    pub(crate) fn take(&mut self, file: ItemId) {
        if self.used.is_some() {
            let slot = self.slot(file);
            self.live.iter_mut().for_each(|set| _ = set.remove(slot));
        }
    }

    /// A file that was in hand is there now.
    #[inline]
    pub(crate) fn put(&mut self, file: ItemId) {
        let slot = self.slot(file);
        let set = match file {
            ItemId::File { directory, .. } if self.live.len() > 1 => directory.unwrap_or(self.home),
            _ => 0,
        };
        self.live[usize::from(set)].insert(slot);
    }

    /// A file that was in hand is nowhere any more.
    #[inline]
    pub(crate) fn remove(&mut self, file: ItemId) {
        let slot = self.slot(file);
        self.leave_alone(file);
        self.used.iter_mut().for_each(|used| _ = used.remove(slot));
    }

    /// No turn takes the file any more that was in hand.
    pub(crate) fn leave_alone(&mut self, file: ItemId) {
        let slot = self.slot(file);
        self.live.iter_mut().for_each(|set| _ = set.remove(slot));
    }

    #[inline]
    fn slot(&self, file: ItemId) -> u64 {
        (file.number() - self.worker) / self.workers
    }

    fn place(&self, slot: u64) -> ItemId {
        let file = ItemId::file(slot * self.workers + self.worker);
        let at = self.live.iter().position(|set| set.contains(slot));
        match at.filter(|_| self.live.len() > 1).and_then(|at| u8::try_from(at).ok()) {
            Some(directory) => file.moved(directory),
            None => file,
        }
    }
}

/// The last number of a set.
fn last_of(set: &LiveSet) -> Option<u64> {
    let words = set.words().iter().enumerate().rev();
    let (at, word) = words.into_iter().find(|(_, word)| **word != 0)?;
    Some(at as u64 * 64 + u64::from(u64::BITS - 1 - word.leading_zeros()))
}
