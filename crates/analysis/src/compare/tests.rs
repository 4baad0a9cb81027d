use super::*;
use crate::effects::decide::Decision;
use crate::statistics::Interval;
use crate::tails::Quantile;
use boatload_base::errno::Errno;
use boatload_plan::Scale;
use boatload_results::book::{Book, CellKey, Disturbance, Measurement};
use boatload_results::fixture::failing;
use boatload_results::fixture::{self, growing::lasting};
use boatload_results::reference::find_reference;

fn compare(a: &Book, b: &Book) -> Comparison {
    super::compare(&RunFigures::of(a), &RunFigures::of(b))
}

fn compare_among(a: &Book, b: &Book, others: &[&Book]) -> Comparison {
    let others: Vec<RunFigures<'_>> = others.iter().map(|book| RunFigures::of(book)).collect();
    compare_beside(&RunFigures::of(a), &RunFigures::of(b), &others, &[])
}

/// Phases of some repeats: each a name and the seconds of each repeat.
fn book_of(phases: &[(&str, &[f64])]) -> Book {
    let mut book = fixture::book();
    book.measurements.clear();
    for (phase, seconds) in phases {
        for (at, seconds) in seconds.iter().enumerate() {
            let cell = CellKey { variant: "default".into(), level: None, repeat: at as u32 + 1 };
            book.measurements.push(lasting(cell, phase, 1_000, *seconds));
        }
    }
    book
}

fn decisions(comparison: &Comparison) -> Vec<(&'static str, Decision)> {
    let what = |row: &ComparedRow| if row.key.phase.is_none() { "job" } else { "phase" };
    comparison.rows.iter().map(|row| (what(row), row.effect.decision)).collect()
}

const STEADY: &[f64] = &[1.00, 1.01, 0.99];
const SLOWER: &[f64] = &[1.50, 1.51, 1.49];

#[test]
fn a_run_that_takes_longer_is_slower_and_the_ratio_is_how_many_times_as_long() {
    let comparison = compare(&book_of(&[("create", STEADY)]), &book_of(&[("create", SLOWER)]));
    let [row] = comparison.rows.as_slice() else { panic!("{comparison:?}") };
    assert_eq!(row.effect.decision, Decision::Longer);
    assert!((row.effect.ratio.unwrap() - 1.5).abs() < 0.001, "{row:?}");
    let Interval { low, high } = row.effect.interval.unwrap();
    assert!(
        1.0 < low && low < row.effect.ratio.unwrap() && row.effect.ratio.unwrap() < high,
        "{row:?}"
    );
}

#[test]
fn the_whole_job_comes_first_if_both_did_the_same() {
    let a = book_of(&[("create", STEADY), ("delete", STEADY)]);
    let mut b = book_of(&[("create", SLOWER), ("delete", SLOWER)]);
    assert_eq!(
        decisions(&compare(&a, &b)),
        [("job", Decision::Longer), ("phase", Decision::Longer), ("phase", Decision::Longer)]
    );
    let whole = &compare(&a, &b).rows[0];
    assert!((whole.b.unwrap().mean - 3.0).abs() < 1e-3, "seconds of both phases: {whole:?}");
    b.run.parameters.clear();
    b.measurements.iter_mut().for_each(|m| m.operations *= 2);
    let comparison = compare(&a, &b);
    assert_eq!(decisions(&comparison).first().unwrap().0, "phase", "it did twice as much");
    let [of_a, of_b] = comparison.rows[0].work.unwrap();
    assert_eq!((of_a.operations, of_b.operations), (1_000.0, 2_000.0));
}

#[test]
fn the_time_of_syncs_is_in_the_rate_where_any_run_has_one() {
    let a = book_of(&[("create", STEADY)]);
    let mut b = a.clone();
    b.measurements.iter_mut().for_each(|m| m.sync_seconds = Some(0.5));
    let comparison = compare(&a, &b);
    let row = &comparison.rows[0];
    assert!(row.effect.decision == Decision::Longer, "{row:?}");
    assert!((row.a.unwrap().mean / row.b.unwrap().mean - 1.5).abs() < 0.001, "{row:?}");
}

#[test]
fn a_single_repeat_claims_no_difference() {
    let a = book_of(&[("create", &[1.0])]);
    let row = &compare(&a, &book_of(&[("create", SLOWER)])).rows[0];
    assert_eq!((row.effect.decision, row.effect.interval), (Decision::Open, None));
    assert!(row.effect.ratio.is_some());
}

