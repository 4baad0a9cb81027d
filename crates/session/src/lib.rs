//! Runs a plan: measures and stores every phase of every cell.

pub mod ballast;
mod call_watch;
pub mod crash;
pub mod images;
pub mod make_filesystems;
mod measure_phase;
pub mod memory;
mod overhead;
mod preparing;
mod ranks;
mod record;
mod resume;
pub mod room;
mod sites;
pub mod trace;
pub mod trials;
mod until_decided;

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use self::images::{KeptImages, settled_place};
use self::make_filesystems::Toolset;
use self::measure_phase::{PhaseMeasurements, PhaseWatch};
use self::memory::MemoryNeed;
use self::preparing::PreparedPlace;
use self::record::{Record, RecordEnd};
use self::resume::KnownCells;
use self::sites::{Sites, none_stays};
use self::until_decided::SpentTime;
use boatload_base::dates::rfc3339;
use boatload_base::distinct::each_once;
use boatload_base::failed_calls;
use boatload_base::failure::{Exit, Failure, Result};
use boatload_base::random::random_word;
use boatload_base::shell::is_command_text;
use boatload_host::block_device::{BlockDevice, device_to_read};
use boatload_host::facts::HostFacts;
use boatload_host::memory::{MemoryRoom, memory_bytes};
use boatload_host::mounts::{Mount, is_in_memory};
use boatload_host::process::ProcessMark;
use boatload_host::space::Space;
use boatload_plan::filesystem::Volume;
use boatload_plan::phase::PhaseEnd;
use boatload_plan::repetition::Repetition;
use boatload_plan::{CellPlan, Phase, Plan};
use boatload_results::book::{
    Book, CellKey, Condition, Level, LevelOrder, MadeFileSystem, Measurement, RunFacts, SETTLE,
    Stopping,
};
use boatload_results::store::{FinishedCell, RunOrigin, Store};
use boatload_run::ballast::Headway;
use boatload_run::cache::OwnDropper;
use boatload_run::clock::RealClock;
use boatload_run::drive::DoneCount;
use boatload_run::interrupt::Interrupt;
use boatload_run::remove::Removal;
use boatload_run::run_directory::{ID_LETTERS, open_parent};
use boatload_run::run_location::RunLocation;
use boatload_run::site::{RankCell, SiteCondition};

pub use self::ranks::{RankGroup, agree_on_run};
pub use self::record::continues_without_store;
pub use self::resume::{UnfinishedRun, check_same_place, resume};

/// The version of boatload.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The plan to run, and the place to run it in.
#[derive(Clone)]
pub struct RunOrder<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The directory below which the run's own is made.
    pub directory: PathBuf,
    /// The command line, for the record.
    pub command: String,
    /// Whether a file system that boatload did not make may be filled.
    pub fill_real: bool,
    /// Where file systems are made, if the plan wants any.
    pub place: Volume,
    /// A name that commands take for the run, which another may have had.
    pub tag: Option<String>,
    /// The ranks that run it together; none for one process.
    pub group: Option<&'a RankGroup<'a>>,
}

/// The place of a phase in the run, for listeners.
pub struct PhaseContext<'a> {
    /// The cell, from 1.
    pub cell: usize,
    /// Repeats of the run.
    pub repeats: u32,
    /// The cell's key.
    pub key: &'a CellKey,
    /// The phase.
    pub phase: &'a Phase,
    /// The block device that it works on; none without one.
    pub device: Option<BlockDevice>,
}

