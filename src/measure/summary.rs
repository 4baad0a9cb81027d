//! A run in one row for each phase: what reports print. Every figure carries its n and its
//! interval; invalid measurements stand apart and are never averaged in.

use std::collections::{BTreeMap, BTreeSet};

use super::book::{Level, Measurement, ResultBook};
use super::bulk::bulk_phases;
use super::order::{each_once, variants};
use super::statistics::student::{DEGREES_MANY, student_t};
use super::tails::{Tail, tail};
use super::warnings::is_disturbed;
use crate::base::units::Unit;

/// A run by variant and level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Variants in the job file's order; levels as they were measured.
    pub groups: Vec<Group>,
}

/// One variant at one level, over all its repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The variant's name.
    pub variant: String,
    /// The level of the axis; none without an axis.
    pub level: Option<Level>,
    /// One for each phase, in the order they were measured.
    pub rows: Vec<Row>,
}

/// One phase over all its repeats and passes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The phase's name.
    pub phase: String,
    /// What is done each second without the sync, in `rate_unit`; none without a valid
    /// measurement.
    pub rate: Option<Estimate>,
    /// What the rate counts: operations, or bytes in a phase whose operations each move much. All
    /// rows of a phase have the same.
    pub rate_unit: Unit,
    /// The rate with the time of the sync; none if nothing was synced.
    pub rate_with_sync: Option<Estimate>,
    /// Mean duration without the sync, in seconds; none without a valid measurement.
    pub seconds: Option<f64>,
    /// Normalised population standard deviation of the seconds over what the rate is averaged
    /// from; none for fewer than two.
    pub deviation: Option<f64>,
    /// Mean duration of the sync, in seconds; none if nothing was synced.
    pub sync_seconds: Option<f64>,
    /// Latencies of all operations of the valid measurements; none if there are none.
    pub tail: Option<Tail>,
    /// What was found of the caches: one word if all valid measurements agree, else `mixed`.
    pub cache: String,
    /// How many of the valid measurements something disturbed, of which a warning tells.
    pub disturbed: u64,
    /// The measurements that are not averaged in.
    pub invalid: Vec<Invalid>,
}

/// A measurement that is not averaged in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invalid {
    /// Its repeat, from 1.
    pub repeat: u32,
    /// Its pass, from 1.
    pub pass: u32,
    /// Why.
    pub reasons: Vec<String>,
}

/// A mean with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95% confidence interval; none if the error is unknown.
    pub half_width: Option<f64>,
    /// How many values were averaged.
    pub n: u32,
    /// Where those values and the interval come from.
    pub basis: Basis,
    /// Significant figures that the interval allows.
    pub figures: u32,
}

/// What an interval tells about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The spread between repeats, each the mean of its passes.
    Repeats,
    /// The spread between the passes of the only valid repeat.
    Passes,
    /// The spread between slices of the only valid measurement.
    Slices,
}

impl Estimate {
    /// The mean of `values` with the interval of Student's t; of a single value with the interval
    /// that its own relative standard error gives. None for no values or values that are no
    /// numbers.
    ///
    /// It is not `statistics::mean_interval`: that holds more often for values as skewed as
    /// latencies, but rates of repeats differ by percents, where both are the same, and `±` is one
    /// number because this one is symmetric.
    pub fn of(values: &[f64], relative_error: Option<f64>, basis: Basis) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let quantile = |degrees| student_t(0.05, degrees);
        let half_width = match values {
            [_] => quantile(DEGREES_MANY).zip(relative_error).map(|(z, error)| z * error * mean),
            _ => {
                let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
                let deviation = (squares / (n - 1.0)).sqrt();
                quantile(n - 1.0).map(|t| t * deviation / n.sqrt())
            }
        };
        let half_width = half_width.filter(|half| half.is_finite() && *half >= 0.0);
        let figures = figures_allowed(mean, half_width);
        let estimate = Self { mean, half_width, n: values.len() as u32, basis, figures };
        mean.is_finite().then_some(estimate)
    }

    /// Half the width of the interval as a share of the mean; none if unknown.
    pub fn relative(&self) -> Option<f64> {
        self.half_width.filter(|_| self.mean > 0.0).map(|half| half / self.mean)
    }
}

