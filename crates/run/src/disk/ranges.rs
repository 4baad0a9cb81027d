//! Keeps the ranges of a disk that wait in its memory to be written.

use std::collections::BTreeMap;

/// Parts of a disk that do not touch: what is added next to another becomes one with it.
#[derive(Debug, Default)]
pub(super) struct DiskRanges {
    ends: BTreeMap<u64, u64>,
    total: u64,
}

/// A part of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DiskRange {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl DiskRange {
    pub(super) fn length(self) -> u64 {
        self.end - self.start
    }

    /// Whether all of `other` lies in it.
    pub(super) fn holds(self, other: DiskRange) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether any of `other` lies in it.
    pub(super) fn overlaps(self, other: DiskRange) -> bool {
        self.start < other.end && other.start < self.end
    }
}

impl DiskRanges {
    /// The length of all parts together.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// How many parts there are.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The last part that begins at or before a place.
    fn last_from(&self, at: u64) -> Option<DiskRange> {
        let (start, end) = self.ends.range(..=at).next_back()?;
        Some(DiskRange { start: *start, end: *end })
    }

    /// Whether one part holds all of `wanted`.
    pub(super) fn hold(&self, wanted: DiskRange) -> bool {
        self.last_from(wanted.start).is_some_and(|range| range.holds(wanted))
    }

    /// Whether `added` would become one with a part that is there.
    pub(super) fn touch(&self, added: DiskRange) -> bool {
        self.last_from(added.end).is_some_and(|range| range.end >= added.start)
    }

    /// Adds a part.
    pub(super) fn add(&mut self, added: DiskRange) {
        let mut whole = added;
        while let Some(range) = self.last_from(whole.end).filter(|one| one.end >= whole.start) {
            self.drop_at(range.start);
            whole.start = whole.start.min(range.start);
            whole.end = whole.end.max(range.end);
        }
        self.ends.insert(whole.start, whole.end);
        self.total += whole.length();
    }

    /// Takes out whatever lies in `gone`.
    pub(super) fn remove(&mut self, gone: DiskRange) {
        while let Some(range) = self.last_overlapping(gone) {
            self.drop_at(range.start);
            self.put(DiskRange { start: range.start, end: gone.start.max(range.start) });
            self.put(DiskRange { start: gone.end.min(range.end), end: range.end });
        }
    }

    fn last_overlapping(&self, other: DiskRange) -> Option<DiskRange> {
        self.last_from(other.end.saturating_sub(1)).filter(|range| range.overlaps(other))
    }

    fn put(&mut self, range: DiskRange) {
        if range.end > range.start {
            self.ends.insert(range.start, range.end);
            self.total += range.length();
        }
    }

    fn drop_at(&mut self, start: u64) {
        if let Some(end) = self.ends.remove(&start) {
            self.total -= end - start;
        }
    }

    /// Takes the beginning, of at most `most`, out of the part that begins at `start`.
    pub(super) fn take(&mut self, start: u64, most: u64) -> Option<DiskRange> {
        let end = *self.ends.get(&start)?;
        self.drop_at(start);
        let taken = DiskRange { start, end: end.min(start.saturating_add(most)) };
        self.put(DiskRange { start: taken.end, end });
        Some(taken)
    }

    /// Takes up to `most` in all, from the lowest parts; how much that was.
    pub(super) fn take_lowest(&mut self, most: u64) -> u64 {
        let mut taken = 0;
        while taken < most {
            let Some((start, _)) = self.ends.first_key_value() else { break };
            let start = *start;
            taken += self.take(start, most - taken).map_or(0, DiskRange::length);
        }
        taken
    }

    /// Where the parts nearest to a place begin: at most `most` on each side.
    pub(super) fn around(&self, at: u64, most: usize) -> impl Iterator<Item = u64> {
        let above = self.ends.range(at..).take(most);
        let below = self.ends.range(..at).rev().take(most);
        above.chain(below).map(|(start, _)| *start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> DiskRange {
        DiskRange { start, end }
    }

    fn all(ranges: &DiskRanges) -> Vec<(u64, u64)> {
        ranges.ends.iter().map(|(start, end)| (*start, *end)).collect()
    }

    #[test]
    fn parts_that_touch_become_one_and_what_is_there_counts_once() {
        let mut ranges = DiskRanges::default();
        ranges.add(range(10, 20));
        ranges.add(range(30, 40));
        assert_eq!(ranges.total(), 20);
        assert!(ranges.touch(range(40, 41)) && ranges.touch(range(5, 10)));
        assert!(!ranges.touch(range(21, 29)) && !ranges.touch(range(41, 50)));
        ranges.add(range(15, 30));
        assert_eq!((all(&ranges), ranges.total()), (vec![(10, 40)], 30));
        assert!(ranges.hold(range(10, 40)) && !ranges.hold(range(9, 11)));
    }

    #[test]
    fn a_hole_leaves_both_sides() {
        let mut ranges = DiskRanges::default();
        ranges.add(range(0, 100));
        ranges.remove(range(40, 60));
        assert_eq!((all(&ranges), ranges.total()), (vec![(0, 40), (60, 100)], 80));
        ranges.remove(range(30, 200));
        assert_eq!((all(&ranges), ranges.total()), (vec![(0, 30)], 30));
        ranges.remove(range(30, 31));
        assert_eq!(ranges.total(), 30);
    }

    #[test]
    fn parts_are_taken_from_their_beginning() {
        let mut ranges = DiskRanges::default();
        ranges.add(range(0, 10));
        ranges.add(range(20, 30));
        assert_eq!(ranges.take(20, 4), Some(range(20, 24)));
        assert_eq!(ranges.take(5, 4), None);
        assert_eq!(ranges.around(15, 1).collect::<Vec<_>>(), [24, 0]);
        assert_eq!(ranges.take_lowest(12), 12);
        assert_eq!((all(&ranges), ranges.count()), (vec![(26, 30)], 1));
    }
}
