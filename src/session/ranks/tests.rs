//! Runs plans with many ranks, each a thread, on the simulator and in real directories.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::analysis::Analysis;
use crate::analysis::finding::{Finding, WarningCode};
use crate::plan::filesystem::Volume;
use crate::plan::{Settings, read_job};
use crate::results::book::Book;
use crate::results::histogram::decoded;
use crate::results::store::Store;
use crate::run::communicator::threads::{ThreadCommunicator, with_ranks};
use crate::run::communicator::{Communicator, MessageError};
use crate::session::{PhaseContext, RunOutcome, Watcher, run};

/// What each rank is asked to do.
struct RankJob<'a> {
    text: &'a (dyn Fn(u32) -> String + Sync),
    directory: &'a Path,
    watcher: &'a dyn Watcher,
    /// What is different at a rank without the others' knowing.
    ill: &'a (dyn Fn(u32, &mut Plan, &Interrupt) + Sync),
    /// What happens at a rank before each wait for a message.
    before_wait: &'a (dyn Fn(u32, &Interrupt) + Sync),
}

impl<'a> RankJob<'a> {
    /// One in which nothing special happens.
    fn new(text: &'a (dyn Fn(u32) -> String + Sync), directory: &'a Path) -> Self {
        Self { text, directory, watcher: &Nobody, ill: &|_, _, _| (), before_wait: &|_, _| () }
    }
}

struct Nobody;

impl Watcher for Nobody {}

/// A rank to which something happens before it waits.
struct Troubled<'a> {
    communicator: &'a ThreadCommunicator,
    interrupt: &'a Interrupt,
    before_wait: &'a (dyn Fn(u32, &Interrupt) + Sync),
}

impl Communicator for Troubled<'_> {
    fn rank(&self) -> u32 {
        self.communicator.rank()
    }

    fn size(&self) -> u32 {
        self.communicator.size()
    }

    fn send(
        &self,
        to: u32,
        message: &[u8],
        within: Duration,
    ) -> std::result::Result<(), MessageError> {
        self.communicator.send(to, message, within)
    }

    fn receive(&self, from: u32, within: Duration) -> std::result::Result<Vec<u8>, MessageError> {
        (self.before_wait)(self.rank(), self.interrupt);
        self.communicator.receive(from, within)
    }
}

/// Runs a job with so many ranks; what each was given.
fn ran(size: u32, job: &RankJob<'_>) -> Vec<Result<RunOutcome>> {
    with_ranks(size, |communicator| {
        let interrupt = Interrupt::default();
        let text = (job.text)(communicator.rank());
        let plan_of = |seed| {
            let settings = Settings { seed, ..Settings::default() };
            read_job(&text, &settings)
                .map_err(|problems| Failure::usage(problems.report("the job")))
        };
        let plan = plan_of(None)?;
        let order = RunOrder {
            plan: &plan,
            directory: job.directory.into(),
            command: "a test".into(),
            fill_real: false,
            place: Volume::default(),
            tag: None,
            group: None,
        };
        let communicator =
            Troubled { communicator, interrupt: &interrupt, before_wait: job.before_wait };
        let collectives = Collectives::new(&communicator, interrupt.flag());
        let group = agree_on_run(collectives, Ok(&order), |seed| plan_of(Some(seed)))?;
        let mut plan = group.own_plan().unwrap().clone();
        (job.ill)(communicator.rank(), &mut plan, &interrupt);
        let order = RunOrder { plan: &plan, group: Some(&group), ..order.clone() };
        let mut store = Store::in_memory().unwrap();
        run(&order, &mut store, job.watcher, &interrupt)
    })
}

/// The same job for all, which must go well; what rank 0 has of it.
fn good(size: u32, text: &str, directory: &Path) -> Book {
    let all = ran(size, &RankJob::new(&|_| text.to_string(), directory))
        .into_iter()
        .map(|outcome| outcome.and_then(RunOutcome::whole));
    all.map(|book| book.unwrap()).next().unwrap()
}

/// A job in a real directory, with a phase of its own behind the creates.
fn on_disk(more: &str) -> String {
    format!(
        "name = \"t\"\nquestion = \"?\"\nrepeats = 1\n[tree]\nfiles = 40\nsize = {{ uniform = {{ min = 1, max = 5000 }} }}\n\
         [[phase]]\noperation = \"create\"\n{more}"
    )
}

const SIM: &str = "name = \"t\"\nquestion = \"?\"\nrepeats = 1\nengine = \"sim\"\n[tree]\nfiles = 100\nsize = 10\n\
                   [sim]\nmetadata = \"20us\"\n[[phase]]\noperation = \"create\"\nwindows = 4\n\
                   [[phase]]\noperation = \"stat\"\n";

