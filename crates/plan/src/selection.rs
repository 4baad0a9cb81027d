//! Computes which entries a phase works on, in which order, and how workers share them, from indices
//! alone.

use std::sync::Arc;

use serde::Serialize;

use boatload_base::live_set::Ranked;
use boatload_base::named_enum;
use boatload_base::permutation::Permutation;
use boatload_base::random::{Stream, draw};

named_enum! {
    /// The order of a phase.
    #[derive(Default)]
    pub enum Order {
        /// By number.
        #[default]
        Sequential = "sequential",
        /// In a seeded random order.
        Random = "random",
    }
}

/// Numbers of entries that a selection chooses from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryRange {
    /// The lowest number in question.
    pub first: u64,
    /// How many there are to choose from.
    pub population: u64,
    /// How many are chosen.
    pub count: u64,
}

impl EntryRange {
    /// All of the `count` entries from `first` on.
    pub fn whole(first: u64, count: u64) -> Self {
        Self { first, population: count, count }
    }
}

/// `count` entries out of the `population` that begins at `first`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// Neighbours that only one worker does, in their order: the chunks of a file. Other entries
    /// stand for themselves, and this is 1.
    grain: u64,
    /// Whether a worker does neighbours, one part of them all, instead of taking turns.
    in_parts: bool,
    /// One for each root, for a random order. Shared by the phases that have this one behind them.
    #[serde(skip)]
    permutations: Arc<[Permutation]>,
    /// Which numbers there are to choose from, where they are no range.
    #[serde(skip)]
    live: Option<Arc<Ranked>>,
    /// What a random order follows from.
    seed: u64,
    salt: u64,
}

