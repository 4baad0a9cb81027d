//! An ext4 without a journal: it passes over inodes while their deletion is fresh, if it has others
//! (`recently_deleted` in the kernel's fs/ext4/ialloc.c), and looks at all of those for each new file.

use super::{Warning, add_once};
use crate::measure::book::{Book, Measurement};
use crate::measure::content::is_bulk;
use crate::op::{Effect, find_operation};

/// What to do about it.
pub(super) const HINT: &str = "Compare variants of one run, or have it made anew for each repeat: \
                               as root, --filesystem 'ext4:mkfs=-O ^has_journal'.";

/// Only of the file system that was there: one that is made for each cell had nothing deleted.
pub(super) fn without_journal(book: &Book) -> Option<Warning> {
    if book.host.filesystem.journal != Some(false) || !book.filesystems.is_empty() {
        return None;
    }
    let adds = |m: &&Measurement| {
        let operation = find_operation(&m.operation);
        operation.is_some_and(|operation| operation.effect() == Effect::AddsEntry)
    };
    let mut phases = Vec::new();
    for m in book.measurements.iter().filter(adds) {
        if !m.is_simulated() && !is_bulk(m) {
            add_once(&mut phases, &m.phase);
        }
    }
    (!phases.is_empty()).then_some(Warning::NoJournal { phases })
}

pub(super) fn sentence(phases: &[String]) -> String {
    format!(
        "{}: without a journal, ext4 skips inodes that were deleted in the last minutes; files \
         removed before, by boatload too, make this slower.",
        phases.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::warnings;
    use super::*;
    use crate::plan::EngineName;

    fn of(operation: &str, engine: EngineName) -> Measurement {
        Measurement {
            phase: operation.into(),
            operation: operation.into(),
            engine: Some(engine),
            operations: 1000,
            ..Measurement::default()
        }
    }

    fn told(journal: Option<bool>, measurements: Vec<Measurement>) -> Vec<Warning> {
        let mut book = Book { measurements, ..Book::default() };
        book.host.filesystem.journal = journal;
        warnings(&book, false)
    }

    #[test]
    fn what_was_deleted_before_is_told_of_new_entries_without_a_journal() {
        let all = || ["create", "read", "mkdir"].map(|name| of(name, EngineName::Sync)).to_vec();
        let told_without = told(Some(false), all());
        let [Warning::NoJournal { phases }] = told_without.as_slice() else {
            panic!("{told_without:?}")
        };
        assert_eq!(phases, &["create", "mkdir"]);
        assert_eq!(told(Some(true), all()), []);
        assert_eq!(told(None, all()), []);
        assert_eq!(
            told(Some(false), vec![of("create", EngineName::Sim), of("read", EngineName::Sync)]),
            []
        );
    }
}
