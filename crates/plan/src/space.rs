//! Computes the bytes and inodes that a cell needs, before anything is written.

use super::mix::{Mix, Work};
use super::tree::{Sizes, Tree};
use super::{BallastGoal, CellPlan, Phase, Prepare};
use boatload_op::{Change, Effect, Subject};

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

/// Logs and tables that a new file system has written to its image, at most: so many bytes, and one in
/// so many of the image.
const TABLES_BYTES: u64 = 64 << 20;
const TABLES_SHARE: u64 = 50;

/// Files of the ballast are copied with such a file system, read or unread, if they are smaller: to look where one
/// lies takes longer than to copy it.
pub const UNREAD_BYTES_MIN: u64 = 64 << 10;

/// Blocks of file systems that boatload makes.
const BLOCK_BYTES: u64 = 4096;

impl Need {
    /// The larger of both, figure by figure.
    pub fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), inodes: self.inodes.max(other.inodes) }
    }

    /// The need of this many ranks.
    pub fn times(self, ranks: u32) -> Self {
        let times = |one: u64| one.saturating_mul(u64::from(ranks));
        Self { bytes: times(self.bytes), inodes: times(self.inodes) }
    }

    /// What an image of a disk needs, once all of it is written.
    pub fn of_image(bytes: u64) -> Self {
        Self { bytes: bytes.saturating_add(OWN_BYTES), inodes: OWN_INODES }
    }

    /// What the files beside a cell need; nothing if they are to take a share of what is there.
    pub fn of_ballast(prepare: &Prepare, block_bytes: u64) -> Self {
        let BallastGoal::Files(files) = prepare.goal else { return Self::default() };
        let (tree, block) = (&prepare.ballast.tree, block_bytes.max(1));
        let directories = tree.layout_directories();
        let bytes = contents(tree.sizes, files, block)
            .saturating_add(files.saturating_mul(ENTRY_BYTES))
            .saturating_add(directories.saturating_mul(block));
        Self { bytes, inodes: files.saturating_add(directories) }
    }

    /// What the largest files need that all workers of a phase write at once, each beside the one that it replaces.
    fn of_temporary(cell: &CellPlan, block: u64) -> Self {
        let makes = |phase: &&Phase| phase.operations_done().iter().any(|o| o.makes_temporary);
        let of_phase = |phase: &Phase| {
            let works = phase.mix.iter().flat_map(|mix| &mix.works).map(|work| work.sizes);
            let laws = works.chain([phase.sizes]).map(|law| law.unwrap_or(cell.tree.sizes));
            let (largest, files) = (laws.map(Sizes::max).max(), u64::from(phase.threads));
            let bytes = contents(Sizes::Fixed(largest.unwrap_or(0)), files, block);
            Self { bytes, inodes: files }
        };
        cell.phases.iter().filter(makes).map(of_phase).fold(Self::default(), Self::max)
    }

    /// What a cell needs on a file system with blocks of `block_bytes`, from mean sizes: exact
    /// for fixed sizes, within a fraction of a percent for many drawn ones.
    pub fn of(cell: &CellPlan, block_bytes: u64) -> Self {
        let block = block_bytes.max(1);
        let directories = cell.tree.layout_directories();
        let (mut entries, mut most) = (0u64, 0u64);
        let (mut most_files, mut of_tree_law) = (0u64, 0u64);
        let capacity = cell.tree.capacity();
        for phase in &cell.phases {
            let count = phase.selection.count;
            match (phase.operation.effect, phase.operation.subject) {
                (Effect::AddsEntry, subject) => {
                    let (first, added) = (phase.selection.first_entry(), phase.selection.entries());
                    entries += added;
                    if subject != Subject::Directory {
                        most_files = most_files.max(first + added);
                        if phase.sizes.is_none() {
                            of_tree_law = of_tree_law.max(first + added);
                        }
                    }
                }
                (Effect::RemovesEntry, _) => entries = entries.saturating_sub(count),
                (Effect::KeepsTree, _) => {}
            }
            if phase.mix.is_some() {
                (most, most_files) = (most.max(capacity), most_files.max(capacity));
            }
            most = most.max(entries);
        }
        // What is appended, and files whose sizes follow a law of the phase's own.
        let beside = |p: &&Phase| p.sizes.is_some() || p.operation.change == Change::Grows;
        let written = cell.phases.iter().filter(beside);
        let written = written.map(|p| contents(p.sizes(&cell.tree), p.selection.count, block));
        // Job files may ask for more than there is anywhere: that must not wrap to a little.
        let content = written.fold(files(&cell.tree, of_tree_law, block), u64::saturating_add);
        let mixes = cell.phases.iter().filter_map(|phase| Some((phase, phase.mix.as_ref()?)));
        let mixed = mixes.map(|(phase, mix)| mixed_bytes(&cell.tree, phase, mix, block)).max();
        let content = content.max(mixed.unwrap_or(0));
        let beside = cell.prepare.as_ref().map(|prepare| Self::of_ballast(prepare, block));
        let beside = beside.unwrap_or_default();
        let temporary = Self::of_temporary(cell, block);
        let inodes = (most + directories + OWN_INODES)
            .saturating_add(beside.inodes)
            .saturating_add(temporary.inodes);
        let names = most
            .saturating_mul(ENTRY_BYTES)
            .saturating_add((directories + most - most_files.min(most)).saturating_mul(block));
        let bytes =
            content.saturating_add(names).saturating_add(beside.bytes).saturating_add(OWN_BYTES);
        let bytes = bytes.saturating_add(temporary.bytes);
        Self { bytes, inodes }
    }
}

