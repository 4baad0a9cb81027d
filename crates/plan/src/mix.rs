//! Describes a mix: a phase of several works at once, on files that come and go.

use serde::Serialize;

use super::tree::Sizes;
use boatload_base::named_enum;
use boatload_op::{Change, Effect, NextRequest, OPERATIONS, Operation, Subject};

/// Stands for the operations of the works of a mix.
pub static MIX: Operation = Operation {
    name: "mix",
    about: "several works at once, on files that come and go",
    effect: Effect::KeepsTree,
    subject: Subject::File,
    change: Change::Nothing,
    reads_content: false,
    makes_temporary: false,
    step: |_, _| NextRequest::Done,
};

/// Fewest numbers that a worker has for new files.
pub const ROOM_EACH: u64 = 64;

named_enum! {
    /// Which file of its own a worker takes.
    #[derive(Default)]
    pub enum WorkOrder {
        /// Each as likely as any other.
        #[default]
        Random = "random",
        /// The one that has been there longest.
        Oldest = "oldest",
    }
}

named_enum! {
    /// How turns follow each other at a rate.
    #[derive(Default)]
    pub enum Spacing {
        /// Always after the same time.
        #[default]
        Constant = "constant",
        /// After times that are exponentially distributed, as if nobody knew of the others (Poisson).
        Poisson = "poisson",
    }
}

/// A rate of turns, even if the turns before have not ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pace {
    /// Turns a second of all workers together.
    pub turns_per_second: f64,
    /// How they follow each other.
    pub spacing: Spacing,
}

/// The part of a mix that a work has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum WorkShare {
    /// Of all turns, in parts of the sum of all weights.
    Weight(u32),
    /// Workers that do nothing else.
    Threads(u32),
}

/// One work of a mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Work {
    /// Its name, unique in the mix.
    pub name: String,
    /// What is done.
    pub operation: &'static Operation,
    /// How much of the mix it is.
    pub share: WorkShare,
    /// To which file.
    pub order: WorkOrder,
    /// The law of the sizes that it writes; `None` for the tree's sizes.
    pub sizes: Option<Sizes>,
}

/// Several works at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mix {
    /// In the job file's order, one at least.
    pub works: Vec<Work>,
    /// The rate of its turns; `None` if each begins when the one before has ended.
    pub pace: Option<Pace>,
    /// Its number among the phases of the cell, which all that it draws follows from.
    pub salt: u64,
}

/// Operations that a work can have: on whole files, which keep their names.
pub(super) fn work_operations() -> impl Iterator<Item = &'static Operation> {
    // Nobody remembers the names and the sizes of single files.
    let needs_state = |o: &Operation| matches!(o.change, Change::Renames | Change::Halves);
    let is_fit = move |o: &&Operation| o.subject == Subject::File && !needs_state(o);
    OPERATIONS.iter().filter(is_fit)
}

impl Mix {
    /// Whether it leaves the tree and all files as they were.
    pub fn only_looks(&self) -> bool {
        self.works.iter().all(|work| work.operation.only_looks())
    }

    /// The sum of all weights; 0 where works have workers of their own.
    pub fn weights(&self) -> u64 {
        let weight = |work: &Work| match work.share {
            WorkShare::Weight(weight) => u64::from(weight),
            WorkShare::Threads(_) => 0,
        };
        self.works.iter().map(weight).sum()
    }

    /// The only work of a worker; `None` where workers do all works in turns.
    pub fn work_of(&self, worker: u32) -> Option<usize> {
        let mut end = 0;
        self.works.iter().position(|work| match work.share {
            WorkShare::Threads(threads) => {
                end += threads;
                worker < end
            }
            WorkShare::Weight(_) => false,
        })
    }

    /// The first of its works that makes files.
    pub fn creates(&self) -> Option<usize> {
        self.works.iter().position(|work| work.operation.effect == Effect::AddsEntry)
    }

    /// The share of a work, in words: `70%`, `4 threads`.
    pub fn share_words(&self, work: &Work) -> String {
        match work.share {
            WorkShare::Weight(weight) => {
                let share = 100.0 * f64::from(weight) / self.weights() as f64;
                format!("{}%", (share * 10.0).round() / 10.0)
            }
            WorkShare::Threads(threads) => {
                boatload_base::units::counted(u64::from(threads), "thread")
            }
        }
    }
}

/// The name of a work among phases, whose own names have no slash.
pub(super) fn work_name(phase: &str, work: &str) -> String {
    format!("{phase}/{work}")
}

/// The phase whose work has this name; `None` of a name that is no work's.
pub fn mix_of(name: &str) -> Option<&str> {
    name.split_once('/').map(|(phase, _)| phase)
}
