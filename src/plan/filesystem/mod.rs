//! File systems that boatload makes for the cells of a variant.

mod command;
mod kinds;
mod list;
mod place;
mod size;

pub use command::{mkfs_words, mount_options, shown_command};
pub use kinds::{KINDS, Kind, Maker, find_kind};
pub use list::read_list;
pub use place::PlaceAsked;
pub use size::{Room, check_size, room, room_of};

use super::report::element;
use super::{CellPlan, Plan};

/// A file system to be made, with options.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSystem {
    /// What kind it is of.
    pub kind: &'static Kind,
    /// Words for its mkfs, before the device.
    pub mkfs: Vec<String>,
    /// Mount options, separated by commas; empty for the kernel's defaults.
    pub mount: String,
    /// What it is called; by its kind and options if it has no name of its own.
    pub name: Option<String>,
}

/// Something wrong with a file system that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The key it concerns: `mkfs[2]`.
    pub(super) key: String,
    /// What stands there.
    pub(super) found: String,
    /// What may stand there.
    pub(super) expected: String,
}

impl FileSystem {
    /// One with all defaults.
    pub fn plain(kind: &'static Kind) -> Self {
        Self { kind, mkfs: Vec::new(), mount: String::new(), name: None }
    }

    /// How it is told from others: its name, or its kind and all its options.
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let options = self.mkfs.iter().map(String::as_str).chain([self.mount.as_str()]);
        let words = std::iter::once(self.kind.name).chain(options);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
    /// What would break its mkfs or its mount, or reach something beside its device.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut add = |key: &str, found: String, expected: &str| {
            faults.push(Fault { key: key.into(), found, expected: expected.into() });
        };
        if self.kind.maker.is_none() && !self.mkfs.is_empty() {
            let kind = self.kind.name;
            let expected = "none: it has no mkfs, and takes all its options with `mount`";
            add("mkfs", format!("words for a mkfs of `{kind}`"), expected);
        }
        for (at, word) in self.mkfs.iter().enumerate() {
            let key = element("mkfs", at);
            if word.is_empty() || word.chars().any(char::is_control) {
                let expected = "a word of mkfs, not empty, on one line";
                add(&key, format!("`{}`", word.escape_default()), expected);
            } else if word.contains('/') {
                let expected = "no path: boatload adds the device, and mkfs touches nothing else";
                add(&key, format!("`{word}`"), expected);
            }
        }
        if self.mount.chars().any(char::is_control) {
            let found = format!("`{}`", self.mount.escape_default());
            add("mount", found, "mount options on one line, separated by commas");
        }
        faults
    }

    /// Adds `noatime` to its mount options, unless they say something of access times.
    pub(super) fn without_atime(&mut self) {
        let said = |option: &str| option.contains("atime") && !option.contains("diratime");
        if !self.mount.split(',').any(said) {
            let comma = if self.mount.is_empty() { "" } else { "," };
            self.mount.push_str(&format!("{comma}noatime"));
        }
    }
}

impl Plan {
    /// What of it runs on what is there: the cells for which nothing is made.
    #[must_use]
    pub fn in_place(&self) -> Self {
        let is_there = |cell: &&CellPlan| cell.filesystem.is_none();
        let cells = self.cells.iter().filter(is_there).cloned().collect();
        Self { cells, ..self.clone() }
    }

    /// The same work on what is there, to learn what it costs: variants that do on several file
    /// systems what they do on the first are left out.
    #[must_use]
    pub fn as_if_there(&self) -> Self {
        let first = self.cells.iter().find_map(|cell| cell.filesystem.as_ref());
        let stays = |cell: &&CellPlan| match &cell.filesystem {
            Some(filesystem) => Some(filesystem) == first,
            None => true,
        };
        let stripped = |cell: &CellPlan| CellPlan { filesystem: None, ..cell.clone() };
        let cells = self.cells.iter().filter(stays).map(stripped).collect();
        Self { cells, ..self.clone() }
    }
}
