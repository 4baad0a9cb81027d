use super::*;
use crate::analysis::Analysis;
use crate::base::errno::Errno;
use crate::results::fixture::failing;
use crate::results::fixture::{self, measurement};

fn book_of(measurements: Vec<Measurement>) -> Book {
    Book { measurements, ..Book::default() }
}

fn at_level(value: f64) -> Option<Level> {
    Some(Level { axis: "files".into(), value, ..Level::default() })
}

fn window(first: u64, operations: u64, ns: u64) -> Window {
    let (p50_ns, p99_ns, max_ns) = (ns, ns * 2, ns * 3);
    Window { first, operations, mean_ns: ns as f64 * 1.5, p50_ns, p99_ns, max_ns }
}

/// A repeat with so many windows of 10 operations.
fn windowed(repeat: u32, ns: impl Fn(u64) -> u64, windows: u64) -> Measurement {
    let windows = (0..windows).map(|n| window(n * 10, 10, ns(n))).collect();
    Measurement { windows, ..measurement("create", repeat, 10, 1_000) }
}

fn course(book: &Book) -> Option<PhaseCourse<'_>> {
    PhaseCourse::new(&Analysis::of(book), "default", "create")
}

#[test]
fn repeats_stand_at_their_median_and_invalid_ones_are_left_out() {
    let mut failed = windowed(4, |_| 1_000_000, 2);
    failed.invalid = vec![failing(Errno::EIO, 1)];
    let all = [windowed(1, |_| 100, 2), windowed(2, |_| 900, 2), windowed(3, |_| 300, 2)];
    let book = book_of(all.into_iter().chain([failed]).collect());
    let one = course(&book).unwrap();
    let point = |operations| LatencyPoint { operations, ns: 300.0, n: 30 };
    assert_eq!(one.p50(100), [point(5.0), point(15.0)]);
    let band = LatencyBand { operations: 5.0, low_ns: 300.0, high_ns: 600.0, n: 30 };
    assert_eq!(one.band(100)[0], band);
    assert_eq!((one.measurements, one.windows, one.counted), (3, 6, "files created"));
}

#[test]
fn windows_stand_at_their_times_where_their_latencies_add_up_to_the_time_of_the_phase() {
    let mut m = windowed(1, |n| 1_000_000 * (n + 1), 3);
    (m.operations, m.threads, m.seconds) = (30, Some(2), Some(0.045));
    let of = |m: &Measurement| {
        let moments = course(&book_of(vec![m.clone()])).unwrap().moments(100);
        moments.iter().map(|one| (one.seconds * 1e6).round() as u64).collect::<Vec<u64>>()
    };
    assert_eq!(of(&m), [3_750, 15_000, 33_750], "microseconds");
    m.seconds = Some(0.06);
    assert!(of(&m).is_empty(), "there was time between the operations");
    (m.seconds, m.operations) = (Some(0.045), 40);
    assert!(of(&m).is_empty(), "not all operations are in windows");
}

#[test]
fn many_windows_are_downsampled_and_the_slowest_and_fastest_stay() {
    let ns = |n| if n == 4_321 { 77_777 } else { 1_000 + n % 7 };
    let book = book_of(vec![windowed(1, ns, 50_000)]);
    let one = course(&book).unwrap();
    let (p50, mean, band) = (one.p50(1_000), one.mean(1_000), one.band(500));
    assert!(p50.len() <= 1_000 && band.len() <= 500);
    for points in [&p50, &mean] {
        assert!(points.windows(2).all(|pair| pair[0].operations < pair[1].operations));
    }
    assert!(p50.iter().any(|point| (point.operations, point.ns) == (43_215.0, 77_777.0)));
    assert!(band.iter().any(|part| part.high_ns == 77_777.0 * 2.0));
    assert_eq!(band.iter().map(|part| part.n).sum::<u64>(), 500_000);
}

#[test]
fn windows_of_which_only_the_mean_is_known_have_no_median() {
    let mut m = windowed(1, |_| 100, 3);
    m.windows.iter_mut().for_each(|window| (window.p50_ns, window.p99_ns) = (0, 0));
    m.windows[1].mean_ns = f64::NAN;
    let book = book_of(vec![m]);
    let one = course(&book).unwrap();
    assert_eq!((one.p50(100).len(), one.band(100).len(), one.mean(100).len()), (0, 0, 2));
    assert_eq!(course(&book_of(vec![measurement("create", 1, 10, 1_000)])), None);
}

