//! File systems made, measured and taken down: on an image, on a device, in memory; and that
//! nothing of them is left, whatever happens. Needs root.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::common;

use crate::command;

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use command::{Bench, Ran, Running, names_in, run_directories};
use common::{LoopMount, mount_image, output, skip};

/// A job that is over in a second.
const JOB: &str = "name = \"made\"\nquestion = \"?\"\ncache = \"cold\"\ndurability = \"syncfs\"\n\
    repeats = 2\n[tree]\nfiles = 500\nsize = 3_000\n[[phase]]\noperation = \"create\"\n\
    [[phase]]\noperation = \"read\"\n[[phase]]\noperation = \"delete\"\n";

/// A job that runs for long.
const LONG_JOB: &str =
    "name = \"made\"\n[tree]\nfiles = 3_000_000\n[[phase]]\noperation = \"create\"\n";

/// A bench with the jobs; none, with the reason spoken, where no file system can be made.
fn bench(what: &str) -> Option<Bench> {
    let why = match () {
        () if !rustix::process::geteuid().is_root() => "not root",
        () if output("mkfs.ext4", &["-V"]).is_none() => "mkfs.ext4 is missing",
        () if !Path::new("/dev/loop-control").exists() => "no loop devices",
        () => {
            let bench = Bench::default();
            bench.write("job.toml", JOB);
            bench.write("long.toml", LONG_JOB);
            return Some(bench);
        }
    };
    skip(what, why);
    None
}

fn job(bench: &Bench) -> String {
    bench.beside("job.toml").to_str().unwrap().to_string()
}

/// Loop devices whose image lies below a directory.
fn loops_below(directory: &Path) -> Vec<String> {
    let devices = std::fs::read_dir("/sys/block").unwrap().flatten();
    let file = |device: std::fs::DirEntry| {
        std::fs::read_to_string(device.path().join("loop/backing_file")).ok()
    };
    let below = directory.to_str().unwrap();
    devices.filter_map(file).filter(|file| file.contains(below)).collect()
}

/// Mounts below a directory, in whatever process's view.
fn mounts_below(directory: &Path) -> Vec<String> {
    // The kernel writes blanks so.
    let below = directory.to_str().unwrap().replace(' ', "\\040");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let views = processes
        .filter_map(|process| std::fs::read_to_string(process.path().join("mountinfo")).ok());
    let lines = views.flat_map(|view| view.lines().map(String::from).collect::<Vec<_>>());
    lines.filter(|line| line.contains(&below)).collect()
}

/// Nothing is mounted, attached or left below the bench's directory.
#[track_caller]
pub(crate) fn assert_no_trace(bench: &Bench) {
    let work = bench.work();
    assert_eq!(names_in(&work), Vec::<String>::new());
    assert_no_device(bench);
}

#[track_caller]
pub(crate) fn assert_no_device(bench: &Bench) {
    // The kernel frees what a process had that was killed a moment after it.
    let found = || (loops_below(&bench.work()), mounts_below(&bench.work()));
    let free = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        found() == (Vec::new(), Vec::new())
    });
    assert!(free, "{:?}", found());
}

/// The measurements of the job's own phases.
fn measurements(document: &Value) -> Vec<&Value> {
    all_measurements(document).filter(|m| m["phase"] != "settle").collect()
}

fn all_measurements(document: &Value) -> impl Iterator<Item = &Value> {
    document["measurements"].as_array().unwrap().iter()
}

#[test]
fn a_run_ends_where_what_a_phase_left_cannot_be_written_out_before_an_unmount() {
    let what = "write errors at an unmount";
    let Some(bench) = bench(what) else { return };
    if output("strace", &["--version"]).is_none() {
        return skip(what, "strace is not installed");
    }
    bench.write("job.toml", JOB.replace("\"syncfs\"", "\"none\""));
    let run = bench.command(["run", &job(&bench), "--filesystem", "ext4"]);
    let mut traced = Command::new("strace");
    // The first is the sync of the tree's directories, the second the one before the unmount for `read`.
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=syncfs:error=EIO:when=2"]);
    traced.arg(run.get_program()).args(run.get_args()).current_dir(bench.work());
    traced.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::of(&mut traced);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("cannot write out what phases have written to /"),
        "{}",
        ran.stderr
    );
    assert_no_trace(&bench);
}

