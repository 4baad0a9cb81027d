//! The figures of scipy and of plain Python (`tests/data/statistics.py`), and input that gives none.

use serde_json::Value;

use super::autocorrelation::{autocorrelation, batch_means, effective_size, series_mean};
use super::bootstrap::Resampling;
use super::change_points::{CHANCE_MAX, change_points};
use super::describe::{QuantileError, deviation, mean, mean_estimate, median, quantile, sorted};
use super::dip::{dip, dip_chance};
use super::modes::modes;
use super::order::{quantile_interval, quantile_ranks};
use super::trend::trend;
use super::warm_up::warm_up;
use super::{Interval, mean_interval, normal, ratio_interval, series_interval};

fn made(part: &str) -> Value {
    let text = include_str!("../../../tests/data/statistics.json");
    let all: Value = serde_json::from_str(text).unwrap();
    assert!(!all[part].is_null(), "{part}");
    all[part].clone()
}

fn rows(value: &Value) -> &[Value] {
    let rows = value.as_array().unwrap();
    assert!(!rows.is_empty());
    rows
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    rows(value).iter().map(number).collect()
}

#[track_caller]
fn same(found: f64, expected: &Value) {
    same_within(found, expected, 1e-9);
}

#[track_caller]
fn same_within(found: f64, expected: &Value, share: f64) {
    let expected = number(expected);
    let off = (found - expected).abs();
    assert!(off <= share * expected.abs().max(1e-300), "{found}, expected {expected}");
}

#[track_caller]
fn same_interval(found: Option<Interval>, expected: &Value) {
    let Some(expected) = expected.as_array() else { return assert_eq!(found, None) };
    let found = found.unwrap();
    same(found.low, &expected[0]);
    same(found.high, &expected[1]);
}

#[test]
fn the_normal_distribution_is_that_of_scipy() {
    let made = made("normal");
    for row in rows(&made["below"]) {
        same_within(normal::chance_below(number(&row[0])), &row[1], 1e-11);
    }
    for row in rows(&made["quantiles"]) {
        let (found, expected) = (normal::quantile(number(&row[0])).unwrap(), number(&row[1]));
        assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{row}: {found}");
    }
    for odd in [0.0, 1.0, -0.5, f64::NAN] {
        assert_eq!(normal::quantile(odd), None);
    }
    assert!(normal::chance_below(f64::NAN).is_nan());
    assert_eq!(normal::chance_below(f64::INFINITY), 1.0);
    assert_eq!(normal::chance_below(f64::NEG_INFINITY), 0.0);
}

#[test]
fn means_and_quantiles_have_the_errors_of_scipy() {
    for case in rows(&made("describe")) {
        let values = numbers(&case["values"]);
        same(mean(&values), &case["mean"]);
        same(deviation(&values), &case["deviation"]);
        same(mean_estimate(&values).error, &case["error"]);
        for row in rows(&case["quantiles"]) {
            let q = number(&row[0]);
            let estimate = QuantileError::new(values.len(), q).estimate(&values);
            same(quantile(&values, q), &row[1]);
            same(estimate.value, &row[1]);
            same(estimate.error, &row[2]);
        }
    }
}

#[test]
fn quantiles_lie_between_values_that_the_binomial_distribution_gives() {
    for case in rows(&made("order")) {
        let found = quantile_interval(&numbers(&case["values"]), number(&case["q"]), 0.95);
        same_interval(found, &case["interval"]);
    }
}

#[test]
fn bootstraps_are_those_of_scipy_for_the_same_draws() {
    let made = made("bootstrap");
    let resampling = Resampling {
        level: 0.95,
        resamples: made["resamples"].as_u64().unwrap() as u32,
        seed: made["seed"].as_u64().unwrap(),
    };
    for case in rows(&made["bca"]) {
        let statistic = match case["statistic"].as_str().unwrap() {
            "mean" => mean,
            "median" => median,
            _ => |values: &[f64]| quantile(values, 0.9),
        };
        let found = resampling.bca(&numbers(&case["values"]), statistic);
        same_interval(found, &case["interval"]);
    }
    let sample = |name: &str| numbers(&made[name]);
    let (small, other, middle) = (sample("small"), sample("other"), sample("middle"));
    let three = sample("three");
    same_interval(resampling.percentile_t(&small, mean_estimate), &made["percentile_t_mean"]);
    let error = QuantileError::new(middle.len(), 0.5);
    let of_median = resampling.percentile_t(&middle, |values| error.estimate(values));
    same_interval(of_median, &made["percentile_t_median"]);
    same_interval(resampling.ratio(&other, &small), &made["ratio"]);
    let groups = [&small[..], &other, &middle, &three];
    same_interval(resampling.hierarchical(&groups), &made["hierarchical"]);
}

