//! Shows the progress of a run on standard error: one line on a terminal, a line for each cell in a pipe,
//! and with `--live` a view on the whole terminal.

mod canvas;
mod costs;
mod state;
mod terminal;
mod trace_state;
mod trace_view;
mod view;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod trace_tests;

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use self::state::{CounterSample, RunState, cell_words, level_text};
use self::terminal::{Screen, TerminalHold};
use self::trace_state::TraceState;
use self::trace_view::draw_trace;
use self::view::progress_line;
use super::{out, terminal_style};
use crate::base::failure::{Failure, Result, shown};
use crate::base::units::{counted, duration};
use crate::host::block_device::{BlockDevice, DeviceCounters};
use crate::host::disturbance::ProcessorTimes;
use crate::host::tracing::TraceBatch;
use crate::plan::Plan;
use crate::results::book::{Book, CellKey, Measurement};
use crate::run::ballast::Headway;
use crate::run::clock::{Clock, RealClock};
use crate::run::drive::DoneCount;
use crate::run::interrupt::Interrupt;
use crate::session::{PhaseContext, RunOutcome, Watcher};

/// The pause between readings of the counters: long enough not to disturb the measurement.
const DRAW_EVERY_NS: u64 = 250_000_000;

/// In a pipe, a preparation that took longer than this is reported, in seconds.
const PREPARING_SECONDS_SHOWN: f64 = 3.0;

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
    /// The hold on the terminal, if the view was shown.
    hold: Option<Arc<TerminalHold>>,
    clock: RealClock,
    begun: u64,
}

/// What is known of the run, and how it is shown.
#[derive(Default)]
struct Known {
    state: RunState,
    /// What a trace has counted, while a view shows it.
    trace: Option<TraceState>,
    display: Display,
    /// The counters of what is counted now; none between phases.
    workers: Option<Arc<[DoneCount]>>,
    /// The device of the last phase.
    device: Option<Arc<BlockDevice>>,
    /// The cell that runs, for a pipe.
    cell: Option<CellTally>,
    /// The last title in a pipe of what comes in several parts.
    title: String,
    /// What the line shows.
    line: String,
    /// Notices that are printed when the view is left.
    kept: Vec<String>,
    is_over: bool,
}

/// Where progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Display {
    /// The whole terminal.
    View,
    /// The last line of the terminal.
    Line,
    /// A line for each cell, where there is no terminal.
    #[default]
    Pipe,
    /// Nowhere.
    Nowhere,
}

/// The phases of one cell that are over.
struct CellTally {
    key: CellKey,
    title: String,
    /// What came before its first phase.
    beginning_seconds: f64,
    phases: u64,
    invalid: u64,
    seconds: f64,
}

/// Whether progress is shown.
#[derive(clap::Args, Clone, Copy, Default)]
pub(super) struct Quiet {
    /// Print only errors and warnings on standard error
    #[arg(long, hide_short_help = true)]
    quiet: bool,
}

/// Whether a view can be shown, as far as that is known beforehand.
pub(super) fn can_be_live() -> bool {
    terminal::terminal().is_ok()
}

impl<'a> Progress<'a> {
    /// A line on a terminal, and a line for each cell in a pipe; nothing if that is asked for.
    pub(super) fn plain(plan: Option<&Plan>, Quiet { quiet }: Quiet) -> Self {
        let display = match std::io::stderr().is_terminal() {
            _ if quiet => Display::Nowhere,
            true => Display::Line,
            false => Display::Pipe,
        };
        let shared = Shared::new(plan, display, None);
        // Without a thread the line is missing, and the run continues.
        let thread = (display == Display::Line).then(|| shared.start(None).ok()).flatten();
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
        self.shared.known().is_over = true;
        self.shared.leave_view();
        let mut known = self.shared.known();
        known.cell_ends();
        known.clear_line();
    }

    /// Takes the terminal and shows the run of this plan on it. Where that cannot be done, a sentence
    /// says why, and progress is plain. After the view is left a signal may end the process at once.
    pub(super) fn live(plan: &Plan, interrupt: &Interrupt) -> Self {
        Self::in_view(Some(plan), None, interrupt)
    }

    /// The same of a trace.
    pub(super) fn live_trace(target: &str, interrupt: &Interrupt) -> Self {
        Self::in_view(None, Some(TraceState::new(target)), interrupt)
    }

