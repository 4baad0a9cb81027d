//! Holds back the replies of a modelled disk until the simulator says that its requests have ended.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::control::{PROBE_NS, Timing};
use super::simulator::{DiskRequest, DiskRequestKind, DiskSimulator, FinishedRequest};
use crate::clock::{Clock, RealClock};
use boatload_host::disk_activity::DiskActivity;

/// Of its service time, by which a request may be answered after its deadline without being late.
const LATE_SHARE: u64 = 10;

/// By how much any request may be answered after its deadline: a request that takes less than its way to
/// this process and back (86 us on `ram`, METHODOLOGY.md) cannot be answered earlier.
const PATH_NS: u64 = 100_000;

/// Buffers that are kept to be used again.
const BUFFERS_MAX: usize = 32;

/// A reply that can wait.
pub(super) trait DeferredReply {
    /// Sends it; returns the buffer it had, if any, for another.
    fn send(self) -> Option<Vec<u8>>;
}

/// The requests that a modelled disk works on.
pub(super) struct ReplyQueue<R> {
    state: Mutex<QueueState<R>>,
    /// Notified when something happens earlier than was waited for.
    sooner: Condvar,
    buffers: Mutex<Vec<Vec<u8>>>,
    clock: RealClock,
    started: u64,
}

/// All of it but the clock; times are in nanoseconds.
struct QueueState<R> {
    simulator: DiskSimulator,
    /// What the disks before this one saw.
    before: DiskActivity,
    timing: Timing,
    /// Requests that probe the way to the disk, in the order they are due.
    probes: VecDeque<FinishedRequest>,
    open: HashMap<u64, OpenRequest<R>>,
    next_ticket: u64,
    late: u64,
    late_ns: u64,
    /// The thread sleeps until then unless it is notified; `None` while it is awake.
    asleep_until: Option<u64>,
    finished: Vec<FinishedRequest>,
}

/// A request that is not answered yet.
enum OpenRequest<R> {
    /// Its data is being read or written. In the simulator it may have ended before.
    AtImage { since_ns: u64, ended: Option<FinishedRequest> },
    /// Its data was read or written, and its reply waits for the simulator.
    Held(R),
}

impl<R: DeferredReply> ReplyQueue<R> {
    /// Nothing takes its time yet.
    pub(super) fn new(simulator: DiskSimulator) -> Self {
        let clock = RealClock::new();
        let started = clock.now();
        let (sooner, buffers) = (Condvar::new(), Mutex::default());
        Self { state: Mutex::new(QueueState::new(simulator)), sooner, buffers, clock, started }
    }

    fn now_ns(&self) -> u64 {
        self.clock.nanoseconds(self.started, self.clock.now())
    }

    fn state(&self) -> MutexGuard<'_, QueueState<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer of at least so many bytes.
    pub(super) fn buffer(&self, bytes: usize) -> Vec<u8> {
        let kept = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffer = kept.unwrap_or_default();
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        buffer
    }

    fn keep(&self, buffer: Vec<u8>) {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < BUFFERS_MAX {
            buffers.push(buffer);
        }
    }

    /// Changes the state, and wakes the thread if it sleeps too long for it.
    fn change<T>(&self, change: impl FnOnce(&mut QueueState<R>, u64) -> T) -> T {
        let mut state = self.state();
        let now = self.now_ns();
        let result = change(&mut state, now);
        let is_sooner = state.next_is_sooner(now);
        drop(state);
        if is_sooner {
            self.sooner.notify_one();
        }
        result
    }

    /// Takes a request that has just arrived, before its data is read or written: what that takes is no
    /// time of the disk. Returns its ticket.
    pub(super) fn arrive(&self, kind: DiskRequestKind, offset: u64, bytes: u64) -> u64 {
        // What ends at once is answered by whoever reads or writes its data.
        self.change(|state, now| state.arrive(now, kind, offset, bytes))
    }

    /// Takes the reply to a request whose data was read or written. It goes out when the disk would have
    /// ended the request, or at once if that has passed.
    pub(super) fn complete(&self, ticket: u64, reply: R) {
        let ended = self.change(|state, now| state.complete(now, ticket, reply));
        self.answer_all(ended);
    }

    /// Forgets a request whose data could not be read or written.
    pub(super) fn forget(&self, ticket: u64) {
        self.state().open.remove(&ticket);
    }

