//! Finds the paths of directories that the kernel knows by name and number.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::DirEntry;

use super::TEXT_BYTES_MAX;
use super::classes::ClassKey;
use super::output::{MapRow, MapValue};
use crate::mounts::{self, MOUNTS, Mount};
use boatload_base::files::{list, read_bytes};

/// Directories above one, at most.
const LEVELS_MAX: usize = 64;
/// The kernel's number of a device has so many bits for its minor number.
const MINOR_BITS: u32 = 20;
/// Entries of a directory that are counted, at most: ten million are read in some ten seconds.
const ENTRIES_MAX: u64 = 10_000_000;

/// What the script kept of the directories in which calls named files.
#[derive(Debug, Default)]
pub struct DirectoryNames {
    parents: BTreeMap<ClassKey, u64>,
    names: BTreeMap<ClassKey, Vec<u8>>,
    paths: BTreeMap<u64, Vec<u8>>,
    bases: BTreeMap<u64, u64>,
    devices: BTreeMap<u64, u64>,
    mounts: Vec<Mount>,
}

/// A directory with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDirectory {
    /// Its path, or the one that it had.
    pub path: PathBuf,
    /// Whether something is there by that path.
    pub is_there: bool,
}

impl KnownDirectory {
    /// How many entries it has now, without `.` and `..`; `None` where it cannot be read, has too many, or `stop` is set.
    pub fn entries(&self, stop: &AtomicBool) -> Option<u64> {
        let all = list(&self.path).ok().filter(|_| self.is_there)?;
        // Two of them are `.` and `..`.
        let mut all = all.take(ENTRIES_MAX as usize + 3);
        let is_counted =
            |entry: rustix::io::Result<DirEntry>| entry.is_ok() && !stop.load(Ordering::Relaxed);
        let count = all.try_fold(0, |count: u64, entry| is_counted(entry).then_some(count + 1))?;
        Some(count.saturating_sub(2)).filter(|count| *count <= ENTRIES_MAX)
    }
}

impl DirectoryNames {
    /// Takes in a map that the script printed.
    pub(super) fn take(&mut self, map: &str, rows: Vec<MapRow>) {
        for MapRow { key: [first, device, _], value } in rows {
            let inode = ClassKey { number: first, device, is_path: false };
            match (map, value) {
                ("@known", MapValue::Number(parent)) => drop(self.parents.insert(inode, parent)),
                ("@name", MapValue::Text(name)) => drop(self.names.insert(inode, name)),
                ("@path", MapValue::Text(path)) => drop(self.paths.insert(first, path)),
                ("@base", MapValue::Number(base)) => drop(self.bases.insert(first, base)),
                ("@device", MapValue::Number(number)) => drop(self.devices.insert(first, number)),
                _ => {}
            }
        }
    }

    /// With the mounts that this process sees.
    #[must_use]
    pub fn with_mounts(mut self) -> Self {
        self.mounts = mounts::parse(&read_bytes(MOUNTS).unwrap_or_default());
        self
    }

    /// The directory of a class; `None` where its name is not known, or too long.
    pub fn find(&self, class: ClassKey) -> Option<KnownDirectory> {
        if !class.is_path {
            return self.of_inode(class);
        }
        let text = self.paths.get(&class.number).filter(|text| text.len() + 1 < TEXT_BYTES_MAX)?;
        let end = text.iter().rposition(|byte| *byte == b'/')?;
        let directory = Path::new(OsStr::from_bytes(&text[..=end]));
        let path = match (directory.is_absolute(), self.bases.get(&class.number)) {
            (true, _) => directory.to_path_buf(),
            (false, None) => return None,
            (false, Some(base)) => {
                let device = *self.devices.get(&class.number)?;
                let base = ClassKey { number: *base, device, is_path: false };
                self.of_inode(base)?.path.join(directory)
            }
        };
        let found = path.canonicalize();
        let is_there = found.is_ok();
        // What is gone keeps the path that it had, without the slash at its end.
        Some(KnownDirectory {
            path: found.unwrap_or_else(|_| path.components().collect()),
            is_there,
        })
    }

    fn of_inode(&self, inode: ClassKey) -> Option<KnownDirectory> {
        let within = self.within_file_system(inode)?;
        let device = (inode.device >> MINOR_BITS, inode.device & ((1 << MINOR_BITS) - 1));
        let seen = |mount: &&Mount| {
            (u64::from(mount.device.0), u64::from(mount.device.1)) == device
                && within.starts_with(&mount.root)
        };
        let path = |mount: &Mount| {
            let below = within.strip_prefix(&mount.root).unwrap_or(&within);
            mount.mount_point.join(below).components().collect::<PathBuf>()
        };
        let paths: Vec<PathBuf> = self.mounts.iter().filter(seen).map(path).collect();
        let is_it = |path: &&PathBuf| {
            path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.ino() == inode.number)
        };
        if let Some(path) = paths.iter().find(is_it) {
            return Some(KnownDirectory { path: path.clone(), is_there: true });
        }
        let path = paths.into_iter().next()?;
        Some(KnownDirectory { path, is_there: false })
    }

    /// The path from the root of its file system on.
    fn within_file_system(&self, inode: ClassKey) -> Option<PathBuf> {
        let mut names: Vec<&[u8]> = Vec::new();
        let mut at = inode;
        for _ in 0..LEVELS_MAX {
            let parent = *self.parents.get(&at)?;
            if parent == at.number {
                let mut path = PathBuf::from("/");
                names.iter().rev().for_each(|name| path.push(OsStr::from_bytes(name)));
                return Some(path);
            }
            let name = self.names.get(&at).filter(|name| name.len() + 1 < TEXT_BYTES_MAX)?;
            // A name with a slash is none; pushed, it would begin another path.
            if name.is_empty() || name.contains(&b'/') {
                return None;
            }
            names.push(name);
            at.number = parent;
        }
        None
    }
}
