//! Draws the turns of a mix. Each worker has files of its own: those whose numbers leave its own number when they
//! are divided by the number of workers. So no worker meets a file that another one has just deleted, and what a
//! worker does follows from the seed alone, as long as all goes well.

use super::drive::WorkTally;
use super::turns::{Turn, TurnSource};
use boatload_base::errno::Errno;
use boatload_base::live_set::LiveSet;
use boatload_base::random::{Stream, below, draw, mix, unit};
use boatload_op::request::RequestError;
use boatload_op::{Effect, Operation, OperationProgress, RequestKind, Target, find_operation};
use boatload_plan::mix::{Mix, Pace, Spacing, WorkOrder, WorkShare};
use boatload_plan::phase::WorkTargets;
use boatload_plan::{Phase, Tree};

/// Draws for one file before the next one in turn is taken: of files that are a tenth of what there could be, one
/// in thirty turns has none by then.
const TRIES: u64 = 32;

/// What a turn draws.
#[derive(Clone, Copy)]
enum Drawn {
    Work,
    File,
    Gap,
}

/// A work as a worker does it.
struct WorkInTurns<'a> {
    operation: &'static Operation,
    targets: WorkTargets<'a>,
    order: WorkOrder,
    /// The sum of the weights up to its own.
    weights_end: u64,
    tally: WorkTally,
}

/// When turns are due.
struct Timetable {
    /// Mean time from one turn of the worker to its next, in nanoseconds.
    gap_ns: f64,
    spacing: Spacing,
    /// When the next turn is due, in nanoseconds since the phase began.
    next_ns: f64,
}

/// The turns of one worker in a mix.
pub struct MixedTurns<'a> {
    works: Vec<WorkInTurns<'a>>,
    weights: u64,
    /// The only work of this worker, where works have workers of their own.
    only: Option<usize>,
    /// The work that makes files.
    creates: Option<usize>,
    /// What makes room where there is none.
    delete: Option<&'static Operation>,
    worker: u64,
    workers: u64,
    /// Its files that exist, by their place among its numbers.
    live: LiveSet,
    slots: u64,
    /// The place from which on the next new file is made.
    cursor: u64,
    timetable: Option<Timetable>,
    turn: u64,
    turns_max: u64,
    seed: u64,
    evictions: u64,
    /// Files that were made, less those that were removed.
    entries_change: i64,
}

/// What a worker did in a mix, work by work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MixTally {
    /// Of each work, in their order.
    pub works: Vec<WorkTally>,
    /// Files that were removed to make room for others.
    pub evictions: u64,
    /// Files that were made, less those that were removed.
    pub entries_change: i64,
}

impl MixTally {
    /// With what another worker did.
    #[must_use]
    pub fn plus(self, other: &Self) -> Self {
        let mut works = self.works;
        works.resize_with(other.works.len().max(works.len()), WorkTally::default);
        let both = works.into_iter().zip(&other.works);
        Self {
            works: both.map(|(own, other)| own.plus(other)).collect(),
            evictions: self.evictions + other.evictions,
            entries_change: self.entries_change + other.entries_change,
        }
    }
}

impl<'a> MixedTurns<'a> {
    /// The turns of one worker in a phase of several works.
    pub fn new(phase: &'a Phase, works: &'a Mix, tree: &'a Tree, worker: u32) -> Self {
        let (number, workers) = (u64::from(worker), u64::from(phase.threads.max(1)));
        let slots = (tree.capacity() + workers - 1 - number) / workers;
        let mut live = LiveSet::empty(slots);
        let is_there = |slot: &u64| phase.selection.contains(slot * workers + number);
        (0..slots).filter(is_there).for_each(|slot| _ = live.insert(slot));
        let mut weights_end = 0;
        let in_turns = works.works.iter().map(|work| {
            if let WorkShare::Weight(weight) = work.share {
                weights_end += u64::from(weight);
            }
            WorkInTurns {
                operation: work.operation,
                targets: WorkTargets::new(phase, tree, work),
                order: work.order,
                weights_end,
                tally: WorkTally::default(),
            }
        });
        let seed = draw(tree.seed, Stream::Turn, mix(works.salt) ^ number);
        let of_worker = |pace| Timetable::new(pace, number, workers);
        let mut turns = Self {
            works: in_turns.collect(),
            weights: works.weights(),
            only: works.work_of(worker),
            creates: works.creates(),
            delete: find_operation("delete"),
            worker: number,
            workers,
            cursor: last_of(&live).map_or(0, |last| (last + 1) % slots.max(1)),
            live,
            slots,
            timetable: works.pace.map(of_worker),
            turn: 0,
            turns_max: phase.turns_max(worker),
            seed,
            evictions: 0,
            entries_change: 0,
        };
        turns.begin_timetable();
        turns
    }

