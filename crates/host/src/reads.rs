//! Counts reads that prove a phase cold in addition to the device's own counter: reads of this process, and reads
//! of the disk beneath a loop device's page cache.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::block_device::{BlockDevice, DEEPEST_STACK, below};
use super::mounts::Mount;
use super::sysfs::{device_number, number_after, number_in};
use boatload_base::files::read_text;

/// Bytes that this process has had disks read until now, all its threads together: what it found in
/// memory is not in it, nor what others read (`read_bytes` of proc_pid_io(5)). `None` where the
/// kernel does not count them.
pub fn own_read_bytes() -> Option<u64> {
    number_after(&read_text("/proc/self/io").ok()?, "read_bytes: ")
}

/// What lies beneath a device with respect to this machine's page cache.
#[derive(Clone, Debug, PartialEq)]
pub enum Beneath {
    /// No loop device below it reads its file through the page cache.
    NoCache,
    /// One does, and its file lies on this device.
    Device(Box<BlockDevice>),
    /// One does, and no single disk is known below it: its file lies in memory, or out of sight.
    Unknown,
}

impl Beneath {
    /// What is beneath a device.
    pub fn of(device: &BlockDevice) -> Self {
        Self::of_in(Path::new("/sys"), device, 0)
    }

    fn of_in(sys: &Path, device: &BlockDevice, depth: u32) -> Self {
        if !device.reads_through_cache() {
            return Self::NoCache;
        }
        let file = cached_file(sys, &device.directory, 0);
        let lower = file.filter(|_| depth < DEEPEST_STACK).and_then(|file| device_under(&file));
        match lower {
            None => Self::Unknown,
            Some(lower) => match Self::of_in(sys, &lower, depth + 1) {
                Self::NoCache => Self::Device(Box::new(lower)),
                deeper => deeper,
            },
        }
    }

    /// Bytes that the disk has read until now; none without one.
    pub fn read_bytes(&self) -> Option<u64> {
        match self {
            Self::Device(device) => Some(device.counters()?.read_bytes),
            Self::NoCache | Self::Unknown => None,
        }
    }
}

/// The file of the loop device at the end of a chain of single devices.
fn cached_file(sys: &Path, directory: &Path, depth: u32) -> Option<PathBuf> {
    let loops = directory.join("loop");
    if loops.exists() && number_in(&loops.join("dio")) != Some(1) {
        let text = read_text(loops.join("backing_file")).ok()?;
        return Some(PathBuf::from(text.trim_end_matches('\n')));
    }
    match &below(sys, directory)[..] {
        [only] if depth < DEEPEST_STACK => cached_file(sys, only, depth + 1),
        _ => None,
    }
}

/// The device that a file lies on; or which it is.
fn device_under(file: &Path) -> Option<BlockDevice> {
    let open = rustix::fs::open(file, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&open).ok()?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::BlockDevice {
        return BlockDevice::numbered(Path::new("/sys"), device_number(stat.st_rdev));
    }
    BlockDevice::under(&Mount::of(open.as_fd()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_reads_are_those_of_disks_and_not_of_memory() {
        let text = "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 5\n";
        assert_eq!(number_after(text, "read_bytes: "), Some(4096));
        let huge = format!("read_bytes: {}0\n", u64::MAX);
        for nothing in ["", "rchar: 9\n", "read_bytes: \n", "read_bytes: -1\n", &huge] {
            assert_eq!(number_after(nothing, "read_bytes: "), None, "{nothing}");
        }
    }

    #[test]
    fn a_chain_that_divides_has_no_single_file_beneath() {
        let sys = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| super::super::fixture::put(sys.path(), path, text);
        put("loop1/loop/dio", "0\n");
        put("loop1/loop/backing_file", "/a file\n");
        put("loop2/loop/dio", "1\n");
        std::fs::create_dir_all(sys.path().join("dm-0/slaves")).unwrap();
        let slave = |name: &str| {
            let link = sys.path().join("dm-0/slaves").join(name);
            std::os::unix::fs::symlink(sys.path().join(name), link).unwrap();
        };
        let file = || cached_file(sys.path(), &sys.path().join("dm-0"), 0);
        slave("loop1");
        assert_eq!(file(), Some(PathBuf::from("/a file")));
        slave("loop2");
        assert_eq!(file(), None);
    }
}
