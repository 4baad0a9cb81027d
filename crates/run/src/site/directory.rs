//! Runs cells in a directory of a real file system.

mod cold;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::Mode;

use crate::ballast::{BallastState, HeadwayListener};
use crate::cache::{
    CacheDrop, CacheDropper, CacheState, CacheVerdict, CounterSource, Doubt, LeastRead, ReadCount,
    Readings, has_files_before, inode_bytes_min,
};
use crate::clock::RealClock;
use crate::drive::{DoneCount, Recorder};
use crate::engine::delayed::{Delay, Delayed};
use crate::engine::sync::{OpenTree, SyncEngine, open_for_looking};
use crate::remove::{Removal, remove_of_rank, remove_own, remove_tree};
use crate::run_directory::{
    CANARY, RunDirectory, create_new, entries_of, open_directory, open_note,
};
use crate::site::ballast_files::{BallastFiles, ClosedBallast, layout_score};
use crate::site::{ConditionName, EngineSource, RankCell, Site, SiteCondition};
use crate::unread::{UnreadExtent, unread_extents};
use crate::workers::{PhaseRun, PhaseTask, run_workers};
use boatload_base::errno::{Errno, ErrnoResult};
use boatload_base::failed_calls::note;
use boatload_base::failure::{Failure, Result};
use boatload_base::files::{place_of, write_all};
use boatload_base::names::{Name, NameBuffer, NameKind, is_silly_name, rank_name};
use boatload_base::units::Unit;
use boatload_host::block::discard_free;
use boatload_host::block_device::BlockDevice;
use boatload_host::facts::HostFacts;
use boatload_host::mounts::{is_diskless, is_in_memory};
use boatload_host::page_cache::{self, CacheProbe};
use boatload_host::space::Space;
use boatload_op::{Subject, find_operation};
use boatload_plan::phase::{OnBallast, PhaseEnd};
use boatload_plan::tree::RankPart;
use boatload_plan::{CacheAsked, CellPlan, Phase, Prepare, Tree};

/// Size of the canary, a file whose residency proves that the probe works.
const CANARY_BYTES: u64 = 64 << 10;

/// Most attempts to find the canary resident: another process may drop the caches just then.
const CANARY_TRIES: u32 = 5;

/// A run directory on a real file system, and the cell in it.
pub struct DirectorySite {
    run_directory: Option<RunDirectory>,
    canary: Option<OwnedFd>,
    /// I/O counters of the device and what lies under it.
    device_counters: Option<CounterSource>,
    can_drop: bool,
    /// The way to see what is cached; tried out on this file system.
    probe: CacheProbe,
    in_memory: bool,
    /// Whether the file system has no disk of this machine.
    is_diskless: bool,
    clock: RealClock,
    cells_begun: u64,
    /// Artificial delay of each request and sync, as a share of its duration.
    delay: f64,
    cell: Option<(OsString, Arc<OpenTree>)>,
    /// The tree of another rank, open while phases work on it.
    other_tree: Option<Arc<OpenTree>>,
    /// For the name of the next ballast's directory.
    ballasts_made: u64,
    ballast: Option<BallastFiles>,
    /// The layout score of the ballast; `None` if the file system does not report extents.
    layout_score: Option<f64>,
    /// The ballast's tree, open for phases that look at it.
    ballast_tree: Option<Arc<OpenTree>>,
    /// Sampled files and the canary, open from the cache drop to the check just before the phase.
    held: Option<HeldFiles>,
    /// False on FUSE: a daemon reads the device, so this process's read counter does not count it.
    own_reads_are_counted: bool,
    /// Fewest bytes that a cold look-up of one file reads for its inode or directory entry.
    inode_bytes_min: u64,
}

/// Files that stay open from the drop of the caches to the last look: only so can their pages be
/// looked at without reading names and inodes.
struct HeldFiles {
    files: Vec<(OwnedFd, u64)>,
    numbers: Vec<u64>,
}

