//! Tells how much memory this process may take: of the machine, of its control groups, of its limits
//! (proc_meminfo(5), cgroups(7), proc_pid_limits(5)), and takes some in advance from the host of a virtual machine.
#![expect(unsafe_code, reason = "system calls that no safe wrapper has")]

use std::path::{Path, PathBuf};
use std::ptr;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::mounts::{MOUNTS, Mount, parse};
use super::process::limit;
use super::sysfs::{first_line, number_after, number_in};
use boatload_base::files::{read_bytes, read_text};

/// What bounds the memory of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryBound {
    /// What the machine has.
    Machine,
    /// The limit of a control group, whose name this is.
    Group(String),
    /// The limit of its address space or of its data, in the word of a shell: `ulimit -v`.
    Limit(&'static str),
}

/// Memory that this process may still take, and what bounds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRoom {
    /// So many bytes.
    pub bytes: u64,
    /// What it is that allows no more.
    pub bound: MemoryBound,
}

impl MemoryRoom {
    /// The room of this process; `None` if the kernel does not say.
    pub fn available() -> Option<Self> {
        let machine = Self { bytes: machine_available_bytes()?, bound: MemoryBound::Machine };
        let groups = own_groups().into_iter().filter_map(|group| {
            Some(Self { bytes: group.available_bytes()?, bound: MemoryBound::Group(group.name) })
        });
        let status = read_text("/proc/self/status").unwrap_or_default();
        let limits = [
            ("ulimit -v", "Max address space", "VmSize:"),
            ("ulimit -d", "Max data size", "VmData:"),
        ];
        let limits = limits.into_iter().filter_map(|(word, resource, line)| {
            let taken = kilobytes(&status, line).unwrap_or_default();
            let bytes = limit(resource)?.saturating_sub(taken);
            Some(Self { bytes, bound: MemoryBound::Limit(word) })
        });
        groups.chain(limits).chain([machine]).min_by_key(|room| room.bytes)
    }
}

/// At most so much is taken in advance: free memory goes back to the host in rounds 2 s apart (`PAGE_REPORTING_DELAY`
/// in the kernel's mm/page_reporting.c), so what is needed later is gone again.
const TOUCHED_BYTES_MAX: u64 = 2 << 30;

/// Takes so much free memory and frees it at once: a host that takes free memory back gives it again now, and not
/// while something is timed. At most half of what nobody uses, so that no page of a file has to make room. In huge
/// pages: taken in small ones it made no read faster (METHODOLOGY.md). How much it was, in bytes.
pub fn touch_free(bytes: u64) -> u64 {
    let free = read_text("/proc/meminfo").ok().and_then(|info| kilobytes(&info, "MemFree:"));
    let room = free.zip(MemoryRoom::available()).map_or(0, |(free, room)| free.min(room.bytes) / 2);
    let bytes = bytes.min(room).min(TOUCHED_BYTES_MAX);
    let Ok(length) = usize::try_from(bytes) else { return 0 };
    let (rights, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: memory of its own, at a place that the kernel chooses.
    let Ok(start) = (unsafe { mmap_anonymous(ptr::null_mut(), length, rights, flags) }) else {
        return 0;
    };
    // SAFETY: that mapping, to which nothing points. A kernel without huge pages has it in others.
    let touched = unsafe {
        let _ = madvise(start, length, Advice::LinuxHugepage);
        let touched = madvise(start, length, Advice::LinuxPopulateWrite);
        let _ = munmap(start, length);
        touched
    };
    touched.map_or(0, |()| bytes)
}

/// Memory of this process, in bytes: what the machine has, or its control groups allow where that is less.
pub fn memory_bytes() -> u64 {
    group_limit_bytes().unwrap_or(u64::MAX).min(machine_bytes())
}

/// Memory the kernel manages, in bytes.
pub(super) fn machine_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit.max(1)))
}

/// The tightest limit of the control groups of this process, in bytes; none without one.
pub(super) fn group_limit_bytes() -> Option<u64> {
    own_groups().iter().filter_map(MemoryGroup::limit_bytes).min()
}

/// `MemAvailable` of /proc/meminfo, in bytes.
fn machine_available_bytes() -> Option<u64> {
    kilobytes(&read_text("/proc/meminfo").ok()?, "MemAvailable:")
}

/// The number behind a name, in kB, as bytes.
pub(super) fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// A control group that may limit memory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MemoryGroup {
    /// Its path below the hierarchy that this process sees.
    name: String,
    directory: PathBuf,
    files: &'static GroupFiles,
}

/// What a version of control groups calls its files, and the lines that tell of memory that can be taken back.
#[derive(Debug, PartialEq, Eq)]
struct GroupFiles {
    limit: &'static str,
    usage: &'static str,
    reclaimable: [&'static str; 2],
}

const SECOND: GroupFiles = GroupFiles {
    limit: "memory.max",
    usage: "memory.current",
    reclaimable: ["inactive_file ", "active_file "],
};

const FIRST: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: ["total_inactive_file ", "total_active_file "],
};

/// The first version says that there is no limit by a number that no machine has.
const NO_LIMIT_BYTES: u64 = 1 << 62;

impl MemoryGroup {
    /// `None` if it has no limit.
    fn limit_bytes(&self) -> Option<u64> {
        let limit = first_line(&self.directory.join(self.files.limit))?.parse().ok();
        limit.filter(|bytes| *bytes < NO_LIMIT_BYTES)
    }

