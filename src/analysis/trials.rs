//! Counts how often boatload is right where the truth is known: equal runs, runs of which one was
//! slowed down, and runs of the simulated file system.

use super::compare::{Comparison, PhaseKey, RowEffect};
use super::effect::{ComparedRatio, EffectFinding};
use super::effects::decide::Decision;
use super::figures::alpha;
use super::observations::Observations;
use super::run_effects::ranking;
use super::statistics::describe::{mean, median};
use super::statistics::{Interval, share_interval};
use crate::results::book::Book;

/// The chance of the share of a few pairs to lie beyond its interval, if claims are as seldom as they may be.
const CLAIMS_ALPHA: f64 = 0.01;

/// How often something came true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// This often.
    pub times: u64,
    /// Out of so many.
    pub of: u64,
}

impl Tally {
    /// Counts one more.
    pub fn count(&mut self, is_true: bool) {
        self.times += u64::from(is_true);
        self.of += 1;
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { times: self.times + other.times, of: self.of + other.of }
    }

    /// The share, from 0 to 1; none of nothing.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.times as f64 / self.of as f64)
    }

    /// The 95% interval of the share; none of nothing.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        self.interval_at(0.05)
    }

    /// The interval of the share that does not hold it with the chance `alpha` (Wilson, JASA 22,
    /// 1927); none of nothing.
    pub(super) fn interval_at(&self, alpha: f64) -> Option<Interval> {
        share_interval(self.share()?, self.of as f64, alpha)
    }
}

/// What the comparisons of all pairs say of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialRow {
    /// The row.
    pub key: PhaseKey,
    /// How often a difference was claimed, in the direction of the truth if there is one.
    pub claimed: Tally,
    /// How often the interval of the ratio held the truth.
    pub held: Tally,
    /// The smallest differences that half of an interval would exclude, as shares.
    detectable: Vec<f64>,
    /// Logarithms of the ratios.
    logs: Vec<f64>,
}

impl TrialRow {
    /// How many times as long the second took, in the geometric mean.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        mean(&self.logs).exp()
    }

    /// The median of the smallest detectable differences, as a share; none if none is known.
    #[must_use]
    pub fn smallest_detectable(&self) -> Option<f64> {
        Some(median(&self.detectable)).filter(|middle| middle.is_finite())
    }
}

/// Pairs of runs of which it is known how many times as long the second takes.
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
        self.claimed.count(has_claim(comparison));
        for row in &comparison.rows {
            self.count(&row.key, &row.effect);
        }
    }

    /// Counts one run in which the two variants took turns.
    pub fn add_turns(&mut self, book: &Book, pair: [&str; 2]) {
        self.pairs += 1;
        for effect in ranking(&Observations::new(book, &pair), alpha(book)) {
            let is_first = effect.to.variant.as_deref() == Some(pair[0]);
            let seen = effect.stated();
            let slowdown = if is_first { seen.reversed() } else { seen };
            let EffectFinding { phase, to, .. } = effect;
            let key = PhaseKey { variant: None, level: to.level, phase };
            let ComparedRatio { ratio, interval, decision, .. } = slowdown;
            self.count(
                &key,
                &RowEffect { ratio: Some(ratio), interval, decision, ..RowEffect::default() },
            );
        }
    }

    fn count(&mut self, key: &PhaseKey, effect: &RowEffect) {
        let (Some(ratio), Some(interval)) = (effect.ratio, effect.interval) else { return };
        let is_right = match effect.decision {
            Decision::Shorter => self.truth <= 1.0,
            Decision::Longer => self.truth >= 1.0,
            _ => false,
        };
        let at = self.rows.iter().position(|row| row.key == *key).unwrap_or_else(|| {
            self.rows.push(TrialRow { key: key.clone(), ..TrialRow::default() });
            self.rows.len() - 1
        });
        let counted = &mut self.rows[at];
        counted.claimed.count(is_right);
        counted.held.count(interval.contains(self.truth));
        counted.detectable.push((interval.high / interval.low).sqrt() - 1.0);
        counted.logs.push(ratio.ln());
    }

    /// All phases together.
    #[must_use]
    pub fn phases(&self) -> TrialRow {
        self.together(|row| row.key.phase.is_some())
    }

    /// The whole jobs of all variants and levels together.
    #[must_use]
    pub fn jobs(&self) -> TrialRow {
        self.together(|row| row.key.phase.is_none())
    }

    /// Whether differences were claimed in more than this share of the pairs, beyond chance.
    #[must_use]
    pub fn claims_more_than(&self, share: f64) -> bool {
        self.claimed.interval_at(CLAIMS_ALPHA).is_some_and(|found| found.low > share)
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

    fn together(&self, is_wanted: impl Fn(&TrialRow) -> bool) -> TrialRow {
        let mut all = TrialRow::default();
        for row in self.rows.iter().filter(|row| is_wanted(row)) {
            all.claimed = all.claimed.and(row.claimed);
            all.held = all.held.and(row.held);
        }
        all
    }
}

