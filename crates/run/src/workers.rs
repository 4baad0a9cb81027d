//! Runs the workers of a phase: one thread each, started together behind a gate.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::drive::{DoneCount, FailedRequest, Recorder, WorkTally, WorkerPart, WorkerTally, drive};
use crate::engine::Engine;
use crate::mixed_files::MixedFiles;
use crate::mixed_turns::{MixTally, MixedTurns};
use crate::turns::{ListedTurns, TurnSource};
use boatload_base::errno::Errno;
use boatload_host::cpu::CpuTime;
use boatload_plan::{Phase, Tree};

/// The work that all workers of a phase did together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseRun {
    /// Operations that succeeded.
    pub operations: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Turns of a mix whose file another worker had removed or moved.
    pub gone: u64,
    /// Failed operations by error.
    pub errors: BTreeMap<Errno, u64>,
    /// Where each error was met first.
    pub failures: BTreeMap<Errno, FailedRequest>,
    /// The same work by work, and what a mix did beside; nothing where there is one operation.
    pub mix: MixTally,
    /// From the first worker's start to the last one's end, in seconds.
    pub seconds: f64,
    /// What all workers together did with their time.
    pub cpu: CpuTime,
    /// How long each of them worked, the sum, in seconds.
    pub workers_seconds: f64,
    /// Time between the end of the worker in the middle and the end of the last one, among workers that had
    /// as much to do, over `seconds`; `None` for fewer than two.
    pub worker_spread: Option<f64>,
    /// When they worked; `None` if they could not be started.
    pub span: Option<WorkSpan>,
}

/// When workers worked, in nanoseconds since their clock began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkSpan {
    /// When the first one started.
    pub started_ns: i64,
    /// When the last one ended.
    pub ended_ns: i64,
}

impl WorkSpan {
    /// From the start of one to the end of the other, whichever is first.
    fn and(self, other: Self) -> Self {
        let started_ns = self.started_ns.min(other.started_ns);
        Self { started_ns, ended_ns: self.ended_ns.max(other.ended_ns) }
    }
}

/// A phase and what its workers share.
#[derive(Clone, Copy)]
pub struct PhaseTask<'a> {
    /// The phase.
    pub phase: &'a Phase,
    /// The tree it works on.
    pub tree: &'a Tree,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
    /// One for each worker.
    pub done: &'a [DoneCount],
}

/// The name of the threads of workers.
pub const WORKER: &str = "worker";

/// Runs a phase. `engine` makes a worker's engine and the clock it is timed by, on that worker's
/// thread and before all start together. If the system gives no thread for one of them none
/// starts, and every operation has failed with `EAGAIN`.
pub fn run_workers<E: Engine, C: Clock, R: Recorder>(
    task: PhaseTask<'_>,
    recorders: &mut [R],
    engine: impl Fn(u32) -> (E, C) + Sync,
) -> PhaseRun {
    let gate = Gate::new(recorders.len());
    let mix = task.phase.mix.as_ref();
    let mix = mix.map(|mix| (mix, MixedFiles::new(task.phase, mix, task.tree)));
    let one = |worker: u32, recorder: &mut R| {
        let panicking = CallsOff(&gate);
        let (mut engine, clock) = engine(worker);
        std::mem::forget(panicking);
        let PhaseTask { phase, tree, stop, .. } = task;
        let part = WorkerPart { phase, stop, done: &task.done[worker as usize] };
        match &mix {
            None => {
                let mut turns = ListedTurns::new(phase, tree, worker);
                timed(&gate, &part, &mut turns, &mut engine, &clock, recorder)
            }
            Some((mix, files)) => {
                let mut turns = MixedTurns::new(phase, mix, tree, files, worker);
                let result = timed(&gate, &part, &mut turns, &mut engine, &clock, recorder)?;
                Some(WorkerResult { mix: turns.into_tally(), ..result })
            }
        }
    };
    let workers: Vec<Option<WorkerResult>> = match recorders {
        // A single worker needs no thread of its own.
        [only] => vec![one(0, only)],
        many => std::thread::scope(|scope| {
            let one = &one;
            let start = |(worker, recorder)| {
                let thread = Builder::new().name(WORKER.into());
                let thread = thread.spawn_scoped(scope, move || one(worker, recorder));
                thread.inspect_err(|_| gate.call_off()).ok()
            };
            let threads: Vec<_> = (0u32..).zip(many.iter_mut()).map_while(start).collect();
            threads.into_iter().map(joined).collect()
        }),
    };
    match workers.into_iter().collect::<Option<Vec<WorkerResult>>>() {
        Some(workers) if workers.len() == task.phase.threads as usize => summed(&workers),
        _ => {
            let asked = task.phase.operations().unwrap_or(task.phase.selection.count);
            let errors = BTreeMap::from([(Errno::EAGAIN, asked)]);
            PhaseRun { errors, ..PhaseRun::default() }
        }
    }
}