/// Someone who watches a run, from whichever thread.
pub trait Watcher: Sync {
    /// What is being done before or between phases.
    fn status(&self, _text: &str) {}
    /// What was decided, which stays where people can read it.
    fn notice(&self, _text: &str) {}
    /// What the run waits for, and nobody expects.
    fn waits(&self, text: &str) {
        self.notice(text);
    }
    /// The run has begun, and the store has it if it takes it.
    fn begins(&self, _book: &Book) {}
    /// More was measured or is known of the run, which the store is to be told of next.
    fn grows(&self, _book: &Book) {}
    /// Whether the run was given up: then nothing more is kept of it.
    fn has_given_up(&self) -> bool {
        false
    }
    /// The run is given up, because a call does not return: with what was measured, or why there is nothing.
    fn gives_up(&self, _outcome: Result<RunOutcome>) {}
    /// The process is to end although the call has not returned.
    fn leaves(&self, _why: &Failure) {}
    /// The place is being brought to the level of a cell.
    fn prepares(&self, _key: &CellKey, _headway: &Headway) {}
    /// A cell was done before the run was resumed.
    fn is_known(&self, _key: &CellKey) {}
    /// A phase begins; `done` counts each worker's operations while it runs.
    fn phase_begins(&self, _context: &PhaseContext<'_>, _done: Arc<[DoneCount]>) {}
    /// Its operations have ended; what follows is its sync, and a count of what there is.
    fn operations_end(&self) {}
    /// It has ended, and nothing of it was measured.
    fn phase_fails(&self) {}
    /// It is over.
    fn phase_ends(&self, _context: &PhaseContext<'_>, _measurement: &Measurement) {}
}

/// Watches nothing.
pub struct Nobody;

impl Watcher for Nobody {}

/// A run that has measured something, and why it is not whole.
pub struct RunOutcome {
    /// All that was measured.
    pub book: Book,
    /// Why it could not continue, what it leaves behind, and why the store lacks some of it; `None` when all is well.
    pub failure: Option<Failure>,
    /// Whether the store has all of it.
    pub is_kept: bool,
}

impl RunOutcome {
    /// The run, if all is well.
    ///
    /// # Errors
    /// Else why it is not.
    pub fn whole(self) -> Result<Book> {
        self.failure.map_or(Ok(self.book), Err)
    }
}

/// Runs the order to its end, or until it is interrupted or cannot continue, and restores the machine.
///
/// # Errors
/// If nothing could be measured.
pub fn run(
    order: &RunOrder<'_>,
    store: &mut Store,
    watcher: &dyn Watcher,
    interrupt: &Interrupt,
) -> Result<RunOutcome> {
    let path = store.path().map(Path::to_path_buf);
    let mut work = |watcher: &dyn Watcher| carry_out(order, None, store, watcher, interrupt);
    let Some(group) = order.group else {
        return call_watch::watched(order, path, watcher, interrupt, work);
    };
    // Only rank 0 gives up a call that does not return: its process then ends, and every other rank with it.
    let outcome = match group.rank() {
        0 => call_watch::watched(order, path, watcher, interrupt, work),
        _ => work(watcher),
    };
    // What it was, the cells have told.
    let outcome = outcome.or_else(|failure| group.agree_on_end(Err(failure), interrupt));
    // Where the run has closed it, nothing is left to do.
    let closed = group.close().and_then(|removal| none_stays(&removal.left));
    match (outcome, closed) {
        (Err(failure), Err(left)) => Err(failure.then(&left)),
        (outcome, _) => outcome,
    }
}

/// Runs an order, or continues an unfinished run of it.
fn carry_out(
    order: &RunOrder<'_>,
    unfinished: Option<UnfinishedRun>,
    store: &mut Store,
    watcher: &dyn Watcher,
    interrupt: &Interrupt,
) -> Result<RunOutcome> {
    let clock = RealClock::new();
    make_filesystems::enter_own_mounts(order.plan, watcher);
    let survey = HostSurvey::new(order.plan, &order.directory)?;
    let survey = match &unfinished {
        None => survey.with_place(&order.place, &order.directory),
        Some(unfinished) => unfinished.placed(survey, &order.place, &order.directory)?,
    };
    let tools = survey.check(order)?;
    let plan = &survey.plan.clone();
    let order = &RunOrder { plan, ..order.clone() };
    let id = match (&unfinished, order.group) {
        (Some(run), _) => run.book.run.id.clone(),
        (None, Some(group)) => group.id.clone(),
        (None, None) => new_id()?,
    };
    let spent = SpentTime::new(plan, &clock);
    let run = run_facts(order, &id, &clock, watcher);
    let origin = origin(order, &survey)?;
    let began = begun_book(plan, run.clone(), survey.host.clone(), Vec::new());
    let unfinished = unfinished.map(|run| run.checked(&began, origin.as_ref())).transpose()?;
    let (mut sites, host) = Sites::make(order, survey, tools, &id, clock, interrupt)?;
    let filesystems = sites.try_out(plan, watcher)?;
    let book = begun_book(plan, run, host, filesystems);
    let (book, known) = match unfinished {
        None => (book, KnownCells::default()),
        Some(unfinished) => unfinished.go_on(&book, origin.as_ref())?,
    };
    let tag = order.tag.as_deref();
    let record = Record::open(store, &book, origin, tag, &known, watcher)?;
    watcher.begins(&book);
    let watch = PhaseWatch::default();
    let (prepared, kept, cell, repeats) = (None, BTreeSet::new(), 0, plan.repeats_min());
    let group = order.group;
    let session = Session {
        plan,
        group,
        record,
        watcher,
        interrupt,
        sites,
        book,
        prepared,
        kept,
        watch,
        cell,
        repeats,
        spent,
        known,
    };
    session.carry_out()
}

/// The book of a run that has measured nothing.
fn begun_book(
    plan: &Plan,
    run: RunFacts,
    host: HostFacts,
    filesystems: Vec<MadeFileSystem>,
) -> Book {
    Book {
        run,
        host,
        filesystems,
        variants: plan.variants().into_iter().map(String::from).collect(),
        phases: phase_names(plan),
        levels: each_once(plan.cells.iter().filter_map(|cell| cell_key(plan, cell, 1).level)),
        ..Book::default()
    }
}

/// How the run is begun, for a later `resume`; `None` when texts do not keep its paths.
fn origin(order: &RunOrder<'_>, survey: &HostSurvey) -> Result<Option<RunOrigin>> {
    let directory = std::env::current_dir().ok().filter(|_| is_command_text());
    let directory = directory.and_then(|path| path.into_os_string().into_string().ok());
    let Some(working_directory) = directory.filter(|_| order.group.is_none()) else {
        return Ok(None);
    };
    Ok(Some(RunOrigin {
        working_directory,
        keeps_images: survey.plan.keeps_images,
        in_memory: matches!(survey.place, Volume::Memory { .. }),
        memory_bytes: memory_bytes(),
        plan: survey.plan.fingerprint(),
        place: RunLocation::of(&order.directory, &order.place)?,
        process: ProcessMark::this_process(),
    }))
}

struct Session<'a> {
    plan: &'a Plan,
    /// The ranks that run it together; none for one process.
    group: Option<&'a RankGroup<'a>>,
    record: Record<'a>,
    watcher: &'a dyn Watcher,
    interrupt: &'a Interrupt,
    sites: Sites,
    book: Book,
    /// What the place was brought to, where it stays.
    prepared: Option<PreparedPlace>,
    /// Places whose states are kept.
    kept: BTreeSet<PreparedPlace>,
    watch: PhaseWatch,
    /// The cell that was begun last, from 1.
    cell: usize,
    /// Repeats of the cells under way, as far as is known.
    repeats: u32,
    spent: SpentTime,
    /// Cells that a continued run still has to skip.
    known: KnownCells,
}

impl Session<'_> {
    /// Measures all cells, and restores the machine.
    fn carry_out(mut self) -> Result<RunOutcome> {
        let cells = match self.cells() {
            // What was under way when the user wanted to stop is no failure.
            Err(failure) if failure.exit == Exit::Interrupted => Ok(()),
            cells => cells,
        };
        let cells = match self.group {
            None => cells,
            Some(group) => self.left(group, cells),
        };
        let closed = self.sites.close(self.group);
        let (book, RecordEnd { kept, tagged }) = self.finish(cells.is_ok());
        let is_kept = kept.is_ok();
        // The first cause is what the user must hear of, then what it leaves behind.
        let failure = [cells, closed, kept, tagged]
            .into_iter()
            .filter_map(Result::err)
            .reduce(|first, other| first.then(&other));
        match failure {
            Some(failure) if book.measurements.is_empty() => Err(failure),
            failure => Ok(RunOutcome { book, failure, is_kept }),
        }
    }

