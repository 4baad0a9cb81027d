//! Runs plans with many ranks, each a thread, on the simulator and in real directories.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::{Nobody, PhaseContext, RunOutcome, Watcher, run};
use boatload_analysis::Analysis;
use boatload_analysis::finding::Finding;
use boatload_analysis::warnings::table::WarningCode;
use boatload_base::errno::Errno;
use boatload_base::fixture::skip::skip;
use boatload_host::mounts::is_in_memory;
use boatload_plan::filesystem::Volume;
use boatload_plan::{Settings, find_scenario, read_job};
use boatload_results::book::Book;
use boatload_results::histogram::decoded;
use boatload_results::store::Store;
use boatload_run::communicator::fixture::{ThreadCommunicator, with_ranks};
use boatload_run::communicator::{Communicator, MessageError};

/// What each rank is asked to do.
struct RankJob<'a> {
    text: &'a (dyn Fn(u32) -> String + Sync),
    directory: &'a Path,
    watcher: &'a dyn Watcher,
    /// What is different at a rank without the others' knowing.
    ill: &'a (dyn Fn(u32, &mut Plan, &Interrupt) + Sync),
    /// What happens at a rank before each wait for a message.
    before_wait: &'a (dyn Fn(u32, &Interrupt) + Sync),
    host: &'a (dyn Fn(u32) -> RankHost<'a> + Sync),
}

impl<'a> RankJob<'a> {
    /// One in which nothing special happens.
    fn new(text: &'a (dyn Fn(u32) -> String + Sync), directory: &'a Path) -> Self {
        Self {
            text,
            directory,
            watcher: &Nobody,
            ill: &|_, _, _| (),
            before_wait: &|_, _| (),
            host: &|_| RankHost::own(),
        }
    }
}

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

/// What each rank does when all have agreed on a job.
fn grouped<T: Send>(
    size: u32,
    job: &RankJob<'_>,
    work: impl Fn(&RankGroup<'_>, &RunOrder<'_>, &Interrupt) -> Result<T> + Sync,
) -> Vec<Result<T>> {
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
        let host = (job.host)(communicator.rank());
        let group = agree_from(host, collectives, Ok(&order), |seed| plan_of(Some(seed)))?;
        work(&group, &order, &interrupt)
    })
}

