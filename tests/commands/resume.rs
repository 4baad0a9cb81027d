//! Runs that are killed, interrupted or fail continue as if nothing had happened.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use boatload::base::failure::{Exit, Result};
use boatload::plan::filesystem::Volume;
use boatload::plan::{Plan, Settings};
use boatload::results::book::{Book, Measurement};
use boatload::results::store::Store;
use boatload::run::interrupt::Interrupt;
use boatload::session::{self, PhaseContext, RunOrder, RunOutcome, UnfinishedRun, Watcher};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::command::{Bench, Ran, Running, names_in};
use crate::library::{plan_of, plan_with};

/// Two variants, three repeats, two phases, one of them twice; noise that depends on all that was before.
const JOB: &str = "name = 'x'\nengine = 'sim'\nrepeats = 3\n[tree]\nfiles = 200\n\
    [[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n\
    [sim]\nmetadata = '20us'\nnoise = 'skewed'\ndrift = '10%'\n\
    spread = { passes = '5%', repeats = '5%' }\n\
    [[phase]]\noperation = 'create'\n[[phase]]\noperation = 'read'\npasses = 2\n";

/// A folder with a store, and copies of it as a process that is killed leaves them.
struct Folder(TempDir);

/// Copies the store, or interrupts the run, when so many measurements were made.
struct Killer<'a> {
    made: AtomicUsize,
    at: usize,
    kill: &'a (dyn Fn() + Sync),
}

impl Watcher for Killer<'_> {
    fn phase_ends(&self, _: &PhaseContext<'_>, _: &Measurement) {
        self.made.fetch_add(1, Relaxed);
    }

    /// After what was made before was stored.
    fn phase_begins(
        &self,
        _: &PhaseContext<'_>,
        _: std::sync::Arc<[boatload::run::drive::DoneCount]>,
    ) {
        if self.made.load(Relaxed) == self.at {
            (self.kill)();
        }
    }
}

impl Default for Folder {
    fn default() -> Self {
        // In memory if there is such a place, for the store syncs after each phase.
        Self(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }
}

impl Folder {
    fn store(&self) -> PathBuf {
        self.0.path().join("store.db")
    }

    fn order<'a>(&self, plan: &'a Plan) -> RunOrder<'a> {
        RunOrder {
            plan,
            directory: self.0.path().into(),
            command: "a test".into(),
            fill_real: false,
            place: Volume::default(),
            tag: None,
            group: None,
        }
    }

    /// Runs a plan; the store is copied after this number of measurements.
    fn run(&self, plan: &Plan, at: usize) -> (Book, PathBuf) {
        let copy = self.0.path().join(format!("killed-{at}.db"));
        let kill = || copied(&self.store(), &copy);
        let watcher = Killer { made: AtomicUsize::new(0), at, kill: &kill };
        let mut store = Store::open(self.store()).unwrap();
        let outcome = session::run(&self.order(plan), &mut store, &watcher, &Interrupt::default());
        (outcome.unwrap().whole().unwrap(), copy)
    }

    /// Continues the last run of a store; the store is copied again after this number of further measurements.
    fn resume(&self, plan: &Plan, path: &Path, at: usize) -> Result<RunOutcome> {
        let copy = path.with_extension("again");
        let kill = || copied(path, &copy);
        let watcher = Killer { made: AtomicUsize::new(0), at, kill: &kill };
        let mut store = Store::open(path).unwrap();
        let unfinished = unfinished(&store, false);
        session::resume(&self.order(plan), unfinished, &mut store, &watcher, &Interrupt::default())
    }
}

fn unfinished(store: &Store, anyway: bool) -> UnfinishedRun {
    let id = store.find_run("last").unwrap();
    let (origin, cells) = store.origin_of(&id).unwrap().unwrap();
    UnfinishedRun { book: store.load(&id).unwrap(), origin, cells, anyway }
}

/// The store as another process sees it.
fn copied(from: &Path, to: &Path) {
    let _ = std::fs::remove_file(to);
    let to = to.to_str().unwrap();
    Connection::open(from).unwrap().execute("VACUUM INTO ?1", (to,)).unwrap();
}

/// All that does not depend on the machine.
fn simulated(book: &Book) -> Vec<Measurement> {
    let bare = |m: &Measurement| Measurement {
        cpu_user_seconds: Some(0.0),
        cpu_system_seconds: Some(0.0),
        context_switches: None,
        ..m.clone()
    };
    book.measurements.iter().map(bare).collect()
}

