//! `--disk` on the command line: what a plan says of a modelled disk, and what is wrong usage.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test panics"
)]

use crate::command;

use command::{Bench, names_in};

/// Long lines are broken at blanks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plan_says_on_which_disk_a_file_system_lies_and_where_the_image_is() {
    let bench = Bench::default();
    let plan = ["plan", "--filesystem", "ext4,ext3", "--disk", "hdd-7200"];
    let ran = bench.run(plan);
    let text = words(&ran.stdout);
    for part in [
        "mounted with noatime, on hdd-7200",
        "file systems are made on hdd-7200, a modelled disk: an image of 10.0 GiB in memory; --size sets",
    ] {
        assert!(text.contains(part), "{part}\n{}{}", ran.stdout, ran.stderr);
    }
    assert!(text.contains("no estimate of time: no earlier run"), "{text}");
    assert!(names_in(&bench.work()).is_empty());
}

#[test]
fn disks_that_differ_are_named_beside_their_file_systems() {
    let bench = Bench::default();
    let list = "ext4:disk=hdd-7200,ext4:disk=nvme";
    let ran = bench.run(["plan", "--filesystem", list, "--size", "1GiB"]);
    let text = words(&ran.stdout);
    for part in [
        "ext4 hdd-7200: ",
        "ext4 nvme: ",
        "on hdd-7200",
        "on nvme",
        "on modelled disks (hdd-7200, nvme): an image of 1.00 GiB in memory",
    ] {
        assert!(text.contains(part), "{part}\n{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_job_file_names_a_disk_in_a_file_beside_it() {
    let bench = Bench::default();
    let model = bench.run(["disks", "show", "nvme"]);
    assert_eq!(model.code, Some(0), "{}", model.stderr);
    bench.write("mine.toml", model.stdout.replace("\"nvme\"", "\"mine\""));
    let job = "name = 'x'\nfilesystem = { type = 'ext4', disk = './mine.toml' }\n[tree]\nfiles = 9\n\
               [[phase]]\noperation = 'create'\n";
    let job = bench.write("job.toml", job);
    let ran = bench.run(["plan", job.to_str().unwrap()]);
    assert!(
        words(&ran.stdout).contains("made on mine, a modelled disk"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let elsewhere = bench.run(["plan", "--filesystem", "ext4", "--disk", "./mine.toml"]);
    assert_eq!(elsewhere.code, Some(2), "{}", elsewhere.stderr);
    assert!(words(&elsewhere.stderr).contains("`./mine.toml`, which cannot be read"));
}

#[test]
fn what_no_disk_can_be_is_wrong_usage_and_writes_nothing() {
    let bench = Bench::default();
    let device = ["--device", "/dev/null", "--erase", "/dev/null"];
    let wrong: [(&[&str], &str); 6] = [
        (&["--disk", "hdd-7200"], "--filesystem ext4"),
        (&["--filesystem", "ext4", "--disk", "hdd-7300"], "did you mean `hdd-7200`"),
        (&["--filesystem", "ext4:disk=nvm"], "did you mean `nvme`"),
        (&["--filesystem", "ext4,tmpfs", "--disk", "ram"], "`tmpfs`"),
        (&["--filesystem", "ext4:disk=ram", "--in-memory"], "Leave out --in-memory"),
        (&["--filesystem", "ext4:disk=ram"], "Leave out --device"),
    ];
    for (arguments, part) in wrong {
        let device: &[&str] = if part.ends_with("--device") { &device } else { &[] };
        for command in ["plan", "run"] {
            let ran = bench.run([command].iter().chain(arguments).chain(device));
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
            assert!(words(&ran.stderr).contains(part), "{command} {arguments:?}: {}", ran.stderr);
            assert!(names_in(&bench.work()).is_empty(), "{arguments:?}");
        }
    }
}
