//! Measures one phase: prepares caches, reads counters of the device and the process before and after the work, syncs, counts the
//! entries of the tree, and says why a measurement is invalid. `settle` measures what is written until the unmount.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::{PhaseContext, Watcher};
use boatload_base::errno::Errno;
use boatload_base::failure::Result;
use boatload_host::block_device::DeviceCounters;
use boatload_host::cpu::CpuTime;
use boatload_host::disturbance::{DisturbanceCounters, DisturbanceWatch, PhaseSupport};
use boatload_host::memory::touch_free;
use boatload_host::settings::host_takes_free_memory;
use boatload_host::space::{Space, SpaceLack};
use boatload_op::{Durability, Effect};
use boatload_plan::phase::{MixPart, PhaseEnd};
use boatload_plan::{CellPlan, Phase, Tree};
use boatload_results::book::{
    CacheReport, CellKey, DiskActivity, Disturbance, Measurement, SETTLE,
};
use boatload_results::histogram::encoded;
use boatload_results::invalid::{FirstFailure, InvalidReason};
use boatload_results::operation::MeasuredOperation;
use boatload_results::recorder::{PhaseRecorder, Recorded, Windows, merge};
use boatload_results::time_shares::{TimeShares, WorkersTime};
use boatload_run::cache::{CacheDropper, CacheVerdict, OwnDropper, ReadEvidence};
use boatload_run::clock::{BothClocks, ClockSource, RealClock};
use boatload_run::drive::{DoneCount, FailedRequest, WorkTally};
use boatload_run::interrupt::Interrupt;
use boatload_run::site::{Settled, Site};
use boatload_run::workers::PhaseRun;

/// Looks at the machine around phases: what else happens there while a phase runs, and its sync.
#[derive(Default)]
pub(super) struct PhaseWatch {
    clock: RealClock,
    watch: DisturbanceWatch,
}

/// The look before a phase.
pub(super) struct WatchedPhase {
    clocks: BothClocks,
    look: DisturbanceCounters,
    disk: Option<DiskActivity>,
}

/// What was seen around a phase.
#[derive(Default)]
pub(super) struct PhaseSurroundings {
    disturbance: Option<Disturbance>,
    disk: Option<DiskActivity>,
    support: Option<PhaseSupport>,
}

impl PhaseWatch {
    /// Looks before a phase, in which a modelled disk takes its time; `None` when the place is simulated, and
    /// nothing disturbs it.
    ///
    /// # Errors
    /// If a modelled disk does not answer.
    pub(super) fn begin(&mut self, site: &dyn Site) -> Result<Option<WatchedPhase>> {
        if !site.is_real() {
            return Ok(None);
        }
        site.time_disk(true)?;
        let (look, disk) = (self.watch.look(site.device()), site.disk_activity()?);
        Ok(Some(WatchedPhase { clocks: self.clock.both(), look, disk }))
    }

    /// What happened since then.
    ///
    /// # Errors
    /// If a modelled disk does not answer.
    pub(super) fn end(
        &mut self,
        begun: &WatchedPhase,
        site: &dyn Site,
    ) -> Result<PhaseSurroundings> {
        let disk = match &begun.disk {
            Some(before) => site.disk_activity()?.map(|after| after.since(before)),
            None => None,
        };
        site.time_disk(false)?;
        let (disturbance, support) = self.seen_since(begun, site);
        Ok(PhaseSurroundings { disturbance: Some(disturbance), disk, support: Some(support) })
    }

    fn seen_since(&mut self, begun: &WatchedPhase, site: &dyn Site) -> (Disturbance, PhaseSupport) {
        let clocks = self.clock.both();
        let look = self.watch.look(site.device());
        let (seconds, clock_error) = self.clock.compared(begun.clocks, clocks);
        // Where latencies come from the kernel's own clock there is nothing to hold against it.
        let clock_error = clock_error.filter(|_| self.clock.source() == ClockSource::Tsc);
        let found = self.watch.between(&begun.look, &look);
        let support = look.support_since(&begun.look, seconds);
        (Disturbance { seconds: Some(seconds), clock_error, ..found }, support)
    }
}

