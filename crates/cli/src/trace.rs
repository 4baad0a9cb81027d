//! Runs `boatload trace`: measures the file operations of other programs, and keeps them as a run.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::common::{StorePlace, exit_of};
use super::job::words;
use super::progress::{Progress, Quiet};
use super::run::keep_elsewhere;
use super::{out, show};
use boatload_base::failure::{Exit, Failure, Result, shown};
use boatload_base::shell::{command_line, quoted};
use boatload_host::capabilities::{PrivilegedWork, keep_only};
use boatload_host::stopped_program::StoppedProgram;
use boatload_host::tracing::TracedOperation;
use boatload_run::interrupt::Interrupt;
use boatload_session::trace::{TraceOrder, TraceTarget, trace};

const EXAMPLES: &str = "\
Examples:
  boatload trace -- tar xf linux.tar        until it ends (root, bpftrace)
  boatload trace --comm touch               this name, until Ctrl-C
  boatload trace --pid 1234 --duration 60s  a process and its children
  boatload trace --path /srv/mail --operation create,fsync";

const LONG: &str = "\
The first line says how long the program took, and how much of that it spent in file calls: a faster file system \
saves at most that. Each call is timed in the kernel: create (an open with O_CREAT, also of a file that exists), \
open, read, write, close, fsync (fdatasync, sync and so on), stat, list (getdents), rename, unlink, mkdir, rmdir, \
link, symlink, truncate, xattr, access, readlink, chmod, chown, utime, copy (copy_file_range, sendfile) and \
fallocate. Reads, writes, copies and closes count for regular files and directories. Failed calls count too. \
--details adds directories, and how latency changed over the run. The trace is kept as a run: show, compare, report \
and export take it as any other. docs/TRACE.md tells what is not seen.

It needs root, the program bpftrace, and a kernel with CONFIG_FTRACE_SYSCALLS, CONFIG_BPF_SYSCALL and \
CONFIG_DEBUG_INFO_BTF. Nothing stays attached when boatload ends, however it ends.";

/// Show where the time of a program goes: the share of file calls, each operation
#[derive(Args)]
#[command(before_help = EXAMPLES, after_long_help = LONG)]
pub(super) struct Trace {
    /// Trace all processes of this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["pid", "program"])]
    comm: Option<OsString>,
    /// Trace a process, its threads, and its children
    #[arg(long, value_name = "PID", conflicts_with = "program", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,
    /// Trace only files below a directory
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Operations, such as create,fsync [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_possible_values = true, value_parser = words(&TracedOperation::ALL, TracedOperation::as_str))]
    operation: Vec<TracedOperation>,
    /// Operations of each window
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    every: u64,
    /// End after a time such as 60s
    #[arg(long, value_name = "TIME", value_parser = duration)]
    duration: Option<Duration>,
    /// Write the run document too; - writes it alone
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Report everything, not only the answer
    #[arg(long, hide_short_help = true)]
    details: bool,
    /// Print the script that bpftrace would run, and end
    #[arg(long)]
    print_script: bool,
    #[command(flatten)]
    quiet: Quiet,
    /// A program to start and trace, with its children
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<OsString>,
}

fn duration(word: &str) -> std::result::Result<Duration, String> {
    let time = humantime::parse_duration(word).map_err(|error| error.to_string())?;
    if time.is_zero() { Err("it takes some time".into()) } else { Ok(time) }
}

impl Trace {
    pub(super) fn run(self, place: &StorePlace) -> Result<Exit> {
        if self.print_script {
            keep_only(PrivilegedWork::Files);
            return out::give(&self.order(None)?.script()?).map(|()| Exit::Good);
        }
        // The program keeps all rights that this command was given: it is made before they are given up.
        let program = match self.program.as_slice() {
            [] => None,
            words => Some(StoppedProgram::new(words)?),
        };
        keep_only(PrivilegedWork::Trace);
        let (json, details, quiet) = (self.json.clone(), self.details, self.quiet);
        let order = self.order(program)?;
        json.as_deref().map_or(Ok(()), out::check_file)?;
        let interrupt = Interrupt::listen()?;
        let mut store = place.open()?;
        let progress = Progress::new(None, quiet);
        let outcome = trace(order, &progress, &interrupt);
        drop(progress);
        let book = outcome?;
        let kept = store.import(&book);
        let shown = show::deliver(&book, details, json.as_deref());
        if kept.is_err() {
            keep_elsewhere(&book, json.as_deref(), place)?;
        }
        kept?;
        shown?;
        Ok(exit_of(&book))
    }

    fn order(self, program: Option<StoppedProgram>) -> Result<TraceOrder> {
        let line: Vec<String> = self.program.iter().map(|word| quoted(&shown(word))).collect();
        let target = match (self.comm, self.pid, program) {
            (Some(name), ..) => TraceTarget::Named(name.into_vec()),
            (_, Some(process), _) => TraceTarget::Process(process),
            (.., Some(program)) => TraceTarget::Program(program, line.join(" ")),
            _ if !line.is_empty() => TraceTarget::Process(0),
            _ if self.path.is_some() => TraceTarget::Everyone,
            _ => {
                return Err(Failure::usage(
                    "name whom to trace: --comm NAME, --pid PID, --path DIR, or -- COMMAND",
                ));
            }
        };
        let mut operations = self.operation;
        if operations.is_empty() {
            operations = TracedOperation::ALL.to_vec();
        }
        Ok(TraceOrder {
            target,
            path: self.path,
            operations,
            every: self.every,
            duration: self.duration,
            command: command_line(std::env::args_os()),
        })
    }
}
