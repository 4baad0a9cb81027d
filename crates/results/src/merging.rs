//! Merges what the ranks of a run measured in a phase: counts are added, histograms too, so that nothing of them is
//! lost. Merging is associative, so that ranks do it two by two.

use serde::{Deserialize, Serialize};

use super::book::{CacheReport, CacheState, Measurement, Window};
use super::histogram::{decoded, encoded};
use super::invalid::InvalidReason;
use super::ranks::{PhaseRanks, RankShare};
use super::recorder::latency;
use boatload_base::failure::{Failure, Result};
use boatload_run::workers::WorkSpan;

/// When a rank worked, by its own clock, and what it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankTimes {
    /// Which rank.
    pub rank: u32,
    /// From its first operation to its last; `None` if its workers could not be started.
    pub span: Option<WorkSpan>,
    /// Operations that succeeded.
    pub operations: u64,
    /// Operations that failed.
    pub failed: u64,
}

/// What some of the ranks measured in a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    measurement: Measurement,
    /// In their order.
    times: Vec<RankTimes>,
    /// Ranks that were not valid, beyond those that are named.
    unnamed: u64,
}

/// Ranks whose reasons for being invalid are named one by one.
const NAMED_MAX: usize = 8;

/// A histogram and the rest of a report are sent one after the other; before them the length of the rest.
const LENGTH_BYTES: usize = 8;

impl RankReport {
    /// What one rank measured. What its device did and what disturbed it belongs to its host, which other ranks share:
    /// with many ranks these figures are left out.
    pub fn new(measurement: Measurement, times: RankTimes) -> Self {
        let of_rank = |why| InvalidReason::Rank { rank: times.rank, why: Box::new(why) };
        let measurement = Measurement {
            invalid: measurement.invalid.into_iter().map(of_rank).collect(),
            device_read_bytes: None,
            device_write_bytes: None,
            device_reads: None,
            device_writes: None,
            device_busy_seconds: None,
            device_queue_seconds: None,
            space_bytes: None,
            inodes: None,
            disk: None,
            disturbance: None,
            ..measurement
        };
        Self { measurement, times: vec![times], unnamed: 0 }
    }

    /// As bytes, to be sent.
    ///
    /// # Errors
    /// If it cannot be written, which no report is known to do.
    pub fn encoded(mut self) -> Result<Vec<u8>> {
        let histogram = std::mem::take(&mut self.measurement.histogram);
        let rest = serde_json::to_vec(&self)
            .map_err(|error| Failure::from_system("send what was measured", error))?;
        let length = (rest.len() as u64).to_be_bytes();
        Ok([length.as_slice(), &rest, &histogram].concat())
    }

    /// The report that these bytes are.
    ///
    /// # Errors
    /// If they are none.
    pub fn decoded(bytes: &[u8]) -> Result<Self> {
        let none = || {
            Failure::failed("what a rank sent cannot be read: is its boatload the same version?")
        };
        let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>().ok_or_else(none)?;
        let length = usize::try_from(u64::from_be_bytes(*length)).map_err(|_| none())?;
        let (rest, histogram) = rest.split_at_checked(length).ok_or_else(none)?;
        let mut report: Self = serde_json::from_slice(rest).map_err(|_| none())?;
        report.measurement.histogram = histogram.to_vec();
        Ok(report)
    }

    /// The report of both; the ranks of the other come behind.
    ///
    /// # Errors
    /// If a histogram cannot be read.
    pub fn merged(mut self, other: Self) -> Result<Self> {
        let weights = [self.times.len() as f64, other.times.len() as f64];
        let (mut invalid, unnamed) = (self.measurement.invalid.clone(), other.unnamed);
        invalid.extend(other.measurement.invalid.iter().cloned());
        let beyond = invalid.len().saturating_sub(NAMED_MAX) as u64;
        invalid.truncate(NAMED_MAX);
        self.measurement = merged(&self.measurement, &other.measurement, weights)?;
        self.measurement.invalid = invalid;
        self.unnamed += unnamed + beyond;
        self.times.extend(other.times);
        Ok(self)
    }

    /// What all ranks measured together. `common` brings a time of a rank's clock to the common one, and
    /// `clock_error_seconds` says how far that may be off.
    pub fn measurement(
        self,
        common: impl Fn(u32, i64) -> i64,
        clock_error_seconds: f64,
    ) -> Measurement {
        let started = |one: &RankTimes| Some(common(one.rank, one.span?.started_ns));
        let first = self.times.iter().filter_map(started).min().unwrap_or_default();
        let seconds = |one: &RankTimes, ns| (common(one.rank, ns) - first) as f64 / 1e9;
        let at = |one: &RankTimes, ns: fn(WorkSpan) -> i64| {
            one.span.map_or(0.0, |span| seconds(one, ns(span)))
        };
        let share = |one: &RankTimes| RankShare {
            rank: one.rank,
            started_seconds: at(one, |span| span.started_ns),
            ended_seconds: at(one, |span| span.ended_ns),
            operations: one.operations,
            failed: one.failed,
        };
        let ranks = PhaseRanks::of(self.times.iter().map(share).collect(), clock_error_seconds);
        let mut invalid = self.measurement.invalid.clone();
        let more = InvalidReason::More { reasons: self.unnamed };
        invalid.extend((self.unnamed > 0).then_some(more));
        Measurement {
            invalid,
            seconds: Some(ranks.seconds()),
            worker_spread: ranks.straggler_share(),
            ranks: Some(ranks),
            ..self.measurement
        }
    }
}

