//! The block device under a mount, from sysfs (Documentation/ABI/stable/sysfs-block of Linux).

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::base::errno::Errno;

use super::counters::{DeviceCounters, SECTOR_BYTES};
use super::errno;
use super::facts::DeviceFacts;
use super::mount::{Mount, source_path};
use super::stack::{DEEPEST_STACK, below, disk_of};

/// A block device: a disk, a partition, or one made of others.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDevice {
    /// Major and minor number.
    pub number: (u32, u32),
    /// What a reader needs to know of it.
    pub facts: DeviceFacts,
    /// Its own directory in sysfs, not the parent disk's.
    pub(super) directory: PathBuf,
}

impl BlockDevice {
    /// The block device a file system lies on. None for tmpfs, overlay and network file systems,
    /// and for a btrfs of several devices, whose counters no single one of them tells.
    pub fn under(mount: &Mount) -> Option<Self> {
        Self::under_in(Path::new("/sys"), mount)
    }

    /// The same with another sysfs.
    pub fn under_in(sys: &Path, mount: &Mount) -> Option<Self> {
        if mount.kind != "btrfs" {
            return Self::numbered(sys, mount.device);
        }
        // btrfs gives each subvolume a made-up device number, so its source is asked instead.
        let device = Self::numbered(sys, source_number(mount)?)?;
        (!shared_by_btrfs(sys, &device.facts.name)).then_some(device)
    }

    /// The device with this major and minor number below a sysfs; none if there is no such one.
    pub fn numbered(sys: &Path, number: (u32, u32)) -> Option<Self> {
        let link = sys.join(format!("dev/block/{}:{}", number.0, number.1));
        let directory = link.canonicalize().ok()?;
        let facts = facts(sys, &directory, 0)?;
        Some(Self { number, facts, directory })
    }

    /// Whether it is, or stands on, a loop device that reads its file through the page cache.
    pub fn reads_through_cache(&self) -> bool {
        reads_through_cache(&disk_of(&self.directory), 0)
    }

    /// A device that is nowhere, for tests.
    #[cfg(test)]
    pub(crate) fn made_up(number: (u32, u32), facts: DeviceFacts) -> Self {
        Self { number, facts, directory: PathBuf::new() }
    }

    /// What it has moved so far, all processes together. A partition counts for itself.
    ///
    /// # Errors
    /// Those of reading its `stat` file: `ENOENT` or `ENODEV` if the device is gone.
    pub fn counters(&self) -> Result<DeviceCounters, Errno> {
        counters(&self.directory)
    }

    /// Whether its counters have flushes: those of a partition have not.
    pub fn counts_flushes(&self) -> bool {
        disk_of(&self.directory) == self.directory
    }

    /// What it has moved so far, and what the one device beneath it has, of a loop device or a
    /// partition. None for others: members of an array move more than what is asked of it.
    pub fn counters_beneath(&self) -> Option<(DeviceCounters, DeviceCounters)> {
        let stands_alone = disk_of(&self.directory) == self.directory;
        if stands_alone && !self.directory.join("loop/backing_file").exists() {
            return None;
        }
        let [beneath] = &below(Path::new("/sys"), &self.directory)[..] else { return None };
        Some((self.counters().ok()?, counters(beneath).ok()?))
    }
}

fn counters(directory: &Path) -> Result<DeviceCounters, Errno> {
    let text = std::fs::read_to_string(directory.join("stat")).map_err(|error| errno(&error))?;
    DeviceCounters::parse(&text)
}

fn facts(sys: &Path, directory: &Path, depth: u32) -> Option<DeviceFacts> {
    let disk = disk_of(directory);
    let queue = disk.join("queue");
    let stack = if depth == DEEPEST_STACK { Vec::new() } else { below(sys, directory) };
    let stack: Vec<DeviceFacts> =
        stack.iter().filter_map(|below| facts(sys, below, depth + 1)).collect();
    let name = name_of(directory)?;
    let mut beneath = vec![name.clone()];
    for below in stack.iter().flat_map(|below| &below.beneath) {
        if !beneath.contains(below) {
            beneath.push(below.clone());
        }
    }
    Some(DeviceFacts {
        name,
        model: model(&disk, 0),
        rotational: flag(&queue.join("rotational")),
        scheduler: line(&queue.join("scheduler")).and_then(|text| chosen(&text)),
        write_cache: line(&queue.join("write_cache")),
        sector_bytes: number(&queue.join("logical_block_size")),
        total_bytes: number(&directory.join("size")).map(|s| s.saturating_mul(SECTOR_BYTES)),
        loop_direct_io: flag(&disk.join("loop/dio")),
        physical_sector_bytes: number(&queue.join("physical_block_size")),
        discards: flag(&queue.join("discard_max_bytes")),
        requests_max: number(&queue.join("nr_requests")),
        read_ahead_bytes: number(&queue.join("read_ahead_kb")).map(|kib| kib.saturating_mul(1024)),
        beneath,
        stack,
    })
}

