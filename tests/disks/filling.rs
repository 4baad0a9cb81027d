//! `fill`: the same files whatever the number of threads, nothing left of what failed, and runs that leave its files
//! unchanged.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::common;

use crate::command;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use command::{Bench, Ran, names_in, run_directories};
use common::LoopMount;

fn fill(bench: &Bench, more: &[&str]) -> PathBuf {
    let before = run_directories(&bench.work());
    let ran = bench.run([&["fill", "."], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr, "making files\n", "one line in a pipe");
    run_directories(&bench.work())
        .into_iter()
        .find(|run_directory| !before.contains(run_directory))
        .unwrap()
}

/// Every file of a ballast with its content.
fn tree(run_directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let root = run_directory.join("b0000000001");
    let holders = names_in(&root).into_iter();
    let files = holders.flat_map(|holder| {
        let directory = root.join(&holder);
        let read = |name: String| (format!("{holder}/{name}"), directory.join(name));
        names_in(&directory).into_iter().map(read).collect::<Vec<_>>()
    });
    files.map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

/// A run of `clutter` with as little as it takes.
fn clutter(bench: &Bench, levels: &str) -> Ran {
    let mut command = bench.command(["run", "clutter", "--cache", "as-is", "--repeats", "1"]);
    command.args(["--set", "bytes=24MiB", "--json", "-", "--set"]);
    Ran::of(command.arg(format!("files_present={levels}")))
}

#[test]
fn one_worker_and_four_make_the_same_files() {
    let bench = Bench::default();
    let one = tree(&fill(&bench, &["--files", "2_500", "--threads", "1"]));
    let four = tree(&fill(&bench, &["--files", "2_500", "--threads", "4"]));
    assert_eq!(one.len(), 2_500);
    assert!(one == four, "other files with four workers");
    let other = tree(&fill(&bench, &["--files", "2_500", "--seed", "7"]));
    assert!(one != other, "another seed has other files");
}

#[test]
fn when_a_file_cannot_be_written_it_stops_there_and_all_is_removed() {
    let bench = Bench::default();
    let mut shell = Command::new("sh");
    // Files of no more than 8 times 512 bytes: larger ones fail as they do without room.
    shell.args(["-c", "ulimit -f 8; exec \"$0\" fill . --files 2000"]);
    shell.arg(env!("CARGO_BIN_EXE_boatload")).current_dir(bench.work());
    let ran = Ran::of(&mut shell);
    let said = ran.refuses(1);
    assert!(
        said.contains("cannot create file ") && said.contains(" of the ballast in /"),
        "{said}"
    );
    assert!(said.contains("What was made is removed"), "{said}");
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn what_fill_made_stays_until_clean_is_told_of_it() {
    let bench = Bench::default();
    fill(&bench, &["--files", "1"]);
    let kept = bench.run(["clean", "--yes"]);
    assert!(kept.stderr.contains("stays: 1 file of `fill`"), "{}", kept.stderr);
    assert!(kept.stdout.contains("nothing else of boatload's"), "{}", kept.stdout);
    assert_eq!(run_directories(&bench.work()).len(), 1);
    let removed = bench.run(["clean", "--yes", "--ballast"]);
    assert_eq!((removed.code, removed.stderr.as_str()), (Some(0), ""));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_run_beside_the_files_of_fill_makes_its_own_and_leaves_them_as_they_were() {
    let bench = Bench::default();
    let run_directory = fill(&bench, &["--files", "300"]);
    let before = tree(&run_directory);
    let ran = clutter(&bench, "300,400");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(tree(&run_directory) == before, "the run changed what was there");
    assert_eq!(run_directories(&bench.work()), [run_directory]);
}

#[test]
fn fill_takes_one_number_of_files_and_no_share_of_the_space() {
    let bench = Bench::default();
    let share = bench.run(["fill", ".", "--files", "80%"]);
    assert!(share.refuses(2).contains("`boatload age --to PERCENT` fills"), "{}", share.stderr);
    let list = bench.run(["fill", ".", "--files", "1k,1M"]);
    assert!(list.refuses(2).contains("--files takes one value, not 1k,1M"), "{}", list.stderr);
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_file_system_is_aged_until_its_layout_score_and_what_was_reached_is_said() {
    let Some(mount) = LoopMount::new("ext4", 128) else { return };
    let bench = Bench::default();
    let directory = mount.path().to_str().unwrap();
    let aged = |more: &[&str]| {
        let ran = bench.run([&["age", directory, "--to", "60%", "--fill-real"], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let clean = ["clean", directory, "--ballast", "--yes"];
        assert_eq!(bench.run(clean).code, Some(0));
        ran.stdout
    };
    let said = aged(&["--layout-score", "1"]);
    assert!(said.contains(" after 0 rounds: 1 was reached"), "{said}");
    let said = aged(&["--layout-score", "0"]);
    assert!(said.contains(" after 20 rounds: 0 was not reached"), "{said}");
    let score = |said: &str| -> f64 {
        let (_, behind) = said.split_once("layout score ").unwrap();
        let number = behind.split(|c: char| c != '.' && !c.is_ascii_digit()).next();
        number.and_then(|number| number.parse().ok()).unwrap()
    };
    let (broken_up, whole) = (score(&said), score(&aged(&[])));
    assert!(broken_up < whole, "{broken_up} in pieces, {whole} without");
}
