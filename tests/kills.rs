//! Kills runs of all scenarios with SIGKILL at random moments, in directories, on file systems that boatload makes, and
//! with places that are prepared. Each time the store must open, and the run must resume and give the measurements of an
//! uninterrupted one, with its finished cells unchanged (or, where the store did not have it yet, be cleaned
//! up). Nothing of it may be left, and nothing else be changed.
//!
//! `BOATLOAD_KILLS=300` kills so often instead of 12 times, and prints what became of them in one line;
//! `BOATLOAD_KILLS_SEED` repeats the draws of another time.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test panics when it cannot continue"
)]

mod common;

#[path = "common/command.rs"]
mod command;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use command::{Bench, names_in};
use common::skip;
use serde_json::Value;

/// Kills that hit a run before its end.
const KILLS: u32 = 12;

/// At most this many kills of one run: then it runs to its end.
const KILLS_OF_A_RUN: u32 = 4;

/// Runs of a few seconds, each a command: all scenarios, and all places that can be made anew.
const RUNS: [&str; 19] = [
    "maildir --set files=700 --set files_max=800 --set time=0.1s --repeats 2",
    "varmail --set files=60 --set files_max=100 --set time=0.1s --repeats 2",
    "fileserver --set files=60 --set files_max=100 --set time=0.1s --repeats 2 --cache as-is",
    "smallfiles --set files=200 --set selected=50 --repeats 2 --filesystem ext4 --size 300MiB --cache as-is",
    "directory --set files=400,800 --set directories=4 --set selected=20 --set seconds=0.01 --repeats 2 --cache as-is",
    "clutter --set files_present=0,300 --set bytes=4MiB --repeats 2 --filesystem ext4 --size 64MiB --cache as-is",
    "chunks --set chunk_sizes=1KiB,8KiB --set chunks=64,32 --set threads=2 --repeats 2",
    "smallfiles --set files=30 --set selected=10 --repeats 2 --filesystem ext4 --disk hdd-7200 --size 64MiB \
     --cache as-is",
    "sequential --set bytes=8MiB --repeats 3 --cache as-is",
    "clutter --set files_present=0,300 --set bytes=4MiB --repeats 2 --filesystem ext4 --size 64MiB --in-memory \
     --cache as-is",
    "device --set seconds=0.1 --repeats 10 --engine sim",
    "fullness --set levels=4,8 --set file_size=1MiB --set directories=20 --set scan_files=5 --repeats 2 \
     --filesystem ext4 --size 64MiB --cache as-is",
    "smallfiles --set files=400 --set selected=60 --repeats 3 --cache as-is",
    "clutter --set files_present=0,300 --set bytes=4MiB --repeats 2 --filesystem ext4 --size 64MiB --disk hdd-7200 \
     --cache as-is",
    "clutter --set files_present=0,300,600 --set bytes=12MiB --repeats 2 --cache as-is",
    "smallfiles --set files=100 --set selected=30 --repeats 2 --filesystem ext4,ext2 --disk ram --cache as-is",
    "smallfiles --set files=20k --repeats 12 --engine sim",
    "postmark --set turns=2k --repeats 3",
    "io500 --set files=400 --threads 2 --repeats 3 --cache as-is",
];

/// A run that was not interrupted.
struct Whole {
    arguments: Vec<&'static str>,
    code: Option<i32>,
    set: Vec<String>,
    /// The least that it took, if it was done several times.
    took: Duration,
}

/// What became of kills and of the runs that they hit.
#[derive(Debug, Default)]
struct Counts {
    kills: u32,
    /// Kills that came before the end.
    hits: u32,
    /// Runs that were resumed and ended with the measurements of an uninterrupted one.
    resumed: u32,
    /// Resumed runs that had finished cells, which were kept.
    resumed_with_cells: u32,
    /// Resumed runs that `clean` had been asked to clean up before.
    resumed_after_clean: u32,
    /// Runs that were cleaned up, since the store did not have them yet.
    cleaned: u32,
    /// Runs that were complete when the kill came.
    complete: u32,
}

/// Marsaglia, "Xorshift RNGs" (2003).
struct Draws(u64);