#[test]
fn a_repeat_whose_percentiles_are_unknown_does_not_pull_those_of_others_down() {
    let unknown = |repeat| {
        let mut m = windowed(repeat, |_| 100, 1);
        (m.windows[0].p50_ns, m.windows[0].p99_ns, m.windows[0].mean_ns) = (0, 0, f64::NAN);
        m
    };
    for others in 1..=4 {
        let all = (0..others).map(|at| unknown(at + 2)).chain([windowed(1, |_| 400, 1)]);
        let book = book_of(all.collect());
        let one = course(&book).unwrap();
        let known = (one.p50(9)[0].ns, one.band(9)[0].high_ns, one.mean(9)[0].ns);
        assert_eq!(known, (400.0, 800.0, 600.0));
    }
}

#[test]
fn all_variants_are_at_the_same_level_and_one_without_windows_there_has_no_course() {
    let at = |variant: &str, value: f64| {
        let mut m = windowed(1, |_| 100, 2);
        (m.cell.variant, m.cell.level) = (variant.into(), at_level(value));
        m
    };
    let mut failed = at("xfs", 2.0);
    failed.invalid = vec![failing(Errno::EIO, 1)];
    let book = book_of(vec![at("ext4", 1.0), at("xfs", 1.0), at("ext4", 2.0), failed]);
    let ext4 = PhaseCourse::new(&Analysis::of(&book), "ext4", "create").unwrap();
    assert_eq!((ext4.level.map(|level| level.value), ext4.has_other_levels), (Some(2.0), true));
    assert_eq!(PhaseCourse::new(&Analysis::of(&book), "xfs", "create"), None);
}

#[test]
fn single_operations_stand_at_their_number_and_levels_at_the_last() {
    let mut m = windowed(1, |_| 100, 2);
    m.windows.iter_mut().for_each(|window| window.operations = 1);
    let mut last = m.clone();
    last.cell.level = at_level(2.0);
    let book = book_of(vec![m, last.clone()]);
    let one = course(&book).unwrap();
    assert!(one.has_single_operations() && one.has_other_levels);
    assert_eq!(one.level, last.cell.level.as_ref());
    let numbers: Vec<f64> = one.mean(9).iter().map(|point| point.operations).collect();
    assert_eq!(numbers, [1.0, 11.0]);
}

#[test]
fn a_stall_among_a_million_and_the_fastest_are_kept() {
    let value = |n: usize| match n {
        123_456 => 9e9,
        777_777 => 1.0,
        n => 1_000.0 + (n % 97) as f64,
    };
    let values: Vec<f64> = (0..1_000_000).map(value).collect();
    let kept = extremes(&values, 1_000);
    assert!(kept.len() <= 1_000 && kept.len() > 900, "{}", kept.len());
    assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
    for wanted in [0, 123_456, 777_777, 999_999] {
        assert!(kept.contains(&wanted), "{wanted}");
    }
    assert_eq!(extremes(&[3.0, 1.0, 2.0], 4), [0, 1, 2]);
    assert_eq!(extremes(&[], 4), [0; 0]);
    assert!(extremes(&[1.0; 9], 4).len() <= 4);
}

#[test]
fn parts_hold_every_place_once() {
    for (length, most) in [(0, 5), (3, 5), (10, 3), (1_000, 7)] {
        let all: Vec<usize> = parts(length, most).flatten().collect();
        assert_eq!(all, (0..length).collect::<Vec<_>>());
        assert!(parts(length, most).all(|part| !part.is_empty()));
    }
}

/// A variant's repeat whose windows of so many operations have these means.
fn with_means(
    variant: &str,
    repeat: u32,
    each: u64,
    means_ns: impl Iterator<Item = f64>,
) -> Measurement {
    let window = |(n, mean_ns)| Window {
        first: n as u64 * each,
        operations: each,
        mean_ns,
        ..Window::default()
    };
    let windows = means_ns.enumerate().map(window).collect();
    let mut m = Measurement { windows, ..measurement("create", repeat, 100, 1_000) };
    m.cell.variant = variant.into();
    m
}

