//! Reads what other processes read from and wrote to disks, from `/proc/PID/io` (proc_pid_io(5)).
//!
//! A process's counters contain the counters of children that have ended and were waited for. So what a
//! process did that is gone is found at its nearest ancestor that is still there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::base::files::{names_in, open_to_read, uninterrupted};
use crate::host::process::is_root;
use crate::host::sysfs::number_after;

/// Ancestors that are gone too; more is a mistake in what was read.
const ANCESTORS_MAX: u32 = 32;

/// The process that starts all threads of the kernel.
const KERNEL_THREADS: u32 = 2;

/// Bytes that other processes moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
    /// Processes whose counters could not be read.
    pub(super) unseen: u64,
}

/// The counters of each process at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Transfers {
    /// Bytes read and written.
    bytes: BTreeMap<u32, (u64, u64)>,
    unseen: u64,
}

/// Whose a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinship {
    /// Of others: its bytes count.
    Other { parent: u32 },
    /// This process, its children, and threads of the kernel: some of them work for this process.
    Own,
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
    /// The counters now; `None` if none of another process can be read, which takes root.
    pub(super) fn transfers(&mut self) -> Option<Transfers> {
        if !is_root() {
            return None;
        }
        self.look().filter(|found| !found.bytes.is_empty())
    }

    fn look(&mut self) -> Option<Transfers> {
        let mut found = Transfers::default();
        let mut here = BTreeMap::new();
        for name in names_in(&self.proc).ok()? {
            let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            let known = self.parents.get(&id).copied();
            let Some(kinship) = known.or_else(|| self.kinship(id)) else { continue };
            here.insert(id, kinship);
            if kinship == Kinship::Own {
                continue;
            }
            match read_once(&self.proc.join(format!("{id}/io"))) {
                Ok(text) => match bytes_of(&text) {
                    Some(bytes) => drop(found.bytes.insert(id, bytes)),
                    None => found.unseen += u64::from(!text.is_empty()),
                },
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    found.unseen += 1;
                }
                // It has just ended.
                Err(_) => {}
            }
        }
        self.former = std::mem::replace(&mut self.parents, here);
        Some(found)
    }

    /// Whose a process is; `None` if it has just ended.
    fn kinship(&self, id: u32) -> Option<Kinship> {
        let text = read_once(&self.proc.join(format!("{id}/stat"))).ok()?;
        let parent = parent_of(&text)?;
        let heads = [self.own, KERNEL_THREADS];
        let own_child = self.parents.get(&parent) == Some(&Kinship::Own);
        let own = heads.contains(&id) || heads.contains(&parent) || own_child;
        Some(if own { Kinship::Own } else { Kinship::Other { parent } })
    }

    /// What was moved between two looks.
    pub(super) fn between(&self, before: &Transfers, after: &Transfers) -> Moved {
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
        Moved {
            read_bytes: sum(|moved| moved.0),
            write_bytes: sum(|moved| moved.1),
            unseen: after.unseen,
        }
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

/// The parent in the text of `/proc/PID/stat`: the second field after the name, which stands in
/// parentheses and may contain some itself.
pub(in crate::host) fn parent_of(text: &str) -> Option<u32> {
    text.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Bytes read and written, without those that were never written because their file was cut.
pub(in crate::host) fn bytes_of(text: &str) -> Option<(u64, u64)> {
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
            let stat = format!("{id} (a b) c) S {parent} 1 1 0\n");
            std::fs::write(directory.join("stat"), stat).unwrap();
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
        Moved { read_bytes, write_bytes, unseen: 0 }
    }

    #[test]
    fn those_that_stay_and_those_that_come_count_and_the_own_family_and_the_kernel_do_not() {
        let proc = Proc::new();
        for (id, parent) in [(1, 0), (2, 0), (7, 2), (50, 1), (100, 1), (101, 100)] {
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
    fn a_process_whose_counters_cannot_be_understood_is_unseen_and_not_idle() {
        let proc = Proc::new();
        proc.process(50, 1, (0, 0));
        proc.process(51, 1, (0, 0));
        std::fs::write(proc.0.path().join("51/io"), "rchar: 9\nread_bytes: 4096\n").unwrap();
        let found = proc.processes().look().unwrap();
        assert_eq!((found.bytes.len(), found.unseen), (1, 1));
    }

    #[test]
    fn a_name_with_parentheses_and_odd_texts_are_read_or_left() {
        assert_eq!(parent_of("12 (x) y) (z) S 34 5"), Some(34));
        assert_eq!(parent_of("12 (x"), None);
        assert_eq!(bytes_of("read_bytes: 1\n"), None);
    }
}
