//! Determines the volume that file systems are made on: a device or an image, of the same size for all of
//! them.

use std::path::PathBuf;

use super::FileSystem;
use crate::mix::Work;
use crate::phase::Phase;
use crate::space::{Need, contents};
use crate::{CellPlan, Plan};
use boatload_base::distinct::each_once;
use boatload_base::failure::{Failure, Result};
use boatload_base::units::bytes as in_bytes;
use boatload_op::Durability;

/// The place that file systems are made on, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Volume {
    /// A sparse image file below the run's directory, on a loop device.
    Image {
        /// Its size; `None` for what the plan needs.
        bytes: Option<u64>,
    },
    /// A block device, which loses what it holds.
    Device {
        /// The device.
        path: PathBuf,
        /// The same device once more: the user's word that it may be erased.
        erase: PathBuf,
    },
    /// An image in memory.
    Memory {
        /// Its size; `None` for what the plan needs.
        bytes: Option<u64>,
    },
}

impl Default for Volume {
    fn default() -> Self {
        Self::Image { bytes: None }
    }
}

/// The size of a volume: bytes, and the inodes that a file system on it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeSize {
    /// Bytes of the place.
    pub bytes: u64,
    /// Files and directories that must fit.
    pub inodes: u64,
}

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// From this size on the order of file systems did not change; on smaller places some (btrfs most) write out early.
/// METHODOLOGY.md has the measurements.
pub const FAIR_BYTES: u64 = 10 * GIB;

/// The least that is made: what is smaller gets other defaults than a disk would.
const LEAST_BYTES: u64 = GIB;

/// Sizes are whole multiples of it.
const STEP_BYTES: u64 = 64 * MIB;

const BLOCK_BYTES: u64 = 4096;

/// What an inode takes in the file system that uses most: a block of its own in f2fs. It is also
/// more than the 2 KiB that xfs allows for an inode of 512 bytes in a quarter of its space (mkfs.xfs(8), `maxpct`).
const INODE_BYTES: u64 = 4096;

/// Beside what is needed: logs and tables of the file system itself.
const OWN_BYTES: u64 = 256 * MIB;

/// Up to here as much is spared as is needed, and a quarter of what is far more.
const SPARE_BYTES: u64 = 4 * GIB;

/// [`OWN_BYTES`] where the space is filled: as df counts, most of it is in use before or not there.
const FILLED_OWN_BYTES: u64 = 64 * MIB;

/// What an operation leaves behind where nothing is ever overwritten; and one with a sync of its
/// own, which ends a log with its summary and its root.
const OPERATION_BYTES: u64 = 1024;
const SYNC_BYTES: u64 = 32 * 1024;

/// The size that a place must have so that each cell with a file system of its own fits; `None` if
/// there is none.
fn volume_size(plan: &Plan) -> Option<VolumeSize> {
    made(plan).next()?;
    let kinds = made(plan).map(|(_, filesystem)| filesystem.kind.least_bytes);
    let asked = made(plan).map(|(cell, filesystem)| comfortable(plan, cell, filesystem));
    let most = kinds.chain(asked).max().unwrap_or_default().max(LEAST_BYTES);
    volume_size_at(plan, most.checked_next_multiple_of(STEP_BYTES).unwrap_or(u64::MAX))
}

/// The size of a plan's volume in a directory with `spare_bytes` free: large enough that it does
/// not decide, if there is room for that, and no level is a share of it that must be filled.
pub fn fair_volume_size(plan: &Plan, spare_bytes: u64) -> Option<VolumeSize> {
    let needed = volume_size(plan)?;
    let is_fair = is_filled(plan) || needed.bytes >= FAIR_BYTES || spare_bytes < FAIR_BYTES;
    if is_fair { Some(needed) } else { volume_size_at(plan, FAIR_BYTES) }
}

/// The most of a volume of this size that a plan writes to: all of it where it is filled, else what the plan
/// needs.
pub fn written_at_most(plan: &Plan, size: &VolumeSize) -> u64 {
    match volume_size(plan) {
        Some(needed) if !is_filled(plan) => needed.bytes.min(size.bytes),
        _ => size.bytes,
    }
}

