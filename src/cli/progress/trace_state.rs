//! Keeps the counts of a trace, as plain data.

use std::collections::{BTreeMap, VecDeque};

use crate::base::failure::shown;
use crate::host::tracing::{TraceBatch, TracedOperation, URING_NUMBER, WINDOW_SHIFT};
use crate::results::trace_tally::{BucketCounts, counted_calls, middle_ns, quantile_ns};

/// What counts as now: long enough for a 99th percentile of some hundred calls.
pub(super) const RECENT_SECONDS: f64 = 5.0;

/// Windows of an operation that are kept: as many as the widest picture has columns for.
const WINDOWS_MAX: usize = 500;

/// What was counted since the trace began.
#[derive(Debug, Default)]
pub(super) struct TraceState {
    /// Whom it traces.
    pub(super) target: String,
    operations: BTreeMap<u64, OperationCalls>,
    /// When the last look was, since the trace began.
    last_look: Option<f64>,
}

/// An operation that was seen.
#[derive(Clone, Copy)]
pub(super) struct SeenOperation<'a> {
    pub(super) operation: TracedOperation,
    pub(super) counts: &'a OperationCalls,
}

/// Calls of one operation.
#[derive(Debug, Default)]
pub(super) struct OperationCalls {
    /// Those that succeeded.
    pub(super) calls: u64,
    /// The same at the look before: calls that end while the kernel's counts are read have their latency in the next.
    calls_before: u64,
    /// Those that failed.
    pub(super) failed: u64,
    all: BucketCounts,
    /// By the number of their first call.
    windows: BTreeMap<u64, CourseWindow>,
    /// Calls of a window.
    window_calls: u64,
    /// The newest last; the first is older than what counts as now.
    looks: VecDeque<RecentLook>,
}

/// Calls that follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CourseWindow {
    calls: u64,
    latency_sum_ns: f64,
}

/// What one look at the counts found.
#[derive(Debug, Default)]
struct RecentLook {
    /// When, since the trace began.
    seconds: f64,
    /// Calls until then.
    calls: u64,
    /// Latencies since the look before.
    latencies: BucketCounts,
}

/// Two percentiles of latencies, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LatencyPair {
    pub(super) p50_ns: f64,
    pub(super) p99_ns: f64,
}

impl LatencyPair {
    /// None without a latency.
    fn of(counts: &BucketCounts) -> Option<Self> {
        let at = |share| quantile_ns(counts, share) as f64;
        (!counts.is_empty()).then(|| Self { p50_ns: at(0.5), p99_ns: at(0.99) })
    }
}

impl TraceState {
    pub(super) fn new(target: &str) -> Self {
        Self { target: shown(target), ..Self::default() }
    }

    /// Adds counts that were read this many seconds after the trace began.
    pub(super) fn take(&mut self, seconds: f64, batch: &TraceBatch) {
        let mut latencies: BTreeMap<u64, BucketCounts> = BTreeMap::new();
        for counted in counted_calls(batch) {
            let one = self.operations.entry(counted.operation).or_default();
            one.add(counted.window, counted.bucket, counted.calls);
            let recent = latencies.entry(counted.operation).or_default();
            *recent.entry(counted.bucket).or_default() += counted.calls;
        }
        for entry in &batch.totals {
            let one = self.operations.entry(entry.key).or_default();
            one.calls_before = one.calls;
            one.calls = entry.value;
        }
        let mut failed: BTreeMap<u64, u64> = BTreeMap::new();
        for entry in &batch.errors {
            *failed.entry(entry.key >> WINDOW_SHIFT).or_default() += entry.value;
        }
        for (number, failed) in failed {
            self.operations.entry(number).or_default().failed = failed;
        }
        let before = self.last_look.replace(seconds).unwrap_or(seconds);
        for (number, one) in &mut self.operations {
            if one.looks.is_empty() {
                one.looks.push_back(RecentLook { seconds: before, ..RecentLook::default() });
            }
            one.look(seconds, latencies.remove(number).unwrap_or_default());
        }
    }

