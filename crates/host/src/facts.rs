//! Collects the facts of the machine that a reader of a result needs, and nothing personal.

use std::os::fd::BorrowedFd;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use boatload_base::failure::{Result, shown};
use boatload_base::files::read_text;
use boatload_base::known;

use super::block_device::BlockDevice;
pub use super::block_device::DeviceFacts;
use super::memory::machine_bytes;
use super::mounts::Mount;
use super::page_cache::{self, CacheProbe};
use super::settings::MachineSettings;
use super::space::Space;
use super::sysfs::first_line;
use crate::process::is_root;

/// The machine and the place a run measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Kernel name and release: `Linux 6.18.44`; empty if it is not known.
    #[serde(with = "known")]
    #[schemars(with = "Option<String>")]
    pub kernel: String,
    /// Model name of the first processor; empty if it is not known.
    #[serde(with = "known")]
    #[schemars(with = "Option<String>")]
    pub cpu: String,
    /// Processors this process may run on; 0 if that is not known.
    #[serde(with = "known")]
    #[schemars(with = "Option<u32>")]
    pub cpus: u32,
    /// Memory, in bytes; 0 if it is not known.
    #[serde(with = "known")]
    #[schemars(with = "Option<u64>")]
    pub memory_bytes: u64,
    /// The file system measured.
    pub filesystem: FilesystemFacts,
    /// The block device under it; null for tmpfs, overlay and network file systems.
    pub device: Option<DeviceFacts>,
    /// What this process may do; all default if boatload did not run there.
    #[serde(with = "known")]
    #[schemars(with = "Option<Rights>")]
    pub rights: Rights,
    /// How the kernel and the processors are set; null if it was not looked at.
    pub settings: Option<MachineSettings>,
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FilesystemFacts {
    /// Its type as the kernel names it: `ext4`; empty if it is not known.
    #[serde(rename = "type", with = "known")]
    #[schemars(with = "Option<String>")]
    pub kind: String,
    /// What is mounted: `/dev/vda`, `tmpfs`; empty if that is not known.
    #[serde(with = "known")]
    #[schemars(with = "Option<String>")]
    pub source: String,
    /// Mount and superblock options, as the kernel shows them; empty if they are not known.
    #[serde(with = "known")]
    #[schemars(with = "Option<String>")]
    pub options: String,
    /// Size of an allocation block, in bytes; null where the file system does not report it.
    pub block_bytes: Option<u64>,
    /// Its size, in bytes; null where the file system does not report it.
    pub total_bytes: Option<u64>,
    /// Bytes an ordinary user may still use when the run began; null where its size is not reported.
    pub available_bytes: Option<u64>,
    /// Inodes left; null where the file system makes them as needed.
    pub available_inodes: Option<u64>,
    /// Whether ext4, which also serves ext2 and ext3, keeps a journal; null for other types.
    #[serde(default)]
    pub journal: Option<bool>,
}

/// What this process may do, as tried out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rights {
    /// It is root.
    pub root: bool,
    /// It may drop the kernel's caches.
    pub drop_caches: bool,
    /// How the cache can be looked into: `cachestat`, `mincore` or `none`.
    pub cache_probe: String,
}

/// Mount options that name people, machines or paths rather than how the file system works.
const PERSONAL_OPTIONS: [&str; 11] = [
    "addr", "clientaddr", "domain", "group_id", "lowerdir", "mountaddr", "srcaddr", "upperdir",
    "user_id", "username", "workdir",
];

impl Rights {
    /// Tries them out, changing nothing.
    fn probe() -> Self {
        Self {
            root: is_root(),
            drop_caches: page_cache::can_drop(),
            cache_probe: CacheProbe::detect().as_str().to_string(),
        }
    }
}

impl HostFacts {
    /// The facts of this machine, of this process, and of the file system `dir` lies on.
    ///
    /// # Errors
    /// If the file system cannot be told.
    pub fn gather(dir: BorrowedFd<'_>) -> Result<Self> {
        let mount = Mount::of(dir)?;
        let space = Space::read(dir)?;
        let system = rustix::system::uname();
        let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
        let cpuinfo = read_text("/proc/cpuinfo").unwrap_or_default();
        let device = BlockDevice::under(&mount).map(|device| device.facts);
        let journal = device.as_ref().and_then(|device| journal(Path::new("/sys"), &device.name));
        Ok(Self {
            kernel: format!("{} {}", text(system.sysname()), text(system.release())),
            cpu: cpu_model(&cpuinfo).unwrap_or_else(|| text(system.machine())),
            cpus: allowed_cpus(),
            memory_bytes: machine_bytes(),
            filesystem: FilesystemFacts { journal, ..FilesystemFacts::new(&mount, space) },
            device,
            rights: Rights::probe(),
            settings: Some(MachineSettings::gather(&cpuinfo)),
        })
    }
}