/// Whether a comparison claims that anything is faster or slower.
fn has_claim(comparison: &Comparison) -> bool {
    let decisions = [Decision::Longer, Decision::Shorter];
    decisions.into_iter().any(|decision| !comparison.with(decision).is_empty())
}

/// How often something was found in pairs of separate runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairShares {
    /// By a comparison of the two alone.
    pub compare: Tally,
    /// By a comparison that knows earlier runs of the same.
    pub compare_stored: Tally,
    /// By a check of the second against the first.
    pub check: Tally,
    /// By a check of the second against the history.
    pub check_history: Tally,
    /// By a check against the history that runs the job again up to once, up to twice, and so on.
    pub confirmed: Vec<Tally>,
}

impl PairShares {
    /// Counts a check that alarmed, or not, after each of the runs that it took; after fewer than it could, because
    /// it looked well, it stays without an alarm.
    pub fn count_confirmed(&mut self, alarms: &[bool], most: usize) {
        self.confirmed.resize(most.max(self.confirmed.len()), Tally::default());
        let last = alarms.last().copied().unwrap_or(false);
        for (at, tally) in self.confirmed.iter_mut().enumerate() {
            tally.count(alarms.get(at).copied().unwrap_or(last));
        }
    }
}

/// Pairs of separate runs under one kind of planted noise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairTrials {
    /// The noise, for people.
    pub noise: &'static str,
    /// How often any difference, or regression, was claimed between equal runs.
    pub equal: PairShares,
    /// How often any row was found slower where the second took longer.
    pub slower: PairShares,
}

impl PairTrials {
    /// None yet.
    #[must_use]
    pub fn new(noise: &'static str) -> Self {
        Self { noise, ..Self::default() }
    }

    /// Whether differences or regressions were claimed in more than this share of the equal pairs, beyond chance.
    #[must_use]
    pub fn claims_more_than(&self, share: f64) -> bool {
        let PairShares { compare, compare_stored, check, check_history, confirmed, .. } =
            &self.equal;
        let all = [compare, compare_stored, check, check_history];
        all.into_iter()
            .chain(confirmed)
            .any(|tally| tally.interval_at(CLAIMS_ALPHA).is_some_and(|found| found.low > share))
    }
}

/// What was found of one kind of noise of the simulated file system.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedNoise {
    /// Its word in job files.
    pub noise: &'static str,
    /// How often the interval of a rate held the true one.
    pub rate_held: Tally,
    /// How often the interval of a ratio of two that are the same held 1.
    pub ratio_held: Tally,
}

/// How often a law, or a change over levels, of the simulated file system was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedLaw {
    /// What the truth was, for people.
    pub truth: &'static str,
    /// How often it was found.
    pub right: Tally,
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

    /// Pairs of equal runs with so many rows, of which so many pairs differ in every row.
    fn disturbed(pairs: u64, rows: usize, differ: u64) -> Trials {
        let row = TrialRow {
            key: PhaseKey::default(),
            claimed: Tally { times: differ, of: pairs },
            held: Tally { times: pairs - differ, of: pairs },
            detectable: Vec::new(),
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
