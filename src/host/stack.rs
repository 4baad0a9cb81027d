//! What devices stand on: a partition on its disk, a volume on its members, a loop device on what its
//! file lies on.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Devices may be stacked, a volume on an array on a disk; deeper than this is not looked.
pub(super) const DEEPEST_STACK: u32 = 8;

/// What a device stands on: its members, or what a loop device's file lies on.
pub(super) fn beneath(sys: &Path, directory: &Path) -> Vec<PathBuf> {
    let slaves = std::fs::read_dir(directory.join("slaves")).into_iter().flatten().flatten();
    let mut found: Vec<_> = slaves.filter_map(|slave| slave.path().canonicalize().ok()).collect();
    let file = std::fs::read_to_string(directory.join("loop/backing_file")).unwrap_or_default();
    if let Ok(data) = std::fs::metadata(file.trim_end_matches('\n')) {
        let block = data.file_type().is_block_device();
        let number = if block { data.rdev() } else { data.dev() };
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        found.extend(sys.join(format!("dev/block/{major}:{minor}")).canonicalize().ok());
    }
    found.sort();
    found
}

/// A partition's directory lies inside that of its disk.
pub(super) fn disk_of(directory: &Path) -> PathBuf {
    match directory.parent() {
        Some(disk) if directory.join("partition").exists() => disk.to_path_buf(),
        _ => directory.to_path_buf(),
    }
}

/// What a device stands on, its disk if it is a partition.
pub(super) fn below(sys: &Path, directory: &Path) -> Vec<PathBuf> {
    let disk = disk_of(directory);
    if disk == directory { beneath(sys, directory) } else { vec![disk] }
}
