//! Cuts the power of a modelled disk at random moments of a plan's phases, and checks whether the promised
//! files survived.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::make_filesystems::Toolset;
use super::{HostSurvey, RunOrder, VERSION, Watcher, make_filesystems, new_id, now};
use boatload_base::failure::{Failure, Result};
use boatload_base::random::{Stream, below, draw, mix};
use boatload_base::units::{counted, grouped};
use boatload_host::making::CheckedState;
use boatload_op::Durability;
use boatload_plan::filesystem::{Volume, fair_volume_size};
use boatload_plan::phase::PhaseEnd;
use boatload_plan::{CellPlan, Phase, Plan};
use boatload_results::crash::{BrokenPromise, CrashBook, PromiseRow};
use boatload_run::clock::{RealClock, monotonic_ns};
use boatload_run::crash::{
    CrashAudit, CrashRecorder, CutPhase, FileFate, TreePromises, WorkEnds, can_be_cut,
    promises_anything,
};
use boatload_run::disk::{ModelledDisk, PowerCut};
use boatload_run::drive::DoneCount;
use boatload_run::interrupt::Interrupt;
use boatload_run::run_directory::{RunDirectory, open_parent};
use boatload_run::site::{MadeSite, Site};

/// The durabilities that the cuts of a variant take in turn.
const DURABILITIES: [Durability; 6] = [
    Durability::Fsync,
    Durability::FsyncDirectory,
    Durability::Fdatasync,
    Durability::Dsync,
    Durability::Syncfs,
    Durability::None,
];

/// Where each operation is durable when it returns, the power goes within so many: a cut takes a second.
const OPERATIONS_MAX: u64 = 400;

/// The power goes up to 2 to the power of this many writes and flushes after the operation that was drawn.
const REQUEST_BITS: u64 = 8;

/// What was promised of each file is kept in memory.
const FILES_MAX: u64 = 1_000_000;

/// Broken promises of one cut that are kept one by one, with the state of the file system first.
const BROKEN_EACH: usize = 3;

/// Polls the queue this many times for these requests, with this pause before each.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// The pause between checks for Ctrl-C until a cut is due.
const INTERRUPT_PAUSE: Duration = Duration::from_millis(100);

/// One cut, as it is drawn.
struct CutPlan {
    /// From 1.
    number: u32,
    durability: Durability,
    /// Which of the cell's phases it comes in.
    phase: usize,
    /// After how many of its operations; with all of them in its last sync.
    operations: u64,
    /// And how many requests to the disk later, if they come.
    requests: u64,
    seed: u64,
}

/// Cuts the power `cuts` times for each variant of the order, in turn, until it is interrupted.
///
/// # Errors
/// If the plan has no phase to cut, or something but a file system under test fails.
pub fn crash(
    order: &RunOrder<'_>,
    cuts: u32,
    watcher: &dyn Watcher,
    interrupt: &Interrupt,
) -> Result<CrashOutcome> {
    let cells = cells_to_cut(order.plan)?;
    make_filesystems::enter_own_mounts(order.plan, watcher);
    let survey = HostSurvey::new(order.plan, &order.directory)?;
    let survey = survey.with_place(&small_image(order), &order.directory);
    let tools = Toolset::find(&survey, order)?;
    let tools = tools.ok_or_else(|| Failure::usage("no file system is made"))?;
    let parent = open_parent(&order.directory)?;
    let run_directory = RunDirectory::make(parent, &order.directory, &new_id()?, interrupt.flag())?;
    let host = survey.host.clone();
    let book = CrashBook {
        scenario: order.plan.name.clone(),
        seed: order.plan.seed,
        started: now(),
        command: order.command.clone(),
        boatload: VERSION.into(),
        kernel: host.kernel.clone(),
        complete: false,
        rows: cells.iter().flat_map(|cell| rows_of(cell)).collect(),
        broken: Vec::new(),
    };
    let site = tools.site(run_directory, order, host, RealClock::new(), interrupt)?;
    let mut series = CrashSeries { seed: order.plan.seed, site, book, interrupt };
    let done = series.all(&cells, cuts, watcher);
    let CrashSeries { site, mut book, .. } = series;
    let closed = site.close().map(drop);
    book.complete = done.is_ok() && !interrupt.is_set();
    // What was under way when the user wanted to stop is no failure.
    let done = if interrupt.is_set() { Ok(()) } else { done };
    let failures = [done, closed].into_iter().filter_map(Result::err);
    let failure = failures.reduce(|first, other| first.then(&other));
    Ok(CrashOutcome { book, failure })
}

/// What the cuts left, as far as they were made.
pub struct CrashOutcome {
    /// All that was found.
    pub book: CrashBook,
    /// Why it could not continue, and what it leaves behind; `None` when all is well.
    pub failure: Option<Failure>,
}

