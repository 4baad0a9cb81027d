//! Runs job files through the library, as `boatload run` does, each in a directory and with a
//! store of its own.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::path::{Path, PathBuf};

use boatload::analysis::Analysis;
use boatload::analysis::finding::Finding;
use boatload::base::failure::Result;
use boatload::plan::filesystem::Volume;
use boatload::plan::{Plan, Settings, read_job};
use boatload::results::book::{Book, Measurement};
use boatload::results::store::Store;
use boatload::run::interrupt::Interrupt;
pub use boatload::session::Nobody;
use boatload::session::{self, RunOrder, Watcher};
use tempfile::TempDir;

/// A finding as documents have it, to read any kind.
pub fn figures_of(finding: &Finding) -> serde_json::Value {
    serde_json::to_value(finding).unwrap()
}

/// What is concluded from a run, its warnings last.
pub fn findings_of(book: &Book) -> Vec<Finding> {
    Analysis::of(book).findings().to_vec()
}

/// The code of a warning; none of another finding.
pub fn code_of(finding: &Finding) -> Option<String> {
    match finding {
        Finding::Warning(warning) => Some(warning.code.as_str().into()),
        _ => None,
    }
}

/// A directory to run in and a store next to it; both are removed when it is dropped.
pub struct Place {
    root: TempDir,
    /// Where the store is: in memory if there is such a place, for it syncs after each phase.
    store: TempDir,
}

impl Default for Place {
    fn default() -> Self {
        Self::of(tempfile::Builder::new().prefix("a place ").tempdir().unwrap())
    }
}

/// A directory in memory; where there is no such place, one on the disk.
fn directory_in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

impl Place {
    /// All of it in memory, for what asks nothing of a disk.
    pub fn in_memory() -> Self {
        Self::of(directory_in_memory())
    }

    fn of(root: TempDir) -> Self {
        std::fs::create_dir(root.path().join("work")).unwrap();
        Self { root, store: directory_in_memory() }
    }

    /// The directory to run in.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    pub fn store(&self) -> Store {
        Store::open(self.store.path().join("store.db")).unwrap()
    }

    /// Runs a plan here; what the store then holds is what was handed back, and nothing is left in
    /// the directory.
    pub fn run(&self, plan: &Plan, watcher: &dyn Watcher, interrupt: &Interrupt) -> Book {
        let work = self.work();
        let book = self.try_run(plan, &work, watcher, interrupt).unwrap_or_else(|f| panic!("{f}"));
        let stored = self.store().load(&book.run.id).unwrap();
        assert_eq!(stored.measurements, book.measurements, "the store holds something else");
        assert_eq!(stored.run.complete, book.run.complete);
        assert_eq!(names_in(&work), Vec::<String>::new(), "a run leaves its directory unchanged");
        book
    }

    /// The same, with whatever comes of it, in a directory of the caller's.
    pub fn try_run(
        &self,
        plan: &Plan,
        directory: &Path,
        watcher: &dyn Watcher,
        interrupt: &Interrupt,
    ) -> Result<Book> {
        let order = RunOrder {
            plan,
            directory: directory.into(),
            command: "a test".into(),
            fill_real: true,
            place: Volume::default(),
            tag: None,
            group: None,
        };
        session::run(&order, &mut self.store(), watcher, interrupt)?.whole()
    }
}

/// Names of a directory's entries, sorted.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A job file of one variant: its own keys, its tree, its phases and its simulated truth, each as
/// they stand in TOML between the brackets.
pub fn job(keys: &str, tree: &str, phases: &[&str], sim: &str) -> String {
    let phases: String = phases.iter().map(|phase| format!("  {{ {phase} }},\n")).collect();
    format!(
        "name = \"x\"\nquestion = \"?\"\nrepeats = 1\n{keys}\ntree = {{ {tree} }}\n\
         phase = [\n{phases}]\nsim = {{ {sim} }}\n"
    )
}

/// The plan of a job file that is right.
pub fn plan_of(text: &str) -> Plan {
    plan_with(text, &Settings::default())
}

/// The same with what the command line says.
pub fn plan_with(text: &str, settings: &Settings) -> Plan {
    read_job(text, settings).unwrap_or_else(|p| panic!("{}\n{text}", p.report("the job")))
}

/// What a job file gives when it is run.
pub fn ran(text: &str) -> Book {
    ran_with(text, &Settings::default())
}

pub fn ran_with(text: &str, settings: &Settings) -> Book {
    let book = Place::default().run(&plan_with(text, settings), &Nobody, &Interrupt::default());
    assert!(book.run.complete, "nothing interrupted it");
    book
}

/// The only measurement of a phase.
#[track_caller]
pub fn only<'a>(book: &'a Book, phase: &str) -> &'a Measurement {
    let found: Vec<_> = book.measurements.iter().filter(|m| m.phase == phase).collect();
    assert_eq!(found.len(), 1, "measurements of {phase}");
    found[0]
}

/// The same, which must be valid.
#[track_caller]
pub fn valid<'a>(book: &'a Book, phase: &str) -> &'a Measurement {
    let m = only(book, phase);
    assert_eq!(m.invalid, [], "{phase} is valid");
    m
}

/// Whether two figures are the same but for the three digits of a histogram.
#[track_caller]
pub fn near(found: impl Into<f64>, expected: impl Into<f64>, what: &str) {
    let (found, expected) = (found.into(), expected.into());
    let off = (found - expected).abs();
    assert!(off <= 1.0 + expected.abs() / 1000.0, "{what}: found {found}, the truth is {expected}");
}
