//! Computes quantiles of latencies, each with its error.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use schemars::JsonSchema;
use serde::Serialize;

use super::effects::contrast::Contrast;
use super::statistics::quantile_ranks;
use super::uncertainty::independent;
use crate::results::book::Measurement;

/// The chance with which an interval holds.
const LEVEL: f64 = 0.95;

/// Latencies, in nanoseconds. Intervals are at 95%. A quantile is `None` for too few operations, or if the histograms of
/// several measurements cannot be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySummary {
    /// Half are shorter.
    pub p50_ns: Option<u64>,
    /// 99 in 100 are shorter.
    pub p99_ns: Option<u64>,
    /// 999 in 1,000 are shorter.
    pub p99_9_ns: Option<u64>,
    /// The interval of each of these; `None` if it is not known.
    pub intervals_ns: [Option<[u64; 2]>; 3],
    /// The longest that occurred.
    pub max_ns: u64,
}

/// A quantile that is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Quantile {
    /// The median.
    P50,
    /// 99 in 100 are shorter.
    P99,
    /// 999 in 1,000 are shorter.
    #[serde(rename = "p99_9")]
    P999,
}

impl Quantile {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::P50, Self::P99, Self::P999];

    /// Its name: `p50`.
    pub fn as_str(self) -> &'static str {
        ["p50", "p99", "p99.9"][self as usize]
    }

    /// Its key in documents: `p99_9`.
    pub fn key(self) -> &'static str {
        ["p50", "p99", "p99_9"][self as usize]
    }

    fn share(self) -> f64 {
        [0.5, 0.99, 0.999][self as usize]
    }

    /// Of fewer operations the middle one is hardly a middle, and the others are the longest.
    fn operations_min(self) -> u64 {
        [10, 100, 1000][self as usize]
    }

    /// The quantile of one measurement, in nanoseconds; `None` for too few operations.
    pub(super) fn of(self, m: &Measurement) -> Option<u64> {
        let latency = m.latency?;
        let ns = [latency.p50, latency.p99, latency.p99_9][self as usize];
        (m.operations >= self.operations_min() && ns > 0).then_some(ns)
    }

    /// The quantile of a tail, with its interval.
    pub fn in_tail(self, tail: &LatencySummary) -> (Option<u64>, Option<[u64; 2]>) {
        let ns = [tail.p50_ns, tail.p99_ns, tail.p99_9_ns];
        (ns[self as usize], tail.intervals_ns[self as usize])
    }
}

/// Latencies of all operations of valid measurements together; `None` if there are none.
pub(super) fn tail(valid: &[&Measurement]) -> Option<LatencySummary> {
    // Published figures may come without latencies; none of a real operation is zero.
    let measured = |m: &&&Measurement| m.operations > 0 && m.latency.is_some_and(|all| all.max > 0);
    let measured: Vec<&Measurement> = valid.iter().filter(measured).copied().collect();
    let operations = measured.iter().fold(0u64, |sum, m| sum.saturating_add(m.operations));
    // A histogram rounds; the longest of each measurement was kept exactly.
    let max_ns = measured.iter().filter_map(|m| Some(m.latency?.max)).max()?;
    let merged = match measured.as_slice() {
        [_] => None,
        _ => merge(measured.iter().map(|m| m.histogram.as_slice())),
    };
    let at = |quantile: Quantile| {
        let ns = match measured.as_slice() {
            [only] => quantile.of(only),
            _ => merged.as_ref().map(|all| all.value_at_quantile(quantile.share())),
        };
        let ns = ns.map(|ns| ns.min(max_ns)).filter(|_| operations >= quantile.operations_min());
        let interval = ns.and_then(|ns| interval(quantile, &measured, ns));
        (ns, interval.map(|bounds| bounds.map(|bound| bound.min(max_ns))))
    };
    let found = Quantile::ALL.map(at);
    let [p50_ns, p99_ns, p99_9_ns] = found.map(|(ns, _)| ns);
    let intervals_ns = found.map(|(_, interval)| interval);
    Some(LatencySummary { p50_ns, p99_ns, p99_9_ns, intervals_ns, max_ns })
}

/// The interval of a quantile: of several repeats (of one its passes) over their own quantiles, of
/// one measurement between two of its latencies. It always holds the figure itself, which is of all
/// operations together.
fn interval(quantile: Quantile, measured: &[&Measurement], ns: u64) -> Option<[u64; 2]> {
    if let [only] = measured {
        return own_interval(quantile, only);
    }
    if measured.iter().any(|m| quantile.of(m).is_none()) {
        return None;
    }
    let (values, _) = independent(measured, |m| quantile.of(m).map_or(f64::NAN, |ns| ns as f64));
    let logs: Vec<f64> = values.iter().map(|ns| ns.ln()).collect();
    let found = Contrast::plain(&logs)?.interval(1.0 - LEVEL);
    Some([(found.low.floor() as u64).min(ns), (found.high.ceil() as u64).max(ns)])
}

/// The interval of a quantile of one measurement, from the order of its own latencies; none for too
/// few of them. It takes operations to be independent, and knows nothing of other runs.
pub fn own_interval(quantile: Quantile, m: &Measurement) -> Option<[u64; 2]> {
    let ns = quantile.of(m)?;
    let histogram = merge(std::iter::once(m.histogram.as_slice()))?;
    let n = histogram.len();
    let (low, high) = quantile_ranks(n, quantile.share(), LEVEL)?;
    // The middle of a rank, so that rounding does not hit its neighbour.
    let at = |rank: u64| histogram.value_at_quantile((rank as f64 - 0.5) / n as f64);
    Some([at(low).min(ns), at(high).max(ns)])
}

/// All latencies together; `None` if one of the histograms cannot be read, for quantiles of only a
/// part would pass for quantiles of the whole.
pub(super) fn merge<'a>(encoded: impl Iterator<Item = &'a [u8]>) -> Option<Histogram<u64>> {
    let mut reader = Deserializer::new();
    let mut all: Option<Histogram<u64>> = None;
    for mut bytes in encoded {
        let one: Histogram<u64> = reader.deserialize(&mut bytes).ok()?;
        match &mut all {
            None => all = Some(one),
            Some(all) => {
                all.auto(true);
                all.add(one).ok()?;
            }
        }
    }
    all.filter(|all| !all.is_empty())
}

#[cfg(test)]
mod tests;
