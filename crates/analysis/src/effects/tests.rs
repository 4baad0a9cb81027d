//! Holds these functions to the vectors of `tests/effects`: the reference's and our own.

use std::path::PathBuf;

use serde_json::Value;

use super::contrast::Contrast;
use super::decide::{ALPHA, Control, Decided, benjamini_hochberg, decide, holm, interval_alpha};
use super::moderation::{log_variance, moderate, moderated};
use super::rates::rates;
use super::runs::{RunRow, between_runs, check};
use crate::statistics::describe::squares;
use crate::statistics::distributions::{polygamma, quantile, trigamma, two_sided};

/// Of a figure, as a share of itself.
const TOLERANCE: f64 = 1e-9;

/// Differences of this size are rounding where the figure would be zero.
const ROUNDING: f64 = 1e-14;

const CONTROLS: [(Control, &str); 2] =
    [(Control::FalseDiscovery, "benjamini_hochberg"), (Control::Holm, "holm")];

fn folder(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/effects").join(name)
}

fn vector(name: &str) -> Value {
    let path = folder(name).with_extension("json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The reference's vectors whose names begin like this.
fn names(kind: impl Fn(&str) -> bool) -> Vec<String> {
    let names = std::fs::read_dir(folder("vectors")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| name.replace(".json", "")).filter(|name| kind(name)).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(|number| number.as_f64().unwrap()).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    list(value).iter().map(numbers).collect()
}

fn flags(value: &Value) -> Vec<bool> {
    list(value).iter().map(|flag| flag.as_bool().unwrap()).collect()
}

#[track_caller]
fn agree(what: &str, found: f64, expected: f64) {
    let (off, most) = ((found - expected).abs(), TOLERANCE * expected.abs());
    assert!(off <= most.max(ROUNDING), "{what}: {found:e}, expected {expected:e}");
}

/// Chances may be small: no rounding excuses them.
#[track_caller]
fn chances_agree(what: &str, found: &[f64], expected: &Value) {
    let expected = numbers(expected);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let is_same = (found - expected).abs() <= TOLERANCE * expected;
        assert!(is_same, "{what} {at}: {found:e}, expected {expected:e}");
    }
}

#[track_caller]
fn all_agree(what: &str, found: &[f64], expected: &Value) {
    let expected = numbers(expected);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        agree(&format!("{what} {at}"), *found, expected);
    }
}

#[track_caller]
fn contrasts_agree(name: &str, found: &[Contrast], vector: &Value) {
    type Figure = fn(&Contrast) -> f64;
    let figures: [(&str, Figure); 3] =
        [("estimate", |one| one.estimate), ("error", |one| one.error), ("df", |one| one.df)];
    for (key, figure) in figures {
        let found: Vec<f64> = found.iter().map(figure).collect();
        all_agree(&format!("{name}, {key}"), &found, &vector[key]);
    }
}

#[track_caller]
fn decisions_agree(name: &str, contrasts: &[Contrast], vector: &Value) {
    for (control, key) in CONTROLS {
        let (decided, expected) = (decide(contrasts, ALPHA, control), list(&vector[key]));
        assert_eq!(decided.len(), expected.len(), "{name}, {key}");
        for ((contrast, Decided { decision, alpha }), expected) in
            contrasts.iter().zip(decided).zip(expected)
        {
            assert_eq!(
                serde_json::to_value(decision).unwrap(),
                expected["decision"],
                "{name}, {key}"
            );
            agree(&format!("{name}, {key}, alpha"), alpha, expected["alpha"].as_f64().unwrap());
            let interval = contrast.interval(alpha);
            let found = [interval.low, interval.high];
            all_agree(&format!("{name}, {key}, interval"), &found, &expected["interval"]);
        }
    }
}

/// The number of each phase in the order of `independent`, and these numbers of independent quantities.
fn groups(vector: &Value) -> (Vec<usize>, Vec<usize>) {
    let all = vector["independent"].as_object().unwrap();
    let number = |phase: &Value| all.keys().position(|name| *name == phase.as_str().unwrap());
    let group_of = list(&vector["phase"]).iter().map(|phase| number(phase).unwrap()).collect();
    (group_of, all.values().map(|count| count.as_u64().unwrap() as usize).collect())
}

