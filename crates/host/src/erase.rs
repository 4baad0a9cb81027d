//! Decides whether a block device may be erased: only one that is named twice and holds nothing.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FileType, FlockOperation, Mode, OFlags};

use boatload_base::errno::Errno;
use boatload_base::failure::{Failure, Result, shown};
use boatload_base::files::{names_in, paths_in, read_text};
use boatload_base::shell::as_root;

use super::block;
use super::block_device::given_to_container;
use super::ioctl;
use super::mounts::{Mount, all_mounts, is_unused, source_path};
use super::signatures::{described, signatures};
use super::sysfs::{DeviceNumber, block_device_at, device_link, device_number, first_line};

/// Between two looks at who has the device open.
const PAUSE: Duration = Duration::from_millis(200);

/// A device that may be erased. As long as it is held no other program that asks for its lock, as
/// boatload and udev do, takes it, and no other disk can get its number.
#[derive(Debug)]
pub struct Erasable {
    /// Its node, as the user named it.
    pub path: PathBuf,
    /// Major and minor number.
    pub number: (u32, u32),
    /// Its size.
    pub total_bytes: u64,
    /// Open and locked; the second is the disk that it is a partition of.
    held: (OwnedFd, Option<OwnedFd>),
    /// The kernel's count of media that were put in (Linux 5.15); none before.
    media: Option<String>,
}

/// Whether both names are the same words: the user's word that the device may be erased.
///
/// # Errors
/// If they are not.
pub fn check_named_twice(device: &Path, named_again: &Path) -> Result<()> {
    if device != named_again {
        return Err(Failure::usage(format!(
            "the device is {}, but {} is to be erased: name the same device in the same words twice",
            shown(device),
            shown(named_again)
        )));
    }
    Ok(())
}

/// Whether this device, which is named a second time as the one to be erased, holds nothing and is
/// used by nothing. Only looks; never writes.
///
/// # Errors
/// One sentence on the first thing that speaks against it.
pub fn check_erasable(device: &Path, named_again: &Path) -> Result<Erasable> {
    check_named_twice(device, named_again)?;
    let number = number_of(device)?;
    if number_of(named_again)? != number {
        return Err(changed(device));
    }
    let directory = directory_of(device, number)?;
    // udev keeps out of a partition only if the whole disk is locked.
    let disk = disk_of(&directory).map(|disk| disk.node).filter(|node| node.exists());
    let held = (locked(device)?, disk.as_deref().map(locked).transpose()?);
    let (total_bytes, media) = (writable_bytes(device)?, media(number));
    let erasable = Erasable { path: device.into(), number, total_bytes, held, media };
    recheck_empty(&erasable)?;
    Ok(erasable)
}

/// Whether still nothing uses it and nothing is on it, to be asked before it is written at first.
///
/// # Errors
/// One sentence on the first thing that speaks against it.
pub fn recheck_empty(erasable: &Erasable) -> Result<()> {
    recheck(erasable)?;
    refuse_users(&erasable.path, erasable.number, &directory_of(&erasable.path, erasable.number)?)?;
    refuse_marks(erasable)
}

impl Erasable {
    /// The device, open for writing and for this process alone, which no mount is beside.
    ///
    /// # Errors
    /// If it is in use, or another device by now.
    pub fn open_alone(&self) -> Result<OwnedFd> {
        recheck(self)?;
        let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let failed = |error: rustix::io::Errno| match error {
            rustix::io::Errno::BUSY => Failure::failed(format!(
                "{} is in use now: nothing more is written to it",
                shown(&self.path)
            )),
            error => unopened(&self.path, error.into()),
        };
        let open = rustix::fs::open(&self.path, flags, Mode::empty()).map_err(failed)?;
        let number_of = |fd: &OwnedFd| rustix::fs::fstat(fd).map(|stat| stat.st_rdev).ok();
        if number_of(&open) == number_of(&self.held.0) {
            Ok(open)
        } else {
            Err(changed(&self.path))
        }
    }
}

/// Its node, open, with the lock by which programs that write to whole devices keep out of each
/// other's way (systemd.io, "Locking block device access").
fn locked(device: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = rustix::fs::open(device, flags, Mode::empty())
        .map_err(|error| unopened(device, error.into()))?;
    match rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Failure::failed(format!(
            "{} is locked by another program, which may be another boatload",
            shown(device)
        ))),
        // Without locks the other checks have to do.
        Ok(()) | Err(_) => Ok(open),
    }
}

fn media(number: DeviceNumber) -> Option<String> {
    first_line(&device_link(Path::new("/sys"), number).join("diskseq"))
}

fn directory_of(device: &Path, number: DeviceNumber) -> Result<PathBuf> {
    let directory = device_link(Path::new("/sys"), number);
    let failed = |error| Failure::from_system(format!("look up {} in /sys", shown(device)), error);
    directory.canonicalize().map_err(failed)
}

