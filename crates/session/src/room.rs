//! Checks whether a plan fits into its site before anything is written there.

use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{Access, AtFlags, accessat};
use rustix::io::Errno;

use boatload_base::failure::{Failure, Result, shown};
use boatload_base::units::bytes;
use boatload_host::mounts::is_in_memory;
use boatload_host::process::is_root;
use boatload_host::space::Space;
use boatload_plan::prepare::USED_TOLERANCE;
use boatload_plan::space::Need;
use boatload_plan::{CellPlan, Plan};

/// The most that is there at one time; cells follow each other, so it is not their sum. What is
/// made to fill the space up to a share of it is not counted: it takes what is there.
pub fn need(plan: &Plan, block_bytes: u64) -> Need {
    let all = on_disk(plan).map(|cell| Need::of(cell, block_bytes));
    all.fold(Need::default(), Need::max)
}

fn on_disk(plan: &Plan) -> impl Iterator<Item = &CellPlan> {
    plan.cells.iter().filter(|cell| !cell.engine.is_simulated() && cell.filesystem.is_none())
}

/// The levels of used space of the cells on disk, in percent.
fn levels(plan: &Plan) -> impl Iterator<Item = f64> {
    on_disk(plan).filter_map(CellPlan::used_percent)
}

/// The highest level of used space that it fills the file system to, in percent; `None` when it does
/// not fill it.
pub fn fills_to(plan: &Plan) -> Option<f64> {
    levels(plan).reduce(f64::max)
}

/// Checks that a plan fits below a directory, and that what it fills may be filled.
/// Each of the `ranks` takes as much.
pub fn check(
    plan: &Plan,
    ranks: u32,
    space: &Space,
    directory: &Path,
    fill_real: bool,
) -> Result<()> {
    let highest = fills_to(plan);
    let need = need(plan, space.block_bytes).times(ranks);
    let Some(highest) = highest else {
        return space.shortfall(need, space.reserve_bytes(), directory).map_or(Ok(()), Err);
    };
    if !fill_real {
        return Err(Failure::usage(format!(
            "this fills the file system of {} up to {highest}%, which everything else on it would \
             feel. Nothing was written. If nothing else needs it, say so with --fill-real",
            shown(directory)
        )));
    }
    let used = space.used_percent(directory)?;
    let lowest = levels(plan).fold(f64::INFINITY, f64::min);
    if used > lowest + USED_TOLERANCE {
        return Err(Failure::failed(format!(
            "the file system of {} is {used:.0}% full already, and the lowest level is {lowest}%. \
             Nothing was written. Take levels from {:.0}% on, make room, or name another directory \
             with --dir",
            shown(directory),
            used.ceil()
        )));
    }
    let left = left_at(space, highest);
    let there = Space { available_bytes: left, ..*space };
    match there.lacking(need, 0) {
        None => Ok(()),
        Some(lacking) => Err(Failure::failed(format!(
            "what is measured at {highest}% does not fit on the file system of {}: {lacking}. Nothing was \
             written. Take lower levels or fewer and smaller files, or a larger file system",
            shown(directory)
        ))),
    }
}

/// The share of the memory that is free which may be taken, or written to a file system in memory.
const MEMORY_SHARE_MAX: f64 = 0.8;

/// The most that may be taken of `memory_free`, or written to a file system in memory, in bytes.
pub(super) fn memory_at_most(memory_free: u64) -> u64 {
    (memory_free as f64 * MEMORY_SHARE_MAX) as u64
}

/// Whether so much may be taken of the free memory, in bytes; where that is not known, nothing is in the way.
pub(super) fn fits_memory(bytes_wanted: u64, memory_free: Option<u64>) -> bool {
    memory_free.is_none_or(|free| bytes_wanted <= memory_at_most(free))
}

/// Checks that what is to be written to a file system of this kind leaves some of the free memory, in bytes;
/// where that is not known, nothing is in the way.
pub fn check_memory(
    kind: &str,
    bytes_wanted: u64,
    memory_free: Option<u64>,
    directory: &Path,
) -> Result<()> {
    let is_too_much = is_in_memory(kind) && !fits_memory(bytes_wanted, memory_free);
    let Some(free) = memory_free.filter(|_| is_too_much) else { return Ok(()) };
    Err(Failure::failed(format!(
        "{} lies in memory ({kind}), {} are free, and this would write {} to it. Nothing was \
         written. Take less, or name a directory on a disk",
        shown(directory),
        bytes(free),
        bytes(bytes_wanted)
    )))
}

/// File systems of the kernel's own, in which nobody makes files or directories of data.
const KERNEL_FILESYSTEMS: [&str; 14] = [
    "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "efivarfs",
    "fusectl", "proc", "pstore", "securityfs", "sysfs", "tracefs",
];

/// Checks that a directory of a run can be made in the directory, which is opened as `parent` and lies on a file system of
/// this kind.
///
/// # Errors
/// If it cannot.
pub fn check_place(parent: BorrowedFd<'_>, kind: &str, directory: &Path) -> Result<()> {
    let place = shown(directory);
    if KERNEL_FILESYSTEMS.contains(&kind) {
        return Err(Failure::failed(format!(
            "no files can be made in {place}: it lies on {kind}, a file system of the kernel's own. Nothing was written. \
             Name a directory on a disk with --dir"
        )));
    }
    match accessat(parent, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
        Err(error @ (Errno::ROFS | Errno::ACCESS)) => {
            let failure = Failure::from_system(format!("make a directory in {place}"), error);
            let sentence = format!(
                "{}. Nothing was written. Name another directory with --dir",
                failure.sentence
            );
            Err(Failure::failed(sentence))
        }
        // Where the kernel cannot tell, making the directory does.
        _ => Ok(()),
    }
}

/// The most that a plan writes at one time, in bytes, with what fills the space.
pub fn bytes_at_most(plan: &Plan, space: &Space) -> u64 {
    let filled = levels(plan).map(|percent| bytes_to_fill(space, percent)).max();
    need(plan, space.block_bytes).bytes.saturating_add(filled.unwrap_or_default())
}

/// Bytes to write until so much of the space is used, in percent.
pub(crate) fn bytes_to_fill(space: &Space, percent: f64) -> u64 {
    ((space.reachable_bytes() as f64 * percent / 100.0) as u64).saturating_sub(space.used_bytes())
}

/// Bytes that this process may still use when so much of the space is used, in percent: root has
/// what is kept for it as well.
fn left_at(space: &Space, percent: f64) -> u64 {
    let all = space.reachable_bytes() as f64;
    let kept = space.free_bytes.saturating_sub(space.available_bytes);
    let of_root = if is_root() { kept } else { 0 };
    (all * (1.0 - percent / 100.0)) as u64 + of_root
}
