//! Delays the requests of another engine by a known share, to test whether the slowdown is found.

use super::Engine;
use crate::clock::Clock;
use boatload_op::request::RequestOutcome;
use boatload_op::{Request, RequestKind};

/// An engine that takes longer by a share of the time of each request. It is the one engine that
/// reads a clock, for nothing else knows how long a request took.
pub(crate) struct Delayed<E, C> {
    inner: E,
    delay: Delay<C>,
}

impl<E: Engine, C: Clock> Delayed<E, C> {
    /// Slows `inner` down by `share` of what its requests take by `clock`.
    pub(crate) fn new(inner: E, clock: C, share: f64) -> Self {
        Self { inner, delay: Delay::new(clock, share) }
    }
}

impl<E: Engine, C: Clock> Engine for Delayed<E, C> {
    fn carry_out(&mut self, request: &Request) -> RequestOutcome {
        let Self { inner, delay } = self;
        let outcome = delay.time(|| inner.carry_out(request));
        if !is_read_ahead(request.kind()) {
            delay.wait();
        }
        outcome
    }
}

/// Whether the kernel continues with the next requests of this kind while nobody asks. A wait after one
/// would be time in which the disk works, and slow nothing down: it is made up for after the last.
fn is_read_ahead(kind: RequestKind) -> bool {
    matches!(kind, RequestKind::Read | RequestKind::ReadDirectory)
}

/// A wait for a share of the time that work took. It is a busy one, as of a file system with more to
/// compute: a sleep is as long as the scheduler likes.
pub(crate) struct Delay<C> {
    clock: C,
    share: f64,
    /// What reading the clock takes, in nanoseconds.
    reading_ns: f64,
    /// What timing work takes, and looking whether to wait for it, in nanoseconds.
    own_ns: f64,
    /// When the last work ended, by the clock.
    ended: u64,
    /// What is still to be waited, in nanoseconds; below zero what was waited too long.
    owed_ns: f64,
}

/// So often is done what is timed, and so often is that timed: the least is what was not interrupted.
const CALLS: u32 = 200;
const TRIALS: u32 = 10;

impl<C: Clock> Delay<C> {
    /// Waits for `share` of what work takes by `clock`.
    pub(crate) fn new(clock: C, share: f64) -> Self {
        let ended = clock.now();
        let mut delay =
            Self { clock, share: 0.0, reading_ns: 0.0, own_ns: 0.0, ended, owed_ns: 0.0 };
        let reading_ns = delay.least_ns(|delay| {
            std::hint::black_box(delay.clock.now());
        });
        let own_ns = delay.least_ns(|delay| delay.after(|| std::hint::black_box(())));
        Self { share, reading_ns, own_ns, ..delay }
    }

    /// What a call takes, in nanoseconds.
    fn least_ns(&mut self, mut call: impl FnMut(&mut Self)) -> f64 {
        let mut trial = || {
            let begun = self.clock.now();
            (0..CALLS).for_each(|_| call(self));
            let ended = self.clock.now();
            self.clock.nanoseconds(begun, ended) as f64 / f64::from(CALLS)
        };
        (0..TRIALS).map(|_| trial()).fold(f64::INFINITY, f64::min)
    }

    /// Does something and then waits.
    pub(crate) fn after<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let result = self.time(work);
        self.wait();
        result
    }

    /// Does something for which is waited later.
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begun = self.clock.now();
        let result = work();
        self.ended = self.clock.now();
        // Half of either reading, which is one, lies between what they read.
        let took_ns = self.clock.nanoseconds(begun, self.ended) as f64 - self.reading_ns;
        self.owed_ns += took_ns * self.share - self.own_ns;
        result
    }

    /// Waits for what is owed. What is waited too long is taken off the next time, and what timing takes
    /// counts as waiting: in sum it is the share, unless that is less than timing takes.
    fn wait(&mut self) {
        let mut waited_ns = 0.0;
        while waited_ns < self.owed_ns {
            std::hint::spin_loop();
            waited_ns = self.clock.nanoseconds(self.ended, self.clock.now()) as f64;
        }
        self.owed_ns -= waited_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Moves by one with each reading.
    #[derive(Default)]
    struct Ticking(Cell<u64>);

    impl Clock for &Ticking {
        fn now(&self) -> u64 {
            self.0.set(self.0.get() + 1);
            self.0.get()
        }

        fn nanoseconds(&self, from: u64, to: u64) -> u64 {
            to - from
        }
    }

    /// The time of a hundred requests of `request_ns` with this share.
    fn took(share: f64, request_ns: u64) -> u64 {
        let clock = Ticking::default();
        let mut delay = Delay::new(&clock, share);
        let begun = clock.0.get();
        for _ in 0..100 {
            delay.after(|| clock.0.set(clock.0.get() + request_ns));
        }
        clock.0.get() - begun
    }

    #[test]
    fn a_hundred_requests_of_1000_ns_take_a_tenth_longer_in_all() {
        let took = took(0.1, 1_000);
        assert!((109_990..=110_010).contains(&took), "{took}");
    }

    /// Carries out each request in 1,000 ns.
    struct Steady<'c>(&'c Ticking);

    impl Engine for Steady<'_> {
        fn carry_out(&mut self, _: &Request) -> RequestOutcome {
            self.0.0.set(self.0.0.get() + 1_000);
            Ok(0)
        }
    }

    #[test]
    fn what_is_read_ahead_is_waited_for_when_the_file_is_closed() {
        let clock = Ticking::default();
        let mut engine = Delayed::new(Steady(&clock), &clock, 0.5);
        let mut took = |request| {
            let begun = clock.0.get();
            engine.carry_out(&request).unwrap();
            clock.0.get() - begun
        };
        let unread: Vec<u64> = (0..4).map(|_| took(Request::Read { bytes: 4096 })).collect();
        assert!(unread.iter().all(|ns| *ns < 1_010), "{unread:?}");
        let close = took(Request::Close);
        assert!((3_450..=3_510).contains(&close), "{close}");
    }

    #[test]
    fn what_is_waited_too_long_is_taken_off_the_next_wait() {
        let took = took(0.5, 5);
        assert!((745..=755).contains(&took), "{took}");
    }
}
