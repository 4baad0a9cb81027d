//! Makes, grows and removes the ballast on a real file system.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::Mode;

use crate::ballast::{BallastFileSystem, BallastState, Headway, HeadwayListener};
use crate::clock::RealClock;
use crate::drive::DoneCount;
use crate::engine::Engine;
use crate::engine::sync::{OpenTree, SyncEngine, WorkerDirectories, directories_open_max};
use crate::remove::{Removal, remove_tree};
use crate::run_directory::open_directory;
use crate::site::Unrecorded;
use crate::workers::{PhaseTask, run_workers};
use boatload_base::errno::{Errno, ErrnoResult};
use boatload_base::failure::{Failure, Result};
use boatload_base::files::place_of;
use boatload_base::live_set::LiveSet;
use boatload_base::names::{NameBuffer, NameKind};
use boatload_base::permutation::Permutation;
use boatload_base::units::grouped;
use boatload_host::layout::{ScoreLimits, score_below};
use boatload_host::space::Space;
use boatload_op::request::RequestOutcome;
use boatload_op::{Access, ItemId, Request, find_operation};
use boatload_plan::Phase;
use boatload_plan::phase::BLOCK_DEFAULT;
use boatload_plan::prepare::{Ballast, BallastGoal, tree_of};
use boatload_plan::selection::{EntryRange, Order, Selection};
use boatload_plan::tree::Tree;

/// Files of a ballast whose layout is read, at most.
pub const LAYOUT_FILES_MAX: u64 = 20_000;

/// Files that grow side by side where they do.
const FILES_SIDE_BY_SIDE: usize = 64;

/// With fewer files than this to make, directories are not opened for each worker first.
const FILES_FOR_OPEN_DIRECTORIES: u64 = 1_000;

/// A ballast on disk.
pub struct BallastFiles {
    files: ClosedBallast,
    root: OwnedFd,
}

/// A ballast whose directory is closed.
#[derive(Clone)]
pub(super) struct ClosedBallast {
    name: OsString,
    state: BallastState,
    /// Directories made until now.
    holders: u64,
    clock: RealClock,
    /// Spent in syncs.
    sync_seconds: f64,
}

impl ClosedBallast {
    /// Opens its directory below `run_directory` again.
    pub(super) fn reopen(self, run_directory: BorrowedFd<'_>) -> ErrnoResult<BallastFiles> {
        let root = open_directory(run_directory, &self.name)?;
        Ok(BallastFiles { files: self, root })
    }
}

impl BallastFiles {
    /// Closes its directory.
    pub(super) fn close_for_unmount(self) -> ClosedBallast {
        self.files
    }

    /// An empty one, in a directory of its own below `run_directory`.
    pub fn make(
        run_directory: BorrowedFd<'_>,
        number: u64,
        ballast: Ballast,
        clock: RealClock,
    ) -> Result<Self> {
        let mut buffer = NameBuffer::of(NameKind::Ballast, number);
        let name = OsStr::from_bytes(buffer.as_bytes()).to_owned();
        let failed = |error: rustix::io::Errno| {
            Failure::from_system("make the directory of the ballast", error)
        };
        rustix::fs::mkdirat(run_directory, buffer.as_c_str(), Mode::RWXU).map_err(failed)?;
        let root = open_directory(run_directory, &name).map_err(failed)?;
        let state = BallastState::new(ballast);
        let files = ClosedBallast { name, state, holders: 0, clock, sync_seconds: 0.0 };
        Ok(Self { files, root })
    }

    /// The files until now.
    pub fn state(&self) -> &BallastState {
        &self.files.state
    }

