//! Continues a run that ended early, after its last finished cell: finished cells are skipped, so that
//! what follows them is as if the run had not been interrupted.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Duration;

use super::{HostSurvey, RunOrder, RunOutcome, Session, VERSION, Watcher, call_watch, now};
use boatload_analysis::compare::differences::differences;
use boatload_analysis::history::same_target;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::units::counted;
use boatload_host::facts::HostFacts;
use boatload_plan::CellPlan;
use boatload_plan::filesystem::Volume;
use boatload_results::book::{Book, CellKey, MadeOn, Measurement, Resumption, RunFacts};
use boatload_results::store::{FinishedCell, RunOrigin, Store};
use boatload_run::interrupt::Interrupt;
use boatload_run::leftover::remove_leftover;
use boatload_run::run_directory::{OtherHost, PREFIX, open_directory, open_parent, prove};
use boatload_run::run_location::RunLocation;

/// Tries, and the pause between them, for a directory whose process has just been killed.
const LEFTOVER_TRIES: u32 = 20;
const LEFTOVER_PAUSE: Duration = Duration::from_millis(100);

/// A run that ended early, as the store has it.
#[derive(Clone, Debug)]
pub struct UnfinishedRun {
    /// What was measured.
    pub book: Book,
    /// How it was begun.
    pub origin: RunOrigin,
    /// Its cells that are done.
    pub cells: Vec<FinishedCell>,
    /// Whether it is to continue although something has changed since it began.
    pub anyway: bool,
}

/// Continues a run, by the order that it was begun with, to its end, or until it is interrupted or cannot continue, and
/// restores the machine.
///
/// # Errors
/// If it cannot continue, or something has changed since it began; the store is then unchanged.
pub fn resume(
    order: &RunOrder<'_>,
    unfinished: UnfinishedRun,
    store: &mut Store,
    watcher: &dyn Watcher,
    interrupt: &Interrupt,
) -> Result<RunOutcome> {
    let parent = open_parent(&order.directory)?;
    let place = RunLocation::of(&order.directory, &order.place)?;
    unfinished.check_place(&HostFacts::gather(parent.as_fd())?, &place)?;
    unfinished.check_other_hosts(parent.as_fd(), &order.directory)?;
    if let Some(process) = store.take_over(unfinished.id(), &unfinished.origin)? {
        return Err(Failure::usage(format!(
            "run {} is still running, in process {process}, or was continued there in the meantime",
            unfinished.id()
        )));
    }
    unfinished.remove_leftovers(&order.directory)?;
    let path = store.path().map(Path::to_path_buf);
    call_watch::watched(order, path, watcher, interrupt, |watcher| {
        super::carry_out(order, Some(unfinished), store, watcher, interrupt)
    })
}

/// Whether a run that is to be done again would be done where it was: on its machine and file system, in the directory
/// that it began in. To be asked before anything is made.
///
/// # Errors
/// If it would be done elsewhere, or the place cannot be looked at.
pub fn check_same_place(book: &Book, origin: &RunOrigin, order: &RunOrder<'_>) -> Result<()> {
    let host = HostFacts::gather(open_parent(&order.directory)?.as_fd())?;
    let is_same = same_target(book, &Book { host, ..book.clone() });
    let target = (!is_same).then_some("machine, file system or device: it is another one now");
    let place = RunLocation::of(&order.directory, &order.place)?;
    let changes: Vec<&str> = target.into_iter().chain(origin.place.differences(&place)).collect();
    if changes.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "run {} is not run again, since {} is not where it was measured: {}. Nothing was run",
        book.run.id,
        shown(&order.directory),
        changes.join("; ")
    )))
}

impl UnfinishedRun {
    fn id(&self) -> &str {
        &self.book.run.id
    }

    /// What its directories are called.
    fn directory_names(&self) -> [OsString; 2] {
        ["", "fs"].map(|end| format!("{PREFIX}{}{end}", self.id()).into())
    }

    /// Whether the run may still be running where this host cannot see it, on file systems that several hosts mount.
    ///
    /// # Errors
    /// If it may.
    fn check_other_hosts(&self, parent: BorrowedFd<'_>, place: &Path) -> Result<()> {
        for name in self.directory_names() {
            let Ok(left) = open_directory(parent, &name) else { continue };
            let Ok(marker) = prove(left.as_fd(), &name) else { continue };
            if let Some(host) = OtherHost::at_work(left.as_fd(), &marker) {
                let place = std::fs::canonicalize(place).unwrap_or_else(|_| place.to_path_buf());
                return Err(Failure::failed(format!(
                    "run {} is not resumed, since it left {} in {}, and {}; if it is not, `boatload clean --other-hosts` \
                     there removes it",
                    self.id(),
                    shown(&name),
                    shown(place),
                    host.may_be_at_work("gave a sign in it")
                )));
            }
        }
        Ok(())
    }

