//! Draws seeded random numbers without state: draw *i* of a stream follows from (seed, stream, *i*), so
//! that any worker can compute any file's size or content without having seen the others. Random words come from the kernel.

use std::io::ErrorKind;
use std::path::Path;

use super::files::{open_to_read, uninterrupted};

/// Independent streams of draws; the number keeps them apart under one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Sizes of files.
    Size = 1,
    /// Contents of files.
    Content = 2,
    /// Random orders of phases.
    Order = 3,
    /// The order of cells in a run.
    Schedule = 4,
    /// Noise of the simulated file system.
    Noise = 5,
    /// Files in each directory.
    Directory = 6,
    /// Which file is deleted while a file system ages.
    Victim = 7,
    /// Which values are drawn again in a bootstrap.
    Resample = 8,
    /// Seeds of the histories of a place.
    History = 9,
    /// Round trips of a modelled disk.
    Disk = 10,
    /// When power is cut, and which writes are kept.
    PowerCut = 11,
    /// Seeds of the ranks of a run.
    Rank = 13,
    /// Turns of a mix: which work, which file, when.
    Turn = 14,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014, with the constants of Stafford's Mix13): every input bit reaches every
/// output bit.
#[inline]
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Draw `index` of a stream, uniform over all 64-bit numbers.
#[inline]
pub fn draw(seed: u64, stream: Stream, index: u64) -> u64 {
    let key = mix(seed.wrapping_add((stream as u64).wrapping_mul(GOLDEN)));
    mix(key ^ index.wrapping_mul(GOLDEN))
}

/// A draw as a number in 0..1 (53 bits, never 1).
#[inline]
pub fn unit(draw: u64) -> f64 {
    (draw >> 11) as f64 / (1u64 << 53) as f64
}

/// A draw as a whole number in 0..bound, without division (Lemire, "Fast random integer generation
/// in an interval", 2019; the bias of at most bound / 2^64 is left in).
#[inline]
pub fn below(draw: u64, bound: u64) -> u64 {
    ((u128::from(draw) * u128::from(bound)) >> 64) as u64
}

/// Shuffles in an order that follows from (seed, stream, `salt`): Fisher and Yates.
pub fn shuffle<T>(items: &mut [T], seed: u64, stream: Stream, salt: u64) {
    for last in (1..items.len()).rev() {
        let pick = below(draw(seed, stream, mix(salt) ^ last as u64), last as u64 + 1);
        items.swap(last, pick as usize);
    }
}

/// Lower-case letters and digits that are hard to mistake for each other.
pub const WORD_ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A random word of them, from the kernel: nobody can guess it.
///
/// # Errors
/// If `/dev/urandom` gives none.
pub fn random_word(letters: usize) -> std::io::Result<String> {
    let mut bytes = vec![0u8; letters];
    let source = open_to_read(Path::new("/dev/urandom"))?;
    if uninterrupted(|| rustix::io::read(&source, &mut bytes[..]))? < letters {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes.iter().map(|byte| char::from(WORD_ALPHABET[usize::from(byte % 32)])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        assert_eq!(draw(1, Stream::Size, 7), draw(1, Stream::Size, 7));
        assert_ne!(draw(1, Stream::Size, 7), draw(1, Stream::Content, 7));
        assert_ne!(draw(1, Stream::Size, 7), draw(2, Stream::Size, 7));
    }

    #[test]
    fn draws_below_a_bound_fill_it_evenly() {
        let mut seen = [0u32; 10];
        for i in 0..100_000 {
            seen[below(draw(3, Stream::Size, i), 10) as usize] += 1;
        }
        // 10,000 expected in each; five standard deviations of the binomial are 474.
        assert!(seen.iter().all(|n| (9_526..=10_474).contains(n)), "{seen:?}");
    }
}