    fn in_view(plan: Option<&Plan>, trace: Option<TraceState>, interrupt: &Interrupt) -> Self {
        let shown = Screen::enter(interrupt).and_then(|screen| {
            let shared = Shared::new(plan, Display::View, Some(screen.hold()));
            shared.known().trace = trace;
            // On failure the screen is dropped, which gives the terminal back.
            let thread = shared.start(Some(screen));
            let thread = thread.map_err(|why| format!("no thread can be started for it: {why}"))?;
            Ok(Self { shared, thread: Some(thread), last_words: None })
        });
        shown.unwrap_or_else(|why| {
            // The kernel has taken handlers of these signals before.
            let _ = interrupt.arm();
            out::note(&format!("no live view, {why}; progress comes in plain lines"));
            Self::plain(plan, Quiet::default())
        })
    }

    /// Shows how far the making of files, or a series of runs, is.
    pub(super) fn prepares_files(&self, title: &str, headway: &Headway) {
        self.shows_headway(title, headway);
        let mut known = self.known();
        if known.display == Display::Pipe && known.title != title {
            out::note(title);
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

    /// What is known, brought up to now. A view is left first where the user wants to stop.
    fn known(&self) -> MutexGuard<'_, Known> {
        if self.shared.hold.as_ref().is_some_and(|hold| hold.interrupt().is_set()) {
            self.shared.leave_view();
        }
        let seconds = self.shared.seconds();
        let mut known = self.shared.known();
        known.state.seconds = seconds;
        known
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.shared.known().is_over = true;
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let begun = self.shared.seconds();
            while !thread.is_finished() && self.shared.seconds() < begun + END_SECONDS_MAX {
                crate::base::patience::pause(Duration::from_millis(5));
            }
        }
        self.end();
    }
}