/// Whether its node still belongs to the device that was checked, to be asked before every mkfs.
///
/// # Errors
/// If it is another one now, or gone.
pub fn recheck(erasable: &Erasable) -> Result<()> {
    let same = number_of(&erasable.path)? == erasable.number
        && media(erasable.number) == erasable.media
        && writable_bytes(&erasable.path)? == erasable.total_bytes;
    if same { Ok(()) } else { Err(changed(&erasable.path)) }
}

fn changed(device: &Path) -> Failure {
    Failure::failed(format!(
        "{} is not the device it was at first; nothing was written to this one",
        shown(device)
    ))
}

fn number_of(device: &Path) -> Result<DeviceNumber> {
    let stat = rustix::fs::stat(device).map_err(|error| {
        let about = Errno::from(error).about();
        Failure::failed(format!("cannot look at {}: {about}. `lsblk` lists devices", shown(device)))
    })?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
        return Ok(device_number(stat.st_rdev));
    }
    Err(Failure::usage(format!(
        "{} is not a block device. For a directory, name it with --dir; images are made there",
        shown(device)
    )))
}

fn unopened(device: &Path, error: Errno) -> Failure {
    let hint = match error {
        Errno::EACCES => format!(". That takes root: {}", as_root()),
        Errno::EPERM => {
            format!(". A container's rules for devices forbid it. {}", given_to_container(device))
        }
        _ => String::new(),
    };
    Failure::failed(format!("cannot open {}: {}{hint}", shown(device), error.about()))
}

/// Its size, if it has one and can be written.
fn writable_bytes(device: &Path) -> Result<u64> {
    let shown_device = shown(device);
    let failed = |error| unopened(device, error);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = rustix::fs::open(device, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
    if ioctl::is_read_only(open.as_fd()).map_err(failed)? {
        return Err(Failure::failed(format!("{shown_device} is read-only")));
    }
    match ioctl::size_bytes(open.as_fd()).map_err(failed)? {
        0 => Err(Failure::failed(format!("{shown_device} has no room: nothing is attached to it"))),
        bytes => Ok(bytes),
    }
}

/// Refuses a device that anything uses, the most telling reason first.
fn refuse_users(device: &Path, number: DeviceNumber, directory: &Path) -> Result<()> {
    let used = |how: String| Failure::failed(format!("{} {how}", shown(device)));
    let partitions = partitions(directory);
    if let Some(point) = mount_point(number, &partitions) {
        return Err(used(format!(
            "is mounted at {}: unmount it first, if it may be erased",
            shown(point)
        )));
    }
    if is_swap(number, &partitions) {
        return Err(used("is swap space in use: `swapoff` it first, if it may be erased".into()));
    }
    if let Some(holder) = holder(directory) {
        return Err(used(format!("is a part of {}, which is in use", shown(holder))));
    }
    if !partitions.is_empty() {
        let count = partitions.len();
        let some = if count == 1 { "a partition".into() } else { format!("{count} partitions") };
        return Err(used(format!(
            "has {some}: name one that is empty, or remove them first with `wipefs -a {}`, if all of \
             the disk may be erased",
            shown(device)
        )));
    }
    if let Some(above) = loop_device_on(number) {
        return Err(used(format!("is what the loop device {} shows", shown(above))));
    }
    if let Some(process) = opener(number) {
        return Err(used(format!("is open in another process ({process})")));
    }
    if let Some(Disk { number, node }) = disk_of(directory) {
        let node = shown(node);
        if let Some(above) = loop_device_on(number) {
            return Err(used(format!("is a part of {node}, which {} shows", shown(above))));
        }
        if let Some(process) = opener(number) {
            return Err(used(format!(
                "is a part of {node}, which is open in another process ({process})"
            )));
        }
    }
    match is_unused(device) {
        Ok(true) => Ok(()),
        Ok(false) => {
            Err(used("is in use: another program or the kernel holds it exclusively".into()))
        }
        Err(error) => Err(unopened(device, error)),
    }
}

/// The disk that a partition is on.
struct Disk {
    number: DeviceNumber,
    node: PathBuf,
}

/// None of what is no partition.
fn disk_of(directory: &Path) -> Option<Disk> {
    let above = directory.parent().filter(|_| directory.join("partition").exists())?;
    let number = number_of_directory(above)?;
    let name = above.file_name()?.to_string_lossy().replace('!', "/");
    Some(Disk { number, node: Path::new("/dev").join(name) })
}

/// Refuses a device on which anything is recognised, or that cannot be read where that would be.
fn refuse_marks(Erasable { path: device, total_bytes, .. }: &Erasable) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = rustix::fs::open(device, flags, Mode::empty()).map_err(std::io::Error::from);
    let read = open.and_then(|open| block::read_signature_places(&open.into(), *total_bytes));
    read.map_err(|error| {
        let what = format!("read {} where marks of what is on it may be", shown(device));
        Failure::from_system(what, error)
    })?;
    match signatures(device)?.as_slice() {
        [] => Ok(()),
        found => Err(Failure::failed(format!(
            "{} has {}: only a device without anything on it is erased. If it may go, remove it \
             first: `wipefs -a {0}`",
            shown(device),
            described(found)
        ))),
    }
}