    /// What the worker did.
    pub fn into_tally(self) -> MixTally {
        MixTally {
            works: self.works.into_iter().map(|work| work.tally).collect(),
            evictions: self.evictions,
            entries_change: self.entries_change,
        }
    }

    /// The random bits for one thing in the turn that is next.
    #[inline]
    fn drawn(&self, what: Drawn) -> u64 {
        draw(self.seed, Stream::Turn, self.turn << 2 | what as u64)
    }

    /// The work whose turn it is; without a file to work on, the one that makes some. `None` without both.
    #[inline]
    fn next_work(&self) -> Option<usize> {
        let work = self.only.unwrap_or_else(|| {
            let bits = below(self.drawn(Drawn::Work), self.weights);
            self.works.iter().position(|work| bits < work.weights_end).unwrap_or(0)
        });
        match self.works[work].operation.effect {
            Effect::AddsEntry => Some(work),
            Effect::RemovesEntry | Effect::KeepsTree if self.live.count() > 0 => Some(work),
            Effect::RemovesEntry | Effect::KeepsTree => self.creates,
        }
    }

    /// One of the worker's files.
    #[inline]
    fn file(&self, order: WorkOrder) -> Option<u64> {
        match order {
            WorkOrder::Oldest => self.live.next_from(self.cursor, true),
            WorkOrder::Random => {
                let bits = self.drawn(Drawn::File);
                let places = (0..TRIES).map(|try_number| below(mix(bits ^ try_number), self.slots));
                let mut last = 0;
                let found =
                    places.inspect(|place| last = *place).find(|at| self.live.contains(*at));
                found.or_else(|| self.live.next_from(last, true))
            }
        }
    }

    #[inline]
    fn target(&self, work: usize, slot: u64) -> Target {
        self.works[work].targets.target(slot * self.workers + self.worker, self.turn)
    }

    #[inline]
    fn slot(&self, target: &Target) -> u64 {
        (target.place.number() - self.worker) / self.workers
    }

    /// The removal of the oldest file, for there is no room for another.
    fn eviction(&self, creates: usize) -> Option<Turn> {
        let target = self.target(creates, self.file(WorkOrder::Oldest)?);
        Some(Turn { work: None, target, due_ns: None })
    }

    fn begin_timetable(&mut self) {
        let first = self.gap();
        if let Some(timetable) = self.timetable.as_mut().filter(|t| t.spacing == Spacing::Poisson) {
            timetable.next_ns = first;
        }
    }

    /// The time from the turn that is next to the one after it, in nanoseconds.
    fn gap(&self) -> f64 {
        let Some(timetable) = &self.timetable else { return 0.0 };
        match timetable.spacing {
            Spacing::Constant => timetable.gap_ns,
            Spacing::Poisson => -timetable.gap_ns * (1.0 - unit(self.drawn(Drawn::Gap))).ln(),
        }
    }
}

impl Timetable {
    /// Workers begin one after the other, so that their turns lie between each other.
    fn new(pace: Pace, worker: u64, workers: u64) -> Self {
        let between_ns = 1e9 / pace.turns_per_second;
        let (gap_ns, next_ns) = (between_ns * workers as f64, between_ns * worker as f64);
        Self { gap_ns, spacing: pace.spacing, next_ns }
    }
}

/// The last number of a set.
fn last_of(set: &LiveSet) -> Option<u64> {
    let words = set.words().iter().enumerate().rev();
    let (at, word) = words.into_iter().find(|(_, word)| **word != 0)?;
    Some(at as u64 * 64 + u64::from(u64::BITS - 1 - word.leading_zeros()))
}

