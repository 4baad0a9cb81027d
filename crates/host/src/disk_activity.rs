//! Counts what a disk was asked for and did, whether it is a block device or a modelled disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What reached a disk. Counts only grow, so that a phase is the difference of two readings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiskActivity {
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Flushes of the write cache.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Reads and writes that begin where the one before them ended.
    pub sequential: u64,
    /// Sum, over the other reads and writes, of the bytes from the end of the one before to their begin.
    pub distance_bytes: u64,
    /// Sum, over all requests, of the number of requests at the disk when each arrived, itself
    /// included; divided by the requests it is the mean queue depth.
    pub queue_sum: u64,
    /// Seconds in which the arm of a modelled disk moved, or changed its head.
    pub seek_seconds: Option<f64>,
    /// Seconds in which the head of a modelled disk waited for its sector.
    pub rotation_seconds: Option<f64>,
    /// Seconds in which a modelled disk moved data: under the head, or over its link.
    pub transfer_seconds: Option<f64>,
    /// Requests that a modelled disk answered after their deadline by more than a tenth of their
    /// service time, and by more than 0.1 ms, which is about what the way of any request takes.
    pub late: Option<u64>,
    /// By how many seconds late requests were answered after their deadline, all together.
    pub late_seconds: Option<f64>,
}

impl DiskActivity {
    /// What was done since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.with(earlier, u64::saturating_sub, |now, before| now - before)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_add, |one, other| one + other)
    }

    fn with(&self, other: &Self, count: fn(u64, u64) -> u64, time: fn(f64, f64) -> f64) -> Self {
        let seconds = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), other) => Some(time(one, other.unwrap_or_default())),
            (None, Some(other)) => Some(time(0.0, other)),
            (None, None) => None,
        };
        Self {
            reads: count(self.reads, other.reads),
            writes: count(self.writes, other.writes),
            flushes: count(self.flushes, other.flushes),
            discards: count(self.discards, other.discards),
            read_bytes: count(self.read_bytes, other.read_bytes),
            write_bytes: count(self.write_bytes, other.write_bytes),
            sequential: count(self.sequential, other.sequential),
            distance_bytes: count(self.distance_bytes, other.distance_bytes),
            queue_sum: count(self.queue_sum, other.queue_sum),
            seek_seconds: seconds(self.seek_seconds, other.seek_seconds),
            rotation_seconds: seconds(self.rotation_seconds, other.rotation_seconds),
            transfer_seconds: seconds(self.transfer_seconds, other.transfer_seconds),
            late_seconds: seconds(self.late_seconds, other.late_seconds),
            late: self
                .late
                .or(other.late)
                .map(|_| count(self.late.unwrap_or_default(), other.late.unwrap_or_default())),
        }
    }

    /// Counts a read or write that begins so many bytes from where the one before ended.
    pub fn count_distance(&mut self, bytes: u64) {
        self.sequential += u64::from(bytes == 0);
        self.distance_bytes = self.distance_bytes.saturating_add(bytes);
    }

    /// All requests, as far as they are known.
    pub fn requests(&self) -> u64 {
        let kinds = [self.reads, self.writes, self.flushes, self.discards];
        kinds.into_iter().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_the_difference_of_two_readings_and_phases_add_up() {
        let before = DiskActivity { reads: 3, read_bytes: 4096, ..DiskActivity::default() };
        let after = DiskActivity {
            reads: 5,
            flushes: 1,
            read_bytes: 12_288,
            queue_sum: 9,
            seek_seconds: Some(0.5),
            late: Some(1),
            ..DiskActivity::default()
        };
        let phase = after.since(&before);
        assert_eq!((phase.reads, phase.flushes, phase.read_bytes), (2, 1, 8192));
        assert_eq!((phase.requests(), phase.late), (3, Some(1)));
        assert_eq!(before.plus(&phase), after);
        assert_eq!(before.since(&before).seek_seconds, None, "a real device has no such time");
    }
}
