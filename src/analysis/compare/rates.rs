//! Computes the rate of a phase or of a whole job for comparisons between runs, and tests whether two
//! rates or two quantiles of latency differ significantly.

use serde::Serialize;

use super::between_runs::{BetweenRunVariance, VarianceBasis};
use crate::analysis::findings::ranking::{WholeJob, job_values, whole_jobs};
use crate::analysis::findings::ratio::{Rate, RateWithError, Ratio};
use crate::analysis::findings::sample::{SECONDS, Values};
use crate::analysis::statistics::Interval;
use crate::analysis::tails::Quantile;
use crate::analysis::thresholds::{INTERVAL_ALPHA, LIKELY_ALPHA};
use crate::analysis::uncertainty::{Estimate, IntervalBasis, independent, rate_estimate};
use crate::base::distinct::each_once;
use crate::base::units::Unit;
use crate::results::book::Measurement;

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// More is faster.
    #[default]
    OperationsPerSecond,
    /// More is faster.
    BytesPerSecond,
    /// Seconds of a whole job, or of `settle`.
    Seconds,
    /// How long the operation with this number, from 1, took, in nanoseconds. Of a run with
    /// windows, the mean of the window that it lies in.
    LatencyOfOperation(u64),
}

impl Metric {
    /// Of a rate in this unit.
    pub(super) fn of_rate(unit: Unit) -> Self {
        if unit == Unit::Bytes { Self::BytesPerSecond } else { Self::OperationsPerSecond }
    }
}

/// The rate of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunRate {
    /// Logarithms of the rates of repeats.
    pub(super) rate: Rate,
    /// The geometric mean of the rates, so that ratios are those of what is shown; of a whole job
    /// that of its seconds.
    pub(super) shown: Estimate,
}

/// The rate of a run's whole job.
pub(super) struct JobRate {
    pub(super) rate: RunRate,
    /// The operations of each phase; more than one where repeats did unlike work.
    pub(super) work: Vec<Vec<u64>>,
}

fn counts(m: &&&Measurement) -> bool {
    m.valid() && m.operations > 0 && SECONDS.contains(&m.seconds)
}

/// Whether one of these is a published figure of which nobody knows whether a sync is in it.
pub(super) fn has_unknown_sync(all: &[&Measurement]) -> bool {
    all.iter().any(|m| m.sync_seconds.is_nan())
}

/// The rate of a phase in operations or bytes per second over these seconds of each measurement; none
/// if nothing of it is valid.
pub(super) fn phase_rate(
    all: &[&Measurement],
    unit: Unit,
    seconds: fn(&Measurement) -> f64,
) -> Option<RunRate> {
    let valid: Vec<&Measurement> = all.iter().filter(counts).copied().collect();
    let done = |m: &Measurement| if unit == Unit::Bytes { m.bytes } else { m.operations } as f64;
    let logs = Values::new(&valid, |m| Some((done(m) / seconds(m)).ln()));
    let (rate, shown) = (Rate::new(&logs)?, rate_estimate(&valid, unit, seconds, None)?);
    Some(RunRate { rate, shown: Estimate { mean: rate.log.exp(), ..shown } })
}

/// The rate of `settle`, which is shown as the seconds that it took; none if nothing of it is valid.
pub(super) fn settle_rate(all: &[&Measurement]) -> Option<RunRate> {
    let valid: Vec<&Measurement> = all.iter().filter(counts).copied().collect();
    let rate = Rate::new(&Values::new(&valid, |m| Some(-m.seconds.ln())))?;
    let (seconds, basis) = independent(&valid, |m| m.seconds);
    let shown = Estimate::of(&seconds, None, basis)?;
    Some(RunRate { rate, shown: Estimate { mean: (-rate.log).exp(), ..shown } })
}

/// The phases that any of these cells has, if they are two or more.
pub(super) fn job_phases<'a>(cells: &[Vec<&'a Measurement>]) -> Option<Vec<&'a str>> {
    let phases = each_once(cells.iter().flatten().map(|m| m.phase.as_str()));
    (phases.len() > 1).then_some(phases)
}

