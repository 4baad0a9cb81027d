//! Records every latency of one worker: in a histogram, in windows if requested, and in slices that show
//! how precise the rate is. Windows are slices of a phase's operations with their own figures: a worker
//! keeps one small histogram; when its part of a window is over, the part goes to the windows that all
//! workers share, and when all parts are there, only the window's figures stay.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use hdrhistogram::Histogram;

use super::book::{Latency, Window};
use super::histogram::{
    COARSE_DIGITS, DIGITS, LATENCY_MAX_NS, coarse_histogram, empty, growing_histogram,
    new_histogram,
};
use boatload_plan::Phase;
use boatload_plan::mix::Mix;
use boatload_plan::phase::MixPart;
use boatload_run::drive::{Recorder, TurnTimes};

/// Slices of a phase whose means show how precise the mean of all is.
const SLICES: u64 = 32;

/// One worker's recorder, in cache lines of its own.
#[repr(align(128))]
pub struct PhaseRecorder {
    all: LatencyRecord,
    /// Those from when turns began, where the others are from when they were due.
    service: Option<LatencyRecord>,
    windows: Option<WindowRecorder>,
    /// Of a mix, in the order of [`Phase::parts`].
    parts: Vec<PartRecorder>,
    /// Which of them each work is; its steps follow.
    works: Vec<usize>,
}

/// The latencies of one worker, in all or of one work.
struct LatencyRecord {
    histogram: Histogram<u64>,
    /// The longest latency, exactly: a histogram only knows which bucket it fell into.
    max_ns: u64,
    min_ns: u64,
    slices: Slices,
}

/// What one worker did of one part of a mix: a work, or a step of a chain.
struct PartRecorder {
    turns: u64,
    all: LatencyRecord,
    service: Option<LatencyRecord>,
}

impl PhaseRecorder {
    /// For a worker with `turns` operations, if their number is known; `windows` are the windows of the
    /// phase, if it has any, and then it is.
    pub fn new(turns: Option<u64>, windows: Option<Arc<Mutex<Windows>>>) -> Self {
        Self {
            all: LatencyRecord::new(turns, DIGITS),
            service: None,
            windows: windows.map(|windows| WindowRecorder::new(turns.unwrap_or(0), windows)),
            parts: Vec::new(),
            works: Vec::new(),
        }
    }

    /// For a worker of a mix, each part of it apart; with the times from when turns began, where they have a pace.
    pub fn of_mix(turns: Option<u64>, phase: &Phase, mix: &Mix) -> Self {
        let record = || LatencyRecord::new(None, COARSE_DIGITS);
        let service = || mix.pace.map(|_| record());
        let part = |part: &MixPart| {
            let (all, service) = (record(), service().filter(|_| !part.is_step));
            PartRecorder { turns: 0, all, service }
        };
        let parts = phase.parts();
        let works = (0..parts.len()).filter(|at| !parts[*at].is_step).collect();
        let parts = parts.iter().map(part).collect();
        Self { service: service(), parts, works, ..Self::new(turns, None) }
    }

    /// The memory of one, in bytes.
    pub fn bytes(phase: &Phase) -> u64 {
        let of = |histogram: &Histogram<u64>| 8 * histogram.distinct_values() as u64;
        let windows = if phase.windows > 0 { of(&coarse_histogram()) } else { 0 };
        let each = phase.mix.as_ref().map_or(1, |mix| 1 + u64::from(mix.pace.is_some()));
        let parts = of(&coarse_histogram()) * phase.parts().len() as u64;
        of(&new_histogram()) + parts * each + windows + size_of::<Self>() as u64
    }
}

impl LatencyRecord {
    fn new(turns: Option<u64>, digits: u8) -> Self {
        let (max_ns, min_ns) = (0, u64::MAX);
        Self { histogram: growing_histogram(digits), max_ns, min_ns, slices: Slices::new(turns) }
    }