/// Where the ranks of a run wait for each other in a phase. One of each host drops caches for all of it. A process that is
/// alone has none, as is the default.
pub(super) trait PhaseBarriers: CacheDropper {
    /// Whether this process is not one of many ranks.
    fn is_alone(&self) -> bool {
        true
    }

    /// Waits until every rank has prepared its caches: from here on nobody drops contents.
    ///
    /// # Errors
    /// If another rank has failed.
    fn ready(&self) -> Result<()> {
        Ok(())
    }

    /// The work begins now, everywhere.
    ///
    /// # Errors
    /// If another rank has failed.
    fn start(&self) -> Result<()> {
        Ok(())
    }

    /// This rank has done its work.
    fn ended(&self, _run: &PhaseRun) {}

    /// Entries are to be counted, which takes all ranks to have done theirs where they share the tree.
    ///
    /// # Errors
    /// If another rank has failed.
    fn counting(&self, _cell: &CellPlan, _phase: &Phase) -> Result<()> {
        Ok(())
    }
}

impl PhaseBarriers for OwnDropper {}

/// The measurements of one phase.
pub(super) struct PhaseMeasurements {
    /// All of it.
    pub(super) whole: Measurement,
    /// The works of a mix, each before the steps of its chain.
    pub(super) parts: Vec<Measurement>,
}

/// Runs one phase and gives its measurements, whatever becomes of it: a failure is a result too.
///
/// # Errors
/// If the place is lost, so that nothing more can be measured there.
pub(super) fn measure(
    site: &mut dyn Site,
    cell: &CellPlan,
    context: &PhaseContext<'_>,
    watcher: &dyn Watcher,
    watch: &mut PhaseWatch,
    interrupt: &Interrupt,
    barriers: &dyn PhaseBarriers,
) -> Result<PhaseMeasurements> {
    let phase = context.phase;
    let found = site.prepare_caches(phase, interrupt.flag(), barriers)?;
    let memory_touched_bytes = touch_memory(&*site, cell, phase, barriers);
    let idle = site.wait_until_idle(interrupt.flag());
    barriers.ready()?;
    let done: Arc<[DoneCount]> = DoneCount::of_workers(phase.threads);
    let (mut recorders, windows) = recorders_of(phase);
    watcher.phase_begins(context, Arc::clone(&done));
    let space = site.space();
    let found = site.recheck_caches(found, phase, barriers)?;
    let site = &*site;
    let begun = watch.begin(site)?;
    barriers.start()?;
    let before = site.readings();
    let run = site.engines().work(phase, interrupt.flag(), &done, &mut recorders);
    watcher.operations_end();
    // What the sync reads says nothing of where the phase's own reads came from.
    let read = site.readings().since(before);
    let mut wrong = Vec::new();
    // A user who wants to stop does not wait for a sync of what will be removed.
    let interrupted = interrupt.is_set();
    let before_sync = CpuTime::of_thread();
    let sync_seconds = if interrupted { 0.0 } else { sync(site, phase, &mut wrong) };
    let sync_time = CpuTime::of_thread().since(before_sync);
    let moved = site.readings().since(before).device;
    let seen = begun.map(|begun| watch.end(&begun, site)).transpose()?;
    let PhaseSurroundings { disturbance, disk, support } = seen.unwrap_or_default();
    let disturbance = disturbance.or_else(|| site.simulated_load(run.seconds));
    let space_after = site.space();
    let recorded = merge(recorders, windows);
    barriers.ended(&run);
    let others_read_bytes = disturbance.and_then(|d| d.others_read_bytes);
    let (operations, bytes) = (run.operations, run.bytes);
    let evidence = ReadEvidence { operations, bytes, read, others_read_bytes };
    let found = site.confirm(found, phase, &evidence);
    barriers.counting(cell, phase)?;
    let entries = count(site, cell, phase, run.mix.entries_change, &mut wrong);
    let mut measurement = Measurement {
        service: recorded.service,
        rate_error: recorded.rate_error,
        sync_seconds: Some(sync_seconds),
        latency: Some(recorded.latency),
        cache: cache_report(phase, found),
        slices_ns: recorded.slices_ns,
        disturbance,
        disk,
        idle,
        memory_touched_bytes,
        entries_expected: entries.expected,
        entries_found: entries.found,
        histogram: encoded(&recorded.histogram),
        windows: recorded.windows,
        ..with_taken(
            with_device(counted_work(cell, context, &run), moved),
            space.zip(space_after),
            phase,
        )
    };
    measurement.time_shares = support.map(|support| {
        let time = WorkersTime::of(&run, sync_time);
        TimeShares::of(&measurement, &time, &support, site.has_disk())
    });
    let tree = site.tree_of(phase, cell);
    let met = MetErrors { failures: &run.failures, lack: space_after.map(|space| space.lack()) };
    wrong.extend(shortfalls(&measurement, &tree, phase, interrupted, &met));
    measurement.invalid = wrong;
    let tallies = run.mix.works.iter().flat_map(|(work, steps)| [work].into_iter().chain(steps));
    let parts = of_parts(&measurement, phase, tallies, recorded.parts);
    Ok(PhaseMeasurements { whole: measurement, parts })
}

