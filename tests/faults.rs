//! What becomes of a run when a call to the file system fails, is cut short, or hangs: each request with each
//! fault, on the simulated file system and on a real one. docs/FAULTS.md has the tables.
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
#[path = "common/library.rs"]
mod library;

use std::path::{Path, PathBuf};
use std::process::Command;

use boatload::op::RequestKind;
use boatload::results::book::Measurement;
use command::{Bench, Ran, Running, names_in};
use common::{LoopMount, output, skip};
use library::ran;

/// Errors that each request may meet, then what else may become of it.
const FAULTS: [&str; 12] = [
    "EIO", "ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENAMETOOLONG", "EROFS", "EACCES", "ESTALE",
    "EINTR", "short", "hang",
];

/// A job whose last phase makes requests of this kind.
struct Job {
    tree: &'static str,
    phases: &'static [&'static str],
    /// Operations of the phases before the last.
    before: u64,
}

const FILES: &str = "tree = { files = 20, size = 3_000 }";
const CREATE: &str = "operation = 'create'";

fn job_with(kind: RequestKind) -> Job {
    let of_files = |phases, before| Job { tree: FILES, phases, before };
    match kind {
        RequestKind::Open => of_files(&[CREATE, "operation = 'open'"], 20),
        RequestKind::Write => of_files(&[CREATE], 0),
        RequestKind::WriteAt => Job {
            tree: "tree = { chunks = 20, chunks_per_file = 10, size = 3_000 }",
            phases: &["operation = 'write-chunk'"],
            before: 0,
        },
        RequestKind::Read | RequestKind::Close => of_files(&[CREATE, "operation = 'read'"], 20),
        RequestKind::ReadBlock => Job {
            tree: "",
            phases: &["operation = 'read-device', count = 20, block = 4_096"],
            before: 0,
        },
        RequestKind::Sync => of_files(&["operation = 'create', durability = 'fsync'"], 0),
        RequestKind::SyncHolder => {
            of_files(&["operation = 'create', durability = 'fsync-directory'"], 0)
        }
        RequestKind::Stat => of_files(&[CREATE, "operation = 'stat'"], 20),
        RequestKind::StatOpen => Job {
            tree: "tree = { files = 20, size = 3_000, directories = 20 }",
            phases: &[CREATE, "operation = 'find'"],
            before: 20,
        },
        RequestKind::ReadDirectory => Job {
            tree: "tree = { files = 20, size = 3_000, directories = 20 }",
            phases: &[CREATE, "operation = 'list'"],
            before: 20,
        },
        RequestKind::StatEntry => Job {
            tree: "tree = { files = 20, size = 3_000, directories = 20 }",
            phases: &[CREATE, "operation = 'list-stat'"],
            before: 20,
        },
        RequestKind::SetMode => of_files(&[CREATE, "operation = 'chmod'"], 20),
        // No phase of one operation links; see `is_made`.
        RequestKind::Rename | RequestKind::Link => of_files(&[CREATE, "operation = 'rename'"], 20),
        RequestKind::Truncate => of_files(&[CREATE, "operation = 'truncate'"], 20),
        RequestKind::Unlink => of_files(&[CREATE, "operation = 'delete'"], 20),
        RequestKind::MakeDirectory => of_files(&["operation = 'mkdir'"], 0),
        RequestKind::RemoveDirectory => {
            of_files(&["operation = 'mkdir'", "operation = 'rmdir'"], 20)
        }
    }
}

impl Job {
    fn text(&self, keys: &str) -> String {
        let phases: String =
            self.phases.iter().map(|phase| format!("  {{ {phase} }},\n")).collect();
        let tree = self.tree;
        format!(
            "name = \"faults\"\nquestion = \"?\"\nrepeats = 1\ncache = \"as-is\"\n{keys}\n{tree}\n\
             phase = [\n{phases}]\n"
        )
    }
}

/// Whether a phase makes such requests: links are made by chains alone.
fn is_made(kind: RequestKind) -> bool {
    kind != RequestKind::Link
}

/// Whether a request moves bytes, so that it may move fewer.
fn moves_bytes(kind: RequestKind) -> bool {
    use RequestKind::{Read, ReadBlock, Write, WriteAt};
    matches!(kind, Read | ReadBlock | Write | WriteAt)
}

