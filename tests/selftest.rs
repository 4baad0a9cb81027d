//! `boatload selftest` and the slowdown it plants.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

mod common;

#[path = "common/command.rs"]
mod command;

use std::sync::{Mutex, MutexGuard, PoisonError};

use command::{Bench, Ran, names_in};

/// Without syncs, which take as long as the disk of the machine likes.
const JOB: &str = "name = 'small'\n[tree]\nfiles = 300\n[[phase]]\noperation = 'create'\n\
                   [[phase]]\noperation = 'stat'\n[[phase]]\noperation = 'delete'\n";

/// Held by what plants noise, and by what looks at real times.
static DISK: Mutex<()> = Mutex::new(());

fn alone_on_the_disk() -> MutexGuard<'static, ()> {
    DISK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn selftest(bench: &Bench, more: &[&str]) -> Ran {
    let job = bench.write("small.toml", JOB);
    Ran::of(bench.command(["selftest"]).arg(job).args(more).arg("--dir").arg(bench.work()))
}

/// The columns of the line that begins with a name.
fn columns<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("no line for {name} in {text}"))[name.len()..]
        .split_whitespace()
        .collect()
}

#[test]
fn a_slowdown_to_eleven_times_is_planted_in_every_phase_and_found() {
    let _alone = alone_on_the_disk();
    let bench = Bench::default();
    let more = ["--same", "0", "--slower", "1", "--delay", "1000%"];
    let found = |_| {
        let ran = selftest(&bench, &more);
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
        assert!(
            ran.stdout
                .starts_with("A against B: 1 run, A and B in turns; B takes 11.0 times as long\n")
        );
        let phases = ["the whole job", "create", "stat", "delete"];
        phases.iter().all(|phase| columns(&ran.stdout, phase)[0] == "100%")
    };
    // Real times: what else the machine does may hide even this, but not each time.
    assert!((0..4).any(found), "not found in any of four attempts");
    assert_eq!(names_in(&bench.work()), [""; 0], "nothing is left");
    assert!(!bench.store().exists(), "nothing is stored");
}

#[test]
fn pairs_that_do_the_same_are_counted_by_phase_and_the_whole_job_stands_first() {
    let bench = Bench::default();
    let ran = selftest(&bench, &["--same", "2", "--slower", "0"]);
    // What is claimed of real runs is the machine's affair, and the exit code with it.
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("A against A: 2 pairs of runs that do the same\n"));
    assert!(ran.stdout.contains(" of 2 pairs: "), "{}", ran.stdout);
    let at = |name: &str| ran.stdout.find(&format!("\n{name} ")).unwrap();
    assert!(at("the whole job") < at("create"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("A against B"), "{}", ran.stdout);
}

#[test]
fn a_delay_that_is_no_percentage_is_refused_and_so_is_one_where_nothing_can_be_slowed_down() {
    let bench = Bench::default();
    for delay in ["10", "0%", "2000%", "soon"] {
        let ran = selftest(&bench, &["--delay", delay]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        let hint = "write it in percent, from 0.1% to 1000%";
        assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    }
    let job = "name = \"x\"\nengine = \"sim\"\ndelay = \"10%\"\n[tree]\nfiles = 10\n\
               [[phase]]\noperation = \"create\"\n";
    let job = bench.write("slow.toml", job);
    let ran = Ran::of(bench.command(["plan"]).arg(job));
    assert!(ran.refuses(2).contains("line 3: delay: found a delay"), "{}", ran.stderr);
}

/// Levels and windows on the simulated file system, for all kinds of finding but one.
const SIM: &str = "name = 'levels'\nengine = 'sim'\nrepeats = 3\n\
                   conclude = ['levels', 'growth']\n\
                   [axis]\nname = 'size'\nvalues = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000]\n\
                   [tree]\nfiles = '$size'\n[[phase]]\noperation = 'create'\nwindows = 40\n\
                   [[phase]]\noperation = 'stat'\n[sim]\nmetadata = '20us'\nnoise = 'skewed'\n";

#[test]
fn each_kind_of_finding_is_tried_on_twins_and_nothing_is_left() {
    let _alone = alone_on_the_disk();
    let bench = Bench::default();
    let job = bench.write("levels.toml", SIM);
    let mut command = bench.command(["selftest", "--runs", "3", "--dir"]);
    let ran = Ran::of(command.arg(bench.work()).arg("--scenario").arg(job));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let head = "Twins: 3 runs of levels, with each variant twice under two names\n";
    assert!(ran.stdout.starts_with(head), "{}", ran.stdout);
    for kind in ["ranking", "levels", "growth"] {
        let columns = columns(&ran.stdout, &format!("{kind} "));
        assert_eq!(columns[3..5], ["of", "3"], "{kind}: {}", ran.stdout);
    }
    assert_eq!(names_in(&bench.work()), [""; 0], "nothing is left");
    assert!(!bench.store().exists(), "nothing is stored");
}

#[test]
fn twins_are_not_slowed_down_and_take_no_other_trials() {
    let bench = Bench::default();
    let job = bench.write("levels.toml", SIM);
    let with = |more: &[&str]| {
        let mut command = bench.command(["selftest", "--scenario"]);
        Ran::of(command.arg(&job).args(more).arg("--dir").arg(bench.work()))
    };
    for other in [&["--same", "3"][..], &["--delay", "20%"], &["smallfiles"]] {
        let ran = with(other);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    }
}