/// What each part of a mix did, in the time of the whole. What the device and the processors did for it alone
/// nobody knows.
fn of_parts<'a>(
    whole: &Measurement,
    phase: &Phase,
    runs: impl Iterator<Item = &'a WorkTally>,
    recorded: Vec<Recorded>,
) -> Vec<Measurement> {
    let parts = phase.parts().into_iter();
    let one = |((part, run), recorded): ((MixPart, &WorkTally), Recorded)| Measurement {
        cell: whole.cell.clone(),
        operation: Some(MeasuredOperation::of_part(&part)),
        phase: part.name,
        pass: whole.pass,
        part_of: Some(part.of),
        gone: (run.gone > 0).then_some(run.gone),
        engine: whole.engine,
        durability: whole.durability,
        threads: Some(part.threads),
        operations: run.operations,
        operations_asked: Some(run.operations + run.errors.values().sum::<u64>()),
        errors: run.errors.clone(),
        bytes: Some(run.bytes),
        seconds: whole.seconds,
        sync_seconds: whole.sync_seconds,
        duration_seconds: whole.duration_seconds,
        turns_per_second_asked: whole.turns_per_second_asked,
        latency: Some(recorded.latency),
        service: recorded.service,
        rate_error: recorded.rate_error,
        slices_ns: recorded.slices_ns,
        histogram: encoded(&recorded.histogram),
        cache: whole.cache.clone(),
        disturbance: whole.disturbance,
        invalid: if whole.valid() { Vec::new() } else { vec![InvalidReason::Mix] },
        ..Measurement::default()
    };
    parts.zip(runs).zip(recorded).map(one).collect()
}

/// One for each worker, and the windows that they share; `None` when the phase has none.
fn recorders_of(phase: &Phase) -> (Vec<PhaseRecorder>, Option<Arc<Mutex<Windows>>>) {
    let windows = (phase.windows > 0).then(|| {
        let windows = Windows::new(phase.windows, phase.selection.count, phase.threads);
        Arc::new(Mutex::new(windows))
    });
    let recorder = |worker| match &phase.mix {
        Some(mix) => PhaseRecorder::of_mix(phase.turns(worker), phase, mix),
        None => PhaseRecorder::new(phase.turns(worker), windows.clone()),
    };
    ((0..phase.threads).map(recorder).collect(), windows)
}

