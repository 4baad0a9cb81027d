//! Computes a random permutation of 0..len, and its inverse, from a key and without a table. It is an
//! unbalanced Feistel network over the next power of two, with cycle walking to stay in the range
//! (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).

use super::random::mix;

const ROUND_PAIRS: usize = 3;

/// A bijection of 0..len onto itself, chosen by a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    len: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [[u64; 2]; ROUND_PAIRS],
}

impl Permutation {
    /// The permutation of 0..len that belongs to `key`.
    pub fn new(len: u64, key: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let bits = bits.max(2);
        let low_bits = bits / 2;
        let mut keys = [[0; 2]; ROUND_PAIRS];
        for (round, slot) in keys.as_flattened_mut().iter_mut().enumerate() {
            *slot = mix(key ^ mix(round as u64 + 1));
        }
        Self {
            len,
            low_bits,
            low_mask: (1 << low_bits) - 1,
            high_mask: (1u64 << (bits - low_bits)).wrapping_sub(1),
            keys,
        }
    }

    /// Where position `x` goes. `x` must be below the length.
    #[inline]
    pub fn forward(&self, x: u64) -> u64 {
        debug_assert!(x < self.len);
        self.cycle_walk(x, |mut halves| {
            for [first, second] in &self.keys {
                halves.high ^= scramble(halves.low, *first) & self.high_mask;
                halves.low ^= scramble(halves.high, *second) & self.low_mask;
            }
            halves
        })
    }

    /// Which position goes to `y`: the inverse of [`Permutation::forward`]. Each round is its own
    /// inverse, so the rounds run in the reverse order.
    #[inline]
    pub fn backward(&self, y: u64) -> u64 {
        debug_assert!(y < self.len);
        self.cycle_walk(y, |mut halves| {
            for [even, odd] in self.keys.iter().rev() {
                halves.low ^= scramble(halves.high, *odd) & self.low_mask;
                halves.high ^= scramble(halves.low, *even) & self.high_mask;
            }
            halves
        })
    }

    /// Applies the network until the value is in range again. The walk follows a cycle of the
    /// larger permutation that begins in range, so it must come back into range; the domain is less
    /// than twice a length above 2, for which it takes less than two steps on average.
    #[inline]
    fn cycle_walk(&self, x: u64, network: impl Fn(Halves) -> Halves) -> u64 {
        let mut halves = Halves { high: x >> self.low_bits, low: x & self.low_mask };
        loop {
            halves = network(halves);
            let x = (halves.high << self.low_bits) | halves.low;
            if x < self.len {
                return x;
            }
        }
    }
}

struct Halves {
    high: u64,
    low: u64,
}

/// The round function: one multiplication is enough over six keyed rounds.
#[inline]
fn scramble(half: u64, key: u64) -> u64 {
    (half ^ key).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_met_once_and_found_again() {
        for len in [1u64, 2, 3, 5, 16, 17, 1000, 4096, 30_001] {
            let permutation = Permutation::new(len, 42);
            let mut seen = vec![false; len as usize];
            for x in 0..len {
                let y = permutation.forward(x);
                assert!(!std::mem::replace(&mut seen[y as usize], true), "{y} twice of {len}");
                assert_eq!(permutation.backward(y), x);
            }
        }
    }

    #[test]
    fn another_key_gives_another_order() {
        let (a, b) = (Permutation::new(1000, 1), Permutation::new(1000, 2));
        let same = (0..1000).filter(|&x| a.forward(x) == b.forward(x)).count();
        assert!(same < 20, "{same} of 1,000 places agree; 1 is expected by chance");
    }

    #[test]
    fn neighbours_do_not_stay_neighbours() {
        let p = Permutation::new(100_000, 7);
        let near = (1..100_000).filter(|&x| p.forward(x).abs_diff(p.forward(x - 1)) < 100).count();
        // By chance 2 * 100 / 100,000 of them are: 200, give or take 14.
        assert!((120..280).contains(&near), "{near}");
    }
}
