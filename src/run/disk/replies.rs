//! Holds back the replies of a modelled disk until the simulator says that its requests have ended.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fuser::{ReplyData, ReplyEmpty, ReplyWrite};

use super::simulator::{DiskRequest, DiskRequestKind, DiskSimulator, FinishedRequest};
use crate::host::disk_activity::DiskActivity;
use crate::run::clock::{Clock, RealClock};

/// Of its service time, by which a request may be answered after its deadline without being late.
const LATE_SHARE: u64 = 10;

/// Buffers that are kept to be used again.
const BUFFERS_MAX: usize = 64;

/// A reply to a request whose data was read or written already.
pub(super) enum HeldReply {
    /// The first bytes of a buffer.
    Data {
        /// To whom.
        reply: ReplyData,
        /// What was read.
        buffer: Vec<u8>,
        /// How much of it.
        bytes: usize,
    },
    /// So many bytes are written.
    Written(ReplyWrite, u32),
    /// It is done.
    Done(ReplyEmpty),
}

/// The requests that a modelled disk works on.
pub(super) struct ReplyQueue {
    state: Mutex<QueueState>,
    /// Notified when something happens earlier than was waited for.
    sooner: Condvar,
    buffers: Mutex<Vec<Vec<u8>>>,
    clock: RealClock,
    started: u64,
}

struct QueueState {
    simulator: DiskSimulator,
    /// What the disks before this one saw.
    before: DiskActivity,
    /// Whether requests take their time.
    timed: bool,
    held: HashMap<u64, HeldReply>,
    next_ticket: u64,
    late: u64,
    /// Until when nothing is looked at unless it is notified, in nanoseconds; none while it looks.
    asleep_until: Option<u64>,
    finished: Vec<FinishedRequest>,
}

impl ReplyQueue {
    /// Nothing takes its time yet.
    pub(super) fn new(simulator: DiskSimulator) -> Self {
        let clock = RealClock::new();
        let state = QueueState {
            simulator,
            before: DiskActivity::default(),
            timed: false,
            held: HashMap::new(),
            next_ticket: 0,
            late: 0,
            asleep_until: None,
            finished: Vec::new(),
        };
        let started = clock.now();
        let (sooner, buffers) = (Condvar::new(), Mutex::default());
        Self { state: Mutex::new(state), sooner, buffers, clock, started }
    }

    fn now_ns(&self) -> u64 {
        self.clock.nanoseconds(self.started, self.clock.now())
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
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

    /// Takes a request whose reply goes out when the disk would have ended it.
    pub(super) fn submit(&self, kind: DiskRequestKind, offset: u64, bytes: u64, reply: HeldReply) {
        let mut state = self.state();
        if !state.timed {
            drop(state);
            return self.answer(reply);
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        let now = self.now_ns();
        state.simulator.submit(now, DiskRequest { ticket, kind, offset, bytes });
        state.held.insert(ticket, reply);
        // What takes no time goes out without another thread.
        let ended = state.take_ended(now);
        let next = state.simulator.next_event();
        let is_sooner = state.asleep_until.zip(next).is_some_and(|(until, next)| next < until);
        drop(state);
        if is_sooner {
            self.sooner.notify_one();
        }
        self.answer_all(ended);
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
            let next = state.simulator.next_event();
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

    /// Sends replies whose time has come, and counts those that were late.
    fn answer_all(&self, ended: Vec<EndedRequest>) {
        let mut late = 0;
        for EndedRequest { finished, reply } in ended {
            self.answer(reply);
            let FinishedRequest { due_ns, service_ns, .. } = finished;
            let limit = due_ns.saturating_add(service_ns / LATE_SHARE);
            // What takes no time cannot be late.
            late += u64::from(service_ns > 0 && self.now_ns() > limit);
        }
        if late > 0 {
            self.state().late += late;
        }
    }

    fn answer(&self, reply: HeldReply) {
        match reply {
            HeldReply::Data { reply, buffer, bytes } => {
                reply.data(&buffer[..bytes]);
                self.keep(buffer);
            }
            HeldReply::Written(reply, bytes) => reply.written(bytes),
            HeldReply::Done(reply) => reply.ok(),
        }
    }

    /// Lets requests take their time from now on, or not; those under way still do.
    pub(super) fn set_timed(&self, timed: bool) {
        self.state().timed = timed;
    }

    /// Puts another disk in the place of this one, which ends all its requests at once.
    pub(super) fn replace(&self, simulator: DiskSimulator) {
        let mut state = self.state();
        let seen = state.simulator.activity();
        state.before = state.before.plus(&seen);
        state.simulator = simulator;
        let held: Vec<_> = state.held.drain().map(|(_, reply)| reply).collect();
        drop(state);
        self.sooner.notify_one();
        held.into_iter().for_each(|reply| self.answer(reply));
    }

    /// What the disk saw while requests took their time.
    pub(super) fn activity(&self) -> DiskActivity {
        let state = self.state();
        let mut seen = state.before.plus(&state.simulator.activity());
        seen.late = Some(state.late);
        seen
    }
}

/// A request that the simulator has ended, with its reply.
struct EndedRequest {
    finished: FinishedRequest,
    reply: HeldReply,
}

impl QueueState {
    fn take_ended(&mut self, now_ns: u64) -> Vec<EndedRequest> {
        self.simulator.advance(now_ns, &mut self.finished);
        let held = &mut self.held;
        let with_reply = |finished: FinishedRequest| {
            held.remove(&finished.ticket).map(|reply| EndedRequest { finished, reply })
        };
        self.finished.drain(..).filter_map(with_reply).collect()
    }
}