    /// Each operation that was seen, in the usual order.
    pub(super) fn seen(&self) -> Vec<SeenOperation<'_>> {
        let known = self.operations.iter().filter_map(|(number, counts)| {
            let operation = TracedOperation::of_number(*number)?;
            Some(SeenOperation { operation, counts })
        });
        known.filter(|one| one.counts.calls + one.counts.failed > 0).collect()
    }

    /// Calls that succeeded.
    pub(super) fn calls(&self) -> u64 {
        self.seen().iter().map(|one| one.counts.calls).sum()
    }

    /// Calls whose latency was lost, since the kernel had no room to keep it.
    pub(super) fn lost(&self) -> u64 {
        let of_each =
            |one: &SeenOperation<'_>| one.counts.calls_before.saturating_sub(one.counts.timed());
        self.seen().iter().map(of_each).sum()
    }

    /// Calls whose requests are no system calls, and so are not seen.
    pub(super) fn unseen_uring_calls(&self) -> u64 {
        self.operations.get(&URING_NUMBER).map_or(0, |one| one.calls)
    }
}

impl OperationCalls {
    fn add(&mut self, first: u64, bucket: u16, calls: u64) {
        *self.all.entry(bucket).or_default() += calls;
        self.window_calls = self.window_calls.max(1);
        let first = first / self.window_calls * self.window_calls;
        let window = self.windows.entry(first).or_default();
        window.calls += calls;
        window.latency_sum_ns += middle_ns(bucket) as f64 * calls as f64;
        while self.windows.len() > WINDOWS_MAX {
            self.window_calls *= 2;
            for (first, window) in std::mem::take(&mut self.windows) {
                let first = first / self.window_calls * self.window_calls;
                self.windows.entry(first).or_default().join(window);
            }
        }
    }

    fn look(&mut self, seconds: f64, latencies: BucketCounts) {
        self.looks.push_back(RecentLook { seconds, calls: self.calls, latencies });
        let is_old = |look: &RecentLook| seconds - look.seconds >= RECENT_SECONDS;
        while self.looks.get(1).is_some_and(is_old) {
            self.looks.pop_front();
        }
    }

    /// Calls whose latency is known.
    fn timed(&self) -> u64 {
        self.all.values().sum()
    }

    /// Calls in a second now; none before the second look.
    pub(super) fn rate(&self) -> Option<f64> {
        let (first, last) = (self.looks.front()?, self.looks.back()?);
        let seconds = last.seconds - first.seconds;
        (seconds > 0.0).then(|| last.calls.saturating_sub(first.calls) as f64 / seconds)
    }

    /// Latencies of now; `None` when there was no call.
    pub(super) fn recent(&self) -> Option<LatencyPair> {
        let mut counts = BucketCounts::new();
        // The latencies of the first look are older than what counts as now.
        for (bucket, calls) in self.looks.iter().skip(1).flat_map(|look| &look.latencies) {
            *counts.entry(*bucket).or_default() += calls;
        }
        LatencyPair::of(&counts)
    }

    /// Latencies since the trace began.
    pub(super) fn all(&self) -> Option<LatencyPair> {
        LatencyPair::of(&self.all)
    }

    /// The time of all its calls, in nanoseconds.
    pub(super) fn total_ns(&self) -> f64 {
        self.windows.values().map(|window| window.latency_sum_ns).sum()
    }

    /// Mean latencies from the first call to the last, in nanoseconds, in at most so many parts of equally many windows.
    pub(super) fn course(&self, parts: usize) -> Vec<f64> {
        let windows: Vec<CourseWindow> = self.windows.values().copied().collect();
        let parts = parts.min(windows.len());
        let part = |at: usize| {
            let mut joined = CourseWindow::default();
            let of_part = at * windows.len() / parts..(at + 1) * windows.len() / parts;
            windows[of_part].iter().for_each(|window| joined.join(*window));
            joined.latency_sum_ns / joined.calls.max(1) as f64
        };
        (0..parts).map(part).collect()
    }
}

impl CourseWindow {
    fn join(&mut self, other: Self) {
        self.calls += other.calls;
        self.latency_sum_ns += other.latency_sum_ns;
    }
}