impl DirectorySite {
    /// Makes a site in the run directory: writes the canary file, by which it finds whether the device's
    /// counters move, and detects the cache probe. If that fails the run directory is removed.
    pub fn new(
        run_directory: RunDirectory,
        host: &HostFacts,
        mut device: Option<BlockDevice>,
        clock: RealClock,
    ) -> Result<Self> {
        let plant = || plant_canary(&run_directory);
        let planted = match &mut device {
            Some(device) => device.try_counters(plant),
            None => plant(),
        };
        let canary = planted.map_err(|error| {
            // The directory is made and marked; it must not stay behind.
            let _ = remove_own(&run_directory);
            let directory = place_of(run_directory.directory());
            Failure::from_system(
                format!("write {CANARY} in the run's directory {directory}"),
                error,
            )
        })?;
        let probe = detect_cache_probe(&canary);
        let mut site = Self::closed(host, device, clock);
        (site.run_directory, site.canary, site.probe) = (Some(run_directory), Some(canary), probe);
        Ok(site)
    }

    /// A site whose run directory is not open.
    fn closed(host: &HostFacts, device: Option<BlockDevice>, clock: RealClock) -> Self {
        Self {
            run_directory: None,
            canary: None,
            device_counters: device.map(CounterSource::of),
            can_drop: host.rights.drop_caches,
            probe: CacheProbe::None,
            in_memory: is_in_memory(&host.filesystem.kind),
            is_diskless: is_diskless(&host.filesystem.kind),
            clock,
            cells_begun: 0,
            delay: 0.0,
            cell: None,
            other_tree: None,
            ballasts_made: 0,
            ballast: None,
            layout_score: None,
            ballast_tree: None,
            held: None,
            own_reads_are_counted: !host.filesystem.kind.starts_with("fuse"),
            inode_bytes_min: inode_bytes_min(&host.filesystem.kind),
        }
    }

    /// A site that was closed before, on a file system that was restored and is mounted at `parent`.
    pub(super) fn restored(
        closed: ClosedSite,
        parent: OwnedFd,
        host: &HostFacts,
        device: Option<BlockDevice>,
        clock: RealClock,
    ) -> Result<Self> {
        let mut site = Self::closed(host, device, clock);
        site.reopen(closed, parent)?;
        Ok(site)
    }

