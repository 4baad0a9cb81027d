//! Writes the script that bpftrace runs: which processes, calls and places count, put into `script.bt`.

use std::fmt::Write;

use super::calls::{CallMeaning, CallPlace, TracedCall, TracedOperation, calls};

/// Bits of a key for the bucket, and for the operation above it.
pub const BUCKET_BITS: u32 = 11;
/// Bits of a key for the bucket and the operation.
pub const WINDOW_SHIFT: u32 = 16;
/// The number of boatload's own calls, which measure what tracing costs.
pub const OWN_NUMBER: u64 = 31;
/// The number of calls that let io_uring work.
pub const URING_NUMBER: u64 = 30;

/// The number of a set into which nothing is counted.
pub(super) const OFF: u64 = 2;
/// Directories between the traced one and a file, at most.
const DEPTH_MAX: u32 = 24;
/// Bytes of the path that are compared, at most.
pub(super) const PREFIX_BYTES_MAX: usize = 256;
/// The kernel's name of a process is cut to so many bytes.
const NAME_BYTES_MAX: usize = 15;

/// Which processes are traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessFilter {
    /// All of them.
    All,
    /// Those of this name.
    Named(Vec<u8>),
    /// One and its children, which are told when the script runs.
    Followed,
}

/// Which files are: those below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFilter {
    /// The directory's path, from the root on and without a slash at its end.
    pub path: Vec<u8>,
}

impl PathFilter {
    /// How the directory is named below each of those above it, the nearest first.
    pub(super) fn below_ancestors(&self) -> Vec<&[u8]> {
        let slashes = self.path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
        slashes.map(|(at, _)| &self.path[at + 1..]).filter(|rest| !rest.is_empty()).collect()
    }
}

/// All that a script depends on.
#[derive(Clone, Debug)]
pub struct ScriptOrder {
    /// Which processes.
    pub processes: ProcessFilter,
    /// Which files; none for all.
    pub path: Option<PathFilter>,
    /// Which operations.
    pub operations: Vec<TracedOperation>,
    /// Operations of a window.
    pub every: u64,
    /// The number of boatload's process.
    pub own_process: u32,
}

/// What boatload tells the script while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptCommand {
    /// Count into the set of this number from now on.
    Switch = 1,
    /// Print the set of this number, and empty it.
    Print = 2,
    /// Windows have so many operations from now on.
    Every = 3,
    /// This process is one of the followed.
    Follow = 4,
    /// Whether boatload's own calls count.
    Own = 5,
    /// This descriptor is the traced directory.
    Root = 6,
    /// This descriptor is a directory above it: the nearest one has this number, the next one is 8, and so on.
    Above = 7,
}

impl ScriptOrder {
    /// The script.
    pub fn script(&self) -> String {
        let number = |command: ScriptCommand| (command as u64).to_string();
        let filter = match &self.processes {
            ProcessFilter::All => "pid != 0".into(),
            ProcessFilter::Named(name) => format!("comm == {}", literal(name)),
            ProcessFilter::Followed => "@p[pid] != 0".into(),
        };
        let values = [
            ("%EVERY%", self.every.to_string()),
            ("%OWN%", self.own_process.to_string()),
            ("%LSEEK%", libc::SYS_lseek.to_string()),
            ("%SWITCH%", number(ScriptCommand::Switch)),
            ("%PRINT%", number(ScriptCommand::Print)),
            ("%EVERY_COMMAND%", number(ScriptCommand::Every)),
            ("%FOLLOW%", number(ScriptCommand::Follow)),
            ("%OWN_COMMAND%", number(ScriptCommand::Own)),
            ("%OFF%", OFF.to_string()),
            ("%ROOTS%", self.roots()),
            ("%FILTER%", filter),
            ("%CWD%", CWD.to_string()),
            ("%URING%", libc::SYS_io_uring_enter.to_string()),
            ("%URING_NUMBER%", URING_NUMBER.to_string()),
            ("%DISPATCH%", self.dispatch()),
            ("%FILE%", self.file().replace("%CWD%", &CWD.to_string())),
            ("%PLACE%", self.place().replace("%CWD%", &CWD.to_string())),
            ("%OWN_NUMBER%", OWN_NUMBER.to_string()),
            ("%READ%", TracedOperation::Read.number().to_string()),
            ("%WRITE%", TracedOperation::Write.number().to_string()),
            ("%CHILDREN%", self.children()),
        ];
        values.iter().fold(include_str!("script.bt").to_string(), |text, (name, value)| {
            text.replace(name, value)
        })
    }