/// Kills a run after some of its measurements, about so often, in all phases of a cell and spread over the run: whether it
/// ends as if it had not been, wherever that is. The number of kills.
fn ends_alike(plan: &Plan, kills: usize) -> usize {
    let whole = Folder::default().run(plan, usize::MAX).0;
    assert!(whole.run.complete && whole.run.resumed.is_empty());
    let all = whole.measurements.len();
    let distance = (all / kills).max(1);
    let moments = (1..all).filter(|at| at % distance == at / distance % distance);
    let mut killed_times = 0;
    for at in moments {
        let folder = Folder::default();
        let (_, killed) = folder.run(plan, at);
        let outcome = folder.resume(plan, &killed, usize::MAX).unwrap();
        assert!(outcome.failure.is_none() && outcome.is_kept, "{at}: {:?}", outcome.failure);
        let book = outcome.book;
        assert_eq!(simulated(&book), simulated(&whole), "killed after {at}");
        assert_eq!(book.conditions, whole.conditions, "{at}");
        let told = |book: &Book| (book.run.complete, book.run.repeats, book.run.stopping.clone());
        assert_eq!(told(&book), told(&whole), "{at}");
        assert_eq!(book.run.resumed.len(), 1, "{at}");
        let store = Store::open_to_read(&killed).unwrap();
        assert_eq!(store.load(&book.run.id).unwrap(), book, "{at}: the store has another");
        killed_times += 1;
    }
    killed_times
}

/// Kills of a run where they are not counted.
const KILLS: usize = 10;

#[test]
fn a_run_that_is_killed_after_any_measurement_ends_as_if_it_had_not_been() {
    ends_alike(&plan_of(JOB), KILLS);
}

#[test]
fn a_run_that_looks_at_its_answer_makes_as_many_repeats_after_each_of_forty_kills() {
    let job = JOB.replace("files = 200", "files = 30").replace("repeats = 3\n", "");
    let kills = ends_alike(&plan_of(&job), 60);
    assert!(kills >= 40, "{kills}");
}

#[test]
fn a_run_that_its_time_limit_ends_makes_as_many_repeats_after_a_kill() {
    let job = JOB.replace("files = 200", "files = 30");
    let limited = |seconds| {
        plan_with(&job, &Settings { time_limit_seconds: Some(seconds), ..Settings::default() })
    };
    let whole = Folder::default().run(&limited(3_600.0), usize::MAX).0;
    let seconds: f64 = whole.measurements.iter().map(|m| m.durable_seconds()).sum();
    ends_alike(&limited(0.6 * seconds), KILLS);
}

#[test]
fn a_run_with_a_time_limit_that_is_interrupted_after_any_cell_ends_as_if_it_had_not_been() {
    let job = JOB.replace("files = 200", "files = 30");
    let settings = Settings { time_limit_seconds: Some(0.03), ..Settings::default() };
    let plan = plan_with(&job, &settings);
    let whole = Folder::default().run(&plan, usize::MAX).0;
    let cells = whole.measurements.chunk_by(|a, b| a.cell == b.cell).count();
    assert!((6..24).contains(&cells), "{cells} cells: the limit ends it");
    for at in 1..cells {
        let folder = Folder::default();
        let interrupt = Interrupt::default();
        let kill = || interrupt.set();
        // Three measurements make a cell; the first of the next one is the last that is made.
        let watcher = Killer { made: AtomicUsize::new(0), at: 3 * at, kill: &kill };
        let mut store = Store::open(folder.store()).unwrap();
        let stopped = session::run(&folder.order(&plan), &mut store, &watcher, &interrupt);
        assert!(!stopped.unwrap().book.run.complete, "{at}");
        let book = folder.resume(&plan, &folder.store(), usize::MAX).unwrap().whole().unwrap();
        assert_eq!(simulated(&book), simulated(&whole), "interrupted after cell {at}");
        assert_eq!(
            (book.run.repeats, book.run.stopping),
            (whole.run.repeats, whole.run.stopping.clone())
        );
    }
}

#[test]
fn places_that_are_prepared_are_prepared_again() {
    let job = "name = 'x'\nengine = 'sim'\nrepeats = 3\n[tree]\nfiles = 20\nsize = 4096\n\
        [axis]\nname = 'used'\nvalues = [20, 50, 80]\n\
        prepare = { age = { sizes = 4096, histories = 2 } }\n\
        [sim]\nmetadata = '20us'\ncapacity = '4MiB'\n\
        [[phase]]\noperation = 'create'\n[[phase]]\noperation = 'read'\n";
    ends_alike(&plan_of(job), KILLS);
    let own = job.replace("histories = 2", "histories = 1_000");
    ends_alike(&plan_of(&own), KILLS);
    let settings = Settings { time_limit_seconds: Some(3_600.0), ..Settings::default() };
    ends_alike(&plan_with(&own, &settings), KILLS);
}

