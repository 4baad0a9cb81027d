//! Phases in windows.

use super::*;
use crate::findings::growth_law::Law;

/// A phase of so many windows of 1,000 operations; `law` gives nanoseconds by operations done.
pub(super) fn phase(
    windows: u64,
    repeats: u32,
    law: impl Fn(f64) -> f64,
    mut noise: impl FnMut() -> f64,
) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=repeats {
        let mut m = measured("a", None, repeat, 1.0);
        m.operations = windows * 1_000;
        m.windows = (0..windows)
            .map(|n| {
                let ns = law(n as f64 * 1_000.0 + 500.0) * noise();
                // As windows are recorded: with two digits, rounded up.
                let digit = 2f64.powf(ns.log2().floor() - 7.0);
                let p50_ns = ((ns / digit).ceil() * digit) as u64;
                Window {
                    first: n * 1_000,
                    operations: 1_000,
                    mean_ns: ns,
                    p50_ns,
                    p99_ns: p50_ns,
                    max_ns: p50_ns,
                }
            })
            .collect();
        all.push(m);
    }
    book(all)
}

fn growth_of(book: &Book) -> EffectFinding {
    only(book, Conclusion::Growth)
}

/// The law that is told; none where it is not told by which a latency grows, or whether.
fn law_of(book: &Book) -> Option<Law> {
    growth_of(book).course.unwrap().law
}

/// A law of operations done and of all operations.
struct TrueLaw {
    law: Law,
    ns: fn(f64, f64) -> f64,
}

const TRUTHS: [TrueLaw; 9] = [
    TrueLaw { law: Law::Constant, ns: |_, _| 30_000.0 },
    TrueLaw { law: Law::Linear, ns: |x, n| 30_000.0 * (1.0 + x / n) },
    TrueLaw { law: Law::Linear, ns: |x, n| 30_000.0 * (1.0 + 9.0 * x / n) },
    TrueLaw { law: Law::Linear, ns: |x, n| 3_000.0 + 300_000.0 * x / n },
    TrueLaw { law: Law::Linear, ns: |x, n| 30_000.0 * (1.0 - 0.7 * x / n) },
    TrueLaw { law: Law::Logarithmic, ns: |x, _| 500.0 * x.log2() - 3_000.0 },
    TrueLaw { law: Law::Logarithmic, ns: |x, _| 10_000.0 + 2_000.0 * x.log2() },
    TrueLaw { law: Law::Power, ns: |x, _| 300.0 * x.sqrt() },
    TrueLaw { law: Law::Power, ns: |x, n| 3e8 * (x / n).powi(2) },
];

#[test]
fn the_law_is_found_whatever_the_noise() {
    for TrueLaw { law, ns } in TRUTHS {
        for windows in [40, 100, 400] {
            let all = windows as f64 * 1_000.0;
            for spread in [0.0, 0.01, 0.02] {
                // Without noise every draw is the same.
                let draws = if spread == 0.0 { 1 } else { 20 };
                let found = (0..draws).map(|seed| {
                    let mut noise = Noise::new(seed);
                    let noise = || (spread * noise.normal()).exp();
                    law_of(&phase(windows, 5, |x| ns(x, all), noise))
                });
                let found: Vec<Option<Law>> = found.collect();
                let wrong = found.iter().filter(|found| **found != Some(law)).count();
                let case = format!("{law:?} over {windows} windows, {spread}");
                assert!(wrong * 20 <= found.len(), "{case}: {found:?}");
            }
        }
    }
}

#[test]
fn wild_windows_do_not_change_the_law() {
    for TrueLaw { law, ns } in TRUTHS.iter().filter(|truth| truth.law != Law::Constant) {
        for windows in [100, 400] {
            let (mut right, mut told) = (0, 0);
            for seed in 0..20 {
                let mut noise = Noise::new(seed);
                let all = windows as f64 * 1_000.0;
                let mut book = phase(windows, 5, |x| ns(x, all), || (0.01 * noise.normal()).exp());
                for m in &mut book.measurements {
                    for _ in 0..windows / 50 {
                        let wild = (noise.uniform() * windows as f64) as usize;
                        m.windows[wild].mean_ns *= 2.0;
                    }
                }
                let found = law_of(&book).filter(|found| *found != Law::Constant);
                told += u32::from(found.is_some());
                right += u32::from(found == Some(*law));
            }
            assert!(
                right * 10 >= told * 9 && told >= 15,
                "{law:?} over {windows}: {right} of {told}"
            );
        }
    }
}

