use std::path::Path;

use super::*;
use crate::text::width;
use boatload_analysis::audit::{CHECKS, audit};
use boatload_results::tools::read_tool_result;

fn path(name: &str) -> std::path::PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(name)
}

/// The kept results, each audited by itself.
fn audits() -> Vec<Audit> {
    let mut files: Vec<_> = std::fs::read_dir(path("tests/audit")).unwrap().flatten().collect();
    files.retain(|file| file.file_name() != "README.md");
    files.sort_by_key(std::fs::DirEntry::file_name);
    let of_file = |file: std::fs::DirEntry| {
        let result = read_tool_result(&std::fs::read(file.path()).unwrap()).unwrap();
        let name = file.file_name().into_string().unwrap();
        audit(vec![(name, result)], &AuditBounds::default()).remove(0)
    };
    files.into_iter().map(of_file).collect()
}

fn written(audits: &[Audit]) -> String {
    let mut out = Vec::new();
    write_audits(audits, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_verdict_comes_first_then_the_figures_then_the_reasons_and_the_command() {
    let all = audits();
    let nosync = all.iter().find(|audit| audit.file == "dd-nosync.txt").unwrap();
    let text = "\
dd-nosync.txt (dd)
  The figure may be the speed of memory: nothing shows that it is the device's.

figure    work    MB/s    bytes   time
dd of=dz  write  1,240  512 MiB  435ms

* the time ends before the data is on the device (no conv=fdatasync, conv=fsync
  or oflag=direct) [possible, not-synced]
* only zeros were written: a file system or a device that compresses stores
  nothing [possible, zeros]
* it took 435 ms: start and end weigh too much [imprecise, too-short]
* a mean of one run, without percentile or deviation [imprecise, no-spread]

Measure it: boatload run sequential --repeats 5 --set bytes=512MiB --set block=1MiB --dir DIR
";
    assert_eq!(written(std::slice::from_ref(nosync)), text);
}

#[test]
fn every_screen_fits_but_for_commands_that_are_to_be_copied() {
    for audit in audits() {
        let text = written(std::slice::from_ref(&audit));
        for line in text.lines().filter(|line| !line.contains("boatload run")) {
            assert!(width(line) <= super::super::text::WIDTH, "{}: {line}", audit.file);
        }
    }
}

#[test]
fn the_checks_and_the_keys_of_the_document_are_explained_and_its_schema_is_published() {
    let about = std::fs::read_to_string(path("docs/AUDIT.md")).unwrap();
    for check in CHECKS {
        let row = format!("| `{}` | {} |", check.name, check.about);
        assert!(about.contains(&row), "docs/AUDIT.md lacks\n{row}");
    }
    let schema = schemars::schema_for!(AuditDocument<'_>);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("BOATLOAD_BLESS").is_some() {
        std::fs::write(path("docs/audit.schema.json"), &text).unwrap();
    }
    let kept = std::fs::read_to_string(path("docs/audit.schema.json")).unwrap_or_default();
    assert!(text == kept, "docs/audit.schema.json differs; BOATLOAD_BLESS=1 writes it anew");
    let mut document = Vec::new();
    write_audits_json(&audits(), &AuditBounds::default(), &mut document).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
    let entry = &document["audits"][0];
    for part in [&document, entry, &entry["findings"][0], &document["bounds"], &entry["result"]] {
        for key in part.as_object().unwrap().keys() {
            assert!(about.contains(&format!("`{key}`")), "{key} is missing in docs/AUDIT.md");
        }
    }
}