#[test]
fn a_run_that_is_killed_while_it_is_resumed_is_resumed_again_and_says_where_each_time() {
    let (folder, plan) = (Folder::default(), plan_of(JOB));
    let (whole, killed) = folder.run(&plan, 4);
    folder.resume(&plan, &killed, 5).unwrap();
    let again = killed.with_extension("again");
    let book = folder.resume(&plan, &again, usize::MAX).unwrap().book;
    assert_eq!(simulated(&book), simulated(&whole));
    let cells: Vec<_> = book.run.resumed.iter().map(|resumed| resumed.cell.clone()).collect();
    let of = |at: usize| Some(whole.measurements[at].cell.clone());
    assert_eq!(cells, [of(3), of(6)], "the cell of the fourth, then the cell of the fifth");
    let shown = boatload::report::find_report("details").unwrap();
    let mut text = Vec::new();
    (shown.render)(&boatload::analysis::Analysis::of(&book), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("resumed: 2") && text.contains("repeat 1"), "{text}");
}

#[test]
fn what_differs_from_when_it_began_is_named_and_refused_or_accepted_and_told() {
    let (folder, plan) = (Folder::default(), plan_of(JOB));
    let (_, killed) = folder.run(&plan, 4);
    let connection = Connection::open(&killed).unwrap();
    let change = "UPDATE runs SET document = \
        json_set(document, '$.host.kernel', 'Minix 3', '$.run.boatload', '0.0.9')";
    connection.execute(change, ()).unwrap();
    let refused =
        folder.resume(&plan, &killed, usize::MAX).map(|o| o.book.run.complete).unwrap_err();
    assert_eq!(refused.exit, Exit::Usage);
    for part in ["kernel: Minix 3 when it began, Linux", "boatload: 0.0.9", "--anyway"] {
        assert!(refused.sentence.contains(part), "no {part}: {}", refused.sentence);
    }
    let mut store = Store::open(&killed).unwrap();
    let unchanged = store.load(&store.find_run("last").unwrap()).unwrap();
    assert_eq!((unchanged.measurements.len(), unchanged.run.resumed.len()), (4, 0));
    let anyway = unfinished(&store, true);
    let (order, watcher) = (folder.order(&plan), crate::library::Nobody);
    let outcome = session::resume(&order, anyway, &mut store, &watcher, &Interrupt::default());
    let book = outcome.unwrap().whole().unwrap();
    assert_eq!(book.run.resumed[0].differences.len(), 2, "{:?}", book.run.resumed);
    let findings = crate::library::findings_of(&book);
    let codes: Vec<_> = findings.iter().filter_map(crate::library::code_of).collect();
    assert!(codes.contains(&"resumed-anyway".to_string()), "{codes:?}");
    let other = plan_of(&JOB.replace("files = 200", "files = 300\nsize = 1"));
    let (_, killed) = folder.run(&plan_of(&JOB.replace("repeats = 3", "repeats = 2")), 4);
    let refused = folder.resume(&other, &killed, usize::MAX).map(|_| ()).unwrap_err();
    assert!(refused.sentence.contains("cannot be resumed: its job has other"), "{refused:?}");
}

#[test]
fn of_two_processes_that_resume_a_run_at_once_one_goes_on() {
    let (folder, plan) = (Folder::default(), plan_of(JOB));
    let (_, killed) = folder.run(&plan, 4);
    let connection = Connection::open(&killed).unwrap();
    let other = "UPDATE runs SET origin = json_set(origin, '$.process.boot', 'before')";
    connection.execute(other, ()).unwrap();
    let mut store = Store::open(&killed).unwrap();
    let both = [unfinished(&store, false), unfinished(&store, false)];
    let (order, watcher) = (folder.order(&plan), crate::library::Nobody);
    let [first, second] =
        both.map(|one| session::resume(&order, one, &mut store, &watcher, &Interrupt::default()));
    let book = first.unwrap().whole().unwrap();
    let refused = second.map(|_| ()).unwrap_err();
    assert!(refused.sentence.contains("is still running, in process"), "{refused:?}");
    assert_eq!(store.load(&book.run.id).unwrap(), book, "nothing is changed by the other one");
}

