//! `boatload trace`: what other programs do to files, counted by the kernel.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test panics")]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::command::{Bench, Ran};
use crate::common::{LoopMount, skip};

/// Whether this machine can trace; else the reason is spoken.
fn can_trace() -> bool {
    let lacks = [
        (!rustix::process::geteuid().is_root(), "not root"),
        (!Path::new("/usr/bin/bpftrace").exists(), "no bpftrace"),
        (!Path::new("/sys/kernel/btf/vmlinux").exists(), "a kernel without BTF"),
        (crate::common::output("perl", &["-e", "print 1"]).is_none(), "no perl"),
    ];
    let lacks: Vec<&str> = lacks.iter().filter(|(lacks, _)| *lacks).map(|(_, why)| *why).collect();
    if !lacks.is_empty() {
        skip("tracing other programs", &lacks.join(", "));
    }
    lacks.is_empty()
}

/// A trace that has begun.
struct Trace {
    child: Child,
    errors: BufReader<std::process::ChildStderr>,
    document: PathBuf,
}

impl Trace {
    /// Starts `boatload trace` and waits until its probes are attached.
    fn start(bench: &Bench, arguments: &[&str]) -> Self {
        let document = bench.beside("trace.json");
        let mut command =
            bench.command(["trace", "--json", document.to_str().unwrap()].iter().chain(arguments));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while errors.read_line(&mut line).unwrap() > 0 && !line.starts_with("tracing ") {
            line.clear();
        }
        Self { child, errors, document }
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Its document, after Ctrl-C.
    fn interrupted(self) -> Value {
        kill_process(self.id(), Signal::INT).unwrap();
        self.document()
    }

    fn document(mut self) -> Value {
        let mut errors = String::new();
        self.errors.read_to_string(&mut errors).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{errors}");
        serde_json::from_slice(&std::fs::read(&self.document).unwrap()).unwrap()
    }
}

fn measured<'a>(document: &'a Value, operation: &str) -> &'a Value {
    let all = document["measurements"].as_array().unwrap();
    let found = all.iter().find(|one| one["phase"] == operation);
    found.unwrap_or_else(|| panic!("no {operation} in {document}"))
}

fn count(document: &Value, operation: &str) -> u64 {
    measured(document, operation)["operations"].as_u64().unwrap()
}

/// ext3 whose directories have no index. Where its journal is full, an operation waits until all before it is in its
/// place, so it is large.
const SEARCHED_FROM_THE_BEGINNING: &[&str] = &["-O", "^dir_index", "-N", "20000", "-J", "size=32"];

/// A program that makes so many files in the working directory.
fn maker(files: u32) -> String {
    format!("for (1..{files}) {{ open F, '>', \"$$-$_\"; close F }}")
}

