//! Runs on modelled disks: that phases take what the model says, that reports name the disk and what it
//! saw, and that nothing of it is left. Needs root.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::command;
use crate::modelled_disk::modelled_bench;

use serde_json::Value;

use command::{Bench, names_in};

/// Few files, so that a disk with a head is done with them in seconds.
const JOB: &str = "name = \"modelled\"\ncache = \"cold\"\ndurability = \"syncfs\"\nrepeats = 2\n\
    [tree]\nfiles = 300\nsize = 3_000\n[[phase]]\noperation = \"create\"\n\
    [[phase]]\nname = \"read-random\"\noperation = \"read\"\ncount = 60\norder = \"random\"\n";

/// A bench with the job.
fn bench(what: &str) -> Option<Bench> {
    let bench = modelled_bench(what)?;
    bench.write("job.toml", JOB);
    Some(bench)
}

fn document(bench: &Bench, more: &[&str]) -> Value {
    let job = bench.beside("job.toml").to_str().unwrap().to_string();
    let arguments = ["run", &job].into_iter().chain(more.iter().copied());
    bench.document(arguments.map(String::from).collect::<Vec<_>>())
}

fn phase<'a>(document: &'a Value, name: &str) -> Vec<&'a Value> {
    document["measurements"].as_array().unwrap().iter().filter(|m| m["phase"] == name).collect()
}

fn number(of: &Value, key: &str) -> f64 {
    of.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {key} in {of}"))
}

fn seconds(of: &Value) -> f64 {
    number(of, "/seconds")
}

#[test]
fn random_reads_on_a_disk_with_a_head_take_the_time_of_its_mechanism_and_on_memory_they_do_not() {
    let Some(bench) = bench("a run on two modelled disks") else { return };
    let document = document(&bench, &["--filesystem", "ext4:disk=hdd-7200,ext4:disk=ram"]);
    let made = &document["filesystems"][0];
    assert_eq!(made["disk"]["name"], "hdd-7200", "{made}");
    assert!(made["disk"]["model"].as_str().unwrap().contains("[hard_disk]"), "{made}");
    let (turning, in_memory): (Vec<_>, Vec<_>) =
        phase(&document, "read-random").into_iter().partition(|m| m["variant"] == "ext4 hdd-7200");
    assert_eq!([turning.len(), in_memory.len()], [2; 2], "{document}");
    // What else the machine does makes any of them slower, but not all.
    let fastest = in_memory.iter().map(|m| seconds(m)).fold(f64::INFINITY, f64::min);
    for m in turning {
        let cache = (&m["valid"], &m["cache"]["found"]);
        assert_eq!(cache, (&true.into(), &"cold-verified".into()), "{m}");
        assert!(seconds(m) > 2.0 * fastest, "{fastest} s in memory: {m}");
        let requests = number(m, "/disk/reads");
        assert!((60.0..240.0).contains(&requests), "a file is a request or two: {m}");
        let times = ["/disk/seek_seconds", "/disk/rotation_seconds", "/disk/transfer_seconds"];
        let mechanism: f64 = times.iter().map(|key| number(m, key)).sum();
        // On a busy machine it takes longer, but one worker never waits for less.
        assert!(seconds(m) > 0.9 * mechanism, "{mechanism} s: {m}");
        let share = |name: &str| number(m, &format!("/time_shares/{name}"));
        assert!(share("device") > share("on_cpu"), "the worker sleeps while the head moves: {m}");
        if share("run_queue") < 0.3 {
            assert_eq!(m["limit"], "device", "{m}");
        }
        let each = mechanism / requests;
        assert!((0.0003..0.03).contains(&each), "no disk of 7,200 turns takes {each} s: {m}");
    }
    for m in in_memory {
        let turned = m.pointer("/disk/rotation_seconds").and_then(Value::as_f64);
        assert_eq!(turned.unwrap_or_default(), 0.0, "memory does not turn: {m}");
    }
    for settled in phase(&document, "settle") {
        assert!(settled["disk"]["writes"].is_u64(), "{settled}");
    }
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_report_names_the_modelled_disk() {
    let Some(bench) = bench("the report of a run on a modelled disk") else { return };
    document(&bench, &["--filesystem", "ext4", "--disk", "sata-ssd", "--repeats", "1"]);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = words(&bench.run(["show", "last", "--details"]).stdout);
    assert!(shown.contains("made on sata-ssd, modelled, with its image of"), "{shown}");
    let listed = bench.run(["runs"]).stdout;
    assert!(listed.contains("ext4 on sata-ssd"), "{listed}");
}
