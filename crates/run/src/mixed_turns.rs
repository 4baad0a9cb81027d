//! Draws the turns of a mix. By default each worker takes files that it made itself: so no worker meets a file that
//! another one has just deleted, and what a worker does follows from the seed alone, as long as all goes well. A work
//! on the files of all workers may find a file gone, which is no error.

use super::drive::WorkTally;
use super::mixed_files::{MixedFiles, Room, WorkerFiles};
use super::turns::{Turn, TurnSource};
use boatload_base::errno::Errno;
use boatload_base::random::{Stream, below, draw, mix, unit};
use boatload_op::request::RequestError;
use boatload_op::{
    Change, Effect, ItemId, Operation, OperationProgress, RequestKind, Target, find_operation,
};
use boatload_plan::mix::{Mix, Pace, Spacing, Step, Work, WorkFiles, WorkShare};
use boatload_plan::phase::StepTargets;
use boatload_plan::{Phase, Tree};

/// What a turn draws.
#[derive(Clone, Copy)]
enum Drawn {
    Work,
    File,
    Gap,
    Worker,
}

/// A work as a worker does it.
struct WorkInTurns<'a> {
    work: &'a Work,
    steps: Vec<StepTargets<'a>>,
    /// The sum of the weights up to its own.
    weights_end: u64,
    tally: WorkTally,
    /// Of each step of a chain.
    step_tallies: Vec<WorkTally>,
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
    files: &'a MixedFiles,
    /// The worker's own files, where no other worker takes any.
    own: Option<WorkerFiles>,
    /// A file that there never is, for a turn that finds none.
    none: ItemId,
    timetable: Option<Timetable>,
    turn: u64,
    turns_max: u64,
    seed: u64,
    /// The file of the present turn, where the turn found it or makes it.
    in_turn: ItemId,
    /// Steps of it that succeeded.
    steps_done: usize,
    evictions: u64,
    /// Files that were made, less those that were removed.
    entries_change: i64,
}

/// What a worker did in a mix, work by work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MixTally {
    /// Of each work, in their order, each followed by the steps of its chain.
    pub works: Vec<(WorkTally, Vec<WorkTally>)>,
    /// Files that were removed to make room for others.
    pub evictions: u64,
    /// Files that were made, less those that were removed.
    pub entries_change: i64,
}

impl MixTally {
    /// With what another worker did.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        self.works.resize_with(other.works.len().max(self.works.len()), Default::default);
        for ((work, steps), (other_work, other_steps)) in self.works.iter_mut().zip(&other.works) {
            *work = std::mem::take(work).plus(other_work);
            steps.resize_with(other_steps.len().max(steps.len()), Default::default);
            for (step, other) in steps.iter_mut().zip(other_steps) {
                *step = std::mem::take(step).plus(other);
            }
        }
        self.evictions += other.evictions;
        self.entries_change += other.entries_change;
        self
    }
}

impl<'a> MixedTurns<'a> {
    /// The turns of one worker in a phase of several works; `files` has the files of all workers.
    pub fn new(
        phase: &'a Phase,
        works: &'a Mix,
        tree: &'a Tree,
        files: &'a MixedFiles,
        worker: u32,
    ) -> Self {
        let (number, workers) = (u64::from(worker), u64::from(phase.threads.max(1)));
        let mut weights_end = 0;
        let in_turns = works.works.iter().map(|work| {
            if let WorkShare::Weight(weight) = work.share {
                weights_end += u64::from(weight);
            }
            let steps = StepTargets::of_work(phase, works, tree, work);
            let chain = if work.is_chain() { steps.len() } else { 0 };
            let step_tallies = vec![WorkTally::default(); chain];
            WorkInTurns { work, steps, weights_end, tally: WorkTally::default(), step_tallies }
        });
        let seed = draw(tree.seed, Stream::Turn, mix(works.salt) ^ number);
        let of_worker = |pace| Timetable::new(pace, number, workers);
        let none = ItemId::file(tree.capacity());
        let mut turns = Self {
            works: in_turns.collect(),
            weights: works.weights(),
            only: works.work_of(worker),
            creates: works.creates(),
            delete: find_operation("delete"),
            worker: number,
            own: (!files.is_shared).then(|| files.with(number, std::mem::take)),
            files,
            none,
            timetable: works.pace.map(of_worker),
            turn: 0,
            turns_max: phase.turns_max(worker),
            seed,
            in_turn: none,
            steps_done: 0,
            evictions: 0,
            entries_change: 0,
        };
        turns.begin_timetable();
        turns
    }

