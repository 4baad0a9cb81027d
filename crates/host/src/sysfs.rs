//! Reads the small files of `/proc` and `/sys`, and the numbers of devices.

use std::path::{Path, PathBuf};

use rustix::fs::{Dev, FileType};

use boatload_base::files::read_text;

/// Major and minor number of a device.
pub(super) type DeviceNumber = (u32, u32);

/// The number of a device as stat(2) has it.
pub(super) fn device_number(device: Dev) -> DeviceNumber {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// The number of the block device at a path; `None` if there is none.
pub(super) fn block_device_at(path: &Path) -> Option<DeviceNumber> {
    let stat = rustix::fs::stat(path).ok()?;
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    is_block.then(|| device_number(stat.st_rdev))
}

/// The link to a block device's directory, below a sysfs.
pub(super) fn device_link(sys: &Path, number: DeviceNumber) -> PathBuf {
    sys.join(format!("dev/block/{}:{}", number.0, number.1))
}

/// The first line of a file without the blanks around it; `None` if it is empty or not text.
pub(super) fn first_line(path: &Path) -> Option<String> {
    let text = read_text(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_string())
}

/// The number that a file holds.
pub(super) fn number_in(path: &Path) -> Option<u64> {
    first_line(path)?.parse().ok()
}

/// The number after a key, in a text with a key and a value on each line.
pub(super) fn number_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
}

/// What a text has in brackets: the choice among those that could be.
pub(super) fn bracketed(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_string())
}