/// The place that is asked for, with a small image where no size is: it is made anew for each cut.
fn small_image(order: &RunOrder<'_>) -> Volume {
    let needed = || fair_volume_size(order.plan, 0).map(|needed| needed.bytes);
    match &order.place {
        Volume::Image { bytes } => Volume::Image { bytes: bytes.or_else(needed) },
        other => other.clone(),
    }
}

/// The first level of each variant.
fn cells_to_cut(plan: &Plan) -> Result<Vec<&CellPlan>> {
    let mut cells: Vec<&CellPlan> = Vec::new();
    for cell in &plan.cells {
        if cells.last().is_none_or(|last| last.variant != cell.variant) {
            cells.push(cell);
        }
    }
    for cell in &cells {
        let is_real = !cell.engine.is_simulated();
        let on_disk = cell.filesystem.as_ref().filter(|made| is_real && made.disk.is_some());
        let Some(filesystem) = on_disk else {
            return Err(Failure::usage(format!(
                "only the power of a modelled disk is cut, and variant {} is on none. Nothing was written. \
                 Take a job that works on files, and no engine",
                cell.variant
            )));
        };
        let mut options = filesystem.mkfs.iter().chain([&filesystem.mount]);
        if options.any(|words| words.contains("panic")) {
            return Err(Failure::usage(format!(
                "{} is asked to stop the machine at an error, and a power cut makes errors. Nothing was \
                 written",
                cell.variant
            )));
        }
        if cell.tree.files > FILES_MAX {
            return Err(Failure::usage(format!(
                "after each power cut all files are checked, {} at most, and {} may have {}. Nothing was \
                 written. Set fewer files with --set",
                grouped(FILES_MAX),
                cell.variant,
                grouped(cell.tree.files)
            )));
        }
        if cell.has_mix() {
            return Err(Failure::usage(format!(
                "{} mixes works, and which of its files were promised at a power cut is not followed. Nothing was \
                 written. Take a job without `work`",
                cell.variant
            )));
        }
        if cell.prepare.is_some() || !cell.phases.iter().any(can_be_cut) {
            return Err(Failure::usage(format!(
                "scenario {} has no phase that changes files and begins on an empty file system: there is \
                 nothing to cut the power in. Nothing was written. Take smallfiles",
                plan.name
            )));
        }
    }
    Ok(cells)
}

fn rows_of(cell: &CellPlan) -> Vec<PromiseRow> {
    let disk = cell.filesystem.as_ref().and_then(|filesystem| filesystem.disk.as_ref());
    let disk = disk.map_or("", |disk| &disk.name);
    DURABILITIES.map(|durability| PromiseRow::new(&cell.variant, disk, durability)).into()
}

impl CutPlan {
    /// The cut with this number of a cell.
    fn draw(seed: u64, cell: &CellPlan, number: u32) -> Self {
        let durability = DURABILITIES[(number as usize - 1) % DURABILITIES.len()];
        let random = |at: u64| draw(seed, Stream::PowerCut, u64::from(number) << 8 | at);
        let can_be_cut = |at: &usize| can_be_cut(&cell.phases[*at]);
        let all: Vec<usize> = (0..cell.phases.len()).filter(can_be_cut).collect();
        let promises = |at: &usize| promises_anything(&cell.phases[*at], durability);
        let telling: Vec<usize> = all.iter().copied().filter(promises).collect();
        let phases = if telling.is_empty() { all } else { telling };
        let phase = phases[below(random(0), phases.len() as u64) as usize];
        let count = cell.phases[phase].selection.count;
        let is_synced_as_a_whole = matches!(durability, Durability::None | Durability::Syncfs);
        let most = if is_synced_as_a_whole { count } else { count.min(OPERATIONS_MAX) };
        // Half of the cuts of a phase that ends with a sync come in that, or just after it.
        let is_in_sync = durability == Durability::Syncfs && below(random(1), 2) == 0;
        let is_after_sync = is_in_sync && below(random(6), 2) == 0;
        let operations = if is_in_sync { count } else { 1 + below(random(2), most.max(1)) };
        let requests = match is_after_sync {
            true => u64::MAX,
            false => 1 + below(random(3), 1 << below(random(4), REQUEST_BITS + 1)),
        };
        Self { number, durability, phase, operations, requests, seed: mix(random(5)) }
    }
}

struct CrashSeries<'a> {
    seed: u64,
    site: MadeSite,
    book: CrashBook,
    interrupt: &'a Interrupt,
}

