//! Finds system calls of this process that do not return, from the `/proc` entries of its threads (proc(5)).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use boatload_base::failure::shown;
use boatload_base::files::{names_in, read_text};

/// A system call that a thread waits in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingCall {
    /// For how long it is known to wait, in nanoseconds.
    pub ns: u64,
    /// The call; `None` where the kernel does not tell.
    pub call: Option<String>,
    /// What its first argument has open.
    pub file: Option<PathBuf>,
    /// The functions of the kernel that it waits in, the innermost first.
    pub waits_in: Vec<String>,
}

impl fmt::Display for WaitingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.call {
            Some(call) => f.write_str(call)?,
            None => f.write_str("a call")?,
        }
        if let Some(file) = &self.file {
            write!(f, " on {}", shown(file))?;
        }
        match self.waits_in.as_slice() {
            [] => f.write_str(" waits in the kernel"),
            all => write!(f, " waits in the kernel, in {}", all.join(" < ")),
        }
    }
}

/// Watches some of the threads of this process.
pub struct ThreadWatch {
    /// The directory of this process's threads.
    tasks: PathBuf,
    /// The thread that is always watched.
    thread: u32,
    /// The name of the others that are.
    name: &'static str,
    seen: BTreeMap<u32, SeenThread>,
}

/// How a thread was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SeenThread {
    switches: u64,
    /// Since when it has not run, in nanoseconds.
    since_ns: u64,
}

impl ThreadWatch {
    /// Watches the thread with this number, and all that have this name.
    pub fn new(thread: u32, name: &'static str) -> Self {
        Self { tasks: "/proc/self/task".into(), thread, name, seen: BTreeMap::new() }
    }

    /// The number of the calling thread.
    pub fn this_thread() -> u32 {
        rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()
    }

    /// The call that waits longest, if one waits for at least `ns_min`. Threads that wait for other threads, for
    /// processes or for time do not count.
    pub fn look(&mut self, now_ns: u64, ns_min: u64) -> Option<WaitingCall> {
        let ids = names_in(&self.tasks).unwrap_or_default();
        let ids = ids.iter().filter_map(|name| name.to_str()?.parse::<u32>().ok());
        let mut seen = BTreeMap::new();
        for id in ids {
            let Some(status) = read_text(self.tasks.join(format!("{id}/status"))).ok() else {
                continue;
            };
            let is_watched = id == self.thread || field(&status, "Name:") == Some(self.name);
            let Some(switches) = switches_at_rest(&status).filter(|_| is_watched) else { continue };
            let before = self.seen.get(&id).filter(|seen| seen.switches == switches);
            seen.insert(id, *before.unwrap_or(&SeenThread { switches, since_ns: now_ns }));
        }
        self.seen = seen;
        let waiting = |seen: &SeenThread| now_ns.saturating_sub(seen.since_ns);
        let mut longest: Vec<_> =
            self.seen.iter().filter(|(_, seen)| waiting(seen) >= ns_min).collect();
        longest.sort_by_key(|(_, seen)| seen.since_ns);
        longest.into_iter().find_map(|(id, seen)| {
            self.waiting_call(*id).map(|call| WaitingCall { ns: waiting(seen), ..call })
        })
    }

    /// The call that a thread waits in; `None` if it waits for something that is no file system's.
    fn waiting_call(&self, id: u32) -> Option<WaitingCall> {
        let of = |file: &str| self.tasks.join(format!("{id}/{file}"));
        let text = read_text(of("syscall")).unwrap_or_default();
        let arguments = call_and_descriptor(&text);
        let (mut call, mut file) = (None, None);
        if let Some((number, descriptor)) = arguments {
            let known = KNOWN_CALLS.iter().find(|known| known.number == number);
            let waits_for_others =
                known.is_some_and(|known| known.takes == FirstArgument::NothingToWatch);
            if waits_for_others || POLL == Some(number) {
                return None;
            }
            call = Some(known.map_or_else(|| format!("system call {number}"), |k| k.name.into()));
            if known.is_some_and(|known| known.takes == FirstArgument::Descriptor) {
                file = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok();
            }
        }
        // Pipes and sockets belong to other processes.
        if file.as_ref().is_some_and(|file| !file.is_absolute()) {
            return None;
        }
        Some(WaitingCall { ns: 0, call, file, waits_in: self.kernel_functions(&of) })
    }

