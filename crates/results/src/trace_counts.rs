//! Adds up counts of traced calls.

use std::collections::BTreeMap;

/// More calls than a machine makes while a trace lasts.
pub(super) const CALLS_MAX: u64 = 1 << 48;
/// Slices of a measurement, at most.
pub(super) const SLICES_MAX: usize = 64;

/// Calls by bucket.
pub type BucketCounts = BTreeMap<u16, u64>;

/// Adds to a count that stops at its maximum.
pub(super) fn add_to(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

/// The sum of counts, at most the most that there is.
pub(super) fn sum_of(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