    /// Which call is which operation. boatload's own reads always count, where they are asked for.
    fn dispatch(&self) -> String {
        let mut text = String::new();
        for call in calls() {
            let wanted: Vec<TracedOperation> =
                call.operations().into_iter().filter(|one| self.operations.contains(one)).collect();
            if wanted.is_empty() && call.number != libc::SYS_pread64 {
                continue;
            }
            let own = if wanted.is_empty() { " && $own != 0" } else { "" };
            let _ = writeln!(
                text,
                "    if ($id == {}{own}) {{ $known = (uint64)1; {} }}",
                call.number,
                body(call, &wanted)
            );
        }
        text
    }

    fn roots(&self) -> String {
        let Some(path) = &self.path else { return String::new() };
        let mut text = format!(
            "      if ($command >= {}) {{\n        $table = ((struct task_struct *)curtask)->files->fdt;\n        \
             $file = (struct file *)*(uint64 *)((uint64)$table->fd + $value * 8);\n        \
             $dentry = (uint64)$file->f_path.dentry;\n        \
             if ($command == {}) {{ @root = $dentry; }}",
            ScriptCommand::Root as u64,
            ScriptCommand::Root as u64
        );
        if !path.below_ancestors().is_empty() {
            let above = ScriptCommand::Above as u64;
            let _ = write!(text, " else {{ @above[$dentry] = $command - {}; }}", above - 1);
        }
        text + "\n      }\n"
    }

    /// Whether a call is of a file. It is looked at only where that decides.
    fn file(&self) -> String {
        match self.path {
            Some(_) => [OPEN_FILE, FILE].concat(),
            None => format!("      if ($type != 0) {{\n{OPEN_FILE}{FILE}      }}\n"),
        }
    }

    /// Whether a call works below the directory.
    fn place(&self) -> String {
        let Some(path) = &self.path else { return String::new() };
        let mut above = String::new();
        for (at, rest) in path.below_ancestors().into_iter().enumerate() {
            let _ = writeln!(
                above,
                "          if ($above == {}) {{ {} }}",
                at + 1,
                compared("$path", rest, "$inside = (uint64)1;")
            );
        }
        PLACE
            .replace("%ABSOLUTE%", &compared("$path", &path.path, "$inside = (uint64)1;"))
            .replace("%ABOVE%", &above)
            .replace("%DEPTH%", &DEPTH_MAX.to_string())
    }

    /// Children of followed processes are followed.
    fn children(&self) -> String {
        if self.processes != ProcessFilter::Followed {
            return String::new();
        }
        // A process ends with the last of its threads, which is not always its first.
        "\ntracepoint:sched:sched_process_fork\n{\n  if (@p[pid] != 0) { @p[(uint64)args->child_pid] = (uint64)1; }\n}\n\
         \ntracepoint:sched:sched_process_exit\n{\n  if (tid != pid) { delete(@p[tid]); }\n  \
         if (((struct task_struct *)curtask)->signal->live.counter == 0) { delete(@p[pid]); }\n}\n"
            .into()
    }
}

/// Stands for the working directory where a descriptor is expected (`AT_FDCWD`).
const CWD: u32 = libc::AT_FDCWD as u32;

/// The file of a descriptor.
const OPEN_FILE: &str = "      $task = (struct task_struct *)curtask;
      $table = $task->files->fdt;
      $file = (struct file *)0;
      if ($fd != %CWD%) { $file = (struct file *)*(uint64 *)((uint64)$table->fd + $fd * 8); }
";