#[test]
fn equal_runs_are_within_ten_percent_once_others_show_that_such_runs_do_not_differ() {
    let [a, b] = [0, 1].map(|at| run_of(at, 1.0));
    let alone = &compare(&a, &b).rows[0].effect;
    assert_eq!(alone.decision, Decision::Open);
    assert!(alone.interval.is_some_and(|one| one.low < 0.9 && one.high > 1.1), "{alone:?}");
    let near = runs_of(&NEAR);
    let among = &compare_among(&a, &b, &near.iter().collect::<Vec<_>>()).rows[0].effect;
    assert_eq!((among.decision, among.in_headline), (Decision::Within, true));
    let Interval { low, high } = among.interval.unwrap();
    assert!(low > 1.0 / 1.1 && high < 1.1, "{among:?}");
    assert!(low < 0.991 && high > 1.009, "never closer than one percent: {among:?}");
}

#[test]
fn an_interval_whose_ends_are_far_apart_is_not_stated_and_decides_nothing() {
    let wild = book_of(&[("create", &[1.0, 900.0])]);
    let effect = &compare(&book_of(&[("create", STEADY)]), &wild).rows[0].effect;
    assert_eq!((effect.decision, effect.interval), (Decision::Open, None));
    assert!(effect.ratio.is_some_and(|ratio| ratio > 10.0), "{effect:?}");
}

#[test]
fn what_is_invalid_in_one_run_is_compared_with_nothing() {
    let a = book_of(&[("create", STEADY), ("delete", STEADY)]);
    let mut b = a.clone();
    for m in b.measurements.iter_mut().filter(|m| m.phase == "delete") {
        m.invalid = vec![failing(Errno::EIO, 1)];
        m.seconds = Some(1e-3);
    }
    let comparison = compare(&a, &b);
    assert_eq!(comparison.in_both().count(), 1, "create alone, no whole job: {comparison:?}");
    let alone = comparison.rows.iter().find(|row| !row.is_in_both()).unwrap();
    assert!(alone.a.is_some() && alone.absence == Some(Absence::Invalid), "{alone:?}");
    // One repeat that failed leaves the others.
    let mut b = a.clone();
    b.measurements[0].invalid = vec![failing(Errno::EIO, 1)];
    b.measurements[0].seconds = Some(1e-3);
    let rows = compare(&a, &b).rows;
    assert!(rows.iter().all(|row| row.effect.decision == Decision::Open), "{rows:?}");
}

#[test]
fn mixes_that_were_asked_for_different_rates_are_not_compared() {
    let paced = |rate: f64| {
        let mut book = book_of(&[("create", STEADY), ("serve", STEADY)]);
        let serve = book.measurements.iter_mut().filter(|m| m.phase == "serve");
        serve.for_each(|m| m.turns_per_second_asked = Some(rate));
        book
    };
    let row = |b: f64| {
        let rows = compare(&paced(1_000.0), &paced(b)).rows;
        rows.into_iter().find(|row| row.key.phase.as_deref() == Some("serve")).unwrap()
    };
    assert_eq!(row(500.0).absence, Some(Absence::OtherPace));
    assert_eq!(row(1_000.0).metric, Metric::Nanoseconds, "response times, and no rate");
    assert!(row(1_000.0).is_in_both() && !row(500.0).is_in_both());
}

#[test]
fn published_figures_without_an_interval_cannot_be_told_apart_from_a_run() {
    let published = find_reference("smallfiles-suse12-btrfs").unwrap();
    let own = book_of(&[("create", STEADY), ("delete", STEADY)]);
    let comparison = compare(&published, &own);
    let all: Vec<_> = comparison.in_both().collect();
    assert!(!all.is_empty(), "{comparison:?}");
    let cannot_tell = |row: &&ComparedRow| row.effect.interval.is_none();
    assert!(all.iter().all(cannot_tell), "{comparison:?}");
    assert_eq!(comparison.with(Decision::Open), all);
    assert!(all.iter().all(|row| row.work.is_some()), "other numbers of files");
}

#[test]
fn nothing_in_a_book_makes_it_fail() {
    for seed in 0..40 {
        let (a, b) = (fixture::Odd::new(seed).book(), fixture::Odd::new(seed + 1_000).book());
        for row in compare(&a, &b).in_both() {
            assert!(row.effect.ratio.unwrap() > 0.0, "seed {seed}: {row:?}");
            assert!(
                row.effect.interval.is_none_or(|one| one.low <= one.high),
                "seed {seed}: {row:?}"
            );
        }
    }
}

