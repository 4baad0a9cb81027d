//! `plan --filesystem` and the words that say where file systems are made, on the command line.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::command;

use command::{Bench, names_in};

#[test]
fn a_plan_shows_how_each_file_system_is_made_and_how_large_its_place_is() {
    let bench = Bench::default();
    let list = "ext3:mkfs=-O ^dir_index -E stride=4:mount=data=journal,xfs,tmpfs";
    let ran = bench.run(["plan", "directory", "--filesystem", list]);
    for part in [
        "ext3 -O ^dir_index -E stride=4 data=journal/single: at 1,000: 1,000 files",
        "tmpfs/striped: at 1,000: 1,000 files",
        "made by mkfs.ext3 ",
        "'^dir_index' DEVICE",
        "mounted with data=journal,noatime",
        "made by mkfs.xfs ",
        "mounted with noatime",
        "tmpfs, mounted with size=1073741824,nr_inodes=",
        "an image of 1.00 GiB in",
    ] {
        // Long lines are broken at blanks.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&ran.stdout).contains(part.trim()), "{part}\n{}", ran.stdout);
    }
    assert_eq!(ran.stdout.matches("made by mkfs.xfs").count(), 1, "said once: {}", ran.stdout);
    assert!(names_in(&bench.work()).is_empty());
}

#[test]
fn levels_of_space_on_a_file_system_that_is_made_do_not_fill_the_one_that_is_there() {
    let bench = Bench::default();
    let ran = bench.run(["plan", "fullness", "--filesystem", "ext4"]);
    let can = !["not installed", "cannot mount"].iter().any(|lack| ran.stderr.contains(lack));
    assert_eq!(ran.code, Some(if can { 0 } else { 1 }), "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("--fill-real"), "{}", ran.stdout);
    assert!(ran.stdout.contains("an image of 1.00 GiB"), "{}", ran.stdout);
    let real = bench.run(["plan", "fullness"]);
    assert!(real.stdout.contains("--fill-real"), "{}", real.stdout);
}

#[test]
fn an_image_that_does_not_fit_is_told_before_anything_is_written() {
    let bench = Bench::default();
    let set = ["--set", "files=1G", "--set", "size_max=2MiB"];
    let words = ["plan", "--filesystem", "ext4,xfs"].into_iter().chain(set);
    let ran = bench.run(words);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("does not fit"), "{}", ran.stderr);
    assert!(names_in(&bench.work()).is_empty());
}

#[test]
fn what_is_no_list_of_file_systems_is_wrong_usage() {
    let bench = Bench::default();
    for (list, part) in [
        ("ext5", "did you mean `ext"),
        ("", "empty list"),
        ("ext4:mout=x", "did you mean `mount=`?"),
        ("ext4,ext4", "give one of them other options"),
        ("ext4:mkfs=/dev/sda", "no path"),
    ] {
        for command in ["plan", "run"] {
            let ran = bench.run([command, "--filesystem", list]);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
            assert!(ran.stderr.contains(part), "{command} {list}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_place_without_a_file_system_to_make_is_wrong_usage() {
    let bench = Bench::default();
    let wrong: [&[&str]; 6] = [
        &["--device", "/dev/null", "--erase", "/dev/null"],
        &["--in-memory"],
        &["--size", "1GiB"],
        &["--filesystem", "ext4", "--device", "/dev/null"],
        &["--filesystem", "ext4", "--device", "/dev/null", "--erase", "/dev/zero"],
        &["--filesystem", "ext4", "--size", "much"],
    ];
    for words in wrong {
        for command in ["run", "plan"] {
            let ran = bench.run([command].iter().chain(words));
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ran.stderr);
            assert!(names_in(&bench.work()).is_empty(), "{words:?}");
        }
    }
}

#[test]
fn a_plan_shows_the_place_that_is_asked_for() {
    let bench = Bench::default();
    let places: [(&[&str], &str, &str); 3] = [
        (&["--in-memory"], "an image of 1.00 GiB in memory;", "size=1073741824,"),
        (&["--size", "1280MiB"], "an image of 1.25 GiB in", "size=1342177280,"),
        (&["--in-memory", "--size", "1280MiB"], "1.25 GiB in memory;", "size=1342177280,"),
    ];
    for (words, place, size) in places {
        let plan = ["plan", "--filesystem", "ext4,tmpfs"];
        let ran = bench.run(plan.iter().chain(words));
        assert!(ran.stdout.contains(place), "{words:?}: {}", ran.stdout);
        assert!(ran.stdout.contains(size), "{words:?}: {}", ran.stdout);
    }
    assert!(names_in(&bench.work()).is_empty());
}

#[test]
fn all_that_a_run_would_lack_is_told_behind_the_plan() {
    let bench = Bench::default();
    for (words, part) in [
        (&["--size", "100MiB"] as &[&str], "xfs needs 320 MiB at least"),
        (&["--size", "1000000GiB"], "does not fit"),
        (&["--in-memory", "--size", "1000000GiB"], "of memory;"),
    ] {
        let ran = bench.run(["plan", "--filesystem", "xfs"].iter().chain(words));
        assert_eq!(ran.code, Some(1), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{words:?}: {}", ran.stderr);
        assert!(ran.stdout.contains("made by mkfs.xfs"), "{words:?}: {}", ran.stdout);
    }
    let device = ["--device", "/dev/boatload-none", "--erase", "/dev/boatload-none"];
    let ran = bench.run(["plan", "--filesystem", "xfs"].iter().chain(&device));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("/dev/boatload-none"), "{}", ran.stderr);
}

#[test]
fn a_job_without_a_question_has_its_name_alone_at_the_head() {
    let bench = Bench::default();
    let job = bench.work().join("x.toml");
    let text = "name = 'bare'\n[tree]\nfiles = 1\n[[phase]]\noperation = 'create'\n";
    std::fs::write(&job, text).unwrap();
    let ran = bench.run(["plan", job.to_str().unwrap()]);
    assert!(ran.stdout.starts_with("bare\nscale"), "{}", ran.stdout);
}

#[test]
fn the_words_for_a_device_stand_beside_each_other_in_the_help() {
    let bench = Bench::default();
    for command in ["run", "plan"] {
        let help = bench.run([command, "--help"]).stdout;
        let at = |word: &str| help.lines().position(|l| l.trim_start().starts_with(word)).unwrap();
        assert_eq!(at("--erase"), at("--device") + 1, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}

#[test]
fn a_power_cut_that_would_tell_nothing_is_refused_before_anything_is_written() {
    let bench = Bench::default();
    for (words, why) in [
        (&["--filesystem", "tmpfs"][..], "it lies in memory"),
        (&["--filesystem", "ext4", "--set", "files=2M"], "1,000,000 at most"),
        (&["fullness", "--filesystem", "ext4"], "begins on an empty file system"),
        (&["--filesystem", "ext4:mount=errors=panic"], "asked to stop the machine"),
    ] {
        let ran = bench.run(["crash"].iter().chain(words));
        let said = ran.refuses(2).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(why), "no {why:?} in {said}");
    }
    assert!(names_in(&bench.work()).is_empty());
}