    /// Sends replies at their deadlines, for as long as the process lives.
    pub(super) fn keep_deadlines(&self) -> ! {
        let mut state = self.state();
        loop {
            let now = self.now_ns();
            let ended = state.take_ended(now);
            if !ended.is_empty() {
                drop(state);
                self.answer_all(ended);
                state = self.state();
                continue;
            }
            let next = state.next_event();
            state.asleep_until = Some(next.unwrap_or(u64::MAX));
            state = match next.map(|at| Duration::from_nanos(at.saturating_sub(now))) {
                None => self.sooner.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(pause) => {
                    let waited = self.sooner.wait_timeout(state, pause);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.asleep_until = None;
        }
    }

    fn answer_all(&self, replies: Vec<R>) {
        for reply in replies {
            if let Some(buffer) = reply.send() {
                self.keep(buffer);
            }
        }
    }

    /// How long requests take that arrive from now on.
    pub(super) fn set_timing(&self, timing: Timing) {
        self.state().timing = timing;
    }

    /// Puts another disk in the place of this one, which ends all its requests at once.
    pub(super) fn replace(&self, simulator: DiskSimulator) {
        let held = self.state().replace(simulator);
        self.sooner.notify_one();
        self.answer_all(held);
    }

    /// What the disk saw while requests took their time.
    pub(super) fn activity(&self) -> DiskActivity {
        self.state().activity()
    }

    /// For how long the oldest of the reads and writes of the image has been under way.
    pub(super) fn longest_at_image(&self) -> Duration {
        let state = self.state();
        Duration::from_nanos(state.longest_at_image(self.now_ns()))
    }
}

impl<R> QueueState<R> {
    fn new(simulator: DiskSimulator) -> Self {
        Self {
            simulator,
            before: DiskActivity::default(),
            timing: Timing::Untimed,
            probes: VecDeque::new(),
            open: HashMap::new(),
            next_ticket: 0,
            late: 0,
            late_ns: 0,
            asleep_until: None,
            finished: Vec::new(),
        }
    }

    fn arrive(&mut self, now_ns: u64, kind: DiskRequestKind, offset: u64, bytes: u64) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let mut ended = None;
        match self.timing {
            Timing::Untimed => ended = Some(without_time(ticket)),
            Timing::Probed => {
                let due_ns = now_ns.saturating_add(PROBE_NS);
                self.probes.push_back(FinishedRequest { due_ns, ..without_time(ticket) });
            }
            // It left so much earlier, or its answer will arrive so much later: together it is the same.
            Timing::Timed { path_ns } => {
                let request = DiskRequest { ticket, kind, offset, bytes };
                self.simulator.submit(now_ns.saturating_sub(path_ns), request);
            }
        }
        self.open.insert(ticket, OpenRequest::AtImage { since_ns: now_ns, ended });
        ticket
    }

    /// The replies that go out now.
    fn complete(&mut self, now_ns: u64, ticket: u64, reply: R) -> Vec<R> {
        let before = self.open.insert(ticket, OpenRequest::Held(reply));
        let mut replies = self.take_ended(now_ns);
        if let Some(OpenRequest::AtImage { ended: Some(finished), .. }) = before {
            replies.extend(self.end(now_ns, finished));
        }
        replies
    }

    /// The replies that are due.
    fn take_ended(&mut self, now_ns: u64) -> Vec<R> {
        let mut finished = std::mem::take(&mut self.finished);
        self.simulator.advance(now_ns, &mut finished);
        while self.probes.front().is_some_and(|probe| probe.due_ns <= now_ns) {
            finished.extend(self.probes.pop_front());
        }
        let replies = finished.drain(..).filter_map(|one| self.end(now_ns, one)).collect();
        self.finished = finished;
        replies
    }

    /// Ends a request in the simulator. Its reply goes out, late or not, unless its data is still being read
    /// or written.
    fn end(&mut self, now_ns: u64, finished: FinishedRequest) -> Option<R> {
        if let Some(OpenRequest::AtImage { ended, .. }) = self.open.get_mut(&finished.ticket) {
            *ended = Some(finished);
            return None;
        }
        let OpenRequest::Held(reply) = self.open.remove(&finished.ticket)? else { return None };
        let late_ns = late_ns(now_ns, &finished);
        self.late += u64::from(late_ns > 0);
        self.late_ns = self.late_ns.saturating_add(late_ns);
        Some(reply)
    }

    /// When something happens next; none while nothing is under way.
    fn next_event(&self) -> Option<u64> {
        let probe = self.probes.front().map(|probe| probe.due_ns);
        self.simulator.next_event().into_iter().chain(probe).min()
    }

    /// Whether something happens before the time that is slept until, and not at once.
    fn next_is_sooner(&self, now_ns: u64) -> bool {
        let next = self.next_event().filter(|next| *next > now_ns);
        self.asleep_until.zip(next).is_some_and(|(until, next)| next < until)
    }

    /// The replies that were held.
    fn replace(&mut self, simulator: DiskSimulator) -> Vec<R> {
        self.before = self.before.plus(&self.simulator.activity());
        self.simulator = simulator;
        let (mut held, mut open) = (Vec::new(), HashMap::new());
        for (ticket, request) in self.open.drain() {
            match request {
                OpenRequest::Held(reply) => held.push(reply),
                OpenRequest::AtImage { since_ns, .. } => {
                    let ended = Some(without_time(ticket));
                    open.insert(ticket, OpenRequest::AtImage { since_ns, ended });
                }
            }
        }
        self.open = open;
        held
    }

    fn activity(&self) -> DiskActivity {
        let seen = self.before.plus(&self.simulator.activity());
        let late_seconds = Some(self.late_ns as f64 / 1e9);
        DiskActivity { late: Some(self.late), late_seconds, ..seen }
    }

    fn longest_at_image(&self, now_ns: u64) -> u64 {
        let since = self.open.values().filter_map(|request| match request {
            OpenRequest::AtImage { since_ns, .. } => Some(*since_ns),
            OpenRequest::Held(_) => None,
        });
        since.min().map_or(0, |oldest| now_ns.saturating_sub(oldest))
    }
}

/// The end of a request that takes no time, and so is never late.
fn without_time(ticket: u64) -> FinishedRequest {
    FinishedRequest { ticket, due_ns: 0, service_ns: 0 }
}

/// By how much an answer at `now_ns` comes after its deadline, if that is more than is allowed; else 0. What
/// takes no time is as fast as the machine and cannot be late.
fn late_ns(now_ns: u64, finished: &FinishedRequest) -> u64 {
    let FinishedRequest { due_ns, service_ns, .. } = *finished;
    let (after, allowed) = (now_ns.saturating_sub(due_ns), (service_ns / LATE_SHARE).max(PATH_NS));
    if service_ns > 0 && after > allowed { after } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use boatload_plan::disk::find_disk;

    const BLOCK: u64 = 4_096;
    const NO_REPLY: [u32; 0] = [];

    fn disk(name: &str) -> DiskSimulator {
        DiskSimulator::new(&find_disk(name).unwrap(), 1)
    }

    fn timed(name: &str) -> QueueState<u32> {
        QueueState { timing: Timing::Timed { path_ns: 0 }, ..QueueState::new(disk(name)) }
    }

    fn read(queue: &mut QueueState<u32>, now_ns: u64) -> u64 {
        queue.arrive(now_ns, DiskRequestKind::Read, 1 << 30, BLOCK)
    }

    /// The end of the first read of a disk at rest, at a time.
    fn end_of_read(name: &str, now_ns: u64) -> FinishedRequest {
        let (mut disk, mut all) = (disk(name), Vec::new());
        let kind = DiskRequestKind::Read;
        disk.submit(now_ns, DiskRequest { ticket: 0, kind, offset: 1 << 30, bytes: BLOCK });
        while all.is_empty() {
            disk.advance(disk.next_event().unwrap(), &mut all);
        }
        all[0]
    }

    #[test]
    fn a_reply_waits_for_its_deadline_counted_from_the_arrival_and_not_from_the_end_of_the_copy() {
        let mut queue = timed("hdd-7200");
        let due = end_of_read("hdd-7200", 1_000).due_ns;
        let ticket = read(&mut queue, 1_000);
        assert_eq!(queue.complete(due - 1, ticket, 7), NO_REPLY);
        assert_eq!(queue.take_ended(due - 1), NO_REPLY);
        assert_eq!((queue.take_ended(due), queue.activity().late), (vec![7], Some(0)));
    }

    #[test]
    fn an_image_that_takes_longer_than_the_disk_makes_its_requests_late() {
        let FinishedRequest { due_ns, service_ns, .. } = end_of_read("hdd-7200", 0);
        for (after, late) in [(service_ns / 10, 0), (service_ns / 10 + 1, 1)] {
            let mut queue = timed("hdd-7200");
            let ticket = read(&mut queue, 0);
            assert_eq!(queue.take_ended(due_ns + 1), NO_REPLY, "its data is not there yet");
            let answered = queue.complete(due_ns + after, ticket, 7);
            assert_eq!((answered, queue.activity().late), (vec![7], Some(late)), "{after}");
            let seconds = if late > 0 { after as f64 / 1e9 } else { 0.0 };
            assert_eq!(queue.activity().late_seconds, Some(seconds));
        }
    }

    #[test]
    fn the_path_of_a_request_makes_nothing_late_nor_does_a_disk_that_takes_no_time() {
        let FinishedRequest { due_ns, service_ns, .. } = end_of_read("nvme", 0);
        assert!(service_ns / LATE_SHARE < PATH_NS, "a short request");
        for (after, late) in [(PATH_NS, 0), (PATH_NS + 1, 1)] {
            let mut queue = timed("nvme");
            let ticket = read(&mut queue, 0);
            let _ = queue.complete(1, ticket, 7);
            assert_eq!(queue.take_ended(due_ns + after).len(), 1);
            assert_eq!(queue.activity().late, Some(late), "{after}");
        }
        let mut queue = timed("ram");
        let ticket = read(&mut queue, 0);
        assert_eq!(queue.complete(1 << 40, ticket, 7), [7]);
        assert_eq!(queue.activity().late, Some(0));
    }

    #[test]
    fn the_way_to_the_disk_and_back_is_part_of_its_time() {
        let due = end_of_read("hdd-7200", 1_000).due_ns;
        let mut queue = timed("hdd-7200");
        queue.timing = Timing::Timed { path_ns: 50_000 };
        let ticket = read(&mut queue, 51_000);
        assert_eq!(queue.complete(due - 1, ticket, 7), NO_REPLY);
        assert_eq!((queue.take_ended(due), queue.activity().late), (vec![7], Some(0)));
    }

    #[test]
    fn a_probe_takes_its_time_and_the_disk_does_not_see_it() {
        let mut queue = QueueState { timing: Timing::Probed, ..QueueState::new(disk("hdd-7200")) };
        let ticket = read(&mut queue, 1_000);
        assert_eq!(queue.complete(2_000, ticket, 7), NO_REPLY);
        assert_eq!(queue.next_event(), Some(1_000 + PROBE_NS));
        assert_eq!(queue.take_ended(999 + PROBE_NS), NO_REPLY);
        assert_eq!((queue.take_ended(1_000 + PROBE_NS), queue.next_event()), (vec![7], None));
        assert_eq!((queue.activity().requests(), queue.activity().late), (0, Some(0)));
    }

    #[test]
    fn what_is_not_timed_is_answered_at_once_and_not_counted() {
        let mut queue = QueueState::new(disk("hdd-7200"));
        let ticket = read(&mut queue, 0);
        assert_eq!(queue.complete(1 << 40, ticket, 7), [7]);
        let seen = queue.activity();
        assert_eq!((seen.requests(), seen.late, queue.open.len()), (0, Some(0), 0));
    }

    #[test]
    fn another_disk_lets_all_requests_go_and_keeps_what_was_counted() {
        let mut queue = timed("hdd-7200");
        let (held, at_image) = (read(&mut queue, 0), read(&mut queue, 0));
        assert_eq!(queue.complete(1, held, 7), NO_REPLY);
        assert_eq!(queue.replace(disk("hdd-5400")), [7]);
        assert_eq!(queue.complete(2, at_image, 8), [8]);
        let next = read(&mut queue, 3);
        assert_eq!(queue.complete(4, next, 9), NO_REPLY, "it takes the time of the new disk");
        assert_eq!((queue.activity().reads, queue.activity().late), (3, Some(0)));
    }

    #[test]
    fn who_sleeps_is_woken_only_by_what_comes_sooner_and_not_at_once() {
        let mut queue = timed("hdd-7200");
        queue.asleep_until = Some(u64::MAX);
        assert!(!queue.next_is_sooner(0), "nothing is under way");
        let _ = read(&mut queue, 0);
        assert!(queue.next_is_sooner(0));
        queue.asleep_until = queue.simulator.next_event();
        assert!(!queue.next_is_sooner(0), "it wakes unasked");
        queue.asleep_until = None;
        assert!(!queue.next_is_sooner(0), "it is awake");
        let mut queue = timed("ram");
        queue.asleep_until = Some(u64::MAX);
        let _ = read(&mut queue, 5);
        assert!(!queue.next_is_sooner(5), "who copies the data answers");
    }

    #[test]
    fn the_oldest_copy_is_told_until_it_has_ended() {
        let mut queue = timed("hdd-7200");
        let (first, second) = (read(&mut queue, 100), read(&mut queue, 300));
        assert_eq!(queue.longest_at_image(1_000), 900);
        let _ = queue.complete(1_000, first, 7);
        assert_eq!(queue.longest_at_image(1_000), 700);
        queue.open.remove(&second);
        assert_eq!(queue.longest_at_image(1_000), 0);
    }
}
