use super::*;
use crate::compare::ComparedRow;
use crate::compare::baseline::BaselineMark;
use boatload_base::errno::Errno;
use boatload_base::random::{Stream, draw};
use boatload_results::book::{Book, CellKey, Disturbance, Measurement};
use boatload_results::fixture::at_limit;
use boatload_results::fixture::failing;
use boatload_results::fixture::{self, growing::lasting};

const FAIL_ON: f64 = 0.05;

/// A run of two phases, three repeats, each of which takes so many seconds give or take a percent.
fn book_of(create: f64, delete: f64) -> Book {
    let mut book = fixture::book();
    book.measurements.clear();
    for (phase, seconds) in [("create", create), ("delete", delete)] {
        for (repeat, wave) in [(1, 0.99), (2, 1.0), (3, 1.01)] {
            let cell = CellKey { variant: "default".into(), level: None, repeat };
            let m = lasting(cell, phase, 1_000, seconds * wave);
            book.measurements.push(Measurement { histogram: Vec::new(), ..m });
        }
    }
    book
}

/// A run after others, whose creates take these seconds.
fn checked_on(fail_on: f64, create: f64, seconds: &[f64]) -> Check {
    let like = book_of(1.0, 1.0);
    let taking = |seconds: f64| {
        let mut book = like.clone();
        book.measurements[..3]
            .iter_mut()
            .for_each(|m| m.seconds = m.seconds.map(|all| all * seconds));
        book
    };
    let history: Vec<_> = seconds.iter().map(|seconds| taking(*seconds)).collect();
    check(&taking(create), &history.iter().collect::<Vec<_>>(), fail_on)
}

fn check(run: &Book, history: &[&Book], fail_on: f64) -> Check {
    let history: Vec<RunFigures<'_>> = history.iter().map(|book| RunFigures::of(book)).collect();
    Check::of_runs(&[&RunFigures::of(run)], BaselineRuns::History(&history), &[], fail_on)
}

fn check_among(run: &Book, baseline: &Book, others: &[&Book]) -> Check {
    let others: Vec<RunFigures<'_>> = others.iter().map(|book| RunFigures::of(book)).collect();
    let baseline = RunFigures::of(baseline);
    Check::of_runs(&[&RunFigures::of(run)], BaselineRuns::Run(&baseline), &others, FAIL_ON)
}

fn checked(create: f64, seconds: &[f64]) -> Check {
    checked_on(FAIL_ON, create, seconds)
}

fn row<'a>(check: &'a Check, phase: &str) -> &'a ComparedRow {
    let is = |row: &&ComparedRow| row.key.phase.as_deref() == Some(phase);
    check.comparison.rows.iter().find(is).unwrap()
}

#[test]
fn only_a_slowdown_beyond_the_threshold_in_the_whole_interval_is_a_regression() {
    for (seconds, expected) in [
        (0.5, CheckOutcome::Ok),
        (1.0, CheckOutcome::Unsure),
        (1.20, CheckOutcome::Unsure),
        (1.50, CheckOutcome::Regression),
    ] {
        let check = checked(seconds, &[1.0]);
        assert_eq!(row(&check, "create").outcome.unwrap(), expected, "{seconds}: {check:?}");
        let delete = row(&check, "delete").outcome.unwrap();
        assert_eq!(delete, CheckOutcome::Unsure, "equal runs may differ by more than the limit");
        assert_eq!(check.rows().count(), 3, "the whole job too");
    }
}

#[test]
fn what_runs_differ_by_counts_where_repeats_do_not_show_it() {
    let steady = checked(1.12, &[1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 1.01]);
    assert_eq!(row(&steady, "create").outcome.unwrap(), CheckOutcome::Regression);
    let unsteady = checked(1.12, &[1.0, 1.1, 0.9, 1.0, 1.1, 0.9, 1.0, 1.1]);
    assert_eq!(row(&unsteady, "create").outcome.unwrap(), CheckOutcome::Unsure, "{unsteady:?}");
}

