use super::*;
use crate::analysis::Analysis;
use crate::plan::repetition::Passes;
use crate::results::book::{Book, CellKey, Measurement, RunFacts};

/// A pass with this rate.
fn pass(variant: &str, repeat: u32, pass: u32, rate: f64) -> Measurement {
    Measurement {
        cell: CellKey { variant: variant.into(), level: None, repeat },
        phase: "read".into(),
        pass,
        operations: 1_000_000,
        seconds: 1_000_000.0 / rate,
        ..Measurement::default()
    }
}

/// Repeats with the logarithms of the rates of their passes.
fn passes_of(variant: &str, repeats: &[&[f64]]) -> Vec<Measurement> {
    let of_repeat = |(repeat, logs): (usize, &&[f64])| {
        let one = |(at, log): (usize, &f64)| {
            pass(variant, repeat as u32 + 1, at as u32 + 1, 1e4 * log.exp())
        };
        logs.iter().enumerate().map(one).collect::<Vec<_>>()
    };
    repeats.iter().enumerate().flat_map(of_repeat).collect()
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() <= 1e-9 + expected * 1e-6, "{found} is not {expected}");
}

fn key() -> (String, String) {
    ("a".into(), "read".into())
}

fn free() -> Passes {
    Passes::from([(key(), 2)])
}

fn costs(repeat_seconds: f64, seconds: f64) -> RepetitionCosts {
    RepetitionCosts { repeat_seconds, phases: vec![PassCost { key: key(), seconds }] }
}

fn goal(precision: f64, seconds: f64) -> PrecisionGoal {
    PrecisionGoal { precision, seconds }
}

fn forecasts(rows: &[RatePrecision]) -> Vec<PrecisionForecast> {
    rows.iter().map(RatePrecision::forecast).collect()
}

/// A pilot of three repeats with two passes, of this variance between repeats and within.
fn row(repeat: f64, pass: f64) -> RatePrecision {
    RatePrecision {
        key: key(),
        passes: vec![2, 2, 2],
        free: true,
        pass,
        repeat,
        half_width: Some(0.2),
    }
}

#[test]
fn components_are_those_of_the_analysis_of_variance_by_hand() {
    // Means 0 and 0.04; within, squares of 2 x 0.01^2 and 2 x 0.03^2 on 2 degrees of freedom.
    let all = passes_of("a", &[&[-0.01, 0.01], &[0.01, 0.07]]);
    let [found] = variance_components(all.iter()).try_into().unwrap();
    near(found.passes, 0.001);
    // 2 x 2 x 0.02^2 between, on 1 degree of freedom: (0.0016 - 0.001) / 2.
    near(found.repeats, 0.0003);
    assert_eq!(found.operations, None);
}

#[test]
fn components_of_unequal_counts_are_unbiased() {
    let (mut sums, draws) = ([0.0f64; 2], 4_000);
    let mut next = 0u64;
    let mut normal = || {
        let mut even = || {
            next += 1;
            crate::base::random::unit(crate::base::random::mix(next))
        };
        (0..12).map(|_| even()).sum::<f64>() - 6.0
    };
    for _ in 0..draws {
        let mut repeats = Vec::new();
        for passes in [1, 2, 5, 3] {
            let own = 0.02 * normal();
            repeats.push((0..passes).map(|_| own + 0.01 * normal()).collect::<Vec<f64>>());
        }
        let repeats: Vec<&[f64]> = repeats.iter().map(Vec::as_slice).collect();
        let all = passes_of("a", &repeats);
        // Negative ones are clipped, so the square root of the spread is chosen to have few.
        let [found] = variance_components(all.iter()).try_into().unwrap();
        sums[0] += found.passes.unwrap();
        sums[1] += found.repeats.unwrap();
    }
    let [passes, repeats] = sums.map(|sum| sum / f64::from(draws));
    assert!((passes / 0.0001 - 1.0).abs() < 0.03, "passes {passes}");
    assert!((repeats / 0.0004 - 1.0).abs() < 0.05, "repeats {repeats}");
}

#[test]
fn means_of_variants_are_no_variance() {
    let mut all = passes_of("a", &[&[0.0, 0.0], &[0.0, 0.0]]);
    all.extend(passes_of("b", &[&[3.0, 3.0], &[3.0, 3.0]]));
    let [found] = variance_components(all.iter()).try_into().unwrap();
    near(found.passes, 0.0);
    near(found.repeats, 0.0);
}

