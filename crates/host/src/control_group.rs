//! Finds the control groups of this process, and what they limit: time of processors, and what is read from
//! and written to a disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::sysfs::number_after;
use boatload_base::files::read_text;

/// Where the hierarchies are mounted everywhere.
const ROOT: &str = "/sys/fs/cgroup";

/// The control group of this process (cgroups(7)), by its directories: what it may use. Its name is
/// nobody's business and is not kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OwnGroup {
    processors: PathBuf,
    disks: Option<PathBuf>,
}

/// What a group has done on a disk since it was made, and the most it may in a second: bytes or requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DiskLimit {
    per_second: u64,
    done: u64,
}

/// Each limit for a disk, by the group and file that sets it.
pub(super) type DiskLimits = BTreeMap<String, DiskLimit>;

/// Files of the first version of control groups: the limit, what was done, and its line.
const FIRST: [[&str; 3]; 4] = [
    ["read_bps_device", "io_service_bytes", "Read"],
    ["write_bps_device", "io_service_bytes", "Write"],
    ["read_iops_device", "io_serviced", "Read"],
    ["write_iops_device", "io_serviced", "Write"],
];

/// Words of the second version, in `io.max` and in `io.stat`.
const SECOND: [[&str; 2]; 4] =
    [["rbps=", "rbytes="], ["wbps=", "wbytes="], ["riops=", "rios="], ["wiops=", "wios="]];

/// A group that does this share of what its limit allows runs at the limit: the kernel counts in slices of a
/// tenth of a second, and a phase begins and ends within one.
const AT_LIMIT: f64 = 0.8;

/// More groups above each other than this are a loop.
const LEVELS_MAX: usize = 64;

impl OwnGroup {
    /// The group of this process; none without control groups.
    pub(crate) fn find() -> Option<Self> {
        Self::of(&read_text("/proc/self/cgroup").ok()?, Path::new(ROOT))
    }

    /// From the text of `/proc/PID/cgroup`, with its hierarchies below `root`.
    pub(super) fn of(text: &str, root: &Path) -> Option<Self> {
        let disks = directory(text, root, "blkio");
        Some(Self { processors: directory(text, root, "cpu")?, disks })
    }

    /// Its file `cpu.stat`, if it has one.
    pub(crate) fn processor_statistics(&self) -> Option<PathBuf> {
        Some(self.processors.join("cpu.stat")).filter(|path| path.exists())
    }

    /// Time in which its limit, or one of a group above it, kept it from processors, in seconds: the sum over
    /// all processors. `None` when nothing counts it.
    pub(super) fn throttled_seconds(&self) -> Option<f64> {
        let groups = self.processors.ancestors().take(LEVELS_MAX);
        let times = groups.filter_map(|group| {
            let text = read_text(group.join("cpu.stat")).ok()?;
            let seconds = number_after(&text, "throttled_usec ").map(|us| us as f64 / 1e6);
            seconds.or_else(|| Some(number_after(&text, "throttled_time ")? as f64 / 1e9))
        });
        times.reduce(|all, one| all + one)
    }

    /// The limits for disks that are named as `MAJOR:MINOR`, and what was done on them.
    pub(super) fn disk_limits(&self, disks: &[String]) -> DiskLimits {
        let Some(own) = &self.disks else { return DiskLimits::new() };
        // In the first version a limit holds for one group and not for those below it.
        let is_first = own.join(file_of_first("io_serviced")).exists();
        let groups = own.ancestors().take(if is_first { 1 } else { LEVELS_MAX });
        let mut found = DiskLimits::new();
        for (level, group) in groups.enumerate() {
            for disk in disks {
                let limits = limits_of_first(group, disk).chain(limits_of_second(group, disk));
                found.extend(limits.map(|(name, one)| (format!("{level} {disk} {name}"), one)));
            }
        }
        found
    }

