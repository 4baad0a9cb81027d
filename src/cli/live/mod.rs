//! `boatload run --live`: a view of the run on the whole terminal. It watches the run as the plain
//! progress does, and hands over to that when it is left.

mod cells;
mod forecast;
mod line;
mod look;
mod matrix;
mod pace;
mod screen;
mod state;
mod text;
mod told;
mod view;

#[cfg(test)]
mod tests;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use self::look::Look;
use self::pace::Sample;
use self::screen::{Event, Screen, Tenure};
use self::state::State;
use self::told::{Known, Stand, Told};
use super::progress::{Progress, place, sum};
use super::{out, screen as terminal};
use crate::host::disturbance::ProcessorTimes;
use crate::measure::book::{CellKey, Measurement};
use crate::plan::Plan;
use crate::run::ballast::Headway;
use crate::run::clock::{Clock, RealClock};
use crate::run::drive::DoneCount;
use crate::run::interrupt::Interrupt;
use crate::session::{PhaseContext, Watcher};

/// How often it looks at counters and draws: seldom enough not to disturb what it shows.
const LOOK_EVERY_NS: u64 = 250_000_000;

/// How long the end of a run waits for the view to be left: where that takes longer, nobody reads.
const LEAVE_WAIT: Duration = Duration::from_secs(2);

/// A view that is watching a run. Dropping it gives the terminal back.
pub(super) struct Live {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Disconnected when the thread is over.
    ended: Receiver<()>,
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

impl Live {
    /// Takes the terminal and shows the run of this plan on it from now on; none, with a sentence why,
    /// where that cannot be done. From when it is left on, a signal may end the process at once.
    pub(super) fn begin(
        plan: &Plan,
        progress: &Arc<Progress>,
        interrupt: &Interrupt,
    ) -> Option<Self> {
        let begun = Self::try_begin(plan, progress, interrupt);
        if let Err(why) = &begun {
            // The kernel has taken handlers of these signals before.
            let _ = interrupt.arm();
            out::note(&format!("no live view, {why}; progress comes in plain lines"));
        }
        begun.ok()
    }

    fn try_begin(
        plan: &Plan,
        progress: &Arc<Progress>,
        interrupt: &Interrupt,
    ) -> Result<Self, String> {
        // It may take a moment, in which an empty screen would be seen.
        let clock = RealClock::new();
        let state = State::new(plan);
        let screen = Screen::enter(interrupt)?;
        let shared = Arc::new(Shared {
            known: Mutex::default(),
            tenure: screen.tenure(),
            progress: Arc::clone(progress),
            interrupt: interrupt.clone(),
            begun: clock.now(),
            clock,
        });
        let watched = Arc::clone(&shared);
        let (ends, ended) = channel();
        let show = move || watched.show(screen, state, ends);
        // Dropping what it was to run gives the terminal back.
        let thread = std::thread::Builder::new().name("live".into()).spawn(show);
        let thread = thread.map_err(|error| format!("no thread can be started for it: {error}"))?;
        Ok(Self { shared, thread: Some(thread), ended })
    }

    /// Lets the view know; tells it plainly if there is no view any more.
    fn tell(
        &self,
        told: impl FnOnce() -> Told,
        done: Option<Arc<[DoneCount]>>,
        plainly: impl FnOnce(&Progress),
    ) {
        if self.shared.interrupt.is_set() {
            // The view leaves by itself as well, if it can.
            self.shared.leave();
        }
        let seconds = self.shared.seconds();
        let mut known = self.shared.known();
        if known.left {
            drop(known);
            plainly(&self.shared.progress);
        } else {
            known.take(seconds, told(), done);
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.known().over = true;
        self.shared.tenure.wake();
        let ended = self.ended.recv_timeout(LEAVE_WAIT) == Err(RecvTimeoutError::Disconnected);
        if let Some(thread) = self.thread.take().filter(|_| ended) {
            let _ = thread.join();
        }
        self.shared.leave();
    }
}

impl Watcher for Live {
    fn says(&self, text: &str) {
        self.tell(|| Told::Says(text.into()), None, |progress| progress.says(text));
    }

    fn tells(&self, text: &str) {
        self.tell(|| Told::Tells(text.into()), None, |progress| progress.tells(text));
    }

    fn prepares(&self, key: &CellKey, headway: &Headway) {
        let told = || Told::Prepares(key.clone(), headway.clone());
        self.tell(told, None, |progress| progress.prepares(key, headway));
    }

    fn phase_begins(&self, standing: &PhaseContext<'_>, done: Arc<[DoneCount]>) {
        let told = || Told::Begins(Arc::new(Stand::of(standing)));
        let counted = Some(Arc::clone(&done));
        self.tell(told, counted, |progress| progress.phase_begins(standing, done));
    }

    fn phase_ends(&self, standing: &PhaseContext<'_>, measurement: &Measurement) {
        let told = || Told::Ends(place(standing), Box::new(measurement.clone()));
        self.tell(told, None, |progress| progress.phase_ends(standing, measurement));
    }
}

/// Leaves the view also where it fails.
struct Leaving<'a>(&'a Shared);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds since the run began.
    fn seconds(&self) -> f64 {
        self.clock.nanoseconds(self.begun, self.clock.now()) as f64 / 1e9
    }

    /// Draws until the view is left or the run is over; `ends` goes when that is done.
    fn show(&self, mut screen: Screen, mut state: State, ends: Sender<()>) {
        let _ends = ends;
        let _leaving = Leaving(self);
        let look = Look::of(terminal::style_of_errors());
        loop {
            self.look(&mut state);
            if screen.draw(|buffer| view::draw(&state, look, buffer)).is_err()
                || self.waits(&mut screen)
            {
                break;
            }
        }
    }

    /// Looks at the counters, after what was told.
    fn look(&self, state: &mut State) {
        let (news, now) = self.known().news();
        news.iter().for_each(|(seconds, told)| state.hears(*seconds, told));
        let device = now.stand.as_ref().and_then(|stand| stand.device.as_ref());
        state.take(&Sample {
            seconds: self.seconds(),
            done: now.counts.map(|(done, before)| before + sum(&done)),
            device: device.and_then(|device| device.counters().ok()),
            processors: ProcessorTimes::now(),
        });
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

    /// Gives the terminal back, with what is to stay on it, and lets the plain progress go on. The run
    /// may tell more meanwhile: it does not wait for the terminal.
    fn leave(&self) {
        self.tenure.end();
        loop {
            let mut known = self.known();
            if known.left {
                return;
            }
            let kept = std::mem::take(&mut known.kept);
            if kept.is_empty() {
                known.left = true;
                if !known.over {
                    known.hand_over(&*self.progress);
                }
                return;
            }
            drop(known);
            kept.iter().filter(|_| self.tenure.takes()).for_each(|text| out::note(text));
        }
    }
}