    /// How the cells ended for all ranks. It is said at once: a launcher may end them before all is removed.
    fn left(&self, group: &RankGroup<'_>, cells: Result<()>) -> Result<()> {
        let left = group.agree_on_end(cells, self.interrupt);
        if let Err(failure) = &left {
            self.watcher.notice(&format!("all ranks end: {}", failure.sentence));
        }
        match left {
            Err(failure) if failure.exit == Exit::Interrupted => {
                self.interrupt.set();
                Ok(())
            }
            left => left,
        }
    }

    /// All cells, repeats interleaved.
    fn cells(&mut self) -> Result<()> {
        if let Repetition::UntilDecided(limit) = self.plan.repetition() {
            return self.cells_until_decided(limit.seconds);
        }
        for (repeat, index) in self.plan.schedule() {
            if self.interrupt.is_set() {
                return Ok(());
            }
            self.one(index, repeat)?;
        }
        Ok(())
    }

    /// One cell, by its index in the plan.
    fn one(&mut self, index: usize, repeat: u32) -> Result<()> {
        let plan = self.plan;
        let cell = &plan.cells[index];
        let key = cell_key(plan, cell, repeat);
        if self.pass_over(cell, &key)? {
            return Ok(());
        }
        self.continues_at(&key);
        let before = self.spent.seconds();
        self.prepare(index, &key)?;
        if self.interrupt.is_set() {
            return Ok(());
        }
        self.cell += 1;
        // What is prepared once, for several repeats, is no part of what a repeat costs.
        let is_own = plan.has_history_for_each_repeat(cell);
        let begun = if is_own { before } else { self.spent.seconds() };
        self.restore(index, &key)?;
        if self.interrupt.is_set() {
            return Ok(());
        }
        self.cell(index, cell, &key)?;
        let ended = self.spent.cell(begun);
        if !self.interrupt.is_set() {
            let measurements = self.book.measurements.len();
            let done = FinishedCell { cell: key, measurements, begun, ended };
            self.record.finish(done, &self.book, self.watcher);
        }
        Ok(())
    }