/// A device's name as under `/dev`; sysfs writes its slashes as exclamation marks.
fn name_of(directory: &Path) -> Option<String> {
    Some(directory.file_name()?.to_str()?.replace('!', "/"))
}

/// The maker's name for a disk; for a device that stands on one other alone, that one's.
fn model(disk: &Path, depth: u32) -> Option<String> {
    // SCSI and NVMe disks have `model`, memory cards have `name`.
    let own = ["device/model", "device/name"].iter().find_map(|file| line(&disk.join(file)));
    if own.is_some() || depth == DEEPEST_STACK {
        return own;
    }
    let mut below = std::fs::read_dir(disk.join("slaves")).ok()?.flatten();
    let (only, None) = (below.next()?, below.next()) else { return None };
    model(&disk_of(&only.path().canonicalize().ok()?), depth + 1)
}

fn reads_through_cache(disk: &Path, depth: u32) -> bool {
    if flag(&disk.join("loop/dio")) == Some(false) {
        return true;
    }
    let below = std::fs::read_dir(disk.join("slaves")).into_iter().flatten().flatten();
    let mut disks = below.filter_map(|slave| Some(disk_of(&slave.path().canonicalize().ok()?)));
    depth < DEEPEST_STACK && disks.any(|disk| reads_through_cache(&disk, depth + 1))
}

/// The first line of a file without the blanks around it; none if it is empty or not text.
fn line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let first = text.lines().next()?.trim();
    (!first.is_empty()).then(|| first.to_string())
}

fn number(path: &Path) -> Option<u64> {
    line(path)?.parse().ok()
}

fn flag(path: &Path) -> Option<bool> {
    number(path).map(|value| value != 0)
}

/// The scheduler in use, in brackets among those that could be; a lone one may have none.
fn chosen(text: &str) -> Option<String> {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match bracketed {
        Some((name, _)) => Some(name.to_string()),
        None => (!text.contains(' ')).then(|| text.to_string()),
    }
}

/// The number of the block device that a mount's source names.
fn source_number(mount: &Mount) -> Option<(u32, u32)> {
    let data = std::fs::metadata(source_path(&mount.source)?).ok()?;
    let number = data.rdev();
    data.file_type()
        .is_block_device()
        .then(|| (rustix::fs::major(number), rustix::fs::minor(number)))
}

