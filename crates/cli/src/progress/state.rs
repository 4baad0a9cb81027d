//! Keeps what is known of a run under way, as plain data: nothing here reads a clock or a counter.

use std::collections::VecDeque;

use boatload_base::failure::shown;
use boatload_base::units::{Quantity, counted, duration};
use boatload_plan::phase::{CacheAsked, PhaseEnd};
use boatload_plan::{CellPlan, DEFAULT_VARIANT, Plan};
use boatload_results::book::{CellKey, Level, Measurement, RunFacts, Stopping};
use boatload_run::ballast::Headway;
use boatload_session::{PhaseContext, cell_key};

/// Rates are of the last second: one sample alone is too noisy.
const NOW_SECONDS: f64 = 1.0;

/// A preparation that took longer than this is reported, in seconds.
const PREPARING_SECONDS_SHOWN: f64 = 3.0;

/// When a phase, or the making of files, is over.
#[derive(Clone, Copy, Debug)]
enum Goal {
    /// So many operations.
    Operations(u64),
    /// So many seconds.
    Seconds(f64),
    /// A series whose number is not counted; this share of it is done, 0 to 1.
    Share(f64),
    /// Not known beforehand.
    Open,
}

/// The activity of the run: a phase, or the making of files.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    /// Where in the run it is: repeat, variant, level, and the phase's name at the end.
    pub(super) words: Vec<String>,
    /// When it is over.
    goal: Goal,
    /// What was there before it began.
    before: u64,
    /// The number that is done, with what was there before.
    done: u64,
    /// When it began, in seconds of the run.
    begun: f64,
    /// Whether it is a phase.
    pub(super) is_phase: bool,
}

impl Activity {
    /// How far it is at a time in seconds of the run, 0 to 1; `None` when that is not known.
    pub(super) fn share(&self, seconds: f64) -> Option<f64> {
        let share = match self.goal {
            Goal::Operations(all) => self.done as f64 / all.max(1) as f64,
            Goal::Seconds(all) => (seconds - self.begun) / all,
            Goal::Share(share) => share,
            Goal::Open => return None,
        };
        Some(share.clamp(0.0, 1.0))
    }
}

/// One variant at one level, in all repeats.
#[derive(Clone, Debug)]
struct CellRepeats {
    key: CellKey,
    phases: u64,
    is_simulated: bool,
    /// Repeats that are done.
    done: u32,
    /// The time of the newest of them, with what came before its first phase.
    seconds: Option<f64>,
}

/// The cell that runs.
#[derive(Clone, Debug)]
struct RunningCell {
    index: usize,
    repeat: u32,
    title: String,
    /// What came before its first phase.
    beginning_seconds: f64,
    /// Its phases that are over, how many of them are invalid, and what they took.
    phases: u64,
    invalid: u64,
    seconds: f64,
}

/// Operations that were done at one time, in seconds since the run began.
#[derive(Clone, Copy, Debug)]
struct DoneAt {
    seconds: f64,
    done: u64,
}

/// The progress of a run.
#[derive(Debug, Default)]
pub(super) struct RunState {
    /// The scenario.
    name: String,
    /// Seconds since it began.
    pub(super) seconds: f64,
    /// Most seconds that it takes; `None` without a time limit.
    seconds_max: Option<f64>,
    /// What is being done before the first phase and between phases.
    pub(super) status: String,
    pub(super) activity: Option<Activity>,
    /// One for each variant and level, in the plan's order.
    cells: Vec<CellRepeats>,
    repeats: u32,
    running: Option<RunningCell>,
    /// When the last cell ended.
    since: f64,
    /// What was done in the last second.
    recent: VecDeque<DoneAt>,
}

impl RunState {
    /// Before a run of a plan.
    pub(super) fn new(plan: &Plan) -> Self {
        let cell = |cell: &CellPlan| CellRepeats {
            key: cell_key(plan, cell, 1),
            phases: cell.phases.len() as u64,
            is_simulated: cell.engine.is_simulated(),
            done: 0,
            seconds: None,
        };
        Self {
            name: shown(&plan.name),
            cells: plan.cells.iter().map(cell).collect(),
            repeats: plan.repeats_min(),
            status: "beginning".into(),
            ..Self::default()
        }
    }

