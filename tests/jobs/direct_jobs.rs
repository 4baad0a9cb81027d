//! Job files with direct I/O, with phases that a time ends, and with phases on the device: right,
//! wrong, and on the simulated file system.
#![allow(clippy::panic, clippy::expect_used, reason = "a test panics when it cannot continue")]

use crate::library;

use boatload::base::problem::Problem;
use boatload::op::{Durability, Subject};
use boatload::plan::phase::PhaseEnd;
use boatload::plan::{CacheAsked, Plan, Scale, Settings, find_scenario, read_job};
use library::{job, near, plan_of, plan_with, ran, valid};

/// The problems of a tree and a phase, as they stand in TOML between the brackets.
fn problems(keys: &str, tree: &str, phase: &str, settings: &Settings) -> Vec<Problem> {
    let text = format!("name = \"x\"\n{keys}\n{tree}\n[[phase]]\n{}\n", phase.replace(", ", "\n"));
    read_job(&text, settings).map_or_else(|problems| problems.sorted(), |_| Vec::new())
}

const WHOLE: &str = "[tree]\nfiles = 4\nsize = \"64KiB\"";

/// The place and the text of the only problem.
#[track_caller]
fn only_problem(tree: &str, phase: &str) -> (String, String) {
    let all = problems("", tree, phase, &Settings::default());
    assert_eq!(all.len(), 1, "{phase}: {all:#?}");
    (all[0].place.clone(), all[0].to_string())
}

#[test]
fn direct_io_of_chunks_takes_chunks_of_whole_blocks() {
    let tree = "[tree]\nchunks = 4\nsize = 1_000";
    let (place, said) = only_problem(tree, "operation = \"write-chunk\", direct = true");
    assert_eq!(place, "phase[1].direct");
    assert!(said.contains("direct I/O of chunks of 0.977 KiB"), "{said}");
}

#[test]
fn a_law_of_files_in_each_directory_does_not_go_with_one_file_for_each_in_turn() {
    let tree = "[tree]\nfiles = 100\nplacement = \"stripe\"\n\
                directories = { files_each = { uniform = { min = 1, max = 9 } } }";
    let (place, said) = only_problem(tree, "operation = \"create\"");
    assert_eq!(place, "tree.directories.files_each");
    assert!(said.contains("`placement = \"fill\"`"), "{said}");
}

#[test]
fn direct_io_goes_with_whole_blocks_and_with_content_only() {
    for (tree, phase, place, said) in [
        (
            WHOLE,
            "operation = \"mkdir\", direct = true",
            "phase[1].direct",
            "reads or writes content",
        ),
        (WHOLE, "operation = \"create\", direct = 1", "phase[1].direct", "true or false"),
        (
            WHOLE,
            "operation = \"create\", direct = true, block = \"6KiB\"",
            "phase[1].block",
            "whole blocks of 4 KiB",
        ),
        (
            "[tree]\nfiles = 4\nsize = 1000",
            "operation = \"create\", direct = true",
            "phase[1].direct",
            "files of 0.977 KiB",
        ),
        (
            "[tree]\nfiles = 4\nsize = \"8KiB\"",
            "operation = \"create\", direct = true\n[[phase]]\noperation = \"truncate\", passes = 2",
            "phase[1].direct",
            "files of 2.00 KiB",
        ),
        (
            "[tree]\nfiles = 4\nsize = { uniform = { min = 0, max = 4096 } }",
            "operation = \"create\", direct = true",
            "phase[1].direct",
            "sizes are drawn",
        ),
        (
            WHOLE,
            "operation = \"create\", direct = true, cache = \"warm\"",
            "phase[1].cache",
            "goes around the cache",
        ),
    ] {
        let (at, text) = only_problem(tree, phase);
        assert!(at == place && text.contains(said), "{at}: {text}");
    }
    assert_eq!(
        problems("", WHOLE, "operation = \"create\", direct = true", &Settings::default()),
        []
    );
    let warm = Settings { cache: Some(CacheAsked::Warm), ..Settings::default() };
    let all = problems("", WHOLE, "operation = \"create\", direct = true", &warm);
    assert!(all.len() == 1 && all[0].place == "--cache", "{all:#?}");
}

