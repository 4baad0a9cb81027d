use super::*;
use crate::Analysis;
use boatload_results::book::Book;
use boatload_results::fixture::{self, measurement};

fn values(measurements: Vec<Measurement>) -> (Vec<RateValue>, f64) {
    let book = Book { measurements, ..Book::default() };
    let analysis = Analysis::of(&book);
    let summary = analysis.summary();
    let row = summary.rows().next().unwrap();
    let variant = &summary.groups[0].variant;
    (
        rate_values(&Analysis::of(&book), variant, None, row),
        row.rate.map_or(f64::NAN, |rate| rate.mean),
    )
}

#[test]
fn the_mean_of_the_values_is_the_rate_and_a_pass_is_no_repeat() {
    let mut all = Vec::new();
    for (repeat, pass, ns) in [(1, 1, 10_000), (1, 2, 30_000), (2, 1, 20_000)] {
        all.push(Measurement { pass, ..measurement("read", repeat, 1_000, ns) });
    }
    let (values, mean) = values(all);
    assert_eq!(values.iter().map(|value| value.n).collect::<Vec<_>>(), [2, 1]);
    let logs = values.iter().map(|value| value.rate.ln()).sum::<f64>();
    assert!((mean / (logs / 2.0).exp() - 1.0).abs() < 1e-12, "the geometric mean");
}

#[test]
fn passes_of_the_only_repeat_stand_for_themselves() {
    let pass = |pass| Measurement { pass, ..measurement("read", 1, 1_000, 10_000) };
    let (values, mean) = values(vec![pass(1), pass(2)]);
    assert_eq!(values.len(), 2);
    assert!((values[0].rate / mean - 1.0).abs() < 1e-12);
}

#[test]
fn a_single_measurement_and_an_invalid_one_give_none() {
    assert_eq!(values(vec![measurement("read", 1, 1_000, 10_000)]).0, []);
    let book = fixture::book();
    let analysis = Analysis::of(&book);
    let summary = analysis.summary();
    let rewrite = summary.rows().find(|row| row.phase == "rewrite").unwrap();
    let variant = &summary.groups[0].variant;
    assert_eq!(rate_values(&Analysis::of(&book), variant, None, rewrite), []);
}
