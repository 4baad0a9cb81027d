//! Traces the file operations of other programs with bpftrace, which counts latencies in the kernel.

mod calls;
mod directories;
mod output;
mod script;
#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{MemfdFlags, Mode, OFlags, SeekFrom};
use rustix::thread::{CapabilitySet, capabilities};

use self::output::{MapRow, TracerLine, entries, number_at, parse_line};
use self::script::{OFF, PREFIX_BYTES_MAX, ScriptCommand};
use crate::mounts::{enter_private_mounts, mount};
use crate::programs::{command, find_program, missing_program, output};
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::read_text;
use boatload_base::shell::as_root;

pub use self::calls::TracedOperation;
pub use self::directories::{DirectoryCalls, DirectoryKey, DirectoryNames};
pub use self::output::{CallSum, MapEntry};
pub use self::script::{
    BUCKET_BITS, FAILED, OWN_NUMBER, PathFilter, ProcessFilter, ScriptOrder, WINDOW_SHIFT,
};

const PROGRAM: &str = "bpftrace";
/// Where tracefs belongs.
const TRACEFS: &str = "/sys/kernel/tracing";
/// The types of the kernel's structures.
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// It is there with `CONFIG_BPF_SYSCALL`.
const BPF_SETTING: &str = "/proc/sys/kernel/unprivileged_bpf_disabled";

/// Entries of each map of the script, which bound the kernel's memory.
pub const MAP_ENTRIES_MAX: u64 = 16_384;
/// A text of the kernel is cut to fewer bytes than this, the most that bpftrace takes.
const TEXT_BYTES_MAX: usize = 200;
/// Attaching the probes takes a second; on a busy machine a minute.
const READY_WAIT: Duration = Duration::from_secs(180);
/// How long bpftrace may take to print its maps.
const TICK_WAIT: Duration = Duration::from_secs(30);
/// A call that has begun to count into one set has done so after this.
const SWITCH_PAUSE: Duration = Duration::from_millis(5);
/// Lines that wait to be read, at most.
const LINES_MAX: usize = 64;
/// Bytes of its complaints that are kept.
const COMPLAINT_BYTES_MAX: u64 = 64 << 10;
/// The script goes through so many processors, where their number is not known, and at most.
const PROCESSORS_UNKNOWN: u32 = 64;
const PROCESSORS_MAX: u32 = 512;
/// Of bpftrace, as nice(1) has them: a tenth of the share of others where all want a processor.
const PRIORITY: i32 = 10;
/// Where the number of a command stands in the place that is sought.
const COMMAND_SHIFT: u32 = 40;

/// What was counted since the last time, and some totals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceBatch {
    /// Calls by window, operation and bucket, since the last time.
    pub latencies: Vec<MapEntry>,
    /// Calls by directory and operation, since the last time.
    pub directories: Vec<DirectoryCalls>,
    /// Calls by the number of their operation, of all times.
    pub totals: Vec<OperationCalls>,
    /// Failed calls by operation and error, of all times.
    pub errors: Vec<MapEntry>,
    /// Bytes by operation, of all times.
    pub bytes: Vec<MapEntry>,
    /// Calls that let io_uring work, of all times.
    pub io_uring_calls: u64,
    /// Time in which at least one call ran, of all times, in nanoseconds.
    pub in_calls_ns: u64,
    /// When the first process was followed, by the kernel's clock; 0 if none was.
    pub followed_ns: u64,
    /// When the last process that was followed ended, by the same clock; 0 if none did.
    pub ended_ns: u64,
}

/// Calls of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCalls {
    /// The number of the operation.
    pub operation: u64,
    /// How many, and their time.
    pub sum: CallSum,
}

impl TraceBatch {
    /// Entries of the map that had most, of those that are emptied at each look.
    pub fn entries(&self) -> usize {
        self.latencies.len().max(self.directories.len())
    }

    /// Takes in a map that the script printed.
    fn take(&mut self, map: &str, rows: Vec<MapRow>) {
        match map {
            "@ha" | "@hb" => self.latencies = entries(rows),
            "@da" | "@db" => {
                self.directories = rows.iter().filter_map(DirectoryCalls::of_row).collect();
            }
            "@t" => {
                let total = |row: &MapRow| {
                    Some(OperationCalls { operation: row.key[0], sum: row.calls()? })
                };
                self.totals = rows.iter().filter_map(total).collect();
            }
            "@e" => self.errors = entries(rows),
            "@b" => self.bytes = entries(rows),
            "@u" => self.io_uring_calls = number_at(&rows, 0),
            "@busy" => self.in_calls_ns = number_at(&rows, 0),
            "@time" => {
                [self.followed_ns, self.ended_ns] = [0, 1].map(|key| number_at(&rows, key));
            }
            _ => {}
        }
    }
}