#[test]
fn latencies_that_are_longer_are_slower_and_those_that_only_waver_are_not_told_apart() {
    let of = |p50s: [u64; 3]| {
        let mut book = book_of(&[("create", STEADY)]);
        for (m, p50) in book.measurements.iter_mut().zip(p50s) {
            *m = fixture::measurement("create", m.cell.repeat, 2_000, p50);
        }
        book
    };
    let pair = |a, b| compare(&of(a), &of(b)).rows[0].latency_ratios[0].clone();
    let slower = pair([1_000, 1_010, 990], [1_500, 1_510, 1_490]);
    assert_eq!((slower.quantile, slower.effect.decision), (Quantile::P50, Decision::Longer));
    let Interval { low, high } = slower.effect.interval.unwrap();
    let ratio = slower.effect.ratio.unwrap();
    assert!(low > 1.1 && low < ratio && ratio < high && (ratio - 1.5).abs() < 0.01, "{slower:?}");
    assert_eq!(pair([1_500, 1_510, 1_490], [1_000, 1_010, 990]).effect.decision, Decision::Shorter);
    assert_eq!(pair([900, 1_000, 1_300], [1_250, 1_000, 1_000]).effect.decision, Decision::Open);
}

#[test]
fn a_latency_that_one_run_does_not_know_cannot_be_told() {
    let mut b = book_of(&[("create", STEADY)]);
    b.measurements.iter_mut().for_each(|m| m.operations = 5);
    let a = book_of(&[("create", STEADY)]);
    for row in &compare(&a, &b).rows {
        for pair in &row.latency_ratios {
            assert_eq!(
                (pair.effect.ratio, pair.effect.decision),
                (None, Decision::Open),
                "{pair:?}"
            );
        }
    }
}

/// A run of one phase, with an id of its own, that took this much longer than others.
fn run_of(at: usize, times: f64) -> Book {
    let seconds: Vec<f64> = STEADY.iter().map(|seconds| seconds * times).collect();
    let mut book = book_of(&[("create", &seconds)]);
    book.run.id = format!("run{at}");
    book
}

/// Further runs of the same that took so many times as long.
fn runs_of(times: &[f64]) -> Vec<Book> {
    times.iter().zip(2..).map(|(times, at)| run_of(at, *times)).collect()
}

const WIDE: [f64; 6] = [0.8, 1.1, 0.9, 1.2, 1.0, 1.1];
const NEAR: [f64; 6] = [1.0, 1.01, 0.99, 1.0, 1.02, 1.01];

#[test]
fn runs_that_lie_no_further_apart_than_others_of_the_same_are_not_told_apart() {
    let (a, b) = (run_of(0, 1.0), run_of(1, 1.2));
    let wide = runs_of(&WIDE);
    let wide: Vec<&Book> = wide.iter().collect();
    let among = |n: usize| compare_among(&a, &b, &wide[..n]);
    assert_eq!(among(0), compare(&a, &b));
    let width = |comparison: &Comparison| {
        let Interval { low, high } = comparison.rows[0].effect.interval.unwrap();
        high / low
    };
    let comparison = among(6);
    let row = &comparison.rows[0];
    assert_eq!((row.effect.decision, comparison.other_runs), (Decision::Open, 6));
    let Interval { low, high } = row.effect.interval.unwrap();
    assert!(low < 1.0 && high > 1.4, "{row:?}");
    assert!(width(&among(0)) < width(&among(2)) && width(&among(0)) < width(&among(6)));
}

#[test]
fn a_difference_beyond_what_runs_lie_apart_is_told() {
    let (a, b) = (run_of(0, 1.0), run_of(1, 1.2));
    let near = runs_of(&NEAR);
    let near: Vec<&Book> = near.iter().collect();
    assert_eq!(compare_among(&a, &b, &near).rows[0].effect.decision, Decision::Longer);
    let single = |mut book: Book| {
        book.measurements.truncate(1);
        book.measurements[0].rate_error = None;
        book
    };
    let row = &compare_among(&single(a), &single(b), &near).rows[0];
    let found = (row.effect.decision, row.effect.interval);
    assert_eq!(found, (Decision::Open, None), "a single repeat may be far off: {row:?}");
}

