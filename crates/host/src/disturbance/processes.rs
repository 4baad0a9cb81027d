//! Reads what other processes read from and wrote to disks, from `/proc/PID/io` (proc_pid_io(5)), and the CPU time
//! of threads of the kernel and of this process's children.
//!
//! A process's counters contain the counters of children that have ended and were waited for. So what a
//! process did that is gone is found at its nearest ancestor that is still there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::block_device::BlockDevice;
use crate::process::{is_root, stat_field};
use crate::sysfs::number_after;
use boatload_base::files::{names_in, open_to_read, uninterrupted};

/// Ancestors that are gone too; more is a mistake in what was read.
const ANCESTORS_MAX: u32 = 32;

/// `PF_KTHREAD` of the kernel's include/linux/sched.h: a thread of the kernel.
const KERNEL_FLAG: u64 = 0x0020_0000;

/// Threads of the kernel that work for whoever uses much memory or many blocks.
const FOR_ALL: [&str; 3] = ["kblockd", "kswapd", "kcompactd"];

/// Bytes that other processes moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
}

/// The counters of each process at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProcessCounters {
    /// Bytes that others read and wrote.
    bytes: BTreeMap<u32, (u64, u64)>,
    /// CPU time of threads of the kernel in nanoseconds, each with its name.
    kernel: BTreeMap<u32, (String, u64)>,
    /// CPU time of children in clock ticks.
    children: BTreeMap<u32, u64>,
}

/// A device by the names that threads of the kernel have from it, with those beneath it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DeviceWords {
    /// The device's own name first: `vda1`, `loop3`.
    pub(super) names: Vec<String>,
    /// `MAJOR:MINOR`.
    pub(super) numbers: Vec<String>,
    /// Whether a btrfs lies on it, whose threads name no device.
    pub(super) is_btrfs: bool,
}

impl DeviceWords {
    pub(super) fn of(device: &BlockDevice) -> Self {
        let (names, numbers) = (device.facts.beneath.clone(), device.numbers());
        Self { names, numbers, is_btrfs: device.is_of_btrfs() }
    }

    /// Whether a thread of this name works for the device: `jbd2/vda1-8`, `xfsaild/vda1`, `kworker/u8:1-loop3`,
    /// `kworker/u8:2+flush-254:0`, `kworker/u8:0-btrfs-endio-write`.
    fn is_served_by(&self, thread: &str) -> bool {
        // Numbers of a worker are its processor's and its own.
        let work = thread
            .strip_prefix("kworker/")
            .map_or(Some(thread), |worker| worker.split_once(['-', '+']).map(|(_, work)| work));
        let mut words = work.unwrap_or_default().split(['/', '-', '+', '_']);
        let is_own = words.any(|word| {
            self.names.iter().any(|name| name == word)
                || self.numbers.iter().any(|number| number == word)
                || (self.is_btrfs && word == "btrfs")
        });
        is_own || FOR_ALL.iter().any(|name| thread.contains(name))
    }

    /// Whether it carries out requests of a loop device.
    fn is_loop_worker(&self, thread: &str) -> bool {
        let is_named = |name: &String| thread.rsplit(['-', '+']).next() == Some(name);
        self.names.first().is_some_and(|name| name.starts_with("loop") && is_named(name))
    }
}

/// CPU time of threads of the kernel that work for a device, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KernelTime {
    /// All of it.
    pub seconds: f64,
    /// The part of those that carry out requests of a loop device, which is busy meanwhile.
    pub loop_seconds: f64,
}

/// Whose a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinship {
    /// Of others: its bytes count.
    Other { parent: u32 },
    /// This process and its children.
    Own,
    /// A thread of the kernel, which may work for this process.
    Kernel,
}

/// What is known of the processes that were seen.
#[derive(Debug)]
pub(super) struct Processes {
    proc: PathBuf,
    own: u32,
    /// Of the last look.
    parents: BTreeMap<u32, Kinship>,
    /// Of the look before it.
    former: BTreeMap<u32, Kinship>,
}