    /// What the place is like when a cell begins.
    fn look_around(&mut self, cell: &CellPlan, key: &CellKey) -> Result<()> {
        let history = cell.prepare.is_some().then(|| self.plan.history(cell, key.repeat));
        let found = self.sites.for_cell(cell)?.conditions();
        let known = self.book.conditions.len();
        for SiteCondition { name, value, unit } in
            found.into_iter().chain(history.map(SiteCondition::history))
        {
            self.book.conditions.push(Condition { cell: key.clone(), name, value, unit });
        }
        // A run with many cells is not written anew for each where nothing was found.
        if self.book.conditions.len() > known {
            self.record.update(&self.book, self.watcher);
        }
        Ok(())
    }

    /// Measures the phases of a cell.
    fn cell(&mut self, index: usize, cell: &CellPlan, key: &CellKey) -> Result<()> {
        self.look_around(cell, key)?;
        if let Some(filesystem) = cell.filesystem.as_ref().filter(|_| cell.prepare.is_none()) {
            self.watcher.status(&format!("making {}", filesystem.label()));
        }
        let site = self.sites.for_cell(cell)?;
        match self.group {
            None => site.begin_cell(cell)?,
            Some(group) => group.begin_cell(site, cell)?,
        }
        let mut before = self.book.measurements.last().and_then(|last| last.operations_asked);
        for (at, phase) in cell.phases.iter().enumerate() {
            if self.interrupt.is_set() {
                break;
            }
            let other = self.group.and_then(|group| group.other(index, at));
            let phase = other.as_ref().map_or(phase, |other| other.phase);
            let phase = as_first_pass(phase, before);
            let phase = &self.sites.for_cell(cell)?.resolved(&phase);
            let context = PhaseContext {
                cell: self.cell,
                repeats: self.repeats,
                key,
                phase,
                device: self.sites.for_cell(cell)?.device().cloned(),
            };
            let other = other.map(|other| other.cell);
            let measured = self.measure(cell, &context, other);
            let MeasuredPhase { measurements, asked } = measured.inspect_err(|_| {
                self.watcher.phase_fails();
            })?;
            before = asked;
            let PhaseMeasurements { whole, parts } = measurements;
            self.spent.phase(&whole);
            self.watcher.phase_ends(&context, &whole);
            self.book.measurements.push(whole);
            self.book.measurements.extend(parts);
            self.record.add(&self.book, self.watcher);
        }
        if !self.interrupt.is_set()
            && let Some(settled) = measure_phase::settle(self.sites.for_cell(cell)?, cell, key)?
        {
            self.book.measurements.push(settled);
            self.record.add(&self.book, self.watcher);
        }
        if self.interrupt.is_set() && !self.watcher.has_given_up() {
            self.watcher.notice("interrupted: cleaning up; another Ctrl-C ends it at once");
        }
        let site = self.sites.for_cell(cell)?;
        let removal = match self.group {
            None => site.end_cell(),
            Some(group) => group.end_cell(site, cell, self.interrupt)?,
        };
        none_left(&removal, "a tree")?;
        // What was restored is restored anew for the next cell.
        let goes =
            if self.plan.restores(cell) { site.remove_ballast() } else { Removal::default() };
        none_left(&goes, "the files beside a tree")
    }

