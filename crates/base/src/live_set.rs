//! Keeps a set of numbers from 0 up as bits, and finds the *n*th of them quickly.

/// A set of numbers below a length, all there at first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveSet {
    words: Vec<u64>,
    length: u64,
    live: u64,
}

/// A set whose *n*th member is found without going through all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    set: LiveSet,
    /// Members before each run of [`RUN`] words.
    before: Vec<u64>,
}

/// Words between two counts.
const RUN: usize = 16;

impl LiveSet {
    /// Just these numbers.
    pub fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut set = Self::default();
        for number in numbers {
            if number >= set.length {
                set.length = number + 1;
                set.words.resize(set.length.div_ceil(64) as usize, 0);
            }
            let word = &mut set.words[(number / 64) as usize];
            set.live += u64::from(*word >> (number % 64) & 1 == 0);
            *word |= 1 << (number % 64);
        }
        set
    }

    /// None of the numbers below a length.
    pub fn empty(length: u64) -> Self {
        Self { words: vec![0; length.div_ceil(64) as usize], length, live: 0 }
    }

    /// Takes a number below the length in; whether it was missing.
    pub fn insert(&mut self, number: u64) -> bool {
        let is_new = number < self.length && !self.contains(number);
        if is_new {
            self.words[(number / 64) as usize] |= 1 << (number % 64);
            self.live += 1;
        }
        is_new
    }

    /// The next number from `from` on that is there, or that is missing; behind the last number comes 0. `None` without
    /// one.
    pub fn next_from(&self, from: u64, is_there: bool) -> Option<u64> {
        let some = if is_there { self.live } else { self.length - self.live };
        if some == 0 {
            return None;
        }
        let words = self.words.len();
        let (first, begun) = ((from / 64) as usize % words, u64::MAX << (from % 64));
        // The first word comes twice: from the number on, and at the end up to it.
        (0..=words).find_map(|step| {
            let at = (first + step) % words;
            let word = if is_there { self.words[at] } else { !self.words[at] };
            let word = if step == 0 { word & begun } else { word };
            let number = at as u64 * 64 + u64::from(word.trailing_zeros());
            (word != 0 && number < self.length).then_some(number)
        })
    }

    /// Takes in the next numbers up to `length`, all there.
    pub fn grow(&mut self, length: u64) {
        if length <= self.length {
            return;
        }
        let (first, begun) = ((self.length / 64) as usize, self.length % 64);
        self.words.resize(length.div_ceil(64) as usize, 0);
        // Numbers of the first word that were in question before stay as they were.
        self.words[first] |= u64::MAX << begun;
        self.words[first + 1..].fill(u64::MAX);
        if !length.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last &= u64::MAX >> (64 - length % 64);
        }
        self.live += length - self.length;
        self.length = length;
    }

    /// Takes a number out; whether it was there.
    pub fn remove(&mut self, number: u64) -> bool {
        let was = self.contains(number);
        if was {
            self.words[(number / 64) as usize] &= !(1 << (number % 64));
            self.live -= 1;
        }
        was
    }

    /// Whether a number is there.
    pub fn contains(&self, number: u64) -> bool {
        number < self.length && self.words[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    /// How many are there.
    pub fn count(&self) -> u64 {
        self.live
    }

    /// The numbers that were ever there are below this.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The members as bits, the first 64 numbers in the first word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The set with the counts that find the *n*th member.
    pub fn ranked(self) -> Ranked {
        let (mut sum, mut before) = (0, Vec::with_capacity(self.words.len().div_ceil(RUN)));
        for run in self.words.chunks(RUN) {
            before.push(sum);
            sum += run.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
        Ranked { set: self, before }
    }
}

impl Ranked {
    /// The members.
    pub fn set(&self) -> &LiveSet {
        &self.set
    }

    /// The `n`th member, from 0. Beyond the last it is the length.
    pub fn nth(&self, n: u64) -> u64 {
        let run = self.before.partition_point(|before| *before <= n).saturating_sub(1);
        let mut left = n - self.before.get(run).copied().unwrap_or(0).min(n);
        for (at, word) in self.set.words.iter().enumerate().skip(run * RUN) {
            let ones = u64::from(word.count_ones());
            if left < ones {
                return at as u64 * 64 + nth_bit(*word, left);
            }
            left -= ones;
        }
        self.set.length
    }
}

/// The place of the `n`th bit that is set.
fn nth_bit(mut word: u64, n: u64) -> u64 {
    for _ in 0..n {
        word &= word - 1;
    }
    u64::from(word.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stream, below, draw};

    #[test]
    fn the_nth_member_is_the_nth_whatever_was_taken_out() {
        let mut set = LiveSet::default();
        set.grow(1_000);
        set.grow(5_000);
        let mut plain: Vec<u64> = (0..5_000).collect();
        for at in 0..3_000 {
            let number = below(draw(1, Stream::Victim, at), 5_000);
            let was = plain.binary_search(&number).map(|place| plain.remove(place)).is_ok();
            assert_eq!(set.remove(number), was, "{number}");
        }
        assert_eq!(set.count(), plain.len() as u64);
        let ranked = set.ranked();
        let found: Vec<u64> = (0..plain.len() as u64).map(|n| ranked.nth(n)).collect();
        assert_eq!(found, plain);
        assert_eq!(ranked.nth(plain.len() as u64), 5_000, "beyond the last");
    }

    #[test]
    fn a_set_that_grows_keeps_its_gaps_and_gets_no_others() {
        let mut set = LiveSet::default();
        let mut plain = std::collections::BTreeSet::new();
        for length in [0, 1, 1, 63, 64, 65, 60, 128, 200, 1_000, 1_024] {
            let before = set.length();
            set.grow(length);
            plain.extend(before..length);
            let gone = set.length() / 2;
            assert_eq!(set.remove(gone), plain.remove(&gone), "{gone} at {length}");
            let members: Vec<u64> = (0..2_000).filter(|number| set.contains(*number)).collect();
            assert!(members.iter().eq(&plain), "{members:?}");
            let ranked = set.clone().ranked();
            assert!((0..set.count()).map(|n| ranked.nth(n)).eq(plain.iter().copied()), "{length}");
        }
    }

    #[test]
    fn the_next_number_that_is_there_or_missing_is_found_all_around() {
        for length in [1, 63, 64, 65, 200] {
            let mut set = LiveSet::empty(length);
            let mut plain = vec![false; length as usize];
            for at in 0..2_000 {
                let number = below(draw(2, Stream::Victim, at), length);
                let is_there = &mut plain[number as usize];
                match at % 3 {
                    0 => assert_eq!(set.remove(number), std::mem::take(is_there)),
                    _ => assert_eq!(set.insert(number), !std::mem::replace(is_there, true)),
                }
                let from = below(draw(3, Stream::Victim, at), length);
                let found = |wanted: bool| {
                    let around = (from..length).chain(0..from);
                    around.into_iter().find(|number| plain[*number as usize] == wanted)
                };
                assert_eq!(set.next_from(from, true), found(true), "from {from} of {length}");
                assert_eq!(set.next_from(from, false), found(false), "from {from} of {length}");
            }
            assert_eq!(set.count(), plain.iter().filter(|is| **is).count() as u64);
        }
        assert_eq!(LiveSet::empty(0).next_from(0, false), None);
    }

    #[test]
    fn an_empty_set_has_no_members() {
        assert_eq!(LiveSet::default().ranked().nth(0), 0);
        assert!(!LiveSet::default().remove(3));
    }
}