#[test]
fn file_systems_are_made_measured_cold_and_ranked_and_nothing_is_left() {
    let Some(bench) = bench("file systems made on an image") else { return };
    let list = "ext4,ext3:mkfs=-O ^dir_index:mount=noatime,ext2";
    let document = bench.document(["run", &job(&bench), "--filesystem", list]);
    let all = measurements(&document);
    assert_eq!(all.len(), 3 * 2 * 3, "three file systems, two repeats, three phases");
    for m in all {
        assert_eq!(
            (&m["valid"], &m["cache"]["found"]),
            (&true.into(), &"cold-verified".into()),
            "{m}"
        );
    }
    let settled: Vec<_> = all_measurements(&document).filter(|m| m["phase"] == "settle").collect();
    assert_eq!(settled.len(), 3 * 2, "one unmount of each");
    for m in settled {
        assert!(m["seconds"].as_f64() > Some(0.0) && m["device_write_bytes"].is_u64(), "{m}");
    }
    let made = document["filesystems"].as_array().unwrap();
    let of = |key: &str| -> Vec<&str> { made.iter().map(|f| f[key].as_str().unwrap()).collect() };
    let mut variants = of("variant");
    variants.sort_unstable();
    assert_eq!(variants, ["ext2", "ext3 -O ^dir_index noatime", "ext4"]);
    let ext3 = made.iter().find(|f| f["type"] == "ext3").unwrap();
    assert!(ext3["mkfs"].as_str().unwrap().contains("-O '^dir_index'"), "{ext3}");
    assert!(ext3["options"].as_str().unwrap().contains("noatime"), "{ext3}");
    let sizes: Vec<_> = made.iter().map(|f| f["device_bytes"].as_u64().unwrap()).collect();
    assert!(sizes.iter().all(|size| *size == sizes[0]), "the same room for all: {sizes:?}");
    assert!(made.iter().all(|f| f["place"] == "image" && f["trimmed"] == true), "{made:?}");
    let overall = |f: &&Value| f["reading"] == "ranking" && f["phase"].is_null();
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(findings.iter().filter(overall).count(), 3, "each pair of three: {findings:?}");
    assert_no_trace(&bench);
}

#[test]
fn what_a_phase_takes_of_space_and_inodes_is_counted() {
    let Some(bench) = bench("space and inodes of files") else { return };
    let document = bench.document(["run", &job(&bench), "--filesystem", "ext4"]);
    for m in measurements(&document) {
        let (bytes, inodes) = (m["space_bytes"].as_i64(), m["inodes"].as_i64());
        match m["operation"].as_str().unwrap() {
            // Each file has a block of its own, and the directory some.
            "create" => {
                assert_eq!(inodes, Some(500), "{m}");
                assert!((500 * 4096..520 * 4096).contains(&bytes.unwrap()), "{m}")
            }
            "read" => assert_eq!((inodes, bytes), (Some(0), Some(0)), "{m}"),
            _ => assert!(inodes == Some(-500) && bytes <= Some(-500 * 4096), "{m}"),
        }
    }
}

#[test]
fn in_memory_no_disk_is_asked() {
    let Some(bench) = bench("file systems in memory") else { return };
    let arguments = ["run", &job(&bench), "--filesystem", "ext4,tmpfs", "--in-memory"];
    let document = bench.document(arguments);
    let made = document["filesystems"].as_array().unwrap();
    assert!(made.iter().all(|f| f["place"] == "memory"), "{made:?}");
    for m in measurements(&document) {
        let found = if m["variant"] == "tmpfs" { "warm" } else { "cold-verified" };
        assert_eq!((&m["valid"], &m["cache"]["found"]), (&true.into(), &found.into()), "{m}");
    }
    assert_no_trace(&bench);
}

