//! What is known of a run while it goes on, as plain data: nothing here reads a clock or a counter.

use super::forecast::{Forecast, Running};
use super::matrix::{Mark, Matrix};
use super::pace::{Machine, Pace, Sample};
use crate::base::failure::shown;
use crate::base::units::{counted, grouped};
use crate::measure::book::{CellKey, Measurement};
use crate::plan::Plan;
use crate::plan::phase::{CacheAsked, PhaseEnd};
use crate::run::ballast::Headway;
use crate::run::cache::CacheState;
use crate::session::PhaseContext;

use super::super::progress::{level_text, place};

/// What is done before the first phase, between phases, and at the end of a place.
pub(super) const BEGINNING: &str = "beginning";
pub(super) const BETWEEN: &str = "getting ready for what comes next";
pub(super) const CLEANING_UP: &str = "cleaning up";

/// Finished phases and notes that are kept to be shown: more fit on no terminal.
const KEPT_MAX: usize = 200;

/// What a phase, or the making of files, is to come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Goal {
    /// So many operations.
    Operations(u64),
    /// So many seconds.
    Seconds(f64),
    /// All of it: how far it is is told from outside, 0 to 1.
    Share(f64),
    /// Nobody knows beforehand.
    Open,
}

/// What is under way.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// What it is, for people.
    pub(super) title: String,
    /// The last word of that which must not be cut off: the phase's name, if it is one.
    pub(super) last: String,
    /// What is counted: `operations`, `files`.
    pub(super) noun: &'static str,
    /// What it is to come to.
    pub(super) goal: Goal,
    /// Whether its clock is that of the simulated file system.
    pub(super) simulated: bool,
    /// Done so far.
    pub(super) done: u64,
    /// When it began, in seconds of the run.
    pub(super) begun: f64,
    /// The plan's cell it belongs to; none if it is no phase of one.
    cell: Option<usize>,
}

/// A phase that is over.
#[derive(Clone, Debug)]
pub(super) struct Done {
    /// Where it stood in the run.
    pub(super) title: String,
    /// The phase's name, with which that ends.
    pub(super) last: String,
    pub(super) operations: u64,
    pub(super) seconds: f64,
    /// Operations per second.
    pub(super) rate: f64,
    pub(super) p50_ns: f64,
    pub(super) p99_ns: f64,
    pub(super) valid: bool,
}

/// Something to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) text: String,
    pub(super) is_warning: bool,
    /// How often it was said.
    pub(super) times: u32,
}

/// What is known of a run.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The scenario and its question.
    pub(super) name: String,
    pub(super) question: String,
    /// Seconds since it began.
    pub(super) seconds: f64,
    /// Most that it is to take; none where that is not asked for.
    pub(super) seconds_max: Option<f64>,
    pub(super) matrix: Matrix,
    /// What is being done between phases.
    pub(super) doing: String,
    pub(super) work: Option<Work>,
    pub(super) pace: Pace,
    pub(super) machine: Machine,
    /// The device's name; none without one.
    pub(super) device: Option<String>,
    /// Phases that are over, the newest last.
    pub(super) finished: Vec<Done>,
    /// The newest last.
    pub(super) notes: Vec<Note>,
    forecast: Forecast,
    /// Whether each of the plan's cells is simulated.
    simulated: Vec<bool>,
    /// Since when all time belongs to the phase that comes or runs.
    since: f64,
}