/// The rate of all phases with their syncs; none without a repeat of which all is valid.
pub(super) fn job_rate(cell: &[&Measurement], phases: &[&str]) -> Option<JobRate> {
    let all: Vec<WholeJob> = whole_jobs(cell, phases);
    let logs = job_values(&all);
    let seconds: Vec<f64> = all.iter().map(|whole| whole.seconds).collect();
    let basis = if all.len() > 1 { IntervalBasis::Repeats } else { IntervalBasis::Slices };
    let (rate, shown) = (Rate::new(&logs)?, Estimate::of(&seconds, None, basis)?);
    let shown = Estimate { mean: (-rate.log).exp(), ..shown };
    let work = each_once(all.into_iter().map(|whole| whole.operations));
    Some(JobRate { rate: RunRate { rate, shown }, work })
}

/// The side that alone was measured under background load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadedSide {
    /// A alone.
    A,
    /// B alone.
    B,
}

impl LoadedSide {
    /// Of what was measured under load; none if both were, or neither.
    pub(super) fn of(loaded: [bool; 2]) -> Option<Self> {
        match loaded {
            [true, false] => Some(Self::A),
            [false, true] => Some(Self::B),
            _ => None,
        }
    }
}

/// What a ratio and its interval come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedVerdict {
    /// B was faster.
    Faster,
    /// B was slower.
    Slower,
    /// B was faster, which is not proven: the interval holds 1, and one at [`LIKELY_ALPHA`] does not, or
    /// background load may have slowed A alone.
    LikelyFaster,
    /// B was slower, which is not proven either.
    LikelySlower,
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
    /// Whether the between-run variance made the interval wider than the repeats do.
    pub between_runs: bool,
    /// By how much two equal runs differ at most, in 95 of 100 pairs, as a share.
    pub equal_runs_differ: Option<f64>,
    /// What that rests on.
    pub variance_basis: Option<VarianceBasis>,
    /// What that comes to.
    pub verdict: SpeedVerdict,
    /// The smallest difference, as a share, that would have been significant; none without an
    /// interval.
    pub smallest_detectable: Option<f64>,
}

impl RatioTest {
    /// Of `b` over `a` by Welch's interval, and at least as wide as the between-run variance makes
    /// that of the means of so many runs, of A and of B.
    pub(super) fn of_runs(
        [a, b]: [&RateWithError; 2],
        between: BetweenRunVariance,
        runs: [usize; 2],
        alpha: f64,
    ) -> Self {
        let own = |alpha| Ratio::welch(b, a, alpha);
        let widened = |alpha| Self::widened(own(alpha), between.half_width(alpha, runs), between);
        let ratio = widened(alpha).without_vast_interval();
        let test = Self::of_ratio(&ratio);
        let is_likely = !widened(alpha * LIKELY_ALPHA / INTERVAL_ALPHA).tie();
        let verdict = match test.verdict {
            SpeedVerdict::NoDifference if is_likely && ratio.log > 0.0 => {
                SpeedVerdict::LikelyFaster
            }
            SpeedVerdict::NoDifference if is_likely => SpeedVerdict::LikelySlower,
            other => other,
        };
        Self {
            verdict,
            between_runs: own(alpha).half.is_none_or(|own| ratio.half.is_some_and(|h| h > own)),
            equal_runs_differ: between.equal_runs_differ(),
            variance_basis: Some(between.basis),
            ..test
        }
    }

    /// Background load slows what is measured beside it: that alone does not prove that a run is slower.
    pub(super) fn without_effect_of_load(self, loaded_side: Option<LoadedSide>) -> Self {
        let verdict = match (loaded_side, self.verdict) {
            (Some(LoadedSide::A), SpeedVerdict::Faster) => SpeedVerdict::LikelyFaster,
            (Some(LoadedSide::B), SpeedVerdict::Slower) => SpeedVerdict::LikelySlower,
            (_, verdict) => verdict,
        };
        Self { verdict, ..self }
    }