impl Draws {
    /// From 0 to 1.
    fn fraction(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// What is in a directory, by path: inode, mode, time of the last change of content in ns, and content.
type Tree = BTreeMap<PathBuf, (u64, u32, i64, Vec<u8>)>;

fn tree(below: &Path) -> Tree {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(below).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let facts = entry.metadata().unwrap();
        let content = if facts.is_dir() { Vec::new() } else { std::fs::read(&path).unwrap() };
        if facts.is_dir() {
            all.extend(tree(&path));
        }
        let changed_ns = facts.mtime() * 1_000_000_000 + facts.mtime_nsec();
        all.insert(path, (facts.ino(), facts.mode(), changed_ns, content));
    }
    all
}

/// What must not be touched: files with names that boatload gives among them.
fn make_sentinel(at: &Path) -> Tree {
    for name in ["c0000000001/h0000000001", "boatload-", "mounted"] {
        let directory = at.join("sentinel").join(name);
        std::fs::create_dir_all(&directory).unwrap();
        for file in ["f0000000001", ".boatload", "image"] {
            std::fs::write(directory.join(file), format!("{name} {file}")).unwrap();
        }
    }
    tree(at)
}

fn measurements(document: &Value) -> &[Value] {
    document["measurements"].as_array().unwrap()
}

fn cell_of(measurement: &Value) -> String {
    let of = measurement;
    format!("{} {} {}", of["variant"], of["level"]["value"], of["repeat"])
}

fn set_of(document: &Value) -> Vec<String> {
    let all = measurements(document).iter();
    all.map(|m| format!("{} {} {}", cell_of(m), m["phase"], m["pass"])).collect()
}

/// The measurements of cells that were followed by another one, so that they are certainly done.
fn of_finished_cells(document: &Value) -> &[Value] {
    let all = measurements(document);
    let last = all.last().map(cell_of);
    let finished = all.iter().position(|m| Some(cell_of(m)) == last);
    &all[..finished.unwrap_or(0)]
}

impl Whole {
    /// Does a run once; `None` where this machine cannot do it.
    fn of(line: &'static str) -> Option<Self> {
        let bench = Bench::in_memory();
        let arguments: Vec<&str> = std::iter::once("run").chain(line.split_whitespace()).collect();
        let begun = Instant::now();
        let ran = bench.run(arguments.iter().copied().chain(["--json", "-"]));
        if !matches!(ran.code, Some(0 | 4)) {
            assert_ne!(ran.code, Some(2), "{line}: {}", ran.stderr);
            skip(&format!("kills of `{line}`"), ran.stderr.trim());
            return None;
        }
        let took = begun.elapsed();
        let document = ran.json();
        if line.contains("levels=") || line.contains("files_present=") {
            let are_kept = line.contains("--filesystem");
            let order = if are_kept { "random" } else { "as-prepared" };
            assert_eq!(document["run"]["level_order"], order, "images of places: {line}");
        }
        Some(Self { arguments, code: ran.code, set: set_of(&document), took })
    }

