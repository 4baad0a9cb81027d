//! The clocks latencies are read from. Nothing else in boatload times anything.

use std::cell::Cell;
use std::rc::Rc;

/// A source of ticks that never goes back.
pub trait Clock {
    /// The time now, in ticks.
    fn now(&self) -> u64;

    /// The time between two readings, in nanoseconds.
    fn nanoseconds(&self, from: u64, to: u64) -> u64;
}

/// The processor's cycle counter, calibrated against the monotonic clock when it is made; the
/// monotonic clock itself where the counter's rate is not constant.
#[derive(Clone)]
pub struct RealClock(quanta::Clock);

impl RealClock {
    /// Calibrates; takes up to 0.2 s the first time in a process.
    pub fn new() -> Self {
        Self(quanta::Clock::new())
    }

    /// Which source it reads: `tsc` or `monotonic`. The library does not tell, but only the
    /// monotonic clock reads between two readings of the monotonic clock.
    pub fn source(&self) -> &'static str {
        let monotonic_ns = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        let (before, ticks, after) = (monotonic_ns(), self.now(), monotonic_ns());
        if (before..=after).contains(&ticks) { "monotonic" } else { "tsc" }
    }

    /// Runs something and says how long it took, in seconds.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let before = self.now();
        let result = work();
        (result, self.nanoseconds(before, self.now()) as f64 / 1e9)
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RealClock {
    #[inline]
    fn now(&self) -> u64 {
        self.0.raw()
    }

    #[inline]
    fn nanoseconds(&self, from: u64, to: u64) -> u64 {
        self.0.delta_as_nanos(from, to)
    }
}

/// A clock that a simulated file system moves on, in nanoseconds.
#[derive(Clone, Default)]
pub struct VirtualClock(Rc<Cell<u64>>);

impl VirtualClock {
    /// Lets time pass.
    #[inline]
    pub fn advance(&self, ns: u64) {
        self.0.set(self.0.get().saturating_add(ns));
    }
}

impl Clock for VirtualClock {
    #[inline]
    fn now(&self) -> u64 {
        self.0.get()
    }

    #[inline]
    fn nanoseconds(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_clock_never_goes_back() {
        let clock = RealClock::new();
        let readings: Vec<u64> = (0..10_000).map(|_| clock.now()).collect();
        assert!(readings.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn the_virtual_clock_moves_only_when_told() {
        let clock = VirtualClock::default();
        let before = clock.now();
        clock.clone().advance(1500);
        assert_eq!(clock.nanoseconds(before, clock.now()), 1500);
    }
}
