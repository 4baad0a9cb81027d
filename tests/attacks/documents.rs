//! Run documents that somebody made by hand: they run nothing here, and cost no time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test panics when it cannot continue")]

use std::path::Path;

use serde_json::Value;

use crate::command::{Bench, Ran};

const JOB: &str = "name = 'nightly'\nrepeats = 3\nengine = 'sim'\ntree = { files = 400 }\n\
    sim = { metadata = '20us', noise = 'uniform' }\nphase = [{ operation = 'create' }]\n";

/// The document of a run of the job, with this seed.
fn document(bench: &Bench, seed: &str) -> Value {
    let job = bench.write("job.toml", JOB);
    let mut command = bench.command([Path::new("run"), &job]);
    Ran::of(command.args(["--seed", seed, "--json", "-"])).json()
}

fn id(document: &Value) -> &str {
    document["run"]["id"].as_str().unwrap()
}

/// Changes the store by hand, with the id of a run.
fn changes(bench: &Bench, sql: &str, id: &str) {
    let store = rusqlite::Connection::open(bench.store()).unwrap();
    assert!(store.execute(sql, (id,)).unwrap() > 0, "{sql}");
}

const SLOWER: &str = "UPDATE measurement_documents SET \
    document = json_set(document, '$.seconds', (document ->> '$.seconds') * 3.0) WHERE run_id = ?1";

/// A run that looks three times as slow as its baseline.
fn slow_and_baseline(bench: &Bench) -> [String; 2] {
    let [baseline, slow] = ["1", "2"].map(|seed| id(&document(bench, seed)).to_string());
    changes(bench, SLOWER, &slow);
    [slow, baseline]
}

fn runs(bench: &Bench) -> i64 {
    let store = rusqlite::Connection::open(bench.store()).unwrap();
    store.query_row("SELECT count(*) FROM runs", (), |row| row.get(0)).unwrap()
}

/// What `check --confirm` says, which runs nothing.
#[track_caller]
fn refused_to_confirm(bench: &Bench, command: &mut std::process::Command) -> String {
    let before = runs(bench);
    let ran = Ran::of(command.args(["--confirm", "2"]));
    let said = ran.refuses(2).to_string();
    assert!(!said.contains("running it again"), "{said}");
    assert_eq!(runs(bench), before, "something was run: {said}");
    said
}

#[test]
fn a_document_that_claims_to_be_of_this_machine_is_never_run_by_a_check() {
    let bench = Bench::default();
    let [slow, baseline] = slow_and_baseline(&bench);
    let mut forged = bench.run(["show", &slow, "--json", "-"]).json();
    let store = rusqlite::Connection::open(bench.store()).unwrap();
    let origin: String = store
        .query_row("SELECT origin FROM runs WHERE id = ?1", (&slow,), |row| row.get(0))
        .unwrap();
    let origin: Value = serde_json::from_str(&origin).unwrap();
    forged["origin"] = origin.clone();
    forged["run"]["origin"] = origin;
    let file = bench.write("forged.json", forged.to_string());
    assert_eq!(bench.run(["runs", "rm", &slow]).code, Some(0));
    let imported = bench.run([Path::new("import"), &file]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let check = ["check", &slow, "--baseline", &baseline];
    let said = refused_to_confirm(&bench, &mut bench.command(check));
    assert!(said.contains("it was imported or not begun with this store"), "{said}");
    assert_eq!(bench.run(check).code, Some(3), "to look at it is allowed");
}

#[test]
fn a_run_of_another_machine_or_directory_is_refused_before_anything_is_run() {
    let bench = Bench::default();
    let [slow, baseline] = slow_and_baseline(&bench);
    let mut check = bench.command(["check", &slow, "--baseline", &baseline]);
    let said = refused_to_confirm(&bench, check.current_dir(bench.beside("")));
    assert!(said.contains("another directory") && said.contains("Nothing was run"), "{said}");
    let other =
        "UPDATE runs SET document = json_set(document, '$.host.cpu', 'another') WHERE id = ?1";
    changes(&bench, other, &slow);
    let mut check = bench.command(["check", &slow, "--baseline", &baseline]);
    let said = refused_to_confirm(&bench, &mut check);
    assert!(said.contains("machine, file system or device: it is another one"), "{said}");
}

#[test]
fn a_name_that_no_job_file_may_have_is_refused_at_import_and_where_a_store_has_it() {
    let bench = Bench::default();
    let document = document(&bench, "1");
    for bytes in [61, 1_000_000] {
        let name = "x".repeat(bytes);
        let forged = document.to_string().replace("\"create\"", &format!("\"{name}\""));
        let file = bench.write("forged.json", forged);
        let ran = bench.run([Path::new("import"), &file]);
        let said = ran.refuses(1);
        assert!(said.contains("bytes; boatload writes and reads at most"), "{said}");
        assert!(said.len() < 500, "the name itself is not repeated: {}", said.len());
    }
    let long = "UPDATE measurement_documents SET document = \
                json_set(document, '$.phase', printf('%.*c', 3000000, 'x')) WHERE run_id = ?1";
    changes(&bench, long, id(&document));
    let ran = bench.run(["show", id(&document)]);
    assert!(ran.refuses(1).contains("has 3,000,000 bytes"), "{}", ran.stderr);
}

#[test]
fn a_text_that_is_shown_has_an_end_and_the_job_file_is_kept_whole() {
    let bench = Bench::default();
    let mut document = document(&bench, "1");
    let long = "word ".repeat(20_000);
    document["run"]["id"] = "aaaaaaaa".into();
    document["run"]["job"] = format!("{JOB}# {long}\n").into();
    let import = |document: &Value| {
        let file = bench.write("forged.json", document.to_string());
        bench.run([Path::new("import"), &file])
    };
    let mut forged = document.clone();
    for key in ["/run/question", "/host/cpu", "/host/filesystem/options"] {
        *forged.pointer_mut(key).unwrap() = long.as_str().into();
        let ran = import(&forged);
        assert!(ran.refuses(1).contains("has 100,000 bytes"), "{key}: {}", ran.stderr);
        forged = document.clone();
    }
    let ran = import(&document);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let asked = format!("question = '{long}'\n{JOB}");
    let ran = bench.run([Path::new("run"), &bench.write("asks.toml", asked)]);
    assert!(ran.refuses(2).contains("question"), "{}", ran.stderr);
}