    /// Starts a command and kills it after a share of the time that the run takes; whether it had ended before.
    fn is_hit(
        &mut self,
        bench: &Bench,
        arguments: &[&str],
        share: f64,
        counts: &mut Counts,
    ) -> bool {
        let mut command = bench.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (begun, after) = (Instant::now(), self.took.mul_f64(share));
        let mut ended = None;
        while begun.elapsed() < after && ended.is_none() {
            std::thread::sleep(Duration::from_millis(1));
            ended = child.try_wait().unwrap();
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        let is_hit = status.signal() == Some(9);
        if !is_hit {
            assert_eq!(status.code(), self.code, "{}", self.line());
            // It was slower the first time.
            self.took = self.took.min(begun.elapsed());
        }
        counts.kills += 1;
        counts.hits += u32::from(is_hit);
        is_hit
    }

    fn line(&self) -> String {
        self.arguments.join(" ")
    }
}

/// The newest run of the store, which must open; `None` if it has no run.
fn stored(bench: &Bench, line: &str) -> Option<Value> {
    let listed = bench.run(["runs"]);
    assert_eq!(listed.code, Some(0), "{line}: {}", listed.stderr);
    if listed.stdout.starts_with("No runs yet") {
        return None;
    }
    let shown = bench.run(["show", "last", "--json", "-"]);
    assert!(matches!(shown.code, Some(0 | 4)), "{line}: {}", shown.stderr);
    Some(shown.json())
}

fn clean(bench: &Bench, before: &Tree, line: &str) {
    let cleaned = bench.run(["clean", "--yes"]);
    assert_eq!(cleaned.code, Some(0), "{line}: {}", cleaned.stderr);
    nothing_is_left(bench, before, line);
}

/// Files of boatload at a place besides those that are known.
fn left(bench: &Bench) -> String {
    let at = bench.work();
    let place = at.to_str().unwrap();
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap().replace("\\040", " ");
    let loops = common::output("losetup", &["--list", "--noheadings", "-O", "BACK-FILE"]);
    let all = format!("{mounts}\n{}", loops.unwrap_or_default());
    let lines = all.lines().filter(|line| line.contains(place)).map(String::from);
    let names = names_in(&at).into_iter().filter(|name| name != "sentinel");
    lines.chain(names).chain(processes(&bench.store())).collect::<Vec<_>>().join("; ")
}

/// Processes of boatload with the environment of a bench, or with a file of it open.
fn processes(store: &Path) -> Vec<String> {
    let bench = store.parent().unwrap();
    let is_of_bench = |process: &Path| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        let open = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        String::from_utf8_lossy(&environment).contains(bench.to_str().unwrap())
            || open
                .filter_map(|file| file.path().read_link().ok())
                .any(|file| file.starts_with(bench))
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let program = Path::new(env!("CARGO_BIN_EXE_boatload"));
    let ours =
        all.filter(|process| process.join("exe").read_link().is_ok_and(|exe| exe == program));
    ours.filter(|process| is_of_bench(process))
        .map(|process| process.display().to_string())
        .collect()
}

/// Kills a run, and often the process that resumes it, then lets it run to its end.
fn kill_and_go_on(whole: &mut Whole, draws: &mut Draws, counts: &mut Counts) {
    let line = whole.line();
    let bench = Bench::in_memory();
    let before = make_sentinel(&bench.work());
    let arguments = whole.arguments.clone();
    whole.is_hit(&bench, &arguments, draws.fraction(), counts);
    let Some(mut document) = stored(&bench, &line) else {
        clean(&bench, &before, &line);
        counts.cleaned += 1;
        return;
    };
    if document["run"]["complete"] == true {
        counts.complete += 1;
    }
    let (mut kills, is_killed_again) = (1, draws.fraction() < 0.5);
    let (mut is_resumed, mut has_cells, mut is_clean) = (false, false, false);
    while document["run"]["complete"] == false {
        let finished = of_finished_cells(&document).to_vec();
        has_cells |= !finished.is_empty();
        if draws.fraction() < 0.25 {
            clean(&bench, &before, &line);
            is_clean = true;
        }
        let to_do = 1.0 - measurements(&document).len() as f64 / whole.set.len() as f64;
        kills += 1;
        let is_hit = is_killed_again && kills <= KILLS_OF_A_RUN && {
            let share = draws.fraction() * to_do;
            whole.is_hit(&bench, &["resume", "last"], share, counts)
        };
        if !is_hit && stored(&bench, &line).unwrap()["run"]["complete"] == false {
            let ran = bench.run(["resume", "last", "--json", "-"]);
            assert_eq!(ran.code, whole.code, "{line}: {}", ran.stderr);
            let told = ran.json();
            assert_eq!(measurements(&told)[..finished.len()], finished, "{line}: finished cells");
        }
        document = stored(&bench, &line).unwrap();
        assert_eq!(
            measurements(&document)[..finished.len()],
            finished,
            "{line}: cells that were done"
        );
        assert!(is_hit || document["run"]["complete"] == true, "{line}: it was resumed to its end");
        is_resumed = true;
    }
    assert_eq!(set_of(&document), whole.set, "{line}");
    assert_eq!(document["run"]["resumed"].is_array(), is_resumed, "{line}");
    nothing_is_left(&bench, &before, &line);
    counts.resumed += u32::from(is_resumed);
    counts.resumed_with_cells += u32::from(is_resumed && has_cells);
    counts.resumed_after_clean += u32::from(is_resumed && is_clean);
}

/// Waits a moment for the loop device and the server of a disk: they end after their last user.
fn nothing_is_left(bench: &Bench, before: &Tree, line: &str) {
    for _ in 0..50 {
        if left(bench).is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(left(bench), "", "{line}");
    assert_eq!(tree(&bench.work()), *before, "{line}");
}

#[test]
fn runs_that_are_killed_at_any_moment_go_on_and_leave_nothing_behind() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let asked = number("BOATLOAD_KILLS").map_or(KILLS, |asked| asked as u32);
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    let seed = number("BOATLOAD_KILLS_SEED").unwrap_or(now) | 1;
    eprintln!("BOATLOAD_KILLS_SEED={seed}");
    let (mut draws, mut counts) = (Draws(seed), Counts::default());
    let mut wholes: BTreeMap<&str, Option<Whole>> = BTreeMap::new();
    // Few kills do not reach all kinds of runs: each time begins with another one.
    let first = (draws.fraction() * RUNS.len() as f64) as usize;
    for line in RUNS.iter().cycle().skip(first) {
        if counts.hits >= asked || counts.kills >= asked.saturating_mul(3) {
            break;
        }
        if let Some(whole) = wholes.entry(line).or_insert_with(|| Whole::of(line)) {
            kill_and_go_on(whole, &mut draws, &mut counts);
        }
        let can_be_done = wholes.values().flatten().count();
        assert!(wholes.len() < RUNS.len() || can_be_done > 4, "too few runs can be done here");
    }
    let kinds = wholes.values().flatten().count();
    let Counts { kills, hits, resumed, resumed_with_cells, resumed_after_clean, cleaned, complete } =
        counts;
    eprintln!(
        "{kills} kills of {kinds} kinds of runs, {hits} of them before the end; {resumed} runs resumed and whole \
         ({resumed_with_cells} with finished cells, {resumed_after_clean} cleaned up before), {cleaned} cleaned up \
         that the store did not have yet, {complete} complete when killed"
    );
    assert!(hits >= asked && 2 * hits > kills, "kills come too late: {hits} of {kills}");
    assert!(resumed > 0 && resumed_with_cells > 0, "too little was resumed: {counts:?}");
}