#[test]
fn moderation_tests_and_decisions_are_those_of_the_reference() {
    let is_other = |name: &str| name.starts_with("kept-") || name.starts_with("runs-");
    let found = names(|name| !is_other(name) && name != "families" && name != "growth");
    assert_eq!(found.len(), 18, "{found:?}");
    for name in found {
        let vector = vector(&format!("vectors/{name}"));
        let (group_of, independent) = groups(&vector);
        let ratios = rows(&vector["ratios"]);
        let d: Vec<f64> = ratios.iter().map(|of_one| of_one.len() as f64 - 1.0).collect();
        let s2: Vec<f64> = ratios.iter().zip(&d).map(|(of_one, d)| squares(of_one) / d).collect();
        let found = moderate(&s2, &d, &group_of, &independent);
        let mut lists = vec![("d", &d), ("s2", &s2), ("e", &found.e), ("s2_moderated", &found.s2)];
        let mut figures = vec![("d0", found.d0())];
        if let Some(prior) = &found.prior {
            lists.extend([("centre", &prior.centre), ("s0_squared", &prior.s0_squared)]);
            figures.extend([("W", prior.within), ("lambda", prior.spread), ("B", prior.between)]);
            figures.extend([("h", prior.weight), ("V", prior.variance)]);
        } else {
            assert!(vector["V"].is_null(), "{name} is moderated");
        }
        for (key, found) in lists {
            all_agree(&format!("{name}, {key}"), found, &vector[key]);
        }
        for (key, found) in figures {
            agree(&format!("{name}, {key}"), found, vector[key].as_f64().unwrap());
        }
        let contrasts = moderated(&ratios, &group_of, &independent);
        contrasts_agree(&name, &contrasts, &vector);
        let figure = |of: fn(&Contrast) -> f64| contrasts.iter().map(of).collect::<Vec<_>>();
        all_agree(&format!("{name}, t"), &figure(|one| one.estimate / one.error), &vector["t"]);
        chances_agree(
            &format!("{name}, p_differ"),
            &figure(Contrast::p_differ),
            &vector["p_differ"],
        );
        chances_agree(
            &format!("{name}, p_within"),
            &figure(Contrast::p_within),
            &vector["p_within"],
        );
        decisions_agree(&name, &contrasts, &vector);
    }
}

#[test]
fn families_claim_what_the_reference_claims() {
    let vector = vector("vectors/families");
    for (control, key) in CONTROLS {
        let claimed = if control == Control::Holm { holm } else { benjamini_hochberg };
        for (p, expected) in rows(&vector["p"]).iter().zip(list(&vector[key])) {
            let found = claimed(p, ALPHA);
            assert_eq!(found, flags(&expected["claimed"]), "{key} {p:?}");
            let claims = found.iter().filter(|claimed| **claimed).count();
            let alpha = interval_alpha(claims, p.len(), ALPHA, control);
            agree(key, alpha, expected["alpha"].as_f64().unwrap());
        }
    }
}

fn run_rows(vector: &Value, is_loaded: &[bool]) -> Vec<RunRow> {
    let (a, b, stored) = (rows(&vector["a"]), rows(&vector["b"]), rows(&vector["stored"]));
    let all = a.into_iter().zip(b).zip(stored).zip(is_loaded);
    all.map(|(((a, b), stored), is_loaded)| RunRow::of_runs(&a, &b, stored, *is_loaded, 1))
        .collect()
}

#[test]
fn two_runs_compare_as_in_the_reference() {
    let found = names(|name| name.starts_with("runs-"));
    assert_eq!(found.len(), 4, "{found:?}");
    for name in found {
        let vector = vector(&format!("vectors/{name}"));
        let contrasts = between_runs(&run_rows(&vector, &[false; 4]));
        contrasts_agree(&name, &contrasts, &vector);
        decisions_agree(&name, &contrasts, &vector);
    }
}

#[test]
fn runs_beside_background_load_are_trusted_less() {
    for (at, case) in list(&vector("own/between")["cases"]).iter().enumerate() {
        let contrasts = between_runs(&run_rows(case, &flags(&case["is_loaded"])));
        contrasts_agree(&format!("case {at}"), &contrasts, case);
    }
}

#[track_caller]
fn checks_agree(name: &str, contrasts: &[Contrast], expected: &Value) {
    let factor = expected["factor"].as_f64().unwrap();
    let above: Vec<f64> = contrasts.iter().map(|one| one.p_above(factor)).collect();
    let below: Vec<f64> = contrasts.iter().map(|one| one.p_below(factor)).collect();
    chances_agree(&format!("{name}, above"), &above, &expected["p_above"]);
    chances_agree(&format!("{name}, below"), &below, &expected["p_below"]);
    let decided = check(contrasts, factor, ALPHA);
    assert_eq!(serde_json::to_value(decided).unwrap(), expected["decision"], "{name}");
}

#[test]
fn a_check_fails_passes_or_is_unsure_by_one_sided_tests() {
    for (at, family) in list(&vector("own/checks")["families"]).iter().enumerate() {
        let of_each =
            rows(&Value::from_iter(["estimate", "error", "df"].map(|key| family[key].clone())));
        let contrast = |at: usize| Contrast {
            estimate: of_each[0][at],
            error: of_each[1][at],
            df: of_each[2][at],
        };
        let contrasts: Vec<Contrast> = (0..of_each[0].len()).map(contrast).collect();
        checks_agree(&format!("family {at}"), &contrasts, family);
    }
}