impl TurnSource for MixedTurns<'_> {
    const HAS_WORKS: bool = true;

    #[inline]
    fn next(&mut self) -> Option<Turn> {
        if self.turn == self.turns_max {
            return None;
        }
        let work = self.next_work()?;
        let slot = match self.works[work].operation.effect {
            Effect::AddsEntry => match self.live.next_from(self.cursor, false) {
                Some(free) => free,
                None => return self.eviction(work),
            },
            Effect::RemovesEntry | Effect::KeepsTree => self.file(self.works[work].order)?,
        };
        let target = self.target(work, slot);
        self.turn += 1;
        let gap_ns = self.gap();
        let due_ns = self.timetable.as_mut().map(|timetable| {
            let due_ns = timetable.next_ns;
            timetable.next_ns += gap_ns;
            due_ns as u64
        });
        Some(Turn { work: Some(work), target, due_ns })
    }

    #[inline]
    fn operation(&self, turn: &Turn) -> &'static Operation {
        let of_work = turn.work.map(|work| self.works[work].operation);
        of_work.or(self.delete).unwrap_or(self.works[0].operation)
    }

    fn ended(&mut self, turn: &Turn, progress: &OperationProgress) {
        let (slot, failed) = (self.slot(&turn.target), progress.failed);
        let Some(work) = turn.work else {
            // One that cannot be removed is left alone, or its worker would try nothing else.
            self.live.remove(slot);
            self.evictions += u64::from(failed.is_none());
            self.entries_change -= i64::from(failed.is_none());
            return;
        };
        let WorkInTurns { operation, tally, .. } = &mut self.works[work];
        tally.count(&turn.target, progress);
        match operation.effect {
            Effect::AddsEntry => {
                self.cursor = (slot + 1) % self.slots;
                if failed.is_none_or(leaves_file) {
                    self.live.insert(slot);
                }
                self.entries_change += i64::from(failed.is_none());
            }
            Effect::RemovesEntry => {
                if failed.is_none_or(|error| error.errno == Errno::ENOENT) {
                    self.live.remove(slot);
                }
                self.entries_change -= i64::from(failed.is_none());
            }
            Effect::KeepsTree => {}
        }
    }
}

