//! Counts the cases in which boatload is right where the truth is known: equal runs, and pairs of runs in which one was
//! slowed down.

use super::compare::{ComparedRow, Comparison, PhaseKey, RowEffect};
use super::effect_finding::ComparedRatio;
use super::effects::decide::Decision;
use super::figures::alpha;
use super::observations::Observations;
use super::run_effects::ranking;
use super::statistics::describe::mean;
use super::statistics::{Interval, share_interval};
use boatload_base::distinct::counter;
use boatload_results::book::Book;

/// The chance of the share of a few pairs to lie beyond its interval, if claims are as seldom as they may be.
const CLAIMS_ALPHA: f64 = 0.01;

/// How often something came true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// This often.
    pub times: u64,
    /// Out of this number.
    pub of: u64,
}

impl Tally {
    /// Counts one more.
    pub fn count(&mut self, is_true: bool) {
        self.times += u64::from(is_true);
        self.of += 1;
    }

    /// The share, from 0 to 1; `None` of nothing.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.times as f64 / self.of as f64)
    }

    /// The 95% interval of the share; `None` of nothing.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        self.interval_at(0.05)
    }

    /// The interval that does not hold the share with the chance `alpha` (Wilson, JASA 22, 1927); `None` of nothing.
    fn interval_at(&self, alpha: f64) -> Option<Interval> {
        share_interval(self.share()?, self.of as f64, alpha)
    }

    /// Whether it is above this share, but for the chance `alpha`.
    pub(super) fn is_above(&self, share: f64, alpha: f64) -> bool {
        self.interval_at(alpha).is_some_and(|found| found.low > share)
    }
}

/// What the comparisons of all pairs say of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialRow {
    /// The row.
    pub key: PhaseKey,
    /// The claims of a difference, in the direction of the truth if there is one.
    pub claimed: Tally,
    /// How often the interval of the ratio held the truth.
    pub held: Tally,
    /// Logarithms of the ratios.
    logs: Vec<f64>,
}

impl TrialRow {
    /// How many times as long the second took, in the geometric mean.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        mean(&self.logs).exp()
    }
}

/// Pairs of runs with a known ratio of the second's time to the first's.
#[derive(Clone, Debug, PartialEq)]
pub struct Trials {
    /// How many times as long it takes.
    pub truth: f64,
    /// How many pairs there were.
    pub pairs: u64,
    /// In how many of the comparisons of two runs any difference was claimed.
    pub claimed: Tally,
    /// Each row of the comparisons, the whole job first.
    pub rows: Vec<TrialRow>,
}

impl Trials {
    /// None yet, with this truth.
    #[must_use]
    pub fn new(truth: f64) -> Self {
        Self { truth, pairs: 0, claimed: Tally::default(), rows: Vec::new() }
    }

    /// Counts one pair of runs.
    pub fn add(&mut self, comparison: &Comparison) {
        self.pairs += 1;
        self.claimed.count(comparison.rows.iter().any(|row| row.effect.decision.is_difference()));
        for ComparedRow { key, effect, .. } in &comparison.rows {
            if let RowEffect { ratio: Some(ratio), interval, decision, .. } = *effect {
                self.count(key, ComparedRatio { ratio, interval, level: None, decision });
            }
        }
    }

    /// Counts one run in which the two variants took turns.
    pub fn add_turns(&mut self, book: &Book, pair: [&str; 2]) {
        self.pairs += 1;
        for effect in ranking(&Observations::new(book, &pair), alpha(book)) {
            let is_first = effect.to.variant.as_deref() == Some(pair[0]);
            let seen = effect.stated();
            let slowdown = if is_first { seen.reversed() } else { seen };
            self.count(
                &PhaseKey { variant: None, level: effect.to.level, phase: effect.phase },
                slowdown,
            );
        }
    }

    fn count(
        &mut self,
        key: &PhaseKey,
        ComparedRatio { ratio, interval, decision, .. }: ComparedRatio,
    ) {
        let Some(interval) = interval else { return };
        let is_right = match decision {
            Decision::Shorter => self.truth <= 1.0,
            Decision::Longer => self.truth >= 1.0,
            _ => false,
        };
        let new = || TrialRow { key: key.clone(), ..TrialRow::default() };
        let row = counter(&mut self.rows, |row| row.key == *key, new);
        row.claimed.count(is_right);
        row.held.count(interval.contains(self.truth));
        row.logs.push(ratio.ln());
    }

    /// Whether differences were claimed in more than this share of the pairs, beyond chance.
    #[must_use]
    pub fn claims_more_than(&self, share: f64) -> bool {
        self.claimed.is_above(share, CLAIMS_ALPHA)
    }

    /// Whether intervals of some row held the truth less often than this share, beyond chance. The intervals
    /// of all rows hold together with 95% (Bonferroni). Rows of one run depend on each other, for what
    /// disturbs it disturbs all: they are no more runs.
    #[must_use]
    pub fn holds_less_than(&self, share: f64) -> bool {
        let alpha = 0.05 / self.rows.len().max(1) as f64;
        let held = |row: &TrialRow| row.held.interval_at(alpha);
        self.rows.iter().any(|row| held(row).is_some_and(|found| found.high < share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.binomtest(3, 100).proportion_ci(method='wilson') and (20, 20).
    #[test]
    fn a_share_has_the_interval_of_scipys_wilson() {
        let of = |times, of| Tally { times, of }.interval().unwrap();
        for (found, low, high) in
            [(of(3, 100), 0.010254524, 0.084519364), (of(20, 20), 0.838874842, 1.0)]
        {
            assert!(
                (found.low - low).abs() < 1e-6 && (found.high - high).abs() < 1e-6,
                "{found:?}"
            );
        }
        assert_eq!(Tally::default().interval(), None);
    }

    /// Pairs of equal runs with `rows` rows; `differ` pairs differ in every row.
    fn disturbed(pairs: u64, rows: usize, differ: u64) -> Trials {
        let row = TrialRow {
            key: PhaseKey::default(),
            claimed: Tally { times: differ, of: pairs },
            held: Tally { times: pairs - differ, of: pairs },
            logs: Vec::new(),
        };
        let claimed = row.claimed;
        Trials { truth: 1.0, pairs, claimed, rows: vec![row; rows] }
    }

    #[test]
    fn a_run_that_was_disturbed_as_a_whole_is_one_run_and_not_as_many_as_it_has_phases() {
        assert!(!disturbed(10, 6, 2).claims_more_than(0.05));
        assert!(disturbed(10, 6, 6).claims_more_than(0.05));
        assert!(disturbed(200, 6, 30).claims_more_than(0.05));
        assert!(!disturbed(200, 6, 30).holds_less_than(0.9));
        assert!(disturbed(200, 6, 60).holds_less_than(0.9));
    }
}
