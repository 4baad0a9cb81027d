//! What goes wrong on the command line: one clear sentence, the right exit code, and no trace.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::common;

use crate::command;
use crate::mounts::Mounted;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use command::{Bench, Ran, SMALL, names_in};
use common::skip;

/// A job of one phase on the simulated file system, with its truth.
fn simulated(sim: &str) -> String {
    format!(
        "name = \"sim\"\nquestion = \"?\"\nrepeats = 1\nengine = \"sim\"\n[tree]\nfiles = 200\nsize = 100\n\
         [sim]\n{sim}\n[[phase]]\noperation = \"create\"\n"
    )
}

#[test]
fn a_scenario_that_is_not_there_names_the_nearest() {
    let bench = Bench::default();
    for arguments in [["run", "smalfiles"], ["plan", "smallfile"]] {
        let ran = bench.run(arguments);
        assert!(ran.refuses(2).contains("Did you mean smallfiles?"), "{}", ran.stderr);
    }
    let ran = bench.run(["scenarios", "show", "smallfiels"]);
    assert!(ran.refuses(2).contains("Did you mean smallfiles?"), "{}", ran.stderr);
    let ran = bench.run(["run", "zzzzzz"]);
    assert!(ran.refuses(2).contains("boatload scenarios"), "{}", ran.stderr);
}

#[test]
fn a_good_run_exits_with_0_and_one_with_invalid_measurements_with_4() {
    let bench = Bench::default();
    let good = bench.write("good.toml", simulated("metadata = \"1us\""));
    let full = bench.write("full.toml", simulated("metadata = \"1us\"\ncapacity = \"10kB\""));
    assert_eq!(bench.run([OsStr::new("run"), good.as_os_str()]).code, Some(0));
    let ran = bench.run([OsStr::new("run"), full.as_os_str()]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stdout.contains("create is missing: ENOSPC"), "the reason is told: {}", ran.stdout);
    let shown = bench.run(["show", "last"]);
    assert_eq!(
        (shown.code, shown.stdout),
        (Some(4), ran.stdout),
        "the same when it is shown again"
    );
    assert!(bench.run(["runs"]).stdout.contains("1 invalid"));
}

#[test]
fn a_run_that_is_not_stored_cannot_be_shown() {
    let bench = Bench::default();
    bench.run(["show", "last"]).refuses(1);
    bench.small_run();
    let ran = bench.run(["show", "zzz"]);
    assert!(ran.refuses(2).contains("zzz"), "{}", ran.stderr);
    bench.run(["show", ""]).refuses(2);
}

#[test]
fn a_job_file_that_is_too_large_is_refused_and_not_cut() {
    let bench = Bench::default();
    let job = "name = 'x'\n[tree]\nfiles = 1\n[[phase]]\noperation = 'create'\n".to_string();
    bench.write("large.toml", job + &"# a long comment\n".repeat(70_000));
    let path = bench.beside("large.toml");
    let ran = bench.run(["plan", path.to_str().unwrap()]);
    assert!(ran.refuses(2).contains("it is larger than 1.00 MiB"), "{}", ran.stderr);
}

