//! Gathers what a tracer counts by class: by the directory of the files that calls name.

use std::collections::BTreeMap;

use super::trace_counts::{BucketCounts, CALLS_MAX, SLICES_MAX, add_to, sum_of};
use boatload_host::tracing::{ClassKey, TraceBatch};

/// Classes that are kept apart during a trace. Where there are more, those whose calls took least time until now are
/// summed up, half of them at a time.
const CLASSES_MAX: usize = 4_096;
/// Directories with rows of their own: those whose calls took most time.
pub const DIRECTORIES_MAX: usize = 12;

/// What was counted, of each class.
#[derive(Debug, Default)]
pub struct ClassTally {
    classes: BTreeMap<ClassKey, ClassCalls>,
    rest: ClassCalls,
    /// How many classes were summed up.
    summed: u64,
}

/// Calls of one class, by the number of their operation.
#[derive(Clone, Debug, Default)]
pub struct ClassCalls {
    pub(super) operations: BTreeMap<u64, ClassOperation>,
}

/// Calls of one class and operation.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassOperation {
    pub(super) counts: BucketCounts,
    pub(super) bytes: u64,
    slices: BTreeMap<u64, SliceSum>,
    /// Slices of the kernel that make one here.
    width: u64,
}

/// Calls that followed each other.
#[derive(Clone, Copy, Debug, Default)]
struct SliceSum {
    calls: u64,
    total_ns: u64,
}

/// Classes by name, and what has none.
#[derive(Debug, Default)]
pub struct NamedClasses {
    /// In the order in which they are shown.
    pub classes: Vec<NamedClass>,
    /// Calls of other classes, or of none that is known.
    pub rest: ClassCalls,
    /// How many classes these are.
    pub summed: u64,
}

/// A class with its name.
#[derive(Debug)]
pub struct NamedClass {
    /// Its name.
    pub name: String,
    /// Its calls.
    pub calls: ClassCalls,
}

impl ClassTally {
    /// Adds what was counted.
    pub(super) fn add(&mut self, batch: &TraceBatch) {
        for count in &batch.classes {
            let one = self.calls(count.class, count.operation);
            add_to(one.counts.entry(count.bucket).or_default(), count.value.min(CALLS_MAX));
        }
        for sum in &batch.bytes_by_class {
            add_to(&mut self.calls(sum.class, sum.operation).bytes, sum.value);
        }
        for slice in &batch.slices {
            let one = self.calls(slice.class, slice.operation);
            one.add_slice(slice.at, SliceSum { calls: slice.value, total_ns: slice.total_ns });
        }
        if self.classes.len() > CLASSES_MAX {
            self.sum_up_least();
        }
    }

    fn calls(&mut self, class: ClassKey, operation: u64) -> &mut ClassOperation {
        self.classes.entry(class).or_default().operations.entry(operation).or_default()
    }

    fn sum_up_least(&mut self) {
        let mut times: Vec<(u64, ClassKey)> =
            self.classes.iter().map(|(class, calls)| (calls.time_ns(), *class)).collect();
        times.sort_unstable();
        for (_, class) in times.into_iter().take(CLASSES_MAX / 2) {
            if let Some(calls) = self.classes.remove(&class) {
                self.rest.merge(calls);
                self.summed += 1;
            }
        }
    }

    /// Calls of an operation with a latency.
    pub(super) fn recorded(&self, operation: u64) -> u64 {
        let all = self.classes.values().chain([&self.rest]);
        let own = all.filter_map(|calls| calls.operations.get(&operation));
        sum_of(own.map(ClassOperation::recorded))
    }

    /// Classes by their names; those with the same name are one, those without are summed up.
    pub fn named(self, name_of: &mut dyn FnMut(ClassKey) -> Option<String>) -> NamedClasses {
        let mut found =
            NamedClasses { rest: self.rest, summed: self.summed, ..NamedClasses::default() };
        let mut named: BTreeMap<String, ClassCalls> = BTreeMap::new();
        for (class, calls) in self.classes {
            match name_of(class) {
                Some(name) => named.entry(name).or_default().merge(calls),
                None => {
                    found.rest.merge(calls);
                    found.summed += 1;
                }
            }
        }
        let mut all: Vec<(String, ClassCalls)> = named.into_iter().collect();
        all.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.time_ns()));
        for (_, calls) in all.split_off(DIRECTORIES_MAX.min(all.len())) {
            found.rest.merge(calls);
            found.summed += 1;
        }
        found.classes = all.into_iter().map(|(name, calls)| NamedClass { name, calls }).collect();
        found
    }
}

impl SliceSum {
    fn add(&mut self, other: Self) {
        add_to(&mut self.calls, other.calls);
        add_to(&mut self.total_ns, other.total_ns);
    }
}

impl ClassCalls {
    fn merge(&mut self, other: Self) {
        for (operation, calls) in other.operations {
            self.operations.entry(operation).or_default().merge(calls);
        }
    }

    fn time_ns(&self) -> u64 {
        let slices = self.operations.values().flat_map(|one| one.slices.values());
        sum_of(slices.map(|slice| slice.total_ns))
    }
}

impl ClassOperation {
    pub(super) fn recorded(&self) -> u64 {
        sum_of(self.counts.values().copied())
    }

    fn add_slice(&mut self, at: u64, slice: SliceSum) {
        self.width = self.width.max(1);
        self.slices.entry(at / self.width).or_default().add(slice);
        while self.slices.len() > 2 * SLICES_MAX {
            self.width = self.width.saturating_mul(2);
            for (at, slice) in std::mem::take(&mut self.slices) {
                self.slices.entry(at / 2).or_default().add(slice);
            }
        }
    }