#[test]
fn directories_filled_one_after_the_other_do_not_grow_as_a_whole() {
    for teeth in [5.0, 16.0, 40.0] {
        for windows in [40, 100, 400] {
            let law = |x: f64| {
                let tooth = windows as f64 * 1_000.0 / teeth;
                30_000.0 * (1.0 + (x % tooth) / tooth)
            };
            let mut noise = Noise::new(5);
            let found = growth_of(&phase(windows, 3, law, || (0.02 * noise.normal()).exp()));
            let law = found.course.unwrap().law;
            assert!(law.is_none_or(|law| law == Law::Constant), "{teeth}, {windows}: {law:?}");
            assert!((0.9..1.1).contains(&found.ratio), "{teeth}, {windows}: {}", found.ratio);
        }
    }
}

#[test]
fn noise_alone_is_no_growth_even_where_neighbours_are_alike() {
    for memory in [0.0, 0.9, 0.98] {
        for (windows, repeats) in [(8, 3), (40, 2), (100, 3), (400, 5)] {
            let wrong = how_often(200, |noise| {
                let mut state = 0.0;
                let wander = || {
                    state = memory * state + (1.0f64 - memory * memory).sqrt() * noise.normal();
                    (0.1 * state).exp()
                };
                let book = phase(windows, repeats, |_| 30_000.0, wander);
                claims_a_difference(&book, Conclusion::Growth)
            });
            let case = format!("memory {memory}, {windows} windows, {repeats} repeats");
            assert!(wrong <= most_false(200), "{wrong} of 200, {case}");
        }
    }
}

/// Reported and shown, and in no claim, however slow it is and however long it takes within the first tenth.
#[test]
fn a_start_up_in_the_first_tenth_is_in_no_claim() {
    for share in [0.0125, 0.05, 0.1] {
        for (windows, repeats) in [(40, 3), (400, 5)] {
            let end = share * windows as f64 * 1_000.0;
            let law = |x: f64| if x < end { 90_000.0 } else { 30_000.0 };
            let wrong = how_often(200, |noise| {
                let book = phase(windows, repeats, law, || (0.03 * noise.normal()).exp());
                claims_a_difference(&book, Conclusion::Growth)
            });
            assert!(wrong <= most_false(200), "{wrong} of 200, {share}, {windows} windows");
        }
    }
}

#[test]
fn a_weak_law_is_called_constant_and_one_that_doubles_is_not() {
    let weak = |x: f64| 30_000.0 * (1.0 + 0.04 * x / 1e5);
    let double = |x: f64| 30_000.0 * (1.0 + x / 1e5);
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let mut noise = || (0.01 * noise.normal()).exp();
        assert_eq!(law_of(&phase(100, 5, weak, &mut noise)), Some(Law::Constant));
        assert_eq!(law_of(&phase(100, 5, double, &mut noise)), Some(Law::Linear));
    }
}

#[test]
fn the_ratio_is_that_of_the_last_tenth_to_the_second() {
    let law = |x: f64| 10_000.0 + x / 4.0;
    let mut covered = 0;
    for seed in 0..200 {
        let mut noise = Noise::new(seed);
        let found = growth_of(&phase(400, 3, law, || (0.02 * noise.normal()).exp()));
        let truth = law(380_000.0) / law(60_000.0);
        covered += u32::from(found.headline.interval.unwrap().contains(truth));
        assert!((found.ratio / truth - 1.0).abs() < 0.04, "{found:?}");
    }
    assert!(covered >= 180, "{covered} of 200");
}

#[test]
fn the_sentences_say_how_many_times_and_by_which_law() {
    let sentence = |law: &dyn Fn(f64) -> f64| growth_of(&phase(400, 3, law, || 1.0)).sentence();
    assert_eq!(
        sentence(&|x| 10_000.0 + x / 4.0),
        "write (a): for the last 40,000 of 400,000 files it takes 4.20 times as long as for the second 40,000 (4.16 to 4.24), growing linearly with the number of files."
    );
    assert_eq!(
        sentence(&|_| 30_000.0),
        "write (a): for the last 40,000 of 400,000 files it takes as long within 10%: 1.00 times as long as for the second 40,000 (0.99 to 1.01)."
    );
    assert_eq!(
        sentence(&|x| 30_000.0 - x / 20.0),
        "write (a): for the last 40,000 of 400,000 files it takes 0.41 times as long as for the second 40,000 (0.40 to 0.41), falling linearly with the number of files."
    );
    assert_eq!(
        sentence(&|x| 300.0 * x.sqrt()),
        "write (a): for the last 40,000 of 400,000 files it takes 2.53 times as long as for the second 40,000 (2.50 to 2.55), growing as the number of files to the power of 0.50."
    );
    let once = growth_of(&phase(400, 1, |x| 10_000.0 + x / 4.0, || 1.0)).sentence();
    assert_eq!(
        once,
        "write (a): for the last 40,000 of 400,000 files it took 4.20 times as long as for the second 40,000, \
         measured once."
    );
}

