//! What limits a phase is found from the workers' own time, whatever else the machine does. On a busy machine workers wait for
//! processors, which is a limit too; so what is asserted is what no neighbour changes. Needs root.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed test panics")]
#![expect(unsafe_code, reason = "fanotify has no safe wrapper")]

use std::ffi::CString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use crate::command::{Bench, Ran};
use crate::common::{LoopMount, skip};

const OPENS: &str = "name = \"open\"\nquestion = \"How long does an open take?\"\nrepeats = 2\n\
    [tree]\nfiles = 100\n[[phase]]\noperation = \"create\"\n\
    [[phase]]\noperation = \"open\"\n[[phase]]\noperation = \"delete\"\n";

const COLD_READS: &str = "name = \"reads\"\nquestion = \"How fast are reads?\"\nrepeats = 2\n\
    [tree]\nfiles = 300\nsize = \"16KiB\"\n[[phase]]\noperation = \"create\"\n\
    [[phase]]\noperation = \"read\"\norder = \"random\"\ncache = \"cold\"\n";

const CREATES: &str = "name = \"creates\"\nquestion = \"How fast are creates?\"\nrepeats = 2\n\
    [tree]\nfiles = 20_000\nsize = \"4KiB\"\n[[phase]]\noperation = \"create\"\n";

/// The measurements of a phase.
fn phase<'a>(document: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = document["measurements"].as_array().unwrap().iter();
    let found: Vec<_> = all.filter(|m| m["phase"] == name).collect();
    assert_eq!(found.len(), 2, "{document}");
    found
}

