//! Rates of the last second, from counters that are read a few times a second.

use std::collections::VecDeque;

use crate::host::block_device::DeviceCounters;
use crate::host::disturbance::ProcessorTimes;

/// Windows that are kept: as many as the widest picture has columns for.
const WINDOWS_MAX: usize = 500;

/// Rates are those of the last second: one sample alone says little.
const NOW_SECONDS: f64 = 1.0;

/// Samples closer together than this give no window: ticks of the kernel are 10 ms.
const WINDOW_SECONDS_MIN: f64 = 0.05;

/// The counters at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CounterSample {
    /// When, in seconds since the run began.
    pub(super) seconds: f64,
    /// Operations so far of what is counted; none between phases.
    pub(super) done: Option<u64>,
    /// What the device has moved; none without one.
    pub(super) device: Option<DeviceCounters>,
    /// What all processors did; none if the kernel does not say.
    pub(super) processors: Option<ProcessorTimes>,
}

impl CounterSample {
    /// Whether a later sample counts the same, and none of its counters began anew.
    fn goes_on(&self, later: &CounterSample) -> bool {
        let device = match (self.device, later.device) {
            (Some(a), Some(b)) => a.read_bytes <= b.read_bytes && a.write_bytes <= b.write_bytes,
            (before, after) => before.is_some() == after.is_some(),
        };
        device && self.done.is_some() == later.done.is_some() && self.done <= later.done
    }
}

/// Shares of the time of all processors, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProcessorShares {
    pub(super) user: f64,
    pub(super) system: f64,
    pub(super) steal: f64,
}

/// The operations of one phase over time, and what the machine did in the last second.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentRates {
    /// Operations per second of each window, the newest last.
    pub(super) windows: VecDeque<f64>,
    samples: VecDeque<CounterSample>,
}

impl RecentRates {
    /// Another sample.
    pub(super) fn take(&mut self, sample: CounterSample) {
        if let Some(before) = self.samples.back() {
            let width = sample.seconds - before.seconds;
            if !before.goes_on(&sample) {
                self.samples.clear();
            } else if width < WINDOW_SECONDS_MIN {
                return;
            } else if let Some((now, before)) = sample.done.zip(before.done) {
                self.windows.push_back((now - before) as f64 / width);
            }
        }
        if self.windows.len() > WINDOWS_MAX {
            self.windows.pop_front();
        }
        self.samples.push_back(sample);
        // The newest of those that are older than a second stays: the second begins there.
        let is_old = |second: &CounterSample| sample.seconds - second.seconds >= NOW_SECONDS;
        while self.samples.get(1).is_some_and(is_old) {
            self.samples.pop_front();
        }
    }

    /// Operations per second; none before the first window and between phases.
    pub(super) fn rate(&self) -> Option<f64> {
        let (first, last) = self.ends()?;
        Some((last.done? - first.done?) as f64 / (last.seconds - first.seconds))
    }

    /// Bytes per second that the device read and wrote; none without a device.
    pub(super) fn device(&self) -> Option<[f64; 2]> {
        let (first, last) = self.ends()?;
        let moved = last.device?.since(first.device?);
        let per_second = |bytes: u64| bytes as f64 / (last.seconds - first.seconds);
        Some([moved.read_bytes, moved.write_bytes].map(per_second))
    }

    /// What the processors did.
    pub(super) fn processors(&self) -> Option<ProcessorShares> {
        let (first, last) = self.ends()?;
        let times = last.processors?.since(first.processors?);
        let share = |seconds: f64| (seconds / times.all_seconds).clamp(0.0, 1.0);
        (times.all_seconds > 0.0).then(|| ProcessorShares {
            user: share(times.user_seconds),
            system: share(times.busy_seconds - times.user_seconds),
            steal: share(times.steal_seconds),
        })
    }

    fn ends(&self) -> Option<(&CounterSample, &CounterSample)> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        (last.seconds > first.seconds).then_some((first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(seconds: f64, done: u64) -> CounterSample {
        CounterSample { seconds, done: Some(done), ..CounterSample::default() }
    }

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let mut rates = RecentRates::default();
        assert_eq!(rates.rate(), None);
        for (at, number) in [(0.0, 0), (1.0, 1_000), (1.5, 1_100), (1.51, 5_000), (2.0, 1_200)] {
            rates.take(done(at, number));
        }
        let expected = [1_000.0, 200.0, 200.0];
        assert_eq!(rates.windows, expected, "a sample that is too close gives no window");
        assert_eq!(rates.rate(), Some(200.0));
        rates.take(done(3.0, 1_200));
        assert_eq!(rates.rate(), Some(0.0));
        rates.take(CounterSample { done: None, ..done(4.0, 0) });
        assert_eq!(rates.rate(), None, "nothing is counted");
        assert_eq!(rates.windows.len(), 4);
    }

    #[test]
    fn no_more_windows_are_kept_than_a_picture_has_columns() {
        let mut rates = RecentRates::default();
        (0..1_000u64).for_each(|at| rates.take(done(at as f64, at * at)));
        assert_eq!(rates.windows.len(), WINDOWS_MAX);
        assert_eq!(rates.windows.back(), Some(&1_997.0));
    }

    fn sample(seconds: f64, written: u64, busy: f64) -> CounterSample {
        let device = DeviceCounters { write_bytes: written, ..DeviceCounters::default() };
        let processors = ProcessorTimes {
            all_seconds: seconds * 2.0,
            user_seconds: busy / 4.0,
            busy_seconds: busy,
            steal_seconds: 0.0,
        };
        CounterSample { seconds, done: None, device: Some(device), processors: Some(processors) }
    }

    #[test]
    fn rates_of_the_machine_are_differences() {
        let mut machine = RecentRates::default();
        machine.take(sample(0.0, 5_000, 0.0));
        assert_eq!((machine.device(), machine.processors()), (None, None));
        machine.take(sample(0.5, 6_000, 0.8));
        assert_eq!(machine.device(), Some([0.0, 2_000.0]));
        let processors = machine.processors().unwrap();
        assert!((processors.user - 0.2).abs() < 1e-9 && (processors.system - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_device_that_was_made_anew_begins_anew() {
        let mut machine = RecentRates::default();
        machine.take(sample(0.0, 5_000, 0.0));
        machine.take(sample(0.5, 100, 0.0));
        assert_eq!(machine.device(), None);
        machine.take(CounterSample { device: None, ..sample(0.75, 0, 0.0) });
        machine.take(sample(1.0, 200, 0.0));
        assert_eq!(machine.device(), None, "a gap is no rate");
    }
}
