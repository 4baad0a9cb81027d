//! Identifies the directory and the device of a run, to notice when the same names stand for others later.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, StatxFlags, fstat, fstatvfs, statx};
use serde::{Deserialize, Serialize};

use super::run_directory::{makes_inode_numbers_up, open_parent};
use boatload_base::failure::{Failure, Result, shown};
use boatload_host::block_device::identity_of;
use boatload_plan::filesystem::Volume;

/// Words that other places do not have; not to be read, only to be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLocation {
    /// The file system of the directory, its inode and its birth, as far as they are known.
    directory: String,
    /// The device that is erased; none without one.
    device: Option<String>,
}

impl RunLocation {
    /// The identity of a directory and of where file systems are made.
    ///
    /// # Errors
    /// If the directory cannot be unreadable at.
    pub fn of(directory: &Path, volume: &Volume) -> Result<Self> {
        let open = open_parent(directory)?;
        let doing = format!("look at {} (fstat, fstatfs)", shown(directory));
        let unreadable = |error| Failure::from_system(&doing, error);
        let filesystem = fstatvfs(&open).map_err(unreadable)?.f_fsid;
        let inode = match makes_inode_numbers_up(open.as_fd()).map_err(unreadable)? {
            true => 0,
            false => fstat(&open).map_err(unreadable)?.st_ino,
        };
        // Old kernels lack statx, and some filters of system calls refuse it.
        let found = statx(&open, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok();
        let found = found.filter(|found| found.stx_mask & StatxFlags::BTIME.bits() != 0);
        let birth = found.map(|found| (found.stx_btime.tv_sec, found.stx_btime.tv_nsec));
        let device = match volume {
            Volume::Device { path, .. } => Some(identity_of(path)?),
            _ => None,
        };
        Ok(Self { directory: format!("{filesystem:x} {inode} {birth:?}"), device })
    }

    /// In what another place differs, one text for each.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let directory = (self.directory != other.directory).then_some(
            "directory: it is on another file system, or another directory than when it began",
        );
        let device = (self.device != other.device)
            .then_some("device: it is another one, or has another size than when it began");
        directory.into_iter().chain(device).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_the_same_by_another_name_and_another_behind_its_name_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let identity = |path: &Path| RunLocation::of(path, &Volume::default()).unwrap();
        std::fs::create_dir(&one).unwrap();
        let before = identity(&one);
        std::fs::write(one.join("file"), "x").unwrap();
        std::fs::rename(&one, &other).unwrap();
        std::fs::create_dir(&one).unwrap();
        assert_eq!(before.differences(&identity(&other)), Vec::<&str>::new());
        assert_eq!(before.differences(&identity(&one)).len(), 1);
    }
}
