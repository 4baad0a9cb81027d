//! Whether two rates differ by more than chance.

use serde::Serialize;

use super::between_runs::BetweenRunVariance;
use crate::analysis::findings::ratio::{RateWithError, Ratio};
use crate::analysis::statistics::Interval;

/// What a ratio and its interval come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedVerdict {
    /// B was faster.
    Faster,
    /// B was slower.
    Slower,
    /// The interval holds 1.
    NoDifference,
    /// There is no interval.
    #[default]
    CannotTell,
}

/// The ratio of two rates, tested against 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RatioTest {
    /// How many times as fast B was; of latencies, how many times as long it took. None without a
    /// value of each.
    pub ratio: Option<f64>,
    /// Its confidence interval; none if the error of a side is unknown.
    pub interval: Option<Interval>,
    /// Whether the between-run variance of other runs made the interval wider than the repeats do.
    pub between_runs: bool,
    /// What that comes to.
    pub verdict: SpeedVerdict,
    /// The smallest difference, as a share, that would have been significant; none without an
    /// interval.
    pub smallest_detectable: Option<f64>,
}

impl RatioTest {
    /// Of `b` over `a` by Welch's interval, and at least as wide as the between-run variance makes
    /// that of two runs.
    pub(super) fn welch(
        b: &RateWithError,
        a: &RateWithError,
        between: Option<BetweenRunVariance>,
        alpha: f64,
    ) -> Self {
        Self::widened(Ratio::welch(b, a, alpha), between, alpha)
    }

    fn widened(own: Ratio, between: Option<BetweenRunVariance>, alpha: f64) -> Self {
        let half = between.and_then(|between| between.half_width(alpha));
        let wider = half.filter(|half| own.half.is_none_or(|own| *half > own));
        let ratio = Ratio { half: wider.or(own.half), ..own }.without_vast_interval();
        Self { between_runs: wider.is_some(), ..Self::of_ratio(&ratio) }
    }

    /// Of a ratio whose interval is known.
    pub(in crate::analysis) fn of_ratio(ratio: &Ratio) -> Self {
        let verdict = match (ratio.half, ratio.tie()) {
            (None, _) => SpeedVerdict::CannotTell,
            (_, true) => SpeedVerdict::NoDifference,
            _ if ratio.log > 0.0 => SpeedVerdict::Faster,
            _ => SpeedVerdict::Slower,
        };
        Self {
            ratio: Some(ratio.times()),
            interval: ratio.interval(),
            between_runs: false,
            verdict,
            smallest_detectable: ratio.half.map(f64::exp_m1),
        }
    }

    /// The same test of times, of which the longer is the slower.
    pub(super) fn of_times(self) -> Self {
        let verdict = match self.verdict {
            SpeedVerdict::Faster => SpeedVerdict::Slower,
            SpeedVerdict::Slower => SpeedVerdict::Faster,
            other => other,
        };
        Self { verdict, ..self }
    }

    /// How many times as long B took.
    pub fn slowdown(&self) -> Option<f64> {
        self.ratio.map(|ratio| 1.0 / ratio)
    }

    /// The interval of the slowdown.
    pub fn slowdown_interval(&self) -> Option<Interval> {
        self.interval.map(|one| Interval { low: 1.0 / one.high, high: 1.0 / one.low })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_repeats_far_apart_do_not_become_sure_by_steady_other_runs() {
        let steady = [0.0, 0.02, 0.01, 0.0, 0.02, 0.01].to_vec();
        let between = BetweenRunVariance::of_groups(&[steady]);
        let half = |half| {
            let test = RatioTest::widened(Ratio { log: 0.3, half }, between, 0.05);
            (test.smallest_detectable.map(f64::ln_1p), test.between_runs)
        };
        assert_eq!(half(Some(23.0)), (None, false));
        assert!(half(Some(9.5)).0.is_some_and(|half| (half - 9.5).abs() < 1e-9));
        assert!(half(None).0.is_some_and(|half| half < 0.1), "only they are known");
    }
}
