//! Gathers what a tracer counts of other programs into measurements. Latencies are known by buckets of equal ratios,
//! 32 from one power of two to the next; a bucket stands for the latency in its middle, which is off by 1.6% at most.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::book::{CacheReport, CellKey, Measurement, TracedDirectory, Window};
use super::histogram::{encoded, new_histogram};
use super::recorder::latency;
use super::trace_directories::DirectoryTally;
use boatload_base::errno::Errno;
use boatload_host::tracing::{
    BUCKET_BITS, CallSum, DirectoryKey, FAILED, TraceBatch, TracedOperation, WINDOW_SHIFT,
};
use boatload_run::cache::CacheState;

/// More calls than a machine makes while a trace lasts.
const CALLS_MAX: u64 = 1 << 48;
/// Slices of a measurement, at most.
const SLICES_MAX: usize = 64;
/// More windows of an operation become half as many.
const WINDOWS_MAX: usize = 1_000;
/// Fewer do not show how they differ.
const SLICES_MIN: usize = 8;
/// Buckets from one power of two to the next.
const BUCKETS: u64 = 32;
/// The kernel interrupts a call with one of these where a signal comes, and often begins it again.
const RESTARTS: std::ops::RangeInclusive<u64> = 512..=516;

/// Calls by bucket.
type BucketCounts = BTreeMap<u16, u64>;

