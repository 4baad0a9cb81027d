//! Phases of one variant over an axis.

use super::*;
use boatload_results::book::DiskActivity;

const LEVELS: [f64; 12] = [30., 40., 50., 60., 65., 70., 75., 80., 85., 90., 94., 98.];

/// Repeats of one phase over all levels of space used; `law` gives seconds, `noise` a factor.
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

fn effect_of(book: &Book) -> EffectFinding {
    only(book, Conclusion::Levels)
}

fn step(factor: f64) -> impl Fn(f64) -> f64 {
    move |at| if at < 83.0 { 1.0 } else { factor }
}

#[test]
fn a_step_at_83_percent_is_found_from_85_on_whatever_the_noise() {
    for factor in [1.5, 2.0, 0.5] {
        let (mut found, mut covered) = (0, 0);
        for seed in 0..40 {
            for spread in [0.02, 0.05] {
                let mut noise = Noise::new(seed);
                let noise = || (spread * noise.normal()).exp();
                let effect = effect_of(&over(&LEVELS, 4, step(factor), noise));
                let since = effect.headline.since;
                assert!(since.is_none_or(|since| since >= 85.0), "{seed} {spread} {effect:?}");
                found += u32::from(since == Some(85.0));
                let interval = effect.headline.interval.unwrap();
                covered += u32::from(interval.contains(factor));
            }
        }
        assert!(found >= 72 && covered >= 74, "{factor}: {found} found, {covered} covered of 80");
    }
}

#[test]
fn noise_alone_is_no_change_in_nineteen_of_twenty() {
    for spread in [0.02, 0.1, 0.3] {
        for (levels, repeats) in [(&LEVELS[..], 4), (&LEVELS[..2], 10), (&LEVELS[..6], 3)] {
            let wrong = how_often(400, |noise| {
                let noise = || (spread * noise.normal()).exp();
                claims_a_difference(&over(levels, repeats, |_| 1.0, noise), Conclusion::Levels)
            });
            assert!(wrong <= most_false(400), "{wrong} with {spread}, {repeats} repeats");
        }
    }
}

#[test]
fn a_slow_repeat_is_no_noise() {
    let mut noise = Noise::new(7);
    let law = |at: f64| 1.0 + 0.1 * at / 98.0;
    let mut all = over(&LEVELS, 4, law, || 1.0 + 0.005 * noise.normal());
    for m in &mut all.measurements {
        m.seconds = m.seconds.map(|all| all * f64::from(m.cell.repeat));
    }
    let found = effect_of(&all);
    assert_eq!(found.headline.decision, Decision::Longer, "{found:?}");
    let interval = found.headline.interval.unwrap();
    assert!(interval.high < 1.05 * interval.low, "{found:?}");
}

#[test]
fn passes_of_a_repeat_are_averaged_and_make_nothing_surer() {
    let once = over(&LEVELS[..3], 4, |at| at, || 1.0);
    let mut twice = once.clone();
    for m in &once.measurements {
        for (pass, times) in [(2, 0.5), (3, 2.0)] {
            twice.measurements.push(Measurement {
                pass,
                seconds: m.seconds.map(|all| times * all),
                ..m.clone()
            });
        }
    }
    let [once, twice] = [once, twice].map(|book| effect_of(&book));
    assert_eq!(once.repeats, twice.repeats);
    assert!((once.ratio - twice.ratio).abs() < 1e-9, "{twice:?}");
}

/// A single series has no other variances to lean on. As `scipy.stats.ttest_1samp` has it: `exp(mean +- t s / sqrt(4))` of the
/// log ratios, with t = 3.182446.
#[test]
fn a_single_effect_has_the_interval_of_a_t_test() {
    let rates = [[100.0, 95.0, 80.0], [50.0, 46.0, 42.0], [120.0, 119.0, 99.0], [80.0, 74.0, 66.0]];
    let mut all = Vec::new();
    for (repeat, rates) in (1..).zip(rates) {
        for (at, rate) in LEVELS.into_iter().zip(rates) {
            let level = level("space-used", at, Unit::Percent);
            all.push(measured("a", Some(level), repeat, 1_000.0 / rate));
        }
    }
    let found = effect_of(&book(all));
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
    near(found.ratio, 1.21599197);
    let interval = found.stated.interval.unwrap();
    near(interval.low, 1.17742349);
    near(interval.high, 1.25582382);
}

#[test]
fn one_odd_level_is_no_change_and_is_not_where_a_change_begins() {
    let mut noise = Noise::new(3);
    let mut noise = || 1.0 + 0.005 * noise.normal();
    let bump = |at: f64| if at == 94.0 { 1.4 } else { 1.0 };
    let found = effect_of(&over(&LEVELS, 4, bump, &mut noise));
    assert_eq!((found.stated.decision, found.stated.since), (Decision::Within, None), "{found:?}");
    // At 90% it is as fast as at the lowest again.
    let odd = |at: f64| if at > 90.0 || at == 80.0 { 1.4 } else { 1.0 };
    let found = effect_of(&over(&LEVELS, 4, odd, &mut noise));
    assert_eq!(found.stated.since, Some(94.0), "{found:?}");
}