    /// Its open directory.
    pub fn directory(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// How long its syncs took until now, in seconds.
    pub fn sync_seconds(&self) -> f64 {
        self.files.sync_seconds
    }

    /// Brings it to a level.
    pub fn reach(
        &mut self,
        goal: BallastGoal,
        stop: &AtomicBool,
        listener: HeadwayListener<'_>,
    ) -> Result<()> {
        let Self { root, files } = self;
        let ClosedBallast { state, holders, clock, sync_seconds, .. } = files;
        // Where the level is of space, each step is one of many.
        let counts = matches!(goal, BallastGoal::Files(_));
        let root = root.as_fd();
        let mut place = OpenBallast { root, holders, clock, sync_seconds, stop, listener, counts };
        state.reach(goal, &mut place, stop)
    }

    /// The tree of the files until now, open for `workers` to look at.
    pub(super) fn open(&self, workers: u32) -> ErrnoResult<OpenTree> {
        let length = self.files.state.live().length();
        let tree = tree_of(self.files.state.ballast(), length);
        open_tree(tree, self.root.as_fd(), workers, length)
    }

    /// Removes all of it.
    pub(super) fn remove(self, run_directory: BorrowedFd<'_>) -> Removal {
        drop(self.root);
        remove_tree(run_directory, &self.files.name)
    }
}

/// What a ballast makes and deletes its files through.
struct OpenBallast<'a> {
    root: BorrowedFd<'a>,
    holders: &'a mut u64,
    clock: &'a RealClock,
    sync_seconds: &'a mut f64,
    stop: &'a AtomicBool,
    listener: HeadwayListener<'a>,
    /// Whether it tells of each file.
    counts: bool,
}

impl OpenBallast<'_> {
    /// Does one operation to files, as phase `phase` says, until the first failure; how many it was
    /// done to.
    fn work(&self, phase: &Phase, open: OpenTree, done: &[DoneCount]) -> Result<()> {
        let open = Arc::new(open);
        let over = AtomicBool::new(false);
        let mut nothing = vec![Unrecorded; phase.threads as usize];
        let task = PhaseTask { phase, tree: &open.tree, stop: &over, done };
        let run = run_workers(task, &mut nothing, |worker| {
            let engine = SyncEngine::new(Arc::clone(&open), worker, phase);
            (UpToFailure { engine, stop: self.stop, over: &over }, self.clock.clone())
        });
        let Some((errno, _)) = run.errors.first_key_value() else { return Ok(()) };
        let lack =
            (*errno == Errno::ENOSPC).then(|| Space::of(self.root).map(|space| space.lack()));
        let about = match lack {
            Some(Ok(lack)) => format!("{}, {lack}", errno.about()),
            _ => errno.about(),
        };
        let file = run.failures.get(errno).map_or("a file".into(), |met| met.place.to_string());
        let doing = format!("{} {file} of the ballast in {}", phase.name, place_of(self.root));
        Err(Failure::from_system(doing, about))
    }

    /// Makes files that lie in no more directories than may be open.
    fn make_step(&self, ballast: &Ballast, tree: &Tree, step: &BallastWork) -> Result<()> {
        let Some(operation) = find_operation("create") else { return Ok(()) };
        let range = EntryRange::whole(step.files.start, step.files.end - step.files.start);
        let selection = Selection::new(range, Order::Sequential, 1, tree.seed, 0).in_parts();
        let phase = Phase::bare(operation, selection, ballast.threads);
        let open = step.open(tree, self.root, &phase).map_err(cannot_open)?;
        let done: Arc<[DoneCount]> = DoneCount::of_workers(ballast.threads);
        if self.counts {
            let (files, before, done) = (step.files_all, step.files.start, Arc::clone(&done));
            (self.listener)(&Headway::Making { files, before, done });
        }
        self.work(&phase, open, &done)
    }

    fn make_holders(&mut self, needed: u64) -> Result<()> {
        for number in *self.holders..needed {
            let mut name = NameBuffer::of(NameKind::Holder, number);
            rustix::fs::mkdirat(self.root, name.as_c_str(), Mode::RWXU).map_err(|error| {
                let what = format!("make directory {} of the ballast", grouped(number + 1));
                Failure::from_system(what, error)
            })?;
            *self.holders = number + 1;
        }
        Ok(())
    }
}

fn open_tree(tree: Tree, root: BorrowedFd<'_>, workers: u32, files: u64) -> ErrnoResult<OpenTree> {
    let with_holders = files >= FILES_FOR_OPEN_DIRECTORIES;
    OpenTree::open(tree, rustix::io::dup(root)?, u64::from(workers), with_holders)
}