#[test]
fn a_start_up_is_stated_apart() {
    let law = |x: f64| if x < 40_000.0 { 48_000.0 } else { 30_000.0 };
    let found = growth_of(&phase(400, 3, law, || 1.0));
    assert_eq!(
        found.sentence(),
        "write (a): for the last 40,000 of 400,000 files it takes as long within 10%: 1.00 times as long as for the second 40,000 (0.99 to 1.01); the first 40,000, its start-up, take 1.60 times as long as the second."
    );
}

#[test]
fn few_windows_tell_nothing() {
    assert_eq!(effects(&phase(7, 3, |_| 1e4, || 1.0), Conclusion::Growth), []);
    assert_eq!(effects(&phase(8, 3, |_| 1e4, || 1.0), Conclusion::Growth).len(), 1);
    let none = measured("a", None, 1, 1.0);
    assert_eq!(effects(&book(vec![none]), Conclusion::Growth), [], "it has no windows");
}

#[test]
fn the_mean_counts_and_repeats_decide() {
    let grown = |factors: &[f64]| {
        let mut book = phase(100, factors.len() as u32, |_| 30_000.0, || 1.0);
        for (m, factor) in book.measurements.iter_mut().zip(factors) {
            m.windows[50..].iter_mut().for_each(|window| window.mean_ns *= factor);
        }
        growth_of(&book)
    };
    let alone = grown(&[3.0]);
    assert_eq!(alone.headline.decision, Decision::Open);
    assert!((alone.ratio - 3.0).abs() < 1e-9, "the medians are all the same: {alone:?}");
    assert_eq!(grown(&[3.0, 3.01, 2.99]).headline.decision, Decision::Longer);
    let apart = grown(&[3.0, 1.0, 0.9]);
    assert_eq!(apart.headline.decision, Decision::Open);
    assert_eq!(apart.course.unwrap().law, None, "of what is open no law is told");
}

#[test]
fn a_step_in_one_repeat_of_three_is_no_growth_of_the_phase() {
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let mut book = phase(100, 3, |_| 30_000.0, || (0.01 * noise.normal()).exp());
        for window in &mut book.measurements[1].windows[60..] {
            window.mean_ns *= 2.0;
        }
        let found = growth_of(&book);
        assert_eq!(found.headline.decision, Decision::Open, "seed {seed}: {found:?}");
    }
}

#[test]
fn of_levels_that_count_the_operations_of_a_phase_the_highest_holds_the_others() {
    let levels = [10_000.0, 20_000.0, 40_000.0];
    let all = levels.into_iter().flat_map(|files| {
        let mut all = phase(files as u64 / 1_000, 3, |x| 1e4 + x, || 1.0).measurements;
        let level = level("file-count", files, Unit::Count);
        all.iter_mut().for_each(|m| m.cell.level = Some(level.clone()));
        all
    });
    let found = growth_of(&book(all.collect()));
    assert_eq!(found.to.level.unwrap().value, 40_000.0);
}

#[test]
fn what_is_to_be_drawn_has_the_course_behind_the_start_up_and_what_is_told_of_it() {
    let mut noise = Noise::new(1);
    let law = |x: f64| 10_000.0 * (1.0 + 9.0 * x / 4e5);
    let found = growth_of(&phase(400, 3, law, || (0.01 * noise.normal()).exp()));
    let blocks = found.course.unwrap().blocks;
    assert_eq!(blocks.len(), 45);
    assert!(blocks[0].operations > 40_000.0, "the start-up is left out: {:?}", blocks[0]);
    for block in &blocks {
        let fitted_ns = block.fitted_ns.unwrap();
        assert!((fitted_ns / law(block.operations) - 1.0).abs() < 0.02, "{block:?}");
        assert!((block.seen_ns / fitted_ns - 1.0).abs() < 0.02, "{block:?}");
    }
    let even = growth_of(&phase(400, 3, |_| 30_000.0, || 1.0)).course.unwrap();
    assert!(even.blocks.iter().all(|block| block.fitted_ns.is_none()), "{even:?}");
}
