//! Computes how fast the ranks of a run were beside each other, and which of them, or which host, is slow.

use std::collections::BTreeMap;

use super::effects::moderation::moderated;
use super::statistics::Interval;
use super::statistics::describe::{mean, median};
use crate::base::distinct::each_once;
use crate::results::book::{Book, Level, Measurement};
use crate::results::order::phase_cells;

/// A rank is slow if it is surely below this share of the rate of the others.
const SLOW_RATIO: f64 = 0.9;

/// Fewer measurements show nothing of a rank that is not chance.
const MEASUREMENTS_MIN: usize = 3;

/// One in twenty phases of equal ranks may have one that is called slow.
const ALPHA: f64 = 0.05;

/// The ranks of one phase of a variant, over its repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct RankRates {
    /// The variant.
    pub variant: String,
    /// The level; none without an axis.
    pub level: Option<Level>,
    /// The phase.
    pub phase: String,
    /// Mean operations per second of each rank, in their order; none where it did none.
    pub rates: Vec<Option<f64>>,
    /// Mean of all operations over the time until the last rank ended.
    pub rate: f64,
    /// Mean rate until the first rank ended, an estimate.
    pub stonewall_rate: Option<f64>,
    /// Mean of the time from the end of the rank in the middle to the last end, as a share.
    pub straggler_share: Option<f64>,
    /// The largest error of the clocks, in seconds.
    pub clock_error_seconds: f64,
    /// Each measurement's rates, by rank.
    measured: Vec<Vec<Option<f64>>>,
}

/// A rank or a host that is slower than the others in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowRank {
    /// `rank 3 on node7`, or `node7 (4 ranks)`.
    pub name: String,
    /// The phase.
    pub phase: String,
    /// Its rate over the mean of the others.
    pub ratio: f64,
    /// The interval of that, at 95% for all ranks or hosts of the phase together.
    pub interval: Interval,
    /// Measurements of the phase.
    pub measurements: usize,
}

/// What the ranks did in each phase of each variant at each level; nothing of runs of one process.
pub fn rank_rates(book: &Book) -> Vec<RankRates> {
    let judged = book.measurements.iter().filter(|m| m.valid() && m.ranks.is_some());
    let cells = phase_cells(judged);
    cells
        .iter()
        .map(|cell| {
            let of = |value: &dyn Fn(&Measurement) -> Option<f64>| {
                let values: Vec<f64> = cell.measurements.iter().filter_map(|m| value(m)).collect();
                (!values.is_empty()).then(|| mean(&values))
            };
            let measured: Vec<Vec<Option<f64>>> = cell
                .measurements
                .iter()
                .filter_map(|m| {
                    Some(m.ranks.as_ref()?.ranks.iter().map(|one| one.rate()).collect())
                })
                .collect();
            let error = cell.measurements.iter().filter_map(|m| m.ranks.as_ref());
            RankRates {
                variant: cell.variant.to_string(),
                level: cell.level.cloned(),
                phase: cell.phase.to_string(),
                rates: means(&measured),
                rate: of(&|m| Some(m.operations_per_second_before_sync())).unwrap_or_default(),
                stonewall_rate: of(&|m| m.ranks.as_ref()?.stonewall_rate()),
                straggler_share: of(&|m| m.ranks.as_ref()?.straggler_share()),
                clock_error_seconds: error
                    .map(|ranks| ranks.clock_error_seconds)
                    .fold(0.0, f64::max),
                measured,
            }
        })
        .collect()
}

/// The mean of each column, of what is known.
fn means(rows: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let columns = rows.iter().map(Vec::len).min().unwrap_or(0);
    let mean_of = |at: usize| {
        let known: Vec<f64> = rows.iter().filter_map(|row| row[at]).collect();
        (!known.is_empty()).then(|| mean(&known))
    };
    (0..columns).map(mean_of).collect()
}

impl RankRates {
    /// The slowest rank, and its rate over that of the rank in the middle; none where less than two did anything.
    pub fn slowest(&self) -> Option<(usize, f64)> {
        let known: Vec<f64> = self.rates.iter().flatten().copied().collect();
        let ranks = self.rates.iter().enumerate().filter_map(|(rank, rate)| Some((rank, (*rate)?)));
        let (rank, rate) = ranks.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (known.len() > 1).then(|| (rank, rate / median(&known)))
    }

    /// The rate of a rank over that of the rank in the middle; none where either is not known.
    pub fn share_of_median(&self, rank: usize) -> Option<f64> {
        let known: Vec<f64> = self.rates.iter().flatten().copied().collect();
        Some(self.rates.get(rank).copied().flatten()? / median(&known))
    }

    /// The host that is slow, else the rank; none where nothing is sure.
    pub fn slow(&self, hosts: &[String]) -> Option<SlowRank> {
        let mut by_host: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        hosts
            .iter()
            .enumerate()
            .for_each(|(rank, host)| by_host.entry(host).or_default().push(rank));
        let groups: Vec<(String, Vec<usize>)> = by_host
            .into_iter()
            .map(|(host, ranks)| (format!("{host} ({} ranks)", ranks.len()), ranks))
            .collect();
        // A host with one rank is that rank, and a host of which one rank is slow is not slow itself.
        let is_slow =
            |rank: &usize| self.share_of_median(*rank).is_some_and(|share| share < SLOW_RATIO);
        let whole =
            |(_, ranks): &(String, Vec<usize>)| ranks.len() > 1 && ranks.iter().all(is_slow);
        let of_hosts = if groups.iter().any(whole) { self.slowest_of(&groups) } else { None };
        let is_whole =
            |slow: &SlowRank| groups.iter().any(|group| group.0 == slow.name && whole(group));
        let of_hosts = of_hosts.filter(is_whole);
        let of_rank = |rank: usize| (format!("rank {rank} on {}", hosts[rank]), vec![rank]);
        let ranks: Vec<(String, Vec<usize>)> = (0..hosts.len()).map(of_rank).collect();
        of_hosts.or_else(|| self.slowest_of(&ranks))
    }

