use hdrhistogram::Histogram;

use super::*;
use crate::results::histogram::{encoded, new_histogram};

/// Latencies of 1 to `n` microseconds, `scale` times as long.
fn measured(repeat: u32, n: u64, scale: f64) -> Measurement {
    let mut histogram: Histogram<u64> = new_histogram();
    (1..=n).for_each(|us| histogram.record((us as f64 * 1e3 * scale) as u64).unwrap());
    let mut m = Measurement {
        operations: n,
        seconds: Some(1.0),
        sync_seconds: Some(0.0),
        ..Measurement::default()
    };
    m.cell.repeat = repeat;
    let latency = m.latency.get_or_insert_default();
    latency.p50 = histogram.value_at_quantile(0.5);
    latency.p99 = histogram.value_at_quantile(0.99);
    latency.p99_9 = histogram.value_at_quantile(0.999);
    latency.max = histogram.max();
    m.histogram = encoded(&histogram);
    m
}

#[test]
fn a_single_measurement_has_intervals_from_the_order_of_its_latencies() {
    let m = measured(1, 1000, 1.0);
    let found = tail(&[&m]).unwrap();
    // scipy.stats.binom.ppf([.025, .975], 1000, .5) are 469 and 531: ranks 469 and 532.
    let [low, high] = found.intervals_ns[0].unwrap();
    assert!(low.abs_diff(469_000) < 1_000 && high.abs_diff(532_000) < 1_000, "{low} {high}");
    let [low, high] = found.intervals_ns[1].unwrap();
    assert!(low < 990_000 && high > 990_000 && high <= found.max_ns, "{low} {high}");
    assert!(found.p99_9_ns.is_some());
    assert_eq!(found.intervals_ns[2], None, "the longest may be too short for a bound");
}

#[test]
fn repeats_that_lie_apart_widen_the_interval_beyond_that_of_each() {
    let all = [measured(1, 1000, 1.0), measured(2, 1000, 1.2), measured(3, 1000, 0.8)];
    let [low, high] = tail(&all.each_ref()).unwrap().intervals_ns[0].unwrap();
    let [low_own, high_own] = tail(&[&all[0]]).unwrap().intervals_ns[0].unwrap();
    assert!(low < low_own && high > high_own, "{low} to {high}, {low_own} to {high_own}");
    let p50 = tail(&all.each_ref()).unwrap().p50_ns.unwrap();
    assert!((low..=high).contains(&p50));
}

#[test]
fn what_too_few_operations_tell_has_no_interval() {
    let (few, many) = (measured(1, 50, 1.0), measured(2, 5000, 1.0));
    let found = tail(&[&few, &many]).unwrap();
    assert!(found.intervals_ns[0].is_some() && found.p99_ns.is_some());
    assert_eq!(found.intervals_ns[1], None, "50 operations have no p99 of their own");
    let broken = Measurement { histogram: vec![1, 2], ..measured(1, 1000, 1.0) };
    assert_eq!(tail(&[&broken]).unwrap().intervals_ns[0], None);
}
