//! Reads facts and counters of a block device from sysfs (Documentation/ABI/stable/sysfs-block of Linux),
//! finds the devices it stands on, and opens its node in `/dev` for reading.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mounts::{Mount, is_in_memory, source_path};
use crate::sysfs::{
    DeviceNumber, block_device_at, bracketed, device_link, device_number, first_line, number_in,
};
use boatload_base::errno::{Errno, ErrnoResult};
use boatload_base::failed_calls::note;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::{paths_in, read_text};
use boatload_base::shell::{as_root, quoted};

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DeviceFacts {
    /// The kernel's name: `vda`, `nvme0n1p2`, `loop3`.
    pub name: String,
    /// The maker's name for it, where the kernel knows one.
    pub model: Option<String>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Whether writes may wait in a volatile cache of the device.
    pub write_cache: Option<String>,
    /// Logical sector size, in bytes.
    pub sector_bytes: Option<u64>,
    /// Its size, in bytes.
    pub total_bytes: Option<u64>,
    /// For a loop device, whether it goes around the cache of the file system below it.
    pub loop_direct_io: Option<bool>,
    /// Physical sector size, in bytes.
    pub physical_sector_bytes: Option<u64>,
    /// Whether it takes word that blocks are not needed any more.
    pub discards: Option<bool>,
    /// Requests that may wait in its queue.
    pub requests_max: Option<u64>,
    /// How far the kernel reads ahead on it, in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Its name, whose counters are reported, and the names of all devices beneath it, from above; empty
    /// if unknown.
    pub beneath: Vec<String>,
    /// The devices directly beneath it, each with its own facts.
    pub stack: Vec<DeviceFacts>,
}

impl DeviceFacts {
    /// What it is known by from start to start: the kernel's name only where no maker's is known.
    pub fn model_or_name(&self) -> &str {
        self.model.as_ref().unwrap_or(&self.name)
    }
}

/// Counters of a device and of the one device beneath it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackedCounters {
    pub(super) own: DeviceCounters,
    pub(super) beneath: DeviceCounters,
}

impl StackedCounters {
    /// What the device beneath moved since an earlier reading, beyond what the one upon it moved; `None` if
    /// a counter went back.
    pub(super) fn beyond(self, earlier: Self) -> Option<DeviceCounters> {
        let (own, beneath) = (self.own.since(earlier.own)?, self.beneath.since(earlier.beneath)?);
        Some(DeviceCounters {
            read_bytes: beneath.read_bytes.saturating_sub(own.read_bytes),
            write_bytes: beneath.write_bytes.saturating_sub(own.write_bytes),
            ..DeviceCounters::default()
        })
    }
}

/// A block device: a disk, a partition, or one made of others.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDevice {
    /// Major and minor number.
    pub number: (u32, u32),
    /// What a reader needs to know of it.
    pub facts: DeviceFacts,
    /// Its own directory in sysfs, not the parent disk's.
    pub(super) directory: PathBuf,
    counting: Counting,
}

