//! Runs of eight ranks as a user starts them, with the launcher of the MPI that this was built with, on directories that
//! they share.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../../tests/common/mod.rs"]
mod common;
mod launch;
#[path = "../../tests/common/mounts.rs"]
mod mounts;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_boatload-mpi");

const RANKS: u32 = 8;

/// Files of each rank.
const FILES: u64 = 100;

/// `mdtest -F -u -N 1 -n FILES`: each process works on the files of the next one after it has made its own.
const LIKE_MDTEST: &str = r#"
name = "like-mdtest"
question = "How many files a second does a directory that all share take?"
cache = "as-is"
[tree]
files = "$files"
directories = 1
size = 0
[parameters]
files = 100
[[phase]]
operation = "create"
[[phase]]
operation = "stat"
rank_offset = 1
[[phase]]
operation = "read"
rank_offset = 1
[[phase]]
operation = "delete"
rank_offset = 1
"#;

/// `mdtest -F -N 1 -n FILES`: the same in one directory that all share.
fn like_mdtest_without_u() -> String {
    LIKE_MDTEST.replace("[tree]", "[tree]\ntrees = \"shared-by-ranks\"")
}

/// What mdtest says that it did: `summary_table.items` is `items * size` in each of its file tests (hpc/ior, src/mdtest.c,
/// `file_test`), the items of a process times the processes.
fn operations_of_mdtest(processes: u32, items: u64) -> BTreeMap<&'static str, u64> {
    let all = items * u64::from(processes);
    [("create", all), ("stat", all), ("read", all), ("delete", all)].into()
}

/// A place to run in, and a store.
struct Bench {
    root: TempDir,
    job: PathBuf,
}

impl Bench {
    /// One for a job.
    fn of(job_text: &str) -> Self {
        // In memory, if there is such a place: a rank that is killed while it syncs a disk ends only then.
        let memory = Path::new("/dev/shm");
        let root =
            tempfile::tempdir_in(if memory.is_dir() { memory } else { Path::new("/tmp") }).unwrap();
        let job = root.path().join("job.toml");
        std::fs::write(&job, job_text).unwrap();
        std::fs::create_dir(root.path().join("shared")).unwrap();
        Self { root, job }
    }

    /// Where all ranks work.
    fn shared(&self) -> PathBuf {
        self.root.path().join("shared")
    }

    /// `boatload-mpi run` of the job in a directory.
    fn run_in(&self, ranks: u32, directory: &Path) -> Command {
        self.run_into(&self.root.path().join("store.db"), ranks, directory)
    }

