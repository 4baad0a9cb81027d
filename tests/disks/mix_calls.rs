//! The system calls of scenarios that mix works, counted by strace: they are those that the run document says.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::command::Bench;
use crate::common::LoopMount;
use crate::device::traced;

use std::collections::BTreeMap;

use serde_json::Value;

const CALLS: &str = "trace=openat,read,write,fsync,renameat,renameat2,unlinkat,getdents64";

/// A system call that succeeded on the tree.
struct Call {
    name: String,
    arguments: String,
    result: u64,
    /// Whether the thread made it that does all but the work of several.
    is_of_main: bool,
}

/// The calls that concern entries of the tree, where lines of one are in two parts put together.
fn calls(lines: &[String]) -> Vec<Call> {
    let (mut all, mut unfinished) = (Vec::new(), BTreeMap::new());
    let main = lines[0].split_whitespace().next().unwrap();
    for line in lines {
        let Some((thread, call)) = line.split_once(char::is_whitespace) else { continue };
        let call = call.trim_start();
        let whole = match call.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>")) {
            Some((_, rest)) => unfinished.remove(thread).unwrap_or_default() + rest,
            None => call.to_string(),
        };
        if let Some(begun) = whole.strip_suffix("<unfinished ...>") {
            unfinished.insert(thread, begun.to_string());
            continue;
        }
        let Some((name, rest)) = whole.split_once('(') else { continue };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { continue };
        let result: String = result.chars().take_while(char::is_ascii_digit).collect();
        if let (true, Ok(result)) = (arguments.contains("/c0000000001"), result.parse()) {
            let (name, arguments) = (name.to_string(), arguments.to_string());
            all.push(Call { name, arguments, result, is_of_main: thread == main });
        }
    }
    all
}

/// What the measurements say of an operation, in all phases, works and steps: how many there were, and their bytes.
fn done(document: &Value, operation: &str) -> (u64, u64) {
    let all = document["measurements"].as_array().unwrap().iter();
    let number = |m: &Value, key: &str| m[key].as_u64().unwrap_or(0);
    all.filter(|m| m["operation"] == operation).fold((0, 0), |(operations, bytes), m| {
        (operations + number(m, "operations"), bytes + number(m, "bytes"))
    })
}

fn compare(scenario: &str, settings: &str) {
    let Some(mounted) = LoopMount::new("ext4", 512) else { return };
    let bench = Bench::default();
    let document = bench.beside("run.json");
    let place = ["--dir", mounted.path().to_str().unwrap(), "--json", document.to_str().unwrap()];
    let settings = settings.split_whitespace().chain("--repeats 1 --cache as-is".split(' '));
    let arguments: Vec<&str> = ["run", scenario].into_iter().chain(settings).chain(place).collect();
    let Some(lines) = traced(&bench, &["-y", "-e", CALLS], &arguments) else { return };
    let calls = calls(&lines);
    let document: Value = serde_json::from_slice(&std::fs::read(document).unwrap()).unwrap();
    let of = |name: &str, is_meant: &dyn Fn(&Call) -> bool| {
        let meant = calls.iter().filter(|call| call.name == name && is_meant(call));
        meant.fold((0, 0), |(count, sum), call| (count + 1, sum + call.result))
    };
    let has = |words: &'static str| move |call: &Call| call.arguments.contains(words);
    let is_file = |call: &Call| call.arguments.contains("/f0");
    let operations = |name: &str| done(&document, name).0;
    let bytes = |name: &str| done(&document, name).1;
    let mix = document["measurements"].as_array().unwrap().iter().find(|m| m["operation"] == "mix");
    let mix = mix.unwrap();
    assert_eq!(mix["valid"], true, "{mix}");
    let written = ["create", "append", "rewrite"];
    // All that was left is removed at the end.
    let removed = ["evictions", "entries_found"].map(|key| mix[key].as_u64().unwrap());
    for (what, found, said) in [
        ("files made", of("openat", &has("O_EXCL")).0, operations("create")),
        ("files opened to append", of("openat", &has("O_APPEND")).0, operations("append")),
        ("files synced", of("fsync", &is_file).0, operations("fsync")),
        ("directories synced", of("fsync", &|c| !is_file(c)).0, operations("fsync-directory")),
        ("renames", of("renameat", &|_| true).0, operations("rename")),
        (
            "removals",
            of("unlinkat", &|call| !call.arguments.contains("AT_REMOVEDIR")).0,
            operations("delete") + removed.iter().sum::<u64>(),
        ),
        ("bytes written", of("write", &is_file).1, written.map(bytes).iter().sum::<u64>()),
        ("bytes read", of("read", &is_file).1, bytes("read")),
        ("bytes listed", of("getdents64", &|call| !call.is_of_main).1, bytes("list")),
    ] {
        assert_eq!(found, said, "{scenario}: {what} by strace, and by the document");
    }
    assert!(mix["operations"].as_u64().unwrap() > 20, "{mix}");
}

#[test]
fn strace_counts_what_the_steps_of_maildir_say() {
    compare("maildir", "--set files=700 --set files_max=710 --set time=0.3s");
}

#[test]
fn strace_counts_what_the_steps_of_varmail_say() {
    compare("varmail", "--set files=60 --set files_max=100 --set time=0.3s");
}

#[test]
fn strace_counts_what_the_works_of_fileserver_and_webserver_say() {
    compare("fileserver", "--set files=60 --set files_max=70 --set time=0.3s");
    compare("webserver", "--set files=200 --set time=0.3s");
}

#[test]
fn strace_counts_what_the_works_of_postmark_say() {
    compare("postmark", "--set turns=2k");
}
