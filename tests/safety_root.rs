//! Full, read-only and mounted-over places: refused before anything is written, counted when it
//! happens on the way, and never crossed. Needs root, to mount small file systems in memory.
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
#[path = "common/mounts.rs"]
mod mounts;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use rustix::process::{Pid, Signal};

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

/// A line of what the kernel says of a process, as a number.
fn status(process: Pid, line: &str) -> u64 {
    let path = format!("/proc/{}/status", process.as_raw_nonzero());
    let text = std::fs::read_to_string(path).unwrap();
    let value = text.lines().find_map(|all| all.strip_prefix(line)).unwrap().trim();
    u64::from_str_radix(value, 16).unwrap()
}

/// Bits of capabilities, as in linux/capability.h.
fn bits(numbers: &[u32]) -> u64 {
    numbers.iter().fold(0, |all, number| all | 1 << number)
}

#[test]
fn root_gives_up_what_a_command_does_not_need() {
    const SETPCAP: u64 = 1 << 8;
    let this = rustix::process::getpid();
    if status(this, "CapEff:") & SETPCAP == 0 {
        return skip("the capabilities of a command", "it takes root with CAP_SETPCAP");
    }
    let check = |process: Pid, needed: u64, what: &str| {
        for line in ["CapEff:", "CapPrm:", "CapBnd:"] {
            let more = status(process, line) & !needed;
            assert_eq!(more, 0, "{what} keeps more in {line} {more:x}");
        }
        assert_eq!(status(process, "NoNewPrivs:"), 1, "{what}");
    };
    let files = bits(&[0, 1, 3, 4]);
    let bench = Bench::default();
    let run = bench.long_run(&bench.work());
    check(run.id(), files | bits(&[14, 19, 21, 23, 24, 34, 38]), "run");
    drop(run);
    // It waits with its answer until the pipe is read.
    let (answer, mut full) = std::io::pipe().unwrap();
    full.write_all(&[0; 64 << 10]).unwrap();
    let mut runs = bench.command(["runs"]).stdout(full).spawn().unwrap();
    let process = Pid::from_child(&runs);
    for _ in 0..2_000 {
        if status(process, "NoNewPrivs:") == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    check(process, files, "runs");
    drop(answer);
    runs.wait().unwrap();
}

/// Stands in the place of mkfs.ext4, writes down its rights, and does its work.
const STAND_IN: &str = "#!/bin/sh\ngrep -e CapPrm -e CapEff /proc/self/status >>'DIR/rights'\n\
                        exec 'DIR/mkfs.ext4' \"$@\"\n";

#[test]
fn a_mkfs_that_root_starts_may_open_files_of_others_and_no_more() {
    let what = "the capabilities of mkfs";
    let bench = Bench::default();
    let directory = bench.beside("");
    let Ok(program) = Path::new("/usr/sbin/mkfs.ext4").canonicalize() else {
        return skip(what, "/usr/sbin/mkfs.ext4 is missing");
    };
    command::install(&program, &directory.join("mkfs.ext4"));
    let text = bench.write("text", STAND_IN.replace("DIR", directory.to_str().unwrap()));
    let stand_in = bench.beside("stand-in");
    command::install(&text, &stand_in);
    let bound = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"", "sh"])
        .args([&stand_in, &program])
        .arg(env!("CARGO_BIN_EXE_boatload"))
        .args(SMALL)
        .args(["--filesystem", "ext4", "--store"])
        .arg(bench.store())
        .current_dir(bench.work())
        .output();
    let Ok(rights) = std::fs::read_to_string(directory.join("rights")) else {
        return skip(what, &format!("takes root, mounts of its own and loop devices: {bound:?}"));
    };
    assert!(rights.lines().count() >= 4, "its version and its work: {rights}");
    for line in rights.lines() {
        let bits = u64::from_str_radix(line.split_whitespace().next_back().unwrap(), 16).unwrap();
        assert_eq!(bits & !2, 0, "more than CAP_DAC_OVERRIDE: {line}");
    }
}

/// A control group of a test, which goes with it.
struct ControlGroup {
    directory: std::path::PathBuf,
}

