//! Memory that direct I/O can read into and write from.

use std::ops::{Deref, DerefMut};

use crate::plan::phase::DIRECT_BYTES;

/// Bytes that begin at a multiple of [`DIRECT_BYTES`] in memory, as `O_DIRECT` demands.
pub struct AlignedBuffer {
    /// Never grows, so it stays where it is.
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// So many zeros.
    pub fn new(length: usize) -> Self {
        let alignment = DIRECT_BYTES as usize;
        let bytes = vec![0; length + alignment];
        let start = bytes.as_ptr().addr().wrapping_neg() % alignment;
        Self { bytes, start, length }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl DerefMut for AlignedBuffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_at_a_whole_block_of_memory_and_has_its_length() {
        for length in [0, 1, 4096, 5000, 1 << 20] {
            let buffer = AlignedBuffer::new(length);
            assert_eq!(buffer.as_ptr().addr() % DIRECT_BYTES as usize, 0);
            assert_eq!(buffer.len(), length);
        }
    }
}
