//! Whether statistics hold what they promise, on samples whose truth is known. The figures of each
//! method are checked in `src/analysis/statistics/tests.rs`; `cargo bench --bench coverage` prints
//! how often each method holds the truth.

#![allow(clippy::unwrap_used, reason = "a test says so when it cannot go on")]

#[path = "statistics/answered.rs"]
mod answered;
#[path = "statistics/noise.rs"]
mod noise;
#[path = "statistics/pilot.rs"]
mod pilot;

use std::ops::RangeInclusive;

use boatload::analysis::change::change_points;
use boatload::analysis::statistics::{mean_interval, modes, slices, trend};
use boatload::analysis::thresholds::CHANGE_POINT_ALPHA;

use answered::AnsweredTruth;
use boatload::plan::Conclusion;
use pilot::{Outcome, Truth};

use noise::{Noise, Source, WINDOWS, coverage, share};

/// Numbers of repeats and how many samples of each: those of a bootstrap are dear without
/// optimisation. One standard deviation of the share is 0.5% for 2,000 and 1.4% for 250.
const REPEATS: [(usize, u64); 4] = [(3, 2_000), (5, 1_000), (10, 500), (30, 250)];

/// What 95% may be in truth.
const HELD: RangeInclusive<f64> = 0.92..=0.98;

const SINGLE: [Noise; 5] =
    [Noise::Normal, Noise::Lognormal, Noise::Gamma, Noise::Dependent, Noise::Drifting];

#[test]
fn the_interval_of_a_mean_holds_it_in_92_to_98_of_100_cases() {
    for noise in SINGLE {
        for (n, draws) in REPEATS {
            let held = coverage(draws, noise.mean(), |source| {
                mean_interval(&noise.sample(n, source), 0.95)
            });
            assert!(HELD.contains(&held), "{noise:?}, {n} repeats: {held}");
        }
    }
}

/// Most samples of a few values have none of the rarer mode, and no method can tell.
#[test]
fn of_two_modes_few_repeats_say_less_than_they_seem_to() {
    for ((n, draws), least) in REPEATS.into_iter().zip([0.50, 0.57, 0.78, 0.92]) {
        let truth = Noise::Bimodal.mean();
        let held =
            coverage(draws, truth, |source| mean_interval(&Noise::Bimodal.sample(n, source), 0.95));
        assert!((least..=0.99).contains(&held), "{n} repeats: {held}");
    }
}

#[test]
fn white_noise_seldom_changes_drifts_or_splits() {
    for n in [20, 100, 300] {
        let found =
            share(500, |source| !change_points(&source.white(n), CHANGE_POINT_ALPHA).is_empty());
        assert!(found < 0.05, "changes among {n}: {found}");
    }
    let found = share(500, |source| trend(&source.white(60)).unwrap().p_value < 0.05);
    assert!((0.01..0.09).contains(&found), "trends: {found}");
    let found = share(60, |source| modes(&source.white(60), 1).unwrap().two());
    assert!(found < 0.05, "modes: {found}");
}

#[test]
fn a_planted_step_is_found_where_it_is() {
    let near = |source: &mut Source, at: usize, rise: f64| {
        let mut values = source.white(100);
        values[at..].iter_mut().for_each(|value| *value += rise);
        let points = change_points(&values, CHANGE_POINT_ALPHA);
        let [point] = points[..] else { return false };
        let relative = point.after / point.before - 1.0;
        point.index.abs_diff(at) <= 2 && (relative - rise / 100.0).abs() < 0.06
    };
    // Two, three and four times the noise.
    for (at, rise, least) in [(50, 10.0, 0.75), (70, -15.0, 0.9), (95, 20.0, 0.9)] {
        let found = share(100, |source| near(source, at, rise));
        assert!(found >= least, "{rise} at {at}: {found}");
    }
}