fn merged(one: &Measurement, other: &Measurement, weights: [f64; 2]) -> Result<Measurement> {
    let unreadable = || Failure::failed("the histogram that a rank sent cannot be read");
    let mut histogram = decoded(&one.histogram).ok_or_else(unreadable)?;
    let added = decoded(&other.histogram).ok_or_else(unreadable)?;
    histogram.add(&added).map_err(|_| unreadable())?;
    let mut errors = one.errors.clone();
    for (error, count) in &other.errors {
        *errors.entry(*error).or_default() += count;
    }
    let timed = |m: &Measurement| m.latency.filter(|latency| latency.max > 0);
    let counts = [one, other].map(|m| timed(m).map_or(0.0, |_| m.operations as f64));
    let latencies = [one, other].map(|m| m.latency.unwrap_or_default());
    let mean = weighted(latencies.map(|latency| latency.mean), counts);
    let least = [one, other].into_iter().filter(|m| m.operations > 0);
    let least = least.filter_map(|m| Some(m.latency?.min)).min().unwrap_or_default();
    let most = latencies[0].max.max(latencies[1].max);
    let slices = one.slices_ns.iter().zip(&other.slices_ns);
    Ok(Measurement {
        operations: one.operations + other.operations,
        operations_asked: summed([one.operations_asked, other.operations_asked]),
        bytes: summed([one.bytes, other.bytes]),
        errors,
        seconds: longer([one.seconds, other.seconds]),
        sync_seconds: longer([one.sync_seconds, other.sync_seconds]),
        cpu_user_seconds: summed([one.cpu_user_seconds, other.cpu_user_seconds]),
        cpu_system_seconds: summed([one.cpu_system_seconds, other.cpu_system_seconds]),
        context_switches: one.context_switches.zip(other.context_switches).map(|(a, b)| a + b),
        time_shares: None,
        entries_expected: summed([one.entries_expected, other.entries_expected]),
        entries_found: summed([one.entries_found, other.entries_found]),
        idle: one.idle.zip(other.idle).map(|(a, b)| a && b),
        cache: merged_cache(&one.cache, &other.cache),
        // Ranks share a file system, so that what disturbs one disturbs the others too.
        rate_error: one.rate_error.zip(other.rate_error).map(|(a, b)| a.max(b)),
        slices_ns: slices.map(|(a, b)| weighted([*a, *b], weights)).collect(),
        windows: merged_windows(&one.windows, &other.windows),
        latency: Some(latency(&histogram, mean, least..=most)),
        histogram: encoded(&histogram),
        ..one.clone()
    })
}

/// The sum of what is known.
fn summed<T: std::ops::Add<Output = T>>(both: [Option<T>; 2]) -> Option<T> {
    both.into_iter().flatten().reduce(|a, b| a + b)
}

fn longer(both: [Option<f64>; 2]) -> Option<f64> {
    both.into_iter().flatten().reduce(f64::max)
}

/// The mean of two means; the mean of one where the other has no operations.
fn weighted([a, b]: [f64; 2], [of_a, of_b]: [f64; 2]) -> f64 {
    match (of_a > 0.0, of_b > 0.0) {
        (true, true) => (a * of_a + b * of_b) / (of_a + of_b),
        (false, true) => b,
        _ => a,
    }
}

/// Of each window the larger median and the larger p99 are kept: the figures of all operations are at most as large.
fn merged_windows(one: &[Window], other: &[Window]) -> Vec<Window> {
    let both = |(a, b): (&Window, &Window)| Window {
        first: a.first + b.first,
        operations: a.operations + b.operations,
        mean_ns: weighted([a.mean_ns, b.mean_ns], [a.operations as f64, b.operations as f64]),
        p50_ns: a.p50_ns.max(b.p50_ns),
        p99_ns: a.p99_ns.max(b.p99_ns),
        max_ns: a.max_ns.max(b.max_ns),
    };
    one.iter().zip(other).map(both).collect()
}

