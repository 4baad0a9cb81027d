//! Defines the results of power cuts: which files that were promised survived.

use schemars::JsonSchema;
use serde::Serialize;

use boatload_op::Durability;
use boatload_run::crash::FileFate;

/// Most broken promises that are kept one by one.
const BROKEN_MAX: usize = 100;

/// What a series of power cuts left.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CrashBook {
    /// The scenario whose phases were cut.
    pub scenario: String,
    /// The seed of files, cuts and what they leave.
    pub seed: u64,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// The command line.
    pub command: String,
    /// The version of boatload.
    pub boatload: String,
    /// The kernel.
    pub kernel: String,
    /// Whether all power cuts were made.
    pub complete: bool,
    /// One for each variant and durability.
    pub rows: Vec<PromiseRow>,
    /// Broken promises one by one: up to three of each cut, and 100 in all.
    pub broken: Vec<BrokenPromise>,
}

/// What power cuts left of the files of a variant with one durability.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct PromiseRow {
    /// The variant: its file system, and what of the job differs.
    pub variant: String,
    /// The modelled disk.
    pub disk: String,
    /// How the phase that was cut asked for its changes to be durable.
    pub durability: Durability,
    /// Power cuts.
    pub cuts: u64,
    /// Files that something was promised of when the power went.
    pub promised: u64,
    /// Of these, files that are as they were promised.
    pub kept: u64,
    /// Files that are not there.
    pub missing: u64,
    /// Files that are as they were before the change that was promised last.
    pub old: u64,
    /// Files whose content is neither.
    pub torn: u64,
    /// Files that are there although their removal was promised.
    pub came_back: u64,
    /// Changes that had begun, or ended, and promised nothing.
    pub unpromised: u64,
    /// Of these, changes that are there in full all the same.
    pub unpromised_kept: u64,
    /// How long before the cut the oldest of those changes had ended that is lost, in seconds.
    pub oldest_lost_seconds: Option<f64>,
    /// Cuts after which the file system could not be mounted or read at all; its promises are broken.
    pub not_mounted: u64,
    /// Cuts after which its own program checked the file system, once it had been mounted.
    pub checked: u64,
    /// Of these, cuts after which it found something wrong.
    pub damaged: u64,
    /// Blocks that no flush had followed when the power went.
    pub blocks_unflushed: u64,
    /// Of these, blocks that the disk lost.
    pub blocks_lost: u64,
}

impl PromiseRow {
    /// A row without a cut.
    pub fn new(variant: &str, disk: &str, durability: Durability) -> Self {
        Self { variant: variant.into(), disk: disk.into(), durability, ..Self::default() }
    }

    /// Adds a file that was promised.
    pub fn add(&mut self, fate: FileFate) {
        self.promised += 1;
        *match fate {
            FileFate::Kept => &mut self.kept,
            FileFate::Missing => &mut self.missing,
            FileFate::Old => &mut self.old,
            FileFate::Torn => &mut self.torn,
            FileFate::CameBack => &mut self.came_back,
        } += 1;
    }

    /// Adds a change that promised nothing, which ended so many seconds before the cut if it had ended.
    pub fn add_unpromised(&mut self, is_there: bool, seconds: Option<f64>) {
        self.unpromised += 1;
        self.unpromised_kept += u64::from(is_there);
        if let Some(seconds) = seconds.filter(|_| !is_there) {
            let oldest = self.oldest_lost_seconds.unwrap_or(0.0);
            self.oldest_lost_seconds = Some(oldest.max(seconds));
        }
    }

    /// Adds what another row of the same variant has.
    fn add_row(&mut self, other: &Self) {
        self.cuts += other.cuts;
        self.promised += other.promised;
        self.kept += other.kept;
        self.missing += other.missing;
        self.old += other.old;
        self.torn += other.torn;
        self.came_back += other.came_back;
        self.unpromised += other.unpromised;
        self.unpromised_kept += other.unpromised_kept;
        let oldest = [self.oldest_lost_seconds, other.oldest_lost_seconds];
        self.oldest_lost_seconds = oldest.into_iter().flatten().reduce(f64::max);
        self.not_mounted += other.not_mounted;
        self.checked += other.checked;
        self.damaged += other.damaged;
        self.blocks_unflushed += other.blocks_unflushed;
        self.blocks_lost += other.blocks_lost;
    }

    /// Promised files that are not there, or as they were before.
    pub fn lost(&self) -> u64 {
        self.missing + self.old
    }

    /// Promises that were not kept.
    pub fn broken(&self) -> u64 {
        self.promised - self.kept
    }

    /// Whether all is as it should be.
    pub fn is_good(&self) -> bool {
        self.broken() == 0 && self.not_mounted == 0 && self.damaged == 0
    }
}

/// A promise that was not kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BrokenPromise {
    /// The variant.
    pub variant: String,
    /// The power cut of this variant, from 1.
    pub cut: u32,
    /// The durability of the phase that was cut.
    pub durability: Durability,
    /// That phase.
    pub phase: String,
    /// The number of the file; null if the file system as a whole is at fault.
    pub file: Option<u64>,
    /// What became of it.
    pub fate: Option<FileFate>,
    /// What the kernel or the program that checks it says of the file system.
    pub reason: Option<String>,
}

impl CrashBook {
    /// The sums of a variant over all durabilities, in a row that has the first of them.
    pub fn total(&self, variant: &str) -> Option<PromiseRow> {
        let mut rows = self.rows.iter().filter(|row| row.variant == variant);
        let mut total = rows.next()?.clone();
        rows.for_each(|row| total.add_row(row));
        Some(total)
    }

    /// The durabilities with which promises to a variant were broken.
    pub fn broken_with(&self, variant: &str) -> Vec<Durability> {
        let rows = self.rows.iter().filter(|row| row.variant == variant && row.broken() > 0);
        rows.map(|row| row.durability).collect()
    }

    /// Keeps a broken promise, if there is room.
    pub fn add_broken(&mut self, broken: BrokenPromise) {
        if self.broken.len() < BROKEN_MAX {
            self.broken.push(broken);
        }
    }
}
