//! Watches the calls of a run to file systems from a thread of its own, and says when one does not return. When
//! waiting is hopeless it gives the run up: a call in the kernel cannot be ended, but results can still be delivered.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Thread};
use std::time::Duration;

use super::{PhaseContext, RunOrder, RunOutcome, Watcher, now, tag_moved};
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::patience::soon;
use boatload_base::units::span;
use boatload_host::block_device::BlockDevice;
use boatload_host::waiting_call::{ThreadWatch, WaitingCall};
use boatload_plan::DEFAULT_VARIANT;
use boatload_plan::filesystem::Volume;
use boatload_results::book::{Book, CellKey, Measurement};
use boatload_results::invalid::InvalidReason;
use boatload_results::operation::MeasuredOperation;
use boatload_results::store::{RunGrowth, Store};
use boatload_run::ballast::Headway;
use boatload_run::clock::{Clock, RealClock};
use boatload_run::drive::DoneCount;
use boatload_run::interrupt::Interrupt;
use boatload_run::workers::WORKER;

/// The pause between looks at the calls: long enough not to disturb the measurement.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A call that has not returned for so long is said, then after twice that time, and so on.
const SAID_AFTER_NS: u64 = 10_000_000_000;

/// When the time of the run is over, a call that takes no longer may still be an ordinary sync.
const PATIENCE_NS: u64 = 60_000_000_000;

/// A run without a limit for its phases waits so long for a call.
const WAITED_MAX_NS: u64 = 3_600_000_000_000;

/// How long a run that was given up waits for a call, to clean up.
const CLEANS_UP_WITHIN_NS: u64 = 60_000_000_000;

/// Does the work of a run under the eyes of `watcher`, who also hears of calls that do not return. Where all is
/// simulated there are none.
///
/// # Errors
/// As the work; or if it was given up, what became of the call.
pub(super) fn watched(
    order: &RunOrder<'_>,
    store: Option<PathBuf>,
    watcher: &dyn Watcher,
    interrupt: &Interrupt,
    work: impl FnOnce(&dyn Watcher) -> Result<RunOutcome>,
) -> Result<RunOutcome> {
    let plan = order.plan;
    if plan.cells.iter().all(|cell| cell.engine.is_simulated()) {
        return work(watcher);
    }
    let watch = CallWatch {
        order,
        watcher,
        interrupt,
        store,
        clock: RealClock::new(),
        state: Mutex::default(),
        is_over: AtomicBool::new(false),
    };
    let threads = ThreadWatch::new(ThreadWatch::this_thread(), WORKER);
    std::thread::scope(|scope| {
        // Without a thread nobody reports hanging calls, and the run continues.
        let looks = Builder::new().name("calls".into()).spawn_scoped(scope, || watch.look(threads));
        let looks = looks.ok().map(|looks| looks.thread().clone());
        let over = OverAtLast { is_over: &watch.is_over, looks };
        let outcome = work(&watch);
        drop(over);
        let given_up = watch.state().given_up;
        match given_up {
            None => outcome,
            Some(exit) => Err(watch.cleaned_up(exit, outcome)),
        }
    })
}

/// Ends the watch when the work has ended, or panics.
struct OverAtLast<'a> {
    is_over: &'a AtomicBool,
    looks: Option<Thread>,
}

impl Drop for OverAtLast<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.looks.iter().for_each(Thread::unpark);
    }
}

/// What is being done, and how long its calls wait.
struct CallWatch<'a> {
    order: &'a RunOrder<'a>,
    watcher: &'a dyn Watcher,
    interrupt: &'a Interrupt,
    /// The path of the store; `None` when nobody keeps the run.
    store: Option<PathBuf>,
    clock: RealClock,
    state: Mutex<WatchState>,
    is_over: AtomicBool,
}