#[test]
fn other_runs_count_only_if_they_did_what_one_of_the_two_did() {
    let (a, b) = (run_of(0, 1.0), run_of(1, 1.2));
    let mut others = runs_of(&WIDE);
    others[0].run.complete = false;
    others[1].run.scale = Scale::Standard;
    others[2].host.filesystem.kind = "xfs".into();
    others.extend([run_of(0, 1.0), run_of(1, 1.2)]);
    let others: Vec<&Book> = others.iter().collect();
    assert_eq!(compare_among(&a, &b, &others).other_runs, 3, "nor do the two themselves");
    let mut on_xfs = b.clone();
    on_xfs.host.filesystem.kind = "xfs".into();
    assert_eq!(compare_among(&a, &on_xfs, &others).other_runs, 4, "one of what B did as well");
}

/// The same run beside background load in so many of its repeats, which then take so many times as long.
fn disturbed(mut book: Book, repeats: usize, times: f64) -> Book {
    let is_disturbed = |m: &&mut Measurement| m.cell.repeat <= repeats as u32;
    book.measurements.iter_mut().filter(is_disturbed).for_each(|m| disturb(m, times));
    book
}

fn disturb(m: &mut Measurement, times: f64) {
    m.seconds = m.seconds.map(|all| all * times);
    let seen = fixture::quiet(m.seconds.unwrap());
    let others_user_seconds = seen.cpu_seconds.map(|all| all / 2.0);
    m.disturbance = Some(Disturbance { others_user_seconds, ..seen });
}

#[test]
fn repeats_beside_background_load_do_not_count_where_three_others_are_without_it() {
    let run = book_of(&[("create", &[1.0, 1.01, 0.99, 1.0, 1.01])]);
    let row = &compare(&run, &disturbed(run.clone(), 2, 3.0)).rows[0];
    assert_eq!((row.left_out, row.disturbed), ([0, 2], [false, false]));
    assert!((row.effect.ratio.unwrap() - 1.0).abs() < 0.02, "{row:?}");
    let row = &compare(&run, &disturbed(run.clone(), 3, 3.0)).rows[0];
    assert_eq!((row.left_out, row.disturbed), ([0, 0], [false, true]), "two are too few");
    assert!(row.effect.ratio.unwrap() > 1.7, "{row:?}");
}

#[test]
fn what_a_quiet_machine_proves_is_not_proven_beside_background_load() {
    let (a, b) = (run_of(0, 1.0), run_of(1, 1.6));
    assert_eq!(compare(&a, &b).rows[0].effect.decision, Decision::Longer);
    let row = &compare(&disturbed(a, 3, 1.0), &disturbed(b, 3, 1.0)).rows[0];
    assert_eq!(row.effect.decision, Decision::Open);
    assert!(row.effect.interval.is_some_and(|one| one.low < 1.0), "{row:?}");
}

/// Three phases of five repeats, and the same beside load in these repeats of each, which take nine times as long.
fn beside_load(repeats: [[u32; 2]; 3]) -> [Book; 2] {
    let seconds: &[f64] = &[1.0, 1.01, 0.99, 1.0, 1.01];
    let phases = ["create", "stat", "delete"];
    let quiet = book_of(&phases.map(|phase| (phase, seconds)));
    let mut loaded = quiet.clone();
    loaded.run.id = "loaded00".into();
    for (phase, repeats) in phases.iter().zip(repeats) {
        let of_phase = loaded.measurements.iter_mut().filter(|m| m.phase == *phase);
        of_phase.filter(|m| repeats.contains(&m.cell.repeat)).for_each(|m| disturb(m, 9.0));
    }
    [quiet, loaded]
}

fn check(run: &Book, baseline: &[&Book]) -> Vec<CheckOutcome> {
    let baseline: Vec<RunFigures<'_>> = baseline.iter().map(|book| RunFigures::of(book)).collect();
    let baseline = match baseline.as_slice() {
        [one] => BaselineRuns::Run(one),
        many => BaselineRuns::History(many),
    };
    let check = Check::of_runs(&[&RunFigures::of(run)], baseline, &[], 0.05);
    check.comparison.rows.iter().map(|row| row.outcome.unwrap()).collect()
}

#[test]
fn load_of_one_side_alone_proves_neither_that_it_is_slower_nor_that_the_other_is_not() {
    let [quiet, loaded] = beside_load([[1, 2], [3, 4], [5, 5]]);
    let comparison = compare(&quiet, &loaded);
    let job = &comparison.rows[0];
    assert!(job.effect.interval.is_some_and(|interval| interval.low > 1.1), "{job:?}");
    let open = Decision::Open;
    let expected = [("job", open), ("phase", open), ("phase", open), ("phase", open)];
    assert_eq!(decisions(&comparison), expected);
    assert_eq!(decisions(&compare(&loaded, &quiet))[0], ("job", open));
    assert_eq!(check(&loaded, &[&quiet])[0], CheckOutcome::Unsure);
    assert_eq!(check(&quiet, &[&loaded])[0], CheckOutcome::Unsure);
}

