use crate::compare::{ComparedRow, Metric};
use crate::figures::RunFigures;
use crate::uncertainty::IntervalBasis;
use boatload_results::book::{Book, Window};
use boatload_results::fixture;
use boatload_results::fixture::at_limit;
use boatload_results::reference::find_reference;

/// The rows of the second run beside the first.
fn side_by_side(books: [&Book; 2]) -> Vec<ComparedRow> {
    let figures = books.map(RunFigures::of);
    crate::compare::compare(&figures[0], &figures[1]).rows
}

fn book_of(variants: &[&str], phase: &str, base_ns: u64) -> Book {
    let mut book = fixture::book();
    book.measurements.clear();
    for variant in variants {
        let mut m = fixture::measurement(phase, 1, 1_000, base_ns);
        m.cell.variant = (*variant).into();
        book.measurements.push(m);
    }
    book
}

#[test]
fn runs_of_one_variant_each_stand_beside_each_other_whatever_it_is_called() {
    let (a, b) = (book_of(&["default"], "create", 20_000), book_of(&["ext4"], "create", 10_000));
    let rows = side_by_side([&a, &b]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (rows[0].key.variant.as_deref(), rows[0].metric),
        (None, Metric::OperationsPerSecond)
    );
    let ratio = rows[0].effect.ratio.unwrap();
    assert!((ratio - 0.5).abs() < 1e-9, "half the time: {ratio}");
}

#[test]
fn a_run_without_named_variants_stands_beside_each_variant_of_another() {
    let named = book_of(&["multiple", "single"], "create", 20_000);
    let unnamed = book_of(&["default"], "create", 10_000);
    for books in [[&named, &unnamed], [&unnamed, &named]] {
        let rows = side_by_side(books);
        let variants: Vec<_> = rows.iter().map(|row| row.key.variant.as_deref()).collect();
        assert_eq!(variants, [Some("multiple"), Some("single")]);
        assert!(rows.iter().all(ComparedRow::is_in_both), "{rows:?}");
    }
}

#[test]
fn a_named_variant_stands_beside_its_own_name_only() {
    let a = book_of(&["ext4", "xfs"], "create", 20_000);
    let b = book_of(&["btrfs", "ext4"], "create", 20_000);
    let rows = side_by_side([&a, &b]);
    let found: Vec<_> =
        rows.iter().map(|r| (r.key.variant.as_deref().unwrap(), r.is_in_both())).collect();
    assert_eq!(found, [("ext4", true), ("xfs", false), ("btrfs", false)]);
}

#[test]
fn a_phase_of_only_one_run_has_a_row_without_a_ratio() {
    let rows = side_by_side([
        &book_of(&["default"], "create", 20_000),
        &book_of(&["default"], "delete", 20_000),
    ]);
    let phases: Vec<_> = rows.iter().map(|row| row.key.phase.as_deref().unwrap()).collect();
    assert_eq!(phases, ["create", "delete"]);
    assert!(rows.iter().all(|row| row.effect.ratio.is_none()), "{rows:?}");
}

#[test]
fn phases_that_move_much_in_each_operation_are_told_in_bytes() {
    let clutter = find_reference("clutter-xen").unwrap();
    let rows = side_by_side([&clutter, &clutter]);
    let rows: Vec<_> = rows.into_iter().filter(|row| row.key.phase.is_some()).collect();
    assert_eq!(rows.len(), 6, "write and read at three levels");
    assert!(rows.iter().all(|row| row.metric == Metric::BytesPerSecond));
    assert!(rows.iter().all(|row| row.effect.ratio == Some(1.0)), "{rows:?}");
    let write = rows[0].a.unwrap();
    // The mean over five passes of 2,076,180,480 bytes over each time that was published.
    let times = [3.32403, 3.67567, 3.27064, 3.08417, 3.47598];
    let logs = times.iter().map(|seconds: &f64| (2_076_180_480.0 / seconds).ln());
    let expected = (logs.sum::<f64>() / 5.0).exp();
    assert!((write.mean / expected - 1.0).abs() < 1e-12, "{write:?}");
    assert_eq!((write.n, write.basis), (5, IntervalBasis::Passes));
}

#[test]
fn a_phase_that_moves_little_at_one_level_is_told_in_operations_at_all() {
    let chunks = find_reference("chunks-ozone").unwrap();
    let rows = side_by_side([&chunks, &chunks]);
    let mut phases = rows.iter().filter(|row| row.key.phase.is_some());
    assert!(phases.all(|row| row.metric == Metric::OperationsPerSecond), "{rows:?}");
}