/// No interval is so narrow that more figures of a rate would mean anything.
const MOST_FIGURES: i32 = 5;
/// Figures for a mean whose error is unknown.
const FIGURES_WITHOUT_ERROR: u32 = 2;

/// Figures down to the second one of the uncertainty, as the GUM rounds (JCGM 100:2008, 7.2.6).
fn figures_allowed(mean: f64, half_width: Option<f64>) -> u32 {
    let order = |value: f64| value.abs().log10().floor() as i32;
    match half_width {
        None => FIGURES_WITHOUT_ERROR,
        Some(_) if mean == 0.0 => 1,
        Some(0.0) => MOST_FIGURES as u32,
        Some(half) => (order(mean) - order(half) + 2).clamp(1, MOST_FIGURES) as u32,
    }
}

impl Summary {
    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    /// Names of the variants, in the job file's order.
    pub fn variants(&self) -> Vec<&str> {
        each_once(self.groups.iter().map(|group| group.variant.as_str()))
    }

    /// The levels, as they were measured; empty without an axis.
    pub fn levels(&self) -> Vec<&Level> {
        each_once(self.groups.iter().filter_map(|group| group.level.as_ref()))
    }

    /// Names of the phases, in the order they were measured.
    pub fn phases(&self) -> Vec<&str> {
        each_once(self.rows().map(|row| row.phase.as_str()))
    }

    /// The row of a phase of a variant at a level; none if it was not measured.
    pub fn row(&self, variant: &str, level: &Level, phase: &str) -> Option<&Row> {
        let here = |g: &&Group| g.variant == variant && g.level.as_ref() == Some(level);
        self.groups.iter().find(here)?.rows.iter().find(|row| row.phase == phase)
    }

    /// What was found of the caches in all rows of a phase: one word if they agree, else `mixed`;
    /// empty if nothing of it is valid.
    pub fn cache(&self, phase: &str) -> String {
        let measured = self.rows().filter(|row| row.phase == phase && row.rate.is_some());
        agreed(measured.map(|row| row.cache.as_str()))
    }

    /// How many measurements are not averaged in.
    pub fn invalid(&self) -> u64 {
        self.rows().map(|row| row.invalid.len() as u64).sum()
    }
}

/// A run in rows.
pub fn summarize(book: &ResultBook) -> Summary {
    let mut groups: Vec<(Group, Vec<&Measurement>)> = Vec::new();
    for measurement in &book.measurements {
        let cell = &measurement.cell;
        let same = |g: &Group| g.variant == cell.variant && g.level == cell.level;
        match groups.iter_mut().find(|(group, _)| same(group)) {
            Some((_, members)) => members.push(measurement),
            None => {
                let (variant, level) = (cell.variant.clone(), cell.level.clone());
                groups.push((Group { variant, level, rows: vec![] }, vec![measurement]));
            }
        }
    }
    // Variants were measured in a random order; levels went up.
    let order = variants(book).into_iter().enumerate();
    let order: BTreeMap<&str, usize> = order.map(|(place, name)| (name, place)).collect();
    groups.sort_by_key(|(group, _)| order.get(group.variant.as_str()).copied());
    let bulk = bulk_phases(book.measurements.iter());
    let filled = groups.into_iter().map(|(group, measurements)| {
        let mut rows = rows(&measurements, &bulk);
        for row in &mut rows {
            let of_row = measurements.iter().filter(|m| m.phase == row.phase && m.valid());
            row.disturbed = of_row.filter(|m| is_disturbed(book, m)).count() as u64;
        }
        Group { rows, ..group }
    });
    Summary { groups: filled.collect() }
}

fn rows(measurements: &[&Measurement], bulk: &BTreeSet<&str>) -> Vec<Row> {
    let phases = each_once(measurements.iter().map(|m| m.phase.as_str()));
    let of = |phase: &str| measurements.iter().filter(|m| m.phase == phase).copied().collect();
    let unit = |phase: &str| if bulk.contains(phase) { Unit::Bytes } else { Unit::Count };
    phases.into_iter().map(|phase| row(phase, of(phase), unit(phase))).collect()
}

