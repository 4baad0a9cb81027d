//! The command line as a user meets it: what is printed where, what is stored, what is left.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::common;

use crate::command;

use std::process::{Command, Stdio};

use serde_json::Value;

use command::{Bench, Ran, SMALL, names_in};
use common::{output, skip};

const PHASES: [&str; 8] = [
    "create", "rewrite", "read-sequential", "read-random", "delete", "create-typical",
    "read-typical", "delete-typical",
];

/// The lines of the table: those that begin with a phase.
fn rows(table: &str) -> Vec<&str> {
    let of_phase = |line: &&str| {
        let mut words = line.split_whitespace();
        let word = words.next().unwrap_or_default();
        let has_rate =
            words.next().is_some_and(|rate| rate.starts_with(|c: char| c.is_ascii_digit()));
        word.len() > 3 && PHASES.iter().any(|phase| is_name_of(word, phase)) && has_rate
    };
    table.lines().filter(of_phase).collect()
}

/// Whether a word stands for a phase: a machine that is busy with something else marks it, and beside wide figures its middle
/// is left out.
fn is_name_of(word: &str, phase: &str) -> bool {
    let word = word.trim_end_matches('*');
    match word.split_once('…') {
        None => word == phase,
        Some((head, tail)) => phase.starts_with(head) && phase.ends_with(tail),
    }
}

#[test]
fn a_word_stands_for_a_phase_whole_marked_or_without_its_middle() {
    for (word, is_name) in [
        ("create-typical", true),
        ("create-typical*", true),
        ("creat…ypical", true),
        ("create", false),
        ("creat…random", false),
    ] {
        assert_eq!(is_name_of(word, "create-typical"), is_name, "{word}");
    }
}

#[test]
fn a_run_prints_its_phases_stores_them_and_leaves_nothing_behind() {
    let bench = Bench::default();
    let ran = bench.small_run();
    let words: Vec<_> =
        rows(&ran.stdout).iter().map(|row| row.split_whitespace().next().unwrap()).collect();
    assert_eq!(words.len(), PHASES.len(), "{}", ran.stdout);
    for (word, phase) in words.iter().zip(PHASES) {
        assert!(is_name_of(word, phase), "{word} for {phase}");
    }
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());

    let shown = bench.run(["show", "last"]);
    assert_eq!(
        (shown.code, &shown.stdout),
        (Some(0), &ran.stdout),
        "the same again from the store"
    );
    let id = bench.last_id();
    let id = id.as_str();
    assert_eq!(bench.run(["show", &id[..5]]).stdout, ran.stdout, "by a prefix of its id");
    let runs = bench.run(["runs"]);
    assert!(runs.stdout.contains(id) && runs.stdout.contains("complete"), "{}", runs.stdout);
    assert!(ran.stderr.contains(": 8 phases in "), "progress in a pipe: {}", ran.stderr);
}

#[test]
fn every_line_of_a_result_fits_80_columns() {
    let bench = Bench::default();
    for columns in ["1", "20", "80", "not a number"] {
        let ran = Ran::of(bench.command(SMALL).env("COLUMNS", columns));
        assert_eq!(ran.code, Some(0), "COLUMNS={columns}: {}", ran.stderr);
        // A command to paste is one line, however long.
        for line in ran.stdout.lines().filter(|line| !line.starts_with("Next: ")) {
            assert!(line.chars().count() <= 80, "{line:?}");
        }
    }
}

/// The keys that the run document promises.
const MEASUREMENT_KEYS: [&str; 22] = [
    "variant", "level", "repeat", "phase", "pass", "operation", "engine", "threads", "valid",
    "operations", "errors", "bytes", "seconds", "sync_seconds", "operations_per_second",
    "cpu_user_seconds", "cpu_system_seconds", "latency_ns", "cache", "device_read_bytes",
    "device_write_bytes", "windows",
];

#[track_caller]
fn has(object: &Value, keys: &[&str]) {
    for key in keys {
        assert!(object.get(key).is_some(), "no {key} in {object}");
    }
}