/// Adds to a count that stops at its maximum.
fn add_to(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

/// The sum of counts, at most the most that there is.
fn sum_of(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The latency below which a share of the calls lies, 0 to 1, in nanoseconds; 0 without calls.
fn quantile_ns(counts: &BucketCounts, share: f64) -> u64 {
    let calls = sum_of(counts.values().copied());
    let rank = (share * calls as f64).ceil().max(1.0) as u64;
    let mut below = 0u64;
    let found = counts.iter().find(|(_, count)| {
        add_to(&mut below, **count);
        below >= rank
    });
    found.map_or(0, |(bucket, _)| middle_ns(*bucket))
}

/// What was counted, of each operation.
#[derive(Debug, Default)]
pub struct TraceTally {
    operations: BTreeMap<u64, OperationTally>,
    directories: DirectoryTally,
}

/// What was counted of one operation.
#[derive(Debug, Default)]
struct OperationTally {
    /// Calls of a window that succeeded, by its first number.
    windows: BTreeMap<u64, BucketCounts>,
    /// Calls that failed.
    failed: BucketCounts,
    /// Operations of a window.
    width: u64,
    /// All calls.
    sum: CallSum,
    errors: BTreeMap<u64, u64>,
    bytes: u64,
}

impl TraceTally {
    /// Adds what was counted, in windows of at least `every` operations.
    pub fn add(&mut self, batch: &TraceBatch, every: u64) {
        for entry in &batch.latencies {
            let low = entry.key & ((1 << WINDOW_SHIFT) - 1);
            let one = self.operations.entry(low >> BUCKET_BITS).or_default();
            let bucket = (low & ((1 << BUCKET_BITS) - 1)) as u16;
            let calls = entry.value.min(CALLS_MAX);
            if entry.key & FAILED != 0 {
                add_to(one.failed.entry(bucket).or_default(), calls);
                continue;
            }
            one.width = one.width.max(every).max(1);
            let first = (entry.key >> WINDOW_SHIFT) / one.width * one.width;
            add_to(one.windows.entry(first).or_default().entry(bucket).or_default(), calls);
            one.merge_windows();
        }
        for entry in &batch.bytes {
            self.operations.entry(entry.key).or_default().bytes = entry.value;
        }
        for total in &batch.totals {
            self.operations.entry(total.operation).or_default().sum = total.sum;
        }
        for entry in &batch.errors {
            let one = self.operations.entry(entry.key >> WINDOW_SHIFT).or_default();
            one.errors.insert(entry.key & ((1 << WINDOW_SHIFT) - 1), entry.value);
        }
        self.directories.add(&batch.directories);
    }

    /// For each operation the directories whose calls took most time, as far as their paths are known; these counts are then
    /// gone.
    pub fn take_directories(
        &mut self,
        path_of: &mut dyn FnMut(DirectoryKey) -> Option<PathBuf>,
    ) -> Vec<TracedDirectory> {
        std::mem::take(&mut self.directories).named(path_of)
    }

    /// Those operations that are traced.
    fn known(&self) -> impl Iterator<Item = (TracedOperation, &OperationTally)> {
        let all = self.operations.iter();
        all.filter_map(|(number, one)| Some((TracedOperation::of_number(*number)?, one)))
    }

    /// Calls of each operation.
    pub fn counted(&self) -> impl Iterator<Item = (TracedOperation, u64)> {
        self.known().map(|(operation, one)| (operation, one.sum.calls))
    }

    /// The time of all calls together, in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        sum_of(self.known().map(|(_, one)| one.sum.total_ns))
    }

    /// Calls whose latencies were lost, because a map of the kernel was full.
    pub fn lost(&self) -> u64 {
        self.known().map(|(_, one)| one.sum.calls.saturating_sub(one.recorded())).sum()
    }

    /// A measurement of each operation that was seen, in their usual order.
    pub fn measurements(&self, variant: &str) -> Vec<Measurement> {
        let seen = self.known().filter(|(_, one)| one.sum.calls > 0);
        seen.map(|(operation, one)| one.measurement(operation, variant)).collect()
    }
}

impl OperationTally {
    fn recorded(&self) -> u64 {
        sum_of(self.latencies().map(|(_, calls)| calls))
    }

    /// Calls by bucket.
    fn latencies(&self) -> impl Iterator<Item = (u16, u64)> {
        let all = self.windows.values().chain([&self.failed]).flatten();
        all.map(|(bucket, calls)| (*bucket, *calls))
    }

    fn merge_windows(&mut self) {
        while self.windows.len() > WINDOWS_MAX {
            self.width *= 2;
            for (first, counts) in std::mem::take(&mut self.windows) {
                let window = self.windows.entry(first / self.width * self.width).or_default();
                counts
                    .into_iter()
                    .for_each(|(bucket, count)| add_to(window.entry(bucket).or_default(), count));
            }
        }
    }

    fn measurement(&self, operation: TracedOperation, variant: &str) -> Measurement {
        let mut histogram = new_histogram();
        for (bucket, calls) in self.latencies() {
            histogram.saturating_record_n(middle_ns(bucket), calls);
        }
        let mean_ns = self.sum.total_ns as f64 / self.sum.calls.max(1) as f64;
        let windows = self.book_windows();
        let mut errors = BTreeMap::new();
        for (number, count) in &self.errors {
            let number = if RESTARTS.contains(number) { libc::EINTR as u64 } else { *number };
            let error = i32::try_from(number).map_or(Errno::EIO, Errno);
            add_to(errors.entry(error).or_default(), *count);
        }
        let operations = self.sum.calls.saturating_sub(sum_of(errors.values().copied()));
        Measurement {
            cell: CellKey { variant: variant.into(), level: None, repeat: 1 },
            phase: operation.as_str().into(),
            pass: 1,
            operation: Some(operation.into()),
            threads: Some(1),
            operations,
            operations_asked: Some(operations),
            errors,
            bytes: Some(self.bytes),
            seconds: Some(self.sum.total_ns as f64 / 1e9),
            sync_seconds: Some(0.0),
            latency: Some(latency(&histogram, mean_ns, histogram.min()..=histogram.max())),
            cache: CacheReport { found: CacheState::Unverified, ..CacheReport::default() },
            slices_ns: slices(&windows),
            windows,
            histogram: encoded(&histogram),
            ..Measurement::default()
        }
    }

    /// Windows in order. Processors that count at the same time may give two calls one number, so that a window has
    /// some more than its width; none is lost by that.
    fn book_windows(&self) -> Vec<Window> {
        let mut first = 0u64;
        let window = |counts: &BucketCounts| {
            let operations = sum_of(counts.values().copied());
            let at = |share| quantile_ns(counts, share);
            let sum: f64 = counts
                .iter()
                .map(|(bucket, count)| middle_ns(*bucket) as f64 * *count as f64)
                .sum();
            let before = first;
            add_to(&mut first, operations);
            let (p50_ns, p99_ns, max_ns) = (at(0.5), at(0.99), at(1.0));
            Window {
                first: before,
                operations,
                mean_ns: sum / operations as f64,
                p50_ns,
                p99_ns,
                max_ns,
            }
        };
        let mut all: Vec<Window> = self.windows.values().map(window).collect();
        // The last one is seldom full: a few calls say little.
        if let [.., last, end] = all.as_slice()
            && end.operations < last.operations / 2
        {
            all.pop();
        }
        // One says nothing of a course.
        if all.len() > 1 { all } else { Vec::new() }
    }
}

/// The middle of a bucket, in nanoseconds.
fn middle_ns(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    if bucket < 2 * BUCKETS {
        return bucket;
    }
    let shift = bucket / BUCKETS - 1;
    let lowest = (bucket - shift * BUCKETS) << shift;
    lowest.saturating_add((1 << shift) / 2)
}

/// Mean latencies of equal groups of windows.
fn slices(windows: &[Window]) -> Vec<f64> {
    if windows.len() < SLICES_MIN {
        return Vec::new();
    }
    let group = windows.chunks(windows.len().div_ceil(SLICES_MAX));
    let mean = |group: &[Window]| {
        let operations = sum_of(group.iter().map(|window| window.operations));
        group.iter().map(|window| window.mean_ns * window.operations as f64).sum::<f64>()
            / operations as f64
    };
    group.map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_host::tracing::{MapEntry, OperationCalls};

    fn bucket_of(ns: u64) -> u16 {
        let shift = (64 - ns.leading_zeros()).saturating_sub(6);
        (u64::from(shift) * BUCKETS + (ns >> shift)) as u16
    }

    fn batch(entries: &[(u64, TracedOperation, u64, u64)]) -> TraceBatch {
        let key = |(first, operation, ns, value): &(u64, TracedOperation, u64, u64)| MapEntry {
            key: first << WINDOW_SHIFT
                | operation.number() << BUCKET_BITS
                | u64::from(bucket_of(*ns)),
            value: *value,
        };
        let mut totals: BTreeMap<u64, CallSum> = BTreeMap::new();
        for (_, operation, ns, calls) in entries {
            let sum = CallSum { calls: *calls, total_ns: ns * calls };
            totals.entry(operation.number()).or_default().add(sum);
        }
        let total = |(operation, sum)| OperationCalls { operation, sum };
        let totals = totals.into_iter().map(total).collect();
        TraceBatch { latencies: entries.iter().map(key).collect(), totals, ..TraceBatch::default() }
    }

    #[test]
    fn the_middle_of_a_bucket_is_within_two_percent_of_its_latencies() {
        for ns in (1..20_000).chain([123_456_789, 1 << 40, (1 << 52) + 1]) {
            let off = middle_ns(bucket_of(ns)) as f64 / ns as f64 - 1.0;
            assert!(off.abs() <= 0.016, "{ns}: {off}");
        }
    }

    #[test]
    fn windows_are_numbered_by_what_was_counted_in_them() {
        let mut tally = TraceTally::default();
        let create = TracedOperation::Create;
        // Two calls had the same number: the second window begins later than its key says.
        tally.add(&batch(&[(0, create, 1000, 900), (0, create, 4000, 101)]), 1000);
        let mut more = batch(&[(1000, create, 2000, 1000)]);
        more.totals[0].sum = CallSum { calls: 2001, total_ns: 3_304_000 };
        tally.add(&more, 1000);
        let all = tally.measurements("touch");
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((one.operations, one.windows.len()), (2001, 2));
        // Rates count the time that the calls took together, whatever the program did between them.
        assert!(
            (one.operations_per_second() * one.latency.unwrap().mean - 1e9).abs() < 1.0,
            "{one:?}"
        );
        assert_eq!((one.windows[1].first, one.windows[1].operations), (1001, 1000));
        assert!(one.windows[0].p99_ns > 3900 && one.windows[0].p50_ns < 1020, "{:?}", one.windows);
        assert_eq!(tally.lost(), 0);
    }

    #[test]
    fn what_a_full_map_lost_is_counted_and_the_total_stays() {
        let mut tally = TraceTally::default();
        let mut full = batch(&[(0, TracedOperation::Read, 500, 10)]);
        full.totals[0].sum.calls = 25;
        tally.add(&full, 1000);
        assert_eq!((tally.lost(), tally.measurements("x")[0].operations), (15, 25));
    }

    #[test]
    fn many_windows_become_half_as_many_twice_as_wide() {
        let mut tally = TraceTally::default();
        let number = WINDOWS_MAX as u64 + 1;
        for at in 0..number {
            tally.add(&batch(&[(10 * at, TracedOperation::Open, 100, 10)]), 10);
        }
        let one = &tally.operations[&TracedOperation::Open.number()];
        assert_eq!((one.windows.len() as u64, one.width), (number.div_ceil(2), 20));
        assert_eq!(one.recorded(), 10 * number);
    }

    #[test]
    fn failed_calls_are_counted_by_their_error_and_timed_outside_of_windows() {
        let mut tally = TraceTally::default();
        let key = |number: u64| TracedOperation::Open.number() << WINDOW_SHIFT | number;
        let errors = [(2, 5), (512, 1), (516, 2), (4, 4)];
        let errors = errors.map(|(number, value)| MapEntry { key: key(number), value }).to_vec();
        let mut all = batch(&[(0, TracedOperation::Open, 1000, 20)]);
        all.latencies[0].value -= 12;
        all.latencies.push(MapEntry { key: all.latencies[0].key | FAILED, value: 12 });
        tally.add(&TraceBatch { errors, ..all }, 1000);
        let all = tally.measurements("x");
        let errors = BTreeMap::from([(Errno::EINTR, 7), (Errno::ENOENT, 5)]);
        assert_eq!((&all[0].errors, all[0].operations, tally.lost()), (&errors, 8, 0));
        assert_eq!((all[0].seconds, tally.total_ns()), (Some(20e-6), 20_000));
    }

    #[test]
    fn boatloads_own_calls_are_no_measurement() {
        let mut tally = TraceTally::default();
        let key = boatload_host::tracing::OWN_NUMBER << BUCKET_BITS | 40;
        let latencies = vec![MapEntry { key, value: 7 }];
        tally.add(&TraceBatch { latencies, ..TraceBatch::default() }, 1000);
        assert_eq!((tally.measurements("x"), tally.lost()), (Vec::new(), 0));
    }
}