impl Default for Processes {
    fn default() -> Self {
        let (parents, former) = (BTreeMap::new(), BTreeMap::new());
        Self { proc: "/proc".into(), own: std::process::id(), parents, former }
    }
}

impl Processes {
    /// The counters now; none without `/proc`.
    pub(super) fn look(&mut self) -> Option<ProcessCounters> {
        let mut found = ProcessCounters::default();
        let mut here = BTreeMap::new();
        for name in names_in(&self.proc).ok()? {
            let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let known = self.parents.get(&id).copied();
            let Some(kinship) = known.or_else(|| self.kinship(id)) else { continue };
            here.insert(id, kinship);
            let file = |name: &str| read_once(&self.proc.join(format!("{id}/{name}"))).ok();
            match kinship {
                Kinship::Kernel => {
                    let used = file("schedstat").and_then(|text| first_number(&text));
                    let thread = used.and_then(|used| Some((file("comm")?.trim().into(), used)));
                    found.kernel.extend(thread.map(|thread| (id, thread)));
                }
                Kinship::Own => {
                    let ticks = file("stat").and_then(|text| cpu_ticks(&text));
                    let child = ticks.filter(|_| id != self.own);
                    found.children.extend(child.map(|ticks| (id, ticks)));
                }
                Kinship::Other { .. } => {
                    let bytes = file("io").and_then(|text| bytes_of(&text));
                    found.bytes.extend(bytes.map(|bytes| (id, bytes)));
                }
            }
        }
        self.former = std::mem::replace(&mut self.parents, here);
        Some(found)
    }

    /// Whose a process is; `None` if it has just ended.
    fn kinship(&self, id: u32) -> Option<Kinship> {
        let text = read_once(&self.proc.join(format!("{id}/stat"))).ok()?;
        let parent = parent_of(&text)?;
        if stat_field::<u64>(&text, 6)? & KERNEL_FLAG != 0 {
            return Some(Kinship::Kernel);
        }
        let own_child = self.parents.get(&parent) == Some(&Kinship::Own);
        let own = id == self.own || parent == self.own || own_child;
        Some(if own { Kinship::Own } else { Kinship::Other { parent } })
    }

    /// What was moved between two looks.
    pub(super) fn between(&self, before: &ProcessCounters, after: &ProcessCounters) -> Moved {
        let mut by_process: BTreeMap<u32, (i128, i128)> = BTreeMap::new();
        for (id, (read, written)) in &after.bytes {
            let (was_read, was_written) = match before.bytes.get(id) {
                // A number that went back belongs to another process with the same id.
                Some(was) if was.0 <= *read && was.1 <= *written => *was,
                _ => (0, 0),
            };
            let moved = (i128::from(read - was_read), i128::from(written - was_written));
            by_process.insert(*id, moved);
        }
        for (id, (read, written)) in &before.bytes {
            if after.bytes.contains_key(id) {
                continue;
            }
            // What it had done before came to its ancestor when it ended, and is nothing new there.
            if let Some(moved) = self.heir(*id).and_then(|heir| by_process.get_mut(&heir)) {
                moved.0 -= i128::from(*read);
                moved.1 -= i128::from(*written);
            }
        }
        let sum = |of: fn(&(i128, i128)) -> i128| {
            let all = by_process.values().map(|moved| of(moved).max(0)).sum::<i128>();
            u64::try_from(all).unwrap_or(u64::MAX)
        };
        Moved { read_bytes: sum(|moved| moved.0), write_bytes: sum(|moved| moved.1) }
    }

    /// The process that waited for one that is gone, as far as it is known.
    fn heir(&self, gone: u32) -> Option<u32> {
        let mut at = gone;
        for _ in 0..ANCESTORS_MAX {
            let known = self.parents.get(&at).or_else(|| self.former.get(&at))?;
            let Kinship::Other { parent } = *known else { return None };
            at = parent;
            if exists(&self.proc, at) {
                return Some(at);
            }
        }
        None
    }
}

impl ProcessCounters {
    /// Whether what other processes move can be read, which takes root.
    pub(super) fn shows_others(&self) -> bool {
        is_root() && !self.bytes.is_empty()
    }

