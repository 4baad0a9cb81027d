//! Creates, reads, stats and deletes files: through boatload, and by a bare loop of the same system calls without any
//! timing.

use std::fs::File;
use std::ops::Range;
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
use boatload::run::clock::{Clock, RealClock};
use boatload::run::drive::DoneCount;
use boatload::run::engine::sync::{OpenTree, SyncEngine};
use boatload::run::workers::{PhaseTask, run_workers};

use crate::print_ratios;

pub const FILES: u64 = 100_000;
pub const FILE_BYTES: usize = 1024;
const BLOCK: u32 = 1 << 20;
pub const OPERATIONS: [&str; 4] = ["create", "read", "stat", "delete"];

/// Slices in which the two take turns within a phase.
const SLICES: u64 = 20;

/// With one and with two threads, on one file system. Each of both has a directory, and after each slice of a phase of one
/// comes the same slice of the other, so that other load on the machine slows both.
pub fn all(filesystem: &str, place: &Path, rounds: usize, clock: &RealClock) {
    for threads in [1, 2] {
        let mut ratios = [const { Vec::new() }; OPERATIONS.len()];
        // The first round touches memory for the first time.
        for round in 0..=rounds {
            let places = ["ours", "bare"].map(|name| place.join(name));
            places.iter().for_each(|place| std::fs::create_dir(place).unwrap());
            let shared = open_tree(&places[0], threads, FILE_BYTES);
            // As for boatload: an open directory that two workers used would make them wait for its reference count.
            let bare: Vec<File> = (0..threads).map(|_| File::open(&places[1]).unwrap()).collect();
            for (name, ratios) in OPERATIONS.iter().zip(&mut ratios) {
                let ratio = bare_over_ours(name, &shared, &bare, clock);
                ratios.extend((round > 0).then_some(ratio));
            }
            places.iter().for_each(|place| std::fs::remove_dir_all(place).unwrap());
        }
        for (operation, ratios) in OPERATIONS.iter().zip(ratios) {
            let what = format!(
                "{operation}, {filesystem}, {threads} {}",
                if threads == 1 { "thread" } else { "threads" }
            );
            let wanted = if *operation == "stat" { 0.96 } else { 0.98 };
            print_ratios("a bare loop", &what, ratios, wanted);
        }
    }
}

/// Does one operation to all files in both ways, in turns.
fn bare_over_ours(name: &str, shared: &Arc<OpenTree>, bare: &[File], clock: &RealClock) -> f64 {
    let mut recorders = new_recorders(FILES, bare.len() as u32);
    let (mut own, mut other) = (0.0, 0.0);
    for slice in 0..SLICES {
        let files = slice * FILES / SLICES..(slice + 1) * FILES / SLICES;
        for is_ours in [slice % 2 == 0, slice % 2 != 0] {
            match is_ours {
                true => own += one_phase(name, files.clone(), shared, &mut recorders, clock),
                false => other += bare_phase(name, files.clone(), bare, clock),
            }
        }
    }
    other / own
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
    let shared = open_tree(directory, threads, file_bytes);
    let phase = |name: &&str| {
        let mut recorders = new_recorders(FILES, threads);
        let seconds = one_phase(name, 0..FILES, &shared, &mut recorders, clock);
        PhaseTimes { seconds, median_ns: merge(recorders, None).latency.p50 as f64 }
    };
    OPERATIONS.iter().map(phase).collect()
}

fn open_tree(directory: &Path, threads: u32, file_bytes: usize) -> Arc<OpenTree> {
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
    let root = File::open(directory).unwrap();
    Arc::new(OpenTree::open(tree, root.into(), u64::from(threads), true).unwrap())
}

fn new_recorders(turns: u64, threads: u32) -> Vec<PhaseRecorder> {
    let turns = turns.div_ceil(u64::from(threads));
    (0..threads).map(|_| PhaseRecorder::new(Some(turns), None)).collect()
}

/// Seconds of a phase through boatload.
fn one_phase(
    name: &str,
    files: Range<u64>,
    shared: &Arc<OpenTree>,
    recorders: &mut [PhaseRecorder],
    clock: &RealClock,
) -> f64 {
    let operation = find_operation(name).unwrap();
    let count = files.end - files.start;
    let range = EntryRange::whole(files.start, count);
    let selection = Selection::new(range, Order::Sequential, 1, 1, 0);
    let created = PastChange {
        change: boatload::op::Change::NewSize,
        selection: selection.clone(),
        sizes: None,
    };
    let history = if name == "create" { vec![] } else { vec![created] };
    let threads = recorders.len() as u32;
    let phase = Phase { block: BLOCK, history, ..Phase::bare(operation, selection, threads) };
    let done: Vec<DoneCount> = DoneCount::of_workers(threads);
    let stop = AtomicBool::new(false);
    let task = PhaseTask { phase: &phase, tree: &shared.tree, stop: &stop, done: &done };
    let run = run_workers(task, recorders, |worker| {
        (SyncEngine::new(Arc::clone(shared), worker, &phase), clock.clone())
    });
    assert_eq!(run.operations, count, "{name}: {:?}", run.errors);
    run.seconds
}

/// Seconds of a phase in a bare loop: as for a phase through boatload from the first start to the last end, and without a
/// thread of its own for a single worker.
fn bare_phase(operation: &str, files: Range<u64>, directories: &[File], clock: &RealClock) -> f64 {
    let threads = directories.len() as u32;
    let start = Barrier::new(directories.len());
    let one = |worker: u32| {
        let mut buffer = vec![0x5au8; BLOCK as usize];
        let own = files.start + u64::from(worker)..files.end;
        start.wait();
        let started = clock.now();
        bare_worker(operation, directories[worker as usize].as_raw_fd(), own, threads, &mut buffer);
        (started, clock.now())
    };
    let spans: Vec<(u64, u64)> = match threads {
        1 => vec![one(0)],
        _ => std::thread::scope(|scope| {
            let one = &one;
            let workers: Vec<_> = (0..threads).map(|w| scope.spawn(move || one(w))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        }),
    };
    let started = spans.iter().map(|span| span.0).min().unwrap();
    let ended = spans.iter().map(|span| span.1).max().unwrap();
    clock.nanoseconds(started, ended) as f64 / 1e9
}

fn bare_worker(operation: &str, dir: RawFd, own: Range<u64>, step: u32, buffer: &mut [u8]) {
    match operation {
        "create" => bare_loop(own, step, |name| {
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
        "read" => bare_loop(own, step, |name| {
            let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
            // SAFETY: the name ends in NUL, and the buffer is as long as the call is told.
            unsafe {
                let file = libc::openat(dir, name, flags);
                let moved = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
                libc::close(file);
                moved == FILE_BYTES as isize
            }
        }),
        "stat" => bare_loop(own, step, |name| {
            let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
            // SAFETY: the name ends in NUL, and the struct is the one the call fills.
            unsafe { libc::fstatat(dir, name, stat.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW) == 0 }
        }),
        // SAFETY: the name ends in NUL.
        _ => bare_loop(own, step, |name| unsafe { libc::unlinkat(dir, name, 0) == 0 }),
    }
}

/// Calls for every name that is the worker's, and does nothing else.
#[inline(always)]
fn bare_loop(own: Range<u64>, step: u32, mut call: impl FnMut(*const libc::c_char) -> bool) {
    let mut name = *b"f0000000000\0";
    add(&mut name, own.start as u32);
    for _ in own.step_by(step as usize) {
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