impl FilesystemFacts {
    /// Its type, and what else makes it another one.
    pub fn about(&self) -> String {
        let without = if self.journal == Some(false) { " without a journal" } else { "" };
        format!("{}{without}", self.kind)
    }

    /// What is worth keeping of a mount and its room.
    pub fn new(mount: &Mount, space: Space) -> Self {
        Self {
            kind: mount.kind.clone(),
            source: shown(&mount.source),
            options: impersonal(&mount.options),
            block_bytes: Some(space.block_bytes).filter(|bytes| *bytes > 0),
            total_bytes: space.is_stated().then_some(space.total_bytes),
            available_bytes: space.is_stated().then_some(space.available_bytes),
            available_inodes: space.available_inodes,
            journal: None,
        }
    }
}

/// Whether the ext4 on this device keeps a journal, by the sysfs at `sys`.
fn journal(sys: &Path, device: &str) -> Option<bool> {
    let directory = sys.join("fs/ext4").join(device.replace('/', "!"));
    first_line(&directory.join("journal_task")).map(|task| task != "<none>")
}

pub(super) fn impersonal(options: &str) -> String {
    let key = |option: &&str| option.split_once('=').map_or(*option, |(key, _)| key).to_string();
    let kept = options.split(',').filter(|o| !PERSONAL_OPTIONS.contains(&key(o).as_str()));
    kept.collect::<Vec<_>>().join(",")
}

/// The first processor's model, from the text of /proc/cpuinfo; some architectures give none.
pub(super) fn cpu_model(cpuinfo: &str) -> Option<String> {
    let named = |line: &str| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    cpuinfo.lines().find_map(named).filter(|model| !model.is_empty())
}

/// Processors the scheduler may put this process on (sched_getaffinity(2)).
fn allowed_cpus() -> u32 {
    match rustix::thread::sched_getaffinity(None) {
        Ok(set) => set.count(),
        // The kernel knows more processors than the fixed set has room for.
        Err(_) => std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_model_is_the_first_one_named() {
        let text =
            "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Acme  CPU @ 2.0GHz\n\nmodel name\t: B\n";
        assert_eq!(cpu_model(text).as_deref(), Some("Acme CPU @ 2.0GHz"));
        assert_eq!(cpu_model("processor : 0\nBogoMIPS : 50\n"), None);
    }

    #[test]
    fn ext4_has_a_journal_where_a_task_writes_one() {
        let sys = tempfile::tempdir().unwrap();
        for (device, task) in [("sda1", "231\n"), ("dm-0", "<none>\n"), ("cciss!c0d0", "7\n")] {
            let directory = sys.path().join("fs/ext4").join(device);
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("journal_task"), task).unwrap();
        }
        let found = ["sda1", "dm-0", "cciss/c0d0", "sdb"].map(|device| journal(sys.path(), device));
        assert_eq!(found, [Some(true), Some(false), Some(true), None]);
    }

    #[test]
    fn the_size_of_a_file_system_that_tells_none_is_unknown_and_a_full_one_has_no_room() {
        let line = b"1 0 0:28 / / rw - ramfs none rw";
        let mount = super::super::mounts::parse(line).pop().unwrap();
        let facts = FilesystemFacts::new(&mount, Space { block_bytes: 4096, ..Space::default() });
        let room = (facts.block_bytes, facts.total_bytes, facts.available_bytes);
        assert_eq!(room, (Some(4096), None, None));
        let full = Space { total_bytes: 8192, ..Space::default() };
        let facts = FilesystemFacts::new(&mount, full);
        assert_eq!((facts.block_bytes, facts.available_bytes), (None, Some(0)));
    }

    #[test]
    fn options_keep_how_it_works_and_lose_who_and_where() {
        let options = "rw,vers=3.1.1,username=ann,addr=10.0.0.7,cache=strict,lowerdir=/home/ann";
        assert_eq!(impersonal(options), "rw,vers=3.1.1,cache=strict");
    }
}