    /// The kernel's functions on the stack of a thread, which takes root; else the one that it sleeps in.
    fn kernel_functions(&self, of: &impl Fn(&str) -> PathBuf) -> Vec<String> {
        let functions = functions_of(&read_text(of("stack")).unwrap_or_default());
        if !functions.is_empty() {
            return functions;
        }
        let sleeps_in = read_text(of("wchan")).unwrap_or_default();
        let is_stated = !sleeps_in.is_empty() && sleeps_in != "0";
        is_stated.then_some(sleeps_in).into_iter().collect()
    }
}

fn field<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

/// How often a thread was switched from, if it does not run now.
fn switches_at_rest(status: &str) -> Option<u64> {
    let runs = field(status, "State:")?.starts_with('R');
    let number = |key| field(status, key)?.parse::<u64>().ok();
    let switches = number("voluntary_ctxt_switches:")? + number("nonvoluntary_ctxt_switches:")?;
    (!runs).then_some(switches)
}

/// The number of a call and its first argument, if the thread is in one.
fn call_and_descriptor(text: &str) -> Option<(i64, i64)> {
    let mut words = text.split_whitespace();
    let number = words.next()?.parse::<i64>().ok().filter(|number| *number >= 0)?;
    let first = words.next()?.strip_prefix("0x")?;
    // A descriptor is 32 bits wide, whatever stands above.
    let first = u64::from_str_radix(first, 16).ok()? as u32;
    Some((number, i64::from(first.cast_signed())))
}

/// Functions of a stack that are named.
const FUNCTIONS_MAX: usize = 4;

/// `[<0>] percpu_rwsem_wait+0x10e/0x140`, the innermost first.
fn functions_of(stack: &str) -> Vec<String> {
    let name = |line: &str| {
        let function = line.split_once("] ")?.1;
        Some(function.split_once('+').map_or(function, |(name, _)| name).to_string())
    };
    stack.lines().filter_map(name).take(FUNCTIONS_MAX).collect()
}

/// What the first argument of a call is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstArgument {
    /// Something that is open.
    Descriptor,
    /// Something else.
    Other,
    /// Whatever: such a call waits for other threads, for processes or for time.
    NothingToWatch,
}

struct KnownCall {
    number: i64,
    name: &'static str,
    takes: FirstArgument,
}

macro_rules! calls {
    ($($takes:ident: $($name:ident = $number:ident,)+;)+) => {
        &[$($(KnownCall {
            number: libc::$number,
            name: stringify!($name),
            takes: FirstArgument::$takes,
        },)+)+]
    };
}

/// poll(2), which machines other than x86-64 lack.
const POLL: Option<i64> = if cfg!(target_arch = "x86_64") { Some(7) } else { None };

