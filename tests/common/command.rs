//! Runs the `boatload` command as a user does, each time with a directory, a store and an
//! environment of its own.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test panics when it cannot continue"
)]

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A directory to run in, a store, and a home, which are removed when it is dropped.
pub struct Bench {
    root: TempDir,
}

/// What a command came to.
pub struct Ran {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Default for Bench {
    fn default() -> Self {
        Self::at(&std::env::temp_dir())
    }
}

impl Bench {
    /// The same in memory, if there is such a place: nothing waits for a disk.
    pub fn in_memory() -> Self {
        let memory = PathBuf::from("/dev/shm");
        Self::at(&if memory.is_dir() { memory } else { std::env::temp_dir() })
    }

    fn at(place: &Path) -> Self {
        let root = tempfile::Builder::new().prefix("a bench ").tempdir_in(place).unwrap();
        for name in ["work", "home", "elsewhere"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    /// The directory runs take place in.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// A path beside the directory, for files of the test's own.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.path().join("elsewhere").join(name)
    }

    pub fn store(&self) -> PathBuf {
        self.root.path().join("store.db")
    }

    /// Writes a file beside the directory.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.beside(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The command with nothing of the caller's environment.
    pub fn bare(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_boatload"));
        command.env_clear().env("HOME", self.root.path().join("home"));
        command.stdin(Stdio::null()).current_dir(self.work());
        command
    }

    /// The command with the store and its arguments, to which more may be added.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.bare();
        let mut arguments = arguments.into_iter();
        if let Some(name) = arguments.next() {
            command.arg(name.as_ref());
            if !STORELESS.iter().any(|storeless| *storeless == name.as_ref()) {
                command.arg("--store").arg(self.store());
            }
        }
        command.args(arguments);
        command
    }

    /// The command as an ordinary user, in a directory of that user's; or why that cannot be had. All of it lies where
    /// everybody can reach it: directories above the build may be closed to others.
    pub fn as_nobody(&self) -> Result<(PathBuf, Command), &'static str> {
        if !rustix::process::geteuid().is_root() {
            return Err("needs root to become another user");
        }
        let open = |path: &Path| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        let is_closed = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o001 == 0;
        if self.root.path().ancestors().skip(1).any(is_closed) {
            return Err(
                "others cannot enter the directory of temporary files: set TMPDIR to one that they can",
            );
        }
        let (binary, theirs) = (self.beside("boatload"), self.beside("theirs"));
        install(Path::new(env!("CARGO_BIN_EXE_boatload")), &binary);
        std::fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
        [self.root.path(), &self.beside("")].into_iter().for_each(open);
        let mut command = Command::new(binary);
        command.uid(NOBODY).gid(NOBODY).stdin(Stdio::null()).current_dir(&theirs);
        command.env("XDG_DATA_HOME", &theirs);
        Ok((theirs, command))
    }

    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        Ran::of(&mut self.command(arguments))
    }

    /// The id of the newest run.
    pub fn last_id(&self) -> String {
        let document = self.run(["show", "last", "--json", "-"]).json();
        document["run"]["id"].as_str().unwrap().to_string()
    }

    /// A run of a job file that must go well; gives its document.
    pub fn document<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Value {
        let mut command = self.command(arguments);
        let ran = Ran::of(command.args(["--json", "-"]));
        ran.json()
    }

    /// A small run of `smallfiles` that leaves the caches of the machine alone.
    pub fn small_run(&self) -> Ran {
        let ran = self.run(SMALL);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    }

    /// Starts a run that takes long enough to be disturbed, and waits until it has made files.
    pub fn long_run(&self, directory: &Path) -> Running {
        Running::start(self.long_command(directory), directory)
    }

    /// A run that takes long enough to be disturbed.
    pub fn long_command(&self, directory: &Path) -> Command {
        let arguments = ["run", "--cache", "as-is", "--set", "files=3M", "--set", "selected=10"];
        let mut command = self.command(arguments);
        command.args(["--set", "size_min=0", "--set", "size_max=0", "--dir"]).arg(directory);
        command
    }
}

/// Copies a program, by another process: a file that this one has open to write cannot be started, nor while a child that
/// another thread makes has it.
pub fn install(program: &Path, to: &Path) {
    let done = Command::new("install").args(["-m", "755"]).args([program, to]).status();
    assert!(done.unwrap().success(), "install {} {}", program.display(), to.display());
}

/// A user without any right.
const NOBODY: u32 = 65_534;

