//! What else happens on the machine while a run measures is seen, and told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use common::skip;

const BOATLOAD: &str = env!("CARGO_BIN_EXE_boatload");

/// One test at a time uses the disk.
static DISK: Mutex<()> = Mutex::new(());

/// A phase that writes enough for other processes' writes to be significant.
const JOB: &str = r#"
name = "disturbed"
question = "Who else was there?"

[[variant]]
name = "default"
tree = { files = 16, directories = 1, size = "4MiB" }

[[phase]]
operation = "create"
durability = "fsync"
cache = "as-is"
"#;

/// What a run below a directory tells as JSON.
fn document(directory: &Path) -> serde_json::Value {
    let job = directory.join("job.toml");
    std::fs::write(&job, JOB).unwrap();
    let mut run = Command::new(BOATLOAD);
    run.arg("run").arg(&job).args(["--repeats", "1", "--json", "-", "--dir"]).arg(directory);
    let ran = run.arg("--store").arg(directory.join("s.db")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn codes(document: &serde_json::Value) -> Vec<String> {
    let findings = document["findings"].as_array().unwrap();
    findings.iter().filter_map(|f| f["code"].as_str()).map(str::to_string).collect()
}

/// Others' bytes in the only measurement, read and written.
fn others(document: &serde_json::Value) -> Option<u64> {
    let seen = &document["measurements"][0]["disturbance"];
    Some(seen["others_read_bytes"].as_u64()? + seen["others_write_bytes"].as_u64()?)
}

/// A process that writes to a file around the page cache until it is dropped.
struct Writer(Child);

impl Writer {
    fn new(file: &Path) -> Self {
        let mut dd = Command::new("sh");
        // In one file of 64 MiB, over and over.
        let again = "while :; do dd if=/dev/urandom of=\"$0\" bs=1M count=64 oflag=direct \
                     conv=notrunc 2>/dev/null || exit; done";
        dd.args(["-c", again]).arg(file).stdin(Stdio::null());
        let child = dd.spawn().unwrap();
        // It has begun when there is something.
        while std::fs::metadata(file).map_or(0, |data| data.len()) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Self(child)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A directory on a disk whose traffic is counted and that takes direct I/O.
fn on_a_disk() -> Option<tempfile::TempDir> {
    let what = "others on the disk";
    if !rustix::process::geteuid().is_root() {
        skip(what, "needs root to see other processes' I/O");
        return None;
    }
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let probe = directory.path().join("probe");
    let mut dd = Command::new("dd");
    dd.args(["if=/dev/zero", "bs=1M", "count=1", "oflag=direct"]);
    let direct = dd.arg(format!("of={}", probe.display())).stderr(Stdio::null()).status();
    if !direct.is_ok_and(|status| status.success()) {
        skip(what, "no direct I/O there");
        return None;
    }
    Some(directory)
}

#[test]
fn a_run_beside_another_writer_says_so() {
    let _alone = DISK.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(directory) = on_a_disk() else { return };
    let writer = Writer::new(&directory.path().join("other"));
    let beside = document(directory.path());
    drop(writer);
    if beside["measurements"][0]["device_write_bytes"].is_null() {
        return skip("others on the disk", "no device is known below");
    }
    assert!(codes(&beside).contains(&"others-io".into()), "{beside:#}");
}

#[test]
fn a_run_that_is_alone_on_the_disk_is_told_nothing_of_others() {
    let _alone = DISK.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(directory) = on_a_disk() else { return };
    // The machine may be busy with something else: then boatload has to say so, and the test is done
    // again until it is not.
    for _ in 0..20 {
        let alone = document(directory.path());
        let Some(bytes) = others(&alone) else {
            return skip("others on the disk", "other processes cannot be seen");
        };
        let told = codes(&alone).contains(&"others-io".into());
        let device = alone["measurements"][0]["device_write_bytes"].as_u64().unwrap_or_default();
        assert!(bytes * 20 > device || !told, "{alone:#}");
        if bytes < 1 << 20 {
            return assert!(!told, "{alone:#}");
        }
    }
    skip("alone on the disk", "others used it all the time");
}

#[test]
fn the_simulated_file_system_is_disturbed_by_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let job = directory.path().join("sim.toml");
    let sim = JOB.replace("name = \"default\"", "name = \"default\"\nengine = \"sim\"");
    let sim = sim + "\n[sim]\nmetadata = \"10us\"\ntransfer = \"20us\"\n";
    std::fs::write(&job, sim).unwrap();
    let mut run = Command::new(BOATLOAD);
    run.arg("run").arg(&job).args(["--engine", "sim", "--json", "-", "--dir"]);
    let ran = run.arg(directory.path()).arg("--store").arg(directory.path().join("s.db")).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let document: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(document["measurements"][0]["disturbance"].is_null());
}