/// Whether the kernel counts what a device moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Counting {
    /// If its queue is set to it.
    #[default]
    AsSet,
    /// Its counters stood still while it was written to.
    Never,
    /// They moved although its queue is set not to count: some drivers do not ask.
    Always,
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
        let device = Self::numbered(sys, block_device_at(source_path(&mount.source)?)?)?;
        (devices_of_btrfs(sys, &device.facts.name) < 2).then_some(device)
    }

    /// The device with this major and minor number below a sysfs; `None` if there is no such one.
    pub fn numbered(sys: &Path, number: DeviceNumber) -> Option<Self> {
        let directory = device_link(sys, number).canonicalize().ok()?;
        let facts = facts(sys, &directory, 0)?;
        Some(Self { number, facts, directory, counting: Counting::default() })
    }

    /// The numbers, `MAJOR:MINOR`, of the device, its disk and all devices beneath.
    pub(super) fn numbers(&self) -> Vec<String> {
        let sys = Path::new("/sys");
        let mut stack = vec![self.directory.clone()];
        let mut level = stack.clone();
        for _ in 0..DEEPEST_STACK {
            level = level.iter().flat_map(|upper| below(sys, upper)).collect();
            stack.extend(level.iter().cloned());
        }
        stack.iter().filter_map(|one| first_line(&one.join("dev"))).collect()
    }

    /// Whether a btrfs lies on it.
    pub(super) fn is_of_btrfs(&self) -> bool {
        devices_of_btrfs(Path::new("/sys"), &self.facts.name) > 0
    }

    /// Whether it is, or stands on, a loop device that reads its file through the page cache.
    pub fn reads_through_cache(&self) -> bool {
        reads_through_cache(&disk_of(&self.directory), 0)
    }

    /// A device that is nowhere, for tests.
    #[cfg(any(test, feature = "fixtures"))]
    pub fn made_up(number: (u32, u32), facts: DeviceFacts) -> Self {
        Self { number, facts, directory: PathBuf::new(), counting: Counting::default() }
    }

    /// What it has moved until now, all processes together. A partition counts for itself. `None` if the device
    /// is gone, or the kernel does not count for it.
    pub fn counters(&self) -> Option<DeviceCounters> {
        counters(&self.directory).filter(|_| self.is_counted())
    }

    /// Whether the kernel counts what it moves, as far as that is known.
    pub fn is_counted(&self) -> bool {
        match self.counting {
            Counting::AsSet => is_set_to_count(&self.directory),
            Counting::Never => false,
            Counting::Always => true,
        }
    }

    /// Calls `transfer`, which reads from the device or writes to it and syncs, and finds by it whether the
    /// counters move.
    ///
    /// # Errors
    /// The errors of `transfer`.
    pub fn try_counters<T, E>(
        &mut self,
        transfer: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let moved = || counters(&self.directory).map(|all| (all.read_bytes, all.write_bytes));
        let before = moved();
        let done = transfer()?;
        self.counting = match (before, moved()) {
            (Some(before), Some(after)) if before == after => Counting::Never,
            (Some(_), Some(_)) if !is_set_to_count(&self.directory) => Counting::Always,
            _ => Counting::AsSet,
        };
        Ok(done)
    }

    /// What it has moved until now, and what the one device beneath it has, of a loop device or a
    /// partition. None for others: members of an array move more than what is asked of it.
    pub(super) fn stacked_counters(&self) -> Option<StackedCounters> {
        let stands_alone = disk_of(&self.directory) == self.directory;
        if stands_alone && !self.directory.join("loop/backing_file").exists() {
            return None;
        }
        let [beneath] = &below(Path::new("/sys"), &self.directory)[..] else { return None };
        let beneath = counters(beneath).filter(|_| is_set_to_count(beneath))?;
        Some(StackedCounters { own: self.counters()?, beneath })
    }
}

fn counters(directory: &Path) -> Option<DeviceCounters> {
    DeviceCounters::parse(&read_text(directory.join("stat")).ok()?)
}

/// Whether the queue of a device is set to count its requests; where nothing tells, it is.
fn is_set_to_count(directory: &Path) -> bool {
    flag(&disk_of(directory).join("queue/iostats")) != Some(false)
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
        scheduler: first_line(&queue.join("scheduler")).and_then(|text| chosen(&text)),
        write_cache: first_line(&queue.join("write_cache")),
        sector_bytes: number_in(&queue.join("logical_block_size")),
        total_bytes: number_in(&directory.join("size")).map(|s| s.saturating_mul(SECTOR_BYTES)),
        loop_direct_io: flag(&disk.join("loop/dio")),
        physical_sector_bytes: number_in(&queue.join("physical_block_size")),
        discards: flag(&queue.join("discard_max_bytes")),
        requests_max: number_in(&queue.join("nr_requests")),
        read_ahead_bytes: number_in(&queue.join("read_ahead_kb"))
            .map(|kib| kib.saturating_mul(1024)),
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
    let own = ["device/model", "device/name"].iter().find_map(|file| first_line(&disk.join(file)));
    if own.is_some() || depth == DEEPEST_STACK {
        return own;
    }
    let below = paths_in(disk.join("slaves"));
    let [only] = &below[..] else { return None };
    model(&disk_of(&only.canonicalize().ok()?), depth + 1)
}

