//! Full, read-only and mounted-over places: refused before anything is written, counted when it
//! happens on the way, and never crossed. Needs root, to mount small file systems in memory.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so when it cannot go on"
)]

mod common;

#[path = "common/command.rs"]
mod command;
#[path = "common/mounts.rs"]
mod mounts;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use rustix::process::Signal;

use command::{Bench, Ran, Running, SMALL, names_in, run_directories};
use common::skip;
use mounts::Mounted;

/// A file system in memory over the bench's directory; none, with the reason spoken, without root.
fn tmpfs(bench: &Bench, options: &str, what: &str) -> Option<Mounted> {
    Mounted::tmpfs(&bench.work(), options).map_err(|why| skip(what, &why)).ok()
}

/// Writes a file until nothing more fits.
fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    for piece in [1 << 20, 4096] {
        while file.write_all(&vec![1u8; piece]).is_ok() {}
    }
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let bench = Bench::default();
    let Some(place) = tmpfs(&bench, "size=2M", "a run that does not fit") else { return };
    for command in ["run", "plan"] {
        let ran = bench.run([command, "--set", "files=5k", "--set", "selected=10"]);
        assert_eq!(ran.code, Some(1), "{command}: {}", ran.stderr);
        for word in ["does not fit", "reserve", "available", "Nothing was written"] {
            assert!(ran.stderr.contains(word), "{command}: no {word} in {}", ran.stderr);
        }
        assert_eq!(names_in(place.path()), Vec::<String>::new(), "{command}");
    }
    let few = ["--set", "files=20", "--set", "selected=5", "--set", "typical_max=4KiB"];
    let small = bench.run([&["run", "--repeats", "1"], &few[..]].concat());
    assert_eq!(small.code, Some(0), "what fits beside the reserve runs: {}", small.stderr);
}

#[test]
fn too_few_inodes_are_refused_like_too_few_bytes() {
    let bench = Bench::default();
    let what = "a run with too few inodes";
    let Some(place) = tmpfs(&bench, "size=64M,nr_inodes=150", what) else { return };
    let ran = bench.run(SMALL);
    assert!(ran.refuses(1).contains("inodes"), "{}", ran.stderr);
    assert_eq!(names_in(place.path()), Vec::<String>::new());
}

#[test]
fn a_full_file_system_is_refused_and_what_is_on_it_stays() {
    let bench = Bench::default();
    let Some(place) = tmpfs(&bench, "size=1M", "a full file system") else { return };
    fill(&place.path().join("full"));
    let before = std::fs::metadata(place.path().join("full")).unwrap().len();
    bench.run(SMALL).refuses(1);
    assert_eq!(names_in(place.path()), ["full"]);
    assert_eq!(std::fs::metadata(place.path().join("full")).unwrap().len(), before);
}

#[test]
fn a_file_system_that_fills_up_on_the_way_gives_counted_errors_and_is_cleaned_up() {
    let bench = Bench::default();
    let what = "a file system that fills up on the way";
    let Some(place) = tmpfs(&bench, "size=128M", what) else { return };
    let job = "name = \"x\"\nquestion = \"?\"\nrepeats = 2\n[tree]\nfiles = 20_000\nsize = 4096\n\
               [[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"read\"\n\
               [[phase]]\noperation = \"delete\"\n";
    let job = bench.write("job.toml", job);
    let mut command = bench.command(["run", "--json", "-"]);
    command.arg(&job);
    let running = Running::start(command, place.path());
    running.signal(Signal::STOP);
    fill(&place.path().join("filler"));
    running.signal(Signal::CONT);
    let ran = running.ended();

    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let document = ran.json();
    let measurements = document["measurements"].as_array().unwrap();
    assert_eq!(measurements.len(), 6, "the rest goes on: {document}");
    let create = &measurements[0];
    let failed = create["errors"]["ENOSPC"].as_u64().unwrap();
    assert_eq!((create["valid"].as_bool(), failed > 0), (Some(false), true), "{create}");
    assert_eq!(create["operations"].as_u64().unwrap() + failed, 20_000, "{create}");
    assert_eq!(document["run"]["complete"], true);
    assert_eq!(names_in(place.path()), ["filler"]);
}