/// What was found at one rank alone is not known of all.
fn merged_cache(one: &CacheReport, other: &CacheReport) -> CacheReport {
    let is_same = one.found == other.found;
    let resident = [one.resident_fraction, other.resident_fraction];
    CacheReport {
        asked: one.asked,
        found: if is_same { one.found } else { CacheState::Unverified },
        resident_fraction: resident.into_iter().flatten().reduce(f64::max),
        reason: one.reason.or(other.reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::new_histogram;

    /// A report of a rank whose latencies are these.
    fn report(rank: u32, latencies: &[u64]) -> RankReport {
        let mut histogram = new_histogram();
        latencies.iter().for_each(|ns| histogram.record(*ns).unwrap());
        let operations = latencies.len() as u64;
        let mean = latencies.iter().sum::<u64>() as f64 / operations as f64;
        let extremes = *latencies.iter().min().unwrap()..=*latencies.iter().max().unwrap();
        let m = Measurement {
            operations,
            operations_asked: Some(operations),
            bytes: Some(10 * operations),
            latency: Some(latency(&histogram, mean, extremes)),
            histogram: encoded(&histogram),
            ..Measurement::default()
        };
        let span = WorkSpan { started_ns: 5_000_000_000, ended_ns: 6_000_000_000 };
        let times = RankTimes { rank, span: Some(span), operations, ..RankTimes::default() };
        RankReport::new(m, times)
    }

    #[test]
    fn a_rank_whose_workers_were_not_started_changes_no_time() {
        let failed = RankReport::new(
            Measurement { histogram: encoded(&new_histogram()), ..Measurement::default() },
            RankTimes { rank: 1, failed: 10, ..RankTimes::default() },
        );
        let merged = report(0, &[1_000]).merged(failed).unwrap().measurement(|_, ns| ns, 0.0);
        let ranks = merged.ranks.unwrap();
        assert_eq!((merged.seconds, ranks.stonewall_seconds), (Some(1.0), 1.0));
        assert_eq!((ranks.ranks[1].started_seconds, ranks.ranks[1].ended_seconds), (0.0, 0.0));
    }

    #[test]
    fn what_is_merged_in_pairs_is_what_one_process_would_have_recorded() {
        let parts = [vec![1_000, 2_000], vec![5_000_000], vec![3_000, 900], vec![77_000; 9]];
        let all: Vec<u64> = parts.concat();
        let mut reports = (0..).zip(&parts).map(|(rank, part)| report(rank, part));
        let through_wire = |one: RankReport| RankReport::decoded(&one.encoded().unwrap()).unwrap();
        let mut pair = || {
            let one = through_wire(reports.next().unwrap());
            one.merged(through_wire(reports.next().unwrap())).unwrap()
        };
        let merged = pair().merged(pair()).unwrap().measurement(|_, ns| ns, 0.0);
        let whole = report(0, &all).measurement(|_, ns| ns, 0.0);
        assert_eq!(merged.histogram, whole.histogram);
        assert_eq!((merged.operations, merged.bytes), (14, Some(140)));
        let latency = merged.latency.unwrap();
        assert_eq!((latency.min, latency.max), (900, 5_000_000));
        assert!((latency.mean - whole.latency.unwrap().mean).abs() < 1e-6);
        let ranks: Vec<u32> = merged.ranks.unwrap().ranks.iter().map(|one| one.rank).collect();
        assert_eq!(ranks, [0, 1, 2, 3]);
    }

    #[test]
    fn a_rank_without_operations_changes_no_latency() {
        let idle = RankReport::new(
            Measurement { histogram: encoded(&new_histogram()), ..Measurement::default() },
            RankTimes { rank: 1, ..RankTimes::default() },
        );
        let merged = report(0, &[1_000, 3_000]).merged(idle).unwrap().measurement(|_, ns| ns, 0.0);
        let latency = merged.latency.unwrap();
        assert_eq!((latency.mean, latency.min, merged.operations), (2_000.0, 1_000, 2));
    }

    #[test]
    fn the_first_ranks_that_fell_short_are_named_and_the_others_counted() {
        let short = |rank| {
            let mut report = report(rank, &[1_000]);
            let why = Box::new(InvalidReason::Operations { operations: 1, asked: 2 });
            report.measurement.invalid = vec![InvalidReason::Rank { rank, why }];
            report
        };
        let all = (1..20).fold(short(0), |all, rank| all.merged(short(rank)).unwrap());
        let invalid = all.measurement(|_, ns| ns, 0.0).invalid;
        assert_eq!(invalid.len(), NAMED_MAX + 1);
        assert_eq!(invalid.last().unwrap().sentence(), "and 12 more reasons");
    }

    #[test]
    fn bytes_that_are_no_report_are_refused() {
        for bytes in [&b""[..], b"\0\0\0\0\0\0\0\x09{}", b"\0\0\0\0\0\0\0\x02[]", &[0xff; 64]] {
            assert!(RankReport::decoded(bytes).is_err(), "{bytes:?}");
        }
    }
}
