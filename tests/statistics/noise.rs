//! Samples whose truth is known, and how often an interval holds it. For `tests/statistics.rs` and
//! `benches/coverage.rs`.

use boatload::analysis::statistics::Interval;
use boatload::base::random::{Stream, draw, unit};

/// How many windows a repeat has.
pub(crate) const WINDOWS: usize = 200;

/// How much a window takes over from the one before.
const RHO: f64 = 0.6;

/// Where values come from. Their scale is that of seconds: 1 or so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noise {
    /// Normal, 10% wide.
    Normal,
    /// Logarithms are normal with a deviation of 0.5.
    Lognormal,
    /// Gamma with the shape 1, which is exponential.
    Gamma,
    /// Five of six are near 1, one near 2, each 5% wide.
    Bimodal,
    /// Means of 200 windows that depend on each other: autoregressive with 0.6.
    Dependent,
    /// The same, and each repeat gets slower by 20% from its first window to its last.
    Drifting,
    /// The values themselves are autoregressive with 0.6, which no method here is for.
    Chained,
}

impl Noise {
    #[allow(dead_code, reason = "the table has all of them")]
    pub(crate) const ALL: [Self; 7] = [
        Self::Normal,
        Self::Lognormal,
        Self::Gamma,
        Self::Bimodal,
        Self::Dependent,
        Self::Drifting,
        Self::Chained,
    ];

    /// The true mean.
    pub(crate) fn mean(self) -> f64 {
        match self {
            Self::Lognormal => 0.125f64.exp(),
            Self::Bimodal => 7.0 / 6.0 * 0.00125f64.exp(),
            _ => 1.0,
        }
    }

    /// `n` values: one for each repeat.
    pub(crate) fn sample(self, n: usize, source: &mut Source) -> Vec<f64> {
        if self == Self::Chained {
            return source.windows(n);
        }
        (0..n).map(|_| self.value(source)).collect()
    }

    fn value(self, source: &mut Source) -> f64 {
        match self {
            Self::Normal | Self::Chained => 1.0 + 0.1 * source.normal(),
            Self::Lognormal => (0.5 * source.normal()).exp(),
            Self::Gamma => -(1.0 - source.unit()).ln(),
            Self::Bimodal => {
                let mode = if source.unit() < 5.0 / 6.0 { 1.0 } else { 2.0 };
                mode * (0.05 * source.normal()).exp()
            }
            Self::Dependent | Self::Drifting => {
                let windows = self.series(source);
                windows.iter().sum::<f64>() / windows.len() as f64
            }
        }
    }

    /// The windows of one repeat.
    pub(crate) fn series(self, source: &mut Source) -> Vec<f64> {
        let mut windows = source.windows(WINDOWS);
        if self == Self::Drifting {
            for (at, window) in windows.iter_mut().enumerate() {
                *window += 0.2 * (at as f64 / (WINDOWS - 1) as f64 - 0.5);
            }
        }
        windows
    }
}

/// Random numbers, one after the other.
pub(crate) struct Source {
    seed: u64,
    next: u64,
}

impl Source {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, next: 0 }
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.next += 1;
        unit(draw(self.seed, Stream::Noise, self.next))
    }

    /// Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let distance = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        distance * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Independent normal values around 100, with a deviation of 5.
    pub(crate) fn white(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| 100.0 + 5.0 * self.normal()).collect()
    }

    /// Autoregressive values around 1, 10% wide.
    pub(crate) fn windows(&mut self, n: usize) -> Vec<f64> {
        let mut now = self.normal();
        let mut next = |_| {
            let value = 1.0 + 0.1 * now;
            now = RHO * now + (1.0 - RHO * RHO).sqrt() * self.normal();
            value
        };
        (0..n).map(&mut next).collect()
    }
}

/// In which share of `draws` an interval holds the truth. No interval holds nothing.
pub(crate) fn coverage(
    draws: u64,
    truth: f64,
    mut interval: impl FnMut(&mut Source) -> Option<Interval>,
) -> f64 {
    share(draws, |source| interval(source).is_some_and(|found| found.contains(truth)))
}

/// In which share of `draws` something is so.
pub(crate) fn share(draws: u64, mut so: impl FnMut(&mut Source) -> bool) -> f64 {
    (0..draws).filter(|seed| so(&mut Source::new(*seed))).count() as f64 / draws as f64
}
