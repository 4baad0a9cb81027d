//! Which entries exist when a phase begins, and which of them it chooses.

use crate::base::units::{counted, grouped};
use crate::op::{Effect, Operation, Subject};
use crate::plan::selection::{EntryRange, Order, Selection};
use crate::plan::tree::Tree;

/// Entries of one kind that exist: their numbers are a range, except after a random part of them
/// was removed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LiveEntries {
    /// The lowest number.
    pub(super) first: u64,
    /// The number the next new one gets.
    next: u64,
    /// Removed out of the middle.
    missing: u64,
    /// Whether a phase that adds them has been.
    added: bool,
}

impl LiveEntries {
    /// How many exist.
    pub(super) fn count(&self) -> u64 {
        self.next - self.first - self.missing
    }
}

/// Why entries cannot be chosen.
pub(super) struct Objection {
    pub(super) found: String,
    pub(super) expected: String,
}

/// Entries of both kinds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entries {
    pub(super) files: LiveEntries,
    pub(super) directories: LiveEntries,
}

impl Entries {
    /// How many entries the tree holds.
    pub(super) fn count(&self) -> u64 {
        self.files.count() + self.directories.count()
    }

    fn of_subject(&self, subject: Subject) -> &LiveEntries {
        match subject {
            Subject::File | Subject::Chunk => &self.files,
            _ => &self.directories,
        }
    }

    /// What an operation chooses when it is asked for `count` entries, or for all.
    pub(super) fn choose(
        &self,
        operation: &Operation,
        count: Option<u64>,
        tree: &Tree,
    ) -> Result<EntryRange, Objection> {
        let subject = operation.subject;
        let noun = match subject {
            Subject::File => "file",
            Subject::Chunk => "chunk",
            _ => "directory",
        };
        let live = self.of_subject(subject);
        if subject != Subject::Holder && live.missing > 0 {
            let found = format!("`{}` after a random part was removed", operation.name);
            let expected = match subject {
                Subject::File | Subject::Chunk => "no phase on files after it",
                _ => "no phase on directories after it",
            };
            return Err(Objection { found, expected: expected.into() });
        }
        let adds = operation.effect == Effect::AddsEntry;
        let (first, population) = match subject {
            Subject::Holder => (0, tree.holders()),
            Subject::AnyDirectory => (0, tree.layout_directories() + live.count()),
            Subject::Chunk => {
                let (count, per_file) = tree.chunks.map_or((0, 1), |c| (c.count, c.per_file));
                let done = live.next.saturating_mul(per_file).min(count);
                (done, count - done)
            }
            _ if adds => (live.next, tree.files.saturating_sub(live.next)),
            _ => (live.first, live.count()),
        };
        // An axis may begin at no files at all; then phases that made none are followed by
        // phases on none.
        let asked_for_none = if adds { tree.files == 0 } else { live.added && live.next == 0 };
        if population == 0 && count != Some(0) && !asked_for_none {
            let found = count.map_or(format!("`{}`", operation.name), grouped);
            let expected = self.none_left(operation, tree, noun);
            return Err(Objection { found, expected });
        }
        let chosen = count.unwrap_or(population);
        if chosen > population {
            let there = match adds {
                true => format!("the tree has room for {} more", counted(population, noun)),
                false => format!("there are {}", counted(population, noun)),
            };
            let expected = format!("at most {}: {there}", grouped(population));
            return Err(Objection { found: grouped(chosen), expected });
        }
        whole_files(subject, chosen, population, tree)?;
        // What is added is all that is chosen from, or numbers would be left out.
        let population = if adds { chosen } else { population };
        Ok(EntryRange { first, population, count: chosen })
    }

    fn none_left(&self, operation: &Operation, tree: &Tree, noun: &str) -> String {
        let live = self.of_subject(operation.subject);
        if operation.effect == Effect::AddsEntry {
            let all = tree.chunks.filter(|_| noun == "chunk").map_or(tree.files, |c| c.count);
            let room = counted(all, noun);
            return format!("room in the tree: all of its {room} were made before");
        }
        let made = match live.added {
            true => "earlier phases have removed all there were",
            false => "no earlier phase makes any",
        };
        let several = if noun == "file" { "files" } else { "directories" };
        format!("{several} to work on: there are 0, {made}")
    }

    /// What there is after an operation on a selection.
    pub(super) fn apply(&mut self, operation: &Operation, selection: &Selection) {
        let live = match operation.subject {
            Subject::File | Subject::Chunk => &mut self.files,
            Subject::Directory => &mut self.directories,
            Subject::Holder | Subject::AnyDirectory | Subject::Block => return,
        };
        let all = selection.count == selection.population;
        match operation.effect {
            Effect::AddsEntry => {
                live.next += selection.entries();
                live.added = true;
            }
            Effect::RemovesEntry if all || selection.order == Order::Sequential => {
                live.first += selection.count;
            }
            Effect::RemovesEntry => live.missing += selection.count,
            Effect::KeepsTree => {}
        }
    }
}

/// Chunks are written to new files, each by one phase.
fn whole_files(
    subject: Subject,
    chosen: u64,
    population: u64,
    tree: &Tree,
) -> Result<(), Objection> {
    let per_file = tree.chunks.map_or(1, |chunks| chunks.per_file);
    if subject != Subject::Chunk || chosen == population || chosen.is_multiple_of(per_file) {
        return Ok(());
    }
    let expected = format!(
        "a multiple of {}, the chunks of a file, or all {}",
        grouped(per_file),
        grouped(population)
    );
    Err(Objection { found: grouped(chosen), expected })
}
