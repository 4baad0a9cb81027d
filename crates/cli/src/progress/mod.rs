//! Shows the progress of a run on standard error: one line on a terminal, a line for each cell in a pipe.

mod line;
mod state;

#[cfg(test)]
mod tests;

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use self::line::progress_line;
use self::state::{RunState, level_text};
use super::out;
use super::terminal_width::columns;
use boatload_base::failure::{Failure, Result, shown};
use boatload_plan::Plan;
use boatload_results::book::{Book, CellKey, Measurement};
use boatload_run::ballast::Headway;
use boatload_run::clock::{Clock, RealClock};
use boatload_run::drive::DoneCount;
use boatload_session::{PhaseContext, RunOutcome, Watcher};

/// The pause between readings of the counters: long enough not to disturb the measurement.
const DRAW_EVERY: Duration = Duration::from_millis(250);

/// How long the end of a run waits for the display: a terminal that takes longer has no reader.
const END_SECONDS_MAX: f64 = 2.0;

/// Shows progress on standard error until it is dropped.
pub(super) struct Progress<'a> {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    last_words: Option<LastWords<'a>>,
}

/// What is done with a run that was given up.
type LastWords<'a> = &'a (dyn Fn(Result<RunOutcome>) + Sync);

/// What the run and the thread that shows it share.
struct Shared {
    known: Mutex<Known>,
    clock: RealClock,
    begun: u64,
}

/// What is known of the run, and how it is shown.
#[derive(Default)]
struct Known {
    state: RunState,
    display: Display,
    /// The counters of what is counted now; none between phases.
    workers: Option<Arc<[DoneCount]>>,
    /// The last title in a pipe of what comes in several parts.
    title: String,
    /// What the line shows.
    line: String,
    is_over: bool,
}

/// Where progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Display {
    /// The last line of the terminal.
    Line,
    /// A line for each cell, where there is no terminal.
    #[default]
    Pipe,
    /// Nowhere.
    Nowhere,
}

/// Whether progress is shown.
#[derive(clap::Args, Clone, Copy, Default)]
pub(super) struct Quiet {
    /// Print only errors and warnings on standard error
    #[arg(long, hide_short_help = true)]
    quiet: bool,
}

impl<'a> Progress<'a> {
    /// A line on a terminal, and a line for each cell in a pipe; nothing if that is asked for.
    pub(super) fn new(plan: Option<&Plan>, Quiet { quiet }: Quiet) -> Self {
        let display = match std::io::stderr().is_terminal() {
            _ if quiet => Display::Nowhere,
            true => Display::Line,
            false => Display::Pipe,
        };
        let clock = RealClock::new();
        let state = plan.map(RunState::new).unwrap_or_default();
        let known = Mutex::new(Known { state, display, ..Known::default() });
        let shared = Arc::new(Shared { known, begun: clock.now(), clock });
        let thread = (display == Display::Line).then(|| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name("progress".into()).spawn(move || shared.show())
        });
        // Without a thread the display is missing, and the run continues.
        let thread = thread.and_then(std::io::Result::ok);
        Self { shared, thread, last_words: None }
    }

    /// The same, with what is done with a run that is given up.
    pub(super) fn with_last_words(self, last_words: LastWords<'a>) -> Self {
        let mut progress = self;
        progress.last_words = Some(last_words);
        progress
    }

    /// Shows nothing more but notices.
    fn end(&self) {
        let mut known = self.known();
        known.is_over = true;
        let ended = known.state.cell_ends();
        known.say_in_pipe(ended);
        known.clear_line();
    }

    /// Shows how far the making of files, or a series of runs, is.
    pub(super) fn prepares_files(&self, title: &str, headway: &Headway) {
        self.shows_headway(title, headway);
        let mut known = self.known();
        if known.title != title {
            known.say_in_pipe(Some(title.into()));
            known.title = title.into();
        }
    }

    fn shows_headway(&self, title: &str, headway: &Headway) {
        let workers = match headway {
            Headway::CleaningUp => return self.notice("cleaning up; Ctrl-C ends it at once"),
            Headway::Share(_) => None,
            Headway::Making { done, .. } => Some(Arc::clone(done)),
        };
        let mut known = self.known();
        known.workers = workers;
        known.state.prepares(title, headway);
    }

    /// Clears the line, for a result that is printed in its place.
    pub(super) fn clear_line(&self) {
        self.known().clear_line();
    }

    /// What is known, brought up to now.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.shared.known_now()
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.shared.known().is_over = true;
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let begun = self.shared.seconds();
            while !thread.is_finished() && self.shared.seconds() < begun + END_SECONDS_MAX {
                boatload_base::patience::pause(Duration::from_millis(5));
            }
        }
        self.end();
    }
}