    /// Removes what the run left when it was killed, with the proof that `clean` asks for.
    fn remove_leftovers(&self, directory: &Path) -> Result<()> {
        let parent = open_parent(directory)?;
        for name in &self.directory_names() {
            let is_there = || {
                let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                rustix::fs::statat(&parent, name, flags).is_ok()
            };
            let mut tries = 0;
            while is_there() {
                tries += 1;
                match remove_leftover(parent.as_fd(), name) {
                    Ok(removal) => super::none_left(&removal, "what the run left")?,
                    // What serves its disk ends a moment after it.
                    Err(_) if tries < LEFTOVER_TRIES => {
                        boatload_base::patience::pause(LEFTOVER_PAUSE)
                    }
                    Err(failure) => return Err(failure),
                }
            }
        }
        Ok(())
    }

    /// The place for file systems and their images as the run had them.
    ///
    /// # Errors
    /// If there is no room for the images any more.
    pub(super) fn placed(
        &self,
        survey: HostSurvey,
        asked: &Volume,
        directory: &Path,
    ) -> Result<HostSurvey> {
        let made = self.book.filesystems.iter().filter(|made| !made.is_in_memory());
        let bytes = made.map(|made| made.device_bytes).max();
        let place = match asked {
            Volume::Device { .. } => asked.clone(),
            _ if self.origin.in_memory => Volume::Memory { bytes },
            _ => Volume::Image { bytes },
        };
        let survey = survey.at(place, directory);
        let lack = survey.images.as_ref().and_then(|images| images.lack.clone());
        match lack.filter(|_| self.origin.keeps_images) {
            Some(lack) => Err(Failure::failed(format!(
                "run {} keeps images of prepared file systems, and {lack}. Nothing was written",
                self.id()
            ))),
            None if self.origin.keeps_images => Ok(survey),
            None => Ok(survey.without_images()),
        }
    }

    /// Whether the host and the place are as they were, to be asked before anything is removed.
    ///
    /// # Errors
    /// If they are not, and that was not accepted.
    fn check_place(&self, host: &HostFacts, place: &RunLocation) -> Result<()> {
        let mut now = self.book.without_measurements();
        (now.host, now.run.boatload) = (host.clone(), VERSION.into());
        self.differing(&now, &self.origin.place.differences(place)).map(|_| ())
    }

    /// Itself if the job is unchanged; checked before anything is made. `fresh` is what a run that begins now
    /// would be, before its file systems are made.
    ///
    /// # Errors
    /// If it would be another one, and that was not accepted.
    pub(super) fn checked(self, fresh: &Book, origin: Option<&RunOrigin>) -> Result<Self> {
        self.check_job(fresh)?;
        let fresh = Book { host: fresh.host.clone(), ..self.book.without_measurements() };
        self.differing(&fresh, &self.changes(origin))?;
        Ok(self)
    }

