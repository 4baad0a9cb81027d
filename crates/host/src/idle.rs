//! Waits until a device is idle: what mkfs and deleting leave to be done would be timed with the next
//! phase.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::block_device::{BlockDevice, DEEPEST_STACK, beneath};
use crate::sysfs::number_after;
use boatload_base::files::read_text;

/// A system at rest writes a page of a log now and then; a file system's own work is far more.
const WRITEBACK_PAGES_MAX: u64 = 16;

/// Requests in flight on a device, and dirty memory that the kernel is writing to any device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unrest {
    /// Requests that the device, or one beneath it, was given and has not answered.
    pub requests: u64,
    /// Pages of the whole machine that are still to be written.
    pub dirty: u64,
    /// Pages of the whole machine that are being written just now.
    pub writeback: u64,
    /// With as many dirty pages the kernel begins to write them, whatever their age.
    pub dirty_background: u64,
}

impl Unrest {
    /// Whether it is so little that it disturbs no measurement. What an earlier phase left dirty
    /// belongs to the job, unless there is so much of it that the kernel writes it unasked.
    pub fn is_idle(&self) -> bool {
        let is_little = self.writeback <= WRITEBACK_PAGES_MAX && self.dirty < self.dirty_background;
        self.requests == 0 && is_little
    }
}

/// What is under way now. `None` where the kernel does not show it.
pub fn look(device: &BlockDevice) -> Option<Unrest> {
    let requests = requests(Path::new("/sys"), &device.directory, 0)?;
    unrest(requests, &read_text("/proc/vmstat").ok()?)
}

/// Requests in flight on a device and on the devices beneath it; one request may be counted at several of them.
fn requests(sys: &Path, directory: &Path, depth: u32) -> Option<u64> {
    let own = in_flight(&read_text(directory.join("inflight")).ok()?)?;
    if depth == DEEPEST_STACK {
        return Some(own);
    }
    let below = beneath(sys, directory);
    let mut below = below.iter().map(|below| requests(sys, below, depth + 1));
    below.try_fold(own, |sum, below| Some(sum.saturating_add(below?)))
}

/// Two numbers: reads and writes.
pub(super) fn in_flight(text: &str) -> Option<u64> {
    let mut numbers = text.split_whitespace().map(|number| number.parse::<u64>().ok());
    Some(numbers.next()??.saturating_add(numbers.next()??))
}

/// With what the text of /proc/vmstat says.
pub(super) fn unrest(requests: u64, text: &str) -> Option<Unrest> {
    Some(Unrest {
        requests,
        dirty: number_after(text, "nr_dirty ")?,
        writeback: number_after(text, "nr_writeback ")?,
        dirty_background: number_after(text, "nr_dirty_background_threshold ")?,
    })
}

/// The pause between two readings.
const PAUSE: Duration = Duration::from_millis(5);

/// The device must be idle this often in a row: between two requests of a busy one lies little.
const LOOKS_IDLE: u32 = 3;

/// Looks at most: a second. What is at work for longer is not what the phase before left.
const LOOKS_MAX: u32 = 200;

/// Waits until the device is idle, but not for ever; whether it is. `None` if nothing tells: a device whose
/// requests are not counted always looks idle.
pub fn wait_until_idle(device: &BlockDevice, stop: &AtomicBool) -> Option<bool> {
    let mut idle = 0;
    for _ in 0..LOOKS_MAX {
        idle = if look(device)?.is_idle() { idle + 1 } else { 0 };
        if idle == LOOKS_IDLE {
            return device.is_counted().then_some(true);
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        boatload_base::patience::pause(PAUSE);
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_tells_what_is_dirty_and_what_is_being_written() {
        let text = "nr_dirty 120\nnr_dirtied 7\nnr_writeback 8\nnr_writeback_temp 9\n\
                    nr_dirty_threshold 90\nnr_dirty_background_threshold 50\n";
        let expected = Unrest { requests: 3, dirty: 120, writeback: 8, dirty_background: 50 };
        assert_eq!(unrest(3, text), Some(expected));
        assert_eq!(unrest(3, "nr_dirty 1\nnr_writeback_temp 9\n"), None);
        assert_eq!(unrest(3, &text.replace("120", "x")), None);
    }

    #[test]
    fn reads_and_writes_in_flight_are_added() {
        assert_eq!(in_flight("       3        4\n"), Some(7));
        for nothing in ["", "3\n", "3 x\n"] {
            assert_eq!(in_flight(nothing), None, "{nothing}");
        }
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
        std::fs::remove_file(disk.join("inflight")).unwrap();
        assert_eq!(
            requests(sys.path(), &volume, 0),
            None,
            "the requests of the disk are not known"
        );
        assert_eq!(requests(sys.path(), &sys.path().join("none"), 0), None);
    }

    #[test]
    fn a_request_or_much_unwritten_data_is_unrest() {
        let rest = Unrest { requests: 0, dirty: 10_000, writeback: 1, dirty_background: 20_000 };
        assert!(rest.is_idle(), "what the job left dirty is its own");
        assert!(!Unrest { requests: 1, ..rest }.is_idle());
        assert!(!Unrest { dirty: 20_000, ..rest }.is_idle());
        assert!(!Unrest { writeback: 1_000, ..rest }.is_idle());
    }
}
