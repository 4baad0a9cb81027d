//! Runs a plan with many ranks: they agree on the run before it begins, wait for each other in each phase, and bring what
//! they measured together at rank 0, which alone keeps it.

use std::cell::{Cell, RefCell};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::measure_phase::PhaseBarriers;
use super::{RunOrder, VERSION};
use boatload_base::errno::ErrnoResult;
use boatload_base::failure::{Failure, Result, shown};
use boatload_host::page_cache::can_drop;
use boatload_host::process::{boot_id, host_name};
use boatload_op::Durability;
use boatload_plan::tree::RankPart;
use boatload_plan::{CellPlan, Phase, Plan, seed_of_rank};
use boatload_results::book::Measurement;
use boatload_results::merging::{RankReport, RankTimes};
use boatload_run::cache::{CacheDrop, CacheDropper};
use boatload_run::clock::RealClock;
use boatload_run::communicator::clock_offset::{ClockOffset, measure_offsets};
use boatload_run::communicator::collectives::{Collectives, RankFailure, asked_to_end};
use boatload_run::guard::DirectoryGuard;
use boatload_run::interrupt::Interrupt;
use boatload_run::remove::{Removal, remove_own};
use boatload_run::run_directory::RunDirectory;
use boatload_run::site::{RankCell, Site};
use boatload_run::workers::{PhaseRun, WorkSpan};

/// How long ranks wait for the last to arrive at the start.
const AGREED_WITHIN: Duration = Duration::from_secs(60);

/// How long the slowest rank may take longer than another where no limit of a phase says less.
const WITHIN: Duration = Duration::from_secs(3600);

/// A rank that ends its phase at its limit still has to count what is there.
const COUNTS_WITHIN: Duration = Duration::from_secs(60);

/// How long rank 0 waits at the end for others that still remove what they made.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// The host of a rank.
struct RankHost<'a> {
    name: String,
    /// The boot id of the kernel. Machines that were copied while they ran have the same id, and containers of one kernel have
    /// names of their own: ranks whose name and id are equal share a kernel.
    boot: String,
    /// Whether this rank may drop the caches of the kernel.
    may_drop: bool,
    drop: &'a (dyn Fn(CacheDrop) -> ErrnoResult<()> + Sync),
}

impl RankHost<'_> {
    /// This one.
    fn own() -> Self {
        let drop = &CacheDrop::in_kernel;
        Self { name: host_name(), boot: boot_id(), may_drop: can_drop(), drop }
    }
}

/// What a rank says of itself before a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RankCard {
    rank: u32,
    host: String,
    boot: String,
    may_drop: bool,
    version: String,
    /// Follows from the text of the job file.
    job: u64,
    seed: u64,
    /// Follows from all that its cells do.
    plan: u64,
    repeats: u32,
    /// The directory to work in, in the words of the user.
    directory: String,
}

impl RankCard {
    fn new(rank: u32, host: &RankHost<'_>, order: &RunOrder<'_>) -> Self {
        let plan = order.plan;
        Self {
            rank,
            host: host.name.clone(),
            boot: host.boot.clone(),
            may_drop: host.may_drop,
            version: VERSION.into(),
            job: plan.job_fingerprint(),
            seed: plan.seed,
            plan: plan.fingerprint(),
            repeats: plan.repeats_max(),
            directory: shown(&order.directory),
        }
    }

    /// How another rank differs from this one; `None` when it does not.
    fn difference(&self, other: &Self) -> Option<String> {
        let differs = |what: &str, own: &str, theirs: &str| {
            format!("has {what} {theirs}, and rank 0 on {} has {own}", self.host)
        };
        if self.version != other.version {
            return Some(differs("boatload", &self.version, &other.version));
        }
        if self.job != other.job {
            return Some(format!("has another job file than rank 0 on {}", self.host));
        }
        if self.seed != other.seed {
            return Some(differs("seed", &self.seed.to_string(), &other.seed.to_string()));
        }
        if self.directory != other.directory {
            return Some(differs("--dir", &self.directory, &other.directory));
        }
        if (self.plan, self.repeats) == (other.plan, other.repeats) {
            return None;
        }
        Some(format!(
            "has other options than rank 0 on {}, or other sizes that follow from its memory: name them with --set",
            self.host
        ))
    }
}

