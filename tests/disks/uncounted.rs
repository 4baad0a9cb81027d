//! Runs on a device whose requests the kernel does not count: nothing is said that rests on its counters.
//! Needs root.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::command::Bench;
use crate::common::{LoopMount, skip};

use std::path::PathBuf;

use serde_json::Value;

/// Files that are read cold, written and deleted.
const JOB: &str = "name = \"uncounted\"\nquestion = \"?\"\nconclude = [\"source\"]\ncache = \"cold\"\n\
    durability = \"syncfs\"\nrepeats = 2\n[tree]\nfiles = 300\nsize = \"8KiB\"\n\
    [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"read\"\ndurability = \"none\"\n\
    [[phase]]\noperation = \"delete\"\n";

/// What a measurement has of the device.
const OF_DEVICE: [&str; 6] = [
    "device_read_bytes", "device_write_bytes", "device_reads", "device_writes",
    "device_busy_seconds", "device_queue_seconds",
];

/// A device that is set not to count until this is dropped.
struct Uncounted(PathBuf);

impl Uncounted {
    fn new(device: &str) -> Self {
        let name = device.strip_prefix("/dev/").unwrap();
        let setting = PathBuf::from(format!("/sys/block/{name}/queue/iostats"));
        std::fs::write(&setting, "0").unwrap();
        Self(setting)
    }
}

impl Drop for Uncounted {
    fn drop(&mut self) {
        let _ = std::fs::write(&self.0, "1");
    }
}

fn document(bench: &Bench, mounted: &LoopMount) -> Value {
    let job = bench.write("job.toml", JOB);
    bench.document([PathBuf::from("run"), job, "--dir".into(), mounted.path().into()])
}

fn measurements(document: &Value) -> &[Value] {
    let all = document["measurements"].as_array().unwrap();
    assert_eq!(all.len(), 6, "{document}");
    assert!(all.iter().all(|m| m["valid"] == true), "{document}");
    all
}

fn findings<'a>(document: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = document["findings"].as_array().unwrap().iter();
    all.filter(|finding| finding["kind"] == kind).collect()
}

fn warns(document: &Value) -> bool {
    findings(document, "warning").iter().any(|one| one["reason"] == "no-device")
}

#[test]
fn nothing_is_claimed_by_the_counters_of_a_device_that_counts_nothing() {
    let Some(mounted) = LoopMount::new("ext4", 64) else { return };
    if !mounted.switch_direct_io(true) {
        return skip("a device that counts nothing", "no loop device around the page cache");
    }
    let bench = Bench::default();
    let uncounted = Uncounted::new(&mounted.device());
    let found = document(&bench, &mounted);
    for m in measurements(&found) {
        for key in OF_DEVICE {
            assert_eq!(m[key], Value::Null, "{key} of {m}");
        }
        assert_ne!(m["idle"], true, "a device that counts nothing always looks idle: {m}");
        assert_eq!(m["cache"]["asked"], "cold", "{m}");
        assert_eq!(m["cache"]["found"], "unverified", "{m}");
        assert_eq!(m["cache"]["reason"], "no-device", "{m}");
    }
    let sources = findings(&found, "source");
    assert!(!sources.is_empty(), "{found}");
    for source in sources {
        let about = (&source["from"], &source["device_share"]);
        assert_eq!(about, (&"unknown".into(), &Value::Null), "{source}");
    }
    for kind in ["destination", "lower-cache"] {
        assert_eq!(findings(&found, kind), Vec::<&Value>::new());
    }
    assert!(warns(&found), "{found}");

    drop(uncounted);
    let counted = document(&bench, &mounted);
    for m in measurements(&counted) {
        assert!(m["device_read_bytes"].is_u64() && m["device_write_bytes"].is_u64(), "{m}");
        assert_ne!(m["cache"]["reason"], "no-device", "{m}");
    }
    assert!(!warns(&counted), "{counted}");
    let sources = findings(&counted, "source");
    assert!(!sources.is_empty() && sources.iter().all(|one| one["from"] != "unknown"), "{counted}");
}
