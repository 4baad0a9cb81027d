//! Determines whether a phase wrote or only read content, or listed directories, how many operations it did, and whether
//! it is bulk: its operations move 1 MiB or more on average. The rate of a bulk phase is bytes per second; operations per
//! second, or percentiles of the few there are, say little.

use std::collections::BTreeSet;

use super::book::{Book, Measurement};
use boatload_base::distinct::each_once;
use boatload_op::{Durability, Subject};

/// Fewest bytes per operation of a bulk phase: moving so many takes nearly all of its time.
const OPERATION_BYTES_MIN: f64 = 1_048_576.0;

/// Whether the mean operation of a measurement moved much content.
pub fn is_bulk(m: &Measurement) -> bool {
    let moved = m.bytes.unwrap_or_default() as f64;
    m.operations > 0 && moved / m.operations as f64 >= OPERATION_BYTES_MIN
}

/// Phases that are bulk in every valid measurement, so that all their rates can be compared.
pub fn bulk_phases<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> BTreeSet<&'a str> {
    let (mut bulk, mut other) = (BTreeSet::new(), BTreeSet::new());
    for m in measurements.filter(|m| m.valid()) {
        let set = if is_bulk(m) { &mut bulk } else { &mut other };
        set.insert(m.phase.as_str());
    }
    bulk.retain(|phase| !other.contains(phase));
    bulk
}

/// Whether a phase wrote content.
pub fn writes_content(m: &Measurement) -> bool {
    m.bytes > Some(0) && m.job_operation().is_some_and(|o| o.change.writes_content())
}

/// Whether the device wrote fewer bytes than a phase did.
pub fn writes_less(m: &Measurement) -> bool {
    writes_content(m)
        && m.device_write_bytes.zip(m.bytes).is_some_and(|(written, bytes)| written < bytes)
}

/// Whether a phase ended with content unwritten: it had no sync, nor had its operations, and the device wrote less.
pub fn leaves_unwritten(m: &Measurement) -> bool {
    let syncs_each = !matches!(m.durability, None | Some(Durability::None | Durability::Syncfs));
    writes_less(m) && m.sync_seconds == Some(0.0) && !syncs_each
}

/// Whether a phase listed directories: findings then count the entries.
pub fn is_listing(m: &Measurement) -> bool {
    m.bytes > Some(0) && m.job_operation().is_some_and(|o| o.subject == Subject::Holder)
}

/// Whether a phase lists directories.
pub fn lists(book: &Book, phase: &str) -> bool {
    valid_of(book, phase).any(is_listing)
}

/// How many operations a phase did each time, whatever the level; `None` where that differs, and where entries are counted.
pub fn constant_operations(book: &Book, phase: &str) -> Option<u64> {
    let numbers = each_once(valid_of(book, phase).map(|m| m.operations));
    match numbers.as_slice() {
        [number] if !lists(book, phase) => Some(*number),
        _ => None,
    }
}

fn valid_of<'a>(book: &'a Book, phase: &str) -> impl Iterator<Item = &'a Measurement> {
    book.measurements.iter().filter(move |m| m.phase == phase && m.valid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{failing, measurement};
    use crate::operation::MeasuredOperation;
    use boatload_base::errno::Errno;

    fn moving(phase: &str, operations: u64, bytes: u64) -> Measurement {
        Measurement { operations, bytes: Some(bytes), ..measurement(phase, 1, 10, 1_000) }
    }

    #[test]
    fn a_phase_is_bulk_only_if_each_of_its_measurements_is() {
        let all = [
            moving("write", 1, 1 << 20),
            moving("write", 4, 4 << 20),
            moving("chunks", 1, 1 << 30),
            moving("chunks", 1_000, 1 << 20),
            moving("empty", 0, 0),
        ];
        assert_eq!(bulk_phases(all.iter()), BTreeSet::from(["write"]));
    }

    #[test]
    fn what_each_operation_syncs_is_not_left_unwritten() {
        let write = |durability, sync_seconds| {
            let of_all = moving("write", 10, 1 << 20);
            let operation = MeasuredOperation::find("create");
            let device_write_bytes = Some(1 << 10);
            Measurement { operation, device_write_bytes, durability, sync_seconds, ..of_all }
        };
        for durability in [None, Some(Durability::None), Some(Durability::Syncfs)] {
            assert!(leaves_unwritten(&write(durability, Some(0.0))), "{durability:?}");
            assert!(!leaves_unwritten(&write(durability, Some(0.1))), "{durability:?}");
        }
        assert!(!leaves_unwritten(&write(Some(Durability::Fsync), Some(0.0))));
        assert!(!leaves_unwritten(&write(Some(Durability::Dsync), Some(0.0))));
    }

    #[test]
    fn a_failed_measurement_does_not_change_what_a_phase_is() {
        let failed = Measurement { invalid: vec![failing(Errno::EIO, 1)], ..moving("write", 1, 0) };
        let all = [moving("write", 1, 1 << 30), failed];
        assert_eq!(bulk_phases(all.iter()), BTreeSet::from(["write"]));
    }
}
