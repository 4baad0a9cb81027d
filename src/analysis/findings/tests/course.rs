use super::*;
use serde_json::Value;

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

pub(super) fn growth_of(book: &Book) -> Finding {
    only(book, Conclusion::Growth, &["a"])
}

/// The law; or the shape, where that is told to be a certain other one.
fn law_of(book: &Book) -> String {
    let figures = figures(&growth_of(book));
    let other = figures["shape"] == "threshold" || figures["shape"] == "monotone";
    let told = if other { "shape" } else { "law" };
    figures[told].as_str().unwrap().to_string()
}

pub(super) type Truth = (&'static str, fn(f64, f64) -> f64);

/// Laws of operations done and of all operations.
pub(super) const TRUTHS: [Truth; 9] = [
    ("constant", |_, _| 30_000.0),
    ("linear", |x, n| 30_000.0 * (1.0 + x / n)),
    ("linear", |x, n| 30_000.0 * (1.0 + 9.0 * x / n)),
    ("linear", |x, n| 3_000.0 + 300_000.0 * x / n),
    ("linear", |x, n| 30_000.0 * (1.0 - 0.7 * x / n)),
    ("logarithmic", |x, _| 10_000.0 + 2_000.0 * x.log2()),
    ("logarithmic", |x, _| 30_000.0 + 3_000.0 * x.log2()),
    ("power", |x, _| 300.0 * x.sqrt()),
    ("power", |x, n| 3e8 * (x / n).powi(2)),
];

#[test]
fn the_law_is_found_whatever_the_noise() {
    for (law, truth) in TRUTHS {
        for windows in [40, 100, 400] {
            let all = windows as f64 * 1_000.0;
            for spread in [0.0, 0.01, 0.02] {
                // Without noise every draw is the same.
                let draws = if spread == 0.0 { 1 } else { 20 };
                let found = (0..draws).map(|seed| {
                    let mut noise = Noise::new(seed);
                    let noise = || (spread * noise.normal()).exp();
                    law_of(&phase(windows, 3, |x| truth(x, all), noise))
                });
                let wrong: Vec<_> = found.filter(|found| found != law).collect();
                let span = (truth(500.0, all), truth(all, all));
                assert_eq!(wrong, [""; 0], "{law} over {windows} windows, {spread}, {span:?}");
            }
        }
    }
}

#[test]
fn wild_windows_and_a_warm_up_do_not_change_the_law() {
    for (law, truth) in TRUTHS {
        for windows in [100, 400] {
            for seed in 0..20 {
                let mut noise = Noise::new(seed);
                let all = windows as f64 * 1_000.0;
                let mut book =
                    phase(windows, 1, |x| truth(x, all), || (0.01 * noise.normal()).exp());
                for n in 0..3 {
                    book.measurements[0].windows[n].mean_ns *= 2.0;
                }
                for _ in 0..windows / 25 {
                    let wild = (noise.uniform() * windows as f64) as usize;
                    book.measurements[0].windows[wild].mean_ns *= 10.0;
                }
                let span = (truth(500.0, all), truth(all, all));
                assert_eq!(law_of(&book), law, "{windows} windows, seed {seed}, {span:?}");
            }
        }
    }
}

#[test]
fn directories_filled_one_after_the_other_are_constant_as_a_whole() {
    for teeth in [5.0, 16.0, 40.0] {
        for windows in [40, 100, 400] {
            let law = |x: f64| {
                let tooth = windows as f64 * 1_000.0 / teeth;
                30_000.0 * (1.0 + (x % tooth) / tooth)
            };
            let mut noise = Noise::new(5);
            let found = law_of(&phase(windows, 1, law, || (0.02 * noise.normal()).exp()));
            assert_eq!(found, "constant", "{teeth} teeth, {windows} windows");
        }
    }
}

#[test]
fn noise_alone_is_no_growth_even_where_neighbours_are_alike() {
    for memory in [0.0, 0.9, 0.98] {
        for (windows, repeats) in [(8, 1), (40, 1), (100, 3), (400, 1)] {
            if windows < 100 && memory > 0.0 {
                // What wanders as slowly as the phase is long is growth.
                continue;
            }
            let mut wrong = 0;
            for seed in 0..200 {
                let (mut noise, mut state) = (Noise::new(seed), 0.0);
                let wander = || {
                    state = memory * state + (1.0f64 - memory * memory).sqrt() * noise.normal();
                    (0.1 * state).exp()
                };
                let found = law_of(&phase(windows, repeats, |_| 30_000.0, wander));
                wrong += u32::from(found != "constant");
            }
            assert!(wrong <= 10, "{wrong} of 200, memory {memory}, {windows} windows");
        }
    }
}

#[test]
fn a_weak_law_is_called_constant_and_one_that_doubles_is_not() {
    let weak = |x: f64| 30_000.0 * (1.0 + 0.05 * x / 1e5);
    let double = |x: f64| 30_000.0 * (1.0 + x / 1e5);
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let mut noise = || (0.02 * noise.normal()).exp();
        assert_eq!(law_of(&phase(100, 1, weak, &mut noise)), "constant");
        assert_eq!(law_of(&phase(100, 1, double, &mut noise)), "linear");
    }
}