    /// With the wider one of two intervals. An unknown error is known from other runs of the same alone.
    fn widened(own: Ratio, between: Option<f64>, of: BetweenRunVariance) -> Ratio {
        let is_known = own.half.is_some() || of.basis == VarianceBasis::Measured;
        let halves = own.half.into_iter().chain(between);
        Ratio { half: halves.reduce(f64::max).filter(|_| is_known), ..own }
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
            verdict,
            smallest_detectable: ratio.half.map(f64::exp_m1),
            ..Self::default()
        }
    }

    /// The same test of times, of which the longer is the slower.
    pub(super) fn of_times(self) -> Self {
        let verdict = match self.verdict {
            SpeedVerdict::Faster => SpeedVerdict::Slower,
            SpeedVerdict::Slower => SpeedVerdict::Faster,
            SpeedVerdict::LikelyFaster => SpeedVerdict::LikelySlower,
            SpeedVerdict::LikelySlower => SpeedVerdict::LikelyFaster,
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

/// A quantile of the latencies of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyRatio {
    /// Which.
    pub quantile: Quantile,
    /// Of A and B in nanoseconds, the geometric mean of the repeats' own; none where it is not known.
    pub ns: [Option<f64>; 2],
    /// How many times as long B's is: B is slower if it takes longer.
    #[serde(flatten)]
    pub test: RatioTest,
}

/// The quantiles that the measurements of a run have, tested where those of both have them. `between` is the
/// between-run variance of each.
pub(super) fn latency_ratios(
    members: &[Vec<&Measurement>; 2],
    between: impl Fn(Quantile) -> BetweenRunVariance,
    loaded_side: Option<LoadedSide>,
    alpha: f64,
) -> Vec<LatencyRatio> {
    let mut all = Vec::new();
    for quantile in Quantile::ALL {
        let rates = members.each_ref().map(|members| quantile_rate(quantile, members));
        let ns = rates.map(|rate| Some(rate?.log.exp()));
        let test = match rates {
            [None, None] => continue,
            [Some(a), Some(b)] => {
                let (a, b, between) = (a.with_error(), b.with_error(), between(quantile));
                let test = RatioTest::of_runs([&a, &b], between, [1, 1], alpha).of_times();
                test.without_effect_of_load(loaded_side)
            }
            _ => RatioTest::default(),
        };
        all.push(LatencyRatio { quantile, ns, test });
    }
    all
}

/// Logarithms of a quantile of each repeat.
pub(super) fn quantile_rate(quantile: Quantile, members: &[&Measurement]) -> Option<Rate> {
    Rate::new(&Values::new(members, |m| quantile.of(m).map(|ns| (ns as f64).ln())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_repeats_far_apart_do_not_become_sure_by_steady_other_runs() {
        let steady = [0.0, 0.02, 0.01, 0.0, 0.02, 0.01].to_vec();
        let between = BetweenRunVariance::of_groups(&[steady]).unwrap();
        let half = |deviation: Option<f64>| {
            let variance = deviation.map(|deviation| deviation * deviation / 2.0);
            let [a, b] = [0.0, 0.3].map(|log| RateWithError { log, variance, degrees: 1.0 });
            let test = RatioTest::of_runs([&a, &b], between, [1, 1], 0.05);
            (test.smallest_detectable.map(f64::ln_1p), test.between_runs)
        };
        assert_eq!(half(Some(5.0)), (None, false));
        assert!(half(Some(1.5)).0.is_some_and(|half| (6.0..10.0).contains(&half)));
        assert!(half(None).0.is_some_and(|half| half < 0.1), "only they are known");
    }

    #[test]
    fn between_equal_and_proven_lies_likely_and_more_runs_prove_what_one_pair_does_not() {
        let of = |log: f64, runs| {
            let rate = |log| RateWithError { log, variance: Some(1e-4), degrees: 4.0 };
            let (a, b) = (rate(0.0), rate(log));
            RatioTest::of_runs([&a, &b], BetweenRunVariance::assumed(false), runs, 0.05).verdict
        };
        assert_eq!(of(-0.10, [1, 1]), SpeedVerdict::NoDifference);
        assert_eq!(of(-0.18, [1, 1]), SpeedVerdict::LikelySlower);
        assert_eq!(of(0.18, [1, 1]), SpeedVerdict::LikelyFaster);
        assert_eq!(of(-0.24, [1, 1]), SpeedVerdict::Slower);
        assert_eq!(of(-0.18, [4, 4]), SpeedVerdict::Slower);
    }

    #[test]
    fn runs_in_general_give_no_error_to_a_rate_that_was_not_repeated() {
        let once = RateWithError { log: 3.0, variance: None, degrees: 1.0 };
        let other = RateWithError { log: 0.0, ..once };
        let assumed = BetweenRunVariance::assumed(true);
        let test = RatioTest::of_runs([&other, &once], assumed, [1, 1], 0.05);
        assert_eq!((test.verdict, test.interval), (SpeedVerdict::CannotTell, None));
    }
}
