//! Defines what ends the repeats of a run: a number of them, or looks at its answer and a time limit.

use std::ops::RangeInclusive;

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

/// What ends the repeats of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Repetition {
    /// A number of repeats.
    Fixed(u32),
    /// The answer, as soon as a look finds it decided; else the last look, or the time limit.
    UntilDecided(TimeLimit),
}

impl Repetition {
    /// The number of repeats that was named, or another where none was.
    pub(super) fn number_or(self, unnamed: u32) -> u32 {
        match self {
            Self::Fixed(repeats) => repeats,
            Self::UntilDecided(_) => unnamed,
        }
    }
}

/// How long a run may repeat until its answer is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLimit {
    /// Seconds from the start of the run.
    pub seconds: f64,
    /// Whether somebody named it. Then it also ends a run one of whose system calls does not return, and is refused where
    /// cells cannot come in turns.
    pub is_named: bool,
}

impl TimeLimit {
    /// The limit of runs that name none.
    pub const DEFAULT: Self = Self { seconds: 1_800.0, is_named: false };
}

/// Repeats before the first look, made whatever the time limit.
pub const REPEATS_MIN: u32 = 3;

/// Repeats before the last look.
pub const REPEATS_MAX: u32 = 12;

/// Repeats of a run that names no number, and whose cells cannot come in turns.
pub(super) const REPEATS_WITHOUT_TURNS: u32 = 5;

/// The time limits that a run can have, in seconds.
pub const TIME_LIMIT_SECONDS: RangeInclusive<f64> = 1.0..=30.0 * 86_400.0;