    /// The run has begun.
    pub(super) fn begins(&mut self, run: &RunFacts) {
        if let Stopping::Looks { time_limit_seconds, .. } = run.stopping {
            self.seconds_max = Some(time_limit_seconds);
        }
        self.repeats = self.repeats.max(run.repeats);
    }

    /// Files are made, or another run of a series begins.
    pub(super) fn prepares(&mut self, title: &str, headway: &Headway) {
        let (goal, before) = match headway {
            Headway::Share(share) => (Goal::Share(*share), 0),
            Headway::Making { files, before, .. } => (Goal::Operations(*files), *before),
            Headway::CleaningUp => return,
        };
        self.begin(Activity {
            words: vec![shown(title)],
            goal,
            before,
            done: before,
            begun: self.seconds,
            is_phase: false,
        });
    }

    /// A phase begins. What is said of the cell before, where it ended early.
    pub(super) fn phase_begins(&mut self, context: &PhaseContext<'_>) -> Option<String> {
        let phase = context.phase;
        let before = self.cell_begins(context);
        let cell = self.running.as_ref().map(|running| &self.cells[running.index]);
        let is_simulated = cell.is_some_and(|cell| cell.is_simulated);
        let goal = match phase.end {
            PhaseEnd::After(ns) if phase.cache != CacheAsked::Cold && !is_simulated => {
                Goal::Seconds(ns as f64 / 1e9)
            }
            _ => phase.operations().map_or(Goal::Open, Goal::Operations),
        };
        let mut words = cell_words(context);
        words.push(shown(&phase.name));
        self.begin(Activity {
            words,
            goal,
            before: 0,
            done: 0,
            begun: self.seconds,
            is_phase: true,
        });
        before
    }

    fn begin(&mut self, activity: Activity) {
        self.activity = Some(activity);
        self.recent.clear();
    }

    fn cell_begins(&mut self, context: &PhaseContext<'_>) -> Option<String> {
        self.repeats = self.repeats.max(context.repeats);
        let index = self.index_of(context.key)?;
        let repeat = context.key.repeat;
        if self.running.as_ref().is_some_and(|one| (one.index, one.repeat) == (index, repeat)) {
            return None;
        }
        let ended = self.cell_ends();
        let words = cell_words(context);
        self.running = Some(RunningCell {
            index,
            repeat,
            title: if words.is_empty() { self.name.clone() } else { words.join(", ") },
            beginning_seconds: self.seconds - self.since,
            phases: 0,
            invalid: 0,
            seconds: 0.0,
        });
        ended
    }

    fn index_of(&self, key: &CellKey) -> Option<usize> {
        let same =
            |cell: &CellRepeats| (&cell.key.variant, &cell.key.level) == (&key.variant, &key.level);
        self.cells.iter().position(same)
    }

    /// The running cell has ended, or the run has: `xfs, files=1,000: 2 phases in 3.1 s`.
    pub(super) fn cell_ends(&mut self) -> Option<String> {
        let RunningCell { index, title, beginning_seconds, phases, invalid, seconds, .. } =
            self.running.take()?;
        let cell = &mut self.cells[index];
        cell.done += 1;
        cell.seconds = Some(self.seconds - self.since);
        self.since = self.seconds;
        let prepared = match beginning_seconds {
            seconds if seconds > PREPARING_SECONDS_SHOWN => {
                format!(", prepared in {}", duration(seconds * 1e9))
            }
            _ => String::new(),
        };
        let wrong = if invalid > 0 { format!(", {invalid} invalid") } else { String::new() };
        let (took, of) = (duration(seconds * 1e9), counted(phases, "phase"));
        (phases > 0).then(|| format!("{title}: {of} in {took}{prepared}{wrong}"))
    }

    /// A cell was done before the run was resumed.
    pub(super) fn is_known(&mut self, key: &CellKey) {
        if let Some(index) = self.index_of(key) {
            self.cells[index].done += 1;
        }
    }

    /// The phase is over. What is said of its cell, if that is over too.
    pub(super) fn phase_ends(&mut self, m: &Measurement) -> Option<String> {
        self.status = "preparing the next phase".into();
        self.activity = None;
        let running = self.running.as_mut()?;
        running.phases += 1;
        running.invalid += u64::from(!m.valid());
        running.seconds += m.durable_seconds();
        let is_over = running.phases >= self.cells[running.index].phases;
        if is_over { self.cell_ends() } else { None }
    }