#[test]
fn another_directory_behind_the_name_of_the_place_is_refused_or_accepted_and_told() {
    let (folder, plan) = (Folder::default(), plan_of(JOB));
    let place = folder.0.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let order = RunOrder { directory: place.clone(), ..folder.order(&plan) };
    let mut store = Store::open(folder.store()).unwrap();
    let interrupt = Interrupt::default();
    let kill = || interrupt.set();
    let watcher = Killer { made: AtomicUsize::new(0), at: 4, kill: &kill };
    session::run(&order, &mut store, &watcher, &interrupt).unwrap();
    // The old directory still exists, so that its inode is not reused.
    std::fs::rename(&place, folder.0.path().join("moved")).unwrap();
    std::fs::create_dir(&place).unwrap();
    let resume = |store: &mut Store, anyway| {
        let unfinished = unfinished(store, anyway);
        let nobody = crate::library::Nobody;
        session::resume(&order, unfinished, store, &nobody, &Interrupt::default())
    };
    let refused = resume(&mut store, false).map(|_| ()).unwrap_err();
    assert!(refused.sentence.contains("directory: it is on another file system, or another"));
    assert_eq!(refused.exit, Exit::Usage);
    let book = resume(&mut store, true).unwrap().whole().unwrap();
    assert_eq!(book.run.resumed[0].differences.len(), 1, "{:?}", book.run.resumed);
}

const LONG: &str = "name = 'x'\nrepeats = 2\n[tree]\nfiles = 1_500\n[[phase]]\noperation = 'create'\n\
    [[phase]]\noperation = 'stat'\npasses = 40\n[[phase]]\noperation = 'delete'\n";

/// What was measured, in its order.
fn set_of(document: &serde_json::Value) -> Vec<String> {
    let all = document["measurements"].as_array().unwrap().iter();
    all.map(|m| format!("{} {} {} {}", m["variant"], m["repeat"], m["phase"], m["pass"])).collect()
}

