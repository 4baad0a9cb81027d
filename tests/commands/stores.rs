//! What becomes of a run whose store fails while it measures.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so when it cannot go on"
)]

use std::cell::Cell;
use std::path::{Path, PathBuf};

use boatload::plan::filesystem::Volume;
use boatload::results::book::Measurement;
use boatload::results::store::Store;
use boatload::run::interrupt::Interrupt;
use boatload::session::{self, PhaseContext, RunOrder, RunOutcome, Watcher};
use rusqlite::Connection;

use crate::command::{Bench, Ran};
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
    assert_eq!(ran.stderr.matches("Measuring goes on").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("has 0 of the 4 measurements"), "{}", ran.stderr);
    let kept = ran.stderr.split("`boatload import ").nth(1).unwrap().split('`').next().unwrap();
    connection.execute_batch("DROP TRIGGER refuse").unwrap();
    let imported = bench.run(["import", kept]);
    assert!(imported.stdout.starts_with("completed "), "{}{}", imported.stdout, imported.stderr);
    let again = bench.run(["import", kept]);
    assert!(again.stdout.starts_with("already there:"), "{}{}", again.stdout, again.stderr);
    let shown = bench.run(["show", "last"]);
    assert_eq!((shown.code, shown.stdout), (Some(0), ran.stdout));
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
    assert_eq!((shown.code, shown.stdout), (Some(0), ran.stdout));
}

/// Does something when a measurement was made, which the store is to be told of next.
struct Meddler<'a> {
    made: Cell<usize>,
    notices: Cell<Vec<String>>,
    meddle: &'a dyn Fn(usize),
}

impl Watcher for Meddler<'_> {
    fn notice(&self, text: &str) {
        let mut notices = self.notices.take();
        notices.push(text.into());
        self.notices.set(notices);
    }

    fn phase_ends(&self, _: &PhaseContext<'_>, _: &Measurement) {
        self.made.set(self.made.get() + 1);
        (self.meddle)(self.made.get());
    }
}

/// Runs the job with a store, and what was said.
fn run(path: &Path, meddle: &dyn Fn(usize)) -> (RunOutcome, Vec<String>) {
    let plan = plan_of(JOB);
    let order = RunOrder {
        plan: &plan,
        directory: path.parent().unwrap().into(),
        command: "a test".into(),
        fill_real: false,
        place: Volume::default(),
    };
    let watcher = Meddler { made: Cell::new(0), notices: Cell::default(), meddle };
    let interrupt = Interrupt::default();
    let mut store = Store::open(path).unwrap();
    let outcome = session::run(&order, &mut store, &watcher, &interrupt).unwrap();
    (outcome, watcher.notices.take())
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