#[test]
fn a_short_rise_within_a_long_series_is_found() {
    let found = share(50, |source| {
        let mut values = source.white(300);
        values[150..162].iter_mut().for_each(|value| *value += 15.0);
        let points = change_points(&values, CHANGE_POINT_ALPHA);
        let near = |at: usize| points.iter().any(|point| point.index.abs_diff(at) <= 2);
        near(150) && near(162)
    });
    assert!(found >= 0.9, "{found}");
}

#[test]
fn windows_that_depend_on_each_other_change_less_often_as_means_of_slices() {
    let changing = |size: usize| {
        share(200, |source| {
            !change_points(&slices(&source.windows(WINDOWS), size), CHANGE_POINT_ALPHA).is_empty()
        })
    };
    let (windows, slices) = (changing(1), changing(10));
    assert!(windows > 0.2, "the warning in the documentation would be idle: {windows}");
    assert!(slices < 0.05, "{slices}");
}

#[test]
fn a_trend_is_told_from_windows_that_depend_on_each_other() {
    let p = |noise: Noise, source: &mut Source| trend(&noise.series(source)).unwrap().p_value;
    let drifting = share(20, |source| p(Noise::Drifting, source) < 0.05);
    assert!(drifting > 0.6, "{drifting}");
    let dependent = share(60, |source| p(Noise::Dependent, source) < 0.05);
    assert!(dependent < 0.15, "{dependent}");
}

#[test]
fn a_run_that_is_asked_for_a_precision_reaches_it_and_its_interval_holds_nine_times_in_ten() {
    for (repeats, passes, variants) in [(0.05, 0.0, 1), (0.01, 0.05, 1), (0.04, 0.02, 3)] {
        let truth = Truth { repeats, passes, variants, repeat_seconds: 8.0, pass_seconds: 2.0 };
        let run = |seed| truth.run(0.03, f64::INFINITY, &mut Source::new(seed));
        let all: Vec<Outcome> = (0..150).map(run).collect();
        let count = |of: fn(&&Outcome) -> bool| all.iter().filter(of).count();
        assert_eq!(count(|run| run.reached), all.len(), "with no limit all reach it");
        let held = count(|run| run.held);
        assert!(held >= 130, "{held} of 150 intervals hold the truth");
    }
}

#[test]
fn a_run_with_little_time_never_takes_more_and_never_claims_more() {
    let truth =
        Truth { repeats: 0.05, passes: 0.0, variants: 1, repeat_seconds: 8.0, pass_seconds: 2.0 };
    let all: Vec<Outcome> =
        (0..100).map(|seed| truth.run(0.03, 60.0, &mut Source::new(seed))).collect();
    assert!(all.iter().all(|run| run.seconds <= 60.0), "some take longer than a minute");
    assert!(all.iter().any(|run| !run.reached) && all.iter().any(|run| run.reached));
}

#[test]
fn figures_of_an_answer_that_was_repeated_until_they_are_precise_hold_the_truth() {
    let ranking = AnsweredTruth {
        kind: Conclusion::Ranking,
        variants: 2,
        times: 1.2,
        levels: 0,
        repeats: 0.05,
        passes: 0.0,
    };
    for (truth, draws, least) in [
        (ranking, 150, 132),
        (AnsweredTruth { variants: 4, times: 1.05, passes: 0.05, ..ranking }, 40, 34),
        (AnsweredTruth { kind: Conclusion::Crossover, levels: 3, ..ranking }, 40, 34),
        (AnsweredTruth { kind: Conclusion::Slope, levels: 4, variants: 1, ..ranking }, 40, 34),
    ] {
        let run = |seed| truth.run(0.05, &mut Source::new(seed));
        let all: Vec<_> = (0..draws).map(run).collect();
        assert!(all.iter().all(|run| run.reached), "{:?}: with no limit all reach it", truth.kind);
        let held = all.iter().filter(|run| run.held).count();
        assert!(held >= least, "{:?}: {held} of {draws} hold the truth", truth.kind);
    }
}
