//! Whole runs on the simulated file system: each operation is done once whoever does it, the seed
//! decides everything, and what was interrupted is kept.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::common;
use crate::library;
use crate::script::script;
use boatload::base::errno::Errno;
use boatload::results::book::InvalidReason;

use std::sync::Arc;

use boatload::op::{Effect, OPERATIONS, Operation, Subject};
use boatload::plan::{EngineName, Settings};
use boatload::results::book::{Book, Measurement};
use boatload::run::drive::DoneCount;
use boatload::run::interrupt::Interrupt;
use boatload::session::{PhaseContext, Watcher};

use common::skip;
use library::{Nobody, Place, job, only, plan_of, plan_with, ran, ran_with, valid};

/// Every operation there is, each on some of what the earlier ones left, and what it is to do.
const EVERY_OPERATION: [(&str, &str, u64); 23] = [
    ("create", "", 120),
    ("append", "count = 50, order = 'random'", 50),
    ("overwrite", "", 120),
    ("rewrite", "count = 30, order = 'random'", 30),
    ("replace", "count = 80, order = 'random'", 80),
    ("append", "name = 'append-more', count = 70", 70),
    ("truncate", "count = 60, order = 'random'", 60),
    ("rename", "count = 40, order = 'random'", 40),
    ("chmod", "count = 50, order = 'random'", 50),
    ("fsync", "", 120),
    ("replace", "name = 'replace-renamed', count = 20", 20),
    ("delete", "name = 'delete-some', count = 30, order = 'random'", 30),
    ("create", "name = 'create-again'", 30),
    ("stat", "order = 'random'", 120),
    ("read", "count = 100, order = 'random'", 100),
    // Four directories below two below one.
    ("list", "", 4),
    ("list-stat", "", 4),
    ("fsync-directory", "", 4),
    ("mkdir", "count = 24", 24),
    // The seven of the layout, and those that were just made.
    ("find", "", 7 + 24),
    ("rmdir", "", 24),
    ("delete", "count = 60", 60),
    ("delete", "name = 'delete-rest', order = 'random'", 60),
];

fn every_operation(keys: &str, sim: &str) -> String {
    let phases = EVERY_OPERATION.map(|(operation, rest, _)| {
        let comma = if rest.is_empty() { "" } else { ", " };
        format!("operation = '{operation}'{comma}{rest}")
    });
    let phases: Vec<&str> = phases.iter().map(String::as_str).collect();
    let tree = "files = 120, directories = { fan_out = 2, depth = 2 }, \
                size = { uniform = { min = 100, max = 9_000 } }";
    job(keys, tree, &phases, sim)
}

type Totals = (String, u64, Option<u64>, Option<u64>, Vec<InvalidReason>);

/// What must be the same however the work is shared.
fn totals(book: &Book) -> Vec<Totals> {
    let of = |m: &Measurement| {
        let Measurement { operations, bytes, entries_found, invalid, .. } = m.clone();
        // What a listing moves is names, whose length is the file system's business.
        let bytes =
            if matches!(m.phase.as_str(), "list" | "list-stat" | "find") { None } else { bytes };
        (m.phase.clone(), operations, bytes, entries_found, invalid)
    };
    book.measurements.iter().map(of).collect()
}

fn all_done(book: &Book) {
    let done: Vec<_> =
        book.measurements.iter().map(|m| (m.operation.unwrap().name(), m.operations)).collect();
    assert_eq!(done, EVERY_OPERATION.map(|(operation, _, count)| (operation, count)));
    for m in &book.measurements {
        assert_eq!(m.invalid, [], "{} is valid", m.phase);
    }
    assert_eq!(book.measurements.last().unwrap().entries_found, Some(0));
}

#[test]
fn every_operation_does_the_same_on_the_simulated_and_on_a_real_file_system() {
    let simulated = ran(&every_operation("engine = 'sim'", "metadata = '1us', cold = '1us'"));
    all_done(&simulated);
    let real = ran(&every_operation("engine = 'sync'", ""));
    all_done(&real);
    assert_eq!(totals(&simulated), totals(&real));
    assert!(real.measurements.iter().all(|m| m.engine == Some(EngineName::Sync)));
}