/// The machine can trace.
pub struct TracerProgram {
    path: PathBuf,
    /// What it says of its version.
    pub version: String,
}

/// What gives the script a directory to compare with, and keeps it open.
struct WatchedDirectory {
    command: u64,
    directory: OwnedFd,
}

/// A map that the script printed: its name and its entries.
type PrintedMap = (String, Vec<MapRow>);

/// A running tracer. What it attached goes with it.
pub struct Tracer {
    child: Child,
    lines: Receiver<TracerLine>,
    complaints: Option<JoinHandle<String>>,
    /// Seeks in it are commands.
    channel: OwnedFd,
    /// Kept open, so that the kernel keeps what they stand for.
    _directories: Vec<WatchedDirectory>,
    set: u64,
}

impl TracerProgram {
    /// Looks for all that it takes. To be called before there is a second thread: tracefs is mounted where only this
    /// process and its children see it.
    ///
    /// # Errors
    /// If something is missing, with what to do about it.
    pub fn find() -> Result<Self> {
        let rights =
            capabilities(None).map(|sets| sets.effective).unwrap_or(CapabilitySet::empty());
        if !rustix::process::geteuid().is_root() || !rights.contains(CapabilitySet::SYS_ADMIN) {
            return Err(Failure::failed(format!(
                "cannot trace: it takes root with the capability CAP_SYS_ADMIN, which bpftrace loads its program with. \
                 In a container it does not work; outside of it: {}",
                as_root()
            )));
        }
        let path = find_program(PROGRAM).ok_or_else(|| {
            let missing = missing_program(PROGRAM, PROGRAM, PROGRAM);
            Failure::failed(format!("cannot trace: {missing}"))
        })?;
        let lacks = |option: &str, file: &str| {
            Failure::failed(format!(
                "cannot trace: this kernel was built without {option} ({file} is missing)"
            ))
        };
        for (file, option) in [(BPF_SETTING, "CONFIG_BPF_SYSCALL"), (BTF, "CONFIG_DEBUG_INFO_BTF")]
        {
            if !Path::new(file).exists() {
                return Err(lacks(option, file));
            }
        }
        let events = Path::new(TRACEFS).join("events/raw_syscalls/sys_enter");
        if !events.exists() {
            let place = Path::new(TRACEFS);
            enter_private_mounts()
                .map_err(|error| Failure::from_system("get mounts of its own", error.about()))?;
            mount("tracefs".as_ref(), "tracefs", place, "")?;
        }
        if !events.exists() {
            return Err(lacks("CONFIG_FTRACE_SYSCALLS", &shown(&events)));
        }
        let said = output(command(&path).arg("--version"))
            .map_err(|error| Failure::from_system("start bpftrace", error))?;
        let version = String::from_utf8_lossy(&said.stdout).trim().to_string();
        Ok(Self { path, version })
    }
}

impl PathFilter {
    /// The files below a directory.
    ///
    /// # Errors
    /// If its path is too long.
    pub fn new(directory: &Path) -> Result<Self> {
        let directory = directory.canonicalize().map_err(|error| {
            Failure::from_system(format!("find the directory {}", shown(directory)), error)
        })?;
        let path = directory.as_os_str().as_bytes();
        if path.len() > PREFIX_BYTES_MAX || path == b"/" || !directory.is_dir() {
            return Err(Failure::usage(format!(
                "cannot trace below {}: --path takes a directory other than /, of at most {PREFIX_BYTES_MAX} bytes",
                shown(&directory)
            )));
        }
        Ok(Self { path: path.to_vec() })
    }

    /// The directory and those above it, with the command that tells each.
    fn open(&self) -> Result<Vec<WatchedDirectory>> {
        let mut all = Vec::new();
        let path = Path::new(std::ffi::OsStr::from_bytes(&self.path));
        for (at, directory) in path.ancestors().enumerate() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = rustix::fs::open(directory, flags, Mode::empty());
            let opened = opened.map_err(|error| {
                Failure::from_system(format!("open {}", shown(directory)), error)
            })?;
            all.push(WatchedDirectory {
                command: ScriptCommand::Root as u64 + at as u64,
                directory: opened,
            });
        }
        Ok(all)
    }
}

