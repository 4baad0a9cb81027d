//! Describes the file systems that boatload makes for the cells of a variant.

mod command;
mod disk;
mod faults;
mod kinds;
mod list;
mod volume;

pub use command::{mkfs_arguments, mount_options, shown_command};
pub use disk::{disk_named, disk_text};
pub use kinds::{FileSystemKind, KINDS, Maker, find_kind};
pub use list::read_list;
pub use volume::{
    FAIR_BYTES, Volume, VolumeSize, check_size, fair_volume_size, is_small, volume_size_at,
    written_at_most,
};

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::disk::DiskModel;
use super::{CellPlan, Plan};
use boatload_base::distinct::each_once;

/// A file system to be made, with options.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileSystem {
    /// What kind it is of.
    pub kind: &'static FileSystemKind,
    /// Words for its mkfs, before the device.
    pub mkfs: Vec<String>,
    /// Mount options, separated by commas; empty for the kernel's defaults.
    pub mount: String,
    /// Whether it is mounted with `noatime` beside these.
    pub noatime: bool,
    /// The modelled disk that it lies on; none on a real one.
    #[serde(serialize_with = "model_text")]
    pub disk: Option<Arc<DiskModel>>,
    /// What it is called; by its kind and options if it has no name of its own.
    pub name: Option<String>,
}

fn model_text<S: Serializer>(disk: &Option<Arc<DiskModel>>, to: S) -> Result<S::Ok, S::Error> {
    disk.as_ref().map(|disk| &disk.text).serialize(to)
}

impl FileSystem {
    /// One with all defaults.
    pub fn plain(kind: &'static FileSystemKind) -> Self {
        Self {
            kind,
            mkfs: Vec::new(),
            mount: String::new(),
            noatime: false,
            disk: None,
            name: None,
        }
    }

    /// What distinguishes it from others: its name, or its kind and all its options.
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let options = self.mkfs.iter().map(String::as_str).chain([self.mount.as_str()]);
        let words = std::iter::once(self.kind.name).chain(options);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The same with its disk, unless it has a name of its own.
    pub(super) fn label_with_disk(&self) -> String {
        let disk = self.disk.as_ref().filter(|_| self.name.is_none());
        let disk = disk.map_or_else(String::new, |disk| format!(" {}", disk.name));
        self.label() + &disk
    }

    /// Mounts it with `noatime`, unless its options say something of access times.
    pub(super) fn without_atime(&mut self) {
        let said = |option: &str| option.contains("atime") && !option.contains("diratime");
        self.noatime = !self.mount.split(',').any(said);
    }
}

impl Plan {
    /// The modelled disks that its file systems lie on, each once.
    #[must_use]
    pub fn disks(&self) -> Vec<&Arc<DiskModel>> {
        let filesystems = self.cells.iter().filter_map(|cell| cell.filesystem.as_ref());
        each_once(filesystems.filter_map(|filesystem| filesystem.disk.as_ref()))
    }

    /// What of it runs on what is there: the cells for which nothing is made.
    #[must_use]
    pub fn in_place(&self) -> Self {
        let is_there = |cell: &&CellPlan| cell.filesystem.is_none();
        let cells = self.cells.iter().filter(is_there).cloned().collect();
        Self { cells, ..self.clone() }
    }
}
