use super::*;
use crate::analysis::findings::slope::LevelRate;
use crate::results::book::DiskActivity;

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

/// (repeats, passes): five whole repeats; four of four passes each.
const DESIGNS: [(u32, u32); 2] = [(5, 1), (4, 4)];

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
                assert_eq!(figures(&found)["effect"], true, "{seed} {spread} {found:?}");
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
                wrong += u32::from(figures(&found)["effect"] == true);
            }
            // Ten are expected; more than 17 come by chance once in sixty times.
            assert!(wrong <= 17, "{wrong} of 200 with {spread}");
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
    assert!(high - low < 0.03 && low < -0.025 && -0.025 < high, "{found:?}");
    assert_eq!(number(&found, "per"), 10_000.0);
}

/// Made with scipy: `linregress` through the means of the levels and through each repeat, all divided by its mean; then
/// `ttest_1samp(...).confidence_interval(0.975)` of what the repeats' rises differ by. The same for each level, with 0.9875.
#[test]
fn a_slope_has_the_interval_of_scipys_t_test_over_the_repeats_own_lines() {
    let rates = [[100.0, 95.0, 80.0], [50.0, 46.0, 42.0], [120.0, 119.0, 99.0], [80.0, 74.0, 66.0]];
    let mut all = Vec::new();
    for (repeat, rates) in (1..).zip(rates) {
        for (at, rate) in [0.0, 10.0, 20.0].into_iter().zip(rates) {
            let level = level("files-present", at, Unit::Count);
            all.push(measured("a", Some(level), repeat, 1_000.0 / rate));
        }
    }
    let found = slope_of(&book(all));
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
    near(number(&found, "change"), -0.087_736_33);
    let [low, high] = interval(&found);
    near(low, -0.103_952_64);
    near(high, -0.071_520_02);
    let last = &figures(&found)["levels"][1];
    near(last["change"].as_f64().unwrap(), -0.177_530_85);
    near(last["interval"][0].as_f64().unwrap(), -0.222_476_90);
}

#[test]
fn the_sentences_say_how_much_for_which_step() {
    let mut noise = Noise::new(1);
    let found =
        slope_of(&over(&COUNTS, 3, 1, |at| 1.0 - 0.21 * at / 1e6, || 1.0 + 0.005 * noise.normal()));
    assert!(
        found
            .sentence()
            .starts_with("a: write is 21% slower (21% to 21%) for each 1,000,000 files."),
        "{}",
        found.sentence()
    );
    let mut even =
        |spread: f64| slope_of(&over(&COUNTS, 3, 1, |_| 1.0, || 1.0 + spread * noise.normal()));
    let same = even(0.005).sentence();
    assert!(same.starts_with("a: write changes by at most "), "{same}");
    assert!(same.ends_with("% between 0 and 2,000,000 files."), "{same}");
    let open = even(0.3).sentence();
    assert!(open.starts_with("a: cannot tell whether files-present changes write: "), "{open}");
    assert!(open.ends_with("% faster."), "{open}");
}

#[test]
fn the_line_falls_as_stated_through_the_mean_of_the_rates_and_no_effect_has_none() {
    let Finding::Slope(mut slope) =
        slope_of(&over(&COUNTS, 3, 1, |at| 1.0 - 0.3 * at / 1e6, || 1.0))
    else {
        panic!("another kind")
    };
    let rates = COUNTS.map(|level| LevelRate { level, mean: 100.0 - 30.0 * level / 1e6, n: 2 });
    let line = slope.line(&rates);
    let (first, last) = (line[0], line[line.len() - 1]);
    assert_eq!((first.0, last.0), (0.0, 2e6));
    assert!((first.1 - 100.0).abs() < 1e-9 && (last.1 - 40.0).abs() < 1e-9, "{first:?} {last:?}");
    slope.effect = false;
    assert_eq!(slope.line(&rates), []);
}

/// Reads of 100 requests that the device was busy with all of the time, at a rate that falls by a tenth for each million.
fn slower_reads(change: impl Fn(&mut Measurement)) -> Book {
    let mut all = over(&COUNTS, 5, 1, |at| 1.0 - 0.1 * at / 1e6, || 1.0);
    for m in &mut all.measurements {
        m.device_reads = Some(100);
        m.device_read_bytes = Some(100 << 20);
        (m.device_writes, m.device_write_bytes) = (Some(0), Some(0));
        m.device_busy_seconds = Some(0.9 * m.seconds);
        m.cpu_system_seconds = 0.1 * m.seconds;
        change(m);
    }
    all
}

#[test]
fn what_takes_longer_for_the_same_requests_may_be_the_devices_own() {
    let is_own = |change: &dyn Fn(&mut Measurement)| {
        let found = slope_of(&slower_reads(change));
        assert_eq!(figures(&found)["effect"], true, "{found:?}");
        let is_own = figures(&found)["device_itself"] == true;
        assert_eq!(found.sentence().contains("the same requests"), is_own, "{found:?}");
        is_own
    };
    let at = |m: &Measurement| m.cell.level.as_ref().unwrap().value / 1e6;
    assert!(is_own(&|_| ()));
    assert!(is_own(&|m| m.device_reads = Some(100 + m.cell.repeat as u64 % 2)));
    assert!(!is_own(&|m| m.device_reads = Some(100 + 2 * at(m) as u64)), "more requests");
    assert!(!is_own(&|m| m.device_writes = Some(2 * at(m) as u64)), "other requests");
    assert!(!is_own(&|m| m.device_read_bytes = Some(100 + 10 * at(m) as u64)), "larger ones");
    assert!(!is_own(&|m| m.device_reads = Some(0)), "the device had nothing to do");
    assert!(!is_own(&|m| m.device_busy_seconds = Some(0.5)), "it waited for them");
    assert!(!is_own(&|m| m.cpu_system_seconds = m.seconds - 0.9), "the processor took longer");
    assert!(!is_own(&|m| m.device_busy_seconds = None), "it is not known");
    let modelled = DiskActivity { late: Some(0), ..Default::default() };
    assert!(
        !is_own(&|m| m.disk = Some(modelled.clone())),
        "a modelled disk has no speed of its own"
    );
}