#[test]
fn what_ranks_did_is_added_up_at_rank_0_and_no_latency_is_lost() {
    let place = tempfile::tempdir().unwrap();
    let book = good(5, SIM, place.path());
    assert!(book.run.complete && book.run.hosts.len() == 5, "{:?}", book.run);
    let alone = good_alone(SIM, place.path());
    for (all, one) in book.measurements.iter().zip(&alone.measurements) {
        assert_eq!((all.operations, all.operations_asked, all.bytes), (500, 500, 5 * one.bytes));
        assert_eq!(decoded(&all.histogram).unwrap().len(), 500);
        assert!(all.valid(), "{:?}", all.invalid);
        let ranks = all.ranks.as_ref().unwrap();
        assert!(ranks.ranks.iter().all(|rank| rank.operations == 100), "{ranks:?}");
        let windows: u64 = all.windows.iter().map(|window| window.operations).sum();
        assert_eq!(windows, if all.windows.is_empty() { 0 } else { 500 });
    }
    assert_eq!(book.measurements.len(), 2);
}

/// What one process gives.
fn good_alone(text: &str, directory: &Path) -> Book {
    let plan = read_job(text, &Settings::default()).unwrap();
    let order = RunOrder {
        plan: &plan,
        directory: directory.into(),
        command: "a test".into(),
        fill_real: false,
        place: Volume::default(),
        tag: None,
        group: None,
    };
    let mut store = Store::in_memory().unwrap();
    run(&order, &mut store, &Nobody, &Interrupt::default()).unwrap().whole().unwrap()
}

#[test]
fn each_rank_works_below_one_directory_and_nothing_is_left() {
    let place = tempfile::tempdir().unwrap();
    let more = "[[phase]]\noperation = \"read\"\n[[phase]]\noperation = \"delete\"\n";
    let book = good(3, &on_disk(more), place.path());
    let operations: Vec<u64> = book.measurements.iter().map(|m| m.operations).collect();
    assert_eq!(operations, [120, 120, 120]);
    assert!(book.measurements.iter().all(Measurement::valid), "{:?}", book.measurements);
    let [created, read] = [0, 1].map(|at| book.measurements[at].bytes);
    assert_eq!(created, read);
    let alone = good_alone(&on_disk(""), place.path()).measurements[0].bytes;
    assert_ne!(created, 3 * alone, "each rank has a seed of its own");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn with_a_shift_each_rank_works_on_what_another_wrote_as_that_one_would() {
    let place = tempfile::tempdir().unwrap();
    let more = "[[phase]]\noperation = \"rewrite\"\ncount = 20\norder = \"random\"\n\
                [[phase]]\noperation = \"read\"\nshift = 1\ncache = \"warm\"\n\
                [[phase]]\noperation = \"delete\"\ncount = 15\nshift = 5\n\
                [[phase]]\nname = \"rest\"\noperation = \"stat\"\n";
    let book = good(3, &on_disk(more), place.path());
    for m in &book.measurements {
        assert!(m.valid(), "{}: {:?}", m.phase, m.invalid);
    }
    let operations: Vec<u64> = book.measurements.iter().map(|m| m.operations).collect();
    assert_eq!(operations, [120, 60, 120, 45, 75]);
    assert_eq!(book.measurements[3].entries_found, 75);
}

#[test]
fn another_job_file_at_one_rank_is_refused_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    let text = |rank| if rank == 2 { on_disk("# another") } else { on_disk("") };
    for one in ran(4, &RankJob::new(&text, place.path())) {
        let said = one.err().unwrap().sentence;
        assert!(said.starts_with("rank 2 on ") && said.contains("another job file"), "{said}");
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn what_only_one_process_can_do_is_refused_by_all() {
    let place = tempfile::tempdir().unwrap();
    let text = SIM.replace("operation = \"stat\"", "operation = \"stat\"\nshift = 1");
    for one in ran(2, &RankJob::new(&|_| text.clone(), place.path())) {
        let said = one.err().unwrap().sentence;
        assert!(said.contains("a simulated file system of its own"), "{said}");
    }
}

/// Breaks what one rank works in, after so many phases of any rank.
struct Breaker<'a> {
    place: &'a Path,
    phases: AtomicUsize,
}

impl Watcher for Breaker<'_> {
    fn phase_ends(&self, _: &PhaseContext<'_>, _: &Measurement) {
        if self.phases.fetch_add(1, Ordering::Relaxed) == 0 {
            let run = std::fs::read_dir(self.place).unwrap().next().unwrap().unwrap().path();
            // A cell of rank 1 that is in the way of the next one.
            std::fs::create_dir(run.join("r0000000001/c0000000002")).unwrap();
        }
    }
}

