//! Computes quantiles of latencies.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use schemars::JsonSchema;
use serde::Serialize;

use boatload_results::book::Measurement;

/// Latencies, in nanoseconds. A quantile is `None` for too few operations, or if the histograms of
/// several measurements cannot be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySummary {
    /// Half are shorter.
    pub p50_ns: Option<u64>,
    /// 99 in 100 are shorter.
    pub p99_ns: Option<u64>,
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
        ns.map(|ns| ns.min(max_ns)).filter(|_| operations >= quantile.operations_min())
    };
    Some(LatencySummary { p50_ns: at(Quantile::P50), p99_ns: at(Quantile::P99), max_ns })
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