/// A job whose place is aged to three levels, and whose cells leave files behind.
const PREPARED_JOB: &str = "name = \"kept\"\ncache = \"cold\"\n[axis]\nname = \"used\"\n\
    values = [20, 30, 40]\n[axis.prepare.age]\nhistories = HISTORIES\n\
    sizes = { exponential = { min = \"4KiB\", max = \"1MiB\", k = 10 } }\n\
    [tree]\nfiles = 100\nsize = 20_000\n[[phase]]\noperation = \"create\"\n\
    [[phase]]\noperation = \"delete\"\ncount = 50\n\
    [[phase]]\nname = \"scan\"\noperation = \"read\"\non = \"ballast\"\ncount = 20\n";

/// The conditions of a run: (repeat, level, name, value), in the order of the cells.
fn conditions(document: &Value) -> Vec<(u64, f64, String, f64)> {
    let all = document["conditions"].as_array().unwrap().iter();
    all.map(|c| {
        let (repeat, level) =
            (c["repeat"].as_u64().unwrap(), c["level"]["value"].as_f64().unwrap());
        (repeat, level, c["name"].as_str().unwrap().to_string(), c["value"].as_f64().unwrap())
    })
    .collect()
}

#[test]
fn prepared_file_systems_are_restored_as_they_were_before_each_cell_in_random_order() {
    let Some(bench) = bench("restoring prepared file systems") else { return };
    bench.write("kept.toml", PREPARED_JOB.replace("HISTORIES", "1"));
    let job = bench.beside("kept.toml").to_str().unwrap().to_string();
    for kind in ["ext4", "xfs", "btrfs"] {
        if output(&format!("mkfs.{kind}"), &["-V"]).is_none() {
            skip("restoring a prepared file system", &format!("mkfs.{kind} is missing"));
            continue;
        }
        let on = ["--filesystem", kind, "--size", "512MiB", "--repeats", "3"];
        let document = bench.document(["run", &job].into_iter().chain(on));
        assert_eq!(document["run"]["level_order"], "random");
        assert!(measurements(&document).iter().all(|m| m["valid"] == true), "{document}");
        let found = conditions(&document);
        assert!(found.is_sorted_by_key(|(repeat, ..)| *repeat), "{found:?}");
        assert!(!found.is_sorted_by(|a, b| (a.0, a.1) <= (b.0, b.1)), "{found:?}");
        for (_, level, name, value) in &found {
            let same = found.iter().filter(|(_, l, n, _)| (l, n) == (level, name));
            let values: Vec<f64> = same.map(|(.., value)| *value).collect();
            assert_eq!(values, [*value; 3], "{kind}: {name} at {level}");
        }
        assert_no_trace(&bench);
    }
}

/// The history, and the number of its files, of the first three repeats at the highest level of `PREPARED_JOB`.
fn histories(document: &Value) -> [[f64; 3]; 2] {
    let found = conditions(document);
    let value = |repeat, wanted: &str| -> f64 {
        let here = |c: &&(u64, f64, String, f64)| (c.0, c.1, &*c.2) == (repeat, 40.0, wanted);
        found.iter().find(here).unwrap().3
    };
    ["history", "files-present"].map(|wanted| [1, 2, 3].map(|repeat| value(repeat, wanted)))
}

fn warns_of_few_histories(document: &Value) -> bool {
    let mut findings = document["findings"].as_array().unwrap().iter();
    findings.any(|finding| finding["code"] == "few-histories")
}

