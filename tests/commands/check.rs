//! `boatload check` as a script meets it: its exit codes, against a run and against a history.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::command;

use command::{Bench, Ran};

/// Two noisy phases, with more keys for the simulation.
fn job(more: &str) -> String {
    format!(
        "name = 'nightly'\nrepeats = 3\nengine = 'sim'\ntree = {{ files = 400 }}\n\
         sim = {{ metadata = '20us', noise = 'uniform'{more} }}\n\
         phase = [{{ operation = 'create' }}, {{ operation = 'stat' }}]\n"
    )
}

/// Runs the job with a seed and gives the run's id.
fn stored(bench: &Bench, job: &str, seed: u32) -> String {
    let path = bench.write("job.toml", job);
    let mut command = bench.command([std::ffi::OsStr::new("run"), path.as_os_str()]);
    let ran = Ran::of(command.args(["--seed", &seed.to_string(), "--json", "-"]));
    ran.json()["run"]["id"].as_str().unwrap().into()
}

const LASTS_LONGER: &str = "UPDATE measurement_documents SET \
    document = json_set(document, '$.seconds', (document ->> '$.seconds') * ?1) WHERE run_id = ?2";

/// A run of the same job that took so many times as long: its truth cannot say so, for a job file
/// with another one is another job.
fn slower(bench: &Bench, seed: u32, times: f64) -> String {
    let id = stored(bench, &job(""), seed);
    let store = rusqlite::Connection::open(bench.store()).unwrap();
    let changed = store.execute(LASTS_LONGER, (times, &id)).unwrap();
    assert_eq!(changed, 6, "two phases of three repeats");
    id
}