    #[inline]
    fn record(&mut self, turn: u64, ns: u64) {
        // It grows up to the bound of those that it is added to.
        let _ = self.histogram.record(ns.min(LATENCY_MAX_NS));
        self.max_ns = self.max_ns.max(ns);
        self.min_ns = self.min_ns.min(ns);
        self.slices.record(turn, ns);
    }
}

impl Recorder for PhaseRecorder {
    #[inline]
    fn record(&mut self, turn: u64, ns: u64) {
        self.all.record(turn, ns);
        if let Some(windows) = &mut self.windows {
            windows.record(turn, ns);
        }
    }

    #[inline]
    fn record_work(&mut self, work: usize, turn: u64, ns: TurnTimes) {
        if let Some(service) = &mut self.service {
            service.record(turn, ns.service_ns);
        }
        let Some(part) = self.works.get(work).and_then(|at| self.parts.get_mut(*at)) else {
            return;
        };
        part.all.record(part.turns, ns.response_ns);
        if let Some(service) = &mut part.service {
            service.record(part.turns, ns.service_ns);
        }
        part.turns += 1;
    }

    #[inline]
    fn record_step(&mut self, work: usize, step: usize, ns: u64) {
        let at = self.works.get(work).map(|work| work + 1 + step);
        let Some(part) = at.and_then(|at| self.parts.get_mut(at)) else { return };
        part.all.record(part.turns, ns);
        part.turns += 1;
    }
}

/// Operations of a worker, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OperationSlice {
    /// How many succeeded.
    operations: u64,
    /// How long they took together, in nanoseconds.
    ns: u64,
}

impl OperationSlice {
    /// With those after it.
    #[must_use]
    fn plus(self, other: Self) -> Self {
        let operations = self.operations + other.operations;
        Self { operations, ns: self.ns.saturating_add(other.ns) }
    }

    /// Their mean latency, in nanoseconds.
    fn mean_ns(self) -> f64 {
        self.ns as f64 / self.operations as f64
    }
}

/// Sums of latency over equal slices of a worker's turns.
struct Slices {
    /// Turns of each slice.
    length: u64,
    /// Whether two slices become one when there are too many, for the number of turns is unknown.
    doubles: bool,
    next: u64,
    open: OperationSlice,
    /// Those that are over, in which something succeeded.
    closed: Vec<OperationSlice>,
}

impl Slices {
    fn new(turns: Option<u64>) -> Self {
        let closed = Vec::with_capacity(2 * SLICES as usize + 1);
        let length = turns.map_or(1, |turns| turns.div_ceil(SLICES).max(1));
        let (doubles, open) = (turns.is_none(), OperationSlice::default());
        Self { length, doubles, next: length, open, closed }
    }

    #[inline]
    fn record(&mut self, turn: u64, ns: u64) {
        while turn >= self.next {
            self.close();
        }
        self.open.ns += ns;
        self.open.operations += 1;
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if open.operations > 0 {
            self.closed.push(open);
        }
        if self.doubles && self.closed.len() as u64 == 2 * SLICES {
            for at in 0..SLICES as usize {
                self.closed[at] = self.closed[2 * at].plus(self.closed[2 * at + 1]);
            }
            self.closed.truncate(SLICES as usize);
            self.length *= 2;
        }
        self.next += self.length;
    }

    /// The mean latency of each, in nanoseconds.
    fn means(&self) -> Vec<f64> {
        self.closed.iter().map(|slice| slice.mean_ns()).collect()
    }

    /// The sum of all latencies, in nanoseconds.
    fn total_ns(&self) -> u128 {
        self.closed.iter().map(|slice| u128::from(slice.ns)).sum()
    }
}

/// The merged records of all workers of a phase, or of one work of it.
pub struct Recorded {
    /// All latencies.
    pub histogram: Histogram<u64>,
    /// Their summary.
    pub latency: Latency,
    /// Relative standard error of the mean latency, and so of the rate.
    pub rate_error: Option<f64>,
    /// The windows, in order.
    pub windows: Vec<Window>,
    /// Mean latencies of the slices, the mean of all workers, in order; empty for too few.
    pub slices_ns: Vec<f64>,
    /// Latencies from when turns began, where the others are from when they were due.
    pub service: Option<Latency>,
    /// The parts of a mix, in the order of [`Phase::parts`].
    pub parts: Vec<Recorded>,
}