/// What a phase says of the fault that one of its requests met; each other request is to go well.
fn told(m: &Measurement, fault: &str) -> String {
    let failed: u64 = m.errors.values().sum();
    match (fault, m.valid()) {
        ("short", true) => {
            assert_eq!((failed, m.operations), (0, m.operations_asked.unwrap()));
            "continues".into()
        }
        ("short", false) => {
            assert!(m.invalid[0].sentence().starts_with("moved "), "{:?}", m.invalid);
            "bytes missed".into()
        }
        ("hang", false) => {
            assert!(
                m.invalid[0].sentence().starts_with("reached its limit of "),
                "{:?}",
                m.invalid
            );
            "limit".into()
        }
        (errno, false) => {
            assert_eq!((m.errors.values().sum::<u64>(), failed), (1, 1), "{:?}", m.errors);
            assert_eq!(Some(m.operations + 1), m.operations_asked, "one operation failed");
            assert!(
                m.invalid[0].sentence().starts_with(&format!("{errno} x 1")),
                "{:?}",
                m.invalid
            );
            "counted".into()
        }
        (_, true) => panic!("{fault} went unsaid: {m:?}"),
    }
}

/// A table of all requests and faults, as Markdown.
fn table(cell: impl Fn(RequestKind, &str) -> String + Copy + Send + Sync) -> String {
    let mut text = format!("| request | {} |\n|---|", FAULTS.join(" | "));
    text += &"---|".repeat(FAULTS.len());
    let row = |kind: RequestKind| {
        let cells = FAULTS.map(|fault| match fault {
            "short" if !moves_bytes(kind) => "no bytes".to_string(),
            fault => cell(kind, fault),
        });
        format!("\n| {kind} | {} |", cells.join(" | "))
    };
    std::thread::scope(|scope| {
        let kinds = RequestKind::ALL.into_iter().filter(|kind| is_made(*kind));
        let rows: Vec<_> = kinds.map(|kind| scope.spawn(move || row(kind))).collect();
        text.extend(rows.into_iter().map(|row| row.join().unwrap()));
    });
    text + "\n"
}

/// Compares a table with the one that docs/FAULTS.md keeps under this name; BOATLOAD_BLESS=1 keeps the new one.
#[track_caller]
fn assert_kept(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/FAULTS.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let head = format!("<!-- {name}: written by tests/faults.rs -->\n\n");
    let begin = text.find(&head).expect("the table has its place") + head.len();
    let end = begin + text[begin..].find("\n<!-- end -->").expect("the table has an end");
    if std::env::var_os("BOATLOAD_BLESS").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &text[..begin], &text[end..])).unwrap();
    } else {
        assert_eq!(
            &text[begin..end],
            table,
            "docs/FAULTS.md; BOATLOAD_BLESS=1 keeps the new table"
        );
    }
}

#[test]
fn each_request_with_each_fault_is_told_on_the_simulated_file_system() {
    let table = table(|kind, fault| {
        let job = job_with(kind);
        let operation = job.before + 11;
        let sim = format!(
            "engine = \"sim\"\nphase_limit = \"10m\"\nsim = {{ metadata = '1us', \
             fault = {{ operation = {operation}, request = '{kind}', outcome = '{fault}' }} }}"
        );
        let book = ran(&job.text(&sim));
        let (last, before) = book.measurements.split_last().unwrap();
        assert!(before.iter().all(Measurement::valid), "{kind} {fault}: {before:?}");
        told(last, fault)
    });
    assert_kept("simulated", &table);
}

/// The system call of the real engine that a fault meets: its name, what it is about, and which of those calls.
struct MetCall {
    phases: &'static [&'static str],
    name: &'static str,
    on: MetPath,
    number: u32,
}

