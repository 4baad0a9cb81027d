use super::growth::phase;
use super::*;
use crate::twins::TwinTrials;

/// What the findings of a kind claim of the pairs a and a2, and b and b2.
fn claimed(book: &Book, kind: Conclusion) -> TwinTrials {
    let pairs = [["a", "a2"], ["b", "b2"]].map(|pair| pair.map(String::from));
    let mut trials = TwinTrials::default();
    trials.add(&concluded(book, kind), &pairs);
    trials
}

/// Claims of the only kind that there is, and how many are false.
#[track_caller]
fn counts(book: &Book, kind: Conclusion) -> (u64, u64) {
    let trials = claimed(book, kind);
    assert_eq!(trials.kinds.len(), 1, "{trials:?}");
    let of = &trials.kinds[0];
    assert_eq!((of.runs.of, of.runs.times), (1, u64::from(of.false_claims > 0)));
    (of.claims, of.false_claims)
}

/// Six repeats of variants that take so many seconds at a level, with a percent of noise.
fn taking(times: &[(&str, f64)], at: Option<f64>, noise: &mut Noise) -> Vec<Measurement> {
    let level = at.map(|value| level("space-used", value, Unit::Percent));
    let mut all = Vec::new();
    for (variant, seconds) in times {
        for repeat in 1..=6 {
            let factor = 1.0 + 0.01 * noise.normal();
            all.push(measured(variant, level.clone(), repeat, seconds * factor));
        }
    }
    all
}

#[test]
fn a_ranking_that_tells_twins_apart_is_false_and_one_that_does_not_is_not() {
    let mut noise = Noise::new(1);
    let alike = [("a", 1.0), ("a2", 1.0), ("b", 2.0), ("b2", 2.0)];
    // Both of one pair against both of the other.
    assert_eq!(counts(&book(taking(&alike, None, &mut noise)), Conclusion::Ranking), (4, 0));
    let apart = [("a", 1.0), ("a2", 1.0), ("b", 2.0), ("b2", 2.4)];
    let trials = claimed(&book(taking(&apart, None, &mut noise)), Conclusion::Ranking);
    assert_eq!((trials.kinds[0].claims, trials.kinds[0].false_claims), (5, 1));
    let [told] = trials.told_apart.as_slice() else { panic!("{trials:?}") };
    assert_eq!((told.run, told.kind), (1, "ranking"));
    assert!(told.sentences[0].contains("b2"), "{told:?}");
}

#[test]
fn twins_that_other_variants_stand_between_are_told_apart_by_their_own_effects() {
    let between = [("b", 1.0), ("a", 2.0), ("b2", 3.0), ("a2", 4.0)];
    let book = book(taking(&between, None, &mut Noise::new(2)));
    assert_eq!(counts(&book, Conclusion::Ranking), (6, 2));
}

/// Twins at seven levels, each with its own law of seconds.
fn along(first: impl Fn(f64) -> f64, second: impl Fn(f64) -> f64) -> Book {
    let mut noise = Noise::new(3);
    let levels = [30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0];
    let at = |at: f64| taking(&[("a", first(at)), ("a2", second(at))], Some(at), &mut noise);
    book(levels.into_iter().flat_map(at).collect())
}

fn knee(factor: f64) -> impl Fn(f64) -> f64 {
    move |at| if at < 65.0 { 1.0 } else { factor }
}

#[test]
fn a_winner_is_false_at_each_level_that_one_of_two_twins_wins() {
    assert_eq!(counts(&along(|_| 1.0, |_| 1.0), Conclusion::Crossing), (0, 0));
    assert_eq!(counts(&along(|_| 1.0, knee(1.5)), Conclusion::Crossing), (3, 3));
}

/// Both twins together are an effect of all phases, which is true where one of them is slower.
#[test]
fn a_change_of_one_twin_is_false_if_the_other_has_another_and_right_if_it_has_the_same() {
    let (rising, falling) = (|at: f64| 1.0 + at / 50.0, |at: f64| 1.0 - at / 300.0);
    assert_eq!(counts(&along(rising, rising), Conclusion::Levels), (3, 0));
    assert_eq!(counts(&along(|_| 1.0, |_| 1.0), Conclusion::Levels), (0, 0));
    assert_eq!(counts(&along(rising, |_| 1.0), Conclusion::Levels), (2, 1));
    assert_eq!(counts(&along(rising, falling), Conclusion::Levels), (3, 1));
    assert_eq!(counts(&along(knee(1.5), knee(2.5)), Conclusion::Levels), (3, 1));
}

/// Phases of twins in windows, which take so many times longer at their ends.
fn growing(first: f64, second: f64) -> Book {
    let mut noise = Noise::new(4);
    let mut twin = |name: &str, factor: f64| {
        let law = |x: f64| 30_000.0 * (1.0 + (factor - 1.0) * x / 100_000.0);
        let mut all = phase(100, 5, law, || (0.02 * noise.normal()).exp()).measurements;
        all.iter_mut().for_each(|m| m.cell.variant = name.into());
        all
    };
    book([twin("a", first), twin("a2", second)].concat())
}

#[test]
fn a_growth_is_false_if_twins_are_told_ratios_that_exclude_each_other() {
    assert_eq!(counts(&growing(1.0, 1.0), Conclusion::Growth), (0, 0));
    assert_eq!(counts(&growing(2.0, 2.0), Conclusion::Growth), (2, 0));
    assert_eq!(counts(&growing(1.0, 2.0), Conclusion::Growth), (1, 1));
    assert_eq!(counts(&growing(2.0, 3.0), Conclusion::Growth), (2, 1));
}

#[test]
fn five_percent_of_runs_are_allowed_and_more_only_within_chance() {
    let mut noise = Noise::new(5);
    let alike = [("a", 1.0), ("a2", 1.0)];
    let apart = [("a", 1.0), ("a2", 1.4)];
    let mut trials = TwinTrials::default();
    let pairs = [["a".to_string(), "a2".to_string()]];
    let mut add = |trials: &mut TwinTrials, times: &[(&str, f64)]| {
        let book = book(taking(times, None, &mut noise));
        trials.add(&concluded(&book, Conclusion::Ranking), &pairs);
    };
    (0..19).for_each(|_| add(&mut trials, &alike));
    add(&mut trials, &apart);
    assert_eq!(trials.kinds_above(0.05), [""; 0]);
    (0..4).for_each(|_| add(&mut trials, &apart));
    assert_eq!(trials.kinds_above(0.05), ["ranking"]);
}