/// Takes and frees memory for the contents that a phase moves, where a host takes back what is free: so many
/// bytes; `None` when there is no need. Ranks would all take half of what is free at the same time.
fn touch_memory(
    site: &dyn Site,
    cell: &CellPlan,
    phase: &Phase,
    barriers: &dyn PhaseBarriers,
) -> Option<u64> {
    let may_touch = !cell.engine.is_simulated() && barriers.is_alone() && !phase.direct;
    if !may_touch || !host_takes_free_memory() {
        return None;
    }
    let once = Phase { end: PhaseEnd::Targets, ..phase.clone() };
    let bytes = once.expected_bytes(&site.tree_of(phase, cell), once.selection.count)?;
    (bytes > 0).then(|| touch_free(bytes))
}

/// A measurement with what the device did.
fn with_device(m: Measurement, moved: Option<DeviceCounters>) -> Measurement {
    let Some(moved) = moved else { return m };
    Measurement {
        device_read_bytes: Some(moved.read_bytes),
        device_write_bytes: Some(moved.write_bytes),
        device_reads: Some(moved.reads),
        device_writes: Some(moved.writes),
        device_busy_seconds: Some(moved.busy_ms as f64 / 1e3),
        device_queue_seconds: Some(moved.queue_ms as f64 / 1e3),
        ..m
    }
}

/// What the file system of a cell still writes after its last phase, until it is unmounted, with what
/// it wrote in the unmounts between phases; `None` when boatload did not make the file system.
///
/// # Errors
/// If the file system cannot be mounted again for the next level.
pub(super) fn settle(
    site: &mut dyn Site,
    cell: &CellPlan,
    key: &CellKey,
) -> Result<Option<Measurement>> {
    let Some(Settled { seconds, device, disk }) = site.settle()? else { return Ok(None) };
    let measurement = Measurement {
        cell: key.clone(),
        phase: SETTLE.into(),
        pass: 1,
        operation: Some(MeasuredOperation::Settle),
        engine: Some(cell.engine),
        threads: Some(1),
        operations: 1,
        operations_asked: Some(1),
        bytes: Some(0),
        seconds: Some(seconds),
        sync_seconds: Some(0.0),
        disk,
        ..Measurement::default()
    };
    Ok(Some(with_device(measurement, device)))
}

/// Content that no file system has room for in what it has in use already.
const TAKES_SPACE_BYTES: u64 = 1 << 20;

/// A measurement with the bytes and inodes that its phase took. Before a sync some file systems do not know
/// yet what they will take, so only of phases that end with one. What stands still although files were made
/// is not counted: some report the same numbers whatever happens.
fn with_taken(m: Measurement, space: Option<(Space, Space)>, phase: &Phase) -> Measurement {
    let space = space.filter(|_| phase.durability == Durability::Syncfs);
    let Some((before, after)) = space else { return m };
    let made_files = phase.operation.effect == Effect::AddsEntry;
    let (made_some, made_much) =
        (made_files && m.operations > 0, made_files && m.bytes >= Some(TAKES_SPACE_BYTES));
    let taken = |before: Option<u64>, after: Option<u64>, must_move: bool| {
        let taken = after?.wrapping_sub(before?).cast_signed();
        (taken != 0 || !must_move).then_some(taken)
    };
    let used = |space: &Space| space.is_stated().then(|| space.used_bytes());
    let space_bytes = taken(used(&before), used(&after), made_much);
    let inodes = taken(before.used_inodes, after.used_inodes, made_some);
    Measurement { space_bytes, inodes, ..m }
}

fn counted_work(cell: &CellPlan, context: &PhaseContext<'_>, run: &PhaseRun) -> Measurement {
    let phase = context.phase;
    let failed: u64 = run.errors.values().sum();
    let mix = phase.mix.as_ref();
    let gone = (run.gone > 0).then_some(run.gone);
    let asked = phase.operations().map(|asked| asked.saturating_sub(run.gone));
    Measurement {
        cell: context.key.clone(),
        phase: phase.name.clone(),
        pass: phase.pass,
        operation: Some(MeasuredOperation::of(phase)),
        engine: Some(cell.engine),
        durability: Some(phase.durability),
        threads: Some(phase.threads),
        operations: run.operations,
        operations_asked: Some(asked.unwrap_or(run.operations + failed)),
        gone,
        errors: run.errors.clone(),
        bytes: Some(run.bytes),
        seconds: Some(run.seconds),
        duration_seconds: phase.duration_seconds(),
        turns_per_second_asked: mix.and_then(|mix| Some(mix.pace?.turns_per_second)),
        evictions: mix.map(|_| run.mix.evictions),
        cpu_user_seconds: Some(run.cpu.user_seconds),
        cpu_system_seconds: Some(run.cpu.system_seconds),
        worker_spread: run.worker_spread,
        context_switches: Some(run.cpu.context_switches),
        ..Measurement::default()
    }
}

