//! Creates, reads, stats and deletes files: through boatload, and by a bare loop of the same system calls without any
//! timing.

use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Barrier};

use boatload::op::find_operation;
use boatload::plan::phase::PastChange;
use boatload::plan::selection::{EntryRange, Order, Selection};
use boatload::plan::tree::{Content, DirectoryLayout, FilesEach, Placement, Sizes};
use boatload::plan::{Phase, Tree};
use boatload::results::recorder::{PhaseRecorder, merge};
use boatload::run::clock::RealClock;
use boatload::run::drive::DoneCount;
use boatload::run::engine::sync::{OpenTree, SyncEngine};
use boatload::run::workers::{PhaseTask, run_workers};

use crate::{in_turns, print_ratios};

pub const FILES: u64 = 100_000;
pub const FILE_BYTES: usize = 1024;
const BLOCK: u32 = 1 << 20;
pub const OPERATIONS: [&str; 4] = ["create", "read", "stat", "delete"];

/// With one and with two threads, on one file system.
pub fn all(filesystem: &str, place: &Path, rounds: usize, clock: &RealClock) {
    for threads in [1, 2] {
        let ours = |at: &Path| {
            our_phases(at, threads, FILE_BYTES, clock).iter().map(|run| run.seconds).collect()
        };
        let bare = |at: &Path| bare_loops(at, threads, clock);
        let ratios = in_turns(place, rounds, ours, bare);
        for (operation, ratios) in OPERATIONS.iter().zip(ratios) {
            let what = format!("{operation}, {filesystem}, {threads} thread(s)");
            print_ratios(
                "a bare loop",
                &what,
                ratios,
                if *operation == "stat" { 0.96 } else { 0.98 },
            );
        }
    }
}

/// What a phase took.
pub struct PhaseTimes {
    pub seconds: f64,
    pub median_ns: f64,
}

/// The phases of all operations through boatload.
pub fn our_phases(
    directory: &Path,
    threads: u32,
    file_bytes: usize,
    clock: &RealClock,
) -> Vec<PhaseTimes> {
    let tree = Tree {
        files: FILES,
        files_max: None,
        layout: DirectoryLayout::flat(1),
        placement: Placement::Fill,
        files_each: FilesEach::Even,
        roots: 1,
        part: None,
        sizes: Sizes::Fixed(file_bytes as u64),
        chunks: None,
        content: Content::Random,
        seed: 1,
    };
    let root = std::fs::File::open(directory).unwrap();
    let shared = Arc::new(OpenTree::open(tree, root.into(), u64::from(threads), true).unwrap());
    OPERATIONS.iter().map(|name| one_phase(name, &shared, threads, clock)).collect()
}

fn one_phase(name: &str, shared: &Arc<OpenTree>, threads: u32, clock: &RealClock) -> PhaseTimes {
    let operation = find_operation(name).unwrap();
    let selection = Selection::new(EntryRange::whole(0, FILES), Order::Sequential, 1, 1, 0);
    let created = PastChange {
        change: boatload::op::Change::NewSize,
        selection: selection.clone(),
        sizes: None,
    };
    let history = if name == "create" { vec![] } else { vec![created] };
    let phase = Phase { block: BLOCK, history, ..Phase::bare(operation, selection, threads) };
    let mut recorders: Vec<PhaseRecorder> =
        (0..threads).map(|w| PhaseRecorder::new(phase.turns(w), None)).collect();
    let done: Vec<DoneCount> = DoneCount::of_workers(threads);
    let stop = AtomicBool::new(false);
    let task = PhaseTask { phase: &phase, tree: &shared.tree, stop: &stop, done: &done };
    let run = run_workers(task, &mut recorders, |worker| {
        (SyncEngine::new(Arc::clone(shared), worker, &phase), clock.clone())
    });
    assert_eq!(run.operations, FILES, "{name}: {:?}", run.errors);
    let median_ns = merge(recorders, None).latency.p50 as f64;
    PhaseTimes { seconds: run.seconds, median_ns }
}

/// Seconds of each operation's phase in a bare loop.
fn bare_loops(directory: &Path, threads: u32, clock: &RealClock) -> Vec<f64> {
    let directory = std::fs::File::open(directory).unwrap();
    let fd = directory.as_raw_fd();
    OPERATIONS.iter().map(|name| bare_phase(name, fd, threads, clock)).collect()
}

fn bare_phase(operation: &str, directory: RawFd, threads: u32, clock: &RealClock) -> f64 {
    let barrier = Barrier::new(threads as usize + 1);
    std::thread::scope(|scope| {
        for worker in 0..threads {
            let barrier = &barrier;
            scope.spawn(move || {
                let mut buffer = vec![0x5au8; BLOCK as usize];
                barrier.wait();
                bare_worker(operation, directory, worker, threads, &mut buffer);
                barrier.wait();
            });
        }
        barrier.wait();
        clock.time(|| barrier.wait()).1
    })
}

fn bare_worker(operation: &str, dir: RawFd, worker: u32, step: u32, buffer: &mut [u8]) {
    match operation {
        "create" => bare_loop(worker, step, |name| {
            let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
            let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
            // SAFETY: the name ends in NUL, and the buffer is longer than a file.
            unsafe {
                let file = libc::openat(dir, name, flags, 0o600);
                let moved = libc::write(file, buffer.as_ptr().cast(), FILE_BYTES);
                libc::close(file);
                moved == FILE_BYTES as isize
            }
        }),
        "read" => bare_loop(worker, step, |name| {
            let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
            // SAFETY: the name ends in NUL, and the buffer is as long as the call is told.
            unsafe {
                let file = libc::openat(dir, name, flags);
                let moved = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
                libc::close(file);
                moved == FILE_BYTES as isize
            }
        }),
        "stat" => bare_loop(worker, step, |name| {
            let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
            // SAFETY: the name ends in NUL, and the struct is the one the call fills.
            unsafe { libc::fstatat(dir, name, stat.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW) == 0 }
        }),
        // SAFETY: the name ends in NUL.
        _ => bare_loop(worker, step, |name| unsafe { libc::unlinkat(dir, name, 0) == 0 }),
    }
}

/// Calls for every name that is the worker's, and does nothing else.
#[inline(always)]
fn bare_loop(worker: u32, step: u32, mut call: impl FnMut(*const libc::c_char) -> bool) {
    let turns = (FILES - u64::from(worker)).div_ceil(u64::from(step));
    let mut name = *b"f0000000000\0";
    add(&mut name, worker);
    for _ in 0..turns {
        assert!(call(name.as_ptr().cast()), "a call on {name:?} failed");
        add(&mut name, step);
    }
}

/// Counts up in the digits of a name: the cheapest way to the next one.
fn add(name: &mut [u8; 12], step: u32) {
    for _ in 0..step {
        for digit in name[1..11].iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                break;
            }
            *digit = b'0';
        }
    }
}