fn reads_through_cache(disk: &Path, depth: u32) -> bool {
    // Where the kernel does not tell it does so.
    if disk.join("loop").exists() && flag(&disk.join("loop/dio")) != Some(true) {
        return true;
    }
    let below = paths_in(disk.join("slaves")).into_iter();
    let mut disks = below.filter_map(|slave| Some(disk_of(&slave.canonicalize().ok()?)));
    depth < DEEPEST_STACK && disks.any(|disk| reads_through_cache(&disk, depth + 1))
}

fn flag(path: &Path) -> Option<bool> {
    number_in(path).map(|value| value != 0)
}

/// The scheduler in use, in brackets among those that could be; a lone one may have none.
pub(super) fn chosen(text: &str) -> Option<String> {
    bracketed(text).or_else(|| (!text.contains(' ')).then(|| text.to_string()))
}

/// How many devices the btrfs has that this one belongs to: `/sys/fs/btrfs/UUID/devices/` lists them. 0 without one.
fn devices_of_btrfs(sys: &Path, name: &str) -> usize {
    let all = paths_in(sys.join("fs/btrfs")).into_iter().map(|one| one.join("devices"));
    let own = all.filter(|devices| devices.join(name.replace('/', "!")).exists());
    own.map(|devices| paths_in(devices).len()).max().unwrap_or(0)
}

/// The block device under a mount, to be read; users know the place as `directory`.
///
/// # Errors
/// If there is none, or several.
pub fn device_to_read(mount: &Mount, directory: &Path) -> Result<BlockDevice> {
    BlockDevice::under(mount).ok_or_else(|| {
        let why = match mount.kind.as_str() {
            "btrfs" => "lies on several devices, or on one that cannot be identified",
            kind if is_in_memory(kind) => "lives in memory",
            "overlay" => "has none of its own",
            _ => "has no device that the kernel shows",
        };
        let fix = match mount.kind.as_str() {
            // The root of a container, mostly.
            "overlay" => {
                ". Give a container a directory and the disk below it, and name the directory with --dir: `docker run \
                 -v /srv:/srv --device /dev/sda`"
            }
            _ => ". Name a directory on a disk with --dir",
        };
        Failure::failed(format!(
            "there is no block device to read under {}: its file system, {}, {why}{fix}",
            shown(directory),
            shown(&mount.kind),
        ))
    })
}

impl BlockDevice {
    /// Opens the device for reading only; with `direct`, around the page cache.
    ///
    /// # Errors
    /// If this process may not, or no node in `/dev` has the number of the device.
    pub fn open(&self, direct: bool) -> Result<OwnedFd> {
        self.open_below(Path::new("/dev"), direct)
    }

    /// The same with another `/dev`.
    pub fn open_below(&self, dev: &Path, direct: bool) -> Result<OwnedFd> {
        let (major, minor) = self.number;
        // The kernel's own name first; udev keeps links by number.
        let nodes = [dev.join(&self.facts.name), dev.join(format!("block/{major}:{minor}"))];
        let mut refused: Option<(PathBuf, Errno)> = None;
        for node in nodes {
            match self.open_node(&node, direct) {
                Ok(Some(device)) => return Ok(device),
                Err(errno) if errno != Errno::ENOENT => refused = refused.or(Some((node, errno))),
                Ok(None) | Err(_) => {}
            }
        }
        Err(match refused {
            Some((node, errno)) => refusal(&node, errno),
            None => Failure::failed(format!(
                "there is no node in {} for the device {name} ({major}:{minor}): devtmpfs is not mounted, or a container \
                 was not given it. {}",
                shown(dev),
                given_to_container(&Path::new("/dev").join(&self.facts.name)),
                name = shown(&self.facts.name),
            )),
        })
    }