    /// What differs from the first part of the run, by its origin.
    fn changes(&self, origin: Option<&RunOrigin>) -> Vec<&'static str> {
        let place = origin.map(|origin| self.origin.place.differences(&origin.place));
        let is_same_plan = origin.is_some_and(|origin| origin.plan == self.origin.plan);
        let plan = (!is_same_plan).then_some("the job now resolves to other sizes or counts");
        place.unwrap_or_default().into_iter().chain(plan).collect()
    }

    /// What differs from the first part of the run, one text for each difference, with `changes` that are known.
    ///
    /// # Errors
    /// If its job would do something else now, or something differs and that was not accepted.
    fn differing(&self, fresh: &Book, changes: &[&str]) -> Result<Vec<String>> {
        let stated = self.book.without_measurements();
        let mut found = Vec::new();
        for one in differences(&[&stated, fresh]) {
            let mut values = one.values.into_iter().map(|v| v.unwrap_or_else(|| "unknown".into()));
            let (then, now) =
                (values.next().unwrap_or_default(), values.next().unwrap_or_default());
            found.push(format!("{}: {then} when it began, {now} now", one.name));
        }
        found.extend(changes.iter().map(ToString::to_string));
        if stated.run.clock != fresh.run.clock {
            found.push("another clock is read now".into());
        }
        let models = |book: &Book| -> Vec<Option<String>> {
            let on_device = book.filesystems.iter().filter(|made| made.place == MadeOn::Device);
            on_device.map(|made| made.device.as_ref().and_then(|d| d.model.clone())).collect()
        };
        if models(&stated) != models(fresh) {
            found.push("file systems would be made on another device".into());
        }
        if found.is_empty() || self.anyway {
            return Ok(found);
        }
        Err(Failure::usage(format!(
            "run {} is not resumed, since its environment has changed: {}. --anyway continues nevertheless, and the report \
             says so",
            self.id(),
            found.join("; ")
        )))
    }

    /// The continued run, its finished cells and their measurements. `fresh` is what a run that begins now
    /// would be.
    ///
    /// # Errors
    /// If it would be another one, and that was not accepted.
    pub(super) fn go_on(
        mut self,
        fresh: &Book,
        origin: Option<&RunOrigin>,
    ) -> Result<(Book, KnownCells)> {
        let changes = self.changes(origin);
        let run = &self.book.run;
        let (repeats, stopping) = (fresh.run.repeats, fresh.run.stopping.clone());
        let fresh = Book {
            run: RunFacts {
                boatload: fresh.run.boatload.clone(),
                clock: fresh.run.clock,
                ..run.clone()
            },
            ..fresh.clone()
        };
        let differences = self.differing(&fresh, &changes)?;
        let done = self.cells.last().map_or(0, |cell| cell.measurements);
        let mut known = std::mem::take(&mut self.book.measurements);
        known.truncate(done);
        let is_done = |key: &CellKey| self.cells.iter().any(|cell| cell.cell == *key);
        self.book.conditions.retain(|condition| is_done(&condition.cell));
        let run = &mut self.book.run;
        (run.finished, run.complete) = (None, false);
        // The looks are made again, of the same measurements.
        (run.repeats, run.stopping) = (repeats, stopping);
        run.resumed.push(Resumption { at: now(), cell: None, differences });
        let known = KnownCells { cells: self.cells.into(), measurements: known.into() };
        Ok((self.book, known))
    }

    /// Whether what is measured now is what was to be measured.
    fn check_job(&self, fresh: &Book) -> Result<()> {
        let (a, b) = (&self.book, fresh);
        let named = [
            ("variants", a.variants != b.variants),
            ("phases", a.phases != b.phases),
            ("levels", a.levels != b.levels),
            ("parameters", a.run.parameters != b.run.parameters),
            ("scale", a.run.scale != b.run.scale),
            ("seed", a.run.seed != b.run.seed),
            ("order of levels", a.run.level_order != b.run.level_order),
            ("repeats", a.run.stopping.fixed() != b.run.stopping.fixed()),
        ];
        match named.iter().find(|(_, differ)| *differ) {
            Some((what, _)) => Err(Failure::usage(format!(
                "run {} cannot be resumed: its job has other {what} now",
                self.id()
            ))),
            None => Ok(()),
        }
    }
}

/// Cells of a continued run that were done before, in their order.
#[derive(Default)]
pub(super) struct KnownCells {
    pub(super) cells: VecDeque<FinishedCell>,
    pub(super) measurements: VecDeque<Measurement>,
}

impl Session<'_> {
    /// Passes over a cell that was done before; false if it was not.
    ///
    /// # Errors
    /// If another one was.
    pub(super) fn pass_over(&mut self, cell: &CellPlan, key: &CellKey) -> Result<bool> {
        let Some(done) = self.known.cells.pop_front() else { return Ok(false) };
        if done.cell != *key {
            return Err(Failure::failed(format!(
                "run {} cannot be resumed: its cells would come in another order now",
                self.book.run.id
            )));
        }
        let own = done.measurements.saturating_sub(self.book.measurements.len());
        let own: Vec<Measurement> =
            self.known.measurements.drain(..own.min(self.known.measurements.len())).collect();
        self.cell += 1;
        self.spent.pass_over(&done);
        let whole = || own.iter().filter(|m| !m.is_part());
        let phases = whole().filter(|m| !m.is_settle()).count() as u64;
        let carried_out = |m: &Measurement| {
            m.operations + m.errors.values().sum::<u64>() + m.evictions.unwrap_or(0)
        };
        let operations = whole().map(carried_out).sum();
        self.sites.for_cell(cell)?.skip_cell(cell, phases, operations);
        self.watcher.is_known(key);
        self.book.measurements.extend(own);
        Ok(true)
    }

    /// Records at which cell the run continues, when that cell is measured.
    pub(super) fn continues_at(&mut self, key: &CellKey) {
        let Some(last) = self.book.run.resumed.last_mut().filter(|last| last.cell.is_none()) else {
            return;
        };
        last.cell = Some(key.clone());
        let done = counted(self.cell as u64, "cell");
        self.watcher.notice(&format!("continuing run {}: {done} done before", self.book.run.id));
        self.record.update(&self.book, self.watcher);
    }
}