#[test]
fn the_intervals_to_use_are_those_written_out_with_scipy() {
    let made = made("means");
    for case in rows(&made["mean"]) {
        same_interval(mean_interval(&numbers(&case["values"]), 0.95), &case["interval"]);
    }
    for case in rows(&made["ratio"]) {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        same_interval(ratio_interval(&a, &b, 0.95), &case["interval"]);
    }
    let series = &made["series"];
    same_interval(series_interval(&numbers(&series["values"]), 0.95), &series["interval"]);
}

#[test]
fn dependence_is_that_of_statsmodels() {
    for case in rows(&made("dependence")) {
        let values = numbers(&case["values"]);
        let expected = rows(&case["autocorrelation"]);
        let found = autocorrelation(&values, 10).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - number(expected)).abs() < 1e-12, "{found}, {expected}");
        }
        let size = effective_size(&values).unwrap();
        same(size, &case["effective_size"]);
        let error = deviation(&values) / size.sqrt();
        assert!((series_mean(&values).unwrap().error / error - 1.0).abs() < 1e-12);
        same(batch_means(&values, 20).unwrap().error, &case["batch_error"]);
    }
}

#[test]
fn a_warm_up_ends_where_each_cut_tried_by_itself_says() {
    for case in rows(&made("warm_up")) {
        let found = warm_up(&numbers(&case["values"])).unwrap();
        assert_eq!(found.values as u64, case["cut"].as_u64().unwrap());
        assert_eq!(found.settled, case["settled"].as_bool().unwrap());
    }
}

#[test]
fn trends_are_those_of_pymannkendall_and_scipy() {
    for case in rows(&made("trends")) {
        let found = trend(&numbers(&case["values"])).unwrap();
        same(found.slope, &case["slope"]);
        same(found.tau, &case["tau"]);
        same(found.correction, &case["correction"]);
        let off = (found.p_value - number(&case["p_value"])).abs();
        assert!(off < 1e-9, "{found:?}, expected {}", case["p_value"]);
    }
}

#[test]
fn dips_are_those_of_diptest() {
    let mut two = Vec::new();
    for case in rows(&made("modes")) {
        let values = numbers(&case["values"]);
        let found = modes(&values, 1).unwrap();
        same(dip(&sorted(&values)).unwrap(), &case["dip"]);
        assert_eq!(found.dip, dip(&sorted(&values)).unwrap());
        // Four standard deviations of the share of 500 samples, and one sample.
        let expected = number(&case["p_value"]);
        let chance = 4.0 * (expected * (1.0 - expected) / 500.0).sqrt() + 1.0 / 500.0;
        assert!((found.p_value - expected).abs() <= chance, "{found:?}, expected {expected}");
        two.push(found.two());
    }
    assert_eq!(two, [true, false, false, false, true, false]);
}

#[test]
fn the_groups_of_two_modes_are_told() {
    let values: Vec<f64> = (0..60).map(|i| f64::from(i % 6 / 5 * 50 + i % 5 + 100)).collect();
    let found = modes(&values, 1).unwrap();
    assert!(found.two(), "{found:?}");
    assert!((found.low.share - 5.0 / 6.0).abs() < 1e-12 && found.high.mean > 149.0, "{found:?}");
    // sqrt(2) * 50 / hypot(1.41, 1.41) or so.
    assert!((found.separation - 35.0).abs() < 3.0, "{found:?}");
    assert_eq!(dip_chance(0.25, 8000, 1), 1.0 / 501.0);
}