fn check_document(document: &Value) {
    assert_eq!((&document["format"], &document["version"]), (&"boatload-run".into(), &1.into()));
    let run = &document["run"];
    let keys = ["id", "scenario", "scale", "seed", "started", "finished", "command", "boatload"];
    has(run, &keys);
    assert_eq!(run["complete"], Value::Bool(true));
    has(&document["host"], &["kernel", "cpu", "memory_bytes", "filesystem", "device", "rights"]);
    assert!(document["findings"].is_array());
    let measurements = document["measurements"].as_array().unwrap();
    let phases: Vec<_> = measurements.iter().map(|m| m["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, PHASES);
    for m in measurements {
        has(m, &MEASUREMENT_KEYS);
        has(&m["latency_ns"], &["mean", "min", "p50", "p90", "p99", "p99_9", "max"]);
        has(&m["cache"], &["asked", "found", "resident_fraction"]);
        assert_eq!(m["valid"], Value::Bool(true), "{m}");
    }
    let operations: Vec<_> =
        measurements.iter().map(|m| m["operations"].as_u64().unwrap()).collect();
    assert_eq!(operations, [200, 50, 50, 50, 200, 50, 50, 50]);
}

#[test]
fn the_run_document_on_stdout_is_json_with_all_its_keys_and_nothing_else() {
    let bench = Bench::default();
    check_document(&bench.document(SMALL));
    let again = bench.run(["show", "last", "--json", "-"]);
    check_document(&again.json());
}

#[test]
fn the_run_document_in_a_file_comes_beside_the_table() {
    let bench = Bench::default();
    let file = bench.beside("the document.json");
    let ran = Ran::of(bench.command(SMALL).arg("--json").arg(&file));
    assert_eq!((ran.code, rows(&ran.stdout).len()), (Some(0), PHASES.len()), "{}", ran.stderr);
    check_document(&serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap());
}

#[test]
fn a_document_that_cannot_be_written_fails_and_the_run_is_stored_all_the_same() {
    let bench = Bench::default();
    let ran = Ran::of(bench.command(SMALL).args(["--json", "/dev/full"]));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("/dev/full"), "{}", ran.stderr);
    assert_eq!(rows(&bench.run(["show", "last"]).stdout).len(), PHASES.len());
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_plan_tells_what_would_run_and_writes_nothing_at_all() {
    let bench = Bench::default();
    let plan = bench.run(["plan", "smallfiles", "--scale", "quick"]);
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    for word in ["11,000 files", "rewrite", "1,000", "needs", "inodes"] {
        assert!(plan.stdout.contains(word), "no {word} in {}", plan.stdout);
    }
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
    assert!(!bench.store().exists(), "a plan made a store");

    bench.small_run();
    let before = std::fs::read(bench.store()).unwrap();
    let beside = names_in(bench.store().parent().unwrap());
    let plan = bench.run(["plan"]);
    assert!(
        plan.stdout.contains("takes about"),
        "an earlier run gives an estimate: {}",
        plan.stdout
    );
    let same: Vec<&str> = SMALL.into_iter().filter(|word| *word != "run").collect();
    let plan = bench.run(["plan"].iter().chain(&same)).stdout;
    assert!(plan.contains("for 1 repeat, by run "), "{plan}");
    let open: Vec<&str> =
        same.into_iter().filter(|word| !["--repeats", "1"].contains(word)).collect();
    let plan = bench.run(["plan"].iter().chain(&open)).stdout;
    let words = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("for 3 repeats and ") && words.contains(" for 12, by run "), "{plan}");
    assert_eq!(std::fs::read(bench.store()).unwrap(), before, "a plan changed the store");
    assert_eq!(names_in(bench.store().parent().unwrap()), beside, "a plan made files");
}

#[test]
fn a_built_in_scenario_runs_unchanged_as_a_users_file() {
    let bench = Bench::default();
    assert!(bench.run(["scenarios"]).stdout.contains("smallfiles"));
    let text = bench.run(["scenarios", "show", "smallfiles"]);
    let file = bench.write("mine.toml", &text.stdout);
    let mut arguments = SMALL.map(String::from).to_vec();
    arguments.insert(1, file.to_str().unwrap().into());
    let (mine, builtin) = (bench.document(&arguments), bench.document(SMALL));
    let done = |document: &Value| -> Vec<(Value, Value, Value)> {
        let all = document["measurements"].as_array().unwrap().iter();
        all.map(|m| (m["phase"].clone(), m["operations"].clone(), m["bytes"].clone())).collect()
    };
    assert_eq!(done(&mine), done(&builtin));
    assert_eq!(mine["run"]["scenario"], "smallfiles");
}

const TWO_VARIANTS: &str = r#"
name = "mine"
question = "Does it matter?"
repeats = 2
[axis]
name = "many"
values = [10, 20]
[[variant]]
name = "one"
tree = { files = "$many" }
[[variant]]
name = "four"
tree = { files = "$many", directories = 4 }
[[phase]]
operation = "create"
[[phase]]
operation = "delete"
"#;

#[test]
fn a_users_job_with_two_variants_and_an_axis_runs() {
    let bench = Bench::default();
    let file = bench.write("mine.toml", TWO_VARIANTS);
    let document = bench.document(["run", file.to_str().unwrap()]);
    let measurements = document["measurements"].as_array().unwrap();
    assert_eq!(measurements.len(), 2 * 2 * 2 * 2);
    for m in measurements {
        assert_eq!(m["operations"].as_f64(), m["level"]["value"].as_f64());
        assert_eq!(m["level"]["axis"], "many");
    }
    let first = bench.run(["show", "last"]).stdout;
    let table = bench.run(["show", "last", "--details"]).stdout;
    let at = |heading: &str| table.find(heading).unwrap();
    assert!(at("one, many 10:") < at("four, many 10:"), "as in the job file: {table}");
    for heading in ["one, many 10:", "one, many 20:", "four, many 10:", "four, many 20:"] {
        assert!(table.contains(heading), "no {heading} in {table}");
        assert!(!first.contains(heading), "{heading} in {first}");
    }
}

#[test]
fn a_job_with_five_mistakes_reports_five_problems_with_their_lines() {
    let text = "name = \"bad\"\nquestion = \"?\"\nrepeats = 0\ncahce = \"cold\"\n[tree]\nfiles = \"many\"\n\
                size = \"5 apples\"\n[[phase]]\noperation = \"creat\"\n";
    let bench = Bench::default();
    let file = bench.write("bad.toml", text);
    for command in ["run", "plan"] {
        let ran = bench.run([command, file.to_str().unwrap()]);
        let said = ran.refuses(2);
        assert!(said.contains("has 5 problems:"), "{said}");
        for line in [3, 4, 6, 7, 9] {
            assert!(said.contains(&format!("\n  line {line}: ")), "no line {line} in {said}");
        }
        assert!(said.contains("cache") && said.contains("create"), "the nearest words: {said}");
    }
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn the_store_is_readable_by_sqlite3_alone() {
    if output("sqlite3", &["--version"]).is_none() {
        return skip("reading the store with sqlite3", "it is not installed");
    }
    let bench = Bench::default();
    bench.small_run();
    let sql = "SELECT phase, operations FROM measurements WHERE valid ORDER BY number";
    let store = bench.store();
    let rows = output("sqlite3", &[store.to_str().unwrap(), sql]).unwrap();
    let expected = PHASES.map(|phase| {
        let operations = if ["create", "delete"].contains(&phase) { 200 } else { 50 };
        format!("{phase}|{operations}")
    });
    assert_eq!(rows, expected.join("\n"));
    assert_eq!(
        output("sqlite3", &[store.to_str().unwrap(), "PRAGMA integrity_check"]).unwrap(),
        "ok"
    );
}

#[test]
fn a_built_in_disk_is_a_start_for_a_users_file_which_is_checked() {
    let bench = Bench::default();
    let list = bench.run(["disks"]).stdout;
    assert!(list.contains("hdd-7200           13.5 ms    140 MB/s  hard disk"), "{list}");
    let text = bench.run(["disks", "show", "hdd-7200"]).stdout;
    assert!(
        text.contains("\nrpm      = 7_200") && text.contains("\n# The model gives: "),
        "{text}"
    );
    let mine = bench.write("mine.toml", text.replace("7_200", "5_400"));
    let shown = bench.run(["disks", "show", mine.to_str().unwrap()]).stdout;
    assert!(shown.contains("\nrpm      = 5_400"), "{shown}");
    let wrong =
        bench.write("wrong.toml", text.replace("\"1TB\"", "\"1 ms\"").replace("rpm ", "rmp "));
    let ran = bench.run(["disks", "show", wrong.to_str().unwrap()]);
    let told = ran.refuses(2);
    for part in ["hard_disk.capacity: found `1 ms`", "did you mean `rpm`?"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = bench.run(["disks", "show", "hdd-720"]);
    assert!(told.refuses(2).contains("did you mean `hdd-7200`?"), "{}", told.stderr);
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_no_panic() {
    let bench = Bench::default();
    bench.small_run();
    let commands: [&[&str]; 6] = [
        &["show", "last"],
        &["show", "last", "--json", "-"],
        &["runs"],
        &["scenarios", "schema"],
        &["plan"],
        &["--help"],
    ];
    for arguments in commands {
        let mut child =
            bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_run_whose_reader_goes_away_still_stores_and_cleans_up() {
    let bench = Bench::default();
    let mut child =
        bench.command(SMALL).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
    assert_eq!(rows(&bench.run(["show", "last"]).stdout).len(), PHASES.len());
}

#[test]
fn short_help_is_shorter_than_long_help_and_both_begin_with_what_to_type() {
    let bench = Bench::default();
    for command in ["", "run", "plan", "runs", "show", "clean", "inspect", "scenarios", "disks"] {
        let of = |flag| {
            let words = [command, flag].into_iter().filter(|word| !word.is_empty());
            let ran = Ran::of(bench.bare().args(words));
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command} {flag}");
            ran.stdout
        };
        let (short, long) = (of("-h"), of("--help"));
        assert!(short.starts_with("Examples:"), "{command} -h: {short}");
        assert!(short.lines().count() <= 40, "{command} -h does not fit a screen");
        assert!(short.len() <= long.len(), "{command}: -h is longer than --help");
    }
    let version = Ran::of(bench.bare().arg("--version"));
    assert_eq!(version.stdout, format!("boatload {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_inspection_names_the_file_system_and_writes_nothing() {
    let bench = Bench::default();
    let ran = Ran::of(bench.bare().args(["inspect", "."]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let work = bench.work();
    let kind = output("stat", &["-fc", "%T", work.to_str().unwrap()]).unwrap();
    // stat(1) calls all of ext2, ext3 and ext4 by one name.
    let kind = kind.split('/').next().unwrap();
    assert!(ran.stdout.contains(kind.trim_end_matches("ext2")), "no {kind} in {}", ran.stdout);
    assert!(ran.stdout.lines().any(|line| line.starts_with("layout       ")), "{}", ran.stdout);
    assert_eq!(names_in(&work), Vec::<String>::new());
}

/// Several at once share one store and one directory.
#[test]
fn runs_side_by_side_keep_out_of_each_others_way() {
    let bench = Bench::default();
    let start = |command: &mut Command| {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| start(&mut bench.command(SMALL))).collect();
    for child in children {
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
    assert_eq!(bench.run(["runs"]).stdout.matches("complete").count(), 4);
}

#[test]
fn a_run_with_a_time_limit_says_when_it_looked_and_how_it_ended() {
    let bench = Bench::default();
    let text = "name = \"x\"\nquestion = \"?\"\nengine = \"sim\"\nseed = 2\n[tree]\nfiles = 200\n\
                [sim]\nmetadata = \"20us\"\nspread = { repeats = \"3%\" }\n\
                [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"stat\"\n";
    let file = bench.write("x.toml", text);
    let file = file.to_str().unwrap();
    let ran = bench.run(["run", file, "--time-limit", "30m"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("after 3 repeats in "), "{}", ran.stderr);
    let shown = bench.run(["show", "last", "--details"]).stdout;
    assert!(shown.contains("decided after 3 repeats"), "{shown}");
    let document = bench.run(["show", "last", "--json", "-"]).json();
    let stopping = &document["run"]["stopping"];
    assert_eq!((&stopping["looks"][0], &stopping["alpha"][0]), (&3.into(), &0.005.into()));
    assert_eq!(stopping["time_limit_seconds"], 1800.0);
    let plan = bench.run(["plan", file, "--time-limit", "1h"]).stdout;
    let plan = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plan.contains("3 to 12 repeats until the answer is decided, for at most 60 min"),
        "{plan}"
    );
}