impl Watcher for Progress<'_> {
    fn status(&self, text: &str) {
        let mut known = self.known();
        known.state.status = shown(text);
        known.cell_ends();
    }

    fn notice(&self, text: &str) {
        let mut known = self.known();
        known.state.add_notice(text, false);
        match known.display {
            Display::View => known.kept.push(text.into()),
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

    fn traced(&self, seconds: f64, batch: &TraceBatch) {
        if let Some(trace) = &mut self.known().trace {
            trace.take(seconds, batch);
        }
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

    fn is_known(&self, key: &CellKey, repeats: u32, measurements: &[Measurement]) {
        self.known().state.is_known(key, repeats, measurements);
    }

    fn phase_begins(&self, context: &PhaseContext<'_>, done: Arc<[DoneCount]>) {
        let mut known = self.known();
        known.workers = Some(done);
        known.device = context.device.clone().map(Arc::new);
        known.state.phase_begins(context);
        if known.display == Display::Pipe {
            known.cell_begins(context);
        }
    }

    fn phase_ends(&self, _: &PhaseContext<'_>, measurement: &Measurement) {
        let mut known = self.known();
        known.workers = None;
        known.state.phase_ends(measurement);
        if let Some(cell) = &mut known.cell {
            cell.phases += 1;
            cell.invalid += u64::from(!measurement.valid());
            cell.seconds += measurement.durable_seconds();
        }
    }
}

impl Known {
    fn clear_line(&mut self) {
        if !std::mem::take(&mut self.line).is_empty() {
            out::write_error("\r\x1b[K");
        }
    }

    fn cell_begins(&mut self, context: &PhaseContext<'_>) {
        if self.cell.as_ref().is_some_and(|cell| cell.key == *context.key) {
            return;
        }
        self.cell_ends();
        let words = cell_words(context);
        let title = if words.is_empty() { self.state.name.clone() } else { words.join(", ") };
        let (key, beginning_seconds) = (context.key.clone(), self.state.beginning_seconds);
        self.cell =
            Some(CellTally { key, title, beginning_seconds, phases: 0, invalid: 0, seconds: 0.0 });
    }

    fn cell_ends(&mut self) {
        if let Some(cell) = self.cell.take_if(|cell| cell.phases > 0) {
            let (phases, took) = (counted(cell.phases, "phase"), duration(cell.seconds * 1e9));
            let invalid = match cell.invalid {
                0 => String::new(),
                number => format!(", {number} invalid"),
            };
            let prepared = match cell.beginning_seconds {
                seconds if seconds > PREPARING_SECONDS_SHOWN => {
                    format!(", prepared in {}", duration(seconds * 1e9))
                }
                _ => String::new(),
            };
            out::note(&format!("{}: {phases} in {took}{prepared}{invalid}", cell.title));
        }
    }
}

impl Shared {
    fn new(plan: Option<&Plan>, display: Display, hold: Option<Arc<TerminalHold>>) -> Arc<Self> {
        let clock = RealClock::new();
        let state = plan.map(RunState::new).unwrap_or_default();
        let known = Mutex::new(Known { state, display, ..Known::default() });
        Arc::new(Self { known, hold, begun: clock.now(), clock })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds since the run began.
    fn seconds(&self) -> f64 {
        self.clock.nanoseconds(self.begun, self.clock.now()) as f64 / 1e9
    }

    /// Starts the thread that shows the run.
    fn start(self: &Arc<Self>, screen: Option<Screen>) -> std::io::Result<JoinHandle<()>> {
        let shared = Arc::clone(self);
        std::thread::Builder::new().name("progress".into()).spawn(move || {
            screen.into_iter().for_each(|screen| shared.show_view(screen));
            while !shared.known().is_over {
                shared.draw_line();
                std::thread::park_timeout(Duration::from_nanos(DRAW_EVERY_NS));
            }
        })
    }

    /// Draws until the view is left or the run is over.
    fn show_view(&self, mut screen: Screen) {
        let style = terminal_style::error_style();
        loop {
            let device = self.known().device.clone();
            let device = device.and_then(|device| device.counters());
            let known = self.sampled(device, ProcessorTimes::now());
            let drawn = screen.draw(|buffer| match &known.trace {
                Some(trace) => draw_trace(trace, &known.state, style, buffer),
                None => view::draw(&known.state, style, buffer),
            });
            drop(known);
            if drawn.is_err() || self.waits_for_leave(&screen) {
                return self.leave_view();
            }
        }
    }

    /// What is known, with what the counters say now.
    fn sampled(
        &self,
        device: Option<DeviceCounters>,
        processors: Option<ProcessorTimes>,
    ) -> MutexGuard<'_, Known> {
        let seconds = self.seconds();
        let mut known = self.known();
        let count = |workers: &Arc<[DoneCount]>| workers.iter().map(DoneCount::get).sum();
        let done = known.workers.as_ref().map(count);
        known.state.take(&CounterSample { seconds, done, device, processors });
        known
    }

    /// Waits until it is time to draw again; true if the view is to be left.
    fn waits_for_leave(&self, screen: &Screen) -> bool {
        let hold = screen.hold();
        let begun = self.clock.now();
        loop {
            let waited = self.clock.nanoseconds(begun, self.clock.now());
            let Some(rest) = DRAW_EVERY_NS.checked_sub(waited).filter(|rest| *rest > 0) else {
                return false;
            };
            if screen.is_left_within(rest) {
                return true;
            }
            // Whoever wants to stop sees plainly what is cleaned up, and can end that as well.
            if hold.interrupt().is_set() || !hold.holds() || self.known().is_over {
                return true;
            }
        }
    }

    /// Gives the terminal back, prints the notices that were kept, and then shows a line. The run may
    /// report more meanwhile: it does not wait for the terminal.
    fn leave_view(&self) {
        let Some(hold) = &self.hold else { return };
        hold.end();
        loop {
            let mut known = self.known();
            known.trace = None;
            let kept = std::mem::take(&mut known.kept);
            if kept.is_empty() {
                known.display = Display::Line;
                return;
            }
            drop(known);
            kept.iter().filter(|_| hold.takes()).for_each(|text| out::note(text));
        }
    }

    /// Shows the line anew if it has changed. Nothing waits for a terminal that has no reader.
    fn draw_line(&self) {
        let style = terminal_style::error_style();
        let mut known = self.sampled(None, None);
        let text = progress_line(&known.state, style.columns);
        let text = if style.ascii { terminal_style::plain(&text) } else { text };
        if !known.is_over && text != known.line {
            known.line.clone_from(&text);
            drop(known);
            out::write_error(&format!("\r{text}\x1b[K"));
        }
    }
}
