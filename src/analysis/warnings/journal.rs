//! An ext4 without a journal: it passes over inodes while their deletion is fresh, if it has others
//! (`recently_deleted` in the kernel's fs/ext4/ialloc.c), and looks at all of those for each new file.

use super::{about_phases, phases_of};
use crate::analysis::finding::{WarningCode, WarningFinding};
use crate::op::{Effect, find_operation};
use crate::results::book::{Book, Measurement};
use crate::results::content::is_bulk;

/// Only of the file system that was there: one that is made for each cell had nothing deleted.
pub(super) fn without_journal(book: &Book) -> Option<WarningFinding> {
    if book.host.filesystem.journal != Some(false) || !book.filesystems.is_empty() {
        return None;
    }
    let adds = |m: &&Measurement| {
        let operation = find_operation(&m.operation);
        operation.is_some_and(|operation| operation.effect == Effect::AddsEntry)
    };
    let real = book.measurements.iter().filter(|m| !m.is_simulated() && !is_bulk(m));
    let phases = phases_of(real.filter(adds))?;
    let sentence = format!(
        "{}: without a journal, ext4 skips inodes that were deleted in the last minutes; files \
         removed before, by boatload too, make this slower.",
        phases.join(", ")
    );
    let hint = "Compare variants of one run, or have it made anew for each repeat: as root, \
                --filesystem 'ext4:mkfs=-O ^has_journal'.";
    Some(about_phases(WarningCode::NoJournal, phases, sentence, hint))
}

#[cfg(test)]
mod tests {
    use super::super::warnings;
    use super::*;
    use crate::analysis::Analysis;
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

    fn stated(journal: Option<bool>, measurements: Vec<Measurement>) -> Vec<WarningFinding> {
        let mut book = Book { measurements, ..Book::default() };
        book.host.filesystem.journal = journal;
        warnings(&Analysis::of(&book), &[])
    }

    #[test]
    fn what_was_deleted_before_is_stated_of_new_entries_without_a_journal() {
        let all = || ["create", "read", "mkdir"].map(|name| of(name, EngineName::Sync)).to_vec();
        let without = stated(Some(false), all());
        let [one] = without.as_slice() else { panic!("{without:?}") };
        assert_eq!(one.code, WarningCode::NoJournal);
        assert_eq!(one.phases, ["create", "mkdir"]);
        assert_eq!(stated(Some(true), all()), []);
        assert_eq!(stated(None, all()), []);
        assert_eq!(
            stated(Some(false), vec![of("create", EngineName::Sim), of("read", EngineName::Sync)]),
            []
        );
    }
}