#[test]
fn words_that_no_option_takes_are_wrong_usage() {
    let bench = Bench::default();
    let wrong: [&[&str]; 9] = [
        &["rum"],
        &["run", "--scale", "huge"],
        &["run", "--engine", "warp"],
        &["run", "--cache", "lukewarm"],
        &["run", "--threads", "many"],
        &["run", "--seed", "-1"],
        &["run", "--set", "files"],
        &["run", "--repeats", "1", "--repeats", "2"],
        &["show"],
    ];
    for arguments in wrong {
        let ran = bench.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("error:"), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn settings_out_of_their_range_are_told_all_at_once() {
    let bench = Bench::default();
    let ran = bench.run([
        "run", "--repeats", "0", "--threads", "5000", "--set", "files=1e400", "--set", "file=5",
    ]);
    let said = ran.refuses(2);
    for word in ["--repeats", "--threads", "--set files", "--set file:", "5000"] {
        assert!(said.contains(word), "no {word} in {said}");
    }
    assert!(said.lines().count() == 5, "a line for each problem: {said}");
}

#[test]
fn numbers_beyond_all_measure_are_refused_and_not_wrapped() {
    let bench = Bench::default();
    for value in [
        "files=99999999999999999999999999",
        "files=18446744073709551616",
        "files=1e308",
        "size_max=9007199254740993",
        "size_min=2GiB",
        "files=NaN",
        "files=inf",
        "files=0.5",
        "files=\u{fe}",
        "files=",
        "files= ",
        "files=1,2",
    ] {
        let ran = bench.run(["run", "--set", value]);
        assert!(ran.refuses(2).lines().count() <= 8, "{value}: {}", ran.stderr);
    }
    let ran = bench.run(["plan", "--set", "files=1G", "--set", "size_max=1TiB"]);
    assert!(ran.code == Some(1) || ran.code == Some(2), "it cannot fit: {}", ran.stderr);
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_directory_that_is_missing_or_a_file_is_named_with_what_to_do() {
    let bench = Bench::default();
    let file = bench.write("a file", "x");
    for (directory, word) in
        [(bench.beside("missing"), "make it first: `mkdir -p "), (file, "Name a directory")]
    {
        for command in ["run", "plan", "clean", "inspect"] {
            let mut built = bench.command([command]);
            if matches!(command, "run" | "plan") {
                built.arg("--dir");
            }
            let ran = Ran::of(built.arg(&directory));
            let said = ran.refuses(1);
            assert!(said.contains(directory.to_str().unwrap()), "{command}: {said}");
            assert!(said.contains(word), "{command} does not say what to do: {said}");
        }
    }
}

#[test]
fn a_directory_of_any_name_can_be_run_in() {
    let bench = Bench::default();
    for name in [&b"with spaces"[..], b"new\nline", b"raw \xff\xfe bytes", b"-dash", b"quote'\"$x"]
    {
        let directory = bench.work().join(OsStr::from_bytes(name));
        std::fs::create_dir(&directory).unwrap();
        let ran = Ran::of(bench.command(SMALL).arg("--dir").arg(&directory));
        assert_eq!(ran.code, Some(0), "{directory:?}: {}", ran.stderr);
        assert_eq!(names_in(&directory), Vec::<String>::new(), "{directory:?}");
        let plan = Ran::of(bench.command(["plan", "--dir"]).arg(&directory));
        assert_eq!(plan.code, Some(0), "{directory:?}: {}", plan.stderr);
        let clean = Ran::of(bench.command(["clean", "--yes"]).arg("--").arg(&directory));
        assert_eq!((clean.code, clean.stdout.lines().count()), (Some(0), 1), "{}", clean.stdout);
    }
    let runs = bench.run(["runs"]);
    assert_eq!(runs.stdout.lines().count(), 1 + 5, "a name breaks a line: {}", runs.stdout);
}

#[test]
fn a_directory_reached_through_a_link_can_be_run_in() {
    let bench = Bench::default();
    let link = bench.beside("link");
    std::os::unix::fs::symlink(bench.work(), &link).unwrap();
    let ran = Ran::of(bench.command(SMALL).arg("--dir").arg(&link));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn what_cannot_be_a_store_is_refused_before_anything_runs() {
    let bench = Bench::default();
    let garbage = bench.write("garbage.db", [7u8; 5000]);
    let empty_directory = bench.beside("directory");
    std::fs::create_dir(&empty_directory).unwrap();
    let below_a_file = garbage.join("x.db");
    for store in [&garbage, &empty_directory, &below_a_file] {
        let commands: [&[&str]; 3] = [&SMALL, &["runs"], &["show", "last"]];
        for arguments in commands {
            let ran = Ran::of(bench.bare().args(arguments).arg("--store").arg(store));
            let said = ran.refuses(1);
            assert!(said.contains("store"), "{said}");
            assert!(said.contains("--store FILE"), "what to do: {said}");
        }
    }
    assert_eq!(std::fs::read(&garbage).unwrap(), [7u8; 5000], "a foreign file was changed");
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_store_that_may_only_be_read_is_refused_with_what_to_do() {
    if rustix::process::geteuid().is_root() {
        return skip("a read-only store", "root may write it all the same");
    }
    let bench = Bench::default();
    bench.small_run();
    std::fs::set_permissions(bench.store(), std::fs::Permissions::from_mode(0o400)).unwrap();
    assert!(bench.run(SMALL).refuses(1).contains("--store FILE"));
}

#[test]
fn a_job_file_that_is_none_is_refused_with_its_name() {
    let bench = Bench::default();
    let directory = bench.beside("directory.toml");
    std::fs::create_dir(&directory).unwrap();
    let files = [
        (directory, "directory"),
        (bench.write("garbage.toml", [0xffu8, 0xfe, 0, 1, 2, 0x80]), "garbage"),
        (bench.write("empty.toml", ""), "empty"),
        (bench.write("zeros.toml", [0u8; 3000]), "zeros"),
        (bench.write("huge.toml", "name = \"x\"\n[tree]\nfiles = 9e999\n"), "huge"),
        (bench.write("prose.toml", "Dear boatload, please be fast.\n"), "prose"),
        (bench.beside("missing.toml"), "missing"),
    ];
    for (file, word) in files {
        let ran = bench.run([OsStr::new("run"), file.as_os_str()]);
        let said = ran.refuses(2);
        assert!(said.contains(word), "the file is not named: {said}");
        assert!(said.len() < 3_000, "a sentence, not a dump: {said}");
        assert!(said.chars().all(|c| c == '\n' || !c.is_control()), "raw bytes: {said:?}");
    }
    assert!(!bench.store().exists(), "a job that is wrong needs no store");
}

#[test]
fn without_home_the_store_must_be_named() {
    let bench = Bench::default();
    let ran = Ran::of(bench.bare().env_remove("HOME").args(["runs"]));
    let said = ran.refuses(2);
    assert!(said.contains("XDG_DATA_HOME") && said.contains("--store FILE"), "{said}");
    let named = bench.command(SMALL).env_remove("HOME").output().unwrap();
    assert_eq!(Ran::from(named).code, Some(0), "with --store nobody needs a home");
}

#[test]
fn results_go_to_the_data_directory_of_the_user() {
    let bench = Bench::default();
    let ran = Ran::of(bench.bare().args(SMALL));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(bench.work().join("../home/.local/share/boatload/boatload.db").exists());
    let data = bench.beside("data");
    let ran = Ran::of(bench.bare().args(SMALL).env("XDG_DATA_HOME", &data));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(data.join("boatload/boatload.db").exists());
}

#[test]
fn a_terminal_without_unicode_or_colours_gets_plain_text() {
    let bench = Bench::default();
    for (name, value) in [("LANG", "C"), ("TERM", "dumb"), ("NO_COLOR", "1")] {
        let ran = Ran::of(bench.command(SMALL).env(name, value));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let all = ran.stdout + &ran.stderr;
        assert!(!all.contains('\u{1b}'), "escape sequences in a pipe: {all:?}");
    }
}

#[test]
fn looking_for_runs_makes_no_store() {
    let bench = Bench::default();
    let missing = bench.beside("nowhere").join("x.db");
    let runs = Ran::of(bench.bare().args(["runs", "--store"]).arg(&missing));
    assert_eq!(runs.code, Some(0), "{}", runs.stderr);
    let show = Ran::of(bench.bare().args(["show", "last", "--store"]).arg(&missing));
    assert!(show.refuses(1).contains("boatload run"));
    assert!(!missing.exists() && !bench.beside("nowhere").exists());
}

#[test]
fn a_job_file_without_an_end_is_refused() {
    let bench = Bench::default();
    assert!(bench.run(["plan", "/dev/zero"]).refuses(2).contains("/dev/zero"));
}

#[test]
fn a_time_limit_that_is_none_says_how_to_write_it() {
    let bench = Bench::default();
    for wrong in ["30", "5%", "10ms", "31d"] {
        for command in ["run", "plan"] {
            let ran = bench.run([command, "--time-limit", wrong]);
            assert_eq!(ran.code, Some(2));
            let hint = "write it as a time from one second to 30 days, such as 90s, 30m or 2h";
            assert!(ran.stderr.contains(hint), "{wrong}: {}", ran.stderr);
        }
    }
    let ran = bench.run(["run", "--repeats", "5", "--time-limit", "2m"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn only_a_near_miss_is_suggested() {
    let bench = Bench::default();
    let ran = bench.run(["run", "--filesystem", "zfs"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let said = ran.stderr;
    assert!(said.contains("cannot make `zfs`") && !said.contains("did you mean"), "{said}");
    let ran = bench.run(["run", "--filesystem", "xsf"]);
    assert!(ran.stderr.contains("did you mean `xfs`?"), "{}", ran.stderr);
    let ran = bench.run(["run", "small"]);
    assert!(ran.refuses(2).contains("Did you mean smallfiles?"), "{}", ran.stderr);
}

#[test]
fn in_a_file_system_of_the_kernels_own_no_files_can_be_made() {
    let bench = Bench::default();
    for command in ["run", "plan"] {
        for place in ["/proc", "/sys"] {
            let ran = bench.run([command, "--dir", place]);
            let said = &ran.stderr;
            assert_eq!(ran.code, Some(1), "{said}");
            assert!(said.contains(&format!("no files can be made in {place}: ")), "{said}");
            assert!(!said.contains("MiB"), "{said}");
        }
    }
}

#[test]
fn a_plan_of_a_run_that_could_not_be_fails_with_the_reason() {
    let bench = Bench::default();
    let ran = bench.run(["plan", "--dir", "/nonexistent"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("/nonexistent"), "{}", ran.stderr);
    let place = bench.beside("read-only");
    std::fs::create_dir(&place).unwrap();
    let place = match Mounted::tmpfs(&place, "size=64M") {
        Ok(place) => place,
        Err(why) => return skip("plans on a read-only place", &why),
    };
    let plan = |more: &[&str]| {
        let mut command = bench.command(["plan", "--dir"]);
        Ran::of(command.arg(place.path()).args(more))
    };
    let ran = plan(&["--set", "files=100M"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stderr.contains("does not fit"), "{}", ran.stderr);
    assert_eq!(plan(&["--set", "files=100", "--set", "selected=10"]).code, Some(0));
    place.make_read_only();
    let ran = plan(&["--set", "files=100", "--set", "selected=10"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stderr.contains("Read-only file system"), "{}", ran.stderr);
}
