//! What becomes of a run whose store fails while it measures.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use boatload::plan::filesystem::Volume;
use boatload::results::book::Measurement;
use boatload::results::store::Store;
use boatload::run::interrupt::Interrupt;
use boatload::session::{self, PhaseContext, RunOrder, RunOutcome, Watcher};
use rusqlite::Connection;

use crate::command::{Bench, Ran, Running, names_in};
use crate::library::plan_of;

const JOB: &str = "name = \"x\"\nengine = \"sim\"\nrepeats = 2\n[tree]\nfiles = 100\n\
    [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"read\"\n";

/// Of the job: two repeats of two phases.
const MEASUREMENTS: usize = 4;

const REFUSE: &str = "CREATE TRIGGER refuse BEFORE INSERT ON measurement_documents
    BEGIN SELECT RAISE(ABORT, 'no more'); END";

/// A bench whose store, with one run in it, takes no measurements.
fn refusing() -> (Bench, PathBuf, Connection) {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    bench.document([Path::new("run"), &job]);
    let connection = Connection::open(bench.store()).unwrap();
    connection.execute_batch(REFUSE).unwrap();
    (bench, job, connection)
}

#[test]
fn a_store_that_takes_nothing_costs_no_result_and_the_run_can_be_brought_into_it_later() {
    let (bench, job, connection) = refusing();
    let ran = bench.run([Path::new("run"), &job]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("create") && ran.stdout.contains("read"), "{}", ran.stdout);
    assert_eq!(ran.stderr.matches("Measuring continues").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("has 0 of the 4 measurements"), "{}", ran.stderr);
    let kept = spill(&ran);
    connection.execute_batch("DROP TRIGGER refuse").unwrap();
    let imported = bench.run([Path::new("import"), kept]);
    assert!(imported.stdout.starts_with("completed "), "{}{}", imported.stdout, imported.stderr);
    let again = bench.run([Path::new("import"), kept]);
    assert!(again.stdout.starts_with("already there:"), "{}{}", again.stdout, again.stderr);
    let shown = bench.run(["show", "last"]);
    assert_eq!((shown.code, shown.stdout), (Some(0), ran.stdout));
}

/// The file that a run which the store lacks is in.
#[track_caller]
fn spill(ran: &Ran) -> &Path {
    let named = ran.stderr.split("`boatload import ").nth(1).expect(&ran.stderr);
    Path::new(named.split('`').next().unwrap())
}

#[test]
fn a_document_that_was_asked_for_is_the_only_one_written() {
    let (bench, job, _connection) = refusing();
    let asked = bench.beside("asked.json");
    let ran = bench.run([Path::new("run"), &job, Path::new("--json"), &asked]);
    assert!(ran.stderr.contains("asked.json` brings it into a store"), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("boatload-").count(), 0, "{}", ran.stderr);
}

