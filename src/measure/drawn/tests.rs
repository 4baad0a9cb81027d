use serde_json::json;

use super::*;
use crate::measure::book::{Measurement, Window};
use crate::measure::fixture::measurement;
use crate::measure::uncertainty::IntervalBasis;

fn finding(kind: &str, figures: Value) -> Finding {
    let Value::Object(figures) = figures else { panic!("{figures}") };
    Finding { kind: kind.into(), figures, ..Finding::default() }
}

fn book_of(findings: Vec<Finding>) -> Book {
    Book { findings, ..Book::default() }
}

/// 400 windows of a latency that grows by a line, and what is concluded of them.
fn growing() -> Book {
    let window = |n: u64| Window {
        first: n * 1_000,
        operations: 1_000,
        mean_ns: 20_000.0,
        p50_ns: 20_000 + n * 100,
        p99_ns: 90_000,
        max_ns: 100_000,
    };
    let windows = (0..400).map(window).collect();
    let measurements = vec![Measurement { windows, ..measurement("create", 1, 400_000, 20_000) }];
    let mut book = Book { measurements, ..Book::default() };
    book.findings = conclude(&book, &[Conclusion::Growth], &["default"]);
    book
}

#[test]
fn the_law_of_a_growing_phase_is_drawn_through_its_windows() {
    let book = growing();
    let all = growths(&book);
    let [one] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((one.phase.as_str(), one.what.as_str()), ("create", "linear law"));
    assert_eq!(one.curve.len(), 20);
    for (operations, ns) in &one.curve {
        let truth = 20_000.0 + operations / 10.0;
        assert!((ns / truth - 1.0).abs() < 0.02, "{operations}: {ns}, {truth}");
    }
}

#[test]
fn the_law_of_an_earlier_boatload_is_made_anew_if_it_is_the_same() {
    let mut book = growing();
    let curve = growths(&book)[0].curve.clone();
    for key in ["blocks", "shape"] {
        book.findings[0].figures.remove(key);
    }
    assert_eq!(growths(&book)[0].curve, curve);
    book.findings[0].figures["law"] = json!("power");
    assert_eq!(growths(&book), [], "another law is not drawn for it");
}

#[test]
fn a_course_that_is_unclear_has_no_curve_and_a_threshold_its_place() {
    let told = |shape: &str| {
        finding(
            "growth",
            json!({
                "variant": "a", "phase": "create", "shape": shape, "law": "linear",
                "threshold_at": 5_000.0, "threshold_interval": [4_000.0, 6_000.0],
                "threshold_shape": "step", "level": {"axis": "x", "value": 3.0},
                "blocks": [{"operations": 1.0, "fitted_ns": 5.0}, {"operations": 2.0, "fitted_ns": null}],
            }),
        )
    };
    assert_eq!(growths(&book_of(vec![told("unclear")])), []);
    let one = growths(&book_of(vec![told("threshold")])).remove(0);
    let place = one.threshold.unwrap();
    assert_eq!((place.what, place.at, place.interval), ("step", 5_000.0, Some([4_000.0, 6_000.0])));
    assert_eq!((one.curve, one.level), (vec![(1.0, 5.0)], Some(3.0)));
}

#[test]
fn knees_and_meetings_are_those_of_the_phase_that_are_told() {
    let knee = |phase: &str, at: Value| {
        let interval = json!([70.0, 85.0]);
        finding(
            "knee",
            json!({
                "variant": "a", "phase": phase, "axis": "used", "at": at, "interval": interval,
            }),
        )
    };
    let meeting = |sync: bool| {
        finding(
            "crossover",
            json!({
                "variants": ["a", "b"], "phase": "create", "axis": "used", "sync": sync, "at": 50.0,
                "interval": null,
            }),
        )
    };
    let findings = vec![
        knee("create", json!(80.0)),
        knee("create", Value::Null),
        knee("read", json!(60.0)),
        meeting(true),
        meeting(false),
    ];
    let found = places(&book_of(findings), "create", "used");
    let told: Vec<_> = found.iter().map(|place| (place.what, place.at)).collect();
    assert_eq!(told, [("knee", 80.0), ("crossover", 50.0)]);
    assert_eq!((found[0].interval, found[1].interval), (Some([70.0, 85.0]), None));
    assert_eq!(found[1].variants, ["a", "b"]);
}

fn rate(mean: f64) -> Estimate {
    Estimate { mean, half_width: None, n: 2, basis: IntervalBasis::Repeats, figures: 2 }
}

fn line(effect: bool, word: &str) -> Vec<(f64, f64)> {
    let book = book_of(vec![finding(
        "slope",
        json!({
            "variant": "a", "phase": "read", "axis": "files", "per": 1_000.0, "change": -0.1,
            "effect": effect, "rate": word,
        }),
    )]);
    let level = |value| Level { axis: "files".into(), value, ..Level::default() };
    let levels = [level(0.0), level(2_000.0)];
    let rates = [(&levels[0], rate(100.0)), (&levels[1], rate(80.0))];
    slope_line(&book, ("a", "read"), (Unit::Bytes, &rates))
}

#[test]
fn the_line_of_a_slope_falls_as_told_and_goes_through_the_mean() {
    let line = line(true, "bytes");
    let (first, last) = (line[0], line[line.len() - 1]);
    assert_eq!((first.0, last.0), (0.0, 2_000.0));
    assert!((first.1 - 100.0).abs() < 1e-9 && (last.1 - 80.0).abs() < 1e-9, "{first:?} {last:?}");
}

#[test]
fn no_effect_or_another_rate_has_no_line() {
    assert_eq!(line(false, "bytes"), []);
    assert_eq!(line(true, "operations"), []);
}
