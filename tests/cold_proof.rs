//! That nothing is called cold which somebody else brought into memory: before the last look, after
//! it, while the phase runs, and in a cache beneath the device.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so when it cannot go on"
)]

mod common;

#[path = "common/library.rs"]
mod library;

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use boatload::host::device::BlockDevice;
use boatload::host::facts::HostFacts;
use boatload::host::mount::Mount;
use boatload::measure::book::{Measurement, ResultBook};
use boatload::plan::Phase;
use boatload::run::cache::CacheFound;
use boatload::run::clock::RealClock;
use boatload::run::drive::{DoneCount, Recorder};
use boatload::run::evidence::Evidence;
use boatload::run::ground::{Ground, open_parent};
use boatload::run::interrupt::Interrupt;
use boatload::run::site::{DiskSite, Site};
use boatload::session::{Standing, Watcher};
use common::{LoopMount, skip};
use library::{Place, names_in, only, plan_of};

/// 600 files; each phase but the first is to be cold.
const JOB: &str = r#"
name = "proof"
question = "?"
repeats = 1
cache = "cold"
tree = { files = 600, size = "8KiB" }
phase = [
  { operation = "create", durability = "syncfs" },
  { operation = "stat" },
  { operation = "open" },
  { operation = "read" },
  { operation = "rewrite", durability = "syncfs" },
  { operation = "read", name = "again" },
  { operation = "rename" },
  { operation = "delete" },
]
"#;

const AFTER_CREATE: [&str; 7] = ["stat", "open", "read", "rewrite", "again", "rename", "delete"];

/// Caches are dropped for the whole machine, so one test at a time plants.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What somebody else does to the files of a tree.
#[derive(Clone, Copy)]
enum Plant {
    Nothing,
    /// Reads each `n`th.
    Content(usize),
    /// Asks for the inode of each `n`th.
    Names(usize),
}

impl Plant {
    /// In another process. What it read counts as this one's when it is waited for, so that is left
    /// to the caller.
    fn into_memory(self, directory: &Path) -> Option<Child> {
        let (program, each) = match self {
            Plant::Nothing => return None,
            Plant::Content(each) => ("cat", each),
            Plant::Names(each) => ("stat", each),
        };
        let mut files = Vec::new();
        below(directory, &mut files);
        files.sort();
        let mut command = Command::new(program);
        command.arg("--").args(files.iter().step_by(each)).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::copy(&mut child.stdout.take().unwrap(), &mut std::io::sink()).unwrap();
        Some(child)
    }
}

fn ended(child: Option<Child>) {
    assert!(child.is_none_or(|mut child| child.wait().unwrap().success()));
}

