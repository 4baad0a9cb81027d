//! File systems that boatload makes for the cells of a variant.

mod kinds;

pub use kinds::{KINDS, Kind, Maker, find_kind};

/// A file system to be made, with options.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSystem {
    /// What kind it is of.
    pub kind: &'static Kind,
    /// Words for its mkfs, before the device.
    pub mkfs: Vec<String>,
    /// Mount options, separated by commas; empty for the kernel's defaults.
    pub mount: String,
}

impl FileSystem {
    /// One with all defaults.
    pub fn plain(kind: &'static Kind) -> Self {
        Self { kind, mkfs: Vec::new(), mount: String::new() }
    }

    /// How it is told from others: its kind and all its options.
    pub fn label(&self) -> String {
        let options = self.mkfs.iter().map(String::as_str).chain([self.mount.as_str()]);
        let words = std::iter::once(self.kind.name).chain(options);
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