    /// The name of the way to see what is cached of this file system.
    pub fn cache_probe(&self) -> &'static str {
        self.probe.as_str()
    }

    /// Removes the run directory with all that boatload made in it.
    ///
    /// # Errors
    /// If the marker no longer proves that it is boatload's.
    pub fn close(mut self) -> Result<Removal> {
        self.remove()
    }

    fn remove(&mut self) -> Result<Removal> {
        // Nothing is deleted while it is open: on NFS and FUSE it would stay under another name.
        (self.canary, self.held, self.other_tree) = (None, None, None);
        // Where others may still work in it, it goes with the directory of the run.
        let stays = self.cell.take().is_some_and(|(_, open)| open.tree.is_made_for_others());
        (self.ballast_tree, self.ballast) = (None, None);
        match self.run_directory.take() {
            Some(directory) if !stays => remove_own(&directory),
            _ => Ok(Removal::default()),
        }
    }

    /// Opens the tree of a cell that another rank has made, in the directory of the run.
    fn open_other(&self, cell: &OsStr, other: &RankCell<'_>) -> Result<OpenTree> {
        let parent = self.run_directory()?.parent();
        open_other(parent, cell, other).map_err(|error| {
            let what = format!("open the files of rank {}", other.maker());
            Failure::from_system(what, error.about())
        })
    }

    fn run_directory(&self) -> Result<&RunDirectory> {
        self.run_directory.as_ref().ok_or_else(|| Failure::failed("the run's directory is closed"))
    }

    /// The open directories of the cell's tree; none without one.
    pub(super) fn cell_tree(&self) -> Option<&OpenTree> {
        self.cell.as_ref().map(|(_, open)| &**open)
    }

    /// The open directories of the tree that a phase works on, in the cell or in the ballast.
    fn open_tree_of(&self, phase: &Phase) -> Option<&Arc<OpenTree>> {
        match phase.on_ballast {
            Some(_) => self.ballast_tree.as_ref(),
            None => self.tree_in_use(),
        }
    }

    /// The tree that phases work on: the cell's, or the tree of another rank.
    fn tree_in_use(&self) -> Option<&Arc<OpenTree>> {
        self.other_tree.as_ref().or_else(|| self.cell.as_ref().map(|(_, open)| open))
    }

    /// What is left where nothing is dropped: in memory, nothing; without the right to it, the data of each file of the phase
    /// is evicted, which leaves names and inodes where they are.
    ///
    /// # Errors
    /// If what phases before wrote cannot be written out.
    fn without_drop(&self, phase: &Phase, stop: &AtomicBool) -> Result<CacheVerdict> {
        if self.in_memory {
            let resident = self.resident_of(phase);
            let doubt = Some(Doubt::MemoryFileSystem);
            return Ok(CacheVerdict { found: CacheState::Warm, resident, doubt });
        }
        if let (Some(open), true) = (self.open_tree_of(phase), has_files_before(phase)) {
            write_out(&open.root)?;
            let going_on = |_: &u64| !stop.load(Ordering::Relaxed);
            let targets = phase.targets(&open.tree);
            for number in phase.selection.numbers().take_while(going_on) {
                if let Ok(file) = open_for_looking(open, targets.target(number).place) {
                    let _ = page_cache::evict(file.as_fd());
                }
            }
        }
        let resident = self.resident_of(phase);
        Ok(CacheVerdict::unverified(resident, Doubt::NoRights))
    }

    /// Reads everything the phase works on, outside of any timing.
    fn read_all(&self, phase: &Phase, stop: &AtomicBool) {
        let name = match phase.operation.subject {
            Subject::File if has_files_before(phase) => "read",
            Subject::Holder if phase.operation.name == "list-stat" => "list-stat",
            Subject::Holder => "list",
            Subject::AnyDirectory => "find",
            _ => return,
        };
        let Some(operation) = find_operation(name) else { return };
        let (end, limit_ns) = (PhaseEnd::Targets, None);
        let (mix, direct) = (None, false);
        let reading = Phase { operation, mix, direct, end, limit_ns, ..phase.clone() };
        self.engines().work_unrecorded(&reading, stop);
    }

    /// Runs a phase with a recorder for each worker.
    pub(super) fn work<R: Recorder>(
        &self,
        phase: &Phase,
        stop: &AtomicBool,
        done: &[DoneCount],
        recorders: &mut [R],
    ) -> PhaseRun {
        let Some(open) = self.open_tree_of(phase) else { return PhaseRun::default() };
        let task = PhaseTask { phase, tree: &open.tree, stop, done };
        let engine = |worker| SyncEngine::new(Arc::clone(open), worker, phase);
        let clock = || self.clock.clone();
        if self.delay > 0.0 {
            let delayed = |worker| Delayed::new(engine(worker), clock(), self.delay);
            return run_workers(task, recorders, |worker| (delayed(worker), clock()));
        }
        run_workers(task, recorders, |worker| (engine(worker), clock()))
    }
}

impl Site for DirectorySite {
    /// The names of later trees are those that they would have had.
    fn skip_cell(&mut self, _: &CellPlan, _: u64, _: u64) {
        self.cells_begun += 1;
    }

    fn begin_cell(&mut self, cell: &CellPlan) -> Result<()> {
        self.cells_begun += 1;
        let mut name = NameBuffer::of(NameKind::Cell, self.cells_begun);
        let text = OsStr::from_bytes(name.as_bytes()).to_owned();
        let open = match cell.tree.part {
            Some(RankPart { rank, .. }) if rank > 0 => {
                self.open_other(&text, &RankCell { rank, cell })?
            }
            _ => {
                let directory = self.run_directory()?.directory();
                make_tree(directory, &mut name, cell).map_err(|error| {
                    let place = place_of(directory);
                    let what =
                        format!("make the directories of a tree in {place} (mkdirat, openat)");
                    Failure::from_system(what, error.about())
                })?
            }
        };
        // What the removal of the cell before left to be written must not be written while this
        // one is timed. An error is told only once, so the phase that writes next would not hear of it.
        rustix::fs::syncfs(&open.root).map_err(|error| {
            let what =
                format!("write out the directories of a tree in {} (syncfs)", place_of(&open.root));
            Failure::from_system(what, error)
        })?;
        self.cell = Some((text, Arc::new(open)));
        self.delay = cell.delay;
        Ok(())
    }