#[test]
fn a_store_may_have_a_name_that_means_something_else_to_sqlite() {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    let folder = job.parent().unwrap();
    let at = |arguments: &[&str]| Ran::of(bench.bare().current_dir(folder).args(arguments));
    let ran = at(&["run", "./job.toml", "--store", ":memory:"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(folder.join(":memory:").is_file());
    let shown = at(&["show", "last", "--store", ":memory:"]);
    assert_eq!((shown.code, &shown.stdout), (Some(0), &ran.stdout));
    let elsewhere = at(&["show", "last"]);
    assert!(elsewhere.stderr.contains("--store names another"), "{}", elsewhere.stderr);
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The command as a shell with this umask starts it.
fn under_umask(umask: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("umask {umask}; exec \"$@\""), "sh"]).arg(command.get_program());
    shell.args(command.get_args()).stdin(Stdio::null());
    shell.current_dir(command.get_current_dir().unwrap());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

#[test]
fn what_is_made_for_results_is_its_owners_alone_whatever_the_umask_is() {
    for umask in ["000", "022", "777"] {
        let bench = Bench::default();
        let job = bench.write("job.toml", JOB);
        let run = |store: &Path| {
            let mut command = bench.bare();
            command.arg("run").arg(&job).arg("--store").arg(store);
            Ran::of(&mut under_umask(umask, &command))
        };
        let store = bench.beside("new/deep/store.db");
        let ran = run(&store);
        assert_eq!(ran.code, Some(0), "{umask}: {}", ran.stderr);
        assert_eq!(mode(&store), 0o600, "{umask}");
        for made in ["new", "new/deep"] {
            assert_eq!(mode(&bench.beside(made)), 0o700, "{umask}: {made}");
        }
        let cut = std::fs::read(&store).unwrap()[..4_096].to_vec();
        let ran = run(&bench.write("cut.db", cut));
        assert_eq!(mode(spill(&ran)), 0o600, "{umask}");
        std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(run(&store).code, Some(0), "{umask}");
        assert_eq!(mode(&store), 0o640, "{umask}: an existing store keeps its mode");
    }
}

#[test]
fn the_files_beside_a_store_are_its_owners_alone_while_a_run_goes_on() {
    let bench = Bench::default();
    let command = under_umask("000", &bench.long_command(&bench.work()));
    let running = Running::start(command, &bench.work());
    for ending in ["", "-wal", "-shm"] {
        let path = bench.store().with_file_name(format!("store.db{ending}"));
        assert_eq!(mode(&path), 0o600, "{ending}");
    }
    running.signal(rustix::process::Signal::TERM);
    assert_eq!(running.ended().code, Some(130));
}

#[test]
fn boatloads_that_measure_at_the_same_time_share_a_store() {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB.replace("repeats = 2", "repeats = 60"));
    let start = |_| {
        let mut command = bench.command([Path::new("run"), &job]);
        command.args(["--json", "-"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running = [0, 1, 2].map(start);
    for run in running {
        let ran = Ran::from(run.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stderr.contains("Measuring continues"), "{}", ran.stderr);
        let document = ran.json();
        assert_eq!(document["measurements"].as_array().unwrap().len(), 120);
        let id = document["run"]["id"].as_str().unwrap();
        assert!(bench.run(["show", id, "--json", "-"]).json() == document, "{id}");
    }
}

/// A bench whose store had a run before this was done to its bytes; and the store.
fn damaged(damage: impl FnOnce(&mut Vec<u8>)) -> (Bench, PathBuf) {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    bench.document([Path::new("run"), &job]);
    let mut bytes = std::fs::read(bench.store()).unwrap();
    damage(&mut bytes);
    std::fs::write(bench.store(), bytes).unwrap();
    (bench, job)
}

/// A run whose store nobody can use gives all that it measured, and leaves the store unchanged.
#[track_caller]
fn goes_on_without_store(bench: &Bench, job: &Path, why: &str) {
    let before = std::fs::read(bench.store()).unwrap();
    let ran = bench.run([Path::new("run"), job]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("create") && ran.stdout.contains("read"), "{}", ran.stdout);
    let goes_on: Vec<_> =
        ran.stderr.lines().filter(|l| l.contains("Measuring continues")).collect();
    assert!(goes_on.len() == 1 && goes_on[0].contains(why), "{why}: {}", ran.stderr);
    assert!(ran.stderr.contains("has 0 of the 4 measurements"), "{}", ran.stderr);
    let spilled: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(spill(&ran)).unwrap()).unwrap();
    assert_eq!(spilled["measurements"].as_array().unwrap().len(), MEASUREMENTS);
    let new = bench.beside("new.db");
    let with_new =
        |arguments: &[&Path]| Ran::of(bench.bare().args(arguments).arg("--store").arg(&new));
    let imported = with_new(&[Path::new("import"), spill(&ran)]);
    assert!(imported.stdout.starts_with("imported "), "{}{}", imported.stdout, imported.stderr);
    let shown = with_new(&["show", "last", "--json", "-"].map(Path::new));
    assert!(shown.json() == spilled, "{}", shown.stdout);
    let asked = bench.beside("asked.json");
    let ran = bench.run([Path::new("run"), job, Path::new("--json"), &asked]);
    assert_eq!((ran.code, spill(&ran)), (Some(1), asked.as_path()), "{}", ran.stderr);
    assert!(std::fs::read(bench.store()).unwrap() == before, "{why}: the store was written");
}

#[test]
fn a_store_whose_pages_are_garbage_costs_no_result_and_is_left_as_it_was() {
    let (bench, job) = damaged(|bytes| bytes[4_096..].fill(0xa5));
    goes_on_without_store(&bench, &job, "malformed");
}

#[test]
fn a_store_that_was_cut_off_costs_no_result_and_is_left_as_it_was() {
    for length in [100, 4_096, 10_000] {
        let (bench, job) = damaged(|bytes| bytes.truncate(length));
        goes_on_without_store(&bench, &job, "malformed");
    }
}

#[test]
fn a_store_of_a_later_version_is_read_by_nobody_and_costs_no_result() {
    let (bench, job) = damaged(|_| {});
    let kept = bench.write("kept.json", bench.run(["show", "last", "--json", "-"]).stdout);
    let later = Connection::open(bench.store()).unwrap();
    later.pragma_update(None, "user_version", 2).unwrap();
    drop(later);
    let before = std::fs::read(bench.store()).unwrap();
    let kept = kept.to_str().unwrap();
    for arguments in [
        &["runs"][..],
        &["runs", "note", "last", "a note"],
        &["runs", "rm", "last"],
        &["show", "last"],
        &["compare", "last", "last"],
        &["check", "last", "--baseline", "history"],
        &["export", "last", "--format", "csv"],
        &["report", "last", "-o", "page.html"],
        &["resume", "last"],
        &["import", kept],
    ] {
        let ran = bench.run(arguments);
        assert!(ran.refuses(1).contains("it has schema 2 of another boatload"), "{arguments:?}");
        assert!(std::fs::read(bench.store()).unwrap() == before, "{arguments:?}");
        let root = bench.store().parent().unwrap().to_path_buf();
        assert_eq!(names_in(&root), ["elsewhere", "home", "store.db", "work"], "{arguments:?}");
    }
    goes_on_without_store(&bench, &job, "schema 2 of another boatload");
}

#[test]
fn a_store_of_an_earlier_version_is_refused_and_neither_it_nor_its_wal_changes() {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    let run = bench.document([Path::new("run"), &job]);
    let document = bench.write("run.json", run.to_string());
    let earlier = Connection::open(bench.store()).unwrap();
    earlier.pragma_update(None, "user_version", 0).unwrap();
    earlier.execute_batch("DROP VIEW measurements").unwrap();
    // As a kill leaves it: what was written last is in the WAL alone.
    let [store, wal] = ["killed.db", "killed.db-wal"].map(|name| bench.beside(name));
    std::fs::copy(bench.store(), &store).unwrap();
    std::fs::copy(bench.store().with_extension("db-wal"), &wal).unwrap();
    let bytes = || [&store, &wal].map(|path| std::fs::read(path).unwrap());
    let before = bytes();
    for arguments in
        [&["runs"][..], &["import", document.to_str().unwrap()], &["runs", "rm", "last"]]
    {
        let ran = Ran::of(bench.bare().args(arguments).arg("--store").arg(&store));
        assert!(ran.refuses(1).contains("it has schema 0 of another boatload"), "{}", ran.stderr);
        assert!(bytes() == before, "{arguments:?} changed the store");
    }
}

/// Does something when a measurement was made, which the store is to be told of next.
struct Meddler<'a> {
    made: AtomicUsize,
    notices: Mutex<Vec<String>>,
    meddle: &'a (dyn Fn(usize) + Sync),
}

impl Watcher for Meddler<'_> {
    fn notice(&self, text: &str) {
        self.notices.lock().unwrap().push(text.into());
    }

    fn phase_ends(&self, _: &PhaseContext<'_>, _: &Measurement) {
        (self.meddle)(self.made.fetch_add(1, Ordering::Relaxed) + 1);
    }
}

/// Runs the job with a store, and what was said.
fn run(path: &Path, meddle: &(dyn Fn(usize) + Sync)) -> (RunOutcome, Vec<String>) {
    tagged_run(path, None, meddle)
}

/// The same with a tag.
fn tagged_run(
    path: &Path,
    tag: Option<&str>,
    meddle: &(dyn Fn(usize) + Sync),
) -> (RunOutcome, Vec<String>) {
    let plan = plan_of(JOB);
    let order = RunOrder {
        plan: &plan,
        directory: path.parent().unwrap().into(),
        command: "a test".into(),
        fill_real: false,
        place: Volume::default(),
        tag: tag.map(String::from),
        group: None,
    };
    let watcher = Meddler { made: AtomicUsize::new(0), notices: Mutex::default(), meddle };
    let interrupt = Interrupt::default();
    let mut store = Store::open(path).unwrap();
    let outcome = session::run(&order, &mut store, &watcher, &interrupt).unwrap();
    (outcome, watcher.notices.into_inner().unwrap())
}

#[test]
fn what_a_store_refuses_for_a_while_is_in_it_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (outcome, notices) = run(&path, &|made| {
        let connection = Connection::open(&path).unwrap();
        match made {
            1 => connection.execute_batch(REFUSE).unwrap(),
            3 => connection.execute_batch("DROP TRIGGER refuse").unwrap(),
            _ => {}
        }
    });
    assert!(outcome.failure.is_none() && outcome.is_kept, "{:?}", outcome.failure);
    assert_eq!(notices.len(), 2, "{notices:?}");
    let stored = Store::open_to_read(&path).unwrap().load(&outcome.book.run.id).unwrap();
    assert_eq!(stored.measurements.len(), MEASUREMENTS);
    assert_eq!(stored, outcome.book);
}

