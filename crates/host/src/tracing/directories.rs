//! Finds the paths of directories that the kernel knows by name and number.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::TEXT_BYTES_MAX;
use super::output::{CallSum, MapRow, MapValue};
use crate::mounts::{self, MOUNTS, Mount};
use boatload_base::files::read_bytes;

/// Directories above one, at most.
const LEVELS_MAX: usize = 64;
/// The kernel's number of a device has so many bits for its minor number.
const MINOR_BITS: u32 = 20;

/// A directory in which calls named files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryKey {
    /// Its inode, or the number of a path's text.
    pub number: u64,
    /// Its file system, as the kernel numbers devices; 0 of a path's text.
    pub device: u64,
    /// Whether it is the number of a path's text.
    pub is_path: bool,
}

/// Calls of one operation on files of one directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryCalls {
    /// Which directory.
    pub directory: DirectoryKey,
    /// The number of the operation.
    pub operation: u64,
    /// How many, and their time.
    pub sum: CallSum,
}

/// Bits of the second part of a key for the operation; the next one says whether the number is of a path's text.
const OPERATION_BITS: u32 = 5;

impl DirectoryCalls {
    pub(super) fn of_row(row: &MapRow) -> Option<Self> {
        let [number, cell] = row.key;
        let is_path = cell & (1 << OPERATION_BITS) != 0;
        Some(Self {
            directory: DirectoryKey { number, device: cell >> (OPERATION_BITS + 1), is_path },
            operation: cell & ((1 << OPERATION_BITS) - 1),
            sum: row.calls()?,
        })
    }
}

/// What the script kept of the directories in which calls named files.
#[derive(Debug, Default)]
pub struct DirectoryNames {
    parents: BTreeMap<DirectoryKey, u64>,
    names: BTreeMap<DirectoryKey, Vec<u8>>,
    paths: BTreeMap<u64, Vec<u8>>,
    bases: BTreeMap<u64, u64>,
    devices: BTreeMap<u64, u64>,
    mounts: Vec<Mount>,
}

impl DirectoryNames {
    /// Takes in a map that the script printed.
    pub(super) fn take(&mut self, map: &str, rows: Vec<MapRow>) {
        for MapRow { key: [first, device], value } in rows {
            let inode = DirectoryKey { number: first, device, is_path: false };
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

    /// The path of a directory, or the one that it had; `None` where its name is not known, or too long.
    pub fn find(&self, directory: DirectoryKey) -> Option<PathBuf> {
        if !directory.is_path {
            return self.of_inode(directory);
        }
        let number = directory.number;
        let text = self.paths.get(&number).filter(|text| text.len() + 1 < TEXT_BYTES_MAX)?;
        let end = text.iter().rposition(|byte| *byte == b'/')?;
        let directory = Path::new(OsStr::from_bytes(&text[..=end]));
        let path = match (directory.is_absolute(), self.bases.get(&number)) {
            (true, _) => directory.to_path_buf(),
            (false, None) => return None,
            (false, Some(base)) => {
                let device = *self.devices.get(&number)?;
                let base = DirectoryKey { number: *base, device, is_path: false };
                self.of_inode(base)?.join(directory)
            }
        };
        // What is gone keeps the path that it had, without the slash at its end.
        Some(path.canonicalize().unwrap_or_else(|_| path.components().collect()))
    }

    fn of_inode(&self, inode: DirectoryKey) -> Option<PathBuf> {
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
        paths.iter().find(is_it).or(paths.first()).cloned()
    }

    /// The path from the root of its file system on.
    fn within_file_system(&self, inode: DirectoryKey) -> Option<PathBuf> {
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