/// Does one worker's part as soon as all have reached the gate; `None` if the start was called off.
fn timed<S: TurnSource, E: Engine, C: Clock, R: Recorder>(
    gate: &Gate,
    part: &WorkerPart<'_>,
    turns: &mut S,
    engine: &mut E,
    clock: &C,
    recorder: &mut R,
) -> Option<WorkerResult> {
    if !gate.pass() {
        return None;
    }
    let cpu_before = CpuTime::of_thread();
    let tally = drive(part, turns, engine, clock, recorder);
    let cpu = CpuTime::of_thread().since(cpu_before);
    // Ticks of different threads are of one clock; how long one of them is, any clock knows.
    let [started_ns, ended_ns] =
        [tally.started, tally.ended].map(|ticks| clock.nanoseconds(0, ticks).cast_signed());
    let seconds_per_tick = seconds_per_tick(clock);
    let span = WorkSpan { started_ns, ended_ns };
    Some(WorkerResult { seconds_per_tick, tally, mix: MixTally::default(), cpu, span })
}

/// Calls the start off when a worker panics before it has reached the gate.
struct CallsOff<'a>(&'a Gate);

impl Drop for CallsOff<'_> {
    fn drop(&mut self) {
        self.0.call_off();
    }
}

/// What a worker did. One that panicked must not pass for one that had nothing to do.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

struct WorkerResult {
    tally: WorkerTally,
    /// What it did of a mix.
    mix: MixTally,
    cpu: CpuTime,
    seconds_per_tick: f64,
    span: WorkSpan,
}

/// From a long stretch of ticks, so that rounding to nanoseconds does not show.
fn seconds_per_tick(clock: &impl Clock) -> f64 {
    const TICKS: u64 = 1 << 40;
    clock.nanoseconds(0, TICKS) as f64 / 1e9 / TICKS as f64
}

fn summed(workers: &[WorkerResult]) -> PhaseRun {
    let all = WorkTally::default();
    let all = workers.iter().fold(all, |all, worker| all.plus(&worker.tally.done));
    let mix = MixTally::default();
    let mix = workers.iter().fold(mix, |mix, worker| mix.plus(&worker.mix));
    let WorkTally { operations, bytes, gone, errors, failures } = all;
    let mut run =
        PhaseRun { operations, bytes, gone, errors, failures, mix, ..PhaseRun::default() };
    run.cpu = workers.iter().map(|w| w.cpu).reduce(CpuTime::plus).unwrap_or_default();
    let started = workers.iter().map(|w| w.tally.started).min().unwrap_or(0);
    let ended = workers.iter().map(|w| w.tally.ended).max().unwrap_or(0);
    let tick = workers.first().map_or(0.0, |w| w.seconds_per_tick);
    run.seconds = ended.saturating_sub(started) as f64 * tick;
    let worked =
        workers.iter().map(|w| w.tally.ended.saturating_sub(w.tally.started) as f64 * tick);
    run.workers_seconds = worked.sum();
    let tallies: Vec<&WorkerTally> = workers.iter().map(|worker| &worker.tally).collect();
    run.worker_spread = spread(&tallies, ended.saturating_sub(started));
    run.span = workers.iter().map(|worker| worker.span).reduce(WorkSpan::and);
    run
}