#[test]
fn a_run_whose_store_was_removed_is_in_a_new_one_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (outcome, _) = run(&path, &|made| {
        if made == 2 {
            for ending in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(folder.path().join(format!("store.db{ending}")));
            }
        }
    });
    assert!(outcome.failure.is_none() && outcome.is_kept, "{:?}", outcome.failure);
    let stored = Store::open_to_read(&path).unwrap().load(&outcome.book.run.id).unwrap();
    assert_eq!(stored, outcome.book);
}

/// A folder with a store, in which the only run has the tag `base`; that run's id.
fn with_base() -> (tempfile::TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (outcome, notices) = tagged_run(&path, Some("base"), &|_| ());
    assert!(outcome.failure.is_none() && notices.is_empty(), "{notices:?}");
    (folder, path, outcome.book.run.id)
}

/// The run that has the tag `base`.
fn base(path: &Path) -> String {
    Store::open_to_read(path).unwrap().find_run("base").unwrap()
}

fn execute(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_run_gets_its_tag_from_a_store_that_does_not_take_it_when_the_run_begins() {
    for refused in ["INSERT ON runs", "UPDATE OF tag ON runs"] {
        let (_folder, path, before) = with_base();
        let refuse = "BEGIN SELECT RAISE(ABORT, 'no more'); END";
        execute(&path, &format!("CREATE TRIGGER refuse BEFORE {refused} {refuse}"));
        let (outcome, notices) = tagged_run(&path, Some("base"), &|made| {
            if made == 2 {
                assert_eq!(base(&path), before, "{refused}");
                execute(&path, "DROP TRIGGER refuse");
            }
        });
        assert!(outcome.failure.is_none() && outcome.is_kept, "{refused}: {:?}", outcome.failure);
        let id = outcome.book.run.id;
        assert_eq!(base(&path), id, "{refused}");
        assert!(notices[0].contains("Measuring continues"), "{notices:?}");
        let moved = format!("the tag base was of run {before}, and is of {id} now");
        assert_eq!((notices.len(), &notices[1]), (2, &moved), "{notices:?}");
    }
}

#[test]
fn a_tag_that_the_store_never_takes_is_a_failure_of_a_run_that_is_kept() {
    let (_folder, path, before) = with_base();
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE OF tag ON runs \
                  BEGIN SELECT RAISE(ABORT, 'no more'); END";
    execute(&path, refuse);
    let (outcome, _) = tagged_run(&path, Some("base"), &|_| ());
    let id = &outcome.book.run.id;
    let failure = outcome.failure.unwrap().sentence;
    assert!(failure.starts_with(&format!("run {id} did not get the tag base: ")), "{failure}");
    assert!(outcome.is_kept);
    assert_eq!(Store::open_to_read(&path).unwrap().load(id).unwrap(), outcome.book);
    assert_eq!(base(&path), before);
}

#[test]
fn a_run_whose_store_was_removed_has_its_tag_in_the_new_one() {
    let (folder, path, _) = with_base();
    let (outcome, _) = tagged_run(&path, Some("base"), &|made| {
        if made == 2 {
            for ending in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(folder.path().join(format!("store.db{ending}")));
            }
        }
    });
    assert!(outcome.failure.is_none() && outcome.is_kept, "{:?}", outcome.failure);
    assert_eq!(base(&path), outcome.book.run.id);
}