#[test]
fn a_script_is_printed_without_rights_and_names_whom_it_traces() {
    let ran = Bench::default().run(["trace", "--comm", "touch", "--print-script"]);
    assert!(ran.stdout.contains("comm == \"touch\""), "{}", ran.stdout);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn a_trace_of_nobody_is_a_mistake() {
    let bench = Bench::default();
    assert!(bench.run(["trace"]).refuses(2).contains("name whom to trace"));
    for (wrong, said) in
        [(["--operation", "dance"], "create, open"), (["--pid", "1"], "cannot be used with")]
    {
        let ran = bench.run(["trace", "--comm", "x"].iter().chain(&wrong));
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn who_is_not_root_is_told_what_it_takes() {
    let bench = Bench::default();
    let mut command = match bench.as_nobody() {
        Ok((_, command)) => command,
        Err(why) => return skip("tracing without rights", why),
    };
    let ran = Ran::of(command.args(["trace", "--", "make", "-j2"]));
    let said = ran.refuses(1);
    assert!(said.contains("it takes root with the capability CAP_SYS_ADMIN"), "{said}");
    assert!(said.contains("`strace -f -c -- make -j2`"), "{said}");
}

#[test]
fn each_touch_of_a_loop_is_counted_and_no_other() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    // A name that no other test has, with a blank in it.
    let name = format!("t {}", std::process::id());
    let program = bench.beside(&name);
    std::fs::copy("/usr/bin/touch", &program).unwrap();
    let trace = Trace::start(&bench, &["--comm", &name, "--operation", "create"]);
    let script = "for i in $(seq 300); do touch other-$i; \"$0\" file-$i; done";
    let done =
        Command::new("sh").arg("-c").arg(script).arg(&program).current_dir(bench.work()).status();
    assert!(done.unwrap().success());
    let document = trace.interrupted();
    assert_eq!(count(&document, "create"), 300);
    assert_eq!(document["run"]["traced"]["lost"], 0);
    assert_eq!(document["run"]["traced"]["ended"], "interrupted");
    let shown = bench.run(["show", "last"]);
    let lead = format!(", processes named {name} spent ");
    assert!(shown.stdout.replace('\n', " ").contains(&lead), "{}", shown.stdout);
}

#[test]
fn children_on_several_processors_are_counted_exactly() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    let script =
        format!("perl -e '{0}' & perl -e '{0}' & wait; exit 3", maker(4000).replace('\'', "'\\''"));
    let document = Trace::start(
        &bench,
        &["--operation", "create", "--every", "500", "--", "sh", "-c", &script],
    );
    let document = document.document();
    assert_eq!(count(&document, "create"), 8000);
    let windows = measured(&document, "create")["windows"].as_array().unwrap();
    let in_windows: u64 = windows.iter().map(|one| one["operations"].as_u64().unwrap()).sum();
    assert!(windows.len() > 8 && (7000..=8000).contains(&in_windows), "{windows:?}");
    assert_eq!(document["run"]["traced"]["program_end"], "ended with status 3");
    assert_eq!(document["run"]["traced"]["ended"], "program-ended");
}

#[test]
fn a_directory_that_is_searched_from_its_beginning_is_found_to_get_slower() {
    if !can_trace() {
        return;
    }
    let Some(mount) = LoopMount::with("ext3", 96, SEARCHED_FROM_THE_BEGINNING, "loop") else {
        return;
    };
    let bench = Bench::default();
    let below = mount.path().join("below");
    std::fs::create_dir(&below).unwrap();
    let program = format!("chdir $ARGV[0]; {}", maker(12_000));
    let words = [
        "--operation",
        "create",
        "--every",
        "400",
        "--",
        "perl",
        "-e",
        &program,
        below.to_str().unwrap(),
    ];
    let document = Trace::start(&bench, &words).document();
    assert_eq!(count(&document, "create"), 12_000);
    let findings = document["findings"].as_array().unwrap();
    let growth = findings.iter().find(|one| one["reading"] == "growth").unwrap();
    assert_eq!((&growth["counted"], &growth["operations"]), (&"files".into(), &12_000.into()));
    assert!(growth["ratio"].as_f64().unwrap() > 1.5, "{growth}");
}

#[test]
fn only_files_below_a_directory_count_however_they_are_named() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    let place = bench.work().join("in here");
    std::fs::create_dir_all(place.join("deep")).unwrap();
    let script = "touch 'in here/1' './in here/2' \"$0/3\" 'in here!' other; cd 'in here'; touch 4 deep/5; \
                  rm 4; echo x >> 1; ls nothing; ls deep; cd ..; rm other; true";
    let place = place.to_str().unwrap();
    let words = ["--path", place, "--", "sh", "-c", script, place];
    let document = Trace::start(&bench, &words).document();
    // An append opens with O_CREAT too.
    assert_eq!(count(&document, "create"), 6);
    assert_eq!(count(&document, "unlink"), 1);
    assert_eq!((count(&document, "write"), &measured(&document, "write")["bytes"]), (1, &2.into()));
    assert!(measured(&document, "stat")["errors"]["ENOENT"].as_u64() > Some(0));
}

