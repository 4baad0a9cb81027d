//! Defines what ends the repeats of a run: a number of them, or looks at its answer and a time limit.

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

/// What ends the repeats of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Repetition {
    /// A number of repeats.
    Fixed(u32),
    /// The answer, as soon as a look finds it decided; else the last look, or the time limit.
    UntilDecided(TimeLimit),
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
const REPEATS_WITHOUT_TURNS: u32 = 5;

/// The time limits that a run can have, in seconds.
pub const TIME_LIMIT_SECONDS: RangeInclusive<f64> = 1.0..=30.0 * 86_400.0;

impl Plan {
    /// What ends its repeats: what was asked for; a fixed number where that is nothing and cells cannot come in turns.
    pub fn repetition(&self) -> Repetition {
        let has_turns = !self.has_one_way_places() && !self.reads_device();
        match self.repeats {
            Repetition::UntilDecided(limit) if !limit.is_named && !has_turns => {
                Repetition::Fixed(REPEATS_WITHOUT_TURNS)
            }
            asked => asked,
        }
    }

    /// The same where several processes run it, which cannot look at its answer together.
    #[must_use]
    pub fn for_ranks(mut self) -> Self {
        if let Repetition::UntilDecided(TimeLimit { is_named: false, .. }) = self.repeats {
            self.repeats = Repetition::Fixed(REPEATS_WITHOUT_TURNS);
        }
        self
    }

    /// The time limit that somebody named, in seconds.
    pub fn named_limit_seconds(&self) -> Option<f64> {
        match self.repeats {
            Repetition::UntilDecided(limit) => limit.is_named.then_some(limit.seconds),
            Repetition::Fixed(_) => None,
        }
    }

    /// Fewest repeats that the run makes.
    pub fn repeats_min(&self) -> u32 {
        match self.repetition() {
            Repetition::Fixed(repeats) => repeats,
            Repetition::UntilDecided(_) => REPEATS_MIN,
        }
    }

    /// Most repeats that the run makes.
    pub fn repeats_max(&self) -> u32 {
        match self.repetition() {
            Repetition::Fixed(repeats) => repeats,
            Repetition::UntilDecided(_) => REPEATS_MAX,
        }
    }

    /// Repeats that a place bears which is not restored between them.
    pub fn repeats_on_one_place(&self) -> u32 {
        match self.repeats {
            Repetition::Fixed(repeats) => repeats,
            Repetition::UntilDecided(_) => REPEATS_WITHOUT_TURNS,
        }
    }
}
