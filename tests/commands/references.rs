//! Published figures where a run is named, and runs side by side, as a user meets them.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::command;

use serde_json::Value;

use command::{Bench, Ran};

const DEBIAN: &str = "reference:smallfiles-debian8-ext4";

#[test]
fn published_figures_are_shown_without_a_store_and_make_none() {
    let bench = Bench::default();
    let ran = bench.run(["show", DEBIAN]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("published, not measured by boatload"), "{}", ran.stdout);
    assert!(!bench.store().exists(), "nothing of the store was needed");
}

#[test]
fn every_name_that_is_listed_can_be_shown() {
    let bench = Bench::default();
    let listed = bench.run(["runs", "--references"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let first = |line: &str| line.split_whitespace().next().unwrap_or_default().to_string();
    let lines = listed.stdout.lines().filter(|line| !line.ends_with(['?', ':']));
    let names: Vec<String> = lines.map(first).filter(|name| name.contains('-')).collect();
    assert_eq!(names.len(), 20, "{}", listed.stdout);
    for name in names {
        let ran = bench.run(["show", &format!("reference:{name}")]);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_slip_in_the_name_of_published_figures_is_answered_with_the_nearest() {
    let bench = Bench::default();
    let near = "did you mean reference:smallfiles-debian8-ext4?";
    for slip in ["reference:smallfiles-debian8-ext44", "refrence:smallfiles-debian8-ext4"] {
        let ran = bench.run(["show", slip]);
        assert!(ran.refuses(2).contains(near), "{slip}: {}", ran.stderr);
    }
    let ran = bench.run(["show", "smallfiles-debian8-ext4"]);
    assert!(ran.refuses(2).contains(near), "without its prefix: {}", ran.stderr);
    let ran = bench.run(["show", "reference:"]);
    assert!(ran.refuses(2).contains("--references"), "{}", ran.stderr);
}

#[test]
fn a_run_of_ones_own_stands_beside_published_figures() {
    let bench = Bench::default();
    let own = bench.small_run();
    assert_eq!(own.code, Some(0), "{}", own.stderr);
    let id = bench.last_id();
    let ran = bench.run(["show", "last", DEBIAN, "--details"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains(&format!("\nA: run {id}")), "{}", ran.stdout);
    for phase in ["create", "rewrite", "read-sequential", "read-random", "delete"] {
        let is_row = |line: &&str| {
            line.contains("/s")
                && line.split(' ').next().map(|name| name.trim_end_matches(['~', '+']))
                    == Some(phase)
        };
        let row = ran.stdout.lines().find(is_row).unwrap();
        assert_eq!(row.matches("/s").count(), 2, "a rate of either run: {row}");
    }
    assert!(ran.stdout.lines().any(|line| line.starts_with("most operations")));
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);

    let missing = bench.run(["show", DEBIAN, "zzz"]);
    missing.refuses(2);
}

#[test]
fn several_documents_stand_one_on_a_line() {
    let bench = Bench::default();
    let names = [DEBIAN, "reference:chunks-ozone"];
    let ran = bench.run([&["show", "--json", "-"][..], &names].concat());
    let documents: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&str> = documents.iter().filter_map(|d| d["run"]["id"].as_str()).collect();
    assert_eq!(ids, names);

    let path = bench.beside("both.json");
    let ran = Ran::of(bench.command(["show", "--json"]).arg(&path).args(names));
    assert!(ran.stdout.contains("\nA: reference:"), "{}", ran.stdout);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
}

#[test]
fn two_runs_have_details_too_and_six_runs_are_the_most() {
    let bench = Bench::default();
    assert_eq!(bench.run(["show", "--details", DEBIAN, DEBIAN]).code, Some(0));
    assert_eq!(bench.run([&["show"][..], &[DEBIAN; 6]].concat()).code, Some(0));
    assert_eq!(bench.run([&["show"][..], &[DEBIAN; 7]].concat()).code, Some(2));
}
