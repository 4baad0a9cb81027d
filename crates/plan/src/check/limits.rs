//! The limits and defaults of job files, in one table. A disk model has its own in `plan/disk/tables.rs`, a ballast in
//! `plan/prepare.rs`, repeats in `plan/repetition.rs`.

use std::ops::RangeInclusive;

/// Seed of a job that names none.
pub(super) const SEED_DEFAULT: u64 = 1;
/// Most workers.
pub const THREADS_MAX: u32 = 1_024;
pub(super) const THREADS: RangeInclusive<u64> = 1..=THREADS_MAX as u64;
/// Ranks that a phase works further on.
pub(super) const RANK_OFFSET: RangeInclusive<u64> = 0..=u32::MAX as u64;

/// Levels of an axis, at most.
pub(super) const LEVELS_MAX: usize = 1_000;
/// Variants, at most.
pub(super) const VARIANTS_MAX: usize = 100;
/// Phases over all cells, passes counted: each keeps what was before it in memory.
pub(super) const PHASES_MAX: usize = 10_000;
/// Phases of one cell, passes counted: each remembers those before it.
pub(super) const CELL_PHASES_MAX: usize = 200;
/// Passes of a phase.
pub(super) const PASSES: RangeInclusive<u64> = 1..=200;
/// Windows of a phase.
pub(super) const WINDOWS: RangeInclusive<u64> = 0..=10_000;
/// Targets of a phase.
pub(super) const COUNT: RangeInclusive<u64> = 0..=1 << 53;
/// Bytes of a block.
pub(super) const BLOCK: RangeInclusive<u64> = 1..=16 << 20;
/// Time of a phase with `duration`: 1 ms to 1 hour.
pub(super) const DURATION_NS: RangeInclusive<f64> = 1e6..=3.6e12;
/// Time after which a phase is given up: 1 ms to 30 days.
pub(super) const PHASE_LIMIT_NS: RangeInclusive<f64> = 1e6..=30.0 * 86_400e9;

/// Weight of a work.
pub(super) const WEIGHT: RangeInclusive<u64> = 0..=1_000_000;
/// Turns of a mix in a second; 0 for no rate.
pub(super) const RATE: RangeInclusive<f64> = 0.0..=1e9;

/// Files of a tree: their numbers share 64 bits with the version of the content, which has the upper 20.
pub(super) const FILES_MAX: u64 = 1 << 44;
/// Bytes of a file, and of all files together: up to here a double holds every whole number.
pub(super) const BYTES_MAX: u64 = 1 << 53;
/// Files in each directory of a ballast.
pub(super) const FILES_EACH_DEFAULT: u64 = 1_000;
/// New files of an ageing before one is deleted.
pub(super) const DELETE_EVERY_DEFAULT: u64 = 10;
/// Where the space decides how many files there will be: more than any file system holds.
pub(super) const FILES_UNKNOWN: u64 = 1 << 32;
/// The same with directories of a drawn number of files: as many as are laid out.
pub(super) const FILES_UNKNOWN_DRAWN: u64 = 10_000_000;
/// `mu` of a lognormal law: half of the files would be larger than 4 PiB.
pub(super) const MU_MAX: f64 = 36.0;
/// `sigma` of a lognormal law.
pub(super) const SIGMA: RangeInclusive<f64> = 0.01..=10.0;
/// The least share of a lognormal law that its range leaves.
pub(super) const WITHIN_MIN: f64 = 0.01;

/// Memory of the machine on which variants are checked that do not run.
pub(super) const MEMORY_USUAL: u64 = 16 << 30;
/// A planted slowdown, in percent.
pub(super) const DELAY_MAX: f64 = 1_000.0;

/// Longest time of one simulated request, in nanoseconds: an hour.
pub(super) const SIM_TIME_MAX_NS: u64 = 3_600_000_000_000;
/// Counts and bytes of the simulated file system.
pub(super) const SIM_COUNT_MAX: u64 = 1 << 53;
/// Spread of simulated times, in percent. Time never goes back: the largest deviation takes less than all of it.
pub(super) const SIM_SPREAD_MAX: f64 = 30.0;