/// What a call is about.
enum MetPath {
    /// A name, as it is given to the call.
    Name(&'static str),
    /// Something open, by its path in the cell.
    InCell(&'static str),
    /// The block device.
    Device,
}

const ELEVENTH: MetPath = MetPath::InCell("f0000000011");
const DIRECTORY: MetPath = MetPath::InCell("h0000000003");

fn met_call(kind: RequestKind) -> MetCall {
    use MetPath::{Device, InCell, Name};
    let (phases, name, on, number): (&'static [&'static str], _, _, _) = match kind {
        RequestKind::Open => (&[CREATE], "openat", Name("f0000000011"), 1),
        RequestKind::Stat => (job_with(kind).phases, "newfstatat", Name("f0000000011"), 1),
        RequestKind::StatEntry => (job_with(kind).phases, "newfstatat", Name("f0000000011"), 1),
        RequestKind::SetMode => (job_with(kind).phases, "fchmodat", Name("f0000000011"), 1),
        RequestKind::Rename | RequestKind::Link => {
            (job_with(kind).phases, "renameat", Name("f0000000011"), 1)
        }
        RequestKind::Unlink => (job_with(kind).phases, "unlinkat", Name("f0000000011"), 1),
        RequestKind::MakeDirectory => (job_with(kind).phases, "mkdirat", Name("d0000000011"), 1),
        RequestKind::RemoveDirectory => (job_with(kind).phases, "unlinkat", Name("d0000000011"), 1),
        RequestKind::Write => (&[CREATE], "write", ELEVENTH, 1),
        RequestKind::Truncate => (job_with(kind).phases, "ftruncate", ELEVENTH, 1),
        RequestKind::WriteAt => (job_with(kind).phases, "pwrite64", InCell("f0000000001"), 5),
        RequestKind::Read => (job_with(kind).phases, "read", ELEVENTH, 1),
        RequestKind::ReadBlock => (job_with(kind).phases, "pread64", Device, 11),
        RequestKind::Sync => (job_with(kind).phases, "fsync", ELEVENTH, 1),
        RequestKind::SyncHolder => (job_with(kind).phases, "fsync", InCell(""), 11),
        RequestKind::Close => (&[CREATE], "close", ELEVENTH, 1),
        RequestKind::StatOpen => (&["operation = 'find'"], "fstat", DIRECTORY, 1),
        RequestKind::ReadDirectory => (&["operation = 'list'"], "getdents64", DIRECTORY, 1),
    };
    MetCall { phases, name, on, number }
}

/// The program with this fault at one call. Its run's name follows from what it takes for random, which is zeros.
fn with_fault(call: &MetCall, fault: &str, directory: &Path, device: &str) -> Command {
    let cell = || directory.join("boatload-aaaaaaaa/c0000000001");
    let path = match call.on {
        MetPath::Name(name) => PathBuf::from(name),
        MetPath::InCell("") => cell(),
        MetPath::InCell(name) => cell().join(name),
        MetPath::Device => device.into(),
    };
    let outcome = match fault {
        "short" => "retval=1500".to_string(),
        "hang" => "delay_enter=20s".to_string(),
        errno => format!("error={errno}"),
    };
    let mut command = Command::new("strace");
    command.args(["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-P"]).arg(path);
    command.args(["-e", &format!("trace=open,{}", call.name)]);
    if matches!(call.on, MetPath::InCell(_)) {
        // "/dev/zero" in place of "/dev/urandom".
        command.args(["-P", "/dev/urandom", "-e"]);
        command.arg("inject=open:poke_enter=@arg1=2f6465762f7a65726f00");
    }
    command.arg("-e");
    command.arg(format!("inject={}:{outcome}:when={}", call.name, call.number));
    command.arg(env!("CARGO_BIN_EXE_boatload"));
    command
}

/// The exit code of a run in which one call meets a fault; nothing of it stays.
fn exit_code(kind: RequestKind, fault: &str, mount: &LoopMount) -> String {
    let bench = Bench::default();
    let call = met_call(kind);
    let directory = match call.on {
        MetPath::Device => mount.path().to_path_buf(),
        _ => bench.work(),
    };
    let before = names_in(&directory);
    let job = Job { phases: call.phases, ..job_with(kind) };
    let mut command = with_fault(&call, fault, &directory, &mount.device());
    let document = bench.beside("run.json");
    command.args(["run", "--quiet", "--dir"]).arg(&directory);
    if fault == "hang" {
        command.args(["--phase-limit", "1s"]);
    }
    command.arg("--json").arg(&document).arg("--store").arg(bench.store());
    let ran = Ran::of(command.arg(bench.write("job.toml", job.text(""))));
    assert_eq!(names_in(&directory), before, "{kind} {fault}: {}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{kind} {fault}: {}", ran.stderr);
    let text = std::fs::read_to_string(&document).unwrap_or_default();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let measurements = document["measurements"].as_array().cloned().unwrap_or_default();
    let last = measurements.last().unwrap_or_else(|| panic!("{kind} {fault}: {}", ran.stderr));
    let code = ran.code.unwrap_or(-1);
    assert_eq!(last["valid"] == true, code == 0, "{kind} {fault}: {last}");
    match fault {
        "hang" => {
            let said = ran.stderr.contains("the run ends: no operation has ended for 10 s");
            assert!(said && code == 1, "{kind} {fault}: {code} {}", ran.stderr);
        }
        "short" => assert!(matches!(code, 0 | 4), "{kind} {fault}: {code} {}", ran.stderr),
        errno => {
            assert_eq!((&last["errors"][errno], code), (&1.into(), 4), "{kind} {fault}: {last}")
        }
    }
    code.to_string()
}

#[test]
fn each_request_with_each_fault_is_told_on_a_real_file_system() {
    let what = "each request with each fault, by strace";
    if !cfg!(target_arch = "x86_64") {
        return skip(what, "system calls have the names of x86-64");
    }
    if output("strace", &["--version"]).is_none() {
        return skip(what, "strace is not installed");
    }
    let Some(mount) = LoopMount::in_memory("ext4", 16) else { return };
    let probe = Command::new("strace").args(["--seccomp-bpf", "-f", "true"]).output().unwrap();
    if !probe.status.success() {
        return skip(what, &String::from_utf8_lossy(&probe.stderr));
    }
    assert_kept("real", &table(|kind, fault| exit_code(kind, fault, &mount)));
}

#[test]
fn a_file_that_cannot_be_removed_in_the_end_keeps_no_result_from_being_given() {
    if output("strace", &["--version"]).is_none() {
        return skip("a file that cannot be removed", "strace is not installed");
    }
    let bench = Bench::default();
    let (document, page) = (bench.beside("run.json"), bench.beside("run.html"));
    let mut command = Command::new("strace");
    command.args(["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-P", "f0000000011"]);
    command.args(["-e", "trace=unlinkat", "-e", "inject=unlinkat:error=EIO"]);
    command.arg(env!("CARGO_BIN_EXE_boatload")).args(["run", "--dir"]).arg(bench.work());
    command.arg("--json").arg(&document).arg("--report").arg(&page);
    command.arg("--store").arg(bench.store());
    let job = Job { phases: &[CREATE], ..job_with(RequestKind::Write) };
    let ran = Ran::of(command.arg(bench.write("job.toml", job.text(""))));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("create") && page.exists(), "{}", ran.stdout);
    assert!(ran.stderr.contains("f0000000011 (Input/output error"), "{}", ran.stderr);
    let text = std::fs::read_to_string(&document).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["measurements"][0]["valid"], true);
    assert_eq!(bench.run(["clean", "--yes"]).code, Some(0));
    assert_eq!(names_in(&bench.work()), Vec::<String>::new());
}