    /// Measures a phase. Of many ranks all do, and rank 0 has what they did together.
    fn measure(
        &mut self,
        cell: &CellPlan,
        context: &PhaseContext<'_>,
        other: Option<RankCell<'_>>,
    ) -> Result<MeasuredPhase> {
        let (watcher, interrupt) = (self.watcher, self.interrupt);
        let site = self.sites.for_cell(cell)?;
        let Some(group) = self.group else {
            let watch = &mut self.watch;
            let measurements = measure_phase::measure(
                site, cell, context, watcher, watch, interrupt, &OwnDropper,
            )?;
            let asked = measurements.whole.operations_asked;
            return Ok(MeasuredPhase { measurements, asked });
        };
        site.work_on(other)?;
        group.beat();
        let barriers = group.barriers(site.is_real(), interrupt);
        let watch = &mut self.watch;
        let own = measure_phase::measure(site, cell, context, watcher, watch, interrupt, &barriers);
        let own = own.map(|own| own.whole);
        let asked = own.as_ref().ok().and_then(|own| own.operations_asked);
        // Ranks have no mixes.
        let (whole, parts) = (barriers.merged(own, context.phase)?, Vec::new());
        Ok(MeasuredPhase { measurements: PhaseMeasurements { whole, parts }, asked })
    }

    /// The run, and how the store took it.
    fn finish(mut self, cells_done: bool) -> (Book, RecordEnd) {
        self.book.run.complete = cells_done && !self.interrupt.is_set();
        self.book.run.finished = Some(now());
        self.book.run.unanswered.extend(failed_calls::taken());
        let end = match self.watcher.has_given_up() {
            true => RecordEnd { kept: Ok(()), tagged: Ok(()) },
            false => self.record.close(&self.book, self.watcher),
        };
        (self.book, end)
    }
}

fn none_left(removal: &Removal, what: &str) -> Result<()> {
    let left = |left: &String| Failure::failed(format!("cannot remove {what}: {left} is left"));
    removal.left.first().map_or(Ok(()), |first| Err(left(first)))
}

/// Names of the phases that a plan measures, in their order.
fn phase_names(plan: &Plan) -> Vec<String> {
    let phases = plan.cells.iter().flat_map(|cell| &cell.phases);
    let planned = phases.flat_map(Phase::measured_names);
    let settles = |cell: &&CellPlan| {
        cell.filesystem.as_ref().is_some_and(|filesystem| filesystem.kind.maker.is_some())
    };
    let settle = plan.cells.iter().find(settles).map(|_| SETTLE);
    each_once(planned.chain(settle.map(String::from)))
}

/// A phase that was measured.
struct MeasuredPhase {
    measurements: PhaseMeasurements,
    /// Operations that this process was asked for.
    asked: Option<u64>,
}

/// A later pass of a phase that its time ended does as many operations as the first, whose number becomes
/// the count of the second: so all passes read the same.
fn as_first_pass(phase: &Phase, before: Option<u64>) -> Phase {
    let mut phase = phase.clone();
    if let (PhaseEnd::After(_), true, Some(before)) = (phase.end, phase.pass > 1, before) {
        phase.end = PhaseEnd::Operations(before);
    }
    phase
}

