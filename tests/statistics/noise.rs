//! Series whose truth is known, and the share of them in which something is found. For `tests/statistics.rs` and
//! `benches/coverage.rs`.

use boatload::base::random::{Stream, draw, unit};

/// How many windows a repeat has.
pub(crate) const WINDOWS: usize = 200;

/// How much a window takes over from the one before.
const RHO: f64 = 0.6;

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

/// In which share of `draws` something is so.
pub(crate) fn share(draws: u64, mut so: impl FnMut(&mut Source) -> bool) -> f64 {
    (0..draws).filter(|seed| so(&mut Source::new(*seed))).count() as f64 / draws as f64
}