    /// So many operations are done; `None` between phases.
    pub(super) fn take(&mut self, done: Option<u64>) {
        let Some((activity, done)) = self.activity.as_mut().zip(done) else {
            return self.recent.clear();
        };
        let seconds = self.seconds;
        if self.recent.back().is_some_and(|last| last.done > done) {
            self.recent.clear();
        }
        self.recent.push_back(DoneAt { seconds, done });
        // The newest of those that are older than a second stays: the second begins there.
        while self.recent.get(1).is_some_and(|second| seconds - second.seconds >= NOW_SECONDS) {
            self.recent.pop_front();
        }
        activity.done = activity.before + done;
        // What is counted no more says nothing of the rate: the phase is written out.
        if matches!(activity.goal, Goal::Operations(all) if activity.done >= all) {
            self.recent.clear();
        }
    }

    /// Operations per second; `None` before the second sample and between phases.
    pub(super) fn rate(&self) -> Option<f64> {
        let (first, last) = (self.recent.front()?, self.recent.back()?);
        let seconds = last.seconds - first.seconds;
        (seconds > 0.0).then(|| (last.done - first.done) as f64 / seconds)
    }

    /// Seconds that the run still takes, about; `None` when that is not known. A cell takes as long as in the repeat
    /// before, or else as the mean of all that are done.
    pub(super) fn left(&self) -> Option<f64> {
        let in_cell = self.seconds - self.since;
        let share = self.running.as_ref().map_or(0.0, |cell| self.share_of_cell(cell));
        let known: Vec<f64> = self.cells.iter().filter_map(|cell| cell.seconds).collect();
        let mean = match known.len() {
            0 => Some(in_cell / share).filter(|mean| mean.is_finite())?,
            cells => known.iter().sum::<f64>() / cells as f64,
        };
        let mut left = 0.0;
        for (index, cell) in self.cells.iter().enumerate() {
            let mut waiting = self.repeats.saturating_sub(cell.done);
            if self.running.as_ref().is_some_and(|running| running.index == index) {
                waiting = waiting.saturating_sub(1);
                left += match cell.seconds {
                    Some(seconds) => (seconds - in_cell).max(0.0),
                    None => mean * (1.0 - share),
                };
            }
            left += f64::from(waiting) * cell.seconds.unwrap_or(mean);
        }
        let most = self.seconds_max.map_or(f64::INFINITY, |most| (most - self.seconds).max(0.0));
        Some(left.min(most))
    }

    /// How much of the running cell is done, where all of its phases count the same.
    fn share_of_cell(&self, cell: &RunningCell) -> f64 {
        let activity = self.activity.as_ref().filter(|activity| activity.is_phase);
        let phase = activity.and_then(|activity| activity.share(self.seconds)).unwrap_or(0.0);
        (cell.phases as f64 + phase) / self.cells[cell.index].phases.max(1) as f64
    }

    /// The share of the whole run that is done, 0 to 1; `None` when what is left is not known.
    pub(super) fn share_done(&self) -> Option<f64> {
        if self.cells.is_empty() {
            return self.activity.as_ref()?.share(self.seconds);
        }
        let left = self.left()?;
        Some(self.seconds / (self.seconds + left).max(f64::MIN_POSITIVE))
    }

    /// Whether it is a run of cells, of which activities are parts.
    pub(super) fn has_cells(&self) -> bool {
        !self.cells.is_empty()
    }
}

/// A level as words: `files=1,000`.
pub(super) fn level_text(level: &Level) -> String {
    let value = Quantity { value: level.value, unit: level.unit };
    shown(format!("{}={value}", level.axis))
}

/// The cell of a phase as words, such as `repeat 4 of 10`, `xfs`, `files=1,000`; empty if the run has
/// only one cell.
fn cell_words(context: &PhaseContext<'_>) -> Vec<String> {
    let (key, repeats) = (context.key, context.repeats);
    let repeat = (repeats > 1).then(|| format!("repeat {} of {repeats}", key.repeat));
    let variant = (key.variant != DEFAULT_VARIANT).then(|| shown(&key.variant));
    let level = key.level.as_ref().map(level_text);
    [repeat, variant, level].into_iter().flatten().collect()
}
