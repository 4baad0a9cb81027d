//! Gathers what a tracer counts of other programs into measurements. Latencies are known by buckets of equal ratios,
//! 32 from one power of two to the next; a bucket stands for the latency in its middle, which is off by 1.6% at most.

use std::collections::BTreeMap;

use super::book::{CacheReport, CellKey, Measurement, Window};
use super::histogram::{encoded, new_histogram};
use super::recorder::latency;
use super::trace_classes::{ClassCalls, ClassOperation, ClassTally, NamedClasses};
pub use super::trace_counts::BucketCounts;
use super::trace_counts::{CALLS_MAX, SLICES_MAX, add_to, sum_of};
use boatload_base::errno::Errno;
use boatload_host::tracing::{BUCKET_BITS, MapEntry, TraceBatch, TracedOperation, WINDOW_SHIFT};
use boatload_run::cache::CacheState;

/// More windows of an operation become half as many.
const WINDOWS_MAX: usize = 1_000;
/// Fewer do not show how they differ.
const SLICES_MIN: usize = 8;
/// Buckets from one power of two to the next.
const BUCKETS: u64 = 32;
/// The kernel interrupts a call with one of these where a signal comes, and often begins it again.
const RESTARTS: std::ops::RangeInclusive<u64> = 512..=516;

/// Calls of one operation in one bucket.
#[derive(Clone, Copy, Debug)]
struct CountedCalls {
    /// The number of the operation.
    operation: u64,
    /// The number of the first call of their window.
    window: u64,
    /// Which bucket.
    bucket: u16,
    /// How many.
    calls: u64,
}

/// All calls of a batch whose latency was counted by window.
fn calls_of_windows(batch: &TraceBatch) -> impl Iterator<Item = CountedCalls> {
    batch.latencies.iter().map(|entry| {
        let low = entry.key & ((1 << WINDOW_SHIFT) - 1);
        CountedCalls {
            operation: low >> BUCKET_BITS,
            window: entry.key >> WINDOW_SHIFT,
            bucket: (low & ((1 << BUCKET_BITS) - 1)) as u16,
            calls: entry.value.min(CALLS_MAX),
        }
    })
}

/// The latency below which a share of the calls lies, 0 to 1, in nanoseconds; 0 without calls.
pub fn quantile_ns(counts: &BucketCounts, share: f64) -> u64 {
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
    classes: ClassTally,
}

/// What was counted of one operation.
#[derive(Debug, Default)]
struct OperationTally {
    /// Calls of a window, by its first number.
    windows: BTreeMap<u64, BucketCounts>,
    /// Operations of a window.
    width: u64,
    total: u64,
    errors: BTreeMap<u64, u64>,
    bytes: u64,
}

impl TraceTally {
    /// Adds what was counted, in windows of at least `every` operations.
    pub fn add(&mut self, batch: &TraceBatch, every: u64) {
        for counted in calls_of_windows(batch) {
            let one = self.operations.entry(counted.operation).or_default();
            one.width = one.width.max(every).max(1);
            let first = counted.window / one.width * one.width;
            let window = one.windows.entry(first).or_default();
            add_to(window.entry(counted.bucket).or_default(), counted.calls);
            one.merge_windows();
        }
        let mut of = |entry: &MapEntry, set: fn(&mut OperationTally, u64)| {
            set(self.operations.entry(entry.key).or_default(), entry.value);
        };
        batch.totals.iter().for_each(|entry| of(entry, |one, value| one.total = value));
        batch.bytes.iter().for_each(|entry| of(entry, |one, value| one.bytes = value));
        for entry in &batch.errors {
            let one = self.operations.entry(entry.key >> WINDOW_SHIFT).or_default();
            let number = entry.key & ((1 << WINDOW_SHIFT) - 1);
            one.errors.insert(number, entry.value);
        }
        self.classes.add(batch);
    }

    /// What was counted by class, which is taken out.
    pub fn take_classes(&mut self) -> ClassTally {
        std::mem::take(&mut self.classes)
    }

    /// How many calls there were of an operation of this number, if they are counted at all.
    pub fn total(&self, number: u64) -> u64 {
        self.operations.get(&number).map_or(0, |one| one.total)
    }

    /// Calls that succeeded, of those operations that are traced.
    pub fn counted(&self) -> Vec<(TracedOperation, u64)> {
        let all = self.operations.iter();
        all.filter_map(|(number, one)| Some((TracedOperation::of_number(*number)?, one.total)))
            .collect()
    }

    /// Calls whose latencies were lost, because a map of the kernel was full.
    pub fn lost(&self) -> u64 {
        let known = self
            .operations
            .iter()
            .filter(|(number, _)| TracedOperation::of_number(**number).is_some());
        let recorded = |(number, one): (&u64, &OperationTally)| {
            one.recorded() + self.classes.recorded(*number)
        };
        known.map(|(number, one)| one.total.saturating_sub(recorded((number, one)))).sum()
    }

