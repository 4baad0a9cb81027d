use super::*;

fn over(
    counts: &[f64],
    repeats: u32,
    passes: u32,
    law: impl Fn(f64) -> f64,
    mut noise: impl FnMut() -> f64,
) -> Book {
    let mut all = Vec::new();
    for repeat in 1..=repeats {
        for at in counts {
            for pass in 1..=passes {
                let level = level("files-present", *at, Unit::Count);
                let seconds = 1.0 / (law(*at) * noise());
                all.push(Measurement { pass, ..measured("a", Some(level), repeat, seconds) });
            }
        }
    }
    book(all)
}

fn slope_of(book: &Book) -> Finding {
    only(book, Conclusion::Slope, &["a"])
}

const COUNTS: [f64; 3] = [0.0, 1e6, 2e6];

/// (repeats, passes): three whole repeats; five passes of one.
const DESIGNS: [(u32, u32); 2] = [(3, 1), (1, 5)];

#[test]
fn a_loss_of_30_percent_for_each_million_is_found() {
    for (repeats, passes) in DESIGNS {
        for spread in [0.0, 0.02, 0.05, 0.1] {
            let mut covered = 0;
            for seed in 0..20 {
                let mut noise = Noise::new(seed);
                let law = |at: f64| 1.0 - 0.3 * at / 1e6;
                let found = slope_of(&over(&COUNTS, repeats, passes, law, || {
                    1.0 + spread * noise.normal()
                }));
                assert_eq!(number(&found, "per"), 1e6);
                assert_eq!(found.figures["effect"], true, "{seed} {spread} {found:?}");
                let [low, high] = interval(&found);
                covered += u32::from(low <= -0.299_999 && -0.300_001 <= high);
            }
            assert!(covered >= 17, "{covered} of 20 cover the truth with {spread}");
        }
    }
}

#[test]
fn noise_alone_is_no_slope_in_nineteen_of_twenty() {
    for (repeats, passes) in DESIGNS {
        for spread in [0.02, 0.1] {
            let mut wrong = 0;
            for seed in 0..200 {
                let mut noise = Noise::new(seed);
                let found = slope_of(&over(
                    &COUNTS,
                    repeats,
                    passes,
                    |_| 1.0,
                    || 1.0 + spread * noise.normal(),
                ));
                wrong += u32::from(found.figures["effect"] == true);
            }
            assert!(wrong <= 10, "{wrong} of 200 with {spread}");
        }
    }
}

#[test]
fn a_slow_repeat_is_no_noise() {
    let counts = [0.0, 10_000.0, 40_000.0];
    let mut noise = Noise::new(7);
    let mut all = over(&counts, 4, 1, |at| 1.0 - 0.1 * at / 4e4, || 1.0 + 0.01 * noise.normal());
    for m in &mut all.measurements {
        m.seconds *= f64::from(m.cell.repeat);
    }
    let found = slope_of(&all);
    let [low, high] = interval(&found);
    assert!(high - low < 0.02 && low < -0.025 && -0.025 < high, "{found:?}");
    assert_eq!(number(&found, "per"), 10_000.0);
}

#[test]
fn the_sentences_say_how_much_for_which_step() {
    let mut noise = Noise::new(1);
    let found =
        slope_of(&over(&COUNTS, 3, 1, |at| 1.0 - 0.21 * at / 1e6, || 1.0 + 0.005 * noise.normal()));
    assert!(
        found.sentence.starts_with(
            "a: write loses 21% (21% to 21%) of its rate for each 1,000,000 of files-present."
        ),
        "{}",
        found.sentence
    );
    let found = slope_of(&over(&COUNTS, 3, 1, |_| 1.0, || 1.0 + 0.005 * noise.normal()));
    assert!(
        found.sentence.starts_with("a: no effect of files-present on write found: smaller than 0."),
        "{}",
        found.sentence
    );
    assert!(found.sentence.ends_with(" for each 1,000,000."), "{}", found.sentence);
}

#[test]
fn what_is_to_be_drawn_has_each_point_and_the_line() {
    let found = slope_of(&over(&COUNTS, 3, 1, |at| 1.0 - 0.3 * at / 1e6, || 1.0));
    let points = found.figures["points"].as_array().unwrap();
    assert_eq!(points.len(), 9);
    for point in points {
        let of = |key: &str| point[key].as_f64().unwrap();
        // The mean of the rates 1.0, 0.7 and 0.4 is 0.7.
        let truth = (1.0 - 0.3 * of("level") / 1e6) / 0.7;
        assert!(
            (of("seen") - truth).abs() < 1e-9 && (of("fitted") - truth).abs() < 1e-9,
            "{point}"
        );
    }
}