/// The state of the machine before anything is made.
pub struct HostSurvey {
    /// The directory, open.
    parent: OwnedFd,
    /// The facts.
    pub host: HostFacts,
    /// The space on its file system.
    pub space: Space,
    /// The memory that the run takes.
    pub memory_need: MemoryNeed,
    /// Memory that there is for it; `None` when that is not known.
    pub memory_room: Option<MemoryRoom>,
    /// The part of it that file systems in memory may take, in bytes.
    pub memory_free: Option<u64>,
    /// The block device that the job reads, or that the directory is on; none without one.
    pub device: Option<BlockDevice>,
    /// The plan, with the blocks of the device if it reads one.
    pub plan: Plan,
    /// Where file systems are made, if the plan wants any.
    pub place: Volume,
    /// The images of prepared file systems; `None` when there are none.
    pub images: Option<KeptImages>,
}

impl HostSurvey {
    /// Opens the directory and gathers the facts.
    ///
    /// # Errors
    /// If that is not possible, or the job reads a device that cannot be opened or is too small.
    pub fn new(plan: &Plan, directory: &Path) -> Result<Self> {
        let parent = open_parent(directory)?;
        let host = HostFacts::gather(parent.as_fd())?;
        let mount = Mount::of(parent.as_fd());
        let device = match plan.reads_device() {
            true => {
                let device = device_to_read(&mount?, directory)?;
                device.open(false)?;
                Some(device)
            }
            false => mount.ok().and_then(|mount| BlockDevice::under(&mount)),
        };
        let total_bytes = device.as_ref().and_then(|device| device.facts.total_bytes);
        let plan = plan.on_device(total_bytes.unwrap_or_default())?;
        let space = Space::read(parent.as_fd())?;
        let place = Volume::default();
        let survey = Self {
            parent,
            host,
            space,
            memory_need: MemoryNeed::default(),
            memory_room: MemoryRoom::available(),
            memory_free: None,
            device,
            plan,
            place: place.clone(),
            images: None,
        };
        Ok(survey.with_memory_need(&place))
    }

    /// With the memory that the run takes where file systems are made on this place, and the remaining memory.
    fn with_memory_need(self, place: &Volume) -> Self {
        let made_bytes = make_filesystems::room_asked(&self, place).0.map_or(0, |room| room.bytes);
        let there_bytes = self.space.total_bytes;
        let total_bytes = |cell: &CellPlan| match cell.filesystem {
            Some(_) => made_bytes,
            None => there_bytes,
        };
        let memory_need = MemoryNeed::of(&self.plan, total_bytes);
        let free = |room: &MemoryRoom| room.bytes.saturating_sub(memory_need.bytes);
        let memory_free = self.memory_room.as_ref().map(free);
        Self { memory_need, memory_free, ..self }
    }

    /// Whether something that the run writes lies in memory: in the directory, or on a file system that is made.
    pub fn writes_to_memory(&self) -> bool {
        let is_there = is_in_memory(&self.host.filesystem.kind);
        let writes_to_it = |cell: &CellPlan| match (&cell.filesystem, &self.place) {
            (Some(made), _) if made.kind.maker.is_none() => true,
            (Some(_), Volume::Memory { .. }) => true,
            (Some(_), Volume::Device { .. }) => false,
            (Some(_), Volume::Image { .. }) => is_there,
            (None, _) => is_there && !cell.engine.is_simulated() && !cell.reads_device(),
        };
        self.plan.cells.iter().any(writes_to_it)
    }

    /// With the place for file systems, and its plan as there is room to keep images of prepared ones, or not.
    pub fn with_place(self, asked: &Volume, directory: &Path) -> Self {
        let survey = self.with_memory_need(asked);
        let place = settled_place(&survey, asked, directory);
        survey.at(place, directory)
    }

    /// With this place for file systems.
    fn at(self, place: Volume, directory: &Path) -> Self {
        let survey = self.with_memory_need(&place);
        let images = KeptImages::of(&survey, &place, directory);
        let are_kept = images.as_ref().is_some_and(|images| images.lack.is_none());
        Self { plan: survey.plan.keeping_images(are_kept), place, images, ..survey }
    }

    /// The same without images of prepared file systems.
    fn without_images(self) -> Self {
        Self { plan: self.plan.keeping_images(false), images: None, ..self }
    }

    /// What the images of prepared file systems may take, in bytes.
    fn kept_bytes(&self) -> u64 {
        self.images.as_ref().map_or(0, KeptImages::room_bytes)
    }