/// What rank 0 tells all before a run.
#[derive(Serialize, Deserialize)]
struct Agreement {
    id: String,
    hosts: Vec<String>,
    droppers: BTreeSet<u32>,
}

/// The ranks that run a plan together.
pub struct RankGroup<'a> {
    collectives: Collectives<'a>,
    /// The run's id.
    pub(super) id: String,
    host: RankHost<'a>,
    /// The name of each rank's host.
    pub(super) hosts: Vec<String>,
    /// The ranks that drop caches, each for all of its host.
    droppers: BTreeSet<u32>,
    /// The plan of each rank that this one works for in some phase.
    plans: BTreeMap<u32, Plan>,
    /// The directory of the run, at rank 0, until it is removed.
    directory: Mutex<Option<SharedDirectory>>,
    has_ended: AtomicBool,
}

/// All ranks agree on the order of rank 0: `order` is the order of this rank, or why it has none.
/// `plan_of` gives the plan with another seed.
///
/// # Errors
/// If a rank cannot, does not answer, or was asked to do something else.
pub fn agree_on_run<'a>(
    collectives: Collectives<'a>,
    order: Result<&RunOrder<'_>>,
    plan_of: impl Fn(u64) -> Result<Plan>,
) -> Result<RankGroup<'a>> {
    agree_from(RankHost::own(), collectives, order, plan_of)
}

/// The same for a rank on this host.
fn agree_from<'a>(
    host: RankHost<'a>,
    collectives: Collectives<'a>,
    order: Result<&RunOrder<'_>>,
    plan_of: impl Fn(u64) -> Result<Plan>,
) -> Result<RankGroup<'a>> {
    let (rank, size) = (collectives.rank(), collectives.size());
    let checked = order.and_then(|order| refuse(order.plan, size).map(|()| order));
    let card = checked.clone().map(|order| vec![RankCard::new(rank, &host, order)]);
    let all = |one: Vec<u8>, other: Vec<u8>| {
        let mut all: Vec<RankCard> = read(&one)?;
        all.extend(read::<Vec<RankCard>>(&other)?);
        written(&all)
    };
    let mut hosts = Vec::new();
    let mine = card.and_then(|card| written(&card));
    let agreement = collectives.reduce_and_broadcast(mine, &all, AGREED_WITHIN, |cards| {
        let cards: Vec<RankCard> = read(&cards)?;
        hosts = cards.iter().map(|card| card.host.clone()).collect();
        agree(&cards)
    });
    // Rank 0 knows where the others are, as far as they have come.
    let named = |failure: RankFailure| failure.failure(&hosts);
    let Agreement { id, hosts, droppers } = read(&agreement.map_err(named)?)?;
    let mut group = RankGroup {
        collectives,
        id,
        host,
        hosts,
        droppers,
        plans: BTreeMap::new(),
        directory: Mutex::default(),
        has_ended: AtomicBool::new(false),
    };
    let plans = checked.and_then(|order| group.plans_for(order.plan, plan_of));
    group.plans = group.each_with(plans)?;
    Ok(group)
}

/// Refuses what several ranks cannot do.
fn refuse(plan: &Plan, ranks: u32) -> Result<()> {
    let has_rank_offset = |cell: &CellPlan| cell.phases.iter().any(|phase| phase.rank_offset > 0);
    let needs_others = |cell: &CellPlan| has_rank_offset(cell) || cell.tree.part.is_some();
    let why = if plan.named_limit_seconds().is_some() {
        "--time-limit repeats until the answer is decided, which only a run of one process can do: name --repeats"
    } else if plan.makes_filesystems() {
        "file systems are made and mounted by one process only: name with --dir a directory that all hosts share"
    } else if plan.reads_device() {
        "a block device is read by one process only, for each host has its own"
    } else if plan.cells.iter().any(CellPlan::has_mix) {
        "works are mixed by one process only: take a job without `work`"
    } else if plan.cells.iter().any(|cell| cell.prepare.is_some()) {
        "a place is filled or aged by one process only: take a job without `prepare`"
    } else if plan.cells.iter().any(|cell| cell.engine.is_simulated() && needs_others(cell)) {
        "each rank has a simulated file system of its own, and `rank_offset` and `shared-by-ranks` need one that all share"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!("{why} (this run has {ranks} ranks)")))
}

