//! Runs the one hot loop: takes turns from their source, asks the operation for its next request, hands it to
//! the engine, and reads the clock once for each operation: the end of one is the start of the next.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::clock::Clock;
use super::engine::Engine;
use super::turns::{Turn, TurnSource};
use boatload_base::errno::Errno;
use boatload_op::request::RequestError;
use boatload_op::{ItemId, NextRequest, Operation, OperationProgress, RequestKind, Target};
use boatload_plan::Phase;
use boatload_plan::phase::PhaseEnd;

/// Takes in the latency of every operation that succeeded.
pub trait Recorder: Send {
    /// `turn` counts the worker's operations from 0; `ns` is the latency in nanoseconds.
    fn record(&mut self, turn: u64, ns: u64);

    /// The same of a work of a mix, after [`Recorder::record`] of its turn.
    fn record_work(&mut self, _work: usize, _turn: u64, _times: TurnTimes) {}

    /// The latency of one step of a chain, in nanoseconds.
    fn record_step(&mut self, _work: usize, _step: usize, _ns: u64) {}
}

/// How long a turn took, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnTimes {
    /// From when it was due; from when it began, where it was due at no time.
    pub response_ns: u64,
    /// From when it began.
    pub service_ns: u64,
}

/// One worker's part of a phase.
pub struct WorkerPart<'a> {
    /// The phase.
    pub phase: &'a Phase,
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

/// The work that a worker did, or its share of one work of a mix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkTally {
    /// Operations that succeeded.
    pub operations: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Turns whose file another worker had removed or moved; no errors.
    pub gone: u64,
    /// Failed operations by error.
    pub errors: BTreeMap<Errno, u64>,
    /// Where each error was met first.
    pub failures: BTreeMap<Errno, FailedRequest>,
}

/// The work that a worker did, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerTally {
    /// The work.
    pub done: WorkTally,
    /// When the first operation began, in ticks of the worker's clock.
    pub started: u64,
    /// When the last one ended.
    pub ended: u64,
}

/// A request that failed, and the entry that its operation worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// Which request.
    pub kind: RequestKind,
    /// The entry.
    pub place: ItemId,
}

impl WorkTally {
    /// With what another worker did.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.gone += other.gone;
        for (errno, count) in &other.errors {
            *self.errors.entry(*errno).or_default() += count;
        }
        for (errno, request) in &other.failures {
            self.failures.entry(*errno).or_insert(*request);
        }
        self
    }

    /// Takes an operation in that has ended.
    #[inline]
    pub(super) fn count(&mut self, target: &Target, progress: &OperationProgress) {
        match progress.failed {
            None => {
                self.operations += 1;
                self.bytes += progress.bytes;
            }
            Some(error) => self.count_failure(target.place, error),
        }
    }

    #[cold]
    fn count_failure(&mut self, place: ItemId, error: RequestError) {
        let RequestError { kind, errno } = error;
        *self.errors.entry(errno).or_default() += 1;
        self.failures.entry(errno).or_insert(FailedRequest { kind, place });
    }
}

/// Carries out one worker's part of a phase, one turn after the other.
pub fn drive<S: TurnSource, E: Engine, C: Clock, R: Recorder>(
    part: &WorkerPart<'_>,
    source: &mut S,
    engine: &mut E,
    clock: &C,
    recorder: &mut R,
) -> WorkerTally {
    let started = clock.now();
    let deadline = deadline(part.phase, clock, started);
    let mut tally = WorkerTally { started, ended: started, ..WorkerTally::default() };
    let mut turns = 0;
    while tally.ended < deadline && !part.stop.load(Ordering::Relaxed) {
        let Some(mut turn) = source.next() else { break };
        let due_ns = if S::HAS_WORKS { turn.due_ns } else { None };
        let due = due_ns.map(|ns| started.saturating_add(ticks(clock, ns)));
        if let Some(due) = due.filter(|due| *due > tally.ended) {
            tally.ended = wait_until(due.min(deadline), clock, part.stop);
            if tally.ended >= deadline {
                break;
            }
        }
        let mut progress = operate(source.operation(&turn), &turn.target, engine);
        let begun = std::mem::replace(&mut tally.ended, clock.now());
        if S::HAS_WORKS && source.is_chain(&turn) {
            let mut chain = ChainInTurn { turn: &mut turn, begun };
            progress = chain.go_on(progress, source, engine, clock, recorder, &mut tally.ended);
        }
        let counts = source.ended(&turn, &progress);
        if !counts {
            tally.done.gone += 1;
        } else if turn.work.is_some() || progress.failed.is_some() {
            tally.done.count(&turn.target, &progress);
        }
        let Some(work) = turn.work else { continue };
        if progress.failed.is_none() {
            let service_ns = clock.nanoseconds(begun, tally.ended);
            let response_ns = due.map_or(service_ns, |due| clock.nanoseconds(due, tally.ended));
            recorder.record(turns, response_ns);
            if S::HAS_WORKS {
                recorder.record_work(work, turns, TurnTimes { response_ns, service_ns });
            }
        }
        turns += 1;
        part.done.0.store(turns, Ordering::Relaxed);
    }
    tally
}

