//! Keeps what is known of a run under way, as plain data: nothing here reads a clock or a counter.

use std::collections::VecDeque;

use super::costs::{CostsSoFar, PlannedCell};
use crate::base::failure::shown;
use crate::base::units::{Quantity, counted, grouped};
use crate::host::block_device::DeviceCounters;
use crate::host::disturbance::ProcessorTimes;
use crate::plan::phase::{CacheAsked, PhaseEnd};
use crate::plan::{CellPlan, DEFAULT_VARIANT, Phase, Plan};
use crate::results::book::{CellKey, Level, Measurement, RunFacts, Stopping};
use crate::run::ballast::Headway;
use crate::run::cache::CacheState;
use crate::session::{PhaseContext, cell_key};

/// Finished phases and notices that are kept to be shown: more fit on no terminal.
const KEPT_MAX: usize = 200;

/// Windows that are kept: as many as the widest picture has columns for.
const WINDOWS_MAX: usize = 500;

/// Rates are of the last second: one sample alone is too noisy.
const NOW_SECONDS: f64 = 1.0;

/// Samples closer together than this give no window: ticks of the kernel are 10 ms.
const WINDOW_SECONDS_MIN: f64 = 0.05;

/// The state of a cell, or of several that are shown as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellMark {
    Waiting,
    Running,
    Done,
    /// A measurement of it is invalid.
    Invalid,
    /// Of several cells some are done and others wait.
    Partly,
}

impl CellMark {
    /// What stands for several cells.
    pub(super) fn combined(marks: &[CellMark]) -> CellMark {
        let all = |mark| marks.iter().all(|m| *m == mark);
        match marks {
            _ if marks.contains(&CellMark::Running) => CellMark::Running,
            _ if marks.contains(&CellMark::Invalid) => CellMark::Invalid,
            _ if all(CellMark::Waiting) => CellMark::Waiting,
            _ if all(CellMark::Done) => CellMark::Done,
            _ => CellMark::Partly,
        }
    }
}

/// One variant at one level.
#[derive(Clone, Debug)]
pub(super) struct CellRepeats {
    pub(super) plan: CellPlan,
    key: CellKey,
    /// One for each repeat.
    pub(super) marks: Vec<CellMark>,
}

/// When a phase, or the making of files, is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Goal {
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
    /// What is counted, in the singular: `operation`, `file`; empty if nothing is.
    pub(super) noun: &'static str,
    /// When it is over.
    pub(super) goal: Goal,
    /// Workers that do one operation at a time; `None` when the rate says nothing of the latency,
    /// since a simulated operation takes another time than it takes to simulate it.
    pub(super) workers: Option<u32>,
    /// What was there before it began.
    before: u64,
    /// The number that is done, with what was there before.
    pub(super) done: u64,
    /// When it began, in seconds of the run.
    pub(super) begun: f64,
    /// The index of its cell; `None` when it is no phase.
    pub(super) cell: Option<usize>,
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

    /// Whether every operation was done; what follows is the sync, and the count of the tree.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.goal, Goal::Operations(all) if self.done >= all)
    }
}

/// The phase that runs.
struct RunningPhase<'a> {
    cell: PlannedCell<'a>,
    phase: &'a Phase,
    /// How much of it is done, 0 to 1; `None` when that is not known.
    share: Option<f64>,
    /// Since it began.
    seconds: f64,
}

/// A phase that is over.
#[derive(Clone, Debug)]
pub(super) struct FinishedPhase {
    /// Where in the run it was, with its name at the end.
    pub(super) words: Vec<String>,
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
    /// How often it came.
    pub(super) times: u32,
}

/// The counters at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CounterSample {
    /// When, in seconds since the run began.
    pub(super) seconds: f64,
    /// Operations that are done; `None` between phases.
    pub(super) done: Option<u64>,
    /// What the device has moved; none without one.
    pub(super) device: Option<DeviceCounters>,
    /// What all processors did; `None` when the kernel does not say.
    pub(super) processors: Option<ProcessorTimes>,
}

impl CounterSample {
    /// Whether a later sample counts the same, and none of its counters began anew.
    fn continues_in(&self, later: &CounterSample) -> bool {
        let device = match (self.device, later.device) {
            (Some(before), Some(after)) => after.since(before).is_some(),
            (before, after) => before.is_some() == after.is_some(),
        };
        device && self.done.is_some() == later.done.is_some() && self.done <= later.done
    }
}

