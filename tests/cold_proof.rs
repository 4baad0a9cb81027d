//! That nothing is called cold which somebody else brought into memory: before the last look, after
//! it, while the phase runs, and in a cache beneath the device.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

mod common;

#[path = "common/library.rs"]
mod library;

use std::fmt::Debug;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use boatload::host::block_device::BlockDevice;
use boatload::host::facts::HostFacts;
use boatload::host::mounts::Mount;
use boatload::plan::Phase;
use boatload::results::book::Book;
use boatload::run::cache::{CacheState, CacheVerdict, Doubt, OwnDropper, ReadEvidence};
use boatload::run::clock::RealClock;
use boatload::run::drive::{DoneCount, Recorder};
use boatload::run::interrupt::Interrupt;
use boatload::run::run_directory::{RunDirectory, open_parent};
use boatload::run::site::{DirectorySite, Site};
use boatload::session::{PhaseContext, Watcher};
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
  { operation = "read" },
  { operation = "rewrite", durability = "syncfs" },
  { operation = "delete" },
]
"#;

const AFTER_CREATE: [&str; 4] = ["stat", "read", "rewrite", "delete"];

const TRIES: usize = 5;

/// Caches are dropped for the whole machine, so one test at a time plants.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whoever else tests on this machine drops its caches too, and then what was planted is gone: so it
/// must come as expected in one of a few tries.
#[track_caller]
fn comes<T: PartialEq + Debug>(expected: &T, what: &str, mut of: impl FnMut() -> T) {
    let mut found = Vec::new();
    while found.len() < TRIES && found.last() != Some(expected) {
        found.push(of());
    }
    assert_eq!(found.last(), Some(expected), "{what}: {found:?}");
}

/// The same for each phase alone.
#[track_caller]
fn each_comes(expected: &FoundAndDoubt, what: &str, mut of: impl FnMut() -> FoundAndDoubt) {
    let mut tries: Vec<FoundAndDoubt> = Vec::new();
    let came =
        |tries: &[FoundAndDoubt], at: usize| tries.iter().any(|found| found[at] == expected[at]);
    while tries.len() < 2 * TRIES && !(0..expected.len()).all(|at| came(&tries, at)) {
        tries.push(of());
    }
    for (at, phase) in AFTER_CREATE.iter().enumerate() {
        assert!(came(&tries, at), "{what}: {phase} was never {:?}: {tries:?}", expected[at]);
    }
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
    /// In another process. What it read counts as this one's when the caller has waited for it, so that is left
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
    fn phase_begins(&self, standing: &PhaseContext<'_>, _: Arc<[DoneCount]>) {
        if standing.phase.name != "create" {
            let names = names_in(&self.directory);
            let run_directory = names.iter().find(|name| name.starts_with("boatload-")).unwrap();
            ended(self.plant.into_memory(&self.directory.join(run_directory)));
        }
    }
}

fn planted(job: &str, directory: &Path, plant: Plant) -> Book {
    let planter = Planter { directory: directory.into(), plant };
    let place = Place::default();
    place.try_run(&plan_of(job), directory, &planter, &Interrupt::default()).unwrap()
}

/// What was found of the caches in each phase after the first, with the doubt.
type FoundAndDoubt = [(CacheState, Option<Doubt>); 4];

fn found(book: &Book) -> FoundAndDoubt {
    AFTER_CREATE.map(|phase| {
        let cache = &only(book, phase).cache;
        (cache.found, cache.reason)
    })
}

fn all(found: CacheState, doubt: Option<Doubt>) -> FoundAndDoubt {
    AFTER_CREATE.map(|_| (found, doubt))
}

fn cold() -> FoundAndDoubt {
    all(CacheState::ColdVerified, None)
}

