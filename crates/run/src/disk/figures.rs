//! Measures a disk model in virtual time, in the way disks are published: random reads of 4 KiB, one at a
//! time and many at once, and sequential reads.

use super::simulator::{DiskRequest, DiskRequestKind, DiskSimulator};
use boatload_base::random::{Stream, below, draw};
use boatload_plan::disk::{DiskMechanism, DiskModel};

/// Figures of a model. Rates are in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedFigures {
    /// Mean time of a random read of 4 KiB, one at a time, in nanoseconds.
    pub random_read_ns: f64,
    /// Random reads of 4 KiB in a second, at the `queue_depth` of the figures.
    pub queued_reads: f64,
    /// Requests under way for it.
    pub queue_depth: u64,
    /// Sequential reading at the beginning of the disk.
    pub sequential_read: f64,
    /// Sequential reading at the end of the disk, where that differs.
    pub sequential_read_inner: Option<f64>,
}

const SEED: u64 = 1;
const BLOCK: u64 = 4_096;
const RANDOM_READS: u64 = 4_000;
const QUEUE_DEPTH: u64 = 32;
/// Sequential reads, and how many of them are under way.
const STREAM_BLOCK: u64 = 1 << 20;
const STREAM_READS: u64 = 512;
const STREAM_DEPTH: u64 = 4;
/// What disks without a place for each byte are read over.
const SPAN: u64 = 1_000_000_000_000;

/// Measures a model.
pub fn simulate_figures(model: &DiskModel) -> SimulatedFigures {
    let hard_disk = match &model.mechanism {
        DiskMechanism::HardDisk(hard_disk) => Some(hard_disk),
        _ => None,
    };
    let span = hard_disk.map_or(SPAN, |hard_disk| hard_disk.capacity);
    let random = |i| below(draw(SEED, Stream::Order, i), span / BLOCK) * BLOCK;
    let from = |start: u64| move |i: u64| start + i * STREAM_BLOCK;
    let queue_depth = model.expected.as_ref().map_or(QUEUE_DEPTH, |figures| figures.queue_depth);
    let stream = |start| {
        let seconds = seconds_of(model, STREAM_READS, STREAM_DEPTH, STREAM_BLOCK, from(start));
        (STREAM_READS * STREAM_BLOCK) as f64 / seconds
    };
    let queued = seconds_of(model, RANDOM_READS, queue_depth, BLOCK, random);
    SimulatedFigures {
        random_read_ns: seconds_of(model, RANDOM_READS, 1, BLOCK, random) * 1e9
            / RANDOM_READS as f64,
        queued_reads: RANDOM_READS as f64 / queued,
        queue_depth,
        sequential_read: stream(0),
        sequential_read_inner: hard_disk
            .map(|_| stream(span.saturating_sub(STREAM_READS * STREAM_BLOCK))),
    }
}

/// Seconds that so many reads take, each asked for when one before it is answered.
fn seconds_of(
    model: &DiskModel,
    reads: u64,
    depth: u64,
    bytes: u64,
    offset: impl Fn(u64) -> u64,
) -> f64 {
    let mut disk = DiskSimulator::new(model, SEED);
    let read = |i| DiskRequest { ticket: i, kind: DiskRequestKind::Read, offset: offset(i), bytes };
    let mut asked = depth.min(reads);
    (0..asked).for_each(|i| disk.submit(0, read(i)));
    let (mut finished, mut last_ns) = (Vec::new(), 0);
    while let Some(next_ns) = disk.next_event() {
        disk.advance(next_ns, &mut finished);
        for answer in finished.drain(..) {
            last_ns = answer.due_ns;
            if asked < reads {
                disk.submit(answer.due_ns, read(asked));
                asked += 1;
            }
        }
    }
    last_ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::disk::{BUILT_IN_DISKS, find_disk};

    #[test]
    fn every_disk_does_what_its_file_expects_of_it_within_15_percent() {
        for disk in BUILT_IN_DISKS {
            let model = find_disk(disk.name).unwrap();
            let Some(expected) = &model.expected else {
                assert_eq!(model.mechanism, DiskMechanism::Memory, "{}", disk.name);
                continue;
            };
            let found = simulate_figures(&model);
            let inner = found.sequential_read_inner.zip(expected.sequential_read_inner);
            let pairs = [
                ("random read", found.random_read_ns, expected.random_read_ns),
                ("queued reads", found.queued_reads, expected.queued_reads),
                ("sequential read", found.sequential_read, expected.sequential_read),
            ];
            let inner = inner.map(|(found, expected)| ("inner", found, expected));
            for (what, found, expected) in pairs.into_iter().chain(inner) {
                let ratio = found / expected as f64;
                assert!((0.85..=1.15).contains(&ratio), "{} {what}: {found} {expected}", disk.name);
            }
        }
    }
}
