//! Made-up books whose truth is known, with noise from seeds.

#[cfg(test)]
mod crossing;
#[cfg(test)]
mod disks;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod levels;
#[cfg(test)]
mod random_levels;
#[cfg(test)]
mod ranking;
#[cfg(test)]
mod source;
#[cfg(test)]
mod twins;
#[cfg(test)]
mod unlike_spread;
#[cfg(test)]
mod whole_job;

use crate::effect_finding::EffectFinding;
use crate::effects::decide::{ALPHA, Decision};
use crate::figures::conclude;
use crate::finding::Finding;
use boatload_base::errno::Errno;
use boatload_base::random::{Stream, draw, unit};
use boatload_base::units::Unit;
use boatload_plan::Conclusion;
use boatload_results::book::{Book, CellKey, Level, Measurement, Window};
use boatload_results::fixture::{self, at_limit, failing};
use boatload_results::operation::MeasuredOperation;

/// A source of noise.
pub(crate) struct Noise {
    seed: u64,
    drawn: u64,
}

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    /// Uniform over 0..1.
    fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        unit(draw(self.seed, Stream::Noise, self.drawn))
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

fn level(axis: &str, value: f64, unit: Unit) -> Level {
    Level { axis: axis.into(), value, unit }
}

/// A phase of 1,000 operations that took so many seconds.
fn measured(variant: &str, level: Option<Level>, repeat: u32, seconds: f64) -> Measurement {
    Measurement {
        cell: CellKey { variant: variant.into(), level, repeat },
        phase: "write".into(),
        operation: MeasuredOperation::find("create"),
        pass: 1,
        operations: 1_000,
        seconds: Some(seconds),
        sync_seconds: Some(0.0),
        ..Measurement::default()
    }
}

fn book(measurements: Vec<Measurement>) -> Book {
    Book { measurements, ..Book::default() }
}

/// What is concluded of this kind.
fn concluded(book: &Book, kind: Conclusion) -> Vec<Finding> {
    conclude(book, &[kind], ALPHA)
}

/// The effects of a kind.
fn effects(book: &Book, kind: Conclusion) -> Vec<EffectFinding> {
    let all = concluded(book, kind).into_iter().map(|finding| match finding {
        Finding::Effect(effect) => *effect,
        other => panic!("{other:?}"),
    });
    all.collect()
}

/// The only one of a kind.
#[track_caller]
fn only(book: &Book, kind: Conclusion) -> EffectFinding {
    let mut all = effects(book, kind);
    assert_eq!(all.len(), 1, "{all:?}");
    all.swap_remove(0)
}

/// Whether a headline claims any difference.
fn claims_a_difference(book: &Book, kind: Conclusion) -> bool {
    effects(book, kind).iter().any(|one| one.headline.decision.is_difference())
}

/// In how many of so many draws something is so.
fn how_often(draws: u64, mut is_so: impl FnMut(&mut Noise) -> bool) -> usize {
    (0..draws).filter(|seed| is_so(&mut Noise::new(7_000_000 + seed))).count()
}

/// Where one draw in twenty has a false claim, more than this number of `draws` have one in one case of a thousand.
fn most_false(draws: u64) -> usize {
    let n = draws as f64;
    (0.05 * n + 3.1 * (0.05 * 0.95 * n).sqrt()).ceil() as usize
}

#[test]
fn odd_books_are_concluded_without_a_panic_and_without_nan() {
    for seed in 0..200 {
        let mut book = fixture::Odd::new(seed).book();
        for (at, m) in book.measurements.iter_mut().enumerate() {
            if at % 2 == 0 {
                m.windows = fixture::windows(&[1_000 + 777 * (seed % 13); 9]);
                m.windows[at % 9].p50_ns = u64::MAX * (seed % 2);
                m.windows[at % 7].mean_ns = f64::NAN;
            }
        }
        for finding in conclude(&book, &Conclusion::ALL, ALPHA) {
            let words = ["NaN", "inf"];
            assert!(!words.iter().any(|word| finding.sentence().contains(word)), "{finding:?}");
        }
    }
}

#[test]
fn nothing_is_concluded_from_what_is_not_valid_or_not_wanted() {
    let mut all = book(vec![measured("a", None, 1, 1.0), measured("b", None, 1, 2.0)]);
    assert_eq!(concluded(&all, Conclusion::Ranking).len(), 1);
    assert_eq!(conclude(&all, &[], ALPHA), []);
    all.measurements[0].invalid = vec![failing(Errno::ENOSPC, 3)];
    assert_eq!(concluded(&all, Conclusion::Ranking), []);
}

#[test]
fn orders_and_crossings_are_of_the_same_effects_which_are_told_once() {
    let all = book(vec![measured("a", None, 1, 1.0), measured("b", None, 1, 2.0)]);
    let both = conclude(&all, &[Conclusion::Crossing, Conclusion::Ranking], ALPHA);
    assert_eq!(both, concluded(&all, Conclusion::Ranking));
}
