//! The order in which variants, levels and phases are told.

use super::book::ResultBook;
use crate::plan::variant_names;

/// Names of the variants that the book has something of, in the job file's order; those that it does
/// not name stand behind, as their file systems were asked for, the others by name. The order they
/// were measured in is random.
pub fn variants(book: &ResultBook) -> Vec<&str> {
    let measured = book.measurements.iter().map(|m| m.cell.variant.as_str());
    let looked_at = book.conditions.iter().map(|c| c.cell.variant.as_str());
    let mut names: Vec<&str> = measured.chain(looked_at).collect();
    names.sort_unstable();
    names.dedup();
    let written = variant_names(&book.run.job);
    let made = book.filesystems.iter().map(|made| made.variant.clone());
    let known: Vec<String> = written.into_iter().chain(made).collect();
    let place = |name: &str| known.iter().position(|known| known == name).unwrap_or(usize::MAX);
    names.sort_by_key(|name| place(name));
    names
}

/// All of them in the order they first come in.
pub(super) fn each_once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::book::MadeFileSystem;
    use crate::measure::fixture::measurement;

    #[test]
    fn variants_stand_as_in_the_job_file_and_unknown_ones_behind_by_name() {
        let mut book = ResultBook::default();
        for name in ["zfs", "xfs", "single", "btrfs", "many", "single"] {
            let mut m = measurement("create", 1, 10, 1_000);
            m.cell.variant = name.into();
            book.measurements.push(m);
        }
        assert_eq!(variants(&book), ["btrfs", "many", "single", "xfs", "zfs"]);
        book.run.job = "[[variant]]\nname = \"single\"\n[[variant]]\nname = \"many\"\n\
                        [[variant]]\nname = \"never-run\"\n"
            .into();
        assert_eq!(variants(&book), ["single", "many", "btrfs", "xfs", "zfs"]);
        let made = |name: &str| MadeFileSystem { variant: name.into(), ..Default::default() };
        book.filesystems = vec![made("xfs"), made("btrfs")];
        assert_eq!(variants(&book), ["single", "many", "xfs", "btrfs", "zfs"]);
    }
}
