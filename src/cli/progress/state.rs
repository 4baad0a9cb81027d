//! What is known of a run while it goes on, as plain data: nothing here reads a clock or a counter.

use super::cells::{CellGrid, CellMark};
use super::forecast::{Forecast, RunningPhase};
use super::rates::{CounterSample, MachineRates, PhaseRates};
use crate::base::failure::shown;
use crate::base::units::{Quantity, counted, grouped};
use crate::plan::phase::{CacheAsked, PhaseEnd};
use crate::plan::{DEFAULT_VARIANT, Plan};
use crate::results::book::{Level, Measurement};
use crate::run::ballast::Headway;
use crate::run::cache::CacheState;
use crate::session::PhaseContext;

/// What is done before the first phase and between phases.
const BEGINNING: &str = "beginning";
const BETWEEN_PHASES: &str = "preparing the next phase";

/// Finished phases and notices that are kept to be shown: more fit on no terminal.
const KEPT_MAX: usize = 200;

/// When a phase, or the making of files, is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Goal {
    /// So many operations.
    Operations(u64),
    /// So many seconds.
    Seconds(f64),
    /// All of it, of which this share is done, 0 to 1.
    Share(f64),
    /// Not known beforehand.
    Open,
}

/// What the run does now: a phase, or the making of files.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    /// Where in the run it is: repeat, variant, level, and the phase's name.
    pub(super) words: Vec<String>,
    /// The phase's name, with which the title ends and which must not be cut off; empty if it is none.
    pub(super) phase: String,
    /// What is counted: `operations`, `files`.
    pub(super) noun: &'static str,
    /// When it is over.
    pub(super) goal: Goal,
    /// Whether its clock is that of the simulated file system.
    pub(super) simulated: bool,
    /// Done so far.
    pub(super) done: u64,
    /// When it began, in seconds of the run.
    pub(super) begun: f64,
    /// The index of its cell in the plan; none if it is no phase.
    cell: Option<usize>,
    /// Operations of the run that came before it.
    operations_before: u64,
    /// Operations of the whole run.
    operations_of_run: u64,
}

/// A phase that is over.
#[derive(Clone, Debug)]
pub(super) struct FinishedPhase {
    /// Where in the run it was, with its name at the end.
    pub(super) title: String,
    pub(super) phase: String,
    pub(super) operations: u64,
    pub(super) seconds: f64,
    /// Operations per second.
    pub(super) rate: f64,
    pub(super) p50_ns: f64,
    pub(super) p99_ns: f64,
    pub(super) valid: bool,
}

/// A sentence about the run that stays on the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) text: String,
    pub(super) is_warning: bool,
    /// How often it was said.
    pub(super) times: u32,
}

/// What is known of a run.
#[derive(Debug, Default)]
pub(super) struct RunState {
    /// The scenario and its question.
    pub(super) name: String,
    pub(super) question: String,
    /// Seconds since it began.
    pub(super) seconds: f64,
    /// Most that it is to take; none where that is not asked for.
    pub(super) seconds_max: Option<f64>,
    pub(super) cells: CellGrid,
    /// What is being done between phases.
    pub(super) doing: String,
    pub(super) activity: Option<Activity>,
    pub(super) rates: PhaseRates,
    pub(super) machine: MachineRates,
    /// The device's name; none without one.
    pub(super) device: Option<String>,
    /// Phases that are over, the newest last.
    pub(super) finished: Vec<FinishedPhase>,
    /// The newest last.
    pub(super) notices: Vec<Notice>,
    forecast: Forecast,
    /// Whether each of the plan's cells is simulated.
    simulated: Vec<bool>,
    /// Since when all time belongs to the phase that comes or runs.
    since: f64,
}