/// A small job around one operation: first what makes its targets, then the operation, then
/// operations that read, count and remove what it left.
fn job_around(operation: &Operation, keys: &str) -> String {
    let name = operation.name;
    let (tree, makes, looks): (_, Option<&str>, &[&str]) = match operation.subject {
        Subject::File => ("files = 12, size = 3_000", Some("create"), &["read", "stat", "delete"]),
        Subject::Chunk => {
            let tree = "chunks = 12, chunks_per_file = 5, size = 700";
            (tree, None, &["read", "stat", "delete"])
        }
        Subject::Directory => ("files = 12, size = 0", Some("mkdir"), &["find", "rmdir"]),
        Subject::Holder | Subject::AnyDirectory => {
            ("files = 12, size = 0, directories = 4", Some("create"), &["list", "delete"])
        }
        Subject::Block => {
            return format!(
                "name = 'x'\nrepeats = 1\n{keys}\n[[phase]]\noperation = '{name}'\ncount = 4\n"
            );
        }
    };
    let makes = makes.filter(|_| operation.effect != Effect::AddsEntry);
    let looks = if operation.effect == Effect::RemovesEntry { &[] } else { looks };
    let phases = makes.iter().map(|name| format!("operation = '{name}', name = 'before'"));
    let phases = phases.chain([format!("operation = '{name}', name = 'tried'")]);
    let looks = looks.iter().map(|name| format!("operation = '{name}', name = 'then {name}'"));
    let phases: Vec<String> = phases.chain(looks).collect();
    job(keys, tree, &phases.iter().map(String::as_str).collect::<Vec<_>>(), "")
}

/// What a newly added operation must pass: all that the plan, the engines and the session have to
/// know of it shows in a measurement that is not valid.
#[test]
fn each_operation_of_the_list_is_measured_validly_on_sim_and_in_a_real_directory() {
    // No phase is of links alone.
    for operation in OPERATIONS.iter().filter(|operation| operation.name != "link") {
        for engine in ["sim", "sync"] {
            let keys = format!("durability = 'fsync-directory'\nengine = '{engine}'");
            let what = format!("{} on {engine}", operation.name);
            let plan = plan_of(&job_around(operation, &keys));
            let place = Place::default();
            let (nobody, interrupt) = (Nobody, Interrupt::default());
            let book = match place.try_run(&plan, &place.work(), &nobody, &interrupt) {
                Err(why) if operation.subject == Subject::Block && engine == "sync" => {
                    skip(&what, &why.sentence);
                    continue;
                }
                book => book.unwrap_or_else(|why| panic!("{what}: {why}")),
            };
            assert!(book.measurements.iter().any(|m| m.operations > 0), "{what}");
            for m in &book.measurements {
                assert_eq!(m.invalid, [], "{what}: {}", m.phase);
            }
        }
    }
}

#[test]
fn a_replacement_that_fails_leaves_the_old_file_and_perhaps_the_new_one_which_is_counted() {
    let phases = ["operation = 'create'", "operation = 'replace', durability = 'fsync'"];
    for (request, entries) in [("open", 10), ("write", 11), ("sync", 11), ("rename", 11)] {
        let fault = format!("operation = 15, request = '{request}', outcome = 'EIO'");
        let sim = format!("metadata = '1us', fault = {{ {fault} }}");
        let book = ran(&job("engine = 'sim'", "files = 10, size = 1_000", &phases, &sim));
        let replaced = only(&book, "replace");
        assert_eq!(replaced.errors.get(&Errno::EIO), Some(&1), "{request}");
        assert_eq!((replaced.operations, replaced.entries_found), (9, Some(entries)), "{request}");
    }
}

#[test]
fn a_listing_with_attributes_looks_at_each_entry_once_however_many_fit_a_buffer() {
    let phases = ["create", "list", "list-stat"].map(|name| format!("operation = '{name}'"));
    let phases: Vec<&str> = phases.iter().map(String::as_str).collect();
    let tree = "files = 5_000, size = 0, directories = 2";
    let book = ran(&job("engine = 'sim'", tree, &phases, "metadata = '1us'"));
    let [list, both] = ["list", "list-stat"].map(|name| only(&book, name));
    let microseconds = |m: &Measurement| (m.seconds.unwrap() * 1e6).round();
    assert_eq!(microseconds(both) - microseconds(list), 5_000.0);
    assert_eq!((both.operations, both.bytes), (2, list.bytes));
}

