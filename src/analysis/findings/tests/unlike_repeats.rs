//! Exponents and places of which the truth is known, of repeats that differ in them.

use super::course::{growth_of, phase};
use super::*;
use crate::analysis::findings::growth::{GrowthFigures, GrowthFinding, GrowthShape};
use crate::analysis::statistics::Interval;

/// A latency at a share of a phase, and what is told of it where it is `factor` times as steep or as late.
struct Course {
    name: &'static str,
    latency: fn(f64, f64) -> f64,
    truth: f64,
    told: fn(&GrowthFigures) -> Option<Interval>,
}

fn exponent(figures: &GrowthFigures) -> Option<Interval> {
    figures.exponent_interval
}

fn place(figures: &GrowthFigures) -> Option<Interval> {
    let share = |at: f64| at / figures.operations as f64;
    figures.threshold.and_then(|found| found.interval.map(share))
}

const COURSES: [Course; 4] = [
    Course { name: "power", latency: |x, f| x.powf(0.5 * f), truth: 0.5, told: exponent },
    Course { name: "line", latency: |x, f| 1.0 + 9.0 * f * x, truth: 0.9, told: exponent },
    Course {
        name: "step",
        latency: |x, f| 1.0 + f64::from(u8::from(x > 0.5 * f)),
        truth: 0.5,
        told: place,
    },
    Course {
        name: "bend",
        latency: |x, f| 1.0 + 4.0 * (x - 0.5 * f).max(0.0),
        truth: 0.5,
        told: place,
    },
];

/// The growth of repeats each of which follows the course by a factor of its own.
fn grown(windows: u64, factors: &[f64], course: &Course, noise: &mut Noise) -> GrowthFinding {
    let all = windows as f64 * 1_000.0;
    let repeat = |(at, factor): (usize, &f64)| {
        let law = |x: f64| 30_000.0 * (course.latency)(x / all, *factor);
        let mut book = phase(windows, 1, law, || (0.02 * noise.normal()).exp());
        book.measurements[0].cell.repeat = at as u32 + 1;
        book.measurements.swap_remove(0)
    };
    match growth_of(&book(factors.iter().enumerate().map(repeat).collect())) {
        Finding::Growth(found) => found,
        other => panic!("{other:?}"),
    }
}

/// Of so many draws how many tell an interval, and how many of these do not hold the truth.
fn told_and_missed(course: &Course, windows: u64, repeats: usize, spread: f64) -> (usize, usize) {
    const DRAWS: u64 = 100;
    let told = |seed: u64| {
        let mut noise = Noise::new(seed);
        let factors: Vec<f64> = (0..repeats).map(|_| (spread * noise.normal()).exp()).collect();
        let found = grown(windows, &factors, course, &mut noise);
        let is_told = matches!(found.shape, GrowthShape::Law | GrowthShape::Threshold);
        (course.told)(found.figures.as_ref().filter(|_| is_told)?)
    };
    let all: Vec<Interval> = (0..DRAWS).filter_map(told).collect();
    (all.len(), all.iter().filter(|interval| !interval.contains(course.truth)).count())
}

#[test]
fn exponents_and_places_hold_where_repeats_differ_in_them() {
    let (mut told, mut missed) = (0, 0);
    for course in &COURSES {
        let (of_course, wrong) = told_and_missed(course, 60, 3, 0.1);
        assert!(of_course >= 60, "{}: {of_course} told", course.name);
        assert!(wrong * 10 <= of_course, "{}: {wrong} of {of_course}", course.name);
        (told, missed) = (told + of_course, missed + wrong);
    }
    assert!(missed * 100 <= told * 7, "{missed} of {told}");
}

#[test]
fn exponents_and_places_of_one_repeat_hold_where_windows_are_independent() {
    let (mut told, mut missed) = (0, 0);
    for course in &COURSES {
        for windows in [8, 16, 100] {
            let (of_course, wrong) = told_and_missed(course, windows, 1, 0.0);
            (told, missed) = (told + of_course, missed + wrong);
        }
    }
    assert!(told >= 900, "{told}");
    assert!(missed * 100 <= told * 7, "{missed} of {told}");
}

#[test]
fn a_place_that_not_all_repeats_have_may_be_anywhere() {
    let mut factors = [1.0; 20];
    factors[19] = 3.0;
    let found = grown(100, &factors, &COURSES[2], &mut Noise::new(1));
    assert_eq!(found.shape, GrowthShape::Threshold, "{found:?}");
    let place =
        found.figures.as_ref().and_then(|figures| figures.threshold).map(|one| one.interval);
    assert_eq!(place, Some(Interval { low: 0.0, high: 100_000.0 }), "{found:?}");
}

#[test]
fn of_one_repeat_the_sentence_says_what_its_intervals_are_by() {
    for course in &COURSES {
        let sentence = |factors: &[f64]| grown(100, factors, course, &mut Noise::new(2)).sentence();
        let (one, several) = (sentence(&[1.0]), sentence(&[1.0, 1.01, 0.99]));
        assert_eq!(one.matches(" by its windows)").count(), one.matches('(').count(), "{one}");
        assert!(!several.contains("windows"), "{several}");
    }
}