/// What is known of the run.
#[derive(Default)]
struct WatchState {
    /// The phase under way; `None` between phases.
    phase: Option<PhaseUnderWay>,
    /// The block device that the last phase worked on; `None` without one.
    device: Option<BlockDevice>,
    /// The results that were to be stored; `None` before the run has begun.
    known: Option<Book>,
    /// The exit code of a run that was given up; `None` while it continues.
    given_up: Option<Exit>,
}

/// A phase that has begun.
struct PhaseUnderWay {
    /// Its name and its variant.
    title: String,
    /// Operations that it is to do, if that is known.
    asked: Option<u64>,
    done: Arc<[DoneCount]>,
    limit_ns: Option<u64>,
    /// Whether its operations have ended: its limit says nothing of the sync behind them.
    operations_ended: bool,
    /// When it began, by the clock of the watch.
    begun: u64,
    /// What is known of its measurement.
    measurement: Measurement,
}

impl PhaseUnderWay {
    fn done(&self) -> u64 {
        self.done.iter().map(DoneCount::get).sum()
    }

    /// Why it cannot continue: a call does not return.
    fn hung(&self, call: &WaitingCall) -> InvalidReason {
        InvalidReason::Hung {
            seconds: call.ns as f64 / 1e9,
            place: self.title.clone(),
            operations: self.done(),
            asked: self.asked,
            call: call.to_string(),
        }
    }
}