    /// `None` if what was opened is another device: a name proves nothing.
    fn open_node(&self, node: &Path, direct: bool) -> ErrnoResult<Option<OwnedFd>> {
        // Nothing else is opened: a pipe of that name would make open(2) wait.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let flags = if direct { flags | OFlags::DIRECT } else { flags };
        let is_it = |stat: &rustix::fs::Stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
                && device_number(stat.st_rdev) == self.number
        };
        if !is_it(&rustix::fs::stat(node)?) {
            return Ok(None);
        }
        let device = rustix::fs::open(node, flags, Mode::empty())?;
        Ok(is_it(&rustix::fs::fstat(&device)?).then_some(device))
    }
}

fn refusal(node: &Path, errno: Errno) -> Failure {
    let Failure { exit, sentence } =
        Failure::from_system(format!("open {} for reading", shown(node)), errno.about());
    let hint = match errno {
        Errno::EACCES => {
            format!(". A member of its group may, mostly `disk`, and root: {}", as_root())
        }
        // Modes of files give EACCES; this is said even to root.
        Errno::EPERM => {
            format!(". A container's rules for devices forbid it. {}", given_to_container(node))
        }
        Errno::EINVAL => ". The device does not do direct I/O: leave out `direct`".into(),
        _ => String::new(),
    };
    Failure { exit, sentence: sentence + &hint }
}

/// How a container that lacks a device gets it.
pub(super) fn given_to_container(node: &Path) -> String {
    format!("Start it with the device: `docker run --device {}`, or podman", quoted(&shown(node)))
}

/// Devices may be stacked, a volume on an array on a disk; deeper than this is not looked.
pub(super) const DEEPEST_STACK: u32 = 8;

/// What a device stands on: its members, or what a loop device's file lies on.
pub(super) fn beneath(sys: &Path, directory: &Path) -> Vec<PathBuf> {
    let slaves = paths_in(directory.join("slaves")).into_iter();
    let mut found: Vec<_> = slaves.filter_map(|slave| slave.canonicalize().ok()).collect();
    let file = read_text(directory.join("loop/backing_file")).unwrap_or_default();
    let file = file.trim_end_matches('\n');
    let data = (!file.is_empty()).then(|| rustix::fs::stat(file));
    let data =
        data.and_then(|data| data.inspect_err(|error| note("stat", || file.into(), *error)).ok());
    if let Some(data) = data {
        let is_block = FileType::from_raw_mode(data.st_mode) == FileType::BlockDevice;
        let number = device_number(if is_block { data.st_rdev } else { data.st_dev });
        found.extend(device_link(sys, number).canonicalize().ok());
    }
    found.sort();
    found
}

/// The directory of a partition lies inside the directory of its disk.
pub(super) fn disk_of(directory: &Path) -> PathBuf {
    match directory.parent() {
        Some(disk) if directory.join("partition").exists() => disk.to_path_buf(),
        _ => directory.to_path_buf(),
    }
}

/// Words that the block device at a path has and another one that gets its name has not: those that its maker gave
/// its disk, else its number and the kernel's count of media, which are others after each boot.
///
/// # Errors
/// If there is no block device.
pub fn identity_of(path: &Path) -> Result<String> {
    let found = block_device_at(path).and_then(|at| BlockDevice::numbered(Path::new("/sys"), at));
    let missing = || Failure::failed(format!("{} is no block device", shown(path)));
    let BlockDevice { number, facts, directory, .. } = found.ok_or_else(missing)?;
    let disk = disk_of(&directory);
    let makers = ["wwid", "device/wwid", "serial", "device/serial", "dm/uuid", "md/uuid"];
    let name = makers.iter().find_map(|name| first_line(&disk.join(name))).unwrap_or_else(|| {
        let media = first_line(&disk.join("diskseq")).unwrap_or_default();
        format!("{}:{} {media}", number.0, number.1)
    });
    let start = number_in(&directory.join("start"));
    Ok(format!("{name} {:?} {start:?} {:?}", facts.model, facts.total_bytes))
}

/// What a device stands on, its disk if it is a partition.
pub(super) fn below(sys: &Path, directory: &Path) -> Vec<PathBuf> {
    let disk = disk_of(directory);
    if disk == directory { beneath(sys, directory) } else { vec![disk] }
}