#[test]
fn a_run_is_compared_with_the_mean_of_its_history() {
    for (at, case) in list(&vector("own/history")["cases"]).iter().enumerate() {
        let all = rows(&case["values"])
            .into_iter()
            .zip(rows(&case["history"]))
            .zip(flags(&case["is_loaded"]));
        let all: Vec<RunRow> = all
            .map(|((values, history), is_loaded)| {
                RunRow::of_history(&values, history, is_loaded, 1)
            })
            .collect();
        let (name, contrasts) = (format!("case {at}"), between_runs(&all));
        contrasts_agree(&name, &contrasts, case);
        checks_agree(&name, &contrasts, case);
    }
}

#[test]
fn rates_have_errors_moderated_over_their_phase_and_the_others() {
    let vector = vector("own/rates");
    let phases = ["write", "read", "delete"];
    let number = |phase: &Value| phases.iter().position(|name| name == phase).unwrap();
    let group_of: Vec<usize> = list(&vector["phase"]).iter().map(number).collect();
    let contrasts = rates(&rows(&vector["values"]), &group_of);
    contrasts_agree("rates", &contrasts, &vector);
    for (contrast, expected) in contrasts.iter().zip(list(&vector["interval"])) {
        let interval = contrast.interval(ALPHA);
        all_agree("interval", &[interval.low, interval.high], expected);
    }
}

#[test]
fn distributions_are_those_of_scipy_far_out_too() {
    let vector = vector("own/distributions");
    for of_one in rows(&vector["two_sided"]) {
        let found = two_sided(of_one[0], of_one[1]);
        assert!((found / of_one[2] - 1.0).abs() < TOLERANCE, "{of_one:?}: {found:e}");
    }
    for of_one in rows(&vector["quantile"]) {
        let found = quantile(of_one[0], of_one[1]);
        assert!((found / of_one[2] - 1.0).abs() < TOLERANCE, "{of_one:?}: {found:e}");
    }
    for of_one in rows(&vector["polygamma"]) {
        let (x, found) = (of_one[0], polygamma(of_one[0]));
        let digamma = -log_variance(1.0, 2.0 * x) + x.ln();
        for (found, expected) in [digamma, found.second, found.third].into_iter().zip(&of_one[1..])
        {
            assert!((found / expected - 1.0).abs() < TOLERANCE, "{of_one:?}: {found:e}");
        }
        assert_eq!(trigamma(x), found.second);
    }
}

#[test]
fn without_repeats_or_rows_nothing_is_concluded() {
    assert_eq!(Contrast::plain(&[]), None);
    assert_eq!(Contrast::plain(&[0.3]), None);
    assert!(moderated(&[], &[], &[]).is_empty() && rates(&[], &[]).is_empty());
    assert!(between_runs(&[]).is_empty());
    for (control, _) in CONTROLS {
        assert!(decide(&[], ALPHA, control).is_empty());
    }
    assert!(check(&[], 1.05, ALPHA).is_empty());
}

#[test]
fn intervals_are_at_least_one_percent_wide_to_each_side_and_stay_finite() {
    let equal = Contrast::plain(&[0.5, 0.5, 0.5]).unwrap().interval(ALPHA);
    agree("low", equal.low, 0.49_f64.exp());
    agree("high", equal.high, 0.51_f64.exp());
    let wild = Contrast::plain(&[-300.0, 900.0]).unwrap().interval(1e-6);
    assert_eq!([wild.low, wild.high], [(-700.0_f64).exp(), 700.0_f64.exp()]);
    assert_eq!(quantile(1.0, 3.0), 0.0);
    assert_eq!(quantile(0.0, 3.0), f64::INFINITY);
    assert_eq!(quantile(0.05, f64::NAN), f64::INFINITY);
}

#[test]
fn more_runs_of_b_know_its_mean_better_and_a_single_repeat_has_the_error_of_its_history() {
    let stored = vec![0.0, 0.05, -0.05, 0.02];
    let row = |runs| RunRow::of_runs(&[0.0, 0.001], &[0.1, 0.101], stored.clone(), false, runs);
    let error = |runs| between_runs(&[row(runs)])[0].error;
    assert!((error(1) / error(4) - (2.0_f64 / 1.25).sqrt()).abs() < 1e-12);
    let history = |values: Vec<f64>| RunRow::of_history(&values, stored.clone(), false, 1);
    let [one, two] = [vec![0.1], vec![0.1, 0.1]].map(|values| between_runs(&[history(values)]));
    assert_eq!(one, two);
}
