use super::*;

const LEVELS: [f64; 12] = [30., 40., 50., 60., 65., 70., 75., 80., 85., 90., 94., 98.];

/// Four repeats over all levels, or so many; `law` gives seconds, `noise` a factor.
fn over(
    levels: &[f64],
    repeats: u32,
    law: impl Fn(f64) -> f64,
    mut noise: impl FnMut() -> f64,
) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=repeats {
        for at in levels {
            let level = level("space-used", *at, Unit::Percent);
            all.push(measured("a", Some(level), repeat, law(*at) * noise()));
        }
    }
    book(all)
}

fn knee_of(book: &Book) -> Finding {
    only(book, Conclusion::Knee, &["a"])
}

fn step(factor: f64) -> impl Fn(f64) -> f64 {
    move |at| if at < 83.0 { 1.0 } else { factor }
}

#[test]
fn a_step_at_83_percent_is_found_between_80_and_85_whatever_the_noise() {
    for factor in [1.5, 2.0] {
        for seed in 0..20 {
            for spread in [0.05, 0.1] {
                let mut noise = Noise::new(seed);
                let found =
                    knee_of(&over(&LEVELS, 4, step(factor), || 1.0 + spread * noise.normal()));
                let [low, high] = interval(&found);
                let covers = low <= 83.0 && 83.0 <= high && high - low >= 5.0;
                assert!(
                    covers && (number(&found, "at") - 82.5).abs() < 6.0,
                    "{seed} {spread} {found:?}"
                );
                let size = number(&found, "factor");
                assert!((size / factor - 1.0).abs() < 0.15, "{seed} {spread} {found:?}");
            }
            let mut noise = Noise::new(seed);
            let found = knee_of(&over(&LEVELS, 4, step(factor), || noise.averaged()));
            assert_eq!(interval(&found), [80.0, 85.0], "{found:?}");
        }
    }
}

#[test]
fn a_hinge_is_found_near_its_place() {
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let law = |at: f64| 1.0 + ((at - 75.0) / 23.0).max(0.0);
        let found = knee_of(&over(&LEVELS, 4, law, || 1.0 + 0.05 * noise.normal()));
        let [low, high] = interval(&found);
        assert!(low <= 76.0 && high >= 74.0 && high - low < 20.0, "{seed} {found:?}");
    }
}

#[test]
fn noise_alone_is_no_knee_in_nineteen_of_twenty() {
    for spread in [0.02, 0.1, 0.3] {
        for (levels, repeats) in [(&LEVELS[..], 4), (&LEVELS[..], 1), (&LEVELS[..6], 3)] {
            let mut false_knees = 0;
            for seed in 0..200 {
                let mut noise = Noise::new(1000 + seed);
                let found =
                    knee_of(&over(levels, repeats, |_| 1.0, || (spread * noise.normal()).exp()));
                false_knees += u32::from(!figures(&found)["at"].is_null());
            }
            assert!(false_knees <= 10, "{false_knees} with {spread}, {repeats} repeats");
        }
    }
}

#[test]
fn an_even_change_is_no_knee() {
    let laws: [fn(f64) -> f64; 4] = [
        |at| (at / 68.0).exp(),
        |at| 1.0 + at / 68.0,
        |at| 1.0 / (1.3 - at / 100.0),
        |at| 2.0 - at / 98.0,
    ];
    for law in laws {
        for spread in [0.0, 0.02, 0.1] {
            let mut false_knees = 0;
            for seed in 0..20 {
                let mut noise = Noise::new(seed);
                let found = knee_of(&over(&LEVELS, 4, law, || (spread * noise.normal()).exp()));
                false_knees += u32::from(!figures(&found)["at"].is_null());
            }
            assert_eq!(false_knees, 0, "{spread}");
        }
    }
}

