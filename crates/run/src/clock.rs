//! Reads the clocks that time latencies. Nothing else in boatload times anything.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use boatload_base::named_enum;
use boatload_base::patience::pause;

/// A source of ticks that never goes back.
pub trait Clock {
    /// The time now, in ticks.
    fn now(&self) -> u64;

    /// The time between two readings, in nanoseconds.
    fn nanoseconds(&self, from: u64, to: u64) -> u64;

    /// Lets time pass: at most so many nanoseconds, and perhaps fewer.
    fn wait(&self, _ns: u64) {
        std::hint::spin_loop();
    }
}

/// The kernel may wake a thread that late: so much before its time it waits no more, but looks at the clock.
const WAKE_NS: u64 = 60_000;

/// The longest time without a look whether the user wants to stop.
const WAIT_NS_MAX: u64 = 100_000_000;

named_enum! {
    /// What a clock reads.
    pub enum ClockSource {
        /// The processor's cycle counter.
        Tsc = "tsc",
        /// The kernel's monotonic clock.
        Monotonic = "monotonic",
    }
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

    /// Which source it reads. The library does not say, but only the monotonic clock reads between
    /// two readings of the monotonic clock.
    pub fn source(&self) -> ClockSource {
        let (before, ticks, after) = (monotonic_ns(), self.now(), monotonic_ns());
        if (before..=after).contains(&ticks) { ClockSource::Monotonic } else { ClockSource::Tsc }
    }

    /// The times of both clocks at one moment, as nearly as they can be read together.
    pub fn both(&self) -> BothClocks {
        const TRIES: u32 = 5;
        let one = |_| {
            let before = monotonic_ns();
            let ticks = self.now();
            let after = monotonic_ns();
            (after - before, BothClocks { ticks, monotonic_ns: before.midpoint(after) })
        };
        // A reading that was interrupted in between is wide.
        let closest = (0..TRIES).map(one).min_by_key(|(width, _)| *width);
        closest.map_or(BothClocks { ticks: 0, monotonic_ns: 0 }, |(_, both)| both)
    }

    /// How long it was between two such moments by the monotonic clock, in seconds, and how much
    /// longer by this clock, relative. None for less than 0.1 s, in which a reading that is a little
    /// late would look like an error.
    pub fn compared(&self, before: BothClocks, after: BothClocks) -> (f64, Option<f64>) {
        const SECONDS_MIN: f64 = 0.1;
        let monotonic = after.monotonic_ns.saturating_sub(before.monotonic_ns) as f64 / 1e9;
        let own = self.nanoseconds(before.ticks, after.ticks) as f64 / 1e9;
        (monotonic, (monotonic >= SECONDS_MIN).then(|| own / monotonic - 1.0))
    }

    /// Runs something and says how long it took, in seconds.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let before = self.now();
        let result = work();
        (result, self.nanoseconds(before, self.now()) as f64 / 1e9)
    }
}

/// The same moment by the clock of the latencies and by the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BothClocks {
    ticks: u64,
    monotonic_ns: u64,
}

/// The kernel's monotonic clock, which is the same for all processes, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time of day, in whole seconds since 1970: only to tell how long ago a file was changed.
pub(crate) fn seconds_of_day() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec
}

/// When the kernel began, as a time of day, in whole seconds since 1970.
pub(crate) fn boot_seconds_of_day() -> i64 {
    seconds_of_day() - rustix::time::clock_gettime(rustix::time::ClockId::Boottime).tv_sec
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

    fn wait(&self, ns: u64) {
        match ns.checked_sub(WAKE_NS) {
            Some(ns) if ns > 0 => pause(Duration::from_nanos(ns.min(WAIT_NS_MAX))),
            _ => std::hint::spin_loop(),
        }
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

    fn wait(&self, ns: u64) {
        self.advance(ns);
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
    fn both_clocks_are_held_against_each_other() {
        let clock = RealClock::new();
        let now = clock.both();
        let at = |seconds: f64| BothClocks {
            monotonic_ns: now.monotonic_ns + (seconds * 1e9) as u64,
            ..now
        };
        let second = (0..).map(|power| 1u64 << power);
        let ticks = second.map(|t| t..2 * t).find(|t| clock.nanoseconds(0, t.end) > 1_000_000_000);
        let ticks = ticks.unwrap();
        let later = BothClocks { ticks: now.ticks + ticks.end, ..at(1.0) };
        let own = clock.nanoseconds(0, ticks.end) as f64 / 1e9;
        let (seconds, error) = clock.compared(now, later);
        assert_eq!(seconds, 1.0);
        assert!((error.unwrap() - (own - 1.0)).abs() < 1e-6, "{error:?}");
        assert_eq!(clock.compared(now, at(0.05)).1, None, "too short to tell");
    }

    #[test]
    fn a_wait_ends_at_its_time_and_not_before() {
        let clock = RealClock::new();
        let begun = clock.now();
        let passed = || clock.nanoseconds(begun, clock.now());
        while passed() < 2_000_000 {
            clock.wait(2_000_000 - passed().min(1_999_999));
        }
        assert!(passed() < 1_000_000_000, "{}", passed());
        let virtual_clock = VirtualClock::default();
        virtual_clock.wait(7);
        assert_eq!(virtual_clock.now(), 7);
    }

    #[test]
    fn the_virtual_clock_moves_only_when_told() {
        let clock = VirtualClock::default();
        let before = clock.now();
        clock.clone().advance(1500);
        assert_eq!(clock.nanoseconds(before, clock.now()), 1500);
    }
}