    fn prepare(
        &mut self,
        _: &CellPlan,
        prepare: &Prepare,
        stop: &AtomicBool,
        listener: HeadwayListener<'_>,
    ) -> Result<()> {
        self.ballast_tree = None;
        if self.ballast.is_none() {
            self.ballasts_made += 1;
            let (parent, number) = (self.run_directory()?.directory(), self.ballasts_made);
            let (ballast, clock) = (prepare.ballast.clone(), self.clock.clone());
            self.ballast = Some(BallastFiles::make(parent, number, ballast, clock)?);
        }
        let Some(ballast) = &mut self.ballast else { return Ok(()) };
        ballast.reach(prepare.goal, stop, listener)?;
        let open = ballast.open(prepare.ballast.threads).map_err(|error| {
            Failure::failed(format!("cannot open the ballast: {}", error.about()))
        })?;
        self.ballast_tree = Some(Arc::new(open));
        // What some file systems do not tell, others do: without a score the rest is measured.
        self.layout_score = layout_score(ballast.directory(), stop);
        Ok(())
    }

    fn conditions(&self) -> Vec<SiteCondition> {
        let Some(ballast) = &self.ballast else { return Vec::new() };
        let files = ballast.state().live().count();
        let mut all = vec![SiteCondition::files(ConditionName::FilesPresent, files)];
        // What the cell before left to be freed is free only now.
        let _ = rustix::fs::syncfs(ballast.directory());
        if let Ok(space) = Space::of(ballast.directory()) {
            all.extend(SiteCondition::space_used(&space));
        }
        let (name, unit) = (ConditionName::LayoutScore, Unit::Count);
        all.extend(self.layout_score.map(|value| SiteCondition { name, value, unit }));
        all
    }

    fn remove_ballast(&mut self) -> Removal {
        self.ballast_tree = None;
        let Some(ballast) = self.ballast.take() else { return Removal::default() };
        let Some(directory) = &self.run_directory else { return Removal::default() };
        let removal = ballast.remove(directory.directory());
        // The room that was freed must be there for what comes next.
        let _ = rustix::fs::syncfs(directory.directory());
        removal
    }

    fn ballast_state(&self) -> Option<&BallastState> {
        self.ballast.as_ref().map(BallastFiles::state)
    }

    fn remove_own_entries(&self) {
        let Some((_, open)) = &self.cell else { return };
        let Some(part) = open.tree.part else { return };
        for holder in 0..open.tree.holders() {
            let mut path = NameBuffer::default();
            open.tree.push_layout(open.tree.layout_of_holder(holder), &mut path);
            remove_of_rank(open.root.as_fd(), path.as_bytes(), part);
        }
    }

    fn end_cell(&mut self) -> Removal {
        self.other_tree = None;
        let Some((name, open)) = self.cell.take() else { return Removal::default() };
        if open.tree.part.is_some_and(|part| part.rank > 0) {
            return Removal::default();
        }
        drop(open);
        let Some(directory) = &self.run_directory else { return Removal::default() };
        remove_tree(directory.directory(), &name)
    }

    fn prepare_caches(
        &mut self,
        phase: &Phase,
        stop: &AtomicBool,
        dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        Ok(match phase.cache {
            CacheAsked::Cold if self.can_drop && !self.in_memory => {
                self.make_cold(phase, dropper)?
            }
            CacheAsked::Cold => {
                dropper.drop_caches(CacheDrop::All, false)?;
                self.without_drop(phase, stop)?
            }
            CacheAsked::Warm => {
                self.read_all(phase, stop);
                CacheVerdict::after_warming(self.resident_of(phase))
            }
            CacheAsked::AsIs => CacheVerdict::as_is(phase, self.resident_of(phase)),
        })
    }

    fn least_read(&self, phase: &Phase) -> Option<LeastRead> {
        let content = self.open_tree_of(phase).map(|open| open.tree.content).unwrap_or_default();
        Some(LeastRead::of(content, self.inode_bytes_min))
    }

    fn device(&self) -> Option<&BlockDevice> {
        self.device_counters.as_ref().map(|source| &source.device)
    }

    fn has_disk(&self) -> bool {
        self.device_counters.is_some() || !self.is_diskless
    }

    fn space(&self) -> Option<Space> {
        let directory = self.run_directory.as_ref()?.directory();
        let space = Space::of(directory);
        space.inspect_err(|error| note("fstatfs", || place_of(directory), *error)).ok()
    }

