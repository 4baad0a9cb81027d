//! `smallfiles` on file systems that few kernels still have, and over NFS: Debian's kernel has them, and
//! `tests/vm/boot` boots it in a virtual machine with this boatload inside. How fast the machine is
//! says nothing, so only what was done and what is claimed of it is held against the truth.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use common::skip;

const KINDS: [&str; 4] = ["reiserfs", "jfs", "f2fs", "nilfs2"];
const FILES: u64 = 500;
const SELECTED: u64 = 200;
const NFS: &str = "nfs";
const FILES_OVER_NFS: u64 = 200;
const REPEATS: usize = 3;

/// The phases, with the operations of each, the entries after it, and whether it writes content.
const PHASES: [(&str, u64, u64, bool); 8] = [
    ("create", FILES, FILES, true),
    ("rewrite", SELECTED, FILES, true),
    ("read-sequential", SELECTED, FILES, false),
    ("read-random", SELECTED, FILES, false),
    ("delete", FILES, 0, false),
    ("create-typical", SELECTED, SELECTED, true),
    ("read-typical", SELECTED, SELECTED, false),
    ("delete-typical", SELECTED, 0, false),
];

#[test]
fn in_a_virtual_machine_reiserfs_jfs_f2fs_and_nilfs2_are_measured_whole() {
    let machine = Machine::run("run", &KINDS, FILES);
    let left_out = |kind| machine.left_out.get(kind);
    for kind in KINDS {
        if let Some(why) = left_out(kind) {
            skip(&format!("smallfiles on {kind} in a virtual machine"), why);
        }
    }
    let kinds: Vec<_> = KINDS.into_iter().filter(|kind| left_out(kind).is_none()).collect();
    if !kinds.is_empty() {
        let document = machine.document();
        assert_eq!(document["run"]["complete"], true, "{}", document["run"]);
        let made = document["filesystems"].as_array().unwrap();
        let types: Vec<_> = made.iter().map(|made| made["type"].as_str().unwrap()).collect();
        assert_eq!(types, kinds, "{made:?}");
        made.iter().zip(kinds).for_each(|(made, kind)| hold(kind, &made["variant"], &document));
    }
}

#[test]
fn in_a_virtual_machine_a_run_over_nfs_is_whole_and_clean_removes_what_a_killed_one_left() {
    let machine = Machine::run("nfs", &[NFS], FILES_OVER_NFS);
    if let Some(why) = machine.left_out.get(NFS) {
        return skip("smallfiles over NFS in a virtual machine", why);
    }
    let (document, said) = (machine.document(), machine.text("said"));
    assert_eq!(document["run"]["complete"], true, "{}", document["run"]);
    assert_eq!(document["host"]["filesystem"]["type"], "nfs4", "{}", document["host"]);
    for m in document["measurements"].as_array().unwrap() {
        assert_eq!((&m["valid"], &m["errors"]), (&true.into(), &empty()), "{m}");
        assert_eq!(m["operations"], m["operations_asked"], "{m}");
        assert!(m["phase"] != "create" || m["entries_found"] == FILES_OVER_NFS, "{m}");
        // No device is seen from here: the caches were dropped, and nothing can prove that a read came from one.
        let of_caches = (&m["cache"]["asked"], &m["cache"]["found"], &m["cache"]["reason"]);
        let expected = (&"cold".into(), &"unverified".into(), &"no-device".into());
        assert_eq!(of_caches, expected, "{m}");
    }
    assert_eq!(document["measurements"].as_array().map(Vec::len), Some(PHASES.len()));
    assert!(said.contains("run: exit code 0\n"), "{said}");
    assert_eq!(machine.text("after-run"), ".\n", "{said}");
    let killed = machine.text("killed");
    assert!(
        killed.contains("/.nfs"),
        "the file that was removed while it is open: {killed}\n{said}"
    );
    let open: Vec<_> = killed.lines().filter(|line| line.contains("/.nfs")).collect();
    let left = machine.text("cleaned-1");
    assert!(left.contains("/.nfs"), "what is open stays: {left}\n{said}");
    let is_needed =
        |line: &str| open.iter().any(|open| open.starts_with(line)) || line.ends_with("/.boatload");
    assert!(left.lines().all(is_needed), "more than what is open stayed: {left}\n{said}");
    assert_eq!(machine.text("cleaned-2"), ".\n", "{said}");
    assert!(said.contains("clean with nothing open: exit code 0\n"), "{said}");
}