#[test]
fn repeats_on_other_histories_find_other_files() {
    let Some(bench) = bench("histories of prepared file systems") else { return };
    bench.write("kept.toml", PREPARED_JOB.replace("HISTORIES", "2"));
    let job = bench.beside("kept.toml").to_str().unwrap().to_string();
    let on = ["--filesystem", "ext4", "--size", "256MiB"];
    for place in [None, Some("--in-memory")] {
        let run = ["run", &job, "--repeats", "3"];
        let document = bench.document(run.into_iter().chain(on).chain(place));
        let [histories, files] = histories(&document);
        assert_eq!(histories, [1.0, 2.0, 1.0]);
        assert!(files[0] == files[2] && files[0] != files[1], "{files:?}");
        assert!(warns_of_few_histories(&document), "{document}");
        assert_no_trace(&bench);
    }
    bench.write("kept.toml", PREPARED_JOB.replace("HISTORIES", "1_000"));
    for how in [["--repeats", "3"], ["--time-limit", "1s"]] {
        let document = bench.document(["run", &job].into_iter().chain(how).chain(on));
        let [histories, files] = histories(&document);
        assert_eq!(histories, [1.0, 2.0, 3.0], "{how:?}: one for each repeat");
        assert!(files[0] != files[1], "{files:?}");
        assert_eq!(
            document["run"]["level_order"], "random",
            "{how:?}: there is room for one of them"
        );
        assert!(!warns_of_few_histories(&document), "{document}");
        assert_no_trace(&bench);
    }
}

/// How many regular files below a directory have content in each block of 4 KiB, in none, and in some.
fn files_by_content(directory: &Path) -> [usize; 3] {
    let mut files = [0; 3];
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            let below = files_by_content(&entry.path());
            files.iter_mut().zip(below).for_each(|(number, more)| *number += more);
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        let is_written = |block: &[u8]| block.iter().any(|byte| *byte != 0);
        let written = bytes.chunks(4096).filter(|block| is_written(block)).count();
        let kind = match written {
            0 => 1,
            written => {
                if written == bytes.len().div_ceil(4096) {
                    0
                } else {
                    2
                }
            }
        };
        files[kind] += 1;
    }
    files
}

#[test]
fn prepared_file_systems_are_kept_whole_without_the_contents_that_no_phase_reads() {
    let Some(bench) = bench("what is kept of prepared file systems") else { return };
    let axis = "[axis]\nname = \"present\"\nvalues = [40]\nprepare.fill.sizes = \"256KiB\"\n[tree]";
    let job = LONG_JOB.replace("[tree]", axis).replace("3_000_000", "20_000");
    let scan = "[[phase]]\nname = \"scan\"\noperation = \"read\"\non = \"ballast\"\ncount = 20\n";
    let written = bench.write("long.toml", job + scan);
    let copy = bench.work().join("copy");
    let words = ["--reflink=always", written.to_str().unwrap(), copy.to_str().unwrap()];
    if output("cp", &words).is_some() {
        return skip("what is kept of prepared file systems", "blocks are shared here");
    }
    let _ = std::fs::remove_file(copy);
    for (kind, options, check) in [
        ("ext4", "ro,noload,loop", &["e2fsck", "-f", "-n"][..]),
        ("xfs", "ro,norecovery,nouuid,loop", &["xfs_repair", "-n", "-f"]),
    ] {
        if output(&format!("mkfs.{kind}"), &["-V"]).is_none() {
            skip("what is kept of a prepared file system", &format!("mkfs.{kind} is missing"));
            continue;
        }
        let mut command = bench.command(["run", "--filesystem", kind, "--size", "512MiB"]);
        let command = command_with(&mut command, &bench.beside("long.toml"));
        let running = Running::start_on_made(command, &bench.work());
        // Not one for both: what the kernel still has of the first is not read as the second.
        let kept = bench.beside(&format!("kept-{kind}.img"));
        let image = run_directories(&bench.work())[0].join("i0000000000");
        let copied = std::fs::copy(&image, &kept).unwrap();
        running.signal(Signal::INT);
        running.ended();
        assert_eq!(copied, 512 << 20);
        let words: Vec<&str> = check[1..].iter().copied().chain(kept.to_str()).collect();
        assert!(output(check[0], &words).is_some(), "{kind} is not whole");
        let point = bench.beside("kept");
        std::fs::create_dir_all(&point).unwrap();
        mount_image(kind, options, &kept, &point).unwrap();
        let [whole, empty, partly] = files_by_content(&point);
        output("umount", &[point.to_str().unwrap()]).unwrap();
        // Beside the twenty only what marks a run's directory has content.
        let is_kept = (20..25).contains(&whole) && empty == 20 && partly == 0;
        assert!(is_kept, "{kind}: {whole}, {empty}, {partly}");
        assert_no_trace(&bench);
    }
}