impl CrashSeries<'_> {
    fn all(&mut self, cells: &[&CellPlan], cuts: u32, watcher: &dyn Watcher) -> Result<()> {
        for number in 1..=cuts {
            for cell in cells {
                if self.interrupt.is_set() {
                    return Ok(());
                }
                watcher.status(&format!("power cut {number} of {cuts}: {}", cell.variant));
                self.one(cell, number)?;
            }
        }
        Ok(())
    }

    /// Makes a file system, cuts the power in the middle of work on it, and looks what is left.
    fn one(&mut self, cell: &CellPlan, number: u32) -> Result<()> {
        let cut = CutPlan::draw(self.seed, cell, number);
        self.site.begin_cell(cell)?;
        let mut promises = TreePromises::new(&cell.tree);
        self.do_before(cell, &cut, &mut promises)?;
        if self.interrupt.is_set() {
            return Ok(());
        }
        let phase = Phase {
            durability: cut.durability,
            end: PhaseEnd::Targets,
            ..cell.phases[cut.phase].clone()
        };
        let CutWork { ends, synced_ns, power } = self.work_until_cut(&phase, &cut)?;
        promises.cut(&CutPhase { phase: &phase, ends: &ends, synced_ns, cut_ns: power.at_ns });
        let refused = self.site.mount_after_cut()?;
        let (rows, broken) = (self.book.rows.clone(), self.book.broken.clone());
        let checked = self.look(cell, &cut, &promises, &power, refused);
        match self.site.modelled_disk()?.failure() {
            // What was found missing meanwhile is no fault of the file system.
            Some(failure) => {
                (self.book.rows, self.book.broken) = (rows, broken);
                Err(failure)
            }
            None => checked,
        }
    }

    /// Does the phases before the one that is cut, after which all is durable.
    fn do_before(
        &mut self,
        cell: &CellPlan,
        cut: &CutPlan,
        promises: &mut TreePromises<'_>,
    ) -> Result<()> {
        for phase in &cell.phases[..cut.phase] {
            if phase.operation.only_looks() || phase.on_ballast.is_some() {
                continue;
            }
            let phase =
                Phase { durability: Durability::None, end: PhaseEnd::Targets, ..phase.clone() };
            let (never, due) = (AtomicU64::new(0), channel().0);
            let mut recorders: Vec<_> = (0..phase.threads)
                .map(|_| CrashRecorder::new(&never, u64::MAX, due.clone()))
                .collect();
            let done: Vec<DoneCount> = DoneCount::of_workers(phase.threads);
            let stop = self.interrupt.flag();
            let ran = self.site.engines().work(&phase, stop, &done, &mut recorders);
            if let Some((errno, failed)) = ran.errors.first_key_value() {
                return Err(Failure::failed(format!(
                    "{} of phase {} failed before any power cut: {}",
                    counted(*failed, "operation"),
                    phase.name,
                    errno.about()
                )));
            }
            promises.done_and_synced(&phase);
        }
        // From here on the disk may lose what is not flushed, the writes of this sync among it.
        self.site.modelled_disk()?.follow_cache()?;
        let synced = self.site.sync();
        synced
            .map(drop)
            .map_err(|errno| Failure::from_system("sync before a power cut", errno.about()))
    }

    /// Works on the phase until the power is gone.
    fn work_until_cut(&self, phase: &Phase, cut: &CutPlan) -> Result<CutWork> {
        let disk = self.site.modelled_disk()?;
        let (stop, ended) = (AtomicBool::new(false), AtomicU64::new(0));
        let (due, is_due) = channel();
        let recorder = |_| CrashRecorder::new(&ended, cut.operations, due.clone());
        let mut recorders: Vec<_> = (0..phase.threads).map(recorder).collect();
        drop(due);
        let is_in_sync =
            phase.durability == Durability::Syncfs && cut.operations == phase.selection.count;
        let (stop_flag, interrupt) = (&stop, self.interrupt);
        let cutter = PowerCutter { cut, disk, stop: stop_flag, is_armed: is_in_sync, interrupt };
        // Writes that no operation waits for begin when someone asks for them.
        let kick = || {
            let _ = self.site.sync();
        };
        let kicks =
            matches!(phase.durability, Durability::None | Durability::Syncfs) && !is_in_sync;
        std::thread::scope(|scope| {
            let cutter = scope.spawn(move || cutter.wait_and_cut(&is_due, kicks.then_some(&kick)));
            let done: Vec<DoneCount> = DoneCount::of_workers(phase.threads);
            self.site.engines().work(phase, &stop, &done, &mut recorders);
            let mut synced_ns = None;
            let mut armed = Ok(());
            if is_in_sync && !stop.load(Ordering::Relaxed) {
                armed = disk.cut_power(cut.requests, cut.seed);
                synced_ns = self.site.sync().ok().map(|_| monotonic_ns());
            }
            // Without recorders nobody can say any more that it is time.
            let ends = recorders.into_iter().map(CrashRecorder::into_ends).collect();
            let power = cutter.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            armed.map(|()| CutWork { ends, synced_ns, power })
        })
    }
}