    /// What threads of the kernel did for a device since an earlier look; `None` when no thread of it is seen. One
    /// that works for several in turn counts if it did so at either look.
    pub(super) fn kernel_time_since(
        &self,
        before: &Self,
        device: &DeviceWords,
    ) -> Option<KernelTime> {
        let mut all = KernelTime::default();
        for (id, (name, ns)) in &self.kernel {
            let (former, before_ns) =
                before.kernel.get(id).map_or((name, 0), |(was, ns)| (was, *ns));
            let seconds = ns.saturating_sub(before_ns) as f64 / 1e9;
            if device.is_loop_worker(name) || device.is_loop_worker(former) {
                all.loop_seconds += seconds;
            }
            if device.is_served_by(name) || device.is_served_by(former) {
                all.seconds += seconds;
            }
        }
        (!self.kernel.is_empty()).then_some(all)
    }

    /// What children that still run used since an earlier look, in seconds.
    pub(super) fn children_seconds_since(&self, before: &Self) -> f64 {
        let used = self.children.iter().map(|(id, ticks)| {
            ticks.saturating_sub(before.children.get(id).copied().unwrap_or_default())
        });
        used.sum::<u64>() as f64 / rustix::param::clock_ticks_per_second().max(1) as f64
    }
}

/// The CPU time of a process, in clock ticks, in the text of its `stat` file (proc_pid_stat(5)).
fn cpu_ticks(text: &str) -> Option<u64> {
    let (user, system) = (stat_field::<u64>(text, 11)?, stat_field::<u64>(text, 12)?);
    Some(user.saturating_add(system))
}