/// Shares of the time of all processors, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProcessorShares {
    pub(super) user: f64,
    pub(super) system: f64,
    pub(super) steal: f64,
}

/// The operations of one phase over time, and what the machine did in the last second.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentRates {
    /// Operations per second of each window, the newest last.
    pub(super) windows: VecDeque<f64>,
    samples: VecDeque<CounterSample>,
}

impl RecentRates {
    /// Another sample.
    pub(super) fn take(&mut self, sample: CounterSample) {
        if let Some(before) = self.samples.back() {
            let width = sample.seconds - before.seconds;
            if !before.continues_in(&sample) {
                self.samples.clear();
            } else if width < WINDOW_SECONDS_MIN {
                return;
            } else if let Some((now, before)) = sample.done.zip(before.done) {
                self.windows.push_back((now - before) as f64 / width);
            }
        }
        if self.windows.len() > WINDOWS_MAX {
            self.windows.pop_front();
        }
        self.samples.push_back(sample);
        // The newest of those that are older than a second stays: the second begins there.
        let is_old = |second: &CounterSample| sample.seconds - second.seconds >= NOW_SECONDS;
        while self.samples.get(1).is_some_and(is_old) {
            self.samples.pop_front();
        }
    }

    /// Operations per second; none before the first window and between phases.
    pub(super) fn rate(&self) -> Option<f64> {
        let (first, last) = self.ends()?;
        Some((last.done? - first.done?) as f64 / (last.seconds - first.seconds))
    }

    /// Bytes per second that the device read and wrote; none without a device.
    pub(super) fn device(&self) -> Option<[f64; 2]> {
        let (first, last) = self.ends()?;
        let moved = last.device?.since(first.device?)?;
        let per_second = |bytes: u64| bytes as f64 / (last.seconds - first.seconds);
        Some([moved.read_bytes, moved.write_bytes].map(per_second))
    }

    /// What the processors did.
    pub(super) fn processors(&self) -> Option<ProcessorShares> {
        let (first, last) = self.ends()?;
        let times = last.processors?.since(first.processors?)?;
        let share = |seconds: f64| (seconds / times.all_seconds).clamp(0.0, 1.0);
        Some(ProcessorShares {
            user: share(times.user_seconds),
            system: share(times.busy_seconds - times.user_seconds),
            steal: share(times.steal_seconds),
        })
    }

    fn ends(&self) -> Option<(&CounterSample, &CounterSample)> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        (last.seconds > first.seconds).then_some((first, last))
    }
}

/// The progress of a run.
#[derive(Debug, Default)]
pub(super) struct RunState {
    /// The scenario and its question.
    pub(super) name: String,
    pub(super) question: String,
    /// What grows from level to level; empty without an axis.
    pub(super) axis: String,
    /// Seconds since it began.
    pub(super) seconds: f64,
    /// Most seconds that it takes; `None` without a time limit.
    pub(super) seconds_max: Option<f64>,
    /// One for each variant and level, in the plan's order.
    pub(super) cells: Vec<CellRepeats>,
    /// What is being done before the first phase and between phases.
    pub(super) status: String,
    pub(super) activity: Option<Activity>,
    pub(super) rates: RecentRates,
    /// The device's name; none without one.
    pub(super) device: Option<String>,
    /// Phases that are over, the newest last.
    pub(super) finished: Vec<FinishedPhase>,
    /// The newest last.
    pub(super) notices: Vec<Notice>,
    /// The index and the repeat, from 0, of the cell that runs.
    running: Option<(usize, usize)>,
    /// Phases of the running cell that are over, and whether one of them is invalid.
    phases_over: usize,
    is_invalid: bool,
    /// The times of phases and cells that are over.
    costs: CostsSoFar,
    /// Since when all time belongs to the phase, or the cell, that comes or runs.
    since: f64,
    /// What came before the first phase of the running cell, in seconds.
    pub(super) beginning_seconds: f64,
}

impl RunState {
    /// Before a run of a plan.
    pub(super) fn new(plan: &Plan) -> Self {
        let cell = |cell: &CellPlan| CellRepeats {
            plan: cell.clone(),
            key: cell_key(plan, cell, 1),
            marks: vec![CellMark::Waiting; plan.repeats_min() as usize],
        };
        Self {
            name: shown(&plan.name),
            question: shown(&plan.question),
            axis: plan.axis.as_ref().map_or_else(String::new, |axis| shown(&axis.name)),
            cells: plan.cells.iter().map(cell).collect(),
            status: "beginning".into(),
            ..Self::default()
        }
    }

