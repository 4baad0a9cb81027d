//! Quantiles of latencies of one run against those of another.

use super::{Verdict, ratio};
use crate::measure::between::Between;
use crate::measure::book::Measurement;
use crate::measure::conclusions::ratio::Rate;
use crate::measure::conclusions::sample::Values;
use crate::measure::tails::{LatencySummary, Quantile, own_interval};

/// A quantile of the latencies of A and B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyPair {
    /// Which.
    pub quantile: Quantile,
    /// In nanoseconds, of all operations; none where it is not known.
    pub ns: [Option<u64>; 2],
    /// How many times as long B's is, of the geometric means of the repeats' own.
    pub ratio: Option<f64>,
    /// Its 95% interval; none if the error of a side is unknown.
    pub interval: Option<[f64; 2]>,
    /// What that comes to: B is slower if it takes longer.
    pub verdict: Verdict,
}

/// Half the width of a 95% interval in standard errors, of the normal distribution.
const ERRORS_975: f64 = 1.96;

/// The quantiles that both runs have. `between` tells how far runs lie apart.
pub(super) fn latencies(
    tails: &[Option<LatencySummary>; 2],
    members: &[Vec<&Measurement>; 2],
    between: impl Fn(Quantile) -> Option<Between>,
) -> Vec<LatencyPair> {
    let pair = |quantile: Quantile| {
        let ns = tails.map(|tail| tail.and_then(|tail| quantile.in_tail(&tail).0));
        let told = ns.iter().any(Option::is_some);
        let [a, b] = members.each_ref().map(|members| logs(quantile, members));
        let ratio = a.zip(b).map(|(a, b)| ratio([&b, &a], between(quantile)).0);
        let ratio = ratio.filter(|_| ns.iter().all(Option::is_some));
        told.then_some(LatencyPair {
            quantile,
            ns,
            ratio: ratio.map(|ratio| ratio.times()),
            interval: ratio.and_then(|ratio| ratio.interval()),
            verdict: ratio.map_or(Verdict::CannotTell, |ratio| Verdict::of(&ratio).of_times()),
        })
    };
    Quantile::ALL.into_iter().filter_map(pair).collect()
}

/// Logarithms of a quantile of each repeat. A single measurement has the error that the order of its
/// latencies gives.
pub(super) fn logs(quantile: Quantile, members: &[&Measurement]) -> Option<Rate> {
    let log = |m: &Measurement| quantile.of(m).map(|ns| (ns as f64).ln());
    let mut values = Values::of(members, log);
    values.own_error = match (values.all.as_slice(), members) {
        ([_], [only]) => own_interval(quantile, only)
            .map(|[low, high]| (high as f64 / low.max(1) as f64).ln() / (2.0 * ERRORS_975)),
        _ => None,
    };
    Rate::of(&values)
}