/// Whether a btrfs has this device among several: `/sys/fs/btrfs/UUID/devices/` lists them.
fn shared_by_btrfs(sys: &Path, name: &str) -> bool {
    let Ok(filesystems) = std::fs::read_dir(sys.join("fs/btrfs")) else { return false };
    filesystems.flatten().any(|filesystem| {
        let devices = filesystem.path().join("devices");
        devices.join(name.replace('/', "!")).exists()
            && std::fs::read_dir(devices).is_ok_and(|list| list.count() > 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A made-up sysfs: a disk with a partition, a loop device, a volume on the partition, and an
    /// array of two disks.
    struct Sysfs(tempfile::TempDir);

    impl Sysfs {
        fn new() -> Self {
            let sys = Self(tempfile::tempdir().unwrap());
            sys.device("pci0/block/sda", "8:0", "2000");
            sys.put("pci0/block/sda/device/model", "ACME Disk 9   \n");
            sys.put("pci0/block/sda/queue/rotational", "1\n");
            sys.put("pci0/block/sda/queue/scheduler", "none mq-deadline [bfq] kyber\n");
            sys.put("pci0/block/sda/queue/write_cache", "write back\n");
            sys.put("pci0/block/sda/queue/logical_block_size", "4096\n");
            sys.put("pci0/block/sda/queue/nr_requests", "256\n");
            sys.put("pci0/block/sda/queue/read_ahead_kb", "128\n");
            sys.device("pci0/block/sda/sda1", "8:1", "1000");
            sys.put("pci0/block/sda/sda1/partition", "1\n");
            sys.put("pci0/block/sda/sda1/stat", "1 0 8 0 2 0 16 0 0 0 0\n");
            sys.device("virtual/block/loop3", "7:3", "64");
            sys.put("virtual/block/loop3/loop/dio", "0\n");
            sys.put("virtual/block/loop3/queue/scheduler", "none\n");
            sys.device("virtual/block/dm-0", "253:0", "500");
            sys.slave("virtual/block/dm-0", "pci0/block/sda/sda1");
            sys.device("virtual/block/md!0", "9:0", "4000");
            sys.slave("virtual/block/md!0", "pci0/block/sda/sda1");
            sys.slave("virtual/block/md!0", "virtual/block/loop3");
            sys
        }

        fn put(&self, path: &str, text: &str) {
            let path = self.0.path().join("devices").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn device(&self, path: &str, number: &str, sectors: &str) {
            self.put(&format!("{path}/size"), sectors);
            let links = self.0.path().join("dev/block");
            std::fs::create_dir_all(&links).unwrap();
            symlink(Path::new("../../devices").join(path), links.join(number)).unwrap();
        }

        fn slave(&self, path: &str, below: &str) {
            let root = self.0.path().join("devices");
            let slaves = root.join(path).join("slaves");
            std::fs::create_dir_all(&slaves).unwrap();
            let name = Path::new(below).file_name().unwrap();
            symlink(root.join(below), slaves.join(name)).unwrap();
        }

        fn facts(&self, number: (u32, u32)) -> DeviceFacts {
            BlockDevice::numbered(self.0.path(), number).unwrap().facts
        }
    }

    fn mounted(line: &str) -> Mount {
        super::super::mount::parse(line.as_bytes()).pop().unwrap()
    }

    #[test]
    fn a_partition_has_its_own_size_and_counters_and_its_disks_queue() {
        let sys = Sysfs::new();
        let mount = mounted("1 0 8:1 / / rw - ext4 /dev/sda1 rw");
        let device = BlockDevice::under_in(sys.0.path(), &mount).unwrap();
        let expected = DeviceFacts {
            name: "sda1".into(),
            model: Some("ACME Disk 9".into()),
            rotational: Some(true),
            scheduler: Some("bfq".into()),
            write_cache: Some("write back".into()),
            sector_bytes: Some(4096),
            total_bytes: Some(1000 * 512),
            loop_direct_io: None,
            physical_sector_bytes: None,
            discards: None,
            requests_max: Some(256),
            read_ahead_bytes: Some(128 << 10),
            beneath: vec!["sda1".into(), "sda".into()],
            stack: vec![sys.facts((8, 0))],
        };
        assert_eq!(device.facts, expected);
        assert_eq!(sys.facts((253, 0)).beneath, ["dm-0", "sda1", "sda"]);
        assert_eq!(sys.facts((9, 0)).beneath, ["md/0", "sda1", "sda", "loop3"]);
        assert_eq!(device.counters().unwrap().read_bytes, 4096);
    }

    #[test]
    fn a_loop_device_says_whether_it_goes_around_the_cache() {
        let facts = Sysfs::new().facts((7, 3));
        assert_eq!((facts.loop_direct_io, facts.model), (Some(false), None));
        let through = |number| {
            let sys = Sysfs::new();
            BlockDevice::numbered(sys.0.path(), number).unwrap().reads_through_cache()
        };
        assert!(through((7, 3)) && through((9, 0)), "a loop device, and an array with one");
        assert!(!through((8, 0)) && !through((8, 1)) && !through((253, 0)));
        assert_eq!(facts.scheduler.as_deref(), Some("none"));
    }

    #[test]
    fn a_volume_bears_the_model_of_the_one_disk_below_it_and_an_array_none() {
        let sys = Sysfs::new();
        assert_eq!(sys.facts((253, 0)).model.as_deref(), Some("ACME Disk 9"));
        assert_eq!(sys.facts((9, 0)).model, None);
        assert_eq!(sys.facts((9, 0)).name, "md/0");
    }

    #[test]
    fn file_systems_without_a_device_have_none_whatever_their_source_says() {
        let sys = Sysfs::new();
        for line in [
            "1 0 0:28 / / rw - tmpfs tmpfs rw",
            "1 0 0:29 / / rw - tmpfs /dev/sda1 rw",
            "1 0 0:30 / / rw - overlay overlay rw",
            "1 0 0:31 / / rw - nfs4 host:/export rw",
            "1 0 0:32 / / rw - btrfs /dev/null rw",
            "1 0 0:32 / / rw - btrfs /no/such/device rw",
            "1 0 99:1 / / rw - ext4 /dev/gone rw",
        ] {
            assert_eq!(BlockDevice::under_in(sys.0.path(), &mounted(line)), None, "{line}");
        }
    }

    #[test]
    fn a_btrfs_of_two_devices_is_seen_as_such() {
        let sys = Sysfs::new();
        let devices = sys.0.path().join("fs/btrfs/1234-abcd/devices");
        std::fs::create_dir_all(devices.join("sda1")).unwrap();
        assert!(!shared_by_btrfs(sys.0.path(), "sda1"));
        std::fs::create_dir_all(devices.join("loop3")).unwrap();
        assert!(shared_by_btrfs(sys.0.path(), "sda1"));
        assert!(!shared_by_btrfs(sys.0.path(), "sda2"));
    }
}