/// Runs a job with this number of ranks; the outcome of each.
fn ran(size: u32, job: &RankJob<'_>) -> Vec<Result<RunOutcome>> {
    grouped(size, job, |group, order, interrupt| {
        let mut plan = group.own_plan().unwrap().clone();
        (job.ill)(group.rank(), &mut plan, interrupt);
        let order = RunOrder { plan: &plan, group: Some(group), ..order.clone() };
        let mut store = Store::in_memory().unwrap();
        run(&order, &mut store, job.watcher, interrupt)
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

/// The same in a tree that all ranks share.
fn shared(more: &str) -> String {
    on_disk(more).replace("[tree]", "[tree]\ntrees = \"shared-by-ranks\"")
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
        assert_eq!(
            (all.operations, all.operations_asked, all.bytes),
            (500, Some(500), one.bytes.map(|bytes| 5 * bytes))
        );
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
    assert_ne!(created, alone.map(|alone| 3 * alone), "each rank has a seed of its own");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn with_a_rank_offset_each_rank_works_on_what_another_wrote_as_that_one_would() {
    let place = tempfile::tempdir().unwrap();
    let more = "[[phase]]\noperation = \"rewrite\"\ncount = 20\norder = \"random\"\n\
                [[phase]]\noperation = \"read\"\nrank_offset = 1\ncache = \"warm\"\n\
                [[phase]]\noperation = \"delete\"\ncount = 15\nrank_offset = 5\n\
                [[phase]]\nname = \"rest\"\noperation = \"stat\"\n";
    let book = good(3, &on_disk(more), place.path());
    for m in &book.measurements {
        assert!(m.valid(), "{}: {:?}", m.phase, m.invalid);
    }
    let operations: Vec<u64> = book.measurements.iter().map(|m| m.operations).collect();
    assert_eq!(operations, [120, 60, 120, 45, 75]);
    assert_eq!(book.measurements[3].entries_found, Some(75));
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
    let shifted = SIM.replace("operation = \"stat\"", "operation = \"stat\"\nrank_offset = 1");
    let shared = SIM.replace("[tree]", "[tree]\ntrees = \"shared-by-ranks\"");
    for text in [shifted, shared] {
        for one in ran(2, &RankJob::new(&|_| text.clone(), place.path())) {
            let said = one.err().unwrap().sentence;
            assert!(said.contains("a simulated file system of its own"), "{said}");
        }
    }
}

/// What lies in the directories of a run when a phase has ended, seen by each rank: nobody begins the next phase before.
struct FileCounter<'a> {
    place: &'a Path,
    /// The phase, and the files of each directory that has any.
    found: Mutex<Vec<(String, Vec<usize>)>>,
}

impl Watcher for FileCounter<'_> {
    fn phase_ends(&self, _: &PhaseContext<'_>, m: &Measurement) {
        let found = (m.phase.clone(), files_of_directories(self.place));
        self.found.lock().unwrap().push(found);
    }
}

/// How many files each directory below one has that has any.
fn files_of_directories(directory: &Path) -> Vec<usize> {
    let entries: Vec<_> = std::fs::read_dir(directory).into_iter().flatten().flatten().collect();
    let is_directory = |entry: &&std::fs::DirEntry| entry.path().is_dir();
    let below = entries.iter().filter(is_directory).flat_map(|e| files_of_directories(&e.path()));
    let is_file = |entry: &&std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('f');
    let files = entries.iter().filter(is_file).count();
    below.chain(Some(files)).filter(|files| *files > 0).collect()
}

#[test]
fn a_directory_that_ranks_share_holds_what_all_have_made_and_each_rank_lists_all_of_it() {
    let more = "[[phase]]\noperation = \"list\"\n[[phase]]\noperation = \"stat\"\nrank_offset = 3\n\
                [[phase]]\noperation = \"delete\"\ncount = 12\nrank_offset = 1\n\
                [[phase]]\nname = \"rest\"\noperation = \"read\"\n";
    for (directories, made, left) in [(1, vec![320], vec![224]), (4, vec![80; 4], vec![56; 4])] {
        let place = tempfile::tempdir().unwrap();
        let layout = format!("[tree]\nplacement = \"stripe\"\ndirectories = {directories}");
        let text = shared(more).replace("[tree]", &layout);
        let watcher = FileCounter { place: place.path(), found: Mutex::default() };
        let text = |_| text.clone();
        let job = RankJob { watcher: &watcher, ..RankJob::new(&text, place.path()) };
        let book = ran(8, &job).remove(0).and_then(RunOutcome::whole).unwrap();
        assert!(book.measurements.iter().all(Measurement::valid), "{:?}", book.measurements);
        let [created, listed, .., rest] = book.measurements.as_slice() else { panic!() };
        assert_eq!((created.operations, created.entries_found), (320, Some(320)));
        assert_eq!(listed.operations, 8 * directories);
        // An entry has at least 24 bytes: getdents64(2).
        assert!(listed.bytes >= Some(8 * 320 * 24), "{:?}", listed.bytes);
        assert_eq!(rest.entries_found, Some(224));
        let found = watcher.found.into_inner().unwrap();
        for (phase, files) in [("create", &made), ("delete", &left)] {
            let of_phase = found.iter().filter(|(name, _)| name == phase);
            let seen: Vec<_> = of_phase.map(|(_, files)| files).collect();
            assert_eq!(seen, [files; 8], "{phase}");
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

#[test]
fn ranks_make_the_files_of_io500_in_directories_of_their_own_then_in_one_and_look_at_those_of_others()
 {
    let place = tempfile::tempdir().unwrap();
    let scenario = find_scenario("io500").unwrap().text;
    let text = scenario.replace("quick = 10_000", "quick = 30");
    let text = text.replacen("question", "repeats  = 1\nquestion", 1);
    let watcher = FileCounter { place: place.path(), found: Mutex::default() };
    let text = |_| text.clone();
    let job = RankJob { watcher: &watcher, ..RankJob::new(&text, place.path()) };
    let book = ran(4, &job).remove(0).and_then(RunOutcome::whole).unwrap();
    assert_eq!(book.measurements.len(), 2 * 4);
    for m in &book.measurements {
        assert!(m.valid() && m.errors.is_empty(), "{}: {:?} {:?}", m.phase, m.invalid, m.errors);
        assert_eq!(m.operations, 4 * 30, "{}", m.phase);
        let is_hard = m.cell.variant == "mdtest-hard";
        let moves = is_hard && ["create", "read"].contains(&m.phase.as_str());
        assert_eq!(
            m.bytes,
            Some(if moves { 4 * 30 * 3_901 } else { 0 }),
            "{} {}",
            m.cell.variant,
            m.phase
        );
    }
    let found = watcher.found.into_inner().unwrap();
    let mut created: Vec<_> = found.iter().filter(|(phase, _)| phase == "create").collect();
    created.sort();
    let [easy, hard] = [vec![30; 4], vec![120]].map(|files| ("create".to_string(), files));
    assert_eq!(created, [vec![&easy; 4], vec![&hard; 4]].concat());
    assert!(found.iter().filter(|(phase, _)| phase == "delete").all(|(_, files)| files.is_empty()));
}

/// Removes file 5 of rank 3, of eight, before the phase `delete`.
struct FileRemover<'a>(&'a Path);

impl Watcher for FileRemover<'_> {
    fn phase_ends(&self, _: &PhaseContext<'_>, m: &Measurement) {
        if m.phase == "create" && m.ranks.is_some() {
            let run = std::fs::read_dir(self.0).unwrap().next().unwrap().unwrap().path();
            let name = format!("f{:010}", 5 * 8 + 3);
            std::fs::remove_file(run.join("r0000000000/c0000000001").join(name)).unwrap();
        }
    }
}

#[test]
fn with_a_rank_offset_a_rank_deletes_what_the_next_one_made_in_their_directory() {
    let place = tempfile::tempdir().unwrap();
    let text = |_| shared("[[phase]]\noperation = \"delete\"\nrank_offset = 1\n");
    let watcher = FileRemover(place.path());
    let job = RankJob { watcher: &watcher, ..RankJob::new(&text, place.path()) };
    let book = ran(8, &job).remove(0).and_then(RunOutcome::whole).unwrap();
    let deleted = &book.measurements[1];
    assert_eq!((deleted.operations, deleted.entries_found), (319, Some(0)));
    let failed: Vec<u64> =
        deleted.ranks.as_ref().unwrap().ranks.iter().map(|rank| rank.failed).collect();
    assert_eq!(failed, [0, 0, 1, 0, 0, 0, 0, 0], "the one before rank 3 misses its file");
}

#[test]
fn ranks_that_share_nested_directories_make_rename_walk_and_remove_what_is_theirs() {
    let place = tempfile::tempdir().unwrap();
    let more = "[[phase]]\noperation = \"mkdir\"\n[[phase]]\noperation = \"find\"\n\
                [[phase]]\noperation = \"rename\"\ncount = 30\norder = \"random\"\n\
                [[phase]]\noperation = \"rewrite\"\nrank_offset = 2\n\
                [[phase]]\noperation = \"delete\"\ncount = 10\norder = \"random\"\nrank_offset = 1\n\
                [[phase]]\nname = \"again\"\noperation = \"create\"\nrank_offset = 1\n\
                [[phase]]\noperation = \"read\"\n[[phase]]\noperation = \"rmdir\"\n";
    let layout = "[tree]\ndirectories = { fan_out = 2, depth = 2 }";
    let text = shared(more).replace("[tree]", layout).replace("repeats = 1", "repeats = 2");
    let book = good(5, &text.replace("name = \"t\"", "name = \"t\"\nthreads = 3"), place.path());
    for m in &book.measurements {
        assert!(m.valid(), "{}: {:?}", m.phase, m.invalid);
    }
    let operations: Vec<u64> = book.measurements.iter().map(|m| m.operations).collect();
    // The walk of each rank reads seven directories of the layout, and its own forty.
    let of_repeat = [200, 200, 5 * 47, 150, 200, 50, 50, 200, 200];
    assert_eq!(operations, [of_repeat, of_repeat].concat());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_tree_that_ranks_share_stands_beside_trees_of_their_own_and_alone_it_is_as_one_of_those() {
    let place = tempfile::tempdir().unwrap();
    let variants = "[[variant]]\nname = \"own\"\n[[variant]]\nname = \"shared\"\n\
                    tree = { files = 20, trees = \"shared-by-ranks\" }\n";
    let text = on_disk(variants).replace("repeats = 1", "repeats = 4");
    let book = good(3, &text, place.path());
    let mut entries: Vec<_> = book.measurements.iter().map(|m| m.entries_found).collect();
    assert!(book.measurements.iter().all(Measurement::valid), "{:?}", book.measurements);
    entries.sort_unstable();
    assert_eq!(entries, [60, 60, 60, 60, 120, 120, 120, 120].map(Some));
    let [shared, own] = [shared(""), on_disk("")]
        .map(|text| good_alone(&text, place.path()).measurements.remove(0));
    assert!(shared.valid(), "{:?}", shared.invalid);
    assert_eq!((shared.operations, shared.bytes), (own.operations, own.bytes));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

/// Breaks what one rank works in, after this number of phases of any rank.
struct Breaker<'a> {
    place: &'a Path,
    /// A cell of a rank that is in the way of the next one.
    cell: &'a str,
    phases: AtomicUsize,
}

impl Watcher for Breaker<'_> {
    fn phase_ends(&self, _: &PhaseContext<'_>, _: &Measurement) {
        if self.phases.fetch_add(1, Ordering::Relaxed) == 0 {
            let run = std::fs::read_dir(self.place).unwrap().next().unwrap().unwrap().path();
            std::fs::create_dir(run.join(self.cell)).unwrap();
        }
    }
}

#[test]
fn a_rank_that_fails_ends_all_with_one_sentence_and_what_was_measured_is_kept() {
    for (text, cell, whose) in [
        (on_disk(""), "r0000000001/c0000000002", "rank 1 on "),
        (shared(""), "r0000000000/c0000000002", "cannot make the directories of a tree"),
    ] {
        let place = tempfile::tempdir().unwrap();
        let text = text.replace("repeats = 1", "repeats = 3");
        let watcher = Breaker { place: place.path(), cell, phases: AtomicUsize::new(0) };
        let text = |_| text.clone();
        let job = RankJob { watcher: &watcher, ..RankJob::new(&text, place.path()) };
        for outcome in ran(3, &job) {
            let RunOutcome { book, failure, .. } = outcome.unwrap();
            let said = failure.unwrap().sentence;
            assert!(said.starts_with(whose) && said.contains("File exists"), "{said}");
            assert_eq!(book.measurements.len(), 1);
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
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
    asked_to_end_at_any_wait(2, &on_disk("[[phase]]\noperation = \"stat\"\n"));
}

#[test]
fn the_same_holds_for_a_rank_in_a_tree_that_rank_0_made() {
    asked_to_end_at_any_wait(3, &shared("[[phase]]\noperation = \"stat\"\n"));
}

#[test]
fn the_same_holds_for_the_rank_that_made_the_tree_of_all() {
    asked_to_end_at_any_wait(0, &shared("[[phase]]\noperation = \"stat\"\n"));
}

fn asked_to_end_at_any_wait(asked: u32, text: &str) {
    let place = tempfile::tempdir().unwrap();
    let text = |_| text.to_string();
    // An uneven step, so that over time each kind of wait has its turn.
    for wait in (0..).step_by(13) {
        let waits = AtomicUsize::new(0);
        let before_wait = |rank, interrupt: &Interrupt| {
            if rank == asked && waits.fetch_add(1, Ordering::Relaxed) == wait {
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
        let of_rank = format!("rank {asked} on ");
        let is_right = |said: &String| said.contains(&of_rank) && said.contains("asked to end");
        assert!(said.iter().all(is_right), "at wait {wait}: {said:?}");
        let kept = |rank: usize| all[rank].as_ref().map_or(0, |one| one.book.measurements.len());
        assert!((0..4).all(|rank| kept(rank) <= kept(0)), "at wait {wait}");
        let is_whole = all[0].as_ref().is_ok_and(|one| one.book.run.complete);
        // At the end rank 0 waits until the others are done, and has no more to do with them.
        let is_over = asked == 0 && kept(0) == 2;
        assert!(is_whole || is_over || !said.is_empty(), "at wait {wait}");
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
    // A file takes the name of the rank's directory in the directory of the run, as soon as that exists.
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

/// Drops nothing, and knows what was to be dropped.
#[derive(Default)]
struct DropLog(Mutex<Vec<CacheDrop>>);

impl DropLog {
    fn note(&self, what: CacheDrop) -> ErrnoResult<()> {
        self.0.lock().unwrap().push(what);
        Ok(())
    }
}

/// The host of a rank; each host has four ranks.
fn host_of_four(rank: u32, drop: &(dyn Fn(CacheDrop) -> ErrnoResult<()> + Sync)) -> RankHost<'_> {
    let name = format!("node{}", rank / 4);
    RankHost { name, boot: "boot".into(), may_drop: true, drop }
}

#[test]
fn one_rank_of_each_host_drops_the_caches_of_all_its_ranks_for_each_cold_phase() {
    let place = tempfile::tempdir().unwrap();
    let log = DropLog::default();
    let drop = |what| log.note(what);
    let host = |rank| host_of_four(rank, &drop);
    let more = "[[phase]]\noperation = \"stat\"\ncache = \"cold\"\n\
                [[phase]]\noperation = \"read\"\n\
                [[phase]]\noperation = \"delete\"\ncache = \"cold\"\n";
    let text = |_| on_disk(more);
    let job = RankJob { host: &host, ..RankJob::new(&text, place.path()) };
    let book = ran(8, &job).remove(0).and_then(RunOutcome::whole).unwrap();
    assert!(book.measurements.iter().all(Measurement::valid), "{:?}", book.measurements);
    if !book.host.rights.drop_caches || is_in_memory(&book.host.filesystem.kind) {
        skip(
            "caches dropped once a host",
            "takes root, and a directory for temporary files that is on a disk",
        );
        assert_eq!(log.0.into_inner().unwrap(), []);
        return;
    }
    let each = [CacheDrop::All, CacheDrop::All, CacheDrop::Names, CacheDrop::Names];
    assert_eq!(log.0.into_inner().unwrap(), each.repeat(2));
}

#[test]
fn caches_are_dropped_when_all_ranks_have_come_and_none_goes_on_before() {
    let place = tempfile::tempdir().unwrap();
    let (log, come) = (DropLog::default(), AtomicUsize::new(0));
    let drop = |what| {
        assert_eq!(come.load(Ordering::SeqCst), 8);
        log.note(what)
    };
    let host = |rank| host_of_four(rank, &drop);
    let job = RankJob { host: &host, ..RankJob::new(&|_| SIM.into(), place.path()) };
    let seen = grouped(8, &job, |group, _, interrupt| {
        come.fetch_add(1, Ordering::SeqCst);
        let is_dropped = group.barriers(false, interrupt).drop_caches(CacheDrop::All, true)?;
        Ok((is_dropped, log.0.lock().unwrap().len()))
    });
    assert_eq!(seen, vec![Ok((true, 2)); 8]);
}

#[test]
fn a_drop_that_fails_ends_all_ranks_with_its_sentence() {
    let place = tempfile::tempdir().unwrap();
    let log = DropLog::default();
    let (good, bad) = (|what| log.note(what), |_: CacheDrop| Err(Errno::EIO));
    let host = |rank| match rank / 4 {
        0 => host_of_four(rank, &good),
        _ => host_of_four(rank, &bad),
    };
    let job = RankJob { host: &host, ..RankJob::new(&|_| SIM.into(), place.path()) };
    let heard = grouped(8, &job, |group, _, interrupt| {
        group.barriers(false, interrupt).drop_caches(CacheDrop::All, true)
    });
    for one in heard {
        let said = one.unwrap_err().sentence;
        assert!(said.starts_with("rank 4 on "), "{said}");
        let reason = "cannot drop the caches of the kernel: Input/output error: the device ";
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn the_lowest_rank_of_a_kernel_that_may_drop_its_caches_does_and_without_any_nobody_waits() {
    let place = tempfile::tempdir().unwrap();
    let droppers = |may_drop: fn(u32) -> bool| {
        let host = |rank| RankHost {
            name: "node".into(),
            boot: format!("boot {}", rank / 4),
            may_drop: may_drop(rank),
            drop: &|_| Ok(()),
        };
        let job = RankJob { host: &host, ..RankJob::new(&|_| SIM.into(), place.path()) };
        let all = grouped(8, &job, |group, _, interrupt| {
            // Rank 3 alone, for which nobody else comes.
            if group.rank() == 3 && group.droppers.is_empty() {
                let barriers = group.barriers(false, interrupt);
                assert_eq!(barriers.drop_caches(CacheDrop::All, true), Ok(false));
            }
            Ok(group.droppers.iter().copied().collect::<Vec<u32>>())
        });
        let first = all[0].clone().unwrap();
        assert!(all.into_iter().all(|one| one.unwrap() == first));
        first
    };
    assert_eq!(droppers(|_| true), [0, 4]);
    assert_eq!(droppers(|rank| rank != 4), [0, 5]);
    assert_eq!(droppers(|_| false), [0; 0]);
}
