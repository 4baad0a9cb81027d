//! Direct I/O and reading the block device, on file systems made for the purpose: what the system
//! calls are, what stays in memory, and that a device is only read.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use crate::common;

use crate::command;
use crate::mounts;

use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use boatload::host::block_device::BlockDevice;
use boatload::host::block_device::DeviceCounters;
use boatload::host::mounts::Mount;
use boatload::run::cache::OwnDropper;
use boatload::run::clock::RealClock;
use boatload::run::site::{DeviceSite, Site};
use command::{Bench, Ran, names_in};
use common::{LoopMount, output, skip};
use mounts::Mounted;

/// Writes, reads and overwrites 8 MiB around the page cache, in odd numbers of blocks.
const DIRECT: &str = r#"
name = "direct"
repeats = 1
tree = { files = 2, size = "4100KiB" }
[[phase]]
operation = "create"
direct = true
block = "1540KiB"
[[phase]]
operation = "read"
direct = true
block = "12MiB"
[[phase]]
operation = "overwrite"
direct = true
[[phase]]
name = "look"
operation = "read"
count = 1
"#;

fn document(bench: &Bench, job: &str, directory: &Path) -> (Ran, Value) {
    let file = bench.write("job.toml", job);
    let mut command = bench.command(["run"]);
    let ran = Ran::of(command.arg(file).args(["--json", "-", "--dir"]).arg(directory));
    let json = if ran.stdout.is_empty() { Value::Null } else { ran.json() };
    (ran, json)
}

#[track_caller]
fn of_phase<'a>(document: &'a Value, phase: &str) -> &'a Value {
    let all = document["measurements"].as_array().expect("measurements");
    all.iter().find(|m| m["phase"] == phase).expect("the phase was measured")
}

/// Direct I/O on a file system of its own: the device moved all of it, and nothing was in memory
/// when the buffered look at the end began.
fn around_the_cache(fs: &str, megabytes: u64) {
    let Some(mounted) = LoopMount::new(fs, megabytes) else { return };
    let bench = Bench::default();
    let (ran, document) = document(&bench, DIRECT, mounted.path());
    assert_eq!(ran.code, Some(0), "{fs}: {}", ran.stderr);
    let bytes = 2 * (4100 << 10);
    for phase in ["create", "read", "overwrite"] {
        let m = of_phase(&document, phase);
        assert_eq!((&m["valid"], &m["bytes"]), (&true.into(), &bytes.into()), "{fs}: {m}");
        let moved = if phase == "read" { "device_read_bytes" } else { "device_write_bytes" };
        // Under background load some pages of a file on btrfs were in memory after direct writes.
        let least = if phase == "read" { bytes / 10 * 9 } else { bytes };
        assert!(m[moved].as_u64().unwrap() >= least, "{fs}: the device moved too little: {m}");
        assert_ne!(m["cache"]["found"], "warm", "{fs}: {m}");
    }
    let look = of_phase(&document, "look");
    assert_eq!(look["cache"]["resident_fraction"], 0.0, "{fs}: {look}");
}

#[test]
fn direct_io_on_ext4_leaves_nothing_in_memory() {
    around_the_cache("ext4", 64);
}

#[test]
fn direct_io_on_xfs_leaves_nothing_in_memory() {
    around_the_cache("xfs", 320);
}

#[test]
fn direct_io_on_btrfs_leaves_nothing_in_memory() {
    around_the_cache("btrfs", 128);
}

/// A file system in memory either does it or refuses it; a refusal says what it means.
#[test]
fn direct_io_in_memory_works_or_says_that_it_is_refused() {
    let bench = Bench::default();
    let mounted = match Mounted::tmpfs(&bench.work(), "size=64M") {
        Ok(mounted) => mounted,
        Err(why) => return skip("direct I/O in memory", &why),
    };
    let (ran, document) = document(&bench, DIRECT, mounted.path());
    let create = of_phase(&document, "create");
    match ran.code {
        Some(0) => assert_eq!(create["valid"], true, "{create}"),
        Some(4) => assert!(ran.stdout.contains("direct I/O is not done here"), "{}", ran.stdout),
        _ => panic!("{}", ran.stderr),
    }
}

/// The lines that `strace -f` gives of a run with these flags; `None` where it cannot.
pub(crate) fn traced(bench: &Bench, flags: &[&str], arguments: &[&str]) -> Option<Vec<String>> {
    if output("strace", &["--version"]).is_none() {
        skip("system calls against strace", "it is not installed");
        return None;
    }
    let table = bench.beside("calls");
    let mut command = Command::new("strace");
    command.arg("-f").args(flags).arg("-o").arg(&table);
    command.arg(env!("CARGO_BIN_EXE_boatload")).args(arguments);
    command.arg("--store").arg(bench.store()).current_dir(bench.work());
    let done = Ran::of(&mut command);
    if done.code != Some(0) && done.stderr.contains("ptrace") {
        skip("system calls against strace", done.stderr.lines().next().unwrap_or_default());
        return None;
    }
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let text = std::fs::read(&table).unwrap();
    Some(String::from_utf8_lossy(&text).lines().map(str::to_string).collect())
}