    fn engines(&self) -> EngineSource<'_> {
        EngineSource::Directory(self)
    }

    fn sync(&self) -> ErrnoResult<f64> {
        let Some((_, open)) = &self.cell else { return Ok(0.0) };
        let sync = || rustix::fs::syncfs(&open.root);
        let (synced, seconds) = if self.delay > 0.0 {
            let mut delay = Delay::new(self.clock.clone(), self.delay);
            self.clock.time(|| delay.after(sync))
        } else {
            self.clock.time(sync)
        };
        synced?;
        Ok(seconds)
    }

    fn readings(&self) -> Readings {
        let counters = self.device_counters.as_ref();
        let mut all = counters.map_or_else(Readings::default, CounterSource::readings);
        if !self.own_reads_are_counted {
            all.own_read = ReadCount::NotApplicable;
        }
        all
    }

    fn count_entries(&self) -> ErrnoResult<u64> {
        let Some(open) = self.tree_in_use() else { return Ok(0) };
        Ok(count_entries(open.root.as_fd())?)
    }

    fn work_on(&mut self, other: Option<RankCell<'_>>) -> Result<()> {
        self.other_tree = None;
        let (Some(other), Some((name, _))) = (other, &self.cell) else { return Ok(()) };
        self.other_tree = Some(Arc::new(self.open_other(name, &other)?));
        Ok(())
    }

    fn tree_of(&self, phase: &Phase, cell: &CellPlan) -> Tree {
        match &self.other_tree {
            Some(open) => open.tree.clone(),
            None => self.own_tree_of(phase, cell),
        }
    }

    fn recheck_caches(
        &mut self,
        found: CacheVerdict,
        phase: &Phase,
        dropper: &dyn CacheDropper,
    ) -> Result<CacheVerdict> {
        self.rechecked(found, phase, dropper)
    }
}

impl Drop for DirectorySite {
    /// A run that ends early, by an error or a panic, leaves nothing behind either.
    fn drop(&mut self) {
        let _ = self.remove();
    }
}

/// Writes out the file system of a directory. An error is told only once, and by neither an unmount nor a drop of caches:
/// after them nobody would hear of it.
///
/// # Errors
/// If it cannot be written out.
pub(super) fn write_out(directory: impl AsFd) -> Result<()> {
    rustix::fs::syncfs(&directory).map_err(|error| {
        let what =
            format!("write out what phases have written to {} (syncfs)", place_of(&directory));
        Failure::from_system(what, error)
    })
}

fn read_canary(canary: &OwnedFd) -> rustix::io::Result<usize> {
    rustix::io::pread(canary, &mut vec![0u8; CANARY_BYTES as usize], 0)
}

/// The best probe that reports the canary as resident just after reading it.
fn detect_cache_probe(canary: &OwnedFd) -> CacheProbe {
    let look = |_| {
        let _ = read_canary(canary);
        CacheProbe::seeing(canary.as_fd(), CANARY_BYTES)
    };
    (0..CANARY_TRIES).map(look).find(|p| *p != CacheProbe::None).unwrap_or(CacheProbe::None)
}

fn plant_canary(run_directory: &RunDirectory) -> std::io::Result<OwnedFd> {
    let file = File::from(create_new(run_directory.directory(), CANARY)?);
    write_all(&file, &vec![0xa5; CANARY_BYTES as usize])?;
    file.sync_all()?;
    Ok(file.into())
}

/// Makes the cell's directory and the tree's layout in it, and opens the directories that names will be
/// relative to.
fn make_tree(
    run_directory: BorrowedFd<'_>,
    name: &mut NameBuffer,
    cell: &CellPlan,
) -> ErrnoResult<OpenTree> {
    let tree = cell.tree.clone();
    rustix::fs::mkdirat(run_directory, name.as_c_str(), Mode::RWXU)?;
    let root = open_directory(run_directory, OsStr::from_bytes(name.as_bytes()))?;
    let mut path = NameBuffer::default();
    for number in 1..tree.layout_directories() {
        path.clear();
        tree.push_layout(number, &mut path);
        rustix::fs::mkdirat(&root, path.as_c_str(), Mode::RWXU)?;
    }
    OpenTree::open(tree, root, u64::from(cell.threads()), true)
}