#[test]
fn a_run_beside_load_is_a_regression_only_to_a_history_that_knows_load() {
    let slow = disturbed(run_of(9, 1.0), 3, 3.0);
    let quiet: Vec<Book> = (0..8).map(|at| run_of(at, NEAR[at % 6])).collect();
    let loaded: Vec<Book> = quiet.iter().map(|book| disturbed(book.clone(), 3, 1.0)).collect();
    let outcome = |history: &[Book]| check(&slow, &history.iter().collect::<Vec<_>>())[0];
    assert_eq!(outcome(&quiet), CheckOutcome::Unsure);
    assert_eq!(outcome(&loaded), CheckOutcome::Regression);
}

#[test]
fn measurements_are_left_out_of_whole_jobs_where_any_phase_of_their_repeat_was_disturbed() {
    let [quiet, loaded] = beside_load([[1, 1], [2, 2], [2, 2]]);
    let comparison = compare(&quiet, &loaded);
    let left_out = comparison.rows.iter().map(|row| row.left_out).collect::<Vec<_>>();
    assert_eq!(left_out, [[0, 6], [0, 1], [0, 1], [0, 1]], "the whole job, then the phases");
}

#[test]
fn latencies_are_those_of_the_repeats_that_are_compared() {
    let of = |repeat: u32, ns: u64| {
        let m = fixture::measurement("create", repeat, 2_000, ns);
        Measurement { seconds: Some(1.0), ..m }
    };
    let quiet: Vec<Measurement> = (1..=5).map(|repeat| of(repeat, 1_000)).collect();
    let mut loaded = quiet.clone();
    for m in loaded.iter_mut().take(2) {
        *m = of(m.cell.repeat, 3_000);
        disturb(m, 1.0);
    }
    let [a, b] = [quiet, loaded].map(|measurements| Book { measurements, ..book_of(&[]) });
    let row = &compare(&a, &b).rows[0];
    let quantiles = row.latency_ratios.iter().map(|pair| pair.quantile).collect::<Vec<_>>();
    assert_eq!(quantiles, Quantile::ALL, "{row:?}");
    for pair in &row.latency_ratios {
        let [of_a, of_b] = pair.ns.map(Option::unwrap);
        assert!((of_b / of_a - pair.effect.ratio.unwrap()).abs() < 1e-6, "{pair:?}");
        assert!((of_b / of_a - 1.0).abs() < 0.01, "{pair:?}");
    }
}

#[test]
fn content_against_none_is_other_work_unless_nobody_published_it() {
    let a = book_of(&[("create", STEADY)]);
    let mut b = a.clone();
    b.run.parameters.clear();
    b.measurements.iter_mut().for_each(|m| m.bytes = Some(0));
    let [of_a, of_b] = compare(&a, &b).rows[0].work.unwrap();
    assert!(of_a.bytes_each > 0.0 && of_b.bytes_each == 0.0, "{of_a:?} {of_b:?}");
    b.run.reference = find_reference("smallfiles-suse12-btrfs").unwrap().run.reference;
    assert_eq!(compare(&a, &b).rows[0].work, None);
}

#[test]
fn more_ranks_do_more_work() {
    let a = book_of(&[("create", STEADY)]);
    let mut b = a.clone();
    b.run.hosts = vec!["node0".into(), "node1".into()];
    b.measurements.iter_mut().for_each(|m| m.operations *= 2);
    let found = compare(&a, &b);
    assert!(found.rows[0].work.is_some());
    let ranks = found.differences.iter().find(|one| one.name == "ranks").unwrap();
    assert_eq!(ranks.values, ["1", "2"].map(|ranks| Some(ranks.to_string())));
}

#[test]
fn what_is_invalid_in_both_runs_is_invalid_in_a_check() {
    let mut a = book_of(&[("create", STEADY), ("delete", STEADY)]);
    a.measurements[3..].iter_mut().for_each(|m| m.invalid = vec![failing(Errno::EIO, 1)]);
    let mut b = a.clone();
    b.run.id = "another0".into();
    assert_eq!(check(&b, &[&a])[1], CheckOutcome::Invalid);
    assert_eq!(check(&b, &[&a, &a])[1], CheckOutcome::Invalid, "of a history as well");
    b.measurements[3..].iter_mut().for_each(|m| m.invalid.clear());
    assert_eq!(check(&b, &[&a])[1], CheckOutcome::NotInBoth, "it is good again");
}