#[test]
fn images_that_are_kept_go_with_an_interrupted_run_and_after_kill_9_with_clean() {
    let Some(bench) = bench("stopping a run that keeps prepared file systems") else { return };
    let axis = "[axis]\nname = \"present\"\nvalues = [10, 20]\nprepare.fill.sizes = 4096\n[tree]";
    bench.write("long.toml", LONG_JOB.replace("[tree]", axis));
    let states = |bench: &Bench| {
        let run_directories = run_directories(&bench.work());
        let names = run_directories.iter().flat_map(|directory| names_in(directory));
        names.filter(|name| name.starts_with("i0")).count()
    };
    for signal in [Signal::INT, Signal::KILL] {
        let mut command = bench.command(["run", "--filesystem", "ext4"]);
        command.arg(bench.beside("long.toml"));
        let running = Running::start_on_made(command, &bench.work());
        assert_eq!(states(&bench), 2);
        running.signal(signal);
        running.ended();
        if signal == Signal::KILL {
            assert_no_device(&bench);
            assert_eq!(states(&bench), 2);
            let cleaned = bench.run(["clean", "--yes"]);
            assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
        }
        assert_no_trace(&bench);
    }
}

#[test]
fn a_file_system_is_filled_without_being_asked_twice_for_it_is_boatloads_own() {
    let Some(bench) = bench("filling file systems that are made") else { return };
    let set = ["levels=40,80", "directories=20", "file_size=1MiB", "scan_files=5"];
    let set = set.iter().flat_map(|one| ["--set", one]);
    let first = ["run", "fullness", "--repeats", "1", "--filesystem", "ext4", "--size", "256MiB"];
    let document = bench.document(first.into_iter().chain(set));
    let conditions = document["conditions"].as_array().unwrap();
    for used in conditions.iter().filter(|c| c["name"] == "space-used") {
        let (level, value) =
            (used["level"]["value"].as_f64().unwrap(), used["value"].as_f64().unwrap());
        assert!((level - value).abs() <= 1.0, "{used}");
    }
    let cells = conditions.iter().filter(|c| c["name"] == "space-used").count();
    let names = ["layout-score", "blocks-used"];
    for name in names {
        let of_name = conditions.iter().filter(|c| c["name"] == name);
        assert_eq!(of_name.count(), cells, "{name} of each cell: {conditions:?}");
    }
    assert!(measurements(&document).iter().all(|m| m["valid"] == true), "{document}");
    assert_no_trace(&bench);
}

#[test]
fn what_is_mounted_is_seen_by_the_run_alone_and_ctrl_c_takes_it_down() {
    let Some(bench) = bench("Ctrl-C while a file system is mounted") else { return };
    for signal in [Signal::INT, Signal::TERM] {
        let mut command = bench.command(["run", "--filesystem", "ext4", "--in-memory"]);
        command.arg(bench.beside("long.toml"));
        let running = Running::start_on_made(command, &bench.work());
        let own = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!own.contains(&format!("{}/boatload-", bench.work().display())), "{own}");
        assert!(!mounts_below(&bench.work()).is_empty(), "the run itself sees it");
        running.signal(signal);
        assert_eq!(running.ended().code, Some(130));
        assert_no_trace(&bench);
    }
}