impl Watcher for Progress<'_> {
    fn status(&self, text: &str) {
        self.known().state.status = shown(text);
    }

    fn notice(&self, text: &str) {
        let mut known = self.known();
        match known.display {
            Display::Nowhere => {}
            Display::Pipe => out::note(text),
            Display::Line => {
                known.clear_line();
                out::note(text);
            }
        }
    }

    fn begins(&self, book: &Book) {
        self.known().state.begins(&book.run);
    }

    fn waits(&self, text: &str) {
        self.notice(text);
        // Nobody who asked for quiet meant this.
        if self.known().display == Display::Nowhere {
            out::note(text);
        }
    }

    fn gives_up(&self, outcome: Result<RunOutcome>) {
        self.end();
        if let Some(last_words) = self.last_words {
            last_words(outcome);
        }
    }

    fn leaves(&self, why: &Failure) {
        out::complain(&why.sentence);
        out::end();
        std::process::exit(why.exit as i32);
    }

    fn prepares(&self, key: &CellKey, headway: &Headway) {
        let level = key.level.as_ref().map_or_else(String::new, level_text);
        self.shows_headway(&format!("bringing the place to {level}"), headway);
    }

    fn is_known(&self, key: &CellKey) {
        self.known().state.is_known(key);
    }

    fn phase_begins(&self, context: &PhaseContext<'_>, done: Arc<[DoneCount]>) {
        let mut known = self.known();
        known.workers = Some(done);
        let ended = known.state.phase_begins(context);
        known.say_in_pipe(ended);
    }

    fn phase_ends(&self, _: &PhaseContext<'_>, measurement: &Measurement) {
        let mut known = self.known();
        known.workers = None;
        let ended = known.state.phase_ends(measurement);
        known.say_in_pipe(ended);
    }
}

impl Known {
    fn clear_line(&mut self) {
        if !std::mem::take(&mut self.line).is_empty() {
            out::write_error("\r\x1b[K");
        }
    }

    fn say_in_pipe(&self, text: Option<String>) {
        let text = text.filter(|_| self.display == Display::Pipe);
        text.iter().for_each(|text| out::note(text));
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_now(&self) -> MutexGuard<'_, Known> {
        let seconds = self.seconds();
        let mut known = self.known();
        known.state.seconds = seconds;
        known
    }

    /// Seconds since the run began.
    fn seconds(&self) -> f64 {
        self.clock.nanoseconds(self.begun, self.clock.now()) as f64 / 1e9
    }

    /// Shows the run until it is over.
    fn show(&self) {
        while !self.known().is_over {
            let mut known = self.known_now();
            let done = known.workers.as_ref();
            let done = done.map(|workers| workers.iter().map(DoneCount::get).sum());
            known.state.take(done);
            drop(known);
            self.draw_line();
            std::thread::park_timeout(DRAW_EVERY);
        }
    }

    /// Shows the line anew if it has changed. Nothing waits for a terminal that has no reader.
    fn draw_line(&self) {
        let mut known = self.known();
        let text = progress_line(&known.state, columns(&std::io::stderr()));
        if known.display == Display::Line && !known.is_over && text != known.line {
            known.line.clone_from(&text);
            out::write_error(&format!("\r{text}\x1b[K"));
        }
    }
}
