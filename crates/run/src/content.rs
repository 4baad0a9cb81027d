//! Provides file contents without a copy: a slice of a pool of random bytes, chosen by the file's key,
//! with a stamp of the key in every 4 KiB. Two files, two versions of a file, and two blocks of a file
//! never hold the same block, so neither compression nor deduplication beneath can flatter.

use std::ops::{Deref, DerefMut};

use boatload_base::random::mix;
use boatload_plan::phase::DIRECT_BYTES;
use boatload_plan::tree::{Content, Tree};

/// Random bytes before they repeat: more than the 128 KiB that btrfs compresses at a time.
const POOL_BYTES: usize = 132 << 10;

/// Every block of this size is stamped; deduplication works on blocks of 4 KiB or more.
const STAMP_EVERY: u64 = 4096;
/// Bytes of a stamp.
pub const STAMP_BYTES: u64 = 16;

/// In compressible content, each run of this many bytes begins random and ends in zeros.
const RUN_BYTES: usize = 256;

/// One worker's pool.
pub struct ContentPool {
    /// The pool, followed by its beginning again, so that every slice is contiguous.
    bytes: AlignedBuffer,
    plain: bool,
    /// Slices begin at multiples of this.
    grain: u64,
    /// What the stamps now in the pool stand on, to be put back: where, how long, and the bytes.
    under: Vec<(usize, usize, [u8; STAMP_BYTES as usize])>,
}

impl ContentPool {
    /// A pool for the content of `tree` in writes of at most `largest` bytes; an empty one where
    /// nothing is written.
    pub fn new(tree: &Tree, largest: u32) -> Self {
        let pool_bytes = if largest == 0 { 0 } else { POOL_BYTES };
        let mut pool = Self {
            bytes: AlignedBuffer::new(pool_bytes + largest as usize),
            plain: tree.content == Content::Zeros,
            grain: 64,
            under: Vec::new(),
        };
        let random_bytes = match tree.content {
            Content::Random => RUN_BYTES,
            Content::Zeros => 0,
            Content::Compressible(percent) => {
                pool.grain = RUN_BYTES as u64;
                RUN_BYTES * (100 - usize::from(percent.min(100))) / 100
            }
        };
        if pool_bytes > 0 {
            pool.fill(tree.seed, random_bytes);
        }
        pool
    }

    /// The memory of a pool for writes of at most `largest` bytes, with the list of its stamps, in bytes.
    pub fn bytes(largest: u32) -> u64 {
        let largest = u64::from(largest);
        let stamps =
            largest / STAMP_EVERY * size_of::<(usize, usize, [u8; STAMP_BYTES as usize])>() as u64;
        if largest == 0 { 0 } else { POOL_BYTES as u64 + largest + 2 * stamps }
    }

    /// With slices that direct I/O can write from where they are, if their offsets are such: each
    /// then begins at a whole block of memory.
    #[must_use]
    pub fn for_direct(mut self, direct: bool) -> Self {
        if direct {
            self.grain = u64::from(DIRECT_BYTES);
        }
        self
    }

    fn fill(&mut self, seed: u64, random_bytes: usize) {
        let mut state = mix(seed ^ 0xc047_e475);
        for (at, word) in self.bytes[..POOL_BYTES].chunks_exact_mut(8).enumerate() {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let within = at * 8 % RUN_BYTES;
            let random = random_bytes.saturating_sub(within).min(8);
            word[..random].copy_from_slice(&mix(state).to_le_bytes()[..random]);
        }
        let (pool, tail) = self.bytes.split_at_mut(POOL_BYTES);
        for again in tail.chunks_mut(POOL_BYTES) {
            again.copy_from_slice(&pool[..again.len()]);
        }
    }

    /// The part of a content that begins at `offset` and is `bytes` long (at most the largest write).
    #[inline]
    pub fn part(&mut self, key: u64, offset: u64, bytes: u32) -> &[u8] {
        if self.plain || bytes == 0 {
            return &self.bytes[..bytes as usize];
        }
        while let Some((at, length, bytes)) = self.under.pop() {
            self.bytes[at..at + length].copy_from_slice(&bytes[..length]);
        }
        let grains = POOL_BYTES as u64 / self.grain;
        let start = ((key % grains) * self.grain + offset) as usize % POOL_BYTES;
        self.stamp(start, key, offset, u64::from(bytes));
        &self.bytes[start..start + bytes as usize]
    }

    /// Puts stamps over the pool.
    #[inline]
    fn stamp(&mut self, start: usize, key: u64, offset: u64, bytes: u64) {
        let end = offset + bytes;
        let mut block = offset / STAMP_EVERY;
        while block * STAMP_EVERY < end {
            // A part may begin or end inside a stamp.
            let from = (block * STAMP_EVERY).max(offset);
            let to = (block * STAMP_EVERY + STAMP_BYTES).min(end);
            if from < to {
                let stamp = stamp(key, block);
                let (at, length) = (start + (from - offset) as usize, (to - from) as usize);
                let skipped = (from - block * STAMP_EVERY) as usize;
                let place = &mut self.bytes[at..at + length];
                let mut under = [0; STAMP_BYTES as usize];
                under[..length].copy_from_slice(place);
                place.copy_from_slice(&stamp[skipped..skipped + length]);
                self.under.push((at, length, under));
            }
            block += 1;
        }
    }
}