    /// Checks that the cells of a run whose time limit was named can be measured in turns.
    ///
    /// # Errors
    /// If a prepared place cannot be restored.
    pub fn check_turns(&self) -> Result<()> {
        if self.plan.named_limit_seconds().is_none() || !self.plan.has_one_way_places() {
            return Ok(());
        }
        let lack = self.images.as_ref().and_then(|images| images.lack.as_deref());
        let why = lack.map_or_else(String::new, |lack| format!(" ({lack})"));
        Err(Failure::usage(format!(
            "--time-limit repeats all cells in turns, and a place that this job prepares cannot be restored \
             between them{why}. Nothing was written. Name --repeats instead"
        )))
    }

    /// Checks that files can be made in the directory, if any are.
    ///
    /// # Errors
    /// If not.
    pub fn check_place(&self, directory: &Path) -> Result<()> {
        match self.plan.makes_files() || self.plan.makes_filesystems() {
            true => room::check_place(self.parent.as_fd(), &self.host.filesystem.kind, directory),
            false => Ok(()),
        }
    }

    /// Checks that there is room for what is planned; what file systems are made with, if any are.
    fn check(&self, order: &RunOrder<'_>) -> Result<Option<Toolset>> {
        let Self { host, space, memory_free, plan, .. } = self;
        self.check_turns()?;
        self.check_place(&order.directory)?;
        self.memory_need.check(self.memory_room.as_ref())?;
        let tools = Toolset::find(self, order)?;
        if plan.makes_files() {
            // An image keeps its size while cells in the directory are measured.
            let image_bytes = tools.as_ref().map_or(0, Toolset::image_bytes);
            let available_bytes = space.available_bytes.saturating_sub(image_bytes);
            let beside = Space { available_bytes, ..*space };
            let ranks = order.group.map_or(1, RankGroup::size);
            room::check(plan, ranks, &beside, &order.directory, order.fill_real)?;
            let wanted = room::bytes_at_most(plan, space).saturating_mul(u64::from(ranks));
            room::check_memory(&host.filesystem.kind, wanted, *memory_free, &order.directory)?;
        }
        Ok(tools)
    }
}

/// A new id of a run, or of what is made like one.
fn new_id() -> Result<String> {
    random_word(ID_LETTERS).map_err(|error| Failure::from_system("make an id", error))
}

fn run_facts(order: &RunOrder<'_>, id: &str, clock: &RealClock, watcher: &dyn Watcher) -> RunFacts {
    let plan = order.plan;
    watcher.status("measuring the measurement overhead");
    RunFacts {
        id: id.to_string(),
        scenario: plan.name.clone(),
        question: plan.question.clone(),
        scale: plan.scale,
        seed: Some(plan.seed),
        started: now(),
        command: order.command.clone(),
        boatload: VERSION.into(),
        parameters: plan.parameters.clone(),
        job: plan.job.clone(),
        overhead_ns: Some(overhead::cost_ns(plan, clock)),
        clock: Some(clock.source()),
        conclude: plan.conclude.clone(),
        repeats: plan.repeats_min(),
        stopping: Stopping::of(plan),
        level_order: level_order(plan),
        hosts: order.group.map_or_else(Vec::new, |group| group.hosts.clone()),
        ..RunFacts::default()
    }
}

/// The order in which levels come; none without several.
fn level_order(plan: &Plan) -> Option<LevelOrder> {
    let has_levels = plan.axis.as_ref().is_some_and(|axis| axis.levels.len() > 1);
    has_levels.then_some(match plan.has_levels_in_order() {
        true => LevelOrder::AsPrepared,
        false => LevelOrder::Random,
    })
}

/// The key of a cell of a plan in this repeat, counted from 1.
pub fn cell_key(plan: &Plan, cell: &CellPlan, repeat: u32) -> CellKey {
    let level = plan.axis.as_ref().zip(cell.level).map(|(axis, level)| Level {
        axis: axis.name.clone(),
        value: level.value,
        unit: level.unit,
    });
    CellKey { variant: cell.variant.clone(), level, repeat }
}

/// That a tag was of another run before.
fn tag_moved(tag: &str, before: &str, id: &str) -> String {
    format!("the tag {tag} was of run {before}, and is of {id} now")
}

/// The time of day, RFC 3339 in UTC, to the second: for the record, never for a measurement.
fn now() -> String {
    rfc3339(SystemTime::now())
}
