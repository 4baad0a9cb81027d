//! Where file systems are made.

use std::path::PathBuf;

/// The place that file systems are made on, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceAsked {
    /// A sparse image file below the run's directory, on a loop device.
    Image {
        /// Its size; none for what the plan needs.
        bytes: Option<u64>,
    },
    /// A block device, which loses what it holds.
    Device {
        /// The device.
        path: PathBuf,
        /// The same device once more: the user's word that it may be erased.
        erase: PathBuf,
    },
    /// An image in memory.
    Memory {
        /// Its size; none for what the plan needs.
        bytes: Option<u64>,
    },
}

impl Default for PlaceAsked {
    fn default() -> Self {
        Self::Image { bytes: None }
    }
}
