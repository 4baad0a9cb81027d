//! Groups calls by the directory of the file that they name.

use super::output::{MapRow, MapValue};
use boatload_base::named_enum;

/// Bits of a key for the bucket; those for the operation are above it.
pub const BUCKET_BITS: u32 = 11;

named_enum! {
    /// What calls are grouped by, in addition to their operation.
    pub enum TraceBy {
        /// The directory that has the file's name.
        Directory = "directory",
    }
}

/// What the calls are named whose directory is not known, or is one of many that are summed up.
pub const OTHER_DIRECTORIES: &str = "other directories";

/// The class of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassKey {
    /// A directory's inode, or the number of a path's text.
    pub number: u64,
    /// The file system of the directory, as the kernel numbers devices; 0 of a path's text.
    pub device: u64,
    /// Whether it is the number of a path's text.
    pub is_path: bool,
}

/// An entry of a map by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassEntry {
    /// Which class.
    pub class: ClassKey,
    /// The number of the operation.
    pub operation: u64,
    /// The bucket of latency, where calls are counted by it.
    pub bucket: u16,
    /// Which slice of calls that followed each other, from 0.
    pub at: u64,
    /// How many calls, or bytes.
    pub value: u64,
    /// The time that the calls of a slice took together, in nanoseconds.
    pub total_ns: u64,
}

/// Bits of a class's key below its device: operation, bucket, and whether the class is the text of a path.
const DEVICE_SHIFT: u32 = 17;
/// This bit of a class's key says that its number stands for the text of a path.
const IS_PATH: u64 = 1 << 16;

impl ClassKey {
    /// Of the first two parts of a key of the script.
    fn of_parts(number: u64, cell: u64) -> Self {
        Self { number, device: cell >> DEVICE_SHIFT, is_path: cell & IS_PATH != 0 }
    }
}

impl ClassEntry {
    pub(super) fn of_row(row: &MapRow) -> Option<Self> {
        let [number, cell, at] = row.key;
        let (value, total_ns) = match row.value {
            MapValue::Number(value) => (value, 0),
            MapValue::Sum { count, total } => (count, total),
            MapValue::Text(_) => return None,
        };
        let bucket = (cell & ((1 << BUCKET_BITS) - 1)) as u16;
        let operation = (cell & (IS_PATH - 1)) >> BUCKET_BITS;
        Some(Self {
            class: ClassKey::of_parts(number, cell),
            operation,
            bucket,
            at,
            value,
            total_ns,
        })
    }
}