#[test]
fn what_operations_do_is_taken_off_the_passes_and_without_passes_off_the_repeats() {
    let mut all = passes_of("a", &[&[-0.01, 0.01], &[-0.01, 0.01]]);
    all.iter_mut().for_each(|m| m.rate_error = Some(0.01));
    let [found] = variance_components(all.iter()).try_into().unwrap();
    near(found.operations, 0.0001);
    near(found.passes, 0.0001);
    all.retain(|m| m.pass == 1);
    all[1].seconds *= 0.02f64.exp();
    let [found] = variance_components(all.iter()).try_into().unwrap();
    assert_eq!(found.passes, None);
    near(found.repeats, 0.0001);
    let alone = variance_components(all[..1].iter());
    assert_eq!((alone[0].passes, alone[0].repeats), (None, None));
}

#[test]
fn passes_of_a_single_phase_are_those_of_kalibera_and_jones() {
    for (repeat, pass, repeat_seconds, seconds) in [
        (0.0004f64, 0.01, 10.0, 1.0),
        (0.0009, 0.0025, 30.0, 2.0),
        (0.0025, 0.0004, 5.0, 5.0),
        (0.0001, 0.04, 4.0, 1.0),
    ] {
        let best = (repeat_seconds / seconds * pass / repeat).sqrt().max(1.0);
        let costs = costs(repeat_seconds, seconds);
        // So sure that whole numbers and the pilot's own repeats hardly matter.
        let found = choose_repetition(
            &forecasts(&[row(repeat, pass)]),
            &costs,
            3,
            goal(0.0015, f64::INFINITY),
        )
        .taken;
        let chosen = f64::from(found.passes[&key()]);
        let price = |m: f64| (repeat_seconds + seconds * m) * (repeat + pass / m);
        assert!(price(chosen) < 1.02 * price(best), "{chosen} passes, where {best} are best");
        assert!((chosen / best).ln().abs() < 0.3, "{chosen} passes, where {best} are best");
    }
}

#[test]
fn passes_are_chosen_where_passes_differ_and_repeats_where_repeats_do() {
    let costs = costs(10.0, 1.0);
    let ask = goal(0.03, f64::INFINITY);
    let passes_differ = choose_repetition(&forecasts(&[row(0.0, 0.01)]), &costs, 3, ask).taken;
    let repeats_differ = choose_repetition(&forecasts(&[row(0.005, 0.0)]), &costs, 3, ask).taken;
    assert!(passes_differ.passes[&key()] > 3, "{passes_differ:?}");
    assert_eq!(repeats_differ.passes[&key()], 1);
    assert!(repeats_differ.repeats > passes_differ.repeats + 5, "{repeats_differ:?}");
}

#[test]
fn what_is_chosen_is_as_sure_as_was_asked_and_a_repeat_less_is_not() {
    let rows = [row(0.003, 0.002)];
    let found =
        choose_repetition(&forecasts(&rows), &costs(10.0, 1.0), 3, goal(0.02, f64::INFINITY)).taken;
    let passes = found.passes[&key()];
    assert!(rows[0].forecast().half_width_after(found.more, &found.passes) <= 0.02, "{found:?}");
    assert!(rows[0].forecast().half_width_after(found.more - 1, &found.passes) > 0.02, "{found:?}");
    assert_eq!(found.repeats, 3 + found.more);
    assert!((found.seconds - f64::from(found.more) * (10.0 + f64::from(passes))).abs() < 1e-6);
}

#[test]
fn a_time_that_is_too_short_is_used_up_and_what_was_wanted_is_told() {
    let rows = [row(0.003, 0.002)];
    let costs = costs(10.0, 1.0);
    let decision = choose_repetition(&forecasts(&rows), &costs, 3, goal(0.01, 100.0));
    let wanted = decision.wanted.unwrap();
    assert!(wanted.seconds > 100.0, "{wanted:?}");
    let RepetitionChoice { more, seconds, .. } = decision.taken;
    assert!(seconds <= 100.0 && seconds > 80.0 && more >= 7, "{seconds} s, {more} repeats");
    let nothing = choose_repetition(&forecasts(&rows), &costs, 3, goal(0.01, 5.0)).taken;
    assert_eq!((nothing.more, nothing.repeats), (0, 3));
    let over = choose_repetition(&forecasts(&rows), &costs, 3, goal(0.01, -5.0)).taken;
    assert_eq!(over.more, 0);
}