/// The numbers of a disk's partitions.
fn partitions(directory: &Path) -> Vec<DeviceNumber> {
    let inside = paths_in(directory).into_iter();
    let parts = inside.filter(|path| path.join("partition").exists());
    parts.filter_map(|part| number_of_directory(&part)).collect()
}

/// What its file `dev` says: `8:17`.
fn number_of_directory(directory: &Path) -> Option<DeviceNumber> {
    let text = first_line(&directory.join("dev"))?;
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Where the device or one of its partitions is mounted. btrfs has made-up numbers, so what it says
/// it was mounted from is checked too.
fn mount_point(number: DeviceNumber, partitions: &[DeviceNumber]) -> Option<PathBuf> {
    let ours = |other: DeviceNumber| other == number || partitions.contains(&other);
    let mounted = |mount: &Mount| {
        ours(mount.device) || source_path(&mount.source).and_then(block_device_at).is_some_and(ours)
    };
    all_mounts().into_iter().find(mounted).map(|mount| mount.mount_point)
}

fn is_swap(number: DeviceNumber, partitions: &[DeviceNumber]) -> bool {
    let text = read_text("/proc/swaps").unwrap_or_default();
    let mut numbers = swap_paths(&text).into_iter().filter_map(|path| block_device_at(&path));
    numbers.any(|other| other == number || partitions.contains(&other))
}

/// The first word of each line after the head.
pub(super) fn swap_paths(text: &str) -> Vec<PathBuf> {
    let lines = text.lines().skip(1);
    lines.filter_map(|line| line.split_whitespace().next()).map(PathBuf::from).collect()
}

/// An array, a volume or a cache that stands on it.
fn holder(directory: &Path) -> Option<std::ffi::OsString> {
    names_in(directory.join("holders")).ok()?.into_iter().next()
}

/// A loop device whose file is this device; the kernel does not count it as a holder.
fn loop_device_on(number: DeviceNumber) -> Option<std::ffi::OsString> {
    const DEVICES: &str = "/sys/block";
    let shows = |device: &std::ffi::OsString| {
        let file = read_text(Path::new(DEVICES).join(device).join("loop/backing_file"));
        file.is_ok_and(|file| {
            block_device_at(Path::new(file.trim_end_matches('\n'))) == Some(number)
        })
    };
    names_in(DEVICES).ok()?.into_iter().find(shows)
}

/// Another process that has the device open, which need not keep others out: a virtual machine, a
/// copy. One that only looks, as scanners do, is gone at the second sight.
fn opener(number: DeviceNumber) -> Option<u32> {
    let first = openers(number);
    if first.is_empty() {
        return None;
    }
    boatload_base::patience::pause(PAUSE);
    openers(number).into_iter().find(|process| first.contains(process))
}

fn openers(number: DeviceNumber) -> Vec<u32> {
    let all = names_in("/proc").unwrap_or_default().into_iter();
    let processes = all.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    processes.filter(|id| *id != std::process::id() && has_open(*id, number)).collect()
}

fn has_open(process: u32, number: DeviceNumber) -> bool {
    let files = paths_in(format!("/proc/{process}/fd")).into_iter();
    // Only paths in /dev are resolved: a path on a server that is gone would make it wait. The
    // link names what is open, which may have another path here than there.
    let mut devices = files
        .filter(|link| std::fs::read_link(link).is_ok_and(|target| target.starts_with("/dev")));
    devices.any(|link| block_device_at(&link) == Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_named_in_two_ways_is_refused_before_anything_is_opened() {
        let said = check_erasable("/dev/a".as_ref(), "/dev/b".as_ref()).expect_err("refused");
        assert_eq!(said.exit, boatload_base::failure::Exit::Usage);
        assert!(said.sentence.contains("/dev/a, but /dev/b"), "{said}");
    }

    #[test]
    fn files_of_swap_are_the_first_words_after_the_head() {
        let text =
            "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n/swap file 1 0 -3\n";
        assert_eq!(swap_paths(text), [Path::new("/dev/sda2"), Path::new("/swap")]);
        assert!(swap_paths("").is_empty());
    }

    #[test]
    fn partitions_are_the_children_that_say_so() {
        let disk = tempfile::tempdir().unwrap();
        for (name, file) in [("sdb1", "partition"), ("queue", "scheduler")] {
            std::fs::create_dir(disk.path().join(name)).unwrap();
            std::fs::write(disk.path().join(name).join(file), "1\n").unwrap();
            std::fs::write(disk.path().join(name).join("dev"), "8:17\n").unwrap();
        }
        assert_eq!(partitions(disk.path()), [(8, 17)]);
        std::fs::write(disk.path().join("sdb1/dev"), "x:1\n").unwrap();
        assert_eq!(partitions(disk.path()), []);
    }
}