#[test]
fn several_workers_whose_requests_fail_try_each_operation_once() {
    let sim = "metadata = '1us', capacity = '200kB'";
    let book = ran(&every_operation("engine = 'sim'\nthreads = 3", sim));
    for m in &book.measurements {
        let failed: u64 = m.errors.values().sum();
        assert_eq!(Some(m.operations + failed), m.operations_asked, "{}: each once", m.phase);
    }
    assert!(only(&book, "create").errors[&Errno::ENOSPC] > 0);
}

#[test]
fn four_workers_do_together_what_one_does_alone() {
    for (engine, sim) in [("sim", "metadata = '1us'"), ("sync", "")] {
        let text = every_operation(&format!("engine = '{engine}'"), sim);
        let alone = ran(&text);
        for threads in [2, 4, 7] {
            let shared =
                ran_with(&text, &Settings { threads: Some(threads), ..Settings::default() });
            all_done(&shared);
            assert_eq!(totals(&shared), totals(&alone), "{threads} workers on {engine}");
        }
    }
}

#[test]
fn workers_with_trees_of_their_own_do_all_of_it_too() {
    for engine in ["sim", "sync"] {
        let tree = "files = 103, directories = 3, size = 500, trees = 'own'";
        let phases = ["create", "read", "rename", "list", "find", "mkdir", "rmdir", "delete"];
        let phases = phases.map(|name| match name {
            "mkdir" => "operation = 'mkdir', count = 10".to_string(),
            "read" => "operation = 'read', order = 'random', count = 77".to_string(),
            _ => format!("operation = '{name}'"),
        });
        let phases: Vec<&str> = phases.iter().map(String::as_str).collect();
        let book = ran(&job(&format!("engine = '{engine}'\nthreads = 4"), tree, &phases, ""));
        let done: Vec<_> =
            book.measurements.iter().map(|m| (m.operations, m.entries_found)).collect();
        // Each of four trees has its own directory and three in it, below the cell's own.
        let walk = 1 + 4 * (1 + 3);
        let truth = [
            (103, 103),
            (77, 103),
            (103, 103),
            (12, 103),
            (walk, 103),
            (10, 113),
            (10, 103),
            (103, 0),
        ];
        let truth = truth.map(|(done, there)| (done, Some(there)));
        assert_eq!(done, truth, "{engine}");
        assert!(book.measurements.iter().all(Measurement::valid));
        assert_eq!(valid(&book, "read").bytes, Some(77 * 500));
    }
}