fn row(phase: &str, measurements: Vec<&Measurement>, rate_unit: Unit) -> Row {
    let (valid, invalid): (Vec<_>, Vec<_>) = measurements.into_iter().partition(|m| m.valid());
    let sync_seconds = mean(valid.iter().map(|m| m.sync_seconds)).filter(|s| *s > 0.0);
    let reasons = |m: &Measurement| Invalid {
        repeat: m.cell.repeat,
        pass: m.pass,
        reasons: m.invalid.clone(),
    };
    Row {
        phase: phase.into(),
        rate: estimate(&valid, |m| per_second(m, rate_unit, 0.0), true),
        rate_unit,
        rate_with_sync: sync_seconds
            .and_then(|_| estimate(&valid, |m| per_second(m, rate_unit, m.sync_seconds), false)),
        seconds: mean(valid.iter().map(|m| m.seconds)).filter(|s| *s > 0.0),
        deviation: normalised_deviation(&independent(&valid, |m| m.seconds).0),
        sync_seconds,
        tail: tail(&valid),
        cache: cache(&valid),
        disturbed: 0,
        invalid: invalid.into_iter().map(reasons).collect(),
    }
}

/// Operations or bytes per second; 0 for an empty phase.
pub(super) fn per_second(m: &Measurement, unit: Unit, more_seconds: f64) -> f64 {
    let done = if unit == Unit::Bytes { m.bytes } else { m.operations };
    let seconds = m.seconds + more_seconds;
    if m.seconds > 0.0 { done as f64 / seconds } else { 0.0 }
}

/// Passes of one repeat share its tree and its drift, so repeats are what is independent; passes
/// and slices stand in for them where there is only one.
/// A measurement whose time was not published has none.
pub(super) fn independent(
    valid: &[&Measurement],
    of: impl Fn(&Measurement) -> f64,
) -> (Vec<f64>, Basis) {
    let valid: Vec<_> = valid.iter().filter(|m| !m.seconds.is_nan()).collect();
    let mut repeats: Vec<u32> = valid.iter().map(|m| m.cell.repeat).collect();
    repeats.sort_unstable();
    repeats.dedup();
    let values = |repeat: u32| -> Vec<f64> {
        valid.iter().filter(|m| m.cell.repeat == repeat).map(|m| of(m)).collect()
    };
    match (repeats.as_slice(), valid.as_slice()) {
        (_, [only]) => (vec![of(only)], Basis::Slices),
        ([only], _) => (values(*only), Basis::Passes),
        (repeats, _) => {
            let means = repeats.iter().filter_map(|r| mean(values(*r).into_iter()));
            (means.collect(), Basis::Repeats)
        }
    }
}

/// `sliced`: whether the error of a single measurement's slices is that of the figure.
fn estimate(
    valid: &[&Measurement],
    of: impl Fn(&Measurement) -> f64,
    sliced: bool,
) -> Option<Estimate> {
    let (values, basis) = independent(valid, of);
    let error = valid.first().and_then(|only| only.rate_error).filter(|_| sliced);
    Estimate::of(&values, error, basis)
}

/// What valid measurements do each second, `more_seconds` of each included. A single one has this
/// relative standard error.
pub(super) fn rate_estimate(
    valid: &[&Measurement],
    unit: Unit,
    more_seconds: impl Fn(&Measurement) -> f64,
    relative_error: Option<f64>,
) -> Option<Estimate> {
    let (values, basis) = independent(valid, |m| per_second(m, unit, more_seconds(m)));
    Estimate::of(&values, relative_error, basis)
}

/// The population's standard deviation over the mean; none for fewer than two values.
pub fn normalised_deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let share = variance.sqrt() / mean;
    (values.len() > 1 && mean > 0.0 && share.is_finite()).then_some(share)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), value| (sum + value, n + 1));
    Some(sum / f64::from(n)).filter(|mean| mean.is_finite())
}

fn cache(valid: &[&Measurement]) -> String {
    agreed(valid.iter().map(|m| m.cache.found.as_str()))
}

/// The word if all are the same, else `mixed`; empty if there is none.
fn agreed<'a>(mut words: impl Iterator<Item = &'a str>) -> String {
    let first = words.next().unwrap_or_default();
    if words.all(|word| word == first) { first.into() } else { "mixed".into() }
}

#[cfg(test)]
mod tests;