/// Merges the recorders of a phase's workers.
pub fn merge(recorders: Vec<PhaseRecorder>, windows: Option<Arc<Mutex<Windows>>>) -> Recorded {
    let (mut all, mut service) = (Vec::new(), Vec::new());
    let mut parts: Vec<(Vec<LatencyRecord>, Vec<LatencyRecord>)> = Vec::new();
    for recorder in recorders {
        all.push(recorder.all);
        service.extend(recorder.service);
        if let Some(open) = recorder.windows {
            open.finish();
        }
        parts.resize_with(recorder.parts.len(), Default::default);
        for (of_all, own) in parts.iter_mut().zip(recorder.parts) {
            of_all.0.push(own.all);
            of_all.1.extend(own.service);
        }
    }
    let windows = windows
        .and_then(|windows| Arc::into_inner(windows)?.into_inner().ok())
        .map_or_else(Vec::new, Windows::into_windows);
    let parts = parts.into_iter().map(|(all, service)| recorded(all, service)).collect();
    Recorded { windows, parts, ..recorded(all, service) }
}

/// What the records of all workers are together.
fn recorded(records: Vec<LatencyRecord>, service: Vec<LatencyRecord>) -> Recorded {
    let digits = records.first().map_or(DIGITS, |record| record.histogram.sigfig());
    let mut histogram = empty(digits);
    let (mut errors, mut slices) = (Vec::new(), Vec::new());
    let (mut min_ns, mut max_ns, mut sum_ns) = (u64::MAX, 0, 0);
    for mut record in records {
        min_ns = min_ns.min(record.min_ns);
        max_ns = max_ns.max(record.max_ns);
        record.slices.close();
        sum_ns += record.slices.total_ns();
        let means = record.slices.means();
        errors.push(relative_error(&means));
        slices.push(means);
        // All values are within its bounds, so adding cannot fail.
        histogram.add(&record.histogram).unwrap_or_default();
    }
    let mean_ns = sum_ns as f64 / histogram.len() as f64;
    let has_service = !service.is_empty();
    Recorded {
        latency: latency(&histogram, mean_ns, min_ns..=max_ns),
        histogram,
        rate_error: combined(&errors),
        windows: Vec::new(),
        slices_ns: side_by_side(&slices),
        service: has_service.then(|| recorded(service, Vec::new()).latency),
        parts: Vec::new(),
    }
}

/// Fewer slices do not show how they differ.
const SLICES_MIN: usize = 8;

/// The mean of all workers' slices; of those that did more than others their last slices are left.
fn side_by_side(workers: &[Vec<f64>]) -> Vec<f64> {
    let busy: Vec<&Vec<f64>> = workers.iter().filter(|means| means.len() >= SLICES_MIN).collect();
    let slices = busy.iter().map(|means| means.len()).min().unwrap_or(0);
    let mean = |at: usize| busy.iter().map(|means| means[at]).sum::<f64>() / busy.len() as f64;
    (0..slices).map(mean).collect()
}

/// Relative standard error of a mean from batch means (Law, "Simulation Modeling and Analysis",
/// section 9.5.3): slices are long enough that neighbours hardly depend on each other.
fn relative_error(means: &[f64]) -> Option<f64> {
    if means.len() < SLICES_MIN {
        return None;
    }
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean > 0.0).then(|| (variance / n).sqrt() / mean)
}

/// Workers run in parallel, so the error of their sum is the root of the mean square, over the
/// root of their number.
fn combined(errors: &[Option<f64>]) -> Option<f64> {
    let squares: Option<f64> = errors.iter().map(|error| error.map(|e| e * e)).sum();
    squares.filter(|_| !errors.is_empty()).map(|sum| sum.sqrt() / errors.len() as f64)
}

