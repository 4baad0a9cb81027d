//! Checks a chain: follows its file from step to step, so that each step knows where the file is and whether it is open.

use super::keys::KeyReader;
use crate::mix::{Spot, Step};
use crate::report::element;
use crate::wire::WireStep;
use boatload_op::{Change, Effect, Operation, Subject, find_operation};

/// The steps of a work, and where its file is at the end; `None` if there is none.
pub(super) struct Chain {
    pub(super) steps: Vec<Step>,
    pub(super) leaves: Option<Spot>,
}

/// What is known of the file between two steps.
struct Follower<'a> {
    /// The names of the tree's directories.
    directories: &'a [String],
    /// Where the file is, under each of its names; the last one is meant where a step says nothing.
    names: Vec<Spot>,
    /// Where listings look when there is no file, and new files are made.
    home: Spot,
    was_there: bool,
    steps: Vec<Step>,
}

/// Operations that end by closing the file they work on, and can leave it open for the next step.
const STAY_OPEN: [&str; 5] = ["append", "create", "fsync", "overwrite", "rewrite"];

impl Chain {
    /// One operation by itself.
    pub(super) fn of(operation: &'static Operation) -> Self {
        let has_file = operation.effect != Effect::AddsEntry;
        let keeps_file = operation.effect != Effect::RemovesEntry;
        let leaves = keeps_file.then(Spot::default);
        let step = Step {
            name: operation.name.into(),
            operation,
            spot: Spot::default(),
            has_file,
            new_directory: None,
            opens: true,
            closes: true,
        };
        Self { steps: vec![step], leaves }
    }

    /// The chain that a job file writes; `None` if anything is wrong with it.
    pub(super) fn read(
        wire: &[WireStep],
        directories: &[String],
        mut keys: KeyReader<'_>,
    ) -> Option<Self> {
        let (names, steps) = (Vec::new(), Vec::new());
        let home = Spot::default();
        let mut follower = Follower { directories, names, home, was_there: false, steps };
        if wire.is_empty() {
            keys.problem("", "no steps", "one operation at least");
            return None;
        }
        let operations = wire.iter().filter_map(|step| find_operation(step.parts()?.0));
        let first = operations.into_iter().find(|operation| operation.subject == Subject::File);
        if first.is_none_or(|first| first.name != "create") {
            follower.names.push(Spot::default());
        }
        for (at, step) in wire.iter().enumerate() {
            let (name, directory) = step.parts()?;
            let operation = find_operation(name)?;
            let mut keys = keys.table(&element("", at));
            let directory = match directory {
                Some(name) => Some(keys.directory("", name, directories)?),
                None => None,
            };
            if let Err((found, expected)) = follower.follow(operation, directory) {
                keys.problem("", found, expected);
                return None;
            }
        }
        follower.leave_open();
        match &*follower.names {
            [] => Some(Self { steps: follower.steps, leaves: None }),
            [only] if only.renames == 0 => {
                Some(Self { steps: follower.steps, leaves: Some(*only) })
            }
            [_] => {
                let expected = "a `rename` to another directory, or a `delete` at the end";
                keys.problem("", "a chain after which a file has another name", expected);
                None
            }
            _ => {
                let expected = "a `delete` of one of them: nobody remembers second names";
                keys.problem("", "a chain after which a file has two names", expected);
                None
            }
        }
    }
}

impl WireStep {
    /// The operation and its directory.
    fn parts(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::Here(name) => Some((name, None)),
            Self::In(table) => table.iter().next().map(|(name, at)| (&**name, Some(&**at))),
        }
    }
}

/// What was found, and what was expected instead.
type Problem = (String, &'static str);

impl Follower<'_> {
    /// Takes the next step.
    fn follow(&mut self, operation: &'static Operation, at: Option<u8>) -> Result<(), Problem> {
        let file = self.names.last().copied();
        let here = file.unwrap_or(self.home);
        let in_directory = |spot: Spot| Spot { directory: at.or(spot.directory), ..spot };
        let problem = |found, expected| Err((format!("`{}` {found}", operation.name), expected));
        let (spot, mut new_directory) = (in_directory(here), None);
        if operation.subject == Subject::Holder {
            self.push(operation, spot, file.is_some(), None);
            return Ok(());
        }
        let Some(file) = file else {
            if operation.name != "create" || self.was_there {
                return problem("without a file", "`create` first, and nothing after `delete`");
            }
            self.names.push(Spot { directory: at, renames: 0 });
            self.was_there = true;
            self.push(operation, Spot { directory: at, renames: 0 }, false, None);
            return Ok(());
        };
        self.was_there = true;
        let mut spot = file;
        match (operation.effect, operation.change) {
            (Effect::RemovesEntry, _) => {
                let meant = |name: &Spot| at.is_none_or(|at| name.directory == Some(at));
                let Some(position) = self.names.iter().rposition(meant) else {
                    return problem("where the file is not", "the directory where it is");
                };
                spot = self.names.remove(position);
            }
            (Effect::AddsEntry, _) if operation.name == "create" => {
                return problem("of a second file", "one file in each turn");
            }
            (Effect::AddsEntry, _) | (Effect::KeepsTree, Change::Renames) => {
                let to = match at {
                    Some(_) => Spot { directory: at, ..file },
                    None => Spot { renames: file.renames + 1, ..file },
                };
                if operation.effect == Effect::KeepsTree {
                    self.names.pop();
                }
                self.names.push(to);
                new_directory = at;
            }
            (Effect::KeepsTree, _) => {}
        }
        self.push(operation, spot, true, new_directory);
        Ok(())
    }

    fn push(
        &mut self,
        operation: &'static Operation,
        spot: Spot,
        has_file: bool,
        new_directory: Option<u8>,
    ) {
        let same = |step: &&Step| step.operation == operation;
        let earlier = self.steps.iter().filter(same).count();
        let name = match (earlier, self.directory_in_name(operation, spot, new_directory)) {
            (0, _) => operation.name.to_owned(),
            (_, Some(directory)) => format!("{}-{directory}", operation.name),
            (_, None) => format!("{}-{}", operation.name, earlier + 1),
        };
        let is_taken = self.steps.iter().any(|step| step.name == name);
        let name = if is_taken { format!("{name}-{}", earlier + 1) } else { name };
        let (opens, closes) = (true, true);
        self.steps.push(Step { name, operation, spot, has_file, new_directory, opens, closes });
    }

    /// What tells a step from an earlier one of the same operation.
    fn directory_in_name(
        &self,
        operation: &Operation,
        spot: Spot,
        new_directory: Option<u8>,
    ) -> Option<&String> {
        let is_placed = operation.subject == Subject::Holder || new_directory.is_some();
        let directory = new_directory.or(spot.directory).filter(|_| is_placed)?;
        self.directories.get(usize::from(directory))
    }

    /// Leaves a file open for an fsync that follows at once.
    fn leave_open(&mut self) {
        for at in 1..self.steps.len() {
            let stays = STAY_OPEN.contains(&self.steps[at - 1].operation.name);
            if stays && self.steps[at].operation.name == "fsync" {
                self.steps[at - 1].closes = false;
                self.steps[at].opens = false;
            }
        }
    }
}