    /// The same with another store.
    fn run_into(&self, store: &Path, ranks: u32, directory: &Path) -> Command {
        let mut command = launch::launch(ranks, Path::new(PROGRAM));
        command.arg("run").arg(&self.job).args(["--repeats", "1", "--dir"]).arg(directory);
        command.arg("--store").arg(store).stdin(Stdio::null());
        command
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The directories of runs that are left in a directory.
fn runs_in(directory: &Path) -> Vec<String> {
    names_in(directory).into_iter().filter(|name| name.starts_with("boatload-")).collect()
}

/// The calls that made and that removed files of the tree, counted by strace in all processes.
struct CallsOnFiles {
    made: u64,
    removed: u64,
    /// Different names among those that were made.
    names: u64,
}

fn calls_on_files(trace: &Path) -> CallsOnFiles {
    let trace = std::fs::read_to_string(trace).unwrap();
    // A call that another process interrupts in the list is there twice, and once with its name.
    let calls = |name: &str, with: &str| {
        let of_file = |line: &&str| {
            line.contains(&format!(" {name}(")) && line.contains("\"f0") && line.contains(with)
        };
        let lines = trace.lines().filter(of_file);
        lines.filter_map(|line| line.split('"').nth(1)).collect::<Vec<_>>()
    };
    let (made, removed) = (calls("openat", "O_CREAT|O_EXCL"), calls("unlinkat", ""));
    let names = made.iter().collect::<BTreeSet<_>>().len() as u64;
    CallsOnFiles { made: made.len() as u64, removed: removed.len() as u64, names }
}

/// Runs the job in a directory, with trees of the ranks' own and with one that they share, counts, and holds the counts
/// against each other.
fn counts_agree(directory: &Path) {
    counts_of_job_agree(directory, LIKE_MDTEST, FILES);
    counts_of_job_agree(directory, &like_mdtest_without_u(), FILES * u64::from(RANKS));
}

/// The same for one job, whose files have so many different names.
fn counts_of_job_agree(directory: &Path, job: &str, names: u64) {
    let bench = Bench::of(job);
    let trace = bench.root.path().join("trace");
    let mut run = bench.run_in(RANKS, directory);
    run.args(["--json", "-"]);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-e", "trace=openat,unlinkat", "-o"]).arg(&trace);
    traced.arg(run.get_program()).args(run.get_args()).stdin(Stdio::null());
    traced.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Output { status, stdout, stderr } = traced.output().unwrap();
    assert_eq!(status.code(), Some(0), "{}", text(&stderr));
    let document: Value = serde_json::from_slice(&stdout).unwrap();

    let measurements = document["measurements"].as_array().unwrap();
    let did = |m: &Value| m["operations"].as_u64().unwrap();
    let of_phases: BTreeMap<&str, u64> =
        measurements.iter().map(|m| (m["phase"].as_str().unwrap(), did(m))).collect();
    assert_eq!(of_phases, operations_of_mdtest(RANKS, FILES));
    for m in measurements {
        let ranks = m["ranks"]["ranks"].as_array().unwrap();
        assert_eq!(ranks.len(), RANKS as usize);
        assert_eq!(ranks.iter().map(did).sum::<u64>(), did(m), "{m}");
        assert_eq!((&m["invalid"], &m["errors"]), (&Value::Array(vec![]), &serde_json::json!({})));
        assert_eq!(m["entries_found"], m["entries_expected"]);
    }
    let all = FILES * u64::from(RANKS);
    assert_eq!(measurements[0]["entries_found"], all);
    let calls = calls_on_files(&trace);
    assert_eq!((calls.made, calls.removed, calls.names), (all, all, names));
    assert_eq!(runs_in(directory), [""; 0]);
}

/// The files in each directory of a cell in a run's directory, by the rank that has it.
fn files_of_cells(run: &Path) -> BTreeMap<String, usize> {
    let ranks = names_in(run).into_iter().filter(|name| name.starts_with("r0"));
    let cells = ranks.flat_map(|rank| {
        let cells = names_in(&run.join(&rank)).into_iter().filter(|name| name.starts_with("c0"));
        cells.map(move |cell| (rank.clone(), cell)).collect::<Vec<_>>()
    });
    let files = |(rank, cell): (String, String)| {
        let names = names_in(&run.join(&rank).join(cell));
        (rank, names.into_iter().filter(|name| name.starts_with("f0")).count())
    };
    cells.map(files).collect()
}

#[test]
fn one_directory_of_rank_0_holds_the_files_of_all_ranks_while_they_work_on_them() {
    let look = "[[phase]]\nname = \"look\"\noperation = \"stat\"\nduration = \"3s\"\n";
    let bench = Bench::of(
        &(like_mdtest_without_u().replace("rank_offset = 1", "") + look)
            .replace("[[phase]]\noperation = \"delete\"\n", ""),
    );
    let shared = bench.shared();
    let mut command = bench.run_in(RANKS, &shared);
    let mut launcher = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let said = all_of(launcher.stderr.take().unwrap());
    let all = usize::try_from(FILES).unwrap() * RANKS as usize;
    eventually("all files lie in one directory", || {
        let runs = runs_in(&shared).into_iter().map(|run| files_of_cells(&shared.join(run)));
        runs.flatten().collect::<Vec<_>>() == [("r0000000000".to_string(), all)]
    });
    let status = launcher.wait().unwrap();
    assert!(status.success(), "{}", text(&said.join().unwrap()));
    assert_eq!(runs_in(&shared), [""; 0]);
}

/// The jobs that docs/MPI.md shows.
fn jobs_of_guide() -> Vec<&'static str> {
    let guide = include_str!("../../docs/MPI.md");
    let jobs = guide.split("```toml\n").skip(1);
    jobs.map(|rest| rest.split_once("```").expect("each ends").0).collect()
}

/// What four ranks measure of a job in a directory, all of it valid: with `set` a parameter is changed.
fn measured_by_four(job: &str, set: &str, directory: Option<&Path>) -> Vec<Value> {
    let bench = Bench::of(job);
    let shared = bench.shared();
    let mut command = bench.run_in(4, directory.unwrap_or(&shared));
    let Output { status, stdout, stderr } =
        command.args(["--set", set, "--json", "-"]).output().unwrap();
    assert_eq!(status.code(), Some(0), "{}", text(&stderr));
    let document: Value = serde_json::from_slice(&stdout).unwrap();
    let measurements = document["measurements"].as_array().unwrap();
    for m in measurements {
        assert_eq!((&m["invalid"], &m["errors"]), (&Value::Array(vec![]), &serde_json::json!({})));
        assert_eq!(m["entries_found"], m["entries_expected"], "{m}");
    }
    measurements.clone()
}

#[test]
fn the_first_job_of_the_guide_says_which_directories_take_longer() {
    let measurements = measured_by_four(jobs_of_guide()[0], "files=50", None);
    assert_eq!(measurements.len(), 2 * 4, "two variants of four phases");
    assert!(measurements.iter().all(|m| m["operations"] == 200), "{measurements:?}");
}

#[test]
fn the_job_of_the_guide_for_ior_easy_writes_and_reads_a_file_of_each_rank() {
    let measurements = measured_by_four(jobs_of_guide()[1], "bytes=3MiB", None);
    let did: Vec<_> = measurements.iter().map(|m| (&m["operations"], &m["bytes"])).collect();
    assert_eq!(did, [(&Value::from(4), &Value::from(12 << 20)); 2]);
}

#[test]
fn on_tmpfs_four_ranks_do_the_scenario_io500_and_counts_agree() {
    let scenario = include_str!("../../scenarios/io500.toml");
    let place = Bench::of(scenario);
    match mounts::Mounted::tmpfs(&place.shared(), "size=64m") {
        Ok(mounted) => {
            let measurements = measured_by_four(scenario, "files=50", Some(mounted.path()));
            let mut did: Vec<(&str, &str, u64, u64)> =
                measurements.iter().map(row_of_io500).collect();
            did.sort_unstable();
            let expected = [
                ("mdtest-easy", "create", 200, 0),
                ("mdtest-easy", "delete", 200, 0),
                ("mdtest-easy", "read", 200, 0),
                ("mdtest-easy", "stat", 200, 0),
                ("mdtest-hard", "create", 200, 200 * 3_901),
                ("mdtest-hard", "delete", 200, 0),
                ("mdtest-hard", "read", 200, 200 * 3_901),
                ("mdtest-hard", "stat", 200, 0),
            ];
            assert_eq!(did, expected);
            assert_eq!(runs_in(mounted.path()), [""; 0]);
        }
        Err(why) => common::skip("the scenario io500 with four ranks on a tmpfs", &why),
    }
}

/// The variant and the phase of a measurement, its operations and its bytes.
fn row_of_io500(m: &Value) -> (&str, &str, u64, u64) {
    let words = ["variant", "phase"].map(|key| m[key].as_str().unwrap());
    let numbers = ["operations", "bytes"].map(|key| m[key].as_u64().unwrap());
    (words[0], words[1], numbers[0], numbers[1])
}

/// Says why counts cannot be compared; `None` if they can.
fn without_strace() -> bool {
    let missing = common::output("strace", &["-V"]).is_none();
    if missing {
        common::skip("counts of many ranks on disk", "strace is missing");
    }
    missing
}

#[test]
fn on_tmpfs_ranks_do_what_mdtest_does_and_counts_on_disk_agree() {
    let place = Bench::of(LIKE_MDTEST);
    match mounts::Mounted::tmpfs(&place.shared(), "size=64m") {
        Ok(mounted) if !without_strace() => counts_agree(mounted.path()),
        Ok(_) => {}
        Err(why) => common::skip("many ranks on a tmpfs of their own", &why),
    }
}

#[test]
fn on_ext4_ranks_do_what_mdtest_does_and_counts_on_disk_agree() {
    if let Some(mounted) = common::LoopMount::new("ext4", 64).filter(|_| !without_strace()) {
        counts_agree(mounted.path());
    }
}

#[test]
fn on_nfs_ranks_do_what_mdtest_does_and_counts_on_disk_agree() {
    let what = "many ranks on an NFS export of this machine";
    let kernel = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let has = |name| kernel.lines().any(|line| line.split_whitespace().last() == Some(name));
    for (name, which) in [("nfsd", "server"), ("nfs4", "client")] {
        let loaded = has(name) || common::output("modprobe", &[name]).is_some();
        if !loaded {
            return common::skip(what, &format!("the kernel has no NFS {which} ({name})"));
        }
    }
    let Some(disk) = common::LoopMount::new("ext4", 64).filter(|_| !without_strace()) else {
        return;
    };
    let bench = Bench::of(LIKE_MDTEST);
    match NfsMount::new(disk.path(), &bench.shared()) {
        Ok(mounted) => counts_agree(&mounted.at),
        Err(why) => common::skip(what, &why),
    }
}

/// A service of this machine, which ends with this if it was not there before.
struct Service(&'static str);

impl Service {
    /// The service, and what ends it again; `None` where it was already there.
    fn start(name: &'static str) -> Result<Option<Self>, String> {
        if common::output("service", &[name, "status"]).is_some() {
            return Ok(None);
        }
        let started = Self(name);
        common::output("service", &[name, "start"]).ok_or(format!("{name} does not start"))?;
        Ok(Some(started))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = common::output("service", &[self.0, "stop"]);
    }
}

/// A directory of this machine, exported and mounted again over loopback.
struct NfsMount {
    export: String,
    at: PathBuf,
    /// In the order in which they end.
    _services: Vec<Service>,
}

impl NfsMount {
    fn new(directory: &Path, at: &Path) -> Result<Self, String> {
        let export = format!("127.0.0.1:{}", directory.display());
        let source = export.clone();
        // The server can do without it.
        let rpcbind = Service::start("rpcbind").ok().flatten();
        let server = Service::start("nfs-kernel-server")?;
        let services = server.into_iter().chain(rpcbind).collect();
        let mounted = Self { export, at: at.into(), _services: services };
        let at = at.display().to_string();
        // No other export has it: small numbers are those that people give.
        let options = format!("rw,no_root_squash,insecure,fsid={}", 1_000_000 + std::process::id());
        common::output("exportfs", &["-o", &options, &source]).ok_or("exportfs exports nothing")?;
        common::output("mount", &["-t", "nfs4", &source, &at]).ok_or("mount -t nfs4 fails")?;
        Ok(mounted)
    }
}

impl Drop for NfsMount {
    fn drop(&mut self) {
        let _ = common::output("umount", &["-f", &self.at.display().to_string()]);
        let _ = common::output("exportfs", &["-u", &self.export]);
    }
}

/// A run that takes long enough to be killed.
struct LongRun {
    bench: Bench,
    launcher: Child,
    /// What it says on both streams, read as it comes: a full pipe would keep it from ending.
    said: [JoinHandle<Vec<u8>>; 2],
}

/// All that comes from a stream, read by a thread.
fn all_of(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all
    })
}

