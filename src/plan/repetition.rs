//! Defines the looks of a run that repeats until its answer is decided, and its time limit.

use std::ops::RangeInclusive;

use super::Plan;

/// A look at the answer of a run that repeats until it is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Repeats before it.
    pub repeats: u32,
    /// The share of runs with a false claim that it may add, 0 to 1.
    pub alpha: f64,
}

/// The looks, in their order. Their alphas add up to 5.5%.
pub const LOOKS: [Look; 7] = [
    Look { repeats: REPEATS_MIN, alpha: 0.005 },
    Look { repeats: 4, alpha: 0.005 },
    Look { repeats: 5, alpha: 0.0075 },
    Look { repeats: 6, alpha: 0.0075 },
    Look { repeats: 8, alpha: 0.01 },
    Look { repeats: 10, alpha: 0.01 },
    Look { repeats: REPEATS_MAX, alpha: 0.01 },
];

/// Repeats before the first look, made whatever the time limit.
pub const REPEATS_MIN: u32 = 3;

/// Repeats before the last look.
pub const REPEATS_MAX: u32 = 12;

/// The time limits that a run can have, in seconds.
pub const TIME_LIMIT_SECONDS: RangeInclusive<f64> = 1.0..=30.0 * 86_400.0;

impl Plan {
    /// Most repeats that the run makes.
    pub fn repeats_max(&self) -> u32 {
        if self.time_limit_seconds.is_some() { REPEATS_MAX } else { self.repeats }
    }
}
