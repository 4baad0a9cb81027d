//! The control group of this process (cgroups(7)): what it may use. Its name is nobody's business
//! and is not kept.

use std::path::{Path, PathBuf};

/// Where the hierarchies are mounted everywhere.
const ROOT: &str = "/sys/fs/cgroup";

/// More memory than this is no limit: the first version of control groups says "none" so.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// The group's directories.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OwnGroup {
    processors: PathBuf,
    memory: PathBuf,
}

impl OwnGroup {
    /// The group of this process; none without control groups.
    pub(crate) fn find() -> Option<Self> {
        Self::of(&std::fs::read_to_string("/proc/self/cgroup").ok()?, Path::new(ROOT))
    }

    /// From the text of `/proc/PID/cgroup`, with its hierarchies below `root`.
    fn of(text: &str, root: &Path) -> Option<Self> {
        Some(Self {
            processors: directory(text, root, "cpu")?,
            memory: directory(text, root, "memory")?,
        })
    }

    /// Its file `cpu.stat`, if it has one.
    pub(crate) fn processor_statistics(&self) -> Option<PathBuf> {
        Some(self.processors.join("cpu.stat")).filter(|path| path.exists())
    }

    /// How many processors' time it may use; none for no limit.
    pub(crate) fn processors_max(&self) -> Option<f64> {
        let read = |name: &str| std::fs::read_to_string(self.processors.join(name)).ok();
        let (quota, period) = match read("cpu.max") {
            Some(text) => {
                let (quota, period) = text.trim().split_once(' ')?;
                (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
            }
            None => {
                let number = |name| read(name)?.trim().parse::<f64>().ok();
                (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
            }
        };
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    }

    /// How much memory it may use, in bytes; none for no limit.
    pub(crate) fn memory_max_bytes(&self) -> Option<u64> {
        let read = |name: &str| std::fs::read_to_string(self.memory.join(name)).ok();
        let text = read("memory.max").or_else(|| read("memory.limit_in_bytes"))?;
        text.trim().parse().ok().filter(|bytes| *bytes < NO_LIMIT_BYTES)
    }
}

/// The directory of the group in the hierarchy that has a controller: its own in the first version,
/// the one without controllers (`0::`) in the second.
fn directory(text: &str, root: &Path, controller: &str) -> Option<PathBuf> {
    let lines = || text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let below = |root: PathBuf, path: &str| root.join(path.trim_start_matches('/'));
    let own = lines().find(|(names, _)| names.split(',').any(|name| name == controller));
    match own {
        Some((names, path)) => {
            let mounted = [controller, names].map(|name| root.join(name));
            Some(below(mounted.into_iter().find(|root| root.exists())?, path))
        }
        None => {
            lines().find(|(names, _)| names.is_empty()).map(|(_, path)| below(root.into(), path))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture::put;

    #[test]
    fn the_second_version_has_one_directory_and_its_limits() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "user.slice/a/cpu.max", "150000 100000\n");
        put(root.path(), "user.slice/a/memory.max", "1073741824\n");
        let group = OwnGroup::of("0::/user.slice/a\n", root.path()).unwrap();
        assert_eq!(group.processors_max(), Some(1.5));
        assert_eq!(group.memory_max_bytes(), Some(1 << 30));
        assert_eq!(group.processor_statistics(), None);
        put(root.path(), "user.slice/a/cpu.max", "max 100000\n");
        put(root.path(), "user.slice/a/memory.max", "max\n");
        assert_eq!((group.processors_max(), group.memory_max_bytes()), (None, None));
    }

    #[test]
    fn the_first_version_has_a_directory_for_each_controller() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "cpu,cpuacct/b/cpu.cfs_quota_us", "50000\n");
        put(root.path(), "cpu,cpuacct/b/cpu.cfs_period_us", "100000\n");
        put(root.path(), "cpu,cpuacct/b/cpu.stat", "nr_throttled 1\n");
        put(root.path(), "memory/c/memory.limit_in_bytes", "9223372036854771712\n");
        let text = "4:memory:/c\n1:cpu,cpuacct:/b\n0::/\n";
        let group = OwnGroup::of(text, root.path()).unwrap();
        assert_eq!(group.processors_max(), Some(0.5));
        assert_eq!(group.memory_max_bytes(), None, "that is how it says that there is no limit");
        assert!(group.processor_statistics().is_some());
        put(root.path(), "cpu,cpuacct/b/cpu.cfs_quota_us", "-1\n");
        assert_eq!(group.processors_max(), None);
    }
}