fn before_the_last_look(fs: &str, megabytes: u64) {
    let _alone = alone();
    let Some(mounted) = LoopMount::new(fs, megabytes) else { return };
    comes(&cold(), fs, || found(&planted(JOB, mounted.path(), Plant::Nothing)));
    for plant in [Plant::Content(2), Plant::Names(2)] {
        let doubts = || found(&planted(JOB, mounted.path(), plant)).map(|(_, doubt)| doubt);
        comes(&[Some(Doubt::StillCached); 4], fs, doubts);
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

/// Unmounted and mounted anew nothing is open, and yet the caches are checked.
#[test]
fn on_a_file_system_just_mounted_what_others_read_is_not_called_cold() {
    let _alone = alone();
    let Some(mounted) = LoopMount::new("ext4", 1400) else { return };
    let job = format!("filesystem = {{ type = \"ext4\" }}\n{}", JOB.trim());
    comes(&cold(), "made", || found(&planted(&job, mounted.path(), Plant::Nothing)));
    for plant in [Plant::Content(2), Plant::Names(2)] {
        let expected = all(CacheState::Unverified, Some(Doubt::StillCached));
        comes(&expected, "made", || found(&planted(&job, mounted.path(), plant)));
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

fn work(site: &dyn Site, phase: &Phase) -> (u64, u64) {
    let done: Vec<DoneCount> = DoneCount::of_workers(phase.threads);
    let mut nobody: Vec<_> = (0..phase.threads).map(|_| Unrecorded).collect();
    let run = site.engines().work(phase, &AtomicBool::new(false), &done, &mut nobody);
    assert_eq!(run.errors.len(), 0);
    (run.operations, run.bytes)
}

/// One phase as the session runs it.
fn measured(site: &mut dyn Site, phase: &Phase, plant: (Plant, When, &Path)) -> CacheVerdict {
    let found = site.prepare_caches(phase, &AtomicBool::new(false), &OwnDropper).unwrap();
    let found = site.recheck_caches(found, phase, &OwnDropper).unwrap();
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
    let evidence = ReadEvidence { operations, bytes, read, others_read_bytes: Some(0) };
    site.confirm(found, phase, &evidence)
}

fn after_the_last_look(fs: &str, megabytes: u64) {
    let _alone = alone();
    let Some(mounted) = LoopMount::new(fs, megabytes) else { return };
    // So many that what this process needs of its own program does not matter.
    let plan = plan_of(&JOB.replace("600", "3000"));
    let cell = &plan.cells[0];
    for (phase, plant) in [("read", Plant::Content(2)), ("stat", Plant::Names(1))] {
        let open = std::fs::File::open(mounted.path()).unwrap();
        let host = HostFacts::gather(open.as_fd()).unwrap();
        let device = BlockDevice::under(&Mount::of(open.as_fd()).unwrap());
        let parent = open_parent(mounted.path()).unwrap();
        let run_directory =
            RunDirectory::make(parent, mounted.path(), "01a", &AtomicBool::new(false)).unwrap();
        let tree = mounted.path().join(run_directory.name());
        let mut site = DirectorySite::new(run_directory, &host, device, RealClock::new()).unwrap();
        site.begin_cell(cell).unwrap();
        work(&site, &cell.phases[0]);
        site.sync().unwrap();
        let phase = cell.phases.iter().find(|p| p.name == phase).unwrap();
        let mut of = |plant, when| {
            measured(&mut site, phase, (plant, when, &tree)).doubt.map(|doubt| doubt.as_str())
        };
        let what = format!("{fs} {}", phase.name);
        comes(&None, &what, || of(Plant::Nothing, When::AfterTheLook));
        comes(&Some("device-read-too-little"), &what, || of(plant, When::AfterTheLook));
        comes(&Some("read-by-others"), &what, || of(plant, When::WhileItRuns));
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
    fn phase_begins(&self, _: &PhaseContext<'_>, _: Arc<[DoneCount]>) {
        let status = Command::new("cat").arg(&self.0).stdout(Stdio::null()).status();
        assert!(status.unwrap().success());
    }
}

fn planted_beneath(mounted: &LoopMount, job: &str) -> Book {
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
    let expected = all(CacheState::Unverified, Some(Doubt::LowerCache));
    each_comes(&expected, "planted", || found(&planted_beneath(&mounted, JOB)));
    each_comes(&cold(), "left alone", || found(&planted(JOB, mounted.path(), Plant::Nothing)));
    assert!(mounted.switch_direct_io(true));
    each_comes(&cold(), "around that cache", || found(&planted_beneath(&mounted, JOB)));
}

#[test]
fn a_file_system_whose_image_lies_in_memory_is_never_cold_through_a_cache() {
    let _alone = alone();
    let Some(mounted) = LoopMount::in_memory("ext4", 96) else { return };
    mounted.switch_direct_io(false);
    let book = planted(JOB, mounted.path(), Plant::Nothing);
    assert_eq!(found(&book), all(CacheState::Unverified, Some(Doubt::LowerCache)));
}

#[test]
fn a_device_read_through_a_cache_beneath_is_not_called_cold() {
    let _alone = alone();
    let Some(mounted) = LoopMount::new("ext4", 96) else { return };
    if !mounted.switch_direct_io(false) {
        return skip("a loop device without direct I/O", "losetup cannot switch it off");
    }
    let job = READ_DEVICE;
    let cache = |book: &Book| only(book, "read-device").cache.clone();
    let planted = cache(&planted_beneath(&mounted, job));
    assert_eq!((planted.found, planted.reason), (CacheState::Unverified, Some(Doubt::LowerCache)));
    assert!(mounted.switch_direct_io(true));
    assert_eq!(cache(&planted_beneath(&mounted, job)).found, CacheState::ColdVerified);
}
