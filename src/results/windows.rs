//! Windows: slices of a phase's operations with their own figures. A worker keeps one small
//! histogram; when its part of a window is over, the part goes to the windows that all workers
//! share, and when all parts are there, only the window's figures stay.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hdrhistogram::Histogram;

use super::book::Window;
use super::histogram::LATENCY_MAX_NS;

/// Two significant digits: a window's percentiles are within 1%.
const DIGITS: u8 = 2;

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
    pub fn into_windows(mut self) -> Vec<Window> {
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
pub struct WindowRecorder {
    shared: Arc<Mutex<Windows>>,
    number: u64,
    turns: u64,
    window: u64,
    next: u64,
    part: WindowPart,
}

impl WindowRecorder {
    /// For a worker with `turns` operations, which takes its share of every window.
    pub fn new(turns: u64, shared: Arc<Mutex<Windows>>) -> Self {
        let number = shared.lock().map_or(1, |windows| windows.number);
        #[expect(clippy::expect_used, reason = "constants, tried by every test")]
        let histogram = Histogram::new_with_bounds(1, LATENCY_MAX_NS, DIGITS)
            .expect("constant bounds are valid");
        let part = WindowPart { histogram, sum_ns: 0, max_ns: 0 };
        Self { shared, number, turns, window: 0, next: first_of(1, number, turns), part }
    }

    /// Takes in one latency.
    #[inline]
    pub fn record(&mut self, turn: u64, ns: u64) {
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
    pub fn finish(mut self) {
        if !self.part.histogram.is_empty() {
            self.hand_in();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::recorder::{PhaseRecorder, merge};
    use crate::run::drive::Recorder;

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
