use super::course::{Truth, growth_of, phase};
use super::*;
use crate::analysis::findings::growth::GrowthShape;

/// A step to `factor` from `at` of the operations on; a bend there that ends at `factor`.
fn step(at: f64, factor: f64) -> impl Fn(f64, f64) -> f64 {
    move |x, n| if x < at * n { 30_000.0 } else { 30_000.0 * factor }
}

fn hinge(at: f64, factor: f64) -> impl Fn(f64, f64) -> f64 {
    move |x, n| 30_000.0 * (1.0 + (factor - 1.0) * ((x / n - at) / (1.0 - at)).max(0.0))
}

fn noisy(
    (windows, repeats): (u64, u32),
    law: impl Fn(f64, f64) -> f64,
    (seed, spread): (u64, f64),
) -> Finding {
    let mut noise = Noise::new(seed);
    let all = windows as f64 * 1_000.0;
    growth_of(&phase(windows, repeats, |x| law(x, all), || (spread * noise.normal()).exp()))
}

/// How many of 10 seeds tell a threshold with the truth in both intervals.
fn held(size: (u64, u32), law: impl Fn(f64, f64) -> f64, at: f64, spread: f64) -> usize {
    let all = size.0 as f64 * 1_000.0;
    let right = |seed: &u64| {
        let Finding::Growth(found) = noisy(size, &law, (*seed, spread)) else { return false };
        let Some(figures) = found.figures else { return false };
        let Some(threshold) = figures.threshold else { return false };
        // A bend's last tenth is not yet at its end.
        let part = size.0 as f64 / 20.0 * 1_000.0;
        let truth = law(all - part, all) / law(part, all);
        found.shape == GrowthShape::Threshold
            && (threshold.at / all - at).abs() < 0.1
            && threshold.interval.contains(at * all)
            && figures.interval.contains(truth)
    };
    (0..10).filter(right).count()
}

#[test]
fn a_step_is_told_where_it_is_with_how_much_longer_it_takes() {
    for (size, place) in [((40, 1), 0.62), ((40, 1), 0.3), ((100, 3), 0.3), ((400, 2), 0.85)] {
        for factor in [1.3, 2.3, 0.5] {
            for spread in [0.005, 0.02] {
                let held = held(size, step(place, factor), place, spread);
                assert!(held >= 7, "{held} of 10: {size:?} {place} {factor} {spread}");
            }
        }
    }
}

#[test]
fn a_bend_is_told_where_it_is() {
    for size in [(100, 3), (400, 2)] {
        for (at, factor) in [(0.4, 2.0), (0.6, 3.0), (0.7, 2.0)] {
            let held = held(size, hinge(at, factor), at, 0.01);
            assert!(held >= 8, "{held} of 10: {size:?} {at} {factor}");
        }
    }
}

#[test]
fn what_only_grows_by_no_law_is_told_as_such() {
    let square = |x: f64, n: f64| 30_000.0 * (1.0 + 4.0 * (x / n).powi(2));
    let stairs = |x: f64, n: f64| 30_000.0 * 1.5f64.powf((x / n * 4.0).floor());
    let full = |x: f64, n: f64| 30_000.0 * (1.0 + (x / n * 3.0).min(1.0));
    let curves: [Truth; 3] = [("square", square), ("stairs", stairs), ("full", full)];
    for (name, curve) in curves {
        for seed in 0..20 {
            let found = noisy((200, 3), curve, (seed, 0.02));
            assert_eq!(figures(&found)["shape"], "monotone", "{name}, seed {seed}: {found:?}");
        }
    }
}

#[test]
fn a_step_in_one_repeat_of_three_is_no_threshold_of_the_phase() {
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let mut book = phase(100, 3, |_| 30_000.0, || (0.01 * noise.normal()).exp());
        for window in &mut book.measurements[1].windows[60..] {
            window.mean_ns *= 2.0;
        }
        let found = growth_of(&book);
        assert_eq!(figures(&found)["shape"], "unclear", "seed {seed}: {found:?}");
        assert!(
            found.sentence().contains("cannot tell whether write gets slower (repeats differ"),
            "{found:?}"
        );
    }
}

#[test]
fn the_sentences_say_from_where_on() {
    let sentence = |law: &dyn Fn(f64, f64) -> f64| noisy((400, 3), law, (1, 0.01)).sentence();
    assert_eq!(
        sentence(&step(0.3, 2.3)),
        "a: write gets slower: the last 40,000 of 400,000 files take 2.30 times (2.28 to 2.32) as long \
         as the first; its time grows in one step, at about 120,000 files (119,000 to 121,000)."
    );
    assert_eq!(
        sentence(&hinge(0.5, 3.0)),
        "a: write gets slower: the last 40,000 of 400,000 files take 2.80 times (2.77 to 2.83) as long \
         as the first; its time stays the same up to about 200,000 files (199,000 to 201,000), from where \
         on it grows."
    );
    assert_eq!(
        sentence(&|x, n| 30_000.0 * (1.0 + 4.0 * (x / n).powi(2))),
        "a: write gets slower: the last 40,000 of 400,000 files take 4.55 times (4.50 to 4.59) as long \
         as the first; its time rises throughout, but follows no simple law."
    );
}

#[test]
fn what_is_to_be_drawn_has_the_course_and_what_is_told_of_it() {
    let found = noisy((400, 3), |x, n| 10_000.0 * (1.0 + 9.0 * x / n), (1, 0.01));
    let blocks = figures(&found)["blocks"].as_array().unwrap().clone();
    assert_eq!(blocks.len(), 10);
    let of = |block: &serde_json::Value, key: &str| block[key].as_f64().unwrap();
    for block in &blocks {
        let truth = 10_000.0 * (1.0 + 9.0 * of(block, "operations") / 4e5);
        assert!((of(block, "fitted_ns") / truth - 1.0).abs() < 0.02, "{block}");
        let residual = of(block, "seen_ns") / of(block, "fitted_ns") - 1.0;
        assert!(residual.abs() < 0.02, "{block}");
    }
}
