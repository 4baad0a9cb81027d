//! Shares a set of bits between threads.

use std::collections::TryReserveError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One bit for each number, shared by all workers.
pub struct Bits(Vec<AtomicU64>);

impl Bits {
    /// So many, none of them set.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn new(length: u64) -> Result<Self, TryReserveError> {
        let words = length.div_ceil(64);
        let mut bits = Vec::new();
        bits.try_reserve_exact(usize::try_from(words).unwrap_or(usize::MAX))?;
        bits.extend((0..words).map(|_| AtomicU64::new(0)));
        Ok(Self(bits))
    }

    /// Whether a bit is set; none is outside of the range.
    #[inline]
    pub fn get(&self, at: u64) -> bool {
        self.0.get((at / 64) as usize).is_some_and(|word| word.load(Relaxed) >> (at % 64) & 1 == 1)
    }

    /// Sets a bit and says what it was; none outside of the range.
    #[inline]
    pub fn swap(&self, at: u64, value: bool) -> Option<bool> {
        let (word, bit) = (self.0.get((at / 64) as usize)?, 1 << (at % 64));
        let before =
            if value { word.fetch_or(bit, Relaxed) } else { word.fetch_and(!bit, Relaxed) };
        Some(before & bit != 0)
    }

    /// Sets these.
    pub fn set_all(&self, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            self.swap(number, true);
        }
    }

    /// Sets those that are set in these words, where there are as many.
    pub fn set_words(&self, words: &[u64]) {
        self.0.iter().zip(words).for_each(|(word, bits)| _ = word.fetch_or(*bits, Relaxed));
    }

    /// Sets none.
    pub fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// How many are set.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum()
    }
}