#[test]
fn four_hundred_windows_make_ten_rows_that_hold_all_of_them() {
    let book = book_of(vec![with_means("one", 1, 1_000, (1..=400).map(f64::from))]);
    let all = course_tables(&Analysis::of(&book));
    let [one] = all.as_slice() else { panic!("{all:?}") };
    let ends: Vec<u64> = one.rows.iter().map(|row| row.operations).collect();
    assert_eq!(ends, (1..=10).map(|n| n * 40_000).collect::<Vec<_>>());
    assert_eq!(one.rows[1].mean_ns, [60.5]);
    let start_ups: Vec<bool> = one.rows.iter().map(|row| row.start_up).collect();
    assert_eq!(start_ups, (1..=10).map(|n| n == 1).collect::<Vec<_>>());
}

#[test]
fn the_first_tenth_is_the_start_up_of_all_variants() {
    let slow = (0..400).map(|n| if n < 40 { 300.0 } else { 100.0 });
    let even = with_means("even", 1, 1_000, (0..400).map(|_| 100.0));
    let book = book_of(vec![even, with_means("slow", 1, 1_000, slow)]);
    let rows = &course_tables(&Analysis::of(&book))[0].rows;
    assert_eq!((rows[0].start_up, rows[0].operations, rows.len()), (true, 40_000, 10));
    assert_eq!(rows[0].mean_ns, [100.0, 300.0]);
    assert_eq!(rows[1].mean_ns, [100.0, 100.0]);
    assert_eq!((rows[1].start_up, rows[9].operations), (false, 400_000));
}

#[test]
fn few_windows_all_get_a_row() {
    for number in 2..=10 {
        let book = book_of(vec![with_means("one", 1, 10, (1..=number).map(f64::from))]);
        let rows = &course_tables(&Analysis::of(&book))[0].rows;
        let means: Vec<_> = rows.iter().map(|row| row.mean_ns[0]).collect();
        assert_eq!(means, (1..=number).map(f64::from).collect::<Vec<_>>());
        // Of fewer than eight no growth is told, and so no start-up left out.
        assert_eq!(rows[0].start_up, number >= 8);
    }
}

#[test]
fn repeats_are_averaged_in_a_table_and_invalid_ones_left_out() {
    let mut failed = with_means("one", 3, 10, [9e9, 9e9].into_iter());
    failed.invalid = vec![failing(Errno::EIO, 1)];
    let repeats = [[100.0, 100.0], [200.0, 201.0]].into_iter().enumerate();
    let repeats =
        repeats.map(|(at, means)| with_means("one", at as u32 + 1, 10, means.into_iter()));
    let book = book_of(repeats.chain([failed]).collect());
    let means: Vec<_> =
        course_tables(&Analysis::of(&book))[0].rows.iter().map(|row| row.mean_ns[0]).collect();
    assert_eq!(means, [150.0, 150.5]);
}

#[test]
fn variants_stand_beside_each_other_only_where_their_parts_are_of_the_same_operations() {
    let of = |name: &str, each: u64| with_means(name, 1, each, (1..=4).map(f64::from));
    let book = book_of(vec![of("small", 10), of("large", 20), of("alike", 10)]);
    let found = course_tables(&Analysis::of(&book)).into_iter().map(|table| {
        (table.variants, table.rows.iter().map(|row| row.operations).collect::<Vec<_>>())
    });
    let expected =
        [(vec!["alike", "small"], vec![10, 20, 30, 40]), (vec!["large"], vec![20, 40, 60, 80])];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn with_an_axis_a_table_is_of_the_last_level() {
    let at = |value: f64| {
        let mut m = with_means("one", 1, 10, [value, value].into_iter());
        m.cell.level = at_level(value);
        m
    };
    let book = book_of(vec![at(1.0), at(2.0)]);
    let all = course_tables(&Analysis::of(&book));
    assert_eq!((all.len(), all[0].level), (1, at_level(2.0).as_ref()));
    assert_eq!(all[0].rows[0].mean_ns, [2.0]);
    let single = book_of(vec![with_means("one", 1, 10, [1.0].into_iter())]);
    assert_eq!(course_tables(&Analysis::of(&single)), [], "of one window there is no course");
}

fn in_slices(variant: &str, repeat: u32, slices_ns: Vec<f64>) -> Measurement {
    let mut m = Measurement { slices_ns, ..measurement("read", repeat, 100, 1_000) };
    m.cell.variant = variant.into();
    m
}

#[test]
fn slices_stand_by_variant_and_repeat_and_each_variant_keeps_as_many() {
    let mut measurements = Vec::new();
    for repeat in [3, 1, 2] {
        for variant in ["b", "a"] {
            measurements.push(in_slices(variant, repeat, vec![1.0, 2.0]));
        }
    }
    let book = book_of(measurements);
    let all = sliced(&Analysis::of(&book), "read", 40);
    let order: Vec<_> = all.measurements.iter().map(|m| (m.variant, m.repeat)).collect();
    assert_eq!(order, [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3)]);
    assert_eq!((all.left_out, all.measurements[0].pass), (0, None));
    let few = sliced(&Analysis::of(&book), "read", 2);
    assert_eq!((few.measurements.len(), few.left_out), (2, 4));
    assert_eq!(sliced_phases(&book), ["read"]);
}

