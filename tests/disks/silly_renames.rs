//! File systems on which a file that is deleted while it is open gets another name until it is closed, as on NFS: here FUSE, by
//! bindfs. Needs root.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use crate::command::{Bench, names_in};
use crate::common::{output, skip};

/// A bench whose directory shows another one through bindfs.
struct Bindfs {
    bench: Bench,
    shown: PathBuf,
}

impl Bindfs {
    /// None, with the reason spoken, where it cannot be had.
    fn new(what: &str) -> Option<Self> {
        let bench = Bench::default();
        let shown = bench.beside("shown");
        std::fs::create_dir(&shown).unwrap();
        if output("bindfs", &["--version"]).is_none() {
            skip(what, "bindfs is missing");
            return None;
        }
        let done = Command::new("bindfs").arg(&shown).arg(bench.work()).output().unwrap();
        if !done.status.success() {
            skip(what, &format!("bindfs: {}", String::from_utf8_lossy(&done.stderr).trim()));
            return None;
        }
        Some(Self { bench, shown })
    }
}

impl Drop for Bindfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.bench.work()).status();
    }
}

#[test]
fn a_run_on_a_file_system_that_renames_open_files_leaves_nothing() {
    let Some(place) = Bindfs::new("a run on bindfs") else { return };
    let ran = place.bench.small_run();
    assert_eq!(names_in(&place.shown), Vec::<String>::new(), "{}", ran.stderr);
    let filled = place.bench.run(["fill", ".", "--files", "50"]);
    assert_eq!(filled.code, Some(0), "{}", filled.stderr);
    let cleaned = place.bench.run(["clean", "--yes", "--ballast"]);
    assert_eq!((cleaned.code, cleaned.stderr.as_str()), (Some(0), ""));
    assert_eq!(names_in(&place.shown), Vec::<String>::new());
}

#[test]
fn a_killed_run_there_is_removed_by_clean() {
    let Some(place) = Bindfs::new("a killed run on bindfs") else { return };
    let running = place.bench.long_run(&place.bench.work());
    running.signal(Signal::KILL);
    running.ended();
    let cleaned = place.bench.run(["clean", "--yes"]);
    assert_eq!((cleaned.code, cleaned.stderr.as_str()), (Some(0), ""));
    assert_eq!(names_in(&place.shown), Vec::<String>::new());
}

#[test]
fn a_file_that_another_process_has_open_is_named_and_goes_with_clean_once_it_is_closed() {
    let Some(place) = Bindfs::new("a file of bindfs that another process has open") else { return };
    let running = place.bench.long_run(&place.bench.work());
    let file = File::open(running.run_directory().join("c0000000001/f0000000001")).unwrap();
    running.signal(Signal::INT);
    let ran = running.ended();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("(1 deleted file that another process still has open)"),
        "{}",
        ran.stderr
    );
    let refused = place.bench.run(["clean", "--yes"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("c0000000001/.fuse_hidden"), "{}", refused.stderr);
    drop(file);
    let cleaned = place.bench.run(["clean", "--yes"]);
    assert_eq!((cleaned.code, cleaned.stderr.as_str()), (Some(0), ""));
    assert_eq!(names_in(&place.shown), Vec::<String>::new());
}

#[test]
fn names_of_deleted_files_are_removed_in_a_marked_directory_and_nowhere_else() {
    let bench = Bench::default();
    let running = bench.long_run(&bench.work());
    let run_directory = running.run_directory().to_path_buf();
    running.signal(Signal::KILL);
    running.ended();
    let deleted = [".fuse_hidden0000000400000001", ".nfs00000000000a1b2c00000001"];
    let almost = [".fuse_hidden000000040000000", ".nfs00000000000a1b2c0000000X"];
    for name in deleted.iter().chain(&almost) {
        std::fs::write(run_directory.join("c0000000001").join(name), "").unwrap();
        std::fs::write(bench.work().join(name), "precious").unwrap();
    }
    let ran = bench.run(["clean", "--yes"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(names_in(&run_directory.join("c0000000001")), almost);
    assert_eq!(names_in(&bench.work()).len(), 5, "the files next to it stay");
}
