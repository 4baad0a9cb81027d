//! `boatload run --live`: a view of the run on the whole terminal. It watches the run as the plain
//! progress does, and hands over to that when it is left.

mod cells;
mod forecast;
mod look;
mod matrix;
mod pace;
mod screen;
mod state;
mod text;
mod view;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use self::look::Look;
use self::pace::Sample;
use self::screen::{Event, Screen, Tenure};
use self::state::State;
use super::out;
use super::progress::{Progress, sum};
use crate::host::device::BlockDevice;
use crate::host::disturbance::ProcessorTimes;
use crate::measure::book::{CellKey, Measurement};
use crate::plan::{Phase, Plan};
use crate::run::ballast::Headway;
use crate::run::clock::{Clock, RealClock};
use crate::run::drive::DoneCount;
use crate::run::interrupt::Interrupt;
use crate::session::{Standing, Watcher};

/// How often it looks at counters and draws: seldom enough not to disturb what it shows.
const LOOK_EVERY_NS: u64 = 250_000_000;

/// A view that is watching a run. Dropping it gives the terminal back.
pub(super) struct Live {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the run tells and the view shows.
struct Shared {
    known: Mutex<Known>,
    tenure: Arc<Tenure>,
    progress: Arc<Progress>,
    interrupt: Interrupt,
    clock: RealClock,
    begun: u64,
}

struct Known {
    state: State,
    /// What each worker has done, while something is being counted, and what there was before.
    counts: Option<(Arc<[DoneCount]>, u64)>,
    device: Option<BlockDevice>,
    /// The phase that runs.
    phase: Option<Stand>,
    /// What stays where people can read it.
    kept: Vec<String>,
    /// Whether the run is over.
    over: bool,
    /// Whether the view was left.
    left: bool,
}

/// A standing that can be kept.
struct Stand {
    cell: usize,
    cells: usize,
    repeats: u32,
    key: CellKey,
    phase: Phase,
    operations_before: u64,
    operations: u64,
    device: Option<BlockDevice>,
}

impl Live {
    /// Takes the terminal and shows the run of this plan on it from now on; none, with a sentence why,
    /// where that cannot be done.
    pub(super) fn begin(
        plan: &Plan,
        progress: &Arc<Progress>,
        interrupt: &Interrupt,
    ) -> Option<Self> {
        // It may take a moment, in which an empty screen would be seen.
        let clock = RealClock::new();
        let screen = match Screen::enter() {
            Ok(screen) => screen,
            Err(why) => {
                out::note(&format!("no live view, {why}; progress comes in plain lines"));
                return None;
            }
        };
        let known = Known {
            state: State::new(plan),
            counts: None,
            device: None,
            phase: None,
            kept: Vec::new(),
            over: false,
            left: false,
        };
        let shared = Arc::new(Shared {
            known: Mutex::new(known),
            tenure: screen.tenure(),
            progress: Arc::clone(progress),
            interrupt: interrupt.clone(),
            begun: clock.now(),
            clock,
        });
        let watched = Arc::clone(&shared);
        let show = move || watched.show(screen);
        // Dropping what it was to run gives the terminal back.
        let thread = std::thread::Builder::new().name("live".into()).spawn(show).ok()?;
        Some(Self { shared, thread: Some(thread) })
    }

    /// Lets the view take something in; false if there is none any more.
    fn shows(&self, take: impl FnOnce(&mut Known)) -> bool {
        let mut known = self.shared.known();
        let shows = !known.left && self.shared.tenure.holds();
        if shows {
            known.state.seconds = self.shared.seconds();
            take(&mut known);
        }
        shows
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.known().over = true;
        self.shared.tenure.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // A view that failed has told nothing of what is to stay.
        self.shared.leave();
    }
}

impl Watcher for Live {
    fn says(&self, text: &str) {
        if !self.shows(|known| known.state.says(text)) {
            self.shared.progress.says(text);
        }
    }

    fn tells(&self, text: &str) {
        let take = |known: &mut Known| {
            known.state.tells(text);
            known.kept.push(text.into());
        };
        if !self.shows(take) {
            self.shared.progress.tells(text);
        }
    }