impl RunState {
    /// Before a run of a plan.
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            name: shown(&plan.name),
            question: shown(&plan.question),
            seconds_max: plan.effort.map(|effort| effort.time_limit_seconds),
            cells: CellGrid::new(plan),
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
        self.add_notice(text, false);
    }

    fn add_notice(&mut self, text: &str, is_warning: bool) {
        let text = shown(text);
        let known = self.notices.iter().position(|notice| notice.text == text);
        let times = known.map_or(0, |at| self.notices.remove(at).times);
        self.notices.push(Notice { text, is_warning, times: times + 1 });
        keep_newest(&mut self.notices);
    }

    /// Files are made, or a series of runs goes on.
    pub(super) fn prepares(&mut self, title: &str, headway: &Headway) {
        let (goal, noun, done) = match headway {
            Headway::Share(share) => (Goal::Share(*share), "", 0),
            Headway::Making { files, before, done } => {
                self.rates = PhaseRates::new(Some(done.len().max(1) as u32));
                (Goal::Operations(*files), "files", *before)
            }
            Headway::Found(_) | Headway::CleaningUp => return,
        };
        self.activity = Some(Activity {
            words: vec![shown(title)],
            phase: String::new(),
            noun,
            goal,
            simulated: false,
            done,
            begun: self.seconds,
            cell: None,
            operations_before: 0,
            operations_of_run: 0,
        });
    }

    /// A phase begins.
    pub(super) fn phase_begins(&mut self, standing: &PhaseContext<'_>) {
        let phase = standing.phase;
        let cells_before = self.cells.running();
        let cell = self.cells.begins(standing.key, standing.repeats);
        if self.cells.running() != cells_before {
            self.forecast.cell_begins();
        }
        if self.activity.is_some() || self.finished.is_empty() {
            // The run began, or the place was prepared: that is no time of the phase.
            self.since = self.seconds;
        }
        let simulated = cell.is_some_and(|cell| self.simulated.get(cell) == Some(&true));
        self.rates = PhaseRates::new(Some(phase.threads).filter(|_| !simulated));
        self.device = standing.device.as_ref().map(|device| shown(&device.facts.name));
        let goal = match phase.end {
            PhaseEnd::After(ns) if phase.cache != CacheAsked::Cold && !simulated => {
                Goal::Seconds(ns as f64 / 1e9)
            }
            _ => phase.operations().map_or(Goal::Open, Goal::Operations),
        };
        let mut words = cell_words(standing);
        words.push(shown(&phase.name));
        self.activity = Some(Activity {
            words,
            phase: shown(&phase.name),
            noun: "operations",
            goal,
            simulated,
            done: 0,
            begun: self.seconds,
            cell,
            operations_before: standing.operations_before,
            operations_of_run: standing.operations,
        });
    }

    /// The phase is over.
    pub(super) fn phase_ends(&mut self, m: &Measurement) {
        let title = self.activity.take().map_or_else(String::new, |activity| activity.title());
        self.doing = BETWEEN_PHASES.into();
        self.cells.phase_ends(m.valid());
        self.forecast.phase_ends(m, self.seconds - self.since);
        if self.cells.running().is_some_and(|(cell, _)| self.forecast.is_over(cell)) {
            self.cells.phases_are_over();
        }
        self.since = self.seconds;
        self.finished.push(FinishedPhase {
            title,
            phase: shown(&m.phase),
            operations: m.operations,
            seconds: m.seconds,
            rate: m.operations_per_second(),
            p50_ns: m.latency.p50 as f64,
            p99_ns: m.latency.p99 as f64,
            valid: m.valid(),
        });
        keep_newest(&mut self.finished);
        for why in &m.invalid {
            self.add_notice(&format!("{} is invalid: {why}", m.phase), true);
        }
        let cache = &m.cache;
        if cache.asked == CacheAsked::Cold && cache.found != CacheState::ColdVerified {
            let why = cache.reason.map_or_else(String::new, |why| format!(" ({why})"));
            let found = cache.found;
            let text = format!("{}: cold was requested, {found} was found{why}", m.phase);
            self.add_notice(&text, true);
        }
    }

    /// A look at the counters.
    pub(super) fn take(&mut self, sample: &CounterSample) {
        self.seconds = sample.seconds;
        self.machine.take(sample);
        if let (Some(activity), Some(done)) = (&mut self.activity, sample.done) {
            let was_done = activity.is_done();
            activity.done = done;
            // What is counted no more says nothing of the rate: the phase is written out.
            if !was_done {
                self.rates.take(sample.seconds, done);
            }
        }
    }

    /// Seconds that the run still takes, about; none if that is not known.
    pub(super) fn left(&self) -> Option<f64> {
        let running = self.activity.as_ref().and_then(|activity| {
            let (seconds, share) = (self.seconds - self.since, activity.share(self.seconds));
            Some(RunningPhase { cell: activity.cell?, share, seconds })
        });
        let left = self.forecast.left(&self.cells, running)?;
        let most = self.seconds_max.map_or(f64::INFINITY, |most| (most - self.seconds).max(0.0));
        Some(left.min(most))
    }

    /// How many cells are done: `12 of 45 cells done, 1 invalid`.
    pub(super) fn cells_done(&self) -> String {
        let invalid = self.cells.count(CellMark::Invalid);
        let done = self.cells.count(CellMark::Done) + invalid;
        let more = if invalid > 0 { format!(", {invalid} invalid") } else { String::new() };
        format!(
            "{} of {} done{more}",
            grouped(done as u64),
            counted(self.cells.total() as u64, "cell")
        )
    }
}

impl Activity {
    pub(super) fn title(&self) -> String {
        self.words.join(" ")
    }

    /// How much of the whole run is done, 0 to 1; of what belongs to no run, how much of it. None if
    /// that is not known.
    pub(super) fn share_of_run(&self, seconds: f64) -> Option<f64> {
        if self.cell.is_none() || self.operations_of_run == 0 {
            return self.share(seconds);
        }
        let done = self.operations_before + self.done;
        Some((done as f64 / self.operations_of_run as f64).min(1.0))
    }

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

/// A level as words: `files=1,000`.
pub(super) fn level_text(level: &Level) -> String {
    let value = Quantity { value: level.value, unit: level.unit };
    shown(format!("{}={value}", level.axis))
}

/// The cell of a phase as words, such as `repeat 4 of 10`, `xfs`, `files=1,000`; empty if the run has
/// only one cell.
pub(super) fn cell_words(standing: &PhaseContext<'_>) -> Vec<String> {
    let (key, repeats) = (standing.key, standing.repeats);
    let repeat = (repeats > 1).then(|| format!("repeat {} of {repeats}", key.repeat));
    let variant = Some(shown(&key.variant)).filter(|_| key.variant != DEFAULT_VARIANT);
    [repeat, variant, key.level.as_ref().map(level_text)].into_iter().flatten().collect()
}