/// Whether there is a file although its creation failed.
fn leaves_file(error: RequestError) -> bool {
    error.kind != RequestKind::Open || error.errno == Errno::EEXIST
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::{CellPlan, Settings, read_job};
    use std::collections::BTreeSet;

    fn cell(tree: &str, phase: &str, works: &[&str]) -> CellPlan {
        let works: Vec<String> =
            works.iter().map(|work| format!("[[phase.work]]\n{work}\n")).collect();
        let job = format!(
            "name = 'x'\n[tree]\n{tree}\n[[phase]]\noperation = 'create'\n[[phase]]\nname = 'm'\n\
             {phase}\n{}",
            works.concat()
        );
        read_job(&job, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("x"))).cells
            [0]
        .clone()
    }

    fn turns(cell: &CellPlan, worker: u32) -> MixedTurns<'_> {
        let phase = &cell.phases[1];
        MixedTurns::new(phase, phase.mix.as_ref().unwrap(), &cell.tree, worker)
    }

    fn failed(kind: RequestKind, errno: Errno) -> OperationProgress {
        let failed = Some(RequestError { kind, errno });
        OperationProgress { failed, ..OperationProgress::default() }
    }

    const CREATE: &str = "operation = 'create'\nweight = 3";
    const DELETE: &str = "operation = 'delete'\nweight = 1";
    const OLDEST: &str = "operation = 'delete'\nweight = 1\norder = 'oldest'";
    const READ: &str = "operation = 'read'\nweight = 6";

    #[test]
    fn files_are_used_only_while_they_exist_and_never_more_than_there_is_room_for() {
        for delete in [DELETE, OLDEST] {
            let tree = "files = 50\nfiles_max = 80";
            let cell = cell(tree, "count = 20_000\nthreads = 3", &[CREATE, READ, delete]);
            let mut live: BTreeSet<u64> = (0..50).collect();
            let mut workers: Vec<_> = (0..3).map(|worker| turns(&cell, worker)).collect();
            let mut is_going = true;
            while is_going {
                is_going = false;
                for (number, worker) in workers.iter_mut().enumerate() {
                    let Some(turn) = worker.next() else { continue };
                    is_going = true;
                    let file = turn.target.place.number();
                    assert_eq!(file % 3, number as u64, "a file of another worker");
                    match turn.work {
                        Some(0) => assert!(live.insert(file), "{file} is there already"),
                        Some(1) => assert!(live.contains(&file), "{file} is not there"),
                        _ => assert!(live.remove(&file), "{file} is not there"),
                    }
                    assert!(file < 80 && live.len() <= 80);
                    worker.ended(&turn, &OperationProgress::default());
                }
            }
            let tallies: Vec<MixTally> = workers.into_iter().map(MixedTurns::into_tally).collect();
            let all = tallies.iter().fold(MixTally::default(), |all, one| all.plus(one));
            assert_eq!(all.works.iter().map(|work| work.operations).sum::<u64>(), 20_000);
            assert!(all.evictions > 1_000, "{}", all.evictions);
            assert_eq!(50 + all.entries_change, live.len() as i64);
        }
    }

    #[test]
    fn the_oldest_file_is_the_one_that_was_made_first() {
        let cell = cell("files = 4\nfiles_max = 7", "count = 1_000", &[CREATE, OLDEST]);
        let (mut ages, mut turns) = (Vec::from([0, 1, 2, 3]), turns(&cell, 0));
        while let Some(turn) = turns.next() {
            let file = turn.target.place.number();
            match turn.work {
                Some(0) => ages.push(file),
                _ => assert_eq!(file, ages.remove(0)),
            }
            turns.ended(&turn, &OperationProgress::default());
        }
    }

    #[test]
    fn the_same_worker_of_the_same_seed_has_the_same_turns_and_writes_nothing_twice() {
        let tree = "files = 40\nsize = { uniform = { min = 1, max = 1_000_000 } }";
        let cell = cell(tree, "count = 5_000\nthreads = 2", &[CREATE, READ, DELETE]);
        let all = |worker| {
            let mut source = turns(&cell, worker);
            let next = || {
                let turn = source.next()?;
                source.ended(&turn, &OperationProgress::default());
                Some(turn)
            };
            std::iter::from_fn(next).collect::<Vec<Turn>>()
        };
        assert_eq!(all(0), all(0));
        let written: Vec<_> = all(0).into_iter().filter(|turn| turn.work == Some(0)).collect();
        let contents: BTreeSet<_> =
            written.iter().map(|turn| (turn.target.place.number(), turn.target.version)).collect();
        assert_eq!(contents.len(), written.len());
    }

    #[test]
    fn a_creation_that_failed_leaves_a_file_only_where_it_had_opened_it() {
        let cell = cell("files = 1\nfiles_max = 10", "count = 100", &[CREATE]);
        for (kind, errno, exists) in [
            (RequestKind::Open, Errno::ENOSPC, false),
            (RequestKind::Open, Errno::EEXIST, true),
            (RequestKind::Write, Errno::ENOSPC, true),
        ] {
            let mut turns = turns(&cell, 0);
            let turn = turns.next().unwrap();
            turns.ended(&turn, &failed(kind, errno));
            assert_eq!(turns.live.contains(turn.target.place.number()), exists, "{kind} {errno}");
            assert_ne!(
                turns.next().unwrap().target.place,
                turn.target.place,
                "the next turn takes another file"
            );
            assert_eq!(turns.into_tally().entries_change, 0);
        }
    }

    #[test]
    fn a_file_that_cannot_be_removed_does_not_keep_its_worker_from_others() {
        let cell = cell("files = 4\nfiles_max = 4", "count = 4", &[CREATE]);
        let mut turns = turns(&cell, 0);
        let mut evictions = 0;
        while let Some(turn) = turns.next() {
            evictions += u64::from(turn.work.is_none());
            let progress = match turn.work {
                None => failed(RequestKind::Unlink, Errno::EACCES),
                Some(_) => OperationProgress::default(),
            };
            turns.ended(&turn, &progress);
        }
        assert_eq!((evictions, turns.into_tally().evictions), (4, 0));
    }

    #[test]
    fn turns_at_a_rate_lie_between_those_of_other_workers_or_at_random_with_the_same_mean() {
        let due = |keys: &str, worker| {
            let cell = cell("files = 40", &format!("count = 20_000\n{keys}"), &[READ]);
            let mut source = turns(&cell, worker);
            std::iter::from_fn(|| source.next()?.due_ns).collect::<Vec<u64>>()
        };
        let constant = "threads = 4\nrate = 1_000";
        assert_eq!(due(constant, 0)[..3], [0, 4_000_000, 8_000_000]);
        assert_eq!(due(constant, 3)[..2], [3_000_000, 7_000_000]);
        let random = due(&format!("{constant}\npace = 'poisson'"), 1);
        let mean = *random.last().unwrap() as f64 / random.len() as f64;
        assert!((mean / 4e6 - 1.0).abs() < 0.06, "{mean}");
        let gaps: Vec<f64> = random.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let longer = gaps.iter().filter(|gap| **gap > 4e6).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1f64).exp()).abs() < 0.03, "{longer} of the gaps are above the mean");
    }
}
