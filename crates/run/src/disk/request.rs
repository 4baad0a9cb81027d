//! Carries requests to the mechanism of a simulated disk and its answers back, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is asked of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskRequestKind {
    /// Bytes from the disk.
    Read,
    /// Bytes to the disk.
    Write,
    /// All writes that were answered are to be durable.
    Flush,
    /// Bytes that are not needed any more.
    Discard,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRequest {
    /// What the asker knows it by.
    pub ticket: u64,
    /// What is asked.
    pub kind: DiskRequestKind,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How much of the disk it concerns, in bytes.
    pub bytes: u64,
}

/// A request with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedRequest {
    /// What the asker knows it by.
    pub ticket: u64,
    /// When the disk answers it.
    pub due_ns: u64,
    /// From when the disk began with it until the answer; before that it waited for others.
    pub service_ns: u64,
}

/// Where the time of a disk went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BusyTimes {
    pub(super) seek_ns: u64,
    pub(super) rotation_ns: u64,
    pub(super) transfer_ns: u64,
}

/// Answers in the order they are due; those that are due at the same time in the order they were made.
#[derive(Debug, Default)]
pub(super) struct Answers {
    heap: BinaryHeap<Reverse<Answer>>,
    made: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    due_ns: u64,
    order: u64,
    ticket: u64,
    service_ns: u64,
}

impl Answers {
    /// Adds the answer to a request that the disk began to work on at `begun_ns`.
    pub(super) fn add(&mut self, ticket: u64, begun_ns: u64, due_ns: u64) {
        let service_ns = due_ns.saturating_sub(begun_ns);
        self.heap.push(Reverse(Answer { due_ns, order: self.made, ticket, service_ns }));
        self.made += 1;
    }

    /// When the next answer is due.
    pub(super) fn next_due(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(next)| next.due_ns)
    }

    /// The next answer, if it is due by `now_ns`.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<FinishedRequest> {
        self.next_due().filter(|due| *due <= now_ns)?;
        let Reverse(Answer { due_ns, ticket, service_ns, .. }) = self.heap.pop()?;
        Some(FinishedRequest { ticket, due_ns, service_ns })
    }
}

/// How a disk works. All times are virtual, in nanoseconds, and never go back.
pub(super) trait Mechanism: Send {
    /// Takes a request at `now_ns`, when all earlier events have been carried out.
    fn submit(&mut self, now_ns: u64, request: DiskRequest, done: &mut Answers);

    /// When something happens next in the disk, apart from answers that are known already; never where all are known at once.
    fn next_event(&self) -> Option<u64> {
        None
    }

    /// Carries out that event.
    fn step(&mut self, _done: &mut Answers) {}

    /// Where its time went until now.
    fn times(&self) -> BusyTimes;
}

/// Two weeks, the most that a part of a request takes: such times can be added without an end of 64 bits.
pub(super) const NS_MAX: u64 = 1 << 50;

/// Time to move bytes at a rate in bytes a second.
pub(super) fn transfer_ns(bytes: u64, rate: u64) -> u64 {
    let ns = u128::from(bytes) * 1_000_000_000 / u128::from(rate.max(1));
    u64::try_from(ns).map_or(NS_MAX, |ns| ns.min(NS_MAX))
}
