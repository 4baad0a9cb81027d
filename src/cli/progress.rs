//! How far a run is: a bar with rate and time left on a terminal, plain lines in a pipe.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::out;
use crate::base::units::{counted, duration, figures, grouped};
use crate::measure::book::{CellKey, Level, Measurement};
use crate::plan::phase::PhaseEnd;
use crate::run::ballast::Headway;
use crate::run::drive::DoneCount;
use crate::session::{PhaseContext, Watcher};

/// How often the bar looks at the workers' counts: seldom enough not to disturb them.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Steps the bar shows of a share.
const PREPARED_STEPS: u64 = 1_000;

const BAR: &str = "{bar:16} {percent:>3}% {wide_msg}";

/// Shows progress on standard error.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    looking: Mutex<Option<Looking>>,
    /// What was said last of a place that is being prepared.
    said: Mutex<String>,
}

/// The thread that carries the workers' counts to the bar.
struct Looking {
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Progress {
    pub(super) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            let style = ProgressStyle::with_template(BAR);
            style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
        });
        Self { bar, looking: Mutex::new(None), said: Mutex::default() }
    }

    /// Takes the bar off the screen.
    pub(super) fn finish(&self) {
        self.stop_looking();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Shows how far something is; in a pipe, once, that it begins.
    pub(super) fn comes(&self, text: &str, headway: &Headway) {
        match (headway, &self.bar) {
            (Headway::CleaningUp, _) => {
                self.finish();
                out::note("cleaning up; Ctrl-C ends it at once");
            }
            (Headway::Found(what), None) => out::note(what),
            (Headway::Found(what), Some(bar)) => bar.suspend(|| out::note(what)),
            (_, None) => self.says_once(text),
            (Headway::Share(share), Some(bar)) => {
                self.stop_looking();
                bar.set_length(PREPARED_STEPS);
                bar.set_position((share * PREPARED_STEPS as f64) as u64);
                bar.set_message(text.to_string());
            }
            (Headway::Making { files, before, done }, Some(bar)) => {
                self.stop_looking();
                let (before, done) = (*before, Arc::clone(done));
                bar.reset();
                bar.set_length(*files);
                // Those that were there before say nothing of the rate.
                bar.set_position(before);
                bar.reset_eta();
                self.look(text, "files", Some(move || before + sum(&done)));
            }
        }
    }

    fn says_once(&self, text: &str) {
        if let Ok(mut said) = self.said.lock()
            && *said != text
        {
            out::note(text);
            *said = text.into();
        }
    }

    /// Carries a count to the bar from now on, or the time if there is none.
    fn look(
        &self,
        lead: &str,
        what: &'static str,
        count: Option<impl Fn() -> u64 + Send + 'static>,
    ) {
        let Some(bar) = self.bar.clone() else { return };
        let (lead, over) = (lead.to_string(), Arc::new(AtomicBool::new(false)));
        let finished = Arc::clone(&over);
        let look = move || {
            while !finished.load(Ordering::Relaxed) {
                let elapsed_ms = || bar.elapsed().as_millis() as u64;
                bar.set_position(count.as_ref().map_or_else(elapsed_ms, |count| count()));
                let (rate, left) = (bar.per_sec(), bar.eta().as_nanos() as f64);
                // At first neither is known.
                let known = count.is_some() && rate > 0.0 && left > 0.0;
                let pace = match known {
                    true => format!(": {} {what}/s, {} left", figures(rate, 3), duration(left)),
                    false => String::new(),
                };
                bar.set_message(format!("{lead}{pace}"));
                std::thread::park_timeout(LOOK_EVERY);
            }
        };
        // Without a thread for it the bar stands still; the run goes on.
        if let Ok(thread) = std::thread::Builder::new().name("progress".into()).spawn(look)
            && let Ok(mut looking) = self.looking.lock()
        {
            *looking = Some(Looking { over, thread });
        }
    }

    fn stop_looking(&self) {
        let looking = self.looking.lock().ok().and_then(|mut looking| looking.take());
        if let Some(Looking { over, thread }) = looking {
            over.store(true, Ordering::Relaxed);
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Watcher for Progress {
    fn says(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(text.to_string()),
            None => out::note(text),
        }
    }

    fn tells(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| out::note(text)),
            None => out::note(text),
        }
    }

    fn prepares(&self, key: &CellKey, headway: &Headway) {
        let level = key.level.as_ref().map_or_else(String::new, level_text);
        let text = format!("bringing the place to {level}");
        self.comes(&text, headway);
    }

    fn phase_begins(&self, standing: &PhaseContext<'_>, done: Arc<[DoneCount]>) {
        self.stop_looking();
        let Some(bar) = &self.bar else { return };
        bar.reset();
        let known = standing.phase.operations();
        let time_ms = match standing.phase.end {
            PhaseEnd::After(ns) => ns / 1_000_000,
            PhaseEnd::Targets | PhaseEnd::Operations(_) => 0,
        };
        bar.set_length(known.unwrap_or(time_ms));
        // A phase may be under way already; what was done before says nothing of the rate.
        bar.set_position(known.map_or(0, |_| sum(&done)));
        bar.reset_eta();
        let lead = format!("of {}, run {}%", place(standing), percent(standing));
        self.look(&lead, "ops", known.map(|_| move || sum(&done)));
    }

    fn phase_ends(&self, standing: &PhaseContext<'_>, measurement: &Measurement) {
        self.stop_looking();
        if self.bar.is_none() {
            let state = if measurement.valid() { "" } else { ", invalid" };
            out::note(&format!(
                "{}: {} in {}{state}",
                place(standing),
                counted(measurement.operations, "operation"),
                duration(measurement.seconds * 1e9)
            ));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

pub(super) fn sum(done: &[DoneCount]) -> u64 {
    done.iter().map(DoneCount::get).sum()
}

fn percent(standing: &PhaseContext<'_>) -> u64 {
    standing.operations_before * 100 / standing.operations.max(1)
}

pub(super) fn level_text(level: &Level) -> String {
    let value = crate::base::units::Quantity { value: level.value, unit: level.unit };
    crate::base::failure::shown(format!("{}={value}", level.axis))
}

/// Where in the run a phase is: `2/9 ext4 files=1,000 create`.
pub(super) fn place(standing: &PhaseContext<'_>) -> String {
    let CellKey { variant, level, repeat } = standing.key;
    let mut words = vec![format!("{}/{}", grouped(standing.cell as u64), standing.cells)];
    if variant != crate::plan::DEFAULT_VARIANT {
        words.push(variant.clone());
    }
    if let Some(level) = level {
        words.push(level_text(level));
    }
    if standing.repeats > 1 {
        words.push(format!("repeat {repeat}"));
    }
    words.push(standing.phase.name.clone());
    words.iter().map(crate::base::failure::shown).collect::<Vec<_>>().join(" ")
}