#[test]
fn a_single_operation_stands_beside_the_window_that_holds_its_number() {
    let ufs = find_reference("directory-ufs").unwrap();
    let mut own = book_of(&["single", "striped"], "create", 20_000);
    for m in &mut own.measurements {
        m.cell.level = ufs.measurements[0].cell.level.clone();
    }
    let window = |first, mean_ns| Window { first, operations: 1_000, mean_ns, ..Window::default() };
    own.measurements[0].windows = vec![window(0, 19_500.0), window(1_000, 11_000.0)];
    let rows = side_by_side([&ufs, &own]);
    assert_eq!(rows.len(), 63, "21 operations of three layouts");
    let of = |variant: &str, phase: &str| {
        let is = |row: &&ComparedRow| {
            row.key.variant.as_deref() == Some(variant) && row.key.phase.as_deref() == Some(phase)
        };
        rows.iter().find(is).unwrap().effect.ratio
    };
    assert_eq!(of("single", "create 1,000"), Some(0.5), "the 1,000th lies in the first window");
    assert_eq!(of("single", "create 2,000"), Some(11.0 / 33.0));
    assert_eq!(of("single", "create 51,000"), None, "so many were not made");
    assert_eq!(of("striped", "create 1,000"), None, "it has no windows");
}

#[test]
fn nothing_in_a_book_makes_it_fail() {
    for seed in 0..40 {
        let (a, b) = (fixture::Odd::new(seed).book(), fixture::Odd::new(seed + 1_000).book());
        for row in side_by_side([&a, &b]) {
            assert!(row.effect.ratio.is_none_or(f64::is_finite), "seed {seed}: {row:?}");
        }
    }
}

/// Which rows have a figure of the first run, and which of the second.
fn met(own: &Book, other: &Book) -> Vec<(String, [bool; 2])> {
    let rows = side_by_side([own, other]);
    let created = rows.into_iter().filter(|row| row.key.phase.as_deref() == Some("create"));
    let both = |row: ComparedRow| {
        (row.key.variant.unwrap_or_default(), [row.a.is_some(), row.b.is_some()])
    };
    created.map(both).collect()
}

#[test]
fn published_figures_of_a_file_system_stand_beside_the_variant_of_its_name_alone() {
    let own = book_of(&["ext4", "xfs", "reiserfs"], "create", 20_000);
    let row = |name: &str, sides| (name.to_string(), sides);
    let xfs = find_reference("smallfiles-linux3.1.7-xfs").unwrap();
    assert_eq!(
        met(&own, &xfs),
        [row("ext4", [true, false]), row("reiserfs", [true, false]), row("xfs", [true, true])]
    );
    let btrfs = find_reference("smallfiles-linux3.1.7-btrfs").unwrap();
    let others = met(&own, &btrfs);
    assert_eq!(others[3], row("btrfs", [false, true]), "it has no counterpart");
    assert!(others[..3].iter().all(|(_, sides)| *sides == [true, false]), "{others:?}");
    // Other names for file systems that were made are known by their type.
    let mut made = book_of(&["plain", "no-index"], "create", 20_000);
    made.variants = ["plain", "no-index"].map(String::from).to_vec();
    made.filesystems = vec![
        fixture::made::filesystem("plain", "xfs"),
        fixture::made::filesystem("no-index", "ext4"),
    ];
    assert_eq!(met(&made, &xfs), [row("plain", [true, true]), row("no-index", [true, false])]);
    // Variants that are no file systems stand beside it as before.
    let layouts = book_of(&["single", "multiple"], "create", 20_000);
    assert_eq!(met(&layouts, &xfs), [row("multiple", [true, true]), row("single", [true, true])]);
}

#[test]
fn a_run_of_which_a_repeat_reached_its_limit_has_no_value_beside_others() {
    let quick = book_of(&["default"], "create", 20_000);
    let mut slow = quick.clone();
    let mut long = slow.measurements[0].clone();
    long.cell.repeat = 2;
    long.invalid.push(at_limit());
    slow.measurements.push(long);
    let rows = side_by_side([&quick, &slow]);
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.a.is_some(), row.b), (true, None));
    assert_eq!(row.absence, Some(super::Absence::ReachedLimit));
    assert!(side_by_side([&quick, &quick])[0].b.is_some());
}