fn sync(site: &dyn Site, phase: &Phase, wrong: &mut Vec<InvalidReason>) -> f64 {
    if phase.durability != Durability::Syncfs {
        return 0.0;
    }
    site.sync().unwrap_or_else(|errno| {
        wrong.push(InvalidReason::Sync { error: errno });
        0.0
    })
}

/// Entries of a tree after a phase, as far as this process counts them.
struct EntryCount {
    expected: Option<u64>,
    found: Option<u64>,
}

fn count(
    site: &dyn Site,
    cell: &CellPlan,
    phase: &Phase,
    change: i64,
    wrong: &mut Vec<InvalidReason>,
) -> EntryCount {
    let expected = phase.entries_after.saturating_add_signed(change);
    let expected = cell.tree.entries_to_count(expected);
    let found = expected.and_then(|_| {
        let failed = |error| wrong.push(InvalidReason::Count { error });
        site.count_entries().map_err(failed).ok()
    });
    EntryCount { expected, found }
}

fn cache_report(phase: &Phase, found: CacheVerdict) -> CacheReport {
    CacheReport {
        asked: phase.cache,
        found: found.found,
        resident_fraction: found.resident,
        reason: found.doubt,
    }
}

/// Where the errors of a phase were met, and what the file system lacked after it.
struct MetErrors<'a> {
    failures: &'a BTreeMap<Errno, FailedRequest>,
    lack: Option<SpaceLack>,
}

impl MetErrors<'_> {
    /// So many operations failed with an error.
    fn reason(&self, error: Errno, operations: u64, phase: &Phase) -> InvalidReason {
        let first = self.failures.get(&error);
        let first =
            first.map(|met| FirstFailure { request: met.kind, entry: met.place.to_string() });
        let lack = self.lack.filter(|_| error == Errno::ENOSPC);
        InvalidReason::Failed { error, operations, first, lack, direct: phase.direct }
    }
}

/// Why a measurement must not be averaged in.
fn shortfalls(
    m: &Measurement,
    tree: &Tree,
    phase: &Phase,
    interrupted: bool,
    met: &MetErrors<'_>,
) -> Vec<InvalidReason> {
    let failed = m.errors.iter().map(|(error, count)| met.reason(*error, *count, phase));
    let mut wrong: Vec<_> = failed.collect();
    let operations = m.operations;
    if interrupted {
        wrong.push(InvalidReason::Interrupted { operations });
        return wrong;
    }
    if let Some(limit_ns) = phase.limit_ns.filter(|limit| m.seconds >= Some(*limit as f64 / 1e9)) {
        wrong.push(InvalidReason::Limit { limit_ns, operations, asked: phase.operations() });
        return wrong;
    }
    let asked = m.operations_asked.filter(|asked| *asked != operations && m.errors.is_empty());
    wrong.extend(asked.map(|asked| InvalidReason::Operations { operations, asked }));
    let of_all_ranks = tree.is_made_for_others();
    let other = |(found, expected)| InvalidReason::Entries { found, expected, of_all_ranks };
    let counted = m.entries_found.zip(m.entries_expected).filter(|(found, must)| found != must);
    wrong.extend(counted.map(other));
    let expected = phase.expected_bytes(tree, operations).filter(|_| m.errors.is_empty());
    let moved = m.bytes.zip(expected).filter(|(moved, expected)| moved != expected);
    wrong.extend(moved.map(|(moved, expected)| InvalidReason::Bytes { moved, expected }));
    wrong
}