/// The answer of rank 0 to what all said of themselves.
fn agree(cards: &[RankCard]) -> Result<Vec<u8>> {
    let Some((first, others)) = cards.split_first() else {
        return Err(Failure::failed("no rank has arrived"));
    };
    for card in others {
        if let Some(difference) = first.difference(card) {
            return Err(Failure::usage(format!(
                "rank {} on {} {difference}. Nothing was written",
                card.rank, card.host
            )));
        }
    }
    let hosts = cards.iter().map(|card| card.host.clone()).collect();
    written(&Agreement { id: super::new_id()?, hosts, droppers: droppers(cards) })
}

/// The lowest rank of each host that may drop its caches.
fn droppers(cards: &[RankCard]) -> BTreeSet<u32> {
    let mut kernels = BTreeSet::new();
    let may_drop = cards.iter().filter(|card| card.may_drop);
    let first = may_drop.filter(|card| kernels.insert((&card.host, &card.boot)));
    first.map(|card| card.rank).collect()
}

fn written(what: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(what).map_err(|error| Failure::from_system("send to other ranks", error))
}

fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|error| Failure::from_system("read what a rank sent", error))
}

impl<'a> RankGroup<'a> {
    /// Which rank this is.
    pub(super) fn rank(&self) -> u32 {
        self.collectives.rank()
    }

    /// How many there are.
    pub(super) fn size(&self) -> u32 {
        self.collectives.size()
    }

    /// The plans of this rank and of those that it works for. All have the order of cells of the job's seed.
    fn plans_for(
        &self,
        plan: &Plan,
        plan_of: impl Fn(u64) -> Result<Plan>,
    ) -> Result<BTreeMap<u32, Plan>> {
        let offsets =
            plan.cells.iter().flat_map(|cell| &cell.phases).map(|phase| phase.rank_offset);
        let mut plans = BTreeMap::new();
        for rank_offset in offsets.chain([0]) {
            let rank = self.worked_for(rank_offset);
            if let Entry::Vacant(place) = plans.entry(rank) {
                let other = plan_of(seed_of_rank(plan.seed, rank))?.of_rank(rank, self.size());
                place.insert(Plan { seed: plan.seed, ..other });
            }
        }
        Ok(plans)
    }

    /// The plan of this rank.
    pub fn own_plan(&self) -> Option<&Plan> {
        self.plans.get(&self.rank())
    }

    /// Whose files this rank works on in a phase with this rank_offset.
    fn worked_for(&self, rank_offset: u32) -> u32 {
        let rank = u64::from(self.rank()) + u64::from(rank_offset);
        // Less than the number of ranks.
        (rank % u64::from(self.size())) as u32
    }

