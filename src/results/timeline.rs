//! Tells when ranks did their operations: rates in equal slices of the time of a phase. A worker keeps how long equal numbers
//! of its operations took, which costs no reading of the clock: each begins when the one before has ended, so these times add
//! up to its own. Within such a number its operations are taken as even.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::workers::WorkSpan;

/// Slices of the time of a phase.
pub const TIME_SLICES: usize = 48;

/// Most rows of a timeline.
const ROWS_MAX: usize = 64;

/// Operations of a worker, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationSlice {
    /// How many succeeded.
    pub operations: u64,
    /// How long they took together, in nanoseconds.
    pub ns: u64,
}

impl OperationSlice {
    /// With those after it.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let operations = self.operations + other.operations;
        Self { operations, ns: self.ns.saturating_add(other.ns) }
    }

    /// Their mean latency, in nanoseconds.
    pub fn mean_ns(self) -> f64 {
        self.ns as f64 / self.operations as f64
    }
}

/// The rates of ranks in equal slices of the time of a phase, from the first start to the last end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankTimeline {
    /// How many ranks a row is of, which follow each other; the last row may be of fewer.
    pub ranks_per_row: u32,
    /// Operations per second in each slice, a row for each rank; of several ranks, those of the slowest in that slice. None
    /// where none of them was at work for half of the slice.
    pub rows: Vec<Vec<Option<f64>>>,
}

/// When a rank worked, in seconds after the first start, and its operations in equal slices of that time.
#[derive(Clone, Copy, Debug)]
pub struct RankWork<'a> {
    /// When it started.
    pub started_seconds: f64,
    /// When it ended.
    pub ended_seconds: f64,
    /// Its operations; empty if they are not known.
    pub operations: &'a [f64],
}

/// Operations that followed each other evenly, with times in seconds.
struct EvenWork {
    from: f64,
    to: f64,
    operations: f64,
}

/// The operations of workers that began together, in equal slices of the time that they worked; empty if they took none.
pub fn operations_over_time(workers: &[Vec<OperationSlice>], span: WorkSpan) -> Vec<f64> {
    let span_ns = (span.ended_ns - span.started_ns) as f64;
    if span_ns <= 0.0 {
        return Vec::new();
    }
    let work = workers.iter().flat_map(|slices| {
        let all_ns: f64 = slices.iter().map(|slice| slice.ns as f64).sum();
        // In a queue many are under way at once, and their latencies are longer than the time.
        let seconds_per_ns = (span_ns / all_ns).min(1.0) / 1e9;
        let mut to = 0.0;
        slices.iter().map(move |slice| {
            let from = to;
            to += slice.ns as f64 * seconds_per_ns;
            EvenWork { from, to, operations: slice.operations as f64 }
        })
    });
    in_slices(work, span_ns / 1e9).into_iter().map(rounded).collect()
}

/// Operations in equal slices of the time from 0 to `seconds`.
fn in_slices(works: impl Iterator<Item = EvenWork>, seconds: f64) -> Vec<f64> {
    let length = seconds / TIME_SLICES as f64;
    let mut slices = vec![0.0; TIME_SLICES];
    for EvenWork { from, to, operations } in works {
        let [first, last] = [from, to].map(|at| ((at / length) as usize).min(TIME_SLICES - 1));
        for (at, slice) in slices.iter_mut().enumerate().take(last + 1).skip(first) {
            let begins = from.max(at as f64 * length);
            let ends = if at == last { to } else { (at + 1) as f64 * length };
            let share = if to > from { (ends - begins) / (to - from) } else { 1.0 };
            *slice += operations * share.max(0.0);
        }
    }
    slices
}

/// With three figures, so that it is short as text.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