/// The measurements on one file system are those that were asked for, and their claims stand.
fn hold(kind: &str, variant: &Value, document: &Value) {
    let all = document["measurements"].as_array().unwrap();
    let measurements: Vec<_> = all.iter().filter(|m| m["variant"] == *variant).collect();
    for (phase, operations, entries, writes) in PHASES {
        let of_phase = measurements.iter().filter(|m| m["phase"] == phase);
        assert_eq!(of_phase.clone().count(), REPEATS, "{kind} {phase}");
        for m in of_phase {
            assert_eq!((&m["valid"], &m["errors"]), (&true.into(), &empty()), "{kind}: {m}");
            assert_eq!(m["operations_asked"], operations, "{kind}: {m}");
            assert_eq!(m["operations"], operations, "{kind}: {m}");
            assert_eq!(m["entries_found"], entries, "{kind}: {m}");
            assert!(m["operations_per_second"].as_f64().unwrap() > 0.0, "{kind}: {m}");
            hold_bytes(kind, m, writes);
        }
    }
    let with_settle = PHASES.len() + 1;
    assert_eq!(measurements.len(), with_settle * REPEATS, "{kind}: other phases");
}

fn empty() -> Value {
    Value::Object(serde_json::Map::new())
}

/// All that was written came to the device, and what is called cold came from it.
fn hold_bytes(kind: &str, m: &Value, writes: bool) {
    let number = |key: &str| m[key].as_u64().unwrap_or_else(|| panic!("{kind}: no {key} in {m}"));
    let (bytes, read) = (number("bytes"), number("device_read_bytes"));
    let reads = m["operation"] == "read";
    assert_eq!(bytes > 0, writes || reads, "{kind}: {m}");
    assert!(!writes || number("device_write_bytes") >= bytes, "{kind}: {m}");
    assert_eq!(m["cache"]["asked"], "cold", "{kind}: {m}");
    match m["cache"]["found"].as_str().unwrap() {
        "cold-verified" => assert!(!reads || read >= bytes, "{kind}: {m}"),
        "unverified" => assert!(m["cache"]["reason"].is_string(), "{kind}: {m}"),
        _ => panic!("{kind}: nothing was asked to be warm: {m}"),
    }
}

/// What came back from the virtual machine.
struct Machine {
    directory: PathBuf,
    left_out: BTreeMap<String, String>,
}

impl Machine {
    /// Boots, measures all kinds in a directory of this name, and waits for the end. The machine ends with this thread.
    fn run(name: &str, kinds: &[&str], files: u64) -> Self {
        let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vm");
        let directory = own.join(name);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vm/boot");
        let done = Command::new("setpriv")
            .args(["--pdeathsig", "TERM"])
            .arg(script)
            .arg(env!("CARGO_BIN_EXE_boatload"))
            .args([&own.join("cache"), &directory])
            .args(kinds)
            .env("FILES", files.to_string())
            .env("SELECTED", SELECTED.to_string())
            .stdin(Stdio::null())
            .output()
            .expect("setpriv of util-linux");
        let mut machine = Self { directory, left_out: BTreeMap::new() };
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{}: {said}\n{}", done.status, machine.text("console"));
        machine.left_out = machine.text("left-out").lines().map(in_two).collect();
        machine
    }

    /// The run document.
    fn document(&self) -> Value {
        serde_json::from_str(&self.text("run.json")).unwrap_or_else(|error| {
            panic!("run.json: {error}\n{}\n{}", self.text("said"), self.text("console"))
        })
    }

    /// A file that the machine or the script left; empty if there is none.
    fn text(&self, name: &str) -> String {
        let bytes = std::fs::read(self.directory.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// `KIND: why`
fn in_two(line: &str) -> (String, String) {
    let (kind, why) = line.split_once(": ").unwrap_or_else(|| panic!("no kind in {line:?}"));
    (kind.into(), why.into())
}