/// A file system that is frozen until this is dropped.
struct Frozen<'a>(&'a LoopMount);

impl<'a> Frozen<'a> {
    fn new(mount: &'a LoopMount) -> Option<Self> {
        let point = mount.path().to_str().unwrap();
        output("fsfreeze", &["--freeze", point]).map(|_| Self(mount))
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        output("fsfreeze", &["--unfreeze", self.0.path().to_str().unwrap()]);
    }
}

/// Whether a run says this in a file within a minute.
fn is_said(errors: &Path, words: &str) -> bool {
    comes(|| std::fs::read_to_string(errors).unwrap().contains(words))
}

/// Whether something happens within a minute.
fn comes(is_there: impl Fn() -> bool) -> bool {
    (0..6_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        is_there()
    })
}

/// A run on a file system that is frozen meanwhile, until the run has said what it waits for.
fn frozen_run(options: &[&str], then: impl Fn(&Running)) -> Option<(Ran, serde_json::Value)> {
    let mount = LoopMount::in_memory("ext4", 512)?;
    let bench = Bench::default();
    let document = bench.beside("run.json");
    let errors = bench.beside("errors");
    let sets = ["files=30k", "selected=10", "size_min=0", "size_max=0"];
    let mut command = bench.command(["run", "--cache", "as-is", "--repeats", "1", "--dir"]);
    command.arg(mount.path()).args(sets.iter().flat_map(|set| ["--set", set]));
    command.args(options).arg("--json").arg(&document);
    let to = std::fs::File::create(&errors).unwrap();
    let running = Running::start_with_errors_to(command, mount.path(), to);
    let Some(frozen) = Frozen::new(&mount) else {
        skip("a run on a frozen file system", "fsfreeze cannot freeze it");
        return None;
    };
    then(&running);
    is_said(&errors, "waits in the kernel");
    drop(frozen);
    let ran = running.ended();
    assert_eq!(names_in(mount.path()), ["lost+found"], "the run leaves nothing");
    let stderr = std::fs::read_to_string(&errors).unwrap();
    let document = std::fs::read_to_string(&document).unwrap_or_default();
    Some((Ran { stderr, ..ran }, serde_json::from_str(&document).unwrap_or_default()))
}

