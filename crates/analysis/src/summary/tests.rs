use super::*;
use crate::Analysis;
use crate::statistics::Interval;
use crate::statistics::distributions::student_t;
use crate::uncertainty::{FIGURES_WITHOUT_ERROR, IntervalBasis, figures_allowed};
use boatload_base::errno::Errno;
use boatload_results::fixture::failing;
use boatload_results::fixture::{self, latencies, measurement};
use boatload_run::cache::CacheState;

fn whole_summary(book: &Book) -> Summary {
    Analysis::of(book).summary().clone()
}

fn summary_of(measurements: Vec<Measurement>) -> PhaseSummary {
    let book = Book { measurements, ..Book::default() };
    whole_summary(&book).groups.swap_remove(0).rows.swap_remove(0)
}

/// A phase of so many operations in a second.
fn at_rate(repeat: u32, pass: u32, rate: u64) -> Measurement {
    let measured = measurement("create", repeat, 100, 1_000);
    Measurement { operations: rate, seconds: Some(1.0), pass, ..measured }
}

/// The share of Student's distribution between -t and t, by Simpson's rule after x = sqrt(n) tan a,
/// which makes the density cos(a)^(n - 1).
fn share_within(t: f64, degrees: u32) -> f64 {
    let area = |to: f64| {
        let (steps, f) = (2000, |a: f64| a.cos().powi(degrees as i32 - 1));
        let h = to / f64::from(steps);
        let inner = (1..steps).map(|i| f(f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 });
        (f(0.0) + f(to) + inner.sum::<f64>()) * h / 3.0
    };
    area((t / f64::from(degrees).sqrt()).atan()) / area(std::f64::consts::FRAC_PI_2)
}

#[test]
fn students_t_holds_95_percent_for_every_number_of_repeats() {
    for degrees in (1..=60).chain([100, 1_000]) {
        let (t, off) = (student_t(0.05, f64::from(degrees)).unwrap(), 0.000_5);
        let (low, high) = (share_within(t - off, degrees), share_within(t + off, degrees));
        assert!(low <= 0.95 && 0.95 <= high, "{degrees}: {t} holds {low} to {high}");
    }
    let two = student_t(0.05, 2.0).unwrap();
    assert!((two - 0.95 * (2.0 / (4.0 * 0.975 * 0.025f64)).sqrt()).abs() < 0.0005);
}

#[test]
fn three_repeats_give_the_interval_of_students_t() {
    let rate = summary_of(vec![at_rate(1, 1, 90), at_rate(2, 1, 100), at_rate(3, 1, 110)]).rate;
    let rate = rate.unwrap();
    assert_eq!((rate.n, rate.basis), (3, IntervalBasis::Repeats));
    assert!((rate.mean - 990_000f64.cbrt()).abs() < 1e-9, "the geometric mean: {rate:?}");
    // The logarithms have the standard deviation 0.100377, so a factor of exp(4.30265 * 0.100377 / sqrt(3)) either way.
    let Interval { low, high } = rate.interval.unwrap();
    assert!((low - 77.670).abs() < 0.001 && (high - 127.890).abs() < 0.001, "{rate:?}");
    assert_eq!(rate.figures, 2);
}

#[test]
fn passes_are_averaged_in_their_repeat_before_repeats_are_compared() {
    let passes = [(1, 1, 100), (1, 2, 400), (2, 1, 200), (2, 2, 200)];
    let rate = summary_of(passes.map(|(r, p, rate)| at_rate(r, p, rate)).into()).rate.unwrap();
    assert!((rate.mean - 200.0).abs() < 1e-9, "{rate:?}");
    let interval = rate.interval.unwrap();
    assert!((interval.high / 200.0).ln() <= 0.010_001, "the least that is stated: {rate:?}");
    let one = summary_of(vec![at_rate(1, 1, 100), at_rate(1, 2, 400)]).rate.unwrap();
    assert!((one.mean - 200.0).abs() < 1e-9, "{one:?}");
    assert_eq!((rate.n, one.n, one.basis), (2, 2, IntervalBasis::Passes));
}