#[test]
fn after_kill_9_nothing_is_mounted_and_clean_removes_the_image() {
    let Some(bench) = bench("kill -9 while a file system is mounted") else { return };
    let mut command = bench.command(["run", "--filesystem", "ext4"]);
    command.arg(bench.beside("long.toml"));
    let running = Running::start_on_made(command, &bench.work());
    running.signal(Signal::KILL);
    running.ended();
    assert_no_device(&bench);
    assert_eq!(run_directories(&bench.work()).len(), 1, "the directory with the image");
    let cleaned = bench.run(["clean", "--yes"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert_no_trace(&bench);
}

/// A run directory as a killed run leaves it where mounts cannot be private.
#[test]
fn clean_unmounts_what_a_killed_run_left_in_sight() {
    let Some(bench) = bench("a mount that a killed run left") else { return };
    let mut command = bench.command(["run", "--filesystem", "ext4"]);
    command.arg(bench.beside("long.toml"));
    let running = Running::start_on_made(command, &bench.work());
    let run_directory = running.run_directory().to_path_buf();
    running.signal(Signal::KILL);
    running.ended();
    assert_no_device(&bench);
    let (image, point) = (run_directory.join("image"), run_directory.join("mounted"));
    mount_image("ext4", "loop", &image, &point).unwrap();
    let cleaned = bench.run(["clean", "--yes"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert_no_trace(&bench);
}

#[test]
fn a_file_system_that_fills_up_gives_counted_errors_and_nothing_is_left() {
    let Some(bench) = bench("a file system that fills up") else { return };
    // There is room for all files, but inodes only for half of them.
    let mut command = bench.command(["run", &job(&bench), "--repeats", "1", "--json", "-"]);
    // A larger one has more inodes in its groups.
    let ran = Ran::of(command.args(["--filesystem", "ext4:mkfs=-N 256", "--size", "1GiB"]));
    let document = ran.json();
    assert_eq!(ran.code, Some(4), "{document}");
    let create = &measurements(&document)[0];
    let failed = create["errors"]["ENOSPC"].as_u64().unwrap();
    assert_eq!(create["operations"].as_u64().unwrap() + failed, 500, "{create}");
    assert_no_trace(&bench);
}

#[test]
fn a_mount_that_something_looks_into_is_told_with_what_is_left() {
    let Some(bench) = bench("a mount that is in use") else { return };
    let mut command = bench.command(["run", "--filesystem", "ext4"]);
    command.arg(bench.beside("long.toml"));
    let running = Running::start_on_made(command, &bench.work());
    let mounted = format!(
        "/proc/{}/root{}/mounted",
        running.id().as_raw_nonzero(),
        running.run_directory().display()
    );
    let looking = Command::new("sleep").arg("1000").current_dir(mounted).spawn();
    let mut looking = looking.unwrap();
    running.signal(Signal::INT);
    let ran = running.ended();
    let (gone, said) = (looking.kill(), ran.stderr);
    looking.wait().unwrap();
    assert!(gone.is_ok() && ran.code == Some(1), "{said}");
    for part in ["cannot unmount", "resource busy", "`boatload clean`"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert_eq!(bench.run(["clean", "--yes"]).code, Some(0));
    assert_no_trace(&bench);
}

/// A program that does `script`.
fn made_program(bench: &Bench, program: &str, script: &str) -> PathBuf {
    let path = bench.write(program, format!("#!/bin/sh\n{script}\n"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    path
}

/// Waits until a file is there.
fn wait_for(path: &Path) {
    let there = (0..6_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        path.exists()
    });
    assert!(there, "{} never came", path.display());
}

#[test]
fn a_mkfs_that_is_at_work_ends_with_the_run_however_that_ends() {
    let Some(bench) = bench("an end during mkfs") else { return };
    let begun = bench.beside("begun");
    // `-V` asks for its version.
    let script = format!(
        "[ \"$1\" = -V ] && exit 0; echo $$ >'{0}.new'; mv '{0}.new' '{0}'; exec sleep 1000",
        begun.display()
    );
    let other = made_program(&bench, "mkfs.ext4", &script);
    // Nobody else sees it in the place of the system's own.
    let instead = "mount --bind \"$0\" \"$(readlink -f /usr/sbin/mkfs.ext4)\" && exec \"$@\"";
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let command = bench.command(["run", &job(&bench), "--filesystem", "ext4"]);
        let mut private = Command::new("unshare");
        private.args(["--mount", "sh", "-c", instead]).arg(&other).arg(command.get_program());
        private.args(command.get_args()).current_dir(bench.work());
        let mut child = private.stderr(std::process::Stdio::null()).spawn().unwrap();
        wait_for(&begun);
        let mkfs = std::fs::read_to_string(&begun).unwrap();
        std::fs::remove_file(&begun).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), code);
        let process = PathBuf::from(format!("/proc/{}", mkfs.trim()));
        let gone = (0..1_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            !process.exists()
        });
        assert!(gone, "mkfs keeps running after {signal:?}");
        assert_no_device(&bench);
        assert_eq!(bench.run(["clean", "--yes"]).code, Some(0));
    }
    assert_no_trace(&bench);
}

/// What is wrong with a command, said clearly; nothing is touched.
#[track_caller]
fn refused(bench: &Bench, arguments: &[&str], code: i32, parts: &[&str]) {
    let ran = bench.run(arguments.iter().copied());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{}", ran.stderr);
    let said = &ran.stderr;
    let is_complaint = |line: &&str| ["boatload: ", "error: "].iter().any(|l| line.starts_with(l));
    assert_eq!(said.lines().filter(is_complaint).count(), 1, "{said}");
    for part in parts {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert_no_trace(bench);
}

#[test]
fn what_cannot_be_made_is_one_clear_error_and_nothing_is_touched() {
    let Some(bench) = bench("file systems that cannot be made") else { return };
    let job = job(&bench);
    let run = |rest: &[&'static str]| -> Vec<&str> {
        ["run", job.as_str(), "--filesystem"].into_iter().chain(rest.iter().copied()).collect()
    };
    refused(&bench, &run(&["ext5"]), 2, &["ext5", "ext4"]);
    refused(&bench, &run(&["ext4", "--size", "1MiB"]), 1, &["1.00 MiB", "Nothing was written"]);
    refused(&bench, &run(&["ext4:mkfs=--no-such-option"]), 1, &["mkfs.ext4", "no-such-option"]);
    refused(&bench, &run(&["ext4:mount=no_such_option"]), 1, &["mount", "no_such_option"]);
    refused(
        &bench,
        &run(&["ext4", "--device", "/dev/null", "--erase", "/dev/null"]),
        2,
        &["block device"],
    );
    refused(&bench, &["run", &job, "--in-memory"], 2, &["--filesystem"]);
    for place in [&["ext4", "--in-memory"][..], &["tmpfs"]] {
        let words = [place, &["--size", "4TiB"]].concat();
        refused(&bench, &run(&words), 1, &["of memory", "Nothing was written"]);
    }
    if !std::fs::read_to_string("/proc/filesystems").unwrap().contains("reiserfs") {
        refused(&bench, &run(&["ext4,reiserfs"]), 1, &["reiserfs"]);
    }
}

#[test]
fn without_root_it_says_so_and_writes_nothing() {
    let Some(bench) = bench("making file systems as another user") else { return };
    let (_, mut command) = match bench.as_nobody() {
        Ok(theirs) => theirs,
        Err(why) => return skip("making file systems as another user", why),
    };
    let ran = Ran::of(command.args(["run", &job(&bench), "--filesystem", "ext4"]));
    let said = ran.refuses(1);
    assert!(said.contains("takes root") && said.contains("Nothing was written"), "{said}");
    assert_no_trace(&bench);
}

/// A loop device for an image of its own, taken away when it is dropped.
struct Disk {
    device: String,
    _image: tempfile::NamedTempFile,
}

impl Disk {
    fn new(megabytes: u64) -> Self {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(megabytes << 20).unwrap();
        let path = image.path().to_str().unwrap();
        let device = output("losetup", &["--find", "--show", path]).expect("a loop device");
        Self { device, _image: image }
    }

    /// A word for all that is on it.
    fn content(&self) -> String {
        output("md5sum", &[&self.device]).expect("md5sum reads it")
    }

    fn signatures(&self) -> String {
        output("wipefs", &[&self.device]).expect("wipefs looks at it")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = output("losetup", &["--detach", &self.device]);
    }
}

#[test]
fn a_device_named_twice_is_used_and_given_back_empty() {
    let Some(bench) = bench("file systems made on a device") else { return };
    let disk = Disk::new(1100);
    let place = ["--device", &disk.device, "--erase", &disk.device];
    let document =
        bench.document(["run", &job(&bench), "--filesystem", "ext4,xfs"].into_iter().chain(place));
    assert!(measurements(&document).iter().all(|m| m["valid"] == true), "{document}");
    let made = document["filesystems"].as_array().unwrap();
    assert!(made.iter().all(|f| f["place"] == "device"), "{made:?}");
    assert_eq!(disk.signatures(), "", "nothing of it is left on the device");
    assert_no_trace(&bench);
}

#[test]
fn a_device_is_empty_again_after_what_fails_and_after_ctrl_c() {
    let Some(bench) = bench("failures on a device") else { return };
    let disk = Disk::new(1100);
    let place = ["--device", &disk.device, "--erase", &disk.device];
    for options in ["ext4:mkfs=--no-such-option", "ext4:mount=no_such_option"] {
        let job = job(&bench);
        let words = ["run", &job, "--filesystem", options].into_iter().chain(place);
        assert_eq!(bench.run(words).code, Some(1));
        assert_eq!(disk.signatures(), "", "{options}");
    }
    let mut command = bench.command(["run", "--filesystem", "ext4"].into_iter().chain(place));
    // Three million files want more than this disk has.
    let job = bench.write("files.toml", LONG_JOB.replace("3_000_000", "40_000"));
    let running = Running::start_on_made(command_with(&mut command, &job), &bench.work());
    running.signal(Signal::INT);
    assert_eq!(running.ended().code, Some(130));
    assert_eq!(disk.signatures(), "");
    assert_no_trace(&bench);
}

fn command_with(command: &mut Command, job: &Path) -> Command {
    command.arg("--repeats").arg("50").arg(job);
    std::mem::replace(command, Command::new("true"))
}

#[test]
fn a_device_that_boatload_never_wrote_to_is_left_as_it_is() {
    let Some(bench) = bench("a device that is taken meanwhile") else { return };
    let disk = Disk::new(1100);
    let place = ["--device", &disk.device, "--erase", &disk.device];
    // tmpfs takes no device: nothing of it is boatload's when it ends.
    let mut command = bench.command(["run", "--filesystem", "tmpfs"].into_iter().chain(place));
    let job = bench.write("files.toml", LONG_JOB.replace("3_000_000", "40_000"));
    let running = Running::start_on_made(command_with(&mut command, &job), &bench.work());
    assert!(output("mkfs.ext4", &["-q", &disk.device]).is_some());
    let before = disk.content();
    running.signal(Signal::INT);
    assert_eq!(running.ended().code, Some(130));
    assert_eq!(disk.content(), before);
    assert_no_trace(&bench);
}

#[test]
fn a_device_that_someone_needs_is_never_written() {
    let Some(bench) = bench("devices that are not to be erased") else { return };
    let disk = Disk::new(600);
    let job = job(&bench);
    let run = |device: &str, erase: &str, parts: &[&str], code: i32| {
        let words = ["run", &job, "--filesystem", "ext4", "--device", device, "--erase", erase];
        refused(&bench, &words, code, parts);
    };
    run(&disk.device, "/dev/loop-control", &["/dev/loop-control"], 2);
    refused(
        &bench,
        &["run", &job, "--filesystem", "ext4", "--device", &disk.device],
        2,
        &["--erase"],
    );
    assert!(output("mkfs.ext4", &["-q", &disk.device]).is_some());
    let before = disk.content();
    run(&disk.device, &disk.device, &["ext4", "wipefs"], 1);
    assert_eq!(disk.content(), before, "not a byte of it is another");
    let Some(mounted) = LoopMount::new("ext4", 64) else { return };
    run(&mounted.device(), &mounted.device(), &["mounted"], 1);
    assert!(PathBuf::from(mounted.path()).join("lost+found").exists());
}
