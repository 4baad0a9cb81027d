//! `boatload audit`: results of other benchmarks, on the command line.
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

use std::path::{Path, PathBuf};

use crate::command::{Bench, Ran};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit").join(name)
}

#[test]
fn the_exit_code_says_whether_something_speaks_against_a_result() {
    let bench = Bench::in_memory();
    let audit = |name: &str| bench.run(["audit".as_ref(), sample(name).as_os_str()]);
    let clean = audit("fio-direct.json");
    assert_eq!(clean.code, Some(0), "{}{}", clean.stdout, clean.stderr);
    assert!(clean.stdout.contains("Nothing speaks against it."), "{}", clean.stdout);
    for name in ["fio-cached.json", "dd-nosync.txt", "mdtest-client-cache.txt"] {
        assert_eq!(audit(name).code, Some(3), "{name}");
    }
}

#[test]
fn what_is_no_result_is_refused_with_its_name_and_what_was_expected() {
    let bench = Bench::in_memory();
    let path = bench.write("notes.txt", b"\xff\x00 nothing of the kind\n[[[[[[[");
    let ran = bench.run(["audit".as_ref(), path.as_os_str()]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("notes.txt: expected a result of fio"), "{}", ran.stderr);
    let missing = bench.run(["audit", "missing.json"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("cannot read missing.json"), "{}", missing.stderr);
    for wrong in [["--device-rate", "200MB"], ["--device-rate", "fast"], ["--memory", "16apples"]] {
        let ran = bench.run(["audit", "x.json"].into_iter().chain(wrong));
        assert_eq!(ran.code, Some(2), "{wrong:?}: {}", ran.stderr);
    }
}

#[test]
fn a_result_is_read_from_a_pipe_and_the_document_goes_to_another() {
    let bench = Bench::in_memory();
    let mut command = bench.command(["audit", "-", "--json", "-", "--memory", "16GiB"]);
    command.stdin(std::fs::File::open(sample("dd-nosync.txt")).unwrap());
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["audits"][0]["grade"], "likely");
    assert_eq!(document["bounds"]["memory_bytes"], 16_u64 << 30);
    assert_eq!(document["audits"][0]["findings"][0]["check"], "not-synced");
}

#[test]
fn a_directory_gives_the_memory_of_this_machine_and_the_commands_their_place() {
    let bench = Bench::in_memory();
    let ran = bench.run([
        "audit".as_ref(),
        sample("dd-nosync.txt").as_os_str(),
        "--dir".as_ref(),
        ".".as_ref(),
    ]);
    assert!(ran.stdout.contains("[likely, not-synced]"), "{}", ran.stdout);
    assert!(ran.stdout.contains("--dir .\n"), "{}", ran.stdout);
}

#[test]
fn the_commands_that_are_named_are_plans_that_boatload_takes() {
    let bench = Bench::default();
    let all = ["dd-nosync.txt", "fio-cached.json", "mdtest-client-cache.txt", "bonnie-small.csv"];
    let mut arguments =
        vec!["audit".to_string(), "--json".into(), "-".into(), "--dir".into(), ".".into()];
    arguments.extend(all.map(|name| sample(name).to_string_lossy().into_owned()));
    let document: serde_json::Value = serde_json::from_str(&bench.run(arguments).stdout).unwrap();
    let mut commands = std::collections::BTreeSet::new();
    for audit in document["audits"].as_array().unwrap() {
        let findings = audit["findings"].as_array().unwrap();
        commands
            .extend(findings.iter().map(|one| one["measure_with"].as_str().unwrap().to_string()));
    }
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        let words = command.strip_prefix("boatload run ").unwrap().split(' ');
        let ran = bench.run(["plan"].into_iter().chain(words));
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
    }
}

#[test]
fn a_disk_of_a_virtual_machine_is_not_taken_for_a_turning_one() {
    let bench = Bench::default();
    let clean = sample("fio-direct.json");
    let host = bench.run(["inspect"]);
    if !host.stdout.contains("virtual") {
        return crate::common::skip("an audit on a virtual disk", "this machine is none");
    }
    let ran = bench.run(["audit".as_ref(), clean.as_os_str(), "--dir".as_ref(), ".".as_ref()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
}

#[test]
fn a_version_that_is_not_known_is_said_beside_the_verdict() {
    let bench = Bench::in_memory();
    let text = std::fs::read_to_string(sample("fio-direct.json")).unwrap();
    let path = bench.write("fio.json", text.replace("fio-3.33", "fio-3.99").as_bytes());
    let ran = bench.run(["audit".as_ref(), path.as_os_str()]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("fio 3.99 is newer than 3.42"), "{}", ran.stdout);
}

#[test]
fn dd_of_every_language_is_read_with_its_decimal_commas() {
    let bench = Bench::in_memory();
    let ran = bench.run(["audit".as_ref(), sample("dd-languages.txt").as_os_str()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("6.25 MiB").count(), 11, "{}", ran.stdout);
}