#[test]
fn strace_shows_each_file_opened_for_direct_io_and_whole_blocks_written() {
    let Some(mounted) = LoopMount::new("ext4", 64) else { return };
    let bench = Bench::default();
    let job = bench.write("job.toml", DIRECT);
    let (job, directory) = (job.to_str().unwrap(), mounted.path().to_str().unwrap());
    let arguments = ["run", job, "--dir", directory];
    let Some(lines) = traced(&bench, &["-s", "0", "-e", "trace=openat,write"], &arguments) else {
        return;
    };
    let direct = lines.iter().filter(|l| l.replace("O_DIRECTORY", "").contains("O_DIRECT"));
    assert_eq!(direct.count(), 3 * 2, "three phases open two files each");
    let wrote = |bytes: u64| lines.iter().filter(|l| l.ends_with(&format!(" = {bytes}"))).count();
    let blocks = (wrote(1540 << 10), wrote(1020 << 10), wrote(1 << 20), wrote(4 << 10));
    assert!(blocks.0 == 4 && blocks.1 == 2 && blocks.2 == 8 && blocks.3 >= 2, "{blocks:?}");
}

fn counters(directory: &Path) -> DeviceCounters {
    let open = std::fs::File::open(directory).unwrap();
    rustix::fs::syncfs(&open).unwrap();
    let mount = Mount::of(open.as_fd()).unwrap();
    BlockDevice::under(&mount).expect("a loop device").counters().unwrap()
}

const SHORT: [&str; 6] = ["run", "device", "--set", "seconds=0.05", "--repeats", "1"];

/// `device` on a mounted file system: it is read, it tells where from, and nothing is written.
/// Other tests drop the caches of the whole machine now and then; one run must go undisturbed.
fn reads_the_device(mounted: &LoopMount, uncached: &str) {
    let done = (0..20).any(|_| undisturbed(mounted, uncached));
    assert!(done, "not once did all of `cached` stay in memory");
}