#[test]
fn a_single_repeat_has_the_error_of_its_own_slices() {
    let rate = summary_of(vec![at_rate(1, 1, 1_000)]).rate.unwrap();
    assert_eq!((rate.n, rate.basis), (1, IntervalBasis::Slices));
    let Interval { low, high } = rate.interval.unwrap();
    assert!(((high / 1_000.0).ln() - 0.0196).abs() < 1e-5, "1% standard error of 1,000: {rate:?}");
    assert!((low * high - 1e6).abs() < 1e-3, "as many times less as more: {rate:?}");
    let unknown = Measurement { rate_error: None, ..at_rate(1, 1, 1_000) };
    let rate = summary_of(vec![unknown]).rate.unwrap();
    assert_eq!((rate.interval, rate.figures), (None, FIGURES_WITHOUT_ERROR));
}

#[test]
fn figures_end_at_the_second_figure_of_the_uncertainty() {
    for (mean, half, figures) in [
        (51_234.0, 1_536.0, 3),
        (51_234.0, 51.0, 5),
        (51_234.0, 0.001, 5),
        (51_234.0, 0.0, 5),
        (51_234.0, 60_000.0, 2),
        (5.0, 60_000.0, 1),
        (0.0, 1.0, 1),
    ] {
        assert_eq!(figures_allowed(mean, Some(half)), figures, "{mean} +- {half}");
    }
}

#[test]
fn an_invalid_measurement_is_named_and_never_averaged_in() {
    let mut failed = at_rate(2, 1, 5);
    failed.invalid = vec![failing(Errno::ENOSPC, 120)];
    failed.latency.as_mut().unwrap().max = u64::MAX;
    let row = summary_of(vec![at_rate(1, 1, 100), failed.clone()]);
    assert_eq!(row.rate.unwrap().mean, 100.0);
    assert_eq!(row.tail.unwrap().max_ns, 1_000 * 10);
    let expected = InvalidMeasurement { repeat: 2, pass: 1, reasons: vec!["ENOSPC x 120".into()] };
    assert_eq!(row.invalid, [expected]);
    let none = summary_of(vec![failed]);
    assert_eq!((none.rate, none.seconds, none.tail), (None, None, None));
}

#[test]
fn quantiles_are_those_of_all_operations_and_the_maximum_is_one_that_occurred() {
    let with = |repeat, values: Vec<u64>| {
        let (histogram, latency) = latencies(values);
        Measurement { histogram, latency: Some(latency), ..at_rate(repeat, 1, 1_000) }
    };
    // The first repeat is fast, the second slow; the mean of their medians is 500,500.
    let fast = with(1, vec![1_000; 900]);
    let slow = with(2, [vec![1_000_000; 99], vec![7_654_321]].concat());
    let tail = summary_of(vec![fast, slow]).tail.unwrap();
    assert_eq!(tail.p50_ns, Some(1_000));
    let p99 = tail.p99_ns.unwrap();
    assert!((999_000..=1_001_000).contains(&p99), "{p99}");
    assert_eq!(tail.max_ns, 7_654_321);
}

#[test]
fn quantiles_of_a_part_do_not_pass_for_those_of_all() {
    let broken = Measurement { histogram: vec![1, 2, 3], ..at_rate(2, 1, 100) };
    let tail = summary_of(vec![at_rate(1, 1, 100), broken]).tail.unwrap();
    assert_eq!((tail.p50_ns, tail.p99_ns, tail.max_ns), (None, None, 10_000));
}

#[test]
fn the_cache_word_is_never_better_than_what_every_measurement_found() {
    let mut unverified = at_rate(2, 1, 100);
    unverified.cache.found = CacheState::Unverified;
    assert_eq!(summary_of(vec![at_rate(1, 1, 100), unverified]).cache, "mixed");
    assert_eq!(summary_of(vec![at_rate(1, 1, 100), at_rate(2, 1, 90)]).cache, "cold-verified");
}

#[test]
fn groups_stand_by_variant_whatever_the_random_order_of_the_run_was() {
    let level = |value| Some(Level { axis: "files".into(), value, ..Level::default() });
    let mut measurements = Vec::new();
    for (variant, value) in [("single", 1.0), ("single", 2.0), ("many", 1.0), ("many", 2.0)] {
        let mut m = at_rate(1, 1, 100);
        (m.cell.variant, m.cell.level) = (variant.into(), level(value));
        measurements.push(m);
    }
    let groups = whole_summary(&Book { measurements, ..Book::default() }).groups;
    let order: Vec<_> =
        groups.iter().map(|g| (g.variant.as_str(), g.level.as_ref().unwrap().value)).collect();
    assert_eq!(order, [("many", 1.0), ("many", 2.0), ("single", 1.0), ("single", 2.0)]);
}