impl RankTimeline {
    /// That of ranks, in their order, which took so many seconds from the first start to the last end; none if nothing of it
    /// is known.
    pub fn of(ranks: &[RankWork<'_>], seconds: f64) -> Option<Self> {
        let ranks_per_row = ranks.len().div_ceil(ROWS_MAX).max(1);
        let row = |ranks: &[RankWork<'_>]| {
            let rates: Vec<_> = ranks.iter().map(|rank| rank.rates(seconds)).collect();
            let least = |at: usize| rates.iter().filter_map(|rates| rates[at]).reduce(f64::min);
            (0..TIME_SLICES).map(|at| least(at).map(rounded)).collect()
        };
        let rows: Vec<Vec<Option<f64>>> = ranks.chunks(ranks_per_row).map(row).collect();
        let is_known = rows.iter().flatten().any(Option::is_some);
        is_known.then_some(Self { ranks_per_row: ranks_per_row as u32, rows })
    }
}

impl RankWork<'_> {
    /// Operations per second in each slice of so many seconds; none where it was not at work for half of it.
    fn rates(&self, seconds: f64) -> Vec<Option<f64>> {
        if self.operations.is_empty() {
            return vec![None; TIME_SLICES];
        }
        let own = (self.ended_seconds - self.started_seconds) / self.operations.len() as f64;
        let work = self.operations.iter().enumerate().map(|(at, operations)| {
            let from = self.started_seconds + at as f64 * own;
            EvenWork { from, to: from + own, operations: *operations }
        });
        let length = seconds / TIME_SLICES as f64;
        let rate = |(at, operations): (usize, f64)| {
            let begins = self.started_seconds.max(at as f64 * length);
            let at_work = self.ended_seconds.min((at + 1) as f64 * length) - begins;
            (at_work >= length / 2.0).then(|| operations / at_work)
        };
        in_slices(work, seconds).into_iter().enumerate().map(rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn slices(all: &[[u64; 2]]) -> Vec<OperationSlice> {
        all.iter()
            .map(|[operations, ns]| OperationSlice { operations: *operations, ns: *ns })
            .collect()
    }

    fn lasting(seconds: i64) -> WorkSpan {
        WorkSpan { started_ns: 5, ended_ns: 5 + seconds * SECOND.cast_signed() }
    }

    #[test]
    fn operations_lie_in_the_slices_in_which_they_were_done_and_none_is_lost() {
        let even = operations_over_time(&[slices(&[[480, SECOND]; 32])], lasting(32));
        assert_eq!(even, vec![320.0; TIME_SLICES]);
        // Ten fast slices, one in which it stood still for nearly 28 seconds, ten fast ones.
        let mut paused = [[100, SECOND / 5]; 21];
        paused[10][1] = 28 * SECOND;
        let paused = operations_over_time(&[slices(&paused)], lasting(32));
        let slow = paused.iter().filter(|operations| **operations < 10.0).count();
        assert!((41..=43).contains(&slow), "{paused:?}");
        assert!((paused.iter().sum::<f64>() - 2_100.0).abs() < 10.0, "{paused:?}");
    }

    #[test]
    fn workers_add_up_and_what_a_queue_did_at_once_lies_within_its_time() {
        let one = slices(&[[48, SECOND]; 2]);
        let both = operations_over_time(&[one.clone(), one.clone()], lasting(2));
        assert_eq!(both, vec![4.0; TIME_SLICES]);
        let queued = operations_over_time(&[slices(&[[48, 8 * SECOND]; 2])], lasting(2));
        assert_eq!(queued, vec![2.0; TIME_SLICES]);
        let shorter = operations_over_time(&[one], lasting(4));
        assert_eq!(shorter, [vec![4.0; TIME_SLICES / 2], vec![0.0; TIME_SLICES / 2]].concat());
        assert!(operations_over_time(&[slices(&[[1, 0]])], lasting(0)).is_empty());
        assert_eq!(operations_over_time(&[slices(&[[7, 0]])], lasting(1))[0], 7.0);
    }

    fn work(operations: &[f64], started_seconds: f64, ended_seconds: f64) -> RankWork<'_> {
        RankWork { started_seconds, ended_seconds, operations }
    }

    #[test]
    fn a_rank_has_rates_while_it_works_and_none_before_and_after() {
        let even = [2.0; TIME_SLICES];
        let ranks = [work(&even, 0.0, 96.0), work(&even, 24.0, 72.0), work(&[], 0.0, 0.0)];
        let RankTimeline { ranks_per_row, rows } = RankTimeline::of(&ranks, 96.0).unwrap();
        assert_eq!((ranks_per_row, rows.len()), (1, 3));
        assert_eq!(rows[0], vec![Some(1.0); TIME_SLICES]);
        let none = vec![None; TIME_SLICES / 4];
        assert_eq!(rows[1], [none.clone(), vec![Some(2.0); TIME_SLICES / 2], none].concat());
        assert_eq!(rows[2], vec![None; TIME_SLICES]);
        assert_eq!(RankTimeline::of(&ranks[2..], 0.0), None);
        assert_eq!(RankTimeline::of(&[], 0.0), None);
    }

    #[test]
    fn a_row_of_many_ranks_has_the_slowest_of_them() {
        let even = [2.0; TIME_SLICES];
        let mut paused = even;
        paused[10] = 0.0;
        let mut ranks = vec![work(&even, 0.0, 48.0); 10_000];
        ranks[7_000] = work(&paused, 0.0, 48.0);
        let RankTimeline { ranks_per_row, rows } = RankTimeline::of(&ranks, 48.0).unwrap();
        assert_eq!((ranks_per_row, rows.len()), (157, 64));
        for (at, row) in rows.iter().enumerate() {
            let slow = row.iter().position(|rate| rate.unwrap() < 1.0);
            assert_eq!(slow, (at == 7_000 / 157).then_some(10), "row {at}");
        }
    }
}