impl LongRun {
    /// One of four ranks that all have begun to work.
    fn start() -> Self {
        Self::of(LIKE_MDTEST)
    }

    /// The same of another job.
    fn of(job: &str) -> Self {
        let bench = Bench::of(job);
        let mut command = bench.run_in(4, &bench.shared());
        command.args(["--set", "files=200k"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut launcher = command.spawn().unwrap();
        let said =
            [all_of(launcher.stdout.take().unwrap()), all_of(launcher.stderr.take().unwrap())];
        let run = Self { bench, launcher, said };
        eventually("four ranks work", || run.directories_of_ranks() == 4);
        run
    }

    fn directories_of_ranks(&self) -> usize {
        let shared = self.bench.shared();
        let all = names_in(&shared).into_iter().flat_map(|run| names_in(&shared.join(run)));
        all.filter(|name| name.starts_with("r0")).count()
    }

    /// The processes that run this job.
    fn processes(&self) -> Vec<PathBuf> {
        let store = self.bench.root.path().join("store.db").display().to_string();
        let is_it = |process: &PathBuf| {
            let exe = std::fs::read_link(process.join("exe")).unwrap_or_default();
            exe.ends_with("boatload-mpi") && has_word(&process.join("cmdline"), &store)
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        all.filter(is_it).collect()
    }

    /// The process of a rank, which its launcher has told which one it is.
    fn process(&self, rank: u32) -> Pid {
        let told = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={rank}"));
        let is_it =
            |process: &&PathBuf| told.iter().any(|told| has_word(&process.join("environ"), told));
        let all = self.processes();
        let found =
            all.iter().filter(is_it).find_map(|path| path.file_name()?.to_str()?.parse().ok());
        Pid::from_raw(found.expect("the rank runs")).unwrap()
    }

    /// What was said after it has ended and its directory is gone. The launcher of Open MPI 4.1 may wait for itself for ever when
    /// all ranks have ended (`PMIx_server_finalize` joins a thread that wants its lock): then it is killed.
    fn ended(mut self) -> (Option<i32>, String) {
        const LOOKS_WITHOUT_RANKS: u32 = 200;
        let shared = self.bench.shared();
        let mut status: Option<ExitStatus> = None;
        let mut looks = 0;
        eventually("the launcher ends", || {
            status = self.launcher.try_wait().unwrap();
            looks = if self.processes().is_empty() { looks + 1 } else { 0 };
            if looks == LOOKS_WITHOUT_RANKS {
                self.launcher.kill().unwrap();
            }
            status.is_some()
        });
        // The guard of the directory has them open too.
        eventually("nobody says anything more", || self.said.iter().all(JoinHandle::is_finished));
        let said: String = self.said.map(|said| text(&said.join().unwrap())).concat();
        let status = status.unwrap();
        eventually(&format!("the directory is clean ({said})"), || names_in(&shared).is_empty());
        (status.code(), said)
    }
}

/// Whether a file of words, each ended by a zero byte, has this one.
fn has_word(file: &Path, word: &str) -> bool {
    let words = std::fs::read(file).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|one| one == word.as_bytes())
}

/// Waits until something is so; says what if it never is.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    const LOOKS: u32 = 2_400;
    for _ in 0..LOOKS {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{what}: not after two minutes");
}

/// Kills of each rank.
fn rounds() -> u32 {
    std::env::var("BOATLOAD_KILLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

#[test]
fn a_rank_that_is_killed_ends_the_run_with_a_sentence_and_a_clean_directory() {
    each_rank_is_killed(LIKE_MDTEST);
}

#[test]
fn a_rank_that_is_killed_in_a_directory_of_all_leaves_nothing_in_it_either() {
    each_rank_is_killed(&like_mdtest_without_u());
}

fn each_rank_is_killed(job: &str) {
    for round in 0..rounds() {
        for rank in 0..4 {
            let run = LongRun::of(job);
            // At some other moment each time.
            std::thread::sleep(Duration::from_millis(u64::from((round * 4 + rank) * 137 % 1_000)));
            kill_process(run.process(rank), Signal::KILL).unwrap();
            let (code, said) = run.ended();
            assert_ne!(code, Some(0), "{said}");
            assert!(said.to_lowercase().contains("killed"), "rank {rank}: {said}");
        }
    }
}

#[test]
fn ending_the_launcher_ends_the_run_and_leaves_a_clean_directory() {
    let run = LongRun::start();
    kill_process(Pid::from_child(&run.launcher), Signal::INT).unwrap();
    // The exit code is the launcher's own: the launcher of MPICH gives 0.
    let (_, said) = run.ended();
    // The launcher of Open MPI may kill rank 0 before it has said more.
    assert!(
        ["asked to end", "interrupted", "rank 0 ended"].iter().any(|word| said.contains(word)),
        "{said}"
    );
}

#[test]
fn one_rank_says_what_is_wrong_for_all() {
    let bench = Bench::of(LIKE_MDTEST);
    let nowhere = Path::new("/nowhere/at/all");
    let no_store = bench.job.join("store.db");
    let shared = bench.shared();
    for (mut run, arguments, code, sentence) in [
        (bench.run_in(4, &shared), vec!["--set", "files=nonsense"], 2, "nonsense"),
        (bench.run_in(4, &shared), vec!["--no-such-option"], 2, "unexpected argument"),
        (bench.run_in(4, nowhere), vec![], 1, "cannot open the directory /nowhere/at/all"),
        (bench.run_into(&no_store, 4, &shared), vec![], 1, "--store FILE keeps results elsewhere"),
    ] {
        let said = run.args(arguments).output().unwrap();
        let text = text(&said.stderr);
        assert_eq!(said.status.code(), Some(code), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains(sentence)).count(), 1, "{text}");
        assert!(!text.contains("MPI_ABORT") && !text.contains("MPI_Abort"), "{text}");
    }
    assert_eq!(runs_in(&shared), [""; 0]);
}

#[test]
fn one_rank_helps_for_all_and_without_a_launcher_no_mpi_is_started() {
    let once = [("--version", "boatload "), ("--help", "Usage:"), ("disks", "hdd-7200")];
    for (argument, word) in once {
        let together = launch::launch(4, Path::new(PROGRAM)).arg(argument).output().unwrap();
        let text = text(&together.stdout);
        assert!(together.status.success(), "{}", self::text(&together.stderr));
        assert_eq!(text.lines().filter(|line| line.contains(word)).count(), 1, "{text}");
        // What the launcher tells of rank 1 is all that this process knows of ranks.
        let mut alone = Command::new(PROGRAM);
        let other = alone.arg(argument).env("PMI_RANK", "1").output().unwrap();
        assert_eq!((other.status.code(), other.stdout.as_slice()), (Some(0), &b""[..]));
        let first = Command::new(PROGRAM).arg(argument).output().unwrap();
        assert!(self::text(&first.stdout).contains(word));
    }
}

#[test]
fn a_rank_that_is_asked_to_end_is_named_and_the_run_ends_clean() {
    let run = LongRun::start();
    kill_process(run.process(2), Signal::TERM).unwrap();
    let (code, said) = run.ended();
    assert_ne!(code, Some(0), "{said}");
    assert!(said.contains("rank 2 on ") && said.contains("it was asked to end"), "{said}");
    assert!(!said.to_lowercase().contains("mpi_abort"), "{said}");
}