fn below(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => below(&entry.path(), files),
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

/// Plants when a phase is about to begin, just before the last look.
struct Planter {
    directory: PathBuf,
    plant: Plant,
}

impl Watcher for Planter {
    fn says(&self, _: &str) {}
    fn phase_begins(&self, standing: &Standing<'_>, _: Arc<[DoneCount]>) {
        if standing.phase.name != "create" {
            let names = names_in(&self.directory);
            let ground = names.iter().find(|name| name.starts_with("boatload-")).unwrap();
            ended(self.plant.into_memory(&self.directory.join(ground)));
        }
    }
    fn phase_ends(&self, _: &Standing<'_>, _: &Measurement) {}
}

fn planted(job: &str, directory: &Path, plant: Plant) -> ResultBook {
    let planter = Planter { directory: directory.into(), plant };
    let place = Place::default();
    place.try_run(&plan_of(job), directory, &planter, &Interrupt::default()).unwrap()
}

/// What was found of the caches in each phase after the first, with the doubt.
fn found(book: &ResultBook) -> Vec<(&str, Option<&str>)> {
    let cache = |phase| &only(book, phase).cache;
    let of = |phase| (cache(phase).found.as_str(), cache(phase).reason.as_deref());
    AFTER_CREATE.into_iter().map(of).collect()
}

const COLD: (&str, Option<&str>) = ("cold-verified", None);

fn before_the_last_look(fs: &str, megabytes: u64) {
    let _alone = alone();
    let Some(mounted) = LoopMount::new(fs, megabytes) else { return };
    let left_alone = planted(JOB, mounted.path(), Plant::Nothing);
    assert_eq!(found(&left_alone), [COLD; 7], "{fs}: nobody planted anything");
    for plant in [Plant::Content(2), Plant::Names(2)] {
        for (phase, found) in AFTER_CREATE.iter().zip(found(&planted(JOB, mounted.path(), plant))) {
            assert_eq!(found.1, Some("still-cached"), "{fs}: {phase}");
            assert_ne!(found.0, COLD.0);
        }
    }
}

#[test]
fn on_ext4_what_others_read_before_a_phase_is_not_called_cold() {
    before_the_last_look("ext4", 96);
}

#[test]
fn on_xfs_what_others_read_before_a_phase_is_not_called_cold() {
    before_the_last_look("xfs", 320);
}

#[test]
fn on_btrfs_what_others_read_before_a_phase_is_not_called_cold() {
    before_the_last_look("btrfs", 160);
}

/// Unmounted and mounted anew nothing is open, and yet it is looked at.
#[test]
fn on_a_file_system_just_mounted_what_others_read_is_not_called_cold() {
    let _alone = alone();
    let Some(mounted) = LoopMount::new("ext4", 1400) else { return };
    let job = format!("filesystem = {{ type = \"ext4\" }}\n{}", JOB.trim());
    let left_alone = planted(&job, mounted.path(), Plant::Nothing);
    assert_eq!(found(&left_alone), [COLD; 7]);
    for plant in [Plant::Content(2), Plant::Names(2)] {
        let book = planted(&job, mounted.path(), plant);
        assert_eq!(found(&book), [("unverified", Some("still-cached")); 7]);
    }
}

/// When somebody else brings files into memory.
#[derive(Clone, Copy)]
enum When {
    AfterTheLook,
    WhileItRuns,
}

struct Unrecorded;

impl Recorder for Unrecorded {
    fn record(&mut self, _: u64, _: u64) {}
}

fn work(site: &Site, phase: &Phase) -> (u64, u64) {
    let done: Vec<DoneCount> = DoneCount::of_workers(phase.threads);
    let mut nobody: Vec<_> = (0..phase.threads).map(|_| Unrecorded).collect();
    let run = site.work(phase, &AtomicBool::new(false), &done, &mut nobody);
    assert_eq!(run.errors.iter().count(), 0);
    (run.operations, run.bytes)
}

/// One phase as the session runs it.
fn measured(site: &mut Site, phase: &Phase, plant: (Plant, When, &Path)) -> CacheFound {
    let found = site.treat_caches(phase, &AtomicBool::new(false)).unwrap();
    let found = site.look_again(found, phase);
    let (what, when, directory) = plant;
    if matches!(when, When::AfterTheLook) {
        ended(what.into_memory(directory));
    }
    let before = site.readings();
    let during = matches!(when, When::WhileItRuns);
    let other = if during { what.into_memory(directory) } else { None };
    let (operations, bytes) = work(site, phase);
    let read = site.readings().since(before);
    ended(other);
    let evidence = Evidence { operations, bytes, read, others_read_bytes: 0 };
    site.confirm(found, phase, &evidence)
}

fn after_the_last_look(fs: &str, megabytes: u64) {
    let _alone = alone();
    let Some(mounted) = LoopMount::new(fs, megabytes) else { return };
    // So many that what this process needs of its own program does not matter.
    let plan = plan_of(&JOB.replace("600", "3000"));
    let cell = &plan.cells[0];
    for (phase, plant) in
        [("read", Plant::Content(2)), ("stat", Plant::Names(1)), ("open", Plant::Names(1))]
    {
        let open = std::fs::File::open(mounted.path()).unwrap();
        let host = HostFacts::gather(open.as_fd()).unwrap();
        let device = BlockDevice::under(&Mount::of(open.as_fd()).unwrap());
        let parent = open_parent(mounted.path()).unwrap();
        let ground = Ground::make(parent, mounted.path(), "01a").unwrap();
        let tree = mounted.path().join(ground.name());
        let disk = DiskSite::new(ground, &host, device, RealClock::new()).unwrap();
        let mut site = Site::Disk(Box::new(disk));
        site.begin_cell(cell).unwrap();
        work(&site, &cell.phases[0]);
        site.sync().unwrap();
        let phase = cell.phases.iter().find(|p| p.name == phase).unwrap();
        let mut of = |plant, when| measured(&mut site, phase, (plant, when, &tree));
        let left_alone = of(Plant::Nothing, When::AfterTheLook);
        assert_eq!(left_alone.found.word(), "cold-verified", "{fs} {phase:?}: {left_alone:?}");
        for (when, expected) in
            [(When::AfterTheLook, "device-read-too-little"), (When::WhileItRuns, "read-by-others")]
        {
            let found = of(plant, when);
            let doubt = found.doubt.map(|doubt| doubt.word());
            assert_eq!(doubt, Some(expected), "{fs} {}: {found:?}", phase.name);
        }
    }
}

#[test]
fn on_ext4_what_others_read_during_a_phase_is_not_called_cold() {
    after_the_last_look("ext4", 96);
}

#[test]
fn on_xfs_what_others_read_during_a_phase_is_not_called_cold() {
    after_the_last_look("xfs", 320);
}

#[test]
fn on_btrfs_what_others_read_during_a_phase_is_not_called_cold() {
    after_the_last_look("btrfs", 160);
}

/// Reads the file behind the loop device when a phase is about to begin.
struct PlanterBeneath(PathBuf);

impl Watcher for PlanterBeneath {
    fn says(&self, _: &str) {}
    fn phase_begins(&self, _: &Standing<'_>, _: Arc<[DoneCount]>) {
        let status = Command::new("cat").arg(&self.0).stdout(Stdio::null()).status();
        assert!(status.unwrap().success());
    }
    fn phase_ends(&self, _: &Standing<'_>, _: &Measurement) {}
}

fn planted_beneath(mounted: &LoopMount, job: &str) -> ResultBook {
    let planter = PlanterBeneath(mounted.image());
    let place = Place::default();
    place.try_run(&plan_of(job), mounted.path(), &planter, &Interrupt::default()).unwrap()
}

const READ_DEVICE: &str = "name = \"x\"\nquestion = \"?\"\nrepeats = 1\n[[phase]]\n\
     operation = \"read-device\"\ncount = 8\ndirect = true\ncache = \"cold\"\n";

#[test]
fn what_the_cache_beneath_a_loop_device_had_is_not_called_cold() {
    let _alone = alone();
    let Some(mounted) = LoopMount::new("ext4", 96) else { return };
    if !mounted.switch_direct_io(false) {
        return skip("a loop device without direct I/O", "losetup cannot switch it off");
    }
    let book = planted_beneath(&mounted, JOB);
    assert_eq!(found(&book), [("unverified", Some("lower-cache")); 7]);
    // Others may read much from the same disk meanwhile, and then it cannot be told.
    let alone = |_| found(&planted(JOB, mounted.path(), Plant::Nothing)) == [COLD; 7];
    assert!((0..10).any(alone), "not once was all of it cold, though nobody planted anything");
    assert!(mounted.switch_direct_io(true));
    assert_eq!(found(&planted_beneath(&mounted, JOB)), [COLD; 7], "around that cache");
}

#[test]
fn a_device_read_through_a_cache_beneath_is_not_called_cold() {
    let _alone = alone();
    let Some(mounted) = LoopMount::new("ext4", 96) else { return };
    if !mounted.switch_direct_io(false) {
        return skip("a loop device without direct I/O", "losetup cannot switch it off");
    }
    let job = READ_DEVICE;
    let cache = |book: &ResultBook| only(book, "read-device").cache.clone();
    let planted = cache(&planted_beneath(&mounted, job));
    assert_eq!((&*planted.found, planted.reason.as_deref()), ("unverified", Some("lower-cache")));
    assert!(mounted.switch_direct_io(true));
    assert_eq!(cache(&planted_beneath(&mounted, job)).found, "cold-verified");
}
