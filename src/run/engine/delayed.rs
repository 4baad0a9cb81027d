//! A slowdown of a known size, planted in another engine: to try whether it is found.

use super::{Completion, Engine, Submitted, Ticket};
use crate::base::errno::Errno;
use crate::op::Request;
use crate::run::clock::Clock;

/// An engine that takes longer by a share of the time of each request. It is the one engine that
/// reads a clock, for nothing else knows how long a request took. It waits busily, as a file system
/// with more to compute would: a sleep is as long as the scheduler likes.
pub struct Delayed<E, C> {
    inner: E,
    clock: C,
    share: f64,
}

impl<E: Engine, C: Clock> Delayed<E, C> {
    /// Slows `inner` down by `share` of what its requests take by `clock`.
    pub fn new(inner: E, clock: C, share: f64) -> Self {
        Self { inner, clock, share }
    }
}

impl<E: Engine, C: Clock> Engine for Delayed<E, C> {
    fn depth(&self) -> u32 {
        self.inner.depth()
    }

    fn submit(&mut self, ticket: Ticket, request: &Request) -> Submitted {
        let Self { inner, clock, share } = self;
        delayed(clock, *share, || inner.submit(ticket, request))
    }

    fn reap(&mut self, at_least: u32, out: &mut Vec<Completion>) -> Result<(), Errno> {
        let Self { inner, clock, share } = self;
        delayed(clock, *share, || inner.reap(at_least, out))
    }
}

/// Does something, and then nothing for `share` of the time that it took.
pub fn delayed<T>(clock: &impl Clock, share: f64, work: impl FnOnce() -> T) -> T {
    let begun = clock.now();
    let result = work();
    let ended = clock.now();
    let more_ns = (clock.nanoseconds(begun, ended) as f64 * share) as u64;
    while clock.nanoseconds(ended, clock.now()) < more_ns {
        std::hint::spin_loop();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Moves by one with each reading.
    #[derive(Default)]
    struct Ticking(Cell<u64>);

    impl Clock for Ticking {
        fn now(&self) -> u64 {
            self.0.set(self.0.get() + 1);
            self.0.get()
        }

        fn nanoseconds(&self, from: u64, to: u64) -> u64 {
            to - from
        }
    }

    #[test]
    fn a_request_of_1000_ns_takes_a_tenth_longer_and_without_a_share_nothing() {
        for (share, least, most) in [(0.1, 1_100, 1_103), (0.0, 1_000, 1_003)] {
            let clock = Ticking::default();
            let begun = clock.0.get();
            delayed(&clock, share, || clock.0.set(clock.0.get() + 999));
            let took = clock.0.get() - begun;
            assert!((least..=most).contains(&took), "{took}");
        }
    }
}
