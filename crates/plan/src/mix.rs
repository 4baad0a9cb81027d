//! Describes a mix: a phase of several works at once, on files that come and go.

use serde::Serialize;

use super::tree::Sizes;
use boatload_base::named_enum;
use boatload_op::{Change, Effect, ItemId, NextRequest, OPERATIONS, Operation, Subject};

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

/// Stands for the operations of a chain.
pub static CHAIN: Operation = Operation {
    name: "chain",
    about: "several operations on one file, one after the other",
    ..MIX
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

named_enum! {
    /// Whose files a work takes.
    #[derive(Default)]
    pub enum WorkFiles {
        /// Those that its own worker made.
        #[default]
        Own = "own",
        /// Files of all workers; others may move or remove some meanwhile.
        Any = "any",
    }
}

/// Where the file of a turn is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spot {
    /// The directory, by its number; `None` for the one where the turn found it, or where the tree has new files.
    pub directory: Option<u8>,
    /// How often the turn renamed it there.
    pub renames: u32,
}

impl Spot {
    /// The name there of a file that the turn found at `place`.
    #[inline]
    pub fn place(self, place: ItemId) -> ItemId {
        match (place, self.directory) {
            (ItemId::File { number, generation, directory }, own) => ItemId::File {
                number,
                generation: generation + self.renames,
                directory: own.or(directory),
            },
            (other, _) => other,
        }
    }
}

/// One operation of a work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its name, unique in the work.
    pub name: String,
    /// What is done.
    pub operation: &'static Operation,
    /// Where the file is, or is made; of an operation on a directory, the one that is meant.
    pub spot: Spot,
    /// Whether the file exists before it.
    pub has_file: bool,
    /// The directory that the file is moved to, or gets another name in.
    pub new_directory: Option<u8>,
    /// Whether it opens its file, if it needs it open: the step before may have left it so.
    pub opens: bool,
    /// Whether it closes what is open.
    pub closes: bool,
}

impl Step {
    fn changes_names(&self) -> bool {
        let Operation { effect, change, makes_temporary, .. } = *self.operation;
        effect != Effect::KeepsTree || change == Change::Renames || makes_temporary
    }
}

/// One work of a mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Work {
    /// Its name, unique in the mix.
    pub name: String,
    /// What is done: one operation, or several in a chain, one after the other.
    pub steps: Vec<Step>,
    /// Where the file is after its turn; `None` if there is none.
    pub leaves: Option<Spot>,
    /// How much of the mix it is.
    pub share: WorkShare,
    /// To which file.
    pub order: WorkOrder,
    /// To whose files.
    pub of: WorkFiles,
    /// To files of this directory alone, by its number.
    pub directory: Option<u8>,
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

/// Operations that a step can have with a directory of its own.
pub(super) const PLACED: [&str; 7] =
    ["create", "delete", "fsync-directory", "link", "list", "list-stat", "rename"];

/// Operations that a step of a chain can have: on whole files, and on the directories that hold them.
pub(super) fn step_operations() -> impl Iterator<Item = &'static Operation> {
    // Nobody remembers the sizes of single files.
    let is_fit = |o: &&Operation| {
        matches!(o.subject, Subject::File | Subject::Holder) && o.change != Change::Halves
    };
    OPERATIONS.iter().filter(is_fit)
}

/// Operations that a work can have without a chain: nobody remembers the names of single files.
pub(super) fn work_operations() -> impl Iterator<Item = &'static Operation> {
    step_operations().filter(|o| o.change != Change::Renames)
}

impl Work {
    /// What is done in a turn, as a whole.
    pub fn operation(&self) -> &'static Operation {
        match &*self.steps {
            [only] => only.operation,
            _ => &CHAIN,
        }
    }

    /// Where the file of a turn is before a step: where the next operation on it finds it.
    pub fn spot_before(&self, step: usize) -> Option<Spot> {
        let mut of_file =
            self.steps[step..].iter().filter(|s| s.operation.subject == Subject::File);
        of_file.next().map_or(self.leaves, |step| Some(step.spot))
    }

    /// Whether the file of a turn has a second name before a step.
    pub fn has_second_name(&self, step: usize) -> bool {
        let with =
            |effect| self.steps[..step].iter().filter(|s| s.operation.effect == effect).count();
        let names = usize::from(self.takes_file()) + with(Effect::AddsEntry);
        names > 1 + with(Effect::RemovesEntry)
    }

    /// Whether its steps are measured apart.
    pub fn is_chain(&self) -> bool {
        self.steps.len() > 1
    }

    /// Whether its turns begin with a file that exists.
    pub fn takes_file(&self) -> bool {
        let mut of_files = self.steps.iter().filter(|s| s.operation.subject == Subject::File);
        of_files.next().is_none_or(|step| step.has_file)
    }

    /// Whether its turns make a file that stays.
    pub fn makes_file(&self) -> bool {
        !self.takes_file() && self.leaves.is_some()
    }

    /// Whether its turns change a name of a file that exists, if only for a while: no other turn may take it then.
    pub fn moves_file(&self) -> bool {
        self.takes_file() && self.steps.iter().any(Step::changes_names)
    }

    fn operations(&self) -> impl Iterator<Item = &'static Operation> {
        self.steps.iter().map(|step| step.operation)
    }
}

impl Mix {
    /// The operations of all its steps.
    pub fn operations(&self) -> impl Iterator<Item = &'static Operation> {
        self.works.iter().flat_map(Work::operations)
    }

    /// Whether some of its works take what other workers made.
    pub fn is_shared(&self) -> bool {
        self.works.iter().any(|work| work.of == WorkFiles::Any)
    }

    /// Whether files can be in another directory than `home`, where the tree has them, if only where a chain fails.
    pub fn moves_between_directories(&self, home: u8) -> bool {
        let steps = self.works.iter().flat_map(|work| &work.steps);
        let of_files = steps.filter(|step| step.operation.subject == Subject::File);
        let met = of_files.flat_map(|step| [step.spot.directory, step.new_directory]);
        let asked = self.works.iter().map(|work| work.directory);
        met.chain(asked).flatten().any(|directory| directory != home)
    }

    /// Whether it leaves the tree and all files as they were.
    pub fn only_looks(&self) -> bool {
        self.operations().all(Operation::only_looks)
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
        self.works.iter().position(Work::makes_file)
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