    /// Slices of another follow its own: two names of one directory, or two directories.
    fn merge(&mut self, other: Self) {
        for (bucket, calls) in &other.counts {
            add_to(self.counts.entry(*bucket).or_default(), *calls);
        }
        add_to(&mut self.bytes, other.bytes);
        let width = self.width.max(1);
        let last = self.slices.keys().next_back();
        let after = last.map_or(0, |last| last.saturating_add(1).saturating_mul(width));
        for (at, slice) in other.slices {
            self.add_slice(after.saturating_add(at.saturating_mul(other.width)), slice);
        }
    }

    /// Mean latencies of equal groups of its slices, without the last, which is seldom full.
    pub(super) fn slices_ns(&self) -> Vec<f64> {
        let most = self.slices.values().map(|slice| slice.calls).max().unwrap_or_default();
        let full = self.slices.values().filter(|slice| slice.calls > most / 2);
        let full: Vec<SliceSum> = full.copied().collect();
        let size = full.len().div_ceil(SLICES_MAX).max(1);
        let mean = |group: &[SliceSum]| {
            let calls = sum_of(group.iter().map(|slice| slice.calls));
            group.iter().map(|slice| slice.total_ns as f64).sum::<f64>() / calls.max(1) as f64
        };
        full.chunks_exact(size).map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace_tally::TraceTally;
    use boatload_base::errno::Errno;
    use boatload_host::tracing::{ClassEntry, MapEntry, TracedOperation};

    const CREATE: u64 = 1;

    fn class(number: u64) -> ClassKey {
        ClassKey { number, ..ClassKey::default() }
    }

    /// So many calls of a class that take this long, in slices of 32.
    fn calls(number: u64, slices: u64, ns: u64) -> TraceBatch {
        let class = class(number);
        let all = ClassEntry { class, operation: CREATE, ..ClassEntry::default() };
        let slice = |at| ClassEntry { at, value: 32, total_ns: 32 * ns, ..all };
        let count = ClassEntry { bucket: 40, value: 32 * slices, ..all };
        TraceBatch {
            classes: vec![count],
            slices: (0..slices).map(slice).collect(),
            ..TraceBatch::default()
        }
    }

    fn by_number(class: ClassKey) -> Option<String> {
        (class.number != 0).then(|| format!("d{}", class.number / 2))
    }

    #[test]
    fn classes_with_one_name_are_one_and_those_without_are_summed_up() {
        let mut tally = TraceTally::default();
        for (number, slices) in [(0, 1), (2, 10), (3, 20), (4, 50)] {
            tally.add(&calls(number, slices, 100), 1000);
        }
        let totals = vec![MapEntry { key: CREATE, value: 32 * 81 + 5 }];
        let errors = vec![MapEntry { key: CREATE << 16 | 2, value: 7 }];
        tally.add(&TraceBatch { totals, errors, ..TraceBatch::default() }, 1000);
        assert_eq!(tally.lost(), 5);
        let named = tally.take_classes().named(&mut by_number);
        let all = tally.class_measurements(&named, "rest");
        let told: Vec<_> = all
            .iter()
            .map(|m| (m.cell.variant.as_str(), m.operations, m.slices_ns.len()))
            .collect();
        // What was lost is not known to be of any class.
        assert_eq!(told, [("d2", 1600, 50), ("d1", 960, 30), ("rest", 37, 0)]);
        assert_eq!((named.summed, all[2].errors[&Errno::ENOENT]), (1, 7));
        assert_eq!(all[0].operation, Some(TracedOperation::Create.into()));
    }

    #[test]
    fn the_directories_with_most_time_have_their_own_rows_and_all_calls_are_in_some_row() {
        let mut tally = ClassTally::default();
        for number in 1..=40 {
            tally.add(&calls(2 * number, 1, number));
        }
        let named = tally.named(&mut by_number);
        let names: Vec<&str> = named.classes.iter().map(|class| class.name.as_str()).collect();
        assert_eq!((names.len(), names[0], names[11]), (DIRECTORIES_MAX, "d40", "d29"));
        assert_eq!((named.summed, named.rest.operations[&CREATE].recorded()), (28, 28 * 32));
    }

    #[test]
    fn of_very_many_directories_the_ones_with_least_time_are_summed_up_meanwhile() {
        let mut tally = ClassTally::default();
        let number = CLASSES_MAX as u64 + 1;
        (0..number).for_each(|at| tally.add(&calls(at, 1, 10 + at)));
        assert_eq!(tally.classes.len() as u64, number - CLASSES_MAX as u64 / 2);
        assert!(
            tally.classes.contains_key(&class(number - 1))
                && !tally.classes.contains_key(&class(0))
        );
        assert_eq!((tally.summed, tally.recorded(CREATE)), (CLASSES_MAX as u64 / 2, 32 * number));
    }

    #[test]
    fn slices_stay_few_and_keep_their_mean() {
        let mut one = ClassOperation::default();
        for at in 0..10_000 {
            one.add_slice(at, SliceSum { calls: 32, total_ns: 32 * at });
        }
        let slices = one.slices_ns();
        assert!((SLICES_MAX / 2..=SLICES_MAX).contains(&slices.len()), "{}", slices.len());
        assert!(slices.is_sorted());
    }
}