impl CallWatch<'_> {
    fn state(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the calls until the run is over.
    fn look(&self, mut threads: ThreadWatch) {
        let begun = self.clock.now();
        let mut waited_ns = 0;
        let mut say_at_ns = SAID_AFTER_NS;
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::park_timeout(LOOK_EVERY);
            let now_ns = self.clock.nanoseconds(begun, self.clock.now());
            match threads.look(now_ns, SAID_AFTER_NS) {
                Some(call) => {
                    if self.is_hopeless(&call, now_ns) {
                        return self.give_up(&call, threads, begun);
                    }
                    if call.ns >= say_at_ns {
                        self.watcher.waits(&self.sentence(&call));
                        say_at_ns = call.ns.saturating_mul(2);
                    }
                    waited_ns = call.ns;
                }
                None if say_at_ns > SAID_AFTER_NS => {
                    let seconds = waited_ns as f64 / 1e9;
                    self.watcher.waits(&format!("it has returned after {}", span(seconds)));
                    say_at_ns = SAID_AFTER_NS;
                }
                None => {}
            }
        }
    }

    /// Says which phase a call that does not return keeps from continuing.
    fn sentence(&self, call: &WaitingCall) -> String {
        let seconds = call.ns as f64 / 1e9;
        let no_phase = || format!("a call has not returned for {}: {call}", span(seconds));
        self.state().phase.as_ref().map_or_else(no_phase, |phase| phase.hung(call).sentence())
    }

    /// Whether nobody wants to wait longer for a call.
    fn is_hopeless(&self, call: &WaitingCall, now_ns: u64) -> bool {
        let plan = self.order.plan;
        let is_over = call.ns >= PATIENCE_NS
            && plan.named_limit_seconds().is_some_and(|limit| now_ns as f64 / 1e9 >= limit);
        let took_too_long = match self.state().phase.as_ref() {
            Some(PhaseUnderWay { limit_ns: Some(_), operations_ended: true, .. }) => {
                call.ns >= PATIENCE_NS
            }
            Some(PhaseUnderWay { limit_ns: Some(limit_ns), begun, .. }) => {
                self.clock.nanoseconds(*begun, self.clock.now()) >= *limit_ns
            }
            Some(_) | None => call.ns >= WAITED_MAX_NS,
        };
        is_over || took_too_long || self.interrupt.is_set()
    }

    /// Bytes that were written to the device of the last phase, if that has a file system that boatload made: to others
    /// anybody may write. 0 where that is not known.
    fn written(&self) -> u64 {
        let device = self.state().device.clone().filter(|_| self.order.plan.makes_filesystems());
        let counters = device.and_then(|device| device.counters());
        counters.map_or(0, |counters| counters.write_bytes)
    }

    /// Gives what was measured, lets the run end when its call returns, and does not wait for that for ever, nor for
    /// another call when it cleans up. An unmount that still writes out what was cached is waited for.
    fn give_up(&self, call: &WaitingCall, mut threads: ThreadWatch, watched_since: u64) {
        let exit = if self.interrupt.is_set() { Exit::Interrupted } else { Exit::Failed };
        self.state().given_up = Some(exit);
        let why = self.sentence(call);
        let failure = Failure { exit, sentence: format!("the run ends: {why}") };
        self.watcher.gives_up(self.outcome(failure, call));
        self.interrupt.set();
        let given_up_at = self.clock.now();
        let (mut waits_since, mut written) = (given_up_at, self.written());
        while !self.is_over.load(Ordering::Relaxed) {
            let now = self.clock.now();
            let now_ns = self.clock.nanoseconds(watched_since, now);
            let before = std::mem::replace(&mut written, self.written());
            let is_early = self.clock.nanoseconds(given_up_at, now) < WAITED_MAX_NS;
            if threads.look(now_ns, SAID_AFTER_NS).is_none() || written > before && is_early {
                waits_since = now;
            }
            if self.clock.nanoseconds(waits_since, now) >= CLEANS_UP_WITHIN_NS {
                let sentence = self.about_what_is_left();
                self.watcher.leaves(&Failure { exit, sentence });
                return;
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// What stays behind a call that has not returned.
    fn about_what_is_left(&self) -> String {
        let directory = shown(&self.order.directory);
        let left = format!(
            "the call has still not returned, and the run's directory is left: `boatload clean \
             {directory}` removes it"
        );
        match &self.order.place {
            Volume::Device { path, .. } => {
                let path = shown(path);
                format!(
                    "{left}; {path} may still hold a file system of boatload's, which `wipefs -a {path}` \
                     removes"
                )
            }
            Volume::Image { .. } | Volume::Memory { .. } => left,
        }
    }

    /// What was measured until the run was given up, with the phase that was under way.
    fn outcome(&self, failure: Failure, call: &WaitingCall) -> Result<RunOutcome> {
        let Some(mut book) = self.state().known.take() else { return Err(failure) };
        book.measurements.extend(self.state().phase.as_ref().map(|phase| {
            let done = phase.done();
            Measurement {
                operations: done,
                operations_asked: Some(phase.asked.unwrap_or(done)),
                seconds: Some(self.clock.nanoseconds(phase.begun, self.clock.now()) as f64 / 1e9),
                invalid: vec![phase.hung(call)],
                ..phase.measurement.clone()
            }
        }));
        book.run.finished = Some(now());
        let Some(path) = &self.store else {
            return Ok(RunOutcome { book, failure: Some(failure), is_kept: false });
        };
        let (at, known, tag) = (path.clone(), book.clone(), self.order.tag.clone());
        // It may lie where the call hangs.
        let stored = soon(move || stored(&at, known, tag.as_deref())).unwrap_or_else(|| {
            Err(Failure::failed(format!("the store {} does not answer", shown(path))))
        });
        let is_kept = stored.is_ok();
        let (book, failure) = match stored {
            Ok((book, moved)) => {
                moved.iter().for_each(|moved| self.watcher.notice(moved));
                (book, failure)
            }
            Err(other) => (book, failure.then(&other)),
        };
        Ok(RunOutcome { book, failure: Some(failure), is_kept })
    }

    /// The end of a run that was given up after its call has returned.
    fn cleaned_up(&self, exit: Exit, outcome: Result<RunOutcome>) -> Failure {
        let sentence = "the call has returned, and the run's directory is removed".to_string();
        match outcome.map(|outcome| outcome.failure) {
            Ok(None) => Failure { exit, sentence },
            Ok(Some(failure)) | Err(failure) => Failure { exit, ..failure },
        }
    }
}

/// Completes a run in the store, and sets its tag. Gives the run with all its measurements, and a notice if the tag was
/// moved from another run.
///
/// # Errors
/// If the store does not give or take it.
fn stored(path: &Path, known: Book, tag: Option<&str>) -> Result<(Book, Option<String>)> {
    let mut store = Store::open(path)?;
    let book = completed(&mut store, known)?;
    let id = &book.run.id;
    let Some(tag) = tag else { return Ok((book, None)) };
    // It has it already, unless it did not take it when the run began.
    let before = store.tag(id, tag)?;
    let moved = before.map(|before| tag_moved(tag, &before, id));
    Ok((book, moved))
}

fn completed(store: &mut Store, mut known: Book) -> Result<Book> {
    if !store.has_run(&known.run.id)? {
        return store.import(&known).map(|()| known);
    }
    let mut measurements = store.load(&known.run.id)?.measurements;
    let before = measurements.len();
    measurements.extend(known.measurements.drain(before.min(known.measurements.len())..));
    let book = Book { measurements, ..known };
    let growth =
        RunGrowth { measurements: &book.measurements[before..], cells: &[], head: Some(&book) };
    store.extend_run(&book.run.id, growth)?;
    Ok(book)
}

/// What people know a phase by.
fn title(context: &PhaseContext<'_>) -> String {
    let phase = &context.phase.name;
    match context.key.variant.as_str() {
        DEFAULT_VARIANT => phase.clone(),
        variant => format!("{phase} of {variant}"),
    }
}

impl Watcher for CallWatch<'_> {
    fn status(&self, text: &str) {
        self.watcher.status(text);
    }

    fn notice(&self, text: &str) {
        self.watcher.notice(text);
    }

    fn waits(&self, text: &str) {
        self.watcher.waits(text);
    }

    fn begins(&self, book: &Book) {
        self.state().known = Some(book.clone());
        self.watcher.begins(book);
    }

    fn grows(&self, book: &Book) {
        // Held throughout: whoever gives the run up meanwhile needs what is known of it.
        let mut state = self.state();
        let known = state.known.take();
        let mut measurements = known.map_or_else(Vec::new, |known| known.measurements);
        measurements
            .extend_from_slice(book.measurements.get(measurements.len()..).unwrap_or_default());
        state.known = Some(Book { measurements, ..book.without_measurements() });
        drop(state);
        self.watcher.grows(book);
    }

    fn has_given_up(&self) -> bool {
        self.state().given_up.is_some()
    }

    fn prepares(&self, key: &CellKey, headway: &Headway) {
        self.watcher.prepares(key, headway);
    }

    fn is_known(&self, key: &CellKey) {
        self.watcher.is_known(key);
    }

    fn phase_begins(&self, context: &PhaseContext<'_>, done: Arc<[DoneCount]>) {
        let PhaseContext { key, phase, device, .. } = context;
        let mut state = self.state();
        state.device.clone_from(device);
        state.phase = Some(PhaseUnderWay {
            title: title(context),
            asked: phase.operations(),
            done: Arc::clone(&done),
            limit_ns: phase.limit_ns,
            operations_ended: false,
            begun: self.clock.now(),
            measurement: Measurement {
                cell: (*key).clone(),
                phase: phase.name.clone(),
                pass: phase.pass,
                operation: Some(MeasuredOperation::of(phase)),
                durability: Some(phase.durability),
                threads: Some(phase.threads),
                ..Measurement::default()
            },
        });
        drop(state);
        self.watcher.phase_begins(context, done);
    }

    fn operations_end(&self) {
        self.state().phase.iter_mut().for_each(|phase| phase.operations_ended = true);
        self.watcher.operations_end();
    }

    fn phase_fails(&self) {
        self.state().phase = None;
        self.watcher.phase_fails();
    }

    fn phase_ends(&self, context: &PhaseContext<'_>, measurement: &Measurement) {
        self.state().phase = None;
        self.watcher.phase_ends(context, measurement);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::{Settings, read_job};
    use boatload_results::fixture;

    struct Listener(Mutex<Vec<String>>);

    impl Watcher for Listener {
        fn notice(&self, text: &str) {
            self.0.lock().unwrap().push(text.into());
        }
    }

    /// What a watch says of a run with the tag `base` that has begun, and what is said meanwhile.
    fn watching<T>(
        store: Option<PathBuf>,
        then: impl FnOnce(&CallWatch<'_>) -> T,
    ) -> (T, Vec<String>) {
        let job = "name = 't'\n[tree]\nfiles = 1\n[[phase]]\noperation = 'create'\n";
        let plan = read_job(job, &Settings::default()).unwrap();
        let order = RunOrder {
            plan: &plan,
            directory: PathBuf::from("."),
            command: "a test".into(),
            fill_real: false,
            place: Volume::default(),
            tag: Some("base".into()),
            group: None,
        };
        let listener = Listener(Mutex::default());
        let watch = CallWatch {
            order: &order,
            watcher: &listener,
            interrupt: &Interrupt::default(),
            store,
            clock: RealClock::new(),
            state: Mutex::new(WatchState { known: Some(fixture::book()), ..WatchState::default() }),
            is_over: AtomicBool::new(false),
        };
        let found = then(&watch);
        (found, listener.0.into_inner().unwrap())
    }

    /// What is given of such a run that is given up.
    fn given_up(store: Option<PathBuf>) -> (RunOutcome, Vec<String>) {
        let call = Some("openat".into());
        let call = WaitingCall { ns: 90_000_000_000, call, file: None, waits_in: Vec::new() };
        let (outcome, said) =
            watching(store, |watch| watch.outcome(Failure::failed("the run ends"), &call));
        (outcome.unwrap(), said)
    }

    #[test]
    fn the_sync_behind_a_phase_may_take_longer_than_what_its_limit_leaves() {
        let call = |seconds: u64| WaitingCall {
            ns: seconds * 1_000_000_000,
            call: None,
            file: None,
            waits_in: Vec::new(),
        };
        watching(None, |watch| {
            let is_hopeless = |seconds| watch.is_hopeless(&call(seconds), 0);
            watch.state().phase = Some(PhaseUnderWay {
                title: "create".into(),
                asked: None,
                done: DoneCount::of_workers(1),
                limit_ns: Some(0),
                operations_ended: false,
                begun: watch.clock.now(),
                measurement: Measurement::default(),
            });
            assert!(is_hopeless(11), "an operation beyond the limit");
            watch.operations_end();
            assert!(!is_hopeless(11) && !is_hopeless(59), "an ordinary sync");
            assert!(is_hopeless(61));
            watch.phase_fails();
            assert!(!is_hopeless(61), "no phase is under way");
        });
    }

    #[test]
    fn a_run_that_nobody_keeps_makes_no_store_when_it_is_given_up() {
        let store = Store::in_memory().unwrap();
        let (outcome, _) = given_up(store.path().map(Path::to_path_buf));
        assert!(!outcome.is_kept && outcome.failure.is_some());
        assert!(!Path::new(":memory:").exists());
    }

    #[test]
    fn a_run_that_is_given_up_has_its_tag_though_the_store_did_not_take_the_run_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        let mut before = fixture::book();
        before.run.id = "before00".into();
        store.import(&before).unwrap();
        store.tag("before00", "base").unwrap();
        let (outcome, notices) = given_up(Some(path));
        let id = &outcome.book.run.id;
        assert!(outcome.is_kept);
        assert_eq!(&store.find_run("base").unwrap(), id);
        assert_eq!(notices, [tag_moved("base", "before00", id)]);
    }
}