    /// What the worker did.
    pub fn into_tally(self) -> MixTally {
        let works = self.works.into_iter().map(|work| (work.tally, work.step_tallies));
        MixTally {
            works: works.collect(),
            evictions: self.evictions,
            entries_change: self.entries_change,
        }
    }

    /// Does something with the files of a worker.
    #[inline]
    fn with<T>(&mut self, worker: u64, act: impl FnOnce(&mut WorkerFiles) -> T) -> T {
        match &mut self.own {
            Some(own) => act(own),
            None => self.files.with(worker, act),
        }
    }

    /// The random bits for one thing in the turn that is next.
    #[inline]
    fn drawn(&self, what: Drawn) -> u64 {
        draw(self.seed, Stream::Turn, self.turn << 2 | what as u64)
    }

    /// The work whose turn it is.
    #[inline]
    fn next_work(&self) -> usize {
        self.only.unwrap_or_else(|| {
            let bits = below(self.drawn(Drawn::Work), self.weights);
            self.works.iter().position(|work| bits < work.weights_end).unwrap_or(0)
        })
    }

    /// A file for a work that takes one.
    #[inline]
    fn file(&mut self, work: &Work) -> Option<ItemId> {
        let bits = self.drawn(Drawn::File);
        let take = |files: &mut WorkerFiles| {
            let file = files.file(work.order, work.directory, bits)?;
            if work.moves_file() {
                files.take(file);
            }
            Some(file)
        };
        let workers = self.files.of_workers.len() as u64;
        match work.of {
            WorkFiles::Own => self.with(self.worker, take),
            WorkFiles::Any => {
                let first = below(self.drawn(Drawn::Worker), workers);
                (first..first + workers).find_map(|worker| self.files.with(worker, take))
            }
        }
    }

    /// The removal of a file that is in hand, for there is no room for another.
    fn eviction(&mut self, creates: usize, file: ItemId) -> Option<Turn> {
        self.in_turn = file;
        let target = self.works[creates].steps.first()?.target(file, self.turn);
        let target = Target { place: file, opens: true, closes: true, ..target };
        Some(Turn { work: None, target, due_ns: None })
    }