#[test]
fn nothing_more_is_done_where_all_is_as_sure_as_was_asked() {
    let sure = RatePrecision { half_width: Some(0.01), ..row(0.00001, 0.00001) };
    let decision = choose_repetition(&forecasts(&[sure]), &costs(1.0, 1.0), 3, goal(0.03, 100.0));
    assert_eq!(decision.taken.more, 0);
    assert_eq!(decision_text(&decision, 0.03), "3% is reached");
    // A row that by chance is less sure than its phase makes one repeat more.
    let imprecise = RatePrecision { half_width: Some(0.04), ..row(0.00001, 0.00001) };
    assert_eq!(
        choose_repetition(&forecasts(&[imprecise]), &costs(1.0, 1.0), 3, goal(0.03, 100.0))
            .taken
            .more,
        1
    );
}

#[test]
fn a_precision_beyond_all_measure_is_not_wanted_but_the_time_is_used() {
    let decision =
        choose_repetition(&forecasts(&[row(0.5, 0.0)]), &costs(1.0, 1.0), 3, goal(0.001, 100.0));
    assert_eq!(decision.wanted, None);
    assert!(decision.taken.more >= 45, "{:?}", decision.taken);
    assert!(
        decision_text(&decision, 0.001).contains("more repeats than"),
        "{}",
        decision_text(&decision, 0.001)
    );
}

#[test]
fn phases_that_share_repeats_each_get_the_passes_they_need() {
    let stat = ("a".to_string(), "stat".to_string());
    let (steady, shaky) =
        (row(0.0004, 0.0), RatePrecision { key: stat.clone(), ..row(0.0004, 0.02) });
    let mut costs = costs(10.0, 1.0);
    costs.phases.push(PassCost { key: stat.clone(), seconds: 1.0 });
    let found =
        choose_repetition(&forecasts(&[steady, shaky]), &costs, 3, goal(0.03, f64::INFINITY)).taken;
    assert_eq!(found.passes[&key()], 1);
    assert!(found.passes[&stat] > 2, "{found:?}");
    let said =
        decision_text(&RepetitionDecision { wanted: Some(found.clone()), taken: found }, 0.03);
    assert!(said.contains("passes of stat: ") && !said.contains("read"), "{said}");
}

#[test]
fn rows_tell_what_is_known_of_each() {
    let mut all = passes_of("a", &[&[0.0, 0.01], &[0.02, 0.03]]);
    all.extend(passes_of("b", &[&[1.0]]));
    all[0].invalid.push("EIO x 1".into());
    let found = rate_precisions(&all.iter().collect::<Vec<_>>(), &free());
    let told: Vec<_> = found.iter().map(|r| (r.key.0.as_str(), r.passes.clone(), r.free)).collect();
    assert_eq!(told, [("a", vec![1, 2], true), ("b", vec![1], false)]);
    assert!(found[0].half_width.is_some() && found[1].half_width.is_none());
    assert!(!is_precise(&forecasts(&found), 1e9), "one repeat has no interval");
}

#[test]
fn a_phase_counts_by_its_least_sure_variant() {
    let mut all = passes_of("a", &[&[0.0], &[0.001], &[0.002]]);
    let run = RunFacts { precision: Some(0.03), ..RunFacts::default() };
    let book = Book { run, measurements: all.clone(), ..Book::default() };
    assert_eq!(imprecise_numbers(&Analysis::of(&book)), Some(vec![]));
    all.extend(passes_of("b", &[&[0.0], &[0.1], &[0.2]]));
    let book = Book { measurements: all, ..book };
    let found = imprecise_numbers(&Analysis::of(&book)).unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].half_width.unwrap() > 0.2, "{found:?}");
    assert_eq!(imprecise_numbers(&Analysis::of(&Book::default())), None);
}

#[test]
fn what_is_written_until_the_unmount_asks_for_no_repeats() {
    let reads = passes_of("a", &[&[0.0], &[0.01], &[-0.01]]);
    let settled = reads.iter().map(|m| Measurement {
        phase: "settle".into(),
        operation: "settle".into(),
        seconds: m.seconds * f64::from(m.cell.repeat),
        ..m.clone()
    });
    let all: Vec<Measurement> = reads.iter().cloned().chain(settled).collect();
    let precisions = |all: &[Measurement]| {
        rate_precisions(&all.iter().collect::<Vec<_>>(), &Passes::default()).len()
    };
    assert_eq!((precisions(&reads), precisions(&all)), (1, 1));
}