#[test]
fn a_killed_run_in_a_directory_goes_on_from_anywhere_by_its_id_alone() {
    let bench = Bench::default();
    let folder = bench.work();
    std::fs::write(folder.join("job.toml"), LONG).unwrap();
    std::fs::create_dir(folder.join("place")).unwrap();
    let arguments = ["run", "job.toml", "--cache", "as-is", "--dir", "place"];
    let whole = bench.document(arguments);
    let running = Running::start(bench.command(arguments), &folder.join("place"));
    let busy = bench.run(["resume", "last"]);
    // It may have nothing in the store yet, or be found to run.
    assert_eq!(busy.code, Some(2), "{}", busy.stderr);
    // Until there is something to keep.
    for _ in 0..1_000 {
        let shown = bench.run(["show", "last", "--json", "-"]);
        if shown.code == Some(0)
            && shown.json()["run"]["complete"] == false
            && set_of(&shown.json()).len() > 2
        {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    running.signal(rustix::process::Signal::KILL);
    running.ended();
    let left = names_in(&folder.join("place"));
    assert_eq!(left.len(), 1, "the killed run left its directory: {left:?}");
    std::fs::write(folder.join("job.toml"), "name = 'other'").unwrap();
    let mut resume = bench.command(["resume", "last", "--json", "-"]);
    let ran = Ran::of(resume.current_dir("/"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("the job has changed since"), "{}", ran.stderr);
    let document = ran.json();
    assert_eq!(set_of(&document), set_of(&whole));
    assert_eq!(document["run"]["complete"], true);
    assert_eq!(document["run"]["resumed"].as_array().unwrap().len(), 1);
    assert_eq!(names_in(&folder.join("place")), Vec::<String>::new());
    let again = bench.run(["resume", "last"]);
    assert!(again.refuses(2).contains("is complete"), "{}", again.stderr);
}

#[test]
fn a_run_that_ended_early_has_its_warnings_and_says_how_to_continue() {
    let (folder, plan) = (Folder::default(), plan_of(JOB));
    let (_, killed) = folder.run(&plan, 4);
    let bench = Bench::default();
    std::fs::copy(&killed, bench.store()).unwrap();
    let shown = bench.run(["show", "last", "--details"]);
    for part in ["INCOMPLETE", "was killed, or is still running", "`boatload resume "] {
        assert!(shown.stdout.contains(part), "no {part}: {}", shown.stdout);
    }
    let document = bench.run(["show", "last", "--json", "-"]).json();
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(findings[0]["kind"], "answer", "{findings:?}");
    assert!(findings.iter().any(|finding| finding["code"] == "interrupted"), "{findings:?}");
    let checked = bench.run(["check", "last", "--baseline", "history"]);
    assert_eq!(checked.code, Some(4), "{}", checked.stdout);
    assert!(checked.stdout.contains("Next: boatload resume "), "{}", checked.stdout);
}

#[test]
fn a_run_whose_paths_no_text_keeps_is_not_resumed_and_nobody_is_told_that_it_can_be() {
    use std::os::unix::ffi::OsStrExt;
    for name in [&b"line\nbreak"[..], b"no\xffutf-8"] {
        let bench = Bench::default();
        let odd = bench.beside("odd").join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(&odd).unwrap();
        let running = Running::start(bench.long_command(&odd), &odd);
        running.signal(rustix::process::Signal::TERM);
        let ran = running.ended();
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        assert!(!ran.stderr.contains("continues it"), "{}", ran.stderr);
        let told = bench.run(["resume", "last"]);
        assert!(told.refuses(2).contains("which the store does not keep"), "{}", told.stderr);
    }
}

#[test]
fn an_imported_run_is_not_resumed() {
    let (folder, plan) = (Folder::default(), plan_of(JOB));
    let (_, killed) = folder.run(&plan, 4);
    let bench = Bench::default();
    std::fs::copy(&killed, bench.store()).unwrap();
    let document = bench.run(["show", "last", "--json", "-"]).stdout;
    let document = bench.write("run.json", document);
    let store = bench.beside("other.db");
    let at = |arguments: &[&str]| Ran::of(bench.bare().args(arguments).arg("--store").arg(&store));
    assert_eq!(at(&["import", document.to_str().unwrap()]).code, Some(0));
    assert!(at(&["resume", "last"]).refuses(2).contains("not begun with this store"));
}

/// A bench with a store in which there are two runs of a job; their ids, the last one first.
fn two_runs() -> (Bench, [String; 2]) {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    let job = job.to_str().unwrap();
    let ids = ["run", "run"].map(|_| {
        let document = bench.document(["run", job, "--tag", "nightly"]);
        document["run"]["id"].as_str().unwrap().to_string()
    });
    let [first, last] = ids;
    (bench, [last, first])
}

#[test]
fn a_tag_names_the_run_that_got_it_last_and_notes_are_listed() {
    let (bench, [last, first]) = two_runs();
    for (word, id) in
        [("nightly", &last), ("last", &last), ("last~1", &first), (first.as_str(), &first)]
    {
        let shown = bench.run(["show", word, "--json", "-"]);
        assert_eq!(shown.json()["run"]["id"], id.as_str(), "{word}");
    }
    assert_eq!(bench.run(["runs", "note", "last~1", "before the new kernel"]).code, Some(0));
    let listed = bench.run(["runs"]).stdout;
    let rows: Vec<&str> = listed.lines().skip(1).collect();
    assert!(rows[0].starts_with(&last) && rows[1].starts_with(&first), "{listed}");
    let named = format!("\n\n{last} nightly\n{first}: before the new kernel\n");
    assert!(listed.ends_with(&named), "{listed}");
    bench.run(["runs", "note", "last~1", ""]);
    assert!(!bench.run(["runs"]).stdout.contains("before"));
    for bad in ["last", "last~1", "history", "k7m2n8p4", "a b", "reference:x"] {
        let ran = bench.run(["run", "--tag", bad]);
        assert_eq!(ran.code, Some(2), "{bad}");
        assert!(ran.stderr.contains("take up to 32 letters"), "{bad}: {}", ran.stderr);
    }
}

#[test]
fn runs_are_removed_all_or_none() {
    let (bench, [last, first]) = two_runs();
    let refused = bench.run(["runs", "rm", "nightly", "nothing"]);
    assert!(refused.refuses(2).contains("nothing"), "{}", refused.stderr);
    assert_eq!(bench.last_id(), last);
    let removed = bench.run(["runs", "rm", "nightly"]);
    assert!(removed.stdout.starts_with(&format!("removed {last}\n")), "{}", removed.stdout);
    assert_eq!(bench.last_id(), first);
    let connection = Connection::open(bench.store()).unwrap();
    let rows = |table: &str| {
        let count = format!("SELECT count(DISTINCT run_id) FROM {table}");
        connection.query_row(&count, (), |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!([rows("measurement_documents"), rows("finished_cells")], [1, 1]);
}

#[test]
fn a_run_that_was_killed_is_checked_against_its_history_and_lacks_rows() {
    let (folder, plan) = (Folder::default(), plan_of(JOB));
    folder.run(&plan, usize::MAX);
    let (_, killed) = folder.run(&plan, 1);
    let bench = Bench::default();
    std::fs::copy(&killed, bench.store()).unwrap();
    let checked = bench.run(["check", "last", "--baseline", "history"]);
    assert_eq!(checked.code, Some(4), "{}{}", checked.stdout, checked.stderr);
    assert!(checked.stdout.contains("read"), "{}", checked.stdout);
}