/// Commands that keep nothing.
const STORELESS: [&str; 9] =
    ["scenarios", "disks", "selftest", "inspect", "fill", "age", "clean", "crash", "audit"];

pub const SMALL: [&str; 9] =
    ["run", "--cache", "as-is", "--repeats", "1", "--set", "files=200", "--set", "selected=50"];

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        Self::from(command.output().unwrap())
    }

    pub fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("what is printed is UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The run document on stdout, and nothing else there.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e} in {:?}; stderr: {}", self.stdout, self.stderr))
    }

    /// One clear sentence on stderr, nothing on stdout, and this exit code.
    #[track_caller]
    pub fn refuses(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        assert_eq!(self.stdout, "", "a command that refuses prints no result");
        let said: Vec<_> = self.stderr.lines().filter(|l| l.starts_with("boatload: ")).collect();
        assert_eq!(said.len(), 1, "one sentence: {:?}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        &self.stderr
    }
}

const FIRST_CELL: &str = "c0000000001";

/// A process that is under way; it is ended when it is dropped.
pub struct Running {
    child: Child,
    run_directory: PathBuf,
}

impl Running {
    /// Starts a command and waits until its run directory holds a cell with files.
    pub fn start(command: Command, directory: &Path) -> Self {
        Self::start_with_errors_to(command, directory, Stdio::piped())
    }

    /// The same with a standard error of the caller's.
    pub fn start_with_errors_to(
        mut command: Command,
        directory: &Path,
        errors: impl Into<Stdio>,
    ) -> Self {
        command.stderr(errors);
        Self::start_seen(command, directory, |_, run_directory| run_directory.join(FIRST_CELL))
    }

    /// Starts a command that makes file systems, and waits until there are files on one. What it
    /// mounts is seen by no other process.
    pub fn start_on_made(mut command: Command, directory: &Path) -> Self {
        command.stderr(Stdio::piped());
        Self::start_seen(command, directory, |process, run_directory| {
            let root = PathBuf::from(format!("/proc/{}/root", process.as_raw_nonzero()));
            // It may be in a chroot.
            let above = std::fs::read_link(&root).unwrap_or_default();
            let Ok(below) = run_directory.strip_prefix(above) else { return PathBuf::new() };
            let mounted = root.join(below).join("mounted");
            // Not there before it is mounted.
            let entries = std::fs::read_dir(&mounted).into_iter().flatten().flatten();
            let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let own = names.find(|name| name.starts_with("boatload-")).unwrap_or_default();
            mounted.join(own).join(FIRST_CELL)
        })
    }

    fn start_seen(
        mut command: Command,
        directory: &Path,
        cell: impl Fn(Pid, &Path) -> PathBuf,
    ) -> Self {
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut running = Self { child, run_directory: PathBuf::new() };
        for _ in 0..6_000 {
            if let Some(run_directory) = run_directories(directory).into_iter().next()
                && count(&cell(running.id(), &run_directory)) >= 100
            {
                running.run_directory = run_directory;
                return running;
            }
            if let Some(status) = running.child.try_wait().unwrap() {
                let errors = running.child.stderr.take().map(std::io::read_to_string);
                panic!("it ended before it made files: {status}: {errors:?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("a minute has gone and no file was made in {}", directory.display());
    }

    /// The run's own directory.
    pub fn run_directory(&self) -> &Path {
        &self.run_directory
    }

    /// Its number, which stays its own until the test waits for it.
    pub fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until all of its threads are stopped.
    pub fn waits_stopped(&self) {
        let tasks = format!("/proc/{}/task", self.child.id());
        let is_stopped = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.rsplit(')').next().is_none_or(|rest| rest.trim_start().starts_with('T'))
        };
        while !std::fs::read_dir(&tasks).unwrap().map_while(Result::ok).all(is_stopped) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).expect("it is still running");
    }

    /// Waits for its end.
    pub fn ended(mut self) -> Ran {
        use std::io::Read;
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut stderr).unwrap();
        }
        let status = self.child.wait().unwrap();
        assert!(status.code().is_some() || status.signal() == Some(9), "{status}: {stderr}");
        Ran { code: status.code(), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The run directories below a directory.
pub fn run_directories(directory: &Path) -> Vec<PathBuf> {
    names_in(directory)
        .iter()
        .filter(|n| n.starts_with("boatload-"))
        .map(|n| directory.join(n))
        .collect()
}

fn count(directory: &Path) -> usize {
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}

/// Names of a directory's entries, sorted, as they may be shown.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