#[test]
fn a_run_of_boatload_is_seen_as_it_sees_itself() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    let job = "name = \"calls\"\nquestion = \"How long?\"\nrepeats = 1\n[tree]\nfiles = 3000\nsize = 0\n\
               directories = 1\n[[phase]]\noperation = \"create\"\n[[phase]]\noperation = \"delete\"\n";
    let job = bench.write("job.toml", job);
    // It waits for a line, and is traced when it becomes boatload.
    let mut run = bench.command(["run"]);
    let arguments: Vec<_> = run.get_args().map(std::ffi::OsStr::to_os_string).collect();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "read go; exec \"$@\"", "sh", run.get_program().to_str().unwrap()])
        .args(arguments);
    shell.arg(&job).args(["--json", "-", "--quiet"]).current_dir(bench.work());
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run.env_clear();
    let mut shell = shell.spawn().unwrap();
    let process = shell.id().to_string();
    let trace =
        Trace::start(&bench, &["--pid", &process, "--path", bench.work().to_str().unwrap()]);
    std::io::Write::write_all(&mut shell.stdin.take().unwrap(), b"go\n").unwrap();
    let own = Ran::from(shell.wait_with_output().unwrap()).json();
    let traced = trace.document();
    assert_eq!(traced["run"]["traced"]["ended"], "program-ended");
    let latency = |document: &Value, operation| {
        measured(document, operation)["latency_ns"]["p50"].as_f64().unwrap()
    };
    for (operation, call) in [("create", "create"), ("delete", "unlink")] {
        // It also makes and removes a mark or two of its own.
        let others = count(&traced, call) - count(&own, operation);
        assert!(others <= 5, "{others} {call}");
        assert!(
            latency(&traced, call) < latency(&own, operation),
            "{operation}: a part is not longer than all"
        );
    }
}

#[test]
fn nothing_stays_attached_when_it_is_killed() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    let mut trace = Trace::start(&bench, &["--comm", "nobody at all"]);
    let own = trace.child.id();
    let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap();
    let tracer = Path::new("/proc").join(children.trim());
    assert!(std::fs::read_to_string(tracer.join("comm")).unwrap().starts_with("bpftrace"));
    kill_process(trace.id(), Signal::KILL).unwrap();
    trace.child.wait().unwrap();
    while tracer.exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn who_does_nothing_leaves_no_run_and_what_cannot_begin_is_named() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    let nothing = bench.run(["trace", "--comm", "nobody at all", "--duration", "200ms"]);
    assert!(nothing.refuses(1).contains("did none of the traced file operations"));
    let missing = bench.run(["trace", "--", "no such program"]);
    assert!(missing.refuses(1).contains("cannot start no such program"));
    let gone = bench.run(["trace", "--pid", "4194304"]);
    assert!(gone.refuses(1).contains("there is no process 4194304"));
}

#[test]
fn a_child_whose_parent_has_ended_is_traced_until_it_ends() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    // The first shell ends at once, the second before its child begins.
    let script = "(sh -c '(sleep 0.3; touch a b c) & exit 0'; exit 0) &";
    let work = bench.work();
    let words =
        ["--operation", "create", "--path", work.to_str().unwrap(), "--", "sh", "-c", script];
    let document = Trace::start(&bench, &words).document();
    assert_eq!(count(&document, "create"), 3);
    assert_eq!(document["run"]["traced"]["program_end"], "ended with status 0");
    assert_eq!(document["run"]["traced"]["ended"], "program-ended");
}

#[test]
fn a_process_that_is_traced_by_number_is_followed_into_children_that_outlive_it() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    let script = "sh -c 'read go; (sleep 0.3; touch d e) & exit 0'; exit 0";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(bench.work()).stdin(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let process = shell.id().to_string();
    let trace = Trace::start(&bench, &["--pid", &process, "--operation", "create"]);
    std::io::Write::write_all(&mut shell.stdin.take().unwrap(), b"go\n").unwrap();
    shell.wait().unwrap();
    assert_eq!(count(&trace.document(), "create"), 2);
}

/// Calls of an operation in a directory, as the trace has them.
fn calls_in(document: &Value, directory: &str, operation: &str) -> u64 {
    let all = document["run"]["traced"]["directories"].as_array().unwrap();
    let found = all.iter().find(|one| {
        one["path"] == directory && one["operation"] == operation && one["with_below"] == false
    });
    found.unwrap_or_else(|| panic!("no {operation} in {directory}: {all:?}"))["calls"]
        .as_u64()
        .unwrap()
}