    /// A measurement of each operation that was seen, in their usual order.
    pub fn measurements(&self, variant: &str) -> Vec<Measurement> {
        let all = self.operations.iter();
        let known =
            all.filter_map(|(number, one)| Some((TracedOperation::of_number(*number)?, one)));
        let seen = known.filter(|(_, one)| one.total > 0 || !one.errors.is_empty());
        seen.map(|(operation, one)| one.measurement(operation, variant)).collect()
    }
}

impl TraceTally {
    /// A measurement of each operation in each class. Operations without a class, and all calls that failed, are in the measurement of
    /// the variant `rest`.
    pub fn class_measurements(&self, named: &NamedClasses, rest: &str) -> Vec<Measurement> {
        let without_latencies = |one: &OperationTally| OperationTally {
            total: one.total,
            bytes: one.bytes,
            errors: one.errors.clone(),
            ..OperationTally::default()
        };
        let all = self.operations.iter();
        let mut left: BTreeMap<u64, OperationTally> =
            all.map(|(number, one)| (*number, without_latencies(one))).collect();
        let mut all = Vec::new();
        for class in &named.classes {
            for (operation, number, calls) in known_operations(&class.calls) {
                if let Some(rest) = left.get_mut(&number) {
                    rest.total = rest.total.saturating_sub(calls.recorded());
                    rest.bytes = rest.bytes.saturating_sub(calls.bytes);
                }
                let tally = OperationTally::of_class(calls, calls.recorded(), calls.bytes);
                let slices_ns = calls.slices_ns();
                all.push(Measurement { slices_ns, ..tally.measurement(operation, &class.name) });
            }
        }
        let none = ClassOperation::default();
        for (number, OperationTally { total, bytes, errors, .. }) in left {
            let Some(operation) = TracedOperation::of_number(number) else { continue };
            let calls = named.rest.operations.get(&number).unwrap_or(&none);
            let tally = OperationTally { errors, ..OperationTally::of_class(calls, total, bytes) };
            if tally.total > 0 || !tally.errors.is_empty() {
                all.push(tally.measurement(operation, rest));
            }
        }
        all
    }
}

fn known_operations(
    calls: &ClassCalls,
) -> impl Iterator<Item = (TracedOperation, u64, &ClassOperation)> {
    let all = calls.operations.iter();
    all.filter_map(|(number, calls)| {
        let operation = TracedOperation::of_number(*number)?;
        (calls.recorded() > 0).then_some((operation, *number, calls))
    })
}

impl OperationTally {
    fn of_class(calls: &ClassOperation, total: u64, bytes: u64) -> Self {
        let windows = BTreeMap::from([(0, calls.counts.clone())]);
        Self { windows, width: u64::MAX, total, bytes, ..Self::default() }
    }

    fn recorded(&self) -> u64 {
        sum_of(self.windows.values().flat_map(BTreeMap::values).copied())
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
        let mut sum_ns = 0.0;
        for (bucket, count) in self.windows.values().flatten() {
            histogram.saturating_record_n(middle_ns(*bucket), *count);
            sum_ns += middle_ns(*bucket) as f64 * *count as f64;
        }
        let mean_ns = sum_ns / self.recorded().max(1) as f64;
        let windows = self.book_windows();
        let mut errors = BTreeMap::new();
        for (number, count) in &self.errors {
            let number = if RESTARTS.contains(number) { libc::EINTR as u64 } else { *number };
            let error = i32::try_from(number).map_or(Errno::EIO, Errno);
            add_to(errors.entry(error).or_default(), *count);
        }
        Measurement {
            cell: CellKey { variant: variant.into(), level: None, repeat: 1 },
            phase: operation.as_str().into(),
            pass: 1,
            operation: Some(operation.into()),
            threads: Some(1),
            operations: self.total,
            operations_asked: Some(self.total),
            errors,
            bytes: Some(self.bytes),
            seconds: Some(mean_ns * self.total as f64 / 1e9),
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
pub fn middle_ns(bucket: u16) -> u64 {
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
        let mut totals: BTreeMap<u64, u64> = BTreeMap::new();
        entries.iter().for_each(|one| *totals.entry(one.1.number()).or_default() += one.3);
        let totals = totals.into_iter().map(|(key, value)| MapEntry { key, value }).collect();
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
        more.totals[0].value = 2001;
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
        full.totals[0].value = 25;
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
    fn errors_are_counted_by_name_and_interrupted_calls_are_one_kind() {
        let mut tally = TraceTally::default();
        let key = |number: u64| TracedOperation::Open.number() << WINDOW_SHIFT | number;
        let errors = [(2, 5), (512, 1), (516, 2), (4, 4)];
        let errors = errors.map(|(number, value)| MapEntry { key: key(number), value }).to_vec();
        tally.add(&TraceBatch { errors, ..TraceBatch::default() }, 1000);
        let all = tally.measurements("x");
        let errors = BTreeMap::from([(Errno::EINTR, 7), (Errno::ENOENT, 5)]);
        assert_eq!((&all[0].errors, all[0].operations), (&errors, 0));
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