/// What block `block` of a content begins with.
#[inline]
fn stamp(key: u64, block: u64) -> [u8; STAMP_BYTES as usize] {
    let first = mix(key ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (u128::from(first) << 64 | u128::from(mix(first ^ key))).to_le_bytes()
}

/// What file `number` of a tree holds from `offset` on, as first written; `None` where that is no stamp: files
/// without content of their own, and places inside of a block.
pub fn stamp_at(tree: &Tree, number: u64, offset: u64) -> Option<[u8; STAMP_BYTES as usize]> {
    let has_stamp = tree.content != Content::Zeros
        && offset.is_multiple_of(STAMP_EVERY)
        && offset + STAMP_BYTES <= tree.size(number, 0);
    has_stamp.then(|| stamp(tree.content_key(number, 0), offset / STAMP_EVERY))
}

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
    use boatload_plan::tree::{DirectoryLayout, FilesEach, Placement, Sizes};
    use std::collections::BTreeSet;

    fn tree(content: Content, size: u64) -> Tree {
        Tree {
            files: 100,
            files_max: None,
            layout: DirectoryLayout::flat(1),
            placement: Placement::Fill,
            files_each: FilesEach::Even,
            roots: 1,
            part: None,
            sizes: Sizes::Fixed(size),
            chunks: None,
            content,
            seed: 1,
        }
    }

    #[test]
    fn no_two_blocks_of_any_files_are_alike() {
        let tree = tree(Content::Random, 1 << 20);
        let mut pool = ContentPool::new(&tree, 1 << 20);
        let mut blocks = BTreeSet::new();
        for number in 0..8 {
            let part = pool.part(tree.content_key(number, 0), 0, 1 << 20).to_vec();
            for block in part.chunks(4096) {
                assert!(blocks.insert(block.to_vec()), "a block of file {number} was seen before");
            }
        }
    }

    #[test]
    fn slices_for_direct_io_begin_at_whole_blocks_and_no_two_of_their_blocks_are_alike() {
        for content in [Content::Random, Content::Zeros, Content::Compressible(50)] {
            let (tree, block) = (tree(content, 36 << 20), 12u32 << 20);
            let mut pool = ContentPool::new(&tree, block).for_direct(true);
            let mut blocks = BTreeSet::new();
            for number in 0..2 {
                for offset in [0, 1, 2].map(|part| part * u64::from(block)) {
                    let part = pool.part(tree.content_key(number, 0), offset, block);
                    assert_eq!(part.as_ptr().addr() % DIRECT_BYTES as usize, 0);
                    // The beginning of a block is enough to identify it.
                    let heads = part.chunks(4096).map(|block| block[..64].to_vec());
                    let new = heads.filter(|head| blocks.insert(head.clone())).count();
                    let expected = if content == Content::Zeros {
                        usize::from(blocks.len() == 1 && new == 1)
                    } else {
                        3072
                    };
                    assert_eq!(new, expected, "{content:?}, file {number} at {offset}");
                }
            }
        }
    }

    #[test]
    fn content_follows_from_the_key_whatever_was_written_before() {
        let tree = tree(Content::Random, 10_000);
        let mut pool = ContentPool::new(&tree, 1 << 20);
        let first = pool.part(7, 0, 10_000).to_vec();
        for key in 0..1000 {
            pool.part(key, 0, 10_000);
        }
        assert_eq!(pool.part(7, 0, 10_000), first);
    }

    #[test]
    fn a_stamp_is_what_a_block_of_a_file_begins_with() {
        let tree = tree(Content::Random, 100_000);
        let mut pool = ContentPool::new(&tree, 1 << 20);
        let part = pool.part(tree.content_key(3, 0), 0, 100_000).to_vec();
        for offset in [0, 4096, 96 << 10] {
            let stamp = stamp_at(&tree, 3, offset).unwrap();
            assert_eq!(part[offset as usize..][..stamp.len()], stamp, "at {offset}");
        }
        assert_eq!(stamp_at(&tree, 3, 100), None, "inside of a block");
        assert_eq!(stamp_at(&tree, 3, 100 << 10), None, "behind the end");
        assert_eq!(stamp_at(&self::tree(Content::Zeros, 100_000), 3, 0), None);
    }

    #[test]
    fn a_content_written_in_parts_is_the_content_written_whole() {
        let tree = tree(Content::Random, 600_000);
        let mut pool = ContentPool::new(&tree, 1 << 20);
        let whole = pool.part(9, 0, 600_000).to_vec();
        let parts: Vec<u8> = (0..600_000u64)
            .step_by(5000)
            .flat_map(|offset| pool.part(9, offset, 5000).to_vec())
            .collect();
        // Within a part stamps stand at multiples of 4 KiB of the file; a part that begins
        // between them must not lack or shift any.
        assert!(whole == parts);
    }

    #[test]
    fn compressible_content_has_its_share_of_zeros_and_random_none() {
        let zeros = |content| {
            let tree = tree(content, 100_000);
            let mut pool = ContentPool::new(&tree, 1 << 20);
            let part = pool.part(3, 0, 100_000).to_vec();
            part.iter().filter(|byte| **byte == 0).count() as f64 / part.len() as f64
        };
        assert!(zeros(Content::Random) < 0.006);
        assert!((zeros(Content::Compressible(50)) - 0.5).abs() < 0.01);
        assert_eq!(zeros(Content::Zeros), 1.0);
    }
}

#[cfg(test)]
mod buffer_tests {
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