fn open_other(
    run_directory: BorrowedFd<'_>,
    cell: &OsStr,
    other: &RankCell<'_>,
) -> ErrnoResult<OpenTree> {
    let rank = open_directory(run_directory, OsStr::new(&rank_name(other.maker())))?;
    let root = open_directory(rank.as_fd(), cell)?;
    OpenTree::open(other.cell.tree.clone(), root, u64::from(other.cell.threads()), true)
}

/// What is needed to open a [`DirectorySite`] again after an unmount: the names of its directories and the
/// descriptions of its tree and ballast.
#[derive(Clone)]
pub(super) struct ClosedSite {
    run_directory: Option<String>,
    cell: Option<(OsString, Tree, u64)>,
    ballast: Option<ClosedBallast>,
    layout_score: Option<f64>,
    probe: CacheProbe,
}

impl DirectorySite {
    /// Discards the blocks that its file system does not use, where that can be done: what free blocks
    /// once held is then not kept, and each is written for the first time at every level.
    pub(super) fn discard_free(&self) {
        let Ok(run_directory) = self.run_directory() else { return };
        let _ = rustix::fs::syncfs(run_directory.directory());
        let _ = discard_free(run_directory.directory());
    }

    /// Extents of ballast files that none of these phases reads.
    pub(super) fn unread_extents(
        &self,
        read: &[OnBallast],
        stop: &AtomicBool,
    ) -> Vec<UnreadExtent> {
        let Some(ballast) = &self.ballast else { return Vec::new() };
        unread_extents(ballast.state(), ballast.directory(), read, stop)
    }

    /// Closes all that it has open, so that its file system can be unmounted.
    pub(super) fn close_for_unmount(&mut self) -> ClosedSite {
        self.ballast_tree = None;
        self.canary = None;
        self.held = None;
        ClosedSite {
            run_directory: self.run_directory.take().map(|open| open.name().to_string()),
            cell: self.cell.take().map(|(name, open)| {
                let workers = open.bases.len() as u64;
                (name, open.tree.clone(), workers)
            }),
            ballast: self.ballast.take().map(BallastFiles::close_for_unmount),
            layout_score: self.layout_score,
            probe: self.probe,
        }
    }

    /// Opens again below `parent` what was closed for an unmount.
    pub(super) fn reopen(&mut self, closed: ClosedSite, parent: OwnedFd) -> Result<()> {
        let place = place_of(&parent);
        let failed = |error: Errno| {
            Failure::from_system(format!("continue in {place} after mounting again"), error.about())
        };
        let Some(name) = closed.run_directory else { return Ok(()) };
        let run_directory = RunDirectory::reopen(parent, &name).map_err(|e| failed(e.into()))?;
        self.canary = open_note(run_directory.directory(), CANARY).ok();
        (self.layout_score, self.probe) = (closed.layout_score, closed.probe);
        if let Some((name, tree, workers)) = closed.cell {
            let root =
                open_directory(run_directory.directory(), &name).map_err(|e| failed(e.into()))?;
            let open = OpenTree::open(tree, root, workers, true).map_err(failed)?;
            self.cell = Some((name, Arc::new(open)));
        }
        if let Some(closed) = closed.ballast {
            let ballast = closed.reopen(run_directory.directory()).map_err(failed)?;
            let threads = ballast.state().ballast().threads;
            self.ballast_tree = Some(Arc::new(ballast.open(threads).map_err(failed)?));
            self.ballast = Some(ballast);
        }
        self.run_directory = Some(run_directory);
        Ok(())
    }
}

/// Counts files and the directories that phases made, without the tree's own directories, and without deleted files that are not closed
/// yet. Unknown names count, so that they show as surplus.
fn count_entries(root: BorrowedFd<'_>) -> rustix::io::Result<u64> {
    let mut entries = 0;
    for entry in entries_of(root)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        match Name::parse(name).map(|name| name.kind) {
            None if is_silly_name(name) => {}
            Some(NameKind::Holder | NameKind::Worker) => {
                let below = open_directory(root, OsStr::from_bytes(name))?;
                entries += count_entries(below.as_fd())?;
            }
            _ => entries += 1,
        }
    }
    Ok(entries)
}