    fn prepares(&self, key: &CellKey, headway: &Headway) {
        let take = |known: &mut Known| {
            known.state.prepares(key, headway);
            match headway {
                Headway::Making { before, done, .. } => {
                    known.counts = Some((Arc::clone(done), *before));
                }
                Headway::Found(what) => known.kept.push(what.clone()),
                Headway::Share(_) | Headway::ClearingUp => known.counts = None,
            }
        };
        if !self.shows(take) {
            self.shared.progress.prepares(key, headway);
        }
    }

    fn phase_begins(&self, standing: &Standing<'_>, done: Arc<[DoneCount]>) {
        let take = |known: &mut Known| {
            known.state.phase_begins(standing);
            known.counts = Some((Arc::clone(&done), 0));
            known.device.clone_from(&standing.device);
            known.phase = Some(Stand::of(standing));
        };
        if !self.shows(take) {
            self.shared.progress.phase_begins(standing, done);
        }
    }

    fn phase_ends(&self, standing: &Standing<'_>, measurement: &Measurement) {
        let take = |known: &mut Known| {
            known.state.phase_ends(standing, measurement);
            (known.counts, known.phase) = (None, None);
        };
        if !self.shows(take) {
            self.shared.progress.phase_ends(standing, measurement);
        }
    }
}

impl Shared {
    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds since the run began.
    fn seconds(&self) -> f64 {
        self.clock.nanoseconds(self.begun, self.clock.now()) as f64 / 1e9
    }

    /// Draws until the view is left or the run is over.
    fn show(&self, mut screen: Screen) {
        let look = Look::of_environment();
        loop {
            let state = self.look();
            if screen.draw(|buffer| view::draw(&state, look, buffer)).is_err()
                || self.waits(&mut screen)
            {
                break;
            }
        }
        self.leave();
    }

    /// Looks at the counters; gives all that is known then, so that nobody waits for a terminal.
    fn look(&self) -> State {
        let mut known = self.known();
        let counts = known.counts.as_ref();
        let sample = Sample {
            seconds: self.seconds(),
            done: counts.map(|(done, before)| before + sum(done)),
            device: known.device.as_ref().and_then(|device| device.counters().ok()),
            processors: ProcessorTimes::now(),
        };
        known.state.take(&sample);
        known.state.clone()
    }

    /// Waits for the next look; true if there is none.
    fn waits(&self, screen: &mut Screen) -> bool {
        let begun = self.clock.now();
        loop {
            let waited = self.clock.nanoseconds(begun, self.clock.now());
            let Some(rest) = LOOK_EVERY_NS.checked_sub(waited).filter(|rest| *rest > 0) else {
                return false;
            };
            match screen.event(rest) {
                Some(Event::Leave) => return true,
                Some(Event::Stop) => self.interrupt.set(),
                Some(Event::Woken) | None => {}
            }
            // Whoever wants to stop sees plainly what is cleared up, and can end that as well.
            if self.interrupt.is_set() || self.known().over || !self.tenure.holds() {
                return true;
            }
        }
    }

    /// Gives the terminal back, with what is to stay on it, and lets the plain progress go on.
    fn leave(&self) {
        let mut known = self.known();
        if std::mem::replace(&mut known.left, true) {
            return;
        }
        self.tenure.end();
        known.kept.iter().for_each(|text| out::note(text));
        if known.over {
            return;
        }
        match (&known.phase, &known.counts) {
            (Some(phase), Some((done, _))) => {
                self.progress.phase_begins(&phase.standing(), Arc::clone(done));
            }
            _ => self.progress.says(&known.state.doing),
        }
    }
}

impl Stand {
    fn of(standing: &Standing<'_>) -> Self {
        Self {
            cell: standing.cell,
            cells: standing.cells,
            repeats: standing.repeats,
            key: standing.key.clone(),
            phase: standing.phase.clone(),
            operations_before: standing.operations_before,
            operations: standing.operations,
            device: standing.device.clone(),
        }
    }

    fn standing(&self) -> Standing<'_> {
        Standing {
            cell: self.cell,
            cells: self.cells,
            repeats: self.repeats,
            key: &self.key,
            phase: &self.phase,
            operations_before: self.operations_before,
            operations: self.operations,
            device: self.device.clone(),
        }
    }
}