/// The unit of every sector count in sysfs, whatever the device's own sector size: "the standard
/// UNIX 512-byte sectors" of Linux's Documentation/block/stat.rst.
pub const SECTOR_BYTES: u64 = 512;

/// Counters of a block device or partition, from its `stat` file in sysfs. They count since the
/// device appeared, requests of all processes alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Read requests completed, after merging.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests completed, after merging.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Milliseconds in which it had at least one request.
    pub busy_ms: u64,
    /// Milliseconds that its requests took together: over a time, their mean number at one moment.
    pub queue_ms: u64,
}

impl DeviceCounters {
    /// Reads the text of a `stat` file, with fields in the order of Documentation/block/stat.rst; `None` if it
    /// is not eleven or more numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let fields = text.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
        let fields: Vec<u64> = fields.collect::<Option<_>>()?;
        let bytes = |at: usize| fields.get(at)?.checked_mul(SECTOR_BYTES);
        Some(Self {
            reads: *fields.first()?,
            read_bytes: bytes(2)?,
            writes: *fields.get(4)?,
            write_bytes: bytes(6)?,
            busy_ms: *fields.get(9)?,
            queue_ms: *fields.get(10)?,
        })
    }

    /// Time in which it had a request, in seconds. The kernel counts by ticks of some milliseconds, each with a
    /// request in it; what requests took together, counted exactly, is never less than the truth.
    pub fn busy_seconds(self) -> f64 {
        self.busy_ms.min(self.queue_ms) as f64 / 1e3
    }

    /// The sum of what was moved at two times.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            reads: self.reads.saturating_add(other.reads),
            read_bytes: self.read_bytes.saturating_add(other.read_bytes),
            writes: self.writes.saturating_add(other.writes),
            write_bytes: self.write_bytes.saturating_add(other.write_bytes),
            busy_ms: self.busy_ms.saturating_add(other.busy_ms),
            queue_ms: self.queue_ms.saturating_add(other.queue_ms),
        }
    }

    /// What was moved between an earlier reading and this one. `None` if a count went back: it began anew, it
    /// belongs to another device, or it was too large for a kernel of 32 bits.
    pub fn since(self, earlier: Self) -> Option<Self> {
        // The kernel shows these in 32 bits, which last for 50 days.
        let passed = |now: u64, then: u64| u64::from((now as u32).wrapping_sub(then as u32));
        Some(Self {
            reads: self.reads.checked_sub(earlier.reads)?,
            read_bytes: self.read_bytes.checked_sub(earlier.read_bytes)?,
            writes: self.writes.checked_sub(earlier.writes)?,
            write_bytes: self.write_bytes.checked_sub(earlier.write_bytes)?,
            busy_ms: passed(self.busy_ms, earlier.busy_ms),
            queue_ms: passed(self.queue_ms, earlier.queue_ms),
        })
    }
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
        super::super::mounts::parse(line.as_bytes()).pop().unwrap()
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
    fn a_device_whose_queue_counts_nothing_or_whose_counters_stand_still_has_none() {
        let sys = Sysfs::new();
        let stat = |writes: u64| {
            let text = format!("1 0 8 0 {writes} 0 {} 0 0 0 0 0 0 0 0 5 0\n", 8 * writes);
            ["sda/stat", "sda/sda1/stat"]
                .into_iter()
                .for_each(|at| sys.put(&format!("pci0/block/{at}"), &text));
        };
        let set = |iostats: &str| sys.put("pci0/block/sda/queue/iostats", iostats);
        let device = |number| BlockDevice::numbered(sys.0.path(), number).unwrap();
        stat(2);
        let [disk, mut part] = [(8, 0), (8, 1)].map(device);
        assert!(disk.counters().is_some(), "an old kernel has no such setting");
        set("0\n");
        assert_eq!((disk.counters(), part.counters()), (None, None), "the queue of its disk");
        let mut tried = |transfer: &dyn Fn()| {
            let transfer = || {
                transfer();
                Ok::<(), Errno>(())
            };
            part.try_counters(transfer).unwrap();
            part.counters().is_some()
        };
        assert!(tried(&|| stat(3)), "its driver counts whatever the queue says");
        set("1\n");
        assert!(disk.counters().is_some());
        assert!(!tried(&|| ()), "it was written to, and they stood still");
        assert!(tried(&|| stat(4)));
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
        let sys = Sysfs::new();
        sys.put("virtual/block/loop3/loop/dio", "");
        let device = BlockDevice::numbered(sys.0.path(), (7, 3)).unwrap();
        assert!(device.reads_through_cache(), "it does not tell");
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
        assert_eq!(devices_of_btrfs(sys.0.path(), "sda1"), 1);
        std::fs::create_dir_all(devices.join("loop3")).unwrap();
        assert_eq!(devices_of_btrfs(sys.0.path(), "sda1"), 2);
        assert_eq!(devices_of_btrfs(sys.0.path(), "sda2"), 0);
    }
}

