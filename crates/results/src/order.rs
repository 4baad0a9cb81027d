//! Orders variants, levels and phases for reports, and groups measurements by all three.

use super::book::{Book, Level, MadeFileSystem, Measurement};
use boatload_base::distinct::each_once;

/// Names of the variants that the book has something of, in the job's order; those that it does not
/// name follow by name. The order they were measured in is random.
pub fn variants(book: &Book) -> Vec<&str> {
    let measured = book.measurements.iter().map(|m| m.cell.variant.as_str());
    let surveyed = book.conditions.iter().map(|c| c.cell.variant.as_str());
    let mut names: Vec<&str> = measured.chain(surveyed).collect();
    names.sort_unstable();
    names.dedup();
    let place = |name: &&str| book.variants.iter().position(|known| known == name);
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    names
}

/// The place of a level among the levels of the job; the order they were measured in is random.
pub fn level_position(book: &Book, level: Option<&Level>) -> usize {
    book.levels.iter().position(|known| Some(known) == level).unwrap_or(usize::MAX)
}

/// The levels that a phase was measured at, valid or not, in the job's order. What is stated of one
/// level is stated of the last.
pub fn levels_of<'a>(book: &'a Book, phase: &str) -> Vec<Option<&'a Level>> {
    let own = book.measurements.iter().filter(|m| m.phase == phase);
    let mut levels = each_once(own.map(|m| m.cell.level.as_ref()));
    levels.sort_by_key(|level| level_position(book, *level));
    levels
}

/// The measurements of one phase of one variant at one level.
pub struct PhaseCell<'a> {
    /// Its variant.
    pub variant: &'a str,
    /// Its level, if the run has an axis.
    pub level: Option<&'a Level>,
    /// Its phase.
    pub phase: &'a str,
    /// What was measured, in the order of repeats.
    pub measurements: Vec<&'a Measurement>,
}

/// Measurements by variant, level and phase, in the order in which the first of each was measured.
pub fn phase_cells<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Vec<PhaseCell<'a>> {
    let mut cells: Vec<PhaseCell<'a>> = Vec::new();
    for m in measurements {
        let (variant, level, phase) = (m.cell.variant.as_str(), m.cell.level.as_ref(), &*m.phase);
        let is_same = |cell: &&mut PhaseCell<'_>| {
            (cell.phase, cell.variant, cell.level) == (phase, variant, level)
        };
        match cells.iter_mut().find(is_same) {
            Some(cell) => cell.measurements.push(m),
            None => cells.push(PhaseCell { variant, level, phase, measurements: vec![m] }),
        }
    }
    cells
}

/// The file systems that were made for the run, in the order of their variants.
pub fn made(book: &Book) -> Vec<&MadeFileSystem> {
    let order = variants(book);
    let place = |made: &&MadeFileSystem| order.iter().position(|name| *name == made.variant);
    let mut all: Vec<&MadeFileSystem> = book.filesystems.iter().collect();
    all.sort_by_key(|made| place(made).unwrap_or(usize::MAX));
    all
}

/// Their types, each once.
pub fn made_kinds(book: &Book) -> Vec<&str> {
    each_once(made(book).into_iter().map(|made| made.kind.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, measurement};

    #[test]
    fn file_systems_stand_in_the_order_of_their_variants_whichever_was_made_first() {
        let mut book = fixture::made::book();
        book.filesystems.reverse();
        let unmeasured = fixture::made::filesystem("never-run", "xfs");
        book.filesystems.insert(0, unmeasured);
        let names: Vec<&str> = made(&book).iter().map(|made| made.variant.as_str()).collect();
        assert_eq!(names, ["ext4", "ext3", "xfs", "btrfs", "never-run"]);
        assert_eq!(made_kinds(&book), ["ext4", "ext3", "xfs", "btrfs"]);
    }

    #[test]
    fn variants_follow_the_job_and_unknown_ones_come_last_by_name() {
        let mut book = Book::default();
        for name in ["zfs", "xfs", "single", "btrfs", "many", "single"] {
            let mut m = measurement("create", 1, 10, 1_000);
            m.cell.variant = name.into();
            book.measurements.push(m);
        }
        assert_eq!(variants(&book), ["btrfs", "many", "single", "xfs", "zfs"]);
        book.variants = ["single", "many", "never-run"].map(String::from).to_vec();
        assert_eq!(variants(&book), ["single", "many", "btrfs", "xfs", "zfs"]);
    }
}