#[test]
fn each_level_is_told_against_the_lowest() {
    let found = effect_of(&over(&LEVELS, 4, |at| at / 30.0, || 1.0));
    let values: Vec<f64> = found.steps.iter().map(|step| step.value).collect();
    assert_eq!(values, LEVELS[1..]);
    for step in &found.steps {
        assert!((step.ratio - step.value / 30.0).abs() < 1e-9, "{step:?}");
        assert!(step.interval.unwrap().contains(step.ratio), "{step:?}");
    }
}

#[test]
fn the_sentences_say_how_many_times_and_from_where_on() {
    let of = |repeats, law: &dyn Fn(f64) -> f64, spread: f64| {
        let mut noise = Noise::new(3);
        effect_of(&over(&LEVELS, repeats, law, || 1.0 + spread * noise.normal())).sentence()
    };
    assert_eq!(
        of(4, &step(1.5), 0.0),
        "write (a) at 98% full takes 1.50 times as long as at 30% (1.49 to 1.52), longer from 85% on."
    );
    assert_eq!(
        of(4, &step(0.5), 0.0),
        "write (a) at 98% full takes 0.50 times as long as at 30% (0.50 to 0.51), shorter from 85% on."
    );
    assert_eq!(
        of(4, &|at| if at < 98.0 { 1.0 } else { 1.5 }, 0.0),
        "write (a) at 98% full takes 1.50 times as long as at 30% (1.49 to 1.52)."
    );
    let within = of(4, &|_| 1.0, 0.01);
    let begin = "write (a) at 98% full takes as long within 10%: ";
    assert!(within.starts_with(begin) && within.contains(" times as long as at 30% ("), "{within}");
    let open = of(4, &|_| 1.0, 0.15);
    assert!(open.starts_with("write (a) at 98% full may take 0."), "{open}");
    assert!(open.contains(" times as long as at 30% ("), "{open}");
    assert_eq!(
        of(1, &step(1.5), 0.0),
        "write (a) at 98% full took 1.50 times as long as at 30%, measured once."
    );
    let mut wild = over(&LEVELS[..2], 2, |_| 1.0, || 1.0);
    wild.measurements[0].seconds = Some(9.0);
    let wild = effect_of(&wild).sentence();
    assert!(wild.starts_with("write (a) at 40% full may take 0.33 times as long as at 30% (0.0"));
}

/// Two phases over numbers of files, with seconds for 1,000 operations by a law each and so much noise.
pub(super) fn tasks(
    laws: [fn(f64) -> f64; 2],
    repeats: u32,
    spread: f64,
    noise: &mut Noise,
) -> Vec<Measurement> {
    let mut all = Vec::new();
    for repeat in 1..=repeats {
        for files in FILES {
            for (phase, law) in ["stat", "delete"].into_iter().zip(laws) {
                let at = Some(level("file-count", files, Unit::Count));
                let seconds = law(files) * (spread * noise.normal()).exp();
                let m = measured("a", at, repeat, seconds);
                all.push(Measurement {
                    phase: phase.into(),
                    operation: MeasuredOperation::find(phase),
                    ..m
                });
            }
        }
    }
    all
}

pub(super) const FILES: [f64; 4] = [1e3, 1e4, 1e5, 1e6];
pub(super) const FLAT: fn(f64) -> f64 = |_| 1.0;
const STEEP: fn(f64) -> f64 = |files| 1.0 + files / 1e6;

fn sentences(all: Vec<Measurement>) -> Vec<String> {
    effects(&book(all), Conclusion::Levels).iter().map(EffectFinding::sentence).collect()
}

#[test]
fn all_phases_together_are_told_behind_each() {
    let found = sentences(tasks([FLAT, STEEP], 3, 0.001, &mut Noise::new(1)));
    assert_eq!(
        found,
        [
            "stat (a) at 1,000,000 files takes as long within 10%: 1.000 times as long as at 1,000 (0.99 to 1.01).",
            "delete (a) at 1,000,000 files takes 2.00 times as long as at 1,000 (1.98 to 2.02), longer from 100,000 on.",
            "all phases together: at the highest level it takes 1.41 times as long as at the lowest (1.40 to 1.43).",
        ]
    );
}

/// In one directory, and in forty, each of which lists `.` and `..` too.
#[test]
fn a_listing_is_counted_by_its_entries() {
    for directories in [1, 40] {
        let mut all = tasks([FLAT, FLAT], 3, 0.001, &mut Noise::new(3));
        all.retain(|m| m.phase == "stat");
        for m in &mut all {
            let files = m.cell.level.as_ref().map_or(0.0, |level| level.value);
            (m.phase, m.operation, m.operations) =
                ("list".into(), MeasuredOperation::find("list"), directories);
            m.bytes = Some(48 * directories + 32 * files as u64);
            m.seconds = m.seconds.map(|all| all * files * 1e-6);
        }
        let found = effect_of(&book(all));
        assert_eq!(found.stated.decision, Decision::Within, "{found:?}");
        assert!((found.ratio - 1.0).abs() < 0.005, "{found:?} with {directories} directories");
    }
}

