//! Rates of the last second, from counters that are read a few times a second.

use std::collections::VecDeque;

use crate::host::block_device::DeviceCounters;
use crate::host::disturbance::ProcessorTimes;

/// Windows that are kept: as many as the widest picture has columns for.
const WINDOWS_MAX: usize = 300;

/// Rates are those of the last second: one look alone says little.
const NOW_SECONDS: f64 = 1.0;

/// Looks closer together than this give no window: ticks of the kernel are 10 ms.
const WINDOW_SECONDS_MIN: f64 = 0.05;

/// The counters at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CounterSample {
    /// When, in seconds since the run began.
    pub(super) seconds: f64,
    /// Operations of the phase so far; none between phases.
    pub(super) done: Option<u64>,
    /// What the device has moved; none without one.
    pub(super) device: Option<DeviceCounters>,
    /// What all processors did; none if the kernel does not say.
    pub(super) processors: Option<ProcessorTimes>,
}

/// The operations of one phase over time.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseRates {
    /// Operations per second of each window, the newest last.
    pub(super) rates: VecDeque<f64>,
    looks: VecDeque<(f64, u64)>,
    /// Workers that do one operation at a time; none where the rate says nothing of the latency,
    /// since a simulated operation takes another time than it takes to simulate it.
    workers: Option<u32>,
}

impl PhaseRates {
    /// Before the first look at what these workers do.
    pub(super) fn new(workers: Option<u32>) -> Self {
        Self { workers, ..Self::default() }
    }

    /// Another look: operations done at a time in seconds.
    pub(super) fn take(&mut self, seconds: f64, done: u64) {
        if let Some((before, less)) = self.looks.back() {
            let width = seconds - before;
            if width < WINDOW_SECONDS_MIN {
                return;
            }
            self.rates.push_back(done.saturating_sub(*less) as f64 / width);
        }
        self.looks.push_back((seconds, done));
        forget(&mut self.looks, seconds, |(at, _)| *at);
        if self.rates.len() > WINDOWS_MAX {
            self.rates.pop_front();
        }
    }

    /// Operations per second of the last second; none before the first window.
    pub(super) fn rate(&self) -> Option<f64> {
        let ((first, less), (last, done)) = (self.looks.front()?, self.looks.back()?);
        let seconds = last - first;
        (seconds > 0.0).then(|| done.saturating_sub(*less) as f64 / seconds)
    }

    /// The mean latency of the last second, in nanoseconds; none if that is not known.
    pub(super) fn latency_ns(&self) -> Option<f64> {
        self.latency_at(self.rate()?)
    }

    /// The mean latency of each window, in nanoseconds, 0 where nothing was done; empty if it is not
    /// known.
    pub(super) fn latencies_ns(&self) -> Vec<f64> {
        let each = |rate: &f64| self.latency_at(*rate).unwrap_or(0.0);
        self.workers.map_or_else(Vec::new, |_| self.rates.iter().map(each).collect())
    }

    /// Of so many workers at a rate, each with one operation at a time (Little's law).
    fn latency_at(&self, rate: f64) -> Option<f64> {
        let workers = self.workers.filter(|_| rate > 0.0)?;
        Some(f64::from(workers) / rate * 1e9)
    }
}

/// Drops looks that are older than a second, but for the newest of them.
fn forget<T>(looks: &mut VecDeque<T>, now: f64, at: impl Fn(&T) -> f64) {
    while looks.get(1).is_some_and(|second| now - at(second) >= NOW_SECONDS) {
        looks.pop_front();
    }
}

/// What the device and the processors did in the last second.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineRates {
    looks: VecDeque<CounterSample>,
}

/// Shares of the time of all processors, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProcessorShares {
    pub(super) user: f64,
    pub(super) system: f64,
    pub(super) steal: f64,
}

impl MachineRates {
    /// Another look.
    pub(super) fn take(&mut self, sample: &CounterSample) {
        let counters = |look: &CounterSample| look.device.map(|d| (d.read_bytes, d.write_bytes));
        // Another device, or the same one made anew: its counters begin anew.
        let goes_on = |before: &CounterSample| match (counters(before), counters(sample)) {
            (Some((read, written)), Some((reads, writes))) => read <= reads && written <= writes,
            (before, now) => before.is_some() == now.is_some(),
        };
        if !self.looks.back().is_none_or(goes_on) {
            self.looks.clear();
        }
        self.looks.push_back(*sample);
        forget(&mut self.looks, sample.seconds, |look| look.seconds);
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
        let (first, last) = (self.looks.front()?, self.looks.back()?);
        (last.seconds > first.seconds).then_some((first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let mut rates = PhaseRates::new(Some(4));
        assert_eq!((rates.rate(), rates.latency_ns()), (None, None));
        for (at, done) in [(0.0, 0), (1.0, 1_000), (1.5, 1_100), (1.51, 5_000), (2.0, 1_200)] {
            rates.take(at, done);
        }
        assert_eq!(
            rates.rates,
            [1_000.0, 200.0, 200.0],
            "a look that is too close gives no window"
        );
        assert_eq!(rates.rate(), Some(200.0));
        assert_eq!(rates.latency_ns(), Some(20e6), "four workers share the rate");
        assert_eq!(rates.latencies_ns(), [4e6, 20e6, 20e6]);
        rates.take(3.0, 1_200);
        assert_eq!((rates.rate(), rates.latency_ns()), (Some(0.0), None));
    }

    #[test]
    fn a_simulated_rate_says_nothing_of_the_latency() {
        let mut rates = PhaseRates::new(None);
        (0..4u64).for_each(|at| rates.take(at as f64, at * 100));
        assert_eq!((rates.rate(), rates.latency_ns()), (Some(100.0), None));
        assert_eq!(rates.latencies_ns(), [0.0; 0]);
    }

    #[test]
    fn no_more_windows_are_kept_than_a_picture_has_columns() {
        let mut rates = PhaseRates::default();
        (0..1_000u64).for_each(|at| rates.take(at as f64, at * at));
        assert_eq!(rates.rates.len(), WINDOWS_MAX);
        assert_eq!(rates.rates.back(), Some(&1_997.0));
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
        let mut machine = MachineRates::default();
        machine.take(&sample(0.0, 5_000, 0.0));
        assert_eq!((machine.device(), machine.processors()), (None, None));
        machine.take(&sample(0.5, 6_000, 0.8));
        assert_eq!(machine.device(), Some([0.0, 2_000.0]));
        let processors = machine.processors().unwrap();
        assert!((processors.user - 0.2).abs() < 1e-9 && (processors.system - 0.6).abs() < 1e-9);
    }

    #[test]
    fn a_device_that_was_made_anew_begins_anew() {
        let mut machine = MachineRates::default();
        machine.take(&sample(0.0, 5_000, 0.0));
        machine.take(&sample(0.5, 100, 0.0));
        assert_eq!(machine.device(), None);
        machine.take(&CounterSample { device: None, ..sample(0.75, 0, 0.0) });
        machine.take(&sample(1.0, 200, 0.0));
        assert_eq!(machine.device(), None, "a gap is no rate");
    }
}