#[test]
fn passes_are_measured_one_by_one() {
    let phases = ["operation = 'create'", "operation = 'append', passes = 3", "operation = 'read'"];
    for engine in ["sim", "sync"] {
        let keys = format!("engine = '{engine}'");
        let book = ran(&job(&keys, "files = 40, size = 100", &phases, ""));
        let appended: Vec<_> = book.measurements.iter().filter(|m| m.phase == "append").collect();
        assert_eq!(appended.iter().map(|m| m.pass).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(appended.iter().all(|m| m.valid() && m.bytes == Some(4_000)));
        assert_eq!(
            valid(&book, "read").bytes,
            Some(16_000),
            "created, and appended to three times"
        );
    }
}

#[test]
fn truncate_halves_what_is_there_and_later_phases_know_it() {
    let phases = [
        "operation = 'create'",
        "operation = 'truncate', passes = 2, durability = 'fsync'",
        "operation = 'overwrite'",
        "operation = 'append', size = 100",
        "operation = 'read'",
    ];
    // With room for the last state of the files and the first, and not for both.
    for (engine, sim) in [("sim", "capacity = '5_000B'"), ("sync", "")] {
        let book =
            ran(&job(&format!("engine = '{engine}'"), "files = 4, size = 1_001", &phases, sim));
        let bytes: Vec<_> = book.measurements.iter().map(|m| (m.valid(), m.bytes)).collect();
        let truth = [4 * 1_001, 0, 0, 4 * 250, 4 * 100, 4 * 350].map(|bytes| (true, Some(bytes)));
        assert_eq!(bytes, truth, "{engine}");
    }
}

#[test]
fn nothing_one_file_and_fewer_files_than_workers_are_no_special_cases() {
    let phases =
        ["operation = 'create', count = '$some'", "operation = 'read'", "operation = 'delete'"];
    for (files, threads) in [(0, 1), (0, 4), (1, 1), (1, 4), (3, 8), (65, 64)] {
        for engine in ["sim", "sync"] {
            let keys = format!("engine = '{engine}'\nparameters = {{ some = {files} }}");
            let text = job(&keys, "files = '$some', size = 10", &phases, "");
            let settings = Settings { threads: Some(threads), ..Settings::default() };
            let book = ran_with(&text, &settings);
            for phase in ["create", "read", "delete"] {
                let m = valid(&book, phase);
                assert_eq!(
                    (m.operations, m.threads),
                    (files, Some(threads)),
                    "{phase} on {engine}"
                );
            }
            assert_eq!(valid(&book, "read").bytes, Some(files * 10));
        }
    }
}

/// All that a seed decides: everything but the processor's time and its context switches.
fn decided(book: &Book) -> Vec<Measurement> {
    let without_cpu = |m: &Measurement| Measurement {
        cpu_user_seconds: Some(0.0),
        cpu_system_seconds: Some(0.0),
        context_switches: None,
        ..m.clone()
    };
    book.measurements.iter().map(without_cpu).collect()
}

#[test]
fn the_same_seed_gives_the_identical_figures_and_another_seed_does_not() {
    let sim = "metadata = '10us', transfer = '3us', noise = 'bimodal', directory = 'logarithmic', \
               directory_cost = '1us'";
    let text = every_operation("engine = 'sim'", sim);
    let seeded = |seed| {
        let settings = Settings { seed: Some(seed), repeats: Some(2), ..Settings::default() };
        (ran_with(&text, &settings), plan_with(&text, &settings))
    };
    let ((first, plan), (second, _), (other, other_plan)) = (seeded(7), seeded(7), seeded(8));
    assert_eq!(decided(&first), decided(&second), "one seed, two results");
    assert_ne!(decided(&first), decided(&other), "two seeds, one result");
    let operations = |plan: &boatload::plan::Plan| script(&plan.cells[0], 0).collect::<Vec<_>>();
    assert_ne!(operations(&plan), operations(&other_plan), "the order follows from the seed");
}

#[test]
fn each_repeat_has_noise_of_its_own() {
    let phases = ["operation = 'create', windows = 5"];
    let sim = "metadata = '10us', noise = 'uniform'";
    let text = job("engine = 'sim'", "files = 500", &phases, sim);
    let book = ran_with(&text, &Settings { repeats: Some(3), ..Settings::default() });
    let [a, b, c] = book.measurements.as_slice() else { panic!("three repeats") };
    // Repeats that agree to the last figure would make every interval vanish.
    assert!(a.windows != b.windows && b.windows != c.windows && a.windows != c.windows);
}

#[test]
fn variants_and_levels_are_all_done_and_repeats_are_interleaved() {
    let keys = "engine = 'sim'\naxis = { name = 'chosen', values = [10, 20] }\n\
                variant = [ { name = 'a' }, { name = 'b', threads = 2 } ]";
    let phases = ["operation = 'create'", "operation = 'read', count = '$chosen'"];
    let text = job(keys, "files = 50", &phases, "metadata = '1us'");
    let book = ran_with(&text, &Settings { repeats: Some(4), ..Settings::default() });
    assert_eq!(book.measurements.len(), 4 * 2 * 2 * 2);
    for m in book.measurements.iter().filter(|m| m.phase == "read") {
        assert_eq!(Some(m.operations as f64), m.cell.level.as_ref().map(|level| level.value));
        assert_eq!(m.threads, Some(if m.cell.variant == "b" { 2 } else { 1 }));
    }
    let repeats: Vec<_> = book.measurements.iter().map(|m| m.cell.repeat).collect();
    assert!(repeats.is_sorted(), "all variants have their turn in a repeat before the next");
}

/// Interrupts when a phase of this name begins.
struct StopsAt<'a>(&'a str, &'a Interrupt);

impl Watcher for StopsAt<'_> {
    fn phase_begins(&self, standing: &PhaseContext<'_>, _: Arc<[DoneCount]>) {
        if standing.phase.name == self.0 {
            self.1.set();
        }
    }
}