#[test]
fn one_odd_level_is_no_knee() {
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let law = |at: f64| if at == 94.0 { 1.4 } else { 1.0 };
        let found = knee_of(&over(&LEVELS, 4, law, || 1.0 + 0.01 * noise.normal()));
        assert!(figures(&found)["at"].is_null(), "{found:?}");
    }
}

#[test]
fn a_step_of_the_size_that_is_said_to_be_seen_is_seen() {
    let mut seen = 0;
    for seed in 0..40 {
        let mut noise = Noise::new(seed);
        let mut noise = || (0.1 * noise.normal()).exp();
        let none = knee_of(&over(&LEVELS, 4, |_| 1.0, &mut noise));
        let size = 1.0 + number(&none, "smallest_detectable");
        let law = |at: f64| if at > 88.0 { size } else { 1.0 };
        let found = knee_of(&over(&LEVELS, 4, law, &mut noise));
        seen += u32::from(!figures(&found)["at"].is_null());
    }
    assert!(seen >= 34, "{seen} of 40");
}

#[test]
fn a_step_towards_faster_is_not_told_as_a_knee() {
    let found = knee_of(&over(&LEVELS, 4, step(0.5), || 1.0));
    assert!(figures(&found)["at"].is_null(), "{found:?}");
}

#[test]
fn with_few_levels_it_is_said_that_a_knee_cannot_be_told() {
    for (levels, repeats) in [(&[30.0, 60.0, 90.0][..], 9), (&LEVELS[..8], 1)] {
        let found = knee_of(&over(levels, repeats, step(2.0), || 1.0));
        assert!(figures(&found)["at"].is_null(), "{found:?}");
        assert!(found.sentence().contains("cannot tell"), "{found:?}");
    }
}

/// Nothing, 10% and 50% from 83% on, as a step, beside little and much noise.
#[test]
fn at_most_one_in_twenty_sentences_about_a_knee_is_wrong() {
    for effect in [0.0, 0.10, 0.50] {
        for spread in [0.02, 0.10, 0.40] {
            let mut wrong = 0;
            for seed in 0..20 {
                let mut noise = Noise::new(seed);
                let mut noise = || (spread * noise.normal()).exp();
                let found = knee_of(&over(&LEVELS, 4, step(1.0 + effect), &mut noise));
                let says_slower =
                    number(&found, "factor").is_finite() || number(&found, "gradual_ratio") > 1.0;
                let excludes = found.sentence().contains("slower by at most")
                    && number(&found, "slower_at_most") < effect;
                wrong += u32::from(effect == 0.0 && says_slower || excludes);
            }
            assert!(wrong <= 4, "{effect} {spread}: {wrong} of 20");
        }
    }
}

#[test]
fn the_sentences_say_where_and_how_much() {
    let found = knee_of(&over(&LEVELS, 4, step(1.5), || 1.0));
    assert_eq!(
        found.sentence(),
        "a: write gets slower between 80% and 85% full: from there on it takes 1.50 times \
         as long (1.50 to 1.50)."
    );
    let mut noise = Noise::new(3);
    let found = knee_of(&over(&LEVELS, 4, |_| 1.0, || 1.0 + 0.03 * noise.normal()));
    let expected = "a: write gets slower by at most ";
    assert!(found.sentence().starts_with(expected), "{}", found.sentence());
    assert!(number(&found, "slower_at_most") <= 0.10, "{found:?}");
    let found = knee_of(&over(&LEVELS, 4, |_| 1.0, || 1.0 + 0.15 * noise.normal()));
    let expected = "a: cannot tell whether space-used changes write: between 30% and 98% full it may \
                    take up to ";
    assert!(found.sentence().starts_with(expected), "{}", found.sentence());
    let even = knee_of(&over(&LEVELS, 4, |at| (at / 300.0).exp(), || 1.0 + 0.02 * noise.normal()));
    let expected = "a: write has no proven step between 30% and 98% full, but at the upper half of the \
                    levels it takes 1.1";
    assert!(even.sentence().starts_with(expected), "{}", even.sentence());
}