#[test]
fn a_regression_against_a_run_is_exit_code_3_and_a_fast_run_is_0() {
    let bench = Bench::default();
    let before = stored(&bench, &job(""), 1);
    let same = stored(&bench, &job(""), 2);
    let slow = slower(&bench, 3, 1.5);
    let ran = bench.run(["check", &same, "--baseline", &before, "--fail-on", "10%"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let text = ran.stdout.replace('\n', " ");
    assert!(
        text.starts_with("UNSURE: equal runs on other machines differ by up to "),
        "one run says no more: {text}"
    );
    assert!(text.contains(", so 10% cannot be checked."), "{text}");
    assert!(text.contains("How much equal runs differ is taken from other machines"), "{text}");
    let ran = bench.run(["check", "last", "--baseline", &before]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""), "{}", ran.stdout);
    let text = ran.stdout.replace('\n', " ");
    assert!(text.starts_with("REGRESSION: the whole job takes 1.5"), "{text}");
    assert!(text.contains("; 5% is allowed."), "{text}");
    let ran = bench.run(["check", &slow, "--baseline", &before, "--fail-on", "80%"]);
    assert_eq!(ran.code, Some(0), "what may be slower by 80%: {}", ran.stdout);
    let ran = bench.run(["check", &before, "--baseline", &slow]);
    assert_eq!(ran.code, Some(0), "faster is never a regression: {}", ran.stdout);
}

#[test]
fn a_regression_is_tried_again_and_stays_one_only_if_it_holds() {
    let bench = Bench::default();
    let before = slower(&bench, 1, 0.5);
    let run = stored(&bench, &job(""), 2);
    let confirm = |id: &str| bench.run(["check", id, "--baseline", &before, "--confirm", "2"]);
    let ran = confirm(&run);
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    let text = ran.stdout.replace('\n', " ");
    assert!(text.contains("; 5% is allowed, confirmed by 2 more runs."), "{text}");
    assert!(
        ran.stderr.contains("looks too slow: running it again (2 of at most 2)"),
        "{}",
        ran.stderr
    );
    let slow = slower(&bench, 3, 3.0);
    let ran = bench.run(["check", &slow, "--baseline", &run, "--confirm", "3", "--quiet"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("NOT CONFIRMED: "), "{}", ran.stdout);
    bench.write("job.toml", job(", stall = { every = 50, time = '5ms' }"));
    let changed = confirm(&run);
    assert!(changed.refuses(2).contains("has changed since"), "{}", changed.stderr);
}

#[test]
fn what_erases_a_device_or_fills_a_file_system_is_not_confirmed() {
    let bench = Bench::default();
    let before = slower(&bench, 1, 0.5);
    let run = stored(&bench, &job(""), 2);
    let store = rusqlite::Connection::open(bench.store()).unwrap();
    let sql = "UPDATE runs SET document = json_set(document, '$.run.command', ?1) WHERE id = ?2";
    for words in ["--filesystem ext4 --device /dev/x --erase /dev/x", "--fill-real"] {
        store.execute(sql, (format!("boatload run job.toml {words}"), &run)).unwrap();
        let ran = bench.run(["check", &run, "--baseline", &before, "--confirm", "2"]);
        assert!(ran.refuses(2).contains("is not done again unasked"), "{}", ran.stderr);
    }
}

#[test]
fn a_slowdown_within_its_interval_is_unsure_and_no_failure() {
    let bench = Bench::default();
    let before = stored(&bench, &job(""), 1);
    slower(&bench, 2, 1.055);
    let ran = bench.run(["check", "last", "--baseline", &before]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.contains("unsure"), "{}", ran.stdout);
}

#[test]
fn what_is_invalid_is_exit_code_4_unless_something_else_is_a_regression() {
    let bench = Bench::default();
    let before = stored(&bench, &job(""), 1);
    let breaks = |id: &str, seconds: f64| {
        let store = rusqlite::Connection::open(bench.store()).unwrap();
        let sql = "UPDATE measurement_documents SET \
                   document = json_set(document, '$.invalid', json('[{\"reason\":\"sync\",\"error\":\"EIO\"}]')) \
                   WHERE run_id = ?1 AND document ->> '$.phase' = 'stat'";
        store.execute(sql, (id,)).unwrap();
        store.execute(LASTS_LONGER, (seconds, id)).unwrap();
    };
    let broken = stored(&bench, &job(""), 2);
    breaks(&broken, 1.0);
    let ran = bench.run(["check", &broken, "--baseline", &before]);
    assert_eq!(ran.code, Some(4), "{}", ran.stdout);
    assert!(ran.stdout.contains("INVALID: stat."), "{}", ran.stdout);
    let both = stored(&bench, &job(""), 3);
    breaks(&both, 2.0);
    let ran = bench.run(["check", &both, "--baseline", &before]);
    assert_eq!(ran.code, Some(3), "{}", ran.stdout);
}

#[test]
fn a_run_that_ended_early_cannot_pass_whatever_it_measured() {
    let bench = Bench::default();
    let before = stored(&bench, &job(""), 1);
    let ends_early = |id: &str| {
        let store = rusqlite::Connection::open(bench.store()).unwrap();
        let sql = "UPDATE runs SET document = json_set(document, '$.run.complete', json('false')) \
                   WHERE id = ?1";
        assert_eq!(store.execute(sql, (id,)).unwrap(), 1);
    };
    let unsure = stored(&bench, &job(""), 2);
    let slow = slower(&bench, 3, 1.5);
    [&unsure, &slow].into_iter().for_each(|id| ends_early(id));
    for baseline in [before.as_str(), "history"] {
        let ran = bench.run(["check", &unsure, "--baseline", baseline]);
        assert_eq!(ran.code, Some(4), "{}", ran.stdout);
        let text = ran.stdout.replace('\n', " ");
        assert!(text.starts_with(&format!("NOT COMPLETE: run {unsure} is unfinished")), "{text}");
        let next = format!("\nNext: boatload resume {unsure} ");
        assert!(ran.stdout.contains(&next), "{}", ran.stdout);
    }
    let ran = bench.run(["check", &slow, "--baseline", &before]);
    assert_eq!(ran.code, Some(3), "a regression stays one: {}", ran.stdout);
    let ran = bench.run(["check", &before, "--baseline", &unsure]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
}

#[test]
fn the_history_is_the_runs_like_it_before_it_and_a_step_begins_a_new_baseline() {
    let bench = Bench::default();
    stored(&bench, &job(""), 1);
    let ran = bench.run(["check", "last", "--baseline", "history"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("Nothing to compare with yet: "), "{}", ran.stdout);
    for seed in 2..8 {
        stored(&bench, &job(""), seed);
    }
    stored(&bench, &job(", stall = { every = 50, time = '5ms' }"), 100);
    let slow: Vec<String> = (10..14).map(|seed| slower(&bench, seed, 1.5)).collect();
    let check = |id: &str| bench.run(["check", id, "--baseline", "history"]);
    for id in &slow[..3] {
        let ran = check(id);
        assert_eq!(ran.code, Some(3), "not yet accepted: {}", ran.stdout);
    }
    let ran = check(&slow[3]);
    assert_eq!(ran.code, Some(0), "three runs are a baseline: {}", ran.stdout);
    let text = "A is the newest of 10 earlier runs";
    assert!(ran.stdout.contains(text), "the job with stalls is another: {}", ran.stdout);
    let ran = bench.run(["check", "last", "--baseline", "history", "--last", "2"]);
    assert!(ran.stdout.contains("A is the newest of 2 earlier runs"), "{}", ran.stdout);
}

#[test]
fn beside_a_single_baseline_as_many_others_count_as_are_asked_for() {
    let bench = Bench::default();
    let first = stored(&bench, &job(""), 1);
    for seed in 2..9 {
        stored(&bench, &job(""), seed);
    }
    // Runs of the same second have no known order.
    let store = rusqlite::Connection::open(bench.store()).unwrap();
    let apart = "UPDATE runs SET document = \
                 json_set(document, '$.run.started', printf('2026-01-01T00:00:%02dZ', number))";
    assert_eq!(store.execute(apart, ()).unwrap(), 8);
    for (most, expected) in [("30", 6), ("3", 3)] {
        let arguments = ["check", "last", "--baseline", &first, "--last", most, "--json", "-"];
        assert_eq!(bench.run(arguments).json()["other_runs"], expected, "--last {most}");
    }
}

#[test]
fn the_document_says_what_the_table_says() {
    let bench = Bench::default();
    let first = stored(&bench, &job(""), 1);
    let none = bench.run(["check", "last", "--baseline", "history", "--json", "-"]);
    assert_eq!((none.code, &none.json()["rows"]), (Some(0), &serde_json::json!([])));
    let slow = slower(&bench, 2, 1.5);
    let path = bench.beside("check.json");
    let mut command = bench.command(["check", &slow, "--baseline", "history", "--json"]);
    let ran = Ran::of(command.arg(&path));
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let text = std::fs::read_to_string(&path).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&document["format"], &document["version"]), (&"boatload-check".into(), &4.into()));
    let sentence = document["sentences"][0].as_str().unwrap();
    assert!(ran.stdout.replace('\n', " ").contains(&sentence[..40]), "{sentence}");
    let whole = &document["rows"][0];
    assert_eq!(
        (&whole["phase"], &whole["outcome"]),
        (&serde_json::Value::Null, &"regression".into())
    );
    assert!(whole["ratio"].as_f64().unwrap() > 1.4, "{whole}");
    let point = &whole["history"]["points"][0];
    assert_eq!((&point["run"], &point["mark"]), (&first.as_str().into(), &"baseline".into()));
}

#[test]
fn what_cannot_be_checked_is_refused_with_the_reason() {
    let bench = Bench::default();
    let id = stored(&bench, &job(""), 1);
    let refused = |arguments: &[&str]| bench.run(arguments).refuses(2).to_string();
    let published = refused(&["check", &id, "--baseline", "reference:smallfiles-debian8-ext4"]);
    assert!(published.contains("boatload compare"), "{published}");
    let published = refused(&["check", "reference:chunks-ozone", "--baseline", &id]);
    assert!(published.contains("not measured here"), "{published}");
    assert!(refused(&["check", "last", "--baseline", &id]).contains("the same run"));
    for wrong in ["0%", "5", "-1%", "much"] {
        let ran = bench.run(["check", &id, "--baseline", "history", &format!("--fail-on={wrong}")]);
        assert_eq!(ran.code, Some(2), "{wrong}");
        let hint = "write it in percent, from 0.01% to 1000%";
        assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    }
}

#[test]
fn what_is_unsure_or_has_no_baseline_fails_only_if_that_is_asked_for_and_says_so() {
    let bench = Bench::default();
    let first = stored(&bench, &job(""), 1);
    let check = |baseline: &str, more: &[&str]| {
        bench.run([&["check", "last", "--baseline", baseline], more].concat())
    };
    let states = |ran: &Ran, code: i32, said: &str| {
        let text = ran.stdout.replace('\n', " ");
        assert_eq!(ran.code, Some(code), "{text}{}", ran.stderr);
        assert!(text.contains(said), "{said}: {text}");
    };
    let accepted = "Exit 0; 4 with --fail-on-unsure.";
    let refused = "Exit 4, because of --fail-on-unsure.";
    states(
        &check("history", &[]),
        0,
        "Nothing to compare with yet: no earlier complete run of nightly.",
    );
    states(&check("history", &[]), 0, accepted);
    states(&check("history", &["--fail-on-unsure"]), 4, refused);
    stored(&bench, &job(", stall = { every = 50, time = '5ms' }"), 2);
    let new = format!("job text is new. The run before: --baseline {first}. {accepted}");
    states(&check("history", &[]), 0, &new);
    states(&check("history", &["--fail-on-unsure"]), 4, refused);
    stored(&bench, &job(""), 3);
    states(&check("history", &["--fail-on", "0.1%"]), 0, accepted);
    states(&check("history", &["--fail-on", "0.1%", "--fail-on-unsure"]), 4, refused);
    let sure = check("history", &["--fail-on", "300%", "--fail-on-unsure"]);
    states(&sure, 0, "OK: nothing is more than 300% slower (a slowdown of ");
    slower(&bench, 4, 9.0);
    states(&check(&first, &["--fail-on-unsure"]), 3, "REGRESSION: ");
}

#[test]
fn a_row_passes_or_fails_only_where_its_interval_says_so() {
    let bench = Bench::default();
    let first = stored(&bench, &job(""), 1);
    for (seed, times) in (2..).zip([0.9, 1.0, 1.02, 1.1, 1.2, 1.25, 1.3, 1.4, 1.6]) {
        let id = slower(&bench, seed, times);
        for limit in [0.05, 0.25] {
            let percent = format!("{}%", limit * 100.0);
            let words = ["check", &id, "--baseline", &first, "--fail-on", &percent, "--json", "-"];
            let document = bench.run(words).json();
            for row in document["rows"].as_array().unwrap() {
                let end = |at: usize| row["interval"][at].as_f64().unwrap();
                let is_good = match row["outcome"].as_str().unwrap() {
                    "ok" => end(1) < 1.0 + limit,
                    "regression" => end(0) > 1.0 + limit,
                    _ => true,
                };
                assert!(is_good, "{percent}: {row}");
            }
        }
    }
}