/// Workers that did at least this share of what the busiest one did had as much to do.
const AS_MUCH: f64 = 0.9;

/// How much later than the one in the middle the last worker ended, as a share of all `ticks`.
fn spread(tallies: &[&WorkerTally], ticks: u64) -> Option<f64> {
    let turns = |tally: &WorkerTally| {
        let failed: u64 = tally.done.errors.values().sum();
        (tally.done.operations + failed) as f64
    };
    let most = tallies.iter().map(|tally| turns(tally)).fold(0.0, f64::max);
    let alike = tallies.iter().filter(|tally| turns(tally) >= most * AS_MUCH);
    let mut ends: Vec<u64> = alike.map(|tally| tally.ended).collect();
    ends.sort_unstable();
    let (last, middle) = (ends.last()?, ends.get((ends.len() - 1) / 2)?);
    (ends.len() > 1 && ticks > 0).then(|| (last - middle) as f64 / ticks as f64)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateState {
    /// Closed: this number of workers has yet to reach it.
    WaitsFor(usize),
    Open,
    CalledOff,
}

/// A start line for a fixed number of workers.
#[derive(Debug)]
pub struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

impl Gate {
    /// A gate that opens when `workers` have reached it.
    pub fn new(workers: usize) -> Self {
        Self { state: Mutex::new(GateState::WaitsFor(workers)), changed: Condvar::new() }
    }

    /// Waits for the others. False if the start was called off.
    pub fn pass(&self) -> bool {
        let mut gate = self.lock();
        match *gate {
            GateState::WaitsFor(0 | 1) => {
                *gate = GateState::Open;
                self.changed.notify_all();
            }
            GateState::WaitsFor(missing) => *gate = GateState::WaitsFor(missing - 1),
            GateState::Open | GateState::CalledOff => {}
        }
        let waits = |gate: &mut GateState| matches!(gate, GateState::WaitsFor(_));
        let gate = self.changed.wait_while(gate, waits).unwrap_or_else(PoisonError::into_inner);
        *gate == GateState::Open
    }

    /// Sends everybody home, unless they have started.
    pub fn call_off(&self) {
        let mut gate = self.lock();
        if matches!(*gate, GateState::WaitsFor(_)) {
            *gate = GateState::CalledOff;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_of(ends: &[(u64, u64)]) -> Option<f64> {
        let tally = |(operations, ended): &(u64, u64)| WorkerTally {
            done: WorkTally { operations: *operations, ..WorkTally::default() },
            ended: *ended,
            ..WorkerTally::default()
        };
        let tallies: Vec<WorkerTally> = ends.iter().map(tally).collect();
        spread(&tallies.iter().collect::<Vec<_>>(), 1_000)
    }

    #[test]
    fn the_last_worker_is_held_against_the_one_in_the_middle() {
        assert_eq!(spread_of(&[(10, 500), (10, 510), (10, 490), (10, 1_000)]), Some(0.5));
        assert_eq!(spread_of(&[(10, 400), (10, 1_000)]), Some(0.6));
    }

    #[test]
    fn workers_that_had_less_to_do_and_those_alone_say_nothing() {
        assert_eq!(spread_of(&[(10, 400), (20, 1_000)]), None);
        assert_eq!(spread_of(&[(0, 0), (10, 990), (10, 1_000)]), Some(0.01));
        assert_eq!((spread_of(&[(10, 1_000)]), spread_of(&[])), (None, None));
    }
}

#[cfg(test)]
mod gate_tests {
    use super::*;

    #[test]
    fn all_pass_when_the_last_has_come() {
        let gate = Gate::new(3);
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..3).map(|_| scope.spawn(|| gate.pass())).collect();
            assert!(all.into_iter().all(|one| one.join().unwrap()));
        });
    }

    #[test]
    fn nobody_waits_for_one_who_never_comes() {
        let gate = Gate::new(3);
        std::thread::scope(|scope| {
            let both: Vec<_> = (0..2).map(|_| scope.spawn(|| gate.pass())).collect();
            gate.call_off();
            assert!(both.into_iter().all(|one| !one.join().unwrap()));
        });
    }
}
