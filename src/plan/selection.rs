//! Which entries a phase works on, in which order, and how workers share them: as arithmetic on
//! indices, without a list.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::permutation::Permutation;
use crate::base::random::{Stream, draw};

/// The order of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// By number.
    #[default]
    Sequential,
    /// In a seeded random order.
    Random,
}

impl Order {
    /// Its word in job files.
    pub fn word(self) -> &'static str {
        match self {
            Order::Sequential => "sequential",
            Order::Random => "random",
        }
    }
}

/// `count` entries out of the `population` that begins at `first`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The lowest number in question.
    pub first: u64,
    /// How many there are to choose from.
    pub population: u64,
    /// How many are chosen.
    pub count: u64,
    /// In which order.
    pub order: Order,
    /// Workers' own trees among which numbers are dealt out in turn; 1 if they share one.
    roots: u32,
    /// One for each root, for a random order. Shared by the phases that have this one behind them.
    permutations: Arc<[Permutation]>,
    /// What a random order follows from.
    seed: u64,
    salt: u64,
}

impl Selection {
    /// A selection; a random order follows from `seed` and `salt`, the number of the phase.
    pub fn new(
        (first, population, count): (u64, u64, u64),
        order: Order,
        roots: u32,
        seed: u64,
        salt: u64,
    ) -> Self {
        let mut selection =
            Self { first, population, count, order, roots, permutations: Arc::new([]), seed, salt };
        if order == Order::Random {
            selection.permutations = (0..u64::from(roots))
                .map(|root| {
                    let key = draw(seed, Stream::Order, (salt << 32) | root);
                    Permutation::new(selection.of_root(population, root), key)
                })
                .collect();
        }
        selection
    }

    /// The same order over another number of entries, beginning at 0.
    #[must_use]
    pub fn over(&self, population: u64, count: u64) -> Self {
        Self::new((0, population, count), self.order, self.roots, self.seed, self.salt)
    }

    /// How many of the first `length` numbers belong to `root`.
    fn of_root(&self, length: u64, root: u64) -> u64 {
        let below = |end: u64| (end + u64::from(self.roots) - 1 - root) / u64::from(self.roots);
        below(self.first + length) - below(self.first)
    }

    /// The lowest number that belongs to `root`.
    fn first_of_root(&self, root: u64) -> u64 {
        let roots = u64::from(self.roots);
        self.first + (root + roots - self.first % roots) % roots
    }

    /// Whether an entry is chosen.
    #[inline]
    pub fn contains(&self, number: u64) -> bool {
        if number < self.first || number >= self.first + self.population {
            return false;
        }
        if self.count == self.population {
            return true;
        }
        match self.order {
            Order::Sequential => number < self.first + self.count,
            Order::Random => {
                let roots = u64::from(self.roots);
                let root = number % roots;
                let local = (number - self.first_of_root(root)) / roots;
                self.permutations[root as usize].backward(local) < self.of_root(self.count, root)
            }
        }
    }

    /// All chosen numbers.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.roots).flat_map(|worker| {
            let share = self.share(worker, self.roots);
            (0..share.count).map(move |turn| share.number(turn))
        })
    }

    /// About `wanted` of the chosen numbers, and no more, spread over the whole order and over all
    /// workers that have a tree of their own.
    pub fn sample(&self, wanted: u64) -> Vec<u64> {
        let each = wanted.div_ceil(u64::from(self.roots));
        let of_worker = |worker| {
            let share = self.share(worker, self.roots);
            let wanted = each.min(share.count);
            (0..wanted).map(move |at| share.number(at * share.count / wanted))
        };
        (0..self.roots).flat_map(of_worker).take(wanted as usize).collect()
    }

    /// What worker `worker` of `workers` does. Workers that share a tree take turns; a worker
    /// with a tree of its own stays in it.
    pub fn share(&self, worker: u32, workers: u32) -> Share<'_> {
        let (worker, workers) = (u64::from(worker), u64::from(workers));
        if self.roots > 1 {
            debug_assert_eq!(workers, u64::from(self.roots));
            return Share {
                base: self.first_of_root(worker),
                stride: workers,
                offset: 0,
                step: 1,
                count: self.of_root(self.count, worker),
                permutation: self.permutations.get(worker as usize),
            };
        }
        Share {
            base: self.first,
            stride: 1,
            offset: worker,
            step: workers,
            count: (self.count + workers - 1 - worker) / workers,
            permutation: self.permutations.first(),
        }
    }
}

/// One worker's part of a selection.
#[derive(Clone, Copy, Debug)]
pub struct Share<'a> {
    base: u64,
    stride: u64,
    offset: u64,
    step: u64,
    /// How many entries it has.
    pub count: u64,
    permutation: Option<&'a Permutation>,
}

impl Share<'_> {
    /// The number of its `turn`th entry.
    #[inline]
    pub fn number(&self, turn: u64) -> u64 {
        let position = self.offset + turn * self.step;
        let chosen = self.permutation.map_or(position, |p| p.forward(position));
        self.base + chosen * self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn dealt(selection: &Selection, workers: u32) -> Vec<u64> {
        (0..workers)
            .flat_map(|w| {
                let share = selection.share(w, workers);
                (0..share.count).map(|turn| share.number(turn)).collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn workers_together_do_each_chosen_entry_once_and_nothing_else() {
        for order in [Order::Sequential, Order::Random] {
            for (roots, workers) in [(1, 1), (1, 3), (3, 3), (4, 4)] {
                for (first, population, count) in
                    [(0, 100, 100), (7, 50, 20), (5, 3, 3), (0, 1, 1), (9, 0, 0)]
                {
                    let s = Selection::new((first, population, count), order, roots, 1, 2);
                    let all = dealt(&s, workers);
                    let unique: BTreeSet<_> = all.iter().copied().collect();
                    assert_eq!(all.len() as u64, count, "{s:?}");
                    assert_eq!(unique.len() as u64, count, "{s:?}");
                    for number in 0..120 {
                        assert_eq!(s.contains(number), unique.contains(&number), "{number} {s:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_worker_with_its_own_tree_never_leaves_it() {
        let s = Selection::new((5, 100, 60), Order::Random, 4, 1, 2);
        let share = s.share(2, 4);
        assert!((0..share.count).all(|turn| share.number(turn) % 4 == 2));
    }

    #[test]
    fn a_sample_is_of_chosen_entries_and_of_every_workers_tree() {
        for order in [Order::Sequential, Order::Random] {
            for (roots, wanted) in [(1, 8), (4, 8), (4, 10), (3, 2), (2, 1000)] {
                let s = Selection::new((5, 200, 60), order, roots, 1, 2);
                let sample: BTreeSet<_> = s.sample(wanted).into_iter().collect();
                assert!(sample.iter().all(|number| s.contains(*number)), "{sample:?}");
                assert_eq!(sample.len() as u64, wanted.min(60), "{sample:?}");
                let trees: BTreeSet<_> = sample.iter().map(|n| n % u64::from(roots)).collect();
                assert_eq!(trees.len() as u64, wanted.min(u64::from(roots)), "{sample:?}");
            }
        }
    }

    #[test]
    fn two_phases_have_two_random_orders_and_one_seed_has_one() {
        let of =
            |seed, salt| dealt(&Selection::new((0, 1000, 50), Order::Random, 1, seed, salt), 1);
        assert_eq!(of(1, 2), of(1, 2));
        assert_ne!(of(1, 2), of(1, 3));
        assert_ne!(of(1, 2), of(2, 2));
    }
}