#[cfg(test)]
mod node_tests {
    use super::*;

    fn refused(dev: &Path, name: &str) -> String {
        let facts = DeviceFacts { name: name.into(), ..DeviceFacts::default() };
        let device = BlockDevice::made_up((259, 77), facts);
        device.open_below(dev, false).expect_err("there is no such device").sentence
    }

    #[test]
    fn a_node_that_is_missing_or_of_something_else_is_not_opened() {
        let dev = tempfile::tempdir().unwrap();
        std::fs::write(dev.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink("/dev/null", dev.path().join("null")).unwrap();
        for name in ["missing", "file", "null"] {
            let said = refused(dev.path(), name);
            assert!(said.contains("no node in") && said.contains("(259:77)"), "{name}: {said}");
        }
    }

    #[test]
    fn a_place_without_a_device_is_told_by_its_file_system() {
        for (kind, why) in [("tmpfs", "tmpfs, lives in memory"), ("overlay", "--device /dev/sda`")]
        {
            let line = format!("1 0 0:28 / / rw - {kind} {kind} rw");
            let mount = super::super::mounts::parse(line.as_bytes()).pop().unwrap();
            let said = device_to_read(&mount, Path::new("/x")).expect_err("none").sentence;
            assert!(said.contains("under /x") && said.contains(why), "{said}");
        }
    }
}

#[cfg(test)]
mod counters_tests {
    use super::*;

    #[test]
    fn sectors_are_512_bytes_and_fields_stand_where_the_kernel_says() {
        let text = "  100  1  2048  5  200  2  4096  7  0  9  12  3  0  16  1  6  2  77\n";
        let counters = DeviceCounters::parse(text).unwrap();
        assert_eq!((counters.reads, counters.read_bytes), (100, 1 << 20));
        assert_eq!((counters.writes, counters.write_bytes), (200, 2 << 20));
    }

    #[test]
    fn the_line_of_an_old_kernel_is_read_and_a_shorter_one_tells_nothing() {
        let old = DeviceCounters::parse("1 0 8 0 2 0 16 0 0 0 0").unwrap();
        assert_eq!((old.read_bytes, old.write_bytes), (4096, 8192));
        for wrong in ["", "1 2 3", "1 0 8 0 2 0 16 0 0 0", "1 0 8 0 2 0 sixteen 0 0 0 0"] {
            assert_eq!(DeviceCounters::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_count_that_went_back_or_is_too_large_is_unknown() {
        let at = |text: &str| DeviceCounters::parse(text);
        let before = at("9 0 80 0 7 0 160 0 0 4294967290 0").unwrap();
        for back in
            ["8 0 88 0 8 0 168 0 0 1 0", "9 0 72 0 7 0 168 0 0 1 0", "9 0 80 0 7 0 0 0 0 1 0"]
        {
            assert_eq!(at(back).unwrap().since(before), None, "{back}");
        }
        let after = at("9 0 80 0 8 0 168 0 0 4 0").unwrap().since(before).unwrap();
        assert_eq!(
            (after.writes, after.write_bytes, after.busy_ms),
            (1, 4096, 10),
            "32 bits of ms"
        );
        assert_eq!(at(&format!("1 0 {} 0 0 0 0 0 0 0 0", u64::MAX)), None);
    }
}
