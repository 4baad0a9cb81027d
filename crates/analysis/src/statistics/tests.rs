//! The figures of scipy and of plain Python (`tests/data/statistics.py`), and input that gives none.

use serde_json::Value;

use super::dependence;
use super::describe::{deviation, mean};
use crate::change::change_points;

/// The chance that a change point is kept for (Fleming et al., "Hunter", ICPE 2023).
const CHANGE_POINT_ALPHA: f64 = 0.001;

fn made(part: &str) -> Value {
    let text = include_str!("../../../../tests/data/statistics.json");
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

#[test]
fn means_and_deviations_are_those_of_scipy() {
    for case in rows(&made("describe")) {
        let values = numbers(&case["values"]);
        same(mean(&values), &case["mean"]);
        same(deviation(&values), &case["deviation"]);
    }
}

#[test]
fn changes_are_those_of_the_algorithm_written_out_in_python() {
    for case in rows(&made("changes")) {
        let found = change_points(&numbers(&case["values"]), CHANGE_POINT_ALPHA);
        let expected = case["points"].as_array().unwrap();
        assert_eq!(found.len(), expected.len(), "{found:?}, expected {expected:?}");
        for (point, expected) in found.iter().zip(expected) {
            assert_eq!(point.index as f64, number(&expected[0]));
            same(point.before, &expected[1]);
            same(point.after, &expected[2]);
            same_within(point.p_value, &expected[3], 1e-6);
        }
    }
}

/// Every method on the same values.
fn all(values: &[f64]) {
    let _ = change_points(values, CHANGE_POINT_ALPHA);
}

#[test]
fn no_input_gives_up() {
    all(&[]);
    for n in [1, 2, 3, 4, 7, 30, 120] {
        for outlier in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut values = vec![5.0; n];
            values[n / 2] = outlier;
            all(&values);
        }
        for scale in [1.0, -1.0, 0.0, 1e308, 1e-308, f64::MIN_POSITIVE, 0.1] {
            all(&vec![scale; n]);
            let mixed: Vec<f64> = (0..n).map(|i| scale * (i % 3) as f64).collect();
            all(&mixed);
            all(&mixed.iter().map(|value| value - scale).collect::<Vec<_>>());
        }
    }
}

#[test]
fn alike_neighbours_count_less() {
    let alternating: Vec<f64> = (0..40).map(|n| if n % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let waves: Vec<f64> = (0..40).map(|n| (f64::from(n) / 6.0).sin()).collect();
    assert!((dependence(&alternating) - 1.0).abs() < 1e-12);
    assert!(dependence(&waves) > 10.0, "{}", dependence(&waves));
}
