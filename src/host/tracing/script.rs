//! Writes the script that bpftrace runs: which processes, calls and places count, put into `script.bt`.

use std::fmt::Write;

use super::calls::{CallMeaning, CallTarget, TracedCall, TracedOperation, calls};
use super::classes::{self, TraceBy};

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
/// The kernel cuts the name of a process to this many bytes.
const NAME_BYTES_MAX: usize = 15;

/// Which processes are traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessFilter {
    /// All of them.
    All,
    /// Processes of this name.
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
    /// Which files; `None` for all.
    pub path: Option<PathFilter>,
    /// Which operations.
    pub operations: Vec<TracedOperation>,
    /// What else tells calls apart; `None` for their operation alone.
    pub by: Option<TraceBy>,
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
    /// Print the names of directories.
    Names = 6,
    /// Print the followed processes that run.
    Running = 7,
    /// This descriptor is the traced directory.
    Root = 8,
    /// This descriptor is a directory above it: the nearest one has this number, the next one is 10, and so on.
    Above = 9,
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
            ("%RUNNING%", number(ScriptCommand::Running)),
            ("%CLASS_BEGIN%", self.of_classes(classes::SIZE_BEGIN, classes::DIRECTORY_BEGIN)),
            ("%PRINT_SET%", self.by.map_or(PRINT, |_| classes::PRINT).to_string()),
            ("%CLASS_NAMES%", self.class_names()),
            (
                "%CLASS_THREAD_END%",
                self.of_classes(classes::SIZE_THREAD_END, classes::DIRECTORY_THREAD_END),
            ),
            ("%CLASS_ENTRY%", self.class_entry()),
            ("%COUNT%", self.count()),
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

    /// Whether a call is of a file. It is checked only where that decides.
    fn file(&self) -> String {
        match self.path.is_some() || self.by.is_some() {
            true => [OPEN_FILE, FILE].concat(),
            false => format!("      if ($type != 0) {{\n{OPEN_FILE}{FILE}      }}\n"),
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

    /// A part that differs for calls by size, and by directory.
    fn of_classes(&self, by_size: &str, by_directory: &str) -> String {
        let text = match self.by {
            None => "",
            Some(TraceBy::Size) => by_size,
            Some(TraceBy::Directory | TraceBy::PathDepth) => by_directory,
        };
        text.into()
    }

    /// The names of directories are printed once, at the end.
    fn class_names(&self) -> String {
        let is_asked = self.by.is_some_and(TraceBy::is_by_directory);
        if is_asked {
            classes::PRINT_NAMES.replace("%NAMES%", &(ScriptCommand::Names as u64).to_string())
        } else {
            String::new()
        }
    }

    /// What a call's class depends on, while its descriptor is open.
    fn class_entry(&self) -> String {
        match self.by {
            None => String::new(),
            Some(TraceBy::Size) => classes::SIZE_ENTRY.into(),
            Some(TraceBy::Directory | TraceBy::PathDepth) => classes::DIRECTORY_ENTRY
                .replace("%WALK%", classes::WALK)
                .replace("%LIST%", &TracedOperation::List.number().to_string()),
        }
    }

    /// Counts a latency: in its window, or in its class.
    fn count(&self) -> String {
        let Some(by) = self.by else { return [NUMBERED, BUCKET, COUNT].concat() };
        let class = match by {
            TraceBy::Size => classes::SIZE_EXIT.into(),
            TraceBy::Directory | TraceBy::PathDepth => {
                classes::DIRECTORY_EXIT.replace("%WALK%", classes::WALK)
            }
        };
        let class = class
            .replace("%CREATE%", &TracedOperation::Create.number().to_string())
            .replace("%OPEN%", &TracedOperation::Open.number().to_string())
            .replace("%CWD%", &CWD.to_string());
        format!("        $k = $op << 11;\n{BUCKET}{class}{}", classes::COUNT)
    }

    /// Children of followed processes are followed.
    fn children(&self) -> String {
        if self.processes != ProcessFilter::Followed {
            return String::new();
        }
        // A process ends with the last of its threads, which is not always its first.
        format!(
            "\ntracepoint:task:task_newtask\n{{\n  \
             if (((uint64)args->clone_flags & {}) == 0 && @p[pid] != 0) {{ @p[(uint64)args->pid] = (uint64)1; }}\n}}\n\
             \ntracepoint:sched:sched_process_exit\n{{\n  \
             if (((struct task_struct *)curtask)->signal->live.counter == 0) {{ delete(@p[pid]); }}\n}}\n",
            libc::CLONE_THREAD
        )
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

/// The number of a call begins the key of its window.
const NUMBERED: &str = "        $n = @seq[$op]; @seq[$op] = $n + 1;
        $k = ($n / @every * @every << 16) | ($op << 11);
";

/// Prints a set, and empties it.
const PRINT: &str =
    "        if ($value == 0) { print(@ha); clear(@ha); } else { print(@hb); clear(@hb); }
";

/// Counts into a window.
const COUNT: &str =
    "        if ($set == 0) { @ha[$k + $v] = count(); } else { @hb[$k + $v] = count(); }
";

/// Adds the bucket of a latency to a key.
const BUCKET: &str = "        // Buckets of equal ratios: 32 from one power of two to the next.
        $v = $ns;
        if ($v >= 2097152) { $v = $v >> 16; $k = $k + 512; }
        if ($v >= 2097152) { $v = $v >> 16; $k = $k + 512; }
        if ($v >= 8192) { $v = $v >> 8; $k = $k + 256; }
        if ($v >= 512) { $v = $v >> 4; $k = $k + 128; }
        if ($v >= 128) { $v = $v >> 2; $k = $k + 64; }
        if ($v >= 64) { $v = $v >> 1; $k = $k + 32; }
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
        CallTarget::Descriptor => descriptor(0),
        CallTarget::Path(at) => format!("$path = {};", argument(at)),
        CallTarget::PathAt(fd, path) => format!("{} $path = {};", descriptor(fd), argument(path)),
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