/// The layout score of the ballast in a directory; `None` if the file system does not report extents.
pub(super) fn layout_score(root: BorrowedFd<'_>, stop: &AtomicBool) -> Option<f64> {
    let go_on = || !stop.load(Ordering::Relaxed);
    let limits = ScoreLimits { files_most: LAYOUT_FILES_MAX, go_on: &go_on };
    score_below(root, limits).ok()?.score()
}

fn cannot_open(error: Errno) -> Failure {
    Failure::from_system("open the directories of the ballast (openat)", error.about())
}

/// Part of the files that are to be made.
struct BallastWork {
    files: Range<u64>,
    /// The number of files in the end.
    files_all: u64,
    /// Whether directories are opened first.
    opens: bool,
}

impl BallastWork {
    /// The files from `first` on that lie in no more directories than `workers` may have open, each
    /// with one more for the root and one that it shares with the next worker.
    fn from(first: u64, tree: &Tree, workers: u32) -> Self {
        let room = directories_open_max().saturating_sub(2 * u64::from(workers));
        let opens = room > 0 && tree.files - first >= FILES_FOR_OPEN_DIRECTORIES;
        let last_holder = match opens {
            true => tree.holder_of(first).saturating_add(room - 1),
            false => u64::MAX,
        };
        let (mut within, mut beyond) = (first, tree.files);
        while beyond - within > 1 {
            let middle = within.midpoint(beyond);
            match tree.holder_of(middle) <= last_holder {
                true => within = middle,
                false => beyond = middle,
            }
        }
        Self { files: first..beyond, files_all: tree.files, opens }
    }

    /// The tree, open with the directories of each worker's part.
    fn open(&self, tree: &Tree, root: BorrowedFd<'_>, phase: &Phase) -> ErrnoResult<OpenTree> {
        let tree = tree.clone();
        if !self.opens {
            return open_tree(tree, root, phase.threads, 0);
        }
        let base = |worker| {
            let share = phase.selection.share(worker, phase.threads);
            let holders = match share.count {
                0 => 0..0,
                count => {
                    tree.holder_of(share.number(0))..tree.holder_of(share.number(count - 1)) + 1
                }
            };
            WorkerDirectories::open(&tree, root, holders)
        };
        let bases = (0..phase.threads).map(base).collect::<std::result::Result<_, _>>()?;
        Ok(OpenTree { tree, root: rustix::io::dup(root)?, bases })
    }
}

/// Of this many files one is a log: it grows from its beginning on.
const LOG_EVERY: u64 = 3;

/// A file that is written piece by piece beside others: some from their beginning on, as a log grows, which
/// breaks up files on ext4 most, and the others in random order, as by a download or a database, because in
/// the order of the file xfs keeps room for the next piece.
struct GrowingFile {
    number: u64,
    size: u64,
    piece_bytes: u64,
    order: Permutation,
    written: u64,
}

impl GrowingFile {
    fn new(number: u64, tree: &Tree, piece_bytes: u32) -> Self {
        let (size, piece_bytes) = (tree.size(number, 0), u64::from(piece_bytes));
        let order = Permutation::new(size.div_ceil(piece_bytes), tree.content_key(number, 0));
        Self { number, size, piece_bytes, order, written: 0 }
    }

    /// Whether a piece is still to be written.
    fn is_growing(&self) -> bool {
        self.written * self.piece_bytes < self.size
    }

    /// Makes the file if it is not there, and writes its next piece. It is closed behind that: a file
    /// system may keep room for one that is open.
    fn grow(&mut self, engine: &mut SyncEngine) -> ErrnoResult<()> {
        let place = ItemId::file(self.number);
        let access = if self.written == 0 { Access::CreateNew } else { Access::Write };
        let open = Request::Open { place, access, dsync: false, keep_atime: false, direct: false };
        engine.carry_out(&open)?;
        if self.is_growing() {
            let is_log = self.number.is_multiple_of(LOG_EVERY);
            let piece = if is_log { self.written } else { self.order.forward(self.written) };
            let mut position = piece * self.piece_bytes;
            let end = self.size.min(position + self.piece_bytes);
            while position < end {
                let bytes = (end - position).min(u64::from(BLOCK_DEFAULT)) as u32;
                let (number, offset) = (self.number, position);
                let write = Request::WriteAt { number, version: 0, offset, bytes, position };
                position += engine.carry_out(&write)?;
            }
            self.written += 1;
        }
        engine.carry_out(&Request::Close).map(|_| ())
    }
}