#[test]
fn slices_are_those_of_the_last_level_and_unknown_ones_are_none() {
    let mut measurements = vec![in_slices("a", 1, vec![1.0, 2.0]), in_slices("a", 1, vec![5.0; 9])];
    measurements[0].cell.level = at_level(1.0);
    measurements[1].pass = 2;
    measurements.push(in_slices("a", 2, vec![1.0, f64::NAN]));
    measurements.push(in_slices("a", 2, vec![1.0]));
    measurements[1..].iter_mut().for_each(|m| m.cell.level = at_level(2.0));
    let mut book = book_of(measurements);
    let all = sliced(&Analysis::of(&book), "read", 40);
    assert_eq!((all.level, all.has_other_levels), (at_level(2.0).as_ref(), true));
    let [one] = all.measurements.as_slice() else { panic!("{all:?}") };
    assert_eq!((one.slices_ns.len(), one.pass), (9, Some(2)));
    book.measurements[1].invalid = vec![failing(Errno::EIO, 1)];
    let none = sliced(&Analysis::of(&book), "read", 40);
    assert_eq!((none.level, none.measurements), (at_level(2.0).as_ref(), vec![]));
}

fn values(measurements: Vec<Measurement>) -> (Vec<RateValue>, f64) {
    let book = book_of(measurements);
    let analysis = Analysis::of(&book);
    let summary = analysis.summary();
    let row = summary.rows().next().unwrap();
    let all: Vec<&Measurement> = book.measurements.iter().collect();
    (
        rate_values(&Analysis::of(&book), &all, None, row),
        row.rate.map_or(f64::NAN, |rate| rate.mean),
    )
}

#[test]
fn the_mean_of_the_values_is_the_rate_and_a_pass_is_no_repeat() {
    let mut all = Vec::new();
    for (repeat, pass, ns) in [(1, 1, 10_000), (1, 2, 30_000), (2, 1, 20_000)] {
        all.push(Measurement { pass, ..measurement("read", repeat, 1_000, ns) });
    }
    let (values, mean) = values(all);
    let numbers: Vec<(u32, u64)> = values.iter().map(|value| (value.number, value.n)).collect();
    assert_eq!(numbers, [(1, 2), (2, 1)]);
    let logs = values.iter().map(|value| value.rate.ln()).sum::<f64>();
    assert!((mean / (logs / 2.0).exp() - 1.0).abs() < 1e-12, "the geometric mean");
}

#[test]
fn passes_of_the_only_repeat_stand_for_themselves() {
    let pass = |pass| Measurement { pass, ..measurement("read", 1, 1_000, 10_000) };
    let (values, mean) = values(vec![pass(1), pass(2)]);
    assert_eq!(values.iter().map(|value| value.number).collect::<Vec<_>>(), [1, 2]);
    assert!((values[0].rate / mean - 1.0).abs() < 1e-12);
}

#[test]
fn a_single_measurement_and_an_invalid_one_give_none() {
    assert_eq!(values(vec![measurement("read", 1, 1_000, 10_000)]).0, []);
    let book = fixture::book();
    let analysis = Analysis::of(&book);
    let summary = analysis.summary();
    let rewrite = summary.rows().find(|row| row.phase == "rewrite").unwrap();
    let all: Vec<&Measurement> = book.measurements.iter().collect();
    assert_eq!(rate_values(&Analysis::of(&book), &all, None, rewrite), []);
}
