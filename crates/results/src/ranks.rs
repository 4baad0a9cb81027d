//! Defines what the ranks of a run did in a phase, on one clock.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What each rank of a phase did, and what follows for all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRanks {
    /// Each rank, in their order.
    pub ranks: Vec<RankShare>,
    /// How far the times of one rank may be off from the times of another, in seconds.
    pub clock_error_seconds: f64,
    /// From the first start until the first rank had done all its work, in seconds.
    pub stonewall_seconds: f64,
    /// Operations that all ranks had done by then: an estimate, as if each had gone on evenly.
    pub stonewall_operations: f64,
}

/// What one rank did in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankShare {
    /// Which one.
    pub rank: u32,
    /// When it started, in seconds after the first.
    pub started_seconds: f64,
    /// When it ended, without the sync, in seconds after the first start.
    pub ended_seconds: f64,
    /// Operations that succeeded.
    pub operations: u64,
    /// Operations that failed.
    pub failed: u64,
}

impl RankShare {
    /// Whether it had work, and could begin with it.
    fn is_busy(&self) -> bool {
        self.operations + self.failed > 0 && self.seconds() > 0.0
    }

    /// How long it took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.ended_seconds - self.started_seconds
    }

    /// Its operations per second; null if it did none.
    pub fn rate(&self) -> Option<f64> {
        (self.operations > 0 && self.seconds() > 0.0)
            .then(|| self.operations as f64 / self.seconds())
    }
}

impl PhaseRanks {
    /// What follows from ranks whose times begin at the first start.
    pub fn of(ranks: Vec<RankShare>, clock_error_seconds: f64) -> Self {
        let busy = || ranks.iter().filter(|one| one.is_busy());
        let stonewall_seconds =
            busy().map(|one| one.ended_seconds).reduce(f64::min).unwrap_or_default();
        let until_then = |one: &RankShare| {
            let share = (stonewall_seconds - one.started_seconds) / one.seconds();
            one.operations as f64 * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
        };
        let stonewall_operations = busy().map(until_then).sum();
        Self { ranks, clock_error_seconds, stonewall_seconds, stonewall_operations }
    }

    /// From the first start to the last end, in seconds.
    pub fn seconds(&self) -> f64 {
        self.ranks.iter().map(|one| one.ended_seconds).fold(0.0, f64::max)
    }

    /// Operations per second until the first rank had done its work; null if nothing was done.
    pub fn stonewall_rate(&self) -> Option<f64> {
        (self.stonewall_seconds > 0.0).then(|| self.stonewall_operations / self.stonewall_seconds)
    }

    /// Time between the end of the rank in the middle and the end of the last one, over the time of all; null where fewer than
    /// two had work.
    pub fn straggler_share(&self) -> Option<f64> {
        let busy = self.ranks.iter().filter(|one| one.is_busy());
        let mut ends: Vec<f64> = busy.map(|one| one.ended_seconds).collect();
        ends.sort_by(f64::total_cmp);
        let (last, middle) = (ends.last()?, ends.get((ends.len() - 1) / 2)?);
        (ends.len() > 1 && *last > 0.0).then(|| (last - middle) / last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(all: &[(f64, f64, u64)]) -> PhaseRanks {
        let share = |(rank, (started, ended, operations)): (u32, &(f64, f64, u64))| RankShare {
            rank,
            started_seconds: *started,
            ended_seconds: *ended,
            operations: *operations,
            failed: 0,
        };
        PhaseRanks::of((0..).zip(all).map(share).collect(), 0.0)
    }

    #[test]
    fn at_the_stonewall_each_rank_has_done_its_share_of_the_time() {
        let all = shares(&[(0.0, 10.0, 100), (0.0, 20.0, 100), (5.0, 15.0, 100)]);
        assert_eq!((all.stonewall_seconds, all.seconds()), (10.0, 20.0));
        assert_eq!(all.stonewall_operations, 100.0 + 50.0 + 50.0);
        assert_eq!(all.stonewall_rate(), Some(20.0));
        assert_eq!(all.straggler_share(), Some(0.25));
    }

    #[test]
    fn ranks_without_work_set_no_stonewall_and_none_of_them_divides_by_zero() {
        let all = shares(&[(0.0, 0.0, 0), (0.0, 4.0, 8)]);
        assert_eq!((all.stonewall_seconds, all.stonewall_operations), (4.0, 8.0));
        assert_eq!(shares(&[]).stonewall_rate(), None);
        assert_eq!(shares(&[(0.0, 0.0, 3), (0.0, 0.0, 3)]).straggler_share(), None);
        assert_eq!(all.ranks[0].rate(), None);
    }

    #[test]
    fn ranks_without_work_make_nobody_late() {
        let two = [(0.0, 8.0, 10), (0.0, 10.0, 10)];
        let idle = [(0.0, 0.0, 0); 5];
        let all = shares(&[two.as_slice(), &idle].concat());
        assert_eq!(all.straggler_share(), Some(0.2));
        assert_eq!(shares(&[&two[..1], &idle].concat()).straggler_share(), None);
    }
}