#[test]
fn each_call_counts_in_the_directory_of_its_file_however_this_is_named() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    let work = bench.work().canonicalize().unwrap();
    std::fs::create_dir_all(work.join("one/two")).unwrap();
    std::os::unix::fs::symlink("one/two", work.join("link")).unwrap();
    let program = "for (1..5) { rename 'old', 'none'; open F, '>', 'one/two/x'; print F 'abc'; close F; \
                   rename 'one/two/x', 'one/two/y'; unlink \"$ARGV[0]/one/two/y\"; \
                   mkdir 'link/d'; chdir 'one'; rmdir './../one/two/d'; chdir '..'; mkdir 'd'; rmdir 'd' }";
    let place = work.to_str().unwrap();
    let words = ["--path", place, "--", "perl", "-e", program, place];
    let document = Trace::start(&bench, &words).document();
    let two = format!("{place}/one/two");
    for operation in ["create", "write", "close", "unlink", "mkdir"] {
        assert_eq!(calls_in(&document, &two, operation), 5, "{operation}");
    }
    assert_eq!(measured(&document, "write")["bytes"], 15);
    assert_eq!((calls_in(&document, &two, "rename"), calls_in(&document, place, "rename")), (5, 5));
    assert_eq!(calls_in(&document, place, "mkdir"), 5);
    assert_eq!(calls_in(&document, place, "rmdir"), 5);
    assert_eq!(measured(&document, "rename")["errors"]["ENOENT"], 5);
}

fn seconds(document: &Value, key: &str) -> f64 {
    document["run"]["traced"][key].as_f64().unwrap()
}

#[test]
fn a_program_that_sleeps_is_told_that_no_file_system_makes_it_faster() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    let document = Trace::start(&bench, &["--", "sleep", "0.5"]).document();
    assert!((0.5..2.0).contains(&seconds(&document, "seconds")), "{document}");
    assert!(seconds(&document, "in_calls_seconds") < 0.05, "{document}");
    let shown = bench.run(["show", "last"]).stdout;
    let text = shown.replace('\n', " ");
    assert!(shown.starts_with("sleep took "), "{shown}");
    assert!(
        text.contains(", so no file system makes it much faster: its time goes elsewhere."),
        "{shown}"
    );
    let sentence = document["findings"][0]["sentence"].as_str().unwrap();
    assert!(text.starts_with(sentence), "{sentence}: {shown}");
    assert_eq!(document["findings"][0]["kind"], "answer");
}

#[test]
fn times_in_calls_of_several_threads_are_counted_once() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    // Both wait in calls that take long: each write is synchronous, on a disk that is in memory.
    let Some(mount) = LoopMount::with("ext4", 64, &[], "loop") else { return };
    let one = "dd if=/dev/zero of=$0/$n bs=4k count=300 oflag=sync 2>/dev/null";
    let script = format!("for n in 1 2 3 4; do {one} & done; wait");
    let words = ["--", "sh", "-c", &script, mount.path().to_str().unwrap()];
    let document = Trace::start(&bench, &words).document();
    let together: f64 = document["measurements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["seconds"].as_f64().unwrap())
        .sum();
    let once = seconds(&document, "in_calls_seconds");
    assert!(together > 1.5 * once && once > together / 4.2, "{together} s, {once} s");
    assert!(once <= seconds(&document, "seconds"));
    assert!(bench.run(["show", "last"]).stdout.contains("Several threads were in calls at once"));
}

#[test]
fn a_process_that_is_killed_in_a_call_leaves_it() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    // Threads that are in calls when others replace or end their process; then nothing for a while.
    let script = "for i in 1 2 3 4 5 6; do (exec cat /dev/zero >big) & p=$!; sleep 0.05; kill -9 $p; done; wait; rm big; sleep 1; touch a";
    let words = ["--", "sh", "-c", script];
    let document = Trace::start(&bench, &words).document();
    // A call that goes on would take the second in which nothing happens too.
    let idle = seconds(&document, "seconds") - seconds(&document, "in_calls_seconds");
    assert!(idle > 0.8, "{document}");
}

#[test]
fn a_program_that_is_interrupted_is_traced_until_then() {
    if !can_trace() {
        return;
    }
    let bench = Bench::in_memory();
    // It runs on without a trace for a while.
    let script = "i=0; while [ $i -lt 200000 ]; do echo a >b; i=$((i+1)); done";
    let trace = Trace::start(&bench, &["--", "sh", "-c", script]);
    std::thread::sleep(Duration::from_millis(300));
    let document = trace.interrupted();
    assert_eq!(document["run"]["traced"]["is_whole"], false);
    let time = seconds(&document, "seconds");
    assert!((0.2..5.0).contains(&time), "{time}");
}