/// The summary of a histogram whose mean and extremes are known exactly; all zero for an empty one.
pub(super) fn latency(
    histogram: &Histogram<u64>,
    mean_ns: f64,
    extremes: RangeInclusive<u64>,
) -> Latency {
    if histogram.is_empty() {
        return Latency::default();
    }
    let (min, max) = extremes.into_inner();
    let mut quantiles = histogram.value_at_quantiles([0.5, 0.9, 0.99, 0.999]);
    let mut next = || quantiles.next().map_or(max, |ns| ns.clamp(min, max));
    Latency { mean: mean_ns, min, p50: next(), p90: next(), p99: next(), p99_9: next(), max }
}

/// The windows of a phase, shared by its workers.
pub struct Windows {
    number: u64,
    operations: u64,
    workers: u32,
    open: BTreeMap<u64, Parts>,
    closed: BTreeMap<u64, Window>,
}

/// The parts of one window that have come in, as counts by latency.
#[derive(Default)]
struct Parts {
    counts: BTreeMap<u64, u64>,
    sum_ns: u128,
    max_ns: u64,
    workers: u32,
}

impl Windows {
    /// `number` windows over a phase of `operations` by `workers`.
    pub fn new(number: u32, operations: u64, workers: u32) -> Self {
        let number = u64::from(number).min(operations).max(1);
        Self { number, operations, workers, open: BTreeMap::new(), closed: BTreeMap::new() }
    }

    fn add(&mut self, window: u64, part: &WindowPart) {
        let parts = self.open.entry(window).or_default();
        for value in part.histogram.iter_recorded() {
            *parts.counts.entry(value.value_iterated_to()).or_default() += value.count_at_value();
        }
        parts.sum_ns += part.sum_ns;
        parts.max_ns = parts.max_ns.max(part.max_ns);
        parts.workers += 1;
        if parts.workers == self.workers {
            self.close(window);
        }
    }

    fn close(&mut self, window: u64) {
        let Some(parts) = self.open.remove(&window) else { return };
        let operations: u64 = parts.counts.values().sum();
        if operations == 0 {
            return;
        }
        let figures = Window {
            first: first_of(window, self.number, self.operations),
            operations,
            mean_ns: parts.sum_ns as f64 / operations as f64,
            p50_ns: parts.quantile(0.5, operations),
            p99_ns: parts.quantile(0.99, operations),
            max_ns: parts.max_ns,
        };
        self.closed.insert(window, figures);
    }

    /// The figures, in order; windows that were cut short are among them.
    fn into_windows(mut self) -> Vec<Window> {
        let open: Vec<u64> = self.open.keys().copied().collect();
        open.into_iter().for_each(|window| self.close(window));
        self.closed.into_values().collect()
    }
}