/// The calls that boatload makes of file systems, and those that wait for something else.
const KNOWN_CALLS: &[KnownCall] = calls! {
    Descriptor:
        openat = SYS_openat, openat2 = SYS_openat2, read = SYS_read, write = SYS_write,
        pread = SYS_pread64, pwrite = SYS_pwrite64, fsync = SYS_fsync, fdatasync = SYS_fdatasync,
        syncfs = SYS_syncfs, close = SYS_close, fstat = SYS_fstat, stat = SYS_newfstatat,
        statx = SYS_statx, getdents = SYS_getdents64, rename = SYS_renameat,
        rename = SYS_renameat2, unlink = SYS_unlinkat, mkdir = SYS_mkdirat,
        statfs = SYS_fstatfs, ioctl = SYS_ioctl, fallocate = SYS_fallocate,
        ftruncate = SYS_ftruncate, fcntl = SYS_fcntl, flock = SYS_flock,
        copy_file_range = SYS_copy_file_range,;
    Other:
        sync = SYS_sync, umount = SYS_umount2, mount = SYS_mount, statfs = SYS_statfs,
        munmap = SYS_munmap, mmap = SYS_mmap, exit = SYS_exit,;
    NothingToWatch:
        futex = SYS_futex, wait4 = SYS_wait4, waitid = SYS_waitid, ppoll = SYS_ppoll,
        pselect = SYS_pselect6, nanosleep = SYS_nanosleep, clock_nanosleep = SYS_clock_nanosleep,
        epoll_wait = SYS_epoll_pwait, recvfrom = SYS_recvfrom, recvmsg = SYS_recvmsg,
        restart = SYS_restart_syscall,;
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::put;
    use std::path::Path;

    const STATUS: &str = "Name:\tworker\nState:\tD (disk sleep)\nvoluntary_ctxt_switches:\t7\n\
                          nonvoluntary_ctxt_switches:\t2\n";

    /// A watch over made-up threads: 1 is the one that is always watched.
    fn watch(threads: &Path) -> ThreadWatch {
        ThreadWatch { tasks: threads.into(), ..ThreadWatch::new(1, "worker") }
    }

    #[test]
    fn a_thread_that_has_not_run_for_long_waits_in_its_call() {
        let folder = tempfile::tempdir().unwrap();
        let thread = folder.path().join("12");
        put(&thread, "status", STATUS);
        put(&thread, "syscall", &format!("{} 0xffffff9c 0x0\n", libc::SYS_openat));
        put(
            &thread,
            "stack",
            "[<0>] percpu_rwsem_wait+0x10e/0x140\n[<0>] mnt_want_write+0x5b/0xa0\n",
        );
        let mut watch = watch(folder.path());
        assert_eq!(watch.look(5, 10), None, "it is seen for the first time");
        assert_eq!(watch.look(14, 10), None);
        let found = watch.look(15, 10).unwrap();
        assert_eq!(found.ns, 10);
        let said = "openat waits in the kernel, in percpu_rwsem_wait < mnt_want_write";
        assert_eq!(found.to_string(), said);
        put(&thread, "status", &STATUS.replace('7', "8"));
        assert_eq!(watch.look(30, 10), None, "it has run since");
        put(&thread, "status", &STATUS.replace("worker", "other"));
        assert_eq!((watch.look(40, 10), watch.look(60, 10)), (None, None), "it is not watched");
    }

    #[test]
    fn who_waits_for_others_or_runs_is_not_stuck() {
        let folder = tempfile::tempdir().unwrap();
        let thread = folder.path().join("1");
        put(&thread, "status", STATUS);
        put(&thread, "syscall", &format!("{} 0x7f00 0x0\n", libc::SYS_futex));
        let mut waits = watch(folder.path());
        assert_eq!((waits.look(0, 10), waits.look(50, 10)), (None, None));
        put(&thread, "syscall", "running\n");
        put(&thread, "wchan", "io_schedule");
        let found = waits.look(60, 10).map(|found| found.to_string());
        assert_eq!(found.as_deref(), Some("a call waits in the kernel, in io_schedule"));
        put(&thread, "status", &STATUS.replace('D', "R"));
        assert_eq!((waits.look(70, 10), waits.look(90, 10)), (None, None));
    }

    #[test]
    fn a_call_says_what_its_first_argument_has_open() {
        let folder = tempfile::tempdir().unwrap();
        let thread = folder.path().join("1");
        let open = std::fs::File::open(folder.path()).unwrap();
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&open);
        put(&thread, "status", STATUS);
        put(&thread, "syscall", &format!("{} {descriptor:#x} 0x0\n", libc::SYS_fsync));
        let mut watch = watch(folder.path());
        watch.look(0, 10);
        let found = watch.look(10, 10).unwrap();
        assert_eq!(found.file.as_deref(), Some(folder.path()));
        let said = format!("fsync on {} waits in the kernel", folder.path().display());
        assert_eq!(found.to_string(), said);
    }
}