#[test]
fn a_duration_goes_with_operations_that_change_nothing_and_without_windows() {
    let device = "operation = \"read-device\", ";
    for (tree, phase, place, said) in [
        (WHOLE, "operation = \"create\", duration = 3", "phase[1].duration", "changes nothing"),
        ("", &format!("{device}duration = 0"), "phase[1].duration", "from 1 ms to 1 hour"),
        ("", &format!("{device}duration = \"2d\""), "phase[1].duration", "a quantity such as"),
        ("", &format!("{device}duration = \"2h\""), "phase[1].duration", "from 1 ms to 1 hour"),
        ("", &format!("{device}duration = \"4KiB\""), "phase[1].duration", "seconds, or a time"),
        (
            "",
            &format!("{device}duration = 1, windows = 4"),
            "phase[1].windows",
            "none with `duration`",
        ),
    ] {
        let (at, text) = only_problem(tree, phase);
        assert!(at == place && text.contains(said), "{phase}: {at}: {text}");
    }
}

#[test]
fn a_call_on_files_is_asked_only_of_phases_that_write_content_and_one_on_directories_of_those_that_change()
 {
    for (phase, expected) in [
        ("operation = \"delete\", durability = \"fsync\"", "`syncfs` or `fsync-directory`"),
        ("operation = \"rename\", durability = \"dsync\"", "`syncfs` or `fsync-directory`"),
        ("operation = \"truncate\", durability = \"dsync\"", "`syncfs` or `fsync-directory`"),
        ("operation = \"stat\", durability = \"fdatasync\"", "nothing changes"),
        ("operation = \"list\", durability = \"fsync-directory\"", "nothing changes"),
    ] {
        let create = format!("operation = \"create\"\n[[phase]]\n{phase}");
        let (at, text) = only_problem(WHOLE, &create);
        assert!(at == "phase[2].durability" && text.contains(expected), "{phase}: {at}: {text}");
    }
}

#[test]
fn what_writes_no_content_ends_with_a_sync_where_the_job_asks_for_calls_on_files() {
    for asked in [Durability::Fsync, Durability::Fdatasync, Durability::Dsync] {
        let text = format!(
            "name = 'x'\ndurability = '{asked}'\n{WHOLE}\n[[phase]]\noperation = 'create'\n\
             [[phase]]\noperation = 'stat'\n[[phase]]\noperation = 'delete'\n"
        );
        let Ok(plan) = read_job(&text, &Settings::default()) else { panic!("{text}") };
        let all: Vec<_> = plan.cells[0].phases.iter().map(|phase| phase.durability).collect();
        assert_eq!(all, [asked, Durability::None, Durability::Syncfs]);
    }
}

#[test]
fn phases_on_the_device_need_no_tree_and_share_no_job_with_files() {
    for (tree, phase, place, said) in [
        (WHOLE, "operation = \"read-device\"", "tree", "work on no files"),
        ("", "operation = \"read-device\", count = 0", "phase[1].count", "at least 1 block"),
        ("", "operation = \"read-device\", cache = \"warm\"", "phase[1].count", "to be in memory"),
        (
            WHOLE,
            "operation = \"read-device\"\n[[phase]]\noperation = \"create\"",
            "phase[1].operation",
            "a job file of its own",
        ),
    ] {
        let (at, text) = only_problem(tree, phase);
        assert!(at == place && text.contains(said), "{phase}: {at}: {text}");
    }
}

fn scenario(name: &str, settings: &Settings) -> Plan {
    plan_with(find_scenario(name).expect("it is built in").text, settings)
}

#[test]
fn device_takes_its_seconds_and_reads_nothing_but_the_device() {
    for scale in Scale::ALL {
        let plan = scenario("device", &Settings { scale, ..Settings::default() });
        let phases = &plan.cells[0].phases;
        assert!(
            phases.iter().all(|p| p.end == PhaseEnd::After(3_000_000_000) && p.block == 2 << 20)
        );
        assert!(phases.iter().all(|p| p.operation.subject == Subject::Block));
        assert!(plan.reads_device() && !plan.makes_files());
    }
    let set = |text: &str| {
        let set = vec![("seconds".to_string(), text.to_string())];
        scenario("device", &Settings { set, ..Settings::default() }).cells[0].phases[0].end
    };
    assert_eq!(
        (set("0.5"), set("250ms")),
        (PhaseEnd::After(500_000_000), PhaseEnd::After(250_000_000))
    );
}

#[test]
fn sequential_keeps_the_documents_numbers() {
    let plan = scenario("sequential", &Settings { scale: Scale::Original, ..Settings::default() });
    assert_eq!(plan.variants(), ["zeros", "random"]);
    for cell in &plan.cells {
        assert_eq!((cell.tree.files, cell.tree.sizes.max()), (1, 1 << 30));
        assert!(cell.phases.iter().all(|phase| phase.block == 1 << 20 && !phase.direct));
    }
    let quick = scenario("sequential", &Settings::default());
    assert_eq!(quick.cells[0].tree.sizes.max(), 256 << 20);
}