/// Reads, writes and closes count where it is a regular file or a directory.
const FILE: &str = "      if ($type != 0) {
        $mode = (uint64)$file->f_inode->i_mode & 0170000;
        if ($mode != 0100000 && $mode != 0040000) { $op = (uint64)0; }
      }
";

const PLACE: &str = "      $inside = $own;
      $dentry = (uint64)$file->f_path.dentry;
      if ($fd == %CWD%) { $dentry = (uint64)$task->fs->pwd.dentry; }
      $first = (uint64)0;
      if ($path != 0) { $first = (uint64)*(uint8 *)uptr($path); }
      if ($first == 47) {
        %ABSOLUTE%
      } else {
        if ($path != 0) {
          if ($first == 46 && (uint64)*(uint8 *)uptr($path + 1) == 47) { $path = $path + 2; }
          $above = @above[$dentry];
%ABOVE%        }
        $root = @root;
        $place = (struct dentry *)$dentry;
        unroll(%DEPTH%) {
          if ((uint64)$place == $root) { $inside = (uint64)1; }
          $place = $place->d_parent;
        }
      }
      if ($inside == 0) { $op = (uint64)0; }
";

fn body(call: TracedCall, wanted: &[TracedOperation]) -> String {
    let number = |one: TracedOperation| if wanted.contains(&one) { one.number() } else { 0 };
    let argument = |at: u8| format!("$a{at}");
    let either = |value: String, bit: i32, set: TracedOperation, clear: TracedOperation| {
        format!(
            "$op = (uint64){}; if (({value} & {bit}) != 0) {{ $op = (uint64){}; }}",
            number(clear),
            number(set)
        )
    };
    let opens =
        |flags| either(flags, libc::O_CREAT, TracedOperation::Create, TracedOperation::Open);
    let operation = match call.meaning {
        // boatload's own read counts whatever is wanted.
        CallMeaning::Always(one) => format!("$op = (uint64){};", one.number()),
        CallMeaning::OpenBy(at) => opens(argument(at)),
        CallMeaning::OpenByPointed(at) => opens(format!("*(uint64 *)uptr($a{at})")),
        CallMeaning::RemoveBy(at) => either(
            argument(at),
            libc::AT_REMOVEDIR,
            TracedOperation::Rmdir,
            TracedOperation::Unlink,
        ),
    };
    let descriptor = |at: u8| format!("$fd = {} & 0xffffffff;", argument(at));
    let place = match call.place {
        CallPlace::Descriptor => descriptor(0),
        CallPlace::Path(at) => format!("$path = {};", argument(at)),
        CallPlace::PathAt(fd, path) => format!("{} $path = {};", descriptor(fd), argument(path)),
    };
    let is_of_files = [TracedOperation::Read, TracedOperation::Write, TracedOperation::Close];
    let is_checked = call.operations().iter().any(|one| is_of_files.contains(one));
    format!("{operation} {place}{}", if is_checked { " $type = (uint64)1;" } else { "" })
}

/// Does something where the memory of the process at an address has a path, at whose end the text or a name ends.
fn compared(address: &str, path: &[u8], then: &str) -> String {
    let mut conditions = Vec::new();
    let mut at = 0;
    while at < path.len() {
        let length = [8, 4, 2, 1].into_iter().find(|length| at + length <= path.len()).unwrap_or(1);
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(&path[at..at + length]);
        // A value of 64 bits has a sign where it is written.
        let value = u64::from_ne_bytes(bytes);
        conditions.push(format!(
            "(uint64)*(uint{} *)uptr({address} + {at}) == (uint64){value:#x}",
            8 * length
        ));
        at += length;
    }
    let end = format!(
        "$end = (uint64)*(uint8 *)uptr({address} + {}); if ($end == 0 || $end == 47) {{ {then} }}",
        path.len()
    );
    format!("if ({}) {{ {end} }}", conditions.join(" && "))
}

/// A name as bpftrace compares it.
fn literal(name: &[u8]) -> String {
    let kept = &name[..name.len().min(NAME_BYTES_MAX)];
    let mut text = String::from("\"");
    for byte in kept {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' | b' ' => {
                text.push(char::from(*byte));
            }
            byte => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text + "\""
}