/// Bytes of the files of a mix: as many as it has at most, by the law with the largest mean, and what is appended to
/// them, in as many turns as are known, else once to each.
fn mixed_bytes(tree: &Tree, phase: &Phase, mix: &Mix, block: u64) -> u64 {
    let grows = |work: &&Work| work.operation.change == Change::Grows;
    let laws = mix.works.iter().filter(|work| !grows(work)).filter_map(|work| work.sizes);
    let largest = laws.chain([tree.sizes]).max_by(|a, b| a.mean().total_cmp(&b.mean()));
    let appended = mix.works.iter().filter(grows).map(|work| {
        let turns = phase.work_turns(work).unwrap_or_else(|| tree.capacity());
        contents(work.sizes.unwrap_or(tree.sizes), turns, block)
    });
    let files = contents(largest.unwrap_or(tree.sizes), tree.capacity(), block);
    appended.fold(files, u64::saturating_add)
}

/// Bytes of an image of `image_bytes` that hold something when its file system is prepared for a cell:
/// the ballast, and tables and logs of its own, for which mkfs writes less than this.
pub fn state_bytes(cell: &CellPlan, image_bytes: u64) -> u64 {
    let Some(prepare) = &cell.prepare else { return 0 };
    let ballast = match prepare.goal {
        BallastGoal::Used(percent) => (image_bytes as f64 * percent / 100.0) as u64,
        BallastGoal::Files(_) => Need::of_ballast(prepare, BLOCK_BYTES).bytes,
    };
    ballast.saturating_add(tables_bytes(image_bytes)).min(image_bytes)
}

fn tables_bytes(image_bytes: u64) -> u64 {
    TABLES_BYTES.saturating_add(image_bytes / TABLES_SHARE)
}

/// Bytes that the first `files` take in whole blocks; of chunks each has several but the last.
fn files(tree: &Tree, files: u64, block: u64) -> u64 {
    if tree.chunks.is_none() || files == 0 {
        return contents(tree.sizes, files, block);
    }
    let of = |number, files| contents(Sizes::Fixed(tree.chunked_size(number)), files, block);
    of(0, files - 1).saturating_add(of(files - 1, 1))
}

/// Bytes that `files` contents take in whole blocks: of drawn sizes the mean and four standard
/// deviations of the sum, which one seed in 30,000 exceeds, and at most the largest sum there is.
pub(super) fn contents(sizes: Sizes, files: u64, block: u64) -> u64 {
    let (count, block_bytes) = (files as f64, block as f64);
    let most = sizes.max().checked_next_multiple_of(block).unwrap_or(u64::MAX) as f64 * count;
    let bytes = match sizes {
        Sizes::Fixed(_) => most,
        drawn if drawn.max() > 0 => {
            // A file of a drawn size ends inside a block, on average in its middle. No law on a
            // range deviates from its mean by more than half of the range (Popoviciu, 1935).
            let mean = (drawn.mean() + block_bytes / 2.0).max(block_bytes);
            let deviation = drawn.max() as f64 / 2.0;
            (mean * count + 4.0 * deviation * count.sqrt()).min(most)
        }
        _ => 0.0,
    };
    bytes as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, read_job};

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
    fn each_worker_that_replaces_files_needs_room_for_the_largest_beside_the_old_one() {
        let need = |operation: &str| {
            let text = format!(
                "name = \"x\"\nthreads = 4\n[tree]\nfiles = 100\nsize = 5_000\n\
                 [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"{operation}\"\n"
            );
            let plan = read_job(&text, &Settings::default());
            Need::of(&plan.unwrap_or_else(|p| panic!("{}", p.report("x"))).cells[0], 4_096)
        };
        let (rewrites, replaces) = (need("rewrite"), need("replace"));
        assert_eq!(replaces.bytes - rewrites.bytes, 4 * 8_192);
        assert_eq!(replaces.inodes - rewrites.inodes, 4);
    }

    #[test]
    fn a_file_of_whole_blocks_needs_them_and_no_more() {
        let need = |size: &str| need("1_000", size).bytes - need("1_000", "0").bytes;
        assert_eq!(need("'2MiB'"), 2 * 1_000 * (2 << 20), "once created and once appended");
        assert_eq!(need("1"), 2 * 1_000 * (1 << 20));
    }

    #[test]
    fn one_file_of_a_drawn_size_may_be_the_largest() {
        let need = need("1", "{ uniform = { min = 1, max = \"1GiB\" } }");
        assert!(need.bytes >= 2 << 30, "{}", need.bytes);
    }

    #[test]
    fn more_than_there_is_anywhere_is_not_wrapped_to_a_little() {
        assert!(need("17_592_186_044_416", "1").bytes > 1 << 60);
    }
}
