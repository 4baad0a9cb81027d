//! Computes how fast the ranks of a run were, and which of them, or which host, is slow.

use super::effects::moderation::moderated;
use super::statistics::Interval;
use super::statistics::describe::{mean, median};
use boatload_base::distinct::each_once;
use boatload_results::book::{Book, Level, Measurement};
use boatload_results::order::{PhaseCell, phase_cells};

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
    /// Mean operations per second of each rank, in their order; `None` where it did none.
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
    /// Its rate over the mean of the others; of a host, the rate of its slowest rank.
    pub ratio: f64,
    /// The interval of that, at 95% for all ranks or hosts of the phase together.
    pub interval: Interval,
    /// Measurements of the phase.
    pub measurements: usize,
}

/// What the ranks did in each phase of each variant at each level; nothing of runs of one process.
pub fn rank_rates(book: &Book) -> Vec<RankRates> {
    let judged = book.measurements.iter().filter(|m| m.valid() && m.ranks.is_some());
    phase_cells(judged).iter().map(RankRates::of_cell).collect()
}

/// The mean of what is known.
fn known_mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    Some(mean(&values.flatten().collect::<Vec<f64>>())).filter(|mean| mean.is_finite())
}

impl RankRates {
    fn of_cell(cell: &PhaseCell<'_>) -> Self {
        let ranks = || cell.measurements.iter().filter_map(|m| m.ranks.as_ref());
        let measured: Vec<Vec<Option<f64>>> =
            ranks().map(|one| one.ranks.iter().map(|rank| rank.rate()).collect()).collect();
        let number = measured.iter().map(Vec::len).min().unwrap_or(0);
        let rate = |m: &&Measurement| Some(m.operations_per_second_before_sync());
        Self {
            variant: cell.variant.to_string(),
            level: cell.level.cloned(),
            phase: cell.phase.to_string(),
            rates: (0..number)
                .map(|rank| known_mean(measured.iter().map(|row| row[rank])))
                .collect(),
            rate: known_mean(cell.measurements.iter().map(rate)).unwrap_or_default(),
            stonewall_rate: known_mean(ranks().map(|one| one.stonewall_rate())),
            straggler_share: known_mean(ranks().map(|one| one.straggler_share())),
            clock_error_seconds: ranks().map(|one| one.clock_error_seconds).fold(0.0, f64::max),
            measured,
        }
    }

    /// The slowest rank, and its rate over the rate of the rank in the middle; `None` where less than two did anything.
    pub fn slowest(&self) -> Option<(usize, f64)> {
        let share = |rank: usize| Some((rank, self.share_of_median(rank)?));
        let shares: Vec<(usize, f64)> = (0..self.rates.len()).filter_map(share).collect();
        shares.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| shares.len() > 1)
    }

    /// The rate of a rank over the rate of the rank in the middle; `None` where either is not known.
    fn share_of_median(&self, rank: usize) -> Option<f64> {
        let known: Vec<f64> = self.rates.iter().flatten().copied().collect();
        Some(self.rates.get(rank).copied().flatten()? / median(&known))
    }

    /// The slowest rank, if it surely is slow: in each repeat a rank is held against the mean of the others, with a variance
    /// that is moderated over all ranks, at a level that is shared by all (Bonferroni). It is named by its host where all ranks of
    /// that host are slow. `None` where nothing is sure.
    pub fn slow(&self, hosts: &[String]) -> Option<SlowRank> {
        let (n, repeats) = (hosts.len(), self.measured.len());
        if n < 2 || repeats < MEASUREMENTS_MIN {
            return None;
        }
        let log_rates = |row: &Vec<Option<f64>>| -> Option<Vec<f64>> {
            (0..n).map(|rank| Some(row.get(rank).copied().flatten()?.ln())).collect()
        };
        let rows = self.measured.iter().map(log_rates).collect::<Option<Vec<_>>>()?;
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
            name: self.name_of_slow(slowest, hosts),
            phase: self.phase.clone(),
            ratio: contrast.estimate.exp(),
            interval,
            measurements: repeats,
        })
    }

    fn name_of_slow(&self, rank: usize, hosts: &[String]) -> String {
        let host = &hosts[rank];
        let of_host: Vec<usize> = (0..hosts.len()).filter(|one| hosts[*one] == *host).collect();
        let is_slow =
            |one: &usize| self.share_of_median(*one).is_some_and(|share| share < SLOW_RATIO);
        match of_host.len() > 1 && of_host.iter().all(is_slow) {
            true => format!("{host} ({} ranks)", of_host.len()),
            false => format!("rank {rank} on {host}"),
        }
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
    use boatload_base::random::{Stream, draw, unit};
    use boatload_results::ranks::{PhaseRanks, RankShare};

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
