//! Repeats all cells until the answer is decided, the last look has been made, or the time limit is reached.

use super::Session;
use boatload_analysis::decided::is_decided;
use boatload_base::failure::Result;
use boatload_base::units::{counted, span};
use boatload_plan::Plan;
use boatload_plan::repetition::{LOOKS, REPEATS_MIN};
use boatload_results::book::Measurement;
use boatload_results::store::FinishedCell;
use boatload_run::clock::{Clock, RealClock};

/// The time that a run takes. Where everything is simulated, it is simulated time, so that the seed decides
/// the number of repeats, on any machine.
pub(super) struct SpentTime {
    clock: RealClock,
    begun: u64,
    simulated: Option<f64>,
    /// Seconds of the run that were over when the clock was begun: those before it was resumed.
    before: f64,
    /// When the last cell ended, in seconds since the run began. Decisions rest on it and not on the time at which they
    /// are made, so that a resumed run makes the same ones.
    ended: f64,
    /// Seconds of all cells, without places that are prepared once for several repeats.
    cells: f64,
}

impl SpentTime {
    pub(super) fn new(plan: &Plan, clock: &RealClock) -> Self {
        let is_simulated = plan.cells.iter().all(|cell| cell.engine.is_simulated());
        Self {
            clock: clock.clone(),
            begun: clock.now(),
            simulated: is_simulated.then_some(0.0),
            before: 0.0,
            ended: 0.0,
            cells: 0.0,
        }
    }

    /// Seconds since the run began.
    pub(super) fn seconds(&self) -> f64 {
        self.simulated.unwrap_or_else(|| self.before + self.clock_seconds())
    }

    fn clock_seconds(&self) -> f64 {
        self.clock.nanoseconds(self.begun, self.clock.now()) as f64 / 1e9
    }

    /// A phase is over.
    pub(super) fn phase(&mut self, m: &Measurement) {
        if let Some(simulated) = &mut self.simulated {
            *simulated += m.durable_seconds();
        }
    }

    /// A cell that began at this time is over; when it ended.
    pub(super) fn cell(&mut self, begun: f64) -> f64 {
        self.ended = self.seconds();
        self.cells += self.ended - begun;
        self.ended
    }

    /// A cell was done before the run was resumed.
    pub(super) fn pass_over(&mut self, done: &FinishedCell) {
        self.cells += done.ended - done.begun;
        self.ended = done.ended;
        match &mut self.simulated {
            Some(simulated) => *simulated = done.ended,
            None => self.before = done.ended - self.clock_seconds(),
        }
    }

    /// When the next repeat would end, in seconds since the run began, if it takes as long as the mean of those that are done.
    fn next_repeat_ends(&self, done: u32) -> f64 {
        self.ended + self.cells / f64::from(done.max(1))
    }
}

impl Session<'_> {
    /// All cells, until the answer is decided or the time limit is reached.
    pub(super) fn cells_until_decided(&mut self, limit_seconds: f64) -> Result<()> {
        let mut done = 0;
        for look in &LOOKS {
            self.repeats = look.repeats;
            while done < look.repeats {
                let is_late = self.spent.next_repeat_ends(done) > limit_seconds;
                if done >= REPEATS_MIN && is_late {
                    self.tell(done, "the next one would end after the time limit");
                    return Ok(());
                }
                if !self.repeat(done + 1)? {
                    return Ok(());
                }
                done += 1;
            }
            let is_decided = is_decided(&self.book, look.alpha);
            self.book.run.stopping.add_look(look, is_decided);
            self.record.update(&self.book, self.watcher);
            if is_decided {
                self.tell(done, "the answer is decided");
                return Ok(());
            }
            self.tell(done, "the answer is open");
        }
        Ok(())
    }

    /// All cells of one repeat; whether they were all measured.
    fn repeat(&mut self, repeat: u32) -> Result<bool> {
        for index in self.plan.order_of(repeat) {
            if self.interrupt.is_set() {
                return Ok(false);
            }
            self.one(index, repeat)?;
        }
        self.book.run.repeats = repeat.max(REPEATS_MIN);
        Ok(!self.interrupt.is_set())
    }

    /// Says what was decided after a number of repeats, unless that was said before the run was resumed.
    fn tell(&self, done: u32, text: &str) {
        if self.known.cells.is_empty() {
            let (repeats, took) = (counted(u64::from(done), "repeat"), span(self.spent.ended));
            self.watcher.notice(&format!("after {repeats} in {took}: {text}"));
        }
    }
}