const ACCEPTED: [f64; 11] = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 1.2, 1.21, 1.19, 1.2];

#[test]
fn a_change_that_three_runs_have_is_the_new_baseline() {
    let before = checked(1.2, &ACCEPTED[..9]);
    let create = row(&before, "create");
    assert_eq!(
        create.outcome.unwrap(),
        CheckOutcome::Regression,
        "two runs are no baseline: {create:?}"
    );
    let history = create.history.as_ref().unwrap();
    assert_eq!(history.points[7].mark, BaselineMark::Outlier);
    assert_eq!(history.runs, 7, "outliers do not count");
    let after = checked(1.2, &ACCEPTED);
    let create = row(&after, "create");
    let history = create.history.as_ref().unwrap();
    let found = (create.outcome.unwrap(), history.since, history.runs);
    assert_eq!(found, (CheckOutcome::Ok, 7, 4), "{create:?}");
    assert_eq!(
        [6, 7, 8].map(|at| history.points[at].mark),
        [BaselineMark::Earlier, BaselineMark::Step, BaselineMark::Baseline]
    );
    assert!((create.a.unwrap().mean - 1_000.0 / 1.2).abs() < 5.0, "{create:?}");
    assert_eq!(
        row(&after, "delete").history.as_ref().unwrap().since,
        0,
        "each has a history of its own"
    );
    let again = checked(1.4, &ACCEPTED);
    assert_eq!(row(&again, "create").outcome.unwrap(), CheckOutcome::Regression);
}

#[test]
fn what_is_invalid_or_was_not_reached_is_told_and_never_good() {
    let mut run = book_of(1.0, 1.0);
    run.measurements.iter_mut().skip(3).for_each(|m| m.invalid = vec![failing(Errno::EIO, 1)]);
    let baseline = book_of(1.0, 1.0);
    let found = check(&run, &[&baseline], FAIL_ON);
    let outcomes: Vec<_> = found.rows().map(|row| row.outcome.unwrap()).collect();
    assert_eq!(outcomes, [CheckOutcome::Unsure, CheckOutcome::Invalid], "{found:?}");
    run.measurements.truncate(3);
    let found = check(&run, &[&baseline], FAIL_ON);
    assert_eq!(found.rows().count(), 1, "a job without the phase: {found:?}");
    assert_eq!(found.with(CheckOutcome::NotInBoth).len(), 1);
    run.run.complete = false;
    let found = check(&run, &[&baseline], FAIL_ON);
    assert_eq!(row(&found, "delete").outcome.unwrap(), CheckOutcome::Missing);
}

#[test]
fn an_unknown_error_makes_nothing_a_regression() {
    let mut run = book_of(2.0, 1.0);
    run.measurements.retain(|m| m.cell.repeat == 1);
    run.measurements.iter_mut().for_each(|m| m.rate_error = None);
    let baseline = run_like(&run, 1.0);
    let found = check(&run, &[&baseline], FAIL_ON);
    let create = row(&found, "create");
    let interval = create.effect.interval;
    assert_eq!((create.outcome.unwrap(), interval), (CheckOutcome::Unsure, None));
    assert_eq!(
        row(&found, "delete").outcome.unwrap(),
        CheckOutcome::Unsure,
        "as fast, as far as is known"
    );
}

/// The same run with a create of other seconds.
fn run_like(run: &Book, seconds: f64) -> Book {
    let mut book = run.clone();
    book.measurements[0].seconds = Some(seconds);
    book
}