/// A turn of several steps; the first has ended.
struct ChainInTurn<'a> {
    /// Its target is where the present step works.
    turn: &'a mut Turn,
    /// When it began, in ticks.
    begun: u64,
}

impl ChainInTurn<'_> {
    /// Carries out the other steps, up to the first that fails; the progress of all of them. `ended` is when the
    /// last one did.
    fn go_on<S: TurnSource, E: Engine, C: Clock, R: Recorder>(
        &mut self,
        first: OperationProgress,
        source: &mut S,
        engine: &mut E,
        clock: &C,
        recorder: &mut R,
        ended: &mut u64,
    ) -> OperationProgress {
        let (mut progress, mut bytes, mut begun) = (first, first.bytes, self.begun);
        for step in 0.. {
            let next = source.step_ended(self.turn, &progress);
            if let (None, Some(work)) = (progress.failed, self.turn.work) {
                recorder.record_step(work, step, clock.nanoseconds(begun, *ended));
            }
            let Some((operation, target)) = next else { break };
            self.turn.target = target;
            progress = operate(operation, &target, engine);
            begun = std::mem::replace(ended, clock.now());
            bytes += progress.bytes;
        }
        OperationProgress { bytes, ..progress }
    }
}

/// Waits until a moment, or until the user wants to stop; the time then, all in ticks.
fn wait_until(moment: u64, clock: &impl Clock, stop: &AtomicBool) -> u64 {
    loop {
        let now = clock.now();
        if now >= moment || stop.load(Ordering::Relaxed) {
            return now;
        }
        clock.wait(clock.nanoseconds(now, moment).max(1));
    }
}

/// Carries out the requests of one operation.
#[inline(always)]
fn operate(operation: &Operation, target: &Target, engine: &mut impl Engine) -> OperationProgress {
    let mut progress = OperationProgress::before(target);
    loop {
        // Looked at where it is: what was just written in parts is slow to copy.
        let next = (operation.step)(target, &progress);
        let (request, is_last) = match &next {
            NextRequest::Submit(request) => (request, false),
            NextRequest::Last(request) => (request, true),
            NextRequest::Done => return progress,
        };
        progress.complete(request, engine.carry_out(request));
        if is_last {
            return progress;
        }
    }
}

/// From when on no operation begins, in ticks of a clock.
fn deadline(phase: &Phase, clock: &impl Clock, started: u64) -> u64 {
    let duration_ns = match phase.end {
        PhaseEnd::After(ns) => Some(ns),
        PhaseEnd::Targets | PhaseEnd::Operations(_) => None,
    };
    let ends_ns = duration_ns.into_iter().chain(phase.limit_ns).min();
    ends_ns.map_or(u64::MAX, |ns| started.saturating_add(ticks(clock, ns)))
}

/// A time in ticks of a clock.
fn ticks(clock: &impl Clock, ns: u64) -> u64 {
    const TICKS: u64 = 1 << 40;
    let ns_of_ticks = clock.nanoseconds(0, TICKS).max(1);
    let ticks = u128::from(ns) * u128::from(TICKS) / u128::from(ns_of_ticks);
    u64::try_from(ticks).unwrap_or(u64::MAX)
}