    /// The run has begun.
    pub(super) fn begins(&mut self, run: &RunFacts) {
        if let Stopping::Looks { time_limit_seconds, .. } = run.stopping {
            self.seconds_max = Some(time_limit_seconds);
        }
        for cell in &mut self.cells {
            cell.marks.resize(run.repeats as usize, CellMark::Waiting);
        }
    }

    /// Something to know for the rest of the run.
    pub(super) fn add_notice(&mut self, text: &str, is_warning: bool) {
        let text = shown(text);
        let known = self.notices.iter().position(|notice| notice.text == text);
        let times = known.map_or(0, |at| self.notices.remove(at).times);
        self.notices.push(Notice { text, is_warning, times: times + 1 });
        keep_newest(&mut self.notices);
    }

    /// Files are made, or another run of a series begins.
    pub(super) fn prepares(&mut self, title: &str, headway: &Headway) {
        let (goal, noun, before, workers) = match headway {
            Headway::Share(share) => (Goal::Share(*share), "", 0, None),
            Headway::Making { files, before, done } => {
                (Goal::Operations(*files), "file", *before, Some(done.len().max(1) as u32))
            }
            Headway::CleaningUp => return,
        };
        self.begin(Activity {
            words: vec![shown(title)],
            noun,
            goal,
            workers,
            before,
            done: before,
            begun: self.seconds,
            cell: None,
        });
    }

