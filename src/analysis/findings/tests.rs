//! Made-up books whose truth is known, with noise from seeds.

#[cfg(test)]
mod course;
#[cfg(test)]
mod disks;
#[cfg(test)]
mod even;
#[cfg(test)]
mod knees;
#[cfg(test)]
mod order;
#[cfg(test)]
mod scaling;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod source;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod twins;
mod unlike_repeats;
#[cfg(test)]
mod unlike_spread;

use super::*;
use crate::base::random::{Stream, draw, unit};
use crate::base::units::Unit;
use crate::results::book::{CellKey, Level, Measurement, Window};
use crate::results::fixture;

/// A source of noise.
pub(in crate::analysis) struct Noise {
    seed: u64,
    drawn: u64,
}

impl Noise {
    pub(in crate::analysis) fn new(seed: u64) -> Self {
        Self { seed, drawn: 0 }
    }

    /// Uniform over 0..1.
    fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        unit(draw(self.seed, Stream::Noise, self.drawn))
    }

    /// Standard normal, by Box and Muller.
    pub(in crate::analysis) fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// The mean of a hundred values between half and one and a half.
    fn averaged(&mut self) -> f64 {
        (0..100).map(|_| 0.5 + self.uniform()).sum::<f64>() / 100.0
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
        operation: "create".into(),
        pass: 1,
        operations: 1_000,
        seconds,
        ..Measurement::default()
    }
}

fn book(measurements: Vec<Measurement>) -> Book {
    Book { measurements, ..Book::default() }
}

/// The only finding of a kind.
#[track_caller]
fn only(book: &Book, kind: Conclusion, variants: &[&str]) -> Finding {
    let mut all = conclude(book, &[kind], variants);
    assert_eq!(all.len(), 1, "{all:?}");
    all.swap_remove(0)
}

fn number(finding: &Finding, key: &str) -> f64 {
    figures(finding)[key].as_f64().unwrap_or(f64::NAN)
}

fn interval(finding: &Finding) -> [f64; 2] {
    [0, 1].map(|end| figures(finding)["interval"][end].as_f64().unwrap())
}

/// The finding as documents have it, for tests that read any kind.
fn figures(finding: &Finding) -> serde_json::Value {
    serde_json::to_value(finding).unwrap()
}

#[test]
fn odd_books_are_concluded_without_a_panic_and_without_nan() {
    use Conclusion::{Crossover, Growth, Knee, Ranking, Scaling, Slope, Source};
    let kinds = [Growth, Slope, Knee, Scaling, Crossover, Ranking, Source];
    for seed in 0..200 {
        let mut book = fixture::Odd::new(seed).book();
        for (at, m) in book.measurements.iter_mut().enumerate() {
            if at % 2 == 0 {
                m.windows = fixture::windows(&[1_000 + 777 * (seed % 13); 9]);
                m.windows[at % 9].p50_ns = u64::MAX * (seed % 2);
                m.windows[at % 7].mean_ns = f64::NAN;
            }
        }
        let names: Vec<String> = book.measurements.iter().map(|m| m.cell.variant.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for finding in conclude(&book, &kinds, &names) {
            let words = ["NaN", "inf"];
            assert!(!words.iter().any(|word| finding.sentence().contains(word)), "{finding:?}");
        }
    }
}

#[test]
fn nothing_is_concluded_from_what_is_not_valid_or_not_wanted() {
    let mut all = book(vec![measured("a", None, 1, 1.0), measured("b", None, 1, 2.0)]);
    assert_eq!(conclude(&all, &[Conclusion::Ranking], &["a", "b"]).len(), 1);
    assert_eq!(conclude(&all, &[], &["a", "b"]), []);
    all.measurements[0].invalid = vec!["ENOSPC x 3".into()];
    assert_eq!(conclude(&all, &[Conclusion::Ranking], &["a", "b"]), []);
}