/// A wrapped text without its line breaks.
fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How many seconds a run on a frozen file system said it had waited for in `create`.
fn seconds_waited(stderr: &str, before: &str) -> Option<u64> {
    let (seconds, rest) = stderr.split_once(before)?.1.split_once(" s in ")?;
    rest.starts_with("create").then(|| seconds.parse().ok())?
}

#[test]
fn a_phase_with_a_limit_on_a_frozen_file_system_ends_the_run_which_gives_what_it_has() {
    let Some((ran, document)) = frozen_run(&["--phase-limit", "5s"], |_| {}) else { return };
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let said = seconds_waited(&ran.stderr, "the run ends: no operation has ended for ");
    assert!(said.is_some_and(|seconds| seconds >= 5), "{}", ran.stderr);
    assert!(ran.stderr.contains("the call has returned"), "{}", ran.stderr);
    assert!(
        in_a_line(&ran.stdout).contains("The run was stopped before its end"),
        "{}",
        ran.stdout
    );
    let create = &document["measurements"][0];
    assert_eq!((&create["phase"], &create["valid"]), (&"create".into(), &false.into()));
    assert!(create["operations"].as_u64().unwrap() >= 100, "{create}");
}

#[test]
fn a_run_whose_store_is_on_the_frozen_file_system_too_gives_what_it_has_while_that_lasts() {
    let Some(mount) = LoopMount::in_memory("ext4", 512) else { return };
    let bench = Bench::default();
    let (errors, store) = (bench.beside("errors"), mount.path().join("results/store.db"));
    let job = Job {
        tree: "tree = { files = 20_000, size = 0 }",
        phases: &[CREATE, "operation = 'append', size = 10, durability = 'fsync'"],
        before: 0,
    };
    let mut command = bench.bare();
    command.args(["run", "--phase-limit", "5s", "--dir"]).arg(mount.path());
    command.arg("--store").arg(&store).arg(bench.write("job.toml", job.text("")));
    let to = std::fs::File::create(&errors).unwrap();
    let running = Running::start_with_errors_to(command, mount.path(), to);
    let first = running.run_directory().join("c0000000001/f0000000001");
    assert!(comes(|| std::fs::metadata(&first).is_ok_and(|file| file.len() > 0)), "no append");
    let Some(frozen) = Frozen::new(&mount) else {
        return skip("a store on a frozen file system", "fsfreeze cannot freeze it");
    };
    let is_said = is_said(&errors, "store.db does not answer");
    drop(frozen);
    let ran = running.ended();
    let stderr = std::fs::read_to_string(&errors).unwrap();
    assert!(is_said, "while it was frozen: {stderr}");
    assert_eq!(ran.code, Some(1), "{stderr}");
    let screen = in_a_line(&ran.stdout);
    assert!(screen.contains("append is missing"), "{screen}");
    assert!(screen.contains("The run was stopped before its end"), "{screen}");
    let spill = stderr.split("`boatload import ").nth(1).unwrap().split('`').next().unwrap();
    let document = std::fs::read_to_string(bench.work().join(spill)).unwrap();
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let valid = |at: usize| document["measurements"][at]["valid"].as_bool();
    assert_eq!([0, 1, 2].map(valid), [Some(true), Some(false), None]);
    let imported = Ran::of(bench.bare().args(["import", spill, "--store"]).arg(&store));
    assert_eq!(imported.code, Some(0), "{}{}", imported.stdout, imported.stderr);
    assert_eq!(names_in(mount.path()), ["lost+found", "results"], "the run's directory is removed");
}

#[test]
fn a_signal_ends_a_run_on_a_frozen_file_system() {
    let ask = |running: &Running| running.signal(rustix::process::Signal::TERM);
    let Some((ran, document)) = frozen_run(&[], ask) else { return };
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert_eq!(document["run"]["complete"], false);
}

#[test]
fn a_run_without_a_limit_says_what_it_waits_for_and_goes_on() {
    let Some((ran, document)) = frozen_run(&[], |_| {}) else { return };
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let said = seconds_waited(&ran.stderr, "no operation has ended for ");
    assert!(said.is_some_and(|seconds| seconds >= 10), "{}", ran.stderr);
    assert!(ran.stderr.contains("it has returned after "), "{}", ran.stderr);
    let warnings = document["findings"].as_array().unwrap().iter();
    let codes: Vec<_> = warnings.filter_map(|finding| finding["code"].as_str()).collect();
    assert!(codes.contains(&"long-operation"), "{codes:?}");
}
