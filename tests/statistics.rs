//! Whether statistics hold what they promise, on samples whose truth is known. The figures of each
//! method are checked in `crates/analysis/src/statistics/tests.rs`; `cargo bench --bench coverage` prints
//! false claims of each.

#![allow(clippy::unwrap_used, reason = "a test panics when it cannot continue")]

#[path = "statistics/noise.rs"]
mod noise;

use boatload::analysis::change::change_points;
use boatload::analysis::statistics::slices;

use noise::{Source, WINDOWS, share};

/// The chance that a change point is kept for (Fleming et al., "Hunter", ICPE 2023).
const CHANGE_POINT_ALPHA: f64 = 0.001;

#[test]
fn white_noise_seldom_changes() {
    for n in [20, 100, 300] {
        let found =
            share(500, |source| !change_points(&source.white(n), CHANGE_POINT_ALPHA).is_empty());
        assert!(found < 0.05, "changes among {n}: {found}");
    }
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