    /// How many processors' time it may use; none for no limit.
    pub(crate) fn processors_max(&self) -> Option<f64> {
        let read = |name: &str| read_text(self.processors.join(name)).ok();
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
}

/// Whether some limit for a disk was reached between two looks that lie so many seconds apart.
pub(super) fn is_limit_reached(before: &DiskLimits, after: &DiskLimits, seconds: f64) -> bool {
    before.iter().any(|(name, then)| {
        let done = after.get(name).map_or(0, |now| now.done.saturating_sub(then.done));
        done > 0 && done as f64 >= AT_LIMIT * then.per_second as f64 * seconds
    })
}

fn file_of_first(name: &str) -> String {
    format!("blkio.throttle.{name}")
}

fn limits_of_first(group: &Path, disk: &str) -> impl Iterator<Item = (&'static str, DiskLimit)> {
    FIRST.into_iter().filter_map(move |[limit, done, way]| {
        let number = |file: &str, key: String| {
            number_after(&read_text(group.join(file_of_first(file))).ok()?, &key)
        };
        let per_second = number(limit, format!("{disk} "))?;
        // Without a line nothing was done.
        let done = number(done, format!("{disk} {way} ")).unwrap_or_default();
        Some((limit, DiskLimit { per_second, done }))
    })
}

fn limits_of_second(group: &Path, disk: &str) -> impl Iterator<Item = (&'static str, DiskLimit)> {
    let line = |file: &str| {
        let text = read_text(group.join(file)).unwrap_or_default();
        let mut lines = text.lines();
        let words = lines.find_map(|line| line.strip_prefix(disk)?.strip_prefix(' '));
        words.unwrap_or_default().to_string()
    };
    let number = |line: &str, key: &str| -> Option<u64> {
        line.split(' ').find_map(|word| word.strip_prefix(key)?.parse().ok())
    };
    let limits = line("io.max");
    // Most groups have no limit: what they did is not read.
    let counts = if limits.is_empty() { String::new() } else { line("io.stat") };
    SECOND.into_iter().filter_map(move |[limit, done]| {
        let per_second = number(&limits, limit)?;
        let done = number(&counts, done).unwrap_or_default();
        Some((limit, DiskLimit { per_second, done }))
    })
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
    use crate::fixture::put;

    #[test]
    fn the_second_version_has_one_directory_and_its_limits() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "user.slice/a/cpu.max", "150000 100000\n");
        let group = OwnGroup::of("0::/user.slice/a\n", root.path()).unwrap();
        assert_eq!(group.processors_max(), Some(1.5));
        assert_eq!(group.processor_statistics(), None);
        put(root.path(), "user.slice/a/cpu.max", "max 100000\n");
        assert_eq!(group.processors_max(), None);
    }

    #[test]
    fn the_first_version_has_a_directory_for_each_controller() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "cpu,cpuacct/b/cpu.cfs_quota_us", "50000\n");
        put(root.path(), "cpu,cpuacct/b/cpu.cfs_period_us", "100000\n");
        put(root.path(), "cpu,cpuacct/b/cpu.stat", "nr_throttled 1\n");
        let text = "4:memory:/c\n1:cpu,cpuacct:/b\n0::/\n";
        let group = OwnGroup::of(text, root.path()).unwrap();
        assert_eq!(group.processors_max(), Some(0.5));
        assert!(group.processor_statistics().is_some());
        put(root.path(), "cpu,cpuacct/b/cpu.cfs_quota_us", "-1\n");
        assert_eq!(group.processors_max(), None);
    }

    #[test]
    fn a_limit_of_the_first_version_is_reached_by_what_the_group_itself_did() {
        let root = tempfile::tempdir().unwrap();
        let set = |name: &str, text: &str| {
            put(root.path(), &format!("blkio/a/blkio.throttle.{name}"), text);
        };
        set("read_iops_device", "7:0 200\n");
        set("io_serviced", "7:0 Read 1000\n7:0 Write 5\nTotal 1005\n");
        put(root.path(), "blkio/blkio.throttle.io_serviced", "7:0 Read 0\n");
        put(root.path(), "blkio/blkio.throttle.read_iops_device", "7:0 1\n");
        let group = OwnGroup::of("2:blkio:/a\n0::/\n", root.path()).unwrap();
        let look = || group.disk_limits(&["7:0".into()]);
        let before = look();
        assert_eq!(before.len(), 1, "the limit of the group above is not its own: {before:?}");
        set("io_serviced", "7:0 Read 1400\n7:0 Write 5\nTotal 1405\n");
        assert!(is_limit_reached(&before, &look(), 2.0));
        assert!(!is_limit_reached(&before, &look(), 4.0), "half of what it allows");
        assert!(group.disk_limits(&["7:1".into()]).is_empty());
    }

    #[test]
    fn limits_of_the_second_version_hold_for_all_groups_below() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "s/io.max", "8:16 rbps=max wbps=1048576 riops=max wiops=max\n");
        put(root.path(), "s/io.stat", "8:16 rbytes=9 wbytes=1000 rios=1 wios=1\n");
        put(root.path(), "s/t/cpu.stat", "usage_usec 9\nnr_throttled 2\nthrottled_usec 500000\n");
        put(root.path(), "s/cpu.stat", "throttled_usec 1000000\n");
        let group = OwnGroup::of("0::/s/t\n", root.path()).unwrap();
        assert_eq!(group.throttled_seconds(), Some(1.5));
        let look = || group.disk_limits(&["8:1".into(), "8:16".into()]);
        let before = look();
        assert_eq!(before.len(), 1, "max is no limit: {before:?}");
        put(root.path(), "s/io.stat", "8:16 rbytes=9 wbytes=1049576 rios=1 wios=9\n");
        assert!(is_limit_reached(&before, &look(), 1.0));
        assert!(!is_limit_reached(&before, &before, 1e-9), "nothing was done");
    }
}