    /// A phase begins.
    pub(super) fn phase_begins(&mut self, context: &PhaseContext<'_>) {
        let phase = context.phase;
        let cell = self.cell_begins(context.key, context.repeats);
        let is_simulated = cell.is_some_and(|at| self.cells[at].plan.engine.is_simulated());
        let device = context.device.as_ref().map(|device| shown(&device.facts.name));
        self.device = context.disk.map(|disk| format!("{}, modelled", shown(disk))).or(device);
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
            noun: "operation",
            goal,
            workers: Some(phase.threads).filter(|_| !is_simulated),
            before: 0,
            done: 0,
            begun: self.seconds,
            cell,
        });
    }

    fn begin(&mut self, activity: Activity) {
        self.activity = Some(activity);
        self.rates = RecentRates::default();
    }

    /// Marks the cell of a phase that begins as running, in a run of this many repeats; its index.
    fn cell_begins(&mut self, key: &CellKey, repeats: u32) -> Option<usize> {
        let same =
            |cell: &CellRepeats| (&cell.key.variant, &cell.key.level) == (&key.variant, &key.level);
        let at = self.cells.iter().position(same)?;
        let begun = Some((at, key.repeat.max(1) as usize - 1));
        if self.running == begun {
            return Some(at);
        }
        self.cell_ends();
        (self.running, self.phases_over) = (begun, 0);
        for cell in &mut self.cells {
            cell.marks.resize((repeats as usize).max(cell.marks.len()), CellMark::Waiting);
        }
        self.mark_running(CellMark::Running);
        self.beginning_seconds = self.seconds - self.since;
        // The preparation of the first cell includes what the run does once, unless its place was prepared.
        if !self.finished.is_empty() || self.activity.is_some() {
            let cell = PlannedCell { index: at, plan: &self.cells[at].plan };
            self.costs.add(cell, None, self.beginning_seconds, 0);
        }
        self.since = self.seconds;
        Some(at)
    }

    fn cell_ends(&mut self) {
        let ended = if self.is_invalid { CellMark::Invalid } else { CellMark::Done };
        self.mark_running(ended);
        (self.running, self.is_invalid) = (None, false);
    }

    /// A cell was done before the run was resumed.
    pub(super) fn is_known(&mut self, key: &CellKey, repeats: u32, measurements: &[Measurement]) {
        self.cell_begins(key, repeats);
        self.is_invalid = measurements.iter().any(|m| !m.valid());
        self.cell_ends();
    }

    fn mark_running(&mut self, mark: CellMark) {
        let running = self.running.and_then(|(at, repeat)| self.cells[at].marks.get_mut(repeat));
        running.into_iter().for_each(|running| *running = mark);
    }

    /// The phase is over.
    pub(super) fn phase_ends(&mut self, m: &Measurement) {
        self.status = "preparing the next phase".into();
        self.phases_over += 1;
        self.is_invalid |= !m.valid();
        if let Some((index, _)) = self.running {
            let cell = PlannedCell { index, plan: &self.cells[index].plan };
            self.costs.add(cell, Some(&m.phase), self.seconds - self.since, m.operations);
        }
        let phases = self.running.map(|(at, _)| self.cells[at].plan.phases.len());
        if phases.is_some_and(|phases| self.phases_over >= phases) {
            self.cell_ends();
        }
        self.since = self.seconds;
        let latency = m.latency.unwrap_or_default();
        self.finished.push(FinishedPhase {
            words: self.activity.take().map_or_else(Vec::new, |activity| activity.words),
            operations: m.operations,
            seconds: m.seconds.unwrap_or_default(),
            rate: m.operations_per_second(),
            p50_ns: latency.p50 as f64,
            p99_ns: latency.p99 as f64,
            valid: m.valid(),
        });
        keep_newest(&mut self.finished);
        for why in m.invalid_sentences() {
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

    /// The counters were read.
    pub(super) fn take(&mut self, sample: &CounterSample) {
        self.seconds = sample.seconds;
        let mut sample = *sample;
        if let Some((activity, done)) = self.activity.as_mut().zip(sample.done) {
            // What is counted no more says nothing of the rate: the phase is written out.
            if activity.is_done() {
                sample.done = None;
            }
            activity.done = activity.before + done;
        }
        self.rates.take(sample);
    }

    /// Seconds that the run still takes, about; `None` when that is not known.
    pub(super) fn left(&self) -> Option<f64> {
        if self.cells.is_empty() {
            return None;
        }
        let mut costs = self.costs.clone();
        let own = self.running_phase();
        if let Some(running) = &own
            && let Some(share) = running.share.filter(|share| *share > 0.0)
            && costs.of_phase(running.cell, running.phase).is_none()
        {
            // No phase of this name is over: its own rate is the only source.
            let operations = running.phase.operations().unwrap_or_default();
            let name = Some(running.phase.name.as_str());
            costs.add(running.cell, name, running.seconds / share, operations);
        }
        let mut left = 0.0;
        if let Some(RunningPhase { cell, phase, share, seconds }) = own {
            let whole = costs.of_phase(cell, phase)?;
            left += share.map_or((whole - seconds).max(0.0), |share| {
                // The longer it runs, the more it says itself.
                let by_itself = if share > 0.0 { seconds / share } else { whole };
                (by_itself * share + whole * (1.0 - share)) * (1.0 - share)
            });
            for phase in cell.plan.phases.iter().skip(self.phases_over + 1) {
                left += costs.of_phase(cell, phase)?;
            }
        }
        let mut beginning_max: f64 = 0.0;
        for (index, cell) in self.cells.iter().enumerate() {
            let waiting = cell.marks.iter().filter(|mark| **mark == CellMark::Waiting).count();
            let cell = PlannedCell { index, plan: &cell.plan };
            if waiting == 0 {
                continue;
            }
            let beginning = costs.of_beginning(cell);
            beginning_max = beginning_max.max(beginning);
            let mut each = beginning;
            for phase in &cell.plan.phases {
                each += costs.of_phase(cell, phase)?;
            }
            left += waiting as f64 * each;
        }
        if self.running.is_none() {
            // The beginning of one of them is under way.
            left -= (self.seconds - self.since).min(beginning_max);
        }
        let most = self.seconds_max.map_or(f64::INFINITY, |most| (most - self.seconds).max(0.0));
        Some(left.min(most))
    }

    /// The phase that is measured now, or the one that comes next in the running cell.
    fn running_phase(&self) -> Option<RunningPhase<'_>> {
        let (index, _) = self.running?;
        let cell = PlannedCell { index, plan: &self.cells[index].plan };
        let phase = cell.plan.phases.get(self.phases_over)?;
        let activity = self.activity.as_ref().filter(|activity| activity.cell == Some(index));
        let share = activity.map_or(Some(0.0), |activity| activity.share(self.seconds));
        let seconds = activity.map_or(0.0, |activity| self.seconds - activity.begun);
        Some(RunningPhase { cell, phase, share, seconds })
    }

    /// The share of the whole run that is done, 0 to 1; `None` when what is left is not known.
    pub(super) fn share_done(&self) -> Option<f64> {
        if self.cells.is_empty() {
            return self.activity.as_ref()?.share(self.seconds);
        }
        let left = self.left()?;
        Some(self.seconds / (self.seconds + left).max(f64::MIN_POSITIVE))
    }

    /// How many cells have this mark.
    pub(super) fn count(&self, mark: CellMark) -> usize {
        self.cells.iter().flat_map(|cell| &cell.marks).filter(|m| **m == mark).count()
    }

    /// How many cells are done: `12 of 45 cells done, 1 invalid`.
    pub(super) fn cells_done(&self) -> String {
        let invalid = self.count(CellMark::Invalid);
        let done = self.count(CellMark::Done) + invalid;
        let total: usize = self.cells.iter().map(|cell| cell.marks.len()).sum();
        let more = if invalid > 0 { format!(", {invalid} invalid") } else { String::new() };
        format!("{} of {} done{more}", grouped(done as u64), counted(total as u64, "cell"))
    }
}

