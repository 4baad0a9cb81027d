//! A block device opened for reading, through its node in `/dev`.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

use super::device::BlockDevice;
use super::mount::Mount;
use crate::base::errno::Errno;
use crate::base::failure::{Failure, Result, shown};

/// The block device under a mount, to be read; users know the place as `directory`.
///
/// # Errors
/// If there is none, or several.
pub fn device_to_read(mount: &Mount, directory: &Path) -> Result<BlockDevice> {
    BlockDevice::under(mount).ok_or_else(|| {
        let why = match mount.kind.as_str() {
            "btrfs" => "lies on several devices, or on one that cannot be told",
            "tmpfs" | "ramfs" => "lives in memory",
            _ => "has none of its own that the kernel shows",
        };
        Failure::failed(format!(
            "there is no block device to read under {}: its file system, {}, {why}. Name a directory \
             on a disk with --dir",
            shown(directory),
            shown(&mount.kind),
        ))
    })
}

impl BlockDevice {
    /// Opens the device for reading only; with `direct`, around the page cache.
    ///
    /// # Errors
    /// If this process may not, or no node in `/dev` is that of the device.
    pub fn open(&self, direct: bool) -> Result<OwnedFd> {
        self.open_below(Path::new("/dev"), direct)
    }

    /// The same with another `/dev`.
    ///
    /// # Errors
    /// As [`BlockDevice::open`].
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
                "there is no node in {} for the device {} ({major}:{minor}): a container without its \
                 devices, or devtmpfs not mounted. Run outside of it, or make the node there",
                shown(dev),
                shown(&self.facts.name),
            )),
        })
    }

    /// None if what was opened is another device: a name proves nothing.
    fn open_node(&self, node: &Path, direct: bool) -> std::result::Result<Option<OwnedFd>, Errno> {
        // Nothing else is opened: a pipe of that name would make open(2) wait.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let flags = if direct { flags | OFlags::DIRECT } else { flags };
        let is_it = |stat: &rustix::fs::Stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
                && (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev)) == self.number
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
            ". That takes root, or a member of the group that owns the node, mostly `disk`"
        }
        // Modes of files give EACCES; this is said even to root.
        Errno::EPERM => ". A container's rules for devices forbid it: run outside of the container",
        Errno::EINVAL => ". The device does not do direct I/O: leave `direct` away",
        _ => "",
    };
    Failure { exit, sentence: sentence + hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::facts::DeviceFacts;

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
        let line = "1 0 0:28 / / rw - tmpfs tmpfs rw";
        let mount = super::super::mount::parse(line.as_bytes()).pop().unwrap();
        let said = device_to_read(&mount, Path::new("/x")).expect_err("none").sentence;
        assert!(said.contains("under /x") && said.contains("tmpfs, lives in memory"), "{said}");
    }
}