    /// The cell and the phase of another rank that a phase of this one is to be; `None` when it is its own.
    pub(super) fn other(&self, cell: usize, phase: usize) -> Option<OtherPhase<'_>> {
        let rank_offset = self.own_plan()?.cells.get(cell)?.phases.get(phase)?.rank_offset;
        let rank = self.worked_for(rank_offset);
        let cell = self.plans.get(&rank).filter(|_| rank != self.rank())?.cells.get(cell)?;
        Some(OtherPhase { cell: RankCell { rank, cell }, phase: cell.phases.get(phase)? })
    }

    /// The failure that ended all, with the host it came from.
    fn named(&self, failure: &RankFailure) -> Failure {
        failure.failure(&self.hosts)
    }

    /// All ranks meet. One that has failed before says so now, and all end.
    ///
    /// # Errors
    /// What any of them failed with.
    pub(super) fn barrier(&self, mine: Result<()>) -> Result<()> {
        self.collectives.barrier(mine, WITHIN).map_err(|failure| self.named(&failure))
    }

    /// All ranks meet, unless this one was asked to end; `within` is how long the slowest may take longer than this one.
    fn meet(&self, interrupt: &Interrupt, within: Duration) -> Result<()> {
        let mine = if interrupt.is_set() { Err(asked_to_end()) } else { Ok(()) };
        self.collectives.barrier(mine, within).map_err(|failure| self.named(&failure))
    }

    /// Makes the tree of a cell; one that ranks share is there for the others when rank 0 has made it.
    ///
    /// # Errors
    /// If it cannot be made or opened, or another rank has failed.
    pub(super) fn begin_cell(&self, site: &mut dyn Site, cell: &CellPlan) -> Result<()> {
        match cell.tree.part {
            None => site.begin_cell(cell),
            Some(RankPart { rank: 0, .. }) => self.each_with(site.begin_cell(cell)),
            Some(_) => self.barrier(Ok(())).and_then(|()| site.begin_cell(cell)),
        }
    }

    /// Removes the tree of a cell; of one that ranks share, each its own files, then rank 0 the rest.
    ///
    /// # Errors
    /// If another rank has failed.
    pub(super) fn end_cell(
        &self,
        site: &mut dyn Site,
        cell: &CellPlan,
        interrupt: &Interrupt,
    ) -> Result<Removal> {
        if interrupt.is_set() {
            // The others wait for what this one does not do any more.
            self.meet(interrupt, WITHIN)?;
        }
        if cell.tree.part.is_some() {
            site.remove_own_entries();
            self.meet(interrupt, WITHIN)?;
        }
        Ok(site.end_cell())
    }

    /// The value of this rank, if every other rank has one as well.
    ///
    /// # Errors
    /// Why one of them has none.
    pub fn each_with<T>(&self, mine: Result<T>) -> Result<T> {
        self.barrier(mine.as_ref().map(|_| ()).map_err(Clone::clone))?;
        mine
    }

    /// The end of what this rank has to do, however it came: others hear why.
    ///
    /// # Errors
    /// What any rank failed with.
    pub(super) fn agree_on_end<T>(&self, mine: Result<T>, interrupt: &Interrupt) -> Result<T> {
        if let Some(ended) = self.collectives.ended() {
            let failure = self.named(&ended);
            // What cannot be removed here is said here.
            return Err(match mine {
                Err(own) if own != failure && self.rank() == 0 => failure.then(&own),
                _ => failure,
            });
        }
        let said = match &mine {
            Err(failure) => Err(failure.clone()),
            Ok(_) if interrupt.is_set() => Err(asked_to_end()),
            Ok(_) => Ok(()),
        };
        self.barrier(said).and(mine)
    }

    /// What this rank works in, in the directory of the run, which rank 0 makes.
    ///
    /// # Errors
    /// If any rank has none.
    pub(super) fn own_directory(
        &self,
        parent: BorrowedFd<'_>,
        place: &Path,
        stop: &AtomicBool,
    ) -> Result<RunDirectory> {
        let token = match self.rank() {
            0 => self.make_directory(parent, place, stop).map(String::into_bytes),
            _ => Ok(Vec::new()),
        };
        let token = self.collectives.reduce_and_broadcast(token, &|one, _| Ok(one), WITHIN, Ok);
        let token = token.map_err(|failure| self.named(&failure))?;
        let token = String::from_utf8_lossy(&token);
        RunDirectory::make_for_rank(parent, &self.id, &token, self.rank(), stop)
    }

    /// Makes the directory of the run; the token of its marker.
    fn make_directory(
        &self,
        parent: BorrowedFd<'_>,
        place: &Path,
        stop: &AtomicBool,
    ) -> Result<String> {
        let parent = parent.try_clone_to_owned();
        let parent = parent.map_err(|error| Failure::from_system("open --dir", error))?;
        // Where none can be started, `clean` removes what a killed run leaves, as for one process.
        let guard = DirectoryGuard::start(place, &self.id).ok();
        let own = RunDirectory::make(parent, place, &self.id, stop);
        let own = match own {
            Ok(own) => own,
            Err(failure) => {
                guard.into_iter().for_each(DirectoryGuard::dismiss);
                return Err(failure);
            }
        };
        let token = own.token().unwrap_or_default().to_string();
        *self.directory() = Some(SharedDirectory { own, guard });
        Ok(token)
    }

    fn directory(&self) -> MutexGuard<'_, Option<SharedDirectory>> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows hosts that cannot see this process that the run continues.
    pub(super) fn beat(&self) {
        self.directory().iter().for_each(|shared| shared.own.beat());
    }

    /// The last of all: rank 0 waits until the others have removed what they made, and removes the directory of the run
    /// with all that is left in it.
    ///
    /// # Errors
    /// If its marker no longer proves that it is boatload's.
    pub(super) fn close(&self) -> Result<Removal> {
        if !self.has_ended.swap(true, Ordering::Relaxed) {
            self.collectives.wait_for_end(ENDS_WITHIN);
        }
        let shared = self.directory().take();
        shared.map_or_else(|| Ok(Removal::default()), SharedDirectory::remove)
    }

    /// The barriers of a phase.
    pub(super) fn barriers<'c>(
        &'c self,
        is_real: bool,
        interrupt: &'c Interrupt,
    ) -> RankBarriers<'c, 'a> {
        let (before, span) = (RefCell::default(), Cell::default());
        let clock = RealClock::new();
        let counts_for_all = Cell::default();
        RankBarriers { group: self, clock, is_real, interrupt, before, span, counts_for_all }
    }
}