#[test]
fn a_history_whose_noise_is_known_raises_few_false_alarms() {
    let noise = |index: u64| {
        let uniform = |part| draw(7, Stream::Noise, index * 4 + part) as f64 / u64::MAX as f64;
        1.0 + 0.14 * ((0..4).map(uniform).sum::<f64>() / 4.0 - 0.5)
    };
    let mut alarms = 0;
    for seed in 0..60u64 {
        let seconds: Vec<f64> = (0..12).map(|at| noise(seed * 100 + at)).collect();
        let check = checked_on(1e-6, seconds[11], &seconds[..11]);
        alarms += usize::from(row(&check, "create").outcome.unwrap() == CheckOutcome::Regression);
    }
    assert!(alarms <= 2, "{alarms} of 60 though nothing may be slower at all");
}

#[test]
fn nothing_in_a_book_makes_it_fail() {
    for seed in 0..30 {
        let books: Vec<_> = (0..4).map(|n| fixture::Odd::new(seed + n * 1_000).book()).collect();
        let baseline: Vec<_> = books[1..].iter().collect();
        for row in check(&books[0], &baseline, FAIL_ON).rows() {
            assert_eq!(row.effect.ratio.is_none(), row.b.is_none(), "seed {seed}: {row:?}");
        }
    }
}

/// Further runs of the same whose creates take these seconds.
fn others_of(seconds: &[f64]) -> Vec<Book> {
    let one = |(at, seconds): (usize, &f64)| {
        let mut book = book_of(*seconds, 1.0);
        book.run.id = format!("other{at}");
        book
    };
    seconds.iter().enumerate().map(one).collect()
}

#[test]
fn a_single_baseline_knows_from_other_runs_how_far_two_lie_apart() {
    let (run, baseline) = (book_of(1.5, 1.0), book_of(1.0, 1.0));
    let among = |seconds: &[f64]| {
        let others = others_of(seconds);
        check_among(&run, &baseline, &others.iter().collect::<Vec<_>>())
    };
    assert_eq!(row(&among(&[]), "create").outcome.unwrap(), CheckOutcome::Regression);
    let wide = among(&[0.8, 1.1, 0.9, 1.2, 1.0, 1.1]);
    let create = row(&wide, "create");
    assert_eq!(create.outcome.unwrap(), CheckOutcome::Unsure);
    let width = |row: &ComparedRow| {
        let interval = row.effect.interval.unwrap();
        interval.high / interval.low
    };
    assert!(width(row(&wide, "delete")) < width(create), "which is the same in all: {wide:?}");
    assert_eq!((wide.rows().count(), wide.comparison.other_runs), (3, 6), "the others add no rows");
}

#[test]
fn a_regression_stays_one_beside_one_that_was_as_slow_before_it() {
    let (run, baseline) = (book_of(1.2, 1.0), book_of(1.0, 1.0));
    let others = others_of(&[1.0, 1.01, 0.99, 1.0, 1.02, 1.01, 1.2]);
    let others: Vec<&Book> = others.iter().collect();
    let checked = check_among(&run, &baseline, &others);
    assert_eq!(row(&checked, "create").outcome.unwrap(), CheckOutcome::Regression, "{checked:?}");
}

#[test]
fn other_runs_take_no_line_away() {
    let (run, baseline) = (book_of(1.0, 1.0), book_of(1.0, 1.0));
    let mut others = others_of(&[1.0; 6]);
    others[0].measurements.iter_mut().for_each(|m| m.pass = 2);
    others[1].measurements.iter_mut().for_each(|m| m.sync_seconds = Some(0.5));
    let others: Vec<&Book> = others.iter().collect();
    let [alone, among] = [&[][..], &others].map(|others| check_among(&run, &baseline, others));
    let lines = |check: &Check| {
        let lines = check.comparison.rows.iter().map(|row| row.key.phase.clone());
        lines.collect::<Vec<_>>()
    };
    assert_eq!(lines(&alone), lines(&among));
}