#[test]
fn a_rate_is_in_bytes_where_every_operation_of_the_phase_moves_much() {
    let moving = |repeat, bytes| Measurement { bytes, ..at_rate(repeat, 1, 2) };
    let row = summary_of(vec![moving(1, Some(2 << 30)), moving(2, Some(2 << 30))]);
    assert_eq!((row.rate_unit, row.rate.unwrap().mean), (Unit::Bytes, (2u64 << 30) as f64));
    let row = summary_of(vec![moving(1, Some(2 << 30)), moving(2, Some(2 << 10))]);
    assert_eq!((row.rate_unit, row.rate.unwrap().mean), (Unit::Count, 2.0));
}

#[test]
fn the_rate_counts_the_time_of_the_sync() {
    let synced = |repeat, sync_seconds| Measurement { sync_seconds, ..at_rate(repeat, 1, 100) };
    let row = summary_of(vec![synced(1, Some(3.0)), synced(2, Some(3.0))]);
    assert_eq!(row.rate.unwrap().mean, 25.0);
    // The slices of a phase say nothing of its sync.
    assert_eq!(summary_of(vec![synced(1, Some(1.0))]).rate.unwrap().interval, None);
}

#[test]
fn the_spread_of_seconds_is_that_of_the_population_over_the_mean() {
    let lasting =
        |(repeat, seconds)| Measurement { seconds: Some(seconds), ..at_rate(repeat, 1, 100) };
    let row = summary_of([(1, 4.241), (2, 0.133), (3, 0.109), (4, 0.308)].map(lasting).into());
    assert_eq!(format!("{:.1}", row.seconds.unwrap()), "1.2");
    assert_eq!(format!("{:.2}", row.deviation.unwrap()), "1.47");
    assert_eq!(summary_of(vec![lasting((1, 4.241))]).deviation, None);
    let zero = summary_of([(1, 0.0), (2, 0.0)].map(lasting).into());
    assert_eq!((zero.seconds, zero.deviation), (None, None));
}

#[test]
fn percentiles_need_as_many_operations_as_they_divide_into() {
    for (operations, p50, p99) in [(9, false, false), (10, true, false), (100, true, true)] {
        let tail = summary_of(vec![measurement("read", 1, operations, 1_000)]).tail.unwrap();
        assert_eq!((tail.p50_ns.is_some(), tail.p99_ns.is_some()), (p50, p99), "{operations}");
        assert_eq!(tail.max_ns, 10_000);
    }
}

#[test]
fn a_published_figure_without_latencies_has_a_rate_and_no_tail() {
    let latency = Default::default();
    let published = Measurement { latency, histogram: vec![], ..at_rate(1, 1, 100) };
    let row = summary_of(vec![published.clone(), Measurement { pass: 2, ..published }]);
    assert_eq!((row.rate.unwrap().mean, row.tail), (100.0, None));
}

#[test]
fn a_summary_finds_its_rows_by_variant_level_and_phase() {
    let level = |value| Level { axis: "files".into(), value, ..Level::default() };
    let mut measurements = Vec::new();
    for (variant, value) in [("single", 1.0), ("many", 1.0), ("many", 2.0)] {
        let mut m = at_rate(1, 1, (value * 100.0) as u64);
        (m.cell.variant, m.cell.level) = (variant.into(), Some(level(value)));
        measurements.push(m);
    }
    measurements[1].invalid = vec![failing(Errno::EIO, 1)];
    measurements[2].cache.found = CacheState::Warm;
    let summary = whole_summary(&Book { measurements, ..Book::default() });
    assert_eq!(summary.variants(), ["many", "single"]);
    assert_eq!(summary.levels(), [&level(1.0), &level(2.0)]);
    let row = summary.row("many", Some(&level(2.0)), "create").unwrap();
    assert_eq!(row.rate.unwrap().mean, 200.0);
    assert_eq!(summary.row("single", Some(&level(2.0)), "create"), None);
    assert_eq!((summary.invalid(), summary.cache("create").as_str()), (1, "mixed"));
}

#[test]
fn odd_books_are_summarized_without_a_panic_and_without_nan() {
    for seed in 0..500 {
        let summary = whole_summary(&fixture::Odd::new(seed).book());
        for row in summary.groups.iter().flat_map(|g| &g.rows) {
            let rate =
                row.rate.map_or(0.0, |r| r.interval.map_or(r.mean, |interval| interval.high));
            assert!(rate.is_finite(), "seed {seed}: {row:?}");
        }
    }
}