/// A phase as another rank has it.
pub(super) struct OtherPhase<'a> {
    pub(super) cell: RankCell<'a>,
    pub(super) phase: &'a Phase,
}

/// The directory of a run of many ranks, which rank 0 made and removes when all have ended.
struct SharedDirectory {
    own: RunDirectory,
    /// Removes it in place of a rank 0 that is killed, or that could not because others still worked in it.
    guard: Option<DirectoryGuard>,
}

impl SharedDirectory {
    fn remove(self) -> Result<Removal> {
        let removal = remove_own(&self.own);
        // By its name the guard can do no more where the directory was renamed.
        if removal.as_ref().map_or(true, |removal| removal.left.is_empty()) {
            self.guard.into_iter().for_each(DirectoryGuard::dismiss);
        }
        removal
    }
}

/// How long the slowest rank may take to end a phase longer than another. What it does at most is its limit; the sync after
/// it has none.
fn ends_within(phase: &Phase) -> Duration {
    let Some(limit_ns) = phase.limit_ns else { return WITHIN };
    let after = if phase.durability == Durability::Syncfs { WITHIN } else { COUNTS_WITHIN };
    Duration::from_nanos(limit_ns) + after
}

/// Where this rank waits for the others in a phase, and what comes of it.
pub(super) struct RankBarriers<'c, 'a> {
    group: &'c RankGroup<'a>,
    clock: RealClock,
    /// Whether times are of this machine: simulated ones all begin at the same moment.
    is_real: bool,
    interrupt: &'c Interrupt,
    /// The clocks of all ranks before the phase, at rank 0.
    before: RefCell<Vec<ClockOffset>>,
    /// When this rank worked, by its own clock; none until it has.
    span: Cell<Option<WorkSpan>>,
    /// Whether rank 0 counts the entries of all.
    counts_for_all: Cell<bool>,
}