/// Whether a volume of this size may decide which file system is faster. One that is filled on purpose is compared with
/// itself where a single kind of file system is made.
pub fn is_small(plan: &Plan, size: &VolumeSize) -> bool {
    let kinds = each_once(made(plan).map(|(_, filesystem)| filesystem.kind.name));
    size.bytes < FAIR_BYTES && (!is_filled(plan) || kinds.len() > 1)
}

/// Whether some level is a share of the volume.
fn is_filled(plan: &Plan) -> bool {
    made(plan).any(|(cell, _)| cell.used_percent().is_some())
}

/// The size of a plan's volume on a place of `bytes`; `None` if no cell has a file system of its own.
pub fn volume_size_at(plan: &Plan, bytes: u64) -> Option<VolumeSize> {
    let inodes = made(plan).map(|(cell, _)| inodes(cell, bytes)).max()?;
    Some(VolumeSize { bytes, inodes })
}

/// Checks that a place of `bytes` is large enough for the plan and each kind in it.
///
/// # Errors
/// If it is too small.
pub fn check_size(plan: &Plan, bytes: u64) -> Result<()> {
    let there = in_bytes(bytes);
    if let Some((_, filesystem)) = made(plan).find(|(_, made)| made.kind.least_bytes > bytes) {
        let (kind, least) = (filesystem.kind.name, in_bytes(filesystem.kind.least_bytes));
        return Err(Failure::failed(format!(
            "{kind} needs {least} at least, and the place for it has {there}. Nothing was written. \
             Give it a larger one"
        )));
    }
    let least = made(plan).map(|(cell, filesystem)| least(plan, cell, filesystem)).max();
    match least.filter(|least| *least > bytes) {
        Some(least) => Err(Failure::failed(format!(
            "the run needs {} on each file system that is made, and the place for them has {there}. \
             Nothing was written. Choose a smaller --scale or fewer files with --set, or give it a \
             larger one",
            in_bytes(least)
        ))),
        None => Ok(()),
    }
}

/// Cells for which a file system is made.
fn made(plan: &Plan) -> impl Iterator<Item = (&CellPlan, &FileSystem)> {
    plan.cells.iter().filter_map(|cell| Some((cell, cell.filesystem.as_ref()?)))
}

/// Bytes that a cell needs, without what the file system itself takes.
fn bare(plan: &Plan, cell: &CellPlan, filesystem: &FileSystem) -> u64 {
    let need = Need::of(cell, BLOCK_BYTES);
    let there = need.bytes.saturating_add(need.inodes.saturating_mul(INODE_BYTES));
    match filesystem.kind.keeps_all {
        true => there.saturating_add(written_of_variant(plan, cell)),
        false => there,
    }
}

/// The least that a place needs for a cell, in bytes.
fn least(plan: &Plan, cell: &CellPlan, filesystem: &FileSystem) -> u64 {
    let bare = bare(plan, cell, filesystem);
    match cell.used_percent() {
        Some(percent) => of_the_rest(bare, percent),
        None => bare,
    }
}

/// What a cell should have, so that no file system runs full on the way: metadata is kept twice
/// (btrfs), what is deleted is not free at once, and each has tables and logs of its own.
fn comfortable(plan: &Plan, cell: &CellPlan, filesystem: &FileSystem) -> u64 {
    let bare = bare(plan, cell, filesystem);
    match cell.used_percent() {
        // All that is spared here is to be filled many times over.
        Some(percent) => {
            let left = bare.saturating_add(bare / 4).saturating_add(FILLED_OWN_BYTES);
            of_the_rest(left, percent)
        }
        None => {
            let spare = bare.min(SPARE_BYTES).max(bare / 4);
            bare.saturating_add(spare).saturating_add(OWN_BYTES)
        }
    }
}

/// The total, if `bytes` remain when `percent` of it are used.
fn of_the_rest(bytes: u64, percent: f64) -> u64 {
    (bytes as f64 / (1.0 - percent / 100.0).max(0.001)) as u64
}

