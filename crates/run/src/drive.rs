//! Runs the one hot loop: takes targets in order, asks the operation for its next request, hands it to
//! the engine, and reads the clock once for each operation: the end of one is the start of the next.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::clock::Clock;
use super::engine::{Completion, Engine, Submitted, Ticket};
use boatload_base::errno::Errno;
use boatload_op::{ItemId, NextRequest, OperationProgress, Request, RequestKind, Target};
use boatload_plan::phase::{PhaseEnd, TargetMap};
use boatload_plan::selection::Share;
use boatload_plan::{Phase, Tree};

/// Takes in the latency of every operation that succeeded.
pub trait Recorder: Send {
    /// `turn` counts the worker's operations from 0; `ns` is the latency in nanoseconds.
    fn record(&mut self, turn: u64, ns: u64);
}

/// One worker's part of a phase.
pub struct WorkerPart<'a> {
    /// The phase.
    pub phase: &'a Phase,
    /// The tree it works on.
    pub tree: &'a Tree,
    /// The worker's targets.
    pub share: Share<'a>,
    /// Most operations, if time allows: more than targets where they come round again.
    pub turns_max: u64,
    /// Set when the user wants to stop; looked at before each operation.
    pub stop: &'a AtomicBool,
    /// Where the worker says how far it is.
    pub done: &'a DoneCount,
}

/// How many operations a worker has done, for whoever watches. Each has cache lines of its own
/// (two, since processors fetch them in pairs), so that workers do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct DoneCount(AtomicU64);

impl DoneCount {
    /// One for each worker.
    pub fn of_workers<C: FromIterator<Self>>(workers: u32) -> C {
        (0..workers).map(|_| Self::default()).collect()
    }

    /// The operations done until now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The work that a worker did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerTally {
    /// Operations that succeeded.
    pub operations: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Failed operations by error.
    pub errors: BTreeMap<Errno, u64>,
    /// Where each error was met first.
    pub failures: BTreeMap<Errno, FailedRequest>,
    /// When the first operation began, in ticks of the worker's clock.
    pub started: u64,
    /// When the last one ended.
    pub ended: u64,
}

/// A request that failed, and the entry that its operation worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// Which request; `None` where its result was lost with a queue.
    pub kind: Option<RequestKind>,
    /// The entry.
    pub place: ItemId,
}

impl WorkerTally {
    fn count(&mut self, slot: &OperationSlot) {
        let progress = &slot.progress;
        match progress.failed {
            None => {
                self.operations += 1;
                self.bytes += progress.bytes;
            }
            Some(errno) => {
                *self.errors.entry(errno).or_default() += 1;
                let request =
                    FailedRequest { kind: progress.failed_request, place: slot.target.place };
                self.failures.entry(errno).or_insert(request);
            }
        }
    }
}

/// One operation under way.
struct OperationSlot {
    turn: u64,
    target: Target,
    progress: OperationProgress,
    pending: Option<Request>,
    started: u64,
}

enum Advanced {
    Finished,
    Queued,
    Full,
}

/// Carries out one worker's part of a phase.
pub fn drive<E: Engine, C: Clock, R: Recorder>(
    work: &WorkerPart<'_>,
    engine: &mut E,
    clock: &C,
    recorder: &mut R,
) -> WorkerTally {
    let started = clock.now();
    let duration_ns = match work.phase.end {
        PhaseEnd::After(ns) => Some(ns),
        PhaseEnd::Targets | PhaseEnd::Operations(_) => None,
    };
    let ends_ns = duration_ns.into_iter().chain(work.phase.limit_ns).min();
    let deadline = ends_ns.map_or(u64::MAX, |ns| started.saturating_add(ticks(clock, ns)));
    let mut run = Drive {
        work,
        targets: work.phase.targets(work.tree),
        engine,
        clock,
        recorder,
        tally: WorkerTally { started, ended: started, ..WorkerTally::default() },
        now: started,
        deadline,
        position: 0,
    };
    run.all();
    run.tally
}

/// A time in ticks of a clock.
fn ticks(clock: &impl Clock, ns: u64) -> u64 {
    const TICKS: u64 = 1 << 40;
    let ns_of_ticks = clock.nanoseconds(0, TICKS).max(1);
    let ticks = u128::from(ns) * u128::from(TICKS) / u128::from(ns_of_ticks);
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

struct Drive<'a, E, C, R> {
    work: &'a WorkerPart<'a>,
    targets: TargetMap<'a>,
    engine: &'a mut E,
    clock: &'a C,
    recorder: &'a mut R,
    tally: WorkerTally,
    /// The last reading of the clock.
    now: u64,
    /// From when on no operation begins.
    deadline: u64,
    /// Which of the worker's targets is next.
    position: u64,
}

