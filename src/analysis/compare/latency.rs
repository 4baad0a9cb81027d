//! Compares the latency quantiles of two runs.

use serde::{Serialize, Serializer};

use super::between_runs::BetweenRunVariance;
use super::ratio_test::RatioTest;
use crate::analysis::findings::ratio::Rate;
use crate::analysis::findings::sample::Values;
use crate::analysis::tails::{LatencySummary, Quantile, own_interval};
use crate::results::book::Measurement;

/// A quantile of the latencies of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyRatio {
    /// Which.
    #[serde(serialize_with = "quantile_key")]
    pub quantile: Quantile,
    /// In nanoseconds, of all operations; none where it is not known.
    #[serde(skip)]
    pub ns: [Option<u64>; 2],
    /// How many times as long B's is, of the geometric means of the repeats' own: B is slower if it
    /// takes longer.
    #[serde(flatten)]
    pub test: RatioTest,
}

fn quantile_key<S: Serializer>(quantile: &Quantile, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(quantile.key())
}

/// Half the width of a 95% interval in standard errors, of the normal distribution.
const ERRORS_975: f64 = 1.96;

/// The quantiles that a run has, tested where both have them. `between` is the between-run
/// variance of each.
pub(super) fn latency_ratios(
    latencies: &[Option<LatencySummary>; 2],
    members: &[Vec<&Measurement>; 2],
    between: impl Fn(Quantile) -> Option<BetweenRunVariance>,
    alpha: f64,
) -> Vec<LatencyRatio> {
    let mut all = Vec::new();
    for quantile in Quantile::ALL {
        let ns = latencies.map(|all| all.and_then(|all| quantile.in_tail(&all).0));
        let rates = members.each_ref().map(|members| quantile_rate(quantile, members));
        let test = match (ns, rates) {
            ([None, None], _) => continue,
            ([Some(_), Some(_)], [Some(a), Some(b)]) => {
                RatioTest::welch(&b.beside(&a), &a.beside(&b), between(quantile), alpha).of_times()
            }
            _ => RatioTest::default(),
        };
        all.push(LatencyRatio { quantile, ns, test });
    }
    all
}

/// Logarithms of a quantile of each repeat. A single measurement has the error that the order of its
/// latencies gives.
pub(super) fn quantile_rate(quantile: Quantile, members: &[&Measurement]) -> Option<Rate> {
    let mut values = Values::new(members, |m| quantile.of(m).map(|ns| (ns as f64).ln()));
    values.own_error = match (values.all.as_slice(), members) {
        ([_], [only]) => own_interval(quantile, only)
            .map(|[low, high]| (high as f64 / low.max(1) as f64).ln() / (2.0 * ERRORS_975)),
        _ => None,
    };
    Rate::new(&values)
}