    /// The slowest of groups of ranks, if it surely is: in each repeat the group is held against the mean of the others, with a
    /// variance that is moderated over all groups, at a level that is shared by all groups (Bonferroni).
    fn slowest_of(&self, groups: &[(String, Vec<usize>)]) -> Option<SlowRank> {
        let (n, repeats) = (groups.len(), self.measured.len());
        if n < 2 || repeats < MEASUREMENTS_MIN {
            return None;
        }
        let log_rate = |row: &Vec<Option<f64>>, ranks: &Vec<usize>| {
            let rates: Option<Vec<f64>> =
                ranks.iter().map(|rank| row.get(*rank).copied().flatten()).collect();
            Some(mean(&rates?).ln())
        };
        let rows: Option<Vec<Vec<f64>>> = self
            .measured
            .iter()
            .map(|row| groups.iter().map(|(_, ranks)| log_rate(row, ranks)).collect())
            .collect();
        let rows = rows?;
        // What the others are on average follows from the mean of all.
        let others = n as f64 / (n as f64 - 1.0);
        let against_others = |at: usize| -> Vec<f64> {
            rows.iter().map(|row| (row[at] - mean(row)) * others).collect()
        };
        let ratios: Vec<Vec<f64>> = (0..n).map(against_others).collect();
        let contrasts = moderated(&ratios, &vec![0; n], &[n - 1]);
        let (slowest, contrast) =
            contrasts.iter().enumerate().min_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate))?;
        let interval = contrast.interval(ALPHA / n as f64);
        (interval.high < SLOW_RATIO).then(|| SlowRank {
            name: groups[slowest].0.clone(),
            phase: self.phase.clone(),
            ratio: contrast.estimate.exp(),
            interval,
            measurements: repeats,
        })
    }
}

/// Slow ranks and hosts, each with its phases, the worst first.
pub(crate) fn slow_ranks(book: &Book) -> Vec<Vec<SlowRank>> {
    let all: Vec<SlowRank> =
        rank_rates(book).iter().filter_map(|rates| rates.slow(&book.run.hosts)).collect();
    let of = |name: &String| {
        let mut own: Vec<SlowRank> = all.iter().filter(|one| one.name == *name).cloned().collect();
        own.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        own
    };
    each_once(all.iter().map(|one| one.name.clone())).iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{Stream, draw, unit};
    use crate::results::ranks::{PhaseRanks, RankShare};

    /// A book of `repeats` of one phase, whose ranks take so long, with 2% of noise.
    fn book(hosts: &[&str], repeats: u32, seed: u64, seconds: impl Fn(u32) -> f64) -> Book {
        let noise = |rank: u32, repeat: u32| {
            let of = |part: u64| {
                unit(draw(seed, Stream::Noise, u64::from(rank * 100 + repeat) * 8 + part))
            };
            0.02 * ((0..4).map(of).sum::<f64>() - 2.0) * 3.0f64.sqrt()
        };
        let measurement = |repeat| {
            let share = |rank: u32| RankShare {
                rank,
                started_seconds: 0.0,
                ended_seconds: seconds(rank) * (1.0 + noise(rank, repeat)),
                operations: 1_000,
                failed: 0,
            };
            let ranks = (0..hosts.len() as u32).map(share).collect();
            Measurement {
                phase: "read".into(),
                ranks: Some(PhaseRanks::of(ranks, 1e-6)),
                ..Measurement::default()
            }
        };
        let mut book =
            Book { measurements: (0..repeats).map(measurement).collect(), ..Book::default() };
        book.run.hosts = hosts.iter().map(|host| host.to_string()).collect();
        book
    }

    const EIGHT: [&str; 8] = ["a", "a", "b", "b", "c", "c", "d", "d"];

    fn found(book: &Book) -> Vec<String> {
        slow_ranks(book).iter().map(|one| one[0].name.clone()).collect()
    }

    #[test]
    fn one_slow_rank_is_named_with_an_interval_that_holds_the_truth() {
        let slow = book(&EIGHT, 5, 1, |rank| if rank == 3 { 1.5 } else { 1.0 });
        let all = slow_ranks(&slow);
        let [one] = all.concat().try_into().unwrap_or_else(|all| panic!("{all:?}"));
        let SlowRank { name, interval, measurements, .. } = one;
        assert_eq!((name.as_str(), measurements), ("rank 3 on b", 5));
        assert!(interval.contains(1.0 / 1.5), "{interval:?}");
    }

    #[test]
    fn a_host_whose_ranks_are_all_slow_is_named_itself() {
        let slow = book(&EIGHT, 4, 2, |rank| if rank / 2 == 2 { 1.4 } else { 1.0 });
        assert_eq!(found(&slow), ["c (2 ranks)"]);
    }

    #[test]
    fn equal_ranks_and_a_few_repeats_say_nothing() {
        let named: usize = (0..200).map(|seed| found(&book(&EIGHT, 5, seed, |_| 1.0)).len()).sum();
        assert_eq!(named, 0, "of 200 runs of equal ranks");
        assert!(found(&book(&EIGHT, 2, 1, |rank| if rank == 3 { 3.0 } else { 1.0 })).is_empty());
        assert!(found(&book(&["a"], 5, 1, |_| 1.0)).is_empty());
    }

    #[test]
    fn a_slowdown_that_is_small_is_none() {
        assert!(found(&book(&EIGHT, 10, 4, |rank| if rank == 3 { 1.05 } else { 1.0 })).is_empty());
    }
}
