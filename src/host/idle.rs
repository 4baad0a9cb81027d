//! Whether a device has come to rest: what mkfs and deleting leave to be done would be timed with
//! the next phase.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::device::BlockDevice;

/// Devices may be stacked; deeper than this is not looked.
const DEEPEST_STACK: u32 = 8;

/// A system at rest writes a page of a log now and then; a file system's own work is far more.
const WRITEBACK_BYTES_MAX: u64 = 64 << 10;

/// Access times and logs of a system at rest make a few pages dirty at any time; they are written
/// within half a minute and cost next to nothing.
const DIRTY_BYTES_MAX: u64 = 4 << 20;

/// What is still under way on a device, and in memory on its way to any device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unrest {
    /// Requests that the device, or one beneath it, was given and has not answered.
    pub requests: u64,
    /// Bytes in memory that no disk has yet, of the whole machine.
    pub dirty_bytes: u64,
    /// Bytes being written just now, of the whole machine.
    pub writeback_bytes: u64,
}

impl Unrest {
    /// Whether it is so little that it disturbs no measurement.
    pub fn is_idle(&self) -> bool {
        self.requests == 0
            && self.writeback_bytes <= WRITEBACK_BYTES_MAX
            && self.dirty_bytes <= DIRTY_BYTES_MAX
    }
}

/// What is under way now. None where the kernel does not show it.
pub fn look(device: &BlockDevice) -> Option<Unrest> {
    let requests = requests(Path::new("/sys"), &device.directory, 0)?;
    let (dirty_bytes, writeback_bytes) =
        of_memory(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    Some(Unrest { requests, dirty_bytes, writeback_bytes })
}

/// Requests in flight on a device and on those beneath it, some of which stand for the same work.
fn requests(sys: &Path, directory: &Path, depth: u32) -> Option<u64> {
    let own = in_flight(&std::fs::read_to_string(directory.join("inflight")).ok()?)?;
    if depth == DEEPEST_STACK {
        return Some(own);
    }
    let below = beneath(sys, directory);
    let below = below.iter().filter_map(|below| requests(sys, below, depth + 1));
    Some(own.saturating_add(below.fold(0, u64::saturating_add)))
}

/// What a device stands on: its members, or what a loop device's file lies on.
fn beneath(sys: &Path, directory: &Path) -> Vec<PathBuf> {
    let slaves = std::fs::read_dir(directory.join("slaves")).into_iter().flatten().flatten();
    let mut found: Vec<_> = slaves.filter_map(|slave| slave.path().canonicalize().ok()).collect();
    let file = std::fs::read_to_string(directory.join("loop/backing_file")).unwrap_or_default();
    if let Ok(data) = std::fs::metadata(file.trim_end_matches('\n')) {
        let block = data.file_type().is_block_device();
        let number = if block { data.rdev() } else { data.dev() };
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        found.extend(sys.join(format!("dev/block/{major}:{minor}")).canonicalize().ok());
    }
    found
}

/// Two numbers: reads and writes.
fn in_flight(text: &str) -> Option<u64> {
    text.split_whitespace().map(|number| number.parse::<u64>().ok()).sum()
}

/// Dirty bytes and those in write-back.
fn of_memory(text: &str) -> Option<(u64, u64)> {
    let kibibytes = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    let bytes = |key| kibibytes(key).map(|kibibytes| kibibytes.saturating_mul(1024));
    Some((bytes("Dirty")?, bytes("Writeback")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_tells_what_is_dirty_and_what_is_being_written() {
        let text = "MemFree: 1 kB\nDirty:   120 kB\nWriteback:  8 kB\nWritebackTmp:  9 kB\n";
        assert_eq!(of_memory(text), Some((120 << 10, 8 << 10)));
        assert_eq!(of_memory("Dirty: 1 kB\nWritebackTmp: 9 kB\n"), None);
        assert_eq!(of_memory("Dirty: x kB\nWriteback: 9 kB\n"), None);
    }

    #[test]
    fn reads_and_writes_in_flight_are_added() {
        assert_eq!(in_flight("       3        4\n"), Some(7));
        assert_eq!(in_flight("3 x\n"), None);
    }

    #[test]
    fn requests_of_the_devices_beneath_count_too() {
        let sys = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let directory = sys.path().join(name);
            std::fs::create_dir_all(directory.join("slaves")).unwrap();
            std::fs::write(directory.join("inflight"), text).unwrap();
            directory
        };
        let (disk, volume) = (put("sda", "1 2\n"), put("dm-0", "0 0\n"));
        assert_eq!(requests(sys.path(), &volume, 0), Some(0));
        std::os::unix::fs::symlink(&disk, volume.join("slaves/sda")).unwrap();
        assert_eq!(requests(sys.path(), &volume, 0), Some(3));
        assert_eq!(requests(sys.path(), &sys.path().join("none"), 0), None);
    }

    #[test]
    fn a_request_or_much_unwritten_data_is_unrest() {
        let rest = Unrest { requests: 0, dirty_bytes: 1 << 20, writeback_bytes: 4096 };
        assert!(rest.is_idle());
        assert!(!Unrest { requests: 1, ..rest }.is_idle());
        assert!(!Unrest { dirty_bytes: 64 << 20, ..rest }.is_idle());
        assert!(!Unrest { writeback_bytes: 1 << 20, ..rest }.is_idle());
    }
}