#[test]
fn what_was_done_before_an_interruption_is_kept_and_the_rest_is_not_begun() {
    for engine in [EngineName::Sim, EngineName::Sync] {
        let phases = ["create", "stat", "delete"].map(|name| format!("operation = '{name}'"));
        let phases: Vec<&str> = phases.iter().map(String::as_str).collect();
        let text = job("", "files = 500, size = 100", &phases, "metadata = '1us'");
        let settings = Settings { engine: Some(engine), repeats: Some(2), ..Settings::default() };
        let interrupt = Interrupt::default();
        let watcher = StopsAt("stat", &interrupt);
        let book = Place::default().run(&plan_with(&text, &settings), &watcher, &interrupt);
        assert!(!book.run.complete && book.run.finished.is_some());
        assert_eq!(book.measurements.len(), 2, "nothing begins after an interruption");
        assert_eq!(valid(&book, "create").operations, 500);
        let cut = only(&book, "stat");
        assert_eq!((cut.operations, cut.operations_asked), (0, Some(500)));
        assert_eq!(cut.invalid, [InvalidReason::Interrupted { operations: 0 }]);
    }
}

#[test]
fn a_file_larger_than_a_block_is_read_to_its_end() {
    let phases = ["operation = 'create'", "operation = 'read', block = '4KiB'"];
    let text = job("engine = 'sim'", "files = 3, size = '10KiB'", &phases, "");
    assert_eq!(valid(&ran(&text), "read").bytes, Some(3 * 10 * 1024));
}

#[test]
fn an_interruption_before_the_run_leaves_an_empty_record() {
    let text = job("", "files = 50", &["operation = 'create'"], "");
    let interrupt = Interrupt::default();
    interrupt.set();
    let book = Place::default().run(&plan_of(&text), &Nobody, &interrupt);
    assert_eq!((book.measurements.len(), book.run.complete), (0, false));
}

/// Interrupts as soon as some operations of a phase are done.
struct StopsWithin(Interrupt);

impl Watcher for StopsWithin {
    fn phase_begins(&self, _: &PhaseContext<'_>, done: Arc<[DoneCount]>) {
        let interrupt = self.0.clone();
        std::thread::spawn(move || {
            while done.iter().all(|worker| worker.get() < 100) && !interrupt.is_set() {
                std::thread::yield_now();
            }
            interrupt.set();
        });
    }
}

#[test]
fn a_phase_cut_short_says_how_far_it_came_and_is_invalid() {
    let text = job("engine = 'sim'\nthreads = 2", "files = '20M'", &["operation = 'create'"], "");
    let interrupt = Interrupt::default();
    let book = Place::default().run(&plan_of(&text), &StopsWithin(interrupt.clone()), &interrupt);
    let m = only(&book, "create");
    assert!((100..20_000_000).contains(&m.operations), "{} operations", m.operations);
    let operations = m.operations;
    assert_eq!(m.invalid, [InvalidReason::Interrupted { operations }]);
    assert_eq!(m.entries_found, Some(m.operations), "what was done is there");
}

#[test]
fn trees_of_workers_have_as_many_directories_as_their_files_need() {
    let text = "name = \"own\"\nthreads = 4\n[tree]\nfiles = 1_000\ntrees = \"own\"\n\
                directories = { files_each = 50 }\n[[phase]]\noperation = \"create\"\n";
    let plan = plan_of(text);
    let tree = &plan.cells[0].tree;
    assert_eq!(tree.holders(), 20);
    let used: std::collections::BTreeSet<u64> =
        (0..1_000).map(|number| tree.holder_of(number)).collect();
    assert_eq!(used.len(), 20, "none is empty");
}