impl Tracer {
    /// Starts the tracer; when it returns, everything that its order names is traced. It ends with the calling
    /// thread.
    ///
    /// # Errors
    /// If it does not start, with what bpftrace says.
    pub fn start(program: &TracerProgram, order: &ScriptOrder) -> Result<Self> {
        let directories = order.path.as_ref().map_or(Ok(Vec::new()), PathFilter::open)?;
        let channel = rustix::fs::memfd_create("boatload-trace", MemfdFlags::CLOEXEC);
        let channel =
            channel.map_err(|error| Failure::from_system("make a file in memory", error))?;
        let mut child = command(&program.path)
            .env("BPFTRACE_MAP_KEYS_MAX", MAP_ENTRIES_MAX.to_string())
            .env("BPFTRACE_STRLEN", TEXT_BYTES_MAX.to_string())
            .args(["-f", "json", "-e", &order.script()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C on a terminal would end it before its last counts are read.
            .process_group(0)
            .spawn()
            .map_err(|error| Failure::from_system("start bpftrace", error))?;
        // What it prints can wait: it is not to take a processor from a program within a call.
        let tracer = rustix::process::Pid::from_child(&child);
        let _ = rustix::process::setpriority_process(Some(tracer), PRIORITY);
        let (sender, lines) = sync_channel(LINES_MAX);
        let output = child.stdout.take();
        let errors = child.stderr.take();
        let failed = |error| Failure::from_system("start a thread", error);
        let read = move || output.map_or((), |output| read_lines(output, &sender));
        std::thread::Builder::new().name("trace-lines".into()).spawn(read).map_err(failed)?;
        let complaints = move || errors.map_or_else(String::new, read_complaints);
        let complaints = Some(
            std::thread::Builder::new()
                .name("trace-errors".into())
                .spawn(complaints)
                .map_err(failed)?,
        );
        let mut tracer =
            Self { child, lines, complaints, channel, _directories: directories, set: 0 };
        tracer.wait_until_ready()?;
        for watched in &tracer._directories {
            tracer.tell_number(watched.command, watched.directory.as_raw_fd() as u64);
        }
        Ok(tracer)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        while self.line(READY_WAIT)? != TracerLine::Ready {}
        // In a namespace of its own a process has another number than the kernel's script sees.
        self.collect().map(drop).map_err(|failure| {
            failure.then(&Failure::failed(
                "The script does not see boatload itself: it does not work in a PID namespace (a container)",
            ))
        })
    }

    /// What was counted since the last time. The script counts on into another set meanwhile.
    ///
    /// # Errors
    /// If bpftrace ended or gives no answer.
    pub fn collect(&mut self) -> Result<TraceBatch> {
        let full = self.set;
        self.set = 1 - full;
        self.tell(ScriptCommand::Switch, self.set);
        boatload_base::patience::pause(SWITCH_PAUSE);
        self.printed(full)
    }

    /// Forgets what was counted until now.
    ///
    /// # Errors
    /// If bpftrace ended or gives no answer.
    pub fn begin(&mut self) -> Result<()> {
        self.maps(ScriptCommand::Begin, 0).map(drop)
    }

    /// Ends the counting, with all that was not collected.
    ///
    /// # Errors
    /// If bpftrace ended or gives no answer.
    pub fn finish(&mut self) -> Result<TraceBatch> {
        self.tell(ScriptCommand::Switch, OFF);
        boatload_base::patience::pause(SWITCH_PAUSE);
        self.printed(self.set)
    }

    fn printed(&mut self, set: u64) -> Result<TraceBatch> {
        let mut batch = TraceBatch::default();
        for (name, rows) in self.maps(ScriptCommand::Print, set)? {
            batch.take(&name, rows);
        }
        Ok(batch)
    }

    /// The maps that the script prints at a command.
    fn maps(&mut self, command: ScriptCommand, value: u64) -> Result<Vec<PrintedMap>> {
        self.tell(command, value);
        let mut maps = Vec::new();
        loop {
            match self.line(TICK_WAIT)? {
                TracerLine::Tick => return Ok(maps),
                TracerLine::Ready => {}
                TracerLine::Map(name, rows) => maps.push((name, rows)),
            }
        }
    }

    /// The followed processes that have not ended.
    ///
    /// # Errors
    /// If bpftrace ended or gives no answer.
    pub fn running(&mut self) -> Result<Vec<u32>> {
        let rows = self.maps(ScriptCommand::Running, 0)?.into_iter().flat_map(|(_, rows)| rows);
        let followed = entries(rows.collect()).into_iter().filter(|entry| entry.value != 0);
        Ok(followed.filter_map(|entry| u32::try_from(entry.key).ok()).collect())
    }

    /// The names of directories in which calls named files.
    ///
    /// # Errors
    /// If bpftrace ended or gives no answer.
    pub fn directory_names(&mut self) -> Result<DirectoryNames> {
        let mut names = DirectoryNames::default();
        for (name, rows) in self.maps(ScriptCommand::Names, 0)? {
            names.take(&name, rows);
        }
        Ok(names)
    }

    fn line(&mut self, wait: Duration) -> Result<TracerLine> {
        self.lines.recv_timeout(wait).map_err(|error| {
            let _ = self.child.kill();
            let said =
                self.complaints.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
            let what = match error {
                RecvTimeoutError::Timeout => "bpftrace gives no answer",
                RecvTimeoutError::Disconnected => "bpftrace has ended",
            };
            let said = if said.is_empty() { said } else { format!(". It says: {said}") };
            Failure::failed(format!("cannot trace: {what}{said}"))
        })
    }

    /// Windows have so many operations from now on.
    pub fn widen_windows(&self, every: u64) {
        self.tell(ScriptCommand::Every, every);
    }

    /// Follows a process, and the children that it starts from now on.
    pub fn follow(&self, process: u32) {
        self.tell(ScriptCommand::Follow, process.into());
    }

    /// Whether boatload's own calls count, apart from the calls of other processes.
    pub fn count_own(&self, does_count: bool) {
        self.tell(ScriptCommand::Own, does_count.into());
    }

    fn tell(&self, command: ScriptCommand, value: u64) {
        self.tell_number(command as u64, value);
    }

    fn tell_number(&self, command: u64, value: u64) {
        // The script sees the call whatever the file makes of it.
        let _ = rustix::fs::seek(&self.channel, SeekFrom::Start(command << COMMAND_SHIFT | value));
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // The kernel removes what it attached when its descriptors are closed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many processors are there, or come before the last one that is, by its number.
pub fn online_processors() -> u32 {
    let text = read_text("/sys/devices/system/cpu/online").unwrap_or_default();
    let last = text.trim().rsplit([',', '-']).next().and_then(|last| last.parse::<u32>().ok());
    last.map_or(PROCESSORS_UNKNOWN, |last| last.saturating_add(1)).min(PROCESSORS_MAX)
}

/// Reads lines of bpftrace as a trace does, for fuzzing: a batch of each tick, and the names of directories.
#[cfg(any(test, feature = "fixtures"))]
pub fn read_output(bytes: &[u8]) -> (Vec<TraceBatch>, DirectoryNames) {
    let (sender, lines) = sync_channel(LINES_MAX);
    let (mut batches, mut names) = (vec![TraceBatch::default()], DirectoryNames::default());
    std::thread::scope(|scope| {
        scope.spawn(move || read_lines(bytes, &sender));
        for line in lines {
            match (line, batches.last_mut()) {
                (TracerLine::Map(name, rows), Some(batch)) => {
                    names.take(&name, rows.clone());
                    batch.take(&name, rows);
                }
                (TracerLine::Tick, _) => batches.push(TraceBatch::default()),
                _ => {}
            }
        }
    });
    (batches, names)
}

fn read_lines(output: impl Read, sender: &SyncSender<TracerLine>) {
    let mut reader = BufReader::new(output);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if let Some(parsed) = parse_line(&line)
            && sender.send(parsed).is_err()
        {
            return;
        }
        line.clear();
    }
}

/// What bpftrace complains of, without what is always there where a limit cannot be raised.
fn read_complaints(errors: impl Read) -> String {
    let mut text = Vec::new();
    let _ = errors.take(COMPLAINT_BYTES_MAX).read_to_end(&mut text);
    complaints_of(&String::from_utf8_lossy(&text))
}

fn complaints_of(text: &str) -> String {
    let of_interest = |line: &&str| {
        (line.contains("ERROR") || line.contains("FATAL")) && !line.contains("RLIMIT_MEMLOCK")
    };
    let lines: Vec<&str> = text.lines().filter(of_interest).map(str::trim).collect();
    lines.join("; ")
}