    /// Says of the file of a turn where it is, after some steps and one that may have failed.
    fn settle(&mut self, work: &Work, done: usize, failed: Option<RequestError>) {
        let file = self.in_turn;
        let is_in_hand = work.moves_file() || !work.takes_file();
        if !is_in_hand || file == self.none {
            return;
        }
        let at = match (failed, work.steps.get(done)) {
            (Some(error), Some(step)) if !step.has_file => {
                let is_there = error.errno == Errno::EEXIST || change(step.operation, failed) > 0;
                is_there.then_some(step.spot)
            }
            (Some(error), Some(_)) if error.errno == Errno::ENOENT => None,
            // All was done but to make the directory durable, which ends the work.
            (Some(error), Some(step)) if is_done(step.operation, error) => work.leaves,
            (Some(_), Some(_)) => work.spot_before(done),
            _ => work.leaves,
        };
        let has_second_name = failed.is_some()
            && (work.has_second_name(done) || leaves_second_name(&work.steps[done], failed));
        self.with(file.number(), |files| match at {
            Some(spot) if spot.renames == 0 && !has_second_name => files.put(spot.place(file)),
            // Nobody remembers other names than the first.
            Some(_) => files.leave_alone(file),
            None => files.remove(file),
        });
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

impl TurnSource for MixedTurns<'_> {
    const HAS_WORKS: bool = true;

    #[inline]
    fn next(&mut self) -> Option<Turn> {
        if self.turn == self.turns_max {
            return None;
        }
        let mut at = self.next_work();
        let work = self.works[at].work;
        let mut found = if work.takes_file() { self.file(work) } else { None };
        if work.takes_file() && found.is_none() {
            match work.of {
                WorkFiles::Any if !makes_temporary(work) => found = Some(self.none),
                // Without a file to work on, the work that makes some has its turn.
                _ => at = self.creates?,
            }
        }
        let file = match found {
            Some(file) => file,
            None => match self.with(self.worker, WorkerFiles::room)? {
                Room::Free(file) => file,
                Room::Taken(oldest) => return self.eviction(at, oldest),
            },
        };
        self.in_turn = file;
        let target = self.works[at].steps.first()?.target(file, self.turn);
        self.turn += 1;
        let gap_ns = self.gap();
        let due_ns = self.timetable.as_mut().map(|timetable| {
            let due_ns = timetable.next_ns;
            timetable.next_ns += gap_ns;
            due_ns as u64
        });
        Some(Turn { work: Some(at), target, due_ns })
    }

    #[inline]
    fn operation(&self, turn: &Turn) -> &'static Operation {
        let of_work = turn.work.map(|work| self.works[work].steps[0].operation());
        of_work.or(self.delete).unwrap_or(self.works[0].steps[0].operation())
    }

    #[inline]
    fn is_chain(&self, turn: &Turn) -> bool {
        turn.work.is_some_and(|work| self.works[work].work.is_chain())
    }

    fn step_ended(
        &mut self,
        turn: &Turn,
        progress: &OperationProgress,
    ) -> Option<(&'static Operation, Target)> {
        let work = &mut self.works[turn.work?];
        let step = work.steps.get(self.steps_done)?;
        let is_gone = self.files.is_shared && is_gone(work.work, progress);
        if let Some(tally) = work.step_tallies.get_mut(self.steps_done).filter(|_| !is_gone) {
            tally.count(&turn.target, progress);
        }
        self.entries_change += change(step.operation(), progress.failed);
        if progress.failed.is_some() {
            return None;
        }
        self.steps_done += 1;
        // Its number was counted when the turn began.
        let next = work.steps.get(self.steps_done)?;
        Some((next.operation(), next.target(self.in_turn, self.turn - 1)))
    }

    fn ended(&mut self, turn: &Turn, progress: &OperationProgress) -> bool {
        let (file, failed) = (self.in_turn, progress.failed);
        let Some(at) = turn.work else {
            // One that cannot be removed is left alone, or its worker would try nothing else.
            self.with(self.worker, |files| match failed {
                None => files.remove(file),
                Some(_) => files.leave_alone(file),
            });
            self.evictions += u64::from(failed.is_none());
            self.entries_change -= i64::from(failed.is_none());
            return true;
        };
        let work = self.works[at].work;
        if !work.is_chain() {
            self.entries_change += change(work.operation(), failed);
        }
        let steps_done = std::mem::take(&mut self.steps_done);
        self.settle(work, steps_done, failed);
        let is_gone = self.files.is_shared && is_gone(work, progress);
        let tally = &mut self.works[at].tally;
        match is_gone {
            true => tally.gone += 1,
            false => tally.count(&turn.target, progress),
        }
        !is_gone
    }
}

/// How many entries more there are after an operation, which may have failed.
fn change(operation: &Operation, failed: Option<RequestError>) -> i64 {
    match (operation.effect, failed) {
        // What takes the place of another file is left behind.
        (Effect::KeepsTree, Some(error)) if operation.makes_temporary => {
            i64::from(!matches!(error.kind, RequestKind::Open | RequestKind::SyncHolder))
        }
        (Effect::KeepsTree, _) => 0,
        (_, Some(error)) if !is_done(operation, error) => 0,
        (Effect::AddsEntry, _) => 1,
        (Effect::RemovesEntry, _) => -1,
    }
}