/// One run. False if what was to be in memory did not stay there.
fn undisturbed(mounted: &LoopMount, uncached: &str) -> bool {
    let bench = Bench::default();
    // A new ext4 writes on its own for a while; read-only, only a write to the device would count.
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(mounted.path()).status();
    assert!(remounted.unwrap().success());
    let before = counters(mounted.path());
    let names = names_in(mounted.path());
    let mut command = bench.command(SHORT);
    let ran = Ran::of(command.args(["--json", "-", "--dir"]).arg(mounted.path()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = ran.json();
    let moved = counters(mounted.path()).since(before).unwrap();
    assert_eq!(moved.write_bytes, 0, "the device is only read");
    assert_eq!(names_in(mounted.path()), names);
    let mut all_warm = false;
    for m in document["measurements"].as_array().unwrap() {
        let (bytes, read) =
            (m["bytes"].as_u64().unwrap(), m["device_read_bytes"].as_u64().unwrap());
        assert!(m["valid"] == true && bytes > 0 && bytes % (2 << 20) == 0, "{m}");
        if m["phase"] == "uncached" {
            assert_eq!(m["cache"]["found"], uncached, "{m}");
            let doubt = &m["cache"]["reason"];
            assert!(doubt == "lower-cache" || uncached == "cold-verified", "{m}");
            assert!(read >= bytes && bytes <= 64 << 20, "once at most, and from the device: {m}");
        } else {
            all_warm = m["cache"]["found"] == "warm" && read == 0;
        }
    }
    let findings = document["findings"].as_array().unwrap();
    let of = |phase: &str, kind: &str| {
        let found = findings.iter().find(|f| f["kind"] == kind && f["phase"] == phase);
        found.unwrap_or_else(|| panic!("{kind} of {phase} in {findings:?}"))
    };
    assert!(!all_warm || of("cached", "source")["from"] == "memory", "{findings:?}");
    assert_eq!(of("uncached", "source")["from"], "device");
    if uncached == "cold-verified" {
        assert!(of("uncached", "lower-cache")["ratio"].is_f64());
    }
    all_warm
}

#[test]
fn the_device_below_a_loop_mount_is_read_and_never_written() {
    let Some(mounted) = LoopMount::new("ext4", 64) else { return };
    // Most of its file are holes, for which the disk beneath delivers nothing.
    if !mounted.switch_direct_io(false) {
        return skip("reading a loop device without direct I/O", "losetup cannot switch it off");
    }
    reads_the_device(&mounted, "unverified");
    if !mounted.switch_direct_io(true) {
        return skip("reading a loop device with direct I/O", "losetup cannot switch it on");
    }
    reads_the_device(&mounted, "cold-verified");
}

#[test]
fn strace_shows_the_device_opened_for_reading_only_and_no_directory_made() {
    let Some(mounted) = LoopMount::new("ext4", 64) else { return };
    let bench = Bench::default();
    let (device, directory) = (mounted.device(), mounted.path().to_str().unwrap().to_string());
    let arguments: Vec<&str> = SHORT.into_iter().chain(["--dir", &directory]).collect();
    let calls = "trace=open,openat,openat2,mkdir,mkdirat,unlink,unlinkat";
    let Some(lines) = traced(&bench, &["-s", "0", "-e", calls], &arguments) else { return };
    let of_device: Vec<_> = lines.iter().filter(|l| l.contains(&format!("\"{device}\""))).collect();
    assert!(of_device.len() >= 3, "{lines:?}");
    assert!(of_device.iter().all(|l| l.contains("O_RDONLY")), "{of_device:?}");
    assert!(of_device.iter().any(|l| l.contains("O_DIRECT")), "{of_device:?}");
    let makes =
        |l: &&String| l.contains(&directory) && (l.contains("mkdir") || l.contains("O_CREAT"));
    assert_eq!(lines.iter().find(makes), None);
}

#[test]
fn in_memory_there_is_no_device_and_run_and_plan_say_so() {
    let bench = Bench::default();
    let mounted = match Mounted::tmpfs(&bench.work(), "size=8M") {
        Ok(mounted) => mounted,
        Err(why) => return skip("`device` in memory", &why),
    };
    for command in ["run", "plan"] {
        let mut command = bench.command([command, "device", "--dir"]);
        let ran = Ran::of(command.arg(mounted.path()));
        let said = ran.refuses(1);
        assert!(said.contains("no block device") && said.contains("tmpfs"), "{said}");
    }
    let simulated = bench.run(["run", "device", "--engine", "sim", "--set", "seconds=0.01"]);
    assert_eq!(simulated.code, Some(0), "the simulated device is everywhere: {}", simulated.stderr);
}

/// The node of a loop device stays when the device is freed, so its mode is put back.
struct Readable(String);

impl Readable {
    fn new(device: String) -> Self {
        assert!(output("chmod", &["o+r", &device]).is_some());
        Self(device)
    }
}

impl Drop for Readable {
    fn drop(&mut self) {
        let _ = output("chmod", &["o-r", &self.0]);
    }
}

#[test]
fn an_ordinary_user_is_told_what_reading_the_device_takes_and_may_have_proof() {
    let Some(mounted) = LoopMount::new("ext4", 64) else { return };
    let bench = Bench::default();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(mounted.path().parent().unwrap(), mode).unwrap();
    let mut command = match bench.as_nobody() {
        Ok((_, command)) => command,
        Err(why) => return skip("`device` by an ordinary user", why),
    };
    command.args(["plan", "device", "--store", "/dev/null/none", "--dir"]).arg(mounted.path());
    let ran = Ran::of(&mut command);
    let said = ran.refuses(1);
    assert!(said.contains(&mounted.device()) && said.contains("mostly `disk`"), "{said}");
    let readable = Readable::new(mounted.device());
    assert_eq!(Ran::of(&mut command).code, Some(0));
    drop(readable);
}

/// Direct I/O needs no right to drop caches; but a loop device may read through the cache.
#[test]
fn without_root_the_device_is_proved_cold_unless_its_file_may_be_cached() {
    let Some(mounted) = LoopMount::new("ext4", 64) else { return };
    let open = std::fs::File::open(mounted.path()).unwrap();
    let mount = Mount::of(open.as_fd()).unwrap();
    let job = "name = \"x\"\n[[phase]]\noperation = \"read-device\"\ncount = 8\n\
               direct = true\ncache = \"cold\"\n";
    let plan =
        boatload::plan::read_job(job, &Default::default()).unwrap_or_else(|_| panic!("{job}"));
    for (switch, expected) in [("off", "unverified"), ("on", "cold-verified")] {
        let option = format!("--direct-io={switch}");
        if output("losetup", &[&option, &mounted.device()]).is_none() {
            return skip("a loop device with direct I/O", "losetup cannot switch it on");
        }
        let device = BlockDevice::under(&mount).unwrap();
        let plan = plan.on_device(device.facts.total_bytes.unwrap()).unwrap();
        let mut site = DeviceSite::new(device, false, RealClock::new()).unwrap();
        site.begin_cell(&plan.cells[0]).unwrap();
        let found =
            site.prepare_caches(&plan.cells[0].phases[0], &AtomicBool::new(false), &OwnDropper);
        let found = found.unwrap();
        assert_eq!(found.found.as_str(), expected, "{found:?}");
    }
}