impl CacheDropper for RankBarriers<'_, '_> {
    /// One rank drops for all of its host, when all have come: what the others opened to look at it afterwards was opened
    /// before, and nobody looks while another drops. After names were dropped they meet at the start.
    fn drop_caches(&self, what: CacheDrop, is_wanted: bool) -> Result<bool> {
        let group = self.group;
        if group.droppers.is_empty() {
            return Ok(false);
        }
        group.meet(self.interrupt, WITHIN)?;
        let is_done_here = is_wanted && group.droppers.contains(&group.rank());
        let dropped = if is_done_here { (group.host.drop)(what) } else { Ok(()) };
        // Names that stay change as little as for one process: a few inodes that were proved to have no data in memory.
        if what == CacheDrop::All {
            group.barrier(dropped.map_err(|errno| {
                Failure::from_system("drop the caches of the kernel", errno.about())
            }))?;
        }
        Ok(is_wanted)
    }
}

impl PhaseBarriers for RankBarriers<'_, '_> {
    fn is_alone(&self) -> bool {
        false
    }

    fn ready(&self) -> Result<()> {
        self.group.meet(self.interrupt, WITHIN)?;
        *self.before.borrow_mut() = self.offsets()?;
        Ok(())
    }

    fn start(&self) -> Result<()> {
        self.group.barrier(Ok(()))
    }

    fn ended(&self, run: &PhaseRun) {
        self.span.set(run.span);
    }

    fn counting(&self, cell: &CellPlan, phase: &Phase) -> Result<()> {
        match cell.tree.part {
            None => Ok(()),
            Some(_) => {
                self.counts_for_all.set(true);
                self.group.meet(self.interrupt, ends_within(phase))
            }
        }
    }
}

impl RankBarriers<'_, '_> {
    fn offsets(&self) -> Result<Vec<ClockOffset>> {
        let group = self.group;
        if !self.is_real {
            let none = if group.rank() == 0 { group.size() } else { 0 };
            return Ok(vec![ClockOffset::default(); none as usize]);
        }
        measure_offsets(&group.collectives, &self.clock).map_err(|failure| group.named(&failure))
    }

    /// What all ranks measured in a phase, at rank 0; what this one did elsewhere.
    ///
    /// # Errors
    /// What any rank failed with.
    pub(super) fn merged(&self, own: Result<Measurement>, phase: &Phase) -> Result<Measurement> {
        let group = self.group;
        let report = own.as_ref().map_err(Clone::clone).and_then(|own| {
            let (rank, operations) = (group.rank(), own.operations);
            let failed = own.errors.values().sum();
            let times = RankTimes { rank, span: self.span.get(), operations, failed };
            RankReport::new(own.clone(), times).encoded()
        });
        // What was cut short is measured of no rank: it would be invalid.
        let report =
            if self.interrupt.is_set() { report.and_then(|_| Err(asked_to_end())) } else { report };
        let merge = |one: Vec<u8>, other: Vec<u8>| {
            RankReport::decoded(&one)?.merged(RankReport::decoded(&other)?)?.encoded()
        };
        let mut in_all = None;
        // Rank 0 counts what all have made, and the others wait for it.
        let within = if self.counts_for_all.get() { WITHIN } else { ends_within(phase) };
        let answer = group.collectives.reduce_and_broadcast(report, &merge, within, |merged| {
            in_all = Some(RankReport::decoded(&merged)?);
            Ok(Vec::new())
        });
        answer.map_err(|failure| group.named(&failure))?;
        let after = self.offsets();
        let Some(in_all) = in_all else { return after.and(own) };
        let before = self.before.borrow();
        // What is merged was measured, whatever ends the ranks now: the next time that they meet says so.
        let after = after.unwrap_or_else(|_| before.clone());
        let offset = |offsets: &[ClockOffset], rank: u32| {
            offsets.get(rank as usize).copied().unwrap_or_default()
        };
        let common =
            |rank, ns| ClockOffset::common(offset(&before, rank), offset(&after, rank), ns);
        let error_ns = before.iter().chain(&after).map(|offset| offset.error_ns).max();
        Ok(in_all.measurement(common, error_ns.unwrap_or_default() as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests;