#[test]
fn a_rank_that_fails_ends_all_with_one_sentence_and_what_was_measured_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let text = on_disk("").replace("repeats = 1", "repeats = 3");
    let watcher = Breaker { place: place.path(), phases: AtomicUsize::new(0) };
    let text = |_| text.clone();
    let job = RankJob { watcher: &watcher, ..RankJob::new(&text, place.path()) };
    for outcome in ran(3, &job) {
        let RunOutcome { book, failure, .. } = outcome.unwrap();
        let said = failure.unwrap().sentence;
        assert!(said.starts_with("rank 1 on ") && said.contains("File exists"), "{said}");
        assert_eq!(book.measurements.len(), 1);
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

/// The sentences of warnings about slow ranks, of eight that are simulated with noise.
fn slow_sentences(slow: Option<u32>) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let text = SIM
        .replace("repeats = 1", "repeats = 5")
        .replace("\"20us\"", "\"20us\"\nspread = { passes = \"1%\", repeats = \"3%\" }");
    let ill = |rank, plan: &mut Plan, _: &Interrupt| {
        if slow == Some(rank) {
            plan.cells.iter_mut().for_each(|cell| cell.sim.metadata_ns *= 2);
        }
    };
    let text = |_| text.clone();
    let job = RankJob { ill: &ill, ..RankJob::new(&text, place.path()) };
    let book = ran(8, &job).remove(0).and_then(RunOutcome::whole).unwrap();
    let analysis = Analysis::of(&book);
    let slow = |finding: &&Finding| matches!(finding, Finding::Warning(warning) if warning.code == WarningCode::SlowRank);
    analysis.findings().iter().filter(slow).map(Finding::sentence).collect()
}

#[test]
fn a_simulated_rank_of_half_the_speed_is_named_and_equal_ones_are_not() {
    let [said] = slow_sentences(Some(5)).try_into().unwrap();
    assert!(said.starts_with("rank 5 on ") && said.contains("create and stat"), "{said}");
    assert!(said.contains(" 0.5"), "{said}");
    assert_eq!(slow_sentences(None), Vec::<String>::new());
}

#[test]
fn a_rank_that_is_asked_to_end_ends_all_and_nothing_is_left() {
    let place = tempfile::tempdir().unwrap();
    let ill = |rank, _: &mut Plan, interrupt: &Interrupt| {
        if rank == 2 {
            interrupt.set();
        }
    };
    let text = |_| on_disk("");
    let job = RankJob { ill: &ill, ..RankJob::new(&text, place.path()) };
    for outcome in ran(4, &job) {
        let RunOutcome { book, failure, .. } = outcome.unwrap();
        assert_eq!((failure, book.run.complete, book.measurements.len()), (None, false, 0));
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

/// What all ranks say when they end.
#[derive(Default)]
struct Notices(Mutex<Vec<String>>);

impl Watcher for Notices {
    fn notice(&self, text: &str) {
        self.0.lock().unwrap().push(text.into());
    }
}

#[test]
fn a_rank_that_is_asked_to_end_at_any_wait_is_named_and_what_was_merged_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let text = |_| on_disk("[[phase]]\noperation = \"stat\"\n");
    // An uneven step, so that over time each kind of wait has its turn.
    for wait in (0..).step_by(13) {
        let waits = AtomicUsize::new(0);
        let before_wait = |rank, interrupt: &Interrupt| {
            if rank == 2 && waits.fetch_add(1, Ordering::Relaxed) == wait {
                interrupt.set();
            }
        };
        let watcher = Notices::default();
        let job = RankJob {
            watcher: &watcher,
            before_wait: &before_wait,
            ..RankJob::new(&text, place.path())
        };
        let all = ran(4, &job);
        let mut said = watcher.0.into_inner().unwrap();
        said.extend(all.iter().filter_map(|one| Some(one.as_ref().err()?.sentence.clone())));
        said.retain(|said| !said.starts_with("interrupted"));
        let is_right = |said: &String| said.contains("rank 2 on ") && said.contains("asked to end");
        assert!(said.iter().all(is_right), "at wait {wait}: {said:?}");
        let kept = |rank: usize| all[rank].as_ref().map_or(0, |one| one.book.measurements.len());
        assert!((0..4).all(|rank| kept(rank) <= kept(0)), "at wait {wait}");
        let is_whole = all[0].as_ref().is_ok_and(|one| one.book.run.complete);
        assert!(is_whole || !said.is_empty(), "at wait {wait}");
        for m in all[0].iter().flat_map(|one| &one.book.measurements) {
            assert!(m.valid(), "at wait {wait}: {:?}", m.invalid);
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "at wait {wait}");
        if waits.into_inner() <= wait {
            assert!(is_whole, "nobody was asked to end");
            return;
        }
    }
}

#[test]
fn a_rank_0_that_fails_when_it_has_made_the_directory_tells_the_others_before_it_waits_for_them() {
    let place = tempfile::tempdir().unwrap();
    let waits = AtomicUsize::new(0);
    // What is in the way of its own directory in that of the run, as soon as there is one.
    let before_wait = |rank, _: &Interrupt| {
        for run in std::fs::read_dir(place.path()).unwrap().flatten().filter(|_| rank == 0) {
            waits.fetch_add(1, Ordering::Relaxed);
            let _ = std::fs::create_dir(run.path().join("r0000000000"));
        }
    };
    let text = |_| on_disk("");
    let job = RankJob { before_wait: &before_wait, ..RankJob::new(&text, place.path()) };
    let said: Vec<_> = ran(3, &job).into_iter().map(|one| one.err().unwrap().sentence).collect();
    assert!(said[0].starts_with("cannot make the directory of rank 0"), "{said:?}");
    assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    // Each wait takes up to a tenth of a second.
    assert!(waits.into_inner() < 300, "it waited for those who waited for it");
}