impl Selection {
    /// A selection; a random order follows from `seed` and `salt`, the number of the phase.
    pub fn new(range: EntryRange, order: Order, roots: u32, seed: u64, salt: u64) -> Self {
        let EntryRange { first, population, count } = range;
        let mut selection = Self {
            first,
            population,
            count,
            order,
            roots,
            grain: 1,
            in_parts: false,
            permutations: Arc::new([]),
            live: None,
            seed,
            salt,
        };
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

    /// At most `most` of the numbers that are there, in one tree that all workers share.
    pub fn of_live(live: Arc<Ranked>, most: u64, order: Order, seed: u64, salt: u64) -> Self {
        let population = live.set().count();
        let all = Self::new(
            EntryRange { first: 0, population, count: most.min(population) },
            order,
            1,
            seed,
            salt,
        );
        Self { live: Some(live), ..all }
    }

    /// All of the `count` chunks from `first` on, in order, each `grain` of them (at least 1) to
    /// one worker; `first` is a multiple of it.
    pub fn of_chunks(first: u64, count: u64, grain: u64, roots: u32) -> Self {
        let all = Self::new(EntryRange::whole(first, count), Order::Sequential, roots, 0, 0);
        Self { grain, ..all }
    }

    /// The same, dealt out in as many parts of neighbours as there are workers, which share a tree:
    /// so that they seldom wait for each other in the same directory.
    #[must_use]
    pub fn in_parts(self) -> Self {
        debug_assert_eq!(self.roots, 1);
        Self { in_parts: true, ..self }
    }

    /// The numbers that it chooses from.
    pub fn range(&self) -> EntryRange {
        EntryRange { first: self.first, population: self.population, count: self.count }
    }

    /// How many entries it adds when it is of new ones: files, where it is of their chunks.
    pub fn entries(&self) -> u64 {
        self.count.div_ceil(self.grain)
    }

    /// Those entries.
    pub fn of_entries(&self) -> Self {
        let range = EntryRange::whole(self.first_entry(), self.entries());
        Self::new(range, Order::Sequential, self.roots, 0, 0)
    }

    /// The number of the first such entry.
    pub fn first_entry(&self) -> u64 {
        self.first / self.grain
    }

    /// The same order over another number of entries, beginning at 0.
    #[must_use]
    pub fn over(&self, population: u64, count: u64) -> Self {
        self.moved(EntryRange { first: 0, population, count }, 1)
    }

    /// The same order over other entries, each `grain` of them (at least 1) to one worker.
    #[must_use]
    pub fn moved(&self, range: EntryRange, grain: u64) -> Self {
        Self { grain, ..Self::new(range, self.order, self.roots, self.seed, self.salt) }
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
        debug_assert!(self.live.is_none(), "only a range is asked for its numbers");
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
        if self.grain > 1 {
            return self.share_of_grains(worker, workers);
        }
        let in_turn = Share {
            base: self.first,
            stride: 1,
            offset: worker,
            step: workers,
            count: (self.count + workers - 1 - worker) / workers,
            grain: 1,
            permutation: self.permutations.first(),
            live: self.live.as_deref(),
        };
        if self.roots > 1 {
            debug_assert_eq!(workers, u64::from(self.roots));
            let (base, count) = (self.first_of_root(worker), self.of_root(self.count, worker));
            let permutation = self.permutations.get(worker as usize);
            return Share {
                base,
                stride: workers,
                offset: 0,
                step: 1,
                count,
                permutation,
                ..in_turn
            };
        }
        if self.in_parts {
            let begin = |worker| (u128::from(self.count) * worker / u128::from(workers)) as u64;
            let (offset, end) = (begin(u128::from(worker)), begin(u128::from(worker) + 1));
            return Share { offset, step: 1, count: end - offset, ..in_turn };
        }
        in_turn
    }

    /// Whole files in turn. With trees of their own the first file may belong to another worker
    /// than the first.
    fn share_of_grains(&self, worker: u64, workers: u64) -> Share<'_> {
        let roots = u64::from(self.roots);
        let offset = (worker + workers - self.first_entry() % roots) % workers;
        let grains = self.entries();
        let mine = (grains + workers - 1 - offset) / workers;
        // The last file may have fewer.
        let has_last = grains > 0 && (grains - 1) % workers == offset;
        let lacking = if has_last { grains * self.grain - self.count } else { 0 };
        Share {
            base: self.first,
            stride: 1,
            offset,
            step: workers,
            count: mine * self.grain - lacking,
            grain: self.grain,
            permutation: None,
            live: None,
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
    grain: u64,
    permutation: Option<&'a Permutation>,
    live: Option<&'a Ranked>,
}

impl Share<'_> {
    /// The number of its `turn`th entry.
    #[inline]
    pub fn number(&self, turn: u64) -> u64 {
        if self.grain > 1 {
            let (grain, within) = (turn / self.grain, turn % self.grain);
            return self.base + (self.offset + grain * self.step) * self.grain + within;
        }
        let position = self.offset + turn * self.step;
        let chosen = self.permutation.map_or(position, |p| p.forward(position));
        match self.live {
            None => self.base + chosen * self.stride,
            Some(live) => live.nth(chosen),
        }
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
                    let s =
                        Selection::new(EntryRange { first, population, count }, order, roots, 1, 2);
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
    fn parts_follow_each_other_and_together_are_all() {
        for (count, workers) in [(100, 1), (100, 3), (3, 4), (0, 2)] {
            let s =
                Selection::new(EntryRange::whole(7, count), Order::Sequential, 1, 1, 0).in_parts();
            assert!(dealt(&s, workers).into_iter().eq(7..7 + count), "{s:?}");
            let counts: Vec<_> = (0..workers).map(|w| s.share(w, workers).count).collect();
            let (least, most) = (counts.iter().min(), counts.iter().max());
            assert!(most.unwrap() - least.unwrap() <= 1, "{counts:?}");
        }
    }

    #[test]
    fn all_chunks_of_a_file_are_one_workers_in_their_order() {
        for (roots, workers) in [(1, 1), (1, 3), (1, 16), (3, 3), (4, 4)] {
            for (first, count) in [(0, 100), (16, 100), (32, 16), (0, 5), (48, 0)] {
                let s = Selection::of_chunks(first, count, 16, roots);
                let all: BTreeSet<_> = dealt(&s, workers).into_iter().collect();
                assert!(all.iter().copied().eq(first..first + count), "{s:?}");
                for worker in 0..workers {
                    let share = s.share(worker, workers);
                    let mine: Vec<_> = (0..share.count).map(|turn| share.number(turn)).collect();
                    assert!(mine.is_sorted(), "{mine:?}");
                    let of_one = |file: u64| file % u64::from(workers) == u64::from(worker);
                    assert!(roots == 1 || mine.iter().all(|n| of_one(n / 16)), "{mine:?}");
                    let mut files: Vec<_> = mine.iter().map(|number| number / 16).collect();
                    files.dedup();
                    let whole: u64 = files.iter().map(|f| (first + count - f * 16).min(16)).sum();
                    assert_eq!(whole, share.count, "a file of worker {worker} lacks chunks: {s:?}");
                }
            }
        }
    }

    #[test]
    fn seven_files_keep_seven_of_sixteen_workers_busy() {
        let s = Selection::of_chunks(0, 100, 16, 1);
        let counts: Vec<_> = (0..16).map(|worker| s.share(worker, 16).count).collect();
        assert_eq!(counts[..7], [16, 16, 16, 16, 16, 16, 4]);
        assert_eq!(counts[7..], [0; 9]);
    }

    #[test]
    fn a_worker_with_its_own_tree_never_leaves_it() {
        let s = Selection::new(
            EntryRange { first: 5, population: 100, count: 60 },
            Order::Random,
            4,
            1,
            2,
        );
        let share = s.share(2, 4);
        assert!((0..share.count).all(|turn| share.number(turn) % 4 == 2));
    }

    #[test]
    fn a_sample_is_of_chosen_entries_and_of_every_workers_tree() {
        for order in [Order::Sequential, Order::Random] {
            for (roots, wanted) in [(1, 8), (4, 8), (4, 10), (3, 2), (2, 1000)] {
                let s = Selection::new(
                    EntryRange { first: 5, population: 200, count: 60 },
                    order,
                    roots,
                    1,
                    2,
                );
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
        let of = |seed, salt| {
            dealt(
                &Selection::new(
                    EntryRange { first: 0, population: 1000, count: 50 },
                    Order::Random,
                    1,
                    seed,
                    salt,
                ),
                1,
            )
        };
        assert_eq!(of(1, 2), of(1, 2));
        assert_ne!(of(1, 2), of(1, 3));
        assert_ne!(of(1, 2), of(2, 2));
    }
}
