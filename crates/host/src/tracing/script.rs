//! Writes the script that bpftrace runs: which processes, calls and places count, put into `script.bt`.

use std::fmt::Write;

use super::calls::{CallMeaning, CallTarget, TracedCall, TracedOperation, calls};

/// Bits of a key for the bucket; those for the operation are above it.
pub const BUCKET_BITS: u32 = 11;
/// Bits of a key for the bucket and the operation.
pub const WINDOW_SHIFT: u32 = 16;
/// The number of boatload's own calls, which measure what tracing costs.
pub const OWN_NUMBER: u64 = 31;
/// This bit of a key says that it is of failed calls, which have no window.
pub const FAILED: u64 = 1 << 62;

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
    /// Operations of a window.
    pub every: u64,
    /// The number of boatload's process.
    pub own_process: u32,
    /// Processors that the machine may have.
    pub cpus: u32,
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
    /// Forget what was counted.
    Begin = 8,
    /// This descriptor is the traced directory.
    Root = 9,
    /// This descriptor is a directory above it: the nearest one has this number, the next one is 11, and so on.
    Above = 10,
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
        let path = |text: &dyn Fn(&PathFilter) -> String| {
            self.path.as_ref().map_or_else(String::new, text)
        };
        let values = [
            ("%WALK%\n", include_str!("walk.bt").to_string()),
            ("%EVERY%", self.every.to_string()),
            ("%OWN%", self.own_process.to_string()),
            ("%LSEEK%", libc::SYS_lseek.to_string()),
            ("%SWITCH%", number(ScriptCommand::Switch)),
            ("%PRINT%", number(ScriptCommand::Print)),
            ("%EVERY_COMMAND%", number(ScriptCommand::Every)),
            ("%FOLLOW%", number(ScriptCommand::Follow)),
            ("%OWN_COMMAND%", number(ScriptCommand::Own)),
            ("%RUNNING%", number(ScriptCommand::Running)),
            ("%OFF%", OFF.to_string()),
            ("%ROOTS%", self.roots()),
            ("%FILTER%", filter),
            ("%CWD%", CWD.to_string()),
            ("%URING%", libc::SYS_io_uring_enter.to_string()),
            ("%BEGIN%", number(ScriptCommand::Begin)),
            ("%CPUS%", self.cpus.to_string()),
            ("%DISPATCH%", self.dispatch()),
            ("%ABSOLUTE%", path(&|one| compared("$part", &one.path, "$inside = (uint64)1;"))),
            ("%ABOVE%", path(&|one| self.above(one))),
            ("%DEPTH%", DEPTH_MAX.to_string()),
            ("%OWN_NUMBER%", OWN_NUMBER.to_string()),
            ("%READ%", TracedOperation::Read.number().to_string()),
            ("%WRITE%", TracedOperation::Write.number().to_string()),
            ("%COPY%", TracedOperation::Copy.number().to_string()),
            ("%CREATE%", TracedOperation::Create.number().to_string()),
            ("%OPEN%", TracedOperation::Open.number().to_string()),
            ("%LIST%", TracedOperation::List.number().to_string()),
            ("%NAMES%", number(ScriptCommand::Names)),
            ("%THREAD%", libc::CLONE_THREAD.to_string()),
        ];
        values.iter().fold(self.lines(), |text, (name, value)| text.replace(name, value))
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
            let body = body(call, &wanted);
            let _ = writeln!(text, "    if ($id == {}{own}) {{ {body} }}", call.number);
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

    /// Asks of each directory above the traced one whether a path from there leads into it.
    fn above(&self, path: &PathFilter) -> String {
        let mut above = String::new();
        for (at, rest) in path.below_ancestors().into_iter().enumerate() {
            let inside = compared("$part", rest, "$inside = (uint64)1;");
            let _ = writeln!(above, "          if ($above == {}) {{ {inside} }}", at + 1);
        }
        above
    }

    /// The lines of the script for this order. `%if NAME` begins those for some; `%//` says something of the next lines.
    fn lines(&self) -> String {
        let is_for = |name: &str| match name {
            "place" => self.path.is_some(),
            _ => self.processes == ProcessFilter::Followed,
        };
        let (mut text, mut is_kept) = (String::new(), true);
        for line in include_str!("script.bt").lines() {
            match line.strip_prefix("%if ") {
                Some(name) => is_kept = is_for(name),
                None if line == "%end" => is_kept = true,
                None if is_kept && !line.starts_with("%//") => text.extend([line, "\n"]),
                None => {}
            }
        }
        text
    }
}

/// Stands for the working directory where a descriptor is expected (`AT_FDCWD`).
const CWD: u32 = libc::AT_FDCWD as u32;

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
        CallTarget::Everything => String::new(),
    };
    let is_of_files = [
        TracedOperation::Read,
        TracedOperation::Write,
        TracedOperation::Close,
        TracedOperation::Copy,
    ];
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