#[test]
fn runs_that_confirm_a_regression_count_with_it_and_one_that_was_only_once_is_none() {
    let baseline = book_of(1.0, 1.0);
    let checked = |seconds: &[f64]| {
        let books: Vec<Book> = seconds.iter().map(|seconds| book_of(*seconds, 1.0)).collect();
        let runs: Vec<RunFigures<'_>> = books.iter().map(RunFigures::of).collect();
        let runs: Vec<&RunFigures<'_>> = runs.iter().collect();
        let check =
            Check::of_runs(&runs, BaselineRuns::Run(&RunFigures::of(&baseline)), &[], FAIL_ON);
        (row(&check, "create").outcome.unwrap(), check.comparison.b_again.len())
    };
    assert_eq!(checked(&[1.5]), (CheckOutcome::Regression, 0));
    assert_eq!(checked(&[1.5, 1.0]), (CheckOutcome::Unsure, 1));
    assert_eq!(checked(&[1.5, 1.52, 1.5, 1.48]), (CheckOutcome::Regression, 3));
}

#[test]
fn runs_that_did_the_same_again_do_not_stand_in_for_what_the_run_lacks() {
    let (baseline, again) = (book_of(1.0, 1.0), book_of(1.0, 1.0));
    let outcome = |run: &Book| {
        let (run, again) = (RunFigures::of(run), RunFigures::of(&again));
        let baseline = RunFigures::of(&baseline);
        let check = Check::of_runs(&[&run, &again], BaselineRuns::Run(&baseline), &[], FAIL_ON);
        let delete = row(&check, "delete");
        assert_eq!((delete.b, delete.effect.ratio), (None, None), "{delete:?}");
        assert!(row(&check, "create").b.is_some(), "{check:?}");
        delete.outcome.unwrap()
    };
    let mut run = book_of(1.5, 1.0);
    run.measurements.iter_mut().skip(3).for_each(|m| m.invalid = vec![failing(Errno::EIO, 1)]);
    assert_eq!(outcome(&run), CheckOutcome::Invalid);
    run.measurements.truncate(3);
    run.run.complete = false;
    assert_eq!(outcome(&run), CheckOutcome::Missing);
}

/// The same run, in which a repeat of the deletion took as long as a phase may.
fn limited(mut book: Book) -> Book {
    let slow = book.measurements.last_mut().unwrap();
    assert_eq!(slow.phase, "delete");
    slow.invalid.push(at_limit());
    book
}

#[test]
fn a_phase_of_which_a_repeat_reached_its_limit_is_never_good() {
    let quick = book_of(1.0, 1.0);
    let slow = limited(quick.clone());
    let delete = |run: &Book, history: &[&Book]| {
        let check = check(run, history, FAIL_ON);
        let delete = check.rows().find(|row| row.key.phase.as_deref() == Some("delete"));
        delete.map(|row| (row.outcome.unwrap(), row.absence, row.a.is_some(), row.b.is_some()))
    };
    let by_limit = Some(Absence::ReachedLimit);
    let invalid = Some((CheckOutcome::Invalid, by_limit, true, false));
    assert_eq!(delete(&slow, &[&quick; 8]), invalid);
    assert_eq!(delete(&slow, &[&quick]), invalid);
    let of_both = Some((CheckOutcome::Invalid, by_limit, false, false));
    assert_eq!(delete(&slow, &[&slow]), of_both);
    let no_baseline = Some((CheckOutcome::NoBaseline, by_limit, false, true));
    assert_eq!(delete(&quick, &[&slow]), no_baseline);
    assert_eq!(delete(&quick, &[&slow; 8]), no_baseline);
    let one_is_quick = Some((CheckOutcome::Unsure, None, true, true));
    assert_eq!(delete(&quick, &[&quick, &slow]), one_is_quick, "it counts, the other does not");
}

