//! What a cell needs of a file system before anything is written: bytes and inodes.

use super::CellPlan;
use super::tree::Sizes;
use crate::op::{Change, Effect, Subject};

/// Bytes and inodes, the most that exist at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Bytes, file contents rounded up to blocks, directories included.
    pub bytes: u64,
    /// Files and directories.
    pub inodes: u64,
}

/// A directory entry with its name and index takes about this much in ext4, xfs and btrfs.
const ENTRY_BYTES: u64 = 64;

/// Room for the run directory, its marker and the cache canary.
const OWN_BYTES: u64 = 1 << 20;
const OWN_INODES: u64 = 8;

impl Need {
    /// The larger of both, figure by figure.
    pub fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), inodes: self.inodes.max(other.inodes) }
    }

    /// What a cell needs on a file system with blocks of `block_bytes`, from mean sizes: exact
    /// for fixed sizes, within a fraction of a percent for many drawn ones.
    pub fn of(cell: &CellPlan, block_bytes: u64) -> Self {
        let block = block_bytes.max(1);
        let directories = cell.tree.layout_directories();
        let (mut entries, mut most) = (0u64, 0u64);
        let mut most_files = 0u64;
        for phase in &cell.phases {
            let count = phase.selection.count;
            match (phase.operation.effect(), phase.operation.subject()) {
                (Effect::AddsEntry, subject) => {
                    entries += count;
                    if subject == Subject::File {
                        most_files = most_files.max(phase.selection.first + count);
                    }
                }
                (Effect::RemovesEntry, _) => entries = entries.saturating_sub(count),
                (Effect::KeepsTree, _) => {}
            }
            most = most.max(entries);
        }
        let written = cell.phases.iter().filter(|p| p.operation.change() == Change::Grows);
        let appended: u64 = written.map(|p| p.selection.count).sum();
        let file_bytes = match cell.tree.sizes {
            Sizes::Fixed(size) => size.next_multiple_of(block) as f64,
            // A file of a drawn size ends inside a block, on average in its middle.
            drawn if drawn.max() > 0 => (drawn.mean() + block as f64 / 2.0).max(block as f64),
            _ => 0.0,
        };
        // Job files may ask for more than there is anywhere: that must not wrap to a little.
        let content = ((file_bytes * most_files as f64) as u64)
            .saturating_add((cell.tree.sizes.mean() * appended as f64) as u64);
        let inodes = most + directories + OWN_INODES;
        let names = most
            .saturating_mul(ENTRY_BYTES)
            .saturating_add((directories + most - most_files.min(most)).saturating_mul(block));
        let bytes = content.saturating_add(names).saturating_add(OWN_BYTES);
        Self { bytes, inodes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Settings, read_job};

    fn need(files: &str, size: &str) -> Need {
        let text = format!(
            "name = \"x\"\n[tree]\nfiles = {files}\nsize = {size}\n\
             [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"append\"\n"
        );
        let plan = read_job(&text, &Settings::default());
        Need::of(&plan.unwrap_or_else(|p| panic!("{}", p.report("x"))).cells[0], 1 << 20)
    }

    #[test]
    fn empty_files_need_inodes_and_names_only() {
        let need = need("1_000", "0");
        assert_eq!(need.inodes, 1_000 + 1 + OWN_INODES);
        assert_eq!(need.bytes, 1_000 * ENTRY_BYTES + (1 << 20) + OWN_BYTES);
    }

    #[test]
    fn a_file_of_whole_blocks_needs_them_and_no_more() {
        let need = |size: &str| need("1_000", size).bytes - need("1_000", "0").bytes;
        let appended = |size: u64| 1_000 * size;
        assert_eq!(need("'2MiB'"), 1_000 * (2 << 20) + appended(2 << 20));
        assert_eq!(need("1"), 1_000 * (1 << 20) + appended(1));
    }

    #[test]
    fn more_than_there_is_anywhere_is_not_wrapped_to_a_little() {
        assert!(need("17_592_186_044_416", "1").bytes > 1 << 60);
    }
}