/// Files and directories of a cell on a place of `bytes`, with those that fill it.
fn inodes(cell: &CellPlan, bytes: u64) -> u64 {
    let need = Need::of(cell, BLOCK_BYTES).inodes;
    let (Some(percent), Some(prepare)) = (cell.used_percent(), &cell.prepare) else { return need };
    let tree = &prepare.ballast.tree;
    let block = BLOCK_BYTES as f64;
    let each = (tree.sizes.mean() + block / 2.0).max(block);
    let files = (bytes as f64 * percent / 100.0 / each) as u64;
    let directories = tree.files_each.directories(files).unwrap_or(1);
    need.saturating_add(files).saturating_add(directories)
}

/// Bytes that are ever written to the file system of a cell, which its variant's other levels share
/// and, where it is prepared, its repeats.
fn written_of_variant(plan: &Plan, cell: &CellPlan) -> u64 {
    let cells = plan.cells.iter().filter(|other| other.variant == cell.variant);
    let phases = cells.flat_map(|cell| cell.phases.iter().map(move |phase| (cell, phase)));
    let once = phases.map(|(cell, phase)| written(cell, phase)).fold(0, u64::saturating_add);
    let times = if cell.prepare.is_some() { u64::from(plan.repeats_on_one_place()) } else { 1 };
    once.saturating_mul(times)
}

