//! What a block device has moved since the machine started.

use crate::base::errno::Errno;

/// The unit of every sector count in sysfs, whatever the device's own sector size: "the standard
/// UNIX 512-byte sectors" of Linux's Documentation/block/stat.rst.
pub const SECTOR_BYTES: u64 = 512;

/// Counters of a block device or partition, from its `stat` file in sysfs. They count since the
/// device appeared, requests of all processes alike, and may wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Read requests completed, after merging.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests completed, after merging.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes discarded; 0 before Linux 4.18.
    pub discard_bytes: u64,
    /// Flushes completed; 0 for partitions, which do not count them, and before Linux 5.5.
    pub flushes: u64,
}

impl DeviceCounters {
    /// Reads the text of a `stat` file, with fields in the order of Documentation/block/stat.rst.
    ///
    /// # Errors
    /// `EINVAL` if it is not eleven or more numbers.
    pub fn parse(text: &str) -> Result<Self, Errno> {
        const OLDEST_FIELDS: usize = 11;
        let fields: Vec<u64> = text
            .split_ascii_whitespace()
            .map(|field| field.parse().map_err(|_| Errno::EINVAL))
            .collect::<Result<_, _>>()?;
        if fields.len() < OLDEST_FIELDS {
            return Err(Errno::EINVAL);
        }
        let field = |at: usize| fields.get(at).copied().unwrap_or(0);
        // Sectors are counted modulo 2^64 and so are these bytes: their differences stay exact.
        let bytes = |at| field(at).wrapping_mul(SECTOR_BYTES);
        Ok(Self {
            reads: field(0),
            read_bytes: bytes(2),
            writes: field(4),
            write_bytes: bytes(6),
            discard_bytes: bytes(13),
            flushes: field(15),
        })
    }

    /// What was moved between an earlier reading and this one, even over a counter's wrap.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            reads: self.reads.wrapping_sub(earlier.reads),
            read_bytes: self.read_bytes.wrapping_sub(earlier.read_bytes),
            writes: self.writes.wrapping_sub(earlier.writes),
            write_bytes: self.write_bytes.wrapping_sub(earlier.write_bytes),
            discard_bytes: self.discard_bytes.wrapping_sub(earlier.discard_bytes),
            flushes: self.flushes.wrapping_sub(earlier.flushes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_512_bytes_and_fields_stand_where_the_kernel_says() {
        let text = "  100  1  2048  5  200  2  4096  7  0  9  12  3  0  16  1  6  2\n";
        let counters = DeviceCounters::parse(text).unwrap();
        assert_eq!((counters.reads, counters.read_bytes), (100, 1 << 20));
        assert_eq!((counters.writes, counters.write_bytes), (200, 2 << 20));
        assert_eq!((counters.discard_bytes, counters.flushes), (8192, 6));
    }

    #[test]
    fn an_old_kernel_gives_eleven_fields_and_anything_less_is_an_error() {
        let old = DeviceCounters::parse("1 0 8 0 2 0 16 0 0 0 0").unwrap();
        assert_eq!((old.read_bytes, old.write_bytes, old.flushes), (4096, 8192, 0));
        for wrong in ["", "1 2 3", "1 0 8 0 2 0 sixteen 0 0 0 0"] {
            assert_eq!(DeviceCounters::parse(wrong), Err(Errno::EINVAL), "{wrong}");
        }
    }

    #[test]
    fn a_difference_over_a_wrap_is_exact() {
        let before = format!("{0} 0 {0} 0 0 0 0 0 0 0 0", u64::MAX);
        let before = DeviceCounters::parse(&before).unwrap();
        let after = DeviceCounters::parse("1 0 7 0 0 0 0 0 0 0 0").unwrap();
        assert_eq!((after.since(before).reads, after.since(before).read_bytes), (2, 8 * 512));
    }
}
