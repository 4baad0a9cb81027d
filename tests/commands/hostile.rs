//! What comes from elsewhere, and places that cannot be written: neither talks to the terminal nor costs a result.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use std::path::Path;

use serde_json::Value;

use crate::command::Bench;

const JOB: &str = "name = \"x\"\nengine = \"sim\"\nrepeats = 2\n[tree]\nfiles = 100\n\
    [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"read\"\n";

/// Words that would begin a line of their own, and give a terminal commands.
const EVIL: &str = "x\nFORGED line\u{1b}]0;title\u{7}\u{1b}[2J\u{202e}";

/// Puts the words in the place of all texts but those that must be of a known form.
fn forge(value: &mut Value, key: &str) {
    match value {
        Value::Object(all) => all.iter_mut().for_each(|(key, value)| forge(value, key)),
        Value::Array(all) => all.iter_mut().for_each(|value| forge(value, key)),
        Value::String(text)
            if [
                "scenario", "variant", "phase", "command", "question", "kernel", "cpu", "source",
            ]
            .contains(&key)
                && !text.is_empty() =>
        {
            *text = EVIL.into();
        }
        _ => {}
    }
}

#[test]
fn an_imported_run_cannot_talk_to_the_terminal() {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    let mut document = bench.document([Path::new("run"), &job]);
    let run = document["run"].as_object_mut().unwrap();
    for (key, text) in
        [("scenario", EVIL), ("command", EVIL), ("question", EVIL), ("id", "aaaaaaaa")]
    {
        run.insert(key.into(), text.into());
    }
    forge(&mut document["host"], "host");
    let forged = bench.write("forged.json", document.to_string());
    let imported = bench.run([Path::new("import"), &forged]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let last = bench.run(["runs"]).stdout;
    assert!(last.contains("aaaaaaaa"), "{last}");
    for arguments in [
        &["runs"][..],
        &["show", "aaaaaaaa"],
        &["show", "aaaaaaaa", "--details"],
        &["check", "aaaaaaaa", "--baseline", "history"],
        &["check", "aaaaaaaa", "--baseline", "last", "--confirm", "1"],
        &["compare", "last", "aaaaaaaa"],
    ] {
        let ran = bench.run(arguments);
        let said = ran.stdout + &ran.stderr;
        let garbles = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!said.contains(garbles), "{arguments:?}: {said:?}");
        let forges = said.lines().any(|line| line.starts_with("FORGED"));
        assert!(!forges && !said.contains("panicked"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_run_does_not_begin_where_its_document_has_no_place() {
    let bench = Bench::default();
    let job = bench.write("job.toml", JOB);
    let file = bench.write("file", "");
    for path in [bench.beside("missing/run.json"), file.join("run.json"), bench.work()] {
        let ran = bench.run([Path::new("run"), &job, Path::new("--json"), &path]);
        let said = ran.refuses(1);
        assert!(said.contains("nothing was measured"), "{said}");
    }
    assert!(!bench.store().exists(), "a run was begun");
}
