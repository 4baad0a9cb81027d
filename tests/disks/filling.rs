//! `fill`: the same files whatever the number of threads, nothing left of what failed, and runs that
//! continue from what is there and leave it unchanged.
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
use std::process::{Command, Stdio};
use std::time::Duration;

use command::{Bench, Ran, names_in, run_directories};
use common::{LoopMount, skip};

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
fn a_run_goes_on_from_what_is_there_and_leaves_it_as_it_was() {
    let bench = Bench::default();
    let run_directory = fill(&bench, &["--files", "300"]);
    let before = tree(&run_directory);
    let ran = clutter(&bench, "300,400");
    assert!(ran.stderr.contains("continuing from 300 files of `fill`"), "{}", ran.stderr);
    let all = ran.json()["conditions"].as_array().unwrap().clone();
    let found = all.iter().filter(|condition| condition["name"] == "files-found");
    assert!(found.clone().count() > 0 && found.clone().all(|c| c["value"] == 300.0), "{all:?}");
    assert!(tree(&run_directory) == before, "the run changed what was there");
    assert_eq!(run_directories(&bench.work()), [run_directory]);
}

#[test]
fn a_killed_run_is_not_resumed_beside_files_that_it_added_to_those_of_fill() {
    let bench = Bench::default();
    let run_directory = fill(&bench, &["--files", "300"]);
    let mut command = bench.command(["run", "clutter", "--cache", "as-is", "--repeats", "500"]);
    command.args(["--set", "bytes=24MiB", "--set", "files_present=300,400"]);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // More than the two phases of the first cell.
    let has_measured = || {
        let shown = bench.run(["show", "last", "--json", "-"]);
        shown.code == Some(0) && shown.json()["measurements"].as_array().unwrap().len() > 2
    };
    while !has_measured() {
        assert!(running.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    // What it leaves depends on the moment.
    let holder = names_in(&run_directory.join("b0000000001")).remove(0);
    let added = run_directory.join("b0000000001").join(holder).join("f0000000399");
    std::fs::write(added, "").unwrap();
    let resumed = bench.run(["resume", "last"]);
    assert_eq!(resumed.code, Some(1), "{}", resumed.stderr);
    assert!(
        resumed.stderr.contains("remove them with `boatload clean --ballast`"),
        "{}",
        resumed.stderr
    );
}

#[test]
fn root_does_not_go_on_from_what_another_user_may_change_meanwhile() {
    let bench = Bench::default();
    let run_directory = fill(&bench, &["--files", "300"]);
    if let Err(error) = std::os::unix::fs::chown(&run_directory, Some(65_534), None) {
        return skip("a ballast of another user", &error.to_string());
    }
    let ran = clutter(&bench, "300,400");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("continuing from"), "{}", ran.stderr);
    assert_eq!(tree(&run_directory).len(), 300);
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
fn a_level_below_what_is_there_names_the_way_out() {
    let bench = Bench::default();
    fill(&bench, &["--files", "300"]);
    let ran = clutter(&bench, "100,400");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for words in ["300 files of `fill`", "the first level is 100", "clean --ballast"] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert_eq!(run_directories(&bench.work()).len(), 1, "the run's own directory is gone");
}

#[test]
fn what_lacks_a_file_or_has_a_foreign_one_or_another_seed_is_left_alone() {
    let missing = |run_directory: &Path| {
        std::fs::remove_file(run_directory.join("b0000000001/h0000000000/f0000000007")).unwrap();
    };
    let foreign = |run_directory: &Path| {
        std::fs::write(run_directory.join("b0000000001/h0000000000/mine"), "x").unwrap();
    };
    let nothing = |_: &Path| ();
    type Harm<'a> = &'a dyn Fn(&Path);
    let cases: [(Harm<'_>, &str, &str); 3] = [
        (&missing, "1", "it lacks 1 file"),
        (&foreign, "1", "there is a mine in it"),
        (&nothing, "7", "another seed"),
    ];
    for (harm, seed, why) in cases {
        let bench = Bench::default();
        let run_directory = fill(&bench, &["--files", "300", "--seed", seed]);
        harm(&run_directory);
        let before = tree(&run_directory);
        let ran = clutter(&bench, "300,400");
        assert!(ran.stderr.contains(why), "{why}: {}", ran.stderr);
        assert!(!ran.stderr.contains("continuing from"), "{}", ran.stderr);
        assert!(tree(&run_directory) == before, "{why}: it was changed");
    }
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
    assert!(said.contains(" after 0 rounds: at most 1, as asked"), "{said}");
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