/// Whether an operation changed the names that it was to change although it failed.
fn is_done(operation: &Operation, error: RequestError) -> bool {
    use RequestKind::{Link, Open, Rename, Unlink};
    let changes = operation.effect != Effect::KeepsTree || operation.change == Change::Renames;
    changes && !matches!(error.kind, Open | Link | Rename | Unlink)
}

/// Whether a failed step on a file left another one behind.
fn leaves_second_name(step: &Step, failed: Option<RequestError>) -> bool {
    step.has_file && change(step.operation, failed) > 0
}

/// Whether it would make a file where there is none.
fn makes_temporary(work: &Work) -> bool {
    work.steps.iter().any(|step| step.operation.makes_temporary)
}

/// Whether the file that a work found, or looked for, was not there any more.
fn is_gone(work: &Work, progress: &OperationProgress) -> bool {
    work.takes_file() && progress.failed.is_some_and(|error| error.errno == Errno::ENOENT)
}

#[cfg(test)]
mod chain_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::mix::WorkOrder;
    use boatload_plan::{CellPlan, Settings, read_job};
    use std::collections::BTreeSet;

    pub(super) fn cell(tree: &str, phase: &str, works: &[&str]) -> CellPlan {
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

    pub(super) fn files(cell: &CellPlan) -> MixedFiles {
        let phase = &cell.phases[1];
        MixedFiles::new(phase, phase.mix.as_ref().unwrap(), &cell.tree)
    }

    pub(super) fn turns<'a>(
        cell: &'a CellPlan,
        files: &'a MixedFiles,
        worker: u32,
    ) -> MixedTurns<'a> {
        let phase = &cell.phases[1];
        MixedTurns::new(phase, phase.mix.as_ref().unwrap(), &cell.tree, files, worker)
    }

    pub(super) fn failed(kind: RequestKind, errno: Errno) -> OperationProgress {
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
            let files = files(&cell);
            let mut workers: Vec<_> = (0..3).map(|worker| turns(&cell, &files, worker)).collect();
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
            assert_eq!(all.works.iter().map(|(work, _)| work.operations).sum::<u64>(), 20_000);
            assert!(all.evictions > 1_000, "{}", all.evictions);
            assert_eq!(50 + all.entries_change, live.len() as i64);
        }
    }

    #[test]
    fn the_oldest_file_is_the_one_that_was_made_first() {
        let cell = cell("files = 4\nfiles_max = 7", "count = 1_000", &[CREATE, OLDEST]);
        let files = files(&cell);
        let (mut ages, mut turns) = (Vec::from([0, 1, 2, 3]), turns(&cell, &files, 0));
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
            let files = files(&cell);
            let mut source = turns(&cell, &files, worker);
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
            let files = files(&cell);
            let mut turns = turns(&cell, &files, 0);
            let turn = turns.next().unwrap();
            turns.ended(&turn, &failed(kind, errno));
            let own = turns.own.as_ref().unwrap();
            let found = own.file(WorkOrder::Oldest, None, 0);
            let is_there = found == Some(turn.target.place) || own.count() == 2;
            assert_eq!(is_there, exists, "{kind} {errno}");
            assert_ne!(
                turns.next().unwrap().target.place,
                turn.target.place,
                "the next turn takes another file"
            );
            assert_eq!(turns.into_tally().entries_change, i64::from(kind == RequestKind::Write));
        }
    }

    #[test]
    fn a_file_that_cannot_be_removed_does_not_keep_its_worker_from_others() {
        let cell = cell("files = 4\nfiles_max = 4", "count = 4", &[CREATE]);
        let files = files(&cell);
        let mut turns = turns(&cell, &files, 0);
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
            let files = files(&cell);
            let mut source = turns(&cell, &files, worker);
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