#[test]
fn the_ratio_is_that_of_the_ends() {
    let law = |x: f64| 10_000.0 + x / 4.0;
    let mut covered = 0;
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let found = growth_of(&phase(400, 3, law, || (0.02 * noise.normal()).exp()));
        let truth = law(380_000.0) / law(20_000.0);
        let [low, high] = interval(&found);
        covered += u32::from(low <= truth && truth <= high);
        assert!((number(&found, "ratio") / truth - 1.0).abs() < 0.04, "{found:?}");
        assert!((number(&found, "exponent") - 10.0 / 11.0).abs() < 0.03, "{found:?}");
    }
    assert!(covered >= 18, "{covered} of 20");
}

#[test]
fn the_sentences_say_how_many_times_and_by_which_law() {
    let found = growth_of(&phase(400, 1, |x| 10_000.0 + x / 4.0, || 1.0));
    assert_eq!(
        found.sentence(),
        "a: in this run write gets slower: the last 40,000 of 400,000 files take 7.00 times (6.93 to \
         7.07 by its windows) as long as the first; its time grows linearly with the number of files."
    );
    let found = growth_of(&phase(400, 1, |_| 30_000.0, || 1.0));
    assert_eq!(
        found.sentence(),
        "a: in this run write does not get slower by more than 10%: the last 40,000 of 400,000 files \
         take 1.00 times (0.99 to 1.01 by its windows) as long as the first."
    );
}

#[test]
fn a_phase_that_gets_faster_is_told_as_such() {
    let found = growth_of(&phase(400, 1, |x| 30_000.0 - x / 20.0, || 1.0));
    assert_eq!(
        found.sentence(),
        "a: in this run write gets faster: the last 40,000 of 400,000 files take 0.38 times (0.38 to \
         0.38 by its windows) as long as the first; its time falls linearly with the number of files."
    );
    assert!(number(&found, "ratio") < 0.4 && number(&found, "exponent") < 0.0, "{found:?}");
}

#[test]
fn a_power_is_told_with_its_interval() {
    let found = growth_of(&phase(400, 1, |x| 300.0 * x.sqrt(), || 1.0));
    assert_eq!(
        found.sentence(),
        "a: in this run write gets slower: the last 40,000 of 400,000 files take 4.62 times (4.48 to \
         4.77 by its windows) as long as the first; its time grows as the number of files to the power \
         of 0.50 (0.50 to 0.50 by its windows)."
    );
}

#[test]
fn few_windows_tell_nothing() {
    let found = growth_of(&phase(7, 3, |_| 1e4, || 1.0));
    assert_eq!(
        found.sentence(),
        "a: cannot tell whether write gets slower from 7 windows: at least 8 are needed."
    );
    assert_eq!(
        (&figures(&found)["shape"], &figures(&found)["law"]),
        (&"unclear".into(), &Value::Null)
    );
    let none = measured("a", None, 1, 1.0);
    assert_eq!(conclude(&book(vec![none]), &[Conclusion::Growth], &["a"]), [], "nobody asked");
}

#[test]
fn the_mean_counts_and_repeats_decide() {
    let grown = |factors: &[f64]| {
        let mut book = phase(100, factors.len() as u32, |_| 30_000.0, || 1.0);
        for (m, factor) in book.measurements.iter_mut().zip(factors) {
            m.windows[50..].iter_mut().for_each(|window| window.mean_ns *= factor);
        }
        growth_of(&book).sentence()
    };
    let alone = grown(&[3.0]);
    assert!(alone.starts_with("a: in this run write gets slower: the last 10,000"), "{alone}");
    assert!(alone.contains("3.00 times"), "the medians are all the same: {alone}");
    let alike = grown(&[3.0, 3.01, 2.99]);
    assert!(alike.starts_with("a: write gets slower: the last 10,000"), "{alike}");
    let apart = grown(&[3.0, 1.0, 0.9]);
    assert!(
        apart.starts_with("a: cannot tell whether write gets slower (repeats differ"),
        "{apart}"
    );
}

#[test]
fn a_start_up_is_stated_apart() {
    let law = |x: f64| if x < 4_000.0 { 48_000.0 } else { 30_000.0 };
    let found = growth_of(&phase(400, 2, law, || 1.0));
    assert_eq!(
        found.sentence(),
        "a: write does not get slower by more than 10%: the last 39,000 of 400,000 files take 1.00 \
         times (0.99 to 1.01) as long as the first; apart from the start-up: the first 4,000 files \
         take 1.60 times as long as the next 39,000."
    );
    assert_eq!(figures(&found)["start_up"]["operations"], 4_000);
}