impl<E: Engine, C: Clock, R: Recorder> Drive<'_, E, C, R> {
    /// Fills every free slot with the next target; waits only when no request ends without a wait. With a
    /// blocking engine there is one slot, which is always free again at once.
    fn all(&mut self) {
        let depth = self.engine.depth().max(1);
        let mut slots: Vec<Option<OperationSlot>> = (0..depth).map(|_| None).collect();
        let mut free: Vec<u32> = (0..depth).rev().collect();
        let mut refused: Vec<u32> = Vec::new();
        let mut ended: Vec<Completion> = Vec::with_capacity(depth as usize);
        let mut turn = 0;
        loop {
            while let Some(&ticket) = free.last() {
                if turn == self.work.turns_max || self.is_over() {
                    break;
                }
                let mut slot = self.begin(turn);
                turn += 1;
                match self.advance(Ticket(ticket), &mut slot) {
                    Advanced::Finished => self.finish(&slot),
                    Advanced::Queued => slots[free_slot(&mut free, ticket)] = Some(slot),
                    Advanced::Full => {
                        slots[free_slot(&mut free, ticket)] = Some(slot);
                        refused.push(ticket);
                        break;
                    }
                }
            }
            if free.len() == depth as usize {
                return;
            }
            let under_way = slots.len() - free.len() - refused.len();
            let mut again = std::mem::take(&mut refused);
            if self.wait(&mut ended, under_way).is_err() {
                // Every request under way has failed, the refused ones among them.
                again.clear();
            }
            for completion in ended.drain(..) {
                self.take(completion, &mut slots, &mut free, &mut refused);
            }
            for ticket in again {
                self.go_on(Ticket(ticket), &mut slots, &mut free, &mut refused);
            }
        }
    }

    /// Whether the time is over or the user wants to stop.
    #[inline]
    fn is_over(&self) -> bool {
        self.now >= self.deadline || self.work.stop.load(Ordering::Relaxed)
    }

    #[inline]
    fn begin(&mut self, turn: u64) -> OperationSlot {
        if self.position == self.work.share.count {
            self.position = 0;
        }
        let number = self.work.share.number(self.position);
        self.position += 1;
        OperationSlot {
            turn,
            target: self.targets.target(number),
            progress: OperationProgress::default(),
            pending: None,
            started: self.now,
        }
    }

    /// Goes through the operation's requests until it ends or has to wait.
    #[inline]
    fn advance(&mut self, ticket: Ticket, slot: &mut OperationSlot) -> Advanced {
        let operation = self.work.phase.operation;
        let mut step = match slot.pending.take() {
            Some(refused) => NextRequest::Submit(refused),
            None => (operation.step)(&slot.target, &slot.progress),
        };
        loop {
            let (request, is_last) = match step {
                NextRequest::Submit(request) => (request, false),
                NextRequest::Last(request) => (request, true),
                NextRequest::Done => return Advanced::Finished,
            };
            let outcome = match self.engine.submit(ticket, &request) {
                Submitted::Done(outcome) => outcome,
                waits => {
                    slot.pending = Some(request);
                    let queued = waits == Submitted::Queued;
                    return if queued { Advanced::Queued } else { Advanced::Full };
                }
            };
            slot.progress.complete(&request, outcome);
            if is_last {
                return Advanced::Finished;
            }
            step = (operation.step)(&slot.target, &slot.progress);
        }
    }

    #[inline]
    fn finish(&mut self, slot: &OperationSlot) {
        self.now = self.clock.now();
        self.tally.ended = self.now;
        self.tally.count(slot);
        if slot.progress.failed.is_none() {
            self.recorder.record(slot.turn, self.clock.nanoseconds(slot.started, self.now));
        }
        self.work.done.0.store(slot.turn + 1, Ordering::Relaxed);
    }

    /// Waits for queued requests. A queue that fails, or that has nothing under way and takes
    /// nothing in, would wait for ever: its operations are counted as failed instead.
    fn wait(&mut self, ended: &mut Vec<Completion>, under_way: usize) -> Result<(), Errno> {
        let reaped = if under_way == 0 { Err(Errno::EAGAIN) } else { self.engine.reap(1, ended) };
        if let Err(errno) = reaped {
            ended.clear();
            let tickets = (0..self.engine.depth()).map(Ticket);
            ended.extend(tickets.map(|ticket| Completion { ticket, outcome: Err(errno) }));
        }
        self.now = self.clock.now();
        reaped
    }

    /// Takes in the end of a queued request and continues its operation.
    fn take(
        &mut self,
        completion: Completion,
        slots: &mut [Option<OperationSlot>],
        free: &mut Vec<u32>,
        refused: &mut Vec<u32>,
    ) {
        let Some(slot) = slots.get_mut(completion.ticket.0 as usize).and_then(Option::as_mut)
        else {
            return;
        };
        if let Some(request) = slot.pending.take() {
            slot.progress.complete(&request, completion.outcome);
        }
        self.go_on(completion.ticket, slots, free, refused);
    }

    fn go_on(
        &mut self,
        ticket: Ticket,
        slots: &mut [Option<OperationSlot>],
        free: &mut Vec<u32>,
        refused: &mut Vec<u32>,
    ) {
        let Some(mut slot) = slots.get_mut(ticket.0 as usize).and_then(Option::take) else {
            return;
        };
        match self.advance(ticket, &mut slot) {
            Advanced::Finished => {
                self.finish(&slot);
                free.push(ticket.0);
                return;
            }
            Advanced::Queued => {}
            Advanced::Full => refused.push(ticket.0),
        }
        slots[ticket.0 as usize] = Some(slot);
    }
}

/// Takes a ticket out of the free ones; it is the last of them.
fn free_slot(free: &mut Vec<u32>, ticket: u32) -> usize {
    free.pop();
    ticket as usize
}