#[test]
fn a_run_that_no_store_takes_says_that_it_did_not_get_its_tag() {
    let (bench, job) = damaged(|bytes| bytes.truncate(4_096));
    let ran = bench.run([Path::new("run"), &job, Path::new("--tag"), Path::new("base")]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("which did not get the tag base"), "{}", ran.stderr);
}

#[test]
fn a_run_that_cannot_be_read_is_named_and_removed_and_keeps_no_command_from_the_others() {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    let id = || {
        let document = bench.document([Path::new("run"), &job]);
        document["run"]["id"].as_str().unwrap().to_string()
    };
    let [head, rows, a, b] = [id(), id(), id(), id()];
    let breaks = format!(
        "UPDATE runs SET document = json_set(document, '$.run.scale', 'huge') WHERE id = '{head}';
         UPDATE measurement_documents SET document = json_set(document, '$.seconds', 'long') WHERE run_id = '{rows}'"
    );
    execute(&bench.store(), &breaks);
    let listed = bench.run(["runs"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(listed.stdout.contains(&format!("\n{head}: unknown variant")), "{}", listed.stdout);
    assert!(listed.stdout.contains(&format!("\n{b} ")), "{}", listed.stdout);
    for arguments in [
        &["compare", a.as_str(), b.as_str()][..],
        &["check", &b, "--baseline", &a],
        &["check", &b, "--baseline", "history"],
    ] {
        let ran = bench.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        let notes = ran.stderr.matches("cannot be read do not count").count();
        assert_eq!(notes, 1, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(&head) && ran.stderr.contains(&rows), "{}", ran.stderr);
    }
    let removed = bench.run(["runs", "rm", &head, &rows]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    let gone = format!("removed {head}\n");
    assert!(removed.stdout.starts_with(&gone), "{}", removed.stdout);
    let left = bench.run(["runs"]).stdout;
    assert!(!left.contains(&head) && !left.contains(&rows), "{left}");
    assert_eq!(bench.run(["compare", &a, &b]).stderr, "");
}