fn keep_newest<T>(kept: &mut Vec<T>) {
    if kept.len() > KEPT_MAX {
        kept.remove(0);
    }
}

/// A variant's name as it may be shown; `None` when nothing is compared.
pub(super) fn variant_name(variant: &str) -> Option<String> {
    (variant != DEFAULT_VARIANT).then(|| shown(variant))
}

/// A level as words: `files=1,000`.
pub(super) fn level_text(level: &Level) -> String {
    let value = Quantity { value: level.value, unit: level.unit };
    shown(format!("{}={value}", level.axis))
}

/// The cell of a phase as words, such as `repeat 4 of 10`, `xfs`, `files=1,000`; empty if the run has
/// only one cell.
pub(super) fn cell_words(context: &PhaseContext<'_>) -> Vec<String> {
    let (key, repeats) = (context.key, context.repeats);
    let repeat = (repeats > 1).then(|| format!("repeat {} of {repeats}", key.repeat));
    let level = key.level.as_ref().map(level_text);
    [repeat, variant_name(&key.variant), level].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(seconds: f64, done: u64) -> CounterSample {
        CounterSample { seconds, done: Some(done), ..CounterSample::default() }
    }

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let mut rates = RecentRates::default();
        assert_eq!(rates.rate(), None);
        for (at, number) in [(0.0, 0), (1.0, 1_000), (1.5, 1_100), (1.51, 5_000), (2.0, 1_200)] {
            rates.take(done(at, number));
        }
        let expected = [1_000.0, 200.0, 200.0];
        assert_eq!(rates.windows, expected, "a sample that is too close gives no window");
        assert_eq!(rates.rate(), Some(200.0));
        rates.take(done(3.0, 1_200));
        assert_eq!(rates.rate(), Some(0.0));
        rates.take(CounterSample { done: None, ..done(4.0, 0) });
        assert_eq!(rates.rate(), None, "nothing is counted");
        assert_eq!(rates.windows.len(), 4);
    }

    #[test]
    fn no_more_windows_are_kept_than_a_picture_has_columns() {
        let mut rates = RecentRates::default();
        (0..1_000u64).for_each(|at| rates.take(done(at as f64, at * at)));
        assert_eq!(rates.windows.len(), WINDOWS_MAX);
        assert_eq!(rates.windows.back(), Some(&1_997.0));
    }

    fn sample(seconds: f64, written: u64, busy: f64) -> CounterSample {
        let device = DeviceCounters { write_bytes: written, ..DeviceCounters::default() };
        let processors = ProcessorTimes {
            all_seconds: seconds * 2.0,
            user_seconds: busy / 4.0,
            busy_seconds: busy,
            steal_seconds: 0.0,
        };
        CounterSample { seconds, done: None, device: Some(device), processors: Some(processors) }
    }

    #[test]
    fn rates_of_the_machine_are_differences() {
        let mut machine = RecentRates::default();
        machine.take(sample(0.0, 5_000, 0.0));
        assert_eq!((machine.device(), machine.processors()), (None, None));
        machine.take(sample(0.5, 6_000, 0.8));
        assert_eq!(machine.device(), Some([0.0, 2_000.0]));
        let processors = machine.processors().unwrap();
        assert!((processors.user - 0.2).abs() < 1e-9 && (processors.system - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_device_that_was_made_anew_begins_anew() {
        let mut machine = RecentRates::default();
        machine.take(sample(0.0, 5_000, 0.0));
        machine.take(sample(0.5, 100, 0.0));
        assert_eq!(machine.device(), None);
        machine.take(CounterSample { device: None, ..sample(0.75, 0, 0.0) });
        machine.take(sample(1.0, 200, 0.0));
        assert_eq!(machine.device(), None, "a gap is no rate");
    }
}