#[test]
fn changes_are_those_of_the_algorithm_written_out_in_python() {
    for case in rows(&made("changes")) {
        let found = change_points(&numbers(&case["values"]), CHANCE_MAX);
        let expected = case["points"].as_array().unwrap();
        assert_eq!(found.len(), expected.len(), "{found:?}, expected {expected:?}");
        for (point, expected) in found.iter().zip(expected) {
            assert_eq!(point.index as f64, number(&expected[0]));
            same(point.before, &expected[1]);
            same(point.after, &expected[2]);
            same_within(point.p_value, &expected[3], 1e-6);
            assert_eq!(point.relative, Some(point.after / point.before - 1.0));
        }
    }
}

/// Every figure of a sample, with and without an order.
fn all(values: &[f64]) -> [Option<Interval>; 8] {
    let resampling = Resampling { level: 0.95, resamples: 50, seed: 3 };
    let error = QuantileError::new(values.len(), 0.5);
    let _ = (trend(values), warm_up(values), modes(values, 1), dip(values));
    let _ = (autocorrelation(values, 1000), batch_means(values, 2), batch_means(values, 0));
    let _ = change_points(values, CHANCE_MAX);
    [
        mean_interval(values, 0.95),
        ratio_interval(values, values, 0.95),
        series_interval(values, 0.95),
        quantile_interval(values, 0.5, 0.95),
        resampling.bca(values, median),
        resampling.percentile_t(values, |values| error.estimate(values)),
        resampling.ratio(values, values),
        resampling.hierarchical(&[values, values]),
    ]
}

#[test]
fn no_input_gives_up() {
    assert_eq!(all(&[]), [None; 8]);
    for n in [1, 2, 3, 4, 7, 30, 120] {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut values = vec![5.0; n];
            values[n / 2] = odd;
            assert_eq!(all(&values), [None; 8], "{values:?}");
        }
        for scale in [1.0, -1.0, 0.0, 1e308, 1e-308, f64::MIN_POSITIVE, 0.1] {
            let equal = vec![scale; n];
            let mixed: Vec<f64> = (0..n).map(|i| scale * (i % 3) as f64).collect();
            all(&mixed);
            all(&mixed.iter().map(|value| value - scale).collect::<Vec<_>>());
            for interval in all(&equal).into_iter().flatten() {
                assert!((interval.low - interval.high).abs() < 1e-9 || scale.abs() > 1e300);
            }
        }
    }
    assert_eq!(mean_interval(&[5.0], 0.95), None);
    assert_eq!(mean_interval(&[5.0; 3], 0.95).unwrap().width(), 0.0);
    for level in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        assert_eq!(mean_interval(&[5.0, 6.0, 7.0], level), None);
        assert_eq!(mean_interval(&[5.0; 9], level), None);
        assert_eq!(quantile_interval(&[5.0; 9], 0.5, level), None);
        let resampling = Resampling { level, resamples: 9, seed: 0 };
        assert_eq!(resampling.bca(&[5.0, 6.0, 7.0], mean), None);
    }
    for a in [[0.0, 1.0, 2.0], [-1.0, 1.0, 2.0]] {
        assert_eq!(ratio_interval(&a, &[1.0, 2.0], 0.95), None);
        assert_eq!(ratio_interval(&[1.0, 2.0], &a, 0.95), None);
    }
}

/// For many values the ranks are those of the normal distribution: n q -+ 1.96 sqrt(n q (1 - q)).
#[test]
fn ranks_of_quantiles_are_right_for_many_values_too() {
    for n in [10_000u64, 1_000_000, 300_000_000] {
        for q in [0.5, 0.99, 0.999] {
            let (low, high) = quantile_ranks(n, q, 0.95).unwrap();
            let (middle, n) = (n as f64 * q, n as f64);
            let half = 1.96 * (n * q * (1.0 - q)).sqrt();
            for (rank, expected) in [(low, middle - half), (high, middle + half)] {
                let off = (rank as f64 - expected).abs() / half;
                assert!(off < 0.15, "{n} {q}: {low} to {high}, expected {expected}");
            }
        }
    }
    assert_eq!(quantile_ranks(367, 0.99, 0.95), None);
    assert!(quantile_ranks(368, 0.99, 0.95).is_some());
    assert_eq!((quantile_ranks(0, 0.5, 0.95), quantile_ranks(5, 0.5, 0.95)), (None, None));
}