#[test]
fn a_run_that_reached_its_limit_is_not_outvoted_by_others_that_did_the_same_again() {
    let (run, baseline) = (book_of(1.0, 1.5), book_of(1.0, 1.0));
    let outcomes = |again: &Book| {
        let (run, again) = (RunFigures::of(&run), RunFigures::of(again));
        let baseline = RunFigures::of(&baseline);
        let check = Check::of_runs(&[&run, &again], BaselineRuns::Run(&baseline), &[], FAIL_ON);
        check.rows().map(|row| row.outcome.unwrap()).collect::<Vec<_>>()
    };
    let unsure = CheckOutcome::Unsure;
    assert_eq!(outcomes(&book_of(1.0, 1.0)), [unsure; 3], "the whole job, create, delete");
    let of_limited = outcomes(&limited(book_of(1.0, 1.0)));
    assert_eq!(of_limited, [unsure, CheckOutcome::Invalid], "create, delete");
}

/// A run on a machine that is quiet or not, which takes so many times as long.
fn run_beside(is_loaded: bool, times: f64) -> Book {
    let mut book = book_of(times, times);
    for m in &mut book.measurements {
        let seen = fixture::quiet(m.seconds.unwrap());
        let others_user_seconds = seen.cpu_seconds.filter(|_| is_loaded).map(|all| all / 2.0);
        m.disturbance = Some(Disturbance { others_user_seconds, ..seen });
    }
    book
}

const LOADED: bool = true;
const QUIET: bool = false;

fn runs_beside<const N: usize>(is_loaded: bool, times: [f64; N]) -> Vec<Book> {
    times.map(|times| run_beside(is_loaded, times)).to_vec()
}

/// What a check says of the creation: its outcome, and whether baseline and run are marked as disturbed.
fn beside(run: &Book, history: &[Book]) -> (CheckOutcome, [bool; 2]) {
    let check = check(run, &history.iter().collect::<Vec<_>>(), FAIL_ON);
    let create = row(&check, "create");
    (create.outcome.unwrap(), create.disturbed)
}

const AS_ONE: [f64; 6] = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99];
const AS_TWO: [f64; 6] = [2.0, 2.02, 1.98, 2.0, 2.02, 1.98];

#[test]
fn load_of_runs_before_the_step_says_nothing_of_the_baseline() {
    let quiet_now = [runs_beside(LOADED, AS_TWO), runs_beside(QUIET, AS_ONE)].concat();
    let found = beside(&run_beside(LOADED, 2.0), &quiet_now);
    assert_eq!(found, (CheckOutcome::Unsure, [false, true]), "load explains it");
    let found = beside(&run_beside(QUIET, 2.0), &quiet_now);
    assert_eq!(found, (CheckOutcome::Regression, [false, false]));
    let loaded_now = [runs_beside(QUIET, AS_ONE), runs_beside(LOADED, AS_TWO)].concat();
    let found = beside(&run_beside(QUIET, 1.9), &loaded_now);
    assert_eq!(found, (CheckOutcome::Unsure, [true, false]), "load hides it");
    let found = beside(&run_beside(LOADED, 4.0), &loaded_now);
    assert_eq!(found, (CheckOutcome::Regression, [true, true]), "it knows load");
}

#[test]
fn load_of_a_run_that_is_an_outlier_marks_no_baseline() {
    let outlier = runs_beside(LOADED, [1.5]);
    let others = [runs_beside(QUIET, AS_ONE), runs_beside(QUIET, AS_ONE)].concat();
    let found = beside(&run_beside(QUIET, 1.0), &[outlier.clone(), others.clone()].concat());
    assert_eq!(found, (CheckOutcome::Ok, [false, false]));
    let member = runs_beside(LOADED, [1.0]);
    let found = beside(&run_beside(QUIET, 1.0), &[member, others].concat());
    assert_eq!(found, (CheckOutcome::Ok, [true, false]));
}

#[test]
fn a_phase_that_did_other_work_neither_passes_nor_fails() {
    let before = book_of(1.0, 1.0);
    let mut run = book_of(1.0, 9.0);
    run.run.job += "threads = 2\n";
    run.measurements[3..].iter_mut().for_each(|m| m.operations *= 3);
    let check = check_among(&run, &before, &[]);
    assert_eq!(row(&check, "delete").outcome, Some(CheckOutcome::OtherWork));
}