impl Parts {
    fn quantile(&self, quantile: f64, operations: u64) -> u64 {
        let wanted = ((quantile * operations as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (ns, count) in &self.counts {
            seen += count;
            if seen >= wanted {
                return (*ns).min(self.max_ns);
            }
        }
        self.max_ns
    }
}

/// The first operation of a window, when `total` are divided as evenly as they can be.
fn first_of(window: u64, windows: u64, total: u64) -> u64 {
    (u128::from(window) * u128::from(total)).div_ceil(u128::from(windows)) as u64
}

struct WindowPart {
    histogram: Histogram<u64>,
    sum_ns: u128,
    max_ns: u64,
}

/// One worker's open window.
struct WindowRecorder {
    shared: Arc<Mutex<Windows>>,
    number: u64,
    turns: u64,
    window: u64,
    next: u64,
    part: WindowPart,
}

impl WindowRecorder {
    /// For a worker with `turns` operations, which takes its share of every window.
    fn new(turns: u64, shared: Arc<Mutex<Windows>>) -> Self {
        let number = shared.lock().map_or(1, |windows| windows.number);
        let part = WindowPart { histogram: coarse_histogram(), sum_ns: 0, max_ns: 0 };
        Self { shared, number, turns, window: 0, next: first_of(1, number, turns), part }
    }

    /// Takes in one latency.
    #[inline]
    fn record(&mut self, turn: u64, ns: u64) {
        while turn >= self.next && self.window + 1 < self.number {
            self.hand_in();
        }
        self.part.histogram.saturating_record(ns);
        self.part.sum_ns += u128::from(ns);
        self.part.max_ns = self.part.max_ns.max(ns);
    }

    fn hand_in(&mut self) {
        if let Ok(mut windows) = self.shared.lock() {
            windows.add(self.window, &self.part);
        }
        self.part.histogram.reset();
        (self.part.sum_ns, self.part.max_ns) = (0, 0);
        self.window += 1;
        self.next = first_of(self.window + 1, self.number, self.turns);
    }

    /// Hands in what is still open.
    fn finish(mut self) {
        if !self.part.histogram.is_empty() {
            self.hand_in();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(turns: u64, latency_of: impl Fn(u64) -> u64) -> Recorded {
        let mut recorder = PhaseRecorder::new(Some(turns), None);
        (0..turns).for_each(|turn| recorder.record(turn, latency_of(turn)));
        merge(vec![recorder], None)
    }

    #[test]
    fn a_latency_above_the_bound_is_counted_at_the_bound() {
        let all = recorded(100, |turn| if turn == 7 { u64::MAX / 2 } else { 1_000 });
        assert_eq!((all.histogram.len(), all.latency.p50), (100, 1_000));
        let at_bound = all.histogram.count_between(LATENCY_MAX_NS, LATENCY_MAX_NS);
        assert_eq!(at_bound, 1);
    }

    #[test]
    fn percentiles_are_those_of_the_latencies() {
        let figures = recorded(1000, |turn| (turn + 1) * 1000).latency;
        let near = |a: u64, b: u64| a.abs_diff(b) * 1000 <= b;
        assert!(near(figures.p50, 500_000), "{figures:?}");
        assert!(near(figures.p99, 990_000), "{figures:?}");
        assert_eq!((figures.min, figures.max), (1000, 1_000_000), "{figures:?}");
    }

    #[test]
    fn a_steady_rate_is_sure_and_a_drifting_one_is_not() {
        let steady = recorded(3200, |_| 1000).rate_error;
        let drifting = recorded(3200, |turn| 1000 + turn).rate_error;
        assert_eq!(steady, Some(0.0));
        assert!(drifting.is_some_and(|error| error > 0.03), "{drifting:?}");
    }

    #[test]
    fn slices_of_a_phase_that_its_time_ends_are_as_long_as_each_other_and_never_many() {
        for turns in [8, 63, 64, 100, 1000, 123_456] {
            let mut slices = Slices::new(None);
            (0..turns).for_each(|turn| slices.record(turn, 1000 + turn));
            slices.close();
            let means = slices.means();
            assert!((8..=64).contains(&means.len()), "{turns}: {}", means.len());
            let steps: Vec<f64> = means.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let whole = &steps[..steps.len() - 1];
            assert!(whole.iter().all(|step| (step - whole[0]).abs() < 1e-6), "{turns}: {steps:?}");
        }
    }

    #[test]
    fn slices_stay_as_long_after_a_stretch_of_failures() {
        let mut slices = Slices::new(Some(3200));
        (1000..3200).for_each(|turn| slices.record(turn, 1000));
        slices.close();
        assert_eq!(slices.closed.len(), 22, "100 turns each");
    }

    #[test]
    fn too_few_operations_say_nothing_of_their_error() {
        assert_eq!(recorded(5, |_| 1000).rate_error, None);
    }

    #[test]
    fn a_latency_beyond_an_hour_keeps_its_maximum() {
        let figures = recorded(1, |_| u64::MAX).latency;
        assert_eq!(figures.max, u64::MAX);
    }
}

#[cfg(test)]
mod window_tests {
    use super::*;

    /// Records `turns` latencies on each worker, the workers one after the other.
    fn windows(number: u32, workers: u32, turns: u64, ns: impl Fn(u64) -> u64) -> Vec<Window> {
        let operations = turns * u64::from(workers);
        let shared = Arc::new(Mutex::new(Windows::new(number, operations, workers)));
        let recorders = (0..workers)
            .map(|_| {
                let mut recorder = PhaseRecorder::new(Some(turns), Some(Arc::clone(&shared)));
                (0..turns).for_each(|turn| recorder.record(turn, ns(turn)));
                recorder
            })
            .collect();
        merge(recorders, Some(shared)).windows
    }

    #[test]
    fn windows_cover_every_operation_once_and_in_order() {
        for (number, workers, turns) in [(4, 1, 1000), (7, 3, 100), (10, 2, 5), (1, 1, 1)] {
            let all = windows(number, workers, turns, |_| 1000);
            let total: u64 = all.iter().map(|w| w.operations).sum();
            assert_eq!(total, turns * u64::from(workers));
            assert!(all.windows(2).all(|pair| pair[0].first < pair[1].first), "{all:?}");
        }
    }

    #[test]
    fn a_window_has_the_figures_of_its_own_operations() {
        let all = windows(2, 2, 1000, |turn| if turn < 500 { 1000 } else { 9000 });
        assert_eq!(all.len(), 2);
        assert!((all[0].mean_ns - 1000.0).abs() < 1e-9 && (all[1].mean_ns - 9000.0).abs() < 1e-9);
        assert!(all[1].p50_ns.abs_diff(9000) <= 90, "{all:?}");
        assert_eq!((all[0].max_ns, all[1].max_ns), (1000, 9000));
    }

    #[test]
    fn more_windows_than_operations_are_as_many_as_operations() {
        assert_eq!(windows(50, 1, 10, |_| 1000).len(), 10);
    }
}

#[cfg(test)]
mod mix_tests {
    use super::*;
    use boatload_plan::{Settings, read_job};

    #[test]
    fn the_steps_of_chains_are_recorded_where_the_parts_of_the_phase_have_them() {
        let job = "name = 'x'\n[tree]\nfiles = 100\n[[phase]]\noperation = 'create'\n\
                   [[phase]]\nname = 'm'\ncount = 10\nrate = 5\n\
                   [[phase.work]]\noperation = 'stat'\nweight = 1\n\
                   [[phase.work]]\nname = 'log'\nchain = ['append', 'fsync', 'fsync']\nweight = 1\n\
                   [[phase.work]]\nname = 'look'\nchain = ['open', 'read']\nweight = 1\n";
        let plan =
            read_job(job, &Settings::default()).unwrap_or_else(|p| panic!("{}", p.report("x")));
        let phase = &plan.cells[0].phases[1];
        let mut recorder = PhaseRecorder::of_mix(None, phase, phase.mix.as_ref().unwrap());
        let ns = |work: usize, step: usize| (1_000 * work + 10 * step) as u64;
        for (work, steps) in [(0, 0), (1, 3), (2, 2)] {
            (0..steps).for_each(|step| recorder.record_step(work, step, ns(work, step + 1)));
            let times = TurnTimes { response_ns: 1_000 * work as u64, service_ns: 500 };
            recorder.record_work(work, 0, times);
        }
        // One that failed in its second step.
        recorder.record_step(2, 0, ns(2, 1));
        let parts = merge(vec![recorder], None).parts;
        let seen: Vec<(String, u64, u64, bool)> = phase
            .parts()
            .into_iter()
            .zip(&parts)
            .map(|(part, one)| {
                (part.name, one.histogram.len(), one.latency.max, one.service.is_some())
            })
            .collect();
        let expected = [
            ("m/stat", 1, 0, true),
            ("m/log", 1, 1_000, true),
            ("m/log/append", 1, 1_010, false),
            ("m/log/fsync", 1, 1_020, false),
            ("m/log/fsync-2", 1, 1_030, false),
            ("m/look", 1, 2_000, true),
            ("m/look/open", 2, 2_010, false),
            ("m/look/read", 1, 2_020, false),
        ];
        let expected = expected.map(|(name, n, max, service)| (name.to_string(), n, max, service));
        assert_eq!(seen, expected);
    }
}