/// The time on a processor, in nanoseconds, in the text of a `schedstat` file.
fn first_number(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// The text of a small file of /proc, which one read gives whole. There may be thousands of them.
fn read_once(path: &Path) -> std::io::Result<String> {
    const BYTES_MAX: usize = 1024;
    let mut buffer = [0; BYTES_MAX];
    let file = open_to_read(path)?;
    let read = uninterrupted(|| rustix::io::read(&file, &mut buffer[..]))?;
    Ok(String::from_utf8_lossy(&buffer[..read]).into_owned())
}

fn exists(proc: &Path, id: u32) -> bool {
    proc.join(id.to_string()).exists()
}

/// The parent in the text of `/proc/PID/stat`.
pub(crate) fn parent_of(text: &str) -> Option<u32> {
    stat_field(text, 1)
}

/// Bytes read and written, without those that were never written because their file was cut.
pub(crate) fn bytes_of(text: &str) -> Option<(u64, u64)> {
    Some((number_after(text, "read_bytes:")?, number_after(text, "write_bytes:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up /proc.
    struct Proc(tempfile::TempDir);

    impl Proc {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn process(&self, id: u32, parent: u32, bytes: (u64, u64)) {
            let directory = self.0.path().join(id.to_string());
            std::fs::create_dir_all(&directory).unwrap();
            let flags = if parent == 2 { KERNEL_FLAG } else { 0 };
            let ticks = bytes.0;
            let stat = format!("{id} (a b) c) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {ticks} 1 0 0\n");
            std::fs::write(directory.join("stat"), stat).unwrap();
            std::fs::write(directory.join("comm"), "kworker/0:1-dio/vda\n").unwrap();
            std::fs::write(directory.join("schedstat"), format!("{ticks}000000 9 9\n")).unwrap();
            let io = format!(
                "rchar: 9\nread_bytes: {}\nwrite_bytes: {}\ncancelled_write_bytes: 5\n",
                bytes.0, bytes.1
            );
            std::fs::write(directory.join("io"), io).unwrap();
        }

        fn ends(&self, id: u32) {
            std::fs::remove_dir_all(self.0.path().join(id.to_string())).unwrap();
        }

        fn processes(&self) -> Processes {
            Processes { proc: self.0.path().into(), own: 100, ..Processes::default() }
        }
    }

    fn moved(read_bytes: u64, write_bytes: u64) -> Moved {
        Moved { read_bytes, write_bytes }
    }

    #[test]
    fn those_that_stay_and_those_that_come_count_and_the_own_family_and_the_kernel_do_not() {
        let proc = Proc::new();
        for (id, parent) in [(1, 0), (7, 2), (50, 1), (100, 1), (101, 100)] {
            proc.process(id, parent, (1_000, 1_000));
        }
        let mut processes = proc.processes();
        let before = processes.look().unwrap();
        assert_eq!(before.bytes.keys().copied().collect::<Vec<_>>(), [1, 50]);
        for (id, parent) in [(7, 2), (100, 1), (101, 100), (102, 101)] {
            proc.process(id, parent, (9_000, 9_000));
        }
        proc.process(50, 1, (1_200, 1_003));
        proc.process(51, 50, (40, 50));
        let after = processes.look().unwrap();
        assert_eq!(processes.between(&before, &after), moved(240, 53));
        let ticks = |seconds: f64| seconds * rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(ticks(after.children_seconds_since(&before)), 8_000.0 + 9_001.0);
        let device =
            |name: &str| DeviceWords { names: vec![name.into()], ..DeviceWords::default() };
        let kernel = |name| after.kernel_time_since(&before, &device(name)).unwrap().seconds;
        assert_eq!((kernel("vda"), kernel("vdb")), (8.0, 0.0));
    }

    #[test]
    fn threads_of_the_kernel_work_for_the_device_that_they_name() {
        let numbers = vec!["7:3".into(), "254:0".into()];
        let device =
            DeviceWords { names: vec!["loop3".into(), "vda".into()], numbers, is_btrfs: true };
        let own = "jbd2/loop3-8 xfsaild/loop3 kworker/u8:1-loop3 kworker/u8:2+flush-254:0 f2fs_gc-7:3 \
                   kworker/1:5-dio/vda kworker/u8:0-btrfs-endio-write kworker/0:1H-kblockd kswapd0";
        assert!(own.split(' ').all(|thread| device.is_served_by(thread)));
        let others = "jbd2/loop30-8 kworker/u8:2+flush-254:1 kworker/7:3 xfsaild/vda1 rcu_preempt";
        let found: Vec<_> = others.split(' ').filter(|one| device.is_served_by(one)).collect();
        assert!(found.is_empty(), "{found:?}");
        assert!(device.is_loop_worker("kworker/u8:1-loop3") && device.is_loop_worker("loop3"));
        assert!(!device.is_loop_worker("kworker/u8:1-dio/vda"));
        assert!(!device.is_loop_worker("jbd2/loop3-8"));
    }

    #[test]
    fn what_a_process_did_before_is_not_counted_again_at_its_parent_when_it_ends() {
        let proc = Proc::new();
        proc.process(1, 0, (0, 0));
        proc.process(50, 1, (10, 10));
        proc.process(51, 50, (5_000, 7_000));
        let mut processes = proc.processes();
        let before = processes.look().unwrap();
        proc.ends(51);
        proc.process(50, 1, (5_110, 7_010));
        let after = processes.look().unwrap();
        assert_eq!(processes.between(&before, &after), moved(100, 0));
    }

    #[test]
    fn an_id_that_another_process_took_counts_from_nothing() {
        let proc = Proc::new();
        proc.process(50, 1, (900, 900));
        let mut processes = proc.processes();
        let before = processes.look().unwrap();
        proc.process(50, 1, (30, 2_000));
        let after = processes.look().unwrap();
        assert_eq!(processes.between(&before, &after), moved(30, 2_000));
    }

    #[test]
    fn a_process_whose_counters_cannot_be_understood_is_left_out() {
        let proc = Proc::new();
        proc.process(50, 1, (0, 0));
        proc.process(51, 1, (0, 0));
        std::fs::write(proc.0.path().join("51/io"), "rchar: 9\nread_bytes: 4096\n").unwrap();
        let found = proc.processes().look().unwrap();
        assert_eq!(found.bytes.len(), 1);
    }

    #[test]
    fn a_name_with_parentheses_and_odd_texts_are_read_or_left() {
        assert_eq!(parent_of("12 (x) y) (z) S 34 5"), Some(34));
        assert_eq!(parent_of("12 (x"), None);
        assert_eq!(bytes_of("read_bytes: 1\n"), None);
    }
}