/// An engine that ends the work of all at the first failure: a full file system would otherwise be
/// asked again for every file that is still to come.
struct UpToFailure<'a> {
    engine: SyncEngine,
    stop: &'a AtomicBool,
    over: &'a AtomicBool,
}

impl Engine for UpToFailure<'_> {
    #[inline]
    fn carry_out(&mut self, request: &Request) -> RequestOutcome {
        let outcome = self.engine.carry_out(request);
        if outcome.is_err() || self.stop.load(Ordering::Relaxed) {
            self.over.store(true, Ordering::Relaxed);
        }
        outcome
    }
}

impl BallastFileSystem for OpenBallast<'_> {
    fn create(&mut self, ballast: &Ballast, files: Range<u64>) -> Result<()> {
        let tree = tree_of(ballast, files.end);
        self.make_holders(tree.holders())?;
        let mut first = files.start;
        while first < files.end && !self.stop.load(Ordering::Relaxed) {
            let step = BallastWork::from(first, &tree, ballast.threads);
            self.make_step(ballast, &tree, &step)?;
            first = step.files.end;
        }
        Ok(())
    }

    fn grow(&mut self, ballast: &Ballast, files: Range<u64>, piece_bytes: u32) -> Result<()> {
        let Some(create) = find_operation("create") else { return Ok(()) };
        let tree = tree_of(ballast, files.end);
        self.make_holders(tree.holders())?;
        let count = files.end - files.start;
        let range = EntryRange::whole(files.start, count);
        let selection = Selection::new(range, Order::Sequential, 1, tree.seed, 0);
        let phase = Phase::bare(create, selection, 1);
        let open = open_tree(tree.clone(), self.root, 1, count).map_err(cannot_open)?;
        let mut engine = SyncEngine::new(Arc::new(open), 0, &phase);
        let mut unborn = files;
        let mut growing: VecDeque<GrowingFile> = VecDeque::new();
        while !self.stop.load(Ordering::Relaxed) {
            let room = FILES_SIDE_BY_SIDE.saturating_sub(growing.len());
            let next = unborn.by_ref().take(room);
            growing.extend(next.map(|number| GrowingFile::new(number, &tree, piece_bytes)));
            if growing.is_empty() {
                break;
            }
            for file in &mut growing {
                let grown = file.grow(&mut engine);
                grown
                    .map_err(|e| Failure::from_system("write a file of the ballast", e.about()))?;
            }
            growing.retain(GrowingFile::is_growing);
            self.sync()?;
        }
        Ok(())
    }

    fn delete(&mut self, ballast: &Ballast, files: LiveSet) -> Result<()> {
        let (count, seed) = (files.count(), ballast.tree.seed);
        let mut tree = tree_of(ballast, files.length());
        tree.layout.fan_out = *self.holders;
        let open = open_tree(tree, self.root, 1, count).map_err(cannot_open)?;
        let files = Arc::new(files.ranked());
        let selection = Selection::of_live(files, count, Order::Sequential, seed, 0);
        let Some(operation) = find_operation("delete") else { return Ok(()) };
        self.work(&Phase::bare(operation, selection, 1), open, &[DoneCount::default()])
    }

    fn sync(&mut self) -> Result<()> {
        let (synced, seconds) = self.clock.time(|| rustix::fs::syncfs(self.root));
        *self.sync_seconds += seconds;
        synced.map_err(|error| {
            let doing = format!("write the ballast out in {} (syncfs)", place_of(self.root));
            Failure::from_system(doing, error)
        })
    }

    fn space(&self) -> Result<Space> {
        Space::read(self.root)
    }

    fn layout_score(&self) -> Option<f64> {
        layout_score(self.root, self.stop)
    }

    fn progress(&self, share: f64) {
        (self.listener)(&Headway::Share(share));
    }
}