fn share(m: &Value, name: &str) -> f64 {
    m["time_shares"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {m}"))
}

/// A listener that lets each open of a file system pass after 5 ms of sleep, as a scanner for viruses may.
struct SlowOpens {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SlowOpens {
    fn new(place: &Path) -> Option<Self> {
        // SAFETY: the call takes numbers and gives a descriptor, or -1.
        let queue = unsafe { libc::fanotify_init(libc::FAN_CLASS_CONTENT, libc::O_RDONLY as u32) };
        if queue < 0 {
            return None;
        }
        // SAFETY: the descriptor has just been made, and nobody else closes it.
        let queue = unsafe { OwnedFd::from_raw_fd(queue) };
        let path = CString::new(place.to_str().unwrap()).unwrap();
        let (flags, opens) = (libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM, libc::FAN_OPEN_PERM);
        // SAFETY: the path is a text that ends with a zero, and lives longer than the call.
        let marked = unsafe {
            libc::fanotify_mark(queue.as_raw_fd(), flags, opens, libc::AT_FDCWD, path.as_ptr())
        };
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let thread = (marked == 0).then(|| std::thread::spawn(move || let_pass(queue, &until)))?;
        Some(Self { stop, thread: Some(thread) })
    }
}

/// Answers one event after the other.
fn let_pass(queue: OwnedFd, stop: &AtomicBool) {
    let mut queue = File::from(queue);
    let mut events = [0; 4096];
    while !stop.load(Ordering::Relaxed) {
        let tenth = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        if poll(&mut [PollFd::new(&queue, PollFlags::IN)], Some(&tenth)) != Ok(1) {
            continue;
        }
        let read = queue.read(&mut events).unwrap_or(0);
        // `struct fanotify_event_metadata`: its length in the first four bytes, the descriptor in those from 16 on.
        let mut rest = &events[..read];
        while rest.len() >= 24 {
            let number = |at: usize| i32::from_ne_bytes(rest[at..at + 4].try_into().unwrap());
            let (length, file) = (number(0) as usize, number(16));
            std::thread::sleep(Duration::from_millis(5));
            let allow = [file.to_ne_bytes(), libc::FAN_ALLOW.to_ne_bytes()].concat();
            queue.write_all(&allow).unwrap();
            // SAFETY: the kernel made the descriptor for this event, and nobody else closes it.
            drop(unsafe { OwnedFd::from_raw_fd(file) });
            rest = &rest[length..];
        }
    }
}

impl Drop for SlowOpens {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A program that is busy in the kernel until it is dropped.
struct BusyKernel(Child);

impl BusyKernel {
    fn new() -> Self {
        let mut dd = Command::new("dd");
        dd.args(["if=/dev/zero", "of=/dev/null", "bs=1M"]).stderr(Stdio::null());
        Self(dd.spawn().unwrap())
    }
}

impl Drop for BusyKernel {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn opens_that_wait_for_a_permission_are_waiting_while_a_neighbour_is_busy_in_the_kernel() {
    let Some(mount) = LoopMount::in_memory("ext4", 64) else { return };
    let Some(slow) = SlowOpens::new(mount.path()) else {
        return skip("opens that wait for a permission", "no fanotify with permissions");
    };
    let bench = Bench::default();
    let job = bench.write("job.toml", OPENS);
    let busy = BusyKernel::new();
    let arguments = ["run", job.to_str().unwrap(), "--dir", mount.path().to_str().unwrap()];
    let document = bench.document(arguments);
    drop((busy, slow));
    for m in phase(&document, "open") {
        assert!(share(m, "other") > share(m, "on_cpu") + share(m, "kernel_threads"), "{m}");
        assert!(share(m, "other") > share(m, "device"), "{m}");
        if share(m, "run_queue") < 0.3 {
            assert_eq!(m["limit"], "waiting", "{m}");
        }
        let seen = &m["disturbance"];
        let number = |name: &str| seen[name].as_f64().unwrap_or_else(|| panic!("no {name}: {m}"));
        let others = number("others_cpu_seconds") - number("kernel_threads_seconds");
        assert!(others > 0.3 * number("seconds"), "the neighbour in the kernel counts: {m}");
    }
}

/// A control group that reads from a device at most so many times in a second.
struct SlowGroup(PathBuf);

impl SlowGroup {
    fn new(device: &str, reads: u32) -> Option<Self> {
        let number = std::fs::read_to_string(format!("/sys/block/{}/dev", &device[5..])).unwrap();
        let number = number.trim();
        let name = format!("boatload-test-{}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/blkio");
        let (root, file, limit) = match first.is_dir() {
            true => (first, "blkio.throttle.read_iops_device", format!("{number} {reads}")),
            false => (Path::new("/sys/fs/cgroup"), "io.max", format!("{number} riops={reads}")),
        };
        let group = Self(root.join(name));
        std::fs::create_dir(&group.0).ok()?;
        std::fs::write(group.0.join(file), limit).ok()?;
        Some(group)
    }
}

impl Drop for SlowGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn reads_that_a_control_group_throttles_are_not_limited_by_the_device() {
    let what = "reads that a control group throttles";
    let Some(mount) = LoopMount::in_memory("ext4", 64) else { return };
    let Some(group) = SlowGroup::new(&mount.device(), 200) else {
        return skip(what, "no control group with a limit for a disk");
    };
    let bench = Bench::default();
    let job = bench.write("job.toml", COLD_READS);
    let procs = group.0.join("cgroup.procs");
    let run = bench.command(["run", job.to_str().unwrap(), "--json", "-", "--dir"]);
    let mut inside = Command::new("sh");
    inside.args(["-c", "echo $$ >\"$0\" && exec \"$@\""]).arg(procs).arg(run.get_program());
    inside.args(run.get_args()).arg(mount.path()).env_clear().current_dir(bench.work());
    inside.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", bench.work());
    let document = Ran::of(&mut inside).json();
    for m in phase(&document, "read") {
        // At four fifths of its limit, boatload reports that a group runs at the limit.
        let seconds = m["disturbance"]["seconds"].as_f64().unwrap();
        if m["device_reads"].as_f64().unwrap() < 0.82 * 200.0 * seconds {
            skip(what, "the machine was too busy to reach the limit");
            continue;
        }
        assert_eq!(m["limit"], "throttled", "{m}");
    }
}

#[test]
fn creates_in_memory_are_limited_by_processors_or_by_the_wait_for_one() {
    let bench = Bench::in_memory();
    let job = bench.write("job.toml", CREATES);
    let document = bench.document(["run", job.to_str().unwrap(), "--dir", "."]);
    if document["host"]["filesystem"]["type"] != "tmpfs" {
        return skip("creates in memory", "no tmpfs at /dev/shm");
    }
    for m in phase(&document, "create") {
        let names = ["on_cpu", "run_queue", "device", "kernel_threads", "throttled", "other"];
        let all: f64 = names.iter().map(|name| share(m, name)).sum();
        assert!((all - 1.0).abs() < 1e-6, "{all}: {m}");
        assert_eq!(share(m, "device"), 0.0, "{m}");
        let on_cpu = share(m, "on_cpu");
        let expected = if on_cpu > share(m, "run_queue") { "processor" } else { "run-queue" };
        assert_eq!(m["limit"], expected, "{m}");
    }
}