#[test]
fn what_is_counted_is_what_tables_count() {
    let of = |bytes: fn(f64) -> u64| {
        let mut all = tasks([FLAT, FLAT], 3, 0.001, &mut Noise::new(1));
        for m in &mut all {
            let files = m.cell.level.as_ref().map_or(0.0, |level| level.value);
            m.bytes = Some(m.operations * bytes(files));
        }
        effects(&book(all), Conclusion::Levels)[0].stated.decision
    };
    // As many operations a second, of which tables count bytes only where each moves many at all levels.
    assert_eq!(of(|files| files as u64 * 1_024), Decision::Within);
    assert_eq!(of(|files| (1 << 40) / files as u64), Decision::Longer);
}

#[test]
fn a_phase_with_windows_is_left_to_its_growth_and_one_without_valid_measurements_has_no_effect() {
    let phases = |all: Vec<Measurement>| -> Vec<Option<String>> {
        effects(&book(all), Conclusion::Levels).into_iter().map(|one| one.phase).collect()
    };
    let all = || tasks([FLAT, STEEP], 3, 0.001, &mut Noise::new(4));
    let [stat, delete] = ["stat", "delete"].map(|name| Some(name.to_string()));
    assert_eq!(phases(all()), [stat.clone(), delete, None]);
    let mut windowed = all();
    for m in windowed.iter_mut().filter(|m| m.phase == "delete") {
        m.windows = vec![Window::default()];
    }
    assert_eq!(phases(windowed), std::slice::from_ref(&stat));
    let mut failed = all();
    let of_delete = failed.iter_mut().filter(|m| m.phase == "delete");
    of_delete.for_each(|m| m.invalid = vec![failing(Errno::EIO, 1)]);
    assert_eq!(phases(failed), [stat]);
}

#[test]
fn a_phase_is_compared_at_the_ends_of_the_levels_that_it_has() {
    for (missing, ends) in [(1e3, [1e4, 1e6]), (1e4, [1e3, 1e6]), (1e6, [1e3, 1e5])] {
        let mut all = tasks([FLAT, STEEP], 3, 0.001, &mut Noise::new(4));
        let is_missing = |m: &Measurement| {
            m.phase == "delete" && m.cell.level.as_ref().is_some_and(|level| level.value == missing)
        };
        all.retain(|m| !is_missing(m));
        let found = effects(&book(all), Conclusion::Levels).swap_remove(1);
        let found = [found.from, found.to].map(|cell| cell.level.unwrap().value);
        assert_eq!(found, ends, "without {missing}");
    }
}

/// Reads of 100 requests that the device was busy with all of the time, which take longer and longer.
fn slower_reads(change: impl Fn(&mut Measurement)) -> Book {
    let mut all = over(&[0.0, 1.0, 2.0], 5, |at| 1.0 + 0.1 * at, || 1.0);
    for m in &mut all.measurements {
        m.device_reads = Some(100);
        m.device_read_bytes = Some(100 << 20);
        (m.device_writes, m.device_write_bytes) = (Some(0), Some(0));
        m.device_busy_seconds = m.seconds.map(|all| 0.9 * all);
        m.cpu_system_seconds = m.seconds.map(|all| 0.1 * all);
        change(m);
    }
    all
}

#[test]
fn what_takes_longer_for_the_same_requests_may_be_the_devices_own() {
    let is_own = |change: &dyn Fn(&mut Measurement)| {
        let found = effect_of(&slower_reads(change));
        assert_eq!(found.stated.decision, Decision::Longer, "{found:?}");
        let own = ", but the device had the same requests: it may be the device itself.";
        assert_eq!(found.sentence().ends_with(own), found.device_itself, "{found:?}");
        found.device_itself
    };
    let at = |m: &Measurement| m.cell.level.as_ref().unwrap().value;
    assert!(is_own(&|_| ()));
    assert!(is_own(&|m| m.device_reads = Some(100 + m.cell.repeat as u64 % 2)));
    assert!(!is_own(&|m| m.device_reads = Some(100 + 2 * at(m) as u64)), "more requests");
    assert!(!is_own(&|m| m.device_writes = Some(2 * at(m) as u64)), "other requests");
    assert!(!is_own(&|m| m.device_read_bytes = Some(100 + 10 * at(m) as u64)), "larger ones");
    assert!(!is_own(&|m| m.device_reads = Some(0)), "the device had nothing to do");
    assert!(!is_own(&|m| m.device_busy_seconds = Some(0.5)), "it waited for them");
    assert!(
        !is_own(&|m| m.cpu_system_seconds = m.seconds.map(|all| all - 0.9)),
        "the processor took longer"
    );
    assert!(!is_own(&|m| m.device_busy_seconds = None), "it is not known");
    let modelled = DiskActivity { late: Some(0), ..Default::default() };
    assert!(
        !is_own(&|m| m.disk = Some(modelled.clone())),
        "a modelled disk has no speed of its own"
    );
}