impl State {
    /// Before a run of a plan.
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            name: shown(&plan.name),
            question: shown(&plan.question),
            seconds_max: plan.effort.map(|effort| effort.time_limit_seconds),
            matrix: Matrix::new(plan),
            doing: BEGINNING.into(),
            forecast: Forecast::new(plan),
            simulated: plan.cells.iter().map(|cell| cell.engine.is_simulated()).collect(),
            ..Self::default()
        }
    }

    /// Something else is done now.
    pub(super) fn says(&mut self, text: &str) {
        self.doing = shown(text);
    }

    /// Something to know for the rest of the run.
    pub(super) fn tells(&mut self, text: &str) {
        self.note(text, false);
    }

    fn note(&mut self, text: &str, is_warning: bool) {
        let text = shown(text);
        let known = self.notes.iter().position(|note| note.text == text);
        let times = known.map_or(0, |at| self.notes.remove(at).times);
        self.notes.push(Note { text, is_warning, times: times + 1 });
        keep_newest(&mut self.notes);
    }

    /// The place is brought to the level of a cell.
    pub(super) fn prepares(&mut self, key: &CellKey, headway: &Headway) {
        let level = key.level.as_ref().map_or_else(String::new, level_text);
        let title = format!("bringing the place to {level}");
        match headway {
            Headway::Share(share) => self.work = Some(self.preparing(title, Goal::Share(*share))),
            Headway::Making { files, before, done } => {
                self.pace = Pace::of(Some(done.len().max(1) as u32));
                let work = self.preparing(title, Goal::Operations(*files));
                self.work = Some(Work { noun: "files", done: *before, ..work });
            }
            Headway::Found(what) => self.note(what, false),
            Headway::CleaningUp => {
                self.work = None;
                self.says(CLEANING_UP);
            }
        }
    }

    fn preparing(&self, title: String, goal: Goal) -> Work {
        let (last, begun) = (String::new(), self.seconds);
        Work { title, last, noun: "", goal, simulated: false, done: 0, begun, cell: None }
    }

    /// A phase begins.
    pub(super) fn phase_begins(&mut self, standing: &PhaseContext<'_>) {
        let phase = standing.phase;
        let cells_before = self.matrix.running();
        let cell = self.matrix.begins(standing.key, standing.repeats);
        if self.matrix.running() != cells_before {
            self.forecast.cell_begins();
        }
        if self.work.is_some() || self.finished.is_empty() {
            // The run began, or the place was prepared: that is no time of the phase.
            self.since = self.seconds;
        }
        let simulated = cell.is_some_and(|cell| self.simulated.get(cell) == Some(&true));
        self.pace = Pace::of(Some(phase.threads).filter(|_| !simulated));
        self.device = standing.device.as_ref().map(|device| shown(&device.facts.name));
        let goal = match phase.end {
            PhaseEnd::After(ns) if phase.cache != CacheAsked::Cold && !simulated => {
                Goal::Seconds(ns as f64 / 1e9)
            }
            _ => phase.operations().map_or(Goal::Open, Goal::Operations),
        };
        self.work = Some(Work {
            title: place(standing),
            last: shown(&phase.name),
            noun: "operations",
            goal,
            simulated,
            done: 0,
            begun: self.seconds,
            cell,
        });
    }

    /// It is over; with where it stood in the run.
    pub(super) fn phase_ends(&mut self, title: &str, m: &Measurement) {
        self.work = None;
        self.doing = BETWEEN.into();
        self.matrix.phase_ends(m.valid());
        let key = (m.cell.variant.as_str(), m.phase.as_str());
        self.forecast.phase_ends(key, m.operations, self.seconds - self.since);
        if self.matrix.running().is_some_and(|(cell, _)| self.forecast.is_over(cell)) {
            self.matrix.phases_are_over();
        }
        self.since = self.seconds;
        self.finished.push(Done {
            title: title.into(),
            last: shown(&m.phase),
            operations: m.operations,
            seconds: m.seconds,
            rate: m.operations_per_second(),
            p50_ns: m.latency.p50 as f64,
            p99_ns: m.latency.p99 as f64,
            valid: m.valid(),
        });
        keep_newest(&mut self.finished);
        for why in &m.invalid {
            self.note(&format!("{} is invalid: {why}", m.phase), true);
        }
        let cache = &m.cache;
        if cache.asked == CacheAsked::Cold && cache.found != CacheState::ColdVerified {
            let why = cache.reason.map_or_else(String::new, |why| format!(" ({why})"));
            let found = cache.found;
            self.note(&format!("{}: cold was asked, {found} was found{why}", m.phase), true);
        }
    }

    /// A look at the counters.
    pub(super) fn take(&mut self, sample: &Sample) {
        self.seconds = sample.seconds;
        self.machine.take(sample);
        if let (Some(work), Some(done)) = (&mut self.work, sample.done) {
            let was_done = work.is_done();
            work.done = done;
            // What is counted no more says nothing of the rate: the phase is written out.
            if !was_done {
                self.pace.take(sample.seconds, done);
            }
        }
    }

    /// Seconds that the run still takes, about; none if that is not known.
    pub(super) fn left(&self) -> Option<f64> {
        let running = self.work.as_ref().and_then(|work| {
            let seconds = self.seconds - self.since;
            Some(Running { cell: work.cell?, share: work.share(self.seconds), seconds })
        });
        let left = self.forecast.left(&self.matrix, running)?;
        let most = self.seconds_max.map_or(f64::INFINITY, |most| (most - self.seconds).max(0.0));
        Some(left.min(most))
    }

    /// How many cells there are: `12 of 45 cells done, 1 invalid`.
    pub(super) fn cells(&self) -> String {
        let invalid = self.matrix.count(Mark::Invalid);
        let done = self.matrix.count(Mark::Done) + invalid;
        let more = if invalid > 0 { format!(", {invalid} invalid") } else { String::new() };
        format!(
            "{} of {} done{more}",
            grouped(done as u64),
            counted(self.matrix.cells() as u64, "cell")
        )
    }
}

impl Work {
    /// How far it is at a time in seconds of the run, 0 to 1; none if nobody knows.
    pub(super) fn share(&self, seconds: f64) -> Option<f64> {
        let share = match self.goal {
            Goal::Operations(all) => self.done as f64 / all.max(1) as f64,
            Goal::Seconds(all) => (seconds - self.begun) / all,
            Goal::Share(share) => share,
            Goal::Open => return None,
        };
        Some(share.clamp(0.0, 1.0))
    }

    /// Whether every operation was done; what follows is the sync, and the count of the tree.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.goal, Goal::Operations(all) if self.done >= all)
    }
}

fn keep_newest<T>(kept: &mut Vec<T>) {
    if kept.len() > KEPT_MAX {
        kept.remove(0);
    }
}