    /// What may still be taken in it, at most; pages of files make room.
    fn available_bytes(&self) -> Option<u64> {
        let limit = self.limit_bytes()?;
        let Some(usage) = number_in(&self.directory.join(self.files.usage)) else {
            return Some(limit);
        };
        let stat = read_text(self.directory.join("memory.stat")).unwrap_or_default();
        let reclaimable =
            self.files.reclaimable.iter().filter_map(|name| number_after(&stat, name));
        let reclaimable = reclaimable.fold(0, u64::saturating_add);
        Some(limit.saturating_sub(usage.saturating_sub(reclaimable)))
    }
}

/// The control groups of this process.
fn own_groups() -> Vec<MemoryGroup> {
    let groups = read_text("/proc/self/cgroup").unwrap_or_default();
    groups_of(&groups, &parse(&read_bytes(MOUNTS).unwrap_or_default()))
}

/// The groups that a text like /proc/self/cgroup names, and all above them, where they are mounted.
pub(super) fn groups_of(text: &str, mounts: &[Mount]) -> Vec<MemoryGroup> {
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (kind, files) = match controllers {
            "" => ("cgroup2", &SECOND),
            some if some.split(',').any(|one| one == "memory") => ("cgroup", &FIRST),
            _ => continue,
        };
        let is_for_memory = |mount: &&Mount| {
            let options = &mut mount.options.split(',');
            mount.kind == kind && (kind == "cgroup2" || options.any(|one| one == "memory"))
        };
        let Some(mount) = mounts.iter().find(is_for_memory) else { continue };
        // In a container the mount may begin at its own group.
        let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        groups.extend(below.ancestors().map(|group| MemoryGroup {
            name: format!("/{}", group.display()),
            directory: mount.mount_point.join(group),
            files,
        }));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_memory_is_touched_as_was_asked_for_and_none_stays() {
        let before = MemoryRoom::available().unwrap().bytes;
        assert_eq!((touch_free(0), touch_free(4 << 20)), (0, 4 << 20));
        assert!(MemoryRoom::available().unwrap().bytes > before / 2, "of {before} bytes");
    }

    /// A hierarchy of two groups with these files in each.
    fn hierarchy(kind: &str, options: &str, files: [&[(&str, &str)]; 2]) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("outer/inner");
        std::fs::create_dir_all(&inner).unwrap();
        for (directory, files) in [inner.parent().unwrap(), &inner].into_iter().zip(files) {
            for (name, text) in files {
                std::fs::write(directory.join(name), text).unwrap();
            }
        }
        let mount =
            format!("30 20 0:5 / {} rw - {kind} cgroup rw,{options}\n", place.path().display());
        std::fs::write(place.path().join("mountinfo"), mount).unwrap();
        place
    }

    fn least(place: &tempfile::TempDir, text: &str) -> Option<(u64, String)> {
        let mounts = parse(&std::fs::read(place.path().join("mountinfo")).unwrap());
        let groups = groups_of(text, &mounts);
        let room = groups.into_iter().filter_map(|g| Some((g.available_bytes()?, g.name)));
        room.min()
    }

    #[test]
    fn the_tightest_of_all_groups_above_counts_and_pages_of_files_make_room() {
        let outer = [
            ("memory.max", "1000\n"),
            ("memory.current", "900\n"),
            ("memory.stat", "anon 1\ninactive_file 300\nactive_file 100\n"),
        ];
        let inner = [("memory.max", "max\n"), ("memory.current", "50\n")];
        let place = hierarchy("cgroup2", "nsdelegate", [&outer, &inner]);
        assert_eq!(least(&place, "0::/outer/inner\n"), Some((500, "/outer".into())));
        assert_eq!(least(&place, "0::/\n"), None, "the root has no limit");
        let place = hierarchy("cgroup2", "nsdelegate", [&[], &[("memory.max", "70\n")]]);
        let least = least(&place, "0::/outer/inner\n");
        assert_eq!(least, Some((70, "/outer/inner".into())), "its use is not known");
    }

    #[test]
    fn the_first_version_of_groups_has_other_names() {
        let outer =
            [("memory.limit_in_bytes", "9223372036854771712"), ("memory.usage_in_bytes", "7")];
        let inner = [
            ("memory.limit_in_bytes", "100"),
            ("memory.usage_in_bytes", "90"),
            ("memory.stat", "inactive_file 1\ntotal_inactive_file 20\ntotal_active_file 30\n"),
        ];
        let place = hierarchy("cgroup", "memory", [&outer, &inner]);
        let text = "9:name=systemd:/\n4:cpu,memory:/outer/inner\n0::/\n";
        assert_eq!(least(&place, text), Some((60, "/outer/inner".into())));
        assert_eq!(least(&place, "4:cpu:/outer/inner\n"), None);
    }

    #[test]
    fn a_number_of_kilobytes_is_read_as_bytes() {
        let text = "MemTotal:  8 kB\nMemAvailable:    2048 kB\nVmSize: x kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(2 << 20));
        assert_eq!((kilobytes(text, "VmSize:"), kilobytes(text, "VmData:")), (None, None));
    }

    #[test]
    fn this_process_has_room() {
        let room = MemoryRoom::available().unwrap();
        assert!(room.bytes > 1 << 20 && room.bytes <= memory_bytes(), "{room:?}");
    }
}