const DEVICE: &str = "operation = \"read-device\", block = \"1MiB\"";

/// A simulated run of these phases on the device, 1 ms a block and 9 more if it is not cached.
fn on_device(phases: &[&str]) -> boatload::results::book::Book {
    let phases: Vec<String> = phases.iter().map(|rest| format!("{DEVICE}, {rest}")).collect();
    let phases: Vec<&str> = phases.iter().map(String::as_str).collect();
    let sim = "transfer = \"1ms\", cold = \"9ms\", capacity = \"64MiB\"";
    let text = job("engine = \"sim\"", "files = 1", &phases, sim);
    ran(&text.replace("tree = { files = 1 }\n", ""))
}

#[test]
fn a_time_goes_round_and_round_its_blocks_until_it_is_over() {
    let book = on_device(&["count = 3, cache = \"warm\", duration = \"100ms\""]);
    let m = valid(&book, "read-device");
    assert_eq!((m.operations, m.operations_asked, m.bytes), (100, Some(100), Some(100 << 20)));
    near(m.seconds.unwrap() * 1e9, 100e6, "seconds");
    assert_eq!(m.cache.found.as_str(), "warm");
    assert!(m.rate_error.is_some_and(|error| error.abs() < 1e-9), "{:?}", m.rate_error);
}

#[test]
fn a_cold_time_ends_with_the_last_block() {
    let book = on_device(&["cache = \"cold\", duration = 1000"]);
    let m = valid(&book, "read-device");
    assert_eq!(
        (m.operations, m.bytes, m.cache.found.as_str()),
        (64, Some(64 << 20), "cold-verified")
    );
    near(m.seconds.unwrap() * 1e9, 640e6, "each block is cold");
}

#[test]
fn a_later_pass_reads_what_the_first_one_read_however_long_it_takes() {
    let text = "cache = \"as-is\", duration = \"200ms\", passes = 3";
    let book = on_device(&[text]);
    let operations: Vec<u64> = book.measurements.iter().map(|m| m.operations).collect();
    let ms: Vec<f64> =
        book.measurements.iter().map(|m| (m.seconds.unwrap() * 1e3).round()).collect();
    assert!(book.measurements.iter().all(|m| m.invalid.is_empty()));
    // The first meets 20 blocks that are not cached, the others find them cached.
    assert_eq!((operations, ms), (vec![20, 20, 20], vec![200.0, 20.0, 20.0]));
    let direct = on_device(&["direct = true, duration = \"200ms\", passes = 2"]);
    let ms: Vec<f64> =
        direct.measurements.iter().map(|m| (m.seconds.unwrap() * 1e3).round()).collect();
    assert_eq!(ms, [200.0, 200.0], "direct I/O finds nothing cached");
}

#[test]
fn several_workers_share_a_time_and_a_later_pass() {
    let book = on_device(&["duration = \"200ms\", passes = 2, threads = 3, cache = \"cold\""]);
    let operations: Vec<u64> = book.measurements.iter().map(|m| m.operations).collect();
    assert_eq!(operations, [60, 60], "each 20 of its own");
    let one = on_device(&["duration = \"100ms\", threads = 4, count = 2, order = \"random\""]);
    assert!(one.measurements[0].invalid.is_empty() && one.measurements[0].operations > 2);
}

#[test]
fn a_device_of_too_few_blocks_is_an_error_with_what_to_change() {
    let plan = plan_of("name = \"x\"\n[[phase]]\noperation = \"read-device\"\ncount = 100\n");
    let failure = plan.on_device(50 << 20).map(|_| ()).expect_err("too few");
    assert!(failure.sentence.contains("100 blocks of 1.00 MiB"), "{}", failure.sentence);
    assert!(failure.sentence.contains("smaller `count`"), "{}", failure.sentence);
}

#[test]
fn files_are_read_for_a_time_too() {
    let read = "operation = \"read\", duration = \"50ms\"";
    let text = job(
        "engine = \"sim\"",
        "files = 10, size = 4096",
        &["operation = \"create\"", read, "operation = \"delete\""],
        "transfer = \"100us\"",
    );
    let book = ran(&text);
    // A read of one block, for the file ends inside it.
    let m = valid(&book, "read");
    assert_eq!((m.operations, m.bytes), (500, Some(500 * 4096)));
    valid(&book, "delete");
}