/// Bytes that one phase writes, contents in whole blocks and what each operation leaves beside.
fn written(cell: &CellPlan, phase: &Phase) -> u64 {
    let operations = phase.operations().unwrap_or_default();
    let works = phase.mix.iter().flat_map(|mix| &mix.works);
    let writes = |work: &&Work| work.steps.iter().any(|s| s.operation.change.writes_content());
    let works = works.filter(writes);
    let mixed = works.map(|work| {
        let turns = phase.work_turns(work).unwrap_or_else(|| cell.tree.capacity());
        contents(work.sizes.unwrap_or(cell.tree.sizes), turns, BLOCK_BYTES)
    });
    let mixed = mixed.fold(0, u64::saturating_add);
    let writes = phase.operation.change.writes_content();
    let content = match writes {
        true => contents(phase.sizes(&cell.tree), operations, BLOCK_BYTES),
        false => mixed,
    };
    let writes = writes || mixed > 0;
    let beside = match phase.durability {
        Durability::None | Durability::Syncfs => OPERATION_BYTES,
        _ if writes => SYNC_BYTES,
        _ => OPERATION_BYTES,
    };
    content.saturating_add(operations.saturating_mul(beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::{KINDS, find_kind, read_list};
    use crate::{Scale, Settings, find_scenario, read_job};

    fn plan_of(text: &str, list: &str, scale: Scale) -> Plan {
        let filesystems = read_list(list).unwrap_or_else(|error| panic!("{error}"));
        let settings =
            Settings { scale, filesystems, memory_bytes: 8 * GIB, ..Settings::default() };
        read_job(text, &settings).unwrap_or_else(|p| panic!("{}", p.report("x")))
    }

    fn scenario(name: &str, list: &str, scale: Scale) -> Plan {
        let scenario = find_scenario(name).unwrap_or_else(|| panic!("no {name}"));
        plan_of(scenario.text, list, scale)
    }

    fn of_scenario(name: &str, list: &str, scale: Scale) -> VolumeSize {
        volume_size(&scenario(name, list, scale)).unwrap_or_else(|| panic!("{name} needs no room"))
    }

    #[test]
    fn a_plan_on_what_is_there_needs_no_place() {
        let text = find_scenario("smallfiles").map(|scenario| scenario.text).unwrap_or_default();
        let plan = read_job(text, &Settings::default()).unwrap_or_else(|_| panic!("a good job"));
        assert_eq!((volume_size(&plan), volume_size_at(&plan, GIB)), (None, None));
        assert!(check_size(&plan, 0).is_ok());
    }

    #[test]
    fn scenarios_get_places_of_a_sane_size() {
        let rooms = [
            ("smallfiles", Scale::Quick, 1..=2, 10_000),
            ("smallfiles", Scale::Original, 3..=9, 300_000),
            ("directory", Scale::Original, 3..=8, 400_000),
            ("fullness", Scale::Quick, 1..=1, 1_000),
            ("fullness", Scale::Original, 25..=60, 10_000),
            ("clutter", Scale::Quick, 1..=2, 40_000),
            ("clutter", Scale::Original, 34..=60, 2_000_000),
        ];
        for (name, scale, gibs, inodes) in rooms {
            let room = of_scenario(name, "ext4,xfs", scale);
            let (least, most) = (gibs.start() * GIB, gibs.end() * GIB);
            assert!((least..=most).contains(&room.bytes), "{name}: {}", in_bytes(room.bytes));
            assert_eq!(room.bytes % STEP_BYTES, 0, "{name}");
            assert!((inodes..10 * inodes).contains(&room.inodes), "{name}: {}", room.inodes);
        }
    }

    #[test]
    fn what_is_never_freed_is_counted_as_often_as_it_is_written() {
        let of = |list| of_scenario("smallfiles", list, Scale::Original).bytes;
        assert!(of("nilfs2") > of("ext4") + GIB, "{} {}", of("nilfs2"), of("ext4"));
        assert_eq!(of("ext4,nilfs2"), of("nilfs2"), "one size for all");
    }

    #[test]
    fn a_place_that_is_filled_has_inodes_for_the_files_that_fill_it() {
        let text = "name = 'x'\n[tree]\nfiles = 1\n[axis]\nname = 'full'\nvalues = ['50%']\n\
                    prepare = { fill = { sizes = '4KiB' } }\n[[phase]]\noperation = 'create'\n";
        let room =
            volume_size(&plan_of(text, "ext4", Scale::Quick)).unwrap_or_else(|| panic!("none"));
        // Half of 1 GiB in files of 4 KiB, and the half block that a drawn size would end in.
        assert!((85_000..=131_072).contains(&room.inodes), "{}", room.inodes);
    }

    #[test]
    fn what_is_measured_fits_into_what_the_highest_level_leaves() {
        for scale in Scale::ALL {
            let plan = scenario("fullness", "ext4", scale);
            let room = volume_size(&plan).unwrap_or_else(|| panic!("none"));
            for cell in &plan.cells {
                let left = room.bytes as f64 * (1.0 - cell.used_percent().unwrap_or(0.0) / 100.0);
                assert!(left > Need::of(cell, BLOCK_BYTES).bytes as f64, "{}", cell.variant);
            }
            assert!(check_size(&plan, room.bytes).is_ok());
        }
    }

    #[test]
    fn a_place_that_is_too_small_is_told_with_what_it_lacks() {
        let plan = scenario("smallfiles", "ext4,xfs", Scale::Original);
        let small = check_size(&plan, GIB).err().map(|failure| failure.sentence);
        let small = small.unwrap_or_default();
        assert!(small.contains("has 1.00 GiB") && small.contains("Nothing was written"), "{small}");
        let tiny = check_size(&scenario("smallfiles", "ext4,xfs", Scale::Quick), 200 * MIB);
        let tiny = tiny.err().map(|failure| failure.sentence).unwrap_or_default();
        assert!(tiny.contains("xfs needs 320 MiB at least"), "{tiny}");
        assert!(check_size(&plan, 1 << 50).is_ok());
    }

    #[test]
    fn every_kind_has_the_room_it_needs_for_the_smallest_plan() {
        let text = "name = 'x'\n[tree]\nfiles = 1\n[[phase]]\noperation = 'create'\n";
        for kind in &KINDS {
            let plan = plan_of(text, kind.name, Scale::Quick);
            assert_eq!(
                volume_size(&plan).map(|room| room.bytes),
                Some(LEAST_BYTES),
                "{}",
                kind.name
            );
            assert!(check_size(&plan, LEAST_BYTES).is_ok(), "{}", kind.name);
        }
        assert!(find_kind("xfs").is_some_and(|kind| kind.least_bytes <= LEAST_BYTES));
    }

    #[test]
    fn more_than_there_is_anywhere_is_not_wrapped_to_a_little() {
        let text = "name = 'x'\n[tree]\nfiles = 17_592_186_044_416\nsize = 1\n\
                    [[phase]]\noperation = 'create'\n";
        let room =
            volume_size(&plan_of(text, "nilfs2", Scale::Quick)).unwrap_or_else(|| panic!("none"));
        assert!(room.bytes > 1 << 58, "{}", room.bytes);
    }
}