impl ControlGroup {
    /// A group whose processes may take `bytes` of memory together; else why there is none.
    fn of_memory(bytes: u64) -> Result<Self, String> {
        let name = format!("boatload-test-{}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/memory");
        let (above, limit) = match first.is_dir() {
            true => (first, "memory.limit_in_bytes"),
            false => (Path::new("/sys/fs/cgroup"), "memory.max"),
        };
        let directory = above.join(name);
        let why = |error: std::io::Error| format!("no control group: {error}");
        std::fs::create_dir(&directory).map_err(why)?;
        let group = Self { directory };
        std::fs::write(group.directory.join(limit), bytes.to_string()).map_err(why)?;
        Ok(group)
    }

    /// Runs a command of the bench in it.
    fn run(&self, bench: &Bench, arguments: &[&str]) -> Ran {
        let mut shell = std::process::Command::new("sh");
        let script = "echo $$ >\"$0\"/cgroup.procs && exec \"$@\"";
        shell.args(["-c", script]).arg(&self.directory).arg(env!("CARGO_BIN_EXE_boatload"));
        shell.arg(arguments[0]).arg("--store").arg(bench.store()).args(&arguments[1..]);
        Ran::of(shell.current_dir(bench.work()).stdin(std::process::Stdio::null()))
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.directory);
    }
}

#[test]
fn memory_is_that_of_the_control_group_and_what_does_not_fit_is_refused() {
    let bench = Bench::default();
    let group = match ControlGroup::of_memory(256 << 20) {
        Ok(group) => group,
        Err(why) => return skip("the limit of a control group", &why),
    };
    let job = "name = 'x'\n[tree]\nfiles = 64\nsize = '16MiB'\n[[phase]]\noperation = 'create'\n\
               block = '16MiB'\n";
    let job = bench.write("job.toml", job);
    let job = job.to_str().unwrap();
    for command in ["run", "plan"] {
        let ran = group.run(&bench, &[command, job, "--threads", "64"]);
        assert_eq!(ran.code, Some(1), "{command}: {}", ran.stderr);
        let told = ran.stderr;
        for words in ["64 threads of `create` with 16.7 MiB each", "control group /boatload-test-"]
        {
            assert!(told.contains(words), "{command}: no {words} in {told}");
        }
        assert_eq!(names_in(&bench.work()), Vec::<String>::new(), "{command}");
    }
    let fits = group.run(&bench, &["plan", job, "--threads", "4"]);
    assert!(fits.stdout.contains("control group"), "{}{}", fits.stdout, fits.stderr);
    let twice = bench.write(
        "twice.toml",
        std::fs::read_to_string(job).unwrap().replace("16MiB'\n[[", "2x memory'\n[["),
    );
    let ran = group.run(&bench, &["plan", twice.to_str().unwrap()]);
    let all = ran.stdout + &ran.stderr;
    assert!(all.contains("512 MiB"), "twice the group's memory: {all}");
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
    assert_eq!(measurements.len(), 6, "the other phases are measured: {document}");
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
fn a_store_on_a_full_disk_costs_no_result_and_takes_the_run_once_there_is_space() {
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
    assert!(ran.stdout.contains("create"), "{}", ran.stdout);
    std::fs::remove_file(over.join("filler")).unwrap();
    // Beside the store there was no space for it either.
    let [spill] = names_in(&bench.work()).try_into().unwrap();
    let imported = Ran::of(bench.bare().args(["import", &spill, "--store"]).arg(&store));
    assert!(imported.stdout.starts_with("imported "), "{}{}", imported.stdout, imported.stderr);
    let runs = Ran::of(bench.bare().arg("runs").arg("--store").arg(&store));
    assert_eq!(
        runs.stdout.lines().filter(|run| run.contains("complete")).count(),
        2,
        "{}",
        runs.stdout
    );
}

/// What a killed run left, with directories in its tree.
fn leftover(bench: &Bench) -> std::path::PathBuf {
    let job = "name = \"x\"\nquestion = \"?\"\n[tree]\nfiles = 300_000\ndirectories = 4\n\
               placement = \"stripe\"\n[[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"stat\"\npasses = 100\n";
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