/// The work on a phase until the power was gone.
struct CutWork {
    ends: Vec<WorkEnds>,
    synced_ns: Option<u64>,
    power: PowerCut,
}

/// Cuts the power when it is time.
struct PowerCutter<'a> {
    cut: &'a CutPlan,
    disk: &'a ModelledDisk,
    /// Set when the power is gone.
    stop: &'a AtomicBool,
    /// Whether somebody else orders the cut.
    is_armed: bool,
    interrupt: &'a Interrupt,
}

impl PowerCutter<'_> {
    /// Waits until it is due, or the phase is over, and then for the requests that are to come before the cut.
    fn wait_and_cut(
        &self,
        is_due: &Receiver<()>,
        kick: Option<&(dyn Fn() + Sync)>,
    ) -> Result<PowerCut> {
        let mut is_over = loop {
            match is_due.recv_timeout(INTERRUPT_PAUSE) {
                Ok(()) => break false,
                Err(RecvTimeoutError::Disconnected) => break true,
                Err(RecvTimeoutError::Timeout) if self.interrupt.is_set() => break true,
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        if !self.is_armed && !is_over {
            self.disk.cut_power(self.cut.requests, self.cut.seed)?;
            if let Some(kick) = kick {
                kick();
            }
        }
        let mut looks = 0;
        loop {
            let is_last = is_over || looks == LOOKS && !self.is_armed;
            if is_last {
                self.disk.cut_power(0, self.cut.seed)?;
            }
            match self.disk.power_cut()? {
                Some(power) => {
                    self.stop.store(true, Ordering::Relaxed);
                    return Ok(power);
                }
                None if is_last => {
                    return Err(Failure::failed("the power of the modelled disk cannot be cut"));
                }
                None => looks += 1,
            }
            is_over = is_due.recv_timeout(PAUSE) == Err(RecvTimeoutError::Disconnected);
        }
    }
}

impl CrashSeries<'_> {
    /// Looks what is left, and adds it to the book.
    fn look(
        &mut self,
        cell: &CellPlan,
        cut: &CutPlan,
        promises: &TreePromises<'_>,
        power: &PowerCut,
        refused: Option<Failure>,
    ) -> Result<()> {
        let same =
            |row: &&mut PromiseRow| row.variant == cell.variant && row.durability == cut.durability;
        let Some(row) = self.book.rows.iter_mut().find(same) else { return Ok(()) };
        row.cuts += 1;
        row.blocks_unflushed += power.blocks_kept + power.blocks_dropped;
        row.blocks_lost += power.blocks_dropped;
        let broken = |file, fate, reason| BrokenPromise {
            variant: cell.variant.clone(),
            cut: cut.number,
            durability: cut.durability,
            phase: cell.phases[cut.phase].name.clone(),
            file,
            fate,
            reason,
        };
        let mut all_broken = Vec::new();
        let mut audit = self.site.cell_tree().map(CrashAudit::new);
        for (number, promise) in promises.all() {
            if promise.is_promised {
                let fate = audit.as_mut().map_or(FileFate::Missing, |a| a.fate(number, promise));
                row.add(fate);
                if fate != FileFate::Kept && audit.is_some() {
                    all_broken.push(broken(Some(number), Some(fate), None));
                }
            }
            if promise.has_begun() {
                let is_there = audit.as_mut().is_some_and(|a| a.has_change(number, promise));
                let before = |ended: u64| power.at_ns.saturating_sub(ended) as f64 / 1e9;
                row.add_unpromised(is_there, promise.ended_ns.map(before));
            }
        }
        drop(audit);
        let checked = match refused {
            Some(failure) => {
                row.not_mounted += 1;
                all_broken.push(broken(None, None, Some(failure.sentence)));
                Ok(CheckedState::Unknown)
            }
            None => self.site.check_unmounted(),
        };
        match &checked {
            Ok(CheckedState::Unknown) | Err(_) => {}
            Ok(CheckedState::Clean) => row.checked += 1,
            Ok(CheckedState::Damaged(reason)) => {
                (row.checked, row.damaged) = (row.checked + 1, row.damaged + 1);
                all_broken.push(broken(None, None, Some(reason.clone())));
            }
        }
        let shown = all_broken.into_iter().rev().take(BROKEN_EACH);
        shown.for_each(|one| self.book.add_broken(one));
        checked.map(drop)
    }
}