#[test]
fn a_place_that_cannot_be_written_is_one_clear_error() {
    let bench = Bench::default();
    let what = "a read-only file system";
    let Some(place) = tmpfs(&bench, "size=64M", what) else { return };
    place.make_read_only();
    let ran = Ran::of(bench.command(SMALL).arg("--dir").arg(place.path()));
    let said = ran.refuses(1);
    for part in ["Read-only file system", "--dir", place.path().to_str().unwrap()] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    let said = bench.run(["clean", "--yes"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn a_store_that_cannot_be_written_is_refused_before_anything_runs() {
    let bench = Bench::default();
    let over = bench.beside("store");
    std::fs::create_dir(&over).unwrap();
    let place = match Mounted::tmpfs(&over, "size=8M") {
        Ok(place) => place,
        Err(why) => return skip("a read-only store", &why),
    };
    let store = over.join("store.db");
    let stored = Ran::of(bench.bare().args(SMALL).arg("--store").arg(&store));
    assert_eq!(stored.code, Some(0), "{}", stored.stderr);
    place.make_read_only();
    for path in [&store, &over.join("new.db"), &over.join("deep/new.db")] {
        let ran = Ran::of(bench.bare().args(SMALL).arg("--store").arg(path));
        assert!(ran.refuses(1).contains("--store FILE"), "{}", ran.stderr);
        assert!(ran.stderr.contains(path.parent().unwrap().to_str().unwrap()), "{}", ran.stderr);
    }
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

#[test]
fn a_store_that_is_full_ends_the_run_with_its_name_and_cleans_up() {
    let bench = Bench::default();
    let over = bench.beside("store");
    std::fs::create_dir(&over).unwrap();
    let _place = match Mounted::tmpfs(&over, "size=8M") {
        Ok(place) => place,
        Err(why) => return skip("a full store", &why),
    };
    let store = over.join("store.db");
    let stored = Ran::of(bench.bare().args(SMALL).arg("--store").arg(&store));
    assert_eq!(stored.code, Some(0), "{}", stored.stderr);
    fill(&over.join("filler"));
    let ran = Ran::of(bench.bare().args(SMALL).arg("--store").arg(&store));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains(store.to_str().unwrap()), "{}", ran.stderr);
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
    std::fs::remove_file(over.join("filler")).unwrap();
    let runs = Ran::of(bench.bare().arg("runs").arg("--store").arg(&store));
    assert!(runs.stdout.contains("complete"), "the first run is still there: {}", runs.stdout);
}

/// What a killed run left, with directories in its tree.
fn leftover(bench: &Bench) -> std::path::PathBuf {
    let job = "name = \"x\"\nquestion = \"?\"\n[tree]\nfiles = 300_000\ndirectories = 4\n\
               order = \"stripe\"\n[[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"stat\"\npasses = 100\n";
    let job = bench.write("job.toml", job);
    let mut command = bench.command(["run"]);
    command.arg(&job).stdout(std::process::Stdio::null());
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let run_directory = loop {
        let found = run_directories(&bench.work()).into_iter().next();
        let holder = found
            .map(|run_directory| (run_directory.join("c0000000001/h0000000003"), run_directory));
        match holder {
            Some((holder, run_directory)) if holder.exists() && !names_in(&holder).is_empty() => {
                break run_directory;
            }
            _ if child.try_wait().unwrap().is_some() => {
                panic!("it ended before it could be killed")
            }
            _ => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    run_directory
}

#[test]
fn clean_never_crosses_a_mount_inside_a_leftover_tree() {
    let bench = Bench::default();
    let run_directory = leftover(&bench);
    let cell = run_directory.join("c0000000001");
    let precious = bench.beside("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("f0000000007"), "precious").unwrap();
    std::fs::write(bench.beside("file"), "precious").unwrap();
    let file = {
        let mut names = names_in(&cell.join("h0000000003"));
        cell.join("h0000000003").join(names.pop().unwrap())
    };
    // The same file system a second time, which no device number betrays; another; and a file.
    let mounts = [
        Mounted::bind(&precious, &cell.join("h0000000001")),
        Mounted::tmpfs(&cell.join("h0000000002"), "size=1M"),
        Mounted::bind(&bench.beside("file"), &file),
    ];
    if let Some(why) = mounts.iter().find_map(|mount| mount.as_ref().err()) {
        return skip("a mount inside a leftover tree", why);
    }
    std::fs::write(cell.join("h0000000002/f0000000002"), "precious").unwrap();

    let ran = bench.run(["clean", "--yes"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    for path in [precious.join("f0000000007"), cell.join("h0000000002/f0000000002"), file.clone()] {
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious", "{}", path.display());
    }
    for name in ["h0000000001", "h0000000002", file.file_name().unwrap().to_str().unwrap()] {
        assert!(ran.stderr.contains(name), "{name} is not named: {}", ran.stderr);
    }
    drop(mounts);
    let ran = bench.run(["clean", "--yes"]);
    assert_eq!(ran.code, Some(0), "when nothing is mounted there any more: {}", ran.stderr);
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
    assert!(precious.join("f0000000007").exists() && bench.beside("file").exists());
}

#[test]
fn a_mount_in_the_place_of_a_run_directory_is_left_alone() {
    let bench = Bench::default();
    let run_directory = leftover(&bench);
    let mounted = bench.work().join("boatload-mounted2");
    std::fs::create_dir(&mounted).unwrap();
    let mount = match Mounted::bind(&run_directory, &mounted) {
        Ok(mount) => mount,
        Err(why) => return skip("a mounted run directory", &why),
    };
    let ran = bench.run(["clean", "--yes"]);
    assert!(ran.stderr.contains("boatload-mounted2 is left alone"), "{}", ran.stderr);
    assert!(mount.path().exists());
}
