//! Runs the one hot loop: takes targets in order, asks the operation for its next request, hands it to
//! the engine, and reads the clock once for each operation: the end of one is the start of the next.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::clock::Clock;
use super::engine::Engine;
use boatload_base::errno::Errno;
use boatload_op::request::RequestError;
use boatload_op::{ItemId, NextRequest, Operation, OperationProgress, RequestKind, Target};
use boatload_plan::phase::PhaseEnd;
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
    /// Which request.
    pub kind: RequestKind,
    /// The entry.
    pub place: ItemId,
}

impl WorkerTally {
    #[inline]
    fn count(&mut self, target: &Target, progress: &OperationProgress) {
        match progress.failed {
            None => {
                self.operations += 1;
                self.bytes += progress.bytes;
            }
            Some(RequestError { kind, errno }) => {
                *self.errors.entry(errno).or_default() += 1;
                let request = FailedRequest { kind, place: target.place };
                self.failures.entry(errno).or_insert(request);
            }
        }
    }
}

/// Carries out one worker's part of a phase, one operation after the other.
pub fn drive<E: Engine, C: Clock, R: Recorder>(
    work: &WorkerPart<'_>,
    engine: &mut E,
    clock: &C,
    recorder: &mut R,
) -> WorkerTally {
    let started = clock.now();
    let deadline = deadline(work.phase, clock, started);
    let targets = work.phase.targets(work.tree);
    let mut tally = WorkerTally { started, ended: started, ..WorkerTally::default() };
    let (mut turn, mut position) = (0, 0);
    while turn < work.turns_max && tally.ended < deadline && !work.stop.load(Ordering::Relaxed) {
        if position == work.share.count {
            position = 0;
        }
        let target = targets.target(work.share.number(position));
        position += 1;
        let progress = operate(work.phase.operation, &target, engine);
        let begun = std::mem::replace(&mut tally.ended, clock.now());
        tally.count(&target, &progress);
        if progress.failed.is_none() {
            recorder.record(turn, clock.nanoseconds(begun, tally.ended));
        }
        turn += 1;
        work.done.0.store(turn, Ordering::Relaxed);
    }
    tally
}

/// Carries out the requests of one operation.
#[inline]
fn operate(operation: &Operation, target: &Target, engine: &mut impl Engine) -> OperationProgress {
    let mut progress = OperationProgress::default();
    loop {
        let (request, is_last) = match (operation.step)(target, &progress) {
            NextRequest::Submit(request) => (request, false),
            NextRequest::Last(request) => (request, true),
            NextRequest::Done => return progress,
        };
        progress.complete(&request, engine.carry_out(&request));
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
